"""Has bwlint say again what pages of docs/ quote of it.

    python tools/walkthroughs.py [PAGE...]       writes every quotation anew
    python tools/walkthroughs.py --check         writes nothing; exit code 1 and the names of pages that would change
    python tools/walkthroughs.py --from FOLDER   takes clones that lie in this folder instead of cloning them

A quotation is a block below `<!-- bwlint ARGUMENTS -->`, which is all that goes to stdout; with `# WORDS` behind the
arguments it is the one block of that (a finding, a row) of which one of the first two lines has these words.
`<!-- bwlint ARGUMENTS # summary -->` stands before code in a sentence: the line of stderr that counts findings.
Packages come from PyPI, trees of `CLONES` from GitHub. A page of which an input cannot be had is left as it is.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLONES = {"llm-awq": ("https://github.com/mit-han-lab/llm-awq", "d6e797a")}
"""Trees by the name under which commands have them: where they come from, and the commit."""
_MARK = r"<!-- bwlint (?P<args>[^#\n]+?)"
_BLOCK = re.compile(
    _MARK + r"(?: # (?P<part>[^\n]+?))? -->\n(?P<head>```\w*\n(?:\$ [^\n]*\n)?)(?P<text>.*?)```\n", re.DOTALL
)
_SUMMARY = re.compile(_MARK + r" # summary -->`(?P<text>[^`\n]*)`")
_SECONDS = re.compile(r" in [\d.]+ s$")
_COUNTED = re.compile(r"bwlint: (?:no findings|\d)")


class NotHad(Exception):
    """An input, or a part of what is said, that cannot be had; the message says which."""


@dataclass(frozen=True, slots=True)
class Said:
    stdout: str
    stderr: str

    def block(self, words: str | None) -> str:
        """All of stdout, or the one block with these words at its beginning. Raises NotHad."""
        if words is None:
            return self.stdout
        found = [block for block in self.stdout.split("\n\n") if any(words in line for line in block.split("\n")[:2])]
        if len(found) != 1:
            raise NotHad(f"{len(found)} blocks begin with {words!r}, expected one")
        return found[0].rstrip("\n") + "\n"

    @property
    def summary(self) -> str:
        line = next((line for line in self.stderr.splitlines() if _COUNTED.match(line)), "")
        if not line:
            raise NotHad(f"no summary in {self.stderr!r}")
        return _SECONDS.sub("", line)


def commands(page: str) -> set[str]:
    """The arguments of what a page quotes."""
    return {found["args"] for pattern in (_BLOCK, _SUMMARY) for found in pattern.finditer(page)}


def rewritten(page: str, say: Callable[[str], Said]) -> str:
    """A page with its quotations as `say` says them now. Raises NotHad."""

    def block(found: re.Match[str]) -> str:
        return found[0].replace(
            f"{found['head']}{found['text']}```", f"{found['head']}{say(found['args']).block(found['part'])}```"
        )

    def summary(found: re.Match[str]) -> str:
        return found[0].replace(f"`{found['text']}`", f"`{say(found['args']).summary}`")

    return _SUMMARY.sub(summary, _BLOCK.sub(block, page))


def is_at_hand(arguments: str) -> bool:
    """Whether all that a command reads lies in this repository."""
    words = shlex.split(arguments)[1:]
    paths = [word for word in words if "/" in word]
    there = bool(paths) and all((ROOT / path).exists() for path in paths)
    return there and not CLONES.keys() & {*words} and not any(word.startswith("pypi:") for word in words)


def said(arguments: str, folder: Path) -> Said:
    """What bwlint says in the repository, or in a folder with the trees that are not part of it. Raises NotHad."""
    words = shlex.split(arguments)
    for name in CLONES.keys() & {*words}:
        _clone(name, folder)
    command = [sys.executable, "-m", "bwlint", *words]
    done = subprocess.run(command, cwd=folder if CLONES.keys() & {*words} else ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise NotHad(done.stderr.strip().splitlines()[-1])
    return Said(done.stdout, done.stderr)


def _clone(name: str, folder: Path) -> None:
    if (folder / name).is_dir():
        return
    where, commit = CLONES[name]
    for step in (["clone", "--quiet", where, name], ["-C", name, "checkout", "--quiet", commit]):
        done = subprocess.run(["git", *step], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise NotHad(f"git {step[0]} of {where}: {done.stderr.strip()}")


def renewed(pages: Iterable[Path], say: Callable[[str], Said], *, check: bool) -> int:
    """Write the pages anew that have changed, or name them; the exit code."""
    code = 0
    for page in pages:
        before = page.read_text("utf-8")
        try:
            after = rewritten(before, say)
        except NotHad as error:
            print(f"{page}: left as it is: {error}", file=sys.stderr)
            code = 1
            continue
        if after == before:
            continue
        print(f"{page} is stale: python tools/walkthroughs.py" if check else f"{page} written")
        if check:
            code = 1
        else:
            page.write_text(after, "utf-8")
    return code


def quoting() -> list[Path]:
    """The pages that quote what bwlint says."""
    return [page for page in sorted((ROOT / "docs").rglob("*.md")) if commands(page.read_text("utf-8"))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all of docs/ that quote something")
    parser.add_argument("--check", action="store_true", help="write nothing and say what would change")
    parser.add_argument("--from", dest="folder", type=Path, help="a folder with clones")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        say = cache(partial(said, folder=(options.folder or Path(scratch)).resolve()))
        return renewed(options.pages or quoting(), say, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
