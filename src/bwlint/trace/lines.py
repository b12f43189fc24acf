"""Parse the collector's output into processes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from bwlint.readers.binary import elf, fatbin
from bwlint.readers.binary import read as read_binary
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource
from bwlint.trace.receipt import (
    CUBIN,
    EXACT,
    FAMILY,
    JIT,
    UNKNOWN,
    Event,
    FirstLaunch,
    KernelLaunch,
    Library,
    LoadedModule,
    Process,
    Shape,
    TracedDevice,
)

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
