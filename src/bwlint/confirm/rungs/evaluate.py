"""The gate itself, run by CPython: its test and all that it uses, cut out, on simulated chips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bwlint.chips import Chip, chip
from bwlint.confirm.receipt import Attempt, executed, not_eligible, not_requested
from bwlint.confirm.slicing.closure import Slice, cut
from bwlint.confirm.slicing.sandbox import Answer, SandboxRun, run_slice
from bwlint.confirm.slicing.seccomp import unavailable
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Claim, Outcome

KINDS = frozenset({"gate"})
LONGEST_TEXT = 4000
_NO_PYTHON = "the gate is not Python: it is tested where its program runs"


def attempt(subject: Subject, world: Workbench) -> Attempt:
    """Whether CPython gives what the claim says, on each of its chips."""
    if not world.may_slice:
        why = "gates run in CPython only with --run-slices" if subject.real.endswith(".py") else _NO_PYTHON
        return not_requested("evaluate", why)
    missing = unavailable()
    if missing is not None:
        return not_eligible("evaluate", missing)
    if not subject.real.endswith(".py"):
        return not_eligible("evaluate", _NO_PYTHON)
    return tested(subject.claim, subject.real, world)


def tested(claim: Claim, real: str, world: Workbench) -> Attempt:
    """The same for a claim about a gate in the Python file at `real`, whoever makes it."""
    slice_ = cut(real, claim)
    if isinstance(slice_, str):
        return not_eligible("evaluate", slice_)
    asked = [chip(name) for name in claim.chips]
    present = _present(world, asked)
    ran = run_slice(slice_, [*asked, *present], world.scratch, world.limit)
    if ran.refused:
        return not_eligible("evaluate", ran.refused)
    outcome, reason = _decided(claim, slice_, asked, ran)
    return executed("evaluate", outcome, reason, _details(claim, slice_, ran), ran.log, ran.seconds)


def _decided(claim: Claim, slice_: Slice, asked: Sequence[Chip], ran: SandboxRun) -> tuple[Outcome, str]:
    if ran.trouble:
        return "inconclusive", ran.trouble
    unanswered = [each.name for each in asked if each.name not in ran.answers]
    if unanswered:
        return "inconclusive", f"the slice gave no answer for {' and '.join(unanswered)}"
    undecided = next((why for name in claim.chips if (why := _open(claim, name, ran.answers[name]))), "")
    if undecided:
        return "inconclusive", undecided
    reached = [name for name in claim.chips if ran.answers[name].gives]
    if not reached:
        return "inconclusive", "the program does not get to the test"
    wrong = [name for name in reached if not agrees(claim, name, ran.answers[name])]
    if wrong and ran.assumed and not any(contradicts(claim, name, ran.answers[name]) for name in wrong):
        return "inconclusive", f"an outcome that may hold does not, assuming {' and '.join(ran.assumed)}"
    if wrong and (handed := _handed(slice_, wrong, ran)):
        return "inconclusive", f"the arguments of `{handed}` are not simulated"
    if wrong:
        return "refuted", f"CPython disagrees: {_differences(claim, wrong, ran)}"
    where = "" if len(reached) == len(claim.chips) else f" on {' and '.join(reached)}, where the program gets to it"
    return "confirmed", f"CPython agrees{where}: {claim.says}"


def agrees(claim: Claim, name: str, answer: Answer) -> bool:
    """Whether the outcomes of a decided answer are those that a claim allows on a chip. A test that may hold has to
    hold in some run, one that holds for certain in all of them, and one that holds nowhere in none. Where the claim
    leaves open what CPython decides, nothing in it is wrong."""
    if name in claim.raises:
        return not {"true", "false"} & set(answer.gives)
    if name in claim.certain:
        return answer.gives == ("true",)
    if name in claim.holds:
        return "true" in answer.gives
    return answer.gives == ("false",)


def _open(claim: Claim, name: str, answer: Answer) -> str:
    """Why an answer does not decide what is claimed of a chip, "" where it does. Where a test may hold and has been
    seen to, the results of other runs change nothing."""
    seen = "true" in answer.gives and not answer.guessed
    return "" if seen and name in claim.holds and name not in claim.certain else answer.undecided


def contradicts(claim: Claim, name: str, answer: Answer) -> bool:
    """Whether an outcome is one that a claim rules out, and not only one missing that it leaves open."""
    open_ = name in claim.holds and name not in claim.certain
    return not open_ and not agrees(claim, name, answer)


def _handed(slice_: Slice, wrong: Sequence[str], ran: SandboxRun) -> str:
    """A parameter that the file's own calls give a value, and that answers turn on; "" where there is none."""
    chosen = (key for name in wrong for one in ran.answers[name].chosen for key in one["chosen"])
    return next((word for key in chosen for word in re.findall(r"\w+", key) if word in slice_.handed), "")


def _present(world: Workbench, asked: Sequence[Chip]) -> list[Chip]:
    """The chips of the devices that are here, besides those asked for."""
    found: dict[str, Chip] = {}
    for device in world.devices:
        try:
            found[device.capability] = chip(device.capability)
        except ValueError:
            continue
    return [each for each in found.values() if each not in asked]


def claimed(claim: Claim, name: str) -> str:
    """What the interpreter says of a chip, in the words of an answer."""
    if name in claim.raises:
        return "raises"
    if name in claim.certain:
        return "true"
    return "true or false" if name in claim.holds else "false"


def _differences(claim: Claim, wrong: Sequence[str], ran: SandboxRun) -> str:
    grouped: dict[tuple[str, str], list[str]] = {}
    for name in wrong:
        given = " or ".join(reversed(ran.answers[name].gives))
        grouped.setdefault((given, claimed(claim, name)), []).append(name)
    return "; ".join(
        f"{given} on {' and '.join(names)}, where {told} was claimed" for (given, told), names in grouped.items()
    )


def _details(claim: Claim, slice_: Slice, ran: SandboxRun) -> dict[str, Any]:
    table = {
        name: {
            "claimed": claimed(claim, name) if name in claim.chips else None,
            "cpython": list(answer.gives),
            "undecided": answer.undecided,
            "runs": [dict(row) for row in answer.chosen[:8]],
        }
        for name, answer in ran.answers.items()
    }
    modules = {dotted: len(plan.statements) for dotted, plan in slice_.modules.items() if plan.statements}
    return {"outcomes": table, "slice": slice_.text[:LONGEST_TEXT], "modules": modules, "assumed": list(ran.assumed)}
