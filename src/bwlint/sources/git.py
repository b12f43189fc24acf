"""Git repositories as trees to scan: one commit, fetched by the user's git, without prompts or hooks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from bwlint.sources.pypi import SourceError, plain
from bwlint.sources.worktree import SAFE, environment

SECONDS = 600
"""How long a repository may take to come."""
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])"
_USER = r"[A-Za-z0-9_][\w.-]*@"
_AUTHORITIES = {"https": rf"{_HOST}(?::[0-9]+)?", "ssh": rf"(?:{_USER})?{_HOST}(?::[0-9]+)?", "file": ""}
_SHORT = re.compile(rf"{_USER}{_HOST}:(?P<path>.+)")
"""What ssh has beside URLs: git@host:path."""
_REF = re.compile(r"[A-Za-z0-9_][\w./+-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PROTOCOLS = {"file": ("file",), "https": ("https", "ssh"), "ssh": ("https", "ssh")}
"""What git may speak; a user's own configuration often turns https into ssh."""


@dataclass(frozen=True, slots=True)
class Repository:
    """What `git fetch` takes: a branch, a tag or a whole commit of `url`. `scheme` is https, ssh or file."""

    url: str
    ref: str
    scheme: str


def is_repository(text: str) -> bool:
    """Whether a text names a repository by its address."""
    return "://" in text or bool(_SHORT.fullmatch(text))


def parse_repository(text: str) -> Repository:
    """``https://host/path[@ref]``, ssh, file, or ``user@host:path[@ref]`` (the last @ counts); raises SourceError."""
    text = text.removeprefix("git+")
    if not text.isprintable() or " " in text:
        raise SourceError(f"{plain(text)!r} has an unusual character")
    short = _SHORT.fullmatch(text)
    scheme, _, rest = ("ssh", "", text) if short else text.partition("://")
    if scheme not in _AUTHORITIES:
        raise SourceError(f"{scheme}:// is not read; write https://, ssh:// or file://")
    authority, _, path = ("", "", short["path"]) if short else rest.partition("/")
    if not short and not re.fullmatch(_AUTHORITIES[scheme], authority):
        raise SourceError(_why_not(scheme, authority))
    before, at, ref = path.rpartition("@")
    if at and (not before or not _REF.fullmatch(ref) or ".." in ref):
        raise SourceError(f"{ref!r} is not the name of a branch, tag or commit")
    return Repository(text.removesuffix(f"@{ref}") if at else text, ref if at else "HEAD", scheme)


def _why_not(scheme: str, authority: str) -> str:
    if "@" in authority:
        return "a name or password in an address would stand in reports; git's credential helper keeps them"
    if scheme == "file":
        return f"file://{authority}: write file:/// and a path of this machine"
    return f"{authority!r} is not the name of a host"


def commit_of(repository: Repository) -> str:
    """The commit that the repository has there now; raises SourceError."""
    return _found(repository, time.monotonic() + SECONDS)[1]


def check_out(repository: Repository, folder: Path) -> str:
    """The files of a repository into a new folder; the commit that they are of. Raises SourceError."""
    end = time.monotonic() + SECONDS
    name, _ = _found(repository, end)
    _git(repository, end, "init", "--quiet", "--template=", "--", str(folder))
    here = ("-C", str(folder))
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
    _git(repository, end, *here, *fetch, "--", repository.url, name)
    # Filters are what the user's configuration says of the attributes in the tree: none is read here.
    _git(repository, end, *here, "checkout", "--quiet", "--detach", "FETCH_HEAD", is_bare=True)
    return _git(repository, end, *here, "rev-parse", "--verify", "HEAD^{commit}").strip()


def _found(repository: Repository, end: float) -> tuple[str, str]:
    """The full name of what is asked for, and its commit."""
    ref = repository.ref
    if _COMMIT.fullmatch(ref):
        return ref, ref
    names = (ref, f"refs/tags/{ref}", f"refs/heads/{ref}")
    asked = [name + peeled for name in names for peeled in ("^{}", "")]
    listed = _git(repository, end, "ls-remote", "--", repository.url, *asked)
    there = {full: commit for commit, _, full in (line.partition("\t") for line in listed.splitlines())}
    for name in names:
        commit = there.get(f"{name}^{{}}") or there.get(name)
        if commit and (name == "HEAD" or name.startswith("refs/")):
            return name, commit
    raise SourceError(f"{plain(repository.url)} has no branch or tag {ref}; a commit is named by all its 40 digits")


def _git(repository: Repository, end: float, *arguments: str, is_bare: bool = False) -> str:
    """What git says; raises SourceError. `is_bare`: without the configuration of user and system."""
    program = shutil.which("git")
    if program is None or not os.path.isabs(program):  # noqa: PTH117
        raise SourceError("git is not installed")
    options = [f"protocol.{protocol}.allow=always" for protocol in _PROTOCOLS[repository.scheme]]
    options += ["core.askPass=", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false"]
    none = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"} if is_bare else {}
    try:
        done = subprocess.run(
            [program, *SAFE, *(part for option in options for part in ("-c", option)), *arguments],
            env={**environment(), "SSH_ASKPASS_REQUIRE": "never", "SSH_ASKPASS": "", **none},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=max(end - time.monotonic(), 1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"git: no end after {SECONDS // 60} minutes") from None
    except OSError as error:
        raise SourceError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        raise SourceError(f"git {arguments[2] if arguments[0] == '-C' else arguments[0]}: {_fault(done.stderr)}")
    return os.fsdecode(done.stdout)


def _fault(said: bytes) -> str:
    """Why git ended. Both ends say so at once, in any order."""
    lines = {line.strip() for line in os.fsdecode(said).splitlines()} - {""}
    own = (line for line in lines if not line.startswith(("remote: ", "error: ")))
    told = sorted(own, key=lambda line: (not line.startswith("fatal: "), line))
    return plain("; ".join(told) or "no reason given")
