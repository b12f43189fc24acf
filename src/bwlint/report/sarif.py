"""SARIF 2.1.0, with what GitHub code scanning asks for and what other viewers can use."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import sarif_om as om

from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, SEVERITIES, Edit, Finding, Fix, Related, Report, Skipped
from bwlint.model.fingerprint import KEY
from bwlint.report import Checkout, Lines, Setting, encode
from bwlint.report.line_hash import joined, line_hashes
from bwlint.report.sarif_json import plain
from bwlint.report.sarif_places import ROOT, SarifPlaces, span
from bwlint.report.sarif_rules import descriptors
from bwlint.report.words import sets

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# GitHub refuses a run that holds more, and a file that is larger when it is packed (bytes).
MAX_RESULTS = 25_000
MAX_PACKED = 10_000_000
MAX_RELATED = 1_000

_Entry = TypeVar("_Entry")
_CONFIDENCES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class _Result:
    """A result to be: a finding, and the reason of the comment that silences it, if one does."""

    finding: Finding
    silenced: str | None = None


@dataclass(frozen=True, slots=True)
class _Lookup:
    """What results refer to: where a rule stands among the descriptors, the hash of a file's line."""

    rules: Mapping[str, int]
    hashes: Mapping[tuple[str, int], str]
    places: SarifPlaces


def render(report: Report, setting: Setting) -> str:
    """`report` as a SARIF log with one run, with as many results, the severest first, as GitHub takes."""
    entries = [_Result(finding) for finding in report.findings]
    entries += [_Result(suppressed.finding, suppressed.reason) for suppressed in report.suppressed]
    entries.sort(key=_weight)
    return fitted(entries, lambda kept, dropped: _log(report, setting, sorted(kept, key=_place), dropped))


def fitted(entries: Sequence[_Entry], made: Callable[[Sequence[_Entry], int], om.SarifLog]) -> str:
    """The log that is `made` of the first entries, as many as GitHub takes, and of the number of those left out."""
    most = MAX_RESULTS
    while True:
        kept = entries[:most]
        text = encode.dumps(plain(made(kept, len(entries) - len(kept))))
        if _is_small(text) or not kept:
            return text
        most = len(kept) // 2


def _is_small(text: str) -> bool:
    """Whether GitHub takes a file of this text, which is packed for the way."""
    data = text.encode()
    return len(data) <= MAX_PACKED or len(gzip.compress(data)) <= MAX_PACKED


def _log(report: Report, setting: Setting, kept: Sequence[_Result], dropped: int) -> om.SarifLog:
    places = SarifPlaces(setting.checkout.root, setting.lines)
    rules = descriptors(setting.rules, [entry.finding for entry in kept], setting.home)
    hashes = line_hashes_of(((entry.finding.path, entry.finding.region.line) for entry in kept), setting.lines)
    lookup = _Lookup({rule.id: index for index, rule in enumerate(rules)}, hashes, places)
    results = [_result(entry, lookup) for entry in kept]
    return log(setting, rules, results, _notes(report.skipped, kept, dropped, places))


def log(
    setting: Setting, rules: list[om.ReportingDescriptor], results: list[om.Result], notes: Iterable[om.Notification]
) -> om.SarifLog:
    """A log with one run; `notes` are what the tool says of itself."""
    # Without automationDetails: its id would take the place of the category that an upload is given.
    run = om.Run(
        tool=om.Tool(driver=_driver(setting, rules)),
        column_kind="utf16CodeUnits",
        original_uri_base_ids={ROOT: om.ArtifactLocation(description=message("The root of the sources."))},
        version_control_provenance=_provenance(setting.checkout),
        invocations=[om.Invocation(execution_successful=True, tool_execution_notifications=list(notes))],
        results=results,
    )
    return om.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[run])


def _provenance(checkout: Checkout) -> list[om.VersionControlDetails] | None:
    if not checkout.repository:
        return None
    mapped = om.ArtifactLocation(uri_base_id=ROOT)
    return [
        om.VersionControlDetails(
            repository_uri=checkout.repository, revision_id=checkout.commit or None, mapped_to=mapped
        )
    ]


def _weight(entry: _Result) -> tuple[bool, int, int, str, int, int]:
    finding = entry.finding
    severity = -SEVERITIES.index(finding.severity)
    confidence = _CONFIDENCES.index(finding.confidence)
    region = finding.region
    return entry.silenced is not None, severity, confidence, finding.path, region.line, region.column


def _place(entry: _Result) -> tuple[str, int, int, str, str]:
    finding = entry.finding
    return finding.path, finding.region.line, finding.region.column, finding.rule, finding.message


def _driver(setting: Setting, rules: list[om.ReportingDescriptor]) -> om.ToolComponent:
    version = setting.version
    semantic = version if re.fullmatch(r"\d+\.\d+\.\d+", version) else None
    return om.ToolComponent(
        name="bwlint", version=version, semantic_version=semantic, information_uri=setting.home or None, rules=rules
    )


def _result(entry: _Result, lookup: _Lookup) -> om.Result:
    finding, places = entry.finding, lookup.places
    related = finding.related[:MAX_RELATED]
    index = lookup.rules[finding.rule]
    refuted = finding.verdict is not None and finding.verdict.outcome == "refuted"
    return om.Result(
        rule_id=finding.rule,
        rule_index=index,
        kind="pass" if refuted else "fail",
        level="none" if refuted else finding.severity,
        message=message(_text(finding, related)),
        locations=[places.location(finding.path, finding.region)],
        related_locations=[_related(number, item, places) for number, item in enumerate(related, 1)] or None,
        code_flows=[_flow(finding, related, places)] if related and CATEGORIES[finding.category].is_path else None,
        partial_fingerprints=_fingerprints(finding, lookup) or None,
        suppressions=None if entry.silenced is None else [_suppression(entry.silenced)],
        fixes=[_fix(finding.fix, places)] if finding.fix else None,
        properties=_properties(finding),
    )


def _properties(finding: Finding) -> dict[str, object]:
    found: dict[str, object] = {
        "category": finding.category,
        "confidence": finding.confidence,
        "admitted": list(finding.admitted),
        "certain": list(finding.certain),
    }
    if finding.legal is not None:
        found["legal"] = list(finding.legal)
    if finding.claims:
        # As in the JSON report, less the fields that their kinds have no use for.
        told = map(encode.plain, finding.claims)
        found["claims"] = [{name: value for name, value in claim.items() if value} for claim in told]
    if finding.verdict is not None:
        found["verdict"] = asdict(finding.verdict)
    if finding.trace is not None:
        found["trace"] = asdict(finding.trace)
    return found


def _text(finding: Finding, related: Sequence[Related]) -> str:
    """The message, the sets, the advice, and a link to each related place; lists show its first sentence."""
    in_words = "; ".join(f"{key}: {value}" for key, value in sets(finding))
    advice = f"Instead: {finding.advice}" if finding.advice else ""
    parts = [_sentence(part) for part in (finding.message, in_words[:1].upper() + in_words[1:], advice)]
    text = " ".join(part for part in parts if part)
    # A bracket is literal unless it could be taken for the beginning of a link.
    if "](" in text:
        text = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    links = ", ".join(_link(number, item) for number, item in enumerate(related, 1))
    return f"{text} See {links}." if links else text


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _link(number: int, related: Related) -> str:
    text = visible(related.message.strip().rstrip(".")) or f"{related.path}:{related.region.line}"
    escaped = re.sub(r"([\\\[\]])", r"\\\1", text)
    return f"[{escaped}]({number})"


def message(text: str) -> om.Message:
    """A message, which must not be empty."""
    return om.Message(text=text.strip() or "(no text)")


def _related(number: int, related: Related, places: SarifPlaces) -> om.Location:
    return places.location(related.path, related.region, related.message or related.path, number)


def _flow(finding: Finding, related: Iterable[Related], places: SarifPlaces) -> om.CodeFlow:
    steps = [places.location(finding.path, finding.region, finding.label or "the gate")]
    steps += [places.location(item.path, item.region, item.message) for item in related]
    flow = om.ThreadFlow(locations=[om.ThreadFlowLocation(location=step) for step in steps])
    return om.CodeFlow(thread_flows=[flow])


def _fingerprints(finding: Finding, lookup: _Lookup) -> dict[str, str]:
    found = {KEY: finding.fingerprint} if finding.fingerprint else {}
    line = lookup.hashes.get((finding.path, finding.region.line))
    return {**found, "primaryLocationLineHash": line} if line else found


def line_hashes_of(places: Iterable[tuple[str, int]], lines: Lines) -> dict[tuple[str, int], str]:
    """GitHub's hash of each line of a file that can be read."""
    wanted: dict[str, set[int]] = {}
    for path, line in places:
        wanted.setdefault(path, set()).add(line)
    return {(path, line): text for path, some in wanted.items() for line, text in _of_file(path, some, lines)}


def _of_file(path: str, wanted: Collection[int], lines: Lines) -> Iterable[tuple[int, str]]:
    found = lines(path)
    return () if found is None else line_hashes(joined(found), wanted).items()


def _suppression(reason: str) -> om.Suppression:
    return om.Suppression(kind="inSource", state="accepted", justification=reason.strip() or None)


def _fix(fix: Fix, places: SarifPlaces) -> om.Fix:
    changes: dict[str, list[om.Replacement]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.path, []).append(_replacement(edit))
    return om.Fix(
        description=message(f"{fix.title} ({fix.applicability})"),
        artifact_changes=[
            om.ArtifactChange(artifact_location=places.artifact(path), replacements=replacements)
            for path, replacements in changes.items()
        ],
    )


def _replacement(edit: Edit) -> om.Replacement:
    inserted = om.ArtifactContent(text=edit.text) if edit.text else None
    return om.Replacement(deleted_region=span(edit.region), inserted_content=inserted)


def _notes(
    skipped: Iterable[Skipped], kept: Iterable[_Result], dropped: int, places: SarifPlaces
) -> Iterator[om.Notification]:
    yield from unread(skipped, places)
    if dropped:
        text = f"{dropped} results are left out, the least severe: GitHub takes {MAX_RESULTS} and 10 MB when packed."
        yield notification(text)
    for finding in (entry.finding for entry in kept):
        if len(finding.related) > MAX_RELATED:
            text = f"{finding.rule} in line {finding.region.line}: only {MAX_RELATED} related places are given."
            yield notification(text, places.location(finding.path, None))


def unread(skipped: Iterable[Skipped], places: SarifPlaces) -> Iterator[om.Notification]:
    """What the log says of the files that were not read."""
    return (notification(f"Not read: {file.reason}", places.location(file.path, None)) for file in skipped)


def notification(text: str, place: om.Location | None = None) -> om.Notification:
    """A warning of the tool about its run."""
    locations = None if place is None else [place]
    return om.Notification(message=message(text), level="warning", locations=locations)
