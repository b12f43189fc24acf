"""The words by which bwlint's readers tell the files that matter, for a search that does nothing else."""

from __future__ import annotations

import re

from bwlint.readers import buildfiles, cuda, launches, python
from bwlint.readers.buildfiles import pins
from bwlint.sources.kinds import BINARY, KINDS

_OF_CODE = (*cuda._PLAIN_WORDS, b".target")
_MEANT = re.compile(r"[.^$*+?{}()|\[\]\\]")
_OF_LAUNCHES = tuple(spelled for word in launches._literals() for spelled in (word, word.replace(b"-", b"_")))
_OF_PYTHON = tuple(word for reader in python.scan().readers.values() for word in reader.ANCHORS)
_IN_ANY_CASE = (*buildfiles._WORDS, *_OF_PYTHON, *_OF_LAUNCHES)


def expressions() -> list[str]:
    """One a word, of those in which letters of either case are meant too."""
    plain = {pins.HELD, *(_escaped(word) for word in _OF_CODE)}
    either = {f"(?i:{_escaped(word)})" for word in _IN_ANY_CASE}
    return sorted(plain | either)


def _escaped(word: bytes) -> str:
    """As ripgrep takes it, which knows fewer escapes than Python writes and looks at single lines."""
    text = _MEANT.sub(r"\\\g<0>", word.decode().rstrip("\n"))
    return text + "$" * word.endswith(b"\n")


def globs() -> list[str]:
    """The names of the files that bwlint reads as text."""
    text = [kind for kind in KINDS if kind.name != BINARY]
    return [
        *(f"*{suffix}" for kind in text for suffix in kind.suffixes),
        *(name for kind in text for name in kind.names),
        *(f"{stem}*" for kind in text for stem in kind.stems),
    ]
