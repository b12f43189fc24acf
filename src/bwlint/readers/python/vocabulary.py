"""The words by which Python code that may read a device is recognised before anything is evaluated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ahocorasick_rs import BytesAhoCorasick

from bwlint.chips import EVERY
from bwlint.chips.spelling import spelled

ANCHORS = (
    *(b"apabilit", b"CAPABILIT", b"ompute_cap", b"sm_", b"SM_", b"Arch", b"arch", b"major", b"lackwell", b"opper"),
    *(b"_cc", b"device_sm", b"min_sm", b"max_sm", b"sm1", b"sm9", b"shared_memory_per_block", b'"10.0'),
    *(b"get_device_properties", b"DeviceProperties", b"get_current_target", b"compute_version", b"get_device_name"),
    *(b"DeviceGetName", b"device_capacity"),
)
_NUMBER = rb"_?(?:[789]|1[0-2])[\dxX]"
_COMPARED = rb"(?:\[0\])? *(?:[<>=!]=?|not in\b|in\b) *[\[({]*\d"
_WORDS = (
    rb"apability",
    rb"CAPABILITY",
    rb"apabilities(?<=(?:orted|mpute)_capabilities)",
    rb"ompute_cap",
    rb"sm" + _NUMBER,
    rb"sM" + _NUMBER,
    rb"Sm" + _NUMBER,
    rb"SM" + _NUMBER,
    rb"sm_version",
    rb"arch(?<![a-zA-Z]arch)(?<!cute\.arch)s?(?![a-zA-Z])(?! *\()",
    rb"Arch\.",
    rb"major(?<![a-zA-Z]major)(?<!\b[a-z]_major)(?<!row_major)(?<!col_major)(?<!mn_major)"
    rb"(?=_version|s\b| *(?:[<>=!*,)\]]|not in|in\b|//))",
    rb'"1[02]\.[0137]": ',
    rb"lackwell",
    rb"hopper",
    rb"Hopper",
    rb"HOPPER",
    rb"BLACKWELL",
    rb"device_sm\b",
    rb"device_cc\b",
    rb"shared_memory_per_block",
    rb"get_device_properties",
    rb"DeviceProperties\b",
    rb"get_current_target",
    rb"compute_version\b",
    rb"device_capacity\b",
    rb"get_device_name",
    rb"DeviceGetName",
    rb"ARCH(?<!\wARCH)S?\b *(?::[^=\n]*)?=",
    rb"_ARCHS?\b *(?::[^=\n]*)?=",
    rb"min_(?<!\wmin_)(?:sm|cc|cap)\b",
    rb"max_(?<!\wmax_)(?:sm|cc|cap)\b",
    rb"sm(?<!\wsm)" + _COMPARED,
    rb"cc(?<!\wcc)" + _COMPARED,
    rb"cap(?<!\wcap)" + _COMPARED,
)
"""Each begins with plain characters, by which one automaton finds where it may stand."""
_HEAD = re.compile(rb'["\w]+(?![?*])')
_WORD = re.compile(b"|".join(_WORDS))


@cache
def _heads() -> BytesAhoCorasick:
    heads = (_HEAD.match(word) for word in _WORDS)
    return BytesAhoCorasick(sorted({head[0] for head in heads if head}))


_BORDER = re.compile(rb"\b")


def may_hold(data: bytes) -> bool:
    """Whether a file has a word of a device."""
    return any(word in data for word in ANCHORS) and next(_said(data), None) is not None


def device_lines(source: str) -> set[int]:
    """1-based numbers of the lines with a device word."""
    data = _with_line_feeds(source.encode("utf-8", "surrogatepass"))
    return _lines_of(_said(data), data)


def _said(data: bytes) -> Iterator[int]:
    """Where a word of a device begins."""
    hits = _heads().find_matches_as_indexes(data, overlapping=True)
    return (place for place in sorted({hit[1] for hit in hits}) if _WORD.match(data, place))


def lines_with(words: Iterable[str], source: str) -> set[int]:
    """1-based numbers of the lines that name one of `words`."""
    named = [word.encode() for word in words if word and word in source]
    if not named:
        return set()
    data = _with_line_feeds(source.encode("utf-8", "surrogatepass"))
    return _lines_of(sorted(place for word in named for place in _places(word, data)), data)


def _places(word: bytes, data: bytes) -> Iterator[int]:
    """Where a whole word stands: an expression that begins at any border is tried at every byte."""
    at = data.find(word)
    while at >= 0:
        if _BORDER.match(data, at) and _BORDER.match(data, at + len(word)):
            yield at
        at = data.find(word, at + 1)


def numbers_of_lines(pattern: re.Pattern[bytes], data: bytes) -> set[int]:
    """1-based numbers of the lines in which an expression begins to match."""
    data = _with_line_feeds(data)
    return _lines_of((match.start() for match in pattern.finditer(data)), data)


def _with_line_feeds(data: bytes) -> bytes:
    """With lines as `ast` counts them: a line feed, a carriage return or both end one."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _lines_of(places: Iterable[int], data: bytes) -> set[int]:
    """The 1-based lines of some places, which are in order."""
    lines: set[int] = set()
    line, position = 1, 0
    for place in places:
        line += data.count(b"\n", position, place)
        position = place
        lines.add(line)
    return lines


JOINED = frozenset(chip.joined for chip in EVERY)
MAJORS = frozenset(chip.major for chip in EVERY)


def arch_text(text: str) -> bool:
    """Whether a string spells an architecture: sm_120a, 120, 12.0."""
    found = spelled(text)
    return found is not None and found.number in JOINED


LIST_NAME = re.compile(
    r"arch(?:s|es|itectures|_list)?$|(?:^|_)archs_?|capabilit(?:y|ies)$|supported_(?:major|sm|cc|compute)|sm_versions?$|(?:^|_)sms$"
    r"|compute_capabilit|major_versions$|_majors$|cc_list|_ccs$",
    re.IGNORECASE,
)
MAJOR_NAME = re.compile(r"major", re.IGNORECASE)
_CAPABILITY = r"_?(?:cuda_?)?(?:compute_?capability|capability|compute_?cap|cc|sm|arch)(?:_?version)?$"
MINIMUM_NAME = re.compile(rf"(?:^|_)(?:min|minimum|least|lowest){_CAPABILITY}", re.IGNORECASE)
"""What holds the oldest capability that something is for."""
MAXIMUM_NAME = re.compile(rf"(?:^|_)(?:max|maximum|most|highest){_CAPABILITY}", re.IGNORECASE)
"""What holds the newest one."""
