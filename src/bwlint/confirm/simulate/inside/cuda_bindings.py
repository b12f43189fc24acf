"""cuda-python: the driver's and the runtime's calls. They give an error code first."""

from __future__ import annotations

import re
from types import ModuleType, SimpleNamespace
from typing import Any

from . import facts

_ATTRIBUTES = {
    "computecapabilitymajor": "major",
    "computecapabilityminor": "minor",
    "multiprocessorcount": "multiprocessors",
    "warpsize": "warp_size",
    "maxsharedmemoryperblock": "shared_memory_per_block",
    "maxsharedmemoryperblockoptin": "shared_memory_per_block_optin",
    "maxsharedmemorypermultiprocessor": "shared_memory_per_multiprocessor",
    "reservedsharedmemoryperblock": "reserved_shared_memory_per_block",
    "maxthreadspermultiprocessor": "max_threads_per_multiprocessor",
    "maxblockspermultiprocessor": "max_blocks_per_multiprocessor",
}
_QUIET = re.compile(r"cuInit|cu\w*Ctx\w*|cudaSetDevice|cuda\w*Synchronize")
_HANDLE = re.compile(r"cu\w*(?:Create|Retain|GetCurrent|PopCurrent)\w*")
_LAUNCH = re.compile(r"cu(?:da)?Launch\w*Kernel\w*")
_CALL = re.compile(r"cu(?:da)?[A-Z]\w*")


def _attribute(module: str, attribute: Any) -> Any:
    """A device attribute by the name of its member, in the driver's or the runtime's spelling."""
    name = str(getattr(attribute, "name", attribute))
    key = re.sub(r"^CU_DEVICE_ATTRIBUTE_|^cudaDevAttr|_", "", name).lower()
    return facts.ask(f"{module}: {name}", _ATTRIBUTES.get(key, key))


def _properties(module: str) -> SimpleNamespace:
    major, minor = facts.told(f"{module}.cudaGetDeviceProperties", facts.capability())
    known = facts.facts()
    names = {"multiProcessorCount": "multiprocessors", "sharedMemPerBlockOptin": "shared_memory_per_block_optin"}
    return SimpleNamespace(major=major, minor=minor, **{to: known[one] for to, one in names.items() if one in known})


def _answers(module: str) -> dict[str, Any]:
    def answered(name: str, value: Any) -> Any:
        return lambda *_: (facts.told(f"{module}.{name}", value),)

    counts = {name: answered(name, 1) for name in ("cuDeviceGetCount", "cudaGetDeviceCount")}
    first = dict.fromkeys(("cuDeviceGet", "cudaGetDevice", "cuCtxGetDevice"), lambda *_: (0,))
    attributes = dict.fromkeys(
        ("cuDeviceGetAttribute", "cudaDeviceGetAttribute"), lambda attribute, _: (_attribute(module, attribute),)
    )
    return {
        **counts,
        **first,
        **attributes,
        "cuDeviceGetName": lambda *_: (facts.ask(f"{module}.cuDeviceGetName", "name").encode(),),
        "cuDeviceComputeCapability": lambda *_: facts.told(f"{module}.cuDeviceComputeCapability", facts.capability()),
        "cudaGetDeviceProperties": lambda *_: (_properties(module),),
    }


def apply(bindings: ModuleType) -> None:
    name = bindings.__name__
    codes = (_member(bindings, "CUresult", "CUDA_SUCCESS"), _member(bindings, "cudaError_t", "cudaSuccess"), 0)
    success = next(code for code in codes if code is not None)
    answers = _answers(name)
    for call in dir(bindings):
        if _CALL.fullmatch(call) and not isinstance(getattr(bindings, call), type):
            setattr(bindings, call, _call(name, call, answers.get(call), success))


def _member(bindings: ModuleType, kind: str, member: str) -> Any:
    return getattr(getattr(bindings, kind, None), member, None)


def _call(module: str, name: str, answer: Any, success: Any) -> Any:
    if answer is not None:
        return lambda *arguments: (success, *answer(*arguments))
    if _QUIET.fullmatch(name):
        return lambda *_: (success, 0) if _HANDLE.fullmatch(name) else (success,)
    if _LAUNCH.fullmatch(name):

        def launched(*arguments: Any) -> tuple[Any]:
            facts.launch("driver", f"{module}.{name}", arguments)
            return (success,)

        return launched
    return lambda *_: facts.refuse(f"{module}.{name}", "there is no driver")
