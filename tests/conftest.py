"""What tests of several rooms share."""

from __future__ import annotations

import os
import shutil

import pytest
from toolkit import Toolkit, find


@pytest.fixture(scope="session")
def toolkit() -> Toolkit:
    """A CUDA toolkit from PyPI. Without one the tests are skipped, never in CI."""
    try:
        return find()
    except FileNotFoundError as error:
        _missing(str(error))
        raise


@pytest.fixture(scope="session")
def nvcc(toolkit: Toolkit) -> Toolkit:
    """The same, for tests that compile C++, which takes a compiler for the host."""
    if shutil.which("g++") is None:
        _missing("no g++, which nvcc needs")
    return toolkit


def _missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
