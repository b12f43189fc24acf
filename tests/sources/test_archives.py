from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
import zstandard

from bwlint.model.findings import Skipped
from bwlint.sources import archives, packed, tars, zips
from bwlint.sources.archives import ArchiveEntry, entries
from bwlint.sources.errors import ReadError
from bwlint.sources.pypi import SourceError

SUFFIXES = (".so", ".so.12", ".a", ".o", ".pyd", ".cubin", ".ptx")
BIG = random.Random(1).randbytes(2 * 1024**2 + 17)
"""More than stays in memory."""

Read = tuple[dict[str, bytes], dict[str, str]]


def wanted(name: str) -> bool:
    return name.endswith(SUFFIXES)


def read(path: Path) -> Read:
    """What is in a file, by the path below it, and what was refused."""
    scratch = path.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    found: dict[str, bytes] = {}
    skipped: dict[str, str] = {}
    for one in entries(path, "X", scratch, wanted):
        if isinstance(one, Skipped):
            skipped[one.path] = one.reason
        else:
            found[one.path] = one.source.read(0, one.source.size)
    assert not list(scratch.iterdir())
    return found, skipped


def put(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


# Archives


def gz(data: bytes) -> bytes:
    """Without the time of day, which would get into the names of tests: every worker has to know the same ones."""
    return gzip.compress(data, mtime=0)


def zip_of(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def tar_of(members: Mapping[str, bytes | tarfile.TarInfo], form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, data in members.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(data) if isinstance(data, bytes) else 0
            archive.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    return buffer.getvalue()


def special(name: str, kind: bytes, link: str = "") -> dict[str, bytes | tarfile.TarInfo]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return {name: info}


def ar_member(field: bytes, data: bytes) -> bytes:
    return field.ljust(16) + b"0           0     0     644     %-10d`\n" % len(data) + data + b"\n" * (len(data) % 2)


def ar_of(*members: tuple[bytes, bytes]) -> bytes:
    return b"!<arch>\n" + b"".join(ar_member(*member) for member in members)


def conda_of(members: Mapping[str, bytes | tarfile.TarInfo]) -> bytes:
    inner = {"metadata.json": b"{}", "pkg-x-1-0.tar.zst": zst(tar_of(members)), "info-x-1-0.tar.zst": zst(tar_of({}))}
    return zip_of(inner, zipfile.ZIP_STORED)


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


TWO = {"p/a.so": b"first", "p/b.cubin": b"second"}
LONG = "p/" + "long" * 60 + ".so"
BOTH = {"X/p/a.so": b"first", "X/p/b.cubin": b"second"}


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        # The file itself.
        ("a.so", b"\x7fELF", {"X": b"\x7fELF"}),
        ("kernels", b"anything", {"X": b"anything"}),
        ("empty.so", b"", {"X": b""}),
        ("no_library.a", b"not ar", {"X": b"not ar"}),
        ("short.a", b"!<", {"X": b"!<"}),
        # Zip archives.
        ("w.whl", zip_of(TWO), BOTH),
        ("w.WHL", zip_of(TWO), BOTH),
        ("w.zip", zip_of(TWO, zipfile.ZIP_STORED), BOTH),
        ("w.egg", zip_of(TWO, zipfile.ZIP_BZIP2), BOTH),
        ("w.zip", zip_of({"a.so": BIG}), {"X/a.so": BIG}),
        ("w.zip", zip_of({"a.so": BIG}, zipfile.ZIP_STORED), {"X/a.so": BIG}),
        ("w.zip", zip_of({"a.so": b""}), {"X/a.so": b""}),
        ("w.zip", zip_of({}), {}),
        ("w.zip", b"#!/bin/sh\nexit\n" * 9 + zip_of(TWO), BOTH),
        ("package.pt2", zip_of(TWO), BOTH),
        ("w.zip", zip_of({"a.so": bytes(1024**2)}), {"X/a.so": bytes(1024**2)}),
        ("w.zip", zip_of({"\u00e4.so": b"x", "p q (1).so": b"y"}), {"X/\u00e4.so": b"x", "X/p q (1).so": b"y"}),
        # Tar archives.
        ("t.tar", tar_of(TWO), BOTH),
        ("t.tar", tar_of(TWO, tarfile.USTAR_FORMAT), BOTH),
        ("t.tar", tar_of(TWO, tarfile.GNU_FORMAT), BOTH),
        ("t.tar", tar_of({LONG: b"x"}, tarfile.GNU_FORMAT), {f"X/{LONG}": b"x"}),
        ("t.tar", tar_of({LONG: b"x"}, tarfile.PAX_FORMAT), {f"X/{LONG}": b"x"}),
        ("t.tar", tar_of({LONG: b"x"}, tarfile.USTAR_FORMAT) if len(LONG) < 100 else tar_of(TWO), BOTH),
        ("t.tar", tar_of({"./p/a.so": b"first", "./p/b.cubin": b"second"}), BOTH),
        ("t.tar", tar_of(TWO) + b"padding of a tape", BOTH),
        ("t.tar", tar_of({"a.so": BIG, "b.so": b"b"}), {"X/a.so": BIG, "X/b.so": b"b"}),
        ("t.tar.gz", gz(tar_of({"a.so": BIG, "b.so": b"b"})), {"X/a.so": BIG, "X/b.so": b"b"}),
        ("t.tgz", gz(tar_of(TWO)), BOTH),
        ("t.tgz", gz(tar_of(TWO)) + bytes(512), BOTH),
        ("t.tgz", gz(tar_of(TWO)[:700]) + gz(tar_of(TWO)[700:]), BOTH),
        ("t.tar.bz2", bz2.compress(tar_of(TWO)), BOTH),
        ("t.tar.xz", lzma.compress(tar_of(TWO)), BOTH),
        ("t.tar.xz", lzma.compress(tar_of(TWO)[:700]) + bytes(4) + lzma.compress(tar_of(TWO)[700:]), BOTH),
        ("t.tar.zst", zst(tar_of(TWO)), BOTH),
        ("t.tar.zst", zst(tar_of(TWO)[:700]) + zst(tar_of(TWO)[700:]), BOTH),
        ("t.tar.gz", zst(tar_of(TWO)), BOTH),
        ("t.tar.gz", tar_of(TWO), BOTH),
        ("download", gz(tar_of(TWO)), BOTH),
        ("t.tar", tar_of({}), {}),
        ("t.tar", tar_of(TWO | {"p/zeros.bin": bytes(9 * 1024**2)}), BOTH),
        # Static libraries.
        ("l.a", ar_of((b"a.o/", b"odd"), (b"b.o/", b"even")), {"X/a.o": b"odd", "X/b.o": b"even"}),
        ("l.a", ar_of((b"a.o", b"bsd"), (b"no suffix", b"x")), {"X/a.o": b"bsd", "X/no suffix": b"x"}),
        ("l.a", ar_of((b"/", b"s" * 9), (b"/SYM64/", b"s"), (b"a.o/", b"x")), {"X/a.o": b"x"}),
        (
            "l.a",
            ar_of((b"//", b"one_very_long.o/\nanother_long.cu.o/\n"), (b"/17", b"x")),
            {"X/another_long.cu.o": b"x"},
        ),
        ("l.lib", ar_of((b"//", b"one_very_long.obj\0another.obj\0"), (b"/18", b"x")), {"X/another.obj": b"x"}),
        ("l.a", ar_of((b"#1/12", b"bsd_long.o\0\0data")), {"X/bsd_long.o": b"data"}),
        (
            "l.a",
            ar_of((b"#1/20", b"__.SYMDEF SORTED\0\0\0\0x"), (b"__.SYMDEF_64", b"x"), (b"a.o", b"x")),
            {"X/a.o": b"x"},
        ),
        ("l.a", ar_of((b"a.o/", b"x"))[:-1], {"X/a.o": b"x"}),
        ("l.a", ar_of(), {}),
        # In each other.
        ("w.whl", zip_of({"p/l.a": ar_of((b"a.o/", b"x"))}), {"X/p/l.a/a.o": b"x"}),
        ("w.whl", zip_of({"p/l.a": b"no library"}), {"X/p/l.a": b"no library"}),
        ("c.conda", conda_of({**TWO, "p/c.txt": b""}), {f"X/pkg-x-1-0.tar.zst/{k[2:]}": v for k, v in BOTH.items()}),
        ("c.conda", conda_of({"l.a": ar_of((b"a.o/", b"x"))}), {"X/pkg-x-1-0.tar.zst/l.a/a.o": b"x"}),
        (
            "z.zip",
            zip_of({"y.zip": zip_of({"x.zip": zip_of(TWO)})}),
            {f"X/y.zip/x.zip{k[1:]}": v for k, v in BOTH.items()},
        ),
        ("t.tgz", gz(tar_of({"w.whl": zip_of({"a.so": BIG})})), {"X/w.whl/a.so": BIG}),
        ("t.tgz", gz(tar_of({"big.zip": zip_of({"a.so": BIG}, 0)})), {"X/big.zip/a.so": BIG}),
    ],
)
def test_what_is_read(tmp_path: Path, name: str, data: bytes, found: dict[str, bytes]) -> None:
    assert read(put(tmp_path, name, data)) == (found, {})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("w.whl", zip_of({"p/a.py": b"", "p/so": b"", "p/asm.s": b"", "q/": b"", "p.so/": b"", "p/x.so.txt": b""})),
        ("w.whl", zip_of({"../README.txt": b"", "p\\a.py": b"", "/etc/x": b""})),
        ("t.tar", tar_of({"p/a.py": b"", **special("p.so", tarfile.DIRTYPE), **special("dev/null", tarfile.CHRTYPE)})),
        ("t.tar", tar_of({**special("p/readme", tarfile.SYMTYPE, "/etc/passwd")})),
    ],
)
def test_what_is_passed_over_in_silence(tmp_path: Path, name: str, data: bytes) -> None:
    assert read(put(tmp_path, name, data)) == ({}, {})


def test_links_to_what_is_read_say_nothing(tmp_path: Path) -> None:
    members: dict[str, bytes | tarfile.TarInfo] = {
        **special("lib/liba.so", tarfile.SYMTYPE, "liba.so.12"),
        "lib/liba.so.12": b"x",
        **special("lib64/liba.so", tarfile.SYMTYPE, "../lib/liba.so"),
        **special("lib/hard.so", tarfile.LNKTYPE, "lib/liba.so.12"),
        **special("./lib/dotted.so", tarfile.LNKTYPE, "./lib/liba.so.12"),
    }
    assert read(put(tmp_path, "t.tar", tar_of(members))) == ({"X/lib/liba.so.12": b"x"}, {})


def test_members_that_are_not_packed_are_read_where_they_lie(tmp_path: Path) -> None:
    stored = zip_of({"a.so": BIG, "l.a": ar_of((b"b.o/", BIG))}, zipfile.ZIP_STORED)
    for name, data in (("w.zip", stored), ("t.tar", tar_of({"a.so": BIG})), ("l.a", ar_of((b"a.o/", BIG)))):
        path = put(tmp_path, name, data)
        for one in entries(path, "X", tmp_path / "no such folder", wanted):
            assert isinstance(one, ArchiveEntry)
            assert one.source.read(0, len(BIG)) == BIG
            assert os.fstat(one.source.handle).st_ino == path.stat().st_ino


def test_large_members_lie_in_nameless_files_until_the_next(tmp_path: Path) -> None:
    path = put(tmp_path, "w.zip", zip_of({"a.so": BIG, "b.so": b"small", "c.so": BIG}))
    rows = entries(path, "X", tmp_path, wanted)
    first = next(rows)
    assert isinstance(first, ArchiveEntry) and first.source.handle >= 0
    second = next(rows)
    assert isinstance(second, ArchiveEntry) and second.source.handle < 0
    with pytest.raises(OSError):
        os.fstat(first.source.handle)
    rows.close()  # type: ignore[attr-defined]
    assert [found.name for found in tmp_path.iterdir()] == ["w.zip"]


# Refused


BAD_NAMES = [
    ("../a.so", "member with a path that leads out of the archive"),
    ("p/../../a.so", "member with a path that leads out of the archive"),
    ("/a.so", "member with a path that leads out of the archive"),
    ("//a.so", "member with a path that leads out of the archive"),
    ("p//a.so", "member with a path that leads out of the archive"),
    ("p/./a.so", "member with a path that leads out of the archive"),
    ("..\\a.so", "member with an unusual character in its name"),
    ("C:\\a.so", "member with an unusual character in its name"),
    ("p/\x1b[31m.so", "member with an unusual character in its name"),
    ("p/\n.so", "member with an unusual character in its name"),
    ("p/\u202e.so", "member with an unusual character in its name"),
]


@pytest.mark.parametrize(("name", "reason"), BAD_NAMES)
def test_hostile_names(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "deep").mkdir()
    for archive, data in (
        ("w.zip", zip_of({name: b"x", "ok.so": b"y"})),
        ("t.tar", tar_of({name: b"x", "ok.so": b"y"})),
    ):
        assert read(put(tmp_path / "deep", archive, data)) == ({"X/ok.so": b"y"}, {f"X/{name}": reason})
    assert {found.name for found in tmp_path.rglob("*")} == {"deep", "scratch", "w.zip", "t.tar"}


def test_names_that_are_no_text(tmp_path: Path) -> None:
    data = tar_of({"p/\udcff.so": b"x"}, tarfile.GNU_FORMAT)
    assert read(put(tmp_path, "t.tar", data)) == ({}, {"X/p/?.so": "member with an unusual character in its name"})


def test_names_longer_than_any(tmp_path: Path) -> None:
    name = "n" * 5000 + ".so"
    reported = "X/" + "n" * 1024 + "..."
    for archive, data in (("w.zip", zip_of({name: b""})), ("t.tar", tar_of({name: b""}))):
        assert read(put(tmp_path, archive, data)) == ({}, {reported: "member with a name of 5,003 characters"})


def changed(data: bytes, *patches: tuple[int, str, int]) -> bytes:
    """`data` with numbers written at offsets."""
    copy = bytearray(data)
    for at, form, value in patches:
        struct.pack_into(form, copy, at, value)
    return bytes(copy)


def in_headers(data: bytes, local: int, central: int, form: str, value: int) -> bytes:
    """A zip archive with a number written at these offsets into its first local header and directory entry."""
    return changed(data, (data.index(b"PK\3\4") + local, form, value), (data.index(b"PK\1\2") + central, form, value))


def with_mode(mode: int) -> bytes:
    info = zipfile.ZipInfo("a.so")
    info.external_attr = (mode | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def twice() -> bytes:
    data = zip_of({"a.so": b"one", "b.so": b"two"})
    return data.replace(b"b.so", b"a.so")


def over_each_other() -> bytes:
    """Two members of which the first holds the second with its header."""
    inner = zip_of({"b.so": b"x" * 10}, zipfile.ZIP_STORED)
    data = zip_of({"a.so": inner}, zipfile.ZIP_STORED)
    start, end = data.index(b"PK\1\2", data.rindex(b"PK\5\6") - 60), data.rindex(b"PK\5\6")
    entry = inner[inner.index(b"PK\1\2") : inner.rindex(b"PK\5\6")]
    entry = changed(entry, (42, "<I", data.index(inner)))
    ending = changed(data[end:], (8, "<H", 2), (10, "<H", 2), (12, "<I", end - start + len(entry)))
    return data[:end] + entry + ending


def same_place() -> bytes:
    data = zip_of({"a.so": b"one", "b.so": b"two"})
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    return changed(data, (second + 42, "<I", 0))


def sparse() -> bytes:
    """What GNU tar writes with --sparse: a header that one more block continues, and a member behind it."""
    plain = tar_of({"a.so": b"x" * 10, "b.so": b"y"}, tarfile.GNU_FORMAT)
    header = bytearray(plain[:512])
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[257:265] = b"ustar  \0"
    header[482] = 1
    return with_checksum(header) + bytes(512) + plain[512:]


def with_checksum(header: bytes | bytearray) -> bytes:
    copy = bytearray(header)
    copy[148:156] = b" " * 8
    copy[148:156] = b"%06o\0 " % sum(copy)
    return bytes(copy)


def tar_field(at: int, value: bytes) -> bytes:
    data = tar_of({"a.so": b"x" * 10}, tarfile.GNU_FORMAT)
    return with_checksum(data[:at] + value + data[at + len(value) : 512]) + data[512:]


def pax(records: Mapping[str, str]) -> bytes:
    info = tarfile.TarInfo("a.so")
    info.pax_headers, info.size = dict(records), 10
    return info.tobuf(tarfile.PAX_FORMAT) + b"x" * 10 + bytes(512 - 10 + 1024)


def pax_block(body: bytes, size: int | None = None) -> bytes:
    """An extended header whose data is `body`, and a member."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, len(body) if size is None else size
    return info.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512) + tar_of({"a.so": b""})


DEFLATED = zip_of({"a.so": b"x" * 100, "ok.so": b"y"})
STORED = zip_of({"a.so": b"x" * 100, "ok.so": b"y"}, zipfile.ZIP_STORED)
BZIPPED = zip_of({"a.so": b"x" * 100, "ok.so": b"y"}, zipfile.ZIP_BZIP2)
DEEP = zip_of({"w.zip": zip_of({"x.zip": zip_of({"y.zip": zip_of({"z.so": b""})})})})
FLAGS, METHOD, CRC, PACKED, SIZE, NAME = (6, 8), (8, 10), (14, 16), (18, 20), (22, 24), (26, 28)


@pytest.mark.parametrize(
    ("name", "data", "path", "reason"),
    [
        # Kinds of members.
        ("w.zip", with_mode(0o120000), "X/a.so", "member that is a symlink"),
        ("w.zip", with_mode(0o010000), "X/a.so", "member that is not a regular file"),
        ("w.zip", with_mode(0o060000), "X/a.so", "member that is not a regular file"),
        ("w.zip", twice(), "X/a.so", "member named twice"),
        ("w.zip", over_each_other(), "X/a.so", "member that overlaps another one"),
        ("w.zip", in_headers(DEFLATED, *FLAGS, "<H", 0x1), "X/a.so", "encrypted member"),
        ("w.zip", in_headers(DEFLATED, *FLAGS, "<H", 0x41), "X/a.so", "encrypted member"),
        ("w.zip", zip_of({"a.so": b"x"}, zipfile.ZIP_LZMA), "X/a.so", "member packed by method 14, which is not read"),
        ("w.zip", in_headers(DEFLATED, *METHOD, "<H", 99), "X/a.so", "member packed by method 99, which is not read"),
        ("w.zip", zip_of({"a.so": bytes(3 * 1024**2)}), "X/a.so", "member compressed more than 1 to 200"),
        ("t.tar", sparse(), "X/a.so", "sparse member"),
        ("t.tar", pax({"GNU.sparse.name": "b.so", "GNU.sparse.major": "1"}), "X/b.so", "sparse member"),
        ("t.tar", pax({"GNU.sparse.map": "0,10", "path": "c.so"}), "X/a.so", "sparse member"),
        ("t.tar", tar_of(special("a.so", tarfile.FIFOTYPE)), "X/a.so", "member that is not a regular file"),
        ("t.tar", tar_of(special("a.so", tarfile.CHRTYPE)), "X/a.so", "member that is not a regular file"),
        ("t.tar", tar_of(special("a.so", tarfile.BLKTYPE)), "X/a.so", "member that is not a regular file"),
        ("t.tar", tar_field(156, b"M"), "X/a.so", "member that is not a regular file"),
        *(
            ("t.tar", tar_of(special("p/a.so", kind, to)), "X/p/a.so", "link to a member that is not read")
            for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)
            for to in ("a.so", "/etc/passwd", "../../../etc/passwd", "b.so", "")
        ),
        # Sizes and checksums that are not true.
        ("w.zip", in_headers(DEFLATED, *SIZE, "<I", 99), "X/a.so", "member not unpacked: larger than it says"),
        ("w.zip", in_headers(DEFLATED, *SIZE, "<I", 101), "X/a.so", "member not unpacked: shorter than it says"),
        ("w.zip", in_headers(DEFLATED, *SIZE, "<I", 0xFFFFFFF0), "X/a.so", "member compressed more than 1 to 200"),
        ("w.zip", in_headers(DEFLATED, *CRC, "<I", 1), "X/a.so", "member not unpacked: its checksum is wrong"),
        ("w.zip", in_headers(STORED, *CRC, "<I", 1), "X/a.so", "member not unpacked: its checksum is wrong"),
        ("w.zip", in_headers(STORED, *SIZE, "<I", 99), "X/a.so", "member not unpacked: larger than it says"),
        ("w.zip", in_headers(STORED, *SIZE, "<I", 101), "X/a.so", "member not unpacked: shorter than it says"),
        ("w.zip", in_headers(STORED, *PACKED, "<I", 5000), "X/a.so", "member that overlaps another one"),
        ("w.zip", in_headers(STORED, *PACKED, "<I", 99), "X/a.so", "member not unpacked: shorter than it says"),
        ("w.zip", in_headers(DEFLATED, *PACKED, "<I", 2), "X/a.so", "member not unpacked: it is cut short"),
        ("w.zip", in_headers(DEFLATED, *PACKED, "<I", 0), "X/a.so", "member not unpacked: shorter than it says"),
        (
            *("w.zip", changed(STORED, (28, "<H", 60_000)), "X/a.so"),
            "member not unpacked: its own header does not agree with the directory",
        ),
        (
            *("w.zip", STORED.replace(b"a.so", b"b.so", 1), "X/a.so"),
            "member not unpacked: its own header has another name than the directory",
        ),
        (
            *("w.zip", STORED.replace(b"PK\3\4", b"PK\3\5", 1), "X/a.so"),
            "member not unpacked: its own header does not agree with the directory",
        ),
        # In each other.
        ("w.zip", DEEP, "X/w.zip/x.zip/y.zip", "archive nested 3 deep, deeper than bwlint reads"),
        ("w.zip", zip_of({"a.zip": b"none"}), "X/a.zip", "archive not read: File is not a zip file"),
        ("w.zip", zip_of({"a.tgz": b"none"}), "X/a.tgz", "archive not read: it is cut short"),
        ("w.zip", zip_of({"a.tgz": b""}), "X/a.tgz", "archive not read: it ends without the mark of its end"),
        ("w.zip", zip_of({"a.tgz": b"\x1f\x8bnone"}), "X/a.tgz", "archive not read: damaged gzip data"),
        (
            "w.zip",
            zip_of({"a.a": ar_of((b"x", b"x"))[:-9]}),
            "X/a.a",
            "archive not read: 60 bytes wanted at offset 8",
        ),
        ("w.zip", zip_of({"a.a": b"!<thin>\n"}), "X/a.a", "archive not read: a thin archive"),
        # Damage behind the first member.
        ("t.tar", tar_of({"a.so": b""})[:512], "X", "archive not read to its end: it ends without the mark of its end"),
        ("t.tar", tar_of({"a.so": b""})[:512] + b"x" * 512, "X", "archive not read to its end: damaged tar header"),
        ("t.tgz", gz(tar_of(TWO))[:-9], "X", "archive not read to its end: it is cut short"),
        ("t.tgz", gz(pax_block(b"") * 3)[:-20], "X", "archive not read to its end: it is cut short"),
        ("t.tgz", gz(tar_of(TWO)) + b"garbage", "X", "archive not read to its end: damaged gzip data"),
        ("l.a", ar_of((b"a.o", b"x"), (b"/99", b"x")), "X", "archive not read to its end: a long name that is not in"),
        (
            "l.a",
            ar_of((b"a.o", b"x"), (b"//", b"n/\n"), (b"/99", b"x")),
            "X",
            "archive not read to its end: a long name",
        ),
        ("l.a", ar_of((b"a.o", b"x"), (b"#1/9999", b"x")), "X", "archive not read to its end: a name of 9,999 bytes"),
        ("l.a", ar_of((b"a.o", b"x"), (b"#1/90", b"x")), "X", "archive not read to its end: 90 bytes wanted"),
        ("l.a", ar_of((b"../a.o", b"x")), "X/../a.o", "member with a path that leads out of the archive"),
        ("l.a", ar_of((b"a\n.o", b"x")), "X/a\n.o", "member with an unusual character in its name"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, data: bytes, path: str, reason: str) -> None:
    _, skipped = read(put(tmp_path, name, data))
    assert list(skipped) == [path]
    assert skipped[path].startswith(reason)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        *(
            ("w.whl", data, "not a readable zip archive")
            for data in (b"", b"PK", b"no zip" * 99, b"PK\5\6" + b"\xff" * 18)
        ),
        ("w.whl", tar_of(TWO), "not a readable zip archive"),
        ("w.zip", zip_of(TWO)[:-1], "not a readable zip archive: File is not a zip file"),
        ("w.zip", zip_of(TWO).replace(b"PK\1\2", b"PK\1\3"), "not a readable zip archive: Bad magic number"),
        *(("t.tar", data, "not a readable tar archive") for data in (b"", b"x", b"x" * 512, b"x" * 5000, zip_of(TWO))),
        ("t.tgz", gz(b"a text"), "not a readable tar archive: it is cut short"),
        ("t.tgz", gz(b"a text" * 999), "not a readable tar archive: damaged tar header at offset 0"),
        ("t.tar.xz", b"\xfd7zXZ\0" + b"x" * 99, "not a readable tar archive: damaged xz data"),
        ("t.tar.bz2", b"BZh9" + b"x" * 99, "not a readable tar archive: damaged bzip2 data"),
        ("t.tar.zst", b"\x28\xb5\x2f\xfd" + b"x" * 99, "not a readable tar archive: damaged zstd data"),
        ("t.tar", tar_field(124, b"x" * 12), "damaged tar header at offset 0: invalid header"),
        ("t.tar", tar_field(124, b"\xff" * 12), "damaged tar header at offset 0: a negative size"),
        ("t.tar", tar_field(124, b"\x80" + b"\x7f" * 11), "not a readable tar archive: "),
        ("t.tar", tar_field(124, b"77777777777\0"), "not a readable tar archive: 8589934591 bytes wanted"),
        ("t.tgz", gz(tar_field(156, b"L")[:512]), "not a readable tar archive: it is cut short"),
        ("t.tar", pax_block(b"", 5_000_000), "not a readable tar archive: an extended header of 5,000,000 bytes"),
        ("t.tar", pax_block(b"no record"), "not a readable tar archive: a damaged extended header"),
        ("t.tar", pax_block(b"99 path=x\n"), "not a readable tar archive: a damaged extended header"),
        ("t.tar", pax_block(b"0 path=x\n"), "not a readable tar archive: a damaged extended header"),
        ("t.tar", pax_block(b"-5 path=x\n"), "not a readable tar archive: a damaged extended header"),
        ("t.tar", pax_block(b"10 size=x\n"), "an extended header with a size that is no number"),
        ("t.tar", pax_block(b"11 size=-1\n"), "an extended header with a size that is no number"),
        ("t.tar", pax_block(b"20 size=9999999999\n\n"), "not a readable tar archive: "),
        ("t.tar", pax_block(b"")[:512] * 17, "not a readable tar archive: more than 16 extended headers in a row"),
        ("t.tgz", gz(tar_of(TWO))[:-4] + b"1234", "not a readable tar archive: damaged gzip data"),
        ("l.a", b"!<thin>\n", "not a readable ar archive: a thin archive"),
        ("l.a", b"!<arch>\n" + b"x" * 60, "not a readable ar archive: damaged ar header at offset 8"),
        ("l.a", ar_of(*[(b"/", b"")] * 17), "not a readable ar archive: more than 16 tables"),
        ("l.a", ar_of((b"a.o", b"x")).replace(b"1         `", b"-1        `"), "damaged ar header at offset 8"),
        ("l.a", ar_of((b"a.o", b"x")).replace(b"1         `", b"9999999999`"), "9999999999 bytes wanted at offset 68"),
    ],
)
def test_what_is_no_archive(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as error:
        read(put(tmp_path, name, data))
    assert reason in str(error.value) and str(error.value).startswith("X: ")


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.so")
    for name, reason in (("no.so", "no such file or directory"), (".", "a folder"), ("fifo.so", "a FIFO")):
        with pytest.raises(SourceError, match=reason):
            list(entries(tmp_path / name, "X", tmp_path, wanted))


# Cut short and damaged: whatever is lost is said


def boundaries(data: bytes, *signatures: bytes, fields: Iterable[int]) -> list[int]:
    """The offsets of the fields of every record that begins with one of the signatures."""
    found = []
    for signature in signatures:
        at = data.find(signature)
        while at >= 0:
            found += [at + field for field in fields if at + field < len(data)]
            at = data.find(signature, at + 1)
    return sorted(set(found))


ZIP = zip_of({"p/a.so": b"first" * 9, "p/l.a": ar_of((b"a.o/", b"x"))})
TAR = tar_of({LONG: b"x" * 600, "p/b.so": b"second"})
AR = ar_of((b"//", b"quite_a_long_name.o/\n"), (b"/0", b"one"), (b"b.o/", b"second"), (b"#1/4", b"c.o\0third"))
WHOLE = {
    "w.zip": ZIP,
    "t.tar": TAR,
    "l.a": AR,
    "t.tar.gz": gz(TAR),
    "t.tar.bz2": bz2.compress(TAR),
    "t.tar.xz": lzma.compress(TAR),
    "t.tar.zst": zst(TAR),
    "c.conda": conda_of({"p/a.so": b"first"}),
}
RECORDS = boundaries(ZIP, b"PK\3\4", b"PK\1\2", b"PK\5\6", fields=(0, 1, 4, 8, 18, 20, 22, 26, 30, 36, 42, 46))
HEADERS = sorted({at + off for at in range(0, len(TAR), 512) for off in (0, 1, 100, 124, 148, 257, 345, 511)})
# Nothing in a static library says where it ends.
AR_ENDS = {8, *(match.start() - 58 for match in re.finditer(b"`\n", AR))}
AR_HEADERS = boundaries(AR, b"`\n", fields=(-58, -57, -42, -10, 0, 1, 2, 3))


def _lengths(name: str) -> list[int]:
    """Where an archive is cut: at the boundaries of its format, in tenths, and before its last byte."""
    boundaries = {"w.zip": RECORDS, "t.tar": HEADERS, "l.a": AR_HEADERS}.get(name, ())
    length = len(WHOLE[name])
    return [*boundaries, *(length * part // 10 for part in range(1, 10)), length - 1]


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_cut_short(tmp_path: Path, name: str) -> None:
    whole, _ = read(put(tmp_path, name, WHOLE[name]))
    for size in _lengths(name):
        try:
            found, skipped = read(put(tmp_path, name, WHOLE[name][:size]))
        except SourceError as error:
            assert str(error).startswith("X: not a readable"), size
            continue
        is_part = all(whole.get(path) == data for path, data in found.items())
        assert is_part or found == {"X": WHOLE[name][:size]}, size
        assert found == whole or skipped or "X" in found or (name == "l.a" and size in AR_ENDS), size


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_damaged_bytes_raise_nothing_else(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    for _ in range(150):
        data = bytearray(WHOLE[name])
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        try:
            read(put(tmp_path, name, bytes(data)))
        except SourceError as error:
            assert str(error).isprintable()


def test_members_in_the_same_place(tmp_path: Path) -> None:
    found, skipped = read(put(tmp_path, "w.zip", same_place()))
    assert (found, set(skipped)) == ({}, {"X/a.so", "X/b.so"})
    assert set(skipped.values()) == {"member that overlaps another one"}


# Limits


@pytest.mark.parametrize(
    ("module", "limit", "value", "reason"),
    [
        (archives, "LARGEST_MEMBER", 2 * 1024**2, "member larger than 0 GiB"),
        (archives, "_SPARE_SPACE", 2**62, "member not unpacked: no space: 2 MiB to unpack and "),
    ],
)
def test_members_beyond_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(module, limit, value)
    for name, data in (
        ("w.zip", zip_of({"a.so": BIG, "b.so": b"y"})),
        ("t.tgz", gz(tar_of({"a.so": BIG, "b.so": b"y"}))),
    ):
        found, skipped = read(put(tmp_path, name, data))
        assert found == {"X/b.so": b"y"}
        assert skipped["X/a.so"].startswith(reason)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("LARGEST_TOTAL", 1024, "archive not read to its end: more than 0 GiB unpacked"),
        ("MOST_IN_ALL", 3, "archive not read to its end: more than 3 members in all"),
    ],
)
def test_archives_beyond_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(archives, limit, value)
    inner = zip_of({"a.so": b"x" * 600, "b.so": b"y" * 600}, zipfile.ZIP_DEFLATED)
    found, skipped = read(put(tmp_path, "w.zip", zip_of({"1.zip": inner, "2.zip": inner}, zipfile.ZIP_STORED)))
    assert "X/1.zip/a.so" in found and "X/2.zip/b.so" not in found
    assert skipped == {"X": reason}


def test_more_members_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (archives, zips):
        monkeypatch.setattr(module, "MOST_MEMBERS", 1)
    with pytest.raises(SourceError, match="not a readable zip archive: more than 1 members"):
        read(put(tmp_path, "w.zip", zip_of(TWO)))
    for name, data in (("t.tar", tar_of(TWO)), ("l.a", ar_of((b"a.o", b"first"), (b"b.o", b"")))):
        found, skipped = read(put(tmp_path, name, data))
        assert list(found.values()) == [b"first"]
        assert skipped == {"X": "archive not read to its end: more than 1 members"}


@pytest.mark.parametrize("pack", [gz, bz2.compress, lzma.compress, zst])
def test_a_stream_that_is_a_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(packed, "RATIO_COUNTS_FROM", 4 * 1024**2)
    bomb = pack(tar_of({"a.so": b"x", "zeros.bin": bytes(32 * 1024**2), "b.so": b"y"}))
    found, skipped = read(put(tmp_path, "t.tar.gz", bomb))
    assert found == {"X/a.so": b"x"}
    assert skipped == {"X": "archive not read to its end: packed more than 1 to 200"}


def test_a_window_that_is_too_large(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=28)
    worker = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = worker.compress(tar_of(TWO)) + worker.flush()
    with pytest.raises(SourceError, match="not a readable tar archive: damaged zstd data: "):
        read(put(tmp_path, "t.tar.zst", data))


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    found, skipped = read(put(tmp_path, "w.zip", zip_of({"a.so": BIG, "b.so": b"y"})))
    assert (found, skipped) == ({"X/b.so": b"y"}, {"X/a.so": "member not unpacked: no space left on device"})


MEMORY = """
import json, re, sys
from pathlib import Path
from bwlint.model.findings import Skipped
from bwlint.sources.archives import entries
from bwlint.sources.pypi import SourceError
said = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        rows = list(entries(path, path.name, path.parent.parent, lambda name: name.endswith(".so")))
        said[path.name] = [row.reason for row in rows if isinstance(row, Skipped)]
    except SourceError as error:
        said[path.name] = [str(error)]
# getrusage would count what the parent had in memory when it started this process.
most = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())
print(json.dumps([int(most.group(1)), said]))
"""


def with_window(data: bytes) -> bytes:
    """An xz stream that asks for the largest dictionary there is, 4 GiB."""
    start, size = 12, (data[12] + 1) * 4
    at = data.index(b"\x21\x01", start) + 2
    header = data[start:at] + b"\x28" + data[at + 1 : start + size - 4]
    return data[:start] + header + struct.pack("<I", zlib.crc32(header)) + data[start + size :]


def bombs() -> dict[str, bytes]:
    """Archives that would fill the memory of a reader that trusts them."""
    block = bytes(16 * 1024**2)
    huge = tar_field(124, b"40000000000\0")[:512]
    long_name = tar_field(156, b"L")
    long_name = with_checksum(long_name[:124] + b"04000000000\0" + long_name[136:512])
    many = tar_field(156, b"x")[:512]
    many = with_checksum(many[:124] + b"00000000000\0" + many[136:512])
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 8, 0, 0, 0, 9, 9, 1, *[0] * 6) + b"a"
    end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 0xFFFF, 0xFFFF, 600_000 * len(entry), 0, 0)
    large_end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 1, 1, 100_000_000, 0, 0)
    return {
        "huge.tar.gz": gz(huge) + gz(block) * 40,
        "huge.tar.bz2": bz2.compress(huge) + bz2.compress(block) * 40,
        "huge.tar.xz": lzma.compress(huge) + lzma.compress(block) * 40,
        "huge.tar.zst": zst(huge) + zst(block) * 40,
        "long_name.tar.gz": gz(long_name) + gz(block) * 40,
        "many_extensions.tar.gz": gz(many * 200_000),
        "many_members.zip": entry * 600_000 + end,
        "large_directory.zip": bytes(100_000_000) + large_end,
        "window.tar.xz": with_window(lzma.compress(huge)),
    }


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "bombs").mkdir()
    for name, data in bombs().items():
        put(tmp_path / "bombs", name, data)
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "bombs")],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    kibibytes, said = json.loads(done.stdout)
    assert all(said.values()), said
    assert said["window.tar.xz"][0].endswith("damaged xz data: Memory usage limit exceeded")
    assert kibibytes < 256 * 1024


# Parts


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1024**2, 3 * 1024**2 + 5])
def test_unpacking_gives_every_byte(size: int) -> None:
    from bwlint.sources.stretch import ByteSource

    data = random.Random(size).randbytes(size // 2) + bytes(size - size // 2)
    raw = zlib.compressobj(wbits=-15)
    for packing, packed_data in (
        ("gzip", gz(data)),
        ("bzip2", bz2.compress(data)),
        ("xz", lzma.compress(data)),
        ("zstd", zst(data)),
        ("deflate", raw.compress(data) + raw.flush()),
    ):
        counted: list[int] = []
        chunks = list(packed.unpacked(ByteSource.of_bytes(packed_data), packing, counted.append))
        assert b"".join(chunks) == data
        assert sum(counted) == size
        assert all(len(chunk) <= 1024**2 for chunk in chunks)


def test_headers_of_a_tar_archive_are_taken_as_they_come() -> None:
    from bwlint.sources.stretch import ByteSource

    names = [member.name for member in tars.members(ByteSource.of_bytes(TAR), lambda _: None)]
    assert names == [LONG, "p/b.so"]
    with pytest.raises(ReadError):
        list(tars.members(ByteSource.of_bytes(TAR[:512]), lambda _: None))
