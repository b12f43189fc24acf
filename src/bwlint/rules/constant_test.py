"""constant-test: comparisons of the device that are joined so that every chip gets the same answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bwlint.chips import EVERY, NONE
from bwlint.evaluate.values import ArchMember, EnumMember, compare
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.judging.guards import Guarded
from bwlint.judging.path_conditions import bare
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Function, Gate, Module
from bwlint.model.findings import NoFix
from bwlint.model.kinds import LISTED, UNASKED, Language
from bwlint.model.rule import RuleTraits
from bwlint.world.gates import Judged, operands

RULE = RuleTraits("constant-test", explains=1)
_JOINED = Remedy("meaning", evidence="joined so, every chip gets one answer", unsafe="a number may be wrong instead")
_NAMED = frozenset({"function", "import"})
_CONTAINER = (list, tuple, frozenset, range)
_CONSTANT = (int, float, str, *_CONTAINER, EnumMember, ArchMember)
_MOST_CONSTANTS = 40
_ANY_OTHER = "\0"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    gate, module, tree = judged.gate, judged.module, context.tree
    if gate.kind in LISTED | UNASKED:
        return

    def constant(node: Expr) -> object:
        found = tree.value(module, node)
        return found.lanes[0] if found.uniform and not found.device and is_constant(found.lanes[0]) else None

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.value(module, node).lanes

    for found in foregone(gate.test, Reading(constant, on_chips)):
        at = found.node.at or gate.at
        if gate.at.holds(at) and tree.value(module, found.subject).device:
            sets = (EVERY, EVERY) if found.holds else (NONE, NONE)
            rest = [one for one in operands(gate.test) if one.at is None or not at.holds(one.at)]
            place = DraftPlace(module=module, at=at, admitted=sets[0], certain=sets[1], gate=gate)
            yield _draft(found, place, is_alone=not any(tree.value(module, one).device for one in rest))


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    module, tree = guarded.module, context.tree

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.numbers(module, node)

    for found in foregone(guarded.guard.test, Reading(_literal, on_chips)):
        if tree.asks_target(module, found.subject):
            yield _draft(found, DraftPlace.of_guard(guarded), is_alone=found.node == guarded.guard.test)


def _literal(node: Expr) -> object:
    return node.args[0] if node.op == "const" and is_constant(node.args[0]) else None


def _draft(found: Foregone, place: DraftPlace, *, is_alone: bool) -> Draft:
    subject = found.subject
    name = subject.args[1] if subject.op in ("param", "var", "attr") else subject.args[0]
    named = subject.op in ("param", "var", "attr", "name", "macro") and isinstance(name, str) and name
    what = f"whatever {f'`{name}`' if named else 'the device'} is"
    outcome, how, fate = ("true", "always", "holds") if found.holds else ("false", "never", "fails")
    return Draft(
        place=place,
        severity="warning",
        confidence="high",
        message=f"This condition is {how} true: {what}, one of these comparisons {fate}.",
        label=f"{outcome} on every chip",
        advice=_advice(found, place.module.language, is_alone=is_alone),
        remedy=_JOINED
        if is_alone and found.node.op != "cmp"
        else NoFix("only you know which comparison is wrong here"),
        claims=(Claimed(claims.other(f"this is {outcome} {what}", EVERY), place.at, place.module),),
    )


def _advice(found: Foregone, language: Language, *, is_alone: bool) -> str:
    if found.node.op == "cmp":
        return "Swap the bounds."
    both, one = ("&&", "||") if language == "cuda" else ("and", "or")
    if is_alone:
        return f"Join them with `{both if found.holds else one}`."
    return "Rewrite the whole condition: this part of it decides nothing."


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """A helper that asks for the device, named in a condition and not called: a function is true."""
    for gate in module.gates if module.language == "python" else ():
        for asked in operands(gate.test) if not gate.is_a(*LISTED | UNASKED) else ():
            if (helper := _helper(context, module, asked)) and _is_meant(module, gate, asked):
                yield _uncalled(module, gate, asked, helper)


def _helper(context: Context, module: Module, asked: Expr) -> Function | None:
    """The function that answers by a test of the device."""
    found = context.tree.function(module, asked) if asked.op in _NAMED else None
    asking = [(one.kind, one.name) for one in found.module.gates] if found is not None else []
    return found.function if found is not None and ("predicate", found.function.qualname) in asking else None


def _is_meant(module: Module, gate: Gate, asked: Expr) -> bool:
    """Whether it is no question whether the helper is there: one is imported perhaps, `if helper and helper():`."""
    near = (one.test for one in module.gates if one.qualname == gate.qualname)
    calling = [test for test in near if any(one.op == "call" and _same(one.args[0], asked) for one in walk(test))]
    guarded = any(_same(one, asked) for test in calling for one in operands(test))
    return not guarded and (asked.op == "function" or bool(calling) or _is_there(module, asked))


def _is_there(module: Module, asked: Expr) -> bool:
    """Whether a file imports a name whatever happens: at its left edge, so in no attempt and under no test."""
    imports = (one.at for one in module.names.values() if _same(one, asked))
    return any(at is not None and at.column == 0 for at in imports)


def _same(one: object, other: Expr) -> bool:
    return isinstance(one, Expr) and (one.op, one.args) == (other.op, other.args)


def _uncalled(module: Module, gate: Gate, asked: Expr, helper: Function) -> Draft:
    says = f"This condition is always true: `{asked.args[-1]}` is a function and is not called here."
    at = asked.at if asked.at is not None and gate.at.holds(asked.at) else gate.at
    return Draft(
        place=DraftPlace(module=module, at=at, admitted=EVERY, certain=EVERY, gate=gate),
        severity="warning",
        confidence="high",
        message=says,
        label="true on every chip",
        advice="Call it.",
        remedy=_called(helper),
        claims=(Claimed(claims.other(says, EVERY), at, module),),
    )


def _called(helper: Function) -> Remedy | NoFix:
    """The call of a helper that asks for nothing; its name is true, and what it answers need not be."""
    wanted = next((name for name, given in zip(helper.params, helper.defaults, strict=False) if given is None), None)
    if wanted is not None:
        return NoFix(f"the call needs a value for `{wanted}`: pass the one that is meant here")
    return Remedy("meaning", evidence="it needs no arguments", unsafe="the other branch runs where it returns false")


@dataclass(frozen=True, slots=True)
class Foregone:
    """A chain whose outcome is `holds` whatever its subject is; other operands of `node` decide nothing."""

    node: Expr
    subject: Expr
    holds: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read operands: as a constant (None: it is none), and as what it is on chips (empty: nobody knows)."""

    constant: Callable[[Expr], object]
    on_chips: Callable[[Expr], Sequence[object]]


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition over one subject."""

    subject: Expr
    constants: tuple[object, ...]
    holds: Callable[[object], object]


def foregone(test: Expr, reading: Reading) -> Iterator[Foregone]:
    """The chains in a test that have one outcome, inner ones instead of those around them."""
    for node in walk(test):
        if not _compares_one_thing_twice(node):
            continue
        if node.op in ("and", "or"):
            yield from _decided(node, [_part(item, reading) for item in node.args[0]], reading)
        elif node.op == "cmp" and "," in node.args[0]:
            yield from _decided(node, _links(node, reading), reading)


def _compares_one_thing_twice(node: Expr) -> bool:
    """Whether the links of comparisons in a chain share an operand: nothing is evaluated where they do not."""
    if node.op not in ("and", "or") and (node.op != "cmp" or "," not in node.args[0]):
        return False
    known: set[Expr] = set()
    for compared in walk(node):
        for pair in pairwise(compared.args[1]) if compared.op == "cmp" else ():
            operands = {bare(one) for one in pair if one.op != "const"}
            if known & operands:
                return True
            known |= operands
    return False


def _decided(node: Expr, parts: Sequence[_Condition | None], reading: Reading) -> Iterator[Foregone]:
    by_subject: dict[Expr, list[_Condition]] = defaultdict(list)
    for part in parts:
        if part is not None:
            by_subject[part.subject].append(part)
    for subject, those in by_subject.items():
        holds = node.op == "or"
        if len(those) > 1 and _have_one_outcome(those, holds, reading.on_chips(subject)):
            yield Foregone(node, subject, holds)


def _have_one_outcome(parts: Sequence[_Condition], holds: bool, on_chips: Sequence[object]) -> bool:
    points = _points([each for part in parts for each in part.constants], on_chips)
    outcomes = [[part.holds(point) for point in points] for part in parts]
    if not points or any(not isinstance(one, bool) for row in outcomes for one in row):
        return False
    if any(len(set(row)) == 1 for row in outcomes):
        return False  # one of them needs no other: `major >= 0`
    return all((holds in column) if holds else (False in column) for column in zip(*outcomes, strict=True))


def _part(node: Expr, reading: Reading) -> _Condition | None:
    if node.op == "cmp":
        links = _links(node, reading)
        return _joined(links, all) if len(links) > 1 else next(iter(links), None)
    if node.op == "not":
        inner = _part(node.args[0], reading)
        return inner and _Condition(inner.subject, inner.constants, lambda value: _opposite(inner.holds(value)))
    if node.op in ("and", "or"):
        return _joined([_part(item, reading) for item in node.args[0]], all if node.op == "and" else any)
    return None


def _joined(parts: Sequence[_Condition | None], join: Callable[[list[object]], bool]) -> _Condition | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts) or len({part.subject for part in known}) > 1:
        return None
    constants = tuple(each for part in known for each in part.constants)

    def holds(value: object) -> object:
        outcomes = [part.holds(value) for part in known]
        return join(outcomes) if all(isinstance(one, bool) for one in outcomes) else None

    return _Condition(known[0].subject, constants, holds)


def _links(node: Expr, reading: Reading) -> list[_Condition | None]:
    """A comparison, link by link: each of one operand with a constant."""
    return [_link(op, *pair, reading) for op, pair in zip(node.args[0].split(","), pairwise(node.args[1]), strict=True)]


def _link(op: str, left: Expr, right: Expr, reading: Reading) -> _Condition | None:
    mine, other = reading.constant(left), reading.constant(right)
    if (mine is None) == (other is None):
        return None
    among = op in ("in", "not in")
    if among and not isinstance(other, _CONTAINER):
        return None
    if other is None:
        return _Condition(bare(right), (mine,), lambda value: _compared(op, mine, value))
    constants = tuple(other) if among and isinstance(other, _CONTAINER) and len(other) <= _MOST_CONSTANTS else (other,)
    return _Condition(bare(left), constants, lambda value: _compared(op, value, other))


def _compared(op: str, left: object, right: object) -> object:
    try:
        return compare(op, left, right)
    except TypeError:
        return None


def _opposite(outcome: object) -> object:
    return not outcome if isinstance(outcome, bool) else None


def _points(constants: Sequence[object], on_chips: Sequence[object]) -> list[object]:
    """Values of one kind around the constants, with those that chips have; none where they are not of one kind."""
    if len(constants) > _MOST_CONSTANTS:
        return []
    if all(_is_number(one) for one in constants):
        measured = [one for one in on_chips if _is_number(one)]
        steps = (-1, 0, 1) if measured else (-1, -0.5, 0, 0.5, 1)
        return [*measured, *(one + step for one in constants for step in steps)]  # type: ignore[operator]
    if all(_is_pair(one) for one in constants):
        near = (point for major, minor in constants for point in _around(major, minor))  # type: ignore[misc,has-type]
        return [*(one for one in on_chips if _is_pair(one)), *near]
    if all(isinstance(one, str) for one in constants):
        return [*constants, _ANY_OTHER]
    same = len({type(one) for one in constants}) == 1 and isinstance(constants[0], EnumMember)
    return [*constants, EnumMember("", _ANY_OTHER, None)] if same else []


def _around(major: int, minor: int) -> Iterator[tuple[int, int]]:
    yield from ((major, minor), (major, minor - 1), (major, minor + 1), (major - 1, 9), (major + 1, 0))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(type(one) is int for one in value)


def is_constant(value: object) -> bool:
    """Whether a value of the interpreter may stand for itself in a comparison."""
    return isinstance(value, _CONSTANT) and not isinstance(value, bool)
