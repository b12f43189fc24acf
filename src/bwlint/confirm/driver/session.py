"""The driver by way of cuda-bindings, whose errors become `Refused`, and the state of one GPU during a job: the image
(loaded or linked with the JIT's log), its kernels and buffers."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bwlint.confirm.driver.errors import INVALID_VALUE

STICKY = frozenset((4, 46, 100, 101, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999))
"""What a context does not get over: faults of a kernel, devices that went away, memory that is damaged."""


class Missing(Exception):
    """There is no driver to speak to; says which part is missing."""


class Refused(Exception):
    """A call that the driver answered with an error; `more` is what the answer to a job holds besides."""

    def __init__(self, error: int, name: str, call: str) -> None:
        super().__init__(f"{call}: {name} ({error})")
        self.error = error
        self.name = name
        self.call = call
        self.more: dict[str, Any] = {}

    def answer(self) -> dict[str, Any]:
        return {"error": self.error, "name": self.name, "call": self.call, **self.more}


@dataclass(frozen=True, slots=True)
class Driver:
    """The module `cuda.bindings.driver`, with errors as exceptions and enumerations by their short names."""

    module: Any

    def __call__(self, name: str, *given: Any) -> Any:
        """Call a function of the driver; its result, a tuple where there are several, None where there is none."""
        code, *results = getattr(self.module, name)(*given)
        if int(code):
            raise Refused(int(code), self.error_name(code), name)
        return results[0] if len(results) == 1 else tuple(results) or None

    def error_name(self, code: Any) -> str:
        failed, text = self.module.cuGetErrorName(code)
        if int(failed) or text is None:
            return str(getattr(code, "name", f"error {int(code)}"))
        return text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)

    def constant(self, enumeration: str, prefix: str, name: str) -> Any:
        """A value by its name without the prefix; ValueError where these bindings have none of this name."""
        found = getattr(getattr(self.module, enumeration), f"{prefix}{name}", None)
        if found is None:
            raise ValueError(f"cuda-bindings knows no {prefix}{name}")
        return found

    def names(self, enumeration: str, prefix: str) -> dict[str, Any]:
        """All values of an enumeration by their names without the prefix."""
        members = getattr(self.module, enumeration).__members__
        return {name.removeprefix(prefix): value for name, value in members.items() if not name.endswith("_MAX")}

    def told(self, names: tuple[str, str], call: str, *about: Any) -> dict[str, int]:
        """What a call tells by the names of an enumeration; what this driver does not know is left out."""
        found: dict[str, int] = {}
        for name, attribute in self.names(*names).items():
            try:
                found[name] = int(self(call, attribute, *about))
            except Refused as refused:
                if refused.error != INVALID_VALUE:
                    raise
        return found

    def words(self, at: Any, count: int) -> array[int]:
        """As many words of memory on the device."""
        host = bytearray(count * 4)
        self("cuMemcpyDtoH", host, at, len(host))
        return array("I", bytes(host))

    def milliseconds(self, repeat: int, begin: Callable[[], object]) -> float:
        """How long it takes the device to do so often what is begun."""
        start, end = self("cuEventCreate", 0), self("cuEventCreate", 0)
        self("cuEventRecord", start, 0)
        for _ in range(repeat):
            begin()
        self("cuEventRecord", end, 0)
        self("cuEventSynchronize", end)
        return float(self("cuEventElapsedTime", start, end))


def opened() -> Driver:
    """The driver, initialized. Raises `Missing` and `Refused`."""
    try:
        from cuda.bindings import driver  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise Missing("no cuda-bindings (pip install bwlint[gpu])") from None
    except ImportError as error:
        raise Missing(f"cuda-bindings cannot be imported: {error}") from None
    found = Driver(driver)
    try:
        found("cuInit", 0)
    except Refused:
        raise
    except (RuntimeError, OSError) as error:
        raise Missing(f"no driver (libcuda.so.1): {' '.join(str(error).split())[:300]}") from None
    return found


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
        if name is None:
            names = self.names()
            if len(names) != 1:
                raise StepSkipped(f"the image has {len(names)} kernels, and none is named")
            name = names[0]
        if name not in self.kernels:
            self.kernels[name] = self.driver("cuModuleGetFunction", self.module, name.encode())
        return self.kernels[name]

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

    def parameters(self, kernel: Any) -> list[int]:
        """The sizes of a kernel's parameters in bytes."""
        found: list[int] = []
        while len(found) < _MOST_PARAMETERS:
            try:
                _, size = self.driver("cuFuncGetParamInfo", kernel, len(found))
            except Refused as refused:
                # The first that is not there ends the list.
                if refused.error != INVALID_VALUE:
                    raise
                break
            found.append(int(size))
        return found


LOG = 4096
"""Bytes of a JIT's log that are kept."""
MOST_IMAGE = 1 << 30


def content(image: Any) -> bytes:
    """The bytes of an image: of a file, or of a part of one. PTX ends in a zero, which nothing else minds."""
    given = image if isinstance(image, dict) else {"image": image}
    start, size = given.get("offset", 0), given.get("size")
    # Not pathlib: each child would spend time on its import.
    with open(given["image"], "rb") as file:  # noqa: PTH123
        file.seek(start)
        data = file.read(MOST_IMAGE if size is None else min(size, MOST_IMAGE))
    return data + b"\0"


class _Log:
    """Two buffers for what the JIT says, as options of a call."""

    def __init__(self, driver: Driver) -> None:
        self._buffers = (bytearray(LOG), bytearray(LOG))
        names = ("ERROR_LOG_BUFFER", "ERROR_LOG_BUFFER_SIZE_BYTES", "INFO_LOG_BUFFER", "INFO_LOG_BUFFER_SIZE_BYTES")
        self.options = [driver.constant("CUjit_option", "CU_JIT_", name) for name in names]
        self.values = [self._buffers[0], LOG, self._buffers[1], LOG]

    def text(self) -> str:
        both = [bytes(part).split(b"\0")[0].decode("utf-8", "replace").strip() for part in self._buffers]
        return "\n".join(part for part in both if part)[:LOG]


def addresses(values: Sequence[Any]) -> Any:
    """The table of the addresses of arguments, which have to be held as long as the table."""
    return (ctypes.c_void_p * len(values))(*(ctypes.addressof(one) for one in values))


def load(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    """Load an image in place of the one that is there."""
    given = step.get("image", session.image)
    session.forget()
    return _loaded(session, content(given))


def _loaded(session: Session, image: bytes) -> dict[str, Any]:
    driver = session.driver
    log = _Log(driver)
    try:
        session.module = driver("cuModuleLoadDataEx", image, len(log.options), log.options, log.values)
    except Refused as refused:
        refused.more = {"log": log.text()}
        raise
    return {"log": log.text()}


def link(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    """Have the driver link images, and load what it makes of them."""
    driver = session.driver
    session.forget()
    log = _Log(driver)
    try:
        state = driver("cuLinkCreate", len(log.options), log.options, log.values)
        for given in step["inputs"]:
            kind = driver.constant("CUjitInputType", "CU_JIT_INPUT_", "FATBINARY")
            data = content(given)
            driver("cuLinkAddData", state, kind, data, len(data) - 1, b"input", 0, [], [])
        address, size = driver("cuLinkComplete", state)
    except Refused as refused:
        refused.more = {"log": log.text()}
        raise
    image = ctypes.string_at(int(address), int(size))
    return {**_loaded(session, image), "log": log.text()}
