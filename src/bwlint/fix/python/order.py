"""Fix an order comparison that means something else: names for a family, texts for releases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import PurePath
from typing import TypeAlias

from bwlint.chips import NONE, Chip, chip_of_number, spelling, targets_of
from bwlint.chips.frameworks import releases as releases_read_by
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.python import first_proved
from bwlint.fix.python.imports import add_line
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax
from bwlint.model.findings import Fix, NoFix
from bwlint.sources.search import search_of
from bwlint.sources.tree import package_root

_LONGEST = 60
_BUILDING = frozenset({"setup.py", "conftest.py"})
_Limit: TypeAlias = tuple[str, str, Chip]
_RELEASE = re.compile(r"\d+\.\d+(?:\.\w+)*")


def mend(job: Job) -> Fix | NoFix:
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    moved = (remedy.chips | judged.core) - (remedy.chips & judged.core)
    change = WantedChange("type", remedy.chips, moved, NONE)
    place = ConditionPlace.of(job, judged, change, job.draft.at)
    if isinstance(place, NoFix):
        return place
    proved = first_proved(place, (_ranges, partial(_releases, packaging=_uses_packaging(job))), job.evidence)
    if isinstance(proved, NoFix):
        return proved
    candidate, proof = proved
    return Fix(job.applicability, "type", _title(candidate), candidate, proof)


def _uses_packaging(job: Job) -> bool:
    """Whether modules of the project import `packaging`; a script that builds it says nothing of where it runs."""
    native = job.context.native
    if native is None:
        return False
    hits = search_of(package_root(job.module.path), native.searches).word("python", "packaging")
    imports = (hit for hit in hits if hit.text.lstrip().startswith(("from packaging", "import packaging")))
    return any(PurePath(hit.file.real).name not in _BUILDING for hit in imports)


def _title(candidate: Candidate) -> str:
    text = " ".join(candidate[-1].text.split())
    return f"Write `{text}`" if len(text) <= _LONGEST else "Correct the comparison"


def _releases(place: ConditionPlace, *, packaging: bool) -> Iterator[Candidate]:
    """`torch.version.cuda >= "12.9"` to `Version(torch.version.cuda) >= Version("12.9")`, if it may be imported."""
    syntax = place.syntax
    for node in syntax.within(place.span):
        if isinstance(node, ast.Compare) and _orders_texts(node):
            call = _call(syntax)
            if call is not None:
                yield _called(place, syntax, node, call)
            elif packaging:
                brought = add_line(syntax, place.module.path, "packaging.version", ("Version",))
                # a module that imports further down would ask before it knows the name
                if not isinstance(brought, NoFix) and all(edit.region.line <= node.lineno for edit in brought):
                    yield (*brought, *_called(place, syntax, node, "Version"))


def _orders_texts(node: ast.Compare) -> bool:
    """`x >= "12.9"`."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return False
    texts = [side for side in (node.left, node.comparators[0]) if isinstance(side, ast.Constant)]
    return len(texts) == 1 and isinstance(texts[0].value, str) and _RELEASE.fullmatch(texts[0].value) is not None


def _called(place: ConditionPlace, syntax: Syntax, node: ast.Compare, call: str) -> Candidate:
    edits = []
    for operand in (node.left, node.comparators[0]):
        text = f"{call}({syntax.segment(operand)})"
        edits.append(syntax.edit(place.module.path, syntax.start(operand), syntax.end(operand), text))
    return tuple(edits)


def _call(syntax: Syntax) -> str | None:
    """What the file imports at its top to read releases with."""
    imported = [node for node in syntax.tree.body if isinstance(node, ast.ImportFrom) and not node.level]
    for module, name, call in releases_read_by():
        for node in imported:
            if node.module == module and any(alias.name == name and alias.asname is None for alias in node.names):
                return call
    return None


def _ranges(place: ConditionPlace) -> Iterator[Candidate]:
    """`arch >= Arch.sm_103 and arch <= Arch.sm_103f` to `arch.is_family_of(Arch.sm_103f)`."""
    syntax = place.syntax
    for node in syntax.within(place.span):
        for low, high, start, end in _ranges_in(syntax, node):
            if low is None or high is None or low[:2] != high[:2]:
                continue
            subject, enum, first = low
            ends = [first] if first.major == high[2].major else [first, high[2]]  # one for each generation
            text = " or ".join(f"{subject}.is_family_of({enum}.{_target(chip)})" for chip in ends)
            is_part = isinstance(node, ast.BoolOp) and len(node.values) > 2
            if len(ends) > 1 and (is_part or not syntax.is_free(node, "or")):
                text = f"({text})"
            yield (syntax.edit(place.module.path, start, end, text),)


def _ranges_in(syntax: Syntax, node: ast.expr) -> Iterator[tuple[_Limit | None, _Limit | None, int, int]]:
    """The two ends of each range in a node, and from where to where it stands."""
    if isinstance(node, ast.Compare) and len(node.ops) == 2:
        ends = zip(node.ops, (node.left, node.comparators[1]), strict=True)
        low, high = (_bound(syntax, node.comparators[0], sign, member, ast.LtE) for sign, member in ends)
        yield low, high, syntax.start(node), syntax.end(node)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for one, other in pairwise(node.values):
            if isinstance(one, ast.Compare) and isinstance(other, ast.Compare) and len(one.ops) == len(other.ops) == 1:
                low = _bound(syntax, one.left, one.ops[0], one.comparators[0], ast.GtE)
                high = _bound(syntax, other.left, other.ops[0], other.comparators[0], ast.LtE)
                yield low, high, syntax.start(one), syntax.end(other)


def _bound(
    syntax: Syntax, subject: ast.expr, sign: ast.cmpop, member: ast.expr, operator: type[ast.cmpop]
) -> _Limit | None:
    """What is compared with a member of an enum, the enum as it is written, and the member's chip."""
    if not isinstance(sign, operator) or not isinstance(subject, (ast.Name, ast.Attribute)):
        return None
    found = spelling.member(member.attr) if isinstance(member, ast.Attribute) else None
    chip = chip_of_number(found.number) if found else None
    if chip is None or not isinstance(member, ast.Attribute):
        return None
    return syntax.segment(subject), syntax.segment(member.value), chip


def _target(chip: Chip) -> str:
    """The family target of a chip, or the only one of its own that it has."""
    names = {target.suffix: target.name for target in targets_of(chip)}
    return names.get("f") or names.get("a") or names[""]
