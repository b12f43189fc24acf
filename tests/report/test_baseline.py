"""What a baseline knows: content and number, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from bwlint.model.findings import Finding, Region, Report, Severity, Skipped
from bwlint.report.baseline import Baseline, load, text_of, without_known
from bwlint.settings.config import UsageError

MakeFinding = Callable[..., Finding]
MakeReport = Callable[..., Report]
Spec = tuple[str, int, str]
"""Path, line and fingerprint; what stands in front of a colon there is the content."""

Graded = tuple[str, str, Severity | Literal[""]]
"""Path, fingerprint with its content, and severity; "" in a baseline that was written before it was kept."""


def found(finding: MakeFinding, specs: Sequence[Spec]) -> list[Finding]:
    return [
        finding(
            path=path,
            region=Region(line, 1, line, 9),
            fingerprint=print_,
            content=print_.partition(":")[0] if ":" in print_ else "",
        )
        for path, line, print_ in specs
    ]


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ([("a.py", 1, "f")], [("a.py", 1, "f")], []),
        ([("a.py", 1, "f")], [("a.py", 900, "f")], []),
        ([("a.py", 1, "f")], [("b.py", 1, "f")], []),
        ([("a.py", 1, "f"), ("a.py", 2, "g")], [("c/a.py", 2, "g"), ("c/a.py", 9, "f")], []),
        ([("a.py", 1, "f")], [], []),
        ([("a.py", 1, "f")], [("a.py", 1, "g")], [("a.py", 1)]),
        ([("a.py", 1, "f")], [("a.py", 1, "f"), ("a.py", 5, "f")], [("a.py", 5)]),
        # A copy is new, also where it comes before what it is a copy of.
        ([("b.py", 1, "f")], [("a.py", 1, "f"), ("b.py", 1, "f")], [("a.py", 1)]),
        ([], [("a.py", 1, "f")], [("a.py", 1)]),
        ([("a.py", 1, "")], [("a.py", 7, ""), ("a.py", 8, "")], [("a.py", 8)]),
        # Moved to another function of the file: known as often as it is gone from its own.
        ([("a.py", 1, "g:f")], [("a.py", 9, "g:moved")], []),
        ([("a.py", 1, "g:f"), ("a.py", 2, "g:h")], [("a.py", 1, "g:new"), ("a.py", 9, "g:h")], []),
        ([("a.py", 1, "g:f")], [("a.py", 1, "g:f"), ("a.py", 9, "g:new")], [("a.py", 9)]),
        ([("a.py", 1, "g:f")], [("a.py", 5, "g:new"), ("b.py", 1, "g:f")], [("a.py", 5)]),
        ([("a.py", 1, "g:f")], [("a.py", 8, "g:new"), ("a.py", 9, "g:newer")], [("a.py", 9)]),
        ([("a.py", 1, "g:f")], [("b.py", 9, "g:new")], [("b.py", 9)]),
        ([("a.py", 1, "g:f")], [("a.py", 9, "other:new")], [("a.py", 9)]),
        # A baseline that was written before content was kept.
        ([("a.py", 1, "f")], [("a.py", 9, "g:f2")], [("a.py", 9)]),
    ],
)
def test_what_is_new(
    before: list[Spec], after: list[Spec], new: list[tuple[str, int]], finding: MakeFinding, report: MakeReport
) -> None:
    baseline = Baseline.of(found(finding, before), "")
    left = without_known(report(*found(finding, after)), baseline)
    assert [(entry.path, entry.region.line) for entry in left.findings] == new
    assert left.stats["baselined"] == len(after) - len(new)


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ([("a.py", "g:f", "note")], [("a.py", "g:f", "warning")], ["a.py"]),
        ([("a.py", "g:f", "note")], [("b.py", "g:f", "warning")], ["b.py"]),
        ([("a.py", "g:f", "warning")], [("a.py", "g:moved", "error")], ["a.py"]),
        # Of a file and its copy each has its own severity.
        (
            [("a.py", "f", "note"), ("b.py", "f", "warning")],
            [("a.py", "f", "warning"), ("b.py", "f", "warning")],
            ["a.py"],
        ),
        # What is graver uses its match up: nothing else has moved there.
        ([("a.py", "g:f", "note")], [("a.py", "g:f", "warning"), ("a.py", "g:h", "note")], ["a.py", "a.py"]),
        ([("a.py", "f", "warning")], [("a.py", "f", "warning")], []),
        ([("a.py", "f", "warning")], [("a.py", "f", "note")], []),
        ([("a.py", "f", "error")], [("b.py", "f", "warning")], []),
        ([("a.py", "g:f", "warning")], [("a.py", "g:moved", "note")], []),
        ([("a.py", "f", "note"), ("a.py", "g", "warning")], [("a.py", "f", "note"), ("a.py", "g", "warning")], []),
        ([("a.py", "f", "")], [("a.py", "f", "error")], []),
        ([("a.py", "g:f", "")], [("b.py", "g:f", "error")], []),
    ],
)
def test_what_is_graver_than_it_was_is_new(
    before: list[Graded],
    after: list[Graded],
    new: list[str],
    finding: MakeFinding,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told(specs: list[Graded]) -> list[Finding]:
        plain = found(finding, [(path, 1, print_) for path, print_, _ in specs])
        return [replace(one, severity=said or "note") for one, (_, _, said) in zip(plain, specs, strict=True)]

    monkeypatch.chdir(tmp_path)
    made = Baseline.of(told(before), str(tmp_path.resolve()))
    file = tmp_path / "known.json"
    file.write_text(text_of(made if all(said for _, _, said in before) else replace(made, severities={})))
    assert [entry.path for entry in load(file).split(told(after))[0]] == new


def test_pruning_keeps_severities(finding: MakeFinding, report: MakeReport) -> None:
    noted = [replace(one, severity="note") for one in found(finding, [("a.py", 1, "f"), ("../b/b.py", 1, "g")])]
    kept = Baseline.of(noted, "").pruned(report(*noted[:1]), ["."])
    assert kept.severities == {("f", "BW101", "a.py"): "note", ("g", "BW101", "../b/b.py"): "note"}


def test_a_file_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finding: MakeFinding) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    made = Baseline.of(
        found(finding, [("b.py", 1, "text:g"), ("a.py", 2, "f"), ("a.py", 3, "f")]), str(tmp_path.resolve())
    )
    file = tmp_path / "known.json"
    file.write_text(text_of(made))
    assert load(file) == made
    rows = json.loads(file.read_text())["findings"]
    assert [(row["path"], row["count"]) for row in rows] == [("sub/a.py", 2), ("sub/b.py", 1)]


def test_pruning_adds_nothing(finding: MakeFinding, report: MakeReport) -> None:
    old = Baseline.of(found(finding, [("a.py", 1, "f"), ("a.py", 2, "f"), ("a.py", 3, "g")]), "")
    now = found(finding, [("b.py", 1, "f"), ("a.py", 4, "new")])
    assert dict(old.pruned(report(*now), ["."]).known) == {("f", "BW101", "b.py"): 1}


def test_pruning_keeps_what_is_elsewhere(finding: MakeFinding, report: MakeReport) -> None:
    old = Baseline.of(found(finding, [("a.py", 1, "f"), ("../b/b.py", 2, "g")]), "")
    assert {path for _, _, path in old.pruned(report(), ["."]).known} == {"../b/b.py"}
    assert {path for _, _, path in old.pruned(report(), ["../b"]).known} == {"a.py"}
    assert not old.pruned(report(), [".."]).known


@pytest.mark.parametrize(
    ("unread", "now", "kept"),
    [
        ((), [], set[str]()),
        (("a/a.py",), [], {"a/a.py"}),
        (("a",), [], {"a/a.py"}),
        (("a.whl",), [], {"a.whl/a.py"}),
        ((".",), [], {"a/a.py", "a.whl/a.py"}),
        (("a/b.py", "a/a"), [], set[str]()),
        # What is found elsewhere may be a copy of what could not be read.
        (("a/a.py",), [("b.py", 1, "f")], {"a/a.py"}),
        (("a/a.py",), [("b.py", 1, "g")], {"a/a.py", "b.py"}),
    ],
)
def test_pruning_keeps_what_was_not_read(
    unread: Sequence[str], now: list[Spec], kept: set[str], finding: MakeFinding, report: MakeReport
) -> None:
    old = Baseline.of(found(finding, [("a/a.py", 1, "f"), ("a.whl/a.py", 1, "g")]), "")
    run = report(*found(finding, now), skipped=tuple(Skipped(path, "no access") for path in unread))
    assert {path for _, _, path in old.pruned(run, ["."]).known} == kept
    assert old.gone(run, ["."]) == 2 - len(kept)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no baseline of bwlint"),
        ("[]", "no baseline of bwlint: it is no object of JSON$"),
        ("{}", "no baseline of bwlint: `version` is missing$"),
        ('{"version": 2}', "of version 2; this bwlint reads version 1"),
        ('{"version": 1}', "no baseline of bwlint: `findings` is missing$"),
        ('{"version": 1, "findings": [{"path": 1, "rule": "r", "fingerprint": "f", "count": 1}]}', "`path` is no text"),
        ('{"version": 1, "findings": [{"path": "a", "rule": "r", "fingerprint": "f", "count": true}]}', "no number"),
        ('{"version": 1, "findings": [{"path": "a", "rule": "r", "fingerprint": "f", "count": 0}]}', "no number"),
        (
            '{"version": 1, "findings":'
            ' [{"path": "a", "rule": "r", "fingerprint": "f", "count": 1, "severity": "bad"}]}',
            "no baseline of bwlint",
        ),
        ("[" * 100_000, "no baseline of bwlint"),
    ],
)
def test_what_is_no_baseline(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        load(file)


def test_a_baseline_that_is_not_there(tmp_path: Path) -> None:
    for path, what in ((tmp_path, "no plain file"), (tmp_path / "gone.json", "not found")):
        with pytest.raises(UsageError, match=f"{what}; `bwlint baseline` writes one"):
            load(path)
