"""Which Python values are the device: by what they were given, and not by what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

QUERY = "torch.cuda.get_device_capability()"
ARMS = "        return small(x)\n    return big(x)\n\n\ndef small(x):\n    return x\n\n\ndef big(x):\n    return x\n"

FOLLOWED = {
    "a parameter with a query in its place": (
        f"def use(x, capability=None):\n    if capability is None:\n        capability = {QUERY}\n"
        f"    if capability == (12, 0):\n{ARMS}"
    ),
    "one that is called like nothing": (
        f"def use(x, given=None):\n    if given is None:\n        given = {QUERY}\n    if given == (12, 0):\n{ARMS}"
    ),
    "a flag that a test sets": (
        f"class Op:\n    def __init__(self):\n        self.narrow = False\n        if {QUERY} == (12, 0):\n"
        f"            self.narrow = True\n\n    def run(self, x):\n        if self.narrow:\n"
        f"    {ARMS.replace('    return big', '        return big', 1)}"
    ),
    "a row of a record": (
        f"def info():\n    return {{'cc': {QUERY}}}\n\n\ndef use(x):\n    if info()['cc'] == (12, 0):\n{ARMS}"
    ),
}
NO_DEVICE = {
    "a parameter with a number in its place": (
        f"def use(x, given=None):\n    if given is None:\n        given = (9, 0)\n    if given == (12, 0):\n{ARMS}"
    ),
    "a flag that another test sets": (
        f"def use(x):\n    narrow = False\n    if x.ok:\n        narrow = True\n    if narrow:\n{ARMS}"
    ),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_asked_of_the_device_is_no_guess(tmp_path: Path, name: str) -> None:
    found = drafts(tmp_path, {"m.py": f"import torch\n\n\n{FOLLOWED[name]}"}, "family-split")
    assert [one.severity for one in found] == ["warning"]


@pytest.mark.parametrize("name", NO_DEVICE)
def test_other_values_are_none(tmp_path: Path, name: str) -> None:
    assert drafts(tmp_path, {"m.py": f"import torch\n\n\n{NO_DEVICE[name]}"}, "family-split") == []
