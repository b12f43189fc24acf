"""What a package says of itself: which others it asks for, and where a stub fetches its wheel from."""

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
_LARGEST = 1 << 20


@dataclass(slots=True)
class Metadata:
    """`top` is the path of the package for reports, `machine` the one that it is for; `requires` are names and ranges.

    `extras` are the names under which it asks for more, `stub_of` is the index that has its wheel if it builds nothing.
    """

    top: str
    machine: str
    requires: tuple[tuple[str, str], ...] = ()
    extras: tuple[str, ...] = ()
    stub_of: str = ""

    def take(self, path: str, source: ByteSource) -> None:
        """Any file; raises `ReadError`."""
        inner = path.removeprefix(f"{self.top}/")
        if _OF_SOURCES.fullmatch(inner):
            text = source.read(0, min(source.size, _LARGEST))
            index = _INDEX.search(text)
            self.stub_of = (index[1].decode() if index else "another index") if _STUB.search(text) else ""
        elif _OF_WHEEL.fullmatch(inner):
            metadata = message_from_bytes(source.read(0, min(source.size, _LARGEST)))
            self.extras = tuple(map(str, metadata.get_all("Provides-Extra", [])))
            self.requires = tuple((one.name, str(one.specifier)) for one in requirements(metadata, self.machine))

    def instead(self, *, is_all: bool) -> str:
        """What is to be said of a package that has nothing itself; `is_all`: there is no file but this one."""
        if self.stub_of:
            return f"a stub: its wheel is fetched from {self.stub_of} and was not read"
        if not is_all or not (self.requires or self.extras):
            return ""
        asks = listed([name for name, _ in self.requires]) if self.requires else f"in extras: {listed(self.extras)}"
        return f"it only requires other packages ({asks})"
