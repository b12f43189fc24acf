"""The user's program on a simulated chip: its facts, stand-ins in every Python that starts, and what these record."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bwlint.chips import Chip, parse_targets
from bwlint.chips.products import Product, products
from bwlint.chips.targets import letters
from bwlint.chips.toolkits import releases
from bwlint.confirm.child import MARK, ending
from bwlint.settings.config import UsageError
from bwlint.sources.read import Unread, read_from_disk

_GIB = 1 << 30
_WARP = 32


@dataclass(frozen=True, slots=True)
class Simulated:
    """A chip, and the product whose numbers are given where one is named or the chip is sold as but one."""

    chip: Chip
    product: Product | None

    @property
    def name(self) -> str:
        return f"{self.chip} ({self.product.name})" if self.product else str(self.chip)

    def facts(self) -> dict[str, Any]:
        """What is known; sizes in bytes. Limits are the chip's, counts and memory the product's."""
        chip, product = self.chip, self.product
        known: dict[str, Any] = {
            "chip": self.name,
            "major": chip.major,
            "minor": chip.minor,
            "warp_size": _WARP,
            "cuda": releases()[-1],
            "shared_memory_per_block": chip.smem_per_block_default,
            "shared_memory_per_block_optin": chip.smem_per_block_optin,
            "shared_memory_per_multiprocessor": chip.smem_per_sm,
            "reserved_shared_memory_per_block": chip.smem_reserved,
            "max_threads_per_multiprocessor": chip.max_threads_per_sm,
            "max_blocks_per_multiprocessor": chip.max_blocks_per_sm,
        }
        if product is not None:
            known |= {
                "name": product.device_name or None,
                "multiprocessors": product.multiprocessors or None,
                "total_memory": product.memory_gib * _GIB or None,
            }
        elif of_chip := [one.name for one in products() if one.chip == chip.name]:
            known["instead"] = f"name a product, such as {of_chip[0]}: this value differs by product"
        return {key: value for key, value in known.items() if value is not None}

    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted, in words."""
        memory = ("total_memory is a whole number of GiB",) if "total_memory" in self.facts() else ()
        return (f"torch.version.cuda is {releases()[-1]} where torch is built without CUDA", *memory)


def simulated(text: str) -> Simulated:
    """The chip or product that a user names: "12.1", "sm_120", "RTX 5090"; raises UsageError."""
    try:
        chips = tuple(parse_targets((text,))[0])
    except ValueError as error:
        raise UsageError(str(error)) from None
    if len(chips) != 1:
        raise UsageError("simulate one chip at a time")
    of_chip = [one for one in products() if one.chip == chips[0].name]
    named = next((one for one in of_chip if letters(text) in _names(one)), None)
    only = next((one for one in of_chip if set(map(letters, chips[0].products)) <= _names(one)), None)
    return Simulated(chips[0], named or only)


def _names(product: Product) -> set[str]:
    return set(map(letters, (product.name, *product.aliases)))


_INSIDE = Path(__file__).with_name("inside")
_FOLDER = "BWLINT_SIMULATION"
_BEGIN = """import importlib.util, sys
spec = importlib.util.spec_from_file_location({name!r}, {start!r}, submodule_search_locations=[{inside!r}])
sys.modules[{name!r}] = inside = importlib.util.module_from_spec(spec)
spec.loader.exec_module(inside)
inside.install()
inside.give_way({folder!r})
"""
_NAME = "_bwlint_simulation"


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended. `code` is None where a signal or the time limit ended it; `trouble` says why."""

    code: int | None
    trouble: str
    seconds: float


def command(words: Sequence[str]) -> tuple[str, ...]:
    """The program that is meant: a script or `-m module` is Python's own that runs bwlint. Raises UsageError."""
    first = words[0]
    if first == "-m" or first.endswith(".py"):
        if first == "-m" and len(words) < 2:
            raise UsageError("-m names no module")
        if first != "-m" and not Path(first).is_file():
            raise UsageError(f"{first}: no such script")
        return (sys.executable, *words)
    beside = shutil.which(first) or shutil.which(first, path=str(Path(sys.executable).parent))
    if beside is None:
        raise UsageError(f"{first}: no such program")
    return (beside, *words[1:])


def run(words: Sequence[str], simulated: Simulated, stand_ins: Sequence[str], folder: Path, limit: float) -> ProgramEnd:
    """Run it for at most `limit` seconds, with the environment as it is; its records come to lie in `folder`.
    `stand_ins` are compiled modules that are taken to be there. What it prints goes to stderr. When it has ended, what
    it left behind is killed. Raises UsageError where it cannot be started."""
    (folder / "job.json").write_text(json.dumps({"facts": simulated.facts(), "stand_ins": list(stand_ins)}), "utf-8")
    start = folder / "start"
    start.mkdir()
    names = {"name": _NAME, "start": str(_INSIDE / "__init__.py"), "inside": str(_INSIDE), "folder": str(start)}
    (start / "sitecustomize.py").write_text(_BEGIN.format(**names), "utf-8")
    mark = secrets.token_hex(16)
    path = os.pathsep.join(filter(None, (str(start), os.environ.get("PYTHONPATH"))))
    begun = time.monotonic()
    try:
        started = subprocess.Popen(
            command(words),
            stdin=subprocess.DEVNULL,
            stdout=2,
            env={**os.environ, "PYTHONPATH": path, _FOLDER: str(folder), MARK: mark},
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(f"{words[0]}: {error.strerror or error}") from None
    trouble = ""
    try:
        started.wait(limit)
    except subprocess.TimeoutExpired:
        trouble = f"not done after {limit:g} s"
    finally:
        code, trouble = ending(started, mark, trouble, "it does not go away")
    return ProgramEnd(None if trouble else code, trouble, time.monotonic() - begun)


_MOST_BYTES = 32 << 20
"""Of a process."""
_KINDS = frozenset(["start", "end", "exec", "full", "query", "launch", "exception", "unanswered"])


@dataclass(frozen=True, slots=True)
class Frame:
    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Noted:
    """One thing that happened: what it is about and where; `said` is the answer, reason or message."""

    kind: str
    what: str
    where: Frame | None
    said: str = ""
    how: str = ""
    arguments: tuple[str, ...] = ()
    way: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a program on a chip. `missing` says what may not be told here, in words."""

    simulated: Simulated
    program: tuple[str, ...]
    ended: ProgramEnd
    records: tuple[Noted, ...]
    missing: tuple[str, ...] = field(default=())

    def of(self, kind: str) -> tuple[Noted, ...]:
        """Those of one kind, each once, in the order in which they happened."""
        return tuple(dict.fromkeys(record for record in self.records if record.kind == kind))


def read(simulated: Simulated, program: tuple[str, ...], ended: ProgramEnd, folder: Path) -> Simulation:
    """The records of every process, oldest process first."""
    records: list[Noted] = []
    missing: list[str] = []
    for file in sorted(folder.glob("*.records")):
        process = file.name.split("-")[1] if file.name.count("-") == 2 else file.name
        data = read_from_disk(str(file), _MOST_BYTES)
        if isinstance(data, Unread):
            missing.append(f"process {process}: its records cannot be read: {data.reason}")
            continue
        found, bad = _parsed(data)
        records += found
        missing += (f"process {process}: {gap}" for gap in _gaps(found, bad))
    if not any(record.kind == "start" for record in records):
        missing.append("no Python was simulated: the program is not Python, or runs with -I, -E or -S")
    return Simulation(simulated, program, ended, tuple(records), tuple(missing))


def _gaps(found: list[Noted], bad: int) -> Iterator[str]:
    """What of a process is not known. One that was forked leaves by os._exit as a matter of course."""
    kinds = {record.kind for record in found}
    if "start" in kinds and not kinds & {"end", "exec"}:
        yield "it was killed or called os._exit: bwlint does not know what came after"
    if "full" in kinds:
        yield next(record.what for record in found if record.kind == "full")
    if bad:
        yield f"{bad} lines of its records cannot be read"


def _parsed(data: bytes) -> tuple[list[Noted], int]:
    """The records of a file, and the number of lines that are none: the program can write there what it likes."""
    found, bad = [], 0
    for line in data.splitlines():
        try:
            found.append(_record(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            bad += 1
    return found, bad


def _record(row: dict[str, Any]) -> Noted:
    kind = row["kind"]
    if kind not in _KINDS:
        raise ValueError(kind)
    said = next((str(row[key]) for key in ("answer", "reason", "message") if key in row), "")
    arguments = tuple(map(str, row.get("arguments", ())))
    way = tuple(_frame(one) for one in row.get("way", ()))
    where = row.get("where")
    how = str(row.get("how", ""))
    return Noted(kind, str(row["what"]), None if where is None else _frame(where), said, how, arguments, way)


def _frame(row: dict[str, Any]) -> Frame:
    return Frame(str(row["path"]), int(row["line"]), str(row["function"]))
