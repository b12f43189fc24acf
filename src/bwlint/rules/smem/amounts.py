"""smem: a block asks for more shared memory than the chip gives to one, or a limit is taken that is not the block's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, Chip, ChipSet, TargetSet, spelling
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, kib, plain
from bwlint.judging import claims
from bwlint.judging.amounts import ANYBODYS, BUILT, OURS, THEIRS, Asked, asked, fitting
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Module
from bwlint.model.findings import Claim, NoFix, Severity
from bwlint.rules.smem.sizes import ASKED, allow, exceeded

_STAGES = re.compile(r"(?i)stages?_?$")
_MOST_ANYWHERE = 1024 * 1024
"""Bytes: four times what any chip has. A larger `..._SHARED_..._MAX` is a flag or a number of another kind."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _dynamic(context, module)
    yield from _together(context, module)
    yield from _by_default(context, module)
    yield from _static(context, module)
    yield from _capacities(context, module)


def _dynamic(context: Context, module: Module) -> Iterator[Draft]:
    """One finding a function and size: the attribute call and the launch ask for the same bytes."""
    seen: set[tuple[str, int]] = set()
    for one in asked(context, module, "dynamic-shared"):
        (amount,) = one.operation.amounts
        over = _over(one, amount)
        if over is None or one.operation.checked or one.meant == BUILT:
            continue
        chips, size = over
        if (one.operation.qualname, size) in seen:
            continue
        seen.add((one.operation.qualname, size))
        yield _draft(
            one,
            chips=chips,
            legal=fitting(size),
            message=(
                f"{_asks(one)} {kib(size)} of dynamic shared memory. {_has(chips)}."
                " The opt-in and the launch fail with cudaErrorInvalidValue, and the kernel does not run."
            ),
            label="more than there is",
            advice="Query cudaDevAttrMaxSharedMemoryPerBlockOptin and use fewer stages or smaller tiles.",
            claim=claims.shared("dynamic", size, chips),
            severity="warning" if one.meant in (OURS, ANYBODYS) else "note",
            at=_origin(module, amount),
            remedy=_less(chips, size, one.operation.at),
        )


def _together(context: Context, module: Module) -> Iterator[Draft]:
    """A kernel's static arrays and what it is launched with come out of one limit."""
    arrays: dict[str, Asked | None] = {}
    for one in asked(context, module, "static-shared"):
        # Two of one name, or in two branches of the preprocessor, are not told apart.
        name = _last_name(one.operation.qualname)
        arrays[name] = None if name in arrays else one
    seen: set[tuple[str, int]] = set()
    for one in asked(context, module, "dynamic-shared") if arrays else ():
        static = arrays.get(_last_name(one.operation.name))
        if static is None or one.operation.checked or one.meant in (BUILT, THEIRS):
            continue
        (amount,) = one.operation.amounts
        sizes = {chip: size for chip in one.targets.chips if (size := one.number(amount, chip)) is not None}
        totals = {chip: size + _sum(static, chip) for chip, size in sizes.items()}
        over = ChipSet.joining(
            chip for chip, size in sizes.items() if size <= (chip.smem_per_block_optin or 0) < totals[chip]
        )
        total = max((totals[chip] for chip in over), default=0)
        if not over or (one.operation.qualname, total) in seen:
            continue
        seen.add((one.operation.qualname, total))
        yield _draft(
            one,
            chips=over,
            legal=fitting(total),
            message=(
                f"This launch takes {kib(sizes[next(iter(over))])} of dynamic and"
                f" {kib(_sum(static, next(iter(over))))} of static shared memory. {_has(over)}."
            ),
            label="more together than there is",
            advice="Static arrays count towards this limit. Reduce dynamic shared memory by as much.",
            claim=claims.shared_together(total, over),
            severity="warning" if one.meant in (OURS, ANYBODYS) else "note",
            related=(RelatedSpan(static.module, static.operation.at, "the static arrays"),),
        )


def _by_default(context: Context, module: Module) -> Iterator[Draft]:
    """A kernel of a file that opts nothing in, launched with more than every kernel may have."""
    for one in asked(context, module, "default-shared"):
        (amount,) = one.operation.amounts
        sizes = {chip: size for chip in one.targets.chips if (size := one.number(amount, chip)) is not None}
        over = ChipSet.joining(
            chip
            for chip, size in sizes.items()
            if (chip.smem_per_block_default or size) < size <= (chip.smem_per_block_optin or 0)
        )
        if not over or one.meant == BUILT:
            continue
        size = max(sizes[chip] for chip in over)
        yield _draft(
            one,
            chips=over,
            legal=fitting(size),
            message=(
                f"This launch takes {kib(size)} of dynamic shared memory, and nothing in this file opts in."
                f" Without an opt-in a block has {kib(min(chip.smem_per_block_default or 0 for chip in over))}."
            ),
            label="more than without an opt-in",
            advice="Call cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize before the launch.",
            claim=claims.shared("default", size, over),
            severity="note",
        )


def _last_name(name: str) -> str:
    """The kernel of "ns::fill<4>", of "&fill" or of the scope "outer.fill"."""
    found = re.findall(r"\w+", name.partition("<")[0])
    return found[-1] if found else ""


def _less(chips: ChipSet, size: int, at: Span) -> Remedy | NoFix:
    """What to ask for instead: known where the size is that of a multiprocessor."""
    if all(_is_multiprocessor(size, chip) for chip in chips):
        return _block_size(chips, at)
    return NoFix("fewer stages or smaller tiles: which one is your choice")


def _asks(one: Asked) -> str:
    opted = {other.at[0] for other in one.module.operations if (other.kind, other.name) == ("launch", "attribute")}
    return "This opts a kernel in to" if one.operation.at[0] in opted else "A block asks for"


def _over(one: Asked, amount: Expr) -> tuple[ChipSet, int] | None:
    """The chips whose limit an amount exceeds, and the largest value there."""
    sizes = {chip: size for chip in one.targets.chips if (size := one.number(amount, chip)) is not None}
    chips = [chip for chip, size in sizes.items() if chip.smem_per_block_optin and size > chip.smem_per_block_optin]
    return (ChipSet.joining(chips), max(sizes[chip] for chip in chips)) if chips else None


def _origin(module: Module, amount: Expr) -> Span | None:
    """The count of pipeline stages that the size is a product of, where it is a literal of the file."""
    found: list[Span] = []
    queue, seen = [amount], set[str]()
    while queue:
        for node in walk(queue.pop()):
            key = node.args[0] if node.op == "name" else None
            value = module.names.get(key) if isinstance(key, str) else None
            if key is None or value is None or key in seen:
                continue
            seen.add(key)
            queue.append(value)
            if _STAGES.search(key.partition("@")[0]) and value.op == "const" and value.at is not None:
                found.append(value.at)
    return found[0] if len(found) == 1 else None


def _static(context: Context, module: Module) -> Iterator[Draft]:
    for one in asked(context, module, "static-shared"):
        if one.meant in (BUILT, THEIRS):
            continue
        sizes = {chip: _sum(one, chip) for chip in one.targets.chips}
        over = [chip for chip, size in sizes.items() if chip.smem_per_block_optin and size > chip.smem_per_block_optin]
        large = [
            chip for chip, size in sizes.items() if chip.smem_per_block_default and size > chip.smem_per_block_default
        ]
        if not large:
            continue
        size = sizes[large[0]]
        if over:
            message = f"Static arrays take {kib(size)}, and ptxas refuses the kernel. {_has(ChipSet.joining(over))}."
        else:
            names = " and ".join(f"sm_{chip.joined}a" for chip in large)
            limit = kib(large[0].smem_per_block_default or 0)
            message = (
                f"Static arrays take {kib(size)}. Over {limit}, ptxas accepts them for {names} only, from CUDA 13.0 on."
            )
        yield _draft(
            one,
            chips=ChipSet.joining(over or large),
            legal=fitting(size),
            message=message,
            label="too much static shared memory",
            advice="Make the array dynamic (extern __shared__) and set its size with cudaFuncSetAttribute.",
            claim=_too_much(one, over, large, sizes),
            severity="warning" if over else "note",
        )


def _too_much(one: Asked, over: list[Chip], large: list[Chip], sizes: dict[Chip, int]) -> Claim:
    """That no block may have the arrays, or that ptxas takes them for the a targets alone."""
    if over:
        return claims.shared("static", max(sizes[chip] for chip in over), ChipSet.joining(over))
    targets = one.targets & TargetSet.native(ChipSet.joining(large))
    refused = targets - TargetSet.where(lambda target: target.suffix == "a")
    size = min(sizes[chip] for chip in large)
    if refused:
        return claims.shared("static", size, NONE, refused)
    return claims.other(f"ptxas takes {size} bytes of static shared memory from CUDA 13.0 on", targets.chips)


def _sum(one: Asked, chip: Chip) -> int:
    """Bytes of all arrays whose size is known."""
    return sum(size for amount in one.operation.amounts if (size := one.number(amount, chip)) is not None)


def _capacities(context: Context, module: Module) -> Iterator[Draft]:
    """More than the limit of a block, where that is meant: a multiprocessor's size, or another generation's."""
    limits = list(asked(context, module, "capacity")) if module.language != "python" else []
    small = {one.operation.name for one in limits if one.operation.path and _fits(context, one)}
    for one in limits:
        (amount,) = one.operation.amounts
        words = (one.operation.qualname, one.operation.name, str(amount.args[0]) if amount.op == "name" else "")
        named = mentioned(" ".join(words).replace("_", " ")).named
        chips = (named or context.targets) & one.targets.chips
        if named and not chips:
            continue
        found = {
            chip: size
            for chip in chips
            for size in _values(one, chip)
            if (chip.smem_per_block_optin or size) < size <= _MOST_ANYWHERE
        }
        whole = ChipSet.joining(chip for chip, size in found.items() if _is_multiprocessor(size, chip))
        size = max(found.values(), default=0)
        if whole and (named or one.meant not in (BUILT, THEIRS) or (one.meant == THEIRS and not fitting(size))):
            yield _whole(one, whole, size)
        elif one.operation.path and one.operation.name in small:
            continue  # the build picks one of several, and another is for chips with less
        elif found and not named and not one.operation.checked and one.meant != BUILT:
            yield _budget(one, ChipSet.joining(found), size)


def _fits(context: Context, one: Asked) -> bool:
    sizes = [one.number(one.operation.amounts[0], chip) for chip in context.targets]
    return all(
        size is not None and size <= (chip.smem_per_block_optin or 0)
        for chip, size in zip(context.targets, sizes, strict=True)
    )


def _values(one: Asked, chip: Chip) -> list[int]:
    """What an amount is on a chip; of a choice that nobody can make here, what its arms give to a multiprocessor."""
    (amount,) = one.operation.amounts
    size = one.number(amount, chip)
    if size is not None or amount.op != "if":
        return [] if size is None else [size]
    arms = [one.number(arm, chip) for arm in amount.args[1:]]
    return [size for size in arms if size is not None and size == chip.smem_per_sm]


def _whole(one: Asked, chips: ChipSet, size: int) -> Draft:
    owners = ChipSet.where(lambda other: other.smem_per_sm == size)
    block = kib(max(other.smem_per_block_optin or 0 for other in owners))
    not_theirs = NoFix(f"{plain(owners)} have this size, and {block} a block: decide which chips it is for")
    return _draft(
        one,
        chips=chips,
        legal=fitting(size),
        message=f"{kib(size)} is the shared memory of a whole multiprocessor of {plain(owners)}. {_has(chips)}.",
        label="a multiprocessor's size",
        advice="Use the limit of a block, or query cudaDevAttrMaxSharedMemoryPerBlockOptin.",
        claim=claims.shared("dynamic", size, chips),
        remedy=_block_size(chips, one.operation.at, _sister(one)) if owners & chips else not_theirs,
    )


def _sister(one: Asked) -> str:
    """The constant that is called after another chip and is what one block of that may have; "" where there is none."""
    alike = spelling.numberless(one.operation.name)
    for other in one.module.operations if alike is not None else ():
        if other.kind == "capacity" and other.name != one.operation.name and spelling.numberless(other.name) == alike:
            sizes = [chip.smem_per_block_optin for chip in EVERY if chip.joined in spelling.numbers(other.name)]
            if sizes and all(amount.args == (size,) for amount in other.amounts for size in sizes):
                return other.name
    return ""


def _budget(one: Asked, chips: ChipSet, size: int) -> Draft:
    what = f"`{one.operation.name}` is" if one.operation.name else "The limit here is"
    return _draft(
        one,
        chips=chips,
        legal=fitting(size),
        message=f"{what} {kib(size)} of shared memory, and nothing here queries the device. {exceeded(chips)}",
        label="the limit of other chips",
        advice="Query the device for it (cudaDevAttrMaxSharedMemoryPerBlockOptin).",
        remedy=ASKED,
        claim=claims.shared("dynamic", size, chips),
    )


def _block_size(chips: ChipSet, at: Span, sister: str = "") -> Remedy | NoFix:
    """The limit of a block in place of a multiprocessor's size, where the chips agree: meant, if `sister` is one."""
    limits = {chip.smem_per_block_optin or 0 for chip in chips}
    if len(limits) != 1:
        return NoFix("these chips have limits of their own")
    (most,) = limits
    doubt = None if sister else "the multiprocessor's size may be meant"
    told = f"{plain(chips)} give one block {most} bytes" + (f", and `{sister}` is a block's too" if sister else "")
    return Remedy("size", chips, evidence=told, unsafe=doubt, amount=most, at=at)


def _is_multiprocessor(size: int, chip: Chip) -> bool:
    """Whether a size is that of a multiprocessor and no block of the chip may have it."""
    most = chip.smem_per_block_optin
    return most is not None and size > most and bool(ChipSet.where(lambda other: other.smem_per_sm == size))


def _has(chips: ChipSet) -> str:
    return f"{called(chips)} {allow(chips)}"


def _draft(
    one: Asked,
    *,
    chips: ChipSet,
    legal: ChipSet,
    message: str,
    label: str,
    advice: str,
    claim: Claim,
    severity: Severity = "warning",
    at: Span | None = None,
    remedy: Remedy | NoFix | None = None,
    related: tuple[RelatedSpan, ...] = (),
) -> Draft:
    theirs = one.meant == THEIRS
    place = at or one.operation.at
    asked_for = [RelatedSpan(one.module, one.operation.at, "requested here")] if place != one.operation.at else []
    asked_for += [RelatedSpan(one.module, at, "this instance requests it") for at in one.operation.uses[:1]]
    return Draft(
        place=DraftPlace(module=one.module, at=place, admitted=one.targets.chips, certain=chips),
        severity="note" if theirs else severity,
        confidence="high" if one.meant == OURS else "low" if theirs else "medium",
        message=message,
        label=label,
        advice=advice,
        legal=legal,
        related=(*asked_for, *related),
        remedy=remedy,
        claims=(Claimed(claim, one.operation.at),),
    )
