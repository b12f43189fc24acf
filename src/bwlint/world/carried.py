"""What the imports of a file bring that carries the device: helpers, constants and classes of other files of the tree.

It is known from the bytes of the files alone, so that a run on one file sees what a run on the tree sees.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from bwlint.readers import ReadError
from bwlint.readers.python import may_read_device, parse
from bwlint.readers.python.carriers import may_carry, offered, trace
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.tree import find_module, import_roots, module_name, package_root

MAX_STEPS = 4
"""Files from the source to the one that asks, facades among them."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME = re.compile(r"([\w.]+|\*)(?:\s+as\s+(\w+))?")
Brought = dict[str, frozenset[str]]
"""Local names, and the words in a file that carry because of each."""


class _Import(NamedTuple):
    module: str
    name: str | None
    local: str


_imports: dict[str, tuple[_Import, ...]] = {}
_offers: dict[tuple[str, int], Brought] = {}


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    _imports.clear()
    _offers.clear()


def carried(real: str, data: bytes) -> frozenset[str]:
    """The words of a Python file that carry because of its imports."""
    return frozenset[str]().union(*_brought(real, data, MAX_STEPS).values())


def _brought(real: str, data: bytes, steps: int) -> Brought:
    found: Brought = {}
    roots: tuple[str, ...] | None = None
    for module, name, local in _listed(real, data):
        if roots is None:
            root = package_root(real)
            roots = (root, *import_roots(root))
        words = _of_import(module, name, roots, steps)
        if name == "*":
            found |= words
        elif words:
            brought = frozenset[str]().union(*words.values())
            known = found.get(local, frozenset())
            found[local] = known | brought | ({local} if name in brought else frozenset())
    return found


def _of_import(module: str, name: str | None, roots: tuple[str, ...], steps: int) -> Brought:
    path = find_module(module, roots)
    offered = _offered(path, steps - 1) if path else {}
    if name is None or name == "*":
        return offered
    if name in offered:
        return {name: offered[name]}
    inner = find_module(f"{module}.{name}", roots)
    return _offered(inner, steps - 1) if inner else {}


def _offered(real: str, steps: int) -> Brought:
    """What a file gives to those who import it."""
    key = (real, steps)
    if key not in _offers:
        _offers[key] = {}
        data = read_bytes(real) if steps > 0 else b""
        if not isinstance(data, Unread) and data:
            handed_on = _brought(real, data, steps)
            _offers[key] = {**handed_on, **_own(data, frozenset[str]().union(*handed_on.values()))}
    return _offers[key]


def _own(data: bytes, given: frozenset[str]) -> Brought:
    if not given and not may_read_device(data):
        return {}
    source = decode(data)
    if isinstance(source, Unread) or not may_carry(source, given):
        return {}
    try:
        tree = parse(source)
        return offered(tree, trace(tree, source, set(), given).words)
    except (ReadError, RecursionError):
        return {}


def _listed(real: str, data: bytes) -> tuple[_Import, ...]:
    if real not in _imports:
        root = package_root(real)
        package = module_name(real, root)
        if os.path.basename(real) != "__init__.py":
            package = package.rpartition(".")[0]
        _imports[real] = tuple(_read(data, package))
    return _imports[real]


def _read(data: bytes, package: str) -> Iterator[_Import]:
    for match in _IMPORT.finditer(data):
        origin, names, modules = (part.decode("utf-8", "replace") if part else "" for part in match.groups())
        listed = re.sub(r"#[^\n]*", "", names or modules).strip("()")
        for found in _NAME.finditer(listed):
            name, local = found[1], found[2] or found[1]
            if origin:
                yield _Import(_absolute(origin, package), name, local)
            else:
                yield _Import(name, None, local)


def _absolute(origin: str, package: str) -> str:
    level = len(origin) - len(origin.lstrip("."))
    if not level:
        return origin
    parts = package.split(".") if package else []
    return ".".join(filter(None, (*parts[: len(parts) - level + 1], origin[level:])))
