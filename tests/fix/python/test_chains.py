"""What belongs to a test besides itself: where its answer is decided, what stands behind it, who asks its helper."""

from __future__ import annotations

import pytest

from bwlint.fix.edited import apply

from .conftest import Project

FLAG = """import torch


def pick(fast, cuda_major):
    major, minor = torch.cuda.get_device_capability()
    is_sm103 = major == 10 and minor == 3
    is_sm120 = major == 12 and minor == 0
    if is_sm120 and fast and cuda_major >= 13:
        return ["narrow"]
    if is_sm103:
        return ["middle"]
    return ["wide"]
"""
HELPER = """import torch


def reason(x):
    if torch.cuda.get_device_capability(x.device) != (12, 0):
        return "not SM120"
    return None


def forward(x):
    why = reason(x)
    if why is not None:
        return torch.mm(x, x)
    return kernel(x)
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FLAG, "`is_sm120` decides this at line 7: mend it there"),
        (HELPER, "`reason` decides this at line 5: mend it there"),
    ],
)
def test_where_it_is_decided(project: Project, text: str, told: str) -> None:
    assert told in project({"p/__init__.py": "", "p/m.py": text}).refusals("family-split")


UTILS = """import torch


def is_sm90a_supported(device):
    return torch.cuda.get_device_capability(device)[0] == 9


def is_sm120a_supported(device):
    return torch.cuda.get_device_capability(device) == (12, 0)


def is_sm12x_supported(device):
    return torch.cuda.get_device_capability(device)[0] == 12
"""
API = """import torch


def attention(q):
    if torch.cuda.get_device_capability(q.device)[0] not in (9, 12):
        raise ValueError("needs SM90 or SM12x")
    return run(q)
"""
TEST = """import pytest

from p.api import attention
from p.utils import is_sm90a_supported, is_sm120a_supported


def test_attention(dtype, device):
    if not (is_sm90a_supported(device) or is_sm120a_supported(device)):
        pytest.skip("needs SM90 or {}")
    is_sm120_plus = is_sm120a_supported(device)
    if dtype == "fp8" and is_sm120_plus:
        pytest.skip("no FP8 there")
    attention(dtype)
"""
TAKEN = """import pytest

from p.utils import is_sm90a_supported, is_sm120a_supported

if is_sm90a_supported("cuda"):
    from p.sm90 import attention
elif is_sm120a_supported("cuda"):
    from p.sm120 import attention
else:
    attention = None


def _skip_if_unsupported():
    if not (is_sm90a_supported("cuda") or is_sm120a_supported("cuda")):
        pytest.skip("needs SM90 or SM12x")


def test_attention():
    _skip_if_unsupported()
    attention(1)
"""
SM120 = """def attention(q):
    return compiled(q, options=("-gencode=arch=compute_{0},code=sm_{0}",))
"""


def tree(test: str, target: str = "120f") -> dict[str, str]:
    names = {"p/__init__.py": "", "p/utils.py": UTILS, "p/api.py": API, "p/sm120.py": SM120.format(target)}
    return {**names, "p/sm90.py": "def attention(q):\n    return q\n", "tests/test_m.py": test}


@pytest.mark.parametrize(("words", "how"), [("SM120", "unsafe"), ("SM12x", "safe")])
def test_what_stands_behind_a_skip(project: Project, words: str, how: str) -> None:
    """The flag that is asked further down is opened with it, and words that name the one part move."""
    checked = project(tree(TEST.format(words)))
    (fix,) = [one.fix for one in checked.findings if one.fix is not None and one.name == "test-gate"]
    assert fix.applicability == how
    text = apply(TEST.format(words), fix.edits)
    assert "is_sm120a_supported" not in text.partition("import is_sm90a")[2].partition("\n")[2]
    assert 'pytest.skip("needs SM90 or SM12x")' in text


@pytest.mark.parametrize(("target", "how"), [("120f", "safe"), ("120a", "unsafe")])
def test_what_the_callers_of_a_helper_run(project: Project, target: str, how: str) -> None:
    checked = project(tree(TAKEN, target))
    (fix,) = [one.fix for one in checked.findings if one.fix is not None and one.name == "test-gate"]
    assert fix.applicability == how, fix.proof.evidence
    assert apply(TAKEN, fix.edits).count("is_sm12x_supported(") == 2


SCRIPT = """import sys

import torch


def leave_unless_sm120():
    if torch.cuda.get_device_capability() != (12, 0):
        sys.exit("needs SM120")


def main():
    leave_unless_sm120()
    print(torch.ones(1))
"""


def test_call_of_its_own_helper(project: Project) -> None:
    """Who calls the helper in which a test stands does not tell the twins apart besides."""
    fixes = project({"p/__init__.py": "", "p/bench.py": SCRIPT}).fixes("family-split")
    assert [how for how, _ in fixes] == ["safe"]
    assert "get_device_capability()[0] != 12" in fixes[0][1]


@pytest.mark.parametrize("name", ["_TMEM_COLUMNS", "TENSOR_MEM_MAX"])
def test_what_neither_of_them_has(project: Project, name: str) -> None:
    text = (
        f'{name} = {{"sm_100": 512, "sm_103": 512, "sm_120": 512}}\n\n\ndef columns(compute_capability: str) -> int:\n'
        f'    if compute_capability not in {name}:\n        raise ValueError("not known")\n'
        f"    return {name}[compute_capability]\n"
    )
    refusals = project({"p/__init__.py": "", "p/m.py": text}).refusals("family-split")
    assert refusals == ["12.x have no tensor memory, so the row for one of them may be wrong itself"]
