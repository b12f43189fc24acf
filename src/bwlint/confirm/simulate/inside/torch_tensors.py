"""torch: tensors that say they are on the GPU and lie on the CPU, and custom operations without a kernel for it."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

from . import facts, journal

_OWN_NAMESPACES = frozenset(
    ["aten", "prim", "prims", "quantized", "inductor", "c10d", "profiler", "mkldnn", "onednn", "sparse"]
)
_MOVES = frozenset({"to", "cuda", "cpu"})


def apply(torch: ModuleType) -> None:
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
                journal.note("unanswered", f"torch.ops.{self.name}.{name}", reason=reason)
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


def _python_kernels(torch: ModuleType) -> dict[tuple[str, str], Any]:
    """The functions in Python that libraries register for an operation and a dispatch key, from now on."""
    given: dict[tuple[str, str], Any] = {}
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


def _operation(
    overload: Any,
    args: Any,
    kwargs: Any,
    given: dict[tuple[str, str], Any],
    mode: Any,
    stand_in: Any,
    torch: ModuleType,
) -> Any:
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
