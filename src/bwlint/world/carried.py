"""Imported names that carry the device into a file: helpers, constants, classes."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from bwlint.index import kept
from bwlint.readers import ReadError
from bwlint.readers.python import look, may_matter, parse
from bwlint.readers.python import matters as matters_by_itself
from bwlint.readers.python.carriers import SHORT, offered, trace
from bwlint.readers.python.vocabulary import lines_with
from bwlint.sources import disk
from bwlint.sources.read import Unread, read_bytes, text_of
from bwlint.sources.recorder import Read, assume, memory, read, recalled_property
from bwlint.sources.tree import entries, find_module, import_roots, module_name, package_root

MAX_STEPS = 3
"""Files from the one that asks to the source, facades among them."""
MAX_BLOCKS = 30
"""Definitions of one file that a helper is followed through."""
MAX_LINES = 400
"""Lines of a definition that is looked into: what is longer is a program of its own."""
_IMPORT = re.compile(r"import[ \t]+(\([^)]*\)|[^\n#;]*)")
_ORIGIN = re.compile(r"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+)?")
"""What stands on a line before `import`: a plain character in front lets the engine skip to the next candidate."""
_NAME = re.compile(r"([\w.]+|\*)(?:\s+as\s+(\w+))?")
_BLOCK = re.compile(r"^[^\s)\]}#].*(?:\n(?:[ \t)\]}#].*|(?:elif|else|except|finally)\b.*)?)*", re.MULTILINE)
_DEFINED = re.compile(r"(?:(?:async\s+)?def|class)\s+(\w+)|(\w+)(?:\s*,\s*(\w+))?[^\n=()]*=(?!=)")
_DEFINED_WITHIN = re.compile(r"^[ \t]+(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)?(\w+)", re.MULTILINE)
_WITHIN = re.compile(r"(?:if|try|with)\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NOTHING = frozenset[str]()
_Importing = tuple[str, str]
"""The module of a statement, "" where it names modules alone, and its names as they are written."""


class _Import(NamedTuple):
    module: str
    name: str | None
    local: str


@dataclass
class _Block:
    """A top-level statement: its text, and how many lines are above it."""

    text: str
    above: int

    @property
    def body(self) -> list[ast.stmt]:
        """What it is parsed to, at its place in the file; nothing where it cannot be."""
        try:
            return parse("\n" * self.above + self.text).body
        except (ReadError, RecursionError):
            return []

    def lines_with(self, words: Iterable[str]) -> Iterator[int]:
        return (self.above + line for line in lines_with(words, self.text))


@dataclass
class _Source:
    """A file, cut at its top-level definitions; its text is read once more if somebody asks for it."""

    real: str
    asking: tuple[str, ...]
    importing: tuple[_Importing, ...]
    matters: bool
    reached: dict[str, tuple[frozenset[str], frozenset[str], bool]] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        return text_of(read_bytes(self.real)) or ""

    @recalled_property
    def imports(self) -> tuple[_Import, ...]:
        package = module_name(self.real, package_root(self.real))
        if os.path.basename(self.real) != "__init__.py":
            package = package.rpartition(".")[0]
        return tuple(_imports(self.importing, package, _tops(self.roots)))

    @recalled_property
    def roots(self) -> tuple[str, ...]:
        root = package_root(self.real)
        return (root, *import_roots(root))

    @cached_property
    def blocks(self) -> dict[str, list[_Block]]:
        """The statements that define a name: several where it is defined anew, or by parts."""
        found: dict[str, list[_Block]] = {}
        above = position = 0
        for match in _BLOCK.finditer(self.text):
            above, position = above + self.text.count("\n", position, match.start()), match.start()
            start = _DEFINED.match(match[0])
            names = start.groups() if start else _DEFINED_WITHIN.findall(match[0]) if _WITHIN.match(match[0]) else ()
            block = _Block(match[0], above)
            for name in dict.fromkeys(filter(None, names)):
                found.setdefault(name, []).append(block)
        return found

    def taken_of(self, local: str) -> frozenset[str]:
        """The attributes of an imported name that are used; the literal comes first, for speed."""
        if f"{local}." not in self.text:
            return _NOTHING
        name = re.escape(local)
        return frozenset(re.findall(rf"{name}(?<!\w{name})\.(\w+)", self.text))

    def reach(self, name: str) -> tuple[frozenset[str], frozenset[str], bool]:
        """The definitions that one is made of, what else they name, and whether any asks the device."""
        todo, seen, outside, asks = [name], {name}, set[str](), False
        while todo and len(seen) <= MAX_BLOCKS:
            block = "".join(part.text for part in self.blocks[todo.pop()])
            lines = block.count("\n")
            asks = asks or (lines < MAX_LINES and any(word in block for word in self.asking))
            long = block.startswith("class") or lines > SHORT
            used = set(_WORD.findall(block.partition("\n")[0] if long else block)) - seen
            todo += sorted(used & self.blocks.keys())
            outside |= used - self.blocks.keys()
            seen |= used & self.blocks.keys()
        bound = {item.local for item in self.imports}
        return frozenset(seen), frozenset(outside if "*" in bound else outside & bound), asks


def _told(words: frozenset[str]) -> str:
    return " ".join(sorted(words))


@dataclass(slots=True)
class _Carried:
    """What is known in one run."""

    sources: dict[str, _Source | None] = field(default_factory=memory)
    leads: dict[tuple[str, int], bool] = field(default_factory=partial(memory, "leads"))
    files: dict[tuple[str, tuple[str, ...]], str | None] = field(default_factory=memory)
    names: dict[tuple[str, int], frozenset[str]] = field(default_factory=partial(memory, "names", _told))
    words: dict[tuple[str, str, int], frozenset[str]] = field(default_factory=partial(memory, "words", _told))
    offers: dict[tuple[str, frozenset[str], frozenset[str]], dict[str, frozenset[str]]] = field(default_factory=dict)

    def of_imports(self, source: _Source, asked: frozenset[str] | None, steps: int) -> frozenset[str]:
        """The words that the imports of a file bring, of the local names that are asked for."""
        taken = (one for one in source.imports if asked is None or one.local in asked or one.name == "*")
        return _NOTHING.union(*(self._of_import(source, item, asked, steps) for item in taken))

    def _of_import(self, source: _Source, item: _Import, asked: frozenset[str] | None, steps: int) -> frozenset[str]:
        real = self._leading(item.module, source.roots, steps - 1)
        if item.name == "*":
            names = self.star(real, steps) if real else _NOTHING
            return self._of_names(real, names if asked is None else names & asked, steps - 1) if real else _NOTHING
        if item.name is not None and real:
            words = self.of_name(real, item.name, steps - 1)
            is_class = item.name[0].isupper() and not item.name.isupper()
            if words and is_class and not _is_made(source.text, item.local):
                return _NOTHING  # it is named in annotations alone
            if words:
                return words | {item.local} if item.name in words else words
        inner = real if item.name is None else self._leading(f"{item.module}.{item.name}", source.roots, steps - 1)
        return self._of_names(inner, source.taken_of(item.local), steps - 1) if inner else _NOTHING

    def star(self, real: str, steps: int) -> frozenset[str]:
        """What a star import of a file brings."""
        key = (real, steps)
        if key not in self.names:
            assume(self.names, key, _NOTHING)
            source = self._source(real)
            self.names[key] = self._names(source, steps) if source is not None else _NOTHING
        return self.names[key]

    def _names(self, source: _Source, steps: int) -> frozenset[str]:
        found = frozenset(source.blocks) | {item.local for item in source.imports}
        for item in source.imports if steps > 1 else ():
            real = self._file(item.module, source.roots) if item.name == "*" else None
            found |= self.star(real, steps - 1) if real else _NOTHING
        return found

    def _of_names(self, real: str, names: frozenset[str], steps: int) -> frozenset[str]:
        return _NOTHING.union(*(self.of_name(real, name, steps) for name in names))

    def of_name(self, real: str, name: str, steps: int) -> frozenset[str]:
        """The words that carry in a file because it has `name` of another one."""
        if steps <= 0:
            return _NOTHING
        key = (real, name, steps)
        if key not in self.words:
            assume(self.words, key, _NOTHING)
            source = self._source(real)
            if source is None:
                self.words[key] = _NOTHING
            elif name in source.blocks:
                self.words[key] = self._of_definition(source, name, steps)
            else:
                self.words[key] = self.of_imports(source, frozenset({name}), steps)
        return self.words[key]

    def _of_definition(self, source: _Source, name: str, steps: int) -> frozenset[str]:
        if name not in source.reached:
            source.reached[name] = source.reach(name)
        seen, outside, asks = source.reached[name]
        given = self.of_imports(source, outside, steps)
        if not asks and not given:
            return _NOTHING
        key = (source.real, given, seen)
        if key not in self.offers:
            self.offers[key] = _offers([part for one in seen for part in source.blocks[one]], given)
        brought = self.offers[key].get(name, _NOTHING)
        return brought | given if source.blocks[name][0].text.startswith("class") and given else brought

    def _leading(self, dotted: str, roots: tuple[str, ...], steps: int) -> str | None:
        """The file of a module, where it asks the device or imports one that does within so many steps."""
        real = self._file(dotted, roots)
        return real if real is not None and self.leading(real, steps) else None

    def leading(self, real: str, steps: int) -> bool:
        """Whether a file asks the device, or imports one that does within so many steps."""
        key = (real, steps)
        if key not in self.leads:
            source = self._source(real) if steps > 0 else None
            self.leads[key] = source is not None and (bool(source.asking) or self._imports_lead(source, steps - 1))
        return self.leads[key]

    def _imports_lead(self, source: _Source, steps: int) -> bool:
        if steps <= 0:
            return False
        names = (f"{item.module}.{item.name}" if item.name else item.module for item in source.imports)
        modules = dict.fromkeys((*names, *(item.module for item in source.imports)))
        return any(self._leading(module, source.roots, steps) is not None for module in modules)

    def _file(self, dotted: str, roots: tuple[str, ...]) -> str | None:
        key = (dotted, roots)
        if key not in self.files:
            self.files[key] = find_module(dotted, roots)
        return self.files[key]

    def _source(self, real: str) -> _Source | None:
        if real not in self.sources:
            self.sources[real] = _cut(real, read_bytes(real))
        return self.sources[real]

    def source(self, real: str, data: bytes) -> _Source | None:
        """The same of a file whose content the caller has read: who is handed it later has read it too."""
        if real not in self.sources:
            read("file", real)
            self.sources[real] = _cut(real, data)
        return self.sources[real]


def _cut(real: str, data: bytes | Unread) -> _Source | None:
    text = text_of(data)
    if text is None or isinstance(data, Unread):
        return None
    said = partial(_said, data, text)
    asking, importing, matters = said() if kept.store() is None else kept.answered(kept.key("imports", data), said)
    source = _Source(real, asking, importing, matters)
    if asking or matters:
        vars(source)["text"] = text  # most of these are asked for it
    return source


def _said(data: bytes, text: str) -> tuple[tuple[str, ...], tuple[_Importing, ...], bool]:
    """The names in a file by which code asks for the device, its imports, and whether it may matter by itself."""
    looked = look(data)
    return looked.named(), tuple(_statements(text)), matters_by_itself(looked)


def _statements(text: str) -> Iterator[_Importing]:
    for match in _IMPORT.finditer(text):
        before = _ORIGIN.fullmatch(text, text.rfind("\n", 0, match.start()) + 1, match.start())
        if before:
            yield before[1] or "", match[1]


_known = _Carried()


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    global _known
    _known = _Carried()


def again(said: Read) -> str | None:
    """What an answer about imports comes to now; None of any other."""
    kind, real, *rest = said
    if kind == "leads":
        return str(_known.leading(real, int(rest[0])))
    if kind == "names":
        return _told(_known.star(real, int(rest[0])))
    return _told(_known.of_name(real, rest[0], int(rest[1]))) if kind == "words" else None


def let_go() -> None:
    """Forget the texts of files, of which few are asked for again."""
    for source in _known.sources.values():
        for name in ("text", "blocks") if source is not None else ():
            vars(source).pop(name, None)


def carried(real: str, data: bytes) -> frozenset[str]:
    """The words of a Python file that carry because of its imports."""
    source = _known.source(real, data)
    return _known.of_imports(source, None, MAX_STEPS) if source is not None else _NOTHING


def matters(real: str, data: bytes) -> bool:
    """Whether a Python file may matter whatever its imports bring and the configuration names."""
    source = _known.source(real, data)
    return source.matters if source is not None else may_matter(data)


def _offers(blocks: Iterable[_Block], given: frozenset[str]) -> dict[str, frozenset[str]]:
    """What definitions bring to who imports them, which takes parsing them."""
    parts = sorted({block.above: block for block in blocks}.values(), key=lambda block: block.above)
    if kept.store() is None:
        return _offered(parts, given)
    text = "\0".join(f"{block.above} {block.text}" for block in parts)
    key = kept.key("offers", text.encode("utf-8", "surrogatepass"), given)
    return kept.answered(key, lambda: _offered(parts, given))


def _offered(parts: Sequence[_Block], given: frozenset[str]) -> dict[str, frozenset[str]]:
    """The same of blocks in order; words of a docstring look like one at times, and are left out."""
    tree = ast.Module([node for block in parts for node in block.body], [])

    def lines(words: Iterable[str]) -> set[int]:
        known = frozenset(words)
        return {line for block in parts for line in block.lines_with(known)}

    return offered(tree, trace(tree, lines, set(), given).words)


def _is_made(text: str, name: str) -> bool:
    """Whether a file makes objects of a class, asks it, or has a class below it."""
    return any(form in text for form in (f"{name}(", f"{name}.", f"({name}", f", {name})"))


@disk.remembered
def _tops(roots: tuple[str, ...]) -> frozenset[str]:
    return _NOTHING.union(*map(entries, roots))


def _imports(importing: Iterable[_Importing], package: str, tops: frozenset[str]) -> Iterator[_Import]:
    """The imports of a file that may be of the tree, whose modules begin with one of `tops`."""
    for origin, names in importing:
        if origin and origin[0] != "." and origin.partition(".")[0] not in tops:
            continue
        listed = re.sub(r"#[^\n]*", "", names).strip("()")
        for found in _NAME.finditer(listed):
            name, local = found[1], found[2] or found[1]
            yield _Import(_absolute(origin, package), name, local) if origin else _Import(name, None, local)


def _absolute(origin: str, package: str) -> str:
    level = len(origin) - len(origin.lstrip("."))
    if not level:
        return origin
    parts = package.split(".") if package else []
    return ".".join(filter(None, (*parts[: len(parts) - level + 1], origin[level:])))
