"""Names that libraries.toml has beside its rows: of hardware operations of kernel DSLs, of what the host makes of
them, of modules that may be imported, and of functions that take the name of a backend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bwlint.chips.chipset import ChipSet
from bwlint.data import any_of, table


@dataclass(frozen=True, slots=True)
class OperationFamily:
    """A family of operations of a kernel DSL, by the word with which their names begin."""

    begins: str
    chips: ChipSet
    what: str


@cache
def _operations() -> tuple[OperationFamily, ...]:
    return tuple(
        OperationFamily(row["begins"], ChipSet.of(*row["chips"]), row["what"])
        for row in table("libraries")["operation"]
    )


def operation(name: str) -> OperationFamily | None:
    """The hardware operation that a name begins with; a constant, in capitals, is none: `tcgen05.MAX_COLUMNS`."""
    word = name.lower()
    if name.rpartition(".")[2].isupper() or on_the_host(name):
        return None
    return next((row for row in _operations() if word.startswith(row.begins)), None)


def operation_in(dotted: str) -> OperationFamily | None:
    """The hardware operation that a part of a dotted name is: `nvgpu.tcgen05.mma`, no constant of `tcgen05_names`."""
    parts = dotted.split(".")
    if parts[-1].isupper() or on_the_host(dotted):
        return None
    found = ((part, operation(part)) for part in parts)
    return next((row for part, row in found if row is not None and part.partition("_")[0] == row.begins), None)


def on_the_host(name: str) -> bool:
    """Whether a name is that of what the host makes of an operation: an enumeration, a layout."""
    return any_of("libraries", "host").search(name) is not None


@cache
def optional_modules() -> tuple[bytes, ...]:
    """Modules that a project may import where they are installed."""
    return tuple(row["module"].encode() for row in table("libraries")["optional"])


def is_told_by_text(name: str) -> bool:
    """Whether a function, by its last name, is handed the name of a backend: the rows of a `call`."""
    return any_of("libraries", "need", "call").fullmatch(name) is not None
