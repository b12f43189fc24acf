"""How a kernel is launched: its shape and its arguments, as the driver takes them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from bwlint.confirm.driver.calls import Driver
from bwlint.confirm.driver.session import OF_KERNELS, Session


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


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a kernel in memory, and the address of the table of their addresses; 0 where there are none."""

    held: tuple[Any, ...]
    address: int

    @classmethod
    def made(cls, session: Session, kernel: Any, step: dict[str, Any]) -> Arguments:
        """Those of a launch; buffers are made for them."""
        values = [_argument(session, one) for one in _given(session, kernel, step)]
        if not values:
            return cls((), 0)
        table = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        return cls((*values, table), ctypes.addressof(table))


def _given(session: Session, kernel: Any, step: dict[str, Any]) -> list[dict[str, Any]]:
    given = step.get("arguments", [])
    if given == "zeros":
        return [{"zeros": one["size"]} for one in session.parameters(kernel)]
    if isinstance(given, dict):
        return [_guess(one["size"], int(given["guess"])) for one in session.parameters(kernel)]
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
