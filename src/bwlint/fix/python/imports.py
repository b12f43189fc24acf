"""A name that an edit needs, brought into a file: beside a name that the file imports from the same place already."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence

from bwlint.fix.python.syntax import Syntax
from bwlint.model.findings import Edit, NoFix

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Module)


def bring(
    syntax: Syntax, path: str, names: Sequence[str], beside: str, use: ast.expr, *, instead: bool = False
) -> list[Edit] | NoFix:
    """The edits that import `names` from where `beside` comes from; `instead`: the use of `beside` goes away."""
    statement = _import_of(syntax, beside, use)
    if statement is None:
        defined = {node.name for node in syntax.tree.body if isinstance(node, ast.FunctionDef)}
        return [] if defined.issuperset(names) else NoFix(f"nothing here imports `{beside}`")
    if _replaced(syntax.tree, beside, statement):
        return NoFix(f"`{beside}` is something else where it cannot be imported")
    held = {alias.name for alias in statement.names if alias.asname is None}
    new = [name for name in names if name not in held and _import_of(syntax, name, use, statement) is None]
    taken = next((name for name in new if _bound(syntax.tree, name, statement)), None)
    if taken is not None:
        return NoFix(f"`{taken}` is the name of something else in this file")
    old = next(alias for alias in statement.names if _local(alias) == beside)
    if instead and new and old.asname is None and _is_own(statement, syntax) and _uses(syntax, beside) == 1:
        return [syntax.edit(path, syntax.start(old), syntax.end(old), ", ".join(new))]
    return [_added(syntax, path, statement, old, new)] if new else []


def add_line(syntax: Syntax, path: str, module: str, names: Sequence[str]) -> list[Edit] | NoFix:
    """A new line `from module import names` after the last import of the same package at the top of the file."""
    taken = next((name for name in names if _bound(syntax.tree, name, ast.ImportFrom(module, [], 0))), None)
    if taken is not None:
        return NoFix(f"`{taken}` is the name of something else in this file")
    new = [name for name in names if not _imports(syntax.tree, module, name)]
    source, line = syntax.text.source, f"from {module} import {', '.join(new)}"
    top = [node for node in syntax.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    if not new or not top:
        return [] if not new else NoFix("the file imports nothing at its top")
    same = [node for node in top if _package(node) == module.partition(".")[0]]
    last = (same or [node for node in top if _package(node) != "__future__"] or top)[-1]
    end = syntax.end(last)
    rest = source.find("\n", end)
    if rest < 0:
        return [syntax.edit(path, end, end, f"{syntax.newline}{line}")]
    return [syntax.edit(path, rest + 1, rest + 1, f"{line}{syntax.newline}")]


def bring_modules(syntax: Syntax, path: str, names: Sequence[str]) -> list[Edit] | NoFix:
    """The lines `import name` among those of other libraries at the top of a file, in the order of the alphabet."""
    plain = [node for node in syntax.tree.body if isinstance(node, ast.Import)]
    held = {alias.name for node in plain for alias in node.names if alias.asname is None}
    new = [name for name in names if name not in held]
    taken = next((name for name in new if _bound(syntax.tree, name, ast.ImportFrom(None, [], 0))), None)
    if taken is not None:
        return NoFix(f"`{taken}` is the name of something else in this file")
    top = [node for node in syntax.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    libraries = [node for node in top if _package(node) not in sys.stdlib_module_names]
    if new and not libraries:
        return NoFix("the file imports no library at its top")
    group = [node for node in libraries if isinstance(node, ast.Import)]
    lines: dict[int, str] = {}
    for name in new:
        after = next((node for node in group if node.names[0].name > name), None)
        line = after.lineno if after else (group[-1].end_lineno or 0) + 1 if group else libraries[0].lineno
        lines[line] = f"{lines.get(line, '')}import {name}{syntax.newline}"
    places = ((syntax.offset(line, 0), text) for line, text in lines.items())
    return [syntax.edit(path, at, at, text) for at, text in places]


def _imports(tree: ast.Module, module: str, name: str) -> bool:
    found = (node for node in tree.body if isinstance(node, ast.ImportFrom) and _module(node) == (module, 0))
    return any(alias.name == name and alias.asname is None for node in found for alias in node.names)


def _package(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.Import):
        return node.names[0].name.partition(".")[0]
    return "." if node.level else (node.module or "").partition(".")[0]


def _import_of(syntax: Syntax, name: str, use: ast.expr, other: ast.ImportFrom | None = None) -> ast.ImportFrom | None:
    """The `from ... import` (of the module of `other`) that binds a name where it is used, innermost scope first."""
    for scope in syntax.around(use):
        if not isinstance(scope, _SCOPES) or isinstance(scope, (ast.ClassDef, ast.Lambda)):
            continue
        found = [
            node
            for node in _statements(scope.body)
            if isinstance(node, ast.ImportFrom)
            and any(_local(alias) == name for alias in node.names)
            and (other is None or (_module(node) == _module(other) and any(alias.name == name for alias in node.names)))
        ]
        reached = {_block(syntax, node) for node in syntax.around(use)} - {None}
        around = [node for node in found if _block(syntax, node) in reached]
        if found and (around or other is None):
            return around[0] if around else found[0] if len(found) == 1 else None
    return None


def _block(syntax: Syntax, statement: ast.AST) -> tuple[int, str] | None:
    """The list of statements in which one stands, by the node that holds it and the name it has there."""
    parent = syntax.parents.get(statement)
    for name, value in ast.iter_fields(parent) if parent is not None else ():
        if isinstance(value, list) and any(each is statement for each in value):
            return id(parent), name
    return None


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Statements of one scope, those in its blocks too."""
    stack = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.stmt, ast.excepthandler)) and not isinstance(node, _SCOPES):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _module(node: ast.ImportFrom) -> tuple[str | None, int]:
    return node.module, node.level


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name


def _bound(tree: ast.Module, name: str, own: ast.ImportFrom) -> bool:
    """Whether a file gives this name to anything else than what `own` would import under it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ImportFrom, ast.Import)):
            same = isinstance(node, ast.ImportFrom) and _module(node) == _module(own)
            if any(_local(alias) == name and not (same and alias.name == name) for alias in node.names):
                return True
        elif _binds(node, name):
            return True
    return False


def _replaced(tree: ast.Module, name: str, own: ast.ImportFrom) -> bool:
    """Whether a name that `own` imports can stand for something else to call, without what is imported beside it."""
    return any(_gives(node, name, own) for node in ast.walk(tree))


def _gives(node: ast.AST, name: str, own: ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return _module(node) != _module(own) and any(_local(alias) == name for alias in node.names)
    if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.FunctionDef) and node.name == name


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    if isinstance(node, ast.MatchMapping):
        return node.rest == name
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
    if isinstance(node, named):
        return node.name == name
    return isinstance(node, ast.arg) and node.arg == name


def _uses(syntax: Syntax, name: str) -> int:
    """How often a file names something, in strings such as those of `__all__` and of patches too."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    named = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(syntax.tree))
    strings = (node.value for node in ast.walk(syntax.tree) if isinstance(node, ast.Constant))
    imports = sum(isinstance(node, ast.alias) and _local(node) == name for node in ast.walk(syntax.tree))
    return named + imports - 1 + sum(isinstance(text, str) and word.search(text) is not None for text in strings)


def _is_own(statement: ast.ImportFrom, syntax: Syntax) -> bool:
    """Whether nobody imports from here what a statement imports: it stands in a function, a test or a script."""
    if statement not in syntax.tree.body:
        return True
    return any(_ends_here(node) for node in syntax.tree.body)


def _ends_here(node: ast.stmt) -> bool:
    """What tests and scripts hold, from which nobody imports."""
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith("test_")
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test) and "__main__" in ast.dump(node.test)


def _added(syntax: Syntax, path: str, statement: ast.ImportFrom, old: ast.alias, names: Sequence[str]) -> Edit:
    """`names` in the list of an import: where its order puts them, else behind `old`; in the list's own layout."""
    before = _successor(statement, names)
    anchor = before or old
    closed = syntax.text.source[syntax.end(statement) - 1] == ")"
    if closed and _alone(syntax, anchor):
        return _own_line(syntax, path, anchor, names, in_front=before is not None)
    listed = ", ".join(names)
    if before is not None:
        return syntax.edit(path, syntax.start(before), syntax.start(before), f"{listed}, ")
    return syntax.edit(path, syntax.end(old), syntax.end(old), f", {listed}")


def _successor(statement: ast.ImportFrom, names: Sequence[str]) -> ast.alias | None:
    """The import that `names` belong in front of in a list that is in order; None where it is not, and at its end."""
    present = [alias.name for alias in statement.names]
    order = next((key for key in (_by_number, str) if present == sorted(present, key=key)), None)
    if len(present) < 2 or order is None:
        return None
    found = [next((one for one in statement.names if order(one.name) > order(name)), None) for name in names]
    return found[0] if all(each is found[0] for each in found) else None


def _by_number(name: str) -> str:
    """A name as isort orders it: 90 in front of 100."""
    return re.sub(r"\d+", lambda number: number[0].zfill(9), name)


def _alone(syntax: Syntax, alias: ast.alias) -> bool:
    """Whether an imported name has a line to itself."""
    line = syntax.text.line(alias.lineno)
    return re.fullmatch(rf"\s+{re.escape(syntax.segment(alias))}\s*,?\s*(?:#.*)?", line) is not None


def _own_line(syntax: Syntax, path: str, anchor: ast.alias, names: Sequence[str], *, in_front: bool) -> Edit:
    line, source = syntax.text.line(anchor.lineno), syntax.text.source
    space = syntax.indent(anchor.lineno)
    start = syntax.offset(anchor.lineno, 0)
    stop = start + len(line)
    newline = "\r\n" if source[stop : stop + 2] == "\r\n" else source[stop : stop + 1] or "\n"
    lines = "".join(f"{space}{name},{newline}" for name in names)
    if in_front:
        return syntax.edit(path, start, start, lines)
    if "," in line[len(space) + len(syntax.segment(anchor)) :].partition("#")[0]:
        return syntax.edit(path, stop + len(newline), stop + len(newline), lines)
    end = syntax.end(anchor)
    return syntax.edit(path, end, end, "".join(f",{newline}{space}{name}" for name in names))
