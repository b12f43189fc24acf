"""One self-contained HTML file for a report. No scanned text ever becomes markup.

The page is `page.html` with `page.css` and the scripts put in, and two blocks of JSON: the report as `--format json`
has it, and what the page needs beside that (excerpts of sources, chips, rules). A policy admits the style and the
script by their hashes and nothing else; the script makes every text with `textContent`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from bwlint.chips import ChipSet, all_chips, chip, parse_targets
from bwlint.chips.wording import capital
from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, WHOLE_FILE, Finding, Region
from bwlint.model.ledger import Row
from bwlint.report import Lines
from bwlint.report.audit import FORMS
from bwlint.report.patches import patches
from bwlint.report.snippet import code_point
from bwlint.report.text import by_cause
from bwlint.report.write import document, in_a_line

if TYPE_CHECKING:
    from bwlint.binaries.shipments import Inspection
    from bwlint.confirm.receipt import Receipt
    from bwlint.model.findings import Report
    from bwlint.model.ledger import Ledger
    from bwlint.report import Setting

PageKind = Literal["audit", "check", "inspection", "matrix", "plan", "port"]

SCRIPTS = ("page.js", "source.js", "list.js", "findings.js", "audit.js", "tables.js", "plan.js", "port.js", "start.js")


def render(report: Report, setting: Setting, receipts: Sequence[Receipt] = ()) -> str:
    """`report` as a page, with the sources that its findings point at; each finding with its receipt, if there are."""
    beside = {**of_findings(report, setting), "receipts": [_receipt(each) for each in receipts]}
    return "".join(page("check", (in_a_line(document(report, setting)),), beside, setting.subject))


def of_inspection(inspection: Inspection, setting: Setting, sentences: Sequence[str]) -> dict[str, Any]:
    """What a page needs beside an inspection: the sentences on each card, of each shipment a headline, and the text's
    lines on what it takes."""
    from bwlint.binaries.needs import judged
    from bwlint.report.inspection_text import needs

    shipments = [
        {"headline": headline(answer, inspection.asked), "needs": list(needs(shipment, judged(inspection, shipment)))}
        for shipment, answer in zip(inspection.shipments, inspection.answers, strict=True)
    ]
    return {**of_findings(inspection.report, setting), "shipments": shipments, "sentences": list(sentences)}


def headline(answer: str, asked: Iterable[str]) -> str:
    """An answer that names each asked chip by its cards where it names it first: "Runs on DGX Spark / GB10 (12.1)"."""
    for name in asked:
        card = " / ".join(reversed(chip(name).products))
        first = rf"(?<![\w.(/])(?<!CUDA ){re.escape(name)}(?![\w.)])"
        answer = re.sub(first, f"{card} ({name})" if card else name, answer, count=1)
    return capital(answer)


def of_audit(ledger: Ledger, setting: Setting) -> dict[str, Any]:
    """What a page needs beside a ledger."""
    return {"excerpts": of_rows(ledger.rows, setting.lines), "forms": FORMS}


def page(
    kind: PageKind, report: Iterable[str], beside: Mapping[str, Any] | None = None, subject: str = ""
) -> Iterator[str]:
    """A page in pieces: `report` is JSON in pieces, `beside` what the page shows with it, `subject` is in its title."""
    style, script = _text("page.css"), "\n".join(map(_text, SCRIPTS))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    rest = _text("page.html")
    chips = [{"name": one.name, "generation": one.generation, "products": list(one.products)} for one in all_chips()]
    told = in_a_line({"kind": kind, "chips": chips, **(beside or {})})
    parts: dict[str, Iterable[str]] = {
        "policy": (f"{policy}; form-action 'none'",),
        "title": (escape(f"bwlint {kind}: {visible(subject)}" if subject else f"bwlint {kind}"),),
        "style": (style,),
        "beside": (_inert(told),),
        "report": map(_inert, report),
        "script": (script,),
    }
    for name, pieces in parts.items():
        before, rest = rest.split(f"{{{{{name}}}}}")
        yield before
        yield from pieces
    yield rest


def of_findings(report: Report, setting: Setting) -> dict[str, Any]:
    """What a page needs beside the findings of `report`."""
    causes = {id(finding): rank for rank, group in enumerate(by_cause(report.findings)) for finding in group}
    shown = {finding.rule for finding in report.findings}
    return {
        "excerpts": excerpts(report.findings, setting.lines),
        "patches": patches(report.findings, setting.lines),
        "rules": {rule.code: rule.summary for rule in setting.rules if rule.code in shown},
        "served": [name for name, traits in CATEGORIES.items() if traits.is_served],
        "gateless": [name for name, traits in CATEGORIES.items() if traits.is_gateless],
        "concerned": [list(_concerned(finding)) for finding in report.findings],
        "causes": [causes[id(finding)] for finding in report.findings],
    }


def _concerned(finding: Finding) -> tuple[str, ...]:
    """The chips that the claims of a finding speak of; a target counts as its chip."""
    found = {chip for claim in finding.claims for chip in claim.chips}
    for target in {target for claim in finding.claims for target in claim.targets}:
        try:
            found.update(parse_targets((target,))[0].names)
        except ValueError:
            continue  # a report that is read back may name what nobody knows here
    try:
        return ChipSet.of(*found).names
    except (KeyError, ValueError):
        return tuple(sorted(found))


def _receipt(receipt: Receipt) -> list[dict[str, Any]]:
    from bwlint.report.receipts import of_claim

    return [of_claim(tried) for tried in receipt.tried]


def _inert(text: str) -> str:
    """JSON that a parser of HTML takes for text alone, and one of JSON for the same: only its strings have ``<``."""
    return text.replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


AROUND = 3
"""Lines of context before and after."""

DRAWN_PLACES = 5
"""Places of a row of a ledger that the page draws, as audit.js has it."""

_HEAD, _TAIL = 8, 3
_LONG = 1000
"""UTF-16 units of a line: a longer one is cut to what is around its first place."""

Excerpts = dict[str, dict[int, "str | list[str | int]"]]
"""By path and line: the line with its end, or where it is cut the number of units that are left out and the rest."""


def excerpts(findings: Iterable[Finding], lines: Lines) -> Excerpts:
    """The excerpts for `findings`; a file that cannot be read has none."""
    return _excerpts((place for finding in findings for place in _places(finding)), lines)


def of_rows(rows: Iterable[Row], lines: Lines) -> Excerpts:
    """The same for the rows of a ledger, each with its first places: those that the page draws."""
    places = (place for row in rows for place in row.places[:DRAWN_PLACES])
    return _excerpts(((place.path, Region(place.line, 1, place.end_line, 1)) for place in places), lines)


def _excerpts(places: Iterable[tuple[str, Region]], lines: Lines) -> Excerpts:
    found: Excerpts = {}
    sources: dict[str, Sequence[str]] = {}
    for path, region in places:
        if path not in sources:
            sources[path] = lines(path) or ()
        kept = found.setdefault(path, {}) if sources[path] else {}
        for number in _numbers(region, len(sources[path])):
            text = sources[path][number - 1]
            if len(text) <= _LONG:
                kept[number] = text
            else:
                kept.setdefault(number, _cut(text, region.column if number == region.line else 1))
    return found


def _places(finding: Finding) -> Iterator[tuple[str, Region]]:
    if finding.region != WHOLE_FILE:
        yield finding.path, finding.region
    for related in finding.related:
        if related.region != WHOLE_FILE:
            yield related.path, related.region


def _numbers(region: Region, count: int) -> Iterator[int]:
    first, last = max(1, region.line - AROUND), min(count, region.end_line + AROUND)
    if last - first <= _HEAD + _TAIL + 2 * AROUND:
        yield from range(first, last + 1)
        return
    yield from range(first, min(count, region.line + _HEAD) + 1)
    yield from range(max(first, region.end_line - _TAIL), last + 1)


def _cut(text: str, column: int) -> list[str | int]:
    start = max(0, code_point(text, column) - _LONG // 4)
    skipped = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
    return [skipped, text[start : start + _LONG]]
