"""A C++ snippet, judged by the rules, and the fixes of what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.fix import Job, propose
from bwlint.fix.edited import apply
from bwlint.judging.drafts import Draft, Remedy
from bwlint.model.findings import Fix, NoFix
from bwlint.readers.cuda import read
from bwlint.run.engine import analyse
from bwlint.sources.read import given
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

RULES = (
    "family-split",
    "suffix-lost",
    "empty-body",
    "dead-arm",
    "excluded",
    "leak",
    "smem",
    "tma-slow-path",
    "tcgen05",
)


@dataclass(frozen=True, slots=True)
class Mended:
    """A text, and what each finding in it led to: a fix, or why there is none."""

    source: str
    found: tuple[tuple[Draft, Fix | NoFix | None], ...]

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return tuple(fix for _, fix in self.found if isinstance(fix, Fix))

    @property
    def refusals(self) -> tuple[str, ...]:
        return tuple(fix.reason for _, fix in self.found if isinstance(fix, NoFix))

    def text(self, *, safe: bool = False) -> str:
        """The text after the fixes; `safe` leaves the others out."""
        edits = [edit for fix in self.fixes if fix.applicability == "safe" or not safe for edit in fix.edits]
        return apply(self.source, edits)


Mend = Callable[..., Mended]


@pytest.fixture(scope="session")
def mend(tmp_path_factory: pytest.TempPathFactory) -> Mend:
    """Judge a text with its headers, and propose fixes."""
    folder = tmp_path_factory.mktemp("kit")

    def run(source: str, rules: tuple[str, ...] = RULES, **headers: str) -> Mended:
        root, name = Path(folder), "kernel.cu"
        texts = {str(root / name): source, **{str(root / f"{other}.h"): text for other, text in headers.items()}}
        modules = tuple((SourceFile(real, real, "cuda", str(root)), read(real, text)) for real, text in texts.items())
        both = ChipSet.of("12.0", "12.1")
        found: list[tuple[Draft, Fix | NoFix | None]] = []
        with given({real: text.encode() for real, text in texts.items()}):
            analysis = analyse(Collected(modules, (), ()), Sources(), both, rules)
            for file, drafts in analysis.drafts:
                judged = {id(one.gate): one for one in analysis.context.judged[file.real]}
                for draft in drafts if file.real.endswith(name) else ():
                    remedy = draft.remedy
                    if isinstance(remedy, Remedy):
                        job = Job(analysis.context, draft, remedy, judged.get(id(draft.gate)), file.root, source)
                        found.append((draft, propose(job)))
                    else:
                        found.append((draft, remedy))
        return Mended(source, tuple(found))

    return run
