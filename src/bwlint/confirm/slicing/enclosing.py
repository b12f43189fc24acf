"""What stands above an expression in its function: a function of its own, which gives the value that it has there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bwlint.confirm.slicing.syntax import GATE, Scope, assign, bound, changed, loads, targets, variable


def as_function(way: Sequence[ast.AST], expression: ast.expr) -> ast.FunctionDef:
    """A function without parameters that gives the value of an expression as it is where it stands."""
    needed = set(loads(expression))
    body: list[ast.stmt] = [ast.Return(expression)]
    current: list[ast.stmt] = []  # what comes before `body` in the innermost scope, in order
    owner = owner_of(way)
    for index in range(len(way) - 1, 0, -1):
        node, above, inner = way[index], way[index - 1], way[index + 1] if index + 1 < len(way) else None
        current = [*_free(_bound_around(node, inner), needed), *_walrus(node, inner, needed), *current]
        enters = isinstance(node, Scope) and inner in node.body
        if isinstance(node, Scope) and enters:
            current = [*_locals(node, needed, owner), *current]
        # the names of a class are not those of its methods
        block = None if isinstance(above, ast.ClassDef) and enters else _block_with(above, node)
        if block is not None and not isinstance(above, ast.Module):
            before = block[: next(i for i, each in enumerate(block) if each is node)]
            current = [*_kept(before, needed), *current]
    return ast.FunctionDef(
        GATE, ast.arguments([], [], None, [], [], None, []), [*current, *body], [], None, lineno=1, col_offset=0
    )


def owner_of(way: Sequence[ast.AST]) -> str:
    """The class of the module in whose method a test stands, "" for none."""
    if len(way) > 2 and isinstance(way[1], ast.ClassDef) and isinstance(way[2], ast.FunctionDef | ast.AsyncFunctionDef):
        return way[1].name
    return ""


def _walrus(node: ast.AST, inner: ast.AST | None, needed: set[str]) -> list[ast.stmt]:
    """The test of an `if` above that names one of its values on the way."""
    if not isinstance(node, ast.If) or inner is node.test:
        return []
    named = {each.target.id for each in ast.walk(node.test) if isinstance(each, ast.NamedExpr)}
    if not named & needed:
        return []
    needed |= set(loads(node.test))
    return [ast.Expr(node.test)]


def _locals(scope: Scope, needed: set[str], owner: str) -> list[ast.stmt]:
    """What gives a value to names of a scope that nothing kept binds for sure: parameters, and what is bound later."""
    found: list[ast.stmt] = []
    if not isinstance(scope, ast.ClassDef):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = [argument.arg for argument in every if argument is not None]
        for place, name in enumerate(names):
            if name not in needed:
                continue
            if place == 0 and owner and name in ("self", "cls"):
                made = ast.Constant(name == "self")
                found.append(assign(name, ast.Call(variable("__bw_self__"), [ast.Constant(owner), made], [])))
            else:
                found.append(_unknown(name))
        needed -= set(names)
    later = {name for node in scope.body for name in bound(node)} & needed
    found += [_unknown(name) for name in sorted(later)]
    needed -= later if not isinstance(scope, ast.ClassDef) else set()
    return found


def _free(names: set[str], needed: set[str]) -> list[ast.stmt]:
    """Statements that say of names that nobody knows them, whatever was before."""
    found = sorted(names & needed)
    needed -= names
    return [_unknown(name) for name in found]


def _bound_around(node: ast.AST, inner: ast.AST | None) -> set[str]:
    """Names to which a node gives values that nobody knows where the test stands: of loops, handlers."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return set(bound(node))
    if isinstance(node, ast.With | ast.AsyncWith):
        return {name for item in node.items if item.optional_vars for name in targets(item.optional_vars)}
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.Try) and isinstance(inner, ast.ExceptHandler):
        return {name for each in node.body for name in bound(each)}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return {name for generator in node.generators for name in targets(generator.target)}
    if isinstance(node, ast.Lambda):
        return {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    return set()


def _block_with(node: ast.AST, child: ast.AST) -> list[ast.stmt] | None:
    """The statements of a node among which `child` is."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and any(each is child for each in block):
            if isinstance(node, ast.Try) and name != "body":
                block = [*node.body, *block]
            return block
    return None


def _kept(block: Sequence[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """The statements of a block that names in `needed` come from, with what they need in their turn."""
    found: list[ast.stmt] = []
    for node in reversed(block):
        found[:0] = keep(node, needed)
    return found


def keep(node: ast.stmt, needed: set[str]) -> list[ast.stmt]:
    names, altered = set(bound(node)) & needed, changed(node) & needed
    if not names and not altered:
        return []
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Match):
        filled = sorted(altered - names)
        needed -= altered
        return [*_free(names, needed), *(_unknown(name, "what a loop fills is not simulated") for name in filled)]
    if isinstance(node, ast.With | ast.AsyncWith):
        inner = _kept(node.body, needed)
        opened = {name for item in node.items if item.optional_vars for name in targets(item.optional_vars)}
        return [*_free(opened, needed), *inner]
    if isinstance(node, ast.If):
        body, other = _branch(node.body, needed), _branch(node.orelse, needed)
        needed |= set(loads(node.test))
        return [ast.If(node.test, body or [ast.Pass()], other)]
    if isinstance(node, ast.Try):
        handlers = [
            ast.ExceptHandler(each.type, each.name, _branch(each.body, needed) or [ast.Pass()])
            for each in node.handlers
        ]
        final, other = _branch(node.finalbody, needed), _branch(node.orelse, needed)
        for handler in handlers:
            needed |= set(loads(handler.type)) if handler.type is not None else set()
        body = _branch(node.body, needed) or [ast.Pass()]
        return [ast.Try(body, handlers, other if handlers else [], final)]
    if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
        needed -= names
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return []
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        node = ast.Assign([node.target], node.value)
    needed |= set(loads(node))
    return [node]


def _branch(block: Sequence[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """A branch of which names in `needed` come; one that leaves does not reach what comes after it."""
    here = set(needed)  # what a branch binds is still asked for where it is not taken
    kept = _kept(block, here)
    needed |= here
    if block and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
        kept.append(ast.Raise(variable("__bw_NotReached__"), None))
    return kept


def _unknown(name: str, *why: str) -> ast.stmt:
    return assign(name, ast.Call(variable("__bw_free__"), [ast.Constant(text) for text in (name, *why)], []))
