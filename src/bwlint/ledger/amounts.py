"""Questions of operations that some chips lack: bytes, clusters, multiprocessors, peers, pinned packages."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bwlint.judging.aside import aside
from bwlint.judging.context import Context
from bwlint.ledger import naming
from bwlint.ledger.question import Question
from bwlint.model.expr import Expr
from bwlint.model.facts import Module, Operation
from bwlint.model.ledger import RowPlace

_ASKED = frozenset(
    {
        *("instruction", "atom", "cluster", "dynamic-shared", "static-shared", "default-shared", "capacity", "stated"),
        *(
            "launch",
            "launch-bounds",
            "dependent-launch",
            "switched-on",
            "link-speed",
            "link-use",
            "peer",
            "plan-branch",
        ),
        *(
            "size-table",
            "lookup",
            "tuned-shared",
            "launched-shared",
            "glued",
            "as-text",
            "floor",
            "soname",
            "environment",
        ),
        *("cuda-matrix", "wheel-index", "package-floor", "package-pin", "cuda-image", "picked-target"),
        *("multiprocessors", "memory-tier", "memory-query"),
    }
)
"""Kinds that are a question by themselves; the others only help to judge one."""
_SHARED = frozenset({"dynamic-shared", "static-shared", "default-shared", "stated", "capacity", "shared-size"})
_COUNTED = frozenset({*_SHARED, "cluster", "launch-bounds", "multiprocessors"})
"""Kinds whose amounts are numbers."""
MOST_SHARED, WITHOUT_OPT_IN = 99 * 1024, 48 * 1024
"""Bytes of shared memory that a block of 12.x can have at most, and that a block of any chip has without asking for
more (chips/devices.toml)."""


def of_operations(context: Context, module: Module, told: Collection[int]) -> Iterator[Question]:
    """The operations of a file by kind, less those on lines that are `told` of a gate already."""
    found: dict[str, list[Operation]] = {}
    for operation in module.operations:
        if operation.kind in _ASKED and operation.at.line not in told:
            found.setdefault(operation.kind, []).append(operation)
    for kind, operations in found.items():
        functions, names = (
            list(dict.fromkeys(values)) for values in zip(*((o.qualname, o.name) for o in operations), strict=True)
        )
        qualname = functions[0] if len(functions) == 1 else ""
        name = ", ".join(names[:4])
        marks = {"is-amount", f"is-op-{kind}"}
        amounts = [amount for one in operations for amount in one.amounts if kind in _COUNTED]
        numbers = [number for amount in amounts for number in _numbers(context, module, amount)]
        if kind in _SHARED and any(number > MOST_SHARED for number in numbers):
            marks.add("more-than-99-kib")
        if not all(one.checked for one in operations):
            marks.add("is-not-checked")
        marks |= naming.around(naming.generations(qualname) | naming.of_file(module.path), context.targets)
        if aside(context, module):
            marks.add("in-test" if context.in_test(module) else "aside")
        fits = kind in _SHARED and len(numbers) >= len(operations) and max(numbers) <= WITHOUT_OPT_IN
        said = ", ".join(str(number) for number in dict.fromkeys(numbers))
        yield Question(
            form="amount",
            subject=qualname or module.path.rpartition("/")[2],
            text=f"{kind.replace('-', ' ')} {name}{f' ({said})' if said else ''}"[:200],
            places=tuple(RowPlace(module.path, o.at.line, max(o.at.line, o.at.end_line), "here") for o in operations),
            marks=frozenset(marks),
            passes=f"asks for at most {WITHOUT_OPT_IN // 1024} KiB, which every chip grants" if fits else "",
        )


def _numbers(context: Context, module: Module, amount: Expr) -> list[int]:
    lanes = context.tree.numbers(module, amount)
    return list(dict.fromkeys(lane for lane in lanes if isinstance(lane, int) and not isinstance(lane, bool)))[:4]
