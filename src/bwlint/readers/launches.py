"""Options of launchers and their values in shell, Dockerfiles, units, YAML, JSON and TOML, wherever they stand.

Each that does not run on every chip (backends.toml) comes out as an operation of kind plan-option: `name` is the option
as it is spelled. Near by are the keys, conditions and headings around it and the comment above; declared are the keys
below one that lists hardware.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice

from bwlint.chips.backends import card_words, cards, cluster_words, lonely, normal, options, plan_of
from bwlint.model.details import PlanOption
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places

_MOST = 400
"""How many options of one file are looked at, and how many lines above each."""
_LONGEST_LINE = 4000
_LONGEST_SOURCE = 100_000
"""How much of a file is searched for what a variable has been given."""
_NESTED_WITHIN = 600
_GAP = (
    r"[\"']?(?:[ \t]{1,8}#[^\n]{0,200}(?=\n))?"
    r"(?:[ \t]{0,8},?\s{0,40}[\"']?value[\"']?[ \t]{0,8}:[ \t]{0,8}"
    r"|[ \t]{0,8}(?P<sign>[=:,])[ \t]{0,8}(?:\r?\n[ \t]{0,40}(?:-[ \t]{1,8})?)?"
    r"|[ \t]{1,8}(?:\\\r?\n[ \t]{0,40})?"
    r"|[ \t]{0,8}\r?\n[ \t]{0,40}-[ \t]{1,8})[\"']?"
)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_VALUE = re.compile(rf"{_GAP}(?P<value>(?:\$\{{?\w{{1,80}}(?::?-)?)?[\w.-]{{0,80}}\}}?)")
_KUBERNETES = re.compile(r"[\"']?(?:[ \t]{1,8}#[^\n]{0,200}(?=\n))?[ \t]{0,8},?\s{0,40}[\"']?value[\"']?[ \t]{0,8}:")
_INNER = re.compile(
    r"(?<![\w.-])[\"']?(?P<name>[\w-]{1,40})[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?(?P<value>[\w.-]{1,80})"
)
_REFERENCE = re.compile(r"\$\{?(?P<name>\w+)(?::?-(?P<default>[\w.-]*))?")
_ASSIGNED = re.compile(r"(?<![\w$])(?P<name>[A-Za-z_]\w{0,80})=[\"']?(?:\$\{\w{1,80}:?-)?(?P<value>[\w.-]{1,80})")
_SAID = re.compile(r"\s*(?:#|//|echo\b|printf\b|[\"']?(?:description|note|summary|title|help|label)[\"']?\s*:)")
_COMMENT = re.compile(r"\s*(?:#|//)")
_CONDITION = re.compile(r"\s*(?:\}?\s*else\b|\)|\}|\])")
_KEY = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?(?P<key>[\w.-]{1,60})[\"']?[ \t]*:")
_HARDWARE = re.compile(r"(?i)hardware|gpu|device|accelerator|platform|card")
_PROSE = re.compile(r"(?:\b[A-Za-z',]+[.:;]? ){4}")
_FENCE, _HEADING = "```", re.compile(r"\s*#{1,6} ")
_LEAD = 8
"""How many lines before a fence may say what is in it."""


@cache
def _names() -> re.Pattern[str]:
    """A flag, a key or a variable, at the end of a dotted path too."""
    names = sorted({*options(), *(name.partition(".")[0] for name in options())}, key=len, reverse=True)
    pieces = "|".join(re.escape(name).replace(r"\-", "[-_]") for name in names)
    return re.compile(rf"(?<![\w-])(?P<dashes>--?)?(?P<name>{pieces})(?![\w.-])", re.I)


@cache
def _literals() -> tuple[bytes, ...]:
    return tuple(
        dict.fromkeys(name.rpartition(".")[2].encode() if "." not in name else b"backend" for name in options())
    )


def may_hold(lowered: bytes) -> bool:
    """The prefilter, on small letters: whether one of the options is named."""
    if not any(stem in lowered for stem in (b"backend", b"deepep", b"enable", b"alltoall")):
        return False
    spelled = lowered.replace(b"_", b"-")
    return any(name in spelled for name in _literals())


def operations(source: str) -> tuple[Operation, ...]:
    """The options of one file, in order of place."""
    places, lines = Places(source), _NEWLINE.split(source)
    every = list(_asked(source))
    asked = [one for one in every if not _is_said(lines[places.line(one.start) - 1], source, one.start)]
    if not any(map(_goes_wrong, asked)):
        return ()
    about = (card_words(source), _declared(lines), cluster_words(source))
    near = [_near(lines, places.line(one.start) - 1) for one in asked]
    found: list[Operation] = []
    last = 0
    for one, around in zip(asked, near, strict=True):
        if one.start < last or not _goes_wrong(one):
            continue
        last = one.end
        elsewhere = (word for other, of in zip(asked, near, strict=True) if other.name == one.name for word in of)
        said = around or _last_before(lines, places.line(one.start) - 1, about[0])
        words = map(tuple, (said, *about, dict.fromkeys(elsewhere)))
        at = places.span(one.start, one.end)
        found.append(Operation("plan-option", one.option, at, detail=PlanOption(one.value, *words)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _GivenOption:
    """An option as it is spelled, its value, and where the two begin and end."""

    option: str
    value: str
    start: int
    end: int

    @property
    def name(self) -> str:
        return normal(self.option).rpartition(".")[2]


def _goes_wrong(one: _GivenOption) -> bool:
    return plan_of(one.option, one.value) is not None


def _is_said(line: str, source: str, start: int) -> bool:
    """Whether an option is spoken of, and not given."""
    if len(line) > _LONGEST_LINE or source[start - 1 : start] == "`" or _SAID.match(line):
        return True
    column = start - source.rfind("\n", 0, start) - 1
    return _PROSE.search(line, 0, column) is not None


def _declared(lines: Sequence[str]) -> tuple[str, ...]:
    """Words for cards among the keys below one that lists hardware."""
    found: list[str] = []
    below: int | None = None
    for line in lines:
        key = _KEY.match(line)
        if key is None:
            continue
        indent = _indent(line)
        if below is not None and indent > below:
            found += card_words(key["key"])
        else:
            below = indent if _HARDWARE.search(key["key"]) and not line[key.end() :].strip() else None
    return tuple(dict.fromkeys(found))


def _asked(source: str) -> Iterator[_GivenOption]:
    """Options with their values; one that takes none has an empty one."""
    for match in islice(_names().finditer(source), _MOST):
        option, flagged = match["name"], match["dashes"] is not None
        given = _VALUE.match(source, match.end())
        is_set = given is not None and (
            flagged or given["sign"] in ("=", ":") or _KUBERNETES.match(source, match.end()) or _in_env(source, match)
        )
        value = _resolved(source, given["value"]) if given else ""
        if flagged and normal(option) in lonely() and (not value or plan_of(option, value) is None):
            yield _GivenOption(option, "", match.start(), match.end())
        elif given is not None and is_set and value and normal(option) in options():
            yield _GivenOption(option, value, match.start(), given.end("value"))
        else:
            yield from _nested(source, match)


def _nested(source: str, outer: re.Match[str]) -> Iterator[_GivenOption]:
    """`moe_config: {backend: X}`, over the lines below it too."""
    stop = outer.end() + _NESTED_WITHIN
    indent = outer.start() - source.rfind("\n", 0, outer.start()) - 1
    below = re.compile(rf"\n[ \t]{{0,{indent}}}(?=[^\s#}}])").search(source, outer.end(), stop)
    for inner in _INNER.finditer(source, outer.end(), below.start() if below else stop):
        option = f"{outer['name']}.{inner['name']}"
        if plan_of(option, inner["value"]) is not None:
            yield _GivenOption(option, inner["value"], inner.start("name"), inner.end("value"))
            return


def _in_env(source: str, match: re.Match[str]) -> bool:
    return source[max(0, match.start() - 4) : match.start()].upper().strip() == "ENV"


def _resolved(source: str, value: str) -> str:
    """A value, or that of the variable that it stands for, or the default."""
    reference = _REFERENCE.match(value)
    if reference is None:
        return value
    return _assigned(source).get(reference["name"]) or reference["default"] or ""


@lru_cache(maxsize=1)
def _assigned(source: str) -> dict[str, str]:
    """What the variables of a file are given first, or have as their default."""
    found: dict[str, str] = {}
    for match in _ASSIGNED.finditer(source, 0, _LONGEST_SOURCE):
        found.setdefault(match["name"], match["value"])
    return found


@lru_cache(maxsize=4096)
def _words_of(line: str) -> tuple[str, ...]:
    return card_words(line[:_LONGEST_LINE])


def _near(lines: Sequence[str], number: int) -> tuple[str, ...]:
    """Words for cards in the keys and conditions around a line, innermost first, and in the comment above it."""
    first = number
    while first and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    if found := card_words(" ".join((lines[number].partition(" #")[2], *_comments(lines, first)))):
        return found
    indent = _indent(lines[first])
    fences = 0
    for above in range(first - 1, max(-1, first - _MOST), -1):
        line = lines[above]
        if line.lstrip().startswith(_FENCE):
            fences += 1
            if fences == 1 and (found := _lead(lines, above)):
                return found
        if not line.strip() or _indent(line) >= indent or _CONDITION.match(line) or _COMMENT.match(line):
            continue
        indent = _indent(line)
        if found := _words_of(line):
            return found
        if not indent:
            break
    return ()


def _lead(lines: Sequence[str], number: int) -> tuple[str, ...]:
    """Words for cards in the text in front of a fence, or in the heading above it."""
    for above in range(number - 1, max(-1, number - _MOST), -1):
        line = lines[above]
        is_near = number - above <= _LEAD and not line.lstrip().startswith(_FENCE)
        if (is_near or _HEADING.match(line)) and (found := _words_of(line)):
            return found
        if _HEADING.match(line) or _KEY.match(line):
            break
    return ()


def _comments(lines: Sequence[str], number: int) -> Iterator[str]:
    """The lines of comment right above one."""
    for above in range(number - 1, max(-1, number - _MOST), -1):
        if not _COMMENT.match(lines[above]):
            return
        yield lines[above]


def _last_before(lines: Sequence[str], number: int, whole: Sequence[str]) -> tuple[str, ...]:
    """Where a file of several sections names several cards: those named last, in a comment or a heading."""
    if len({cards([word]).chips for word in whole}) < 2:
        return ()
    for above in range(number - 1, max(-1, number - _MOST), -1):
        if _COMMENT.match(lines[above]) and (found := _words_of(lines[above])):
            return found
    return ()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t-"))
