from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

from .arch import Arch

_CACHE = Path(os.environ.get("FASTJIT_CACHE", Path.home() / ".cache" / "fastjit"))
_COMMON = ["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "--cudart=shared"]


def _nvcc() -> str:
    return os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")


def build(name: str, source: Path, arch: Arch) -> ctypes.CDLL:
    flags = [*_COMMON, *arch.nvcc_flags()]
    key = hashlib.sha256(source.read_bytes() + " ".join(flags).encode()).hexdigest()[:16]
    lib = _CACHE / arch.code / f"{name}-{key}.so"
    if not lib.exists():
        lib.parent.mkdir(parents=True, exist_ok=True)
        tmp = lib.with_suffix(f".{os.getpid()}.tmp")
        done = subprocess.run([_nvcc(), *flags, str(source), "-o", str(tmp)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"nvcc failed for {name}:\n{done.stderr}")
        tmp.rename(lib)
    return ctypes.CDLL(str(lib))
