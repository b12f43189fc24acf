"""Fix a check that calls a helper later chips pass: `ok() and cap < (12, 0)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.evaluate.objects import FunctionValue
from bwlint.evaluate.values import CHIPS
from bwlint.fix.python.imports import bring_modules
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Expr, Span, is_text, walk
from bwlint.model.facts import Module
from bwlint.model.findings import NoFix
from bwlint.readers.python.reached import names_in
from bwlint.readers.spans import span
from bwlint.sources.texts import Texts

_CAPABILITIES = [(chip.major, chip.minor) for chip in CHIPS]


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every operand of the test whose helper reads the capability in words that this file has too."""
    syntax, path = place.syntax, place.module.path
    first = min(place.change.chips, key=lambda chip: chip.joined)
    asked, bound = {one.at: one for one in walk(place.gate.test)}, f"({first.major}, {first.minor})"
    for node in syntax.within(place.span):
        if not isinstance(node, (ast.Call, ast.Name)) or span(node) not in asked:
            continue
        own = asked[span(node)]
        for helper in (place.tree.function(place.module, one.args[0]) for one in _calls(own, place.module)):
            for subject, brought in _read(place, syntax, helper, node) if helper is not None else ():
                yield (*brought, *syntax.narrowed(path, node, f"{subject} < {bound}", f"{subject} >= {bound}"))
        for call in _capabilities(place, place.module, own) if isinstance(node, ast.Name) else ():
            subject = syntax.segment(_at(syntax, call))
            if all(name in place.module.names for name in names_in(_at(syntax, call))):
                for denies in (False, True):
                    yield syntax.narrowed(path, node, f"{subject} < {bound}", f"{subject} >= {bound}", denies=denies)


def _calls(test: object, module: Module) -> Iterator[Expr]:
    return (one for one in reached(test, module) if one.op == "call")


def _capabilities(place: ConditionPlace, module: Module, test: object) -> Iterator[Span]:
    """Where a test of a file reads the capability as a pair."""
    for read in _calls(test, module):
        if read.at is not None and list(place.tree.value(module, read).spread()) == _CAPABILITIES:
            yield read.at


def _read(
    place: ConditionPlace, here: Syntax, helper: FunctionValue, node: ast.expr
) -> Iterator[tuple[str, Candidate]]:
    """How a helper reads the capability, as this file would write it at `node`, with the imports for that."""
    own, theirs = place.module.names, helper.module.names
    same = helper.module.path == place.module.path
    syntax = here if same else parse(Texts().source(helper.module.path) or "")
    arguments = [here.segment(each) for each in node.args] if isinstance(node, ast.Call) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and helper.owner is not None:
        arguments = [here.segment(node.func.value), *arguments]  # what a method is asked of
    given = dict(zip(helper.function.params, arguments, strict=False))
    if syntax is None or any(_tells_why_or_passes(each) for each in _called(place, helper)):
        return  # a check beside the call would leave the reason untold, or raise on a machine without a GPU
    for at in _capabilities(place, helper.module, helper.function.returns):
        names = names_in(_at(syntax, at)) - given.keys()
        shared = {name for name in names & own.keys() & theirs.keys() if own[name].args == theirs[name].args}
        if not (same or all(name in theirs and theirs[name].op == "import" for name in names)):
            continue
        brought = bring_modules(here, place.module.path, sorted(names - shared))
        plain = all(name in theirs and theirs[name].args == (name, None) for name in names - shared)
        if plain and not isinstance(brought, NoFix):
            yield _replaced(syntax, _at(syntax, at), given), tuple(brought)


def _called(place: ConditionPlace, helper: FunctionValue) -> Iterator[FunctionValue]:
    """A helper, and the functions whose answers it hands on."""
    yield helper
    calls = (one for one in reached(helper.function.returns, helper.module) if one.op == "call")
    yield from filter(None, (place.tree.function(helper.module, one.args[0]) for one in calls))


def _tells_why_or_passes(helper: FunctionValue) -> bool:
    """Whether a helper answers with a reason, or yes without a device: `not torch.cuda.is_available() or ...`."""
    for path, value in helper.function.returns:
        if is_text(value):
            return True
        parts = value.args[0] if value.op == "or" else path if value.op == "const" and value.args[0] else ()
        calls = (one.args[0] for one in parts if one.op == "not" and one.args[0].op == "call")
        if any(one.args[0].args[-1] == "is_available" for one in calls):
            return True
    return False


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
