"""The definitions of a file, each looked into when it is asked for: of most files few are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bwlint.model.outline import Definition

Written = TypeVar("Written")


@dataclass(frozen=True, slots=True)
class OnDemand(Mapping[str, Definition], Generic[Written]):
    """Definitions by qualified name: `read` makes one of its name and of what is `written` there."""

    written: Mapping[str, Written]
    read: Callable[[str, Written], Definition]
    _known: dict[str, Definition] = field(default_factory=dict)

    def __getitem__(self, qualname: str) -> Definition:
        if qualname not in self._known:
            self._known[qualname] = self.read(qualname, self.written[qualname])
        return self._known[qualname]

    def __contains__(self, qualname: object) -> bool:
        return qualname in self.written

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)
