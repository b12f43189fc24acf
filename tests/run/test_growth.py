"""Twice as much of the same in a file takes twice the work: counted in calls, whatever the machine does besides."""

from __future__ import annotations

import ast
import cProfile
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.readers.python import flow
from bwlint.readers.python import read as read_python
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.sources.tree import entries
from bwlint.sources.walk import discover
from bwlint.world import carried
from bwlint.world.collect import collect

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
        profile = cProfile.Profile()
        with ExitStack() as stack, profile:
            check(CheckRequest((str(tmp_path),), severity="note", jobs=1), stack)
        return sum(entry.callcount for entry in profile.getstats())

    calls(1)  # what is loaded and computed once
    first, second, fourth = map(calls, (_FEW, 2 * _FEW, 4 * _FEW))
    assert fourth - second <= _MOST * (second - first)


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
    assert "more in the file than can be proved" in str(found[-1].fix_refused)
