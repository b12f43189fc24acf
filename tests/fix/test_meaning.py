"""Conditions that say another thing than they mean: the word between, the call, the number."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.chips import EVERY, ChipSet
from bwlint.fix.edited import apply
from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

HEAD = """import torch

def fast(device=None, strict=False):
    return torch.cuda.get_device_capability(device)[0] >= 9

def slow(device):
    return torch.cuda.get_device_capability(device)[0] >= 9

major, minor = torch.cuda.get_device_capability()
arch = f"{major}{minor}"

def run(x):
"""
CPP = "int run(cudaDeviceProp prop, int x) {{\n  if ({}) {{\n    return 1;\n  }}\n  return 0;\n}}\n"


@pytest.fixture
def found(tmp_path: Path, request: pytest.FixtureRequest) -> list[Finding]:
    name, text = request.param
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'kit'\n")
    (tmp_path / name).write_text(text)
    asked = CheckRequest((str(tmp_path / name),), ("sm_120", "sm_121"), RULES, severity="note", fixes=True)
    with ExitStack() as stack:
        return list(check(asked, stack).report.findings)


RULES = ("constant-test", "capability-type")


def _of(*majors: int) -> ChipSet:
    return ChipSet.where(lambda chip: chip.major in majors)


def _python(line: str) -> tuple[str, str]:
    return "kit.py", f"{HEAD}    {line}\n"


def _cpp(test: str) -> tuple[str, str]:
    return "kit.cpp", CPP.format(test)


MENDED = [
    (_python("return major >= 8 and minor >= 9"), _python("return (major, minor) >= (8, 9)"), "unsafe"),
    (_python("return x or major <= 8 or minor < 6"), _python("return x or (major, minor) < (9, 6)"), "unsafe"),
    (
        _cpp("prop.major > 7 && prop.minor >= 9"),
        _cpp("(prop.major > 8 || (prop.major == 8 && prop.minor >= 9))"),
        "unsafe",
    ),
    (_python("return major != 9 or major != 12"), _python("return major != 9 and major != 12"), "unsafe"),
    (_python("return major == 9 and major == 12"), _python("return major == 9 or major == 12"), "unsafe"),
    (_python("return x and (major < 9 and major > 11)"), _python("return x and (major < 9 or major > 11)"), "unsafe"),
    (_python("return 1 if fast else 2"), _python("return 1 if fast() else 2"), "unsafe"),
    (_cpp("prop.major != 9 || prop.major != 12"), _cpp("prop.major != 9 && prop.major != 12"), "unsafe"),
    (_cpp("x && (prop.major == 9 && prop.major == 12)"), _cpp("x && (prop.major == 9 || prop.major == 12)"), "unsafe"),
]
TEXTS = [
    ('old = arch < "80"', "old = int(arch) < 80", "safe"),
    ("old = arch >= '80'", "old = int(arch) >= 80", "safe"),
    ('old = f(arch <= "9" + "0")', None, ""),
    ('a, b = torch.version.cuda\nold = a < "8"', None, ""),
]


@pytest.mark.parametrize(
    ("found", "after", "applicability"), [((name, text), *rest) for (name, text), *rest in MENDED], indirect=["found"]
)
def test_mended(found: list[Finding], after: tuple[str, str], applicability: str, tmp_path: Path) -> None:
    fixes = [one.fix for one in found if one.fix is not None]
    assert [fix.applicability for fix in fixes] == [applicability], found
    assert apply((tmp_path / after[0]).read_text(), fixes[0].edits) == after[1]
    assert "(unsafe: " in fixes[0].proof.evidence


PROVED = [
    ("kit.py", f"{HEAD}    return major != 9 or major != 12\n", EVERY.names, (~_of(9, 12)).names),
    ("kit.py", f"{HEAD}    return major == 9 and major == 12\n", (), _of(9, 12).names),
    ("kit.py", f"{HEAD}    return 1 if fast else 2\n", EVERY.names, _of(9, 10, 11, 12).names),
    ("kit.py", f'{HEAD}    return arch in ["90", "120" "121"]\n', _of(9).names, _of(9, 12).names),
    ("kit.py", f'NAMES = ["90", "120" "121"]\n{HEAD}    return arch in NAMES\n', _of(9).names, _of(9, 12).names),
    ("kit.py", 'NAMES = ["sm_90", "sm_120" "sm_121"]\n', (), ()),  # read in another file
]


@pytest.mark.parametrize(("name", "text", "before", "after"), PROVED)
def test_sets_are_computed_on_both_texts(
    tmp_path: Path, name: str, text: str, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'kit'\n")
    (tmp_path / name).write_text(text)
    asked = CheckRequest((str(tmp_path),), ("sm_120", "sm_121"), (*RULES, "excluded"), severity="note", fixes=True)
    with ExitStack() as stack:
        (proof,) = (one.fix.proof for one in check(asked, stack).report.findings if one.fix is not None)
    assert (proof.before_may, proof.before_must, proof.after_may, proof.after_must) == (before, before, after, after)


@pytest.mark.parametrize(("before", "after", "applicability"), TEXTS)
def test_texts_become_numbers(tmp_path: Path, before: str, after: str | None, applicability: str) -> None:
    source = HEAD.replace("\ndef run(x):\n", f"{before}\n")
    (tmp_path / "kit.py").write_text(source)
    asked = CheckRequest((str(tmp_path / "kit.py"),), ("sm_120", "sm_121"), RULES, fixes=True)
    with ExitStack() as stack:
        fixes = [one.fix for one in check(asked, stack).report.findings if one.fix is not None]
    if after is None:
        assert not fixes
    else:
        assert [fix.applicability for fix in fixes] == [applicability]
        assert apply(source, fixes[0].edits) == source.replace(before, after)


REFUSED = [
    (_python("return minor >= 9 and major >= 8"), "the minor comes first: rewrite it by hand"),
    (_python("return major >= 8 and x and minor >= 9"), "rewrite it by hand"),
    (_python("return 1 if slow else 2"), "the call needs a value for `device`: pass the one that is meant here"),
    (_python("return 12 < major < 9"), "only you know which comparison is wrong here"),
    (_python("return x and major == 9 and major == 12"), "rewrite it by hand"),
    (_python("return (major != 9 or major != 12) and minor != 0"), "only you know which comparison is wrong here"),
    (_cpp("(prop.major != 9 || prop.major != 12) && prop.minor != 0"), "only you know which comparison is wrong here"),
    (_cpp("x || prop.major != 9 || prop.major != 12"), "rewrite it by hand"),
]


@pytest.mark.parametrize(("found", "reason"), REFUSED, indirect=["found"])
def test_refused(found: list[Finding], reason: str) -> None:
    assert not any(one.fix for one in found)
    assert any(reason in (one.fix_refused or "") for one in found), found


SILENT = [
    _python("return major != 9 and major != 12"),
    _python("return fast()"),
    _python("return fast and fast()"),
    _python("return major == 9 or major == 12"),
    _cpp("prop.major != 9 && prop.major != 12"),
]


@pytest.mark.parametrize("found", SILENT, indirect=True)
def test_silent(found: list[Finding]) -> None:
    assert not [one for one in found if one.severity != "note"]
