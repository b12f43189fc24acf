"""What is wrong in copies of a file is told once, and its fix mends all of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

GATE = """import torch


def pick():
    if torch.cuda.get_device_capability() == (12, 0):
        return True
    raise RuntimeError("needs SM120")
"""


def found(folder: Path, files: dict[str, str]) -> list[Finding]:
    (folder / ".git").mkdir()
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with ExitStack() as stack:
        return list(check(CheckRequest((str(folder),), jobs=1, severity="note", fixes=True), stack).report.findings)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a/pick.py": GATE, "b/pick.py": GATE}, ["a/pick.py"]),
        ({"a/pick.py": GATE, "b/pick.py": f"# ours\n{GATE}"}, ["a/pick.py", "b/pick.py"]),
        ({"a/pick.py": GATE, "b/other.py": GATE}, ["a/pick.py", "b/other.py"]),
        ({"a/pick.py": GATE, "tests/pick.py": GATE.replace("return True", "return 1")}, ["a/pick.py", "tests/pick.py"]),
    ],
)
def test_copies_are_told_once(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    findings = found(tmp_path, files)
    assert [Path(one.path).relative_to(tmp_path).as_posix() for one in findings] == expected


def test_a_fix_mends_every_copy(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {f"{name}/pick.py": GATE for name in "abc"})
    assert finding.fix is not None
    edits = [(Path(edit.path).parent.name, edit.region, edit.text) for edit in finding.fix.edits]
    each = [[edit for name, *edit in edits if name == one] for one in "abc"]
    assert each[0] and each[0] == each[1] == each[2]
    assert [Path(one.path).parent.name for one in finding.related if "copy" in one.message] == ["b", "c"]
