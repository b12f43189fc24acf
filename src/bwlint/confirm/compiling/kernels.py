"""Compile a C++ translation unit for one target and find the kernels that a flagged line belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bwlint.confirm.compiling.compiler import Bench, CompilerRun, compiled
from bwlint.confirm.compiling.evidence import read_cubin
from bwlint.confirm.compiling.listing import text_of
from bwlint.confirm.compiling.units import TranslationUnit, units
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import Region
from bwlint.model.images import Kernel
from bwlint.model.naming import counted
from bwlint.readers.binary.names import readable
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.readers.cuda.preprocessor import directives
from bwlint.readers.cuda.scopes import Scopes, scopes

_WORD = re.compile(r"[A-Za-z_]\w*")
_ENDS = re.compile(r"[;{}]")
MOST_KERNELS = 8
"""Instantiations of a unit that are looked at."""
_MOST_NAMED = 4
_MOST_CALLERS = 8
_TELLING = ("registers", "shared", "threads", "required_threads", "cluster", "max_cluster")

Kernels = tuple[Kernel, ...]


@dataclass(frozen=True, slots=True)
class BuiltKernels:
    """What a unit was built to: `image` is the cubin, `kernels` those of it that a place is about, the first of its
    instantiations. `why` says why there are none. `details` are for a receipt."""

    why: str
    target: str
    details: Mapping[str, Any]
    log: str = ""
    seconds: float = 0.0
    image: Path | None = None
    kernels: Kernels = ()

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        """By the name of a kernel, what its cubin says that it takes: registers a thread, bytes, threads, blocks."""
        return {
            kernel.name: {name: value for name in _TELLING if (value := getattr(kernel, name)) is not None}
            for kernel in self.kernels
        }


def built_kernels(subject: Subject, world: Workbench, target: str) -> BuiltKernels:
    """The kernels that a claim is about, in the first unit that has any; else what became of the first unit."""
    toolkit = world.compiler
    if toolkit is None:
        return BuiltKernels("there is no nvcc with a compiler for the host", target, {})
    bench = Bench(world.scratch, world.compile_limit, toolkit, subject.root)
    first: BuiltKernels | None = None
    for unit in units(subject, world):
        made = compiled(bench, "cubin", unit.source, unit.options.taken, target)
        found = _of_unit(subject, unit, made, target, toolkit)
        if found.kernels or made.trouble:
            return found
        first = first or found
    return first or BuiltKernels("no unit of it can be compiled", target, {})


def _of_unit(subject: Subject, unit: TranslationUnit, made: CompilerRun, target: str, toolkit: Toolkit) -> BuiltKernels:
    name = Path(unit.path).name
    details: dict[str, Any] = {
        "unit": unit.path,
        "target": target,
        "nvcc": toolkit.version,
        "options": list(unit.options.taken),
        "options from": unit.options.origin,
    }
    log = "\n".join(made.said)[:8000]
    if made.path is None:
        why = f"nvcc does not build {name} for {target}: {made.first_error}{made.hint}"
        return BuiltKernels(why, target, details, log, made.seconds)
    cubin = read_cubin(made.path)
    if isinstance(cubin, str):
        return BuiltKernels(cubin, target, details, log, made.seconds)
    if not (there := cubin.kernels):
        why = f"nothing of {name} becomes a kernel for {target}: no template is instantiated there"
        return BuiltKernels(why, target, details, log, made.seconds)
    kernels = meant(subject.real, subject.claim.at or subject.finding.region, there)
    if kernels:
        details["instantiations"] = len(kernels)
        return BuiltKernels("", target, details, log, made.seconds, made.path, kernels[:MOST_KERNELS])
    names = list(dict.fromkeys(readable(kernel.name) for kernel in there))
    shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    why = f"the flagged place names none of {counted(len(there), 'kernel')} that {name} has for {target}: {shown}"
    return BuiltKernels(why, target, details, log, made.seconds)


def meant(path: str, at: Region, kernels: Sequence[Kernel]) -> Kernels:
    """Those of some kernels that a place of a source is about, by the names around it, the nearest that name any. The
    place may be in a kernel, or name one: in its statement, in what the words of that were set to, in the function
    around it, in one that calls this; or be in a class that a kernel is instantiated with."""
    code, places = _read(path)
    if at.line > code.text.count("\n") + 1:
        return ()
    offset = min(code.offset(at.line, 0) + max(at.column - 1, 0), len(code.text))
    named: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        named.setdefault(readable(kernel.name).rpartition("::")[2], []).append(kernel)
    for text in _texts(code, places, offset):
        words = [word for word in dict.fromkeys(_WORD.findall(text)) if word in named]
        if words:
            return tuple(kernel for word in words for kernel in named[word])
    owner = places.owner(offset).rpartition(".")[2]
    return tuple(kernel for kernel in kernels if owner and f"{len(owner)}{owner}" in kernel.name)


@lru_cache(maxsize=8)
def _read(path: str) -> tuple[Code, Scopes]:
    code = clean(text_of(path))
    return code, scopes(code.text, directives(code))


def _texts(code: Code, places: Scopes, offset: int) -> Iterator[str]:
    """Stretches of a source that may name the kernels that an offset is about, the nearest first."""
    text, function = code.text, places.function(offset)
    if function is not None and function.kernel:
        yield function.name
        return
    start, end = max(text.rfind(end, 0, offset) for end in ";{}") + 1, _ENDS.search(text, offset)
    statement = text[start : end.start() if end else len(text)]
    yield statement
    if function is None:
        return
    body = text[function.open : function.close]
    yield " ".join(_set_to(body, _WORD.findall(statement)))
    yield body
    called = re.compile(rf"\b{re.escape(function.name)}\s*[<(]")
    callers = [one for one in places.functions if one is not function and called.search(text, one.open, one.close)]
    yield " ".join(text[one.open : one.close] for one in callers[:_MOST_CALLERS])


def _set_to(body: str, words: Sequence[str]) -> Iterator[str]:
    """What variables and types of a function are set to."""
    for word in dict.fromkeys(words):
        for match in re.finditer(rf"\b{re.escape(word)}\s*(?:\([^()]*\)\s*)?=(?!=)([^;]*);", body):
            yield match[1]
