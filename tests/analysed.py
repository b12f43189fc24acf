"""Small trees of sources, as rules see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.judging.drafts import Draft
from bwlint.run.engine import Analysis, analyse
from bwlint.sources.walk import discover
from bwlint.world.collect import collect
from bwlint.world.libraries import Libraries, LibraryRow

BOTH = ChipSet.of("12.0", "12.1")


def analysed(
    folder: Path,
    files: Mapping[str, str],
    rules: Iterable[str] = (),
    targets: ChipSet = BOTH,
    *,
    only: str = "",
    rows: tuple[LibraryRow, ...] = (),
) -> Analysis:
    """What is found by some rules in a project of these files, or in just one of them; `rows` are the user's."""
    for name, text in {"pyproject.toml": "[project]\nname = 'p'\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return analyse(
        collect(discover([str(folder / only)]).files, 1), Sources(), targets, rules, libraries=Libraries(rows)
    )


def drafts(
    folder: Path, files: Mapping[str, str], rule: str, targets: ChipSet = BOTH, *, only: str = ""
) -> list[Draft]:
    """The findings of one rule in a project of these files, or in just one of them."""
    return [draft for _, found in analysed(folder, files, [rule], targets, only=only).drafts for draft in found]


def levels(found: Iterable[Draft]) -> list[str]:
    """Findings as "line severity"."""
    return [f"{draft.at[0]} {draft.severity}" for draft in found]
