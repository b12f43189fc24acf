"""Environment variables that a file sets for a tool (chips/toolkits.toml).

`name` is the variable; the amounts are its value and what is said around the place. A file that names the variable
that replaces it sets nothing: it knows of both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bwlint.chips.surroundings import variables
from bwlint.model.details import Environment
from bwlint.model.expr import Span
from bwlint.model.facts import Operation
from bwlint.readers.nodes import text_of, whole
from bwlint.readers.spans import span

ANCHORS = tuple(name.encode() for name in variables())
_SET = re.compile(
    rf"(?P<before>^|[ \t\"'-])(?P<name>{'|'.join(variables())})[\"']?[ \t]{{0,20}}(?:=|:(?=[ \t]))[ \t]{{0,20}}"
    r"[\"']?(?P<value>[^\s\"'#,]{1,200})"
)
_SETTERS = frozenset({"setdefault", "putenv"})
_ABOVE = 6
"""Lines in front of a place that speak of it."""
_LONGEST_LINE = 400
_MOST = 40


def may_hold(data: bytes) -> bool:
    return any(name in data for name in ANCHORS)


def of_text(source: str) -> tuple[Operation, ...]:
    """What shell, images, workflows and the like set."""
    if not may_hold(source.encode("utf-8", "surrogatepass")):
        return ()
    lines = source.splitlines()
    return tuple(_in_lines(source, lines))[:_MOST]


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """What Python sets."""
    lines = re.split("\r\n|\r|\n", source)
    found = (
        Operation("environment", name, span(at), detail=Environment(text_of(value), _near(lines, at.lineno)))
        for node in whole(tree)
        for name, value, at in _set_by(node)
        if _counts(name, source)
    )
    return tuple(found)[:_MOST]


def _in_lines(source: str, lines: Sequence[str]) -> Iterator[Operation]:
    for number, line in enumerate(lines, 1):
        code = line.lstrip()
        if len(line) > _LONGEST_LINE or code.startswith(("#", "//")):
            continue
        for match in _SET.finditer(line):
            before = line[: match.start("name")]
            if " #" in before or not _counts(match["name"], source):
                continue
            start, end = (len(line[: match.start(part)].encode("utf-8", "surrogatepass")) for part in ("name", "value"))
            at = Span(number, start, number, end + len(match["value"].encode("utf-8", "surrogatepass")))
            yield Operation("environment", match["name"], at, detail=Environment(match["value"], _near(lines, number)))


def _counts(name: str, source: str) -> bool:
    known = variables().get(name)
    return known is not None and not (known.instead and known.instead in source)


def _set_by(node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                yield text_of(target.slice), node.value, target
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _SETTERS and len(node.args) == 2:
            yield text_of(node.args[0]), node.args[1], node
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield text_of(key), value, key


def _near(lines: Sequence[str], number: int) -> str:
    return "\n".join(line[:_LONGEST_LINE] for line in lines[max(0, number - 1 - _ABOVE) : number])
