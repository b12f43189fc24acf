"""What runs inside the user's program: Python's own library alone, and a folder through which bwlint hears of it."""

from __future__ import annotations

import importlib
import sys


def install() -> None:
    """Begin: from now on what asks a device is answered, and what a device would do is written down."""
    from . import hooks, processes

    processes.watch()
    hooks.watch()


def give_way(folder: str) -> None:
    """Import the `sitecustomize` of the user's own environment, whose place was taken to get in."""
    own = sys.modules.pop("sitecustomize", None)
    kept = sys.path[:]
    sys.path[:] = [path for path in sys.path if path != folder]
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        sys.path[:] = [path for path in kept if path != folder]
