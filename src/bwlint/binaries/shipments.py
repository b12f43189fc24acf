"""The results of `inspect`: which chips each container, library and whole package serves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from bwlint.chips import ChipSet, group, sold_chips
from bwlint.chips.toolkits import known_chips
from bwlint.chips.wording import targets
from bwlint.model.findings import Claim, Confidence, Report, Severity, Skipped
from bwlint.model.images import Binary, Container, Cubin, Image, Place, Version
from bwlint.model.rule import NO_RULE, RuleTraits

NATIVE, FAMILY, JIT, LINK, NONE = "native", "family", "jit", "jit-link", "none"
WAYS = (NATIVE, FAMILY, JIT, LINK, NONE)
"""How a chip can run a container, best first."""

ALL, PARTIAL = "all", "partial"
NO_KERNELS = "no kernels"
"""The generation of a container without a kernel, which no chip can lack: never reported."""

_CUBINS, _NO_PTX = "cubins for ", ", no PTX"
"""How a reason begins and ends where a container has cubins alone."""

NO_LINES = "its kernels have no lines"
"""In what is said of a cubin whose line table cannot be read, which decides nothing."""

_BEGINNING = re.compile(r"^[A-Za-z]*")
_NUMBERS = re.compile(r"(?<=\.so)(?:\.\d+)+$")
# One of several libraries that are picked by the release of CUDA: libx_cuda121.so, x-cu118.so.
_BY_CUDA = re.compile(r"(?<![a-z0-9])cu(?:da)?[_-]?(\d\d)(\d)(?!\d)")
_X86 = frozenset({"x86_64", "i386"})


@dataclass(frozen=True, slots=True)
class LoadVerdict:
    """How one chip runs one container: the way, the place of the image that it takes, and why in a few words."""

    way: str
    place: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many containers of a library a chip runs in each way. `specialised` are those of `none` whose images are all
    for one other family or generation."""

    native: int = 0
    family: int = 0
    jit: int = 0
    link: int = 0
    none: int = 0
    specialised: int = 0

    @property
    def served(self) -> int:
        return self.native + self.family + self.jit + self.link

    @property
    def total(self) -> int:
        return self.served + self.none

    @property
    def word(self) -> str:
        """all, partial or none."""
        if not self.none:
            return ALL
        return PARTIAL if self.served else NONE


@dataclass(frozen=True, slots=True)
class LoadUnit:
    """A container that is loaded by itself, with its verdict for each chip by name.

    `generation` is the family or generation that all of its images are for ("100f", "Hopper"), "" where they are for
    several. `kernels` are the mangled names of its kernels, and `cubins` what its images say of themselves, by their
    place, as far as they were looked into. `path` is its file where the library is a folder of files, "" elsewhere.
    `sources` are the places of kernels, by mangled name, where line tables tell them.
    """

    container: Container
    verdicts: Mapping[str, LoadVerdict]
    generation: str = ""
    kernels: tuple[str, ...] = ()
    cubins: Mapping[int, Cubin] = field(default_factory=dict)
    path: str = ""
    sources: Mapping[str, Place] = field(default_factory=dict)

    @property
    def is_specific(self) -> bool:
        """Whether it is meant for some chips alone: all images are for one family, or for exact targets."""
        return bool(self.generation) or all(image.suffix for image in self.container.images)

    def image(self, chip: str) -> Image | None:
        place = self.verdicts[chip].place
        return None if place is None else self.container.images[place]

    def cubin(self, chip: str) -> Cubin | None:
        """What the image that a chip takes says of itself, if it was looked into."""
        place = self.verdicts[chip].place
        return None if place is None else self.cubins.get(place)


@dataclass(frozen=True, slots=True)
class DeviceLibrary:
    """One file with device code, or a folder or static library of such files. `path` is for reports. `toolkit` is the
    newest CUDA that wrote an image of it, as far as images say so."""

    path: str
    binary: Binary
    units: tuple[LoadUnit, ...]
    tallies: Mapping[str, Tally]
    toolkit: Version | None = None


def reasons(libraries: Iterable[DeviceLibrary], chip: str) -> Counter[str]:
    """Why a chip does not run containers of the libraries, and how many for each reason."""
    verdicts = (unit.verdicts[chip] for library in libraries for unit in library.units if chip in unit.verdicts)
    return Counter(verdict.reason for verdict in verdicts if verdict.way == NONE)


def main_reason(libraries: Iterable[DeviceLibrary], chip: str) -> str:
    """The reason that is true of most of those containers; where all have cubins alone, the targets of all."""
    libraries = tuple(libraries)
    found = reasons(libraries, chip)
    if len(found) > 1 and all(reason.startswith(_CUBINS) and reason.endswith(_NO_PTX) for reason in found):
        units = (unit for library in libraries for unit in library.units if unit.verdicts[chip].way == NONE)
        images = {(image.number, image.suffix) for unit in units for image in unit.container.images}
        return f"{_CUBINS}{', '.join(f'sm_{number}{suffix}' for number, suffix in sorted(images))}{_NO_PTX}"
    return next((reason for reason, _ in found.most_common(1)), "no image")


@dataclass(frozen=True, slots=True)
class KernelOperation:
    """Kernels of one name, less template arguments and target, of which the chips `unserved` run no variant.

    `served` are the chips that run one. `library` is the path of the first file that has a variant of no use, `reason`
    why it is none. `is_specific` says that these variants are for exact targets or families: none was meant for every
    chip. `is_sure` is false for C names that hold what template arguments would. `source` is where the first of its
    kernels is defined, if a line table tells it.
    """

    name: str
    unserved: tuple[str, ...]
    library: str
    reason: str
    is_specific: bool
    served: tuple[str, ...] = ()
    is_sure: bool = True
    source: Place | None = None


@dataclass(frozen=True, slots=True)
class Assembler:
    """A compiler of device code that comes along, and the release of CUDA whose it is. `path` is for reports.
    `is_front`: it makes PTX, of an older target too, which the driver compiles for a chip that it does not know."""

    path: str
    release: Version
    is_front: bool = False

    @property
    def file(self) -> str:
        """Its file without the numbers behind it: libnvrtc.so, ptxas-blackwell."""
        return _NUMBERS.sub("", PurePosixPath(self.path).name)

    @property
    def knows(self) -> ChipSet:
        return known_chips(self.release)


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A place in a package's own Python or build files, and what it does with the chips; `says` is how, in a phrase.
    out: keeps them out and lets an older one in; `lets_in` are the chips that get in. build: builds nothing for them.
    made: builds what they load. in: lets them in to a `library` that has nothing for them. fault: what else a check
    reports."""

    does: Literal["out", "build", "made", "in", "fault"]
    chips: tuple[str, ...]
    path: str
    line: int
    subject: str
    says: str
    library: str = ""
    lets_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shipment:
    """One thing that is installed or loaded as a whole: a wheel, a folder, a file.

    `name` is what was asked for, `tag` a wheel's platform tag ("" for others). `missing` says why there is
    nothing to look at ("no wheel for aarch64"). `others` counts binaries without device code, `unread` are those of
    which nobody knows, as they could not be read, `compiles` what speaks for code that is compiled where it runs.
    `requires` are names and ranges of what it needs, `instead` is what is to be said of one that holds nothing. `built`
    says that these are sources, and how they are installed; `bound_to` are packages of which a library needs a release
    before the first with code for newer chips. `is_cpu_build` says that its version names no CUDA and it has no code.
    """

    name: str
    libraries: tuple[DeviceLibrary, ...] = ()
    tag: str = ""
    machine: str = ""
    missing: str = ""
    others: int = 0
    operations: tuple[KernelOperation, ...] = ()
    unread: tuple[Skipped, ...] = ()
    compiles: tuple[str, ...] = ()
    assemblers: tuple[Assembler, ...] = ()
    own: tuple[OwnPlace, ...] = ()
    built: str = ""
    elsewhere: tuple[str, ...] = ()
    instead: str = ""
    requires: tuple[tuple[str, str], ...] = ()
    bound_to: tuple[str, ...] = ()
    is_cpu_build: bool = False

    @property
    def compilers(self) -> tuple[Assembler, ...]:
        """The newest compiler of each name: an older ptxas beside a newer one is for older chips."""
        by_release = sorted(self.assemblers, key=lambda one: one.release)
        return tuple({_BEGINNING.findall(one.file)[0]: one for one in by_release}.values())

    @property
    def by_cuda(self) -> tuple[tuple[Version, DeviceLibrary], ...]:
        """The libraries whose names hold a release of CUDA: one of them is picked."""
        named = ((_BY_CUDA.search(PurePosixPath(library.path).name), library) for library in self.libraries)
        return tuple(((int(name[1]), int(name[2])), library) for name, library in named if name)

    def spare(self, chip: str) -> tuple[DeviceLibrary, ...]:
        """Libraries for other releases of CUDA, beside one that runs on the chip without JIT."""
        picked = [library for _, library in self.by_cuda]
        if not any(library.tallies[chip].native + library.tallies[chip].family for library in picked):
            return ()
        return tuple(one for one in picked if not one.tallies[chip].native + one.tallies[chip].family)

    def unknown(self, asked: ChipSet) -> ChipSet:
        """Those of the judged chips that none of its compilers knows; none where it has no compiler."""
        compilers = self.compilers
        return ChipSet.joining(
            chip for chip in self.judged(asked) if compilers and not any(chip in one.knows for one in compilers)
        )

    def compiles_nothing(self, lost: ChipSet) -> str:
        """What comes of chips that none of its compilers knows, in words."""
        if all(one.is_front for one in self.compilers):
            asked = targets(lost).replace("sm_", "compute_")
            return f"a program that asks it for {asked} gets an error, PTX for older chips runs there by JIT"
        return f"nothing compiles for {targets(lost)}"

    def judged(self, asked: ChipSet, library: DeviceLibrary | None = None) -> ChipSet:
        """Those of the asked chips that can be in a machine that this, or a library of it, is for."""
        machine = (library.binary.machine if library is not None else "") or self.machine
        return asked - group("arm-hosts") if machine in _X86 else asked

    def shown(self, asked: ChipSet) -> tuple[str, ...]:
        """The chips of a table for people, by name: the asked ones, then all that are sold, the newest first. Those
        that can be in no machine for which this is are left out, unless there were none left."""
        rest = ChipSet.joining(sold_chips()) - asked
        chips = (*asked.names, *reversed(rest.names))
        possible = self.judged(asked | rest).names
        return tuple(name for name in chips if name in possible) or asked.names


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """A finding to be: what a rule has to say of one file of a shipment. `key` is what tells it from others of the rule
    in that file, for its fingerprint. `admitted` are the chips that run what it is about, `legal` those on which it
    works, where that is known. `rules` fills in the `rule`: that of the check."""

    rule: RuleTraits = NO_RULE
    severity: Severity
    confidence: Confidence = "high"
    path: str
    message: str
    label: str
    advice: str
    key: str
    admitted: ChipSet
    legal: ChipSet | None = None
    claims: tuple[Claim, ...] = ()


Runs = Literal["yes", "in part", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class PackageVerdict:
    """Whether a package runs on a chip, of several builds the worst, and the sentence that says why."""

    package: str
    chip: str
    runs: Runs
    sentence: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that one `bwlint inspect` has to say. `answers` is a sentence a shipment, `verdicts` one for each package on
    each card; `asked` are names of chips."""

    asked: tuple[str, ...]
    shipments: tuple[Shipment, ...]
    answers: tuple[str, ...]
    report: Report
    verdicts: tuple[PackageVerdict, ...] = ()
