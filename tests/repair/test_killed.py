"""A repair that is killed before each thing that it does to the disk: the next run ends what it has begun."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import SECONDS, begun, line
from repair.trees import GUARD, contents, put

from bwlint import cli
from bwlint.repair.write import left_behind, recovered

FILES = 4
KILLED = """
import os, signal, sys
from bwlint.repair import write as writing
from bwlint.repair.write import Replacement, write

together = [Replacement(name, b"old\\n", b"new\\n") for name in sys.argv[1:]]
groups = [together[:1], together[1:]]


def counted(call):
    def killing(*arguments, **options):
        global left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*arguments, **options)
    return killing


check, foreign = writing._refusal, os.environ.get("FOREIGN")


def meanwhile(item):
    # somebody writes into the last file once those before it are replaced
    if item.real == foreign and open(together[1].real, "rb").read() == b"new\\n":
        open(foreign, "wb").write(b"mine\\n")
    return check(item)


writing._refusal = meanwhile
for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if not child:
        for name in ("chmod", "fsync", "fstat", "replace", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        write(groups)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
OLD, NEW = ({f"m{number}.py": text for number in range(FILES)} for text in (b"old\n", b"new\n"))
Killed = Callable[[int], bool]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "tree"


@pytest.fixture
def killed(tree: Path, request: pytest.FixtureRequest) -> Iterator[Killed]:
    """Whether a run that replaces the files of the tree does so many things to the disk; it is killed at the next."""
    foreign = {"FOREIGN": str(tree / "m3.py")} if getattr(request, "param", False) else {}
    with begun(KILLED, *(str(tree / name) for name in OLD), **foreign) as process:

        def at(moment: int) -> bool:
            shutil.rmtree(tree, ignore_errors=True)
            put(tree, OLD)
            assert process.stdin is not None
            process.stdin.write(b"%d\n" % moment)
            process.stdin.flush()
            return int(line(process)) == -9

        yield at
        assert process.communicate(timeout=SECONDS)[1] == b""


def test_files_of_one_fix_are_all_old_or_all_new(tree: Path, killed: Killed) -> None:
    outcomes = []
    for moment in range(100):
        if not killed(moment):
            break
        before = contents(tree)
        ended = [one.real for left in left_behind([str(tree)]) for one in recovered(left) if one.how == "fixed"]
        after = contents(tree)
        assert after.keys() == OLD.keys(), "nothing lies beside them"
        assert {after[name] for name in list(OLD)[1:]} in ({b"old\n"}, {b"new\n"})
        assert {Path(real).name for real in ended} == {name for name in OLD if before[name] != after[name]}
        outcomes.append(len(ended))
    assert contents(tree) == NEW
    assert {0, 1, 2} == set(outcomes), "some were killed between two files of a fix"


@pytest.mark.parametrize("killed", [True], indirect=True)
def test_a_run_that_is_killed_while_it_takes_back(tree: Path, killed: Killed) -> None:
    outcomes = set()
    for moment in range(100):
        if not killed(moment):
            break
        put(tree, {"m3.py": b"old\n"})
        ended = [(Path(one.real).name, one.how) for left in left_behind([str(tree)]) for one in recovered(left)]
        after = contents(tree)
        assert after.keys() == OLD.keys(), "nothing lies beside them"
        assert len({after[name] for name in ("m1.py", "m2.py", "m3.py")}) == 1
        outcomes |= {how for _, how in ended}
    assert contents(tree) == {**OLD, "m0.py": b"new\n", "m3.py": b"mine\n"}
    assert outcomes == {"fixed", "put back"}


def half(tree: Path, killed: Killed) -> None:
    """Have a run be killed when it has replaced the first of three files that a fix changes."""
    for moment in range(100):
        assert killed(moment)
        if contents(tree)["m1.py"] == b"new\n":
            return
        list(left_behind([str(tree)]))


def test_the_next_run_says_so(tree: Path, killed: Killed, capsys: pytest.CaptureFixture[str]) -> None:
    half(tree, killed)
    put(tree.parent, {"other/a.py": "x = 1\n"})
    cli.run([str(tree.parent / "other")])
    assert contents(tree)["m3.py"] == b"old\n", "a run on something else leaves it alone"
    capsys.readouterr()
    cli.run([str(tree)])
    said = capsys.readouterr().err
    for name in ("m2.py", "m3.py"):
        assert f"{tree / name}: fixed now; an earlier run was killed within this fix\n" in said
    assert contents(tree) == NEW


@pytest.mark.parametrize(("name", "told"), [("m1.py", []), ("m3.py", ["m2.py"])])
def test_what_somebody_has_changed_since_stays(name: str, told: list[str], tree: Path, killed: Killed) -> None:
    half(tree, killed)
    put(tree, {name: b"mine\n"})
    before = {name: contents(tree)[name] for name in OLD}
    ended = [(Path(one.real).name, one.how) for left in left_behind([str(tree)]) for one in recovered(left)]
    assert ended == [(name, "lost") for name in told]
    assert contents(tree) == before


def test_without_a_place_for_the_journal_files_are_replaced_all_the_same(tree: Path) -> None:
    put(tree.parent, {"tree/m.py": GUARD, "state": b"a file"})
    assert cli.run(["--fix", str(tree)]) == 0
    assert b"[0] != 12" in contents(tree)["m.py"]
