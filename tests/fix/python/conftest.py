"""One gate of a snippet, proposed a fix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.python import propose
from bwlint.judging.drafts import Remedy
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Finding, Fix, NoFix
from bwlint.readers.python import read
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.world.gates import Judged
from bwlint.world.tree import Sets, Tree


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text with its gates; `number` is the gate that is asked about."""

    source: str
    tree: Tree
    module: Module
    number: int = 0

    @property
    def gate(self) -> Gate:
        return self.module.gates[self.number]

    @property
    def sets(self) -> Sets:
        sets = self.tree.sets(self.module, self.gate)
        assert sets is not None
        return sets

    def wanted(self) -> ChipSet:
        """The set with 12.1 on the side of 12.0."""
        core, missing = self.sets.core, ChipSet.of("12.1")
        return core | missing if "12.0" in core else core - missing

    def propose(self, wanted: ChipSet | None = None, unsafe_reason: str | None = None) -> Fix | NoFix:
        target = self.wanted() if wanted is None else wanted
        denies = Judged(self.module, self.gate, self.sets, "").denies
        more: Literal["admit", "bound"] = "admit" if bool(target - self.sets.core) != denies else "bound"
        beyond = more if unsafe_reason else None
        return self.proposed(target, unsafe_reason, beyond)

    def proposed(
        self,
        wanted: ChipSet,
        doubt: str | None = None,
        beyond: Literal["admit", "bound"] | None = None,
        source: str | None = None,
        gate: Gate | None = None,
    ) -> Fix | NoFix:
        """What is proposed for the gate in a world that has this file alone."""
        context: Any = SimpleNamespace(tree=self.tree)
        draft: Any = SimpleNamespace(module=self.module)
        remedy = Remedy("test", wanted, evidence="a test")
        job = Job(context, draft, remedy, None, "/", self.source if source is None else source)
        return propose(job, Judged(self.module, gate or self.gate, self.sets, ""), wanted, doubt, beyond)

    def fixed(self, wanted: ChipSet | None = None) -> str:
        """The text after the fix; fails where it is refused."""
        fix = self.propose(wanted)
        assert isinstance(fix, Fix), fix
        return apply(self.source, fix.edits)

    def refused(self, wanted: ChipSet | None = None) -> str:
        fix = self.propose(wanted)
        assert isinstance(fix, NoFix), fix
        return fix.reason


Make = Callable[..., Snippet]


@pytest.fixture
def snippet() -> Make:
    def make(source: str, number: int = 0) -> Snippet:
        module = read("pkg/m.py", source, "pkg.m", False)
        tree = Tree(Sources(), lambda path, dotted: None)
        tree.give(module.path, module.name, "/", lambda: module)
        return Snippet(source, tree, module, number)

    return make


@dataclass(frozen=True, slots=True)
class Checked:
    """A tree of files that was checked; `findings` are those with a remedy."""

    folder: Path
    findings: tuple[Finding, ...]

    def fixes(self, rule: str) -> list[tuple[str, str]]:
        """How each finding of a rule is mended, safe or unsafe, and the text of its file after that."""
        found: list[tuple[str, str]] = []
        for finding in self.findings:
            if finding.name == rule and finding.fix is not None:
                source = Path(finding.path).read_text()
                found.append((finding.fix.applicability, apply(source, finding.fix.edits)))
        return found

    def refusals(self, rule: str) -> list[str]:
        return [one.fix_refused for one in self.findings if one.name == rule and one.fix_refused is not None]


Project = Callable[[dict[str, str]], Checked]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Files of a project, by their paths in it, checked as a whole."""

    def make(files: dict[str, str]) -> Checked:
        (tmp_path / "pyproject.toml").write_text("[project]\nname = 'p'\n")
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        request = CheckRequest((str(tmp_path),), severity="note", jobs=1, fixes=True)
        with ExitStack() as stack:
            return Checked(tmp_path, check(request, stack).report.findings)

    return make
