"""Readers of build files as tests call them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.model.facts import Carry
from bwlint.readers import reader

Carries = Callable[[str, str], tuple[Carry, ...]]


@pytest.fixture
def carries() -> Carries:
    """The carries of a source under a file name."""
    return lambda name, source: reader("build").read(f"/kit/{name}", source, "", False, frozenset()).carries
