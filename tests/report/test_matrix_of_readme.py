"""The matrix as a README shows it: a table, and a badge."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, CellProof, Matrix, MatrixRow
from bwlint.report import Setting
from bwlint.report import matrix as matrix_report
from bwlint.report.matrix import MOST_ROWS

CHIPS = ("9.0", "12.0", "12.1")
ASKED = ("12.0", "12.1")
_WORDS = {"y": YES, "-": NO, "o": FALLBACK, "?": UNKNOWN}
_END = "Operations with a check of the chip that work, as bwlint reads the code: "


def row(letters: str, name: str = "op", backend: str = "", *, nested: bool = False) -> MatrixRow:
    cells = {chip: Cell(_WORDS[letter]) for chip, letter in zip(CHIPS, letters, strict=True)}
    return MatrixRow("pkg", name, backend, "a.py", 1, cells, nested)


def told(*rows: MatrixRow, asked: tuple[str, ...] = ASKED, said: tuple[str, ...] = ()) -> list[str]:
    return matrix_report.as_markdown(Matrix(CHIPS, rows, asked=asked), Setting(), said).splitlines()


def test_a_table_of_the_cards_asked_about() -> None:
    backend = row("y-y", "Enum", "X|")
    assert told(row("-yo"), row("---", backend="b", nested=True), backend, row("??-", "late")) == [
        "| operation | RTX 5090 (12.0) | DGX Spark (GB10, 12.1) |",
        "| --- | --- | --- |",
        "| `pkg.op` | yes | by another path |",
        "| `pkg.Enum[X\\|]` | no | yes |",
        "| `pkg.late` | no check decides | no |",
        "",
        f"{_END}1 of 3 on RTX 5090 (12.0), 2 of 3 on DGX Spark (GB10, 12.1).",
    ]


def test_a_card_as_the_user_calls_it() -> None:
    assert told(row("-yo"), asked=("12.0",), said=("pro-6000",))[0] == "| operation | RTX PRO 6000 (12.0) |"
    assert told(row("-yo"), asked=())[0] == "| operation | H100 (9.0) | RTX 5090 (12.0) | DGX Spark (GB10, 12.1) |"


def test_what_receipts_say() -> None:
    cells = {chip: Cell(YES, proofs=(CellProof("refuted", "load", "", "", ""),)) for chip in CHIPS}
    assert told(MatrixRow("pkg", "op", "", "a.py", 1, cells))[2] == "| `pkg.op` | yes (refuted) | yes (refuted) |"


@pytest.mark.parametrize(
    ("fine", "other", "rows", "left"),
    [
        (MOST_ROWS, 0, MOST_ROWS, []),
        (MOST_ROWS, 1, 1, ["40 more operations work on all of these cards."]),
        (MOST_ROWS + 1, 0, 0, ["41 more operations work on all of these cards."]),
        (0, MOST_ROWS + 2, MOST_ROWS, ["2 more operations do not work on all of these cards."]),
    ],
)
def test_a_long_table_is_cut(fine: int, other: int, rows: int, left: list[str]) -> None:
    found = told(*(row("yyy", f"a{n}") for n in range(fine)), *(row("yy-", f"b{n}") for n in range(other)))
    assert sum(line.startswith("| `") for line in found) == rows
    assert [line for line in found if not line.startswith(("|", _END)) and line] == left


def test_nothing_to_show() -> None:
    assert told() == ["No public operation with a check of the chip was found: nothing is answered."]


def shown(*rows: MatrixRow, asked: tuple[str, ...] = ASKED, said: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """The texts of a badge, and the colour behind its number."""
    drawn = ElementTree.fromstring(matrix_report.as_badge(Matrix(CHIPS, rows, asked=asked), Setting(), said))
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text or "" for text in drawn.iter(f"{space}text")]
    assert drawn.findtext(f"{space}title") == drawn.get("aria-label") == ": ".join(texts)
    assert all("href" not in key and "style" not in key for one in drawn.iter() for key in one.attrib)
    return texts, [rect.get("fill") or "" for rect in drawn.iter(f"{space}rect")][1]


@pytest.mark.parametrize(
    ("rows", "value", "color"),
    [
        (["yyy", "-yo"], "2/2 operations", matrix_report.FULL),
        (["yyy", "yy-"], "2/2 | 1/2 operations", matrix_report.PARTIAL),
        (["yyy", "y?-"], "1/2 operations", matrix_report.PARTIAL),
        (["y--"], "0/1 operations", matrix_report.EMPTY),
        ([], "no check of the chip", matrix_report.UNASKED),
    ],
)
def test_a_badge(rows: list[str], value: str, color: str) -> None:
    assert shown(*map(row, rows)) == (["RTX 5090 | DGX Spark", value], color)


def test_a_badge_of_a_card_as_the_user_calls_it() -> None:
    assert shown(row("yyy"), asked=("12.0",), said=("RTX PRO 6000",))[0][0] == "RTX PRO 6000"


def _luminance(color: str) -> float:
    """Of WCAG 2.2, from 0 to 1."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    "color",
    [matrix_report.LABEL, matrix_report.FULL, matrix_report.PARTIAL, matrix_report.EMPTY, matrix_report.UNASKED],
)
def test_a_badge_can_be_read(color: str) -> None:
    assert (_luminance(matrix_report.INK) + 0.05) / (_luminance(color) + 0.05) >= 4.5
