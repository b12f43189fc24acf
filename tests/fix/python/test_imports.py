"""A name that an edit needs, imported beside another one."""

from __future__ import annotations

import ast

import pytest

from bwlint.fix.edited import apply
from bwlint.fix.python.imports import add_line, bring
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import NoFix

USE = "if old(d):\n    pass\n"


def use_of(syntax: Syntax, name: str) -> ast.expr:
    return next(node for node in ast.walk(syntax.tree) if isinstance(node, ast.Name) and node.id == name)


def brought(source: str, *names: str, instead: bool = False) -> str:
    """The source after the import; what is wrong, where it is refused."""
    syntax = parse(source)
    assert syntax is not None
    edits = bring(syntax, "m.py", names, "old", use_of(syntax, "old"), instead=instead)
    return edits.reason if isinstance(edits, NoFix) else apply(source, edits)


LAYOUTS = [
    ("from p.u import old\n", "from p.u import old, new\n"),
    ("from .u import old\n", "from .u import old, new\n"),
    ("from ..u import a, old\n", "from ..u import a, new, old\n"),
    ("from p.u import mew, old\n", "from p.u import mew, new, old\n"),
    ("from p.u import old, mew\n", "from p.u import old, new, mew\n"),
    ("from p.u import (old, b)\n", "from p.u import (old, new, b)\n"),
    ("from p.u import old  # noqa: E402\n", "from p.u import old, new  # noqa: E402\n"),
    ("from p.u import a, \\\n    old\n", "from p.u import a, \\\n    new, old\n"),
    ("from p.u import (\n    old,\n    zoo,\n)\n", "from p.u import (\n    new,\n    old,\n    zoo,\n)\n"),
    ("from p.u import (\n    zoo,\n    old,\n)\n", "from p.u import (\n    zoo,\n    old,\n    new,\n)\n"),
    ("from p.u import (\n    old\n)\n", "from p.u import (\n    old,\n    new\n)\n"),
    ("from p.u import (\r\n    old,\r\n)\r\n", "from p.u import (\r\n    old,\r\n    new,\r\n)\r\n"),
    ("from p.u import (\n    old,  # why\n)\n", "from p.u import (\n    old,  # why\n    new,\n)\n"),
    ("import p.u\nfrom p.u import old\n", "import p.u\nfrom p.u import old, new\n"),
    ("try:\n    from p.u import old\nexcept ImportError:\n    old = None\n", None),
    ("from p.u import old, new\n", "from p.u import old, new\n"),
    ("from p.u import old\nfrom p.u import new\n", "from p.u import old\nfrom p.u import new\n"),
    (f"from p.u import old, {'x' * 80}\n", f"from p.u import new, old, {'x' * 80}\n"),
]


@pytest.mark.parametrize(("before", "after"), LAYOUTS)
def test_layout(before: str, after: str | None) -> None:
    expected = after or "try:\n    from p.u import old, new\nexcept ImportError:\n    old = None\n"
    newline = "\r\n" if "\r\n" in before else "\n"
    use = USE.replace("\n", newline)
    assert brought(before + use, "new") == expected + use


def test_the_import_of_the_function_around() -> None:
    source = (
        "def f(d):\n    from p.u import old\n    return old(d)\ndef g(d):\n    from p.u import new\n    return new(d)\n"
    )
    assert "    from p.u import old, new\n    return old" in brought(source, "new")


def test_a_name_at_the_top_is_seen_in_a_function() -> None:
    source = "from p.u import new\ndef f(d):\n    from p.u import old\n    return old(d)\n"
    assert brought(source, "new") == source


def test_several_names_come_in_one_edit() -> None:
    assert brought(f"from p.u import old\n{USE}", "one", "two").startswith("from p.u import old, one, two\n")


TESTED = "def test_x(d):\n    assert old(d)\n"


@pytest.mark.parametrize(
    ("head", "tail", "renamed"),
    [
        ("", TESTED, True),
        ("", f"{USE}if __name__ == '__main__':\n    pass\n", True),
        ("", f"{TESTED}__all__ = ['old']\n", False),
        ("", f"{TESTED}{USE}", False),
        ("", USE, False),
        ("", f"{TESTED}patch('p.m.old')\n", False),
    ],
)
def test_the_last_use_of_a_name_goes(head: str, tail: str, renamed: bool) -> None:
    expected = "from p.u import new\n" if renamed else "from p.u import old, new\n"
    assert brought(f"{head}from p.u import old\n{tail}", "new", instead=True) == f"{expected}{tail}"


@pytest.mark.parametrize(
    "source",
    [
        f"from p.u import old\nnew = 1\n{USE}",
        f"from p.u import old\ndef new(): ...\n{USE}",
        f"from p.u import old\ndef g(new): ...\n{USE}",
        f"from p.u import old\nfrom p.w import new\n{USE}",
        f"from p.u import old\nfrom p.u import other as new\n{USE}",
        f"from p.u import old\nimport new\n{USE}",
        f"from p.u import old\ntry: ...\nexcept E as new: ...\n{USE}",
        f"from p.u import old\nmatch d:\n    case [*new]: ...\n{USE}",
        f"from p.u import old\nmatch d:\n    case {{'a': 1, **new}}: ...\n{USE}",
        f"from p.u import old\ndef f():\n    global new\n{USE}",
    ],
)
def test_the_name_of_something_else(source: str) -> None:
    assert brought(source, "new") == "`new` is the name of something else in this file"


def test_nothing_is_imported_here() -> None:
    assert brought(f"import p.u as old\n{USE}", "new") == "nothing here imports `old`"
    own = f"def old(d): ...\ndef new(d): ...\n{USE}"
    assert brought(own, "new") == own


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport p.x\nimport q\n", "import os\nimport p.x\nfrom p.u import new\nimport q\n"),
        ("import os\n", "import os\nfrom p.u import new\n"),
        ("import os", "import os\nfrom p.u import new"),
        ("import os\r\n", "import os\r\nfrom p.u import new\r\n"),
        ("from __future__ import annotations\n", "from __future__ import annotations\nfrom p.u import new\n"),
        ("from p.u import new\n", "from p.u import new\n"),
        ("from p import (\n    a,\n)\nx = 1\n", "from p import (\n    a,\n)\nfrom p.u import new\nx = 1\n"),
        ("x = 1\n", "the file imports nothing at its top"),
        ("import os\nnew = 1\n", "`new` is the name of something else in this file"),
    ],
)
def test_a_line_of_its_own(before: str, after: str) -> None:
    syntax = parse(before)
    assert syntax is not None
    edits = add_line(syntax, "m.py", "p.u", ("new",))
    assert (edits.reason if isinstance(edits, NoFix) else apply(before, edits)) == after


def test_each_branch_has_an_import_of_its_own() -> None:
    branch = "    from p.u import old\n    {}(d)\n"
    source = f"if a:\n{branch.format('one')}else:\n{branch.format('old')}"
    assert brought(source, "new") == f"if a:\n{branch.format('one')}else:\n{branch.format('old')}".replace(
        "else:\n    from p.u import old\n", "else:\n    from p.u import old, new\n"
    )


def test_an_import_in_another_branch_does_not_count() -> None:
    source = "def f(d):\n    from p.u import old\n    if d:\n        from p.u import new\n    else:\n        old(d)\n"
    assert brought(source, "new") == source.replace("import old", "import old, new", 1)


@pytest.mark.parametrize(
    "source",
    [
        f"if a:\n    from p.u import old\nelse:\n    from p.u import old\n{USE}",
        f"try:\n    from p.u import old\nexcept ImportError:\n    old = lambda d: False\n{USE}",
        f"try:\n    from p.u import old\nexcept ImportError:\n    def old(d): ...\n{USE}",
        f"try:\n    from p.u import old\nexcept ImportError:\n    from p.w import old\n{USE}",
    ],
)
def test_a_name_that_has_two_sources(source: str) -> None:
    assert brought(source, "new") in (
        "nothing here imports `old`",
        "`old` is something else where it cannot be imported",
    )
