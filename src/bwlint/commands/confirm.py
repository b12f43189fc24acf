"""`bwlint confirm`: test findings with compilers and a GPU, and report the verdicts. Also
`--simulate` (a program as on another chip), `--selftest` (bwlint's own cases on this machine's GPU) and `--submit`."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from bwlint.commands.progress import progress
from bwlint.commands.terminal import (
    CLEAN,
    FOUND,
    NOTHING,
    checkout,
    failure,
    lines_on_disk,
    put_right,
    say,
    setting,
    write,
)
from bwlint.confirm.ladder import places, receipts
from bwlint.confirm.machine import prepared
from bwlint.confirm.workbench import Workbench
from bwlint.model.escape import visible
from bwlint.model.findings import Report
from bwlint.report import html, renderer
from bwlint.report.receipts import (
    as_json,
    as_text,
    selftest_as_json,
    selftest_line,
    selftest_summary,
    simulation_as_json,
    simulation_as_text,
    simulation_summary,
    summary,
)
from bwlint.report.summary import at_least
from bwlint.report.write import dumps
from bwlint.sources.held import scratch_folder
from bwlint.sources.pypi import is_package

if TYPE_CHECKING:
    from bwlint.chips import Chip
    from bwlint.confirm.ladder import Locate
    from bwlint.confirm.machine import Machine
    from bwlint.confirm.receipt import Receipt
    from bwlint.confirm.selftest.bundle import Opened
    from bwlint.confirm.selftest.run import Result
    from bwlint.confirm.workbench import Toolkit
    from bwlint.model.findings import Finding, Severity
    from bwlint.report import Lines
    from bwlint.report.read import Log

_REPORTS = (".json", ".sarif")
_SIMULATION_LIMIT = 600.0
_OF_SIMULATIONS = ("text", "json")
_NOT_OF_SIMULATIONS = (
    *("yes", "run_slices", "bench", "nvcc_args", "compile_commands", "refuted_is_error", "selftest", "bundle"),
    *("verbose", "target", "select", "ignore", "severity"),
)


def run(options: dict[str, Any], stack: ExitStack) -> int:
    if options["simulate"]:
        return _simulate(options, stack)
    if options["selftest"]:
        return _selftest(options, stack)
    if options["stand_in"]:
        raise click.UsageError("--stand-in is for --simulate")
    if options["submit"]:
        return _submit(options["paths"], options["submit"])
    if options["bundle"]:
        raise click.UsageError("--bundle is for --selftest")
    given = _given(options, stack)
    _check_outputs(options, given)
    findings = given.report.findings
    if not findings:
        say("bwlint: no findings to confirm\n")
        _write_receipts((), given, options, stack)
        write(given.rendered((), options), options)
        return CLEAN
    found = _write_receipts(findings, given, options, stack)
    write(given.rendered(found, options), options)
    return _close(found, options)


@dataclass(frozen=True, slots=True)
class _Given:
    """Findings from a run or a report, with the way to their files and back into a report."""

    report: Report | Log
    locate: Locate
    scanned: tuple[str, ...]
    lines: Lines | None

    def rendered(self, receipts: tuple[Receipt, ...], options: dict[str, Any]) -> str:
        from bwlint.report.read import judged, merge

        verdicts = [receipt.verdict for receipt in receipts]
        how = setting(options, self.lines)
        if isinstance(self.report, Report):
            report = replace(self.report, findings=judged(self.report.findings, verdicts))
            if options["form"] == "html":
                return html.render(report, how, receipts)
            return renderer(options["form"])(report, how)
        if options["form"] == "sarif":
            return dumps(merge(self.report, verdicts))
        return as_text(receipts)


def _check_outputs(options: dict[str, Any], given: _Given) -> None:
    """Refuse, before anything takes its time, to write where what is judged lies or where nothing can be written.

    A report may be replaced by itself with its verdicts, and by nothing else.
    """
    reports = {os.path.realpath(path) for path in options["paths"] if path.endswith(_REPORTS)}
    sources = {*given.scanned, *(given.locate(finding.path).real for finding in given.report.findings)} - {""}
    receipts, output = (os.path.realpath(options[name]) if options[name] else "" for name in ("receipts", "output"))
    if receipts and receipts == output and not Path(receipts).is_char_device():
        raise click.UsageError("--receipts and --output name the same file")
    for name, path, kept in (("receipts", receipts, sources | reports), ("output", output, sources)):
        if path in kept:
            raise click.UsageError(f"--{name} would overwrite an input: {options[name]}")


def _given(options: dict[str, Any], stack: ExitStack) -> _Given:
    paths = options["paths"] or (".",)
    reports = [path for path in paths if path.endswith(_REPORTS)]
    if not reports:
        return _checked(paths, options, stack)
    if len(paths) > 1:
        raise click.UsageError("give one report, and no other paths")
    for name in ("target", "select", "ignore"):
        if options[name]:
            raise click.UsageError(f"--{name} does not go with a report, which has its findings")
    return _read(Path(paths[0]), options)


def _checked(paths: tuple[str, ...], options: dict[str, Any], stack: ExitStack) -> _Given:
    from bwlint.commands.check import outcome_of, request_of

    request = request_of(options, paths)
    outcome = outcome_of(request, stack)
    reals = tuple(os.path.realpath(path) for path in paths if not is_package(path))
    roots = tuple(real for real in reals if Path(real).is_dir())
    locate = places(roots, outcome.names.real, dict(outcome.wheels))
    return _Given(at_least(outcome.report, outcome.severity), locate, reals, outcome.lines)


def _read(path: Path, options: dict[str, Any]) -> _Given:
    from bwlint.report.read import BadReport, read

    with put_right(doing=str(path)):
        try:
            report = read(path, checkout(None, with_origin=False).root)
        except BadReport as error:
            raise failure(ValueError(f"{path}: {error}")) from None
    if isinstance(report, Report):
        report = at_least(report, cast("Severity", options["severity"] or "note"))
    elif options["form"] in ("json", "html"):
        raise click.UsageError("verdicts of a SARIF log are merged into SARIF: --format sarif, or --receipts FILE")
    locate = places((), str, {})
    scanned = dict.fromkeys(locate(finding.path).real for finding in report.findings)
    return _Given(report, locate, tuple(real for real in scanned if real), lines_on_disk())


def _write_receipts(
    findings: tuple[Finding, ...], given: _Given, options: dict[str, Any], stack: ExitStack
) -> tuple[Receipt, ...]:
    """Make the receipts, and put them where they were asked for."""
    world, machine = prepared(_allowed(options, scratch_folder(stack)), given.scanned)
    if machine.altered:
        say(f"bwlint: warning: {visible(machine.altered)}: its runs prove nothing\n")
    found = []
    with progress() as advance:
        for receipt in receipts(findings, given.locate, world):
            found.append(receipt)
            advance("testing", len(found), len(findings))
    if options["receipts"]:
        write(as_json(found, machine), {"output": options["receipts"]})
    return tuple(found)


def _allowed(options: dict[str, Any], scratch: Path) -> Workbench:
    try:
        arguments = tuple(shlex.split(options["nvcc_args"] or ""))
    except ValueError as error:
        raise click.UsageError(f"--nvcc-args: {error}") from None
    commands = Path(options["compile_commands"]) if options["compile_commands"] else None
    signature = tuple(options["signature"].split(",")) if options["signature"] else ()
    allowed = Workbench(
        scratch,
        may_launch=options["yes"],
        may_slice=options["run_slices"],
        bench=options["bench"],
        nvcc_args=arguments,
        commands=commands,
        signature=signature,
    )
    limit = options["time_limit"]
    return replace(allowed, limit=limit, compile_limit=max(limit, allowed.compile_limit)) if limit else allowed


def _close(found: tuple[Receipt, ...], options: dict[str, Any]) -> int:
    """Say what came of it; the exit code."""
    say(f"bwlint: {summary(found)}\n")
    outcomes = Counter(receipt.outcome for receipt in found)
    if not any(receipt.executed for receipt in found):
        say("bwlint: nothing was executed\n")
        return NOTHING
    if outcomes["confirmed"] or (options["refuted_is_error"] and outcomes["refuted"]):
        return FOUND
    return CLEAN


def _simulate(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.confirm.simulate import program

    words = _program(options)
    folder = scratch_folder(stack)
    with put_right():
        chip = program.simulated(options["simulate"])
        ended = program.run(words, chip, options["stand_in"], folder, options["time_limit"] or _SIMULATION_LIMIT)
    found = program.read(chip, words, ended, folder)
    how = setting(options)
    as_json = simulation_as_json(found, how)
    if options["receipts"]:
        write(as_json, {"output": options["receipts"]})
    write(as_json if options["form"] == "json" else simulation_as_text(found, how), options)
    say(f"bwlint: {simulation_summary(found)}\n")
    if not found.of("start"):
        return NOTHING
    return CLEAN if ended.code == 0 else FOUND


def _program(options: dict[str, Any]) -> tuple[str, ...]:
    """The program; raises UsageError where there is none, and for options of what else `confirm` does."""
    for name in _NOT_OF_SIMULATIONS:
        if options[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --simulate")
    if options["form"] not in _OF_SIMULATIONS:
        raise click.UsageError(f"--simulate has the formats {' and '.join(_OF_SIMULATIONS)}")
    if not options["paths"]:
        raise click.UsageError(
            "--simulate takes the program to run after --: --simulate 12.1 -- pytest tests/test_x.py"
        )
    return tuple(options["paths"])


def _submit(receipts: Sequence[str], output: str) -> int:
    """Show what is in the receipts, ask where somebody is there to answer, and write; the exit code."""
    from bwlint.report.submission import NotAReceipt, contents, document, personal, read, render

    if not receipts:
        raise click.UsageError("--submit needs receipts: name them, or run --selftest with it")
    if os.path.realpath(output) in {os.path.realpath(path) for path in receipts}:
        raise click.UsageError(f"--submit would overwrite a receipt: {output}")
    try:
        found = document([read(Path(path)) for path in receipts], personal())
    except NotAReceipt as error:
        raise failure(error) from None
    except OSError as error:
        raise failure(OSError(f"{error.filename}: {error.strerror}")) from None
    for line in contents(found):
        say(f"{visible(line)}\n")
    if sys.stdin.isatty() and sys.stderr.isatty() and not click.confirm(f"Write this to {output}?", True, err=True):
        say("bwlint: nothing was written\n")
        return NOTHING
    write(render(found), {"output": output})
    say(f"bwlint: {visible(output)} is plain JSON: read it before you send it\n")
    return CLEAN


def _selftest(options: dict[str, Any], stack: ExitStack) -> int:
    if options["paths"]:
        raise click.UsageError("--selftest takes no paths")
    allowed = Workbench(scratch_folder(stack))
    world, machine = prepared(replace(allowed, limit=options["time_limit"] or allowed.limit), ())
    file = Path(options["bundle"]) if options["bundle"] else None
    if file is not None and not file.exists():
        return _build(file, _chip(options, world), world)
    return _run_selftest(_opened(file, options, world), world, machine, options)


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


def _run_selftest(opened: Opened, world: Workbench, machine: Machine, options: dict[str, Any]) -> int:
    from bwlint.confirm.selftest.run import NoDevice
    from bwlint.confirm.selftest.run import run as run_cases

    try:
        test = run_cases(opened, world, advance=_tell if options["verbose"] else None)
    except NoDevice as error:
        say(f"bwlint: {visible(str(error))}\n")
        return NOTHING
    receipt = options["receipts"] or f"bwlint-selftest-{opened.chip}.json"
    write(selftest_as_json(test, machine), {"output": receipt})
    for result in (*test.refuted, *test.undecided):
        _tell(result)
    say(f"bwlint: {selftest_summary(test)}; the receipt is {receipt}\n")
    if options["submit"]:
        _submit((receipt,), options["submit"])
    if not any(result.attempt.executed for result in test.cases):
        return NOTHING
    return CLEAN if test.all_agree and not machine.altered else FOUND


def _tell(result: Result) -> None:
    say(f"{visible(selftest_line(result))}\n")
