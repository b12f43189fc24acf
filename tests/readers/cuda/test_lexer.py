"""C++ text without its comments and literals, with every offset as it was."""

from __future__ import annotations

import pytest

from bwlint.readers.cuda.lexer import clean, matching, tokens


@pytest.mark.parametrize(
    ("source", "text", "literals"),
    [
        ("a // b\nc", "a     \nc", []),
        ("a /* b\n c */ d", "a     \n      d", []),
        ("/**/x", "    x", []),
        ("/* // */x", "        x", []),
        ("// /*\nx", "     \nx", []),
        ("// a\\\nb\nc", "     \n \nc", []),
        ('x = "a//b"; // c', 'x = "    ";     ', ["a//b"]),
        ('"/*" x "*/"', '"  " x "  "', ["/*", "*/"]),
        ('"a""b"', '" "" "', ["a", "b"]),
        ('"a\\"b" c', '"    " c', ['a\\"b']),
        ('"\\\\"x', '"  "x', ["\\\\"]),
        ('"a\\\nb" c', '"  \n " c', ["a\\\nb"]),
        ('L"a" u8"b"', 'L" " u8" "', ["a", "b"]),
        ('R"(a"b)"', 'R"     "', ['a"b']),
        ('R"x(a)" )x"z', 'R"        "z', ['a)" ']),
        ('u8R"(a)"+LR"(b)"', 'u8R"   "+LR"   "', ["a", "b"]),
        ('R"(a\nb\\)"', 'R"  \n   "', ["a\nb\\"]),
        ('BAR"(a)"', 'BAR"   "', ["(a)"]),
        ("1'000'000", "1'000'000", []),
        ("0x1'f'2 // a", "0x1'f'2     ", []),
        ('\'"\' "a"', "' ' \" \"", ["a"]),
        ("'\\'' // x", "'  '     ", []),
        ("it's // x", "it's     ", []),
        ("#include <a//b>", "#include <a    ", []),
        ("é // ü\nx", "é     \nx", []),
    ],
)
def test_comments_and_literals_are_blank(source: str, text: str, literals: list[str]) -> None:
    code = clean(source)
    assert code.text == text
    assert [code.content(literal) for literal in code.literals] == literals


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a /* b\nc", "a     \n "),
        ('"open\nnext', '"    \nnext'),
        ('"open', '"    '),
        ('"', '"'),
        ('"a\\', '"  '),
        ('R"x(open\nx', 'R"      \n '),
        ("'", "'"),
        ("// a\\", "     "),
        ("/", "/"),
        ("\\", "\\"),
        ("", ""),
    ],
)
def test_what_is_never_closed_ends_with_the_line_or_the_file(source: str, text: str) -> None:
    assert clean(source).text == text


@pytest.mark.parametrize(
    "source", ["a\nb", "é\nüa b", "a\U0001f600b\r\nc", "\udc80x\ny", "é" * 1000 + "\n" + "ü" * 600]
)
def test_places_are_lines_and_byte_columns(source: str) -> None:
    code = clean(source)
    for offset in range(len(source)):
        line, column = code.place(offset)
        before = source[:offset].encode("utf-8", "surrogatepass").rpartition(b"\n")[2]
        assert (line, column) == (source[:offset].count("\n") + 1, len(before))
        assert code.offset(line, column) == offset


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a<<<b", ["a", "<<<", "b"]),
        ("a->*b<=>c", ["a", "->*", "b", "<=>", "c"]),
        ("1'000u+0x1p-3", ["1'000u", "+", "0x1p-3"]),
        ("a \\\n b", ["a", "b"]),
        ("x.1e+5f", ["x", ".1e+5f"]),
        ("a##b...", ["a", "##", "b", "..."]),
    ],
)
def test_tokens(source: str, expected: list[str]) -> None:
    assert [token.text for token in tokens(source)] == expected


@pytest.mark.parametrize(
    ("text", "close"), [("(a)", 2), ("(a[b]{c})", 8), ("((a)", -1), ("(", -1), ("(a)b)", 2), ("{(})", 3)]
)
def test_matching(text: str, close: int) -> None:
    assert matching(text, 0) == close


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x; // here", "here"),
        ("// above\nx;", "above"),
        ("/* above */\n// too\nx;", "above too"),
        ("// before\ny;\nx;", ""),
        ("x;\n// below", ""),
    ],
)
def test_comments_near_a_place(source: str, said: str) -> None:
    at = source.index("x;")
    assert clean(source).comment_near(at, at + 2) == said
