"""The host architecture that a build list is for: GB10 exists in aarch64 machines only."""

from __future__ import annotations

import re

X86, ARM = "x86_64", "aarch64"
_NAMED = {X86: re.compile(r"x86[-_]?64|amd64", re.I), ARM: re.compile(r"aarch64|arm64|sbsa", re.I)}
_DENIED = re.compile(r"!=|-ne\b|\bNOT\b|\bnot\b|^\s*!")
_OR = re.compile(r"\|\||\bOR\b|\bor\b|\s-o\s")
_AND = re.compile(r"&&|\bAND\b|\band\b|\s-a\s")
_EMULATED = re.compile(r"qemu|\bplatforms?\b[^\n]{0,40}\$|uses:[ \t]*\./", re.I)
"""A platform that is given from elsewhere, or a workflow that has jobs of its own."""
_RUNNERS = {
    X86: re.compile(r"\bubuntu-(?:latest|\d\d\.\d\d)(?![\w.-])|\bwindows-(?:latest|20\d\d)(?![\w.-])", re.I),
    ARM: re.compile(r"\b(?:ubuntu-\d\d\.\d\d|windows-11)-arm\b", re.I),
}
"""The machines that GitHub lends: docs.github.com, GitHub-hosted runners, standard runners for public repositories."""


def host_of(text: str) -> str:
    """The one host that a text names; "" for none, or both."""
    named = [host for host, pattern in _NAMED.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else ""


def other(host: str) -> str:
    """The host of the branch beside one's: there are two that CUDA is made for."""
    return {X86: ARM, ARM: X86}.get(host, "")


def of_condition(text: str) -> str:
    """The one host for which a condition may hold; "" where it may for both."""
    hosts = {next(filter(None, map(_asked, _AND.split(part))), "") for part in _OR.split(text)}
    return hosts.pop() if len(hosts) == 1 else ""


def of_denied(text: str) -> str:
    """The one host for which a condition may fail; "" where it may for both, as where it asks for more."""
    hosts = (_asked(part) for part in _OR.split(text) if not _AND.search(part))
    return other(next(filter(None, hosts), ""))


def _asked(text: str) -> str:
    """The host that one test asks for."""
    host = host_of(text)
    return other(host) if host and _DENIED.search(text) else host


def of_job(text: str) -> str:
    """The host of a job of a workflow: the one that it names, or that its lent machine is where nothing is emulated."""
    emulates = _EMULATED.search(text) is not None
    lent = [host for host, runner in _RUNNERS.items() if not emulates and runner.search(text)]
    named = [host for host, pattern in _NAMED.items() if pattern.search(text)]
    hosts = {*lent, *named}
    return hosts.pop() if len(hosts) == 1 else ""


def without_host(name: str) -> str:
    """A variable's name without that of a host in it."""
    for pattern in _NAMED.values():
        name = pattern.sub("", name)
    return name
