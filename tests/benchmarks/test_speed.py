"""The command, with no program installed but bwlint."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest
import speed
from timing.figures import Spread, from_json, ratio
from timing.tools import Absent

linux = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is read from /proc")


@linux
def test_programs_that_are_not_there_are_reasons_and_no_holes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    (tree / "pkg").mkdir(parents=True)
    (tree / "pkg" / "a.py").write_text("import torch\nx = torch.cuda.get_device_capability() == (12, 0)\n")
    library = tmp_path / "x.so"
    library.write_bytes(b"no library")
    monkeypatch.setattr(speed, "found", lambda name, program, folders: Absent(name, f"no {program}"))
    command = ["speed.py", f"small={tree}", f"--binary=x={library}", "--runs=1", f"--out={tmp_path / 'out'}"]
    monkeypatch.setattr(sys, "argv", command)
    assert speed.main() == 0
    results = from_json((tmp_path / "out" / "speed.json").read_text())
    assert [group.sort for group in results.groups] == ["tree", "growth", "hook", "binary"]
    reasons = {one.name: one.reason for group in results.groups for one in group.timings if not one.runs}
    assert {name: reasons[name] for name in ("ruff", "semgrep", "ripgrep", "cuobjdump, images")} == {
        "ruff": "no ruff",
        "semgrep": "no semgrep",
        "ripgrep": "no rg",
        "cuobjdump, images": "no cuobjdump",
    }
    whole = {one.name: one for one in results.groups[0].timings}
    assert all(whole[name].runs for name in ("bwlint, no index", "bwlint, index, unchanged"))
    said = capsys.readouterr()
    assert "semgrep: no semgrep" in said.err
    assert "ripgrep                            no rg" in said.out
    assert (tmp_path / "out" / "speed.svg").read_text().startswith("<svg")
    assert sorted(path.name for path in tree.rglob("*")) == ["a.py", "pkg"]


def test_a_path_is_called_by_its_last_part(tmp_path: Path) -> None:
    assert speed.named(str(tmp_path)) == (tmp_path.name, tmp_path)
    assert speed.named(f"vllm={tmp_path}") == ("vllm", tmp_path)
    with pytest.raises(argparse.ArgumentTypeError, match="does not exist"):
        speed.named(f"vllm={tmp_path / 'none'}")


def test_present_are_the_ratios_of_what_was_run() -> None:
    from measured import timing

    ratios = speed.present([ratio(timing("a", 2.0), timing("b", 1.0)), ratio(timing("a", 2.0), timing("c"))])
    assert [(one.to, one.spread) for one in ratios] == [("b", Spread(2.0, 2.0, 2.0))]
