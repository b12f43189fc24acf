"""assemble: PTX with ptxas, C++ with nvcc and then ptxas, kernels of Triton and operations of CuTe DSL with
their own compilers, for the targets of a claim.

ptxas's refusal of the flagged statement confirms. That it assembles refutes only where the flagged statement is in the
PTX that was assembled: what a guard or a template left out says nothing. Every other failure is inconclusive.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bwlint.chips import Target, chip, targets_of
from bwlint.chips.instructions import first_isa, verdict
from bwlint.confirm.compiling import evidence, guarding
from bwlint.confirm.compiling.compiler import Bench, CompilerRun, assembled, compiled, cut, is_file
from bwlint.confirm.compiling.evidence import AssemblyCase, TargetAnswer, undecided
from bwlint.confirm.compiling.listing import MOST, Listing
from bwlint.confirm.compiling.units import TranslationUnit, is_source, units
from bwlint.confirm.cute import attempt as cute
from bwlint.confirm.receipt import Attempt, executed, not_eligible, not_executed, not_requested
from bwlint.confirm.triton import attempt as triton
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import BUILDER, Outcome

KINDS = frozenset({"instruction", "legal", "slow", "bounds", "shared", "cluster", "guard", "build", "need"})

KERNEL = "__global__ void bwlint_probe(int *out) { *out = 1; }\n"
MISLEADS = "the PTX holds line directives, or lines that look like messages of ptxas"
_LOG = 8000
_MOST_PAIRS = 40
_JUDGES: dict[str, Callable[[AssemblyCase], TargetAnswer]] = {
    "instruction": evidence.refused,
    "legal": evidence.taken,
    "slow": evidence.slow,
    "bounds": evidence.bounds,
    "shared": evidence.static_shared,
}


def attempt(subject: Subject, world: Workbench) -> Attempt:
    claim = subject.claim
    of_triton = triton.attempt(subject, world, _toolkit(world, compiles=False)) if triton.concerns(subject) else None
    if of_triton is not None and (of_triton.outcome in ("confirmed", "refuted") or claim.kind != "instruction"):
        return of_triton
    if claim.kind == "need":
        return cute.attempt(subject, world) or not_requested(
            "assemble", f"no compiler can test this claim: {claim.says}"
        )
    if claim.kind == "shared" and claim.subject != "static":
        return not_requested("assemble", "a kernel requests dynamic shared memory at its launch")
    if claim.kind == "cluster" and claim.subject != BUILDER:
        return not_requested("assemble", "ptxas takes clusters of any size")
    try:
        test = _test_of(subject)
        compiles = test not in (_of_ptx, _of_statement)
        toolkit = _toolkit(world, compiles)
        if toolkit is None:
            return not_eligible("assemble", _lacking(world, compiles))
        return test(subject, world, toolkit)
    except (OSError, ValueError) as error:
        return not_executed("assemble", f"the test did not run: {cut(str(error))}")


def _test_of(subject: Subject) -> Callable[[Subject, Workbench, Toolkit], Attempt]:
    claim = subject.claim
    if claim.kind in ("build", "guard"):
        return _of_pairs if claim.kind == "build" else _of_guard
    if subject.real.endswith(".ptx"):
        return _of_ptx
    is_ours = claim.kind == "instruction" and _control(claim.subject) and not is_source(subject.real)
    return _of_statement if is_ours else _of_source


@dataclass(slots=True)
class _Record:
    details: dict[str, Any]
    seen: dict[str, TargetAnswer] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    seconds: float = 0.0
    late: bool = False
    """Whether a compiler had to be ended: another file will hardly take less time."""
    compiled: bool = False

    @property
    def decided(self) -> bool:
        return self.late or any(one.outcome != "inconclusive" for one in self.seen.values())

    def note(self, title: str, made: CompilerRun) -> None:
        self.seconds += made.seconds
        self.late = self.late or bool(made.trouble)
        text = "\n".join(made.said)
        half = _LOG // 4
        shown = text if len(text) <= 2 * half else f"{text[:half]}\n[...]\n{text[-half:]}"
        self.log.append(f"$ {title}: {made.trouble or f'exit status {made.code}'}\n{shown}".rstrip())

    def attempt(self) -> Attempt:
        outcome, reason = _verdict(self.seen)
        by_target = {target: one.told() for target, one in self.seen.items() if target}
        details = {**self.details, **({"targets": by_target} if by_target else {})}
        return executed("assemble", outcome, reason, details, "\n".join(self.log)[:_LOG], self.seconds)


def _verdict(seen: dict[str, TargetAnswer]) -> tuple[Outcome, str]:
    """Refuted by one target, confirmed by all, else inconclusive."""
    for outcome in ("refuted", "inconclusive"):
        found = next((one for one in seen.values() if one.outcome == outcome), None)
        if found is not None:
            return found.outcome, found.reason
    first, *others = seen
    reason = seen[first].reason
    return "confirmed", f"{reason} (and so for {', '.join(others)})" if others else reason


def targets_tried(claim_targets: Sequence[str], chips: Sequence[str]) -> tuple[str, ...]:
    """The targets to compile for: of each number the one that takes most, and the family's of the first. What an "a"
    target refuses, the others of its number refuse too. Without targets, the chips' own."""
    names = list(claim_targets) or [target.name for name in chips for target in targets_of(chip(name))]
    targets = sorted((Target.parse(name) for name in dict.fromkeys(names)), key=lambda one: (one.number, one.suffix))
    best: dict[int, Target] = {}
    for target in targets:
        best[target.number] = max(best.get(target.number, target), target, key=lambda one: "fa".find(one.suffix or "_"))
    first = min(best, default=0)
    family = [target for target in targets if target.number == first and target.suffix == "f"]
    return tuple(dict.fromkeys(target.name for target in (*best.values(), *family)))


def _toolkit(world: Workbench, compiles: bool) -> Toolkit | None:
    """The newest toolkit that has what is needed: they are in that order."""
    for toolkit in world.toolkits:
        if toolkit.ptxas is not None and (not compiles or (toolkit.nvcc and toolkit.host_compiler)):
            return toolkit
    return None


def _lacking(world: Workbench, compiles: bool) -> str:
    if not compiles:
        return "no ptxas: pip install 'bwlint[assemble]', or set CUDA_HOME"
    if any(toolkit.nvcc for toolkit in world.toolkits):
        return "no C++ compiler for nvcc to work with (g++)"
    return "no nvcc: pip install 'bwlint[assemble]', or set CUDA_HOME"


def _bench(subject: Subject, world: Workbench, toolkit: Toolkit) -> Bench:
    return Bench(world.scratch, world.compile_limit, toolkit, subject.root)


def _said(toolkit: Toolkit) -> dict[str, Any]:
    return {"toolkit": toolkit.version, "toolkit from": toolkit.origin}


def _of_ptx(subject: Subject, world: Workbench, toolkit: Toolkit) -> Attempt:
    path = Path(subject.real)
    if not is_file(subject.real) or path.stat().st_size > MOST:
        return not_eligible("assemble", "the file is not there, or too long")
    listing = _listing(path)
    bench, record = _bench(subject, world, toolkit), _Record(_said(toolkit))

    def judge(target: str) -> TargetAnswer:
        made = assembled(bench, path, target)
        record.note(f"ptxas -arch={target}", made)
        return _judged(_JUDGES[subject.claim.kind], AssemblyCase(subject, target, listing, made, True))

    return _until_denied(subject, record, judge)


def _until_denied(subject: Subject, record: _Record, judge: Callable[[str], TargetAnswer]) -> Attempt:
    """The answers for the targets of a claim, up to the first that does not confirm it."""
    for target in targets_tried(subject.claim.targets, subject.claim.chips):
        record.seen[target] = judge(target)
        if record.seen[target].outcome != "confirmed":
            break
    return record.attempt() if record.seen else not_eligible("assemble", "the claim names no target")


def _of_statement(subject: Subject, world: Workbench, toolkit: Toolkit) -> Attempt:
    """A statement of our own, where the claim is about an instruction that the flagged file does not write."""
    record = _Record({**_said(toolkit), "PTX": "a statement of our own"})
    bench, head = _bench(subject, world, toolkit), subject.claim.subject
    control = _control(head) or ""
    taken = _assembled(bench, head, control, record)
    if taken is None or taken.path is None:
        return not_eligible("assemble", f"bwlint has no statement of its own of {head} to assemble", record.details)

    def judge(target: str) -> TargetAnswer:
        made = _assembled(bench, head, target, record)
        assert made is not None
        return evidence.of_probe(made, target, _STATEMENT_LINE)

    return _until_denied(subject, record, judge)


_OPERANDS = {
    "setmaxnreg.inc.sync.aligned.u32": "40",
    "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes": (
        "[r], [x, {r, r}], [r]"
    ),
}
"""Of instructions that bwlint has a statement of its own for."""
_LEAST_ISA = (8, 6)
_STATEMENT_LINE = 5


def _written(head: str, target: str) -> str | None:
    """PTX with one such instruction for a target, on line 5; None for one whose operands are not known here."""
    if head not in _OPERANDS:
        return None
    major, minor = max(_LEAST_ISA, first_isa(Target.parse(target)) or _LEAST_ISA)
    return (
        f".version {major}.{minor}\n.target {target}\n.address_size 64\n"
        f".visible .entry bwlint_probe() {{ .reg .b32 r; .reg .b64 x;\n{head} {_OPERANDS[head]};\nret; }}\n"
    )


def _control(head: str) -> str | None:
    """A target for which the instruction is said to assemble, which shows that the PTX is right otherwise."""
    return next((target.name for target in reversed(tuple(verdict(head).legal)) if target.suffix == "a"), None)


def _assembled(bench: Bench, head: str, target: str, record: _Record) -> CompilerRun | None:
    text = _written(head, target)
    if text is None:
        return None
    path = Path(tempfile.mkdtemp(prefix="probe-", dir=bench.scratch), "probe.ptx")
    path.write_text(text)
    made = assembled(bench, path, target)
    record.note(f"ptxas -arch={target}", made)
    return made


def _of_source(subject: Subject, world: Workbench, toolkit: Toolkit) -> Attempt:
    targets = targets_tried(subject.claim.targets, subject.claim.chips)
    records: list[_Record] = []
    for unit in units(subject, world):
        record = _Record({**_said(toolkit), "unit": unit.path, **unit.options.details()})
        record.compiled = _compile(subject, _bench(subject, world, toolkit), unit, targets, record)
        records.append(record)
        if record.decided:
            break
    if not records or not records[-1].seen:
        if subject.real and not is_source(subject.real):
            return not_eligible("assemble", f"nvcc compiles C++, and {Path(subject.real).name} is not C++")
        return not_eligible("assemble", "nvcc can compile no file for this claim")
    return _best(records).attempt()


def _best(records: list[_Record]) -> _Record:
    """What decided, else the first that was compiled, else the first; with what became of the others."""
    last = records[-1]
    best = last if last.decided else next((one for one in records if one.compiled), records[0])
    others = [f"{one.details['unit']}: {_verdict(one.seen)[1]}" for one in records if one is not best]
    if others:
        best.details["tried besides"] = others
        best.seconds = sum(one.seconds for one in records)
    return best


def _compile(subject: Subject, bench: Bench, unit: TranslationUnit, targets: Iterable[str], record: _Record) -> bool:
    """Compile a unit for one target after the other, until one does not confirm; whether nvcc made PTX of it."""
    for target in targets:
        ptx = compiled(bench, "ptx", unit.source, unit.options.taken, target)
        record.note(f"nvcc -ptx for {target}", ptx)
        if subject.claim.kind == "cluster":
            record.seen[target] = evidence.static_assertion(subject, target, ptx, unit.path)
        elif ptx.path is None:
            record.seen[target] = evidence.not_compiled(subject, target, ptx, unit.path)
            return False
        else:
            cubin = assembled(bench, ptx.path, target)
            record.note(f"ptxas -arch={target}", cubin)
            case = AssemblyCase(subject, target, _listing(ptx.path), cubin, False)
            record.seen[target] = _judged(_JUDGES[subject.claim.kind], case)
        if record.seen[target].outcome != "confirmed":
            break
    return True


def _judged(judge: Callable[[AssemblyCase], TargetAnswer], case: AssemblyCase) -> TargetAnswer:
    if not case.cubin.knows_target:
        return undecided(f"this ptxas does not know {case.target}")
    if case.cubin.trouble:
        return undecided(f"ptxas for {case.target}: {case.cubin.trouble}")
    if case.listing.misleads:
        return undecided(MISLEADS)
    seen = judge(case)
    return seen if seen.compiled or case.own else _elsewhere(judge, case) or seen


def _elsewhere(judge: Callable[[AssemblyCase], TargetAnswer], case: AssemblyCase) -> TargetAnswer | None:
    """What is confirmed at another place of the same file that the finding names, where the first is not compiled."""
    subject = case.subject
    for related in subject.finding.related if not subject.claim.path else ():
        if related.path == subject.finding.path and evidence.is_charged(related.message, case):
            claim = replace(subject.claim, subject=related.message, at=related.region)
            seen = judge(replace(case, subject=replace(subject, claim=claim)))
            if seen.outcome == "confirmed":
                reason = f"at line {related.region.line}, which the finding names too: {seen.reason}"
                return replace(seen, reason=reason)
    return None


@lru_cache(maxsize=2)
def _listing(path: Path) -> Listing:
    if path.stat().st_size > MOST:
        raise ValueError(f"more than {MOST >> 20} MiB of PTX")
    return Listing.of(path.read_text(encoding="utf-8", errors="replace"))


def _of_guard(subject: Subject, world: Workbench, toolkit: Toolkit) -> Attempt:
    record = _Record(_said(toolkit))
    told = guarding.test(subject, world, _bench(subject, world, toolkit), record.note)
    if isinstance(told, str):
        return not_eligible("assemble", told, record.details)
    record.seen[""], more = told
    record.details |= more
    return record.attempt()


def _of_pairs(subject: Subject, world: Workbench, toolkit: Toolkit) -> Attempt:
    """A kernel of our own, compiled for the pairs of a build."""
    options = pairs_of(subject.claim.subject)
    if not options:
        return not_eligible("assemble", f"no pairs of targets: {cut(subject.claim.subject, 80)}")
    made = compiled(_bench(subject, world, toolkit), "fatbin", KERNEL, options)
    record = _Record({**_said(toolkit), "options": list(options)})
    record.note("nvcc -fatbin", made)
    record.seen[""] = _of_build(subject, made)
    return record.attempt()


def _of_build(subject: Subject, made: CompilerRun) -> TargetAnswer:
    refused = made.path is None
    if made.trouble:
        return undecided(f"nvcc: {made.trouble}")
    if not subject.claim.chips:
        if not refused:
            return TargetAnswer("refuted", "nvcc builds a kernel for these targets")
        if unknown := evidence.too_new(made):
            return undecided(f"this nvcc does not know {unknown}, which others do")
        if not evidence.is_about_targets(made):
            return undecided(f"nvcc failed: {made.first_error}")
        return TargetAnswer("confirmed", f"nvcc refuses them: {made.first_error}", made.first_error)
    if refused:
        return undecided(f"nvcc does not build a kernel with these flags: {made.first_error}")
    return undecided("nvcc builds a kernel for these targets; only a driver can show whether it loads")


def pairs_of(text: str) -> tuple[str, ...]:
    """Options for nvcc of "compute_90,sm_90;compute_90,compute_90"; () where it is nothing of the kind."""
    found: list[str] = []
    pairs = text.split(";")
    if len(pairs) > _MOST_PAIRS:
        return ()
    for pair in pairs:
        arch, comma, code = pair.strip().partition(",")
        if not comma or not evidence.is_arch(arch) or not evidence.is_arch(code) or not arch.startswith("compute_"):
            return ()
        found += ["-gencode", f"arch={arch},code={code}"]
    return tuple(found)
