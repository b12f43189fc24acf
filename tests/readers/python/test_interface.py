from __future__ import annotations

from textwrap import dedent

import pytest

from bwlint.readers.python.interface import Interface, interface
from bwlint.sources.errors import ReadError


def read(source: str, name: str = "pkg.mod", is_package: bool = False) -> Interface:
    return interface(dedent(source), name, is_package)


@pytest.mark.parametrize(
    ("source", "name", "is_package", "imports"),
    [
        ("import a", "m", False, {"a": "a"}),
        ("import a.b", "m", False, {"a": "a"}),
        ("import a.b as c", "m", False, {"c": "a.b"}),
        ("from a import b as c", "m", False, {"c": "a.b"}),
        ("from . import b", "pkg", True, {"b": "pkg.b"}),
        ("from .x import b", "pkg.mod", False, {"b": "pkg.x.b"}),
        ("from ..x import b", "pkg.sub.mod", False, {"b": "pkg.x.b"}),
        ("try:\n    from .x import b\nexcept ImportError:\n    b = None", "pkg.mod", False, {"b": "pkg.x.b"}),
        ("if X:\n    from .x import b", "pkg.mod", False, {"b": "pkg.x.b"}),
        ("with suppress(ImportError):\n    from .x import b", "pkg.mod", False, {"b": "pkg.x.b"}),
        ("def f():\n    from .x import b", "pkg.mod", False, {}),
        ("T = {'b': '.x:b'}\ndef __getattr__(name): ...", "pkg", True, {"b": "pkg.x.b"}),
        ("T = {'b': ('pkg.x', 'b')}\ndef __getattr__(name): ...", "pkg", True, {"b": "pkg.x.b"}),
        ("T = {'b': 'pkg.x.b'}", "pkg", True, {}),
        ("from ......x import b", "pkg.mod", False, {"b": "x.b"}),
    ],
)
def test_imports(source: str, name: str, is_package: bool, imports: dict[str, str]) -> None:
    assert interface(source, name, is_package).imports == imports


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        ("__all__ = ['a', 'b']", ("a", "b")),
        ("__all__: list[str] = ['a']", ("a",)),
        ("__all__ = ['a'] + more", None),
        ("__all__ = [name]", None),
        ("a = ['b']", None),
    ],
)
def test_declared_names(source: str, declared: tuple[str, ...] | None) -> None:
    assert read(source).declared == declared


@pytest.mark.parametrize(
    ("decorator", "choices", "checks"),
    [
        ("@require({'a': f, 'b': mod.g}, common_check=h)", {"a": "f", "b": "mod.g"}, ("h",)),
        ("@require(backend_checks={'a': f})", {"a": "f"}, ()),
        ("@require({'a': 1, 2: f, 'c': lambda x: x})", {}, ()),
        ("@require({**more, 'a': f})", {"a": "f"}, ()),
        ("@require({}, heuristic=h)", {}, ()),
        ("@plain", {}, ()),
    ],
)
def test_backends_of_a_decorator(decorator: str, choices: dict[str, str], checks: tuple[str, ...]) -> None:
    offer = read(f"{decorator}\ndef op(x): ...").offers["op"]
    assert {choice.name: choice.stands_for for choice in offer.choices} == choices
    assert offer.checks == checks


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("def op(backend: Literal['a', 'b'] = 'a'): ...", {"backend": ("a", "b")}),
        ("def op(backend: Optional[Literal['a']] = None): ...", {"backend": ("a",)}),
        ("def op(backend):\n    if backend == 'a':\n        pass\n    elif backend in ('b', 'c'):\n        pass",
         {"backend": ("a", "b", "c")}),
        ("def op(backend):\n    if other == 'a':\n        pass", {}),
        ("def op(backend):\n    if backend == A:\n        pass", {}),
        ("class op:\n    def __init__(self, backend): ...\n    def run(self):\n        if self._backend == 'a': ...",
         {"backend": ("a",)}),
        ("class op:\n    def __init__(self, backend): ...\n    def run(self):\n        if self.kind == 'a': ...", {}),
        ("class op:\n    pass", {}),
    ],
)  # fmt: skip
def test_options(source: str, options: dict[str, tuple[str, ...]]) -> None:
    assert dict(read(source).offers["op"].options) == options


@pytest.mark.parametrize(
    ("source", "tables"),
    [
        (
            "class E(Enum):\n    A = 'pkg.a.A'\n    B = ('pkg.'\n         'b.B')",
            {"E": {"A": "pkg.a.A", "B": "pkg.b.B"}},
        ),
        ("T = {'a': 'pkg.a:A', 'b': ('pkg.b', 'B')}", {"T": {"a": "pkg.a:A", "b": "pkg.b.B"}}),
        ("class E(Enum):\n    A = 'one word'\n    B = ''", {}),
        ("T = {'a': 1}", {}),
        ("T = {1: 'pkg.a.A'}", {}),
        ("T = {'a': 'https://a.b/c'}", {}),
    ],
)
def test_tables_of_paths(source: str, tables: dict[str, dict[str, str]]) -> None:
    found = read(source).tables
    assert {name: {row.name: row.stands_for for row in rows} for name, rows in found.items()} == tables


@pytest.mark.parametrize(
    ("source", "registered"),
    [
        ("@register_backend('a')\nclass A: ...", {"backend": {"a": "A"}}),
        ("@Registry.register('a')\ndef f(): ...", {"registry": {"a": "f"}}),
        ("@register_backend\nclass A: ...", {}),
        ("@register_backend(name)\nclass A: ...", {"backend": {}}),
        ("@other('a')\nclass A: ...", {}),
    ],
)
def test_what_decorators_register(source: str, registered: dict[str, dict[str, str]]) -> None:
    found = read(source).registered
    assert {name: {row.name: row.stands_for for row in rows} for name, rows in found.items()} == registered


CALLS = {
    "in a row": ("a()\nb.c(1)", {"a": "", "b.c": ""}),
    "within an expression": ("x = f(g().h)", {"f": "", "g": ""}),
    "of a result": ("g().h(1)", {"g": ""}),
    "in a with": ("with a():\n    b()", {"a": "", "b": ""}),
    "in try with finally": ("try:\n    a()\nfinally:\n    b()", {"a": "", "b": ""}),
    "after a check": ("if x is None:\n    raise E\na()", {"a": ""}),
    "in a test": ("if a():\n    b()", {"a": "", "b": "if"}),
    "on an option": ("if backend == 'k':\n    a()\nelse:\n    b()\nc()", {"a": "k", "b": "not k", "c": ""}),
    "on one of several": ("if backend in ('k', 'l'):\n    a()", {"a": "k,l"}),
    "after an option has left": ("if backend == 'k':\n    return a()\nb()", {"a": "k", "b": "not k"}),
    "in a loop": ("for y in x:\n    a()", {}),
    "where errors are caught": ("try:\n    a()\nexcept E:\n    b()", {}),
    "in a branch": ("if x:\n    a()\nelif y:\n    b()", {"a": "if", "b": "else if"}),
    "after a branch that may return": ("if x:\n    return a()\nb()", {"a": "if"}),
    "after a loop that may return": ("for y in x:\n    return y\na()", {}),
    "in an expression that may stop": ("x and a()\ny = a() if x else b()\nz = [a() for y in x]\nlambda: a()", {}),
    "in an inner function": ("def g():\n    a()", {}),
    "after an error": ("raise E\na()", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_calls(case: str) -> None:
    body, expected = CALLS[case]
    source = "def op(x, backend):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    found = {
        call.name: " ".join(
            [
                *(("" if o.inside else "not ") + ",".join(sorted(o.values)) for o in call.under),
                *("if" if outcome else "else" for _, outcome in call.tests),
            ]
        )
        for call in read(source).calls["op"]
    }
    found.pop("E", None)
    assert found == expected


def test_what_calls_hand_on() -> None:
    source = "def op(x, backend):\n    a(backend, 'k', kind='l', *x)\n    b(x, which=backend)"
    first, second = read(source).calls["op"]
    assert (first.handed_on, first.strings) == ((("0", "backend"),), (("1", "k"), ("kind", "l")))
    assert second.handed_on == (("0", "x"), ("which", "backend"))


@pytest.mark.parametrize(
    "source",
    ["def f(:", "\0", "x = " + "(" * 5000, "x = " + "-" * 50_000 + "1"],
    ids=["syntax", "null", "parentheses", "signs"],
)
def test_bad_input(source: str) -> None:
    with pytest.raises(ReadError):
        read(source)


def test_functions_that_call_each_other_often_are_each_read_once() -> None:
    calls = " + ".join(["f(n - 1)", "g(n - 1)", "h(n - 1)"] * 40)
    source = "".join(f"def {name}(n):\n    return 1 + {calls}\n" for name in "fgh") + "def k(n):\n    return n * 2\n"
    offers = interface(source, "m", False).offers
    assert [name for name, offer in offers.items() if offer.gives_numbers] == ["k"]


def test_long_tables_are_cut() -> None:
    rows = ", ".join(f"'k{i}': 'pkg.a.A{i}'" for i in range(5000))
    assert len(read("T = {" + rows + "}").tables["T"]) <= 400
