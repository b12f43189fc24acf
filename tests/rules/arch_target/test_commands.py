"""arch-target where a command of a script, an image or Meson compiles a source that its target cannot be made for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bwlint import cli

PACK = r"""
__global__ void pack(const float2* x, unsigned short* y) {
#if __CUDA_ARCH__ >= 1200
  asm volatile("{\n.reg .b8 t;\ncvt.rn.satfinite.e2m1x2.f32 t, %1, %2;\ncvt.u16.u8 %0, t;\n}"
               : "=h"(y[0]) : "f"(x[0].y), "f"(x[0].x));
#else
  y[0] = 0;
#endif
}
"""
LOOP = 'for name in pack; do\n  "$CUDA_HOME/bin/nvcc" -arch $TARGET -dc "$name.cu" -o "$name.o"\ndone\n'
IMAGE = "FROM nvidia/cuda:13.0.1-devel-ubuntu24.04\n{}\nCOPY pack.cu ./\nRUN nvcc -shared pack.cu -o libpack.so\n"
MESON = "project('pack', 'cuda')\nflags = ['{}']\nshared_library('pack', 'pack.cu', cuda_args: flags)\n"


def errors(folder: Path, name: str, text: str) -> list[int]:
    """The lines of errors, in a project of that one build file and a source that needs a suffix."""
    (folder / "pyproject.toml").touch()
    (folder / "pack.cu").write_text(PACK)
    (folder / name).write_text(text)
    arguments = ["check", str(folder), "--isolated", "--no-cache", "--format", "json", "--select", "arch-target"]
    found = json.loads(CliRunner().invoke(cli.app, arguments, prog_name="bwlint").stdout)["findings"]
    return [one["line"] for one in found if one["severity"] == "error" and "ptxas stops" in one["message"]]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("compile.sh", f"#!/bin/sh\nTARGET=sm_120f\n{LOOP}", [2]),
        ("compile.sh", "nvcc -arch=sm_120a -O3 -c pack.cu -o pack.o\n", [1]),
        ("Dockerfile", IMAGE.format('ENV NVCC_APPEND_FLAGS="-arch=sm_120a"'), [2]),
        ("meson.build", MESON.format("-arch=compute_120f"), [2]),
        ("compile.sh", "nvcc -gencode arch=compute_120f,code=sm_120f -O3 -c pack.cu -o pack.o\n", []),
        ("compile.sh", "nvcc -arch=sm_120 -O3 -c others.cu -o others.o\n", []),
        ("compile.sh", "NVCC_FLAGS=-arch=sm_120a\ng++ -c pack.cpp\n", []),
        ("Dockerfile", IMAGE.format('ENV NOTES="-arch=sm_120a"'), []),
        ("meson.build", MESON.format("-arch=sm_89"), []),
    ],
)
def test_commands(tmp_path: Path, name: str, text: str, expected: list[int]) -> None:
    assert errors(tmp_path, name, text) == expected
