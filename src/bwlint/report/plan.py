"""A comparison of plans: for people (a table, a chart of the time of a step, what is better and what that rests on),
and as JSON, an API (described by `plan.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from bwlint.chips.links import Wire, share_for_weights
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.plan.compare import Comparison, PlanCost, Suggestion, copies
from bwlint.report import Setting
from bwlint.report.write import picked, plain, written

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_LEAST_BAR = 8
_HEADS = ("plan", "weights a GPU", "fits", "sent a token, one way", "link a step", "weights a step", "step", "a token")
_LINK, _WEIGHTS = "#", "="
_LINK_STYLE, _WEIGHTS_STYLE = "red", "blue"


def as_text(found: Comparison, setting: Setting) -> str:
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


def as_json(found: Comparison, setting: Setting) -> str:
    shape, weights, machine, load = found.shape, found.weights, found.machine, found.load
    return written(
        setting.version,
        model={
            **picked(shape, "name", "hidden", "layers", "expert_layers", "experts"),
            "parameters": found.parameters,
            "experts_per_token": shape.chosen,
            "weights": weights.form,
            "weight_bytes": weights.vocabulary + weights.dense + weights.experts,
        },
        machine={
            "gpus": machine.gpus,
            "product": machine.product.name,
            "chip": machine.product.chip,
            "memory_bytes": machine.product.memory_gb * 1e9,
            "memory_bytes_per_second": machine.product.memory_gb_per_s * 1e9,
            "link": machine.link.name,
            "link_bytes_per_second_one_direction": machine.link.gb_per_s * 1e9,
            "latency_seconds": machine.latency_us * 1e-6,
        },
        load={**picked(load, "tokens", "copies"), "dispatch": load.dispatch.name, "combine": load.combine.name},
        best=found.best.split.name if found.best else None,
        best_without_latency=found.without_latency or None,
        plans=[_row_json(row) for row in found.rows],
        best_by_tokens=plain(found.stretches),
        assumptions=assumptions(found),
        config=found.config or None,
        suggestions=[_suggestion_json(each) for each in found.suggestions],
        **picked(found, "refused", "remarks"),
    )


def _row_json(row: PlanCost) -> dict[str, Any]:
    return {
        **picked(row.split, "name", "kind", "tensor", "pipeline", "expert"),
        **picked(row, "fits", "link_hops", "tokens_at_once"),
        "weight_bytes_per_gpu": row.weight_bytes,
        "link_bytes_per_token_one_direction": row.link_bytes_per_token,
        "link_seconds_per_step": row.link_seconds,
        "weight_seconds_per_step": row.weight_seconds,
        "seconds_per_step": row.step_seconds,
    }


def _suggestion_json(each: Suggestion) -> dict[str, Any]:
    return {
        **picked(each, "launcher", "line", "written", "stopped"),
        "launcher_version": each.version,
        "present": each.present or None,
        "why": each.why or None,
        "remark": each.remark or None,
    }


_THOUSAND = 1000
_CLOSE = 1.1
"""Times as long that no such count can tell apart."""

_COPIES = {
    "gpu": "a token goes once to each GPU that has an expert for it",
    "expert": "a token goes to each of its experts separately",
    "all": "every token goes to every GPU, as the exchange of launchers does without NVLink",
}


def amount(value: float) -> str:
    """Bytes in powers of a thousand: ``100.7 kB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < _THOUSAND:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.{_places(value)}f} {unit}"
        value /= _THOUSAND
    return f"{value:.{_places(value)}f} TB"


def duration(seconds: float) -> str:
    """A time: ``9.8 us``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.{_places(seconds * 1e6)}f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.{_places(seconds * 1e3)}f} ms"
    return f"{seconds:.{_places(seconds)}f} s"


def verdict(found: Comparison) -> str:
    """Which plan is better, and by how much."""
    best = found.best
    if not found.rows:
        return f"no plan applies to {found.machine.gpus} GPUs"
    if best is None:
        least = min(row.weight_bytes for row in found.rows)
        limit = found.machine.product.memory_gb * 1e9 * share_for_weights()
        return f"no plan fits: each GPU needs at least {amount(least)} for weights and has {amount(limit)} for them"
    second = next((row for row in found.rows[1:] if row.fits), None)
    if second is None:
        others = "nothing else fits" if len(found.rows) > 1 else "there is no other plan"
        return f"{best.split.name}: {duration(best.step_seconds)} a step; {others}"
    tokens = counted(found.load.tokens, "token")
    is_close = second.step_seconds < _CLOSE * best.step_seconds
    return (
        f"{best.split.name} is better: {duration(best.step_seconds)} a step of {tokens}, {second.split.name} takes "
        f"{duration(second.step_seconds)}, {ratio(second, best)} times as long"
        + (" (closer than these assumptions can tell: measure both)" if is_close else "")
    )


def sensitivity(found: Comparison) -> str:
    """What would turn the verdict; "" where the latency of a hop does not."""
    if found.best is None or found.without_latency == found.best.split.name:
        return ""
    return f"the latency of a hop decides this: without it {found.without_latency} would be better (--latency)"


def ratio(slow: PlanCost, fast: PlanCost) -> str:
    """How many times as long one takes as the other."""
    times = slow.step_seconds / fast.step_seconds
    return f"{times:.{2 if times < 10 else 0}f}"


def by_tokens(found: Comparison) -> str:
    """Which plan is the best for which numbers of tokens."""
    return "; ".join(
        f"{each.name} at {each.first}" + (f" to {each.last}" if each.last > each.first else "")
        for each in found.stretches
    )


def assumptions(found: Comparison) -> list[str]:
    """Everything that the figures rest on."""
    shape, machine, load = found.shape, found.machine, found.load
    said = [f"{counted(load.tokens, 'token')} at a time on all GPUs together, one of each sequence (--tokens)"]
    if machine.gpus > 1:
        said += _of_link(found)
    if any(row.split.kind == "EP" for row in found.rows):
        reached = copies(shape, load, machine.gpus)
        how = _COPIES[load.copies]
        said.append(
            f"EP: attention by data, {how} ({reached:.2f} copies, {machine.gpus - 1} of {machine.gpus} parts of them "
            f"remote; --copies), out as {_form(load.dispatch)}, back as {_form(load.combine)} (--dispatch, --combine); "
            f"experts are equally likely; {shape.expert_layers} of {counted(shape.layers, 'layer')} have experts"
        )
    if any(row.split.pipeline > 1 for row in found.rows):
        said.append(
            "PP: a step has as many microbatches as stages, and all are busy; each passes on hidden state and residual"
        )
    said.append(
        f"weights: {found.parameters / 1e9:.1f} billion parameters counted from the shape, {found.weights.form}; "
        f"each step reads the weights it needs once, at {machine.product.memory_gb_per_s:g} GB/s of memory"
    )
    said.append(
        f"memory: {machine.product.memory_gb:g} GB a GPU, of which weights may take {share_for_weights():.0%}; "
        "the KV cache is not counted"
    )
    said.append(
        "left out: compute time (about equal for all plans while every GPU has tokens; it decides a prefill), "
        "KV cache, embedding and logits, overlap of link and memory"
    )
    return said


def _of_link(found: Comparison) -> list[str]:
    machine, link = found.machine, found.machine.link
    form = "2*(GPUs-1)" if link.all_reduce == "ring" else "2"
    activation = _form(found.load.activation)
    return [
        f"{link.what}: {link.gb_per_s:g} GB/s in one direction, not shared between GPUs; "
        f"{machine.latency_us:g} us a hop (--latency)",
        f"TP: two all-reduces a layer of {activation}, each GPU sends 2*(GPUs-1)/GPUs of it one way in {form} hops",
    ]


def _form(wire: Wire) -> str:
    plain = f"{wire.name.upper()} ({counted(wire.bytes_per_value, 'byte')}"
    return f"{plain}, {wire.scale_bytes} for each {wire.block} values)" if wire.scale_bytes else f"{plain})"


def _places(value: float) -> int:
    """Places behind the point: three figures in all, or as many as the number has."""
    return 2 if abs(value) < 9.995 else 1 if abs(value) < _THOUSAND else 0
