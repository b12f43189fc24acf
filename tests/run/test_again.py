"""A run that knows what an earlier one has told of files says what a run says that knows nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bwlint.index import kept, remembered
from bwlint.run.again import Again
from bwlint.run.check import check
from bwlint.run.engine import Judging, context_of, linked
from bwlint.run.gather import Gathered, gather
from bwlint.run.request import CheckRequest
from bwlint.run.unchanged import known_or_new
from bwlint.sources import disk
from bwlint.sources.recorder import Read, Recorder, recording
from bwlint.world.budget import Budget
from bwlint.world.collect import Modules

TREE = {
    "pyproject.toml": "[project]\nname = 'kit'\n",
    "setup.py": """
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("kit._C", ["csrc/gemm.cu", "csrc/norm.cu"], extra_compile_args={
    "nvcc": ["-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_100a,code=sm_100a"]})])
""",
    "CMakeLists.txt": 'set(CMAKE_CUDA_ARCHITECTURES "90a;120a")\nadd_library(kit csrc/gemm.cu csrc/norm.cu)\n',
    "kit/__init__.py": "from kit.caps import is_hopper\n",
    "kit/caps.py": """
import torch

def capability():
    return torch.cuda.get_device_capability()

def is_hopper():
    return capability()[0] == 9

def is_blackwell():
    return capability() >= (10, 0)

SUPPORTED = [(9, 0), (10, 0)]
""",
    "kit/gate.py": """
from kit.caps import SUPPORTED, capability, is_blackwell
from kit import kernels

def run(x):
    if is_blackwell():
        return kernels.fast(x)
    return kernels.slow(x)

def check():
    if capability() not in SUPPORTED:
        raise RuntimeError("needs SM90 or SM100")
""",
    "kit/kernels.py": """
from kit import _C
from kit.caps import is_hopper

def fast(x):
    return _C.gemm_sm100(x)

def slow(x):
    if is_hopper():
        return _C.gemm_sm90(x)
    return x
""",
    "kit/helper.py": "def double(x):\n    return 2 * x\n",
    "kit/models.py": """
from kit.gate import check, run
from kit.helper import double

def forward(x):
    check()
    return double(run(x))
""",
    "kit/copied.py": "import torch\nif torch.cuda.get_device_capability() == (12, 0):\n    FAST = True\n",
    "vendored/copied.py": "import torch\nif torch.cuda.get_device_capability() == (12, 0):\n    FAST = True\n",
    "tests/test_gate.py": """
import pytest
import torch
from kit.gate import run

@pytest.mark.skipif(torch.cuda.get_device_capability() != (9, 0), reason="needs SM90")
def test_run():
    run(1)
""",
    "csrc/arch.h": "#pragma once\n#define ARCH_FEATURE 900\ninline bool is_sm90(int cc) { return cc == 90; }\n",
    "csrc/common.cuh": """
#pragma once
#include "arch.h"
__device__ void copy(int* x) {
#if __CUDA_ARCH__ >= ARCH_FEATURE
  asm volatile("tcgen05.wait::ld.sync.aligned;");
#endif
}
""",
    "csrc/gemm.cu": """
#include "common.cuh"
__global__ void gemm(int* x) { copy(x); }
void gemm_sm100(int cc) {
  if (is_sm90(cc)) { return; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1000
  asm("wgmma.fence.sync.aligned;");
#endif
}
TORCH_LIBRARY(kit, m) { m.def("gemm_sm100", &gemm_sm100); }
""",
    "csrc/norm.cu": '#include "arch.h"\n__global__ void norm(int* x) { asm("wgmma.fence.sync.aligned;"); }\n',
}


def _numbers(tree: Path, dice: random.Random) -> str:
    """A number that may be a capability is another one."""
    file = tree / dice.choice([name for name in sorted(TREE) if (tree / name).exists()])
    text = file.read_text()
    places = list(re.finditer(r"\b(?:9|10|12|90|100|120|900|1000)(?=\b|a\b)", text))
    if places:
        one = dice.choice(places)
        file.write_text(text[: one.start()] + dice.choice(["9", "12", "90", "120", "1200"]) + text[one.end() :])
    return f"a number in {file.name}"


def _helper(tree: Path, dice: random.Random) -> str:
    """A helper has another name, in one file or in all."""
    name = dice.choice(["is_hopper", "is_blackwell", "capability", "double", "fast", "gemm_sm100", "is_sm90"])
    files = [file for file in sorted(tree.rglob("*.*")) if name in file.read_text()]
    for file in files if dice.random() < 0.5 else files[:1]:
        file.write_text(re.sub(rf"\b{name}\b", f"{name}_x", file.read_text()))
    return f"{name} has another name"


def _file(tree: Path, dice: random.Random) -> str:
    """A file is gone, or there again."""
    name = dice.choice(sorted(TREE))
    if (tree / name).exists():
        (tree / name).unlink()
        return f"{name} is gone"
    (tree / name).write_text(TREE[name])
    return f"{name} is back"


def _caller(tree: Path, dice: random.Random) -> str:
    """Somebody else calls something, behind a gate or not."""
    name = dice.choice(["kit/helper.py", "kit/models.py", "kit/new.py"])
    file = tree / name
    gate = dice.choice(["", "    if torch.cuda.get_device_capability()[0] == 9:\n    "])
    text = file.read_text() if file.exists() else ""
    file.write_text(f"{text}\nimport torch\nfrom kit import kernels\ndef more(x):\n{gate}    return kernels.fast(x)\n")
    return f"a caller in {name}"


def _moved(tree: Path, dice: random.Random) -> str:
    """All lines of a file stand one further down."""
    file = dice.choice([file for file in sorted(tree.rglob("*.*")) if file.suffix in (".py", ".cu", ".cuh", ".h")])
    file.write_text("\n" + file.read_text())
    return f"{file.name} is moved"


def _include(tree: Path, dice: random.Random) -> str:
    """An include is gone, or there is one more."""
    file = tree / dice.choice(["csrc/gemm.cu", "csrc/norm.cu", "csrc/common.cuh"])
    text = file.read_text() if file.exists() else ""
    file.write_text(text.replace('#include "', '// "', 1) if dice.random() < 0.5 else f'#include "common.cuh"\n{text}')
    return f"an include of {file.name}"


EDITS: tuple[Callable[[Path, random.Random], str], ...] = (
    _numbers,
    _numbers,
    _helper,
    _file,
    _caller,
    _moved,
    _include,
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk, "SETTLED", 0)
    folder = tmp_path / "tree"
    for name, text in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    yield folder


def told(tree: Path, *, jobs: int = 1, is_known: bool = True, fixes: bool = False) -> dict[str, Any]:
    """All that a check and an audit tell of a tree; with `fixes` as for JSON and SARIF, which carry each edit."""
    request = CheckRequest((str(tree),), jobs=jobs, fixes=fixes)
    with ExitStack() as stack:
        if is_known:
            stack.enter_context(kept.using())
        outcome = known_or_new(request, lambda: check(request, stack))
    rows = [asdict(row) for row in outcome.rows]
    return {**asdict(outcome.report), "rows": rows, "scanned": outcome.scanned}


def without_rows(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key != "rows"}


@pytest.mark.parametrize(("seed", "fixes"), [(0, False), (1, False), (24, False), (3, True), (34, True)])
def test_random_edits(tree: Path, monkeypatch: pytest.MonkeyPatch, seed: int, fixes: bool) -> None:
    monkeypatch.setattr(remembered, "FEW", 0 if seed else remembered.FEW)
    dice = random.Random(seed)
    told(tree, fixes=fixes)
    for _ in range(12):
        did = " and ".join(dice.choice(EDITS)(tree, dice) for _ in range(dice.choice([1, 1, 2])))
        known, new = told(tree, fixes=fixes), told(tree, is_known=False, fixes=fixes)
        assert without_rows(known) == without_rows(new), did
        assert not known["rows"] or known["rows"] == new["rows"], did


@pytest.mark.parametrize("fixes", [False, True])
def test_most_files_are_told_as_before(tree: Path, monkeypatch: pytest.MonkeyPatch, fixes: bool) -> None:
    before: list[set[str]] = []
    ask = Again.ask

    def asked(again: Again, *world: Any) -> None:
        ask(again, *world)
        before.append({Path(real).name for real in again.told})

    monkeypatch.setattr(Again, "ask", asked)
    told(tree, fixes=fixes)
    (tree / "kit/copied.py").write_text("import torch\nFAST = torch.cuda.get_device_capability() == (12, 1)\n")
    told(tree, fixes=fixes)
    assert before[0] == set()
    assert {"caps.py", "gate.py", "kernels.py", "gemm.cu", "setup.py"} <= before[1]
    (tree / "kit/caps.py").write_text((tree / "kit/caps.py").read_text().replace("== 9", "== 8"))
    told(tree, fixes=fixes)
    assert "kernels.py" not in before[2]
    assert "setup.py" in before[2]


@pytest.mark.parametrize(
    ("name", "old", "new", "again"),
    [
        ("kit/helper.py", "def double", "# Twice.\ndef double", {"models.py"}),  # what models.py calls stands elsewhere
        ("kit/helper.py", "2 * x\n", "2 * x\n\nLIMIT = 3\n", set[str]()),
        ("kit/caps.py", "(10, 0)]\n", "(10, 0)]\n\n# No others.\n", set[str]()),
        ("csrc/arch.h", "== 90; }\n", "== 90; }\n\n// No others.\n", {"common.cuh"}),  # whose macros stand there
        ("csrc/gemm.cu", "&gemm_sm100); }\n", "&gemm_sm100); }\n// Bound.\n", {"gemm.cu", "common.cuh"}),
        ("CMakeLists.txt", "csrc/norm.cu)\n", "csrc/norm.cu)\n# That is all.\n", {"CMakeLists.txt"}),
    ],
)
def test_what_an_edit_leaves_as_it_was_is_not_judged_again(
    tree: Path, judged: list[str], name: str, old: str, new: str, again: set[str]
) -> None:
    told(tree)
    judged.clear()
    (tree / name).write_text((tree / name).read_text().replace(old, new, 1))
    told(tree)
    assert set(judged) == again


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are judged."""
    names: list[str] = []
    of = Judging.of

    def noted(judging: Judging, file: Any, module: Any) -> Any:
        names.append(Path(file.real).name)
        return of(judging, file, module)

    monkeypatch.setattr(Judging, "of", noted)
    return names


def test_many_processes_remember_the_same(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bwlint.run.engine.MIN_PART", 1)
    monkeypatch.setattr("bwlint.world.collect.SERIAL_BELOW", 1)
    told(tree, jobs=2)
    (tree / "kit/caps.py").write_text((tree / "kit/caps.py").read_text().replace("== 9", "== 8"))
    assert told(tree, jobs=2) == told(tree, is_known=False)


def judging_of(gathered: Gathered) -> Judging:
    """The rules at work in a world of which nothing is known yet."""
    disk.forget()
    budget, rules = Budget(), gathered.settings.all_rules(gathered.found.files)
    world = linked(gathered.collected, gathered.sources, budget)
    context = context_of(world, gathered.collected, gathered.targets, budget, gathered.texts.source)
    return Judging(context, world, rules)


def reads_for(judging: Judging, at: int, modules: Modules, recorder: Recorder) -> set[Read]:
    """All that is read while a file is judged, directly or by what it is handed."""
    with recorder.apart() as parts:
        judging.of(*modules[at])
    found, seen, waiting = set[Read](), set[int](), list(parts)
    while waiting:
        number = waiting.pop()
        thing: Any = recorder.things[number]
        if number in seen:
            continue
        seen.add(number)
        if isinstance(thing[0], str):
            found.add(thing)
        else:
            waiting += (part for part in thing if isinstance(part, int))
    return found


def test_no_memory_hides_what_is_read(tree: Path) -> None:
    """Whatever a file reads that is judged alone, it has read that is judged after all others."""
    with ExitStack() as stack, disk.watching(), recording() as recorder:
        gathered = gather(CheckRequest((str(tree),), jobs=1), stack)
        modules, together = Modules.of(gathered.collected.modules), judging_of(gathered)
        shared = [reads_for(together, at, modules, recorder) for at in range(len(modules))]
        alone = [reads_for(judging_of(gathered), at, modules, recorder) for at in range(len(modules))]
    hidden = {file.path: own - all_ for file, own, all_ in zip(modules.files, alone, shared, strict=True)}
    assert not any(hidden.values()), hidden
    assert any(read[0] == "word" for own in alone for read in own)
