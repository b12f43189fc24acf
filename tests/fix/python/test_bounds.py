"""Open lower bounds in front of what one generation has, made to end below the next."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.fix.edited import apply
from bwlint.model.findings import Fix, NoFix

from .conftest import Make, Project

CAP = "import torch\ncap = torch.cuda.get_device_capability()\nmajor, minor = cap\nsm = major * 10 + minor\n"
PLATFORM = "from vllm.platforms import current_platform\n"
TWELVE = ChipSet.of("12.0", "12.1")
ENDED = [
    (CAP, "major >= 10", "major in (10, 11)"),
    (CAP, "10 <= major", "major in (10, 11)"),
    (CAP, "major > 9", "major in (10, 11)"),
    (CAP, "cap[0] >= 10", "cap[0] in (10, 11)"),
    (CAP, "major >= 11", "major == 11"),
    (CAP, "major >= 9", "9 <= major < 12"),
    (CAP, "major >= 8", "8 <= major < 12"),
    (CAP, "major > 7", "7 < major < 12"),
    (CAP, "sm >= 100", "100 <= sm < 120"),
    (CAP, "sm > 90", "90 < sm < 120"),
    (CAP, "cap >= (10, 0)", "(10, 0) <= cap < (12, 0)"),
    (CAP, "major * 10 + minor >= 100", "100 <= major * 10 + minor < 120"),
    (CAP, "ready() and major >= 10", "ready() and major in (10, 11)"),
    (
        PLATFORM,
        "current_platform.has_device_capability(100)",
        "current_platform.has_device_capability(100) and not current_platform.is_device_capability_family(120)",
    ),
]
REFUSING = [
    (CAP, "major < 10", "major not in (10, 11)"),
    (CAP, "major <= 9", "major not in (10, 11)"),
    (CAP, "sm < 100", "sm < 100 or sm >= 120"),
    (CAP, "sm <= 90", "sm <= 90 or sm >= 120"),
    (CAP, "ready() and sm < 100", "ready() and (sm < 100 or sm >= 120)"),
    (CAP, "cap < (10, 0)", "cap < (10, 0) or cap >= (12, 0)"),
    (
        CAP,
        "torch.cuda.get_device_capability() < (10, 0)",
        "not ((10, 0) <= torch.cuda.get_device_capability() < (12, 0))",
    ),
    (CAP, "ready() or major < 10", "ready() or major not in (10, 11)"),
    (CAP, "not major >= 10", "not major in (10, 11)"),
    (
        PLATFORM,
        "not current_platform.has_device_capability(100)",
        "not current_platform.has_device_capability(100) or current_platform.is_device_capability_family(120)",
    ),
]


@pytest.mark.parametrize(("head", "before", "after"), ENDED)
def test_bound_ends(snippet: Make, head: str, before: str, after: str) -> None:
    found = snippet(f"{head}if {before}:\n    run()\n")
    fix = found.propose(found.sets.core - TWELVE, "a path may be missing")
    assert isinstance(fix, Fix), fix
    assert (apply(found.source, fix.edits), fix.applicability, fix.kind) == (
        f"{head}if {after}:\n    run()\n",
        "unsafe",
        "bound",
    )
    kept = {"10.7", "11.0"} if before != "major >= 11" else {"11.0"}
    assert kept <= set(fix.proof.after_may)


@pytest.mark.parametrize(("head", "before", "after"), REFUSING)
def test_refusal_of_the_rest(snippet: Make, head: str, before: str, after: str) -> None:
    found = snippet(f"{head}if {before}:\n    raise RuntimeError()\n")
    fix = found.propose(found.sets.core | TWELVE, "a path may be missing")
    assert isinstance(fix, Fix), fix
    assert (apply(found.source, fix.edits), fix.kind) == (f"{head}if {after}:\n    raise RuntimeError()\n", "bound")
    assert not {"10.7", "11.0"} & set(fix.proof.after_must)


@pytest.mark.parametrize(("head", "before"), [(head, before) for head, before, _ in ENDED])
def test_never_safely(snippet: Make, head: str, before: str) -> None:
    found = snippet(f"{head}if {before}:\n    run()\n")
    assert isinstance(found.propose(found.sets.core - TWELVE), NoFix)


@pytest.mark.parametrize(
    "before",
    [
        "major >= LOWEST",
        "major - 10 >= 0",
        "max(major, 10) == major",
        "major >= 10 or minor >= 1",
    ],
)
def test_other_spellings(snippet: Make, before: str) -> None:
    source = f"{CAP}LOWEST = 10\nif {before}:\n    run()\n"
    found = snippet(source)
    assert isinstance(found.propose(found.sets.core - TWELVE, "a path may be missing"), NoFix)


KERNEL = "from cutlass.cute.nvgpu import tcgen05\n\n\ndef kernel():\n    tcgen05.mma()\n\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if major >= 10:\n        kernel()", ("unsafe", "if major in (10, 11):\n        kernel()")),
        (
            "if major < 10:\n        raise RuntimeError('no')\n    kernel()",
            ("safe", "if major not in (10, 11):\n        raise RuntimeError('no')\n    kernel()"),
        ),
        (
            "if major < 10:\n        raise RuntimeError('needs SM100+')\n    kernel()",
            ("safe", "if major not in (10, 11):\n        raise RuntimeError('needs SM10x or SM110')\n    kernel()"),
        ),
        ("if major < 10:\n        raise RuntimeError('neither SM90 nor SM120')\n    kernel()", None),
        ("if major >= 10:\n        other()", None),
        ("if major >= 10:\n        print('kernel')", None),
        ("if major in (10, 11):\n        kernel()", None),
        ("if major in (10, 11):\n        kernel()\n    elif major >= 12:\n        other()", None),
        ("if major >= 9:\n        other()", None),
    ],
)
def test_leak(project: Project, before: str, after: tuple[str, str] | None) -> None:
    head = f"import torch\n{KERNEL}def other():\n    pass\n\n\ndef run():\n"
    head += "    major, _ = torch.cuda.get_device_capability()\n    "
    assert project({"m.py": f"{head}{before}\n"}).fixes("leak") == (
        [(after[0], f"{head}{after[1]}\n")] if after is not None else []
    )


OBJECT = """import torch


class Arch:
    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    def __lt__(self, other):
        return (self.major, self.minor) < (other.major, other.minor)

    def __ge__(self, other):
        return (self.major, self.minor) >= (other.major, other.minor)


ours = Arch(*torch.cuda.get_device_capability())
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ours >= Arch(10, 0)", "Arch(10, 0) <= ours < Arch(12, 0)"),
        ("not ours < Arch(10, 0)", "not (ours < Arch(10, 0) or ours >= Arch(12, 0))"),
        ("ours >= Arch(major=10, minor=0)", "Arch(major=10, minor=0) <= ours < Arch(major=12, minor=0)"),
    ],
)
def test_objects_are_compared_as_their_class_can(project: Project, before: str, after: str) -> None:
    head = f"{OBJECT}{KERNEL}def run():\n"
    fixes = project({"m.py": f"{head}    if {before}:\n        kernel()\n"}).fixes("leak")
    assert fixes == [("unsafe", f"{head}    if {after}:\n        kernel()\n")]
