"""Facts and findings as bytes, and back; no bytes run anything."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.index.packed import NotData, packed, unpacked
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Gate, Module, Side, Use
from bwlint.readers import python

AT = Span(1, 2, 3, 4)
ALWAYS = Expr("const", (True,), AT)
FIXTURES = Path(__file__).parents[2] / "fixtures"

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
THINGS: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner).map(tuple),
        st.dictionaries(st.text(), inner),
        st.frozensets(SCALARS, max_size=1),
        st.builds(Expr, st.text(), st.lists(inner).map(tuple), st.sampled_from([None, AT])),
    ),
    max_leaves=20,
)


@given(THINGS)
def test_data_comes_back_as_it_was(thing: Any) -> None:
    assert repr(unpacked(packed(thing))) == repr(thing)


@pytest.mark.parametrize(
    "thing", [0, -1, 2**70, True, 1, 1.0, -0.0, float("inf"), "", "\ud800", (), ((),), (1, True, 1.0)]
)
def test_scalars_keep_their_types(thing: object) -> None:
    assert repr(unpacked(packed(thing))) == repr(thing)


def test_what_was_one_object_is_one_again() -> None:
    side = Side(ends="raise", at=AT)
    gate = Gate(kind="condition", test=ALWAYS, at=AT, yes=side, no=side)
    found = unpacked(packed((gate, Module(path="a.py", language="python", gates=(gate,)))))
    assert found[0] is found[1].gates[0]
    assert found[0].yes is found[0].no


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.py"))[::7], ids=lambda path: path.name)
def test_facts_of_fixtures_come_back(path: Path) -> None:
    module = python.read(str(path), path.read_text("utf-8"), path.stem, False)
    assert unpacked(packed(module)) == module


@pytest.mark.parametrize("thing", [object(), b"bytes", [1], {1, 2}, 1j, ..., Path("a"), (1, [2]), int])
def test_what_is_no_data_is_not_packed(thing: object) -> None:
    with pytest.raises(NotData):
        packed(thing)


def test_what_is_too_deep_is_not_packed() -> None:
    thing: object = ()
    for _ in range(100_000):
        thing = (thing,)
    with pytest.raises(NotData):
        packed(thing)


@pytest.mark.parametrize(
    "kind",
    ["os:system", "builtins:eval", "subprocess:Popen", "bwlint.model.facts:Callable", "bwlint.cli:run", "list", ""],
)
def test_nothing_is_made_but_what_the_model_defines(kind: str) -> None:
    head = json.dumps([[kind], ["true"], -1]).encode()
    cells = b"".join(number.to_bytes(4, "little", signed=True) for number in (0, 1, 0))
    with pytest.raises(NotData):
        unpacked(zlib.compress(len(head).to_bytes(4, "little") + head + cells))


@given(st.data())
def test_damaged_bytes_are_no_data_or_something_else(data: st.DataObject) -> None:
    whole = zlib.decompress(packed((Use("a", "call", AT, given=("x",)), ALWAYS, {"k": (1, 2)}, frozenset({1}))))
    at, value = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 255))
    broken = zlib.compress(whole[:at] + bytes([value]) + whole[at + 1 :])
    try:
        unpacked(broken)
    except NotData:
        return
