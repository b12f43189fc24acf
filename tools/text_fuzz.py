"""Reading an input that somebody changed, and changing it: text, by tokens and lines (`fuzz.py` has the loop)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from bwlint.readers import reader
from bwlint.readers.comments import comments_of
from bwlint.report import Setting, write
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings import catalog, config, suppress
from bwlint.settings.config import ConfigError, UsageError
from bwlint.sources.errors import ReadError
from bwlint.sources.kinds import kind_of
from bwlint.sources.read import Unread, bounded, decode, given

LARGEST = 16 * 1024
CONFIGURATION, SUPPRESSION = "configuration", "suppression"
_LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "python": ("*.py", "*.pyi"),
    "cuda": ("*.cu", "*.cuh", "*.h", "*.hpp", "*.cpp", "*.jinja"),
    "ptx": ("*.ptx",),
    "cmake": ("CMakeLists.txt", "*.cmake"),
    "make": ("Makefile*", "GNUmakefile", "*.mk"),
    "shell": ("*.sh", "*.bash"),
    "dockerfile": ("Dockerfile*", "*.dockerfile"),
    "yaml": ("*.yml", "*.yaml"),
    "json": ("*.json",),
    "toml": ("*.toml",),
    "hcl": ("*.hcl",),
    "meson": ("meson.build", "meson.options", "meson_options.txt"),
    "bazel": ("BUILD", "*.bazel", "*.bzl", "*.bazelrc"),
    "setup": ("setup.py", "setup.cfg"),
}
READERS: Mapping[str, tuple[str, ...]] = {
    **_LANGUAGES,
    CONFIGURATION: ("bwlint.toml", "pyproject.toml"),
    SUPPRESSION: tuple(pattern for patterns in _LANGUAGES.values() for pattern in patterns),
}
"""The readers of text, with the patterns of the names of their files."""
_EXHAUSTED = ("takes more memory", "takes more than", "internal error in")
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
WORDS = tuple(
    rb"""( ) [ ] { } < > , ; : = == != >= < not and or ! && || if( elseif( else() endif() #if #elif #else #endif #define
    __CUDA_ARCH__ 1000 1200 1210 120a 12.0a sm_120 sm_100a compute_120 get_device_capability() (10,0) (12,0)
    template<int\ N> <<< >>> ${X} $(X) ${X${X}} \\ ' " \""" ' ''' """.replace(rb"\ ", b"\0").split()
)
_NESTING = (b"(", b"[", b"{", b"-", b"not ", b"if(1)\n", b"#if 1\n", b"a.", b"a<", b"x=", b"f(", b"a+", b"${", b"$(")


class Exhausted(Exception):
    """A small file took all that one file may take."""


def read(name: str, path: str, data: bytes, folder: Path) -> None:
    """What the reader `name` of `READERS` makes of a file called `path`; raises what it must not raise."""
    if name == CONFIGURATION:
        _configured(folder / path, data)
        return
    try:
        with bounded():
            source = decode(data)
            if isinstance(source, Unread):
                return
            kind = kind_of(path)
            if kind is None:
                return
            if name == SUPPRESSION:
                suppress.scan(source, catalog.known_ids(), comments_of(kind, path))
                return
            reader(kind).may_matter(data, frozenset())
            reader(kind).read(path, source, "a", False, frozenset())
    except ReadError as error:
        _not_exhausted(str(error))


def take(name: str, data: bytes, folder: Path) -> None:
    """Check one input as standard input under a name in an empty folder; raises what it must not raise."""
    try:
        with ExitStack() as stack:
            outcome = check(CheckRequest((str(folder / name),), stdin=data, severity="note", fixes=True), stack)
    except (UsageError, ConfigError):
        return
    json.loads(write.findings(outcome.report, Setting()))
    for skipped in outcome.report.skipped:
        _not_exhausted(skipped.reason)


def _configured(path: Path, data: bytes) -> None:
    try:
        with given({str(path): data}):
            loaded = config.load(str(path))
        if loaded is not None:
            config.chosen_rules(loaded)
            loaded.is_excluded(str(path))
            loaded.ignored_rules(str(path))
    except ConfigError:
        return


def _not_exhausted(reason: str) -> None:
    if any(words in reason for words in _EXHAUSTED):
        raise Exhausted(reason)


def changed(source: random.Random, data: bytes, other: bytes) -> bytes:
    """The same with one to five changes by tokens and lines; `other` lends pieces."""
    made = _TOKEN.findall(data)
    for _ in range(source.choice((1, 1, 2, 3, 5))):
        source.choice(CHANGES)(source, made, other)
    return b"".join(made)[:LARGEST]


def _place(source: random.Random, made: Sequence[bytes]) -> int:
    return source.randint(0, len(made))


def _delete(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    del made[at : at + source.choice((1, 1, 3, 10, 50))]


def _swap(source: random.Random, made: list[bytes], _: bytes) -> None:
    if made:
        one, two = source.randrange(len(made)), source.randrange(len(made))
        made[one], made[two] = made[two], made[one]


def _repeat(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    made[at:at] = made[at : at + source.choice((1, 2, 5, 20, 60))] * source.choice((1, 1, 2, 30, 300))


def _word(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    made[at : at + source.choice((0, 1))] = [source.choice(WORDS).replace(b"\0", b" ")]


def _nest(source: random.Random, made: list[bytes], _: bytes) -> None:
    made.insert(_place(source, made), source.choice(_NESTING) * source.choice((2, 20, 200, 2000)))


def _byte(source: random.Random, made: list[bytes], _: bytes) -> None:
    made.insert(_place(source, made), bytes([source.randrange(256)]))


def _splice(source: random.Random, made: list[bytes], other: bytes) -> None:
    lent = _TOKEN.findall(other)
    start, at = _place(source, lent), _place(source, made)
    made[at:at] = lent[start : start + source.choice((3, 10, 50, 300))]


def _cut(source: random.Random, made: list[bytes], _: bytes) -> None:
    del made[_place(source, made) :]


CHANGES: Sequence[Callable[[random.Random, list[bytes], bytes], None]] = (
    *(_delete, _swap, _repeat, _word, _word, _nest, _byte, _splice, _splice, _cut),
)
