"""What a run tells of how far it is, and what a terminal shows of that."""

from __future__ import annotations

import io
import sys
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.commands import progress as showing
from bwlint.model.progress import quiet
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

SPLIT = "import torch\n\nif torch.cuda.get_device_capability() == (12, 0):\n    raise RuntimeError('no')\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("files", "fixes", "last"), [(50, False, "telling"), (1, True, "proving fixes")])
def test_each_part_of_a_run_is_told_to_its_end(files: int, fixes: bool, last: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "kit-1.0-py3-none-any.whl", "w") as archive:
        for number in range(files):
            archive.writestr(f"kit/m{number}.py", SPLIT)
    told: dict[str, list[tuple[int, int]]] = {}
    with ExitStack() as stack:
        paths = (str(tmp_path / "kit-1.0-py3-none-any.whl"),)
        request = CheckRequest(paths, jobs=2, fixes=fixes)
        check(request, stack, lambda what, done, total: told.setdefault(what, []).append((done, total)))
    assert list(told) == ["unpacking", "reading", "reading binaries", "judging", last]
    for what in ("reading", "judging"):
        assert (told[what][0], told[what][-1]) == ((0, files), (files, files))


def test_a_terminal_shows_each_part_by_name_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(100, 1000, 2))
    drawn: list[str] = []

    def draw(what: str) -> tuple[Drawn, None]:
        drawn.append(what)
        return Drawn(drawn), None

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    monkeypatch.setattr(showing, "_draw", draw)
    with showing.progress() as advance:
        for call in (("downloading", 0, 0), ("reading", 0, 3000), ("reading", 1500, 3000), ("inspecting", 3, 0)):
            advance(*call)
    downloading, reading = ["downloading", "", "over"], ["reading", "1,500 of 3,000, 750 a second", "over"]
    assert drawn == [*downloading, *reading, "inspecting", "3, 3,000 a second", "over"]


class Drawn:
    """A bar that writes down what it is told."""

    def __init__(self, told: list[str]) -> None:
        self.told = told

    def update(self, task: object, *, completed: int, total: int | None, counts: str) -> None:
        self.told.append(counts)

    def stop(self) -> None:
        self.told.append("over")


def test_a_pipe_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with showing.progress() as advance:
        assert advance is quiet
        advance("reading", 1, 2)
    assert capsys.readouterr().err == ""
