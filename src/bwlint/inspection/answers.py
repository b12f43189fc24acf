"""What is said of a package or library: which cards it runs on and what fails, and the answer for one card, as its
owner asks, over its wheels, its sources and its needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath

from bwlint.binaries.library import is_bare
from bwlint.binaries.needs import dotted, faults
from bwlint.binaries.operations import is_spare, kernels_beside
from bwlint.binaries.shipments import (
    NO_LINES,
    DeviceLibrary,
    KernelOperation,
    PackageVerdict,
    Runs,
    Shipment,
    main_reason,
)
from bwlint.chips import Chip, ChipSet, siblings
from bwlint.chips import chip as chip_of
from bwlint.chips.features import feature
from bwlint.chips.hosts import ARM
from bwlint.chips.products import card, cards
from bwlint.chips.surroundings import shipped
from bwlint.chips.toolkits import first_release, known_chips
from bwlint.chips.wording import capital, listed, plain, targets
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
        # Classes of several modules may be called alike, and one of them be a profiler's.
        is_told = place.does != "out" or place.path.endswith(place.subject)
        file = "" if is_told else f" ({'/'.join(PurePosixPath(place.path).parts[-2:])})"
        key = place.does, " and ".join(place.chips), place.library, takes
        subjects.setdefault(key, []).append(f"{place.subject}{file}")
    for (does, chips, library, takes), names in subjects.items():
        yield _OWN[does].format(chips=chips, library=library, takes=takes, names=listed(list(dict.fromkeys(names))))


def needs(shipment: Shipment, asked: ChipSet) -> Iterator[tuple[bool, str]]:
    """Packages that it cannot do without, in a range of which no release has code for a chip; and whether that is so of
    every build, or of those on PyPI alone."""
    from bwlint.rules.toolchain.pins import shut_out

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
        ("" if stems[_name(library)] == 1 else f"{PurePosixPath(library.path).parent.name}/") + feature(library.path)
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


def _name(library: DeviceLibrary) -> str:
    return PurePosixPath(library.path).name


_NO_WHEEL = "no wheel"
_RUNS = "runs on "
_OF_WHEELS = {
    "runs on {}": ": its wheel has ready code for it",
    "runs on {} by JIT alone": ": its wheel has PTX for it, which the driver compiles at first use",
}
_NO_BUILT = "no built code runs on "
_WORST_FIRST: tuple[Runs, ...] = ("no", "in part", "unknown", "yes")
_BEGINNINGS: dict[str, Runs] = {
    "cannot be installed": "no",
    "does not": "no",
    "runs ": "yes",
    "compiles for": "yes",
}
"""How the clauses begin that say whether something runs; what begins otherwise leaves it open."""
_BUT = ("in part", ", but ", "with another build")


def verdicts(shipments: Sequence[Shipment], asked: ChipSet, said: Sequence[str]) -> Iterator[PackageVerdict]:
    """One for each package of one argument and each card; `said` are the cards as the user wrote them."""
    for name, group in _packages(shipments).items():
        for chip in asked:
            phrases = _phrases(group, chip, card(chip, said))
            runs = min(map(_runs, phrases), key=_WORST_FIRST.index)
            yield PackageVerdict(name, chip.name, runs, f"{name} {_of_machines(phrases, card(chip, said))}.")


def _runs(phrase: str) -> Runs:
    clause = phrase.partition(": ")[0]
    for words, runs in _BEGINNINGS.items():
        if phrase.startswith(words):
            return "in part" if runs == "yes" and any(but in clause for but in _BUT) else runs
    return "unknown"


def _packages(shipments: Sequence[Shipment]) -> dict[str, list[Shipment]]:
    """What belongs together, by name: the wheels of one package, and those of its content where it is empty."""
    found: dict[str, list[Shipment]] = {}
    content: dict[str, str] = {}
    named = next((_named(one.name) for one in shipments if not one.missing), "")
    for shipment in shipments:
        name = named if shipment.missing and named else _named(shipment.name)
        name = content.get(name, name)
        content |= dict.fromkeys((_named(other) for other in shipment.elsewhere), name)
        found.setdefault(name, []).append(shipment)
    return found


def _named(file: str) -> str:
    """ "flash-attn 2.8.3" of a wheel, a source distribution or a requirement; a file as it is called."""
    from packaging.utils import parse_sdist_filename, parse_wheel_filename

    if "==" in file or file.startswith(PREFIX):
        return file.removeprefix(PREFIX).replace("==", " ")
    path = PurePosixPath(file)
    try:
        if path.suffix == ".whl":
            wheel, version, *_ = parse_wheel_filename(path.name)
            return f"{wheel} {version}"
        sources, version = parse_sdist_filename(path.name)
    except ValueError:
        return file
    return f"{sources} {version}"


def _phrases(shipments: Sequence[Shipment], chip: Chip, its: str) -> dict[str, Shipment]:
    """What is true on the machines that have the card, each with the first build that it is true of."""
    asked = ChipSet.of(chip.name)
    there = [one for one in shipments if one.judged(asked)] or list(shipments)
    telling = [one for one in there if one.libraries or one.compilers or one.compiles or one.built or one.missing]
    phrases: dict[str, Shipment] = {}
    for shipment in telling or [one for one in there if not one.elsewhere] or there:
        phrases.setdefault(_phrase(shipment, chip, its), shipment)
    return phrases


def _of_machines(phrases: Mapping[str, Shipment], its: str) -> str:
    """The same as text; of several machines each in a sentence."""
    (told, first), *others = phrases.items()
    for phrase, one in others:
        name = "it" if _named(one.name) == _named(first.name) else _named(one.name)
        where = f"on {one.machine} " if one.machine != first.machine and one.machine else ""
        short = phrase.replace(f" for {its}", "").replace(f" on {its}", "")
        told += f". {capital(f'{where}{name} {short}')}"
    return told


def _phrase(shipment: Shipment, chip: Chip, its: str) -> str:
    """What a package does on a card, as it goes on behind its name: one clause, and why. The answer has the rest."""
    asked = ChipSet.of(chip.name)
    if shipment.missing:
        return f"cannot be installed for {its}: {shipment.missing}"
    if shipment.elsewhere or shipment.instead:
        content = f"its content is in {listed(shipment.elsewhere)}" if shipment.elsewhere else shipment.instead
        return f"says nothing of {its}: {content}"
    if not shipment.judged(asked):
        return f"does not run on {its}: it is built for {shipment.machine}, and this card needs a build for {ARM}"
    needed = tuple(needs(shipment, asked))
    if blocking := [*(text for is_final, text in needed if is_final), *lacks(shipment, asked)]:
        return f"does not run on {its}: {blocking[0]}"
    main = _main(shipment, chip, its)
    if main.startswith("does not") or shipment.is_cpu_build:
        return main
    if needed and main.startswith(_RUNS):
        return f"runs on {its} with another build of what it needs: {needed[0][1]}"
    own = [replace(one, chips=("it",), lets_in=()) for one in shipment.own if chip.name in one.chips]
    if shipment.built and any(one.does == "made" for one in own):
        main = f"{main.partition(': ')[0]}, but its own build makes code for it"
    # What check finds beside code that is known to run does not stop it.
    no_trouble = ("made", "fault") if main.startswith(_RUNS) else ("made",)
    bad = replace(shipment, own=tuple(one for one in own if one.does not in no_trouble))
    others = (*(text for _, text in needed), *called(shipment, asked), *parts_text(shipment))
    trouble = next(iter((*own_text(bad), *others)), "")
    verdict = main.partition(": ")[0]
    if not trouble or (main.startswith(_RUNS) and ("in part" in verdict or "but" in verdict)):
        return main
    if not main.startswith(_RUNS):
        return f"{verdict}; {trouble}"
    return f"{verdict}{', in' if 'JIT' in verdict else ' in'} part: {trouble}"


def _main(shipment: Shipment, chip: Chip, its: str) -> str:
    if shipment.built:
        lacking, _, how = shipment.built.partition(": ")
        where = lacking.removeprefix(_NO_WHEEL).removeprefix(" for ")
        none = f"{_NO_WHEEL} for {its}{f' on {where}' if where else ''}"
        of = "" if shipment.compiles else f"; {of_sources(shipment)}"
        return f"has {none if lacking.startswith(_NO_WHEEL) else f'no ready code for {its}'}: {how}{of}"
    if shipment.compilers:
        return _compiling(shipment, chip, its)
    if shipment.libraries:
        text = on(shipment, chip.name, brief=True)
        text = unsound(shipment, text) + text
        if text.startswith(_NO_BUILT):
            text = f"has {text.replace('runs on', 'for', 1)}"
        why = _OF_WHEELS.get(text, "") if shipment.name.endswith(".whl") else ""
        return text.replace("{}", its) + why
    if shipment.compiles:
        return f"compiles its kernels on {its} at run time ({', '.join(shipment.compiles)}) and has no ready code"
    wheel = f" in its {shipment.machine} wheel" if shipment.machine else ""
    if shipment.is_cpu_build:
        return f"has no CUDA code{wheel}: it is the CPU build"
    none = without_code(shipment)
    if none != "no device code":
        return f"is unknown on {its}: {none}"
    return f"has no device code{' of its own' if parts(shipment) else ''} for {its}{wheel}"


def _compiling(shipment: Shipment, chip: Chip, its: str) -> str:
    """Whether one of the compilers that it brings knows the card."""
    knowing = [one for one in shipment.compilers if chip in known_chips(one.release)]
    if knowing:
        names = listed([one.file for one in knowing])
        return f"compiles for {its} with its {names} of CUDA {dotted(knowing[-1].release)}"
    newest = max(shipment.compilers, key=lambda one: one.release)
    lost = ChipSet.of(chip.name)
    says = f"its {newest.file} is of CUDA {dotted(newest.release)} and does not know {targets(lost)}"
    rest = f"; {shipment.compiles_nothing(lost)}" if all(one.is_front for one in shipment.compilers) else ""
    return f"does not compile for {its}: {says}{rest}"
