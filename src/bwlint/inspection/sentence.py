"""The answer for one card, as its owner asks: a sentence on a package, over its wheels, its sources and its needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from bwlint.binaries.needs import dotted
from bwlint.binaries.shipments import Shipment
from bwlint.chips import Chip, ChipSet
from bwlint.chips.cards import card
from bwlint.chips.hosts import ARM
from bwlint.chips.toolkits import known_chips
from bwlint.chips.wording import capital, listed, targets
from bwlint.inspection.answers import (
    called,
    lacks,
    needs,
    of_sources,
    on,
    own_text,
    parts,
    parts_text,
    unsound,
    without_code,
)
from bwlint.sources.pypi import PREFIX

_NO_WHEEL = "no wheel"
_RUNS = "runs on "
_OF_WHEELS = {
    "runs on {}": ": its wheel has ready code for it",
    "runs on {} by JIT alone": ": its wheel has PTX for it, which the driver compiles at first use",
}
_NO_BUILT = "no built code runs on "


def sentences(shipments: Sequence[Shipment], asked: ChipSet, said: Sequence[str]) -> Iterator[str]:
    """A sentence for each package of one argument and each card; `said` are the cards as the user wrote them."""
    for name, group in _packages(shipments).items():
        for chip in asked:
            yield f"{name} {_of_machines(group, chip, said)}."


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


def _of_machines(shipments: Sequence[Shipment], chip: Chip, said: Sequence[str]) -> str:
    """What is true on the machines that have the card; of several each in a sentence."""
    asked, its = ChipSet.of(chip.name), card(chip, said)
    there = [one for one in shipments if one.judged(asked)] or list(shipments)
    telling = [one for one in there if one.libraries or one.compilers or one.compiles or one.built or one.missing]
    phrases: dict[str, Shipment] = {}
    for shipment in telling or [one for one in there if not one.elsewhere] or there:
        phrases.setdefault(_phrase(shipment, chip, its), shipment)
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
