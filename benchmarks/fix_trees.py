"""Repairs copies of whole trees, and shows that nothing else happened to them.

    python benchmarks/fix_trees.py TREE... [--unsafe-fixes] [--patches] [--jobs N]

For each tree, in copies deleted afterwards: `--diff` writes nothing; `--fix`, then `python -m compileall`, which
must complain of no file that compiled before; a second `--fix` changes nothing; `git apply --check` takes the diff on a
clean copy, and applying it gives what `--fix` gave. With --patches every patch of the series is checked likewise.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = ("tree", "files", "fixed", "hunks", "--diff s", "--fix s", "again s", "patches", "wrong")


@dataclass(slots=True)
class Row:
    """What is said of one tree; `wrong` are claims that do not hold."""

    tree: str
    files: int = 0
    fixed: str = "0"
    hunks: int = 0
    seconds: list[float] = field(default_factory=list)
    patches: str = "-"
    wrong: list[str] = field(default_factory=list)

    def hold(self, claim: bool, words: str) -> None:
        if not claim:
            self.wrong.append(words)

    def cells(self) -> tuple[str, ...]:
        times = [f"{seconds:.1f}" for seconds in self.seconds]
        wrong = "; ".join(self.wrong) or "nothing"
        return (self.tree, str(self.files), self.fixed, str(self.hunks), *times, self.patches, wrong)


def bwlint(tree: Path, row: Row, *arguments: str) -> str:
    """Run bwlint in a tree; what it says on stderr."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "bwlint", "check", "--exit-zero", "--format", "concise", *arguments, "."]
    done = subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    row.seconds.append(time.perf_counter() - start)
    row.hold(done.returncode == 0, f"{' '.join(arguments)} ends with {done.returncode}: {done.stderr[-300:]}")
    return done.stderr


def git(tree: Path, *arguments: str) -> bool:
    done = subprocess.run(["git", *arguments], cwd=tree, capture_output=True, check=False)
    return done.returncode == 0


def digest(tree: Path) -> dict[str, str]:
    """A hash of every file of a tree, with its mode."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                data = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(tree))] = f"{data} {path.stat().st_mode:o}"
    return found


def uncompiled(tree: Path, cache: Path) -> set[str]:
    """The files that `compileall` complains of."""
    command = [sys.executable, "-m", "compileall", "-q", "-f", "."]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(cache, ignore_errors=True)
    return set(re.findall(r"^\*\*\* .*?'(.+?)'", done.stdout, re.MULTILINE))


def copied(tree: Path, to: Path) -> Path:
    shutil.copytree(tree, to, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    git(to, "init", "-q")
    return to


def checked(tree: Path, scratch: Path, options: list[str], *, patches: bool) -> Row:
    row = Row(tree.name)
    clean, work, diff = copied(tree, scratch / "clean"), copied(tree, scratch / "work"), scratch / "diff"
    before, failing = digest(work), uncompiled(work, scratch / "cache")
    row.files = len(before)
    bwlint(work, row, "--diff", "--output", str(diff), *options)
    row.hold(digest(work) == before, "--diff changed the tree")
    said = bwlint(work, row, "--fix", *options)
    after = digest(work)
    row.fixed = " ".join((re.findall(r"fixed (\d+) findings? (in \d+) file", said) or [["0"]])[0])
    row.hold(uncompiled(work, scratch / "cache") <= failing, "files do not compile any more")
    bwlint(work, row, "--fix", *options)
    row.hold(digest(work) == after, "a second --fix changed the tree")
    row.hold(not any(name.rpartition("/")[2].startswith(".bwlint-") for name in after), "left something behind")
    row.hold(after.keys() == before.keys(), "files came or went")
    data = diff.read_bytes()
    row.hunks = data.count(b"\n@@ ")
    if data:
        row.hold(git(clean, "apply", "--check", str(diff)), "git does not take the diff")
        git(clean, "apply", str(diff))
        row.hold(digest(clean) == after, "the diff is not what --fix does")
        git(clean, "apply", "-R", str(diff))
    if patches:
        check_series(clean, before, row, scratch / "series", options)
    return row


def check_series(clean: Path, before: dict[str, str], row: Row, folder: Path, options: list[str]) -> None:
    bwlint(clean, row, "--fix", "--patches", str(folder), *options)
    row.seconds.pop()
    row.hold(digest(clean) == before, "--patches changed the tree")
    series = sorted(folder.iterdir()) if folder.exists() else []
    alone = sum(git(clean, "apply", "--check", str(path)) for path in series)
    together = sum(git(clean, "apply", str(path)) for path in series)
    row.patches = str(len(series))
    row.hold(alone == len(series), f"{len(series) - alone} patches do not apply alone")
    row.hold(together == len(series), f"{len(series) - together} patches do not apply after others")


def table(rows: Iterable[tuple[str, ...]]) -> str:
    cells = [COLUMNS, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--patches", action="store_true")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--severity", default="warning")
    given = parser.parse_args()
    options = ["--jobs", given.jobs, "--severity", given.severity, *["--unsafe-fixes"] * given.unsafe_fixes]
    rows = []
    for tree in given.trees:
        with tempfile.TemporaryDirectory(prefix="fix-trees-") as scratch:
            rows.append(checked(tree.resolve(), Path(scratch), options, patches=given.patches))
        print(table([rows[-1].cells()]), flush=True)
    print("\n" + table(row.cells() for row in rows))
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
