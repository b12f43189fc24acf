"""Times `bwlint check` beside `ruff check --no-cache` on a tree, and the most memory that each takes.

    python benchmarks/speed.py TREE [--runs N]

Both run in the tree with the tree's own configuration, from a cold start of the program, turn about; the best of the
runs counts. Memory is the highest sum over all processes that was sampled, shared pages shared out (Linux only).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

COMMANDS = {
    "bwlint": [sys.executable, "-m", "bwlint", "check", "--no-cache", "--exit-zero", "--format", "concise", "."],
    "ruff": [sys.executable, "-m", "ruff", "check", "--no-cache", "--exit-zero", "--quiet", "."],
}
SAMPLE = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """Wall time in seconds; memory in MiB, of all processes together at its highest sample."""

    seconds: float
    memory: float


def resident(pid: int) -> float:
    """MiB that a process and its children hold; 0 where there is no /proc."""
    total = 0.0
    for status in Path("/proc").glob(f"{pid}/smaps_rollup"):
        total += sum(float(line.split()[1]) for line in _lines(status) if line.startswith("Pss:")) / 1024
    for children in Path("/proc").glob(f"{pid}/task/*/children"):
        total += sum(resident(int(child)) for line in _lines(children) for child in line.split())
    return total


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []  # the process has ended


def measured(command: list[str], tree: Path) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    highest = 0.0
    ended = threading.Event()

    def sample() -> None:
        nonlocal highest
        while not ended.wait(SAMPLE):
            highest = max(highest, resident(process.pid))

    watcher = threading.Thread(target=sample)
    watcher.start()
    code = process.wait()
    seconds = time.perf_counter() - start
    ended.set()
    watcher.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return Run(seconds, highest)


def best(runs: list[Run]) -> Run:
    return Run(min(run.seconds for run in runs), max(run.memory for run in runs))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time bwlint beside ruff on a tree.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    runs: dict[str, list[Run]] = {name: [] for name in COMMANDS}
    for _ in range(arguments.runs):
        for name, command in COMMANDS.items():
            runs[name].append(measured(command, arguments.tree))
    results = {name: best(found) for name, found in runs.items()}
    for name, run in results.items():
        print(f"{name:8}{run.seconds:8.2f} s{run.memory:8.0f} MiB")
    print(f"ratio   {results['bwlint'].seconds / results['ruff'].seconds:8.1f}")


if __name__ == "__main__":
    main()
