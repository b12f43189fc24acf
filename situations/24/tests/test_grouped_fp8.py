import flashinfer
import pytest
import torch

from helpers import cosine, quant_blocks, quant_rows


@pytest.mark.sm100
@pytest.mark.parametrize("groups", [1, 4, 8])
@pytest.mark.parametrize("n,k", [(128, 512), (512, 7168)])
def test_group_nt_groupwise(seeded, groups, n, k):
    m = 128
    a = torch.randn(groups * m, k, device="cuda", generator=seeded)
    b = torch.randn(groups, n, k, device="cuda", generator=seeded)
    qa, sa = quant_rows(a)
    qb, sb = quant_blocks(b)
    indices = torch.arange(groups, device="cuda", dtype=torch.int32).repeat_interleave(m)
    out = flashinfer.gemm.group_deepgemm_fp8_nt_groupwise(qa, qb, sa, sb, indices, out_dtype=torch.bfloat16)
    want = torch.einsum("gmk,gnk->gmn", a.view(groups, m, k), b).reshape(groups * m, n)
    assert cosine(out, want) > 0.995
