from functools import cache

import torch

from engine.platforms.interface import AttnEnum, DeviceCapability, Platform


class CudaPlatform(Platform):
    device_type = "cuda"

    @classmethod
    @cache
    def get_device_capability(cls, device_id: int = 0) -> DeviceCapability:
        return DeviceCapability(*torch.cuda.get_device_capability(device_id))

    @classmethod
    def attn_candidates(cls, use_mla: bool) -> list[AttnEnum]:
        if not use_mla:
            return [AttnEnum.SDPA]
        if cls.get_device_capability().major >= 10:
            return [AttnEnum.TRTLLM_MLA, AttnEnum.CUTLASS_MLA, AttnEnum.TRITON_MLA]
        return [AttnEnum.TRITON_MLA]

    @classmethod
    def get_attn_backend(cls, use_mla: bool, head_size: int):
        capability = cls.get_device_capability()
        refused = []
        for candidate in cls.attn_candidates(use_mla):
            try:
                backend = candidate.load()
            except ImportError as e:
                refused.append(f"{candidate.name}: {e}")
                continue
            if not backend.supports_compute_capability(capability):
                refused.append(f"{candidate.name}: compute capability {capability}")
                continue
            if not backend.supports_head_size(head_size):
                refused.append(f"{candidate.name}: head size {head_size}")
                continue
            return backend
        raise ValueError("no attention backend: " + "; ".join(refused))
