"""Launches that let a kernel begin early: which kernel, and whether a variable decides."""

from __future__ import annotations

import pytest

from bwlint.readers.cuda import read

_SET = "attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;"
_ALLOWED = "attrs[0].val.programmaticStreamSerializationAllowed"
_SURE, _MAYBE = False, True


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"{_SET} {_ALLOWED} = 1; cudaLaunchKernelEx(&c, scale, out);", [("scale", _SURE)]),
        (f"{_SET} {_ALLOWED} = true; cudaLaunchKernelEx(&c, &ours::scale<float, 4>, out);", [("scale", _SURE)]),
        (f"{_SET} {_ALLOWED} = pdl; cudaLaunchKernelExC(&c, kernel, args);", [("kernel", _MAYBE)]),
        (f"{_SET} {_ALLOWED} = 1;", [("", _SURE)]),
        (f"{_SET} {_ALLOWED} = 1; cudaLaunchKernelEx(&c, pick(4), out);", [("", _SURE)]),
        ("cutlass::Op op; op.run(args, workspace, stream, nullptr, true);", [("cutlass", _SURE)]),
        ("cutlass::Op op; op.run(params, stream, nullptr, true);", [("cutlass", _SURE)]),
        ("cutlass::Op op; op.run(stream, nullptr, /*launch_with_pdl=*/ enable_pdl);", [("cutlass", _MAYBE)]),
        (f"{_SET} {_ALLOWED} = 0; cudaLaunchKernelEx(&c, scale, out);", []),
        (f"{_SET} cudaLaunchKernelEx(&c, scale, out);", []),
        ("attrs[0].id = cudaLaunchAttributeCooperative; cudaLaunchKernelEx(&c, scale, out);", []),
        ("cutlass::Op op; op.run(args, workspace, stream, nullptr, false);", []),
        ("cutlass::Op op; op.run(args, workspace, stream);", []),
        ("cutlass::Op op; op.run(stream, adapter, true);", []),
        ("runner.run(stream, nullptr, true);", []),
    ],
)
def test_launches(body: str, found: list[tuple[str, bool]]) -> None:
    module = read("k.cu", f"void launch(bool pdl, float* out) {{ {body} }}\n")
    assert [(one.name, one.given) for one in module.operations if one.kind == "dependent-launch"] == found
