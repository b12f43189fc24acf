"""What a reader of a report would stumble over: files that nobody could read, names of static libraries, noise."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner
from libraries import library
from small_binaries import container, cubin, elf, entry, shared_object, static_library, wheel

from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import Shipment
from bwlint.chips import ChipSet
from bwlint.chips.wording import listed
from bwlint.cli import app
from bwlint.inspection import InspectionRequest, examine, inspect
from bwlint.inspection.answers import answer
from bwlint.inspection.origins import Origin
from bwlint.model.findings import Skipped
from bwlint.rules.arch_target import binary

CONSUMER = ChipSet.of("12.0", "12.1")
HOPPER = shared_object(container(entry(cubin(90), 90)))
BROKEN = HOPPER[:200]
READY = container(entry(cubin(120), 120))
_TORN = container(entry(cubin(120)[:300], 120))
GOOD, DAMAGED, DAMAGED_ALONE = shared_object(READY), shared_object(_TORN, READY), shared_object(_TORN)


def told(*libraries: str, unread: Iterable[str] = (), others: int = 0) -> str:
    skipped = tuple(Skipped(f"w/{reason}.so", reason) for reason in unread)
    made = tuple(library("w/a.so", units) for units in libraries)
    return answer(Shipment("w", made, others=others, unread=skipped), CONSUMER)


@pytest.mark.parametrize(
    ("unread", "others", "expected"),
    [
        ((), 0, "no device code"),
        ((), 3, "no device code"),
        (("cut off",), 0, "cannot be read: cut off"),
        (("cut off",), 3, "no device code found, and 1 file could not be read"),
        (("cut off", "a loop"), 0, "no device code found, and 2 files could not be read"),
    ],
)
def test_nobody_knows_what_an_unread_file_holds(unread: tuple[str, ...], others: int, expected: str) -> None:
    assert told(unread=unread, others=others) == expected


def test_a_library_beside_an_unread_file_is_judged() -> None:
    assert told("sm_120f", unread=["cut off"]) == "runs on 12.0 and 12.1"


def test_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "a.so"
    path.write_bytes(BROKEN)
    (shipment,) = inspect(InspectionRequest((str(path),))).inspection.shipments
    assert [one.path for one in shipment.unread] == [str(path)]
    done = CliRunner().invoke(app, ["inspect", str(path)])
    assert "a.so: cannot be read: " in done.stdout
    assert "no device code" not in done.stdout


@pytest.mark.parametrize(
    ("files", "code", "first"),
    [
        ({"a.so": BROKEN}, 3, "a.so: cannot be read: "),
        ({"a.so": b""}, 3, "a.so: cannot be read: an empty file"),
        ({"a.fatbin": READY[:-100]}, 3, "a.fatbin: cannot be read: not read to its end: container at offset 0"),
        # One that is read does not make up for it.
        ({"a.so": GOOD, "b.so": b""}, 3, "a.so: runs on 12.0"),
        # The image that a chip takes is damaged, and the container behind it is not.
        ({"a.so": DAMAGED}, 0, "a.so: cannot be read whole (sm_120 at offset "),
        ({"a.so": DAMAGED_ALONE}, 1, "a.so: does not run on 12.0: its sm_120 image is damaged: "),
        ({"a.so": GOOD}, 0, "a.so: runs on 12.0"),
        ({"a.so": elf([])}, 0, "a.so: no device code"),
    ],
)
def test_what_is_damaged_is_said_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], code: int, first: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in files.items():
        Path(name).write_bytes(data)
    done = CliRunner().invoke(app, ["inspect", *files])
    assert (done.exit_code, done.stdout.startswith(first)) == (code, True), done.stdout


def test_a_broken_file_beside_others(tmp_path: Path) -> None:
    path = tmp_path / "x-1.0-py3-none-any.whl"
    path.write_bytes(wheel({"a.so": HOPPER, "b.so": BROKEN}))
    done = CliRunner().invoke(app, ["inspect", str(path)])
    assert "\nnot read: b.so: " in done.stdout


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        # What is for exact targets of others is not meant for the chip.
        (["sm_120f", "sm_90a sm_100f: allreduce"], "runs on 12.0 and 12.1"),
        (["sm_120f", "sm_100f sm_110f: pack"], "runs on 12.0 and 12.1"),
        # Of its own family it is.
        (["sm_120f", "sm_90a sm_120a: gemm"], "runs on 12.0; runs on 12.1, but the operation gemm has no kernel"),
        (["sm_120f", "sm_80 sm_90: gemm"], "runs on 12.0 and 12.1, but the operation gemm has no kernel"),
    ],
)
def test_operations_in_the_answer(units: list[str], expected: str) -> None:
    made = (library("w/a.so", *units, machine="aarch64"),)
    assert answer(Shipment("w", made, operations=operations(made, CONSUMER)), CONSUMER) == expected


@pytest.mark.parametrize("members", [["a.o"], ["a.o", "b.o"]])
def test_a_static_library_is_one_row(tmp_path: Path, members: list[str]) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(static_library(dict.fromkeys(members, HOPPER)))
    shipment, _ = examine(Origin("lib.a", (("lib.a", str(path)),)), CONSUMER, tmp_path)
    assert [one.path for one in shipment.libraries] == ["lib.a"]
    assert [unit.path for unit in shipment.libraries[0].units] == [f"lib.a/{name}" for name in members]


def test_a_file_called_like_a_static_library(tmp_path: Path) -> None:
    path = tmp_path / "lib.a"
    path.write_bytes(HOPPER)
    shipment, _ = examine(Origin("lib.a", (("lib.a", str(path)),)), CONSUMER, tmp_path)
    (found,) = shipment.libraries
    assert found.binary.containers
    assert found.units[0].path == ""


def test_files_of_a_folder_are_counted(tmp_path: Path) -> None:
    pairs = []
    for number in range(13):
        path = tmp_path / f"k{number}.cubin"
        path.write_bytes(cubin(90))
        pairs.append((f"kernels/{path.name}", str(path)))
    shipment, _ = examine(Origin("kernels", tuple(pairs)), CONSUMER, tmp_path)
    (flaw,) = binary.check_binary(shipment, CONSUMER)
    assert len(shipment.libraries) == 1
    assert "13 containers of device code in 13 files" in flaw.message


def test_a_platform_takes_a_package(tmp_path: Path) -> None:
    path = tmp_path / "a.so"
    path.write_bytes(HOPPER)
    done = CliRunner().invoke(app, ["inspect", str(path), "--platform", "win_amd64"])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a" * 64], "a" * 64),
        (["a" * 65, "b"], "a" * 61 + "... and b"),
    ],
)
def test_long_names_are_cut(names: list[str], expected: str) -> None:
    assert listed(names) == expected
