"""What readers say about a file: plain, immutable, and the same in every process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

from bwlint.model.expr import Expr, Span

Path = tuple[Expr, ...]
"""Tests that all hold where something stands; an early exit above contributes its negation."""
MAX_RETURNS = 60
"""How many ways out of a function are kept: one with so many may have others."""
HANDLER = "exception at line"
"""How the unknown test begins under which the body of an exception handler stands."""


Language = Literal["python", "cuda", "ptx", "build"]

How = Literal["call", "import", "name", "text", "define", "instruction", "atom", "builder"]
"""How a name is used. `text` is a short string that is a value; instructions and atoms are those that C++ issues,
builders make a kernel for an architecture, and are called by its tag (`Sm90`)."""

Ends = Literal["raise", "skip", "exit", "return", "continue", "fall"]
"""How a side is left; one that falls goes on."""
REFUSING: frozenset[Ends] = frozenset({"raise", "skip", "exit"})

GateKind = Literal[
    "condition",
    "choice",
    "installed",
    "expression",
    "assert",
    "flag",
    "predicate",
    "list",
    "table",
    "lookup",
    "skipif",
    "helper-call",
    "preprocessor",
]
"""What a gate is.

condition     the test of a branch
choice        that of a branch which asks for a text that the device picked elsewhere
installed     that of a branch which asks whether a module can be imported, its name; its leaf is where that is said
expression    that of a conditional expression
assert        that of an assertion or a check
flag          an answer that a variable keeps, or that is handed on; such a one has no name
predicate     an answer that a function returns
list          chips that something is declared for
table         a mapping by chips that is written down
lookup        a mapping that is asked for the chip
skipif        a decorator that skips a test
helper-call   a helper called as a statement, which skips or raises by itself
preprocessor  a condition over targets
"""
BRANCHES: frozenset[GateKind] = frozenset({"condition", "expression"})
UNASKED: frozenset[GateKind] = frozenset({"choice", "installed"})
"""Their tests read no device."""
ANSWERS: frozenset[GateKind] = frozenset({"flag", "predicate"})
"""Who asks them decides elsewhere."""
LISTED: frozenset[GateKind] = frozenset({"list", "table"})
"""They name their chips one by one."""

ASSERTED = "asserted"
"""The role of a text that an `assert` looks for."""
NUMBER = "number"
"""The role of a name that holds a number: how large something is, and no way to go."""
ATTEMPTED = "attempted"
"""The role of what a test awaits to fail, or is skipped for where it does: never a sure use."""
FunctionKind = Literal["function", "method", "staticmethod", "classmethod", "property", "macro"]
BOUND: frozenset[FunctionKind] = frozenset({"method", "classmethod", "property"})
"""Their first argument is what they are taken from."""

DefinitionKind = Literal["function", "class", "kernel", "test", "setup"]
"""A setup runs before every test of its class, of its file, or of its folder."""

Exit = Literal["return", "raise"]

OperationKind = Literal[
    "instruction",
    "atom",
    "body",
    "trap",
    "mention",
    "cluster",
    "cluster-limit",
    "dynamic-shared",
    "static-shared",
    "default-shared",
    "opts-in",
    "opted-in",
    "capacity",
    "lookup",
    "launch",
    "launch-bounds",
    "link-speed",
    "link-use",
    "peer",
    "peer-parameter",
    "peer-passed",
    "peer-proof",
    "peer-switch",
    "tile",
    "stages",
    "shared-size",
    "default-size",
    "size-table",
    "stated",
    "glued",
    "as-text",
    "picked",
    "told",
    "switched",
    "tiled-shared",
    "launched-shared",
    "tuned-shared",
    "plan-option",
    "plan-branch",
    "floor",
    "soname",
    "environment",
    "cuda-matrix",
    "wheel-index",
    "package-floor",
    "picked-target",
    "multiprocessors",
    "memory-tier",
    "memory-query",
]
"""Which table or limit judges an operation: of peers see `readers.cuda.peers`, of links `readers.python.links`, of
sizes `readers.python.sizes`.

instruction     one of PTX, by its statement
atom            one of a template library, by its type
body            a kernel that is all behind guards
trap            a stretch of such a kernel that only ends in an error
mention         a word that says for whom a file is meant
cluster         blocks that are launched together
launch          one that may fail unseen
launch-bounds   threads and blocks that a kernel is compiled for
...-shared      bytes of shared memory: asked for at run time, of a kernel's own, or without asking for more
opts-in         a macro that asks for as many bytes as a variable holds where it stands, by its name
opted-in        a use of what may be such a macro, and the sizes that its function holds, by their names
capacity        bytes that host code takes a multiprocessor or a block to have
lookup          a table of such bytes that is asked for a chip, and raises where it has no row
stated          bytes of shared memory that a text says chips have
glued           names of two targets that became one string
as-text         a capability that is ordered as a text, or taken apart by the places of its characters
picked          a call of what the device picks: `TABLE[major](x)`, `cls(x).run()`; its amount is what is called
tiled-shared    bytes of shared memory that the buffers of a function's kernel take together, at least
launched-shared bytes that a launch of a kernel of Triton takes: at least, then in each case, each with a width that is
                let pass or ""; `name` has the bits of an element, `qualname` the kernel
tuned-shared    the same for each of its configurations
plan-option     an option of a launcher and its value; `readers.launches` says what the amounts are
plan-branch     code that enters a plan because a name says so, and looks at neither the chip nor the links
floor           a target and the release of CUDA that it is said to need
soname          a file of a library of CUDA, by a name with a version
environment     a variable that tells a tool what to take, its value and the text around it
cuda-matrix     the releases of CUDA that a workflow is run with, by the newest
wheel-index     where wheels of torch are taken from, by their release of CUDA
picked-target   one that a script picks under some releases of CUDA, the one that it picks else, and these releases
package-floor   a package and the version of it that is asked for at least
switched        the device decides what the value of an option of peers is; its amount is that value
multiprocessors
                a number of them that code says itself: see `readers.python.multiprocessors`
memory-tier     memory that stands for a product; its amounts are bytes: from, and below (0: no end)
memory-query    a question to the driver how much memory a device has, to which nobody expects a refusal
told            a function of a library gets a text that is no literal; its amounts are the parameter and the text
"""
NAMED: frozenset[Literal["instruction", "atom"]] = frozenset({"instruction", "atom"})
"""What is known by its name alone, of operations and of uses."""

ONE_EXTENSION = "CUDAExtension"
"""The name of a carry for the one extension of a file; of several it says what all have together."""
CarryKind = Literal[
    "gencode", "option", "list", "piece", "request", "kernel", "filter", "match", "file", "extension", "inherited"
]
"""What says so in a build.

gencode    one flag; `text` is the architecture of its PTX
option     a variable that holds such flags
list
piece      what is added to a list
request    what a whole build is asked for
kernel     what a kernel is offered for, of which the build takes what is asked; `text` is "piece" where such add up
filter     which names are accepted
match      a condition over a list of names
file       the file itself
extension  all flags of a setup.py that builds CUDA extensions
inherited  sources that are compiled for a list of the file above; without sources, what a file hands down so
"""
FLAGS: frozenset[CarryKind] = frozenset({"gencode", "option"})
ACCEPTING: frozenset[CarryKind] = frozenset({"filter", "match"})


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
    `disables` that something is made false or None somewhere in it, whatever else it does. `choices` are calls and
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
    disables: bool = False
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

    `fields` are the annotated names of its body in order: what a dataclass or a named tuple is made of.
    """

    qualname: str
    bases: tuple[Expr, ...]
    names: dict[str, Expr] = field(default_factory=dict)
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that some targets or chips lack: an instruction, an atom of a template library, bytes, a cluster.

    `name` is its normal form in the table of its kind, `amounts` are the numbers it asks for (bytes; cluster x, y, z;
    threads, blocks; of a table chips and sizes by turns). `path` are the preprocessor's tests above, of a size in
    Python those of the program, `tests` those of C++ around an instruction, which the compiler decides where they ask
    for the target, `qualname` the function around.
    `checked` says that its result is looked at, or the limit asked for, within reach; `given` that one of those tests
    asks what the function around is given, so that its callers decide.
    """

    kind: OperationKind
    name: str
    at: Span
    _: KW_ONLY
    amounts: tuple[Expr, ...] = ()
    path: Path = ()
    tests: Path = ()
    qualname: str = ""
    checked: bool = True
    given: bool = False


@dataclass(frozen=True, slots=True)
class Carry:
    """What a build asks for. `sass` and `ptx` are names of targets ("120a", "121") for cubins and for PTX.

    `name` is the variable, function or flag, `sources` the files that it compiles, where the build says so. `toolkit`
    bounds the CUDA version: at least, and below ("" = any). Flags of one `group` are one list; "" is that of the file.
    `host` is the one that it is for, x86_64 or aarch64, where the file says so. `handed` is the variable that gets it
    where the file hands it on under another name, `aside` what comments of the file give its own one.
    `refuses`: a build for a name that is not in it ends in an error.
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

    def is_a(self, *kinds: CarryKind) -> bool:
        return self.kind in kinds


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
    includes: tuple[str, ...] = ()
    embedded: tuple[Module, ...] = ()
    passed: dict[tuple[str, str], tuple[Expr, ...]] = field(default_factory=dict)
    handed_on: tuple[HandedOn, ...] = ()
    own: frozenset[str] = frozenset()
    carried: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a kernel, a test or a class as one who uses it sees it: what it uses in its turn.

    `uses` are names in the order of the body; a sure one stands under no test:
    loops, `with`, `try` and checks that end in an error are none. `bases` are dotted names, `marks` what the decorators
    of a test use, those of its class and the marks of its file included, with the strings that they are given.
    `parameters` are the names that it takes, `choices` calls and bare names of which every way through it ends in one.
    `stub`: all that it does is to end in an error. `takes_all`: it takes every keyword, besides its parameters. `given`
    is what a call writes out, where that decides tests in it.
    """

    qualname: str
    kind: DefinitionKind
    at: Span
    uses: tuple[Use, ...]
    _: KW_ONLY
    bases: tuple[str, ...] = ()
    marks: tuple[Use, ...] = ()
    parameters: tuple[str, ...] = ()
    choices: tuple[Use, ...] = ()
    stub: bool = False
    given: tuple[str, ...] = ()
    takes_all: bool = False


Instances = Callable[[str, tuple[str, ...], Callable[[Expr], bool | None]], tuple[Definition, ...]]
"""The definitions that a name means at some arguments of a template, or of a call in Python, and who decides the tests
in them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a file defines and hands on, whether it reads the device or not: the nodes and edges of the graph.

    `definitions` are by qualified name, and `places` where each of them stands; `imports` map a local name to the
    dotted name or path it stands for; names that the file loads when they are asked for (`"name": "module:attribute"`)
    are imports too. `stars` are modules of which every name is handed on. `instances` has the templates of C++ and the
    functions of Python at what calls write out.
    `outside` has the methods of each class of C++ that are defined outside of it.
    `written` counts the arguments of the call of C++ whose name stands at a place; None where it is no call.
    `picked` has, for `Class.name`, the classes and functions of which its methods give `self.name` one, by their names.
    """

    path: str
    language: Language
    name: str = ""
    is_package: bool = False
    definitions: Mapping[str, Definition]
    places: Mapping[str, Span]
    imports: dict[str, str]
    stars: tuple[str, ...] = ()
    instances: Instances | None = None
    outside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    written: Callable[[Span], int | None] = lambda _: None
    picked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
