"""Who gets to a gate: a leak is a note where every place of the project that leads to it keeps 12.x away."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.report.summary import beyond
from bwlint.run.check import check
from bwlint.run.request import CheckRequest, Outcome
from bwlint.world.budget import Budget

KERNEL = """
import torch

def _attend(q):
    major, minor = torch.cuda.get_device_capability()
    if major >= 10:
        import flashinfer
        return flashinfer.prefill.trtllm_ragged_attention_deepseek(q)
    return None
"""
METHOD = """
import torch
{imports}
class Backend{bases}:
    def __init__(self, runner):
        self.major = torch.cuda.get_device_capability()[0]
{init}
    def _attend(self, q):
        if self.major >= 10:
            import flashinfer
            return flashinfer.prefill.trtllm_ragged_attention_deepseek(q)
        return None
{body}
"""
SM100 = """
import torch

def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""


def method(init: str = "", body: str = "", bases: str = "", imports: str = "") -> str:
    def at(text: str, width: int) -> str:
        return "\n".join(" " * width + line for line in dedent(text).strip("\n").splitlines())

    return METHOD.format(init=at(init, 8), body=at(body, 4), bases=bases, imports=imports)


def project(folder: Path, files: dict[str, str]) -> Path:
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    for name, text in {"pkg/__init__.py": "", "pkg/sm.py": SM100, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


def run(*paths: Path, budget: int | None = None) -> Outcome:
    with ExitStack() as stack:
        return check(CheckRequest(tuple(map(str, paths)), jobs=1, select=("leak",), link_budget=budget), stack)


def severities(outcome: Outcome, end: str = "kernel.py") -> set[str]:
    return {finding.severity for finding in outcome.report.findings if finding.path.endswith(end)}


IMPORT = "from pkg.kernel import _attend\nfrom pkg.sm import is_sm100\n"
KEPT = {
    "a guard above the call": (
        "def _run(q):\n    if not is_sm100():\n        raise RuntimeError('sm100')\n    return _attend(q)\n"
    ),
    "the call in an arm": "def _run(q):\n    if is_sm100():\n        return _attend(q)\n",
    "an arm of an expression": "def _run(q):\n    return _attend(q) if is_sm100() else q\n",
    "an import in the arm": (
        "def run(q):\n    if is_sm100():\n        from pkg.kernel import _attend\n        return _attend(q)\n"
    ),
    "the call in a nested function": (
        "def run(q):\n    if is_sm100():\n        def inner():\n            return _attend(q)\n        return inner\n"
    ),
    "a lambda": "def run(q):\n    if is_sm100():\n        return lambda: _attend(q)\n",
    "passed on as a value": "def run(q):\n    if is_sm100():\n        return [_attend]\n",
    "at module level": "if is_sm100():\n    run = _attend\n",
    "a definition in an arm": "if is_sm100():\n    def run(q):\n        return _attend(q)\n",
    "through a module": "import pkg.kernel as k\ndef run(q):\n    if is_sm100():\n        return k._attend(q)\n",
    "by another name": (
        "def run(q):\n    if is_sm100():\n        from pkg.kernel import _attend as a\n        return a(q)\n"
    ),
    "two calls": (
        "def run(q):\n    if is_sm100():\n        return _attend(q)\ndef walk(q):\n"
        "    if is_sm100():\n        _attend(q)\n"
    ),
    "two levels": "def _mid(q):\n    return _attend(q)\ndef run(q):\n    if is_sm100():\n        return _mid(q)\n",
    "a declared list": (
        "from x import supported_compute_capability\n"
        "@supported_compute_capability([100, 103])\ndef run(q):\n    return _attend(q)\n"
    ),
    "a class that is built in an arm": (
        "class _Op:\n    def __call__(self, q):\n        return _attend(q)\ndef run(q):\n"
        "    if is_sm100():\n        return _Op()\n"
    ),
    "a subclass that is built in an arm": (
        "class _Op:\n    def __call__(self, q):\n        return _attend(q)\nclass _Sub(_Op):\n    pass\n"
        "def run(q):\n    if is_sm100():\n        return _Sub()\n"
    ),
    "a decorator that hands nothing on": (
        "import torch\n@torch.no_grad()\ndef _mid(q):\n    return _attend(q)\n"
        "def run(q):\n    if is_sm100():\n        return _mid(q)\n"
    ),
    "a decorator that keeps answers": (
        "import functools\n@functools.lru_cache\ndef _mid(q):\n    return _attend(q)\n"
        "def run(q):\n    if is_sm100():\n        return _mid(q)\n"
    ),
    "a class in an annotation": (
        "class _Op:\n    def __call__(self, q):\n        return _attend(q)\ndef run(q: _Op) -> _Op:\n"
        "    if is_sm100():\n"
        "        return _Op()\ndef see(q):\n    return isinstance(q, _Op)\n"
    ),
}
OPEN = {
    "nobody calls it": "",
    "another call has no guard": (
        "def run(q):\n    if is_sm100():\n        return _attend(q)\ndef walk(q):\n    return _attend(q)\n"
    ),
    "the guard lets 12.x in": (
        "import torch\ndef run(q):\n    if torch.cuda.get_device_capability()[0] >= 10:\n        return _attend(q)\n"
    ),
    "the guard is about something else": "def run(q):\n    if q.enabled:\n        return _attend(q)\n",
    "the guard is one of two": "def run(q):\n    if is_sm100() or q.forced:\n        return _attend(q)\n",
    "the guard is below": (
        "def run(q):\n    out = _attend(q)\n    if not is_sm100():\n        raise ValueError\n    return out\n"
    ),
    "the other arm": "def run(q):\n    if is_sm100():\n        return q\n    return _attend(q)\n",
    "a table of strings": "TABLE = {'attend': 'pkg.kernel:_attend'}\n",
    "a value at module level": "RUN = [_attend]\n",
    "a new name at module level": "from pkg.kernel import _attend as attend\n",
    "a decorator that may keep it": (
        "from x import register\n@register('op')\ndef run(q):\n    return _attend(q)\ndef go(q):\n"
        "    if is_sm100():\n        run(q)\n"
    ),
    "a guard that is caught": (
        "def run(q):\n    try:\n        if not is_sm100():\n            raise ImportError\n"
        "    except ImportError:\n        pass\n"
        "    return _attend(q)\n"
    ),
    "what an exception leads to": (
        "def run(q):\n    try:\n        if not is_sm100():\n            raise ImportError\n    except ImportError:\n"
        "        return _attend(q)\n"
    ),
    "a class that anybody builds": (
        "class Op:\n    def __call__(self, q):\n        return _attend(q)\ndef run(q):\n"
        "    if is_sm100():\n        return Op()\n"
        "def go():\n    return Op()\n"
    ),
    "a class that its base learns of": (
        "class Base:\n    def __init_subclass__(cls):\n        ALL.append(cls)\nclass _Op(Base):\n"
        "    def __call__(self, q):\n"
        "        return _attend(q)\ndef run(q):\n    if is_sm100():\n        return _Op()\n"
    ),
    "a cycle": "def _one(q):\n    _two(q)\n    return _attend(q)\ndef _two(q):\n    return _one(q)\n",
    "a test without a guard": "def test_it():\n    assert _attend(1)\n",
}


@pytest.mark.parametrize("name", KEPT)
def test_callers_keep_it_away(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + KEPT[name]})
    assert severities(run(folder)) == set()
    assert severities(run(folder / "pkg/kernel.py")) == set()


@pytest.mark.parametrize("name", OPEN)
def test_callers_leave_it_open(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + OPEN[name]})
    assert severities(run(folder)) == {"warning"}
    assert severities(run(folder / "pkg/kernel.py")) == {"warning"}


@pytest.mark.parametrize(
    ("name", "where", "expected"),
    [
        ("attend", "tests/test_kernel.py", {"warning"}),
        ("attend", "pkg/user.py", set()),
        ("_attend", "tests/test_kernel.py", {"warning"}),
    ],
)
def test_what_tests_alone_use_has_users_besides(tmp_path: Path, name: str, where: str, expected: set[str]) -> None:
    imports = f"from pkg.kernel import {name}\nfrom pkg.sm import is_sm100\n"
    guarded = f"{imports}def test_it():\n    if is_sm100():\n        {name}(1)\n"
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL.replace("_attend(q)", f"{name}(q)"), where: guarded})
    assert severities(run(folder)) == expected
    assert severities(run(folder / "pkg")) == expected


@pytest.mark.parametrize(("levels", "severity"), [(5, None), (25, None), (32, "warning")])
def test_callers_of_callers_are_followed_so_far(tmp_path: Path, levels: int, severity: str | None) -> None:
    between = "".join(f"def _f{number}(q):\n    return _f{number - 1}(q)\n" for number in range(1, levels))
    chain = f"_f0 = None\n{between}def run(q):\n    if is_sm100():\n        return _f{levels - 1}(q)\n"
    files = {
        "pkg/kernel.py": KERNEL,
        "pkg/user.py": IMPORT + chain.replace("_f0 = None\n", "").replace("_f0", "_attend"),
    }
    assert severities(run(project(tmp_path, files))) == ({severity} - {None})


SUBCLASS = """
class _Base:
    pass
class _Op(_Base):
    def __call__(self, q):
        return _attend(q)
def run(q):
    if is_sm100():
        return _Op()
"""


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("# _Base is for (\ndef broken(:\n", None),
        ("class _Base:\n    def broken(:\n", "warning"),
        ("class _Base:\n    def __init_subclass__(cls):\n        ALL.append(cls)\n", "warning"),
        ("from pkg.user import _Base\nALL = _Base.__subclasses__\n", "warning"),
    ],
)
def test_files_that_define_a_base_are_read(tmp_path: Path, other: str, severity: str | None) -> None:
    files = {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + SUBCLASS, "pkg/other.py": other}
    assert severities(run(project(tmp_path, files))) == ({severity} - {None})


ARM = "def _go(q):\n    if is_sm100():\n        return attend(q)\n"
OFFERED = {
    "in its package": {"pkg/__init__.py": "from .kernel import attend\n"},
    "in __all__": {"pkg/kernel.py": KERNEL.replace("_attend", "attend") + "\n__all__ = ['attend']\n"},
    "by a star": {"pkg/other.py": "from pkg.kernel import *\nprint(attend(1))\n"},
}


@pytest.mark.parametrize("name", OFFERED)
def test_what_is_offered_is_used_by_everybody(tmp_path: Path, name: str) -> None:
    own = {
        "pkg/kernel.py": KERNEL.replace("_attend", "attend"),
        "pkg/user.py": IMPORT.replace("_attend", "attend") + ARM,
    }
    (tmp_path / "own").mkdir()
    (tmp_path / "offered").mkdir()
    assert severities(run(project(tmp_path / "own", own))) == set()
    assert severities(run(project(tmp_path / "offered", {**own, **OFFERED[name]}))) == {"warning"}


METHODS = {
    "a call behind a guard": (
        method(body="def run(self, q):\n    if self.major == 10:\n        return self._attend(q)"),
        None,
    ),
    "a flag of another method": (
        method(
            init="self.fast = False",
            body="""
                def plan(self, batch):
                    device = torch.cuda.get_device_capability()[0]
                    self.fast = device == 10 and batch.small
                def run(self, q):
                    if self.fast:
                        return self._attend(q)
                """,
        ),
        None,
    ),
    "a flag that is set under a test": (
        method(
            init="self.fast = False\nif torch.cuda.get_device_capability()[0] == 10:\n    self.fast = True",
            body="def run(self, q):\n    if self.fast:\n        return self._attend(q)",
        ),
        None,
    ),
    "a flag that somebody else sets too": (
        method(
            init="self.fast = False\nif torch.cuda.get_device_capability()[0] == 10:\n    self.fast = True",
            body="def force(self):\n    self.fast = True\ndef run(self, q):\n    if self.fast:\n"
            "        return self._attend(q)",
        ),
        "warning",
    ),
    "a flag that is changed": (
        method(
            init="self.fast = 0\nif torch.cuda.get_device_capability()[0] == 10:\n    self.fast = 1",
            body="def more(self):\n    self.fast += 1\ndef run(self, q):\n    if self.fast:\n"
            "        return self._attend(q)",
        ),
        "warning",
    ),
    "a name that is put together": (
        method(
            body="def run(self, q):\n    if self.major == 10:\n        return self._attend(q)\n"
            "def any(self, kind):\n    return getattr(self, f'_att{kind}')"
        ),
        "warning",
    ),
    "a call without a guard": (method(body="def run(self, q):\n    return self._attend(q)"), "warning"),
    "a method that a library calls": (
        method(bases="(Module)", imports="from torch.nn import Module").replace("_attend", "forward")
        + "\ndef go(b, q):\n    if torch.cuda.get_device_capability()[0] == 10:\n        return b.forward(q)\n",
        "warning",
    ),
    "a class that is built behind a guard": (
        method().replace("Backend", "_Backend")
        + "\ndef go(r):\n    if torch.cuda.get_device_capability()[0] == 10:\n        return _Backend(r)\n",
        None,
    ),
    "a class that is registered": (
        method().replace("Backend", "_Backend").replace("class ", "@register('x')\nclass ")
        + "\ndef go(r):\n    if torch.cuda.get_device_capability()[0] == 10:\n        return _Backend(r)\n",
        "warning",
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(tmp_path: Path, name: str) -> None:
    text, expected = METHODS[name]
    assert severities(run(project(tmp_path, {"pkg/kernel.py": text}))) == {expected} - {None}


def test_what_is_out_of_reach_is_counted(tmp_path: Path) -> None:
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + KEPT["the call in an arm"]})
    assert run(folder / "pkg/kernel.py").report.stats["unreached"] == 1


MADE = {
    "made on 10.x alone": ("raise ValueError('no')", None),
    "made everywhere": ("print('no')", "warning"),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("making", ["__init__", "__post_init__"])
def test_methods_run_where_their_object_can_be_made(tmp_path: Path, name: str, making: str) -> None:
    refusal, severity = MADE[name]
    text = f"""
import torch

class Backend:
    def {making}(self):
        if torch.cuda.get_device_capability()[0] != 10:
            {refusal}

    def attend(self, q):
        if torch.cuda.get_device_capability()[0] >= 10:
            import flashinfer
            return flashinfer.prefill.trtllm_ragged_attention_deepseek(q)
        return None
"""
    assert severities(run(project(tmp_path, {"pkg/kernel.py": text}))) == {severity} - {None}


CIRCLE = """
def _one(q):
    return _two(q)
def _two(q):
    _one(q)
    return _attend(q)
def {entry}(q):
    if is_sm100():
        return _one(q)
"""


@pytest.mark.parametrize("entry", ["run", "_unused"])
def test_round_a_circle_nobody_gets_in(tmp_path: Path, entry: str) -> None:
    files = {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + CIRCLE.format(entry=entry)}
    folder = project(tmp_path, files)
    assert severities(run(folder)) == severities(run(folder / "pkg/kernel.py")) == set()


def test_a_file_of_no_project_is_alone(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "user.py").write_text("from kernel import _attend\n" + SM100 + KEPT["the call in an arm"])
    assert severities(run(tmp_path)) == {"warning"}


def test_where_the_budget_ends_nobody_is_known(tmp_path: Path) -> None:
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + KEPT["the call in an arm"]})
    outcome = run(folder / "pkg/kernel.py", budget=0)
    assert severities(outcome) == {"warning"}
    assert "--link-budget" in beyond(outcome.report)
    assert beyond(run(folder / "pkg/kernel.py").report) == ""


def test_everybody_calls_everybody(tmp_path: Path) -> None:
    names = [f"_f{number}" for number in range(18)]
    calls = "\n".join(f"    if torch.cuda.get_device_capability() != (12, 1):\n        {name}(q)" for name in names)
    text = "import torch\n" + IMPORT + "\n".join(f"def {name}(q):\n    _attend(q)\n{calls}" for name in names)
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": text})
    assert severities(run(folder)) == {"warning"}


def test_a_file_that_nobody_can_read(tmp_path: Path) -> None:
    folder = project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + KEPT["the call in an arm"]})
    (folder / "pkg/broken.py").write_text("_attend(" * 3)
    assert severities(run(folder)) == {"warning"}
    (folder / "pkg/broken.py").write_text("x = " + "-" * 5000 + "_attend")
    assert severities(run(folder)) == {"warning"}


def test_the_budget_counts_each_file_once() -> None:
    budget = Budget(1, frozenset({"/given"}))
    assert [budget.allows(real) for real in ("/given", "/a", "/a", "/b", "/given")] == [True, True, True, False, True]
    assert budget.ended
    assert budget.refused == {"/b"}


@pytest.mark.parametrize(
    ("decorator", "severity"),
    [
        ("lru_cache", None),
        ("functools.wraps(print)", None),
        ("torch.no_grad()", None),
        ("torch.compile", None),
        ("typing.runtime_checkable", None),
        ("torch.enable_grad()", None),
        ("kept_somewhere", "warning"),
        ("registry.add('attend')", "warning"),
    ],
)
def test_decorators_that_hand_nothing_on(tmp_path: Path, decorator: str, severity: str | None) -> None:
    user = (
        f"@{decorator}\ndef _mid(q):\n    return _attend(q)\ndef run(q):\n    if is_sm100():\n        return _mid(q)\n"
    )
    assert severities(run(project(tmp_path, {"pkg/kernel.py": KERNEL, "pkg/user.py": IMPORT + user}))) == (
        {severity} - {None}
    )
