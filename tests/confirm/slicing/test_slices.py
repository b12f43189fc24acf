"""What is cut out of a file for a test, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import bwlint
from bwlint.confirm.slicing.closure import Slice, cut
from bwlint.model.findings import Claim, Region

IMPORTS = (
    "import torch\nimport os\nfrom .helpers import cc\nfrom . import helpers\nfrom .missing import gone\nLIMIT = 90\n"
)
HELPERS = {
    "__init__.py": "",
    "helpers.py": """
        from .deeper import *
        from .constants import FIRST, SECOND
        logger = make_logger()
        CACHE = None

        def cc():
            return FIRST

        def noisy():
            logger.info("here")
            return later()

        def later():
            return SECOND

        def changed():
            return CACHE

        def set_cache():
            global CACHE
            CACHE = 1
    """,
    "deeper.py": "def deep():\n    return 1\n",
    "constants.py": "FIRST, SECOND = 1, 2\nOTHER = 3\nLIST = []\nLIST.append(OTHER)\n",
}


def cut_out(folder: Path, source: str, gate: str) -> Slice | str:
    package = folder / "pkg"
    package.mkdir()
    (folder / "pyproject.toml").touch()
    for name, text in HELPERS.items():
        (package / name).write_text(textwrap.dedent(text), encoding="utf-8")
    text = IMPORTS + textwrap.dedent(source).strip("\n") + "\n"
    (package / "a.py").write_text(text, encoding="utf-8")
    before = text[: text.rindex(gate)]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    at = Region(line, column, line, column + len(gate))
    return cut(str(package / "a.py"), Claim("gate", "", ("12.0",), subject=gate, at=at))


def body(found: Slice | str) -> list[str]:
    assert isinstance(found, Slice), found
    return [line.strip() for line in found.text.splitlines()[1:]]


def cut_names(found: Slice | str, module: str) -> set[str]:
    assert isinstance(found, Slice), found
    plan = found.modules.get(module)
    return {name for _, names in plan.statements for name in names} if plan else set()


KEPT = {
    "only what is needed": (
        """
        def f(x):
            other = work(x)
            cap = torch.cuda.get_device_capability()
            unused = cap
            if cap == (12, 0):
                pass
        """,
        "cap == (12, 0)",
        ["cap = torch.cuda.get_device_capability()", "return cap == (12, 0)"],
    ),
    "parameters and what nobody knows": (
        "def f(x, *rest, y=1, **more):\n    if x and rest and y and more:\n        pass\n",
        "x and rest and y and more",
        [f"{name} = __bw_free__('{name}')" for name in ("x", "y", "rest", "more")]
        + ["return x and rest and y and more"],
    ),
    "a loop's names": (
        "def f(xs):\n    for x in xs:\n        y = x\n        if y == 1:\n            pass\n",
        "y == 1",
        ["x = __bw_free__('x')", "y = x", "return y == 1"],
    ),
    "a name that a loop changed": (
        "def f(xs):\n    n = 0\n    for x in xs:\n        n += 1\n    if n == 1:\n        pass\n",
        "n == 1",
        ["n = __bw_free__('n')", "return n == 1"],
    ),
    "what comes after is not": (
        "def f():\n    a = 1\n    if a == 1:\n        pass\n    a = 2\n",
        "a == 1",
        ["a = 1", "return a == 1"],
    ),
    "a branch that leaves": (
        "def f(x):\n    if x:\n        return 1\n    else:\n        a = 2\n    if a == 1:\n        pass\n",
        "a == 1",
        [
            *("x = __bw_free__('x')", "a = __bw_free__('a')", "if x:", "raise __bw_NotReached__", "else:", "a = 2"),
            "return a == 1",
        ],
    ),
    "a change in place": (
        "def f():\n    a = [1]\n    a.append(2)\n    if 2 in a:\n        pass\n",
        "2 in a",
        ["a = [1]", "a.append(2)", "return 2 in a"],
    ),
    "a handler does not know what the body did": (
        "def f():\n    a = 1\n    try:\n        a = work()\n    except OSError:\n        if a == 1: pass\n",
        "a == 1",
        ["a = __bw_free__('a')", "return a == 1"],
    ),
    "a function inside another": (
        "def f(x):\n    a = x\n    def g(y):\n        b = y\n        if a == b:\n            pass\n",
        "a == b",
        ["x = __bw_free__('x')", "a = x", "y = __bw_free__('y')", "b = y", "return a == b"],
    ),
    "a method's object": (
        "class A:\n    SM = 1\n    def f(self, x):\n        if self.SM == x:\n            pass\n",
        "self.SM == x",
        ["self = __bw_self__('A', True)", "x = __bw_free__('x')", "return self.SM == x"],
    ),
    "a test behind another on its line": (
        "def f(a, b): return (1 if a == 1 else 2) if b == 1 else (3 if a == 2 else 4)\n",
        "a == 2",
        ["a = __bw_free__('a')", "return a == 2"],
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_what_stands_above(case: str, tmp_path: Path) -> None:
    source, gate, lines = KEPT[case]
    assert body(cut_out(tmp_path, source, gate)) == lines


FOLLOWED = [
    # the test, and by module the names that come along
    ("cc() == 1", {"a": {"cc"}, "helpers": {"cc", "FIRST"}, "constants": {"FIRST", "SECOND"}}),
    ("helpers.cc() == 1", {"a": {"helpers"}, "helpers": {"cc", "FIRST", "SECOND"}}),
    ("helpers.noisy() == LIMIT", {"a": {"helpers", "LIMIT"}, "helpers": {"noisy", "later", "FIRST", "SECOND"}}),
    ("helpers.deep() == 1", {"deeper": {"deep"}, "helpers": set()}),
    ("(lambda m: m.later())(helpers) == 1", {"a": {"helpers"}, "helpers": {"later", "FIRST", "SECOND"}}),
    ("helpers.changed() == 1", {"helpers": {"changed"}}),  # what functions assign is not known
    ("gone() == 1", {"a": {"gone"}}),
    ("undefined() == 1", {"a": set()}),
    ("os.environ['X'] == '1'", {"a": {"os"}}),
]


@pytest.mark.parametrize(("gate", "modules"), FOLLOWED)
def test_what_is_followed(gate: str, modules: dict[str, set[str]], tmp_path: Path) -> None:
    found = cut_out(tmp_path, f"def f():\n    if {gate}:\n        pass\n", gate)
    for module, names in modules.items():
        assert cut_names(found, f"pkg.{module}") - {"__gate__"} == names


def test_a_list_that_is_changed_comes_with_its_changes(tmp_path: Path) -> None:
    found = cut_out(tmp_path, "from .constants import LIST\nif 1 in LIST:\n    pass\n", "1 in LIST")
    assert isinstance(found, Slice)
    assert [source for source, _ in found.modules["pkg.constants"].statements] == [
        *("LIST = []", "LIST.append(OTHER)", "OTHER = 3"),
    ]


def test_of_a_block_comes_what_is_needed(tmp_path: Path) -> None:
    source = """
        if have():
            A = 1
            def limit():
                return A
            ROWS = {other: 1}
        else:
            ROWS = {}
        if limit() == 1: pass
    """
    found = cut_out(tmp_path, source, "limit() == 1")
    assert isinstance(found, Slice)
    made = {name: text for text, names in found.modules["pkg.a"].statements for name in names}
    assert made["limit"] == "if have():\n    A = 1\n\n    def limit():\n        return A"
    assert "ROWS" not in made


def test_of_a_large_class_comes_what_is_named(tmp_path: Path) -> None:
    filler = "".join(f"    def other{i}(self):\n        return work{i}()\n" for i in range(40))
    members = "    def is_new(self):\n        return self.base\n    def f(self):\n        if self.is_new(): pass\n"
    source = f"class A(Base):\n{filler}{members}"
    found = cut_out(tmp_path, source, "self.is_new()")
    assert isinstance(found, Slice)
    (made,) = (text for text, names in found.modules["pkg.a"].statements if names == ["A"])
    assert made.splitlines() == ["class A(Base, __bw_Part__):", "", "    def is_new(self):", "        return self.base"]


def test_an_attribute_that_is_assigned_once(tmp_path: Path) -> None:
    source = """
        class A:
            def __init__(self, x):
                cap = work(x)
                self.arch = cap[0]
                self.twice = 1
            def f(self):
                self.twice = 2
                if self.arch == self.twice:
                    pass
    """
    found = cut_out(tmp_path, source, "self.arch == self.twice")
    assert isinstance(found, Slice)
    made = {name: text for text, names in found.modules["pkg.a"].statements for name in names}
    assert made["__attribute_A_arch"].splitlines() == [
        "def __attribute_A_arch(self):",
        "    x = __bw_free__('x')",
        "    cap = work(x)",
        "    return cap[0]",
    ]
    assert "__attribute_A_twice" not in made


def test_a_slice_is_not_the_whole_tree(tmp_path: Path) -> None:
    chain = "".join(f"def f{i}():\n    return f{i + 1}() + 1\n" for i in range(2000))
    found = cut_out(tmp_path, f"{chain}if f0() == 1:\n    pass\n", "f0() == 1")
    assert isinstance(found, Slice)
    plan = found.modules["pkg.a"]
    assert len(plan.statements) < 700
    assert all("more of the tree than a slice may hold" in why for why in plan.missing.values())
    assert plan.missing


BROKEN = [("if cc() == 1:\n    pass\n", "no expression", "cc() =="), ("x = [1, 2]\n", "is declared", "[1, 2]")]


@pytest.mark.parametrize(("source", "reason", "gate"), BROKEN)
def test_what_cannot_be_cut(source: str, reason: str, gate: str, tmp_path: Path) -> None:
    found = cut_out(tmp_path, source, gate)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("text", ["if (\n", "x = '\0'\n", "x = " + "(" * 5000 + ")" * 5000 + "\n"])
def test_files_that_do_not_parse(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    found = cut(str(tmp_path / "a.py"), Claim("gate", "", subject="x", at=Region(1, 1, 1, 2)))
    assert isinstance(found, str)
    assert "parse" in found


def test_a_slice_is_the_same_each_time(tmp_path: Path) -> None:
    """Whatever the order of sets is, which Python draws anew in each process."""
    gate = "max(helpers.cc(), helpers.noisy(), helpers.deep(), LIST[0]) == LIMIT"
    source = "from .constants import *\n" + f"if {gate}:\n    pass\n"
    assert isinstance(cut_out(tmp_path, source, gate), Slice)
    line = IMPORTS.count("\n") + 2
    code = (
        "import sys; from bwlint.confirm.slicing.closure import cut; from bwlint.model.findings import Claim, Region\n"
        f"at = Region({line}, 4, {line}, {4 + len(gate)})\n"
        f"print(cut(sys.argv[1], Claim('gate', '', subject={gate!r}, at=at)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "pkg" / "a.py")],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(bwlint.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "3")
    }
    assert len(told) == 1 and "Slice(" in told.pop()
