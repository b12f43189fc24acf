"""Helpers of the tree that ask for one part, and those beside them that ask for its family."""

from __future__ import annotations

import pytest

from .conftest import Project

HEAD = """import torch
def version_at_least(version, base):
    from packaging import version as v
    return v.parse(version) >= v.parse(base)
def get_compute_capability(device):
    properties = torch.cuda.get_device_properties(device)
    return properties.major, properties.minor
def is_sm90a_supported(device):
    major, _ = get_compute_capability(device)
    return major == 9 and version_at_least(torch.version.cuda, "12.3")
def is_sm100a_supported(device):
    major, _ = get_compute_capability(device)
    return major == 10 and version_at_least(torch.version.cuda, "12.8")
def is_sm120a_supported(device):
    major, minor = get_compute_capability(device)
    return major == 12 and minor == 0 and version_at_least(torch.version.cuda, "12.8")
"""
NEWER = """def is_sm120f_supported(device):
    major, _ = get_compute_capability(device)
    return major == 12 and version_at_least(torch.version.cuda, "12.9")
"""
SECOND = """def is_sm121a_supported(device):
    major, minor = get_compute_capability(device)
    return major == 12 and minor == 1 and version_at_least(torch.version.cuda, "12.9")
"""
FAMILY = """def is_sm12x_supported(device):
    major, minor = get_compute_capability(device)
    if major != 12:
        return False
    return version_at_least(torch.version.cuda, "12.9" if minor >= 1 else "12.8")
"""
USER = """import torch
from p.utils import is_sm120a_supported, is_sm90a_supported
def run(device):
    if {}:
        raise RuntimeError("not here")
"""


def mended(project: Project, utils: str, test: str) -> str:
    """The test after the fix; "" where there is none."""
    files = {"p/__init__.py": "", "p/utils.py": HEAD + utils, "p/use.py": USER.format(test)}
    checked = project(files)
    fixes = [text for _, text in checked.fixes("family-split") if "def run" in text]
    if not fixes:
        return ""
    body = fixes[0].partition("    if ")[2].partition(":\n        raise")[0]
    return " ".join(body.split()).replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("not is_sm120a_supported(device)", "not is_sm12x_supported(device)"),
        ("not (is_sm90a_supported(device) or is_sm120a_supported(device))", None),
        ("not is_sm90a_supported(device) and not is_sm120a_supported(device)", None),
        ("not is_sm120a_supported(torch.device('cuda'))", None),
        ("not (ready() and is_sm120a_supported(device=device))", None),
    ],
)
def test_the_helper_of_the_family(project: Project, test: str, after: str | None) -> None:
    expected = after or test.replace("is_sm120a_supported", "is_sm12x_supported")
    assert mended(project, NEWER + SECOND + FAMILY, test) == expected


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("not is_sm120a_supported(device)", "not (is_sm120a_supported(device) or is_sm121a_supported(device))"),
        (
            "not (is_sm90a_supported(device) or is_sm120a_supported(device))",
            "not (is_sm90a_supported(device) or is_sm120a_supported(device) or is_sm121a_supported(device))",
        ),
        (
            "not (ready() and is_sm120a_supported(device))",
            "not (ready() and (is_sm120a_supported(device) or is_sm121a_supported(device)))",
        ),
    ],
)
def test_the_helper_of_the_other_member(project: Project, test: str, after: str) -> None:
    assert mended(project, SECOND, test) == after
    # a helper that wants a newer toolkit of both would take the first one away from those who have an older
    assert mended(project, SECOND + NEWER, test) == after


@pytest.mark.parametrize(
    "utils",
    [
        "",
        NEWER,
        FAMILY.replace("is_sm12x_supported", "is_geforce"),
        FAMILY.replace("is_sm12x_supported", "has_sm12x_fp4"),
        FAMILY.replace("(device):", "(device, strict):"),
        FAMILY.replace("(device):", "(device=None):"),
        FAMILY.replace("major != 12", "major < 12 and major != 9"),
        FAMILY.replace("return version", "return ready() and version"),
        FAMILY.replace("major != 12", "major not in (11, 12)"),
    ],
)
def test_no_helper_will_do(project: Project, utils: str) -> None:
    assert mended(project, utils, "not is_sm120a_supported(device)") == ""


def test_a_module_is_asked_for_another_attribute(project: Project) -> None:
    user = "from p import utils\ndef run(d):\n    if not utils.is_sm120a_supported(d):\n        raise RuntimeError()\n"
    files = {"p/__init__.py": "", "p/utils.py": HEAD + FAMILY, "p/use.py": user}
    fixes = [text for _, text in project(files).fixes("family-split") if "def run" in text]
    assert fixes == [user.replace("is_sm120a_supported", "is_sm12x_supported")]


@pytest.mark.parametrize(
    ("facade", "line"),
    [
        ("is_sm120a_supported", "from p import is_sm120a_supported\nfrom p.utils import is_sm12x_supported\n"),
        ("is_sm120a_supported, is_sm12x_supported", "from p import is_sm120a_supported, is_sm12x_supported\n"),
    ],
)
def test_a_facade_may_lack_the_other_helper(project: Project, facade: str, line: str) -> None:
    body = "def run(d):\n    if not is_sm120a_supported(d):\n        raise RuntimeError()\n"
    user = f"from p import is_sm120a_supported\n{body}"
    files = {"p/__init__.py": f"from p.utils import {facade}\n", "p/utils.py": HEAD + FAMILY, "use.py": user}
    fixes = [text for _, text in project(files).fixes("family-split") if "def run" in text]
    assert [text.partition("def ")[0] for text in fixes] == [line]


def test_an_object_may_lack_the_other_helper(project: Project) -> None:
    user = "import p\ndef run(d):\n    if not p.is_sm120a_supported(d):\n        raise RuntimeError()\n"
    files = {"p/__init__.py": "from p.utils import is_sm120a_supported\n", "p/utils.py": HEAD + FAMILY, "use.py": user}
    assert [text for _, text in project(files).fixes("family-split") if "def run" in text] == []


def test_a_long_line_is_broken(project: Project) -> None:
    test = "not is_sm120a_supported(torch.device('cuda:0'))"
    files = {"p/__init__.py": "", "p/utils.py": HEAD + SECOND, "p/use.py": USER.format(test)}
    fixed = next(text for _, text in project(files).fixes("family-split") if "def run" in text)
    assert (
        "    if not (\n"
        "        is_sm120a_supported(torch.device('cuda:0'))\n"
        "        or is_sm121a_supported(torch.device('cuda:0'))\n"
        "    ):\n"
    ) in fixed
    assert "from p.utils import is_sm120a_supported, is_sm121a_supported, is_sm90a_supported\n" in fixed


PLATFORM = """class Platform:
    def is_device_capability(self, capability): ...
"""
ASKING = """from q.platforms import current_platform
def run():
    if not current_platform.is_device_capability(120):
        raise RuntimeError()
"""


@pytest.mark.parametrize(
    ("interface", "offered"),
    [
        (PLATFORM, False),
        (f"{PLATFORM}    def is_device_capability_family(self, capability): ...\n", True),
        (f"{PLATFORM}def is_device_capability_family(capability): ...\n", False),
    ],
)
def test_a_method_that_the_class_has(project: Project, interface: str, offered: bool) -> None:
    files = {
        "q/__init__.py": "",
        "q/platforms/__init__.py": "from .interface import Platform\n",
        "q/platforms/interface.py": interface,
        "q/use.py": ASKING,
    }
    fixed = [text for _, text in project(files).fixes("family-split")]
    assert fixed == ([ASKING.replace("capability(120)", "capability_family(120)")] if offered else [])
