#!/usr/bin/env python3
"""archs.py NAME...: print the -gencode options for a list such as "80 90a 120f"."""
from __future__ import annotations

import re
import sys

NAME = re.compile(r"(?:sm_|compute_)?(\d{2,3})([af]?)(-real|-virtual)?")


def number(name: str) -> int:
    return int(re.sub(r"[af]$", "", name))


def gencode(names: list[str]) -> list[str]:
    out = []
    newest = 0
    for name in names:
        m = NAME.fullmatch(name)
        if m is None:
            raise SystemExit(f"archs.py: {name!r} is no architecture")
        arch = m[1] + m[2]
        newest = max(newest, number(arch))
        if m[3] != "-virtual":
            out.append(f"-gencode=arch=compute_{arch},code=sm_{arch}")
        if m[3] != "-real" and not m[2]:
            out.append(f"-gencode=arch=compute_{arch},code=compute_{arch}")
    if newest < 80:
        raise SystemExit("archs.py: at least one of 80 or newer is needed")
    return out


if __name__ == "__main__":
    print(" ".join(gencode(sys.argv[1:])))
