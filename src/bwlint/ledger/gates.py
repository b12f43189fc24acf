"""Audit rows for gates and guards: chains of branches, predicates and their uses, preprocessor conditions."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from bwlint.chips import EVERY, ChipSet
from bwlint.chips.queries import names_model
from bwlint.chips.wording import plain, shortened
from bwlint.judging.aside import aside_marks
from bwlint.judging.behind import only_got
from bwlint.judging.context import Context
from bwlint.judging.guards import Guarded
from bwlint.ledger import naming
from bwlint.ledger.question import MOST_TEXT, Question, Table, columns, shape
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.kinds import ANSWERS, LISTED
from bwlint.model.ledger import Answer, RowForm, RowPlace, RowWay
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import Need
from bwlint.world.tree import Sets

_MOST_USES = 24
"""Names of a side that are looked at for what they are called after."""
_MOST_TEXTS = 6
_QUOTED = re.compile(r"""["']([^"']{1,60})["']""")
_NOT_KNOWN = "more than the chip decides it; bwlint does not know the chip's part"
_ONE_DIGIT = 'one character of a text is not a chip number: "12.0" begins with "1"'
_TAKEN = frozenset({"yes", "error", "may"})
"""Answers with which an arm of a chain is taken, or may be."""
_BOOLEAN = frozenset({"cmp", "and", "or", "not"})
"""Operators of expressions whose value is whether they are true."""
_WRAPPED = re.compile(r"^(?:not\b|!|const_expr\b|bool\b|\(|\s)+")
_TENTH = re.compile(r"__CUDA_ARCH__\s*(?:==|!=|>=|<=|<|>)\s*([3-9]\d|1[0-2]\d)\b(?!\s*\*)")
_DIGIT = re.compile(r"\bint\((\w+)\[\d\]\)")
_OF_TEXT = r"\b{0}\[0\](?: \+ |\}}\{{){0}\[2\]"
"""What is done to a text, and to no pair: `cc[0] + cc[2]`."""
_HELPER = re.compile(r"(?:[\w:]+(?:\.|->|::))*(?P<name>\w+)(?P<call>\([^()]*\))?\)*$")
"""A test that is the answer of a function or of a variable and nothing else."""
NOTHING, SOMETHING, ON = "does nothing of its own", "returns something else", "goes on"
VAGUE = frozenset({NOTHING, SOMETHING, ON})
"""Phrases that say nothing of what is done."""
_BUILT_IN = frozenset(dir(builtins))
_FEW = 2
_MOST = 80
"""Characters of a message that are told."""


def of_gates(context: Context, module: Module) -> Iterator[Question]:
    """The gates of the running program that read the device, chains as one."""
    chains: dict[tuple[str, tuple[int, int, int]], list[Judged]] = {}
    for judged in context.judged.get(module.path, ()):
        at = (judged.gate.chain, *((0, 0) if judged.gate.chain else judged.gate.at[:2]))
        chains.setdefault((judged.gate.qualname, at), []).append(judged)
    for arms in chains.values():
        yield _chain(context, sorted(arms, key=lambda arm: arm.gate.position))


def of_guards(context: Context, module: Module) -> Iterator[Question]:
    """The guards of the preprocessor that ask for the target."""
    for guarded in context.guards.get(module.path, ()):
        yield _guard(context, guarded)


def answer(sets: Sets, chip: str) -> Answer:
    """What a test says on a chip."""
    if chip in sets.raises:
        return "error"
    if chip not in sets.live:
        return "-"
    if chip in sets.must:
        return "yes"
    return "may" if chip in sets.may else "no"


def _decided(sets: Sets, chip: str) -> Answer:
    """What the part of a test that reads the device says on a chip: what else is asked is left out."""
    told = answer(sets, chip)
    if told != "may" or not sets.core:
        return told
    return "yes" if chip in sets.core else "no"


def _chain(context: Context, arms: Sequence[Judged]) -> Question:
    first, asked = arms[0], context.targets
    by_name = any(map(_asks_product, arms))
    names = columns(asked)
    names += _only_for(arms, names, by_name=by_name)
    table: Table = tuple((chip, _arm(arms, chip, answer, by_name=by_name)) for chip in names)
    decided: Table = tuple((chip, _arm(arms, chip, _decided, by_name=by_name)) for chip in names)
    unknown = _not_decided(arms, table)
    if unknown:
        decided = tuple((chip, "?") for chip in names)
        table = decided if unknown == _ONE_DIGIT else table
    sides = {chip: _side(arms, chip) for chip in asked.names}
    if first.gate.is_a("table") and any(map(refuses, sides.values())) and only_got(context, first):
        sides = {chip: replace(side, ends="fall") if refuses(side) else side for chip, side in sides.items()}
    marks = {f"is-{first.gate.kind}", *shape(decided, asked.names)}
    marks |= {mark for side in sides.values() for mark in side_marks(side)}
    marks |= _names(arms, sides.values(), asked)
    if any(arm.sets.guessed for arm in arms):
        marks.add("name-is-guessed")
    if len(arms) > 1:
        marks.add("has-arms")
    if not first.stands_here:
        marks.add("asks-a-helper")
    if any(arm.gate.comment for arm in arms):
        marks.add("has-a-comment")
    marks |= aside_marks(context, first.module)
    behind, found = _behind(context, arms, sides, asked)
    marks |= found | _neighbours(arms, sides, names)
    form: RowForm = "table" if first.gate.is_a("table", "lookup") else "list" if first.gate.kind in LISTED else "gate"
    text = " | ".join(dict.fromkeys(_line(arm.gate.text) for arm in arms))
    key = () if first.stands_here and not first.in_test else (first.module.path, text, repr(table))
    return Question(
        form=form,
        subject=_subject(first.module, first.gate.qualname, first.gate.name),
        text=text[:MOST_TEXT],
        places=tuple(_places(arms)),
        table=table,
        decided=decided,
        marks=frozenset(marks),
        ways=_told(sides, dict(table), first.gate),
        passes=_of_tests_own(context, first),
        doubt=_ends_early(first, asked),
        unknown=unknown,
        behind=behind,
        key=key,
        asks=tuple(_asks(arms)),
    )


def _only_for(arms: Sequence[Judged], shown: Sequence[str], *, by_name: bool) -> tuple[str, ...]:
    """The first chip that a chain treats unlike all that a table shows, where it treats those alike."""
    told = {_arm(arms, chip, answer, by_name=by_name) for chip in shown}
    others = (chip.name for chip in EVERY if chip.name not in shown) if len(told) == 1 else ()
    return tuple(islice((chip for chip in others if _arm(arms, chip, answer, by_name=by_name) not in told), 1))


def _of_tests_own(context: Context, judged: Judged) -> str:
    """Why what a test brings along decides nothing about a chip; "" where it may."""
    if context.is_mocked(judged):
        return "this test sets the device itself"
    return "a list of examples in a test; a check of it has its own row" if judged.is_sample else ""


def _ends_early(judged: Judged, asked: ChipSet) -> str:
    """What is odd about a table that is searched for the device, and goes on with something where it has no row."""
    searched = judged.gate.kind == "table" and judged.gate.no.rest and judged.gate.no.empty
    if not searched or not judged.core or judged.core & asked:
        return ""
    return f"`{judged.gate.name}` has rows for {plain(judged.core)} but none for {plain(asked)}"


def _asks(arms: Sequence[Judged]) -> Iterator[str]:
    """The functions, and the variables of the file, whose answer a test is or asks for and nothing else."""
    first, path = arms[0].gate, arms[0].module.path
    if first.kind in ANSWERS and first.name:
        name = first.name.rpartition(".")[2]
        yield name if first.kind == "predicate" else f"{path} {name}"
    found = _HELPER.match(_WRAPPED.sub("", _line(first.text))) if len(arms) == 1 else None
    if found:
        yield found["name"] if found["call"] else f"{path} {found['name']}"


def _arm(arms: Sequence[Judged], chip: str, asked: Callable[[Sets, str], Answer], *, by_name: bool) -> Answer:
    """What a chip gets; `by_name` says that cards are asked for, of which a chip has several."""
    if len(arms) == 1:
        told = asked(arms[0].sets, chip)
        return "may" if by_name and told in ("yes", "-") else told
    answers = [_decided(arm.sets, chip) for arm in arms]
    if all(one == "-" for one in answers):
        return "may" if by_name else "-"
    taken = next((i for i, one in enumerate(answers, 1) if one in _TAKEN), None)
    if taken and answers[taken - 1] == "error":
        return "error"
    return "else" if not taken else "may" if by_name else f"arm {taken}"


def _asks_product(arm: Judged) -> bool:
    """Whether a test asks for a card by what it calls itself."""
    return any(any(map(str.isalpha, word)) and names_model(word) for word in _QUOTED.findall(arm.gate.text))


def _not_decided(arms: Sequence[Judged], table: Table) -> str:
    """Why a table says nothing of a test; "" where it does."""
    test = arms[0].gate.test
    digit = _DIGIT.search(arms[0].gate.text) if arms[0].sets.guessed else None
    if digit and re.search(_OF_TEXT.format(digit[1]), Texts().source(arms[0].module.path) or ""):
        return _ONE_DIGIT
    if len(arms) > 1:
        return ""
    if {told for _, told in table} == {"may"} and (arms[0].gate.is_a("helper-call") or not arms[0].sets.core):
        return _NOT_KNOWN
    if arms[0].gate.kind in ANSWERS and test.op == "or" and test.args[0][-1].op not in _BOOLEAN:
        return "this test has the same outcome on every chip; the value that it hands on may differ"
    return ""


def _side(arms: Sequence[Judged], chip: str) -> Side:
    taken = next((arm for arm in arms if _decided(arm.sets, chip) in _TAKEN), None)
    return taken.gate.yes if taken is not None else arms[-1].gate.no


def _neighbours(arms: Sequence[Judged], sides: dict[str, Side], names: Sequence[str]) -> set[str]:
    """How the chips beside those asked about fare where they fare otherwise."""
    found = set()
    for chip in ("9.0", "10.0"):
        other = _side(arms, chip) if chip in names else None
        if other is None or any(other is side for side in sides.values()):
            continue
        if not set(side_marks(other)) & {"is-refused", "is-told-no"} and any(
            set(side_marks(side)) & {"is-refused", "is-told-no"} for side in sides.values()
        ):
            found.add("others-get-in")
    return found


def _names(arms: Sequence[Judged], sides: Iterable[Side], asked: ChipSet) -> set[str]:
    """The generations in names on the path of the asked chips, and around the gate."""
    marks: set[str] = set()
    first = arms[0]
    taken = frozenset().union(*(naming.generations(use.name) for side in sides for use in side.uses[:_MOST_USES]))
    if naming.of_others(taken, asked):
        marks.add("leads-to-names-of-others")
    if taken & naming.family_of(asked):
        marks.add("leads-to-own-names")
    names = (first.gate.qualname, first.gate.name)
    marks |= naming.around(naming.of_file(first.place).union(*map(naming.generations, names)), asked)
    every = [side for arm in arms for side in (arm.gate.yes, arm.gate.no)]
    texts = [text.text for side in every for text in side.texts[:_MOST_TEXTS]]
    said = frozenset().union(*(naming.generations(text[:400]) for text in texts)) if texts else frozenset()
    if texts:
        marks.add("has-a-message")
    if said & naming.family_of(asked):
        marks.add("message-names-asked")
    tests = " ".join(arm.gate.text for arm in arms)
    if "12" in tests:
        marks.add("test-names-asked")
    return marks


def _behind(context: Context, arms: Sequence[Judged], sides: dict[str, Side], asked: ChipSet) -> tuple[str, set[str]]:
    """What the sides lead to, with where it is seen."""
    module, marks, told = arms[0].module, set[str](), ""
    for chip, side in sides.items():
        for need in context.evidence.of(module, side):
            if chip not in need.legal:
                marks.add("need-is-proved-missing" if need.strength == "proof" else "need-is-named-missing")
                told = told or _need(need)
            elif asked <= need.legal:
                marks.add("need-is-met")
                told = told or _need(need)
    others = [s for arm in arms for s in (arm.gate.yes, arm.gate.no) if not any(s is side for side in sides.values())]
    for side in others:
        for need in context.evidence.of(module, side):
            if asked <= need.legal:
                marks.add("works-where-they-are-kept-out")
                told = told or _need(need)
    return told, marks


def _need(need: Need) -> str:
    seen = f", seen at {need.hops[-1].path}:{need.hops[-1].at.line}" if need.hops else ""
    works = "works on" if need.strength == "proof" else "named for"
    return f"`{need.use.name}`: {need.what}, {works} {plain(need.legal)}{seen}"


def _told(sides: dict[str, Side], answers: Mapping[str, Answer], gate: Gate | None = None) -> tuple[RowWay, ...]:
    """What the asked chips get."""
    by_words: dict[str, list[str]] = {}
    for chip, side in sides.items():
        does = phrase_of(side)
        if answers[chip] == "-":
            continue
        if answers[chip] == "error":
            does = "raises an error at this check"
        elif gate is not None and gate.is_data and refuses(side):
            does = "is left out"
        elif gate is not None and gate.kind in ANSWERS and does in VAGUE:
            is_told = answers[chip] in ("yes", "no") and gate.test.op in _BOOLEAN
            does = (
                f"`{gate.name}` is {'true' if answers[chip] == 'yes' else 'false'}"
                if is_told
                else f"decides `{gate.name}`"
            )
        elif does in VAGUE:
            continue
        elif gate is not None and gate.kind == "helper-call" and not side.texts and refuses(side):
            does = f"`{gate.name}` stops it"
        by_words.setdefault(does, []).append(chip)
    return tuple(RowWay(tuple(chips), words) for words, chips in by_words.items())


def _places(arms: Sequence[Judged]) -> Iterator[RowPlace]:
    path = arms[0].module.path
    for arm in arms:
        yield _place(path, arm.gate.at, "checked here")
        if arm.gate.leaf is not None and arm.stands_here and arm.gate.leaf.line != arm.gate.at.line:
            yield _place(path, arm.gate.leaf, "compared here")
    for arm in arms:
        for side in (arm.gate.yes, arm.gate.no):
            for text in side.texts[:_MOST_TEXTS] if not side.rest or refuses(side) else ():
                yield _place(path, text.at, "its message")


def _place(path: str, at: Span, says: str) -> RowPlace:
    return RowPlace(path, at.line, max(at.line, at.end_line), says)


def _guard(context: Context, guarded: Guarded) -> Question:
    guard, asked = guarded.guard, context.targets
    names = columns(asked)
    table: Table = tuple((chip, _compiled(guarded, chip)) for chip in names)
    sides = {chip: guard.no if answer == "no" else guard.yes for chip, answer in table if chip in asked.names}
    unknown = _NOT_KNOWN if {told for _, told in table} == {"may"} else ""
    decided = tuple((chip, "?") for chip in names) if unknown else _either(table)
    marks = {"is-guard", *shape(decided, asked.names)}
    marks |= {mark for side in sides.values() for mark in side_marks(side)}
    marks |= naming.around(naming.generations(guard.qualname) | naming.of_file(guarded.module.path), asked)
    if "12" in guard.text:
        marks.add("test-names-asked")
    if any(operation.at for operation in guarded.operations()):
        marks.add("guards-operations")
    return Question(
        form="guard",
        subject=_subject(guarded.module, guard.qualname, guard.name),
        text=_line(guard.text)[:MOST_TEXT],
        places=(_place(guarded.module.path, guard.at, "checked here"),),
        table=table,
        decided=decided,
        marks=frozenset(marks),
        ways=_told(sides, dict(table)),
        doubt=_too_small(guard.text),
        unknown=unknown,
        key=(guarded.module.path, _line(guard.text), repr(table)),
    )


def _too_small(text: str) -> str:
    """What is odd about a test that takes the target's number for a tenth of what it is."""
    found = _TENTH.search(text)
    return f"`__CUDA_ARCH__` is 890 for 8.9: every target is above {found[1]}" if found else ""


def _either(table: Table) -> Table:
    """A table in which what depends on more than the target counts as compiled where no target compiles it for sure."""
    if any(answer == "yes" for _, answer in table):
        return table
    return tuple((chip, "yes" if answer == "may" else answer) for chip, answer in table)


def _compiled(guarded: Guarded, chip: str) -> Answer:
    sets = guarded.sets
    if chip not in sets.live.chips:
        return "-"
    if chip not in sets.may.chips:
        return "no"
    return "yes" if chip not in (sets.live - sets.must).chips else "may"


def _subject(module: Module, *names: str) -> str:
    """What the place belongs to, as people call it."""
    name = next((name for name in names if name and name != "<module>"), "")
    return name or module.path.rpartition("/")[2]


def _line(text: str) -> str:
    return " ".join(text.split())


def phrase_of(side: Side) -> str:
    """A phrase: raises "needs SM90", returns None, calls `a`, `b`."""
    said = f' "{shortened(side.texts[0].text, _MOST)}"' if side.texts else ""
    if refuses(side):
        verb = {"raise": "raises an error", "skip": "skips the test", "exit": "ends the program"}[side.ends]
        return f"{verb.split(' ')[0]}{said}" if said and side.ends == "raise" else f"{verb}{said}"
    calls = ", ".join(f"`{name}`" for name in _called(side))
    value = _value(side.value)
    if side.ends == "return":
        return f"returns {value}" if value else f"calls {calls} and returns" if calls else SOMETHING
    if calls:
        return f"calls {calls}"
    if value:
        return f"sets {value}"
    if side.tuning:
        return "sets other numbers"
    if side.ends == "continue":
        return "skips this one"
    return NOTHING if side.empty or side.rest else ON


def side_marks(side: Side) -> Iterator[str]:
    """What the scores of rows rest on."""
    if refuses(side):
        yield "is-refused"
    elif answers_no(side):
        yield "is-told-no"
    if side.disables:
        yield "switches-off"
    if side.tuning:
        yield "only-numbers"
    if side.empty:
        yield "does-nothing"


def _called(side: Side) -> list[str]:
    names = dict.fromkeys(
        use.name.lstrip(".")
        for use in (*side.choices, *side.uses)
        if use.how in ("call", "instruction", "atom") and use.name not in _BUILT_IN
    )
    return list(names)[:_FEW]


def _value(value: Expr | None) -> str:
    if value is None or value.op != "const":
        return ""
    found = value.args[0]
    return f'"{shortened(found, _MOST)}"' if isinstance(found, str) else repr(found)
