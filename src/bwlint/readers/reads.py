"""Expressions of one file that may read the device, directly or through its own functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence

from bwlint.evaluate.names import DEVICE, SKIPPING_MARKS
from bwlint.evaluate.sources import PRINTING_CALLS, asking_names, asks_smi
from bwlint.model.expr import Expr, Span
from bwlint.model.naming import spoken

CONVERTERS = frozenset(
    {"int", "str", "any", "all", "min", "max", "divmod", "getattr", "join", "map", "float", "bool", "next", "filter"}
    | {"tuple", "list", "set", "sorted", "len", "isinstance", "format", "sub", "cache", "lru_cache", "partial", "field"}
    | {*SKIPPING_MARKS}
)
"""Calls whose result reads the device when an argument does."""

_PICKERS = frozenset({"getattr", "import_module", "get", "format", "next", "max", "min", "sorted", "list"})
"""Calls whose result is picked by an argument."""


class Reads:
    """`slots` is the file's table of definitions, `words` its own names of helpers and flags.

    `parameters` are those that are handed a value of the device, each with the function that has it, `picked` those
    that are handed what the device picked.
    """

    def __init__(
        self,
        slots: Sequence[Expr],
        words: Container[str] = (),
        parameters: Collection[tuple[str, str]] = (),
        picked: Collection[tuple[str, str]] = (),
    ) -> None:
        self._slots = slots
        self._helpers = words
        self._parameters = parameters
        self._picked = picked
        self._reads: dict[int, bool] = {}
        self._picks: dict[int, bool] = {}
        self._known_answers: dict[int, bool] = {}
        self.given: Callable[[str, str], bool] = lambda owner, name: False
        """Whether the device decides what an attribute of a parameter holds."""
        self._words: dict[str, bool] = {}

    def reads(self, node: object) -> bool:
        """Whether an expression names something that may read the device, through local definitions too."""
        if isinstance(node, tuple) and not isinstance(node, Expr):
            return any(self.reads(item) for item in node)
        if not isinstance(node, Expr):
            return False
        if node.op == "var":
            slot = node.args[0]
            if slot not in self._reads:
                self._reads[slot] = False
                self._reads[slot] = self.reads(self._slots[slot])
            return self._reads[slot]
        if node.op in ("name", "static"):
            return self.device_word(node.args[-1])
        if node.op == "param" and node.args in self._parameters:
            return True
        if node.op in ("param", "attr"):
            return self.device_word(node.args[1]) or self.reads(node.args[0])
        if node.op == "import":
            return self.device_word(node.args[1] or "")
        if node.op in ("function", "class"):
            return self.device_word(node.args[0].rpartition(".")[2])
        if node.op in ("source", "names", "flag"):
            return True
        if node.op == "const":
            return asks_smi(node.args[0])
        if node.op == "if":
            return self.reads(node.args[1]) or self.reads(node.args[2]) or self.answers(node)
        if node.op == "call":
            return self._call_reads(node)
        return any(self.reads(item) for item in node.args)

    def answers(self, node: Expr) -> bool:
        """Whether branches that ask the device decide of a yes or no which it is."""
        return node.op == "if" and self.reads(node.args[0]) and all(map(self._is_answer, node.args[1:]))

    def _is_answer(self, node: Expr) -> bool:
        if node.op == "var":
            slot = node.args[0]
            if slot not in self._known_answers:
                self._known_answers[slot] = False
                self._known_answers[slot] = self._is_answer(self._slots[slot])
            return self._known_answers[slot]
        if node.op == "if":
            return all(map(self._is_answer, node.args[1:]))
        return node.op == "const" and isinstance(node.args[0], bool)

    def _call_reads(self, node: Expr) -> bool:
        """A call reads the device if what is called does, or if it converts an argument that does."""
        function, arguments = node.args
        if self.reads(function):
            return True
        name = function.args[-1] if function.op in ("name", "attr") else ""
        return (name in CONVERTERS or name in PRINTING_CALLS or len(arguments) <= 2) and any(
            self.reads(item) for item in arguments
        )

    def picks(self, node: Expr) -> bool:
        """Whether the device decides which of several objects an expression is."""
        if node.op == "var":
            slot = node.args[0]
            if slot not in self._picks:
                self._picks[slot] = False
                self._picks[slot] = self.picks(self._slots[slot])
            return self._picks[slot]
        if node.op == "if":
            return self.reads(node.args[0]) or self.picks(node.args[1]) or self.picks(node.args[2])
        if node.op == "index":
            return self.depends(node.args[1]) or self.picks(node.args[0])
        if node.op == "param":
            return node.args in self._picked
        if node.op == "or":
            return any(map(self.picks, node.args[0]))
        if node.op == "attr":
            base, name = node.args
            return self.picks(base) or (base.op == "param" and self.given(base.args[1], name))
        if node.op == "comp":
            return any(map(self.depends, node.args[4]))
        if node.op in ("fstr", "bin"):
            return any(map(self.depends, _parts(node)))
        if node.op != "call":
            return False
        function, arguments = node.args
        name = function.args[-1] if function.op in ("name", "attr", "import") else ""
        asked = name in _PICKERS and any(map(self.depends, arguments))
        return asked or self.picks(function) or (function.op == "function" and self.reads(function))

    def depends(self, node: Expr) -> bool:
        """Whether an expression reads the device, or is picked by what does."""
        return self.reads(node) or self.picks(node)

    def device_word(self, name: str) -> bool:
        found = self._words.get(name)
        if found is None:
            found = self._words[name] = bool(
                DEVICE.search(spoken(name)) or name in self._helpers or name in asking_names()
            )
        return found

    def know(self, word: str) -> None:
        """Take a name for one that reads the device, however it is spelled."""
        self._words[word] = True

    def leaf(self, test: Expr) -> Span | None:
        """The one comparison or call below `test`, through local definitions, that reads the device."""
        found: list[Expr] = []
        stack: list[Expr] = [test]
        visited: set[int] = set()
        while stack and len(found) < 2:
            node = stack.pop()
            if node.op in ("and", "or"):
                stack.extend(node.args[0])
            elif node.op == "not":
                stack.append(node.args[0])
            elif node.op == "var" and node.args[0] not in visited:
                visited.add(node.args[0])
                stack.append(self._slots[node.args[0]])
            elif self.answers(node):
                stack.extend(node.args)
            elif self.reads(node):
                found.append(node)
        return found[0].at if len(found) == 1 else None


def _parts(node: Expr) -> Iterator[Expr]:
    """The operands of a text or of an operator."""
    for item in node.args:
        if isinstance(item, Expr):
            yield item
        elif isinstance(item, tuple):
            yield from item
