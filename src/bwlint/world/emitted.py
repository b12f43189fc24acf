"""Which header functions a source file instantiates.

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

from bwlint.model.expr import Span
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


@dataclass(frozen=True, slots=True)
class _Decided:
    """The arms of each `if constexpr` in a file, and the words that stand outside of these at most once."""

    arms: tuple[Span, ...]
    words: frozenset[str]


@dataclass(slots=True)
class Emitted:
    """Answers for each source. It reads texts only where a header has something to report."""

    native: Native
    _headers: dict[tuple[str, bool], _Parts] = field(default_factory=memory)
    _reached: dict[tuple[str, bool], frozenset[str]] = field(default_factory=memory)
    _decisions: dict[str, _Decided] = field(default_factory=memory)

    def holds(self, source: Module, home: Module, qualname: str) -> bool:
        """Whether a function of `home`, the source itself or a header of it, may be compiled with a source."""
        names = [part for part in qualname.partition("#")[0].split(".") if _WORD.fullmatch(part)]
        if home.path == source.path or not names:
            return True
        return names[-1] in self._leading(source, sure=False)  # an operator comes with its class

    def surely(self, source: Module, home: Module, operation: Operation) -> bool:
        """Whether an operation of a function is compiled with a source whatever its templates are instantiated for."""
        if not self.holds(source, home, operation.qualname):
            return False
        last, decided = _last(operation.qualname), self._decided(home.path)
        if any(arm[:2] <= operation.at[:2] < arm[2:] for arm in decided.arms):
            return False
        if home.path != source.path:
            return not _WORD.fullmatch(last) or last in self._leading(source, sure=True)
        return not self.chosen(home, last)

    def chosen(self, home: Module, qualname: str) -> bool:
        """Whether only an arm of `if constexpr` asks for a function, in its own file."""
        return _last(qualname) in self._decided(home.path).words

    def _decided(self, path: str) -> _Decided:
        if path not in self._decisions:
            code = self._code(path)
            in_all, outside = (Counter(_WORD.findall(text)) for text in (code.text, _undecided(code.text)))
            # once is where it is defined
            words = frozenset(word for word, count in in_all.items() if count > outside[word] <= 1)
            arms = tuple(Span(*code.place(start), *code.place(end)) for start, end in _arms(code.text))
            self._decisions[path] = _Decided(arms, words)
        return self._decisions[path]

    def _code(self, path: str) -> Code:
        from bwlint.readers.cuda.scopes import cut

        return cut(self.native.text(path)).code

    def _leading(self, source: Module, *, sure: bool) -> frozenset[str]:
        if (source.path, sure) not in self._reached:
            self._reached[source.path, sure] = self._led_to(source, sure=sure)
        return self._reached[source.path, sure]

    def _led_to(self, source: Module, *, sure: bool) -> frozenset[str]:
        """The words of a source, with those of what they name in its headers."""
        bodies: dict[str, set[str]] = defaultdict(set)
        text = _undecided(self._code(source.path).text) if sure else self.native.text(source.path)
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
            text = _undecided(code.text) if sure else code.text
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


def _undecided(text: str) -> str:
    """Blanked text without these arms."""
    pieces, last = list[str](), 0
    for start, end in sorted(_arms(text)):
        if end > last:
            pieces += [text[last : max(start, last)], " " * (end - max(start, last))]
            last = end
    return "".join((*pieces, text[last:]))


def _last(name: str) -> str:
    return name.partition("#")[0].rpartition(".")[2]
