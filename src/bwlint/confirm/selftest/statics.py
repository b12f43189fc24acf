"""bwlint's own verdict on a case: check and inspect on its input, for the tested chip.

"fails" takes a claim (`ClaimKind`) about the very target or chip, or an inspection by which a container with
kernels does not run there; "works" is that nothing of the kind is said. What a driver must know is compared with the
driver that is there, as `inspect` names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bwlint import inspection
from bwlint.binaries.needs import jit_isas
from bwlint.binaries.shipments import NONE, DeviceLibrary
from bwlint.chips import Chip, Target
from bwlint.chips.drivers import toolkit_of_isa
from bwlint.chips.instructions import judge, parse
from bwlint.chips.toolkits import version
from bwlint.confirm.selftest.case import AssembledCubin, BuiltProgram, Fatbin, PtxText, Question, SelftestCase, Words
from bwlint.model.findings import Claim, ClaimKind, Finding
from bwlint.run import check
from bwlint.run.request import CheckRequest, Outcome

Verdict = Literal["works", "fails", "unknown"]
Compiler = Literal["driver", "ptxas"]
"""Who compiles PTX: the driver of a device, for that, or ptxas, for the target that the PTX names."""

_COUNT: dict[Question, frozenset[ClaimKind]] = {
    "image": frozenset({"instruction", "image", "shared", "cluster"}),
    "program": frozenset({"instruction", "image", "build", "shared", "cluster", "guard"}),
    "unnoticed": frozenset({"unchecked"}),
    "bounds": frozenset({"bounds"}),
    "gate": frozenset({"instruction"}),
    "observed": frozenset(),
}
"""The claims that say of each question that it fails."""


@dataclass(frozen=True, slots=True)
class Static:
    """bwlint's verdict, why in its words, and the rules that spoke."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def static(
    case: SelftestCase, chip: Chip, source: Path, made: Path, cuda: str, compiler: Compiler = "driver"
) -> Static:
    """The verdict on a case that lies in `source` (text) and `made`. `cuda` is the version of the compiler, or of the
    driver, that is to take it."""
    if case.question == "observed":
        return Static("unknown", ("no rule is about this",))
    if case.question == "gate":
        return _gate(case, chip, source)
    said = list(_said(case, chip, source, made, cuda, compiler))
    if not said:
        return Static("works")
    return Static("fails", tuple(dict.fromkeys(why for _, why in said)), tuple(dict.fromkeys(rule for rule, _ in said)))


def _said(
    case: SelftestCase, chip: Chip, source: Path, made: Path, cuda: str, compiler: Compiler
) -> Iterator[tuple[str, str]]:
    """Rules and words that say that the case fails."""
    if not isinstance(case.make, AssembledCubin | Fatbin):
        yield from _claimed(case, chip, _checked(source, chip).report.findings, compiler)
    if isinstance(case.make, AssembledCubin | Fatbin | BuiltProgram | PtxText):
        found = inspection.inspect(
            inspection.InspectionRequest((str(made),), target=(chip.name,), severity="note", kernels=True)
        ).inspection
        yield from _claimed(case, chip, found.report.findings, compiler)
        for shipment in found.shipments:
            for library in shipment.libraries:
                yield from _served(library, chip, cuda)


def _checked(source: Path, chip: Chip) -> Outcome:
    with ExitStack() as stack:
        request = CheckRequest((str(source),), target=(chip.name,), severity="note", jobs=1, use_gitignore=False)
        return check.check(request, stack)


def _gate(case: SelftestCase, chip: Chip, source: Path) -> Static:
    """Whether the gate lets the chip through, and whether what is behind it assembles there: both or neither works."""
    outcome = _checked(source, chip)
    gates = [gate for found in outcome.sets.values() for gate in found]
    if len(gates) != 1:
        return Static("unknown", (f"{len(gates)} gates are read, not one",))
    may, must = gates[0]
    if (chip in may) != (chip in must):
        return Static("unknown", ("whether the gate holds depends on more than the device",))
    target = compiled_for(case, chip)
    statement = parse(case.values["STATEMENT"])
    assembles = Target.parse(target) in judge(statement).legal
    rules = tuple(dict.fromkeys(finding.name for finding in outcome.report.findings))
    passes = "lets" if chip in must else "does not let"
    behind = f"`{statement.head}` {'assembles' if assembles else 'does not assemble'} for {target}"
    reasons = (f"the gate {passes} {chip} through; {behind}",)
    return Static("works" if (chip in must) == assembles else "fails", reasons, rules)


def _claimed(
    case: SelftestCase, chip: Chip, findings: tuple[Finding, ...], compiler: Compiler
) -> Iterator[tuple[str, str]]:
    for finding in findings:
        for claim in finding.claims:
            if claim.kind in _COUNT[case.question] and _denies(claim, case, chip, compiler):
                yield finding.name, claim.says


def _denies(claim: Claim, case: SelftestCase, chip: Chip, compiler: Compiler) -> bool:
    """Whether a claim is about this chip, or the target of the case."""
    target = compiled_for(case, chip)
    if claim.kind == "guard":
        # What it does not hold for is compiled without what it holds.
        return target in claim.targets and target not in claim.holds
    if claim.kind == "unchecked" and not claim.amounts:
        return False  # how much is asked for is not known
    if claim.kind == "build":
        pairs = case.make.pairs if isinstance(case.make, BuiltProgram) else ()
        if claim.subject != ";".join(f"compute_{Words(chip, case.values).filled(pair)}" for pair in pairs):
            return False  # a part of what is built, such as all but its PTX
    if claim.kind == "shared" and compiler == "driver":
        # What ptxas refuses for a target, the compiler in a driver takes for its chip: 56000 bytes of PTX for sm_90 ran
        # on an H100, driver 580.159.
        return chip.name in claim.chips
    return chip.name in claim.chips or target in claim.targets


def compiled_for(case: SelftestCase, chip: Chip) -> str:
    """The target that the text of a case is compiled for: "sm_90a"."""
    words = Words(chip, case.values)
    if isinstance(case.make, BuiltProgram):
        return words.filled(case.make.pairs[0]).partition(",")[2]
    return f"sm_{words.value('TARGET')}" if "TARGET" in case.values else f"sm_{chip.joined}"


def _served(library: DeviceLibrary, chip: Chip, cuda: str) -> Iterator[tuple[str, str]]:
    """What of a file the chip, or this driver, does not run."""
    for unit in library.units:
        verdict = unit.verdicts[chip.name]
        if verdict.way == NONE and unit.kernels:
            yield "arch-target", verdict.reason
    for isa in sorted(jit_isas(library, chip.name)):
        first = toolkit_of_isa(isa)
        if first is not None and version(first) > version(cuda):
            yield "arch-target", f"PTX {isa[0]}.{isa[1]} takes the driver of CUDA {first}, and this is that of {cuda}"
