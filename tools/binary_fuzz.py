"""Inputs of the readers of binaries and archives: how they are read and changed (`fuzz.py` has the loop)."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import struct
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import small_binaries

from bwlint import inspection
from bwlint.binaries.shipments import Inspection
from bwlint.chips import parse_targets
from bwlint.inspection.answers import answer
from bwlint.inspection.origins import Origin
from bwlint.model.escape import HIDDEN
from bwlint.model.findings import Report
from bwlint.readers.binary.names import readable
from bwlint.report import Setting, inspection_json, inspection_text, sarif
from bwlint.rules import binary_checks
from bwlint.sources.pypi import SourceError

_LARGEST = 64 * 1024

# Inputs


@dataclass(frozen=True, slots=True)
class Input:
    """A file to be; `name` says by its suffix how it is read. Of names, one a line, a library is made."""

    name: str
    data: bytes

    @property
    def key(self) -> str:
        return hashlib.sha256(self.data).hexdigest()[:12]

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.key}-{self.name}"
        path.write_bytes(self.data)
        return path

    def made(self, folder: Path) -> Path:
        """The file that is to be read."""
        is_list = self.name.endswith(".names")
        path = folder / ("input.so" if is_list else f"input-{self.name}")
        path.write_bytes(
            library(self.data) if is_list else summed(self.data) if self.name.endswith(".tar") else self.data
        )
        return path

    @classmethod
    def of(cls, path: Path) -> Input:
        return cls(path.name.partition("-")[2], path.read_bytes())


def summed(data: bytes) -> bytes:
    """A tar archive with the right checksums: else no change to a header would get far."""
    made, at = bytearray(data), 0
    while at + 512 <= len(made) and any(made[at : at + 512]):
        made[at + 148 : at + 156] = b" " * 8
        made[at + 148 : at + 156] = b"%06o\0 " % sum(made[at : at + 512])
        size = bytes(made[at + 124 : at + 135]).strip(b" \0")
        at += 512 + (int(size, 8) + 511) // 512 * 512 if re.fullmatch(rb"[0-7]+", size) else 512
    return bytes(made)


def odd_tar() -> bytes:
    """Headers of all kinds."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE):
            info = tarfile.TarInfo(f"{'a' * 120}/{kind.decode()}.so")
            info.type, info.linkname = kind, "a.cubin"
            archive.addfile(info)
    pax = tarfile.TarInfo(f"{'b' * 120}/c.cubin")
    pax.size, pax.pax_headers = len(small_binaries.CUBIN), {"size": str(len(small_binaries.CUBIN)), "comment": "made"}
    head = pax.tobuf(tarfile.PAX_FORMAT)
    return buffer.getvalue()[:-10240] + head + small_binaries.CUBIN + bytes(-len(small_binaries.CUBIN) % 512 + 1024)


def odd_ar() -> bytes:
    """Names as GNU and BSD write long ones, and tables of symbols."""
    names, cubin = b"a long name of an object.o/\n", small_binaries.CUBIN
    members = ((b"/", bytes(4)), (b"//", names), (b"/0", cubin), (b"#1/8", b"bsd.o\0\0\0" + cubin), (b"__.SYMDEF", b""))
    heads = (
        field.ljust(16) + b"0           0     0     644     %-10d`\n" % len(data) + data for field, data in members
    )
    return b"!<arch>\n" + b"".join(member + b"\n" * (len(member) % 2) for member in heads)


def library(names: bytes) -> bytes:
    """A library with kernels of these names in a container that no asked chip runs, beside one that they run."""
    kernels = [name.decode("utf-8", "surrogateescape") for name in names.replace(b"\0", b"\n").split(b"\n")]
    parts = (
        [small_binaries.entry(small_binaries.cubin(120, kernels=kernels[:1]), 120)],
        [
            small_binaries.entry(small_binaries.cubin(90, kernels=kernels), 90),
            small_binaries.entry(small_binaries.cubin(80) + bytes(2**16), 80),
        ],
    )
    return small_binaries.shared_object(*(small_binaries.container(*part) for part in parts))


NAMES = (
    "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10collective13CollectiveMmaE"
    "EEEEvNT_6ParamsE",
    "_ZN4vllm15rms_norm_kernelIN3c108BFloat16ELi4ELb1EEEvPT_PKS3_f",
    "_ZN45_GLOBAL__N__00000000_4_a_cu_d3b5a8b1_12345678_sm90_fwdILm64EXadL_Z3addiiEEEEvv",
    "_Z3mapIZ4mainEUlT_E_EvS0_",
    "_ZN3foo3barIZNS_3bazEvENKUlvE_clEvEUlDpT_E0_JA4_KiDv4_fM1SFvvEDTcl1ffp_EEEEEvv",
    "_Z6kernelITnDaXmlsrT_1vLi2EEEvv",
    "__nv_static_45__00000000_4_b_cu_ab__Z7k_sm100fIS_EvSt4pairIiNSt3mapE",
)
SAMPLES: Mapping[str, bytes] = {
    **small_binaries.SAMPLES,
    **small_binaries.ARCHIVES,
    "of kernels.names": "\n".join(NAMES).encode(),
    "lacking.so": small_binaries.shared_object(
        *(
            small_binaries.container(small_binaries.entry(small_binaries.cubin(number, kernels=NAMES[:2]), number))
            for number in (120, 90)
        ),
        small_binaries.container(
            small_binaries.entry(small_binaries.ptx(90, "a"), 90, "a"),
            small_binaries.entry(small_binaries.cubin(80), 80),
        ),
    ),
    "odd.tar": odd_tar(),
    "odd.a": odd_ar(),
    "edited.fatbin": small_binaries.container(
        *(
            small_binaries.entry(small_binaries.cubin(120, command=f"-arch sm_{number}"), 120)
            for number in (90, 100, 120)
        )
    ),
}

INTERESTING = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
WORDS = (
    *(b"\x7fELF", b"\x50\xed\x55\xba\x01\x00\x10\x00", b"\xb1CbF", b"MZ", b"PE\0\0", b"PK\1\2", b"PK\3\4", b"PK\5\6"),
    *(
        b".nv_fatbin\0",
        b"__nv_relfatbin\0",
        b".nvFatBinSegment\0",
        b".text.",
        b".nv.info.",
        b".nv.shared.",
        b".nv.compat\0",
    ),
    *(
        b".nv.constant0.",
        b".note.nv.tkinfo\0",
        b".note.nv.cuinfo\0",
        b".note.nv.cuver\0",
        b"NVIDIA Corp\0",
        b"-arch sm_120a ",
    ),
    *(
        b".target sm_90a\n",
        b".version 8.7\n",
        b".entry ",
        b"#1/20",
        b"//",
        b"/SYM64/",
        b"__cuda_syscall_cp_async_bulk_",
    ),
    *(b"_ZN2ns4nameIfLi4ESt6vectorIiSaIiEEJPKcRdEE1fEv", b"_ZZ1fvENKUlvE_clEv", b"St", b"IJ", b"EE", b"Dp", b"XspT_E"),
    *(b"\xc2\xb2", b"\xd9\xa3", b"\xff", b"\x1b[31m", b"../", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"ustar\x0000"),
)


def mutated(source: random.Random, data: bytes, other: bytes) -> bytes:
    """The same with one to eight changes; `other` lends pieces."""
    made = bytearray(data)
    for _ in range(source.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        source.choice(CHANGES)(source, made, other)
    return bytes(made[:_LARGEST])


def _place(source: random.Random, made: bytearray, size: int = 0) -> int:
    """Where to change: more often in headers than anywhere."""
    most = max(0, len(made) - size)
    if source.random() < 0.5:
        starts = [0, *(match.start() for match in re.finditer(rb"\x7fELF|\x50\xed\x55\xba|PK[\1\3\5]", made))]
        if made.startswith(b"\x7fELF") and len(made) >= 64:
            starts += [struct.unpack_from("<Q", made, at)[0] for at in (32, 40)]
        return min(most, source.choice(starts) + source.choice((source.randrange(96), 64 * source.randrange(40))))
    return source.randint(0, most)


def _bit(source: random.Random, made: bytearray, _: bytes) -> None:
    if made:
        made[min(_place(source, made, 1), len(made) - 1)] ^= 1 << source.randrange(8)


def _number(source: random.Random, made: bytearray, _: bytes) -> None:
    size = source.choice((1, 2, 4, 4, 8, 8))
    at = _place(source, made, size)
    at -= at % size if source.random() < 0.7 else 0
    value = source.choice((*INTERESTING, len(made), at, source.getrandbits(16)))
    made[at : at + size] = (value % 256**size).to_bytes(size, "little")


def _sum(source: random.Random, made: bytearray, _: bytes) -> None:
    size = source.choice((1, 2, 4, 8))
    at = _place(source, made, size)
    value = int.from_bytes(made[at : at + size], "little") + source.choice((-64, -24, -8, -1, 1, 8, 16, 64))
    made[at : at + size] = (value % 256**size).to_bytes(size, "little")


def _cut(source: random.Random, made: bytearray, _: bytes) -> None:
    del made[_place(source, made) :]


def _delete(source: random.Random, made: bytearray, _: bytes) -> None:
    at = _place(source, made)
    del made[at : at + source.choice((1, 8, 64, source.randrange(1, 512)))]


def _repeat(source: random.Random, made: bytearray, _: bytes) -> None:
    at = _place(source, made)
    piece = made[at : at + source.choice((8, 16, 24, 64, source.randrange(1, 2048)))]
    made[at:at] = piece * source.choice((1, 1, 2, 20))


def _copy(source: random.Random, made: bytearray, _: bytes) -> None:
    size = source.choice((4, 8, 16, 24, 64))
    start, at = _place(source, made, size), _place(source, made, size)
    made[at : at + size] = made[start : start + size]


def _word(source: random.Random, made: bytearray, _: bytes) -> None:
    word, at = source.choice(WORDS), _place(source, made)
    made[at : at + (len(word) if source.random() < 0.7 else 0)] = word


def _splice(source: random.Random, made: bytearray, other: bytes) -> None:
    start = source.randint(0, len(other))
    made[_place(source, made) :] = other[start:]


CHANGES: Sequence[Callable[[random.Random, bytearray, bytes], None]] = (
    *(_bit, _number, _number, _number, _sum, _sum, _copy, _word, _word),
    *(_cut, _delete, _repeat, _splice),
)


# One input


def take(path: Path, scratch: Path, *, report: bool) -> None:
    """Inspect a file as the command does; raises what it must not raise."""
    asked, _ = parse_targets(inspection.DEFAULT_TARGETS)
    try:
        shipment, skipped = inspection.examine(Origin(str(path), ((str(path), str(path)),)), asked, scratch, deep=True)
    except SourceError as error:
        assert not HIDDEN.search(str(error).replace("\n", "")), "a control character in a message"
        return
    findings = tuple(inspection.judged(shipment, asked, frozenset(rule.name for rule, _ in binary_checks())))
    if not report:
        return
    answers = (answer(shipment, asked),)
    whole = Inspection(asked.names, (shipment,), answers, Report(asked.names, findings, tuple(skipped), (), {}))
    texts = [
        inspection_text.render(whole, Setting(), True, readable=readable),
        inspection_json.render(whole, Setting(), True),
        sarif.render(whole.report, Setting()),
    ]
    assert not any(HIDDEN.search(text.replace("\n", "")) for text in texts), "a control character in a report"
    for text in texts[1:]:
        json.loads(text)
