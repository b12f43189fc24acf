"""`bwlint confirm` from the command line: verdicts in reports, receipts, exit codes. ptxas decides; there is no GPU."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from sarif_pydantic import Sarif  # type: ignore[import-untyped]
from toolkit import Toolkit

import bwlint.report
from bwlint import cli
from bwlint.confirm import machine

SCHEMAS = Path(bwlint.report.__file__).parent
ENTRY = """.version 8.8
.target {target}
.address_size 64
.visible .entry k()
{{
    {statement}
    ret;
}}
"""
TCGEN05 = "tcgen05.fence::before_thread_sync;"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, without a GPU; a toolkit is not read whole for its RECORD."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(machine, "_TOOLS", ())
    monkeypatch.setattr("bwlint.confirm.gpu.devices", lambda **_: ((), "no libcuda.so.1"))


@pytest.fixture
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bwlint.confirm.machine.find", lambda *_: ())


@pytest.fixture
def ptxas(toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{toolkit.programs}:/usr/bin:/bin")


def kernel(name: str = "k.ptx", target: str = "sm_100", statement: str = TCGEN05) -> str:
    Path(name).write_text(ENTRY.format(target=target, statement=statement))
    return name


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


def report_of(*paths: str, form: str = "json") -> str:
    found = invoke("check", "--exit-zero", "--format", form, "--output", f"report.{form}", *paths)
    assert found.exit_code == 0, found.output
    return f"report.{form}"


def receipts(path: str = "receipts.json") -> Any:
    found = json.loads(Path(path).read_text())
    schema = json.loads((SCHEMAS / "receipts.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(found)) == []
    return found


def about(report: str, **changes: Any) -> str:
    """A report whose claims say something else."""
    document = json.loads(Path(report).read_text())
    for finding in document["findings"]:
        finding["claims"] = [{**claim, **changes} for claim in finding["claims"]]
    Path(report).write_text(json.dumps(document))
    return report


@pytest.mark.usefixtures("ptxas")
def test_a_confirmed_finding() -> None:
    found = invoke("confirm", kernel(), "--receipts", "receipts.json")
    assert found.exit_code == 1, found.output
    assert "= confirmed: ptxas for sm_100: Instruction 'tcgen05.fence' not supported" in found.stdout
    assert "1 finding: 1 confirmed; executed: assemble 1" in found.stderr
    (receipt,) = receipts()["receipts"]
    (claim,) = receipt["claims"]
    assert (receipt["outcome"], claim["executed"]) == ("confirmed", ["assemble"])
    assert receipts()["machine"]["no_device"] == "no libcuda.so.1"


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize(("option", "code"), [((), 0), (("--refuted-is-error",), 1)])
def test_a_refuted_finding(option: tuple[str, ...], code: int) -> None:
    kernel()
    report = about(report_of("k.ptx"), targets=["sm_100a"])
    kernel(target="sm_100a")
    found = invoke("confirm", report, "--format", "json", *option)
    assert found.exit_code == code, found.output
    (finding,) = json.loads(found.stdout)["findings"]
    assert finding["verdict"]["outcome"] == "refuted"
    schema = json.loads((SCHEMAS / "findings.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(json.loads(found.stdout))) == []


@pytest.mark.usefixtures("ptxas")
def test_a_sarif_log_takes_its_verdicts() -> None:
    report = report_of(kernel(), kernel("fine.ptx", "sm_120", "bar.sync 0;"), form="sarif")
    found = invoke("confirm", report, "--format", "sarif")
    assert found.exit_code == 1, found.output
    log = json.loads(found.stdout)
    Sarif.model_validate(log)
    (result,) = log["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("fail", "error")
    assert result["properties"]["verdict"]["outcome"] == "confirmed"


@pytest.mark.usefixtures("ptxas")
def test_a_refuted_result_passes_in_sarif() -> None:
    kernel()
    report = about(report_of("k.ptx"), targets=["sm_100a"])
    kernel(target="sm_100a")
    found = invoke("confirm", report, "--format", "sarif")
    (result,) = json.loads(found.stdout)["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("pass", "none")
    Sarif.model_validate(json.loads(found.stdout))


@pytest.mark.usefixtures("no_tools")
def test_nothing_to_test_with() -> None:
    found = invoke("confirm", kernel(), "--receipts", "receipts.json")
    assert found.exit_code == 3, found.output
    assert "nothing was executed" in found.stderr
    assert "= inconclusive: assemble: " in found.stdout
    (receipt,) = receipts()["receipts"]
    assert receipt["claims"][0]["executed"] == [] and receipt["outcome"] == "inconclusive"


@pytest.mark.usefixtures("no_tools")
def test_no_findings() -> None:
    found = invoke("confirm", kernel(statement="bar.sync 0;"), "--receipts", "receipts.json")
    assert (found.exit_code, found.stdout) == (0, "")
    assert receipts()["receipts"] == []


@pytest.mark.usefixtures("ptxas")
def test_patched_tools_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    altered = machine.Package("nvidia-cuda-nvcc", "13.0", 3, ("nvidia/cu13/bin/ptxas",))
    monkeypatch.setattr(machine, "_packages", lambda _: iter((altered,)))
    found = invoke("confirm", kernel())
    assert found.exit_code == 0, found.output
    assert "= inconclusive: 1 of 3 files of nvidia-cuda-nvcc 13.0 are not those of its RECORD" in found.stdout
    assert "its runs prove nothing" in found.stderr


@pytest.mark.usefixtures("no_tools")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gone.json",), "gone.json: No such file"),
        (("broken.json",), "broken.json: no JSON"),
        (("other.json",), "neither a report of bwlint nor SARIF"),
        (("report.json", "k.ptx"), "give one report, and no other paths"),
        (("report.json", "--target", "sm_90"), "--target does not go with a report"),
        (("report.sarif", "--format", "json"), "--format sarif"),
        (("report.sarif", "--format", "html"), "--format sarif"),
        (("gone.ptx",), "gone.ptx"),
        (("k.ptx", "--nvcc-args", "'"), "--nvcc-args"),
        (("k.ptx", "--time-limit", "nan"), "--time-limit"),
        (("k.ptx", "--time-limit", "inf"), "--time-limit"),
        (("k.ptx", "--time-limit", "0.1"), "--time-limit"),
        (("k.ptx", "--bundle", "x.zip"), "--bundle is for --selftest"),
        (("k.ptx", "--selftest"), "takes no paths"),
        (("--selftest",), "no GPU to run the cases on: no libcuda.so.1"),
        (("--selftest", "--bundle", "new.zip"), "--target must name one chip"),
        (("--selftest", "--bundle", "new.zip", "--target", "sm_90"), "no ptxas to build the cases with"),
        (("--selftest", "--bundle", "broken.json"), "broken.json"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str) -> None:
    kernel()
    report_of("k.ptx")
    report_of("k.ptx", form="sarif")
    Path("broken.json").write_text("{")
    Path("other.json").write_text("{}")
    found = invoke("confirm", *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert said in found.stderr


def pipe(name: str) -> str:
    os.mkfifo(name)
    return name


@pytest.mark.usefixtures("ptxas")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("gate", "p.py"),
        ("guard", "p.cu"),
        ("guard", "p.py"),
        ("instruction", "p.ptx"),
        ("instruction", "p.cu"),
        ("instruction", "p"),
        ("image", "p.whl"),
        ("cluster", "p.cu"),
    ],
)
def test_a_pipe_holds_nothing_up(kind: str, name: str) -> None:
    report = report_of(kernel())
    pipe(name)
    document = json.loads(Path(report).read_text())
    document["findings"][0]["path"] = name
    Path(report).write_text(json.dumps(document))
    about(report, kind=kind, subject="builder" if kind == "cluster" else "", amounts=[1], targets=["sm_120a"])
    found = invoke("confirm", report, "--run-slices")
    assert (found.exit_code, "internal" in found.output) == (3, False), found.output


@pytest.mark.usefixtures("no_tools")
@pytest.mark.parametrize(
    "changes",
    [
        {"path": "a/" * 5000},
        {"path": "x" * 5000},
        {"path": "/"},
        {"path": "\0"},
        {"admitted": [""], "certain": ["99.9"], "legal": ["\x1b"]},
        {"line": -3, "end_line": -1, "column": 0, "end_column": -5},
        {"line": 10**30, "end_line": 10**30, "column": 10**30, "end_column": 10**30},
        {"rule": "\x1b[2J", "name": "\x9b", "message": "\x07", "label": "\r", "advice": "\x1b]0;x\x07"},
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_report_that_says_anything(changes: dict[str, Any], form: str) -> None:
    report = report_of(kernel())
    document = json.loads(Path(report).read_text())
    document["findings"] = [{**finding, **changes} for finding in document["findings"]]
    Path(report).write_text(json.dumps(document))
    found = invoke("confirm", report, "--format", form)
    assert found.exit_code == 3, found.output
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", found.output)


@pytest.mark.usefixtures("no_tools")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report.json", "--receipts", "report.json"), "would overwrite an input"),
        (("report.json", "--receipts", "./sub/../report.json"), "would overwrite an input"),
        (("report.json", "--receipts", "k.ptx"), "would overwrite an input"),
        (("report.json", "--output", "k.ptx"), "would overwrite an input"),
        (("k.ptx", "--receipts", "k.ptx"), "would overwrite an input"),
        (("report.json", "--receipts", "x.json", "--output", "./x.json"), "the same file"),
        (("report.json", "--receipts", "gone/x.json"), "No such file or directory"),
        (("report.json", "--output", "gone/x.json"), "No such file or directory"),
    ],
)
def test_nothing_that_is_judged_is_replaced(arguments: tuple[str, ...], said: str) -> None:
    report_of(kernel())
    Path("sub").mkdir()
    before = (Path("report.json").read_bytes(), Path("k.ptx").read_bytes())
    found = invoke("confirm", *arguments)
    assert found.exit_code == 2 and said in found.output, found.output
    assert (Path("report.json").read_bytes(), Path("k.ptx").read_bytes()) == before


@pytest.mark.usefixtures("no_tools")
def test_a_report_takes_its_own_verdicts() -> None:
    report = report_of(kernel())
    found = invoke("confirm", report, "--format", "json", "--output", report, "--receipts", "/dev/null")
    assert found.exit_code == 3, found.output
    assert json.loads(Path(report).read_text())["findings"][0]["verdict"]["outcome"] == "inconclusive"


@pytest.mark.usefixtures("no_tools")
def test_a_matrix_takes_receipts() -> None:
    Path("pkg").mkdir()
    Path("pkg/__init__.py").write_text("from .ops import op as op\n")
    code = "import torch\n\ndef op(x):\n    if torch.cuda.get_device_capability() != (12, 0):\n        raise OSError\n"
    Path("pkg/ops.py").write_text(code)
    assert invoke("confirm", "--run-slices", "--receipts", "receipts.json", "pkg").exit_code == 1
    found = invoke("matrix", "pkg", "--target", "sm_90,sm_120,sm_121", "--receipts", "receipts.json", "--jobs", "1")
    assert found.exit_code == 0, found.output
    assert "op   no  yes+   no+" in found.stdout
    assert "receipts confirm 2 cells and refute 0" in found.stderr
    Path("empty").mkdir()
    assert invoke("matrix", "pkg", "--receipts", "empty").exit_code == 2
