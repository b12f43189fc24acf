"""A CUDA toolkit from PyPI, for fixtures that tests build: nvcc, ptxas, nvlink, cuobjdump.

`pip install --target FOLDER nvidia-cuda-nvcc nvidia-cuda-cccl nvidia-cuda-cuobjdump` makes one.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = "BWLINT_CUDA"
"""The environment variable that names a folder which pip filled."""


@dataclass(frozen=True)
class Toolkit:
    """The programs in one folder."""

    programs: Path

    def run(self, program: str, *arguments: str, folder: Path | None = None) -> str:
        """What a program prints; raises `OSError` with what it says where it fails."""
        path = self.programs / program
        # nvcc finds its siblings, and a linker, on PATH.
        environment = {**os.environ, "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}"}
        command = [str(path), *arguments]
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, cwd=folder, timeout=300
        )
        if ran.returncode:
            raise OSError(f"{program} {' '.join(arguments)}: {ran.stderr.strip() or ran.stdout.strip()}")
        return ran.stdout

    def cubin(self, ptx: str, arch: str, *options: str) -> bytes:
        """What ptxas makes of PTX for an architecture ("sm_120a")."""
        return self.made("ptxas", {"module.ptx": ptx.encode()}, f"-arch={arch}", *options, "module.ptx")

    def linked(self, arch: str, *objects: bytes) -> bytes:
        """What nvlink makes of relocatable cubins."""
        named = {f"object{number}.cubin": data for number, data in enumerate(objects)}
        return self.made("nvlink", named, f"-arch={arch}", *named)

    def made(self, program: str, files: Mapping[str, bytes], *arguments: str) -> bytes:
        """What a program writes to -o, in a folder with these files."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, data in files.items():
                (folder / file).write_bytes(data)
            self.run(program, *arguments, "-o", "made", folder=folder)
            return (folder / "made").read_bytes()

    def dump(self, image: bytes, *options: str) -> str:
        """What cuobjdump says of a cubin or fatbin."""
        with tempfile.TemporaryDirectory() as name:
            path = Path(name, "image.cubin")
            path.write_bytes(image)
            return self.run("cuobjdump", *options, str(path))


def find_in(folder: Path) -> Toolkit | None:
    """The toolkit in a folder that pip filled, or in site-packages."""
    found = next((path.parent for path in sorted(folder.glob("nvidia/cu[0-9]*/bin/ptxas"), reverse=True)), None)
    if found is None:
        return None
    for path in found.iterdir():
        # PyPI's wheels do not always say that a program is one.
        if path.is_file() and not os.access(path, os.X_OK):
            path.chmod(0o755)
    return Toolkit(found)


def find() -> Toolkit:
    """The toolkit of BWLINT_CUDA, else of the running Python; raises `FileNotFoundError`."""
    given = os.environ.get(FOLDER)
    folder = Path(given or sysconfig.get_path("purelib"))
    found = find_in(folder)
    if found is None:
        raise FileNotFoundError(f"no CUDA toolkit in {folder}: see tools/toolkit.py")
    return found
