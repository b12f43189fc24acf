"""What a cubin says of itself and of its kernels, from its headers, notes and attributes; code is not read.

Two layouts (ABI 7 of CUDA 12 and older for sm_90 and below, ABI 8 for all else) keep the SM number in other bits of
e_flags. Neither has a place for the suffix f: it stands only in the command that the notes keep. A kernel named K is
.text.K, its parameters .nv.constant0.K (device functions have none), its attributes .nv.info.K, its static shared
memory .nv.shared.K.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from struct import Struct, unpack_from

from bwlint.chips.spelling import NUMBER
from bwlint.model.images import DRIVER_CALL, Cubin, Kernel, Place, Version
from bwlint.readers.binary import elf as elves
from bwlint.readers.binary.elf import Elf, Section
from bwlint.readers.binary.lines import TABLE, LineAllowance
from bwlint.readers.binary.lines import places as line_places
from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

_OLD, _NEW = 0x33, 0x41
_OLD_SPECIFIC, _NEW_SPECIFIC = 0x800, 0x8

_PARAMETERS, _INFO, _SHARED, _CODE = ".nv.constant0.", ".nv.info.", ".nv.shared.", ".text."
_GLOBAL_INFO, _COMPAT, _TOOLS = ".nv.info", ".nv.compat", ".note.nv.tkinfo"
_TARGET, _OLDER_TARGET = ".note.nv.cuinfo", ".note.nv.cuver"
_SYMBOL_TABLE = 2

# Attributes, as cuobjdump names them: EIATTR_MAX_THREADS and so on.
_MAX_THREADS, _EXTERNS, _REQUIRED_THREADS, _REGISTERS = 0x05, 0x0F, 0x10, 0x2F
_CLUSTER, _EXPLICIT_CLUSTER, _MAX_CLUSTER = 0x3D, 0x3E, 0x3F
_TCGEN05_ONE, _TCGEN05_TWO, _SETMAXNREG = 0x51, 0x52, 0x54
_COMPAT_SPECIFIC = 9

# From sm_90 on, the linker puts what the system reserves in front of each kernel's shared memory.
_RESERVED, _RESERVED_FROM = 1024, 90

_MAX_INFO = 16 << 20
_MAX_NOTE = 64 << 10
_MAX_KERNELS = 32_768
_MAX_EXTERNS = 65_536

_NAME_TABLE = b".shstrtab\0"
_AUTHOR = b"NVIDIA Corp\0"
_HEAD = Struct("<BBH")
_PAIR = Struct("<II")
_TRIPLE = Struct("<III")
_TOOL = Struct("<6I")
_ARCH = re.compile(rf"(?:^|\s)-(?:arch|-gpu-name)[ =]sm_({NUMBER})([af]?)(?!\w)")
_RELEASE = re.compile(r"release (\d{1,3})\.(\d{1,3})")
_DRIVERS_BUILD = "TOOLS_VERSION_EXTENDED"
"""Of the build that compilers name which are no toolkit's: the driver's JIT (580.159) and that in cuDNN 9."""
_KERNEL_NAME = re.compile(rb"\.nv\.constant0\.([^\0]+)")


@dataclass(frozen=True, slots=True)
class _Notes:
    """What a cubin's notes say.

    `command` is that of the last tool (ptxas, or nvlink), `number` and `suffix` the target that it asks for.
    `virtual` is the number of the target that the PTX was written for, which may be lower.
    """

    command: str = ""
    toolkit: Version | None = None
    number: int | None = None
    suffix: str = ""
    virtual: int | None = None
    build: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sections, those of kernels by the index of their code's section; `symbols` has the index of its symbol."""

    named: dict[str, Section] = field(default_factory=dict)
    kernels: dict[int, str] = field(default_factory=dict)
    infos: dict[int, Section] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)
    symbols: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Symbols:
    """Names of symbols, looked up one by one: few are asked for, and the table may be long."""

    elf: Elf
    known: dict[int, str] = field(default_factory=dict)

    def name(self, index: int) -> str:
        if index not in self.known:
            if len(self.known) >= _MAX_EXTERNS:
                raise LimitError(f"a cubin whose kernels call more than {_MAX_EXTERNS} functions")
            self.known[index] = self._read(index)
        return self.known[index]

    def _read(self, index: int) -> str:
        sections = self.elf.sections
        table = next((section for section in sections if section.type == _SYMBOL_TABLE), None)
        if table is None or table.link >= len(sections):
            raise ReadError("a cubin that calls functions and has no table of their names")
        size = 24 if self.elf.bits == 64 else 16
        if (index + 1) * size > table.size:
            raise ReadError(f"a cubin that calls symbol {index} of {table.size // size}")
        (place,) = unpack_from("<I", self.elf.source.read(table.offset + index * size, 4))
        return self.elf.string(sections[table.link], place)


def read(source: ByteSource, lines: LineAllowance | None = None) -> Cubin:
    """What a cubin says, its line table within the allowance `lines`; raises `ReadError` where it is none."""
    return of_elf(elves.read(source), lines)


def of_elf(elf: Elf, lines: LineAllowance | None = None) -> Cubin:
    """What a cubin says whose headers are read."""
    if elf.machine != elves.CUDA:
        raise ReadError(f"no cubin but an ELF file for {elf.machine_name or f'machine {elf.machine}'}")
    if not elf.is_named:
        raise LimitError("a cubin whose sections have no names")
    if elf.osabi not in (_OLD, _NEW):
        raise LimitError(f"a cubin of an ABI that bwlint does not know (OSABI {elf.osabi:#x}, version {elf.abi})")
    end = max((row.offset + row.size for row in elf.sections if row.type == elves.PROGRAM_DATA), default=0)
    if end > elf.source.size:
        raise ReadError(f"a cubin that is cut off: it should end at {end}, and ends at {elf.source.size}")
    parts = _parts(elf)
    _check_sizes(parts)
    number = elf.flags >> 8 & 0xFF if elf.osabi == _NEW else elf.flags & 0xFF
    notes = _notes(elf, parts)
    noted, noted_suffix = _noted(number, notes)
    places, unplaced = line_places(elf, parts.kernels, lines or LineAllowance())
    relocatable = elf.type == elves.RELOCATABLE
    reserved = _RESERVED if number >= _RESERVED_FROM and not relocatable else 0
    return Cubin(
        number,
        _suffix(elf, parts, number, notes),
        elf.abi,
        tuple(_kernels(elf, parts, reserved, places)),
        noted,
        noted_suffix,
        notes.command,
        notes.toolkit,
        relocatable,
        _DRIVERS_BUILD in notes.build,
        unplaced,
    )


def kernel_names(source: ByteSource) -> tuple[str, ...]:
    """The mangled names of a cubin's kernels, from the table of its sections' names alone."""
    names = elves.names_of_sections(source)
    if _NAME_TABLE not in names:
        raise LimitError("a cubin whose sections have no names")
    found = _KERNEL_NAME.findall(names)
    if len(found) > _MAX_KERNELS:
        raise LimitError(f"a cubin of {len(found)} kernels, and at most {_MAX_KERNELS} are read")
    return tuple(dict.fromkeys(name.decode("utf-8", "replace") for name in found))


def has_lines(source: ByteSource) -> bool:
    """Whether a cubin has a line table, from the table of its sections' names alone."""
    return b"\0" + TABLE.encode() + b"\0" in elves.names_of_sections(source)


def _parts(elf: Elf) -> _Parts:
    parts = _Parts()
    for index, section in enumerate(elf.sections):
        name = section.name
        if name.startswith(_PARAMETERS):
            _add_kernel(elf, parts, section.info, name[len(_PARAMETERS) :])
        elif name.startswith(_INFO):
            parts.infos[section.info] = section
        elif name.startswith(_SHARED):
            parts.shared[section.info] = section.size
        elif name.startswith(_CODE):
            # The upper byte may hold the number of registers.
            parts.symbols[section.info & 0xFFFFFF] = index
        else:
            parts.named.setdefault(name, section)
    return parts


def _add_kernel(elf: Elf, parts: _Parts, code: int, name: str) -> None:
    if code in parts.kernels or code >= len(elf.sections) or elf.sections[code].name != _CODE + name:
        raise ReadError(f"a cubin with parameters of kernel {_short(name)}, but not its code")
    parts.kernels[code] = name


def _check_sizes(parts: _Parts) -> None:
    if len(parts.kernels) > _MAX_KERNELS:
        raise LimitError(f"a cubin of {len(parts.kernels)} kernels, and at most {_MAX_KERNELS} are read")
    read = [parts.infos[index] for index in parts.kernels if index in parts.infos]
    read += [parts.named[name] for name in (_GLOBAL_INFO, _COMPAT) if name in parts.named]
    size = sum(section.size for section in read)
    if size > _MAX_INFO:
        raise LimitError(f"{size} bytes of attributes in a cubin, and at most {_MAX_INFO} are read")


def _suffix(elf: Elf, parts: _Parts, number: int, notes: _Notes) -> str:
    if elf.osabi == _OLD:
        return "a" if elf.flags & _OLD_SPECIFIC else ""
    compat = parts.named.get(_COMPAT)
    if elf.flags & _NEW_SPECIFIC or (compat and (_COMPAT_SPECIFIC, 1) in _values(elf, compat)):
        return "a"
    return "f" if notes.suffix == "f" and notes.number == number else ""


def _noted(number: int, notes: _Notes) -> tuple[int | None, str]:
    """The number and suffix that the notes name. PTX is never for a later chip than its code, so a later one counts."""
    if notes.number in (None, number) and notes.virtual is not None and notes.virtual > number:
        return notes.virtual, ""
    return notes.number, notes.suffix


def _notes(elf: Elf, parts: _Parts) -> _Notes:
    command, release, build = _tool(_note(elf, parts.named.get(_TOOLS)))
    target = _note(elf, parts.named.get(_TARGET))
    toolkit = _toolkit(elf, release, target)
    virtual = _virtual(elf, target or _note(elf, parts.named.get(_OLDER_TARGET)))
    asked = _ARCH.search(command)
    if asked is None:
        return _Notes(command, toolkit, virtual=virtual, build=build)
    return _Notes(command, toolkit, int(asked[1]), asked[2], virtual, build)


def _toolkit(elf: Elf, release: str, target: bytes) -> Version | None:
    said = _RELEASE.search(release)
    if said:
        return int(said[1]), int(said[2])
    if len(target) >= 8:
        return _version(unpack_from("<I", target, 4)[0])
    return _version(elf.version) if elf.osabi == _OLD else None


def _virtual(elf: Elf, target: bytes) -> int | None:
    if len(target) >= 4:
        return int(unpack_from("<H", target, 2)[0])
    return elf.flags >> 16 & 0xFF if elf.osabi == _OLD else None


def _version(number: int) -> Version | None:
    """(12, 9) of 129."""
    return divmod(number, 10) if 50 <= number < 1000 else None


def _note(elf: Elf, section: Section | None) -> bytes:
    """What the first note of a section describes; "" where it is none. Later ones are of the objects linked."""
    if section is None:
        return b""
    if section.type != elves.NOTE or section.size < _TRIPLE.size:
        raise ReadError(f"no note in {_short(section.name)}")
    data = elf.source.read(section.offset, min(section.size, _MAX_NOTE))
    name, size, _ = _TRIPLE.unpack_from(data)
    start = _TRIPLE.size + (name + 3) // 4 * 4
    if data[_TRIPLE.size : start] != _AUTHOR or start + size > section.size:
        raise ReadError(f"no note of NVIDIA's in {_short(section.name)}")
    return data[start : start + size]


def _tool(note: bytes) -> tuple[str, str, str]:
    """The command line of a tool, its release and its build, from offsets into the strings that follow them."""
    if len(note) < _TOOL.size:
        return "", "", ""
    _, _, _, release, build, command = _TOOL.unpack_from(note)
    texts = note[_TOOL.size :]
    return _text(texts, command), _text(texts, release), _text(texts, build)


def _text(texts: bytes, place: int) -> str:
    return texts[place:].partition(b"\0")[0].decode("utf-8", "replace").strip()


def _kernels(elf: Elf, parts: _Parts, reserved: int, places: Mapping[str, Place]) -> Iterator[Kernel]:
    registers = _registers(elf, parts)
    symbols = _Symbols(elf)
    for index, name in parts.kernels.items():
        info = parts.infos.get(index)
        said = dict(_values(elf, info)) if info else {}
        yield Kernel(
            name,
            max(0, parts.shared.get(index, 0) - reserved),
            registers.get(index),
            _triple(said.get(_CLUSTER)),
            _word(said.get(_MAX_CLUSTER)),
            _EXPLICIT_CLUSTER in said,
            2 if _TCGEN05_TWO in said else int(_TCGEN05_ONE in said),
            _driver_calls(symbols, said.get(_EXTERNS)),
            _SETMAXNREG in said,
            _triple(said.get(_MAX_THREADS)),
            _triple(said.get(_REQUIRED_THREADS)),
            places.get(name),
        )


def _registers(elf: Elf, parts: _Parts) -> dict[int, int]:
    """Registers a thread, by the index of the code's section."""
    section = parts.named.get(_GLOBAL_INFO)
    found: dict[int, int] = {}
    for code, value in _values(elf, section) if section else ():
        if code == _REGISTERS and isinstance(value, bytes) and len(value) >= _PAIR.size:
            symbol, count = _PAIR.unpack_from(value)
            if symbol in parts.symbols:
                found[parts.symbols[symbol]] = count
    return found


def _driver_calls(symbols: _Symbols, externs: int | bytes | None) -> tuple[str, ...]:
    if not isinstance(externs, bytes):
        return ()
    names = (symbols.name(index) for (index,) in Struct("<I").iter_unpack(externs[: len(externs) // 4 * 4]))
    return tuple(sorted({name for name in names if name.startswith(DRIVER_CALL)}))


def _values(elf: Elf, section: Section) -> Iterator[tuple[int, int | bytes]]:
    """Attributes: code and value, bytes where the value is sized."""
    data = elf.data(section)
    at, end = 0, len(data)
    while at + 4 <= end:
        form, code, value = _HEAD.unpack_from(data, at)
        at += 4
        if form != 4:
            if not 1 <= form <= 3:
                raise ReadError(f"an attribute of form {form} in {_short(section.name)}")
            yield code, value
            continue
        yield code, data[at : at + value]
        at += value
    if at != end:
        raise ReadError(f"attributes in {_short(section.name)} that end at {at} of {end} bytes")


def _short(name: str) -> str:
    """A name for a message: names of C++ run to thousands of letters."""
    return repr(name if len(name) <= 80 else f"{name[:77]}...")


def _triple(value: int | bytes | None) -> tuple[int, int, int] | None:
    if not isinstance(value, bytes) or len(value) < _TRIPLE.size:
        return None
    first, second, third = _TRIPLE.unpack_from(value)
    return first, second, third


def _word(value: int | bytes | None) -> int | None:
    return unpack_from("<I", value)[0] if isinstance(value, bytes) and len(value) >= 4 else None
