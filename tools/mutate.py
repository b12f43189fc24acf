"""What the tests would notice: the source is changed in one place at a time, and tests are run on each change.

    python tools/mutate.py --sample 200 --seed 1 --under src/bwlint/rules --under src/bwlint/judging \\
        --tests "tests/test_fixtures.py tests/rules" --tests tests/test_golden.py --jobs 2 mutants.jsonl

Every place is as likely to be drawn as any other, then one of the changes to it (`mutants.py`). `--tests` are arguments
of pytest, tried in their order until one fails. Each mutant is a line of the output; those that stand there already are
not tried again. Some changes change nothing (the bound of a loop that ends before it): survivors are to be read.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutants import Mutant, places

KILLED, SURVIVED, TIMEOUT = "killed", "survived", "timeout"
_KEY = ("file", "line", "start", "kind", "before", "after")
"""What tells mutants apart, of those that are drawn and those in an output."""
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
_PATIENCE, _GRACE = 4, 30
"""A test run may take so many times as long as without a change, and so many seconds more."""

Row = Mapping[str, Any]


def drawn(root: Path, under: Sequence[str], sample: int, seed: int) -> list[Mutant]:
    """As many mutants of files below some folders, or one of each place if there are fewer."""
    files = sorted({path for folder in under for path in (root / folder).rglob("*.py")})
    every = [place for path in files for place in places(path.relative_to(root).as_posix(), path.read_bytes())]
    draw = random.Random(seed)
    return [draw.choice(place) for place in draw.sample(every, min(sample, len(every)))]


@dataclass(frozen=True, slots=True)
class Bench:
    """A copy of the checkout, with the commands that test it and the seconds that each may take."""

    folder: Path
    limits: Mapping[str, float]

    def tried(self, mutant: Mutant) -> Row:
        """What becomes of a mutant; the copy is left as it was."""
        path = self.folder / mutant.file
        source, start = path.read_bytes(), time.monotonic()
        try:
            _put(path, mutant.applied(source))
            verdict, by = self._verdict()
        finally:
            _put(path, source)
        about = {name: value for name, value in asdict(mutant).items() if name in _KEY}
        return {**about, "verdict": verdict, "by": by, "seconds": round(time.monotonic() - start, 1)}

    def _verdict(self) -> tuple[str, str]:
        for command, limit in self.limits.items():
            code = tested(self.folder, command, limit)
            if code != 0:
                return (TIMEOUT if code is None else KILLED), command
        return SURVIVED, ""


def _put(path: Path, source: bytes) -> None:
    """Write a module, without what is compiled of it: that would pass for new within the same second."""
    path.write_bytes(source)
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def tested(folder: Path, command: str, limit: float | None = None) -> int | None:
    """The exit code of pytest on a copy of the checkout; None where it takes too long."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *shlex.split(command)]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(pytest, cwd=folder, env=environment, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


@contextmanager
def benches(root: Path, commands: Sequence[str], jobs: int) -> Iterator[list[Bench]]:
    """A copy of the checkout for each job. Raises ValueError where a command fails without any change."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        folders = [Path(scratch, str(number)) for number in range(jobs)]
        for folder in folders:
            shutil.copytree(root, folder, symlinks=True, ignore=_NOT_COPIED)
        limits = {command: _limit(folders[0], command) for command in commands}
        yield [Bench(folder, limits) for folder in folders]


def _limit(folder: Path, command: str) -> float:
    start = time.monotonic()
    if code := tested(folder, command):
        raise ValueError(f"pytest {command} ends with {code} before anything is changed")
    return _GRACE + _PATIENCE * (time.monotonic() - start)


def run(root: Path, mutants: Sequence[Mutant], commands: Sequence[str], output: Path, jobs: int = 1) -> list[Row]:
    """What becomes of each mutant: those that the output has are taken from there, the others are added to it."""
    text = output.read_text(encoding="utf-8") if output.exists() else ""
    known = {_key(row): row for row in map(json.loads, text.splitlines())}
    left = [mutant for mutant in mutants if _key(asdict(mutant)) not in known]
    if left:
        with benches(root, commands, jobs) as made, output.open("a", encoding="utf-8") as file:
            for row in _tried(left, made):
                known[_key(row)] = row
                file.write(json.dumps(row) + "\n")
                file.flush()
    return [known[_key(asdict(mutant))] for mutant in mutants]


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


def _tried(mutants: Iterable[Mutant], made: Sequence[Bench]) -> Iterator[Row]:
    """Rows as they come in, from as many benches as there are."""
    free: SimpleQueue[Bench] = SimpleQueue()
    for bench in made:
        free.put(bench)

    def on_a_free_bench(mutant: Mutant) -> Row:
        bench = free.get()
        try:
            return bench.tried(mutant)
        finally:
            free.put(bench)

    with ThreadPoolExecutor(len(made)) as pool:
        for future in as_completed([pool.submit(on_a_free_bench, mutant) for mutant in mutants]):
            yield future.result()


def summary(rows: Sequence[Row]) -> str:
    """How many mutants of each folder came to which end, and how many each command killed or hung on."""
    folders = Counter((str(Path(row["file"]).parent), row["verdict"]) for row in rows)
    lines = [f"{KILLED:>8} {SURVIVED:>8} {TIMEOUT:>8}  folder"]
    for name in sorted({folder for folder, _ in folders}):
        lines.append(" ".join(f"{folders[name, verdict]:>8}" for verdict in (KILLED, SURVIVED, TIMEOUT)) + f"  {name}")
    commands = Counter(row["by"] for row in rows)
    lines += [f"{count:>8} of {len(rows)} by {command or 'none'}" for command, count in commands.most_common()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--under", action="append", required=True)
    parser.add_argument("--tests", action="append", required=True)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    mutants = drawn(options.root, options.under, options.sample, options.seed)
    print(summary(run(options.root, mutants, options.tests, options.output, options.jobs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
