"""One sentence about a package or library: which cards it runs on, and what fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from bwlint.binaries.library import is_bare
from bwlint.binaries.needs import dotted, faults
from bwlint.binaries.operations import is_spare, kernels_beside
from bwlint.binaries.shipments import NO_LINES, DeviceLibrary, KernelOperation, Shipment, main_reason
from bwlint.chips import ChipSet, siblings
from bwlint.chips import chip as chip_of
from bwlint.chips.cards import cards
from bwlint.chips.features import feature
from bwlint.chips.hosts import ARM
from bwlint.chips.surroundings import shipped
from bwlint.chips.toolkits import first_release, known_chips
from bwlint.chips.wording import listed, plain
from bwlint.model.images import Version
from bwlint.model.naming import counted
from bwlint.sources.pypi import PREFIX

_EXACT = re.compile(r"==[^,*=]+")
_PACKAGE = re.compile(r"(.+)==|([^-]+)-.+\.whl$")
_CUDA = "CUDA C++"
_NOTHING = "no built code runs"
_NO_SOURCES = "no device code in its sources"
_OWN = {
    "build": "its own build leaves {chips} out ({names})",
    "made": "its own build makes code that {chips} can load ({names})",
    "out": "its own code turns {chips} away in {names}{takes}",
    "fault": "bwlint check finds faults for {chips} in its own code ({names})",
    "in": "its own code lets {chips} into {library} ({names}), which has nothing for {chips}",
}


def answer(shipment: Shipment, asked: ChipSet) -> str:
    """ "runs on 12.0; does not run on 12.1: sm_120a is for 12.0 alone"."""
    if shipment.missing:
        return f"not installable: {shipment.missing}"
    if shipment.elsewhere:
        return f"the package is empty; its content is in {listed(shipment.elsewhere)}"
    if shipment.instead:
        return shipment.instead
    required = (*(text for _, text in needs(shipment, asked)), *lacks(shipment, asked))
    said = (
        *_whole(shipment, asked, is_held=bool(required)),
        *parts_text(shipment),
        *own_text(shipment),
        *required,
        *called(shipment, asked),
        *_elsewhere(shipment, asked),
    )
    return "; ".join(filter(None, said))


def _whole(shipment: Shipment, asked: ChipSet, *, is_held: bool) -> Iterator[str]:
    """What is true of all of it; `is_held`: what is around it does not fit."""
    if shipment.built:
        yield shipment.built
    compilers = tuple(_compilers(shipment, asked))
    yield from compilers
    if shipment.libraries:
        ready = _of_chips(shipment, asked)
        whose = "the ready code " if (compilers or shipment.built) and not ready.startswith(_NOTHING) else ""
        whose = whose or ("its own code " if is_held and ready.startswith("runs") else "")
        yield whose + unsound(shipment, ready) + ready
    elif shipment.built:
        yield of_sources(shipment)
    elif compilers:
        yield from _way(shipment)
    else:
        yield without_code(shipment)


def of_sources(shipment: Shipment) -> str:
    """What the sources of a shipment that has to be built have of device code."""
    have = "have device code" if any(_CUDA in one for one in shipment.compiles) else "compile at run time"
    return f"its sources {have} ({', '.join(shipment.compiles)})" if shipment.compiles else _NO_SOURCES


def lacks(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """What its libraries need and cannot have on one of the chips."""
    yield from _bound(shipment, asked)
    yield from _picked(shipment, asked)


def own_text(shipment: Shipment) -> Iterator[str]:
    """What its own Python and build files do with chips, and whose text that is."""
    subjects: dict[tuple[str, str, str, str], list[str]] = {}
    for place in shipment.own:
        takes = f" and takes {cards(place.lets_in)}" if place.lets_in else ""
        subjects.setdefault((place.does, " and ".join(place.chips), place.library, takes), []).append(place.subject)
    for (does, chips, library, takes), names in subjects.items():
        yield _OWN[does].format(chips=chips, library=library, takes=takes, names=listed(list(dict.fromkeys(names))))


def needs(shipment: Shipment, asked: ChipSet) -> Iterator[tuple[bool, str]]:
    """Packages that it cannot do without, in a range of which no release has code for a chip; and whether that is so of
    every build, or of those on PyPI alone."""
    from bwlint.rules.toolchain.held import shut_out

    judged = shipment.judged(asked)
    for name, range_ in shipment.requires:
        with suppress(ValueError):  # "===" takes what is no version
            never = shut_out(name, range_, judged)
            for row in shut_out(name, range_, judged, on_pypi=True):
                chips = ChipSet.of(*row.chips) & judged
                lacks = f"has {row.what} for {plain(chips)}"
                if row in never:
                    yield True, f"it requires {name}{range_}, of which no wheel {lacks}"
                else:
                    other = f"a build for CUDA {first_release(chips)} or newer, from another index, does"
                    yield False, f"it requires {name}{range_}, of which no wheel on PyPI {lacks}: {other}"


def parts(shipment: Shipment) -> tuple[str, ...]:
    """What a package without built code requires by exact version and is to be inspected too: parts by its own name, or
    the one package of which it has no code itself."""
    from packaging.utils import canonicalize_name

    if shipment.libraries or shipment.elsewhere or shipment.instead or shipment.is_cpu_build:
        return ()
    own = canonicalize_name(PurePosixPath(shipment.name).name.partition("-")[0])
    known = {row.name for row in shipped()}
    exact = [(name, range_) for name, range_ in shipment.requires if _EXACT.fullmatch(range_)]
    named = tuple(f"{name}{range_}" for name, range_ in exact if canonicalize_name(name).startswith(f"{own}-"))
    alone = tuple(f"{name}{range_}" for name, range_ in exact if canonicalize_name(name) not in known)
    return named or (
        alone if len(alone) == 1 and not (shipment.compiles or shipment.compilers or shipment.built) else ()
    )


def parts_text(shipment: Shipment) -> Iterator[str]:
    """How to learn of the parts that it requires."""
    found = parts(shipment)
    if found:
        yield f"it requires {listed(found)}: bwlint inspect {' '.join(f'{PREFIX}{one}' for one in found)}"


def _bound(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """Packages of which one of its libraries needs a release without code for a chip: it has a symbol of these."""
    for row in shipped():
        chips = shipment.judged(asked) & ChipSet.of(*row.chips)
        if row.name in shipment.bound_to and chips and not PurePosixPath(shipment.name).name.startswith(f"{row.name}-"):
            lacks = f"of which no wheel has {row.what} for {plain(chips)}"
            yield f"its libraries need {row.name} before {row.first} (C++ ABI), {lacks}"


def _picked(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """Libraries of which one is picked by the release of CUDA, none of them for a release that knows a chip."""
    releases = sorted({release for release, _ in shipment.by_cuda})
    late = shipment.judged(asked) - known_chips(releases[-1]) if len(releases) > 1 else None
    if late:
        ends = f"{dotted(releases[0])} to {dotted(releases[-1])}"
        first = f"{first_release(late)}, the first that knows {plain(late)}"
        yield f"it has a library for each CUDA from {ends}, none for {first}"


def called(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """What is known of its release, and no file shows."""
    from packaging.utils import parse_wheel_filename
    from packaging.version import Version as Release

    try:
        name, version, *_ = parse_wheel_filename(PurePosixPath(shipment.name).name)
    except ValueError:
        return
    for row in shipped():
        chips = shipment.judged(asked) & ChipSet.of(*row.chips)
        if row.called and row.name == name and version < Release(row.first) and chips and shipment.libraries:
            yield f"before {row.first} it has no {row.what} on {plain(chips)}"


def _compilers(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """ "its ptxas (CUDA 12.8) knows 12.0 but not 12.1: nothing compiles for sm_121", "compiles for 12.0 (...)"."""
    judged, lost = shipment.judged(asked), shipment.unknown(asked)
    names_of: dict[Version, list[str]] = {}
    for one in shipment.compilers:
        names_of.setdefault(one.release, []).append(one.file)
    for release, names in names_of.items() if judged else ():
        known, unknown = judged & known_chips(release), judged - known_chips(release)
        if not unknown:
            yield f"compiles for {' and '.join(known.names)} ({listed(names)} of CUDA {dotted(release)})"
            continue
        does, know = ("does", "knows") if len(names) == 1 else ("do", "know")
        others = " or ".join(unknown.names)
        says = f"{know} {' and '.join(known.names)} but not {others}" if known else f"{does} not know {others}"
        ends = f": {shipment.compiles_nothing(lost)}" if unknown == lost else ""
        yield f"its {listed(names)} (CUDA {dotted(release)}) {says}{ends}"


def unsound(shipment: Shipment, rest: str) -> str:
    """What of the libraries is damaged or not read to its end, before anything that is true of the rest."""
    found = [(library, fault) for library in shipment.libraries for fault in faults(library) if NO_LINES not in fault]
    if not found:
        return ""
    library, fault = found[0]
    if len(found) == 1 and fault.rpartition(": ")[2] in rest:
        return ""
    where = "" if library.path == shipment.name else f"{_name(library)}: "
    more = f" and {counted(len(found) - 1, 'more fault')}" if len(found) > 1 else ""
    return f"cannot be read whole ({where}{fault}{more}): "


def _of_chips(shipment: Shipment, asked: ChipSet) -> str:
    judged = shipment.judged(asked)
    chips_of: dict[str, list[str]] = {}
    for chip in judged.names:
        chips_of.setdefault(on(shipment, chip), []).append(chip)
    parts = [text.replace("{}", " and ".join(chips)) for text, chips in chips_of.items()]
    return "; ".join(parts)


def _elsewhere(shipment: Shipment, asked: ChipSet) -> Iterator[str]:
    """The chips that are in no machine that it is for."""
    names = (asked - shipment.judged(asked)).names
    if names and (shipment.libraries or shipment.assemblers):
        need = "needs" if len(names) == 1 else "need"
        yield f"{' and '.join(names)} {need} a build for {ARM}, and this one is for {shipment.machine}"


def _way(shipment: Shipment) -> Iterator[str]:
    """How it gets device code where it ships none."""
    if shipment.compiles:
        yield f"it compiles at run time ({', '.join(shipment.compiles)})"


def without_code(shipment: Shipment) -> str:
    """Of what was not read nobody knows what it holds."""
    if shipment.is_cpu_build:
        return "no CUDA code: it is the CPU build"
    if not shipment.unread:
        return "; ".join((f"no {'ready ' if shipment.compiles else ''}device code", *_way(shipment)))
    paths = {one.path for one in shipment.unread}
    if len(paths) == 1 and not shipment.others:
        return f"cannot be read: {shipment.unread[0].reason}"
    return f"no device code found, and {counted(len(paths), 'file')} could not be read"


def on(shipment: Shipment, chip: str, *, brief: bool = False) -> str:
    """How it runs on a chip, with {} for the chip: what of it runs, what is for other chips, what is missing; `brief`
    leaves all out but the first that is missing."""
    own = _of_the_package(shipment)
    if not any(library.tallies[chip].served for library in own):
        if shipment.compiles:
            built = f"{_NOTHING} on {{}} ({main_reason(own, chip)})"
            rest = f", and the rest compiles at run time: {', '.join(shipment.compiles)}"
            return built + ("" if chip_of(chip) in shipment.unknown(ChipSet.of(chip)) else rest)
        return f"does not run on {{}}: {main_reason(own, chip)}"
    absent = [library for library in shipment.libraries if not library.tallies[chip].served]
    served = [library for library in shipment.libraries if library.tallies[chip].served]
    missed = [library for library in absent if _is_missed(shipment, library, chip)]
    others = [library for library in missed if _is_for_others(library, chip)]
    missed = [library for library in missed if library not in others]
    compiled = [library for library in served if _is_compiled(library, chip)]
    plain = [library for library in served if library not in compiled]
    text = "runs on {}" if plain else "runs on {} by JIT alone"
    if missed:
        text += " in part" if plain else ", in part"
    if (others or missed) and not brief:
        named = (("", plain or compiled), ("by JIT: ", compiled if plain else []), ("for other chips: ", others))
        text += ": " + "; ".join(words + _features(some, shipment) for words, some in named if some)
    if missed:
        text += f"{':' if brief else ';'} nothing of {_features(missed, shipment)} loads there"
    lacking = [one.name for one in shipment.operations if chip in one.unserved and _is_shortfall(one, chip)]
    if lacking and not (brief and missed):
        what = "operation" if len(lacking) == 1 else "operations"
        have = "has" if len(lacking) == 1 else "have"
        joint = ", and" if missed else ", but"
        text += f"{joint} the {what} {listed(lacking)} {have} no kernel"
    return text


def _of_the_package(shipment: Shipment) -> Sequence[DeviceLibrary]:
    """The libraries that are called by the package's name, or lie in a folder that is: what comes along with them runs
    nothing of it. All of them where none is."""
    found = _PACKAGE.match(PurePosixPath(shipment.name).name)
    name = re.sub("[-.]", "_", found[1] or found[2]).lower() if found else "/"
    inner = ((library.path.removeprefix(f"{shipment.name}/").lower(), library) for library in shipment.libraries)
    own = [library for path, library in inner if path.startswith(name) and not path.endswith(".a")]
    return own or shipment.libraries


def _is_compiled(library: DeviceLibrary, chip: str) -> bool:
    """Whether all that a chip runs of a library it runs by JIT."""
    tally = library.tallies[chip]
    return not tally.native + tally.family


def _is_for_others(library: DeviceLibrary, chip: str) -> bool:
    """Whether all of a library was built for exact targets, families or generations that the chip is none of."""
    own = chip_of(chip)
    numbers = {image.number for unit in library.units for image in unit.container.images}
    return all(unit.is_specific for unit in library.units) and not any(n // 10 == own.major for n in numbers)


def _features(libraries: Sequence[DeviceLibrary], shipment: Shipment) -> str:
    """What libraries are for, each once; those of one name in several folders with their folder."""
    stems = Counter(_name(library) for library in shipment.libraries)
    named = (
        feature(library.path) if stems[_name(library)] == 1 else f"{_folder(library)}/{feature(library.path)}"
        for library in libraries
    )
    return listed(list(dict.fromkeys(named)))


def _is_missed(shipment: Shipment, library: DeviceLibrary, chip: str) -> bool:
    """Whether a library of no use is one for the chip too: images for other generations lie beside each other."""
    if not is_bare(library):
        return True
    if library.tallies[chip].specialised == len(library.units):
        return False
    return not is_spare(library.units, kernels_beside(library, shipment.libraries, chip))


def _is_shortfall(operation: KernelOperation, chip: str) -> bool:
    """Whether a chip lacks what was meant for it: not what is for exact targets, unless one is of its own family."""
    meant = not operation.is_specific or bool(siblings(chip_of(chip)) & ChipSet.of(*operation.served))
    return operation.is_sure and meant


def _folder(library: DeviceLibrary) -> str:
    return PurePosixPath(library.path).parent.name


def _name(library: DeviceLibrary) -> str:
    return PurePosixPath(library.path).name
