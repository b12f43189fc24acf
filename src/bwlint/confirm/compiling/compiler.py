"""One run of nvcc or ptxas in a folder of its own, and what they say.

nvcc never sees a path of the scanned tree but those of include folders, whose letters were checked: it is given a file
of ours that includes the one in question. Paths are
checked before a compiler or a reader gets them.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bwlint.chips.toolkits import where_header_is
from bwlint.confirm import child
from bwlint.confirm.workbench import Toolkit
from bwlint.sources.worktree import is_in

KEPT = 2 << 20
"""Bytes of messages that are read: ptxas has one for every line that it refuses."""
_MOST_MEMORY = 16 << 30
# A message may quote the text that it is about: what counts begins its line.
_SAID = re.compile(r"^ptxas unit\.ptx, line (?P<line>\d{1,9}); (?P<level>error|warning|fatal) *: (?P<text>.*)", re.M)
_WHOLE = re.compile(r"^(?:ptxas|nvcc|nvlink) *(?P<level>error|warning|fatal) *: (?P<text>.*)", re.M)
_PLACED = re.compile(r"(?P<path>/[^\n:()]*|[\w.][^\n:()/]*)(?:\(\d+\)|:\d+(?::\d+)?): ")
# Lines of source are indented, whatever they say.
_TELLS = re.compile(
    r"\S.*\b(?:error|fatal|warning)\b|(?:error|fatal|warning)\b|\s+(?:detected during|instantiation of|at line )"
)
_SYSTEM = ("/usr/", "/opt/", "/nix/", "/Library/")
_MISSING = re.compile(r"error: ([\w.+/-]+): No such file")
_ABORTED = "Ptx assembly aborted due to errors"
_UNKNOWN_TARGET = re.compile(
    r"Value '\w+' is not defined for option 'gpu-name'|Unsupported gpu architecture '\w+'"
    r"|Unsupported gpu architecture: '\w+'"
)


@dataclass(frozen=True, slots=True)
class Message:
    """What ptxas says of a line of PTX, or of the whole (line 0)."""

    level: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CompilerRun:
    """What a run made: `path` is None where there is nothing. `trouble` is why it did not end by itself. `folders` are
    those of which messages may tell."""

    path: Path | None
    code: int | None
    output: str
    seconds: float
    trouble: str
    folders: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        found = [
            Message(match["level"], int(match["line"]), match["text"].strip()) for match in _SAID.finditer(self.output)
        ]
        found += [
            Message(match["level"], 0, match["text"].strip())
            for match in _WHOLE.finditer(self.output)
            if _ABORTED not in match["text"]
        ]
        return tuple(found)

    @property
    def first_error(self) -> str:
        """The first line that says what is wrong, in the tool's own words."""
        if self.trouble:
            return self.trouble
        wrong = next((line for line in self.said if re.search(r"error|fatal", line)), "")
        return cut(wrong.strip()) or f"exit status {self.code}"

    @property
    def hint(self) -> str:
        """What may help against the first error, behind it."""
        missing = _MISSING.search(self.first_error)
        known = where_header_is(missing[1]) if missing else ""
        if known.startswith("pip"):
            return f" (`{known}` has it, and --nvcc-args -IFOLDER says where it is)"
        if known:
            return f" ({known})"
        return " (--nvcc-args -IFOLDER says where it is)" if "No such file" in self.first_error else ""

    @property
    def said(self) -> tuple[str, ...]:
        """The lines of messages, without the lines of source that follow them. A source can include any file that its
        user can read: one that is no header of the tree, of the system or of a toolkit, because
        receipts are made to be sent around."""
        found: list[str] = []
        for line in filter(_TELLS.match, self.output.splitlines()):
            placed = _PLACED.match(line)
            place = placed["path"] if placed else line
            # A text that is no absolute path is none of a file.
            if not place.startswith("/") or any(within(place, folder) for folder in (*self.folders, *_SYSTEM)):
                found.append(line.rstrip())
            else:
                found.append(f"{placed[0] if placed else ''}an error in a file that is no header of the tree")
        return tuple(found)

    @property
    def knows_target(self) -> bool:
        return _UNKNOWN_TARGET.search(self.output) is None


def cut(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def including(path: str) -> str | None:
    """A file that includes another; None where its name cannot be written between quotes."""
    return None if re.search(r'["\\\r\n\0]', path) else f'#include "{path}"\n'


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and with what one claim is compiled. `root` is the folder of its tree."""

    scratch: Path
    limit: float
    toolkit: Toolkit
    root: str

    @property
    def folders(self) -> tuple[str, ...]:
        """Those of which messages may tell."""
        program = self.toolkit.nvcc or self.toolkit.ptxas
        return (self.root, str(program.resolve().parents[1])) if program is not None else (self.root,)


_ASKED = {"ptx": ("-ptx", "-lineinfo"), "cubin": ("-cubin",), "ii": ("-E",), "fatbin": ("-fatbin",)}
"""Options for what nvcc makes: PTX with the lines that it came from, a cubin, the text of device code behind the
preprocessor, a fatbin for the targets that other options name."""


@lru_cache(maxsize=256)
def compiled(bench: Bench, what: str, source: str, options: tuple[str, ...], target: str = "") -> CompilerRun:
    """What nvcc makes of a source for one target ("sm_120a"). Each is made once a run: several findings are of one
    file."""
    folder, toolkit = _folder(bench.scratch), bench.toolkit
    (folder / "unit.cu").write_text(source, encoding="utf-8", errors="surrogateescape")
    assert toolkit.nvcc is not None and toolkit.host_compiler is not None
    number = target.removeprefix("sm_")
    code = ["-gencode", f"arch=compute_{number},code=sm_{number}"] if target else []
    start = [str(toolkit.nvcc), "-w", "-ccbin", str(toolkit.host_compiler), *code, *_ASKED[what]]
    return _run(bench, [*start, *options, "unit.cu", "-o", f"unit.{what}"], toolkit.nvcc, folder, f"unit.{what}")


@lru_cache(maxsize=256)
def assembled(bench: Bench, ptx: Path, target: str, *more: str) -> CompilerRun:
    """A cubin of PTX for one target ("sm_120a"), with `more` options."""
    folder = _folder(bench.scratch)
    assert bench.toolkit.ptxas is not None
    # A name of ours: messages do not tell where the scratch folder was.
    (folder / "unit.ptx").symlink_to(ptx)
    command = [str(bench.toolkit.ptxas), f"-arch={target}", *more, "unit.ptx", "-o", "unit.cubin"]
    return _run(bench, command, bench.toolkit.ptxas, folder, "unit.cubin")


def _run(bench: Bench, command: Sequence[str], program: Path, folder: Path, out: str) -> CompilerRun:
    ended = child.run(
        command, limit=bench.limit, folder=folder, path=[str(program.parent)], memory=_memory(), kept=KEPT
    )
    path = folder / out
    # PTX stays where ptxas, which nvcc asks at the end, refuses it. Anything else may be half of what it should be.
    whole = ended.code == 0 or (path.suffix == ".ptx" and not ended.trouble)
    made = path if whole and path.is_file() and path.stat().st_size else None
    return CompilerRun(made, ended.code, ended.output, ended.seconds, ended.trouble, bench.folders)


def _memory() -> int:
    """Bytes of address space for a compiler: large templates take gigabytes, endless ones all that there is."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return _MOST_MEMORY
    return min(_MOST_MEMORY, physical * 3 // 4)


def _folder(scratch: Path) -> Path:
    if not is_plain(str(scratch)):
        raise OSError(f"{scratch} has letters that nvcc would pass to a shell")
    return Path(tempfile.mkdtemp(prefix="made-", dir=scratch))


# In double quotes a shell leaves these alone; nvcc takes a comma for the end of a value.
_PLAIN = re.compile(r"[\w./+:@%= ~-]*")


def is_plain(path: str) -> bool:
    """Whether nvcc can be given a path: it writes its commands for a shell, between double quotes."""
    return _PLAIN.fullmatch(path) is not None


def is_file(path: str) -> bool:
    """Whether a path names a plain file: no device, no pipe."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def beginning(path: str, most: int) -> bytes:
    """As many bytes of a plain file; b"" for what is none, or cannot be read."""
    if not is_file(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it, all links followed."""
    return is_in(_real(path), _real(folder))


def same_file(one: str, other: str) -> bool:
    return one == other or _real(one) == _real(other)


@lru_cache(maxsize=8192)
def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
