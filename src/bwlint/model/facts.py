"""Facts that readers report about a file: immutable and identical in every process."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

from bwlint.model.details import Detail
from bwlint.model.expr import Expr, Span
from bwlint.model.kinds import CarryKind, Compares, Ends, Exit, FunctionKind, GateKind, How, Language, OperationKind

Path = tuple[Expr, ...]
"""Tests that all hold where something stands; an early exit above contributes its negation."""
MAX_RETURNS = 60
"""How many ways out of a function are kept: one with so many may have others."""
HANDLER = "exception at line"
"""How the unknown test begins under which the body of an exception handler stands."""


@dataclass(frozen=True, slots=True)
class Use:
    """A name that is used.

    `role` is what a string is assigned to or passed as, `call` the function that it is passed to, `given` are the
    arguments of a template as they are written, in Python those of a call with the places or names that take them.
    """

    name: str
    how: How
    at: Span
    _: KW_ONLY
    sure: bool = True
    role: str = ""
    call: str = ""
    given: tuple[str, ...] = ()

    def is_a(self, *hows: How) -> bool:
        return self.how in hows


@dataclass(frozen=True, slots=True)
class Prose:
    """A string a person reads: the message of a raise, skip, assert or log call, a docstring or a comment."""

    text: str
    at: Span


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the way from a gate to what is behind it: a place in a file (its real path), and a sentence."""

    path: str
    at: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One way out of a gate.

    `value` is what it returns or assigns, where that is one expression. `empty` means that it does nothing at all,
    `tuning` that it only assigns literals, `rest` that it is what follows the statement and no branch of its own,
    `disables` is what is made false or None somewhere in it, whatever else it does. `choices` are calls and
    bare names of which every way through it ends in one.
    """

    ends: Ends
    at: Span | None = None
    value: Expr | None = None
    uses: tuple[Use, ...] = ()
    texts: tuple[Prose, ...] = ()
    empty: bool = False
    tuning: bool = False
    rest: bool = False
    disables: str = ""
    choices: tuple[Use, ...] = ()

    def ends_in(self, *ends: Ends) -> bool:
        return self.ends in ends

    def holds(self, at: Span | None) -> bool:
        """Whether `at` lies in this side; a side that is no stretch of the file holds nothing."""
        return self.at is not None and at is not None and self.at.holds(at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A condition that may read the device.

    `yes` is the side taken when `test` holds; it and `no` are two objects, which tell the ways out apart. `path` are
    the tests above. `name` is what a flag, list, table or predicate is called, or the decorated or enclosing object;
    `qualname` is where the gate stands.
    """

    kind: GateKind
    test: Expr
    at: Span
    yes: Side
    no: Side
    qualname: str = ""
    name: str = ""
    path: Path = ()
    chain: int = 0
    position: int = 0
    comment: str = ""
    text: str = ""
    leaf: Span | None = None

    def is_a(self, *kinds: GateKind) -> bool:
        return self.kind in kinds

    @property
    def handed_on(self) -> bool:
        """Whether a list is an argument of a call, and not a decorator's."""
        return any(use.how == "define" for use in self.yes.uses)

    @property
    def is_data(self) -> bool:
        """Whether it is a list, or a record of what it names, that refuses nobody where it stands: who asks for one of
        its chips is a gate itself."""
        no_code = self.yes.at is None
        return (self.kind == "list" and (self.handed_on or no_code)) or (
            self.kind == "assert" and no_code and bool(self.yes.uses)
        )


@dataclass(frozen=True, slots=True)
class Function:
    """A function as an expression: the first return whose conditions hold is its value.

    `exits` are its ways out in order, with the tests that lead to each: return, or raise with the place of the error.
    C++ alone has them, and only where one is an error. `doc` is its docstring, as far as anybody reads it. `spread` is
    how many arguments by place come before those of a parameter `*names`, which is "*"; None where there is no such.
    """

    qualname: str
    kind: FunctionKind
    params: tuple[str, ...]
    defaults: tuple[Expr | None, ...]
    returns: tuple[tuple[Path, Expr], ...]
    at: Span
    _: KW_ONLY
    decorators: tuple[Expr, ...] = ()
    exits: tuple[tuple[Path, Exit, Span], ...] = ()
    doc: str = ""
    spread: int | None = None


@dataclass(frozen=True, slots=True)
class Class:
    """A class: bases, and the attributes that are assigned exactly once, in its body or through `self`.

    `fields` are the annotated names of its body in order: what a dataclass or a named tuple is made of. `compares` is
    what a decorator makes of its objects.
    """

    qualname: str
    bases: tuple[Expr, ...]
    names: dict[str, Expr] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    compares: Compares = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that some targets or chips lack: an instruction, an atom of a template library, bytes, a cluster.

    `name` is its normal form in the table of its kind, `amounts` are what it asks for, as expressions (bytes; cluster
    x, y, z; threads, blocks; what is picked or compared), `detail` is all else that its kind has. `path` are the
    preprocessor's tests above, of a size in Python those of the program, `tests` those of C++ around an instruction,
    which the compiler decides where they ask for the target, `qualname` the function around.
    `checked` says that its result is looked at, or the limit asked for, within reach; `given` that one of those tests
    asks what the function around is given, so that its callers decide. `uses` are the places that make the instance of
    a template in which it asks for this much, the nearest first.
    """

    kind: OperationKind
    name: str
    at: Span
    _: KW_ONLY
    amounts: tuple[Expr, ...] = ()
    detail: Detail | None = None
    path: Path = ()
    tests: Path = ()
    qualname: str = ""
    checked: bool = True
    given: bool = False
    uses: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Carry:
    """What a build asks for. `sass` and `ptx` are names of targets ("120a", "121") for cubins and for PTX.

    `name` is the variable, function or flag, `sources` the files that it compiles, where the build says so. `toolkit`
    bounds the CUDA version: at least, and below ("" = any). Flags of one `group` are one list; "" is that of the file.
    `host` is the one that it is for, x86_64 or aarch64, where the file says so. `handed` is the variable that gets it
    where the file hands it on under another name, `aside` what comments of the file give its own one.
    `refuses`: a build for other names ends in an error. `arm` is where a condition leads. `dotted`: written as "12.0a".
    """

    kind: CarryKind
    name: str
    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    at: Span
    _: KW_ONLY
    sources: tuple[str, ...] = ()
    toolkit: tuple[str, str] = ("", "")
    qualname: str = ""
    text: str = ""
    group: str = ""
    host: str = ""
    handed: str = ""
    aside: tuple[str, ...] = ()
    refuses: bool = False
    arm: Span | None = None
    dotted: bool = False

    def leads_to(self, at: Span) -> bool:
        return self.arm is not None and self.arm.holds(at)

    def is_a(self, *kinds: CarryKind) -> bool:
        return self.kind in kinds


@dataclass(frozen=True, slots=True)
class Include:
    """A header as the source names it, and the tests of the preprocessor under which it is included."""

    text: str
    tests: Path = ()


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A value of the device that a call hands to a function of another file: by place, counted from 0, or by name."""

    function: str
    place: int | str
    value: Expr
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """All facts of one file. `uses` maps a top-level name to the hardware operations that its body
    names; `targets` are places that name a target for 12.0 alone, such as sm_120a. `guards` are the gates of the
    preprocessor, over targets; `gates` those of the running program, over chips. `embedded` is code of other languages
    in the strings of the file, at its places in the file and with its path. `passed` is what calls of the file hand to
    parameters (with the function that has them) that take a value of the device, `handed_on` what they hand to
    functions of other files. `own` and `carried` are the names that it was read with: of the configuration, and of
    other files.
    """

    path: str
    language: Language
    name: str = ""
    is_package: bool = False
    names: dict[str, Expr] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    slots: tuple[Expr, ...] = ()
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()
    uses: dict[str, tuple[Use, ...]] = field(default_factory=dict)
    targets: tuple[Prose, ...] = ()
    guards: tuple[Gate, ...] = ()
    operations: tuple[Operation, ...] = ()
    carries: tuple[Carry, ...] = ()
    includes: tuple[Include, ...] = ()
    embedded: tuple[Module, ...] = ()
    passed: dict[tuple[str, str], tuple[Expr, ...]] = field(default_factory=dict)
    handed_on: tuple[HandedOn, ...] = ()
    own: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()


class Located(Protocol):
    """What stands in a file: facts of it, or no more than its path."""

    @property
    def path(self) -> str: ...
