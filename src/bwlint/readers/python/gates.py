"""Gates of one module: which expressions may read the device, and what stands around them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Gate, Side
from bwlint.model.kinds import UNASKED, GateKind
from bwlint.readers.python.carriers import Carriers
from bwlint.readers.reads import Reads
from bwlint.readers.spans import span

MAX_PATH = 12


@dataclass(frozen=True, slots=True)
class Where:
    """The function in which a gate stands, and the tests above it."""

    qualname: str
    path: tuple[Expr, ...]


class Gates(Reads):
    """Collects gates of expressions that read the device."""

    def __init__(self, lines: Sequence[str], slots: Sequence[Expr], carried: Carriers) -> None:
        super().__init__(slots, carried.words, carried.parameters, carried.picked_parameters)
        self.found: list[Gate] = []
        self._lines = lines
        self._seen: set[tuple[Span, GateKind]] = set()

    def add(
        self,
        kind: GateKind,
        test: Expr,
        node: ast.AST,
        sides: tuple[Side, Side],
        where: Where,
        name: str = "",
        chain: tuple[int, int] = (0, 0),
    ) -> None:
        """Note a gate at `node`, once; `sides` are taken when its test holds and when it does not."""
        at = span(node)
        if (at, kind) in self._seen or not (kind in UNASKED or self.reads(test)):
            return
        self._seen.add((at, kind))
        text = ast.unparse(node)[:300] if isinstance(node, ast.expr) else ""
        comment = self._comment(at[0], at[2])
        self.found.append(
            Gate(
                kind=kind,
                test=test,
                at=at,
                qualname=where.qualname,
                name=name,
                yes=sides[0],
                no=sides[1],
                path=where.path[-MAX_PATH:],
                chain=chain[0],
                position=chain[1],
                comment=comment,
                text=text,
                leaf=self.leaf(test),
            )
        )

    def _comment(self, first: int, last: int) -> str:
        """Comments on the lines of a gate, directly above it and what is set for it, and the first lines below."""
        parts: list[str] = []
        between = reversed(self._lines[max(0, first - 6) : first - 1])
        set_for_it = list(takewhile(lambda line: not line.strip() or _SETS.match(line), between))
        above = first_above = first - 2 - len(set_for_it) * any(map(_SETS.match, set_for_it))
        while above >= 0 and above > first_above - 6 and self._lines[above].lstrip().startswith("#"):
            parts.insert(0, _OURS.sub("", self._lines[above].strip()))
            above -= 1
        for number in range(first - 1, min(last + 3, len(self._lines))):
            line = self._lines[number]
            if "#" in line:
                parts.append(_OURS.sub("", "#" + line.partition("#")[2].strip()))
            elif number >= last:
                break
        return " ".join(parts)[:600]


_SETS = re.compile(r"\s*[\w.]+(?:\s*,\s*[\w.]+){0,3}\s*=[^=].*$")
"""An assignment: what is asked is set between a comment and the test that it is about."""
_OURS = re.compile(r"#\s*bwlint:.*")
"""What is said to bwlint, of which reasons for the code are no part: without the comment the finding is there."""


def membership(lookup: str) -> str | None:
    """What a lookup asks, as a test: `key in mapping` of `mapping[key]` and of `mapping.get(key)`; None of others."""
    try:
        node = ast.parse(lookup, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    asked = asked_key(node)
    return None if asked is None else ast.unparse(ast.Compare(asked[1], [ast.In()], [asked[0]]))


def asked_key(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The mapping and the key of a lookup; None where a node is none."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return node.func.value, node.args[0]
    return None
