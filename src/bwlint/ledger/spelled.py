"""Audit rows for lines that name a chip but that no reader has a fact about.

Their truth tables are rough, as whoever shows one says: they are estimated from the spelling. Comparisons with numbers
that chips have are taken each by itself and joined by the `and` or `or` of the line; negations, arithmetic and what
stands on other lines are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, reduce

from bwlint.chips import EVERY, Chip, ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.toolkits import names_release, releases
from bwlint.ledger import naming
from bwlint.ledger.question import Question, Table, columns, shape
from bwlint.model.ledger import RowForm, RowPlace, Sighting

_OWN_FORM: dict[str, RowForm] = {
    "asked": "asked",
    "chip": "name",
    "generation": "name",
    "product": "product",
    "unit": "unit",
    "toolkit": "unit",
    "word": "word",
}

_NUMBER = re.compile(r"(?<![\w.])(?:5[023]|6[012]|7[025]|8[0679]|90|10[0137]|110|12[01])0?[af]?(?![\w.])")
"""What may be a chip's: who calls a helper with it asks for the chip."""
_TAKEN_APART = re.compile(r"\bmajor\b.*=.*version|version.*\bmajor\b|=.*version.*split", re.I)
_PART = re.compile(r"(?<![\w.])(?:\w{1,20}_(?:major|minor)\w{0,10}|(?:major|minor)_\w{1,10})\b")
_COMPARED_PART = re.compile(r"(?<![\w.])(?:\w{1,20}_)?(?:major|minor)(?:_\w{1,10})?\b")
_NEVER = re.compile(r"#\s*if\s+(?:0|false)\s*(?:&&|$)")
_OF_TYPE = re.compile(r"\b[A-Z]\w*(?:<[^<>]{0,60}>)?::(?:k[A-Z]\w*|[Aa]rch|ARCH)\s*(?:[=!]=|[<>]=?)\s*\d+\b")
_OF_ONE_MAJOR = re.compile(r"VER_MAJOR__\s*==\s*(\d+)\s*&&\s*\w*VER_MINOR__\s*>=?\s*\d")
"""The releases of one major from a minor on: who asks for the least has left out the next major."""
_RELEASE = "this file splits a toolkit's version; this number may be a part of it"
_CAPABILITY = r"(?:(?:compute_|device_)?capabilit(?:y|ies)|cc|sm|arch|sm_version|major)"
_DECLARED = r"\s*(?:async )?(?:def|class|struct|void|int|bool|static|inline|virtual|template|explicit|constexpr)\b"
_HANDED_ON = re.compile(rf"^(?!{_DECLARED}).*\w\s*\([^()]*\b{_CAPABILITY}\s*[,)]", re.I)
"""An argument that is a capability: what it is handed to decides."""
_VALUE = (
    r"(?:\(\s*(?P<major>\d{1,2})\s*,\s*(?P<minor>\d)\s*\)|0x(?P<hex>[0-9a-f]{2})\b"
    r"|[\"']?(?:_?k?sm_?|compute_?)?(?P<whole>\d{1,4})(?:\.(?P<tenth>\d))?[af]?(?![\w.]|\s*[>*]))"
)
"""(12, 0), 0x78, 120, "12.0", sm_120a."""
_LEFT = r"(?P<left>[\w.]*(?:\[[^\]]{0,12}\]|\(\w{0,12}\))*)\)*"
_OP = r"(?P<op>==|!=|>=|<=|<|>|(?:version_)?(?:less|greater)(?:_equal)?|(?:version_|str)?equal)"
_COMPARED = re.compile(rf"{_LEFT}\s*{_OP}\s*{_VALUE}", re.I)
_TURNED = re.compile(rf"(?<![\w.]){_VALUE}\s*(?P<op>==|!=|>=|<=|<|>)\s*(?P<left>[\w.]*[a-z_][\w.]*)", re.I)
_MEMBER = re.compile(
    r"(?P<no>not\s+)?\bin\b\s*(?:\w+\()?\s*[\[({](?P<list>[^\n]{1,120})"
    r"|(?:elem|one_of|contains|any_of)\s*\(\s*[\w.]+\s*,\s*\{?(?P<set>[^\n}]{1,120})",
    re.I,
)
_LOOP = re.compile(r"\bfor [\w, ()*]{1,80}? in\b")
_ANY = re.compile(r"\b(?:any|all)\(")
"""What makes a test of the values that it goes through."""
_CASE = re.compile(r"\bcase\s+(?:sm_?)?(?P<whole>\d{2,4})\s*:", re.I)
_ITEM = re.compile(rf"(?<![\w.]){_VALUE}", re.I)
_FLIPPED = {">=": "<=", "<=": ">=", "<": ">", ">": "<"}
_NAMED = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "=="}
_WORDS = {
    **{f"{kind}{word}": op for kind in ("", "version_") for word, op in _NAMED.items()},
    "strequal": "==",
}
_OPS: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__,
    "!=": int.__ne__,
    ">=": int.__ge__,
    "<=": int.__le__,
    "<": int.__lt__,
    ">": int.__gt__,
}
_KNOWN = frozenset(chip.joined for chip in EVERY)
_MAJORS, _JOINED, _ARCHS = range(3, 16), range(30, 131), range(300, 1301)


def of_sightings(
    path: str, place: str, seen: Sequence[Sighting], told: Iterable[tuple[int, int]], asked: ChipSet, aside: str
) -> Iterator[Question]:
    """The questions of the lines of a file that `told` (stretches of lines) does not have. `place` is its path within
    its project, `aside` the mark of a file that stands beside what the project ships, or "".
    """
    lines = {line for first, last in told for line in range(first, min(last, first + 400) + 1)}
    left = [one for one in seen if one.line not in lines]
    apart = [one for one in seen if one.what == "toolkit" and _TAKEN_APART.search(one.text)]
    split, parts = {one.within for one in apart}, {name for one in apart for name in _PART.findall(one.text)}
    groups: dict[tuple[str, ...], list[Sighting]] = {}
    for one in left:
        groups.setdefault(_key(one), []).append(one)
    for key, members in groups.items():
        found = _question(path, place, key[0], members, asked, aside)
        compared = set(_COMPARED_PART.findall(members[0].text)) if found.form == "asked" else set()
        if compared & parts or (compared and members[0].within in split):
            marks = found.marks - shape(found.table, asked.names)
            found = replace(found, table=(), rough=False, marks=marks, unknown=_RELEASE)
        yield found


def _key(one: Sighting) -> tuple[str, ...]:
    """What is one question: a comparison by itself, all else by its sort in the file."""
    form = _OWN_FORM[one.what]
    if one.prose:
        return ("text",)
    return ("asked", one.within, one.text) if form == "asked" else (form,)


def _question(path: str, place: str, form: str, members: Sequence[Sighting], asked: ChipSet, aside: str) -> Question:
    first = members[0]
    within = first.within if len({one.within for one in members}) == 1 else ""
    tokens = list(dict.fromkeys(token for one in members for token in one.tokens))
    marks = {f"is-{form}", *({aside} if aside else ())}
    table: Table = ()
    told = next((one for one in members if _names(one.text, asked)), first) if form == "text" else first
    text = told.text if form in ("asked", "text") or len(members) == 1 else ", ".join(tokens)
    marks |= naming.around(naming.generations(first.within) | naming.of_file(place), asked)
    if form == "asked":
        table, own = _rough(first.text, asked)
        marks |= own
    else:
        marks |= _named(members, _generations(members, tokens), asked)
    if any(_has_number(one.text) for one in members):
        marks.add("has-a-number")
    if any(_is_handed_on(one.text) for one in members):
        marks.add("is-handed-on")
    return Question(
        form=form,  # type: ignore[arg-type]
        subject=within or place.rpartition("/")[2],
        text=text[:200],
        places=tuple(RowPlace(path, one.line, one.line, "here") for one in members),
        table=table,
        marks=frozenset(marks),
        passes=_never_asks(first.text) if form == "asked" else "",
        doubt=next(filter(None, (_left_behind(one.text) for one in members)), ""),
        unknown=(_of_a_type(first.text) if form == "asked" else "")
        or _unknown(form, tokens, members, is_handed_on="is-handed-on" in marks),
        rough=bool(table),
        key=(path, form, first.within, text) if form == "asked" else (),
    )


@lru_cache(4_096)
def _has_number(text: str) -> bool:
    return _NUMBER.search(text) is not None


@lru_cache(4_096)
def _is_handed_on(text: str) -> bool:
    return _HANDED_ON.search(text) is not None


def _never_asks(text: str) -> str:
    """Why a line that compares asks no device: it is compiled for nobody; "" else."""
    return "the preprocessor leaves it out for every chip" if _NEVER.match(text.strip()) else ""


def _left_behind(text: str) -> str:
    """Which CUDA a line about the compiler's release leaves out, though it asks for the least; "" for none."""
    found = _OF_ONE_MAJOR.search(text) if "||" not in text else None
    newest = releases()[-1].partition(".")[0]
    if found is None or int(found[1]) >= int(newest):
        return ""
    return f"holds with CUDA {found[1]} alone; CUDA {newest} takes the other branch"


def _of_a_type(text: str) -> str:
    """Why nobody knows what a line that compares decides: it asks a type of the program; "" else."""
    alone = _OF_TYPE.search(text) is not None and "&&" not in text and "||" not in text
    return "compares a constant of a type; other code decides which chips get that type" if alone else ""


def _rough(text: str, asked: ChipSet) -> tuple[Table, set[str]]:
    found = admitted(text)
    if found is None:
        return (), {"not-evaluated"}
    table = tuple((chip, "yes" if chip in found else "no") for chip in columns(asked))
    return table, {"is-rough", *shape(table, asked.names), *({"test-names-asked"} if "12" in text else ())}


def _generations(members: Sequence[Sighting], tokens: Sequence[str]) -> frozenset[str]:
    """The major numbers of the chips that words name, by their numbers and by the whole text of a comment."""
    found = frozenset().union(*(naming.generations(token) for token in tokens))
    return found.union(*(naming.family_of(mentioned(text).named) for text in _texts(members)))


def _spelled_out(members: Sequence[Sighting], tokens: Sequence[str]) -> frozenset[str]:
    """The major numbers that stand there: in code `X<` is no "older than X"."""
    found = frozenset().union(*(naming.generations(token) for token in tokens))
    return found.union(*(naming.family_of(mentioned(text).exact) for text in _texts(members)))


def _texts(members: Sequence[Sighting]) -> list[str]:
    return [one.text for one in members if one.prose or one.what in ("chip", "product")][:20]


def _named(members: Sequence[Sighting], found: frozenset[str], asked: ChipSet) -> set[str]:
    """The chips that words are about."""
    marks = {f"speaks-of-{one.what}" for one in members}
    if naming.of_others(found, asked):
        marks.add("names-others")
    if found & naming.family_of(asked):
        marks.add("names-asked")
    if not found:
        marks.add("names-nobody")
    if any(_splits(text) for text in _texts(members)):
        marks.add("names-one-twin")
    return marks


def _unknown(form: str, tokens: Sequence[str], members: Sequence[Sighting], *, is_handed_on: bool) -> str:
    """What is not known of words, with the words themselves."""
    few = ", ".join(f"`{token}`" for token in tokens[:3])
    if form == "word" and is_handed_on:
        return "passes a capability to a call, and the callee decides"
    if form == "unit" and all(one.what == "toolkit" for one in members):
        return f"names a toolkit ({few}), which knows some targets and not others"
    if form == "unit":
        return f"names {few}, which may depend on the chip"
    if form == "name" and (found := _spelled_out(members, tokens)):
        chips = ", ".join(f"{major}.x" for major in sorted(found, key=int))
        return f"names {chips}; bwlint does not know what that decides"
    return ""


def _names(text: str, asked: ChipSet) -> bool:
    return bool(mentioned(text).named & asked)


def _splits(text: str) -> bool:
    exact = mentioned(text).exact
    return ("12.0" in exact) != ("12.1" in exact)


def admitted(text: str) -> ChipSet | None:
    """The chips for which a line seems to hold; None where nothing in it is a comparison with a chip's number."""
    found = [*_comparisons(text), *_members(text)]
    if not found:
        return None
    either = " or " in text or "||" in text or " OR " in text
    return reduce(ChipSet.__or__ if either else ChipSet.__and__, found)


def _comparisons(text: str) -> list[ChipSet]:
    """What the comparisons of a line admit; a minor number says nothing without another one."""
    matches = [match for match in _COMPARED.finditer(text) if not names_release(match["left"])]
    minors = [_minor(match) for match in matches if _asks_minor(match)]
    found = [_value(_op(match["op"]), match) for match in matches if not _asks_minor(match)]
    found += [
        _value(_FLIPPED.get(match["op"], match["op"]), match)
        for match in _TURNED.finditer(text)
        if match["major"] or len(match["whole"] or "") > 1
    ]
    found += [_numbers("==", int(match["whole"])) for match in _CASE.finditer(text)]
    known = [one for one in found if one is not None]
    return known and [*known, *(one for one in minors if one is not None)]


def _members(text: str) -> list[ChipSet]:
    found = []
    told = text if _ANY.search(text) else _LOOP.sub("", text)
    for match in _MEMBER.finditer(told):
        items = _within(match["list"] or match["set"])
        chips = [one for item in _ITEM.finditer(items) if (one := _value("==", item)) is not None]
        if chips:
            whole = reduce(ChipSet.__or__, chips)
            found.append(~whole if match["no"] else whole)
    return found


def _within(text: str) -> str:
    """A text up to the bracket that closes what it stands in."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return text[:at]
    return text


def _asks_minor(match: re.Match[str]) -> bool:
    return bool(match["left"].lower().endswith("minor"))


def _minor(match: re.Match[str]) -> ChipSet | None:
    number = match["whole"]
    return _where(_op(match["op"]), int(number), lambda chip: chip.minor) if number and len(number) == 1 else None


def _op(written: str) -> str:
    return _WORDS.get(written.lower(), written)


def _value(op: str, match: re.Match[str]) -> ChipSet | None:
    groups = match.groupdict()
    if groups.get("major"):
        return _pairs(op, int(groups["major"]), int(groups["minor"]))
    if groups.get("hex"):
        return _numbers(op, int(groups["hex"], 16))
    whole, tenth = int(groups["whole"]), groups.get("tenth")
    if not tenth:
        return _numbers(op, whole)
    return _pairs(op, whole, int(tenth)) if whole * 10 + int(tenth) in _KNOWN else None


def _pairs(op: str, major: int, minor: int) -> ChipSet | None:
    if major not in _MAJORS:
        return None
    return _where(op, major * 10 + minor, lambda chip: chip.joined)


def _numbers(op: str, number: int) -> ChipSet | None:
    if number in _JOINED:
        return _where(op, number, lambda chip: chip.joined)
    if number in _MAJORS:
        return _where(op, number, lambda chip: chip.major)
    if number in _ARCHS and number % 10 == 0:
        return _where(op, number, lambda chip: chip.joined * 10)
    return None


def _where(op: str, number: int, of: Callable[[Chip], int]) -> ChipSet:
    compare = _OPS[op]
    return ChipSet.where(lambda chip: compare(of(chip), number))
