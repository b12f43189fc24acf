import pytest
import torch

from ffn.configs import CANDIDATES, shared_bytes
from ffn.matmul import silu_mm


def test_something_always_fits():
    assert min(shared_bytes(c, 4) for c in CANDIDATES) <= 65536


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("m", [1, 64, 500])
def test_silu_mm(m):
    a = torch.randn(m, 512, device="cuda", dtype=torch.float16)
    w = torch.randn(512, 1024, device="cuda", dtype=torch.float16) / 16
    torch.testing.assert_close(silu_mm(a, w), torch.nn.functional.silu(a @ w), atol=2e-2, rtol=2e-2)
