"""Runs over a fleet: what they say, what they keep, and what is lost when something is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fleets import CLEAN, OTHER, SPLIT, began, commit, four_sources, git_that, is_gone, tree, waits, wheel
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from processes import SECONDS, begun
from referencing import Registry, Resource

import bwlint.report
from bwlint import cli
from bwlint.fleet import table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS = (json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("fleet", "findings"))
REGISTRY: Registry[Any] = Registry().with_resource(FINDINGS["$id"], Resource.from_contents(FINDINGS))
PROGRAM = "import sys; from bwlint import cli; sys.argv[0] = 'bwlint'; cli.main()"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, ["fleet", "--state", "state", *arguments], input=stdin, prog_name="bwlint")


def document(*arguments: str) -> dict[str, Any]:
    """The JSON of a run, which follows the schema."""
    loaded: dict[str, Any] = json.loads(invoke(*arguments, "--format", "json").stdout)
    Draft202012Validator(SCHEMA, registry=REGISTRY).validate(loaded)
    return loaded


def begin(folder: Path, state: str, path: str, *more: str) -> subprocess.Popen[bytes]:
    """A run as JSON, one source after the other."""
    arguments = ("--state", str(folder / state), "--format", "json", "--jobs", "1", *more)
    return begun(PROGRAM, "fleet", str(folder / "list.txt"), *arguments, PATH=path)


def written(folder: Path) -> dict[str, int]:
    """What is kept in a folder, with the number of the file: another one where it was written again."""
    return {path.name: path.stat().st_ino for path in folder.glob("source-*")}


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_one_report(here: Path) -> None:
    four_sources(here)
    first = document("list.txt")
    assert [(row["source"].rpartition("/")[2], row["kind"], row["status"]) for row in first["sources"]] == [
        ("fork-1.0-py3-none-any.whl", "wheel", "checked"),
        ("kit", "path", "checked"),
        ("slow", "git", "checked"),
        ("quick@main", "git", "checked"),
    ]
    same, own = first["hazards"]
    assert [(place["source"].rpartition("/")[2], place["path"], place["line"]) for place in same["places"]] == [
        ("fork-1.0-py3-none-any.whl", "fork/deep/a.py", 4),
        ("kit", "kit/a.py", 4),
        ("slow", "slow/a.py", 4),
    ]
    assert (own["places"][0]["path"], own["targets"]) == ("kit/own.py", ["12.1"])
    assert [(page["target"], [row["warnings"] for row in page["sources"]]) for page in first["pages"]] == [
        ("12.0", []),
        ("12.1", [1, 2, 1]),
    ]
    assert str(here) not in json.dumps([row["report"] for row in first["sources"]])
    kept = written(here / "state")
    assert document("list.txt") == {**first, "before": bwlint.__version__}
    again = written(here / "state")
    assert sum(kept[name] != again[name] for name in kept) == 1, "a folder is asked again: the index knows it"


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("SIGTERM", 143, "bwlint: ended by SIGTERM\n"), ("SIGINT", 130, "bwlint: interrupted\n")],
)
def test_no_process_outlives_a_run(name: str, code: int, said: str, here: Path) -> None:
    commit(here / "slow", {"a.py": SPLIT})
    (here / "list.txt").write_text(f"file://{here}/slow\n")
    process = begin(here, "state", git_that(here, waits(here)))
    shim, child = began(here)
    process.send_signal(getattr(signal, name))
    out, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, errors.decode()) == (code, b"", said)
    assert is_gone(shim)
    assert is_gone(child)


def test_a_killed_run_goes_on_where_it_was(here: Path) -> None:
    name = wheel(here, "fork", {"fork/a.py": SPLIT}).name
    commit(here / "slow", {"slow/a.py": SPLIT})
    tree(here / "clean", {"a.py": CLEAN})
    (here / "list.txt").write_text(f"{name}\nfile://{here}/slow\nclean\n")
    path = git_that(here, waits(here))
    process = begin(here, "state", path)
    shim, child = began(here)
    process.kill()
    assert process.communicate(timeout=SECONDS)[0] == b""
    assert is_gone(shim), "git outlives the run"
    assert is_gone(child), "the source's process outlives the run"
    kept = written(here / "state")
    assert len(kept) == 1
    (here / "go").touch()
    again, _ = begin(here, "state", path).communicate(timeout=SECONDS)
    assert kept.items() <= written(here / "state").items(), "the wheel is not read again"
    whole, _ = begin(here, "other", path).communicate(timeout=SECONDS)
    assert [hazard["sources"] for hazard in json.loads(whole)["hazards"]] == [[name, f"file://{here}/slow"]]
    assert again == whole


def test_a_killed_source_is_one_row(here: Path) -> None:
    commit(here / "slow", {"a.py": SPLIT})
    tree(here / "kit", {"a.py": SPLIT})
    (here / "list.txt").write_text(f"file://{here}/slow\nkit\n")
    process = begin(here, "state", git_that(here, "kill -KILL $PPID; exit 1"))
    out, _ = process.communicate(timeout=SECONDS)
    slow, kit = json.loads(out)["sources"]
    assert (process.returncode, slow["status"], kit["status"]) == (2, "failed", "checked")
    assert slow["reason"] == "its process was ended by SIGKILL"


def test_a_source_without_end(here: Path) -> None:
    commit(here / "slow", {"a.py": SPLIT})
    (here / "list.txt").write_text(f"file://{here}/slow\n")
    process = begin(here, "state", git_that(here, waits(here)), "--time-limit", "3")
    out, _ = process.communicate(timeout=SECONDS)
    assert json.loads(out)["sources"][0]["reason"] == "not done after 3 s"
    assert is_gone(began(here)[0])


def test_what_has_changed(here: Path) -> None:
    listed = four_sources(here)
    invoke("list.txt")
    kept = written(here / "state")
    (here / "kit/kit/own.py").write_text(f"# moved down\n{OTHER}")
    (here / "kit/kit/more.py").write_text(SPLIT.replace("12, 0", "12, 1"))
    wheel(here, "fork", {"fork/a.py": CLEAN})
    commit(here / "quick", {"quick/a.py": SPLIT})
    listed.write_text(listed.read_text() + "new")
    tree(here / "new", {"a.py": CLEAN})
    result = invoke("list.txt")
    text = result.stdout[result.stdout.index("since the last run:") :].splitlines()
    assert [line.partition(": warning")[0] for line in text] == [
        "since the last run:",
        "  fork-1.0-py3-none-any.whl:",
        "    - fork/deep/a.py:4:8",
        "  kit:",
        "    + kit/more.py:4:8",
        f"  file://{here}/quick@main:",
        "    + quick/a.py:4:8",
        "  new: new in the list, no findings",
    ]
    assert "; 2 new and 1 gone since the last run" in result.stderr
    again = written(here / "state")
    assert sum(again[name] == kept[name] for name in kept) == 1, "the commit of one is as it was"


def test_a_fresh_run_takes_nothing_that_is_kept(here: Path) -> None:
    name = wheel(here, "fork", {"fork/a.py": CLEAN}).name
    invoke("-", stdin=name)
    kept = written(here / "state")
    invoke("-", stdin=name)
    assert written(here / "state") == kept
    invoke("-", "--fresh", stdin=name)
    assert written(here / "state").keys() == kept.keys()
    assert written(here / "state") != kept


def test_what_fails_is_held_against_the_run_before_that(here: Path) -> None:
    tree(here / "kit", {"a.py": SPLIT})
    invoke("-", stdin="kit")
    (here / "kit").rename(here / "away")
    failing = invoke("-", stdin="kit")
    assert (failing.exit_code, failing.stdout.splitlines()[0]) == (2, "failed kit: no such file or folder")
    (here / "away").rename(here / "kit")
    assert "0 new and 0 gone since the last run" in invoke("-", stdin="kit").stderr


LINES = {
    "clean": "clean\n",
    "split": "kit\n",
    "empty": "nothing\n",
    "all": "kit\nnowhere\n",
}


@pytest.mark.parametrize(
    ("named", "more", "code"),
    [
        ("clean", (), 0),
        ("split", (), 1),
        ("split", ("--fail-on", "error"), 0),
        ("split", ("--severity", "error", "--exit-zero"), 0),
        ("empty", (), 3),
        ("all", ("--exit-zero",), 2),
    ],
)
def test_the_exit_code(named: str, more: tuple[str, ...], code: int, here: Path) -> None:
    tree(here / "kit", {"a.py": SPLIT})
    tree(here / "clean", {"a.py": CLEAN})
    tree(here / "nothing", {"a.txt": ""})
    assert invoke("-", *more, stdin=LINES[named]).exit_code == code


def test_what_cannot_be_read_is_told_and_nothing_else_is_lost(here: Path) -> None:
    commit(here / "kit", {"a.py": SPLIT})
    (here / "broken.whl").write_bytes(b"PK\x03\x04 no more")
    tree(here / "bad", {"pyproject.toml": "[tool.bwlint]\nfrobnicate = 1\n", "a.py": CLEAN})
    lines = ("broken.whl", "nowhere", f"file://{here}/kit@v9", "bad", "file:///nowhere", f"file://{here}/kit")
    (here / "list.txt").write_text("\n".join(lines))
    rows = document("list.txt")["sources"]
    assert [row["reason"].partition(":")[0] for row in rows] == [
        "broken.whl",
        "no such file or folder",
        "file",
        "pyproject.toml",
        "git ls-remote",
        "",
    ]
    assert "frobnicate" in rows[3]["reason"]
    assert "has no branch or tag v9" in rows[2]["reason"]
    assert len(rows[5]["report"]["findings"]) == 1


def test_a_folder_of_markdown(here: Path) -> None:
    tree(here / "a|b", {"x<y>.py": SPLIT})
    tree(here / "two", {"b.py": SPLIT})
    result = invoke("-", "--format", "markdown", "--output", "out/report", stdin="a|b\ntwo\nnowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    pages = {path.name: path.read_text() for path in (here / "out/report").iterdir()}
    assert sorted(pages) == ["12.0.md", "12.1.md", "index.md", "shared.md"]
    assert "| nowhere |  | failed: no such file or folder |" in pages["index.md"]
    assert "| a\\|b | 0 | 1 | 0 | 1 family-split |" in pages["12.1.md"]
    assert "| warning family-split | x\\<y\\>.py:4:8 |" in pages["12.1.md"]
    assert "in 2 sources" in pages["shared.md"]
    assert "no findings" in pages["12.0.md"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing argument 'LIST...'"),
        (("missing.txt",), "missing.txt: No such file or directory"),
        (("bad.txt",), "bad.txt:2: 'x>1' is not the name of a package"),
        (("list.txt", "--target", "sm_999"), "sm_999"),
        (("list.txt", "--select", "nonsense"), "nonsense"),
        (("list.txt", "--format", "markdown"), "name it with --output"),
        (("list.txt", "--format", "markdown", "--output", "list.txt"), "cannot write list.txt"),
        (("list.txt", "--output", "no/where"), "cannot write no/where"),
        (("list.txt", "--state", "list.txt/state"), "cannot keep anything in list.txt/state"),
        (("list.txt", "--scheduler", "tcp://127.0.0.1:1"), "pip install 'bwlint[fleet]'"),
    ],
)
def test_what_is_told_before_anything_is_done(
    arguments: tuple[str, ...], words: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    (here / "list.txt").write_text("kit\n")
    (here / "bad.txt").write_text("kit\npypi:x>1\n")
    result = invoke(*arguments)
    assert (result.exit_code, words in result.stderr, result.stdout) == (2, True, "")
    assert not written(here / "state")


def test_what_no_run_uses_is_not_kept_for_ever(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [wheel(here, name, {f"{name}/a.py": SPLIT}).name for name in ("one", "two", "three", "four")]
    folder = here / "state"
    last: set[str] = set()
    kept: dict[str, set[str]] = {}
    for name in names[:3]:
        invoke("-", stdin=name)
        now = {path.name for path in folder.iterdir()}
        kept[name], last = now - last - {"begun"}, now
    for name, days in zip(names, (100, 50, 40), strict=False):
        for each in kept[name]:
            os.utime(folder / each, (time.time() - days * 86400,) * 2)
    (folder / "source-mine").mkdir()
    (folder / "mine").touch()
    assert invoke("-", stdin=names[2]).exit_code == 1
    there = {path.name for path in folder.iterdir()}
    assert not kept["one-1.0-py3-none-any.whl"] & there, "used longest ago"
    assert kept[names[1]] | kept[names[2]] < there
    monkeypatch.setattr(table, "LIMIT", 0)
    invoke("-", stdin=names[3])
    assert not (kept[names[1]] | kept[names[2]]) & {path.name for path in folder.iterdir()}, "others, beyond the limit"
    assert len(written(folder)) == 2, "what this run used, and what is no file"
    assert (folder / "mine").exists()


def test_a_damaged_state_is_as_good_as_none(here: Path) -> None:
    wheel(here, "kit", {"kit/a.py": SPLIT})
    told = invoke("-", stdin="kit-1.0-py3-none-any.whl").stdout
    for path in (here / "state").iterdir():
        path.write_bytes(path.read_bytes()[:-3])
    again = invoke("-", stdin="kit-1.0-py3-none-any.whl")
    assert (again.exit_code, again.stdout) == (1, told)
    assert "since the last run" not in again.stderr


def test_nothing_of_the_folder_that_one_stands_in_is_imported(here: Path) -> None:
    harm = "raise SystemExit('imported')"
    tree(here, {"json.py": harm, "click.py": harm, "bwlint/__init__.py": harm, "kit/a.py": SPLIT, "kit/json.py": harm})
    (here / "list.txt").write_text("kit\n")
    assert document("list.txt")["sources"][0]["status"] == "checked"
