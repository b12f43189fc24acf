"""The generator of rules: what it writes is a rule, and nothing is overwritten."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from new_rule import ROOT, SIGNATURES, free_code, started

from bwlint.settings.catalog import _rule


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    for number in (101, 107, 201):
        (tmp_path / "rules" / f"r{number}.toml").write_text(f'code = "BW{number}"\n')
    return tmp_path


@pytest.mark.parametrize(("looks_at", "suffix"), [("gate", "py"), ("guard", "cu"), ("file", "py")])
def test_what_is_written_is_a_rule(root: Path, looks_at: str, suffix: str) -> None:
    written = started("sm-count", looks_at, 1, "other", "note", root=root)
    assert [path.relative_to(root).as_posix() for path in written] == [
        "rules/sm-count.toml",
        "src/bwlint/rules/sm_count.py",
        f"fixtures/sm-count/fires.{suffix}",
        f"fixtures/sm-count/silent.{suffix}",
    ]
    rule = _rule(written[0])
    assert (rule.code, bool(rule.reported), bool(rule.note)) == ("BW108", False, True)
    functions = [node.name for node in ast.parse(written[1].read_text()).body if isinstance(node, ast.FunctionDef)]
    assert functions == [SIGNATURES[looks_at][0]]
    assert "note: [sm-count]" in written[2].read_text()
    assert "sm-count" not in written[3].read_text()


def test_a_new_fact_has_a_reader_and_a_test_that_fails(root: Path) -> None:
    *_, reader, test = started("sm-count", "file", 5, "other", "note", new_fact=True, root=root)
    assert reader.relative_to(root).as_posix() == "src/bwlint/readers/python/sm_count.py"
    assert "from bwlint.readers.python.sm_count import operations" in test.read_text()
    (cases,) = (node.value for node in ast.parse(test.read_text()).body if isinstance(node, ast.Assign))
    with pytest.raises(SyntaxError):
        ast.parse(next(iter(ast.literal_eval(cases))))


def test_what_is_written_is_loaded_linted_and_run(tmp_path: Path) -> None:
    """In a copy, with the least that fills it in: a set of chips, and a fact for the rule that looks at files."""
    for folder in ("src", "rules"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    written = [
        *started("on-gates", "gate", 1, "other", "note", root=tmp_path),
        *started("on-guards", "guard", 2, "leak", "warning", root=tmp_path),
        *started("on-files", "file", 5, "smem", "error", new_fact=True, root=tmp_path),
    ]
    python = [str(path) for path in written if path.suffix == ".py"]
    for step in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *step, *python]
        linted = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert linted.returncode == 0, linted.stdout
    rules, reading = tmp_path / "src" / "bwlint" / "rules", tmp_path / "src" / "bwlint" / "readers" / "python"
    for module in rules.glob("on_*.py"):
        module.write_text(module.read_text().replace("& NONE", "& context.targets"))
    for path, old, new in (
        (reading / "on_files.py", "return ()", "return (Operation('stated', 'x', span(tree.body[-1].body[0])),)"),
        (reading / "on_files.py", "import ast\n", "import ast\n\nfrom bwlint.readers.spans import span\n"),
        (reading / "on_files.py", 'b"on_files"', 'b"get_device_capability"'),
        (reading / "__init__.py", "_READERS = {\n", '_READERS = {\n    "on_files": on_files,\n'),
        (reading / "__init__.py", "    peers,\n", "    on_files,\n    peers,\n"),
    ):
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
    command = [sys.executable, "-m", "bwlint", "check", "--no-cache", "--severity", "note", "--format", "concise"]
    names = ("on-gates", "on-guards", "on-files")
    told = subprocess.run(
        [*command, *(f"fixtures/{name}" for name in names)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    ).stdout
    for place in (
        "fixtures/on-gates/fires.py:5:4: note[BW1",
        "fixtures/on-guards/fires.cu:4:5: warning[BW2",
        "fixtures/on-files/fires.py:6:5: error[BW5",
    ):
        assert place in told, told


@pytest.mark.parametrize(
    "there", ["rules/sm-count.toml", "fixtures/sm-count/fires.py", "src/bwlint/rules/sm_count/gate.py"]
)
def test_nothing_is_overwritten(root: Path, there: str) -> None:
    path = root / there
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    before = sorted(root.rglob("*"))
    with pytest.raises(FileExistsError):
        started("sm-count", "gate", 1, "other", "note", root=root)
    assert (path.read_text(), sorted(root.rglob("*"))) == ("mine", before)


@pytest.mark.parametrize(("group", "code"), [(1, "BW108"), (2, "BW202"), (3, "BW301")])
def test_the_next_code_is_taken(root: Path, group: int, code: str) -> None:
    assert free_code(group, root / "rules") == code


def test_a_rule_of_warnings_says_what_is_reported(root: Path) -> None:
    rule = _rule(started("sm-count", "file", 5, "other", "warning", root=root)[0])
    assert (rule.code, bool(rule.reported), bool(rule.note)) == ("BW501", True, False)
