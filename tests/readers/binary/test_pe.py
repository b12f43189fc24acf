"""What a DLL asks the loader for."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest

from bwlint.readers.binary import pe, read
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

BASE = 0x180000000
AT = 0x1000
FILE = 0x400


def dll(names: Sequence[str], *, imports: int = AT, shift: int = 0) -> bytes:
    """A DLL with a table of imports and nothing else; the names lie `shift` bytes from where the table says."""
    size = 20 * (len(names) + 1)
    rows, texts = b"", b""
    for name in names:
        rows += struct.pack("<12xI4x", AT + size + len(texts) + shift)
        texts += name.encode() + b"\0"
    data = rows + bytes(20) + texts
    optional = (struct.pack("<H22xQ", 0x20B, BASE) + bytes(88) + struct.pack("<II", imports, size)).ljust(240, b"\0")
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    head += struct.pack("<4sHHIIIHH", b"PE\0\0", 0x8664, 1, 0, 0, 0, len(optional), 0x2022) + optional
    head += struct.pack("<8sIIII16x", b".rdata", len(data), AT, len(data), FILE)
    return head.ljust(FILE, b"\0") + data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (dll([]), ()),
        (dll(["cudart64_12.dll"]), ("cudart64_12.dll",)),
        (
            dll(["KERNEL32.dll", "cublas64_13.dll", "nvrtc64_120_0.dll"]),
            ("KERNEL32.dll", "cublas64_13.dll", "nvrtc64_120_0.dll"),
        ),
        # No table, or one that no section holds.
        (dll(["cudart64_12.dll"], imports=0), ()),
        (dll(["cudart64_12.dll"], imports=0x900000), ()),
    ],
)
def test_needed(data: bytes, expected: tuple[str, ...]) -> None:
    assert pe.needed(pe.read(ByteSource.of_bytes(data))) == expected
    assert (read(ByteSource.of_bytes(data)).needed, read(ByteSource.of_bytes(data)).machine) == (expected, "x86_64")


def test_a_name_that_no_section_holds() -> None:
    data = dll(["cudart64_12.dll"], shift=0x100000)
    with pytest.raises(ReadError, match="which no section holds"):
        pe.needed(pe.read(ByteSource.of_bytes(data)))
    assert "which no section holds" in read(ByteSource.of_bytes(data)).faults[0]


def test_a_table_that_does_not_end() -> None:
    data = dll(["a.dll"])
    endless = data[:FILE] + (data[FILE : FILE + 20]) * 40
    with pytest.raises(ReadError):
        pe.needed(pe.read(ByteSource.of_bytes(endless[: FILE + 30])))
