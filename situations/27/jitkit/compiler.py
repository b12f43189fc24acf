from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from .target import gencode, native

CACHE = pathlib.Path(os.environ.get("JITKIT_CACHE", "~/.cache/jitkit")).expanduser()
FLAGS = {
    "common": ["-std=c++17", "-O3", "--cubin"],
    "debug": ["-lineinfo"],
}


def cubin(source: pathlib.Path, index: int, debug: bool = False, defines: dict[str, int] | None = None) -> pathlib.Path:
    flags = FLAGS["common"] + (FLAGS["debug"] if debug else []) + gencode(index)
    flags += [f"-D{k}={v}" for k, v in sorted((defines or {}).items())]
    digest = hashlib.blake2b(source.read_bytes() + "\0".join(flags).encode(), digest_size=12).hexdigest()
    out = CACHE / native(index) / f"{source.stem}.{digest}.cubin"
    if out.exists():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    with tempfile.NamedTemporaryFile(dir=out.parent, suffix=".cubin", delete=False) as f:
        subprocess.run([nvcc, *flags, str(source), "-o", f.name], check=True)
    os.replace(f.name, out)
    return out
