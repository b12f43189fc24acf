"""A repair that is killed, at fifty moments: every file is old or new."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from repair.trees import GUARD, contents, put

from bwlint import cli

MOMENTS = 50
FILES = 40
PROGRAM = """
import os, sys
from contextlib import ExitStack
from bwlint.run.request import CheckRequest
from bwlint.commands.check import _written
from bwlint.repair.passes import repaired

with ExitStack() as stack:
    found = repaired(CheckRequest((sys.argv[1],), jobs=1, fixes=True), stack)
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(len(_written(found)))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("over", flush=True)
"""


def text(number: int) -> bytes:
    return (GUARD.replace("fast", f"fast{number}") + f"# {number} \u00e9\n" * 40).replace("\n", "\r\n").encode()


def program(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def asked(process: subprocess.Popen[str]) -> int:
    """Begins to write in a process of its own; its id."""
    assert process.stdin is not None
    process.stdin.write("write\n")
    process.stdin.flush()
    return int(said(process))


def state(tree: Path, old: dict[str, bytes], new: dict[str, bytes]) -> int:
    """The number of files that are new; fails if one is neither old nor new."""
    found = contents(tree)
    changed = sum(found[name] == new[name] for name in old)
    assert changed + sum(found[name] == old[name] for name in old) == FILES
    left = found.keys() - old.keys()
    assert all(name.startswith(".bwlint-") for name in left)
    assert len(left) <= 1
    return changed


def test_every_file_is_old_or_new(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    old = {f"m{number}.py": text(number) for number in range(FILES)}
    put(tree, old)
    drawn, partly = random.Random(6), 0
    with program("-c", PROGRAM, str(tree)) as process:
        assert said(process) == "ready\n"
        asked(process)
        began = time.monotonic()
        assert said(process) == "over\n"
        took = time.monotonic() - began
        new = contents(tree)
        assert all(new[name] != old[name] for name in old)
        for _ in range(MOMENTS):
            put(tree, old)
            child = asked(process)
            time.sleep(drawn.uniform(0, took))
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            assert said(process) == "over\n"
            partly += 0 < state(tree, old, new) < FILES
        assert process.stdin is not None
        process.stdin.close()
    assert partly > 5, "the moments missed the writing"
    assert cli.run(["--fix", str(tree)]) == 0
    assert contents(tree) == new, "the next run ends the work and cleans up"


@pytest.mark.parametrize("seconds", [0.1, 0.8, 2.0])
def test_the_whole_program(tmp_path: Path, seconds: float) -> None:
    put(tmp_path, {f"m{number}.py": text(number) for number in range(FILES)})
    old = contents(tmp_path)
    with program("-m", "bwlint", "--fix", "--jobs", "1", str(tmp_path)) as process:
        time.sleep(seconds)
        process.kill()
    for name, data in old.items():
        found = (tmp_path / name).read_bytes()
        assert found in (data, data.replace(b"() != (12, 0)", b"()[0] != 12"))
