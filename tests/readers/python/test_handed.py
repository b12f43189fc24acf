"""What a call hands to a parameter of the file, and calls that only sound like it."""

from __future__ import annotations

import pytest

from bwlint.readers.python import read

FUNCTION = """
import torch
def run(x, fast):
    {call}
    if fast:
        return 1
def ask():
    return torch.cuda.get_device_capability()[0] >= 9
def main(x, module):
    fast = ask()
    {outside}
"""


@pytest.mark.parametrize(
    ("call", "outside", "handed"),
    [
        ("pass", "run(x, fast)", True),
        ("pass", "run(x, fast=fast)", True),
        ("pass", "torch.ops.mine.run(x, fast)", True),
        ("pass", "module.run(x, fast)", False),
        ("pass", "build(x).run(x, fast)", False),
        ("build().run(x, ask())", "pass", False),  # the operation behind a wrapper of its name
    ],
)
def test_who_takes_it(call: str, outside: str, handed: bool) -> None:
    module = read("/tree/a.py", FUNCTION.format(call=call, outside=outside), "a", False)
    assert (("run", "fast") in module.passed) is handed


def test_a_method_is_called_on_an_object() -> None:
    source = """
import torch
class Kernel:
    def run(self, x, fast):
        if fast:
            return 1
def main(kernel, x):
    kernel.run(x, torch.cuda.get_device_capability()[0] >= 9)
"""
    assert ("Kernel.run", "fast") in read("/tree/a.py", source, "a", False).passed
