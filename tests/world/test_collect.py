"""Facts are the same wherever they were read: here, or in a process of the pool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bwlint.model.expr import Expr
from bwlint.model.facts import Gate
from bwlint.sources.read import read_bytes
from bwlint.sources.walk import SourceFile, discover
from bwlint.world import carried
from bwlint.world.collect import SERIAL_BELOW, Collected, collect

pytestmark = pytest.mark.shared

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCALARS = (str, int, float, bool, type(None))
DEPTH = 118
NESTED = f"import torch\n\nif {'f(k=' * DEPTH}torch.cuda.get_device_capability(){')' * DEPTH}:\n    g()\n"
"""As deep as the reader goes, in the form that nests its nodes deepest."""


def files() -> tuple[SourceFile, ...]:
    return discover([str(FIXTURES)]).files


@cache
def collected(jobs: int) -> Collected:
    return collect(files(), jobs)


def gates(found: Collected) -> Iterator[Gate]:
    for _, module in found.modules:
        for one in (module, *module.embedded):
            yield from (*one.gates, *one.guards)


def values(fact: Any) -> Iterator[Any]:
    """Everything that stands in the nodes of a fact."""
    if isinstance(fact, Expr):
        yield from fact.args
        yield from (value for item in fact.args for value in values(item))
    elif is_dataclass(fact):
        yield from (value for entry in fields(fact) for value in values(getattr(fact, entry.name)))
    elif isinstance(fact, dict | tuple):
        yield from (value for item in (fact.values() if isinstance(fact, dict) else fact) for value in values(item))


def test_the_pool_says_the_same() -> None:
    assert len(files()) >= SERIAL_BELOW
    several, one = collected(2), collected(1)
    assert list(several.modules) == list(one.modules)
    assert (several.skipped, several.marked) == (one.skipped, one.marked)
    assert [(file, list(seen)) for file, seen in several.seen] == [(file, list(seen)) for file, seen in one.seen]


@pytest.mark.parametrize("number", [1, SERIAL_BELOW])
def test_what_cannot_be_read_is_told_by_its_name(tmp_path: Path, number: int) -> None:
    for place in range(number):
        (tmp_path / f"m{place}.py").write_text("if torch.cuda.get_device_capability(:\n")
    skipped = collect(discover([str(tmp_path)]).files, 2).skipped
    assert sorted(one.path for one in skipped) == sorted(str(path) for path in tmp_path.iterdir())
    assert all("syntax" in one.reason for one in skipped)


def test_texts_that_were_let_go_are_read_once_more(tmp_path: Path) -> None:
    (tmp_path / "asked.py").write_text("import torch\nCAP = torch.cuda.get_device_capability()\n")
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("from asked import CAP\nif CAP >= (12, 0):\n    pass\n")
    collect(discover([str(tmp_path / "one.py")]).files, 1)
    later = str(tmp_path / "two.py")
    data = read_bytes(later)
    assert isinstance(data, bytes)
    assert carried.carried(later, data) == {"CAP"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_sides_of_a_gate_are_two(jobs: int) -> None:
    assert [gate.at for gate in gates(collected(jobs)) if gate.yes is gate.no] == []


def test_nodes_hold_plain_values() -> None:
    found = {type(value) for _, module in collected(1).modules for value in values(module)}
    assert found - {Expr, tuple, *SCALARS} == set()


def test_deep_code_comes_back(tmp_path: Path) -> None:
    for number in range(SERIAL_BELOW):
        (tmp_path / f"m{number}.py").write_text(NESTED)
    deep = discover([str(tmp_path)]).files
    assert len(collect(deep, 2).modules) == SERIAL_BELOW
