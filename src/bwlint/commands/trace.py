"""`bwlint trace`: record what a program ran on the GPU, as a receipt and a table."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import datetime, timezone
from typing import Any

from bwlint import __version__
from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, put_right, say, write
from bwlint.model.escape import visible
from bwlint.report import trace as report
from bwlint.sources.held import scratch_folder
from bwlint.trace.collecting import NotTraced, survivors
from bwlint.trace.collecting import run as run_traced
from bwlint.trace.receipt import Trace, choices, processes, requested


def run(options: dict[str, Any], stack: ExitStack) -> int:
    command = tuple(options["command"])
    folder = scratch_folder(stack) / "lines"
    folder.mkdir()
    environment = dict(os.environ)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with put_right(NotTraced):
        ran = run_traced(
            command, folder, environment, events=options["perfetto"] is not None, limit=options["time_limit"]
        )
    seen = processes(folder)
    asked = requested(command, environment)
    trace = Trace(command, started, ran.seconds, ran.code, ran.signal, ran.stopped, seen, choices(asked, seen))
    write(report.as_json(trace, __version__), {"output": options["receipt"]})
    if options["perfetto"]:
        write(report.perfetto(trace), {"output": options["perfetto"]})
    if ran.interrupted is not None:
        say(f"bwlint: the receipt is {visible(options['receipt'])}\n")
        raise ran.interrupted
    if not options["quiet"]:
        write(report.as_text(trace), {"output": options["output"]})
    for number in survivors(folder):
        say(f"bwlint: process {number} of the program is still running: the receipt lacks what it does from now on\n")
    say(f"bwlint: {report.summary(trace)}; the receipt is {visible(options['receipt'])}\n")
    return _code(trace)


def _code(trace: Any) -> int:
    if not trace.ran:
        say("bwlint: no kernel ran: the program did not use CUDA, or used it where the collector cannot see it\n")
        return NOTHING
    return CLEAN if trace.code == 0 and trace.kept_its_word else FOUND
