"""An inspection for people: what runs where, why the rest does not, and what it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from bwlint.binaries.needs import (
    DriverNeed,
    cuda_libraries,
    dotted,
    faults,
    jit_images,
    judged,
    least_needs,
    loaded_together,
)
from bwlint.binaries.shipments import (
    FAMILY,
    NATIVE,
    NONE,
    PARTIAL,
    DeviceLibrary,
    Inspection,
    LoadUnit,
    LoadVerdict,
    Shipment,
    Tally,
    reasons,
)
from bwlint.chips import ChipSet, chip, group
from bwlint.chips.drivers import jit_seconds, minimum
from bwlint.model.escape import visible
from bwlint.model.images import Cubin, Image, Kernel, Place, Version
from bwlint.model.naming import counted
from bwlint.report import Setting, text
from bwlint.report.inspection_table import draw, relative
from bwlint.report.snippet import Paint

MOST_LINES = 8
"""Of one kind below a table; the rest is counted."""
_OWN = {"out": "turned away", "build": "not built for", "made": "built for", "in": "let in", "fault": "affected"}
_LEAST_COST = 1_000_000
"""Bytes of PTX from which on it is said what they cost: below, starting takes as long."""


def render(
    inspection: Inspection,
    setting: Setting,
    kernels: bool = False,
    chips: Sequence[str] = (),
    readable: Callable[[str], str] = str,
) -> str:
    """The shipments, a block each with an empty line between, then the findings. `chips` are the columns of the tables
    (none: the asked ones, and then as many of those that are sold as there is room for). With `kernels`, every
    container is listed, with the kernels that were looked into; `readable` makes a name for people of a mangled one."""
    paint = text.painter(setting.color)
    blocks = []
    for shipment, answer in zip(inspection.shipments, inspection.answers, strict=True):
        asked = judged(inspection, shipment)
        parts = [list(_head(shipment, answer, paint))]
        columns = _possible(shipment, chips) or shipment.shown(ChipSet.of(*inspection.asked))
        parts += _found(shipment, answer, asked, columns, len(chips) or len(asked), setting.width, paint)
        if kernels:
            parts += listing(shipment, asked, paint, readable)
        blocks.append("\n".join("".join(f"{line}\n" for line in text.folded(part, setting)) for part in parts if part))
    findings = text.render(inspection.report, setting)
    return "\n".join([*blocks, findings] if findings else blocks)


def _head(shipment: Shipment, answer: str, paint: Paint) -> Iterator[str]:
    """The answer, and of how many files where there is nothing else to show."""
    tag = shipment.tag or (shipment.machine if shipment.missing else "")
    # The name of a wheel ends with its tag, unless somebody has renamed it.
    tag = "" if tag in shipment.name else tag
    name = visible(shipment.name) + (f" ({visible(tag)})" if tag else "")
    whole = _without_code(shipment)
    yield paint(f"{name}: {visible(whole if answer in whole else answer)}", "title")


def _possible(shipment: Shipment, chips: Sequence[str]) -> tuple[str, ...]:
    """Of the chips that somebody has asked for those that can be in a machine that the shipment is for."""
    possible = shipment.judged(ChipSet.of(*chips)).names
    return tuple(name for name in chips if name in possible)


def _found(
    shipment: Shipment, answer: str, asked: Sequence[str], columns: Sequence[str], needed: int, width: int, paint: Paint
) -> Iterator[list[str]]:
    """The paragraphs on the libraries of a shipment; `needed` columns of the table must be there."""
    own = [*_limited(_compilers(shipment)), *_limited(_own(shipment))]
    if not shipment.libraries:
        yield own
        return
    yield [*draw(shipment, columns, width, paint, needed), _products(asked)]
    yield list(_shortfalls(shipment, answer, asked, paint))
    rest = [_without_code(shipment)] if shipment.others else []
    yield [*needs(shipment, asked), *own, *_limited(_faults(shipment)), *rest, *_unread(shipment)]


def _products(asked: Sequence[str]) -> str:
    """What the asked chips are sold as."""
    return "; ".join(f"{name}: {', '.join(chip(name).products) or chip(name).generation}" for name in asked)


def _shortfalls(shipment: Shipment, answer: str, asked: Sequence[str], paint: Paint) -> Iterator[str]:
    """For each chip the libraries that it does not run whole, worst first; what is true of several chips, once."""
    chips_of: dict[str, list[str]] = {}
    for name in asked:
        for line in _of_chip(shipment, answer, name, paint):
            chips_of.setdefault(line, []).append(name)
    by_chips: dict[str, list[str]] = {}
    for line, chips in chips_of.items():
        by_chips.setdefault(", ".join(chips), []).append(line)
    for names, lines in by_chips.items():
        yield from _limited(f"{names}  {line}" for line in lines)


def _of_chip(shipment: Shipment, answer: str, chip: str, paint: Paint) -> Iterator[str]:
    """Libraries of which nothing runs, by reason; those that run in part; how much of all is compiled."""
    judged = [(library, library.tallies[chip]) for library in shipment.libraries if chip in library.tallies]
    dead: dict[str, list[str]] = {}
    for library, tally in sorted(judged, key=lambda pair: pair[0].path):
        if tally.word == NONE:
            counts = f"{relative(library.path, shipment)} ({counted(tally.none, 'container')})"
            dead.setdefault(_reason(library, chip), []).append(counts)
    for reason, names in dead.items():
        shown = ", ".join([*names[:MOST_LINES], *([f"{len(names) - MOST_LINES:,} more"] if names[MOST_LINES:] else [])])
        # What is all that there is to say, the answer has said.
        if len(shipment.libraries) > 1 or reason not in answer:
            yield f"{paint('none', 'bad')} of {shown}: {visible(reason)}"
    for library, tally in sorted(judged, key=lambda pair: pair[0].path):
        if tally.word == PARTIAL:
            yield f"{relative(library.path, shipment)}: {_counts(tally, paint)}; {visible(_reason(library, chip))}"
    spare = shipment.spare(chip)
    judged = [(library, tally) for library, tally in judged if library not in spare]
    compiled = sum(tally.jit + tally.link for _, tally in judged)
    if compiled:
        total = sum(tally.total for _, tally in judged)
        loads = [group for group in loaded_together(shipment) if not any(one in spare for one in group)]
        sizes = [sum(i.full_size for library in group for i in jit_images(library, chip)) for group in loads]
        text = f"by JIT: {compiled:,} of {counted(total, 'container')}, compiled by the driver at first use"
        yield text + (f": {_cost(min(sizes), max(sizes))}" if max(sizes, default=0) >= _LEAST_COST else "")


def _cost(least: int, most: int) -> str:
    """What all PTX costs of a program that loads between so many and so many bytes, with as many digits as are true."""
    seconds = f"about {jit_seconds(least)[0]:.0f} to {jit_seconds(most)[1]:.0f} s of one core"
    if least == most:
        return f"{most / 1e6:.1f} MB of PTX in all, {seconds}"
    return f"{least / 1e6:.1f} to {most / 1e6:.1f} MB of PTX in the one that is loaded, {seconds}"


def _counts(tally: Tally, paint: Paint) -> str:
    """ "91 of 118 containers run, 6 by JIT; 26 of the rest are for other chips"."""
    word = paint(f"{tally.served:,} of {counted(tally.total, 'container')} run", "fair")
    compiled = tally.jit + tally.link
    parts = [word, *([f"{compiled:,} by JIT"] if compiled else [])]
    others = f"{tally.specialised:,} of the " if tally.specialised < tally.none else "the "
    rest = f"{tally.none:,} are" if tally.specialised > 1 else f"{tally.none:,} is" if tally.none > 1 else "one is"
    return ", ".join(parts) + (f"; {others}other {rest} for other chips" if tally.specialised else "")


def _reason(library: DeviceLibrary, chip: str) -> str:
    """Why the chip does not run containers, in the words that are true of most of them."""
    found = reasons([library], chip)
    if not found:
        return ""
    reason, count = found.most_common(1)[0]
    return reason if len(found) == 1 else f"{reason} ({count} of {found.total()})"


def needs(shipment: Shipment, asked: Sequence[str]) -> Iterator[str]:
    """Lines on what a shipment takes on the asked chips: CUDA's libraries, and a driver for each system."""
    releases: dict[str, set[Version]] = {}
    for together in loaded_together(shipment):
        names = cuda_libraries(name for library in together for name in library.binary.needed)
        built = (library.toolkit for library in together if library.toolkit)
        releases.setdefault(", ".join(map(visible, names)), set()).update(built)
    for needed, built_with in releases.items():
        which = f" (built with CUDA {', '.join(map(dotted, sorted(built_with)))})" if len(releases) > 1 else ""
        yield from (f"needs {needed}{which}",) if needed else ()
    toolkits = sorted({library.toolkit for library in shipment.libraries if library.toolkit})
    if toolkits:
        yield f"built with CUDA {', '.join(map(dotted, toolkits))}"
    lines: dict[str, list[str]] = {}
    for name in asked:
        drivers = least_needs(shipment.libraries, name)
        if chip(name) in group("arm-hosts"):  # these run Linux alone
            drivers = tuple(replace(need, windows=None) for need in drivers)
        if drivers:
            only_windows = all(library.binary.form == "pe" for library in shipment.libraries)
            lines.setdefault(_driver(drivers, only_windows), []).append(name)
    yield from (f"driver for {' and '.join(names)}: {line}" for line, names in lines.items())


def _driver(needs: Sequence[DriverNeed], only_windows: bool) -> str:
    """The newest driver of those that are needed and why, and that of the card where it is an older one."""
    unknown = [need for need in needs if need.linux is None]
    first = unknown[0] if unknown else next(need for need in needs if need.linux == minimum(*(n.linux for n in needs)))
    text = f"{_numbers(first, only_windows)} or newer ({first.cause} needs it"
    card = needs[0]
    return f"{text})" if first is card else f"{text}; {card.cause} alone: {_numbers(card, only_windows)})"


def _numbers(need: DriverNeed, only_windows: bool) -> str:
    parts = [("Linux", None if only_windows else need.linux), ("Windows", need.windows)]
    known = ", ".join(f"{system} {number}" for system, number in parts if number)
    return known or (f"one of CUDA {need.cuda}" if need.cuda else "one that knows it")


def _compilers(shipment: Shipment) -> Iterator[str]:
    yield from (
        f"compiler of CUDA {dotted(one.release)}: {relative(one.path, shipment)}" for one in shipment.assemblers
    )


def _own(shipment: Shipment) -> Iterator[str]:
    for one in shipment.own:
        place = visible(f"{one.path}:{one.line} {one.subject}: {one.says}")
        yield f"{' and '.join(one.chips)} {_OWN[one.does]}: {place}"


def _faults(shipment: Shipment) -> Iterator[str]:
    for library in sorted(shipment.libraries, key=lambda library: library.path):
        yield from (f"{relative(library.path, shipment)}: {visible(fault)}" for fault in faults(library))


def _unread(shipment: Shipment) -> Iterator[str]:
    lines = (f"not read: {relative(one.path, shipment)}: {visible(one.reason)}" for one in shipment.unread)
    yield from _limited(lines, "-v lists them")


def _without_code(shipment: Shipment) -> str:
    other = "other " if shipment.libraries else ""
    files = f"{shipment.others:,} {other}file{'' if shipment.others == 1 else 's'}"
    return f"no device code in {files}" if shipment.others else ""


def _limited(lines: Iterable[str], elsewhere: str = "--kernels or --format json lists them") -> Iterator[str]:
    """The first lines, how many more there are, and where."""
    found = list(lines)
    yield from found[:MOST_LINES]
    if len(found) > MOST_LINES:
        yield f"and {len(found) - MOST_LINES:,} more: {elsewhere}"


Readable = Callable[[str], str]
"""Makes a name for people of a mangled one."""


def listing(shipment: Shipment, asked: Sequence[str], paint: Paint, readable: Readable) -> Iterator[list[str]]:
    """A paragraph for each library, then one for the operations that a chip does not run."""
    for library in sorted(shipment.libraries, key=lambda library: library.path):
        yield list(_library_lines(library, shipment, asked, paint, readable))
    yield [
        f"operation {visible(operation.name)}: no kernel for {', '.join(chips)}: {visible(operation.reason)}"
        for operation in sorted(shipment.operations, key=lambda operation: operation.name)
        if (chips := [chip for chip in operation.unserved if chip in asked])
    ]


def _library_lines(
    library: DeviceLibrary, shipment: Shipment, asked: Sequence[str], paint: Paint, readable: Readable
) -> Iterator[str]:
    binary = library.binary
    kind = " ".join(part for part in (binary.form, visible(binary.machine)) if part)
    count = f"{len(library.units):,} container{'' if len(library.units) == 1 else 's'}"
    yield f"{paint(relative(library.path, shipment), 'title')} ({kind}, {count})"
    placed = {unit.container.fault for unit in library.units}
    yield from (f"  {paint(visible(fault), 'bad')}" for fault in faults(library) if fault not in placed)
    for unit in library.units:
        file = f" of {relative(unit.path, shipment)}" if unit.path else ""
        yield from _unit_lines(unit, file, asked, paint, readable)


def _unit_lines(unit: LoadUnit, file: str, asked: Sequence[str], paint: Paint, readable: Readable) -> Iterator[str]:
    container = unit.container
    part = f" in {visible(container.part)}" if container.part else ""
    yield f"  container at {container.at:#x}{part}{file}"
    if unit.generation:
        yield f"    specialised: {visible(unit.generation)}"
    if container.linked_from:
        count = len(container.linked_from)
        yield f"    linked from {count:,} relocatable container{'' if count == 1 else 's'}"
    if container.fault:
        yield f"    {paint(visible(container.fault), 'bad')}"
    for name in asked:
        if name in unit.verdicts:
            yield f"    {name}  {_verdict(unit.verdicts[name], paint)}"
    for place, image in enumerate(container.images):
        yield f"    {_image(image)}"
        if place in unit.cubins:
            yield from _cubin(unit.cubins[place], readable)
    if not unit.cubins:
        yield from _counted(
            f"    kernel {visible(readable(name))}{_at(unit.sources.get(name))}" for name in unit.kernels
        )


def _verdict(verdict: LoadVerdict, paint: Paint) -> str:
    style = "good" if verdict.way in (NATIVE, FAMILY) else "bad" if verdict.way == NONE else "fair"
    reason = f": {visible(verdict.reason)}" if verdict.reason else ""
    return f"{paint(verdict.way, style)}{reason}"


def _image(image: Image) -> str:
    parts = [visible(f"{image.number}{image.suffix}"), visible(image.kind)]
    if image.isa:
        parts.append(dotted(image.isa))
    if image.packed:
        parts.append(visible(image.packed))
    return f"{' '.join(parts)} {image.size:,} B"


def _cubin(cubin: Cubin, readable: Readable) -> Iterator[str]:
    if cubin.relabelled:
        says, noted = f"sm_{cubin.number}{cubin.suffix}", f"sm_{cubin.noted}{cubin.noted_suffix}"
        yield f"      relabelled: its header says {visible(says)}, but its notes say {visible(noted)}"
    yield from _counted(f"      kernel {_kernel(kernel, readable)}" for kernel in cubin.kernels)


def _kernel(kernel: Kernel, readable: Readable) -> str:
    facts = ", ".join(_facts(kernel))
    return visible(readable(kernel.name)) + _at(kernel.source) + (f": {facts}" if facts else "")


def _at(place: Place | None) -> str:
    return "" if place is None else f" at {visible(place[0])}:{place[1]}"


def _counted(lines: Iterable[str]) -> Iterator[str]:
    """Each line once: kernels that differ in their template arguments alone may read the same."""
    for line, count in Counter(lines).items():
        yield f"{line} ({count:,} variants)" if count > 1 else line


def _facts(kernel: Kernel) -> Iterator[str]:
    """What decides where and how a kernel can be launched."""
    if kernel.shared:
        yield f"{kernel.shared:,} B static shared memory"
    if kernel.cluster:
        yield f"cluster {_shape(kernel.cluster)}"
    if kernel.max_cluster is not None:
        yield f"clusters of at most {kernel.max_cluster} blocks"
    if kernel.explicit_cluster:
        yield "its launch must name a cluster"
    if kernel.registers is not None:
        yield f"{kernel.registers} registers"
    if kernel.required_threads:
        yield f"exactly {_shape(kernel.required_threads)} threads"
    if kernel.threads:
        yield f"at most {_shape(kernel.threads)} threads"
    if kernel.setmaxnreg:
        yield "setmaxnreg"
    if kernel.tcgen05:
        yield f"tcgen05 with {kernel.tcgen05} CTA{'' if kernel.tcgen05 == 1 else 's'}"
    if kernel.driver_calls:
        yield f"calls {', '.join(map(visible, kernel.driver_calls))}"


def _shape(shape: tuple[int, int, int]) -> str:
    return "x".join(map(str, shape))
