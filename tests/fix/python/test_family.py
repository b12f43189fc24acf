"""Exact tests of one part, made to hold for its family."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bwlint.chips import ChipSet
from bwlint.model.findings import Fix

from .conftest import Make

CAP = "import torch\ncap = torch.cuda.get_device_capability()\nmajor, minor = cap\n"
PLATFORM = "from vllm.platforms import current_platform\n"
ARCH = "from cutlass.base_dsl import Arch\n"
ARGUMENTS = "def f(arch, sm_version):\n  "

CONDITIONS = [
    (CAP, "cap == (12, 0)", "cap in ((12, 0), (12, 1))"),
    (CAP, "(12, 0) == cap", "cap in ((12, 0), (12, 1))"),
    (CAP, "cap==(12,0)", "cap in ((12,0), (12,1))"),
    (CAP, "cap != (12, 0)", "cap not in ((12, 0), (12, 1))"),
    (CAP, "not cap == (12, 0)", "not cap in ((12, 0), (12, 1))"),
    (CAP, "not(major == 12 and minor == 0)and ready()", "not(major == 12)and ready()"),
    (CAP, "(cap == (12, 0)) and ready()", "(cap in ((12, 0), (12, 1))) and ready()"),
    (CAP, "cap == (9, 0) or cap == (12, 0)", "cap == (9, 0) or cap in ((12, 0), (12, 1))"),
    (CAP, "cap[0] == 12 and cap[1] == 0", "cap[0] == 12"),
    (CAP, "major == 12 and minor == 0", "major == 12"),
    (CAP, "minor == 0 and major == 12", "major == 12"),
    (CAP, "major == 12 and minor == 0 and ready()", "major == 12 and ready()"),
    (CAP, "major == 12 and ready() and minor == 0", "major == 12 and ready()"),
    (CAP, "ready() and (major == 12 and minor == 0)", "ready() and (major == 12)"),
    (CAP, "major == 12 and minor == 0 and rank == 0", "major == 12 and rank == 0"),
    (CAP, "major != 12 or minor != 0", "major != 12"),
    (CAP, "torch.cuda.get_device_capability() == (12, 0)", "torch.cuda.get_device_capability()[0] == 12"),
    (CAP, "torch.cuda.get_device_capability(0) != (12, 0)", "torch.cuda.get_device_capability(0)[0] != 12"),
    (CAP, "torch.cuda.get_device_capability()==(12,0)", "torch.cuda.get_device_capability()[0]==12"),
    (CAP, "major * 10 + minor == 120", "major * 10 + minor in (120, 121)"),
    (CAP, "major * 100 + minor * 10 == 1200", "major * 100 + minor * 10 in (1200, 1210)"),
    (CAP, "cap in [(9, 0), (12, 0)]", "cap in [(9, 0), (12, 0), (12, 1)]"),
    (CAP, "cap not in ((9, 0), (12, 0),)", "cap not in ((9, 0), (12, 0), (12, 1),)"),
    (CAP, "cap in {(12, 0)}", "cap in {(12, 0), (12, 1)}"),
    (CAP, "cap in ((12, 0),)", "cap in ((12, 0), (12, 1))"),
    (CAP, "major * 10 + minor in (100,120,130)", "major * 10 + minor in (100,120,121,130)"),
    (CAP, "any(cap == c for c in [(12, 0), (9, 0)])", "any(cap == c for c in [(12, 0), (12, 1), (9, 0)])"),
    (CAP, "f'sm_{major}{minor}' == 'sm_120'", "f'sm_{major}{minor}' in ('sm_120', 'sm_121')"),
    (CAP, 'f"{major}.{minor}" in ("9.0", "12.0")', 'f"{major}.{minor}" in ("9.0", "12.0", "12.1")'),
    (
        PLATFORM,
        "current_platform.is_device_capability(120)",
        "current_platform.is_device_capability_family(120)",
    ),
    (
        PLATFORM,
        "not current_platform.is_device_capability((12, 0))",
        "not current_platform.is_device_capability_family(120)",
    ),
    (
        PLATFORM,
        "current_platform.is_device_capability(capability=120)",
        "current_platform.is_device_capability_family(120)",
    ),
    (ARCH, "self.arch == Arch.sm_120a", "self.arch in (Arch.sm_120a, Arch.sm_121a)"),
    (
        ARCH,
        "self.arch in (Arch.sm_100a, Arch.sm_120a)",
        "self.arch in (Arch.sm_100a, Arch.sm_120a, Arch.sm_121a)",
    ),
    (ARCH, "self.arch != Arch.sm_120a", "self.arch not in (Arch.sm_120a, Arch.sm_121a)"),
    (ARGUMENTS, 'sm_version != "sm_120"', 'sm_version not in ("sm_120", "sm_121")'),
    (ARGUMENTS, 'arch in ["sm_100a", "sm_120a"]', 'arch in ["sm_100a", "sm_120a", "sm_121a"]'),
    (ARGUMENTS, 'arch == "120"', 'arch in ("120", "121")'),
]


@pytest.mark.parametrize(("head", "before", "after"), CONDITIONS)
def test_condition(snippet: Make, head: str, before: str, after: str) -> None:
    fixed = snippet(f"{head}if {before}:\n    run()\n").fixed()
    assert fixed == f"{head}if {after}:\n    run()\n"


@pytest.mark.parametrize(("head", "before", "after"), CONDITIONS)
def test_the_fixed_text_has_nothing_to_fix(snippet: Make, head: str, before: str, after: str) -> None:
    again = snippet(f"{head}if {after}:\n    run()\n")
    assert again.refused().startswith("nothing to do")


LISTS = [
    ("archs = ['10.0', '12.0']\n", "archs = ['10.0', '12.0', '12.1']\n"),
    ("ARCHS = ['100', '120']\n", "ARCHS = ['100', '120', '121']\n"),
    (
        "def f(arch):\n    return arch in ['sm_100a', 'sm_120a']\n",
        "def f(arch):\n    return arch in ['sm_100a', 'sm_120a', 'sm_121a']\n",
    ),
    ("CUDA_ARCHS = [100,103,120]\n", "CUDA_ARCHS = [100,103,120,121]\n"),
    ("CUDA_ARCHS = (120,)\n", "CUDA_ARCHS = (120, 121)\n"),
    ("CUDA_ARCHS = 100, 120\n", "CUDA_ARCHS = 100, 120, 121\n"),
    (
        "CUDA_ARCHS = frozenset({100, 120})\ng(archs=[120, 90])\n",
        "CUDA_ARCHS = frozenset({100, 120})\ng(archs=[120, 121, 90])\n",
    ),
    (
        "@supported_compute_capability([100, 103, 120])\ndef f(): ...\n",
        "@supported_compute_capability([100, 103, 120, 121])\ndef f(): ...\n",
    ),
    (
        "CUDA_ARCHS = [\n    100,\n    120,\n]\n",
        "CUDA_ARCHS = [\n    100,\n    120,\n    121,\n]\n",
    ),
    (
        "CUDA_ARCHS = [\n    100,\n    120\n]\n",
        "CUDA_ARCHS = [\n    100,\n    120,\n    121\n]\n",
    ),
    (
        "CUDA_ARCHS = [\n    90, 100,\n    110, 120,\n]\n",
        "CUDA_ARCHS = [\n    90, 100,\n    110, 120, 121,\n]\n",
    ),
    (
        "CUDA_ARCHS = [\n    100,  # B200\n    120,  # RTX 5090\n    # Hopper\n    90,\n]\n",
        "CUDA_ARCHS = [\n    100,  # B200\n    120,  # RTX 5090\n    121,\n    # Hopper\n    90,\n]\n",
    ),
    (
        "CUDA_ARCHS = [\n    100,\n    120,  # RTX 5090\n    # more to come\n]\n",
        "CUDA_ARCHS = [\n    100,\n    120,  # RTX 5090\n    121,\n    # more to come\n]\n",
    ),
    (
        "CUDA_ARCHS = (\n    100,\n    120  # RTX 5090\n)\n",
        "CUDA_ARCHS = (\n    100,\n    120,  # RTX 5090\n    121\n)\n",
    ),
    (
        "CUDA_ARCHS = [\n\t100,\n\n\t120,\n\n\t90,\n]\n",
        "CUDA_ARCHS = [\n\t100,\n\n\t120,\n\t121,\n\n\t90,\n]\n",
    ),
    (
        "CUDA_ARCHS = [100,  # B200\n              120]  # RTX\n",
        "CUDA_ARCHS = [100,  # B200\n              120, 121]  # RTX\n",
    ),
    (
        "def f(arch):\n    return arch in (\n        'sm_120a',\n        'sm_120f',\n        'sm_90',\n    )\n",
        "def f(arch):\n    return arch in (\n        'sm_120a',\n        'sm_121a',\n        'sm_120f',\n"
        "        'sm_121f',\n        'sm_90',\n    )\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), LISTS)
def test_list(snippet: Make, before: str, after: str) -> None:
    assert snippet(before).fixed() == after


@pytest.mark.parametrize(("before", "after"), LISTS)
def test_list_with_other_line_ends(snippet: Make, before: str, after: str) -> None:
    assert snippet(before.replace("\n", "\r\n")).fixed() == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = '🎉'; y = cap == (12, 0)  # 🎉\n", "x = '🎉'; y = cap in ((12, 0), (12, 1))  # 🎉\n"),
        ("z = f('é🎉', cap in [(12, 0)], '🎉')\nif cap in [(12, 0)]: pass\n", None),
        (
            "if ' 🎉' and cap in [(9, 0), (12, 0)]:\n\tpass\n",
            "if ' 🎉' and cap in [(9, 0), (12, 0), (12, 1)]:\n\tpass\n",
        ),
        (
            "def f(capability):\n\tif capability == (12, 0):\n\t\treturn 1\n",
            "def f(capability):\n\tif capability in ((12, 0), (12, 1)):\n\t\treturn 1\n",
        ),
        ("s = '\x85\u2028'\nif cap == (12, 0): pass", "s = '\x85\u2028'\nif cap in ((12, 0), (12, 1)): pass"),
        (
            "a = 1; b = cap == (12, 0); c = [\n    2\n]\n",
            "a = 1; b = cap in ((12, 0), (12, 1)); c = [\n    2\n]\n",
        ),
        ("if (cap ==  # why\n    (9, 0) or cap == (12, 0)): pass\n", None),
    ],
)
def test_text_around(snippet: Make, before: str, after: str | None) -> None:
    if after is None:
        after = before.replace("if cap in [(12, 0)]", "if cap in [(12, 0), (12, 1)]")
        after = after.replace("or cap == (12, 0)", "or cap in ((12, 0), (12, 1))")
    for end in ("\n", "\r\n"):
        head, text = CAP.replace("\n", end), before.replace("\n", end)
        assert snippet(head + text).fixed() == head + after.replace("\n", end)


def test_columns_are_utf16(snippet: Make) -> None:
    fix = snippet(f"{CAP}x = '🎉'; y = cap == (12, 0)\n").propose()
    assert isinstance(fix, Fix)
    region = fix.edits[0].region
    assert (region.line, region.column, region.end_column) == (4, 15, 29)


def test_proof(snippet: Make) -> None:
    fix = snippet(f"{CAP}if cap == (12, 0) and ready():\n    pass\n").propose()
    assert isinstance(fix, Fix)
    assert (fix.applicability, fix.kind) == ("safe", "family")
    assert fix.title == "Treat 12.1 like 12.0: write `cap in ((12, 0), (12, 1))`"
    assert fix.proof.before_may == ("12.0",)
    assert fix.proof.after_may == ("12.0", "12.1")
    assert fix.proof.before_must == fix.proof.after_must == ()
    assert fix.proof.evidence == "a test"


def test_unsafe(snippet: Make) -> None:
    fix = snippet(f"{CAP}if cap == (12, 0):\n    pass\n").propose(unsafe_reason="nothing admits 12.1")
    assert isinstance(fix, Fix)
    assert fix.applicability == "unsafe"
    assert fix.proof.evidence == "a test (unsafe: nothing admits 12.1)"


def test_insertion_is_the_smallest_edit(snippet: Make) -> None:
    fix = snippet("CUDA_ARCHS = [100, 120, 90]\n").propose()
    assert isinstance(fix, Fix)
    assert (fix.edits[0].text, fix.edits[0].region.column, fix.edits[0].region.end_column) == (
        ", 121",
        23,
        23,
    )
    assert fix.title == "Treat 12.1 like 12.0: add `121`"


@pytest.mark.parametrize(
    ("test", "wanted", "after"),
    [
        ("cap == (10, 0)", ("10.0", "10.3"), "cap in ((10, 0), (10, 3))"),
        ("cap == (10, 0)", ("10.0", "10.3", "10.7"), "cap in ((10, 0), (10, 3), (10, 7))"),
        ("cap in [(10, 0), (10, 3)]", ("10.0", "10.3", "10.7"), "cap in [(10, 0), (10, 3), (10, 7)]"),
        # the major alone would admit 10.1 too
        ("major == 10 and minor == 0", ("10.0", "10.3"), "major == 10 and minor in (0, 3)"),
        ("major == 10 and minor == 0", ("10.0", "10.1", "10.3", "10.7"), None),
    ],
)
def test_other_families(snippet: Make, test: str, wanted: tuple[str, ...], after: str | None) -> None:
    found = snippet(f"{CAP}if {test}: pass\n")
    if after is None:
        assert found.refused(ChipSet.of(*wanted)) == "nothing here shows that a sibling of 10.1 is wanted"
    else:
        assert found.fixed(ChipSet.of(*wanted)) == f"{CAP}if {after}: pass\n"


def test_flag_is_edited_where_it_is_defined(snippet: Make) -> None:
    source = f"{CAP}exact = cap == (12, 0)\nif exact and ready():\n    pass\n"
    after = source.replace("cap == (12, 0)", "cap in ((12, 0), (12, 1))")
    assert snippet(source, 0).fixed() == snippet(source, 1).fixed() == after


def test_libcst_is_loaded_for_a_fix_only() -> None:
    code = "import sys, bwlint.fix, bwlint.fix.edited; sys.exit('libcst' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode
        == 0
    )


def test_helper_with_uses(snippet: Make) -> None:
    """What asks a helper is right or wrong with it."""
    before = "def is_sm120():\n    return torch.cuda.get_device_capability() == (12, 0)\nif is_sm120(): a()\n"
    after = before.replace(" == (12, 0)", "[0] == 12")
    assert snippet(CAP + before).fixed() == CAP + after


@pytest.mark.parametrize(
    ("before", "after"),
    [("[100, 107, 110]", "[100, 103, 107, 110]"), ("[107, 100]", "[107, 100, 103]"), ("[107, 110]", "[107, 103, 110]")],
)
def test_order_of_a_list(snippet: Make, before: str, after: str) -> None:
    found = snippet(f"CUDA_ARCHS = {before}\n")
    assert found.fixed(found.sets.core | ChipSet.of("10.3")) == f"CUDA_ARCHS = {after}\n"
