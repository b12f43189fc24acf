"""Names that stand for numbers: which definition an identifier means at a place, and its value as an expression.

A name is looked up from its place outwards: function, template, class, file, headers. What a template is given is known
in each of its instances, those that are declared and those that are called, by number and by type. Only what decides
the number is followed; what is left is an unknown, never a guess.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from bwlint.model.expr import Expr, Span, const, mapped, unknown, walk
from bwlint.readers.cuda import instances
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.given import parameters, plain_name
from bwlint.readers.cuda.layout import Aggregate, LaidOut, aggregate, most, plus, rounded, size_of, times
from bwlint.readers.cuda.lexer import LONGEST, Code, arguments, matching, stripped, template_end
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes
from bwlint.readers.cuda.statements import Statement, statements, tests_around

MAX_NAMES = 2_000
"""How many definitions one file may follow."""
MAX_DEPTH = 50
"""How many of them may stand in one another's values."""
_SET = re.compile(r"=(?!=)")  # begins with a plain character: the engine skips to it
_TARGET = re.compile(r"(?P<op>[-+*/%|&^]|<<|>>)?[ \t]*(?P<name>\w*[A-Za-z_])")
"""What is set, read backwards from the sign: the last word in front of it and its operator."""
_LONGEST_NAME = 90
_END = re.compile(r"[;,(){}\[\]]|(?<=\w)<(?![<=\s])")
_TYPE_BEFORE = re.compile(r"(?:[A-Za-z_][\w:]*|>|[*&])\s*$")
_LEAVING = re.compile(r"\b(?:return|else|case|throw|do)\s*$")
_NAMES_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_CONST = re.compile(r"\b(?:const|constexpr|enum)\b")
_PARAMETER = re.compile(
    r"^\s*(?:(?:const|unsigned)\s+)*(?P<type>[A-Za-z_][\w:]*)\s+(?P<name>[A-Za-z_]\w*)\s*(?:=(?P<default>.*))?$",
    re.DOTALL,
)
_KIND = re.compile(r"\b(?:struct|union)\b")
_BASE = re.compile(
    r"(?<!:):\s*(?:public\s+)?(?P<type>(?:\w+\s*::\s*)*(?P<name>\w+)\s*(?:<[^{}]*>)?)\s*$",
)
_DEEPEST_TYPE = 6
_UNSCOPED = re.compile(r"\s*(?:typedef\s+)?enum\s+(?!class\b|struct\b)")
_TEMPLATE = re.compile(r"\btemplate\s*<")
_ALIAS = re.compile(r"\busing\s+$")
_NAMED_TYPE = re.compile(r"using(?<!\wusing)\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<type>[^;{}]+?)\s*;")
_TYPENAME = re.compile(r"\s*(?:(?:typename|struct|const)\b\s*)*")
_ALIAS_TEMPLATE = re.compile(r"\btemplate\s*(<[^;{}]*>)\s*using\s+\w+\s*=\s*$")
_CHOOSES = re.compile(r"(?:\w+\s*::\s*){0,4}conditional(?:_t)?\s*<")
_ONE_RETURN = re.compile(r"(?:\s*(?:static|const|constexpr|using)\b[^;{}]*;)*\s*return\b(?P<value>[^;{}]+);\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST_SCAN = 60_000
_LONGEST_VALUE = 2_000
_KEPT = frozenset({"const", "unknown", "bin", "neg", "if", "cmp", "and", "or", "not", "macro", "name"})
_MOST_INSTANCES = 32
_EXTREMES = frozenset({"max", "min"})
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod},
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}
_NUMBERS = frozenset({"int", "unsigned", "long", "short", "size_t"}) | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (16, 32, 64)
}


@dataclass(frozen=True, slots=True)
class ConstantDefinition:
    """`name = value` at offsets: `op` is the operator, `declares` whether a type stands before, `fixed` a constant."""

    name: str
    op: str
    start: int
    value: int
    end: int
    declares: bool
    fixed: bool


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """`default` are the offsets of what it is where nothing is given."""

    position: int
    is_type: bool
    default: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class TemplateArguments:
    """What the parameters of a function or a template are between two offsets: numbers, and types as written. `uses`
    are the places that make the instance, the nearest first, and `mark` tells it from others.
    """

    start: int = 0
    end: int = 0
    mark: str = ""
    values: dict[str, Expr] = field(default_factory=dict)
    types: dict[str, WrittenType] = field(default_factory=dict)
    uses: tuple[int, ...] = ()

    def holds(self, offset: int) -> bool:
        return self.start <= offset < self.end


@dataclass(frozen=True, slots=True)
class WrittenType:
    """A type as it is written at an offset, and what the parameters in it are."""

    words: str
    at: int
    bound: TemplateArguments


_NOTHING = TemplateArguments()


@dataclass
class Constants:
    """`text` is the blanked text without directives, `names` the definitions that were followed."""

    code: Code
    text: str
    directives: Directives
    scopes: Scopes
    names: dict[str, Expr] = field(default_factory=dict)
    _definitions: dict[str, list[ConstantDefinition]] = field(default_factory=dict)
    _bound: TemplateArguments = _NOTHING
    _parameters_of: dict[int, dict[str, TemplateParameter]] = field(default_factory=dict)
    _made: dict[int, list[TemplateArguments]] = field(default_factory=dict)
    """The instances of templates, by where these open."""
    _bodies: dict[int, tuple[Statement, ...]] = field(default_factory=dict)
    _free: set[str] = field(default_factory=set)
    """Names of the table that are the same in every instance."""
    _hangs: bool = False
    """Whether what is being followed asks what a parameter is."""
    _numbers: dict[str, int] = field(default_factory=dict)
    """What names of the table come to that are decided."""
    _called: set[int] = field(default_factory=set)
    """The functions whose value is being found, by where they open."""
    _defined: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    """Where the values of macros stand that say more than the preprocessor knows; None for the others."""
    _depth: int = 0

    def value(self, start: int, end: int) -> Expr:
        """What stands between two offsets as an expression over numbers."""
        self._depth += 1
        found = _numeric(lower(self.code, start, end, self._name), self)
        self._depth -= 1
        return found

    def instances(self, start: int, end: int) -> list[tuple[Expr, tuple[int, ...]]]:
        """The same in each instance of the template around, with the places that make it; or as it is."""
        scope = self.scopes.function(start)
        found: list[tuple[Expr, tuple[int, ...]]] = []
        for bound in self._instances(scope) if scope is not None else ():
            with self._binding(bound):
                if self._is_reached(start):
                    found.append((self.value(start, end), bound.uses))
        return [one for one in found if self._is_known(one[0])] or [(self.value(start, end), ())]

    def _is_reached(self, offset: int) -> bool:
        """Whether what is followed decides no test on the way to a place against it."""
        scope = self.scopes.function(offset)
        if scope is None or self._bound is _NOTHING or self.text.find("if", scope.open, offset) < 0:
            return True
        if scope.open not in self._bodies:
            self._bodies[scope.open] = statements(self.text, scope.open + 1, scope.close)
        found = (
            (self._decided(self.value(*test)), holds) for test, holds in tests_around(self._bodies[scope.open], offset)
        )
        return all(came is None or bool(came) == holds for came, holds in found)

    def _decided(self, node: Expr, way: int = 0) -> int | None:
        """The number that an expression comes to which is made of constants alone."""
        if node.op == "name" and node.args[0] in self.names and way < MAX_DEPTH:
            found = self._numbers.get(node.args[0])
            if found is None and (found := self._decided(self.names[node.args[0]], way + 1)) is not None:
                self._numbers[node.args[0]] = found
            return found
        if node.op == "const":
            return int(node.args[0]) if isinstance(node.args[0], int) else None
        if node.op in ("not", "if"):
            holds = self._decided(node.args[0], way)
            chosen = None if holds is None or node.op == "not" else node.args[1 if holds else 2]
            return self._decided(chosen, way) if chosen is not None else None if holds is None else not holds
        if node.op in ("and", "or"):
            came = [self._decided(one, way) for one in node.args[0]]
            ends = next((one for one in came if one is not None and bool(one) == (node.op == "or")), None)
            return ends if ends is not None or None in came else int(node.op == "and")
        operation = _OPERATIONS.get(node.args[0]) if node.op in ("bin", "cmp") else None
        left, right = (node.args[1:] if node.op == "bin" else node.args[1]) if operation is not None else (None, None)
        low = self._decided(left, way) if operation is not None else None
        high = self._decided(right, way) if low is not None else None
        if operation is None or low is None or high is None or (high == 0 and node.args[0] in ("//", "%")):
            return None
        return int(operation(low, high))

    def _is_known(self, node: Expr) -> bool:
        """Whether nothing that an amount is made of is left open."""
        waiting, seen = [node], set[str]()
        while waiting:
            for inner in walk(waiting.pop()):
                if inner.op == "unknown":
                    return False
                if inner.op == "name" and inner.args[0] in self.names and inner.args[0] not in seen:
                    seen.add(inner.args[0])
                    waiting.append(self.names[inner.args[0]])
        return True

    def definitions(self, name: str, offset: int) -> list[ConstantDefinition]:
        """Where the function around an offset sets one of its names."""
        scope = self.scopes.function(offset)
        if scope is None:
            return []
        return [one for one in self._known(name) if scope.open < one.start < scope.close]

    def constants(self, pattern: re.Pattern[str]) -> list[ConstantDefinition]:
        """The constants that the file defines under names which a pattern finds, in order."""
        named = [name for name in self._places if pattern.search(name)]
        found = [one for name in named for one in self._known(name) if one.fixed and one.op == "="]
        return sorted(found, key=lambda one: one.start)

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, str, int]]]:
        """Each name that something is assigned to: where it stands, the operator, where the value begins."""
        text = self.code.text
        found: dict[str, list[tuple[int, str, int]]] = defaultdict(list)
        for match in _SET.finditer(text):
            target = _TARGET.match(text[max(0, match.start() - _LONGEST_NAME) : match.start()][::-1])
            if target is not None:
                start = match.start() - len(target[0])
                found[target["name"][::-1]].append((start, f"{target['op'] or ''}=", match.end()))
        return found

    def _known(self, name: str) -> list[ConstantDefinition]:
        if name not in self._definitions:
            places = self._places.get(name, ())
            self._definitions[name] = [one for place in places if (one := self._definition(name, *place)) is not None]
        return self._definitions[name]

    def _definition(self, name: str, start: int, op: str, value: int) -> ConstantDefinition | None:
        text = self.code.text
        before = text[max(0, start - 120) : start]
        if before.rstrip().endswith((".", "->")) or _ALIAS.search(before):
            return None
        end = self._value_end(value)
        if end < 0:
            return None
        statement = before[max(before.rfind(mark) for mark in ";{}()") + 1 :]
        declares = _TYPE_BEFORE.search(before) is not None and not _LEAVING.search(before)
        declares = declares or (_CONST.search(statement) is not None and before.rstrip().endswith(","))
        value += len(text[value:end]) - len(text[value:end].lstrip())
        fixed = _CONST.search(statement) is not None or (not declares and before.rstrip().endswith(("{", ",")))
        return ConstantDefinition(name, op, start, value, end, declares, fixed)

    def _value_end(self, start: int) -> int:
        text, at = self.code.text, start
        stop = min(len(text), start + _LONGEST_VALUE)
        while (mark := _END.search(text, at, stop)) is not None:
            if mark[0] == "<":
                at = max(template_end(text, mark.start()), mark.end())
                continue
            if mark[0] not in "([{":
                return mark.start()
            close = matching(text, mark.start(), _LONGEST_VALUE)
            if close < 0:
                return -1
            at = close + 1
        return -1

    # -- what an identifier means

    def _name(self, written: str, at: Span) -> Expr:
        offset = self.code.offset(*at[:2])
        last = written.rpartition("::")[2]
        if last.partition("<")[0] in _EXTREMES:
            last = last.partition("<")[0]
        if last in _EXTREMES or last == "sizeof" or size_of(written) is not None:
            return Expr("name", (last if last in _EXTREMES else written,), at)
        given = self._given(written, offset)
        if given is not None:
            return given.values.get(written, Expr("name", (written,)))._replace(at=at)
        found = self._member(written, offset)
        if found is None and "<" in written:
            return Expr("name", (written,), at)
        found = found or self._meant(written, last, offset)
        if found is not None:
            return found._replace(at=at)
        if written in self.directives.macros and not self.directives.macros[written].params:
            return self._macro(written, at) or Expr("macro", (written, ()), at)
        scope = self.scopes.function(offset)
        is_own = scope is not None and written in self._parameters(scope)  # though a header has that name
        if _NAMES_MACRO.fullmatch(written) and not is_own:
            return Expr("macro", (written, ()), at)  # of a header
        return Expr("name", (written,), at)

    def _meant(self, written: str, last: str, offset: int) -> Expr | None:
        if len(self.names) >= MAX_NAMES or self._depth > MAX_DEPTH:
            return None
        scope = self.scopes.function(offset)
        known = self._known(last)
        if scope is not None and written == last:
            local = [one for one in known if scope.open < one.start < scope.close]
            if local:
                return self._local(local, offset)
            if last in self._parameters(scope):
                return None
        owner = written.rpartition("::")[0].rpartition("::")[2] or (scope.parent if scope else self.class_at(offset))
        outside = [one for one in known if one.fixed and self.scopes.function(one.start) is None]
        mine = [one for one in outside if self.class_at(one.start) == owner]
        chosen = mine or [one for one in outside if not self.class_at(one.start)]
        return self._one_of(chosen, offset)

    def _one_of(self, chosen: list[ConstantDefinition], offset: int) -> Expr | None:
        """The only definition; several under tests of the preprocessor are a choice between them."""
        if not chosen or len(chosen) > 8 or any(one.op != "=" for one in chosen):
            return None
        if len(chosen) == 1:
            return self._stored(chosen[0])
        paths = [self.directives.path(one.start) for one in chosen]
        if not all(paths):
            return None
        result: Expr = unknown(chosen[0].name)
        for one, path in zip(reversed(chosen), reversed(paths), strict=True):
            result = Expr("if", (Expr("and", (path,)) if len(path) > 1 else path[0], self._stored(one), result))
        return result

    def _local(self, found: list[ConstantDefinition], offset: int) -> Expr | None:
        """A local that nothing changes after its definition; None where two values may meet."""
        before = [one for one in found if one.start < offset and self._sees(one.start, one.end, offset)]
        first = max((place for place, one in enumerate(before) if one.declares), default=-1)
        if first < 0 or before[first].op != "=":
            return None
        last, adds = before[first], before[first + 1 :]
        later = [one for one in found if one.start > last.start and not one.declares]
        if not last.fixed and (later != adds or self._lent(last)):
            return None
        if not all(one.op == "+=" and self._always(one) for one in adds):
            return None
        total = self._stored(last)
        for one in adds:
            total = plus(total, self._stored(one))
        return total

    def _always(self, one: ConstantDefinition) -> bool:
        """Whether a statement stands under no test without braces, and in no loop."""
        text, scope = self.code.text, self.scopes.function(one.start)
        before = text[max(0, one.start - _LONGEST_NAME) : one.start].rstrip()
        looped = scope is not None and re.search(r"\b(?:for|while)\b", text[scope.open : one.start]) is not None
        return before.endswith((";", "{", "}")) and not looped and not self.directives.path(one.start)

    def _sees(self, start: int, end: int, offset: int) -> bool:
        """Whether no brace that was open around a definition closes before an offset."""
        if offset - start > _LONGEST_SCAN:
            return False
        depth = 0
        for mark in re.finditer(r"[{}]", self.code.text[end:offset]):
            depth += 1 if mark[0] == "{" else -1
            if depth < 0:
                return False
        return True

    def _lent(self, one: ConstantDefinition) -> bool:
        """Whether its address is handed out, or it is counted up: somebody else sets it."""
        scope = self.scopes.function(one.start)
        stop = min(scope.close if scope else one.end, one.end + _LONGEST_SCAN)
        name = re.escape(one.name)
        lends = re.compile(rf"[(,=]\s*&\s*{name}\b|(?:\+\+|--){name}\b|\b{name}(?:\+\+|--)")
        return lends.search(self.code.text, one.end, stop) is not None

    def _stored(self, one: ConstantDefinition) -> Expr:
        """A reference to a definition in the module's table, where its value is kept once."""
        free = f"{one.name}@{one.start}"
        bound = self._bound if self._bound.holds(one.start) and free not in self._free else _NOTHING
        key = f"{free}{bound.mark}"
        if key in self.names:
            self._hangs = self._hangs or bound is not _NOTHING
            return Expr("name", (key,))
        before, self._hangs = self._hangs, False
        self.names[key] = unknown(key)  # a definition that names itself
        with self._binding(bound):
            self.names[key] = self.value(one.value, one.end)
        if not self._hangs and bound is not _NOTHING:
            self.names[free] = self.names[key]
            self._free.add(free)
        self._hangs = self._hangs or before
        return Expr("name", (key,))

    def _macro(self, name: str, at: Span) -> Expr | None:
        """A macro that stands for what the preprocessor does not know: `sizeof`, and the constants of the file."""
        if len(self.names) >= MAX_NAMES or self._depth > MAX_DEPTH or not self._knows_more(name):
            return None
        start, end = self._defined[name] or (0, 0)
        return self._stored(ConstantDefinition(name, "=", start, start, end, True, True))._replace(at=at)

    def _knows_more(self, name: str, depth: int = 0) -> bool:
        """Whether a macro of one definition, or one that it is made of, says what the preprocessor does not know."""
        if name in self._defined:
            return self._defined[name] is not None
        self._defined[name] = None  # one that is made of itself
        found = list(re.finditer(rf"#[ \t]*define[ \t]+{re.escape(name)}[ \t]+(?P<value>.+)", self.code.text))
        if len(found) == 1:
            words = dict.fromkeys(_WORD.findall(found[0]["value"]))
            if any(word == "sizeof" or word in self._places for word in words) or any(
                self._knows_more(word, depth + 1)
                for word in words
                if word in self.directives.macros and depth < MAX_DEPTH
            ):
                self._defined[name] = found[0].span("value")
        return self._defined[name] is not None

    def _member(self, written: str, offset: int) -> Expr | None:
        """A constant of a class: `Traits<128, 4>::kBytes`, by an alias for that, or by a parameter that is given it."""
        owner, _, last = written.rpartition("::")
        if not owner or len(self.names) >= MAX_NAMES or self._depth > MAX_DEPTH:
            return None
        written_type = self._type(owner, offset)
        if written_type is not None:
            meant = f"{written_type.words}::{last}"
            with self._binding(written_type.bound):
                return self._member(meant, written_type.at) or self._meant(meant, last, written_type.at)
        made = self._class(owner, offset)
        if made is None:
            at = self.code.span(offset, offset + len(written))
            asked = instances.asked(written, at, self._name) if "<" in owner else None
            return Expr("macro", asked, at) if asked is not None else None  # of a header
        scope, bound = made
        inside = [one for one in self._known(last) if one.fixed and scope.open < one.start < scope.close]
        with self._binding(bound):
            return self._stored(inside[0]) if len(inside) == 1 else None

    def called(self, name: str, given: tuple[Expr, ...], at: Span | None) -> Expr | None:
        """What a function of the file that is constants and one `return` gives for these arguments."""
        plain = name.partition("<")[0].rpartition("::")[2]
        found = [scope for scope in self.scopes.functions if plain_name(scope) == plain]
        if len(found) != 1 or found[0].open in self._called or at is None:
            return None
        (scope,) = found
        body = _ONE_RETURN.fullmatch(self.code.text, scope.open + 1, scope.close)
        names = parameters(self.code.text, scope)
        if body is None or len(names) != len(given):
            return None
        parts = self._arguments_of(plain, self.code.offset(*at[:2])) if "<" in name else None
        bound = self._bindings(self._parameters(scope), parts or [], scope.header, scope.close)
        if bound is None:
            return None
        values = bound.values | dict(zip(names, given, strict=True))
        self._called.add(scope.open)
        try:
            with self._binding(replace(bound, values=values, mark=f"{bound.mark}({at})")):
                return self.value(*body.span("value"))
        finally:
            self._called.discard(scope.open)

    def class_at(self, offset: int) -> str:
        inner = [scope for scope in self._classes if scope.open < offset < scope.close]
        return inner[-1].name if inner else ""

    @cached_property
    def _classes(self) -> list[CodeScope]:
        """Enumerators belong to what is around their enumeration, unless it is a class."""
        return [
            scope
            for scope in self.scopes.all
            if scope.kind == "class" and not _UNSCOPED.match(self.code.text, scope.header, scope.open)
        ]

    # -- templates

    @contextmanager
    def _binding(self, bound: TemplateArguments) -> Iterator[None]:
        outer, self._bound = self._bound, bound
        self._depth += 1
        try:
            yield
        finally:
            self._bound = outer
            self._depth -= 1

    def _parameters(self, scope: CodeScope) -> dict[str, TemplateParameter]:
        """Those of the template that a function or a class is."""
        if scope.open not in self._parameters_of:
            found = _TEMPLATE.search(self.code.text, scope.header, scope.open)
            self._parameters_of[scope.open] = self._parameters_at(found.end() - 1) if found is not None else {}
        return self._parameters_of[scope.open]

    def _parameters_at(self, opening: int) -> dict[str, TemplateParameter]:
        named: dict[str, TemplateParameter] = {}
        for position, (start, end) in enumerate(arguments(self.code.text, opening) or ()):
            match = _PARAMETER.match(self.code.text[start:end])
            if match is not None:
                low, high = match.span("default")
                default = (start + low, start + high) if low >= 0 else None
                named[match["name"]] = TemplateParameter(position, match["type"] in ("class", "typename"), default)
        return named

    def _bindings(
        self, named: dict[str, TemplateParameter], given: list[tuple[int, int]], start: int, end: int
    ) -> TemplateArguments | None:
        """What the parameters of a template are, as far as they are said; None where too much is followed."""
        if len(self._bound.mark) >= LONGEST or len(self.names) >= MAX_NAMES or self._depth > MAX_DEPTH:
            return None
        bound = TemplateArguments(start, end, self._bound.mark)
        for name, one in named.items():
            place = given[one.position] if one.position < len(given) else one.default
            if place is None:
                continue
            around = self._bound if one.position < len(given) else bound
            low, high = stripped(self.code.text, *place)
            bound.types[name] = WrittenType(self.code.text[low:high], low, around)
            words = bound.types[name].words
            bound = replace(bound, mark=f"{bound.mark}<{words if words.isdigit() else f'{words}@{low}'}>")
            if not one.is_type:
                with self._binding(around):
                    argument = ConstantDefinition(name, "=", low, low, high, True, True)
                    bound.values[name] = self._stored(argument)
        return bound

    def _given(self, name: str, offset: int) -> TemplateArguments | None:
        """Who says what a parameter is: the instance that is followed, or all of them where they agree."""
        if self._bound.holds(offset) and (name in self._bound.values or name in self._bound.types):
            self._hangs = True
            return self._bound
        scope = self.scopes.function(offset)
        made = self._instances(scope) if scope is not None and name in self._parameters(scope) else []
        said = {one.types[name].words if name in one.types else "" for one in made}
        return made[0] if len(said) == 1 and "" not in said and len(made) < _MOST_INSTANCES else None

    def _instances(self, scope: CodeScope) -> list[TemplateArguments]:
        """What a function template is given in each instance that the file makes, by a call or by name."""
        if scope.open not in self._made:
            self._made[scope.open] = []  # one that is made of itself
            named = self._parameters(scope)
            self._made[scope.open] = list(islice(self._made_of(scope, named), _MOST_INSTANCES)) if named else []
        return self._made[scope.open]

    def _made_of(self, scope: CodeScope, named: dict[str, TemplateParameter]) -> Iterator[TemplateArguments]:
        word = re.escape(scope.name)
        named_so = re.finditer(rf"{word}(?<!\w{word})\s*<(?![<=])", self.text)
        uses = [(one.start(), arguments(self.text, one.end() - 1)) for one in named_so]
        special: list[list[str]] = []
        for at, given in uses:
            around = self.scopes.function(at)
            words = [self.text[low:high].strip() for low, high in given or ()]
            if around is not None and at < around.open:
                special.append(words)
            elif given is None:
                yield _NOTHING
            elif len(given) <= len(named) and words not in special:
                for outer in (self._instances(around) if around is not None else ()) or (_NOTHING,):
                    with self._binding(outer):
                        made = self._bindings(named, given, scope.header, scope.close) if self._is_reached(at) else None
                    if made is not None:
                        yield replace(made, uses=(at, *outer.uses))

    def _arguments_of(self, name: str, offset: int) -> list[tuple[int, int]] | None:
        """The template arguments of the first use of a name behind an offset."""
        place = re.compile(rf"\b{re.escape(name)}\s*<").search(self.code.text, offset)
        return arguments(self.code.text, place.end() - 1) if place is not None else None

    # -- types

    def _type(self, words: str, offset: int) -> WrittenType | None:
        """What stands for a type as written: the argument of a template, an alias, the choice of a `conditional`."""
        words = _TYPENAME.sub("", words, count=1).strip()
        given = self._given(words, offset)
        if given is not None:
            return given.types.get(words)
        if _CHOOSES.match(words):
            return self._chosen(offset)
        if words.endswith(">"):
            return self._alias_instance(words.partition("<")[0].rpartition("::")[2].strip(), offset)
        owner, _, last = words.rpartition("::")
        made = self._class(owner, offset) if owner else None
        place = self._alias(last, offset, made[0] if made else None) if made or not owner else None
        bound = made[1] if made is not None else self._bound
        return WrittenType(self.code.text[slice(*place)], place[0], bound) if place is not None else None

    def _class(self, words: str, offset: int) -> tuple[CodeScope, TemplateArguments] | None:
        """The class of the file that a type as written is, and what its parameters are."""
        if self._depth > MAX_DEPTH:
            return None
        written = self._type(words, offset)
        if written is not None:
            with self._binding(written.bound):
                return self._class(written.words, written.at)
        plain = _TYPENAME.sub("", words, count=1).partition("<")[0].strip().rpartition("::")[2]
        found = [scope for scope in self._classes if scope.name == plain]
        named = self._parameters(found[0]) if len(found) == 1 else {}
        if len(found) != 1 or bool(named) != ("<" in words):
            return None
        parts = self._arguments_of(plain, offset) if named else []
        if parts is None or any(one.default is None and one.position >= len(parts) for one in named.values()):
            return None
        bound = self._bindings(named, parts, found[0].header, found[0].close) if named else self._bound
        return (found[0], bound) if bound is not None else None

    def _chosen(self, offset: int) -> WrittenType | None:
        """The type which a `std::conditional` behind an offset comes to, where its test is decided."""
        parts = arguments(self.code.text, self.code.text.find("<", offset))
        holds = self._decided(self.value(*parts[0])) if parts is not None and len(parts) == 3 else None
        if parts is None or holds is None:
            return None
        start, end = stripped(self.code.text, *parts[1 if holds else 2])
        return WrittenType(self.code.text[start:end], start, self._bound)

    def _alias_instance(self, name: str, offset: int) -> WrittenType | None:
        """The one `template <...> using name = type` of the file with the arguments behind an offset."""
        places, text = self._aliases.get(name, []), self.code.text
        if len(places) != 1:
            return None
        start, end = places[0]
        low = max(0, start - LONGEST)
        head = _ALIAS_TEMPLATE.search(text[low:start])
        given = self._arguments_of(name, offset) if head is not None else None
        if head is None or given is None:
            return None
        opening = low + head.start(1)
        bound = self._bindings(self._parameters_at(opening), given, opening, end)
        return WrittenType(text[start:end], start, bound) if bound is not None else None

    # -- sizes

    def size(self, words: str, offset: int) -> Expr | None:
        """Bytes of a type as written."""
        found = self._layout(words, offset, 0)
        return found[0] if found else None

    def _layout(self, words: str, offset: int, depth: int) -> tuple[Expr, int] | None:
        fundamental = size_of(words)
        if fundamental is not None:
            return const(fundamental), fundamental
        if depth > _DEEPEST_TYPE:
            return None
        written = self._type(words, offset)
        if written is not None:
            with self._binding(written.bound):
                return self._layout(written.words, written.at, depth + 1)
        made = self._class(words, offset)
        if made is None:
            return None
        with self._binding(made[1]):
            return self._class_layout(made[0], depth)

    def _alias(self, name: str, offset: int, owner: CodeScope | None) -> tuple[int, int] | None:
        """The type that `using name = type` gives a name: in a class, or in what is around, from the inside out."""
        function, found = self.scopes.function(offset), self._aliases.get(name, ())
        local = [one for one in found if function and function.open < one[0] < offset and self._sees(*one, offset)]
        if local and owner is None:
            return local[-1]
        around = [owner] if owner else [one for one in self._classes if one.open < offset < one.close][-1:]
        mine = [one for one in found if any(scope.open < one[0] < scope.close for scope in around)]
        if mine or owner is not None:
            return mine[0] if len(mine) == 1 else None
        outside = [one for one in found if not self.class_at(one[0]) and self.scopes.function(one[0]) is None]
        return outside[0] if len(outside) == 1 else None

    @cached_property
    def _aliases(self) -> dict[str, list[tuple[int, int]]]:
        """Where the types stand that `using name = type` gives names, by name."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for one in _NAMED_TYPE.finditer(self.code.text):
            found[one["name"]].append(one.span("type"))
        return found

    def _class_layout(self, scope: CodeScope, depth: int) -> tuple[Expr, int] | None:
        header = self.code.text[scope.header : scope.open]
        kind = _KIND.search(header)
        if kind is None:
            return None
        data = aggregate(self.code.text, scope.open + 1, scope.close, union=kind[0] == "union")
        own = [int(n) for n in re.findall(r"(?:alignas|__align__|aligned_struct)\s*[(<]\s*(\d+)\s*[,)>]", header)]
        base = _BASE.search(header)
        if data is None or (base is None and re.search(r"(?<!:):(?!:)", header)):
            return None
        if base is not None and base["name"] != "aligned_struct":
            if base["name"] in self._heirs:
                return None  # the room at the end of such a base may be used again
            at = scope.header + base.start("type")
            data = Aggregate(False, [LaidOut(base["type"], at, 0, []), *data.members])
        return self._aggregate(data, max(own, default=1), depth) if data.members else None

    @cached_property
    def _heirs(self) -> frozenset[str]:
        text = self.code.text
        return frozenset(one.name for one in self._classes if _BASE.search(text[one.header : one.open]))

    def _aggregate(self, data: Aggregate, widest: int, depth: int) -> tuple[Expr, int] | None:
        total: Expr = const(0)
        for one in data.members:
            whole = self._layout(one.words, one.at, depth + 1) if one.inner is None else None
            inner = whole if one.inner is None else self._aggregate(one.inner, 1, depth + 1)
            if inner is None:
                return None
            align = max(one.align, inner[1])
            widest = max(widest, align)
            size = self.counted(inner[0], one.sizes)
            total = most(total, size) if data.union else plus(rounded(total, align), size)
        return rounded(total, widest), widest

    def counted(self, size: Expr, dimensions: list[tuple[int, int]]) -> Expr:
        """Bytes of an array."""
        for start, end in dimensions:
            size = times(size, self.value(start, end))
        return size


def _numeric(node: Expr, constants: Constants) -> Expr:
    """Only arithmetic is kept: what else stands there has no value."""
    if node.op == "call":
        function, given = node.args
        name = function.args[0] if function.op in ("name", "macro") else ""
        macro = constants.directives.macros.get(str(name))
        if macro is not None and macro.params and len(macro.params) == len(given):
            return Expr("macro", (name, tuple(_numeric(item, constants) for item in given)), node.at)
        if name in _EXTREMES and len(given) == 2:
            return Expr("call", (function, tuple(_numeric(item, constants) for item in given)), node.at)
        if name == "sizeof" and given:
            words = " ".join(str(item.args[0]).partition("@")[0] for item in given if item.op == "name")
            at = given[0].at
            size = constants.size(words, constants.code.offset(*at[:2])) if words and at is not None else None
            return size._replace(at=node.at) if size is not None else unknown("sizeof", node.at)
        if name in _NUMBERS and len(given) == 1:
            return _numeric(given[0], constants)
        values = tuple(_numeric(item, constants) for item in given)
        return constants.called(name, values, node.at) or unknown(str(name)[:80] or "call", node.at)
    if node.op not in _KEPT:
        return unknown(node.op, node.at)
    if node.op == "name":
        return node if node.args[0] in constants.names else unknown(node.args[0], node.at)
    return node._replace(args=mapped(node.args, lambda one: _numeric(one, constants)))
