"""`bwlint fleet`: many sources, one report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bwlint.commands.progress import progress
from bwlint.commands.terminal import CLEAN, FOUND, WRONG, nothing, put_right, say, setting, write
from bwlint.fleet.job import AskedOfAll, BadList, Checked, FleetSource, NotChecked, SourceList, identity, sources_of
from bwlint.fleet.table import Fleet, FleetState, LastRun, Work, fails, fleet_of, usual_folder
from bwlint.model.escape import visible
from bwlint.report import fleet as report
from bwlint.report.summary import summary
from bwlint.report.write import check_writable
from bwlint.run.gather import Settings, jobs_of
from bwlint.run.request import CheckRequest

Answers = Sequence[tuple[FleetSource, Checked | NotChecked]]


def run(options: dict[str, Any]) -> int:
    _check_output(options)
    lists = [_list(name) for name in options["lists"]]
    with put_right(BadList):
        sources = sources_of(lists)
    settings = _settings(options)
    state = _state(settings, options, identity(lists, sources))
    last = state.last()
    answers = _answers(sources, state, options)
    fleet = fleet_of(answers, state.asked.target, settings.run.severity or "warning", last)
    _write(fleet, options)
    _end(state, answers, last)
    return _code(fleet, answers, settings, options)


def _check_output(options: dict[str, Any]) -> None:
    """Raises where no report could be written."""
    output, is_folder = options["output"], options["form"] == "markdown"
    if output is None:
        if is_folder:
            raise click.UsageError("--format markdown writes a folder: name it with --output")
        return
    with put_right(doing=f"cannot write {output}"):
        if is_folder:
            Path(output).mkdir(parents=True, exist_ok=True)
        check_writable(Path(output) / "index.md" if is_folder else Path(output))


def _list(name: str) -> SourceList:
    if name == "-":
        return SourceList(name, os.fsdecode(sys.stdin.buffer.read()), os.curdir)
    with put_right(doing=name):
        return SourceList(name, os.fsdecode(Path(name).read_bytes()), str(Path(name).parent))


def _settings(options: dict[str, Any]) -> Settings:
    """What the command line says, and the configuration of the folder that one is in."""
    asked = (options[name] for name in ("target", "select", "ignore", "severity", "fail_on"))
    with put_right():
        settings = Settings(CheckRequest((), *asked))
        settings.targets()
    return settings


def _state(settings: Settings, options: dict[str, Any], lists: tuple[str, ...]) -> FleetState:
    names = settings.targets().names
    is_indexed = not options["no_cache"]
    asked = AskedOfAll(names, options["select"], options["ignore"], is_indexed, options["time_limit"])
    state = FleetState(Path(options["state"] or usual_folder()), asked, lists)
    with put_right(doing=f"cannot keep anything in {state.folder}"):
        state.begin()
    return state


def _answers(sources: Sequence[FleetSource], state: FleetState, options: dict[str, Any]) -> Answers:
    from bwlint.fleet.scheduler import NoScheduler
    from bwlint.fleet.table import checked

    found: dict[FleetSource, Checked | NotChecked] = {}
    with put_right(NoScheduler), progress() as advance:
        advance("checking", 0, len(sources))
        for done in checked(sources, state, _work(options), is_fresh=options["fresh"]):
            found[done.source] = done.answer
            advance("checking", len(found), len(sources))
            said = [*done.said.splitlines(), *([_how(done.answer)] if options["verbose"] else [])]
            say("".join(f"bwlint: {visible(done.source.name)}: {visible(line)}\n" for line in said))
    return [(source, found[source]) for source in sources]


def _how(answer: Checked | NotChecked) -> str:
    return f"failed: {answer.reason}" if isinstance(answer, NotChecked) else summary(answer.report)


def _work(options: dict[str, Any]) -> Work:
    if options["scheduler"]:
        from bwlint.fleet.scheduler import by_scheduler

        return lambda jobs: by_scheduler(jobs, options["scheduler"])
    from bwlint.fleet.job import by_processes

    return lambda jobs: by_processes(jobs, jobs_of(options["jobs"]))


def _write(fleet: Fleet, options: dict[str, Any]) -> None:
    if options["form"] == "markdown":
        for name, text in report.as_pages(fleet).items():
            write(text, {"output": str(Path(options["output"]) / name)})
    else:
        render = report.as_json if options["form"] == "json" else report.as_text
        write(render(fleet, setting(options)), options)
    say(f"bwlint: {report.summary(fleet)}\n")


def _end(state: FleetState, answers: Answers, last: LastRun | None) -> None:
    """Keep what the next run is held against: of a source that failed, what was known before."""
    before = last.checked if last else {}
    known = {
        source.name: answer if isinstance(answer, Checked) else before.get(source.name) for source, answer in answers
    }
    try:
        state.end({name: one for name, one in known.items() if one is not None})
    except OSError as error:
        say(f"bwlint: warning: the next run cannot compare with this one: {error.strerror}\n")
    state.prune()


def _code(fleet: Fleet, answers: Answers, settings: Settings, options: dict[str, Any]) -> int:
    if any(row.checked is None for row in fleet.rows):
        return WRONG
    if all(row.is_empty for row in fleet.rows):
        return nothing()
    is_failing = fails([answer for _, answer in answers], settings.run.fail_on or "warning")
    return FOUND if is_failing and not options["exit_zero"] else CLEAN
