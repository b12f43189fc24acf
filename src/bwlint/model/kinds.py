"""Words for what readers tell apart: languages, uses, gates, operations, what builds carry."""

from __future__ import annotations

from typing import Literal

Language = Literal["python", "cuda", "ptx", "build"]

How = Literal["call", "import", "name", "text", "define", "instruction", "atom", "builder"]
"""How a name is used. `text` is a short string that is a value; instructions and atoms are those that C++ issues,
builders make a kernel for an architecture, and are called by its tag (`Sm90`)."""

Ends = Literal["raise", "skip", "exit", "return", "continue", "fall"]
"""How a side is left; one that falls goes on."""
REFUSING: frozenset[Ends] = frozenset({"raise", "skip", "exit"})
LEAVING: frozenset[Ends] = frozenset({"return", "continue"})
"""Of one test after another whose sides are left so, each is asked where no earlier one holds: an `elif` without
the word. Refusals, and branches that only say no, are none of these: what is checked first is another question.
"""

Compares = Literal["", "equal", "ordered"]
"""What a decorator makes of the objects of a class: nothing, equal by their fields, with an order, too."""

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
    "dependent-launch",
    "switched-on",
    "link-speed",
    "link-use",
    "peer",
    "peer-parameter",
    "peer-passed",
    "peer-asked",
    "peer-proof",
    "peer-switch",
    "tile",
    "stages",
    "shared-size",
    "default-size",
    "size-table",
    "stated",
    "generation",
    "pinned",
    "set-anew",
    "glued",
    "as-text",
    "picked",
    "told",
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
    "package-pin",
    "cuda-image",
    "picked-target",
    "multiprocessors",
    "memory-tier",
    "memory-query",
    "mocked",
    "release-apart",
]
"""Which table or limit judges an operation: of peers see `readers.cuda.peers`, of links `readers.python.links`, of
sizes `readers.python.sizes`. What else an operation of a kind says is in `model.details`.

instruction     one of PTX, by its statement
atom            one of a template library, by its type
body            a kernel that is all behind guards
trap            a stretch of such a kernel that only ends in an error
mention         a word that says for whom a file is meant
cluster         blocks that are launched together
launch          one that may fail unseen
launch-bounds   threads and blocks that a kernel is compiled for
dependent-launch
                one that lets a kernel begin before the one in front of it has ended: see `readers.cuda.launches`
switched-on     a macro that a build sets for helpers of a library
...-shared      bytes of shared memory: asked for at run time, of a kernel's own, or without asking for more
opts-in         a macro that asks for as many bytes as a variable holds where it stands
opted-in        a use of what may be such a macro
capacity        bytes that host code takes a multiprocessor or a block to have
lookup          a table of such bytes that is asked for a chip, and raises where it has no row
stated          bytes of shared memory that a text says chips have
pinned, set-anew
                an architecture that a class gives its objects, and a constructor that sets it
generation      a text for people that speaks of all chips of one
glued           names of two targets that became one string
as-text         a capability that is ordered as a text, or taken apart by the places of its characters
picked          a call of what the device picks: `TABLE[major](x)`, `cls(x).run()`; its amount is what is called
tiled-shared    bytes of shared memory that the buffers of a function's kernel take together, at least
launched-shared bytes that a launch of a kernel of Triton takes; `name` has the bits of an element
tuned-shared    the same for each of its configurations
plan-option     an option of a launcher
plan-branch     code that enters a plan because a name says so, and looks at neither the chip nor the links
floor           a target and the release of CUDA that it is said to need
soname          a file of a library of CUDA, by a name with a version
environment     a variable that tells a tool what to take
cuda-matrix     the releases of CUDA that a workflow is run with, by the newest
wheel-index     where wheels of torch are taken from, by their release of CUDA
picked-target   one that a script picks under some releases of CUDA
package-floor   a package of which a version is asked for at least
package-pin     a package whose newest releases are ruled out
cuda-image      the release of CUDA that an image is built on or with
multiprocessors
                a number of them that code says itself: see `readers.python.multiprocessors`
memory-tier     memory that stands for a product
memory-query    a question to the driver how much memory a device has, to which nobody expects a refusal
mocked          a stretch in which a test says itself what the device is; its name is the question that it replaces
release-apart   a test for a release of CUDA that asks for its major and its minor apart; its name is the release
told            a function of a library gets a text that is no literal; its amount is the text
"""
NAMED: frozenset[Literal["instruction", "atom"]] = frozenset({"instruction", "atom"})
"""What is known by its name alone, of operations and of uses."""

ONE_EXTENSION = "CUDAExtension"
"""The name of a carry for the one extension of a file; of several it says what all have together."""
CarryKind = Literal[
    "gencode",
    "option",
    "list",
    "piece",
    "request",
    "kernel",
    "filter",
    "match",
    "file",
    "extension",
    "inherited",
    "asked",
    "ceiling",
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
asked      plain targets that nobody wrote down: of the chip at hand, or what a user is told to give; `text` says which
ceiling    the newest target that a build takes; `refuses`: what is newer ends in an error, or in a cubin for this one
"""
FLAGS: frozenset[CarryKind] = frozenset({"gencode", "option"})
ACCEPTING: frozenset[CarryKind] = frozenset({"filter", "match"})
