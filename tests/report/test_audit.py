"""A ledger in each of its forms: what is said of a row, and that no scanned text gets out of hand."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.validators import validator_for  # type: ignore[import-untyped]
from ledgers import CHAIN, CHIPS, DECIDED, EMPTY, RICH, make_row
from referencing import Registry, Resource
from sarif_pydantic import Sarif  # type: ignore[import-untyped]

import bwlint.report
from bwlint.commands import schema
from bwlint.model.ledger import ROW_KINDS, Decision, Ledger, RowForm, RowGroup, RowPlace
from bwlint.report import Setting, audit_sarif, html, sarif
from bwlint.report import audit as audit_report
from bwlint.report.audit import FORMS
from bwlint.report.html import DRAWN_PLACES, of_rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS = (json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("audit", "findings"))
REGISTRY: Registry[Any] = Registry().with_resource(FINDINGS["$id"], Resource.from_contents(FINDINGS))
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)
OASIS = Path(__file__).with_name("sarif-schema-2.1.0.json")

HOSTILE = "=x\x1b[2J\u202e\n\ud800</script>](1)"
WILD = Ledger(
    RICH.targets,
    (
        make_row(
            subject=HOSTILE,
            question=HOSTILE,
            why=HOSTILE,
            behind=HOSTILE,
            places=(RowPlace(f"{HOSTILE}.py", 1, 1, HOSTILE),) * 2,
            decision=Decision("0" * 32, "fine", HOSTILE, HOSTILE, ""),
        ),
    ),
)
LEDGERS = {"rich": RICH, "empty": EMPTY, "wild": WILD}


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest) -> Ledger:
    return LEDGERS[request.param]


def test_words_have_their_meaning() -> None:
    assert tuple(FORMS) == get_args(RowForm) == tuple(SCHEMA["$defs"]["row"]["properties"]["form"]["enum"])
    assert tuple(SCHEMA["$defs"]["row"]["properties"]["group"]["enum"]) == get_args(RowGroup)
    assert tuple(SCHEMA["$defs"]["kind"]["enum"]) == ROW_KINDS


# JSON


def test_the_json_follows_the_schema(ledger: Ledger) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    log = json.loads(audit_report.as_json(ledger, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []


def test_the_schema_is_known() -> None:
    printed = json.loads(schema.text_of("audit"))
    assert printed == {**SCHEMA, "$defs": {**SCHEMA["$defs"], FINDINGS["$id"]: FINDINGS}}


def test_the_contract() -> None:
    log = json.loads(audit_report.as_json(RICH, Setting(version="1")))
    assert list(log) == ["version", "tool", "targets", "rows", "skipped", "stats", "stale_decisions"]
    first, second, third = log["rows"]
    assert list(first) == SCHEMA["$defs"]["row"]["required"]
    assert first["places"][0] == {
        "path": "vllm/fused_moe/cutlass_moe.py",
        "line": 212,
        "end_line": 213,
        "says": "checked here",
    }
    assert list(first["table"]) == list(CHIPS)
    assert first["verdicts"] == {"12.0": "pass", "12.1": "review"}
    assert first["ways"][1] == {"chips": ["12.1"], "does": 'raises "needs SM120"'}
    assert first["parts"][0] == {"name": "family-split", "points": 10, "says": "12.0 and 12.1 get different answers."}
    assert (first["decision"], second["rough"], third["decision"]["said"]) == (None, True, "fine")
    assert [each["fingerprint"] for each in log["stale_decisions"]] == ["0" * 32]


# Text

GOLDEN = """\
Most suspicious first. review: chips are treated differently, and you have to
say whether that is right. open: bwlint cannot tell what this decides.
Below each chip stands its answer: Y yes; N no; m depends on more than the chip;
E error; ? bwlint does not know; 1, 2 branch of the chain; 0 else. The checked
chips are left of |.

 1. review  vllm/fused_moe/cutlass_moe.py:212
    is_supported_config (check at run time)
    > capability == (12, 0) or capability.major in (9, 10)
     12.0 12.1  |  8.9  9.0 10.0 10.3 11.0
        Y    N  |    N    Y    Y    Y    N
    12.0: calls `cutlass_moe`
    12.1: raises "needs SM120"
    behind it: `cutlass_moe` needs nothing above 12.0 (csrc/moe.cu:88)
    why: It cuts 12.1 from 12.0, and nothing proves that right or wrong.
    id 3f9a12bc04de; pass for 12.0, review for 12.1; also csrc/moe.cu:88 (behind
    it), tests/test_moe.py:9 (checked here)

 2. open  csrc/dispatch.cuh:7
    dispatch (preprocessor check, unbuilt, rough table)
    > #if __CUDA_ARCH__ == 900 ... #elif __CUDA_ARCH__ >= 1000
     12.0 12.1  |  8.9  9.0 10.0 10.3 11.0
        2    2  |    0    1    m    E    ?
    12.0, 12.1: launches `moe_kernel<Sm100>`
    why: Nothing is known of `moe_kernel`.
    id 001122334455; 1 more row about dispatch

and 1 more: --top 0 shows all, --kind and --subject fewer
decide: bwlint audit --decide 3f9a12bc04de VERDICT --reason WHY
VERDICT: fine (the row becomes a pass), broken (it becomes a fail), later (it
stays, and --fail-on leaves it out)
"""


def text_of(*rows: Any, **given: Any) -> str:
    return audit_report.as_text(Ledger(RICH.targets, rows), Setting(**{"width": 80, **given}))


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ((), "id 3f9a12bc04de"),
        (("its message",), "id 3f9a12bc04de; also a.py:2 (its message)"),
        (("",), "id 3f9a12bc04de; also a.py:2"),
        (("here",) * 4, "id 3f9a12bc04de; also a.py:2 (here), a.py:3 (here), 2 more places"),
    ],
)
def test_the_other_places_of_a_row_are_named(others: tuple[str, ...], told: str) -> None:
    places = tuple(RowPlace("a.py", line, line, says) for line, says in enumerate(("checked here", *others), 1))
    row = make_row(fingerprint="3f9a12bc04de" + "0" * 20, verdicts=(("12.0", "fail"),), places=places, same_subject=())
    assert f"    {told}\n" in audit_report.as_text(Ledger(("12.0",), (row,)), Setting())


def test_text() -> None:
    assert audit_report.as_text(RICH, Setting(width=80), top=2) == GOLDEN


def test_what_a_person_has_decided() -> None:
    assert "    fine: tried on a Spark (Ann <ann@example.org> 2026-11-01)\n" in text_of(DECIDED)
    assert "    later: no reason given\n" in text_of(replace(DECIDED, decision=Decision("0" * 32, "later", "")))


@pytest.mark.parametrize(("top", "shown"), [(0, 40), (30, 30), (1, 1), (99, 40)])
def test_as_many_rows_as_asked_for(top: int, shown: int) -> None:
    found = audit_report.as_text(Ledger(RICH.targets, (make_row(),) * 40), Setting(), top=top)
    assert found.count("is_supported_config") == shown
    assert (f"and {40 - shown} more" in found) == (shown < 40)


LONG: dict[str, dict[str, Any]] = {
    "question": {"question": "capability.major >= 10 and " * 30},
    "a word": {"question": "x" * 900, "why": "y" * 900},
    "wide": {"question": "算" * 300, "why": "算 力 " * 90, "subject": "算" * 300},
    "subject": {"subject": "namespace::" * 30},
    "path": {"places": (RowPlace("folder/" * 30 + "name.py", 100000, 100000),)},
    "name": {"places": (RowPlace("n" * 200 + ".py", 1, 1),)},
    "chips": {"table": tuple((f"{major}.{minor}", "yes") for major in range(8, 13) for minor in range(9))},
    "group": {"group": "vendored", "form": "product", "subject": "s" * 100},
    "hostile": {"question": HOSTILE * 9, "subject": HOSTILE * 9, "why": HOSTILE * 9},
}


@pytest.mark.parametrize("name", LONG)
def test_it_fits(name: str) -> None:
    lines = text_of(make_row(rough=True, **LONG[name])).splitlines()
    assert max(sum(2 if char == "算" or char == "力" else 1 for char in line) for line in lines) <= 80


@pytest.mark.parametrize("width", [1, 40, 200])
def test_a_terminal_says_how_wide_it_is(width: int) -> None:
    lines = text_of(make_row(why="word " * 90, parts=()), color=True, width=width).splitlines()
    assert max(map(len, (line for line in lines if "word" in line))) in range(width - 6, max(width, 40) + 1)


def test_a_long_path_loses_folders_and_keeps_its_name() -> None:
    path = "vllm/model_executor/layers/quantization/compressed_tensors/schemes/compressed_tensors_w8a8_fp8.py"
    head = text_of(make_row(places=(RowPlace(path, 123, 123),))).splitlines()[4]
    assert head == " 1. review  vllm/.../schemes/compressed_tensors_w8a8_fp8.py:123"


def test_signs_in_colour() -> None:
    lines = text_of(CHAIN, make_row(), color=True, width=80).splitlines()
    assert lines[10] == "    " + "    \x1b[1;36m2\x1b[0m" * 2 + "  |    0    1    ◧    !    ?"
    assert "    \x1b[32m■\x1b[0m    \x1b[1;33m□\x1b[0m  |    □    ■    ■    ■    □" in "\n".join(lines)


def test_a_path_can_be_clicked_on(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.touch()
    place = (RowPlace(str(file), 3, 3),)
    assert f"\x1b]8;;{file.resolve().as_uri()}\x1b\\" in text_of(
        make_row(places=place), links=True, width=200, color=True
    )


def test_nothing_to_show() -> None:
    assert audit_report.as_text(EMPTY, Setting()) == ""


def test_no_terminal_obeys(ledger: Ledger) -> None:
    for told in (
        audit_report.as_text(ledger, Setting()),
        audit_report.as_csv(ledger, Setting()),
        audit_report.as_json(ledger, Setting()),
        audit_sarif.as_sarif(ledger, Setting()),
    ):
        assert not set(told) & {"\x1b", "\u202e", "\ud800"}


# SARIF


def run_of(ledger: Ledger, **given: Any) -> Any:
    return json.loads(audit_sarif.as_sarif(ledger, Setting(**given)))["runs"][0]


def test_the_standard_accepts_it(ledger: Ledger) -> None:
    log = json.loads(audit_sarif.as_sarif(ledger, Setting(version="0.1.0")))
    Sarif.model_validate(log)
    standard = json.loads(OASIS.read_text("utf-8"))
    assert [error.message for error in validator_for(standard)(standard).iter_errors(log)] == []


def test_results() -> None:
    run = run_of(RICH, lines=lambda path: ["a\n"] * 300)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"audit/{form}" for form in FORMS]
    first, second, third = run["results"]
    assert [(each["kind"], each["level"]) for each in run["results"]] == [
        ("review", "none"),
        ("open", "none"),
        ("fail", "warning"),
    ]
    assert (second["ruleId"], second["ruleIndex"]) == ("audit/guard", list(FORMS).index("guard"))
    assert first["message"]["text"] == (
        "is_supported_config: It cuts 12.1 from 12.0, and nothing proves that right or wrong. "
        '12.0: calls `cutlass_moe`; 12.1: raises "needs SM120". '
        "The check: capability == (12, 0) or capability.major in (9, 10)"
    )
    region = first["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["endLine"], "startColumn" in region) == (212, 213, False)
    assert [each["message"]["text"] for each in first["relatedLocations"]] == ["behind it", "checked here"]
    assert first["partialFingerprints"].keys() == {audit_sarif.KEY, "primaryLocationLineHash"}
    assert first["properties"]["score"] == 12
    assert first["properties"]["table"]["12.1"] == "no"
    assert first["properties"]["verdicts"] == {"12.0": "pass", "12.1": "review"}
    assert "relatedLocations" not in second
    assert "suppressions" not in first
    assert third["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "tried on a Spark"},
    ]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "Not read: not UTF-8"


@pytest.mark.parametrize("said", ["broken", "later"])
def test_only_what_is_fine_is_suppressed(said: Any) -> None:
    (result,) = run_of(Ledger(RICH.targets, (replace(DECIDED, decision=Decision("f", said, "no")),)))["results"]
    assert "suppressions" not in result


def test_as_many_results_as_github_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sarif, audit_sarif):
        monkeypatch.setattr(module, "MAX_RESULTS", 2)
    run = run_of(replace(RICH, skipped=()))
    assert [result["properties"]["rank"] for result in run["results"]] == [1, 2]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1 results are left out, the last")


# CSV


def test_csv() -> None:
    assert audit_report.as_csv(RICH, Setting()).splitlines() == [
        "rank,kind,12.0,12.1,score,form,group,subject,question,path,line,places,why,fingerprint,decision,reason",
        '1,review,pass,review,12,gate,own,is_supported_config,"capability == (12, 0) or capability.major in (9, 10)",'
        'vllm/fused_moe/cutlass_moe.py,212,3,"It cuts 12.1 from 12.0, and nothing proves that right or wrong.",'
        "3f9a12bc04de5566778899aabbccddee,,",
        "2,open,open,open,-1,guard,unbuilt,dispatch,#if __CUDA_ARCH__ == 900 ... #elif __CUDA_ARCH__ >= 1000,"
        "csrc/dispatch.cuh,7,1,Nothing is known of `moe_kernel`.,00112233445566778899aabbccddeeff,,",
        '3,fail,fail,fail,0,gate,own,is_supported_config,"capability == (12, 0) or capability.major in (9, 10)",'
        'a.py,3,1,"It cuts 12.1 from 12.0, and nothing proves that right or wrong.",ffeeddccbbaa99887766554433221100,'
        "fine,tried on a Spark",
    ]


@pytest.mark.parametrize("sign", "=+-@")
def test_no_spreadsheet_runs_what_is_scanned(sign: str) -> None:
    told = audit_report.as_csv(Ledger((), (make_row(question=f"{sign}SUM(1)", subject=f" {sign}1"),)), Setting())
    (row,) = csv.DictReader(StringIO(told))
    assert (row["question"], row["subject"]) == (f"'{sign}SUM(1)", f" {sign}1")


# The page


def test_the_page_holds_the_json_and_sources() -> None:
    how = Setting(lambda path: ["x\n"] * 300 if path == "csrc/moe.cu" else None)
    beside = html.of_audit(RICH, how)
    assert list(beside["excerpts"]) == ["csrc/moe.cu"]
    assert sorted(beside["excerpts"]["csrc/moe.cu"]) == list(range(85, 92))
    text = audit_report.as_json(RICH, how)
    page = "".join(html.page("audit", (text,), beside))
    assert json.loads(page.partition('id="report">')[2].partition("</script>")[0]) == json.loads(text)
    assert json.loads(page.partition('id="beside">')[2].partition("</script>")[0])["forms"] == FORMS


def test_a_page_draws_the_first_places_alone() -> None:
    places = tuple(RowPlace(f"{number}.py", 1, 1) for number in range(20))
    found = of_rows((make_row(places=places),), lambda path: ["x\n"])
    assert list(found) == [f"{number}.py" for number in range(DRAWN_PLACES)]
    assert f"const SHOWN_PLACES = {DRAWN_PLACES};" in (FOLDER / "html/audit.js").read_text("utf-8")


DECISIONS = """
const HIDDEN = /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202e\\u{e0000}-\\u{e007f}]|\\p{Surrogate}/gu;
const beside = { kind: "audit" };
const location = { pathname: "/a.html" };
const stored = () => STORED;
"""


def decisions(stored: Any, ledger: Ledger) -> Any:
    """What the page exports of the decisions of `ledger` and those that the browser has stored."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node to run scripts with")
    script = (
        f"const STORED = {json.dumps(stored)};\nconst report = {audit_report.as_json(ledger, Setting())};\n{DECISIONS}"
        f"{(FOLDER / 'html/audit.js').read_text('utf-8')}\nprocess.stdout.write(decisionsToml());"
    )
    done = subprocess.run([node, "-"], input=script.encode(), check=True, capture_output=True, timeout=60)
    return tomllib.loads(done.stdout.decode())


def test_decisions_of_the_file_are_exported() -> None:
    assert decisions({}, RICH) == {
        "version": 1,
        "decision": [
            {
                "row": DECIDED.fingerprint,
                "verdict": "fine",
                "reason": "tried on a Spark",
                "who": "Ann <ann@example.org>",
                "date": "2026-11-01",
                "question": DECIDED.question,
                "subject": DECIDED.subject,
            },
            {"row": "0" * 32, "verdict": "later", "reason": "no reason was given", "who": "", "date": ""},
        ],
    }


STORED: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "a new one": ({CHAIN.fingerprint: "later"}, ["later", "fine"]),
    "another than in the file": ({DECIDED.fingerprint: "broken"}, ["broken"]),
    "taken back": ({DECIDED.fingerprint: None}, []),
    "of another tree": ({"1" * 32: "fine"}, ["fine"]),
    "no such word": ({CHAIN.fingerprint: "FINE"}, ["fine"]),
}


@pytest.mark.parametrize("name", STORED)
def test_those_of_the_page_come_first(name: str) -> None:
    given, said = STORED[name]
    stored = {key: word and {"said": word, "reason": "", "who": "", "date": ""} for key, word in given.items()}
    found = decisions(stored, replace(RICH, stale=()))
    assert [each["verdict"] for each in found.get("decision", [])] == said


TEXTS = ['"quoted" \\ `x`', "two\nlines\ttab", "\x1b\x7f\x85\u202e", "\U000e0041 🙂 ä", "'''", '"""']


@pytest.mark.parametrize("text", TEXTS)
def test_texts_survive_the_export(text: str) -> None:
    (found,) = decisions({}, Ledger((), (replace(DECIDED, question=text),)))["decision"]
    assert found["question"] == text
