"""ptxas as an oracle: what it says of many PTX statements for one target, in a handful of runs.

ptxas reports the errors of every line of a module, so all statements go into one, a few in each kernel; those without
an error are assembled again by themselves, because some errors show only when nothing else is wrong. Where ptxas still
refuses them, it names no line, or two that stand in one kernel do not go together: then each has a kernel of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_REGISTERS = (
    ".reg .b8 b<32>; .reg .b16 h<64>; .reg .b32 r<64>; .reg .b64 x<64>; .reg .b128 B<8>; "
    ".reg .f32 f<64>; .reg .f64 dd<64>; .reg .pred p, q;"
)
_MESSAGE = re.compile(r"ptxas .*, line (\d+); (error|warning|info|fatal) *: (.*)")
_SHORT_ADDRESS = re.compile(r"32-bit address on line '(\d+)'")
_TARGET = re.compile(r"sm_\d+[af]?")
_BATCH = 2000
_TOGETHER = 5
"""Statements in one kernel: what a kernel costs ptxas is many times what a statement does."""
_ISA = [f"{major}.{minor}" for major, last in ((6, 5), (7, 8), (8, 8), (9, 9)) for minor in range(last + 1)]
_WHEEL = "nvidia-cuda-nvcc"


@dataclass(frozen=True, slots=True)
class Answer:
    """What ptxas says of a statement, with <T> for the target; no error means that it assembles."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ptxas:
    """One ptxas."""

    path: Path

    @cached_property
    def version(self) -> str:
        """ "13.0.88"."""
        found = re.search(r"V(\d+\.\d+\.\d+)", self._run("--version").stdout)
        if found is None:
            raise OSError(f"{self.path} is no ptxas")
        return found[1]

    @cached_property
    def isa(self) -> str:
        """The newest PTX ISA that it reads: "9.0"."""
        said = self._assemble(".version 99.0\n.target sm_90\n.address_size 64\n", "sm_90").stderr
        found = re.search(r"current version is '([\d.]+)'", said)
        if found is None:
            raise OSError(f"{self.path} does not tell its PTX version: {said}")
        return found[1]

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The targets that it knows, without "sm_": "120a"."""
        listed = self._run("--help").stdout.partition("--gpu-name")[2].partition("\n\n")[0]
        names = {name.removeprefix("sm_") for name in _TARGET.findall(listed)}
        return tuple(sorted(names, key=lambda name: (int(name.rstrip("af")), name)))

    def ask(self, statements: Sequence[str], target: str) -> list[Answer]:
        """What it says of each statement (one line, registers as in `_REGISTERS`) for a target ("120a")."""
        answers = [Answer()] * len(statements)
        batches = [range(at, min(at + _BATCH, len(statements))) for at in range(0, len(statements), _BATCH)]
        waiting = [(list(places), _TOGETHER) for places in batches]
        while waiting:
            places, together = waiting.pop()
            if not places:
                continue
            module, lines = _module([statements[place] for place in places], self.isa, target, together)
            ran = self._assemble(module, f"sm_{target}")
            said = _messages(ran.stderr, target)
            failed: list[int] = []
            clean: list[int] = []
            for line, place in zip(lines, places, strict=True):
                errors, warnings = said.get(line, ([], []))
                answers[place] = Answer(tuple(errors), tuple(warnings))
                (failed if errors else clean).append(place)
            if ran.returncode == 0:
                continue
            if together > 1:
                waiting += [(failed, 1), (clean, together)] if failed else [(clean, 1)]
            elif failed:
                waiting.append((clean, _TOGETHER))
            elif len(clean) == 1:
                answers[clean[0]] = Answer((ran.stderr.strip() or f"exit status {ran.returncode}",))
            else:
                waiting += [(clean[: len(clean) // 2], 1), (clean[len(clean) // 2 :], 1)]
        return answers

    def calls_driver(self, statement: str, target: str) -> bool:
        """Whether a legal statement becomes a call of a routine of the driver."""
        module, _ = _module([statement], self.isa, target, 1)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out.cubin")
            ran = self._assemble(module, f"sm_{target}", out)
            return ran.returncode == 0 and b"__cuda_syscall_cp_async_bulk" in out.read_bytes()

    def first_isa(self, target: str) -> str:
        """The lowest .version that it takes for a target, as it does each later one up to its newest."""
        known = _ISA[: _ISA.index(self.isa) + 1]
        place = bisect_left(known, True, key=lambda version: self._takes(version, target))
        if place == len(known):
            raise OSError(f"ptxas {self.version} takes no version for sm_{target}")
        return known[place]

    def _takes(self, version: str, target: str) -> bool:
        module = f".version {version}\n.target sm_{target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
        return not self.assembles(module, f"sm_{target}")

    def static_shared(self, target: str) -> int:
        """The most static shared memory that it allows a kernel, in bytes."""
        kernel = ".visible .entry k() { .shared .b8 large[4000000]; ret; }\n"
        head = f".version {self.isa}\n.target sm_{target}\n.address_size 64\n"
        found = re.search(r"0x([0-9a-f]+) max", self.assembles(head + kernel, f"sm_{target}"))
        if found is None:
            raise OSError(f"ptxas {self.version} names no limit for sm_{target}")
        return int(found[1], 16)

    def assembles(self, module: str, arch: str) -> str:
        """What it says against a whole module for an architecture ("sm_120a"); "" when it assembles."""
        ran = self._assemble(module, arch)
        return "" if ran.returncode == 0 else ran.stderr

    def _assemble(self, module: str, arch: str, out: Path | None = None) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "module.ptx")
            source.write_text(module)
            return self._run(f"-arch={arch}", "-Ofc=max", str(source), "-o", str(out or Path(folder, "out.cubin")))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path), *arguments], capture_output=True, text=True, errors="replace", timeout=300, check=False
        )


def _module(statements: Sequence[str], isa: str, target: str, together: int) -> tuple[str, list[int]]:
    """A module with a kernel for every few statements, and the line of each statement."""
    lines = [f".version {isa}", f".target sm_{target}", ".address_size 64"]
    places: list[int] = []
    for kernel in _kernels(statements, together):
        head = f".visible .entry k{len(places)}()"
        lines += [head, *kernel, "{"] if kernel[0].startswith(".") else [f"{head} {{ {_REGISTERS}", *kernel]
        last = len(lines) - kernel[0].startswith(".")
        places += range(last - len(kernel) + 1, last + 1)
        lines.append("ret; }")
    return "\n".join(lines) + "\n", places


def _kernels(statements: Sequence[str], together: int) -> Iterator[list[str]]:
    """Each with a kernel to itself: a directive stands before a body, what follows a `trap` is never reached, and one
    kernel does not use tensor memory both alone and in pairs."""
    kernel: list[str] = []
    for statement in statements:
        alone = statement.startswith((".", "trap")) or "cta_group" in statement
        if kernel and (alone or len(kernel) == together):
            yield kernel
            kernel = []
        kernel.append(statement)
        if alone:
            yield kernel
            kernel = []
    if kernel:
        yield kernel


def _messages(stderr: str, target: str) -> dict[int, tuple[list[str], list[str]]]:
    """Errors and warnings by line."""
    found: dict[int, tuple[list[str], list[str]]] = {}
    for number in _SHORT_ADDRESS.findall(stderr):
        found.setdefault(int(number), ([], []))[0].append("32-bit address")
    for line in stderr.splitlines():
        match = _MESSAGE.match(line)
        if match is None or match[2] == "info":
            continue
        errors, warnings = found.setdefault(int(match[1]), ([], []))
        text = match[3].strip().replace(f"'sm_{target}'", "'<T>'")
        (warnings if match[2] == "warning" else errors).append(text)
    return found


@dataclass
class Folder:
    """Where versions of ptxas from PyPI are kept, each in a folder of its own."""

    root: Path
    wheel: str = _WHEEL
    problem: str = field(default="", init=False)

    def ptxas(self, version: str | None) -> Ptxas | None:
        """The ptxas of a version of the wheel, installed if need be (None: the newest); None if that fails."""
        place = self.root / (version or "newest")
        found = find_in(place)
        if found is not None:
            return Ptxas(found)
        wanted = f"{self.wheel}=={version}" if version else self.wheel
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place), wanted]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            self.problem = str(error)
            return None
        found = find_in(place)
        if found is None:
            self.problem = ran.stderr.strip() or f"{wanted} holds no ptxas"
            return None
        return Ptxas(found)


def find_in(folder: Path) -> Path | None:
    """The ptxas below a folder that `pip install --target` filled."""
    found = next(folder.glob("nvidia/*/bin/ptxas"), None)
    if found is not None and not os.access(found, os.X_OK):
        found.chmod(0o755)
    return found


def find(given: str | None) -> Ptxas:
    """The ptxas of a path, of a folder that pip filled, or on PATH; raises `FileNotFoundError`."""
    if given is None:
        on_path = shutil.which("ptxas")
        if on_path is None:
            raise FileNotFoundError("no ptxas on PATH: give the path of one, or pip install --target it")
        return Ptxas(Path(on_path))
    path = Path(given)
    inside = find_in(path) if path.is_dir() else path
    if inside is None or not inside.is_file():
        raise FileNotFoundError(f"no ptxas at {given}")
    return Ptxas(inside)
