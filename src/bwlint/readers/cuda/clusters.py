"""Thread block clusters that a file asks for: kernels' own, launch attributes, and the shapes given to builders."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.readers.cuda.constants import Constants
from bwlint.readers.cuda.lexer import arguments, stripped
from bwlint.readers.cuda.scopes import CodeScope, CutText

_DIMS = re.compile(r"__cluster_dims__\s*\(")
_AXIS = re.compile(r"clusterDim\s*\.\s*([xyz])\s*=(?!=)\s*([^;]+);")
_OWNER = re.compile(r"([A-Za-z_][\w\[\].\->]*?)\s*(?:\.|->)\s*$")
_BRACED = re.compile(r"clusterDim\s*=(?!=)\s*(?:dim3\s*)?[{(]")
_SHAPE = re.compile(r"using\s+ClusterShape\w*\s*=\s*(?:\w+\s*::\s*)*Shape\s*<\s*([^<>;]*)>")
_TAG = re.compile(r"\barch\s*::\s*Sm(\d{2,3})\b|\bArch\w*\s*=\s*(?:[\w:]*::)?Sm(\d{2,3})\b")
_STATIC = re.compile(r"(?:\w+\s*::\s*)*(?:_(\d+)$|(?:Int|C)\s*<\s*(\d+)\s*>$)")
_ASKED = re.compile(r"MaxActiveClusters|MaxPotentialClusterSize|\b\w*(?i:max)\w*(?i:cluster)\w*\s*\(")
_OPTS_IN = re.compile(r"NonPortableClusterSize|NON_PORTABLE_CLUSTER")
_STATIC_CHECK = re.compile(r"static_assert\s*\([^;]{0,120}\bis_static_v?\s*<\s*Cluster\w*\s*>[^;]{0,200};")
_UNIT_CHECK = re.compile(
    r"static_assert\s*\([^;]{0,120}\bsize\w{0,9}\s*(?:<[^;>]{0,60}>)?\s*\(\s*Cluster|no programmatic multicast"
)
_LAUNCH = re.compile(r"<<<|\bcu(?:da)?LaunchKernel")
ONE = const(1)


def clusters(file: CutText, constants: Constants) -> Iterator[Operation]:
    """Every cluster of a file. `amounts` are x, y, z; `name` is kernel, declared (a kernel that another file
    launches), attribute, opted (one that more than the portable maximum is allowed to), or the target of a builder
    (sm_120). A check of a builder that any size passes is a cluster-limit without a number.
    """
    if "luster" not in file.code.text:
        return
    reader = _ClusterReader(file, constants)
    yield from reader.kernels()
    yield from reader.attributes()
    yield from reader.shapes()
    yield from reader.checks()


class _ClusterReader:
    def __init__(self, file: CutText, constants: Constants) -> None:
        self.file, self.constants = file, constants
        self.code, self.directives, self.scopes = file.code, file.found, file.places

    def _operation(self, name: str, start: int, end: int, amounts: tuple[Expr, ...], *, checked: bool) -> Operation:
        return self.file.operation("cluster", name, start, end, amounts=amounts, checked=checked)

    def _asked(self, function: CodeScope | None) -> bool:
        return function is not None and _ASKED.search(self.code.text, function.open, function.close) is not None

    def kernels(self) -> Iterator[Operation]:
        if _DIMS.search(self.code.text) is None:
            return
        # the size of a kernel is fixed: who asks, asks elsewhere
        asked = _ASKED.search(self.code.text) is not None
        launched = _LAUNCH.search(self.code.text) is not None
        kind = "opted" if _OPTS_IN.search(self.code.text) else "kernel" if launched else "declared"
        for match in _DIMS.finditer(self.code.text):
            parts = arguments(self.code.text, match.end() - 1)
            if parts and not self.directives.holds(match.start()):
                yield self._operation(kind, match.start(), parts[-1][1] + 1, self._sizes(parts), checked=asked)

    def _sizes(self, parts: list[tuple[int, int]]) -> tuple[Expr, ...]:
        found = [self.constants.value(*stripped(self.code.text, *part)) for part in parts[:3]]
        return tuple(found + [ONE] * (3 - len(found)))

    def attributes(self) -> Iterator[Operation]:
        axes: dict[tuple[int, str], dict[str, tuple[int, int]]] = defaultdict(dict)
        for match in _AXIS.finditer(self.code.text):
            function = self.scopes.function(match.start())
            if function is not None and not self.directives.holds(match.start()):
                owner = _OWNER.search(self.code.text[max(0, match.start() - 120) : match.start()].rpartition("\n")[2])
                axes[function.open, owner[1] if owner else ""].setdefault(match[1], match.span(2))
        for found in axes.values():
            yield from self._attribute([found[axis] for axis in "xyz" if axis in found])
        for match in _BRACED.finditer(self.code.text):
            parts = arguments(self.code.text, match.end() - 1)
            if parts and not self.directives.holds(match.start()):
                yield from self._attribute(parts)

    def _attribute(self, parts: list[tuple[int, int]]) -> Iterator[Operation]:
        """One operation for each value that the widest local may have, at the place where it gets it."""
        start, end = stripped(self.code.text, *parts[0])
        function = self.scopes.function(start)
        name = self.code.text[start:end]
        definitions = self.constants.definitions(name, start) if name.isidentifier() else []
        rest = self._sizes(parts)[1:]
        opted = function is not None and _OPTS_IN.search(self.code.text, function.open, function.close) is not None
        kind = "opted" if opted else "attribute"
        chosen = [one for one in definitions if one.op == "=" and one.start < start]
        for one in chosen:
            value = self.constants.value(one.value, one.end)
            yield self._operation(kind, one.start, one.end, (value, *rest), checked=self._asked(function))
        if not chosen:
            yield self._operation(kind, start, end, self._sizes(parts), checked=self._asked(function))

    def checks(self) -> Iterator[Operation]:
        """What a builder asks of the shape that it is given, where no check asks for more than that it is static."""
        if _UNIT_CHECK.search(self.code.source) is None:
            for match in _STATIC_CHECK.finditer(self.code.text):
                yield self.file.operation("cluster-limit", "static", *match.span())

    def shapes(self) -> Iterator[Operation]:
        """Shapes that a builder gets, where the target that stands nearest in the same scope is one alone."""
        for match in _SHAPE.finditer(self.code.text):
            sizes = [_STATIC.match(part.strip()) for part in match[1].split(",")]
            tag = self._tag(match.start())
            if len(sizes) != 3 or tag is None:
                continue
            amounts = tuple(const(int(size[1] or size[2])) for size in sizes if size is not None)
            if len(amounts) == 3:
                yield self._operation(f"sm_{tag}", match.start(), match.end(), amounts, checked=False)

    def _tag(self, offset: int) -> str | None:
        holders = [scope for scope in self.scopes.all if scope.header <= offset <= scope.close]
        for scope in reversed(holders):
            found = {a or b for a, b in _TAG.findall(self.code.text, scope.open, scope.close)}
            if found:
                return found.pop() if len(found) == 1 else None
        if holders:
            return None
        found = {a or b for a, b in _TAG.findall(self.code.text)}
        return found.pop() if len(found) == 1 else None
