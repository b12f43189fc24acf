"""Lists and comparisons that name the chips they admit, with another generation written beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.python import first_proved
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import Fix, NoFix

_ONE, _FAMILY = "is_device_capability", "is_device_capability_family"
"""What platforms of vLLM and its forks are asked for one capability, and for a family."""
_LIST = (ast.List, ast.Tuple, ast.Set)


def mend(job: Job) -> Fix | NoFix:
    """The fix after which a test or list holds on the chips of the remedy, too; `NoFix` says why there is none. Nobody
    has seen that what is behind it works there, so it is never safe.
    """
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    change = WantedChange.between(judged.sets, remedy.chips, "admit")
    if isinstance(change, NoFix):
        return change
    place = ConditionPlace.of(job, judged, change)
    if isinstance(place, NoFix):
        return place
    proved = first_proved(place, (widened,), f"{remedy.evidence or 'none'} (unsafe: {remedy.unsafe})")
    if isinstance(proved, NoFix):
        return proved
    candidate, proof = proved
    text = " ".join(candidate[0].text.split()).strip(", ")
    return Fix("unsafe", change.kind, f"{change.title}: write `{text}`", candidate, proof)


def widened(place: ConditionPlace) -> Iterator[Candidate]:
    """`[100, 103]` to `[100, 103, 120, 121]`, `major == 10` to `major in (10, 12)`, `major != 10` likewise."""
    syntax = parse(place.source)
    if syntax is None:
        return
    path = place.module.path
    for node in syntax.within(place.span):
        if isinstance(node, _LIST) and node.elts:
            last = node.elts[-1]
            for added in _spelled(syntax, last, place.change.chips):
                yield (syntax.edit(path, syntax.end(last), syntax.end(last), f", {', '.join(added)}"),)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq) and len(node.ops) == 1:
            word = "in" if isinstance(node.ops[0], ast.Eq) else "not in"
            value = node.comparators[0]
            for added in _spelled(syntax, value, place.change.chips):
                members = ", ".join((syntax.segment(value), *added))
                text = f"{syntax.segment(node.left)} {word} ({members})"
                yield (syntax.edit(path, syntax.start(node), syntax.end(node), text),)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _ONE:
            owner = syntax.segment(node.func.value)
            families = sorted({chip.major * 10 for chip in place.change.chips})
            others = " or ".join(f"{owner}.{_FAMILY}({number})" for number in families)
            text = f"({syntax.segment(node)} or {others})"
            yield (syntax.edit(path, syntax.start(node), syntax.end(node), text),)


def _spelled(syntax: Syntax, like: ast.expr, chips: ChipSet) -> Iterator[list[str]]:
    """The chips as items that look like one that stands there: as majors, or joined."""
    if isinstance(like, _LIST):
        yield [f"({chip.major}, {chip.minor})" for chip in chips]
    if not isinstance(like, ast.Constant) or isinstance(like.value, bool):
        return
    joined = [str(chip.joined) for chip in chips]
    majors = [str(major) for major in sorted({chip.major for chip in chips})]
    if isinstance(like.value, int):
        yield from (joined, majors) if like.value > max(chip.major for chip in chips) else (majors, joined)
    elif isinstance(like.value, str):
        head = like.value.rstrip("0123456789.af")
        quote = syntax.segment(like)[:1]
        dotted = [f"{chip.major}.{chip.minor}" for chip in chips]
        for texts in (dotted, joined) if "." in like.value else (joined, majors):
            yield [f"{quote}{head}{text}{quote}" for text in texts]
