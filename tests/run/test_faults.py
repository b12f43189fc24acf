"""An error of bwlint's own costs the file or the question at hand, is listed, and ends nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from small_binaries import cubin

from bwlint.cli import run
from bwlint.index import kept
from bwlint.matrix import matrix
from bwlint.run.check import check
from bwlint.run.request import CheckRequest, Outcome
from bwlint.run.unchanged import known_or_new
from bwlint.sources import faults

SPLIT = 'import torch\nif torch.cuda.get_device_capability() != (12, 0):\n    raise RuntimeError("SM120 only")\n'
GUARDED = "#if __CUDA_ARCH__ == 1200\nint fast;\n#endif\n"
TREE = {
    "bad.py": SPLIT,
    "good.py": f"import torch\n\n\ndef f():\n{SPLIT.replace('import torch', '').replace(chr(10), chr(10) + '    ')}\n",
    "bad.cu": GUARDED,
    "other.cu": GUARDED.replace("fast", "slow"),
    "sub/__init__.py": "",
    "sub/asks.py": "from sub.told import cap\nif cap() == (12, 0):\n    fast = True\n",
    "sub/told.py": "import torch\ndef cap():\n    return torch.cuda.get_device_capability()\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture(autouse=True)
def _planted_errors_are_wanted() -> Iterator[None]:
    yield
    faults.forget()


def checked(tree: Path, **options: Any) -> Outcome:
    with ExitStack() as stack:
        return check(CheckRequest((str(tree),), isolated=True, severity="note", **options), stack)


def _path_of(one: Any) -> str:
    """The file that the arguments of a stage are about."""
    for name in ("path", "real"):
        if isinstance(getattr(one, name, None), str):
            return str(getattr(one, name))
    for name in ("module", "draft", "job", "file"):
        if hasattr(one, name):
            return _path_of(getattr(one, name))
    return one if isinstance(one, str) and "/" in one else ""


def planted(monkeypatch: pytest.MonkeyPatch, place: str, name: str) -> None:
    """A function that fails where it is about a file named bad.*, or about nothing in particular."""
    from importlib import import_module

    owner: Any = import_module(place.partition(":")[0])
    owner = getattr(owner, place.partition(":")[2]) if ":" in place else owner
    real: Callable[..., Any] = getattr(owner, name)

    def fails(*given: Any, **named: Any) -> Any:
        paths = [path for one in given if (path := _path_of(one))]
        if not paths or any("bad." in path for path in paths):
            raise KeyError("planted")
        return real(*given, **named)

    monkeypatch.setattr(owner, name, fails)


STAGES = [
    pytest.param("bwlint.readers.python", "read", "bad.py", "reading", id="a-reader-of-python"),
    pytest.param("bwlint.world.collect", "_sightings", "bad.py", "looking for words", id="words"),
    pytest.param("bwlint.world.collect", "brought_to", "bad.py", "reading", id="what-imports-bring"),
    pytest.param("bwlint.world.tree:Tree", "sets", "bad.py", "evaluating a test", id="the-interpreter"),
    pytest.param("bwlint.run.engine", "guards_of", "bad.cu", "evaluating guards", id="guards"),
    pytest.param("bwlint.run.engine", "_at_origins", "bad.py", "judging", id="drafts-of-a-file"),
    pytest.param("bwlint.run.engine", "for_another_vendor", "bad.py", "judging", id="whose-a-file-is"),
    pytest.param("bwlint.run.merging:Unreached", "holds", "bad.py", "judging", id="who-gets-there"),
    pytest.param("bwlint.run.engine", "questions_of", "bad.py", "asking questions", id="questions"),
    pytest.param("bwlint.fix", "propose", "bad.py", "fixing family-split", id="a-fix"),
    pytest.param(
        "bwlint.run.findings_of_drafts:_ReportedFile", "_fingerprinted", "bad.py", "telling findings", id="told"
    ),
    pytest.param("bwlint.run.audit", "rows", "", "listing questions", id="rows"),
]


@pytest.mark.parametrize(("place", "name", "file", "doing"), STAGES)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stage_that_fails_costs_a_file_and_is_listed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str, file: str, doing: str, jobs: int
) -> None:
    clean = {finding.path for finding in checked(tree).report.findings}
    monkeypatch.setattr("bwlint.world.collect.SERIAL_BELOW", 1)
    monkeypatch.setattr("bwlint.run.engine.MIN_PART", 1)
    planted(monkeypatch, place, name)
    outcome = checked(tree, jobs=jobs, fixes=True)
    told = {skip.path: skip.reason for skip in outcome.report.skipped if "internal error" in skip.reason}
    assert any(path.endswith(file) and f"internal error in {doing}" in reason for path, reason in told.items())
    assert all("KeyError: 'planted'" in reason and reason.endswith("please report") for reason in told.values())
    found = {finding.path for finding in outcome.report.findings}
    assert {path for path in clean if "bad." not in path} <= found


def _fails(*_: Any) -> Any:
    raise KeyError("planted")


@pytest.mark.parametrize(("text", "is_ours"), [(SPLIT, True), (f"x = {'-' * 150}1\n{SPLIT}", False)])
def test_a_shallow_file_that_takes_too_much_stack_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_ours: bool
) -> None:
    def recurses(*_: Any, **__: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("bwlint.readers.python.read", recurses)
    (tmp_path / "a.py").write_text(text)
    reasons = {skip.reason for skip in checked(tmp_path).report.skipped}
    assert "nested too deep to analyse" in reasons
    assert any("internal error" in reason for reason in reasons) == is_ours


@pytest.mark.parametrize("kind", ["checks", "guard_checks", "file_checks"])
def test_a_rule_that_fails_costs_its_question(tree: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    import bwlint.run.engine

    rules = getattr(bwlint.run.engine, kind)()
    monkeypatch.setattr(bwlint.run.engine, kind, lambda: [(rules[0][0], _fails), *rules[1:]])
    outcome = checked(tree)
    assert any(f"internal error in {rules[0][0].name}" in skip.reason for skip in outcome.report.skipped)
    assert outcome.report.findings
    assert outcome.rows


def test_an_operation_that_fails_costs_its_row(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bwlint.matrix.cells.Cells.ruling", _fails)
    made = matrix([str(tree)], select=["f"])
    assert made.rows == ()
    assert any("internal error in asking for" in skip.reason for skip in made.skipped)


def test_a_binary_that_fails_is_listed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "a.cubin").write_bytes(cubin(120))
    monkeypatch.setattr("bwlint.inspection.in_tree.examine", _fails)
    outcome = checked(tree)
    assert any("internal error in reading binaries" in skip.reason for skip in outcome.report.skipped)
    assert outcome.report.findings


def test_what_failed_is_judged_again_by_the_next_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> list[str]:
        with ExitStack() as stack:
            stack.enter_context(kept.using())
            request = CheckRequest((str(tree),), isolated=True, severity="note")
            outcome = known_or_new(request, lambda: check(request, stack))
            return sorted(skip.reason for skip in outcome.report.skipped)

    with monkeypatch.context() as planting:
        planted(planting, "bwlint.run.engine", "_at_origins")
        first, second = told(), told()
        assert first == second
        assert any("internal error in judging" in reason for reason in first)
    assert told() == []


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 2)])
@pytest.mark.parametrize("command", ["check", "audit"])
def test_the_exit_code_is_2_with_strict_alone(
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    options: list[str],
    code: int,
) -> None:
    planted(monkeypatch, "bwlint.run.engine", "_at_origins")
    monkeypatch.chdir(tree)
    more = ["--exit-zero"] if command == "check" else []
    assert run([command, ".", "--no-cache", *more, *options]) == code
    assert "skipped bad.py: internal error in judging (KeyError: 'planted'): please report" in capsys.readouterr().err
