"""A comparison of plans in words: the verdict, and the assumptions behind it."""

from __future__ import annotations

from bwlint.chips.links import Wire, share_for_weights
from bwlint.model.naming import counted
from bwlint.plan.compare import copies
from bwlint.plan.table import Comparison, PlanCost

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
