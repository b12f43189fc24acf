"""What stands in for `cuda.bindings.driver` where there is no GPU: it lies in a folder as cuda/bindings/driver.pyc,
beside `scene.json`, which says what is there (see `fake_gpu`). It knows the limits of a device and runs nothing."""

from __future__ import annotations

import ctypes
import enum
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

SCENE = json.loads(Path(__file__).with_name("scene.json").read_text())


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912
    CUDA_ERROR_UNKNOWN = 999


def _enumeration(name: str, prefix: str, members: str) -> Any:
    return enum.IntEnum(name, {prefix + member: number for number, member in enumerate(members.split(), 1)})


CUdevice_attribute = _enumeration(
    "CUdevice_attribute",
    "CU_DEVICE_ATTRIBUTE_",
    "COMPUTE_CAPABILITY_MAJOR COMPUTE_CAPABILITY_MINOR MULTIPROCESSOR_COUNT MAX_THREADS_PER_BLOCK "
    "MAX_SHARED_MEMORY_PER_BLOCK MAX_SHARED_MEMORY_PER_BLOCK_OPTIN MAX_SHARED_MEMORY_PER_MULTIPROCESSOR "
    "RESERVED_SHARED_MEMORY_PER_BLOCK MAX_THREADS_PER_MULTIPROCESSOR MAX_BLOCKS_PER_MULTIPROCESSOR CLUSTER_LAUNCH "
    "COOPERATIVE_LAUNCH MULTICAST_SUPPORTED CAN_USE_STREAM_MEM_OPS NOT_KNOWN MAX",
)
CUfunction_attribute = _enumeration(
    "CUfunction_attribute",
    "CU_FUNC_ATTRIBUTE_",
    "MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES NUM_REGS PTX_VERSION BINARY_VERSION MAX_DYNAMIC_SHARED_SIZE_BYTES "
    "REQUIRED_CLUSTER_WIDTH REQUIRED_CLUSTER_HEIGHT REQUIRED_CLUSTER_DEPTH "
    "NON_PORTABLE_CLUSTER_SIZE_ALLOWED CLUSTER_SIZE_MUST_BE_SET NOT_KNOWN MAX",
)
CUjit_option = _enumeration(
    "CUjit_option",
    "CU_JIT_",
    "ERROR_LOG_BUFFER ERROR_LOG_BUFFER_SIZE_BYTES INFO_LOG_BUFFER INFO_LOG_BUFFER_SIZE_BYTES",
)
CUjitInputType = _enumeration("CUjitInputType", "CU_JIT_INPUT_", "CUBIN PTX FATBINARY OBJECT LIBRARY")
CUlaunchAttributeID = _enumeration("CUlaunchAttributeID", "CU_LAUNCH_ATTRIBUTE_", "COOPERATIVE CLUSTER_DIMENSION")
CUdevice_P2PAttribute = _enumeration(
    "CUdevice_P2PAttribute",
    "CU_DEVICE_P2P_ATTRIBUTE_",
    "PERFORMANCE_RANK ACCESS_SUPPORTED NATIVE_ATOMIC_SUPPORTED CUDA_ARRAY_ACCESS_SUPPORTED",
)


class _Bag:
    def __init__(self) -> None:
        self.__dict__["held"] = {}

    def __getattr__(self, name: str) -> Any:
        return self.held.setdefault(name, _Bag())

    def __setattr__(self, name: str, value: Any) -> None:
        self.held[name] = value

    def get(self, name: str, default: Any) -> Any:
        return self.held.get(name, default)


class CUlaunchConfig(_Bag):
    pass


class CUlaunchAttribute(_Bag):
    pass


class CUlaunchAttributeValue(_Bag):
    pass


class _Kernel:
    def __init__(self, name: str, parameters: int) -> None:
        self.name = name
        self.parameters = parameters
        said = SCENE.get("kernels", {}).get(name, {})
        self.sizes = said.get("parameters", [8] * parameters)
        self.results = said.get("results")
        self.then = said.get("then")
        self.attributes = {
            "MAX_THREADS_PER_BLOCK": 1024,
            "SHARED_SIZE_BYTES": 0,
            "NUM_REGS": 16,
            "PTX_VERSION": 90,
            "BINARY_VERSION": 90,
            "MAX_DYNAMIC_SHARED_SIZE_BYTES": 49152,
            "NON_PORTABLE_CLUSTER_SIZE_ALLOWED": 0,
            "CLUSTER_SIZE_MUST_BE_SET": 0,
            "REQUIRED_CLUSTER_WIDTH": 0,
            "REQUIRED_CLUSTER_HEIGHT": 0,
            "REQUIRED_CLUSTER_DEPTH": 0,
            **said.get("attributes", {}),
        }


_memory: dict[int, bytearray] = {}
_counted: dict[str, int] = {}
_context: list[int] = [0]
_peers: set[tuple[int, int]] = set()


def _behave(function: str) -> CUresult:
    """What the scene has for this call of a function: an error, a hang, the end, or output."""
    behaviours = SCENE.get("calls", {}).get(function)
    if not behaviours:
        return CUresult.CUDA_SUCCESS
    number = _counted.get(function, 0)
    _counted[function] = number + 1
    return _do(behaviours[min(number, len(behaviours) - 1)])


def _do(what: Any) -> CUresult:
    if what == "hang":
        time.sleep(3600)
    if what == "environment":
        print(json.dumps(dict(os.environ)), flush=True)
        what = 0
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(what, dict):
        for _ in range(what["print"] // 65536):
            sys.stdout.write("x" * 65535 + "\n")
        what = 0
    return CUresult(what or 0)


def _device(ordinal: Any = None) -> dict[str, int]:
    found: dict[str, int] = SCENE["devices"][_context[0] if ordinal is None else int(ordinal)]["attributes"]
    return found


def cuGetErrorName(error: Any) -> Any:
    return CUresult.CUDA_SUCCESS, CUresult(error).name.encode()


def cuInit(flags: int) -> Any:
    if SCENE.get("driver", "there") == "missing":
        raise RuntimeError('"cuda" is an NVIDIA driver library and can only be found via system search.')
    return (_behave("cuInit"),)


def cuDriverGetVersion() -> Any:
    return _behave("cuDriverGetVersion"), SCENE.get("version", 13000)


def cuDeviceGetCount() -> Any:
    return _behave("cuDeviceGetCount"), len(SCENE["devices"])


def cuDeviceGet(ordinal: int) -> Any:
    error = _behave("cuDeviceGet")
    return (error or (0 if ordinal < len(SCENE["devices"]) else CUresult.CUDA_ERROR_INVALID_DEVICE)), ordinal


def cuDeviceGetName(length: int, device: Any) -> Any:
    return _behave("cuDeviceGetName"), SCENE["devices"][device]["name"].encode() + b"\0\0"


def cuDeviceGetUuid(device: Any) -> Any:
    uuid = _Bag()
    uuid.bytes = bytes([device + 1]) * 16
    return _behave("cuDeviceGetUuid"), uuid


def cuDeviceGetAttribute(attribute: Any, device: Any) -> Any:
    name = attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_")
    if name not in _device(device):
        return CUresult.CUDA_ERROR_INVALID_VALUE, None
    return _behave("cuDeviceGetAttribute"), _device(device)[name]


def cuDevicePrimaryCtxRetain(device: Any) -> Any:
    return _behave("cuDevicePrimaryCtxRetain"), int(device)


def cuCtxSetCurrent(context: Any) -> Any:
    _context[0] = int(context)
    return (_behave("cuCtxSetCurrent"),)


def cuModuleLoadDataEx(image: bytes, count: int = 0, options: Any = (), values: Any = ((), 0, (), 0)) -> Any:
    error = _behave("cuModuleLoadDataEx")
    held = 0
    if b"held[" in image:
        # Static shared memory of the probe.
        held = int(image.partition(b"held[")[2].partition(b"]")[0] or 0)
        most = SCENE.get("static", 49152)
        if held > most:
            error = CUresult.CUDA_ERROR_INVALID_PTX
            said = f"ptxas error : Entry function 'k' uses too much shared data (0x{held:x} bytes, 0x{most:x} max)"
            values[0][: len(said)] = said.encode()
    for rule in SCENE.get("images", []):
        if rule["contains"].encode() in image and not error:
            error = CUresult(rule["error"])
            values[0][: len(rule.get("log", ""))] = rule.get("log", "").encode()
    entries = re.findall(rb"\.entry\s+(\w+)\s*(\([^)]*\))?", image)
    made = {name.decode(): _Kernel(name.decode(), given.count(b".param")) for name, given in entries}
    if not made:
        made = {name: _Kernel(name, 0) for name in SCENE.get("unnamed", [])}
    for kernel in made.values():
        kernel.attributes["SHARED_SIZE_BYTES"] += held
    return error, made


cuModuleLoadData = cuModuleLoadDataEx


def cuLinkCreate(count: int, options: Any, values: Any) -> Any:
    return _behave("cuLinkCreate"), bytearray()


def cuLinkAddData(
    state: Any, kind: Any, data: bytes, size: int, name: bytes, count: int, options: Any, values: Any
) -> Any:
    state += data[:size]
    return (_behave("cuLinkAddData"),)


def cuLinkComplete(state: Any) -> Any:
    _linked.append(ctypes.create_string_buffer(bytes(state)))
    return _behave("cuLinkComplete"), ctypes.addressof(_linked[-1]), len(state)


_linked: list[Any] = []


def cuModuleUnload(module: Any) -> Any:
    return (_behave("cuModuleUnload"),)


def cuModuleGetFunctionCount(module: Any) -> Any:
    return _behave("cuModuleGetFunctionCount"), len(module)


def cuModuleEnumerateFunctions(count: int, module: Any) -> Any:
    return _behave("cuModuleEnumerateFunctions"), list(module.values())[:count]


def cuModuleGetFunction(module: Any, name: bytes) -> Any:
    error = _behave("cuModuleGetFunction")
    found = module.get(name.decode())
    return (error or (0 if found else CUresult.CUDA_ERROR_NOT_FOUND)), found


def cuFuncGetName(kernel: Any) -> Any:
    return _behave("cuFuncGetName"), kernel.name.encode()


def cuFuncGetAttribute(attribute: Any, kernel: Any) -> Any:
    name = attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")
    if name not in kernel.attributes:
        return CUresult.CUDA_ERROR_INVALID_VALUE, None
    return _behave("cuFuncGetAttribute"), kernel.attributes[name]


def cuFuncSetAttribute(kernel: Any, attribute: Any, value: int) -> Any:
    error = _behave("cuFuncSetAttribute")
    name = attribute.name.removeprefix("CU_FUNC_ATTRIBUTE_")
    room = _device()["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"] - kernel.attributes["SHARED_SIZE_BYTES"]
    if name == "MAX_DYNAMIC_SHARED_SIZE_BYTES" and value > room:
        return (CUresult.CUDA_ERROR_INVALID_VALUE,)
    kernel.attributes[name] = value
    return (error,)


def cuFuncGetParamInfo(kernel: Any, index: int) -> Any:
    if index >= len(kernel.sizes):
        return CUresult.CUDA_ERROR_INVALID_VALUE, 0, 0
    return _behave("cuFuncGetParamInfo"), sum(kernel.sizes[:index]), kernel.sizes[index]


def cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel: Any, threads: int, shared: int) -> Any:
    error = _behave("cuOccupancyMaxActiveBlocksPerMultiprocessor")
    limits = _device()
    if shared > kernel.attributes["MAX_DYNAMIC_SHARED_SIZE_BYTES"]:
        return error, 0
    used = shared + kernel.attributes["SHARED_SIZE_BYTES"] + limits["RESERVED_SHARED_MEMORY_PER_BLOCK"]
    return error, min(
        limits["MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"] // used,
        limits["MAX_THREADS_PER_MULTIPROCESSOR"] // threads,
        limits["MAX_BLOCKS_PER_MULTIPROCESSOR"],
    )


def _size(config: Any) -> int:
    for attribute in config.get("attrs", []):
        if attribute.id == CUlaunchAttributeID["CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"]:
            shape = attribute.value.clusterDim
            return int(shape.x * shape.y * shape.z)
    return 1


def _most(kernel: Any) -> int:
    if not _device()["CLUSTER_LAUNCH"]:
        return 1
    return _OPTED_IN if kernel.attributes["NON_PORTABLE_CLUSTER_SIZE_ALLOWED"] else 8


def cuOccupancyMaxPotentialClusterSize(kernel: Any, config: Any) -> Any:
    # As driver 580 answers on an H100: the opt-in is looked at, the size is not.
    most = _most(kernel)
    if most < _OPTED_IN and _size(config) > most:
        return CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE, 0
    return _behave("cuOccupancyMaxPotentialClusterSize"), most


def cuOccupancyMaxActiveClusters(kernel: Any, config: Any) -> Any:
    error = _behave("cuOccupancyMaxActiveClusters")
    return error, _device()["MULTIPROCESSOR_COUNT"] // _size(config)


_OPTED_IN = 16


def cuLaunchKernelEx(config: Any, kernel: Any, arguments: int, extra: int) -> Any:
    error = _behave("cuLaunchKernelEx") or _refused(config, kernel)
    if not error:
        _running.append(kernel.then)
    if not error and kernel.results is not None:
        _run(kernel, arguments)
    return (error,)


def _refused(config: Any, kernel: Any) -> CUresult:
    threads = config.blockDimX * config.blockDimY * config.blockDimZ
    if threads > _device()["MAX_THREADS_PER_BLOCK"] or threads < 1:
        return CUresult.CUDA_ERROR_INVALID_VALUE
    if config.sharedMemBytes > kernel.attributes["MAX_DYNAMIC_SHARED_SIZE_BYTES"]:
        return CUresult.CUDA_ERROR_INVALID_VALUE
    if _size(config) > _most(kernel):
        return CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE
    cooperative = CUlaunchAttributeID["CU_LAUNCH_ATTRIBUTE_COOPERATIVE"]
    if any(attribute.id == cooperative for attribute in config.get("attrs", [])):
        _, blocks = cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, threads, config.sharedMemBytes)
        if config.gridDimX * config.gridDimY * config.gridDimZ > blocks * _device()["MULTIPROCESSOR_COUNT"]:
            return CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    return CUresult.CUDA_SUCCESS


def _run(kernel: Any, arguments: int) -> None:
    """Write the words that the scene has for a kernel to the buffer that is its first argument."""
    table = (ctypes.c_void_p * kernel.parameters).from_address(arguments)
    buffer = _memory[ctypes.c_uint64.from_address(table[0] or 0).value]
    for place, word in enumerate(kernel.results):
        if word is not None:
            buffer[place * 4 : place * 4 + 4] = word.to_bytes(4, "little")


def cuCtxSynchronize() -> Any:
    error = _behave("cuCtxSynchronize")
    while _running and not error:
        error = _do(_running.pop())
    return (error,)


_running: list[Any] = []


def cuMemAlloc(size: int) -> Any:
    at = 0x10000 + sum(len(one) + 256 for one in _memory.values())
    _memory[at] = bytearray(size)
    return _behave("cuMemAlloc"), at


def cuMemsetD32(at: int, word: int, count: int) -> Any:
    _memory[at][: count * 4] = word.to_bytes(4, "little") * count
    return (_behave("cuMemsetD32"),)


def cuMemcpyDtoH(to: Any, at: int, size: int) -> Any:
    to[:size] = _memory[at][:size]
    return (_behave("cuMemcpyDtoH"),)


def cuMemcpyHtoD(at: int, host: Any, size: int) -> Any:
    _memory[at][:size] = host[:size]
    return (_behave("cuMemcpyHtoD"),)


def cuDeviceCanAccessPeer(device: Any, other: Any) -> Any:
    return _behave("cuDeviceCanAccessPeer"), SCENE.get("peer", {}).get("can", 1)


def cuDeviceGetP2PAttribute(attribute: Any, device: Any, other: Any) -> Any:
    name = attribute.name.removeprefix("CU_DEVICE_P2P_ATTRIBUTE_")
    return _behave("cuDeviceGetP2PAttribute"), SCENE.get("peer", {}).get(name, 1)


def cuCtxEnablePeerAccess(context: Any, flags: int) -> Any:
    return (_behave("cuCtxEnablePeerAccess"),)


def cuLaunchKernel(kernel: Any, *given: Any) -> Any:
    error = _behave("cuLaunchKernel")
    if not error and kernel.results is not None:
        _run(kernel, given[-2])
    return (error,)


def cuMemcpyPeer(to: int, context: Any, at: int, other: Any, size: int) -> Any:
    if SCENE.get("peer", {}).get("moves", 1):
        _memory[to][:size] = _memory[at][:size]
    return (_behave("cuMemcpyPeer"),)


def cuMemcpyPeerAsync(to: int, context: Any, at: int, other: Any, size: int, stream: Any) -> Any:
    return (_behave("cuMemcpyPeerAsync"),)


def cuEventCreate(flags: int) -> Any:
    return _behave("cuEventCreate"), 0


def cuEventRecord(event: Any, stream: Any) -> Any:
    return (_behave("cuEventRecord"),)


def cuEventSynchronize(event: Any) -> Any:
    return (_behave("cuEventSynchronize"),)


def cuEventElapsedTime(start: Any, end: Any) -> Any:
    times = SCENE.get("milliseconds", [1.0])
    number = _counted.get("time", 0)
    _counted["time"] = number + 1
    return _behave("cuEventElapsedTime"), times[min(number, len(times) - 1)]
