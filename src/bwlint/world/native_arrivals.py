"""Where a project calls a C++ function, and the chips that reach those calls.

As in `arrivals`, every mention of a name counts, and chips are only ever kept away by a test that was evaluated. What
stands in no function, in a macro, or in a file that cannot be read is reached by every chip, and so is what nobody is
seen to use. A function that is bound to Python is reached by those who use its name there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bwlint.chips import ChipSet
from bwlint.model.expr import Span
from bwlint.model.outline import Definition, Outline
from bwlint.sources.read import text_of
from bwlint.sources.recorder import memory
from bwlint.sources.tree import package_root
from bwlint.world.arrivals import ANY, NOBODY, Arrival, Arrivals, Untold, both, together
from bwlint.world.native import Native

if TYPE_CHECKING:
    from bwlint.readers.cuda.lexer import Code

MAX_USES = 40
"""Mentions of one name; what has more is reached by every chip."""
MAX_DEPTH = 20
"""Callers of callers that are followed."""
_SHORTEST = 3
_DECLARES = re.compile(r"\s*(?:<[^<>;]*>\s*)?\([^;{}]*\)[^;{}()]*;")
_MEMBER = re.compile(r"(?:\.|->)\s*$")
_NAMES_A_CLASS = re.compile(r"\b(?:class|struct)\s+$")
_NAMES_A_MEMBER = re.compile(r"\s*(?:<[^<>;(){}]*>\s*)?::")


@dataclass(frozen=True, slots=True)
class _CppText:
    """A C++ file: what it defines, and its text without comments and directives."""

    outline: Outline
    code: Code
    text: str
    directives: str


@dataclass(frozen=True, slots=True)
class _Mention:
    file: _CppText
    at: Span
    around: Definition | None


@dataclass(slots=True)
class NativeArrivals:
    """The users of C++ functions. `targets` are the chips that anybody asks for."""

    native: Native
    python: Arrivals
    targets: ChipSet
    _texts: dict[str, _CppText | None] = field(default_factory=memory)
    _known: dict[tuple[str, str], Arrival] = field(default_factory=memory)
    _busy: set[tuple[str, str]] = field(default_factory=set)

    def arriving(self, path: str, at: Span) -> Arrival:
        """The chips that may get to the host function around a place of a file; every chip to any other place."""
        file = self._text(path)
        around = _innermost(file.outline, at) if file is not None else None
        if file is None or around is None or around.kind != "function" or self._is_compiled_for_devices(file, around):
            return ANY
        return self._of(file, around)

    def _is_compiled_for_devices(self, file: _CppText, found: Definition) -> bool:
        start = file.code.offset(*found.at[:2])
        return "__device__" in file.text[start : file.text.find("{", start)]

    def _of(self, file: _CppText, found: Definition) -> Arrival:
        key = (file.outline.path, found.qualname)
        if key in self._busy:
            return NOBODY
        if found.kind != "function" or len(self._busy) >= MAX_DEPTH:
            return ANY
        if key not in self._known:
            self._busy.add(key)
            owner, _, name = found.qualname.partition("#")[0].rpartition(".")
            used = self._used(file, name, is_free=not owner)
            made = self._used(file, owner) if owner and self.targets & used.chips else ANY
            self._busy.discard(key)
            self._known[key] = both(used, made)
        return self._known[key]

    def _used(self, home: _CppText, name: str, *, is_free: bool = False) -> Arrival:
        """What all mentions of a name let through; every chip where one of them does, or where there is none."""
        return together(self._uses(home, name, is_free), self.targets)

    def _uses(self, home: _CppText, name: str, is_free: bool) -> Iterator[Arrival]:
        bound: dict[str, None] = {}
        for mention in self._mentions(home.outline.path, name, is_free):
            operations = [op for op, to in mention.file.outline.imports.items() if to == name and "." not in op]
            bound.update(dict.fromkeys(operations))
            if operations and (mention.around is None or mention.around.qualname.isupper()):
                continue
            if mention.around is None:
                yield ANY
                return
            passed = self._passing(mention)
            yield both(passed, self._of(mention.file, mention.around)) if self.targets & passed.chips else passed
        for operation in bound:
            yield self.python.of_name(package_root(home.outline.path), operation)

    def _mentions(self, near: str, name: str, is_free: bool) -> Iterator[_Mention]:
        """The mentions that may use a name: no definition, declaration, or member for a function. Raises `Untold`."""
        search = self.native.search(near)
        hits = search.word("cuda", name) if len(name) >= _SHORTEST and search.complete("cuda") else ()
        if not 0 < len(hits) <= MAX_USES:
            raise Untold
        word = re.compile(rf"(?<![\w~]){re.escape(name)}\b")
        variable = re.compile(rf"[\w>][\s&*]+{re.escape(name)}\s*[;={{,)]")
        for path in self.native.unbuilt.live(dict.fromkeys(hit.file.real for hit in hits), near):
            file = self._text(path)
            if file is None or word.search(file.directives) or variable.search(file.text):
                raise Untold
            for found in word.finditer(file.text):
                if is_free and _MEMBER.search(file.text, max(0, found.start() - 20), found.start()):
                    continue
                at = file.code.span(*found.span())
                around = _innermost(file.outline, at)
                if around is not None and name in around.qualname.partition("#")[0].split("."):
                    continue  # its own header, itself again, or what a class has for itself
                if not (around is None and _declares(file.text, found)):
                    yield _Mention(file, at, around)

    def _passing(self, mention: _Mention) -> Arrival:
        """The chips that pass the gates in front of a mention."""
        module = self.native.tree.headers.at(mention.file.outline.path)
        return ANY if module is None else self.python.passing(module, mention.at)

    def _text(self, path: str) -> _CppText | None:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> _CppText | None:
        source, outline = text_of(self.native.read(path)), self.native.outline(path)
        if source is None or outline is None:
            return None
        from bwlint.readers.cuda.scopes import cut

        file = cut(source)
        said = "\n".join(file.code.text[start:end] for start, end in file.found.lines)
        return _CppText(outline, file.code, file.text, said)


def _innermost(outline: Outline, at: Span) -> Definition | None:
    """The function around a place, or the method of a class; None where it stands in none."""
    held = [name for name, place in outline.places.items() if place.holds(at)]
    found = (
        outline.definitions[name] for name in sorted(held, key=lambda name: outline.places[name][:2], reverse=True)
    )
    return next((one for one in found if one.kind != "class"), None)


def _declares(text: str, name: re.Match[str]) -> bool:
    """Whether a mention outside of functions only declares a function or a class, or defines a member of one."""
    if _NAMES_A_CLASS.search(text, max(0, name.start() - 40), name.start()):
        return True
    if _NAMES_A_MEMBER.match(text, name.end()):
        return True
    before = text[max(0, name.start() - 40) : name.start()].rstrip()
    return before.endswith(("*", "&", ">")) or (before[-1:].isalnum() and _DECLARES.match(text, name.end()) is not None)
