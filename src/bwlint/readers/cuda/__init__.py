"""CUDA C++: a lexer of our own, the preprocessor's conditions, and what the code needs of a device."""

from __future__ import annotations

import re
from dataclasses import replace

from bwlint.model.facts import Module
from bwlint.readers import prune, release_parts
from bwlint.readers.cuda import (
    assembly,
    bodies,
    containers,
    dependents,
    fixed_digits,
    given,
    launches,
    memory_queries,
    multiprocessors,
    peers,
)
from bwlint.readers.cuda.asking import ASKED, COMPARED
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.cut import cut
from bwlint.readers.cuda.program import program

_PLAIN_WORDS = tuple(
    word.encode()
    for word in (
        *(
            "CUDA_ARCH",
            "warpgroup_",
            "TMEM::",
            "cudaGridDependency",
            "ProgrammaticStream",
            "launch_with_pdl",
            "enable_pdl",
            "nullptr, true)",
            "__asm",
            "tcgen05",
            "wgmma",
            "nvmlDeviceGetMemoryInfo",
            "nvidia-smi",
            "cluster",
            "<<<",
        ),
        *("cudaFuncSetAttribute", "cuFuncSetAttribute", "__shared__", "launch_bounds", "ComputeCapab", "computeCapab"),
        *(
            "COMPUTE_CAPAB",
            "getSMVersion",
            "multiProcessor",
            "SharedMemory",
            "sharedMem",
            "SHARED_MEM",
            "thread_scope_system",
        ),
        *("IpcOpenMem", "PeerAccess", "cuMulticast", "TYPE_FABRIC", "gpuDirectRDMA", "NativeAtomic", "NATIVE_ATOMIC"),
        *("__CUDACC_VER", "CUDART_VERSION", "sm_version", "device_cap", "arch::Sm"),
    )
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
    host = program(code, text, places, found, own)
    decided = CompileTime(code, text, places, found)
    launched, amounts = launches.operations(code, text, found, places)
    needed = (
        *assembly.operations(code, text, found, places, decided),
        *bodies.operations(code, text, found, places),
        *launched,
        *dependents.operations(code, found, places),
        *peers.operations(code, found, places),
        *multiprocessors.operations(code, found, places),
        *memory_queries.operations(code, found, places),
        *fixed_digits.operations(code),
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
