"""What is said of a list whose sources are not in the tree, or that has another one for cards of its own beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CLAUSE = "uses nothing that other chips lack"
OTHERS = """FROM nvidia/cuda:12.8.1-devel
RUN git clone https://example.org/kit.git
RUN cd kit && TORCH_CUDA_ARCH_LIST="8.0;8.6;9.0" pip install .
"""
FOR_CARD = """FROM nvidia/cuda:12.8.1-devel
RUN cd kit && TORCH_CUDA_ARCH_LIST="12.0" pip install .
"""
CMAKE = """cuda_archs_loose_intersection(MY_ARCHS "8.0;9.0" "${CUDA_ARCHS}")
set_gencode_flags_for_srcs(SRCS a.cu CUDA_ARCHS "${MY_ARCHS}")
"""
REWRITTEN = """import torch
from torch.utils.cpp_extension import CUDAExtension
SUPPORTED_CUDA_ARCHS = {"8.0", "8.9", "9.0"}
archs = wanted.intersection(SUPPORTED_CUDA_ARCHS)
for arch in archs:
    num = arch.replace(".", "")
    if num == "90":
        num = "90a"
    flags += ["-gencode", f"arch=compute_{num},code=sm_{num}"]
CUDAExtension("a", ["a.cu"], extra_compile_args=flags)
"""
WRITTEN = """from torch.utils.cpp_extension import CUDAExtension
flags = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
CUDAExtension("a", ["a.cu"], extra_compile_args=flags)
"""
KERNEL = "__global__ void f() {}\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Dockerfile", OTHERS, False),
        ("setup.py", REWRITTEN, False),
        ("setup.py", WRITTEN, True),
        ("CMakeLists.txt", CMAKE, True),
        ("CMakeLists.txt", CMAKE.replace("a.cu", "generated.cu"), False),
    ],
)
def test_what_is_said_of_the_code(tmp_path: Path, name: str, text: str, said: bool) -> None:
    found = drafts(tmp_path, {name: text, "a.cu": KERNEL}, "arch-target")
    warned = [draft for draft in found if draft.severity == "warning"]
    assert len(warned) == 1
    assert (CLAUSE in warned[0].message) == said


COMMENTED = f'{OTHERS}# for 5090\n# RUN cd kit && TORCH_CUDA_ARCH_LIST="12.0" pip install .\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Dockerfile": OTHERS}, ["3 warning"]),
        ({"Dockerfile": COMMENTED}, ["3 note"]),
        ({"Dockerfile": f'{OTHERS}# TORCH_CUDA_ARCH_LIST="8.0;9.0a"\n'}, ["3 warning"]),
        ({"Dockerfile": f'{OTHERS}# OTHER_ARCH_LIST="12.0"\n'}, ["3 warning"]),
        ({"Dockerfile": OTHERS, "Dockerfile_5090": FOR_CARD}, ["3 note"]),
        ({"Dockerfile": OTHERS, "Dockerfile.sm120": FOR_CARD}, ["3 note"]),
        ({"Dockerfile": OTHERS, "Dockerfile_cu130": FOR_CARD}, ["3 warning"]),
        ({"Dockerfile": OTHERS, "other/Dockerfile_5090": FOR_CARD}, ["3 warning"]),
        ({"Dockerfile": OTHERS, "Dockerfile_5090": OTHERS}, ["3 warning", "3 warning"]),
    ],
)
def test_a_split_by_card(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert levels(drafts(tmp_path, files, "arch-target")) == expected


def test_a_file_alone_has_the_same_said(tmp_path: Path) -> None:
    files = {"Dockerfile": OTHERS, "Dockerfile_5090": FOR_CARD}
    assert levels(drafts(tmp_path, files, "arch-target", only="Dockerfile")) == ["3 note"]


ARMS = """if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
  cuda_archs_loose_intersection(FP4_ARCHS "{new}" "${{CUDA_ARCHS}}")
else()
  cuda_archs_loose_intersection(FP4_ARCHS "{old}" "${{CUDA_ARCHS}}")
endif()
"""
UNRELATED = 'cuda_archs_loose_intersection(FP4_ARCHS "12.0f" "${CUDA_ARCHS}")\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ARMS.format(new="12.0f", old="12.0a"), ["4 warning"]),
        (ARMS.format(new="12.0a;12.1a", old="12.0a"), ["4 warning"]),
        (ARMS.format(new="12.0a", old="12.0a"), ["2 warning", "4 warning"]),
        (ARMS.format(new="12.0a", old="12.0f"), ["2 warning"]),
        (ARMS.format(new="10.0f", old="12.0a"), ["4 warning"]),
        (f"{UNRELATED}{UNRELATED.replace('0f', '0a')}", ["2 warning"]),
    ],
)
def test_an_arm_for_older_toolkits(tmp_path: Path, text: str, expected: list[str]) -> None:
    found = levels(drafts(tmp_path, {"CMakeLists.txt": text}, "arch-target"))
    assert [one for one in found if not one.endswith("error")] == expected
