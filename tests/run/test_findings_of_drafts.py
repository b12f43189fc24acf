"""Findings as users get them: places, paths, fingerprints, comments and configuration."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bwlint.chips import EVERY
from bwlint.model.findings import Finding, Region
from bwlint.run.check import check
from bwlint.run.request import CheckRequest, Outcome
from bwlint.settings.config import ConfigError, UsageError
from bwlint.sources.texts import _beside
from bwlint.sources.walk import SourceFile

SPLIT = """import torch

def fast(x):
    if torch.cuda.get_device_capability() == (12, 0):
        return kernel(x)
    raise RuntimeError("no")
"""
GATE = "torch.cuda.get_device_capability() == (12, 0)"


def run(*paths: str, **options: Any) -> Outcome:
    with ExitStack() as stack:
        return check(CheckRequest(paths, **options), stack)


def findings(*paths: str, **options: Any) -> list[Finding]:
    return list(run(*paths, **options).report.findings)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


GATE_CLAIMS = [
    (SPLIT, GATE, f"the test `{GATE}` is true on 12.0 and is false on 12.1", ("12.0",), ("12.0",), ()),
    (
        SPLIT.replace("(12, 0):", "(12, 0) and x:"),
        f"{GATE} and x",
        f"the test `{GATE} and x` may be true on 12.0 and is false on 12.1",
        *(("12.0",), (), ()),
    ),
    (
        SPLIT.replace("== (12, 0)", ">= 12"),
        "torch.cuda.get_device_capability() >= 12",
        "the test `torch.cuda.get_device_capability() >= 12` raises on every chip",
        *((), (), EVERY.names),
    ),
    (
        "import torch\nROWS = {'sm_120': 1, 'sm_100': 2}\n\n"
        "def f():\n    major, minor = torch.cuda.get_device_capability()\n"
        "    return ROWS[f'sm_{major}{minor}']\n",
        "f'sm_{major}{minor}' in ROWS",
        "the lookup `ROWS[f'sm_{major}{minor}']` finds a row on 12.0 and finds none on 12.1",
        *(("12.0",), ("12.0",), ()),
    ),
]


@pytest.mark.parametrize(("source", "subject", "says", "holds", "certain", "raises"), GATE_CLAIMS)
def test_what_a_finding_claims_of_its_gate(
    source: str,
    subject: str,
    says: str,
    holds: tuple[str, ...],
    certain: tuple[str, ...],
    raises: tuple[str, ...],
    here: Path,
) -> None:
    write(here, "a.py", source)
    claims = [
        claim for found in findings("a.py", severity="note") for claim in found.claims if claim.subject == subject
    ]
    assert claims
    claim = claims[0]
    asked = EVERY.names if "every chip" in says else ("12.0", "12.1")
    assert (claim.kind, claim.says, claim.chips) == ("gate", says, asked)
    assert (claim.holds, claim.certain, claim.raises) == (holds, certain, raises)
    assert claim.at is not None
    assert claim.at.line == next(i for i, line in enumerate(source.splitlines(), 1) if says.split("`")[1] in line)


def test_a_guard_of_the_preprocessor_is_no_gate(here: Path) -> None:
    write(here, "a.cu", "#if __CUDA_ARCH__ == 1200\nint a;\n#endif\n")
    assert not [claim for found in findings("a.cu", severity="note") for claim in found.claims if claim.kind == "gate"]


def test_a_finding(here: Path) -> None:
    write(here, "pkg/a.py", SPLIT)
    (found,) = findings("pkg")
    assert (found.rule, found.name, found.category, found.severity) == (
        "BW101",
        "family-split",
        "family-split",
        "warning",
    )
    assert found.path == "pkg/a.py"
    assert found.region == Region(4, 8, 4, 8 + len(GATE))
    assert (found.admitted, found.within) == (("12.0",), "fast")
    assert len(found.fingerprint) == 32


def test_columns_count_utf16_units(here: Path) -> None:
    write(here, "a.py", SPLIT.replace("if torch", 'if "\U0001f600" and torch'))
    (found,) = findings("a.py")
    assert found.region.column == 8 + len('"xx" and ')


def test_a_fingerprint_survives_a_move_and_new_lines(here: Path) -> None:
    write(here, "a.py", SPLIT)
    write(here, "b/c.py", "# one more\n\n" + SPLIT.replace(" == ", "  ==  "))
    first, second = findings("a.py", "b")
    assert first.fingerprint == second.fingerprint


def test_equal_gates_of_one_function_differ_by_their_order(here: Path) -> None:
    twice = SPLIT + SPLIT.partition("def fast(x):\n")[2]
    write(here, "a.py", twice.replace('    raise RuntimeError("no")\n', "    assert x\n", 0))
    found = findings("a.py", severity="note")
    assert len({entry.fingerprint for entry in found}) == len(found)


def test_findings_stand_in_order(here: Path) -> None:
    for name in ("b.py", "a.py", "c/d.py"):
        write(here, name, SPLIT)
    assert [found.path for found in findings("c", "b.py", "a.py")] == ["a.py", "b.py", "c/d.py"]


def test_a_comment_suppresses_with_its_reason(here: Path) -> None:
    write(here, "a.py", SPLIT.replace("(12, 0):", "(12, 0):  # bwlint: ignore[family-split] one card"))
    outcome = run("a.py")
    assert outcome.report.findings == ()
    (silenced,) = outcome.report.suppressed
    assert (silenced.finding.rule, silenced.reason) == ("BW101", "one card")


def test_an_unused_comment_is_a_finding(here: Path) -> None:
    write(here, "a.py", "x = 1  # bwlint: ignore[leak, BW101]\n")
    (found,) = findings("a.py")
    assert (found.name, found.severity, found.region.line) == ("unused-suppression", "warning", 1)
    assert "`leak`, `family-split`" in found.message


def test_a_comment_for_a_rule_that_did_not_run_is_not_unused(here: Path) -> None:
    write(here, "a.py", "x = 1  # bwlint: ignore[leak]\n")
    assert findings("a.py", ignore=("leak",)) == []


def test_a_bad_comment_is_an_error(here: Path) -> None:
    write(here, "a.py", SPLIT.replace("(12, 0):", "(12, 0):  # bwlint: ignore[famly-split]"))
    split, bad = sorted(findings("a.py"), key=lambda entry: entry.rule, reverse=True)
    assert (split.rule, bad.name, bad.severity) == ("BW101", "bad-suppression", "error")
    assert "did you mean `family-split`?" in bad.message


def test_a_comment_can_speak_for_another_comment(here: Path) -> None:
    write(here, "a.py", "x = 1  # bwlint: ignore[leak, unused-suppression] soon\n")
    outcome = run("a.py")
    assert outcome.report.findings == ()
    assert outcome.report.suppressed[0].finding.name == "unused-suppression"


def test_select_and_ignore(here: Path) -> None:
    write(here, "a.py", SPLIT)
    assert findings("a.py", select=("leak",)) == []
    assert findings("a.py", ignore=("BW101",)) == []
    assert len(findings("a.py", select=("leak,family-split",))) == 1


def test_the_nearest_configuration_decides_for_each_file(here: Path) -> None:
    write(here, "a/x.py", SPLIT)
    write(here, "b/x.py", SPLIT)
    write(here, "b/bwlint.toml", 'ignore = ["family-split"]\n')
    assert [found.path for found in findings(".")] == ["a/x.py"]


def test_per_file_ignores_and_exclude(here: Path) -> None:
    for name in ("a.py", "legacy/b.py", "gen/c.py"):
        write(here, name, SPLIT)
    write(here, "bwlint.toml", 'exclude = ["gen/"]\n[per-file-ignores]\n"legacy/**" = ["BW101"]\n')
    outcome = run(".")
    assert [found.path for found in outcome.report.findings] == ["a.py"]
    assert outcome.scanned == 3  # the configuration is a file of a build
    assert len(findings("gen/c.py")) == 1
    assert run("gen/c.py", force_exclude=True).scanned == 0


def test_configured_levels_and_targets(here: Path) -> None:
    write(here, "a.py", SPLIT)
    write(here, "bwlint.toml", 'fail-on = "error"\nseverity = "note"\ntarget = ["sm_90"]\n')
    outcome = run("a.py")
    assert (outcome.fail_on, outcome.severity, outcome.report.targets) == ("error", "note", ("9.0",))


def test_an_unknown_rule_names_its_place(here: Path) -> None:
    write(here, "a.py", SPLIT)
    with pytest.raises(UsageError, match="did you mean `leak`"):
        run("a.py", select=("laek",))
    write(here, "bwlint.toml", 'ignore = ["laek"]\n')
    with pytest.raises(ConfigError, match=r"bwlint\.toml: unknown rule `laek`"):
        run("a.py")


def test_repairs_come_only_when_asked_for(here: Path) -> None:
    write(here, "a.py", SPLIT)
    assert findings("a.py")[0].fix is None
    fix = findings("a.py", fixes=True)[0].fix
    assert fix is not None
    assert fix.proof.after_must == ("12.0", "12.1")
    assert {edit.path for edit in fix.edits} == {"a.py"}


def test_repairs_come_only_for_what_is_shown(here: Path) -> None:
    write(here, "a.py", SPLIT)
    (hidden,) = findings("a.py", fixes=True, severity="error")
    assert (hidden.severity, hidden.fix, hidden.fix_refused) == ("warning", None, None)


def test_related_places_in_files_read_through_imports(here: Path) -> None:
    near = SourceFile("lib/pkg/a.py", str(here / "lib/pkg/a.py"), "python", str(here / "lib"))
    assert _beside(str(here / "lib/pkg/b.py"), near) == "lib/pkg/b.py"
    assert _beside(str(here / "other/b.py"), near) == "other/b.py"
    above = SourceFile("../x/a.py", "/t/x/a.py", "python", "/t")
    assert _beside("/t/y/b.py", above) == "../y/b.py"
    wheel = SourceFile("pypi:foo==1/pkg/a.py", "/tmp/u/pkg/a.py", "python", "/tmp/u")
    assert _beside("/tmp/u/pkg/sub/b.py", wheel) == "pypi:foo==1/pkg/sub/b.py"
    linked = SourceFile("link/a.py", "/data/tree/a.py", "python", "/data/tree")
    assert _beside("/data/tree/b.py", linked) == "link/b.py"


def test_lines_of_reported_paths(here: Path) -> None:
    write(here, "pkg/a.py", SPLIT)
    outcome = run("./pkg")
    (found,) = outcome.report.findings
    lines = outcome.lines(found.path)
    assert lines is not None
    assert GATE in lines[found.region.line - 1]
    assert outcome.lines("nowhere.py") is None


def test_standard_input_stands_in_for_a_file(here: Path) -> None:
    write(here, "pkg/__init__.py", "")
    write(
        here,
        "pkg/helper.py",
        "import torch\n\ndef is_sm120():\n    return torch.cuda.get_device_capability()[0] == 12\n",
    )
    write(here, "pkg/a.py", "raise SystemExit\n")
    (found,) = findings("pkg/a.py", stdin=SPLIT.encode())
    assert found.path == "pkg/a.py"
    assert (here / "pkg/a.py").read_text() == "raise SystemExit\n"


def test_garbage_of_proofs_is_collected_once_a_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = "".join(SPLIT.partition("\n\n")[2].replace("fast", f"fast{number}") for number in range(4))
    for name in ("a.py", "b.py"):
        write(here, name, SPLIT + more)
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda _: collected.append(1))
    assert sum(finding.fix is not None for finding in findings(".", fixes=True)) > 2
    assert len(collected) == 2


def test_fixes_are_offered_where_a_report_shows_them(here: Path) -> None:
    write(here, "a.py", SPLIT)
    write(here, "b.py", SPLIT.replace("fast", "slow"))
    assert all(finding.fix for finding in run(".", fixes=True).report.findings)
    assert not any(finding.fix for finding in run(".").report.findings)
