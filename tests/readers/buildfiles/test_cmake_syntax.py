"""The command language: comments, brackets, quotes, nesting, positions."""

from __future__ import annotations

import pytest

from bwlint.readers.buildfiles.cmake_syntax import commands


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("set(A 1 2)", [("set", "A", "1", "2")]),
        ("SET (A\n  1)\n", [("set", "A", "1")]),
        ("# set(A 1)\nset(B 2)", [("set", "B", "2")]),
        ("#[[ set(A 1)\n ]] set(B 2)", [("set", "B", "2")]),
        ("#[==[ set(A ]] 1) ]==] set(B 2)", [("set", "B", "2")]),
        ('set(A "1;2" # c\n "x # y")', [("set", "A", "1;2", "x # y")]),
        ('set(A "a\\"b\\\\.c")', [("set", "A", 'a"b\\.c')]),
        ('set(A "one\\\ntwo")', [("set", "A", "onetwo")]),
        ('set(A [[ "raw" ${x} ]] b)', [("set", "A", ' "raw" ${x} ', "b")]),
        ("set(A [=[ ]] ]=])", [("set", "A", " ]] ")]),
        ("if((A AND B) OR C)", [("if", "(", "A", "AND", "B", ")", "OR", "C")]),
        ('set(A -Dx="a b" c)', [("set", "A", '-Dx="a b"', "c")]),
        ("set(A a;b)", [("set", "A", "a", "b")]),
        ("set(A", [("set", "A")]),
        ('set(A "open', [("set", "A", "open")]),
        ("set(A [[open", [("set", "A", "open")]),
        ("#[[open set(A 1)", []),
        (") ) set(A) )", [("set", "A")]),
        ("", []),
    ],
)
def test_commands(source: str, expected: list[tuple[str, ...]]) -> None:
    assert [(command.name, *command.words) for command in commands(source)] == expected


def test_places() -> None:
    source = '# é\nset(A "1;2")\n'
    (command,) = commands(source)
    assert [source[each.start : each.end] for each in command.arguments] == ["A", '"1;2"']
    assert source[command.start : command.end] == 'set(A "1;2")'
