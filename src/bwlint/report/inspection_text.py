"""An inspection for people: what runs where, why the rest does not, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from bwlint.binaries.needs import DriverNeed, cuda_libraries, dotted, driver_needs, faults, judged
from bwlint.binaries.shipments import ALL, NONE, DeviceLibrary, Inspection, Shipment, Tally, reasons
from bwlint.chips import chip, sold_chips
from bwlint.chips.drivers import minimum
from bwlint.model.escape import visible
from bwlint.report import Setting, text
from bwlint.report.inspection_kernels import listing
from bwlint.report.inspection_table import draw, relative
from bwlint.report.snippet import Paint

MOST_LINES = 8
"""Of one kind below a table; the rest is counted."""


def render(
    inspection: Inspection,
    setting: Setting,
    kernels: bool = False,
    chips: Sequence[str] = (),
    readable: Callable[[str], str] = str,
) -> str:
    """The shipments, a block each with an empty line between, then the findings.

    `chips` are the columns of the tables (none: every chip that is sold). With `kernels`, every container is
    listed, with the kernels that were looked into; `readable` makes a name for people of a mangled one.
    """
    paint = text.painter(setting.color)
    columns = tuple(chips) or tuple(chip.name for chip in sold_chips())
    blocks = []
    for shipment, answer in zip(inspection.shipments, inspection.answers, strict=True):
        asked = judged(inspection, shipment)
        parts = [list(_head(shipment, answer, paint))]
        parts += _found(shipment, asked, columns, setting.width, paint)
        if kernels:
            parts += listing(shipment, asked, paint, readable)
        blocks.append("\n".join("".join(f"{line}\n" for line in part) for part in parts if part))
    findings = text.render(inspection.report, setting)
    return "\n".join([*blocks, findings] if findings else blocks)


def _head(shipment: Shipment, answer: str, paint: Paint) -> Iterator[str]:
    """The answer, and what it leaves out where there is nothing else to show."""
    tag = shipment.tag or (shipment.machine if shipment.missing else "")
    # The name of a wheel ends with its tag, unless somebody has renamed it.
    tag = "" if tag in shipment.name else tag
    name = visible(shipment.name) + (f" ({visible(tag)})" if tag else "")
    rest = _nothing(shipment)
    yield paint(f"{name}: {visible(rest if answer in rest else answer)}", "title")
    if rest not in answer and answer not in rest:
        yield visible(rest)


def _nothing(shipment: Shipment) -> str:
    """That there is nothing to install, or nothing in it; "" where there is."""
    if shipment.missing:
        return f"not installable: {shipment.missing}"
    return "" if shipment.libraries else _without_code(shipment)


def _found(
    shipment: Shipment, asked: Sequence[str], columns: Sequence[str], width: int, paint: Paint
) -> Iterator[list[str]]:
    """The paragraphs on the libraries of a shipment."""
    if not shipment.libraries:
        return
    yield [*draw(shipment, columns, width, paint), _products(asked)]
    yield list(_shortfalls(shipment, asked, paint))
    rest = [_without_code(shipment)] if shipment.others else []
    yield [*_needs(shipment, asked), *_limited(_faults(shipment)), *rest, *_unread(shipment)]


def _products(asked: Sequence[str]) -> str:
    """What the asked chips are sold as."""
    return "; ".join(f"{name}: {', '.join(chip(name).products) or chip(name).generation}" for name in asked)


def _shortfalls(shipment: Shipment, asked: Sequence[str], paint: Paint) -> Iterator[str]:
    """For each chip the libraries that it does not run whole, worst first; what is true of several chips, once."""
    chips_of: dict[str, list[str]] = {}
    for name in asked:
        for line in _of_chip(shipment, name, paint):
            chips_of.setdefault(line, []).append(name)
    by_chips: dict[str, list[str]] = {}
    for line, chips in chips_of.items():
        by_chips.setdefault(", ".join(chips), []).append(line)
    for names, lines in by_chips.items():
        yield from _limited(f"{names}  {line}" for line in lines)
    tallies = [library.tallies.get(chip) for library in shipment.libraries for chip in asked]
    if any(tally.specialised for tally in tallies if tally):
        yield "specialised: containers whose images are all for one other family or generation"


def _of_chip(shipment: Shipment, chip: str, paint: Paint) -> Iterator[str]:
    judged = ((library, library.tallies[chip]) for library in shipment.libraries if chip in library.tallies)
    short = [(library, tally) for library, tally in judged if tally.word != ALL]
    for library, tally in sorted(short, key=lambda pair: (pair[1].word != NONE, pair[0].path)):
        reason = _reason(library, chip)
        line = f"{relative(library.path, shipment)}: {_counts(tally, paint)}"
        yield line + (f"; {visible(reason)}" if reason else "")


def _counts(tally: Tally, paint: Paint) -> str:
    """The numbers of containers, then the word that sums them up."""
    ways = [f"native {tally.native}", f"family {tally.family}", f"jit {tally.jit}"]
    if tally.link:
        ways.append(f"jit-link {tally.link}")
    ways.append(f"none {tally.none} of {tally.total}")
    word = paint(tally.word, "fair" if tally.served else "bad")
    special = f", specialised {tally.specialised}" if tally.specialised else ""
    return f"{', '.join(ways)}: {word}{special}"


def _reason(library: DeviceLibrary, chip: str) -> str:
    """Why the chip does not run containers, in the words that are true of most of them."""
    found = reasons([library], chip)
    if not found:
        return ""
    reason, count = found.most_common(1)[0]
    return reason if len(found) == 1 else f"{reason} ({count} of {found.total()})"


def _needs(shipment: Shipment, asked: Sequence[str]) -> Iterator[str]:
    names = cuda_libraries(name for library in shipment.libraries for name in library.binary.needed)
    if names:
        yield f"needs {', '.join(map(visible, names))}"
    toolkits = sorted({library.toolkit for library in shipment.libraries if library.toolkit})
    if toolkits:
        yield f"built with CUDA {', '.join(map(dotted, toolkits))}"
    lines: dict[str, list[str]] = {}
    for name in asked:
        needs = driver_needs(shipment.libraries, name)
        if needs:
            only_windows = all(library.binary.form == "pe" for library in shipment.libraries)
            lines.setdefault(_driver(needs, only_windows), []).append(name)
    yield from (f"driver for {' and '.join(names)}: {line}" for line, names in lines.items())


def _driver(needs: Sequence[DriverNeed], only_windows: bool) -> str:
    """The newest driver of those that are needed and why, and that of the card where it is an older one."""
    unknown = [need for need in needs if need.linux is None]
    first = unknown[0] if unknown else next(need for need in needs if need.linux == minimum(*(n.linux for n in needs)))
    text = f"{_numbers(first, only_windows)} or newer ({first.cause}"
    card = needs[0]
    return f"{text})" if first is card else f"{text}; {card.cause}: {_numbers(card, only_windows)})"


def _numbers(need: DriverNeed, only_windows: bool) -> str:
    parts = [("Linux", None if only_windows else need.linux), ("Windows", need.windows)]
    known = ", ".join(f"{system} {number}" for system, number in parts if number)
    return known or (f"one of CUDA {need.cuda}" if need.cuda else "one that knows it")


def _faults(shipment: Shipment) -> Iterator[str]:
    for library in sorted(shipment.libraries, key=lambda library: library.path):
        yield from (f"{relative(library.path, shipment)}: {visible(fault)}" for fault in faults(library))


def _unread(shipment: Shipment) -> Iterator[str]:
    lines = [f"not read: {relative(one.path, shipment)}: {visible(one.reason)}" for one in shipment.unread]
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"and {len(lines) - MOST_LINES:,} more: -v lists them"


def _without_code(shipment: Shipment) -> str:
    if not shipment.others:
        # What the answer says of files that are not read is enough.
        return "" if shipment.unread else "no file that could hold device code"
    other = "other " if shipment.libraries else ""
    return f"no device code in {shipment.others:,} {other}file{'' if shipment.others == 1 else 's'}"


def _limited(lines: Iterable[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    found = list(lines)
    yield from found[:MOST_LINES]
    if len(found) > MOST_LINES:
        yield f"and {len(found) - MOST_LINES:,} more: --kernels or --format json lists them"
