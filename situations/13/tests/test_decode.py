import pytest
import torch

pytestmark = pytest.mark.umma


@pytest.fixture
def cache():
    return torch.randn(64, 2, 8, 32, 128, device="cuda", dtype=torch.bfloat16)


@pytest.mark.parametrize("batch", [1, 8])
def test_trtllm_decode(cache, batch):
    decode = pytest.importorskip("flashinfer.decode")
    q = torch.randn(batch, 32, 128, device="cuda", dtype=torch.bfloat16)
    tables = torch.arange(batch * 4, device="cuda", dtype=torch.int32).view(batch, 4)
    out = decode.trtllm_batch_decode_with_kv_cache(
        query=q, kv_cache=cache, workspace_buffer=torch.zeros(128 << 20, dtype=torch.uint8, device="cuda"),
        block_tables=tables, seq_lens=torch.full((batch,), 100, dtype=torch.int32, device="cuda"),
        max_seq_len=128, bmm1_scale=128**-0.5, bmm2_scale=1.0, backend="trtllm-gen",
    )
    assert out.shape == q.shape
