"""SARIF 2.1.0, with what GitHub code scanning asks for and what other viewers can use."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from urllib.parse import quote

import sarif_om as om

from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, SEVERITIES, Claim, Edit, Finding, Fix, Region, Related, Report, Skipped
from bwlint.model.fingerprint import KEY
from bwlint.report import Lines, Setting, json_report
from bwlint.report.encode import dumps
from bwlint.report.line_hash import joined, line_hashes
from bwlint.report.sarif_json import plain
from bwlint.report.sarif_rules import descriptors
from bwlint.report.words import sets

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
# GitHub refuses a run that holds more.
MAX_RESULTS = 25_000
MAX_RELATED = 1_000

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


def render(report: Report, setting: Setting) -> str:
    """`report` as a SARIF log with one run; paths are told from the current folder."""
    return dumps(plain(_log(report, setting)))


def _log(report: Report, setting: Setting) -> om.SarifLog:
    entries = [_Result(finding) for finding in report.findings]
    entries += [_Result(suppressed.finding, suppressed.reason) for suppressed in report.suppressed]
    kept = sorted(sorted(entries, key=_weight)[:MAX_RESULTS], key=_place)
    rules = descriptors(setting.rules, [entry.finding for entry in kept])
    lookup = _Lookup({rule.id: index for index, rule in enumerate(rules)}, _hashes(kept, setting.lines))
    run = om.Run(
        tool=om.Tool(driver=_driver(setting.version, rules)),
        automation_details=om.RunAutomationDetails(id="bwlint/"),
        column_kind="utf16CodeUnits",
        original_uri_base_ids={ROOT: om.ArtifactLocation(description=_message("The root of the sources."))},
        invocations=[_invocation(report.skipped, kept, len(entries) - len(kept))],
        results=[_result(entry, lookup) for entry in kept],
    )
    return om.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[run])


def _weight(entry: _Result) -> tuple[bool, int, int, str, int, int]:
    finding = entry.finding
    severity = -SEVERITIES.index(finding.severity)
    confidence = _CONFIDENCES.index(finding.confidence)
    region = finding.region
    return entry.silenced is not None, severity, confidence, finding.path, region.line, region.column


def _place(entry: _Result) -> tuple[str, int, int, str, str]:
    finding = entry.finding
    return finding.path, finding.region.line, finding.region.column, finding.rule, finding.message


def _driver(version: str, rules: list[om.ReportingDescriptor]) -> om.ToolComponent:
    semantic = version if re.fullmatch(r"\d+\.\d+\.\d+", version) else None
    return om.ToolComponent(name="bwlint", version=version, semantic_version=semantic, rules=rules)


def _result(entry: _Result, lookup: _Lookup) -> om.Result:
    finding = entry.finding
    related = finding.related[:MAX_RELATED]
    index = lookup.rules[finding.rule]
    refuted = finding.verdict is not None and finding.verdict.outcome == "refuted"
    return om.Result(
        rule_id=finding.rule,
        rule_index=index,
        kind="pass" if refuted else "fail",
        level="none" if refuted else finding.severity,
        message=_message(_text(finding, related)),
        locations=[_location(finding.path, finding.region)],
        related_locations=[_related(number, item) for number, item in enumerate(related, 1)] or None,
        code_flows=[_flow(finding, related)] if related and CATEGORIES[finding.category].is_path else None,
        partial_fingerprints=_fingerprints(finding, lookup) or None,
        suppressions=None if entry.silenced is None else [_suppression(entry.silenced)],
        fixes=[_fix(finding.fix)] if finding.fix else None,
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
        found["claims"] = [_claim(claim) for claim in finding.claims]
    if finding.verdict is not None:
        found["verdict"] = asdict(finding.verdict)
    return found


def _claim(claim: Claim) -> dict[str, object]:
    """A claim as in the JSON report, less the fields that its kind has no use for."""
    return {name: value for name, value in json_report.claim(claim).items() if value}


def _text(finding: Finding, related: Sequence[Related]) -> str:
    """The message, the sets, the advice, and a link to each related place; lists show its first sentence."""
    in_words = "; ".join(f"{key}: {value}" for key, value in sets(finding))
    advice = f"Instead: {finding.advice}" if finding.advice else ""
    parts = [_sentence(part) for part in (finding.message, _capital(in_words), advice)]
    text = " ".join(part for part in parts if part)
    # A bracket is literal unless it could be taken for the beginning of a link.
    if "](" in text:
        text = text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    links = ", ".join(_link(number, item) for number, item in enumerate(related, 1))
    return f"{text} See {links}." if links else text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _link(number: int, related: Related) -> str:
    text = visible(related.message.strip().rstrip(".")) or f"{related.path}:{related.region.line}"
    escaped = re.sub(r"([\\\[\]])", r"\\\1", text)
    return f"[{escaped}]({number})"


def _message(text: str) -> om.Message:
    return om.Message(text=text.strip() or "(no text)")


def _location(path: str, region: Region | None, text: str = "", number: int = -1) -> om.Location:
    physical = om.PhysicalLocation(
        artifact_location=_artifact(path), region=None if region is None else _region(region)
    )
    return om.Location(id=number, physical_location=physical, message=_message(text) if text.strip() else None)


def _related(number: int, related: Related) -> om.Location:
    return _location(related.path, related.region, related.message or related.path, number)


def _region(region: Region) -> om.Region:
    return om.Region(
        start_line=region.line,
        start_column=region.column,
        end_line=region.end_line,
        end_column=region.end_column,
    )


def _artifact(path: str) -> om.ArtifactLocation:
    """A path under the current folder, relative to the root of the sources; any other by its whole URI."""
    relative = os.path.relpath(path)
    if PurePath(relative).parts[:1] == ("..",):
        return om.ArtifactLocation(uri=_absolute(path))
    return om.ArtifactLocation(uri=_quoted(PurePath(relative)), uri_base_id=ROOT)


def _absolute(path: str) -> str:
    try:
        return Path(path).resolve().as_uri()
    except (ValueError, RuntimeError):
        # A member of an archive may have a name that no file can have, and a link may lead to itself.
        return "file://" + _quoted(PurePath(os.path.normpath(Path.cwd() / path)))


def _quoted(path: PurePath) -> str:
    text = path.as_posix()
    try:
        return quote(os.fsencode(text))
    except UnicodeEncodeError:
        return quote(text.encode("utf-8", "surrogatepass"))


def _flow(finding: Finding, related: Iterable[Related]) -> om.CodeFlow:
    steps = [_location(finding.path, finding.region, finding.label or "the gate")]
    steps += [_location(item.path, item.region, item.message) for item in related]
    flow = om.ThreadFlow(locations=[om.ThreadFlowLocation(location=step) for step in steps])
    return om.CodeFlow(thread_flows=[flow])


def _fingerprints(finding: Finding, lookup: _Lookup) -> dict[str, str]:
    found = {KEY: finding.fingerprint} if finding.fingerprint else {}
    line = lookup.hashes.get((finding.path, finding.region.line))
    return {**found, "primaryLocationLineHash": line} if line else found


def _hashes(entries: Iterable[_Result], lines: Lines) -> dict[tuple[str, int], str]:
    wanted: dict[str, set[int]] = {}
    for entry in entries:
        wanted.setdefault(entry.finding.path, set()).add(entry.finding.region.line)
    return {(path, line): text for path, some in wanted.items() for line, text in _of_file(path, some, lines)}


def _of_file(path: str, wanted: Collection[int], lines: Lines) -> Iterable[tuple[int, str]]:
    found = lines(path)
    return () if found is None else line_hashes(joined(found), wanted).items()


def _suppression(reason: str) -> om.Suppression:
    return om.Suppression(kind="inSource", state="accepted", justification=reason.strip() or None)


def _fix(fix: Fix) -> om.Fix:
    changes: dict[str, list[om.Replacement]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.path, []).append(_replacement(edit))
    return om.Fix(
        description=_message(f"{fix.title} ({fix.applicability})"),
        artifact_changes=[
            om.ArtifactChange(artifact_location=_artifact(path), replacements=replacements)
            for path, replacements in changes.items()
        ],
    )


def _replacement(edit: Edit) -> om.Replacement:
    inserted = om.ArtifactContent(text=edit.text) if edit.text else None
    return om.Replacement(deleted_region=_region(edit.region), inserted_content=inserted)


def _invocation(skipped: Iterable[Skipped], kept: Iterable[_Result], dropped: int) -> om.Invocation:
    notes = [_notification(f"Not read: {file.reason}", file.path) for file in skipped]
    if dropped:
        text = f"{dropped} results are left out, the least severe: a run holds {MAX_RESULTS}."
        notes.append(_notification(text))
    for finding in (entry.finding for entry in kept):
        if len(finding.related) > MAX_RELATED:
            place = f"{finding.rule} in line {finding.region.line}"
            notes.append(_notification(f"{place}: only {MAX_RELATED} related places are given.", finding.path))
    return om.Invocation(execution_successful=True, tool_execution_notifications=notes)


def _notification(text: str, path: str | None = None) -> om.Notification:
    locations = None if path is None else [_location(path, None)]
    return om.Notification(message=_message(text), level="warning", locations=locations)
