"""A plan to port as Markdown for an issue: a list to tick off, what stays impossible, and the ways as a graph."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.model.escape import visible
from bwlint.port.table import Port, PortRow, PortStep, Way
from bwlint.report import Setting
from bwlint.report.markdown import code, plain
from bwlint.report.port_text import SECTIONS, WORDS, by_hand, summary

MOST_DRAWN = 40
"""Nodes of a graph that people still read; the others are in the JSON."""
_LONGEST = 60


def render(plan: Port, setting: Setting) -> str:
    """The plan as Markdown; a heading and a sentence where there is nothing to port."""
    return "".join(f"{line}\n" for line in _lines(plan))


def _lines(plan: Port) -> Iterator[str]:
    told = plain(summary(plan))
    yield from (f"## Port to {plan.chip}", "", f"{told[:1].upper()}{told[1:]}.", "")
    for proved, title in SECTIONS:
        steps = [step for step in plan.steps if step.proved is proved]
        if steps:
            yield from (f"### {title}", "", *map(_step, steps), "")
    for verdict in ("impossible", "unseen"):
        rows = [row for row in plan.rows if row.verdict == verdict]
        if rows:
            yield from (f"### {WORDS[verdict].capitalize()}", "", *map(_stuck, rows), "")
    drawn = list(_graph(plan))
    if drawn:
        yield from ("### The code paths", "", "```mermaid", "flowchart LR", *drawn, "```")


def _step(step: PortStep) -> str:
    if step.said:
        edit = step.fix.title if step.fix is not None else f"by hand: {step.words}"
        also = "".join(f", {code(f'{spot.path}:{spot.line}')}" for spot in step.also)
        place = f"{code(f'{step.at.path}:{step.at.line}')}{also}"
        return f"- [ ] **{step.number}** {place} {plain(step.said)}. {plain(edit)}"
    what = step.fix.title if step.fix is not None else by_hand(step)
    needed = ", ".join(code(name) for name in step.needed_by) or "all that is built"
    return f"- [ ] **{step.number}** {code(f'{step.at.path}:{step.at.line}')} {plain(what)} (for {needed})"


def _stuck(row: PortRow) -> str:
    lacks = "; ".join(dict.fromkeys(way.lacks[0].what for way in row.ways if way.lacks))
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
