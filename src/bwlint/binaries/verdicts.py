"""Containers against chips: what a driver loads, compiles or refuses. Not run on every chip: see the sources.

Rules: a cubin loads on its own chip and, without the suffix a, on later minors of its line; PTX is compiled for any
later chip, with f for later members of its family, with a for its own chip (assembled: ptxas 13.0 and 13.5 for PTX;
documented for cubins). Run on an H200, driver 580.159: of 56 kinds of containers in released wheels all 40 that are
native or by JIT on 9.0 load, and all 16 others give error 209; in a program that comes at the launch of their kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bwlint.binaries.shipments import FAMILY, JIT, LINK, NATIVE, WAYS, LoadVerdict, Tally
from bwlint.binaries.shipments import NONE as NOTHING
from bwlint.chips import EVERY, NONE, Chip, ChipSet, Target, all_chips, chip_of_number
from bwlint.model.images import CUBIN, LTO, PTX, Container, Image

_SPECIALISED = "specialised"
_MANY = 12
# As many answers of one kind are kept: a hostile file may have images for any combination of targets.
_KEPT = 1024

_Signature = tuple[tuple[str, int, str], ...]
"""Kind, number and suffix of each image: containers that share them share their verdicts."""


def verdicts(container: Container, without: Iterable[Image] = ()) -> Mapping[str, LoadVerdict]:
    """How each chip, by name, runs a container; images in `without` do not count."""
    left_out = frozenset(without)
    return _verdicts(
        tuple((("" if image in left_out else image.kind), image.number, image.suffix) for image in container.images)
    )


def refused(reason: str) -> Mapping[str, LoadVerdict]:
    """The verdicts of what no chip runs."""
    return dict.fromkeys((chip.name for chip in all_chips()), nothing(reason))


def linked_verdicts(container: Container, objects: Sequence[Container]) -> Mapping[str, LoadVerdict]:
    """The verdicts of a container that was linked from relocatable ones, which a driver may link anew. That takes PTX
    in every object: one without it makes the whole set fail, with error 300 (run on an H100)."""
    own = verdicts(container)
    parts = [_verdicts_of_ptx(_signature(each)) for each in objects]
    return {
        name: verdict if verdict.place is not None else _linked(name, verdict, parts) for name, verdict in own.items()
    }


def generation(container: Container) -> str:
    """The family or generation that all images of a container are for; "" where they are for several or any."""
    found = {_generation(image.number) for image in container.images}
    return found.pop() if len(found) == 1 else ""


def tally(units: Iterable[tuple[Mapping[str, LoadVerdict], str]]) -> dict[str, Tally]:
    """For each chip, how many units it runs in which way; a unit is given by its verdicts and its generation."""
    # Thousands of units share a handful of verdicts.
    pairs = list(units)
    alike = Counter((id(found), one_generation) for found, one_generation in pairs)
    by_id = {id(found): found for found, _ in pairs}
    own = {chip.name: _generation(chip.joined) for chip in all_chips()}
    counts = {chip.name: dict.fromkeys((*WAYS, _SPECIALISED), 0) for chip in all_chips()}
    for (key, one_generation), number in alike.items():
        for name, verdict in by_id[key].items():
            counts[name][verdict.way] += number
            if verdict.way == NOTHING and one_generation not in ("", own[name]):
                counts[name][_SPECIALISED] += number
    return {
        name: _tally(way[NATIVE], way[FAMILY], way[JIT], way[LINK], way[NOTHING], way[_SPECIALISED])
        for name, way in counts.items()
    }


@lru_cache(_KEPT)
def runs(kind: str, number: int, suffix: str) -> ChipSet:
    """The chips that load a cubin, or compile PTX, of a target."""
    target = _target(number, suffix)
    if target is not None:
        return target.jits_on() if kind == PTX else target.loads_on() if kind == CUBIN else NONE
    # What is older than every chip in the table is compiled for all of them, and loads nowhere.
    older = number < all_chips()[0].joined and not suffix
    return EVERY if kind == PTX and older else NONE


def _signature(container: Container) -> _Signature:
    return tuple((image.kind, image.number, image.suffix) for image in container.images)


@lru_cache(_KEPT)
def _verdicts(images: _Signature) -> Mapping[str, LoadVerdict]:
    return {chip.name: _verdict(chip, images) for chip in all_chips()}


@lru_cache(_KEPT)
def _verdicts_of_ptx(images: _Signature) -> Mapping[str, LoadVerdict]:
    return _verdicts(tuple((kind if kind == PTX else "", number, suffix) for kind, number, suffix in images))


def _verdict(chip: Chip, images: _Signature) -> LoadVerdict:
    fitting = [place for place, (kind, number, suffix) in enumerate(images) if chip in runs(kind, number, suffix)]
    cubins = [place for place in fitting if images[place][0] == CUBIN]
    if cubins:
        # The closest number, and among equals the one with a suffix.
        place = max(cubins, key=lambda place: images[place][1:])
        _, number, suffix = images[place]
        if number == chip.joined:
            return LoadVerdict(NATIVE, place, f"cubin for sm_{number}{suffix}")
        later = "for its family" if suffix else "of a lower minor"
        return LoadVerdict(FAMILY, place, f"cubin for sm_{number}{suffix}, {later}")
    if fitting:
        place = max(fitting, key=lambda place: images[place][1:])
        _, number, suffix = images[place]
        return LoadVerdict(JIT, place, f"PTX for sm_{number}{suffix}, compiled at first use")
    return nothing(_why_not(chip, images))


# Most chips have the same reason, and most libraries the same numbers: objects are shared where they can be thousands.
_tally = lru_cache(_KEPT)(Tally)


@lru_cache(_KEPT)
def nothing(reason: str) -> LoadVerdict:
    """That a chip does not run a container, and why."""
    return LoadVerdict(NOTHING, None, reason)


def _why_not(chip: Chip, images: _Signature) -> str:
    if not any(kind for kind, _, _ in images):
        return "no image whose header matches its code" if images else "no image"
    linkable = [
        (number, suffix) for kind, number, suffix in images if kind == LTO and chip in runs(CUBIN, number, suffix)
    ]
    rest = f"LTO code for {_listed(linkable)}, which only a program that links it can load" if linkable else ""
    loadable = _why_none_loads(chip, images)
    return f"{loadable}; {rest}" if loadable and rest else loadable or rest or _why_none_is_code(images)


def _why_none_loads(chip: Chip, images: _Signature) -> str:
    """Why none of the cubins and PTX serves a chip; "" where there are none."""
    cubins = [(number, suffix) for kind, number, suffix in images if kind == CUBIN]
    ptx = [(number, suffix) for kind, number, suffix in images if kind == PTX]
    same_line = [(number, suffix) for number, suffix in cubins if number // 10 == chip.major]
    exact = [number for number, suffix in same_line if suffix == "a" and number <= chip.joined]
    if exact:
        return f"sm_{exact[-1]}a is for {exact[-1] // 10}.{exact[-1] % 10} alone"
    if any(number > chip.joined for number, _ in same_line):
        return f"built for later minors only ({_listed(same_line)})"
    if ptx and all(suffix for _, suffix in ptx):
        return f"PTX only for {_listed(ptx)}" if not cubins else f"cubins for {_listed(cubins)}, PTX for {_listed(ptx)}"
    if ptx:
        return f"cubins for {_listed(cubins)}, PTX for later chips" if cubins else f"PTX for {_listed(ptx)}"
    return f"cubins for {_listed(cubins)}, no PTX" if cubins else ""


def _why_none_is_code(images: _Signature) -> str:
    lto = [(number, suffix) for kind, number, suffix in images if kind == LTO]
    return f"LTO code for {_listed(lto)} alone" if lto else "images of an unknown kind"


def _linked(name: str, own: LoadVerdict, parts: Sequence[Mapping[str, LoadVerdict]]) -> LoadVerdict:
    if not parts:
        return own
    missing = sum(part[name].way != JIT for part in parts)
    if not missing:
        return LoadVerdict(LINK, None, f"relocatable PTX in all {len(parts)} objects, linked at first use")
    lack = "lacks" if missing == 1 else "lack"
    return LoadVerdict(NOTHING, None, f"{own.reason}; {missing} of {len(parts)} linked objects {lack} PTX for it")


def _generation(number: int) -> str:
    chip = chip_of_number(number)
    if chip is None:
        return f"{number // 10}.x"
    return chip.family or chip.generation


def _target(number: int, suffix: str) -> Target | None:
    try:
        return Target.parse(f"sm_{number}{suffix}")
    except ValueError:
        return None


def _listed(targets: Iterable[tuple[int, str]]) -> str:
    found = [f"sm_{number}{suffix}" for number, suffix in sorted(set(targets))]
    more = [f"{len(found) - _MANY} more"] if len(found) > _MANY else []
    return ", ".join([*found[:_MANY], *more])
