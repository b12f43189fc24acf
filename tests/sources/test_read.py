from __future__ import annotations

import ast
import codecs
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest
from effort import at_most
from hypothesis import given
from hypothesis import strategies as st

from bwlint.model.findings import Region
from bwlint.sources import disk
from bwlint.sources.errors import ReadError
from bwlint.sources.read import (
    LIMIT,
    MOST_NESTED,
    WIDE,
    SourceText,
    Unread,
    bounded,
    decode,
    is_nested_too_deep,
    read_bytes,
)


def test_bytes_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"\0x\r\n")
    assert read_bytes(str(tmp_path / "a.py")) == b"\0x\r\n"


def test_what_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    reasons = {
        "missing": "no such file or directory",
        "fifo": "not a regular file: a FIFO",
        "loop": "symlink loop",
        "": "not a regular file: a folder",
        "nul\0": "not a file name",
    }
    assert {name: read_bytes(f"{tmp_path}/{name}") for name in reasons} == {
        name: Unread(reason) for name, reason in reasons.items()
    }


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions mean nothing to root, so the system call itself is made to fail.
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert read_bytes(str(tmp_path / "a.py")) == Unread("permission denied")


@pytest.mark.parametrize(("size", "is_read"), [(LIMIT, True), (LIMIT + 1, False), (30 * 1024 * 1024, False)])
def test_large_files(tmp_path: Path, size: int, is_read: bool) -> None:
    path = tmp_path / "a.py"
    with path.open("wb") as file:
        file.truncate(size)
    content = read_bytes(str(path))
    assert len(content) == size if isinstance(content, bytes) else content == Unread("larger than 8 MiB")
    assert isinstance(content, bytes) == is_read


def test_a_file_that_says_it_is_small() -> None:
    content = read_bytes("/proc/self/maps", limit=16)
    assert content == Unread("larger than 0 MiB")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("x = 'ä'".encode(), "x = 'ä'"),
        (codecs.BOM_UTF8 + b"x = 1", "x = 1"),
        (codecs.BOM_UTF8 + b"# coding: UTF_8\nx", "# coding: UTF_8\nx"),
        (b"# -*- coding: latin-1 -*-\n'\xe4'", "# -*- coding: latin-1 -*-\n'ä'"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None),
        (b"\x0c\n# coding=latin-1\n'\xe4'", None),
        (b"\r# coding=latin-1\r'\xe4'", None),
        (b"\n\n# coding: ascii\n'\xc3\xa4'", "\n\n# coding: ascii\n'ä'"),
        (b"x = 1\n# coding: ascii\n'\xc3\xa4'", "x = 1\n# coding: ascii\n'ä'"),
        (b"# coding: shift_jis\n'\x83\x5c'", "# coding: shift_jis\n'ソ'"),
    ],
)
def test_decode(data: bytes, text: str | None) -> None:
    decoded = decode(data)
    assert isinstance(decoded, str)
    assert text is None or decoded == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x7fELF\0\0\xb7", "not utf-8 and no encoding is declared: byte 0xb7 at offset 6 (line 1)"),
        ("x = 1".encode("utf-16"), WIDE),
        ("x = 1".encode("utf-16-le"), WIDE),
        ("x = 1".encode("utf-16-be"), WIDE),
        ("x = 1".encode("utf-32"), WIDE),
        ("x = 1".encode("utf-32-be"), WIDE),
        (b"# coding: ascii\n'\xe4'", "not ascii which is the encoding declared: byte 0xe4 at offset 17 (line 2)"),
        (b"# coding: klingon\n", "unknown encoding declared: klingon"),
        (b"# coding: ../../x\n", "unknown encoding declared: .."),
        (b"# coding: hex\n00", "not an encoding of text: hex"),
        (b"# coding: punycode\n", "encoding not read: punycode"),
        (
            codecs.BOM_UTF8 + b"# coding: latin-1\n",
            "a UTF-8 byte order mark, but the encoding declared is latin-1",
        ),
        (codecs.BOM_UTF8 + b"\xff", "not utf-8 which its byte order mark says: byte 0xff at offset 0 (line 1)"),
    ],
)
def test_what_cannot_be_decoded_has_a_reason(data: bytes, reason: str) -> None:
    assert decode(data) == Unread(reason)


@given(st.binary(max_size=60))
def test_what_is_not_utf8_can_be_made_bytes_again(data: bytes) -> None:
    text = decode(b"//" + data)
    assert isinstance(text, Unread) or text.encode("utf-8", "surrogateescape") == b"//" + data


def test_columns_count_a_byte_that_is_no_utf8_as_one() -> None:
    text = SourceText("/* \udce9\udce8 */ x = 1")
    start = len("/* \udce9\udce8 */ ".encode("utf-8", "surrogatepass"))
    assert text.column(1, start) == text.column_of_character(1, 9) == 10
    assert text.offset(1, 10) == 9


@given(
    st.binary(max_size=60),
    st.sampled_from(["", "utf-7", "idna", "unicode_escape", "hz", "zip", "mbcs", "raw"]),
)
def test_decode_never_raises(data: bytes, cookie: str) -> None:
    head = f"# coding: {cookie}\n".encode() if cookie else b""
    assert isinstance(decode(head + data), (str, Unread))


def test_no_codec_is_slow() -> None:
    with at_most(5):
        for cookie in (b"punycode", b"idna", b"utf-7", b"unicode_escape"):
            decode(b"# coding: " + cookie + b"\n-" + b"zz9" * 500_000)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n", ["a", "b", "c", ""]),
        ("a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g", ["a\x0cb\x0bc\x1cd\x85e\u2028f\u2029g"]),
        ("\r\r\n\n", ["", "", "", ""]),
    ],
)
def test_lines(source: str, lines: list[str]) -> None:
    assert SourceText(source).lines == lines
    assert "".join(SourceText(source).ended_lines) == source
    assert [line.rstrip("\r\n") for line in SourceText(source).ended_lines] == lines


@pytest.mark.parametrize(
    ("line", "before", "column"),
    [
        ("    x", "    ", 5),
        ("\tx", "\t", 2),
        ("ä = x", "ä = ", 5),
        ("日本 = x", "日本 = ", 6),
        ("'😀' + x", "'😀' + ", 8),
        ("'e\u0301' + x", "'e\u0301' + ", 8),
        ("\x0cx", "\x0c", 2),
        ("'\u2028\x85' + x", "'\u2028\x85' + ", 8),
    ],
)
def test_columns(line: str, before: str, column: int) -> None:
    text = SourceText(f"# 😀\r\n{line}\r\n")
    assert text.column(2, len(before.encode())) == column
    assert text.column_of_character(2, len(before)) == column
    assert text.source[text.offset(2, column)] == "x"


def test_the_columns_of_ast() -> None:
    source = "a = 1\r\n\x0cb = '\u2028'\rs = '😀'; é = cap == 120 \r\n"
    text = SourceText(source)
    node = ast.parse(source).body[-1]
    assert isinstance(node, ast.Assign) and node.value.end_lineno and node.value.end_col_offset
    value = node.value
    region = text.region(value.lineno, value.col_offset, node.value.end_lineno, node.value.end_col_offset)
    assert region == Region(3, 15, 3, 25)
    assert source[text.offset(3, 15) : text.offset(3, 25)] == "cap == 120"


def test_places_beyond_the_end() -> None:
    assert SourceText("a").line(7) == SourceText("a").line(0) == ""
    assert SourceText("ä").column(1, 99) == 2


_TEXTS = st.text(st.sampled_from("ab \t\r\n\x0c\x85\u2028é日😀"), max_size=30)


@given(_TEXTS)
def test_columns_and_offsets_agree(source: str) -> None:
    text = SourceText(source)
    for number, line in enumerate(text.lines, 1):
        for index in range(len(line)):
            column = text.column_of_character(number, index)
            assert column == text.column(number, len(line[:index].encode()))
            assert source[text.offset(number, column)] == line[index]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError, "needs more memory than available"), (RecursionError, "nested too deep to analyse")],
)
def test_too_much_is_said_in_words(error: type[Exception], reason: str) -> None:
    with pytest.raises(ReadError, match=reason), bounded():
        raise error


@pytest.mark.parametrize(("error", "is_kept"), [(MemoryError, False), (RecursionError, True)])
def test_what_another_machine_reads_is_no_answer_for_ever(error: type[Exception], is_kept: bool) -> None:
    with disk.watching() as watch:
        with pytest.raises(ReadError), bounded():
            raise error
        assert watch.is_steady is is_kept


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_time_ends_what_takes_every_error_for_its_own() -> None:
    with pytest.raises(ReadError, match=r"takes more than 0.05 seconds to read"), bounded(0.05):
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_the_timer_goes_with_the_file() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with bounded(0.05):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_a_limit_around_another_goes_on_behind_it() -> None:
    with bounded(100):
        with bounded(50):
            pass
        left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
        assert left > 50


@pytest.mark.parametrize(
    ("data", "too_deep"),
    [
        (b"x = [" * MOST_NESTED + b"]" * MOST_NESTED, False),
        (b"[" * (MOST_NESTED + 1) + b"]" * (MOST_NESTED + 1), True),
        (b"{" * (MOST_NESTED + 1), True),
        (b"[]" * 10 * MOST_NESTED, False),
    ],
)
def test_brackets_in_brackets(data: bytes, too_deep: bool) -> None:
    assert is_nested_too_deep(data) is too_deep
