"""For which host a list is: GB10 is found in aarch64 machines alone, and a build for x86_64 needs nothing for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

X86, ARM = "x86_64", "aarch64"
_NAMED = {X86: re.compile(r"x86[-_]?64|amd64", re.I), ARM: re.compile(r"aarch64|arm64|sbsa", re.I)}
_DENIED = re.compile(r"!=|-ne\b|\bNOT\b|^\s*!")
_KEY = re.compile(r"(?P<indent>[ \t]*(?P<dash>- +)?)(?P<key>[\w.-]+)[ \t]*:")
_MOST_LINES = 400


def host_of(text: str) -> str:
    """The one host that a text names; "" for none, or both."""
    named = [host for host, pattern in _NAMED.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else ""


def other(host: str) -> str:
    """The host of the branch beside one's: there are two that CUDA is made for."""
    return {X86: ARM, ARM: X86}.get(host, "")


def of_condition(text: str) -> str:
    """The host for which a condition holds; "" where it asks for more than that."""
    host = host_of(text)
    return other(host) if host and _DENIED.search(text) else host


def without_host(name: str) -> str:
    """A variable's name without that of a host in it."""
    for pattern in _NAMED.values():
        name = pattern.sub("", name)
    return name


@dataclass(frozen=True, slots=True)
class YamlPlace:
    """The keys that lead to a line of YAML, outermost first, and the lines of the mapping that it is one of."""

    keys: tuple[str, ...]
    beside: tuple[str, ...]


def yaml_place(lines: Sequence[str], number: int) -> YamlPlace:
    """Where a line of YAML stands, by indentation alone."""
    own = _KEY.match(lines[number])
    if own is None:
        return YamlPlace((), ())
    keys, indent, first = [own["key"]], len(own["indent"]), own["dash"] is not None
    beside = [*_below(lines[number + 1 : number + _MOST_LINES], indent)]
    for line in reversed(lines[max(0, number - _MOST_LINES) : number]):
        above = _KEY.match(line)
        if above is None or len(above["indent"]) > indent:
            continue
        if len(above["indent"]) < indent:
            keys.append(above["key"])
            indent, first = len(above["indent"]), True
        elif not first:
            beside.append(line)
            first = above["dash"] is not None
    return YamlPlace(tuple(reversed(keys)), tuple(beside))


def _below(lines: Sequence[str], indent: int) -> list[str]:
    """The keys behind one of the same mapping."""
    found: list[str] = []
    for line in lines:
        match = _KEY.match(line)
        if match is None:
            continue
        if len(match["indent"]) < indent or match["dash"]:
            return found
        if len(match["indent"]) == indent:
            found.append(line)
    return found
