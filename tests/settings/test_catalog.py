"""The rules' own files: complete, consistent, and with examples that show what they say."""

from __future__ import annotations

import ast
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.data import rules_folder
from bwlint.rules import binary_checks, checks, file_checks, guard_checks
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings import catalog
from bwlint.settings.catalog import Rule, UnknownRule, lookup, resolve, rules


def test_every_check_has_a_rule() -> None:
    names = {rule.name for rule in rules()}
    checked = {rule.name for rule, _ in (*checks(), *file_checks(), *guard_checks(), *binary_checks())}
    assert checked <= names
    assert names - checked == {catalog.UNUSED, catalog.BAD}


def test_codes_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in rules()]
    assert codes == sorted(set(codes))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_rule_is_complete(rule: Rule) -> None:

    assert rule.code.startswith("BW")
    assert len(rule.summary) <= 110
    assert not rule.summary.endswith(".")
    assert language(rule.example) == language(rule.instead)
    assert rule.reported or rule.severity == "note"
    assert len(rule.why) <= 800  # the reason: what is told and what is not stands in the lists
    assert all(len(line) <= 150 for line in (*rule.reported, *rule.note, *rule.silent))


@pytest.mark.parametrize("text", ["BW101", "bw101", "family-split", " Family-Split "])
def test_lookup(text: str) -> None:
    assert lookup(text).code == "BW101"


FIXTURES = Path(__file__).parents[2] / "fixtures"
PRELUDE = "import pytest\nimport torch\nfrom vllm.platforms import current_platform\n\n"


def language(code: str) -> str:
    """The language of an example, told by its looks: the end of its file's name."""
    if "\n.target " in f"\n{code}":
        return "ptx"
    try:
        ast.parse(code)
    except SyntaxError:
        return "cu"
    return "py"


def found(rule: Rule, code: str) -> set[tuple[str, str]]:
    """Names and levels of what is found in an example."""
    if rule.name == "empty-body":
        return _built(code)
    if language(code) != "py":
        return _reported(f"sm120_example.{language(code)}", code)
    name = "tests/test_example.py" if rule.name == "test-gate" else "example.py"
    return _reported(name, PRELUDE + code)


BUILD = """
set(SRCS "example.cu")
cuda_archs_loose_intersection(EXAMPLE_ARCHS "120a;121a" "${CUDA_ARCHS}")
set_gencode_flags_for_srcs(SRCS "${SRCS}" CUDA_ARCHS "${EXAMPLE_ARCHS}")
"""


def _built(code: str) -> set[tuple[str, str]]:
    """What is found in an example that a build file in the same folder compiles for both consumer parts."""
    Path("CMakeLists.txt").write_text(BUILD, encoding="utf-8")
    Path("example.cu").write_text(code + "\n", encoding="utf-8")
    with ExitStack() as stack:
        outcome = check(CheckRequest((".",)), stack)
    return {(finding.name, finding.severity) for finding in outcome.report.findings}


def _reported(name: str, code: str) -> set[tuple[str, str]]:
    with ExitStack() as stack:
        outcome = check(CheckRequest((name,), stdin=(code + "\n").encode()), stack)
    assert outcome.scanned == 1
    return {(finding.name, finding.severity) for finding in outcome.report.findings}


def _of_text() -> list[Rule]:
    """The rules whose examples are text: what binaries alone show is built by the tests of tests/inspection."""
    texts = {*(rule.name for rule, _ in (*checks(), *file_checks(), *guard_checks())), catalog.UNUSED, catalog.BAD}
    return [rule for rule in rules() if rule.name in texts]


@pytest.mark.parametrize("rule", _of_text(), ids=lambda rule: rule.name)
def test_examples_show_what_they_say(rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (rule.name, rule.severity) in found(rule, rule.example)
    better = found(rule, rule.instead)
    assert rule.name not in {name for name, _ in better}
    assert {level for _, level in better} <= {"note"}


def test_the_lists_have_every_level_of_the_fixtures() -> None:
    texts = [path.read_text("utf-8") for path in FIXTURES.rglob("*") if path.is_file()]
    marks = {mark for text in texts for mark in re.findall(r"(error|warning|note): \[([a-z0-9-]+)\]", text)}
    shown = {(level == "note", name) for level, name in marks}
    said = {(False, rule.name) for rule in rules() if rule.reported} | {
        (True, rule.name) for rule in rules() if rule.note
    }
    assert shown <= said


def test_lookup_suggests_the_closest() -> None:
    with pytest.raises(UnknownRule, match=r"unknown rule `famly-split`; did you mean `family-split`\?"):
        lookup("famly-split")
    with pytest.raises(UnknownRule, match=r"unknown rule `bw10l`; did you mean `BW109`\?"):
        lookup("bw10l")


def test_lookup_lists_all_where_nothing_is_close() -> None:
    with pytest.raises(UnknownRule, match="known: unused-suppression, bad-suppression, family-split"):
        lookup("xyzzy")
    with pytest.raises(UnknownRule, match=r"unknown rule `BW9` \(known: unused-suppression, "):
        lookup("BW9")


def test_resolve_takes_commas() -> None:
    assert {rule.name for rule in resolve(["BW101,leak", "message", ""])} == {
        "family-split",
        "leak",
        "message",
    }


def test_known_ids_lead_to_codes() -> None:
    known = catalog.known_ids()
    assert known["leak"] == known["BW102"] == "BW102"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('severity = "warning"', 'severity = "fatal"'),
        ('category = "leak"', 'category = "leek"'),
        ('name = "leak"', 'name = "leek"'),
        ('code = "BW102"', ""),
        ("sources = [", "origins = ["),
        ("silent = [", "quiet = ["),
        ('evidence = ["assembled"', 'evidence = ["dreamt"'),
        ('fix = """\nsafe', 'fix = """\nmaybe'),
        ('    "a bare lower bound', '    "",\n    "a bare lower bound'),
    ],
)
def test_a_broken_file_is_named(old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (rules_folder() / "leak.toml").read_text(encoding="utf-8")
    (tmp_path / "leak.toml").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(catalog, "rules_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"leak\.toml: not a rule"):
        catalog.rules.__wrapped__()
