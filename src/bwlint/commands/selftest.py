"""`bwlint confirm --selftest`: run bwlint's own cases on the assembler and on this machine's GPU."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, failure, put_right, say, write

if TYPE_CHECKING:
    from bwlint.chips import Chip
    from bwlint.confirm.machine import Machine
    from bwlint.confirm.selftest.bundle import Opened
    from bwlint.confirm.selftest.run import Result
    from bwlint.confirm.workbench import Toolkit, Workbench


def run(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.confirm.prepare import Allowed, prepared
    from bwlint.sources.scratch import scratch_folder

    if options["paths"]:
        raise click.UsageError("--selftest takes no paths")
    allowed = Allowed(limit=options["time_limit"]) if options["time_limit"] else Allowed()
    world, machine = prepared(allowed, (), scratch_folder(stack))
    file = Path(options["bundle"]) if options["bundle"] else None
    if file is not None and not file.exists():
        return _build(file, _chip(options, world), world)
    return _run(_opened(file, options, world), world, machine, options)


def _chip(options: dict[str, Any], world: Workbench) -> Chip:
    """The chip that cases are built for: that of --target, else of the GPU that is there."""
    from bwlint.chips import parse_targets
    from bwlint.chips.devices import chip

    with put_right(ValueError):
        chips = tuple(parse_targets(options["target"])[0]) if options["target"] else ()
        chips = chips or tuple(chip(device.capability) for device in world.devices[:1])
    if len(chips) != 1:
        raise click.UsageError(f"--target must name one chip ({world.no_device or 'several are named'})")
    return chips[0]


def _build(file: Path, chip: Chip, world: Workbench) -> int:
    """Build the cases into a file, for a machine that has the GPU."""
    from bwlint.confirm.selftest.bundle import write as write_bundle

    toolkit = _toolkit(chip, world)
    with put_right(doing=f"cannot write {file}"):
        opened = write_bundle(chip, toolkit, file)
    say(f"bwlint: {len(opened.made)} cases for {chip} in {file}: run them with --selftest --bundle {file}\n")
    return CLEAN


def _toolkit(chip: Chip, world: Workbench) -> Toolkit:
    """What the cases are built with: the newest, as they run on whatever driver is there or say that they do not."""
    toolkit = next((found for found in world.toolkits if found.ptxas is not None), None)
    if toolkit is None:
        raise failure(ValueError("no ptxas to build the cases with: pip install 'bwlint[assemble]', or give --bundle"))
    say(f"bwlint: building the cases for {chip} with CUDA {toolkit.version} ({toolkit.origin}); this takes minutes\n")
    return toolkit


def _opened(file: Path | None, options: dict[str, Any], world: Workbench) -> Opened:
    """The cases of a bundle, or built here and now."""
    from bwlint.confirm.selftest.bundle import BadBundle, unpack

    if file is None:
        if not world.devices:
            raise failure(ValueError(f"no GPU to run the cases on: {world.no_device}"))
        from bwlint.confirm.selftest.bundle import build

        chip = _chip(options, world)
        return build(chip, _toolkit(chip, world), world.scratch / "bundle")
    with put_right(BadBundle):
        return unpack(file, world.scratch / "bundle")


def _run(opened: Opened, world: Workbench, machine: Machine, options: dict[str, Any]) -> int:
    from bwlint.confirm.selftest.run import NoDevice
    from bwlint.confirm.selftest.run import run as run_cases
    from bwlint.report.selftest import render, summary

    try:
        test = run_cases(opened, world, advance=_tell if options["verbose"] else None)
    except NoDevice as error:
        from bwlint.model.escape import visible

        say(f"bwlint: {visible(str(error))}\n")
        return NOTHING
    receipt = options["receipts"] or f"bwlint-selftest-{opened.chip}.json"
    write(render(test, machine), {"output": receipt})
    for result in (*test.refuted, *test.undecided):
        _tell(result)
    say(f"bwlint: {summary(test)}; the receipt is {receipt}\n")
    if options["submit"]:
        from bwlint.commands.submit import run as submit

        submit((receipt,), options["submit"])
    if not any(result.attempt.executed for result in test.cases):
        return NOTHING
    return CLEAN if test.all_agree and not machine.altered else FOUND


def _tell(result: Result) -> None:
    from bwlint.model.escape import visible
    from bwlint.report.selftest import line

    say(f"{visible(line(result))}\n")
