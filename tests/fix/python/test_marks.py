"""Tests whose decorator admits every later chip: ended in the decorator's words, else by a mark below it."""

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
AT_LEAST = """\
import pytest
import torch


def requires_version(major, minor=0):
    return pytest.mark.skipif(torch.cuda.get_device_capability() < (major, minor), reason="too old")
"""
WITH_END = """\
import pytest
import torch


def requires_version(major, minor=0, until=None):
    version = torch.cuda.get_device_capability()
    return pytest.mark.skipif(version < (major, minor) or (until is not None and version >= until), reason="no")
"""
WITH_LAST = """\
import unittest

import torch


def requires_version(major, major_max=None, *, minor=0):
    version = torch.cuda.get_device_capability()
    fits = version >= (major, minor) and (major_max is None or version[0] <= major_max)
    return unittest.skipUnless(torch.cuda.is_available() and fits, "another one")
"""
OTHERS = """


def requires_version_below(major, minor=0):
    return pytest.mark.skipif(torch.cuda.get_device_capability() >= (major, minor), reason="too new")


def requires_version_equal(major, minor=0):
    return pytest.mark.skipif(torch.cuda.get_device_capability() != (major, minor), reason="another one")
"""
UNITTEST = """\
import unittest

import torch


def requires_version(major, minor=0):
    return unittest.skipIf(torch.cuda.get_device_capability() < (major, minor), "too old")
"""
HEAD = "import pytest\nimport torch\n\nfrom kernels import kernel, other\nfrom util import requires_version\n\n\n"
TEST = "@requires_version(10)\ndef test_one():\n    kernel()\n"
BOUND = "torch.cuda.is_available() and torch.cuda.get_device_capability() >= (12, 0)"
SKIPPED = f'@pytest.mark.skipif(\n    {BOUND},\n    reason="needs SM10x or SM110",\n)\n'


def _with(mark: str) -> str:
    return TEST.replace("def test", f"{mark}def test")


@pytest.mark.parametrize(
    ("util", "before", "after"),
    [
        (AT_LEAST, HEAD + TEST, HEAD + _with(SKIPPED)),
        (WITH_END, HEAD + TEST, HEAD + TEST.replace("(10)", "(10, until=(12, 0))")),
        (WITH_LAST, HEAD + TEST, HEAD + TEST.replace("(10)", "(10, major_max=11)")),
        (
            WITH_LAST,
            HEAD + TEST.replace("(10)", "(10, minor=3)"),
            HEAD + TEST.replace("(10)", "(10, minor=3, major_max=11)"),
        ),
        (
            AT_LEAST + OTHERS,
            HEAD + TEST,
            HEAD.replace("import requires_version", "import requires_version, requires_version_below")
            + _with("@requires_version_below(12)\n"),
        ),
        (
            AT_LEAST + OTHERS,
            HEAD.replace("from util import requires_version", "import util") + TEST.replace("@", "@util."),
            HEAD.replace("from util import requires_version", "import util")
            + TEST.replace("@", "@util.").replace("def ", "@util.requires_version_below(12)\ndef "),
        ),
        (  # what the mark needs is imported
            AT_LEAST,
            HEAD.replace("import pytest\nimport torch\n\n", "") + TEST,
            HEAD.replace("import pytest\nimport torch\n\n", "import pytest\nimport torch\n") + _with(SKIPPED),
        ),
        (
            UNITTEST,
            HEAD.replace("import pytest", "import unittest")
            + "class TestIt(unittest.TestCase):\n    @requires_version(10, 0)\n"
            + "    def test_one(self):\n        kernel()\n",
            HEAD.replace("import pytest", "import unittest")
            + "class TestIt(unittest.TestCase):\n    @requires_version(10, 0)\n    @unittest.skipIf(\n"
            + f'        {BOUND},\n        "needs SM10x or SM110",\n    )\n    def test_one(self):\n        kernel()\n',
        ),
    ],
)
def test_ended(project: Project, util: str, before: str, after: str) -> None:
    files = {"kernels.py": KERNELS, "util.py": util, "test_m.py": before}
    assert [text for _, text in project(files).fixes("test-gate")] == [after]
    compile(after, "test_m.py", "exec")
    again = project({**files, "test_m.py": after})
    assert not [one for one in again.findings if one.name == "test-gate"]


def test_every_test_with_the_mark(project: Project) -> None:
    both = TEST + "\n\n" + TEST.replace("one", "two")
    found = project({"kernels.py": KERNELS, "util.py": AT_LEAST + OTHERS, "test_m.py": HEAD + both})
    (text,) = {text for _, text in found.fixes("test-gate")}
    assert text.count("@requires_version_below(12)\n") == 2


@pytest.mark.parametrize(
    ("util", "before"),
    [
        (AT_LEAST, HEAD.replace("import torch\n", "") + "torch = None\n\n\n" + TEST),  # another torch
        (AT_LEAST, HEAD + TEST.replace("@", "# not validated on SM120\n@")),
        (AT_LEAST + OTHERS.replace(">=", ">"), HEAD.replace("import torch\n", "torch = None\n") + TEST),  # 12.0 stays
    ],
)
def test_refused(project: Project, util: str, before: str) -> None:
    found = project({"kernels.py": KERNELS, "util.py": util, "test_m.py": before})
    assert found.fixes("test-gate") == []


@pytest.mark.parametrize(
    "before",
    [
        HEAD + TEST.replace("kernel()", "other()"),
        HEAD + _with(SKIPPED),
        HEAD + TEST.replace("@requires_version(10)\n", ""),
    ],
)
def test_silent(project: Project, before: str) -> None:
    found = project({"kernels.py": KERNELS, "util.py": AT_LEAST, "test_m.py": before})
    assert not [one for one in found.findings if one.name == "test-gate" and one.severity != "note"]
