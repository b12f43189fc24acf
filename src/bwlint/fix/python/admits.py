"""Lists and comparisons that name the chips they admit, with another generation written beside them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bwlint.chips import ChipSet
from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.python import TABLES, UNKNOWN, first_proved, rows
from bwlint.fix.python.items import behind
from bwlint.fix.python.methods import EXACT, FAMILY
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import Edit, Fix, NoFix

_LIST = (ast.List, ast.Tuple, ast.Set)


def mend(job: Job) -> Fix | NoFix:
    """The fix after which a test or list holds on the chips of the remedy, too; `NoFix` says why there is none."""
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    change = WantedChange.between(judged.sets, remedy.chips, "admit")
    if isinstance(change, NoFix):
        return change
    place = ConditionPlace.of(job, judged, change)
    if isinstance(place, NoFix):
        return place
    spelling = rows.newest if judged.gate.kind in TABLES else _proposals
    proved = first_proved(place, (spelling,), job.evidence)
    if isinstance(proved, NoFix):
        return NoFix(f"what {plain(change.chips)} get here is for a person to write") if proved is UNKNOWN else proved
    candidate, proof = proved
    text = " ".join(candidate[0].text.split()).strip(", ")
    return Fix(job.applicability, change.kind, f"{change.title}: write `{text}`", candidate, proof)


def _proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """`[100, 103]` to `[100, 103, 120, 121]`, `major == 10` to `major in (10, 12)`, `major != 10` likewise."""
    syntax = parse(place.source)
    if syntax is None:
        return
    path, chips = place.module.path, place.change.chips
    for node in sorted(
        syntax.within(place.span), key=lambda one: not isinstance(one, ast.BoolOp)
    ):  # a whole `or` first
        if isinstance(node, _LIST) and node.elts:
            items = [(syntax.start(item), syntax.end(item)) for item in node.elts]
            for added in (*_targets(syntax, node.elts, chips), *_spelled(syntax, node.elts[-1], chips)):
                yield behind(syntax, path, items, len(items) - 1, added)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and (alike := _alike(node)):
            left, values = alike
            for added in _spelled(syntax, values[-1], chips):
                members = ", ".join((*map(syntax.segment, values), *added))
                text = f"{syntax.segment(left)} in ({members})"
                yield (syntax.edit(path, syntax.start(node), syntax.end(node), text),)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq) and len(node.ops) == 1:
            word = "in" if isinstance(node.ops[0], ast.Eq) else "not in"
            value = node.comparators[0]
            for added in _spelled(syntax, value, chips):
                members = ", ".join((syntax.segment(value), *added))
                text = f"{syntax.segment(node.left)} {word} ({members})"
                yield (syntax.edit(path, syntax.start(node), syntax.end(node), text),)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (EXACT, FAMILY):
            yield (_asked_besides(place, syntax, node, node.func),)


def _asked_besides(place: ConditionPlace, syntax: Syntax, node: ast.expr, method: ast.Attribute) -> Edit:
    """A question for a family behind the last that an `or` joins, or behind the only one."""
    owner, families = syntax.segment(method.value), sorted({chip.major * 10 for chip in place.change.chips})
    asked, path, around = (
        [f"{owner}.{FAMILY}({number})" for number in families],
        place.module.path,
        syntax.parents[node],
    )
    if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.Or):
        *_, before, last = around.values
        joint, end = syntax.text.source[syntax.end(before) : syntax.start(last)], syntax.end(last)
        return syntax.edit(path, end, end, "".join(f"{joint}{one}" for one in asked))
    text = syntax.bracketed(node, "or", [syntax.segment(node), *asked])
    return syntax.edit(path, syntax.start(node), syntax.end(node), text)


def _alike(node: ast.BoolOp) -> tuple[ast.expr, list[ast.expr]] | None:
    """`major` and 8 and 9 of `major == 8 or major == 9`."""
    tests = [one for one in node.values if isinstance(one, ast.Compare) and [*map(type, one.ops)] == [ast.Eq]]
    if len(tests) < len(node.values) or len({ast.dump(one.left) for one in tests}) > 1:
        return None
    return tests[0].left, [one.comparators[0] for one in tests]


def _targets(syntax: Syntax, items: Sequence[ast.expr], chips: ChipSet) -> Iterator[list[str]]:
    """In a list of targets by name, those of the chips with the suffixes that stand in it: `Arch.sm_120a`."""
    like = items[-1]
    if not isinstance(like, ast.Attribute) and not isinstance(getattr(like, "value", None), str):
        return
    texts = [syntax.segment(item) for item in items]
    names = [re.fullmatch(rf"(?P<head>.*?{IN_NAMES}){NUMBER}(?P<suffix>{SUFFIX})(?P<end>['\"]?)", one) for one in texts]
    found = [one for one in names if one is not None]
    if len(found) < len(texts) or not any(one["suffix"] for one in found):
        return
    suffixes = dict.fromkeys(one["suffix"] for one in found)
    targets = [(chip, suffix) for chip in chips for suffix in sorted(suffixes)]
    yield [f"{found[-1]['head']}{chip.joined}{suffix}{found[-1]['end']}" for chip, suffix in targets]


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
