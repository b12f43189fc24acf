"""Input of a rung: the claim, its file, the tools and GPUs, and what the user allows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bwlint.confirm.receipt import Attempt
from bwlint.model.findings import Claim, Finding


@dataclass(frozen=True, slots=True)
class Subject:
    """A claim of a finding. `real` is the file on disk, or the archive that holds it; "" where neither is there. `root`
    is the folder of the tree that the finding was made in."""

    finding: Finding
    claim: Claim
    real: str
    root: str


@dataclass(frozen=True, slots=True)
class Toolkit:
    """Programs of a CUDA toolkit that were found, and where. `nvcc` and `ptxas` are None where there is none. `version`
    is ptxas's ("13.5.37"), `origin` says how it was found: PATH, CUDA_HOME, or a wheel's name and version."""

    ptxas: Path | None
    nvcc: Path | None
    version: str
    origin: str
    host_compiler: Path | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as its driver describes it. `capability` is "9.0"; `attributes` are numbers by the driver's names for them
    (MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: bytes). `driver` is the version of CUDA that the driver speaks ("13.0")."""

    ordinal: int
    name: str
    uuid: str
    capability: str
    driver: str
    attributes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Workbench:
    """`scratch` is a folder that goes away. `may_launch` allows code of the scanned tree on the GPU, `may_slice` its
    gates in CPython. `limit` is the time of one child in seconds, that of a compiler `compile_limit`.

    `nvcc_args` are options that the user gives himself; `commands` is a compile_commands.json. `no_device` says why
    there is none. `bench` asks for times, too.
    """

    scratch: Path
    toolkits: tuple[Toolkit, ...] = ()
    devices: tuple[Device, ...] = ()
    no_device: str = "bwlint did not look for a GPU"
    may_launch: bool = False
    may_slice: bool = False
    nvcc_args: tuple[str, ...] = ()
    commands: Path | None = None
    limit: float = 30.0
    compile_limit: float = 300.0
    bench: bool = False
    altered: str = ""
    """What of the packages that the rungs use is not as it was released; "" where nothing is."""
    scanned: tuple[str, ...] = ()
    """What is judged, as real paths: no child imports or loads from there."""
    signature: tuple[str, ...] = ()
    """Types and constants of the parameters of a kernel of Triton, as the user states them."""
    known: dict[Hashable, Attempt] = field(default_factory=dict, compare=False, repr=False)
    """Attempts that come out the same for every finding."""

    @property
    def compiler(self) -> Toolkit | None:
        """The newest toolkit that compiles C++: they are in that order."""
        return next((one for one in self.toolkits if one.nvcc and one.host_compiler), None)

    def once(self, key: Hashable, make: Callable[[], Attempt]) -> Attempt:
        """An attempt that is about the device alone, made when it is asked for first."""
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]
