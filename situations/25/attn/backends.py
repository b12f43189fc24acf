import torch
import torch.nn.functional as F

try:
    import flash_attn_interface as _fa3
except ImportError:
    _fa3 = None

try:
    from flash_attn import flash_attn_func as _fa2_func
except ImportError:
    _fa2_func = None

try:
    import aiter as _aiter
except ImportError:
    _aiter = None


def fa3(q, k, v, causal, scale):
    out = _fa3.flash_attn_func(q, k, v, softmax_scale=scale, causal=causal)
    return out[0] if isinstance(out, tuple) else out


def fa2(q, k, v, causal, scale):
    return _fa2_func(q, k, v, softmax_scale=scale, causal=causal)


def ck(q, k, v, causal, scale):
    return _aiter.flash_attn_func(q, k, v, softmax_scale=scale, causal=causal)


def sdpa(q, k, v, causal, scale):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale).transpose(1, 2)


HAVE = {"fa3": _fa3 is not None, "fa2": _fa2_func is not None, "ck": _aiter is not None, "sdpa": True}
