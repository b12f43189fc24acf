"""Results of benchmarks that nobody measured."""

from __future__ import annotations

from collections.abc import Sequence

from timing.figures import Group, Ratio, Results, Spread, Timing
from timing.process import Run


def timing(
    name: str,
    *seconds: float,
    reason: str = "",
    memory: Sequence[float | None] | None = None,
    mebibytes: float | None = None,
) -> Timing:
    """A program that took so many seconds in each round; the processor worked half of them."""
    held = memory or [100.0] * len(seconds)
    runs = tuple(Run(one, one / 2, most) for one, most in zip(seconds, held, strict=True))
    return Timing(name, (name,) * bool(runs), runs, reason, None if mebibytes is None else 7, mebibytes)


_ABSENT = "not installed (semgrep is neither on PATH nor in a folder given with --tools)"
SMALL = Results(
    "2026-11-24T04:00+00:00",
    {"processor": "a chip", "cores": 2, "memory": "24 GiB", "system": "Linux", "python": "3.11", "load": 0.1},
    {"bwlint": "0.1.0", "bwlint, older": "0.0.1", "ruff": "0.17.6", "semgrep": _ABSENT},
    (
        Group(
            "tree & more",
            "tree",
            700,
            20.5,
            (
                timing("bwlint, no index", 8, 9, 10, memory=[290, 300, None]),
                timing("older", 20),
                timing("ruff", 2, 3, 5),
                timing("semgrep", reason=_ABSENT),
            ),
            (Ratio("bwlint, no index", "ruff", Spread(3, 3, 4)),),
        ),
        Group(
            "tree & more",
            "growth",
            700,
            20.5,
            tuple(timing(name, 8 * part, mebibytes=20 * part) for name, part in (("1/2", 0.5), ("1", 1.0))),
        ),
        Group(
            "tree & more",
            "hook",
            5,
            0.2,
            (timing("python -c pass", 0.05, memory=[None]), timing("hook, no index", 0.5)),
            (Ratio("hook, no index", "python -c pass", Spread(0.45, 0.45, 0.45), is_difference=True),),
        ),
        Group("moe", "binary", 1, 135, (timing("bwlint inspect", 0.4), timing("cuobjdump, images", 0.6))),
    ),
)
