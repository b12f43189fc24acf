"""Libraries that are known to refuse 12.x, however they are imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

IMPORTS = "import torch\nimport flash_attn_interface\n\n\ndef run(q):\n    if {}:\n        return {}\n    return None\n"
HOPPER = "torch.cuda.get_device_capability() >= (9, 0)"


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        (HOPPER, "flash_attn_interface.flash_attn_func(q)", ["6 warning"]),
        (f"{HOPPER} and q.ok", "flash_attn_interface.flash_attn_func(q)", ["6 warning"]),
        ("torch.cuda.get_device_capability()[0] == 9", "flash_attn_interface.flash_attn_func(q)", []),
        (HOPPER, "other.flash_attn_func(q)", []),
    ],
)
def test_a_library_that_is_imported_whole(tmp_path: Path, test: str, value: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"a.py": IMPORTS.format(test, value)}, "leak")) == expected
