"""Lists and tables that are gates without a comparison: known by their name or by their keys."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from bwlint.model.expr import Expr, const
from bwlint.readers.python.sides import dotted, names_others
from bwlint.readers.python.vocabulary import (
    JOINED,
    LIST_NAME,
    MAJOR_NAME,
    MAJORS,
    MAXIMUM_NAME,
    MINIMUM_NAME,
    arch_text,
)
from bwlint.readers.spans import span

MIN_ROWS = 2
_NO_BOUND = 200
"""A capability in joined digits that no chip will have soon."""


def declared(name: str, node: ast.expr, value: Expr, own: frozenset[str]) -> Expr | None:
    """The test that a declared list or table stands for; `own` are names of lists of the configuration."""
    if isinstance(node, ast.Dict):
        keys = [key for key in node.keys if key is not None]
        form = _form(keys, name)
        # a table is known by its keys; numbers alone say nothing unless the name does
        if form is None or len(keys) < MIN_ROWS or len(keys) != len(node.keys):
            return None
        if form in ("joined", "major", "digits") and not _is_list(name, own) and not _rows_named(name):
            return None
        return _member(form, Expr("tuple", (value.args[0],)), node)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        if not _is_list(name, own):
            return None
        form = _form(node.elts, name)
        return None if form is None else _member(form, value, node)
    return None


def bound(name: str, node: ast.expr | None, value: Expr, order: str = "") -> Expr | None:
    """The test that a declared oldest or newest capability stands for: `get_min_capability() -> 90`, `MAX_SM = 90`."""
    order = order or _order(name)
    form = _bound_form(node) if node is not None and order else ""
    if node is None or not form:
        return None
    if isinstance(node, ast.Call):
        value = Expr("tuple", (tuple(map(const, _numbers(_pair(node)))),), value.at)
    return Expr("cmp", (order, (Expr("source", (form,)), value)), value.at)


def limits(node: ast.ClassDef) -> list[tuple[str, ast.expr]]:
    """The attributes of a class (no enum) that may hold a capability as a bound, and methods that return only one."""
    if any(dotted(one).endswith(("Enum", "Flag")) for one in node.bases):
        return []
    named = ((dotted(one.targets[0]), one.value) for one in node.body if isinstance(one, ast.Assign))
    typed = ((dotted(one.target), one.value) for one in node.body if isinstance(one, ast.AnnAssign))
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and not _order(one.name)]
    given = ((one.name, one.body[-1].value) for one in methods if isinstance(one.body[-1], ast.Return))
    return [(name, value) for name, value in (*named, *typed, *given) if value is not None and _bound_form(value)]


def _order(name: str) -> str:
    """How a device is compared with what a name holds that says "oldest" or "newest"; "" of other names."""
    return ">=" if MINIMUM_NAME.search(name) else "<=" if MAXIMUM_NAME.search(name) else ""


def _bound_form(node: ast.expr) -> str:
    """How a bound spells a capability, which need be none of a chip: 109, (10, 9); "" of anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, int):
        return "joined" if min(JOINED) <= value < _NO_BOUND and value not in MAJORS else ""
    pair = _pair(node)
    parts = _numbers(pair)
    if len(pair) != len(parts):
        return ""
    return "tuple" if len(parts) == 2 and min(MAJORS) <= parts[0] <= max(MAJORS) else ""


def _pair(node: ast.expr) -> list[ast.expr]:
    """The parts of a tuple, or of what is made of two of them: `Capability(10, 0)`, `Capability(major=10, minor=0)`."""
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2][:1].isupper():
        return [*node.args, *(one.value for one in node.keywords)]
    return node.elts if isinstance(node, ast.Tuple) else []


def _is_open(node: ast.expr) -> bool:
    """Whether a bound is none: 999, None, (99, 9)."""
    first = node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node
    value = first.value if isinstance(first, ast.Constant) else 0
    limit = _NO_BOUND if first is node else max(MAJORS) + 1
    return value is None or (isinstance(value, int) and value >= limit)


def bounds(call: ast.Call, lower: Callable[[ast.expr], Expr]) -> tuple[Expr, ast.Call] | None:
    """The oldest and the newest capability that a call names, and the call that names them: itself, or one that it is
    given: `Kernel(run, min_sm=90, max_sm=103)`, `register(needs=Needs(min_sm=90))`. None beside another maker's name.
    """
    given = (one.value for one in call.keywords)
    for each in (call, *(one for one in given if isinstance(one, ast.Call))):
        limits = [(one.arg or "", one.value) for one in each.keywords if _order(one.arg or "")]
        tests = [bound(name, value, lower(value)) for name, value in limits if not _is_open(value)]
        known = tuple(test for test in tests if test is not None)
        if known and len(known) == len(tests) and not names_others(each):
            return (known[0] if len(known) == 1 else Expr("and", (known,), span(each))), each
    return None


def is_newer(call: ast.Call, other: ast.Call) -> bool:
    """Whether a record is for the same as another one of its kind, and from a later chip on."""
    since, before = _oldest(call), _oldest(other)
    if dotted(call.func) != dotted(other.func) or since is None or before is None or since <= before:
        return False
    mine, its = _said(call), _said(other)
    same = {place: ast.dump(mine[place]) == ast.dump(its[place]) for place in mine.keys() & its}
    texts = [same[place] for place in same if isinstance(mine[place], ast.Constant)]
    return (any(texts) or not texts) and all(same[place] or isinstance(mine[place], ast.Constant) for place in same)


def _oldest(call: ast.Call) -> tuple[int, int] | None:
    """The oldest capability that a record names."""
    for one in call.keywords:
        form = _bound_form(one.value) if _order(one.arg or "") == ">=" else ""
        if form:
            first, *rest = _numbers(_pair(one.value) or [one.value])
            return (first, rest[0]) if rest else divmod(first, 10)
    return None


def _numbers(nodes: Sequence[ast.expr]) -> list[int]:
    return [one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, int)]


def _said(call: ast.Call) -> dict[str | int, ast.expr]:
    """What a record says about its users beside the chips: its words, and its lists of words."""
    given: list[tuple[str | int, ast.expr]] = list(enumerate(call.args))
    given += [(one.arg or "", one.value) for one in call.keywords]
    return {place: value for place, value in given if not _order(str(place)) and _is_said(value)}


def _is_said(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_is_said, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()


def arguments(call: ast.Call, own: frozenset[str]) -> Iterator[tuple[str, ast.expr]]:
    """Lists passed to a call that names them: `f(supported_major_versions=[9, 10])`, `@supported_cc([90])`."""
    last = dotted(call.func).rpartition(".")[2]
    if last == "parametrize":
        return  # what a test is run with, and not what a device must be
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, (ast.List, ast.Tuple, ast.Set)):
            yield keyword.arg, keyword.value
    names = {a.id for a in call.args if isinstance(a, ast.Name)} | {
        a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
    }
    label = last if _is_list(last, own) else next((n for n in sorted(names) if _is_list(n, own)), "")
    if not label:
        return
    for argument in call.args:
        if isinstance(argument, (ast.List, ast.Tuple, ast.Set)):
            yield label, argument


def holds_numbers(node: ast.expr) -> bool:
    """Whether all rows of a table are numbers, or tuples and dictionaries of them."""
    if isinstance(node, ast.Dict):
        return all(holds_numbers(value) for value in node.values)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(holds_numbers(item) for item in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def has_rows_of_none(node: ast.expr) -> bool:
    """Whether a row of a table has the value that a chip without a row gets: None."""
    return isinstance(node, ast.Dict) and any(
        isinstance(row, ast.Constant) and row.value is None for row in node.values
    )


def _is_list(name: str, own: frozenset[str]) -> bool:
    return name in own or LIST_NAME.search(name) is not None


def _rows_named(name: str) -> bool:
    lowered = name.lower()
    return any(word in lowered for word in ("arch", "capab", "_sm", "sm_", "_cc", "cc_"))


def _form(nodes: list[ast.expr], name: str) -> str | None:
    """How the members spell a capability; None when one of them is something else."""
    if not nodes:
        return None
    forms = {_spelling(node) for node in nodes}
    if len(forms) != 1:
        if forms == {"sm", "sm-suffixed"}:
            return "sm"
        return "joined" if forms == {"joined", "either"} else None
    form = forms.pop()
    if form == "either":
        return "major" if MAJOR_NAME.search(name) else None
    return form


def _spelling(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            return None
        if isinstance(value, int):
            return "joined" if value in JOINED else "either" if value in MAJORS else None
        if isinstance(value, str) and arch_text(value):
            if value.startswith("sm_"):
                return "sm-suffixed" if value[-1] in "af" else "sm"
            return "version" if "." in value else "digits"
        return None
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        parts = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, int)]
        if len(parts) == 2 and parts[0] * 10 + parts[1] in JOINED:
            return "tuple"
    if isinstance(node, ast.Attribute) and dotted(node.value).rpartition(".")[2] == "Arch":
        return "arch" if arch_text(node.attr) else None
    return None


def _member(form: str, container: Expr, node: ast.expr) -> Expr:
    if form in ("sm", "sm-suffixed", "arch"):
        # a list of names holds plain, f and a spellings: any of a chip's own names will do
        return Expr("names", (container,), span(node))
    return Expr("cmp", ("in", (Expr("source", (form,)), container)), span(node))
