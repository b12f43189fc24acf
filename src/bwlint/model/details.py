"""What an operation of one kind says beside its name, its place and the sizes that are still to be evaluated.

One record a kind, named after what it holds. `Operation.detail` has it; `model.kinds` says what the kinds are.
"""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.model.expr import Expr, Span


@dataclass(frozen=True, slots=True)
class OptIn:
    """opts-in: the variable that holds the bytes where the macro is used."""

    variable: str


@dataclass(frozen=True, slots=True)
class SizesInReach:
    """opted-in: the sizes that the function around holds, by their names."""

    sizes: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class CapacityUses:
    """capacity in Python: where the number is used."""

    at: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class SizeRow:
    """A row of a table of sizes: a chip as "12.0", and bytes or KiB."""

    chip: str
    size: int
    at: Span


@dataclass(frozen=True, slots=True)
class SizeTable:
    """size-table: its rows in order."""

    rows: tuple[SizeRow, ...]


@dataclass(frozen=True, slots=True)
class TritonCase:
    """Bytes of shared memory that a launch takes, and the width without which it would take less ("" = none), with its
    largest number.
    """

    size: int
    width: str
    at: Span | None
    widest: int = 0


@dataclass(frozen=True, slots=True)
class TritonLaunch:
    """launched-shared: what it takes at least, then in each case of the function around it."""

    least: TritonCase
    cases: tuple[TritonCase, ...]


@dataclass(frozen=True, slots=True)
class Tiles:
    """tiled-shared: bytes that the buffers of a function take together, and the parameters that make them so large."""

    size: int
    chosen_by: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class StatedChips:
    """stated: the chips that a text gives the size to, as 120."""

    chips: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Speech:
    """generation: the text."""

    text: str


@dataclass(frozen=True, slots=True)
class Pinned:
    """pinned: the architecture that the class gives its objects."""

    value: object


@dataclass(frozen=True, slots=True)
class Glued:
    """glued: the two names that stand beside each other."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class MisreadDigits:
    """as-text, where an example shows it: what comes of a capability, and the chips that are misread ("12.0")."""

    says: str
    chips: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToldParameter:
    """told: the parameter of the library's function."""

    parameter: str


@dataclass(frozen=True, slots=True)
class Multiprocessors:
    """multiprocessors: the number, and what code calls it."""

    number: int
    called: str


@dataclass(frozen=True, slots=True)
class MultiprocessorGroups:
    """multiprocessors that are split: how many groups, and how many multiprocessors each."""

    groups: int
    each: int


@dataclass(frozen=True, slots=True)
class MemoryTier:
    """memory-tier: bytes from, and below (0 = no end)."""

    least: int
    end: int


@dataclass(frozen=True, slots=True)
class PlanOption:
    """plan-option: the value, and words for cards near it, in its file, declared there as hardware; words for clusters;
    words for cards near the same option elsewhere in the file.
    """

    value: str
    near: tuple[str, ...] = ()
    in_file: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanBranch:
    """plan-branch: the value, and whether it is asked for (else set)."""

    value: str
    is_asked: bool


@dataclass(frozen=True, slots=True)
class LeastRelease:
    """floor, wheels and packages: a release that is asked for at least."""

    release: str


@dataclass(frozen=True, slots=True)
class WheelIndex:
    """wheel-index: the text around it."""

    near: str


@dataclass(frozen=True, slots=True)
class PackagePin:
    """package-pin: the range that is let in, and the release of CUDA of its build ("" = none is named)."""

    allowed: str
    cuda: str


@dataclass(frozen=True, slots=True)
class CudaImage:
    """cuda-image: whether code is compiled there with it, or has been."""

    compiles: bool


@dataclass(frozen=True, slots=True)
class PickedTarget:
    """picked-target: the target that a script picks else, and the releases of CUDA for which it picks the first."""

    otherwise: str
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Soname:
    """soname: the major version in the newest name that is tried."""

    major: int


@dataclass(frozen=True, slots=True)
class Environment:
    """environment: the value of the variable, and the text around it."""

    value: str
    near: str


@dataclass(frozen=True, slots=True)
class PeerSwitch:
    """peer-switch: the functions of its file that it leads to, the proofs within reach, and by its name

    option   the path that it enters (`path`) and what it turns on (`what`)
    rdma, fabric       what decides: "always", "processor" or ""
    demanded           the parameter that nobody looks at (`variable`)
    skip, declared, reads
                       the variable; of skip also the value with which the test is made (`tests_with`)
    """

    leads_to: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    path: str = ""
    what: str = ""
    decides: str = ""
    variable: str = ""
    tests_with: str = ""


@dataclass(frozen=True, slots=True)
class PeerArgument:
    """peer-parameter, peer-passed: the position of the pointer among the arguments, from 0."""

    position: int


@dataclass(frozen=True, slots=True)
class LinkUse:
    """link-use: the function that was called for the bandwidth."""

    called: str


Detail = (
    OptIn
    | SizesInReach
    | CapacityUses
    | SizeTable
    | TritonLaunch
    | Tiles
    | StatedChips
    | Speech
    | Pinned
    | Glued
    | MisreadDigits
    | ToldParameter
    | Multiprocessors
    | MultiprocessorGroups
    | MemoryTier
    | PlanOption
    | PlanBranch
    | LeastRelease
    | WheelIndex
    | PackagePin
    | CudaImage
    | PickedTarget
    | Soname
    | Environment
    | PeerSwitch
    | PeerArgument
    | LinkUse
)
