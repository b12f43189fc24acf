"""Syntax trees of Python: their nodes as `ast.walk` gives them in less time, the definition around a line, tests."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from bwlint.readers.skim import Unparsed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1)
def whole(tree: ast.Module) -> tuple[ast.AST, ...]:
    """The nodes of a file. Many ask for them, one after the other, and before the next file is read."""
    return tuple(below(tree))


class _NodeParts(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a kind of node that may hold nodes, found out when one is met."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        plain = _PLAIN - {"name"} if kind.__name__ == "TypeAlias" else _PLAIN
        names = () if kind in (ast.Constant, ast.MatchSingleton) else kind._fields
        self[kind] = parts = tuple(name for name in names if name not in plain)
        return parts


_PLAIN = {"id", "attr", "arg", "name", "asname", "module", "level", "rest"}
_PLAIN |= {"ctx", "simple", "conversion", "type_comment", "is_async"}
"""Fields that hold no node, or one that says nothing: whether a name is read or written stands in `ctx` of its node."""
_parts = _NodeParts()


def below(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, level by level, in order; bodies that are not parsed are passed by, but for its own."""
    found = [node, *node.body] if isinstance(node, Unparsed) else [node]
    for one in found:  # which grows on the way
        fields = one.__dict__
        for name in _parts[one.__class__]:
            value = fields.get(name)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, ast.AST)]
            elif value is not None:
                found.append(value)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in order."""
    found: list[ast.AST] = []
    for name in _parts[node.__class__]:
        value = node.__dict__.get(name)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif value is not None:
            found.append(value)
    return found


def functions(body: Iterable[ast.stmt], owner: ast.ClassDef | None = None, prefix: str = "") -> Iterator[NamedFunction]:
    """The functions of a module and the methods of its classes; what stands in one belongs to it."""
    for node in body:
        if isinstance(node, FUNCTIONS):
            yield node, prefix + node.name, owner
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, node, f"{prefix}{node.name}.")


NamedFunction = tuple[AnyFunction, str, ast.ClassDef | None]
"""A function, its qualified name, and the class that it is a method of."""


def parameters(function: AnyFunction) -> tuple[str, ...]:
    """The names of a function's parameters, in their order."""
    return tuple(one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs))


def defaults(function: AnyFunction) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that have a default, in their order."""
    by_place = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(by_place[len(by_place) - len(function.args.defaults) :], function.args.defaults, strict=True)]
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [(one.arg, default) for one, default in (*pairs, *named) if default is not None]


def arms(value: ast.expr) -> list[ast.expr]:
    """What a conditional expression may be, or a value alone."""
    return [*arms(value.body), *arms(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def text_of(node: ast.AST | None) -> str:
    """The string that an expression is; "" for any other."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def last_name(node: ast.AST) -> str:
    """The last name of a dotted one."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


Decide = Callable[[ast.expr], bool | None]
"""The truth of a test; None where it is not known."""


def truth(test: ast.expr, leaf: Decide) -> bool | None:
    """How a test comes out, of which `leaf` knows the parts that are put together."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, leaf)
        return None if inner is None else not inner
    if not isinstance(test, ast.BoolOp):
        return leaf(test)
    settles, truths = isinstance(test.op, ast.Or), [truth(one, leaf) for one in test.values]
    return settles if settles in truths else None if None in truths else not settles


def definition_at(source: str, line: int) -> str:
    """The dotted name of the definition of Python around a line; ``<module>`` outside, and in what is no Python."""
    names = _definitions(source)
    return names[line] if line < len(names) else "<module>"


@lru_cache(maxsize=2)
def _definitions(source: str) -> list[str]:
    """By line, from 1, the innermost definition that holds it, up to the last one."""
    names: list[str] = []
    waiting: list[tuple[ast.AST, str]] = [(one, "") for one in statements_of(source)]
    while waiting:
        node, owner = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            owner = f"{owner}.{node.name}" if owner else node.name
            last = node.end_lineno or node.lineno
            names += ["<module>"] * (last + 1 - len(names))
            names[node.lineno : last + 1] = [owner] * (last + 1 - node.lineno)
        waiting += [(child, owner) for child in children(node) if not isinstance(child, ast.expr)]
    return names


def conditions_at(source: str, line: int, since: int = 0) -> frozenset[str]:
    """What holds at a line of Python by the `if` statements around it, each part of an `and` as Python writes it out;
    without those whose names are assigned after line `since`.
    """
    found: set[str] = set()
    stack: list[ast.AST] = [*statements_of(source)]
    while stack:
        node = stack.pop()
        if not node.lineno <= line <= (node.end_lineno or 0):  # type: ignore[attr-defined]
            continue
        held = node.body if isinstance(node, ast.If) else []
        if held and held[0].lineno <= line <= (held[-1].end_lineno or 0):
            test = node.test  # type: ignore[attr-defined]
            parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            found |= {ast.unparse(part) for part in parts if not _assigned(source, part, since, line)}
        stack += [child for child in children(node) if isinstance(child, (ast.stmt, ast.ExceptHandler))]
    return frozenset(found)


@lru_cache(maxsize=2)
def statements_of(source: str) -> list[ast.stmt]:
    """The statements of a text; none where it is no Python."""
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _assigned(source: str, test: ast.expr, since: int, line: int) -> bool:
    """Whether something assigns a name of a test between two lines."""
    names = {node.id for node in below(test) if isinstance(node, ast.Name)}
    written = (node for one in statements_of(source) for node in below(one) if isinstance(node, ast.Name))
    return any(node.id in names and isinstance(node.ctx, ast.Store) and since < node.lineno < line for node in written)


_SHALLOW = 100
"""Levels of a syntax tree through which every reader finds its way."""


def is_shallow(data: bytes) -> bool:
    """Whether Python nests so little that its readers have no reason to run out of stack."""
    try:
        level: list[ast.AST] = [ast.parse(data)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for _ in range(_SHALLOW):
        level = [child for node in level for child in children(node)]
    return not level
