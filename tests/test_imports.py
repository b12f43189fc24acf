"""What a run loads: a hook pays for it on every commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = ("rich", "libcst", "sarif_om", "pathspec", "elftools", "concurrent", "multiprocessing")
PROBE = """
import json, sys
sys.argv[0] = "bwlint"
from bwlint.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of bwlint and the modules and packages it has loaded, from a process of its own."""
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, {*names, *(name.partition(".")[0] for name in names)}


def test_version_loads_click_and_nothing_of_ours() -> None:
    code, names = loaded("--version")
    assert code == 0
    assert "click" in names
    assert not names & {*SLOW, "tomllib", "tomli"}


def test_checking_one_file_loads_nothing_slow(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nif torch.cuda.get_device_capability()[0] == 12:\n    raise OSError\n")
    code, names = loaded("check", str(path))
    assert code == 0  # what is found has its fix proved, which takes a parser of its own
    assert not names & set(SLOW)


def test_a_fleet_without_a_scheduler_loads_nothing_of_dask(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("nowhere\n")
    code, names = loaded("fleet", str(tmp_path / "list.txt"), "--state", str(tmp_path / "state"))
    assert code == 2
    assert not names & {"distributed", "dask"}


def test_a_hook_on_five_files_loads_nothing_of_confirm(tmp_path: Path) -> None:
    paths = []
    for number in range(5):
        paths.append(tmp_path / f"a{number}.py")
        paths[-1].write_text(
            f"import torch\nif torch.cuda.get_device_capability() == (12, {number}):\n    raise OSError\n"
        )
    _, names = loaded("check", *map(str, paths))
    assert "bwlint.run.check" in names
    assert not [name for name in names if name.startswith(("bwlint.confirm", "bwlint.commands.confirm"))]


def test_files_without_facts_load_no_rule_and_no_world(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    code, names = loaded("check", str(tmp_path / "a.py"))
    assert code == 0
    assert not names & {"bwlint.rules", "bwlint.judging", "bwlint.run.engine", "bwlint.world.proofs"}


def test_python_loads_no_reader_of_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nif torch.cuda.get_device_capability() == (12, 0):\n    raise OSError\n")
    _, names = loaded("check", str(path))
    assert "bwlint.readers.python" in names
    assert not names & {"bwlint.readers.cuda", "bwlint.readers.buildfiles.cmake", "bwlint.readers.buildfiles.text"}


def test_what_leads_to_what_is_put_in_order_without_networkx(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import torch\nfrom cutlass.cute.nvgpu import tcgen05\ndef g():\n    return tcgen05.MmaOp()\n"
        "def f():\n    return g()\nif torch.cuda.get_device_capability()[0] >= 10:\n    f()\n"
    )
    code, names = loaded("check", "--severity", "note", str(path))
    assert code == 1
    assert "networkx" not in names


@pytest.mark.parametrize(
    ("module", "own"),
    [
        ("bwlint.confirm.driver.jobs", ("bwlint.confirm.driver",)),
        ("bwlint.confirm.slicing.inside", ("bwlint.confirm.slicing",)),
    ],
)
def test_a_child_loads_nothing_of_its_parent(module: str, own: tuple[str, ...]) -> None:
    """It is started for each job, and does what it has to do before it hears of the job."""
    source = str(Path(__file__).parents[1] / "src")
    code = f"import sys; sys.path.append({source!r}); import {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert module in names
    assert {name for name in names if name.startswith("bwlint") and not name.startswith(own)} == {
        "bwlint",
        "bwlint.confirm",
    }


def test_a_repair_loads_libcst(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import torch\n\ndef f():\n    if torch.cuda.get_device_capability() != (12, 0):\n        raise OSError\n"
    )
    _, names = loaded("check", "--diff", str(path))
    assert "libcst" in names
    assert not names & {"rich", "sarif_om"}
