"""Macros that a build sets for a library's helpers: what sets one, and what only names it."""

from __future__ import annotations

import pytest

from bwlint.chips import TargetSet
from bwlint.chips.switches import left_by
from bwlint.readers.switches import may_hold, operations

SM100 = "CUTLASS_ENABLE_GDC_FOR_SM100"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (f"target_compile_definitions(kernels PRIVATE {SM100}=1)", [SM100]),
        (f'flags += ["-D{SM100}=1"]', [SM100]),
        (f"nvcc -D{SM100} -DCUTLASS_ENABLE_GDC_FOR_SM90 a.cu", [SM100, "CUTLASS_ENABLE_GDC_FOR_SM90"]),
        (f"# -D{SM100}=1", []),
        (f'flags += []  # "-D{SM100}=1"', []),
        (f"nvcc -D{SM100}=0 a.cu", []),
        (f"nvcc -DMY_{SM100} a.cu", []),
        (f"nvcc -D{SM100}0 a.cu", []),
        ("nvcc -DNDEBUG a.cu", []),
    ],
)
def test_a_build_sets_it(line: str, names: list[str]) -> None:
    assert [one.name for one in operations(f"\n{line}\n")] == names
    assert may_hold(line.encode()) or not names


@pytest.mark.parametrize(
    ("macros", "left"),
    [
        ((), ()),
        (("CUTLASS_ENABLE_GDC_FOR_SM90",), ()),
        ((SM100,), ("120a", "120f", "121a", "121f")),
        (("CUTLASS_GDC_ENABLED",), ("120", "120a", "120f", "121", "121a", "121f")),
    ],
)
def test_the_targets_of_12x_that_keep_their_wait(macros: tuple[str, ...], left: tuple[str, ...]) -> None:
    ours = TargetSet.of("120", "120a", "120f", "121", "121a", "121f")
    assert left_by("wait_on_dependent_grids", frozenset(macros)) & ours == TargetSet.of(*left)
    assert not left_by("cudaGridDependencySynchronize", frozenset(macros))
