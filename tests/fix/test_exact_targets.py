"""No edit sends a chip to a target that it does not load: the test goes with what it leads to, or neither changes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Fix
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

CPP = """#include <cuda_runtime.h>
#include <string>
#include <stdexcept>
static const char* kExact = "compute_120a";
#define EXACT_OPTION "--gpu-architecture=sm_120a"
const char* exact() {
  return "kernels/fp4_sm120a.cubin";
}
std::string pick(const cudaDeviceProp& prop) {
  BODY
  throw std::runtime_error("no kernels");
}
"""
PYTHON = """import torch

EXACT = "compute_120a"


def exact():
    return "kernels/fp4_sm120a.cubin"


def pick():
    cap = torch.cuda.get_device_capability()
    BODY
    raise RuntimeError("no kernels")
"""
ASKS = "cap=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader)\n"
SHELL = ASKS + 'if [ "$cap" = "12.0" ]; then\n  BODY\nelse\n  exit 1\nfi\n'
CASE = ASKS + 'case "$cap" in\n  12.0) BODY ;;\n  *) exit 1 ;;\nesac\n'
EARLY = ASKS + 'if [ "$cap" != "12.0" ]; then\n  exit 1\nfi\nBODY\n'
QUERY = "execute_process(COMMAND nvidia-smi --query-gpu=compute_cap OUTPUT_VARIABLE CAP)\n"
CMAKE = QUERY + 'if(CAP STREQUAL "12.0")\n  BODY\nelse()\n  message(FATAL_ERROR "no")\nendif()\n'
IN_CPP = "if (prop.major == 12 && prop.minor == 0) "
IN_PYTHON = "if cap == (12, 0):\n        return "
LIST = "set(CMAKE_CUDA_ARCHITECTURES 120a-real)"

REFUSED = [
    ("a.cpp", CPP, f'{IN_CPP}return "-arch=sm_120a";'),
    ("a.cpp", CPP, f'{IN_CPP}return "120a";'),
    ("a.cpp", CPP, f'{IN_CPP}{{ return "kernels_sm120a.cubin"; }}'),
    ("a.cpp", CPP, f"{IN_CPP}return kExact;"),
    ("a.cpp", CPP, f"{IN_CPP}return EXACT_OPTION;"),
    ("a.cpp", CPP, f"{IN_CPP}return exact();"),
    ("a.cpp", CPP, 'if (prop.major != 12 || prop.minor != 0) throw std::runtime_error("no"); return "sm_120a";'),
    ("a.cpp", CPP, 'const bool is_sm120 = prop.major == 12 && prop.minor == 0; if (is_sm120) return "sm_120a";'),
    ("a.py", PYTHON, f'{IN_PYTHON}"kernels/fp4_sm120a.cubin"'),
    ("a.py", PYTHON, f'{IN_PYTHON}load("12.0a")'),
    ("a.py", PYTHON, f"{IN_PYTHON}load(EXACT)"),
    ("a.py", PYTHON, f"{IN_PYTHON}load(exact())"),
    ("a.py", PYTHON, 'is_sm120 = cap == (12, 0)\n    if is_sm120:\n        return load("fp4_120a.cubin")'),
    ("a.py", PYTHON, 'assert cap == (12, 0)\n    return load("fp4_120a.cubin")'),
    ("a.sh", SHELL, "ARCH=120a"),
    ("a.sh", SHELL, 'FLAGS="-gencode arch=compute_120a,code=sm_120a"'),
    ("a.sh", EARLY, "nvcc -gencode arch=compute_120a,code=sm_120a k.cu"),
    ("a.sh", CASE, "KERNELS=fp4_sm120a.cubin"),
    ("CMakeLists.txt", CMAKE, LIST),
    ("CMakeLists.txt", CMAKE, "set(FATBIN fp4_sm120a.cubin)"),
    ("CMakeLists.txt", CMAKE, 'set(BUILT yes)\nelseif(CAP STREQUAL "12.1")\n  ' + LIST.replace("120a", "121a")),
]


def edited(folder: Path, name: str, text: str, target: str) -> list[str]:
    """The texts that the fixes of a file come to."""
    for file, content in (("pyproject.toml", "[project]\nname = 'kit'\n"), (name, text)):
        (folder / file).write_text(content, encoding="utf-8")
    with ExitStack() as stack:
        found = check(CheckRequest((str(folder),), (target,), severity="note", fixes=True), stack).report.findings
    return [apply(text, one.fix.edits) for one in found if isinstance(one.fix, Fix)]


@pytest.mark.parametrize(("name", "frame", "body"), REFUSED)
def test_nothing_is_edited(tmp_path: Path, name: str, frame: str, body: str) -> None:
    text = frame.replace("BODY", body)
    if "yes" in body:  # each has an arm of its own
        text = text.replace("set(BUILT yes)", LIST)
    assert edited(tmp_path, name, text, "sm_120,sm_121") == []


WHOLE = [
    ("a.cpp", CPP, f'{IN_CPP}return "sm_120f";', 'major == 12) return "sm_120f"'),
    ("a.cpp", CPP, f"{IN_CPP}return launched();", "major == 12) return launched()"),
    ("a.py", PYTHON, f'{IN_PYTHON}load("fp4_sm120f.cubin")', '(12, 1)):\n        return load("fp4_sm120f.cubin")'),
    ("a.py", PYTHON, f'{IN_PYTHON}load(f"fp4_sm{{cap[0]}}{{cap[1]}}a.cubin")', "(12, 1)):"),
]


@pytest.mark.parametrize(("name", "frame", "body", "after"), WHOLE)
def test_what_belongs_together_is_one_edit(tmp_path: Path, name: str, frame: str, body: str, after: str) -> None:
    found = edited(tmp_path, name, frame.replace("BODY", body), "sm_121")
    assert len(found) == 1
    assert after in found[0]
