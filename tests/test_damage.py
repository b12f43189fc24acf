"""Damaged and hostile files through the whole of `bwlint inspect`.

Whatever a file holds, nothing but UsageError may come out; what is lost must be said; reports must render and stay
free of control characters; and neither time nor memory may run away.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import small_binaries
from processes import begun, line
from small_binaries import (
    WHEEL,
    Kernel,
    Section,
    conda,
    container,
    cubin,
    elf,
    entry,
    ptx,
    shared_object,
    static_library,
    tarred,
    wheel,
    zipped,
)

from bwlint.inspection import Inspected, InspectionRequest, inspect
from bwlint.model.escape import HIDDEN
from bwlint.readers.binary import elf as elves
from bwlint.readers.binary.names import readable
from bwlint.report import Setting, inspection_json, inspection_text, sarif
from bwlint.report.summary import not_read
from bwlint.settings.config import UsageError
from bwlint.sources.stretch import ByteSource

SECONDS = 5
SEEDS, READY, OBJECTS, CUBIN = (
    small_binaries.SAMPLES,
    small_binaries.READY,
    small_binaries.OBJECTS,
    small_binaries.CUBIN,
)


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
    began = time.process_time()
    try:
        found = inspect(InspectionRequest(things=(str(path),), kernels=True))
    except UsageError as error:
        assert not HIDDEN.search(str(error).replace("\n", ""))
        return {path.name: Seen(Counter(), (str(error),))}
    assert_reports(found)
    assert time.process_time() - began < SECONDS
    return seen(found)


def assert_reports(found: Inspected) -> None:
    inspection, setting = found.inspection, Setting()
    texts = [
        inspection_text.render(inspection, setting, True, readable=readable),
        inspection_text.render(inspection, setting),
        inspection_json.render(inspection, setting, True),
        sarif.render(inspection.report, setting),
        not_read(inspection.report.skipped, every=True),
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
        wanted = {0, 1, 7, 2**31, 2**32 - 1, 2**63, most, true + 1, true - 1}
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
    ".nvFatBinSegment": (small_binaries.WRAPPER, "*magic *version *pointer unknown"),
    ".rela.dyn": (small_binaries.RELOCATION, "*offset info *addend"),
    ".dynamic": (small_binaries.DYNAMIC, "*tag *value"),
    ".symtab": (small_binaries.SYMBOL, "*name info other shndx value size"),
}
NOTE = (struct.Struct("<3I12s6I"), "*namesz *descsz type *a *b *c *release *e *command")


def in_elf(data: bytes) -> Iterator[Field]:
    """Fields of an ELF file's headers, and of what stands in its sections."""
    found = elves.read(ByteSource.of_bytes(data))
    header = small_binaries.HEADER.unpack_from(data)
    yield from fields("header", 0, small_binaries.HEADER, HEADER)
    for row in range(header[10]):
        yield from fields("segments", header[5] + row * small_binaries.SEGMENT.size, small_binaries.SEGMENT, SEGMENT)
    for row, section in enumerate(found.sections):
        yield from fields(
            f"header of {section.name}", header[6] + row * small_binaries.SECTION.size, small_binaries.SECTION, SECTION
        )
        yield from in_section(data, section)


def in_section(data: bytes, section: elves.Section) -> Iterator[Field]:
    at, end = section.offset, section.offset + section.size
    if section.type == small_binaries.NOTES:
        yield from fields(section.name, at, *NOTE)
    elif section.name in ROWS:
        layout, names = ROWS[section.name]
        for row in range(at, end, layout.size):
            yield from fields(section.name, row, layout, names)
    elif section.type in (small_binaries.INFO, small_binaries.COMPAT):
        while at < end:
            yield from fields(section.name, at, struct.Struct("<BBH"), "*form *code *size")
            form, _, size = struct.unpack_from("<BBH", data, at)
            at += 4 + (size if form == 4 else 0)


def in_containers(data: bytes) -> Iterator[Field]:
    for match in re.finditer(rb"\x50\xed\x55\xba\x01\x00\x10\x00", data):
        at = match.start()
        yield from fields("containers", at, small_binaries.CONTAINER, CONTAINER)
        end = at + small_binaries.CONTAINER.size + small_binaries.CONTAINER.unpack_from(data, at)[3]
        at += small_binaries.CONTAINER.size
        while at < end:
            yield from fields(f"image at {at:#x}", at, small_binaries.ENTRY, ENTRY)
            header, size = small_binaries.ENTRY.unpack_from(data, at)[2:4]
            at += header + size


def in_pe(data: bytes) -> Iterator[Field]:
    yield Field("headers", "e_lfanew", 0x3C, 4)
    yield from fields(
        "headers", 0x80, small_binaries.COFF, "*machine *sections time symbols count *optional characteristics"
    )
    yield from fields("headers", 0x98, struct.Struct("<H22xQ"), "*magic *base")
    for at in range(0xB8, 0xB8 + 3 * small_binaries.PE_SECTION.size, small_binaries.PE_SECTION.size):
        yield from fields(f"section at {at:#x}", at, small_binaries.PE_SECTION, "size address held offset")


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


# Damage of one kind each, and what is said of it

Case = tuple[str, bytes, str]
"""The name of a file, what is in it, and a pattern for one of the messages."""


def changed(data: bytes, at: int, form: str, *values: int | bytes) -> bytes:
    """The same with other values from an offset on, packed by a format of `struct`."""
    return data[:at] + struct.pack(form, *values) + data[at + struct.calcsize(form) :]


def row_of(data: bytes, name: str) -> int:
    """Where in an ELF file the header of a section lies."""
    found = elves.read(ByteSource.of_bytes(data))
    names = [section.name for section in found.sections]
    return int(small_binaries.HEADER.unpack_from(data)[6]) + small_binaries.SECTION.size * names.index(name)


def place_of(data: bytes, name: str) -> int:
    """Where in an ELF file the bytes of a section lie."""
    return int(small_binaries.SECTION.unpack_from(data, row_of(data, name))[4])


def in_entry(place: int, **values: int) -> bytes:
    """A container of three images, one of which says something else."""
    at = small_binaries.CONTAINER.size
    data = READY[0]
    for _ in range(place):
        header, size = small_binaries.ENTRY.unpack_from(data, at)[2:4]
        at += header + size
    places = {"kind": (0, "<H"), "header": (4, "<I"), "size": (8, "<Q"), "packed": (16, "<I"), "number": (28, "<I")}
    places |= {"flags": (40, "<Q"), "full": (56, "<Q")}
    for name, value in values.items():
        data = changed(data, at + places[name][0], places[name][1], value)
    return data


def payload(data: bytes, full: int, packed: str) -> bytes:
    """A container with an image whose packed bytes are these, and that says to be `full` bytes long unpacked."""
    made = bytearray(entry(data, 120, kind=2))
    flag = {"lz4": 0x2000, "zstd": 0x8000}[packed]
    struct.pack_into("<I", made, 16, len(data))
    struct.pack_into("<QQQ", made, 40, 0x11 | flag, 0, full)
    return container(bytes(made))


def containers_damaged() -> Iterator[Case]:
    yield "a.fatbin", in_entry(0, size=len(CUBIN) - 64), "claims 3 [+] 0 bytes"
    yield "b.fatbin", in_entry(0, header=60), "claims 60"
    yield "c.fatbin", in_entry(2, size=2**63), f"claims 64 [+] {2**63}"
    yield "d.fatbin", in_entry(1, packed=2**31), f"claims {2**31} packed"
    yield "e.fatbin", in_entry(1, packed=0), "claims 0 packed"
    yield "f.fatbin", in_entry(0, kind=3), "unknown kind: 3"
    yield "g.fatbin", in_entry(0, number=2**32 - 1), "sm_4294967295, and no chip has such a number"
    yield "i.fatbin", changed(READY[0], 8, "<Q", len(READY[0]) - 8), "container at offset 0 claims"
    yield "j.fatbin", changed(READY[0], 6, "<H", 8), "version 1 with a header of 8 bytes"
    yield "k.fatbin", changed(READY[0], 4, "<H", 9), "version 9"
    yield "l.fatbin", READY[0] + b"rubbish" * 8, "no container of device code at offset"
    yield "m.fatbin", container(*[entry(ptx(80), 80)] * 200), "more than 128 images in one container"
    yield "n.so", shared_object(changed(READY[0], 8, "<Q", 2**40)), f"claims {2**40}"
    yield "o.fatbin", b"nothing of the kind", "it has no device code"
    yield "p.cubin", b"nothing of the kind", "it has no device code"
    yield "q.ptx", b"nothing of the kind", "it has no device code"


def images_damaged() -> Iterator[Case]:
    packed = {"lz4": small_binaries.pack(CUBIN, "lz4"), "zstd": small_binaries.pack(CUBIN, "zstd")}
    for way, data in packed.items():
        size = len(CUBIN)
        yield f"{way} cut.fatbin", payload(data[:-9], size, way), "does not unpack"
        yield f"{way} noise.fatbin", payload(bytes(range(200)), size, way), "does not unpack"
        yield f"{way} longer.fatbin", payload(data, size - 1, way), "does not unpack|frame of another size"
        yield f"{way} shorter.fatbin", payload(data, size + 1, way), "unpacks to|frame of another size|does not unpack"
        yield f"{way} none.fatbin", payload(data, 0, way), "sm_120 at offset"
        yield f"{way} huge.fatbin", payload(data, 2**40, way), "there is memory for"
        yield f"{way} text.fatbin", payload(small_binaries.pack(b"text" * 99, way), 396, way), "no ELF file"
    window = bytes.fromhex("28b52ffd") + b"\x00\xa8" + b"\x01\x00\x00"
    yield "window.fatbin", payload(window, 10**6, "zstd"), "does not unpack|unpacks to 0"
    unknown = bytes.fromhex("28b52ffd0058") + b"\x29\x00\x00hello"
    yield "unknown.fatbin", payload(unknown, 10**6, "zstd"), "unpacks to 5|does not unpack"
    older = payload(small_binaries.pack(CUBIN[:700], "zstd"), 700, "zstd")
    yield "half.fatbin", older, "should end at"


def sections_damaged() -> Iterator[Case]:
    library = SEEDS["rdc.so"]
    fatbin, relocatable = row_of(library, ".nv_fatbin"), row_of(library, "__nv_relfatbin")
    at, size = small_binaries.SECTION.unpack_from(library, fatbin)[4:6]
    yield "same.so", changed(library, relocatable + 24, "<QQ", at, size), "lies over another section"
    yield "over.so", changed(library, relocatable + 32, "<Q", size * 2), "lies over another section"
    yield "outside.so", changed(library, fatbin + 24, "<Q", 2**40), "[.]nv_fatbin: .* wanted at offset"
    yield "wide.so", changed(library, fatbin + 32, "<Q", 2**64 - 1), "[.]nv_fatbin: .* bytes wanted"
    wrappers = place_of(library, ".nvFatBinSegment")
    own = small_binaries.SECTION.unpack_from(library, row_of(library, ".nvFatBinSegment"))[3]
    circle = changed(changed(library, wrappers + 8, "<Q", own + 24), wrappers + 32, "<Q", own)
    yield "circle.so", circle, "no container at 2 of 4 places"
    yield "nowhere.so", changed(library, wrappers + 8, "<Q", 2**63), "leads to no container"
    yield (
        "unnamed.so",
        changed(library, wrappers + 32, "<Q", 0x10000 + at),
        "1 containers that [.]nvFatBinSegment does not name",
    )
    many = elf(
        [
            Section("__nv_relfatbin", OBJECTS[0], flags=2),
            Section(".nvFatBinSegment", small_binaries.WRAPPER.pack(0x466243B1, 1, 0, 0) * 65537, flags=2),
        ]
    )
    yield "many.so", many, "65537 containers in [.]nvFatBinSegment"
    yield "alone.so", elf([Section("__nv_relfatbin", OBJECTS[0], flags=2)]), "relocatable containers and no"
    moved = SEEDS["moved.so"]
    yield "rela.so", changed(moved, row_of(moved, ".rela.dyn") + 32, "<Q", 2**40), "MiB of relocations"
    yield "rela2.so", changed(moved, row_of(moved, ".rela.dyn") + 24, "<Q", 2**40), "wanted at offset"
    names = row_of(library, ".shstrtab")
    table = small_binaries.HEADER.unpack_from(library)[6]
    yield "itself.so", changed(library, names + 24, "<QQ", table, 64), "its sections have no names"
    yield "noname.so", changed(library, 62, "<H", 0), "its sections have no names"
    yield "far.so", changed(library, 40, "<Q", 2**63), "section table of an ELF file should end at"
    yield "none.so", changed(library, 58, "<HHH", 64, 0, 0), "its sections have no names"
    yield "counted.so", changed(library, 60, "<H", 0xFFFF), "section table of an ELF file should end at"
    first = changed(changed(library, 60, "<H", 0), table + 32, "<Q", 2**63)
    yield "extended.so", first, f"{2**63} sections"
    yield "wide.so", changed(library, 4, "<B", 7), "class 7"
    yield "big.so", changed(library, 5, "<B", 2), "not little-endian"
    yield "segments.so", changed(library, 56, "<H", 0xFFFF), "65535 segments"
    strings = place_of(library, ".dynstr")
    yield "strings.so", changed(library, strings, "<B", 65), "without a table of names"
    yield "dynamic.so", changed(library, place_of(library, ".dynamic") + 8, "<Q", 4711), "library without a name"


def cubins_damaged() -> Iterator[Case]:
    info = place_of(CUBIN, ".nv.info._Z4gemmPf")
    yield "form.cubin", changed(CUBIN, info, "<B", 9), "attribute of form 9 in '[.]nv[.]info[.]_Z4gemmPf'"
    yield "sized.cubin", changed(CUBIN, info + 2, "<H", 0xFFFF), "attributes in .* that end at"
    yield "global.cubin", changed(CUBIN, place_of(CUBIN, ".nv.info") + 2, "<H", 0x7FFF), "that end at"
    yield "note.cubin", changed(CUBIN, place_of(CUBIN, ".note.nv.tkinfo"), "<I", 2**32 - 1), "no note of NVIDIA's"
    yield "note2.cubin", changed(CUBIN, place_of(CUBIN, ".note.nv.tkinfo") + 4, "<I", 2**31), "no note of NVIDIA's"
    yield "abi.cubin", changed(CUBIN, 7, "<B", 9), "ABI that bwlint does not know [(]OSABI 0x9"
    code = row_of(CUBIN, ".nv.constant0.plain")
    yield "code.cubin", changed(CUBIN, code + 44, "<I", 2**31), "parameters of kernel 'plain', but not its code"
    yield "code2.cubin", changed(CUBIN, code + 44, "<I", 0), "parameters of kernel 'plain', but not its code"
    symbols = row_of(CUBIN, ".symtab")
    yield "call.cubin", changed(CUBIN, symbols + 32, "<Q", 24), "calls symbol 3 of 1"
    yield "link.cubin", changed(CUBIN, symbols + 40, "<I", 2**31), "no table of their names"
    yield "info.cubin", changed(CUBIN, row_of(CUBIN, ".nv.info") + 32, "<Q", 2**40), "bytes of attributes in a cubin"
    yield "end.cubin", changed(CUBIN, row_of(CUBIN, ".nv.info") + 24, "<Q", len(CUBIN)), "wanted at offset"
    yield "names.cubin", changed(CUBIN, row_of(CUBIN, ".shstrtab") + 32, "<Q", 2**31), "bytes of section names"
    unended = small_binaries.SECTION.unpack_from(CUBIN, row_of(CUBIN, ".shstrtab"))
    names = bytes(unended[5]).replace(b"\0", b"x")
    yield "unended.cubin", changed(CUBIN, unended[4], f"<{unended[5]}s", names), "sections have no names"
    yield "false.fatbin", container(*[entry(cubin(120, command="-arch sm_90 "), 120)] * 30), "relabelled images"


def archives_damaged() -> Iterator[Case]:
    library = SEEDS["plain.so"]
    for name in ("../x.so", "/x.so", "a//x.so", "a/../../x.so", "a/./x.so"):
        yield WHEEL, wheel({name: library}), "path that leads out of the archive"
    for name in ("a\x1b[31m.so", "a\n.so", "a\u202e.so", "c:\\x.so"):
        yield WHEEL, wheel({name: library}), "unusual character in its name"
    yield WHEEL, wheel({f"{'n' * 2000}.so": library}), "name of 2,00. characters"
    nested = library
    for _ in range(4):
        nested = zipped({"a.zip": nested}) if nested is not library else zipped({"a.so": nested})
    yield "nested.zip", nested, "archive nested 3 deep"
    yield WHEEL, wheel({"a.so": library})[:-30], "not a readable zip"
    yield WHEEL, b"PK\3\4 and nothing else", "not a readable zip"
    yield WHEEL, b"", "not a readable zip"
    yield "bomb.zip", zipped({"a.so": bytes(64 << 20)}), "compressed more than 1 to"
    at = wheel({"a.so": library}).index(b"PK\1\2")
    yield WHEEL, changed(wheel({"a.so": library}), at + 8, "<H", 1), "encrypted member"
    yield WHEEL, changed(wheel({"a.so": library}), at + 38, "<I", stat.S_IFLNK << 16), "member that is a symlink"
    yield WHEEL, changed(wheel({"a.so": library}), at + 38, "<I", stat.S_IFIFO << 16), "not a regular file"
    yield WHEEL, changed(wheel({"a.so": library}), at + 10, "<H", 99), "packed by method 99"
    yield WHEEL, changed(wheel({"a.so": library}), at + 16, "<I", 1), "checksum is wrong"
    yield WHEEL, changed(wheel({"a.so": library}), at + 24, "<I", 5), "larger than it says"
    yield WHEEL, changed(wheel({"a.so": library}), at + 24, "<I", 10**6), "shorter than it says"
    yield WHEEL, changed(wheel({"a.so": library}), at + 42, "<I", 9), "own header|overlaps"
    yield WHEEL, changed(wheel({"a.so": library}), 40, "<Q", 2**64 - 1), "damaged deflate data|checksum|cut short"
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a.so", library)
        archive.writestr("a.so", CUBIN)
    yield WHEEL, twice.getvalue(), "member named twice"
    yield WHEEL, wheel({"a.so": library[:999]}), "should end at"
    yield WHEEL, wheel({"x/b.cubin": CUBIN[:200]}), "should end at"
    yield WHEEL, wheel({"empty.so": b""}), "an empty file"
    yield "a.conda", conda({"a.so": library})[:-9], "not a readable zip"
    yield "b.conda", conda({"../a.so": library}), "leads out of the archive"
    yield "c.conda", zipped({"pkg-a.tar.zst": b"no tar"}, zipfile.ZIP_STORED), "archive not read"
    for packing, ending in (("", "tar"), ("gz", "tar.gz"), ("bz2", "tar.bz2"), ("xz", "tar.xz"), ("zstd", "tar.zst")):
        data = tarred({"a.so": library, "b.so": library}, packing)
        yield f"half.{ending}", data[: len(data) // 2], "not read|cut short|damaged|member not unpacked|not a readable"
        yield f"noise.{ending}", bytes(range(256)) * 9, "not a readable tar archive"
    stored = tarred({"a.so": library})
    yield "size.tar", changed(stored, 124, "<12s", b"77777777777\0"), "damaged tar header|not a readable tar"
    yield "sum.tar", changed(stored, 148, "<8s", b"0000000\0"), "damaged tar header"
    objects = static_library({"a.o": library, "b.o": library})
    yield "half.a", objects[:-99], "not read to its end: .* wanted at offset"
    yield "sized.a", changed(objects, 8 + 48, "<10s", b"9999999999"), "wanted at offset"
    yield "letters.a", changed(objects, 8 + 48, "<10s", b"x         "), "damaged ar header"
    yield "thin.a", b"!<thin>\n" + objects[8:], "thin archive"
    yield "long.a", changed(objects, 8, "<16s", b"/4711".ljust(16)), "not in the table of names"
    yield "member.a", static_library({"a.o": library[:999]}), "should end at"


CASES = [*containers_damaged(), *images_damaged(), *sections_damaged(), *cubins_damaged(), *archives_damaged()]


@pytest.mark.parametrize(("name", "data", "message"), CASES, ids=[f"{case[0]}: {case[2]}" for case in CASES])
def test_what_is_said(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    said = messages_of(path)
    assert re.search(message, said), said


# Names that would take over a terminal

EVIL = "k\x1b[31m\r\n\u202e\x9b2J\U000e0041"


def test_control_characters_do_not_reach_a_report(tmp_path: Path) -> None:
    odd = cubin(120, "f", (EVIL, Kernel("k2", calls=(f"__cuda_syscall_cp_async_bulk_{EVIL}",))))
    told = cubin(90, command=f"-arch sm_90 {EVIL}")
    files = {
        f"{EVIL}.cubin": odd,
        "names.so": shared_object(container(entry(odd, 120, "f")), needed=(f"libcudart.so.{EVIL}", EVIL)),
        "sections.so": elf([Section(EVIL, b"x"), Section(".nv_fatbin", READY[0])]),
        "command.cubin": told,
        "code.cubin": changed(odd, row_of(odd, f".nv.constant0.{EVIL}") + 44, "<I", 0),
        "form.cubin": changed(odd, place_of(odd, f".nv.info.{EVIL}"), "<B", 9),
        "false.cubin": cubin(120, command=f"-arch sm_90 {EVIL}", kernels=(EVIL,)),
        f"{EVIL}.zip": zipped({f"{EVIL}/{EVIL}.so": READY[0]}),
        f"{EVIL}.tar": tarred({f"{EVIL}.so": READY[0]}),
        "a.a": static_library({"\x1b[31m.o": READY[0]}),
        "broken\x1b[31m.zip": b"PK",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        looked(tmp_path / name)
    found = looked(tmp_path)
    assert found[f"{EVIL}.cubin"].held["kernel", EVIL] == 1
    assert found["names.so"].held["needed", EVIL] == 1
    assert "but not its code" in "".join(found["code.cubin"].messages)


@pytest.mark.skipif(sys.platform == "win32" or sys.platform == "darwin", reason="names that are no text")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.cubin"))
    path.write_bytes(CUBIN)
    assert looked(path)[path.name].held["kernel", "plain"] == 1
    (one,) = looked(tmp_path).values()
    assert one.held["kernel", "plain"] == 1


# What is no file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_fifos(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.so")
    os.mkfifo(tmp_path / WHEEL)
    (tmp_path / "good.cubin").write_bytes(CUBIN)
    assert "a FIFO" in messages_of(tmp_path / "x.so")
    assert "a FIFO" in messages_of(tmp_path / WHEEL)
    found = looked(tmp_path)
    assert found["good.cubin"].held["kernel", "plain"] == 1


def test_folders_called_like_files(tmp_path: Path) -> None:
    for name in ("x.so", "y.cubin", "z.zip", WHEEL):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in.cubin").write_bytes(CUBIN)
    assert looked(tmp_path)["in.cubin"].held["kernel", "plain"] == 4
    assert looked(tmp_path / "x.so")["in.cubin"].held["kernel", "plain"] == 1


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "loop.so").symlink_to("loop.so")
    (tmp_path / "gone.so").symlink_to("nothing.so")
    assert "symlink loop" in messages_of(tmp_path / "loop.so")
    assert "no such file" in messages_of(tmp_path / "gone.so")
    assert "no such file" in messages_of(tmp_path / "never.so")
    (tmp_path / "good.cubin").write_bytes(CUBIN)
    assert looked(tmp_path)["good.cubin"].held["kernel", "plain"] == 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device")
def test_devices() -> None:
    assert "a device" in messages_of(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["x.so", "x.cubin", "x.fatbin", "x.ptx", "x.dll", "x.o"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert messages_of(tmp_path / name) == "an empty file"


def test_one_broken_file_leaves_the_others(tmp_path: Path) -> None:
    for name in SEEDS:
        (tmp_path / name).write_bytes(SEEDS[name])
    for name, data in {WHEEL: b"PK", "x.tar.gz": b"\x1f\x8b", "x.so": CUBIN[:200], "no wheel.whl": b""}.items():
        (tmp_path / name).write_bytes(data)
    found = looked(tmp_path)
    assert all(found[name].held for name in SEEDS)
    assert all(found[name].messages for name in (WHEEL, "x.tar.gz", "x.so", "no wheel.whl"))


# What would fill memory, or never end


FORKING = """
import json, os, re, resource, signal, sys
from pathlib import Path
from bwlint.cli import run
run(["inspect", "--kernels", os.devnull])  # what all of them load is loaded once
for line in sys.stdin:
    arguments, report, said = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    signal.alarm(60)
    for path, stream in ((report, 1), (said, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    try:
        code = run(["inspect", "--verbose", *arguments])
    finally:
        sys.stdout.flush()
        # getrusage would count what the parent had in memory when it started this process; of time it knows better.
        most = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())
        used = resource.getrusage(resource.RUSAGE_SELF)
        sys.stderr.write(json.dumps([int(most.group(1)) // 1024, used.ru_utime + used.ru_stime]))
        sys.stderr.flush()
    os._exit(code)
"""
MIB = 1 << 20
LARGEST_MEMORY = 256
"""In MiB, of the whole process."""


@dataclass(frozen=True)
class Hungry:
    """A file to make, what is said of it, and how large zeros make it that take no room on the disk."""

    make: Callable[[], bytes]
    says: str
    size: int = 0

    def write(self, path: Path) -> None:
        path.write_bytes(self.make())
        if self.size:
            os.truncate(path, self.size)


def small(number: int = 120) -> bytes:
    """The header of an image that is nothing else."""
    return small_binaries.ENTRY.pack(2, 0x101, 64, 0, 0, 0, 8, 1, number, 0, 0, 0x11, 0, 0)


def long_names(count: int, size: int) -> bytes:
    return cubin(120, "f", [f"{index:06d}{'x' * (size - 6)}" for index in range(count)])


def with_sections(count: int, names: int) -> bytes:
    """A host library with so many sections, whose names overlap."""
    data = elf([Section(".nv_fatbin", READY[0]), Section("x" * names, b""), Section("y", b"")])
    table = small_binaries.HEADER.unpack_from(data)[6]
    rows = [data[table + 64 * row : table + 64 * row + 64] for row in range(5)]
    more = [changed(rows[2], 0, "<I", 20 + index) for index in range(count)]
    first = changed(rows[0], 32, "<QI", 5 + count, 4)
    made = changed(data[:table], 60, "<HH", 0, 0xFFFF)
    return made + b"".join([first, *rows[1:], *more])


def many_relocations() -> bytes:
    """Tables of relocations that lie over each other."""
    wrappers = Section(".nvFatBinSegment", small_binaries.WRAPPER.pack(0x466243B1, 1, 0, 0) * 2, flags=2)
    parts = [Section("__nv_relfatbin", OBJECTS[0], flags=2), Section(".nv_fatbin", READY[0], flags=2), wrappers]
    data = elf(
        [*parts, Section(".rela", bytes(24 * MIB), small_binaries.RELA), *[Section("", b"", small_binaries.RELA)] * 50]
    )
    at = row_of(data, ".rela")
    row = data[at : at + small_binaries.SECTION.size]
    return data[:at] + row * 51 + data[at + 51 * len(row) :]


def many_wrappers() -> bytes:
    """Wrappers by the ten thousands, and sections that may hold what they point to."""
    rows = small_binaries.WRAPPER.pack(0x466243B1, 1, 0x7FFFFFFF, 0) * 65_000
    parts = [Section("__nv_relfatbin", OBJECTS[0], flags=2), Section(".nvFatBinSegment", rows, flags=2)]
    return elf([*parts, *[Section("", b"x", flags=2)] * 60_000])


def many_members(count: int, name: Callable[[int], str], data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(count):
            archive.writestr(zipfile.ZipInfo(name(number)), data)
    return buffer.getvalue()


def endless_tar() -> bytes:
    info = tarfile.TarInfo("a.so")
    info.size = 400 * MIB
    head = info.tobuf()
    return small_binaries.pack(head, "gz") + small_binaries.pack(bytes(10 * MIB), "gz") * 40


def large_cubin(size: int) -> bytes:
    """A cubin near all limits, with zeros for code."""
    made = long_names(7000, 330)
    return made + bytes(size - len(made))


def extended(count: int) -> bytes:
    """A cubin that says to have any number of sections; the file is as large as it says."""
    table = small_binaries.HEADER.unpack_from(CUBIN)[6]
    return changed(changed(CUBIN, 60, "<HH", 0, 0xFFFF), table + 32, "<QI", count, 1)


HUNGRY: Mapping[str, Hungry] = {
    "blank lines.o": Hungry(lambda: b"\n" * 65_536, "no findings"),
    "a million kernels.cubin": Hungry(lambda: extended(4_000_000), "4000000 sections", 300 * MIB),
    "many kernels.cubin": Hungry(lambda: long_names(8000, 340), "no findings"),
    "more kernels.cubin": Hungry(lambda: long_names(9000, 40), "sections, and at most 32768"),
    "kernels with long names.cubin": Hungry(lambda: long_names(2, MIB), "no findings"),
    "kernels with longer names.cubin": Hungry(lambda: long_names(4, MIB), "bytes of section names"),
    "many sections.so": Hungry(lambda: with_sections(131_000, 40), "1 note"),
    "overlapping names.so": Hungry(lambda: with_sections(10_000, MIB), "section names that overlap"),
    "images.fatbin": Hungry(lambda: container(small() * 300_000), "more than 128 images in one container"),
    "containers.fatbin": Hungry(lambda: container(small()) * 10_000, "9,900 more faults"),
    "full containers.fatbin": Hungry(lambda: container(small() * 120) * 1100, "or 131,072 images"),
    "targets.fatbin": Hungry(
        lambda: b"".join(container(small(i % 1000), small(i // 1000)) for i in range(4000)),
        "3,900 more faults",
    ),
    "empty containers.fatbin": Hungry(lambda: container() * 100_000, "more than 32,768 containers"),
    "beginnings.o": Hungry(lambda: b"anything" + container() * 110_000, "more than 100,000 places"),
    "overlapping containers.o": Hungry(
        lambda: b"".join(
            small_binaries.CONTAINER.pack(b"\x50\xed\x55\xba", 1, 16, 16 * i) for i in range(100_000, 0, -1)
        ),
        "no findings",
    ),
    "relocations.so": Hungry(many_relocations, "MiB of relocations"),
    "wrappers.so": Hungry(many_wrappers, "leads to no container"),
    "a terabyte.so": Hungry(lambda: b"\0", "no findings", 1 << 40),
    "a terabyte.fatbin": Hungry(lambda: READY[0], "MiB of zeros", 1 << 40),
    "a terabyte.tar": Hungry(lambda: tarred({"a.so": READY[0]}), "1 note", 1 << 40),
    "a large cubin.fatbin": Hungry(
        lambda: container(entry(large_cubin(156 * MIB), 120, "f", "zstd")),
        "no findings",
    ),
    "a larger cubin.fatbin": Hungry(
        lambda: container(entry(bytes(200 * MIB), 120, "f", "zstd")),
        "there is memory for",
    ),
    "noise.fatbin": Hungry(
        lambda: container(entry(CUBIN + os.urandom(40 * MIB), 120, "f", "lz4")),
        "1 note",
    ),
    "lz4 bombs.fatbin": Hungry(
        lambda: container(entry(CUBIN + bytes(60 * MIB), 120, "f", "lz4")) * 10,
        "64 times the size of all files",
    ),
    "zstd bombs.fatbin": Hungry(
        lambda: container(entry(CUBIN + bytes(60 * MIB), 120, "f", "zstd")) * 300,
        "64 times the size of all files",
    ),
    "zstd bombs.zip": Hungry(
        lambda: many_members(20, lambda i: f"{i}.so", container(entry(CUBIN + bytes(60 * MIB), 120, "f", "zstd"))),
        "64 times the size of all files",
    ),
    "refused members.zip": Hungry(
        lambda: many_members(30_000, lambda i: f"../{i}{'y' * 90}.so", b""),
        "and 20,000 more were not read",
    ),
    "cubins.zip": Hungry(
        lambda: many_members(120, lambda i: f"{i}.cubin", long_names(1, 600_000)), "bwlint stops reading"
    ),
    "gibibytes.tar.gz": Hungry(endless_tar, "packed more than 1 to"),
    "text.ptx": Hungry(lambda: ptx(80) + b".func a();\nadd.s32 a, b, c;\n" * 3_500_000, "no findings|1 note"),
    "a long name.ptx": Hungry(lambda: ptx(80) + b".entry " + b"k" * 100 * MIB + b"()", "no findings|1 note"),
    "many entries.ptx": Hungry(
        lambda: ptx(80) + b"".join(b".entry k%d()\n" % i for i in range(1_000_000)),
        "more than 32,768 kernels",
    ),
    "nested names.cubin": Hungry(
        lambda: cubin(120, kernels=("_Z" + "N" * 500_000, "_Z1aI" + "PK" * 200_000)), "no findings"
    ),
}


LISTED = ("many kernels.cubin", "containers.fatbin")
"""Those of which a report for people is long as well."""


@pytest.fixture(scope="module")
def forking() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has bwlint loaded: each child of it looks at one file."""
    process = begun(FORKING)
    yield process
    process.communicate(timeout=60)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("name", "form"), [(name, "json") for name in HUNGRY] + [(name, "text") for name in HUNGRY if name in LISTED]
)
def test_time_and_memory_are_bounded(tmp_path: Path, forking: subprocess.Popen[bytes], name: str, form: str) -> None:
    hungry, path, told = HUNGRY[name], tmp_path / name, tmp_path / "told"
    hungry.write(path)
    job = ["--kernels", "--format", form, str(path)], str(tmp_path / "report"), str(told)
    assert forking.stdin is not None
    forking.stdin.write(json.dumps(job).encode() + b"\n")
    forking.stdin.flush()
    assert int(line(forking)) in range(4)
    said, _, measured = told.read_text().rpartition("\n")
    mebibytes, seconds = json.loads(measured)
    assert re.search(hungry.says, said), said[-2000:]
    assert mebibytes < LARGEST_MEMORY
    assert seconds < SECONDS
    path.unlink()
