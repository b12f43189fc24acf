"""`bwlint confirm --simulate CHIP -- PROGRAM`: the user's own program, as on another chip."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, put_right, say, setting, write

_LIMIT = 600.0
_FORMS = ("text", "json")
_OTHERS = (
    *("yes", "run_slices", "bench", "nvcc_args", "compile_commands", "refuted_is_error", "selftest", "bundle"),
    *("verbose", "target", "select", "ignore", "severity"),
)


def run(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.confirm.simulate import facts, program, records
    from bwlint.report import simulation_json, simulation_text
    from bwlint.sources.scratch import scratch_folder

    words = _checked(options)
    folder = scratch_folder(stack)
    with put_right():
        chip = facts.simulated(options["simulate"])
        ended = program.run(words, chip, options["stand_in"], folder, options["time_limit"] or _LIMIT)
    found = records.read(chip, words, ended, folder)
    how = setting(options)
    as_json = simulation_json.render(found, how)
    if options["receipts"]:
        write(as_json, {"output": options["receipts"]})
    write(as_json if options["form"] == "json" else simulation_text.render(found, how), options)
    say(f"bwlint: {simulation_text.summary(found)}\n")
    if not found.of("start"):
        return NOTHING
    return CLEAN if ended.code == 0 else FOUND


def _checked(options: dict[str, Any]) -> tuple[str, ...]:
    """The program; raises UsageError where there is none, and for options of what else `confirm` does."""
    for name in _OTHERS:
        if options[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --simulate")
    if options["form"] not in _FORMS:
        raise click.UsageError(f"--simulate has the formats {' and '.join(_FORMS)}")
    if not options["paths"]:
        raise click.UsageError(
            "--simulate takes the program to run after --: --simulate 12.1 -- pytest tests/test_x.py"
        )
    return tuple(options["paths"])
