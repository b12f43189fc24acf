"""`explain FILE:LINE`: the rows of a line, or why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bwlint.cli import app

SPLIT = """import torch


def pick(device):
    if torch.cuda.get_device_capability(device) == (12, 0):
        return "own"
    return None
"""
DECIDED = """version = 1

[[decision]]
row = "{row}"
verdict = "fine"
reason = "ran on both"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "pick.py").write_text(SPLIT)
    (tmp_path / "p" / "broken.py").write_text("if sm_90(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def explain(text: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explain", text])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("p/pick.py:5", 0, " 1. fail  p/pick.py:5\n    pick (gate)\n"),
        ("p/pick.py:1", 0, "p/pick.py:1: this line names no chip"),
        ("p/pick.py:99", 0, "p/pick.py:99: this line names no chip"),
        ("p/broken.py:9", 0, "p/broken.py:9: not read: "),
        ("p/none.py:5", 2, "unknown rule"),
        ("p/pick.py:0", 2, "unknown rule"),
        ("p/pick.py:x", 2, "unknown rule"),
    ],
)
def test_what_is_said_of_a_place(project: Path, text: str, code: int, said: str) -> None:
    found = explain(text)
    assert found[0] == code
    assert said in found[1]


def test_a_file_elsewhere_is_judged_by_itself(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "other").mkdir()
    monkeypatch.chdir(project / "other")
    code, said = explain(str(project / "p" / "pick.py") + ":5")
    assert (code, "pick (gate)" in said) == (0, True)


def test_a_decision_is_told(project: Path) -> None:
    from contextlib import ExitStack

    from bwlint.run.audit import audit
    from bwlint.run.request import CheckRequest

    with ExitStack() as stack:
        row = next(row for row in audit(CheckRequest((".",)), stack).rows if row.form == "gate")
    (project / "bwlint-audit.toml").write_text(DECIDED.format(row=row.fingerprint))
    said = explain("p/pick.py:5")[1]
    assert " 1. pass  p/pick.py:5" in said and "fine: ran on both" in said
