"""Build settings inside Python: setup.py, modules that compile at run time, lists of architectures in variables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import TypeGuard

from bwlint.chips import frameworks
from bwlint.chips.flags import PLAIN, WITHOUT_A_NAME, find_flags
from bwlint.chips.hosts import host_of, of_condition, of_denied
from bwlint.chips.spelling import IN_NAMES, NUMBER, member
from bwlint.chips.toolkits import version
from bwlint.model.facts import Carry
from bwlint.model.kinds import ONE_EXTENSION, CarryKind
from bwlint.readers.buildfiles.asked_in_python import (
    admitted,
    applied,
    extensions,
    loop_variables,
    made,
    patterns,
    taken,
)
from bwlint.readers.buildfiles.targets import Listed, bare_is_both, counts, parse_list
from bwlint.readers.kernels import source_name
from bwlint.readers.nodes import below, children, whole
from bwlint.readers.spans import span

WORDS = (
    *("arch=compute_", "-arch", "--gpu-name", "nvcc_flags", 'rch("sm_', "rch('sm_", 'arch="sm_', ONE_EXTENSION),
    *("ARCH_LIST", "_CUDA_ARCHS", "CUDA_ARCHITECTURES", "GPUArch(", "CU_TARGET_COMPUTE_", "cuda_arch_list="),
)
"""Without one of these a Python file carries nothing."""

_FLAGS_NAME = re.compile(
    rf"(?:^|_){IN_NAMES}(?P<flags>{NUMBER}[af])_?(?:\w*_)?c?(?:uda)?flags$|^CU_TARGET_COMPUTE_(?P<jit>{NUMBER}[af])$",
    re.I,
)
_PART = "\N{WORD JOINER}"
"""Stands for a value in an f-string: no flag has it."""
_FLAG_STRING = re.compile(r"\s*(?:-|arch=)")
_DEFINED = re.compile(r"-D(?P<name>\w*CUDA_ARCH\w*)=(?P<value>[^$]+)", re.I)
_BUILDS = re.compile(r"CUDAExtension|gencode|arch=compute_|CMAKE_CUDA_ARCHITECTURES")
_CMAKE = "CMAKE_CUDA_ARCHITECTURES="
_MOST = 500
_READING = frozenset({"replace", "removeprefix", "removesuffix", "startswith", "endswith", "split", "strip", "lstrip"})
"""Methods that take a name of an architecture apart and make none."""
_KEEPS_MEMBERS = frozenset({"sorted", "list", "set", "tuple", "fromkeys", "reversed"})
_OF_SETS = frozenset({"intersection", "issubset", "union"})
_TOOLKIT = re.compile(r"(?i)(?!.*capab)(?=.*version).*(?:bare_?metal|cuda|nvcc|toolkit)")
_RELEASE = re.compile(r"\d{1,2}\.\d{1,2}")
_JOINED_RELEASE = re.compile(r"(1\d)(0\d)0?")
"""1208, 12080."""
_SUFFIXED = re.compile(r"^[af]$|[0-9][af]\b")
"""A suffix, or a target that has one."""
_NEWEST = re.compile(r"(?i)^(?!.*(?:min|oldest|lowest|least)).*(?:max|newest|latest|highest|largest|supported)")
"""What functions are called after that know the newest target of a toolkit; others give the oldest that it knows."""
_OPEN_FLAG = re.compile(r"(?:compute|sm)_(?![a-z])|(?<!m)arch=")
"""A piece of a flag for an architecture."""


def carries_of_python(tree: ast.Module, source: str) -> tuple[Carry, ...]:
    """What a Python file compiles for; empty where none of `WORDS` is in it."""
    if not any(word in source for word in WORDS):
        return ()
    texts, open_ = _texts_of_names(tree)
    found = _Python(
        source,
        undecided=_chosen(tree),
        texts=texts,
        open=open_,
        lists=_begun_again(tree),
        accepted=_accepted(tree),
        variables=loop_variables(tree) if _BUILDS.search(source) else None,
        patterns=patterns(tree),
        to_cmake=_handed_to_cmake(tree) if _CMAKE in source else frozenset(),
    )
    try:
        found.body(tree.body, "")
    except RecursionError:
        return ()
    return (*found.carries[:_MOST], *_extension(tree, found.carries, found.completed))


def _extension(tree: ast.Module, carries: list[Carry], completed: set[int]) -> Iterator[Carry]:
    """What a file that builds CUDA extensions compiles for: all flags that it names, if none is made at run time."""
    calls = made(tree, ONE_EXTENSION)
    if not calls:
        return
    flags = [carry for carry in carries if carry.kind == "gencode"]
    prose = {id(node.value) for node in whole(tree) if isinstance(node, ast.Expr)}
    reading = (node for node in whole(tree) if isinstance(node, ast.Call) and _name_of(node.func) in _READING)
    prose |= {id(text) for node in reading for text in node.args}
    texts = [node for node in whole(tree) if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in prose]
    pieces = [node for node in texts if id(node) not in completed]
    written = [text for node in pieces if isinstance(text := getattr(node, "value", None), str)]
    if any(_OPEN_FLAG.search(text) and not any(find_flags(text)) for text in written):
        if not any(_SUFFIXED.search(text) for text in written) and any(map(_asks_device, whole(tree))):
            sources = tuple(dict.fromkeys(filter(None, map(source_name, texts))))[:_MOST]
            yield Carry(
                "asked", "", PLAIN, (), span(calls[0]), sources=sources, text="the capability of the chip at hand"
            )
        return
    apart = list(_apart(tree, calls, flags))
    told = {source for carry in apart for source in carry.sources}
    yield from apart
    sources = tuple(one for one in dict.fromkeys(map(source_name, texts)) if one and one not in told)[:_MOST]
    if sources and not flags:
        yield Carry("inherited", frameworks.arch_list(), (), (), span(calls[0]), sources=sources)
    elif sources:
        name = ONE_EXTENSION if len(calls) == 1 else f"{ONE_EXTENSION}s"
        yield _joined(name, flags, sources)


def _asks_device(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "get_device_capability"


def _apart(tree: ast.Module, calls: list[ast.Call], flags: list[Carry]) -> Iterator[Carry]:
    """What each of several extensions is compiled for, where it has flags of its own."""
    for one in extensions(tree, calls) if len(calls) > 1 else ():
        places = {span(text) for text in one.flags}
        own = [flag for flag in flags if flag.at in places]
        sources = tuple(dict.fromkeys(filter(None, map(source_name, one.sources))))[:_MOST]
        if own and sources:
            yield _joined(f"{ONE_EXTENSION}s", own, sources)


def _joined(name: str, flags: list[Carry], sources: tuple[str, ...]) -> Carry:
    sass = tuple(dict.fromkeys(name for flag in flags for name in flag.sass))
    ptx = tuple(dict.fromkeys(name for flag in flags for name in flag.ptx))
    return Carry("extension", name, sass, ptx, flags[0].at, sources=sources)


@dataclass(slots=True)
class _Python:
    source: str
    carries: list[Carry] = field(default_factory=list)
    undecided: set[int] = field(default_factory=set)
    """Names that stand for one of several values, of which not all are known; by `id`."""
    texts: dict[str, list[ast.Constant]] = field(default_factory=dict)
    """The strings that a name of the file may stand for."""
    open: frozenset[str] = frozenset()
    """Names that may stand for something else, too."""
    completed: set[int] = field(default_factory=set)
    """The pieces of flags that are whole with those; by `id`."""
    lists: dict[str, int] = field(default_factory=dict)
    """The variables that hold one list of flags after another, with the number of the list that is written."""
    accepted: frozenset[str] = frozenset()
    """Names of lists that what is asked for is looked up in."""
    variables: frozenset[str] | None = None
    """The names that stand for a target that is asked for; None in a file that builds nothing."""
    patterns: Mapping[str, ast.Constant] = field(default_factory=dict)
    """Its regular expressions."""
    to_cmake: frozenset[str] = frozenset()
    """The variables that are handed on as `CMAKE_CUDA_ARCHITECTURES`."""
    versions: frozenset[str] = frozenset()
    """The names in the function at hand that stand for the toolkit's version."""
    handed: bool = False
    """Whether what is visited becomes the value of one."""
    toolkits: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The toolkits under which strings stand, by `id`, for flags that are put together of them elsewhere."""
    group: str = ""
    toolkit: tuple[str, str] = ("", "")
    host: str = ""

    def body(self, nodes: list[ast.stmt], qualname: str) -> None:
        for node in nodes:
            self._visit(node, qualname)

    def _visit(self, node: ast.AST, qualname: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            qualname = f"{qualname}.{node.name}" if qualname else node.name
            if not isinstance(node, ast.ClassDef):
                self.versions = _versions(node)  # no name is asked outside of functions
                self.undecided |= _reassigned(node)
                self._returned(node, qualname)
                self._newest(node, qualname)
        elif isinstance(node, (ast.Compare, ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._string(node, node.value, qualname)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            self._flags_name(node, qualname)
        elif isinstance(node, ast.Call):
            self._named(node, qualname)
            self._appended(node, qualname)
            self._taken(node, qualname)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            self._setting(_name_of(node.target), node.value, qualname, kind="piece")
        elif isinstance(node, ast.JoinedStr) and self._parts(node, qualname):
            return
        if isinstance(node, (ast.If, ast.IfExp)) and self.variables is not None:
            names = admitted(node.test, self.variables)
            if names:
                listed = Listed(tuple(sorted(names)), (), True)
                self._add("match", ast.unparse(node.test), listed, node.test, qualname)
        if isinstance(node, ast.If) and (release := self._asked_release(node.test)):
            self._arms(node, release, qualname)
            return
        if isinstance(node, ast.If) and self._on_hosts(node, qualname):
            return
        for name, value in _settings(node):
            self._setting(name, value, qualname)
        outer, self.group = self.group, self._group_of(node) or self.group
        around, self.handed = self.handed, self.handed or bool(self.to_cmake & set(_assigned(node)))
        versions = self.versions
        for child in children(node):
            self._visit(child, qualname)
        self.group, self.handed, self.versions = outer, around, versions

    def _arms(self, node: ast.If, release: str, qualname: str) -> None:
        """`if cuda_version >= Version("12.8"):`: the toolkits that take each branch."""
        outer = low, high = self.toolkit
        later, earlier = max(low or release, release, key=version), min(high or release, release, key=version)
        for arm, bounds in ((node.body, (later, high)), (node.orelse, (low, earlier))):
            self.toolkit = bounds
            self.body(arm, qualname)
        self.toolkit = outer

    def _asked_release(self, test: ast.expr, how: type[ast.cmpop] = ast.GtE) -> str:
        """The release of the toolkit from which on a test holds, or below which; "" of any other test."""
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], how) or len(test.ops) > 1:
            return ""
        asked = ast.unparse(test.left)
        return _release(test.comparators[0]) if asked in self.versions or _TOOLKIT.match(asked) else ""

    def _on_hosts(self, node: ast.If, qualname: str) -> bool:
        """`if platform.machine() == "x86_64":`: the host that takes each branch."""
        test = ast.unparse(node.test)
        taken, left = of_condition(test), of_denied(test)
        outer = self.host
        for arm, host in ((node.body, taken), (node.orelse, left)) if taken or left else ():
            self.host = host or outer
            self.body(arm, qualname)
        self.host = outer
        return bool(taken or left)

    def _group_of(self, node: ast.AST) -> str:
        """The list of flags that a statement begins or adds to, where its variable holds several in turn."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = _name_of(node.func.value)
        else:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            name = _name_of(targets[0]) if isinstance(targets[0], ast.expr) else ""
        if name not in self.lists:
            return ""
        self.lists[name] += _begins(node)
        return f"{name} {self.lists[name]}"

    def _string(self, node: ast.Constant, text: str, qualname: str) -> None:
        if self.toolkit != ("", ""):
            self.toolkits[id(node)] = self.toolkit
        if not _FLAG_STRING.match(text):
            return
        if defined := _DEFINED.fullmatch(text):
            self._setting(defined["name"], ast.copy_location(ast.Constant(defined["value"]), node), qualname)
        for flag in find_flags(text, self.source):
            kind: CarryKind = "asked" if flag.arch in WITHOUT_A_NAME else "gencode"
            self._add(kind, "", Listed(flag.sass, flag.ptx, True), node, qualname, flag.arch)

    def _flags_name(self, node: ast.Name | ast.Attribute, qualname: str) -> None:
        name = node.id if isinstance(node, ast.Name) else node.attr
        match = _FLAGS_NAME.search(name)
        if match and id(node) not in self.undecided:
            self._add("option", name, Listed(((match["flags"] or match["jit"]).lower(),), (), True), node, qualname)

    def _named(self, node: ast.Call, qualname: str) -> None:
        """`GPUArch("sm_120a")`, `compile(..., gpu_arch="sm_120a")`: an option of a compiler that runs at run time."""
        passed = [keyword.value for keyword in node.keywords if (keyword.arg or "").lower().endswith("arch")]
        if _name_of(node.func).lower().endswith("arch"):
            passed += node.args
        for value in passed:
            for text in self._strings_of(value):
                found = member(text.value) if isinstance(text.value, str) else None
                if found is not None and found.suffix:
                    self._add("option", _name_of(node.func), Listed((found.target,), (), True), text, qualname)

    def _taken(self, node: ast.Call, qualname: str) -> None:
        """`NAME.fullmatch(arch)`: a name that is not taken is left out, or is an error."""
        pattern = applied(node, self.patterns) if self.variables is not None else None
        names = taken(str(pattern.value)) if pattern is not None else frozenset()
        if pattern is not None and names:
            self._add("match", ast.unparse(node.func), Listed(tuple(sorted(names)), (), True), pattern, qualname)

    def _strings_of(self, value: ast.expr) -> list[ast.Constant]:
        if isinstance(value, ast.Constant):
            return [value]
        return self.texts.get(value.id, []) if isinstance(value, ast.Name) else []

    def _parts(self, node: ast.JoinedStr, qualname: str) -> bool:
        """`f"arch=compute_{number},code=sm_{number}"`: a flag for each string that the name may stand for."""
        parts = [_name_of(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
        names = dict.fromkeys(parts)
        whole = "".join(str(part.value) if isinstance(part, ast.Constant) else _PART for part in node.values)
        rows = list(zip(*(self.texts.get(name, ()) for name in names), strict=False))
        if not names or not _OPEN_FLAG.search(whole) or any(row[0].lineno != one.lineno for row in rows for one in row):
            return False  # several names are what a loop takes a row of a list apart into
        known = len(self.carries)
        outer = self.toolkit
        for row in rows:
            self.toolkit = self.toolkits.get(id(row[0]), outer)
            told = dict(zip(names, row, strict=True))
            flags = reduce(lambda text, name: text.replace(_PART, str(told[name].value), 1), parts, whole)
            for flag in find_flags(flags, self.source):
                self._add("gencode", "", Listed(flag.sass, flag.ptx, True), row[0], qualname, flag.arch)
        self.toolkit = outer
        if len(self.carries) > known and self.open.isdisjoint(names):
            self.completed |= {id(part) for part in node.values}
        return len(self.carries) > known

    def _returned(self, function: ast.FunctionDef | ast.AsyncFunctionDef, qualname: str) -> None:
        """`def cuda_archs(): return "80;90;120"`."""
        for node in below(function):
            if isinstance(node, ast.Return) and node.value is not None:
                self._setting(function.name, node.value, qualname)

    def _newest(self, function: ast.FunctionDef | ast.AsyncFunctionDef, qualname: str) -> None:
        """`if cuda_version < "11.8": return 86`, and so on: the newest target that each toolkit knows."""
        if _NEWEST.search(function.name) is None:
            return
        low = high = ""
        for test, value in _ways(function.body):
            from_, below = ("", "") if test is None else map(self._asked_release, (test, test), (ast.GtE, ast.Lt))
            listed = parse_list(str(value.value)) if isinstance(value, ast.Constant) else None
            if value is None or listed is None or (test is not None and not from_ and not below):
                return
            self.toolkit, outer = (from_ or low, below or high), self.toolkit
            self._add("ceiling", function.name, Listed(listed.sass, (), True), value, qualname)
            self.toolkit = outer
            low, high = below or low, from_ or high

    def _appended(self, node: ast.Call, qualname: str) -> None:
        """`archs.append("12.0a")`."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "add") and len(node.args) == 1:
            self._setting(_name_of(node.func.value), node.args[0], qualname, kind="piece")

    def _setting(self, name: str, value: ast.expr, qualname: str, kind: CarryKind = "request") -> None:
        text = _text_of(value)
        both = self.handed or name in self.to_cmake or bare_is_both(name)
        listed = parse_list(text, with_ptx=both) if text else None
        grows = kind == "piece" and any(carry.name == name for carry in self.carries)
        told = any(carry.kind == "option" and carry.at == span(value) for carry in self.carries)
        if listed is not None and not told and (grows or counts(name, listed)):
            self._add("filter" if name in self.accepted else kind, name, listed, value, qualname)

    def _add(self, kind: CarryKind, name: str, listed: Listed, node: ast.expr, qualname: str, text: str = "") -> None:
        group = self.group if kind == "gencode" else ""
        self.carries.append(
            Carry(
                kind,
                name,
                listed.sass,
                listed.ptx,
                span(node),
                toolkit=self.toolkit,
                qualname=qualname,
                text=text,
                group=group,
                host=self.host or host_of(name),
                dotted=listed.dotted,
            )
        )


def _texts_of_names(tree: ast.Module) -> tuple[dict[str, list[ast.Constant]], frozenset[str]]:
    """What is written out for names, by loops and calls too, and the names that get something else."""
    lists = _lists_of_names(tree)
    found: dict[str, list[ast.Constant]] = {}
    open_: set[str] = set()
    for name, values in _given(tree, lists):
        known = [value for value in values or () if isinstance(value, ast.Constant)]
        found.setdefault(name, []).extend(known)
        if values is None or len(known) < len(values):
            open_.add(name)
    return found, frozenset(open_)


def _given(tree: ast.Module, lists: Mapping[str, list[ast.expr]]) -> Iterator[tuple[str, Sequence[ast.expr] | None]]:
    """Each name that is given something, and what, as far as it is written out; None where it is computed."""
    functions = {node.name: node for node in whole(tree) if isinstance(node, ast.FunctionDef)}
    for node in whole(tree):
        values: Sequence[ast.expr] | None
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            written = _default(node.value)
            values = [written] if written is not None else None
        elif isinstance(node, (ast.For, ast.comprehension)):
            targets, values = [node.target], _members(node.iter, lists)
        elif isinstance(node, ast.Call) and (called := functions.get(_name_of(node.func))) is not None:
            pairs = zip(called.args.args, node.args, strict=False)
            yield from ((one.arg, [value]) for one, value in pairs if not isinstance(value, (ast.List, ast.Tuple)))
            continue
        else:
            continue
        for target in targets:
            yield from _each(target, values)


def _each(target: ast.expr, values: Sequence[ast.expr] | None) -> Iterator[tuple[str, Sequence[ast.expr] | None]]:
    """A name and its values; those that rows are taken apart into, each with its column."""
    if isinstance(target, ast.Name):
        yield target.id, values
    elif isinstance(target, ast.Tuple) and values is not None:
        rows = [one.elts if isinstance(one, (ast.Tuple, ast.List)) else [] for one in values]
        whole_rows = all(len(row) == len(target.elts) for row in rows)
        for place, one in enumerate(target.elts):
            yield from _each(one, [row[place] for row in rows] if whole_rows else None)


def _members(node: ast.expr, lists: Mapping[str, list[ast.expr]]) -> list[ast.expr] | None:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Name):
        return lists.get(node.id)
    if (parts := _split(node)) is not None:
        return parts
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values":
        return lists.get(_name_of(node.func.value))
    if isinstance(node, ast.Call) and len(node.args) == 1 and _name_of(node.func) in _KEEPS_MEMBERS:
        return _members(node.args[0], lists)
    return lists.get(f"{_name_of(node.func)}()") if isinstance(node, ast.Call) else None


def _lists_of_names(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """The members of lists under names, from functions (as `name()`) and parameters; what they grow by is one too."""
    given: dict[str, list[ast.expr]] = {}
    functions = {node.name: node for node in whole(tree) if isinstance(node, ast.FunctionDef)}
    for node in whole(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
    more = _grown(tree)
    found: dict[str, list[ast.expr]] = {}
    for name, values in given.items():
        if all(_is_written_out(value) or _is_empty(value) or _split(value) is not None for value in values):
            found[name] = [one for value in (*values, *more.get(name, ())) for one in _members(value, {}) or ()]
        elif len(values) == 1 and isinstance(values[0], ast.Dict):
            found[name] = values[0].values
    for name, function in functions.items():
        returned = [node.value for node in below(function) if isinstance(node, ast.Return)]
        several = [_members(value, found) if value is not None else None for value in returned]
        if several and all(one is not None for one in several):
            found[f"{name}()"] = [member for one in several for member in one or ()]
    passed: dict[str, list[list[ast.expr] | None]] = {}
    for node in whole(tree):
        if isinstance(node, ast.Call) and (called := functions.get(_name_of(node.func))) is not None:
            for parameter, value in zip(called.args.args, node.args, strict=False):
                passed.setdefault(parameter.arg, []).append(_members(value, found))
    for name, lists in passed.items():
        known = [one for one in lists if one is not None]
        if name not in given and len(known) == len(lists):
            found[name] = [member for one in known for member in one]
    return found


def _grown(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What is added to lists and sets, by their names: as displays, in which a member that is computed stands too."""
    found: dict[str, list[ast.expr]] = {}
    for node in whole(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            found.setdefault(_name_of(node.target), []).append(_displayed(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            name, how = _name_of(node.func.value), node.func.attr
            if how in ("append", "add"):
                found.setdefault(name, []).append(ast.Tuple(node.args))
            elif how in ("extend", "update"):
                found.setdefault(name, []).append(_displayed(node.args[0]))
    return found


def _displayed(node: ast.expr) -> ast.expr:
    return node if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else ast.Tuple([node])


def _default(node: ast.expr) -> ast.Constant | None:
    """A string, or the one that `os.environ.get("ARCHS", "80;90")` falls back to."""
    if isinstance(node, ast.Constant):
        return node
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _default(node.values[-1])
    asks = isinstance(node, ast.Call) and _name_of(node.func) in ("get", "getenv", "setdefault")
    last = node.args[1] if asks and isinstance(node, ast.Call) and len(node.args) > 1 else None
    return last if isinstance(last, ast.Constant) and isinstance(last.value, str) else None


def _split(node: ast.expr) -> list[ast.expr] | None:
    """The members of a list that is written as one string: `os.getenv("ARCHS", "80;90").split(";")`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split"):
        return None
    text = _default(node.func.value)
    if text is None or not isinstance(text.value, str):
        return None
    return [ast.copy_location(ast.Constant(part), text) for part in re.split(r"[\s;,]+", text.value)]


def _is_written_out(node: ast.expr) -> TypeGuard[ast.List | ast.Tuple | ast.Set]:
    """A list of strings and numbers, or of rows of them."""
    return isinstance(node, (ast.List, ast.Tuple, ast.Set)) and all(
        isinstance(one, ast.Constant) or (isinstance(one, ast.Tuple) and _is_written_out(one)) for one in node.elts
    )


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name_of(node.func) in ("list", "set") and not node.args


def _accepted(tree: ast.Module) -> frozenset[str]:
    """The lists in `asked.intersection(LIST)`, `LIST.union(more)` and `name not in LIST`: they build nothing."""
    found: set[str] = set()
    for node in whole(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found.add(_name_of(node.comparators[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_SETS:
            found |= {_name_of(part) for part in (node.func.value, *node.args)}
    return frozenset(found)


def _ways(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.expr | None, ast.expr | None]]:
    """What a function returns under one test after the other; None for the test of what is left."""
    for node in body:
        first = node.body[0] if isinstance(node, ast.If) else node
        if isinstance(first, ast.Return):
            yield node.test if isinstance(node, ast.If) else None, first.value
        if isinstance(node, ast.If):
            yield from _ways(node.orelse)


def _versions(function: ast.AST) -> frozenset[str]:
    """The names of `version = cuda_version()`, which get nothing else."""
    given: dict[str, set[bool]] = {}
    for node in below(function):
        if isinstance(node, ast.Assign):
            asks = isinstance(node.value, ast.Call) and _TOOLKIT.match(ast.unparse(node.value.func)) is not None
            for name in filter(None, map(_name_of, node.targets)):
                given.setdefault(name, set()).add(asks)
    return frozenset(name for name, asked in given.items() if asked == {True})


def _release(node: ast.expr) -> str:
    """ "12.8" of `Version("12.8")`, `(12, 8)`, 1208 and 12080; "" of anything else."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    text = ".".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    joined = _JOINED_RELEASE.fullmatch(text)
    return f"{int(joined[1])}.{int(joined[2])}" if joined else text if _RELEASE.fullmatch(text) else ""


def _begun_again(tree: ast.Module) -> dict[str, int]:
    """The variables that get a list of their own more than once."""
    names = [_name_of(node.targets[0]) for node in whole(tree) if isinstance(node, ast.Assign) and _begins(node)]
    return {name: 0 for name in names if name and names.count(name) > 1}


def _begins(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.List)


def _chosen(tree: ast.AST) -> set[int]:
    """The names in `flags if test else wanted()`, where one side is not known."""
    chosen = [node for node in whole(tree) if isinstance(node, ast.IfExp)]
    open_ = [node for node in chosen if not (_names_flags(node.body) and _names_flags(node.orelse))]
    return {id(part) for node in open_ for part in below(node)}


def _reassigned(function: ast.AST) -> set[int]:
    """The names in what a variable gets that gets something else, which is not known, in the same function."""
    values: dict[str, list[ast.expr]] = {}
    for node in below(function):
        if isinstance(node, ast.Assign):
            for name in filter(None, map(_name_of, node.targets)):
                values.setdefault(name, []).append(node.value)
    several = [found for found in values.values() if not all(map(_names_flags, found))]
    return {id(part) for found in several for value in found for part in below(value)}


def _names_flags(node: ast.expr) -> bool:
    return any(_FLAGS_NAME.search(_name_of(part)) for part in below(node) if isinstance(part, ast.expr))


def _settings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, keys and variables of the environment that a node gives a value to."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = _name_of(target)
            if name:
                yield name, node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call) and len(node.args) == 2:
        first, second = node.args
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, second
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg, node.value


def _handed_to_cmake(tree: ast.Module) -> frozenset[str]:
    """The names in `f"-DCMAKE_CUDA_ARCHITECTURES={name}"`."""
    parts = (pair for node in whole(tree) if isinstance(node, ast.JoinedStr) for pair in pairwise(node.values))
    return frozenset(
        _name_of(value.value)
        for text, value in parts
        if isinstance(text, ast.Constant) and str(text.value).endswith(_CMAKE) and isinstance(value, ast.FormattedValue)
    )


def _assigned(node: ast.AST) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from map(_name_of, targets)


def _name_of(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return ""


def _text_of(value: ast.expr) -> str:
    """A string, or the strings of a list, as one list of targets."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        parts = [part.value for part in value.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        return ";".join(parts) if len(parts) == len(value.elts) else ""
    return ""
