"""Whether `--fix` does to a tree what `check` announces, and no more: a copy is checked, repaired and checked again.

    python tools/fix_agreement.py TREE [FOLDER...] [--unsafe-fixes] [--port] [--severity note]

Told on stdout: how many fixes were announced and written, what a second run announces, findings that came, whether the
diff and the patches applied to the tree as it was give the same files, and what the formatters of the tree (if it names
one and it is installed) would change that they would not have changed before.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from bwlint.fix.edited import apply
from bwlint.model.findings import SEVERITIES, Finding
from bwlint.port import port
from bwlint.repair.passes import groups, repaired
from bwlint.repair.patches import port_series as patches_of_port
from bwlint.repair.patches import series
from bwlint.repair.plan import NEEDS_LEAVE
from bwlint.repair.write import write
from bwlint.report.summary import summary
from bwlint.run.check import check
from bwlint.run.request import CheckRequest, Outcome
from bwlint.sources.texts import Texts

_SETTINGS = (
    *("user.name=somebody", "user.email=some@example.org", "commit.gpgsign=false"),
    *("core.autocrlf=false", "core.safecrlf=false", "gc.auto=0"),
)
_NUMBER = re.compile(r":\d+\b|\bline \d+")
_CPP = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp")


@dataclass(frozen=True)
class Trial:
    """A copy of a tree under git, and what of it is checked."""

    copy: Path
    request: CheckRequest
    unsafe: bool

    def git(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        command = ["git", *(word for one in _SETTINGS for word in ("-c", one)), *arguments]
        done = subprocess.run(command, cwd=self.copy, input=stdin, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"git {' '.join(arguments[:3])}: {done.stderr.decode(errors='replace')[-2000:]}")
        return done.stdout

    def content(self) -> dict[str, bytes]:
        """The files that differ from the commit."""
        names = [name for name in os.fsdecode(self.git("diff", "--name-only", "-z", "start")).split("\0") if name]
        return {name: (self.copy / name).read_bytes() for name in names}

    def announced(self, outcome: Outcome) -> int:
        """What the summary of a run says that can be fixed."""
        told = summary(outcome.report, outcome.severity)
        safe = re.search(r"(\d+) fixable with --fix(?! --unsafe)", told)
        more = re.search(r"(\d+) (?:fixable|more) with --fix --unsafe-fixes", told)
        return sum(int(match[1]) for match in (safe, more if self.unsafe else None) if match)


def came(before: Sequence[Finding], after: Sequence[Finding]) -> Counter[tuple[str, ...]]:
    """The findings that were not there, by file, rule, severity and words without numbers of lines."""

    def known(found: Sequence[Finding]) -> Counter[tuple[str, ...]]:
        return Counter(
            (one.path, one.name, one.severity, re.sub(r":\d+\b|\bline \d+", "", one.message)) for one in found
        )

    return known(after) - known(before)


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


def compared(trial: Trial) -> Iterator[str]:
    with ExitStack() as stack:
        found = repaired(trial.request, stack, unsafe=trial.unsafe)
        number, before = trial.announced(found.before), found.before.report.findings
        yield f"{len(before)} findings; announced {number}, fixed {len(found.done)} in {found.passes} passes"
        yield from (f"left: {_told(one.finding)}: {one.reason}" for one in found.refused if one.reason != NEEDS_LEAVE)
        yield from (f"unasked: {_told(one.wish.finding)}" for one in found.done if not one.seen_at_first)
        parts = ((source, os.path.relpath(source.file.real, trial.copy)) for source in found.changed)
        diff = b"".join(source.diff(name, source.blocks) for source, name in parts)
        mails = series(found)
        problems = write(groups(found))
    yield from (f"not written: {problem.real}: {problem.reason}" for problem in problems)
    after = trial.content()
    old = {name: trial.git("show", f"start:{name}") for name in after}
    with ExitStack() as stack:
        rest = check(trial.request, stack)
    yield f"then announced {trial.announced(rest)}"
    yield from (f"new: {' '.join(one)}" for one in came(before, rest.report.findings))
    yield from formatted(trial, old, after)
    if not after:
        return
    trial.git("checkout", "-q", ".")
    trial.git("apply", "--whitespace=nowarn", stdin=diff)
    yield "the diff gives the same files" if trial.content() == after else "THE DIFF GIVES OTHER FILES"
    trial.git("checkout", "-q", ".")
    trial.git("am", "-q", "--keep-cr", stdin=b"".join(mails.patches.values()))
    same = "give the same files" if trial.content() == after else "GIVE OTHER FILES"
    yield f"{len(mails.patches)} patches {same}; {mails.later} fixes only follow from them"


def ported(trial: Trial, only: Sequence[str]) -> Iterator[str]:
    """Whether the patches of `port` apply one after the other, and give what all its edits give."""
    trial.git("checkout", "-q", "--force", "start")
    with ExitStack() as stack:
        found = port(tuple(str(trial.copy / one) for one in only), "12.1", jobs=1, stack=stack)
    edits = [edit for step in found.steps if step.fix for edit in step.fix.edits]
    paths = {edit.path for edit in edits}
    wished = {path: apply(Texts().source(path) or "", (one for one in edits if one.path == path)) for path in paths}
    made = patches_of_port([step for step in found.steps if step.fix], found.files)
    for mail in made.patches.values():
        trial.git("am", "-q", "--keep-cr", stdin=mail)
    differ = [path for path, text in wished.items() if Texts().source(path) != text]
    yield f"port: {len(made.patches)} patches apply, {made.later} deferred; {len(differ)} files are not as wished"


def _told(finding: Finding) -> str:
    return f"{finding.path}:{finding.region.line}: {finding.name}: {finding.message}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("only", nargs="*", default=["."], help="what of the tree is checked")
    parser.add_argument("--unsafe-fixes", action="store_true")
    parser.add_argument("--port", action="store_true", help="the patches of `port` too")
    parser.add_argument("--severity", default="warning", choices=SEVERITIES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / options.tree.resolve().name
        shutil.copytree(options.tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        paths = tuple(str(copy / one) for one in options.only)
        trial = Trial(copy, CheckRequest(paths, severity=options.severity, fixes=True, jobs=1), options.unsafe_fixes)
        trial.git("init", "-q")
        trial.git("add", "-A", "-f")
        trial.git("commit", "-q", "-m", "as it was")
        trial.git("branch", "start")
        for line in compared(trial):
            print(line.replace(f"{copy}/", ""), flush=True)
        for line in ported(trial, options.only) if options.port else ():
            print(line, flush=True)


if __name__ == "__main__":
    main()
