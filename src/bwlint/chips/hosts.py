"""For which host a list is: GB10 is found in aarch64 machines alone, and a build for x86_64 needs nothing for it."""

from __future__ import annotations

import re

X86, ARM = "x86_64", "aarch64"
_NAMED = {X86: re.compile(r"x86[-_]?64|amd64", re.I), ARM: re.compile(r"aarch64|arm64|sbsa", re.I)}
_DENIED = re.compile(r"!=|-ne\b|\bNOT\b|^\s*!")


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
