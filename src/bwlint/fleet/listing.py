"""Parse the user's list of sources to check."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bwlint.model.escape import visible
from bwlint.sources.git import is_repository, parse_repository
from bwlint.sources.pypi import PREFIX, SourceError, parse_spec

SourceKind = Literal["git", "path", "pypi", "wheel"]
_COMMENT = re.compile(r"(?:^|\s)#.*")


@dataclass(frozen=True, slots=True)
class FleetSource:
    """`name` is what the list says and reports tell; `where` is the same with absolute paths."""

    name: str
    kind: SourceKind
    where: str


@dataclass(frozen=True, slots=True)
class SourceList:
    """A list by the name that messages give it, and the folder that its paths start from."""

    name: str
    text: str
    folder: str


class BadList(ValueError):
    """A list with lines that name nothing; the message has one line for each."""


def sources_of(lists: Iterable[SourceList]) -> tuple[FleetSource, ...]:
    """The sources of all lists in order, each once; raises BadList."""
    found: dict[str, FleetSource] = {}
    faults: list[str] = []
    for one in lists:
        for number, line in enumerate(one.text.removeprefix("\ufeff").split("\n"), 1):
            name = _COMMENT.sub("", line).strip()
            if not name:
                continue
            try:
                source = source_of(name, one.folder)
                if found.setdefault(name, source) != source:
                    raise SourceError(f"{name} is two places; write absolute paths")
            except SourceError as error:
                faults.append(f"{visible(one.name)}:{number}: {visible(str(error))}")
    if faults:
        raise BadList("\n".join(faults))
    return tuple(found.values())


def source_of(name: str, folder: str) -> FleetSource:
    """What one line names; raises SourceError."""
    if name.startswith(PREFIX):
        parse_spec(name)
        return FleetSource(name, "pypi", name)
    if is_repository(name):
        parse_repository(name)
        return FleetSource(name, "git", name)
    if not name.isprintable():
        raise SourceError(f"{name} has an unusual character")
    path = os.path.abspath(os.path.join(folder, name))  # noqa: PTH100, PTH118
    return FleetSource(name, "wheel" if name.endswith(".whl") else "path", path)


def identity(lists: Sequence[SourceList], sources: Sequence[FleetSource]) -> tuple[str, ...]:
    """What lists are known by from run to run: their files, or, of standard input, what they name."""
    named = tuple(os.path.abspath(one.name) for one in lists if one.name != "-")  # noqa: PTH100
    return named if len(named) == len(lists) else (*named, *(source.where for source in sources))
