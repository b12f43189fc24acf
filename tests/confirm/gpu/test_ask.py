"""Jobs for a GPU, asked of a driver that is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fake_gpu
import pytest

from bwlint.confirm import gpu

PTX = ".version 7.8\n.target sm_90\n.visible .entry probe(.param .u64 out, .param .u32 size)\n{ ret; }\n"
TWO = PTX + ".visible .entry other() { ret; }\n"
LAUNCH = {"do": "launch", "kernel": "probe", "arguments": [{"buffer": 16, "fill": 7}, {"u32": 4}]}


def steps(folder: Path, *asked: dict[str, Any], image: str = PTX, limit: float = 20.0) -> gpu.Answered:
    (folder / "image.ptx").write_text(image)
    job = {"do": "image", "device": 0, "image": str(folder / "image.ptx"), "steps": list(asked)}
    return gpu.ask(job, folder=folder, limit=limit)


def test_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, devices=[fake_gpu.device(), fake_gpu.device(COMPUTE_CAPABILITY_MAJOR=12)])
    found, why = gpu.devices(folder=tmp_path)
    assert [(one.ordinal, one.capability, one.driver) for one in found] == [(0, "9.0", "13.0"), (1, "12.0", "13.0")]
    assert found[0].attributes["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] == 232448
    assert "CAN_USE_STREAM_MEM_OPS" not in found[0].attributes and "NOT_KNOWN" not in found[0].attributes
    assert found[0].uuid == "GPU-01010101-0101-0101-0101-010101010101"
    assert why == ""


@pytest.mark.parametrize(
    ("scene", "why"),
    [
        ({"driver": "missing"}, "no driver (libcuda.so.1): "),
        ({"calls": {"cuInit": [100]}}, "cuInit: CUDA_ERROR_NO_DEVICE (100)"),
        ({"calls": {"cuInit": [999]}}, "cuInit: CUDA_ERROR_UNKNOWN (999)"),
        ({"devices": []}, "the driver shows no GPU"),
        ({"calls": {"cuDeviceGetCount": ["die"]}}, "the process that called the driver was ended by SIGKILL"),
        # A device that goes away between two questions.
        ({"calls": {"cuDeviceGetAttribute": [0, 0, 46]}}, "cuDeviceGetAttribute: CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
    ],
)
def test_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: dict[str, Any], why: str) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **scene)
    found, said = gpu.devices(folder=tmp_path)
    assert not found
    assert said.startswith(why)


def test_a_driver_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuInit": ["hang"]})
    assert gpu.devices(folder=tmp_path, limit=0.7) == (
        (),
        "the process that called the driver was not done after 0.7 s",
    )


def test_no_bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fake" / "cuda").mkdir(parents=True)
    (tmp_path / "fake" / "cuda" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "fake"))
    assert gpu.devices(folder=tmp_path)[1] == "no cuda-bindings (pip install bwlint[gpu])"


def test_nothing_is_imported_from_what_was_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path / "tree", monkeypatch)
    work = tmp_path / "work"
    work.mkdir()
    asked = gpu.ask({"do": "devices"}, folder=work, limit=20, trees=[str(tmp_path / "tree")])
    assert b"made up" not in asked.ended.answer
    monkeypatch.chdir(tmp_path / "tree" / "fake")
    asked = gpu.ask({"do": "devices"}, folder=work, limit=20)
    assert b"made up" not in asked.ended.answer


def test_libraries_are_not_loaded_from_what_was_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuInit": ["environment"]})
    for name in ("tree", "driver"):
        (tmp_path / name / "lib").mkdir(parents=True)
    entries = [str(tmp_path / "tree" / "lib"), "", "lib", str(tmp_path / "driver" / "lib"), str(tmp_path / "absent")]
    monkeypatch.setenv("LD_LIBRARY_PATH", ":".join(entries))
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "tree" / "lib" / "bad.so"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    asked = gpu.ask({"do": "devices"}, folder=tmp_path, limit=20, trees=[str(tmp_path / "tree")])
    said = json.loads(asked.ended.output)
    assert said["LD_LIBRARY_PATH"] == str(tmp_path / "driver" / "lib")
    assert (said["CUDA_VISIBLE_DEVICES"], said["CUDA_CACHE_DISABLE"]) == ("0", "1")
    assert "LD_PRELOAD" not in said


def test_a_launch_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, kernels={"probe": {"results": [1, 2]}})
    read = {"do": "read", "buffer": 0, "words": 3, "equal": 7}
    asked = steps(tmp_path, {"do": "load"}, {"do": "functions"}, LAUNCH, {"do": "sync"}, read)
    success = {"error": 0, "name": "CUDA_SUCCESS"}
    assert asked.trouble == ""
    assert asked.steps == [
        {**success, "log": ""},
        {**success, "count": 1, "names": ["probe"]},
        {**success, "buffers": [0]},
        success,
        {**success, "words": [1, 2, 7], "of": 4, "equal": 2},
    ]


@pytest.mark.parametrize(
    ("step", "answer"),
    [
        ({"do": "functions"}, {"count": 2, "names": ["probe", "other"]}),
        ({"do": "occupancy", "kernel": "other", "threads": 1024}, {"blocks": 2}),
        ({"do": "attribute", "kernel": "probe", "set": "MAX_DYNAMIC_SHARED_SIZE_BYTES", "value": 232448}, {}),
        ({"do": "clusters", "kernel": "other", "cluster": [2, 2, 1]}, {"largest": 8, "active": 33}),
        ({"do": "launch", "kernel": "other", "cluster": [8, 1, 1]}, {"buffers": []}),
        ({"do": "bench", "kernel": "other", "repeat": 3}, {"milliseconds": 1.0, "buffers": []}),
    ],
)
def test_steps_that_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: dict[str, Any], answer: dict[str, Any]
) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    asked = steps(tmp_path, {"do": "load"}, step, image=TWO)
    assert asked.steps[1] == {"error": 0, "name": "CUDA_SUCCESS", **answer}


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"do": "function", "kernel": "absent"}, 500),
        ({"do": "attribute", "kernel": "probe", "set": "MAX_DYNAMIC_SHARED_SIZE_BYTES", "value": 232449}, 1),
        ({"do": "launch", "kernel": "other", "shared": 49153}, 1),
        ({"do": "launch", "kernel": "other", "cluster": [16, 1, 1]}, 912),
        ({"do": "clusters", "kernel": "other", "cluster": [16, 1, 1]}, 912),
        ({"do": "launch", "kernel": "other", "block": [2048, 1, 1]}, 1),
    ],
)
def test_steps_that_the_driver_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: dict[str, Any], error: int
) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    asked = steps(tmp_path, {"do": "load"}, step, {"do": "sync"}, image=TWO)
    assert asked.steps[1]["error"] == error
    assert asked.steps[1]["name"].startswith("CUDA_ERROR_")
    # The context lives on.
    assert asked.steps[2]["error"] == 0


@pytest.mark.parametrize(
    "step",
    [
        {"do": "function", "kernel": None},
        {"do": "attribute", "kernel": "probe", "set": "NO_SUCH_ATTRIBUTE", "value": 1},
        {"do": "read", "buffer": 3},
        {"do": "launch", "kernel": "probe", "arguments": [{"buffer": 1 << 40}, {"u32": 1}]},
        {"do": "launch", "kernel": "probe", "arguments": [{"buffer": 0}, {"u32": 1}]},
        {"do": "no such step"},
        {},
    ],
)
def test_steps_that_cannot_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: dict[str, Any]) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    asked = steps(tmp_path, {"do": "load"}, step, {"do": "sync"}, image=TWO)
    assert list(asked.steps[1]) == ["skipped"]
    assert asked.steps[2]["error"] == 0


def test_what_needs_an_image_that_did_not_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = "ptxas fatal: no such target"
    fake_gpu.install(tmp_path, monkeypatch, images=[{"contains": "sm_90", "error": 218, "log": log}])
    asked = steps(tmp_path, {"do": "load"}, {"do": "functions"}, LAUNCH)
    assert asked.steps[0] == {"error": 218, "name": "CUDA_ERROR_INVALID_PTX", "call": "cuModuleLoadDataEx", "log": log}
    assert asked.steps[1:] == [{"skipped": "no image is loaded"}] * 2
    assert asked.trouble == ""


def test_a_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    (tmp_path / "library").write_text(f"before{PTX}after")
    part = {"image": str(tmp_path / "library"), "offset": len("before"), "size": len(PTX)}
    asked = gpu.ask(
        {"do": "image", "image": part, "steps": [{"do": "load"}, {"do": "functions"}]}, folder=tmp_path, limit=20
    )
    assert asked.steps[1]["names"] == ["probe"]


def test_an_image_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    job = {"do": "image", "image": str(tmp_path / "absent"), "steps": [{"do": "load"}]}
    assert "No such file" in gpu.ask(job, folder=tmp_path, limit=20).steps[0]["skipped"]


@pytest.mark.parametrize("error", [46, 700, 715, 719, 999])
def test_nothing_is_answered_after_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuCtxSynchronize": [error]})
    asked = steps(tmp_path, {"do": "load"}, LAUNCH, {"do": "sync"}, LAUNCH, {"do": "sync"})
    assert [step["error"] for step in asked.steps] == [0, 0, error]


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("hang", "the process that called the driver was not done after 1 s"),
        ("die", "the process that called the driver was ended by SIGKILL"),
        ({"print": 100_000_000}, "the process that called the driver was ended: it wrote more than 64 MiB"),
    ],
)
def test_kernels_that_do_not_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: Any, why: str) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuCtxSynchronize": [what]})
    asked = steps(tmp_path, {"do": "load"}, LAUNCH, {"do": "sync"}, limit=1.0 if what == "hang" else 20.0)
    assert asked.trouble == why
    assert asked.steps == []
    assert len(asked.ended.output) < 20_000


def test_a_little_output_is_none_of_our_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuCtxSynchronize": [{"print": 65536}]})
    asked = steps(tmp_path, {"do": "load"}, LAUNCH, {"do": "sync"})
    assert asked.trouble == ""
    assert asked.steps[2]["error"] == 0
    assert asked.ended.written == 65536


def test_a_job_of_no_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    assert gpu.ask({"do": "dance"}, folder=tmp_path, limit=20).trouble.startswith("the job could not be done")
