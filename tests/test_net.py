"""The tool that compares what is said of whole trees, before and after a change."""

from __future__ import annotations

from pathlib import Path

import net

GATE = "import torch\n\nif torch.cuda.get_device_capability() == (12, 0):\n    raise RuntimeError('needs {}')\n"


def test_a_tree_says_the_same_twice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GATE.format("SM120"))
    first, second = net.lines(str(tmp_path)), net.lines(str(tmp_path))
    assert first["lines"]
    assert first["seconds"] > 0
    assert net.differences({"t": first}, {"t": second}) == []


def test_what_is_gone_and_what_has_come_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GATE.format("SM120"))
    before = net.lines(str(tmp_path))
    (tmp_path / "a.py").write_text("x = 1\n")
    told = net.differences({"t": before}, {"t": net.lines(str(tmp_path))})
    assert told
    assert all(line.startswith("- t: ") for line in told)


def test_few_of_many_differences_are_shown() -> None:
    told = net.differences({"t": {"lines": [str(number) for number in range(9)]}}, {"t": {"lines": []}})
    assert len(told) == net._SHOWN + 1
    assert told[-1] == "- t: and 6 more"
