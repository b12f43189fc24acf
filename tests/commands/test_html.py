"""`--format html` of each command: one file, with what `--format json` says in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from plan.configs import MIXTRAL_8X7B
from small_binaries import container, cubin, entry, ptx, shared_object, wheel

from bwlint import cli

GATE = """\
import torch

def attend(q):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("needs SM120 </script>")
    return q
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(GATE)
    images = (entry(cubin(90, "a"), 90, "a"), entry(ptx(90), 90))
    (tmp_path / "made-1.0-py3-none-any.whl").write_bytes(wheel({"made/a.so": shared_object(container(*images))}))
    (tmp_path / "config.json").write_text(json.dumps(MIXTRAL_8X7B))
    return tmp_path


COMMANDS = {
    "check": ("check", "pkg", "--jobs", "1", "--no-cache"),
    "matrix": ("matrix", "pkg", "--jobs", "1"),
    "inspection": ("inspect", "made-1.0-py3-none-any.whl", "--kernels", "--severity", "note"),
    "port": ("port", "pkg", "--to", "10.0", "--jobs", "1"),
    "plan": ("plan", "config.json", "--gpus", "4xRTX-PRO-6000"),
}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


def block(page: str, name: str) -> Any:
    (text,) = re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("check --card 5090 --exit-zero pkg", "bwlint check: pkg on RTX 5090 (12.0)"),
        (
            "inspect --card spark made-1.0-py3-none-any.whl",
            "inspection: made-1.0-py3-none-any.whl on DGX Spark (GB10, 12.1)",
        ),
        ("audit pkg pkg/__init__.py", "bwlint audit: pkg, __init__.py"),
        ("matrix --card 5090 a&<b>", "bwlint matrix: a&amp;&lt;b&gt; on RTX 5090 (12.0)"),
    ],
)
def test_the_title_names_what_is_looked_at_and_the_card(here: Path, command: str, title: str) -> None:
    (here / "pkg").rename(here / "a&<b>") if "<b>" in command else None
    page = invoke(*command.split(), "--format", "html").stdout
    assert f"{title}</title>" in page


def test_a_page_begins_with_the_sentence_of_each_card() -> None:
    asked = ("--card", "5090", "--card", "spark", "--exit-zero")
    invoke("inspect", *asked, "made-1.0-py3-none-any.whl", "--format", "html", "--output", "page.html")
    told = block(Path("page.html").read_text("utf-8"), "beside")["sentences"]
    assert [re.findall("RTX 5090|DGX Spark", line) for line in told] == [["RTX 5090"], ["DGX Spark"]]


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_page_holds_the_json(kind: str) -> None:
    told = invoke(*COMMANDS[kind], "--format", "json")
    made = invoke(*COMMANDS[kind], "--format", "html", "--output", "page.html")
    assert (made.exit_code, made.stdout) == (told.exit_code, "")
    page = Path("page.html").read_text("utf-8")
    assert block(page, "report") == json.loads(told.stdout)
    assert block(page, "beside")["kind"] == kind
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")


def test_a_check_brings_the_sources_and_the_rules() -> None:
    page = invoke(*COMMANDS["check"], "--format", "html").stdout
    (finding,) = block(page, "report")["findings"]
    beside = block(page, "beside")
    assert finding["fix"]["edits"]
    assert list(beside["excerpts"]["pkg/__init__.py"].values()) == [*GATE.splitlines(keepends=True), ""]
    assert beside["rules"].keys() == {"BW101"}
    assert beside["concerned"] == [["12.0", "12.1"]]


def test_a_confirmation_brings_the_receipts() -> None:
    invoke(*COMMANDS["check"], "--format", "json", "--output", "report.json")
    page = invoke("confirm", "report.json", "--format", "html").stdout
    (finding,) = block(page, "report")["findings"]
    ((tried,),) = block(page, "beside")["receipts"]
    assert finding["verdict"]["outcome"] == tried["outcome"]
    assert tried["attempts"]


def test_an_inspection_says_what_it_takes_as_the_text_does() -> None:
    (shipment,) = block(invoke(*COMMANDS["inspection"], "--format", "html").stdout, "beside")["shipments"]
    lines = shipment["needs"]
    assert [line for line in lines if "Linux" in line and "Windows" in line]
    told = invoke(*COMMANDS["inspection"]).stdout
    assert all(line in told for line in lines)


def test_the_headline_of_an_inspection_names_the_card() -> None:
    command = ("inspect", "made-1.0-py3-none-any.whl", "--target", "12.0", "--format", "html")
    (shipment,) = block(invoke(*command).stdout, "beside")["shipments"]
    assert shipment["headline"].startswith("Runs on RTX PRO 6000 / RTX 5090 (12.0)")
