"""The programs beside bwlint: found, or left out with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from timing import tools
from timing.tools import Absent, Tool, checkout, found, machine


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_program_is_taken_from_the_folder_given(tmp_path: Path) -> None:
    path = program(tmp_path, "ruff", "echo ruff 1.2.3")
    assert found("ruff", "ruff", [tmp_path]) == Tool("ruff", str(path), "1.2.3")


def test_one_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    missing = found("semgrep", "semgrep-that-nobody-has", [tmp_path])
    assert isinstance(missing, Absent)
    assert missing.reason.startswith("not installed (semgrep-that-nobody-has is neither on PATH nor")


@pytest.mark.parametrize("script", ["echo broken >&2; exit 3", "kill -9 $$"])
def test_one_that_does_not_start_is_a_reason(tmp_path: Path, script: str) -> None:
    program(tmp_path, "rg", script)
    missing = found("ripgrep", "rg", [tmp_path])
    assert isinstance(missing, Absent)
    assert missing.reason.startswith("does not say its version")


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("ruff 0.17.6\n", "0.17.6"),
        ("1.182.0\n", "1.182.0"),
        ("ripgrep 13.0.0\n-SIMD -AVX (compiled)\n", "13.0.0"),
        ("Copyright (c) 2005-2026\nCuda compilation tools, release 13.5, V13.5.37\nBuild cuda_13.5.r13.5\n", "13.5.37"),
        ("unknown\n", "unknown"),
    ],
)
def test_a_version_is_found_in_what_programs_say(said: str, version: str) -> None:
    assert tools._version(said) == version


def test_an_export_has_a_version_and_no_commit(tmp_path: Path) -> None:
    (tmp_path / "src" / "bwlint").mkdir(parents=True)
    (tmp_path / "src" / "bwlint" / "__init__.py").write_text('"""bwlint"""\n\n__version__ = "9.9"\n')
    assert checkout(tmp_path) == "9.9"


def test_the_machine_is_told() -> None:
    assert {"processor", "cores", "memory", "system", "load"} <= machine().keys()
