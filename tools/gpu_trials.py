"""Try the GPU of this machine with the probes of `bwlint confirm`: what each leaves behind, as JSON.

    PYTHONPATH=src:tests python tools/gpu_trials.py OUT.json [--limit SECONDS] [--only WORD]

What is expected is said beside what was seen, so that a difference is found: sizes and shapes at the limits and beyond
them, bulk loads, faults, kernels that never end or print without end, and, with two GPUs, their memories.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import small_binaries

from bwlint.confirm import gpu, probes
from bwlint.confirm.machine import described
from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs import bench, check, configure, launch, load, peer
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import WHOLE_FILE, Claim, ClaimKind, Finding
from bwlint.report.write import plain

HOSTILE = Path(__file__).parents[1] / "tests" / "confirm" / "hostile"
_PRINTED = 100_000_000
_LATER = 120
"""The number of a chip that a device of today is not, unless it is one."""
_A_LAUNCH = 1000 * 100 * 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--only", default="", help="probes, files, hostile, bench or peer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        devices, why = gpu.devices(folder=Path(name))
        world = Workbench(Path(name), devices=devices, no_device=why, limit=given.limit, bench=True, may_launch=True)
        groups = [group for word, group in _GROUPS.items() if given.only in ("", word)]
        tried = [row for device in devices[:1] for group in groups for row in group(world, device)]
    unlike = [row for row in tried if not row["as_expected"]]
    machine = plain(described([], devices, why, (), gpu.kernel_module()))
    given.out.write_text(json.dumps({"version": 1, "machine": machine, "tried": tried}, indent=1, default=str))
    for row in tried:
        print("ok  " if row["as_expected"] else "ELSE", row["what"], "->", row["seen"], f"({row['seconds']:.1f} s)")
    print(why or f"{len(tried)} tried, {len(unlike)} not as expected")
    return 1 if unlike or why else 0


def _row(what: str, expected: Any, seen: Any, seconds: float, more: Any = None) -> dict[str, Any]:
    fits = expected is None or (expected(seen) if callable(expected) else seen == expected)
    wanted = "see the name" if callable(expected) else expected
    return {"what": what, "expected": wanted, "seen": seen, "as_expected": fits, "seconds": seconds, "more": more}


def _probes(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    most = device.attributes["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
    sizes = ((1024, "refuted"), (49152, "refuted"), (49153, "refuted"), (most, "refuted"), (most + 1, "confirmed"))
    for size, outcome in (*sizes, (2 * most, "confirmed")):
        for kind in ("shared", "unchecked"):
            yield _claim(world, device, kind, outcome, subject="dynamic", amounts=(size,))
    for size, outcome in ((49152, "refuted"), (49153, "refuted"), (most, "refuted"), (most + 1, "confirmed")):
        yield _claim(world, device, "shared", outcome, subject="static", amounts=(size,))
    for size, outcome in ((49152, "refuted"), (49153, "confirmed")):
        yield _claim(world, device, "shared", outcome, subject="default", amounts=(size,))
    for shape, outcome in (((1,), "refuted"), ((2,), "refuted"), ((2, 2, 2), "refuted"), ((8,), "refuted")):
        yield _claim(world, device, "cluster", outcome, amounts=shape)
    for shape in ((9,), (16,), (17,), (4, 4, 1)):
        yield _claim(world, device, "cluster", "confirmed", amounts=shape)
    for bounds in ((1024, 2), (1024, 3), (512, 4), (512, 5), (32, 32), (32, 33)):
        yield _bounds(world, device, bounds)
    yield from _bulk(world, device)


def _benches(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    for subject in ("cp.async.bulk.shared::cluster", "cp.async.bulk.multicast::cluster"):
        found = bench.attempt(_subject("slow", device, subject=subject), world)
        yield _row(f"bench {subject}", None, found.reason, found.seconds, found.details)


def _peers(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    if len(world.devices) < 2:
        return
    for subject in ("peer-store", "remote-atomic", "multicast", "fabric", "rdma"):
        found = peer.attempt(_subject("peer", device, subject=subject), world)
        yield _row(f"peer {subject}", None, f"{found.outcome}: {found.reason}", found.seconds, found.details)


def _files(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    """Containers of our own in a library: what the load and launch rungs say of them."""
    number = int(device.capability.replace(".", ""))
    fine = small_binaries.ptx(number, kernels=("k", "l"))
    later = small_binaries.ptx(_LATER, kernels=("k",))
    harm = {name: (HOSTILE / f"{name}.ptx").read_bytes() for name in ("forever", "fault")}
    wide = fine.replace(b"k()\n", b"k()\n.reqnctapercluster 16\n", 1)
    tries: tuple[tuple[str, ModuleType, ClaimKind, bytes, str, str | None], ...] = (
        ("two kernels", load, "image", fine, "", "refuted"),
        ("one of two kernels", load, "image", fine, "l", "refuted"),
        ("a later chip", load, "image", later, "", "confirmed"),
        ("two kernels", launch, "image", fine, "", "refuted"),
        ("a later chip", launch, "image", later, "", None),
        ("a kernel that faults", launch, "image", harm["fault"], "", "refuted"),
        ("a kernel that never ends", launch, "image", harm["forever"], "", "inconclusive"),
        ("a cluster of 16", configure, "cluster", wide, "k", "confirmed"),
        ("a cluster of 16", launch, "cluster", wide, "k", "confirmed"),
    )
    for what, rung, kind, text, subject, outcome in tries:
        path = world.scratch / "lib.so"
        path.write_bytes(small_binaries.shared_object(small_binaries.container(small_binaries.entry(text, number))))
        amounts = (16, 1, 1) if kind == "cluster" else ()
        if text == later and number >= _LATER:
            continue
        claim = _subject(kind, device, real=str(path), subject=subject, amounts=amounts)
        found: Attempt = rung.attempt(claim, world)
        row = _row(f"{found.rung} {what}: {outcome}", outcome, found.outcome, found.seconds, asdict(found))
        yield {**row, "seen": f"{found.outcome}: {found.reason}"}


def _subject(kind: ClaimKind, device: Device, *, real: str = "", **claim: Any) -> Subject:
    made = Claim(kind, "a trial", **{"chips": (device.capability,), **claim})
    return Subject(
        Finding(
            rule="",
            name="",
            category="other",
            severity="error",
            confidence="high",
            path=real,
            region=WHOLE_FILE,
            message="",
        ),
        made,
        real,
        "",
    )


def _claim(world: Workbench, device: Device, kind: ClaimKind, outcome: str, **claim: Any) -> dict[str, Any]:
    """Both rungs; the second is left out where the first shows that there is nothing to run."""
    attempts: list[Attempt] = [rung.attempt(_subject(kind, device, **claim), world) for rung in (configure, check)]
    seen = [attempt.outcome for attempt in attempts]
    more = [asdict(attempt) for attempt in attempts]
    said = {key: value for key, value in claim.items() if value}
    reasons = " | ".join(attempt.reason for attempt in attempts)
    fits = all(each in (outcome, None) for each in seen) and outcome in seen
    seconds = sum(attempt.seconds for attempt in attempts)
    return {**_row(f"{kind} {said}: {outcome}", None, reasons, seconds, more), "as_expected": fits, "expected": outcome}


def _bounds(world: Workbench, device: Device, bounds: tuple[int, int]) -> dict[str, Any]:
    found = configure.attempt(_subject("bounds", device, amounts=bounds), world)
    threads, blocks = bounds
    fits = (
        threads * blocks <= device.attributes["MAX_THREADS_PER_MULTIPROCESSOR"]
        and blocks <= device.attributes["MAX_BLOCKS_PER_MULTIPROCESSOR"]
    )
    row = _row(f"bounds {bounds}", "refuted" if fits else "confirmed", found.outcome, found.seconds, found.details)
    return {**row, "seen": f"{found.outcome}: {found.reason}"}


def _bulk_steps(kernel: str, size: int, cluster: int) -> list[dict[str, Any]]:
    """Load `bulk`, launch one cluster of one of its kernels on `size` bytes, wait, read."""
    flat = [cluster, 1, 1]
    results = {"buffer": cluster * probes.WORDS * 4, "fill": probes.UNTOUCHED}
    given: list[dict[str, Any]] = [results, {"buffer": size, "ramp": probes.FACTOR}, {"u32": size}]
    launch = {"do": "launch", "kernel": kernel, "grid": flat, "block": [256, 1, 1], "shared": size}
    return [
        {"do": "load"},
        {"do": "attribute", "kernel": kernel, "set": configure.DYNAMIC, "value": size},
        {**launch, "cluster": flat, "arguments": given},
        {"do": "sync"},
        {"do": "read", "buffer": 0, "equal": probes.UNTOUCHED},
    ]


def _bulk(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    probe = probes.written("bulk", probes.target_of(device.capability), world)
    kernels = ("bulk_load", "bulk_multicast", "fallback_load", "mbarrier_wait")
    for kernel in kernels:
        for size, cluster in ((16, 1), (32768, 1), (32768, 2), (65536, 4), (200000, 2), (4096, 8)):
            job = {"do": "image", "device": device.ordinal, "image": str(probe.path)}
            asked = gpu.ask(
                {**job, "steps": _bulk_steps(kernel, size, cluster)}, folder=world.scratch, limit=world.limit
            )
            ran = check.judged(asked.steps[2:], blocks=cluster)
            what = f"{kernel} {size} bytes, cluster {cluster}: ran right"
            row = _row(what, check.RIGHT, ran.word, asked.ended.seconds, [asked.trouble, asked.steps])
            yield {**row, "seen": f"{ran.word} {ran.said} {asked.trouble}".strip()}


def _hostile(world: Workbench, device: Device) -> Iterator[dict[str, Any]]:
    launch = {"do": "launch", "arguments": [{"buffer": 64, "fill": 0}]}
    again = [
        step for _ in range(_PRINTED // _A_LAUNCH + 1) for step in ({**launch, "block": [8, 1, 1]}, {"do": "sync"})
    ]
    once = [launch, {"do": "sync"}]
    trials = (
        ("forever", once, f"not done after {world.limit:g} s"),
        ("fault", once, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        ("trap", once, "CUDA_ERROR_LAUNCH_FAILED (719)"),
        ("print", again, "it wrote more than 64 MiB"),
    )
    for name, steps, wanted in trials:
        start = time.monotonic()
        job = {
            "do": "image",
            "device": device.ordinal,
            "image": str(HOSTILE / f"{name}.ptx"),
            "steps": [{"do": "load"}, *steps],
        }
        asked = gpu.ask(job, folder=world.scratch, limit=world.limit)
        said = asked.trouble or "; ".join(filter(None, map(gpu.failure, asked.steps))) or "no error"
        row = _row(
            f"hostile {name}: {wanted}", lambda seen, wanted=wanted: wanted in seen, said, time.monotonic() - start
        )
        yield {**row, "more": [asked.steps[-3:], asked.ended.written]}
    # The device is as it was.
    yield _claim(world, device, "cluster", "refuted", amounts=(2,))


_GROUPS: dict[str, Callable[[Workbench, Device], Iterator[dict[str, Any]]]] = {
    "probes": _probes,
    "files": _files,
    "hostile": _hostile,
    "bench": _benches,
    "peer": _peers,
}


if __name__ == "__main__":
    sys.exit(main())
