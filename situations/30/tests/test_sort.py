import pytest
import torch

from sortkit.api import sort
from sortkit.tune import Plan, plan


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("n", [1, 4096, 100_003])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_sort(n, dtype):
    x = torch.randperm(n, device="cuda").to(dtype)
    assert torch.equal(sort(x), x.sort().values)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_plan():
    p = plan(0)
    assert isinstance(p, Plan) and p.keys & (p.keys - 1) == 0
