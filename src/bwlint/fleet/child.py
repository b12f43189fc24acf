"""The process of one source: a job on stdin, its answer on stdout. It ends when stdin does, with all that it began."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import signal
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from bwlint import __version__
from bwlint.fleet.job import Answer, AsBefore, Checked, FleetJob, NotChecked, job_of, packed_answer
from bwlint.model.findings import WHOLE_FILE, Finding, Report
from bwlint.sources.held import scratch_folder
from bwlint.sources.pypi import SourceError, parse_spec, version_of

if TYPE_CHECKING:
    from bwlint.run.request import Outcome


def main() -> None:
    gc.disable()
    line = sys.stdin.readline()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with ExitStack() as stack:
        data = packed_answer(_answer(job_of(line), stack))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _end_with_parent() -> None:
    """Nobody writes there any more: whatever ends the parent closes its end."""
    sys.stdin.read()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # what it began is in its group: git, pip
    os._exit(1)


def _answer(job: FleetJob, stack: ExitStack) -> Answer:
    from bwlint.settings.config import ConfigError, UsageError

    try:
        return _checked(job, stack)
    except (SourceError, UsageError, ConfigError) as error:
        reason = str(error)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except MemoryError:
        reason = "the memory is full"
    except Exception as error:
        reason = f"internal error: {type(error).__name__}: {error}"
    return NotChecked(reason.replace(f"{Path.cwd()}{os.sep}", ""))  # the next time it lies elsewhere


def _checked(job: FleetJob, stack: ExitStack) -> Answer:
    source = job.source
    if job.tool != __version__:
        return NotChecked(f"the worker has bwlint {__version__}, and this machine {job.tool}")
    if source.kind == "git":
        return _repository(job, stack)
    if source.kind == "pypi":
        return _package(job, stack)
    path = Path(source.where)
    if not path.exists():
        return NotChecked("no such file or folder")
    if source.kind == "wheel":
        return _wheel(job, path, "", stack)
    return _tree(job, path, "", stack)


def _repository(job: FleetJob, stack: ExitStack) -> Answer:
    from bwlint.sources.git import check_out, commit_of, parse_repository

    repository = parse_repository(job.source.where)
    if job.known and commit_of(repository) == job.known:
        return AsBefore()
    folder = scratch_folder(stack) / "tree"
    commit = check_out(repository, folder)
    return _tree(job, folder, commit, stack)


def _package(job: FleetJob, stack: ExitStack) -> Answer:
    """The wheel of a package; of a version that is named there is no other."""
    from bwlint.sources.pypi import download

    spec = parse_spec(job.source.where)
    if job.known and spec.version:
        return AsBefore()
    wheel = download(spec, scratch_folder(stack))
    return _wheel(job, wheel, spec.version or version_of(wheel), stack)


def _wheel(job: FleetJob, wheel: Path, version: str, stack: ExitStack) -> Answer:
    digest = _digest(wheel)
    if job.known == digest:
        return AsBefore()
    return replace(_tree(job, wheel, digest, stack), version=version)


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def _tree(job: FleetJob, path: Path, revision: str, stack: ExitStack) -> Checked:
    """Check a folder, file or wheel as whoever stands in it would, so that nothing tells where it lies."""
    from bwlint.index import kept
    from bwlint.run.check import check
    from bwlint.run.request import CheckRequest
    from bwlint.run.unchanged import known_or_new

    asked = job.asked
    name = "." if path.is_dir() else path.name
    os.chdir(path if path.is_dir() else path.parent)
    if asked.is_indexed:
        stack.enter_context(kept.using())
    request = CheckRequest((name,), asked.target, asked.select, asked.ignore, "note", "note", jobs=1)
    if job.source.kind == "path":
        outcome = known_or_new(request, lambda: check(request, stack))
    else:  # it lies elsewhere the next time
        outcome = check(request, stack)
    contents = tuple(content(finding, outcome) for finding in outcome.report.findings)
    top = f"{name}/" if outcome.wheels or path.is_dir() else ""
    return Checked(revision, "", _from(top, outcome.report), contents, outcome.scanned)


_LINE = re.compile(r":[0-9]+")


def content(finding: Finding, outcome: Outcome) -> str:
    """What a finding is known by wherever it stands: its rule, its message and the lines of its source. Of a binary,
    which has none, it is the name of the file."""
    lines = None if finding.region == WHOLE_FILE else outcome.lines(finding.path)
    if lines is None:
        told = [PurePath(finding.path).name]
    else:
        told = [line.strip() for line in lines[finding.region.line - 1 : finding.region.end_line]]
    parts = (finding.rule, _LINE.sub("", finding.message), *told)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _from(top: str, report: Report) -> Report:
    """A report with its paths told from there."""
    if not top:
        return report
    return replace(
        report,
        findings=tuple(_finding_from(top, finding) for finding in report.findings),
        skipped=tuple(replace(skip, path=skip.path.removeprefix(top)) for skip in report.skipped),
        suppressed=tuple(replace(one, finding=_finding_from(top, one.finding)) for one in report.suppressed),
    )


def _finding_from(top: str, finding: Finding) -> Finding:
    return replace(
        finding,
        path=finding.path.removeprefix(top),
        related=tuple(replace(one, path=one.path.removeprefix(top)) for one in finding.related),
        claims=tuple(replace(one, path=one.path.removeprefix(top)) for one in finding.claims),
    )
