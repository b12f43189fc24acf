from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.model.findings import fingerprint
from bwlint.report.sarif import joined, line_hashes

# Computed in another language by the upload action's own method, a window that rolls over the file; that
# program gave the action's published values for the inputs of the action's own tests.
KNOWN = {
    "empty": ("", ["c129715d7a2bc9a3:1"]),
    "tab": (
        "if cap == 120:\n\treturn 1\n",
        ["9db8aefe4a0fa482:1", "c640be1c5b5a107a:1", "c129715d7a2bc9a3:1"],
    ),
    "line ends": (
        "a\r\nb\r\rc \r\n",
        [
            "77a50b96b14e5049:1",
            "ca025105991a4cc2:1",
            "f2078d1c7c7b87e:1",
            "3791504be0bd17cc:1",
            "c129715d7a2bc9a3:1",
        ],
    ),
    "beyond the BMP": (
        "\U0001f600 = \u5927\nx\n",
        ["31ca26723652b61c:1", "828973aa50c68d6d:1", "c129715d7a2bc9a3:1"],
    ),
    "equal lines": (
        "cap = 1\n" * 18,
        [
            "accdf4a099520ddd:1",
            "accdf4a099520ddd:2",
            "accdf4a15edfac63:1",
            "22d19c5226530d47:1",
            "33801bfbc7c5a04b:1",
        ],
    ),
}


def rolling(text: str) -> list[str]:
    """The hashes by the other way: one pass over UTF-16 units with a window, as the action computes them."""
    raw = text.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(raw[i : i + 2], "little") for i in range(0, len(raw), 2)]
    kept: list[int] = []
    after_cr = False
    for unit in units:
        skip = unit in (32, 9) or (after_cr and unit == 10)
        after_cr = unit == 13 and not skip
        if not skip:
            kept.append(10 if unit == 13 else unit)
    kept.append(65535)
    starts = {0} | {place + 1 for place, unit in enumerate(kept) if unit == 10}
    value, counts, found = 0, dict[str, int](), list[str]()
    for place, unit in enumerate(kept + [0] * 100):
        if place - 100 in starts:
            key = format(value, "x")
            counts[key] = counts.get(key, 0) + 1
            found.append(f"{key}:{counts[key]}")
        leaving = (kept + [0] * 100)[place - 100] if place >= 100 else 0
        value = (value * 37 + unit - leaving * pow(37, 100, 1 << 64)) % (1 << 64)
    return found


def all_hashes(text: str) -> list[str]:
    count = len(re.split(r"\r\n|\r|\n", text))
    return list(line_hashes(text, range(1, count + 1)).values())


@pytest.mark.parametrize(("text", "expected"), KNOWN.values(), ids=KNOWN.keys())
def test_known_values(text: str, expected: list[str]) -> None:
    found = all_hashes(text)
    assert found[: len(expected)] == expected
    assert rolling(text) == found


@given(st.text(alphabet=st.sampled_from("ab \t\n\rä大😀"), max_size=400))
def test_equals_the_rolling_hash(text: str) -> None:
    assert all_hashes(text) == rolling(text)


def test_equal_lines_are_numbered() -> None:
    hashes = all_hashes("x = 1\n" * 60)
    assert [value.split(":")[1] for value in hashes[:3]] == ["1", "2", "3"]
    assert hashes[0].split(":")[0] == hashes[1].split(":")[0]


def test_only_wanted_lines() -> None:
    assert set(line_hashes("a\nb\nc\n", {2, 9})) == {2}
    assert line_hashes("a\n", ()) == {}


@pytest.mark.parametrize(
    "lines", [["a\n", "b\n"], ["a", "b", ""], ["a\n", "b\n", ""]], ids=["ends kept", "split", "ends and rest"]
)
def test_joined(lines: list[str]) -> None:
    assert joined(lines) == "a\nb\n"


def test_fingerprint_ignores_white_space_alone() -> None:
    one = fingerprint("BW101", "cap == 120", "Backend.pick", 0)
    assert re.fullmatch("[0-9a-f]{32}", one)
    assert fingerprint("BW101", "cap\n    ==  120", "Backend.pick", 0) == one
    others = {
        fingerprint("BW102", "cap == 120", "Backend.pick", 0),
        fingerprint("BW101", "cap == 121", "Backend.pick", 0),
        fingerprint("BW101", "cap == 120", "Backend.pack", 0),
        fingerprint("BW101", "cap == 120", "Backend.pick", 1),
    }
    assert len(others | {one}) == 5


def test_fingerprint_does_not_change_between_releases() -> None:
    assert fingerprint("BW101", "cap == 120", "Backend.pick", 0) == "9b1fdd68bfbd8915a70b21805d5c34a0"
