"""Tests that another generation is let through, with the later tests that have to go with them."""

from __future__ import annotations

import pytest

from .conftest import Project

HEAD = "import torch\n\n\ndef run(x):\n    major = torch.cuda.get_device_capability()[0]\n"
FLAT = HEAD.replace("[0]", "").replace("major", "cap")

OPENED = [
    (  # an assert, and the arm for 8.x below it
        HEAD + '    assert major == 8 or major == 9, "no kernel"\n'
        "    if major == 8:\n        return ampere(x)\n    return hopper(x)\n",
        HEAD + '    assert major in (8, 9, 12), "no kernel"\n'
        "    if major in (8, 12):\n        return ampere(x)\n    return hopper(x)\n",
    ),
    (  # the end of a chain: the arm of 8.9
        FLAT
        + "    if cap == (8, 0):\n        return a100(x)\n    elif cap in [(8, 6), (8, 9)]:\n        return small(x)\n"
        '    else:\n        raise ValueError("no kernel")\n',
        FLAT + "    if cap == (8, 0):\n        return a100(x)\n    elif cap in [(8, 6), (8, 9), (12, 0), (12, 1)]:\n"
        '        return small(x)\n    else:\n        raise ValueError("no kernel")\n',
    ),
    (  # one chip of a family goes where the other goes, and not to the arm of 8.x
        FLAT
        + "    if cap == (12, 0):\n        return fp4(x)\n    elif cap in [(8, 6), (8, 9)]:\n        return small(x)\n"
        '    else:\n        raise ValueError("no kernel")\n',
        FLAT + "    if cap in ((12, 0), (12, 1)):\n        return fp4(x)\n    elif cap in [(8, 6), (8, 9)]:\n"
        '        return small(x)\n    else:\n        raise ValueError("no kernel")\n',
    ),
    (
        HEAD + '    if major not in (8, 9, 10):\n        raise RuntimeError("no kernel")\n    return go(x)\n',
        HEAD + '    if major not in (8, 9, 10, 12):\n        raise RuntimeError("no kernel")\n    return go(x)\n',
    ),
]


@pytest.mark.parametrize(("before", "after"), OPENED)
def test_what_belongs_together_is_one_edit(project: Project, before: str, after: str) -> None:
    assert project({"m.py": before}).fixes("excluded") == [("unsafe", after)]


@pytest.mark.parametrize(
    "rest",
    [
        "    elif cap in [(8, 0), (8, 6), (10, 0)]:\n        return small(x)\n    return None\n",
        "    elif cap in [(8, 6), (8, 9)]:\n        return small(x)\n    else:\n        raise ValueError('none')\n",
    ],
)
def test_who_is_refused_by_name_has_no_twin_let_in_elsewhere(project: Project, rest: str) -> None:
    first = "    if cap == (12, 0):\n        raise ValueError('not on this one')\n"
    checked = project({"m.py": FLAT + first + rest})
    assert not checked.fixes("excluded") and not checked.refusals("excluded")


REFUSED = [
    (
        HEAD + '    assert major == 8 or major == 9, "only sm80 and sm90 are supported"\n    return go(x)\n',
        "names the other chips only",
    ),
    (
        HEAD + "    if major not in (8, 9, 10):\n"
        '        raise RuntimeError("built for 8.x, 9.x, 10.x")\n    return go(x)\n',
        "names the other chips only",
    ),
    (  # 9.0 apart from 10.x, and nobody says where 12.x goes
        HEAD + "    assert major in (8, 9, 10)\n    if major >= 9:\n        return tma(x)\n    return old(x)\n",
        "splits the chips that get here",
    ),
    (
        HEAD + "    if major == 8:\n        return 4, 2\n    elif major == 9:\n        return 8, 8\n"
        '    else:\n        raise ValueError("unknown")\n',
        "the branches give numbers: decide those of 12.x",
    ),
    (
        "import torch\n\n\nclass Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        major = torch.cuda.get_device_capability()[0]\n"
        "        assert major == 8 or major == 9, 'only sm80 and sm90'\n        ctx.major_version = major\n"
        "        if major == 8:\n            return go(x)\n        return go90(x)\n\n"
        "    @staticmethod\n    def backward(ctx, x):\n"
        "        if ctx.major_version == 8:\n            return back(x)\n        return back90(x)\n",
        "open both by hand",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_a_part_that_is_not_mended_leaves_all_as_it_is(project: Project, text: str, reason: str) -> None:
    checked = project({"m.py": text})
    (refused,) = checked.refusals("excluded")
    assert reason in refused and not checked.fixes("excluded")


LISTED = "import torch\n\n\ndef run(x):\n    major = torch.cuda.get_device_properties(0).major\n"
LISTED += "    if major not in [8, 9, 10]:\n        raise ValueError('{}')\n    return torch.ops.p.gemm(x)\n"


@pytest.mark.parametrize(
    ("said", "opened"),
    [
        ("this is for Ampere, Hopper, B200 and B300 GPUs", False),
        ("this is for Ampere and Hopper", False),
        ("this is for Ampere GPUs or newer", True),
        ("this is for Ampere, Hopper and Blackwell", True),
        ("no kernel", True),
    ],
)
def test_generations_that_a_refusal_names(project: Project, said: str, opened: bool) -> None:
    found = project({"m.py": LISTED.format(said)})
    assert [text for _, text in found.fixes("excluded")] == [LISTED.format(said).replace("10]", "10, 12]")] * opened
    assert any("names the other chips only" in one for one in found.refusals("excluded")) is not opened


def test_a_list_of_targets_gets_all_names_of_the_generation(project: Project) -> None:
    names = "".join(f'        "sm_{name}",\n' for name in ("90", "90a", "100a"))
    text = f'check_value_in(\n    arch,\n    [\n{names}    ],\n    "arch",\n)\n'
    added = "".join(f'        "sm_{name}",\n' for name in ("120", "120a", "121", "121a"))
    after = text.replace('"sm_100a",\n', '"sm_100a",\n' + added)
    assert project({"m.py": text}).fixes("excluded") == [("unsafe", after)]  # nothing of the file comes after it


def test_the_same_list_in_another_function_has_an_edit_of_its_own(project: Project) -> None:
    before = '    check_value_in(get_arch(), ["sm_90", "sm_100a"], "arch")\n'
    names = '["sm_90", "sm_100a", "sm_120", "sm_120a", "sm_121", "sm_121a"]'
    after = f'    check_value_in(\n        get_arch(),\n        {names},\n        "arch",\n    )\n'
    called = "    return nvvm.elect_sync()\n\n\n"
    text = "def elect():\n{}{}def elect_more():\n{}{}def rest():\n    return 0\n"
    assert project({"m.py": text.format(before, called, before, called)}).fixes("excluded") == [
        ("safe", text.format(after, called, before, called)),
        ("safe", text.format(before, called, after, called)),
    ]


def test_a_list_that_a_later_test_parts_is_left(project: Project) -> None:
    text = (
        "class Copy:\n    archs = ['sm_90', 'sm_90a', 'sm_100a']\n\n    def __post_init__(self):\n"
        "        arch = get_arch()\n        if arch not in self.archs:\n            raise ValueError(arch)\n"
        "        if self.two and arch[:5] == 'sm_90':\n            raise ValueError('needs two blocks')\n"
    )
    assert not project({"m.py": text}).fixes("excluded")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ARCHS = [\n    'sm_90a'\n    'sm_120a',\n    'sm_121a',\n]\n",
            "ARCHS = [\n    'sm_90a',\n    'sm_120a',\n    'sm_121a',\n]\n",
        ),
        ("ARCHS = {'10.0' '12.0', '12.1'}  # all\n", "ARCHS = {'10.0', '12.0', '12.1'}  # all\n"),
    ],
)
def test_the_comma_is_put(project: Project, before: str, after: str) -> None:
    assert project({"m.py": before}).fixes("excluded") == [("safe", after)]


@pytest.mark.parametrize("name", ["CUDA_ARCHS", "BUILD_TARGETS", "nvcc_archs"])
def test_a_list_that_a_build_may_read_is_for_a_person(project: Project, name: str) -> None:
    assert not project({"m.py": f'{name} = ["sm_90", "sm_100"]\n'}).fixes("excluded")
