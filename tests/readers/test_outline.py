"""The outline of a Python file: definitions, what they use and how surely, and the names that it hands on."""

from __future__ import annotations

import pytest

from bwlint.model.outline import Outline
from bwlint.readers.python.outline import outline
from bwlint.sources.errors import ReadError

HEAD = "from pkg import a, b as c\nfrom . import near\nfrom ..far import thing\nimport torch.nn.functional as F\n"


def outlined(source: str, name: str = "top.mid.file", is_package: bool = False) -> Outline:
    return outline("/file.py", source, name, is_package)


def calls(source: str) -> dict[str, bool]:
    """What the body of `def f` calls, and whether surely."""
    body = "".join(f"    {line}\n" for line in source.splitlines())
    found = outlined(f"{HEAD}def f(x, kind):\n{body}").definitions["f"]
    return {use.name: use.sure for use in found.uses if use.how == "call"}


@pytest.mark.parametrize(
    ("body", "name", "sure"),
    [
        ("a(x)", "pkg.a", True),
        ("c(x)", "pkg.b", True),
        ("near.g(x)", "top.mid.near.g", True),
        ("F.relu(x)", "torch.nn.functional.relu", True),
        ("for i in x:\n    a(i)", "pkg.a", True),
        ("with x:\n    a(x)", "pkg.a", True),
        ("try:\n    a(x)\nexcept ValueError:\n    c(x)", "pkg.a", True),
        ("try:\n    a(x)\nexcept ValueError:\n    c(x)", "pkg.b", False),
        ("if x:\n    a(x)", "pkg.a", False),
        ("x and a(x)", "pkg.a", False),
        ("y = a(x) if x else 0", "pkg.a", False),
        ("if x is None:\n    raise ValueError\na(x)", "pkg.a", True),
        ("if x.ndim != 2:\n    return x\na(x)", "pkg.a", True),
        ("if kind == 'slow':\n    return x\na(x)", "pkg.a", False),
        ("if kind in (Kind.SLOW, Kind.SLOWER):\n    return x\na(x)", "pkg.a", False),
        ("def inner():\n    a(x)", "pkg.a", False),
        ("y = thing.Made()\ny.run(x)", "top.far.thing.Made.run", True),
        ("y = make()\ny.run(x)", "y.run", True),
        ("y = thing.Made()\ny = thing.Other()\ny.run(x)", "y.run", True),
    ],
)
def test_calls_of_a_body(body: str, name: str, sure: bool) -> None:
    assert calls(body)[name] is sure


@pytest.mark.parametrize(
    ("source", "local", "target"),
    [
        ("from pkg import a", "a", "pkg.a"),
        ("import pkg.sub", "pkg", "pkg"),
        ("try:\n    from fast import run\nexcept ImportError:\n    from slow import run", "run", "run"),
        ("def f():\n    from pkg import late", "late", "pkg.late"),
        ("from pkg import a\nother = a", "other", "pkg.a"),
        ("from functools import partial\nfrom pkg import a\nother = partial(a, 1)", "other", "pkg.a"),
        (
            "from functools import lru_cache, partial\nfrom pkg import a\nx = lru_cache(maxsize=1)(partial(a))",
            "x",
            "pkg.a",
        ),
        ("_T = {'Fast': 'top.fast'}\ndef __getattr__(n): ...", "Fast", "top.fast.Fast"),
        ("_T = {'Fast': '.fast:Quick'}\ndef __getattr__(n): ...", "Fast", "top.mid.fast.Quick"),
        ("_T = {'Fast': ('top.fast', 'Quick')}\ndef __getattr__(n): ...", "Fast", "top.fast.Quick"),
        (
            "class C:\n    def __init__(self):\n        self.k = near.Kernel()\nfrom . import near",
            "C.k",
            "top.mid.near.Kernel",
        ),
    ],
)
def test_names_that_are_handed_on(source: str, local: str, target: str) -> None:
    assert outlined(source).imports[local] == target


@pytest.mark.parametrize(
    ("source", "local"),
    [
        ("_T = {'Fast': 'top.fast'}", "Fast"),
        ("_T = {'Fast': 'not a module'}\ndef __getattr__(n): ...", "Fast"),
        ("_T = {'no-name': 'top.fast'}\ndef __getattr__(n): ...", "no-name"),
        ("class C:\n    def __init__(self):\n        self.k = make()", "C.k"),
        ("x = 1", "x"),
        ("x = y[0]", "x"),
    ],
)
def test_names_that_stand_for_nothing_known(source: str, local: str) -> None:
    assert local not in outlined(source).imports


def test_definitions_and_their_bases() -> None:
    source = "from pkg import Base\nif True:\n    class A(Base):\n        def run(self):\n            def deep(): ...\n"
    found = outlined(source).definitions
    assert list(found) == ["A", "A.run", "A.run.deep"]
    assert found["A"].bases == ("pkg.Base",)


def test_the_classes_of_a_file_wherever_they_stand() -> None:
    source = "class A:\n    class B: pass\ndef f():\n    class C(A): pass\nif f:\n    class D: pass\nclass_ = 1\n"
    assert outlined(source).classes == ("A", "A.B", "f.C", "D")


@pytest.mark.parametrize("inner", ["class C:\n        x = a()", "def g(y: a() = 1):\n        return a()"])
def test_what_stands_inside_of_a_short_function_is_used_by_it(inner: str) -> None:
    found = outlined(f"from pkg import a\ndef f():\n    {inner}\n")
    assert "pkg.a" in {use.name for use in found.definitions["f"].uses}


def test_stars_of_a_package_are_its_own_modules() -> None:
    assert outlined("from .part import *", "top", is_package=True).stars == ("top.part",)


@pytest.mark.parametrize("source", ["def f(:", "x = '\0'", "(" * 5000 + ")" * 5000])
def test_what_is_no_python_is_said(source: str) -> None:
    with pytest.raises(ReadError):
        outlined(source)
