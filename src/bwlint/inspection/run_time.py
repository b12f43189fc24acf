"""Device code that a package compiles at run time: kernels shipped as source, and compiler calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath

from bwlint.binaries.shipments import Assembler
from bwlint.chips.surroundings import shipped
from bwlint.chips.toolkits import assembler_marks
from bwlint.model.naming import counted
from bwlint.readers.binary import texts
from bwlint.sources.stretch import ByteSource

_LARGEST = 1 << 20
_CHUNK = 1 << 20
_MOST_READ = 1 << 29
_LONGEST_TEXT = 128
_CUDA = (".cu", ".cuh")
_CPP = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
_NVRTC_IN_CPP = re.compile(rb"\bnvrtcCompileProgram\b|-lnvrtc\b|#[ \t]*include[ \t]*[<\"](?:[\w./-]*/)?nvrtc(?:\.h|/)")
# The names of all functions and targets that a program of this kind holds.
_IN_BINARIES = {
    "NVRTC": (b"nvrtcCompileProgram",),
    "LLVM for NVPTX": (b"nvptx64-nvidia-cuda", b"cuModuleLoad"),
    "OpenCL": (b"clCreateProgramWithSource", b"clBuildProgram"),
}
# What only hands such calls on.
_LOADERS = ("libOpenCL", "OpenCL")
_BUNDLED = re.compile(r"\.libs/")
"""Where tools that repair wheels put other people's libraries, which may never be asked for what they can do."""
_IN_PYTHON = {
    "nvcc": re.compile(
        rb"[\[(,=][ \t\n]{0,80}[\"'](?:[^\"'\n]{0,80}/)?nvcc[\"'][ \t]?[,)]"
        rb"(?=.{0,4000}[\"'](?:-arch|-gencode|--gpu-architecture)\b)",
        re.S,
    ),
    "Triton": re.compile(rb"^[ \t]*@triton\.jit\b", re.M),
    "CuTe DSL": re.compile(rb"^[ \t]*@(?:cutlass\.)?cute\.(?:jit|kernel)\b", re.M),
    "TileLang": re.compile(rb"^[ \t]*@(?:tilelang|tl)\.jit\b", re.M),
    "torch.utils.cpp_extension": re.compile(rb"\bcpp_extension\b[^\n]{0,200}\bload(?:_inline)?\b|\bload_inline\("),
    "NVRTC": re.compile(rb"\bnvrtcCompileProgram\b"),
    "NVVM": re.compile(rb"\bnvvmCompileProgram\b"),
}
_BESIDE = frozenset(_IN_PYTHON) - {"nvcc", "NVRTC", "NVVM"}
"""What counts beside ready libraries too: kernels in the package's own text, and no call that one of these may make."""


def is_source(name: str, *, built: bool = False) -> bool:
    """Whether a file of this name is text that may be compiled for a device where it runs, or is `built` and may ask
    for that."""
    return name.endswith((*_CUDA, ".py", *(_CPP if built else ())))


def is_program(name: str) -> bool:
    """Whether a file of this name may be a program of Linux: most others have a suffix."""
    file = name.rpartition("/")[2]
    return bool(file) and "." not in file


def is_assembler(name: str) -> bool:
    """Whether a file of this name is a program that makes device code of text."""
    return name.startswith(assembler_marks().program) and is_program(name.removesuffix(".exe"))


@dataclass(slots=True)
class RunTime:
    """What speaks for it in the files of a shipment; `has_ready`: there are libraries that were built with code,
    `has_any`: there is text at all. `bound_to` are packages of which a library needs an older release than the first
    with code for newer chips."""

    has_ready: bool = False
    has_any: bool = False
    cuda: int = 0
    ways: dict[str, None] = field(default_factory=dict)
    assemblers: list[Assembler] = field(default_factory=list)
    bound_to: dict[str, None] = field(default_factory=dict)

    def take(self, path: str, source: ByteSource) -> None:
        """A file of text; raises `ReadError`."""
        self.has_any = True
        if path.endswith(_CUDA):
            self.cuda += 1
            return
        text = source.read(0, min(source.size, _LARGEST))
        known = {"NVRTC": _NVRTC_IN_CPP} if path.endswith(_CPP) else {} if path.endswith("/setup.py") else _IN_PYTHON
        self.ways.update((way, None) for way, pattern in known.items() if pattern.search(text))

    def take_binary(self, path: str, source: ByteSource, *, has_code: bool = False) -> None:
        """A program or library, of whose texts the first 512 MiB are searched; raises `ReadError`."""
        marks = assembler_marks()
        release = re.compile(re.escape(marks.release) + rb"([0-9]{1,2})\.([0-9]{1,2})(?![0-9])")
        older = {row.older.encode(): row.name for row in shipped() if row.older}
        wanted = {*marks.marks, *marks.fronts, marks.linker, *chain.from_iterable(_IN_BINARIES.values()), *older}
        found: set[tuple[int, int]] = set()
        held: set[bytes] = set()
        for text in _chunks(source):
            found |= {(int(match[1]), int(match[2])) for match in release.finditer(text)}
            held |= {mark for mark in wanted - held if mark in text}
        self.bound_to.update((package, None) for symbol, package in older.items() if symbol in held)
        name = PurePosixPath(path).name
        if found and (is_assembler(name) or held.intersection(marks.marks)):
            is_front = not is_assembler(name) and marks.linker not in held and bool(held.intersection(marks.fronts))
            self.assemblers.append(Assembler(path, max(found), is_front))
        elif not (has_code or name.startswith(_LOADERS) or _BUNDLED.search(path)):
            self.ways.update((way, None) for way, names in _IN_BINARIES.items() if held.issuperset(names))

    @property
    def evidence(self) -> tuple[str, ...]:
        """ "9 files of CUDA C++", "Triton"."""
        if self.has_ready:
            return tuple(sorted(_BESIDE.intersection(self.ways)))
        return (*([f"{counted(self.cuda, 'file')} of CUDA C++"] if self.cuda else []), *sorted(self.ways))


def _chunks(source: ByteSource) -> Iterator[bytes]:
    """The texts of a file, each piece with the beginning of the next, in which a text may end."""
    left = _MOST_READ
    for text in texts(source):
        for at in range(0, min(text.size, left), _CHUNK):
            yield text.read(at, min(_CHUNK + _LONGEST_TEXT, text.size - at))
        left -= min(text.size, left)
