"""Ask CuTe DSL's own package whether one of its operations works on a chip.

The operation is compiled with arguments of ours, not the kernel that uses it: a kernel takes tensors, shapes and
options that nothing in its tree fixes, and the package refuses an operation before it looks at those.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bwlint.chips.operations import operation_in
from bwlint.confirm.child import run
from bwlint.confirm.compiling.compiler import cut
from bwlint.confirm.cute.inside import OWN_KERNELS, TAKEN
from bwlint.confirm.receipt import Attempt, executed, not_eligible, not_executed
from bwlint.confirm.slicing.modules import source_of
from bwlint.confirm.slicing.sandbox import command
from bwlint.confirm.slicing.syntax import imported
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Outcome, Region
from bwlint.readers.python import parse
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span
from bwlint.sources.errors import ReadError
from bwlint.sources.read import SourceText, Unread
from bwlint.sources.worktree import is_in

CONTROLS = ("sm_90a", "sm_100a", "sm_110a", "sm_120a")
"""Targets of which one takes an operation: what none takes says nothing of a chip."""
_TENSOR_MEMORY, _ALLOCATES = "tensor memory", "cutlass.cute.arch.alloc_tmem"
"""The subject of a claim, and the operation that it stands for."""
MEMORY = 8 << 30
_PACKAGES = ("cutlass", "nvidia_cutlass_dsl")
"""The module, and the folder beside which lies what it imports."""
LONGEST = 120.0
_NAME = re.compile(r"cutlass(?:\.[A-Za-z]\w*)+")
_MULTIPLIES = re.compile(r"cutlass\.cute\.nvgpu\.\w+\.(?:mma\.)?Mma\w+Op")
_OWN_KERNELS = frozenset(name.rpartition(".")[2] for name in OWN_KERNELS)
_MOST_NAMES = 16
_NAMING = (ast.Call, ast.Attribute, ast.Name)
_PLAIN = {"CUTE_DSL_DISABLE_FILE_CACHING": "1"}
_UNDECIDED = {
    "absent": "{package} has no `{name}`",
    "enumeration": "`{name}` is an enumeration, and no operation",
    "other": "bwlint has no kernel of its own with `{name}`",
}


@dataclass(frozen=True, slots=True)
class OperationAnswer:
    """What the package says of an operation: `kind` as the child tells it, and what becomes of it on each target."""

    kind: str
    targets: Mapping[str, str]

    def takes(self, target: str) -> bool:
        return self.targets.get(target) == TAKEN

    def undecided(self, name: str, package: str) -> str:
        if self.kind in _UNDECIDED:
            return _UNDECIDED[self.kind].format(name=name, package=package)
        if not any(map(self.takes, self.targets)):
            return f"{package} takes `{name}` for no chip with arguments of ours"
        return f"{package} takes `{name}` for one of the chips, and what else is needed was not compiled"


def attempt(subject: Subject, world: Workbench) -> Attempt | None:
    """The test of a claim; None where the finding names no operation of CuTe DSL for it."""
    claim = subject.claim
    if claim.kind != "need" or claim.holds or not claim.chips or not subject.real.endswith(".py"):
        return None
    names = tuple(dict.fromkeys(_named(subject)))
    if not names:
        return None
    direct = names[0].rpartition(".")[2] == claim.subject
    names = names[: 1 if direct else _MOST_NAMES]
    why = _missing(world.scanned)
    if why is not None:
        return not_eligible("assemble", why, {"operations": list(names)})
    asked = _OperationQuestion(names, {name: f"sm_{name.replace('.', '')}a" for name in claim.chips}, direct)
    return world.once(("cute", names, claim.chips, direct), lambda: _tested(asked, world))


@dataclass(frozen=True, slots=True)
class _OperationQuestion:
    """Operations by their dotted names, and the targets of the claim's chips. `direct` says that the claim is about
    the one operation itself, and not about what leads to some."""

    names: tuple[str, ...]
    targets: Mapping[str, str]
    direct: bool


def _missing(scanned: tuple[str, ...]) -> str | None:
    """Why nothing can be asked here; None where it can. What lies in a scanned tree is not asked."""
    found = [one for one in map(importlib.util.find_spec, _PACKAGES) if one is not None]
    if len(found) < len(_PACKAGES):
        return "no CuTe DSL: pip install 'bwlint[cute]'"
    folders = [str(Path(place).resolve()) for one in found for place in one.submodule_search_locations or ()]
    if any(is_in(folder, tree) for folder in folders for tree in scanned):
        return "the installed CuTe DSL is itself the code under test"
    return None


def _tested(asked: _OperationQuestion, world: Workbench) -> Attempt:
    job = {"names": asked.names, "targets": list(dict.fromkeys([*CONTROLS, *asked.targets.values()]))}
    python, data = command("bwlint.confirm.cute.inside", *_PACKAGES), json.dumps(job).encode()
    try:
        limit = min(world.compile_limit, LONGEST)
        ended = run(python, limit=limit, folder=world.scratch, stdin=data, memory=MEMORY, environment=_PLAIN)
        answer = json.loads(ended.answer or b"{}")
    except (OSError, ValueError) as error:
        return not_executed("assemble", f"CuTe DSL does not answer: {error}")
    if "operations" not in answer:
        trouble = ended.trouble or answer.get("trouble", "it ended without an answer")
        return not_executed("assemble", f"CuTe DSL: {trouble}", {}, ended.output, ended.seconds)
    told = {name: OperationAnswer(row["kind"], row.get("targets", {})) for name, row in answer["operations"].items()}
    details = {"cutlass": answer["version"], "operations": answer["operations"]}
    outcome, reason = _verdict(told, asked, f"CuTe DSL {answer['version']}")
    return executed("assemble", outcome, reason, details, ended.output, ended.seconds)


def _verdict(told: Mapping[str, OperationAnswer], asked: _OperationQuestion, package: str) -> tuple[Outcome, str]:
    """Confirmed where an operation is refused on all chips of the claim and taken on another; refuted where the one
    that the claim is about is taken, and refused elsewhere: what is never refused is not looked at by the package. Code
    that multiplies with what the chips take, too, may have a way of its own for them."""
    said: list[str] = []
    ways = [
        name
        for name, one in told.items()
        if _MULTIPLIES.fullmatch(name) and any(map(one.takes, asked.targets.values()))
    ]
    if ways and not asked.direct:
        return "inconclusive", f"`{ways[0]}` stands there too, which {package} takes for one of the chips"
    for name, one in told.items():
        if not one.targets:
            said.append(one.undecided(name, package))
            continue
        refused = {chip: one.targets[target] for chip, target in asked.targets.items() if not one.takes(target)}
        elsewhere = next((target for target in CONTROLS if one.takes(target)), None)
        if len(refused) == len(asked.targets) and elsewhere:
            chips, why = " and ".join(refused), cut(next(iter(refused.values())))
            return "confirmed", f"{package} refuses `{name}` for {chips} and takes it for {elsewhere}: {why}"
        if asked.direct and elsewhere and len(refused) < len(asked.targets) and not all(map(one.takes, one.targets)):
            taken = " and ".join(chip for chip in asked.targets if chip not in refused)
            return "refuted", f"{package} takes `{name}` for {taken}"
        said.append(one.undecided(name, package))
    return "inconclusive", "; ".join(said)


def _named(subject: Subject) -> Iterator[str]:
    """Operations where the claim and the related places of the finding point, and in the class or function around."""
    claim, finding = subject.claim, subject.finding
    home = claim.path or finding.path
    base = subject.real.removesuffix(home)
    for path, at in [(home, claim.at or finding.region), *((one.path, one.region) for one in finding.related)]:
        real = subject.real if path == home else f"{base}{path}"
        if not real.endswith(".py") or not is_in(os.path.realpath(real), subject.root):
            continue
        module = _module(real)
        if module is None or not any(name.partition(".")[0] == "cutlass" for name, _ in module.names.values()):
            continue
        if claim.subject == _TENSOR_MEMORY and path == home:
            yield _ALLOCATES
        yield from module.operations(at)


@dataclass(frozen=True, slots=True)
class _Module:
    """A file of the tree. `names` are what its imports bind, with the module and the name in it."""

    tree: ast.Module
    text: SourceText
    names: Mapping[str, tuple[str, str]]

    def operations(self, at: Region) -> Iterator[str]:
        """Full names of operations at a place, and of those that the statement of the module around it calls."""
        around = next((one for one in self.tree.body if one.lineno <= at.line <= (one.end_lineno or 0)), None)
        if around is None:
            return
        here = [one for one in ast.walk(around) if isinstance(one, _NAMING) and one.lineno == at.line]
        there = [one for one in here if self._ends_with(one, at)]
        yield from filter(_is_operation, map(self._full, there))
        if there and any(self._full(one).startswith("cutlass.") for one in there):
            yield from filter(_is_operation, (self._full(one) for one in ast.walk(around) if isinstance(one, ast.Call)))

    def _ends_with(self, node: ast.expr, at: Region) -> bool:
        """Whether a place is a node or its last part: of `cute.nvgpu.tcgen05.CtaGroup` a finding may name two words."""
        found = self.text.region(*span(node))
        return (found.end_line, found.end_column) == (at.end_line, at.end_column) and found.column <= at.column

    def _full(self, node: ast.expr) -> str:
        head, _, rest = dotted(node).partition(".")
        return ".".join(filter(None, (*self.names.get(head, (head, "")), rest)))


def _is_operation(name: str) -> bool:
    """Whether a name is one of the package, and of something that is issued, as far as bwlint's own tables know."""
    is_known = _MULTIPLIES.fullmatch(name) or name.rpartition(".")[2] in _OWN_KERNELS or operation_in(name) is not None
    return bool(is_known and _NAME.fullmatch(name))


@lru_cache(maxsize=64)
def _module(real: str) -> _Module | None:
    source = source_of(real)
    if isinstance(source, Unread):
        return None
    try:
        tree = parse(source)
    except (ReadError, RecursionError):
        return None
    return _Module(tree, SourceText(source), dict(imported(tree, "")))
