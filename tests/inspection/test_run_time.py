"""What is compiled only where it runs, and the files that speak for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_binaries import container, cubin, elf, entry, ptx, shared_object, wheel

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
    found.take_binary(ByteSource.of_bytes(bytes(at) + b"nvrtcCompileProgram\0"))
    assert found.evidence == ("NVRTC",)


@pytest.mark.parametrize(
    ("files", "code", "answer"),
    [
        ({"x/a.py": TRITON}, 0, "no device code here; it compiles at run time (Triton)"),
        ({"x/a.py": TRITON, "x/a.so": elf([])}, 0, "no device code here; it compiles at run time (Triton)"),
        ({"x/a.py": b"", "x/a.so": elf([])}, 0, "no device code"),
        # Nothing that is read.
        ({"x/a.py": b""}, 3, "no device code"),
        (
            {"x/a.py": TRITON, "x/a.ptx": ptx(103, "a")},
            0,
            "nothing that is built runs on 12.0 (PTX only for sm_103a), and the rest compiles at run time: Triton",
        ),
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
