"""A finding keeps its fingerprint where something else in its file changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bwlint import cli

CHOICE = """
class Communicator:
    def __init__(self, all2all_backend):
        self.all2all_backend = all2all_backend
        if self.all2all_backend == "deepep_low_latency":
            self.manager = DeepEPLLAll2AllManager(group)
"""
GATE = """
        if torch.cuda.get_device_capability()[0] == 9:
            self.fast = True
"""


@pytest.mark.parametrize(("before", "after"), [("", "\n\n"), ("", GATE), (GATE, GATE.replace("9", "10"))])
def test_a_fingerprint_knows_only_what_is_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    """Facts hold the functions that matter, and a gate further down makes one matter."""
    monkeypatch.chdir(tmp_path)
    found = []
    for text in (before, after):
        Path("a.py").write_text(f"import torch\n{CHOICE}{text}")
        asked = ["check", "--no-cache", "--severity", "note", "--select", "moe-plan", "--format", "json", "a.py"]
        report = json.loads(CliRunner().invoke(cli.app, asked).stdout)
        found.append([finding["fingerprint"] for finding in report["findings"]])
    assert len(found[0]) == 1 and found[0] == found[1]
