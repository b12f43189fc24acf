"""A package's own metadata: its dependencies, and where a stub package fetches its wheel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email import message_from_bytes

from bwlint.chips.wording import listed
from bwlint.sources.stretch import ByteSource
from bwlint.sources.wheels import requirements

PROJECT = "pyproject.toml"
_OF_WHEEL = re.compile(r"[^/]+\.dist-info/METADATA")
_OF_SOURCES = re.compile(rf"[^/]+/{re.escape(PROJECT)}")
# The back end of stubs whose wheels lie elsewhere; read: pyproject.toml of libcuvs-cu12 25.2.1.
_STUB = re.compile(rb"^build-backend[ \t]*=[ \t]*[\"']wheel_stub\.", re.M)
_INDEX = re.compile(rb"^index_url[ \t]*=[ \t]*[\"'](https?://[\w./:-]+)[\"']", re.M)
_SETUP = re.compile(r"[^/]+/setup\.py")
_READY_WHEEL = re.compile(rb"https://([\w.-]+/[\w.-]+/[\w.-]+)/releases/download/")
_FETCHES = re.compile(rb"\burlretrieve\b|\burlopen\b|\brequests\.get\b")
_CUDA_SOURCE = re.compile(rb"\.cu[\"']")
_VERSION = re.compile(r"[^/]+/version\.py")
_OF_CPU = re.compile(rb"^(?:cuda\b[^=\n]*=[ \t]*None\b|__version__\b[^=\n]*=[ \t]*[\"'][^\"'\n]*\+cpu\b)", re.M)
_LARGEST = 1 << 20


@dataclass(slots=True)
class Metadata:
    """`top` is the path of the package for reports, `machine` the one that it is for; `requires` are names and ranges.
    `extras` are the names under which it asks for more, `stub_of` is the index that has its wheel if it builds nothing,
    `ready_at` the place of released wheels that its setup.py fetches, `names_cuda` that this names CUDA sources,
    `is_cpu_build` that its version.py names no CUDA."""

    top: str
    machine: str
    requires: tuple[tuple[str, str], ...] = ()
    extras: tuple[str, ...] = ()
    stub_of: str = ""
    ready_at: str = ""
    names_cuda: bool = False
    is_cpu_build: bool = False

    def take(self, path: str, source: ByteSource) -> None:
        """Any file; raises `ReadError`."""
        inner = path.removeprefix(f"{self.top}/")
        if _OF_SOURCES.fullmatch(inner):
            text = source.read(0, min(source.size, _LARGEST))
            index = _INDEX.search(text)
            self.stub_of = (index[1].decode() if index else "another index") if _STUB.search(text) else ""
        elif _SETUP.fullmatch(inner):
            text = source.read(0, min(source.size, _LARGEST))
            ready = _READY_WHEEL.search(text) if _FETCHES.search(text) else None
            self.ready_at = ready[1].decode() if ready else ""
            self.names_cuda = _CUDA_SOURCE.search(text) is not None
        elif _VERSION.fullmatch(inner):
            self.is_cpu_build = _OF_CPU.search(source.read(0, min(source.size, _LARGEST))) is not None
        elif _OF_WHEEL.fullmatch(inner):
            metadata = message_from_bytes(source.read(0, min(source.size, _LARGEST)))
            self.extras = tuple(map(str, metadata.get_all("Provides-Extra", [])))
            self.requires = tuple((one.name, str(one.specifier)) for one in requirements(metadata, self.machine))

    def build(self, *, has_cuda: bool) -> str:
        """How a source distribution is installed; `has_cuda`: CUDA sources are in it."""
        if self.ready_at:
            ready = f"its setup.py fetches a ready wheel from {self.ready_at}, which was not read"
            return ready if has_cuda or not self.names_cuda else f"{ready}: the CUDA sources that it names are missing"
        return "it is built on your machine"

    def instead(self, *, is_all: bool) -> str:
        """What is to be said of a package that has nothing itself; `is_all`: there is no file but this one."""
        if self.stub_of:
            return f"a stub: its wheel is fetched from {self.stub_of} and was not read"
        if not is_all or not (self.requires or self.extras):
            return ""
        asks = listed([name for name, _ in self.requires]) if self.requires else f"in extras: {listed(self.extras)}"
        return f"it only requires other packages ({asks})"
