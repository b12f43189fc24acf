"""Jobs for one GPU.

    {"do": "devices"}
        -> {"driver": "13.0", "devices": [{"ordinal", "name", "uuid", "capability", "attributes": {NAME: number}}]}
    {"do": "image", "device": 0, "image": PATH | {"image": PATH, "offset": N, "size": N}, "steps": [STEP, ...],
     "seconds": N}
        -> {"steps": [ANSWER, ...]}

Instead of either, {"missing": TEXT} where there is no driver, {"error", "name", "call"} where the driver refuses as a
whole. `steps` says what a step is. After an error that a context does not get over, and when `seconds` (if given) have
passed, no further step is done, and there is no answer to it.
"""

from __future__ import annotations

import math
import time
from typing import Any
from uuid import UUID

from bwlint.confirm.driver.calls import STICKY, Driver, Refused
from bwlint.confirm.driver.session import Session
from bwlint.confirm.driver.steps import take


def devices(driver: Driver, _: dict[str, Any]) -> dict[str, Any]:
    version = int(driver("cuDriverGetVersion"))
    count = int(driver("cuDeviceGetCount"))
    return {
        "driver": f"{version // 1000}.{version % 1000 // 10}",
        "devices": [_device(driver, ordinal) for ordinal in range(count)],
    }


def _device(driver: Driver, ordinal: int) -> dict[str, Any]:
    device = driver("cuDeviceGet", ordinal)
    attributes = _attributes(driver, device)
    name = bytes(driver("cuDeviceGetName", 256, device)).split(b"\0")[0].decode("utf-8", "replace")
    capability = (attributes.get("COMPUTE_CAPABILITY_MAJOR", 0), attributes.get("COMPUTE_CAPABILITY_MINOR", 0))
    return {
        "ordinal": ordinal,
        "name": name,
        # As CUDA_VISIBLE_DEVICES takes it.
        "uuid": f"GPU-{UUID(bytes=bytes(driver('cuDeviceGetUuid', device).bytes))}",
        "capability": "{}.{}".format(*capability),
        "attributes": attributes,
    }


_LEFT_OUT = ("MAXIMUM_TEXTURE", "MAXIMUM_SURFACE", "CAN_USE_", "D3D12", "VULKAN", "LOGICAL_ENDPOINT")
"""Attributes that no claim of ours is about."""


def _attributes(driver: Driver, device: Any) -> dict[str, int]:
    """All that the driver tells; what an older driver does not know is left out."""
    found: dict[str, int] = {}
    for name, attribute in driver.names("CUdevice_attribute", "CU_DEVICE_ATTRIBUTE_").items():
        if name.startswith(_LEFT_OUT):
            continue
        try:
            found[name] = int(driver("cuDeviceGetAttribute", attribute, device))
        except Refused as refused:
            if refused.error in STICKY:
                raise
    return found


def image(driver: Driver, job: dict[str, Any]) -> dict[str, Any]:
    session = Session(driver, driver("cuDeviceGet", job.get("device", 0)), job.get("image"))
    driver("cuCtxSetCurrent", driver("cuDevicePrimaryCtxRetain", session.device))
    answers: list[dict[str, Any]] = []
    end = time.monotonic() + job.get("seconds", math.inf)
    for step in job["steps"]:
        if time.monotonic() > end:
            break
        answer = take(session, step)
        answers.append(answer)
        if answer.get("error") in STICKY:
            break
    return {"steps": answers}
