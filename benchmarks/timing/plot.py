"""Results as a drawing: one small SVG without scripts or fonts, on a card of its own, for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

from timing.figures import Group, Results, Spread, Timing

_LABELS, _COLUMN, _AXIS = 196, 232, 118
"""Widths in pixels: of the names, of a column, of the axis in it."""
_ROW, _HEAD, _TICKS, _MARGIN = 19, 34, 22, 16
_GROWTH = 128
"""Height of the plot of growth."""
_FITTING = 36
"""Letters of a column."""
_FONTS = 'svg { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }'
_LIGHT = ("#ffffff", "#d1d9e0", "#1f2328", "#59636e", "#0969da", "#bc4c00")
_DARK = ("#0d1117", "#3d444d", "#f0f6fc", "#9198a1", "#4493f8", "#db6d28")
"""Colours of the card, of lines, of text, of other text and other programs, of bwlint, of its other checkouts."""
_OTHERS = frozenset({"ruff", "semgrep", "ripgrep", "python -c pass", "cuobjdump, images", "cuobjdump, resources"})


def plot(results: Results) -> str:
    """The SVG of results; what was not run stands there with the reason."""
    trees, hooks, growth, binaries = (
        [group for group in results.groups if group.sort == sort] for sort in ("tree", "hook", "growth", "binary")
    )
    older = frozenset(name.removeprefix("bwlint, ") for name in results.tools if name.startswith("bwlint, "))
    width = 2 * _MARGIN + _LABELS + _COLUMN * max(len(trees), len(binaries), 3 if growth else 1)
    drawing = _Drawing(width, older)
    drawing.panels(trees)
    top = drawing.height
    drawing.panels(hooks)
    for one in growth:
        drawing.growth(one, _MARGIN + _LABELS + _COLUMN * len(hooks) + _MARGIN, top)
    drawing.panels(binaries)
    drawing.words(_caption(results))
    return drawing.text()


def _caption(results: Results) -> list[str]:
    on = results.machine
    most = max((len(one.runs) for group in results.groups for one in group.timings), default=0)
    runs = "1 run" if most == 1 else f"{most} runs"
    return [
        f"Median of {runs} in turns, from least to greatest; MiB: PSS of all processes, at the highest look.",
        f"{on['processor']}, {on['cores']} cores, {on['memory']}, {on['system']}, load before it {on['load']};"
        f" {results.when[:10]}",
        "; ".join(f"{name} {version}" for name, version in results.tools.items()),
    ]


def _style() -> str:
    plain = (_FONTS, ".line { fill: none; }", ".head { font-weight: 600; }", ".more { font-size: 11px; }")
    light, dark = "\n".join(_colours(*_LIGHT)), "\n".join(_colours(*_DARK))
    return "\n".join(("", *plain, light, f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}", ""))


def _colours(card: str, line: str, text: str, more: str, own: str, old: str) -> Iterator[str]:
    yield f".card {{ fill: {card}; stroke: {line}; }}"
    yield f".line {{ stroke: {line}; }}"
    yield f".text, .head {{ fill: {text}; }}"
    yield f".more {{ fill: {more}; }}"
    for kind, colour in (("own", own), ("old", old), ("other", more)):
        yield f".{kind} {{ fill: {colour}; stroke: {colour}; }}"


@dataclass(frozen=True, slots=True)
class _Scale:
    """Seconds on a logarithmic axis, in whole powers of ten."""

    low: int
    high: int

    def at(self, seconds: float) -> float:
        """From 0 to 1."""
        share = (math.log10(max(seconds, 1e-9)) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _scale(spreads: Iterable[Spread]) -> _Scale:
    found = list(spreads)
    low = math.floor(math.log10(max(min((one.low for one in found), default=1.0), 1e-3)))
    high = math.ceil(math.log10(max((one.high for one in found), default=1.0)))
    return _Scale(low, max(high, low + 1))


class _Drawing:
    """A card that grows downwards."""

    def __init__(self, width: float, older: frozenset[str]) -> None:
        self.width = width
        self.height = float(_MARGIN)
        self._older = older
        self._root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
        self._add("title", {}, "How long bwlint and other programs take")
        self._add("style", {}, _style())
        self._card = self._add("rect", {"class": "card", "x": 0.5, "y": 0.5, "rx": 6})

    def text(self) -> str:
        whole = self.height + _MARGIN / 2
        self._card.set("width", f"{self.width - 1:g}")
        self._card.set("height", f"{whole - 1:g}")
        self._root.set("viewBox", f"0 0 {self.width:g} {whole:g}")
        self._root.set("width", f"{self.width:g}")
        ElementTree.indent(self._root, " ")
        return ElementTree.tostring(self._root, encoding="unicode") + "\n"

    def panels(self, groups: Sequence[Group]) -> None:
        """Groups side by side, one row a program."""
        if not groups:
            return
        names = list(dict.fromkeys(timing.name for group in groups for timing in group.timings))
        scale = _scale(timing.seconds for group in groups for timing in group.timings if timing.seconds)
        top = self.height + _HEAD
        for row, name in enumerate(names):
            self._write(name, _MARGIN, top + _ROW * row + 13, "text")
        for column, group in enumerate(groups):
            left = _MARGIN + _LABELS + _COLUMN * column
            self._head(group, left, self.height)
            self._axis(scale, left, top, _ROW * len(names))
            timings = {timing.name: timing for timing in group.timings}
            for row, name in enumerate(names):
                if name in timings:
                    self._row(timings[name], scale, left, top + _ROW * row + 9)
        self.height = top + _ROW * len(names) + _TICKS

    def growth(self, group: Group, left: float, top: float) -> None:
        """Seconds over MiB, beside the straight line that the whole tree gives."""
        shown = [(one.mebibytes, one.seconds, one.name) for one in group.timings if one.mebibytes and one.seconds]
        if not shown:
            return
        self._write(f"{group.name}: parts of it", left, top + 14, "head")
        self._write("seconds over MiB, without an index", left, top + 28, "more")
        across, down = 2 * _COLUMN - 5 * _MARGIN, top + _HEAD + 8
        widest, highest = max(size for size, _, _ in shown), max(seconds.high for _, seconds, _ in shown)

        def place(size: float, seconds: float) -> tuple[float, float]:
            return left + across * size / widest, down + _GROWTH * (1 - seconds / highest)

        last, whole, _ = shown[-1]
        (x1, y1), (x2, y2) = place(0, 0), place(last, whole.median)
        self._add("path", {"class": "line", "d": f"M{x1:g} {down:g}V{y1:g}H{x1 + across:g}"})
        self._line((x1, y1), (x2, y2), "line", dashed=True)
        middles = [place(size, seconds.median) for size, seconds, _ in shown]
        for one, other in pairwise(middles):
            self._line(one, other, "own")
        for (x, y), (size, seconds, name) in zip(middles, shown, strict=True):
            self._line(place(size, seconds.low), place(size, seconds.high), "own")
            self._dot((x, y), "own")
            beside = (x - 8, y + 4, "text", "end") if size == last else (x, y - 9, "text", "middle")
            self._write(_seconds(seconds.median), *beside)
            self._write("all" if name == "1" else name, x, down + _GROWTH + 14, "more", "middle")
        self.height = max(self.height, down + _GROWTH + _TICKS)

    def words(self, lines: Iterable[str]) -> None:
        for line in lines:
            for part in _wrapped(line, int((self.width - 2 * _MARGIN) / 5.9)):
                self.height += 15
                self._write(part, _MARGIN, self.height, "more")

    def _head(self, group: Group, left: float, top: float) -> None:
        self._write(f"five files of {group.name}" if group.sort == "hook" else group.name, left, top + 14, "head")
        files = "" if group.sort == "binary" else f"{group.files} files, "
        self._write(f"{files}{group.mebibytes:.{0 if group.mebibytes >= 10 else 2}f} MiB", left, top + 28, "more")

    def _axis(self, scale: _Scale, left: float, top: float, height: float) -> None:
        for tick in scale.ticks():
            x = left + _AXIS * scale.at(tick)
            self._line((x, top), (x, top + height), "line")
            self._write(f"{tick:g}", x, top + height + 12, "more", "middle")
        self._write("s", left + _AXIS + 18, top + height + 12, "more")

    def _row(self, timing: Timing, scale: _Scale, left: float, y: float) -> None:
        seconds = timing.seconds
        if seconds is None:
            self._write(_short(timing.reason), left + 4, y + 4, "more")
            return
        kind = "other" if timing.name in _OTHERS else "old" if timing.name in self._older else "own"
        low, middle, high = (left + _AXIS * scale.at(one) for one in (seconds.low, seconds.median, seconds.high))
        self._line((low, y), (high, y), kind)
        self._dot((middle, y), kind)
        held = "" if timing.memory is None else f"{timing.memory:.0f} MiB"
        self._write(_seconds(seconds.median), left + _AXIS + 48, y + 4, "text", "end")
        self._write(held, left + _AXIS + 107, y + 4, "more", "end")

    def _dot(self, place: tuple[float, float], kind: str) -> None:
        self._add("circle", {"class": kind, "cx": place[0], "cy": place[1], "r": 3.5})

    def _line(self, start: tuple[float, float], end: tuple[float, float], kind: str, *, dashed: bool = False) -> None:
        ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
        self._add("line", {"class": kind, **ends, **({"stroke-dasharray": "3 3"} if dashed else {})})

    def _write(self, text: str, x: float, y: float, kind: str, anchor: str = "start") -> None:
        self._add("text", {"class": kind, "x": x, "y": y, "text-anchor": anchor}, text)

    def _add(self, tag: str, attributes: Mapping[str, str | float], text: str = "") -> ElementTree.Element:
        written = {key: value if isinstance(value, str) else f"{value:.1f}" for key, value in attributes.items()}
        made = ElementTree.SubElement(self._root, tag, written)
        made.text = text or None
        return made


def _seconds(number: float) -> str:
    return f"{number:.{2 if number < 1 else 1 if number < 10 else 0}f} s"


def _short(reason: str) -> str:
    """What fits into a column; the rest is in the JSON."""
    first = reason.partition(" (")[0]
    return first if len(first) <= _FITTING else f"{first[: _FITTING - 3]}..."


def _wrapped(text: str, most: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) >= most:
            lines.append("")
        lines[-1] += word + " "
    return lines
