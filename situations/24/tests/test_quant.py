import pytest
import torch

from helpers import quant_blocks, quant_rows


@pytest.mark.ada
@pytest.mark.parametrize("rows", [1, 33])
def test_rows(seeded, rows):
    x = torch.randn(rows, 256, device="cuda", generator=seeded)
    q, s = quant_rows(x)
    back = (q.float().unflatten(-1, (-1, 128)) * s.unsqueeze(-1)).flatten(-2)
    torch.testing.assert_close(back, x, atol=0.2, rtol=0.07)


@pytest.mark.ada
def test_blocks(seeded):
    w = torch.randn(2, 256, 128, device="cuda", generator=seeded)
    q, s = quant_blocks(w)
    assert q.shape == w.shape and s.shape == (2, 2, 1)
