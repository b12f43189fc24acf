"""Gates run by CPython on simulated chips, beside what the interpreter says of them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import gate_agreement
import pytest

from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs import evaluate
from bwlint.confirm.slicing import seccomp
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Claim, Finding, Region

pytestmark = pytest.mark.skipif(seccomp.unavailable() is not None, reason="there is no filter of system calls here")

PRELUDE = """import functools
import os
import torch
from enum import IntEnum
from typing import NamedTuple
from vllm.platforms import current_platform
CAP = torch.cuda.get_device_capability()
NAMED = current_platform.get_device_capability()
"""
HELPERS = {
    "pkg/__init__.py": "",
    "pkg/helpers.py": """from .deeper import *
from . import constants
import torch

def cc(device=None):
    major, minor = torch.cuda.get_device_capability(device)
    return major * 10 + minor

def is_newer_than_hopper():
    return cc() > constants.HOPPER

def skip_if_not_sm100():
    import pytest
    if torch.cuda.get_device_capability()[0] < 10:
        pytest.skip("old")
""",
    "pkg/deeper.py": "import torch\n\ndef is_sm12x():\n    return torch.cuda.get_device_capability()[0] == 12\n",
    "pkg/constants.py": "HOPPER = 90\nFAMILY = {12: 'sm_120', 10: 'sm_100'}\n",
}

AGREE = {
    # what is asked, directly
    "a tuple": ("if CAP == (12, 0): pass", "CAP == (12, 0)"),
    "a tuple beside a number": ("if CAP >= 12: pass", "CAP >= 12"),
    "a named tuple beside a number": ("if NAMED in [120, 121]: pass", "NAMED in [120, 121]"),
    "a named tuple beside a tuple": ("if NAMED >= (10, 0): pass", "NAMED >= (10, 0)"),
    "its parts": ("if NAMED.major == 12 and NAMED.minor: pass", "NAMED.major == 12 and NAMED.minor"),
    "its number": ("if NAMED.to_int() == 121: pass", "NAMED.to_int() == 121"),
    "a question to the platform": (
        "if current_platform.has_device_capability(100) and not current_platform.is_device_capability((12, 0)): pass",
        "current_platform.has_device_capability(100) and (not current_platform.is_device_capability((12, 0)))",
    ),
    "a family": (
        "if current_platform.is_device_capability_family(120): pass",
        "current_platform.is_device_capability_family(120)",
    ),
    "properties": ("if torch.cuda.get_device_properties(0).major == 12: pass", ""),
    "text": ("if f'sm_{CAP[0]}{CAP[1]}' in ('sm_120', 'sm_90'): pass", ""),
    # what stands above
    "a local name": (
        "def f():\n    major, minor = CAP\n    if major * 10 + minor == 120: pass",
        "major * 10 + minor == 120",
    ),
    "a branch": (
        "def f(x):\n    if x:\n        cap = CAP\n    else:\n        cap = NAMED\n    if cap == (12, 0): pass",
        "cap == (12, 0)",
    ),
    "a branch that leaves": (
        "def f(x):\n    if CAP[0] < 10:\n        return 0\n    else:\n        major = CAP[0]\n    if major == 12: pass",
        "major == 12",
    ),
    "a name on the way": ("def f():\n    if (m := CAP[0]) > 8:\n        if m == 12: pass", "m == 12"),
    "a function inside": ("def f():\n    cap = CAP\n    def g():\n        if cap == (12, 0): pass", "cap == (12, 0)"),
    "a lambda": ("f = lambda x: 1 if CAP[0] == 12 and x else 0", "CAP[0] == 12 and x"),
    "an element": ("y = [1 if CAP[0] == 12 and x else 0 for x in range(3)]", "CAP[0] == 12 and x"),
    "a default": ("def f(x=1 if CAP[0] == 12 else 2): pass", "CAP[0] == 12"),
    "a decorator": (
        "import pytest\nclass TestA:\n    @pytest.mark.skipif(CAP[0] != 12, reason='no')\n    def test_a(self): pass",
        "CAP[0] != 12",
    ),
    "a try": (
        "def f():\n    try:\n        cap = CAP\n    except OSError:\n        cap = (0, 0)\n    if cap == (12, 0): pass",
        "cap == (12, 0)",
    ),
    # helpers
    "a helper of another file": ("from pkg.helpers import cc\nif cc() == 120: pass", "cc() == 120"),
    "a module's attribute": ("import pkg.helpers as h\nif h.cc(0) in (120, 121): pass", "h.cc(0) in (120, 121)"),
    "a helper of a helper": (
        "from pkg import helpers\nif not helpers.is_newer_than_hopper(): pass",
        "not helpers.is_newer_than_hopper()",
    ),
    "a name by a star": ("from pkg.helpers import is_sm12x\nif is_sm12x(): pass", "is_sm12x()"),
    "an import in a function": ("def f():\n    from pkg.helpers import cc\n    if cc() >= 100: pass", "cc() >= 100"),
    "a cached helper": (
        "@functools.lru_cache(maxsize=1)\ndef sm_major(device):\n    return CAP[0]\n\ndef f(x):\n"
        "    if sm_major(x.device) == 12: pass",
        "sm_major(x.device) == 12",
    ),
    "an enum of the tree": (
        "class Sm(IntEnum):\n    HOPPER = 90\n    BLACKWELL = 100\n\nif CAP[0] * 10 >= Sm.BLACKWELL: pass",
        "CAP[0] * 10 >= Sm.BLACKWELL",
    ),
    "a class of the tree": (
        "class DeviceCapability(NamedTuple):\n    major: int\n    minor: int\n\n"
        "def cap() -> 'DeviceCapability':\n    return DeviceCapability(*CAP)\n\nif cap()[0] == 12: pass",
        "cap()[0] == 12",
    ),
    "an attribute that is assigned once": (
        "class A:\n    def __init__(self, x):\n        cap = CAP\n        self.is_sm12x = cap[0] == 12\n"
        "    def f(self, y):\n        if self.is_sm12x and y: pass",
        "self.is_sm12x and y",
    ),
    "a method and a constant": (
        "class A:\n    LEAST = (10, 0)\n    def ok_sm(self):\n        return CAP >= self.LEAST\n"
        "    def f(self):\n        if not self.ok_sm(): pass",
        "not self.ok_sm()",
    ),
    "an enum of a kernel language": (
        "from cutlass.base_dsl import Arch\narch = BaseDSL._get_dsl().get_arch_enum()\nif arch >= Arch.sm_100f: pass",
        "",
    ),
    # what nobody knows
    "an argument": ("def f(enabled):\n    if CAP[0] == 12 and enabled: pass", "CAP[0] == 12 and enabled"),
    "two arguments": ("def f(a, b):\n    if a or (CAP[0] == 12 and not b): pass", "a or (CAP[0] == 12 and (not b))"),
    "a shape": (
        "def f(x):\n    if x.shape[-1] % 128 == 0 and CAP[0] >= 10: pass",
        "x.shape[-1] % 128 == 0 and CAP[0] >= 10",
    ),
    "the environment": (
        "if os.environ.get('FORCE', '0') == '1' or CAP == (12, 1): pass",
        "os.environ.get('FORCE', '0') == '1' or CAP == (12, 1)",
    ),
    "something that may be None": ("def f(x):\n    if x is None or CAP[0] == 12: pass", "x is None or CAP[0] == 12"),
    "a package that is not here": ("import deep_gemm\nif deep_gemm.works() and CAP[0] == 9: pass", ""),
    "a release that is assumed": ("if CAP[0] == 12 and torch.version.cuda >= '12.8': pass", ""),
    "another maker's device": (
        "def is_xpu():\n    return hasattr(torch, 'xpu') and torch.xpu.is_available()\n\n"
        "if is_xpu() or CAP == (12, 0): pass",
        "is_xpu() or CAP == (12, 0)",
    ),
    "what a helper cannot find out here": (
        "def is_cuda():\n    return os.path.exists('/dev/nvidia0')\n\nif is_cuda() and CAP == (12, 0): pass",
        "is_cuda() and CAP == (12, 0)",
    ),
    # other kinds of gates
    "a lookup": ("from pkg.constants import FAMILY\nx = FAMILY[CAP[0]]", "CAP[0] in FAMILY"),
    "a lookup with a default": ("from pkg.constants import FAMILY\nx = FAMILY.get(CAP[0], '')", "CAP[0] in FAMILY"),
    "a helper that skips": (
        "from pkg.helpers import skip_if_not_sm100\n\ndef test_capability():\n    skip_if_not_sm100()\n    run()",
        "skip_if_not_sm100()",
    ),
}
UNDECIDED = {
    "a name like a device's": ("def f(major):\n    if major == 12: pass", "like a device"),
    "a value of an unknown call": ("arch = device_arch()\nif arch == 120: pass", "like a device"),
    "the name of an architecture": (
        "def f(backend):\n    if backend in ('100', '120'): pass",
        "name of an architecture",
    ),
    "too many values": (
        "def f(a, b, c, d, e, g, h):\n    if sum(map(bool, (a, b, c, d, e, g, h))) > 3 and CAP[0] == 12: pass",
        "combinations",
    ),
    "a loop over something unknown": (
        "def any_of(xs):\n    return any(CAP == x for x in xs)\n\ndef f(xs):\n    if any_of(xs) and CAP[0] == 12: pass",
        "more than its truth",
    ),
    "a class without its base": (
        "class A(torch.nn.Module):\n    def cap_ok(self, x):\n        return self(x)\n    def f(self, x):\n"
        "        if self.cap_ok(x) and CAP[0] == 12: pass",
        "only a part",
    ),
    "a file": (
        "def sm_file():\n    return open('/etc/passwd').read()\n\nif sm_file() and CAP[0] == 12: pass",
        "`open`",
    ),
    "a list that a loop fills": (
        "def f(items):\n    known = []\n    for each in items:\n        known.append(each)\n"
        "    if CAP[0] == 12 and len(known) == 0: pass",
        "a loop fills",
    ),
    "no end": ("def sm_loop():\n    while True:\n        pass\n\nif sm_loop() or CAP[0] == 12: pass", "not done after"),
    "too deep": ("def sm_deep(n):\n    return sm_deep(n + 1)\n\nif sm_deep(0) or CAP[0] == 12: pass", "RecursionError"),
    "too large": ("def sm_big():\n    return 'x' * (1 << 31)\n\nif sm_big() and CAP[0] == 12: pass", "MemoryError"),
}


def tree(folder: Path, source: str) -> str:
    # the comment makes the reader look at a line whatever it says
    lines = "".join(f"{line}  # sm_120\n" for line in source.split("\n"))
    for name, text in {**HELPERS, "example.py": f"{PRELUDE}\n{lines}", "pyproject.toml": ""}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder / "example.py")


def claims(real: str) -> list[Claim]:
    with ExitStack() as stack:
        return [claim for _, claim, _ in gate_agreement.claims(real, stack)]


def world(folder: Path, *devices: str, limit: float = 20.0) -> Workbench:
    scratch = folder / "scratch"
    scratch.mkdir()
    found = tuple(Device(0, "a GPU", "", capability, "13.0") for capability in devices)
    return Workbench(scratch, devices=found, may_slice=True, limit=limit)


def attempt(real: str, claim: Claim, given: Workbench) -> Attempt:
    finding = Finding(
        rule="",
        name="",
        category="other",
        severity="note",
        confidence="low",
        path=real,
        region=Region(1, 1, 1, 1),
        message="",
        claims=(claim,),
    )
    return evaluate.attempt(Subject(finding, claim, real, ""), given)


@pytest.mark.parametrize("case", AGREE)
def test_the_interpreter_agrees(case: str, tmp_path: Path) -> None:
    source, subject = AGREE[case]
    real = tree(tmp_path, source)
    claim = next(claim for claim in reversed(claims(real)) if not subject or claim.subject == subject)
    found = attempt(real, claim, world(tmp_path))
    assert (found.outcome, found.executed) == ("confirmed", True), found.reason


@pytest.mark.parametrize("case", UNDECIDED)
def test_nothing_is_decided(case: str, tmp_path: Path) -> None:
    source, reason = UNDECIDED[case]
    real = tree(tmp_path, source)
    found = attempt(real, claims(real)[-1], world(tmp_path, limit=1.0 if case == "no end" else 20.0))
    assert (found.outcome, found.eligible, found.executed) == ("inconclusive", True, True)
    assert reason in found.reason


def test_what_callers_hand_on_is_not_simulated(tmp_path: Path) -> None:
    real = tree(tmp_path, "def f(fast):\n    if fast: pass\n\nf(CAP[0] >= 9)")
    claim = next(claim for claim in claims(real) if claim.subject == "fast")
    found = attempt(real, claim, world(tmp_path))
    assert (found.outcome, found.reason) == ("inconclusive", "the arguments of `fast` are not simulated")


CHIPS = ("9.0", "12.0", "12.1")
WRONG = [
    # the gate, what is claimed (holds, certain, raises), and what CPython says
    ("CAP == (12, 0)", (("12.0", "12.1"), ("12.0", "12.1"), ()), "false on 12.1, where true was claimed"),
    ("CAP == (12, 0)", (("12.0", "12.1"), ("12.0",), ()), "false on 12.1, where true or false was claimed"),
    ("CAP == (12, 0)", ((), (), ()), "true on 12.0, where false was claimed"),
    (
        "CAP[0] == 12 and enabled",
        (("12.0", "12.1"), ("12.0", "12.1"), ()),
        "true or false on 12.0 and 12.1, where true",
    ),
    ("CAP[0] == 12 or enabled", (("12.0", "12.1"), ("12.0", "12.1"), ()), "true or false on 9.0, where false"),
    ("CAP >= 9", (CHIPS, CHIPS, ()), "raises: TypeError"),
    ("CAP >= (9, 0)", ((), (), CHIPS), "true on 9.0 and 12.0 and 12.1, where raises was claimed"),
    ("CAP[0] >= 9 and False", (CHIPS, (), ()), "false on 9.0 and 12.0 and 12.1, where true or false was claimed"),
]
RIGHT = [
    ("CAP == (12, 0)", (("12.0",), ("12.0",), ())),
    ("CAP == (12, 0)", (("12.0",), (), ())),  # said to be open, and decided by CPython: nothing in it is wrong
    ("CAP[0] == 12 and enabled", (("12.0", "12.1"), (), ())),
    ("CAP[0] == 12 or enabled", (CHIPS, ("12.0", "12.1"), ())),
    ("CAP >= 9", ((), (), CHIPS)),
]


def stated(real: str, gate: str, sets: tuple[tuple[str, ...], ...]) -> Claim:
    lines = Path(real).read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if f"if {gate}:" in text)
    column = lines[line - 1].index(gate) + 1
    holds, certain, raises = sets
    at = Region(line, column, line, column + len(gate))
    return Claim("gate", "the test is so", CHIPS, (), holds, certain, raises, gate, at=at)


@pytest.mark.parametrize(("gate", "sets", "reason"), WRONG)
def test_a_wrong_claim(gate: str, sets: tuple[tuple[str, ...], ...], reason: str, tmp_path: Path) -> None:
    real = tree(tmp_path, f"def f(enabled):\n    if {gate}: pass")
    found = attempt(real, stated(real, gate, sets), world(tmp_path))
    assert found.outcome == "refuted"
    assert reason in found.reason
    assert set(found.details["outcomes"]) == set(CHIPS)


@pytest.mark.parametrize(("gate", "sets"), RIGHT)
def test_a_right_claim(gate: str, sets: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    real = tree(tmp_path, f"def f(enabled):\n    if {gate}: pass")
    assert attempt(real, stated(real, gate, sets), world(tmp_path)).outcome == "confirmed"


def test_the_device_that_is_here_is_shown(tmp_path: Path) -> None:
    real = tree(tmp_path, "if CAP == (12, 0): pass")
    claim = replace(claims(real)[-1], chips=("12.0", "12.1"), holds=("12.0",), certain=("12.0",))
    found = attempt(real, claim, world(tmp_path, "8.0", "99.0"))
    outcomes = found.details["outcomes"]
    assert outcomes["8.0"] == {"claimed": None, "cpython": ["false"], "undecided": "", "runs": outcomes["8.0"]["runs"]}
    assert list(outcomes) == ["12.0", "12.1", "8.0"]


def test_a_chip_that_does_not_get_there(tmp_path: Path) -> None:
    real = tree(tmp_path, AGREE["an enum of a kernel language"][0])
    claim = claims(real)[-1]
    found = attempt(real, replace(claim, chips=("7.0", "12.0"), holds=("12.0",), certain=("12.0",)), world(tmp_path))
    assert found.outcome == "confirmed"
    assert "on 12.0, where the program gets to it" in found.reason
    nowhere = replace(claim, chips=("7.0",), holds=(), certain=())
    again = attempt(real, nowhere, Workbench(tmp_path, may_slice=True))
    assert (again.outcome, again.reason) == ("inconclusive", "the program does not get to the test")


def test_what_is_taken_for_granted_is_said(tmp_path: Path) -> None:
    real = tree(tmp_path, AGREE["a release that is assumed"][0])
    assert attempt(real, claims(real)[-1], world(tmp_path)).details["assumed"] == ["torch.version.cuda is 13.0"]


def test_what_is_not_asked_for_does_not_run(tmp_path: Path) -> None:
    real = tree(tmp_path, "if CAP == (12, 0): pass")
    given = replace(world(tmp_path), may_slice=False)
    found = attempt(real, claims(real)[-1], given)
    assert (found.requested, found.executed, found.outcome) == (False, False, None)
    assert "--run-slices" in found.reason


NOT_ELIGIBLE = [
    ("ARCHS = ['sm_100', 'sm_120']", lambda claim: claim, "the list is declared"),
    ("class A:\n    def get_min_capability(self):\n        return 90", lambda claim: claim, "a bound is declared"),
    ("if CAP == (12, 0): pass", lambda claim: replace(claim, subject="CAP == (12, 1)"), "another text"),
    ("if CAP == (12, 0): pass", lambda claim: replace(claim, at=Region(1, 1, 1, 2)), "no expression"),
    ("if CAP == (12, 0): pass", lambda claim: replace(claim, at=Region(99, 1, 99, 2)), "no expression"),
    ("if CAP == (12, 0): pass", lambda claim: replace(claim, at=None), "no place"),
]


@pytest.mark.parametrize(("source", "change", "reason"), NOT_ELIGIBLE)
def test_what_cannot_be_cut_is_not_eligible(source: str, change: object, reason: str, tmp_path: Path) -> None:
    real = tree(tmp_path, source)
    claim = change(claims(real)[-1])  # type: ignore[operator]
    found = attempt(real, claim, world(tmp_path))
    assert (found.requested, found.eligible, found.executed, found.outcome) == (True, False, False, None)
    assert reason in found.reason


@pytest.mark.parametrize(("name", "reason"), [("a.py", "only with --run-slices"), ("kernel.cu", "not Python")])
def test_a_flag_is_asked_for_where_it_would_help(name: str, reason: str, tmp_path: Path) -> None:
    real = tmp_path / name
    real.write_text("")
    claim = Claim("gate", "", ("12.0",), subject="major == 12", at=Region(1, 1, 1, 2))
    found = attempt(str(real), claim, replace(world(tmp_path), may_slice=False))
    assert (found.requested, found.eligible, found.executed, found.outcome) == (False, False, False, None)
    assert reason in found.reason


@pytest.mark.parametrize(("name", "reason"), [("gone.py", "not readable"), ("kernel.cu", "not Python")])
def test_a_file_that_is_none(name: str, reason: str, tmp_path: Path) -> None:
    real = tree(tmp_path, "if CAP == (12, 0): pass")
    found = attempt(str(tmp_path / name), claims(real)[-1], world(tmp_path))
    assert (found.eligible, found.outcome) == (False, None)
    assert reason in found.reason


def test_a_machine_without_a_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tree(tmp_path, "if CAP == (12, 0): pass")
    claim, given = claims(real)[-1], world(tmp_path)
    monkeypatch.setattr("bwlint.confirm.slicing.seccomp.sys.platform", "darwin")
    found = attempt(real, claim, given)
    assert (found.eligible, found.executed, found.outcome) == (False, False, None)
    assert "darwin" in found.reason
