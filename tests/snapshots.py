"""Reports kept as files: a test renders one, and what it says must be what the file says, to the letter.

`pytest tests/test_golden.py --update-golden` writes the files anew; the difference is then read in git.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from bwlint.model.findings import Report
from bwlint.report import Setting, renderer
from bwlint.report.summary import at_least
from bwlint.run.check import check
from bwlint.run.request import CheckRequest, Outcome
from bwlint.settings import catalog

FIXTURES = Path(__file__).parents[1] / "fixtures"
TARGETS = ("sm_120", "sm_121")
_SHOWN, _WIDTH = 60, 300
"""Lines of a difference, and characters of each, that a failure prints."""


def checked(folder: str) -> Outcome:
    """What `bwlint check --severity note` finds in a folder below the current one, with fixes."""
    with ExitStack() as stack:
        return check(CheckRequest((folder,), target=TARGETS, severity="note", jobs=1, fixes=True), stack)


@cache
def of_fixtures(folder: str) -> Outcome:
    """What is found in a folder of fixtures, paths from `fixtures/` on."""
    here = Path.cwd()
    os.chdir(FIXTURES)
    try:
        return checked(folder)
    finally:
        os.chdir(here)


def rendered(outcome: Outcome, form: str, report: Report | None = None) -> str:
    """A report as the command writes it to a file, but for bwlint's version, which is 0."""
    setting = Setting(outcome.lines, "0", catalog.rules())
    return renderer(form)(at_least(report or outcome.report, outcome.severity), setting)


@dataclass(frozen=True, slots=True)
class Golden:
    """The files of a folder, compared with what is rendered or written anew."""

    folder: Path
    update: bool = False

    def holds(self, name: str, text: str) -> None:
        """That a file says just this."""
        path = self.folder / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
            return
        if not path.is_file():
            pytest.fail(f"{path} is missing: write it with --update-golden", pytrace=False)
        kept = path.read_bytes().decode("utf-8")
        if kept != text:
            pytest.fail(f"{path} differs:\n" + "\n".join(_difference(kept, text)), pytrace=False)

    def holds_no_others(self, names: Iterable[str]) -> None:
        """That the folder has these files and nothing else."""
        here = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}
        left = sorted(here - set(names))
        if self.update:
            for name in left:
                (self.folder / name).unlink()
            return
        missing = sorted(set(names) - here)
        if left or missing:
            pytest.fail(f"{self.folder}: nothing renders {left}, and {missing} are missing", pytrace=False)


def _difference(kept: str, text: str) -> Iterator[str]:
    """A unified diff of bounded length."""
    rows = unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="", n=4)
    yield from (row[:_WIDTH] for row in islice(rows, _SHOWN))
    more = sum(1 for _ in rows)
    if more:
        yield f"... and {more} lines more"
    if kept.splitlines() == text.splitlines():
        yield "only line ends differ"
