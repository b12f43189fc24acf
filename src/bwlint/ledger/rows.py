"""Turn checks and findings into audit rows: join, judge and rank them.

One row is what is one question: asked of one helper, in the same words, of one subject, in copies of a file, by names
that only name something in one folder. What is told twice of one line is told once.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.chips import ChipSet
from bwlint.chips.suspicion import weights
from bwlint.ledger.question import MOST_TEXT, NEIGHBOURS, Question, elsewhere, subject_of
from bwlint.ledger.verdicts import KnownKind, verdict
from bwlint.model.findings import Finding, Suppressed
from bwlint.model.ledger import NAMING, ROW_KINDS, Row, RowForm, RowGroup, RowPlace, ScorePart
from bwlint.settings.catalog import BAD, UNUSED

KEY = "bwlint-audit/v1"
_MANY, _FEW = 8, 8
_LONGEST = 2_000
"""Lines of a place in which findings are looked for."""
_WORDS = NAMING - {"name"}
_ASKING: frozenset[RowForm] = frozenset({"gate", "guard", "asked", "list", "table"})
_COVERED: frozenset[RowForm] = frozenset({"amount", "build", "list", "finding"})
"""Forms that give way to a stronger row on the same lines."""
_COVERING = _ASKING | _COVERED
_ASIDE = frozenset({"in-test", "aside"})
TRAITS = _ASIDE | {"is-refused", "is-told-no"}
"""Marks in which rows of one question agree."""
_LONGEST_NAME = 400
"""Lines of a place that cover others."""

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FoundAt:
    """A finding where it is looked for: the real path of its file, the lines it covers."""

    path: str
    first: int
    last: int
    finding: Finding
    silenced: str | None = None
    """The reason that a comment gives for silencing it; None where none does."""


@dataclass(frozen=True, slots=True)
class _Answered:
    """A check with its findings."""

    question: Question
    told: tuple[FoundAt, ...]


def rows(
    questions: Iterable[Question],
    told: Sequence[FoundAt],
    asked: ChipSet,
    reported: Callable[[str], str],
    group: Callable[[str], RowGroup],
    aside: Callable[[str], str] = lambda path: "",
) -> tuple[Row, ...]:
    """The rows of a run, most suspicious first. `reported` is the path that reports tell for a real one, `group` whose
    code a file is, `aside` the mark of one that stands beside what a project ships, or "".
    """
    made = [_made(one, asked, reported, group) for one in _answered(_merged(questions), told, aside)]
    return tuple(sorted(_linked(joined(made)), key=_place_in_list))


def _merged(questions: Iterable[Question]) -> list[Question]:
    """Questions with those of one key as one: the uses of a helper, the marks of tests."""
    groups: dict[tuple[object, ...], list[Question]] = {}
    for number, question in enumerate(questions):
        groups.setdefault((question.form, *(question.key or (number,))), []).append(question)
    return [_joined(group) if len(group) > 1 else group[0] for group in groups.values()]


def _joined(group: Sequence[Question]) -> Question:
    first, places = group[0].subject, dict[tuple[str, int, int], RowPlace]()
    for one in group:
        for place in one.places:
            said = place if one.subject == first else elsewhere(place, one.subject)
            places.setdefault((place.path, place.line, place.end_line), said)
    behind = next((one.behind for one in group if one.behind), "")
    return replace(
        group[0], places=tuple(places.values()), marks=frozenset().union(*(one.marks for one in group)), behind=behind
    )


_Lines = dict[tuple[str, int], list[FoundAt]]
"""What is found on a line of a file."""


def _answered(
    questions: Sequence[Question], told: Sequence[FoundAt], aside: Callable[[str], str]
) -> Iterator[_Answered]:
    """Checks with their findings, and findings that belong to no check."""
    lines: _Lines = defaultdict(list)
    for one in told:
        for line in range(one.first, min(one.last, one.first + _LONGEST) + 1):
            lines[one.path, line].append(one)
    known: set[int] = set()
    places: dict[int, list[FoundAt]] = defaultdict(list)
    for one in told:
        if one.silenced is None:
            places[id(one.finding)].append(one)
    for question in questions:
        about = _about(question, lines)
        fresh = {id(one.finding): one.finding for one in about} if about else {}
        others = [place for key in fresh if key not in known for place in places.get(key, ())]
        known |= fresh.keys()
        yield _Answered(_with_places(question, others), about)
    yield from (_Answered(_alone(found, aside), tuple(found)) for key, found in places.items() if key not in known)


def _about(question: Question, lines: _Lines) -> tuple[FoundAt, ...]:
    if question.form in NAMING:  # no finding is about them
        return ()
    found = {
        id(one): one
        for place in question.places
        if place.says != "its message"
        for line in range(place.line, min(place.end_line, place.line + _LONGEST) + 1)
        for one in lines.get((place.path, line), ())
    }
    return tuple(found.values())


def _with_places(question: Question, found: Sequence[FoundAt]) -> Question:
    """A check with the places of its findings added."""
    own = {(place.path, line) for place in question.places for line in (place.line, place.end_line)}
    more = [RowPlace(one.path, one.first, one.last, "found here") for one in found if (one.path, one.first) not in own]
    return replace(question, places=(*question.places, *more)) if more else question


def _alone(found: Sequence[FoundAt], aside: Callable[[str], str]) -> Question:
    """The question of a finding about which nobody asks."""
    first = found[0]
    mark = aside(first.path)
    return Question(
        form="finding",
        subject=first.path.rpartition("/")[2],
        text=first.finding.message[:MOST_TEXT],
        places=tuple(RowPlace(one.path, one.first, one.last, "found here") for one in found),
        marks=frozenset({"is-finding", mark} if mark else {"is-finding"}),
    )


def _made(
    one: _Answered, asked: ChipSet, reported: Callable[[str], str], group: Callable[[str], RowGroup]
) -> UnjoinedRow:
    """A row, with what tells whether others are the same."""
    row = _row(one, asked, reported, group)
    question = one.question
    answers = [answer for _, answer in question.decided or question.table]
    alike = tuple(answer == answers[0] for answer in answers)
    return UnjoinedRow(row, question.asks, alike, question.marks & TRAITS)


def _row(one: _Answered, asked: ChipSet, reported: Callable[[str], str], group: Callable[[str], RowGroup]) -> Row:
    question, told = one.question, [told.finding for told in one.told if told.silenced is None]
    known = _known(one, told, asked)
    score = parts({*question.marks, *_marks(question, told, known)})
    whose, own = group(question.path), fingerprint(question)
    places = _places(one, told)
    return Row(
        kind=known.kind,
        form=question.form,
        group=whose,
        subject=subject_of(places[0]) or question.subject,
        question=question.text,
        verdicts=tuple((chip, known.kind) for chip in asked.names),
        table=question.table,
        rough=question.rough,
        ways=question.ways,
        behind=_plain(question.behind, reported),
        why=known.why,
        score=sum(part.points for part in score),
        parts=score,
        places=tuple(RowPlace(reported(at.path), at.line, at.end_line, at.says) for at in places),
        fingerprint=own,
        questions=(own,),
        findings=tuple(finding.fingerprint for finding in told),
    )


def _places(one: _Answered, told: Sequence[Finding]) -> list[RowPlace]:
    """The places of a question, that of the finding which says why first, and where its findings stand otherwise."""
    places = list(dict.fromkeys(one.question.places))
    loudest = next((f for f in told if f.severity != "note"), told[0] if told else None)
    lines = [(at.first, at.last) for at in one.told if at.finding is loudest]
    return sorted(places, key=lambda place: not any(place.line <= b and place.end_line >= a for a, b in lines))


def _known(one: _Answered, told: Sequence[Finding], asked: ChipSet) -> KnownKind:
    """What the findings say of a question, else what it says itself."""
    loud = [finding for finding in told if finding.severity != "note"]
    if loud:
        return KnownKind("fail", loud[0].message)
    if told:
        return KnownKind("review", told[0].message)
    silenced = [told.silenced for told in one.told if told.silenced is not None]
    return KnownKind("pass", f"a comment silences it: {silenced[0]}") if any(silenced) else verdict(one.question, asked)


_AT = re.compile(r"seen at (.+):(\d+)$")


def _plain(behind: str, reported: Callable[[str], str]) -> str:
    found = _AT.search(behind)
    return f"{behind[: found.start()]}seen at {reported(found[1])}:{found[2]}" if found else behind


def _marks(question: Question, told: Sequence[Finding], known: KnownKind) -> Iterator[str]:
    yield f"form-{question.form}"
    if len(question.places) >= _MANY:
        yield "many-places"
    if known.kind == "review":
        yield "is-to-review"
    if known.kind == "open" and question.form in _WORDS:
        yield "only-names"
    for finding in told:
        yield "found-by-check" if finding.severity != "note" else "noted-by-check"


def fingerprint(question: Question) -> str:
    """32 hex digits of what is asked and what it answers; neither path nor line enters."""
    text = "".join(question.text.split())
    answers = dict(question.table)
    table = ",".join(f"{chip}={answers[chip]}" for chip in NEIGHBOURS if chip in answers)
    parts = (KEY, question.form, question.subject, text, table)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _linked(found: Sequence[Row]) -> list[Row]:
    by_subject: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in found:
        by_subject[row.places[0].path, row.subject].append(row.fingerprint)
    return [replace(row, same_subject=_others(by_subject[row.places[0].path, row.subject], row)) for row in found]


def _others(prints: Sequence[str], row: Row) -> tuple[str, ...]:
    return tuple(one for one in prints[: _FEW + 1] if one != row.fingerprint)[:_FEW]


def _place_in_list(row: Row) -> tuple[bool, bool, bool, int, int, str, int, str]:
    """The project's own before others', what `check` reports before what nobody has judged, then by score."""
    first, is_others = row.places[0], row.group != "own"
    kind = ROW_KINDS.index(row.kind)
    return row.kind == "pass", is_others, row.kind != "fail", -row.score, kind, first.path, first.line, row.fingerprint


def told_of(
    findings: Iterable[Finding], suppressed: Iterable[Suppressed], real: Callable[[str], str]
) -> tuple[FoundAt, ...]:
    """Findings, and the places of others that are told within them, where they are looked for."""
    asking = (finding for finding in findings if finding.name not in (UNUSED, BAD))
    found = [told for finding in asking for told in _told_at(finding, None, real)]
    return (*found, *(told for one in suppressed for told in _told_at(one.finding, one.reason, real)))


def _told_at(finding: Finding, silenced: str | None, real: Callable[[str], str]) -> Iterator[FoundAt]:
    places = [(finding.path, finding.region)]
    places += [(other.path, other.region) for other in finding.related if other.rule]
    for path, at in places:
        yield FoundAt(real(path), at.line, max(at.line, at.end_line), finding, silenced)


def parts(marks: Iterable[str]) -> tuple[ScorePart, ...]:
    """The weights of a question's marks, the heaviest first."""
    known = weights()
    found = [known[mark] for mark in marks if mark in known and known[mark].points]
    found.sort(key=lambda weight: (-abs(weight.points), weight.name))
    return tuple(ScorePart(weight.name, weight.points, weight.says) for weight in found)


@dataclass(frozen=True, slots=True)
class UnjoinedRow:
    """A row with what tells whether others are the same: the helpers whose answer it `asks` for or is, the
    chips that get the same answer as the first, `traits` in which rows of one question agree (whether they stand in
    tests, whether they refuse).
    """

    row: Row
    asks: tuple[str, ...]
    alike: tuple[bool, ...]
    traits: frozenset[str]


def joined(made: Sequence[UnjoinedRow]) -> list[Row]:
    """Rows with those that are one question as one, less what stronger rows on the same lines tell already."""
    return _uncovered([_one_of(group) if len(group) > 1 else group[0] for group in _groups(made)])


def _groups(made: Sequence[UnjoinedRow]) -> Iterator[list[Row]]:
    """Rows that share a key, over any number of others."""
    leader = list(range(len(made)))
    first: dict[_Key, int] = {}
    for at, one in enumerate(made):
        for key in _keys(one):
            leader[_root(leader, at)] = _root(leader, first.setdefault(key, at))
    groups: dict[int, list[Row]] = defaultdict(list)
    for at, one in enumerate(made):
        groups[_root(leader, at)].append(one.row)
    yield from groups.values()


def _root(leader: list[int], at: int) -> int:
    while leader[at] != at:
        leader[at] = at = leader[leader[at]]
    return at


def _keys(one: UnjoinedRow) -> Iterator[_Key]:
    row = one.row
    yield "copy", row.fingerprint
    if row.kind == "open" and row.form in NAMING:
        yield "named", _folder(row), row.form, row.group
    beside = (row.kind, row.group, one.traits, row.table)
    if row.findings:  # `check` tells something of it
        yield "told", "" if one.traits & _ASIDE else row.places[0].path, row.why, *beside
    if row.form not in _ASKING or not row.table or row.kind in ("fail", "pass"):
        return  # what `check` reports of one use is not what it reports of another
    yield "text", row.form, row.question, *beside
    # A file of tests asks one thing over and over; elsewhere each function has a reason of its own.
    yield "subject", row.places[0].path, "" if one.traits & _ASIDE else row.subject, *beside
    for helper in one.asks:
        yield "helper", helper, row.kind, row.group, one.traits, one.alike


def _one_of(group: Sequence[Row]) -> Row:
    """The project's own of equal rows where it does not pass, with the worst kind and the places of all.

    Its fingerprint is made of all of them: a decision about them falls when somebody asks the same elsewhere.
    """
    in_order = sorted(
        group,
        key=lambda row: (row.kind == "pass", row.group != "own", _rank(row), -row.score, row.places[0].path),
    )
    first, worst = in_order[0], min(in_order, key=_rank)
    prints = sorted({row.fingerprint for row in in_order})
    files = {place.path for row in in_order for place in row.places}
    names_folder = first.kind == "open" and first.form in NAMING and len(files) > 1
    return replace(
        first,
        subject=_folder(first) if names_folder else first.subject,
        kind=worst.kind,
        why=worst.why if worst.kind != first.kind else first.why,
        verdicts=worst.verdicts,
        places=tuple(dict.fromkeys(place for row in in_order for place in _said(row, first))),
        findings=tuple(dict.fromkeys(one for row in in_order if row.kind != "pass" for one in row.findings)),
        fingerprint=prints[0] if len(prints) == 1 else hashlib.sha256("".join(prints).encode()).hexdigest()[:32],
        questions=tuple(prints),
    )


def _folder(row: Row) -> str:
    """The folder of a row, with its slash."""
    return f"{row.places[0].path.rpartition('/')[0] or '.'}/"


def _rank(row: Row) -> int:
    return ROW_KINDS.index(row.kind)


def _said(row: Row, first: Row) -> tuple[RowPlace, ...]:
    """The places of a row beside those of another, with what they belong to."""
    if row.subject == first.subject:
        return row.places
    return tuple(elsewhere(place, row.subject) for place in row.places)


def _uncovered(rows: Sequence[Row]) -> list[Row]:
    """Rows less those of which a row that is as bad has every line."""
    in_order = sorted(range(len(rows)), key=lambda at: _strength(rows[at]))
    lines: dict[tuple[str, int], int] = {}
    kept: dict[int, Row] = {}
    for at in in_order:
        row = rows[at]
        by = _covering(row, lines) if row.form in _COVERED else None
        if by is not None and (row.kind != "fail" or row.why == kept[by].why):
            kept[by] = replace(kept[by], findings=tuple(dict.fromkeys((*kept[by].findings, *row.findings))))
            continue
        kept[at] = row
        if row.form in _COVERING:
            for key in _lines(row):
                lines.setdefault(key, at)
    return [kept[at] for at in sorted(kept)]


def _strength(row: Row) -> tuple[int, bool, int, str]:
    """What covers comes before what it covers: the worse, what asks, the longer."""
    return _rank(row), row.form in _COVERED, -sum(1 for _ in _lines(row)), row.fingerprint


def _lines(row: Row) -> Iterator[tuple[str, int]]:
    for place in row.places:
        for line in range(place.line, min(place.end_line, place.line + _LONGEST_NAME) + 1):
            yield place.path, line


def _covering(row: Row, lines: dict[tuple[str, int], int]) -> int | None:
    """The one row that has every line of a row, or None."""
    found = {lines.get(key) for key in _lines(row)}
    return found.pop() if len(found) == 1 else None
