"""What is advised for comparisons that are joined with the wrong word."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

CODE = "import torch\n\nmajor, minor = torch.cuda.get_device_capability()\nif {}:\n    raise RuntimeError('no')\n"


@pytest.mark.parametrize(
    ("test", "advice"),
    [
        ("major != 9 or major != 12", "Join them with `and`."),
        ("major == 9 and major == 12", "Join them with `or`."),
        ("(major != 9 or major != 12) and minor != 0", "Rewrite the whole condition: this part of it decides nothing."),
        ("12 < major < 9", "Swap the bounds."),
    ],
)
def test_advice(tmp_path: Path, test: str, advice: str) -> None:
    (found,) = drafts(tmp_path, {"m.py": CODE.format(test)}, "constant-test")
    assert found.advice == advice
