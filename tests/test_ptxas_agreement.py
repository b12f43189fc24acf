"""bwlint says of PTX what ptxas says of it, by the oldest ptxas of CUDA 13 and the newest on PyPI.

The newest is that of the test extra. The oldest, and with BWLINT_PTXAS both, are installed by pip into folders of their
own, which BWLINT_PTXAS keeps from run to run. Without one the tests are skipped, never in CI.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from ptx_fuzz import judge
from ptx_grammar import statements
from ptx_table import Measured, measure, seeds
from ptxas import Folder, Ptxas
from toolkit import find

from bwlint.chips import Target
from bwlint.chips.instructions import first_isa, forms, static_shared, verdict
from bwlint.confirm import probes

pytestmark = pytest.mark.shared

HOSTILE = Path(__file__).parent / "confirm" / "hostile"
OLDEST = "13.0.88"
FORMS = {"newest": 2000, OLDEST: 500}
FAMILIES = (
    "80",
    "90",
    "90a",
    "100",
    "100a",
    "100f",
    "103",
    "103f",
    "110f",
    "120",
    "120a",
    "120f",
    "121",
    "121a",
    "121f",
)


@cache
def installed(name: str, root: Path) -> Ptxas | str:
    """The ptxas of a version, or why there is none."""
    kept = os.environ.get("BWLINT_PTXAS")
    if name == "newest" and not kept:
        try:
            return Ptxas(find().programs / "ptxas")
        except FileNotFoundError as error:
            return str(error)
    folder = Folder(Path(kept or root))
    return folder.ptxas(None if name == "newest" else name) or folder.problem


@pytest.fixture(scope="module", params=["newest", OLDEST])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def tool(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ptxas]:
    found = installed(name, tmp_path_factory.getbasetemp() / "ptxas")
    if isinstance(found, Ptxas):
        yield found
    elif os.environ.get("CI") == "true":
        pytest.fail(f"no ptxas from PyPI: {found}")
    else:
        pytest.skip(f"no ptxas from PyPI: {found}")


@pytest.fixture(scope="module")
def rows(tool: Ptxas) -> Measured:
    return measure(tool, [sample for seed in seeds() for sample in seed["samples"]])


def test_every_row_of_the_table(name: str, rows: Measured) -> None:
    outcome = judge(rows, newest=name == "newest")
    assert [str(one) for one in outcome.disagreements] == []
    assert outcome.nonsense == 0 or name != "newest"


def test_the_table_holds_every_seed() -> None:
    assert [form.name for form in forms()] == [seed["name"] for seed in seeds()]


def test_errors_are_quoted_word_by_word(name: str, rows: Measured) -> None:
    if name != "newest":
        pytest.skip("the words of the newest are quoted")
    wrong = []
    for sample, answers in rows.answers.items():
        said = verdict(sample)
        for target, answer in answers.items():
            form = said.refusing(Target.parse(target)) if not sample.startswith(".") else None
            if form is not None and int(target.rstrip("af")) >= 90 and form.words(said.statement) not in answer.errors:
                wrong.append((sample, target, form.words(said.statement), answer.errors))
    assert wrong == []


def test_slow_paths_call_the_driver(name: str, tool: Ptxas) -> None:
    loads = [sample for seed in seeds() if "slow" in seed for sample in seed["samples"]]
    others = [s.replace("shared::cluster.global", "shared::cta.global") for s in loads if "multicast" not in s]
    for load in (*loads, *others):
        slow = verdict(load).slow
        for target in ("90a", "100", "103f", "110a", "120", "120a", "120f", "121"):
            assert (Target.parse(target) in slow) == tool.calls_driver(load, target), (load, target)


def test_random_statements(name: str, tool: Ptxas) -> None:
    outcome = judge(measure(tool, list(statements(FORMS[name], seed=120))), newest=name == "newest")
    assert [str(one) for one in outcome.disagreements] == []
    assert outcome.legal > FORMS[name] // 2


def test_versions_of_ptx(tool: Ptxas) -> None:
    for target in set(tool.targets) & set(FAMILIES):
        isa = first_isa(Target.parse(target))
        assert isa is not None and tool.first_isa(target) == f"{isa[0]}.{isa[1]}", target


def test_static_shared_memory(tool: Ptxas) -> None:
    for target in tool.targets:
        assert tool.static_shared(target) == static_shared(Target.parse(target)), target


def test_targets_for_other_chips(tool: Ptxas) -> None:
    """PTX is compiled for the chips that the driver compiles it for; that with an a for its own target alone."""
    for name in FAMILIES:
        target = Target.parse(name)
        module = f".version {tool.isa}\n.target sm_{name}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
        for other in FAMILIES:
            arch = Target.parse(other)
            refused = tool.assembles(module, f"sm_{other}")
            taken = target == arch if target.suffix == "a" else arch.chip in target.jits_on()
            assert taken == (not refused), (name, other, refused)


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120", "sm_120a", "sm_120f", "sm_121a"])
@pytest.mark.parametrize("name_of_probe", probes.NAMES)
def test_probes_of_confirm_assemble(tool: Ptxas, name_of_probe: str, target: str) -> None:
    """In the oldest PTX that has the target: a driver need not be newer than the device."""
    assert tool.assembles(probes.text(name_of_probe, target), target) == ""


@pytest.mark.parametrize(
    ("size", "target", "fits"), [(49152, "sm_90", True), (49153, "sm_90", False), (101376, "sm_120a", True)]
)
def test_static_memory_of_a_probe(tool: Ptxas, size: int, target: str, fits: bool) -> None:
    said = tool.assembles(probes.text("shared", target, size), target)
    assert ("uses too much shared data" in said) is not fits


@pytest.mark.parametrize("kernel", sorted(HOSTILE.glob("*.ptx")), ids=lambda path: path.stem)
def test_kernels_that_do_harm_assemble(tool: Ptxas, kernel: Path) -> None:
    assert tool.assembles(kernel.read_text(), "sm_90") == ""
