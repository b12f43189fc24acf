"""State of one GPU during a job: the loaded image, its kernels and buffers."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any

from bwlint.confirm.driver.calls import Driver, Refused
from bwlint.confirm.driver.errors import INVALID_VALUE

MOST_NAMES = 4096
MOST_BUFFER = 64 << 20
_MOST_PARAMETERS = 1024
OF_KERNELS = ("CUfunction_attribute", "CU_FUNC_ATTRIBUTE_")


class StepSkipped(Exception):
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
        """A kernel by its name, or the only one of the image."""
        if self.module is None:
            raise StepSkipped("no image is loaded")
        name = name if name is not None else self.only()
        if name not in self.kernels:
            self.kernels[name] = self.driver("cuModuleGetFunction", self.module, name.encode())
        return self.kernels[name]

    def only(self) -> str:
        names = self.names()
        if len(names) != 1:
            raise StepSkipped(f"the image has {len(names)} kernels, and none is named")
        return names[0]

    def names(self) -> list[str]:
        if self.module is None:
            raise StepSkipped("no image is loaded")
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

    def parameters(self, kernel: Any) -> list[dict[str, int]]:
        """The parameters of a kernel, by their offsets and sizes in bytes."""
        found: list[dict[str, int]] = []
        while len(found) < _MOST_PARAMETERS:
            try:
                offset, size = self.driver("cuFuncGetParamInfo", kernel, len(found))
            except Refused as refused:
                # The first that is not there ends the list.
                if refused.error != INVALID_VALUE:
                    raise
                break
            found.append({"offset": int(offset), "size": int(size)})
        return found
