"""What `inspect` finds out: which chips each container, each library and a whole package serve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bwlint.findings import Report
from bwlint.images import Binary, Container, Cubin, Image, Version

NATIVE, FAMILY, JIT, LINK, NONE = "native", "family", "jit", "jit-link", "none"
WAYS = (NATIVE, FAMILY, JIT, LINK, NONE)
"""How a chip comes to run a container, best first."""

ALL, PARTIAL = "all", "partial"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one chip runs one container: the way, the image that it takes, and why in a few words."""

    way: str
    image: Image | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many containers of a library a chip runs in each way.

    `specialised` are those of `none` whose images are all for one other family or generation.
    """

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
class Unit:
    """A container that is loaded by itself, with its verdict for each chip by name.

    `generation` is the family or generation that all of its images are for ("100f", "9.0"), "" where they are for
    several. `kernels` are the mangled names of its kernels, as far as one of its images was looked into.
    """

    container: Container
    verdicts: Mapping[str, Verdict]
    generation: str = ""
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """One file with device code. `path` is for reports; `cubins` are the images looked into, by their offset."""

    path: str
    binary: Binary
    units: tuple[Unit, ...]
    tallies: Mapping[str, Tally]
    toolkit: Version | None = None
    cubins: Mapping[int, Cubin] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Operation:
    """Kernels of one name, less template arguments and target, over all containers of a shipment.

    `served` and `unserved` are the names of chips that run a variant, and that run none.
    """

    name: str
    served: tuple[str, ...]
    unserved: tuple[str, ...]
    library: str


@dataclass(frozen=True, slots=True)
class Shipment:
    """One thing that is installed or loaded as a whole: a wheel, a folder, a file.

    `name` is what was asked for, `tag` a wheel's platform tag ("" for others). `missing` says why there is
    nothing to look at ("no wheel for aarch64"). `others` counts binaries without device code.
    """

    name: str
    libraries: tuple[Library, ...] = ()
    tag: str = ""
    machine: str = ""
    missing: str = ""
    others: int = 0
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that one `bwlint inspect` has to say. `answers` is a sentence a shipment; `asked` are names of chips."""

    asked: tuple[str, ...]
    shipments: tuple[Shipment, ...]
    answers: tuple[str, ...]
    report: Report
