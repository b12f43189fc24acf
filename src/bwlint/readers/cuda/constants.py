"""Names that stand for numbers: which definition an identifier means at a place, and its value as an expression.

Only what decides the number is followed: constants, macros, locals that are set once, `sizeof` of simple types,
template parameters that the file gives one value. What is left is an unknown, never a guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce

from bwlint.model.expr import Expr, Span, const, unknown
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.given import parameters, plain_name
from bwlint.readers.cuda.layout import Aggregate, LaidOut, aggregate, most, plus, rounded, size_of, times
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes

MAX_NAMES = 400
"""How many definitions one file may follow."""
MAX_DEPTH = 50
"""How many of them may stand in one another's values."""
MAX_USES = 32
"""How many instantiations of a template may agree on an argument."""
_SET = re.compile(r"=(?!=)")  # begins with a plain character: the engine skips to it
_TARGET = re.compile(r"(?P<op>[-+*/%|&^]|<<|>>)?[ \t]*(?P<name>\w*[A-Za-z_])")
"""What is set, read backwards from the sign: the last word in front of it and its operator."""
_LONGEST_NAME = 90
_END = re.compile(r"[;,(){}\[\]]|(?<=\w)<(?![<=\s])")
_BEHIND_ARGUMENTS = ("::", "(", "{", ")", ";", ",", ">>>")
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
_CHOOSES = re.compile(r"(?:typename\s+)?(?:\w+\s*::\s*){0,4}conditional(?:_t)?\s*<")
_ONE_RETURN = re.compile(r"\s*return\b(?P<value>[^;{}]+);\s*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST_SCAN = 60_000
_LONGEST_VALUE = 2_000
_LONGEST_MARK = 400
_KEPT = frozenset({"const", "unknown", "bin", "neg", "if", "cmp", "and", "or", "not", "macro", "name"})
_MOST_INSTANCES = 4
_INSTANCE = re.compile(r"\btemplate\s+[\w:&*\s]{1,400}?\b(\w+)\s*(?=<)")
_EXTREMES = {"max": "max", "min": "min"}
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


TemplateParameters = dict[str, tuple[int, int, int]]
"""By name: the position, and the offsets of the default (or -1)."""


@dataclass(frozen=True, slots=True)
class TemplateArguments:
    """Template parameters of the class whose member is followed: their values, and the types as written."""

    mark: str = ""
    values: dict[str, Expr] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


@dataclass
class Constants:
    """`names` are the definitions that were followed, for the module's table."""

    code: Code
    directives: Directives
    scopes: Scopes
    names: dict[str, Expr] = field(default_factory=dict)
    _definitions: dict[str, list[ConstantDefinition]] = field(default_factory=dict)
    _arguments: dict[str, list[list[tuple[int, int]]] | None] = field(default_factory=dict)
    _bound: TemplateArguments = field(default_factory=lambda: TemplateArguments())
    _called: set[int] = field(default_factory=set)
    """The functions whose value is being found, by where they open."""
    _defined: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    """Where the values of macros stand that say more than the preprocessor knows; None for the others."""
    _depth: int = 0

    def value(self, start: int, end: int) -> Expr:
        """What stands between two offsets as an expression over numbers."""
        self._depth += 1
        found = _numeric(lower(self.code, start, end, lambda name, at: self._name(name, start, at)), self, start)
        self._depth -= 1
        return found

    def most(self, start: int, end: int) -> Expr:
        """The same in a function of which the file makes several instances by name: the most that one of them takes."""
        scope = self.scopes.function(start)
        made = self._instances(scope) if scope is not None else []
        bounds = [self._bindings(self._parameters(scope), given) for given in made] if scope is not None else []
        amounts: list[Expr] = []
        for bound in bounds if len(bounds) > 1 else ():
            if bound is not None:
                with self._binding(bound):
                    amounts.append(self.value(start, end))
        if not amounts:
            return self.value(start, end)
        return reduce(lambda one, other: Expr("call", (Expr("name", ("max",)), (one, other)), one.at), amounts)

    def _instances(self, scope: CodeScope) -> list[list[tuple[int, int]]]:
        """The arguments of `template void f<1, 2>(...);`."""
        made = self._made_by_name.get(scope.name, ()) if scope.parent == "" else ()
        return [one for at in made if (one := arguments(self.code.text, at))][:_MOST_INSTANCES]

    @cached_property
    def _made_by_name(self) -> dict[str, list[int]]:
        """Where the arguments of explicit instantiations begin, by the name of the template."""
        found = defaultdict[str, list[int]](list)
        for one in _INSTANCE.finditer(self.code.text):
            found[one[1]].append(one.end())
        return found

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

    def _name(self, written: str, offset: int, at: Span) -> Expr:
        last = written.rpartition("::")[2]
        if last.partition("<")[0] in _EXTREMES:
            last = last.partition("<")[0]
        if last in _EXTREMES or last == "sizeof" or size_of(written) is not None:
            return Expr("name", (last if last in _EXTREMES else written,), at)
        found = self._bound.values.get(written) or self._member(written, last, offset)
        if found is None and "<" in written:
            return Expr("name", (written,), at)
        found = found or self._meant(written, last, offset)
        if found is not None:
            return found._replace(at=at)
        if written in self.directives.macros and not self.directives.macros[written].params:
            return self._macro(written, at) or Expr("macro", (written, ()), at)
        if _NAMES_MACRO.fullmatch(written):
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
            if self._is_parameter(scope, last):
                return self._template(scope, last)
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
        before = [one for one in found if one.start < offset and self._visible(one, offset)]
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

    def _visible(self, one: ConstantDefinition, offset: int) -> bool:
        """Whether no brace that was open at a definition closes before an offset."""
        if offset - one.start > _LONGEST_SCAN:
            return False
        depth = 0
        for mark in re.finditer(r"[{}]", self.code.text[one.end : offset]):
            depth += 1 if mark[0] == "{" else -1
            if depth < 0:
                return False
        return True

    def _lent(self, one: ConstantDefinition) -> bool:
        """Whether its address is handed out, or it is counted up: somebody else sets it."""
        scope = self.scopes.function(one.start)
        stop = min(scope.close if scope else one.end, one.end + _LONGEST_SCAN)
        name = re.escape(one.name)
        return (
            re.compile(rf"[(,=]\s*&\s*{name}\b|(?:\+\+|--){name}\b|\b{name}(?:\+\+|--)").search(
                self.code.text, one.end, stop
            )
            is not None
        )

    def _stored(self, one: ConstantDefinition) -> Expr:
        """A reference to a definition in the module's table, where its value is kept once."""
        key = f"{one.name}@{one.start}{self._bound.mark}"
        if key not in self.names:
            self.names[key] = unknown(key)  # a definition that names itself
            self.names[key] = self.value(one.value, one.end)
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

    def _member(self, written: str, last: str, offset: int) -> Expr | None:
        """A constant of a class, given its arguments: `Traits<128, 4>::kBytes`, by an alias for that, or by the
        template parameter that all uses of a function in the file give one class.
        """
        owner = written.rpartition("::")[0]
        if not owner or len(self._bound.mark) >= _LONGEST_MARK or len(self.names) >= MAX_NAMES:
            return None
        found = self._instance(owner, offset)
        if found is None:
            place = self._type_given(owner, offset)
            meant = f"{self.code.text[slice(*place)].strip()}::{last}" if place is not None else written
            if place is None or meant == written:
                return None
            return self._member(meant, last, place[0]) or self._meant(meant, last, place[0])
        scope, given = found
        bound = self._bindings(self._parameters(scope), given)
        inside = [one for one in self._known(last) if one.fixed and scope.open < one.start < scope.close]
        if bound is None or len(inside) != 1:
            return None
        with self._binding(bound):
            return self._stored(inside[0])

    @contextmanager
    def _binding(self, bound: TemplateArguments) -> Iterator[None]:
        outer, self._bound = self._bound, bound
        try:
            yield
        finally:
            self._bound = outer

    def _bindings(self, parameters: TemplateParameters, given: list[tuple[int, int]]) -> TemplateArguments | None:
        """What the parameters of a template are; None where one is not known."""
        values: dict[str, Expr] = {}
        types: dict[str, str] = {}
        for name, (position, low, high) in parameters.items():
            start, end = given[position] if position < len(given) else (low, high)
            if start < 0:
                return None
            text = self.code.text[start:end]
            types[name] = self._bound.types.get(text.strip(), text.strip())
            values[name] = self.value(start + len(text) - len(text.lstrip()), end)
        if any(value.op == "unknown" and value.args[0] in values for value in values.values()):
            return None
        return TemplateArguments(f"{self._bound.mark}<{','.join(types.values())}>", values, types)

    def _type_given(self, name: str, offset: int) -> tuple[int, int] | None:
        """Where the class stands that all uses of the function around an offset give its template parameter."""
        scope = self.scopes.function(offset)
        position = self._parameters(scope).get(name, (-1,))[0] if scope is not None else -1
        uses = self._uses(scope.name) if scope is not None and position >= 0 else None
        if not uses or any(position >= len(parts) for parts in uses):
            return None
        places = {self.code.text[slice(*parts[position])].strip(): parts[position] for parts in uses}
        return next(iter(places.values())) if len(places) == 1 else None

    def called(self, name: str, given: tuple[Expr, ...], at: Span | None) -> Expr | None:
        """What a function of the file that is one `return` gives for these arguments."""
        found = [scope for scope in self.scopes.functions if plain_name(scope) == name.rpartition("::")[2]]
        if len(found) != 1 or found[0].open in self._called or len(self._bound.mark) >= _LONGEST_MARK:
            return None
        (scope,) = found
        body = _ONE_RETURN.fullmatch(self.code.text, scope.open + 1, scope.close)
        names = parameters(self.code.text, scope)
        if body is None or len(names) != len(given):
            return None
        values = dict(zip(names, given, strict=True))
        self._called.add(scope.open)
        try:
            with self._binding(TemplateArguments(f"{self._bound.mark}({at})", values)):
                return self.value(*body.span("value"))
        finally:
            self._called.discard(scope.open)

    def _instance(self, owner: str, offset: int) -> tuple[CodeScope, list[tuple[int, int]]] | None:
        """The class template that a name stands for, and the offsets of its arguments."""
        text, function = self.code.text, self.scopes.function(offset)
        name, angle, _ = owner.partition("<")
        if angle:
            place = re.compile(rf"\b{re.escape(name.rpartition('::')[2])}\s*<").search(text, offset)
            opening = place.end() - 1 if place is not None else -1
        else:
            places = re.compile(rf"\busing\s+{re.escape(name)}\s*=\s*([\w:]+)\s*<")
            low = max(function.open if function else 0, offset - _LONGEST_SCAN)
            found = list(places.finditer(text, low, offset))
            if len(found) != 1:
                return None
            name, opening = found[0][1], found[0].end() - 1
        scopes = [scope for scope in self._classes if scope.name == name.strip().rpartition("::")[2]]
        parts = arguments(text, opening) if opening >= 0 else None
        return (scopes[0], parts) if len(scopes) == 1 and parts else None

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

    # -- template parameters

    def _is_parameter(self, scope: CodeScope, name: str) -> bool:
        return name in self._parameters(scope)

    def _parameters(self, scope: CodeScope) -> TemplateParameters:
        """Those of the template that a function or a class is."""
        found = _TEMPLATE.search(self.code.text, scope.header, scope.open)
        return self._parameters_at(found.end() - 1) if found is not None else {}

    def _parameters_at(self, opening: int) -> TemplateParameters:
        parts = arguments(self.code.text, opening)
        named: TemplateParameters = {}
        for position, (start, end) in enumerate(parts or ()):
            match = _PARAMETER.match(self.code.text[start:end])
            if match is not None:
                low, high = match.span("default")
                named[match["name"]] = (position, start + low if low >= 0 else -1, start + high if low >= 0 else -1)
        return named

    def _template(self, scope: CodeScope, name: str) -> Expr | None:
        """The value that all explicit arguments of the file agree on."""
        position, low, high = self._parameters(scope)[name]
        values: dict[str, tuple[int, int]] = {}
        uses = self._uses(scope.name)
        if uses is None:
            return None
        for parts in uses:
            place = parts[position] if position < len(parts) else (low, high)
            if place[0] < 0:
                return None
            values[self.code.text[slice(*place)].strip()] = place
        if len(values) != 1:
            return None
        ((start, end),) = values.values()
        key = f"{name}@{start}"
        if key not in self.names:
            self.names[key] = unknown(key)
            self.names[key] = self.value(start, end)
        return Expr("name", (key,))

    def _uses(self, name: str) -> list[list[tuple[int, int]]] | None:
        """The template arguments of each use of a name; None where they are too many or not to be read."""
        if name not in self._arguments:
            found: list[list[tuple[int, int]]] | None = []
            for match in re.finditer(rf"{re.escape(name)}\s*<(?![<=])", self.code.text):
                if self.code.text[match.start() - 1 : match.start()].isidentifier():
                    continue
                parts = arguments(self.code.text, match.end() - 1)
                if found is None or parts is None or len(found) >= MAX_USES:
                    found = None
                    break
                found.append(parts)
            self._arguments[name] = found
        return self._arguments[name]

    # -- sizes

    def size(self, words: str, offset: int) -> Expr | None:
        """Bytes of a type as written."""
        found = self._layout(words, offset, 0)
        return found[0] if found else None

    def _layout(self, words: str, offset: int, depth: int) -> tuple[Expr, int] | None:
        """Size and alignment."""
        words = self._bound.types.get(words, words)
        fundamental = size_of(words)
        if fundamental is not None:
            return const(fundamental), fundamental
        if depth > _DEEPEST_TYPE:
            return None
        if _CHOOSES.match(words):
            return self._chosen_layout(words, offset, depth)
        if "<" in words:
            return self._instance_layout(words, offset, depth)
        place = self._type_given(words, offset)
        if place is not None:
            return self._layout(self.code.text[slice(*place)].strip(), place[0], depth + 1)
        name = words.replace("struct", "").strip().rpartition("::")[2]
        found = [scope for scope in self._classes if scope.name == name]
        if len(found) == 1 and not _TEMPLATE.search(self.code.text, found[0].header, found[0].open):
            return self._class_layout(found[0], depth)
        alias = self._alias(name, offset) if not found and "::" not in words else None
        return self._layout(self.code.text[slice(*alias)], alias[0], depth + 1) if alias else None

    def _chosen_layout(self, words: str, offset: int, depth: int) -> tuple[Expr, int] | None:
        """That of the type which a `std::conditional` at an offset comes to, where its test is decided."""
        if not self.code.text.startswith(words, offset):
            return None
        parts = arguments(self.code.text, self.code.text.find("<", offset))
        holds = self._decided(self.value(*parts[0])) if parts is not None and len(parts) == 3 else None
        if parts is None or holds is None:
            return None
        start, end = parts[1 if holds else 2]
        text = self.code.text[start:end]
        return self._layout(text.strip(), start + len(text) - len(text.lstrip()), depth + 1)

    def _decided(self, test: Expr, way: int = 0) -> int | None:
        """What a test comes to that is made of constants, their equality and `!`."""
        if way > MAX_DEPTH:
            return None
        if test.op == "name" and test.args[0] in self.names:
            return self._decided(self.names[test.args[0]], way + 1)
        if test.op == "const":
            return int(test.args[0]) if isinstance(test.args[0], int) else None
        if test.op == "not":
            holds = self._decided(test.args[0], way + 1)
            return None if holds is None else not holds
        if test.op != "cmp" or test.args[0] not in ("==", "!="):
            return None
        left, right = (self._decided(one, way + 1) for one in test.args[1])
        return None if left is None or right is None else (left == right) == (test.args[0] == "==")

    def _alias(self, name: str, offset: int) -> tuple[int, int] | None:
        """The type that `using name = type` gives a name, in the class or function around, or at the top of a file."""
        function, found = self.scopes.function(offset), self._aliases.get(name, ())
        around = [scope for scope in self._classes if scope.open < offset < scope.close][-1:]
        around += [function] if function is not None else []
        for scope in reversed(around):
            mine = [one for one in found if scope.open < one[0] < scope.close]
            if mine:
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

    def _instance_layout(self, words: str, offset: int, depth: int) -> tuple[Expr, int] | None:
        instance = self._instance(words, offset)
        if instance is None:
            return self._alias_instance_layout(words.partition("<")[0], offset, depth)
        bound = self._bindings(self._parameters(instance[0]), instance[1])
        if bound is None:
            return None
        with self._binding(bound):
            return self._class_layout(instance[0], depth)

    def _alias_instance_layout(self, name: str, offset: int, depth: int) -> tuple[Expr, int] | None:
        """That of the one `template <...> using name = type` of the file with the arguments behind an offset."""
        text, last = self.code.text, re.escape(name.strip().rpartition("::")[2])
        found = list(re.finditer(rf"\btemplate\s*(<[^;{{}}]*>)\s*using\s+{last}\s*=\s*([^;{{}}]+?)\s*;", text))
        use = re.compile(rf"\b{last}\s*<").search(text, offset)
        given = arguments(text, use.end() - 1) if use is not None and len(found) == 1 else None
        bound = self._bindings(self._parameters_at(found[0].start(1)), given) if given else None
        if bound is None:
            return None
        with self._binding(bound):
            return self._layout(found[0][2], found[0].start(2), depth + 1)

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
        """Classes with a base."""
        text = self.code.text
        return frozenset(one.name for one in self._classes if _BASE.search(text[one.header : one.open]))

    def _aggregate(self, data: Aggregate, widest: int, depth: int) -> tuple[Expr, int] | None:
        total: Expr = const(0)
        for one in data.members:
            inner = (
                self._aggregate(one.inner, 1, depth + 1)
                if one.inner is not None
                else self._layout(one.words, one.at, depth + 1)
            )
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


def _numeric(node: Expr, constants: Constants, offset: int) -> Expr:
    """Only arithmetic is kept: what else stands there has no value."""
    if node.op == "call":
        function, given = node.args
        name = function.args[0] if function.op in ("name", "macro") else ""
        macro = constants.directives.macros.get(str(name))
        if macro is not None and macro.params and len(macro.params) == len(given):
            return Expr("macro", (name, tuple(_numeric(item, constants, offset) for item in given)), node.at)
        if name in _EXTREMES and len(given) == 2:
            return Expr("call", (function, tuple(_numeric(item, constants, offset) for item in given)), node.at)
        if name == "sizeof" and given:
            words = " ".join(str(item.args[0]).partition("@")[0] for item in given if item.op == "name")
            size = constants.size(words, offset) if words else None
            return size._replace(at=node.at) if size is not None else unknown("sizeof", node.at)
        if name in _NUMBERS and len(given) == 1:
            return _numeric(given[0], constants, offset)
        values = tuple(_numeric(item, constants, offset) for item in given)
        return constants.called(name, values, node.at) or unknown(str(name)[:80] or "call", node.at)
    if node.op not in _KEPT:
        return unknown(node.op, node.at)
    if node.op == "name":
        return node if node.args[0] in constants.names else unknown(node.args[0], node.at)
    return node._replace(args=tuple(_inner(item, constants, offset) for item in node.args))


def _inner(item: object, constants: Constants, offset: int) -> object:
    if isinstance(item, Expr):
        return _numeric(item, constants, offset)
    if isinstance(item, tuple):
        return tuple(_inner(one, constants, offset) for one in item)
    return item


def template_end(text: str, opening: int) -> int:
    """Behind the arguments of a template at an opening angle; -1 where it is none."""
    parts = arguments(text, opening, _LONGEST_MARK)
    end = parts[-1][1] + 1 if parts else -1
    return end if text.startswith(_BEHIND_ARGUMENTS, end) else -1


_ANGLE = re.compile(r"[<>,;(){}\[\]]")


def arguments(text: str, opening: int, limit: int = 2_000) -> list[tuple[int, int]] | None:
    """The offsets of each argument in the brackets at `opening`, which may be angular; None where they do not end."""
    parts: list[tuple[int, int]] = []
    angular = text[opening] == "<"
    start, depth, at = opening + 1, 0, opening + 1
    stop = min(len(text), opening + limit)
    while (mark := _ANGLE.search(text, at, stop)) is not None:
        at = mark.end()
        if mark[0] in "([{":
            close = matching(text, mark.start(), limit)
            if close < 0:
                return None
            at = close + 1
        elif mark[0] == "," and depth == 0:
            parts.append((start, mark.start()))
            start = at
        elif mark[0] == "<" and angular:
            depth += 1
        elif (mark[0] == ">" and angular and depth == 0) or (mark[0] in ")]}" and not angular):
            parts.append((start, mark.start()))
            return parts if text[parts[0][0] : parts[-1][1]].strip() else []
        elif mark[0] == ">" and angular:
            depth -= 1
        elif mark[0] == ";" or mark[0] in ")]}":
            return None
    return None
