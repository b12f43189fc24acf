"""Programs in turns."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml
from timing import words
from timing.contestants import RULES, Contestant, in_turns, others
from timing.figures import Timing
from timing.tools import Absent, Tool
from timing.trees import seen

from bwlint.readers import KINDS, reader
from bwlint.settings.catalog import rules
from bwlint.sources.kinds import kind_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOG = "import sys; open('log', 'a').write(sys.argv[1]); sys.exit(int(sys.argv[2]))"


def contestant(name: str, folder: Path, code: int = 0, rounds: int | None = None) -> Contestant:
    return Contestant(name, (sys.executable, "-c", LOG, name, str(code)), folder, rounds=rounds)


def test_programs_take_turns(tmp_path: Path) -> None:
    prepared: list[int] = []
    first = Contestant("a", (sys.executable, "-c", LOG, "a", "0"), tmp_path, prepare=prepared.append)
    timings = in_turns([first, contestant("b", tmp_path), contestant("c", tmp_path, rounds=2)], 3, lambda _: None)
    assert (tmp_path / "log").read_text() == "abcabcab"
    assert [len(one.runs) for one in timings] == [3, 3, 2]
    assert prepared == [0, 1, 2]


def test_who_fails_is_out_with_a_reason_and_the_others_go_on(tmp_path: Path) -> None:
    told: list[str] = []
    bad, good = in_turns([contestant("bad", tmp_path, code=2), contestant("good", tmp_path)], 2, told.append)
    assert (bad.runs, bad.reason) == ((), "ended with 2: without a word")
    assert (len(good.runs), good.reason) == (2, "")
    assert (tmp_path / "log").read_text() == "badgoodgood"
    assert "bad: ended with 2: without a word" in told


def test_who_is_not_there_is_a_row_with_a_reason(tmp_path: Path) -> None:
    tools: list[Tool | Absent] = [Absent("semgrep", "not installed"), Tool("ruff", "/bin/ruff", "1")]
    absent, ruff = others(tools, seen("tree", tmp_path), tmp_path)
    assert absent == Timing("semgrep", reason="not installed")
    assert isinstance(ruff, Contestant)
    assert ruff.command[0] == "/bin/ruff"
    assert in_turns([absent], 2, lambda _: None) == (absent,)


def test_the_three_rules_are_rules_and_named_as_ours() -> None:
    found = {path.stem: yaml.safe_load(path.read_text("utf-8"))["rules"] for path in RULES.glob("*.yaml")}
    assert found.keys() == {"arch-target", "family-split", "leak"} <= {rule.name for rule in rules()}
    for name, (rule,) in found.items():
        assert rule.keys() - {"paths"} == {"id", "languages", "severity", "message", "patterns"}
        assert rule["id"] == name
        for given in re.findall(r"regex: '(.*)'", (RULES / f"{name}.yaml").read_text("utf-8")):
            re.compile(given)


FILES = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file() and kind_of(path.name) in KINDS]


def test_the_words_find_the_files_that_matter() -> None:
    """What only an expression tells (`cc >= 100`) is not for a search for words."""
    search = re.compile("|".join(words.expressions()), re.MULTILINE)
    matter = [path for path in FILES if reader(str(kind_of(path.name))).may_matter(path.read_bytes(), frozenset())]
    missed = [path for path in matter if not search.search(path.read_text("utf-8", "replace"))]
    assert len(missed) < len(matter) / 50


def test_the_words_are_expressions_of_ripgrep_too() -> None:
    """It refuses an escape that means nothing."""
    assert set(re.findall(r"\\(.)", "".join(words.expressions()))) <= set(".^$*+?{}()|[]\\")
