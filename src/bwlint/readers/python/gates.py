"""Gates of one module: which expressions may read the device, and what stands around them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bwlint.evaluate.expr import Expr, Span
from bwlint.evaluate.names import DEVICE
from bwlint.facts import Gate, Side
from bwlint.readers.python.sides import span

MAX_PATH = 12
_CONVERTERS = frozenset(
    {"int", "str", "any", "all", "min", "max", "divmod", "getattr", "join", "map"}
    | {"tuple", "list", "set", "sorted", "len", "isinstance"}
)
"""Calls whose result reads the device when an argument does."""


@dataclass(frozen=True, slots=True)
class Where:
    """The function in which a gate stands, and the tests above it."""

    qualname: str
    path: tuple[Expr, ...]


class Gates:
    """Collects gates. `slots` is the module's table of definitions, `words` its own names of helpers and flags."""

    def __init__(self, lines: Sequence[str], slots: Sequence[Expr], words: re.Pattern[str]) -> None:
        self.found: list[Gate] = []
        self._lines = lines
        self._slots = slots
        self._helpers = words
        self._reads: dict[int, bool] = {}
        self._words: dict[str, bool] = {}
        self._seen: set[tuple[Span, str]] = set()

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
        if node.op in ("param", "attr"):
            return self.device_word(node.args[1]) or self.reads(node.args[0])
        if node.op == "import":
            return self.device_word(node.args[1] or "")
        if node.op in ("function", "class"):
            return self.device_word(node.args[0].rpartition(".")[2])
        if node.op in ("source", "names"):
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
        return (name in _CONVERTERS or len(arguments) <= 2) and any(self.reads(item) for item in arguments)

    def device_word(self, name: str) -> bool:
        found = self._words.get(name)
        if found is None:
            found = self._words[name] = bool(DEVICE.search(name) or self._helpers.fullmatch(name))
        return found

    def add(
        self,
        kind: str,
        test: Expr,
        node: ast.AST,
        sides: tuple[Side, Side],
        where: Where,
        name: str = "",
        chain: tuple[int, int] = (0, 0),
    ) -> None:
        """Note a gate at `node`, once; `sides` are taken when its test holds and when it does not."""
        at = span(node)
        if (at, kind) in self._seen or not self.reads(test):
            return
        self._seen.add((at, kind))
        text = ast.unparse(node)[:300] if isinstance(node, ast.expr) else ""
        comment = self._comment(at[0], at[2])
        path = where.path[-MAX_PATH:]
        self.found.append(
            Gate(kind, test, at, where.qualname, name, *sides, path, *chain, comment, text, self._leaf(test))
        )

    def _leaf(self, test: Expr) -> Span | None:
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

    def _comment(self, first: int, last: int) -> str:
        """Comments on the lines of a gate, directly above it, and the first lines below."""
        parts: list[str] = []
        above = first - 2
        while above >= 0 and above > first - 8 and self._lines[above].lstrip().startswith("#"):
            parts.insert(0, self._lines[above].strip())
            above -= 1
        for number in range(first - 1, min(last + 3, len(self._lines))):
            line = self._lines[number]
            if "#" in line:
                parts.append("#" + line.partition("#")[2].strip())
            elif number >= last:
                break
        return " ".join(parts)[:600]
