"""Triton's driver: the target that its compiler and the code that asks for it see."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from . import facts

_PROPERTIES = {
    "max_shared_mem": "shared_memory_per_block_optin",
    "multiprocessor_count": "multiprocessors",
    "warpSize": "warp_size",
}


class LazyProperties(dict[str, Any]):
    """The properties of the driver, each asked for when it is looked up."""

    def __missing__(self, key: str) -> Any:
        return facts.ask(
            f"triton.runtime.driver.active.utils.get_device_properties()[{key!r}]", _PROPERTIES.get(key, key)
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


def apply(driver: ModuleType) -> None:
    driver.driver.set_active(SimulatedDriver())
