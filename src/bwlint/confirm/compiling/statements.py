"""Generate PTX for a claim about an instruction that no file of the tree contains."""

from __future__ import annotations

from bwlint.chips import Target
from bwlint.chips.instructions import first_isa, verdict

_OPERANDS = {
    "setmaxnreg.inc.sync.aligned.u32": "40",
    "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes": (
        "[r], [x, {r, r}], [r]"
    ),
}
_LEAST_ISA = (8, 6)


def module(head: str, target: str) -> str | None:
    """A module with one such instruction for a target; None for one whose operands are not known here."""
    operands = _OPERANDS.get(head)
    if operands is None:
        return None
    major, minor = max(_LEAST_ISA, first_isa(Target.parse(target)) or _LEAST_ISA)
    return (
        f".version {major}.{minor}\n.target {target}\n.address_size 64\n"
        f".visible .entry bwlint_probe() {{ .reg .b32 r; .reg .b64 x;\n{head} {operands};\nret; }}\n"
    )


LINE = 5
"""Where the instruction stands in a module."""


def control(head: str) -> str | None:
    """A target for which the instruction is said to assemble, which shows that the module is right otherwise."""
    return next((target.name for target in reversed(tuple(verdict(head).legal)) if target.suffix == "a"), None)
