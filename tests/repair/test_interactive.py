"""The dialog, with answers from a list."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest
from repair.trees import GUARD, contents, put

from bwlint.repair.interactive import HELP, Dialog
from bwlint.repair.passes import Repaired, repaired
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

TWO = GUARD + GUARD.replace("import torch\n", "").replace("fast", "second")


class Terminal:
    """Answers that are typed, and what is shown."""

    def __init__(self, answers: Iterable[str]) -> None:
        self.answers = list(answers)
        self.shown = ""

    def read(self, question: str) -> str:
        self.shown += question
        if not self.answers:
            raise EOFError
        return self.answers.pop(0) + "\n"

    def write(self, text: str) -> None:
        self.shown += text


def answered(tree: Path, *answers: str) -> tuple[Repaired, Terminal, dict[str, str]]:
    terminal = Terminal(answers)
    with ExitStack() as stack:
        dialog = Dialog(terminal.read, terminal.write)
        found = repaired(CheckRequest((str(tree),), fixes=True), stack, decide=dialog.decide)
        return found, terminal, {Path(source.file.real).name: source.current for source in found.changed}


WIDE = "[0] != 12:\n"
NOTE = "  # bwlint: ignore[family-split] only GB202"


@pytest.mark.parametrize(
    ("answers", "first", "second", "left"),
    [
        (["a", "a"], WIDE, WIDE, []),
        (["s", "a"], "!= (12, 0):\n", WIDE, []),
        (["a", "q"], WIDE, "!= (12, 0):\n", []),
        (["a"], WIDE, "!= (12, 0):\n", []),
        (["u", "only GB202", "a"], f"!= (12, 0):{NOTE}\n", WIDE, []),
        (["a", "u", "only GB202"], WIDE, f"!= (12, 0):{NOTE}\n", []),
        (["u", "", "a", "s"], WIDE, "!= (12, 0):\n", []),
        (["x", "?", "", "a", "q", "a"], WIDE, "!= (12, 0):\n", ["a"]),
    ],
)
def test_answers(tmp_path: Path, answers: list[str], first: str, second: str, left: list[str]) -> None:
    put(tmp_path, {"a.py": TWO})
    before = contents(tmp_path)
    _, terminal, texts = answered(tmp_path, *answers)
    one, _, two = texts["a.py"].partition("def second")
    assert first in one
    assert second in two
    assert terminal.answers == left
    assert contents(tmp_path) == before


@pytest.mark.parametrize("answers", [["q"], [], ["s", "s"], ["s", "q"]])
def test_nothing_accepted(tmp_path: Path, answers: list[str]) -> None:
    put(tmp_path, {"a.py": TWO})
    found, _, texts = answered(tmp_path, *answers)
    assert texts == {}
    assert found.done == ()


def test_what_is_shown(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": GUARD.replace("fast", "f\u0430st") + "# \x1b[31m\u202e\n"})
    _, terminal, _ = answered(tmp_path, "?", "a")
    for part in (
        f"{tmp_path}/a.py:4:8: family-split: ",
        "(safe)",
        "every chip but 12.x",
        "\n-    if torch",
        "\n+    if",
    ):
        assert part in terminal.shown
    assert HELP in terminal.shown
    assert "\x1b" not in terminal.shown


def test_a_suppressed_place_stays_silent(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": TWO})
    found, _, texts = answered(tmp_path, "u", "only GB202", "u", "neither here")
    assert [done.wish.note for done in found.done] == [True, True]
    assert len(found.outcome.report.suppressed) == 2
    (tmp_path / "a.py").write_text(texts["a.py"])
    with ExitStack() as stack:
        report = check(CheckRequest((str(tmp_path),), severity="note"), stack).report
    assert report.findings == ()
    assert [entry.reason for entry in report.suppressed] == ["only GB202", "neither here"]


def test_a_place_where_no_comment_can_stand(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": GUARD.replace("if torch", "if \\\n torch")})
    _, terminal, texts = answered(tmp_path, "u", "only GB202", "s")
    assert "No comment with that reason can be put at this place." in terminal.shown
    assert texts == {}
