"""What is compiled only where it runs: code for devices that a package carries as text, or asks a compiler for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bwlint.model.naming import counted
from bwlint.sources.stretch import ByteSource

_LARGEST = 1 << 20
_CHUNK = 1 << 20
_MOST_READ = 64 << 20
_CUDA = (".cu", ".cuh")
_NVRTC = b"nvrtcCompileProgram"
_IN_PYTHON = {
    "Triton": re.compile(rb"^[ \t]*@triton\.jit\b", re.M),
    "CuTe DSL": re.compile(rb"^[ \t]*@(?:cutlass\.)?cute\.(?:jit|kernel)\b", re.M),
    "TileLang": re.compile(rb"^[ \t]*@(?:tilelang|tl)\.jit\b", re.M),
    "torch.utils.cpp_extension": re.compile(rb"\bcpp_extension\b[^\n]{0,200}\bload(?:_inline)?\b|\bload_inline\("),
    "NVRTC": re.compile(rb"\bnvrtcCompileProgram\b"),
}


def is_source(name: str) -> bool:
    """Whether a file of this name is text that may be compiled for a device where it runs."""
    return name.endswith((*_CUDA, ".py"))


@dataclass(slots=True)
class RunTime:
    """What speaks for it in the files of a shipment, which nobody asks about one that has ready libraries."""

    is_wanted: bool = True
    cuda: int = 0
    ways: dict[str, None] = field(default_factory=dict)

    def take(self, path: str, source: ByteSource) -> None:
        """A file of text; raises `ReadError`."""
        if path.endswith(_CUDA):
            self.cuda += 1
            return
        text = source.read(0, min(source.size, _LARGEST))
        self.ways.update((way, None) for way, pattern in _IN_PYTHON.items() if pattern.search(text))

    def take_binary(self, source: ByteSource) -> None:
        """A library without device code, of which the first 64 MiB are searched; raises `ReadError`."""
        for at in range(0, min(source.size, _MOST_READ), _CHUNK):
            if _NVRTC in source.read(at, min(_CHUNK + len(_NVRTC), source.size - at)):
                self.ways["NVRTC"] = None
                return

    @property
    def evidence(self) -> tuple[str, ...]:
        """ "9 files of CUDA C++", "Triton"."""
        return (*([f"{counted(self.cuda, 'file')} of CUDA C++"] if self.cuda else []), *sorted(self.ways))
