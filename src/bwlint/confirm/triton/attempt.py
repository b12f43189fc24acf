"""Test a claim about a Triton kernel: its shared memory, and ptxas on its PTX. The kernel is cut out of the tree, and
compiled by Triton in a child that can compute and answer, and nothing else."""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bwlint.chips import Chip, chip
from bwlint.confirm.child import run
from bwlint.confirm.compiling.compiler import Bench, CompilerRun, assembled, cut
from bwlint.confirm.compiling.evidence import TargetAnswer, undecided
from bwlint.confirm.receipt import Attempt, executed, not_eligible, not_requested
from bwlint.confirm.slicing.closure import Cutout, Cutter
from bwlint.confirm.slicing.modules import File, home_of, source_of
from bwlint.confirm.slicing.sandbox import command, explained, source_rows
from bwlint.confirm.slicing.seccomp import unavailable
from bwlint.confirm.slicing.syntax import GATE
from bwlint.confirm.triton.signature import Signature, given, inferred
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.readers.python.blocks import DEFAULT_STAGES, DEFAULT_WARPS, constants
from bwlint.readers.python.least import Function
from bwlint.readers.python.triton import Taking, jitted, takings
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText
from bwlint.sources.worktree import is_in

MAX_TAKINGS = 12
"""Configurations of one claim that are compiled."""
_TILE = re.compile(r"(\w+) = (\d+)")
_BITS = re.compile(r"with (?:elements of )?(\d+)[ -]bit")
_TARGET = re.compile(r"^\.target (sm_\w+)", re.MULTILINE)
_HEADS = frozenset({"instruction", "legal"})
_LONGEST_TEXT = 4000


def concerns(subject: Subject) -> bool:
    """Whether a claim may be one about a kernel of Triton."""
    claim = subject.claim
    if not subject.real.endswith(".py") or claim.at is None:
        return False
    return claim.kind in _HEADS or (claim.kind == "shared" and claim.subject == "dynamic") or _tile(subject) is not None


def attempt(subject: Subject, world: Workbench, toolkit: Toolkit | None) -> Attempt | None:
    """The test of a claim; None where it is about no kernel of Triton after all."""
    home = home_of(subject.real)
    if isinstance(home, str):
        return not_eligible("assemble", home)
    if not jitted(home.tree):
        return None
    cases = _cases(subject, home)
    if not cases and subject.claim.kind in _HEADS:
        return None
    if not world.may_slice:
        return not_requested("assemble", "kernels of Triton are cut out and compiled only with --run-slices")
    why = missing(world.scanned)
    if why is not None:
        return not_eligible("assemble", why)
    if not cases:
        return not_eligible("assemble", "the claim is about no launch of a kernel in this file")
    return _tested(_Test(subject, world, toolkit, home), cases)


def _tile(subject: Subject) -> dict[str, int] | None:
    """The constants of a claim about a tile that is picked."""
    if subject.claim.kind != "need" or "shared memory for the tile" not in subject.claim.says:
        return None
    return {name: int(size) for name, size in _TILE.findall(subject.claim.subject)} or None


def _cases(subject: Subject, home: File) -> list[Taking]:
    """The launches and configurations that a claim is about: those at its place, the kernel around its place, or those
    with the constants that it names."""
    claim, tile = subject.claim, _tile(subject)
    found = [one for name in jitted(home.tree) for one in takings(home.tree, name)]
    if tile is not None:
        named = [one for one in found if tile.keys() <= constants(one.kernel)]
        return [replace(one, constants={**one.constants, **tile}) for one in named[:1]]
    if claim.kind == "shared":
        text = SourceText(str(source_of(subject.real)))
        at = [one for one in found if one.at is not None and text.region(*span(one.at)) == claim.at]
        kernels = {one.kernel.name for one in at}
        if any(one.at is not one.launch for one in at):  # of configurations, one that fits is enough
            return [one for one in found if one.kernel.name in kernels]
        return [one for one in at if one.size == claim.amounts[0]][:1]
    first, last = (claim.at.line, claim.at.end_line) if claim.at is not None else (0, 0)
    around = [one for one in jitted(home.tree).values() if one.lineno <= first and last <= (one.end_lineno or 0)]
    names = {one.name for one in around}
    # A kernel that nothing in its file launches is taken as Triton launches one that says no more.
    alone = [Taking(one, None, None, {}, {}, DEFAULT_STAGES, DEFAULT_WARPS, 0, None) for one in around]
    return [one for one in found if one.kernel.name in names][:1] or alone


@dataclass(slots=True)
class _Test:
    subject: Subject
    world: Workbench
    toolkit: Toolkit | None
    home: File
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def signature(self, kernel: KernelSlice, taking: Taking) -> Signature | str:
        if self.world.signature:
            found = given(taking.kernel, self.world.signature)
            if isinstance(found, str):
                return found
            for name, value in taking.constants.items():
                if found.values.get(name) != value:
                    return f"the finding is about {name} = {value}, and --signature has {found.told().get(name)}"
            return found
        stated = _BITS.search(self.subject.finding.message)
        return inferred(self.home.tree, kernel.helpers, taking, int(stated[1]) if stated else None)


def _tested(test: _Test, cases: Sequence[Taking]) -> Attempt:
    if len(cases) > MAX_TAKINGS:
        return not_eligible("assemble", f"{len(cases)} configurations: more than {MAX_TAKINGS} are not compiled")
    kernel = cut_kernel(test.subject.real, test.home, cases[0].kernel.name)
    seen: list[TargetAnswer] = []
    for taking in cases:
        signature = test.signature(kernel, taking)
        if isinstance(signature, str):
            more = "" if test.world.signature else ": --signature can say it"
            return not_eligible("assemble", f"{signature}{more}", test.details)
        test.details["signature"], test.details["signature from"] = signature.told(), dict(signature.sources)
        options = {"num_stages": taking.stages, "num_warps": taking.warps or DEFAULT_WARPS}
        chips = [chip(name) for name in _chips(test)]
        ran = compile_kernel(kernel, signature, options, chips, test.world.scratch, test.world.compile_limit)
        test.seconds += ran.seconds
        test.log += [ran.log] if ran.log else []
        if ran.refused:
            return not_eligible("assemble", ran.refused, test.details)
        if ran.trouble:
            return _done(test, undecided(f"`{kernel.name}`: {ran.trouble}"))
        test.details |= {"triton": ran.version, "kernel": kernel.name, "options": options}
        for on in chips:
            one = _on_chip(test, ran, kernel.name, on)
            seen.append(one)
            if one.outcome != "confirmed":
                return _done(test, one)
    return _done(test, seen[0] if seen else undecided("the claim names no chip"))


def _chips(test: _Test) -> list[str]:
    """The chips of the claim, or those whose own targets it names."""
    claim = test.subject.claim
    if claim.chips:
        return list(claim.chips)
    numbers = {name.removeprefix("sm_").rstrip("af") for name in claim.targets}
    return [f"{number[:-1]}.{number[-1]}" for number in sorted(numbers)]


def _on_chip(test: _Test, ran: TritonRun, name: str, on: Chip) -> TargetAnswer:
    made = ran.made[on.name]
    test.details.setdefault("bytes", {})[on.name] = [one.shared for one in made if not one.error]
    failed = next((one for one in made if one.error), None)
    if failed is not None:
        reason = f"Triton {ran.version} does not compile `{name}` for {on.name}: {cut(failed.error)}"
        return undecided(reason)
    if test.subject.claim.kind in _HEADS:
        return _head(test, ran, on)
    return _shared(test, ran, name, on)


def _shared(test: _Test, ran: TritonRun, name: str, on: Chip) -> TargetAnswer:
    """Whether all ways of a kernel take more than the chip gives, or one that the claim rules out takes less."""
    sizes = [one.shared for one in ran.made[on.name]]
    least, most = min(sizes), max(sizes)
    limit = on.smem_per_block_optin
    if limit is None:
        return undecided(f"how much shared memory {on.name} gives to a block is not known")
    amount = f"{least}" if least == most else f"{least} to {most}"
    reason = f"Triton {ran.version} gives a block of `{name}` {amount} bytes for {on.name}, which has {limit}"
    if least > limit:
        return TargetAnswer("confirmed", reason)
    if most > limit:
        return undecided(f"{reason}: it turns on flags")
    if _tile(test.subject) is not None:
        return undecided(f"{reason}: with other constants the tile may not fit")
    return TargetAnswer("refuted", reason)


def _head(test: _Test, ran: TritonRun, on: Chip) -> TargetAnswer:
    """Whether ptxas refuses an instruction in the PTX that Triton makes."""
    if test.toolkit is None:
        return undecided("no ptxas: pip install 'bwlint[assemble]', or set CUDA_HOME")
    head = test.subject.claim.subject
    ptx = ran.made[on.name][0].ptx.splitlines()
    lines = [at for at, line in enumerate(ptx, 1) if any(word.rstrip(";") == head for word in line.split()[:4])]
    if not lines:
        return undecided(f"no `{head}` is in the PTX that Triton {ran.version} makes for {on.name}")
    made, target = assemble(ran.made[on.name][0], test.world, test.toolkit)
    test.details["toolkit"] = test.toolkit.version
    error = next((one for one in made.messages if one.level != "warning" and one.line in lines), None)
    if error is None and made.path is None:
        return undecided(f"ptxas for {target}: {made.first_error or made.trouble}")
    fails = test.subject.claim.kind == "instruction"
    if error is not None:
        return TargetAnswer("confirmed" if fails else "refuted", f"ptxas for {target}: {cut(error.text)}")
    return TargetAnswer(
        "refuted" if fails else "confirmed", f"ptxas assembles what Triton {ran.version} makes for {target}"
    )


def assemble(made: Made, world: Workbench, toolkit: Toolkit) -> tuple[CompilerRun, str]:
    """What ptxas makes of a kernel's PTX, and for which target: libraries that it calls stay open."""
    path = Path(tempfile.mkdtemp(prefix="triton-", dir=world.scratch), "kernel.ptx")
    path.write_text(made.ptx, encoding="utf-8")
    target = _TARGET.search(made.ptx)
    name = target[1] if target else ""
    return assembled(Bench(world.scratch, world.compile_limit, toolkit, ""), path, name, "-c"), name


def _done(test: _Test, seen: TargetAnswer) -> Attempt:
    log = "\n".join(test.log)[:_LONGEST_TEXT]
    return executed("assemble", seen.outcome, seen.reason, test.details, log, test.seconds)


MEMORY = 6 << 30
"""Bytes of address space: Triton's library alone is half of one GiB."""
_PLAIN = {"TRITON_DEFAULT_FP_FUSION": "1"}
"""What Triton does without being asked, said: it warns otherwise."""
LONGEST = 120.0
"""Seconds of one kernel for one target."""


@dataclass(frozen=True, slots=True)
class Made:
    """What Triton makes of a kernel with one set of constants: bytes of shared memory of a block, and its PTX; or why
    it makes nothing."""

    shared: int = 0
    ptx: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class TritonRun:
    """What was made by the name of each chip, and by which Triton. `refused` says why nothing ran, `trouble` why no
    answer came."""

    made: Mapping[str, tuple[Made, ...]] = field(default_factory=dict)
    version: str = ""
    refused: str = ""
    trouble: str = ""
    log: str = ""
    seconds: float = 0.0


def missing(scanned: tuple[str, ...]) -> str | None:
    """Why nothing can be compiled here; None where it can. What lies in a scanned tree is no compiler."""
    found = importlib.util.find_spec("triton")
    if found is None or not found.origin:
        return "no Triton: pip install 'bwlint[triton]'"
    if any(is_in(str(Path(found.origin).resolve()), tree) for tree in scanned):
        return "the installed Triton is itself the code under test"
    return unavailable()


def compile_kernel(
    kernel: KernelSlice,
    signature: Signature,
    options: Mapping[str, int],
    chips: Sequence[Chip],
    folder: Path,
    limit: float,
) -> TritonRun:
    """Compile a kernel for chips, for at most `limit` seconds, with every way of its open flags."""
    seconds = min(limit, LONGEST)
    ways = list(signature.ways())
    job = {
        "modules": {dotted: asdict(plan) for dotted, plan in kernel.modules.items()},
        "module": kernel.module,
        "kernel": kernel.name,
        "devices": sorted(kernel.devices),
        "rows": source_rows(),
        "chips": [(chip.name, chip.major, chip.minor, chip.smem_per_block_optin) for chip in chips],
        "types": signature.types,
        "divisible": sorted(signature.divisible),
        "ways": ways,
        "options": dict(options),
        "seconds": math.ceil(seconds),
    }
    python, data = command("bwlint.confirm.triton.inside", "triton"), json.dumps(job).encode()
    try:
        ended = run(python, limit=seconds, folder=folder, stdin=data, memory=MEMORY, environment=_PLAIN)
    except OSError as error:
        return TritonRun(trouble=f"Python does not start: {error.strerror or error}")
    if ended.trouble:
        return TritonRun(trouble=explained(ended.trouble), log=ended.output, seconds=ended.seconds)
    return _ran(ended.answer, ended.output, ended.seconds, len(ways), [chip.name for chip in chips])


def _ran(data: bytes, log: str, seconds: float, ways: int, names: Sequence[str]) -> TritonRun:
    """What an answer says; the child may have been made to write anything."""
    try:
        told: Any = json.loads(data)
        if "made" not in told:
            refused, trouble = str(told.get("refused", "")), str(told.get("trouble", ""))
            return TritonRun(refused=refused, trouble=trouble or "it gave no reason", log=log, seconds=seconds)
        made = {name: tuple(map(_one, told["made"][name])) for name in names}
        version = str(told["version"])[:40]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        made, version = {}, ""
    whole = all(one.error or (one.ptx and one.shared >= 0) for rows in made.values() for one in rows)
    if len(made) < len(names) or any(len(rows) < ways for rows in made.values()) or not whole:
        return TritonRun(trouble="the kernel ended without an answer", log=log, seconds=seconds)
    return TritonRun(made, version, log=log, seconds=seconds)


def _one(row: Mapping[str, Any]) -> Made:
    return Made(int(row.get("shared", 0)), str(row.get("ptx", "")), str(row.get("error", "")))


@dataclass(frozen=True, slots=True)
class KernelSlice:
    """A kernel's name in its module, and the statements of all modules that it needs. `helpers` are the jit functions
    among them, by name."""

    module: str
    name: str
    modules: Mapping[str, Cutout]
    devices: frozenset[str]
    helpers: Mapping[str, Function]


def cut_kernel(real: str, home: File, name: str) -> KernelSlice:
    cutter = Cutter(home, real)
    gate = ast.parse(f"def {GATE}():\n    return {name}").body[0]
    assert isinstance(gate, ast.FunctionDef)
    cutter.run(gate)
    helpers: dict[str, Function] = {}
    for plan in cutter.plans.values():
        for text, _ in plan.statements:
            helpers |= jitted(ast.parse(text))
    return KernelSlice(home.dotted, name, cutter.plans, cutter.devices, helpers)
