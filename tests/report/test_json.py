from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import bwlint.report
from bwlint.model.findings import Finding, Report
from bwlint.report import FORMATS, Setting, renderer
from bwlint.report.write import findings

SCHEMA = json.loads(Path(bwlint.report.__file__).with_name("findings.schema.json").read_text("utf-8"))
CATEGORIES = (
    "arch-target capability-type cluster excluded family-split leak message moe-plan other p2p-atomics"
    " sm-count smem tcgen05 test-gate toolchain unified-memory wgmma"
)


def errors(value: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(value)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert " ".join(SCHEMA["$defs"]["finding"]["properties"]["category"]["enum"]) == CATEGORIES


def test_a_report_follows_the_schema(rich_report: Report, report: Callable[..., Report]) -> None:
    for found in (rich_report, report()):
        assert errors(json.loads(findings(found, Setting(version="0.1.0")))) == []


def test_the_contract(rich_report: Report) -> None:
    log = json.loads(findings(rich_report, Setting(version="0.1.0")))
    assert list(log) == ["findings", "skipped", "stats", "suppressed", "targets", "tool", "version"]
    assert log["version"] == 1
    assert log["tool"] == {"name": "bwlint", "version": "0.1.0"}
    assert log["targets"] == ["12.0", "12.1"]
    assert log["skipped"][1] == {"path": "x.py", "reason": "a folder"}
    assert log["stats"] == {"files": 1}
    assert log["suppressed"][0]["reason"] == "meant for this part"
    assert log["findings"][0] == {
        "rule": "BW101",
        "name": "family-split",
        "category": "family-split",
        "severity": "warning",
        "confidence": "high",
        "path": "pkg/gate.py",
        "line": 2,
        "column": 8,
        "end_line": 2,
        "end_column": 18,
        "message": "12.1 falls into the arm that raises",
        "label": "true on sm_120 only",
        "advice": "`cap // 10 == 12`",
        "admitted": ["sm_120"],
        "certain": ["sm_120"],
        "legal": ["sm_120", "sm_121"],
        "related": [
            {
                "path": "pkg/gate.py",
                "line": 4,
                "column": 5,
                "end_line": 4,
                "end_column": 10,
                "message": "what sm_121 gets",
            }
        ],
        "fix": {
            "applicability": "safe",
            "kind": "family",
            "title": "ask for the family",
            "edits": [
                {
                    "path": "pkg/gate.py",
                    "line": 2,
                    "column": 8,
                    "end_line": 2,
                    "end_column": 18,
                    "text": "cap // 10 == 12",
                },
                {"path": "pkg/gate.py", "line": 4, "column": 1, "end_line": 5, "end_column": 1, "text": ""},
            ],
            "proof": {
                "before_may": ["12.0"],
                "before_must": ["12.0"],
                "after_may": ["12.0", "12.1"],
                "after_must": ["12.0", "12.1"],
                "evidence": "tests/test_gate.py:3 admits 12.1",
            },
        },
        "fix_refused": None,
        "fingerprint": "0123456789abcdef0123456789abcdef",
        "claims": [
            {
                "kind": "gate",
                "says": "the test `cap == 120` holds on 12.0 and fails on 12.1",
                "chips": ["12.0", "12.1"],
                "targets": [],
                "holds": ["12.0"],
                "certain": ["12.0"],
                "raises": [],
                "subject": "cap == 120",
                "amounts": [],
                "at": {"line": 2, "column": 8, "end_line": 2, "end_column": 18},
                "path": "",
            }
        ],
    }
    assert log["findings"][1]["fix"] is None
    assert log["findings"][1]["fix_refused"] == "the literal is compared with a queried limit"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("extra",), 1),
        (("targets",), ["B200"]),
        (("findings", 0, "category"), "style"),
        (("findings", 0, "severity"), "info"),
        (("findings", 0, "line"), 0),
        (("findings", 0, "extra"), 1),
        (("findings", 0, "admitted"), ["12.0", "12.0"]),
        (("findings", 0, "fix", "proof"), None),
        (("findings", 0, "related", 0, "extra"), 1),
        (("stats", "files"), "many"),
    ],
    ids=lambda part: ".".join(map(str, part)) if isinstance(part, tuple) else None,
)
def test_the_schema_refuses(place: tuple[Any, ...], value: Any, rich_report: Report) -> None:
    log = json.loads(findings(rich_report, Setting()))
    holder = log
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    assert errors(log)


def test_unknown_legality_differs_from_none(finding: Callable[..., Finding], report: Callable[..., Report]) -> None:
    log = json.loads(findings(report(finding(legal=None), finding(legal=())), Setting()))
    assert [found["legal"] for found in log["findings"]] == [None, []]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_and_repeats_itself(name: str, rich_report: Report) -> None:
    render_it = renderer(name)
    assert render_it(rich_report, Setting()) == render_it(rich_report, Setting()) != ""
