"""What a need is in the words of a message."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet, group
from bwlint.chips.wording import failing, reached, sentence

TWELVES, SECOND = group("consumer-blackwell"), group("second-consumer")


@pytest.mark.parametrize(
    ("kind", "what", "chips", "said"),
    [
        ("operation", "wgmma", TWELVES, " 12.x do not have it: it does not compile there."),
        ("operation", "tcgen05 and tensor memory", SECOND, " 12.1 has neither: it does not compile there."),
        ("library", "a kernel of SageAttention (wgmma)", TWELVES, " It fails on 12.x."),
        ("library", "a layout for the scatter and its loads", SECOND, " It fails on 12.1."),
        ("library", "trtllm-gen, shipped as cubins for 10.x only", TWELVES, " It fails on 12.x."),
        ("library", "DeepGEMM, which has none for 12.x", TWELVES, " It fails on 12.x."),
        # these say what becomes of it
        ("gate", "code that refuses 12.x", TWELVES, ""),
        ("library", "PyTorch's FlashAttention 3, which refuses all but 9.0", TWELVES, ""),
        ("build", "code that is compiled for sm_90a only", TWELVES, " A launch on 12.x finds no kernel."),
        ("name", "this attention backend", TWELVES, ""),
    ],
)
def test_failing(kind: str, what: str, chips: ChipSet, said: str) -> None:
    assert failing(kind, what, chips) == said


@pytest.mark.parametrize(
    ("name", "what", "through", "alone"),
    [
        ("run", "wgmma", "`run`, which uses wgmma", "`run` uses wgmma"),
        ("block scaling", "a block-scaling MMA", "a block-scaling MMA", "A block-scaling MMA is needed"),
        ("two words", "wgmma", "`two words`, which uses wgmma", "`two words` uses wgmma"),
        ("gemm", "DeepGEMM, which has none", "`gemm`. DeepGEMM has none", "DeepGEMM has none"),
    ],
)
def test_a_name_that_repeats_the_thing_is_left_out(name: str, what: str, through: str, alone: str) -> None:
    assert reached(name, what) == through
    assert sentence(name, what) == alone
