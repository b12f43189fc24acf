"""YAML as PyYAML reads it: keys, pairs of `name` and `value`, lines of jobs. Nothing is constructed or expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_LONGEST = 200_000
"""Characters: a longer file is no configuration that somebody wrote."""
_MOST_NODES = 20_000
_DEEPEST = 100
_MOST_ITEMS = 100
_LONGEST_VALUE = 4096
_LONGEST_LINE = 2000
_LONGEST_BESIDE = 200
_GIVEN = ("value", "default")
"""The keys of what a variable gets, beside its name or below it."""
_QUOTES = ("'", '"')
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Bytes that are no UTF-8."""
_PROPERTIES = re.compile(r"(?:[!&]\S*\s+)*")


@dataclass(slots=True, eq=False)
class YamlNode:
    """`source[start:end]`: a scalar without its quotes, or a collection: items, or keys and values in turns."""

    start: int
    end: int
    value: str | None = None
    style: str = ""
    is_mapping: bool = False
    items: list[YamlNode] = field(default_factory=list)

    def pairs(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        return zip(self.items[::2], self.items[1::2], strict=False) if self.is_mapping else iter(())


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name gets: `value` as YAML has it, of the scalars at `source[start:end]` (with the quotes of several).

    `keys` lead to it, outermost first; `beside` is what the scalars of the same mapping say.
    """

    name: str
    value: str
    start: int
    end: int
    keys: tuple[str, ...]
    beside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Yaml:
    """The entries of a file, the offsets of its keys, and the stretch and text (without comments) of each job."""

    entries: tuple[Entry, ...] = ()
    keys: frozenset[int] = frozenset()
    jobs: tuple[tuple[range, str], ...] = ()


def read_yaml(source: str) -> Yaml:
    """A file of YAML; an empty one for what is none (a template), and what is longer or deeper than people write."""
    documents = _composed(source)
    keys: set[int] = set()
    entries = tuple(_entries(documents, keys))
    jobs = tuple(job for document in documents for job in _jobs(source, document))
    return Yaml(entries, frozenset(keys), jobs)


def _composed(source: str) -> list[YamlNode]:
    if len(source) > _LONGEST:
        return []
    import yaml

    # A mark of byte order is no column, and PyYAML's two readers count it differently.
    text = _NO_TEXT.sub("?", f"\n{source[1:]}" if source.startswith("\ufeff") else source)
    documents: list[YamlNode] = []
    open_ones: list[YamlNode] = []
    anchors: dict[str, YamlNode] = {}
    try:
        for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
            if count > _MOST_NODES or len(open_ones) > _DEEPEST:
                return []
            if isinstance(event, yaml.CollectionEndEvent):
                ended = open_ones.pop()  # a block ends where something else begins
                ended.end = ended.start + len(source[ended.start : event.end_mark.index].rstrip())
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            is_alias = isinstance(event, yaml.AliasEvent)
            node = anchors[event.anchor] if is_alias else _node(source, event)
            (open_ones[-1].items if open_ones else documents).append(node)
            if event.anchor:
                anchors[event.anchor] = node
            if isinstance(event, yaml.CollectionStartEvent):
                node.is_mapping = isinstance(event, yaml.MappingStartEvent)
                open_ones.append(node)
    except (yaml.YAMLError, ValueError, OverflowError, KeyError, RecursionError):
        return []
    return documents


def _node(source: str, event: Any) -> YamlNode:
    start, end = event.start_mark.index, event.end_mark.index
    if not hasattr(event, "value"):
        return YamlNode(start, end)
    properties = _PROPERTIES.match(source, start, end)
    start = properties.end() if properties else start
    if event.style in _QUOTES:
        start, end = start + 1, end - 1
    elif event.style in ("|", ">"):
        header = source.find("\n", start, end)
        start = header + 1 if header >= 0 else end
        start += len(source[start:end]) - len(source[start:end].lstrip())
        end = start + len(source[start:end].rstrip())
    return YamlNode(start, end, event.value, event.style or "")


def _entries(documents: list[YamlNode], offsets: set[int]) -> Iterator[Entry]:
    """The entries of all mappings, each mapping once; the offsets of keys are noted."""
    seen: set[int] = set()
    left: list[tuple[YamlNode, tuple[str, ...]]] = [(document, ()) for document in reversed(documents)]
    while left:
        node, keys = left.pop()
        if node.value is not None or id(node) in seen:
            continue
        seen.add(id(node))
        if not node.is_mapping:
            left += [(item, keys) for item in reversed(node.items)]
            continue
        scalars = {key.value: value for key, value in node.pairs() if key.value and value.value is not None}
        beside = tuple(f"{key}: {value.value or ''}"[:_LONGEST_BESIDE] for key, value in scalars.items())[:_MOST_ITEMS]
        given = next((scalars[key] for key in _GIVEN if key in scalars), None)
        if given is not None and "name" in scalars:
            name = scalars["name"].value or ""
            yield from _given(name, given, (*keys, name), beside)
        for key, value in node.pairs():
            offsets.add(key.start)
            if key.value:
                yield from _given(key.value, value, (*keys, key.value), beside)
        left += [(value, (*keys, key.value or "")) for key, value in reversed(list(node.pairs()))]


def _given(name: str, value: YamlNode, keys: tuple[str, ...], beside: tuple[str, ...]) -> Iterator[Entry]:
    """What a name gets: a scalar, a sequence of them, or the `default` of a mapping."""
    if value.is_mapping:
        value = next((one for key, one in value.pairs() if key.value in _GIVEN), value)
    scalars = [value] if value.value is not None else value.items
    texts = [one.value for one in scalars if one.value is not None]
    if texts and len(texts) == len(scalars) <= _MOST_ITEMS and sum(map(len, texts)) <= _LONGEST_VALUE:
        yield Entry(name, " ".join(texts), *_stretch(value, scalars), keys, beside)


def _stretch(value: YamlNode, scalars: list[YamlNode]) -> tuple[int, int]:
    """Where a scalar stands, or the items of a sequence, all of which are scalars."""
    if value.value is not None:
        return value.start, value.end
    if any(not value.start <= one.start < value.end for one in scalars):
        return value.start, value.end  # an alias stands elsewhere
    first, last = scalars[0], scalars[-1]
    return first.start - (first.style in _QUOTES), last.end + (last.style in _QUOTES)


def _jobs(source: str, document: YamlNode) -> Iterator[tuple[range, str]]:
    """The jobs of a workflow: what is below each key of `jobs`."""
    jobs = next((value for key, value in document.pairs() if key.value == "jobs"), None)
    if jobs is None or not jobs.is_mapping:
        return
    for first, last in pairwise([*(key.start for key, _ in jobs.pairs()), jobs.end]):
        said = (line for line in source[first:last].splitlines(keepends=True) if not line.lstrip().startswith("#"))
        yield range(first, last), "".join(line[:_LONGEST_LINE] for line in said)
