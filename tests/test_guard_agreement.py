"""The tool that puts guards of whole trees to the preprocessor."""

from __future__ import annotations

import os
from pathlib import Path

import guard_agreement
import pytest
from toolkit import Toolkit

from bwlint.chips import NO_TARGET, TargetSet
from bwlint.world.tree import Tree


@pytest.fixture(autouse=True)
def on_path(nvcc: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{nvcc.programs}{os.pathsep}{os.environ['PATH']}")


SOURCE = """#include "missing/kernel.h"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000 \\
    && __CUDA_ARCH__ < 1200
int ten;
#elif __CUDA_ARCH__ >= 1200
int twelve;
#endif
#if defined(OPTION) && __CUDA_ARCH__ == 1200
#endif
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
#endif
#if MINE
#endif
#if BUILD_ARCH >= 120
#endif
"""


def test_a_tree_that_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cu").write_text(SOURCE, encoding="utf-8")
    assert guard_agreement.main(["--define", "BUILD_ARCH", str(tmp_path)]) == 0
    assert "4 agree" in capsys.readouterr().out


def test_an_evaluation_that_errs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cu").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(Tree, "compiled", lambda *given: TargetSet.of("90"))
    monkeypatch.setattr(Tree, "surely_compiled", lambda *given: NO_TARGET)
    assert guard_agreement.main([str(tmp_path)]) == 1
    assert "100a compiles" in capsys.readouterr().out
