"""toolchain: releases that build files pin and that do not know 12.x: of CUDA, of torch's wheels, of packages.

Also tests for CUDA 12.8 or newer that are false under CUDA 13.0, as they ask for the minor apart; files of libraries
that CUDA 13 does not have; variables that a tool does not read on these chips; and what a project holds fast that is
older than the chips: a package with device code, the CUDA of an image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from bwlint.chips import NONE, ChipSet, group, siblings
from bwlint.chips.mentions import mentioned
from bwlint.chips.surroundings import ShippedCode, packages, shipped, variables
from bwlint.chips.targets import known_targets
from bwlint.chips.toolkits import first_release, first_toolkit, releases, version
from bwlint.chips.wording import called, listed, marked, them
from bwlint.chips.words import families, nicknames
from bwlint.judging import claims
from bwlint.judging.aside import aside, vendored
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.details import CudaImage, Environment, LeastRelease, PackagePin, PickedTarget, Soname, WheelIndex
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import NoFix, Severity
from bwlint.model.kinds import OperationKind
from bwlint.world.builds import runs_on
from bwlint.world.requirements import meet

_SHIPS = re.compile(r"(?i)releas|publish|wheel|pypi|packag|upload")
_WORKFLOW = re.compile(r"(?:^|/)\.(?:github|gitlab|circleci|buildkite|ci)\b|(?:^|/)[\w-]*ci[/.]")
_INSTALLS = re.compile(r"(?i)\binstall\b|index[-_]url")
_OURS = group("consumer-blackwell")
_FOR_ITS_AUTHOR = NoFix("which releases to build with is your choice")
_NEWEST = version(releases()[-1])[0]
_BLACKWELL = group("blackwell-and-newer")
_HOW_IS_FOUND = NoFix("how a library or a tool is found is your choice")
_ANY = re.compile("")
_REQUIRED = (".txt", ".in", ".toml", ".cfg", ".py")
"""What everybody installs, and not one image."""
_MAIN_IMAGE = re.compile(r"(?i)(?:(?:docker|container|conda)\w*/)?[^/]+")
_LAID_ASIDE = re.compile(r"(?i)(?:^|/)(?:archived?|attic|deprecated|legacy|obsolete)/")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _asked_apart(context, module)
    yield from _of_held(context, module)
    yield from _of_names(context, module)
    yield from _of_releases(context, module)


def _of_releases(context: Context, module: Module) -> Iterator[Draft]:
    if module.language != "build":
        return
    for one in module.operations:
        if one.kind == "cuda-matrix":
            yield from _matrix(context, module, one)
        elif isinstance(one.detail, WheelIndex):
            yield from _index(context, module, one, one.detail.near)
        elif isinstance(one.detail, LeastRelease):
            yield from _floor(context, module, one, one.detail.release)
        elif isinstance(one.detail, PickedTarget):
            yield from _picked(context, module, one, one.detail)


def _matrix(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    """Wheels for every CUDA up to one that does not know the chips."""
    need = first_release(context.targets)
    others = [other.name for other in module.operations if other.kind == "cuda-matrix"]
    if not need or version(max(others, key=version)) >= version(need):
        return
    if not _SHIPS.search(context.places.get(module.path, "")):
        return
    asked = f"compute capability {called(context.targets)}"
    message = f"The newest CUDA in this matrix is {one.name}, which cannot compile for {asked}: CUDA {need} can."
    label, advice = f"nothing from {need} on", f"Add CUDA {need} or newer."
    yield draft(module, one, context.targets, "note", message, label, advice)


def _index(context: Context, module: Module, one: Operation, near: str) -> Iterator[Draft]:
    """Wheels of torch without device code for the chips, beside something that is for them."""
    need = first_release(context.targets)
    if not need or version(one.name) >= version(need):
        return
    if context.in_test(module) and not _INSTALLS.search(near.replace("\\\n", " ").rpartition("\n")[2]):
        return  # a test compares addresses that it never installs from
    built = runs_on([carry for carry in module.carries if _names_ours(carry.sass)])
    meant = (built | _spoken_of(near, context.targets)) & context.targets
    advice = f"Use an index for CUDA {need} or newer."
    if meant:
        message = f"The torch wheels for CUDA {one.name} have no kernels for {called(meant)}, which this file is for."
        yield draft(module, one, meant, "warning", message, f"CUDA {one.name}", advice)
    elif one is newest(module, "wheel-index") and not _says_more(module) and is_shipped(context, module):
        lacks = f"The torch wheels for CUDA {one.name} have no kernels for {called(context.targets)}"
        message = f"{lacks}, and no other index is named."
        yield draft(module, one, context.targets, "note", message, f"CUDA {one.name}", advice)


def _says_more(module: Module) -> bool:
    """Whether a file names the release of torch or the CUDA of an image, too, of which more is known."""
    return any(
        one.kind == "cuda-image" or (one.kind == "package-pin" and one.name == "torch") for one in module.operations
    )


def newest(module: Module, kind: OperationKind) -> Operation | None:
    """The newest release of CUDA that a file names in some way, where it stands first: a user may pick among them."""
    named = [one for one in module.operations if one.kind == kind]
    return max(named, key=lambda one: version(one.name), default=None)


def is_shipped(context: Context, module: Module) -> bool:
    """Whether what a file installs gets to users: not in a test, nor in a workflow that publishes nothing."""
    place = context.places.get(module.path, "")
    return not context.in_test(module) and (not _WORKFLOW.search(place) or bool(_SHIPS.search(place)))


def _floor(context: Context, module: Module, one: Operation, asked: str) -> Iterator[Draft]:
    """A package that may be older than the chip that the tree has kernels for."""
    known = packages()[one.name]
    chips = ChipSet.of(known.chip) & context.targets
    if not chips or version(asked) >= version(known.first) or not is_served(context, chips):
        return
    message = f"This allows {one.name} {asked}. Its {known.what} works on {called(chips)} from {known.first} on."
    yield draft(module, one, chips, "note", message, f"from {asked} on", f"Require {known.first} or newer.")


def _picked(context: Context, module: Module, one: Operation, picked: PickedTarget) -> Iterator[Draft]:
    """An exact target under a release that knows the target of the family, which later ones are given."""
    exact, wider = (next(known_targets([name]), None) for name in (one.name, picked.otherwise))
    if exact is None or wider is None or exact.suffix != "a" or exact.chip != wider.chip:
        return
    first = first_toolkit(wider)
    left_out = (wider.loads_on() - exact.loads_on()) & context.targets
    known = [release for release in picked.releases if first and version(release) >= version(first)]
    if known and left_out:
        message = f"CUDA {listed(known)} gets {exact} here, which {called(left_out)} does not load. It knows {wider}."
        found = draft(module, one, left_out, "warning", message, f"{exact}", f"Use {wider} from {first} on.")
        beside = f"whatever else has {exact} in its name, such as a folder of artifacts, needs the new name too"
        yield replace(found, remedy=NoFix(beside))


def is_served(context: Context, chips: ChipSet) -> bool:
    """Whether gates of the tree admit the family of some chips, or them, and nobody else."""
    family = ChipSet.joining(other for chip in chips for other in siblings(chip))
    return any(
        one.admitted and one.admitted <= family and one.admitted & chips
        for gates in context.judged.values()
        for one in gates
    )


def _names_ours(names: tuple[str, ...]) -> bool:
    return any(name.rstrip("af") in {str(chip.joined) for chip in _OURS} for name in names)


def _spoken_of(text: str, chips: ChipSet) -> ChipSet:
    found = mentioned(text).exact & chips
    for chip in chips:
        if re.search(rf"(?i)\b{nicknames(ChipSet.of(chip.name))}\b", text):
            found |= ChipSet.of(chip.name)
    return found


def draft(
    module: Module, one: Operation, chips: ChipSet, severity: Severity, message: str, label: str, advice: str
) -> Draft:
    return Draft(
        place=DraftPlace(module=module, at=one.at, admitted=NONE, certain=NONE),
        severity=severity,
        confidence="medium",
        message=message,
        label=label,
        advice=advice,
        remedy=_FOR_ITS_AUTHOR,
        claims=(Claimed(claims.other(message, chips, one.name), one.at),),
    )


def _asked_apart(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind == "release-apart":
            yield _draft(context, module, one)


def _draft(context: Context, module: Module, one: Operation) -> Draft:
    said = f"This asks for CUDA {one.name} or newer and is false under CUDA 13.0, whose minor is 0."
    why = f"{said} Images for 12.1 (GB10) come with CUDA 13."
    label, advice = "false under CUDA 13.0", "Compare major and minor at once."
    severity: Severity = "note" if aside(context, module) else "warning"
    found = draft(module, one, context.targets, severity, why, label, advice)
    remedy = Remedy("parts", evidence="a release is one number", unsafe="CUDA 13 then takes this path")
    return replace(found, remedy=remedy, cause=(module.path, "release-apart"))


def _of_names(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for one in module.operations:
        if isinstance(one.detail, Soname) and one.detail.major < _NEWEST:
            yield _soname(context, module, one, one.detail.major)
        elif isinstance(one.detail, Environment):
            yield from _variable(context, module, one, one.detail)


def _soname(context: Context, module: Module, one: Operation, number: int) -> Draft:
    library = one.name.partition(".so")[0]
    message = f"CUDA {_NEWEST} has no {one.name}, and this file tries no other name of {library}."
    return _draft_of_name(
        module,
        one,
        context.targets,
        severity="note" if one.checked else "warning",
        message=f"{message} Images for 12.1 (GB10) come with CUDA {_NEWEST}.",
        label=f"CUDA {number} only",
        advice=f"Try {library}.so.{_NEWEST} too, or take the number from torch.version.cuda.",
    )


def _variable(context: Context, module: Module, one: Operation, given: Environment) -> Iterator[Draft]:
    known = variables()[one.name]
    reached = context.targets & context.let_to(module, one.at)
    if known.instead:
        meant = (context.let_in(module, one.at) | _those_spoken_of(given.near, context.targets)) & reached & _BLACKWELL
        if meant:
            yield _draft_of_name(
                module,
                one,
                meant,
                severity="warning",
                message=f"On {called(meant)} {known.package} from {known.since} on does not read {one.name}. It reads"
                f" {known.instead} there.",
                label="does nothing there",
                advice=f"Set {known.instead} too.",
            )
    elif known.is_target:
        yield from _fixed_target(context, module, one, given)


def _fixed_target(context: Context, module: Module, one: Operation, given: Environment) -> Iterator[Draft]:
    target = next(known_targets([given.value]), None)
    picked = context.let_in(module, one.at)  # what a test picks for a chip is told as such
    if target is None or target.chip not in context.targets or picked:
        return
    later = ChipSet.where(lambda chip: chip in siblings(target.chip) and chip.joined > target.number)
    left_out = (later - target.loads_on()) & context.targets & context.let_to(module, one.at)
    if not left_out:
        return
    meant = _those_spoken_of(given.near, left_out) & left_out
    yield _draft_of_name(
        module,
        one,
        left_out,
        severity="warning" if meant else "note",
        message=f"{one.name} is fixed to {target}, which {called(left_out)} does not load.",
        label=f"{target} is exact",
        advice="Leave it unset, so that it follows the device, or set the family target.",
    )


def _those_spoken_of(text: str, chips: ChipSet) -> ChipSet:
    """Those of some chips that a text speaks of by number, nickname or family."""
    found = mentioned(text).exact & chips
    for chip in chips:
        one = ChipSet.of(chip.name)
        if re.search(rf"(?i)\b(?:{nicknames(one)}|{families(one)})\b", text):
            found |= one
    return found


def _draft_of_name(
    module: Module, one: Operation, chips: ChipSet, *, severity: Severity, message: str, label: str, advice: str
) -> Draft:
    found = draft(module, one, chips, severity, message, label, advice)
    return replace(found, confidence="medium" if severity == "warning" else "low", remedy=_HOW_IS_FOUND)


def _of_held(context: Context, module: Module) -> Iterator[Draft]:
    if _LAID_ASIDE.search(context.places.get(module.path, "")):
        return
    held: dict[str, list[Operation]] = {}
    for one in module.operations:
        if one.kind == "package-pin":
            held.setdefault(one.name, []).append(one)
    if held and is_shipped(context, module):
        for pins in held.values():
            yield from _package(context, module, pins)
    image = newest(module, "cuda-image")
    if image is not None and is_shipped(context, module):
        yield from _image(context, module, image)


def _package(context: Context, module: Module, pins: list[Operation]) -> Iterator[Draft]:
    """What none of the ranges of a file, or of one beside it, lets in: there may be one for each system or CUDA."""
    around = [module, *_beside(context, module)]
    elsewhere = [one for other in around[1:] for one in other.operations if one.kind == "package-pin"]
    of_all = [*pins, *(one for one in elsewhere if one.name == pins[0].name)]
    on_pypi = not any(one.kind == "wheel-index" for other in around for one in other.operations)
    without = [_without(context.targets, pin, on_pypi=on_pypi) for pin in of_all]
    chips = ChipSet.where(lambda chip: all(chip in one for one in without)) & context.targets
    if not chips:
        return
    asked, built = _range(pins[0])
    rows = list(_rows(pins[0].name, chips))
    of_cuda = f" for CUDA {first_release(chips)}" if built else ""
    name, what = f"`{pins[0].name}{asked}`" + (f" for CUDA {built}" if built else ""), rows[0].what
    since = [
        f"{marked(ChipSet.of(*row.chips) & chips) if len(rows) > 1 else them(chips)} from {row.first} on"
        for row in rows
    ]
    wheels = f", in wheels{of_cuda} or newer" if built else ""
    message = f"{name} has no {what} for {called(chips)}. {pins[0].name} ships {what} for {listed(since)}{wheels}."
    first = max((row.first for row in rows), key=version)
    advice = f"Allow {first} or newer{of_cuda}."
    if not all(_without(chips, pin) for pin in of_all):  # another index has wheels that PyPI does not
        message = f"On PyPI {name} has no {what} for {called(chips)}: its wheels there are for an older CUDA."
        advice = f"Allow {rows[0].index} or newer, or name the index of the wheels for CUDA {first_release(chips)}."
    severe = module.path.endswith(_REQUIRED) and (_of_all(context, module, pins[0]) or is_served(context, chips))
    severity: Severity = "warning" if severe else "note"
    yield draft(module, pins[0], chips, severity, message, asked, advice)


def _of_all(context: Context, module: Module, pin: Operation) -> bool:
    """Whether a project holds PyTorch itself at one release, so that nothing of it runs on a newer chip."""
    return _is_own(context, module) and pin.name == "torch" and _range(pin)[0].startswith("==")


def _is_own(context: Context, module: Module) -> bool:
    """Whether a file is what people take to build or run the project itself."""
    place = context.places.get(module.path, "")
    return place.count("/") <= 1 and not aside(context, module) and not vendored(context, module)


def _range(pin: Operation) -> tuple[str, str]:
    """The range that a pin lets in, and the CUDA of its build."""
    return (pin.detail.allowed, pin.detail.cuda) if isinstance(pin.detail, PackagePin) else ("", "")


def _beside(context: Context, module: Module) -> Iterator[Module]:
    """The other files of a kind in a folder: Dockerfile.cu128 beside Dockerfile.cu126."""
    return context.builds.beside(module.path, _ANY)


def _rows(package: str, chips: ChipSet) -> Iterator[ShippedCode]:
    return (row for row in shipped() if row.name == package and ChipSet.of(*row.chips) & chips)


def shut_out(package: str, asked: str, chips: ChipSet, *, on_pypi: bool = False) -> list[ShippedCode]:
    """What no release of a package in a range has for some of the chips (`on_pypi`: no wheel that lies there); raises
    InvalidSpecifier and InvalidVersion.
    """
    range_ = SpecifierSet(asked)
    firsts = ((row, row.index if on_pypi else row.first) for row in _rows(package, chips))
    return [row for row, first in firsts if not meet(range_, SpecifierSet(f">={first}"))]


def _without(targets: ChipSet, pin: Operation, *, on_pypi: bool = False) -> ChipSet:
    """The chips for which no release in the range of a pin has device code."""
    asked, built = _range(pin)
    try:
        barred = shut_out(pin.name, asked, targets, on_pypi=on_pypi and not built)
    except (InvalidSpecifier, InvalidVersion):
        return NONE
    need = first_release(targets)
    if built and need and version(built) < version(need):
        return targets
    return ChipSet.of(*(chip for row in barred for chip in row.chips))


def _image(context: Context, module: Module, image: Operation) -> Iterator[Draft]:
    need = first_release(context.targets)
    others = [newest(other, "cuda-image") for other in _beside(context, module)]
    if need and all(version(one.name) < version(need) for one in (image, *filter(None, others))):
        asked = f"compute capability {called(context.targets)}"
        message = f"The newest CUDA here is {image.name}, which cannot compile for {asked}: CUDA {need} can."
        compiles = isinstance(image.detail, CudaImage) and image.detail.compiles
        main = _is_own(context, module) and _MAIN_IMAGE.fullmatch(context.places.get(module.path, ""))
        severity: Severity = "warning" if compiles and main else "note"
        yield draft(
            module, image, context.targets, severity, message, f"CUDA {image.name}", f"Use CUDA {need} or newer."
        )
