"""Files that a text names as a compiler's or a build's input: "csrc/gemm.cu", "csrc/gemm_*.cu", <impls/{}.cuh>."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from bwlint.sources import disk
from bwlint.world.builds import fits

COMPILED = (".cu", ".cpp", ".cc", ".cxx")
"""What a compiler is given, unlike headers."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp")
"""What others include."""
SETUP = "setup.py"
_IN_THEIR_FOLDER = ("CMakeLists.txt", "BUILD", "Makefile", "makefile", "GNUmakefile", "meson.build")
_LONGEST = 300
_HOLE = "\0"
_INCLUDES = re.compile(r"#[ \t]{0,20}include[ \t]{0,20}<?")
_BREAK = re.compile(r"[\s\"'`;,()=|&#]")
_HERE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}")
_COMPUTED = re.compile(r"\$?\{[^{}]*\}|^[^{}]*\}|\$\w+|%[sd]?|@\w+@|<\w*>?")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """Where a text names a source or a header. What is computed in its path, or a pattern, is a star."""

    origin: str
    folders: tuple[str, ...]
    name: str
    anywhere: bool
    """Whether its folder may be any: its path begins with something that is computed, or is given elsewhere."""

    @property
    def is_pattern(self) -> bool:
        return "*" in self.name

    def means(self, real: str) -> bool:
        """Whether it may mean the file at a real path."""
        folder, _, name = real.replace(os.sep, "/").rpartition("/")
        if not fits(name, self.name):
            return False
        within = f"/{'/'.join((*self.folders, ''))}"
        if self.is_pattern:
            return within in f"{folder}/" and (self.anywhere or self._is_above(real))
        exact = os.path.join(os.path.dirname(self.origin), *self.folders, self.name)
        return real == exact or (f"{folder}/".endswith(within) and (self.anywhere or not disk.is_file(exact)))

    def is_of_a_build(self) -> bool:
        """Whether a build says it, not a program."""
        return not self.origin.endswith(".py") or os.path.basename(self.origin) == SETUP

    def _is_above(self, real: str) -> bool:
        return real.startswith(os.path.dirname(self.origin) + os.sep)


def named(origin: str, match: re.Match[bytes], *, compiles: bool = True, walks: bool = False) -> Iterator[NamedSource]:
    """The source whose name ends at a place of a text; any, where only an ending stands in what walks folders.

    What `compiles` may be given the folder of its sources; what does not lists those beside it.
    """
    line = match.string[max(0, match.end() - _LONGEST) : match.end()].decode("utf-8", "replace").rpartition("\n")[2]
    line, includes = _INCLUDES.subn('"', line)
    path = _COMPUTED.sub(_HOLE, _HERE.sub(".", _BREAK.split(line)[-1])).rpartition(":")[2].replace("\\", "")
    *folders, name = (part for part in path.split("/") if part not in ("", "."))
    stem, _, ending = name.rpartition(".")
    known = f".{ending}".endswith((*COMPILED, *HEADERS))
    if not stem.strip(_HOLE) and not (stem and includes):
        if not walks or stem:
            return  # a name that is put together is looked for without its ending
        stem = "*"
    name = f"{stem}.{ending}".replace(_HOLE, "*") if known else "*"
    is_pattern = "*" in name
    if is_pattern and "#" in line:
        return  # in a comment
    begin = max((index for index, part in enumerate(folders, 1) if _is_open(part, is_pattern)), default=0)
    named = tuple(takewhile(lambda part: "*" not in part, folders[begin:]))
    if is_pattern:
        given = not os.path.basename(origin).startswith(_IN_THEIR_FOLDER) and (compiles or stem.strip("*") != "")
    else:
        given = origin.endswith(".py")  # which joins paths of parts
    yield NamedSource(origin, named, name, anywhere=begin > 0 or given)


def _is_open(folder: str, is_pattern: bool) -> bool:
    """Whether a part of a path may stand for any folder, so that nothing in front of it counts."""
    return folder == ".." or _HOLE in folder or ("*" in folder and not is_pattern)
