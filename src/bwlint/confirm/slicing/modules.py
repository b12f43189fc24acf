"""The modules of a tree, by their dotted names: what each binds, and by which statements."""

# Paths are plain strings here, as in `world.tree`.
# ruff: noqa: PTH113, PTH118, PTH119

from __future__ import annotations

import ast
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from bwlint.confirm.slicing.syntax import Scope, absolute, bound, changed
from bwlint.readers.python import parse
from bwlint.sources.errors import ReadError
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.tree import import_roots, module_name, package_root


@dataclass(frozen=True, slots=True)
class File:
    """A module of the tree: its statements, and which of them bind a name."""

    dotted: str
    package: str
    tree: ast.Module
    bindings: dict[str, list[int]]
    stars: tuple[str, ...]
    written: frozenset[str]
    """Names that a function assigns by `global`."""


class Files:
    """The modules that imports of one file, which lies at `real`, may reach."""

    def __init__(self, home: File, real: str) -> None:
        folder = package_root(real)
        self._roots = tuple(dict.fromkeys([folder, *import_roots(folder)]))
        self._known: dict[str, File | None] = {home.dotted: home}

    def find(self, dotted: str) -> File | None:
        if dotted not in self._known:
            self._known[dotted] = self._read(dotted)
        return self._known[dotted]

    def _read(self, dotted: str) -> File | None:
        relative = dotted.replace(".", os.sep)
        for root in self._roots:
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                source = source_of(path) if os.path.isfile(path) else None
                if isinstance(source, str):
                    with suppress(ReadError):
                        return file_of(dotted, candidate.endswith("__init__.py"), source)
                    return None
        return None


def source_of(path: str) -> str | Unread:
    data = read_bytes(path)
    return data if isinstance(data, Unread) else decode(data)


def home_of(real: str, nested: str = "the file is nested too deep") -> File | str:
    """The module in a file; a string says why there is none, `nested` where it is too deep for Python."""
    source = source_of(real)
    if isinstance(source, Unread):
        return f"the file is not readable any more: {source.reason}"
    try:
        return file_of(module_name(real, package_root(real)), os.path.basename(real) == "__init__.py", source)
    except ReadError as error:
        return f"the file does not parse: {error}"
    except RecursionError:
        return nested


# A finding after the other asks for the same files.
@lru_cache(maxsize=64)
def file_of(dotted: str, is_package: bool, source: str) -> File:
    """A module by its text. Raises `ReadError`."""
    tree = parse(source)
    package = dotted if is_package else dotted.rpartition(".")[0]
    bindings: dict[str, list[int]] = {}
    stars: list[str] = []
    for index, node in enumerate(tree.body):
        if isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) in _FOR_TYPES:
            continue  # it never runs
        for name in sorted({*bound(node), *(changed(node) if not isinstance(node, Scope) else ())}):
            bindings.setdefault(name, []).append(index)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            stars.append(absolute(node, package))
    written = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    return File(dotted, package, tree, bindings, tuple(stars), frozenset(written))


_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
