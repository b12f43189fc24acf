"""What each branch of a C++ condition does: names used, values set, messages, how it ends; and what local names hold:
lambdas, objects whose calls can be followed, and numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bwlint.chips import frameworks
from bwlint.model.expr import Expr, const
from bwlint.model.facts import Prose, Side, Use
from bwlint.model.kinds import ATTEMPTED, NUMBER, Ends, How
from bwlint.readers.cuda.instances import Given, given, member_of
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.statements import FAILS, SKIPS, Statement, Stretch, last_ones, statements, sure

MAX_USES = 60
MAX_STRETCH = 6000
"""Characters of a branch that are searched."""
MAX_TEXTS = 3
Lower = Callable[[int, int], Expr]

_COMPLAINS = re.compile(r"\b(?:std::)?c(?:err|out)\s*<<|\b(?:f?printf|fputs|puts)\s*\(")
_DEMANDS = re.compile(r"\b(?:requires?|must|only|need\w*|(?:not|un)\s?supported|at least)\b", re.I)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_LAST = re.compile(r"\s*&?\s*(?:::\s*)?([A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)\s*")
_COLON = re.compile(r"(?<!:):(?!:)")
_GENERATION = re.compile(r"[Ss][Mm]_?\d{2,3}")
"""Names of kernels and tables for one generation count as used wherever they stand."""
NOT_USED = frozenset(
    [
        *("if", "else", "for", "while", "do", "switch", "case", "default", "return", "throw", "const", "auto", "int"),
        *("bool", "void", "static", "constexpr", "true", "false", "nullptr", "std", "sizeof", "float", "half", "char"),
        *("double", "unsigned", "template", "typename", "using", "namespace", "struct", "class", "break", "continue"),
    ]
)
"""Words that are no names of what is used."""
_ENDS: dict[str, Ends] = {"return": "return", "throw": "raise", "continue": "continue", "break": "fall", "goto": "fall"}
_AWAITS = re.compile(rf"\b{frameworks.piece('awaits')}\s*\(")
_DISABLES = re.compile(r"(?:^|[;{}])\s*([A-Za-z_][\w.>-]*)\s*=\s*(?:false|nullptr)\s*(?:;|$)")
_SETS = re.compile(r"[^=!<>+\-*/%&|^]=(?!=)")
_FUNCTION = re.compile(r"\s*&?\s*(?P<name>[a-z_]\w*(?:::\w+)*)\s*(?:<[^<>;()]*>\s*)?$")
"""A function that is handed out by its bare name."""
_LAUNCHES = re.compile(r"\b(?:(?:cudaLaunch|launch_?[kK]ernel)\w*|(?:call|pthread)_once)\s*\(")
_HANDED = re.compile(r"[(,&*)>]\s*\(?\s*(?P<name>[A-Za-z_]\w{2,80})(?=\s*\)?\s*[,)<])")
_LITERAL = re.compile(r"[\w\s:<>,*&]*=\s*(?:-?\.?\d[\w.]*|true|false)\s*$")
MAX_LAMBDA = 20_000
FARTHEST = 20_000
_LONGEST_OWNER = 300
_NAMED_LAMBDA = re.compile(r"\bauto\s*&{0,2}\s*(?P<name>[A-Za-z_]\w*)\s*=\s*\[[^\[\]{};]{0,200}\][^\[\]{};=]{0,400}\{")
_OBJECT = re.compile(
    r"(?<![\w.:>])(?P<type>[A-Za-z_](?:\w|::)*)(?:<[^<>;{}()]{0,200}>)?[\s&*]+(?P<name>[A-Za-z_]\w*)\s*(?=[;({=,)])"
)
_MADE = re.compile(
    r"\s*=\s*(?:new\s+|(?:std::)?make_(?:unique|shared)\s*<\s*)?(?P<type>[A-Za-z_](?:\w|::)*)\s*(?=[<>({])"
)
_NUMBERS = r"(?:int|unsigned|long|short|bool|float|double|size_t|u?int(?:8|16|32|64)_t)"
_NUMBER = re.compile(rf"\b{_NUMBERS}\s+(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*=(?!=)")
_NUMBER_TYPE = re.compile(_NUMBERS)
_ELEMENT = re.compile(r"\bget\s*<\s*\d+\s*>\s*\(\s*$")
_TEMPORARY = re.compile(r"(?P<type>[A-Za-z_](?:\w|::)*)(?:<[^<>;{}()]{0,200}>)?\s*(?:\{\s*\}|\(\s*\))\s*\.\s*$")
_NO_TYPES = frozenset(
    {"return", "auto", "new", "delete", "throw", "else", "const", "case", "goto", "using", "typename"}
)


CALL = "operator()"


def side(code: Code, text: str, body: tuple[Statement, ...], lower: Lower) -> Side:
    """The side that runs these statements."""
    flat = _flat(body)
    if not flat:
        return Side(ends="fall", empty=True)
    start, end = flat[0].start, flat[-1].end
    at = code.span(start, end)
    stretch = text[start : min(end, start + MAX_STRETCH)]
    last = flat[-1]
    ends = _ENDS.get(last.kind, "fall")
    if SKIPS.search(stretch):
        ends = "skip"
    elif _fails(text, flat):
        ends = "raise"
    elif last.kind == "return" and _complains(code, stretch, start):
        ends = "exit"
    given_at = last.test if last.kind == "return" and stretch.strip() else _assigned(text, flat)
    value = lower(*given_at) if given_at is not None else None
    said = texts(code, start, end) if ends == "raise" or ends == "skip" or len(stretch) < 400 else ()
    tuning = ends == "fall" and all(_LITERAL.match(text[entry.start : entry.end]) for entry in flat)
    certain = sorted(sure(text, flat))
    named = tuple(_with_lambdas(code, text, uses(code, text, start, end, certain, given_at)))
    off = _DISABLES.search(stretch)
    chosen = choices(code, text, flat)
    disabled = off[1] if off is not None else ""
    return Side(ends=ends, at=at, value=value, uses=named, texts=said, tuning=tuning, disables=disabled, choices=chosen)


def choices(code: Code, text: str, body: tuple[Statement, ...]) -> tuple[Use, ...]:
    """The functions of which every way through a body calls one at its end, or hands one out by its bare name."""
    found: dict[tuple[str, Given], Use] = {}
    for start, end in (arm for one in last_ones(text, body) or () for arm in _arms(text, *one)):
        match = _LAST.match(text, start, end)
        if match is None:
            return ()
        arguments, stop = given(text, match.end()) if text.startswith("<", match.end()) else ((), match.end())
        following = text[stop:end].lstrip()[:1]
        name = re.sub(r"\s*::\s*", ".", match[1])
        if following not in ("(", "") or match[1] in NOT_USED:
            return ()
        found[name, arguments] = Use(name, "call", code.span(*match.span(1)), sure=False, given=arguments)
    return tuple(found.values()) if len(found) > 1 else ()


def _arms(text: str, start: int, end: int) -> Iterator[Stretch]:
    """An expression, or what each arm of a `?:` gives."""
    mark = text.find("?", start, end)
    colon = _COLON.search(text, mark, end) if mark >= 0 else None
    if colon is None:
        yield start, end
        return
    yield mark + 1, colon.start()
    yield from _arms(text, colon.end(), end)


def launched(text: str, start: int, end: int) -> frozenset[int]:
    """Where names of functions stand that are handed to what runs them: `cudaLaunchKernelEx(&config, kernel)`."""
    found: set[int] = set()
    if text.find("aunch", start, end) < 0 and text.find("_once", start, end) < 0:
        return frozenset()
    for call in _LAUNCHES.finditer(text, start, end):
        close = matching(text, call.end() - 1, MAX_STRETCH)
        found |= {one.start("name") for one in _HANDED.finditer(text, call.end() - 1, max(close + 1, call.end() - 1))}
    return frozenset(found)


def _with_lambdas(code: Code, text: str, named: tuple[Use, ...]) -> Iterator[Use]:
    known = held(text)
    for use in named:
        yield use
        start = code.offset(*use.at[:2])
        body = known.body(use.name, start) if use.how == "call" and use.sure else None
        if body is not None:
            yield from uses(code, text, *body, sorted(sure(text, statements(text, *body))))


def _complains(code: Code, stretch: str, start: int) -> bool:
    """Whether a stretch tells the user what is required."""
    end = start + len(stretch)
    return _COMPLAINS.search(stretch) is not None and _DEMANDS.search(code.source, start, end) is not None


def _flat(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements of a branch without the braces around it; stray semicolons are none."""
    while len(body) == 1 and body[0].kind == "block":
        body = body[0].body
    return tuple(entry for entry in body if entry.end > entry.start)


def _fails(text: str, flat: tuple[Statement, ...]) -> bool:
    """Whether a branch ends in an error: its first or last statement of its own says so."""
    return any(
        entry.kind in ("expression", "throw", "return") and FAILS.search(text, entry.start, entry.end) is not None
        for entry in (flat[0], flat[-1])
    )


def _assigned(text: str, flat: tuple[Statement, ...]) -> Stretch | None:
    """Where the value of a branch stands that only assigns one."""
    only = flat[0] if len(flat) == 1 and flat[0].kind == "expression" else None
    sign = _SETS.search(text, only.start, only.end) if only is not None else None
    return (sign.end(), only.end) if only is not None and sign and only.end - sign.end() < 400 else None


def uses(
    code: Code,
    text: str,
    start: int,
    end: int,
    certain: Sequence[Stretch] | None = None,
    value: Stretch | None = None,
) -> tuple[Use, ...]:
    """The names of a stretch, each once, sure in the `certain` ones; a function that is all of `value` is called."""
    handed = _FUNCTION.match(text[slice(*value)]) if value is not None else None
    handed_at = value[0] + handed.start("name") if value is not None and handed is not None else -1
    found: dict[str, Use] = {}
    starts = [first for first, _ in certain or ()]
    kernels = launched(text, start, end)
    objects = held(text)
    awaited = [(one.start(), matching(text, one.end() - 1, MAX_STRETCH)) for one in _AWAITS.finditer(text, start, end)]
    for match in _NAME.finditer(text, start, min(end, start + MAX_STRETCH)):
        following = text[match.end() : match.end() + 1]
        name = "".join(match[0].split())
        owner = objects.owner(match.start()) if following == "(" else None
        if owner is None and (owner := objects.called(name, match.start())) is not None:
            name = CALL
        if owner is None and (name in NOT_USED or len(name) < 3):
            continue
        name = f"{owner[0]}::{name}" if owner is not None else name
        attempt = any(first < match.start() < close for first, close in awaited)
        is_sure = not attempt and (certain is None or _within(match.start(), certain, starts))
        known = found.get(name)
        if known is not None and (known.sure or not is_sure):
            continue
        argument = following in (">", ",") and text.endswith("<", start, match.start())
        called = argument or (following in "(<" and following) or match.start() == handed_at or match.start() in kernels
        counts = following not in ("(", "<") and objects.is_number(name, match.start())
        how: How = "call" if not counts and (called or _GENERATION.search(name)) else "name"
        arguments, end = given(text, match.end()) if following == "<" else (owner[1] if owner else (), match.end())
        member = member_of(text, end) if arguments and owner is None else ""
        dotted = f"{name}::{member}" if member else name
        role, at = NUMBER if counts else ATTEMPTED if attempt else "", code.span(*match.span())
        found[name] = Use(dotted.replace("::", "."), how, at, sure=is_sure, role=role, given=arguments)
        if len(found) >= MAX_USES:
            break
    return tuple(found.values())


def _within(offset: int, certain: Sequence[Stretch], starts: Sequence[int]) -> bool:
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < certain[index][1]


def texts(code: Code, start: int, end: int) -> tuple[Prose, ...]:
    """The first strings of a stretch as one message."""
    found = code.literals_in(start, end)[:MAX_TEXTS]
    if not found:
        return ()
    joined = " ".join(code.content(literal) for literal in found)
    return (Prose(joined[:400], code.span(found[0].start, found[-1].end)),)


def arm(code: Code, text: str, node: Expr) -> Side:
    """A side that gives a value: an arm of `?:`."""
    if node.at is None:
        return Side(ends="fall", value=node)
    start, end = code.offset(*node.at[:2]), code.offset(*node.at[2:])
    plain = node.op == "const" and not isinstance(node.args[0], bool)
    return Side(
        ends="fall", at=node.at, value=node, uses=uses(code, text, start, end, None, (start, end)), tuning=plain
    )


def answer(holds: bool) -> Side:
    return Side(ends="fall", value=const(holds))


@dataclass(frozen=True, slots=True)
class _HeldObject:
    """Where an object is declared, the name of its class, and the offset behind that; `sure`: it is no function."""

    at: int
    type: str
    end: int
    sure: bool


@dataclass(frozen=True, slots=True)
class Held:
    """The names of one text. A lambda is kept with the offsets of its braces."""

    text: str
    lambdas: Mapping[str, tuple[tuple[int, int], ...]]
    objects: Mapping[str, tuple[_HeldObject, ...]]
    numbers: frozenset[str]
    """Names that are declared as numbers, and as nothing else."""

    def is_number(self, name: str, at: int) -> bool:
        """Whether a name is that of a number, or at a place that of a tuple of which one element is taken."""
        return name in self.numbers or _ELEMENT.search(self.text, max(0, at - 40), at) is not None

    def body(self, name: str, at: int) -> tuple[int, int] | None:
        """What stands between the braces of the lambda that a name is at a place; None where it is none."""
        above = [one for one in self.lambdas.get(name, ()) if one[1] < at and at - one[0] < FARTHEST]
        return above[-1] if above else None

    def owner(self, start: int) -> tuple[str, Given] | None:
        """The class, and the arguments of its template, of the object whose member begins at an offset."""
        if not self.text.endswith((".", "->"), 0, start):
            return None
        begin = max(0, start - _LONGEST_OWNER)
        before = self.text[begin : start - (1 if self.text[start - 1] == "." else 2)].rstrip()
        fresh = _TEMPORARY.search(self.text, begin, start) if before.endswith((")", "}")) else None
        if fresh is not None:
            return fresh["type"], given(self.text, fresh.end("type"))[0]
        return self._type_of(before[_name_start(before) :], start)

    def called(self, name: str, start: int) -> tuple[str, Given] | None:
        """The class, and the arguments of its template, of the object that is called at an offset: `op(args)`."""
        is_call = self.text.startswith("(", start + len(name)) and not self.text.endswith((".", "->"), 0, start)
        return self._type_of(name, start, sure=True) if is_call else None

    def _type_of(self, name: str, start: int, *, sure: bool = False) -> tuple[str, Given] | None:
        known = self.objects.get(name, ())
        known = tuple(one for one in known if one.sure) if sure else known
        place = bisect_right(known, start, key=lambda one: one.at) - 1
        if place < 0 or start - known[place].at > FARTHEST:
            return None
        return known[place].type, given(self.text, known[place].end)[0]


def _name_start(text: str) -> int:
    """Where the word begins that a text ends with."""
    at = len(text)
    while at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


@lru_cache(maxsize=4)
def held(text: str) -> Held:
    """The lambdas and the objects of a blanked text without directives."""
    lambdas: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for found in _NAMED_LAMBDA.finditer(text):
        close = matching(text, found.end() - 1, MAX_LAMBDA)
        if close >= 0:
            lambdas[found["name"]].append((found.end(), close))
    objects: dict[str, list[_HeldObject]] = defaultdict(list)
    for found in _OBJECT.finditer(text):
        made = _MADE.match(text, found.end("name")) if found["type"] == "auto" else None
        kind = made or found
        if kind["type"] not in _NO_TYPES:
            declared = text.startswith((";", "{", "="), found.end())
            objects[found["name"]].append(_HeldObject(found.start(), kind["type"], kind.end("type"), declared))
    numbers = frozenset(found["name"] for found in _NUMBER.finditer(text))
    counted = (name for name in numbers if all(_NUMBER_TYPE.fullmatch(one.type) for one in objects.get(name, ())))
    return Held(
        text,
        {name: tuple(found) for name, found in lambdas.items()},
        {name: tuple(found) for name, found in objects.items()},
        frozenset(counted),
    )
