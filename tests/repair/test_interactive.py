"""The dialog, with answers from a list."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from select import select

import pytest
from processes import SECONDS
from repair.trees import GUARD, contents, put

from bwlint import fix as fixing
from bwlint.fix import Job, ways
from bwlint.model.findings import Edit, Fix, NoFix, Region
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


def answered(tree: Path, *answers: str, ways: bool = False) -> tuple[Repaired, Terminal, dict[str, str]]:
    terminal = Terminal(answers)
    with ExitStack() as stack:
        dialog = Dialog(terminal.read, terminal.write)
        request = CheckRequest((str(tree),), fixes=True, ways=ways)
        found = repaired(request, stack, unsafe=ways, decide=dialog.decide)
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
        "the check is true on: every chip but 12.0; then: every chip but 12.x",
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
    assert "This place takes no comment with that reason." in terminal.shown
    assert texts == {}


BOUND = """import torch
from sgl_kernel import flash_mla_with_kvcache


def attend(q):
    if torch.cuda.get_device_capability()[0] >= 10:
        return flash_mla_with_kvcache(q)
    return plain(q)
"""


def test_of_several_ways_one_is_chosen(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": BOUND, "b.py": BOUND.replace("attend", "another")})
    _, terminal, texts = answered(tmp_path, "a", "1", "2", ways=True)
    told = terminal.shown
    for part in (
        "1  Keep 11.0 and newer out: write `torch.cuda.get_device_capability()[0] == 10` (unsafe)",
        "   11.0 and newer: holds now, then does not hold\n",
        "2  Keep 12.x out: write `torch.cuda.get_device_capability()[0] in (10, 11)` (unsafe)",
        "   11.0 only: holds, as now\n   12.x: holds now, then does not hold\n",
        "Which fix? [1] [2], [s]kip, s[u]ppress this place, [q]uit, [?] ",
        HELP,
    ):
        assert part in told
    assert "[0] == 10:" in texts["a.py"]
    assert "[0] in (10, 11):" in texts["b.py"]


def test_a_way_that_is_not_open_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.py": BOUND})
    elsewhere = Edit(str(tmp_path / "gone.py"), Region(1, 1, 1, 1), "#")

    def with_another(job: Job, usual: Fix | NoFix) -> tuple[Fix, ...]:
        first, *others = ways(job, usual)
        return (first, *(replace(fix, edits=(*fix.edits, elsewhere)) for fix in others))

    monkeypatch.setattr(fixing, "ways", with_another)
    _, terminal, texts = answered(tmp_path, "a", ways=True)
    assert "Which fix?" not in terminal.shown
    assert "[0] == 10:" in texts["a.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")
def test_at_a_terminal(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": BOUND, "b.py": TWO})
    here, there = os.openpty()
    command = [sys.executable, "-m", "bwlint", "check", "--fix", "--interactive", "--exit-zero", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=there, stderr=there, stdout=subprocess.PIPE, env=environment) as process:
        os.close(there)
        try:
            told = "".join(answering(here, answer) for answer in ("?", "a", "u", "GB202 alone", "2"))
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()
            os.close(here)
    assert HELP.splitlines()[1] in told
    assert "Which fix? [1] [2]" in told
    after = contents(tmp_path)
    assert b"[0] in (10, 11):" in after["a.py"]
    assert b"[0] != 12:" in after["b.py"]
    assert after["b.py"].count(b"# bwlint: ignore[family-split] GB202 alone") == 1


def answering(terminal: int, answer: str) -> str:
    """What a terminal shows up to the next question, which is answered."""
    told = b""
    while not told.endswith((b"[?] ", b"back) ")):
        assert select([terminal], [], [], SECONDS)[0], told.decode()
        told += os.read(terminal, 4096)
    os.write(terminal, answer.encode() + b"\n")
    return told.decode()
