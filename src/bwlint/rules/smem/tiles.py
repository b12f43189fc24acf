"""smem in Python: kernels of TileLang and Triton whose buffers are more than the chip gives to a block; a function that
limits tile sizes for each generation, but not for the chips with the least memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from bwlint.chips import NONE, Chip, ChipSet
from bwlint.chips.backends import card_words, cards
from bwlint.chips.wording import called, have, kib, plain
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, OURS, THEIRS, Asked, asked, fitting
from bwlint.judging.aside import aside
from bwlint.judging.behind import goes_on_to, hits, read_hit
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.path_conditions import Answers
from bwlint.model.details import Tiles, TritonCase, TritonLaunch
from bwlint.model.expr import Span, const
from bwlint.model.facts import Module, Operation, Path
from bwlint.model.findings import Severity
from bwlint.model.kinds import OperationKind
from bwlint.rules.smem.sizes import allow
from bwlint.world.gates import TEST_FILE, Judged

_BYTE_TYPES = re.compile(r"(?i)fp8|float8|int8|fp4|int4")
_FOLDERS = 4
"""How much of a path says for which chips a file is."""
_EVERYDAY = 128
"""The widest head that most models have: who allows it is given it."""
_RESTRICTS = re.compile(r"constraint|restrict|limit", re.I)

_HAS = ("has", "is", "have", "use", "supports")
"""How a test begins that asks for a library by its name."""
_OF_KERNELS = re.compile(r"opt_flags|kernel|tile|block|smem|shared|stages|launch|tun", re.I)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """What a function asks for with its defaults, and with what its file hands to it; others may hand it less."""
    for one in asked(context, module, "tiled-shared"):
        if one.meant not in (BUILT, THEIRS):
            yield from _written(one)
    answers = Answers(context.tree, module)
    for one in _of_triton(context, module, "launched-shared"):
        yield from _launched(one, answers)
    for one in _of_triton(context, module, "tuned-shared"):
        yield from _tuned(one)


def _of_triton(context: Context, module: Module, kind: OperationKind) -> Iterator[Asked]:
    for one in asked(context, module, kind):
        if not one.operation.checked and one.meant not in (BUILT, THEIRS) and not _foreign(module):
            yield _of_bytes(one)


def _of_bytes(one: Asked) -> Asked:
    """The same with elements of 8 bits, the least that there are, where the file is called after types as small."""
    if one.operation.name != "16" or not _BYTE_TYPES.search(one.module.path.rpartition("/")[2]):
        return one
    launch = one.operation.detail
    amounts = tuple(const(amount.args[0] // 2, amount.at) for amount in one.operation.amounts)
    if isinstance(launch, TritonLaunch):
        launch = TritonLaunch(_halved(launch.least), tuple(map(_halved, launch.cases)))
    return replace(one, operation=replace(one.operation, name="8", amounts=amounts, detail=launch))


def _halved(case: TritonCase) -> TritonCase:
    return replace(case, size=case.size // 2)


def _foreign(module: Module) -> bool:
    """Whether a kernel of Triton stands in a place for another vendor's chips alone."""
    named = cards(card_words(" ".join(module.path.rsplit("/", _FOLDERS)[-_FOLDERS:])))
    return named.foreign and not named.chips


def _written(one: Asked) -> Iterator[Draft]:
    tiles = one.operation.detail
    over = one.targets.chips - fitting(tiles.size) if isinstance(tiles, Tiles) else NONE
    if isinstance(tiles, Tiles) and over:
        yield _draft(
            one,
            tiles.size,
            over,
            message=f"The buffers of `{one.operation.qualname}` need at least {kib(tiles.size)} a block. {_has(over)}.",
            label="the largest of them",
            related=tuple(RelatedSpan(one.module, at, f"`{name}` makes it this large") for name, at in tiles.chosen_by),
        )


def _launched(one: Asked, answers: Answers) -> Iterator[Draft]:
    """A launch of a kernel of Triton, in the largest case that a chip gets to."""
    launch = one.operation.detail
    if not isinstance(launch, TritonLaunch):
        return
    paths = {tile.amounts[0].at: tile.path for tile in one.module.operations if tile.kind in ("tile", "stages")}
    taken = {chip: _largest(launch, paths, answers, chip) for chip in one.targets.chips}
    over = ChipSet.joining(chip for chip, case in taken.items() if chip not in fitting(case.size))
    if not over:
        return
    case = taken[next(iter(over))]
    where = f" and {case.width}" if case.width else ""
    untested = " No check rules these values out." if where else ""
    yield _draft(
        one,
        case.size,
        over,
        message=(
            f"A block of `{one.operation.qualname}` {_needs(case.size, one.operation)}{where}. {_has(over)}.{untested}"
        ),
        label="launched here",
        severity="note" if case.widest > _EVERYDAY else "warning",
        related=(RelatedSpan(one.module, case.at, "the size is chosen here"),) if case.at is not None else (),
    )


def _largest(launch: TritonLaunch, paths: Mapping[Span | None, Path], answers: Answers, chip: Chip) -> TritonCase:
    """What a launch takes at least, or in a case that tests of the device lead to."""
    reached = [one for one in launch.cases if one.at in paths and answers.left(paths[one.at], chip) is not None]
    return max((launch.least, *reached), key=lambda one: one.size)


def _tuned(one: Asked) -> Iterator[Draft]:
    """Configurations that are tried, where none fits: Triton passes over those that do not, as long as one does."""
    sizes: list[int] = [amount.args[0] for amount in one.operation.amounts]
    over = one.targets.chips - fitting(min(sizes))
    if over:
        which = "The only configuration" if len(sizes) == 1 else f"Each of {len(sizes)} configurations"
        message = f"{which} of `{one.operation.qualname}` {_needs(min(sizes), one.operation)}. {_has(over)}."
        yield _draft(one, min(sizes), over, message=message, label="the largest")


def _may_need_more(operation: Operation) -> bool:
    """Whether the size is the least that there can be: then it is not known where it fits."""
    return operation.name != "16"


def _needs(size: int, operation: Operation) -> str:
    """What a kernel takes; of operands behind pointers 16 bits are a guess, and 8 the least that there can be."""
    least = "at least " if _may_need_more(operation) else ""
    return f"needs {least}{kib(size)} of shared memory with {operation.name}-bit elements"


def _draft(
    one: Asked,
    size: int,
    over: ChipSet,
    *,
    message: str,
    label: str,
    severity: Severity = "warning",
    related: tuple[RelatedSpan, ...] = (),
) -> Draft:
    return Draft(
        place=DraftPlace(module=one.module, at=one.operation.at, admitted=one.targets.chips, certain=over),
        severity="note" if aside(one.context, one.module) else severity,
        confidence="high" if one.meant == OURS else "medium",
        message=message,
        label=label,
        advice=f"Use smaller tiles or fewer stages where shared_memory_per_block_optin is below {kib(size)}.",
        legal=None if _may_need_more(one.operation) else fitting(size),
        related=related,
        claims=(Claimed(claims.shared("dynamic", size, over), one.operation.at),),
    )


def _has(chips: ChipSet) -> str:
    return f"{called(chips)} {allow(chips)}, so the launch fails"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """The first arm of a chain of which each sets limits for kernels, and no `else` does."""
    if judged.gate.position or not judged.gate.chain or not judged.gate.is_a("condition"):
        return
    arms = [other for other in context.within(judged) if _same(judged, other)]
    setters = {_limits(arm) for arm in arms}
    if len(arms) < 2 or len(setters) != 1 or "" in setters or not arms[-1].gate.no.empty:
        return
    told = ChipSet.joining(chip for arm in arms for chip in arm.on(arm.gate.yes))
    left = (context.targets & judged.sets.live) - told
    if left != context.targets or any(arm.sets.guessed for arm in arms):
        return
    (called_by,) = setters
    name = called_by.rpartition(".")[2]
    away = _kept_away(context, judged, called_by.partition(".")[0], left)
    first, last = judged.gate.at, arms[-1].gate.at
    yield Draft(
        place=DraftPlace(module=judged.module, at=Span(*first[:2], *last[2:]), admitted=told, certain=told),
        severity="note" if away else "warning",
        confidence="low" if away else "medium",
        message=(
            f"`{name}` sets limits for kernels on {plain(told)} and none for {called(left)}. {plain(left)} {have(left)}"
            " less shared memory a block."
        ),
        label=f"no limits for {plain(left)}",
        advice=f"Add a case for {called(left)}: without one, tiles that fit 9.0 and 10.x are picked.",
        related=(
            *(RelatedSpan(arm.module, arm.at, f"for {plain(arm.on(arm.gate.yes))}") for arm in arms[1:]),
            *(RelatedSpan(one.module, one.at, f"checks for it, and keeps {plain(left)} away") for one in away),
        ),
        claims=(Claimed(claims.other(f"no limits are set for {plain(left)}", left), judged.at),),
        rests_on=tuple(arm.gate for arm in arms),
    )


def _same(judged: Judged, other: Judged) -> bool:
    return other.gate.chain == judged.gate.chain and other.gate.is_a("condition")


def _limits(arm: Judged) -> str:
    """What an arm calls to set limits; "" where it calls nothing of the kind."""
    names = (use.name for use in arm.gate.yes.uses if use.is_a("call"))
    found = (name for name in names if _RESTRICTS.search(name.rpartition(".")[2]) and _OF_KERNELS.search(name))
    return next(found, "")


def _kept_away(context: Context, judged: Judged, library: str, chips: ChipSet) -> tuple[Judged, ...]:
    """The gates that ask whether a library is there and keep chips away from it; none where one lets them in."""
    known = judged.module.names.get(library)
    library = known.args[0].partition(".")[0] if known is not None and known.op == "import" else library
    found: list[Judged] = []
    for name in (f"{has}_{library}" for has in _HAS):
        for hit in hits(context, judged.module, name):
            if TEST_FILE.search(hit.file.real):
                continue
            file = read_hit(context, hit)
            asking = [
                one
                for one in (context.gates(file) if file is not None else ())
                if one.sets.decided and one.at[0] <= hit.line <= one.gate.at[2] and name in one.mentioned
            ]
            if not asking and goes_on_to(context, judged, file, hit) & chips:
                return ()
            found += asking
    return () if any(one.admitted & chips for one in found) else tuple(found)
