"""Collect all checks of the chip in one file.

Those of builds (a list, a flag, a variable) and of operations that some chips lack (bytes, clusters, peers) are made
here, and what a table of `chips/` decides is decided: instructions that ptxas takes, releases of CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from bwlint.chips import ChipSet
from bwlint.chips.atoms import atom
from bwlint.chips.chipset import siblings
from bwlint.chips.instructions import verdict
from bwlint.chips.targetset import TargetSet
from bwlint.chips.toolkits import first_release, version
from bwlint.chips.wording import plain
from bwlint.judging.amounts import fitting
from bwlint.judging.aside import aside_marks
from bwlint.judging.context import Context
from bwlint.ledger import naming
from bwlint.ledger.gates import of_gates, of_guards
from bwlint.ledger.question import MOST_TEXT, Question, Table, columns, shape
from bwlint.model.details import MultiprocessorGroups, Multiprocessors
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.ledger import RowPlace
from bwlint.world.builds import exactly_one_of, runs_on

_ASKED = frozenset(
    {
        *("instruction", "atom", "cluster", "dynamic-shared", "static-shared", "default-shared", "capacity", "stated"),
        *("launch-bounds", "dependent-launch", "switched-on", "link-speed", "link-use", "peer", "plan-branch"),
        *("size-table", "lookup", "tuned-shared", "launched-shared", "glued", "as-text", "floor", "soname"),
        *("environment", "cuda-matrix", "wheel-index", "package-floor", "package-pin", "cuda-image", "picked-target"),
        *("multiprocessors", "memory-tier", "memory-query"),
    }
)
"""Kinds that are a question by themselves; the others only help to judge one."""
_SHARED = frozenset({"dynamic-shared", "static-shared", "default-shared", "stated", "capacity", "shared-size"})
_COUNTED = frozenset({*_SHARED, "cluster", "launch-bounds"})
"""Kinds whose amounts are numbers."""
_BETWEEN_GPUS = re.compile(r"\bmultimem\b|\b(?:red|atom)\b[\w.]*\.sys\b")
"""Instructions whose answer is the link's, and not the assembler's."""
_CALLED = {"as-text": "parts of"}
"""What people call kinds whose names say too much."""
_RELEASES = frozenset({"cuda-matrix", "wheel-index", "cuda-image"})
"""Kinds that are called after a release of CUDA."""
_PLAIN = TargetSet.where(lambda target: not target.suffix)


def questions_of(context: Context, module: Module) -> Iterator[Question]:
    """The questions of a file and of the code in its strings, by what asks."""
    asked = [*of_gates(context, module), *of_guards(context, module)]
    yield from asked
    lines = frozenset(line for one in asked for place in one.places for line in range(place.line, place.end_line + 1))
    for part in (module, *module.embedded):
        yield from of_builds(context, part)
        yield from of_operations(context, part, lines)


def of_builds(context: Context, module: Module) -> Iterator[Question]:
    """The lists and flags of a file; flags of one group are one question."""
    lists: dict[tuple[str, str, str, str], list[Carry]] = {}
    for carry in module.carries:
        lists.setdefault((carry.kind, carry.name, carry.qualname, carry.group), []).append(carry)
    for carries in lists.values():
        yield _list(context, module, carries)


def _list(context: Context, module: Module, carries: list[Carry]) -> Question:
    first, asked = carries[0], context.targets
    covered = runs_on(carries)
    is_known = any(carry.sass or carry.ptx for carry in carries)
    table: Table = tuple((chip, "yes" if chip in covered else "no") for chip in columns(asked) if is_known)
    marks = {f"is-{first.kind}", *shape(table, asked.names)}
    named = sorted({name for carry in carries for name in (*carry.sass, *carry.ptx)}, key=lambda n: (len(n), n))
    if named and not asked & covered:
        marks.add("builds-nothing-for-asked")
    if exactly_one_of(carries) & asked:
        marks.add("builds-for-one-twin")
    if any(name.endswith("a") and name.startswith("12") for name in named):
        marks.add("exact-target")
    if not named:
        marks.add("no-target-is-known")
    if first.sources:
        marks.add("names-its-sources")
    marks |= aside_marks(context, module)
    text = f"{first.name} {first.text or ', '.join(named)}".strip()
    return Question(
        form="build",
        subject=first.name or module.path.rpartition("/")[2],
        text=" ".join(text.split())[:MOST_TEXT],
        places=tuple(RowPlace(module.path, c.at.line, max(c.at.line, c.at.end_line), "built for") for c in carries),
        table=table,
        marks=frozenset(marks),
        behind=f"targets: {', '.join(named)}" if named else "",
        unknown="" if named else "bwlint does not know the targets of this build",
    )


@dataclass(frozen=True, slots=True)
class _Settled:
    """What a table says of an operation: why it cannot matter, or why somebody should look at it."""

    passes: str = ""
    doubt: str = ""
    unknown: str = ""


def of_operations(context: Context, module: Module, told: Collection[int]) -> Iterator[Question]:
    """The operations of a file by kind, less those on lines that are `told` of a gate already."""
    found: dict[tuple[str, _Settled], list[Operation]] = {}
    for operation in module.operations:
        if operation.kind in _ASKED and operation.at.line not in told:
            found.setdefault((operation.kind, _settled(operation, context.targets)), []).append(operation)
    for (kind, settled), operations in found.items():
        yield _question(context, module, kind, settled, operations)


def _question(
    context: Context, module: Module, kind: str, settled: _Settled, operations: Sequence[Operation]
) -> Question:
    functions, names = (
        list(dict.fromkeys(values)) for values in zip(*((o.qualname, o.name) for o in operations), strict=True)
    )
    qualname = functions[0] if len(functions) == 1 else ""
    name = ", ".join(names[:4])
    marks = {"is-amount", f"is-op-{kind}"}
    amounts = [_amounts(context, module, one) for one in operations]
    numbers = [number for some in amounts for number in some if number is not None]
    if not all(one.checked or one.kind == "memory-query" for one in operations):
        marks.add("is-not-checked")
    marks |= naming.around(naming.generations(qualname) | naming.of_file(module.path), context.targets)
    if kind in _SHARED:
        settled = _granted(amounts, context.targets, is_others="stands-among-names-of-others" in marks)
        if settled.doubt:
            marks.add("asks-for-too-much")
    marks |= aside_marks(context, module)
    said = ", ".join(str(number) for number in list(dict.fromkeys(numbers))[:8])
    return Question(
        form="amount",
        subject=qualname or module.path.rpartition("/")[2],
        text=f"{_CALLED.get(kind, kind.replace('-', ' '))} {name}{f' ({said})' if said else ''}"[:MOST_TEXT],
        places=tuple(
            RowPlace(module.path, at.line, max(at.line, at.end_line), "here")
            for at in dict.fromkeys(one.at for one in operations)
        ),
        marks=frozenset(marks),
        passes=settled.passes,
        doubt=settled.doubt,
        unknown=settled.unknown,
    )


def _settled(operation: Operation, asked: ChipSet) -> _Settled:
    if operation.kind in ("instruction", "atom"):
        return _assembled(operation, TargetSet.native(asked) & _PLAIN)
    if operation.kind in _RELEASES:
        return _released(operation.name, asked)
    return _Settled()


def _assembled(operation: Operation, targets: TargetSet) -> _Settled:
    known = verdict(operation.name) if operation.kind == "instruction" else atom(operation.name)
    if known is None or not targets <= known.legal - known.slow:
        return _Settled()
    told = f"ptxas takes it for {', '.join(targets.names)}"
    if _BETWEEN_GPUS.search(operation.name):
        return _Settled(unknown=f"{told}; between GPUs the link decides whether it works")
    return _Settled(passes=told)


def _released(release: str, asked: ChipSet) -> _Settled:
    """Whether a release of CUDA knows the asked chips: where it knows one of a family, its code runs on the others."""
    try:
        own = version(release)
    except ValueError:
        return _Settled()
    late = [chip for chip in asked if chip.min_cuda and own < version(chip.min_cuda)[: len(own)]]
    if not late:
        return _Settled(passes=f"CUDA {release} knows the checked chips")
    families = dict.fromkeys(siblings(chip) & asked for chip in late)
    unknown = [family for family in families if not any(chip not in late for chip in family)]
    if unknown:
        chips = reduce(ChipSet.__or__, unknown)
        first = max(map(first_release, unknown), key=version)
        return _Settled(doubt=f"CUDA {release} cannot compile for {plain(chips)}: {first} is the first that can")
    known = ", ".join(chip.name for family in families for chip in family if chip not in late)
    return _Settled(passes=f"CUDA {release} knows {known}, and its code for {known} runs on the whole family")


def _granted(amounts: Sequence[Sequence[int | None]], asked: ChipSet, *, is_others: bool) -> _Settled:
    """`is_others`: among names for other chips, more than the asked ones have is what one expects."""
    numbers = [number for some in amounts for number in some if number is not None]
    most = max(numbers, default=0)
    if short := asked - fitting(most):
        limit = min(chip.smem_per_block_optin or 0 for chip in short)
        why = f"needs {most:,} bytes of shared memory, and {plain(short)} allow a block {limit:,} bytes"
        return _Settled(unknown=why) if is_others else _Settled(doubt=why)
    default = min(chip.smem_per_block_default or 0 for chip in asked)
    if all(some and None not in some for some in amounts) and most <= default:
        return _Settled(passes=f"needs at most {default // 1024} KiB, which every chip grants")
    return _Settled()


def _amounts(context: Context, module: Module, operation: Operation) -> list[int | None]:
    """The different amounts of an operation; None stands for what is not known."""
    if isinstance(operation.detail, Multiprocessors):
        return [operation.detail.number]
    if isinstance(operation.detail, MultiprocessorGroups):
        return list(dict.fromkeys((operation.detail.groups, operation.detail.each)))
    if operation.kind not in _COUNTED:
        return []
    lanes = [lane for amount in operation.amounts for lane in context.tree.numbers(module, amount)]
    known = [lane if isinstance(lane, int) and not isinstance(lane, bool) else None for lane in lanes]
    return list(dict.fromkeys(known))
