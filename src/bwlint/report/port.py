"""A plan to port: for people, for an issue (a list to tick off, and the ways as a graph), and as JSON, an API
(described by `port.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import commonpath, dirname, isabs
from typing import Any

from bwlint.model.escape import visible
from bwlint.model.findings import Fix
from bwlint.model.naming import counted
from bwlint.port.table import CodeSpot, Lack, Port, PortRow, PortStep, Way
from bwlint.report import Setting, write
from bwlint.report.audit import row_json
from bwlint.report.text import folded
from bwlint.report.words import code, plain, to_look_at, words

WORDS = {
    "opens": "works after the edits below",
    "unproved": "may run once its checks let the chip in; try it first",
    "partly": "works, but not in all uses",
    "switch": "answers no, so callers take another path",
    "impossible": "impossible",
    "unseen": "refused, but bwlint found no check that refuses it",
}
_COUNTED = {"opens": "to edit", "unproved": "to try first", "impossible": "impossible", "unseen": "with no check found"}
KINDS = {"condition": "check", "helper-call": "call of a check", "predicate": "answer", "expression": "check"}
"""What people call kinds of gates; the others are called as they are."""
MOST_NAMES, MOST_LEFT = 3, 10


def as_text(plan: Port, setting: Setting) -> str:
    """Operations by verdict, then the steps; "" where there is nothing to port."""
    if _is_empty(plan):
        return ""
    folder = _folder(plan)
    lines = (visible(line.replace(f"{folder}/", "") if folder else line) for line in _lines(plan))
    return "".join(f"{line}\n" for line in folded(lines, setting))


def _folder(plan: Port) -> str:
    """The folder that all places are below, where they have full paths."""
    steps = (at.path for step in plan.steps for at in (step.at, *step.also))
    others = (*(row.at.path for row in plan.rows), *(spot.path for spot in plan.apart))
    paths = [*steps, *others, *(row.places[0].path for row in plan.left), *(file.path for file in plan.files)]
    folder = commonpath([dirname(path) for path in paths]) if all(map(isabs, paths)) else ""
    return folder.rstrip("/")


def _is_empty(plan: Port) -> bool:
    return not (plan.rows or plan.steps or plan.left or plan.apart)


def summary(plan: Port) -> str:
    """``12 operations do not work on 12.1: 3 to edit, 4 to try first, 5 impossible; 6 steps``."""
    counts = {verdict: sum(row.verdict == verdict for row in plan.rows) for verdict in WORDS}
    partly, switches = counts.pop("partly"), counts.pop("switch")
    closed = len(plan.rows) - partly - switches
    said = ", ".join(f"{count} {_COUNTED[key]}" for key, count in counts.items() if count)
    parts = [f"{counted(closed, 'operation')} {'does' if closed == 1 else 'do'} not work on {plan.chip}: {said}"]
    if not closed and not plan.apart:  # an error that belongs to no known operation may be what stops one
        none = "nothing" if _is_empty(plan) else "no operation"
        parts = [f"found {none} that does not work on {plan.chip}"]
        if not (plan.answered or plan.rows):
            parts = [f"found no public operation with a check of the chip: nothing is answered for {plan.chip}"]
    elif not closed:
        parts = []
    parts += [f"{counted(len(plan.apart), 'error')} for {plan.chip} outside known operations"] if plan.apart else []
    parts += [f"{partly} {'works' if partly == 1 else 'work'} in some uses only"] if partly else []
    parts += [f"{counted(switches, 'check')} {'answers' if switches == 1 else 'answer'} no"] if switches else []
    closing = sum(step.keeps_out for step in plan.steps)
    beside = f", and {closing} to keep it out of code that it cannot run" if closing else ""
    parts += [f"{counted(len(plan.steps) - closing, 'step')}{beside}"] if plan.rows or plan.steps else []
    parts += [f"{to_look_at(len(plan.left))} (bwlint audit)"] if plan.left else []
    return "; ".join(parts)


def _lines(plan: Port) -> Iterator[str]:
    folder = _folder(plan)
    if folder:
        yield from (f"Paths are relative to {folder}.", "")
    said: dict[tuple[str, ...], str] = {}
    for verdict, title in WORDS.items():
        rows = [row for row in plan.rows if row.verdict == verdict]
        if rows:
            yield f"{title}:"
            for row in rows:
                yield from _row(row, said, plan.chip)
            yield ""
    for title, steps in _sections(plan):
        yield f"{title}:"
        for step in steps:
            yield from _step(step)
        yield ""
    if plan.apart:
        yield f"Errors that {plan.chip} may meet. bwlint found no operation that leads to them:"
        yield from _few((f"  {_place(spot)}{_within(spot)}  {spot.text}" for spot in plan.apart), len(plan.apart))
        yield ""
    if plan.left:
        yield "Checks that are for you to judge:"
        rows_left = (f"  {row.places[0].path}:{row.places[0].line}  {row.why}" for row in plan.left)
        yield from _few(rows_left, len(plan.left), f": bwlint audit --target {plan.chip}")
        yield ""


def _sections(plan: Port) -> Iterator[tuple[str, list[PortStep]]]:
    """The steps by what they are for."""
    opening = [step for step in plan.steps if not step.keeps_out]
    found = (
        ("To edit, in this order", [step for step in opening if step.proved]),
        (
            f"To edit if a trial shows that the code behind runs on {plan.chip}, in this order",
            [step for step in opening if not step.proved],
        ),
        (f"To keep {plan.chip} out of code that it cannot run", [step for step in plan.steps if step.keeps_out]),
    )
    yield from ((title, steps) for title, steps in found if steps)


def _few(lines: Iterable[str], count: int, where: str = "") -> Iterator[str]:
    yield from (line for _, line in zip(range(MOST_LEFT), lines, strict=False))
    if count > MOST_LEFT:
        yield f"  and {count - MOST_LEFT} more{where}"


def _row(row: PortRow, said: dict[tuple[str, ...], str], chip: str) -> Iterator[str]:
    """An operation with its ways; `said` are the lists of what there is meanwhile, by who has it first."""
    takes = f", takes {row.arm} today" if row.arm else ""
    yield f"  {row.name}  ({row.at.path}:{row.at.line}{takes})"
    plain = [way for way in row.ways if way.chosen and not (way.lacks or way.shown)]
    numbers = {way.name: {number for one in plain if one.name == way.name for number in one.steps} for way in plain}
    for way in row.ways:
        head = f"    {way.name}: " if way.name != "as it is" else "    "
        if way.lacks:
            yield f"{head}{_end(way.lacks[0], chip)}"
        elif way in plain and way.name in numbers:
            yield f"{head}after {_numbered(tuple(numbers.pop(way.name)))}"
        elif way.chosen and way.shown:
            yield f"{head}after {_numbered(way.steps)}"
            yield f"      because {way.shown[0]}"
        elif way.gates and not way.chosen:
            places = ", ".join(map(_place, way.gates[:MOST_NAMES]))
            yield f"{head}{counted(len(way.gates), 'check')}, {places}"
    if row.instead:
        first = said.setdefault(row.instead, row.name)
        yield f"    meanwhile: {', '.join(row.instead) if first == row.name else f'see {first}'}"


def _end(lack: Lack, chip: str) -> str:
    legal, place = words(lack.legal).removesuffix(" only"), _place(lack.at)
    if lack.by_check:
        return f"{place} lets only {legal} in. Nothing else shows that {chip} cannot run it: let {chip} in for a trial"
    return f"reaches {lack.what}{f' ({legal} only)' if legal else ''}, {place}"


def _step(step: PortStep) -> Iterator[str]:
    head = f"  {step.number}. {_place(step.at)}{_within(step.at)}  {KINDS.get(step.kind, step.kind)} `{step.at.text}`"
    if step.said:
        yield head
        see = f" (see {step.related[0].path}:{step.related[0].region.line})" if step.related else ""
        yield f"     {step.said}{see}"
        yield f"     {step.fix.title}" if step.fix else f"     by hand: {step.words}"
        if step.also:
            yield f"     also at {', '.join(map(_place, step.also))}"
        return
    admits = words(step.admits).removesuffix(" only") if step.admits else ""
    does = f"lets only {admits} through" if admits else "refuses every chip"
    if step.kind == "build":
        does = f"compiles for {admits} only" if admits else f"has nothing for {words(step.wanted)}"
    yield f"{head} {does}"
    yield f"     {step.fix.title}" if step.fix else f"     {by_hand(step)}"
    more = f" and {len(step.needed_by) - MOST_NAMES} more" if len(step.needed_by) > MOST_NAMES else ""
    yield f"     for {', '.join(step.needed_by[:MOST_NAMES]) or 'all that is built'}{more}"


def by_hand(step: PortStep) -> str:
    """What to do at a gate without an edit: nobody who gets through today is to be kept out."""
    todo = "compile it for {}" if step.kind == "build" else "let {} in"
    too = " too" if step.admits else ""
    return f"by hand: {todo.format(words(step.wanted).removesuffix(' only'))}{too} ({step.words})"


def _numbered(steps: tuple[int, ...]) -> str:
    numbers = ", ".join(map(str, sorted(steps)))
    return f"step {numbers}" if len(steps) == 1 else f"steps {numbers}"


def _place(spot: CodeSpot) -> str:
    return f"{spot.path}:{spot.line}"


def _within(spot: CodeSpot) -> str:
    return f" in `{spot.within}`" if spot.within else ""


def as_json(plan: Port, setting: Setting) -> str:
    return write.written(
        setting.version,
        operations=[_row_json(row) for row in plan.rows],
        steps=[_step_json(step) for step in plan.steps],
        left=[row_json(row) for row in plan.left],
        **write.picked(plan, "chip", "apart", "skipped"),
    )


def _row_json(row: PortRow) -> dict[str, Any]:
    return {
        **write.picked(row, "name", "verdict", "shared", "instead"),
        **write.picked(row.at, "path", "line"),
        "support": row.now,
        "fallback": row.arm or None,
        "ways": [_way_json(way) for way in row.ways],
    }


def _way_json(way: Way) -> dict[str, Any]:
    return {
        **write.picked(way, "name", "chosen", "steps", "gates"),
        "lacks": [{**write.plain(lack.at), **write.picked(lack, "what", "legal", "by_check")} for lack in way.lacks],
        "works": list(way.shown),
    }


def _step_json(step: PortStep) -> dict[str, Any]:
    return {
        **write.picked(step, "number", "kind", "admits", "wanted", "proved", "keeps_out", "needed_by"),
        **write.plain(step.at),
        "fix": None if step.fix is None else _fix_json(step, step.fix),
        "by_hand": step.words or None,
        "said": step.said or None,
        "also": [write.plain(spot) for spot in step.also],
        "related": [write.picked(one, "path", "region", "message") for one in step.related],
    }


def _fix_json(step: PortStep, fix: Fix) -> dict[str, Any]:
    proof = fix.proof
    return {
        "title": fix.title,
        "edits": [
            {**write.plain(edit), "path": step.at.path if edit.path == step.real else edit.path} for edit in fix.edits
        ],
        "before": {"may": list(proof.before_may), "must": list(proof.before_must)},
        "after": {"may": list(proof.after_may), "must": list(proof.after_must)},
        "evidence": proof.evidence,
    }


MOST_DRAWN = 40
"""Nodes of a graph that people still read; the others are in the JSON."""
_LONGEST = 60


def as_markdown(plan: Port, setting: Setting) -> str:
    """The plan as Markdown; a heading and a sentence where there is nothing to port."""
    return "".join(f"{line}\n" for line in _markdown_lines(plan))


def _markdown_lines(plan: Port) -> Iterator[str]:
    told = plain(summary(plan))
    yield from (f"## Port to {plan.chip}", "", f"{told[:1].upper()}{told[1:]}.", "")
    for title, steps in _sections(plan):
        yield from (f"### {title}", "", *map(_markdown_step, steps), "")
    for verdict in ("unproved", "impossible", "unseen"):
        rows = [row for row in plan.rows if row.verdict == verdict and not any(way.chosen for way in row.ways)]
        if rows:
            yield from (f"### {WORDS[verdict].capitalize()}", "", *(_stuck(row, plan.chip) for row in rows), "")
    drawn = list(_graph(plan))
    if drawn:
        yield from ("### The code paths", "", "```mermaid", "flowchart LR", *drawn, "```")


def _markdown_step(step: PortStep) -> str:
    if step.said:
        edit = step.fix.title if step.fix is not None else f"by hand: {step.words}"
        also = "".join(f", {code(f'{spot.path}:{spot.line}')}" for spot in step.also)
        place = f"{code(f'{step.at.path}:{step.at.line}')}{also}"
        return f"- [ ] **{step.number}** {place} {plain(step.said)}. {plain(edit)}"
    what = step.fix.title if step.fix is not None else by_hand(step)
    needed = ", ".join(code(name) for name in step.needed_by) or "all that is built"
    return f"- [ ] **{step.number}** {code(f'{step.at.path}:{step.at.line}')} {plain(what)} (for {needed})"


def _stuck(row: PortRow, chip: str) -> str:
    ends = (way.lacks[0] for way in row.ways if way.lacks)
    lacks = "; ".join(dict.fromkeys(_end(one, chip) if one.by_check else one.what for one in ends))
    instead = f" Meanwhile: {', '.join(row.instead)}." if row.instead else ""
    return f"- {code(row.name)}: {plain(lacks or 'bwlint found no check that refuses it')}.{plain(instead)}"


def _graph(plan: Port) -> Iterator[str]:
    """Operations, the steps on the way that is taken from the name inwards, and what is at its end."""
    known = set[str]()
    for index, row in enumerate(plan.rows):
        ways = [way for way in row.ways if way.chosen]
        if not ways or len(known) > MOST_DRAWN:
            continue
        known |= {f"o{index}", *(f"s{number}" for way in ways for number in way.steps)}
        yield f'  o{index}["{_label(row.name)}"]'
        for way in ways:
            yield from _edges(f"o{index}", way, plan)
    if len(known) > MOST_DRAWN:
        yield "  more[...]"


def _edges(start: str, way: Way, plan: Port) -> Iterator[str]:
    here = start
    for number in way.steps:
        step = plan.steps[number - 1]
        name = f"{step.at.path.rpartition('/')[2]}:{step.at.line}"
        yield f'  {here} --> s{number}{{{{"{number}: {_label(name)}"}}}}'
        here = f"s{number}"
    end = way.shown[0] if way.shown else "not known to work"
    yield f'  {here} --> e{start}(["{_label(end)}"])'


def _label(text: str) -> str:
    return "".join(c for c in visible(text) if c not in '"`#;<>{}[]|')[:_LONGEST]
