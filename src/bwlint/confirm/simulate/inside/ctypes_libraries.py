"""ctypes: libraries that lie here and cannot be loaded for want of CUDA; their functions are launches."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from . import facts, journal
from .extensions import FOR_WANT_OF_CUDA


class UnbuiltFunction:
    """A function of such a library. One without a declared result gives none, any other has no answer."""

    restype: Any = None
    argtypes: Any = None

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: Any) -> None:
        facts.launch("library", self.__name__, arguments)
        if self.restype is not None:
            facts.refuse(f"what {self.__name__} gives", "its library is not loaded")


def apply(ctypes: ModuleType) -> None:
    begin, item = ctypes.CDLL.__init__, ctypes.CDLL.__getitem__

    def init(self: Any, name: Any, *more: Any, **named: Any) -> None:
        try:
            begin(self, name, *more, **named)
        except OSError as error:
            path = os.fspath(name) if name is not None else ""
            if not os.path.exists(path) or not FOR_WANT_OF_CUDA.search(str(error)):  # noqa: PTH110
                raise
            file = os.path.basename(path)  # noqa: PTH119
            journal.note("unanswered", f"loading {file}", reason=f"a stand-in takes its place: {error}")
            self._handle, self._name, self._stood_in_for = 0, path, True

    def getitem(self: Any, name: Any) -> Any:
        if "_stood_in_for" not in vars(self):
            return item(self, name)
        return UnbuiltFunction(f"{os.path.basename(self._name)}: {name}")  # noqa: PTH119

    ctypes.CDLL.__init__, ctypes.CDLL.__getitem__ = init, getitem
