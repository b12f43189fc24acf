"""Steps of a job "image": what is done with one image, one kernel at a time.

Each step is {"do": NAME, ...} and its answer {"error": 0, "name": "CUDA_SUCCESS", ...}; a refused one also has "call",
the function of the driver that refused. What takes something that an earlier step failed to make is
{"skipped": WHY}. KERNEL is a kernel's name; None stands for the only kernel of the image.

    load image                                      log: the JIT's, cut; without an image, that of the job
    link inputs=[{"kind": "ptx|cubin|fatbin|object|library", "image", "offset", "size"}]     log; the result is loaded
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

from array import array
from collections.abc import Callable
from typing import Any

from bwlint.confirm.driver.calls import Refused
from bwlint.confirm.driver.images import link, load
from bwlint.confirm.driver.launches import Arguments, configured
from bwlint.confirm.driver.session import OF_KERNELS, Session, StepSkipped

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
    kernel = session.kernel(step.get("kernel"))
    config = configured(session.driver, kernel, step)
    before = len(session.buffers)
    arguments = Arguments.made(session, kernel, step)
    session.driver("cuLaunchKernelEx", config, kernel, arguments.address, 0)
    return {"buffers": list(range(before, len(session.buffers)))}


def _bench(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    driver, kernel = session.driver, session.kernel(step.get("kernel"))
    config = configured(driver, kernel, step)
    before = len(session.buffers)
    arguments = Arguments.made(session, kernel, step)
    start, end = driver("cuEventCreate", 0), driver("cuEventCreate", 0)
    # The first launch pays for what happens once.
    driver("cuLaunchKernelEx", config, kernel, arguments.address, 0)
    driver("cuEventRecord", start, 0)
    for _ in range(min(int(step.get("repeat", 1)), _MOST_REPEATS)):
        driver("cuLaunchKernelEx", config, kernel, arguments.address, 0)
    driver("cuEventRecord", end, 0)
    driver("cuEventSynchronize", end)
    took = float(driver("cuEventElapsedTime", start, end))
    return {"milliseconds": took, "buffers": list(range(before, len(session.buffers)))}


def _sync(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    session.driver("cuCtxSynchronize")
    return {}


def _read(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    number = int(step["buffer"])
    if not 0 <= number < len(session.buffers):
        raise StepSkipped(f"there is no buffer {number}")
    at, words = session.buffers[number]
    host = bytearray(words * 4)
    session.driver("cuMemcpyDtoH", host, at, len(host))
    values = array("I")
    values.frombytes(bytes(host))
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
    "bench": _bench,
    "sync": _sync,
    "read": _read,
}
