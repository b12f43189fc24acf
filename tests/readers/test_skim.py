"""A tree with bodies that are parsed when asked for is the tree that Python's own parser gives."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.readers.nodes import below
from bwlint.readers.python import parse
from bwlint.readers.skim import Unparsed, UnparsedFunction, let_go, parsed, skim
from bwlint.sources.errors import ReadError

FILLER = "\n".join(f"    value_{number} = compute(value, {number})" for number in range(6))

NOTHING = re.compile(rb"(?!)")
DEEPER = textwrap.indent(FILLER, "    ")


class _Asked(ast.NodeTransformer):
    """Asks for every body."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, Unparsed):
            kind = ast.FunctionDef if isinstance(node, ast.FunctionDef) else ast.AsyncFunctionDef
            whole = kind.__new__(kind)
            vars(whole).update({name: value for name, value in vars(node).items() if name in kind._fields})
            vars(whole).update({name: getattr(node, name) for name in kind._attributes})
            whole.body = node.body
            node = whole
        return self.generic_visit(node)


def same(source: str, tree: ast.Module) -> bool:
    return ast.dump(_Asked().visit(tree), include_attributes=True) == ast.dump(parse(source), include_attributes=True)


CASES = {
    "a function": f"def f(a):\n{FILLER}\n",
    "a method": f"class A:\n    @a\n    def f(b):\n{DEEPER}\n# left\n        return 1\n",
    "async": f"async def f():\n{FILLER}\n    async for x in y:\n        await z\n",
    "a head of several lines": f"def f(\n    a: dict[str, int] = {{'a)': 1}},  # :\n) -> None:  # b\n{FILLER}\n",
    "a nested one": f"def f():\n    def g():\n        return nonlocal_\n{FILLER}\n    yield g\n",
    "under a test": f"if x:\n    def f():\n        {DEEPER.lstrip()}\nelse:\n    f = None\n",
    "a text that leaves the indent": f"def f():\n{FILLER}\n    t = '''\nleft\n'''\n    return t\nx = 1\n",
    "a call that leaves the indent": f"def f():\n{FILLER}\n    g(\n1)\nx = 1\n",
    "code in a text": f'CODE = """\ndef f(a):\n{FILLER}\n"""\n',
    "a last line with a comment": f"def f():\n{FILLER}  # why\nx = 1\n",
    "the last line of a text": f"def f():\n{FILLER}\n    return '''a\n    # b'''\n",
    "letters": f"def f():\n{FILLER}\n    return 'üß🙂'\n\n\nx = 'ü'\n",
    "one line": "def f(): return 1\n",
    "no line at the end": f"def f():\n{FILLER}",
    "a semicolon": f"def f():\n{FILLER};\nx = 1\n",
    "a backslash": f"def f():\n{FILLER}\n    x = 1 + \\\n2\ny = 1\n",
    "tabs": "def f():\n" + FILLER.replace("    ", "\t") + "\nx = 1\n",
    "carriage returns": f"def f():\n{FILLER}\n".replace("\n", "\r\n"),
}


@pytest.mark.parametrize("source", CASES.values(), ids=CASES)
def test_the_tree_is_the_one_that_a_parser_gives(source: str) -> None:
    assert same(source, skim(source, NOTHING, parse))


@pytest.mark.parametrize("name", ["a function", "async", "a head of several lines", "a nested one", "letters", "tabs"])
def test_a_body_without_a_word_is_put_off(name: str) -> None:
    tree = skim(CASES[name], NOTHING, parse)
    node = tree.body[0]
    assert isinstance(node, Unparsed)
    assert parsed(node) == ()
    assert not any(isinstance(one, ast.Assign) and dotted_target(one).startswith("value_") for one in below(tree))


def dotted_target(node: ast.Assign) -> str:
    return node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""


def test_a_body_with_a_word_is_looked_into_with_its_file() -> None:
    source = f"def f():\n{FILLER}\n\n\ndef g():\n{FILLER}\n    return sm_90\n\n\ndef h():\n{FILLER}\n"
    tree = skim(source, re.compile(b"sm_90"), parse)
    assert [bool(parsed(node)) for node in tree.body] == [False, True, False]


def test_what_is_let_go_is_parsed_again() -> None:
    node = skim(CASES["a function"], NOTHING, parse).body[0]
    assert isinstance(node, UnparsedFunction)
    first = node.body
    assert node.body is first
    let_go(node)
    assert node.body is not first
    assert list(map(ast.dump, node.body)) == list(map(ast.dump, first))


@pytest.mark.parametrize("source", ["def f(:\n    pass\n", "x = (\n", f"def f():\n{FILLER}\nx = )\n"])
def test_what_is_no_python_is_an_error(source: str) -> None:
    with pytest.raises(ReadError, match="syntax error"):
        skim(source, NOTHING, parse)


def test_a_body_that_is_no_python_has_no_statements() -> None:
    tree = skim(f"def f():\n{FILLER}\n    x = = 1\n    return 1\n", NOTHING, parse)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    assert node.body == []


LINES = st.sampled_from(
    [
        *("x = 1", "return x", "def g(a, b=')'):", "class C:", "if x:", "else:", "for a in b:", "async def h():"),
        *('"""', "'''", "t = '''a", "b'''", "# c", "", "f(", ")", "[1,", "]", "x = 'a#b'", 'y = """c"""', "\\"),
        *("@mark", "try:", "except E:", "pass", "ü = 'ö'", "lambda: 0", "x = {'a': [", "}]"),
    ]
)


@given(st.lists(st.tuples(st.integers(0, 3), LINES), max_size=40), st.sampled_from([NOTHING, re.compile(b"x|=")]))
def test_any_text_has_the_tree_that_a_parser_gives(lines: list[tuple[int, str]], wanted: re.Pattern[bytes]) -> None:
    source = "\n".join("    " * indent + line for indent, line in lines) + "\n"
    try:
        ast.parse(source)
    except SyntaxError:
        return
    assert same(source, skim(source, wanted, parse))
