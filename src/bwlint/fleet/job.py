"""The user's list of sources, and the request and the answer for one of them, as exchanged between two processes;
one runs for each source on this machine, so that a crash costs one source.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

import bwlint
from bwlint import __version__
from bwlint.index.packed import NotData, packed, unpacked
from bwlint.model.escape import visible
from bwlint.model.findings import Report
from bwlint.sources.git import is_repository, parse_repository
from bwlint.sources.pypi import PREFIX, SourceError, parse_spec

SourceKind = Literal["git", "path", "pypi", "wheel"]
_COMMENT = re.compile(r"(?:^|\s)#.*")
# The parent's own bwlint, whatever else is installed; and nothing of the folder that it happens to stand in.
_BEGIN = """
import sys
sys.path[:] = [sys.argv[1], *filter(None, sys.path)]
import bwlint
del sys.path[0]
from bwlint.fleet.child import main
main()
"""


@dataclass(frozen=True, slots=True)
class FleetSource:
    """`name` is what the list says and reports tell; `where` is the same with absolute paths."""

    name: str
    kind: SourceKind
    where: str


@dataclass(frozen=True, slots=True)
class SourceList:
    """A list by the name that messages give it, and the folder that its paths start from."""

    name: str
    text: str
    folder: str


class BadList(ValueError):
    """A list with lines that name nothing; the message has one line for each."""


def sources_of(lists: Iterable[SourceList]) -> tuple[FleetSource, ...]:
    """The sources of all lists in order, each once; raises BadList."""
    found: dict[str, FleetSource] = {}
    faults: list[str] = []
    for one in lists:
        for number, line in enumerate(one.text.removeprefix("\ufeff").split("\n"), 1):
            name = _COMMENT.sub("", line).strip()
            if not name:
                continue
            try:
                source = source_of(name, one.folder)
                if found.setdefault(name, source) != source:
                    raise SourceError(f"{name} is two places; write absolute paths")
            except SourceError as error:
                faults.append(f"{visible(one.name)}:{number}: {visible(str(error))}")
    if faults:
        raise BadList("\n".join(faults))
    return tuple(found.values())


def source_of(name: str, folder: str) -> FleetSource:
    """What one line names; raises SourceError."""
    if name.startswith(PREFIX):
        parse_spec(name)
        return FleetSource(name, "pypi", name)
    if is_repository(name):
        parse_repository(name)
        return FleetSource(name, "git", name)
    if not name.isprintable():
        raise SourceError(f"{name} has an unusual character")
    path = os.path.abspath(os.path.join(folder, name))  # noqa: PTH100, PTH118
    return FleetSource(name, "wheel" if name.endswith(".whl") else "path", path)


def identity(lists: Sequence[SourceList], sources: Sequence[FleetSource]) -> tuple[str, ...]:
    """What lists are known by from run to run: their files, or, of standard input, what they name."""
    named = tuple(os.path.abspath(one.name) for one in lists if one.name != "-")  # noqa: PTH100
    return named if len(named) == len(lists) else (*named, *(source.where for source in sources))


@dataclass(frozen=True, slots=True)
class AskedOfAll:
    """What all sources are asked. `seconds` is how long each may take."""

    target: tuple[str, ...]
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    is_indexed: bool = True
    seconds: int = 3600


@dataclass(frozen=True, slots=True)
class FleetJob:
    """`known` is the revision that an answer is kept of, or ""; `tool` the bwlint that asks."""

    source: FleetSource
    asked: AskedOfAll
    known: str = ""
    tool: str = __version__

    def told(self) -> str:
        return json.dumps(asdict(self))


def job_of(line: str) -> FleetJob:
    told = json.loads(line)
    asked: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in told["asked"].items()}
    return FleetJob(FleetSource(**told["source"]), AskedOfAll(**asked), told["known"], told["tool"])


@dataclass(frozen=True, slots=True)
class Checked:
    """A source that was read. `report` has all findings, with paths from the source's top. `revision` is the commit, or
    the digest of the wheel, "" of a path; `version` that of a package; `contents` has for each finding what it is known
    by wherever it stands; `scanned` counts the files that were read."""

    revision: str
    version: str
    report: Report
    contents: tuple[str, ...]
    scanned: int


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A source that could not be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class AsBefore:
    """A source that is what it was when its answer was kept."""


Answer = Checked | NotChecked | AsBefore
_KINDS: dict[str, type[Checked] | type[NotChecked] | type[AsBefore]] = {
    kind.__name__: kind for kind in (Checked, NotChecked, AsBefore)
}


def packed_answer(answer: Answer) -> bytes:
    return packed((type(answer).__name__, *(getattr(answer, field.name) for field in fields(answer))))


def answer_of(data: bytes) -> Answer:
    """What was packed; raises NotData."""
    name, *values = unpacked(data)
    if name not in _KINDS or len(values) != len(fields(_KINDS[name])):
        raise NotData("no answer")
    make: Any = _KINDS[name]
    made: Answer = make(*values)
    return made


@dataclass(frozen=True, slots=True)
class AnsweredJob:
    """An answer as bytes (`job.answer_of`), and what its process said on stderr."""

    data: bytes
    said: str

    @property
    def answer(self) -> Answer:
        return answer_of(self.data)


def failed(reason: str, said: str = "") -> AnsweredJob:
    return AnsweredJob(packed_answer(NotChecked(reason)), said)


def by_processes(jobs: Sequence[FleetJob], at_once: int) -> Iterator[tuple[FleetJob, AnsweredJob]]:
    """The jobs as they are done, so many at once. Where an exception leaves it, nobody waits for the others."""
    pool = ThreadPoolExecutor(at_once)
    try:
        begun: dict[Future[AnsweredJob], FleetJob] = {pool.submit(answered, job): job for job in jobs}
        for future in as_completed(begun):
            yield begun[future], future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def answered(job: FleetJob) -> AnsweredJob:
    """What a process of its own makes of a job."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, str(Path(bwlint.__file__).parents[1])],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it is gone already, and its code says why
                # Its stdin stays open: it ends with that, and so with this process, however that ends.
                process.stdin.write(f"{job.told()}\n".encode())
                process.stdin.flush()
            code: int | None = process.wait(job.asked.seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        out.seek(0)
        err.seek(0)
        return _judged(code, out.read(), err.read().decode("utf-8", "replace"), job)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()  # type: ignore[union-attr]


def _judged(code: int | None, data: bytes, said: str, job: FleetJob) -> AnsweredJob:
    if code is None:
        return failed(f"not done after {job.asked.seconds} s", said)
    if code < 0:
        return failed(f"its process was ended by {signal.Signals(-code).name}", said)
    try:
        answer_of(data)
    except NotData:
        last = said.strip().splitlines()[-1:] or ["it says nothing"]
        return failed(f"its process ended with code {code}: {last[0]}")
    return AnsweredJob(data, said)
