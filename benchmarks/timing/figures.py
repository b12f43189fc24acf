"""What was measured, and what is computed of it: medians with their spread, ratios of runs in the same round."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

from timing.process import Run

VERSION = 1
Sort = Literal["tree", "hook", "growth", "binary"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle, the least and the greatest of some numbers."""

    median: float
    low: float
    high: float


def spread(numbers: Iterable[float]) -> Spread:
    """Raises ValueError where there are none."""
    found = list(numbers)
    if not found:
        raise ValueError("nothing was measured")
    return Spread(median(found), min(found), max(found))


@dataclass(frozen=True, slots=True)
class Timing:
    """One program on one tree. `reason` says why there are no runs, or no more of them; "" where all were made.

    `files` and `mebibytes` are what it is given, where that is not the whole tree.
    """

    name: str
    command: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    reason: str = ""
    files: int | None = None
    mebibytes: float | None = None

    @property
    def seconds(self) -> Spread | None:
        return spread(run.seconds for run in self.runs) if self.runs else None

    @property
    def work(self) -> Spread | None:
        """Seconds of the processor: what others do on the machine counts less."""
        return spread(run.work for run in self.runs) if self.runs else None

    @property
    def memory(self) -> float | None:
        """MiB at the highest look of all runs."""
        return max((run.memory for run in self.runs if run.memory is not None), default=None)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long as `to` `of` takes, round by round; with `is_difference` how many seconds longer."""

    of: str
    to: str
    spread: Spread
    is_difference: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """What was measured in turns: the programs on a tree or a binary. `files` are those that bwlint reads."""

    name: str
    sort: Sort
    files: int
    mebibytes: float
    timings: tuple[Timing, ...]
    ratios: tuple[Ratio, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """All of a run: `machine` and `tools` in words, by what they are."""

    when: str
    machine: Mapping[str, str | float]
    tools: Mapping[str, str]
    groups: tuple[Group, ...]


def ratio(of: Timing, to: Timing) -> Ratio | None:
    """Round by round, as far as both were run; None where one of them never was."""
    pairs = _pairs(of, to)
    return Ratio(of.name, to.name, spread(one / other for one, other in pairs)) if pairs else None


def difference(of: Timing, to: Timing) -> Ratio | None:
    """The same in seconds."""
    pairs = _pairs(of, to)
    return Ratio(of.name, to.name, spread(one - other for one, other in pairs), is_difference=True) if pairs else None


def _pairs(of: Timing, to: Timing) -> list[tuple[float, float]]:
    return [(one.seconds, other.seconds) for one, other in zip(of.runs, to.runs, strict=False)]


def as_json(results: Results) -> str:
    """Every single run, with what follows from them."""
    groups = [
        {**asdict(group), "timings": [_with_figures(timing) for timing in group.timings]} for group in results.groups
    ]
    return json.dumps({"version": VERSION, **asdict(results), "groups": groups}, indent=1) + "\n"


def _with_figures(timing: Timing) -> dict[str, Any]:
    figures = {"seconds": timing.seconds, "work": timing.work}
    told = {name: None if found is None else asdict(found) for name, found in figures.items()}
    return {**asdict(timing), **told, "memory": timing.memory}


def from_json(text: str) -> Results:
    """What `as_json` has written. Raises ValueError for another version."""
    data = json.loads(text)
    if data["version"] != VERSION:
        raise ValueError(f"results of version {data['version']}, not {VERSION}")
    return Results(data["when"], data["machine"], data["tools"], tuple(map(_group, data["groups"])))


def _group(data: dict[str, Any]) -> Group:
    ratios = tuple(Ratio(**{**row, "spread": Spread(**row["spread"])}) for row in data["ratios"])
    return Group(**{**data, "timings": tuple(map(_timing, data["timings"])), "ratios": ratios})


def _timing(data: dict[str, Any]) -> Timing:
    given = {key: value for key, value in data.items() if key not in ("seconds", "work", "memory")}
    runs = tuple(Run(**run) for run in data["runs"])
    return Timing(**{**given, "command": tuple(data["command"]), "runs": runs})


def table(groups: Sequence[Group]) -> str:
    """The medians and ratios for people."""
    lines: list[str] = []
    for group in groups:
        lines += ["", f"{group.name}: {group.files} files, {group.mebibytes:.1f} MiB"]
        lines += [f"  {timing.name:34} {_told(timing)}" for timing in group.timings]
        lines += [
            f"  {one.of + (' over ' if one.is_difference else ' / ') + one.to:60} {_shown(one)}" for one in group.ratios
        ]
    return "\n".join(lines[1:])


def _told(timing: Timing) -> str:
    seconds, work, memory = timing.seconds, timing.work, timing.memory
    if seconds is None or work is None:
        return timing.reason
    held = "" if memory is None else f"{memory:.0f} MiB"
    spent = f"({seconds.low:.2f} to {seconds.high:.2f})"
    return f"{seconds.median:8.2f} s  {spent:20}  {work.median:8.2f} s of work  {held:>9}  {timing.reason}".rstrip()


def _named(one: Ratio) -> str:
    return f"{one.of} {'over' if one.is_difference else '/'} {one.to}"


def _shown(one: Ratio) -> str:
    found = one.spread
    return f"{found.median:.3g}{' s' if one.is_difference else ''}  ({found.low:.3g} to {found.high:.3g})"
