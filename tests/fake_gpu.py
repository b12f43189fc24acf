"""GPUs for tests that need none: a folder from which a child imports a `cuda.bindings.driver` of our own.

A scene is a dictionary:

    devices        [{"name", "attributes"}], see `device`; one H100 where there is nothing
    version        13000
    driver         "missing"
    images         [{"contains": TEXT, "error": N, "log": TEXT}], what is not to be loaded
    kernels        {NAME: {"attributes", "parameters": [SIZE], "results": [WORD], "then": WHAT}}: results are written
                   to the buffer of the first argument (None leaves its word); who waits for the kernel gets WHAT
    calls          {FUNCTION: [WHAT, ...]}, for its first, second, ... call, the last for all further
    unnamed        [NAME, ...], the kernels of an image that names none in text
    milliseconds   [N, ...], what events measure
    static         most bytes of static shared memory of a probe
    peer           {"can", "moves", NAME}: access, whether copies arrive, attributes of the link

WHAT is 0, an error's number, "hang", "die", "environment" (it is printed) or {"print": BYTES}. Kernels are those that
an image names as `.entry NAME(`.
"""

from __future__ import annotations

import json
import py_compile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

HOPPER = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MULTIPROCESSOR_COUNT": 132,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
    "CLUSTER_LAUNCH": 1,
    "COOPERATIVE_LAUNCH": 1,
    "MULTICAST_SUPPORTED": 1,
    "CAN_USE_STREAM_MEM_OPS": 1,
}


def device(**attributes: int) -> dict[str, Any]:
    """An H100, but for the attributes given."""
    return {"name": "made up", "attributes": {**HOPPER, **attributes}}


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, **scene: Any) -> None:
    """Have children see this scene, with one H100 where it names no devices."""
    package = folder / "fake" / "cuda" / "bindings"
    package.mkdir(parents=True, exist_ok=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "driver.pyc").write_bytes(_compiled())
    (package / "scene.json").write_text(json.dumps({"devices": [device()], **scene}))
    monkeypatch.syspath_prepend(str(folder / "fake"))


@cache
def _compiled() -> bytes:
    """The driver as bytecode: hundreds of children import it, each from a folder of its own."""
    with TemporaryDirectory() as folder:
        made = py_compile.compile(str(Path(__file__).with_name("fake_driver.py")), f"{folder}/driver.pyc", doraise=True)
        return Path(made or "").read_bytes()
