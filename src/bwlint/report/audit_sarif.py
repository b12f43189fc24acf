"""A ledger as SARIF 2.1.0: the kinds of its rows are SARIF's own, and a decision that a row is fine suppresses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import sarif_om as om

from bwlint.chips.wording import capital
from bwlint.model.escape import visible
from bwlint.model.ledger import Ledger, Row, RowForm
from bwlint.report import Setting
from bwlint.report.audit import FORMS
from bwlint.report.sarif import (
    MAX_RELATED,
    MAX_RESULTS,
    fitted,
    line_hashes_of,
    literal,
    log,
    message,
    notification,
    suppression,
    unread,
)
from bwlint.report.sarif_places import SarifPlaces

KEY = "bwlint-audit/v1"

_RULES = list(FORMS)


def as_sarif(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as a SARIF log with one run and a result a row, as many of the first as GitHub takes."""
    return fitted(ledger.rows, lambda kept, dropped: _log(ledger, setting, kept, dropped))


def _log(ledger: Ledger, setting: Setting, kept: Sequence[Row], dropped: int) -> om.SarifLog:
    hashes = line_hashes_of(((row.places[0].path, row.places[0].line) for row in kept), setting.lines)
    places = SarifPlaces(setting.checkout.root, setting.lines)
    results = [_result(rank, row, hashes, places) for rank, row in enumerate(kept, 1)]
    return log(setting, [_rule(form) for form in _RULES], results, _notes(ledger, kept, dropped, places))


def _rule(form: RowForm) -> om.ReportingDescriptor:
    text = om.MultiformatMessageString(text=f"{capital(FORMS[form])}.")
    return om.ReportingDescriptor(
        id=f"audit/{form}",
        name=f"Audit{form.capitalize()}",
        short_description=text,
        full_description=text,
        help=text,
        default_configuration=om.ReportingConfiguration(level="none"),
        properties={"tags": ["audit", form, "gpu", "portability"]},
    )


def _result(rank: int, row: Row, hashes: Mapping[tuple[str, int], str], places: SarifPlaces) -> om.Result:
    first, *others = row.places
    line = hashes.get((first.path, first.line))
    return om.Result(
        rule_id=f"audit/{row.form}",
        rule_index=_RULES.index(row.form),
        kind=row.kind,
        level="warning" if row.kind == "fail" else "none",
        message=message(_text(row)),
        locations=[places.whole_lines(first.path, first.line, first.end_line)],
        related_locations=[
            places.whole_lines(place.path, place.line, place.end_line, place.says or place.path, number)
            for number, place in enumerate(others[:MAX_RELATED], 1)
        ]
        or None,
        partial_fingerprints={KEY: row.fingerprint, **({"primaryLocationLineHash": line} if line else {})},
        suppressions=_suppressions(row),
        properties=_properties(rank, row),
    )


def _text(row: Row) -> str:
    """The subject, the reason and what each asked chip gets; lists show the first sentence."""
    ways = "; ".join(f"{', '.join(way.chips)}: {way.does}" for way in row.ways)
    parts = (f"{row.subject}: {row.why}" if row.subject else row.why, ways and f"{ways}.", f"The check: {row.question}")
    return literal(visible(" ".join(part for part in parts if part)))


def _suppressions(row: Row) -> list[om.Suppression] | None:
    if row.decision is None or row.decision.said != "fine":
        return None
    return [suppression("external", row.decision.reason)]


def _properties(rank: int, row: Row) -> dict[str, object]:
    found: dict[str, object] = {
        "rank": rank,
        "score": row.score,
        "parts": [asdict(part) for part in row.parts],
        "group": row.group,
        "subject": row.subject,
        "verdicts": dict(row.verdicts),
        "table": dict(row.table),
        "rough": row.rough,
    }
    if row.behind:
        found["behind"] = row.behind
    if row.decision is not None:
        found["decision"] = asdict(row.decision)
    return found


def _notes(ledger: Ledger, kept: Sequence[Row], dropped: int, places: SarifPlaces) -> Iterator[om.Notification]:
    yield from unread(ledger.skipped, places)
    if dropped:
        yield notification(
            f"{dropped} results are left out, the last: GitHub takes {MAX_RESULTS} and 10 MB when packed."
        )
    for row in kept:
        if len(row.places) > MAX_RELATED + 1:
            place = places.location(row.places[0].path, None)
            yield notification(f"{row.subject}: only {MAX_RELATED} related places are given.", place)
