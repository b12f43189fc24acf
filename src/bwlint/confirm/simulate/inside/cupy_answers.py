"""CuPy: its devices and their attributes; kernels from source."""

from __future__ import annotations

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


def apply(cupy: Any) -> None:
    cupy.RawKernel = UnbuiltKernel
    cupy.is_available = lambda: facts.told("cupy.is_available", True)
    cupy.cuda.is_available = lambda: facts.told("cupy.cuda.is_available", True)
    cupy.cuda.Device = SimulatedDevice
    cupy.cuda.device.Device = SimulatedDevice
    cupy.cuda.device.get_compute_capability = lambda: SimulatedDevice().compute_capability
    cupy.cuda.runtime.getDeviceCount = lambda: facts.told("cupy.cuda.runtime.getDeviceCount", 1)
    cupy.cuda.runtime.getDevice = lambda: 0
