"""What code asks of a pair of GPUs, which path between them needs which answer, and what turns one on (peers.toml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bwlint.data import any_of, table


@dataclass(frozen=True, slots=True)
class PathOption:
    """What turns a path on: a variable, attribute, keyword or class of this name that is given this value."""

    name: re.Pattern[str]
    value: re.Pattern[str]
    path: str
    what: str
    clusters: bool
    """Whether the name may mean the multicast of a cluster as well."""


@cache
def options() -> tuple[PathOption, ...]:
    return tuple(
        PathOption(
            re.compile(row["name"]), re.compile(row["value"]), row["path"], row["what"], row.get("clusters", False)
        )
        for row in table("peers")["option"]
    )


_SETS_DEVICE = re.compile(r"[sS]et_?[dD]evice\s*\(\s*([^()]*?)\s*\)")
_SEVERAL = re.compile(r"rank|world|visible_?devices|device_?count", re.I)


def on_one_device(text: str) -> bool:
    """Whether a program takes one GPU by its number and speaks of no other: its processes share that one's memory."""
    taken = set(_SETS_DEVICE.findall(text))
    return len(taken) == 1 and all(map(str.isdigit, taken)) and _SEVERAL.search(text) is None


@cache
def hints() -> tuple[str, ...]:
    """Words, one of which a file has in it where an option may be named."""
    return tuple(dict.fromkeys(hint for row in table("peers")["option"] for hint in row["hint"]))


@cache
def _subjects() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    return tuple((re.compile(row["name"]), row["path"], row["what"]) for row in table("peers")["subject"])


def subject(names: str) -> tuple[str, str] | None:
    """The path that names are about, and what it uses in words."""
    return next(((path, what) for pattern, path, what in _subjects() if pattern.search(names)), None)


def tells_link_speed(text: str) -> bool:
    """Whether a text names a function that tells the bandwidth of NVLink."""
    return any_of("peers", "speed").search(text) is not None


def remote_pointers() -> str:
    """A piece for functions that give a pointer to another GPU's memory."""
    return any_of("peers", "pointer").pattern


@cache
def libraries() -> frozenset[str]:
    """How the names of libraries begin whose memory is other GPUs' too."""
    return frozenset(row["library"] for row in table("peers")["pointer"])


@cache
def skips() -> tuple[tuple[re.Pattern[str], bool], ...]:
    """Names of environment variables that leave out the test of a pair, and whether by being set."""
    return tuple((re.compile(row["name"]), row["on"]) for row in table("peers")["skip"])


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((row["kind"], re.compile(row["name"])) for row in table("peers")["proof"])


@cache
def _needed() -> dict[str, frozenset[str]]:
    return {row["name"]: frozenset(row["proofs"]) for row in table("peers")["path"]}


def proofs(code: str) -> frozenset[str]:
    """The kinds of proof that a text names. Comments and messages should be taken out of it before."""
    return frozenset(kind for kind, pattern in _patterns() if pattern.search(code))


@cache
def _queries() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((row["kind"], re.compile(row["query"])) for row in table("peers")["proof"] if "query" in row)


def queries(code: str) -> frozenset[str]:
    """The kinds of proof for which a text asks the driver."""
    return frozenset(kind for kind, pattern in _queries() if pattern.search(code))


def proved(path: str, found: frozenset[str]) -> bool:
    """Whether one of the kinds shows that a path works."""
    return not found.isdisjoint(_needed()[path])
