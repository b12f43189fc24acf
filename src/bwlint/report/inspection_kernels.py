"""Every container of a shipment, with its images, verdicts and kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from bwlint.binaries.needs import dotted, faults
from bwlint.binaries.shipments import FAMILY, NATIVE, NONE, DeviceLibrary, LoadUnit, LoadVerdict, Shipment
from bwlint.model.escape import visible
from bwlint.model.images import Cubin, Image, Kernel, Place
from bwlint.report.inspection_table import relative
from bwlint.report.snippet import Paint

Readable = Callable[[str], str]
"""Makes a name for people of a mangled one."""


def listing(shipment: Shipment, asked: Sequence[str], paint: Paint, readable: Readable) -> Iterator[list[str]]:
    """A paragraph for each library, then one for the operations that a chip does not run."""
    for library in sorted(shipment.libraries, key=lambda library: library.path):
        yield list(_library(library, shipment, asked, paint, readable))
    yield [
        f"operation {visible(operation.name)}: no kernel for {', '.join(chips)}: {visible(operation.reason)}"
        for operation in sorted(shipment.operations, key=lambda operation: operation.name)
        if (chips := [chip for chip in operation.unserved if chip in asked])
    ]


def _library(
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
        yield from _unit(unit, file, asked, paint, readable)


def _unit(unit: LoadUnit, file: str, asked: Sequence[str], paint: Paint, readable: Readable) -> Iterator[str]:
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
    for chip in asked:
        if chip in unit.verdicts:
            yield f"    {chip}  {_verdict(unit.verdicts[chip], paint)}"
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
