"""A comparison of plans for people: a table, a chart of the time of a step, what is better and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

from bwlint.model.escape import visible
from bwlint.plan.table import Comparison, PlanCost, Suggestion
from bwlint.report import Setting
from bwlint.report.plan_words import amount, assumptions, by_tokens, duration, ratio, sensitivity, verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_LEAST_BAR = 8
_HEADS = ("plan", "weights a GPU", "fits", "sent a token, one way", "link a step", "weights a step", "step", "a token")
_LINK, _WEIGHTS = "#", "="
_LINK_STYLE, _WEIGHTS_STYLE = "red", "blue"


def render(found: Comparison, setting: Setting) -> str:
    """The table, the chart and the words; with colour as a terminal takes it."""
    from rich.console import Console

    text = StringIO()
    console = Console(
        file=text,
        width=setting.width,
        force_terminal=setting.color,
        color_system="standard" if setting.color else None,
        no_color=not setting.color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    _print(found, console)
    lines = [line.rstrip() for line in text.getvalue().split("\n")]
    return "\n".join(lines) + "".join(f"{line}\n" for line in _launches(found, setting.width))


def summary(found: Comparison) -> str:
    """What is better, in a line."""
    return visible(verdict(found))


def _print(found: Comparison, console: Console) -> None:
    for line in _heads(found):
        console.print(line, style="bold")
    console.print()
    if found.rows:
        console.print(_table(found))
    for each in found.refused:
        console.print(f"{each.name}: {each.reason}")
    if found.rows:
        console.print()
    for bar in _chart(found, console.width):
        console.print(bar, no_wrap=True, overflow="crop")
    console.print()
    console.print(verdict(found), style="bold")
    if turned := sensitivity(found):
        console.print(turned)
    if len(found.rows) > 1 and found.stretches:
        console.print(f"by tokens at a time (powers of two): {by_tokens(found)}")
    console.print()
    for title, lines in (("assumed", assumptions(found)), ("note", found.remarks)):
        for line in lines:
            console.print(_item(title, visible(line)))


def _heads(found: Comparison) -> Iterator[str]:
    shape, machine = found.shape, found.machine
    experts = f"{shape.experts} experts, {shape.chosen} for a token" if shape.experts else "dense"
    yield visible(f"{shape.name}: {found.parameters / 1e9:.1f} billion parameters, {experts}, {found.weights.form}")
    link = f", {machine.link.what}, {machine.link.gb_per_s:g} GB/s in one direction" if machine.gpus > 1 else ""
    yield f"{machine.gpus} x {machine.product.name} ({machine.product.chip}){link}"


def _table(found: Comparison) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for head in _HEADS:
        table.add_column(head, justify="left" if head == "plan" else "right", overflow="fold")
    for row in found.rows:
        table.add_row(*_cells(row, found), style=None if row.fits else "yellow")
    return table


def _cells(row: PlanCost, found: Comparison) -> tuple[str, ...]:
    return (
        row.split.name,
        amount(row.weight_bytes),
        "yes" if row.fits else "no",
        amount(row.link_bytes_per_token),
        duration(row.link_seconds),
        duration(row.weight_seconds),
        duration(row.step_seconds),
        duration(row.step_seconds / found.load.tokens),
    )


def _chart(found: Comparison, width: int) -> Iterator[Text]:
    """A bar for each plan: the time of a step on the link, then that of reading weights."""
    from rich.text import Text

    if not found.rows:
        return
    names = max(len(row.split.name) for row in found.rows)
    longest = max(row.step_seconds for row in found.rows)
    ends = {row.split.name: duration(row.step_seconds) + ("" if row.fits else ", does not fit") for row in found.rows}
    room = max(_LEAST_BAR, width - names - 2 - max(map(len, ends.values())) - 1)
    yield (
        Text("time of a step: ")
        .append(f"{_LINK} link", _LINK_STYLE)
        .append(", ")
        .append(f"{_WEIGHTS} reading weights", _WEIGHTS_STYLE)
    )
    for row in found.rows:
        whole = round(room * row.step_seconds / longest) if longest else 0
        link = min(whole, round(room * row.link_seconds / longest)) if longest else 0
        bar = Text(f"{row.split.name:<{names}}  ").append(_LINK * link, _LINK_STYLE)
        yield bar.append(_WEIGHTS * (whole - link), _WEIGHTS_STYLE).append(f" {ends[row.split.name]}")


def _item(title: str, line: str) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=len(title) + 1)
    grid.add_column(overflow="fold")
    grid.add_row(f"{title}:", line)
    return grid


def _launches(found: Comparison, width: int) -> Iterator[str]:
    """The launch lines; they are to be copied, so no width cuts them."""
    if found.best is None:
        return
    for each in found.suggestions:
        yield ""
        yield from (visible(line) for line in _launch(each, found, found.best, width))


def _launch(each: Suggestion, found: Comparison, best: PlanCost, width: int) -> Iterator[str]:
    present = next((row for row in found.rows if row.split.name == each.present), None)
    standing = f"{each.present or 'a launch'}, which cannot run here" if each.stopped else _standing(present, best)
    yield f"{found.config}:{each.line}: {each.launcher}, {standing}"
    yield from (line for why in (*each.stopped, each.why) for line in _wrapped(why, width))
    if present is best and not each.stopped:
        return
    yield f"suggested, as of {each.launcher} {each.version}; nothing is written:"
    yield from (f"  {line}" for line in "\n".join(each.written).split("\n"))
    yield from _wrapped(each.remark, width)
    if found.machine.product.per_host:
        hosts = f"{found.machine.product.name} has one GPU per machine: tell the launcher about every machine"
        yield from _wrapped(hosts, width)


def _standing(present: PlanCost | None, best: PlanCost) -> str:
    """How the plan of a launch stands to the best."""
    if present is None:
        return "none of these plans"
    if present is best:
        return f"{best.split.name}, the better plan already"
    misfit = "" if present.fits else ", which does not fit"
    return f"{present.split.name}{misfit}: {ratio(present, best)} times as long a step as {best.split.name}"


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
