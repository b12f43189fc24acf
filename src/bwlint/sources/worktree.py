"""The git tree around repaired files: where it begins, and whether it holds changes that are not committed; and a
commit of a local repository as files, without a clone.

Nothing that the repository configures is run: no hook, no monitor, no filter, no transport, no submodule.
"""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import quote, urlsplit

from bwlint.sources.pypi import SourceError

SECONDS = 10
NO_GIT = "git is not installed"
SAFE = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never", "-c", "core.untrackedCache=false"),
)
"""Options with which git runs nothing that a repository names, and reaches no other machine."""
_LINK, _SUBMODULE = "120000", "160000"


@cache
def top_of(folder: str) -> str | None:
    """The top of the git tree that holds a folder (a real path), or None."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def tops(reals: Iterable[str]) -> list[str]:
    """The tops of the git trees that files (real paths) are in."""
    return sorted({top for real in reals if (top := top_of(os.path.dirname(real))) is not None})


def base_of(reals: Iterable[str], here: str) -> str:
    """Where the paths of a patch (real) begin: the git tree of all files, else `here`, else what holds them all."""
    common = os.path.commonpath([os.path.dirname(real) for real in reals])
    return top_of(common) or (here if is_in(common, here) else common)


def is_in(folder: str, base: str) -> bool:
    """Whether a folder is `base` or below it."""
    return folder == base or folder.startswith(base.rstrip(os.sep) + os.sep)


def uncommitted(top: str) -> bool:
    """Whether tracked files differ from the index. Where git does not say so soon and safely: no."""
    entries = (_changes(top) or "").split("\0")
    return any(len(entry) > 3 and entry[1] in "MTD" and entry[2] == " " for entry in entries)


def commit_of(top: str) -> str | None:
    """The commit that is checked out, as hex digits; None where git does not say."""
    return revision_of(top, "HEAD")


def revision_of(top: str, name: str) -> str | None:
    """The commit that a revision (`HEAD~2`, a branch, a tag, digits) names, as hex digits; None where there is none."""
    code, said = asked(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return said.strip() or None if code == 0 else None


def has_commits(top: str) -> bool:
    """Whether a repository has a commit, on any branch. True where git does not say."""
    code, said = asked(top, "rev-list", "--all", "--max-count=1")
    return code != 0 or bool(said.strip())


def origin_of(top: str) -> str | None:
    """The address of the repository that a tree was cloned from, as a URI without a user's name or password."""
    said = asked(top, "config", "--get", "remote.origin.url")[1].strip()
    short = re.fullmatch(r"(?:[^@/:\s]+@)?([\w.-]+):(?!/)([\w./~+-]+)", said)
    if short is not None:
        return f"ssh://{short[1]}/{short[2]}"
    try:
        parts = urlsplit(said)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    if parts.scheme not in ("https", "http", "ssh", "git") or not parts.hostname:
        return None
    return f"{parts.scheme}://{parts.hostname}{port}{quote(parts.path, safe='/%~+')}"


def has_changes(top: str) -> bool | None:
    """Whether tracked files differ from the commit, staged or not. None where git does not say so soon and safely."""
    listed = _changes(top)
    return None if listed is None else bool(listed)


def _changes(top: str) -> str | None:
    """What git lists of tracked files that differ; None where it does not say so soon and safely."""
    if not _has_safe_filters(top):
        return None
    code, listed = asked(top, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")
    return listed if code == 0 else None


def _has_safe_filters(top: str) -> bool:
    """Whether git would run no program that the repository itself names, to compare files with the index."""
    code, listed = asked(top, "config", "--show-scope", "--includes", "--name-only", "-z", "--get-regexp", r"^filter\.")
    if code == 1:
        return True
    scopes = listed.split("\0")[:-1:2]
    return code == 0 and all(scope in ("system", "global", "command") for scope in scopes)


def identity(top: str) -> tuple[str, str] | None:
    """The user's name and address, as git knows them; None where it does not."""
    name, address = (asked(top, "config", "--get", key)[1].strip() for key in ("user.name", "user.email"))
    return (name, address) if name and address else None


def adds_returns(real: str) -> bool:
    """Whether git keeps a file with plain line feeds and adds the carriage returns when it checks it out."""
    top = top_of(os.path.dirname(real))
    code, said = asked(top, "ls-files", "--eol", "-z", "--", f":(literal){relative(real, top)}") if top else (-1, "")
    return code == 0 and said.startswith("i/lf ")


def is_shallow(top: str) -> bool:
    """Whether a clone was made without its whole history."""
    return asked(top, "rev-parse", "--is-shallow-repository")[1].strip() == "true"


def renamed(top: str, commit: str) -> dict[str, str]:
    """The files of the index that had another name in a commit, by their path from the top: the path then."""
    code, told = asked(top, "diff", "--cached", "-M", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff", commit)
    fields = told.split("\0")[:-1] if code == 0 else []
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def is_ignored(real: str) -> bool:
    """Whether git leaves a file out that it does not know yet."""
    top = top_of(os.path.dirname(real))
    return top is not None and asked(top, "check-ignore", "--quiet", "--", relative(real, top))[0] == 0


def _program(top: str) -> str | None:
    """The git of this machine; none that lies in the tree itself."""
    program = shutil.which("git")
    return program if program and os.path.isabs(program) and not is_in(os.path.realpath(program), top) else None


def asked(top: str, *arguments: str) -> tuple[int, str]:
    """The exit code of git and what it says of a tree; -1 where it does not run or has no end."""
    return answered(top, *arguments)[:2]


def answered(top: str, *arguments: str) -> tuple[int, str, str]:
    """The same, and why git says nothing: the first line of its errors, with the command that git itself advises."""
    program = _program(top)
    if program is None:
        return -1, "", NO_GIT
    try:
        done = subprocess.run(
            [program, *SAFE, *arguments],
            cwd=top,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return -1, "", f"git cannot be run: {error}"
    errors = os.fsdecode(done.stderr)
    advice = re.search(r"\n\s*(git config --global --add safe\.directory .+)", errors)
    fault = errors.partition("\n")[0] + (f": `{advice[1].strip()}`" if advice else "")
    return done.returncode, os.fsdecode(done.stdout), fault


@contextmanager
def talking(top: str, *arguments: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A git that answers questions about a tree: its stdin and stdout. Raises OSError where there is none."""
    program = _program(top)
    if program is None:
        raise FileNotFoundError(2, NO_GIT)
    pipe, command = subprocess.PIPE, [program, *SAFE, *arguments]
    with subprocess.Popen(
        command, cwd=top, env=environment(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipes")
        try:
            yield cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        finally:
            process.kill()


def environment() -> dict[str, str]:
    """That of the program, without what makes git look elsewhere or ask somebody."""
    kept = {key: value for key, value in os.environ.items() if not _steers(key)}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _steers(key: str) -> bool:
    return key.startswith("GIT_") and key not in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def relative(real: str, base: str) -> str:
    """The path of a file from `base`, with slashes."""
    return os.path.relpath(real, base).replace(os.sep, "/")


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    name: str
    path: PurePosixPath


def export(top: str, commit: str, folder: Path) -> int:
    """Write the files of a commit, submodules too, into a new folder; how many are missing. Raises SourceError."""
    code, listed = asked(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    if code:
        raise SourceError(f"git cannot list the files of {commit[:12]}")
    (folder / ".git").mkdir(parents=True)  # where a tree begins
    entries = list(_entries(listed))
    submodules = [entry for entry in entries if entry.mode == _SUBMODULE]
    missing = _write(top, [entry for entry in entries if entry.mode != _SUBMODULE], folder)
    for entry in submodules:
        missing += _submodule(os.path.join(top, *entry.path.parts), entry, folder.joinpath(*entry.path.parts))
    return missing


def _submodule(top: str, entry: _Entry, folder: Path) -> int:
    if not os.path.lexists(os.path.join(top, ".git")):
        return 0  # nobody has it here, then or now
    try:
        return export(top, entry.name, folder)
    except (SourceError, OSError):
        return 1


def _entries(listed: str) -> Iterator[_Entry]:
    for line in listed.split("\0"):
        about, tab, path = line.partition("\t")
        parts = path.split("/")
        if tab and not any(part.lower() in ("", ".", "..", ".git") for part in parts):
            mode, _, name = about.split(" ")
            yield _Entry(mode, name, PurePosixPath(path))


def _write(top: str, entries: list[_Entry], folder: Path) -> int:
    """Links come last: nothing is written through one."""
    missing = 0
    with talking(top, "cat-file", "--batch") as (questions, answers):
        for entry in sorted(entries, key=lambda entry: entry.mode == _LINK):
            data = _content(entry.name, questions, answers)
            target = folder.joinpath(*entry.path.parts)
            try:
                if data is None:
                    raise FileNotFoundError
                target.parent.mkdir(parents=True, exist_ok=True)
                if entry.mode == _LINK:
                    target.symlink_to(os.fsdecode(data))
                else:
                    target.write_bytes(data)
            except (OSError, ValueError):  # also a name that no file of this system can have
                missing += 1
    return missing


def _content(name: str, questions: BinaryIO, answers: BinaryIO) -> bytes | None:
    """What git has of an object; None where that is missing. Raises SourceError where git has ended."""
    with suppress(BrokenPipeError):
        questions.write(name.encode() + b"\n")
        questions.flush()
    head = answers.readline().split()
    if not head:
        raise SourceError("git cat-file has ended")
    if len(head) != 3:  # "NAME missing"
        return None
    data = answers.read(int(head[2]))
    answers.read(1)
    return data
