"""Lists of images, side by side: what `cuobjdump -all -lelf -lptx` prints of files, and what bwlint reads.

    python tools/cuobjdump_agreement.py CUOBJDUMP FILE...

cuobjdump drops the suffix f of cubins; it is dropped here too before the two are compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.images import CUBIN, LTO
from bwlint.readers.binary import read
from bwlint.readers.binary.source import Source

_LINE = re.compile(r"(ELF|PTX) file +\d+: .*\.(sm_\d+[af]?)\.(?:cubin|ptx)$")

Images = tuple[str, ...]
"""Kinds and targets in the order of the file, cubins before PTX: "ELF sm_90a"."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One file; `failure` is what cuobjdump says where it does not read the file to its end."""

    path: Path
    theirs: Images
    ours: Images
    failure: str
    seconds: tuple[float, float]

    @property
    def agrees(self) -> bool:
        return self.theirs == self.ours and not self.failure


def compare(cuobjdump: Path, path: Path) -> Comparison:
    """Both lists of a file, with the seconds that each took."""
    start = time.perf_counter()
    ran = subprocess.run(
        [str(cuobjdump), "-all", "-lelf", "-lptx", str(path)], capture_output=True, text=True, check=False
    )
    middle = time.perf_counter()
    ours = images(path)
    failure = next((line for line in ran.stderr.splitlines() if "fatal" in line), "")
    return Comparison(path, _listed(ran.stdout), ours, failure, (middle - start, time.perf_counter() - middle))


def images(path: Path) -> Images:
    """What bwlint reads in a file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        found = read(Source.of_file(handle))
    finally:
        os.close(handle)
    every = [image for container in found.containers for image in container.images if image.kind != LTO]
    return _sorted(("ELF" if image.kind == CUBIN else "PTX", image.target) for image in every)


def _listed(output: str) -> Images:
    return _sorted((match[1], match[2]) for match in map(_LINE.match, output.splitlines()) if match)


def _sorted(rows: Iterable[tuple[str, str]]) -> Images:
    """cuobjdump numbers the kinds apart; within a kind the order is that of the file."""
    folded = [(kind, target.removesuffix("f") if kind == "ELF" else target) for kind, target in rows]
    return tuple(f"{kind} {target}" for wanted in ("ELF", "PTX") for kind, target in folded if kind == wanted)


def main(arguments: Sequence[str]) -> int:
    """Print a row a file; 1 where one differs."""
    cuobjdump, *paths = map(Path, arguments)
    differing = 0
    for path in paths:
        found = compare(cuobjdump, path)
        differing += not found.agrees
        verdict = "agree" if found.agrees else found.failure or "DIFFER"
        theirs, ours = found.seconds
        megabytes = path.stat().st_size / 1e6
        counts = f"{len(found.theirs)} | {len(found.ours)}"
        print(f"{path} | {megabytes:.1f} MB | {counts} | {verdict} | {theirs:.3f} s | {ours * 1000:.1f} ms")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
