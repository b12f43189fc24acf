import torch
import torch.nn.functional as F

try:
    from . import _umma
except ImportError:
    _umma = None


def _admit(q: torch.Tensor) -> str | None:
    """None, or why the compiled kernel cannot take q."""
    if _umma is None:
        return "extension not built"
    if q.shape[-1] != 128:
        return "head dim"
    if torch.cuda.get_device_capability(q.device)[0] != 10:
        return "no tensor memory"
    return None


def attention(q, k, v, scale=None):
    scale = scale if scale is not None else q.shape[-1] ** -0.5
    if _admit(q) is not None:
        return F.scaled_dot_product_attention(q, k, v, scale=scale)
    return _umma.fwd(q.contiguous(), k.contiguous(), v.contiguous(), scale)
