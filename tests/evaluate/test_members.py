"""Attributes of classes that are made of one another: what leads back to itself costs no more than a look."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.interpreter import LAST_STEPS, MAX_STEPS
from bwlint.evaluate.sources import Sources
from bwlint.readers.python import read
from bwlint.world.tree import Tree

STEPS = MAX_STEPS - LAST_STEPS + 200
"""What is taken from the budget where a class of a few lines leads back to itself: never all of it."""
HOPPER = ChipSet.where(lambda chip: chip.major >= 9)


def _class(*lines: str) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"class Kernel:\n    def setup(self, cap):\n{body}\n"


@pytest.mark.parametrize(
    ("lines", "may"),
    [
        (("self.tiler = (self.tiler[0], self.tiler[1] * 2)",), HOPPER),
        (("self.tiler = self.stages * 2", "self.stages = self.tiler // 2"), HOPPER),
        (("self.tiler = self.wide or self.tiler", "self.wide = torch.cuda.get_device_capability() >= (10, 0)"), HOPPER),
        (("self.tiler = 3",), HOPPER),
    ],
)
def test_an_attribute_that_leads_back_to_itself_is_unknown(lines: tuple[str, ...], may: ChipSet) -> None:
    test = "        if torch.cuda.get_device_capability() >= (9, 0) and self.tiler: pass\n"
    source = f"import torch\n{_class(*lines)}    def run(self):\n{test}"
    module = read("/example.py", source, "example", False)
    (gate,) = [gate for gate in module.gates if gate.kind == "condition"]
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    found = tree.sets(module, gate)
    assert found is not None
    assert found.may == may
    assert tree.interpreter.steps < STEPS
    assert not tree.interpreter.exhausted


def test_what_was_met_on_the_way_is_known_where_it_is_asked_by_itself() -> None:
    """`stages` is unknown while `tiler` is asked for, and not afterwards."""
    lines = ("self.tiler = self.stages and self.tiler", "self.stages = helper(self.tiler is None)")
    helper = "def helper(lost):\n    return torch.cuda.get_device_capability() >= (9, 0)\n"
    tests = "        if self.tiler: pass\n        if self.stages: pass\n"
    source = f"import torch\n{helper}{_class(*lines)}    def run(self):\n{tests}"
    module = read("/example.py", source, "example", False)
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    *_, gate = [gate for gate in module.gates if gate.kind == "condition" and "stages" in gate.text]
    for other in module.gates:
        tree.sets(module, other)
    found = tree.sets(module, gate)
    assert found is not None
    assert (found.may, found.must) == (HOPPER, HOPPER)


def test_an_attribute_is_evaluated_once_and_what_is_free_in_it_is_met_each_time() -> None:
    """Twelve attributes, each made of the one before it twice, are twelve evaluations and not four thousand."""
    chain = [f"self.at_{n} = (self.at_{n - 1}, self.at_{n - 1})" for n in range(1, 13)]
    first = "self.at_0 = os.environ.get('WIDE') and torch.cuda.get_device_capability() >= (9, 0)"
    tests = "        if self.at_12 and self.at_0: pass\n        if self.at_0: pass\n"
    source = f"import os\nimport torch\n{_class(first, *chain)}    def run(self):\n{tests}"
    module = read("/example.py", source, "example", False)
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    asked = [gate for gate in module.gates if gate.kind == "condition"]
    found = [sets for gate in asked if (sets := tree.sets(module, gate)) is not None]
    assert tree.interpreter.steps < len(chain) * 10
    assert [sets.may for sets in found] == [HOPPER] * len(found)
    assert len({sets.atoms[0] for sets in found}) == 1
    assert [len(sets.atoms) for sets in found] == [2, 2]


@pytest.mark.parametrize("maker", ["made", "gen_torch_object", "torch_version"])
def test_an_unknown_object_is_asked_whatever_its_maker_is_called(maker: str) -> None:
    source = f"import elsewhere\n\ndevice = elsewhere.{maker}()\nif device.get_device_capability()[0] >= 9: pass\n"
    module = read("/example.py", source, "example", False)
    (gate,) = [gate for gate in module.gates if gate.kind == "condition"]
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    found = tree.sets(module, gate)
    assert found is not None
    assert found.may == HOPPER
