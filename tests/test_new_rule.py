"""The generator of rules: what it writes is a rule, and nothing is overwritten."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from new_rule import SIGNATURES, free_code, started

from bwlint.settings.catalog import _rule


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    for number in (101, 107, 201):
        (tmp_path / "rules" / f"r{number}.toml").write_text(f'code = "BW{number}"\n')
    return tmp_path


@pytest.mark.parametrize("looks_at", SIGNATURES)
def test_what_is_written_is_a_rule(root: Path, looks_at: str) -> None:
    written = started("sm-count", looks_at, 1, "other", "note", root=root)
    assert [path.relative_to(root).as_posix() for path in written] == [
        "rules/sm-count.toml",
        "src/bwlint/rules/sm_count.py",
        "fixtures/sm-count/fires.py",
        "fixtures/sm-count/silent.py",
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
