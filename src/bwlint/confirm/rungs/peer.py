"""peer: test the memory of a pair of GPUs. NVLink multicast is queried, never used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bwlint.chips.wording import listed
from bwlint.confirm import gpu, probes
from bwlint.confirm.gpu import ask_on
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Outcome
from bwlint.model.naming import counted

KINDS = frozenset({"peer"})
RUNG: Rung = "peer"

_TESTS: dict[str, Mapping[str, int]] = {
    "flag": {"words": 4096, "tries": 2_000_000},
    "counter": {"threads": 256, "times": 1000},
    "copy": {"bytes": 32 << 20, "repeat": 20},
}


def attempt(subject: Subject, world: Workbench) -> Attempt:
    if not world.devices:
        return not_eligible(RUNG, world.no_device)
    if len(world.devices) < 2:
        return not_eligible(RUNG, "a peer test needs two GPUs, and this machine has one")
    pair = [device for device in world.devices if device.capability in subject.claim.chips][:2]
    if len(pair) < 2:
        there = listed(list(dict.fromkeys(device.capability for device in world.devices)))
        about = listed(subject.claim.chips) if subject.claim.chips else "no chip"
        return not_eligible(RUNG, f"the devices are {there}, and the claim is about {about}")
    how = subject.claim.subject
    return world.once((RUNG, how, *(device.uuid for device in pair)), lambda: _tested(how, pair, world))


def _tested(subject: str, pair: list[Device], world: Workbench) -> Attempt:
    details: dict[str, Any] = {"devices": [device.name for device in pair], "driver": pair[0].driver}
    access = _ask("access", pair, world)
    details["access"] = access.answer
    seconds = access.ended.seconds
    if access.trouble or access.answer is None:
        return not_executed(RUNG, access.trouble, details, access.ended.output, seconds)
    if subject in _DECLARED:
        outcome, reason = _declared(subject, pair)
        return executed(RUNG, outcome, reason, details, "", seconds)
    if not all(access.answer["can"]):
        reason = "the driver gives these GPUs no access to each other's memory"
        return executed(RUNG, "confirmed", reason, details, "", seconds)
    seen: list[tuple[str, bool | None, str]] = []
    for name in _TESTS:
        for way in (pair, pair[::-1]):
            asked = _ask(name, way, world)
            seconds += asked.ended.seconds
            label = f"{name} {way[0].ordinal} to {way[1].ordinal}"
            details[label] = asked.answer if not asked.trouble else asked.trouble
            right, said = (None, asked.trouble) if asked.trouble else _right(name, asked.answer or {})
            seen.append((name, right, f"{label}: {said}"))
    outcome, reason = _judged(subject, seen, access.answer)
    return executed(RUNG, outcome, reason, details, "", seconds)


def _ask(test: str, pair: list[Device], world: Workbench) -> gpu.Answered:
    probe = probes.written("peer", probes.target_of(pair[0].capability), world)
    devices = [device.ordinal for device in pair]
    job = {"do": "peer", "test": test, "devices": devices, "image": str(probe.path), **_TESTS.get(test, {})}
    return ask_on(world, job)


_DECLARED = {
    "multicast": ("MULTICAST_SUPPORTED", "NVLink multicast"),
    "fabric": ("HANDLE_TYPE_FABRIC_SUPPORTED", "fabric handles"),
    "rdma": ("GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED", "GPUDirect RDMA for memory with handles"),
}
"""What the driver says of a device, by the subjects that are not put to use here."""


def _declared(subject: str, pair: list[Device]) -> tuple[Outcome, str]:
    attribute, words = _DECLARED[subject]
    values = [device.attributes.get(attribute) for device in pair]
    if None in values:
        return "inconclusive", f"the driver does not say whether these GPUs have {words}"
    if not all(values):
        return "confirmed", f"the driver says that not both GPUs have {words}"
    return "inconclusive", f"the driver says that these GPUs have {words}; bwlint does not use them"


def _right(test: str, answer: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether a test went well, and what it saw."""
    if test == "flag":
        if not answer["arrived"]:
            return False, "the flag never arrives"
        return not answer["wrong"], f"the flag arrives, {counted(answer['wrong'], 'word')} behind it wrong"
    if test == "counter":
        return answer["value"] == answer["expected"], f"{answer['value']} of {answer['expected']} additions"
    speed = f"{answer['gigabytes_per_second']:.1f} GB/s"
    return not answer["wrong"], f"{counted(answer['wrong'], 'word')} wrong, {speed}"


def _judged(subject: str, seen: list[tuple[str, bool | None, str]], access: Mapping[str, Any]) -> tuple[Outcome, str]:
    """The claim is about atomics or about stores; what else was seen is in the details."""
    atomics = "atomic" in subject
    wanted = [one for one in seen if (one[0] == "counter") == atomics]
    said = "; ".join(text for _, _, text in wanted)
    if atomics:
        native = [found.get("NATIVE_ATOMIC_SUPPORTED", 0) for found in access["attributes"]]
        if not all(native):
            return "confirmed", f"the driver says that the link does not support all native atomics; {said}"
    if any(right is False for _, right, _ in wanted):
        return "confirmed", said
    if all(right for _, right, _ in wanted):
        return "refuted", said
    return "inconclusive", said
