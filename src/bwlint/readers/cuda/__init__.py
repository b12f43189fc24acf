"""CUDA C++: a lexer of our own, the preprocessor's conditions, and what the code needs of a device."""

from __future__ import annotations

import re
from dataclasses import replace

from bwlint.model.facts import Module
from bwlint.readers import prune, release_parts
from bwlint.readers.cuda import assembly, assumptions, bodies, containers, given, launches, peers
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.given import ASKED, COMPARED
from bwlint.readers.cuda.program import program
from bwlint.readers.cuda.scopes import cut

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
        *bodies.operations(file),
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
