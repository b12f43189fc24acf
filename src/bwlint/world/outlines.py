"""The outlines of Python files: read once in a run, and not parsed where an earlier run has asked the same of it."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial

from bwlint.index import kept
from bwlint.index.store import Store
from bwlint.model.expr import Span
from bwlint.model.outline import Definition, Outline
from bwlint.readers.ondemand import OnDemand
from bwlint.sources.errors import ReadError
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.recorder import memory
from bwlint.world.tree import Tree

_Whole = Callable[[], Outline]
"""Parses the file; raises ReadError."""


class Outlines:
    """The outlines of the files of a run, by real path, each read once."""

    def __init__(self, tree: Tree, read: Callable[[str], bytes | Unread] = read_bytes) -> None:
        self._tree = tree
        self._read = read
        self._known: dict[str, Outline | None] = memory()
        self._asked: list[_Asked] = []

    def of(self, path: str, name: str) -> Outline | None:
        """The outline of a Python file; None where it cannot be read."""
        if path not in self._known:
            self._known[path] = self._outline(path, name)
        return self._known[path]

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
        data, store = self._read(path), kept.store()
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
