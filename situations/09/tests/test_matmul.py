import pytest
import torch

tilefuse = pytest.importorskip("tilefuse")


@pytest.mark.parametrize("m", [16, 128, 1000, 4096])
@pytest.mark.parametrize("n,k", [(64, 128), (4096, 4096), (5120, 1024)])
def test_matmul(m, n, k):
    torch.manual_seed(1)
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
    torch.testing.assert_close(tilefuse.matmul(a, b), a @ b, atol=0.5, rtol=0.02)


def test_refuses_float():
    a = torch.randn(4, 4, device="cuda")
    with pytest.raises(TypeError):
        tilefuse.matmul(a, a)
