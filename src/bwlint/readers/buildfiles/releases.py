"""Releases that build files name: the CUDA versions of a workflow's matrix, wheels of torch, floors of packages.

Each comes out as an operation: `cuda-matrix`, named after the newest of its releases, where the file has no newer one;
`wheel-index`, after the release that the wheels are made with; `package-floor`, after the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from bwlint.chips.spelling import spelled
from bwlint.chips.surroundings import packages
from bwlint.chips.toolkits import Toolkits, every_toolkit, releases, version
from bwlint.model.details import LeastRelease, PickedTarget, WheelIndex
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.versions import of_condition
from bwlint.readers.buildfiles.yaml import Yaml, read_yaml

_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:nightly/|test/)?cu([0-9]{2})([0-9])(?![0-9])")
_MATRIX = re.compile(r"cuda(?:[-_]?ver(?:sion)?s?)?", re.I)
_ONE = re.compile(r"(?:cu)?([0-9]{2})\.?([0-9])(?:\.[0-9]{1,2})?")
_FLOOR = re.compile(
    rf"[\"'](?P<package>{'|'.join(map(re.escape, packages()))})(?:\[[\w, -]{{1,60}}\])?"
    r"[ \t]*>=[ \t]*(?P<version>[0-9][0-9.]{0,12})"
)
_COMMENT = re.compile(r"(?:^|\s)#")
_IN_FRONT = 300
"""Characters in front of a place that speak of it."""
_LONGEST = 400
"""Characters of a line in front of a place in which a comment may begin."""
_LEAST_MATRIX = 3
_MOST = 40
_WORDS = (b"download.pytorch.org/whl/", *(package.encode() for package in packages()))
_YAML = (".yml", ".yaml")
_EXACT = (b"12.0a", b"120a")
_END = r"[\"']?(?:[ \t]{1,8}#[^\n]{0,200})?\s{1,40}"
"""What may follow a value up to the next word."""
_ARMS = re.compile(
    r"\bif[ \t]{1,8}(?P<condition>[^\n;]{1,300})(?:;|\n)\s{0,40}then\s{1,40}(?P<name>\w{1,60})=[\"']?"
    rf"(?P<first>[\w.]{{3,12}}){_END}else\s{{1,40}}(?P=name)=[\"']?(?P<second>[\w.]{{3,12}}){_END}fi\b"
)
_IS_LIST = re.compile(r"(?i)list|archs|arches|architectures")
"""Lists are read with all their arms."""


def may_hold(data: bytes) -> bool:
    named = any(word in data for word in _WORDS) or (b"matrix:" in data and b"cuda" in data.lower())
    return named or _may_pick(data)


def operations(path: str, source: str) -> tuple[Operation, ...]:
    if not may_hold(source.encode("utf-8", "surrogatepass")):
        return ()
    places = Places(source)
    found = [*_indices(source, places), *_floors(path, source, places)]
    if path.endswith(_YAML) and "matrix:" in source:
        found += _matrices(source, places)
    return (*found[:_MOST], *_picked(source, places))


def _indices(source: str, places: Places) -> Iterator[Operation]:
    for match in _INDEX.finditer(source):
        if not _commented(source, match.start(), places):
            near = source[max(0, match.start() - _IN_FRONT) : match.end()]
            at = places.span(match.start(), match.end())
            yield Operation("wheel-index", f"{match[1]}.{match[2]}", at, detail=WheelIndex(near))


def _floors(path: str, source: str, places: Places) -> Iterator[Operation]:
    for match in _FLOOR.finditer(source) if path.endswith((".toml", ".cfg")) else ():
        if not _commented(source, match.start(), places):
            at = places.span(match.start() + 1, match.end())
            yield Operation("package-floor", match["package"], at, detail=LeastRelease(match["version"].rstrip(".")))


def of_row(beside: Iterable[str]) -> Toolkits:
    """The release that a row of a matrix is for: `{arch: "9.0 12.0a", cuda: "12.8"}`."""
    pairs = (one.partition(": ") for one in beside)
    return _named(value for name, _, value in pairs if _MATRIX.fullmatch(name)) or every_toolkit()


def of_matrix(yaml: Yaml, start: int) -> Toolkits:
    """The releases that the job at a place is run with."""
    job = next((stretch for stretch, _ in yaml.jobs if start in stretch), range(0))
    entries = (one for one in yaml.entries if one.start in job and "matrix" in one.keys and _MATRIX.fullmatch(one.name))
    return _named(word for one in entries for word in one.value.split()) or every_toolkit()


def _named(words: Iterable[str]) -> Toolkits:
    """What words are releases; none where one of them is something else."""
    found = [_ONE.fullmatch(word) for word in words]
    named = frozenset(f"{one[1]}.{one[2]}" for one in found if one)
    return named if all(found) and named <= every_toolkit() else frozenset()


def _matrices(source: str, places: Places) -> Iterator[Operation]:
    for entry in read_yaml(source).entries:
        if not _MATRIX.fullmatch(entry.name):
            continue
        named = [_ONE.fullmatch(one) for one in entry.value.split()]
        found = {f"{one[1]}.{one[2]}" for one in named if one}
        if all(named) and len(found) >= _LEAST_MATRIX and found <= set(releases()):
            yield Operation("cuda-matrix", max(found, key=version), places.span(entry.start, entry.end))


def _commented(source: str, offset: int, places: Places) -> bool:
    start = max(places.line_start(offset), offset - _LONGEST)
    return _COMMENT.search(source[start:offset]) is not None


def _may_pick(data: bytes) -> bool:
    """Whether there may be a target that a script picks by the CUDA version."""
    return any(word in data for word in _EXACT) and b"then" in data


def _picked(source: str, places: Places) -> Iterator[Operation]:
    """`if [ "$CUDA" = cu129 ]; then ARCH=12.0a; else ARCH=12.0f; fi`: each target of the first of two arms."""
    picks = _ARMS.finditer(source) if _may_pick(source.encode("utf-8", "surrogatepass")) else ()
    for match in islice(picks, _MOST):
        first, second = spelled(match["first"]), spelled(match["second"])
        sure = of_condition(match["condition"])[1]
        if first is None or second is None or not sure or _IS_LIST.search(match["name"]):
            continue
        picked = PickedTarget(second.target, tuple(sorted(sure, key=version)))
        yield Operation("picked-target", first.target, places.span(*match.span("first")), detail=picked)
