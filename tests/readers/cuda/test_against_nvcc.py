"""bwlint believes compiled what nvcc's preprocessor leaves, for every guard of guards.cu and nine targets."""

from __future__ import annotations

import re
from pathlib import Path

from toolkit import Toolkit

from bwlint.chips import Target
from bwlint.evaluate.sources import Sources
from bwlint.readers.cuda import read
from bwlint.readers.cuda.lexer import clean
from bwlint.readers.cuda.preprocessor import directives
from bwlint.world.tree import Tree

GUARDS = Path(__file__).with_name("guards.cu")
TARGETS = ("90a", "100a", "103f", "120", "120f", "120a", "121", "121f", "121a")
MARK = re.compile(r"\bmark_\w+")


def believed() -> dict[str, set[str]]:
    """The targets for which bwlint thinks that each marker may compile."""
    source = GUARDS.read_text(encoding="utf-8")
    module = read(str(GUARDS), source)
    code = clean(source)
    found = directives(code)
    tree = Tree(Sources({}), lambda path, name: None)
    sets: dict[str, set[str]] = {}
    for mark in MARK.finditer(code.text):
        compiled = tree.compiled(module, found.path(mark.start()))
        sets[mark[0]] = {name for name in TARGETS if Target.parse(name) in compiled}
    return sets


def left_by(nvcc: Toolkit, target: str) -> set[str]:
    """The markers in what the preprocessor prints for a target."""
    gencode = f"arch=compute_{target},code=sm_{target}"
    return set(MARK.findall(nvcc.run("nvcc", "-E", "-gencode", gencode, str(GUARDS))))


def test_what_compiles_is_what_nvcc_leaves(nvcc: Toolkit) -> None:
    mine = believed()
    printed = {target: left_by(nvcc, target) for target in TARGETS}
    its = {mark: {target for target in TARGETS if mark in printed[target]} for mark in mine}
    assert {mark for marks in printed.values() for mark in marks} <= set(mine)
    free = {mark for mark in mine if mark.startswith("mark_free")}
    wrong = {mark: (mine[mark], its[mark]) for mark in mine if mark not in free and mine[mark] != its[mark]}
    assert not wrong
    assert all(its[mark] <= mine[mark] for mark in free)
    assert all(mine[mark] == set(TARGETS) for mark in free - {"mark_free_with_target"})
    assert mine["mark_free_with_target"] == {"120", "120f", "120a"}


def test_there_are_guards_enough() -> None:
    assert len(read(str(GUARDS), GUARDS.read_text(encoding="utf-8")).guards) >= 60
