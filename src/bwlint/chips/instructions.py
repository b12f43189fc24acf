"""PTX instructions: for which targets the assembler takes them, and where it takes them by a slow path.

The table (ptx.toml) is generated from ptxas by tools/ptx_table.py. A row is one thing that ptxas checks: an
instruction is legal where every row that it matches allows it, and what no row matches is legal everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from bwlint.chips.targets import ALL_TARGETS, Target
from bwlint.chips.targetset import EVERY_TARGET, NO_TARGET, TargetSet
from bwlint.data import table

_GUARD = re.compile(r"[\s{]*(?:@\s*(?:!\s*)?[%$]*\w+\s+)?")
_HEAD = re.compile(r"\.?[A-Za-z]\w*(?:::\w+)*(?:\s*\.\s*\w+(?:::\w+)*)*(?:\s*\.)?")
_SPACE = re.compile(r"\s+")
_VECTOR = re.compile(r"\{[^{}]*\}")
_TYPE = re.compile(r"(?:[bfus]|bf|tf|ue?)\d+(?:m\d)?(?:x\d)?|e\dm\d(?:x\d)?")
_PLACE = re.compile(r"<([1-9MLKN])>")
_LONGEST = 400
"""No instruction has a longer head; what is longer is hostile."""
_NUMBER = re.compile(r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|0|[1-9]\d{0,17})(?![\w.])")
_ADDRESS = re.compile(r"\[[^\[\]]*\]")


@dataclass(frozen=True, slots=True)
class PtxStatement:
    """A PTX statement in normal form: "ld.global.u32", "%r1, [%rd1]". It may be cut off anywhere."""

    head: str
    operands: str

    @property
    def types(self) -> list[str]:
        """The last two types among the modifiers: of the result, and of what it is made from."""
        return [word for word in self.head.split(".") if _TYPE.fullmatch(word)][-2:]

    @property
    def count(self) -> int:
        """The number of operands without vectors in braces; the elements of an address do not count."""
        rest = _ADDRESS.sub("[]", _VECTOR.sub("", self.operands))
        return len([part for part in rest.split(",") if part.strip()])


def parse(instruction: str) -> PtxStatement:
    """The normal form of one statement: no guard, no doubled percent signs, no semicolon."""
    start = _GUARD.match(instruction)
    head = _HEAD.match(instruction, start.end() if start else 0)
    if head is None:
        return PtxStatement("", instruction)
    operands = instruction[head.end() :].replace("%%", "%").strip().rstrip(";").rstrip()
    return PtxStatement(_SPACE.sub("", head[0])[:_LONGEST].rstrip("."), _SPACE.sub(" ", operands))


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

    def words(self, statement: PtxStatement) -> str:
        """ptxas's text for a statement, still with <T> for the target."""
        words = statement.head.split(".")
        has = self.has[0].search(statement.head) if self.has else None
        numbers = _NUMBER.findall(statement.operands)
        filled = {
            "M": has[0] if has else "",
            "L": ".".join([words[0], *statement.types]),
            "K": ".".join(["", *statement.types]),
            "N": str(int(numbers[-1], 0)) if numbers else "",
        }
        return _PLACE.sub(lambda place: filled.get(place[1]) or ".".join(words[: int(place[1], 16)]), self.error)

    def matches(self, statement: PtxStatement) -> bool:
        """Whether the row speaks of a statement; one with unknown operands matches no row that asks for them."""
        if not self.fits(statement):
            return False
        if self.operands is not None and self.operands.search(statement.operands) is None:
            return False
        return self.count <= statement.count

    def fits(self, statement: PtxStatement) -> bool:
        """Whether the row speaks of an instruction and its modifiers, whatever the operands."""
        head = statement.head
        if not any(head.startswith(op) and head[len(op) : len(op) + 1] in ("", ".", ":") for op in self.ops):
            return False
        if any(item.search(head) for item in self.lacks):
            return False
        return all(item.search(head) for item in self.has)


@dataclass(frozen=True, slots=True)
class PtxasVerdict:
    """`forms` are the rows that match, the narrowest first; `legal` is by the newest ptxas, `older` by the oldest."""

    statement: PtxStatement
    legal: TargetSet
    older: TargetSet
    slow: TargetSet
    forms: tuple[Form, ...]

    @property
    def group(self) -> str:
        """The kind of instruction, after the narrowest row: "tcgen05", "wgmma", "block-scale", ...; "" = none."""
        return self.forms[0].group if self.forms else ""

    @property
    def note(self) -> str:
        """Where versions of ptxas differ, or ""."""
        return next((form.note for form in self.forms if form.note), "")

    def refusing(self, target: Target) -> Form | None:
        """The row for which ptxas refuses the target, the most general one; None where it is legal."""
        return max(
            (form for form in self.forms if target not in form.legal), key=lambda form: len(form.legal), default=None
        )

    def slowing(self, target: Target) -> Form | None:
        """The row that says why a target takes a slow path, or None."""
        return next((form for form in self.forms if target in form.slow), None)


@lru_cache(maxsize=4096)
def verdict(instruction: str) -> PtxasVerdict:
    """The verdict on one PTX statement: guard, operands of inline assembly, or only its first words are fine."""
    return judge(parse(instruction))


def judge(statement: PtxStatement) -> PtxasVerdict:
    """The verdict on a statement in normal form."""
    legal, older, slow = EVERY_TARGET, EVERY_TARGET, NO_TARGET
    found = forms_of(statement)[::-1]
    found.sort(key=lambda form: len(form.legal))
    for form in found:
        legal &= form.legal
        older &= form.older
        slow |= form.slow
    return PtxasVerdict(statement, legal, older, slow & legal, tuple(found))


def find(instruction: str) -> Form | None:
    """The narrowest row that speaks of one PTX statement, or None: it is legal everywhere."""
    return next(iter(verdict(instruction).forms), None)


@cache
def forms() -> tuple[Form, ...]:
    """Every row of the table, in its order."""
    return tuple(_form(row) for row in _table()["form"])


@cache
def _table() -> dict[str, Any]:
    return table("ptx")


@cache
def _by_root() -> dict[str, tuple[Form, ...]]:
    found: dict[str, list[Form]] = {}
    for form in forms():
        for root in dict.fromkeys(_root(op) for op in form.ops):
            found.setdefault(root, []).append(form)
    return {root: tuple(rows) for root, rows in found.items()}


def _root(head: str) -> str:
    return re.split("[.:]", head[1:], maxsplit=1)[0] if head else ""


def forms_of(statement: PtxStatement, operands: bool = True) -> list[Form]:
    """The rows that speak of a statement; without `operands`, those that speak of its modifiers."""
    rows = _by_root().get(_root(statement.head), ())
    return [form for form in rows if (form.matches(statement) if operands else form.fits(statement))]


def _form(row: dict[str, Any]) -> Form:
    return Form(
        row["name"],
        row["group"],
        tuple(row["op"].split("|")),
        tuple(modifier(item) for item in row.get("has", ())),
        tuple(modifier(item) for item in row.get("lacks", ())),
        re.compile(row["operands"]) if "operands" in row else None,
        int(row.get("count", 0)),
        targets(row["legal"]),
        targets(row.get("older", row["legal"])),
        targets(row.get("slow", "")),
        row.get("error", ""),
        row.get("advice", ""),
        row.get("note", ""),
    )


def modifier(item: str) -> re.Pattern[str]:
    """What finds a modifier in a head; parts apart by a space come in this order, with others between them or not."""
    parts = [rf"\.(?:{part})(?![\w:])" for part in item.split(" ")]
    return re.compile(".*".join(parts))


def targets(words: str) -> TargetSet:
    """The set of "90a 100f 110+" ("110+": from 110 on); targets unknown to ptxas get their nearest's verdict."""
    found = NO_TARGET
    for word in words.split():
        found |= _from(int(word[:-1])) if word.endswith("+") else TargetSet.of(word)
    return found | TargetSet.joining(target for target, other in _stand_ins().items() if other in found)


def _from(number: int) -> TargetSet:
    return TargetSet.where(lambda target: target.number >= number)


@cache
def _stand_ins() -> dict[Target, Target]:
    """For targets that ptxas no longer knows, those whose verdicts they have."""
    first: int = _table()["ptxas"]["first"]
    old = {target: Target(first) for target in ALL_TARGETS if target.number < first}
    renamed = [target for target in ALL_TARGETS if target.chip.renamed_to]
    return old | {target: Target.parse(f"{target.chip.renamed_to}{target.suffix}") for target in renamed}


Version = tuple[int, int]


@cache
def _rows() -> dict[Target, dict[str, Any]]:
    return {Target.parse(name): row for name, row in table("ptx")["target"].items()}


def first_isa(target: Target) -> Version | None:
    """The lowest `.version` of PTX that names the target: (8, 7) for sm_120. None where ptxas does not know it."""
    row = _rows().get(target)
    if row is None:
        return None
    major, minor = row["isa"].split(".")
    return int(major), int(minor)


def static_shared(target: Target) -> int | None:
    """The most static shared memory of a kernel in bytes from CUDA 13.0 on; None: ptxas does not know the target."""
    row = _rows().get(target)
    return None if row is None else int(row["shared"])
