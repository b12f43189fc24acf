"""Steps of a job "image": what is done with one image, one kernel at a time.

Each step is {"do": NAME, ...} and its answer {"error": 0, "name": "CUDA_SUCCESS", ...}; a refused one also has "call",
the function of the driver that refused. What takes something that an earlier step failed to make is
{"skipped": WHY}. KERNEL is a kernel's name; None stands for the only kernel of the image.

    load image                                      log: the JIT's, cut; without an image, that of the job
    link inputs=[{"kind": "ptx|cubin|fatbin|object|library", "image", "offset", "size"}]     log; the result is loaded
    functions                                       count, names; each is looked up by its name
    function kernel                                 attributes
    parameters kernel                               parameters: [{"offset", "size"}]
    attribute kernel, set=NAME, value=N             (NAME as in CU_FUNC_ATTRIBUTE_NAME)
    occupancy kernel, threads, shared               blocks: how many fit on a multiprocessor
    clusters kernel, block, shared, cluster, grid   largest: the largest size in blocks; active: how many of `cluster`
    launch kernel, grid, block, shared, cluster, cooperative, arguments
                                                    buffers: the numbers of those that were made
    bench (as launch), repeat=N                     milliseconds, for N launches
    sync
    read buffer=NUMBER, start=WORD, words=N, equal=U32
                                                    words; of: how many words the buffer has; equal: how many of them

An argument is {"buffer": BYTES, "fill": U32}, {"buffer": BYTES, "ramp": U32} (word i is i times that), {"use": NUMBER},
{"u32": N}, {"u64": N} or {"zeros": BYTES}; instead of all of them "zeros" has zeros for what the kernel takes. `block`,
`grid` and `cluster` are [x, y, z]; "block": "most" is as many threads as the kernel takes, "cluster": "required" the
shape that it is compiled for, with one cluster as the grid. Buffers are numbered from 0 as they are made.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bwlint.confirm.gpu.calls import Driver, Refused

LOG = 4096
"""Bytes of a JIT's log that are kept."""
MOST_NAMES = 4096
MOST_WORDS = 1024
MOST_BUFFER = 64 << 20
MOST_IMAGE = 1 << 30
_MOST_PARAMETERS = 1024
_MOST_REPEATS = 10_000


class Skipped(Exception):
    """A step that takes what is not there."""


@dataclass(slots=True)
class Session:
    """A context on one device, with what its steps have made."""

    driver: Driver
    device: Any
    image: Any
    module: Any = None
    kernels: dict[str, Any] = field(default_factory=dict)
    buffers: list[tuple[Any, int]] = field(default_factory=list)

    def forget(self) -> None:
        """Unload the image before another takes its place."""
        module, self.module = self.module, None
        self.kernels.clear()
        if module is not None:
            self.driver("cuModuleUnload", module)

    def kernel(self, name: str | None) -> Any:
        if self.module is None:
            raise Skipped("no image is loaded")
        name = name if name is not None else self.only()
        if name not in self.kernels:
            self.kernels[name] = self.driver("cuModuleGetFunction", self.module, name.encode())
        return self.kernels[name]

    def only(self) -> str:
        names = self.names()
        if len(names) != 1:
            raise Skipped(f"the image has {len(names)} kernels, and none is named")
        return names[0]

    def names(self) -> list[str]:
        if self.module is None:
            raise Skipped("no image is loaded")
        count = min(int(self.driver("cuModuleGetFunctionCount", self.module)), MOST_NAMES)
        if not count:
            return []
        found = self.driver("cuModuleEnumerateFunctions", count, self.module)
        return [bytes(self.driver("cuFuncGetName", kernel)).split(b"\0")[0].decode() for kernel in found]

    def buffer(self, size: int, fill: int, ramp: int | None = None) -> int:
        """Make a buffer of this many bytes, at least one word, filled with a word or a ramp; its number."""
        if not 0 < size <= MOST_BUFFER:
            raise ValueError(f"a buffer of {size} bytes")
        words = (size + 3) // 4
        at = self.driver("cuMemAlloc", words * 4)
        if ramp is None:
            self.driver("cuMemsetD32", at, fill & 0xFFFFFFFF, words)
        else:
            host = bytearray(array("I", (place * ramp & 0xFFFFFFFF for place in range(words))).tobytes())
            self.driver("cuMemcpyHtoD", at, host, len(host))
        self.buffers.append((at, words))
        return len(self.buffers) - 1


def take(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    """Do one step; its answer."""
    success = {"error": 0, "name": "CUDA_SUCCESS"}
    try:
        return {**success, **_STEPS[step["do"]](session, step)}
    except Skipped as skipped:
        return {"skipped": str(skipped)}
    except Refused as refused:
        return {**refused.answer(), **getattr(refused, "more", {})}
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as wrong:
        return {"skipped": f"the step could not be done: {type(wrong).__name__}: {wrong}"[:500]}


def _load(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    given = step.get("image", session.image)
    session.forget()
    return _loaded(session, content(given))


def _loaded(session: Session, image: bytes) -> dict[str, Any]:
    driver = session.driver
    log = _Log.made(driver)
    try:
        session.module = driver("cuModuleLoadDataEx", image, len(log.options), log.options, log.values)
    except Refused as refused:
        refused.more = {"log": log.text()}  # type: ignore[attr-defined]
        raise
    return {"log": log.text()}


def _link(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    driver = session.driver
    session.forget()
    log = _Log.made(driver)
    try:
        state = driver("cuLinkCreate", len(log.options), log.options, log.values)
        for given in step["inputs"]:
            kind = driver.constant("CUjitInputType", "CU_JIT_INPUT_", _INPUTS[given["kind"]])
            data = content(given)
            size = len(data) if given["kind"] == "ptx" else len(data) - 1
            driver("cuLinkAddData", state, kind, data, size, b"input", 0, [], [])
        address, size = driver("cuLinkComplete", state)
    except Refused as refused:
        refused.more = {"log": log.text()}  # type: ignore[attr-defined]
        raise
    image = ctypes.string_at(int(address), int(size))
    return {**_loaded(session, image), "log": log.text()}


_INPUTS = {"ptx": "PTX", "cubin": "CUBIN", "fatbin": "FATBINARY", "object": "OBJECT", "library": "LIBRARY"}


@dataclass(frozen=True, slots=True)
class _Log:
    """Two buffers for what the JIT says, as options of a call."""

    errors: bytearray
    remarks: bytearray
    options: list[Any]
    values: list[Any]

    @classmethod
    def made(cls, driver: Driver) -> _Log:
        errors, remarks = bytearray(LOG), bytearray(LOG)
        names = ("ERROR_LOG_BUFFER", "ERROR_LOG_BUFFER_SIZE_BYTES", "INFO_LOG_BUFFER", "INFO_LOG_BUFFER_SIZE_BYTES")
        options = [driver.constant("CUjit_option", "CU_JIT_", name) for name in names]
        return cls(errors, remarks, options, [errors, LOG, remarks, LOG])

    def text(self) -> str:
        both = [bytes(part).split(b"\0")[0].decode("utf-8", "replace").strip() for part in (self.errors, self.remarks)]
        return "\n".join(part for part in both if part)[:LOG]


def content(image: Any) -> bytes:
    """The bytes of an image: of a file, or of a part of one. PTX ends in a zero, which nothing else minds."""
    given = image if isinstance(image, dict) else {"image": image}
    path, start, size = Path(given["image"]), given.get("offset", 0), given.get("size")
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(MOST_IMAGE if size is None else min(size, MOST_IMAGE))
    return data + b"\0"


def _functions(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    names = session.names()
    for name in names:
        session.kernel(name)
    return {"count": int(session.driver("cuModuleGetFunctionCount", session.module)), "names": names}


def _function(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    driver, kernel = session.driver, session.kernel(step.get("kernel"))
    found: dict[str, int] = {}
    for name, attribute in driver.names(*_OF_KERNELS).items():
        try:
            found[name] = int(driver("cuFuncGetAttribute", attribute, kernel))
        except Refused as refused:
            # An attribute that this driver does not know.
            if refused.error != _INVALID_VALUE:
                raise
    return {"attributes": found}


_INVALID_VALUE = 1


def _parameters(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    return {"parameters": _taken(session, session.kernel(step.get("kernel")))}


def _taken(session: Session, kernel: Any) -> list[dict[str, int]]:
    """The parameters of a kernel, by their offsets and sizes in bytes."""
    found: list[dict[str, int]] = []
    while len(found) < _MOST_PARAMETERS:
        try:
            offset, size = session.driver("cuFuncGetParamInfo", kernel, len(found))
        except Refused as refused:
            # The first that is not there ends the list.
            if refused.error != _INVALID_VALUE:
                raise
            break
        found.append({"offset": int(offset), "size": int(size)})
    return found


def _attribute(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    attribute = session.driver.constant(*_OF_KERNELS, step["set"])
    session.driver("cuFuncSetAttribute", kernel, attribute, int(step["value"]))
    return {}


def _occupancy(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    return {"blocks": int(session.driver(call, kernel, int(step["threads"]), int(step.get("shared", 0))))}


def _clusters(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    config = _config(session.driver, _shaped(session.driver, kernel, step))
    found: dict[str, Any] = {"largest": int(session.driver("cuOccupancyMaxPotentialClusterSize", kernel, config))}
    try:
        found["active"] = int(session.driver("cuOccupancyMaxActiveClusters", kernel, config))
    except Refused as refused:
        refused.more = found  # type: ignore[attr-defined]
        raise
    return found


def _launch(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    kernel = session.kernel(step.get("kernel"))
    config = _config(session.driver, _shaped(session.driver, kernel, step))
    before = len(session.buffers)
    arguments = _Arguments.made(session, _given(session, kernel, step))
    session.driver("cuLaunchKernelEx", config, kernel, arguments.address, 0)
    return {"buffers": list(range(before, len(session.buffers)))}


def _bench(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    driver, kernel = session.driver, session.kernel(step.get("kernel"))
    config = _config(driver, _shaped(driver, kernel, step))
    before = len(session.buffers)
    arguments = _Arguments.made(session, _given(session, kernel, step))
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


def _shaped(driver: Driver, kernel: Any, step: dict[str, Any]) -> dict[str, Any]:
    """A launch with numbers where it refers to what the kernel is compiled for."""

    def attribute(name: str) -> int:
        return int(driver("cuFuncGetAttribute", driver.constant(*_OF_KERNELS, name), kernel))

    if step.get("block") == "most":
        step = {**step, "block": [attribute("MAX_THREADS_PER_BLOCK"), 1, 1]}
    if step.get("cluster") == "required":
        shape = [attribute(f"REQUIRED_CLUSTER_{side}") for side in ("WIDTH", "HEIGHT", "DEPTH")]
        step = {**step, "cluster": shape, "grid": shape} if all(shape) else {**step, "cluster": None}
    return step


_OF_KERNELS = ("CUfunction_attribute", "CU_FUNC_ATTRIBUTE_")


def _given(session: Session, kernel: Any, step: dict[str, Any]) -> list[dict[str, Any]]:
    given = step.get("arguments", [])
    if given == "zeros":
        return [{"zeros": one["size"]} for one in _taken(session, kernel)]
    return list(given)


def _config(driver: Driver, step: dict[str, Any]) -> Any:
    """How a kernel is launched, as the driver takes it."""
    config = driver.module.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = step.get("grid", [1, 1, 1])
    config.blockDimX, config.blockDimY, config.blockDimZ = step.get("block", [1, 1, 1])
    config.sharedMemBytes = int(step.get("shared", 0))
    attributes = []
    if step.get("cluster"):
        cluster = _launch_attribute(driver, "CLUSTER_DIMENSION")
        value = driver.module.CUlaunchAttributeValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = step["cluster"]
        cluster.value = value
        attributes.append(cluster)
    if step.get("cooperative"):
        cooperative = _launch_attribute(driver, "COOPERATIVE")
        value = driver.module.CUlaunchAttributeValue()
        value.cooperative = 1
        cooperative.value = value
        attributes.append(cooperative)
    config.attrs = attributes
    config.numAttrs = len(attributes)
    return config


def _launch_attribute(driver: Driver, name: str) -> Any:
    attribute = driver.module.CUlaunchAttribute()
    attribute.id = driver.constant("CUlaunchAttributeID", "CU_LAUNCH_ATTRIBUTE_", name)
    return attribute


@dataclass(frozen=True, slots=True)
class _Arguments:
    """Arguments of a kernel in memory, and the address of the table of their addresses; 0 where there are none."""

    held: tuple[Any, ...]
    address: int

    @classmethod
    def made(cls, session: Session, given: list[dict[str, Any]]) -> _Arguments:
        values = [_argument(session, one) for one in given]
        if not values:
            return cls((), 0)
        table = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        return cls((*values, table), ctypes.addressof(table))


def _argument(session: Session, given: dict[str, Any]) -> Any:
    if "u32" in given:
        return ctypes.c_uint32(given["u32"])
    if "u64" in given:
        return ctypes.c_uint64(given["u64"])
    if "zeros" in given:
        return (ctypes.c_uint8 * int(given["zeros"]))()
    if "use" in given:
        number = int(given["use"])
    else:
        number = session.buffer(int(given["buffer"]), int(given.get("fill", 0)), given.get("ramp"))
    return ctypes.c_uint64(int(session.buffers[number][0]))


def _sync(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    session.driver("cuCtxSynchronize")
    return {}


def _read(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    number = int(step["buffer"])
    if not 0 <= number < len(session.buffers):
        raise Skipped(f"there is no buffer {number}")
    at, words = session.buffers[number]
    host = bytearray(words * 4)
    session.driver("cuMemcpyDtoH", host, at, len(host))
    values = array("I")
    values.frombytes(bytes(host))
    start = max(int(step.get("start", 0)), 0)
    found = {"words": values[start : start + min(int(step.get("words", MOST_WORDS)), MOST_WORDS)].tolist(), "of": words}
    return {**found, "equal": values.count(step["equal"])} if "equal" in step else found


_STEPS: dict[str, Callable[[Session, dict[str, Any]], dict[str, Any]]] = {
    "load": _load,
    "link": _link,
    "functions": _functions,
    "function": _function,
    "parameters": _parameters,
    "attribute": _attribute,
    "occupancy": _occupancy,
    "clusters": _clusters,
    "launch": _launch,
    "bench": _bench,
    "sync": _sync,
    "read": _read,
}
