"""What a run loads: a hook pays for it on every commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SLOW = ("rich", "libcst", "sarif_om", "pathspec", "elftools", "concurrent", "multiprocessing")
PROBE = """
import json, sys
sys.argv[0] = "bwlint"
from bwlint.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def loaded(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of bwlint and the packages it has loaded, from a process of its own."""
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


def test_version_loads_click_and_nothing_of_ours() -> None:
    code, names = loaded("--version")
    assert code == 0
    assert "click" in names
    assert not names & {*SLOW, "tomllib", "tomli"}


def test_checking_one_file_loads_nothing_slow(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nif torch.cuda.get_device_capability() == (12, 0):\n    raise OSError\n")
    code, names = loaded("check", str(path))
    assert code in (0, 1)
    assert not names & set(SLOW)


def test_a_repair_loads_libcst(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import torch\n\ndef f():\n    if torch.cuda.get_device_capability() != (12, 0):\n        raise OSError\n"
    )
    _, names = loaded("check", "--diff", str(path))
    assert "libcst" in names
    assert not names & {"rich", "sarif_om"}
