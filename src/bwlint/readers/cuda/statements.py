"""The statements of a function body as offsets in blanked text, calls that report an error, and what surely runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import frameworks
from bwlint.readers.cuda.lexer import matching

SKIPS = re.compile(rf"\b{frameworks.piece('skips')}\b")
"""What leaves a test without an error."""
NEVER = (
    r"\b(?:assert|\w{0,40}(?:CHECK|ASSERT|assert)\w{0,40})\s*\(\s*(?:\(\s*(?:\"[^\"\n]{0,200}\")?\s*,\s*)?(?:false|0)\b"
)
"""A check that always fails: `assert(false)`, `assert(("a text", false))`."""
FAILS = re.compile(
    rf"{SKIPS.pattern}|"
    rf"\bthrow\b|\b(?:exit|abort|_exit|terminate|__trap)\s*\(|{NEVER}"
    rf"|\b(?:{frameworks.piece('ends')}|__builtin_unreachable|unreachable"
    r"|_{0,2}[tT]hrow(?:_\w{1,40}|[A-Z]\w{0,40}))\s*\("
    rf"|\b(?!{frameworks.piece('awaits')})"
    r"\w{0,40}(?:ERROR|THROW|FATAL|UNREACHABLE|NOT_IMPLEMENTED)\w{0,40}\s*\(|\bLOG\s*\(\s*FATAL|\bstatic_assert\s*\(\s*false"
    r"|\breturn\s+(?:\w+::)*\w{0,40}(?:NotSupported|Unsupported|kInvalid|ErrorInvalid|NOT_SUPPORTED)\w{0,40}"
)
TRAPS = re.compile(r"\basm\s*(?:volatile\s*)?\(\s*\"\s*trap\b")
"""The same in assembly; its text stands in the source, and is blank in the code."""


def fails(text: str, start: int, end: int) -> bool:
    """Whether a statement of blanked text begins with such a thing."""
    return FAILS.match(text, start, end) is not None


MAX_DEPTH = 60
MAX_STATEMENTS = 20_000
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_STOP = re.compile(r"[()\[\]{};]")
_LABEL = re.compile(r"(?:public|private|protected|[A-Za-z_]\w*)\s*:(?!:)")
_CONSTEXPR = re.compile(r"\s*(?:constexpr\b|consteval\b)?\s*")
_ELSE = re.compile(r"else\b")
_CASE = re.compile(r"(?<!:):(?!:)")
_LEAVES = frozenset({"return", "throw", "break", "continue", "goto", "co_return"})


@dataclass(frozen=True, slots=True)
class Statement:
    """`kind` is if, loop, switch, block, case, expression, or a leaving word. `test` are offsets of its condition.

    A case holds what follows its label up to the next one; its test is the label's value (None: default).
    `inner` are the bodies of lambdas inside an expression.
    """

    kind: str
    start: int
    end: int
    test: tuple[int, int] | None = None
    body: tuple[Statement, ...] = ()
    orelse: tuple[Statement, ...] = ()
    inner: tuple[tuple[Statement, ...], ...] = ()


class _StatementParser:
    def __init__(self, text: str, stop: int) -> None:
        self.text = text
        self.stop = stop
        self.at = 0
        self.depth = 0
        self.count = 0

    def block(self, start: int, stop: int) -> tuple[Statement, ...]:
        """The statements between two offsets."""
        outer = self.stop
        self.at, self.stop = start, stop
        found: list[Statement] = []
        while (statement := self.statement()) is not None:
            found.append(statement)
        self.at, self.stop = stop, outer
        return tuple(found)

    def statement(self) -> Statement | None:
        self._skip()
        self.count += 1
        if self.at >= self.stop or self.count > MAX_STATEMENTS or self.depth > MAX_DEPTH:
            return None
        self.depth += 1
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at, self.stop)
        self.at = found.end() if found else self.stop

    def _statement(self) -> Statement:
        start = self.at
        mark = self.text[start]
        if mark == ";" or mark == "}":
            self.at += 1
            return Statement("expression", start, start)
        if mark == "{":
            close = matching(self.text, start, self.stop - start)
            close = close if close >= 0 else self.stop
            body = self.block(start + 1, close)
            self.at = min(close + 1, self.stop)
            return Statement("block", start, self.at, body=body)
        found = _WORD.match(self.text, start, self.stop)
        word = found[0] if found else ""
        if word == "if":
            return self._if(start, start + 2)
        if word in ("for", "while", "switch"):
            return self._headed(word, start, start + len(word))
        if word in ("do", "try", "else"):
            self.at = start + len(word)
            inner = self.statement()
            return Statement("loop" if word == "do" else "block", start, self.at, body=(inner,) if inner else ())
        if word in _LEAVES:
            end = self._semicolon(start)
            return Statement(word, start, end, (start + len(word), end), inner=self._lambdas(start, end))
        if word in ("case", "default"):
            return self._label(word, start)
        label = _LABEL.match(self.text, start, self.stop)
        if label is not None:
            self.at = label.end()
            return Statement("expression", start, start)
        end = self._semicolon(start)
        return Statement("expression", start, end, (start, end), inner=self._lambdas(start, end))

    def _if(self, start: int, after: int) -> Statement:
        words = _CONSTEXPR.match(self.text, after, self.stop)
        opening = words.end() if words else after
        test = self._bracket(opening)
        if test is None:
            end = self._semicolon(start)
            return Statement("expression", start, end, (start, end))
        body = self.statement()
        orelse: tuple[Statement, ...] = ()
        self._skip()
        if _ELSE.match(self.text, self.at, self.stop):
            self.at += 4
            other = self.statement()
            orelse = (other,) if other else ()
        return Statement("if", start, self.at, test, (body,) if body else (), orelse)

    def _headed(self, word: str, start: int, after: int) -> Statement:
        words = _SPACE.match(self.text, after, self.stop)
        test = self._bracket(words.end() if words else after)
        if test is None:
            end = self._semicolon(start)
            return Statement("expression", start, end, (start, end))
        body = self.statement()
        kind = "switch" if word == "switch" else "loop"
        return Statement(kind, start, self.at, test, (body,) if body else ())

    def _label(self, word: str, start: int) -> Statement:
        colon = _CASE.search(self.text, start, self.stop)
        end = colon.start() if colon else self.stop
        self.at = min(end + 1, self.stop)
        test = (start + len(word), end) if word == "case" else None
        return Statement("case", start, self.at, test)

    def _bracket(self, opening: int) -> tuple[int, int] | None:
        if opening >= self.stop or self.text[opening] != "(":
            return None
        close = matching(self.text, opening, self.stop - opening)
        if close < 0:
            return None
        self.at = close + 1
        return opening + 1, close

    def _semicolon(self, start: int) -> int:
        """The end of an expression statement; `at` moves behind its semicolon."""
        depth = 0
        for match in _STOP.finditer(self.text, start, self.stop):
            mark = match[0]
            if mark == ";" and depth == 0:
                self.at = match.end()
                return match.start()
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                if depth == 0:
                    self.at = match.start() + 1
                    return match.start()
                depth -= 1
        self.at = self.stop
        return self.stop

    def _lambdas(self, start: int, end: int) -> tuple[tuple[Statement, ...], ...]:
        """Bodies in braces behind a bracket: of lambdas, and of blocks that a macro takes."""
        found: list[tuple[Statement, ...]] = []
        resume = self.at
        at = start
        while (opening := self.text.find("{", at, end)) >= 0:
            close = matching(self.text, opening, end - opening)
            if close < 0:
                break
            before = self.text[max(start, opening - 40) : opening].rstrip()
            if before.endswith((")", "]", "mutable")) or "->" in before or before.endswith(","):
                found.append(self.block(opening + 1, close))
            at = close + 1
        self.at = resume
        return tuple(found)


def statements(text: str, start: int, stop: int) -> tuple[Statement, ...]:
    """The statements between two offsets of a blanked text without directives."""
    return _StatementParser(text, stop).block(start, stop)


def leaves(body: tuple[Statement, ...]) -> bool:
    """Whether a body never falls through."""
    for statement in body:
        if statement.kind in _LEAVES or (statement.kind == "block" and leaves(statement.body)):
            return True
        if statement.kind == "if" and statement.orelse and leaves(statement.body) and leaves(statement.orelse):
            return True
    return False


def tests_around(body: tuple[Statement, ...], offset: int) -> Iterator[tuple[tuple[int, int], bool]]:
    """The tests of `if`s on the way to a place, by where they stand, and what they come to there."""
    for statement in body:
        test = statement.test if statement.kind == "if" else None
        if statement.start <= offset < statement.end:
            for side, holds in ((statement.body, True), (statement.orelse, False)):
                if test is not None and side and side[0].start <= offset < side[-1].end:
                    yield test, holds
            for inner in (statement.body, statement.orelse, *statement.inner):
                yield from tests_around(inner, offset)
            return
        if test is not None and leaves(statement.body):
            yield test, False


Stretch = tuple[int, int]
_Known = dict[tuple[int, ...], tuple[Stretch, ...]]
"""What surely runs of statements, by their identities: the ways through a body meet again and again."""
_NAMED = re.compile(r"(?<!\w)(?P<name>[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)(?:<(?![<=\s])|\s*\()")
_ANY_CALL = re.compile(r"[A-Za-z_]\w*\s*[(<]")
_STD = re.compile(r"\breturn\b|std\s*::\s*\w+")
_FRESH = re.compile(r"return\s+(?:at|torch)\s*::\s*(?:empty|zeros|ones|full)(?:_like)?\s*\(")
"""A new tensor, with nothing computed."""
_ANY_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"::|\bk?[A-Z]|\b(?:true|false)\b")
"""What may be known when a test is compiled."""
_STATUS = re.compile(r"\)\s*(?P<op>[!=]=)\s*(?:\w+::)*\w*(?:[Ss]uccess|SUCCESS|Ok|OK)\b")
_CHOICE = re.compile(r"\?|&&|\|\|")
_DEVICE = re.compile(r"[Ss][Mm]|[Aa]rch|[Cc]apab|[Mm]ajor|[Mm]inor|version|[Cc][Cc]\b|[Dd]evice")
_NAMES_A_LAMBDA = re.compile(r"\s*(?:const\s+)?auto\s*&{0,2}\s*\w+\s*=\s*\[")
_MOST_FORKS = 6
"""Tests in what follows an early exit: each of them doubles the ways."""
_MOST_ARMS = 20
_EXITS = frozenset({"return", "break", "continue", "goto", "co_return"})


def sure(text: str, body: tuple[Statement, ...]) -> Iterator[Stretch]:
    """The stretches that surely run, in order.

    Loops are taken to run, lambdas to be called unless they are given a name, and an `if` that ends in an error or only
    goes home with nothing done is no test. What stands after any other early exit is not sure.
    """
    yield from _sure(text, body, {})


def _sure(text: str, body: tuple[Statement, ...], known: _Known) -> tuple[Stretch, ...]:
    key = tuple(map(id, body))
    if key not in known:
        known[key] = tuple(_stretches(text, body, known))
    return known[key]


def _stretches(text: str, body: tuple[Statement, ...], known: _Known) -> Iterator[Stretch]:
    for place, statement in enumerate(body):
        if statement.kind == "if":
            assert statement.test is not None
            if not _attempts(text, statement, body[place + 1 :]):
                yield statement.test
            yield from _branches(text, statement, known)
            if _may_leave(text, statement):
                yield from _on_every_way(text, statement, body[place + 1 :], known)
                return
        elif statement.kind == "switch":
            yield from _every_case(text, statement, known)
            if _exits(statement):
                return
        elif statement.kind in ("block", "loop"):
            yield from _sure(text, statement.body, known)
            if statement.kind == "block" and leaves(statement.body):
                return
        else:
            yield from _expression(text, statement, known)
            if statement.kind in _EXITS:
                return


def compiled(text: str, body: tuple[Statement, ...], parameters: frozenset[str]) -> Iterator[Stretch]:
    """What is compiled of device code, run or not: all but the sides of a test that the compiler may decide."""
    for statement in body:
        if statement.kind == "if" and _is_decided(text, statement, parameters):
            continue
        parts = [part for part in (statement.body, statement.orelse, *statement.inner) if part]
        if statement.kind not in ("if", "loop", "switch", "block"):
            yield statement.start, min((part[0].start for part in parts), default=statement.end)
        elif statement.test is not None:
            yield statement.test
        for part in parts:
            yield from compiled(text, part, parameters)


def _is_decided(text: str, statement: Statement, parameters: frozenset[str]) -> bool:
    assert statement.test is not None
    if text.find("constexpr", statement.start, statement.test[0]) >= 0 or _CONSTANT.search(text, *statement.test):
        return True
    return any(word[0] in parameters for word in _ANY_WORD.finditer(text, *statement.test))


def last_ones(text: str, body: tuple[Statement, ...]) -> list[Stretch] | None:
    """The expressions in which the ways through a body end, errors left out; None where one ends in nothing."""
    if not body:
        return None
    *before, last = body
    found: list[Stretch] = []
    for statement in before:
        ends = _early_ends(text, (statement,))
        if ends is None:
            return None
        found += ends
    ends = _ends_of(text, last)
    return None if ends is None else found + ends


def _early_ends(text: str, body: tuple[Statement, ...]) -> list[Stretch] | None:
    """The expressions in which the ways end that leave a body, errors left out; None where one ends in nothing."""
    if leaves(body):
        return [] if _refuses(text, body) else last_ones(text, body)
    found: list[Stretch] = []
    for statement in body:
        if statement.kind not in ("if", "block"):
            if _exits(statement):
                return None
            continue
        for part in (statement.body, statement.orelse):
            ends = _early_ends(text, part)
            if ends is None:
                return None
            found += ends
    return found


def _ends_of(text: str, last: Statement) -> list[Stretch] | None:
    if _refuses(text, (last,)):
        return []
    if last.kind == "block":
        return last_ones(text, last.body)
    if last.kind == "if" and last.orelse:
        sides = [last_ones(text, side) for side in (last.body, last.orelse) if not _refuses(text, side)]
        return None if None in sides else [end for side in sides for end in side or ()]
    return [last.test] if last.kind in ("return", "expression") and last.test is not None else None


def _branches(text: str, statement: Statement, known: _Known) -> Iterator[Stretch]:
    """What runs in an `if` whichever way it goes: a side, where the other ends in an error."""
    if _refuses(text, statement.body):
        yield from _sure(text, statement.orelse, known)
    elif statement.orelse and _refuses(text, statement.orelse):
        yield from _sure(text, statement.body, known)
    elif statement.orelse:
        yield from _common(text, known, statement.body, statement.orelse)


def _every_case(text: str, switch: Statement, known: _Known) -> Iterator[Stretch]:
    """The calls that all cases make that neither refuse nor go home; what is picked by the device is not all one."""
    if switch.test is None or _DEVICE.search(text, *switch.test):
        return
    found = list(_cases(switch))
    cases = [case for case in found if not _refuses(text, case) and not _only_returns(text, case)]
    if len(cases) == 1 and any(_refuses(text, case) for case in found):
        yield from _sure(text, cases[0], known)
    elif len(cases) > 1:
        yield from _common(text, known, *cases)


def _cases(switch: Statement) -> Iterator[tuple[Statement, ...]]:
    """What stands behind each label of a switch; labels that share it are one."""
    body = switch.body[0].body if len(switch.body) == 1 and switch.body[0].kind == "block" else switch.body
    labels = [place for place, statement in enumerate(body) if statement.kind == "case"]
    for first, after in zip(labels, [*labels[1:], len(body)], strict=False):
        if after > first + 1:
            yield body[first + 1 : after]


def _only_returns(text: str, body: tuple[Statement, ...]) -> bool:
    if len(body) != 1 or body[0].kind not in _EXITS:
        return False
    return _ANY_CALL.search(_STD.sub("", text[body[0].start : body[0].end])) is None


def _on_every_way(text: str, statement: Statement, rest: tuple[Statement, ...], known: _Known) -> Iterator[Stretch]:
    """The calls on every way through an `if` and what follows, but ways to an error or that leave chips out."""
    if sum(one.kind == "if" for one in rest) > _MOST_FORKS:
        return
    ways: list[tuple[Statement, ...]] = []
    asks_device = False
    last: tuple[Statement, ...] = (statement,)
    while len(last) == 1 and last[0].kind == "if" and last[0].test is not None and len(ways) < _MOST_ARMS:
        asks_device = asks_device or _DEVICE.search(text, *last[0].test) is not None
        ways.append(last[0].body if leaves(last[0].body) else (*last[0].body, *rest))
        last = last[0].orelse
    ways.append(last if last and leaves(last) else (*last, *rest))
    working = ways if asks_device else [way for way in ways if not _refuses(text, way)]
    if len(working) == 1:
        yield from _sure(text, working[0], known)
    elif working:
        yield from _common(text, known, *working)


def _called_in(text: str, body: tuple[Statement, ...], known: _Known) -> set[str]:
    return {call["name"] for start, end in _sure(text, body, known) for call in _NAMED.finditer(text, start, end)}


def _common(text: str, known: _Known, one: tuple[Statement, ...], *others: tuple[Statement, ...]) -> Iterator[Stretch]:
    """The calls that all sides make."""
    named = [_called_in(text, other, known) for other in others]
    for start, end in _sure(text, one, known):
        for call in _NAMED.finditer(text, start, end):
            if all(call["name"] in names for names in named):
                yield call.span()


def _expression(text: str, statement: Statement, known: _Known) -> Iterator[Stretch]:
    """A statement up to what it may skip, and the lambdas in it."""
    first = min((inner[0].start for inner in statement.inner if inner), default=statement.end)
    choice = _CHOICE.search(text, statement.start, first)
    yield statement.start, choice.start() if choice else first
    if choice is None and _NAMES_A_LAMBDA.match(text, statement.start, first) is None:
        for inner in statement.inner:
            yield from _sure(text, inner, known)


def _may_leave(text: str, statement: Statement) -> bool:
    """Whether what follows an `if` may not run though no error was met."""
    sides = [side for side in (statement.body, statement.orelse) if not _refuses(text, side)]
    return any(_exits_in(side) and not _goes_home(text, statement, side) for side in sides)


def _goes_home(text: str, statement: Statement, side: tuple[Statement, ...]) -> bool:
    """`if (rows == 0) return;`: nothing is asked for, and nothing is done in its place."""
    while len(side) == 1 and side[0].kind == "block":
        side = side[0].body
    test = statement.test
    if len(side) != 1 or side[0].kind != "return":
        return False
    plain = _FRESH.match(text, side[0].start) or not _ANY_CALL.search(text, side[0].start, side[0].end)
    return bool(plain) and test is not None and not _DEVICE.search(text, *test)


def only_refuses(text: str, body: tuple[Statement, ...]) -> bool:
    """Whether no way through a body ends in anything but an error."""
    return _refuses(text, body) and not _exits_in(body)


def _refuses(text: str, body: tuple[Statement, ...]) -> bool:
    while len(body) == 1 and body[0].kind == "block":
        body = body[0].body
    return any(entry.kind == "throw" or fails(text, entry.start, entry.end) for entry in body)


def _attempts(text: str, statement: Statement, rest: tuple[Statement, ...]) -> bool:
    """`if (fast() == cudaSuccess) return;` in front of another way: whether what a test calls may fail."""
    assert statement.test is not None
    asked = _STATUS.search(text, *statement.test)
    if asked is None:
        return False
    if asked["op"] == "==" and leaves(statement.body) and not rest:
        return True
    fallback = statement.body if asked["op"] == "!=" else statement.orelse or (rest if leaves(statement.body) else ())
    first = fallback[0] if fallback else None
    while first is not None and first.kind == "block" and first.body:
        first = first.body[0]
    if first is None or _refuses(text, fallback) or leaves((first,)):
        return False
    return _ANY_CALL.search(text, first.start, fallback[-1].end) is not None


def _exits_in(body: tuple[Statement, ...]) -> bool:
    return any(_exits(entry) for entry in body)


def _exits(statement: Statement) -> bool:
    if statement.kind in ("return", "goto", "co_return"):
        return True
    return _exits_in(statement.body) or _exits_in(statement.orelse)
