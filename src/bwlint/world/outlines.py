"""The outlines of Python files: read once in a run, and not parsed where an earlier run has asked the same of it.

Who asks for one definition rests on that one: an edit elsewhere in the file changes nothing for him.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from bwlint.index import kept
from bwlint.index.store import Store
from bwlint.model.expr import Expr, Span
from bwlint.model.outline import Definition, Outline
from bwlint.readers.ondemand import OnDemand
from bwlint.sources.disk import digest_of
from bwlint.sources.errors import ReadError
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.recorder import Read, memory, read
from bwlint.sources.tree import module_name, package_root
from bwlint.sources.walk import SourceFile
from bwlint.world.tree import Tree

_Whole = Callable[[], Outline]
"""Parses the file; raises ReadError."""


class Outlines:
    """The outlines of the files of a run, by real path, each read once."""

    def __init__(self, tree: Tree, content: Callable[[str], bytes | Unread] = read_bytes) -> None:
        self._tree = tree
        self._content = content
        self._known: dict[tuple[str], Outline | None] = memory("outline", head)
        self._parts = PartsAsked()
        self._asked: list[_Asked] = []

    def of(self, path: str, name: str) -> Outline | None:
        """The outline of a Python file; None where it cannot be read."""
        if (path,) not in self._known:
            found = self._outline(path, name)
            self._known[path,] = None if found is None else self._parts.noting(found)
        return self._known[path,]

    def of_file(self, file: SourceFile) -> Outline | None:
        """The outline of a Python file that was found; None where it cannot be read."""
        return self.of(file.real, module_name(file.real, file.root))

    def again(self, said: Read) -> str | None:
        """What an answer about a file comes to now; None of any other."""
        kind, path, *rest = said
        if kind == "outline":
            return head(self.of(path, module_name(path, package_root(path))))
        outline = self.of(path, module_name(path, package_root(path))) if kind in self._parts.kinds else None
        return None if outline is None else self._parts.again(kind, outline, rest)

    def named(self, dotted: str, near: str = "") -> Outline | None:
        """The outline of a module of the tree by its dotted name, as the file `near` sees it."""
        path = self._tree.file(dotted, near)
        return self.of(path, dotted) if path else None

    def keep(self) -> None:
        """Keep what was asked for the runs to come."""
        store = kept.store()
        if store is not None:
            for asked in self._asked:
                asked.keep(store)

    def _outline(self, path: str, name: str) -> Outline | None:
        data, store = self._content(path), kept.store()
        if isinstance(data, Unread):
            return None
        whole = cache(partial(_parsed, data, path, name))
        try:
            if store is None:
                return whole()
            asked = _Asked.of(store, kept.key("outline", data, path, name), whole)
        except ReadError:
            return None
        self._asked.append(asked)
        return asked.outline(path, name)


def head(outline: Outline | None) -> str:
    """What a file defines and hands on, wherever in it that stands."""
    if outline is None:
        return ""
    told = (list(outline.places), outline.imports, outline.stars, outline.classes, sorted(outline.picked.items()))
    return digest_of((*told, sorted(outline.outside.items())))


class PartsAsked:
    """What was asked of outlines: who is handed a part has read this part of the file. The kinds of its answers begin
    with `of`.
    """

    def __init__(self, of: str = "") -> None:
        self.kinds = tuple(f"{of}{part}" for part in ("definition", "instances", "places"))
        self.definitions, self.instances, self.places = (memory(kind, digest_of) for kind in self.kinds)

    def noting(self, outline: Outline) -> Outline:
        """An outline whose parts note that they are asked for."""
        return replace(
            outline,
            definitions=_DefinitionsAsked(outline.definitions, partial(self._definition, outline)),
            places=_PlacesSeen(outline.places, partial(self._placed, outline)),
            instances=partial(self._instances, outline),
        )

    def again(self, kind: str, outline: Outline, asked: Sequence[str]) -> str:
        """What a part comes to now, of an outline that notes."""
        definition, _, places = self.kinds
        if kind == places:
            return digest_of(tuple(outline.places.values()))
        name, *given = asked
        if name not in outline.definitions:
            return ""
        if kind == definition:
            return digest_of(outline.definitions[name])
        return digest_of(outline.instances(name, tuple(given), lambda _: None) if outline.instances else ())

    def _definition(self, outline: Outline, name: str) -> Definition:
        key = (outline.path, name)
        if key not in self.definitions:
            read("file", outline.path)
            self.definitions[key] = outline.definitions[name]
        found: Definition = self.definitions[key]
        return found

    def _placed(self, outline: Outline) -> None:
        """Somebody has seen where the definitions of a file stand."""
        key = (outline.path,)
        if key not in self.places:
            read("file", outline.path)
            self.places[key] = tuple(outline.places.values())

    def _instances(
        self, outline: Outline, name: str, given: tuple[str, ...], decide: Callable[[Expr], bool | None]
    ) -> tuple[Definition, ...]:
        key = (outline.path, name, *given)
        if key not in self.instances:
            read("file", outline.path)
            self.instances[key] = outline.instances(name, given, decide) if outline.instances is not None else ()
        found: tuple[Definition, ...] = self.instances[key]
        return found


@dataclass(frozen=True, slots=True)
class _DefinitionsAsked(Mapping[str, Definition]):
    """Definitions that note that they are asked for; their names belong to the outline itself."""

    names: Mapping[str, object]
    ask: Callable[[str], Definition]

    def __getitem__(self, name: str) -> Definition:
        if name not in self.names:
            raise KeyError(name)
        return self.ask(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class _PlacesSeen(dict[str, Span]):
    """Places that note that somebody has seen them."""

    def __init__(self, places: Mapping[str, Span], note: Callable[[], None]) -> None:
        super().__init__(places)
        self._note = note

    def __getitem__(self, name: str) -> Span:
        self._note()
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._note()
        return super().get(name, default)

    def items(self) -> Any:
        self._note()
        return super().items()

    def values(self) -> Any:
        self._note()
        return super().values()


def _parsed(data: bytes, path: str, name: str) -> Outline:
    from bwlint.readers.python.outline import outline

    source = decode(data)
    if isinstance(source, Unread):
        raise ReadError(source.reason)
    return outline(path, source, name, _is_package(path))


def _is_package(path: str) -> bool:
    return os.path.basename(path) == "__init__.py"


@dataclass(slots=True)
class _Asked:
    """What was asked of a file's outline, in this run and in earlier ones; the rest is parsed when somebody asks."""

    key: bytes
    whole: _Whole
    places: dict[str, Span]
    imports: dict[str, str]
    stars: tuple[str, ...]
    classes: tuple[str, ...]
    picked: dict[str, tuple[str, ...]]
    definitions: dict[str, Definition] = field(default_factory=dict)
    instances: dict[tuple[str, tuple[str, ...]], tuple[Definition, ...]] = field(default_factory=dict)
    known: int = -1
    """How much of the last two the index has."""

    @classmethod
    def of(cls, store: Store, key: bytes, whole: _Whole) -> _Asked:
        """What the index knows, or what the file says. Raises ReadError."""
        data = store.get(key)
        if data is not None:
            with suppress(kept.NotData):
                places, imports, stars, classes, picked, definitions, instances = kept.unpacked(data)
                known = len(definitions) + len(instances)
                return cls(key, whole, places, imports, stars, classes, picked, definitions, instances, known)
        found = whole()
        return cls(key, whole, dict(found.places), found.imports, found.stars, found.classes, dict(found.picked))

    def outline(self, path: str, name: str) -> Outline:
        return Outline(
            path=path,
            name=name,
            is_package=_is_package(path),
            language="python",
            definitions=OnDemand(self.places, self._definition),
            places=self.places,
            imports=self.imports,
            stars=self.stars,
            classes=self.classes,
            picked=self.picked,
            instances=lambda qualname, given, _: self._instances(qualname, given),
        )

    def keep(self, store: Store) -> None:
        if len(self.definitions) + len(self.instances) != self.known:
            told = (self.places, self.imports, self.stars, self.classes, self.picked, self.definitions, self.instances)
            with suppress(kept.NotData):
                store.put(self.key, kept.packed(told))

    def _definition(self, qualname: str, at: Span) -> Definition:
        if qualname not in self.definitions:
            self.definitions[qualname] = self.whole().definitions[qualname]
        return self.definitions[qualname]

    def _instances(self, qualname: str, given: tuple[str, ...]) -> tuple[Definition, ...]:
        if (qualname, given) not in self.instances:
            made = self.whole().instances
            self.instances[qualname, given] = made(qualname, given, lambda _: None) if made is not None else ()
        return self.instances[qualname, given]
