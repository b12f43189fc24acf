"""SARIF 2.1.0, with what GitHub code scanning asks for and what other viewers can use."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import attr
import sarif_om as om

from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, KEY, SEVERITIES, Edit, Finding, Fix, Related, Report, Severity, Skipped
from bwlint.report import Checkout, Lines, Setting, rule_text, write
from bwlint.report.sarif_places import ROOT, SarifPlaces, span
from bwlint.report.words import sets
from bwlint.settings.catalog import Rule

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
        text = write.dumps(as_json(made(kept, len(entries) - len(kept))))
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
        invocations=[om.Invocation(not setting.has_failed, tool_execution_notifications=list(notes))],
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
        related_locations=[
            places.location(item.path, item.region, item.message or item.path, number)
            for number, item in enumerate(related, 1)
        ]
        or None,
        code_flows=[_flow(finding, related, places)] if related and CATEGORIES[finding.category].is_path else None,
        partial_fingerprints=_fingerprints(finding, lookup) or None,
        suppressions=None if entry.silenced is None else [suppression("inSource", entry.silenced)],
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
        told = map(write.plain, finding.claims)
        found["claims"] = [{name: value for name, value in claim.items() if value} for claim in told]
    if finding.verdict is not None:
        found["verdict"] = asdict(finding.verdict)
    if finding.trace is not None:
        found["trace"] = asdict(finding.trace)
    return found


def suppression(kind: str, reason: str) -> om.Suppression:
    return om.Suppression(kind=kind, state="accepted", justification=reason.strip() or None)


def literal(text: str) -> str:
    """A text whose brackets are no link: one is literal unless it could be taken for the beginning of one."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "](" in text else text


def _text(finding: Finding, related: Sequence[Related]) -> str:
    """The message, the sets, the advice, and a link to each related place; lists show its first sentence."""
    in_words = "; ".join(f"{key}: {value}" for key, value in sets(finding))
    advice = f"Instead: {finding.advice}" if finding.advice else ""
    parts = [_sentence(part) for part in (finding.message, in_words[:1].upper() + in_words[1:], advice)]
    text = literal(" ".join(part for part in parts if part))
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


# sarif_om follows a draft of the schema, in which this property had another name.
_RENAMED = {("Suppression", "state"): "status"}


def as_json(value: Any) -> Any:
    """`value` without its absent properties: None, and -1 where sarif_om means "not given". Takes sarif_om objects,
    dicts with string keys, lists, tuples and scalars; all else is a TypeError. The usual serializer drops every value
    that equals its class's default, and keeps sentinels that GitHub refuses."""
    if attr.has(type(value)):
        return _attributes(value)
    if isinstance(value, dict):
        return {_key(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"no JSON for {type(value).__name__}")


def _attributes(value: Any) -> dict[str, Any]:
    kind = type(value).__name__
    found = ((field, getattr(value, field.name)) for field in attr.fields(type(value)))
    return {
        _RENAMED.get((kind, field.name), field.metadata["schema_property_name"]): as_json(item)
        for field, item in found
        if item is not None and item != -1
    }


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"no JSON key: {key!r}")


_BLOCK = 100
_FACTOR = 37
_MODULUS = 1 << 64
_END = "\uffff" + "\0" * _BLOCK
_BLANKS = {ord(" "): None, ord("\t"): None}


def joined(lines: Sequence[str]) -> str:
    """The text that has these lines, whether or not they kept their ends."""
    ended = len(lines) < 2 or lines[0].endswith(("\n", "\r"))
    return ("" if ended else "\n").join(lines)


def line_hashes(text: str, wanted: Collection[int]) -> dict[int, str]:
    """GitHub's ``primaryLocationLineHash`` of each line of `wanted` (1-based) that `text` has, as its upload action has
    it: the polynomial, in 37 and modulo 2**64, of the 100 UTF-16 units from the line's start on, without spaces and
    tabs, with line ends as LF, 65535 for the end of the file and zeros behind it; equal hashes are numbered."""
    stream = _units(text.replace("\r\n", "\n").replace("\r", "\n").translate(_BLANKS)) + _END
    last = max(wanted, default=0)
    seen: Counter[str] = Counter()
    found: dict[int, str] = {}
    start = 0
    for line in range(1, last + 1):
        window = stream[start : start + _BLOCK]
        seen[window] += 1
        if line in wanted:
            found[line] = f"{_polynomial(window):x}:{seen[window]}"
        start = stream.find("\n", start) + 1
        if start == 0:
            break
    return found


def _units(text: str) -> str:
    """`text` with each character beyond the BMP as its two surrogates."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(raw).cast("H")))


def _polynomial(window: str) -> int:
    value = 0
    for char in window:
        value = (value * _FACTOR + ord(char)) % _MODULUS
    return value


MAX_TEXT = 1024
MAX_TAGS = 20


def descriptors(rules: Iterable[Rule], findings: Sequence[Finding], home: str = "") -> list[om.ReportingDescriptor]:
    """The descriptor of each rule that has findings, by code; for one that is not among `rules`, what a finding knows
    of it. `home` is the address of bwlint's pages (docs/ of its repository), "" where it has none."""
    known, told = {rule.code: rule for rule in rules}, {finding.rule: finding for finding in reversed(findings)}
    return [_descriptor(known[code], home) if code in known else _unknown(told[code]) for code in sorted(told)]


def clipped(text: str, fallback: str) -> str:
    """`text` within GitHub's limit for descriptions; `fallback` where it is empty, which SARIF forbids."""
    text = text.strip() or fallback
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3].rstrip() + "..."


def _descriptor(rule: Rule, home: str) -> om.ReportingDescriptor:
    return om.ReportingDescriptor(
        id=rule.code,
        name=_pascal(rule.name),
        short_description=om.MultiformatMessageString(text=clipped(rule.summary, rule.name)),
        full_description=om.MultiformatMessageString(text=clipped(rule.why, rule.summary or rule.name)),
        help_uri=f"{home.rstrip('/')}/rules/{rule.name}.md" if home else None,
        help=om.MultiformatMessageString(text=rule_text.plain(rule), markdown=_help_markdown(rule)),
        default_configuration=om.ReportingConfiguration(level=rule.severity),
        properties=_rule_properties(rule.name, rule.category, rule.severity),
    )


def _unknown(finding: Finding) -> om.ReportingDescriptor:
    text = om.MultiformatMessageString(text=finding.name)
    return om.ReportingDescriptor(
        id=finding.rule,
        name=_pascal(finding.name),
        short_description=text,
        full_description=text,
        help=text,
        default_configuration=om.ReportingConfiguration(level=finding.severity),
        properties=_rule_properties(finding.name, finding.category, finding.severity),
    )


def _pascal(name: str) -> str:
    # Viewers expect an identifier here; the code is what users search for.
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name)) or "Rule"


def _rule_properties(name: str, category: str, severity: Severity) -> dict[str, object]:
    # No security-severity: its mere presence would turn every finding into a security alert.
    tags = list(dict.fromkeys([category, name, "gpu", "portability"]))[:MAX_TAGS]
    is_note = severity == SEVERITIES[0]
    problem = "recommendation" if is_note else severity
    # Of the rule and not of this run: GitHub sorts by it, and a rule that changes it with each upload moves about.
    precision = "medium" if is_note else "high"
    return {"tags": tags, "precision": precision, "problem.severity": problem}


def _help_markdown(rule: Rule) -> str:
    table = " ".join(f"{name}: {value}." for name, value in rule_text.facts(rule))
    return (
        f"**{rule.code} {rule.name}**: {rule.summary.strip() or rule.name}\n\n{table}\n\n{rule_text.markdown(rule, 3)}"
    )
