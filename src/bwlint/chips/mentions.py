"""Which chips a text names: messages of errors and skips, docstrings, log lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.spelling import IN_WORDS, NUMBER, SUFFIX
from bwlint.chips.words import said

_NOUN = r"(?:\s+(?:gpu|device|machine|hardware|card|chip|arch(?:itecture)?)s?)?"
_ASIDE = r"\)?(?:\s{0,3}\([^)]{0,40}\))?"
OPEN_ENDED = re.compile(rf"\+|{said('open-ended', 'at-least')}", re.I)
"""Words by which a text means later chips too: "SM100+", "or newer"."""
LATER = frozenset({"or", "newer", "later", "above", "plus", "at", "least", "min", "ge", "geq", "gte"})
"""Words of a name by which later chips are meant too: `is_hopper_or_newer`."""
_NEWER, _LEAST, _MOST = said("open-ended"), rf"(?:{said('at-least')}|(?<![-=<])>)", said("at-most")
_BOUND = rf"(?:{_LEAST}|{_MOST})"
_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9_]){IN_WORDS}(?P<sm>{NUMBER}|\d{{1,2}}\.?x|\d{{1,2}}\.\d)(?P<suffix>[afx]?)(?![0-9])"
    r"|(?<![A-Za-z])(?:capabilit(?:y|ies)|cc|sm|compute(?=[^\w]{0,5}\d{1,2}\.[\dx]))\s{0,3}"
    rf"(?:(?:of|is|version|must be|should be)\s{{1,3}})?(?P<bound>{_BOUND})?\s{{0,3}}"
    r"\(?(?P<major>\d{1,3})(?!\d)(?:[.,]\s?(?P<minor>\d)(?!\d)|\.?x|[af]\b)?\)?"
    r"|(?<![\w.])(?P<bare>1[012]|[789])\.(?P<tenth>[\dx])(?!\w|\.\d)",
    re.I,
)
_LIST = re.compile(rf"/({NUMBER}){SUFFIX}(?![0-9])")
_BOUND_WORDS = re.compile(rf"{_BOUND}\s*", re.I)
_RELEASED = re.compile(rf"{said('released')}\s{{0,3}}(?:{_BOUND})?\s{{0,3}}v?$", re.I)
_FLOOR_BEFORE = re.compile(rf"{_LEAST}\s{{0,3}}(?:(?:required|supported)\s)?(?:(?:cuda\s)?compute\s)?$", re.I)
_TOO_OLD = re.compile(rf"{said('older')}\s{{0,3}}$", re.I)
_STRICT = re.compile(r"<\s{0,3}$")
_CEILING_BEFORE = re.compile(rf"{_MOST}\s{{0,3}}$", re.I)
_PLUS = r"(?:(?<!\s)\+(?!\w)|(?<=\s)\+(?!\s{0,9}[\w\[(]))"
"""What joins two things is no bound: "SM90 + bf16"."""
_FLOOR_BEHIND = re.compile(rf"{_ASIDE}{_NOUN}(?P<open>\s{{0,3}}(?:{_PLUS}|<=?|≤)|,?\s{{0,3}}{_NEWER})", re.I)
_CEILING_BEHIND = re.compile(rf"{_ASIDE}{_NOUN}(?:\s{{0,3}}(?:>=?|≥)|,?\s{{0,3}}{said('or-older')})", re.I)
_RANGE = re.compile(rf"{_ASIDE}\s{{0,3}}{said('range')}\s{{0,3}}(?:(?:compute )?capability\s)?", re.I)
_BETWEEN = re.compile(r"\bbetween\s{1,3}(?:(?:compute )?capability\s)?$", re.I)
_ALIKE = re.compile(rf"{_ASIDE}{said('alike')}", re.I)
_APART = re.compile(r"[.;](?!\d)|\bor\b", re.I)
SINCE = re.compile(
    rf"\b({'|'.join(dict.fromkeys(chip.generation for chip in EVERY))})\b(?:\s+\w+){{0,2}}?"
    rf"(?P<open>\s*(?:{_PLUS}|{_NEWER}))",
    re.I,
)
SIZE = re.compile(r"(?P<kib>\d\d\d)(?<![\d.]\d\d\d)(?: |-)?Ki?B\b", re.I)
_SHARED = re.compile(r"shared mem|smem", re.I)
_OF_OTHER_MEMORY = re.compile(r"\b(?:l1|l2|cache|unified|combined|registers?|tmem|tensor|tiles?)\b", re.I)
_OF_NEXT = re.compile(r"(?:\s+of\s+(?:shared memory|smem))?\s+(?:on|for)\b", re.I)
_HAS = re.compile(
    r"(?:[\s)\]'\u2019:=(,~*/+-]|\b(?:s|has|have|with|offers?|provides?|gives?|is|of|only|up|to|gpus?|devices?|cards?|parts?"
    r"|just|at|most|max|maximum|opt|in|shared|memory|smem|per|block|cta|sm|the|limit|capacity|size|and|or|newer|later)\b)*",
    re.I,
)
_REACH = 32
"""Characters in front of a chip in which its bound stands, and between the two bounds of one range."""


@dataclass(frozen=True, slots=True)
class Mention:
    """`named` chips, `exact` ones spelled with their minor, `open_ended`: "and newer", `alike`: "SM89 compatible"."""

    named: ChipSet
    exact: ChipSet
    open_ended: bool
    alike: bool


@dataclass(frozen=True, slots=True)
class _ChipToken:
    """Chips where they stand in a text; `floor` and `ceiling` are what is left of all where they are a bound."""

    start: int
    end: int
    chips: ChipSet
    exact: ChipSet
    bare: bool
    """A number that is a chip's only beside one that is surely a chip's: "8.9"."""
    floor: ChipSet | None
    ceiling: ChipSet | None
    too_old: bool
    """The text names who is kept out: "pre-SM100"."""

    @property
    def meant(self) -> ChipSet:
        return self.floor or self.ceiling or self.chips


@lru_cache(4_096)
def mentioned(text: str) -> Mention:
    tokens = list(_tokens(text))
    if all(token.bare for token in tokens):
        return Mention(NONE, NONE, False, False)
    ranges = {i: chips for i, pair in enumerate(pairwise(tokens)) if (chips := _range(text, *pair))}
    named, exact, open_ended = NONE, NONE, False
    for i, token in enumerate(tokens):
        exact |= token.exact
        if i in ranges or i - 1 in ranges:
            named |= ranges.get(i, NONE)
            continue
        named |= token.meant
        open_ended |= token.floor is not None
    return Mention(named, exact, open_ended, any(_ALIKE.match(text, token.end) for token in tokens))


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """Where a text means every chip from one on: the words that say "and newer", and the number of the one."""

    chips: ChipSet
    bounds: tuple[tuple[int, int], ...]
    number: tuple[int, int]
    prefix: str
    """What stands in front of the number in the name of a target; "" where a capability is named."""


def open_ends(text: str) -> Iterator[OpenEnd]:
    for token in _tokens(text):
        match = _TOKEN.match(text, token.start)
        if token.floor is None or token.too_old or match is None or (match["suffix"] or "").strip("xX"):
            continue
        first = next(name for name in ("sm", "major", "bare") if match[name])
        before = _FLOOR_BEFORE.search(text, max(0, token.start - _REACH), token.start)
        behind = _FLOOR_BEHIND.match(text, token.end)
        inside = _BOUND_WORDS.search(text, token.start, match.end(first)) if match["bound"] else None
        found = (before and before.span(), inside and inside.span(), behind and behind.span("open"))
        number = match.start(first), token.end - text[: token.end].endswith(")")
        yield OpenEnd(
            token.floor, tuple(filter(None, found)), number, text[token.start : number[0]] if match["sm"] else ""
        )


def shared_memory(text: str) -> Iterator[tuple[str, int, ChipSet]]:
    """What a text gives as the shared memory of chips: its words ("SM120 with 100 KB"), the KiB, the chips."""
    for size in SIZE.finditer(text) if _SHARED.search(text) else ():
        start = max(0, size.start() - 2 * _REACH)
        before, behind = text[start : size.start()], text[size.end() : size.end() + _REACH]
        named = [(token.start, token.end, token.meant) for token in _tokens(before) if not token.bare]
        named += [(*match.span(), chips) for pattern, chips in _products() for match in pattern.finditer(before)]
        first, last, chips = max(named, key=lambda one: one[1], default=(0, 0, NONE))
        of_another = _OF_OTHER_MEMORY.search(before[last:] + re.split(r"[,.;)]", behind)[0])
        if chips and _HAS.fullmatch(before, last) and not of_another and not _OF_NEXT.match(behind):
            yield text[start + first : size.end()], int(size["kib"]), chips


@cache
def _products() -> tuple[tuple[re.Pattern[str], ChipSet], ...]:
    """The names that chips are sold under, "RTX 5090" for a row "RTX 50" too."""
    rows = [(name, chip) for chip in EVERY for name in chip.products]
    return tuple((re.compile(rf"\b{re.escape(name)}\w{{0,4}}"), ChipSet.of(chip.name)) for name, chip in rows)


def of_generation(words: Collection[str]) -> ChipSet:
    """The chips of the generations that are called by their names among lower-case words: "hopper"."""
    return ChipSet.where(lambda chip: chip.generation.lower() in words)


def from_generation(text: str) -> ChipSet:
    """Every chip from the generation on that a text calls by its name: "Ampere GPUs or newer"."""
    found = SINCE.search(text)
    if found is None:
        return NONE
    return _from(ChipSet.where(lambda chip: chip.generation.lower() == found[1].lower()))


def _tokens(text: str) -> Iterator[_ChipToken]:
    for match in _TOKEN.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        chips, exact = _named(match)
        if not chips or (match["bare"] and _RELEASED.search(before)):
            continue
        end = match.end()
        while not match["bare"] and (extra := _LIST.match(text, end)):
            more, single = _chips(extra[1], "")
            chips, exact, end = chips | more, exact | single, extra.end()
        too_old = _TOO_OLD.search(before) is not None
        bound = f"{before}{text[match.start() : match.start('bound')]}{match['bound']}" if match["bound"] else before
        floor = too_old or _FLOOR_BEFORE.search(bound) or _FLOOR_BEHIND.match(text, end)
        ceiling = not floor and (_CEILING_BEFORE.search(bound) or _CEILING_BEHIND.match(text, end))
        yield _ChipToken(
            start=match.start(),
            end=end,
            chips=chips,
            exact=NONE if floor and not match["sm"] else exact,
            bare=bool(match["bare"]),
            floor=_from(chips) if floor else None,
            ceiling=(_below(chips) if _STRICT.search(bound) else _up_to(chips)) if ceiling else None,
            too_old=too_old,
        )


def _range(text: str, first: _ChipToken, second: _ChipToken) -> ChipSet:
    """The chips between two bounds, and the bounds; none where the two are no range."""
    gap = text[first.end : second.start]
    if len(gap) > _REACH:
        return NONE
    between = gap.strip() == "and" and _BETWEEN.search(text, max(0, first.start - _REACH), first.start)
    if between or _RANGE.fullmatch(gap):
        return _from(first.chips) & (second.ceiling or _up_to(second.chips))
    if _APART.search(gap):
        return NONE
    if first.floor is not None and second.too_old:
        return first.floor & _below(second.chips)
    floor, ceiling = first.floor or second.floor, first.ceiling or second.ceiling
    return floor & ceiling if floor and ceiling else NONE


def _named(match: re.Match[str]) -> tuple[ChipSet, ChipSet]:
    """The chips of one number, and those that it spells with their minor."""
    if match["sm"]:
        return _chips(match["sm"], match["suffix"])
    major, minor = match["major"] or match["bare"], match["minor"] or (match["tenth"] or "").strip("xX")
    if not minor and int(major) >= 20:
        return _chips(major, "")
    chips = ChipSet.where(lambda chip: chip.major == int(major) and minor in ("", str(chip.minor)))
    return chips, chips if match["minor"] else NONE


@cache
def _chips(number: str, suffix: str) -> tuple[ChipSet, ChipSet]:
    """ "SM100" is read as the family 10.x, "SM120" as 12.x with 12.0 spelled out."""
    digits = number.lower().rstrip("x").rstrip(".")
    if "." in digits:
        joined = int(digits.replace(".", ""))
    elif number.lower().endswith("x") or suffix.lower() == "x":
        value = int(digits)
        major = value // 10 if value >= 70 else value
        return ChipSet.where(lambda chip: chip.major == major), NONE
    else:
        joined = int(digits)
        if joined < 20:
            return ChipSet.where(lambda chip: chip.major == joined), NONE
    single = ChipSet.where(lambda chip: chip.joined == joined)
    if joined % 10 == 0 and joined >= 90:
        return ChipSet.where(lambda chip: chip.major == joined // 10), single
    return single, single


@cache
def _from(chips: ChipSet) -> ChipSet:
    """Every chip from the first of `chips` on."""
    return ~_below(chips)


@cache
def _below(chips: ChipSet) -> ChipSet:
    first = min((chip.joined for chip in chips), default=0)
    return ChipSet.where(lambda chip: chip.joined < first)


@cache
def _up_to(chips: ChipSet) -> ChipSet:
    last = max((chip.joined for chip in chips), default=0)
    return ChipSet.where(lambda chip: chip.joined <= last)
