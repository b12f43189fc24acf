"""The child that runs a slice: it makes everything ready, shuts itself in, runs the slice on each chip, and answers.

The job comes as JSON on stdin, the answer goes as JSON to the descriptor that `child.ANSWER` names.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from bwlint.confirm.slicing import seccomp
from bwlint.confirm.slicing.linking import PARTIAL, Linker, Units, compiled
from bwlint.confirm.slicing.standins import TESTS, ChipNumbers, LibrariesOnChip, load_libraries
from bwlint.confirm.slicing.syntax import GATE
from bwlint.confirm.slicing.unread import Choices, NotReached, SkipRaised, Undecided

MAX_RUNS = 1 << 6
"""Combinations of values that nobody knows, on one chip."""
TOO_MANY = f"unknown values have more than {MAX_RUNS} combinations"


def main() -> None:
    """Answer one job. Everything that reads a file or asks the system comes before the filter."""
    job = json.loads(sys.stdin.buffer.read())
    descriptor = int(os.environ["BWLINT_ANSWER"])
    load_libraries()
    try:
        units = compiled(job)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        answer(descriptor, {"trouble": f"the slice does not compile: {type(error).__name__}"})
        return
    leave_streams(0, 1, 2)
    try:
        limit(job["seconds"])
        seccomp.install(descriptor)
    except (OSError, ValueError) as error:
        answer(descriptor, {"refused": str(error)})
        return
    answer(descriptor, {"chips": {name: _outcomes(job, units, ChipNumbers(*chip)) for name, *chip in job["chips"]}})


def leave_streams(*streams: int) -> None:
    """Whatever is written there goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def limit(seconds: int) -> None:
    """Bound the time, and leave no way to files and processes."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    for name in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        resource.setrlimit(name, (0, 0))


def answer(descriptor: int, told: Mapping[str, Any]) -> None:
    """Write an answer, and end."""
    data = memoryview(json.dumps(told).encode())
    while data:
        data = data[os.write(descriptor, data) :]
    os._exit(0)


def _outcomes(job: Mapping[str, Any], units: Units, chip: ChipNumbers) -> dict[str, Any]:
    """What the gate gives on one chip: an outcome for each way that the values nobody knows may be."""
    found: list[dict[str, Any]] = []
    assumed: dict[str, None] = {}
    given: list[bool] = []
    while True:
        choices = Choices(tuple(given))
        world = LibrariesOnChip(chip, job["rows"], frozenset(job["devices"]), choices)
        outcome = _run(job, units, world)
        assumed |= world.assumed
        found.append({"outcome": outcome, "chosen": choices.taken, "guessed": list(choices.guessed)})
        given = choices.following()
        if not given:
            break
        if len(found) == MAX_RUNS:
            found.append({"outcome": f"undecided: {TOO_MANY}", "chosen": {}, "guessed": []})
            break
    return {"runs": found, "assumed": list(assumed)}


def _run(job: Mapping[str, Any], units: Units, world: LibrariesOnChip) -> str:
    linker = Linker(units, world)
    try:
        gate = linker.module(job["module"])[GATE]
        value = gate()
        outcome = "true" if (True if job["form"] == "completes" else value) else "false"
    except Undecided as error:
        outcome = f"undecided: {error}"
    except NotReached:
        outcome = "not reached"
    except (RecursionError, MemoryError) as error:
        outcome = f"undecided: it ends in a {type(error).__name__}"
    except BaseException as error:
        outcome = _raised(error)
    return f"undecided: {world.choices.lost}" if world.choices.lost else outcome


def _raised(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        text = "Unread"
    if "Unread" in text:
        return "undecided: an unknown value reaches code that wants a plain one"
    if isinstance(error, NameError):
        return "undecided: a name is missing in what was cut out"
    if PARTIAL & set(_WORD.findall(text)):
        return "undecided: something is asked of a class of which only a part was cut out"
    if isinstance(error, TypeError) and _OF_CLASSES.search(text):
        return "undecided: a class of which only a part is there cannot be made"
    if _is_ours(error):
        return f"undecided: a {type(error).__name__} in what stands in for a library"
    return f"raises: {type(error).__name__}: {text}"[:120].strip(": ")


def _is_ours(error: BaseException) -> bool:
    """Whether an exception comes from this program and not from the slice, nor from what a library would raise."""
    if isinstance(error, SkipRaised | SystemExit):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace is not None else None
    return code is not None and os.path.dirname(code.co_filename) == _OURS and code not in _SIMULATED  # noqa: PTH120


_WORD = re.compile(r"'(\w+)'")
_OF_CLASSES = re.compile(r"metaclass|\bMRO\b|abstract class|bases must be|not an acceptable base type")
_OURS = os.path.dirname(__file__)  # noqa: PTH120
_SIMULATED = frozenset(test.__code__ for test in TESTS.values())


if __name__ == "__main__":
    main()
