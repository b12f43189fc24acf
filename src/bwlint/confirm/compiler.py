"""One run of nvcc or ptxas in a folder of its own, and what they say.

nvcc never sees a path of the scanned tree but those of include folders, whose letters were checked: it is given a file
of ours that includes the one in question.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bwlint.confirm import child
from bwlint.confirm.compile import plain
from bwlint.confirm.world import Toolkit, World

KEPT = 2 << 20
"""Bytes of messages that are read: ptxas has one for every line that it refuses."""
_MOST_MEMORY = 16 << 30
_UNIT, _PTX, _CUBIN, _TEXT = "unit.cu", "unit.ptx", "unit.cubin", "unit.ii"
_SAID = re.compile(r"ptxas (?P<file>[^\n]*?), line (?P<line>\d{1,9}); (?P<level>error|warning|fatal) *: (?P<text>.*)")
_WHOLE = re.compile(r"(?:ptxas|nvcc|nvlink) *(?P<level>error|warning|fatal) *: (?P<text>.*)")
_FRONT = re.compile(r"^(?:(?P<place>.*?): (?:fatal )?|)error\b(?: #\d+[-\w]*)?: .*", re.MULTILINE)
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
class Made:
    """What a run made: `path` is None where there is nothing. `trouble` is why it did not end by itself."""

    path: Path | None
    code: int | None
    output: str
    seconds: float
    trouble: str

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
        found = _FRONT.search(self.output) or re.search(r"^.*(?:error|fatal).*", self.output, re.MULTILINE)
        lines = found[0] if found else next((line for line in self.output.splitlines() if line.strip()), "")
        return cut(lines.strip()) or f"exit status {self.code}"

    @property
    def knows_target(self) -> bool:
        return _UNKNOWN_TARGET.search(self.output) is None


def cut(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def including(path: str) -> str | None:
    """A file that includes another; None where its name cannot be written between quotes."""
    return None if re.search(r'["\\\r\n\0]', path) else f'#include "{path}"\n'


def to_ptx(world: World, toolkit: Toolkit, source: str, options: tuple[str, ...], target: str) -> Made:
    """PTX of a source for one target ("sm_120a"), with the lines that it came from. Each is made once a run."""
    return _nvcc(world.scratch, world.compile_limit, toolkit, source, ("-ptx", "-lineinfo", *options), target, _PTX)


def preprocessed(world: World, toolkit: Toolkit, source: str, options: tuple[str, ...], target: str) -> Made:
    """The text of a source behind the preprocessor, as device code of one target sees it."""
    return _nvcc(world.scratch, world.compile_limit, toolkit, source, ("-E", *options), target, _TEXT)


def built(world: World, toolkit: Toolkit, source: str, options: tuple[str, ...]) -> Made:
    """A fatbin of a source, for the targets that the options name."""
    return _nvcc(world.scratch, world.compile_limit, toolkit, source, ("-fatbin", *options), "", "unit.fatbin")


def assembled(world: World, toolkit: Toolkit, ptx: Path, target: str, *options: str) -> Made:
    """A cubin of PTX for one target ("sm_120a")."""
    return _ptxas(world.scratch, world.compile_limit, toolkit, ptx, target, options)


@lru_cache(maxsize=256)
def _nvcc(
    scratch: Path, limit: float, toolkit: Toolkit, source: str, options: tuple[str, ...], target: str, out: str
) -> Made:
    folder = _folder(scratch)
    (folder / _UNIT).write_text(source, encoding="utf-8", errors="surrogateescape")
    assert toolkit.nvcc is not None and toolkit.host_compiler is not None
    number = target.removeprefix("sm_")
    code = ["-gencode", f"arch=compute_{number},code=sm_{number}"] if target else []
    command = [str(toolkit.nvcc), "-w", "-ccbin", str(toolkit.host_compiler), *code, *options, _UNIT, "-o", out]
    return _run(command, toolkit.nvcc, folder, limit, out)


@lru_cache(maxsize=256)
def _ptxas(scratch: Path, limit: float, toolkit: Toolkit, ptx: Path, target: str, options: tuple[str, ...]) -> Made:
    folder = _folder(scratch)
    assert toolkit.ptxas is not None
    # A name of ours: messages do not tell where the scratch folder was.
    (folder / _PTX).symlink_to(ptx)
    command = [str(toolkit.ptxas), f"-arch={target}", *options, _PTX, "-o", _CUBIN]
    return _run(command, toolkit.ptxas, folder, limit, _CUBIN)


def _run(command: Sequence[str], program: Path, folder: Path, limit: float, out: str) -> Made:
    ended = child.run(command, limit=limit, folder=folder, path=[str(program.parent)], memory=_memory(), kept=KEPT)
    path = folder / out
    # Whatever is there when the time is up may be half of it.
    made = path if not ended.trouble and path.is_file() and path.stat().st_size else None
    return Made(made, ended.code, ended.output, ended.seconds, ended.trouble)


def _memory() -> int:
    """Bytes of address space for a compiler: large templates take gigabytes, endless ones all that there is."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return _MOST_MEMORY
    return min(_MOST_MEMORY, physical * 3 // 4)


def _folder(scratch: Path) -> Path:
    if not plain(str(scratch)):
        raise OSError(f"{scratch} has letters that nvcc would hand to a shell")
    return Path(tempfile.mkdtemp(prefix="made-", dir=scratch))


def same_file(one: str, other: str) -> bool:
    return one == other or _real(one) == _real(other)


@lru_cache(maxsize=8192)
def _real(path: str) -> str:
    return os.path.realpath(path)
