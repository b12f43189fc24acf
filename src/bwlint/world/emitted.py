"""Which functions of its headers a source has compiled: those that its text leads to, by the words in it.

What nobody calls is never assembled: a helper of a header may hold an instruction that no target of the source has.
Every word counts, so that macros and templates lead where calls do. What stands in an arm of `if constexpr` is compiled
only where somebody instantiates it so: it may be there, and is not sure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bwlint.model.facts import Module, Operation
from bwlint.sources.recorder import memory
from bwlint.world.native import Native

if TYPE_CHECKING:
    from bwlint.readers.cuda.lexer import Code

_WORD = re.compile(r"[A-Za-z_]\w+")
_MACRO = re.compile(r"#[ \t]*define\b(?:[^\\\n]|\\.|\\\n){1,4000}")
_DECIDED = re.compile(r"\bif\s+constexpr\s*(?=\()")
_ELSE = re.compile(r"\s*else\b\s*(?!if\b)(?=\{)")
_BODY = re.compile(r"\s*(?=\{)")
_Parts = tuple[frozenset[str], list[tuple[str, frozenset[str]]]]


@dataclass(slots=True)
class Emitted:
    """Tells for each source. It reads texts where there is something to be told of a header alone."""

    native: Native
    _headers: dict[tuple[str, bool], _Parts] = field(default_factory=memory)
    _reached: dict[tuple[str, bool], frozenset[str]] = field(default_factory=memory)
    _arms: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=memory)
    _counts: dict[str, tuple[Counter[str], Counter[str]]] = field(default_factory=memory)

    def holds(self, source: Module, home: Module, qualname: str) -> bool:
        """Whether a function of `home`, the source itself or a header of it, may be compiled with a source."""
        names = [part for part in qualname.partition("#")[0].split(".") if _WORD.fullmatch(part)]
        if home.path == source.path or not names:
            return True
        return names[-1] in self._leading(source, sure=False)  # an operator comes with its class

    def surely(self, source: Module, home: Module, operation: Operation) -> bool:
        """Whether an operation of a function is compiled with a source whatever its templates are instantiated for."""
        last = _last(operation.qualname)
        at = self._code(home.path).offset(*operation.at[:2])
        if any(start <= at < end for start, end in self._decided(home.path)):
            return False
        if home.path != source.path:
            return not _WORD.fullmatch(last) or last in self._leading(source, sure=True)
        in_all, outside = self._counted(home.path)
        return in_all[last] == outside[last] or outside[last] > 1  # once is where it is defined

    def _decided(self, path: str) -> tuple[tuple[int, int], ...]:
        """The arms of each `if constexpr` in a file."""
        if path not in self._arms:
            self._arms[path] = tuple(_arms(self._code(path).text))
        return self._arms[path]

    def _undecided(self, path: str) -> str:
        """The blanked text of a file without these arms."""
        text, pieces, last = self._code(path).text, list[str](), 0
        for start, end in sorted(self._decided(path)):
            if end > last:
                pieces += [text[last : max(start, last)], " " * (end - max(start, last))]
                last = end
        return "".join((*pieces, text[last:]))

    def _counted(self, path: str) -> tuple[Counter[str], Counter[str]]:
        """How often each word stands in a file, and outside of these arms."""
        if path not in self._counts:
            texts = (self._code(path).text, self._undecided(path))
            first, second = (Counter(_WORD.findall(text)) for text in texts)
            self._counts[path] = first, second
        return self._counts[path]

    def _code(self, path: str) -> Code:
        from bwlint.readers.cuda.cut import cut

        return cut(self.native.text(path)).code

    def _leading(self, source: Module, *, sure: bool) -> frozenset[str]:
        if (source.path, sure) not in self._reached:
            self._reached[source.path, sure] = self._led_to(source, sure=sure)
        return self._reached[source.path, sure]

    def _led_to(self, source: Module, *, sure: bool) -> frozenset[str]:
        """The words of a source, with those of what they name in its headers."""
        bodies: dict[str, set[str]] = defaultdict(set)
        text = self._undecided(source.path) if sure else self.native.text(source.path)
        waiting = set(_WORD.findall(text))
        for header in self.native.tree.headers.included(source):
            macros, parts = self._parts(header.path, sure=sure)
            waiting |= macros
            for name, words in parts:
                bodies[name] |= words
        found: set[str] = set()
        while waiting:
            found |= waiting
            waiting = set[str]().union(*(bodies[word] for word in waiting & bodies.keys())) - found
        return frozenset(found)

    def _parts(self, path: str, *, sure: bool) -> _Parts:
        """The words of a header's macros, and those of each of its functions and classes by their last names."""
        if (path, sure) not in self._headers:
            outline, code = self.native.outline(path), self._code(path)
            text = self._undecided(path) if sure else code.text
            macros = frozenset(word for found in _MACRO.finditer(code.text) for word in _WORD.findall(found[0]))
            places = outline.places.items() if outline is not None else ()
            within = ((name, code.offset(*at[:2]), code.offset(*at[2:])) for name, at in places)
            words = [(_last(name), frozenset(_WORD.findall(text, start, end))) for name, start, end in within]
            self._headers[path, sure] = macros, words
        return self._headers[path, sure]


def _arms(text: str) -> Iterator[tuple[int, int]]:
    """The arms of each `if constexpr` in blanked text."""
    from bwlint.readers.cuda.lexer import matching

    for test in _DECIDED.finditer(text):
        arm = _BODY.match(text, matching(text, test.end()) + 1)
        while arm is not None:
            end = matching(text, arm.end())
            if end < 0:
                break
            yield arm.end(), end
            arm = _ELSE.match(text, end + 1)


def _last(name: str) -> str:
    return name.partition("#")[0].rpartition(".")[2]
