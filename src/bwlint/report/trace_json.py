"""The receipt of a trace as JSON, described by `trace.schema.json`; version 1 gains keys but loses none. And the same
as a trace for Perfetto (Chrome's trace event format), with every launch."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

from bwlint.readers.binary.names import readable
from bwlint.report.encode import in_a_line, picked, plain, written
from bwlint.trace.receipt import Process, Trace


def render(trace: Trace, version: str) -> str:
    """The receipt; `version` is bwlint's."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    told = picked(trace, "command", "started", "code", "signal", "stopped")
    return written(
        version,
        trace={**told, "seconds": round(trace.seconds, 3), "system": system},
        choices=plain(trace.choices),
        processes=[_process(process) for process in trace.processes],
    )


def _process(process: Process) -> dict[str, Any]:
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
