"""`bwlint trace` from the command line. The programs write what a collector would write; there is no GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import bwlint.report
from bwlint import cli
from bwlint.trace import collecting

SCHEMA = json.loads(Path(bwlint.report.__file__).with_name("trace.schema.json").read_text("utf-8"))
PROGRAM = """
import json, os, signal, sys, time
def tell(*lines):
    with open(f"{os.environ['BWLINT_TRACE_FOLDER']}/{os.getpid()}.jsonl", "a") as file:
        file.writelines(json.dumps(line) + "\\n" for line in lines)
def begin():
    tell({"process": os.getpid(), "parent": os.getppid(), "cupti": 130001, "program": "/x", "arguments": "x\\x1b[1m"},
         {"device": 0, "name": "NVIDIA RTX PRO 6000", "capability": "12.0"}, {"library": "/lib/x\\udce9.so"},
         {"kernel": 0, "name": KERNEL, "device": 0, "grid": [4, 1, 1], "block": [32, 1, 1], "cluster": [2, 1, 1],
          "static_shared": 16, "dynamic_shared": 1024, "registers": 16, "in_graph": False},
         {"asked": KERNEL}, {"ran": 0, "count": 3, "ns": 3000}, {"launches": 3, "graph_launches": 0})
    if "BWLINT_TRACE_EVENTS" in os.environ:
        tell({"event": 0, "start": 10**18, "end": 10**18 + 1000, "stream": 7})
KERNEL = "_ZN5flash16flash_fwd_kernelI1XEEv"
"""


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("VLLM_ATTENTION_BACKEND", "CUDA_INJECTION64_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(collecting, "built", lambda folder, _: folder / "collector.so")


def trace(code: str, *words: str, options: tuple[str, ...] = ()) -> Result:
    Path("program.py").write_text(PROGRAM + code)
    command = ["trace", *options, "--", sys.executable, "program.py", *words]
    return CliRunner().invoke(cli.app, command, prog_name="bwlint")


def receipt(name: str = "bwlint-trace.json") -> Any:
    document = json.loads(Path(name).read_text())
    Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_what_ran_is_in_the_table_and_in_the_receipt() -> None:
    result = trace("begin(); tell({'end': True})")
    assert result.exit_code == 0
    assert "device 0: NVIDIA RTX PRO 6000 (12.0)" in result.stdout
    row = next(line for line in result.stdout.splitlines() if line.startswith("3 "))
    assert row.split() == [
        "3",
        "0.003",
        "flash::flash_fwd_kernel",
        "0",
        "4x1x1",
        "32x1x1",
        "2x1x1",
        "16+1,024",
        "not",
        "known",
    ]
    assert "3 launches of 1 kernel in 1 process" in result.stderr and "exit code 0" in result.stderr
    assert "\x1b" not in result.stdout
    (process,) = receipt()["processes"]
    assert (process["ran"], process["ended"], process["unseen"]) == (3, True, 0)


@pytest.mark.parametrize(
    ("end", "code", "signal"),
    [("sys.exit(4)", 4, ""), ("os.kill(os.getpid(), 9)", None, "SIGKILL"), ("os.abort()", None, "SIGABRT")],
)
def test_a_program_that_fails_has_a_receipt_all_the_same(end: str, code: int | None, signal: str) -> None:
    result = trace(f"begin(); {end}", options=("--receipt", "r.json"))
    assert result.exit_code == 1
    assert "did not end normally" in result.stdout
    told = receipt("r.json")
    assert (told["trace"]["code"], told["trace"]["signal"], told["processes"][0]["ran"]) == (code, signal, 3)


def test_children_are_processes_of_the_trace() -> None:
    assert trace("begin()\nif os.fork() == 0: begin(); os._exit(0)\nos.wait()").exit_code == 0
    assert len(receipt()["processes"]) == 2


def test_a_program_that_does_not_end_is_ended() -> None:
    result = trace("begin(); time.sleep(600)", options=("--time-limit", "1", "-q"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert (receipt()["trace"]["stopped"], receipt()["trace"]["signal"]) == ("not done after 1 s", "SIGTERM")


def test_who_interrupts_gets_the_receipt_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    wait = subprocess.Popen.wait
    begun: list[float | None] = []

    def interrupted(self: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        begun.append(timeout)
        if len(begun) > 1:
            return wait(self, timeout)
        wait(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    trace("begin()")
    assert receipt()["trace"]["stopped"] == "interrupted" and receipt()["processes"][0]["ran"] == 3


@pytest.mark.parametrize(
    ("words", "code", "mark"),
    [
        (["--attention-backend", "FLASH_ATTN"], 0, "FlashAttention: "),
        (["--attention-backend", "FLASHINFER"], 1, "REPLACED"),
        (["--attention-backend", "FLASHMLA"], 1, "REPLACED vLLM: on 12.0 FlashMLA is refused"),
        (["--moe-backend", "marlin"], 1, "NOT EXECUTED"),
        (["--attention-backend", "OURS"], 1, "NOT KNOWN"),
        (["--attention-backend", "auto"], 0, ""),
    ],
)
def test_what_was_asked_for_and_silently_replaced_is_marked(words: list[str], code: int, mark: str) -> None:
    result = trace("begin()", *words)
    assert result.exit_code == code
    assert mark in result.stdout
    assert ("requested" in result.stdout) == bool(mark)
    receipt()


def test_perfetto_gets_each_launch() -> None:
    trace("begin()", options=("--perfetto", "p.json"))
    rows = json.loads(Path("p.json").read_text())["traceEvents"]
    assert [row["name"] for row in rows] == ["process_name", "thread_name", "flash::flash_fwd_kernel"]
    assert (rows[2]["ts"], rows[2]["dur"], rows[2]["tid"], rows[2]["args"]["grid"]) == (
        0,
        1.0,
        rows[1]["tid"],
        [4, 1, 1],
    )


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["trace"], 2, "Missing argument"),
        (["trace", "--", "./no-such-program"], 2, "No such file"),
        (["trace", "--recipt", "x", "--", "true"], 2, "No such option"),
        (["trace", "--receipt", "no/such/folder.json", "--", "true"], 2, "cannot write"),
        (["trace", "--", "true"], 3, "no kernel ran"),
        (["trace", "true"], 3, "no kernel ran"),
        (["check", ".", "--trace", "missing.json"], 2, "missing.json: No such file"),
        (["trase"], 2, "did you mean `trace`"),
    ],
)
def test_what_goes_wrong_is_said(command: list[str], code: int, words: str) -> None:
    result = CliRunner().invoke(cli.app, command, prog_name="bwlint")
    assert result.exit_code == code
    assert words in result.output


def test_check_marks_findings_by_it() -> None:
    trace("KERNEL = 'wide'; begin()")
    kernels = ("__global__ void wide()", "__global__ void idle()")
    Path("a.cu").write_text("".join(f"{kernel} {{\n  __shared__ float a[40000];\n}}\n" for kernel in kernels))
    limits = ("--severity", "note", "--isolated", "--no-cache", "--jobs", "1")
    command = ["check", "a.cu", "--trace", "bwlint-trace.json", *limits]
    text = CliRunner().invoke(cli.app, [*command, "--format", "json:r.json", "--format", "text"], prog_name="bwlint")
    assert "= seen: wide ran on NVIDIA RTX PRO 6000 (12.0)" in text.stdout
    assert "= not seen: no launch of idle" in text.stdout
    assert "by the trace: 1 seen, 1 not seen" in text.stderr
    report = json.loads(Path("r.json").read_text())
    schema = json.loads(Path(bwlint.report.__file__).with_name("findings.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(report)
    assert [found["trace"]["sighting"] for found in report["findings"]] == ["seen", "not seen"]
