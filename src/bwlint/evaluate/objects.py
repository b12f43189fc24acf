"""Values that refer to the scanned tree: functions, classes, enums, modules, and the frame in which one runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bwlint.evaluate.values import EnumMember, Number, Raises, Ref, Unknown, Vec
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Class, Function, Module
from bwlint.sources.recorder import memory

if TYPE_CHECKING:
    from bwlint.evaluate.interpreter import Interpreter


_NUMBERS = ("IntEnum", "IntFlag")
_OTHERS = ("Enum", "StrEnum", "Flag")


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


def kind_of(run: Interpreter, owner: ClassValue) -> str:
    """The last name of the enum that a class is one of, "" for no enum."""
    bases = [run.evaluate(base, EvaluationFrame(owner.module)).lanes[0] for base in owner.body.bases]
    names = [base.name.rpartition(".")[2] for base in bases if isinstance(base, Ref)]
    if "int" in names and "Enum" in names:
        return "IntEnum"
    return next((name for name in names if name in (*_NUMBERS, *_OTHERS)), "")


def member(body: Class, kind: str, name: str, value: Any) -> Any:
    if name.startswith("_"):
        return value
    if kind not in _NUMBERS:  # one whose value is not known is itself all the same
        return EnumMember(body.qualname, name, name if isinstance(value, Unknown) else value)
    if not isinstance(value, int):
        return Unknown()
    number = Number(value)
    number.name = name
    return number


def members(run: Interpreter, owner: ClassValue) -> list[Vec] | None:
    """The members of an enum in their order; None of another class, and where one is not known."""
    kind, frame = kind_of(run, owner), EvaluationFrame(owner.module)
    rows = {
        name: run.evaluate(value, frame).lanes[0]
        for name, value in owner.body.names.items()
        if not name.startswith("_") and value.op not in ("function", "class", "opaque")
    }
    if not kind or any(isinstance(value, (Unknown, Ref)) for value in rows.values()):
        return None
    return [Vec((member(owner.body, kind, name, value),)) for name, value in rows.items()]


def find(run: Interpreter, owner: ClassValue, kind: str, value: Any) -> Any:
    """`Enum(value)` on one chip."""
    if isinstance(value, EnumMember):
        return value
    for name, expression in owner.body.names.items():
        if expression.op in ("const", "tuple") and not name.startswith("_"):
            own = run.evaluate(expression, EvaluationFrame(owner.module)).lanes[0]
            if type(own) is type(value) and own == value:
                return member(owner.body, kind, name, own)
    certain = all(one.op in ("const", "tuple") for one in owner.body.names.values())
    return Raises(f"ValueError: {value!r}") if certain and isinstance(value, (int, str, tuple)) else Unknown()
