"""What stands in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


class Located(Protocol):
    """What stands in a file."""

    @property
    def path(self) -> str: ...
