"""Branches of build files by the release of CUDA: the one of a list, written again for a later release."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bwlint.fix.buildfiles.spellings import Piece
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.readers.buildfiles import is_cmake
from bwlint.readers.buildfiles.cmake_syntax import commands
from bwlint.sources.read import replaced

_SHELL = (".sh", ".bash")
_LADDER = re.compile(
    r"^[ \t]*(?P<word>if|elif|else|fi)\b(?:(?:[^;\n]|\\\n|(?:\|\||&&)[ \t]*\n)*;[ \t]*then[ \t]*\n)?", re.M
)
_SIMPLE = re.compile(r"\s*(?:#.*|echo\b.*|(?:(?:export|local|readonly) )?\w+=.*)?")
_CHOICE = re.compile(r"(?P<name>[\w.]+)\s*<\s*'(?P<release>[0-9.]+)'\s*&&\s*'$")


@dataclass(frozen=True, slots=True)
class Branch:
    """`source[start:body]` is a test; what it leads to ends at `end`; `joint` makes an `if` the `elif` of another."""

    start: int
    body: int
    end: int
    joint: str = ""
    closes: int = 0
    """Where the whole if ends, if this is its only branch."""


def in_front(source: str, path: str, pieces: Sequence[Piece], low: str, first: str) -> Piece | None:
    """A branch that sets one list again in front of it, for CUDA `first` and newer and with the changes."""
    if choice := _chosen(source, pieces, first):
        return choice
    branch = _branch(source, path, pieces) if low else None
    condition = _condition(source, branch, low, first) if branch is not None else None
    if branch is None or condition is None:
        return None
    changed = written(source, branch.body, branch.end, pieces)
    return Piece(branch.start, branch.start, condition + changed + branch.joint)


def again(source: str, path: str, pieces: Sequence[Piece], low: str, first: str) -> Piece | None:
    """A whole if again behind itself, for CUDA `first` and newer and with the changes; None where it has an else."""
    branch = _branch(source, path, pieces)
    condition = _condition(source, branch, low, first) if branch is not None and branch.closes else None
    if branch is None or condition is None:
        return None
    line = source.rfind("\n", 0, branch.start) + 1
    indent = source[line : branch.start]
    changed = written(source, branch.body, branch.closes, pieces)
    ending = "\r\n" if source.endswith("\r\n", 0, line) else "\n"
    return None if indent.strip() else Piece(branch.closes, branch.closes, f"{ending}{indent}{condition}{changed}")


def written(source: str, start: int, end: int, pieces: Sequence[Piece]) -> str:
    """`source[start:end]` with the pieces that lie in it."""
    inside = (one for one in sorted(pieces, key=lambda one: one.start) if start <= one.start and one.end <= end)
    return replaced(source[:end], ((one.start, one.end, one.text) for one in inside))[start:]


def body(source: str, path: str, at: int) -> tuple[int, int]:
    """What a branch leads to in which a place stands."""
    branch = _branch(source, path, (Piece(at, at, ""),))
    return (branch.body, branch.end) if branch is not None else (at, at)


def _branch(source: str, path: str, pieces: Sequence[Piece]) -> Branch | None:
    if is_cmake(path):
        return _of_cmake(source, pieces[0].start)
    if path.endswith(_SHELL):
        return _of_shell(source, pieces[0].start)
    return _of_python(source, pieces[0].start) if path.endswith(".py") else None


def _of_cmake(source: str, at: int) -> Branch | None:
    found = list(commands(source))
    place = next((n for n, one in enumerate(found) if one.start <= at < one.end), 0)
    before = after = place
    while before > 0 and found[before].name in ("set", "list"):
        before -= 1
    while after < len(found) - 1 and found[after].name in ("set", "list"):
        after += 1
    opening, following = found[before], found[after]
    if opening.name not in ("if", "elseif") or following.name not in ("elseif", "else", "endif"):
        return None
    joint = "else" if opening.name == "if" else ""
    closes = following.end if opening.name == "if" and following.name == "endif" else 0
    return Branch(opening.start, opening.end, following.start, joint, closes)


def _of_python(source: str, at: int) -> Branch | None:
    syntax = parse(source)
    nodes = ast.walk(syntax.tree) if syntax is not None else ()
    tests = [node for node in nodes if isinstance(node, ast.If) and syntax is not None and _holds(syntax, node, at)]
    if syntax is None or not tests:
        return None
    node = max(tests, key=syntax.start)
    if not all(isinstance(one, (ast.Assign, ast.AugAssign, ast.Expr)) for one in node.body):
        return None
    start, last = syntax.start(node), syntax.end(node.body[-1])
    line = source.rfind("\n", 0, start) + 1
    end = source.find("\n", last) + 1 or len(source)
    is_first = source.startswith("if", start)
    body = source.find(":", syntax.end(node.test)) + 1
    closes = last if is_first and not node.orelse else 0
    return Branch(start, body, end, source[line:start] + ("el" if is_first else ""), closes)


def _of_shell(source: str, at: int) -> Branch | None:
    words = list(_LADDER.finditer(source))
    before = [word for word in words if word.end() <= at]
    after = [word for word in words if word.start() > at]
    if not before or not after or before[-1]["word"] not in ("if", "elif") or "then" not in before[-1][0]:
        return None
    opening, following = before[-1], after[0]
    lines = source[opening.end() : following.start()].splitlines()
    if following["word"] == "if" or not all(map(_SIMPLE.fullmatch, lines)):
        return None
    start = opening.start("word")
    joint = source[opening.start() : start] + ("el" if opening["word"] == "if" else "")
    return Branch(start, opening.end(), following.start(), joint)


def _holds(syntax: Syntax, node: ast.If, at: int) -> bool:
    return syntax.start(node.body[0]) <= at < syntax.end(node.body[-1])


def _condition(source: str, branch: Branch, low: str, first: str) -> str | None:
    """The test of a branch, for another release."""
    test = source[branch.start : branch.body]
    (major, minor), (_, last) = low.split("."), first.split(".")
    if ranged := re.search(rf"{major}\.\[{minor}-([0-9])\]", test):
        rest = f"{major}.{last}" if last == ranged[1] else f"{major}.[{last}-{ranged[1]}]"
        return test.replace(ranged[0], rest) if low.split(".")[0] == first.split(".")[0] and last <= ranged[1] else None
    if listed := re.search(rf"\s*\|\|\s*\[\[[^\]\n]*cu{major}{minor}[^\]\n]*\]\]", test):
        return test.replace(listed[0], "")
    for old, new in _spelled(low, first):
        if len(re.findall(rf"(?<![\d.]){re.escape(old)}(?![\d.])", test)) == 1:
            return re.sub(rf"(?<![\d.]){re.escape(old)}(?![\d.])", new, test)
    return None


def _spelled(low: str, first: str) -> tuple[tuple[str, str], ...]:
    """Two releases as they may be written: 12.8, (12, 8), 1208, 12080, 128."""
    (major, minor), (later, last) = low.split("."), first.split(".")
    return (
        (low, first),
        (f"{major}, {minor}", f"{later}, {last}"),
        (f"{major}{int(minor):02}", f"{later}{int(last):02}"),
        (f"{major}{int(minor):02}0", f"{later}{int(last):02}0"),
        (f"{major}{minor}", f"{later}{last}"),
    )


def _chosen(source: str, pieces: Sequence[Piece], first: str) -> Piece | None:
    """`cuda < '13.0' && 'these'` with `cuda < '12.9' && 'as they were' ||` in front."""
    start = source.rfind("'", 0, pieces[0].start) + 1
    end = source.find("'", start)
    test = _CHOICE.search(source, max(source.rfind("\n", 0, start) + 1, start - 200), start)
    if not start or test is None or test["release"] == first:
        return None
    old = f"{test['name']} < '{first}' && '{source[start:end]}' || "
    return Piece(test.start(), end, old + written(source, test.start(), end, pieces))
