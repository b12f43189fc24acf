"""Images given to a driver that is made up."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest
import small_binaries
from toolkit import Toolkit as Tools

from bwlint.confirm.gpu import containers
from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs import load
from bwlint.confirm.workbench import Toolkit

KERNELS = small_binaries.ptx(90, kernels=("k", "l"))
OLD = small_binaries.ptx(80, kernels=("old",))
EMPTY = small_binaries.ptx(100, kernels=())
NEW = small_binaries.ptx(120, kernels=("new",))
NO_NEW = {"contains": ".target sm_120", "error": 209, "log": "no binary"}
NO_OLD = {"contains": ".target sm_80", "error": 218}


def library(folder: Path, *texts: bytes, name: str = "lib.so") -> Path:
    held = [small_binaries.container(small_binaries.entry(text, 90)) for text in texts]
    (folder / name).write_bytes(small_binaries.shared_object(*held))
    return folder / name


def tried(folder: Path, monkeypatch: pytest.MonkeyPatch, scene: dict[str, Any], real: Path, **claim: Any) -> Attempt:
    fake_gpu.install(folder, monkeypatch, **scene)
    path = claim.pop("path", "")
    return load.attempt(gpu_claims.subject("image", real, path=path, **claim), gpu_claims.world(folder))


@pytest.mark.parametrize(
    ("texts", "refused", "subject", "outcome", "reason"),
    [
        ((NEW,), [NO_NEW], "", "confirmed", "1 of 1 container tried on the 9.0 device: 1 x CUDA_ERROR_NO_BINARY"),
        ((NEW, OLD), [NO_NEW, NO_OLD], "", "confirmed", "2 of 2 containers tried on the 9.0 device: 1 x CUDA_ERROR_NO"),
        ((KERNELS,), [NO_NEW], "", "refuted", "container at offset 208 loads, and its 2 kernels can be had"),
        ((NEW, KERNELS), [NO_NEW], "", "refuted", "loads, and its 2 kernels can be had"),
        # A container without a kernel loads anywhere.
        ((NEW, EMPTY), [NO_NEW], "", "confirmed", "2 of 2 containers tried"),
        ((EMPTY,), [], "", "inconclusive", "there is no kernel in it"),
        ((KERNELS, NEW), [NO_NEW], "new", "confirmed", "2 of 2 containers tried"),
        ((KERNELS, NEW), [NO_NEW], "l", "refuted", "loads, and has the kernel l"),
        ((KERNELS, OLD), [], "absent", "inconclusive", "there is no kernel in it"),
        # What speaks of the driver and of damage says nothing of the chip.
        ((NEW,), [{**NO_NEW, "error": 222}], "", "inconclusive", "the driver is too old for it"),
        ((NEW,), [{**NO_NEW, "error": 200}], "", "inconclusive", "CUDA_ERROR_INVALID_IMAGE (200)"),
        ((NEW, OLD), [NO_NEW, {**NO_OLD, "error": 222}], "", "inconclusive", "the driver is too old for it"),
        ((NEW, OLD), [NO_NEW, {**NO_OLD, "error": 999}], "", "inconclusive", "CUDA_ERROR_UNKNOWN (999)"),
    ],
)
def test_images(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: tuple[bytes, ...],
    refused: list[dict[str, Any]],
    subject: str,
    outcome: str,
    reason: str,
) -> None:
    found = tried(tmp_path, monkeypatch, {"images": refused}, library(tmp_path, *texts), subject=subject)
    assert (found.executed, found.outcome) == (True, outcome)
    assert reason in found.reason


def test_one_container_of_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path, KERNELS, NEW)
    offset = path.read_bytes().rindex(bytes.fromhex("50ed55ba"))
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, path, subject=str(offset))
    assert (found.outcome, found.details["tried"]) == ("confirmed", 1)
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, path, subject="7")
    assert (found.executed, found.reason) == (False, "lib.so: there is no container at offset 7")


@pytest.mark.parametrize("name", ["made.whl", "made.zip"])
def test_a_member_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    inside = {
        "a/lib.so": library(tmp_path, NEW).read_bytes(),
        "b/lib.so": library(tmp_path, KERNELS).read_bytes(),
        "b/text.txt": b"text",
    }
    (tmp_path / name).write_bytes(small_binaries.zipped(inside))
    scene = {"images": [NO_NEW]}
    verdicts = {
        member: tried(tmp_path, monkeypatch, scene, tmp_path / name, path=f"some/{name}{member}").outcome
        for member in ("/a/lib.so", "/b/lib.so", "", "/c/lib.so")
    }
    assert verdicts == {"/a/lib.so": "confirmed", "/b/lib.so": "refuted", "": "refuted", "/c/lib.so": None}
    assert not list(tmp_path.glob("container-*"))


def test_what_is_linked_when_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [small_binaries.container(small_binaries.entry(text, 90)) for text in (KERNELS, OLD)]
    path = tmp_path / "lib.so"
    path.write_bytes(
        small_binaries.shared_object(small_binaries.container(small_binaries.entry(NEW, 120)), relocatable=objects)
    )
    found = tried(tmp_path, monkeypatch, {}, path)
    assert (found.outcome, found.details["containers"]) == ("refuted", 1)
    assert found.reason.endswith("loads, and its 1 kernel can be had")
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, path)
    assert found.outcome == "refuted"
    assert found.reason.endswith("loads, and its 3 kernels can be had")
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW], "calls": {"cuLinkAddData": [0, 209]}}, path)
    assert (found.outcome, found.details["tried"]) == ("confirmed", 1)
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW], "calls": {"cuLinkComplete": [999]}}, path)
    assert (found.executed, found.outcome) == (False, None)


def test_files_without_device_code_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{number:03}.so": b"no device code" for number in range(200)}
    files["last.so"] = library(tmp_path, NEW).read_bytes()
    (tmp_path / "made.zip").write_bytes(small_binaries.zipped(files))
    assert tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, tmp_path / "made.zip").outcome == "confirmed"


def test_more_containers_than_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MOST", 2)
    path = library(tmp_path, NEW, NEW, NEW)
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, path)
    assert found.outcome == "inconclusive"
    assert found.reason.startswith("2 of 3 containers tried on the 9.0 device, none loads, but this proves nothing")


def test_a_folder_and_a_bare_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    library(tmp_path / "folder" / "deep", NEW)
    library(tmp_path / "folder", NEW)
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, tmp_path / "folder")
    assert (found.outcome, found.details["tried"], found.details["containers"]) == ("confirmed", 2, 2)
    (tmp_path / "bare.ptx").write_bytes(NEW)
    assert tried(tmp_path, monkeypatch, {"images": [NO_NEW]}, tmp_path / "bare.ptx").outcome == "confirmed"
    assert tried(tmp_path, monkeypatch, {}, tmp_path / "bare.ptx").outcome == "refuted"


@pytest.mark.parametrize(
    ("scene", "chips", "reason"),
    [
        ({}, ("12.0", "12.1"), "the device is 9.0, the claim is about 12.0 and 12.1"),
        ({}, (), "the claim names no chip"),
        ({"devices": []}, ("9.0",), "the driver shows no GPU"),
        ({"calls": {"cuInit": [100]}}, ("9.0",), "cuInit: CUDA_ERROR_NO_DEVICE (100)"),
    ],
)
def test_not_eligible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: dict[str, Any], chips: tuple[str, ...], reason: str
) -> None:
    found = tried(tmp_path, monkeypatch, scene, library(tmp_path, NEW), chips=chips)
    assert (found.requested, found.eligible, found.executed, found.outcome) == (True, False, False, None)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ({"calls": {"cuModuleLoadDataEx": ["hang"]}}, "the process that called the driver was not done after 1 s"),
        ({"calls": {"cuModuleLoadDataEx": ["die"]}}, "the process that called the driver was ended by SIGKILL"),
        ({"calls": {"cuDevicePrimaryCtxRetain": [46]}}, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
    ],
)
def test_a_driver_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: dict[str, Any], reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **scene)
    subject = gpu_claims.subject("image", library(tmp_path, NEW))
    found = load.attempt(subject, gpu_claims.world(tmp_path, limit=gpu_claims.limit(scene)))
    assert (found.eligible, found.executed, found.outcome) == (True, False, None)
    assert reason in found.reason


def test_a_device_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = library(tmp_path, NEW, OLD, NEW)
    found = tried(tmp_path, monkeypatch, {"images": [NO_NEW, {**NO_OLD, "error": 46}]}, path)
    assert (found.executed, found.outcome, found.details["tried"]) == (True, "inconclusive", 1)
    assert "CUDA_ERROR_DEVICE_UNAVAILABLE (46)" in found.reason


@pytest.mark.parametrize("data", [b"", b"no device code", b"\x7fELF broken", b"\x50\xed\x55\xba broken"])
def test_files_without_device_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    (tmp_path / "lib.so").write_bytes(data)
    found = tried(tmp_path, monkeypatch, {}, tmp_path / "lib.so")
    assert (found.executed, found.outcome) == (False, None)


NOT_THERE = "line 6; error   : Instruction 'bad.thing' not supported on .target 'sm_90'"
OLD_ISA = "line 6; error   : Feature 'x' requires PTX ISA .version 9.9 or later"
QUOTED = "a quoted message"
LOGS = {QUOTED: f"ptxas warning : Pragma 'ptxas application ptx input, {NOT_THERE}' unsupported"}
PTX = ".version 8.7\n.target {}\n.address_size 64\n.visible .entry k()\n{{\nbad.thing;\nret;\n}}\n"


@pytest.mark.parametrize(
    ("target", "line", "refused", "outcome", "reason"),
    [
        ("sm_90", 6, NOT_THERE, "confirmed", "the driver's JIT refuses line 6: Instruction 'bad.thing' not supported"),
        ("sm_90a", 6, NOT_THERE, "confirmed", "the driver's JIT refuses line 6: Instruction 'bad.thing' not supported"),
        ("sm_90", 5, NOT_THERE, "inconclusive", "not the flagged place for its target: Instruction 'bad.thing'"),
        ("sm_90", 6, OLD_ISA, "inconclusive", "not the flagged place for its target: Feature 'x' requires PTX ISA"),
        ("sm_90", 6, "line 6; error   : Unknown symbol 'sm_90'", "inconclusive", "Unknown symbol"),
        ("sm_90", 6, "line 7; error   : 'ret' not supported on .target 'sm_90'", "inconclusive", "'ret'"),
        ("sm_90", 6, QUOTED, "inconclusive", "not the flagged place for its target: Pragma"),
        (
            "sm_90",
            6,
            "",
            "inconclusive",
            "the driver refuses the file: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218)",
        ),
        ("sm_90", 6, None, "refuted", "assembles and loads the file for sm_90"),
        ("sm_90", 7, None, "inconclusive", "the file has changed"),
        ("sm_120", 6, None, None, "no device here loads sm_120"),
        ("sm_100a", 6, None, None, "the file is for sm_100a, the claim about sm_90, sm_90a and sm_120"),
    ],
)
def test_instructions(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    line: int,
    refused: str | None,
    outcome: str | None,
    reason: str,
) -> None:
    images = (
        []
        if refused is None
        else [
            {
                "contains": "bad",
                "error": 218,
                "log": LOGS.get(refused, f"ptxas application ptx input, {refused}" * bool(refused)),
            }
        ]
    )
    fake_gpu.install(tmp_path, monkeypatch, images=images)
    (tmp_path / "file.ptx").write_text(PTX.format(target))
    targets = ("sm_90", "sm_90a", "sm_120")
    claim = gpu_claims.subject(
        "instruction", tmp_path / "file.ptx", targets=targets, at=gpu_claims.at(line), subject="bad.thing"
    )
    found = load.attempt(claim, gpu_claims.world(tmp_path))
    assert found.outcome == outcome
    assert reason in found.reason


def test_instructions_in_source_are_not_the_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    (tmp_path / "file.cu").touch()
    claim = gpu_claims.subject("instruction", tmp_path / "file.cu", targets=("sm_90",))
    assert load.attempt(claim, gpu_claims.world(tmp_path)).eligible is False


def test_a_build_takes_an_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    found = load.attempt(gpu_claims.subject("build", subject="compute_120a,sm_120a"), gpu_claims.world(tmp_path))
    assert (found.eligible, found.reason) == (
        False,
        "no nvcc with a compiler for the host, to build a kernel for these targets",
    )


@pytest.mark.parametrize(
    ("pairs", "images", "outcome", "reason"),
    [
        ("compute_120,sm_120", [{"contains": "", "error": 209}], "confirmed", "CUDA_ERROR_NO_BINARY_FOR_GPU (209)"),
        ("compute_90,compute_90", [], "refuted", "a kernel built for these targets loads, and its 1 kernel can be had"),
        ("compute_120a,sm_121a", [], None, "nvcc built nothing to load: "),
        ("compute_90,sm_90;-ccbin=/bin/sh", [], None, "no pairs of targets: "),
    ],
)
def test_builds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nvcc: Tools,
    pairs: str,
    images: list[dict[str, Any]],
    outcome: str | None,
    reason: str,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, images=images, unnamed=["bwlint_probe"])
    host = Path(shutil.which("g++") or "g++")
    tools = (Toolkit(nvcc.programs / "ptxas", nvcc.programs / "nvcc", "13.0", "a test", host),)
    found = load.attempt(gpu_claims.subject("build", subject=pairs), gpu_claims.world(tmp_path, toolkits=tools))
    assert reason in found.reason
    assert (found.executed, found.outcome) == (outcome is not None, outcome)
