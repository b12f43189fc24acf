"""Coverage-guided fuzzing of every reader, for outside CI; needs CPython 3.12 and nothing from the network.

    python tools/fuzz.py READER... [--minutes N] [--seed N] [--out FOLDER] [--corpus FOLDER] [--processes N]

READER is a name in `READERS`, or `all`. Its inputs (fixtures, tests/fuzz_corpus, samples, FOLDER) are changed at
random; what takes a branch in a direction that nothing took before is kept and changed further, and goes through a
whole check with proposed fixes. A crash is an exception that nobody documents, or a process that dies; a hang is
`SECONDS` of a processor's time; more memory than `MEBIBYTES` is a crash. Each is made smaller and lies, with its
reason, under --out. The minutes are those of the whole command. Exit code 1 when something was found.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from types import CodeType
from typing import Any

import binary_fuzz
import text_fuzz
from binary_fuzz import Input

import bwlint

SECONDS = 10
MEBIBYTES = 2048
_GROWN = 800  # MiB of what is remembered between inputs, after which a fresh process goes on
_SILENCE = 120
_MINIMISING = 40
ROOT = Path(__file__).parents[1]
_CODE = str(Path(bwlint.__file__).parent)

BINARY = {
    **{"elf": ("*.so", "*.names"), "cubin": ("*.cubin",), "fatbin": ("*.fatbin",), "pe": ("*.dll",), "ar": ("*.a",)},
    **{"zip": ("*.whl", "*.conda"), "tar": ("*.tar", "*.tar.gz", "*.tar.xz")},
}
READERS = {**text_fuzz.READERS, **BINARY}
"""By name, the patterns of the names of its files."""

Change = Callable[[random.Random, bytes, bytes], bytes]


class Slow(BaseException):
    """An input took longer than it may; nothing on its way may take it for a fault of the file."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises `Slow` after so many seconds of the processor; limits inside use another timer."""

    def stop(*_: object) -> None:
        raise Slow(f"more than {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(slots=True)
class Coverage:
    """Branches of bwlint by the direction they took, and functions that began."""

    edges: set[tuple[int, int, int]] = field(default_factory=set)
    new: int = 0
    _asked: dict[tuple[int, int], int] = field(default_factory=dict)

    def watch(self) -> None:
        monitoring = self._monitoring()
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "fuzz")
        for event in (monitoring.events.BRANCH, monitoring.events.PY_START):
            monitoring.register_callback(monitoring.COVERAGE_ID, event, self._seen)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.BRANCH | monitoring.events.PY_START)

    def again(self) -> None:
        """Ask once more for branches that went one way for so long that they are no longer asked for."""
        self._asked.clear()
        self._monitoring().restart_events()

    def _seen(self, code: CodeType, at: int, to: int = -1) -> Any:
        if not code.co_filename.startswith(_CODE):
            return self._monitoring().DISABLE
        edge, branch = (id(code), at, to), (id(code), at)
        if edge not in self.edges:
            self.edges.add(edge)
            self.new += 1
        self._asked[branch] = self._asked.get(branch, 0) + 1
        return self._monitoring().DISABLE if to < 0 or self._asked[branch] > 50 else None

    @staticmethod
    def _monitoring() -> Any:
        return sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from Python 3.12 on


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """One reader: how an input is read, and how one is made of others."""

    reader: str

    def take(self, one: Input, folder: Path, *, whole: bool) -> None:
        """Read an input, with `whole` all that a command does with it; raises what must not be raised."""
        with limited(SECONDS):
            if self.reader in BINARY:
                binary_fuzz.take(one.made(folder), folder, report=whole)
            else:
                text_fuzz.read(self.reader, one.name, one.data, folder)
            if whole and self.reader not in BINARY:
                text_fuzz.take(one.name, one.data, folder)

    def wrong(self, one: Input, folder: Path, *, whole: bool) -> str:
        """What is wrong with an input, "" if nothing."""
        try:
            self.take(one, folder, whole=whole)
        except (Exception, Slow):
            return traceback.format_exc()
        return ""

    def changed(self, source: random.Random, one: Input, other: Input) -> Input:
        change = binary_fuzz.mutated if self.reader in BINARY else text_fuzz.changed
        return Input(one.name, change(source, one.data, other.data))

    def samples(self, *folders: Path) -> list[Input]:
        """Real inputs, and those that were kept, below folders."""
        made = [Input(name, data) for name, data in binary_fuzz.SAMPLES.items() if self._is_own(Path(name))]
        return made + [
            Input(path.name.replace(" ", "_"), path.read_bytes())
            for folder in folders
            for path in sorted(folder.rglob("*"))
            if self._is_own(path) and path.is_file() and path.stat().st_size <= text_fuzz.LARGEST
        ]

    def _is_own(self, path: Path) -> bool:
        return any(path.match(pattern) for pattern in READERS[self.reader])

    def smaller(self, one: Input, reason: str, folder: Path) -> Input:
        """An input without what is not needed for the same reason, as far as it can be found out in time."""
        end, size = time.monotonic() + _MINIMISING, len(one.data) // 2
        while size and time.monotonic() < end:
            at = 0
            while at < len(one.data) and time.monotonic() < end:
                less = Input(one.name, one.data[:at] + one.data[at + size :])
                if summary(self.wrong(less, folder, whole=True)) == reason:
                    one = less
                else:
                    at += size
            size //= 2
        return one


def summary(reason: str) -> str:
    """The place and the error of a traceback: the same fault is told once."""
    if not reason:
        return ""
    places = re.findall(r'File ".*/(bwlint/.*?)", line (\d+), in (\w+)', reason)
    last = reason.strip().splitlines()[-1]
    if "Slow: " in last:
        return f"{last} in {next((place[0] for place in reversed(places)), '')}"
    return f"{last.partition(':')[0]} at {':'.join(places[-1][:2])}" if places else last


# The process that tries, and the one that watches it


def work(reader: str, seconds: float, seed: int, out: Path, corpus: Path | None) -> None:
    """Try inputs; what happens is printed line by line, the input in hand lies in `out`/current."""
    resource.setrlimit(resource.RLIMIT_AS, (MEBIBYTES << 20, MEBIBYTES << 20))
    end, fuzzed, source, coverage = time.monotonic() + seconds, Fuzzed(reader), random.Random(seed), Coverage()
    folders = (ROOT / "fixtures", ROOT / "tests" / "fuzz_corpus", *([corpus] if corpus else []))
    kept = [Input.of(path) for path in sorted((out / "kept").iterdir())]
    waiting = fuzzed.samples(*folders)
    source.shuffle(waiting)
    inputs, reasons = _inputs(fuzzed, source, [], [*kept, *waiting]), set[str]()
    coverage.watch()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for runs, (one, pool) in enumerate(inputs, 1):
            (out / "current").write_bytes(one.name.encode() + b"\n" + one.data)
            coverage.new = 0
            wrong = fuzzed.wrong(one, folder, whole=False)
            if not wrong and (coverage.new or source.random() < 0.02):
                wrong = fuzzed.wrong(one, folder, whole=True)
            if wrong and summary(wrong) not in reasons:
                reasons.add(summary(wrong))
                small = fuzzed.smaller(one, summary(wrong), folder)
                _say(kind="wrong", input=str(small.write(out)), reason=wrong)
            elif not wrong and coverage.new:
                pool.append(one)
                one.write(out / "kept")
            if runs % 200 == 0:
                coverage.again()
            _say(kind="so far", edges=len(coverage.edges))
            if time.monotonic() > end or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _GROWN * 1024:
                return


def _inputs(
    fuzzed: Fuzzed, source: random.Random, pool: list[Input], waiting: Sequence[Input]
) -> Iterator[tuple[Input, list[Input]]]:
    """Each input, and the pool into which it goes where it is new."""
    for one in waiting:
        yield one, pool
    while True:
        some = pool or waiting
        # The newer half is chosen as often as all of the others.
        one = source.choice(some[len(some) // 2 :] if source.random() < 0.5 else some)
        yield fuzzed.changed(source, one, source.choice(waiting)), pool


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


@dataclass(slots=True)
class Outcome:
    """What came of fuzzing a reader: inputs tried, edges taken, and what went wrong, the input of each reason."""

    reader: str
    runs: int = 0
    edges: int = 0
    wrong: dict[str, str] = field(default_factory=dict)

    def take(self, line: str) -> None:
        said = json.loads(line)
        if said["kind"] == "so far":
            self.runs, self.edges = self.runs + 1, max(self.edges, said["edges"])
            return
        self.add(said["reason"], Path(said["input"]))

    def add(self, reason: str, path: Path) -> None:
        if self.wrong.setdefault(summary(reason), str(path)) == str(path):
            path.with_name(path.name + ".reason").write_text(reason, "utf-8")

    def __str__(self) -> str:
        hangs = sum("Slow: " in reason for reason in self.wrong)
        counts = f"{self.runs:8,} executions {len(self.wrong) - hangs:3} crashes {hangs:3} hangs"
        return f"{self.reader:14}{counts} {self.edges:7,} edges"


def fuzz(reader: str, seconds: float, seed: int, out: Path, corpus: Path | None) -> Outcome:
    """Have a process try inputs of a reader for so long, and another one when it dies, grows or falls silent."""
    outcome, end, folder = Outcome(reader), time.monotonic() + seconds, out / reader
    (folder / "kept").mkdir(parents=True, exist_ok=True)
    while (left := end - time.monotonic()) > 1:
        command = [sys.executable, __file__, reader, "--worker", str(left), "--seed", str(seed), "--out", str(folder)]
        command += ["--corpus", str(corpus)] if corpus else []
        with (folder / "stderr").open("wb") as errors:
            died = _followed(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True), outcome)
        if died:
            said = (folder / "stderr").read_text("utf-8", "replace")
            current = folder / "current"
            name, _, data = (current.read_bytes() if current.exists() else b"before-the-first").partition(b"\n")
            outcome.add(f"{said}\n{died}", Input(name.decode(), data).write(folder))
        seed += 1
    return outcome


def _followed(process: subprocess.Popen[str], outcome: Outcome) -> str:
    """Take in what a process says until it ends; why it ended, where it should not have, or ""."""
    assert process.stdout is not None
    lines = process.stdout
    with ThreadPoolExecutor(1) as pool:
        try:
            while line := pool.submit(lines.readline).result(_SILENCE):
                outcome.take(line)
        except TimeoutError:
            process.kill()
            return f"silent for {_SILENCE} seconds"
    status = process.wait()
    return f"the process ended with {status}" if status else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="+", choices=[*READERS, "all"], metavar="READER", help=", ".join(READERS))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=120)
    parser.add_argument("--out", type=Path, help="a folder for inputs: those that go wrong, and in kept/ new ones")
    parser.add_argument("--corpus", type=Path, help="a folder of further inputs")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--worker", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="fuzz-"))
    if options.worker:
        work(options.readers[0], options.worker, options.seed, out, options.corpus)
        return 0
    readers = list(READERS) if "all" in options.readers else options.readers
    seconds = 60 * options.minutes / ceil(len(readers) / options.processes)
    run: Callable[[str], Outcome] = lambda reader: fuzz(reader, seconds, options.seed, out, options.corpus)  # noqa: E731
    with ThreadPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(run, readers))
    for outcome in outcomes:
        print(outcome)
    for outcome in outcomes:
        for reason, path in outcome.wrong.items():
            print(f"WRONG {outcome.reader}: {reason}\n  {path}")
    return 1 if any(outcome.wrong for outcome in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main())
