"""The statements of a function body as offsets in the blanked text; what is none counts as an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.readers.cuda.lexer import matching

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
            close = self._close(start)
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

    def _close(self, opening: int) -> int:
        close = matching(self.text, opening, self.stop - opening)
        return close if close >= 0 else self.stop

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
