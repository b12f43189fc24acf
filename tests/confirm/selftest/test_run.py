"""What answers of a device mean: it works, it fails, or nothing is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bwlint.chips.devices import chip
from bwlint.confirm import gpu
from bwlint.confirm.child import Ended
from bwlint.confirm.selftest.case import BuiltProgram, PickingGate, PtxText, Question, SelftestCase, all_cases, rendered
from bwlint.confirm.selftest.run import DeviceAnswer, seen
from bwlint.confirm.workbench import Device

H100 = Device(0, "H100", "GPU-0", "9.0", "13.0")
DONE = {"error": 0, "name": "CUDA_SUCCESS"}
PLAIN = SelftestCase("plain", "arch-target", "image", "plain.ptx", PtxText(), {"TARGET": "75"})
BOUNDS = next(case for case in all_cases() if case.name == "bounds-ptx-1024-2")
GATES = {case.name: case for case in all_cases() if isinstance(case.make, PickingGate)}


def refused(error: int, name: str = "CUDA_ERROR") -> dict[str, Any]:
    return {"error": error, "name": name, "call": "cuCall"}


def words(equal: int) -> dict[str, Any]:
    return {**DONE, "words": [1], "of": 128, "equal": equal}


def answering(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any] | None, trouble: str = "") -> None:
    """Let every job have this answer."""
    ended = Ended(None if trouble else 0, "", 0, b"", trouble, 0.1)
    monkeypatch.setattr(gpu, "ask", lambda job, *, folder, limit: gpu.Answered(answer, ended))


def asked(case: SelftestCase, folder: Path) -> DeviceAnswer:
    source = folder / case.template
    source.write_text(rendered(case, chip("9.0")))
    return seen(case, chip("9.0"), source, source, H100, folder, 20)


@pytest.mark.parametrize(
    ("steps", "verdict", "rung"),
    [
        ([DONE, DONE, DONE, words(128)], "works", "check"),
        ([DONE, DONE, DONE, words(127)], "fails", "check"),
        ([refused(209)], "fails", "load"),
        ([refused(218)], "fails", "load"),
        ([refused(222)], "fails", "load"),
        ([refused(801)], "fails", "load"),
        ([DONE, refused(912)], "fails", "launch"),
        ([DONE, refused(1)], "fails", "launch"),
        ([DONE, DONE, refused(715)], "fails", "launch"),
        # Errors that say nothing of the image.
        ([refused(2)], "unknown", "load"),
        ([refused(999)], "unknown", "load"),
        ([refused(1)], "unknown", "load"),
        ([DONE, refused(2)], "unknown", "launch"),
        ([DONE, DONE, refused(46)], "unknown", "launch"),
        ([DONE, DONE, DONE], "unknown", "launch"),
        ([DONE, {"skipped": "there is no kernel"}], "unknown", "launch"),
        ([DONE, DONE, DONE, {"skipped": "there is no buffer"}], "unknown", "check"),
        ([], "unknown", "launch"),
    ],
)
def test_images(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, steps: list[dict[str, Any]], verdict: str, rung: str
) -> None:
    answering(monkeypatch, {"steps": steps})
    found = asked(PLAIN, tmp_path)
    assert (found.verdict, found.rung) == (verdict, rung)


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [(None, ""), (None, "not done after 20 s"), ({"missing": "no libcuda.so.1"}, ""), (refused(100), "")],
)
def test_without_an_answer_nothing_is_executed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: dict[str, Any] | None, trouble: str
) -> None:
    answering(monkeypatch, answer, trouble)
    found = asked(PLAIN, tmp_path)
    assert found.verdict == "unknown" and not found.executed and found.reason


@pytest.mark.parametrize(("blocks", "verdict"), [(2, "works"), (3, "works"), (1, "fails"), (None, "unknown")])
def test_bounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, blocks: int | None, verdict: str) -> None:
    found = {**DONE, "blocks": blocks} if blocks is not None else refused(999)
    answering(monkeypatch, {"steps": [DONE, found]})
    assert asked(BOUNDS, tmp_path).verdict == verdict


def program(folder: Path, text: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def says(steps: list[tuple[str, int]], right: int = 0, **more: int) -> str:
    found = {"steps": steps, "copied": 0, "right": right, "untouched": 128 - right, "of": 128, **more}
    return f"echo '{json.dumps(found)}'"


RAN = [("launch", 0), ("cudaDeviceSynchronize", 0)]


@pytest.mark.parametrize(
    ("question", "text", "verdict"),
    [
        ("program", says(RAN, 128), "works"),
        ("program", says([("launch", 1)]), "fails"),
        ("program", says([("launch", 912)]), "fails"),
        ("program", says([("launch", 209)]), "fails"),
        ("program", says([("launch", 300)]), "fails"),
        ("program", says([("launch", 500)]), "fails"),
        ("program", says(RAN), "fails"),
        ("unnoticed", says(RAN, 128), "works"),
        ("unnoticed", says(RAN), "fails"),
        ("unnoticed", says([("launch", 1)]), "works"),
        ("bounds", says(RAN, 128, blocks=2, asked=2), "works"),
        ("bounds", says(RAN, 128, blocks=2, asked=3), "fails"),
        # Nothing is decided by what else may go wrong.
        ("program", says([("start", 100), ("launch", 100)]), "unknown"),
        ("program", says([("start", 1)]), "unknown"),
        ("program", says([("launch", 2)]), "unknown"),
        ("program", says([("launch", 700)]), "unknown"),
        ("program", says(RAN, 64), "unknown"),
        ("program", says([("launch", 1)], 128), "unknown"),
        ("program", says(RAN, 128, copied=700), "unknown"),
        ("bounds", says([("launch", 1)], 0, blocks=2, asked=2), "unknown"),
        ("bounds", says(RAN, 0, blocks=2, asked=2), "unknown"),
        ("program", says(RAN, 128) + "; exit 3", "unknown"),
        ("program", "echo nothing", "unknown"),
        ("program", "echo '{\"steps\": []}'", "unknown"),
        ("program", "echo '{'", "unknown"),
        ("program", "kill -9 $$", "unknown"),
        ("observed", says(RAN, 128), "unknown"),
    ],
)
def test_programs(tmp_path: Path, question: Question, text: str, verdict: str) -> None:
    case = SelftestCase("one", "smem", question, "simple.cu", BuiltProgram())
    made = program(tmp_path, text)
    assert seen(case, chip("9.0"), made, made, H100, tmp_path, 20).verdict == verdict


def test_a_program_that_does_not_end(tmp_path: Path) -> None:
    case = SelftestCase("one", "smem", "program", "simple.cu", BuiltProgram())
    made = program(tmp_path, "sleep 60")
    found = seen(case, chip("9.0"), made, made, H100, tmp_path, 0.5)
    assert found.verdict == "unknown" and "not done after" in found.reason


def test_a_program_that_does_not_start(tmp_path: Path) -> None:
    case = SelftestCase("one", "smem", "program", "simple.cu", BuiltProgram())
    made = tmp_path / "program"
    found = seen(case, chip("9.0"), made, made, H100, tmp_path, 5)
    assert found.verdict == "unknown" and not found.executed


TAKEN = {"steps": [DONE, DONE, DONE, words(128)]}
NOT_TAKEN = {"steps": [refused(218)]}


@pytest.mark.parametrize(
    ("name", "answer", "verdict"),
    [
        ("gate-bf16-from-8-on", TAKEN, "works"),
        ("gate-bf16-from-8-on", NOT_TAKEN, "fails"),
        ("gate-bf16-without-9-and-12", TAKEN, "fails"),
        ("gate-tcgen05-kept-to-10", NOT_TAKEN, "works"),
        ("gate-leak-of-tcgen05", NOT_TAKEN, "fails"),
        ("gate-tuple-and-number-ordered", TAKEN, "fails"),
        ("gate-tuple-and-number-ordered", NOT_TAKEN, "fails"),
        ("gate-bf16-from-8-on", {"steps": [refused(999)]}, "unknown"),
        ("gate-bf16-from-8-on", {"missing": "no libcuda.so.1"}, "unknown"),
    ],
)
def test_gates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, answer: dict[str, Any], verdict: str
) -> None:
    answering(monkeypatch, answer)
    assert asked(GATES[name], tmp_path).verdict == verdict


def test_a_gate_that_is_no_python_decides_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answering(monkeypatch, TAKEN)
    source = tmp_path / "gate.py"
    source.write_text("if :\n")
    case = GATES["gate-bf16-from-8-on"]
    assert seen(case, chip("9.0"), source, source, H100, tmp_path, 20).verdict == "unknown"
