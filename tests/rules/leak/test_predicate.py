"""A predicate that says too much is told where it stands, and who asks it is silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import analysed

KERNEL = "from cutlass.cute.nvgpu import tcgen05\n\n\ndef rht(x):\n    return tcgen05.MmaOp(x)\n"
OPEN = "torch.cuda.get_device_capability() >= (10, 0)"
PREDICATE = "import torch\n\n\ndef {name}():\n    return torch.cuda.is_available() and {test}\n"
USER = (
    "from p.can import {name}\n\n\ndef run(x):\n    if not {name}():\n        raise RuntimeError('no')\n"
    "    from p.kernel import rht\n    return rht(x)\n"
)
CHOICE = USER.replace("        raise RuntimeError('no')\n", "        return None\n")
TEST = (
    "import pytest\nfrom p.can import {name}\nfrom p.kernel import rht\n\n\n"
    "@pytest.mark.skipif(not {name}(), reason='needs SM100 or newer')\ndef test_it():\n    assert rht(1)\n"
)
HELPER = (
    "from p.can import {name}\nfrom p.kernel import rht\n\n\ndef require(what):\n    if not {name}():\n"
    "        raise RuntimeError(what)\n"
)
USERS = (
    "from p.helper import require\nfrom p.kernel import rht\n\n\ndef run(x):\n    require('rht')\n    return rht(x)\n"
)
NO_HELP = HELPER.replace("        raise RuntimeError(what)\n", "        print(what)\n")
MARKS = (
    "import pytest\nimport torch\nfrom p.can import {name}\nfrom p.kernel import rht\n\n"
    "newer = pytest.mark.skipif(torch.cuda.get_device_capability() < (10, 0), reason='too old')\n"
    "usable = pytest.mark.skipif(not {name}(), reason='cannot')\n\n\n"
    "@newer\n@usable\ndef test_it():\n    assert rht(1)\n"
)
ALONE = MARKS + "\n\n@newer\ndef test_alone():\n    assert rht(2)\n"
NESTED = MARKS.replace("@newer\n@usable\ndef test_it():\n", "@usable\ndef test_it():\n")
FAR = (
    "import pytest\nimport torch\nfrom p.user import run\n\n\n"
    "@pytest.mark.skipif(torch.cuda.get_device_capability() < (10, 0), reason='too old')\n"
    "def test_it():\n    assert run(1)\n"
)
CAN, IN_TEST = "p/can.py:5 leak", "tests/test_it.py:6 test-gate"
AVAILABLE = "rht_kernels_available"


def tree(name: str, test: str = OPEN, **files: str) -> dict[str, str]:
    found = {"p/__init__.py": "", "p/kernel.py": KERNEL, "p/can.py": PREDICATE.format(name=name, test=test)}
    return found | {path.replace("__", "/") + ".py": text.format(name=name) for path, text in files.items()}


def told(folder: Path, files: dict[str, str], only: str = "") -> list[str]:
    """What is warned about, as "path:line rule"."""
    found = analysed(folder, files, ["leak", "test-gate", "message"], only=only).drafts
    warned = [draft for _, each in found for draft in each if draft.severity != "note"]
    return [f"{Path(d.module.path).relative_to(folder.resolve())}:{d.at[0]} {d.rule.name}" for d in warned]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (tree(AVAILABLE, p__user=USER), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, p__user=CHOICE), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, p__user=USER, p__other=CHOICE, tests__test_it=TEST), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, tests__test_it=TEST), ["p/can.py:5 leak"]),
        (tree("can_use_rht", p__user=USER), ["p/can.py:5 leak"]),
        (tree("is_sm_at_least_100", p__user=USER), ["p/user.py:5 leak"]),
        (tree("is_blackwell", p__user=USER, p__other=USER), ["p/other.py:5 leak", "p/user.py:5 leak"]),
        (tree("has_capability_100", p__user=USER), ["p/user.py:5 leak"]),
        (tree(AVAILABLE, "torch.cuda.get_device_capability()[0] == 10", p__user=USER), []),
        (tree(AVAILABLE), []),
        (tree(AVAILABLE, p__helper=HELPER, p__user=USERS), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, p__helper=HELPER, p__user=USERS, p__other=USERS), ["p/can.py:5 leak"]),
        (tree("is_sm_at_least_100", p__helper=HELPER, p__user=USERS), ["p/user.py:6 leak"]),
        (tree(AVAILABLE, p__helper=NO_HELP, p__user=USERS), []),
        (tree(AVAILABLE, tests__test_it=MARKS), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, tests__test_it=NESTED), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, tests__test_it=ALONE), [CAN, IN_TEST]),
        (tree("is_blackwell", tests__test_it=MARKS), [IN_TEST]),
        (tree(AVAILABLE, p__user=CHOICE, tests__test_it=FAR), ["p/can.py:5 leak"]),
        (tree(AVAILABLE, p__helper=HELPER, p__user=USERS, tests__test_it=FAR), [CAN, IN_TEST]),
        (tree("is_blackwell", p__user=CHOICE, tests__test_it=FAR), ["p/user.py:5 leak", IN_TEST]),
        (tree(AVAILABLE, p__user=USER, p__kernel="def rht(x):\n    return x\n"), []),
    ],
)
def test_where_it_is_told(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert told(tmp_path, files) == expected


def test_one_file_says_what_the_tree_says(tmp_path: Path) -> None:
    files = tree(AVAILABLE, p__user=USER, p__other=USER)
    assert told(tmp_path, files) == ["p/can.py:5 leak"]
    assert told(tmp_path, files, only="p/user.py") == []
    assert told(tmp_path, files, only="p/can.py") == ["p/can.py:5 leak"]
