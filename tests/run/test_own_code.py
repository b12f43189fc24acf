"""What a package's own text does with the chips, as `inspect` tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_binaries import container, cubin, elf, entry, shared_object, tarred, wheel

from bwlint.cli import app
from bwlint.run import own_code

HOPPERS = " and takes H100 (9.0)"
OLDER = " and takes RTX 40 (8.9) and H100 (9.0)"
ALL = {"x/core.so": shared_object(container(entry(cubin(120), 120)))}
HOPPER = {**ALL, "x/hopper_kernels.abi3.so": shared_object(container(entry(cubin(90, "a"), 90, "a")))}
REFUSED = b"""\
import torch

if torch.cuda.get_device_capability() > (9, 0):
    raise RuntimeError("needs Hopper or older")
"""
HIGHEST = b"""\
import torch


class Tiled:
    MAXIMUM_COMPUTE_CAPABILITY = (9, 0)

    @classmethod
    def reasons(cls, device):
        if torch.cuda.get_device_capability(device) > cls.MAXIMUM_COMPUTE_CAPABILITY:
            return ["too new"]
        return []
"""
LEAST = b"""\
import torch
from . import hopper_kernels


class Tiled:
    MINIMUM_COMPUTE_CAPABILITY = (9, 0)

    @classmethod
    def reasons(cls, device):
        if torch.cuda.get_device_capability(device) < cls.MINIMUM_COMPUTE_CAPABILITY:
            return ["too old"]
        return []

    def run(self, x):
        return hopper_kernels.fwd(x)
"""
ELSEWHERE = LEAST.replace(b"hopper_kernels", b"portable_kernels")
PICKS = b"""\
import torch

is_hopper = torch.cuda.get_device_capability()[0] == 9
tile = 128 if is_hopper else 64
"""
ROWS = b"""\
import torch

NAMES = {(8, 9): "ada", (9, 0): "hopper"}


def name():
    return NAMES.get(torch.cuda.get_device_capability(), "other")
"""
PARTLY = b"""\
import torch


def run(x, scale):
    if scale is not None and torch.cuda.get_device_capability() > (9, 0):
        raise RuntimeError("no scales after Hopper")
"""
LOOKUP = ROWS.replace(b'.get(torch.cuda.get_device_capability(), "other")', b"[torch.cuda.get_device_capability()]")
STOPPED = (
    REFUSED.replace(b"if ", b"def check():\n    if ").replace(b"    raise", b"        raise")
    + b"""

def run(x):
    check()
    return x
"""
)
LISTED = b"""\
cmake_minimum_required(VERSION 3.20)
project(x LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 86-real)
add_library(x SHARED x.cu)
"""
FLAGS = b"""\
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(ext_modules=[CUDAExtension("x", ["x.cu"], extra_compile_args={"nvcc": [
    "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]})])
"""


def told(name: Path, data: bytes) -> tuple[str, list[tuple[str, str]]]:
    name.write_bytes(data)
    done = CliRunner().invoke(app, ["inspect", "--format", "json", "--exit-zero", str(name)])
    (shipment,) = json.loads(done.stdout)["shipments"]
    return shipment["answer"], [(one["does"], f"{one['path']}:{one['line']}") for one in shipment["own"]]


@pytest.mark.parametrize(
    ("files", "answer", "own"),
    [
        (
            {**ALL, "x/a.py": REFUSED},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in a.py{OLDER}",
            [("out", "x/a.py:3")],
        ),
        (
            {**ALL, "x/a.py": REFUSED.replace(b"> (9, 0)", b"!= (9, 0)")},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in a.py{HOPPERS}",
            [("out", "x/a.py:3")],
        ),
        (
            {**ALL, "x/a.py": HIGHEST},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in Tiled (x/a.py){OLDER}",
            [("out", "x/a.py:5")],
        ),
        (
            {**ALL, "x/a.py": REFUSED, "x/b.py": HIGHEST},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in Tiled (x/b.py) and a.py{OLDER}",
            [("out", "x/a.py:3"), ("out", "x/b.py:5")],
        ),
        (
            {"x/a.py": REFUSED, "x/a.so": elf([])},
            f"no device code; its own code turns 12.0 and 12.1 away in a.py{OLDER}",
            [("out", "x/a.py:3")],
        ),
        (
            {**HOPPER, "x/a.py": LEAST},
            "runs on 12.0 and 12.1: core; for other chips: hopper_kernels;"
            " its own code lets 12.0 and 12.1 into hopper_kernels (Tiled), which has nothing for 12.0 and 12.1",
            [("in", "x/a.py:6")],
        ),
        # Another library, one that runs there, tests of the package, what picks a tile.
        ({**HOPPER, "x/a.py": ELSEWHERE}, "runs on 12.0 and 12.1: core; for other chips: hopper_kernels", []),
        ({**ALL, "x/a.py": LEAST}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/a.py": PICKS}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/a.py": ROWS}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/gemm_sm90.py": REFUSED, "x/ops/gemm.py": PICKS}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/a.py": PARTLY}, "runs on 12.0 and 12.1", []),
        (
            {**ALL, "x/a.py": LOOKUP},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in name (x/a.py){OLDER}",
            [("out", "x/a.py:7")],
        ),
        # One place stops what calls it, and is told once.
        (
            {**ALL, "x/a.py": STOPPED},
            f"runs on 12.0 and 12.1; its own code turns 12.0 and 12.1 away in check (x/a.py){OLDER}",
            [("out", "x/a.py:4")],
        ),
        ({**ALL, "x/tests/test_a.py": REFUSED}, "runs on 12.0 and 12.1", []),
        # What others made and a package carries; a build that nobody runs.
        ({**ALL, "x/3rdparty/y/a.py": REFUSED}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/y/CMakeLists.txt": LISTED.replace(b"86", b"90a")}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/a.py": REFUSED.replace(b"(9, 0)", b"(12, 1)")}, "runs on 12.0 and 12.1", []),
        ({**ALL, "x/a.py": REFUSED.replace(b"> (9, 0)", b"< (9, 0)")}, "runs on 12.0 and 12.1", []),
    ],
)
def test_wheels(tmp_path: Path, files: dict[str, bytes], answer: str, own: list[tuple[str, str]]) -> None:
    name = tmp_path / "x-1.0-py3-none-manylinux_2_28_aarch64.whl"
    found, places = told(name, wheel(files))
    assert (found, sorted(places)) == (answer, own)


JIT = b"""\
import subprocess


def build(source):
    flags = ["-gencode=arch=compute_90a,code=sm_90a", "-O3"]
    subprocess.run(["nvcc", *flags, source], check=True)
"""


@pytest.mark.parametrize(
    ("files", "answer", "own"),
    [
        (
            {"setup.py": FLAGS, "x.cu": b"__global__ void k() {}\n"},
            "a source distribution: it is built on your machine; its sources have device code (1 file of CUDA C++);"
            " its own build leaves 12.0 and 12.1 out (setup.py)",
            [("build", "setup.py:5")],
        ),
        (
            {"setup.py": FLAGS.replace(b"code=sm_90", b"code=compute_90"), "x.cu": b""},
            "a source distribution: it is built on your machine; its sources have device code (1 file of CUDA C++);"
            " its own build makes code that 12.0 and 12.1 can load (setup.py)",
            [("made", "setup.py:5")],
        ),
        (
            {"setup.py": FLAGS.replace(b"90", b"120"), "x.cu": b"__global__ void k() {}\n"},
            "a source distribution: it is built on your machine; its sources have device code (1 file of CUDA C++);"
            " its own build makes code that 12.0 and 12.1 can load (CUDAExtension)",
            [("made", "setup.py:5")],
        ),
        # Python beside the sources of a library that only lends headers is not installed.
        (
            {"setup.py": b"from setuptools import setup\nsetup()\n", "csrc/y/python/y/a.py": REFUSED},
            "a source distribution: it is built on your machine; no device code in its sources",
            [],
        ),
        # What is built by a setup of its own is another package.
        (
            {"setup.py": b"from setuptools import setup\nsetup()\n", "extra/setup.py": FLAGS, "extra/x.cu": b""},
            "a source distribution: it is built on your machine; its sources have device code (1 file of CUDA C++)",
            [],
        ),
        (
            {"setup.py": b"from setuptools import setup\nsetup()\n", "x/a.py": REFUSED},
            "a source distribution: it is built on your machine; no device code in its sources;"
            f" its own code turns 12.0 and 12.1 away in a.py{OLDER}",
            [("out", "x/a.py:3")],
        ),
        (
            {"x/__init__.py": b"", "x/jit.py": JIT},
            "a source distribution: it is built on your machine; no device code in its sources;"
            " its own build leaves 12.0 and 12.1 out (90a)",
            [("build", "x/jit.py:5")],
        ),
    ],
)
def test_sources(tmp_path: Path, files: dict[str, bytes], answer: str, own: list[tuple[str, str]]) -> None:
    data = tarred({f"x-1.0/{name}": text for name, text in files.items()}, "gz")
    assert told(tmp_path / "x-1.0.tar.gz", data) == (answer, own)


def test_nothing_of_a_wheel_is_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    files = {"x/a.py": f"open({str(ran)!r}, 'w')\n".encode() + REFUSED, "pyproject.toml": b"[tool.bwlint]\nignore=[1"}
    _, places = told(tmp_path / "x-1.0-py3-none-any.whl", wheel(files))
    assert places == [("out", "x/a.py:4")]
    assert not ran.exists()


def test_what_takes_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def for_ever(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(own_code, "_SECONDS", 0.05)
    monkeypatch.setattr(own_code, "audit", for_ever)
    name = tmp_path / "x-1.0-py3-none-manylinux_2_28_aarch64.whl"
    name.write_bytes(wheel({**ALL, "x/a.py": REFUSED}))
    document = json.loads(CliRunner().invoke(app, ["inspect", "--format", "json", str(name)]).stdout)
    assert document["shipments"][0]["answer"] == "runs on 12.0 and 12.1"
    assert [one["reason"] for one in document["skipped"]] == [
        "its own code was not checked: takes more than 0.05 seconds to read"
    ]


PARTED = b"""\
import torch


def launch(kernel):
    if torch.cuda.get_device_capability() == (12, 1):
        return kernel[(1,)]()
    return None
"""


def test_what_check_reports_is_told(tmp_path: Path) -> None:
    name = tmp_path / "x-1.0-py3-none-any.whl"
    answer, own = told(name, wheel({**ALL, "x/a.py": PARTED}))
    assert "bwlint check finds faults for 12.0 in its own code (launch)" in answer
    assert own == [("fault", "x/a.py:5")]
    assert CliRunner().invoke(app, ["inspect", str(name)]).stderr == "bwlint: built code: no findings\n"


@pytest.mark.parametrize(
    "code",
    [
        PARTED.replace(b"12, 1", b"12, 0"),
        b"import torch\n\nif torch.cuda.get_device_capability() == (12, 1):\n    raise RuntimeError('not here')\n",
    ],
)
def test_what_check_reports_of_the_twin_alone_is_not(tmp_path: Path, code: bytes) -> None:
    _, own = told(tmp_path / "x-1.0-py3-none-any.whl", wheel({**ALL, "x/a.py": code}))
    assert own == []


def test_what_check_reports_of_both_is_told_of_both(tmp_path: Path) -> None:
    code = b"""\
import deep_gemm
import torch


def product(a, b, c):
    if torch.cuda.get_device_capability()[0] >= 9:
        deep_gemm.fp8_gemm_nt(a, b, c)
"""
    name = tmp_path / "x-1.0-py3-none-any.whl"
    name.write_bytes(wheel({"x/a.py": code}))
    document = json.loads(CliRunner().invoke(app, ["inspect", "--format", "json", str(name)]).stdout)
    (own,) = document["shipments"][0]["own"]
    assert (own["does"], own["chips"]) == ("fault", ["12.0", "12.1"])
    assert "none for 12.x" in own["says"]


def test_what_a_build_makes_is_told_with_its_targets(tmp_path: Path) -> None:
    name = tmp_path / "x-1.0.tar.gz"
    setup = b"import os\n\nos.environ['TORCH_CUDA_ARCH_LIST'] = '9.0;12.0'\n"
    name.write_bytes(tarred({"x-1.0/setup.py": setup, "x-1.0/x/a.cu": b""}))
    document = json.loads(CliRunner().invoke(app, ["inspect", "--format", "json", str(name)]).stdout)
    (own,) = document["shipments"][0]["own"]
    assert own["says"] == "90, 120"
