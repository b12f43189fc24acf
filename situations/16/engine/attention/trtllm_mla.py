import torch
from flashinfer.decode import trtllm_batch_decode_with_kv_cache_mla
from sgl_kernel import cutlass_mla_decode

from engine.attention.abstract import MLABackend
from engine.platforms.interface import DeviceCapability


class _TensorMemoryMLA(MLABackend):
    @classmethod
    def supports_compute_capability(cls, capability: DeviceCapability) -> bool:
        return capability.major == 10


class TrtllmMLABackend(_TensorMemoryMLA):
    def forward(self, q, kv, tables, lens):
        return trtllm_batch_decode_with_kv_cache_mla(
            query=q.unsqueeze(1), kv_cache=kv.unsqueeze(1),
            workspace_buffer=torch.empty(128 << 20, dtype=torch.uint8, device=q.device),
            qk_nope_head_dim=128, kv_lora_rank=self.rank, qk_rope_head_dim=self.rope,
            block_tables=tables, seq_lens=lens, max_seq_len=tables.shape[1] * kv.shape[1],
            bmm1_scale=self.scale, backend="trtllm-gen",
        ).squeeze(1)


class CutlassMLABackend(_TensorMemoryMLA):
    def forward(self, q, kv, tables, lens):
        work = torch.empty(64 << 20, dtype=torch.uint8, device=q.device)
        return cutlass_mla_decode(q[..., : self.rank], q[..., self.rank :], kv, lens, tables, work, self.scale, 1)
