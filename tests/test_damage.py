"""Damaged and hostile files through the whole of `bwlint inspect`.

Whatever a file holds, nothing but UsageError may come out; what is lost must be said; reports must render and stay
free of control characters; and neither time nor memory may run away.
"""

from __future__ import annotations

import json
import re
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import binaries
import pytest
from binaries import Kernel, container, cubin, entry, pe, ptx, shared_object

from bwlint.inspection import Inspected, Request, UsageError, inspect
from bwlint.readers.binary import elf as elves
from bwlint.readers.binary.names import readable
from bwlint.readers.binary.source import Source
from bwlint.report import Setting, inspection_json, inspection_text, sarif
from bwlint.report.escape import HIDDEN
from bwlint.report.summary import skipped as skipped_text

SECONDS = 5
TRIPLE = struct.pack("<III", 2, 1, 1)
KERNELS = (
    Kernel("_Z4gemmPf", 4096, 96, ((0x3D, TRIPLE), (0x05, TRIPLE), (0x54, None)), ("__cuda_syscall_cp_async_bulk_x",)),
    Kernel("plain"),
)
CUBIN = cubin(120, "f", KERNELS)
OLDER = cubin(90, "a", KERNELS, abi=7, toolkit=(12, 4))
READY = (
    container(entry(CUBIN, 120, "f"), entry(ptx(80), 80, packed="lz4"), entry(cubin(100), 100, packed="lz4")),
    container(entry(OLDER, 90, "a", "zstd"), entry(cubin(120), 120, packed="zstd")),
)
OBJECTS = tuple(
    container(entry(cubin(90, kernels=(name,), relocatable=True), 90), entry(ptx(80, kernels=(name,)), 80))
    for name in ("one", "two")
)
SEEDS: Mapping[str, bytes] = {
    "new.cubin": CUBIN,
    "old.cubin": OLDER,
    "some.fatbin": b"".join(READY),
    "plain.so": shared_object(*READY),
    "rdc.so": shared_object(*READY, relocatable=OBJECTS),
    "moved.so": shared_object(*READY, relocatable=OBJECTS, relocated=True),
    "some.dll": pe(*READY, relocatable=OBJECTS),
    "some.ptx": ptx(120, "a", ("one", "two")),
}


@dataclass(frozen=True)
class Seen:
    """What an inspection has to say of one file: what it holds, one by one, and messages."""

    held: Counter[tuple[str, ...]]
    messages: tuple[str, ...]


def seen(found: Inspected) -> dict[str, Seen]:
    """By the path of a file, without its folder."""
    held: dict[str, Counter[tuple[str, ...]]] = {}
    for shipment in found.inspection.shipments:
        for library in shipment.libraries:
            for unit in library.units:
                facts = held.setdefault(Path(unit.path or library.path).name, Counter())
                facts.update(("image", image.kind, image.target) for image in unit.container.images)
                facts.update(("kernel", name) for name in unit.kernels)
                facts["linked", str(len(unit.container.linked_from))] += 1
            if not library.units[0].path:
                held[Path(library.path).name].update(("needed", name) for name in library.binary.needed)
    messages: dict[str, list[str]] = {}
    for one in found.inspection.report.skipped:
        messages.setdefault(Path(one.path).name, []).append(one.reason)
    return {
        name: Seen(held.get(name, Counter()), tuple(messages.get(name, ()))) for name in held.keys() | messages.keys()
    }


def looked(path: Path) -> dict[str, Seen]:
    """Inspect a file or folder, in time and with reports that are fit to be read."""
    began = time.perf_counter()
    try:
        found = inspect(Request(things=(str(path),), kernels=True))
    except UsageError as error:
        assert not HIDDEN.search(str(error).replace("\n", ""))
        return {path.name: Seen(Counter(), (str(error),))}
    assert_reports(found)
    assert time.perf_counter() - began < SECONDS
    return seen(found)


def assert_reports(found: Inspected) -> None:
    inspection, setting = found.inspection, Setting()
    texts = [
        inspection_text.render(inspection, setting, True, readable=readable),
        inspection_text.render(inspection, setting),
        inspection_json.render(inspection, setting, True),
        sarif.render(inspection.report, setting),
        skipped_text(inspection.report),
    ]
    assert not any(HIDDEN.search(text.replace("\n", "")) for text in texts)
    for text in texts[2:4]:
        json.loads(text)
        text.encode()


def messages_of(path: Path) -> str:
    return "\n".join(message for one in looked(path).values() for message in one.messages)


def test_the_seeds_are_sound(tmp_path: Path) -> None:
    for name, data in SEEDS.items():
        (tmp_path / name).write_bytes(data)
    found = looked(tmp_path)
    assert found.keys() == SEEDS.keys()
    assert not any(one.messages for one in found.values())
    assert found["rdc.so"].held["linked", "2"] == found["moved.so"].held["linked", "2"] == 1
    assert found["some.dll"].held["linked", "2"] == 1
    assert found["plain.so"].held["kernel", "_Z4gemmPf"] == 1


# Lies in every field


@dataclass(frozen=True)
class Field:
    """A number in a file, in a `part` of it.

    What is said in a `free` one cannot be told from the truth: another chip, another name.
    """

    part: str
    name: str
    at: int
    size: int
    free: bool = False

    def lies(self, data: bytes) -> Iterator[int]:
        """Values that are wrong, in as many bytes as there are."""
        true = int.from_bytes(data[self.at : self.at + self.size], "little")
        most = 256**self.size - 1
        wanted = {0, 1, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, most, most // 2, true + 1, true - 1, true * 2}
        yield from sorted({value for value in wanted if 0 <= value <= most} - {true})


def fields(part: str, at: int, layout: struct.Struct, names: str) -> Iterator[Field]:
    """Those of a structure; a star marks a free one."""
    left = iter(names.split())
    for count, letter in re.findall(r"(\d*)([a-zA-Z])", layout.format):
        if letter in "sx":
            at += int(count or 1)
            continue
        for _ in range(int(count or 1)):
            name, size = next(left), struct.calcsize(f"<{letter}")
            yield Field(part, f"{name.strip('*')} at {at:#x}", at, size, name.startswith("*"))
            at += size
    assert next(left, None) is None


HEADER = "*type *machine *version entry phoff shoff *flags ehsize phentsize phnum shentsize shnum shstrndx"
SECTION = "*name *type *flags addr offset size link info addralign entsize"
SEGMENT = "*type flags offset vaddr paddr filesz memsz align"
CONTAINER = "version header size"
ENTRY = "*kind unknown header size packed_size extra minor major *number name_at name_size *flags zero full_size"
ROWS = {
    ".nvFatBinSegment": (binaries.WRAPPER, "*magic *version *pointer unknown"),
    ".rela.dyn": (binaries.RELOCATION, "*offset info *addend"),
    ".dynamic": (binaries.DYNAMIC, "*tag *value"),
    ".symtab": (binaries.SYMBOL, "*name info other shndx value size"),
}
NOTE = (struct.Struct("<3I12s6I"), "*namesz *descsz type *a *b *c *release *e *command")


def in_elf(data: bytes) -> Iterator[Field]:
    """Fields of an ELF file's headers, and of what stands in its sections."""
    found = elves.read(Source.of_bytes(data))
    header = binaries.HEADER.unpack_from(data)
    yield from fields("header", 0, binaries.HEADER, HEADER)
    for row in range(header[10]):
        yield from fields("segments", header[5] + row * binaries.SEGMENT.size, binaries.SEGMENT, SEGMENT)
    for row, section in enumerate(found.sections):
        yield from fields(
            f"header of {section.name}", header[6] + row * binaries.SECTION.size, binaries.SECTION, SECTION
        )
        yield from in_section(data, section)


def in_section(data: bytes, section: elves.Section) -> Iterator[Field]:
    at, end = section.offset, section.offset + section.size
    if section.type == binaries.NOTES:
        yield from fields(section.name, at, *NOTE)
    elif section.name in ROWS:
        layout, names = ROWS[section.name]
        for row in range(at, end, layout.size):
            yield from fields(section.name, row, layout, names)
    elif section.type in (binaries.INFO, binaries.COMPAT):
        while at < end:
            yield from fields(section.name, at, struct.Struct("<BBH"), "*form *code *size")
            form, _, size = struct.unpack_from("<BBH", data, at)
            at += 4 + (size if form == 4 else 0)


def in_containers(data: bytes) -> Iterator[Field]:
    for match in re.finditer(rb"\x50\xed\x55\xba\x01\x00\x10\x00", data):
        at = match.start()
        yield from fields("containers", at, binaries.CONTAINER, CONTAINER)
        end = at + binaries.CONTAINER.size + binaries.CONTAINER.unpack_from(data, at)[3]
        at += binaries.CONTAINER.size
        while at < end:
            yield from fields(f"image at {at:#x}", at, binaries.ENTRY, ENTRY)
            header, size = binaries.ENTRY.unpack_from(data, at)[2:4]
            at += header + size


def in_pe(data: bytes) -> Iterator[Field]:
    yield Field("headers", "e_lfanew", 0x3C, 4)
    yield from fields("headers", 0x80, binaries.COFF, "*machine *sections time symbols count *optional characteristics")
    yield from fields("headers", 0x98, struct.Struct("<H22xQ"), "*magic *base")
    for at in range(0xB8, 0xB8 + 3 * binaries.PE_SECTION.size, binaries.PE_SECTION.size):
        yield from fields(f"section at {at:#x}", at, binaries.PE_SECTION, "size address held offset")


FIELDS: Mapping[str, Callable[[bytes], Iterator[Field]]] = {
    "new.cubin": in_elf,
    "old.cubin": in_elf,
    "some.fatbin": in_containers,
    "plain.so": in_elf,
    "rdc.so": in_elf,
    "moved.so": in_elf,
    "some.dll": in_pe,
}


PARTS = [
    (seed, part) for seed, find in FIELDS.items() for part in dict.fromkeys(field.part for field in find(SEEDS[seed]))
]


@pytest.mark.parametrize(("seed", "part"), PARTS)
def test_lies(tmp_path: Path, seed: str, part: str) -> None:
    data = SEEDS[seed]
    stem, _, suffix = seed.partition(".")
    (tmp_path / seed).write_bytes(data)
    told: dict[str, Field] = {}
    # An empty section is as good as none, where wrappers are only known by relocations that nobody asked for.
    true = {"moved size at 0x1f28 0x0.so"}
    for field in FIELDS[seed](data):
        if field.part != part:
            continue
        for value in field.lies(data):
            name = f"{stem} {field.name} {value:#x}.{suffix}"
            changed = data[: field.at] + value.to_bytes(field.size, "little") + data[field.at + field.size :]
            (tmp_path / name).write_bytes(changed)
            told[name] = field
    found = looked(tmp_path)
    whole = found[seed].held
    silent = {
        name: +(whole - found[name].held if name in found else whole)
        for name, field in told.items()
        if not field.free and name not in true and not (name in found and found[name].messages)
    }
    assert {name: lost for name, lost in silent.items() if lost} == {}


# Cut short


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if not seed.endswith(".ptx")])
def test_cut_short(tmp_path: Path, seed: str) -> None:
    data = SEEDS[seed]
    stem, _, suffix = seed.partition(".")
    places = {field.at + ahead for field in FIELDS[seed](data) for ahead in (-1, 0, 1)} | set(range(0, len(data), 64))
    # Of a host's library less than its first bytes is no library, and a container less is a fatbin like others.
    whole_files = {1, 2, 3} if suffix in ("so", "dll") else {len(READY[0])}
    places = {place for place in places | set(range(20)) if 0 <= place < len(data)} - whole_files
    for place in places:
        (tmp_path / f"{stem} {place}.{suffix}").write_bytes(data[:place])
    (tmp_path / seed).write_bytes(data)
    found = looked(tmp_path)
    whole = found[seed].held
    silent = {
        place: lost
        for place in places
        if not ((one := found.get(f"{stem} {place}.{suffix}")) and one.messages)
        and (lost := whole - (one.held if one else Counter()))
    }
    assert silent == {}
