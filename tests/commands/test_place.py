"""`explain FILE:LINE`: the rows of a line, or why there is none."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_binaries import wheel

from bwlint.cli import app
from bwlint.commands.check import outcome_of
from bwlint.run.request import CheckRequest, Outcome

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
        ("p/pick.py:5", 0, " 1. fail  p/pick.py:5\n    pick (check at run time)\n"),
        ("p/pick.py:1", 0, "p/pick.py:1: this line names no chip"),
        ("p/pick.py:7", 0, "p/pick.py:7: check reports this:\n\nwarning[BW101] family-split: "),
        ("p/pick.py:99", 0, "p/pick.py:99: this line does not exist: the file ends at line 7"),
        ("p/broken.py:9", 0, "p/broken.py:9: not read: "),
        ("p/broken.py:1", 0, "p/broken.py: not read: "),
        ("p/none.py:5", 2, "no such file: p/none.py (write FILE:LINE "),
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
    assert (code, "pick (check at run time)" in said) == (0, True)


@pytest.mark.parametrize(
    ("marks", "read"),
    [
        ([], ""),
        (["p/.git"], "p"),
        (["p/pyproject.toml"], "p"),
        (["p/setup.py", "p/inner/.git"], "p"),
        (["p/inner/.git"], "p/inner"),
        ([".git", "p/.git"], ""),
        (["pyproject.toml", "p/setup.py"], ""),
        (["other/.git"], ""),
    ],
)
def test_the_project_of_a_file_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, marks: list[str], read: str
) -> None:
    (project / "p" / "inner").mkdir()
    (project / "p" / "inner" / "pick.py").write_text(SPLIT)
    for mark in marks:
        (project / mark).parent.mkdir(exist_ok=True)
        (project / mark).touch()
    asked = list[tuple[str, ...]]()

    def noted(request: CheckRequest, stack: ExitStack) -> Outcome:
        asked.append(request.paths)
        return outcome_of(request, stack)

    monkeypatch.setattr("bwlint.commands.place.outcome_of", noted)
    code, said = explain("p/inner/pick.py:5")
    assert (code, asked) == (0, [(read or ".",)])
    assert "p/inner/pick.py:5\n    pick (check at run time)" in said
    told = f"bwlint: reads {read}, the project of p/inner/pick.py\n"
    assert (told in said) is bool(read)


def test_a_place_in_a_package(project: Path) -> None:
    (project / "x-1.0-py3-none-any.whl").write_bytes(wheel({"x/pick.py": SPLIT.encode()}))
    code, said = explain("./x-1.0-py3-none-any.whl/x/pick.py:5")
    assert (code, "pick (check at run time)" in said) == (0, True), said
    assert explain("x-1.0-py3-none-any.whl/x/none.py:5") == (
        2,
        "Error: x-1.0-py3-none-any.whl has no file x/none.py that bwlint reads\n",
    )
    result = CliRunner().invoke(app, ["explain", "--why-silent", "x-1.0-py3-none-any.whl/x/pick.py:1"])
    assert "check reports nothing here" in result.output


def test_a_place_in_a_package_of_which_check_says_nothing(project: Path) -> None:
    """Its path is known although no finding has it; the column is that of a finding that somebody copies."""
    text = "import torch\n\n\ndef pick(x):\n    if torch.cuda.get_device_capability()[0] != 8:\n"
    text += "        raise ValueError('Ampere only')\n    return x\n"
    (project / "x-1.0-py3-none-any.whl").write_bytes(wheel({"x/pick.py": text.encode()}))
    code, said = explain("./x-1.0-py3-none-any.whl/x/pick.py:5:8")
    assert (code, "pick (check at run time)" in said) == (0, True), said


def test_a_decision_is_told(project: Path) -> None:
    from bwlint.run.audit import audit

    with ExitStack() as stack:
        row = next(row for row in audit(CheckRequest((".",)), stack).rows if row.form == "gate")
    (project / "bwlint-audit.toml").write_text(DECIDED.format(row=row.fingerprint))
    said = explain("p/pick.py:5")[1]
    assert " 1. pass  p/pick.py:5" in said and "fine: ran on both" in said


ASKS = """import torch


def silenced(device):
    if torch.cuda.get_device_capability(device) == (12, 0):  # bwlint: ignore[family-split] measured
        return "own"
    return None


def both(device):
    if torch.cuda.get_device_capability(device) >= (8, 0):
        return "own"
    return None


def unlike(device):
    if torch.cuda.get_device_capability(device)[0] in (9, 10):
        return "own"
    return None


def unknown(device):
    if is_sm120(device):
        return "own"
    return None


def message(device):
    if torch.cuda.get_device_capability(device)[0] == 12:
        return "own"
    raise RuntimeError("needs SM120a")
"""
CHAIN = """import torch


def exact(device):
    major, minor = torch.cuda.get_device_capability(device)
    if major == 12 and minor == 0:
        raise RuntimeError("SM121 only")
    elif major == 10:
        return 1
    return None


def family(device):
    major, minor = torch.cuda.get_device_capability(device)
    if major == 12 and minor == 0:
        return kernel_a()
    elif major == 10:
        return kernel_b()
    raise RuntimeError("no kernel")
"""


@pytest.fixture
def asks(project: Path) -> Path:
    (project / "p" / "asks.py").write_text(ASKS)
    return project


def why_silent(text: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explain", "--why-silent", text])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p/pick.py:5", ["p/pick.py:5: check reports this:\n\nwarning[BW101] family-split: "]),
        ("p/asks.py:5", ["a comment silences this (measured):\n\nwarning[BW101] family-split: ", " 1. pass  "]),
        ("p/asks.py:11", [" 1. pass  ", "why: 12.x, 10.0, 9.0 and 8.9 get the same answer\n", "\npass: `why` says "]),
        ("p/asks.py:17", [" 1. review  ", "why: Treats 12.x and 8.9 alike", "\nreview: the checked chips "]),
        (
            "p/asks.py:23",
            [" 1. open  ", "why: names 12.x; bwlint does not know", "\nopen: `why` says what bwlint does not know"],
        ),
        ("p/asks.py:31", ["check hides this, and --severity note shows it:\n\nnote[", "] message: "]),
        ("p/asks.py:1", ["this line names no chip, checks none and depends on none\n"]),
        ("p/broken.py:9", ["p/broken.py:9: check reports nothing here for 12.0 and 12.1.\nnot read: "]),
        (
            "p/broken.py:1",
            ["12.1.\np/broken.py: not read: syntax error: ", "estimated from the words of its lines.\n\n"],
        ),
    ],
)
def test_why_check_is_silent(asks: Path, text: str, said: list[str]) -> None:
    code, found = why_silent(text)
    assert code == 0
    assert [words for words in said if words not in found] == [], found
    assert ("reports nothing here" in found) == (text != "p/pick.py:5")


def test_the_answers_of_every_chip_are_told(asks: Path) -> None:
    found = why_silent("p/asks.py:17")[1].splitlines()
    heads = [number for number, line in enumerate(found) if line.endswith((" 10.3", " 11.0"))]
    told = {
        chip: answer
        for number in heads
        for chip, answer in zip(
            found[number].replace("|", "").split(), found[number + 1].replace("|", "").split(), strict=True
        )
    }
    assert len(told) == 16
    assert {chip for chip, answer in told.items() if answer == "Y"} == {"9.0", "10.0", "10.1", "10.3", "10.7"}


def test_a_later_arm_tells_the_finding_of_its_chain(project: Path) -> None:
    (project / "p" / "chain.py").write_text(CHAIN)
    noted, reported = why_silent("p/chain.py:8")[1], why_silent("p/chain.py:17")[1]
    assert "check hides this, and --severity note shows it:\n\nnote[BW101]" in noted and "p/chain.py:6:" in noted
    assert "p/chain.py:17: check reports this:\n\nwarning[BW101]" in reported and "p/chain.py:15:" in reported


def test_a_decision_is_told_where_check_is_silent(asks: Path) -> None:
    result = CliRunner().invoke(app, ["audit", "--kind", "all", "--format", "json", "--subject", "both", "."])
    row = json.loads(result.stdout)["rows"][0]["fingerprint"]
    decided = CliRunner().invoke(app, ["audit", "--decide", row, "broken", "--reason", "crashed", "."])
    assert decided.exit_code == 0
    said = why_silent("p/asks.py:11")[1]
    assert "check reports nothing here" in said and "broken: crashed" in said
    assert "fail: somebody has decided that it is broken, and check reads no decisions\n" in said


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ("", "fail: check reports this at p/pick.py:5\n"),
        ('severity = "error"\n', "fail: check hides this at p/pick.py:5\n"),
    ],
)
def test_what_fails_elsewhere_is_nobodys_decision(project: Path, configuration: str, said: str) -> None:
    (project / "bwlint.toml").write_text(configuration)
    (project / "p" / "copy.py").write_text(SPLIT.replace("0):", "0):  # bwlint: ignore[BW101] measured"))
    found = why_silent("p/copy.py:5")[1]
    assert "check reports nothing here" in found and said in found, found
    assert "somebody has decided" not in found
    result = CliRunner().invoke(app, ["audit", "--kind", "fail", "--format", "json", "."])
    (row,) = json.loads(result.stdout)["rows"]
    for decision, is_decided in (("later", False), ("broken", True)):
        decide = ["audit", "--decide", row["fingerprint"], decision, "--reason", "soon", "."]
        assert CliRunner().invoke(app, decide).exit_code == 0
        found = why_silent("p/copy.py:5")[1]
        assert (said in found, "somebody has decided" in found) == (not is_decided, is_decided), found


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ('ignore = ["family-split"]\n', "the configuration switches this rule off:\n\nwarning[BW101] family-split: "),
        (
            '[per-file-ignores]\n"p/*" = ["BW101"]\n',
            "the configuration switches this rule off:\n\nwarning[BW101] family-split: ",
        ),
        ('severity = "error"\n', "check hides this, and --severity note shows it:\n\nwarning[BW101] family-split: "),
        ('exclude = ["p/"]\n', "not read: `exclude` in "),
        ('ignore = ["leak"]\n', "check reports this:"),
        ('exclude = ["q/"]\n', "check reports this:"),
    ],
)
def test_what_the_configuration_hides(project: Path, configuration: str, said: str) -> None:
    (project / "bwlint.toml").write_text(configuration)
    assert said in why_silent("p/pick.py:5")[1]


def test_what_a_baseline_hides(project: Path) -> None:
    (project / "bwlint.toml").write_text('baseline = "known.json"\n')
    assert CliRunner().invoke(app, ["baseline", "--file", "known.json", "."]).exit_code == 0
    (project / "p" / "pick.py").write_text(SPLIT + SPLIT.replace("pick", "other").replace("import torch\n", ""))
    known, new = why_silent("p/pick.py:5")[1], why_silent("p/pick.py:11")[1]
    assert "known.json holds this, and --no-baseline shows it:\n\nwarning[BW101]" in known
    assert "check reports this:" in new


def test_a_file_that_no_run_reads(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], check=True)
    (project / ".gitignore").write_text("out/\n")
    (project / "out").mkdir()
    (project / "out" / "pick.py").write_text(SPLIT)
    (project / "notes.docx").write_text("sm_120\n")
    assert "not read: .gitignore, or the name of a folder" in why_silent("out/pick.py:5")[1]
    assert "not read: not a kind of file that bwlint reads\n" in why_silent("notes.docx:1")[1]


@pytest.mark.parametrize("arguments", [["leak"], ["p/none.py:5"], ["--gate", "cap == 120"]])
def test_why_silent_needs_a_place(project: Path, arguments: list[str]) -> None:
    result = CliRunner().invoke(app, ["explain", "--why-silent", *arguments])
    assert result.exit_code == 2
    assert "FILE:LINE" in result.output
