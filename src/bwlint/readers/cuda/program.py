"""Host code: functions walked statement by statement, their conditions lowered, gates noted with both ways out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache

from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.data import table
from bwlint.evaluate.names import DEVICE
from bwlint.model.expr import Expr, Span, const, negate, unknown, walk
from bwlint.model.facts import Exit, Function, Gate, GateKind, Path, Side
from bwlint.model.naming import spoken
from bwlint.readers.cuda import ways
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.failures import fails
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes
from bwlint.readers.cuda.statements import Statement, leaves, statements
from bwlint.readers.reads import Reads

MAX_PATH = 12
MAX_RETURNS = 40
MAX_EXITS = 100
MAX_EXIT_PATH = 30
MAX_REST = 200
"""Statements that are looked at for what follows an early exit."""
_ASSIGN = re.compile(r"(?:[\w:<>,\s]*[\s*&>])?(?P<name>[A-Za-z_]\w*)\s*(?:=(?!=)|\{)")
_OUT = re.compile(r"\b(?P<call>\w{0,60}[Gg]et\w{0,60})\s*\(\s*&\s*(?P<name>\w+)\s*,\s*(?P<what>\w*)")
_CHECK = re.compile(
    r"\b(?P<name>(?:[A-Z][A-Z0-9_]{0,40})?(?:CHECK|ASSERT|ENFORCE|REQUIRE|EXPECT)[A-Z0-9_]{0,40}|assert)\s*\("
)
_COMPARES = {"_EQ": "==", "_NE": "!=", "_GE": ">=", "_GT": ">", "_LE": "<=", "_LT": "<"}
_IDENTIFIER = re.compile(
    r"\b\w*(?:[Ss][Mm]|SM|[Aa]rch|ARCH|[Cc]apab|CAPAB|[Cc][Cc]|[Mm]ajor|[Mm]inor|[Pp]rop|haredMem|opper|lackwell)\w*"
)
_TAG = re.compile(
    rf"(?:\w+::)*is_same(?:_v)?<(?P<name>[\w:]+),(?:\w+::)*{IN_NAMES}(?P<number>{NUMBER}){SUFFIX}>(?:::value)?$"
)
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?$")
_SHORT = 1500


@dataclass(slots=True)
class HostProgram:
    """What the host code of a file says."""

    names: dict[str, Expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    slots: list[Expr] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)


def program(code: Code, text: str, scopes: Scopes, directives: Directives) -> HostProgram:
    """The gates and helpers of a file. `text` is the blanked text without directives."""
    found = HostProgram()
    asking = [scope for scope in scopes.functions if not scope.kernel and _asks(text, scope.header, scope.close)]
    answers = {last(scope.name): scope for scope in asking if _answers(text, scope)}
    for name, scope in answers.items():
        found.names[name] = Expr("function", (scope.qualname,))
    listed = "|".join(map(re.escape, sorted(answers)))
    reads = Reads(found.slots, answers)
    helper = re.compile(rf"\b(?:{listed})\b") if listed else None
    for scope in scopes.functions:
        if scope in asking or (helper is not None and helper.search(text, scope.open, scope.close)):
            _HostWalk(code, text, scope, found, reads, directives).run()
    return found


def last(name: str) -> str:
    return name.rpartition("::")[2]


def _asks(text: str, start: int, end: int) -> bool:
    """Whether a stretch has an identifier that may read the device."""
    return any(_is_device(match[0]) for match in _IDENTIFIER.finditer(text, start, end))


@cache
def _is_device(word: str) -> bool:
    return DEVICE.search(spoken(word)) is not None


def _answers(text: str, scope: CodeScope) -> bool:
    """A short function whose value is a condition: its name reads the device where it is called."""
    short = scope.close - scope.open < _SHORT
    return short and re.search(r"\bbool\b", text[scope.header : scope.open].partition("(")[0]) is not None


class _HostWalk:
    """One function, from top to bottom; `env` holds what each name stands for at the place that is read."""

    def __init__(
        self, code: Code, text: str, scope: CodeScope, found: HostProgram, reads: Reads, directives: Directives
    ) -> None:
        self.code = code
        self.directives = directives
        self.text = text
        self.scope = scope
        self.found = found
        self.reads = reads
        self.env: dict[str, Expr] = {}
        self.path: list[Expr] = []
        self.returns: list[tuple[tuple[Expr, ...], Expr]] = []
        self.exits: list[tuple[Path, Exit, Span]] = []
        self.doubts = 0
        self.chain = 0
        self.target = ""
        self.noted: set[Span] = set()

    def run(self) -> None:
        scope = self.scope
        params = tuple(map(spoken, _parameters(self.text, scope)))
        self.block(statements(self.text, scope.open + 1, scope.close))
        function = Function(
            scope.qualname,
            "function",
            params,
            (None,) * len(params),
            tuple(self.returns[:MAX_RETURNS]),
            self.code.span(scope.header, scope.close + 1),
            exits=self._ways_out(),
        )
        self.found.functions.setdefault(scope.qualname, function)
        self._predicate(function)

    def _ways_out(self) -> tuple[tuple[Path, Exit, Span], ...]:
        if len(self.exits) > MAX_EXITS or not any(ends == "raise" for _, ends, _ in self.exits):
            return ()
        return tuple(self.exits)

    def _leave(self, ends: Exit, start: int, end: int, test: Expr | None = None) -> None:
        """Note a way out. What stands in a loop, a try, a lambda or a branch of the preprocessor may not be taken."""
        path = (*self.path, test) if test is not None else tuple(self.path)
        around = self.directives.path(self.scope.open)
        doubtful = self.doubts > 0 or (ends == "raise" and self.directives.path(start) != around)
        if doubtful or len(path) > MAX_EXIT_PATH:
            path = (unknown("here"),)
        self.exits.append((path, ends, self.code.span(start, end)))

    def _predicate(self, function: Function) -> None:
        """A helper with one answer is a gate itself."""
        if len(self.returns) == 1 and last(self.scope.name) in self.found.names:
            path, value = self.returns[0]
            if not path and value.op in ("cmp", "and", "or", "not") and value.at is not None:
                self._note("predicate", value, value.at, ways.answer(True), ways.answer(False), self.scope.name)

    # -- expressions

    def lower(self, start: int, end: int) -> Expr:
        node = lower(self.code, start, end, self._resolve)
        for inner in walk(node):
            if inner.op == "if" and inner.at is not None:
                test, then, otherwise = inner.args
                if self.reads.reads(test):
                    sides = ways.arm(self.code, self.text, then), ways.arm(self.code, self.text, otherwise)
                    self._note("expression", test, test.at or inner.at, *sides, self.target)
        return node

    def _resolve(self, name: str, at: Span) -> Expr:
        known = self.env.get(name)
        if known is not None:
            return known._replace(at=at)
        tag = _TAG.match(name)
        if tag:
            asked = Expr("param", (self.scope.qualname, "arch_major"), at)
            return Expr("cmp", ("==", (asked, const(int(tag["number"]) // 10, at))), at)
        short = last(name.partition("<")[0])
        if short in self.found.names or _is_question(short):
            self.reads.know(short)
            return Expr("name", (short,), at)
        return Expr("param", (self.scope.qualname, spoken(short)), at)

    def _slot(self, name: str, value: Expr) -> Expr:
        self.found.slots.append(value)
        node = Expr("var", (len(self.found.slots) - 1, spoken(name)), None)
        self.reads.reads(node)  # in order, so that a long chain of assignments is never followed in one go
        return node

    # -- statements

    def block(self, body: tuple[Statement, ...]) -> None:
        depth = len(self.path)
        for index, statement in enumerate(body):
            self._statement(statement, body[index + 1 : index + 1 + MAX_REST])
        del self.path[depth:]

    def _statement(self, statement: Statement, rest: tuple[Statement, ...]) -> None:
        kind = statement.kind
        if kind == "if":
            self._if(statement, rest)
        elif kind == "switch":
            self._switch(statement)
        elif kind == "loop" or (kind == "block" and self.text.startswith("try", statement.start)):
            self._perhaps(statement.body)
        elif kind == "block":
            self.block(statement.body)
        elif kind == "return" and statement.test:
            start, end = statement.test
            if self.text[start:end].strip():
                self.returns.append((tuple(self.path[-MAX_PATH:]), self.lower(start, end)))
            self._leave(
                "raise" if fails(self.text, statement.start, statement.end) else "return",
                statement.start,
                statement.end,
            )
        elif kind == "throw":
            self._leave("raise", statement.start, statement.end)
        elif kind == "expression" and statement.test:
            self.doubts += bool(statement.inner)
            self._expression(*statement.test)
            self.doubts -= bool(statement.inner)
        for inner in statement.inner:
            self._perhaps(inner)

    def _perhaps(self, body: tuple[Statement, ...]) -> None:
        """Statements that may run often or not at all."""
        self.doubts += 1
        self.block(body)
        self.doubts -= 1

    def _if(self, statement: Statement, rest: tuple[Statement, ...], chain: int = 0, position: int = 0) -> None:
        assert statement.test is not None
        test = self.lower(*statement.test)
        if self.reads.reads(test):
            if not chain:
                self.chain += 1
                chain = self.chain
            yes = self._side(statement.body)
            no = self._side(statement.orelse) if statement.orelse else self._rest(yes, rest)
            self._note("condition", test, self.code.span(*statement.test), yes, no, "", (chain, position))
        before = dict(self.env)
        self.path.append(test)
        self.block(statement.body)
        after = self.env
        self.env = dict(before)
        self.path[-1] = negate(test)
        if len(statement.orelse) == 1 and statement.orelse[0].kind == "if":
            self._if(statement.orelse[0], rest, chain, position + 1)
        else:
            self.block(statement.orelse)
        if not leaves(statement.body):
            self.path.pop()
            if leaves(statement.orelse):
                self.path.append(test)
            self._join(test, after)

    def _join(self, test: Expr, after: dict[str, Expr]) -> None:
        for name in after.keys() | self.env.keys():
            yes, no = after.get(name), self.env.get(name)
            if yes != no and len(self.found.slots) < 5000:
                self.env[name] = self._slot(name, Expr("if", (test, yes or unknown(name), no or unknown(name))))

    def _switch(self, statement: Statement) -> None:
        """`switch (x)` as a chain of membership tests; a case without a break runs into the next."""
        assert statement.test is not None
        asked = self.lower(*statement.test)
        cases = _cases(statement)
        reads = self.reads.reads(asked)
        labelled = tuple(self.lower(*label) for labels, _ in cases for label in labels if label is not None)
        if reads:
            self.chain += 1
        for position, (labels, body) in enumerate(cases):
            values = tuple(self.lower(*label) for label in labels if label is not None)
            test = Expr("cmp", ("in", (asked, Expr("tuple", (values,), values[0].at if values else None))), asked.at)
            if reads and values and values[0].at and values[-1].at:
                at = values[0].at.through(values[-1].at)
                others = tuple(entry for _, other in cases[position + 1 : position + 1 + MAX_REST] for entry in other)
                default = next((other for names, other in cases if None in names), None)
                no = self._side(default) if default is not None else self._rest(self._side(body), others)
                self._note("condition", test._replace(at=at), at, self._side(body), no, "", (self.chain, position))
            others_of = Expr("cmp", ("not in", (asked, Expr("tuple", (labelled,)))))
            self.path.append(test if values else others_of)
            self.block(body)
            self.path.pop()

    def _expression(self, start: int, end: int) -> None:
        check = _CHECK.search(self.text, start, end)
        if check is not None:
            self._check(check, end)
        elif fails(self.text, start, end):
            self._leave("raise", start, end)
        for out in _OUT.finditer(self.text, start, end):
            kind = _attribute(out["what"]) or _attribute(out["call"])
            if kind:
                self.env[out["name"]] = Expr("source", (kind,), self.code.span(*out.span()))
        assign = _ASSIGN.match(self.text, start, end)
        if assign is None or check is not None:
            return
        stop = end - 1 if self.text[assign.end() - 1] == "{" else end
        name = assign["name"]
        self.target = name
        value = self.lower(assign.end(), stop)
        self.target = ""
        if value.op in ("cmp", "and", "or", "not") and value.at is not None and self.reads.reads(value):
            self._note("flag", value, value.at, ways.answer(True), ways.answer(False), name)
        self.env[name] = self._slot(name, value)

    def _check(self, check: re.Match[str], end: int) -> None:
        """`CHECK(a >= b, "text")`, `CHECK_GE(a, b)`: an assertion with its message."""
        close = matching(self.text, check.end() - 1, end - check.end() + 1)
        if close < 0:
            return
        parts = _arguments(self.text, check.end(), close)
        op = next((sign for mark, sign in _COMPARES.items() if check["name"].endswith(mark)), "")
        if op and len(parts) >= 2:
            at = self.code.span(parts[0][0], parts[1][1])
            test = Expr("cmp", (op, (self.lower(*parts[0]), self.lower(*parts[1]))), at)
        else:
            test = self.lower(*parts[0])
        self._leave("raise", check.start(), end, negate(test))
        if test.op not in ("cmp", "and", "or", "not", "call", "var") or not self.reads.reads(test) or test.at is None:
            return
        said = Side(ends="raise", at=test.at, texts=ways.texts(self.code, parts[0][1], end))
        self._note("assert", test, test.at, Side(ends="fall", rest=True), said)

    # -- sides and gates

    def _side(self, body: tuple[Statement, ...]) -> Side:
        return ways.side(self.code, self.text, body, self.lower_quietly)

    def _rest(self, yes: Side, rest: tuple[Statement, ...]) -> Side:
        """What follows an `if` without an else, where its branch leaves."""
        if yes.ends == "fall" or not rest:
            return Side(ends="fall", empty=True, rest=True)
        found = self._side(rest)
        return replace(found, empty=False, rest=True)

    def lower_quietly(self, start: int, end: int) -> Expr:
        return lower(self.code, start, end, self._resolve)

    def _note(
        self, kind: GateKind, test: Expr, at: Span, yes: Side, no: Side, name: str = "", chain: tuple[int, int] = (0, 0)
    ) -> None:
        if at in self.noted or not self.reads.reads(test):
            return
        self.noted.add(at)
        start, end = self.code.offset(at[0], at[1]), self.code.offset(at[2], at[3])
        self.found.gates.append(
            Gate(
                kind=kind,
                test=test,
                at=at,
                qualname=self.scope.qualname,
                name=name,
                yes=yes,
                no=no,
                path=tuple(self.path[-MAX_PATH:]),
                chain=chain[0],
                position=chain[1],
                comment=self.code.comment_near(start, end),
                text=self.code.source[start:end][:300],
                leaf=self.reads.leaf(test),
            )
        )


def _cases(statement: Statement) -> list[tuple[list[tuple[int, int] | None], tuple[Statement, ...]]]:
    """Labels that share a body, with that body; None is the default."""
    body = statement.body[0].body if statement.body and statement.body[0].kind == "block" else statement.body
    found: list[tuple[list[tuple[int, int] | None], list[Statement]]] = []
    for entry in body:
        if entry.kind != "case":
            if found:
                found[-1][1].append(entry)
        elif found and not found[-1][1]:
            found[-1][0].append(entry.test)
        else:
            found.append(([entry.test], []))
    return [(labels, tuple(entries)) for labels, entries in found]


def _arguments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The offsets of the arguments between two brackets."""
    found: list[tuple[int, int]] = []
    depth, begin = 0, start
    for at in range(start, end):
        mark = text[at]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == "," and depth == 0:
            found.append((begin, at))
            begin = at + 1
    found.append((begin, end))
    return found


def _parameters(text: str, scope: CodeScope) -> list[str]:
    """The names of a function's parameters, as far as they are plain."""
    opening = text.find(f"{last(scope.name)}", scope.header, scope.open)
    opening = text.find("(", opening, scope.open) if opening >= 0 else -1
    close = matching(text, opening, scope.open - opening) if opening >= 0 else -1
    if close < 0:
        return []
    names = [_PARAMETER.search(text[begin:end]) for begin, end in _arguments(text, opening + 1, close)]
    return [found[1] if found else "" for found in names] if text[opening + 1 : close].strip() else []


@cache
def _attributes() -> dict[str, str]:
    return {name: row["returns"] for row in table("sources")["attribute"] for name in row["names"]}


def _attribute(name: str) -> str:
    """The kind of source that a device attribute, or the function that fills a structure, gives."""
    return _attributes().get(name, "")


def _is_question(name: str) -> bool:
    return name[:1].islower() and _is_device(name) and name.lower().startswith(("get", "is_", "is", "has", "supports"))
