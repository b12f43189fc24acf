"""A list of targets in the environment, beside the flags of extensions: torch looks at one of the two."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

SETUP = """import os
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

os.environ["TORCH_CUDA_ARCH_LIST"] = "7.5;8.0;8.6;9.0"
flags = ["-O3", "-march=native"]
{flags}
setup(ext_modules=[{extensions}])
"""
ONE = "CUDAExtension('a', ['a.cu'], extra_compile_args={'nvcc': flags})"
OTHER = "CUDAExtension('b', ['b.cu'])"
UP_TO_90 = "flags += ['-gencode', 'arch=compute_80,code=sm_80', '-gencode', 'arch=compute_90,code=sm_90']"
UP_TO_120 = "flags += ['-gencode', 'arch=compute_90,code=sm_90', '-gencode', 'arch=compute_120,code=sm_120']"
IN_RELEASES = f"if bare_metal_version >= Version('11.8'):\n    {UP_TO_90}"


@pytest.mark.parametrize(
    ("flags", "extensions", "expected"),
    [
        ("", ONE, ["5 warning"]),
        (UP_TO_90, ONE, ["5 note", "7 warning"]),
        (UP_TO_120, ONE, ["5 note"]),
        (UP_TO_90, f"{ONE}, {OTHER}", ["5 warning", "7 warning"]),
        (IN_RELEASES, ONE, ["5 warning", "8 warning"]),
    ],
)
def test_which_list_decides(tmp_path: Path, flags: str, extensions: str, expected: list[str]) -> None:
    text = SETUP.format(flags=flags, extensions=extensions)
    assert levels(drafts(tmp_path, {"setup.py": text}, "arch-target")) == expected
