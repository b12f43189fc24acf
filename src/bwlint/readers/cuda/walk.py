"""Walk a host function statement by statement: lower its conditions and record gates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from bwlint.chips import frameworks, queries
from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.model.expr import COMPILED, TAG, Expr, Span, const, is_text, mapped, negate, unknown, walk
from bwlint.model.facts import Function, Gate, Path, Side, Use
from bwlint.model.kinds import LEAVING, Exit, GateKind
from bwlint.model.naming import spoken
from bwlint.readers.cuda import containers, given, instances, ways
from bwlint.readers.cuda.containers import NamedRow, gone_through
from bwlint.readers.cuda.expressions import CONDITIONS, conditions, joined, kept_as, lower
from bwlint.readers.cuda.given import MAJORS, NUMBERS, is_question, names_a_chip
from bwlint.readers.cuda.lexer import between_commas, matching
from bwlint.readers.cuda.scopes import CodeScope, CutText
from bwlint.readers.cuda.statements import SKIPS, Statement, fails, leaves, statements, sure
from bwlint.readers.reads import Reads

MAX_PATH = 12
MAX_STEPS = 20
MAX_CALL = 2000
MAX_NAME = 80
MAX_RETURNS = 40
MAX_EXITS = 100
MAX_EXIT_PATH = 30
MAX_REST = 200
"""Statements that are looked at for what follows an early exit."""
_ASSIGN = re.compile(r"(?:[\w:<>,\s*&]*[\s*&>])?(?P<name>[A-Za-z_]\w*)\s*(?:=(?!=)|\{)")
_BINDING = re.compile(r"(?:\w+\s+)?auto\b[\s\w&]*\[(?P<auto>[\w\s,]+)\]\s*=|std::tie\s*\((?P<tie>[\w\s,]+)\)\s*=(?!=)")
_FIELD = re.compile(r"[\w\s()*\[\]]{1,80}(?:(?:\.|->)\s*\w+)*?(?:\.|->)\s*(?P<name>\w+)\s*=(?!=)")
_COMPOUND = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<op>[-+*/%&|])=(?!=)")
_LOGICAL = {"&": "&&", "|": "||"}
"""Of answers, which these keep, one is as good as the other."""
_TARGET = re.compile(r"\**\s*(?P<name>\w+)\s*=(?!=)")
_ROW = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\[[^\[\]=;]{0,80}\]\s*=(?!=)")
_NEW_PROPERTIES = re.compile(rf"\s*new\s+{queries.structures()}\b")
_LENDS = re.compile(r"(?<![\w:])(?P<call>[A-Za-z_][\w:]{0,200})\s{0,40}\(")
_CALL = re.compile(r"[A-Za-z_][\w:]{0,200}\s{0,40}\(")
_TELLS = re.compile(r"[?]|(?<![A-Za-z0-9_$])\d|\bat\b")
"""A number, a choice, a look into a table: what a call without them is handed, no gate is made of."""
_CONSTANT = re.compile(r"k[A-Z]")
_MEMBER = re.compile(r"[a-z]\w*_|m_\w+")
_FUNCTION = re.compile(r"&?\s*(?P<name>[A-Za-z_]\w*(?:::\w+)*)(?:<[^<>;()]*>)?")
_ENDS_LOOP = frozenset({"return", "break", "throw", "goto"})
_LAMBDA = re.compile(r"\s*\[[^\[\]]*\]\s*[({]")
_OUT = re.compile(r"\(\s*&?\s*(?P<name>\w+)\s*,\s*(?P<what>\w*)")
_CALLED_BEFORE = re.compile(r"(?P<call>\w*[Gg]et\w*)\s*$")
_CHECK_WORDS = "CHECK|ASSERT|ENFORCE|REQUIRE|EXPECT"
_CHECKS = re.compile(rf"{_CHECK_WORDS}|assert")
_CHECK = re.compile(rf"\b(?P<name>(?:[A-Z][A-Z0-9_]{{0,40}})?(?:{_CHECK_WORDS})[A-Z0-9_]{{0,40}}|assert)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMPARES = {"_EQ": "==", "_NE": "!=", "_GE": ">=", "_GT": ">", "_LE": "<=", "_LT": "<"}
_TAG = re.compile(
    rf"(?:\w+::)*is_same(?:_v)?<(?P<name>[\w:]+),(?:\w+::)*{IN_NAMES}(?P<number>{NUMBER}){SUFFIX}>(?:::value)?$"
)


@dataclass(slots=True)
class HostProgram:
    """What the host code of a file says."""

    names: dict[str, Expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    slots: list[Expr] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    sites: given.Sites = field(default_factory=given.Sites)
    rows: dict[str, Expr] = field(default_factory=dict)
    """What is kept under any key of a container, by its name."""
    carriers: set[str] = field(default_factory=set)
    """Functions of the file that give the device."""
    containers: set[tuple[str, object]] = field(default_factory=set)
    """Names and slots of what is written down in maps and sets."""

    def carries(self, name: str, function: str) -> None:
        self.names.setdefault(name, Expr("function", (function,)))
        self.carriers.add(name.partition("&")[0])

    def uses_carrier(self, text: str, start: int, end: int) -> bool:
        return bool(self.carriers) and any(word[0] in self.carriers for word in _WORD.finditer(text, start, end))


def last(name: str) -> str:
    return name.rpartition("::")[2]


class HostWalk:
    """One function, from top to bottom; `env` holds what each name stands for at the place that is read."""

    def __init__(
        self, file: CutText, text: str, scope: CodeScope, found: HostProgram, reads: Reads, tags: frozenset[str]
    ) -> None:
        self.code, self.text, self.directives = file.code, text, file.found
        self.scope, self.tags, self.found, self.reads = scope, tags, found, reads
        self.params = given.parameters(text, scope)
        self.name = given.plain_name(scope)
        self.lambdas: dict[int, Expr] = {}
        """What is returned by the lambdas of the statement that is read, by their braces."""
        self.env: dict[str, Expr] = {}
        self.path: list[Expr] = []
        self.returns: list[tuple[tuple[Expr, ...], Expr]] = []
        self.exits: list[tuple[Path, Exit, Span]] = []
        self.doubts = 0
        self.tries = 0
        self.chain = 0
        self.linked: tuple[Statement, int, int] | None = None
        """The test that goes on with a chain, as its arms so far all leave, the chain and its place in it."""
        self.target = ""
        self.following: tuple[Statement, ...] = ()
        self.row: NamedRow | None = None
        """The row of a table that a loop is at."""
        self.noted: set[Span] = set()
        self.elsewhere: list[Gate] = []
        """Conditions that no statement of their own asks."""
        for name, (start, end) in given.declared(text, scope.header, scope.open):
            self.env[name] = Expr("source", ("properties",), self.code.span(start, end))

    def run(self) -> None:
        scope = self.scope
        body = statements(self.text, scope.open + 1, scope.close)
        for start, end, name in given.initialised(self.text, scope):
            self._conditions(start, end, (), name)
            self._decided(name, self._value(start, end))
        self.block(body)
        if scope.kind == "macro" and not self.returns and len(body) == 1:
            self.returns.append(((), self._value(body[0].start, body[0].end)))
            self.found.names.setdefault(self.name, Expr("function", (scope.qualname,)))
        self.returns = self._answers()
        function = self._function(scope.qualname, self.returns, exits=self._ways_out())
        self._predicate(function)
        self._gives()
        self._keep_others()

    def outside(self, name: str) -> None:
        """What is given to a member or a variable that stands in no function."""
        self._conditions(self.scope.header, self.scope.close, (), name)
        self._keep_others()

    def _function(self, qualname: str, returns: list[tuple[Path, Expr]], **more: Any) -> Function:
        at = self.code.span(self.scope.header, self.scope.close + 1)
        params = tuple(map(spoken, self.params))
        made = Function(qualname, "function", params, (None,) * len(params), tuple(returns[:MAX_RETURNS]), at, **more)
        return self.found.functions.setdefault(qualname, made)

    def _answers(self) -> list[tuple[tuple[Expr, ...], Expr]]:
        """What is returned; beside the device, what stands for an error or was kept from an earlier call is none."""
        if not any(self.reads.reads(value) for _, value in self.returns):
            of_device = given.gives_properties(self.text, self.scope)
            return [((), Expr("source", ("properties",)))] if of_device else self.returns
        return [one for one in self.returns if self.reads.reads(one[1]) or not _says_nothing(one[1])]

    def _gives(self) -> None:
        """Where what a function returns, or leaves in what it is lent, is of the device, its name gives the device."""
        name = self.name
        if name in self.params or not name.isidentifier():
            return
        if any(self.reads.reads(value) for _, value in self.returns):
            self.reads.know(name)
            self.found.carries(name, self.scope.qualname)
        if not self.scope.parent:
            self.found.names.setdefault(name, Expr("function", (self.scope.qualname,)))
        for position, param in enumerate(self.params):
            left = self.env.get(param)
            if left is not None and self.reads.reads(left):
                self.found.carries(f"{name}&{position}", self._function(f"{name}&{position}", [((), left)]).qualname)
        if self.params:
            self.found.sites.wanted.setdefault(name, (self.scope, tuple(map(spoken, self.params))))

    def _ways_out(self) -> tuple[tuple[Path, Exit, Span], ...]:
        if len(self.exits) > MAX_EXITS or not any(ends == "raise" for _, ends, _ in self.exits):
            return ()
        return tuple(self.exits)

    def _leave(self, ends: Exit, start: int, end: int, test: Expr | None = None) -> None:
        """Note a way out. What stands in a loop, a try, a lambda or a branch of the preprocessor may not be taken."""
        path = (*self.path, test) if test is not None else tuple(self.path)
        around = self.directives.path(self.scope.open)
        if self.doubts > 0 or len(path) > MAX_EXIT_PATH:
            path = (unknown("here"),)
        elif ends == "raise" and self.directives.path(start) != around:
            path = (*path, unknown(COMPILED))
        elif ends == "raise":
            how = "skip" if SKIPS.match(self.text, start, end) else "throw"
            self.returns.append((path[-MAX_PATH:], Expr("raise", (how,))))
        self.exits.append((path, ends, self.code.span(start, end)))

    def _predicate(self, function: Function) -> None:
        """A helper with one answer is a gate itself; that it says no early to what is no such device is none."""
        answers = [one for one in self.returns if one[1] != const(False, one[1].at)]
        if len(answers) == 1 and self.name in self.found.names:
            path, value = answers[0]
            if value.op in ("cmp", "and", "or", "not") and value.at is not None:
                self.path = list(path)
                sides = ways.answer(True), ways.answer(False)
                self._note("predicate", value, value.at, *sides, self.scope.name.removesuffix("()"))

    # -- expressions

    def lower(self, start: int, end: int) -> Expr:
        node = self._read(start, end)
        for inner in walk(node):
            if inner.op == "if" and inner.at is not None:
                test, then, otherwise = inner.args
                if self._asks(test):
                    sides = ways.arm(self.code, self.text, then), ways.arm(self.code, self.text, otherwise)
                    self._note("expression", test, test.at or inner.at, *sides, self.target)
        return node

    def _read(self, start: int, end: int) -> Expr:
        node = self.lower_quietly(start, end)
        return self._with_rows(node) if self.found.rows or containers.may_be_asked(self.text, start, end) else node

    def _with_rows(self, node: Expr) -> Expr:
        """With what is kept in a container in the place of a look into it."""
        if node.op in ("const", "param", "name", "var"):
            return node
        node = containers.asked(node, self._followed)
        self._looked_up(node)
        if node.op == "index" and node.args[0].op in ("param", "name", "var"):
            kept = self.found.rows.get(node.args[0].args[1] if node.args[0].op != "name" else node.args[0].args[0])
            return kept._replace(at=node.at) if kept is not None else node
        return node._replace(args=mapped(node.args, self._with_rows))

    def _looked_up(self, node: Expr) -> None:
        """`table.at(sm)`: the keys of the table are the chips that do not end in an error."""
        test = containers.looked_up(node)
        owner = test.args[1][1] if test is not None else None
        if test is None or owner is None or node.at is None or self.tries:
            return  # in a `try` somebody goes on without the row
        known = (owner.op, owner.args[0]) in self.found.containers
        if not known and (owner.op != "name" or owner.args[0] in self.found.names):
            return  # of what another file has the world knows whether it is a table
        self._note("lookup", test, node.at, Side(ends="fall", empty=True), Side(ends="raise"), str(owner.args[-1]))

    def _asks(self, test: Expr) -> bool:
        """Whether a test reads the device, or compares what may carry it with a number that a chip has."""
        if test.op == "completes" or any(names_a_chip(node) for node in walk(test) if node.op == "call"):
            return True
        return self.reads.reads(test) or any(self._is_open(node) for node in walk(test) if node.op == "cmp")

    def _is_open(self, test: Expr) -> bool:
        operands = [item for side in test.args[1] for item in (side.args[0] if side.op == "tuple" else (side,))]
        carrying = [node for node in map(self._followed, operands) if self._may_carry(node)]
        numbers = NUMBERS | MAJORS if any(node.op == "index" for node in carrying) else NUMBERS
        return bool(carrying) and any(
            (item.op == "const" and item.args[0] in numbers) or (item.op == "name" and _CONSTANT.match(item.args[0]))
            for item in operands
        )

    def _followed(self, node: Expr) -> Expr:
        """What a name was given, through a chain of names."""
        for _ in range(MAX_STEPS):
            if node.op != "var":
                break
            node = self.found.slots[node.args[0]]
        return node

    def _may_carry(self, node: Expr) -> bool:
        if node.op == "param":
            return self._is_method() or any(spoken(param) == node.args[1] for param in self.params)
        return node.op in ("call", "attr", "index")

    def _resolve(self, name: str, at: Span) -> Expr:
        known = self.env.get(name)
        if known is not None:
            return known._replace(at=at)
        if name.partition("::")[0] in self.tags:
            return unknown(TAG, at)
        tag = _TAG.match(name)
        if tag:
            asked = Expr("param", (self.scope.qualname, "arch_major"), at)
            return Expr("cmp", ("==", (asked, const(int(tag["number"]) // 10, at))), at)
        if name in self.params:
            return Expr("param", (self.scope.qualname, spoken(name)), at)
        short = last(name.partition("<")[0])
        if _MEMBER.fullmatch(name) and spoken(name) in self.found.sites.fields and self._is_method():
            return Expr("param", (self.scope.qualname, spoken(name)), at)
        key = instances.asked(name, at, self._resolve) if self._is_called(at) else None
        if short in self.found.carriers or is_question(short):
            self.reads.know(short)
        if key is not None and not is_question(short):
            return Expr("static", (*key, short), at)
        if short in self.found.names or is_question(short):
            return Expr("name", (short,), at)
        if self._is_called(at) or short.isupper() or _CONSTANT.match(short):
            return Expr("name", (short,), at)
        return Expr("param", (self.scope.qualname, spoken(short)), at)

    def _is_called(self, at: Span) -> bool:
        end = self.code.offset(*at[2:])
        return self.text.startswith("(", end)

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
        self._lambdas(statement)
        if statement.test is not None and kind in ("expression", "return", "throw"):
            inner = tuple((body[0].start, body[-1].end) for body in statement.inner if body)
            self._conditions(*statement.test, inner, self.name if kind == "return" else "")
        if kind == "if":
            self._if(statement, rest)
        elif kind == "switch":
            self._switch(statement, rest)
        elif kind == "loop" and self.text.startswith("do", statement.start):
            self.block(statement.body)
        elif kind == "loop" and statement.test is not None:
            self._loop(*statement.test, statement.body)
        elif kind == "loop":
            self._perhaps(statement.body)
        elif kind == "block" and self.text.startswith("try", statement.start):
            self.tries += 1
            self._perhaps(statement.body)
            self.tries -= 1
        elif kind == "block":
            self.block(statement.body)
        elif kind == "return" and statement.test:
            start, end = statement.test
            if self.text[start:end].strip():
                self.returns.append((tuple(self.path[-MAX_PATH:]), self._value(start, end)))
            place = statement.start, statement.end
            self._leave("raise" if fails(self.text, *place) else "return", *place)
        elif kind == "throw":
            self._leave("raise", statement.start, statement.end)
        elif kind == "expression" and statement.test:
            self.doubts += bool(statement.inner)
            self.following = rest
            self._expression(*statement.test, statement.inner)
            self.doubts -= bool(statement.inner)

    def _lambdas(self, statement: Statement) -> None:
        """Bodies inside an expression, read first: what they return is theirs, unless one is called where it stands."""
        for inner in statement.inner:
            mine, self.returns, exits, self.exits = self.returns, [], self.exits, []
            brace = self.text.rfind("{", statement.start, inner[0].start + 1) if inner else -1
            is_called = brace >= 0 and self._after(brace, statement.end).startswith("(")
            (self.block if is_called else self._perhaps)(inner)
            theirs, self.returns, inside, self.exits = self.returns, mine, self.exits, exits
            if is_called:
                is_all = statement.kind == "return" and _LAMBDA.match(self.text, *(statement.test or (0, 0)))
                self.exits += [one for one in inside if one[1] == "raise" or is_all]
            if theirs and inner:
                name = f"{self.scope.qualname}@{inner[0].start}"
                if any(self.reads.reads(value) for _, value in theirs):
                    self.reads.know(last(name.rpartition(".")[2]))
                self._function(name, theirs)
                self.lambdas[brace] = Expr("function", (name,), self.code.span(inner[0].start, inner[-1].end))

    def _after(self, brace: int, end: int) -> str:
        """What follows a body up to an offset."""
        close = matching(self.text, brace, end - brace)
        return self.text[close + 1 : end].lstrip() if close >= 0 else ""

    def _value(self, start: int, end: int) -> Expr:
        """As `lower`; a lambda that is called where it stands gives what it returns."""
        if _NEW_PROPERTIES.match(self.text, start, end):
            return Expr("source", ("properties",), self.code.span(start, end))
        found = _LAMBDA.match(self.text, start, end)
        if found is not None:
            brace = self.text.find("{", found.end() - 1, end)
            made = self.lambdas.get(brace)
            if made is not None and matching(self.text, brace, end - brace) >= 0:
                return Expr("call", (made, ()), made.at) if self._after(brace, end).startswith("(") else made
        return self.lower(start, end)

    def _loop(self, start: int, end: int, body: tuple[Statement, ...]) -> None:
        """`while (test)`, `for (first; test; next)`."""
        rows = gone_through(self.text, (start, end), (body[0].start, body[-1].end)) if body and self.row is None else ()
        if rows:
            if f"{rows[0].table}[" not in self.text[start:end] or not self._searched(rows, body):
                self._rows(rows, body)
            return
        if self.text.count(";", start, end) == 2:
            start, end = self.text.find(";", start, end) + 1, self.text.rfind(";", start, end)
        test = self.lower(start, end)
        if test.op in CONDITIONS and test.at is not None and self._asks(test):
            self._note("condition", test, test.at, self._side(body), Side(ends="fall", empty=True, rest=True))
        self._perhaps(body)

    def _searched(self, rows: tuple[NamedRow, ...], body: tuple[Statement, ...]) -> bool:
        """`while (table[i].key != -1)`: whether what is asked in the loop is one of the keys is one question."""
        inside = body[0].body if len(body) == 1 and body[0].kind == "block" else body
        found = next((one for one in inside if one.kind == "if"), None)
        if found is None or found.test is None:
            return False
        tests = list[Expr]()
        for self.row in rows:
            tests.append(self.lower_quietly(*found.test))
        self.row = None
        pairs = [one.args[1] for one in tests if one.op == "cmp" and one.args[0] == "=="]
        keys = tuple(side for pair in pairs for side in pair if side.op == "const")
        asked = next((side for pair in pairs for side in pair if side.op != "const"), None)
        if asked is None or len(keys) < 2 or not self._asks(asked):
            return False
        test = Expr("cmp", ("in", (asked, Expr("tuple", (keys,), asked.at))), asked.at)
        no = Side(ends="fall", empty=True, rest=True)
        self._note("table", test, asked.at or keys[0].at, self._side(found.body), no, rows[0].table)
        return True

    def _rows(self, rows: tuple[NamedRow, ...], body: tuple[Statement, ...]) -> None:
        """A loop over a table that is written down, row by row: behind one that was taken the loop is over."""
        depth, before = len(self.path), dict(self.env)
        if len(body) == 1 and body[0].kind == "block":
            body = body[0].body
        for self.row in rows:
            self.env = dict(before)
            here = len(self.path)
            self.doubts += 1
            for index, statement in enumerate(body):
                self._statement(statement, body[index + 1 : index + 1 + MAX_REST])
            self.doubts -= 1
            taken = [self.path[here:]] if body and body[-1].kind in _ENDS_LOOP else []
            taken += [[self.lower_quietly(*one.test)] for one in body if one.test is not None and _ends_loop(one)]
            self.path[here:] = [negate(Expr("and", (tuple(tests),))) for tests in taken if tests]
        self.row = None
        self.env = before
        del self.path[depth:]

    def _of_row(self, node: Expr) -> Expr:
        """An expression with what the row has in the place of its fields; it stands where that is written."""
        if self.row is None:
            return node
        at = self.row.fields.get(node.args[-1]) if self._is_field(node, self.row) else None
        if at is not None:
            return lower(self.code, *at, self._resolve)
        inner = mapped(node.args, self._of_row)
        if inner == node.args:
            return node
        changed = Expr(node.op, inner, node.at)
        return changed._replace(at=self._place(changed, node.at))

    def _is_field(self, node: Expr, row: NamedRow) -> bool:
        if node.op == "param":
            return not row.name and node.args[1] in row.fields
        owner = self._followed(node.args[0]) if node.op == "attr" else None
        if owner is None or (owner.op == "param" and row.name):
            return owner is not None and owner.args[1] == spoken(row.name)
        return owner.op == "index" and spoken(str(owner.args[0].args[-1])) == spoken(row.table)

    def _with_row(self, side: Side, row: NamedRow) -> Side:
        """A side as if it stood in the row: with the functions that are written there, where it goes to its fields."""
        fields = [name for name in row.fields if any(_last_word(use.name) == name for use in side.uses)]
        uses = tuple(self._uses_of_row(side, row, fields))
        at = uses[0].at.through(uses[-1].at) if uses else side.at if not side.uses else None
        return replace(side, at=at, choices=(), uses=uses)

    def _uses_of_row(self, side: Side, row: NamedRow, fields: list[str]) -> Iterator[Use]:
        for name in fields:
            start, end = row.fields[name]
            sure_one = any(use.sure for use in side.uses if _last_word(use.name) == name)
            opening = self.text.find("{", start, end) if _LAMBDA.match(self.text, start, end) else -1
            if opening >= 0 and sure_one:
                body = statements(self.text, opening + 1, end - 1)
                yield from ways.uses(self.code, self.text, opening + 1, end - 1, sorted(sure(self.text, body)))
            elif (function := _FUNCTION.fullmatch(self.text[start:end])) is not None:
                at = self.code.span(start + function.start("name"), start + function.end("name"))
                yield Use(function["name"].replace("::", "."), "call", at, sure=sure_one)

    def _place(self, test: Expr, at: Span | None) -> Span | None:
        """Where a test of a row is written: what it reads there."""
        written = {self.code.span(*one) for one in self.row.fields.values()} if self.row is not None else ()
        return next((node.at for node in walk(test) if node.at in written and node.at is not None), at)

    def _perhaps(self, body: tuple[Statement, ...]) -> None:
        """Statements that may run often or not at all."""
        self.doubts += 1
        self.block(body)
        self.doubts -= 1

    def _if(self, statement: Statement, rest: tuple[Statement, ...], chain: int = 0, position: int = 0) -> None:
        assert statement.test is not None
        self._outs(*statement.test)
        asked = self._begun(*statement.test)
        test = self.lower(*asked)
        links = False
        if self._asks(test):
            if self.linked is not None and self.linked[0] is statement:
                _, chain, position = self.linked
            if not chain:
                self.chain += 1
                chain = self.chain
            yes = self._side(statement.body)
            no = self._side(statement.orelse) if statement.orelse else self._rest(yes, rest, statement.start)
            self._note("condition", test, self.code.span(*asked), yes, no, "", (chain, position))
            given = (
                yes.value is not None and yes.value.op != "unknown" and yes.value.args[:1] not in ((False,), (None,))
            )
            links = yes.ends in LEAVING and (given or bool(yes.uses))  # one way of several, and no check
        before = dict(self.env)
        ends = leaves(statement.body)
        self.path.append(unknown("first") if _asks_nobody_yet(test) and not ends else test)
        self.block(statement.body)
        after = self.env
        self.env = dict(before)
        self.path[-1] = negate(test)
        if len(statement.orelse) == 1 and statement.orelse[0].kind == "if":
            self._if(statement.orelse[0], rest, chain, position + 1)
        else:
            self.block(statement.orelse)
        if not links or not statement.orelse:
            self.linked = (rest[0], chain, position + 1) if links and rest else None
        if not ends:
            self.path.pop()
            if leaves(statement.orelse):
                self.path.append(test)
            self._join(test, after)

    def _join(self, test: Expr, after: dict[str, Expr]) -> None:
        for name in {**after, **self.env}:
            yes, no = after.get(name), self.env.get(name)
            if yes != no and len(self.found.slots) < 5000:
                sides = yes or self._unset(name), no or self._unset(name)
                self.env[name] = self._slot(name, Expr("if", (test, *sides)))

    def _unset(self, name: str) -> Expr:
        """What a name is where nothing was assigned: a member has what others gave it."""
        is_member = self._is_method() or name in self.params
        return Expr("param", (self.scope.qualname, spoken(name))) if is_member else unknown(name)

    def _is_method(self) -> bool:
        return bool(self.scope.parent) or "::" in self.scope.name

    def _begun(self, start: int, end: int) -> tuple[int, int]:
        """`if (auto [a, b] = f(); a == b)`: where the test stands, once what is written in front of it was read."""
        cut = self.text.rfind(";", start, end)
        if cut < 0 or self.text.find("{", start, cut) >= 0:
            return start, end
        self._expression(start, cut)
        return end - len(self.text[cut + 1 : end].lstrip()), end

    def _switch(self, statement: Statement, rest: tuple[Statement, ...]) -> None:
        """`switch (x)` as a chain of membership tests; a case without a break runs on, no case goes on behind it."""
        assert statement.test is not None
        asked = self.lower(*self._begun(*statement.test))
        cases = _cases(statement)
        labelled = tuple(self.lower(*label) for labels, _ in cases for label in labels if label is not None)
        reads = self._asks(Expr("cmp", ("in", (asked, Expr("tuple", (labelled,))))))
        if reads:
            self.chain += 1
        for position, (labels, body) in enumerate(cases):
            values = tuple(self.lower(*label) for label in labels if label is not None)
            test = Expr("cmp", ("in", (asked, Expr("tuple", (values,), values[0].at if values else None))), asked.at)
            if reads and values and values[0].at and values[-1].at:
                at = values[0].at.through(values[-1].at)
                behind = tuple(entry for _, other in cases[position + 1 : position + 1 + MAX_REST] for entry in other)
                default = next((other for names, other in cases if None in names), None)
                yes = self._side(body)
                no = self._side(default) if default is not None else self._rest(yes, rest or behind, statement.start)
                before = labelled[: labelled.index(values[0])]
                self.path.append(Expr("cmp", ("not in", (asked, Expr("tuple", (before,))))))
                self._note("condition", test._replace(at=at), at, yes, no, "", (self.chain, position))
                self.path.pop()
            others_of = Expr("cmp", ("not in", (asked, Expr("tuple", (labelled,)))))
            self.path.append(test if values else others_of)
            self.block(body)
            self.path.pop()

    def _expression(self, start: int, end: int, inner: tuple[tuple[Statement, ...], ...] = ()) -> None:
        check = _CHECK.search(self.text, start, end) if _CHECKS.search(self.text, start, end) else None
        if check is not None and any(body and body[0].start <= check.start() < body[-1].end for body in inner):
            check = None  # a lambda's own, and read with it
        if self._helper(start, end):
            return
        if check is not None:
            self._check(check, end)
        elif fails(self.text, start, end):
            self._leave("raise", start, end)
        self._lends(start, end)
        self._outs(start, end)
        for name, (first, last) in given.declared(self.text, start, end):
            self.env[name] = Expr("source", ("properties",), self.code.span(first, last))
        if check is None:
            self._assignment(start, end)
            if self.text.find(".at(", start, end) >= 0:
                self.lower(start, end)
        for name, _, value in containers.written(self.code, self.text, start, end, self._resolve):
            self.env[name] = self._slot(name, value)
            if value.op != "tuple":
                self.found.containers.add(("var", self.env[name].args[0]))

    def _outs(self, start: int, end: int) -> None:
        """What a query of the device writes to its output argument."""
        asked = queries.attributes()
        for out in _OUT.finditer(self.text, start, end):
            call = _CALLED_BEFORE.search(self.text, max(start, out.start() - MAX_NAME), out.start())
            kind = call is not None and (asked.get(out["what"]) or asked.get(call["call"]))
            if call is not None and kind:
                self.env[out["name"]] = Expr("source", (kind,), self.code.span(call.start(), out.end()))

    def _lends(self, start: int, end: int) -> None:
        """What calls leave in what they are lent, and what they hand over to functions of the file."""
        if not self.found.sites.wanted and not self.found.carriers and self.text.find("&", start, end) < 0:
            return
        for call in _LENDS.finditer(self.text, start, end):
            name = last(call["call"])
            wanted = name in self.found.sites.wanted
            if not wanted and name not in self.found.carriers and self.text.find("&", call.end(), end) < 0:
                continue
            close = matching(self.text, call.end() - 1, min(end - call.end() + 1, MAX_CALL))
            parts = between_commas(self.text, call.end(), close) if close >= 0 else []
            if wanted and parts:
                self.found.sites.calls[call.start()] = tuple(self.lower_quietly(*part) for part in parts)
            for position, (begin, stop) in enumerate(parts):
                self._lend(f"{name}&{position}", self.text[begin:stop].strip(), self.code.span(begin, stop))

    def _lend(self, key: str, word: str, at: Span) -> None:
        lent = word.removeprefix("&").strip()
        if not lent.isidentifier() or (word == lent and key not in self.found.names):
            return
        kind = queries.attributes().get(key)
        value = Expr("source", (kind,), at) if kind else Expr("call", (Expr("name", (key,)), ()), at)
        if key in self.found.names:
            self.reads.know(key)
        self.env[lent] = self._slot(lent, value)

    def _helper(self, start: int, end: int) -> bool:
        """`check_arch(0, 120);`: a call that may end in an error, and is handed what a chip is called."""
        if _CALL.match(self.text, start, end) is None or _TELLS.search(self.text, start, end) is None:
            return False
        call = self.lower(start, end)
        if call.op != "call" or str(call.args[0].args[-1]).endswith(tuple(_COMPARES)) or not names_a_chip(call):
            return False
        at, name = self.code.span(start, end), str(call.args[0].args[-1])
        is_test = self.scope.test or self.name in frameworks.names("sets_up")
        other = Side(ends="skip" if is_test else "raise", at=at)
        sides = self._rest(other, self.following, start), other
        self._note("helper-call", Expr("completes", (call,), at), at, *sides, name)
        return True

    def _assignment(self, start: int, end: int) -> None:
        binding = _BINDING.match(self.text, start, end)
        if binding is not None:
            value = self._slot("", self._value(binding.end(), end))
            for position, name in enumerate((binding["auto"] or binding["tie"]).split(",")):
                self.env[name.strip()] = self._slot(name.strip(), Expr("index", (value, const(position))))
            return
        row = _ROW.match(self.text, start, end)
        if row is not None:
            value = self._value(row.end(), end)
            if self.reads.reads(value):
                self.found.rows[spoken(row["name"])] = self._slot(row["name"], value)
            return
        assign = _ASSIGN.match(self.text, start, end) or _TARGET.match(self.text, start, end)
        if assign is None and self._compound(start, end):
            return
        if assign is None:
            owned = _FIELD.match(self.text, start, end)
            if owned is not None:
                self._give(owned["name"], self._value(owned.end(), end))
            return
        stop = end - 1 if self.text[assign.end() - 1] == "{" else end
        name = assign["name"]
        self.target = name
        value = self._value(assign.end(), stop)
        self.target = ""
        if assign.start("name") == start and name not in self.env and name not in self.params:
            self._give(name, value)
        if value.op in ("cmp", "and", "or", "not") and value.at is not None and self._asks(value):
            self._note("flag", value, value.at, ways.answer(True), ways.answer(False), name)
        self.env[name] = self._slot(name, value)

    def _give(self, name: str, value: Expr) -> None:
        """A field gets a value."""
        self.found.sites.fields[spoken(name)].append(value)
        self._decided(name, value)

    def _decided(self, name: str, value: Expr) -> None:
        """Who asks a member that the device decides asks the device, whatever it is called."""
        if _MEMBER.fullmatch(name) and self._is_method() and self.reads.reads(value):
            self.reads.know(spoken(name))
            self.found.carriers.add(name)

    def _compound(self, start: int, end: int) -> bool:
        """`ok &= test;`, `option += "a";`: what a name was, and more."""
        found = _COMPOUND.match(self.text, start, end)
        before = self.env.get(found["name"]) if found is not None else None
        if found is None or before is None:
            return False
        at = self.code.span(start, end)
        value = joined(_LOGICAL.get(found["op"], found["op"]), before, self._value(found.end(), end), at)
        self.env[found["name"]] = self._slot(found["name"], value)
        return True

    def _check(self, check: re.Match[str], end: int) -> None:
        """`CHECK(a >= b, "text")`, `CHECK_GE(a, b)`, `assert(a >= b && "text")`: an assertion with its message."""
        close = matching(self.text, check.end() - 1, end - check.end() + 1)
        if close < 0:
            return
        parts = between_commas(self.text, check.end(), close)
        op = next((sign for mark, sign in _COMPARES.items() if check["name"].endswith(mark)), "")
        if op and len(parts) >= 2:
            at = self.code.span(parts[0][0], parts[1][1])
            test = Expr("cmp", (op, (self.lower(*parts[0]), self.lower(*parts[1]))), at)
        else:
            test = self.lower(*parts[0])
        told = parts[0][1]
        if test.op == "and" and (asked := [one for one in test.args[0] if not is_text(one)]) != list(test.args[0]):
            test, told = asked[0] if len(asked) == 1 else Expr("and", (tuple(asked),), test.at), parts[0][0]
        self._leave("raise", check.start(), end, negate(test))
        if test.op not in ("cmp", "and", "or", "not", "call", "var") or not self._asks(test) or test.at is None:
            return
        said = Side(ends="raise", at=test.at, texts=ways.texts(self.code, told, end))
        self._note("assert", test, test.at, self._rest(said, self.following, check.start()), said)

    # -- sides and gates

    def _side(self, body: tuple[Statement, ...]) -> Side:
        return ways.side(self.code, self.text, body, self.lower_quietly)

    def _rest(self, yes: Side, rest: tuple[Statement, ...], start: int) -> Side:
        """What follows an `if` at an offset without an else, where its branch leaves."""
        if yes.ends == "fall" or not rest:
            return Side(ends="fall", empty=True, rest=True)
        found = self._side(self._compiled_with(start, rest))
        return replace(found, empty=False, rest=True)

    def _compiled_with(self, start: int, rest: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """The statements that are there where an offset is: not those of the `#else` to its `#if`."""
        missing = {negate(test) for test in self.directives.path(start)}
        if not missing:
            return rest
        return tuple(one for one in rest if missing.isdisjoint(self.directives.path(one.start)))

    def lower_quietly(self, start: int, end: int) -> Expr:
        found = lower(self.code, start, end, self._resolve)
        return self._of_row(found) if self.row is not None else found

    def _conditions(self, start: int, end: int, aside: tuple[tuple[int, int], ...], name: str) -> None:
        """A comparison that reads the device is a gate wherever it stands; what statements ask is theirs."""
        for test in conditions(self.text, start, end, aside, self._read):
            if test.at is not None and self._asks(test):
                kept = kept_as(self.text, start, self.code.offset(*test.at[:2]))
                yes, no = ways.answer(True), ways.answer(False)
                self.elsewhere.append(self._gate("flag", test, test.at, yes, no, kept or name))

    def _keep_others(self) -> None:
        """Those of them that share nothing with what statements ask."""
        known = sorted(self.noted)
        starts = [at[:2] for at in known]
        ends = list(accumulate((at[2:] for at in known), max))
        for gate in self.elsewhere:
            before = bisect_left(starts, gate.at[2:])
            if gate.at not in self.noted and not (before and ends[before - 1] > gate.at[:2]):
                self.noted.add(gate.at)
                self.found.gates.append(gate)

    def _note(
        self, kind: GateKind, test: Expr, at: Span, yes: Side, no: Side, name: str = "", chain: tuple[int, int] = (0, 0)
    ) -> None:
        if self.row is not None and test.at is not None and self.code.span(*self.row.at).holds(test.at):
            at, yes, no = test.at, self._with_row(yes, self.row), self._with_row(no, self.row)
            if yes.ends == "continue":  # on to the next row, as who does not take a branch for this one
                test, yes, no = negate(test), replace(no, rest=False), Side(ends="fall", empty=True, rest=True)
        if at in self.noted or not self._asks(test):
            return
        self.noted.add(at)
        self.found.gates.append(self._gate(kind, test, at, yes, no, name, chain))

    def _gate(
        self, kind: GateKind, test: Expr, at: Span, yes: Side, no: Side, name: str = "", chain: tuple[int, int] = (0, 0)
    ) -> Gate:
        start, end = self.code.offset(at[0], at[1]), self.code.offset(at[2], at[3])
        return Gate(
            kind=kind,
            test=test,
            at=at,
            qualname=self.scope.qualname.partition("#")[0].removesuffix("()").removesuffix("."),
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


def _says_nothing(value: Expr) -> bool:
    """-1 and 0, and what was looked up."""
    if value.op in ("index", "attr", "unknown"):
        return True
    number = value.args[0] if value.op == "const" else None
    return value.op == "neg" or (isinstance(number, int) and not isinstance(number, bool) and number <= 0)


def _asks_nobody_yet(test: Expr) -> bool:
    """`cached < 0`: no chip has a number like that, and who gets in there keeps what he asks for."""
    if test.op != "cmp" or test.args[0] not in ("<", "<=", "=="):
        return False
    bound = test.args[1][1]
    return bool(bound.op == "neg" or (test.args[0] == "<" and bound == const(0, bound.at)))


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


def _last_word(name: str) -> str:
    return name.rpartition(".")[2]


def _ends_loop(statement: Statement) -> bool:
    """Whether a branch is the last that a loop does."""
    body = statement.body
    while len(body) == 1 and body[0].kind == "block":
        body = body[0].body
    return statement.kind == "if" and bool(body) and body[-1].kind in _ENDS_LOOP
