"""Bundles: built without a GPU, the same each time, refused where they are not as they say; and runs of them."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
import toolkit as toolkits
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

import bwlint.report
from bwlint.chips.devices import chip
from bwlint.confirm import gpu, machine
from bwlint.confirm.child import Ended
from bwlint.confirm.selftest import bundle
from bwlint.confirm.selftest.case import SelftestCase, all_cases
from bwlint.confirm.selftest.run import NoDevice, run
from bwlint.confirm.workbench import Device, Toolkit, Workbench
from bwlint.report.receipts import selftest_as_json

CASES = {case.name: case for case in all_cases()}
FEW = ("ptx-for-80", "ptx-for-120", "cubin-for-90", "cubin-for-100f", "fatbin-80-and-ptx-80", "relabelled-from-80")
FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, RECEIPTS = (
    json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("selftest", "receipts")
)
REGISTRY: Registry[Any] = Registry().with_resource(RECEIPTS["$id"], Resource.from_contents(RECEIPTS))
H100 = Device(0, "H100", "GPU-0", "9.0", "13.0")


def few(*names: str) -> list[SelftestCase]:
    return [CASES[name] for name in names or FEW]


def usable(found: toolkits.Toolkit) -> Toolkit:
    return Toolkit(found.programs / "ptxas", found.programs / "nvcc", "13", "PyPI")


@pytest.fixture(scope="module")
def built(toolkit: toolkits.Toolkit, tmp_path_factory: pytest.TempPathFactory) -> bundle.Opened:
    return bundle.build(chip("9.0"), usable(toolkit), tmp_path_factory.mktemp("built") / "one", cases=few())


def packed(opened: bundle.Opened, folder: Path) -> Path:
    path = folder / "bundle.zip"
    bundle.pack(opened, path)
    return path


def test_the_same_bytes_each_time(built: bundle.Opened, toolkit: toolkits.Toolkit, tmp_path: Path) -> None:
    again = bundle.build(chip("9.0"), usable(toolkit), tmp_path / "again", cases=few())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert packed(built, tmp_path / "a").read_bytes() == packed(again, tmp_path / "b").read_bytes()


def test_a_program_is_the_same_each_time_too(nvcc: toolkits.Toolkit, tmp_path: Path) -> None:
    one, other = (
        bundle.build(chip("9.0"), usable(nvcc), tmp_path / name, cases=few("dynamic-optin")) for name in ("a", "b")
    )
    made = one.place("dynamic-optin") / one.made["dynamic-optin"].file
    assert made.read_bytes() == (other.place("dynamic-optin") / made.name).read_bytes()


def test_unpacked_it_is_what_was_built(built: bundle.Opened, tmp_path: Path) -> None:
    found = bundle.unpack(packed(built, tmp_path), tmp_path / "there")
    assert (found.chip, found.made, found.left_out) == ("9.0", built.made, {})
    assert all((found.place(name) / made.file).is_file() for name, made in found.made.items())


def test_what_cannot_be_built_is_left_out_with_the_reason(toolkit: toolkits.Toolkit, tmp_path: Path) -> None:
    cases = few("ptx-for-80", "mma-bf16-family", "dynamic-optin")
    without = Toolkit(usable(toolkit).ptxas, None, "13", "PyPI")
    found = bundle.build(chip("9.0"), without, tmp_path / "one", cases=cases)
    assert found.left_out == {"mma-bf16-family": "sm_90 has no suffix 'f'", "dynamic-optin": "there is no nvcc"}
    assert list(found.made) == ["ptx-for-80"]


def changed(path: Path, edit: Any) -> None:
    """Write a bundle anew with its files as `edit` leaves them."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    edit(files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def manifest(**fields: Any) -> Any:
    def edit(files: dict[str, bytes]) -> None:
        files["manifest.json"] = json.dumps({**json.loads(files["manifest.json"]), **fields}).encode()

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda files: files.update({"cases/ptx-for-80/plain.ptx": b"other"}), "not as its manifest says"),
        (lambda files: files.pop("cases/ptx-for-80/plain.ptx"), "not as its manifest says"),
        (lambda files: files.update({"cases/ptx-for-80/more.ptx": b""}), "not as its manifest says"),
        (lambda files: files.pop("manifest.json"), "cannot be read"),
        (lambda files: files.update({"manifest.json": b"[]"}), "cannot be read"),
        (manifest(bundle=2), "version 2"),
        (manifest(cases={"unheard-of": {"source": "a.ptx", "file": "a.ptx"}}), "does not know"),
        (manifest(cases={"ptx-for-80": {"source": "a.ptx", "file": "../../bin/sh"}}), "elsewhere"),
        (manifest(cases={"ptx-for-80": {"source": "..", "file": ""}}), "elsewhere"),
        (manifest(cases={"ptx-for-80": {"source": 1, "file": "plain.ptx"}}), "text is expected"),
        (manifest(chip=["9.0"]), "text is expected"),
        (manifest(toolkit="13"), "text is expected"),
        (manifest(left_out={"x": 5}), "text is expected"),
        (lambda files: files.update({"manifest.json": b"[" * 100_000}), "cannot be read"),
    ],
)
def test_a_bundle_that_is_not_as_it_says(built: bundle.Opened, tmp_path: Path, edit: Any, words: str) -> None:
    path = packed(built, tmp_path)
    changed(path, edit)
    with pytest.raises(bundle.BadBundle, match=words):
        bundle.unpack(path, tmp_path / "there")


def test_no_zip(tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(b"PK nothing")
    with pytest.raises(bundle.BadBundle):
        bundle.unpack(tmp_path / "bundle.zip", tmp_path / "there")


@pytest.mark.parametrize("at", range(0, 400, 23))
def test_a_damaged_zip(at: int, built: bundle.Opened, tmp_path: Path) -> None:
    path = packed(built, tmp_path)
    data = bytearray(path.read_bytes())
    data[at : at + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(bundle.BadBundle):
        bundle.unpack(path, tmp_path / "there")


@pytest.mark.parametrize(
    ("bound", "most", "words"), [("MOST_BYTES", 1 << 20, "more than 1 MiB"), ("_MOST_FILES", 3, "more than 3 files")]
)
def test_a_zip_that_unpacks_to_too_much(
    bound: str, most: int, words: str, built: bundle.Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(built, tmp_path)
    changed(path, lambda files: files.update({"bomb": bytes(2 << 20)}))
    monkeypatch.setattr(bundle, bound, most)
    with pytest.raises(bundle.BadBundle, match=words):
        bundle.unpack(path, tmp_path / "there")


def test_a_pipe_is_no_bundle(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bundle.zip")
    with pytest.raises(bundle.BadBundle, match="no plain file"):
        bundle.unpack(tmp_path / "bundle.zip", tmp_path / "there")


def world(folder: Path, *devices: Device) -> Workbench:
    return Workbench(folder, devices=devices, no_device="no libcuda.so.1")


def test_no_device_of_that_chip(built: bundle.Opened, tmp_path: Path) -> None:
    with pytest.raises(NoDevice, match=r"9\.0: no libcuda\.so\.1"):
        run(built, world(tmp_path))
    other = Device(0, "RTX 5090", "GPU-1", "12.0", "13.0")
    with pytest.raises(NoDevice, match=r"RTX 5090 \(12\.0\)"):
        run(built, world(tmp_path, other))


def answers(job: dict[str, Any], *, folder: Path, limit: float) -> gpu.Answered:
    """An H100 that takes whatever it is given, but cubins of sm_100f."""
    ended = Ended(0, "", 0, b"", "", 0.1)
    if "cubin-for-100f" in job["image"]:
        steps: list[dict[str, Any]] = [{"error": 209, "name": "CUDA_ERROR_NO_BINARY_FOR_GPU", "call": "cuModuleLoad"}]
    elif "ptx-for-120" in job["image"]:
        return gpu.Answered(None, Ended(None, "", 0, b"", "not done after 30 s", 30.0))
    else:
        done = {"error": 0, "name": "CUDA_SUCCESS"}
        steps = [done, done, done, {**done, "words": [1], "of": 128, "equal": 128}]
    return gpu.Answered({"steps": steps}, ended)


def test_a_run_compares_what_bwlint_says_with_the_device(
    built: bundle.Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "ask", answers)
    test = run(built, world(tmp_path, H100))
    agrees = {result.name: result.agrees for result in test.results}
    assert agrees == {
        "ptx-for-80": True,
        "ptx-for-120": None,
        "cubin-for-90": True,
        "cubin-for-100f": True,
        "fatbin-80-and-ptx-80": True,
        "relabelled-from-80": False,
    }
    assert not test.all_agree
    monkeypatch.setattr(machine, "_TOOLS", ())
    found = json.loads(selftest_as_json(test, machine.described([], (H100,), "", ())))
    assert not list(Draft202012Validator(SCHEMA, registry=REGISTRY).iter_errors(found))
    assert found["counts"] == {"cases": 6, "agreed": 4, "refuted": 1, "undecided": 1, "hazards": 1}
    rows = {row["name"]: row for row in found["cases"]}
    assert rows["ptx-for-120"]["attempt"]["executed"] is False
    assert rows["ptx-for-120"]["attempt"]["outcome"] is None
    assert rows["relabelled-from-80"]["attempt"]["outcome"] == "refuted"


def test_nothing_run_is_no_agreement(built: bundle.Opened, tmp_path: Path) -> None:
    assert not run(built, world(tmp_path, H100), only="no such case").all_agree
