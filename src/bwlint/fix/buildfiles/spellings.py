"""Lists, flags and conditions of build files as text: where a target is written, and how to put another there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bwlint.chips import Target
from bwlint.chips.spelling import FORM, LISTED, LISTED_MAJOR, PREFIX

_TOKEN = re.compile(
    rf"(?<![\w.\\])(?P<prefix>{PREFIX}?)"
    rf"(?:(?P<number>{LISTED})|(?P<major>{LISTED_MAJOR})(?P<dot>\\{{0,2}}\.|\[\.\])(?P<minor>[0-9]))"
    rf"(?P<suffix>[a-z]?)(?P<form>{FORM})?(?![\w.+-])",
    re.I,
)
_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.M)
_FLAG = re.compile(r"(?:-gencode|--generate-code)(?P<joint>=|[ \t]+|;|(?P<quote>[\"']),[ \t\r\n]*[\"'])$")
_IS_MEMBER = re.compile(r"(?:append|add|insert)\(\s*$|[\[{,]\s*$")
"""In front of a string that is one of several, and no list itself."""
_BOUNDS = "|()\"' \t\r\n"
Add: TypeAlias = Callable[[Target], Sequence[Target]]
"""The targets that are to stand beside one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Replace `source[start:end]` by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TargetToken:
    """A target as it is written: `source[start:end]`."""

    target: Target
    start: int
    end: int
    match: re.Match[str] = field(compare=False)

    def write(self, target: Target) -> str:
        """Another target in the same spelling."""
        digits = str(target.number)
        dot = self.match["dot"]
        number = digits if dot is None else f"{digits[:-1]}{dot}{digits[-1]}"
        return f"{self.match['prefix']}{number}{target.suffix}{self.match['form'] or ''}"


def tokens(source: str, start: int, end: int) -> tuple[TargetToken, ...]:
    """The targets in a stretch of a build file, those in comments left out."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), source[start:end])
    found = []
    for match in _TOKEN.finditer(text):
        number = match["number"] or match["major"] + match["minor"]
        try:
            target = Target.parse(number + match["suffix"].lower())
        except ValueError:
            continue
        found.append(TargetToken(target, start + match.start(), start + match.end(), match))
    return tuple(found)


def beside(
    source: str, written: Sequence[TargetToken], twins: Sequence[TargetToken], added: Sequence[Target], lone: str = ""
) -> Piece | None:
    """New targets behind the last of the twins, or in front of the first; `lone` separates words without quotes."""
    if not twins or not added:
        return None
    gap = _gap(source, written, twins[-1]) or lone or None
    if gap is None:
        return None
    first, last = twins[0], twins[-1]
    if all(target.number < first.target.number for target in added):
        return Piece(first.start, first.start, "".join(first.write(target) + gap for target in added))
    return Piece(last.end, last.end, "".join(gap + last.write(target) for target in added))


def _gap(source: str, written: Sequence[TargetToken], token: TargetToken) -> str | None:
    """What stands between a target and its neighbour; of a lone one what such a list is separated by."""
    place = written.index(token)
    gaps = [source[one.end : other.start] for one, other in itertools.pairwise(written)]
    near = gaps[place - 1 : place] if place else gaps[:1]
    if near:
        return near[0] if "#" not in near[0] else None
    before, after = source[max(token.start - 1, 0) : token.start], source[token.end : token.end + 1]
    if (
        before == after != ""
        and before in "\"'"
        and not _IS_MEMBER.search(source, max(token.start - 40, 0), token.start - 1)
    ):
        return ";"
    return None


def instead(token: TargetToken, target: Target) -> Piece:
    return Piece(token.start, token.end, token.write(target))


def replaced(source: str, start: int, end: int, target: Target) -> tuple[Piece, ...]:
    """Each list in a stretch with one target instead of all, flags with it in each of their places."""
    pieces: list[Piece] = []
    for token in tokens(source, start, end):
        near = pieces and source[pieces[-1].end : token.start].strip(" ;\t\"'") == ""
        if near:
            pieces[-1] = Piece(pieces[-1].start, token.end, pieces[-1].text)
        else:
            pieces.append(instead(token, target))
    return tuple(pieces)


def without(source: str, written: Sequence[TargetToken], wrong: Sequence[TargetToken]) -> tuple[Piece, ...] | None:
    """A list without some of its targets; None where nothing, or a comment, would be left."""
    if len(wrong) == len(written):
        return None
    pieces = []
    for token in wrong:
        place = written.index(token)
        kept_before = [one for one in written[:place] if one not in wrong]
        start, end = token.start, token.end
        if kept_before:
            start = written[place - 1].end
        else:
            end = written[place + 1].start
        if "#" in source[start:end]:
            return None
        pieces.append(Piece(start, end, ""))
    return tuple(pieces)


def alternatives(source: str, start: int, end: int, add: Add) -> Piece | None:
    """A regular expression between two places that also takes what `add` gives for each target it names."""
    new: list[str] = []
    last = None
    for token in tokens(source, start, end):
        left, right = _alternative(source, token, start, end)
        own = source[left:right]
        written = source[token.start : token.end]
        texts = [own.replace(written, token.write(target)) for target in add(token.target)]
        if texts and own.count(written) == 1:
            new += [text for text in texts if text not in new]
            last = right
    if last is None:
        return None
    return Piece(last, last, "".join(f"|{text}" for text in new))


def _alternative(source: str, token: TargetToken, start: int, end: int) -> tuple[int, int]:
    """The bounds of the alternative in which a target is written."""
    left, right = token.start, token.end
    while left > start and source[left - 1] not in _BOUNDS:
        left -= 1
    while right < end and source[right] not in _BOUNDS:
        right += 1
    return left, right


def membership(source: str, start: int, end: int, add: Add) -> Piece | None:
    """`"120a" IN_LIST archs` with `OR "121a" IN_LIST archs` behind it, where the condition is of such tests alone."""
    text = source[start:end]
    if re.search(r"\b(?:AND|NOT)\b|[()]", text):
        return None
    new = ""
    last = None
    for test in re.finditer(r"(?P<quote>\"?)(?P<name>[\w.]+)(?P=quote)\s+IN_LIST\s+(?P<list>\"?\$?\{?\w+\}?\"?)", text):
        for token in tokens(source, start + test.start("name"), start + test.end("name")):
            for target in add(token.target):
                new += f" OR {test['quote']}{token.write(target)}{test['quote']} IN_LIST {test['list']}"
                last = start + test.end()
    return Piece(last, last, new) if last is not None else None


def doubled_flag(source: str, start: int, end: int, names: Sequence[tuple[TargetToken, Target]]) -> Piece | None:
    """A second `-gencode` behind the one at `source[start:end]`, with other targets; None where it is no such flag."""
    quoted = source[start] in "'\"" and source[start] == source[end - 1]
    inner = start + 1 if quoted else start
    flag = _FLAG.search(source[max(inner - 40, 0) : inner])
    if flag is None and not (quoted and source.startswith(("-gencode=", "--generate-code="), inner)):
        return None
    left = start if flag is None else inner - len(flag[0])
    bracket = not quoted and source[start:end].count("[") > source[start:end].count("]")
    right = end + 1 if bracket and source[end : end + 1] == "]" else end
    outer = source[left - 1 : left]
    if flag is not None and outer in ("'", '"'):
        if flag["quote"]:
            left -= 1
        elif source[right : right + 1] == outer and _is_one_word(source, left - 1, flag["joint"]):
            left, right = left - 1, right + 1
    text = source[left:right]
    for token, target in sorted(names, key=lambda pair: -pair[0].start):
        text = text[: token.start - left] + token.write(target) + text[token.end - left :]
    joint = ";" if flag is not None and flag["joint"] == ";" else _between(source, left, right)
    return Piece(right, right, joint + text)


def _is_one_word(source: str, quote: int, joint: str) -> bool:
    """Whether a quoted flag is a word among others, and not a string of flags: there a second one goes inside."""
    if joint.isspace() or source[max(quote - 1, 0) : quote] in ("=", ":"):
        return False
    return re.search(r"\bset\s*\(\s*\w+\s+$", source[max(quote - 200, 0) : quote], re.I) is None


def _between(source: str, left: int, right: int) -> str:
    """What separates a flag from the next one: with commas where its neighbours have them, on a line of its own."""
    comma = "," if re.search(r"[,\[(]\s*$", source[max(left - 200, 0) : left]) else ""
    comma = "," if re.match(r"\s*[,\]]", source[right : right + 200]) else comma
    comma = comma if source[left] in "'\"" else ""
    line = source.rfind("\n", 0, left) + 1
    indent = source[line:left]
    if indent.strip() or not line or source[left] not in "'\"":
        return f"{comma} "
    ending = "\r\n" if source.endswith("\r\n", 0, line) else "\n"
    return f"{comma}{ending}{indent}"


def words(pieces: Sequence[Piece]) -> Iterator[str]:
    """What is written, for a title."""
    for piece in pieces:
        text = " ".join(re.sub(r"[\"']", "", piece.text).split()).strip(" ;,|")
        if text:
            yield text
