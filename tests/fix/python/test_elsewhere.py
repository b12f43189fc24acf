"""Tests that hand on what a helper or a flag decides: bounded there, or beside the call where others need it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.fix.edited import apply

from .conftest import Project

KERNELS = """\
from cutlass.cute.nvgpu import tcgen05


def kernel():
    tcgen05.mma()


def other():
    pass
"""
UTIL = """\
import torch


def is_sm_at_least_100():
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (10, 0)


def sm100_or_later(x):
    return torch.cuda.get_device_capability(x.device) >= (10, 0)
"""
HEAD = "import pytest\nimport torch\n\nfrom kernels import kernel, other\n"
HELPED = "from util import is_sm_at_least_100, sm100_or_later\n\n\n"


def of_test(project: Project, source: str) -> tuple[list[tuple[str, str]], list[str]]:
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "tests/test_m.py": source})
    return found.fixes("test-gate"), found.refusals("test-gate")


def _bare(text: str) -> str:
    """A text without what a formatter puts into it."""
    return "".join(text.split()).replace(",)", ")")


SKIPPING = """

def _skip_if_unavailable():
    if torch.cuda.get_device_capability()[0] < 10:
        pytest.skip("the fused path requires SM100+ (Blackwell or later)")


def test_one():
    _skip_if_unavailable()
    kernel()
"""
ANSWERING = """

def is_fused():
    \"\"\"Whether this device is SM100+.\"\"\"
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor >= 100


FUSED = is_fused()


@pytest.mark.skipif(not FUSED, reason="needs SM100+")
def test_one():
    kernel()
"""
AT_LEAST = """

def sm100_or_newer():
    major, _ = torch.cuda.get_device_capability()
    return major >= 10


@pytest.mark.skipif(not sm100_or_newer(), reason="needs SM100+")
def test_one():
    kernel()
"""
TWO = """

def is_sm100_available():
    return torch.cuda.get_device_capability()[0] >= 10


@pytest.mark.skipif(not is_sm100_available(), reason="needs SM100+")
def test_one():
    kernel()


@pytest.mark.skipif(not is_sm100_available(), reason="old")
def test_two():
    other()
"""


@pytest.mark.parametrize(
    ("before", "changes", "how"),
    [
        (
            SKIPPING,
            {
                "get_device_capability()[0] < 10": "get_device_capability()[0] not in (10, 11)",
                "SM100+ (Blackwell or later)": "SM10x or SM110",
            },
            "safe",
        ),
        (
            ANSWERING,
            {
                "major * 10 + minor >= 100": "100 <= major * 10 + minor < 120",
                "SM100+": "SM10x or SM110",
            },
            "safe",
        ),
        (  # the name says that later chips pass
            AT_LEAST,
            {
                "not sm100_or_newer(), reason": "not sm100_or_newer() or torch.cuda.get_device_capability() >= (12, 0),"
                " reason",
                '"needs SM100+"': '"needs SM10x or SM110"',
            },
            "safe",
        ),
        (  # somebody else asks it who needs nothing of the kind
            TWO,
            {
                'not is_sm100_available(), reason="needs': "not is_sm100_available() or"
                ' torch.cuda.get_device_capability() >= (12, 0), reason="needs',
                '"needs SM100+"': '"needs SM10x or SM110"',
            },
            "safe",
        ),
        (
            SKIPPING.replace("SM100+ (Blackwell or later)", "a newer card"),
            {"get_device_capability()[0] < 10": "get_device_capability()[0] not in (10, 11)"},
            "safe",
        ),
    ],
)
def test_bound_where_it_is_decided(project: Project, before: str, changes: dict[str, str], how: str) -> None:
    after = HEAD + before
    for old, new in changes.items():
        assert old in after
        after = after.replace(old, new)
    fixes, refusals = of_test(project, HEAD + before)
    assert [(one, _bare(text)) for one, text in fixes] == [(how, _bare(after))]
    assert refusals == []


LIBRARY = "import torch\n\nfrom kernels import kernel, other\nfrom util import is_sm_at_least_100, sm100_or_later\n\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def run(x):\n    if not is_sm_at_least_100():\n        raise ValueError('needs SM100+')\n    kernel()\n",
            "def run(x):\n    if not is_sm_at_least_100() or torch.cuda.get_device_capability() >= (12, 0):\n"
            "        raise ValueError('needs SM10x or SM110')\n    kernel()\n",
        ),
        (
            "def run(x):\n    if is_sm_at_least_100() and x:\n        kernel()\n    else:\n        other()\n",
            "def run(x):\n    if is_sm_at_least_100() and torch.cuda.get_device_capability() < (12, 0) and x:\n"
            "        kernel()\n    else:\n        other()\n",
        ),
        (  # what is given to the helper is given to the device
            "def run(y):\n    if sm100_or_later(y):\n        kernel()\n    else:\n        other()\n",
            "def run(y):\n    if sm100_or_later(y) and torch.cuda.get_device_capability(y.device) < (12, 0):\n"
            "        kernel()\n    else:\n        other()\n",
        ),
    ],
)
def test_capability_beside_a_helper_of_another_file(project: Project, before: str, after: str) -> None:
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "m.py": LIBRARY + before})
    assert [text for _, text in found.fixes("leak")] == [LIBRARY + after]


BODY = "def run(x):\n    if not is_sm_at_least_100():\n        raise ValueError('old')\n    kernel()\n"
BARE = LIBRARY.replace("import torch\n\n", "")


def test_capability_is_brought_along(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "m.py": BARE + BODY}).fixes("leak")
    after = BODY.replace("100():", "100() or torch.cuda.get_device_capability() >= (12, 0):")
    assert [text for _, text in found] == [f"import torch\n{BARE}{after}"]


def test_no_capability_at_hand(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "m.py": f"{BARE}torch = None\n\n\n{BODY}"})
    assert found.fixes("leak") == []
    assert found.refusals("leak") == [
        "`is_sm_at_least_100` (util.py:5) decides this, and other files use it too: add a check of the capability here"
    ]


PARTLY = """

@pytest.mark.parametrize("fast", [False, True])
def test_one(fast):
    if {}torch.cuda.get_device_capability()[0] < 10:
        pytest.skip("this needs a newer card")
    kernel()
"""


@pytest.mark.parametrize(("condition", "how"), [("fast and ", ""), ("fast or ", "safe"), ("", "safe")])
def test_skip_under_another_condition(project: Project, condition: str, how: str) -> None:
    fixes, _ = of_test(project, HEAD + PARTLY.format(condition))
    assert [one for one, _ in fixes] == [how] * bool(how)


FIXTURE = """

@pytest.fixture(params=[False, True])
def early(request):
    if {}torch.cuda.get_device_capability()[0] < 10:
        pytest.skip("an early launch requires SM100+")
    return request.param


def test_one(early):
    kernel()
"""


@pytest.mark.parametrize(("condition", "refused"), [("request.param and ", True), ("", False)])
def test_skip_of_one_value_of_a_fixture(project: Project, condition: str, refused: bool) -> None:
    fixes, refusals = of_test(project, HEAD + FIXTURE.format(condition))
    assert bool(fixes) is not refused
    assert any("one value of a fixture's parameter" in one for one in refusals) is refused


ON_CPU = UTIL.replace("return torch.cuda.is_available() and", "return not torch.cuda.is_available() or", 1)
EARLY = UTIL.replace(
    "    return torch.cuda.is_available() and",
    "    if not torch.cuda.is_available():\n        return True\n    return",
    1,
)


@pytest.mark.parametrize(("util", "bounded"), [(UTIL, True), (ON_CPU, False), (EARLY, False)])
def test_nothing_is_asked_of_a_machine_without_a_gpu(project: Project, util: str, bounded: bool) -> None:
    found = project({"kernels.py": KERNELS, "util.py": util, "m.py": LIBRARY + BODY})
    assert bool(found.fixes("leak")) is bounded


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("with mock.patch('m.is_sm_at_least_100', return_value=True):", True),
        ("monkeypatch.setattr(m, 'is_sm_at_least_100', lambda: True)", True),
        ("with mock.patch('m.other'):", False),
        ("with mock.patch('torch.cuda.get_device_capability', return_value=(9, 0)):", False),
        ("assert m.is_sm_at_least_100()", False),
    ],
)
def test_helper_that_a_test_answers_for(project: Project, line: str, refused: bool) -> None:
    test = f"from unittest import mock\n\nimport m\n\n\ndef test_run(monkeypatch):\n    {line}\n"
    test += "        m.run(1)\n" if line.endswith(":") else "    m.run(1)\n"
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "m.py": LIBRARY + BODY, "tests/test_m.py": test})
    assert bool(found.fixes("leak")) is not refused
    said = "test_m.py:7 patches `is_sm_at_least_100`, on a machine without a GPU too: bound it where it is decided"
    assert found.refusals("leak") == ([said] if refused else [])


SKIPPING_TWO = SKIPPING + "\n\ndef test_two():\n    _skip_if_unavailable()\n    other()\n"


@pytest.mark.parametrize(
    ("name", "bounded"),
    [("_skip_if_not_sm100", True), ("_skip_if_unavailable", True), ("_skip_if_older_than_sm100", False)],
)
def test_helper_that_skips_tests_of_which_nothing_is_known(project: Project, name: str, bounded: bool) -> None:
    fixes, _ = of_test(project, HEAD + SKIPPING_TWO.replace("_skip_if_unavailable", name))
    assert [how for how, _ in fixes] == ["unsafe"] * bounded
    assert all("[0] not in (10, 11)" in text for _, text in fixes)


def test_helper_that_skips_more_of_which_nothing_is_known_than_of_what_fails(project: Project) -> None:
    third = "\n\ndef test_three():\n    _skip_if_unavailable()\n    another()\n"
    assert of_test(project, HEAD + SKIPPING_TWO + third)[0] == []


METHOD = """\
import torch


class Platform:
    @classmethod
    def capability(cls):
        return torch.cuda.get_device_capability()

    @classmethod
    def is_newer(cls):
        return cls.capability() >= (10, 0)


current = Platform()
"""
PLATFORM = "from kernels import kernel\nfrom platforms import current\n\n\ndef run():\n    if not current.is_newer():\n"
PLATFORM += "        raise ValueError('old')\n    kernel()\n"


def test_capability_of_the_object_that_is_asked(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "platforms.py": METHOD, "m.py": PLATFORM}).fixes("leak")
    after = PLATFORM.replace("is_newer():", "is_newer() or current.capability() >= (12, 0):")
    assert [text for _, text in found] == [after]


OWN = "import torch\n\nfrom kernels import kernel, other\n\n\ndef run():\n"
OWN += "    major = torch.cuda.get_device_capability()[0]\n    if major >= 10:\n"


@pytest.mark.parametrize(
    "body",
    [
        "        if major == 12:\n            other()\n        kernel()\n",
        "        size = other() if major == 12 else 1\n        kernel(size)\n",
    ],
)
def test_never_away_from_an_arm_of_their_own(project: Project, body: str) -> None:
    found = project({"kernels.py": KERNELS, "m.py": f"{OWN}{body}    else:\n        other()\n"})
    assert found.fixes("leak") == []
    assert found.refusals("leak") == ["the bound would cut off the path for 12.x at m.py:9"]


@pytest.mark.parametrize(
    "body",
    [
        "        kernel()\n",
        "        if major == 12:\n            raise ValueError('no')\n        kernel()\n",
    ],
)
def test_without_such_an_arm(project: Project, body: str) -> None:
    found = project({"kernels.py": KERNELS, "m.py": f"{OWN}{body}    else:\n        other()\n"})
    assert all("path of its own" not in one for one in found.refusals("leak"))


@pytest.mark.parametrize(
    ("comment", "refused"),
    [
        ("# Do not widen: the cubins are built per part.", True),
        ("# not validated on SM121", True),
        ("# SM121 is untested", True),
        ("# consumer Blackwell", False),
    ],
)
def test_comment_at_the_origin(project: Project, comment: str, refused: bool) -> None:
    source = "import torch\n\n\ndef is_part():\n    " + comment + "\n"
    source += "    return torch.cuda.get_device_capability() == (12, 0)\n\n\n"
    source += (
        "def run(x):\n    if not is_part():\n        raise ValueError('no kernel')\n    return torch.ops.p.gemm(x)\n"
    )
    found = project({"m.py": source})
    assert bool(found.fixes("family-split")) is not refused


CLASS = """\
import torch

from kernels import kernel, other


class Gemm:
    def __init__(self):
        self.made = None

    def check_support(self):
        sm = torch.cuda.get_device_capability()[0] * 10
        if sm < 100:
            raise RuntimeError("needs SM100+")
        return True

    def compile(self):
        self.made = kernel()

    def execute(self):
        return self.made
"""


@pytest.mark.parametrize(
    ("more", "how"),
    [
        ("", "safe"),
        ("\n    def _clean(self):\n        other()\n", "safe"),
        ("\n    def reference(self):\n        return other()\n", "unsafe"),  # that runs anywhere
        ("\n    def again(self):\n        return kernel()\n", "safe"),
    ],
)
def test_class_of_which_nothing_runs_there(project: Project, more: str, how: str) -> None:
    found = project({"kernels.py": KERNELS, "m.py": CLASS + more})
    after = CLASS.replace("sm < 100", "sm < 100 or sm >= 120").replace("SM100+", "SM10x or SM110")
    assert found.fixes("leak") == [(how, after + more)]


@pytest.mark.parametrize(
    ("name", "how"),
    [("GemmSm100", "safe"), ("HopperGemm", "unsafe"), ("GemmSm120", "unsafe"), ("GemmV100", "unsafe")],
)
def test_class_that_is_called_after_its_chips(project: Project, name: str, how: str) -> None:
    """What else it does is for those chips too."""
    text = CLASS.replace("class Gemm", f"class {name}") + "\n    def reference(self):\n        return other()\n"
    found = project({"kernels.py": KERNELS, "m.py": text})
    assert [applied for applied, _ in found.fixes("leak")] == [how]


BETWEEN = "(10, 0) <= torch.cuda.get_device_capability() < (12, 0)"
PREDICATE = """\
import torch

from kernels import kernel, other


def fused_supported():
    return torch.cuda.get_device_capability() >= (10, 0)


def run():
    if not fused_supported():
        raise ValueError("no kernel")
    kernel()
"""


@pytest.mark.parametrize(
    ("more", "how"),
    [
        ("", "safe"),
        ("\n\ndef two():\n    if not fused_supported():\n        raise ValueError('no')\n    kernel()\n", "safe"),
        ("\n\ndef two():\n    other(fused_supported())\n", "unsafe"),  # who knows what comes of it
        ("\n\nREADY = fused_supported\n", "unsafe"),
    ],
)
def test_predicate_of_which_all_uses_are_known(project: Project, more: str, how: str) -> None:
    found = project({"kernels.py": KERNELS, "m.py": PREDICATE + more})
    after = PREDICATE.replace("torch.cuda.get_device_capability() >= (10, 0)", BETWEEN)
    assert found.fixes("leak") == [(how, after + more)]


def test_helper_that_others_need_stays(project: Project) -> None:
    user = "from kernels import other\nfrom m import fused_supported\n\n\ndef two():\n    if not fused_supported():\n"
    user += "        raise ValueError('needs SM100+')\n    other()\n"
    found = project({"kernels.py": KERNELS, "m.py": PREDICATE, "user.py": user}).fixes("leak")
    after = PREDICATE.replace("supported():\n        raise", "supported() or CAP >= (12, 0):\n        raise")
    assert found == [("unsafe", after.replace("CAP", "torch.cuda.get_device_capability()"))]


USER = "from kernels import kernel\nfrom m import fused_supported\n\n\ndef two():\n    if not fused_supported():\n"
USER += "        raise ValueError('{}')\n    kernel()\n"


def test_words_of_another_file_move_along(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "m.py": PREDICATE, "user.py": USER.format("needs SM100+")})
    (fix,) = [one.fix for one in found.findings if one.fix is not None and one.name == "leak"]
    assert fix.applicability == "safe"
    paths = {Path(one.path) for one in fix.edits}
    after = {one.name: apply(one.read_text(), [edit for edit in fix.edits if edit.path == str(one)]) for one in paths}
    bounded = PREDICATE.replace("torch.cuda.get_device_capability() >= (10, 0)", BETWEEN)
    assert after == {"m.py": bounded, "user.py": USER.format("needs SM10x or SM110")}


@pytest.mark.parametrize("said", ["needs SM100 or SM120", "needs SM100, SM103 or SM120 and newer"])
def test_words_of_another_file_are_told(project: Project, said: str) -> None:
    found = project({"kernels.py": KERNELS, "m.py": PREDICATE, "user.py": USER.format(said)})
    (fix,) = [one.fix for one in found.findings if one.fix is not None and one.name == "leak"]
    assert fix.applicability == "unsafe"
    assert "the words beside user.py:6 still name 12.x" in fix.proof.evidence
    assert {Path(one.path).name for one in fix.edits} == {"m.py"}


@pytest.mark.parametrize(
    ("test", "refused"),
    [
        ("sm100() and cuda_at_least(12, 8)", False),  # CUDA 12.8
        ("torch.cuda.get_device_capability()[0] in (10, 12)", True),
    ],
)
def test_number_of_cuda_is_no_chip(project: Project, test: str, refused: bool) -> None:
    source = f"import deep_gemm\n{HEAD}\n\ndef sm100():\n"
    source += "    return torch.cuda.get_device_capability() >= (10, 0)\n\n\n"
    source += "def cuda_at_least(major, minor):\n    return torch.version.cuda >= f'{major}.{minor}'\n\n\n"
    source += f"def run(x):\n    if {test}:\n        return deep_gemm.fp8_mqa_logits(x)\n    return other()\n"
    found = project({"kernels.py": KERNELS, "m.py": source})
    assert any("by number: decide" in one for one in found.refusals("leak")) is refused
    assert bool(found.fixes("leak")) is not refused


NAMED = "import torch\n\n\ndef {}():\n"
NAMED += "    if torch.cuda.get_device_capability() {}:\n        raise ValueError('no kernel')\n"
NAMED += "    return torch.ops.p.gemm()\n"


@pytest.mark.parametrize(
    ("name", "refused"),
    [("run_sm90", True), ("hopper_gemm", True), ("run_sm120", False), ("sm90_or_newer", False), ("run", False)],
)
def test_name_of_another_generation(project: Project, name: str, refused: bool) -> None:
    found = project({"m.py": NAMED.format(name, "not in [(9, 0), (12, 0)]")})
    assert bool(found.fixes("family-split")) is not refused
    told = f"`{name}` names 9.0: give 12.1 another name"
    assert found.refusals("family-split") == ([told] if refused else [])


@pytest.mark.parametrize(
    ("name", "comment", "refused"),
    [
        ("TUNED", "", True),
        ("WARPS", "# swept on each card\n", True),
        ("WARPS", "# the best of a sweep\n", True),
        ("WARPS", "", False),
        ("WARPS", "# a row for each card\n", False),
    ],
)
def test_row_that_was_measured(project: Project, name: str, comment: str, refused: bool) -> None:
    source = f"import torch\n\n{comment}{name} = {{\n    (9, 0): 8,\n    (12, 0): 4,\n}}\n\n\n"
    source += f"def run(x):\n    return torch.ops.p.gemm(x, {name}[torch.cuda.get_device_capability()])\n"
    found = project({"m.py": source})
    assert ("its rows are measured values" in found.refusals("family-split")) is refused


CHOSEN = """

def gemm(x, preference):
    choice = "torch"
    if preference == "auto" and is_sm_at_least_100():
        choice = "kernel"
    elif preference == "kernel":
        choice = "kernel"
    if choice == "kernel":
        assert is_sm_at_least_100(), "Expected SM100+"
        kernel()
    else:
        other()
"""


def test_all_checks_on_the_way_to_a_call_are_bounded_together(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "util.py": UTIL, "m.py": HEAD + HELPED + CHOSEN}).fixes("leak")
    counts = [
        _bare(text).count("is_sm_at_least_100()andtorch.cuda.get_device_capability()<(12,0)") for _, text in found
    ]
    assert counts == [2]


REASONS = """\
import torch


def unavailable():
    if torch.cuda.get_device_capability()[0] < 10:
        return "below SM100"
    return None


def available():
    return unavailable() is None
"""
ASKING = """\
import torch

from kernels import kernel
from reasons import available


def run(x):
    if x.ndim == 2 and available():
        return kernel()
    return x
"""


def test_a_helper_that_tells_why_is_not_overruled_beside_its_call(project: Project) -> None:
    found = project({"kernels.py": KERNELS, "reasons.py": REASONS, "m.py": ASKING}).fixes("leak")
    assert all("def unavailable" in text for _, text in found)
    answering = REASONS.replace('return "below SM100"', "return False").replace("return None", "return True")
    silent = answering.replace("return unavailable() is None", "return unavailable()")
    found = project({"kernels.py": KERNELS, "reasons.py": silent, "m.py": ASKING}).fixes("leak")
    assert any("available() and torch.cuda" in text or "def unavailable" in text for _, text in found)


COMMENTED = """\
import torch

capability = torch.cuda.get_device_capability()
# {}
if capability in [(8, 9), (12, 0)]:
    from attention import small_attention as attention
else:
    from attention import attention
"""


@pytest.mark.parametrize(
    ("comment", "after"),
    [
        ("SM120 follows the dispatcher of the library.", "SM120 follows the dispatcher of the library."),
        ("SM120 is slow with the other one", "SM120 is slow with the other one"),
        ("Only SM120 and SM89 are supported here.", "Only SM12x and SM89 are supported here."),
    ],
)
def test_comments_of_an_unproved_edit_say_what_they_said(project: Project, comment: str, after: str) -> None:
    ((how, text),) = project({"m.py": COMMENTED.format(comment)}).fixes("family-split")
    assert how == "unsafe" and "(12, 1)" in text
    assert f"# {after}\n" in text


LAID_OUT = """\
import torch

from layouts import make_layout_sm90, make_layout_sm8x


def layout(x):
    version = torch.cuda.get_device_capability()
    if version >= (9, 0):
        return make_layout_sm90(x)
    return make_layout_sm8x(x)
"""
ABS_MAX = """\
import torch

import cutlass.cute as cute
from cutlass._mlir.dialects import llvm


@cute.jit
def largest(a, b):
    return llvm.inline_asm(None, [a, b], "redux.sync.max.NaN.f32 $0, $1, $2;", "=f,f,r")


class AbsMax:
    def check_support(self):
        major, minor = torch.cuda.get_device_capability()
        if major * 10 + minor < 100:
            raise RuntimeError("AbsMax requires SM100+")
        return True

    def execute(self, a, b):
        return largest(a, b)
"""


@pytest.mark.parametrize(
    ("source", "bound"),
    [(LAID_OUT, "(9, 0) <= version < (12, 0)"), (ABS_MAX, "major * 10 + minor >= 110")],
)
def test_a_bound_ends_where_its_advice_does(project: Project, source: str, bound: str) -> None:
    ((_, text),) = project({"m.py": source}).fixes("leak")
    assert bound in text


LOGGED = """\
import logging

import torch

from kernels import kernel, other


def can_fuse(device):
    return torch.cuda.get_device_capability(device) >= (10, 0)


def run(x):
    fused = x.ndim == 2 and can_fuse(x.device)
    if x.ndim == 2 and not fused:
        {}
    if fused:
        return kernel()
    return other()
"""


@pytest.mark.parametrize(
    ("line", "bounded"),
    [
        ('logging.debug("no fused kernel on %s", x.device)', True),
        ('logging.debug("no fused kernel"); x = x.flatten()', False),
        ("x = other()", False),
    ],
)
def test_flag_that_a_log_line_asks_too(project: Project, line: str, bounded: bool) -> None:
    found = project({"kernels.py": KERNELS, "m.py": LOGGED.format(line)})
    assert [("(10, 0) <= " in text or "(12, 0)" in text) for _, text in found.fixes("leak")] == [True] * bounded
