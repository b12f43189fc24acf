"""The tool that changes the source in one place at a time and asks the tests."""

from __future__ import annotations

import json
from pathlib import Path

import mutate
import pytest
from mutants import Mutant, places

SOURCE = '''"""Numbers."""

def is_small(number: int) -> bool:
    return number < 10

def doubled(number: int) -> int:
    return number + number

def endless(number: int) -> int:
    while number > 0:
        number -= 1
    return number
'''
TESTS = """
from numbers_of_ours import doubled, endless, is_small

def test_small():
    assert is_small(3) and not is_small(10)

def test_endless():
    assert endless(2) == 0
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["comparison: a < b -> a <= b"]),
        ("x = a in b", ["comparison: a in b -> a not in b"]),
        ("x = a == b != c", ["comparison: a == b != c -> a != b != c", "comparison: a == b != c -> a == b == c"]),
        ("x = a and b", ["and or: a and b -> a or b", "operand: a -> ", "operand: b -> "]),
        ("x = not a", ["not: not a -> a"]),
        ("x = a - b", ["set operator: a - b -> a & b"]),
        ("x = 2", ["constant: 2 -> 3", "constant: 2 -> 1"]),
        ("x = True", ["constant: True -> False"]),
        ("x = 'warning'", ["constant: 'warning' -> 'error'", "constant: 'warning' -> 'note'"]),
        ("x = 'anything'", []),
        ("f(a.b, c, 'x', f'{y}', *d, *e)", ["swap: a.b, c -> c, a.b", "swap: 'x', f'{y}' -> f'{y}', 'x'"]),
        ("f(one=a, two=b, **c)", ["swap: a, b -> b, a"]),
        ("f(a, a, 'x', b)", []),
        ("def f():\n    return a", ["return: a -> None"]),
        ("def f() -> bool:\n    return a", ["return: a -> not a"]),
        ("def f():\n    return None", []),
        ("x = b if a else c", ["condition: a -> True", "condition: a -> False"]),
        ("x = [b for b in c if a]", ["condition: a -> True", "condition: a -> False"]),
        ("x = (a, b)", ["element: a -> ", "element: b -> "]),
        ("a, b = c", []),
        # What no test is to notice.
        ('"""2"""\n__all__ = ["a"]\nfrom a import b', []),
        ("x: Literal[1] = y\n\ndef f(a: A[1, 2]) -> B[1]:\n    assert a, 2", []),
        ("_Key = tuple[int, str] | None\n@d(True)\nclass A:\n    x = isinstance(y, int | str)", []),
        ("if TYPE_CHECKING:\n    x = 1", []),
        ("raise E(f'{a < b}')", []),
    ],
)
def test_changes(source: str, expected: list[str]) -> None:
    mutants = [mutant for place in places("a.py", source.encode()) for mutant in place]
    assert [f"{mutant.kind}: {mutant.before} -> {mutant.after}" for mutant in mutants] == expected
    for mutant in mutants:
        compile(mutant.applied(source.encode()), "a.py", "exec")


def test_a_change_leaves_the_rest_as_it_is() -> None:
    source = 'x = "ä"; y = a < b  # c\n'.encode()
    ((mutant,),) = places("a.py", source)
    assert mutant.applied(source).decode() == 'x = "ä"; y = (a <= b)  # c\n'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    root = tmp_path / "checkout"
    for name, text in {"src/numbers_of_ours.py": SOURCE, "tests/test_numbers.py": TESTS, "pyproject.toml": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def mutant_of(root: Path, kind: str, before: str) -> Mutant:
    file = "src/numbers_of_ours.py"
    every = [mutant for place in places(file, (root / file).read_bytes()) for mutant in place]
    return next(mutant for mutant in every if (mutant.kind, mutant.before) == (kind, before))


def test_what_becomes_of_mutants(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "_GRACE", 2)
    monkeypatch.setattr(mutate, "_PATIENCE", 1)
    small, endless = (f"tests/test_numbers.py::test_{name}" for name in ("small", "endless"))
    output = tmp_path / "mutants.jsonl"
    mutants = [
        mutant_of(checkout, "return", "number < 10"),
        mutant_of(checkout, "comparison", "number > 0"),
        mutant_of(checkout, "return", "number + number"),
    ]
    rows = mutate.run(checkout, mutants, [small, endless], output, jobs=2)
    assert [(row["verdict"], row["by"]) for row in rows] == [
        ("killed", small),
        ("killed", endless),
        ("survived", ""),
    ]
    lines = [json.loads(line)["line"] for line in output.read_text(encoding="utf-8").splitlines()]
    assert sorted(lines) == [4, 7, 10]
    assert (checkout / "src/numbers_of_ours.py").read_text(encoding="utf-8") == SOURCE
    # They are known now: no copy is made, no test is run.
    monkeypatch.setattr(mutate, "benches", None)
    assert mutate.run(checkout, mutants, [small, endless], output) == rows


def test_one_that_does_not_end(checkout: Path) -> None:
    file = checkout / "src/numbers_of_ours.py"
    file.write_text(SOURCE.replace("-= 1", "-= 0"), encoding="utf-8")
    assert mutate.tested(checkout, "tests/test_numbers.py", 2) is None


def test_tests_that_fail_anyway_are_refused(checkout: Path, tmp_path: Path) -> None:
    mutants = mutate.drawn(checkout, ["src"], 1, 1)
    with pytest.raises(ValueError, match="before anything is changed"):
        mutate.run(checkout, mutants, ["tests/missing.py"], tmp_path / "out.jsonl")


def test_draws(checkout: Path) -> None:
    drawn = mutate.drawn(checkout, ["src"], 4, 1)
    assert len(drawn) == 4
    assert drawn == mutate.drawn(checkout, ["src"], 4, 1)
    assert drawn != mutate.drawn(checkout, ["src"], 4, 2)
    assert len(mutate.drawn(checkout, ["src"], 1000, 1)) == 8


def test_summary() -> None:
    rows = [
        {"file": "src/a/x.py", "verdict": "killed", "by": "old"},
        {"file": "src/a/y.py", "verdict": "survived", "by": ""},
        {"file": "src/b/z.py", "verdict": "timeout", "by": "new"},
        {"file": "src/b/z.py", "verdict": "killed", "by": "new"},
    ]
    assert mutate.summary(rows).splitlines() == [
        "  killed survived  timeout  folder",
        "       1        1        0  src/a",
        "       1        0        1  src/b",
        "       2 of 4 by new",
        "       1 of 4 by old",
        "       1 of 4 by none",
    ]
