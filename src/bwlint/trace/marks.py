"""Compare findings with a trace: whether a flagged kernel ran, and on which chip.

A finding is about the kernel that it stands in, or that its lines name, or so with its related places, or that a claim
names. Where
a kernel ran on a device that the finding says it fails on, it contradicts the finding; on another device it says
nothing about that one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from bwlint.model.findings import Claim, Finding, Region, Report, Seen
from bwlint.readers.binary.names import readable

Lines = Callable[[str], "Sequence[str] | None"]

_CUDA = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".inl")
_ABOUT_KERNELS = frozenset({"image", "cluster", "slow"})
_FAILING = frozenset({"image", "build", "shared", "cluster", "bounds"})
"""Claims whose `chips` are those on which something does not work."""
_ON_THE_HOST = ("cutlass.", "cute.", "numba.jit", "nb.jit", "torch.")
"""Decorators called `jit` of what launches kernels, or has nothing to do with them."""
_ELSEWHERE = ("tilelang.", "jax.")
"""Those of functions whose kernels have names of their own."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_BEFORE = re.compile(r"\A(?:\s|#(?:[^\\\n]|\\.)*)*", re.DOTALL)
"""Directives and blanks in front of a declaration."""
_SPECIALISED = re.compile(r"_(?:\d+[a-z]*)+\Z")
"""What releases of Triton append to a kernel's name."""


class BadTrace(ValueError):
    """A file that is no receipt of a trace; says why."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch as a receipt has it; shared memory in bytes of a block, `blocks` those of a cluster."""

    kernel: str
    capability: str
    device: str
    static_shared: int
    dynamic_shared: int
    blocks: int
    containers: tuple[str, ...]


def read(path: Path) -> tuple[Launched, ...]:
    """The launches of a receipt. Raises OSError and `BadTrace`."""
    try:
        document = json.loads(path.read_text("utf-8"))
        if "trace" not in document or document["version"] != 1:
            raise BadTrace("not a receipt of `bwlint trace`")
        return tuple(launch for process in document["processes"] for launch in _launched(process))
    except BadTrace:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadTrace(f"not a receipt of `bwlint trace`: {type(error).__name__}: {error}") from None


def _launched(process: dict[str, Any]) -> Iterator[Launched]:
    devices = {device["ordinal"]: device for device in process["devices"]}
    for row in process["launches"]:
        device = devices.get(row["device"], {"capability": "", "name": ""})
        yield Launched(
            row["kernel"],
            device["capability"],
            device["name"],
            row["static_shared"],
            row["dynamic_shared"],
            prod(row["cluster"]),
            tuple(row["containers"]),
        )


def marked(report: Report, launches: Sequence[Launched], lines: Lines) -> Report:
    """The report with what the launches say of each finding."""
    by_name: dict[str, list[Launched]] = {}
    for launch in launches:
        for name in _names(launch.kernel):
            by_name.setdefault(name, []).append(launch)
    kernels = _Kernels(lines)
    findings = (replace(one, trace=_seen(one, kernels, by_name)) for one in report.findings)
    return replace(report, findings=tuple(findings))


def _names(kernel: str) -> set[str]:
    """Under which names a source may have a kernel."""
    return {kernel, _SPECIALISED.sub("", kernel), readable(kernel).rpartition("::")[2]}


def _seen(finding: Finding, kernels: _Kernels, by_name: dict[str, list[Launched]]) -> Seen | None:
    names = list(dict.fromkeys(kernels.of(finding)))
    if not names:
        return None
    launches = [launch for name in names for launch in _launches_of(name, by_name)]
    if not launches:
        return Seen("not seen", f"no launch of {', '.join(names)}")
    for launch in launches:
        reason = _against(finding, launch)
        if reason:
            return Seen("contradicted", f"{_told(launch)}: {reason}")
    return Seen("seen", _told(launches[0]))


def _launches_of(name: str, by_name: dict[str, list[Launched]]) -> list[Launched]:
    """The launches of a kernel; one of CuTe DSL is launched as `kernel_cutlass_NAME_module.CLASS_object_at__..._0`."""
    owner, _, method = name.rpartition(".")
    if not owner:
        return by_name.get(name, [])
    own = re.compile(rf"kernel_cutlass_{method}_\w*{owner}_object_at_")
    return [launch for kernel, launches in by_name.items() if own.match(kernel) for launch in launches]


def _told(launch: Launched) -> str:
    where = f"{launch.device} ({launch.capability})" if launch.capability else "a device that is not known"
    return f"{launch.kernel} ran on {where}" + (f" from {', '.join(launch.containers)}" if launch.containers else "")


def _against(finding: Finding, launch: Launched) -> str:
    """What of a finding a launch contradicts, "" where nothing."""
    said = (claim.says for claim in finding.claims if _refutes(claim, launch))
    claimed = next(said, "")
    if claimed:
        return claimed
    return "this code should not work on that GPU" if _is_barred(finding, launch) else ""


def _is_barred(finding: Finding, launch: Launched) -> bool:
    """Whether a finding that claims no amount says that what is behind a gate does not work where a kernel ran."""
    if finding.legal is None or any(claim.kind in _FAILING for claim in finding.claims):
        return False
    return launch.capability in finding.admitted and launch.capability not in finding.legal


def _refutes(claim: Claim, launch: Launched) -> bool:
    """Whether a claim says that what has run does not: with as much of what it is about as it says."""
    if claim.kind not in _FAILING or launch.capability not in claim.chips:
        return False
    if claim.kind == "shared":
        had = launch.static_shared if claim.subject == "static" else launch.dynamic_shared
        return bool(claim.amounts) and had >= max(claim.amounts)
    if claim.kind == "cluster":
        return bool(claim.amounts) and launch.blocks >= prod(claim.amounts)
    # That a minimum of blocks is dropped is seen by no launch; a build is not the one that ran for sure.
    return claim.kind == "image" and claim.subject in ("", *_names(launch.kernel))


class _Kernels:
    """Which kernels the places of findings stand in; each file is read once."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[str, list[tuple[int, int, str]]] = {}

    def of(self, finding: Finding) -> Iterator[str]:
        for claim in finding.claims:
            if claim.kind in _ABOUT_KERNELS and claim.subject.isidentifier() and claim.subject != "builder":
                yield claim.subject
        own = self._at(finding.path, finding.region)
        yield from own
        if not own:
            for related in finding.related:
                yield from self._at(related.path, related.region)

    def _at(self, path: str, region: Region) -> list[str]:
        if path not in self._known:
            lines = self._lines(path) if path.endswith((".py", *_CUDA)) else None
            text = "".join(lines or ())
            self._known[path] = list(_python(text) if path.endswith(".py") else _cuda(text))
        around = [name for first, last, name in self._known[path] if first <= region.line <= last][-1:]
        return around or list(self._named(path, region))

    def _named(self, path: str, region: Region) -> Iterator[str]:
        """Kernels of the file that the lines of a place name: its launch, its attribute."""
        own = {name.rpartition(".")[2]: name for _, _, name in self._known[path]}
        lines = self._lines(path) if own else None
        for word in _WORD.findall("".join((lines or ())[region.line - 1 : region.end_line])):
            if word in own:
                yield own[word]


def _python(text: str) -> Iterator[tuple[int, int, str]]:
    """Lines and name of each function that a decorator makes a kernel, `CLASS.NAME` of a method of CuTe DSL."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    from_where = _imports(tree)
    owners = {method: node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for method in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_makes_kernels(each, from_where) for each in node.decorator_list):
            first = node.decorator_list[0].lineno
            owner = f"{owners[node]}." if node in owners else ""
            yield first, node.end_lineno or node.lineno, f"{owner}{node.name}"


def _imports(tree: ast.Module) -> dict[str, str]:
    """What the names that a file imports stand for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _makes_kernels(decorator: ast.expr, from_where: dict[str, str]) -> bool:
    """`triton.jit`, `cuda.jit`, `cute.kernel`, however imported: not what runs on the host, or that others name."""
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    first, dot, rest = name.partition(".")
    full = f"{from_where.get(first, first)}{dot}{rest}"
    last = full.rpartition(".")[2]
    if last == "kernel":
        return not full.startswith(_ELSEWHERE)
    return last == "jit" and not full.startswith(_ON_THE_HOST + _ELSEWHERE)


def _cuda(text: str) -> Iterator[tuple[int, int, str]]:
    """Lines and name of each `__global__` function with a body."""
    if "__global__" not in text:
        return
    from bwlint.readers.cuda.lexer import clean
    from bwlint.readers.cuda.preprocessor import directives
    from bwlint.readers.cuda.scopes import scopes

    code = clean(text)
    for scope in scopes(code.text, directives(code)).functions:
        if scope.kernel:
            start = scope.open - len(_BEFORE.sub("", code.text[scope.header : scope.open]))
            first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, scope.close) + 1
            yield first, last, scope.name.rpartition("::")[2]
