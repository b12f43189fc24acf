"""What a side of a gate needs, of all that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import analysed

CODE = """import torch


def run(x, quick):
    if torch.cuda.get_device_capability()[0] >= 9:
        {side}
    return x
"""


@pytest.mark.parametrize(
    ("side", "name"),
    [
        ("run_sm100(x); run_sm90(x)", "run_sm100"),
        ("run_sm100(x); flash_mla_with_kvcache(x)", "flash_mla_with_kvcache"),
        ("flash_mla_with_kvcache(x); run_sm100(x)", "flash_mla_with_kvcache"),
        ("flash_mla_with_kvcache(x); trtllm_ragged_attention(x)", "flash_mla_with_kvcache"),
        ("x.run()", None),
        # not surely, or behind a gate of its own
        ("run_sm100(x) if quick else x.run()", None),
        ("if torch.cuda.get_device_capability()[0] == 10:\n            run_sm100(x)", None),
        ("if torch.cuda.get_device_capability()[0] == 10:\n            pass\n        run_sm100(x)", "run_sm100"),
    ],
)
def test_the_strongest_need_that_comes_first(tmp_path: Path, side: str, name: str | None) -> None:
    context = analysed(tmp_path, {"m.py": CODE.format(side=side)}).context
    ((gate, *_),) = context.judged.values()
    need = context.need_of(gate, gate.working)
    assert (need.use.name if need is not None else None) == name
