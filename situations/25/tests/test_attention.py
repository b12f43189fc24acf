import pytest
import torch

from attn.backends import sdpa
from attn.interface import attention, choose

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [64, 128])
def test_same_as_sdpa(device, causal, dim):
    q, k, v = (torch.randn(2, 96, 4, dim, device=device, dtype=torch.bfloat16) for _ in range(3))
    got = attention(q, k, v, causal=causal)
    torch.testing.assert_close(got, sdpa(q, k, v, causal, None), atol=2e-2, rtol=2e-2)


def test_cpu_choice():
    assert choose(torch.device("cpu")) == "sdpa"
