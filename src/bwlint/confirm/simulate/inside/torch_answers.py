"""torch: what `torch.cuda` and its C part say of the device, and tensors that say they are on the GPU and are not."""

from __future__ import annotations

import contextlib
import sys
import threading
from types import ModuleType
from typing import Any

from . import facts

_PROPERTIES = {
    "name": "name",
    "major": "major",
    "minor": "minor",
    "multi_processor_count": "multiprocessors",
    "total_memory": "total_memory",
    "warp_size": "warp_size",
    "max_threads_per_multi_processor": "max_threads_per_multiprocessor",
    "shared_memory_per_block": "shared_memory_per_block",
    "shared_memory_per_block_optin": "shared_memory_per_block_optin",
    "shared_memory_per_multiprocessor": "shared_memory_per_multiprocessor",
}


class SimulatedProperties:
    """What `get_device_properties` gives; what the tables do not have is an attribute that is missing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return facts.ask(f"torch.cuda.get_device_properties().{name}", _PROPERTIES.get(name, name))


class InertStream:
    """A stream or an event: nothing runs, so there is nothing to wait for."""

    cuda_stream = cuda_event = 0
    stream_id = priority = device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> InertStream:
        return self

    def __exit__(self, *_: object) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, _: Any) -> float:
        return float(facts.refuse("torch.cuda.Event.elapsed_time", "nothing runs, so nothing takes its time"))

    def _nothing(self, *_: Any, **__: Any) -> None: ...

    synchronize = wait = record = wait_event = wait_stream = _nothing

    def record_event(self, event: Any = None) -> Any:
        return event or InertStream()


def _nothing(*_: Any, **__: Any) -> None: ...


def _zero(*_: Any, **__: Any) -> int:
    return 0


def _properties(*_: Any, **__: Any) -> SimulatedProperties:
    return SimulatedProperties()


_ANSWERS: dict[str, Any] = {
    "is_available": lambda: facts.told("torch.cuda.is_available", True),
    "device_count": lambda: facts.told("torch.cuda.device_count", 1),
    "get_device_capability": lambda _=None: facts.told("torch.cuda.get_device_capability", facts.capability()),
    "get_device_name": lambda _=None: facts.ask("torch.cuda.get_device_name", "name"),
    "get_device_properties": _properties,
    "mem_get_info": lambda *_, **__: facts.refuse("torch.cuda.mem_get_info", "how much is free depends on what runs"),
    "is_initialized": lambda: True,
    "current_device": _zero,
    "_exchange_device": _zero,
    "_maybe_exchange_device": _zero,
    **dict.fromkeys(["current_stream", "default_stream"], lambda *_, **__: InertStream()),
    **dict.fromkeys(["Stream", "Event", "ExternalStream"], InertStream),
    **dict.fromkeys(
        ["init", "_lazy_init", "set_device", "set_stream", "synchronize", "empty_cache", "ipc_collect"], _nothing
    ),
    **dict.fromkeys(["reset_peak_memory_stats", "manual_seed", "manual_seed_all", "seed", "seed_all"], _nothing),
    **dict.fromkeys(["memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"], _zero),
    "stream": lambda *_, **__: contextlib.nullcontext(),
}
_IN_C = {
    "_cuda_getDeviceProperties": _properties,
    "_cuda_getDeviceCount": lambda: facts.told("torch._C._cuda_getDeviceCount", 1),
    "_cuda_getDevice": _zero,
    "_cuda_setDevice": _nothing,
    "_cuda_init": _nothing,
    "_cuda_synchronize": _nothing,
    "_cuda_isInBadFork": lambda: False,
    "_cuda_getCurrentRawStream": _zero,
}


def for_torch(torch: Any) -> None:
    for module, answers in ((torch.cuda, _ANSWERS), (torch._C, _IN_C)):
        for name, answer in answers.items():
            setattr(module, name, answer if isinstance(answer, type) else _apart(answer))
    if torch.version.cuda is None:
        torch.version.cuda = facts.facts()["cuda"]
        torch.cuda.get_arch_list = _no_arch_list
        torch.backends.cuda.is_built = lambda: True
    if hasattr(torch, "compile"):
        torch.compile = _uncompiled
    if hasattr(torch, "overrides"):
        _tensors_pass_by(torch)


def _apart(answer: Any) -> Any:
    """The same as a function of its own: TorchDynamo refuses one that stands under two names."""
    return lambda *arguments, **keywords: answer(*arguments, **keywords)


def _no_arch_list() -> list[str]:
    with contextlib.suppress(facts.Unanswered):
        facts.refuse(
            "torch.cuda.get_arch_list", "this torch is built without CUDA, for no chip: an empty list is given"
        )
    return []


def _uncompiled(model: Any = None, **_: Any) -> Any:
    """`torch.compile` as a function and as a decorator: what is compiled runs as it is written."""
    return model if model is not None else _uncompiled


_OWN_NAMESPACES = frozenset(
    ["aten", "prim", "prims", "quantized", "inductor", "c10d", "profiler", "mkldnn", "onednn", "sparse"]
)
_MOVES = frozenset({"to", "cuda", "cpu"})


def _tensors_pass_by(torch: ModuleType) -> None:
    """Have every call of torch pass by: factories, moves and operations."""
    given = _python_kernels(torch)
    stand_in = _stand_in(torch)
    base = torch.overrides.TorchFunctionMode

    class PassingBy(base):  # type: ignore[misc, valid-type]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            overload = _custom(func, torch)
            if overload is not None and _on_gpu((args, kwargs), stand_in):
                return _operation(overload, args, kwargs, given, self, stand_in, torch)
            return _plainly(func, args, kwargs, stand_in, torch)

    stand_in.__torch_function__ = classmethod(
        lambda cls, func, types, args=(), kwargs=None: _plainly(func, args, dict(kwargs or {}), stand_in, torch)
    )
    _enter_in_threads(PassingBy)
    _tell_of_absent_operations(torch._ops._OpNamespace)


def _tell_of_absent_operations(namespace: Any) -> None:
    """An operation that no library has registered is missing as torch has it; on the chip it may be there. torch itself
    asks for hundreds when it is compiled for."""
    found = namespace.__getattr__

    def getattr_(self: Any, name: str) -> Any:
        try:
            return found(self, name)
        except AttributeError:
            asking = sys._getframe(1).f_globals.get("__name__", "")
            if not name.startswith("__") and asking.partition(".")[0] != "torch":
                reason = "no library that is loaded has registered it"
                facts.note("unanswered", f"torch.ops.{self.name}.{name}", reason=reason)
            raise

    namespace.__getattr__ = getattr_


def _enter_in_threads(mode: Any) -> None:
    """A mode is a thread's own: enter it here and at the beginning of every thread."""
    mode().__enter__()
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap(self: threading.Thread) -> None:
        with mode():
            begin(self)

    threading.Thread._bootstrap_inner = bootstrap  # type: ignore[attr-defined]


def _stand_in(torch: ModuleType) -> Any:
    base = torch.Tensor

    class CudaStandIn(base):  # type: ignore[misc, valid-type]
        """A tensor on the CPU that says that it is on the GPU."""

        @property
        def device(self) -> Any:
            return torch.device("cuda", 0)

        @property
        def is_cuda(self) -> bool:
            return True

        @property
        def is_cpu(self) -> bool:
            return False

        def get_device(self) -> int:
            return 0

    return CudaStandIn


def _plainly(func: Any, args: Any, kwargs: dict[str, Any], stand_in: Any, torch: ModuleType) -> Any:
    """Call it on the CPU; what comes back is on the GPU where it was asked for or where what went in was."""
    name = getattr(func, "__name__", "")
    device = kwargs.get("device")
    if name in _MOVES and device is None:
        device = {"cuda": "cuda", "cpu": "cpu"}.get(name) or next(filter(_is_device(torch), args[1:]), None)
    asked = _type(device)
    if asked == "cuda":
        args = tuple("cpu" if _is_device(torch)(one) and _type(one) == "cuda" else one for one in args)
        kwargs = kwargs | {"device": "cpu"} if "device" in kwargs else kwargs
        if name == "cuda":
            func, args, kwargs = torch.Tensor.to, (args[0], "cpu"), {}
    kwargs.pop("pin_memory", None)
    on_gpu = asked == "cuda" or (asked is None and _on_gpu((args, kwargs), stand_in))
    with torch._C.DisableTorchFunctionSubclass():
        found = func(*args, **kwargs)
    given = {id(one) for one in _tensors((args, kwargs))}
    wanted = stand_in if on_gpu else torch.Tensor
    return _each(found, lambda one: _as(one, wanted, stand_in, asked, given, torch), torch)


def _as(one: Any, wanted: Any, stand_in: Any, asked: str | None, given: set[int], torch: ModuleType) -> Any:
    """A result as what it says it is; what went in stays itself, unless it was moved."""
    is_there = isinstance(one, stand_in) == (wanted is stand_in)
    if is_there or (id(one) in given and asked is None):
        return one
    with torch._C.DisableTorchFunctionSubclass():
        return one.as_subclass(wanted)


def _is_device(torch: ModuleType) -> Any:
    return lambda one: (
        isinstance(one, torch.device) or (isinstance(one, str) and one.startswith(("cuda", "cpu", "meta")))
    )


def _type(device: Any) -> str | None:
    """The kind of device that a value names; a number is a GPU."""
    if device is None:
        return None
    if isinstance(device, int):
        return "cuda"
    return str(getattr(device, "type", device)).partition(":")[0]


def _tensors(value: Any) -> Any:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _tensors(one)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif hasattr(value, "as_subclass"):
        yield value


def _on_gpu(value: Any, stand_in: Any) -> bool:
    return any(isinstance(one, stand_in) for one in _tensors(value))


def _each(value: Any, change: Any, torch: ModuleType) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_each(one, change, torch) for one in value)
    if isinstance(value, tuple) and hasattr(value, "n_fields"):  # torch.return_types
        return type(value)(_each(one, change, torch) for one in value)
    return value


Kernels = dict[tuple[str, str], Any]


def _python_kernels(torch: ModuleType) -> Kernels:
    """The functions in Python that libraries register for an operation and a dispatch key, from now on."""
    given: Kernels = {}
    own = torch.library.Library.impl

    def impl(self: Any, op: Any, function: Any, dispatch_key: str = "", *more: Any, **named: Any) -> Any:
        name = op if isinstance(op, str) else op.name()
        full = name if "::" in name else f"{self.ns}::{name}"
        given[full.partition(".")[0], dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"] = function
        return own(self, op, function, dispatch_key, *more, **named)

    torch.library.Library.impl = impl
    return given


def _custom(func: Any, torch: ModuleType) -> Any:
    """The overload of an operation that torch itself does not have, or None."""
    if isinstance(func, torch._ops.OpOverloadPacket):
        func = getattr(func, func.overloads()[0])
    is_custom = isinstance(func, torch._ops.OpOverload) and func.namespace not in _OWN_NAMESPACES
    return func if is_custom else None


def _operation(overload: Any, args: Any, kwargs: Any, given: Kernels, mode: Any, stand_in: Any, torch: Any) -> Any:
    """What an operation does on the GPU: its function in Python, or a launch with results of the shapes of its fake."""
    name = overload.name().partition(".")[0]
    for key in ("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd"):
        if (name, key) in given:
            with mode:
                return given[name, key](*args, **kwargs)
    facts.launch("operation", name, args, kwargs)
    if not overload._schema.returns:
        return None
    try:
        with torch._C.DisableTorchFunctionSubclass():
            found = overload(*_each_in(args, torch, "meta"), **_each_in(kwargs, torch, "meta"))
            zeros = _each(found, lambda one: torch.zeros(one.shape, dtype=one.dtype).as_subclass(stand_in), torch)
    except Exception as error:
        facts.refuse(f"what {name} gives", f"it has no kernel for the CPU and no fake ({type(error).__name__})")
    return zeros


def _each_in(value: Any, torch: ModuleType, device: str) -> Any:
    if isinstance(value, dict):
        return {key: _each_in(one, torch, device) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_each_in(one, torch, device) for one in value)
    return torch.Tensor.to(value, device) if isinstance(value, torch.Tensor) else value
