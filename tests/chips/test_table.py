"""What `bwlint chips` prints."""

from __future__ import annotations

import io
import re

import pytest

from bwlint.chips.table import comparison, named, overview, plain, show


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_overview_has_every_chip_and_marks_the_hypothetical_ones() -> None:
    lines = plain(overview()).splitlines()
    assert len(lines) == 1 + 16 + 2
    assert lines[0].startswith("chip")
    assert lines[-4].split()[:6] == ["12.0", "Blackwell", "120f", "120", "120f", "120a"]
    assert "99 KiB" in lines[-4]
    assert lines[-2].startswith("12.x-next (hypothetical)")
    assert lines[-1].startswith("13.0 (hypothetical)")


def test_comparison_marks_what_differs() -> None:
    table = comparison(named(["12.0", "12.1"]))
    assert table.header == ("", "12.0", "12.1")
    differing = [row.cells[0] for row in table.rows if row.marked]
    assert differing == ["targets", "CUDA", "products"]


def test_comparison_of_two_families() -> None:
    rows = {row.cells[0]: row for row in comparison(named(["sm_120", "10.0"])).rows}
    assert rows["smem/block"].cells == ("smem/block", "99 KiB", "227 KiB")
    assert rows["smem/block"].marked
    assert rows["TMEM/SM"].cells == ("TMEM/SM", "none", "256 KiB")
    assert rows["cluster"].cells == ("cluster", "8 / ?", "8 / 16")
    assert not rows["default"].marked


def test_plain_text_is_aligned_and_marked() -> None:
    lines = plain(comparison(named(["12.0", "10.0"]))).splitlines()
    assert lines[0].split() == ["12.0", "10.0"]
    assert all(line == line.rstrip() for line in lines)
    smem = next(line for line in lines if line.startswith("smem/block"))
    assert smem.endswith("  *")
    assert smem.index("99 KiB") == lines[0].index("12.0")


def test_a_terminal_gets_a_pretty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    terminal, file = Terminal(), io.StringIO()
    show(comparison(named(["12.0", "10.0"])), terminal)
    show(comparison(named(["12.0", "10.0"])), file)
    assert "227 KiB" in terminal.getvalue()
    assert file.getvalue() == plain(comparison(named(["12.0", "10.0"])))


def test_named_knows_hypothetical_chips() -> None:
    assert [each.name for each in named(["12.x-next", "13.0", "sm_121a"])] == ["12.x-next", "13.0", "12.1"]
    with pytest.raises(ValueError, match="14"):
        named(["14.0"])


@pytest.mark.parametrize(
    ("width", "first"),
    [(80, "chip family smem/block"), (125, "chip generation family"), (300, "chip generation family targets")],
)
def test_a_narrow_terminal_gets_the_columns_that_fit(width: int, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    show(overview(), terminal)
    told = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    assert " ".join(told[0].split()).startswith(first)
    assert "CUDA" in told[0]
    assert all(len(line.rstrip()) <= width for line in told)
    assert ("are too few for" in " ".join(" ".join(told).split())) == (width < 300)


@pytest.mark.parametrize(
    ("word", "chip"),
    [
        ("spark", "12.1"),
        ("5090", "12.0"),
        ("RTX PRO 6000", "12.0"),
        ("hopper", "9.0"),
        ("Ada", "8.9"),
        ("b200", "10.0"),
    ],
)
def test_named_knows_what_is_sold(word: str, chip: str) -> None:
    assert [each.name for each in named([word])] == [chip]


@pytest.mark.parametrize("word", ["blackwell", "volta", "tesla"])
def test_named_knows_no_name_of_several(word: str) -> None:
    with pytest.raises(ValueError, match="not a target"):
        named([word])


@pytest.mark.parametrize(("width", "parts"), [(30, 8), (40, 4), (80, 2), (120, 1)])
def test_a_comparison_on_a_narrow_terminal_is_in_parts(width: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    table, terminal = comparison(named(["12.0", "12.1", "10.0", "9.0", "8.9", "8.0", "7.5", "10.3"])), Terminal()
    show(table, terminal)
    told = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert all(len(line.rstrip()) <= width for line in told.splitlines())
    cells = [*table.header, *(cell for row in table.rows for cell in row.cells)]
    assert set(told.split()) == set(" ".join(cells).split())
    assert told.count("smem/block") == parts
