"""`--fix` that is killed at any moment, and two of them at once, on a small tree: no file may be torn, no word untrue.

    python tools/fix_stress.py --kills 1000 --pairs 200 [--seed 1]

Half of the kills hit a whole run, half the moments in which it writes; half of the pairs are whole runs, half only
write, from the same start. Each run is a child of one process that has all of bwlint loaded.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from bwlint import cli
from bwlint.repair.passes import groups, repaired
from bwlint.repair.write import Replacement, left_behind, recovered, write
from bwlint.run.request import CheckRequest
from bwlint.sources import held

_GUARD = "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200\n#define MOVES 1\n#endif\n"
_TEST = "import torch\n\nif torch.cuda.get_device_capability() != (12, 0):\n    raise RuntimeError('no')\n"
TREE = {**{f"together/{name}.cuh": _GUARD for name in "abcd"}, "one.py": _TEST, "two.py": _TEST}
_FIXED = re.compile(r"^bwlint: fixed (\d+) findings? in", re.M)
_NOT_FIXED = re.compile(r"^bwlint: not fixed: (\S+):", re.M)


@dataclass(frozen=True)
class Arena:
    """A folder with a tree, and what a fix makes of it."""

    folder: Path
    groups: Sequence[Sequence[Replacement]]
    fixes: int

    @classmethod
    def of(cls, folder: Path) -> Arena:
        made = cls(folder, (), 0)
        made.fresh()
        with ExitStack() as stack:
            found = repaired(CheckRequest((str(made.tree),), fixes=True, jobs=1), stack)
            return cls(folder, groups(found), len(found.done))

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    def fresh(self) -> None:
        shutil.rmtree(self.tree, ignore_errors=True)
        for name, text in TREE.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def runs(self) -> int:
        return cli.run(["check", "--fix", "--exit-zero", "--jobs", "1", "--format", "concise", str(self.tree)])

    def writes(self) -> int:
        for problem in write(self.groups):
            print(f"bwlint: not fixed: {problem.real}: {problem.reason}", file=sys.stderr)
        return 0

    def begun(self, what: Callable[[], int], at: int, told: str) -> int:
        """A child that does something `at` a moment (of the monotonic clock, in ns); what it says goes to a file."""
        (self.folder / told).write_text("")
        child = os.fork()
        if child:
            return child
        with (self.folder / told).open("w") as file, redirect_stderr(file), redirect_stdout(file):
            while time.monotonic_ns() < at:
                pass
            code = what()
        os._exit(code)

    def faults(self, *, is_over: bool) -> Iterator[str]:
        """What is wrong with the tree. What is not over may still be to be ended by the next run."""
        for group in self.groups:
            now = [Path(item.real).read_bytes() for item in group]
            kinds = {data == item.after for item, data in zip(group, now, strict=True)}
            if any(data not in (item.before, item.after) for item, data in zip(group, now, strict=True)):
                yield "a file is neither old nor new"
            if is_over and len(kinds) > 1:
                yield "files of one fix differ"
        names = {path.relative_to(self.tree).as_posix() for path in self.tree.rglob("*") if path.is_file()}
        if is_over and names != {*TREE}:
            yield f"left behind: {sorted(names - {*TREE})}"

    def new(self) -> set[str]:
        return {item.real for group in self.groups for item in group if Path(item.real).read_bytes() == item.after}


def killed(arena: Arena, what: Callable[[], int], seconds: float) -> Iterator[str]:
    """The faults of a run that is killed after a time, and of what the next one makes of that."""
    arena.fresh()
    begin = time.monotonic_ns()
    child = arena.begun(what, begin, "told")
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    yield from arena.faults(is_over=False)
    before, claimed = arena.new(), _FIXED.search((arena.folder / "told").read_text())
    if claimed and len(before) < len(TREE):
        yield "it said what it had not done"
    ended = [one for left in left_behind([str(arena.tree)]) for one in recovered(left)]
    if {one.real for one in ended} != before ^ arena.new():
        yield "what was ended is not what was said"
    yield from arena.faults(is_over=True)
    yield from (f"({one.how})" for one in ended[:1])
    yield f"({len(before)} of {len(TREE)} written)"


def pair(arena: Arena, what: Callable[[], int], apart: float) -> Iterator[str]:
    """The faults of two runs at once, the second some seconds after the first."""
    arena.fresh()
    start = time.monotonic_ns() + 5_000_000
    told = ["first", "second"]
    children = [arena.begun(what, start + int(number * apart * 1e9), name) for number, name in enumerate(told)]
    if any(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children):
        yield "a run failed"
    yield from arena.faults(is_over=True)
    if len(arena.new()) < len(TREE):
        yield "a file stayed as it was"
    said = [(arena.folder / name).read_text() for name in told]
    fixed = sum(int(match[1]) for text in said for match in _FIXED.finditer(text))
    if what == arena.runs and fixed != arena.fixes:
        yield f"{fixed} were said to be fixed, of {arena.fixes}"
    refused = [len(_NOT_FIXED.findall(text)) for text in said]
    if what == arena.writes and sum(refused) != len(TREE):
        yield f"{sum(refused)} were said not to be written, of {len(TREE)}"
    yield "(both wrote)" if all(count < len(TREE) for count in refused) and any(refused) else "(one wrote)"


def measured(arena: Arena, what: Callable[[], int]) -> float:
    """How long something takes, in seconds."""
    taken = []
    for _ in range(3):
        arena.fresh()
        began = time.monotonic()
        os.waitpid(arena.begun(what, 0, "told"), 0)
        taken.append(time.monotonic() - began)
    return sorted(taken)[1]


def stressed(folder: Path, kills: int, pairs: int, seed: int) -> Counter[str]:
    """How often each thing was seen; what stands in brackets is no fault."""
    os.environ |= {"XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache")}
    arena, dice, seen = Arena.of(folder.resolve()), random.Random(seed), Counter[str]()
    both = [(what, measured(arena, what)) for what in (arena.runs, arena.writes)]
    for number in range(kills):
        what, seconds = both[number % 2]
        seen.update(f"kill: {found}" for found in killed(arena, what, dice.uniform(0, seconds)))
    for number in range(pairs):
        what, seconds = both[number % 2]
        seen.update(f"pair: {found}" for found in pair(arena, what, dice.choice((0, dice.uniform(0, seconds / 2)))))
    held._SECONDS = 0  # nobody can be about to hold a journal that is still empty
    list(left_behind(["/"]))
    if left := list((folder / "state").rglob("*.fix")):
        seen["journals are left"] = len(left)
    return seen


def faults(seen: Counter[str]) -> list[str]:
    return [f"{count} x {found}" for found, count in sorted(seen.items()) if "(" not in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = stressed(Path(folder), options.kills, options.pairs, options.seed)
    for found, count in sorted(seen.items()):
        print(f"{count:6} {found}")
    return bool(faults(seen))


if __name__ == "__main__":
    sys.exit(main())
