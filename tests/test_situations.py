"""Small projects, each with the answer decided before it was run: what is shown by default, or that nothing is."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.run.check import check
from bwlint.run.gather import CheckRequest

GPU = """
import torch

def gpu_gen():
    return torch.cuda.get_device_capability()
"""
GPU_H = """
#pragma once
#include <cuda_runtime.h>
inline int gpu_sm() {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  return prop.major * 10 + prop.minor;
}
"""
KERNEL = """
import cutlass.cute as cute
from cutlass.cute.nvgpu import tcgen05

class Base:
    def run(self, x):
        return self.launch(x)

class Dense(Base):
    def launch(self, x):
        return tcgen05.MmaF16BF16Op(x)
"""
TRTLLM = "    import flashinfer\n    return flashinfer.prefill.trtllm_ragged_attention_deepseek(x)\n"
CARRIED = f"""
import torch
from dataclasses import dataclass

@dataclass
class Device:
    cap: tuple[int, int]

def current():
    return Device(cap=torch.cuda.get_device_capability())

def _decode(x):
{TRTLLM}
"""

SITUATIONS = {
    "H a function of any name returns the capability": (
        {
            "pkg/gpu.py": GPU,
            "pkg/run.py": """
                from pkg.gpu import gpu_gen as g

                def quantize(x):
                    if g() != (12, 0):
                        raise RuntimeError("no kernel for this GPU")
                    return x
            """,
        },
        "family-split",
    ),
    "R it is asked for the family": (
        {
            "pkg/gpu.py": GPU,
            "pkg/run.py": """
                from pkg.gpu import gpu_gen as g

                def quantize(x):
                    if g()[0] != 12:
                        raise RuntimeError("no kernel for this GPU")
                    return x
            """,
        },
        None,
    ),
    "H sister gates of one subject differ": (
        {
            "pkg/gpu.py": GPU,
            "pkg/a.py": """
                from pkg.gpu import gpu_gen

                def use_fp4():
                    major, minor = gpu_gen()
                    return major * 10 + minor in (120, 121)
            """,
            "pkg/b.py": """
                from pkg.gpu import gpu_gen

                def use_fp4_moe():
                    major, minor = gpu_gen()
                    if major * 10 + minor == 120:
                        return True
                    return False
            """,
        },
        "family-split",
    ),
    "R a tag of a kernel is no device": (
        {
            "pkg/kernel.py": """
                class Sm120Kernel:
                    arch = 120

                    def tile(self):
                        if self.arch == 120:
                            return 64
                        raise ValueError(self.arch)
            """
        },
        None,
    ),
    "H a dataclass carries the capability": (
        {
            "pkg/run.py": CARRIED
            + """
def decode(x):
    device = current()
    if device.cap >= (10, 0):
        return _decode(x)
    return None
"""
        },
        "leak",
    ),
    "R the only caller keeps to 10.x": (
        {
            "pkg/run.py": CARRIED
            + """
def _inner(x, device):
    if device.cap >= (10, 0):
        return _decode(x)
    return None

def decode(x):
    device = current()
    if device.cap[0] == 10:
        return _inner(x, device)
    return None
"""
        },
        None,
    ),
    "H through a base's method to tensor memory": (
        {
            "pkg/kernel.py": KERNEL,
            "pkg/run.py": """
                import torch
                from pkg.kernel import Dense

                def gemm(x):
                    if torch.cuda.get_device_capability()[0] >= 10:
                        kernel = Dense()
                        return kernel.launch(x)
                    return x @ x
            """,
        },
        "leak",
    ),
    "R the class refuses all but 10.x when it is made": (
        {
            "pkg/run.py": """
import torch

class Decoder:
    def __post_init__(self):
        if torch.cuda.get_device_capability()[0] != 10:
            raise RuntimeError("needs SM100")

    def _decode(self, x):
        if torch.cuda.get_device_capability()[0] >= 10:
            import flashinfer
            return flashinfer.prefill.trtllm_ragged_attention_deepseek(x)
        return None
"""
        },
        None,
    ),
    "H a function of a header returns the capability": (
        {
            "csrc/gpu.h": GPU_H,
            "csrc/run.cu": """
                #include "gpu.h"
                void launch_fp4(void* x);
                void run_fp4(void* x) {
                  if (gpu_sm() == 120) {
                    launch_fp4(x);
                  } else {
                    TORCH_CHECK(false, "no fp4 kernel for this GPU");
                  }
                }
            """,
        },
        "family-split",
    ),
    "R it is asked for the generation": (
        {
            "csrc/gpu.h": GPU_H,
            "csrc/run.cu": """
                #include "gpu.h"
                void launch_fp4(void* x);
                void run_fp4(void* x) {
                  int sm = gpu_sm();
                  if (sm >= 120 && sm < 130) {
                    launch_fp4(x);
                  } else {
                    TORCH_CHECK(false, "no fp4 kernel for this GPU");
                  }
                }
            """,
        },
        None,
    ),
    "H a string of the device is looked up": (
        {
            "pkg/gpu.py": GPU,
            "pkg/run.py": """
                from pkg.gpu import gpu_gen

                KNOWN = {"sm_90", "sm_100", "sm_103", "sm_120"}

                def build(x):
                    major, minor = gpu_gen()
                    name = f"sm_{major}{minor}"
                    if name not in KNOWN:
                        raise ValueError(f"{name} is not supported")
                    return x
            """,
        },
        "family-split",
    ),
    "R one twin is made the other first": (
        {
            "pkg/gpu.py": GPU,
            "pkg/run.py": """
                from pkg.gpu import gpu_gen

                def build(x):
                    major, minor = gpu_gen()
                    sm = major * 10 + minor
                    if sm == 121:
                        sm = 120
                    if sm != 120:
                        raise ValueError("needs an RTX 50 or a GB10")
                    return x
            """,
        },
        None,
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations(tmp_path: Path, name: str) -> None:
    files, category = SITUATIONS[name]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'small'\n")
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(dedent(text))
    with ExitStack() as stack:
        found = check(CheckRequest((str(tmp_path),), jobs=1), stack).report.findings
    shown = {one.category for one in found if one.severity != "note"}
    assert shown == ({category} if category else set())
