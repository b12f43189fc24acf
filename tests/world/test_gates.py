"""Gates as they are judged: what their tests name, and which chips get to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import analysed

from bwlint.chips import EVERY, ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.run.engine import analyse
from bwlint.sources.walk import discover
from bwlint.world.collect import collect
from bwlint.world.gates import Judged

CAPS = """
import torch

def is_sm120():
    return torch.cuda.get_device_capability() == (12, 0)
class Platform:
    is_sm120 = torch.cuda.get_device_capability() == (12, 0)
"""


def judged(folder: Path, file: str, text: str) -> list[Judged]:
    """The gates of a file beside `caps.py`."""
    for name, content in {"pyproject.toml": "", "caps.py": CAPS, file: text}.items():
        (folder / name).write_text(content)
    found = collect(discover([str(folder)]).files, 1)
    context = analyse(found, Sources(), ChipSet.of("12.0", "12.1"), []).context
    return context.judged[str((folder / file).resolve())]


@pytest.mark.parametrize(
    ("imports", "test", "names"),
    [
        ("from caps import is_sm120", "is_sm120()", {"is_sm120"}),
        ("from caps import is_sm120 as asked", "asked() or is_sm90", {"is_sm120", "is_sm90"}),
        ("import caps", "not caps.is_sm120()", {"is_sm120"}),
        ("from caps import Platform", "Platform.is_sm120 and QUICK", {"Platform", "is_sm120", "QUICK"}),
        ("from caps import is_sm120\nchosen = is_sm120()", "chosen", {"is_sm120"}),
        ("def is_sm120():\n    return torch.cuda.get_device_capability() == (12, 0)", "is_sm120()", {"is_sm120"}),
        ("import torch", "torch.cuda.get_device_capability() == (12, 0)", {"cuda", "get_device_capability"}),
    ],
)
def test_names_of_a_test(tmp_path: Path, imports: str, test: str, names: set[str]) -> None:
    text = f"{imports}\n\ndef run(x):\n    if {test}:\n        return x.fast()\n    return x\n"
    assert judged(tmp_path, "user.py", text)[-1].mentioned == names


SWITCHES = """
int first(int major) {
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  switch (major) {
    case 12:
      return 1;
    default:
      if (major >= 9) return 2;
  }
  return 0;
}
int second(int major) {
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  switch (major) {
    case 9:
      return 1;
    default:
      if (major >= 9) return 2;
  }
  return 0;
}
"""


def test_each_switch_has_a_default_of_its_own(tmp_path: Path) -> None:
    live = [str(gate.sets.live) for gate in judged(tmp_path, "switches.cpp", SWITCHES) if gate.sets.live != EVERY]
    assert live == ["every chip but 12.x", "every chip but 9.0"]


def test_a_check_of_the_toolkit_is_seen_by_whoever_asks_later(tmp_path: Path) -> None:
    """What is remembered of another file says that it rests on the CUDA version, not to the first file alone."""
    asks = "from p.caps import new\nif not new:\n    raise RuntimeError\n"
    caps = "import torch\nnew = torch.cuda.get_device_capability() >= (8, 0) and torch.version.cuda >= '12.3'\n"
    analysis = analysed(tmp_path, {"p/__init__.py": "", "p/caps.py": caps, "p/a.py": asks, "p/b.py": asks})
    judged = {Path(real).name: gates for real, gates in analysis.context.judged.items()}
    assert [gate.sets.toolkit for name in ("a.py", "b.py") for gate in judged[name]] == [True, True]
