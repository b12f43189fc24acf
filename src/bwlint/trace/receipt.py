"""The record of a traced program, read from what its collectors wrote, and whether kernels of the backends that were
asked for ran."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from bwlint.chips import backends
from bwlint.chips.backends import Backend
from bwlint.readers.binary import elf, fatbin
from bwlint.readers.binary import read as read_binary
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

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


def requested(command: Sequence[str], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Options and variables that name a backend, with the values they give it. An option's value is what follows "=" or
    the next word; values that leave the choice to the program ask for nothing."""
    known = set(backends.options())
    given = [*_options(command[1:]), *sorted(environment.items())]
    found = ((name, value) for name, value in given if backends.normal(name) in known and backends.kind_of(name))
    return tuple((name, value) for name, value in found if value.lower() not in _NO_CHOICE)


_NO_CHOICE = frozenset({"", "auto", "none", "default", "false", "0"})


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word.partition("=")
        following = words[place + 1] if place + 1 < len(words) else ""
        yield name, value if equals else "" if following.startswith("-") else following


def choices(asked: Iterable[tuple[str, str]], processes: Sequence[Process]) -> tuple[Choice, ...]:
    kernels = dict.fromkeys(launch.kernel for process in processes for launch in process.launches)
    devices = dict.fromkeys(process.capability(row.device) for process in processes for row in process.launches)
    return tuple(_choice(option, value, list(kernels), [name for name in devices if name]) for option, value in asked)


def _choice(option: str, value: str, kernels: Sequence[str], devices: Sequence[str]) -> Choice:
    kind, name = backends.kind_of(option), value.lower()
    rows = [row for row in backends.backends() if row.kind == kind]
    wanted = [row for row in rows if name in row.values]
    executed = _ran(wanted, kernels)
    own = {kernel for row in wanted for kernel in kernels if row.kernels.search(kernel)}
    instead = _ran([row for row in rows if row not in wanted], [kernel for kernel in kernels if kernel not in own])
    eligible, reason = _eligible(option, value, devices)
    return Choice(
        option,
        value,
        eligible,
        reason,
        executed,
        () if executed else instead,
        _outcome_of(executed, instead, bool(wanted) or eligible is False),
    )


def _outcome_of(executed: Sequence[str], instead: Sequence[str], is_told_apart: bool) -> Outcome:
    """`is_told_apart`: its kernels are known, or it cannot have run."""
    if executed:
        return "executed"
    if not is_told_apart:
        return "not known"
    return "replaced" if instead else "not executed"


def _ran(rows: Iterable[Backend], kernels: Sequence[str]) -> tuple[str, ...]:
    """A kernel for each backend that ran."""
    found = ((row.what, next((each for each in kernels if row.kernels.search(each)), "")) for row in rows)
    return tuple(f"{what}: {kernel}" for what, kernel in found if kernel)


def _eligible(option: str, value: str, devices: Sequence[str]) -> tuple[bool | None, str]:
    """Whether the table of launchers lets it run on the devices that were used."""
    plan = backends.plan_of(option, value)
    if plan is None:
        return None, "bwlint knows no reason against it"
    if not devices:
        return None, "no device was used"
    barred = [device for device in devices if device not in plan.legal.names]
    if barred:
        return False, f"{plan.launcher}: on {', '.join(barred)} {plan.what} {plan.outcome}"
    return True, f"{plan.what} runs on {', '.join(devices)}"


_KINDS = {"": CUBIN, "f": FAMILY, "a": EXACT}


def processes(folder: Path) -> tuple[Process, ...]:
    """What the collectors have written to a folder, by process. A line that makes no sense is a fault of one."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: (len(file.name), file.name))
    return tuple(process for file in files for process in _of_file(file))


def _of_file(file: Path) -> Iterator[Process]:
    seen: _ProcessSeen | None = None
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                told = json.loads(line)
                if not isinstance(told, dict) or not told:
                    raise ValueError("no object")
                if "process" in told:
                    if seen is not None:
                        yield seen.whole(file.parent)
                    seen = _ProcessSeen(told)
                elif seen is not None:
                    seen.take(told)
            except (ValueError, LookupError, TypeError, AttributeError):
                # The last line of a process that was killed may be cut off.
                if seen is not None:
                    seen.faults.append(f"line {number} of {file.name} is cut off")
    if seen is not None:
        yield seen.whole(file.parent)


@dataclass(slots=True)
class _ProcessSeen:
    head: dict[str, Any]
    devices: dict[int, TracedDevice] = field(default_factory=dict)
    launches: dict[int, KernelLaunch] = field(default_factory=dict)
    modules: list[dict[str, Any]] = field(default_factory=list)
    libraries: dict[str, None] = field(default_factory=dict)
    calls: list[FirstLaunch] = field(default_factory=list)
    jit: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    asked: int = 0
    graphs: int = 0
    dropped: int = 0
    ended: bool = False

    def take(self, told: dict[str, Any]) -> None:
        """Add what a line says. Raises what a line that makes no sense leads to."""
        match next(iter(told)):
            case "ran":
                launch = self.launches[told["ran"]]
                more = replace(launch, count=launch.count + int(told["count"]), ns=launch.ns + int(told["ns"]))
                self.launches[told["ran"]] = more
            case "event":
                self.events.append(Event(told["event"], told["start"], told["end"], told["stream"]))
            case "kernel":
                self.launches[told["kernel"]] = _launch(told)
            case "launches":
                self.asked, self.graphs = int(told["launches"]), int(told["graph_launches"])
            case "asked":
                self.calls.append(FirstLaunch(told["asked"], _frames(told.get("stack", ""))))
            case "module":
                self.modules.append(told)
            case "library":
                self.libraries[told["library"]] = None
            case "jit":
                self.jit[f"{told['jit']} {told['from']}"] += 1
            case "device":
                self.devices[told["device"]] = TracedDevice(told["device"], told["name"], told["capability"])
            case "dropped":
                self.dropped += int(told["dropped"])
            case "error":
                self.faults.append(f"{told['error']} ({told['code']})" if told.get("code") else told["error"])
            case "end":
                self.ended = True

    def whole(self, folder: Path) -> Process:
        ran = {launch.kernel for launch in self.launches.values()}
        read = [_module(told, folder, ran) for told in self.modules]
        modules = tuple(module for module, _ in read)
        if any(name.endswith(" ptx") for name in self.jit) and not any(module.container == JIT for module in modules):
            self.faults.append("code was compiled from PTX, but belongs to no loaded module")
        sources: dict[str, dict[str, None]] = {}
        for module, kernels in read:
            for kernel in kernels & ran:
                sources.setdefault(kernel, {})[f"{module.container} {module.target}".strip()] = None
        numbers = {number: place for place, number in enumerate(self.launches)}
        return Process(
            pid=int(self.head["process"]),
            parent=int(self.head["parent"]),
            program=self.head.get("program", ""),
            arguments=tuple(self.head.get("arguments", "").split("\0")),
            cupti=int(self.head["cupti"]),
            ended=self.ended,
            asked=self.asked,
            graphs_asked=self.graphs,
            dropped=self.dropped,
            devices=tuple(self.devices.values()),
            launches=tuple(
                replace(launch, containers=tuple(sorted(sources.get(launch.kernel, ()))))
                for launch in self.launches.values()
            ),
            modules=modules,
            libraries=tuple(Library(path, _has_device_code(path)) for path in self.libraries),
            calls=tuple(self.calls),
            jit=dict(self.jit),
            faults=tuple(self.faults),
            events=tuple(replace(e, launch=numbers[e.launch]) for e in self.events if e.launch in numbers),
        )


@cache
def _has_device_code(path: str) -> bool | None:
    """By the names of its sections."""
    try:
        with Path(path).open("rb") as file:
            names = elf.names_of_sections(ByteSource.of_file(file.fileno()))
    except (OSError, ReadError):
        return None
    return any(part.encode() in names for part in fatbin.PARTS)


def _launch(told: dict[str, Any]) -> KernelLaunch:
    return KernelLaunch(
        kernel=str(told["name"]),
        device=int(told["device"]),
        grid=_shape(told["grid"]),
        block=_shape(told["block"]),
        cluster=_shape(told["cluster"]),
        static_shared=int(told["static_shared"]),
        dynamic_shared=int(told["dynamic_shared"]),
        registers=int(told["registers"]),
        in_graph=bool(told["in_graph"]),
        count=0,
        ns=0,
    )


def _shape(given: list[int]) -> Shape:
    x, y, z = given
    return int(x), int(y), int(z)


def _frames(dumped: str) -> tuple[str, ...]:
    """The frames of what CPython's faulthandler prints: `  File "a.py", line 3 in f`."""
    frames = []
    for line in dumped.splitlines():
        file, comma, rest = line.strip().removeprefix('File "').rpartition('", line ')
        number, _, function = rest.partition(" in ")
        if comma:
            frames.append(f"{file}:{number} {function}".strip())
    return tuple(frames)


def _module(told: dict[str, Any], folder: Path, ran: set[str]) -> tuple[LoadedModule, set[str]]:
    """A module by what its cubin says, and the names of its kernels."""
    size, name = int(told["size"]), str(told.get("file", ""))
    if not name:
        return LoadedModule(size, UNKNOWN, "", "", 0, (), "the program loaded more code than a receipt can hold"), set()
    cubin, fault = None, "no cubin"
    try:
        cubin = read_binary(ByteSource.of_bytes((folder / name).read_bytes())).cubin
    except (OSError, ReadError) as error:
        fault = str(error)
    if cubin is None:
        return LoadedModule(size, UNKNOWN, "", "", 0, (), fault), set()
    kernels = {kernel.name for kernel in cubin.kernels}
    container = JIT if cubin.by_jit else _KINDS[cubin.suffix]
    toolkit = ".".join(map(str, cubin.toolkit)) if cubin.toolkit else ""
    target = f"sm_{cubin.number}{cubin.suffix}"
    return LoadedModule(size, container, target, toolkit, len(kernels), tuple(sorted(kernels & ran))), kernels
