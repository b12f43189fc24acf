"""`python -m bwlint` in a folder with modules of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).parents[1] / "src"


def test_modules_of_the_current_folder_are_not_imported(tmp_path: Path) -> None:
    for name in ("json.py", "math/__init__.py", "click.py", "yaml/__init__.py", "torch.py"):
        module = tmp_path / name
        module.parent.mkdir(exist_ok=True)
        module.write_text("raise SystemExit('this was run')\n")
    done = subprocess.run(
        [sys.executable, "-m", "bwlint", "check", "--no-cache", "--format", "json", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "this was run" in done.stderr) == (0, False), done.stderr


def test_a_bwlint_of_the_current_folder_is_found() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "bwlint", "--version"]
    done = subprocess.run(command, cwd=_SOURCE, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
