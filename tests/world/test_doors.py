"""The table of doors at the head of `bwlint.world` names things that exist."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

import bwlint.world

TABLE = (bwlint.world.__doc__ or "").split("\n===")[2]
DOORS = [re.findall(r"`([\w.]+)`", line) for line in TABLE.splitlines() if "`" in line]
IN_JUDGING = {"Context": "bwlint.judging.context.Context"}


def resolved(name: str) -> object:
    """The object of a name as the table writes it: from the room, from the package, or a class that rules are given."""
    first, _, rest = name.partition(".")
    name = f"{IN_JUDGING[first]}.{rest}" if first in IN_JUDGING else name
    for start in ("bwlint.world.", "bwlint.", ""):
        parts = f"{start}{name}".split(".")
        for cut in range(len(parts) - 1, 0, -1):
            try:
                found: object = import_module(".".join(parts[:cut]))
                for part in parts[cut:]:
                    found = getattr(found, part)
            except (ImportError, AttributeError):
                continue
            return found
    raise LookupError(name)


@pytest.mark.parametrize("names", DOORS, ids=lambda names: names[0])
def test_every_door_is_there(names: list[str]) -> None:
    owner = ""
    for name in names:
        full = f"{owner}{name}" if name.startswith(".") else name
        assert callable(resolved(full)) or isinstance(resolved(full), property) or hasattr(resolved(full), "func"), full
        owner = full.rpartition(".")[0]


def test_the_table_was_read() -> None:
    assert len(DOORS) >= 15
    with pytest.raises(LookupError):
        resolved("tree.Tree.nothing_of_the_kind")
