"""Images as bytes, and how they are loaded and linked: with the JIT's log."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from bwlint.confirm.driver.calls import Driver, Refused
from bwlint.confirm.driver.session import Session

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


_INPUTS = {"ptx": "PTX", "cubin": "CUBIN", "fatbin": "FATBINARY", "object": "OBJECT", "library": "LIBRARY"}


@dataclass(frozen=True, slots=True)
class _Log:
    """Two buffers for what the JIT says, as options of a call."""

    errors: bytearray
    remarks: bytearray
    options: list[Any]
    values: list[Any]

    @classmethod
    def made(cls, driver: Driver) -> _Log:
        errors, remarks = bytearray(LOG), bytearray(LOG)
        names = ("ERROR_LOG_BUFFER", "ERROR_LOG_BUFFER_SIZE_BYTES", "INFO_LOG_BUFFER", "INFO_LOG_BUFFER_SIZE_BYTES")
        options = [driver.constant("CUjit_option", "CU_JIT_", name) for name in names]
        return cls(errors, remarks, options, [errors, LOG, remarks, LOG])

    def text(self) -> str:
        both = [bytes(part).split(b"\0")[0].decode("utf-8", "replace").strip() for part in (self.errors, self.remarks)]
        return "\n".join(part for part in both if part)[:LOG]


def load(session: Session, step: dict[str, Any]) -> dict[str, Any]:
    """Load an image in place of the one that is there."""
    given = step.get("image", session.image)
    session.forget()
    return _loaded(session, content(given))


def _loaded(session: Session, image: bytes) -> dict[str, Any]:
    driver = session.driver
    log = _Log.made(driver)
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
    log = _Log.made(driver)
    try:
        state = driver("cuLinkCreate", len(log.options), log.options, log.values)
        for given in step["inputs"]:
            kind = driver.constant("CUjitInputType", "CU_JIT_INPUT_", _INPUTS[given["kind"]])
            data = content(given)
            size = len(data) if given["kind"] == "ptx" else len(data) - 1
            driver("cuLinkAddData", state, kind, data, size, b"input", 0, [], [])
        address, size = driver("cuLinkComplete", state)
    except Refused as refused:
        refused.more = {"log": log.text()}
        raise
    image = ctypes.string_at(int(address), int(size))
    return {**_loaded(session, image), "log": log.text()}
