"""The action's own steps, run by bash as a runner does, in an environment that has nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GATE = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""


def step(name: str) -> dict[str, Any]:
    (found,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == name]
    return dict(found)


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folders, in which what `Install` makes is this checkout."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    program = tmp_path / "temp" / "bwlint" / "bin" / "bwlint"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m bwlint "$@"\n')
    program.chmod(0o755)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text(GATE)
    (tmp_path / "tree" / "b.py").write_text("")
    return tmp_path


def check(runner: Path, name: str = "Check", **inputs: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a step with inputs, the others at their defaults; what it says, and the report that it names."""
    made = step(name)
    values = {name: str(entry["default"]) for name, entry in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    values["base_ref"] = values.pop("base-ref", "")
    environment = {
        key: re.sub(r"\$\{\{ (?:inputs|github)\.([\w-]+) \}\}", lambda match: values[match[1]], text)
        for key, text in made["env"].items()
    }
    output = runner / "output"
    output.write_text("")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", made["run"]],
        cwd=runner / "tree",
        env={
            **environment,
            "PATH": os.defpath,
            "HOME": str(runner),
            "RUNNER_TEMP": str(runner / "temp"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(runner / "summary"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done, Path(output.read_text().strip().rpartition("=")[2])


def test_it_reports_and_fails(runner: Path) -> None:
    done, sarif = check(runner)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=a.py,line=4,")
    assert len(json.loads(sarif.read_text())["runs"][0]["results"]) == 1


def test_an_upload_needs_a_report_of_this_run(runner: Path) -> None:
    check(runner)
    done, sarif = check(runner, paths="gone.py")
    assert (done.returncode, sarif) == (2, Path())
    assert "hashFiles(" not in step("Upload")["if"] and "steps.check.outputs.sarif != ''" in step("Upload")["if"]


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"fail_on": "never"}, 0),
        ({"fail_on": "error"}, 0),
        ({"target": "b200"}, 0),
        ({"paths": "a.py gone.py"}, 2),
        ({"paths": "a.py\ngone.py\n"}, 2),
        ({"paths": "b.py\na.py\n"}, 1),
        ({"paths": "$(touch sprung) ; touch sprung"}, 2),
        ({"baseline": "none.json"}, 2),
        ({"since": "HEAD"}, 2),
    ],
)
def test_inputs_are_options(runner: Path, inputs: dict[str, str], code: int) -> None:
    done, _ = check(runner, **inputs)
    assert done.returncode == code, done.stderr
    assert not (runner / "tree" / "sprung").exists()


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"audit": "review"}, "audit --fail-on review -- ."),
        (
            {"audit": "open", "since": "a b", "target": "b200", "paths": "a.py\n$(x) c"},
            "audit --fail-on open --target b200 --since a b -- a.py $(x) c",
        ),
    ],
)
def test_an_audit_asks_about_the_same(runner: Path, inputs: dict[str, str], words: str) -> None:
    program = runner / "temp" / "bwlint" / "bin" / "bwlint"
    program.write_text('#!/bin/sh\necho "$*"; exit 1\n')
    done, _ = check(runner, "Audit", **inputs)
    assert (done.returncode, done.stdout) == (1, f"{words}\n")
    assert "inputs.audit != ''" in step("Audit")["if"]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "-- ."),
        ({"base_ref": "main"}, "--diff origin/main.. -- ."),
        (
            {"since": "a b", "base_ref": "main", "target": "b200", "paths": "a.py\n$(x) c"},
            "--target b200 --diff a b.. -- a.py $(x) c",
        ),
    ],
)
@pytest.mark.parametrize(("ends", "code"), [(0, 0), (1, 0), (2, 2), (3, 0)])
def test_the_matrix_is_a_summary(runner: Path, inputs: dict[str, str], words: str, ends: int, code: int) -> None:
    program = runner / "temp" / "bwlint" / "bin" / "bwlint"
    program.write_text(f'#!/bin/sh\necho "$*"\n[ {ends} -gt 1 ] || echo table > "$5"\nexit {ends}\n')
    done, table = check(runner, "Matrix", **inputs)
    told = runner / "temp" / "bwlint-matrix.md"
    assert (done.returncode, done.stdout) == (code, f"matrix --format markdown --output {told} {words}\n")
    assert table == (told if ends < 2 else Path())
    assert (runner / "summary").is_file() == (ends < 2)
    assert "inputs.matrix == 'true'" in step("Matrix")["if"]


def test_the_matrix_of_a_tree(runner: Path) -> None:
    done, _ = check(runner, "Matrix", target="5090,spark")
    assert done.returncode == 0, done.stderr
    assert "| `a.fast` | yes | no |" in (runner / "summary").read_text()


def test_what_is_not_said_is_for_the_configuration(runner: Path) -> None:
    (runner / "tree" / "bwlint.toml").write_text('severity = "error"\n')
    assert check(runner)[0].returncode == 0
    assert check(runner, severity="warning")[0].returncode == 1


def test_no_script_holds_an_input() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert scripts and not any("${{" in script for script in scripts)


def test_every_input_is_used() -> None:
    text = json.dumps(ACTION["runs"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in text] == []
