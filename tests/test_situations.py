"""Small projects, each with the answer decided before it was run: what is shown by default, or that nothing is."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

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


TREES = Path(__file__).with_name("situations.zip")
"""Packed, so that what is looked for in this project is not found in theirs."""
MISSED = {
    "08": "a layout that one function writes for a family and another reads for one part alone",
    "09": "the bytes of a TileLang kernel's pipelined tiles",
    "11": "kernels that a macro registers by number in several files, looked up by the exact one",
}
"""Hazards that are not found yet, and what that takes."""


def written() -> Iterator[object]:
    """The trees of `situations.zip`, whose answers somebody wrote down who had not seen the code."""
    for line in zipfile.ZipFile(TREES).read("EXPECT.md").decode().splitlines():
        if line[:2].isdigit():
            answer, _, what = line.partition(" | ")
            name, kind, places = answer.split(" ", 2)
            marks = pytest.mark.xfail(reason=MISSED[name]) if name in MISSED else ()
            yield pytest.param(name, places.split(",") if kind == "H" else [], id=f"{name} {what[:60]}", marks=marks)


@pytest.mark.parametrize(("name", "places"), list(written()))
def test_what_others_wrote(tmp_path: Path, name: str, places: list[str]) -> None:
    with zipfile.ZipFile(TREES) as packed:
        packed.extractall(tmp_path, [one for one in packed.namelist() if one.startswith(f"{name}/")])
    with ExitStack() as stack:
        found = check(CheckRequest((str(tmp_path / name),), jobs=1), stack).report.findings
    shown = [one for one in found if one.severity != "note"]
    if not places:
        assert not shown
    assert not places or any(_near(tmp_path / name, one, place) for one in shown for place in places)


def _near(folder: Path, found: Finding, place: str) -> bool:
    """Whether a finding, or one of the places beside it, is at `path:first-last`."""
    path, _, lines = place.partition(":")
    first, last = map(int, lines.split("-"))
    spans = [(found.path, found.region), *((one.path, one.region) for one in found.related)]
    return any(
        Path(real) == folder / path and region.line <= last + 1 and (region.end_line or region.line) >= first - 1
        for real, region in spans
    )
