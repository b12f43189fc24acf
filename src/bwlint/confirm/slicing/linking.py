"""The modules of a slice in one run: a name is bound when it is asked for. This runs in the child."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from bwlint.confirm.slicing.builtins import reduced
from bwlint.confirm.slicing.operations import OPERATIONS
from bwlint.confirm.slicing.standins import LibrariesOnChip
from bwlint.confirm.slicing.unread import UnknownValue

Units = dict[str, tuple[list[tuple[CodeType, list[str]]], dict[str, Any]]]
"""By module: its statements, compiled, with the names that they bind; and the rest of the module's plan."""


class Space(dict[str, Any]):
    """The names of a module: what binds one runs when it is asked for."""

    def __init__(self, linker: Linker, dotted: str, statements: list[tuple[CodeType, list[str]]], plan: Any) -> None:
        super().__init__()
        self._linker, self._dotted, self._statements, self._plan = linker, dotted, statements, plan
        self._done: set[int] = set()
        self.update(linker.helpers(self))
        self["__builtins__"] = linker.builtins
        self["__name__"] = dotted

    def __missing__(self, name: str) -> Any:
        for index, (code, names) in enumerate(self._statements):
            if name in names and index not in self._done:
                self._done.add(index)
                self._bind_class_names(code)
                exec(code, self)
                self._assume(names)
        if name in self:
            return self[name]
        if name in self._plan["elsewhere"]:
            return self._linker.imported(self._plan["elsewhere"][name], name)
        if name in self._linker.builtins:
            raise KeyError(name)
        why = self._plan["missing"].get(name, "")
        if not why and hasattr(builtins, name):
            self._linker.world.choices.lose(f"it asks for `{name}`, which a slice does not have")
        if why:
            return self._linker.world.unread(name, why)
        return self._linker.world.outside(name)

    def _bind_class_names(self, code: CodeType) -> None:
        """A class body looks for names where `__missing__` is not asked: they are there before it runs."""
        for inner in code.co_consts:
            if not isinstance(inner, CodeType):
                continue
            if not inner.co_flags & inspect.CO_OPTIMIZED:
                for name in inner.co_names:
                    if name not in self and name not in self._linker.builtins and self._knows(name):
                        self[name] = self[name]
            self._bind_class_names(inner)

    def _knows(self, name: str) -> bool:
        """Whether asking for a name is no mistake: attributes of a class body are among its names."""
        return self.binds(name) or name in self._plan["elsewhere"] or not hasattr(builtins, name)

    def _assume(self, names: Sequence[str]) -> None:
        """Functions of the tree that the table of sources knows: what they cannot find out here, the table says."""
        for name in names:
            found = self.get(name)
            if isinstance(found, FunctionType):
                self[name] = self._linker.world.assumed_of(f"{self._dotted}.{name}", found)

    def binds(self, name: str) -> bool:
        return name in self or any(name in names for _, names in self._statements)

    def attribute(self, name: str) -> Any:
        """A name of the module for one outside it."""
        if self.binds(name) or name in self._plan["elsewhere"] or name in self._plan["missing"]:
            try:
                return self[name]
            except KeyError:
                return self._linker.world.unread(f"{self._dotted}.{name}")
        if name in self._plan["defined"]:
            return self._linker.world.unread(name, f"`{self._dotted}.{name}` was not cut out")
        inner = f"{self._dotted}.{name}"
        return self._linker.proxy(inner) if self._linker.has(inner) else self._linker.world.outside(inner)


class Linker:
    """The modules of a slice in one run."""

    def __init__(self, units: Units, world: LibrariesOnChip) -> None:
        self._units, self.world = units, world
        self._spaces: dict[str, Space] = {}
        self.builtins = reduced(world)
        self._part = _part_of(self)

    def has(self, dotted: str) -> bool:
        return dotted in self._units

    def module(self, dotted: str) -> Space:
        if dotted not in self._spaces:
            statements, plan = self._units[dotted]
            self._spaces[dotted] = Space(self, dotted, statements, plan)
        return self._spaces[dotted]

    def proxy(self, dotted: str) -> Proxy:
        return Proxy(self.module(dotted))

    def whole(self, dotted: str) -> Any:
        """`import a.b as c`"""
        return self.proxy(dotted) if self.has(dotted) else self.world.outside(dotted)

    def imported(self, dotted: str, name: str) -> Any:
        if self.has(dotted):
            return self.module(dotted).attribute(name)
        inner = f"{dotted}.{name}"
        return self.proxy(inner) if self.has(inner) else self.world.outside(inner)

    def helpers(self, space: Space) -> dict[str, Any]:
        """What the text of a slice is rewritten to use."""
        world = self.world
        return {
            **OPERATIONS,
            **world.helpers,
            "__bw_whole__": self.whole,
            "__bw_import__": self.imported,
            "__bw_free__": world.unread,
            "__bw_named__": world.named,
            "__bw_apart__": world.taken_apart,
            "__bw_self__": lambda name, made: _stand_in(space, name, made),
            "__bw_Part__": self._part,
        }


class Proxy(ModuleType):
    """A module of the slice as a value."""

    def __init__(self, space: Space) -> None:
        super().__init__("module")
        self.__dict__["_bw_space"] = space

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_bw_space"].attribute(name)


def _part_of(linker: Linker) -> type:
    """A base for classes of which only a part is in the slice: what is not there is not known."""

    def lookup(owner: type, subject: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for base in owner.__mro__ if subject is not None else ():
            if linker.has(base.__module__):
                space, wanted = linker.module(base.__module__), f"__attribute_{base.__name__}_{name}"
                if space.binds(wanted):
                    return space[wanted](subject)
        return linker.world.unread(f"{'self' if subject is not None else owner.__name__}.{name}")

    # a class may have bases of the kind that has the most special metaclass of those there are
    class Meta(type(Protocol)):  # type: ignore[misc]
        def __init__(cls, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            PARTIAL.add(cls.__name__)

        def __getattr__(cls, name: str) -> Any:
            return lookup(cls, None, name)

    class SlicePart(metaclass=Meta):
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            return lookup(type(self), self, name)

    return SlicePart


PARTIAL: set[str] = set()
"""Names of classes of which only a part is in the slice."""


def _stand_in(space: Space, name: str, made: bool) -> Any:
    """An object of a class that nobody has initialised (or the class itself)."""
    owner = space[name]
    if isinstance(owner, UnknownValue) or not made:
        return owner
    owner.__abstractmethods__ = frozenset()
    return object.__new__(owner)
