"""toolchain: what a project holds fast is older than the chips: a package with device code, the CUDA of an image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from bwlint.chips import NONE, ChipSet
from bwlint.chips.surroundings import ShippedCode, shipped
from bwlint.chips.toolkits import first_release, version
from bwlint.chips.wording import called, listed, marked, them
from bwlint.judging.aside import aside
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.model.details import PackagePin
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Severity
from bwlint.rules.toolchain.pins import draft, is_served, is_shipped, newest
from bwlint.world.requirements import meet

_ANY = re.compile("")
_REQUIRED = (".txt", ".in", ".toml", ".cfg", ".py")
"""What everybody installs, and not one image."""
_LAID_ASIDE = re.compile(r"(?i)(?:^|/)(?:archived?|attic|deprecated|legacy|obsolete)/")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
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
    beside = [one for other in _beside(context, module) for one in other.operations if one.kind == "package-pin"]
    of_all = [*pins, *(one for one in beside if one.name == pins[0].name)]
    without = [_without(context.targets, pin) for pin in of_all]
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
    severe = module.path.endswith(_REQUIRED) and (_of_all(context, module, pins[0]) or is_served(context, chips))
    severity: Severity = "warning" if severe else "note"
    yield draft(module, pins[0], chips, severity, message, asked, f"Allow {first} or newer{of_cuda}.")


def _of_all(context: Context, module: Module, pin: Operation) -> bool:
    """Whether a project holds PyTorch itself at one release, so that nothing of it runs on a newer chip."""
    is_own = context.places.get(module.path, "").count("/") <= 1 and not aside(context, module)
    return is_own and pin.name == "torch" and _range(pin)[0].startswith("==")


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


def _without(targets: ChipSet, pin: Operation) -> ChipSet:
    """The chips for which no release in the range of a pin has device code."""
    asked, built = _range(pin)
    try:
        barred = shut_out(pin.name, asked, targets)
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
        yield draft(module, image, context.targets, "note", message, f"CUDA {image.name}", f"Use CUDA {need} or newer.")
