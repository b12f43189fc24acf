"""`bwlint confirm`: test findings with compilers and a GPU, and report the verdicts."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, failure, lines_on_disk, put_right, say, setting, write

if TYPE_CHECKING:
    from bwlint.confirm.places import Locate
    from bwlint.confirm.prepare import Allowed
    from bwlint.confirm.receipt import Receipt
    from bwlint.model.findings import Finding, Report, Severity
    from bwlint.report import Lines
    from bwlint.report.read import Log

_REPORTS = (".json", ".sarif")


def run(options: dict[str, Any], stack: ExitStack) -> int:
    if options["simulate"]:
        from bwlint.commands.simulate import run as simulate

        return simulate(options, stack)
    if options["selftest"]:
        from bwlint.commands.selftest import run as selftest

        return selftest(options, stack)
    if options["stand_in"]:
        raise click.UsageError("--stand-in is for --simulate")
    if options["submit"]:
        from bwlint.commands.submit import run as submit

        return submit(options["paths"], options["submit"])
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
        from bwlint.model.findings import Report
        from bwlint.report import renderer
        from bwlint.report.encode import dumps
        from bwlint.report.read import judged, merge

        verdicts = [receipt.verdict for receipt in receipts]
        how = setting(options, self.lines)
        if isinstance(self.report, Report):
            report = replace(self.report, findings=judged(self.report.findings, verdicts))
            if options["form"] == "html":
                from bwlint.report import html

                return html.render(report, how, receipts)
            return renderer(options["form"])(report, how)
        if options["form"] == "sarif":
            return dumps(merge(self.report, verdicts))
        from bwlint.report.verdicts import render

        return render(receipts)


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
    from bwlint.commands.progress import progress
    from bwlint.confirm.places import places
    from bwlint.report.summary import at_least
    from bwlint.run.check import check
    from bwlint.run.request import CheckRequest
    from bwlint.sources.pypi import is_package

    severity = cast("Severity | None", options["severity"])
    request = CheckRequest(paths, options["target"], options["select"], options["ignore"], severity)
    with put_right(), progress() as advance:
        outcome = check(request, stack, advance)
    reals = tuple(os.path.realpath(path) for path in paths if not is_package(path))
    roots = tuple(real for real in reals if Path(real).is_dir())
    locate = places(roots, outcome.names.real, dict(outcome.wheels))
    return _Given(at_least(outcome.report, outcome.severity), locate, reals, outcome.lines)


def _read(path: Path, options: dict[str, Any]) -> _Given:
    from bwlint.commands.checkout import checkout
    from bwlint.confirm.places import places
    from bwlint.model.findings import Report
    from bwlint.report.read import BadReport, read
    from bwlint.report.summary import at_least

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
    from bwlint.commands.progress import progress
    from bwlint.confirm.ladder import receipts
    from bwlint.confirm.prepare import prepared
    from bwlint.report.receipts import render
    from bwlint.sources.scratch import scratch_folder

    world, machine = prepared(_allowed(options), given.scanned, scratch_folder(stack))
    if machine.altered:
        from bwlint.model.escape import visible

        say(f"bwlint: warning: {visible(machine.altered)}: its runs prove nothing\n")
    found = []
    with progress() as advance:
        for receipt in receipts(findings, given.locate, world):
            found.append(receipt)
            advance("testing", len(found), len(findings))
    if options["receipts"]:
        write(render(found, machine), {"output": options["receipts"]})
    return tuple(found)


def _allowed(options: dict[str, Any]) -> Allowed:
    from bwlint.confirm.prepare import Allowed

    try:
        arguments = tuple(shlex.split(options["nvcc_args"] or ""))
    except ValueError as error:
        raise click.UsageError(f"--nvcc-args: {error}") from None
    commands = Path(options["compile_commands"]) if options["compile_commands"] else None
    signature = tuple(options["signature"].split(",")) if options["signature"] else ()
    allowed = Allowed(options["yes"], options["run_slices"], options["bench"], arguments, commands, signature=signature)
    limit = options["time_limit"]
    return replace(allowed, limit=limit, compile_limit=max(limit, allowed.compile_limit)) if limit else allowed


def _close(found: tuple[Receipt, ...], options: dict[str, Any]) -> int:
    """Say what came of it; the exit code."""
    from bwlint.report.verdicts import summary

    say(f"bwlint: {summary(found)}\n")
    outcomes = Counter(receipt.outcome for receipt in found)
    if not any(receipt.executed for receipt in found):
        say("bwlint: nothing was executed\n")
        return NOTHING
    if outcomes["confirmed"] or (options["refuted_is_error"] and outcomes["refuted"]):
        return FOUND
    return CLEAN
