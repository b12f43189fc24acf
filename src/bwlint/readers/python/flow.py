"""Statements of one module: reaching definitions, path conditions, functions as expressions, and gates."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from bwlint.chips.operations import is_told_by_text
from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.model.details import Detail, MisreadDigits, ToldParameter
from bwlint.model.expr import NONE, Expr, Span, const, negate, unknown, walk, walk_through
from bwlint.model.facts import HANDLER, MAX_RETURNS, Class, Function, HandedOn, Operation, Path, Side, Use
from bwlint.model.kinds import REFUSING, GateKind, OperationKind
from bwlint.readers.nodes import below
from bwlint.readers.python import characters, choices, definitions, installed, lists, patterns, sides
from bwlint.readers.python.carriers import Carriers, may_call
from bwlint.readers.python.choices import numbers
from bwlint.readers.python.gates import Gates, Where
from bwlint.readers.python.given import arguments_of, constants
from bwlint.readers.python.lower import NOBODY, SAID, Listener, Lowerer
from bwlint.readers.python.sides import SKIPS, dotted, marks_of_all
from bwlint.readers.python.sizes import Sizes
from bwlint.readers.python.vocabulary import arch_text
from bwlint.readers.spans import span

_RAISES_IF = re.compile(r"(?:^|_)(?:error|raise|fail|abort|reject)s?_if$")
_RAISES_UNLESS = re.compile(r"(?:^|_)(?:error|raise|fail|abort|reject)s?_(?:unless|if_not)$|^torch\._check(?:_\w+)?$")
_SUPPRESSES = re.compile(r"(?:contextlib\.)?suppress\(.*\b(?:KeyError|LookupError|Exception)\b")
_CATCHES = re.compile(
    r"\b(?:KeyError|IndexError|StopIteration|LookupError|TypeError|AttributeError|Exception|BaseException)\b"
)
_QUESTION = re.compile(r"capability_geq|^(?:is|has)_device_capability|^is_family_of$|at_least|_geq$")
MAX_HANDED_ON = 100
MAX_TESTS = 8
"""Tests above an assignment to an attribute that are kept."""
MAX_ROWS = 12
"""Rows of a table over which a loop is looked at row by row."""
MAX_MARKED = 40
"""Tests that are looked at for what a mark of the file keeps from them."""
_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?::[A-Za-z_]\w*|(?:\.[A-Za-z_]\w*){2})")
_HOLDING = ast.Call | ast.List | ast.Tuple | ast.Dict | ast.BinOp
"""What may hold records, and lists that are handed on."""
LOOP_OWNER = "<loop>"
"""Who has the names that a loop binds."""
_MUTATORS = frozenset({*("append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort")})
_REORDERS = frozenset({"sorted", "set", "frozenset", "list", "tuple", "reversed"})
LOOP = "loop"
"""How the unknown test begins that stands for whether a loop runs."""


_BOUNDS = {"<": ("<=", ">="), ">=": ("<=", ">="), ">": (">=", "<="), "<=": (">=", "<=")}
"""How a device that is compared with a bound, which stands left or right, has to be ordered to it: to be let in."""
_MAPPINGS = frozenset({"var", "import", "dict", "name", "attr"})
"""What may stand for a mapping that the file or another one writes down."""


MOST_BEHIND = 400
"""Statements of a block that are looked at from one of them."""


def _mapping_of(node: ast.expr) -> ast.expr:
    """The mapping of `mapping[key]` or `mapping.get(key)`."""
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.value if isinstance(inner, (ast.Subscript, ast.Attribute)) else node


@dataclass(frozen=True, slots=True)
class _Question:
    """A comparison that reads the device, wherever it stands, and what its answer is kept or handed on as."""

    node: ast.expr
    test: Expr
    role: str
    where: Where

    @property
    def at(self) -> Span:
        return span(self.node)


@dataclass(frozen=True, slots=True)
class _KernelRecord:
    """A call that names what is for the chips of a test."""

    node: ast.Call
    test: Expr
    uses: tuple[Use, ...]
    where: Where
    key: str


class Flow:
    """Walks a module once. What it finds lies in `names`, `functions`, `classes`, `gates` and `slots`."""

    def __init__(
        self,
        tree: ast.Module,
        lines: Sequence[str],
        package: str,
        hits: frozenset[int],
        carried: Carriers,
        own: frozenset[str],
        importable: installed.Importable,
    ) -> None:
        self.own = own
        self.hits = hits
        self._hit_lines = sorted(hits)
        self.slots: list[Expr] = []
        self.lowerer = Lowerer(self.slots)
        self.lowerer.told = Listener(self._conditional, self._lookup, self._calls, self._as_text, self._question)
        self._carried_parameters = carried.parameters | carried.picked_parameters
        self._questions: list[_Question] = []
        self._records: list[_KernelRecord] = []
        self.bounded: list[tuple[Where, list[tuple[str, ast.expr]]]] = []
        """Classes with attributes that may be the oldest or the newest capability that they are for."""
        self.passed: dict[tuple[str, str], tuple[Expr, ...]] = {}
        self.handed_on: list[HandedOn] = []
        self._takers = carried.takers
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.gates = Gates(lines, self.slots, carried)
        self.gates.given = self._is_given_a_picked
        self.sizes = Sizes(self.gates)
        self.noted: list[Operation] = []
        """What is done with a value of the device: its text taken apart, what it picks called."""
        self.stars: list[str] = []
        self.imports = sides.Imports({}, package, numbers(tree), constants(tree.body))
        self._shared: dict[str, list[Expr]] = {name: [] for name in sorted(_written_globals(lines))}
        for name, target in installed.lent(tree, self.imports) if self._shared else ():
            self.imports.bind(name, target)
        self.returns: list[tuple[tuple[Expr, ...], Expr]] = []
        self.path: list[Expr] = []
        self.qualname = "<module>"
        self.body: Sequence[ast.stmt] = tree.body
        """The statements of the function that is walked."""
        self._target = ""
        self._together: dict[int, frozenset[str]] = {}
        self.classes_open: list[str] = []
        self.attributes: dict[tuple[str, str], list[tuple[Path, Expr]]] = defaultdict(list)
        self._chain = 0
        self._linked: tuple[ast.stmt, int, int] | None = None
        """The test that goes on with a chain, as its arms so far all leave, the chain and its place in it."""
        self._loop_over: tuple[Expr, Sequence[str], int] | None = None
        """What the loop around here runs over, the names that it binds, and how many tests stand above its body."""
        self._caught = self._trying = 0
        """How many `try` around here catch an error of a lookup, and how many there are."""
        self._tried: list[ast.stmt] = []
        """The imports and attempts of the block in front of the statement that is walked."""
        self._filled = _filled_inside(lines)
        self.lowerer.late = frozenset(self._shared)
        self._globals: set[tuple[str, str]] = set()
        self._tests = list(_with_marks(tree.body))
        self._body = tree.body
        self._importable = importable
        self.block(tree.body, tree.body)
        self._judge_records()
        self._judge_limits()
        self._answer_questions()
        self.names = self.lowerer.scope.env
        self.names.update({name: _any_of(name, values) for name, values in self._shared.items() if values})

    def let_go(self) -> None:
        """Forget everything: what walks a file and what lowers it know each other, and no collector would find out."""
        vars(self).clear()

    def add(
        self,
        kind: GateKind,
        test: Expr,
        node: ast.AST,
        yes: Side,
        no: Side,
        name: str = "",
        chain: tuple[int, int] = (0, 0),
    ) -> None:
        where = Where(self.qualname, (*self.path, *self.lowerer.asked))
        self.gates.add(kind, test, node, (yes, no), where, name, chain)

    def hit(self, node: ast.AST) -> bool:
        """Whether a device word stands in a definition, or in a class of the file of which it is one."""
        known = self.lowerer.scope.env
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            if isinstance(base, ast.Name) and base.id in known and known[base.id].op == "class":
                return True
        first = min([d.lineno for d in getattr(node, "decorator_list", [])] + [node.lineno])  # type: ignore[attr-defined]
        after = bisect_left(self._hit_lines, first)
        return after < len(self._hit_lines) and self._hit_lines[after] <= node.end_lineno  # type: ignore[attr-defined]

    def _conditional(self, node: ast.IfExp, test: Expr, then: Expr, otherwise: Expr) -> None:
        if self.gates.reads(test):
            yes = sides.expression(node.body, self.imports, then, self._target)
            no = sides.expression(node.orelse, self.imports, otherwise, self._target)
            line = node.end_lineno or 0
            yes, no = (self._with_chosen(side, choices.of_value(self._target, side.value), line) for side in (yes, no))
            self.add("expression", test, node.test, yes, no)

    def _question(self, node: ast.expr, found: Expr) -> None:
        if self.lowerer.role != SAID and found.op != "neg" and self.gates.reads(found):
            role = self.lowerer.role if self.lowerer.role is not None else self._target.rpartition(".")[2]
            self._questions.append(_Question(node, found, role, Where(self.qualname, tuple(self.path))))

    def _answer_questions(self) -> None:
        """The questions that no statement has made a gate of: flags, by the names that keep or take them."""
        places: list[tuple[Span, _Question | None]] = [(gate.at, None) for gate in self.gates.found]
        places += ((one.at, one) for one in self._questions)
        around: list[Span] = []
        for at, one in sorted(places, key=lambda place: (place[0][:2], [-end for end in place[0][2:]], bool(place[1]))):
            while around and not around[-1].holds(at):
                around.pop()
            if one is not None and not around:
                self._answer(one)
            around.append(at)

    def _answer(self, one: _Question) -> None:
        kind: GateKind = "flag" if one.role else "expression"
        yes, no = (Side(ends="fall", value=None if one.role else const(answer)) for answer in (True, False))
        self.gates.add(kind, one.test, one.node, (yes, no), one.where, one.role)

    def _lookup(self, node: ast.expr, mapping: Expr, key: Expr, strict: bool) -> None:
        """A mapping that is asked for the device: the keys that it has are the chips that find something."""
        if mapping.op == "comp" and key.op == "const" and key.args[0] == 0:
            self._asks_rows(node, mapping)
        if mapping.op not in _MAPPINGS or not self.gates.reads(key):
            return
        keys = Expr("call", (Expr("attr", (mapping, "keys")), ()))
        test = Expr("cmp", ("in", (key, keys)), span(node))
        kept = isinstance(node, ast.Call) and len(node.args) > 1
        default = Side(ends="fall", tuning=True, empty=kept or bool(self._caught))
        missing = Side(ends="raise") if strict and not self._caught else default
        self.add("lookup", test, node, Side(ends="fall", empty=True), missing, dotted(_mapping_of(node)))

    def _asks_rows(self, node: ast.expr, rows: Expr) -> None:
        """`next(row for row in ROWS if row.sm == sm)`, or `[...][0]`: an error where no row fits."""
        _, owner, names, iterable, tests, _ = rows.args
        if not tests or self._caught:
            return
        fits = Expr("comp", ("any", owner, names, iterable, (), Expr("and", (tests,), tests[0].at)))
        test = Expr("call", (Expr("name", ("any",)), (fits,)), span(node))
        table = iterable.args[-1] if iterable.op in ("var", "name") else ""
        self.add("lookup", test, node, Side(ends="fall", empty=True), Side(ends="raise"), table)

    def _calls(self, node: ast.Call, function: Expr, arguments: tuple[Expr, ...]) -> None:
        name = dotted(node.func).rpartition(".")[2]
        if name == "next" and len(arguments) == 1 and arguments[0].op == "comp":
            self._asks_rows(node, arguments[0])
        self._passes(node.func, name, arguments)
        self._hand_on(node, arguments)
        if is_told_by_text(name):
            self._tell(node, name, arguments)
        else:
            self._number_of_text(node, arguments)
        self._picked(node, function)

    def _tell(self, node: ast.Call, name: str, arguments: tuple[Expr, ...]) -> None:
        """Note what tells a library which of its kernels to use, where it is not written down at the call."""
        for argument in arguments:
            parameter, value = argument.args if argument.op == "kw" else (name, argument)
            if value.op in ("var", "call", "param", "attr", "name", "if"):
                kept, path, qualname = (self.lowerer.define(value),), tuple(self.path), self.qualname
                told = Operation("told", name, span(node), amounts=kept, path=path, qualname=qualname)
                self.noted.append(replace(told, detail=ToldParameter(parameter)))

    def _passes(self, function: ast.expr, name: str, arguments: tuple[Expr, ...]) -> None:
        """Note what a call hands to a parameter that takes a value of the device."""
        takers = self._takers.get(name, ()) if self._carried_parameters else ()
        for qualname, places in (one for one in takers if may_call(function, one[0])):
            for name, value in placed(arguments, places):
                if (qualname, name) in self._carried_parameters:
                    known = self.passed.get((qualname, name), ())
                    self.passed[qualname, name] = (*known, self.lowerer.define(value))

    def _hand_on(self, node: ast.Call, arguments: tuple[Expr, ...]) -> None:
        """Note what a call, also one that `partial` prepares, hands to a function that the file imports."""
        function: ast.expr = node.func
        if dotted(function).rpartition(".")[2] == "partial" and node.args:
            function, arguments = node.args[0], arguments[1:]
        if dotted(function).partition(".")[0] not in self.imports.names or len(self.handed_on) >= MAX_HANDED_ON:
            return
        name = self._reference(function)
        for index, argument in enumerate(arguments):
            place, value = argument.args if argument.op == "kw" else (index, argument)
            if value.op != "star" and self.gates.depends(value):
                self.handed_on.append(HandedOn(name, place, self.lowerer.define(value), value.at or span(node)))

    def _as_text(self, node: ast.expr, found: Expr) -> None:
        if node.lineno in self.hits and characters.by_place(found) and self.gates.reads(found):
            self._note("as-text", node, found)
        elif wrong := characters.by_spelling(found):
            self._note_text(node, detail=MisreadDigits(wrong.says, wrong.chips.names))

    def _number_of_text(self, node: ast.Call, arguments: tuple[Expr, ...]) -> None:
        found = Expr("call", (Expr("name", (dotted(node.func),)), arguments), span(node))
        if characters.number_of_part(found):
            self._note_text(node, found)
        elif wrong := characters.by_join(node, arguments):
            self._note_text(node, detail=MisreadDigits(wrong.says, wrong.chips.names))

    def _note_text(self, node: ast.expr, *found: Expr, detail: Detail | None = None) -> None:
        """Note a text that is taken apart, where nobody asks how long it is, nor for another vendor's."""
        asked = characters.asks_length((*self.path, *self.lowerer.asked))
        if not asked and not any(characters.OF_AMD in ast.unparse(one) for one in self.body):
            self._note("as-text", node, *found, detail=detail)

    def _note(self, kind: OperationKind, node: ast.expr, *found: Expr, detail: Detail | None = None) -> None:
        text, path = ast.unparse(node), tuple(self.path)
        self.noted.append(
            Operation(kind, text, span(node), amounts=found, detail=detail, path=path, qualname=self.qualname)
        )

    def _picked(self, node: ast.Call, function: Expr) -> None:
        self._picked_in_loop(node.func, function)
        if function.op == "index" and not self.gates.depends(function.args[1]):
            function = function.args[0]  # a kernel with its grid
        if self.gates.picks(function):
            self._note("picked", node.func, function)

    def _picked_in_loop(self, node: ast.expr, found: Expr) -> None:
        """`for low, run in TABLE: if sm >= low: return run(x)` calls the first one that passes."""
        if self._loop_over is None:
            return
        iterable, names, depth = self._loop_over
        tests = tuple(self.path[depth:])
        calls = (one.args[0] for test in tests for one in walk(test) if one.op == "call")
        if any(self._names_any(one, names) for one in calls):
            return  # what is picked answers for itself
        if any(map(self.gates.depends, tests)) and self._names_any(found, names):
            bound = tuple(const(name) for name in names)
            passing = Expr("comp", ("list", LOOP_OWNER, bound, iterable, tests, found), found.at)
            self._note("picked", node, Expr("index", (passing, const(0)), found.at))

    def _names_any(self, found: Expr, names: Sequence[str]) -> bool:
        """Whether an expression is made of what a loop binds."""
        return any(
            node.op == "param" and node.args[0] == LOOP_OWNER and node.args[1] in names
            for node in walk_through(found, self.slots, len(self.slots) + 1)
        )

    def _is_given_a_picked(self, owner: str, name: str) -> bool:
        """Whether the device decides what the methods of a class keep in an attribute."""
        known = self.attributes.get((self.classes_open[-1], name), ()) if owner == "self" and self.classes_open else ()
        return any(tests or self.gates.picks(value) for tests, value in known)

    def quietly(self, node: ast.expr) -> Expr:
        """Lower without side effects on gates and definitions: for looking at a side before its own walk."""
        lowerer = self.lowerer
        told, env = lowerer.told, lowerer.scope.env
        lowerer.told, lowerer.scope.env = NOBODY, dict(env)
        try:
            return lowerer.lower(node)
        finally:
            lowerer.told, lowerer.scope.env = told, env

    # -- statements

    def block(self, body: Sequence[ast.stmt], siblings: Sequence[ast.stmt]) -> bool:
        """Walk a block; True when it never falls through."""
        around, left = self._tried, False
        self._tried = []
        for index, node in enumerate(body, 1):
            handler = _STATEMENTS.get(type(node))
            left = handler is not None and handler(self, node, body[index : index + MOST_BEHIND])
            if left:
                break
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try)):
                self._tried.append(node)
        self._tried = around
        return left

    def _if(self, node: ast.If, rest: Sequence[ast.stmt], chain: int = 0, position: int = 0) -> bool:
        test = self.lowerer.condition(node.test)
        self.sizes.limit(node, self.qualname)
        links = False
        if self.gates.reads(test):
            links = sides.is_one_way(node.body)
            if self._linked is not None and self._linked[0] is node:
                _, chain, position = self._linked
            if not chain:
                self._chain += 1
                chain = self._chain
            self._condition(test, node.test, (node.body, node.orelse), rest, (chain, position))
            self._guards_a_way(node, rest)
        elif test.op == "cmp" and self.gates.picks(test.args[1][0]):
            self._condition(test, node.test, (node.body, node.orelse), rest, (0, 0), "choice")
        elif (flag := installed.asked(node.test, self._importable.flags)) and not any(
            map(installed.is_told, self.path)
        ):
            self._condition(test, node.test, (node.body, node.orelse), rest, (0, 0), "installed", flag.module)
            self.gates.found[-1] = replace(self.gates.found[-1], leaf=flag.at)
        elif_ = node.orelse[0] if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) else None

        def otherwise() -> bool:
            return self._if(elif_, rest, chain, position + 1) if elif_ else self.block(node.orelse, rest)

        left = self._arms(test, lambda: self.block(node.body, rest), otherwise)
        if not links or not node.orelse:
            self._linked = (rest[0], chain, position + 1) if links and rest else None
        return left

    def _guards_a_way(self, node: ast.If, rest: Sequence[ast.stmt]) -> None:
        """`if way == "fast" and sm < 90: raise`, and further down `if way == "fast":` is behind the guard."""
        if not isinstance(node.test, ast.BoolOp) or not isinstance(node.test.op, ast.And):
            return
        asking = [one for one in node.test.values if self.gates.reads(self.quietly(one))]
        ways = {ast.dump(one): one for one in node.test.values if one not in asking}
        if len(asking) != 1 or not ways or sides.ending(node.body) not in REFUSING:
            return
        one = next((one for one in rest if isinstance(one, ast.If) and ast.dump(one.test) in ways), None)
        if one is None:
            return
        refusing = sides.block(node.body, self.imports, self.quietly)
        self.path.append(self.quietly(one.test))
        behind = replace(sides.block(one.body, self.imports, self.quietly), rest=False)
        self.add("condition", self.quietly(asking[0]), asking[0], refusing, behind)
        self.path.pop()

    def _arms(self, test: Expr, then: Callable[[], bool], otherwise: Callable[[], bool]) -> bool:
        """Walk the two ways that a test parts; True when neither falls through."""
        scope = self.lowerer.scope
        before = dict(scope.env)
        depth = len(self.path)
        self.path.append(test)
        left = then()
        del self.path[depth:]
        after_yes = scope.env
        scope.env = before
        denied = negate(test)
        self.path.append(denied)
        scope.env = dict(before)
        left_no = otherwise()
        after_no = scope.env
        del self.path[depth:]
        if left and left_no:
            return True
        if left:
            scope.env = after_no
            self.path.append(denied)
        elif left_no:
            scope.env = after_yes
            self.path.append(test)
        else:
            scope.env = self._merge(test, after_yes, after_no)
        return False

    def _condition(
        self,
        test: Expr,
        at: ast.AST,
        arms: tuple[list[ast.stmt], list[ast.stmt]],
        rest: Sequence[ast.stmt],
        chain: tuple[int, int],
        kind: GateKind = "condition",
        name: str = "",
    ) -> None:
        body, orelse = arms
        yes_leaves = sides.ending(body) != "fall"
        no_leaves = bool(orelse) and sides.ending(orelse) != "fall"
        after, asked = list(rest[:60]), dotted(at) if isinstance(at, ast.expr) else ""
        yes = sides.block(body, self.imports, self.quietly, after if no_leaves and not yes_leaves else (), asked)
        no = sides.block(orelse, self.imports, self.quietly, after if yes_leaves and not no_leaves else ())
        yes, no = (
            self._with_chosen(side, choices.of_arm(arm), arm[-1].end_lineno or 0) if arm else side
            for side, arm in ((yes, body), (no, orelse))
        )
        yes, no = self._with_imported(yes, no), self._with_imported(no, yes)
        self.add(kind, test, at, yes, no, name, chain)

    def _with_imported(self, side: Side, other: Side) -> Side:
        """What follows a refusal, with what is imported in front of it where it is used: both are one attempt."""
        if not (self._trying or self.qualname != "<module>") or other.ends not in REFUSING or side.ends in REFUSING:
            return side
        imported = sides.block(self._tried, self.imports, self.quietly).uses if self._tried else ()
        return replace(side, uses=(*side.uses, *(use for use in imported if use.how == "import")))

    def _with_chosen(self, side: Side, chosen: Iterable[tuple[str, str]], line: int) -> Side:
        """A side with what is done below a line for the strings that it chooses."""
        for name, text in chosen:
            side = sides.with_chosen(side, choices.behind(self.body, name, text, line), self.imports)
        return side

    def _merge(self, test: Expr, yes: dict[str, Expr], no: dict[str, Expr]) -> dict[str, Expr]:
        merged = dict(no)
        for name in {**yes, **no}:
            a, b = yes.get(name), no.get(name)
            if a == b:
                continue
            missing = Expr("name", (name,)) if name in self._shared else unknown(f"unassigned {name}")
            if name.endswith("]"):
                missing = a or b or missing  # what fills a cache on one way was filled so on the other
            value = Expr("if", (test, a or self._outer(name) or missing, b or self._outer(name) or missing), test.at)
            merged[name] = self.lowerer.define(value)
            self.gates.reads(merged[name])
        return merged

    def _outer(self, name: str) -> Expr | None:
        parent = self.lowerer.scope.parent
        return parent.find(name) if parent else None

    def _assign(self, node: ast.Assign, rest: Sequence[ast.stmt]) -> bool:
        if (found := sides.imported(node)) is not None:
            self._import(ast.copy_location(ast.Import([ast.alias(found[1], found[0])]), node), rest)
            return False
        self._target = sides.role_of(node.targets[0])
        value = self.lowerer.lower(node.value)
        self._target = ""
        if node.lineno in self.hits or isinstance(node.value, _HOLDING):
            self._call_lists(node.value, rest)
        self._refused_by(node.value, value, rest)
        for target in node.targets:
            self._bind(target, value, node)
            self._size(target, value, node)
        return False

    def _size(self, target: ast.expr, value: Expr, node: ast.stmt) -> None:
        """Note literals that are assigned under a test: a tuple of names takes a tuple member by member."""
        if not self.path and value.op not in ("if", "tuple"):
            return
        if not isinstance(target, ast.Tuple):
            self.sizes.picked(sides.role_of(target).rpartition(".")[2], value, node, tuple(self.path), self.qualname)
            return
        for index, element in enumerate(target.elts):
            name = dotted(element).rpartition(".")[2]
            self.sizes.picked(name, _member(value, index), node, tuple(self.path), self.qualname)

    def _annotated(self, node: ast.AnnAssign, rest: Sequence[ast.stmt]) -> bool:
        if node.value is not None:
            self._target = sides.role_of(node.target)
            value = self.lowerer.lower(node.value)
            self._target = ""
            if isinstance(node.value, _HOLDING):
                self._call_lists(node.value, rest)
            self._bind(node.target, value, node)
            self._size(node.target, value, node)
        return False

    def _augmented(self, node: ast.AugAssign, rest: Sequence[ast.stmt]) -> bool:
        self._target = sides.role_of(node.target)
        value = self.lowerer.lower(ast.copy_location(ast.BinOp(_as_read(node.target), node.op, node.value), node))
        self._target = ""
        self._call_lists(node.value, rest)
        if isinstance(node.target, ast.Name):
            found = self.lowerer.define(value)
            # no plain reference: what it reaches is its value, whatever the name is called like
            self.lowerer.scope.env[node.target.id] = Expr("if", (const(True), found, NONE), found.at)
            self._written(node.target.id, found)
        return False

    def _bind(self, target: ast.expr, value: Expr, node: ast.Assign | ast.AnnAssign) -> None:
        env = self.lowerer.scope.env
        if isinstance(target, ast.Name):
            assert node.value is not None
            self.lowerer.scope.forget(target.id)
            grows = value.op == "dict" and target.id in self._filled and self.qualname == "<module>"
            held = unknown(f"{target.id} is filled elsewhere", value.at) if grows else value
            env[target.id] = found = self.lowerer.define(held)
            self._written(target.id, found)
            self.gates.reads(found)  # in order of definition, so that no chain of names gets deep
            self._named(target.id, node.value, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            text = characters.unpacked(target, value)
            if node.value is not None and text is not None and not characters.asks_length(self.path):
                self._note("as-text", node.value, Expr("tuple", ((text,),), value.at))
            source = self.lowerer.define(value)
            for element, item in unpacked(target, source):
                self._part(element, item)
        elif isinstance(target, ast.Attribute):
            assert node.value is not None
            name = dotted(target) or target.attr
            self._named(name, node.value, value)
            self._kept(target, value)
        elif isinstance(target, ast.Subscript):
            key = self.lowerer.lower(target.slice)
            base = target.value
            if isinstance(base, ast.Name) and base.id in env:
                more = Expr("dict", ((key,), (value,)), span(node))
                rows = self._with_rows(env[base.id], more)
                changed = unknown(f"{base.id} is changed at line {target.lineno}")
                env[base.id] = changed if rows is None else self.lowerer.define(rows)
            if self.gates.reads(value):
                self.lowerer.scope.keep(target, self.lowerer.define(value))

    def _written(self, name: str, value: Expr) -> None:
        """Note a value of a module's name that functions write too: whoever asks for it may get any of them."""
        if name in self._shared and (self.qualname == "<module>" or (self.qualname, name) in self._globals):
            self._shared[name].append(value)
            if self.gates.reads(value):
                self.gates.know(name)
            if self.qualname == "<module>":
                del self.lowerer.scope.env[name]

    def _part(self, target: ast.expr, value: Expr) -> None:
        """One of several targets takes its part of a value."""
        if isinstance(target, ast.Name):
            self.lowerer.scope.env[target.id] = self.lowerer.define(value)
            self._written(target.id, value)
        elif isinstance(target, ast.Attribute):
            self._kept(target, value)

    def _kept(self, target: ast.Attribute, value: Expr) -> None:
        """Note what a method keeps in `self`, or in the class."""
        owner, _, name = dotted(target).rpartition(".")
        open_class = self.classes_open[-1] if self.classes_open else ""
        if name and open_class and owner in definitions.owners_in(open_class.rpartition(".")[2]):
            tests = tuple(test for test in self.path if self.gates.reads(test))[-MAX_TESTS:]
            self.attributes[(open_class, name)].append((tests, self.lowerer.define(value)))

    def _named(self, name: str, node: ast.expr, value: Expr) -> None:
        """A flag, or a list or table known by its name or keys."""
        last = name.rpartition(".")[2]
        if _is_question(node) and self.gates.reads(value):
            self.add("flag", value, node, Side(ends="fall"), Side(ends="fall"), last)
        elif isinstance(node, ast.Call) and dotted(node.func).endswith(SKIPPING_MARKS):
            definitions.mark(self, node, last, lambda: self._marked(last))
        elif last == "pytestmark" and isinstance(node, (ast.List, ast.Tuple)):
            for mark in node.elts:
                if isinstance(mark, ast.Call):
                    self._named(name, mark, self.lowerer.lower(mark))
        else:
            self.sizes.constant(last, node, self.qualname)
            self._declared(last, node, value)

    def _marked(self, mark: str) -> Side:
        """What stands behind a mark that has a name: all that the tests of the file do which bear it."""
        bearing = [test for test, marks in self._tests if mark == "pytestmark" or mark in marks]
        bodies = (sides.block(test.body, self.imports, self.quietly) for test in bearing[:MAX_MARKED])
        return Side(ends="fall", uses=tuple(use for body in bodies for use in body.uses))

    def _declared(self, name: str, node: ast.expr, value: Expr) -> None:
        if isinstance(node, ast.Dict):
            self.sizes.table(name, node, self.qualname)
        if self.qualname != (self.classes_open or [""])[-1]:  # those of a class itself are told at its end
            self._bound(name, node, value)
        test = lists.declared(name, node, value, self.own)
        if test is not None:
            kind: GateKind = "table" if isinstance(node, ast.Dict) else "list"
            rows = Side(ends="fall", tuning=kind == "table" and lists.holds_numbers(node))
            missing = Side(ends="fall", empty=True) if lists.has_rows_of_none(node) else Side(ends="raise")
            self.add(kind, test, node, rows, missing, name)

    def _bound(self, name: str, node: ast.expr, value: Expr) -> None:
        """The oldest or newest capability that a class is for, which a method of it returns."""
        test = lists.bound(name, node, value) if self.classes_open else None
        if test is not None:
            self.add("predicate", test, node, Side(ends="return"), Side(ends="return"), name)

    def _judge_limits(self) -> None:
        """The oldest and newest capability in attributes of classes, by name or comparison: bounds for the rest."""
        compared = self._compared() if self.bounded else {}
        for where, held in self.bounded:
            known = [
                (name, value, lists.bound(name, value, self.quietly(value), compared.get(name, "")))
                for name, value in held
            ]
            tests = [(name, value, test) for name, value, test in known if test is not None]
            oldest = [test for _, _, test in tests if test.args[0] == ">="]
            for name, value, test in tests:
                whole = test if test in oldest or not oldest else Expr("and", ((*oldest, test),), test.at)
                sides = Side(ends="return"), Side(ends="return", value=const(False))
                self.gates.add("predicate", whole, value, sides, where, name)

    def _compared(self) -> dict[str, str]:
        """Attributes that the device is compared with so far, each as the oldest or the newest that is let in."""
        found: dict[str, set[str]] = defaultdict(set)
        for node in (one for gate in self.gates.found for one in walk(gate.test) if one.op == "cmp"):
            for order, pair in zip(node.args[0].split(","), pairwise(node.args[1]), strict=False):
                held = tuple(map(self._held, pair))
                place = next((at for at, one in enumerate(held) if one and not self.gates.reads(pair[at])), None)
                if order in _BOUNDS and place is not None and any(map(self.gates.reads, pair)):
                    found[held[place]].add(_BOUNDS[order][place])
        return {name: orders.pop() for name, orders in found.items() if len(orders) == 1}

    def _held(self, found: Expr) -> str:
        """The attribute, or the method without arguments, of which a value is; "" of anything else."""
        value = self._value(found)
        value = value.args[0] if value.op == "call" and not value.args[1] else value
        return str(value.args[1]) if value.op == "attr" else ""

    def _expression(self, node: ast.Expr, rest: Sequence[ast.stmt]) -> bool:
        value = node.value
        if isinstance(value, ast.Constant):
            return False
        lowered = self.lowerer.lower(value)
        if not isinstance(value, ast.Call):
            return False
        name = dotted(value.func)
        last = name.rpartition(".")[2]
        if last in SKIPS or last in ("exit", "_exit", "fail"):
            self.returning(Expr("raise", (last,), span(value)))
            return True
        self._mutates(value)
        self._call_lists(value, rest)
        if value.args and (_RAISES_IF.search(last) or _RAISES_UNLESS.search(name)):
            return self._check(value, rest, _RAISES_UNLESS.search(name) is None)
        if self.gates.device_word(last) and isinstance(value.func, (ast.Name, ast.Attribute)):
            self._helper_call(value, lowered, last, rest)
        return False

    def _mutates(self, node: ast.Call) -> None:
        """`reasons.append(x)` is a longer list; in a loop only of what reads the device. All else makes it unknown."""
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            env = self.lowerer.scope.env
            if func.attr in _MUTATORS and func.value.id in env:
                first = self._first(env[func.value.id], node) if func.attr in ("append", "add") else None
                longer = self._longer(func.value.id, node) if func.attr == "append" else None
                rows = self.quietly(node.args[0]) if func.attr == "update" and len(node.args) == 1 else None
                more = self._with_rows(env[func.value.id], rows) if rows is not None else None
                changed = first or longer or more or unknown(f"{func.value.id} is changed at line {node.lineno}")
                env[func.value.id] = self.lowerer.define(changed)

    def _with_rows(self, held: Expr, more: Expr) -> Expr | None:
        """A mapping with the rows of another one, both written down; None where a test or a loop is around."""
        held = self._value(held)
        if self.path or held.op != "dict" or more.op != "dict" or any(key.op == "unknown" for key in more.args[0]):
            return None
        kept = [row for row in zip(*held.args, strict=True) if row[0] not in more.args[0]]
        rows = [*kept, *zip(*more.args, strict=True)][:MAX_RETURNS]
        keys, values = zip(*rows, strict=True) if rows else ((), ())
        return Expr("dict", (tuple(keys), tuple(values)), held.at)

    def _first(self, held: Expr, node: ast.Call) -> Expr | None:
        """The list of what is put into an empty one, where that reads the device."""
        held = self._value(held)
        called = held.args[0] if held.op == "call" and len(held.args) == 2 else held
        empty = held.args[0] == () if held.op == "list" else called.op == "name" and called.args[0] == "set"
        if not empty or len(node.args) != 1:
            return None
        item = self.quietly(node.args[0])
        return Expr("list", ((item,),), span(node)) if self.gates.reads(item) else None

    def _longer(self, name: str, node: ast.Call) -> Expr | None:
        """What was a list, and one constant or one test more; None of anything else, and in a loop."""
        held = self.lowerer.scope.env[name]
        looping = any(test.op == "unknown" and str(test.args[0]).startswith(LOOP) for test in self.path)
        if looping or len(node.args) != 1 or self._value(held).op not in ("list", "bin", "if"):
            return None
        item = node.args[0]
        if self.path and not self.gates.reads(self.path[-1]) and _is_sentence(item):
            return held
        if not isinstance(item, (ast.Constant, ast.JoinedStr)) and name not in self._asked_together():
            return None
        added = self.quietly(item) if not isinstance(item, ast.JoinedStr) else const("")
        return Expr("bin", ("+", held, Expr("list", ((added,),), span(node))), span(node))

    def _asked_together(self) -> frozenset[str]:
        """The names of the function of which it asks whether all or any hold."""
        key = id(self.body)
        if key not in self._together:
            calls = (one for part in self.body for one in below(part) if isinstance(one, ast.Call) and one.args)
            asked = (dotted(one.args[0]) for one in calls if dotted(one.func) in ("all", "any"))
            self._together[key] = frozenset(filter(None, asked))
        return self._together[key]

    def _value(self, found: Expr) -> Expr:
        return self.slots[found.args[0]] if found.op == "var" else found

    def _helper_call(self, node: ast.Call, lowered: Expr, name: str, rest: Sequence[ast.stmt]) -> None:
        """A helper called as a statement skips or raises by itself."""
        test = Expr("completes", (lowered,), span(node))
        after = sides.block(rest[:60], self.imports, self.quietly)
        self.add("helper-call", test, node, after, Side(ends="skip"), name)
        self.path.append(test)

    def _refused_by(self, node: ast.expr, lowered: Expr, rest: Sequence[ast.stmt]) -> None:
        """A helper of the file whose answer is kept, and which ends in an error where it has none."""
        name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and self.gates.device_word(name) and name in self._raising:
            self._helper_call(node, lowered, name, rest)

    @cached_property
    def _raising(self) -> frozenset[str]:
        """The functions of the file in which an error is raised."""
        defined = (
            node for node in sides.statements(self._body) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        )
        return frozenset(
            one.name for one in defined if any(isinstance(each, ast.Raise) for each in sides.statements(one.body))
        )

    def _call_lists(self, node: ast.expr, rest: Sequence[ast.stmt]) -> None:
        """Lists passed to calls; what they guard is what follows, and the function that passes them."""
        if isinstance(node, ast.Call):
            self._answers(node)
        if not self.hit(node):
            return
        nodes = below(node)
        rows = [pair for one in nodes if isinstance(one, ast.Dict) for pair in zip(one.keys, one.values, strict=True)]
        keys = {id(value): ast.dump(key) for key, value in rows if key is not None}
        for item in nodes:
            if not isinstance(item, ast.Call):
                continue
            self._bounded(item, keys.get(id(item), ""))
            for name, value in lists.arguments(item, self.own):
                test = lists.declared(name, value, self.lowerer.lower(value), self.own)
                if test is not None:
                    after = rest[:60] if self.qualname != "<module>" else ()
                    behind = sides.block((), self.imports, self.quietly, after)
                    function = Use(self.qualname.rpartition(".")[2], "define", span(value))
                    behind = replace(behind, uses=(*behind.uses, function))
                    at = item if isinstance(node, ast.Call) and node is item and not item.keywords else value
                    self.add("list", test, at, behind, Side(ends="raise"), name)

    def _bounded(self, node: ast.Call, key: str) -> None:
        """A record that says for which chips something is that it names: `Kernel("pkg.module:run", min_sm=90)`. `key`
        is that of a table that it is a row of.
        """
        named = [Use(name, "call", span(one)) for one in arguments_of(node) if (name := self._reference(one))]
        bounds = lists.bounds(node, self.quietly) if named else None
        if bounds is not None:
            self._records.append(
                _KernelRecord(node, bounds[0], tuple(named), Where(self.qualname, tuple(self.path)), key)
            )

    def _judge_records(self) -> None:
        """The gates of records. The best of several is the newest: a newer chip's keeps it from the others."""
        for one in self._records:
            alike = (other for other in self._records if other.key == one.key)  # another row is for something else
            newer = [other.test for other in alike if lists.is_newer(other.node, one.node)]
            test = Expr("and", ((one.test, *map(negate, newer)),), one.test.at) if newer else one.test
            sides = Side(ends="fall", uses=one.uses), Side(ends="raise")
            self.gates.add("assert", test, one.node, sides, one.where, "")

    def _reference(self, node: ast.expr) -> str:
        """The name of a function or class that is handed on ("module:name": behind a dot); "" of anything else."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return f".{node.value.replace(':', '.')}" if _REFERENCE.fullmatch(node.value) else ""
        root, dot, rest = dotted(node).partition(".") if isinstance(node, (ast.Name, ast.Attribute)) else ("", "", "")
        return self.imports.names.get(root, root) + dot + rest

    def _answers(self, node: ast.Call) -> None:
        """`Features(fp4=capability == (12, 0))`: a flag under the name that it is passed as."""
        for keyword in node.keywords:
            if keyword.arg and isinstance(keyword.value, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
                value = self.quietly(keyword.value)
                self.add("flag", value, keyword.value, Side(ends="fall"), Side(ends="fall"), keyword.arg)

    def _assert(self, node: ast.Assert, rest: Sequence[ast.stmt]) -> bool:
        return self._asserted(node, self.lowerer.lower(node.test), node.test, node.msg, rest)

    def _check(self, node: ast.Call, rest: Sequence[ast.stmt], on_yes: bool) -> bool:
        """`raise_if(test, "text")`, and `torch._check(test, lambda: "text")`, which raises where the test fails."""
        test = self.lowerer.lower(node.args[0])
        text = node.args[1] if len(node.args) > 1 else None
        return self._asserted(node, negate(test) if on_yes else test, node.args[0], text, rest)

    def _asserted(
        self, node: ast.stmt | ast.expr, test: Expr, at: ast.expr, text: ast.expr | None, rest: Sequence[ast.stmt]
    ) -> bool:
        if self.gates.reads(test):
            after = sides.block((), self.imports, self.quietly, rest[:60])
            self.add("assert", test, at, after, sides.message(text, "raise"))
        self.returns.append(((*self.path, negate(test)), Expr("raise", ("AssertionError",), span(node))))
        self.path.append(test)
        return False

    def _return(self, node: ast.Return, rest: Sequence[ast.stmt]) -> bool:
        value = self.lowerer.lower(node.value)
        if node.value is not None:
            self._picked_in_loop(node.value, value)
            if _is_question(node.value) and self.gates.reads(value):
                name = self.qualname.rpartition(".")[2]
                self.add("predicate", value, node.value, Side(ends="return"), Side(ends="return"), name)
            self._call_lists(node.value, rest)
            self._declared(self.qualname.rpartition(".")[2], node.value, value)
            if self.path or value.op == "if":
                self.sizes.picked(self.qualname.rpartition(".")[2], value, node, tuple(self.path), self.qualname)
        self.returning(value)
        return True

    def returning(self, value: Expr) -> None:
        if len(self.returns) < MAX_RETURNS:
            self.returns.append((tuple(self.path), value))

    def _raise(self, node: ast.Raise, rest: Sequence[ast.stmt]) -> bool:
        name = dotted(node.exc) if node.exc is not None else "re-raise"
        self.returning(Expr("raise", (name,), span(node)))
        return True

    def _leave(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> bool:
        return True

    def _loop(self, node: ast.For | ast.While | ast.AsyncFor, rest: Sequence[ast.stmt]) -> bool:
        """Names assigned in a loop are unknown in it and after it; a return inside happens or not."""
        changed = {name: unknown(f"{name}, assigned in a loop") for name in sorted(sides.bound_names([node]))}
        if not isinstance(node, ast.While):
            # what a loop runs over may be called like a capability: its use decides, as for a parameter
            changed |= {name: Expr("param", (LOOP_OWNER, name)) for name in sides.target_names(node.target)}
        self.lowerer.scope.env.update(changed)
        if isinstance(node, ast.While):
            self.lowerer.lower(node.test)
        else:
            held = self._of_each_device(self._value(self.lowerer.lower(node.iter)))
            target = node.target.id if isinstance(node.target, ast.Name) else ""
            alone = held.op == "list" and len(held.args[0]) == 1
            if target and alone and target not in sides.bound_names(node.body):
                self.lowerer.scope.env[target] = held.args[0][0]
            self._skips_by_rows(node)
        depth, first = len(self.path), len(self.returns)
        self.path.append(unknown(f"{LOOP} at line {node.lineno}"))
        around, self._loop_over = self._loop_over, None
        if not isinstance(node, ast.While):
            self._loop_over = self.quietly(node.iter), sides.target_names(node.target), len(self.path)
        self.block(node.body, ())
        over, self._loop_over = self._loop_over, around
        del self.path[depth:]
        found = self._finds(node, over[0], over[1], node.orelse or rest) if over is not None else None
        self.lowerer.scope.env.update(changed)
        if found is not None:  # the last of the loop's returns is taken where one fits
            self.returns[first:] = [((*path[:depth], found), value) for path, value in self.returns[first:][-1:]]
            self.path.append(negate(found))
        self.block(node.orelse, ())
        return False

    def _of_each_device(self, held: Expr) -> Expr:
        """`sorted({get_device_capability(i) for i in range(device_count())})` is like the one of one device."""
        while held.op == "call" and held.args[0].op == "name" and held.args[0].args[0] in _REORDERS and held.args[1]:
            held = self._value(held.args[1][0])
        over = held.args[3] if held.op == "comp" and not held.args[4] else held
        ranges = over.op == "call" and over.args[0].op == "name" and over.args[0].args[0] == "range"
        if not ranges or any(one.op == "const" for one in over.args[1]) or held is over:
            return held
        return Expr("list", ((Expr("index", (Expr("comp", ("list", *held.args[1:])), const(0))),),), held.at)

    def _finds(
        self,
        node: ast.For | ast.AsyncFor | ast.While,
        iterable: Expr,
        names: Sequence[str],
        after: Sequence[ast.stmt],
    ) -> Expr | None:
        """`for one in TABLE: if one.sm == sm: return one` in front of an error: the test asks for a row."""
        *others, last = node.body
        if not isinstance(last, ast.If) or last.orelse or not isinstance(last.body[-1], (ast.Return, ast.Break)):
            return None
        no = sides.block(after[:1], self.imports, self.quietly)
        if no.ends != "raise" or isinstance(node, ast.While):
            return None
        fits = Expr("comp", ("any", LOOP_OWNER, tuple(map(const, names)), iterable, (), self.quietly(last.test)))
        test = Expr("call", (Expr("name", ("any",)), (fits,)), span(last.test))
        table = re.sub(r"\.(?:items|values|keys)$", "", dotted(node.iter))
        self.add("lookup", test, last.test, Side(ends="fall", empty=True), no, table)
        return test if not others and isinstance(last.body[-1], ast.Return) and self.gates.reads(test) else None

    def _skips_by_rows(self, node: ast.For | ast.AsyncFor) -> None:
        """`for mark, least in OLDEST.items(): if bears(mark) and sm < least: skip()` asks once for each row."""
        names, called = sides.target_names(node.target), node.iter
        skips = [one for one in node.body if isinstance(one, ast.If) and sides.ending(one.body) == "skip"]
        if (
            not skips
            or len(names) != 2
            or not isinstance(called, ast.Call)
            or not isinstance(called.func, ast.Attribute)
        ):
            return
        table = self._value(self.quietly(called.func.value)) if called.func.attr == "items" else NONE
        rows = list(zip(*table.args, strict=True)) if table.op == "dict" else []
        env = self.lowerer.scope.env
        for row in rows if len(rows) <= MAX_ROWS else ():
            self.lowerer.scope.env = {**env, **dict(zip(names, row, strict=True))}
            for one in skips:
                yes = sides.block(one.body, self.imports, self.quietly)
                self.add("condition", self.quietly(one.test), _as_node(row[1]), yes, Side(ends="fall"))
        self.lowerer.scope.env = env

    def _with(self, node: ast.With | ast.AsyncWith, rest: Sequence[ast.stmt]) -> bool:
        for item in node.items:
            value = self.lowerer.lower(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self.lowerer.scope.env[item.optional_vars.id] = self.lowerer.define(value)
        caught = any(_SUPPRESSES.match(ast.unparse(item.context_expr)) for item in node.items)
        self._caught += caught
        left = self.block(node.body, rest)
        self._caught -= caught
        return left

    def _try(self, node: ast.Try, rest: Sequence[ast.stmt]) -> bool:
        """The body is taken to succeed; its tests hold neither in a handler nor after one that goes on."""
        self._replaces(node)
        before = dict(self.lowerer.scope.env)
        depth, first = len(self.path), len(self.returns)
        caught = any(self._makes_up_for(handler) for handler in node.handlers)
        self._caught += caught
        self._trying += 1
        left = self.block(node.body, rest)
        self._trying -= 1
        self._caught -= caught
        after = self.lowerer.scope.env
        passed = self.path[depth:]
        tried = self.returns[first:] if sides.is_probe(node) else []
        del self.returns[len(self.returns) - len(tried) :]
        went_on = None
        for handler in node.handlers:
            self.lowerer.scope.env = dict(before)
            self.path[depth:] = [unknown(f"{HANDLER} {handler.lineno}")]
            if not self.block(handler.body, ()) and went_on is None:
                went_on = self.lowerer.scope.env
        self.returns += tried
        self.path[depth:] = passed
        self.lowerer.scope.env = after if not left or went_on is None else went_on
        if not left:
            left = self.block(node.orelse, rest)
        if went_on is not None:
            del self.path[depth:]
        return self.block(node.finalbody, rest) or (left and went_on is None)

    def _replaces(self, node: ast.Try) -> None:
        """Names that are a module's wherever that can be imported, and else another one's: one question for all."""
        found = self._importable.replaced.get(node.lineno, ())
        if not found or any(map(installed.is_told, self.path)):
            return
        one = found[0]
        taken, other = (
            Side(ends="fall", at=flag.at, uses=(Use(flag.module, "import", flag.at),))
            for flag in (one.first, one.instead)
        )
        self.add("installed", unknown("installed"), node, taken, other, one.first.module)
        self.gates.found[-1] = replace(self.gates.found[-1], leaf=one.first.at)

    def _makes_up_for(self, handler: ast.ExceptHandler) -> bool:
        """Whether a look-up without a row ends here, and in no other error."""
        catches = handler.type is None or _CATCHES.search(ast.unparse(handler.type)) is not None
        return catches and sides.block(handler.body, self.imports, self.quietly).ends not in REFUSING

    def _match(self, node: ast.Match, rest: Sequence[ast.stmt]) -> bool:
        return self._case(self.lowerer.define(self.lowerer.lower(node.subject)), node.cases, rest)

    def _case(
        self, subject: Expr, cases: Sequence[ast.match_case], rest: Sequence[ast.stmt], position: int = 0
    ) -> bool:
        """One case after another, as a chain of `elif`: what is left for `case _` is what no earlier one took."""
        if not cases:
            return False
        case, *others = cases
        before = dict(self.lowerer.scope.env)
        test = patterns.test(self.lowerer, subject, case)
        if test is None:
            return self.block(case.body, rest)
        if self.gates.reads(test):
            self._chain += not position
            arms = (case.body, patterns.as_chain(others))
            self._condition(test, case.pattern, arms, rest, (self._chain, position))
        captured = self.lowerer.scope.env
        self.lowerer.scope.env = before

        def then() -> bool:
            self.lowerer.scope.env = dict(captured)
            return self.block(case.body, rest)

        return self._arms(test, then, lambda: self._case(subject, others, rest, position + 1))

    def _delete(self, node: ast.Delete, rest: Sequence[ast.stmt]) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.lowerer.scope.env.pop(target.id, None)
        return False

    def _global(self, node: ast.Global, rest: Sequence[ast.stmt]) -> bool:
        self._globals |= {(self.qualname, name) for name in node.names}
        return False

    def _nonlocal(self, node: ast.Nonlocal, rest: Sequence[ast.stmt]) -> bool:
        """A name of the function around that is written within it is no constant."""
        scope = self.lowerer.scope.parent or self.lowerer.scope
        scope.env.update({name: unknown(f"{name}, assigned by {self.qualname}") for name in node.names})
        return False

    # -- imports

    def _import(self, node: ast.Import | ast.ImportFrom, rest: Sequence[ast.stmt]) -> bool:
        for local, module, name in self.imports.brought(node):
            if name == "*":
                self.stars.append(module)
                continue
            self.lowerer.scope.env[local] = Expr("import", (module, name), span(node))
            self.imports.bind(local, module if name is None else f"{module}.{name}")
        return False


def _with_marks(
    body: Sequence[ast.stmt], around: frozenset[str] = frozenset()
) -> Iterator[tuple[ast.FunctionDef, frozenset[str]]]:
    """The functions of a file and of its classes with the names of the marks that they bear."""
    around |= {dotted(one) for node in body for one in marks_of_all(node)}
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _with_marks(node.body, around.union(map(dotted, node.decorator_list)))
        elif isinstance(node, ast.FunctionDef):
            yield node, around.union(map(dotted, node.decorator_list))


def _as_node(value: Expr) -> ast.expr:
    """What stands where a value is written."""
    line, column, end_line, end_column = value.at or (1, 0, 1, 0)
    return ast.Constant(
        str(value.args[0]), lineno=line, col_offset=column, end_lineno=end_line, end_col_offset=end_column
    )


def _as_read(target: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target


def unpacked(target: ast.Tuple | ast.List, value: Expr) -> Iterator[tuple[ast.expr, Expr]]:
    """The targets of an unpacking, each with its part of the value."""
    starred = next((at for at, one in enumerate(target.elts) if isinstance(one, ast.Starred)), len(target.elts))
    for index, element in enumerate(target.elts):
        after = index - len(target.elts)
        if isinstance(element, ast.Starred):
            end = const(after + 1) if after + 1 else NONE
            part = Expr("slice", (value, const(index), end, NONE), span(element))
            yield element.value, Expr("call", (Expr("name", ("list",)), (part,)), span(element))
        else:
            yield element, Expr("index", (value, const(index if index < starred else after)), span(element))


def placed(arguments: Sequence[Expr], places: Sequence[str]) -> Iterator[tuple[str, Expr]]:
    """Arguments with the parameters that take them; what is spread goes to the ones that are left, part by part."""
    for index, value in enumerate(arguments):
        if value.op == "kw":
            yield value.args
        elif value.op == "star":
            for offset, name in enumerate(places[index:]):
                yield name, Expr("index", (value.args[0], const(offset)), value.at)
            return
        elif index < len(places):
            yield places[index], value


def _any_of(name: str, values: Sequence[Expr]) -> Expr:
    """Any of the values that a module and its functions give to a name; None says that nobody has asked yet."""
    known = [value for value in dict.fromkeys(values) if not (value.op == "const" and value.args[0] is None)] or [NONE]
    found = known[0]
    for index, value in enumerate(known[1:]):
        found = Expr("if", (unknown(f"{name}, assigned at {index}"), value, found))
    return found


def _member(value: Expr, index: int) -> Expr:
    """One member of a tuple, through a conditional expression."""
    if value.op == "if":
        test, then, otherwise = value.args
        return Expr("if", (test, _member(then, index), _member(otherwise, index)), value.at)
    if value.op == "tuple" and index < len(value.args[0]):
        member: Expr = value.args[0][index]
        return member
    return unknown("one of several")


def _is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and " " in str(node.value))


def _is_question(node: ast.expr) -> bool:
    """A comparison, or a call that compares with what is written out: `cuda_capability_geq(10, 0)`."""
    if isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        return True
    if not isinstance(node, ast.Call) or not node.args or node.keywords:
        return False
    return all(map(_is_written, node.args)) and bool(_QUESTION.search(dotted(node.func).rpartition(".")[2]))


def _is_written(node: ast.expr) -> bool:
    """A constant, a tuple, or a member of an enum of architectures."""
    return isinstance(node, (ast.Constant, ast.Tuple)) or (isinstance(node, ast.Attribute) and arch_text(node.attr))


def _written_globals(lines: Sequence[str]) -> frozenset[str]:
    """Names of `global` statements; functions that are not walked write module names too."""
    found = (line.strip()[7:] for line in lines if "global " in line and line.lstrip().startswith("global "))
    return frozenset(name for names in found for name in re.findall(r"\w+", names))


_FILLS = re.compile(r"\s+(\w+)(?:\[.{0,200}\]\s*\|?=(?!=)|\.(?:update|setdefault)\()")


def _filled_inside(lines: Sequence[str]) -> frozenset[str]:
    """Names of mappings that a block of the file gives more keys; functions that are not walked do so too."""
    filling = (line for line in lines if "[" in line or ".update(" in line or ".setdefault(" in line)
    return frozenset(found[1] for line in filling if (found := _FILLS.match(line)))


_STATEMENTS: dict[type, Callable[..., bool]] = {
    ast.If: Flow._if,
    ast.Assign: Flow._assign,
    ast.AnnAssign: Flow._annotated,
    ast.AugAssign: Flow._augmented,
    ast.Expr: Flow._expression,
    ast.Assert: Flow._assert,
    ast.Return: Flow._return,
    ast.Raise: Flow._raise,
    ast.Continue: Flow._leave,
    ast.Break: Flow._leave,
    ast.For: Flow._loop,
    ast.AsyncFor: Flow._loop,
    ast.While: Flow._loop,
    ast.With: Flow._with,
    ast.AsyncWith: Flow._with,
    ast.Try: Flow._try,
    ast.Match: Flow._match,
    ast.Delete: Flow._delete,
    ast.Global: Flow._global,
    ast.Nonlocal: Flow._nonlocal,
    ast.Import: Flow._import,
    ast.ImportFrom: Flow._import,
    ast.FunctionDef: definitions.define,
    ast.AsyncFunctionDef: definitions.define,
    ast.ClassDef: definitions.define_class,
}
