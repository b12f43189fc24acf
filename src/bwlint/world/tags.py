"""Names that look like a device but hold only literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bwlint.evaluate.names import guess
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Class, Module
from bwlint.model.kinds import BOUND
from bwlint.sources.read import read_bytes, text_of
from bwlint.sources.recorder import memory
from bwlint.sources.search import Hit, Search, search_of
from bwlint.sources.tree import is_project, package_root
from bwlint.sources.walk import SourceFile

MAX_CALLS = 40
"""Mentions of one function that are read."""
MAX_LINES = 30
"""Lines of one call."""
MIN_CLASSES = 3
"""Different numbers that classes give an attribute which then is theirs and no device's."""
_AROUND_CALL = re.compile(r"\s*(?:from\b|import\b|#|(?:async\s+)?def\b|class\b)")


@dataclass(slots=True)
class Tags:
    """`searches` are shared with whoever else searches the projects of this run."""

    searches: dict[str, Search]
    _parameters: dict[tuple[str, str, str], bool] = field(default_factory=memory)
    _lines: dict[str, list[str]] = field(default_factory=memory)

    def only(self, module: Module, test: Expr) -> bool:
        """Whether all in a test that is called like a device is given literals and nothing else."""
        named = list(_called_like_a_device(module, test))
        return bool(named) and all(self._is_tag(module, node) for node in named)

    def _is_tag(self, module: Module, node: Expr) -> bool:
        if node.op == "param":
            return self._parameter(module, *node.args)
        owner = node.args[0] if node.op == "attr" else node
        if owner.op == "var":
            owner = module.slots[owner.args[0]]
        if owner.op == "attr" and owner.args[0].op == "param":
            return self._of_classes(module, node.args[1])  # `self.gemm.arch`: what it was made with
        if node.op != "attr" or owner.op != "param":
            return False
        if owner.args[1] != "self":
            return self._of_classes(module, node.args[1])
        body = module.classes.get(owner.args[0].rpartition(".")[0])
        return body is not None and self._attribute(module, body, node.args[1])

    def _attribute(self, module: Module, body: Class, name: str) -> bool:
        value = body.names.get(name)
        if value is not None:
            literal = value.op == "const" and value.args[0] is not None
            return literal or (value.op == "param" and self._parameter(module, *value.args))
        if name in body.fields:
            return self._parameter(module, f"{body.qualname}.__init__", name)
        return self._given_below(module, body.qualname.rpartition(".")[2], name)

    def _of_classes(self, module: Module, name: str) -> bool:
        """Whether an attribute of what is handed in is one that classes write down, each its own: `arch = 90`."""
        key = (module.path, "", name)
        if key not in self._parameters:
            own = re.compile(rf"\s+{re.escape(name)}\s*(?::\s*\w+\s*)?=\s*(\d+)\s*(?:#.*)?$")
            found = {match[1] for hit in self._hits(module, f"{name} =") if (match := own.match(hit.text))}
            self._parameters[key] = len(found) >= MIN_CLASSES
        return self._parameters[key]

    def _given_below(self, module: Module, owner: str, name: str) -> bool:
        """Whether each class that names another one as its base writes down a literal for an attribute."""
        assigned = re.compile(rf"^\s+{re.escape(name)}\s*(?::[^=]+)?=\s*(?:\d+|\"[^\"]*\"|'[^']*')\s*(?:#.*)?$")
        below = [hit for hit in self._hits(module, owner) if re.match(rf"\s*class\s+\w+\(.*\b{owner}\b", hit.text)]
        return bool(below) and all(any(map(assigned.match, self._body(hit))) for hit in below)

    def _body(self, hit: Hit) -> Iterator[str]:
        indent = len(hit.text) - len(hit.text.lstrip())
        for line in self._source(hit.file.real)[hit.line :]:
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                return
            yield line

    def _parameter(self, module: Module, qualname: str, name: str) -> bool:
        key = (module.path, qualname, name)
        if key not in self._parameters:
            self._parameters[key] = self._only_literals(module, qualname, name)
        return self._parameters[key]

    def _only_literals(self, module: Module, qualname: str, name: str) -> bool:
        places = _places(module, qualname)
        outer, _, last = qualname.rpartition(".")
        if last == "__init__":
            last = outer.rpartition(".")[2]
        if name not in places or not last or ":" in qualname or last.startswith("__"):
            return False
        calls = 0
        for number, hit in enumerate(self._hits(module, last)):
            if number > MAX_CALLS:
                return False
            if _AROUND_CALL.match(hit.text):
                if re.search(rf"\bdef\s+{last}\b", hit.text) and hit.file.real != module.path:
                    return False  # another function of this name: whose calls are they?
                continue
            if not self._hands_literals(module, hit, last, places, name):
                return False
            calls += 1
        return calls > 0

    def _hands_literals(self, module: Module, hit: Hit, called: str, places: list[str], name: str) -> bool:
        """Whether each mention on a line is a call, and gives a parameter a literal, or what a class has as one."""
        starts = list(re.finditer(rf"\b{called}\b", hit.text))
        if hit.text[: starts[0].start()].count("#"):
            return True
        given = [_given(self._call(hit, start.start()), places, name) for start in starts]
        return all(
            _is_literal(node) or (isinstance(node, ast.Attribute) and self._of_classes(module, node.attr))
            for node in given
        )

    def _call(self, hit: Hit, start: int) -> ast.Call | None:
        """The call that begins in a line; None where the name stands there for anything else."""
        text = "\n".join((hit.text[start:], *self._source(hit.file.real)[hit.line : hit.line + MAX_LINES]))
        depth = 0
        for bracket in re.finditer(r"[()]", text):
            depth += 1 if bracket[0] == "(" else -1
            if depth <= 0:
                return _parsed(text[: bracket.end()])
        return None

    def _hits(self, module: Module, name: str) -> tuple[Hit, ...]:
        """Where a name stands in the project of a module; in the file alone where it is part of none."""
        root = package_root(module.path)
        if not is_project(module.path, root):
            file = SourceFile(module.path, module.path, "python", root)
            lines = enumerate(self._source(module.path), 1)
            return tuple(Hit(file, at, text) for at, text in lines if re.search(rf"\b{re.escape(name)}\b", text))
        search = search_of(root, self.searches)
        return search.word("python", name) if search.complete("python") else ()

    def _source(self, real: str) -> list[str]:
        if real not in self._lines:
            self._lines[real] = (text_of(read_bytes(real)) or "").splitlines()
        return self._lines[real]


def _called_like_a_device(module: Module, test: Expr) -> Iterator[Expr]:
    stack, seen = [test], set[int]()
    while stack:
        for node in walk(stack.pop()):
            if node.op == "var" and node.args[0] not in seen:
                seen.add(node.args[0])
                stack.append(module.slots[node.args[0]])
            elif node.op in ("param", "attr", "name") and guess(node.args[-1]) is not None:
                yield node


def _places(module: Module, qualname: str) -> list[str]:
    """The parameters that a call fills, in order."""
    function = module.functions.get(qualname)
    if function is not None:
        return list(function.params[1:] if function.kind in BOUND else function.params)
    body = module.classes.get(qualname.rpartition(".")[0])
    return list(body.fields) if body is not None and qualname.endswith(".__init__") else []


def _given(call: ast.Call | None, places: list[str], name: str) -> ast.expr | None:
    """What a call gives a parameter; None where that cannot be told."""
    if call is None or any(keyword.arg is None for keyword in call.keywords):
        return None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    at = places.index(name)
    return call.args[at] if given is None and at < len(call.args) else given


def _parsed(text: str) -> ast.Call | None:
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call) else None


def _is_literal(node: ast.expr | None) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_literal, node.elts))
    return isinstance(node, ast.Constant)
