"""The record of a traced program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Shape = tuple[int, int, int]

CUBIN, FAMILY, EXACT, JIT, UNKNOWN = "cubin", "family cubin", "exact cubin", "jit", "unknown"
"""Where code came from: a cubin for a capability and later ones of its major, for a family ("sm_120f"), for one chip
("sm_120a"); what was compiled from PTX at run time; what says nothing of itself."""


@dataclass(frozen=True, slots=True)
class TracedDevice:
    """A GPU by its ordinal in its process."""

    ordinal: int
    name: str
    capability: str


@dataclass(frozen=True, slots=True)
class Library:
    """A shared object that the process had loaded, and whether it carries device code (None: it is not readable)."""

    path: str
    device_code: bool | None


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """Code that the driver has loaded. `size` is in bytes, `target` such as "sm_120f" ("" where not known). `launched`
    are those of its `kernels` that ran; `fault` says why it was not read."""

    size: int
    container: str
    target: str
    toolkit: str
    kernels: int
    launched: tuple[str, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """All launches of a kernel on a device with one shape: `count` of them, that took `ns` in all. Shared memory is in
    bytes of a block. `cluster` is (0, 0, 0) where there is none. `containers` say where code of this name came from:
    several where modules of different ones have it."""

    kernel: str
    device: int
    grid: Shape
    block: Shape
    cluster: Shape
    static_shared: int
    dynamic_shared: int
    registers: int
    in_graph: bool
    count: int
    ns: int
    containers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstLaunch:
    """The first launch of a kernel, and the Python frames it came from ("file:line function"), the innermost first."""

    kernel: str
    stack: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One launch, by the number of its `KernelLaunch` in its process; times in nanoseconds."""

    launch: int
    start: int
    end: int
    stream: int


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the program that has used CUDA. `ended` says that it came to its own end: of one that was killed,
    the last tenth of a second may be missing. `asked` and `graphs_asked` count launches that were asked of the driver,
    `dropped` records that CUPTI lost. `jit` counts what the driver's JIT did: compile, load (from its cache), store."""

    pid: int
    parent: int
    program: str
    arguments: tuple[str, ...]
    cupti: int
    ended: bool
    asked: int
    graphs_asked: int
    dropped: int
    devices: tuple[TracedDevice, ...]
    launches: tuple[KernelLaunch, ...]
    modules: tuple[LoadedModule, ...]
    libraries: tuple[Library, ...]
    calls: tuple[FirstLaunch, ...]
    jit: dict[str, int]
    faults: tuple[str, ...]
    events: tuple[Event, ...] = ()

    @property
    def ran(self) -> int:
        """Launches that have been seen to end."""
        return sum(launch.count for launch in self.launches)

    @property
    def unseen(self) -> int:
        """Launches that were asked for and not seen to end: those captured into graphs are among them."""
        return max(0, self.asked - sum(launch.count for launch in self.launches if not launch.in_graph))

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Kernels of which no launch was seen to end."""
        done = {launch.kernel for launch in self.launches}
        return tuple(dict.fromkeys(call.kernel for call in self.calls if call.kernel not in done))

    def capability(self, ordinal: int) -> str:
        return next((device.capability for device in self.devices if device.ordinal == ordinal), "")


Outcome = Literal["executed", "replaced", "not executed", "not known"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A backend that was asked for: by which option or variable, whether it can run there, and what ran. `eligible` is
    None where nothing is known against it. `executed` are its kernels, `instead` those of others of the same kind, each
    as "what: kernel"."""

    option: str
    value: str
    eligible: bool | None
    reason: str
    executed: tuple[str, ...]
    instead: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Trace:
    """A run of a program. `code` is its exit code, None where `signal` ended it; `stopped` says that we did."""

    command: tuple[str, ...]
    started: str
    seconds: float
    code: int | None
    signal: str
    stopped: str
    processes: tuple[Process, ...]
    choices: tuple[Choice, ...] = field(default=())

    @property
    def ran(self) -> int:
        return sum(process.ran for process in self.processes)

    @property
    def kept_its_word(self) -> bool:
        """Whether all that was asked for ran, as far as one can know."""
        return all(choice.outcome == "executed" for choice in self.choices)
