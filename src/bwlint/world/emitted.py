"""Which functions of its headers a source has compiled: those that its text leads to, by the words in it.

What nobody calls is never assembled: a helper of a header may hold an instruction that no target of the source has.
Every word counts, so that macros and templates lead where calls do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.sources.recorder import memory
from bwlint.world.native import Native

if TYPE_CHECKING:
    from bwlint.readers.cuda.lexer import Code

_WORD = re.compile(r"[A-Za-z_]\w+")
_MACRO = re.compile(r"#[ \t]*define\b(?:[^\\\n]|\\.|\\\n){1,4000}")
_Parts = tuple[frozenset[str], list[tuple[str, frozenset[str]]]]


@dataclass(slots=True)
class Emitted:
    """Tells for each source. It reads texts where there is something to be told of a header alone."""

    native: Native
    _headers: dict[str, _Parts] = field(default_factory=memory)
    _reached: dict[str, frozenset[str]] = field(default_factory=memory)

    def holds(self, source: Module, home: Module, qualname: str) -> bool:
        """Whether a function of `home`, the source itself or a header of it, may be compiled with a source."""
        names = [part for part in qualname.partition("#")[0].split(".") if _WORD.fullmatch(part)]
        if home.path == source.path or not names:
            return True
        if source.path not in self._reached:
            self._reached[source.path] = self._leading(source)
        return names[-1] in self._reached[source.path]  # an operator comes with its class

    def _leading(self, source: Module) -> frozenset[str]:
        """The words of a source, with those of what they name in its headers."""
        bodies: dict[str, set[str]] = defaultdict(set)
        waiting = set(_WORD.findall(self.native.text(source.path)))
        for header in self.native.tree.headers.included(source):
            macros, parts = self._parts(header.path)
            waiting |= macros
            for name, words in parts:
                bodies[name] |= words
        found: set[str] = set()
        while waiting:
            found |= waiting
            waiting = set[str]().union(*(bodies[word] for word in waiting & bodies.keys())) - found
        return frozenset(found)

    def _parts(self, path: str) -> _Parts:
        """The words of a header's macros, and those of each of its functions and classes by their last names."""
        if path not in self._headers:
            from bwlint.readers.cuda.cut import cut

            outline, code = self.native.outline(path), cut(self.native.text(path)).code
            macros = frozenset(word for found in _MACRO.finditer(code.text) for word in _WORD.findall(found[0]))
            places = outline.places.items() if outline is not None else ()
            self._headers[path] = macros, [(_last(name), _words_in(code, at)) for name, at in places]
        return self._headers[path]


def _last(name: str) -> str:
    return name.partition("#")[0].rpartition(".")[2]


def _words_in(code: Code, at: Span) -> frozenset[str]:
    return frozenset(_WORD.findall(code.text, code.offset(*at[:2]), code.offset(*at[2:])))
