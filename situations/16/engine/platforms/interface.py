from __future__ import annotations

import enum
from typing import NamedTuple


class DeviceCapability(NamedTuple):
    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Platform:
    device_type = "unspecified"

    @classmethod
    def get_device_capability(cls, device_id: int = 0) -> DeviceCapability | None:
        return None

    @classmethod
    def attn_candidates(cls, use_mla: bool) -> list[AttnEnum]:
        raise NotImplementedError


class AttnEnum(enum.Enum):
    TRTLLM_MLA = "engine.attention.trtllm_mla.TrtllmMLABackend"
    CUTLASS_MLA = "engine.attention.trtllm_mla.CutlassMLABackend"
    TRITON_MLA = "engine.attention.triton_mla.TritonMLABackend"
    SDPA = "engine.attention.triton_mla.SDPABackend"

    def load(self):
        module, _, name = self.value.rpartition(".")
        return getattr(__import__(module, fromlist=[name]), name)
