"""What a file defines and exports: nodes and edges of the program graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Use
from bwlint.model.kinds import DefinitionKind, Language


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a kernel, a test or a class as one who uses it sees it: what it uses in its turn.

    `uses` are names in the order of the body; a sure one stands under no test:
    loops, `with`, `try` and checks that end in an error are none. `bases` are dotted names, `marks` what the decorators
    of a test use, those of its class and the marks of its file included, with the strings that they are given.
    `parameters` are the names that it takes, `choices` calls and bare names of which every way through it ends in one.
    `stub`: all that it does is to end in an error. `given` is what a call writes out, where that decides tests in it.
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
    `outside` has, for a class of C++, its methods that are defined outside of it, and for a namespace its functions.
    `classes` are the qualified names of those of Python.
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
    classes: tuple[str, ...] = ()
    written: Callable[[Span], int | None] = lambda _: None
    picked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
