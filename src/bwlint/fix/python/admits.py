"""Fix lists and comparisons that name the admitted chips: add another generation. Fix a call of a platform method for
one chip: call the method for its family.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bwlint.chips import Chip, ChipSet, chip_of_number
from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.chips.wording import plain
from bwlint.evaluate.objects import ClassValue, Instance
from bwlint.evaluate.values import Ref
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.python import TABLES, UNKNOWN, first_proved, rows, titled
from bwlint.fix.python.listed import behind
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import Syntax
from bwlint.model.findings import Fix, NoFix
from bwlint.readers.spans import span

_LIST = (ast.List, ast.Tuple, ast.Set)
_WORDS: dict[type[ast.cmpop], str] = {ast.Eq: "in", ast.NotEq: "not in"}
EXACT = "is_device_capability"
FAMILY = "is_device_capability_family"
NEWER = "has_device_capability"


def mend(job: Job) -> Fix | NoFix:
    """The fix after which a test or list holds on the chips of the remedy, too; `NoFix` says why there is none."""
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    change = WantedChange.between(judged.sets, remedy.chips, "admit")
    if isinstance(change, NoFix):
        return change
    place = ConditionPlace.of(job, judged, change)
    if isinstance(place, NoFix):
        return place
    spelling = rows.newest if judged.gate.kind in TABLES else widened
    proved = first_proved(place, (spelling,), job.evidence)
    if isinstance(proved, NoFix):
        return NoFix(f"decide what {plain(change.chips)} should run here") if proved is UNKNOWN else proved
    candidate, proof = proved
    return Fix(job.applicability, change.kind, titled(change, candidate), candidate, proof)


def widened(place: ConditionPlace) -> Iterator[Candidate]:
    """`[100, 103]` to `[100, 103, 120, 121]`, `major == 10` to `major in (10, 12)`, `major != 10` likewise."""
    syntax = place.syntax
    path, chips = place.module.path, place.change.chips
    nodes = sorted(syntax.within(place.span), key=lambda node: not isinstance(node, ast.BoolOp))  # whole `or`s first
    for node in nodes:
        if isinstance(node, _LIST) and node.elts:
            items = [(syntax.start(item), syntax.end(item)) for item in node.elts]
            for added in (*_targets(syntax, node.elts, chips), *_spelled(syntax, node.elts[-1], chips)):
                yield behind(syntax, path, items, len(items) - 1, added)
        elif (compared := _compared(node)) is not None:
            left, word, values = compared
            for added in _spelled(syntax, values[-1], chips):
                members = ", ".join((*map(syntax.segment, values), *added))
                text = f"{syntax.segment(left)} {word} ({members})"
                yield (syntax.edit(path, syntax.start(node), syntax.end(node), text),)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (EXACT, FAMILY):
            around, owner = syntax.parents[node], syntax.segment(node.func.value)
            joined = isinstance(around, ast.BoolOp) and isinstance(around.op, ast.Or)
            last = around.values[-1] if isinstance(around, ast.BoolOp) and joined else node
            asked = [f"{owner}.{FAMILY}({number})" for number in sorted({chip.major * 10 for chip in chips})]
            yield syntax.joined(path, last, "or", [syntax.segment(last), *asked])


def _compared(node: ast.expr) -> tuple[ast.expr, str, list[ast.expr]] | None:
    """`major`, `in`, and 8 and 9 of `major == 8 or major == 9`; `not in` of `major != 8`."""
    tests = node.values if isinstance(node, ast.BoolOp) else [node]
    found = [one for one in tests if isinstance(one, ast.Compare) and len(one.ops) == 1]
    words = {_WORDS.get(type(one.ops[0])) for one in found}
    if len(found) < len(tests) or len(words) > 1 or len({ast.dump(one.left) for one in found}) > 1:
        return None
    word = words.pop()
    return None if word is None else (found[0].left, word, [one.comparators[0] for one in found])


def _targets(syntax: Syntax, items: Sequence[ast.expr], chips: ChipSet) -> Iterator[list[str]]:
    """In a list of targets by name, those of the chips with the suffixes that stand in it: `Arch.sm_120a`."""
    name = re.compile(rf"(?P<head>.*?{IN_NAMES}){NUMBER}(?P<suffix>{SUFFIX})(?P<end>['\"]?)")
    found = [match for item in items if (match := name.fullmatch(syntax.segment(item)))]
    suffixes = sorted({one["suffix"] for one in found})
    if len(found) == len(items) and any(suffixes):
        head, end = found[-1]["head"], found[-1]["end"]
        yield [f"{head}{chip.joined}{suffix}{end}" for chip in chips for suffix in suffixes]


def _spelled(syntax: Syntax, like: ast.expr, chips: ChipSet) -> Iterator[list[str]]:
    """The chips as items that look like one that stands there: as majors, or joined."""
    if isinstance(like, _LIST):
        yield [f"({chip.major}, {chip.minor})" for chip in chips]
    if not isinstance(like, ast.Constant) or isinstance(like.value, bool):
        return
    joined = [str(chip.joined) for chip in chips]
    majors = [str(major) for major in sorted({chip.major for chip in chips})]
    if isinstance(like.value, int):
        yield from (joined, majors) if like.value > max(chip.major for chip in chips) else (majors, joined)
    elif isinstance(like.value, str):
        head = like.value.rstrip("0123456789.af")
        quote = syntax.segment(like)[:1]
        dotted = [f"{chip.major}.{chip.minor}" for chip in chips]
        for texts in (dotted, joined) if "." in like.value else (joined, majors):
            yield [f"{quote}{head}{text}{quote}" for text in texts]


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every way to let another method answer, the shortest first."""
    majors = {chip.major for chip in place.change.chips}
    syntax = place.syntax
    for node in syntax.within(place.span) if EXACT in place.source or NEWER in place.source else ():
        exact, newer = argument(node, EXACT), argument(node, NEWER)
        if not (exact or newer) or not has_method(place, node, FAMILY):
            continue
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        start, end = syntax.start(node), syntax.end(node)
        if exact is not None and majors == {exact.major}:
            start = syntax.end(node.func) - len(EXACT)
            yield (syntax.edit(place.module.path, start, end, f"{FAMILY}({exact.major}0)"),)
        elif newer is not None and place.change.kind == "bound":
            yield from _bounded(place, syntax, node, newer)


def _bounded(place: ConditionPlace, syntax: Syntax, call: ast.Call, first: Chip) -> Iterator[Candidate]:
    """`p.has_device_capability(100)` to the one family, with another one shut out, or to two."""
    assert isinstance(call.func, ast.Attribute)
    path, gone = place.module.path, place.change.chips
    owner = syntax.segment(call.func.value)
    kept = ChipSet.where(lambda chip: chip.joined >= first.joined) - gone
    asked = [_asked(owner, major) for major in sorted({chip.major for chip in kept})]
    shut = [f"{owner}.{FAMILY}({major}0)" for major in sorted({chip.major for chip in gone})]
    if len(asked) == 1:
        yield (syntax.edit(path, syntax.start(call), syntax.end(call), asked[0]),)
    if len(shut) == 1:
        yield syntax.narrowed(path, call, f"not {shut[0]}", shut[0])
    if len(asked) == 2:
        yield syntax.joined(path, call, "or", asked)


def _asked(owner: str, major: int) -> str:
    members = ChipSet.where(lambda chip: chip.major == major)
    return f"{owner}.{FAMILY}({major}0)" if len(members) > 1 else f"{owner}.{EXACT}({next(iter(members)).joined})"


def argument(node: ast.expr, name: str) -> Chip | None:
    """The chip that a call of a method with this name asks for as its only argument."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != name:
        return None
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if len(values) != 1:
        return None
    return named(values[0])


def named(node: ast.expr) -> Chip | None:
    """The chip that `120` or `(12, 0)` names."""
    if isinstance(node, ast.Tuple):
        numbers = [value for each in node.elts if (value := _number(each)) is not None]
        return chip_of_number(numbers[0] * 10 + numbers[1]) if len(numbers) == len(node.elts) == 2 else None
    value = _number(node)
    return None if value is None else chip_of_number(value)


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def has_method(place: ConditionPlace, node: ast.expr, name: str) -> bool:
    """Whether the class of the object that a method is called on has another one; one of a library is current."""
    if not isinstance(node, ast.Call):
        return False
    at = span(node.func)
    found = (each for each in reached(place.gate.test, place.module) if each.op == "attr" and each.at == at)
    attribute = next(found, None)
    if attribute is None:
        return False
    owner = place.tree.value(place.module, attribute.args[0]).only()
    if isinstance(owner, (Instance, ClassValue)):
        return f"{owner.body.qualname}.{name}" in owner.module.functions
    return isinstance(owner, Ref) and _has(place, owner.name, name)


def _has(place: ConditionPlace, dotted: str, name: str) -> bool:
    """Whether a class has a method in the module that an object comes from, or in one that this imports."""
    home = None
    while "." in dotted and home is None:
        dotted = dotted.rpartition(".")[0]
        home = place.tree.module(dotted)
    if home is None:
        return True
    near = [home, *(place.tree.module(node.args[0]) for node in home.names.values() if node.op == "import")]
    functions = (qualname for module in near if module is not None for qualname in module.functions)
    return any(qualname.endswith(f".{name}") for qualname in functions)
