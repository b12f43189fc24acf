from __future__ import annotations

import argparse
import dataclasses
import logging

from launch.hw import sm_version

logger = logging.getLogger(__name__)

GEMM_BACKENDS = ["auto", "deep_gemm", "triton", "dequant"]


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    fp8_gemm_backend: str = "auto"
    tp_size: int = 1

    def __post_init__(self):
        self._handle_gemm_backend()

    def _handle_gemm_backend(self):
        sm = sm_version()
        if self.fp8_gemm_backend == "auto":
            if sm in (90, 100, 103):
                self.fp8_gemm_backend = "deep_gemm"
            elif sm >= 89:
                self.fp8_gemm_backend = "triton"
            else:
                self.fp8_gemm_backend = "dequant"
            logger.info("fp8 gemm backend: %s", self.fp8_gemm_backend)
        elif self.fp8_gemm_backend == "deep_gemm" and sm // 10 not in (9, 10):
            raise ValueError(f"deep_gemm has no kernels for sm_{sm}; use --fp8-gemm-backend triton")

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", required=True)
        parser.add_argument("--tp-size", type=int, default=ServerArgs.tp_size)
        parser.add_argument("--fp8-gemm-backend", choices=GEMM_BACKENDS, default=ServerArgs.fp8_gemm_backend)

    @classmethod
    def from_cli_args(cls, args: argparse.Namespace) -> ServerArgs:
        return cls(**{f.name: getattr(args, f.name) for f in dataclasses.fields(cls)})
