"""JUnit's XML, as test reporters of CI systems read it: a suite a file, a case a finding.

The form is that of the Ant task's report, as Jenkins' and GitLab's readers take it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from bwlint.model.escape import visible
from bwlint.model.findings import Finding, Report, Skipped
from bwlint.report import Setting
from bwlint.report.paths import from_root
from bwlint.report.words import sets

# What XML 1.0 has no way to write; all other controls were made visible.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, setting: Setting) -> str:
    """`report` as suites. A note passes with its text, what was not read is skipped, nothing found is a case."""
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
    for finding in findings:
        case = _case(suite, f"{finding.rule} {finding.name}:{finding.region.line}:{finding.region.column}", path)
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
