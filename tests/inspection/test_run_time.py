"""What is compiled only where it runs, and the files that speak for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_binaries import Section, container, cubin, elf, entry, ptx, shared_object, wheel

from bwlint.cli import app
from bwlint.inspection.run_time import RunTime, is_source
from bwlint.sources.stretch import ByteSource

TRITON = b"import triton\n\n@triton.jit\ndef kernel(x): ...\n"


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"a.cu": b"", "b.cuh": b""}, ("2 files of CUDA C++",)),
        ({"a.py": TRITON}, ("Triton",)),
        ({"a.py": TRITON, "b.py": TRITON, "c.cu": b""}, ("1 file of CUDA C++", "Triton")),
        ({"a.py": b"class A:\n    @cute.jit\n    def run(self): ...\n"}, ("CuTe DSL",)),
        ({"a.py": b"module = load_inline('x', cpp)\n"}, ("torch.utils.cpp_extension",)),
        # Only named or imported.
        ({"a.py": b"import triton\nprint('@triton.jit')\n"}, ()),
        ({"a.py": b"from torch.utils.cpp_extension import CUDAExtension\n"}, ()),
        ({"a.py": b""}, ()),
    ],
)
def test_text(files: dict[str, bytes], evidence: tuple[str, ...]) -> None:
    found = RunTime()
    for path, data in files.items():
        assert is_source(path)
        found.take(path, ByteSource.of_bytes(data))
    assert found.evidence == evidence


@pytest.mark.parametrize("at", [0, 100, (1 << 20) - 7, 3 << 20])
def test_a_library_that_asks_for_a_compiler(at: int) -> None:
    found = RunTime()
    found.take_binary("x/a.so", ByteSource.of_bytes(bytes(at) + b"nvrtcCompileProgram\0"))
    assert found.evidence == ("NVRTC",)


def tool(release: str, *texts: str) -> bytes:
    """An ELF file with texts in its read-only data, as compilers have them, and others in its code."""
    held = b"\0".join(text.encode() for text in (f"Cuda compilation tools, release {release}, V{release}.88", *texts))
    code = Section(".text", b"Cuda compilation tools, release 99.9\0gpu-name", flags=2 | 4)
    return elf([code, Section(".rodata", held, flags=2)])


@pytest.mark.parametrize(
    ("files", "answer", "path"),
    [
        (
            {"bin/ptxas": tool("12.8")},
            "its ptxas (CUDA 12.8) knows 12.0 but not 12.1: nothing compiles for sm_121",
            "ptxas",
        ),
        ({"bin/ptxas": tool("13.0")}, "compiles for 12.0 and 12.1 (ptxas of CUDA 13.0)", ""),
        (
            {"bin/ptxas.exe": tool("12.4")},
            "its ptxas.exe (CUDA 12.4) does not know 12.0 or 12.1: nothing compiles for sm_120 and sm_121",
            "ptxas.exe",
        ),
        # The newest of one name counts.
        (
            {"bin/ptxas": tool("12.8"), "bin/ptxas-blackwell": tool("12.9")},
            "compiles for 12.0 and 12.1 (ptxas-blackwell of CUDA 12.9)",
            "",
        ),
        # Of two that compile different things each is told, and one of them is enough.
        (
            {"bin/ptxas": tool("12.8"), "lib/libnvrtc.so.13": tool("13.1", "gpu-name")},
            "its ptxas (CUDA 12.8) knows 12.0 but not 12.1; compiles for 12.0 and 12.1 (libnvrtc.so of CUDA 13.1)",
            "",
        ),
        (
            {"lib/libnvvm.so.4.0.0": tool("12.8", "nvvmCompileProgram")},
            "its libnvvm.so (CUDA 12.8) knows 12.0 but not 12.1: a program that asks it for compute_121 gets an error,"
            " PTX for older chips runs there by JIT",
            "",
        ),
        # A compiler linked into a library of another name, and what calls one.
        (
            {"x/core.so": tool("13.1", "gpu-name", "nvrtcCompileProgram")},
            "compiles for 12.0 and 12.1 (core.so of CUDA 13.1)",
            "",
        ),
        (
            {"x/core.so": elf([Section(".rodata", b"gpu-name\0nvrtcCompileProgram", flags=2)])},
            "no ready device code; it compiles at run time (NVRTC)",
            "",
        ),
        # What has the text and compiles nothing: tools that show code, profilers.
        ({"bin/nvdisasm.so": tool("12.8"), "lib/libcupti.so.12": tool("12.8", "ptxas")}, "no device code", ""),
        ({"bin/ptxas": b"#!/bin/sh\nexec /usr/local/cuda/bin/ptxas"}, "no device code", ""),
        ({"bin/ptxas.py": tool("12.8")}, "no device code", ""),
        # Ready code beside it.
        (
            {"bin/ptxas": tool("12.8"), "x/a.so": shared_object(container(entry(cubin(120), 120)))},
            "its ptxas (CUDA 12.8) knows 12.0 but not 12.1: nothing compiles for sm_121;"
            " the ready code runs on 12.0 and 12.1",
            "ptxas",
        ),
        ({"x/a.so": shared_object(container(entry(cubin(120), 120)))}, "runs on 12.0 and 12.1", ""),
    ],
)
def test_compilers_that_come_along(tmp_path: Path, files: dict[str, bytes], answer: str, path: str) -> None:
    name = tmp_path / "x-1.0-py3-none-manylinux_2_28_aarch64.whl"
    name.write_bytes(wheel(files))
    command = ["inspect", "--format", "json", "--exit-zero", str(name)]
    done = CliRunner().invoke(app, command)
    document = json.loads(done.stdout)
    assert document["shipments"][0]["answer"] == answer
    found = [each["path"].rpartition("/")[2] for each in document["findings"] if each["name"] == "toolchain"]
    assert found == ([path] if path else [])


def test_the_compilers_are_listed(tmp_path: Path) -> None:
    name = tmp_path / "x-1.0-py3-none-manylinux_2_28_x86_64.whl"
    name.write_bytes(wheel({"bin/ptxas": tool("12.8"), "bin/ptxas-blackwell": tool("12.9")}))
    done = CliRunner().invoke(app, ["inspect", str(name)])
    assert done.exit_code == 0
    first, *_ = done.stdout.splitlines()
    assert first.endswith(
        "compiles for 12.0 (ptxas-blackwell of CUDA 12.9); 12.1 needs a build for aarch64, and this one is for x86_64"
    )
    assert "compiler of CUDA 12.8: bin/ptxas\ncompiler of CUDA 12.9: bin/ptxas-blackwell\n" in done.stdout


@pytest.mark.parametrize(
    ("files", "code", "answer"),
    [
        ({"x/a.py": TRITON}, 0, "no ready device code; it compiles at run time (Triton)"),
        ({"x/a.py": TRITON, "x/a.so": elf([])}, 0, "no ready device code; it compiles at run time (Triton)"),
        ({"x/a.py": b"", "x/a.so": elf([])}, 0, "no device code"),
        # The build of torch for CPUs has the kernels in Python too.
        (
            {"x/a.py": TRITON, "x/a.so": elf([]), "x/version.py": b"cuda: Optional[str] = None\n"},
            0,
            "no CUDA code: it is the CPU build",
        ),
        (
            {
                "x/version.py": b"__version__ = '2.6.0+cpu'\n",
                "x-1.0.dist-info/METADATA": b"Name: x\nRequires-Dist: y==1.0\n",
            },
            0,
            "no CUDA code: it is the CPU build",
        ),
        (
            {"x/a.py": TRITON, "x/version.py": b"__version__ = '2.6.0+cu126'\ncuda: Optional[str] = '12.6'\n"},
            0,
            "no ready device code; it compiles at run time (Triton)",
        ),
        (
            {"x/a.so": shared_object(container(entry(cubin(120), 120))), "x/version.py": b"cuda = None\n"},
            0,
            "runs on 12.0",
        ),
        # Nothing that is read.
        ({"x/a.py": b""}, 3, "no device code"),
        (
            {"x/a.py": TRITON, "x/a.ptx": ptx(103, "a")},
            0,
            "no built code runs on 12.0 (PTX only for sm_103a), and the rest compiles at run time: Triton",
        ),
        # Images for tests are none of the package's.
        (
            {"x/a.py": TRITON, "x/tests/data/a.ptx": ptx(75), "x/testing/b.cubin": cubin(120), "x/a.so": elf([])},
            0,
            "no ready device code; it compiles at run time (Triton)",
        ),
        ({"x/tests/data/a.ptx": ptx(75), "x/a.ptx": ptx(80)}, 0, "runs on 12.0 by JIT alone"),
        # Ready code counts, whatever lies beside it.
        ({"x/a.py": TRITON, "x/a.so": shared_object(container(entry(cubin(120), 120)))}, 0, "runs on 12.0"),
    ],
)
def test_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], code: int, answer: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x-1.0-py3-none-any.whl").write_bytes(wheel(files))
    command = ["inspect", "--target", "sm_120", "--format", "json", "x-1.0-py3-none-any.whl"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == code
    assert json.loads(done.stdout)["shipments"][0]["answer"] == answer


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        (
            "triton-3.4.0+git1",
            " To use this wheel, set TRITON_PTXAS_PATH (TRITON_PTXAS_BLACKWELL_PATH from triton 3.6 on)"
            " to the ptxas of such a CUDA.",
        ),
        ("x-3.4.0", ""),
    ],
)
def test_who_installs_a_wheel_learns_of_the_variable(tmp_path: Path, name: str, by_hand: str) -> None:
    path = tmp_path / f"{name}-cp312-cp312-manylinux_2_28_aarch64.whl"
    path.write_bytes(wheel({"triton/bin/ptxas": tool("12.8")}))
    document = json.loads(CliRunner().invoke(app, ["inspect", "--format", "json", str(path)]).stdout)
    (found,) = document["findings"]
    assert found["advice"] == f"Ship one from CUDA 12.9 or newer.{by_hand}"
