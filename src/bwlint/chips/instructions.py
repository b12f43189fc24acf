"""PTX instructions: for which targets the assembler takes them, and where it takes them by a slow path.

The table (ptx.toml) is generated from ptxas by tools/ptx_table.py. A row is one thing that ptxas checks: an
instruction is legal where every row that it matches allows it, and what no row matches is legal everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from bwlint.chips.targets import Target
from bwlint.chips.targetset import EVERY_TARGET, NO_TARGET, TargetSet
from bwlint.data import table

_GUARD = re.compile(r"[\s{]*(?:@\s*!?\s*[%$]*\w+\s+)?")
_HEAD = re.compile(r"\.?[A-Za-z]\w*(?:::\w+)*(?:\s*\.\s*\w+(?:::\w+)*)*(\s*\.)?")
_SPACE = re.compile(r"\s+")
_VECTOR = re.compile(r"\{[^{}]*\}")
_ADDRESS = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A PTX statement in normal form: "ld.global.u32", "%r1, [%rd1]".

    `partial` says that modifiers may follow that were not readable: what a row says of missing ones is unknown.
    """

    head: str
    operands: str
    partial: bool = False

    @property
    def count(self) -> int:
        """The number of operands without vectors in braces; the elements of an address do not count."""
        rest = _ADDRESS.sub("[]", _VECTOR.sub("", self.operands))
        return len([part for part in rest.split(",") if part.strip()])


def parse(instruction: str) -> Statement:
    """The normal form of one statement: no guard, no doubled percent signs, no semicolon."""
    start = _GUARD.match(instruction)
    head = _HEAD.match(instruction, start.end() if start else 0)
    if head is None:
        return Statement("", instruction)
    operands = instruction[head.end() :].replace("%%", "%").strip().rstrip(";").rstrip()
    partial = head[1] is not None
    return Statement(_SPACE.sub("", head[0]).rstrip("."), _SPACE.sub(" ", operands), partial)


@dataclass(frozen=True, slots=True)
class Form:
    """One row: what matches, and what ptxas says of it.

    `error` is ptxas's own text with <T> for the target, `slow` are targets on which it assembles to a slow path
    that `advice` describes, `older` is what the older of the two versions takes, and `note` says so in words.
    """

    name: str
    group: str
    ops: tuple[str, ...]
    has: tuple[re.Pattern[str], ...]
    lacks: tuple[re.Pattern[str], ...]
    operands: re.Pattern[str] | None
    count: int
    legal: TargetSet
    older: TargetSet
    slow: TargetSet
    error: str
    advice: str
    note: str

    def matches(self, statement: Statement) -> bool:
        """Whether the row speaks of a statement; one with unknown operands matches no row that asks for them."""
        head = statement.head
        if not any(head.startswith(op) and head[len(op) : len(op) + 1] in ("", ".", ":") for op in self.ops):
            return False
        if self.lacks and (statement.partial or any(item.search(head) for item in self.lacks)):
            return False
        if any(item.search(head) is None for item in self.has):
            return False
        if self.operands is not None and self.operands.search(statement.operands) is None:
            return False
        return self.count <= statement.count


@dataclass(frozen=True, slots=True)
class Verdict:
    """What ptxas says of an instruction. `forms` are the rows that match, the narrowest first.

    `legal` is by the newest ptxas that was asked, `older` by the oldest of its major version.
    """

    legal: TargetSet
    older: TargetSet
    slow: TargetSet
    forms: tuple[Form, ...]

    @property
    def group(self) -> str:
        """The kind of instruction, after the narrowest row: "tcgen05", "wgmma", "block-scale", ...; "" = none."""
        return self.forms[0].group if self.forms else ""

    @property
    def error(self) -> str:
        """ptxas's words where the instruction is illegal, with <T> for the target; "" where it is never."""
        return next((form.error for form in self.forms if form.error), "")

    @property
    def note(self) -> str:
        """Where versions of ptxas differ, or ""."""
        return next((form.note for form in self.forms if form.note), "")

    def refusing(self, target: Target) -> Form | None:
        """The row for which ptxas refuses the target, the narrowest first; None where it is legal."""
        return next((form for form in self.forms if target not in form.legal), None)

    def slowing(self, target: Target) -> Form | None:
        """The row that says why a target takes a slow path, or None."""
        return next((form for form in self.forms if target in form.slow), None)


@lru_cache(maxsize=4096)
def verdict(instruction: str) -> Verdict:
    """The verdict on one PTX statement: guard, operands of inline assembly, or only its first words are fine."""
    return judge(parse(instruction))


def judge(statement: Statement) -> Verdict:
    """The verdict on a statement in normal form."""
    legal, older, slow = EVERY_TARGET, EVERY_TARGET, NO_TARGET
    found = [form for form in _candidates(statement.head) if form.matches(statement)]
    for form in found:
        legal &= form.legal
        older &= form.older
        slow |= form.slow
    return Verdict(legal, older, slow & legal, tuple(sorted(found, key=lambda form: len(form.legal))))


def find(instruction: str) -> Form | None:
    """The narrowest row that speaks of one PTX statement, or None: it is legal everywhere."""
    return next(iter(verdict(instruction).forms), None)


@cache
def forms() -> tuple[Form, ...]:
    """Every row of the table, in its order."""
    return tuple(_form(row) for row in table("ptx")["form"])


@cache
def _by_root() -> dict[str, tuple[Form, ...]]:
    found: dict[str, list[Form]] = {}
    for form in forms():
        for root in dict.fromkeys(_root(op) for op in form.ops):
            found.setdefault(root, []).append(form)
    return {root: tuple(rows) for root, rows in found.items()}


def _root(head: str) -> str:
    return head[: head.find(".", 1)] if "." in head[1:] else head


def _candidates(head: str) -> Iterator[Form]:
    yield from _by_root().get(_root(head), ())


def _form(row: dict[str, str]) -> Form:
    return Form(
        row["name"],
        row["group"],
        tuple(row["op"].split("|")),
        tuple(_modifier(item) for item in row.get("has", ())),
        tuple(_modifier(item) for item in row.get("lacks", ())),
        re.compile(row["operands"]) if "operands" in row else None,
        int(row.get("count", 0)),
        targets(row["legal"]),
        targets(row.get("older", row["legal"])),
        targets(row.get("slow", "")),
        row.get("error", ""),
        row.get("advice", ""),
        row.get("note", ""),
    )


def _modifier(item: str) -> re.Pattern[str]:
    return re.compile(rf"\.(?:{item})(?![\w:])")


def targets(words: str) -> TargetSet:
    """The set of "90a 100f 110+": "110+" is every target from 110 on, whatever its suffix.

    Targets that ptxas no longer knows get the verdict of those it knows: `renamed_to` the new name's, those before
    the first that of the first.
    """
    found = NO_TARGET
    for word in words.split():
        found |= _from(int(word[:-1])) if word.endswith("+") else TargetSet.of(word)
    return found | TargetSet.where(lambda target: _stand_in(target) in found)


def _from(number: int) -> TargetSet:
    return TargetSet.where(lambda target: target.number >= number)


def _stand_in(target: Target) -> Target:
    """The target whose verdict an old one has."""
    renamed = target.chip.renamed_to
    if renamed:
        return Target.parse(renamed + target.suffix)
    first: int = table("ptx")["ptxas"]["first"]
    return Target(first) if target.number < first else target
