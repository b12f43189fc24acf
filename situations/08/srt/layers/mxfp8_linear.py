import torch
from torch import nn

from srt.layers.mx_layout import swizzle_128x4, transpose_k_major
from srt.layers.mxfp8_kernels import mxfp8_mm
from srt.utils.device import device_capability, is_sm100_supported, is_sm120_supported


def _quantize(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    g = x.float().unflatten(-1, (-1, 32))
    exp = torch.ceil(torch.log2(g.abs().amax(-1).clamp(min=1e-12) / 448.0)).clamp(-127, 127)
    q = (g / torch.exp2(exp).unsqueeze(-1)).flatten(-2).to(torch.float8_e4m3fn)
    return q, (exp + 127).to(torch.uint8)


class Mxfp8LinearMethod:
    def create_weights(self, layer: nn.Module, n: int, k: int) -> None:
        layer.weight = nn.Parameter(torch.empty(n, k, dtype=torch.float8_e4m3fn), requires_grad=False)
        layer.weight_scale = nn.Parameter(torch.empty(n, k // 32, dtype=torch.uint8), requires_grad=False)

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        if is_sm100_supported() or is_sm120_supported():
            packed = swizzle_128x4(layer.weight_scale.data)
        else:
            packed = transpose_k_major(layer.weight_scale.data)
        layer.weight_scale = nn.Parameter(packed, requires_grad=False)

    def apply(self, layer: nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        q, s = _quantize(x)
        swizzled = is_sm100_supported() or device_capability() == (12, 0)
        y = mxfp8_mm(q, s, layer.weight, layer.weight_scale, swizzled=swizzled, out_dtype=x.dtype)
        return y if bias is None else y + bias
