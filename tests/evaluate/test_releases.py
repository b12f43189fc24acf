"""Names like major and minor of values that are called after a release: no capability."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

SOURCE = """import torch
from somewhere import {name}


def newest():
    major, minor = {call}
    return "90" if major == 12 and minor < 8 else "121"


def act():
    major, minor = torch.cuda.get_device_capability()
    if major * 10 + minor <= int(newest()):
        return True
    raise RuntimeError("too new")
"""


STATUS = """class Driver:
    def __init__(self, lib):
        self.lib = lib
        self.sm = {given}

    def run(self):
        if self.sm in (100, 120):
            return "tcgen05"
        raise ValueError("no device")
"""


@pytest.mark.parametrize(
    ("given", "guessed"),
    [
        ("self.lib.cuInit(0)", False),
        ("self.lib.cuDeviceGetAttribute(1, 75, 0)", False),
        ("self.lib.cudaGetDevice(0)", False),
        ("self.lib.customized(0)", True),
        ("self.lib.device_of(0)", True),
    ],
)
def test_a_status_of_the_driver_is_no_capability(tmp_path: Path, given: str, guessed: bool) -> None:
    found = levels(drafts(tmp_path, {"a.py": STATUS.format(given=given)}, "family-split"))
    assert bool(found) == guessed


@pytest.mark.parametrize(
    ("call", "guessed"),
    [
        ("toolkit_version()", False),
        ("nvcc.release()", False),
        ("driver.version", False),
        ("which()", True),
        ("device_version()", True),
        ("toolkit_version(arch)", True),
    ],
)
def test_a_release_is_no_capability(tmp_path: Path, call: str, guessed: bool) -> None:
    name = call.partition("(")[0].partition(".")[0]
    found = levels(drafts(tmp_path, {"a.py": SOURCE.format(name=name, call=call)}, "excluded"))
    assert bool(found) == guessed
