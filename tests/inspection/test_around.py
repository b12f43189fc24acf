"""What is around ready code: compilers, packages and libraries that it needs, text that is compiled where it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from libraries import fatbin, library
from small_binaries import Section, container, cubin, elf, entry, ptx, shared_object, tarred, wheel

from bwlint.binaries.library import read_library
from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import Assembler, Shipment
from bwlint.chips import ChipSet
from bwlint.cli import app
from bwlint.inspection.answers import answer
from bwlint.inspection.run_time import RunTime
from bwlint.sources.stretch import ByteSource

CONSUMER = ChipSet.of("12.0", "12.1")
HOPPER = shared_object(container(entry(cubin(90), 90)))
BOTH = shared_object(container(entry(cubin(80), 80), entry(cubin(90), 90)))
COMPILED = shared_object(container(entry(ptx(80), 80)))
READY = shared_object(container(entry(cubin(120), 120)))
TRITON = b"import triton\n\n@triton.jit\ndef kernel(x): ...\n"
CUTE = b"@cute.kernel\ndef kernel(x): ...\n"
BUILT = b"from torch.utils import cpp_extension\nops = cpp_extension.load('ops', ['ops.cu'])\n"
LANG = b"@tilelang.jit\ndef kernel(): ...\n"


def asked(tmp_path: Path, name: str, data: bytes, *options: str) -> dict[str, Any]:
    (tmp_path / name).write_bytes(data)
    done = CliRunner().invoke(
        app, ["inspect", "--target", "sm_120", "--severity", "note", "--format", "json", *options, str(tmp_path / name)]
    )
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def said(tmp_path: Path, files: dict[str, bytes], name: str = "x-1.0-py3-none-any.whl") -> str:
    return str(asked(tmp_path, name, wheel(files))["shipments"][0]["answer"])


@pytest.mark.parametrize(
    ("files", "way", "severity"),
    [
        ({"x/_C.so": BOTH, "x/a.py": TRITON}, "Triton", "warning"),
        ({"x/_C.so": BOTH, "x/a.py": CUTE}, "CuTe DSL", "warning"),
        ({"x/_C.so": BOTH, "x/a.py": BUILT}, "torch.utils.cpp_extension", "warning"),
        # The Python comes first.
        ({"a/a.py": LANG, "x/_C.so": BOTH}, "TileLang", "warning"),
        ({"x/_C.so": HOPPER, "x/a.py": TRITON}, "Triton", "note"),
        # No way of its own: headers that come along, calls that a library may make, tests.
        ({"x/_C.so": BOTH, "x/include/a.cuh": b"", "x/b.cu": b""}, "", "error"),
        ({"x/_C.so": BOTH, "x/a.py": b"lib.nvrtcCompileProgram(p)\n"}, "", "error"),
        ({"x/_C.so": BOTH, "x/b.so": elf([Section(".rodata", b"nvrtcCompileProgram", flags=2)])}, "", "error"),
        ({"x/_C.so": BOTH, "x/tests/a.py": TRITON}, "", "error"),
        ({"x/_C.so": BOTH, "x/a.py": b"import triton\n"}, "", "error"),
        ({"x/_C.so": HOPPER}, "", "warning"),
    ],
)
def test_kernels_in_python_beside_ready_libraries(
    tmp_path: Path, files: dict[str, bytes], way: str, severity: str
) -> None:
    document = asked(tmp_path, "x-1.0-py3-none-any.whl", wheel(files))
    told = document["shipments"][0]["answer"]
    (found,) = [each for each in document["findings"] if each["name"] == "arch-target"]
    assert found["severity"] == severity
    if way:
        assert told.startswith("no built code runs on 12.0 (cubins for sm_")
        assert told.endswith(f", and the rest compiles at run time: {way}")
        assert found["message"].startswith("Nothing that is built here runs on 12.0 (RTX 5090): cubins for sm_")
        assert found["message"].endswith(f"no PTX (1 container of device code). The rest compiles at run time ({way}).")
    else:
        assert told.startswith("does not run on 12.0: cubins for sm_")
        assert found["message"].startswith("Nothing here runs on 12.0 (RTX 5090): ")
        assert "run time" not in f"{told}{found['message']}"


@pytest.mark.parametrize("ready", [READY, COMPILED])
def test_what_runs_is_said_as_before(tmp_path: Path, ready: bytes) -> None:
    assert said(tmp_path, {"x/_C.so": ready, "x/a.py": TRITON}).startswith("runs on 12.0")


def text(*names: str) -> bytes:
    return elf([Section(".rodata", b"\0".join(name.encode() for name in names), flags=2)])


OF_11_8, OF_13 = (f"Cuda compilation tools, release {release}, V{release}.1" for release in ("11.8", "13.0"))
PTX_ALONE = "a program that asks it for compute_120 gets an error, PTX for older chips runs there by JIT"


@pytest.mark.parametrize(
    ("files", "ends", "severity"),
    [
        ({"lib/libnvrtc.so.11.2": text(OF_11_8, "gpu-name", "nvrtcCompileProgram")}, PTX_ALONE, "note"),
        ({"x/core.so": text(OF_11_8, "gpu-name", "nvvmCompileProgram")}, PTX_ALONE, "note"),
        ({"nvvm/libnvvm.so.4": text(OF_11_8, "nvvmCompileProgram")}, PTX_ALONE, "note"),
        ({"bin/ptxas": text(OF_11_8, "gpu-name")}, "nothing compiles for sm_120", "warning"),
        ({"bin/ptxas": text(OF_11_8, "gpu-name", "nvvmCompileProgram")}, "nothing compiles for sm_120", "warning"),
        (
            {"lib/libnvJitLink.so.12": text(OF_11_8, "gpu-name", "nvvmCompileProgram", "nvJitLinkCreate")},
            "nothing compiles for sm_120",
            "warning",
        ),
        (
            {"bin/ptxas": text(OF_11_8), "lib/libnvvm.so": text(OF_11_8, "nvvmCompileProgram")},
            "nothing compiles for sm_120",
            "warning",
        ),
        ({"bin/ptxas": text(OF_13), "lib/libnvvm.so": text(OF_11_8, "nvvmCompileProgram")}, "", ""),
        ({"lib/libnvrtc.so.13": text(OF_13, "nvrtcCompileProgram", "gpu-name")}, "", ""),
    ],
)
def test_a_maker_of_ptx_is_no_dead_end(tmp_path: Path, files: dict[str, bytes], ends: str, severity: str) -> None:
    document = asked(tmp_path, "x-1.0-py3-none-any.whl", wheel(files))
    told = document["shipments"][0]["answer"]
    assert told.endswith(f"not know 12.0: {ends}") if ends else "compiles for 12.0 (" in told
    found = [each["severity"] for each in document["findings"] if each["name"] == "toolchain"]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("path", "names", "evidence"),
    [
        ("x/core.so", ["nvptx64-nvidia-cuda", "cuModuleLoadDataEx"], ("LLVM for NVPTX",)),
        ("x/lib_x.so", ["clBuildProgram", "clCreateProgramWithSource"], ("OpenCL",)),
        ("x/x.pyd", ["nvrtcCompileProgram"], ("NVRTC",)),
        ("x/x.so", ["nvrtcCompileProgram", "clBuildProgram", "clCreateProgramWithSource"], ("NVRTC", "OpenCL")),
        # Half of it: a compiler of C that knows the target, a program that loads what others made, a loader.
        ("x/libclang.so", ["nvptx64-nvidia-cuda"], ()),
        ("x/core.so", ["cuModuleLoadData", "cuLaunchKernel"], ()),
        ("x/core.so", ["clGetPlatformIDs", "clBuildProgram"], ()),
        # A codec in a wheel for CPUs, of which nobody asks that.
        ("x.libs/libx264-6d2fa01e.so.164", ["clBuildProgram", "clCreateProgramWithSource"], ()),
        ("x/.libs/libOpenCL-5519dec5.so.1.0.0", ["clBuildProgram", "clCreateProgramWithSource"], ()),
    ],
)
def test_what_a_program_compiles_with(path: str, names: list[str], evidence: tuple[str, ...]) -> None:
    found = RunTime()
    found.take_binary(path, ByteSource.of_bytes(text(*names)))
    assert found.evidence == evidence


@pytest.mark.parametrize(
    ("image", "word", "count"),
    [
        # Containers for several chips in which there is nothing to run are none that a chip lacks.
        (fatbin("sm_80 sm_90", kernels=()), "all", 1),
        (fatbin("sm_80 sm_90"), "partial", 2),
        (fatbin("sm_90"), "partial", 2),
        (fatbin("sm_120"), "all", 2),
    ],
)
def test_containers_without_kernels_are_not_counted(image: bytes, word: str, count: int) -> None:
    source = ByteSource.of_bytes(shared_object(image, fatbin("sm_120")))
    found = read_library("a.so", source, ChipSet.of("12.0"), deep=False)
    assert (found.tallies["12.0"].word, found.tallies["12.0"].total) == (word, count)


@pytest.mark.parametrize(
    ("units", "names"),
    [
        # For chips before the newest that the library is built for.
        (["ptx_70", "sm_70 sm_75", "sm_50 sm_60: maxwell_gemm"], []),
        (["sm_75 sm_80 sm_120", "sm_75 sm_70: turing_gemm"], []),
        (["sm_80 sm_90 sm_120", "sm_80 sm_86: ampere_gemm"], []),
        # The newest of those before has it.
        (["sm_120f", "sm_80 sm_90: gemm"], ["gemm"]),
        (["sm_80 sm_90 sm_120", "sm_80 sm_90: gemm"], ["gemm"]),
        (["sm_80 sm_90 sm_100 sm_120", "sm_80 sm_90: gemm"], ["gemm"]),
        (["sm_80 sm_90 sm_120", "sm_90 sm_100: gemm"], ["gemm"]),
        # What is for one generation alone says nothing of the rest.
        (["sm_120f", "sm_90a: wgmma", "sm_80 sm_89: gemm"], ["gemm"]),
    ],
)
def test_operations_for_old_chips_alone(units: list[str], names: list[str]) -> None:
    found = operations([library("w/a.so", *units)], ChipSet.of("12.0"))
    assert [one.name for one in found] == names


OLD_TORCH = "it requires torch==2.4.1, of which no wheel has kernels for 12.0"


def metadata(*rows: str) -> dict[str, bytes]:
    said = "".join(f"{row}\n" for row in rows)
    return {"x-1.0.dist-info/METADATA": f"Name: x\nVersion: 1.0\n{said}\nRequires-Dist: text==1\n".encode()}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["Requires-Dist: torch==2.4.1"], f"its own code runs on 12.0 by JIT alone; {OLD_TORCH}"),
        (
            ["Requires-Dist: torch (==2.4.1)", "Requires-Dist: numpy"],
            f"its own code runs on 12.0 by JIT alone; {OLD_TORCH}",
        ),
        (
            ["Requires-Dist: torch<=2.5.1,>=2.0.0"],
            "its own code runs on 12.0 by JIT alone; it requires torch<=2.5.1,>=2.0.0,"
            " of which no wheel has kernels for 12.0",
        ),
        (
            ['Requires-Dist: triton==3.2.0; platform_system == "Linux"'],
            "its own code runs on 12.0 by JIT alone; it requires triton==3.2.0, of which no wheel has ptxas for 12.0",
        ),
        # The first release for 12.0 has its wheels for CUDA 12.8 on another index.
        (
            ["Requires-Dist: torch==2.7.1"],
            "its own code runs on 12.0 by JIT alone; it requires torch==2.7.1, of which no wheel on PyPI has kernels"
            " for 12.0: a build for CUDA 12.8 or newer, from another index, does",
        ),
        (["Requires-Dist: torch>=2.7"], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: torch>=2.0"], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: torch==2.8.0"], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: torch"], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: numpy<2"], "runs on 12.0 by JIT alone"),
        (["Provides-Extra: old", 'Requires-Dist: torch==2.4.1; extra == "old"'], "runs on 12.0 by JIT alone"),
        (['Requires-Dist: torch==2.4.1; sys_platform == "win32"'], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: torch @ https://x.org/torch.whl"], "runs on 12.0 by JIT alone"),
        (["Requires-Dist: torch===what"], "runs on 12.0 by JIT alone"),
    ],
)
def test_what_a_wheel_requires(tmp_path: Path, rows: list[str], expected: str) -> None:
    assert said(tmp_path, {"x/_C.so": COMPILED, **metadata(*rows)}) == expected


OLD_ABI = b"\0_ZN3c106detail14torchCheckFailEPKcS2_jRKSs\0"


@pytest.mark.parametrize(
    ("symbols", "name", "expected"),
    [
        (
            OLD_ABI,
            "x-1.0-py3-none-any.whl",
            "its own code runs on 12.0 by JIT alone; its libraries need torch before 2.7 (C++ ABI), of which no wheel"
            " has kernels for 12.0",
        ),
        (OLD_ABI.replace(b"RKSs", b"RKNSt7__cxx1112basic_stringIcEE"), "x-1.0-py3-none-any.whl", ""),
        (OLD_ABI, "torch-2.5.1-py3-none-any.whl", ""),
    ],
)
def test_the_abi_of_a_required_package(tmp_path: Path, symbols: bytes, name: str, expected: str) -> None:
    files = {"x/_C.so": COMPILED, "x/lib.so": elf([Section(".dynstr", symbols, flags=2)])}
    assert said(tmp_path, files, name) == (expected or "runs on 12.0 by JIT alone")


def test_libraries_for_other_cudas_cost_nothing_beside_a_native_one() -> None:
    native, old = library("w/x_cuda128.so", "sm_120"), library("w/x_cuda118.so", "ptx_80")
    shipment = Shipment("w", (native, old))
    assert shipment.spare("12.0") == (old,)
    assert shipment.spare("9.0") == ()
    assert Shipment("w", (old, library("w/y.so", "sm_120"))).spare("12.0") == ()


def test_what_no_compiler_knows_does_not_compile_at_run_time() -> None:
    known = Shipment(
        "w", (library("w/a.so", "sm_80"),), compiles=("Triton",), assemblers=(Assembler("ptxas", (12, 4)),)
    )
    assert answer(known, ChipSet.of("12.0")) == (
        "its ptxas (CUDA 12.4) does not know 12.0: nothing compiles for sm_120;"
        " no built code runs on 12.0 (cubins for sm_80, no PTX)"
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            "Requires-Dist: X_cu12==1.0",
            "no ready device code; it compiles at run time (Triton); it requires X_cu12==1.0: bwlint inspect"
            " pypi:X_cu12==1.0",
        ),
        ("Requires-Dist: X_cu12>=1.0", "no ready device code; it compiles at run time (Triton)"),
        ("Requires-Dist: y==1.0", "no ready device code; it compiles at run time (Triton)"),
    ],
)
def test_a_part_in_a_wheel_of_its_own(tmp_path: Path, row: str, expected: str) -> None:
    assert said(tmp_path, {"x/a.py": TRITON, **metadata(row)}) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("y==1.0", "torch>=2.7", "z"), "no device code; it requires y==1.0: bwlint inspect pypi:y==1.0"),
        (("y==1.0", "z==2.0"), "no device code"),
        (("y==1.*",), "no device code"),
        (("y>=1.0",), "no device code"),
        (("torch==2.9.0",), "no device code"),
        (('y==1.0; extra == "all"',), "no device code"),
    ],
)
def test_a_package_without_code_names_the_one_that_it_is_released_with(
    tmp_path: Path, rows: tuple[str, ...], expected: str
) -> None:
    files = metadata(*(f"Requires-Dist: {row}" for row in rows))
    assert said(tmp_path, {"x/a.py": b"import y\n", **files}) == expected


def test_the_metadata_of_a_package_within_is_not_its_own(tmp_path: Path) -> None:
    inner = {f"x/_vendor/{path}": data for path, data in metadata("Requires-Dist: torch==2.4.1").items()}
    assert said(tmp_path, {"x/_C.so": COMPILED, **inner}) == "runs on 12.0 by JIT alone"


def test_what_does_not_run_does_not_do_so_for_its_own_part(tmp_path: Path) -> None:
    told = said(tmp_path, {"x/_C.so": BOTH, **metadata("Requires-Dist: torch==2.4.1")})
    assert told == f"does not run on 12.0: cubins for sm_80, sm_90, no PTX; {OLD_TORCH}"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ["libx_cuda117.so", "libx_cuda125.so"],
            "its own code runs on 12.0 by JIT alone; it has a library for each CUDA from 11.7 to 12.5, none for 12.8,"
            " the first that knows 12.0",
        ),
        (
            ["x-cu118.so", "x-cu121.so"],
            "its own code runs on 12.0 by JIT alone; it has a library for each CUDA from 11.8 to 12.1, none for 12.8,"
            " the first that knows 12.0",
        ),
        (["libx_cuda118.so", "libx_cuda128.so"], "runs on 12.0 by JIT alone"),
        (["libx_cuda121.so"], "runs on 12.0 by JIT alone"),
        (["libx_cuda12.so", "libx_cuda11.so"], "runs on 12.0 by JIT alone"),
        (["libaccu118.so", "libaccu120.so"], "runs on 12.0 by JIT alone"),
    ],
)
def test_a_library_for_each_cuda(names: list[str], expected: str) -> None:
    made = tuple(library(f"w/{name}", "ptx_80") for name in names)
    assert answer(Shipment("w", made), ChipSet.of("12.0")) == expected


STUB = b'[build-system]\nrequires = ["wheel-stub"]\nbuild-backend = "wheel_stub.buildapi"\n'
WHERE = b'[tool.wheel_stub]\nindex_url = "https://pypi.nvidia.com/"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"x-1.0/pyproject.toml": STUB + WHERE},
            "a stub: its wheel is fetched from https://pypi.nvidia.com/ and was not read",
        ),
        ({"x-1.0/pyproject.toml": STUB}, "a stub: its wheel is fetched from another index and was not read"),
        ({"x-1.0/pyproject.toml": b'[build-system]\nbuild-backend = "setuptools.build_meta"\n' + WHERE}, ""),
        ({"x-1.0/pyproject.toml": b'# build-backend = "wheel_stub.buildapi"\n'}, ""),
        ({"x-1.0/third/pyproject.toml": STUB + WHERE, "x-1.0/setup.py": b""}, ""),
        # Text of C++ that asks for a compiler where it runs.
        ({"x-1.0/x/a.cpp": b"nvrtcCompileProgram(program, 0, nullptr);\n"}, "its sources compile at run time (NVRTC)"),
        ({"x-1.0/x/a.cpp": b"// g++ -lcuda -lnvrtc a.cpp\n"}, "its sources compile at run time (NVRTC)"),
        ({"x-1.0/x/a.h": b"#include <nvrtc.h>\n"}, "its sources compile at run time (NVRTC)"),
        ({"x-1.0/x/a.cc": b'# include "binders/nvrtc/binder.h"\n'}, "its sources compile at run time (NVRTC)"),
        (
            {"x-1.0/x/a.cu": b"", "x-1.0/a.cc": b"#include <nvrtc.h>"},
            "its sources have device code (1 file of CUDA C++, NVRTC)",
        ),
        ({"x-1.0/x/a.cpp": b"// without NVRTC\nint nvrtc = 0;\n"}, ""),
        ({"x-1.0/x/a.cpp": b"#include <cuda_runtime.h>\n"}, ""),
        ({"x-1.0/tests/a.cpp": b"#include <nvrtc.h>\n"}, ""),
    ],
)
def test_source_distributions(tmp_path: Path, files: dict[str, bytes], expected: str) -> None:
    told = asked(tmp_path, "x-1.0.tar.gz", tarred(files, "gz"))["shipments"][0]["answer"]
    built = "a source distribution: it is built on your machine; "
    assert told == (
        expected if expected.startswith("a stub") else built + (expected or "no device code in its sources")
    )


FETCHING = b"""\
from urllib.request import urlretrieve
URL = "https://github.com/owner/x/releases/download/{tag}/{wheel}"
urlretrieve(URL)
ext_modules = [CUDAExtension("x", ["csrc/x.cu"])]
"""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"setup.py": FETCHING, "csrc/x.cu": b""},
            "its setup.py fetches a ready wheel from github.com/owner/x, which was not read;"
            " its sources have device code (1 file of CUDA C++)",
        ),
        (
            {"setup.py": FETCHING},
            "its setup.py fetches a ready wheel from github.com/owner/x, which was not read: the CUDA sources that it"
            " names are missing; no device code in its sources",
        ),
        (
            {"setup.py": FETCHING.replace(b"urlretrieve", b"print"), "csrc/x.cu": b""},
            "it is built on your machine; its sources have device code (1 file of CUDA C++)",
        ),
        # nvcc in a program of the package, in flags of a build, and in a message.
        (
            {"x/run.py": b"call(['nvcc', '--cubin', '-arch', arch])\n"},
            "it is built on your machine; its sources compile at run time (nvcc)",
        ),
        (
            {"x/run.py": b"def build(src, nvcc='nvcc'):\n    call([nvcc, src, '-arch=sm_90'])\n"},
            "it is built on your machine; its sources compile at run time (nvcc)",
        ),
        (
            {"setup.py": b"call(['nvcc', '-arch', arch])\n"},
            "it is built on your machine; no device code in its sources",
        ),
        (
            {"x/flags.py": b"FLAGS = {'nvcc': ['-gencode', 'arch=compute_80,code=sm_80']}\n"},
            "it is built on your machine; no device code in its sources",
        ),
        ({"x/run.py": b"print('nvcc')\n"}, "it is built on your machine; no device code in its sources"),
    ],
)
def test_how_sources_are_installed(tmp_path: Path, files: dict[str, bytes], expected: str) -> None:
    data = tarred({f"x-1.0/{name}": text for name, text in files.items()}, "gz")
    told = asked(tmp_path, "x-1.0.tar.gz", data)["shipments"][0]["answer"]
    assert told.partition("; its own build")[0] == f"a source distribution: {expected}"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"x/bin/gemm": HOPPER}, "does not run on 12.0: cubins for sm_90, no PTX"),
        ({"x/bin/gemm": READY}, "runs on 12.0"),
        ({"x/bin/gemm": b"#!/bin/sh\n"}, "no device code"),
        ({"x/LICENSE": container(entry(cubin(90), 90))}, "no device code"),
        ({"x/gemm.txt": HOPPER}, "no device code"),
    ],
)
def test_programs_without_a_suffix(tmp_path: Path, files: dict[str, bytes], expected: str) -> None:
    assert said(tmp_path, files) == expected


def test_a_file_without_a_suffix_that_is_named(tmp_path: Path) -> None:
    told = asked(tmp_path, "kernels", container(entry(cubin(90), 90)))["shipments"][0]["answer"]
    assert told == "does not run on 12.0: cubins for sm_90, no PTX"


@pytest.mark.parametrize(
    ("rows", "files", "expected"),
    [
        (
            ["Provides-Extra: cu12", "Provides-Extra: cu13", 'Requires-Dist: y; extra == "cu12"'],
            {},
            "it only requires other packages (in extras: cu12 and cu13)",
        ),
        (["Requires-Dist: y>=1", "Requires-Dist: z"], {}, "it only requires other packages (y and z)"),
        ([], {}, "no device code"),
        (["Requires-Dist: y"], {"x/a.py": b"x = 1\n"}, "no device code"),
        (["Requires-Dist: y"], {"x/a.so": elf([])}, "no device code"),
        (["Requires-Dist: y"], {"x/a.so": READY}, "runs on 12.0"),
    ],
)
def test_packages_that_only_require_others(
    tmp_path: Path, rows: list[str], files: dict[str, bytes], expected: str
) -> None:
    assert said(tmp_path, {**files, **metadata(*rows)}) == expected


def test_images_for_tests_are_one_line(tmp_path: Path) -> None:
    images = {f"x/tests/data/{number}.cubin": cubin(90) for number in range(4)}
    document = asked(tmp_path, "x-1.0-py3-none-any.whl", wheel({"x/a.so": READY, **images}))
    assert [each["reason"] for each in document["skipped"]] == ["4 images for the package's own tests"]


def test_a_missing_line_table_does_not_lead(tmp_path: Path) -> None:
    broken = cubin(120, lines=b"\xff\xff\xff\x7f\5\0\0\x09\x02" + bytes(8))
    told = asked(tmp_path, "gemm.so", shared_object(container(entry(broken, 120))))
    assert told["shipments"][0]["answer"] == "runs on 12.0"
    assert not told["skipped"]
    assert any("its kernels have no lines" in fault for fault in told["shipments"][0]["libraries"][0]["faults"])
