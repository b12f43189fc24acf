"""A flag of a build that is asked for another chip too, but for what is made for its own part."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

JIT = """from .core import gen_jit_spec, context, sm120a_nvcc_flags, sm121a_nvcc_flags


def gen_quantize_sm120_module():
    return gen_jit_spec("quantize_120", ["q.cu"], extra_cuda_cflags=sm120a_nvcc_flags)


def gen_quantize_sm121_module():
    return gen_jit_spec("quantize_121", ["q.cu"], extra_cuda_cflags=sm121a_nvcc_flags)


def gen_gemm_sm120_module():
    return gen_jit_spec("gemm", ["g.cu"], extra_cuda_cflags=context.get_nvcc_flags_list(supported_major_versions=[12]))
"""
AOT = """from .jit import gen_gemm_sm120_module, gen_quantize_sm120_module, gen_quantize_sm121_module


def gen_all(capabilities):
    specs = []
    has_sm120 = capabilities.get("sm120", False)
    has_sm121 = capabilities.get("sm121", False)
    if has_sm120:
{0}    if has_sm121:
        specs.append(gen_quantize_sm121_module())
    return specs
"""
OWN = "        specs.append(gen_quantize_sm120_module())\n"
BOTH = "        specs.append(gen_gemm_sm120_module())\n"
WIDER, NARROW = "    if has_sm120 or has_sm121:\n", "    if has_sm120:\n"


def _found(folder: Path, text: str) -> list[Finding]:
    files = {
        "pyproject.toml": "[project]\nname = 'kit'\n",
        "kit/__init__.py": "",
        "kit/jit.py": JIT,
        "kit/aot.py": text,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    request = CheckRequest(
        (str(folder / "kit"),), ("sm_120", "sm_121"), ("arch-target",), severity="warning", fixes=True
    )
    with ExitStack() as stack:
        return [one for one in check(request, stack).report.findings if one.path.endswith("aot.py")]


PARTED = [(OWN + BOTH, OWN + WIDER + BOTH), (OWN + BOTH + BOTH, OWN + WIDER + BOTH + BOTH)]


@pytest.mark.parametrize(("before", "after"), PARTED)
def test_what_is_first_keeps_its_test(tmp_path: Path, before: str, after: str) -> None:
    (found,) = _found(tmp_path, AOT.format(before))
    assert found.fix is not None
    assert apply(AOT.format(before), found.fix.edits) == AOT.format(after)
    assert _found(tmp_path, AOT.format(after)) == []


def test_what_is_last_gets_a_test(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, AOT.format(BOTH + OWN))
    assert found.fix is not None
    whole = AOT.format(BOTH + NARROW + OWN)
    assert apply(AOT.format(BOTH + OWN), found.fix.edits) == whole.replace(NARROW, WIDER, 1)


def test_what_stands_between_is_left_to_a_person(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, AOT.format(BOTH + OWN + BOTH))
    assert found.fix is not None
    assert found.fix.applicability == "unsafe"
    assert "made for its own chip" in found.fix.proof.evidence
