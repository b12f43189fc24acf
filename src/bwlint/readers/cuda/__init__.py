"""CUDA C++: a lexer of our own, the preprocessor's conditions, and what the code needs of a device."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.model.facts import Module, Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers import prune, release_parts
from bwlint.readers.cuda import assembly, assumptions, containers, given, launches, peers
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.given import ASKED, COMPARED
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.program import program
from bwlint.readers.cuda.scopes import CodeScope, CutText, cut
from bwlint.readers.cuda.statements import FAILS, TRAPS, statements

_PLAIN_WORDS = (
    *(b"nullptr, true)", b"CUDA_ARCH", b"warpgroup_", b"TMEM::", b"cudaGridDependency", b"ProgrammaticStream"),
    *(b"launch_with_pdl", b"enable_pdl", b"__asm", b"tcgen05", b"wgmma", b"nvmlDeviceGetMemoryInfo"),
    *(b"nvidia-smi", b"cluster", b"<<<", b"cudaFuncSetAttribute", b"cuFuncSetAttribute", b"__shared__"),
    *(
        b"launch_bounds",
        b"ComputeCapab",
        b"computeCapab",
        b"COMPUTE_CAPAB",
        b"getSMVersion",
        b"multiProcessor",
        b"SharedMemory",
    ),
    *(b"sharedMem", b"SHARED_MEM", b"thread_scope_system", b"IpcOpenMem", b"PeerAccess", b"cuMulticast"),
    *(b"TYPE_FABRIC", b"gpuDirectRDMA", b"NativeAtomic", b"NATIVE_ATOMIC", b"__CUDACC_VER", b"CUDART_VERSION"),
    *(b"sm_version", b"device_cap", b"arch::Sm"),
)
_WORDS = re.compile(
    # Each alternative begins with a plain character, as in COMPARED.
    rb"s(?<![A-Za-z0-9]s)[Mm]_?\d\d|S(?<![A-Za-z0-9]S)[Mm]_?\d\d|asm(?<!\wasm)\b|_system\s*\("
    rb"|major(?<!\wmajor)\b|minor(?<!\wminor)\b|cuda_?[Aa]rch|Cuda_?[Aa]rch"
    rb"|s(?i:mem_?(?:limit|budget|capacity))|S(?i:mem_?(?:limit|budget|capacity))|"
    + COMPARED.encode()
    + rb"|"
    + ASKED.encode()
)

_REFUSES = re.compile(
    rb"#[ \t]*define[ \t]+\w+\((?:[^\\\n]|\\.){0,2000}?\b(?:throw|abort|exit|[A-Z_]*(?:CHECK|ASSERT|ERROR)\w*)\b",
    re.DOTALL,
)
"""A macro that may end in an error."""

_TEMPLATE = re.compile(r"\btemplate\s*<\s*(?:int|unsigned|bool|auto|size_t|\w+_t|(?:class|typename)\s*\.\.\.)")
_TESTED_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if(?:def)?\b[^\n]*\n(?:[^\n#]*\n){0,20}[ \t]*#[ \t]*define\b", re.MULTILINE
)
"""A macro that hangs on others."""
_IDLE = re.compile(
    r"\b(?:(?:extern\s+)?__shared__|using|typedef|static_assert|(?:static\s+)?constexpr)\b[^;{}]*;"
    r"|\b(?!return\b|throw\b|delete\b|else\b|case\b|goto\b|asm\b)[A-Za-z_][\w:<>, ]*\s[*&]?\w+\s*(?:=[^;(){}]*)?;"
    r"|(?:\(\s*void\s*\)|\bstatic_cast\s*<\s*void\s*>|\bstd::ignore\s*=|\b\w*UNUSED\w*)\s*\(?\s*\w+\s*\)?\s*;"
    r"|\breturn\s*;|[;{}]"
)
"""Declarations that do nothing by themselves, and what only keeps a compiler from warning of names without a use."""
_PRINTS = re.compile(r"printf\s*\(")
_SKIPS_BODY = re.compile(r"\b[A-Z_]{0,40}(?:UNSUPPORTED|NOT_SUPPORTED|INVALID|TRAP)[A-Z_]{0,40}\b")


def may_matter(data: bytes, own: frozenset[str] = frozenset()) -> bool:
    """Whether a file may ask for the device or need something of it."""
    if any(word in data for word in _PLAIN_WORDS):
        return True
    if _WORDS.search(data) is not None or _REFUSES.search(data) is not None:
        return True
    return any(word.encode() in data for word in own)


def read(path: str, source: str, name: str = "", is_package: bool = False, own: frozenset[str] = frozenset()) -> Module:
    """Facts of one file; `own` are functions of other files that ask the device. Never raises."""
    file = cut(source)
    code, text, found, places = file.code, file.text, file.found, file.places
    host = program(file, own)
    decided = CompileTime(code, text, places, found)
    launched, amounts = launches.operations(file)
    needed = (
        *assembly.operations(file, decided),
        *operations(file),
        *launched,
        *launches.dependent(file),
        *peers.operations(file),
        *assumptions.multiprocessors(file),
        *assumptions.memory_questions(file),
        *assumptions.fixed_digits(code),
        *release_parts.operations(source, code.text),
    )
    return Module(
        path=path,
        name=name,
        names={**host.names, **amounts},
        slots=prune.slots(host.slots, host.gates, host.names, host.functions, {}),
        functions={**host.functions, **decided.definitions(), **found.macros},
        gates=tuple(sorted(host.gates, key=lambda gate: gate.at)),
        language="cuda",
        guards=tuple(replace(guard, qualname=places.qualname(code.offset(*guard.at[:2]))) for guard in found.guards),
        operations=tuple(sorted(needed, key=lambda one: one.at)),
        includes=found.includes,
        own=own,
    )


def read_includes(path: str, source: str) -> Module:
    """What a header without a word of interest leads to, the numbers that it names, and its macros that are tested."""
    file = cut(source)
    code, text, found, places = file.code, file.text, file.found, file.places
    macros = found.macros if _TESTED_DEFINE.search(source) else {}
    if _TEMPLATE.search(source) is not None:
        macros = {**CompileTime(code, text, places, found).definitions(), **macros}
    names = {**given.constants(source), **given.defined(found.macros)}
    if containers.has_tables(source):
        names |= containers.outside(code, text, places, given.global_name)
    return Module(path=path, language="cuda", names=names, includes=found.includes, functions=macros)


def operations(file: CutText) -> Iterator[Operation]:
    """One operation of kind `body` or `trap` for each stretch of a kernel that is all behind guards, with its tests."""
    for scope in file.places.functions:
        if not scope.kernel:
            continue
        paths = stretches(file, scope)
        if paths and file.found.path(scope.open) not in paths:
            name = scope.name.rpartition("::")[2]
            start = max(file.text.rfind(name, scope.header, scope.open), scope.header)
            at = file.code.span(start, start + len(name))
            for path, only_fails in paths.items():
                kind: OperationKind = "trap" if only_fails else "body"
                yield Operation(kind, name, at, path=path, qualname=scope.qualname)


def stretches(file: CutText, scope: CodeScope) -> dict[Path, bool]:
    """The tests in force wherever the body does something, and whether all that stands there tells of an error."""
    starts = file.found.starts
    first = bisect.bisect_right(starts, scope.open)
    last = bisect.bisect_left(starts, scope.close)
    bounds = [scope.open + 1, *starts[first:last], scope.close]
    found: dict[Path, bool] = {}
    for begin, end in itertools.pairwise(bounds):
        if _IDLE.sub("", file.text[begin:end]).strip():
            path = file.found.path(begin)
            found[path] = found.get(path, True) and _only_fails(file.code, file.text, begin, end)
    return found


def _only_fails(code: Code, text: str, begin: int, end: int) -> bool:
    """Whether a stretch ends in an error and does nothing before but to print what is wrong."""
    body = statements(text, begin, end)
    while len(body) == 1 and body[0].kind in ("if", "block"):
        body = body[0].body
    told = [
        bool(FAILS.search(text, *one) or _SKIPS_BODY.match(text, *one) or TRAPS.match(code.source, *one))
        for one in ((entry.start, entry.end) for entry in body)
    ]
    return any(told) and all(
        fails or _PRINTS.match(text, one.start) or (one.kind == "if" and _PRINTS.search(text, one.start, one.end))
        for one, fails in zip(body, told, strict=True)
    )
