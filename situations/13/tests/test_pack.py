import pytest
import torch

from packlib.pack import pack_e8m0, unpack_e8m0


@pytest.mark.blackwell
@pytest.mark.parametrize("rows", [1, 32, 257])
def test_round_trip(rows):
    x = torch.randn(rows, 256, device="cuda")
    q, scale = pack_e8m0(x)
    assert q.dtype == torch.float8_e4m3fn and scale.dtype == torch.uint8
    torch.testing.assert_close(unpack_e8m0(q, scale), x, atol=0.2, rtol=0.07)


@pytest.mark.blackwell
def test_zero_rows():
    q, scale = pack_e8m0(torch.zeros(4, 64, device="cuda"))
    assert not unpack_e8m0(q, scale).any()
