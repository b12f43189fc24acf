from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.model.escape import visible
from bwlint.report.write import dumps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("Größe 大 😀", "Größe 大 😀", id="letters stay"),
        pytest.param("a\\x1b", "a\\x1b", id="a backslash stays"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="ansi"),
        pytest.param("\x9b31m", "\\x9b31m", id="eight-bit ansi"),
        pytest.param("a\nb\rc\td", "a\\nb\\rc\\td", id="line ends"),
        pytest.param("\x00\x7f", "\\x00\\x7f", id="nul and del"),
        pytest.param("\u202eevil\u2069", "\\u202eevil\\u2069", id="bidi"),
        pytest.param("\u2028\u200f", "\\u2028\\u200f", id="separator and mark"),
        pytest.param("\udc80", "\\udc80", id="undecodable byte"),
        pytest.param("\U000e0041", "\\U000e0041", id="tag"),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


@given(st.text(alphabet=st.characters()))
def test_visible_text_can_be_printed(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert all(ord(char) >= 32 and not 0x7F <= ord(char) < 0xA0 for char in shown)


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner)))
def test_json_is_read_back(value: object) -> None:
    assert json.loads(dumps(value)) == value


@given(st.text(alphabet=st.sampled_from('a\\u"d8\ud800\udc80😀\x1b\x7f\x9b\u202e')))
def test_json_is_printable_and_unicode(text: str) -> None:
    written = dumps([text])
    assert written.isascii()
    assert all(char.isprintable() or char == "\n" for char in written)
    json.loads(written)[0].encode("utf-8")


def test_a_lone_surrogate_is_spelled_out() -> None:
    assert json.loads(dumps("a\udc80b \\udc80 😀")) == "a\\udc80b \\udc80 😀"
