"""Sets of chips in words, columns of text, and Markdown as GitHub and GitLab read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, Finding, Proof
from bwlint.model.naming import counted

_GATES = frozenset({"capability-type", "excluded", "family-split", "leak", "message", "test-gate"})
"""Categories whose first set is what a check lets in."""
# Code stays code; an underscore within a word is no mark.
_MARKS = re.compile(r"`[^`|]+`|[\\`*\[\]<>|~&#!$@]|(?<![^\W_])_|_(?![^\W_])")


def words(names: Sequence[str]) -> str:
    """``("12.0", "12.1")`` in words; targets with a suffix (``sm_120a``) are listed as they are."""
    if not all(name[:1].isdigit() for name in names):
        return ", ".join(names)
    from bwlint.chips import ChipSet

    try:
        return str(ChipSet.of(*names))
    except (KeyError, ValueError):
        # A report that is read back may name chips that nobody knows here.
        return ", ".join(names)


def evidence(proof: Proof) -> tuple[str, str]:
    """What speaks for an edit, and what makes it unsafe; "" where nothing does."""
    told, found, doubt = f" {proof.evidence}".partition(" (unsafe: ")
    told = told.strip()
    return "" if told == "none" else told, doubt.removesuffix(")") if found else ""


def reasons(proof: Proof) -> list[str]:
    """The same as rows."""
    told, doubt = evidence(proof)
    return [*([f"because: {told}"] if told else []), *([f"unsafe: {doubt}"] if doubt else [])]


def to_look_at(count: int) -> str:
    """ "1 check is for you to judge"."""
    return f"{counted(count, 'check')} {'is' if count == 1 else 'are'} for you to judge"


def aligned(rows: Sequence[Sequence[str]], names: int | None = None) -> Iterator[str]:
    """The lines of a table without rules, each column as wide as its longest cell; behind so many names are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:names], widths, strict=False)]
        numbers = row[len(cells) :]
        cells += [cell.rjust(width) for cell, width in zip(numbers, widths[len(cells) :], strict=True)]
        yield "  ".join(cells).rstrip()


_WITH_THE_REST = "(if the rest of the check holds)"
_ANYBODY = f"every chip {_WITH_THE_REST}"
"""Which says nothing."""


def _let_in(admitted: Sequence[str], certain: Sequence[str]) -> str:
    """Where a check holds whatever else it asks, and where only if the rest of it holds too."""
    others = [name for name in admitted if name not in certain]
    if not others:
        return words(admitted)
    rest = f"{words(others)} {_WITH_THE_REST}"
    return f"{words(certain).removesuffix(' only')} always, {rest}" if certain else rest


def sets(finding: Finding) -> list[tuple[str, str]]:
    """What to call each set of a finding, and the set; an empty one says something of a gate alone."""
    is_served, rows = CATEGORIES[finding.category].is_served, []
    name = "loads on" if is_served else "lets in" if finding.category in _GATES else "reached by"
    if finding.admitted or any(claim.kind in ("gate", "guard") for claim in finding.claims):
        let_in = words(finding.admitted) if name == "reached by" else _let_in(finding.admitted, finding.certain)
        rows += [(name, let_in)] if let_in != _ANYBODY else []
    if finding.legal is not None:
        rows.append(("works on", words(finding.legal)))
    return rows


def plain(text: str) -> str:
    """Text that stands for itself, in a table too."""
    return _MARKS.sub(lambda mark: mark[0] if len(mark[0]) > 1 else f"\\{mark[0]}", visible(text))


def code(text: str) -> str:
    """Text as code, in a table too: there a bar ends a cell even within code."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    room = " " if len(fence) > 1 else ""
    return f"{fence}{room}{visible(text)}{room}{fence}".replace("|", "\\|")


def table(*rows: Sequence[str]) -> Iterator[str]:
    """The lines of a table whose first row is its head, and an empty one."""
    head, *rest = rows
    for row in (head, ["---"] * len(head), *rest):
        yield f"| {' | '.join(row)} |"
    yield ""
