"""Flags of a build that are named after targets, with the twin's beside them."""

from __future__ import annotations

import pytest

from .conftest import Project

JIT = """from .core import gen_jit_spec, current_compilation_context


def gen_gemm_module():
    flags = current_compilation_context.get_nvcc_flags_list(supported_major_versions=[10, 12])
    return gen_jit_spec("gemm", [], extra_cuda_cflags=flags)


def gen_quantization_sm120_module():
    flags = current_compilation_context.get_nvcc_flags_list(supported_major_versions=[12])
    return gen_jit_spec("quantization_sm120", [], extra_cuda_cflags=flags)
"""
CORE = "def gen_jit_spec(name, sources, extra_cuda_cflags): ...\ncurrent_compilation_context = object()\n"
AOT = """from .jit import gen_gemm_module, gen_quantization_sm120_module, other


def modules(sm_capabilities, add):
    has_sm90 = sm_capabilities.get("sm90", False)
    has_sm100 = sm_capabilities.get("sm100", False)
    has_sm120 = sm_capabilities.get("sm120", False)
    has_sm121 = sm_capabilities.get("sm121", False)
    specs = []
    {}
    return specs
"""
CALL = "specs.append(gen_gemm_module())"


def checked(project: Project, body: str, head: str = AOT) -> list[tuple[str, str]]:
    files = {"p/__init__.py": "", "p/core.py": CORE, "p/jit.py": JIT, "p/aot.py": head.format(body)}
    return project(files).fixes("arch-target")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if has_sm120:", "if has_sm120 or has_sm121:"),
        ("if has_sm100 or has_sm120:", "if has_sm100 or has_sm120 or has_sm121:"),
        ("if has_sm120 or has_sm100:", "if has_sm120 or has_sm121 or has_sm100:"),
        ("if add and has_sm120:", "if add and (has_sm120 or has_sm121):"),
        ("if add and (has_sm100 or has_sm120):", "if add and (has_sm100 or has_sm120 or has_sm121):"),
    ],
)
def test_twin_is_asked_for(project: Project, before: str, after: str) -> None:
    found = checked(project, f"{before}\n        {CALL}")
    assert found == [("safe", AOT.format(f"{after}\n        {CALL}"))]


def test_block_with_a_module_of_its_own(project: Project) -> None:
    own = "if has_sm120:\n        specs.append(gen_quantization_sm120_module_())\n"
    found = checked(project, f"{own}        {CALL}")
    assert found == [("safe", AOT.format(f"{own}    if has_sm120 or has_sm121:\n        {CALL}"))]


@pytest.mark.parametrize(
    "body",
    [
        f"if has_sm120 or has_sm121:\n        {CALL}",
        f"if has_sm100:\n        {CALL}\n    if has_sm120:\n        {CALL}\n    if has_sm121:\n        {CALL}",
        f"if has_sm90:\n        {CALL}",
        "if has_sm120:\n        specs.append(other())",
        f"if add:\n        {CALL}",
    ],
)
def test_silent(project: Project, body: str) -> None:
    assert checked(project, body) == []


def test_flag_that_is_not_set(project: Project) -> None:
    head = AOT.replace('    has_sm121 = sm_capabilities.get("sm121", False)\n', "")
    assert checked(project, f"if has_sm120:\n        {CALL}", head) == []
