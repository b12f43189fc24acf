"""A refusal under a condition counts wherever the condition still holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

from bwlint.readers.nodes import conditions_at

HEAD = (
    "import torch\n\n\ndef is_sm90():\n    return torch.cuda.get_device_capability()[0] == 9\n\n\n"
    "def is_sm100():\n    return torch.cuda.get_device_capability()[0] == 10\n\n\ndef moe(x, fp4, tuned):\n"
)
CHECK = "    if fp4:\n        assert is_sm100(), 'this needs SM100'\n"
CHOICE = (
    "    if is_sm90() and tuned:\n        return run_sm90(x)\n"
    "    elif fp4 and tuned:\n        return run_sm100(x)\n    return x\n"
)


@pytest.mark.parametrize(
    ("check", "choice", "expected"),
    [
        (CHECK, CHOICE, []),
        (CHECK.replace("assert is_sm100(),", "assert x; assert is_sm100(),"), CHOICE, []),
        (CHECK.replace("if fp4", "if fp4 and tuned"), CHOICE, []),
        # the place asks for something else, or what was asked is another thing now
        ("", CHOICE, ["warning"]),
        (CHECK.replace("if fp4", "if fp8"), CHOICE, ["warning"]),
        (CHECK, CHOICE.replace("elif fp4", "elif fp8"), ["warning"]),
        (CHECK.replace("if fp4", "if fp4 and x"), CHOICE, ["warning"]),
        (CHECK + "    fp4 = tuned\n", CHOICE, ["warning"]),
        (CHECK.replace("is_sm100()", "not is_sm90()"), CHOICE, ["warning"]),
    ],
)
def test_what_is_refused_under_a_flag(tmp_path: Path, check: str, choice: str, expected: list[str]) -> None:
    found = drafts(tmp_path, {"p/a.py": HEAD + check + choice}, "leak")
    assert [one.partition(" ")[2] for one in levels(found) if "warning" in one] == expected


NESTED = "if a and b:\n    x = 1\n    if c > 1:\n        y = 2\n    else:\n        z = 3\nelif d:\n    w = 4\n"


@pytest.mark.parametrize(
    ("line", "since", "expected"),
    [
        (1, 0, set()),
        (2, 0, {"a", "b"}),
        (4, 0, {"a", "b", "c > 1"}),
        (6, 0, {"a", "b"}),
        (8, 0, {"d"}),
        (9, 0, set()),
    ],
)
def test_conditions(line: int, since: int, expected: set[str]) -> None:
    assert conditions_at(NESTED, line, since) == expected


def test_a_name_that_is_assigned_in_between_says_nothing() -> None:
    source = f"a = 1\n{NESTED}"
    assert conditions_at(source, 3, 0) == {"b"}
    assert conditions_at(source, 3, 1) == {"a", "b"}
    assert conditions_at("if a:\n", 1) == frozenset()


def test_the_mark_of_another_test_refuses_nobody_here(tmp_path: Path) -> None:
    mark = "@pytest.mark.skipif({}, reason='no kernel')\ndef test_{}():\n    run_{}(1)\n\n\n"
    head = "import pytest\nimport torch\nfrom p.kernel import run_one, run_two\n\n"
    head += "CAP = torch.cuda.get_device_capability()\n\n\n"
    kernel = "from cutlass.cute.nvgpu import tcgen05\n\n\ndef run_{}(x):\n    return tcgen05.MmaOp(x)\n\n\n"
    files = {
        "p/__init__.py": "",
        "p/kernel.py": kernel.format("one") + kernel.format("two"),
        "tests/test_it.py": head
        + mark.format("CAP not in ((10, 0), (10, 3))", "one", "one")
        + mark.format("CAP < (10, 0)", "two", "two"),
    }
    found = [one for one in drafts(tmp_path, files, "test-gate") if one.severity == "warning"]
    assert [one.at.line for one in found] == [13]
