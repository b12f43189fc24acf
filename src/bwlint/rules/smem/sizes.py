"""smem in Python: a tile or an amount of shared memory that the device picks, and tables of what each chip has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, Chip, ChipSet, Target, all_chips, group, sold_chips
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, kib, plain, them
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, THEIRS, fitting, meant
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import file_operations
from bwlint.judging.path_conditions import Answers, Left, satisfiable
from bwlint.model.details import CapacityUses, SizeTable
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import HANDLER, Module, Operation, Path
from bwlint.model.findings import Confidence, NoFix, Severity
from bwlint.model.kinds import OperationKind
from bwlint.sources.tree import package_root, project_folder
from bwlint.world.gates import TEST_FILE, Judged

MAX_PICKS = 48
_FACT = "every row of the table is what its chip gives one block"
_SHARED = re.compile(r"\bsmem\b(?!\])|shared.?mem", re.I)
"""A comment that speaks of shared memory; the name of the rule in brackets does not."""


_TRIED = re.compile(r"(?:^|/)bench(?:mark)?s?[/_]")
"""Where a project measures and ships nothing."""
_HEAD = re.compile(r"(?:^|[._])L[qkv]$|head_?(?:dim|size)|^d_?(?:head|model|[qkv])$", re.I)
"""What the width of an attention head is called."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Literals that are assigned together: tiles by name, and pipeline stages; or one amount of bytes."""

    at: Span
    path: Path
    sizes: dict[str, int]
    stages: tuple[int, ...]
    qualname: str = ""

    @property
    def text(self) -> str:
        return ", ".join(f"{name.partition('[')[0]} = {size}" for name, size in self.sizes.items())


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if module.language != "python":
        return
    answers = Answers(context.tree, module)
    for picks in _functions(module, "tile"):
        yield from _tiles(context, module, answers, picks)
    for picks in _functions(module, "shared-size"):
        yield from _amounts(context, module, answers, picks)
    for operation in module.operations:
        if operation.kind == "size-table":
            yield from _table(context, module, operation)
        elif operation.kind == "default-size":
            yield from _default(context, module, operation)
        elif operation.kind == "capacity":
            yield from _capacity(context, module, operation)
        elif operation.kind == "lookup":
            yield from _lookup(context, module, operation)


def _functions(module: Module, kind: OperationKind) -> list[list[Pick]]:
    """The picks of each function; what is assigned under the same tests is one."""
    grouped: dict[tuple[str, Path], list[Operation]] = defaultdict(list)
    for one in module.operations:
        if one.kind == kind or one.kind == "stages":
            grouped[(one.qualname, one.path)].append(one)
    found: dict[str, list[Pick]] = defaultdict(list)
    for (qualname, path), together in grouped.items():
        sizes = {one.name: _amount(one) for one in together if one.kind == kind}
        if sizes and len(found[qualname]) < MAX_PICKS:
            first = next(one for one in together if one.kind == kind)
            stages = tuple(_amount(one) for one in together if one.kind == "stages")
            found[qualname].append(Pick(first.at, path, sizes, stages, qualname))
    return list(found.values())


def _amount(one: Operation) -> int:
    value: int = one.amounts[0].args[0]
    return value


def _tiles(context: Context, module: Module, answers: Answers, picks: list[Pick]) -> Iterator[Draft]:
    """A tile that our chips share with parts of more memory, where parts of as little get a smaller one."""
    if any(_names(answers, pick, context.targets) for pick in picks):
        return  # whoever wrote this has thought of them
    for pick in picks:
        found = _smaller(context, answers, pick, picks)
        if found is not None:
            yield _tile(context, module, answers, pick, *found)


def _names(answers: Answers, pick: Pick, chips: ChipSet) -> bool:
    """Whether a test of a pick says one of the chips, or their generation, by number or name, or is theirs alone."""
    numbers = {number for chip in chips for number in (chip.major, chip.joined)}
    for test in pick.path:
        for node in walk(test):
            value = node.args[0] if node.op == "const" else None
            if value in numbers and not isinstance(value, bool):
                return True
            words = [arg for arg in node.args if isinstance(arg, str)]
            if any(mentioned(word.replace("_", " ")).named & chips for word in words):
                return True
    return answers.singles_out(pick.path, chips)


def _smaller(
    context: Context, answers: Answers, pick: Pick, picks: list[Pick]
) -> tuple[ChipSet, Pick, ChipSet, ChipSet] | None:
    """Our chips that take `pick`; the smaller pick of parts with as little memory; these; larger ones that take it."""
    ours = {chip: left for chip in context.targets if (left := answers.left(pick.path, chip)) is not None}
    if not ours:
        return None
    least = max(most(chip) for chip in ours)
    if not any(most(chip) > least and answers.left(pick.path, chip) is not None for chip in all_chips()):
        return None
    like = ChipSet.joining(chip for chip in sold_chips() if most(chip) == least) - context.targets
    found = []
    for other in picks:
        if other is pick or not _asks_less(other, pick):
            continue
        peers = ChipSet.joining(
            chip for chip in like if _meet(answers, other, chip, ours) and not _takes(answers, pick, chip)
        )
        if peers:
            others = (chip for chip in all_chips() if most(chip) > least and chip not in group("arm-hosts"))
            larger = [chip for chip in others if _meet(answers, other, chip, ours)]
            found.append((ChipSet.joining(ours), other, peers, ChipSet.joining(larger)))
    return min(found, key=lambda one: (bool(one[3]), one[1].at), default=None)


def _takes(answers: Answers, pick: Pick, chip: Chip) -> bool:
    return answers.left(pick.path, chip) is not None


def _meet(answers: Answers, other: Pick, chip: Chip, ours: dict[Chip, Left]) -> bool:
    """Whether a chip takes `other` under conditions under which ours are at their pick."""
    left = answers.left(other.path, chip)
    return left is not None and any(satisfiable((*left, *mine)) for mine in ours.values())


def most(chip: Chip) -> int:
    return chip.smem_per_block_optin or 0


def _asks_less(small: Pick, large: Pick) -> bool:
    """Whether no side of a tile is longer than the other's, one is shorter, and the stages are no more."""
    if small.sizes.keys() != large.sizes.keys() or len(small.stages) != len(large.stages):
        return False
    sides = [(small.sizes[name], large.sizes[name]) for name in small.sizes]
    sides += zip(small.stages, large.stages, strict=True)
    return all(a <= b for a, b in sides) and small.sizes != large.sizes


def _tile(
    context: Context,
    module: Module,
    answers: Answers,
    pick: Pick,
    ours: ChipSet,
    small: Pick,
    peers: ChipSet,
    larger: ChipSet,
) -> Draft:
    judged = _deciding(context, module, pick.at, ours, peers)
    about_memory = judged is not None and _SHARED.search(judged.gate.comment) is not None
    sure = not larger or about_memory or _widest(pick) > most(next(iter(ours)))
    shared = ChipSet.where(lambda chip: most(chip) > most(next(iter(ours))) and _takes(answers, pick, chip))
    limit = kib(most(next(iter(ours))))
    says = f"a block of {plain(ours)} has too little shared memory for the tile {pick.text}"
    fits = " The larger tile may not fit."
    message = (
        f"{called(ours)} {_take(ours)} the tile of {plain(shared)} ({pick.text}). With the same {limit} of shared"
        f" memory a block, {called(peers)} {_take(peers)} a smaller one ({small.text}).{fits}"
    )
    return drafted(
        module,
        at=_asked_at(judged) if judged is not None else pick.at,
        message=message,
        label="the larger tile",
        advice=f"Give {called(ours)} the tile of {plain(peers)}, or choose it by the device's shared memory.",
        chips=ours,
        claimed=Claimed(claims.need(pick.text, ours, NONE, says), pick.at),
        severity="warning" if sure and _shipped(context, module, pick) else "note",
        confidence="medium" if sure else "low",
        related=(
            RelatedSpan(module, pick.at, "the size is chosen here"),
            RelatedSpan(module, small.at, f"{plain(peers)} {_take(peers)} this"),
        ),
        judged=judged,
    )


def _shipped(context: Context, module: Module, pick: Pick) -> bool:
    """Whether something of the project but its tests and benchmarks takes what a function picks, or all may take it."""
    if _TRIED.search(context.places.get(module.path, "")):
        return False
    name = pick.qualname.rpartition(".")[2]
    if not name.startswith("_") or name != pick.qualname:
        return True
    hits = context.search(module).word("python", name)
    using = [hit for hit in hits if not hit.text.lstrip().startswith("def ")]
    places = [hit.file.real.removeprefix(project_folder(package_root(module.path))) for hit in using]
    return not hits or any(not TEST_FILE.search(place) and not _TRIED.search(place) for place in places)


def _widest(pick: Pick) -> int:
    """Bytes of a block's queries, keys and values, of 16 bits each, for the widest head that a test above lets pass."""
    sides = list(pick.sizes.values())
    bounds = [bound for test in pick.path if (bound := _head_bound(test))]
    return (sides[0] + 2 * sides[1]) * min(bounds) * 2 if bounds and len(sides) == 2 else 0


def _head_bound(test: Expr) -> int:
    """N of `head_dim <= N`; 0 for any other test."""
    if test.op != "cmp" or test.args[0] != "<=":
        return 0
    name, bound = test.args[1]
    named = any(isinstance(arg, str) and _HEAD.search(arg) for arg in name.args)
    return bound.args[0] if named and bound.op == "const" and isinstance(bound.args[0], int) else 0


def _take(chips: ChipSet) -> str:
    return "takes" if len(chips) == 1 else "take"


def _deciding(context: Context, module: Module, at: Span, ours: ChipSet, others: ChipSet) -> Judged | None:
    """The outermost gate around a place that lets ours in and keeps the others out."""
    for judged in context.beside(module):
        for side in (judged.gate.yes, judged.gate.no):
            if side.holds(at) and ours <= judged.on(side) and not others & judged.on(side):
                return judged
    return None


def _asked_at(judged: Judged) -> Span:
    """Where the device is asked: at a gate, or at the flag of the same file that is all that it asks for."""
    test = judged.gate.test
    flag = judged.module.slots[test.args[0]].at if test.op == "var" else None
    return flag or judged.at


def _amounts(context: Context, module: Module, answers: Answers, picks: list[Pick]) -> Iterator[Draft]:
    """An amount of shared memory that is another generation's limit."""
    if any(_names(answers, pick, context.targets) for pick in picks):
        return
    for pick in picks:
        (size,) = pick.sizes.values() if len(pick.sizes) == 1 else (0,)
        owners = ChipSet.where(lambda chip: size in (most(chip), chip.smem_per_sm))  # noqa: B023 - used at once
        if not any(_takes(answers, pick, chip) for chip in owners):
            continue
        wrong = ChipSet.joining(
            chip for chip in context.targets - owners if size > most(chip) and _takes(answers, pick, chip)
        )
        kept = ChipSet.where(lambda chip: not _takes(answers, pick, chip))  # noqa: B023 - used at once
        if not wrong or not kept:
            continue
        judged = _deciding(context, module, pick.at, wrong, NONE)
        yield drafted(
            module,
            at=judged.at if judged is not None else pick.at,
            message=f"This takes {kib(size)} of shared memory{_when(pick)}. {called(wrong)} {allow(wrong)}.",
            label="the limit of other chips",
            advice=f"Query the device for its limit, or add a value for {called(wrong)}.",
            chips=wrong,
            claimed=Claimed(claims.shared("dynamic", size, wrong), pick.at),
            severity="note" if _when(pick) else "warning",
            confidence="medium",
            related=(RelatedSpan(module, pick.at, "the size is chosen here"),),
            judged=judged,
        )


def _when(pick: Pick) -> str:
    """In words, that a pick stands in a handler."""
    tests = (test for test in pick.path if test.op == "unknown" and test.args[0].startswith(HANDLER))
    return ", after another attempt has failed" if any(tests) else ""


def allow(chips: ChipSet) -> str:
    verb = "allows" if len(chips) == 1 else "allow"
    return f"{verb} {kib(min(most(chip) for chip in chips))} a block"


ASKED = NoFix("how the limit of the device gets here is your choice")


def exceeded(chips: ChipSet) -> str:
    """What becomes of a launch that goes by the limit of others."""
    return f"{called(chips)} {allow(chips)}, and a launch with more fails."


def _table(context: Context, module: Module, table: Operation) -> Iterator[Draft]:
    """A table of shared memory by chip, known by its values: a row of ours that is wrong, or none."""
    rows = _rows(table)
    unit = _unit({chip: size for chip, (size, _) in rows.items() if chip not in context.targets})
    if unit is None:
        return
    for chip in context.targets:
        size, at = rows.get(chip, (None, None))
        if size is not None and size * unit > most(chip) and size * unit != chip.smem_per_sm:
            yield drafted(
                module,
                at=at or table.at,
                message=(
                    f"This table gives {called(ChipSet.joining([chip]))} {kib(size * unit)} of shared memory."
                    f" {chip.name} allows {kib(most(chip))} a block."
                ),
                label="more than the chip has",
                advice=f"Write {most(chip) // unit} in this row.",
                chips=ChipSet.joining([chip]),
                claimed=Claimed(claims.shared("dynamic", size * unit, ChipSet.joining([chip])), at or table.at),
                severity="warning",
                confidence="high",
                remedy=NoFix("nothing here shows whether the row counts memory per block or per multiprocessor"),
            )
    missing = without_rows(context, table)
    if not missing:
        return
    newest = max(rows, key=lambda chip: chip.joined)
    last = rows[newest][1]
    asked = [one for one in module.operations if (one.kind, one.name) == ("lookup", table.name)]
    yield drafted(
        module,
        at=last or table.at,
        message=f"This table of shared memory has no row for {called(missing)}. {plain(missing)} {allow(missing)}.",
        label=f"ends at {newest.name}",
        advice=f"Add {', '.join(f'{chip.joined}: {most(chip) // unit}' for chip in missing)}.",
        chips=missing,
        claimed=Claimed(claims.other(f"the table has no row for {plain(missing)}", missing), table.at),
        severity="warning" if asked else "note",
        confidence="medium",
        related=tuple(RelatedSpan(module, one.at, "raises where there is no row") for one in asked[:1]),
        remedy=Remedy("rows", missing, evidence=_FACT, at=table.at),
    )


def without_rows(context: Context, table: Operation) -> ChipSet:
    """The chips asked about, where a table of shared memory of their time has a row for none of them."""
    rows = {chip: size for chip, (size, _) in _rows(table).items()}
    missing = context.targets - ChipSet.joining(rows)
    newest = max((chip.major for chip in rows), default=0)
    right = missing == context.targets and newest >= _BLACKWELL and _unit(rows) is not None
    return missing if right else NONE


def _rows(table: Operation) -> dict[Chip, tuple[int, Span]]:
    known = {chip.name: chip for chip in all_chips()}
    rows = table.detail.rows if isinstance(table.detail, SizeTable) else ()
    return {known[row.chip]: (row.size, row.at) for row in rows if row.chip in known}


def _default(context: Context, module: Module, default: Operation) -> Iterator[Draft]:
    """A default that only parts of more memory have, in a file for no generation of its own."""
    size = _amount(default)
    owners = ChipSet.where(lambda chip: size in (most(chip), chip.smem_per_sm))
    wrong = ChipSet.joining(chip for chip in context.targets - owners if size > most(chip))
    if not owners or not wrong or meant(context, module, default.qualname, default.name) in (THEIRS, BUILT):
        return
    yield drafted(
        module,
        at=default.at,
        message=(f"`{default.name}` is {kib(size)} of shared memory by default. {called(wrong)} {allow(wrong)}."),
        label=f"the limit of {plain(owners)}",
        advice="Take the default from the device.",
        chips=wrong,
        claimed=Claimed(claims.shared("dynamic", size, wrong), default.at),
        severity="note",
        confidence="low",
    )


_BLACKWELL = min(chip.major for chip in all_chips() if chip.tmem_per_sm)
"""The generation from which a table is one of Blackwell's time."""


def _unit(rows: dict[Chip, int]) -> int | None:
    """1 or 1024 bytes, where most rows are what their chips have for a block or a multiprocessor, and differ."""
    for unit in (1, 1024):
        right = {size for chip, size in rows.items() if size * unit in (most(chip), chip.smem_per_sm)}
        count = sum(size * unit in (most(chip), chip.smem_per_sm) for chip, size in rows.items())
        if len(right) > 1 and 2 * count > len(rows):
            return unit
    return None


def drafted(
    module: Module,
    at: Span,
    *,
    message: str,
    label: str,
    advice: str,
    chips: ChipSet,
    claimed: Claimed,
    severity: Severity,
    confidence: Confidence,
    related: tuple[RelatedSpan, ...] = (),
    judged: Judged | None = None,
    remedy: Remedy | NoFix | None = None,
) -> Draft:
    admitted = judged.admitted if judged is not None else chips
    return Draft(
        place=DraftPlace(module=module, at=at, admitted=admitted, certain=chips),
        severity=severity,
        confidence=confidence,
        message=message,
        label=label,
        advice=advice,
        related=related,
        remedy=remedy,
        claims=(claimed,),
        rests_on=(judged.gate,) if judged is not None else (),
    )


def _capacity(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    """A number or a target's name in place of what the device would say."""
    uses = one.detail.at if isinstance(one.detail, CapacityUses) else ()
    target = None if one.amounts else Target.parse(one.name).chip
    size = most(target) if target else _amount(one)
    reached = ChipSet.joining(chip for use in uses for chip in context.let_to(module, use))
    wrong = (context.targets & reached) - fitting(size)
    of_no_gpu = size > max(chip.smem_per_sm or 0 for chip in EVERY)  # the scratchpad of a TPU
    if not wrong or of_no_gpu or _is_for_others(context, module, one, target):
        return
    yield drafted(
        module,
        at=one.at,
        message=f"{_said_capacity(one, size, target)}, whatever the chip. {exceeded(wrong)}",
        label="taken without a query of the device",
        advice="Ask the device: shared_memory_per_block_optin of its properties.",
        chips=wrong,
        claimed=Claimed(claims.shared("dynamic", size, wrong), one.at),
        severity="warning",
        confidence="medium",
        remedy=ASKED,
        related=tuple(RelatedSpan(module, use, "used here") for use in uses[:2] if use[0] != one.at[0]),
    )


def _is_for_others(context: Context, module: Module, one: Operation, target: Chip | None) -> bool:
    """Whether the kernels in question are another generation's; those of Ampere run on every later chip."""
    if any(not need.legal & context.targets for need in file_operations(module)):
        return True
    owner = mentioned(one.qualname.replace("_", " ")).named
    if owner or (target is not None and target in group("ampere")):
        return bool(owner) and not owner & context.targets
    return meant(context, module, one.name) in (THEIRS, BUILT)


def _said_capacity(one: Operation, size: int, target: Chip | None) -> str:
    if target is not None:
        return f"This takes the {kib(size)} of {target.name} as the shared memory of a block"
    named = f"`{one.name}` is" if one.name else "The limit here is"
    return f"{named} {kib(size)} of shared memory"


def _lookup(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    """A table of another file, which is asked for a chip that has no row; one of this file says so itself."""
    for other in _defining(context, module, one.name):
        for table in other.operations if other is not module else ():
            missing = without_rows(context, table) if (table.kind, table.name) == ("size-table", one.name) else NONE
            missing &= context.let_to(module, one.at)
            if missing:
                yield drafted(
                    module,
                    at=one.at,
                    message=f"This raises KeyError on {called(missing)}: the table has no row for {them(missing)}.",
                    label="no row is a KeyError",
                    advice=f"Add the rows. {called(missing)} {allow(missing)}.",
                    chips=missing,
                    claimed=Claimed(claims.other(f"`{one.name}` has no row for {plain(missing)}", missing), one.at),
                    severity="warning",
                    confidence="medium",
                    related=(RelatedSpan(other, table.at, "the table"),),
                    remedy=Remedy("rows", missing, evidence=_FACT, at=table.at, home=other),
                )


def _defining(context: Context, module: Module, name: str) -> list[Module]:
    """The modules that may define a name of a module: where it is imported from, and what that takes whole."""
    found = module.names.get(name)
    if found is None or found.op != "import":
        return []
    first = context.tree.module(found.args[0])
    inner = first.names.get(name) if first is not None else None
    names = [inner.args[0]] if inner is not None and inner.op == "import" else first.stars if first is not None else ()
    return [one for one in (first, *map(context.tree.module, names)) if one is not None]
