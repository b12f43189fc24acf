"""What libraries but torch say of the device: CuPy, Numba, Triton, cuda-python (the driver's and the runtime's calls,
which give an error code first), and NVML. Launches are written down; of CuTe DSL, so is what is compiled."""

from __future__ import annotations

import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from . import facts


class SimulatedDevice:
    """`cupy.cuda.Device`."""

    id = 0

    def __init__(self, _: Any = 0) -> None: ...

    def __enter__(self) -> SimulatedDevice:
        return self

    def __exit__(self, *_: object) -> None: ...

    def use(self) -> None: ...

    def synchronize(self) -> None: ...

    @property
    def compute_capability(self) -> str:
        return str(facts.told("cupy.cuda.Device.compute_capability", str(facts.joined())))

    def __getattr__(self, name: str) -> Any:
        return facts.refuse(f"cupy.cuda.Device.{name}", "there is no driver")


class UnbuiltKernel:
    """`cupy.RawKernel`: written down when it is called."""

    def __init__(self, _: str, name: str = "?", *__: Any, **___: Any) -> None:
        self.name = name

    def __call__(self, grid: Any, block: Any, arguments: Any = (), **_: Any) -> None:
        facts.launch("cupy", self.name, (grid, block, *arguments))


def for_cupy(cupy: Any) -> None:
    cupy.RawKernel = UnbuiltKernel
    cupy.is_available = lambda: facts.told("cupy.is_available", True)
    cupy.cuda.is_available = lambda: facts.told("cupy.cuda.is_available", True)
    cupy.cuda.Device = SimulatedDevice
    cupy.cuda.device.Device = SimulatedDevice
    cupy.cuda.device.get_compute_capability = lambda: SimulatedDevice().compute_capability
    cupy.cuda.runtime.getDeviceCount = lambda: facts.told("cupy.cuda.runtime.getDeviceCount", 1)
    cupy.cuda.runtime.getDevice = lambda: 0


class NumbaDevice:
    """What `numba.cuda.get_current_device()` gives."""

    id = 0

    @property
    def compute_capability(self) -> tuple[int, int]:
        found: tuple[int, int] = facts.told("numba.cuda.get_current_device().compute_capability", facts.capability())
        return found

    @property
    def name(self) -> str:
        return str(facts.ask("numba.cuda.get_current_device().name", "name"))

    def __getattr__(self, name: str) -> Any:
        names = {"MULTIPROCESSOR_COUNT": "multiprocessors", "MAX_SHARED_MEMORY_PER_BLOCK": "shared_memory_per_block"}
        return facts.ask(f"numba.cuda.get_current_device().{name}", names.get(name, name))


def for_numba(cuda: Any) -> None:
    device = NumbaDevice()
    cuda.is_available = lambda: facts.told("numba.cuda.is_available", True)
    cuda.get_current_device = lambda: device
    cuda.current_context = lambda *_: SimpleNamespace(device=device)
    cuda.synchronize = lambda: None
    dispatcher = getattr(getattr(cuda, "dispatcher", None), "CUDADispatcher", None)
    if dispatcher is not None:
        dispatcher.call = _launched


def _launched(self: Any, arguments: Any, *_: Any) -> None:
    function = getattr(self, "py_func", self)
    facts.launch("numba", f"{function.__module__}.{function.__qualname__}", arguments)


class RefusingCompiler:
    """`cute.compile`, with or without options in brackets."""

    def __getitem__(self, _: Any) -> RefusingCompiler:
        return self

    def __call__(self, function: Any, *_: Any, **__: Any) -> Any:
        kind = function if hasattr(function, "__qualname__") else type(function)
        name = f"{kind.__module__}.{kind.__qualname__}"
        facts.launch("build", f"cute.compile: {name}")
        return lambda *arguments, **keywords: facts.launch("cute", name, arguments, keywords)


def for_cute(cute: Any) -> None:
    cute.compile = RefusingCompiler()


_TRITON_PROPERTIES = {
    "max_shared_mem": "shared_memory_per_block_optin",
    "multiprocessor_count": "multiprocessors",
    "warpSize": "warp_size",
}


class LazyProperties(dict[str, Any]):
    """The properties of the driver, each asked for when it is looked up."""

    def __missing__(self, key: str) -> Any:
        return facts.ask(
            f"triton.runtime.driver.active.utils.get_device_properties()[{key!r}]", _TRITON_PROPERTIES.get(key, key)
        )


class SimulatedUtils:
    def get_device_properties(self, _: Any = 0) -> LazyProperties:
        return LazyProperties()

    def __getattr__(self, name: str) -> Any:
        return facts.refuse(f"triton.runtime.driver.active.utils.{name}", "there is no driver")


class SimulatedDriver:
    """What `triton.runtime.driver.active` is."""

    utils = SimulatedUtils()

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found, unused-ignore]

        return facts.told("triton.runtime.driver.active.get_current_target", GPUTarget("cuda", facts.joined(), 32))

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: Any = None) -> int:
        return 0

    def set_current_device(self, _: Any) -> None: ...

    def get_device_interface(self) -> Any:
        return sys.modules["torch"].cuda

    def get_active_torch_device(self) -> Any:
        return sys.modules["torch"].device("cuda", 0)

    def __getattr__(self, name: str) -> Any:
        return facts.refuse(f"triton.runtime.driver.active.{name}", "there is no driver")


def for_driver(driver: ModuleType) -> None:
    driver.driver.set_active(SimulatedDriver())


def _kernel_name(function: Any) -> str:
    while hasattr(function, "fn"):
        function = function.fn
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}"


def _run(self: Any, *arguments: Any, **keywords: Any) -> None:
    named = {key: value for key, value in keywords.items() if key not in ("grid", "warmup")}
    facts.launch("triton", _kernel_name(self), arguments, named)


def for_launches(module: ModuleType) -> None:
    """Which configuration an autotuner takes is decided by time, so it is not told."""
    for name in ("JITFunction", "Autotuner"):
        if hasattr(module, name):
            getattr(module, name).run = _run


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


def _runtime_properties(module: str) -> SimpleNamespace:
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
        "cudaGetDeviceProperties": lambda *_: (_runtime_properties(module),),
    }


def for_cuda(bindings: ModuleType) -> None:
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


_NVML = {
    **dict.fromkeys(("nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"), lambda *_: None),
    **dict.fromkeys(("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByUUID"), lambda _: "bwlint"),
    "nvmlDeviceGetCount": lambda: facts.told("nvmlDeviceGetCount", 1),
    "nvmlDeviceGetName": lambda _: facts.ask("nvmlDeviceGetName", "name"),
    "nvmlDeviceGetCudaComputeCapability": lambda _: facts.told(
        "nvmlDeviceGetCudaComputeCapability", facts.capability()
    ),
}


def _unanswered(name: str) -> Any:
    return lambda *_, **__: facts.refuse(name, "there is no driver")


def for_nvml(pynvml: ModuleType) -> None:
    for name in dir(pynvml):
        if name.startswith(("nvmlDevice", "nvmlSystem", "nvmlInit", "nvmlShutdown")):
            setattr(pynvml, name, _NVML.get(name) or _unanswered(name))
