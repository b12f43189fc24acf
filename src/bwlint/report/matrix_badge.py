"""A matrix as a badge: an SVG that needs nothing else, "RTX 5090 | DGX Spark" beside "41/44 operations"."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from bwlint.chips import chip as chip_of
from bwlint.chips.cards import product
from bwlint.matrix.table import Matrix
from bwlint.report import Setting
from bwlint.report.matrix_markdown import asked, operations, supported

INK, LABEL = "#ffffff", "#444444"
FULL, PARTIAL, EMPTY, UNASKED = "#1f7a33", "#8a5a00", "#b3261e", "#5a5a5a"
"""Behind the number: all, some or none of the operations work, or none checks the chip. Each with `INK` on it has the
contrast that WCAG 2.2 asks of small text (4.5 to 1)."""

_LETTER, _ROOM, _HEIGHT = 6.6, 12, 20
"""Pixels: a letter of 11 px on average, what is left of the text and right of it together, the badge."""


def render(matrix: Matrix, setting: Setting, said: Sequence[str] = ()) -> str:
    """The badge for the chips asked about; `said` are these as the user wrote them."""
    chips = asked(matrix)
    total, counts = len(operations(matrix)), [supported(matrix, chip) for chip in chips]
    label = " | ".join(product(chip_of(chip), said) or chip for chip in chips)
    numbers = [counts[0]] if len(set(counts)) == 1 else counts
    value = f"{' | '.join(f'{count}/{total}' for count in numbers)} operations" if total else "no check of the chip"
    color = UNASKED if not total else FULL if min(counts) == total else PARTIAL if any(counts) else EMPTY
    return _drawn(label, value, color)


def _drawn(label: str, value: str, color: str) -> str:
    left, right = _width(label), _width(value)
    told = escape(f"{label}: {value}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" '
        f'role="img" aria-label="{told}">\n'
        f"<title>{told}</title>\n"
        f'<rect width="{left}" height="{_HEIGHT}" fill="{LABEL}"/>\n'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{color}"/>\n'
        f'<g fill="{INK}" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_text(label, 0, left)}{_text(value, left, right)}</g>\n</svg>\n"
    )


def _text(text: str, x: int, width: int) -> str:
    """A text in its field; whatever font there is, it fills it."""
    return f'<text x="{x + _ROOM // 2}" y="14" textLength="{width - _ROOM}">{escape(text)}</text>\n'


def _width(text: str) -> int:
    return round(len(text) * _LETTER) + _ROOM
