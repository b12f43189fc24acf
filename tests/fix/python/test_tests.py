"""Conditions under which tests are skipped."""

from __future__ import annotations

import pytest

from .conftest import Project
from .test_helpers import FAMILY, HEAD, SECOND

UTILS = HEAD + SECOND + FAMILY
API = """def supported_compute_capability(capabilities):
    return lambda function: function
@supported_compute_capability({})
def gemm(x): ...
"""
TEST = """import pytest
import torch
from p.api import gemm
from p.utils import get_compute_capability, is_sm120a_supported, is_sm90a_supported
{}
def test_gemm():
    {}
    gemm(1)
"""


def mended(project: Project, listed: str, gate: str, helper: str = "") -> list[tuple[str, str]]:
    """How the skip of a test is mended, and its text then."""
    files = {
        "p/__init__.py": "",
        "p/utils.py": UTILS,
        "p/api.py": API.format(listed),
        "tests/test_gemm.py": TEST.format(helper, gate),
    }
    return project(files).fixes("test-gate")


def skipping(test: str, reason: str = "no") -> str:
    return f"if {test}:\n        pytest.skip('{reason}')"


EXACT = skipping("not is_sm120a_supported(torch.device('cuda'))", "needs SM120")
HELPER = """def skip_if_not_sm120():
    if not is_sm120a_supported(torch.device('cuda')):
        pytest.skip('needs SM120')
"""


@pytest.mark.parametrize("listed", ["[100, 120, 121]", "[120, 121]"])
def test_what_is_tested_admits_the_sibling(project: Project, listed: str) -> None:
    ((applicability, text),) = mended(project, listed, EXACT)
    assert applicability == "safe"
    assert "if not is_sm12x_supported(torch.device('cuda')):\n        pytest.skip('needs SM12x')" in text
    assert "import get_compute_capability, is_sm12x_supported, is_sm90a_supported\n" in text


def test_the_helper_that_skips_is_mended(project: Project) -> None:
    ((applicability, text),) = mended(project, "[120, 121]", "skip_if_not_sm120()", HELPER)
    assert applicability == "safe"
    assert "    if not is_sm12x_supported(torch.device('cuda')):\n        pytest.skip('needs SM12x')" in text


@pytest.mark.parametrize(("gate", "helper"), [(EXACT, ""), ("skip_if_not_sm120()", HELPER)])
def test_what_is_tested_refuses_the_sibling(project: Project, gate: str, helper: str) -> None:
    assert {applicability for applicability, _ in mended(project, "[120]", gate, helper)} <= {"unsafe"}


@pytest.mark.parametrize(
    "gate",
    [
        skipping("get_compute_capability(torch.device('cuda')) != (12, 1)", "GB10 kernels"),
        skipping("get_compute_capability(torch.device('cuda')) != (12, 0)", "validated on RTX 5090 alone"),
        skipping("not is_sm120a_supported(torch.device('cuda'))", "specialized kernels target SM120"),
        f"# exactly this part\n    {EXACT}",
        f"# SM121 hangs here\n    {EXACT}",
        skipping("get_compute_capability(torch.device('cuda')) != (12, 0)  # measured"),
    ],
)
def test_the_part_is_meant(project: Project, gate: str) -> None:
    found = mended(project, "None", gate)
    assert "safe" not in [applicability for applicability, _ in found]


@pytest.mark.parametrize(
    "gate",
    [
        skipping("not is_sm90a_supported(torch.device('cuda'))"),
        skipping("not (ready() or is_sm90a_supported(torch.device('cuda')))"),
    ],
)
def test_a_new_generation_is_for_a_person(project: Project, gate: str) -> None:
    for applicability, text in mended(project, "[90, 120, 121]", gate):
        assert applicability == "unsafe"
        assert "or is_sm12x_supported(torch.device('cuda'))" in text


def test_a_reason_that_is_open_names_what_is_missing(project: Project) -> None:
    utils = UTILS + "def is_sm110a_supported(device):\n    return get_compute_capability(device)[0] == 11\n"
    gate = skipping("not is_sm100a_supported(torch.device('cuda'))", "needs compute capability >= 10")
    test = TEST.format("", gate).replace("is_sm120a_supported,", "is_sm100a_supported,")
    checked = project(
        {"p/__init__.py": "", "p/utils.py": utils, "p/api.py": API.format("None"), "tests/test_x.py": test}
    )
    ((applicability, text),) = checked.fixes("test-gate")
    assert applicability == "unsafe"
    for name in ("is_sm100a_supported", "is_sm110a_supported", "is_sm12x_supported"):
        assert f"{name}(torch.device('cuda'))" in text


@pytest.mark.parametrize(
    "reason",
    [
        "needs SM100+",
        "needs Blackwell (SM100 or newer)",
        "needs capability >= 9 (non-SM12x)",
        "needs SM90+, but not SM120",
    ],
)
def test_a_reason_that_may_be_wrong_itself(project: Project, reason: str) -> None:
    assert mended(project, "None", skipping("not is_sm90a_supported(torch.device('cuda'))", reason)) == []


@pytest.mark.parametrize(
    "gate",
    [
        "pass",
        skipping("get_compute_capability(torch.device('cuda'))[0] != 12"),
        skipping("not (is_sm120a_supported(d) or get_compute_capability(d) == (12, 1))"),
        skipping("get_compute_capability(torch.device('cuda'))[0] < 9"),
        skipping("get_compute_capability(torch.device('cuda'))[0] not in (10, 12)"),
    ],
)
def test_nothing_to_mend(project: Project, gate: str) -> None:
    assert mended(project, "[90, 100, 103, 120, 121]", gate) == []


PART = "import pytest\nimport torch\ndef test_gemm():\n    if torch.cuda.get_device_capability() {}\n    gemm(1)\n"


@pytest.mark.parametrize(
    ("rule", "rest", "applicability"),
    [
        ("test-gate", "!= (12, 0):\n        pytest.skip('needs SM120')", "unsafe"),
        ("test-gate", "!= (12, 0):\n        pytest.xfail('needs SM120')", "unsafe"),
        ("family-split", "== (12, 0):\n        atol = 0.1\n    else:\n        atol = 0.2", "unsafe"),
    ],
)
def test_what_is_known_of_the_sibling_stays(project: Project, rule: str, rest: str, applicability: str) -> None:
    """A failure that is expected, a value that holds for it: somebody has tried."""
    ((found, _),) = project({"tests/test_gemm.py": PART.format(rest)}).fixes(rule)
    assert found == applicability
