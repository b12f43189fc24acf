"""What is compiled only where it runs: code for devices that a package carries as text, or asks a compiler for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bwlint.binaries.shipments import Assembler
from bwlint.chips.toolkits import assembler_marks
from bwlint.model.naming import counted
from bwlint.readers.binary import texts
from bwlint.sources.stretch import ByteSource

_LARGEST = 1 << 20
_CHUNK = 1 << 20
_MOST_READ = 1 << 30
_LONGEST_TEXT = 128
_CUDA = (".cu", ".cuh")
_NVRTC = b"nvrtcCompileProgram"
_IN_PYTHON = {
    "Triton": re.compile(rb"^[ \t]*@triton\.jit\b", re.M),
    "CuTe DSL": re.compile(rb"^[ \t]*@(?:cutlass\.)?cute\.(?:jit|kernel)\b", re.M),
    "TileLang": re.compile(rb"^[ \t]*@(?:tilelang|tl)\.jit\b", re.M),
    "torch.utils.cpp_extension": re.compile(rb"\bcpp_extension\b[^\n]{0,200}\bload(?:_inline)?\b|\bload_inline\("),
    "NVRTC": re.compile(rb"\bnvrtcCompileProgram\b"),
    "NVVM": re.compile(rb"\bnvvmCompileProgram\b"),
}


def is_source(name: str) -> bool:
    """Whether a file of this name is text that may be compiled for a device where it runs."""
    return name.endswith((*_CUDA, ".py"))


def is_assembler(name: str) -> bool:
    """Whether a file of this name is a program that makes device code of text."""
    return name.startswith(assembler_marks().program) and "." not in name.removesuffix(".exe")


@dataclass(slots=True)
class RunTime:
    """What speaks for it in the files of a shipment, which nobody asks about one that has ready libraries."""

    is_wanted: bool = True
    cuda: int = 0
    ways: dict[str, None] = field(default_factory=dict)
    assemblers: list[Assembler] = field(default_factory=list)

    def take(self, path: str, source: ByteSource) -> None:
        """A file of text; raises `ReadError`."""
        if path.endswith(_CUDA):
            self.cuda += 1
            return
        text = source.read(0, min(source.size, _LARGEST))
        self.ways.update((way, None) for way, pattern in _IN_PYTHON.items() if pattern.search(text))

    def take_binary(self, path: str, source: ByteSource, *, has_code: bool = False) -> None:
        """A program or library, of whose texts the first GiB is searched; raises `ReadError`."""
        marks = assembler_marks()
        release = re.compile(re.escape(marks.release) + rb"([0-9]{1,2})\.([0-9]{1,2})(?![0-9])")
        found: set[tuple[int, int]] = set()
        is_compiler, calls = is_assembler(PurePosixPath(path).name), False
        for text in _chunks(source):
            found |= {(int(match[1]), int(match[2])) for match in release.finditer(text)}
            is_compiler = is_compiler or any(mark in text for mark in marks.marks)
            calls = calls or _NVRTC in text
        if found and is_compiler:
            self.assemblers.append(Assembler(path, max(found)))
        elif calls and not has_code:
            self.ways["NVRTC"] = None

    @property
    def evidence(self) -> tuple[str, ...]:
        """ "9 files of CUDA C++", "Triton"."""
        return (*([f"{counted(self.cuda, 'file')} of CUDA C++"] if self.cuda else []), *sorted(self.ways))


def _chunks(source: ByteSource) -> Iterator[bytes]:
    """The texts of a file, each piece with the beginning of the next, in which a text may end."""
    left = _MOST_READ
    for text in texts(source):
        for at in range(0, min(text.size, left), _CHUNK):
            yield text.read(at, min(_CHUNK + _LONGEST_TEXT, text.size - at))
        left -= min(text.size, left)
