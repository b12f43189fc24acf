"""Which names of kernel DSLs are operations of the hardware, and which only stand beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bwlint.chips.operations import operation_in

RECEIPTS = Path(__file__).parents[2] / "benchmarks" / "receipts"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nvgpu.warpgroup.fence", True),
        ("nvgpu.warpgroup.make_smem_layout_atom", False),
        ("warpgroup.OperandMajorMode.K", False),
        ("nvgpu.tcgen05.mma", True),
        ("nvgpu.tcgen05.make_tmem_copy", True),
        ("tcgen05.SmemLayoutAtomKind.K_SW128", False),
        ("tcgen05.CtaGroup.ONE", False),
        ("prims.Tcgen05InstrDesc.build", False),
        ("prims.Tcgen05SmemSwizzle.SWIZZLE_128B", False),
        ("tcgen05.find_tmem_tensor_col_offset", False),
    ],
)
def test_what_is_made_on_the_host_is_no_operation(name: str, found: bool) -> None:
    assert (operation_in(name) is not None) is found


def test_no_enumeration_of_a_receipt_is_an_operation() -> None:
    asked = json.loads((RECEIPTS / "cutlass-dsl-4.8.1" / "operations.json").read_text())["operations"]
    enumerations = [name for name, one in asked.items() if one["kind"] == "enumeration"]
    assert len(enumerations) == 16
    assert [name for name in enumerations if operation_in(name) is not None] == []
