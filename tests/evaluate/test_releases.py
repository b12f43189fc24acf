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
