"""Fix flags named after one target: check the sibling's flag as well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips import chip_of_number
from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax
from bwlint.readers.spans import span

_NUMBER = re.compile(rf"(?<![A-Za-z0-9])(?:{IN_NAMES})?({NUMBER})(?={SUFFIX}(?![A-Za-z0-9]))")


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """`has_sm120` to `has_sm120 or has_sm121`, where the file sets that flag too."""
    if not place.sets.flags:
        return
    syntax = place.syntax
    names = [node for node in syntax.within(place.span) if isinstance(node, ast.Name)]
    for node in names:
        twins = _twins(place, node.id)
        if twins and all(_is_set(syntax, node, twin) for twin in twins) and not any(one.id in twins for one in names):
            yield _joined(place, syntax, node, twins)


def _twins(place: ConditionPlace, name: str) -> list[str]:
    """The names of the flags for the chips that are to be treated as the one that `name` is for."""
    found = _NUMBER.search(name)
    chip = chip_of_number(int(found[1])) if found else None
    if found is None or chip is None or chip not in place.change.twins:
        return []
    return [f"{name[: found.start(1)]}{other.joined}{name[found.end(1) :]}" for other in place.change.beside(chip)]


def _is_set(syntax: Syntax, use: ast.Name, name: str) -> bool:
    """Whether a name has a value where `use` stands: a parameter, or an assignment above, in a scope around it."""
    scopes = [one for one in syntax.around(use) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))]
    parameters = [scope.args for scope in scopes if not isinstance(scope, ast.Module)]
    given = {one.arg for each in parameters for one in ast.walk(each) if isinstance(one, ast.arg)}
    body = [one for scope in scopes for one in scope.body if isinstance(one, (ast.Assign, ast.AnnAssign))]
    above = [inner for one in body if span(one)[2:] <= span(use)[:2] for inner in ast.walk(one)]
    return name in given | {one.id for one in above if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _joined(place: ConditionPlace, syntax: Syntax, node: ast.Name, twins: list[str]) -> Candidate:
    path, start, end = place.module.path, syntax.start(node), syntax.end(node)
    added = "".join(f" or {twin}" for twin in twins)
    if syntax.is_free(node, "or"):
        return (syntax.edit(path, end, end, added),)
    return (syntax.edit(path, start, end, f"({node.id}{added})"),)
