"""A proof reads the one file that is edited, each state of it once, and what is said of a file is asked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.fix import edited, safety
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.model.facts import Module
from bwlint.readers import again
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

_TEST = """import torch


def f@(x):
    if torch.cuda.get_device_capability() == (12, 0):
        return x
    raise RuntimeError("not here")


"""
_GUARD = "__global__ void k@(int *x) {\n#if __CUDA_ARCH__ == 1200\n  x[@] = 1;\n#endif\n}\n"
_LIST = "set(KIT_SUPPORTED_ARCHS 90a 120a)\n"
_NUMBER = 4


@pytest.mark.parametrize(("name", "one"), [("a.py", _TEST), ("a.cu", _GUARD), ("CMakeLists.txt", _LIST)])
def test_a_proof_reads_one_file_and_each_text_once(
    name: str, one: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[tuple[str, str]] = Counter()
    asked: list[Module] = []
    said = safety._drafts

    def reading(module: Module, text: str) -> Module:
        read[module.path, text] += 1
        return again(module, text)

    def asking(context: Context, module: Module) -> Iterable[Draft]:
        asked.append(module)
        return said(context, module)

    monkeypatch.setattr(edited, "again", reading)
    monkeypatch.setattr(safety, "_drafts", asking)
    for other in range(3):
        (tmp_path / f"other{other}{Path(name).suffix}").write_text(
            "int x;\n" if name == "a.cu" else "", encoding="utf-8"
        )
    (tmp_path / name).write_text("".join(one.replace("@", str(n)) for n in range(_NUMBER)), encoding="utf-8")
    with ExitStack() as stack:
        found = check(CheckRequest((str(tmp_path),), severity="note", jobs=1, fixes=True), stack).report.findings
    assert any(finding.fix is not None for finding in found)
    assert {path for path, _ in read} == {str(tmp_path / name)}
    assert set(read.values()) == {1}
    assert len({id(module) for module in asked}) == len(asked)
