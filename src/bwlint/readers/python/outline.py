"""What a Python file defines and exports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from bwlint.chips import frameworks
from bwlint.model.facts import Use
from bwlint.model.outline import Definition, Outline
from bwlint.readers.nodes import AnyFunction, arms, below, children, parameters
from bwlint.readers.ondemand import OnDemand
from bwlint.readers.python import parse
from bwlint.readers.python.given import Spoken, bound, constants, deciding, matters
from bwlint.readers.python.sides import (
    Collector,
    Imports,
    dotted,
    imported,
    instances,
    marks_of_all,
    ours,
    statements,
    statements_here,
)
from bwlint.readers.skim import let_go, parsed, skim
from bwlint.readers.spans import span
from bwlint.sources.errors import ReadError

MAX_USES = 600
"""How many uses of one definition are kept."""
_WANTED = re.compile(rb"import[ \t]|def[ \t]|class[ \t]|getattr|self\.\w+[^\n=(]*=(?!=)")
"""What a function does besides to use names: import, define, look up, give an attribute."""
_LAZY = re.compile(r"\.?[A-Za-z_][\w.]*(?::[A-Za-z_]\w*)?")


def outline(path: str, source: str, name: str, is_package: bool) -> Outline:
    """The definitions, imports and lazy names of one file. Raises `ReadError`."""
    try:
        return _outlined(skim(source, _WANTED, parse), path, name, is_package)
    except RecursionError as error:
        raise ReadError("nested too deep to outline") from error


@dataclass(frozen=True, slots=True)
class _Written:
    """A definition as it is written; `around` are the scopes, the outermost first, `marks` decorators above it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    imports: Imports
    module: Mapping[str, tuple[str, ...]]
    around: tuple[AnyFunction, ...]
    marks: tuple[ast.expr, ...]

    def made(self) -> dict[str, tuple[str, ...]]:
        """The names that stand in it, and the calls whose results they are."""
        found = dict(self.module)
        for function in self.around:
            found |= {**_given(function), **_results(function.body)}
        return found


_LOOKS_UP = re.compile(r"(?i)(?:^|[._])(?:get|load|find)_?(?:custom_?)?op(?:erator)?$")


def _outlined(tree: ast.Module, path: str, name: str, is_package: bool) -> Outline:
    imports = Imports({}, name if is_package else name.rpartition(".")[0], texts=constants(tree.body))
    stars: list[str] = []
    for node in ours(tree.body):
        _bind(imports, stars, node)
    bound = Imports(dict(imports.names), imports.package, texts=imports.texts)
    written: dict[str, _Written] = {}
    for qualname, one in _written(tree.body, "", bound, _results(tree.body), ()):
        if qualname not in written or not _only_raises(one.node):  # which stands in for it where something is missing
            written[qualname] = one
    imports.names.update(_attributes(tree.body, imports))
    lookups = dict(_lookups(tree.body, imports))
    for alias, target in (*_aliases(tree.body, imports, lookups), *_held(tree.body, imports, lookups)):
        imports.names.setdefault(alias, target)
    at_top = set(map(id, tree.body))
    in_arms = [node for node in ours(tree.body) if id(node) not in at_top]
    targets_of: dict[str, set[str]] = {}
    for alias, target in _aliases(in_arms, imports, lookups):
        targets_of.setdefault(alias, set()).add(target)
    for alias, targets in targets_of.items():
        if len({target.rpartition(".")[2] for target in targets}) == 1:  # `torch.ops.ns.f`, or else `f`
            imports.names.setdefault(alias, min(targets, key=len))
    for local, target in _lazy_names(tree.body, imports):
        if local not in written:
            imports.names.setdefault(local, target)

    spoken: dict[str, Spoken] = {}

    @cache
    def at_arguments(qualname: str, given: tuple[str, ...]) -> tuple[Definition, ...]:
        return tuple(_at_arguments(qualname, written.get(qualname), given, spoken))

    picked = dict(_picked(tree.body))
    for one in written.values():
        _cut_down(one)
    return Outline(
        path=path,
        name=name,
        is_package=is_package,
        language="python",
        definitions=OnDemand(written, _definition),
        places={name: span(one.node) for name, one in written.items()},
        imports=imports.names,
        stars=tuple(stars),
        classes=tuple(name for name, one in written.items() if isinstance(one.node, ast.ClassDef)),
        picked=picked,
        instances=lambda qualname, given, _: at_arguments(qualname, given),
    )


def _cut_down(written: _Written) -> None:
    """Forget what nobody looks at any more, since the rest stays for a whole run: bodies and annotations."""
    node = written.node
    let_go(node)
    if any(one is not node for one in written.around):
        return  # it is a part of what the function around it uses
    if isinstance(node, ast.ClassDef):
        node.body = []
        return
    node.returns = None
    for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
        if one is not None:
            one.annotation = None


def _only_raises(node: ast.AST) -> bool:
    """Whether all that a function does is to raise."""
    body = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    texts = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return len(texts) == 1 and isinstance(texts[0], ast.Raise)


def _bind(imports: Imports, stars: list[str], node: ast.stmt) -> None:
    if isinstance(node, ast.Assign) and (found := imported(node)) is not None:
        imports.bind(*found)
    for local, module, name in imports.brought(node):
        if name == "*":
            stars.append(module)
        else:
            imports.bind(local, module if name is None else f"{module}.{name}".strip("."))


def _written(
    body: Sequence[ast.stmt],
    owner: str,
    imports: Imports,
    module: Mapping[str, tuple[str, ...]],
    functions: tuple[AnyFunction, ...],
    around: tuple[ast.expr, ...] = (),
) -> Iterator[tuple[str, _Written]]:
    """Functions and classes of a block, and those within them, outer ones first, by qualified name."""
    here = list(statements_here(body))
    around = (*around, *(mark for node in here for mark in marks_of_all(node)))
    for node in here:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            qualname = f"{owner}.{node.name}" if owner else node.name
            inner = functions if isinstance(node, ast.ClassDef) else (*functions, node)
            marks = (*node.decorator_list, *around)
            yield qualname, _Written(node, imports, module, inner, marks)
            within = marks if isinstance(node, ast.ClassDef) else ()
            yield from _written(parsed(node), qualname, imports, module, inner, within)


def _results(body: Sequence[ast.stmt]) -> dict[str, tuple[str, ...]]:
    """Names, `self.name` too, and the calls whose results they are given; "" is anything else."""
    found: dict[str, tuple[str, ...]] = {}
    for node in statements_here(body):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and not _is_kept(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                name = dotted(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
                called = dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
                if name and called not in found.get(name, ()) and not _is_compiled(name, node.value):
                    found[name] = (*found.get(name, ()), called)
    return found


def _is_compiled(name: str, value: ast.expr) -> bool:
    """`kernel = cute.compile(kernel)`: what is called by that name runs what it held."""
    last = dotted(value.func).rpartition(".")[2] if isinstance(value, ast.Call) and value.args else ""
    return isinstance(value, ast.Call) and last == "compile" and dotted(value.args[0]) == name


def _given(node: AnyFunction) -> dict[str, tuple[str, ...]]:
    """The parameters of a function, which hold what they are given and not what such names hold around it."""
    return {name: ("",) for name in parameters(node) if name not in ("self", "cls")}


def _is_kept(value: ast.expr) -> bool:
    """Nothing yet, or what was kept earlier: `made[key]`."""
    return isinstance(value, ast.Subscript) or (isinstance(value, ast.Constant) and value.value is None)


def _at_arguments(
    qualname: str, written: _Written | None, given: tuple[str, ...], spoken: dict[str, Spoken]
) -> Iterator[Definition]:
    """A function as a call runs it that writes out some arguments, where these matter in it."""
    if written is None or isinstance(written.node, ast.ClassDef) or not (told := bound(written.node, given)):
        return
    if qualname not in spoken:
        spoken[qualname] = Spoken.of(written.node)
    held = spoken[qualname].held(told)
    if not spoken[qualname].asked.isdisjoint(held):
        decide = deciding(held)
        if any(matters(one, held, decide) for part in written.node.body for one in below(part)):
            yield replace(_definition(qualname, written, held), given=given)
    let_go(written.node)


def _definition(qualname: str, written: _Written, held: Mapping[str, str] | None = None) -> Definition:
    try:
        return _looked_into(qualname, written, held)
    except RecursionError:  # nested too deep: it uses what it likes
        return Definition(qualname, "function", span(written.node), ())
    finally:
        for function in (written.node, *written.around):
            let_go(function)


def _looked_into(qualname: str, written: _Written, held: Mapping[str, str] | None) -> Definition:
    node, imports = written.node, written.imports
    if isinstance(node, ast.ClassDef):
        bases = tuple(_absolute(dotted(base), imports) for base in node.bases)
        return Definition(qualname, "class", span(node), (), bases=tuple(filter(None, bases)))
    marks = Collector(imports, most=MAX_USES)
    for mark in written.marks:
        marks.expression(mark, True)
    body = Collector(imports, most=MAX_USES, past_exits=True, made=written.made(), held=held)
    body.statements(node.body, nested=False)
    prepares = node.name in frameworks.names("prepares") or any(map(_is_for_all, node.decorator_list))
    return Definition(
        qualname,
        "setup" if prepares else "function",
        span(node),
        tuple(body.uses),
        marks=tuple(marks.uses),
        choices=_ends(node.body, imports) if held is None else (),
        parameters=parameters(node),
    )


def _is_for_all(decorator: ast.expr) -> bool:
    """`@pytest.fixture(autouse=True)`: every test near it has it."""
    given = decorator.keywords if isinstance(decorator, ast.Call) else ()
    return any(one.arg == "autouse" and isinstance(one.value, ast.Constant) and one.value.value for one in given)


def _attributes(body: Sequence[ast.stmt], imports: Imports) -> Iterator[tuple[str, str]]:
    """`Class.name` for each `self.name` that is an instance of one class, and that class."""
    for node in statements(body):
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
            results = _results([one for method in methods for one in parsed(method)])
            for name, called in instances(results).items():
                if name.startswith("self.") and name.count(".") == 1:
                    yield f"{node.name}.{name[5:]}", _absolute(called, imports)


def _picked(body: Sequence[ast.stmt]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`Class.name` for each `self.name` that is only ever given classes and functions, and these."""
    for node in statements(body):
        if not isinstance(node, ast.ClassDef):
            continue
        found: dict[str, dict[str, None]] = {}
        for method in node.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for name, value in _given_to_self(method):
                    found.setdefault(name, {}).update(dict.fromkeys(_chosen(value)))
        for name, values in found.items():
            if "" not in values:
                yield f"{node.name}.{name}", tuple(values)


def _given_to_self(method: AnyFunction) -> Iterator[tuple[str, ast.expr]]:
    for node in statements_here(parsed(method)):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                    yield target.attr, node.value


def _chosen(value: ast.expr) -> tuple[str, ...]:
    """The names that a value is one of; "" among them where it is something else."""
    return tuple(dotted(one) if isinstance(one, (ast.Name, ast.Attribute)) else "" for one in arms(value))


def _absolute(name: str, imports: Imports) -> str:
    root, dot, rest = name.partition(".")
    return imports.names.get(root, root) + dot + rest


def _aliases(body: Sequence[ast.stmt], imports: Imports, lookups: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`f = g`, `f = partial(g, ...)`, `f = lru_cache(g)` and `f = lookup("g")`: other names of g."""
    for node in body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        value: ast.expr = node.value
        name = _looked_up(value, lookups)
        while isinstance(value, ast.Call) and value.args:
            value = value.args[0]
        name = name or (dotted(value) if isinstance(value, (ast.Name, ast.Attribute)) else "")
        if name and name != node.targets[0].id:
            yield node.targets[0].id, _absolute(name, imports)


def _looked_up(node: ast.expr, lookups: Mapping[str, str]) -> str:
    """What a call finds by a text: `getattr(torch.ops.ns, "op")`, `get_operator("ns", "op")`; "" of anything else."""
    if not isinstance(node, ast.Call):
        return ""
    called = dotted(node.func)
    texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if called == "getattr" and len(node.args) > 1 and len(texts) == 1 and texts[0].isidentifier():
        owner = dotted(node.args[0])
        return f"{owner}.{texts[0]}" if owner else ""
    if len(texts) != len(node.args):
        return ""
    if len(texts) == 1 and called in lookups and texts[0].isidentifier():
        return f"{lookups[called]}.{texts[0]}"
    return f"torch.ops.{'.'.join(texts)}" if len(texts) == 2 and _LOOKS_UP.search(called) else ""


def _lookups(body: Sequence[ast.stmt], imports: Imports) -> Iterator[tuple[str, str]]:
    """Functions that look their one parameter up in a module, and that module: `return getattr(torch.ops.ns, name)`."""
    for function in body:
        if not isinstance(function, ast.FunctionDef) or len(function.args.args) != 1:
            continue
        within = Imports(dict(imports.names), imports.package)
        for node in statements_here(parsed(function)):
            _bind(within, [], node)
            found = node.value if isinstance(node, ast.Return) else None
            if isinstance(found, ast.Call) and dotted(found.func) == "getattr" and len(found.args) > 1:
                owner, name = dotted(found.args[0]), found.args[1]
                if owner and isinstance(name, ast.Name) and name.id == function.args.args[0].arg:
                    yield function.name, _absolute(owner, within)
                    break


def _held(body: Sequence[ast.stmt], imports: Imports, lookups: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`Class.name` for what the body of a class gives another name, and that: `kernel = staticmethod(_launch)`."""
    for node in statements(body):
        if isinstance(node, ast.ClassDef):
            for name, target in _aliases(node.body, imports, lookups):
                yield f"{node.name}.{name}", target


def _lazy_names(body: Sequence[ast.stmt], imports: Imports) -> Iterator[tuple[str, str]]:
    """Names of a module with `__getattr__` that a table of strings maps to modules: `{"name": "module:attribute"}`."""
    if not any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in body):
        return
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                    yield from _lazy_target(key.value, value, imports)


def _lazy_target(local: str, value: ast.expr, imports: Imports) -> Iterator[tuple[str, str]]:
    """A dotted name from `"module"`, `"module:attribute"` or `("module", "attribute")`."""
    parts = [value] if isinstance(value, ast.Constant) else value.elts if isinstance(value, ast.Tuple) else []
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if not texts or len(texts) != len(parts) or not all(_LAZY.fullmatch(text) for text in texts):
        return
    module, _, attribute = texts[0].partition(":")
    if len(texts) > 1:
        attribute = texts[1]
    if module.startswith("."):
        level = len(module) - len(module.lstrip("."))
        module = imports.absolute(ast.ImportFrom(module=module.lstrip(".") or None, names=[], level=level))
    yield local, f"{module}.{attribute or local}"


_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _ends(body: Sequence[ast.stmt], imports: Imports) -> tuple[Use, ...]:
    """The last calls of all ways through a body, errors left out; none where one way ends in anything else."""
    found: dict[str, Use] = {}
    for call in _last_calls(body) or ():
        name = dotted(call.func)
        root, dot, rest = name.partition(".")
        if not name or root in ("self", "cls"):
            return ()
        use = Use(imports.names.get(root, root) + dot + rest, "call", span(call.func), sure=False)
        found.setdefault(use.name, use)
    return tuple(found.values()) if len(found) > 1 else ()


def _last_calls(body: Sequence[ast.stmt]) -> list[ast.Call] | None:
    if not body:
        return None
    found: list[ast.Call] = []
    for node in body[:-1]:
        if isinstance(node, ast.If):
            for side in (node.body, node.orelse):
                if not any(_returns(side)):
                    continue
                ends = _last_calls(side)
                if ends is None:
                    return None
                found += ends
        elif any(_returns([node])):
            return None
    last = _calls_of(body[-1])
    return None if last is None else found + last


def _calls_of(node: ast.stmt) -> list[ast.Call] | None:
    if isinstance(node, ast.Raise):
        return []
    if isinstance(node, ast.If):
        sides = [_last_calls(side) for side in (node.body, node.orelse)]
        return None if None in sides else [call for side in sides for call in side or ()]
    if isinstance(node, ast.With):
        return _last_calls(node.body)
    if isinstance(node, (ast.Return, ast.Expr)) and node.value is not None:
        ends = arms(node.value)
        calls = [end for end in ends if isinstance(end, ast.Call)]
        return calls if len(calls) == len(ends) else None
    return None


def _returns(body: Sequence[ast.AST]) -> Iterator[bool]:
    """Whether each statement of a block, those within it too, returns; those of inner definitions are not its own."""
    for node in body:
        if isinstance(node, _OWN):
            continue
        yield isinstance(node, ast.Return)
        yield from _returns([child for child in children(node) if isinstance(child, ast.stmt)])
