"""JSON that every parser takes and no terminal obeys, and the JSON report: an API, described by `findings.schema.json`;
version 1 gains keys but loses none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from bwlint.model.findings import Finding, Report
from bwlint.report import Setting

_ESCAPE = re.compile(r"\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(ud[89a-f][0-9a-f]{2})|.)")


def dumps(value: Any, *, sort_keys: bool = True) -> str:
    """`value` as indented ASCII JSON with a final newline, its keys sorted or in their own order.

    A lone surrogate (an undecodable byte of a file name) is no Unicode and makes strict parsers refuse the
    whole report: it is written as the six characters ``\\udc80``.
    """
    return _harmless(json.dumps(value, indent=2, sort_keys=sort_keys, allow_nan=False)) + "\n"


def in_a_line(value: Any) -> str:
    """The same in one line, which is ten times as fast: for lists of thousands."""
    return _harmless(json.dumps(value, sort_keys=True, allow_nan=False))


def written(version: str, *, sort_keys: bool = True, **parts: Any) -> str:
    """A document of bwlint in its first form, with these parts; `version` is bwlint's own."""
    return dumps({"version": 1, "tool": {"name": "bwlint", "version": version}, **parts}, sort_keys=sort_keys)


def plain(value: Any) -> Any:
    """A value as JSON has it: of a dataclass all fields, paths as texts, tuples as lists."""
    if is_dataclass(value):
        return picked(value, *(field.name for field in fields(value)))
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def picked(value: object, *names: str) -> dict[str, Any]:
    """Some attributes as JSON has them. A region is written as its four numbers, in its place."""
    found = {name: plain(getattr(value, name)) for name in names}
    place: dict[str, Any] = found.pop("region", {})
    return found | place


def _harmless(text: str) -> str:
    if "\\ud" in text:
        text = _ESCAPE.sub(lambda match: "\\\\" + match[1] if match[1] else match.group(), text)
    return text.replace("\x7f", "\\u007f")


def findings(report: Report, setting: Setting) -> str:
    return dumps(document(report, setting))


def document(report: Report, setting: Setting) -> dict[str, Any]:
    """`report` as plain values; an inspection adds its own to them."""
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": setting.version},
        "targets": list(report.targets),
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [{"finding": _finding(entry.finding), "reason": entry.reason} for entry in report.suppressed],
        "skipped": plain(report.skipped),
        "stats": dict(report.stats),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = plain(finding)
    for name in ("content", "ways", "bundled"):  # they serve to tell what has moved, to ask somebody, and to sort
        del told[name]
    for name in ("verdict", "trace"):
        if told[name] is None:
            del told[name]
    for related in told["related"]:
        if not related["rule"]:
            del related["rule"]
    return told
