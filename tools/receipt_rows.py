"""Rows of the tables (src/bwlint/chips) that a receipt speaks about, and whether it says the same.

    python tools/receipt_rows.py [RECEIPT...]      default: all under benchmarks/receipts

Exit codes: 0 no row is contradicted, 1 one is. `tests/chips/test_receipts.py` runs it over all receipts.

    receipt                what it says                             rows
    any with a GPU         attributes of the device                 devices.toml: sizes, threads, blocks, clusters
                           its name, multiprocessors, memory        products.toml
                           the driver and the CUDA that it speaks   drivers.toml: first drivers of releases
    selftest.json          images that load or do not               load rules (chips/targets.py), drivers.toml (isa)
                           PTX, programs and gates of the cases     ptx.toml, devices.toml, sources.toml
    wheels.json            containers that load or do not           load rules
    trials.json            shared memory, clusters, blocks          devices.toml
    peer.json              access, atomics, copies of two GPUs      products.toml (peer), links.toml (GB/s)
    findings.json, ptxas-* statements that were taken or refused    ptx.toml
    files.json             only that the device is what it says
    cutlass-dsl-*          operations that were taken or refused    libraries.toml: those of CuTe DSL
    trace-*, triton-*      nothing: what a program ran, what Triton gave kernels

What a GPU has no word on (features.toml, words, flags, costs) is not compared, nor what a receipt left undecided.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint.binaries.shipments import NONE
from bwlint.binaries.verdicts import verdicts
from bwlint.chips import Chip, ChipSet, Target
from bwlint.chips.devices import chip as chip_of
from bwlint.chips.drivers import driver_for_chip, driver_for_cubin
from bwlint.chips.instructions import verdict as of_statement
from bwlint.chips.links import links
from bwlint.chips.operations import operation_in
from bwlint.chips.products import Product, named
from bwlint.chips.toolkits import version
from bwlint.confirm.selftest.case import (
    AssembledCubin,
    BuiltProgram,
    Fatbin,
    NotForChip,
    PickingGate,
    PtxText,
    SelftestCase,
    Words,
    all_cases,
    rendered,
)
from bwlint.confirm.selftest.statics import static
from bwlint.data import table
from bwlint.model.images import Container, Image

RECEIPTS = Path(__file__).parents[1] / "benchmarks" / "receipts"

_LIMITS = {
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": "smem_per_block_optin",
    "MAX_SHARED_MEMORY_PER_BLOCK": "smem_per_block_default",
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": "smem_per_sm",
    "RESERVED_SHARED_MEMORY_PER_BLOCK": "smem_reserved",
    "MAX_THREADS_PER_MULTIPROCESSOR": "max_threads_per_sm",
    "MAX_BLOCKS_PER_MULTIPROCESSOR": "max_blocks_per_sm",
}
_NEAR = 0.02
"""How far a data sheet may round a bandwidth."""
_OWN_PAIRS = frozenset({"@PLAIN@,sm_@PLAIN@", "@SPECIFIC@,sm_@SPECIFIC@"})


@dataclass(frozen=True, slots=True)
class Saying:
    """A receipt on a row: `table` is what the row says, `seen` what the receipt does."""

    row: str
    table: object
    seen: object

    @property
    def agrees(self) -> bool:
        return self.table == self.seen


def sayings(receipt: Any) -> Iterator[Saying]:
    """All that a receipt has a word on: nothing, if it is neither of `confirm` nor of a tool that tries a machine."""
    yield from _of_operations(receipt)
    if "machine" not in receipt:
        return
    for device in receipt["machine"]["devices"]:
        yield from _of_device(device)
        yield from _of_driver(receipt["machine"]["driver"], device)
    for read in _READERS:
        yield from read(receipt)


def _of_device(device: Any) -> Iterator[Saying]:
    known, has = chip_of(device["capability"]), device["attributes"]
    row = f"devices.toml {known}"
    for attribute, name in _LIMITS.items():
        if attribute in has and getattr(known, name) is not None:
            yield Saying(f"{row} {name}", getattr(known, name), has[attribute])
    if known.max_warps_per_sm is not None:
        threads = has["MAX_THREADS_PER_MULTIPROCESSOR"]
        yield Saying(f"{row} max_warps_per_sm", known.max_warps_per_sm, threads // has["WARP_SIZE"])
    if known.cluster_portable is not None:
        yield Saying(f"{row} cluster_portable", known.cluster_portable > 0, bool(has["CLUSTER_LAUNCH"]))
    product = _product(device)
    if product is not None:
        yield Saying(f"products.toml {product.name} chip", product.chip, device["capability"])
    if product is not None and product.multiprocessors:
        row = f"products.toml {product.name} multiprocessors"
        yield Saying(row, product.multiprocessors, has["MULTIPROCESSOR_COUNT"])
    if product is not None and product.memory_gb_per_s:
        # Bits a transfer, two transfers a clock, in kHz.
        seen = has["GLOBAL_MEMORY_BUS_WIDTH"] / 8 * 2 * has["MEMORY_CLOCK_RATE"] / 1e6
        near = abs(seen / product.memory_gb_per_s - 1) < _NEAR
        told = product.memory_gb_per_s
        yield Saying(f"products.toml {product.name} memory_gb_per_s", told, told if near else round(seen))


def _product(device: Any) -> Product | None:
    return named(device["name"].removeprefix("NVIDIA "), ChipSet.of(device["capability"]))


def _of_driver(driver: str, device: Any) -> Iterator[Saying]:
    """A driver that speaks a release is none older than its first, nor than what the tables say that its chip takes."""
    speaks, known = device["driver"], chip_of(device["capability"])
    for row in table("drivers")["release"]:
        if "driver" in row and version(row["cuda"]) <= version(speaks):
            yield Saying(f"drivers.toml {row['cuda']} driver", True, _numbers(row["driver"]) <= _numbers(driver))
    for name, first in (
        ("cubin", driver_for_cubin(_pair(speaks))),
        ("chip", driver_for_chip(known)),
    ):
        if first is not None:
            yield Saying(f"drivers.toml first driver for {name} of {speaks}", True, _numbers(first) <= _numbers(driver))


def _of_selftest(receipt: Any) -> Iterator[Saying]:
    """The cases put to the tables of today, against what the GPU did when it ran them."""
    if "bundle" not in receipt:
        return
    chip, driver = chip_of(receipt["bundle"]["chip"]), receipt["machine"]["devices"][receipt["device"]]["driver"]
    known = {case.name: case for case in all_cases()}
    with tempfile.TemporaryDirectory() as folder:
        for row in receipt["cases"]:
            case = known.get(row["name"])
            told = (
                None
                if case is None or row["hardware"] == "unknown"
                else _foretold(case, chip, driver, receipt, Path(folder))
            )
            if told is not None:
                yield Saying(f"self-test {row['name']} ({row['rule']})", told, row["hardware"])


def _foretold(case: SelftestCase, chip: Chip, driver: str, receipt: Any, folder: Path) -> str | None:
    """What is said of a case without a toolkit, by its text or what its images are for. None: that takes a build."""
    make = case.make
    if isinstance(make, PtxText | PickingGate) or (
        isinstance(make, BuiltProgram) and not make.others and not make.code and {*make.pairs} <= _OWN_PAIRS
    ):
        source = folder / case.template
        source.write_text(rendered(case, chip), encoding="utf-8")
        return static(case, chip, source, source, driver).verdict
    images = _images(case, chip)
    if images is None:
        return None
    if isinstance(make, BuiltProgram) and version(receipt["bundle"]["toolkit"]["version"]) > version(driver):
        images = [image for image in images if image.startswith("cubin")]  # nvcc's PTX is too new for the driver
    return "works" if _loads(images, chip.name) else "fails"


def _images(case: SelftestCase, chip: Chip) -> list[str] | None:
    """The images of a case that is about what loads: "cubin sm_80", "ptx sm_80"."""
    words, make = Words(chip, case.values), case.make
    if case.rule != "arch-target":
        return None
    try:
        if isinstance(make, AssembledCubin) and not make.label:
            return [f"cubin sm_{words.value('TARGET')}"]
        if isinstance(make, Fatbin):
            cubins, texts = (map(words.value, targets) for targets in (make.cubins, make.ptx))
            return [*(f"cubin sm_{target}" for target in cubins), *(f"ptx sm_{target}" for target in texts)]
    except NotForChip:
        return None
    if not isinstance(make, BuiltProgram) or make.others:
        return None
    codes = [words.filled(pair).partition(",")[2] for pair in make.pairs]
    return [f"ptx sm_{code[8:]}" if code.startswith("compute_") else f"cubin {code}" for code in codes]


def _of_wheels(receipt: Any) -> Iterator[Saying]:
    capability = receipt["machine"]["devices"][0]["capability"] if receipt["machine"]["devices"] else ""
    for row in receipt.get("containers", ()):
        told = _loads(row["images"].split(", "), capability)
        yield Saying(f"load rules, {row['images']} on {capability}", told, not row["error"])


def _loads(images: Sequence[str], chip: str) -> bool:
    made = []
    for image in images:
        kind, target = image.split(" ")
        number, suffix = re.fullmatch(r"sm_(\d+)([af]?)", target).groups()  # type: ignore[union-attr]
        made.append(Image(kind, int(number), suffix, 0, 0, 0))
    return verdicts(Container(0, tuple(made)))[chip].way != NONE


def _of_operations(receipt: Any) -> Iterator[Saying]:
    """What CuTe DSL takes for a target, of operations that a row is about; enumerations and functions that nobody
    compiled are not compared."""
    rows = [row for row in table("libraries")["need"] if row.get("library") == "nvidia-cutlass-dsl"]
    for name, one in receipt.get("operations", {}).items():
        asked = {Target.parse(target).chip.name: what for target, what in one.get("targets", {}).items()}
        legal = [set(row["chips"]) for row in rows if re.fullmatch(row["name"], name)]
        family = operation_in(name)
        legal += [{chip.name for chip in family.chips}] if family is not None else []
        taken = {chip for chip, what in asked.items() if what == "taken"}
        if taken and legal:
            yield Saying(f"libraries.toml, {name}", legal[0] & asked.keys(), taken)


_AMOUNTS = re.compile(r"(shared|unchecked|cluster|bounds) (\{.*\}|\(.*\))")


def _of_trials(receipt: Any) -> Iterator[Saying]:
    """What was granted and what was not, against the limits of the chip."""
    for row in receipt.get("tried", ()):
        asked = _AMOUNTS.match(row["what"])
        outcome = re.search(r"\b(confirmed|refuted)\b", f"{row['what']} {row['seen']}")
        if asked is None or outcome is None:
            continue
        chip = chip_of(receipt["machine"]["devices"][0]["capability"])
        limit, amount = _limit(chip, asked[1], ast.literal_eval(asked[2]))
        if limit is not None:
            yield Saying(f"devices.toml {chip}, {asked[0]}", amount > limit, outcome[1] == "confirmed")


def _limit(chip: Chip, kind: str, asked: Any) -> tuple[int | None, int]:
    """The limit that what was asked for has to keep, and how much it was."""
    if kind == "bounds":
        threads, blocks = asked
        if chip.max_threads_per_sm is None or chip.max_blocks_per_sm is None:
            return None, 0
        return min(chip.max_threads_per_sm // threads, chip.max_blocks_per_sm), blocks
    amount = 1
    for part in asked["amounts"]:
        amount *= part
    if kind == "cluster":
        return chip.cluster_portable, amount
    default = asked["subject"] == "default"
    return (chip.smem_per_block_default if default else chip.smem_per_block_optin), amount


def _of_peers(receipt: Any) -> Iterator[Saying]:
    devices = receipt["machine"]["devices"]
    product = _product(devices[0]) if len(devices) == 2 else None
    joined = {link.name: link for link in links()}
    for row in receipt.get("tried", ()):
        more = row["more"]
        if (
            product is None
            or not isinstance(more, dict)
            or not all(more.get("access", {}).get("can", ()))
            or "access" not in more
        ):
            continue
        attributes = more["access"]["attributes"]
        native = all(each["NATIVE_ATOMIC_SUPPORTED"] for each in attributes)
        yield Saying(f"products.toml {product.name} peer", product.peer == "nvlink", native)
        own = joined[product.links[0]]
        for key, copy in more.items():
            if key.startswith("copy "):
                held = copy["gigabytes_per_second"] <= own.gb_per_s
                yield Saying(
                    f"links.toml {own.name} gb_per_s",
                    own.gb_per_s,
                    own.gb_per_s if held else copy["gigabytes_per_second"],
                )


def _of_claims(receipt: Any) -> Iterator[Saying]:
    """Statements that ptxas took or refused for a target."""
    for row in receipt.get("receipts", ()):
        for tried in row["claims"]:
            statement = tried["claim"]["subject"]
            if tried["claim"]["kind"] != "instruction" or not of_statement(statement).forms:
                continue
            legal = of_statement(statement).legal
            for attempt in tried["attempts"]:
                for target, found in attempt["details"].get("targets", {}).items():
                    if found["outcome"] in ("confirmed", "refuted"):
                        takes = found["outcome"] == "refuted"
                        yield Saying(f"ptx.toml {statement} for {target}", Target.parse(target) in legal, takes)


_READERS: tuple[Callable[[Any], Iterator[Saying]], ...] = (
    _of_selftest,
    _of_wheels,
    _of_trials,
    _of_peers,
    _of_claims,
)


def documents(path: Path) -> list[Any]:
    """The receipts of a file: one, or those of a submission."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return [each["document"] for each in found["documents"]] if "documents" in found else [found]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _pair(text: str) -> tuple[int, int]:
    major, minor = _numbers(text)[:2]
    return major, minor


def main(arguments: Sequence[str]) -> int:
    contradicted = 0
    for path in map(Path, arguments) if arguments else sorted(RECEIPTS.rglob("*.json")):
        found = [saying for receipt in documents(path) for saying in sayings(receipt)]
        wrong = [saying for saying in found if not saying.agrees]
        contradicted += len(wrong)
        print(f"{path}: {len(found)} rows and cases, {len(wrong)} contradicted")
        for saying in wrong:
            print(f"  {saying.row}: the table says {saying.table}, the receipt {saying.seen}")
    return 1 if contradicted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
