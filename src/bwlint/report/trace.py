"""A trace: for people (what was asked for and what ran, the kernels, what is missing), its receipt (described by
`trace.schema.json`; version 1 gains keys but loses none), and for Perfetto (Chrome's trace event format)."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.readers.binary.names import readable
from bwlint.report.words import aligned
from bwlint.report.write import in_a_line, picked, plain, written
from bwlint.trace.receipt import JIT, Choice, KernelLaunch, Process, Shape, Trace

_MOST_KERNELS = 40
_LONGEST_NAME = 60
_MOST_NAMED = 8
_HEADS = ("launches", "ms", "kernel", "device", "grid", "block", "cluster", "shared", "container")
_NO_CLUSTER = (0, 0, 0)


def as_text(trace: Trace) -> str:
    """All paragraphs that have something to say, with empty lines between."""
    parts = [list(_choices(trace)), *(list(_process(process)) for process in trace.processes)]
    return "\n".join("".join(f"{visible(line)}\n" for line in part) for part in parts if part)


def summary(trace: Trace) -> str:
    how = f"ended by {trace.signal}" if trace.signal else f"exit code {trace.code}"
    jit = sum(module.container == JIT for process in trace.processes for module in process.modules)
    compiled = f", {jit} of their modules compiled from PTX at run time" if jit else ""
    return (
        f"{counted(trace.ran, 'launch').replace('launchs', 'launches')} of"
        f" {counted(len({row.kernel for one in trace.processes for row in one.launches}), 'kernel')} in"
        f" {counted(len(trace.processes), 'process').replace('processs', 'processes')}{compiled};"
        f" {visible(trace.command[0])}: {how}{f', {trace.stopped}' if trace.stopped else ''}"
    )


def _choices(trace: Trace) -> Iterator[str]:
    if trace.choices:
        yield from _aligned(("requested", "eligible", "executed", ""), [_choice(one) for one in trace.choices])


def _choice(choice: Choice) -> tuple[str, ...]:
    eligible = {True: "yes", False: "no", None: "as far as bwlint knows"}[choice.eligible]
    ran = "; ".join(map(_short, choice.executed or choice.instead))
    word = "" if choice.outcome == "executed" else choice.outcome.upper()
    reason = choice.reason if choice.eligible is False else ""
    return f"{choice.option}={choice.value}", eligible, ran or "no kernel that bwlint knows", f"{word} {reason}".strip()


def _process(process: Process) -> Iterator[str]:
    end = "" if process.ended else ", did not end normally: the last tenth of a second may be missing"
    yield f"process {process.pid}: {' '.join(process.arguments) or process.program}{end}"
    for device in process.devices:
        yield f"device {device.ordinal}: {device.name} ({device.capability})"
    if process.launches:
        yield from _aligned(_HEADS, _rows(process))
    containers = Counter(f"{one.container} {one.target}".strip() for one in process.modules)
    if containers:
        told = ", ".join(f"{count} {name}" for name, count in sorted(containers.items()))
        yield f"modules: {told}"
    carrying = [PurePath(library.path).name for library in process.libraries if library.device_code]
    if process.libraries:
        unread = sum(library.device_code is None for library in process.libraries)
        words = [f"{len(process.libraries)}", f"device code in {', '.join(carrying) or 'none'}"]
        yield f"libraries: {', '.join([*words, *([f'{unread} not readable'] if unread else [])])}"
    if process.jit:
        yield f"the driver's JIT: {', '.join(f'{count} {name}' for name, count in sorted(process.jit.items()))}"
    yield from _missing(process)


def _missing(process: Process) -> Iterator[str]:
    for name in process.unfinished[:_MOST_NAMED]:
        yield f"never seen to end: {readable(name)}"
    if process.unseen:
        graphs = f" ({process.graphs_asked:,} launches of graphs)" if process.graphs_asked else ""
        yield f"{process.unseen:,} launches were not seen to end: captured into a graph{graphs}, running, or lost"
    if process.dropped:
        yield f"CUPTI dropped {process.dropped:,} records"
    for fault in process.faults[:_MOST_NAMED]:
        yield f"fault: {fault}"


def _rows(process: Process) -> list[tuple[str, ...]]:
    """Kernels by their time, a row for all shapes of one."""
    groups: dict[tuple[str, int], list[KernelLaunch]] = {}
    for launch in process.launches:
        groups.setdefault((launch.kernel, launch.device), []).append(launch)
    ordered = sorted(groups.values(), key=lambda group: -sum(launch.ns for launch in group))
    rows = [_row(group) for group in ordered[:_MOST_KERNELS]]
    left = ordered[_MOST_KERNELS:]
    if left:
        count = sum(launch.count for group in left for launch in group)
        rows.append((f"{count:,}", "", f"({len(left)} more kernels)", *[""] * 6))
    return rows


def _row(group: Sequence[KernelLaunch]) -> tuple[str, ...]:
    one = group[0]
    return (
        f"{sum(launch.count for launch in group):,}",
        f"{sum(launch.ns for launch in group) / 1e6:.3f}",
        _short(readable(one.kernel)),
        str(one.device),
        _shapes([launch.grid for launch in group]),
        _shapes([launch.block for launch in group]),
        "-" if all(launch.cluster == _NO_CLUSTER for launch in group) else _shapes([one.cluster for one in group]),
        _amounts(group),
        ", ".join(one.containers) or "not known",
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _shapes(shapes: Sequence[Shape]) -> str:
    different = dict.fromkeys(shapes)
    return "x".join(map(str, shapes[0])) if len(different) == 1 else f"{len(different)} shapes"


def _amounts(group: Sequence[KernelLaunch]) -> str:
    """Static and dynamic shared memory: the most of each."""
    return f"{max(one.static_shared for one in group):,}+{max(one.dynamic_shared for one in group):,}"


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return aligned([[visible(cell) for cell in row] for row in (heads, *rows)])  # what is escaped is wider


def as_json(trace: Trace, version: str) -> str:
    """The receipt; `version` is bwlint's."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    told = picked(trace, "command", "started", "code", "signal", "stopped")
    return written(
        version,
        trace={**told, "seconds": round(trace.seconds, 3), "system": system},
        choices=plain(trace.choices),
        processes=[_process_json(process) for process in trace.processes],
    )


def _process_json(process: Process) -> dict[str, Any]:
    told = {**plain(process), **picked(process, "ran", "unseen", "unfinished")}
    del told["events"]
    return told


def perfetto(trace: Trace) -> Iterator[str]:
    """Pieces of a file for ui.perfetto.dev: a row for each stream of each device of each process."""
    yield '{"displayTimeUnit": "ns", "traceEvents": [\n'
    start = min((event.start for process in trace.processes for event in process.events), default=0)
    first = True
    for process in trace.processes:
        for event in _events(process, start):
            yield ("" if first else ",\n") + in_a_line(event)
            first = False
    yield "\n]}\n"


def _events(process: Process, start: int) -> Iterator[dict[str, Any]]:
    name = " ".join(process.arguments) or process.program
    yield {"ph": "M", "name": "process_name", "pid": process.pid, "args": {"name": name}}
    rows = dict.fromkeys((process.launches[event.launch].device, event.stream) for event in process.events)
    threads = {row: number for number, row in enumerate(rows, 1)}
    for (device, stream), thread in threads.items():
        words = {"name": f"GPU {device}, stream {stream}"}
        yield {"ph": "M", "name": "thread_name", "pid": process.pid, "tid": thread, "args": words}
    for event in process.events:
        launch = process.launches[event.launch]
        yield {
            "ph": "X",
            "name": readable(launch.kernel),
            "cat": "kernel",
            "pid": process.pid,
            "tid": threads[launch.device, event.stream],
            "ts": (event.start - start) / 1000,
            "dur": (event.end - event.start) / 1000,
            "args": picked(
                launch, "kernel", "grid", "block", "cluster", "static_shared", "dynamic_shared", "containers"
            ),
        }
