from __future__ import annotations

import torch
from flashinfer.decode import trtllm_batch_decode_with_kv_cache

from vserve.attention.base import AttentionBackend, register
from vserve.platform import DeviceCapability

_WORKSPACE_BYTES = 128 << 20


class _BlackwellMixin:
    min_capability = DeviceCapability(10, 0)
    _workspace: torch.Tensor | None = None

    def workspace(self, device: torch.device) -> torch.Tensor:
        if self._workspace is None:
            self._workspace = torch.zeros(_WORKSPACE_BYTES, dtype=torch.uint8, device=device)
        return self._workspace


@register("FLASHINFER_GEN", priority=30)
class FlashInferGenBackend(_BlackwellMixin, AttentionBackend):
    head_sizes = (64, 128, 256)

    def __init__(self, scale: float, max_len: int):
        self.scale = scale
        self.max_len = max_len

    def decode(self, q, kv, tables, lens):
        return trtllm_batch_decode_with_kv_cache(
            query=q.contiguous(),
            kv_cache=kv,
            workspace_buffer=self.workspace(q.device),
            block_tables=tables,
            seq_lens=lens,
            max_seq_len=self.max_len,
            bmm1_scale=self.scale,
            bmm2_scale=1.0,
            backend="trtllm-gen",
        )
