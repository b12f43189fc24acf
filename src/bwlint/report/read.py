"""Read back a report that bwlint wrote as JSON or SARIF, as untrusted input."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from bwlint.model.findings import (
    CATEGORIES,
    KEY,
    WHOLE_FILE,
    Claim,
    Finding,
    Region,
    Report,
    Skipped,
    Suppressed,
    Verdict,
)

LARGEST = 512 * 1024 * 1024
"""Bytes of a report."""
_PLACE = frozenset(field.name for field in fields(Region))


class BadReport(ValueError):
    """A file that is no report of bwlint; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Log:
    """A SARIF log as it was read, and its results as findings, in order: as far as a result tells."""

    document: dict[str, Any]
    findings: tuple[Finding, ...]


def read(path: Path, root: str = "") -> Report | Log:
    """The report in a file, by what it holds. Raises BadReport and OSError. `root` is the folder that a SARIF log tells
    its paths from, "" the current one."""
    there = path.stat()
    if not stat.S_ISREG(there.st_mode):
        # A pipe may never come to its end, nor does a device.
        raise BadReport("no plain file")
    if there.st_size > LARGEST:
        raise BadReport(f"larger than {LARGEST >> 20} MiB")
    try:
        document = json.loads(path.read_bytes(), parse_constant=_number, parse_float=_number)
    except (ValueError, RecursionError) as error:
        raise BadReport(f"no JSON: {error}") from None
    if not isinstance(document, dict):
        raise BadReport("neither a report of bwlint nor SARIF")
    try:
        if isinstance(document.get("runs"), list):
            return Log(document, tuple(_result(result, root) for result in results(document)))
        if isinstance(document.get("findings"), list):
            return _report(document)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadReport(f"not as bwlint writes it: {type(error).__name__}: {error}") from None
    raise BadReport("neither a report of bwlint nor SARIF")


def _number(text: str) -> float:
    """A number that JSON has; Python also reads NaN and what is too large for it."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number")
    return value


def results(document: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The results of bwlint in a SARIF log, in order."""
    for run in document["runs"]:
        if run["tool"]["driver"]["name"] == "bwlint":
            yield from run.get("results") or ()


def _report(document: Mapping[str, Any]) -> Report:
    return Report(
        tuple(document["targets"]),
        tuple(_value(Finding, entry) for entry in document["findings"]),
        tuple(_value(Skipped, entry) for entry in document["skipped"]),
        tuple(_value(Suppressed, entry) for entry in document["suppressed"]),
        dict(document["stats"]),
    )


def _value(kind: Any, data: Any) -> Any:
    """`data` as a value of a type of `findings`. Raises TypeError, ValueError or LookupError where it is none."""
    if is_dataclass(kind) and isinstance(kind, type):
        if kind is not Region and "region" in _hints(kind):
            # A place is told by four keys of its own.
            data = {**{key: data[key] for key in data if key not in _PLACE}, "region": {k: data[k] for k in _PLACE}}
        hints = _hints(kind)
        return kind(**{name: _value(hints[name], data[name]) for name in hints if name in data})
    origin, options = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if data is None and NoneType in options:
            return None
        return _value(next(option for option in options if option is not NoneType), data)
    if origin is tuple:
        if not isinstance(data, list):
            raise TypeError("a list is expected")
        return tuple(_value(options[0], entry) for entry in data)
    if origin is Literal:
        if data not in options:
            raise ValueError(f"{data!r} is none of {', '.join(map(str, options))}")
        return data
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise TypeError(f"{kind.__name__} is expected")
    return data


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _result(result: Mapping[str, Any], root: str) -> Finding:
    """What a result of SARIF tells of its finding; the rule's name and what people read stay in the log."""
    physical = result["locations"][0]["physicalLocation"]
    properties = result.get("properties") or {}
    region = physical.get("region") or {}
    line, column = region.get("startLine", 1), region.get("startColumn", 1)
    edges = (line, column, region.get("endLine", line), region.get("endColumn", column))
    place = Region(*(_value(int, edge) for edge in edges))
    return Finding(
        rule=str(result["ruleId"]),
        name="",
        category=next((one for one in CATEGORIES if one == properties.get("category")), "other"),
        severity="warning",
        confidence="medium",
        path=_path(physical["artifactLocation"], root),
        region=place if region else WHOLE_FILE,
        message=str(result["message"]["text"]),
        fingerprint=str((result.get("partialFingerprints") or {}).get(KEY, "")),
        claims=tuple(_value(Claim, claim) for claim in properties.get("claims") or ()),
    )


def _path(artifact: Mapping[str, Any], root: str) -> str:
    parts = urlsplit(artifact["uri"])
    if parts.scheme == "file":
        return url2pathname(parts.path)
    path = unquote(artifact["uri"])
    return os.path.relpath(Path(root) / path, Path.cwd().resolve()) if root and "uriBaseId" in artifact else path


def judged(findings: Iterable[Finding], verdicts: Iterable[Verdict]) -> tuple[Finding, ...]:
    """The findings with what their tests came to, one for one."""
    return tuple(replace(finding, verdict=verdict) for finding, verdict in zip(findings, verdicts, strict=True))


def merge(log: Log, verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """The SARIF log with verdicts for its results: a refuted one passes, and its level says nothing any more."""
    for result, verdict in zip(results(log.document), verdicts, strict=True):
        result["kind"] = "pass" if verdict.outcome == "refuted" else "fail"
        if verdict.outcome == "refuted":
            result["level"] = "none"
        told = {"outcome": verdict.outcome, "reason": verdict.reason}
        result["properties"] = {**(result.get("properties") or {}), "verdict": told}
    return log.document
