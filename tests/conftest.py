"""What tests of several rooms share."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings
from toolkit import Toolkit, find

from bwlint.sources import faults

# Tests start hundreds of interpreters, and each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No test reads or fills the index of who runs it; those that need one name a folder of their own.
os.environ["BWLINT_CACHE_DIR"] = os.devnull
# No test ends what a repair of whoever runs it has begun.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="bwlint-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)

# Reports are as wide as in a pipe, whatever terminal runs the tests.
os.environ.pop("COLUMNS", None)

# Runs make objects by the million, and most of them stay until the end of their test.
gc.set_threshold(100_000, 10, 10)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that take a toolkit are marked, for `-m`; those that share what takes long come first: a worker of
    pytest-xdist begins with a long run of neighbours."""
    for item in items:
        if isinstance(item, pytest.Function) and _takes_toolkit(item):
            item.add_marker("toolkit")
    items.sort(key=lambda item: item.get_closest_marker("shared") is None)


_OF_A_TOOLKIT = ("toolkit", "tool")


def _takes_toolkit(item: pytest.Function) -> bool:
    """Whether a test asks for a fixture of a toolkit or its ptxas, itself or by another one; a parameter may have the
    same name.
    """
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return any(name in item.fixturenames and name not in parameters for name in _OF_A_TOOLKIT)


_freeze = gc.freeze


def pytest_collection_finish() -> None:
    """Keep what the suite consists of out of every collection: those that the program asks for would walk through it.

    The program itself freezes and unfreezes to make things old; that would unfreeze the suite.
    """
    gc.collect()
    _freeze()
    for name in ("freeze", "unfreeze"):
        setattr(gc, name, lambda: None)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What tests share stays too, and each repair asks for a collection."""
    if nextitem is not None and item.get_closest_marker("shared") and not nextitem.get_closest_marker("shared"):
        gc.collect()
        _freeze()


# The same draws every time: what one run finds, the next must find too. `--hypothesis-seed` draws anew.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden anew")


@pytest.fixture(autouse=True)
def _without_internal_errors() -> Iterator[None]:
    """A run ends as if nothing were wrong where bwlint itself has failed: a test does not."""
    faults.forget()
    yield
    assert faults.noted() == ()
    faults.forget()


@pytest.fixture(scope="session")
def toolkit() -> Toolkit:
    """A CUDA toolkit from PyPI. Without one the tests are skipped, never in CI."""
    try:
        return find()
    except FileNotFoundError as error:
        _missing(str(error))
        raise


@pytest.fixture(scope="session")
def cxx() -> None:
    """For tests that take a compiler for the host, with the tools that come with it."""
    for program in ("g++", "c++filt"):
        if shutil.which(program) is None:
            _missing(f"no {program}")


@pytest.fixture(scope="session")
def cmake() -> str:
    """CMake's path: that of the test extra, or the machine's."""
    found = shutil.which("cmake", path=os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))  # noqa: PTH120
    if found is None:
        _missing("no cmake")
    return str(found)


@pytest.fixture(scope="session")
def nvcc(toolkit: Toolkit, cxx: None) -> Toolkit:
    """The toolkit, for tests that compile C++."""
    return toolkit


def _missing(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
