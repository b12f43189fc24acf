"""Something at a place in a file."""

from __future__ import annotations

from typing import Protocol


class Located(Protocol):
    """What stands in a file."""

    @property
    def path(self) -> str: ...
