"""A plan to port for people: what opens, the edits in their order, and what stays impossible."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.port.table import CodeSpot, Port, PortRow, PortStep
from bwlint.report import Setting
from bwlint.report.words import words

WORDS = {
    "opens": "opens",
    "unproved": "to find out first",
    "partly": "works, but not in all uses",
    "switch": "answers no, and those that ask go another way",
    "impossible": "impossible",
    "unseen": "no gate found",
}
MOST_NAMES, MOST_LEFT = 3, 10


def render(plan: Port, setting: Setting) -> str:
    """Operations by verdict, then the steps; "" where there is nothing to port."""
    return "".join(f"{visible(line)}\n" for line in _lines(plan)) if not _is_empty(plan) else ""


def _is_empty(plan: Port) -> bool:
    return not (plan.rows or plan.steps or plan.left or plan.apart)


def summary(plan: Port) -> str:
    """``12 operations do not work on 12.1: 3 open, 4 to find out first, 5 impossible; 6 steps``."""
    left = f"; {counted(len(plan.left), 'question')} left to decide (bwlint audit)" if plan.left else ""
    untied = f"{counted(len(plan.apart), 'refusal')} of {plan.chip} tied to no operation" if plan.apart else ""
    counts = {verdict: sum(row.verdict == verdict for row in plan.rows) for verdict in WORDS}
    partly, switches = counts.pop("partly"), counts.pop("switch")
    closed = len(plan.rows) - partly - switches
    said = ", ".join(f"{count} {'open' if key == 'opens' else WORDS[key]}" for key, count in counts.items() if count)
    verb = "does" if closed == 1 else "do"
    whole = f"{counted(closed, 'operation')} {verb} not work on {plan.chip}: {said}"
    whole += f"; {untied}" if untied else ""
    if not closed:  # what is tied to none may be what stops one
        none = "nothing" if _is_empty(plan) else "no operation"
        whole = untied or f"{none} was found that does not work on {plan.chip}"
    if not plan.rows and not plan.steps:
        return f"{whole}{left}"
    some = f"; {partly} more not in all uses" if partly else ""
    some += f"; {switches} answer no" if switches else ""
    return f"{whole}{some}; {counted(len(plan.steps), 'step')}{left}"


def _lines(plan: Port) -> Iterator[str]:
    for verdict, title in WORDS.items():
        rows = [row for row in plan.rows if row.verdict == verdict]
        if rows:
            yield f"{title}:"
            for row in rows:
                yield from _row(row)
            yield ""
    for proved, title in (
        (True, "Edits, in this order:"),
        (False, "If what is behind them runs there, in this order:"),
    ):
        steps = [step for step in plan.steps if step.proved is proved]
        if steps:
            yield title
            for step in steps:
                yield from _step(step)
            yield ""

    if plan.apart:
        yield f"Errors that turn {plan.chip} away, and to which no operation was seen to lead:"
        yield from (f"  {_place(spot)}  {spot.text}" for spot in plan.apart[:MOST_LEFT])
        if len(plan.apart) > MOST_LEFT:
            yield f"  and {len(plan.apart) - MOST_LEFT} more"
        yield ""
    if plan.left:
        yield "Left to decide, which no step answers:"
        yield from (f"  {row.places[0].path}:{row.places[0].line}  {row.why}" for row in plan.left[:MOST_LEFT])
        if len(plan.left) > MOST_LEFT:
            yield f"  and {len(plan.left) - MOST_LEFT} more: bwlint audit --target {plan.chip}"
        yield ""


def _row(row: PortRow) -> Iterator[str]:
    takes = f", takes {row.arm} today" if row.arm else ""
    yield f"  {row.name}  ({row.at.path}:{row.at.line}{takes})"
    for way in row.ways:
        if way.lacks:
            lack = way.lacks[0]
            legal = f", which works on {words(lack.legal)}" if lack.legal else ""
            yield f"    {way.name}: ends in {lack.what}{legal} ({_place(lack.at)})"
        elif way.chosen:
            yield f"    {way.name}: {_numbered(way.steps)}"
        elif way.gates:
            yield f"    {way.name}: {counted(len(way.gates), 'gate')}, {', '.join(map(_place, way.gates[:MOST_NAMES]))}"
        if way.chosen and way.shown:
            yield f"      because {way.shown[0]}"
    if row.instead:
        yield f"    meanwhile: {', '.join(row.instead)}"


def _step(step: PortStep) -> Iterator[str]:
    if step.said:
        yield f"  {step.number}. {_place(step.at)}  {step.kind} `{step.at.text}`"
        see = f" (see {step.related[0].path}:{step.related[0].region.line})" if step.related else ""
        yield f"     {step.said}{see}"
        yield f"     {step.fix.title}" if step.fix else f"     by hand: {step.words}"
        return
    admits = words(step.admits).removesuffix(" only") if step.admits else "nobody"
    yield f"  {step.number}. {_place(step.at)}  {step.kind} `{step.at.text}` lets {admits} through"
    yield f"     {step.fix.title}" if step.fix else f"     by hand, let {words(step.wanted)} through: {step.words}"
    more = f" and {len(step.needed_by) - MOST_NAMES} more" if len(step.needed_by) > MOST_NAMES else ""
    yield f"     for {', '.join(step.needed_by[:MOST_NAMES]) or 'all that is built'}{more}"


def _numbered(steps: tuple[int, ...]) -> str:
    numbers = ", ".join(map(str, sorted(steps)))
    return f"step {numbers}" if len(steps) == 1 else f"steps {numbers}"


def _place(spot: CodeSpot) -> str:
    return f"{spot.path}:{spot.line}"
