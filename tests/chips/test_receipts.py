"""What GPUs and assemblers did, against the tables of today; tools/receipt_rows.py says which rows each is about."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import receipt_rows
from receipt_rows import RECEIPTS, Saying, documents, sayings

from bwlint.binaries import verdicts
from bwlint.chips import EVERY_TARGET, Target
from bwlint.chips.devices import chip
from bwlint.chips.instructions import verdict as of_statement

FILES = sorted(RECEIPTS.rglob("*.json"))


def found(name: str) -> list[Saying]:
    return [saying for receipt in documents(RECEIPTS / name) for saying in sayings(receipt)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_row_is_contradicted(path: Path) -> None:
    assert [saying for saying in found(str(path.relative_to(RECEIPTS))) if not saying.agrees] == []


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("h100-580.159.04/selftest.json", {"devices.toml": 8, "products.toml": 3, "drivers.toml": 9, "self-test": 200}),
        ("h100-580.159.04/wheels.json", {"load": 41}),
        ("h100-580.159.04/trials.json", {"devices.toml": 40}),
        ("h100-580.159.04/findings.json", {"ptx.toml": 1}),
        ("h200-x2-580.159.04/peer.json", {"products.toml": 7, "links.toml": 2}),
        ("ptxas-13.5.37/flashinfer-kda-fused-m64.json", {"ptx.toml": 3}),
        ("cutlass-dsl-4.8.1/operations.json", {"libraries.toml": 30}),
    ],
)
def test_each_kind_of_receipt_has_a_word_on_its_rows(name: str, about: dict[str, int]) -> None:
    """A receipt that is not understood contradicts nothing either."""
    counts = Counter(saying.row.split(" ")[0].rstrip(",") for saying in found(name))
    assert {room: counts[room] >= least for room, least in about.items()} == dict.fromkeys(about, True), counts


def changed(document: Any, **values: int) -> Any:
    for device in document["machine"]["devices"]:
        device["attributes"].update(values)
    return document


def contradicted(receipt: Any) -> set[str]:
    return {saying.row for saying in sayings(receipt) if not saying.agrees}


def receipt(name: str) -> Any:
    return json.loads((RECEIPTS / name).read_text())


@pytest.fixture
def another_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    """9.0 with a byte more of shared memory, as somebody may mistype it."""
    wrong = replace(chip("9.0"), smem_per_block_optin=232449)
    monkeypatch.setattr(receipt_rows, "chip_of", lambda name: wrong if name == "9.0" else chip(name))


@pytest.mark.usefixtures("another_chip")
def test_a_wrong_limit_is_contradicted_by_attribute_and_by_trial() -> None:
    rows = contradicted(receipt("h100-580.159.04/trials.json"))
    assert "devices.toml 9.0 smem_per_block_optin" in rows
    assert any("232449" in row and row.startswith("devices.toml 9.0, shared") for row in rows), rows


def test_a_wrong_load_rule_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cubins with the suffix f taken for later generations."""
    right = Target.loads_on
    caches = (verdicts.runs, verdicts._verdicts)
    monkeypatch.setattr(Target, "loads_on", lambda target: right(Target(90)) if target.suffix == "f" else right(target))
    for cache in caches:
        cache.cache_clear()
    try:
        assert any("sm_100f" in row for row in contradicted(receipt("h100-580.159.04/wheels.json")))
    finally:
        monkeypatch.undo()
        for cache in caches:
            cache.cache_clear()


def test_a_wrong_instruction_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipt_rows, "of_statement", lambda text: replace(of_statement(text), legal=EVERY_TARGET))
    rows = contradicted(receipt("ptxas-13.5.37/flashinfer-kda-fused-m64.json"))
    assert any(row.startswith("ptx.toml tcgen05") and row.endswith("for sm_120a") for row in rows), rows


@pytest.mark.parametrize(
    ("attribute", "row"),
    [
        ("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", "devices.toml 9.0 smem_per_sm"),
        ("MAX_BLOCKS_PER_MULTIPROCESSOR", "devices.toml 9.0 max_blocks_per_sm"),
        ("CLUSTER_LAUNCH", "devices.toml 9.0 cluster_portable"),
        ("MULTIPROCESSOR_COUNT", "products.toml H200 multiprocessors"),
        ("GLOBAL_MEMORY_BUS_WIDTH", "products.toml H200 memory_gb_per_s"),
    ],
)
def test_each_attribute_is_compared(attribute: str, row: str) -> None:
    assert row in contradicted(changed(receipt("h200-x2-580.159.04/peer.json"), **{attribute: 0}))


def test_a_driver_and_a_case_that_say_otherwise() -> None:
    other = receipt("h100-580.159.04/selftest.json")
    other["machine"]["driver"] = "570.10"
    case = next(case for case in other["cases"] if case["name"] == "static-56000-plain")
    case["hardware"] = "fails"
    assert {"drivers.toml 13.0 driver", "self-test static-56000-plain (smem)"} <= contradicted(other)


def test_the_program_says_which_row_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps(changed(receipt("h100-580.159.04/wheels.json"), MULTIPROCESSOR_COUNT=114)))
    assert receipt_rows.main([str(path)]) == 1
    assert "products.toml H100 multiprocessors: the table says 132, the receipt 114" in capsys.readouterr().out
    assert receipt_rows.main([str(RECEIPTS / "h100-580.159.04" / "wheels.json")]) == 0
