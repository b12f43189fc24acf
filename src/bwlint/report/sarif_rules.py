"""How a rule is presented in SARIF: what GitHub prints beside each of its alerts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import sarif_om as om

from bwlint.model.findings import SEVERITIES, Finding, Severity
from bwlint.report.rule_text import facts, markdown, plain
from bwlint.settings.catalog import Rule

MAX_TEXT = 1024
MAX_TAGS = 20


def descriptors(rules: Iterable[Rule], findings: Sequence[Finding], home: str = "") -> list[om.ReportingDescriptor]:
    """The descriptor of every rule, by code; for one that no rule has, what a finding knows of it. `home` is the
    address of bwlint's pages (docs/ of its repository), "" where it has none."""
    found = {rule.code: _descriptor(rule, home) for rule in rules}
    for finding in findings:
        if finding.rule not in found:
            found[finding.rule] = _unknown(finding)
    return [found[code] for code in sorted(found)]


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
        help=om.MultiformatMessageString(text=plain(rule), markdown=_help_markdown(rule)),
        default_configuration=om.ReportingConfiguration(level=rule.severity),
        properties=_properties(rule.name, rule.category, rule.severity),
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
        properties=_properties(finding.name, finding.category, finding.severity),
    )


def _pascal(name: str) -> str:
    # Viewers expect an identifier here; the code is what users search for.
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name)) or "Rule"


def _properties(name: str, category: str, severity: Severity) -> dict[str, object]:
    # No security-severity: its mere presence would turn every finding into a security alert.
    tags = list(dict.fromkeys([category, name, "gpu", "portability"]))[:MAX_TAGS]
    is_note = severity == SEVERITIES[0]
    problem = "recommendation" if is_note else severity
    # Of the rule and not of this run: GitHub sorts by it, and a rule that changes it with each upload moves about.
    precision = "medium" if is_note else "high"
    return {"tags": tags, "precision": precision, "problem.severity": problem}


def _help_markdown(rule: Rule) -> str:
    table = " ".join(f"{name}: {value}." for name, value in facts(rule))
    return f"**{rule.code} {rule.name}**: {rule.summary.strip() or rule.name}\n\n{table}\n\n{markdown(rule, 3)}"
