"""Whether `--fix` does to a tree what `check` announces, and no more: a copy is checked, repaired and checked again.

    python tools/fix_agreement.py TREE [--only FOLDER] [--unsafe-fixes] [--severity note]

Told on stdout: how many fixes were announced and written, what a second run announces, findings that came, files that
do not parse any more, whether the diff and the patches applied to the tree as it was give the same files, and what the
formatters of the tree (if it names one and it is installed) would change that they would not have changed before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

_SETTINGS = (
    *("user.name=somebody", "user.email=some@example.org", "commit.gpgsign=false"),
    *("core.autocrlf=false", "core.safecrlf=false", "gc.auto=0"),
)
_CPP = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp")


@dataclass(frozen=True)
class Trial:
    """A copy of a tree under git, what of it is checked, and with which options."""

    copy: Path
    only: str
    options: tuple[str, ...]

    def bwlint(self, *arguments: str) -> tuple[bytes, str]:
        command = [sys.executable, "-m", "bwlint", "check", "--exit-zero", *self.options, *arguments, self.only]
        done = subprocess.run(command, cwd=self.copy, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.decode(errors='replace')[-2000:]}")
        return done.stdout, done.stderr.decode(errors="replace")

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", *(word for one in _SETTINGS for word in ("-c", one)), *arguments],
            cwd=self.copy,
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"git {' '.join(arguments[:3])}: {done.stderr.decode(errors='replace')[-2000:]}")
        return done.stdout.decode(errors="surrogateescape")

    def findings(self) -> tuple[list[dict[str, object]], str]:
        """All of them, and what the summary says of fixes with the severity that is asked for."""
        said, told = self.bwlint("--format", "json")
        return list(json.loads(said)["findings"]), told

    def content(self) -> dict[str, bytes]:
        """The files that differ from the commit."""
        names = [name for name in self.git("diff", "--name-only", "-z").split("\0") if name]
        return {name: (self.copy / name).read_bytes() for name in names}


def announced(told: str, *, unsafe: bool) -> int:
    numbers = [int(number) for number in re.findall(r"(\d+) (?:fixable|more) with --fix", told)]
    safe = re.search(r"(\d+) fixable with --fix(?! --unsafe)", told)
    return sum(numbers) if unsafe else int(safe[1]) if safe else 0


def written(told: str) -> int:
    return sum(int(number) for number in re.findall(r"^bwlint: fixed (\d+) in", told, re.M))


def came(before: Sequence[dict[str, object]], after: Sequence[dict[str, object]]) -> Counter[tuple[object, ...]]:
    """The findings that were not there, by file, rule, severity and words without numbers of lines."""

    def known(found: Sequence[dict[str, object]]) -> Counter[tuple[object, ...]]:
        return Counter((one["path"], one["rule"], one["severity"], _bare(str(one["message"]))) for one in found)

    return known(after) - known(before)


def _bare(message: str) -> str:
    return re.sub(r":\d+\b|\bline \d+", "", message)


def formatted(trial: Trial, before: dict[str, bytes], after: dict[str, bytes]) -> Iterator[str]:
    """Lines of an edit that the formatter of the tree would write otherwise, where it left the old ones alone."""
    for name, text in after.items():
        command = _formatter(trial.copy, name)
        if command is None:
            continue
        old, new = before[name], text
        wished_old, wished_new = _run(command, old, trial.copy), _run(command, new, trial.copy)
        if wished_old is None or wished_new is None:
            yield f"{name}: {command[0]} cannot read it"
            continue
        touched = _changed(old, new)
        wrong = [line for line in sorted(_changed(wished_new, new)) if line in touched]
        spoilt = _count(old, wished_old) < _count(new, wished_new)
        if wrong or spoilt:
            lines = new.decode(errors="replace").splitlines()
            yield f"{name}: {command[0]} would change " + " | ".join(lines[line] for line in wrong if line < len(lines))


def _formatter(top: Path, name: str) -> list[str] | None:
    path = top / name
    folders = [folder for folder in path.parents if folder == top or top in folder.parents]
    if path.suffix == ".py":
        for folder in folders:
            text = (folder / "pyproject.toml").read_text() if (folder / "pyproject.toml").is_file() else ""
            hooks = folder / ".pre-commit-config.yaml"
            known = hooks.read_text() if hooks.is_file() else ""
            if "[tool.ruff" in text or (folder / "ruff.toml").is_file() or "ruff-format" in known:
                return ["ruff", "format", "--stdin-filename", str(path), "-"]
            if "[tool.black" in text:
                return ["black", "-q", "--stdin-filename", str(path), "-"]
    if path.suffix in _CPP and any((folder / ".clang-format").is_file() for folder in folders):
        return ["clang-format", f"--assume-filename={path}"]
    return None


def _run(command: list[str], text: bytes, where: Path) -> bytes | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    done = subprocess.run([program, *command[1:]], cwd=where, input=text, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _changed(old: bytes, new: bytes) -> set[int]:
    """The lines of the new text (from 0) that are not those of the old one."""
    matcher = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return {line for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for line in range(start, end)}


def _count(one: bytes, other: bytes) -> int:
    return len(_changed(one, other)) + len(_changed(other, one))


def compared(trial: Trial, *, unsafe: bool) -> Iterator[str]:
    leave = ["--unsafe-fixes"] if unsafe else []
    first, told = trial.findings()
    number = announced(told, unsafe=unsafe)
    with tempfile.TemporaryDirectory() as folder:
        series = Path(folder) / "series"
        diff, _ = trial.bwlint("--diff", *leave)
        _, said = trial.bwlint("--fix", *leave, "--patches", str(series), "--format", "concise")
        deferred = sum(int(count) for count in re.findall(r"deferred (\d+) that follow", said))
        assert not trial.content(), "nothing is written by --diff and --patches"
        _, fixed = trial.bwlint("--fix", *leave, "--format", "concise")
        after = trial.content()
        old = {name: trial.git("show", f"HEAD:{name}").encode(errors="surrogateescape") for name in after}
        rest, told = trial.findings()
        yield f"announced {number}, written {written(fixed)}, then announced {announced(told, unsafe=unsafe)}"
        yield from (
            line for line in fixed.splitlines() if "refused" in line or "deferred" in line or "not fixed" in line
        )
        yield from (f"new: {' '.join(map(str, one))}" for one in came(first, rest))
        yield from formatted(trial, old, after)
        trial.git("stash", "-q") if after else None
        if diff:
            trial.git("apply", "--whitespace=nowarn", stdin=diff)
        yield "the diff gives the same files" if trial.content() == after else "THE DIFF GIVES OTHER FILES"
        trial.git("checkout", "-q", ".")
        mails = sorted(map(str, series.glob("*.patch"))) if series.is_dir() else []
        if mails:
            trial.git("am", "-q", "--keep-cr", *mails)
            same = all((trial.copy / name).read_bytes() == text for name, text in after.items())
            yield f"{len(mails)} patches give the same files" if same else f"PATCHES DIFFER ({deferred} deferred)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default=".", help="what of the tree is checked")
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--severity", default="warning")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        copy = Path(folder) / options.tree.resolve().name
        shutil.copytree(options.tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        trial = Trial(copy, options.only, ("--severity", options.severity))
        trial.git("init", "-q")
        trial.git("add", "-A", "-f")
        trial.git("commit", "-q", "-m", "as it was")
        for line in compared(trial, unsafe=options.unsafe_fixes):
            print(line, flush=True)


if __name__ == "__main__":
    main()
