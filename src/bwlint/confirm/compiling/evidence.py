"""What a PTX listing and ptxas messages prove about a claim, for one target."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bwlint.chips import Target, spelling
from bwlint.chips.atoms import atom
from bwlint.chips.instructions import parse, verdict
from bwlint.confirm.compiling.compiler import CompilerRun, Message, cut, same_file
from bwlint.confirm.compiling.listing import Lines, ListedFunction, ListedStatement, Listing, flagged
from bwlint.confirm.workbench import Subject
from bwlint.model.findings import Outcome
from bwlint.model.images import DRIVER_CALL, Cubin
from bwlint.readers.binary import cubin as cubins
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

_ABOUT_TARGET = re.compile(r"\.target\b|\bsm_\d|(?i:for|gpu|target|this) architecture")
_ABOUT_MODULE = re.compile(r"(?:Unsupported|Conflicting|does not support|specified by) \.target|requires PTX ISA")
_QUOTED = re.compile(r"'([^']*)'")
_PAIR_REFUSED = re.compile(r"(?i)gpu arch|code generation|compute_\d|sm_\d|'--?(?:gpu-|arch|code|gencode)|\.target")
_OWN_FILES = re.compile(r"\S*(?:tmpxft|unit)\S*")
_TOO_MUCH = re.compile(r"^Entry function '([^']+)' uses too much shared data \(0x([0-9a-fA-F]{1,12}) bytes, 0x")
_OUT_OF_RANGE = re.compile(r"^[\w ]+ for entry (\S+) is out of range\. \.?minnctapersm will be ignored")
_STATIC_ASSERT = re.compile(r"^\S.*\berror\b[^\n]*static assertion failed.*$", re.MULTILINE)
_OTHER_ERROR = re.compile(r"^\S[^\n]*\berror\b", re.MULTILINE)
_ARCH = re.compile(spelling.OF_TOOLS + spelling.TARGET)
_NEAR = 40
"""Lines between __launch_bounds__ or an array and the line that a compiler gives its kernel."""


@dataclass(frozen=True, slots=True)
class TargetAnswer:
    """What one target showed. `said` are the tool's own words, `line` that of the listing which they are about.
    `compiled` is not set where the flagged place is not in what was assembled."""

    outcome: Outcome
    reason: str
    said: str = ""
    line: int = 0
    head: str = ""
    compiled: bool = True

    def told(self) -> dict[str, Any]:
        """For a receipt; what is empty is left out."""
        values = (self.outcome, self.reason, self.said, self.line, self.head)
        names = ("outcome", "reason", "said", "PTX line", "statement")
        return {name: value for name, value in zip(names, values, strict=True) if value}


def undecided(reason: str, said: str = "", *, compiled: bool = True) -> TargetAnswer:
    return TargetAnswer("inconclusive", reason, said, compiled=compiled)


@dataclass(frozen=True, slots=True)
class AssemblyCase:
    """A claim, the PTX that was assembled for a target and what came of it. `own`: the PTX is the flagged file."""

    subject: Subject
    target: str
    listing: Listing
    cubin: CompilerRun
    own: bool

    @property
    def name(self) -> str:
        return self.subject.claim.subject

    @property
    def errors(self) -> tuple[Message, ...]:
        return tuple(message for message in self.cubin.messages if message.level != "warning")

    @property
    def lines(self) -> Lines | None:
        at = self.subject.claim.at
        if at is None:
            return None
        return Lines(self.subject.real, at.line, at.end_line) if self.own else flagged(self.subject.real, at)

    def refusals(self, found: Sequence[ListedStatement]) -> list[tuple[ListedStatement, Message]]:
        """What ptxas says against some statements."""
        return [
            (one, error)
            for error in self.errors
            for one in found
            if one.line <= error.line <= one.end_line and self._is_meant(one, error)
        ]

    def _is_meant(self, one: ListedStatement, error: Message) -> bool:
        """Whether a message is about a statement, and not about another one on its line."""
        named = (match[1].strip(".") for match in _QUOTED.finditer(error.text))
        if any(name and f".{name}." in f".{one.head}." for name in named):
            return True
        target = Target.parse(self.target)
        others = [each.head for each in self.listing.written(error.line, error.line) if each.head != one.head]
        return all(target in said.legal or not said.forms for said in map(verdict, others))


def is_about_target(text: str) -> bool:
    """Whether an error is one about the target, and not about operands, about names or about the module's version."""
    words = _QUOTED.sub("''", text)
    return _ABOUT_TARGET.search(words) is not None and _ABOUT_MODULE.search(words) is None


def refused(case: AssemblyCase) -> TargetAnswer:
    """Whether ptxas refuses the flagged statement."""
    found = _statements(case)
    if not found:
        return _left_out(case)
    against = case.refusals(found) if case.cubin.path is None else []
    for statement, error in against:
        if is_about_target(error.text):
            reason = f"ptxas for {case.target}: {cut(error.text)}"
            return TargetAnswer("confirmed", reason, error.text, statement.line, statement.head)
    if against:
        statement, error = against[0]
        reason = f"ptxas for {case.target} refuses the statement, but not for the target: {cut(error.text)}"
        return TargetAnswer("inconclusive", reason, error.text, statement.line, statement.head)
    if case.cubin.path is None:
        return _failed(case)
    return TargetAnswer("refuted", f"ptxas assembles it for {case.target}", "", found[0].line, found[0].head)


def taken(case: AssemblyCase) -> TargetAnswer:
    """Whether ptxas takes the flagged statement: the opposite of whether it refuses it."""
    found = refused(case)
    return replace(found, outcome=_OPPOSITE[found.outcome])


_OPPOSITE: dict[Outcome, Outcome] = {"confirmed": "refuted", "refuted": "confirmed", "inconclusive": "inconclusive"}


def slow(case: AssemblyCase) -> TargetAnswer:
    """Whether the flagged statement became a call of the driver."""
    found = _statements(case)
    if not found:
        return _left_out(case)
    if case.cubin.path is None:
        return _failed(case)
    said = read_cubin(case.cubin.path)
    if isinstance(said, str):
        return undecided(said)
    for one in found:
        # A function that kernels call may be in each.
        around = [kernel for kernel in said.kernels if kernel.name == one.function] or said.kernels
        calls = {call for kernel in around for call in kernel.driver_calls}
        wanted = _expected(one.head)
        if wanted and wanted in calls:
            reason = f"the cubin for {case.target} calls {wanted}"
            return TargetAnswer("confirmed", reason, wanted, one.line, one.head)
    if any(kernel.driver_calls for kernel in said.kernels):
        return undecided(f"the cubin for {case.target} does not tell what the statement became")
    reason = f"the cubin for {case.target} has the statement and calls no routine of the driver"
    return TargetAnswer("refuted", reason, "", found[0].line, found[0].head)


def bounds(case: AssemblyCase) -> TargetAnswer:
    """Whether ptxas drops the minimum of blocks of the flagged kernel."""
    asked = tuple(case.subject.claim.amounts[:2])
    kernels = [one for one in _kernels(case) if (one.threads, one.blocks) == asked]
    if not kernels:
        return _left_out(case)
    names = {one.name: one for one in kernels}
    for message in case.cubin.messages:
        dropped = _OUT_OF_RANGE.search(message.text)
        if dropped and dropped[1] in names:
            reason = f"ptxas for {case.target}: {cut(message.text)}"
            return TargetAnswer("confirmed", reason, message.text, names[dropped[1]].line)
    if case.cubin.path is None:
        return _failed(case)
    reason = f"ptxas for {case.target} takes {asked[1]} blocks of {asked[0]} threads without a warning"
    return TargetAnswer("refuted", reason)


def static_shared(case: AssemblyCase) -> TargetAnswer:
    """Whether ptxas refuses the flagged kernel for its static shared memory."""
    (amount, *_) = case.subject.claim.amounts or (0,)
    kernels = {one.name: one for one in _kernels(case)}
    if not kernels:
        return _left_out(case)
    for error in case.errors:
        said = _TOO_MUCH.search(error.text)
        if said and said[1] in kernels and int(said[2], 16) >= amount > 0:
            reason = f"ptxas for {case.target}: {cut(error.text)}"
            return TargetAnswer("confirmed", reason, error.text, kernels[said[1]].line)
    if case.cubin.path is None:
        return _failed(case)
    image = read_cubin(case.cubin.path)
    if isinstance(image, str):
        return undecided(image)
    large = [kernel for kernel in image.kernels if kernel.name in kernels and kernel.shared >= amount > 0]
    if not large:
        return undecided(f"no kernel of the file has {amount} bytes in the cubin for {case.target}")
    return TargetAnswer("refuted", f"ptxas for {case.target} gives a kernel {large[0].shared} bytes")


def of_probe(made: CompilerRun, target: str, line: int) -> TargetAnswer:
    """Whether ptxas refuses a statement of our own, on a line of a module that is right for other targets."""
    if not made.knows_target:
        return undecided(f"this ptxas does not know {target}")
    if made.path is not None:
        return TargetAnswer("refuted", f"ptxas assembles it for {target}", "", line)
    for error in made.messages:
        if error.line == line and is_about_target(error.text):
            return TargetAnswer("confirmed", f"ptxas for {target}: {cut(error.text)}", error.text, line)
    return undecided(f"ptxas for {target}: {made.first_error}")


def static_assertion(subject: Subject, target: str, made: CompilerRun, unit: str) -> TargetAnswer:
    """Whether a static_assert about clusters refuses the flagged file, in the unit at a path."""
    for found in _STATIC_ASSERT.finditer(made.output):
        rest = made.output[found.end() :]
        following = _OTHER_ERROR.search(rest)
        context = rest[: following.start()] if following else rest
        names_file = any(path in context + found[0] for path in (subject.real, os.path.realpath(subject.real)))
        if names_file and re.search(r"(?i)cluster", found[0] + context[:2000]):
            return TargetAnswer("confirmed", f"nvcc for {target}: {cut(found[0].strip())}", cut(found[0].strip(), 1000))
    if made.path is None:
        return not_compiled(subject, target, made, unit)
    return undecided(f"nvcc compiles it for {target}; whether the builder was instantiated is not known")


def not_compiled(subject: Subject, target: str, made: CompilerRun, unit: str) -> TargetAnswer:
    """That a compiler makes nothing of the unit at a path: the flagged file, or one that includes it."""
    if not made.knows_target:
        return undecided(f"this nvcc does not know {target}")
    is_own = os.path.realpath(unit) == os.path.realpath(subject.real)
    what = "it" if is_own else f"{Path(unit).name}, which includes it,"
    return undecided(f"nvcc does not compile {what} for {target}: {made.first_error}{made.hint}", made.first_error)


def is_about_targets(made: CompilerRun) -> bool:
    """Whether a refusal of a build is about its targets, not about a machine that cannot build."""
    return _PAIR_REFUSED.search(_OWN_FILES.sub("", made.first_error)) is not None


def too_new(made: CompilerRun) -> str:
    """A target that is known here and that a compiler, older or newer than that, does not know; "" for any other."""
    if made.knows_target:
        return ""
    for name in _ARCH.findall(made.first_error):
        try:
            return Target.parse(f"sm_{name.partition('_')[2]}").name
        except ValueError:
            continue
    return ""


def is_arch(name: str) -> bool:
    return _ARCH.fullmatch(name) is not None


def is_charged(name: str, case: AssemblyCase) -> bool:
    """Whether another instruction or wrapper is one of which the same could be claimed."""
    found = atom(name)
    target = Target.parse(case.target)
    legal, slow = (found.legal, found.slow) if found is not None else (verdict(name).legal, verdict(name).slow)
    kind = case.subject.claim.kind
    return (kind == "instruction" and target not in legal) or (kind == "slow" and target in slow)


def _statements(case: AssemblyCase) -> list[ListedStatement]:
    """The flagged statement in the listing, as often as it is there."""
    if atom(case.name) is not None:
        # Its functions hold other statements too: those count that the finding could be about.
        return [
            one
            for one in case.listing.statements(inline=True)
            if _is_meant(one, case)
            and any(_has(name, case.name) for name in (one.function, *(frame.function for frame in one.frames)))
        ]
    head = parse(case.name).head
    lines = case.lines
    if not head or lines is None:
        return []
    # A template may go on in a macro: what is known of its head is then the beginning.
    if case.own:
        return [one for one in case.listing.written(lines.first, lines.last) if one.head.startswith(head)]
    word = head.split(".")[0]
    return [one for one in case.listing.statements(word) if one.head.startswith(head) and lines.hold(one.frames)]


def _left_out(case: AssemblyCase) -> TargetAnswer:
    listing, target = case.listing, case.target
    if case.own:
        return undecided("the flagged place does not hold what the finding names: the file has changed")
    reason, said = f"the flagged place is not in the PTX for {target}", ""
    if not any(one.is_kernel for one in listing.functions()):
        reason = f"nothing of it becomes a kernel for {target}"
    elif atom(case.name) is not None and listing.names(lambda name: _has(name, case.name)):
        reason = f"`{case.name}` is compiled for {target} without an instruction: its header leaves that out"
    elif case.errors:
        said = case.errors[0].text
        reason += f", of which ptxas refuses another: {cut(said)}"
    return undecided(f"not compiled in: {reason}", said, compiled=False)


def _failed(case: AssemblyCase) -> TargetAnswer:
    words = case.errors[0].text if case.errors else case.cubin.first_error
    return undecided(f"ptxas for {case.target} refuses something else: {cut(words)}", words)


def _kernels(case: AssemblyCase) -> list[ListedFunction]:
    """The kernels that the flagged place may be in or in front of."""
    at = case.subject.claim.at
    if at is None:
        return []
    kernels = [one for one in case.listing.functions() if one.is_kernel]
    if case.own:
        return [one for one in kernels if one.line <= at.end_line][-1:] or kernels
    outermost = [(one.frames[-1], one) for one in kernels if one.frames]
    found = [(abs(at.line - frame.line), one) for frame, one in outermost if same_file(frame.path, case.subject.real)]
    nearest = min((distance for distance, _ in found), default=_NEAR + 1)
    return [one for distance, one in found if distance == nearest] if nearest <= _NEAR else []


def _is_meant(statement: ListedStatement, case: AssemblyCase) -> bool:
    """Whether the table of instructions says of a statement what the finding says of the name that wraps it."""
    said = verdict(statement.head)
    target = Target.parse(case.target)
    kind = case.subject.claim.kind
    if kind == "legal":
        return bool(said.forms)
    return target in said.slow if kind == "slow" else target not in said.legal


def _has(function: str, name: str) -> bool:
    """Whether a mangled function is one of a type or function, by its name in front of template arguments."""
    parts, wanted = _qualified(function), tuple(part for part in name.split("::") if part)
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts)))


@lru_cache(maxsize=4096)
def _qualified(function: str) -> tuple[str, ...]:
    """("cute", "SM90_TMA_LOAD", "copy") of a mangled name, up to the first template arguments."""
    start = re.match(r"_ZN?[rVK]*(?:St)?", function)
    found: list[str] = []
    at = start.end() if start else len(function)
    while (length := re.compile(r"\d{1,4}").match(function, at)) is not None:
        begin = length.end()
        at = begin + int(length[0])
        found.append(function[begin:at])
    return tuple(found)


def _expected(head: str) -> str:
    """The routine of the driver that stands in for a bulk copy; "" for anything else."""
    if not head.startswith("cp.async.bulk"):
        return ""
    words = head.split(".")
    way = "multicast" if "multicast::cluster" in words else "unicast"
    if "tensor" not in words:
        return f"{DRIVER_CALL}{way}"
    extent = next((word for word in words if re.fullmatch(r"[1-5]d", word)), "")
    tile = "im2col" if any(word.startswith("im2col") for word in words) else "tile"
    return f"{DRIVER_CALL}tensor_{extent}_{tile}_{way}"


@lru_cache(maxsize=32)
def read_cubin(path: Path) -> Cubin | str:
    """What a compiler made; a string says why it cannot be read."""
    try:
        return cubins.read(ByteSource.of_bytes(path.read_bytes()))
    except (OSError, ReadError) as error:
        return f"the cubin cannot be read: {error}"
