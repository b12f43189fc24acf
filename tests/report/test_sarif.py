from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sarif_om
from click.testing import CliRunner
from jsonschema.validators import validator_for  # type: ignore[import-untyped]
from sarif_pydantic import Sarif  # type: ignore[import-untyped]

from bwlint import cli
from bwlint.commands import terminal
from bwlint.model.findings import Edit, Finding, Fix, Proof, Region, Related, Report, Skipped, Suppressed
from bwlint.report import Checkout, Lines, Setting, sarif
from bwlint.report.sarif import as_json, line_hashes
from bwlint.settings.catalog import Rule

OASIS = Path(__file__).with_name("sarif-schema-2.1.0.json")
OASIS_SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"

MakeFinding = Callable[..., Finding]
MakeReport = Callable[..., Report]


BARE = Rule(
    code="BW101",
    name="family-split",
    category="family-split",
    severity="warning",
    summary="A gate admits one member of a family and not the other",
    why="12.0 and 12.1 run the same instructions.",
    reported=("the sibling gets an error",),
    note=(),
    silent=("both are named",),
    example="if cap == 120: ...",
    instead="if cap // 10 == 12: ...",
    confirm="run it",
    fix="safe.",
    evidence=("assembled",),
    sources=("PTX ISA 9.0, table 64",),
)


RULES = (replace(BARE, code="BW102", name="leak", category="leak", severity="error", example="```py\nx\n```"), BARE)


@pytest.fixture
def log(rich_report: Report, sources: Lines) -> Any:
    return rendered(rich_report, Setting(lines=sources, version="0.1.0", rules=RULES))


def rendered(report: Report, setting: Setting | None = None) -> Any:
    return json.loads(sarif.render(report, setting or Setting()))


def test_the_standard_accepts_it(log: Any, report: MakeReport) -> None:
    schema = json.loads(OASIS.read_text("utf-8"))
    validator = validator_for(schema)(schema)
    for value in (log, rendered(report())):
        assert [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(value)] == []


def test_the_standard_is_as_oasis_gives_it() -> None:
    assert hashlib.sha256(OASIS.read_bytes()).hexdigest() == OASIS_SHA256
    assert json.loads(OASIS.read_text("utf-8"))["id"] == sarif.SCHEMA
    assert "Copyright © OASIS Open" in OASIS.with_suffix(".LICENSE").read_text("utf-8")


def test_a_failed_run_says_so(report: MakeReport) -> None:
    (failed,) = rendered(report(), Setting(has_failed=True))["runs"][0]["invocations"]
    assert failed["executionSuccessful"] is False


@pytest.mark.parametrize("damage", [{"version": "2.2"}, {"runs": [{}]}, {"extra": 1}])
def test_the_standard_refuses(log: Any, damage: dict[str, object]) -> None:
    schema = json.loads(OASIS.read_text("utf-8"))
    assert not validator_for(schema)(schema).is_valid({**log, **damage})


def test_an_independent_model_accepts_it(log: Any, report: MakeReport) -> None:
    read = Sarif.model_validate(log)
    assert [result.rule_id for result in read.runs[0].results or []] == ["BW101", "BW103", "BW102", "BW102"]
    Sarif.model_validate(rendered(report()))


def test_no_string_is_empty_and_nothing_is_null(log: Any, report: MakeReport, finding: MakeFinding) -> None:
    bare = finding(
        message="",
        fingerprint="",
        related=(Related("a.py", Region(1, 1, 1, 2), ""),),
        category="leak",
    )
    rule = replace(BARE, summary="", why="", example="", instead="", sources=())
    sparse = report(bare, suppressed=(Suppressed(bare, ""),), skipped=(Skipped("b.py", ""),))
    for value in (log, rendered(sparse, Setting(version="1.0", rules=(rule,)))):
        assert not [path for path, leaf in leaves(value) if leaf in ("", None)]


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{path}/{key}")]
    if isinstance(value, list):
        return [leaf for place, item in enumerate(value) for leaf in leaves(item, f"{path}/{place}")]
    return [(path, value)]


def test_run(log: Any) -> None:
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    run = log["runs"][0]
    assert run["columnKind"] == "utf16CodeUnits"
    # An id of ours would take the place of the category that an upload is given.
    assert "automationDetails" not in run
    assert "versionControlProvenance" not in run
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"], driver["semanticVersion"]) == ("bwlint", "0.1.0", "0.1.0")
    invocation = run["invocations"][0]
    assert invocation["executionSuccessful"] is True
    notes = invocation["toolExecutionNotifications"]
    assert [note["message"]["text"] for note in notes] == [
        "Not read: 30 MB, more than 10 MB",
        "Not read: a folder",
    ]
    place = notes[0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "pkg/big%1B%5B31m.py", "uriBaseId": "%SRCROOT%"}}


def test_rules(log: Any) -> None:
    split, leak, unknown = log["runs"][0]["tool"]["driver"]["rules"]
    assert split == {
        "id": "BW101",
        "name": "FamilySplit",
        "shortDescription": {"text": RULES[1].summary},
        "fullDescription": {"text": RULES[1].why},
        "help": {
            "text": (
                "BW101 family-split\nA gate admits one member of a family and not the other\n\n"
                "level     warning\ncategory  family-split\nfix       safe\nevidence  assembled\n\n"
                "12.0 and 12.1 run the same instructions.\n\n"
                "Reported\n  - the sibling gets an error\n\n"
                "Silent\n  - both are named\n\n"
                "Bad\n\n    if cap == 120: ...\n\n"
                "Good\n\n    if cap // 10 == 12: ...\n\n"
                "Confirm: run it\n\n"
                "Fix: safe.\n\n"
                "Suppress: `# bwlint: ignore[family-split] reason` (`//` in C++, `per-file-ignores` for binaries)\n\n"
                "Sources\n  - PTX ISA 9.0, table 64\n"
            ),
            "markdown": (
                "**BW101 family-split**: A gate admits one member of a family and not the other\n\n"
                "level: warning. category: family-split. fix: safe. evidence: assembled.\n\n"
                "12.0 and 12.1 run the same instructions.\n\n"
                "### Reported\n\n- the sibling gets an error\n\n"
                "### Silent\n\n- both are named\n\n"
                "### Bad\n\n```python\nif cap == 120: ...\n```\n\n"
                "### Good\n\n```python\nif cap // 10 == 12: ...\n```\n\n"
                "### Confirm\n\nrun it\n\n"
                "### Fix\n\nsafe.\n\n"
                "### Suppress\n\n"
                "`# bwlint: ignore[family-split] reason` (`//` in C++, `per-file-ignores` for binaries)\n\n"
                "### Sources\n\n- PTX ISA 9.0, table 64"
            ),
        },
        "defaultConfiguration": {"enabled": True, "level": "warning"},
        "properties": {
            "tags": ["family-split", "gpu", "portability"],
            "precision": "high",
            "problem.severity": "warning",
        },
    }
    assert "````python\n```py\nx\n```\n````" in leak["help"]["markdown"]
    assert "helpUri" not in leak
    assert leak["properties"]["problem.severity"] == "error"
    # A finding of a rule that nobody described, as of a newer table.
    assert unknown["id"] == "BW103"
    assert unknown["properties"]["problem.severity"] == "recommendation"


def test_rules_without_a_result_are_left_out(report: MakeReport, finding: MakeFinding) -> None:
    silenced = Suppressed(finding(rule="BW102", name="leak"), "known")
    for made, codes in ((report(), []), (report(finding()), ["BW101"]), (report(suppressed=(silenced,)), ["BW102"])):
        run = rendered(made, Setting(rules=RULES))["runs"][0]
        assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == codes
        assert [(result["ruleId"], result["ruleIndex"]) for result in run["results"]] == [(code, 0) for code in codes]


def test_github_limits_of_rules(finding: MakeFinding) -> None:
    long = replace(RULES[1], summary="s" * 2000, why="w" * 2000)
    rule = as_json(sarif.descriptors([long], [finding()]))[0]
    assert len(rule["shortDescription"]["text"]) == 1024
    assert len(rule["fullDescription"]["text"]) == 1024
    assert len(rule["properties"]["tags"]) <= 20
    assert "security-severity" not in rule["properties"]
    assert "w" * 2000 in rule["help"]["text"]


def test_a_result(log: Any) -> None:
    split = log["runs"][0]["results"][0]
    assert (split["ruleId"], split["ruleIndex"]) == ("BW101", 0)
    assert (split["level"], split["kind"]) == ("warning", "fail")
    assert split["message"]["text"] == (
        "12.1 falls into the arm that raises. Lets in: sm_120; works on: sm_120, sm_121. "
        "Instead: `cap // 10 == 12`. See [what sm_121 gets](1)."
    )
    assert split["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "pkg/gate.py", "uriBaseId": "%SRCROOT%"},
                "region": {
                    **{"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 18},
                    # What is in no folder, no viewer can open.
                    "snippet": {"text": "    if cap == 120:\n"},
                },
            }
        }
    ]
    assert split["relatedLocations"][0]["id"] == 1
    assert split["relatedLocations"][0]["message"] == {"text": "what sm_121 gets"}
    assert "codeFlows" not in split
    assert split["properties"]["confidence"] == "high"
    (claim,) = split["properties"]["claims"]
    assert (claim["kind"], claim["holds"], claim["subject"]) == ("gate", ["12.0"], "cap == 120")
    assert "targets" not in claim


def test_brackets_that_are_no_link(log: Any) -> None:
    text = log["runs"][0]["results"][2]["message"]["text"]
    assert text.startswith("`cap\\[0\\](1)` admits sm_120 to tcgen05. ")
    assert text.endswith(" See [the kernel \\[tcgen05\\]](1).")


def test_plain_brackets_stay(report: MakeReport, finding: MakeFinding) -> None:
    found = rendered(report(finding(message="`cap in [89, 120]` is never true")))
    assert found["runs"][0]["results"][0]["message"]["text"].startswith("`cap in [89, 120]` is never true.")


def test_a_flow_from_the_gate_to_what_is_behind(log: Any) -> None:
    leak = log["runs"][0]["results"][2]
    steps = [step["location"] for step in leak["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [step["message"]["text"] for step in steps] == ["the gate", "the kernel [tcgen05]"]
    assert [step["physicalLocation"]["artifactLocation"]["uri"] for step in steps] == [
        "pkg/sp%C3%A4te%20datei.py",
        "lib/kernel.py",
    ]


def test_fingerprints(log: Any, sources: Lines) -> None:
    split, _, leak, _ = log["runs"][0]["results"]
    text = "".join(sources("pkg/gate.py") or ())
    assert split["partialFingerprints"] == {
        "bwlint/v1": "0123456789abcdef0123456789abcdef",
        "primaryLocationLineHash": line_hashes(text, {2})[2],
    }
    assert list(leak["partialFingerprints"]) == ["primaryLocationLineHash"]


def test_no_hash_without_source(report: MakeReport, finding: MakeFinding) -> None:
    gone = rendered(report(finding(fingerprint="")))["runs"][0]["results"][0]
    assert "partialFingerprints" not in gone


def test_suppressions(log: Any) -> None:
    results = log["runs"][0]["results"]
    assert [result.get("suppressions") for result in results] == [
        None,
        [{"kind": "inSource", "status": "accepted", "justification": "meant for this part"}],
        None,
        [{"kind": "inSource", "status": "accepted"}],
    ]


def test_fixes(log: Any) -> None:
    fix = log["runs"][0]["results"][0]["fixes"][0]
    assert fix["description"] == {"text": "ask for the family (safe)"}
    assert fix["artifactChanges"] == [
        {
            "artifactLocation": {"uri": "pkg/gate.py", "uriBaseId": "%SRCROOT%"},
            "replacements": [
                {
                    "deletedRegion": {"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 18},
                    "insertedContent": {"text": "cap // 10 == 12"},
                },
                {"deletedRegion": {"startLine": 4, "startColumn": 1, "endLine": 5, "endColumn": 1}},
            ],
        }
    ]


def test_a_fix_in_several_files(finding: MakeFinding, report: MakeReport) -> None:
    edits = tuple(
        Edit(path, Region(line, 1, line, 1), f"# {line}\n") for path, line in (("a.py", 1), ("b/c.py", 2), ("a.py", 3))
    )
    fix = Fix("unsafe", "family", "in both", edits, Proof((), (), (), (), ""))
    value = rendered(report(finding(fix=fix)))
    Sarif.model_validate(value)
    (found,) = value["runs"][0]["results"][0]["fixes"]
    changed = {
        change["artifactLocation"]["uri"]: [part["deletedRegion"]["startLine"] for part in change["replacements"]]
        for change in found["artifactChanges"]
    }
    assert changed == {"a.py": [1, 3], "b/c.py": [2]}


@pytest.mark.parametrize(
    ("path", "uri", "relative"),
    [
        ("a/b.py", "a/b.py", True),
        ("./a//b.py", "a/b.py", True),
        ("{here}/a/b.py", "a/b.py", True),
        ("a#b?.py", "a%23b%3F.py", True),
        ("pypi:vllm==1/x.py", "pypi%3Avllm%3D%3D1/x.py", True),
        ("a\udce4.py", "a%E4.py", True),
        ("../x y.py", "{parent}/x%20y.py", False),
        ("../x.whl/a\x00b.so", "{parent}/x.whl/a%00b.so", False),
        ("../x.whl/a\ud800.so", "{parent}/x.whl/a%ED%A0%80.so", False),
    ],
)
def test_uris(
    path: str,
    uri: str,
    relative: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    report: MakeReport,
    finding: MakeFinding,
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    found = rendered(report(finding(path=path.format(here=here))))
    place = found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == uri.format(parent=tmp_path.resolve().as_uri())
    assert place.get("uriBaseId") == ("%SRCROOT%" if relative else None)


def test_the_severest_results_are_kept(
    monkeypatch: pytest.MonkeyPatch, report: MakeReport, finding: MakeFinding
) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 3)
    severities = ("note", "warning", "error", "warning", "note")
    lines = [finding(severity=severity, region=Region(line, 1, line, 2)) for line, severity in enumerate(severities, 1)]
    run = rendered(report(*lines))["runs"][0]
    kept = [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]]
    assert kept == [2, 3, 4]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["message"]["text"] for note in notes] == [
        "2 results are left out, the least severe: GitHub takes 3 and 10 MB when packed."
    ]


def test_what_is_too_large_when_packed_loses_the_least_severe(
    monkeypatch: pytest.MonkeyPatch, report: MakeReport, finding: MakeFinding
) -> None:
    monkeypatch.setattr(sarif, "MAX_PACKED", 2000)
    found = [
        finding(severity=severity, region=Region(line, 1, line, 2), message=f"{line * 7919 % 104729:x}" * 40)
        for line, severity in enumerate(("note", "error", "warning") * 40, 1)
    ]
    text = sarif.render(report(*found), Setting())
    assert len(gzip.compress(text.encode())) <= 2000
    run = json.loads(text)["runs"][0]
    assert run["results"] and "note" not in {result["level"] for result in run["results"]}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith(f"{120 - len(run['results'])} results are left out")


def test_a_file_on_disk_needs_no_snippet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: Lines, report: MakeReport, finding: MakeFinding
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "gate.py").write_text("".join(sources("pkg/gate.py") or ()))
    monkeypatch.chdir(tmp_path)
    found = rendered(report(finding()), Setting(lines=sources))
    assert "snippet" not in found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]


def test_where_the_sources_come_from(tmp_path: Path, report: MakeReport, finding: MakeFinding) -> None:
    sources = Checkout(str(tmp_path), "https://example.org/o/r.git", "0" * 40)
    value = rendered(report(finding()), Setting(checkout=sources, rules=RULES, home="https://example.org/bwlint/"))
    run = value["runs"][0]
    assert run["versionControlProvenance"] == [
        {
            "repositoryUri": "https://example.org/o/r.git",
            "revisionId": "0" * 40,
            "mappedTo": {"uriBaseId": "%SRCROOT%"},
        }
    ]
    driver = run["tool"]["driver"]
    assert driver["informationUri"] == "https://example.org/bwlint/"
    assert driver["rules"][0]["helpUri"] == "https://example.org/bwlint/rules/family-split.md"
    Sarif.model_validate(value)


def test_related_places_are_capped(report: MakeReport, finding: MakeFinding) -> None:
    related = tuple(Related("a.py", Region(line, 1, line, 2), "here") for line in range(1, 1202))
    run = rendered(report(finding(category="leak", related=related)))["runs"][0]
    assert len(run["results"][0]["relatedLocations"]) == 1000
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["message"]["text"] for note in notes] == ["BW101 in line 2: only 1000 related places are given."]


BINARIES = (
    ("dist/x-1.0-py3-none-any.whl/pkg/lib.so", "dist/x-1.0-py3-none-any.whl/pkg/lib.so"),
    ("pypi:x==1/pkg/lib.abi3.so", "pypi%3Ax%3D%3D1/pkg/lib.abi3.so"),
    ("kernels/sm_120f.cubin", "kernels/sm_120f.cubin"),
    ("x.whl/a\x1b[31m\n.so", "x.whl/a%1B%5B31m%0A.so"),
    ("x.whl/日本.so", "x.whl/%E6%97%A5%E6%9C%AC.so"),
    ("x.whl/a\udcff.so", "x.whl/a%FF.so"),
    ("x.whl/a\ud800.so", "x.whl/a%ED%A0%80.so"),
    ("x.whl/a\x00b.so", "x.whl/a%00b.so"),
    ("x.whl/" + "a" * 5000, "x.whl/" + "a" * 5000),
)


@pytest.mark.parametrize(("path", "uri"), BINARIES, ids=lambda part: ascii(part[:20]))
def test_findings_in_binaries(path: str, uri: str, report: MakeReport, finding: MakeFinding) -> None:
    """A binary has no lines: its findings stand at the first column of the first line and take none."""
    start = Region(1, 1, 1, 1)
    found = finding(
        path=path,
        region=start,
        category="arch-target",
        related=(Related(path, start, "the container"),),
    )
    text = rendered(report(found, skipped=(Skipped(path, "cut off"),)))
    result = text["runs"][0]["results"][0]
    place = {
        "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
    }
    assert result["locations"] == [{"physicalLocation": place}]
    assert result["relatedLocations"][0]["physicalLocation"] == place
    assert result["partialFingerprints"] == {"bwlint/v1": found.fingerprint}
    Sarif.model_validate(text)
    if OASIS.exists():
        schema = json.loads(OASIS.read_text("utf-8"))
        assert [error.message for error in validator_for(schema)(schema).iter_errors(text)] == []


@pytest.mark.parametrize("value", [{"a"}, b"a", Path("a"), {1: "a"}], ids=["set", "bytes", "path", "int key"])
def test_the_walker_refuses_what_json_has_not(value: Any) -> None:
    with pytest.raises(TypeError):
        as_json(sarif_om.PropertyBag(tags=[value]))


def test_the_walker_keeps_defaults_and_drops_sentinels() -> None:
    result = sarif_om.Result(message=sarif_om.Message(text="m"), level="warning", rule_index=0)
    assert as_json(result) == {"kind": "fail", "level": "warning", "message": {"text": "m"}, "ruleIndex": 0}
    suppression = sarif_om.Suppression(kind="inSource", state="accepted")
    assert as_json(suppression) == {"kind": "inSource", "status": "accepted"}


def multitool() -> str | None:
    """Microsoft's validator: on PATH, or a package of npm that node finds (NODE_PATH)."""
    program, node = shutil.which("Sarif.Multitool"), shutil.which("node")
    if program or node is None:
        return program
    asked = [node, "-p", "require('@microsoft/sarif-multitool-linux')"]
    return subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip() or None


def test_the_rules_of_the_multitool_and_of_github_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = multitool()
    if program is None:
        pytest.skip("no Sarif.Multitool on PATH, and node finds no @microsoft/sarif-multitool-linux")
    fixtures = Path(__file__).parents[2] / "fixtures"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "home", lambda: "https://example.org/bwlint")
    shutil.copytree(fixtures / "leak", "tree")
    with zipfile.ZipFile("demo-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(next((fixtures / "family-split").glob("*.py")), "demo/a b.py")
    arguments = ["check", "--exit-zero", "--no-cache", "--jobs", "1", "--severity", "note", "--output", "a.sarif"]
    CliRunner().invoke(cli.app, [*arguments, "--format", "sarif", "tree", "demo-1.0-py3-none-any.whl"])
    results = json.loads(Path("a.sarif").read_text())["runs"][0]["results"]
    assert {result["ruleId"] for result in results} >= {"BW101", "BW102"}
    asked = [program, "validate", "a.sarif", "--rule-kind", "Sarif;Ghas", "--output", "judged.sarif"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    judged = json.loads(Path("judged.sarif").read_text())["runs"][0]
    assert (done.returncode, judged.get("results", [])) == (0, []), done.stdout
