"""Tests for CUDA 12.8 or newer that ask for the major and the minor apart: false again under CUDA 13.0.

    #if (__CUDACC_VER_MAJOR__ >= 12) && (__CUDACC_VER_MINOR__ >= 8)

No chip is called 12.8 or 12.9, so that these numbers can only be CUDA's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places

ANCHORS = (b">= 12", b"< 12")
_PART = r"[A-Za-z_][\w.]{0,60}(?:\[[01]\])?"
_AND, _OR = r"(?:and|&&)", r"(?:or|\|\|)"
_GAP = r"[\s\\]{0,40}"
_TESTS = re.compile(
    rf"(?P<major>{_PART}) *>= *12\b *\)?{_GAP}{_AND}{_GAP}\(? *(?P<minor>{_PART}) *>= *(?P<least>[89])\b"
    rf"|(?P<older>{_PART}) *< *12\b *\)?{_GAP}{_OR}{_GAP}\(? *(?P<below>{_PART}) *< *(?P<first>[89])\b"
)
_NUMBER = re.compile(r"(?:>=|<) *12\b")
_FAR = 300
"""Characters from that number within which a test has ended."""
_GOES_ON = re.compile(r"(?:\|\||&&|\bor|\band|[(\\])[ \t]*$")
_RELEASE = re.compile(r"vers|ver\[|cuda|nvcc|release", re.I)
_MOST_LINES = 4
_MOST = 20


def may_hold(data: bytes) -> bool:
    return any(word in data for word in ANCHORS) and b"minor" in data.lower()


def operations(source: str, code: str) -> tuple[Operation, ...]:
    """Each such test, called after the release that it means; `code` is the source, perhaps without its comments."""
    found = _found(source, code) if any(word.decode() in code for word in ANCHORS) else ()
    return tuple(islice(found, _MOST))


def _found(source: str, code: str) -> Iterator[Operation]:
    places = Places(source)
    for match in _tests(code):
        major, minor = match["major"] or match["older"], match["minor"] or match["below"]
        line = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
        near = _condition(code, *match.span())
        later = re.search(rf"{re.escape(major)} *\)? *(?:> *12|[>=]= *1[3-9]|>= *[2-9]\d)\b", near)
        if _is_minor_of(major, minor) and later is None and "#" not in line.replace("#if", "").replace("#elif", ""):
            yield Operation("release-apart", f"12.{match['least'] or match['first']}", places.span(*match.span()))


def _tests(code: str) -> Iterator[re.Match[str]]:
    """Each test is looked for around its number, since any word may begin one."""
    stop = 0
    for number in _NUMBER.finditer(code):
        begin = max(stop, code.rfind("\n", 0, number.start()) + 1)
        if match := _TESTS.search(code, begin, number.end() + _FAR):
            stop = match.end()
            yield match


def _condition(code: str, start: int, end: int) -> str:
    """The lines of a condition, in which another test may take later majors: `major > 12 || (major >= 12 && ...)`."""
    before, behind = code[:start].rsplit("\n", _MOST_LINES), code[end:].split("\n", _MOST_LINES)
    first = last = 1
    while first < len(before) and _GOES_ON.search(before[-first - 1]):
        first += 1
    while last < len(behind) and _GOES_ON.search(behind[last - 1]):
        last += 1
    return "\n".join([*before[-first:], code[start:end], *behind[:last]])


def _is_minor_of(major: str, minor: str) -> bool:
    """Whether two names are of one release: `major` and `minor`, or the first two parts of what is called a version."""
    if major.endswith("[0]"):
        return minor == f"{major[:-3]}[1]" and _RELEASE.search(major) is not None
    name = major.lower().replace("major", "minor")
    return minor != major and minor in (name, name.upper())
