"""Orders of names and of releases that stand for something else."""

from __future__ import annotations

import pytest

from .conftest import Project

ENUM = "from cutlass.base_dsl.arch import Arch\nfrom cutlass.base_dsl import BaseDSL\n"
ARCH = ENUM + "arch = BaseDSL._get_dsl().get_arch_enum()\n"
RULE = "capability-type"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "assert arch >= Arch.sm_100 and arch <= Arch.sm_110f, 'no'",
            "assert arch.is_family_of(Arch.sm_100f) or arch.is_family_of(Arch.sm_110f), 'no'",
        ),
        ("assert arch >= Arch.sm_103 and arch <= Arch.sm_103f", "assert arch.is_family_of(Arch.sm_103f)"),
        ("if Arch.sm_103 <= arch <= Arch.sm_103f: f()", "if arch.is_family_of(Arch.sm_103f): f()"),
        ("assert (arch >= Arch.sm_103) and arch <= Arch.sm_103f", None),
        ("is_sm103 = arch >= Arch.sm_103 and arch <= Arch.sm_103f", "is_sm103 = arch.is_family_of(Arch.sm_103f)"),
        (
            "if f() and Arch.sm_100 <= arch <= Arch.sm_110f: g()",
            "if f() and (arch.is_family_of(Arch.sm_100f) or arch.is_family_of(Arch.sm_110f)): g()",
        ),
        # the order is by major and minor: of 10.x this holds on 10.0 alone
        ("assert arch >= Arch.sm_100 and arch <= Arch.sm_100f", None),
        ("assert arch >= Arch.sm_90 and arch <= Arch.sm_120f", None),
        ("assert arch >= Arch.sm_90", None),
        ("assert arch >= Arch.sm_103 and arch < Arch.sm_103f", None),
        # nothing says that this enum can be asked
        ("assert arch >= Arch.sm_90 and arch <= Arch.sm_90a", None),
        ("assert arch >= Arch.sm_103 and other <= Arch.sm_103f", None),
        ("# exactly these names\nassert arch >= Arch.sm_103 and arch <= Arch.sm_103f", None),
    ],
)
def test_range_of_names(project: Project, before: str, after: str | None) -> None:
    found = project({"m.py": f"{ARCH}{before}\n"}).fixes(RULE)
    # 10.7 is of the family of 10.3, and passes then; the other ranges hold on the same chips, and lose plain targets
    assert found == ([] if after is None else [("unsafe", f"{ARCH}{after}\n")])


def test_arms_that_ask_by_the_order(project: Project) -> None:
    """One of them alone would not be changed by anybody."""
    arms = (
        "def f():\n    if arch >= Arch.sm_100 and arch <= Arch.sm_100f:\n        a()\n"
        "    elif arch >= Arch.sm_103 and arch <= Arch.sm_103f:\n        b()\n"
    )
    after = arms.replace("arch >= Arch.sm_103 and arch <= Arch.sm_103f", "arch.is_family_of(Arch.sm_103f)")
    assert project({"m.py": ARCH + arms}).fixes(RULE) == [("unsafe", ARCH + after)]


def test_enum_that_the_project_asks(project: Project) -> None:
    files = {"m.py": f"{ARCH}assert arch >= Arch.sm_90 and arch <= Arch.sm_90a\n", "n.py": "x.is_family_of(y)\n"}
    assert project(files).fixes(RULE) == [("unsafe", f"{ARCH}assert arch.is_family_of(Arch.sm_90a)\n")]


@pytest.mark.parametrize("after", ["arch.is_family_of(Arch.sm_103f)", "arch.is_family_of(Arch.sm_110f)"])
def test_families_have_nothing_to_fix(project: Project, after: str) -> None:
    found = project({"m.py": f"{ARCH}assert {after}\n"}).findings
    assert all(finding.name != RULE for finding in found)


HEAD = "import torch\n{}\n\ndef f(device):\n    major, _ = torch.cuda.get_device_capability(device)\n    return "


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("from packaging.version import Version", "Version"),
        ("from packaging.version import InvalidVersion, Version", "Version"),
        ("from packaging import version", "version.parse"),
        ("from packaging.version import parse", "parse"),
        ("from torch.torch_version import TorchVersion", "TorchVersion"),
    ],
)
def test_release_as_text(project: Project, imported: str, name: str) -> None:
    head = HEAD.format(imported)
    before = f'{head}major == 12 and torch.version.cuda >= "12.9"\n'
    after = f'{head}major == 12 and {name}(torch.version.cuda) >= {name}("12.9")\n'
    assert project({"m.py": before}).fixes(RULE) == [("unsafe", after)]
    assert not project({"m.py": after}).fixes(RULE)


def test_release_with_an_import(project: Project) -> None:
    head = HEAD.format("")
    other = "from packaging.version import Version\nOLD = Version('1')\n"
    files = {"m.py": f'{head}major == 12 and torch.version.cuda >= "12.9"\n', "n.py": other}
    after = f'{head}major == 12 and Version(torch.version.cuda) >= Version("12.9")\n'
    after = after.replace("import torch\n", "import torch\nfrom packaging.version import Version\n", 1)
    assert project(files).fixes(RULE) == [("unsafe", after)]


def test_release_above_the_imports(project: Project) -> None:
    text = HEAD.format("") + 'major == 12 and torch.version.cuda >= "12.9"\nimport os\n'
    assert not project({"m.py": text, "n.py": "from packaging.version import Version\nOLD = Version('1')\n"}).fixes(
        RULE
    )


@pytest.mark.parametrize("other", ["x = 1\n", "# from packaging import version\n"])
def test_release_in_a_project_that_reads_none(project: Project, other: str) -> None:
    text = HEAD.format("") + 'major == 12 and torch.version.cuda >= "12.9"\n'
    assert not project({"m.py": text, "n.py": other}).fixes(RULE)


def test_script_that_builds_says_nothing(project: Project) -> None:
    text = HEAD.format("") + 'major == 12 and torch.version.cuda >= "12.9"\n'
    assert not project({"m.py": text, "setup.py": "from packaging.version import Version\n"}).fixes(RULE)


@pytest.mark.parametrize(
    "test",
    [
        'torch.version.cuda == "12.9"',
        'version_at_least(torch.version.cuda, "12.9")',
        "major >= 9",
        'Version(torch.version.cuda) >= Version("12.9")',
    ],
)
def test_other_comparisons(project: Project, test: str) -> None:
    head = HEAD.format("from packaging.version import Version")
    assert not project({"m.py": f"{head}major == 12 and {test}\n"}).fixes(RULE)


VLLM = "from vllm.platforms import current_platform\ncap = current_platform.get_device_capability()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if f() and cap not in [89, 120]: g()", "if f() and cap not in [(8, 9), (12, 0), (12, 1)]: g()"),
        ("if not (f() and cap in [89, 120]): g()", "if not (f() and cap in [(8, 9), (12, 0), (12, 1)]): g()"),
        ("if f() or cap == 120: g()", "if f() or cap in ((12, 0), (12, 1)): g()"),
        ("if f() or not cap == 90: g()", "if f() or not cap == (9, 0): g()"),
    ],
)
def test_numbers_in_a_condition(project: Project, before: str, after: str) -> None:
    assert project({"m.py": f"{VLLM}{before}\n"}).fixes(RULE) == [("safe", f"{VLLM}{after}\n")]


@pytest.mark.parametrize(
    "before",
    [
        "if cap in [89, 120] and cap in [90]: g()",
        "if cap.major == 9 and cap in [89, 120]: g()",
        "if f() and cap >= 120: g()",
        "if f() and cap in [8, 12]: g()",
        "if f() and cap in (x, 120): g()",
        "if f() and cap in [(8, 9), (12, 0), (12, 1)]: g()",
        "if f() and cap.to_int() in [89, 120, 121]: g()",
    ],
)
def test_numbers_that_stay(project: Project, before: str) -> None:
    assert not project({"m.py": f"{VLLM}{before}\n"}).fixes(RULE)
