"""Releases that build files name: the CUDA versions of a workflow's matrix, wheels of torch, floors of packages.

Each comes out as an operation: `cuda-matrix`, named after the newest of its releases, where the file has no newer one;
`wheel-index`, after the release that the wheels are made with; `package-floor`, after the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from operator import eq, ge, gt, le, lt

from bwlint.chips.spelling import spelled
from bwlint.chips.surroundings import packages
from bwlint.chips.toolkits import Toolkits, every_toolkit, in_container, releases, version
from bwlint.model.details import LeastRelease, PickedTarget, WheelIndex
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.yaml import Yaml, read_yaml

_Order = Callable[[tuple[int, ...], tuple[int, ...]], bool]

_TEST = re.compile(
    r"[\"']?\$?[{(]?(?P<name>\w*cuda[\w.]{0,40}|\bcu_[\w.]{0,40})(?P<cut>%%[^}]{0,10})?[})]?[\"']?[ \t]*"
    r"(?P<operator>==|!=|<=|>=|=|<|>|-eq|-ne|-ge|-gt|-le|-lt)[ \t]*(?P<value>[\w.*\[\]\"'-]{1,30})",
    re.I,
)
_ORDERS: dict[str, _Order] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_ORDERS |= {"-lt": lt, "-le": le, "-gt": gt, "-ge": ge, "-eq": eq}
_STREAM = re.compile(r"cu(?:da)?[-_]?(\d{2})(\d)\d?", re.I)
_BANNER = re.compile(r"^\*V?")
"""What stands before the number in the output of `nvcc --version`: *V12.8*."""
_IMAGE = re.compile(
    r"nvcr\.io/nvidia/[\w-]+:(?P<month>[0-9]{2}\.[0-9]{2})(?=-)|cuda[:_-]?v?(?P<release>[0-9]{2}\.[0-9])(?![0-9])"
    r"|[:_-]cu(?P<stream>[0-9]{3})(?![0-9])",
    re.I,
)
_JOINED = re.compile(r"(\d{2})(\d)")
_OTHER_TEST = re.compile(r"&&|\|\||\s-[ao]\s")
_STRING = re.compile(r"'([^']*)'")
_BEFORE = re.compile(r"(?P<name>[\w.]*cuda[\w.]*)\s*(?P<operator><=|>=|==|!=|<|>)\s*$", re.I)


def of_condition(text: str) -> tuple[Toolkits, Toolkits]:
    """The toolkits for which a shell condition may hold, and those for which it must."""
    tests = list(_TEST.finditer(text))
    apart = "||" in text or " -o " in text  # then a minor is not that of the major beside it
    found = [passing for test in tests[:8] if (passing := _passing(test, apart=apart)) is not None]
    if not found:
        return every_toolkit(), frozenset()
    others = len(_OTHER_TEST.findall(text)) + 1 - len(found)
    if "||" in text:
        union = frozenset[str]().union(*found)
        return (union if others <= 0 else every_toolkit()), union
    common = frozenset[str](every_toolkit()).intersection(*found)
    return common, (common if others <= 0 else frozenset())


def of_image(name: str) -> Toolkits:
    """The toolkits that the name of a container's image leaves open."""
    found = image_release(name)
    return (frozenset({found.release}) & every_toolkit() if found else frozenset()) or every_toolkit()


@dataclass(frozen=True, slots=True)
class ImageRelease:
    """The CUDA in the name of an image, and the characters that say it."""

    release: str
    start: int
    end: int


def image_release(name: str) -> ImageRelease | None:
    """`nvidia/cuda:12.8.1-devel`, `builder:cuda13.0`, `nvcr.io/nvidia/pytorch:24.08-py3` by its month, `app:cu124`."""
    found = _IMAGE.search(name)
    if found is None or found.lastgroup is None:
        return None
    release = found[found.lastgroup]
    if found.lastgroup == "month":
        release = in_container(release)
    elif found.lastgroup == "stream":
        release = f"{release[:2]}.{release[2:]}"
    return ImageRelease(release, *found.span(found.lastgroup)) if release else None


def of_patterns(text: str) -> Toolkits:
    """The toolkits that one of the patterns of a shell's `case` names: `12.9.1|13.0.1`, `12.*`, `cu126`."""
    patterns = [_STREAM.sub(r"\1.\2", part.strip(" \t\"'")) for part in text.split("|")]
    return frozenset(release for release in releases() for pattern in patterns if _is(release, pattern))


def _passing(test: re.Match[str], *, apart: bool) -> Toolkits | None:
    """The toolkits that pass one test, or None where it is no version that is tested."""
    operator, value = test["operator"], re.sub(r"[\"']", "", test["value"])
    value = _BANNER.sub("", value)
    if "minor" in test["name"].lower():
        return None if apart or not value.isdigit() or operator not in _ORDERS else _of_minor(_ORDERS[operator], value)
    stream = _STREAM.fullmatch(value)
    value = f"{stream[1]}.{stream[2]}" if stream else value
    if operator in ("==", "=", "!="):
        equal = frozenset(release for release in releases() if _is(release, value))
        return (every_toolkit() - equal if operator == "!=" else equal) if equal else None
    return _ordered(operator, value)


def _of_minor(order: _Order, value: str) -> Toolkits:
    """The toolkits whose second number passes: `"$CUDA_MAJOR" -eq 12 -a "$CUDA_MINOR" -ge 8` begins with 12.8."""
    return frozenset(release for release in releases() if order(version(release)[1:2], (int(value),)))


def _ordered(operator: str, value: str) -> Toolkits | None:
    if not re.fullmatch(r"\d+(?:\.\d+){0,3}", value) or operator not in _ORDERS:
        return None
    joined = _JOINED.fullmatch(value)
    wanted = version(f"{joined[1]}.{joined[2]}" if joined else value)[:2]
    order = _ORDERS[operator]
    return frozenset(release for release in releases() if order(version(release)[: len(wanted)], wanted)) or None


def _is(release: str, pattern: str) -> bool:
    """Whether a release, or a patch of it, fits what a shell compares with."""
    return any(fnmatchcase(text, pattern) for text in (release, f"{release}.0", f"{release}.1", f"{release}.2"))


@dataclass(frozen=True, slots=True)
class StringChoice:
    """One string that an expression may give, where it starts, and under which toolkits."""

    text: str
    start: int
    toolkits: Toolkits


def choices(line: str, place: int, asked: Toolkits | None = None) -> Iterator[StringChoice]:
    """The strings of a workflow expression `test && 'this' || 'that'`, as GitHub evaluates it under some toolkits."""
    left = asked or every_toolkit()
    here = left
    for match in _STRING.finditer(line, place):
        before = _BEFORE.search(line[max(place, match.start() - 100) : match.start()])
        after = line[match.end() : match.end() + 10].lstrip()
        if before:
            passing = _ordered(before["operator"], match[1]) or every_toolkit()
            if before["operator"] == "==":
                passing = frozenset(release for release in releases() if _is(release, match[1])) or every_toolkit()
            if after.startswith("&&"):
                here = left & passing
                left = left - passing if passing != every_toolkit() else left
            continue
        yield StringChoice(match[1], match.start(1), here)
        if after.startswith("||"):
            here = left


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
