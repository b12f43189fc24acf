"""What a C++ file defines, what each definition uses, and the names it exports."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice

from bwlint.chips import frameworks
from bwlint.chips.atoms import is_builder, runs_everywhere
from bwlint.evaluate.names import compiles_by_default
from bwlint.model.expr import Span
from bwlint.model.facts import Operation, Path, Use
from bwlint.model.kinds import NAMED, DefinitionKind
from bwlint.model.outline import Definition, Outline
from bwlint.readers.cuda import assembly, ways
from bwlint.readers.cuda.given import parameters
from bwlint.readers.cuda.instances import (
    MAX_GIVEN,
    Decide,
    Given,
    GivenTemplate,
    given,
    instance,
    member_of,
    special_arguments,
)
from bwlint.readers.cuda.lexer import Code, arguments
from bwlint.readers.cuda.program import tags
from bwlint.readers.cuda.scopes import CodeScope, CutText, aliases, cut
from bwlint.readers.cuda.statements import Stretch, compiled, only_refuses, statements, sure
from bwlint.readers.cuda.walk import last
from bwlint.readers.cuda.ways import CALL, FARTHEST, NOT_USED, held
from bwlint.readers.ondemand import OnDemand

MAX_USES = 300
MAX_DEFINITIONS = 3000
_NAME = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_PATH = re.compile(r"\s*::\s*")
_BASES = re.compile(r":(?!:)(.*)$", re.DOTALL)
_ACCESS = frozenset({"public", "private", "protected", "virtual", "typename"})
_CALLED = re.compile(r"\s*<<<|<(?![<= \t])|\s*\(")
_CALLS = re.compile(r"(?<![\w.>:])(?P<name>[A-Za-z_]\w*)\s*\(")
_LAMBDA = re.compile(r"=\s*\[")
_INSTANTIATED = re.compile(r"<(?![<= \t])")
_MEMBER = (".", "->")
_ARGUMENT = re.compile(r"[<,]\s*(?:typename\s+)?\Z")
_ENDS_ARGUMENT = re.compile(r"\s*(?:::\s*\w+\s*)?[,>]")
_DEVICE = re.compile(r"__global__|__device__|\b[A-Z]+_DEVICE\b")
_CHOSEN = re.compile(r"\bconditional(?:_t)?\s*<")
_BUILDS_FOR = re.compile(r"\s*<\s*(?P<tag>[A-Za-z_][\w:]*)\s*,\s*(?P<operator>[\w:]*)")
_WORDS = frozenset(
    [
        *("if", "for", "while", "switch", "return", "sizeof", "decltype", "static_assert", "throw", "catch", "alignas"),
        *("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "template", "operator", "defined", "new"),
    ]
)
# Each alternative begins with a plain character: that lets the engine skip to the next candidate.
_REGISTERED = re.compile(rf"(?:def(?<!\wdef)|impl(?<!\wimpl)|(?P<typed>{frameworks.piece('registers_typed')}))\s*\(")
_FIRST = re.compile(r"\s*(?:[\w:]+\s*\(\s*)?")
_SYMBOL = re.compile(
    rf"&\s*(?P<name>[A-Za-z_][\w:]*)|\b{frameworks.piece('boxes')}\s*\(\s*&?\s*(?P<boxed>[A-Za-z_][\w:]*)"
)
_BARE = re.compile(
    r"\"\s*,\s*(?:(?:torch|c10|at)::k[A-Z]\w*\s*,\s*)?(?P<name>(?!(?:torch|c10|at)::)[A-Za-z_][\w:]*)(?P<boxed>)\s*"
    r"(?:<[^;()]*>\s*)?[,)]"
)
"""A function by its name alone: `m.impl("op", torch::kCUDA, fwd)`."""
_TYPED = re.compile(r"\s*(?P<op>[A-Za-z_]\w*)\s*,\s*(?P<name>[A-Za-z_][\w:]*)\s*\)")
_ALIAS = re.compile(r"\battr\s*\(\s*(\")[^\"]*\"\s*\)\s*=\s*\w+\s*\.\s*attr\s*\(\s*(\")")
"""One more name of what is registered: `m.attr("run") = m.attr("run_v2")`."""
_LIBRARY = re.compile(rf"\b{frameworks.piece('registers')}\s*\(\s*(?P<name>\w+)")
_RENAMES = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)?using\s+(?P<name>[A-Za-z_]\w*)\s*=")
_LONGEST_BINDING = 4000
_MOST_LAMBDAS = 50
_FARTHEST_TAG = 20_000


def outline(path: str, source: str) -> Outline:
    """The outline of one file; never raises, and what is not C++ gives nothing.

    A definition that shares its qualified name with one before it is kept under the name and a number (`f#2`).
    `imports` map the names under which functions are registered, with the library's (`ns.op`) where it has one, to
    the functions. Uses of kind instruction and atom are those that the tables of operations know.
    """
    file = _OutlinedFile(source)
    code, text, places = file.parts.code, file.parts.text, file.parts.places
    written: dict[str, CodeScope] = {}
    for scope in (*places.all[:MAX_DEFINITIONS], *islice(aliases(text, places), MAX_DEFINITIONS)):
        if scope.kind in ("function", "class"):
            written[_free(_qualname(scope), written)] = scope
    return Outline(
        path=path,
        language="cuda",
        definitions=OnDemand(written, lambda _, scope: _definition(file, scope)),
        places={name: code.span(scope.header, scope.close + 1) for name, scope in written.items()},
        imports=dict(_bindings(code)),
        outside=_outside(written),
        instances=lambda name, given, decide: tuple(_instances(file, written, name, given, decide)),
        written=lambda at: _written(file.parts.code, at),
    )


def _outside(written: Mapping[str, CodeScope]) -> dict[str, tuple[str, ...]]:
    """What is called by the name of something around it, by that: methods that are defined outside of their class
    (`void Runner::run() {`), functions of a namespace."""
    found: dict[str, tuple[str, ...]] = {}
    for qualname, scope in written.items():
        owner = last(scope.name.rpartition("::")[0]) or ("" if scope.parent else scope.namespace)
        owner = owner if scope.kind == "function" else ""
        if owner:
            found[owner] = (*found.get(owner, ()), qualname)
    return found


def _written(code: Code, name: Span) -> int | None:
    """How many arguments the call writes out whose name stands at a place."""
    end = code.offset(*name[2:])
    opening = end + len(code.text[end : end + MAX_GIVEN]) - len(code.text[end : end + MAX_GIVEN].lstrip())
    _, opening = given(code.text, opening)
    parts = arguments(code.text, opening) if code.text.startswith("(", opening) else None
    return len(parts) if parts is not None else None


def _instances(
    file: _OutlinedFile, written: Mapping[str, CodeScope], name: str, given: Given, decide: Decide
) -> Iterator[Definition]:
    """The definitions of a name at some arguments of a template; those that are written for them come first."""
    short = name.rpartition(".")[2]
    scopes_ = [scope for qualname, scope in written.items() if qualname.partition("#")[0] == name]
    found = []
    for scope in scopes_:
        owner = next((one for one in file.parts.places.all if _holds(one, scope)), None) if "." in name else None
        head, called = (owner, owner.name) if owner is not None else (scope, short)
        bound = instance(file.parts.code, file.parts.text, head, called, given, decide)
        if bound is not None:
            special = special_arguments(file.parts.text, head, called)
            found.append((bool(special), _definition(file, scope, bound.inside(file.parts.text, scope))))
    chosen = [made for special, made in found if special] or [made for _, made in found]
    at = f"<{', '.join(given)}>"
    yield from (replace(made, qualname=f"{made.qualname}{at}") for made in chosen)


def _holds(owner: CodeScope, scope: CodeScope) -> bool:
    return owner.kind == "class" and owner.qualname == scope.parent and owner.open < scope.open < owner.close


@dataclass(frozen=True)
class _OutlinedFile:
    """A file that is cut up again if it is asked for much later: outlines live as long as the run."""

    source: str

    @property
    def parts(self) -> CutText:
        return cut(self.source)

    @cached_property
    def needs(self) -> tuple[Operation, ...]:
        return assembly.operations(self.parts)

    @cached_property
    def renamed(self) -> tuple[_Renamed, ...]:
        """What a class or the file calls by a name of its own, and where it does: `using Memory = TMEM::Allocator;`."""
        found: list[_Renamed] = []
        for need in self.needs:
            start = self.parts.code.offset(*need.at[:2])
            alias = _RENAMES.match(self.parts.text, assembly.statement_start(self.parts.text, start), start)
            if need.kind not in NAMED or alias is None or self.parts.places.function(start) is not None:
                continue
            around = [one for one in self.parts.places.all if one.open < start < one.close]
            stretch = (around[-1].open, around[-1].close) if around else (0, len(self.parts.text))
            found.append(_Renamed(alias["name"], stretch, need.path, Use(need.name, need.kind, need.at)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Renamed:
    """An operation under a name of its own: the stretch in which it has it, and the guards that it stands under."""

    name: str
    within: Stretch
    path: Path
    use: Use


def _qualname(scope: CodeScope) -> str:
    name = last(scope.name) if scope.kind == "function" else scope.name
    return f"{scope.parent}.{name}" if scope.parent else name


def _free(name: str, taken: dict[str, CodeScope]) -> str:
    if name not in taken:
        return name
    return next(free for number in count(2) if (free := f"{name}#{number}") not in taken)


def _definition(file: _OutlinedFile, scope: CodeScope, bound: GivenTemplate | None = None) -> Definition:
    """A definition; `bound`: of a template with what its parameters are given."""
    code, text, found = file.parts.code, file.parts.text, file.parts.found
    bound = bound or GivenTemplate(code)
    at, qualname = code.span(scope.header, scope.close + 1), _qualname(scope)
    if scope.kind == "class":
        stretches = [(scope.header, scope.open), *file.parts.places.members(scope)]
        made = tuple(_names(file, scope, stretches, bound.with_tags(text, stretches)))
        return Definition(qualname, "class", at, made[:MAX_USES], bases=_bases(text, scope))
    around = found.path(scope.open)
    bound = bound.with_tags(text, [(scope.open, scope.close)])
    body = bound.settled(statements(text, scope.open + 1, scope.close))
    device = _DEVICE.search(text, scope.header, scope.open) is not None
    runs = list(compiled(text, body, tags(text, file.parts.places, scope)) if device else sure(text, body))
    certain = sorted(
        (start, end)
        for start, end in (*runs, *_called_lambdas(text, runs))
        if device or compiles_by_default(found.path(start), around)  # in device code the guards say for which targets
    )
    used = [*_names(file, scope, certain, bound, device), *_operations(code, certain, file.needs, at, around)]
    used += _renamed(file, scope, certain)
    if scope.test:
        # what it is about may be an argument or a member
        used += ways.uses(code, text, scope.open, scope.close, certain)
        return Definition(qualname, "test", at, tuple(used[:MAX_USES]))
    kind: DefinitionKind = "kernel" if scope.kernel else "function"
    ends = () if scope.kernel else ways.choices(code, text, body)
    chosen = tuple(replace(use, given=bound.written(use.given)) for use in ends)
    in_order = tuple(sorted(used, key=lambda use: use.at))[:MAX_USES]
    taken = tuple(parameters(text, scope))
    return Definition(qualname, kind, at, in_order, parameters=taken, choices=chosen, stub=only_refuses(text, body))


def _called_lambdas(text: str, runs: list[Stretch]) -> Iterator[Stretch]:
    """What surely runs in the lambdas with a name that are called in some stretches."""
    if not runs or _LAMBDA.search(text, max(0, runs[0][0] - FARTHEST), runs[-1][1]) is None:
        return
    known = held(text)
    waiting, seen = list(runs) if known.lambdas else [], set[Stretch]()
    while waiting:
        for called in _CALLS.finditer(text, *waiting.pop()):
            body = known.body(called["name"], called.start())
            if body is not None and body not in seen and len(seen) < _MOST_LAMBDAS:
                seen.add(body)
                within = list(sure(text, statements(text, *body)))
                yield from within
                waiting += within


def _names(
    file: _OutlinedFile, scope: CodeScope, certain: list[Stretch], bound: GivenTemplate, device: bool = False
) -> Iterator[Use]:
    """The functions that a body calls and the templates that it instantiates, each once, surely where it is sure."""
    text, around = file.parts.text, file.parts.found.path(scope.open)
    start = scope.header if scope.kind == "class" else scope.open
    starts = [start for start, _ in certain]
    used = _INSTANTIATED if scope.kind == "class" else _CALLED
    launched = ways.launched(text, start, scope.close)
    uses: dict[tuple[str, Given], Use] = {}
    choices = list(bound.choices(text, start, scope.close))
    for match in _NAME.finditer(text, start, scope.close):
        if choices and any(choice.left[0] <= match.start() < choice.left[1] for choice in choices):
            continue
        name = match[0]
        object_called = held(text).called(name, match.start())
        if object_called is None and (name in _WORDS or len(name) < 3):
            continue
        name = _PATH.sub(".", name) if ":" in name else name
        if match.start() not in launched and not _is_used(text, match, scope.close, used):
            continue
        member = text.endswith(_MEMBER, match.start() - 2, match.start())
        owner = held(text).owner(match.start()) if member else object_called
        if member and owner is None:
            continue
        name = CALL if not member and owner is not None else name
        index = bisect_right(starts, match.start()) - 1
        is_sure = index >= 0 and match.start() < certain[index][1]
        is_sure = is_sure and (device or compiles_by_default(file.parts.found.path(match.start()), around))
        chosen = any(choice.taken[0] <= match.start() < choice.taken[1] for choice in choices)
        use = _use(file, name, match, is_sure, chosen, bound)
        if owner is not None:
            use = replace(use, name=f"{bound.named(owner[0].replace('::', '.'))}.{name}", given=bound.written(owner[1]))
        known = uses.get((use.name, use.given))
        if known is None or (is_sure and not known.sure):
            uses[use.name, use.given] = use
    yield from uses.values()


def _is_used(text: str, name: re.Match[str], stop: int, used: re.Pattern[str]) -> bool:
    """Whether a name is called or instantiated, or is the whole of an argument of a template."""
    if used.match(text, name.end(), stop):
        return True
    if _ENDS_ARGUMENT.match(text, name.end(), stop) is None or name[0] in NOT_USED:
        return False
    return _ARGUMENT.search(text, max(0, name.start() - 60), name.start()) is not None


def _use(
    file: _OutlinedFile, name: str, match: re.Match[str], is_sure: bool, chosen: bool, bound: GivenTemplate
) -> Use:
    """A use of a name; of a builder of kernels, of what it builds for."""
    text, at = file.parts.text, file.parts.code.span(*match.span())
    begin = assembly.statement_start(text, match.start())
    open_choice = not chosen and _CHOSEN.search(text, begin, match.start()) is not None
    built = _BUILDS_FOR.match(text, match.end()) if is_builder(name) else None
    if built is not None and open_choice:  # both types that are chosen from may be built for the same
        same = re.compile(rf"\b{last(match[0])}\s*<\s*{built['tag']}\b")
        open_choice = len(same.findall(text, begin, text.find(";", match.end()))) < 2
    is_sure = is_sure and not open_choice
    if built is None or runs_everywhere(last(built["operator"])):
        arguments, end = given(text, match.end())
        member = member_of(text, end) if arguments else ""
        name = f"{name}.{member}" if member else bound.named(name)
        return Use(name, "call", at, sure=is_sure, given=bound.written(arguments))
    tag = last(bound.values.get(built["tag"], built["tag"]))
    named = re.compile(rf"\busing\s+{tag}\s*=\s*(?P<tag>[A-Za-z_][\w:\s]*?)\s*;")
    above = list(named.finditer(text, max(0, match.start() - _FARTHEST_TAG), match.start()))
    meant = bound.values.get(above[-1]["tag"], above[-1]["tag"]) if above else tag
    return Use(last(meant), "builder", at, sure=is_sure)


def _operations(
    code: Code, certain: list[Stretch], needs: tuple[Operation, ...], body: Span, path: Path
) -> Iterator[Use]:
    """The operations of a body, surely where no test of the preprocessor stands between it and them."""
    for need in needs:
        if need.kind in NAMED and body.holds(need.at):
            start = code.offset(*need.at[:2])
            is_sure = need.path in ((), path) and any(begin <= start < end for begin, end in certain)
            yield Use(need.name, need.kind, need.at, sure=is_sure)


def _renamed(file: _OutlinedFile, scope: CodeScope, certain: list[Stretch]) -> Iterator[Use]:
    """What a body surely makes use of by the name that its class or file gives it."""
    path = file.parts.found.path(scope.open)
    for one in file.renamed:
        begin, end = one.within
        if not begin < scope.open < end or one.path not in ((), path):
            continue
        known = re.compile(rf"\b{one.name}\b(?=\s+\w|\s*[({{:<])")
        found = next((use for stretch in certain if (use := known.search(file.parts.text, *stretch))), None)
        if found is not None:
            yield replace(one.use, at=file.parts.code.span(*found.span()))


def _bases(text: str, scope: CodeScope) -> tuple[str, ...]:
    """The bases in the header of a class, without their template arguments; all types that an alias is made of."""
    if text.startswith("=", scope.open):
        return tuple(re.sub(r"\s*::\s*", ".", name) for name in _NAME.findall(text, scope.open, scope.close))
    header = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", text[scope.header : scope.open]))
    listed = _BASES.search(header)
    if listed is None:
        return ()
    words = (_NAME.findall(part) for part in listed[1].split(","))
    named = ([word for word in part if word not in _ACCESS] for part in words)
    return tuple(re.sub(r"\s*::\s*", ".", part[-1]) for part in named if part)


def _bindings(code: Code) -> Iterator[tuple[str, str]]:
    """Names under which functions are registered, with pybind11 or by macros of a framework."""
    found = tuple(_registered(code))
    libraries = [(match.start(), match["name"]) for match in _LIBRARY.finditer(code.text)] if found else []
    for op, target, at in found:
        yield op, target
        library = next((name for start, name in reversed(libraries) if start < at), "")
        if library:
            yield f"{library}.{op}", target
    known = {op: target for op, target, _ in found}
    for match in _ALIAS.finditer(code.text) if found else ():
        alias, meant = (code.literal_at(start) for start in (match.start(1), match.start(2)))
        if alias is not None and meant is not None and code.content(meant) in known:
            yield code.content(alias), known[code.content(meant)]


def _registered(code: Code) -> Iterator[tuple[str, str, int]]:
    """Each name with its function and where it is registered; -1 where that is in no library."""
    text = code.text
    for match in _REGISTERED.finditer(text):
        if match["typed"]:
            typed = _TYPED.match(text, match.end())
            if typed:
                yield typed["op"], typed["name"].replace("::", "."), -1
            continue
        opening = _FIRST.match(text, match.end())
        at = opening.end() if opening else match.end()
        literal = code.literal_at(at) if text[at : at + 1] == '"' else None
        stop = text.find(";", at, at + _LONGEST_BINDING)
        if literal is None:
            continue
        end = stop if stop >= 0 else at
        symbol = _BARE.match(text, literal.end, end) or _SYMBOL.search(text, literal.end, end)
        if symbol is None:
            continue
        op = re.split(r"[(\s]", code.content(literal).strip())[0].rpartition("::")[2]
        yield op, (symbol["name"] or symbol["boxed"]).replace("::", "."), match.start()
