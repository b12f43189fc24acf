"""Passes over trees, with fixes that are made up where the real ones do no wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from repair.trees import GUARD, contents, put

import bwlint.fix
from bwlint.fix import Job
from bwlint.model.findings import Edit, Fix, NoFix, Proof, Region
from bwlint.repair import passes
from bwlint.repair.passes import MOST_PASSES, Repaired, not_fixed, repaired
from bwlint.run.request import CheckRequest
from bwlint.sources.read import SourceText

PROOF = Proof(("12.0",), ("12.0",), ("12.0", "12.1"), ("12.0", "12.1"), "because")
TWO = GUARD + GUARD.replace("import torch\n", "").replace("fast", "second")


@contextmanager
def repairing(*paths: Path, unsafe: bool = False) -> Iterator[Repaired]:
    with ExitStack() as stack:
        request = CheckRequest(tuple(map(str, paths)), fixes=True, severity="note")
        yield repaired(request, stack, unsafe=unsafe)


def texts(found: Repaired) -> dict[str, str]:
    return {Path(source.file.real).name: source.current for source in found.changed}


def reasons(found: Repaired) -> list[str]:
    return [refusal.reason for refusal in found.refused]


Edits = Callable[[Job], list[tuple[str, int, int, str]] | str]
"""Edits as a path, two offsets, and the text to put there."""


def fixed_by(monkeypatch: pytest.MonkeyPatch, make: Edits, proof: Proof = PROOF) -> None:
    """Have every finding fixed by these edits and no others."""

    def propose(job: Job) -> Fix | NoFix:
        made = make(job)
        if isinstance(made, str):
            return NoFix(made)
        edits = tuple(Edit(path, _region(path, start, end), text) for path, start, end, text in made)
        return Fix("safe", "family", "Made up", edits, proof)

    monkeypatch.setattr(bwlint.fix, "propose", propose)


def _region(path: str, start: int, end: int) -> Region:
    from bwlint.sources.read import decode, read_bytes

    data = read_bytes(path)
    source = decode(data) if isinstance(data, bytes) else ""
    assert isinstance(source, str)
    lines = [source.count("\n", 0, at) + 1 for at in (start, end)]
    columns = [at - (source.rfind("\n", 0, at) + 1) for at in (start, end)]
    return SourceText(source).region(lines[0], columns[0], lines[1], columns[1])


def widened(job: Job) -> list[tuple[str, int, int, str]]:
    """A test of one part, widened at the place of the finding."""
    line = job.draft.at[0]
    start = sum(len(text) + 1 for text in job.source.split("\n")[: line - 1])
    match = re.compile(r"!= \(12, 0\)").search(job.source, start)
    assert match is not None
    return [(job.module.path, *match.span(), "not in ((12, 0), (12, 1))")]


def test_fixes_of_several_files_in_one_pass(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": TWO, "b.py": GUARD, "clean.py": "x = 1\n"})
    before = contents(tmp_path)
    with repairing(tmp_path) as found:
        assert found.passes == 1
        assert len(found.done) == 3
        assert sorted(texts(found)) == ["a.py", "b.py"]
        assert "family-split" in {finding.name for finding in found.before.report.findings}
        assert "family-split" not in {finding.name for finding in found.outcome.report.findings}
    assert contents(tmp_path) == before
    with repairing(tmp_path) as found:
        assert len(found.done) == 3, "what was read of changed files ends with the run"


def test_nothing_to_do(tmp_path: Path) -> None:
    put(tmp_path, {"clean.py": "x = 1\n"})
    with repairing(tmp_path) as found:
        assert (found.passes, found.changed, found.done, found.refused, found.left) == (0, (), (), (), 0)


def test_a_fix_that_overlaps_another_has_its_turn_in_the_next_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"a.py": TWO})

    def overlapping(job: Job) -> list[tuple[str, int, int, str]]:
        """Besides its own test, each fix wants to write the first line anew."""
        first = job.source.split("\n")[0]
        return [*widened(job), (job.module.path, 0, len(first), first + "  # seen")]

    fixed_by(monkeypatch, overlapping)
    with repairing(tmp_path) as found:
        assert [done.number for done in found.done if done.wish.finding.name == "family-split"] == [1, 1]
        assert texts(found)["a.py"].startswith("import torch  # seen\n")

    def distinct(job: Job) -> list[tuple[str, int, int, str]]:
        first = job.source.split("\n")[0]
        return [*widened(job), (job.module.path, 0, len(first), f"{first}  # {job.draft.at[0]}")]

    fixed_by(monkeypatch, distinct)
    with repairing(tmp_path) as found:
        assert [done.number for done in found.done] == [1, 2]
        assert texts(found)["a.py"].startswith("import torch  # 4  # 9\n")
        assert found.outcome.report.findings == ()


def test_text_that_does_not_parse_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": TWO})

    def breaking(job: Job) -> list[tuple[str, int, int, str]]:
        path, start, end, text = widened(job)[0]
        return [(path, start, end, text if job.draft.at[0] > 4 else "not in ((")]

    fixed_by(monkeypatch, breaking)
    with repairing(tmp_path) as found:
        compile(texts(found)["a.py"], "a.py", "exec")
        assert [done.wish.finding.region.line for done in found.done] == [9]
        assert any("does not parse" in reason for reason in reasons(found))


def test_two_that_only_together_do_not_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": TWO + "a = b = 0\ndel a, b\n"})

    def deleting(job: Job) -> list[tuple[str, int, int, str]] | str:
        name, at = ("a, ", 4) if job.draft.at[0] == 4 else ("b", 7)
        start = job.source.index("del ")
        if job.source[start + at :].rstrip("\n") not in ("a, b", "b"):
            return "gone"
        return [*widened(job), (job.module.path, start + at, start + at + len(name), "")]

    fixed_by(monkeypatch, deleting)
    with repairing(tmp_path) as found:
        text = texts(found)["a.py"]
        compile(text, "a.py", "exec")
        assert text.endswith("del b\n")
        assert text.count("(12, 1)") == 1


def test_a_fix_that_leaves_its_finding_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": TWO, "b.py": GUARD})

    def idle(job: Job) -> list[tuple[str, int, int, str]]:
        if job.module.path.endswith("b.py") or job.draft.at[0] > 4:
            return widened(job)
        return [(job.module.path, 0, 0, "# nothing\n")]

    fixed_by(monkeypatch, idle)
    with repairing(tmp_path) as found:
        made = texts(found)
        assert "# nothing" not in made["a.py"]
        assert made["a.py"].count("(12, 1)") == 1
        assert made["b.py"].count("(12, 1)") == 1
        assert "the finding would remain" in reasons(found)
        assert {done.wish.finding.path for done in found.done} == {str(tmp_path / "a.py"), str(tmp_path / "b.py")}


def test_fixes_that_together_move_other_chips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that are right alone, and let 10.0 in when both are made: then only one of them is."""
    source = TWO + "\nEXTRA = 0\nMORE = 0\nif torch.cuda.get_device_capability() == (8, EXTRA + MORE):\n    go()\n"
    put(tmp_path, {"a.py": source})

    def summing(job: Job) -> list[tuple[str, int, int, str]] | str:
        if job.draft.rule.name != "family-split" or job.draft.at[0] > 12:
            return "not here"
        name = "EXTRA" if job.draft.at[0] < 6 else "MORE"
        if "EXTRA = 0\nMORE = 0" not in job.source:
            return [*widened(job)]
        at = job.source.index(f"\n{name} = ") + len(name) + 4
        return [*widened(job), (job.module.path, at, at + 1, "3")]

    fixed_by(monkeypatch, summing)
    with repairing(tmp_path) as found:
        text = texts(found)["a.py"]
        assert text.count("= 3") == 1, "8.6 stays as it was"
        assert text.count("(12, 1)") == 2


def test_a_fix_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": GUARD})

    def growing(job: Job) -> list[tuple[str, int, int, str]]:
        return [(job.module.path, 0, 0, "# more\n")]

    fixed_by(monkeypatch, growing)
    monkeypatch.setattr(passes._Expected, "wrong", lambda self, after: [])
    with repairing(tmp_path) as found:
        assert found.passes == MOST_PASSES
        assert found.left == 1
        assert texts(found)["a.py"].count("# more") == MOST_PASSES


@pytest.mark.parametrize("outside", ["other/b.py", "ignored.py", "link/c.py"])
def test_a_file_outside_the_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: str) -> None:
    files = {"tree/a.py": GUARD, "other/b.py": "x = 1\n", "tree/ignored.py": "x = 1\n", "elsewhere/c.py": "x = 1\n"}
    put(tmp_path, {**files, "tree/.gitignore": "ignored.py\n", "tree/.git/HEAD": ""})
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "elsewhere")
    path = tmp_path / outside if outside.startswith("other") else tmp_path / "tree" / outside
    fixed_by(monkeypatch, lambda job: [*widened(job), (str(path), 0, 0, "# too\n")])
    with repairing(tmp_path / "tree") as found:
        assert found.changed == ()
        ((_, reason),) = not_fixed(found)
        assert reason.startswith("it changes ")
        assert reason.endswith(f"{path.name} too, which is not among the given paths")


def test_a_fix_in_two_files_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": GUARD, "b.py": "x = 1\n", "c.py": GUARD})

    def both(job: Job) -> list[tuple[str, int, int, str]]:
        if job.module.path.endswith("a.py"):
            return [*widened(job), (str(tmp_path / "b.py"), 0, 1, "y")]
        return [*widened(job), (str(tmp_path / "b.py"), 4, 5, "(")]

    fixed_by(monkeypatch, both)
    with repairing(tmp_path) as found:
        assert texts(found).keys() == {"a.py", "b.py"}
        assert texts(found)["b.py"] == "y = 1\n"
        assert any("does not parse" in reason for reason in reasons(found))


def test_edits_that_overlap_in_one_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": GUARD})
    fixed_by(monkeypatch, lambda job: [(job.module.path, 0, 5, "x"), (job.module.path, 3, 8, "y")])
    with repairing(tmp_path) as found:
        assert reasons(found) == ["its edits overlap"]


def test_links_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, {"real/a.py": GUARD})
    (tmp_path / "b.py").symlink_to("real/a.py")
    with repairing(tmp_path / "b.py") as found:
        assert found.changed == ()
        assert reasons(found) == ["bwlint does not write through a symbolic link"]


def test_only_shown_and_selected_findings_are_fixed(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": GUARD})
    with ExitStack() as stack:
        request = CheckRequest((str(tmp_path),), fixes=True, ignore=("family-split",))
        assert repaired(request, stack).changed == ()


def test_unsafe_fixes_need_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": GUARD})
    fixed_by(monkeypatch, widened)
    propose = bwlint.fix.propose

    def unsafe(job: Job) -> Fix | NoFix:
        from dataclasses import replace

        made = propose(job)
        return made if isinstance(made, NoFix) else replace(made, applicability="unsafe")

    monkeypatch.setattr(bwlint.fix, "propose", unsafe)
    with repairing(tmp_path) as found:
        assert (found.changed, reasons(found)) == ((), ["unsafe, needs --unsafe-fixes"])
    with repairing(tmp_path, unsafe=True) as found:
        assert len(found.changed) == 1
        assert found.refused == ()
