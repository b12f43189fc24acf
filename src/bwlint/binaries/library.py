"""One file, read and judged: its containers against every chip, and a look into the images that matter, in bounded
time and memory, whatever sizes the file claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from bwlint.binaries.shipments import NO_KERNELS, NO_LINES, NONE, DeviceLibrary, LoadUnit, Tally
from bwlint.binaries.verdicts import generation, linked_verdicts, nothing, refused, tally, verdicts
from bwlint.chips import ChipSet
from bwlint.chips.devices import chip
from bwlint.chips.drivers import toolkit_of_isa
from bwlint.chips.toolkits import version
from bwlint.chips.wording import kib
from bwlint.model.images import CUBIN, PTX, Binary, Container, Cubin, Image, Place, Version
from bwlint.readers import binary as reader
from bwlint.readers.binary import cubin
from bwlint.readers.binary.fatbin import check_ptx, content, static_shared
from bwlint.readers.binary.lines import LineAllowance
from bwlint.readers.binary.names import readable
from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

_LONGEST_NAME = 4096
_ENTRY = re.compile(rb"\.entry\s{1,64}([\w$]{1,%d})" % _LONGEST_NAME)
_LONGEST_ENTRY = 2 * _LONGEST_NAME
_STRETCH = 1 << 20
_MOST_FALSE = 16
_MOST_FAULTS = 100
_MOST_ENTRIES = 32_768
_STATIC_SHARED = 48 * 1024
"""What ptxas 12.4 to 13.5 allow for targets without the suffix a."""
_BARE = frozenset({"cubin", "fatbin", "ptx"})
_MIB = 1024**2
_MEMORY = 176 * _MIB
_FACTS = 128 * _MIB
_WORK = 256 * _MIB
_MOST_WORK = 16 * 1024 * _MIB
_RATIO = 64
_LINES = 2 * _MIB

# Bytes that these take in memory, on average; measured on wheels of up to 16,000 cubins.
_LIBRARY, _UNIT, _IMAGE, _KERNEL, _LETTER = 800, 1200, 250, 500, 2


def read_library(
    path: str, source: ByteSource, asked: ChipSet, *, deep: bool, allowance: Allowance | None = None
) -> DeviceLibrary:
    """The library of one file; without units where the file holds no device code.

    Images that the asked chips load are looked into, and what is left out of a library that serves a chip otherwise:
    only its kernels say whether something is missing. `deep` looks into every container. Raises `ReadError`, and
    `Exhausted` where the allowance does not reach for what the file says of itself.
    """
    allowance = allowance or Allowance()
    binary = reader.read(source)
    if binary.containers:
        allowance.hold_library(path, binary.containers, (*binary.needed, *binary.faults))
    if binary.cubin is not None:
        allowance.hold_cubin(binary.cubin)
    names = asked.names
    units = tuple(_units(binary))
    tallies = _tallies(units)
    lacking = [name for name in names if tallies[name].served and tallies[name].none > tallies[name].specialised]
    look = _Look(source, names, deep, frozenset(lacking), binary.cubin, allowance)
    looked = tuple(look.trusted(unit) for unit in units if not (len(units) == 1 and look.is_stub(binary, unit)))
    looked = tuple(unit for unit in looked if unit.generation != NO_KERNELS) or looked
    toolkit = look.toolkit(looked)
    binary = replace(binary, faults=_counted([*binary.faults, *dict.fromkeys(look.faults)]))
    return DeviceLibrary(path, binary, looked, _tallies(looked), toolkit)


def joined(path: str, libraries: Sequence[DeviceLibrary]) -> DeviceLibrary:
    """The files of a folder or of a static library as one, each container with its file."""
    units = tuple(replace(unit, path=each.path) for each in libraries for unit in each.units)
    first = libraries[0].binary
    binary = Binary(
        first.form,
        (),
        first.machine,
        tuple(dict.fromkeys(name for each in libraries for name in each.binary.needed)),
        tuple(f"{each.path}: {fault}" for each in libraries for fault in each.binary.faults),
    )
    toolkits = [each.toolkit for each in libraries if each.toolkit is not None]
    return DeviceLibrary(path, binary, units, _tallies(units), max(toolkits, default=None))


def is_bare(library: DeviceLibrary) -> bool:
    """Whether the file is an image or a container and nothing else."""
    return library.binary.form in _BARE


def _units(binary: Binary) -> Iterator[LoadUnit]:
    """What is loaded by itself: relocatable containers go with the one that they were linked into."""
    if binary.broken:
        yield from (LoadUnit(container, refused(binary.broken)) for container in binary.containers)
        return
    by_offset = {container.at: container for container in binary.containers}
    parts = {at for container in binary.containers for at in container.linked_from}
    for container in binary.containers:
        if container.at in parts:
            continue
        objects = [by_offset[at] for at in container.linked_from if at in by_offset]
        found = linked_verdicts(container, objects) if objects else verdicts(container)
        yield LoadUnit(container, found, generation(container))


def _tallies(units: Iterable[LoadUnit]) -> Mapping[str, Tally]:
    return tally((unit.verdicts, unit.generation) for unit in units)


@dataclass(slots=True)
class _Look:
    """Looks into images of one file, for the chips of these names. What does not open is added to `faults`, why no
    driver takes an image to `refused`, the kernel of PTX with the most static shared memory, where that is more than 48
    KiB, to `largest`. `whole` is the cubin that the file is, if it is one."""

    source: ByteSource
    names: tuple[str, ...]
    deep: bool
    lacking: frozenset[str]
    whole: Cubin | None
    allowance: Allowance
    faults: list[str] = field(default_factory=list)
    refused: dict[Image, str] = field(default_factory=dict)
    largest: dict[Image, tuple[str, int]] = field(default_factory=dict)
    compiled: set[Image] = field(default_factory=set)

    def trusted(self, unit: LoadUnit) -> LoadUnit:
        """The unit, looked into, without what headers claim and notes deny: an edited header makes nothing run."""
        while True:
            unit = self._sound(self._into(unit))
            false = {place for place, found in unit.cubins.items() if found.relabelled}
            if not false & {verdict.place for verdict in unit.verdicts.values()}:
                return unit
            if len(false) > _MOST_FALSE:
                self.faults.append(
                    f"container at offset {unit.container.at}: more than {_MOST_FALSE} relabelled images"
                )
                false = set(range(len(unit.container.images)))
            # Another image takes the place of a false one, and may be false itself.
            rest = verdicts(unit.container, [unit.container.images[place] for place in false])
            kept = unit.verdicts.items()
            unit = replace(unit, verdicts={name: rest[name] if old.place in false else old for name, old in kept})

    def _sound(self, unit: LoadUnit) -> LoadUnit:
        """The unit, where a chip that takes a refused image runs nothing: a driver chooses by headers alone."""
        images = unit.container.images
        found = dict(unit.verdicts)
        for name, verdict in unit.verdicts.items():
            if verdict.place is not None and (reason := self._refusal(images[verdict.place], name)):
                found[name] = nothing(reason)
        return unit if found == unit.verdicts else replace(unit, verdicts=found, generation="")

    def _refusal(self, image: Image, name: str) -> str:
        """Why the driver of a chip does not take an image; "" where nothing says so. What ptxas refuses for a target,
        the compiler in a driver takes for its chip: PTX for sm_90 with all of the opt-in limit ran on an H100, driver
        580.159, and one byte more did not load."""
        kernel, size = self.largest.get(image, ("", 0))
        limit = chip(name).smem_per_block_optin or _STATIC_SHARED
        if image in self.refused or size <= limit:
            return self.refused.get(image, "")
        return (
            f"its PTX for {image.target} does not compile for {name}: {readable(kernel)} takes {kib(size)} of static"
            f" shared memory, and {kib(limit)} are allowed there"
        )

    def _into(self, unit: LoadUnit) -> LoadUnit:
        cubins = dict(unit.cubins)
        for place in {unit.verdicts[name].place: None for name in self.names}:
            if place is None or place in cubins:
                continue
            image = unit.container.images[place]
            if image.kind == PTX:
                self._compile(image)
                continue
            found = self._cubin(image)
            if found is not None:
                cubins[place] = found
        kernels = tuple(dict.fromkeys(kernel.name for found in cubins.values() for kernel in found.kernels))
        if kernels or not self._wants_names(unit):
            return replace(unit, cubins=cubins, kernels=kernels, sources=_sources(cubins.values()))
        names, sources = self._names(unit.container)
        if names == ():
            # nvcc leaves one behind where there was nothing to link.
            unit = replace(unit, generation=NO_KERNELS)
        return replace(unit, cubins=cubins, kernels=names or (), sources=sources)

    def _wants_names(self, unit: LoadUnit) -> bool:
        if self.deep:
            return True
        ways = {unit.verdicts[name].way for name in self.lacking}
        return bool(ways - {NONE}) or (NONE in ways and not unit.generation)

    def _cubin(self, image: Image) -> Cubin | None:
        if self.whole is not None:
            self._unplaced(image, self.whole)
            return self.whole
        with self._looking(image, image.target, f"{image.target} image"):
            found = cubin.read(self._content(image), self.allowance.lines)
            self.allowance.hold_cubin(found)
            self._unplaced(image, found)
            return found.of_target(image.number, image.suffix)
        return None

    @contextmanager
    def _looking(self, image: Image, name: str, damaged: str = "") -> Iterator[None]:
        """What does not open within is told; where it is `damaged`, no driver takes the image."""
        try:
            yield
        except ReadError as error:
            self.faults.append(f"{name} at offset {image.at}: {error}")
            if damaged and not isinstance(error, LimitError):
                self.refused[image] = f"its {damaged} is damaged: {error}"
        except Exhausted as error:
            self.faults.append(f"further images not looked into: {error}")

    def _unplaced(self, image: Image, found: Cubin) -> None:
        if found.unplaced:
            self.faults.append(f"{image.target} at offset {image.at}: {NO_LINES}: {found.unplaced}")

    def _compile(self, image: Image) -> None:
        """Find out what the driver's compiler may refuse PTX for."""
        if image in self.compiled:
            return
        self.compiled.add(image)
        with self._looking(image, f"PTX for {image.target}", f"PTX for {image.target}"):
            text = self._content(image)
            check_ptx(text, self.allowance.memory)
            if over := static_shared(text, _STATIC_SHARED):
                self.largest[image] = max(over.items(), key=lambda pair: pair[1])

    def _content(self, image: Image) -> ByteSource:
        self.allowance.unpack(image)
        return content(self.source, image, self.allowance.memory)

    def _names(self, container: Container) -> tuple[tuple[str, ...] | None, Mapping[str, Place]]:
        """The kernels of the image that is read fastest, None where none is read; and where they are defined.
        Intermediate code for the linker is closed to all but that."""
        if self.whole is not None:
            return tuple(dict.fromkeys(kernel.name for kernel in self.whole.kernels)), _sources((self.whole,))
        readable = [image for image in container.images if image.kind in (CUBIN, PTX)]
        if not readable:
            return None, {}
        image = min(readable, key=lambda image: (image.kind != CUBIN, image.full_size))
        found: tuple[str, ...] | None = None
        has_lines = False
        with self._looking(image, image.target):
            inside = self._content(image)
            names = cubin.kernel_names(inside) if image.kind == CUBIN else _entries_of_ptx(inside)
            self.allowance.hold_names(names)
            has_lines = image.kind == CUBIN and cubin.has_lines(inside)
            found = names
        whole = self._cubin(image) if has_lines else None
        return found, {} if whole is None else _sources((whole,))

    def is_stub(self, binary: Binary, unit: LoadUnit) -> bool:
        """Whether the only container of a library is for no chip that there is, and has no kernel: nvcc's linker leaves
        one behind in libraries of host code."""
        if binary.form in _BARE or any(verdict.way != NONE for verdict in unit.verdicts.values()):
            return False
        return self._names(unit.container)[0] == ()

    def toolkit(self, units: Sequence[LoadUnit]) -> Version | None:
        """The newest CUDA that wrote one of the images: what cubins say, else what knows the PTX. If none was looked
        into, the smallest one is."""
        found = {one.toolkit for unit in units for one in unit.cubins.values()} - {None}
        images = [image for unit in units for image in unit.container.images]
        cubins = [image for image in images if image.kind == CUBIN]
        if not found and cubins:
            one = self._cubin(min(cubins, key=lambda image: image.full_size))
            found = {one.toolkit} - {None} if one is not None else found
        if not found:
            releases = [toolkit_of_isa(isa) for isa in {image.isa for image in images} if isa is not None]
            found = {_release(text) for text in releases if text is not None}
        return max((release for release in found if release is not None), default=None)


def _sources(cubins: Iterable[Cubin]) -> dict[str, Place]:
    return {kernel.name: kernel.source for found in cubins for kernel in found.kernels if kernel.source}


def _counted(faults: Sequence[str]) -> tuple[str, ...]:
    """The first ones, and how many more there are."""
    more = len(faults) - _MOST_FAULTS
    return (*faults[:_MOST_FAULTS], f"{more:,} more faults") if more > 0 else tuple(faults)


def _entries_of_ptx(source: ByteSource) -> tuple[str, ...]:
    """The names of the kernels in PTX, which is not loaded as a whole."""
    found: dict[str, None] = {}
    for at in range(0, source.size, _STRETCH):
        text = source.read(at, min(_STRETCH + _LONGEST_ENTRY, source.size - at))
        found.update((match[1].decode(), None) for match in _ENTRY.finditer(text) if match.start() < _STRETCH)
        if len(found) > _MOST_ENTRIES:
            raise ReadError(f"PTX with more than {_MOST_ENTRIES:,} kernels")
    return tuple(found)


def _release(text: str) -> Version:
    major, minor = version(text)
    return major, minor


class Exhausted(Exception):
    """There is no more; the message says of what."""


@dataclass(slots=True)
class Allowance:
    """Bytes that may still be held, of facts and of the image that is just looked into, and still be unpacked. `lines`
    is what the line tables of all images may take."""

    memory: int = _MEMORY
    work: int = _WORK
    lines: LineAllowance = field(default_factory=lambda: LineAllowance(_LINES))

    def grant(self, size: int) -> None:
        """Files of `size` bytes are to be read: their images may unpack to so many times that."""
        self.work = min(self.work + _RATIO * size, _MOST_WORK)

    def unpack(self, image: Image) -> None:
        """An image is to be looked into, and for that unpacked if it is packed; raises `Exhausted`."""
        self._hold(0)
        if not image.packed or image.full_size > self.memory:
            return  # nothing to do, or refused as too large
        self.work -= image.full_size
        if self.work < 0:
            raise Exhausted(f"images that unpack to more than {_RATIO} times the size of all files")

    def hold_library(self, path: str, containers: tuple[Container, ...], texts: tuple[str, ...]) -> None:
        """What a file holds is kept; raises `Exhausted`."""
        images = sum(len(container.images) for container in containers)
        size = _LIBRARY + _UNIT * len(containers) + _IMAGE * images
        self._hold(size + _letters((path, *texts)))

    def hold_cubin(self, cubin: Cubin) -> None:
        """What a cubin says of itself is kept; raises `Exhausted`."""
        self._hold(_letters((cubin.command,)))
        self.hold_names(tuple(kernel.name for kernel in cubin.kernels))
        self._hold(_letters({kernel.source[0] for kernel in cubin.kernels if kernel.source}))

    def hold_names(self, names: tuple[str, ...]) -> None:
        """Names of kernels are kept; raises `Exhausted`."""
        self._hold(_KERNEL * len(names) + _letters(names))

    def _hold(self, size: int) -> None:
        self.memory -= size
        if self.memory < _MEMORY - _FACTS:
            raise Exhausted(f"more than {_FACTS // _MIB} MiB of what files say of themselves")


def _letters(texts: Iterable[str]) -> int:
    """What texts take: one letter that is not ASCII makes all of its text four times as large."""
    return _LETTER * sum(len(text) if text.isascii() else 4 * len(text) for text in texts)
