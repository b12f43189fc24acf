"""Values that refer to the scanned tree: functions, classes, modules, and the frame in which one runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bwlint.evaluate.values import Vec
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Class, Function, Module
from bwlint.sources.recorder import memory


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the tree; `frame` is the one in which it was made, if that binds what it sees."""

    module: Module
    function: Function
    owner: Instance | ClassValue | None = None
    frame: EvaluationFrame | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ClassValue:
    module: Module
    body: Class


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the tree; `given` are the arguments it was made with, where that was seen."""

    module: Module
    body: Class
    given: tuple[tuple[tuple[str, str], Vec], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordType:
    """What `namedtuple("I", ["x", "y"])` makes."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModuleValue:
    module: Module


@dataclass(frozen=True, slots=True, eq=False)
class LambdaValue:
    frame: EvaluationFrame
    owner: str
    params: tuple[str, ...]
    body: Expr


@dataclass(frozen=True, slots=True, eq=False)
class PartialValue:
    function: Any
    arguments: tuple[Vec, ...]
    keywords: tuple[tuple[str, Vec], ...]


class EvaluationFrame:
    """Where an expression runs: module, parameters, memo; `line` is of its macro's use (0: the end; None: none)."""

    __slots__ = ("args", "line", "memo", "module", "parent")

    def __init__(
        self,
        module: Module,
        args: dict[tuple[str, str], Vec] | None = None,
        parent: EvaluationFrame | None = None,
        line: int | None = None,
    ) -> None:
        self.module = module
        self.args = args or {}
        self.parent = parent
        self.line = line
        self.memo: dict[int, Vec] = memory() if parent is None else parent.memo

    def lookup(self, owner: str, name: str) -> Vec | None:
        frame: EvaluationFrame | None = self
        while frame is not None:
            found = frame.args.get((owner, name))
            if found is not None:
                return found
            frame = frame.parent
        return None


class OutsideNames(Protocol):
    """What the interpreter asks about names outside the expression."""

    def module(self, dotted: str, near: str = "") -> Module | None: ...

    def owner_class(self, module: Module, qualname: str) -> Class | None: ...

    def is_literal_attribute(self, module: Module, name: str) -> bool:
        """Whether a class of a module, or of one that it imports, has a number under a name."""
        ...

    def definers(self, module: Module, macro: str) -> Sequence[Module]:
        """The files of the tree that define a macro and reach a file by its includes."""
        ...

    def having(self, module: Module, member: str) -> tuple[Module, str] | None:
        """The one type of the tree that has a static member (`::member`), by where it is defined and its key there."""
        ...

    def meaning(self, module: Module, name: str) -> Module | None:
        """The file of the tree that defines a name which a C++ file uses and does not define."""
        ...

    def is_given_the_device(self, module: Module, macro: str) -> bool:
        """Whether a build of the project defines a macro of the compiler's command line from a capability."""
        ...


@dataclass(slots=True)
class Clash:
    """A comparison of a capability with something of a type that can never equal it, at a place of the file `path`."""

    path: str
    at: Span | None
    reason: str
    certain: bool = True
    op: str = ""
    other: Any = None
