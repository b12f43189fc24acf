"""arch-target in binaries: what is built, against what the chips load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.binaries.operations import is_spare, kernels_beside, variant
from bwlint.binaries.shipments import ALL, DeviceLibrary, Flaw, KernelOperation, LoadUnit, Shipment, main_reason
from bwlint.binaries.shipments import NONE as NOTHING
from bwlint.chips import NONE, ChipSet, siblings
from bwlint.chips.wording import called, listed, marked, plain, them
from bwlint.judging import claims
from bwlint.model.findings import Claim, Severity
from bwlint.model.naming import counted

_CLAIMS = 8
_PLACES = 3
"""Files or containers of a finding that stand for all of them in its claims."""


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    judged = shipment.judged(asked)
    told: dict[str, ChipSet] = {}
    for library in shipment.libraries:
        for present, missing in _families(asked):
            cut = _cut(shipment, library, present, missing)
            if cut:
                told[library.path] = told.get(library.path, NONE) | missing
                is_judged = missing <= shipment.judged(asked, library)
                yield _half(library, cut, present, missing, is_judged=is_judged)
    dead = _unserved(shipment.libraries, judged)
    for known in told.values():
        dead -= known
    if dead:
        yield _nothing(shipment, dead)
    for library in shipment.libraries:
        own = shipment.judged(asked, library)
        absent = _unserved([library], own) - dead - told.get(library.path, NONE)
        absent = ChipSet.joining(
            chip
            for chip in absent
            if not is_spare(library.units, kernels_beside(library, shipment.libraries, chip.name))
        )
        if absent:
            yield _absent(library, absent)
        yield from _compiled(library, own)
    yield from _operations(shipment, asked, judged)


def _cut(shipment: Shipment, library: DeviceLibrary, present: ChipSet, missing: ChipSet) -> list[LoadUnit]:
    """The containers that one chip runs and its sibling does not, nor their kernels from beside them."""
    cut = [unit for unit in library.units if _serves(unit, present) and not _serves(unit, missing)]
    if not cut:
        return []
    (chip,) = missing.names
    running = kernels_beside(library, shipment.libraries, chip)
    return [unit for unit in cut if not is_spare([unit], running)]


def _half(
    library: DeviceLibrary, cut: Sequence[LoadUnit], present: ChipSet, missing: ChipSet, *, is_judged: bool
) -> Flaw:
    reason = cut[0].verdicts[missing.names[0]].reason
    run = "runs" if len(cut) == 1 else "run"
    places = "This library" if len(library.units) == 1 else f"{len(cut)} of {len(library.units)} containers"
    family = " ".join(f"sm_{chip.family or chip.joined}" for chip in present)
    own = " ".join(f"sm_{chip.joined}" for chip in missing)
    hosts = "" if is_judged else f" {plain(missing)} takes the aarch64 build: see whether that is built alike."
    return Flaw(
        severity="warning" if is_judged else "note",
        path=library.path,
        message=f"{places} {run} on {marked(present)} and not on {called(missing)}: {reason}.{hosts}",
        label=f"for {plain(present)} only",
        advice=f"Build for the family ({family}), or add {own}.",
        key=f"half {plain(missing)}",
        admitted=ChipSet.where(lambda chip: any(_serves(unit, ChipSet.of(chip.name)) for unit in cut)),
        claims=_of_units(library, cut, missing),
    )


def _nothing(shipment: Shipment, dead: ChipSet) -> Flaw:
    """A shipment that a chip has no use for at all."""
    units = [unit for library in shipment.libraries for unit in library.units]
    alone = len(shipment.libraries) == 1
    files = {unit.path or library.path for library in shipment.libraries for unit in library.units}
    places = "" if len(files) == 1 else f" in {len(files)} files"
    many = f"{counted(len(units), 'container')} of device code{places}"
    reason = main_reason(shipment.libraries, dead.names[0])
    specific, built = all(unit.is_specific for unit in units), "that is built " if shipment.compiles else ""
    rest = f" The rest compiles at run time ({', '.join(shipment.compiles)})." if built else ""
    severities: tuple[Severity, ...] = ("error", "warning", "note")
    return Flaw(
        severity=severities[specific + bool(built)],
        path=shipment.libraries[0].path if alone else shipment.name,
        message=f"Nothing {built}here runs on {called(dead)}: {reason} ({many}).{rest}",
        label=f"nothing for {plain(dead)}",
        advice=f"Build for {called(dead)} too, or add plain PTX.",
        key="nothing",
        admitted=_served(shipment.libraries),
        claims=_of_files(shipment.libraries, dead, "" if not alone else shipment.libraries[0].path),
    )


def _absent(library: DeviceLibrary, absent: ChipSet) -> Flaw:
    """A library without use for a chip that others of the shipment serve: meant so, where all is for exact targets."""
    specific = all(unit.is_specific for unit in library.units)
    reason = main_reason([library], absent.names[0])
    return Flaw(
        severity="note" if specific else "warning",
        path=library.path,
        message=(
            f"Nothing in this library runs on {called(absent)}: {reason}"
            f" ({counted(len(library.units), 'container')} of device code)."
        ),
        label=f"nothing for {plain(absent)}",
        advice=f"Build for {called(absent)} too, or do not load this library on {them(absent)}.",
        key="library",
        admitted=_served([library]),
        claims=_of_files([library], absent, library.path),
    )


def _compiled(library: DeviceLibrary, judged: ChipSet) -> Iterator[Flaw]:
    tallies = ((chip, library.tallies[chip.name]) for chip in judged)
    chips = ChipSet.joining(chip for chip, tally in tallies if tally.word == ALL and not tally.native + tally.family)
    if not chips:
        return
    reason = library.units[0].verdicts[chips.names[0]].reason
    yield Flaw(
        severity="note",
        path=library.path,
        message=f"This library has no cubin for {called(chips)}, only {reason}. The first run waits for that.",
        label="PTX only",
        advice=f"Build for {called(chips)} too.",
        key="jit",
        admitted=_served([library]),
        claims=(claims.other(f"no cubin of the file loads on {plain(chips)}", chips),),
    )


def _operations(shipment: Shipment, asked: ChipSet, judged: ChipSet) -> Iterator[Flaw]:
    """Operations without a variant, together by file, chips and reason; what a sibling runs is reported by `_half`."""
    groups: dict[tuple[str, ChipSet, str, bool], list[KernelOperation]] = {}
    for one in shipment.operations:
        served = ChipSet.of(*one.served) & asked
        chips = ChipSet.joining(chip for chip in ChipSet.of(*one.unserved) & judged if not siblings(chip) & served)
        if chips:
            minor = one.is_specific or not one.is_sure
            groups.setdefault((one.library, chips, one.reason, minor), []).append(one)
    for (path, chips, reason, minor), some in groups.items():
        names = [one.name for one in some]
        have = "has" if len(names) == 1 else "have"
        yield Flaw(
            severity="note" if minor else "warning",
            confidence="low" if minor else "medium",
            path=path,
            message=f"{listed([f'`{name}`' for name in names])} {have} no kernel for {called(chips)}: {reason}.",
            label=f"no kernel for {plain(chips)}{_defined(some)}",
            advice=f"Build them for {called(chips)} too, or do not launch them on {them(chips)}.",
            key=f"operations {' '.join(names)}",
            admitted=ChipSet.of(*some[0].served),
            claims=tuple(
                claims.image(chips, kernel=variant(shipment.libraries, path, name)) for name in names[:_CLAIMS]
            ),
        )


def _defined(operations: Sequence[KernelOperation]) -> str:
    """Where the first of them are defined, as far as line tables tell."""
    told = [f"`{one.name}` at {one.source[0]}:{one.source[1]}" for one in operations if one.source][:_PLACES]
    return f": {', '.join(told)}" if told else ""


def _of_files(libraries: Sequence[DeviceLibrary], chips: ChipSet, path: str) -> tuple[Claim, ...]:
    """That none of the files has an image for the chips; `path` is the file of the finding."""
    found: list[Claim] = []
    for library in libraries:
        if any(unit.path for unit in library.units):
            found += _of_units(library, library.units, chips)
        else:
            found.append(claims.image(chips, path="" if library.path == path else library.path))
    return tuple(found[:_CLAIMS])


def _of_units(library: DeviceLibrary, units: Sequence[LoadUnit], chips: ChipSet) -> tuple[Claim, ...]:
    """The same of containers: one of each kind, as those with images for the same targets share their verdicts."""
    kinds: dict[tuple[tuple[str, str], ...], LoadUnit] = {}
    for unit in units:
        kinds.setdefault(tuple((image.kind, image.target) for image in unit.container.images), unit)
    first = list(kinds.values())[:_CLAIMS]
    alone = len(library.units) == 1 or bool(units[0].path)
    return tuple(claims.image(chips, at=None if alone else unit.container.at, path=unit.path) for unit in first)


def _families(asked: ChipSet) -> Iterator[tuple[ChipSet, ChipSet]]:
    """Pairs of asked chips of one family, in both orders."""
    for chip in asked:
        for other in siblings(chip) & asked:
            if other != chip:
                yield ChipSet.of(chip.name), ChipSet.of(other.name)


def _serves(unit: LoadUnit, chips: ChipSet) -> bool:
    return any(unit.verdicts[name].way != NOTHING for name in chips.names)


def _unserved(libraries: Sequence[DeviceLibrary], chips: ChipSet) -> ChipSet:
    return ChipSet.joining(
        chip for chip in chips if libraries and not any(library.tallies[chip.name].served for library in libraries)
    )


def _served(libraries: Sequence[DeviceLibrary]) -> ChipSet:
    return ChipSet.where(lambda chip: any(library.tallies[chip.name].served for library in libraries))
