"""Claims that `confirm` can test: one constructor for each kind in `model.findings.ClaimKind`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.chips import NO_TARGET, ChipSet, TargetSet
from bwlint.chips.wording import plain
from bwlint.model.findings import BUILDER, Claim

if TYPE_CHECKING:
    from bwlint.model.expr import Span
    from bwlint.model.facts import Located

_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//.*", re.S)
_LONGEST = 200

SETMAXNREG = "setmaxnreg.inc.sync.aligned.u32"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim before it has text columns: its place, and the file of that where it is not the draft's."""

    claim: Claim
    at: Span | None = None
    module: Located | None = None


def instruction(name: str, targets: TargetSet, *, wrapped: bool = False, operands: bool = False) -> Claim:
    """An instruction by its head, or with `wrapped` a name that stands for some; `operands`: these decide too."""
    what = f"the code of `{name}`" if wrapped else f"`{name}`"
    what += " with these operands" if operands else ""
    return Claim("instruction", f"{what} does not assemble for {targets}", targets=targets.names, subject=name)


def legal(name: str, targets: TargetSet, *, wrapped: bool = False) -> Claim:
    what = f"the code of `{name}`" if wrapped else f"`{name}`"
    return Claim("legal", f"{what} assembles for {targets}", targets=targets.names, subject=name)


def slow(name: str, targets: TargetSet, *, wrapped: bool = False) -> Claim:
    what = f"the code of `{name}`" if wrapped else f"`{name}`"
    says = f"{what} assembles for {targets} to code that calls a driver routine"
    return Claim("slow", says, targets=targets.names, subject=name)


def calls(kernel: str, chips: ChipSet) -> Claim:
    """A kernel of a binary that calls the driver's routines."""
    says = f"`{_short(kernel)}` calls driver routines on {plain(chips)}"
    return Claim("slow", says, chips=chips.names, subject=kernel)


def guard(text: str, targets: TargetSet, may: TargetSet, must: TargetSet) -> Claim:
    """A directive with its test, and of `targets` those for which it may hold and those for which it must."""
    subject, holds, certain = directive(text), may & targets, must & targets
    verb = "is true" if holds == certain else "may be true"
    told = [f"{verb} for {holds}"] if holds else []
    told += [f"false for {targets - holds}"] if targets - holds else []
    says = f"`{_short(subject)}` {' and '.join(told)}" if holds else f"`{_short(subject)}` is false for {targets}"
    return Claim("guard", says, targets=targets.names, holds=holds.names, certain=certain.names, subject=subject)


def directive(text: str) -> str:
    """A directive in one line, without comments."""
    return " ".join(_COMMENT.sub(" ", _CONTINUED.sub(" ", text)).split())


def image(chips: ChipSet, *, kernel: str = "", at: int | None = None, path: str = "") -> Claim:
    """No image of a file loads; of one container by its offset in bytes, or of a kernel by its name."""
    what = f"`{_short(kernel)}`" if kernel else "the file" if at is None else f"the container at {at:#x}"
    subject = kernel or ("" if at is None else f"{at:#x}")
    says = f"no image of {what} loads on {plain(chips)}"
    return Claim("image", says, chips=chips.names, subject=subject, path=path)


def build(pairs: Iterable[str], chips: ChipSet) -> Claim:
    """What pairs such as "compute_90,sm_90" make does not load on the chips."""
    subject = ";".join(dict.fromkeys(pairs))
    says = f"nvcc's code for {_short(subject)} does not load on {plain(chips)}"
    return Claim("build", says, chips=chips.names, subject=subject)


def refused(pairs: Iterable[str]) -> Claim:
    """No nvcc takes the pairs."""
    subject = ";".join(dict.fromkeys(pairs))
    return Claim("build", f"nvcc refuses {_short(subject)}", subject=subject)


def shared(how: str, size: int, chips: ChipSet, targets: TargetSet = NO_TARGET) -> Claim:
    """`how` is dynamic, static or default (dynamic without an opt-in); what ptxas alone refuses has `targets`."""
    amount = f"{size} bytes of {'dynamic' if how == 'default' else how} shared memory"
    amount += " without an opt-in" if how == "default" else ""
    says = f"ptxas refuses {amount} for {targets}" if targets else f"a block of {plain(chips)} cannot have {amount}"
    return Claim("shared", says, chips=chips.names, targets=targets.names, subject=how, amounts=(size,))


def shared_together(total: int, chips: ChipSet) -> Claim:
    """Static and dynamic memory of one kernel, which a block cannot have as dynamic memory alone either."""
    says = f"a block of {plain(chips)} cannot have {total} bytes of shared memory, static and dynamic together"
    return Claim("shared", says, chips=chips.names, subject="dynamic", amounts=(total,))


def cluster(shape: Iterable[int], chips: ChipSet, kernel: str = "") -> Claim:
    """A shape of up to three dimensions, in blocks."""
    x, y, z = (*shape, 1, 1)[:3]
    says = f"a cluster of {x} x {y} x {z} blocks cannot be launched on {plain(chips)} without an opt-in"
    return Claim("cluster", says, chips=chips.names, subject=kernel, amounts=(x, y, z))


def builder(shape: Iterable[int], chips: ChipSet) -> Claim:
    """A shape that a builder of CUTLASS for the chips refuses."""
    x, y, z = (*shape, 1, 1)[:3]
    says = f"CUTLASS's builder for {plain(chips)} refuses a cluster of {x} x {y} x {z} blocks"
    return Claim("cluster", says, chips=chips.names, subject=BUILDER, amounts=(x, y, z))


def bounds(threads: int, blocks: int, chips: ChipSet) -> Claim:
    says = f"{blocks} blocks of {threads} threads are more than a multiprocessor of {plain(chips)} holds"
    return Claim("bounds", says, chips=chips.names, amounts=(threads, blocks))


def unchecked(chips: ChipSet, size: int | None) -> Claim:
    amount = f"{size} bytes of" if size is not None else "too much"
    says = f"nothing here notices that {plain(chips)} refuse {amount} dynamic shared memory"
    return Claim("unchecked", says, chips=chips.names, amounts=() if size is None else (size,))


_PEER = {
    "peer-store": "stores to a peer's memory may not arrive",
    "remote-atomic": "system-scope atomics on a peer's memory may not be native",
    "multicast": "there may be no multicast object",
    "fabric": "fabric handles may be refused",
    "rdma": "memory for GPUDirect RDMA may be refused",
}


def peer(path: str, chips: ChipSet) -> Claim:
    """A path over another GPU's memory, by its name in `chips/peers.toml`."""
    return Claim("peer", f"on {plain(chips)} {_PEER[path]}", chips=chips.names, subject=path)


def need(subject: str, chips: ChipSet, works: ChipSet, says: str) -> Claim:
    """Something behind a gate, and those of `chips` on which it works."""
    return Claim("need", says, chips=chips.names, holds=(chips & works).names, subject=subject)


def other(says: str, chips: ChipSet, subject: str = "") -> Claim:
    return Claim("other", says.removesuffix("."), chips=chips.names, subject=subject)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
