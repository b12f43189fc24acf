"""Guards of the preprocessor, side by side: for which targets bwlint says that a side compiles, and what gcc keeps.

    python tools/guard_agreement.py [--first N] [--include FOLDER]... [--define MACRO]... PATH...

Every guard of a tree that reads the compile target gets a marker behind its directive, in a copy of its file, and every
file with such guards is run through the preprocessor for each target, by the command that nvcc itself has for device
code. A header that is nowhere is empty. Guards that differ are printed, then the counts: a guard is compared on those
targets for which bwlint says that its side compiles, or does not, whatever nobody knows. `--define` names macros to
which the build of the tree gives the number of the target.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bwlint.chips import TargetSet
from bwlint.model.facts import Gate, Module
from bwlint.run.engine import linked
from bwlint.run.gather import gather
from bwlint.run.request import CheckRequest
from bwlint.world.budget import Budget
from bwlint.world.tree import Tree

ASKED = ("80", "86", "89", "90", "90a", "100a", "100f", "103a", "120", "120a", "120f", "121", "121a")
MARKER = "bwlint_guard_"
MOST_MISSING = 40
"""How many headers of one file may be made empty."""
_MISSING = re.compile(r"fatal error: (.+?): No such file or directory")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.M)
_GIVEN = ("-include", "cuda.h", "-DUSE_CUDA=1", "-w", "-P", "-fdirectives-only")
"""What the table of macros takes for granted: the version of the toolkit, and PyTorch built for CUDA."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A guard: the targets for which its side may compile, and those for which it does."""

    gate: Gate
    may: TargetSet
    must: TargetSet

    def says(self, target: str) -> bool | None:
        one = TargetSet.of(target)
        if one <= self.must:
            return True
        return None if one <= self.may else False


@dataclass(slots=True)
class Preprocessor:
    """The commands of nvcc for device code, by target, and the folders of a tree that its includes start from."""

    folders: Sequence[str]
    scratch: Path
    defines: Sequence[str]
    commands: dict[str, list[str]] = field(default_factory=dict)

    def kept(self, text: bytes, beside: Path, target: str) -> set[int] | None:
        """The markers that are left of a file; None where gcc does not get through it."""
        (self.scratch / "empty").mkdir(exist_ok=True)
        given = [f"-D{name}={re.sub('[a-z]', '', target)}" for name in self.defines]
        command = [*self._command(target), *_GIVEN, *given, f"-iquote{beside}", *self.folders]
        command += [f"-idirafter{self.scratch / 'empty'}", "-"]
        for _ in range(MOST_MISSING):
            ran = subprocess.run(command, input=text, capture_output=True, timeout=120)
            missing = _MISSING.search(ran.stderr.decode("utf-8", "replace"))
            if missing is None:
                return {int(found) for found in re.findall(rf"{MARKER}(\d+)".encode(), ran.stdout)}
            if missing[1].startswith("/") or ".." in missing[1]:
                return None
            empty = self.scratch / "empty" / missing[1]
            empty.parent.mkdir(parents=True, exist_ok=True)
            empty.touch()
        return None

    def _command(self, target: str) -> list[str]:
        if target not in self.commands:
            self.commands[target] = _of_nvcc(target, self.scratch)
        return self.commands[target]


def _of_nvcc(target: str, scratch: Path) -> list[str]:
    """The last command of nvcc's that preprocesses for a target, without what it reads and writes."""
    source = scratch / "asked.cu"
    source.touch()
    ran = subprocess.run(
        ["nvcc", f"-arch=sm_{target}", "-c", "--dryrun", str(source)], capture_output=True, text=True, check=True
    )
    lines = [line[3:] for line in ran.stderr.splitlines() if " -E " in line and "-D__CUDA_ARCH__=" in line]
    words = shlex.split(lines[-1])
    return [word for word in words[: words.index("-o")] if word != str(source)]


def _start_folders(files: Sequence[Path]) -> list[str]:
    """The folders from which the includes of a tree are found, where one file alone ends like an include."""
    ending: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        ending[file.name].append(file)
    found: Counter[Path] = Counter()
    for file in files:
        for text in {match.decode("utf-8", "replace") for match in _INCLUDE.findall(file.read_bytes())}:
            parts = Path(text).parts
            fits = [one for one in ending.get(Path(text).name, ()) if one.parts[-len(parts) :] == parts]
            if len(fits) == 1:
                found[fits[0].parents[len(parts) - 1]] += 1
    return [f"-I{folder}" for folder, _ in found.most_common()]


def _marked(data: bytes, guards: Sequence[Gate]) -> bytes:
    """A file with a marker behind the directive of each guard."""
    lines = data.split(b"\n")
    for number, guard in sorted(enumerate(guards), key=lambda one: -one[1].at[2]):
        last = guard.at[2] - 1
        while lines[last].rstrip(b"\r").endswith(b"\\") and last + 1 < len(lines):
            last += 1
        lines.insert(last + 1, f"{MARKER}{number}".encode())
    return b"\n".join(lines)


def _claims(tree: Tree, module: Module) -> list[Claimed]:
    found = []
    for guard in module.guards:
        if tree.target_sets(module, guard) is not None:
            path = (*guard.path, guard.test)
            found.append(Claimed(guard, tree.compiled(module, path), tree.surely_compiled(module, path)))
    return found


def compare(
    path: str, include: Sequence[str] = (), defines: Sequence[str] = (), first: int | None = None
) -> Iterator[tuple[str, Claimed, dict[str, bool]]]:
    """Guards of a tree with what the preprocessor keeps of each, by target; nothing for a file that it cannot read."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        gathered = gather(CheckRequest((path,)), stack)
        tree = linked(gathered.collected, gathered.sources, Budget()).tree
        modules = [(module, _claims(tree, module)) for _, module in gathered.collected.modules]
        asking = [(module, claims) for module, claims in modules if module.language == "cuda" and claims]
        starts = _start_folders([Path(file.real) for file in gathered.found.files])
        run = Preprocessor([*starts, *(f"-I{one}" for one in include)], Path(folder), defines)
        for module, claims in islice(asking, first):
            text = _marked(Path(module.path).read_bytes(), [one.gate for one in claims])
            kept = {target: run.kept(text, Path(module.path).parent, target) for target in ASKED}
            for number, claimed in enumerate(claims):
                yield module.path, claimed, {name: number in left for name, left in kept.items() if left is not None}


def main(arguments: Sequence[str]) -> int:
    """Print what differs and the counts; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("paths", nargs="+")
    given = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for path in given.paths:
        for file, claimed, kept in compare(path, given.include, given.define, given.first):
            said = {target: claimed.says(target) for target in kept}
            wrong = [target for target in kept if said[target] is not None and said[target] is not kept[target]]
            known = sum(1 for value in said.values() if value is not None)
            counts["not read" if not kept else "open" if not known else "differ" if wrong else "agree"] += 1
            counts["of these on every target"] += known == len(ASKED)
            if wrong:
                other = ", ".join(f"{target} {'compiles' if kept[target] else 'does not'}" for target in wrong)
                text = " ".join(claimed.gate.text.split())[:120]
                print(f"{file}:{claimed.gate.at[0]}: {text}\n    {other}", flush=True)
    for outcome, count in counts.items():
        print(f"{count:6} {outcome}")
    return counts["differ"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
