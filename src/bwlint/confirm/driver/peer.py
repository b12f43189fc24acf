"""Jobs for two GPUs.

    {"do": "peer", "devices": [FROM, TO], "test": TEST, "image": PATH, ...}

    access                    can: [0 | 1, 0 | 1] (FROM to TO, back); attributes: of the link, both ways; multicast:
                              whether each has it
    flag words, tries         ended, arrived, wrong (words behind the flag), questions: what the GPU that waits found
    counter threads, times    value, expected
    copy bytes, repeat        wrong: how many words differ; gigabytes_per_second

Each answer has "error": 0 as well. FROM stores to, adds to and copies to memory of TO. Memory is taken with cuMemAlloc
alone, and no multicast object is ever made.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from bwlint.confirm.driver.errors import DONE, GIVEN_UP, UNTOUCHED
from bwlint.confirm.driver.session import MOST_BUFFER, Driver, Refused, addresses, content

_ATTRIBUTES = ("CUdevice_P2PAttribute", "CU_DEVICE_P2P_ATTRIBUTE_")
_ALREADY = 704


@dataclass(frozen=True, slots=True)
class _Side:
    """One of two GPUs, and how to make it the one that is spoken to."""

    driver: Driver
    device: Any
    context: Any

    @classmethod
    def of(cls, driver: Driver, ordinal: int) -> _Side:
        device = driver("cuDeviceGet", ordinal)
        return cls(driver, device, driver("cuDevicePrimaryCtxRetain", device))

    def enter(self) -> None:
        self.driver("cuCtxSetCurrent", self.context)

    def reach(self, other: _Side) -> None:
        self.enter()
        try:
            self.driver("cuCtxEnablePeerAccess", other.context, 0)
        except Refused as refused:
            if refused.error != _ALREADY:
                raise

    def buffer(self, words: int, fill: int) -> Any:
        if not 0 < words * 4 <= MOST_BUFFER:
            raise ValueError(f"a buffer of {words} words")
        self.enter()
        at = self.driver("cuMemAlloc", words * 4)
        self.driver("cuMemsetD32", at, fill, words)
        return at

    def read(self, at: Any, words: int) -> array[int]:
        self.enter()
        return self.driver.words(at, words)

    def kernel(self, image: bytes, name: str) -> Any:
        self.enter()
        return self.driver("cuModuleGetFunction", self.driver("cuModuleLoadData", image), name.encode())

    def launch(self, kernel: Any, threads: int, *given: Any) -> None:
        self.enter()
        table = addresses(given)
        self.driver("cuLaunchKernel", kernel, 1, 1, 1, threads, 1, 1, 0, 0, ctypes.addressof(table), 0)

    def wait(self) -> None:
        self.enter()
        self.driver("cuCtxSynchronize")


def peer(driver: Driver, job: dict[str, Any]) -> dict[str, Any]:
    first, second = job["devices"]
    if job["test"] == "access":
        return {"error": 0, **_access(driver, driver("cuDeviceGet", first), driver("cuDeviceGet", second))}
    here, there = _Side.of(driver, first), _Side.of(driver, second)
    here.reach(there)
    there.reach(here)
    return {"error": 0, **_TESTS[job["test"]](here, there, job)}


def _access(driver: Driver, here: Any, there: Any) -> dict[str, Any]:
    ways = ((here, there), (there, here))
    multicast = driver.constant("CUdevice_attribute", "CU_DEVICE_ATTRIBUTE_", "MULTICAST_SUPPORTED")
    return {
        "can": [int(driver("cuDeviceCanAccessPeer", one, other)) for one, other in ways],
        "attributes": [driver.told(_ATTRIBUTES, "cuDeviceGetP2PAttribute", one, other) for one, other in ways],
        "multicast": [int(driver("cuDeviceGetAttribute", multicast, one)) for one in (here, there)],
    }


def _flag(here: _Side, there: _Side, job: dict[str, Any]) -> dict[str, Any]:
    words, tries = int(job["words"]), int(job["tries"])
    image = content(job["image"])
    poll, store = there.kernel(image, "poll_flag"), here.kernel(image, "store_flag")
    flag, data, out = there.buffer(1, 0), there.buffer(words, 0), there.buffer(4, 0)
    # Nothing is made or loaded while a kernel waits: that could wait for the kernel.
    at = [ctypes.c_uint64(int(one)) for one in (out, data, flag)]
    size, most = ctypes.c_uint32(words), ctypes.c_uint32(tries)
    there.launch(poll, 256, *at, size, most)
    here.launch(store, 256, at[1], at[2], size)
    here.wait()
    there.wait()
    ended, wrong, questions, _ = there.read(out, 4)
    return {"ended": ended == DONE, "arrived": questions != GIVEN_UP, "wrong": wrong, "questions": questions}


def _counter(here: _Side, there: _Side, job: dict[str, Any]) -> dict[str, Any]:
    threads, times = int(job["threads"]), int(job["times"])
    kernel = here.kernel(content(job["image"]), "count_up")
    counter = there.buffer(1, 0)
    there.wait()
    here.launch(kernel, threads, ctypes.c_uint64(int(counter)), ctypes.c_uint32(times))
    here.wait()
    return {"value": there.read(counter, 1)[0], "expected": threads * times}


def _copy(here: _Side, there: _Side, job: dict[str, Any]) -> dict[str, Any]:
    words, repeat = int(job["bytes"]) // 4, int(job["repeat"])
    driver = here.driver
    target = there.buffer(words, UNTOUCHED)
    source = here.buffer(words, 0)
    # No stretch of it is like another one.
    host = bytearray(Random(1).randbytes(words * 4))
    sent = array("I", bytes(host))
    driver("cuMemcpyHtoD", source, host, len(host))
    ends = (target, there.context, source, here.context)
    driver("cuMemcpyPeer", *ends, words * 4)
    there.wait()
    got = there.read(target, words)
    wrong = 0 if got == sent else sum(one != other for one, other in zip(got, sent, strict=True))
    here.enter()
    seconds = driver.milliseconds(repeat, lambda: driver("cuMemcpyPeerAsync", *ends, words * 4, 0)) / 1000
    return {"wrong": wrong, "gigabytes_per_second": words * 4 * repeat / seconds / 1e9 if seconds else 0.0}


_TESTS: dict[str, Callable[[_Side, _Side, dict[str, Any]], dict[str, Any]]] = {
    "flag": _flag,
    "counter": _counter,
    "copy": _copy,
}
