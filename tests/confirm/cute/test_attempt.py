"""Operations of CuTe DSL put to its own package, for chips that are not there."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from bwlint.confirm.cute import attempt as cute
from bwlint.confirm.cute.attempt import OperationAnswer
from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs.assemble import attempt
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Claim, Finding, Region, Related

needs_cute = pytest.mark.skipif(
    importlib.util.find_spec("cutlass") is None or importlib.util.find_spec("nvidia_cutlass_dsl") is None,
    reason="CuTe DSL is not installed (pip install 'bwlint[cute]')",
)

KERNELS = """\
import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import tcgen05, warp
from elsewhere import helper


class Dense:
    def __init__(self):
        self.group = tcgen05.CtaGroup.ONE

    def __call__(self, a):
        return cute.make_tiled_mma(tcgen05.MmaF16BF16Op(a, a, (128, 128, 16), self.group))


class Named:
    def __init__(self):
        self.group = cute.nvgpu.tcgen05.CtaGroup.ONE


class Both:
    def __init__(self):
        self.group = tcgen05.CtaGroup.ONE

    def __call__(self, a):
        if self.new:
            return tcgen05.MmaF16BF16Op(a, a, (128, 128, 16), self.group)
        return warp.MmaF16BF16Op(a, a, (16, 8, 16))


def scaled(a):
    return warp.MmaMXF4Op(a, a, a)


def copied(a):
    return tcgen05.make_tmem_copy(a)


def handed(a):
    return helper.tcgen05_load(a), helper.copied(a)


COLUMNS = {"sm_100": 512, "sm_120": 512}
"""
WITHOUT = "COLUMNS = {'sm_100': 512, 'sm_120': 512}\n"


def place(text: str, piece: str, after: str = "") -> Region:
    at = text.index(piece, text.index(after))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Region(line, column, line, column + len(piece))


def subject(root: Path, about: str, piece: str, after: str = "", text: str = KERNELS, holds: str = "") -> Subject:
    """A claim about a launcher in one file, that a place in another file is behind; about that place itself where it
    has the name that the claim is about."""
    (root / "pkg").mkdir(exist_ok=True)
    (root / "pkg/kernels.py").write_text(text)
    (root / "pkg/launch.py").write_text("import cutlass\nrun()\n")
    at = place(text, piece, after)
    home = "pkg/kernels.py" if about in piece or about == "tensor memory" else "pkg/launch.py"
    claim = Claim(
        "need",
        f"`{about}` does not work on 12.x",
        chips=("12.0", "12.1"),
        holds=(holds,) if holds else (),
        subject=about,
        at=None if about == "tensor memory" else at if home == "pkg/kernels.py" else Region(2, 1, 2, 6),
    )
    finding = Finding(
        rule="BW102",
        name="leak",
        category="leak",
        severity="warning",
        confidence="high",
        path=home,
        region=claim.at or at,
        message="lets 12.x through",
        related=(Related("pkg/kernels.py", at, "works on 10.x and 11.0"),),
        claims=(claim,),
    )
    return Subject(finding, claim, str(root / home), str(root))


def tried(root: Path, about: str, piece: str, after: str = "", **how: str) -> Attempt:
    (root / "scratch").mkdir()
    return attempt(subject(root, about, piece, after, **how), Workbench(root / "scratch"))


@needs_cute
def test_a_kernel_whose_operations_are_for_another_chip(tmp_path: Path) -> None:
    found = tried(tmp_path, "run", "tcgen05.CtaGroup", "class Dense")
    assert found.outcome == "confirmed", found.reason
    assert (
        "refuses `cutlass.cute.nvgpu.tcgen05.MmaF16BF16Op` for 12.0 and 12.1 and takes it for sm_100a" in found.reason
    )
    assert "cutlass.cute.nvgpu.tcgen05.CtaGroup" not in found.details["operations"]


@needs_cute
def test_an_enumeration_alone_decides_nothing(tmp_path: Path) -> None:
    found = tried(tmp_path, "run", "tcgen05.CtaGroup", "class Named")
    assert not found.executed
    assert found.reason.startswith("no compiler decides")


@needs_cute
def test_a_kernel_with_a_way_of_its_own(tmp_path: Path) -> None:
    found = tried(tmp_path, "run", "tcgen05.CtaGroup", "class Both")
    assert (found.outcome, "warp.MmaF16BF16Op` stands there too" in found.reason) == ("inconclusive", True)


@needs_cute
@pytest.mark.parametrize(("about", "outcome"), [("MmaMXF4Op", "refuted"), ("run", "inconclusive")])
def test_an_operation_that_works_there(about: str, outcome: str, tmp_path: Path) -> None:
    """It refutes a claim about itself, and not one about all that something leads to."""
    name = "cutlass.cute.nvgpu.warp.MmaMXF4Op"
    claimed = cute._OperationQuestion((name,), {"12.0": "sm_120a", "12.1": "sm_121a"}, about == "MmaMXF4Op")
    found = cute._tested(claimed, Workbench(tmp_path))
    assert found.outcome == outcome, found.reason


@needs_cute
def test_a_table_of_tensor_memory(tmp_path: Path) -> None:
    found = tried(tmp_path, "tensor memory", '{"sm_100": 512, "sm_120": 512}')
    assert found.outcome == "confirmed", found.reason
    assert "alloc_tmem" in found.reason


@needs_cute
def test_an_operation_without_a_kernel_of_ours(tmp_path: Path) -> None:
    found = tried(tmp_path, "make_tmem_copy", "tcgen05.make_tmem_copy(a)")
    assert (found.outcome, "no kernel of its own" in found.reason) == ("inconclusive", True)


@needs_cute
def test_every_row_of_operations_agrees_with_the_package(tmp_path: Path) -> None:
    """Of each family: taken on one of the row's chips, refused on 12.x."""
    names = (
        *(f"cutlass.cute.nvgpu.tcgen05.{one}" for one in ("MmaF16BF16Op", "Ld32x32bOp", "St32x32bOp", "commit")),
        *(f"cutlass.cute.nvgpu.warpgroup.{one}" for one in ("MmaF16BF16Op", "MmaF8Op", "fence", "wait_group")),
        *("cutlass.cute.arch.alloc_tmem", "cutlass.utils.blackwell_helpers.make_trivial_tiled_mma"),
    )
    asked = cute._OperationQuestion(names, {"12.0": "sm_120a", "12.1": "sm_121a"}, False)
    found = cute._tested(asked, Workbench(tmp_path))
    for name in names:
        told = found.details["operations"][name]["targets"]
        works = {"sm_90a"} if "warpgroup" in name else {"sm_100a", "sm_110a"}
        assert {target for target, what in told.items() if what == "taken"} == works, name


@pytest.mark.parametrize(
    ("about", "piece", "how"),
    [
        pytest.param("handed", "helper.tcgen05_load(a)", {}, id="a function of the tree"),
        pytest.param("copied", "helper.copied(a)", {}, id="a name of the tree"),
        pytest.param("run", "tcgen05.CtaGroup", {"holds": "12.1"}, id="what is claimed to work"),
        pytest.param("tensor memory", "COLUMNS", {"text": WITHOUT}, id="a file without CuTe DSL"),
    ],
)
def test_claims_that_are_none_of_it(about: str, piece: str, how: dict[str, str], tmp_path: Path) -> None:
    assert cute.attempt(subject(tmp_path, about, piece, **how), Workbench(tmp_path)) is None


def test_a_file_outside_the_tree_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "outside.py").write_text(KERNELS)
    asked = subject(tmp_path / "tree", "run", "tcgen05.CtaGroup")
    at = Related("../outside.py", place(KERNELS, "tcgen05.CtaGroup"), "")
    moved = replace(asked, finding=replace(asked.finding, related=(at,)))
    assert cute.attempt(moved, Workbench(tmp_path)) is None


def test_a_package_of_the_tree_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cutlass", "nvidia_cutlass_dsl"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cute._missing((str(tmp_path),)) == "the installed CuTe DSL is itself the code under test"


ASKED = cute._OperationQuestion(("n",), {"12.0": "sm_120a", "12.1": "sm_121a"}, direct=True)
EVERYWHERE = dict.fromkeys((*cute.CONTROLS, "sm_121a"), "taken")


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"sm_120a": "no", "sm_121a": "no"}, "confirmed"),
        ({"sm_120a": "no", "sm_90a": "no"}, "refuted"),
        ({}, "inconclusive"),
        (dict.fromkeys(EVERYWHERE, "no"), "inconclusive"),
    ],
)
def test_verdicts(changed: dict[str, str], outcome: str) -> None:
    """A package that takes all of it does not look at the chip, one that takes none does not take our arguments."""
    told = {"n": OperationAnswer("operation", {**EVERYWHERE, **changed})}
    assert cute._verdict(told, ASKED, "CuTe DSL")[0] == outcome
