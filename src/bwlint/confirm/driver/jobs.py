"""Jobs for one GPU: one on stdin, its answer on the file descriptor that `BWLINT_ANSWER` names.

    {"do": "devices"}
        -> {"driver": "13.0", "devices": [{"ordinal", "name", "uuid", "capability", "attributes": {NAME: number}}]}
    {"do": "image", "device": 0, "image": PATH | {"image": PATH, "offset": N, "size": N}, "steps": [STEP, ...],
     "seconds": N}
        -> {"steps": [ANSWER, ...]}

Instead of either, {"missing": TEXT} where there is no driver, {"error", "name", "call"} where the driver refuses as a
whole. After an error that a context does not get over, and when `seconds` (if given) have passed, no further step is
done, and there is no answer to it.

Each step is {"do": NAME, ...} and its answer {"error": 0, "name": "CUDA_SUCCESS", ...}; a refused one also has "call",
the function of the driver that refused. What takes something that an earlier step failed to make is
{"skipped": WHY}. KERNEL is a kernel's name; None stands for the only kernel of the image.

    load image                                      log: the JIT's, cut; without an image, that of the job
    link inputs=[{"image", "offset", "size"}]        log; the fatbins are linked, and the result is loaded
    functions                                       count, names; each is looked up by its name
    function kernel                                 attributes
    attribute kernel, set=NAME, value=N             (NAME as in CU_FUNC_ATTRIBUTE_NAME)
    occupancy kernel, threads, shared               blocks: how many fit on a multiprocessor
    clusters kernel, block, shared, cluster, grid   largest: the largest size in blocks; active: how many of `cluster`
    launch kernel, grid, block, shared, cluster, arguments
                                                    buffers: the numbers of those that were made
    bench (as launch), repeat=N                     milliseconds, for N launches
    sync
    read buffer=NUMBER, words=N, equal=U32          words; of: how many words the buffer has; equal: how many of them

An argument is {"buffer": BYTES, "fill": U32}, {"buffer": BYTES, "ramp": U32} (word i is i times that),
{"u32": N} or {"zeros": BYTES}; instead of all of them "zeros" has zeros for what the kernel takes, and
{"guess": N} buffers of zeros for what is as long as a pointer, N for shorter ones, zeros for longer. `block`, `grid`
and `cluster` are [x, y, z]; "block": "most" is as many threads as the kernel takes, "cluster": "required" the
shape that it is compiled for, with one cluster as the grid. Buffers are numbered from 0 as they are made.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from bwlint.confirm.driver.session import (
    OF_KERNELS,
    STICKY,
    Driver,
    Missing,
    Refused,
    Session,
    StepSkipped,
    addresses,
    link,
    load,
    opened,
)


def devices(driver: Driver, _: dict[str, Any]) -> dict[str, Any]:
    version = int(driver("cuDriverGetVersion"))
    count = int(driver("cuDeviceGetCount"))
    found = [_device(driver, ordinal) for ordinal in range(count)]
    return {"driver": f"{version // 1000}.{version % 1000 // 10}", "devices": found}


def _device(driver: Driver, ordinal: int) -> dict[str, Any]:
    device = driver("cuDeviceGet", ordinal)
    attributes = _attributes(driver, device)
    name = bytes(driver("cuDeviceGetName", 256, device)).split(b"\0")[0].decode("utf-8", "replace")
    capability = (attributes.get("COMPUTE_CAPABILITY_MAJOR", 0), attributes.get("COMPUTE_CAPABILITY_MINOR", 0))
    return {
        "ordinal": ordinal,
        "name": name,
        # As CUDA_VISIBLE_DEVICES takes it.
        "uuid": f"GPU-{UUID(bytes=bytes(driver('cuDeviceGetUuid', device).bytes))}",
        "capability": "{}.{}".format(*capability),
        "attributes": attributes,
    }


_LEFT_OUT = ("MAXIMUM_TEXTURE", "MAXIMUM_SURFACE", "CAN_USE_", "D3D12", "VULKAN", "LOGICAL_ENDPOINT")
"""Attributes that no claim of ours is about."""


def _attributes(driver: Driver, device: Any) -> dict[str, int]:
    """All that the driver tells; what an older driver does not know is left out."""
    found: dict[str, int] = {}
    for name, attribute in driver.names("CUdevice_attribute", "CU_DEVICE_ATTRIBUTE_").items():
        if name.startswith(_LEFT_OUT):
            continue
        try:
            found[name] = int(driver("cuDeviceGetAttribute", attribute, device))
        except Refused as refused:
            if refused.error in STICKY:
                raise
    return found


def image(driver: Driver, job: dict[str, Any]) -> dict[str, Any]:
    session = Session(driver, driver("cuDeviceGet", job.get("device", 0)), job.get("image"))
    driver("cuCtxSetCurrent", driver("cuDevicePrimaryCtxRetain", session.device))
    answers: list[dict[str, Any]] = []
    end = time.monotonic() + job.get("seconds", math.inf)
    for step in job["steps"]:
        if time.monotonic() > end:
            break
        answer = take(session, step)
        answers.append(answer)
        if answer.get("error") in STICKY:
            break
    return {"steps": answers}


def _peer(driver: Driver, job: dict[str, Any]) -> dict[str, Any]:
    # Few jobs are for two GPUs.
    from bwlint.confirm.driver.peer import peer

    return peer(driver, job)


_JOBS: dict[str, Callable[[Driver, dict[str, Any]], dict[str, Any]]] = {
    "devices": devices,
    "image": image,
    "peer": _peer,
}


def main() -> None:
    # A kernel that prints may hold stdout; what we say goes elsewhere.
    answer = _answered(json.loads(sys.stdin.buffer.read()))
    data, to = json.dumps(answer).encode(), int(os.environ["BWLINT_ANSWER"])
    while data:
        data = data[os.write(to, data) :]
    # Taking a driver down may hang or fault, and nothing is left to do.
    sys.stdout.flush()
    os._exit(0)


def _answered(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return _JOBS[job["do"]](opened(), job)
    except Missing as missing:
        return {"missing": str(missing)}
    except Refused as refused:
        return refused.answer()
    except (LookupError, TypeError, ValueError, AttributeError, OSError, MemoryError) as wrong:
        return {"missing": f"the job could not be done: {type(wrong).__name__}: {wrong}"[:500]}


MOST_WORDS = 1024
_MOST_REPEATS = 10_000


def take(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    success = {"error": 0, "name": "CUDA_SUCCESS"}
    try:
        return {**success, **_STEPS[step["do"]](session, step)}
    except StepSkipped as skipped:
        return {"skipped": str(skipped)}
    except Refused as refused:
        return refused.answer()
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as wrong:
        return {"skipped": f"the step could not be done: {type(wrong).__name__}: {wrong}"[:500]}


def _functions(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    names = session.names()
    for name in names:
        session.kernel(name)
    return {"count": int(session.driver("cuModuleGetFunctionCount", session.module)), "names": names}


def _function(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    return {"attributes": session.driver.told(OF_KERNELS, "cuFuncGetAttribute", kernel)}


def _attribute(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    attribute = session.driver.constant(*OF_KERNELS, step["set"])
    session.driver("cuFuncSetAttribute", kernel, attribute, int(step["value"]))
    return {}


def _occupancy(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    return {"blocks": int(session.driver(call, kernel, int(step["threads"]), int(step.get("shared", 0))))}


def _clusters(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    config = configured(session.driver, kernel, step)
    found: dict[str, Any] = {"largest": int(session.driver("cuOccupancyMaxPotentialClusterSize", kernel, config))}
    try:
        found["active"] = int(session.driver("cuOccupancyMaxActiveClusters", kernel, config))
    except Refused as refused:
        refused.more = found
        raise
    return found


def _launch(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    """A launch, and for "bench" how long more of them take: the first one pays for what happens once."""
    driver, kernel = session.driver, session.kernel(step.get("kernel"))
    config = configured(driver, kernel, step)
    before = len(session.buffers)
    values = [_argument(session, one) for one in _given(session, kernel, step)]
    table = addresses(values)
    given = ctypes.addressof(table) if values else 0
    driver("cuLaunchKernelEx", config, kernel, given, 0)
    buffers = {"buffers": list(range(before, len(session.buffers)))}
    if step["do"] != "bench":
        return buffers
    repeat = min(int(step.get("repeat", 1)), _MOST_REPEATS)
    took = driver.milliseconds(repeat, lambda: driver("cuLaunchKernelEx", config, kernel, given, 0))
    return {"milliseconds": took, **buffers}


def _sync(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    session.driver("cuCtxSynchronize")
    return {}


def _read(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    number = int(step["buffer"])
    if not 0 <= number < len(session.buffers):
        raise StepSkipped(f"there is no buffer {number}")
    at, words = session.buffers[number]
    values = session.driver.words(at, words)
    found = {"words": values[: min(int(step.get("words", MOST_WORDS)), MOST_WORDS)].tolist(), "of": words}
    return {**found, "equal": values.count(step["equal"])} if "equal" in step else found


_STEPS: dict[str, Callable[[Session, dict[str, Any]], dict[str, Any]]] = {
    "load": load,
    "link": link,
    "functions": _functions,
    "function": _function,
    "attribute": _attribute,
    "occupancy": _occupancy,
    "clusters": _clusters,
    "launch": _launch,
    "bench": _launch,
    "sync": _sync,
    "read": _read,
}


def configured(driver: Driver, kernel: Any, step: dict[str, Any]) -> Any:
    """The shape of a launch, and what is special about it."""
    step = _in_numbers(driver, kernel, step)
    config = driver.module.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = step.get("grid", [1, 1, 1])
    config.blockDimX, config.blockDimY, config.blockDimZ = step.get("block", [1, 1, 1])
    config.sharedMemBytes = int(step.get("shared", 0))
    attributes = [_cluster(driver, step["cluster"])] if step.get("cluster") else []
    config.attrs, config.numAttrs = attributes, len(attributes)
    return config


def _in_numbers(driver: Driver, kernel: Any, step: dict[str, Any]) -> dict[str, Any]:
    """A launch with numbers where it refers to what the kernel is compiled for."""

    def attribute(name: str) -> int:
        return int(driver("cuFuncGetAttribute", driver.constant(*OF_KERNELS, name), kernel))

    if step.get("block") == "most":
        step = {**step, "block": [attribute("MAX_THREADS_PER_BLOCK"), 1, 1]}
    if step.get("cluster") == "required":
        shape = [attribute(f"REQUIRED_CLUSTER_{side}") for side in ("WIDTH", "HEIGHT", "DEPTH")]
        step = {**step, "cluster": shape, "grid": shape} if all(shape) else {**step, "cluster": None}
    return step


def _cluster(driver: Driver, shape: list[int]) -> Any:
    value = driver.module.CUlaunchAttributeValue()
    value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = shape
    attribute = driver.module.CUlaunchAttribute()
    attribute.id = driver.constant("CUlaunchAttributeID", "CU_LAUNCH_ATTRIBUTE_", "CLUSTER_DIMENSION")
    attribute.value = value
    return attribute


def _given(session: Session, kernel: Any, step: dict[str, Any]) -> list[dict[str, Any]]:
    given = step.get("arguments", [])
    if given == "zeros":
        return [{"zeros": size} for size in session.parameters(kernel)]
    if isinstance(given, dict):
        return [_guess(size, int(given["guess"])) for size in session.parameters(kernel)]
    return list(given)


_POINTER = 8
_GUESSED_BUFFER = 16 << 20
"""Bytes that one block with small numbers for sizes hardly goes beyond."""


def _guess(size: int, scalar: int) -> dict[str, Any]:
    """An argument of a kernel of which only its size in bytes is known: what is as long as a pointer is one."""
    if size == _POINTER:
        return {"buffer": _GUESSED_BUFFER}
    return {"u32": scalar} if size <= 4 else {"zeros": size}


def _argument(session: Session, given: dict[str, Any]) -> Any:
    if "u32" in given:
        return ctypes.c_uint32(given["u32"])
    if "zeros" in given:
        return (ctypes.c_uint8 * int(given["zeros"]))()
    number = session.buffer(int(given["buffer"]), int(given.get("fill", 0)), given.get("ramp"))
    return ctypes.c_uint64(int(session.buffers[number][0]))
