"""Tests that a decorator of the tree lets run from a generation on, made to end before a later one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import Chip, ChipSet
from bwlint.evaluate.objects import FunctionValue
from bwlint.fix import Job
from bwlint.fix.change import WantedChange, shifted
from bwlint.fix.edited import apply, outline
from bwlint.fix.python import imports
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import prove, written
from bwlint.fix.python.syntax import Syntax
from bwlint.fix.text import generations
from bwlint.model.expr import walk
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers import ReadError, again
from bwlint.readers.spans import span
from bwlint.world.gates import Judged

_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LIKE_AN_END = ("max", "upper", "below", "before", "until", "end", "last", "high", "stop", "less")
_TRIED = NoFix("the edited marks would admit other chips", technical=True)


def bounded(job: Job, judged: Judged) -> Fix | NoFix:
    """The fix after which a test that `judged` skips is skipped on the chips that are to go as well."""
    change = WantedChange.between(judged.sets, job.remedy.chips, "bound")
    place = ConditionPlace.of(job, judged, change) if isinstance(change, WantedChange) else _TRIED
    if isinstance(change, NoFix) or isinstance(place, NoFix):
        return _TRIED
    syntax = place.syntax
    mark = next((one for one in _marks(syntax) if span(one) == judged.gate.at), None)
    if mark is None:
        return _TRIED
    first = min(change.chips, key=lambda chip: chip.joined)
    kept = judged.admitted - change.chips
    for candidate in _ended(place, syntax, mark, first, kept):
        if isinstance(proof := prove(place, candidate, job.evidence), Proof):
            return _fix(job, change, candidate, proof)
    helper = _called(place)
    names = frozenset(helper.module.functions if helper is not None else ())
    for candidate in (*_siblings(place, syntax, mark, first), *_skipped(place, syntax, mark, first, kept)):
        if isinstance(proof := _proved(job, judged, candidate, kept, names), Proof):
            return _fix(job, change, candidate, proof)
    return _TRIED


def _fix(job: Job, change: WantedChange, candidate: Candidate, proof: Proof) -> Fix:
    text = " ".join(candidate[-1].text.split()).replace("( ", "(").replace(", )", ")")
    return Fix(job.applicability, "bound", f"{change.title}: add `{text.strip(', ')}`", candidate, proof)


def _marks(syntax: Syntax) -> Iterator[ast.Call]:
    for node in ast.walk(syntax.tree):
        if isinstance(node, _DECORATED):
            yield from (one for one in node.decorator_list if isinstance(one, ast.Call))


def _ended(place: ConditionPlace, syntax: Syntax, mark: ast.Call, first: Chip, kept: ChipSet) -> Iterator[Candidate]:
    """`@at_least(10)` to `@at_least(10, below=12)` or `last=11`, where the decorator has such a parameter."""
    helper = _called(place)
    given = {*(helper.function.params[: len(mark.args)] if helper else ()), *(one.arg for one in mark.keywords)}
    end = syntax.end(mark) - 1
    for name in helper.function.params if helper is not None else ():
        if name not in given and any(word in name.lower() for word in _LIKE_AN_END):
            for chip in (max(kept, key=lambda chip: chip.joined), first):
                for value in (str(chip.major), f"({chip.major}, {chip.minor})", str(chip.joined)):
                    yield (syntax.edit(place.module.path, end, end, f", {name}={value}"),)


def _siblings(place: ConditionPlace, syntax: Syntax, mark: ast.Call, first: Chip) -> Iterator[Candidate]:
    """`@version_lt(12)` below `@version_ge(10)`: a decorator of the same module, named like it, that takes the same."""
    helper, path = _called(place), place.module.path
    name = mark.func.attr if isinstance(mark.func, ast.Attribute) else syntax.segment(mark.func)
    if helper is None or not mark.args or mark.keywords or helper.function.qualname != name:
        return
    stem = name.rpartition("_")[0] or name
    one = f"({first.major}, {first.minor})" if isinstance(mark.args[0], ast.Tuple) else f"{first.major}"
    value = one if len(mark.args) == 1 else f"{first.major}, {first.minor}"
    before = syntax.segment(mark.func).removesuffix(name)
    for other in sorted(helper.module.functions, key=lambda each: not each.startswith(name)):
        if other != name and other.startswith(stem) and "." not in other:
            brought = [] if before else imports.bring(syntax, path, (other,), name, mark)
            if not isinstance(brought, NoFix):
                yield (*brought, *_below(place, syntax, mark, (f"{before}{other}({value})",)))


def _skipped(place: ConditionPlace, syntax: Syntax, mark: ast.Call, first: Chip, kept: ChipSet) -> Iterator[Candidate]:
    """A mark of the framework that the file uses. It is evaluated where tests are collected, with or without a GPU."""
    test = f"torch.cuda.is_available() and torch.cuda.get_device_capability() >= ({first.major}, {first.minor})"
    why = f"needs {' or '.join(f'SM{each}' for each in generations('SM', kept))}"
    helper, path = _called(place), place.module.path
    both = (place.module.names, helper.module.names if helper is not None else {})
    frame = next((one for names in both for one in ("pytest", "unittest") if one in names), None)
    brought = imports.bring_modules(syntax, path, sorted({"torch", frame})) if frame is not None else _TRIED
    if isinstance(brought, NoFix):
        return
    call, reason = ("pytest.mark.skipif(", "reason=") if frame == "pytest" else ("unittest.skipIf(", "")
    yield (*brought, *_below(place, syntax, mark, (call, f"    {test},", f'    {reason}"{why}",', ")")))


def _below(place: ConditionPlace, syntax: Syntax, mark: ast.Call, lines: tuple[str, ...]) -> Candidate:
    indent, at = syntax.indent(mark.lineno), syntax.offset((mark.end_lineno or mark.lineno) + 1, 0)
    text = "".join(f"{indent}{'' if number else '@'}{line}{syntax.newline}" for number, line in enumerate(lines))
    return (syntax.edit(place.module.path, at, at, text),)


def _called(place: ConditionPlace) -> FunctionValue | None:
    """The function of the tree that a mark calls."""
    calls = (one for one in walk(place.gate.test) if one.op == "call" and one.at == place.gate.at)
    return next((place.tree.function(place.module, one.args[0]) for one in calls), None)


def _proved(job: Job, judged: Judged, candidate: Candidate, kept: ChipSet, names: frozenset[str]) -> Proof | NoFix:
    """The proof that the new marks admit `kept`, and each old test is as it was; `names` are decorators to know."""
    known = replace(job.module, carried=job.module.carried | names)
    try:
        edited = again(known, apply(job.source, candidate))
    except ReadError:
        return _TRIED
    lines, tree, before = written(candidate), job.context.tree.edited(edited), job.context.tree.afresh(job.module)
    new = [one for one in edited.gates if any(first <= one.at.line <= last for first, last in lines)]
    left = [one for one in edited.gates if one not in new]
    pairs = list(zip(job.module.gates, left, strict=False))
    if len(left) != len(job.module.gates) or any(outline(old) != outline(now) for old, now in pairs):
        return _TRIED
    for had, has in ((before.sets(job.module, old), tree.sets(edited, now)) for old, now in pairs):
        if (had is None) != (has is None) or (had is not None and has is not None and shifted(had, has)):
            return _TRIED
    sets = [(gate, tree.sets(edited, gate)) for gate in new]
    admitted = [Judged(edited, gate, one, judged.place).admitted for gate, one in sets if one is not None]
    both = judged.admitted & ChipSet.common(admitted) if admitted else judged.admitted
    if both != kept:
        return _TRIED
    return Proof(judged.admitted.names, judged.admitted.names, kept.names, kept.names, job.evidence)
