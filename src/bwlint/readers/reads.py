"""Which expressions of one file may read the device, through its own definitions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bwlint.evaluate.names import DEVICE, SKIPPING_MARKS
from bwlint.model.expr import Expr, Span

CONVERTERS = frozenset(
    {"int", "str", "any", "all", "min", "max", "divmod", "getattr", "join", "map", "float", "bool", "next", "filter"}
    | {"tuple", "list", "set", "sorted", "len", "isinstance", "format", "sub", "cache", "lru_cache", "partial", "field"}
    | {*SKIPPING_MARKS}
)
"""Calls whose result reads the device when an argument does."""


class Reads:
    """`slots` is the file's table of definitions, `words` its own names of helpers and flags.

    `parameters` are those that are handed a value of the device, each with the function that has it.
    """

    def __init__(
        self, slots: Sequence[Expr], words: Collection[str] = (), parameters: Collection[tuple[str, str]] = ()
    ) -> None:
        self._slots = slots
        self._helpers = words
        self._parameters = parameters
        self._reads: dict[int, bool] = {}
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
        if node.op == "name":
            return self.device_word(node.args[0])
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
            return False
        if node.op == "if":
            return self.reads(node.args[1]) or self.reads(node.args[2])
        if node.op == "call":
            return self._call_reads(node)
        return any(self.reads(item) for item in node.args)

    def _call_reads(self, node: Expr) -> bool:
        """A call reads the device if what is called does, or if it converts an argument that does."""
        function, arguments = node.args
        if self.reads(function):
            return True
        name = function.args[-1] if function.op in ("name", "attr") else ""
        return (name in CONVERTERS or len(arguments) <= 2) and any(self.reads(item) for item in arguments)

    def device_word(self, name: str) -> bool:
        found = self._words.get(name)
        if found is None:
            found = self._words[name] = bool(DEVICE.search(name) or name in self._helpers)
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
            elif self.reads(node):
                found.append(node)
        return found[0].at if len(found) == 1 else None
