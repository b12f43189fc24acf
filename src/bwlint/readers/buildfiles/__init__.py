"""Build files: what they compile for. CMake is parsed; the other kinds are read line by line."""

from __future__ import annotations

import re

from bwlint.facts import Module
from bwlint.readers.buildfiles import cmake, text

__all__ = ["may_name_target", "read"]

_WORDS = re.compile(
    rb"arch=compute_|gencode|arch(?:=|[ \t])[\"']?(?:sm|compute)_|arch_?list|archs\b|architectures", re.I
)
_CMAKE = re.compile(r"(?:^|/)CMakeLists\.txt$|\.cmake$")


def may_name_target(data: bytes, own: frozenset[str] = frozenset()) -> bool:
    """The prefilter of a build file: one scan for a word that a list of architectures has near it."""
    return _WORDS.search(data) is not None


def read(path: str, source: str, name: str, is_package: bool, own: frozenset[str] = frozenset()) -> Module:
    """Facts of one build file; never raises."""
    carries = cmake.read(source) if _CMAKE.search(path) else text.read(source)
    return Module(path, name, is_package, {}, (), (), {}, {}, (), {}, language="build", carries=carries)
