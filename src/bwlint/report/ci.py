"""What CI systems read: JUnit's XML in the form of the Ant task's report, as Jenkins' and GitLab's readers take it, the
annotations of GitHub Actions and GitLab's code quality report.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import groupby
from xml.etree import ElementTree as ET

from bwlint.model.escape import visible
from bwlint.model.findings import Finding, Report, Skipped
from bwlint.report import Setting, from_root
from bwlint.report.words import sets
from bwlint.report.write import dumps

# What XML 1.0 has no way to write; all other controls were made visible.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report, setting: Setting) -> str:
    """`report` as suites, one a file, with a case a finding. A case has the same name wherever its lines move. A note
    passes with its text, what was not read is skipped, nothing found is a case."""
    root = ET.Element("testsuites", name="bwlint")
    ordered = sorted(report.findings, key=lambda finding: finding.path)
    for path, findings in groupby(ordered, key=lambda finding: finding.path):
        _suite(root, from_root(setting.checkout.root, path), list(findings))
    if report.skipped or not report.findings:
        _rest(root, report.skipped, is_clean=not report.findings)
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in root:
        for key in totals:
            totals[key] += int(suite.attrib[key])
    # The schema of Jenkins knows `skipped` of suites alone.
    root.attrib.update({key: str(count) for key, count in totals.items() if key != "skipped"})
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _suite(root: ET.Element, path: str, findings: Sequence[Finding]) -> None:
    failures = sum(finding.severity != "note" for finding in findings)
    suite = _open(root, path, len(findings), failures=failures)
    seen: Counter[str] = Counter()
    for finding in findings:
        name = f"{finding.rule} {finding.name}" + (f" in {finding.within}" if finding.within else "")
        seen[name] += 1
        case = _case(suite, f"{name} ({seen[name]})" if seen[name] > 1 else name, path)
        text = _xml("\n".join(_lines(finding, path)))
        if finding.severity == "note":
            ET.SubElement(case, "system-out").text = text
        else:
            failure = ET.SubElement(case, "failure", message=_xml(finding.message), type=finding.severity)
            failure.text = text


def _lines(finding: Finding, path: str) -> list[str]:
    lines = [f"{path}:{finding.region.line}:{finding.region.column}: {finding.message}"]
    lines += [f"{key}: {value}" for key, value in sets(finding)]
    lines += [f"{item.path}:{item.region.line}: {item.message}" for item in finding.related]
    return [*lines, f"instead: {finding.advice}"] if finding.advice else lines


def _rest(root: ET.Element, skipped: Sequence[Skipped], *, is_clean: bool) -> None:
    suite = _open(root, "bwlint", len(skipped) + is_clean, skipped=len(skipped))
    if is_clean:
        _case(suite, "no findings in what was read" if skipped else "no findings", "bwlint")
    for file in skipped:
        ET.SubElement(_case(suite, file.path, "bwlint"), "skipped", message=_xml(file.reason))


def _open(root: ET.Element, name: str, tests: int, *, failures: int = 0, skipped: int = 0) -> ET.Element:
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": skipped}
    attributes = {"name": _xml(name), **{key: str(count) for key, count in counts.items()}, "time": "0"}
    return ET.SubElement(root, "testsuite", attributes)


def _case(suite: ET.Element, name: str, path: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", name=_xml(name), classname=_xml(path), time="0")


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", "\n".join(visible(line) for line in text.split("\n")))


_GITHUB_LEVELS = {"note": "notice", "warning": "warning", "error": "error"}


def github(report: Report, setting: Setting) -> str:
    """`report` as workflow commands; a runner shows ten of each level and step."""
    return "".join(_command(finding, setting.checkout.root) for finding in report.findings)


def _command(finding: Finding, root: str) -> str:
    region = finding.region
    values = {
        "file": visible(from_root(root, finding.path)),
        "line": region.line,
        "endLine": region.end_line,
        # A runner takes columns only where both are of one line.
        **({"col": region.column, "endColumn": region.end_column} if region.line == region.end_line else {}),
        "title": f"{finding.rule} {finding.name}",
    }
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in values.items())
    lines = [finding.message, f"Instead: {finding.advice}"] if finding.advice else [finding.message]
    text = "\n".join(visible(line) for line in lines)
    return f"::{_GITHUB_LEVELS[finding.severity]} {properties}::{_escaped(text)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB_LEVELS = {"note": "info", "warning": "minor", "error": "major"}


def gitlab(report: Report, setting: Setting) -> str:
    """`report` as a list of issues, each with a fingerprint that no other one has."""
    return dumps(list(_issues(report.findings, setting.checkout.root)))


def _issues(findings: Iterable[Finding], root: str) -> Iterable[dict[str, object]]:
    seen: Counter[str] = Counter()
    for finding in findings:
        path = from_root(root, finding.path)
        # bwlint's fingerprint has no path; GitLab drops all but one of those that are equal.
        key = f"{path}\0{finding.rule}\0{finding.fingerprint or finding.region.line}"
        seen[key] += 1
        region = finding.region
        yield {
            "description": finding.message,
            "check_name": f"{finding.rule} {finding.name}",
            "fingerprint": sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest(),
            "severity": _GITLAB_LEVELS[finding.severity],
            "location": {"path": path, "lines": {"begin": region.line, "end": region.end_line}},
        }
