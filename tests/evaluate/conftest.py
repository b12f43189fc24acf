"""A condition, evaluated on every chip as a gate of a small module."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.evaluate.sources import Sources
from bwlint.readers.python import read
from bwlint.world.tree import Sets, Tree

PRELUDE = """
import functools
import os
import torch
from vllm.platforms import current_platform

cap = torch.cuda.get_device_capability()
major, minor = cap
named = current_platform.get_device_capability()
props = torch.cuda.get_device_properties(0)
"""

Evaluate = Callable[..., "Sets | None"]


def evaluated(condition: str, setup: str = "") -> Sets | None:
    """The sets of `condition` behind `setup`; None where nothing is decided or no device is read."""
    # The comment makes the reader look at the line whatever it says.
    source = f"{PRELUDE}\n{setup}\nif (  # sm_120\n{condition}\n): pass\n"
    module = read("/example.py", source, "example", False)
    gates = [gate for gate in module.gates if gate.kind == "condition" and gate.qualname == "<module>"]
    if not gates or gates[-1].at[0] < source.count("\n", 0, source.rindex("# sm_120")):
        return None
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    return tree.sets(module, gates[-1])


@pytest.fixture
def evaluate() -> Evaluate:
    return evaluated
