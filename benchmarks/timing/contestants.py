"""What is run in turns: commands, each with what has to be done before it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bwlint.sources.walk import SourceFile
from timing import words
from timing.figures import Timing
from timing.process import Failed, Run, run
from timing.tools import QUIET, Absent, Tool
from timing.trees import Copy, change

COLD, UNCHANGED, CHANGED = "bwlint, no index", "bwlint, index, unchanged", "bwlint, index, one file changed"
HOOK, HOOK_AGAIN, HOOK_CHANGED = "hook, no index", "hook, index, unchanged", "hook, index, all five changed"
PYTHON, INSPECT = "python -c pass", "bwlint inspect"
RULES = Path(__file__).parents[1] / "semgrep"

Prepare = Callable[[int], None]
"""What is done before a round, by its number; it is not timed."""


def _nothing(_: int) -> None:
    pass


@dataclass(frozen=True)
class Contestant:
    """A program with its arguments; `rounds` is in how many it takes part, None for all."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Prepare = _nothing
    rounds: int | None = None
    files: int | None = None
    mebibytes: float | None = None


@dataclass(frozen=True)
class Bwlint:
    """A checkout and what its index is in."""

    checkout: Path
    index: Path

    @property
    def environment(self) -> dict[str, str]:
        # Nothing is imported from the tree in which it runs.
        own = {"PYTHONPATH": str(self.checkout / "src"), "PYTHONSAFEPATH": "1"}
        return {**own, "BWLINT_CACHE_DIR": str(self.index)}


def checking(*more: str) -> tuple[str, ...]:
    return _bwlint("check", "--exit-zero", "--format", "concise", *more)


def _bwlint(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "bwlint", *arguments)


def cold(bwlint: Bwlint, copy: Copy, name: str = COLD, rounds: int | None = None) -> Contestant:
    command = checking("--no-cache", ".")
    return Contestant(name, command, copy.folder, bwlint.environment, _nothing, rounds, len(copy.files), copy.mebibytes)


def warm(bwlint: Bwlint, copy: Copy, edited: Sequence[SourceFile]) -> Iterator[Contestant]:
    """With an index that the last run has left, and with one that knows all but one file: in each round another."""

    def edit(round_number: int) -> None:
        if edited:
            change(edited[round_number % len(edited)], round_number)

    command = checking(".")
    yield Contestant(UNCHANGED, command, copy.folder, bwlint.environment)
    if edited:
        yield Contestant(CHANGED, command, copy.folder, bwlint.environment, edit)


def hook(bwlint: Bwlint, copy: Copy, edited: Sequence[SourceFile]) -> Iterator[Contestant]:
    """What pre-commit runs. Where all five are changed, the index knows the rest of the tree."""
    names = tuple(str(Path(file.real).relative_to(copy.folder)) for file in edited)
    indexed = checking("--force-exclude", *names)

    def edit(round_number: int) -> None:
        for file in edited:
            change(file, round_number)

    yield Contestant(PYTHON, (sys.executable, "-c", "pass"), copy.folder)
    yield Contestant(HOOK, checking("--no-cache", "--force-exclude", *names), copy.folder, bwlint.environment)
    yield Contestant(HOOK_CHANGED, indexed, copy.folder, bwlint.environment, edit)
    yield Contestant(HOOK_AGAIN, indexed, copy.folder, bwlint.environment)


def others(tools: Sequence[Tool | Absent], copy: Copy, scratch: Path) -> Iterator[Contestant | Timing]:
    """The other programs on a tree; a `Timing` without runs for one that is not there."""
    patterns = scratch / "words.txt"
    patterns.write_text("\n".join(words.expressions()) + "\n")
    globs = [f"--glob={glob}" for glob in words.globs()]
    arguments = {
        "ruff": ["check", "--no-cache", "--exit-zero", "--quiet", "."],
        "semgrep": [
            *("scan", "--config", str(RULES), "--metrics=off", "--disable-version-check"),
            *("--no-git-ignore", "--json", "."),
        ],
        "ripgrep": ["--files-with-matches", "--hidden", f"--file={patterns}", *globs, "."],
    }
    own = {"SEMGREP_SETTINGS_FILE": str(scratch / "semgrep.yml"), "SEMGREP_LOG_FILE": str(scratch / "semgrep.log")}
    for tool in tools:
        if isinstance(tool, Absent):
            yield Timing(tool.name, reason=tool.reason)
        elif tool.name in arguments:
            yield Contestant(tool.name, (tool.program, *arguments[tool.name]), copy.folder, {**QUIET, **own})


def inspecting(bwlint: Bwlint, file: Path, name: str = INSPECT, rounds: int | None = None) -> Contestant:
    command = _bwlint("inspect", "--exit-zero", str(file))
    return Contestant(name, command, file.parent, bwlint.environment, _nothing, rounds)


def dumping(cuobjdump: Tool | Absent, file: Path) -> Iterator[Contestant | Timing]:
    """A list of the images of a library, and one of what its kernels use: `bwlint inspect` reads both."""
    for name, options in (("cuobjdump, images", ("-lelf", "-lptx")), ("cuobjdump, resources", ("-res-usage",))):
        if isinstance(cuobjdump, Absent):
            yield Timing(name, reason=cuobjdump.reason)
        else:
            yield Contestant(name, (cuobjdump.program, "-all", *options, str(file)), file.parent)


def in_turns(
    contestants: Sequence[Contestant | Timing], rounds: int, tell: Callable[[str], None]
) -> tuple[Timing, ...]:
    """Every contestant in each round, one after the other. Who fails takes part no more, and it is said why."""
    runs: dict[str, list[Run]] = {one.name: [] for one in contestants}
    failed: dict[str, str] = {}
    for number in range(rounds):
        for one in contestants:
            if isinstance(one, Timing) or one.name in failed or number >= (one.rounds or rounds):
                continue
            one.prepare(number)
            try:
                made = run(one.command, one.folder, one.environment)
            except Failed as reason:
                failed[one.name] = str(reason)
                tell(f"{one.name}: {reason}")
                continue
            runs[one.name].append(made)
            tell(f"{number + 1}/{rounds} {one.name}: {made.seconds:.2f} s")
    return tuple(
        one
        if isinstance(one, Timing)
        else Timing(one.name, one.command, tuple(runs[one.name]), failed.get(one.name, ""), one.files, one.mebibytes)
        for one in contestants
    )
