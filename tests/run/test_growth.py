"""Twice as much of the same takes twice the work: counted in calls, and in a tree by what is dear, whatever the machine
does besides.
"""

from __future__ import annotations

import ast
import cProfile
import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bwlint.evaluate.interpreter import Interpreter
from bwlint.readers.cuda import lexer
from bwlint.readers.python import flow
from bwlint.readers.python import read as read_python
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.sources import read
from bwlint.sources.tree import entries
from bwlint.sources.walk import discover
from bwlint.world import carried
from bwlint.world.collect import collect
from bwlint.world.definitions import Definitions
from bwlint.world.native import Native
from bwlint.world.tree import Tree

_FEW = 60
_MOST = 2.7
"""Of the work that the second half adds, to that of the first: two where it is in proportion, four where squared."""


def compile_commands(number: int) -> str:
    return json.dumps(
        [
            {"file": f"/p/k{i}.cu", "command": f"nvcc -gencode arch=compute_100a,code=sm_100a -c /p/k{i}.cu"}
            for i in range(number)
        ],
        indent=1,
    )


def lines(form: str) -> Callable[[int], str]:
    return lambda number: "".join(form.replace("@", str(i)) for i in range(number))


def nested(number: int) -> str:
    return lines('if(CUDA_ARCHS MATCHES "9@a")\n')(number) + 'set(FLAGS "-arch=sm_90a")\n' + "endif()\n" * number


def setup(number: int) -> str:
    flags = lines("flags += ['-gencode', 'arch=compute_100a,code=sm_100a']\n")(number)
    return f"flags = []\n{flags}CUDAExtension('x', ['a.cu'], extra_compile_args={{'nvcc': flags}})\n"


def gates(number: int) -> str:
    one = "def f@(x):\n    if cap[0] == 10:\n        return g(x)\n    return h(x)\n\n"
    return "import torch\n\ncap = torch.cuda.get_device_capability()\n\n" + lines(one)(number)


def guards(number: int) -> str:
    return lines("#if __CUDA_ARCH__ >= 1000\n__device__ void f@() { }\n#else\n__trap();\n#endif\n")(number)


GATED = gates(1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("compile_commands.json", compile_commands),
        ("Makefile", lines("k@: k@.cu\n\tnvcc -arch=sm_100a -o k@ k@.cu\n")),
        ("build.sh", lines("nvcc -arch=sm_100a -o k@ k@.cu\n")),
        ("CMakeLists.txt", nested),
        ("CMakeLists.txt", lines('set_source_files_properties(a@.cu PROPERTIES COMPILE_OPTIONS "-arch=sm_100a")\n')),
        ("setup.py", setup),
        ("a.py", gates),
        ("a.cu", guards),
    ],
)
def test_work_grows_with_what_is_there(tmp_path: Path, name: str, text: Callable[[int], str]) -> None:
    def calls(number: int) -> int:
        (tmp_path / name).write_text(text(number), encoding="utf-8")
        return calls_of_a_check(tmp_path)

    calls(1)  # what is loaded and computed once
    first, second, fourth = map(calls, (_FEW, 2 * _FEW, 4 * _FEW))
    assert fourth - second <= _MOST * (second - first)


def test_work_grows_with_the_files_of_one_folder(tmp_path: Path) -> None:
    def calls(number: int) -> int:
        for each in range(number):
            (tmp_path / f"m {each}\n.py").write_text(GATED, encoding="utf-8")
        return calls_of_a_check(tmp_path)

    calls(1)
    first, second, fourth = map(calls, (_FEW, 2 * _FEW, 4 * _FEW))
    assert fourth - second <= _MOST * (second - first)


def calls_of_a_check(folder: Path) -> int:
    profile = cProfile.Profile()
    with ExitStack() as stack, profile:
        check(CheckRequest((str(folder),), severity="note", jobs=1), stack)
    return sum(entry.callcount for entry in profile.getstats())


OPERATION = """
from kit.device import capability
from kit.op_# import run as below


def supported():
    return capability() >= (10, 0)


def run(x):
    if not supported():
        raise RuntimeError("needs sm_100")
    if capability()[0] == 12:
        return torch.ops.kit.run_@(x)
    return below(x)
"""
KERNEL = """#include "common.cuh"
__global__ void kernel_@(int *x) {
#if __CUDA_ARCH__ >= 1000
  asm volatile("tcgen05.wait::ld.sync.aligned;");
#endif
}
void run_@(at::Tensor x) {
  if (getSMVersion() >= 100) { kernel_@<<<1, 1>>>(nullptr); }
}
TORCH_LIBRARY_FRAGMENT(kit, m) { m.def("run_@", &run_@); }
"""
HEADER = """#pragma once
inline int getSMVersion() {
  int major; cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0); return 10 * major;
}
"""
BUILD = """add_library(kit {})
set_target_properties(kit PROPERTIES CUDA_ARCHITECTURES "100a;120a")
"""
DOORS: dict[str, tuple[tuple[object, str], ...]] = {
    "files read": ((read, "_read_open"),),
    "parses": ((ast, "parse"), (lexer, "Code")),
    "gates evaluated": ((Tree, "_evaluated"),),
    "conditions run": ((Interpreter, "truth"),),
    "nodes joined": ((Definitions, "shown"), (Native, "shown")),
}
"""Who does what is dear, each time that it is done."""
PRICE = {"files read": 13, "parses": 9, "gates evaluated": 4, "conditions run": 10, "nodes joined": 3}
"""What one operation more may take: a file of Python with three gates, a file of CUDA with one. Where work is saved,
lower it.
"""


def library(folder: Path, number: int) -> Path:
    """A package of so many operations in Python, each with a kernel of its own; three of four call the next one."""
    files = {
        "pyproject.toml": '[project]\nname = "kit"\n',
        "kit/__init__.py": "",
        "kit/device.py": "import torch\n\n\ndef capability():\n    return torch.cuda.get_device_capability()\n",
        "csrc/common.cuh": HEADER,
        "CMakeLists.txt": BUILD.format(" ".join(f"csrc/k{each}.cu" for each in range(number))),
    }
    for each in range(number):
        after = each if each % 4 == 3 else each + 1
        files[f"kit/op_{each}.py"] = OPERATION.replace("@", str(each)).replace("#", str(after))
        files[f"csrc/k{each}.cu"] = KERNEL.replace("@", str(each))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def work_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Counter[str]]:
    """Counts what is dear in a run on a folder."""
    done: Counter[str] = Counter()

    def counted(kind: str, door: Callable[..., Any]) -> Callable[..., Any]:
        def through(*given: Any, **named: Any) -> Any:
            done[kind] += 1
            return door(*given, **named)

        return through

    for kind, doors in DOORS.items():
        for owner, name in doors:
            monkeypatch.setattr(owner, name, counted(kind, getattr(owner, name)))

    def work(folder: Path) -> Counter[str]:
        done.clear()
        with ExitStack() as stack:
            found = check(CheckRequest((str(folder),), severity="note", jobs=1), stack).report.findings
        assert {"leak", "tcgen05"} <= {finding.name for finding in found}
        return done.copy()

    return work


def test_work_grows_with_the_tree(tmp_path: Path, work_of: Callable[[Path], Counter[str]]) -> None:
    first, second, fourth = (work_of(library(tmp_path / str(number), number)) for number in (8, 16, 32))
    for more, number in ((second - first, 8), (fourth - second, 16)):
        assert more.keys() == DOORS.keys()
        assert {kind: count / number for kind, count in more.items() if count > number * PRICE[kind]} == {}


def test_a_statement_is_handed_no_more_than_what_may_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[int] = []

    def counting(_: flow.Flow, node: ast.Expr, rest: list[ast.stmt]) -> bool:
        handed.append(len(rest))
        return False

    monkeypatch.setitem(flow._STATEMENTS, ast.Expr, counting)
    read_python("a.py", "f()\n" * 3000 + "x = torch.cuda.get_device_capability()\n", "a", False)
    assert max(handed) == flow.MOST_BEHIND


def test_a_folder_is_asked_once_for_the_modules_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(root: str) -> frozenset[str]:
        asked.append(root)
        return entries(root)

    monkeypatch.setattr(carried, "entries", counting)
    for number in range(20):
        (tmp_path / f"m{number}.py").write_text("import torch\nx = 1\n", encoding="utf-8")
    collect(discover([str(tmp_path)]).files, 1)
    assert asked == [str(tmp_path)]


def test_a_file_with_many_faults_is_proved_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = lines("__global__ void k@(int *x) {\n#if __CUDA_ARCH__ == 1200\n  x[@] = 1;\n#endif\n}\n")(10)
    (tmp_path / "a.cu").write_text(source, encoding="utf-8")
    monkeypatch.setattr("bwlint.fix.MOST_PROVED", 3 * len(source))
    with ExitStack() as stack:
        found = check(CheckRequest((str(tmp_path),), jobs=1, fixes=True), stack).report.findings
    assert [finding.fix is not None for finding in found] == [True] * 4 + [False] * (len(found) - 4)
    assert "too many findings to prove at once" in str(found[-1].fix_refused)
