from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from plan.configs import DEEPSEEK_V3, LLAMA_70B, MIXTRAL_8X7B
from referencing import Registry, Resource

import bwlint.report
from bwlint.chips.links import wires
from bwlint.plan.compare import Comparison, Load, compare, machine
from bwlint.plan.launch import launches, with_suggestions
from bwlint.report import Setting
from bwlint.report import plan as plan_report
from bwlint.report.plan import amount, duration

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS = (json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("plan", "findings"))
REGISTRY: Registry[Any] = Registry().with_resource(FINDINGS["$id"], Resource.from_contents(FINDINGS))
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)
FP8, BF16 = wires()["fp8"], wires()["bf16"]


def compared(config: dict[str, Any], gpus: str, line: str = "") -> Comparison:
    dispatch = FP8 if "quantization_config" in config else BF16
    found = compare(config, "config.json", machine(gpus, None, None), Load(32, dispatch, BF16, BF16, "gpu"))
    return with_suggestions(found, "run.sh", launches(line, False)) if line else found


EVERY = [
    compared(config, gpus, "vllm serve m -tp 4\n")
    for config in (LLAMA_70B, MIXTRAL_8X7B, DEEPSEEK_V3)
    for gpus in ("4xRTX-PRO-6000", "8xB200", "2xSpark", "H200")
]


@pytest.mark.parametrize("found", EVERY, ids=range(len(EVERY)))
def test_it_follows_the_schema(found: Comparison) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    log = json.loads(plan_report.as_json(found, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []


def test_the_contract() -> None:
    log = json.loads(plan_report.as_json(EVERY[4], Setting(version="1")))
    assert (log["version"], log["best"], log["config"]) == (1, "EP4", "run.sh")
    first = log["plans"][0]
    assert (first["name"], first["tokens_at_once"], first["link_hops"], first["fits"]) == ("EP4", 8, 64, True)
    assert first["link_bytes_per_token_one_direction"] == pytest.approx(730258.29, abs=0.01)
    assert log["machine"]["link_bytes_per_second_one_direction"] == 64e9
    (suggested,) = log["suggestions"]
    assert (suggested["present"], suggested["line"]) == ("TP4", 1)
    assert suggested["written"] == ["vllm serve m --data-parallel-size 4 --enable-expert-parallel"]


def test_text() -> None:
    lines = plan_report.as_text(EVERY[0], Setting(width=100)).splitlines()
    assert lines[:7] == [
        "LlamaForCausalLM: 70.6 billion parameters, dense, bfloat16",
        "4 x RTX PRO 6000 (12.0), PCIe 5.0 x16, 64 GB/s in one direction",
        "",
        "plan     weights a GPU  fits  sent a token, one way  link a step  weights a step     step   a token",
        "TP4            35.3 GB   yes                3.93 MB      7.44 ms         19.4 ms  26.8 ms  838.4 us",
        "TP2+PP2        35.3 GB   yes                2.65 MB      2.49 ms         38.8 ms  41.3 ms   1.29 ms",
        "PP4            36.3 GB   yes                98.3 kB      29.4 us         77.6 ms  77.6 ms   2.42 ms",
    ]
    assert "TP4 is better: 26.8 ms a step of 32 tokens, TP2+PP2 takes 41.3 ms, 1.54 times as long" in lines
    assert "EP4: the model is dense: it has no experts to split" in lines
    assert lines[-1] == "run.sh:1: vLLM, TP4, the better plan already"


def test_the_chart() -> None:
    lines = plan_report.as_text(EVERY[0], Setting(width=60)).splitlines()
    first = lines.index("time of a step: # link, = reading weights")
    bars = [line.split()[1] for line in lines[first + 1 : first + 4]]
    assert [len(bar) for bar in bars] == [round(43 * part / 77.6) for part in (26.84, 41.3, 77.6)]
    assert bars[0] == "#" * 4 + "=" * 11
    assert set(bars[2]) == {"="}


def test_the_line_for_the_better_plan() -> None:
    lines = plan_report.as_text(EVERY[4], Setting(width=200)).splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("run.sh:1"))
    assert lines[place] == "run.sh:1: vLLM, TP4: 1.06 times as long a step as EP4"
    assert lines[place + 2] == "  vllm serve m --data-parallel-size 4 --enable-expert-parallel"
    assert "the latency of a hop decides this: without it TP4 would be better (--latency)" in lines
    assert any("closer than these assumptions can tell" in line for line in lines)


def test_a_plan_that_does_not_fit_is_no_better_one() -> None:
    text = plan_report.as_text(compared(DEEPSEEK_V3, "4xRTX-PRO-6000"), Setting())
    assert "no plan fits: each GPU needs at least 168.3 GB for weights and has 86.4 GB for them" in text
    assert text.count("does not fit") == 4


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("found", EVERY, ids=range(len(EVERY)))
def test_it_fits_the_width(found: Comparison, width: int) -> None:
    text = plan_report.as_text(replace(found, suggestions=()), Setting(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert text.isascii()
    assert all(line == line.rstrip() for line in text.splitlines())


def test_colour_is_beside_the_text() -> None:
    plain = plan_report.as_text(EVERY[4], Setting(width=100))
    painted = plan_report.as_text(EVERY[4], Setting(width=100, color=True))
    assert "\x1b[" in painted
    assert "\x1b" not in plain
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", painted).splitlines()] == plain.splitlines()


def test_every_rate_of_a_link_has_its_direction() -> None:
    for found in EVERY:
        for line in plan_report.as_text(found, Setting(width=1000)).splitlines():
            assert "GB/s" not in line or "one direction" in line or "of memory" in line


def test_every_assumption_is_told() -> None:
    text = plan_report.as_text(EVERY[9], Setting(width=1000))
    for words in ("32 tokens at a time", "3.4 us a hop", "FP8 (1 byte, 4 for each 128 values)", "BF16 (2 bytes)"):
        assert words in text


def test_names_that_a_terminal_would_obey() -> None:
    odd = compared({**LLAMA_70B, "architectures": ["a\x1b[2J[red]" + "x" * 1000]}, "2xSpark", "vllm serve \x1b[2J\n")
    text = plan_report.as_text(odd, Setting(width=100, color=False))
    assert "\x1b" not in text
    assert "[red]" in text


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0 B"), (999, "999 B"), (100662, "100.7 kB"), (8.82e6, "8.82 MB"), (1.5e12, "1.50 TB"), (1e18, "1000000 TB")],
)
def test_amounts(value: float, words: str) -> None:
    assert amount(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0.00 us"), (9.8e-6, "9.80 us"), (0.000138, "138.0 us"), (0.0669, "66.9 ms"), (12, "12.0 s")],
)
def test_times(value: float, words: str) -> None:
    assert duration(value) == words


def test_no_plan_at_all() -> None:
    """11 GPUs divide neither experts nor heads, and there are fewer layers."""
    found = compared({**MIXTRAL_8X7B, "num_hidden_layers": 8}, "11xB200", "vllm serve m")
    assert (found.rows, found.best, found.suggestions) == ((), None, ())
    assert "no plan applies" in plan_report.as_text(found, Setting(width=80))
    log = json.loads(plan_report.as_json(found, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
