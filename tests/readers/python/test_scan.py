"""One look for the words of all readers: who is asked about a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.readers.python import look, may_matter, scan
from bwlint.readers.python.scan import Literally, Scan

WORDS = Scan.of(
    {"one": Literally((b"alpha", b"beta")), "two": Literally((b"Beta",)), "three": Literally((b"gamma",))}, ("Delta",)
)


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        (b"", []),
        (b"nothing", []),
        (b"xalphax", ["one"]),
        (b"beta", ["one"]),
        (b"Beta", ["two"]),
        (b"BETA", []),
        (b"gamma beta Beta", ["one", "two", "three"]),
        (b"\xff\x00gamma", ["three"]),
    ],
)
def test_who_is_asked(data: bytes, asked: list[str]) -> None:
    assert list(WORDS.look(data).asking()) == asked


@pytest.mark.parametrize(("data", "named"), [(b"a Delta", ("Delta",)), (b"delta", ()), (b"DELTA Delta.x", ("Delta",))])
def test_which_names_stand_in_a_file(data: bytes, named: tuple[str, ...]) -> None:
    assert WORDS.look(data).named() == named


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("x = 1\n", set()),
        ("search(archive)\n", set()),
        ("if capability >= (9, 0): f()\n", {"device"}),
        ("install_requires=['torch>=2.7']\n", {"pins"}),
        ("CUTE = 'nvlink'; link_speed = nvlink_bandwidth\n", {"links"}),
        ("T.alloc_shared((1, 2))\n", {"tiles"}),
    ],
)
def test_who_is_asked_about_python(text: str, asked: set[str]) -> None:
    found = set(look(text.encode()).asking())
    assert asked <= found if asked else not found


def test_every_reader_is_found_by_its_anchors() -> None:
    """An anchor stands in every file that a reader wants, so no reader may want a file without one."""
    for name, reader in scan().readers.items():
        assert reader.ANCHORS, name
        assert all(isinstance(word, bytes) and word for word in reader.ANCHORS), name


PIECES = sorted({word for reader in scan().readers.values() for word in reader.ANCHORS})
FILLING = st.sampled_from([b" ", b"\n", b"_", b"(9, 0)", b" == 90", b"class A:\n    ", b"x = ", b"except ", b"'", b"1"])


@given(st.lists(st.sampled_from(PIECES) | FILLING, max_size=12))
def test_nobody_is_missed(parts: list[bytes]) -> None:
    """Whoever would hold a file with one of its words is asked about it."""
    data = b"".join(parts)
    wanted = {
        name
        for name, reader in scan().readers.items()
        if any(word.lower() in data.lower() for word in reader.ANCHORS) and reader.may_hold(data)
    }
    assert set(look(data).asking()) == wanted
    assert may_matter(data) is bool(wanted)
