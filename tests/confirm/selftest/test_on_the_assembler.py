"""The cases whose text a driver compiles, put to two versions of ptxas: each says what bwlint says, chip by chip."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from ptxas import Folder, Ptxas

from bwlint.chips import Chip
from bwlint.chips.devices import chip
from bwlint.confirm.selftest.case import NotForChip, PtxText, SelftestCase, all_cases, rendered
from bwlint.confirm.selftest.statics import Static, compiled_for, static

OLDEST = "13.0.88"
CHIPS = ("9.0", "12.0", "12.1")
FEWEST = 100
"""Cases with text for each of these chips."""


@cache
def installed(root: Path) -> dict[str, Ptxas | str]:
    """The ptxas of each version, or why there is none."""
    folder = Folder(Path(os.environ.get("BWLINT_PTXAS") or root))
    found: dict[str, Ptxas | str] = {}
    for name, version in (("newest", None), (OLDEST, OLDEST)):
        found[name] = folder.ptxas(version) or folder.problem
    return found


@pytest.fixture(scope="module", params=["newest", OLDEST])
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ptxas]:
    found = installed(tmp_path_factory.getbasetemp() / "ptxas")[request.param]
    if isinstance(found, Ptxas):
        yield found
    elif os.environ.get("CI") == "true":
        pytest.fail(f"no ptxas from PyPI: {found}")
    else:
        pytest.skip(f"no ptxas from PyPI: {found}")


@dataclass(frozen=True)
class Written:
    """The text of a case for a chip."""

    case: SelftestCase
    asked: Chip
    path: Path

    @property
    def target(self) -> str:
        return compiled_for(self.case, self.asked).removeprefix("sm_")

    @property
    def is_statement(self) -> bool:
        """Whether it is one instruction for a target of the chip itself: many of them go into one module."""
        return self.case.template == "instruction.ptx" and self.target.rstrip("af") == str(self.asked.joined)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Written]]:
    """The cases with text for each chip, each in a folder of its own."""
    found: dict[str, list[Written]] = {}
    for name in CHIPS:
        folder = tmp_path_factory.mktemp(f"chip-{name}")
        for case in all_cases():
            try:
                text = rendered(case, chip(name))
            except NotForChip:
                continue
            if isinstance(case.make, PtxText):
                path = folder / case.name / case.template
                path.parent.mkdir()
                path.write_text(text)
                found.setdefault(name, []).append(Written(case, chip(name), path))
    return found


def assembled(tool: Ptxas, one: Written) -> str:
    """What the compiler of a driver would make of it: "works", or "fails" where it refuses or drops a minimum."""
    suffix = one.target[-1]
    arch = f"sm_{one.asked.joined}{suffix if suffix in one.asked.suffixes else ''}"
    command = [str(tool.path), f"-arch={arch}", one.path.name, "-o", "out.cubin"]
    ran = subprocess.run(command, cwd=one.path.parent, capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode not in (0, 255):
        return f"exit status {ran.returncode}: {ran.stderr}"
    dropped = one.case.question == "bounds" and "minnctapersm" in ran.stderr
    return "fails" if ran.returncode or dropped else "works"


def answers(tool: Ptxas, cases: list[Written]) -> dict[str, str]:
    """What ptxas says of each case, by its name."""
    found = {}
    statements = [one for one in cases if one.is_statement]
    for target in {one.target for one in statements}:
        some = [one for one in statements if one.target == target]
        said = tool.ask([one.case.values["STATEMENT"] for one in some], target)
        found.update({one.case.name: "fails" if each.errors else "works" for one, each in zip(some, said, strict=True)})
    rest = [one for one in cases if not one.is_statement]
    with ThreadPoolExecutor(2) as pool:
        found.update(
            zip((one.case.name for one in rest), pool.map(lambda one: assembled(tool, one), rest), strict=True)
        )
    return found


VERDICTS: dict[tuple[str, str, str], Static] = {}
"""Those of bwlint that were asked for before; only what is said of a version of PTX depends on the toolkit."""


def ours(one: Written, toolkit: str) -> Static:
    key = (one.case.name, one.asked.name, toolkit if one.case.template == "plain.ptx" else "")
    if key not in VERDICTS:
        VERDICTS[key] = static(one.case, one.asked, one.path, one.path, toolkit, "ptxas")
    return VERDICTS[key]


@pytest.mark.parametrize("name", CHIPS)
def test_ptxas_says_what_bwlint_says(tool: Ptxas, texts: dict[str, list[Written]], name: str) -> None:
    cases = texts[name]
    toolkit = ".".join(tool.version.split(".")[:2])
    said = answers(tool, cases)
    wrong = []
    for one in cases:
        found = ours(one, toolkit)
        if found.verdict != said[one.case.name]:
            reasons = "; ".join(found.reasons)
            wrong.append(f"{one.case.name}: bwlint {found.verdict} ({reasons}), ptxas {said[one.case.name]}")
    assert wrong == []
    assert len(cases) >= FEWEST
    hazards = list(said.values()).count("fails")
    assert len(cases) // 3 < hazards < 2 * len(cases) // 3
