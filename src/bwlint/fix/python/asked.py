"""Fix a check that calls a helper later chips pass: `ok() and cap < (12, 0)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.evaluate.objects import FunctionValue
from bwlint.evaluate.values import CHIPS
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span, walk
from bwlint.readers.spans import span
from bwlint.sources.texts import Texts

_CAPABILITIES = [(chip.major, chip.minor) for chip in CHIPS]


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every operand of the test whose helper reads the capability in words that this file has too."""
    syntax, path = parse(place.source), place.module.path
    first = min(place.change.chips, key=lambda chip: chip.joined)
    asked, bound = {one.at: one for one in walk(place.gate.test)}, f"({first.major}, {first.minor})"
    for node in syntax.within(place.span) if syntax is not None else ():
        if syntax is None or not isinstance(node, (ast.Call, ast.Name)) or span(node) not in asked:
            continue
        for call in (one for one in reached(asked[span(node)], place.module) if one.op == "call"):
            helper = place.tree.function(place.module, call.args[0])
            for subject in _read(place, syntax, helper, node) if helper is not None else ():
                yield syntax.narrowed(path, node, f"{subject} < {bound}", f"{subject} >= {bound}")


def _read(place: ConditionPlace, here: Syntax, helper: FunctionValue, node: ast.expr) -> Iterator[str]:
    """How a helper reads the capability, as this file would write it where `node` calls that."""
    own, theirs = place.module.names, helper.module.names
    same = helper.module.path == place.module.path
    syntax = here if same else parse(Texts().source(helper.module.path) or "")
    arguments = [here.segment(each) for each in node.args] if isinstance(node, ast.Call) else []
    given = dict(zip(helper.function.params, arguments, strict=False))
    if any(_tells_why(each) for each in _called(place, helper)):
        return  # a check beside the call would leave the reason untold
    for read in reached(helper.function.returns, helper.module):
        at = read.at if read.op == "call" else None
        if at is None or syntax is None or list(place.tree.value(helper.module, read).spread()) != _CAPABILITIES:
            continue
        names = {one.id for one in ast.walk(_at(syntax, at)) if isinstance(one, ast.Name)} - given.keys()
        shared = {name for name in names & own.keys() & theirs.keys() if own[name].args == theirs[name].args}
        if names == shared and (same or all(own[name].op == "import" for name in names)):
            yield _replaced(syntax, _at(syntax, at), given)


def _called(place: ConditionPlace, helper: FunctionValue) -> Iterator[FunctionValue]:
    """A helper, and the functions whose answers it hands on."""
    yield helper
    calls = (one for one in reached(helper.function.returns, helper.module) if one.op == "call")
    yield from filter(None, (place.tree.function(helper.module, one.args[0]) for one in calls))


def _tells_why(helper: FunctionValue) -> bool:
    """Whether a helper answers with a reason."""
    return any(value.op == "const" and isinstance(value.args[0], str) for _, value in helper.function.returns)


def _at(syntax: Syntax, at: Span) -> ast.expr:
    return next(node for node in syntax.within(at) if span(node) == at)


def _replaced(syntax: Syntax, call: ast.expr, given: dict[str, str]) -> str:
    """The text of a call with what is given for the parameters of its function."""
    text, start = syntax.segment(call), syntax.start(call)
    names = [node for node in ast.walk(call) if isinstance(node, ast.Name) and node.id in given]
    for name in sorted(names, key=span, reverse=True):
        at = syntax.start(name) - start
        text = text[:at] + given[name.id] + text[at + len(name.id) :]
    return text
