"""The tool that puts gates of whole trees to CPython."""

from __future__ import annotations

from pathlib import Path

import gate_agreement
import pytest

from bwlint.confirm.slicing import seccomp
from bwlint.world.tree import Sets, Tree

pytestmark = pytest.mark.skipif(seccomp.unavailable() is not None, reason="there is no filter of system calls here")

SOURCE = """import torch

ARCHS = ["sm_100", "sm_120"]

def f(major, x):
    cap = torch.cuda.get_device_capability()
    if cap == (12, 0) and x:
        return 1
    if cap[0] in (10, 12):
        return 2
    if major == 12:
        return 3
"""


def test_a_tree_that_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    assert gate_agreement.main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split(maxsplit=1) for line in lines[:2]) == [["2", "confirmed"], ["2", "not eligible"]]
    assert [line.split(maxsplit=1)[0] for line in lines[2:]] == ["1", "1"]


def test_an_interpreter_that_errs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    right = Tree.sets

    def wrong(self: Tree, *given: object) -> Sets | None:
        sets = right(self, *given)  # type: ignore[arg-type]
        return None if sets is None else Sets(sets.must, sets.must, *(getattr(sets, name) for name in _REST))

    monkeypatch.setattr(Tree, "sets", wrong)
    assert gate_agreement.main(["--first", "2", str(tmp_path)]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.endswith("a.py:7: cap == (12, 0) and x")
    assert "true or false on 12.0, where false was claimed" in second


_REST = ("core", "raises", "live", "decided", "guessed", "toolkit", "clashes", "atoms", "flags")
