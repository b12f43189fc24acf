import pytest
import torch
import torch.nn.functional as F

from blockattn import attention

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("length", [192, 1536])
def test_attention(dim, length):
    torch.manual_seed(3)
    q, k, v = (torch.randn(2, 4, length, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    got = attention(q, k, v)
    torch.testing.assert_close(got, F.scaled_dot_product_attention(q, k, v), atol=2e-2, rtol=2e-2)
