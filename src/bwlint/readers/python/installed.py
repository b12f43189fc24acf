"""Names that say whether a package can be imported, and checks of those names alone.

try:
    import flash_attn_interface
    HAS_FA3 = True
except ImportError:
    HAS_FA3 = False
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bwlint.chips import frameworks
from bwlint.chips.operations import optional_modules
from bwlint.model.expr import Expr, Span, walk
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import Imports, dotted, literal_text, statements, target_names
from bwlint.readers.spans import span

ANCHORS = optional_modules()


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file imports what only some chips can use, where it is there."""
    return b"except" in data or b"find_spec" in data or b"package_available" in data


@dataclass(frozen=True, slots=True)
class ImportFlag:
    """What says that a module can be imported, and where it says so."""

    module: str
    at: Span


@dataclass(frozen=True, slots=True)
class Replaced:
    """A name that is a module's wherever that can be imported, and where another module's is taken instead."""

    name: str
    first: ImportFlag
    instead: ImportFlag


@dataclass(frozen=True, slots=True)
class Importable:
    """What a file asks of modules that may not be there: names whose truth says it, and by each `try` (the line where
    it begins) the names that it takes from the first module that is there.
    """

    flags: Mapping[str, ImportFlag]
    replaced: Mapping[int, Sequence[Replaced]]

    @property
    def words(self) -> Iterator[str]:
        """The names that lead to what is done with these modules."""
        yield from (name.rpartition(".")[2] for name in self.flags)
        yield from (one.name for found in self.replaced.values() for one in found)


NOTHING = Importable({}, {})


def importable(tree: ast.Module) -> Importable:
    """What a file asks of modules that may not be there."""
    return Importable(flags(tree), dict(_replaced(tree)))


def flags(tree: ast.Module) -> dict[str, ImportFlag]:
    """The names of a file whose truth is whether a module can be imported: functions without arguments, attributes that
    a method sets (`self.has_fa3`), and others of the file.
    """
    found: dict[str, ImportFlag] = {}
    before: dict[str, object] = {}
    for node in tree.body:
        found |= dict(_flags(node, before))
        before |= {name: value for name, (value, _) in _constants([node]).items()}
    methods = (one for owner in tree.body if isinstance(owner, ast.ClassDef) for one in owner.body)
    for method in (one for one in methods if isinstance(one, ast.FunctionDef)):
        for node in method.body:
            found |= {name: flag for name, flag in _flags(node, before) if name.startswith("self.")}
    return found


def _flags(node: ast.stmt, before: Mapping[str, object]) -> Iterator[tuple[str, ImportFlag]]:
    """`before` is what names were set to above."""
    if isinstance(node, ast.Try):
        handled = [one for handler in node.handlers for one in _statements(handler.body)]
        missing = {**before, **{name: value for name, (value, _) in _constants(handled).items()}}
        imports = {name: flag for one in node.body for name, flag in _imported(one)}
        first = next(iter(imports.values()), None)
        there = {name: replace(first, at=at) for name, (value, at) in _constants(node.body).items() if value and first}
        yield from ((name, flag) for name, flag in (imports | there).items() if not missing.get(name, True))
    elif isinstance(node, ast.FunctionDef) and not node.args.args:
        yield from ((node.name, ImportFlag(flag.module, _head(node))) for flag in _tried(node))
    elif isinstance(node, ast.Assign):
        for one in below(node):
            called = dotted(one.func).rpartition(".")[2] if isinstance(one, ast.Call) and one.args else ""
            if isinstance(one, ast.Call) and called in frameworks.names("finds"):
                flag = ImportFlag(literal_text(one.args[0]), span(node))
                yield from ((name, flag) for name in _names(node.targets[0]))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those of the attempts among them, a later one behind what it makes up for."""
    for node in body:
        yield node
        if isinstance(node, ast.Try):
            yield from _statements(node.body)
            yield from (one for handler in node.handlers for one in _statements(handler.body))


def _names(target: ast.expr) -> Iterator[str]:
    yield from [dotted(target)] if isinstance(target, ast.Attribute) else target_names(target)


def _replaced(tree: ast.Module) -> Iterator[tuple[int, Sequence[Replaced]]]:
    """By the line of each `try`, the names that it takes from a module, and that are another one's where it fails."""
    known: dict[str, ImportFlag] = {}
    for node in tree.body:
        attempts = [one for one in below(node) if isinstance(one, ast.Try)]
        for one in attempts:
            taken = _taken(one.body)
            handled = [each for handler in one.handlers for each in _statements(handler.body)]
            others = {**(known if one is node else {}), **_taken(handled)}
            pairs = [(name, flag, others[name]) for name, flag in taken.items() if name in others]
            found = [Replaced(*pair) for pair in pairs if pair[1].module != pair[2].module]
            yield from [(one.lineno, found)] if found else ()
        known |= _taken([node, *(each for one in attempts if one is node for each in _statements(one.body))])


def _taken(body: Iterable[ast.stmt]) -> dict[str, ImportFlag]:
    """The names that statements take from modules, under the last name that they get."""
    found: dict[str, ImportFlag] = {}
    for node in body:
        if isinstance(node, ast.ImportFrom):
            found |= dict(_imported(node))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in found:
            found |= dict.fromkeys(target_names(node.targets[0]), found[node.value.id])
    return found


def _tried(node: ast.FunctionDef) -> Iterator[ImportFlag]:
    """The import on whose success a function answers yes, and on whose failure no."""
    tried = [one for one in node.body if isinstance(one, ast.Try)]
    if len(tried) == 1 and all(_returns(handler.body, False) for handler in tried[0].handlers):
        after = [*tried[0].body, *tried[0].orelse, *node.body[node.body.index(tried[0]) + 1 :]]
        imports = [flag for one in tried[0].body for _, flag in _imported(one)]
        yield from imports[:1] if _returns(after, True) else ()


def _returns(body: Sequence[ast.stmt], answer: bool) -> bool:
    last = body[-1] if body else None
    return isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and last.value.value is answer


def _head(node: ast.FunctionDef) -> Span:
    at = span(node)
    return Span(at.line, at.column, at.line, at.column + len(f"def {node.name}"))


def _constants(body: Sequence[ast.stmt]) -> dict[str, tuple[object, Span]]:
    return {
        name: (node.value.value, span(node))
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        for name in _names(target)
    }


def _imported(node: ast.stmt) -> Iterator[tuple[str, ImportFlag]]:
    if isinstance(node, ast.Import):
        yield from ((one.asname or one.name, ImportFlag(one.name, span(node))) for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((one.asname or one.name, ImportFlag(node.module or "", span(node))) for one in node.names)


def asked(test: ast.expr, importable: Mapping[str, ImportFlag]) -> ImportFlag | None:
    """What a test asks for, where it asks for nothing but that and what is computed; None of other tests."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    found = [importable[name] for name in map(_flag, parts) if name in importable]
    return found[0] if found and not any(map(_told, parts)) else None


def _flag(test: ast.expr) -> str:
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        test = test.left  # `flash_attn_3 is not None`
    if isinstance(test, ast.Call) and not test.args and not test.keywords:
        test = test.func
    return dotted(test)


def _told(test: ast.expr) -> bool:
    """Whether somebody asks for the way by its name or number, who may know the machine."""
    by_default = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and any(map(_is_none, test.values))
    compared = [node for node in below(test) if isinstance(node, ast.Compare)]
    operands = (one for node in compared for one in (node.left, *node.comparators))
    return not by_default and any(isinstance(one, ast.Constant) and _is_way(one.value) for one in operands)


def _is_none(test: ast.expr) -> bool:
    asked = test.comparators[0] if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) else None
    return isinstance(asked, ast.Constant) and asked.value is None


def _is_way(text: object) -> bool:
    """Whether a text is the name of one library: "fa3" and "deep_gemm" are, "flash" and "cuda" are of several."""
    return isinstance(text, str) and (any(map(str.isdigit, text)) or text.encode() in optional_modules())


def is_told(test: Expr) -> bool:
    """The same of a test above: one that asks for another way leads to whatever is there."""
    compared = (one for node in walk(test) if node.op == "cmp" for one in node.args[1])
    return test.op != "not" and any(one.op == "const" and _is_way(one.args[0]) for one in compared)


def lent(tree: ast.Module, imports: Imports) -> Iterator[tuple[str, str]]:
    """Names that a function fills with an import (`global _run; from lib import run as _run`), and what they are."""
    for function in statements(tree.body):
        if isinstance(function, ast.FunctionDef) and any(isinstance(one, ast.Global) for one in function.body):
            nodes = list(statements(function.body))
            shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
            if shared:
                brought = (one for node in nodes for one in imports.brought(node))
                imported = {local: module if name is None else f"{module}.{name}" for local, module, name in brought}
                yield from _brought(nodes, shared, imported)


def _brought(nodes: list[ast.stmt], shared: set[str], imported: dict[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((name, imported[name]) for name in sorted(shared & imported.keys()))
    for node in nodes:
        if isinstance(node, ast.Assign):
            root, dot, rest = dotted(node.value).partition(".")
            for target in node.targets if root in imported else ():
                if isinstance(target, ast.Name) and target.id in shared:
                    yield target.id, imported[root] + dot + rest
