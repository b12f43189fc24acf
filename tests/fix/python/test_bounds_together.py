"""Bounds with all that belongs to them: the flag that several ask, the reason beside it, the helper of another file."""

from __future__ import annotations

import pytest

from .conftest import Project

KERNELS = """\
from cutlass.cute.nvgpu import tcgen05


def kernel():
    tcgen05.mma()


def other():
    pass
"""
CAP = "import pytest\nimport torch\n\nfrom kernels import kernel, other\n\n"
TEST = "def test_one():\n    kernel()\n"


def of_test(project: Project, source: str) -> tuple[list[tuple[str, str]], list[str]]:
    found = project({"kernels.py": KERNELS, "tests/test_m.py": source})
    return found.fixes("test-gate"), found.refusals("test-gate")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10, reason='needs SM100+')\n",
            "@pytest.mark.skipif(\n    torch.cuda.get_device_capability()[0] not in (10, 11),"
            " reason='needs SM10x or SM110'\n)\n",
        ),
        (
            "@pytest.mark.skipif(torch.cuda.get_device_capability() < (10, 0), reason='needs capability >= 10.0')\n",
            "@pytest.mark.skipif(not ((10, 0) <= torch.cuda.get_device_capability() < (12, 0)),"
            " reason='needs capability 10.x or 11.0')\n",
        ),
        (
            "OLD = torch.cuda.get_device_capability() < (10, 0)\n\n\n@pytest.mark.skipif(OLD, reason='too old')\n",
            "OLD = not ((10, 0) <= torch.cuda.get_device_capability() < (12, 0))\n\n\n"
            "@pytest.mark.skipif(OLD, reason='too old')\n",
        ),
        (
            "pytestmark = pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10,"
            " reason='capability 10 or above')\n\n\n",
            "pytestmark = pytest.mark.skipif(torch.cuda.get_device_capability()[0] not in (10, 11),"
            " reason='capability 10.x or 11.0')\n\n\n",
        ),
        (
            "if torch.cuda.get_device_capability()[0] < 10:\n    pytest.skip('x', allow_module_level=True)\n\n\n",
            "if torch.cuda.get_device_capability()[0] not in (10, 11):\n"
            "    pytest.skip('x', allow_module_level=True)\n\n\n",
        ),
    ],
)
def test_tests_that_fail_are_skipped(project: Project, before: str, after: str) -> None:
    assert of_test(project, f"{CAP}{before}{TEST}") == ([("safe", f"{CAP}{after}{TEST}")], [])


OF_TWO = "OLD = torch.cuda.get_device_capability()[0] < 10\n\n\n@pytest.mark.skipif(OLD, reason='old')\n"
OF_TWO += f"{TEST}\n\n@pytest.mark.skipif(OLD, reason='old')\ndef test_two():\n    other()\n"
OF_FILE = "if torch.cuda.get_device_capability()[0] < 10:\n    pytest.skip('x', allow_module_level=True)\n\n\n"
OF_FILE += f"{TEST}\n\ndef test_two():\n    other()\n"
AT_TIMES = "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10, reason='old')\n"
AT_TIMES += "@pytest.mark.parametrize('fast', [True, False])\n"
AT_TIMES += "def test_one(fast):\n    if fast:\n        kernel()\n    other()\n"


def test_flag_that_another_test_needs_stays(project: Project) -> None:
    fixes, _ = of_test(project, f"{CAP}{OF_TWO}")
    after = OF_TWO.replace("(OLD,", "(OLD or torch.cuda.get_device_capability() >= (12, 0),", 1)
    assert fixes == [("unsafe", f"{CAP}{after}")]


@pytest.mark.parametrize("before", [OF_FILE, AT_TIMES])
def test_never_safely(project: Project, before: str) -> None:
    fixes, _ = of_test(project, f"{CAP}{before}")
    assert [how for how, _ in fixes] == ["unsafe"]


def test_reason_that_names_them(project: Project) -> None:
    mark = "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10, reason='needs SM100 or SM120')\n"
    fixes, refusals = of_test(project, f"{CAP}{mark}{TEST}")
    assert (fixes, refusals) == ([], ["the text at line 6 names 12.x too: rewrite it by hand"])


HELPERS = """\
import torch


def is_blackwell():
    return torch.cuda.get_device_capability()[0] in (10, 11, 12)


def is_sm100():
    return torch.cuda.get_device_capability()[0] in (10, 11)


def is_sm120():
    return torch.cuda.get_device_capability()[0] == 12
"""
USER = "from kernels import kernel, other\n{imports}\n\n\ndef run():\n"
USER += "    if {test}:\n        kernel()\n    else:\n        other()\n"


@pytest.mark.parametrize(
    ("helpers", "test", "after", "imports"),
    [
        (HELPERS, "is_blackwell()", "is_sm100()", "is_sm100"),
        (
            HELPERS.replace("def is_sm100", "def answer"),
            "is_blackwell()",
            "is_blackwell() and not is_sm120()",
            "is_blackwell, is_sm120",
        ),
    ],
)
def test_helper_beside(project: Project, helpers: str, test: str, after: str, imports: str) -> None:
    before = USER.format(imports="from helpers import is_blackwell", test=test)
    found = project({"kernels.py": KERNELS, "helpers.py": helpers, "user.py": before})
    mended = [text for how, text in found.fixes("leak") if how == "unsafe"]
    assert [text.split("def run")[1] for text in mended] == [before.replace(test, after, 1).split("def run")[1]]
    assert all(imports in text for text in mended)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("is_sm100() or is_sm120()", "is_sm100()"),
        ("major in [10, 11, 12]", "major in [10, 11]"),
        ("major in (10, 12)", "major == 10"),
        ("major * 10 + minor in (100, 103, 120, 121)", "major * 10 + minor in (100, 103)"),
    ],
)
def test_what_names_them_alone_goes(project: Project, before: str, after: str) -> None:
    head = "import torch\n\nfrom helpers import is_sm100, is_sm120\nfrom kernels import kernel, other\n\n\ndef run():\n"
    head += "    major, minor = torch.cuda.get_device_capability()\n"
    body = "    if {}:\n        kernel()\n    else:\n        other()\n"
    found = project({"kernels.py": KERNELS, "helpers.py": HELPERS, "user.py": f"{head}{body.format(before)}"})
    assert found.fixes("leak") == [("unsafe", f"{head}{body.format(after)}")]


def test_never_to_another_arm_that_is_not_for_them(project: Project) -> None:
    source = "import torch\n\nfrom kernels import kernel\nfrom wgmma import sm90_kernel\n\n\ndef run():\n"
    source += (
        "    if torch.cuda.get_device_capability()[0] >= 10:\n        kernel()\n    else:\n        sm90_kernel()\n"
    )
    found = project({"kernels.py": KERNELS, "user.py": source})
    assert found.fixes("leak") == []
    assert found.refusals("leak") == ["neither branch is for 12.x: add one, or an error"]


TOLD = "import torch\n\nfrom kernels import kernel\n\n\ndef run():\n"
TOLD += (
    "    if torch.cuda.get_device_capability()[0] < 10:\n        print('needs SM100+')\n        return\n    kernel()\n"
)


@pytest.mark.parametrize(
    ("source", "how"),
    [
        (TOLD, "safe"),
        (TOLD.replace("        print('needs SM100+')\n", ""), "unsafe"),  # who asks may do something else
        (  # each generation has a way of its own
            TOLD.partition("    if")[0] + "    major = torch.cuda.get_device_capability()[0]\n"
            "    if major == 9:\n        return\n    elif major >= 10:\n        kernel()\n"
            "    else:\n        raise ValueError('no')\n",
            "unsafe",
        ),
        (f"{TOLD}    return 1\n", "unsafe"),
        (TOLD.replace("    kernel()", "    for each in (1, 2):\n        kernel()"), "safe"),
        (TOLD.replace("    kernel()", "    try:\n        kernel()\n    except Exception:\n        pass"), "unsafe"),
    ],
)
def test_who_is_told_and_left(project: Project, source: str, how: str) -> None:
    found = project({"kernels.py": KERNELS, "user.py": source})
    assert [each for each, _ in found.fixes("leak")] == [how]


def test_reason_that_is_given_back(project: Project) -> None:
    source = (
        "import torch\n\nfrom kernels import kernel\n\n\nclass Way:\n    @classmethod\n    def is_supported(cls):\n"
    )
    source += "        if torch.cuda.get_device_capability() >= (10, 0):\n            return True, None\n"
    source += "        return False, 'needs >=sm_100'\n\n    def apply(self):\n        kernel()\n"
    found = project({"kernels.py": KERNELS, "user.py": source})
    after = source.replace(
        "torch.cuda.get_device_capability() >= (10, 0)", "(10, 0) <= torch.cuda.get_device_capability() < (12, 0)"
    )
    assert found.fixes("leak") == [("unsafe", after.replace(">=sm_100", "sm_10x or sm_110"))]


def test_only_who_is_asked_about_is_added_to_a_list(project: Project) -> None:
    mark = "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] {}, reason='not on Hopper')\n"
    fixes, _ = of_test(project, f"{CAP}{mark.format('== 9')}{TEST}")
    assert [(how, "get_device_capability()[0] in (9, 12)" in text) for how, text in fixes] == [("safe", True)]
