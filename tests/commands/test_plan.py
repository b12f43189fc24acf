"""`bwlint plan` from outside: exit codes, streams and files that are not what they should be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from plan.configs import DEEPSEEK_V3, MIXTRAL_8X7B
from test_imports import loaded

from bwlint import cli

PLAN = {
    "m/config.json": json.dumps(MIXTRAL_8X7B),
    "big.json": json.dumps(DEEPSEEK_V3),
    "run.sh": "vllm serve m --tensor-parallel-size 4 --enable-expert-parallel\n",
    "serve.yaml": "tensor-parallel-size: 4\n",
    "other.sh": "echo\n",
    "bad.json": '{"hidden_size": -1}',
}
PRO = ("--gpus", "4xRTX-PRO-6000")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in PLAN.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


def test_a_plan(here: Path) -> None:
    result = invoke("plan", "run.sh", "--model", "m/config.json", *PRO, "--link", "pcie5x16", "--tokens", "64")
    assert result.exit_code == 0
    assert "EP4 is better" in result.stdout
    assert "bwlint: EP4 is better" in result.stderr
    assert result.stdout.endswith("--copies all\n")
    assert "  vllm serve m --enable-expert-parallel --data-parallel-size 4\n" in result.stdout
    assert (here / "run.sh").read_text() == PLAN["run.sh"]


@pytest.mark.parametrize("arguments", [("m/config.json",), ("m",), ("--model", "m"), ("serve.yaml", "--model", "m")])
def test_a_plan_as_json(arguments: tuple[str, ...], here: Path) -> None:
    result = invoke("plan", *arguments, *PRO, "--format", "json", "--output", "p.json", "--latency", "0")
    assert (result.exit_code, result.stdout) == (0, "")
    log = json.loads((here / "p.json").read_text())
    assert (log["best"], log["machine"]["latency_seconds"], len(log["plans"])) == ("TP4", 0, 4)
    assert bool(log["suggestions"]) == ("serve.yaml" in arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--model", "big.json", *PRO), 1, "no plan fits"),
        (("--model", "m", "--gpus", "4xRTX-PRO-600"), 2, "did you mean RTX PRO 6000?"),
        (("--model", "m", *PRO, "--link", "pcie5x17"), 2, "did you mean pcie5x16?"),
        (("--model", "m", *PRO, "--link", "nvlink5"), 2, "bwlint knows no NVLink 5"),
        (("--model", "m", *PRO, "--latency", "nan"), 2, "not a number"),
        (("--model", "m", *PRO, "--latency", "-1"), 2, "--latency"),
        (("--model", "m", *PRO, "--tokens", "0"), 2, "--tokens"),
        (("--model", "m", *PRO, "--output", "no/where"), 2, "cannot write"),
        (("--model", "missing.json", *PRO), 2, "missing.json: no such file"),
        (("--model", "bad.json", *PRO), 2, "bad.json: hidden_size"),
        (("--model", "run.sh", *PRO), 2, "run.sh: not JSON"),
        (("other.sh", "--model", "m", *PRO), 2, "no command that starts vLLM or SGLang"),
        (("missing.sh", "--model", "m", *PRO), 2, "missing.sh"),
        (("run.sh", *PRO), 2, "--model"),
        (PRO, 2, "--model"),
        (("--model", "m"), 2, "--gpus"),
    ],
)
def test_what_a_plan_cannot_do(arguments: tuple[str, ...], code: int, words: str, here: Path) -> None:
    result = invoke("plan", *arguments)
    assert (result.exit_code, words in result.stderr) == (code, True)
    assert "Traceback" not in result.stderr


def test_rich_is_loaded_for_people_alone(here: Path) -> None:
    code, names = loaded("plan", "--model", "m", *PRO, "--format", "json", "--output", "p.json")
    assert (code, names & {"rich", "bwlint.run", "bwlint.rules"}) == (0, set())
