import pytest
import torch

from ssd.ops import CHUNK, chunk_scan, chunk_state

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@cuda
@pytest.mark.parametrize("chunks", [1, 9])
def test_state(chunks):
    n = chunks * CHUNK
    x = torch.randn(n, 64, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(n, 128, device="cuda", dtype=torch.bfloat16)
    dt = torch.rand(n, device="cuda")
    want = torch.einsum("cth,ct,cts->chs", x.view(chunks, CHUNK, 64).float(), dt.view(chunks, CHUNK), b.view(chunks, CHUNK, 128).float())
    torch.testing.assert_close(chunk_state(x, b, dt), want, atol=1.0, rtol=0.05)


@cuda
def test_scan():
    c = torch.randn(CHUNK, 128, device="cuda", dtype=torch.bfloat16)
    s = torch.randn(1, 64, 128, device="cuda")
    torch.testing.assert_close(chunk_scan(c, s).float(), c.float() @ s[0].t(), atol=1.0, rtol=0.05)
