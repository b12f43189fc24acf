"""Arguments of calls that stand as operands: what a reader hands on so is evaluated, and ends no run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.model.expr import Expr
from bwlint.readers.python import read
from bwlint.world.tree import Tree

SOURCE = "import torch\nif torch.cuda.get_device_capability() >= (12, 0):\n    pass\n"


@pytest.mark.parametrize(
    ("around", "admitted"),
    [(lambda one: Expr("kw", ("sm", one)), ChipSet.of("12.0", "12.1")), (lambda one: Expr("star", (one,)), None)],
)
def test_an_argument_as_an_operand(around, admitted: ChipSet | None) -> None:  # type: ignore[no-untyped-def]
    module = read("/example.py", SOURCE, "example", False)
    (gate,) = module.gates
    signs, (left, right) = gate.test.args
    changed = replace(gate, test=Expr("cmp", (signs, (around(left), right)), gate.test.at))
    tree = Tree(Sources(), lambda path, name: None)
    tree.give(module.path, module.name, "/", lambda: module)
    sets = tree.sets(module, changed)
    assert (sets.may if sets is not None and sets.decided else None) == admitted
