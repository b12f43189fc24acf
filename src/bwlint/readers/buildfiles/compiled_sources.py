"""Which sources the rules of a makefile or the commands of a script compile with the flags of a line or a variable.

In: the text of a makefile, a shell script, a Dockerfile or a meson.build. Out: for each of its lines, the sources that
are compiled with what stands there; a star stands for what make's `%` matches, for what its wildcards find, and for
what a script's variable holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from bwlint.model.facts import Carry
from bwlint.readers.buildfiles.cmake_syntax import expanded

_NAMES = frozenset({"Makefile", "makefile", "GNUmakefile"})
_ASSIGNED = re.compile(r"[ \t]*(?:(?:export|override|local|ENV|ARG)[ \t]+)?(\w{1,60})[ \t]*(?:[:?+]{0,2}=)")
_RULE = re.compile(r"([^\s#:=][^:=#\n]{0,2000}):{1,2}(?![:=])([^=\n;]*)")
_REFERENCE = re.compile(r"\$[({](\w{1,60})")
_WHOLE = re.compile(r"\$[({](\w{1,60})[)}]")
_IN_SCRIPT = re.compile(r"(?:\$\{?|\bcuda_args:[ \t]*\[?)(\w{1,60})\}?")
_ALWAYS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
"""What nvcc itself reads."""
_SOURCE = re.compile(r"[\w./*%-]*[\w*%]\.cu(?![\w*])")
_COMPILER = re.compile(r"nvcc\b|\bcuda_args:", re.I)
_DEEPEST = 8
_MOST_LINES = 3000


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a rule is for, and its recipe with the numbers of its lines."""

    prerequisites: str
    recipe: list[tuple[range, str]] = field(default_factory=list)


def is_makefile(path: str) -> bool:
    return path.rpartition("/")[2] in _NAMES


def sources_by_line(source: str, *, is_make: bool) -> Mapping[int, Sequence[str]]:
    """The sources that the flags of each line, counted from 1, are given for."""
    reference = _REFERENCE if is_make else _IN_SCRIPT
    variables: defaultdict[str, list[tuple[range, str]]] = defaultdict(list)
    rules: list[_Rule] = []
    for numbers, line in _lines(source):
        if is_make and line.startswith("\t"):
            if rules:
                rules[-1].recipe.append((numbers, line))
        elif assigned := _ASSIGNED.match(line):
            variables[assigned[1]].append((numbers, line[assigned.end() :]))
        elif not is_make:
            rules.append(_Rule("", [(numbers, line)]))
        elif begun := _RULE.match(line):
            rules.append(_Rule(begun[2]))
    texts = {name: " ".join(text for _, text in lines) for name, lines in variables.items()}
    found: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for rule in rules:
        compiling = [(numbers, line) for numbers, line in rule.recipe if _COMPILER.search(_expanded(line, texts))]
        used = _used(" ".join(line for _, line in compiling), texts, reference).union(_ALWAYS)
        compiled = dict.fromkeys(_sources(rule, texts, is_make=is_make)) if compiling else {}
        written = [*compiling, *(one for name in used for one in variables.get(name, ()))]
        for number in (number for numbers, _ in written for number in numbers):
            found[number].update(compiled)
    return {number: tuple(sources) for number, sources in found.items()}


def _lines(source: str) -> Iterator[tuple[range, str]]:
    """The lines, joined where they go on, each with the numbers of its parts."""
    begun, parts = 1, list[str]()
    for number, line in enumerate(source.split("\n")[:_MOST_LINES], 1):
        parts.append(line.partition("#")[0].removesuffix("\\"))
        if not line.endswith("\\"):
            yield range(begun, number + 1), " ".join(parts)
            begun, parts = number + 1, []


def _used(text: str, texts: Mapping[str, str], reference: re.Pattern[str]) -> set[str]:
    """The variables that a text uses, through others too."""
    found: set[str] = set()
    queue = reference.findall(text)
    while queue:
        name = queue.pop()
        if name in texts and name not in found:
            found.add(name)
            queue += reference.findall(texts[name])
    return found


def _sources(rule: _Rule, texts: Mapping[str, str], *, is_make: bool) -> Iterator[str]:
    """The sources of a rule. Those of a pattern are what the file names, or what fits it where it names none."""
    written = " ".join((rule.prerequisites, *(line for _, line in rule.recipe)))
    if not is_make:
        written = expanded(written, lambda name: texts.get(name, "*"), _IN_SCRIPT)
    patterns = []
    for name in _SOURCE.findall(_expanded(written, texts)):
        if "%" in name:
            patterns.append(name.removeprefix("./").replace("%", "*"))
        else:
            yield name.removeprefix("./")
    if patterns:
        named = [name for text in texts.values() for name in _SOURCE.findall(_expanded(text, texts)) if "%" not in name]
        yield from named or patterns


def _expanded(text: str, texts: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST):
        text = expanded(text, lambda name: texts.get(name, "").strip(), _WHOLE)
    return text


CAPABILITIES = frozenset({"cuda-capabilities"})
_NAME = re.compile(r"(?:^|/)build\.toml$")
_TABLE = re.compile(r"\[[\w.-]{1,200}\]")
_SOURCES = re.compile(r"src\s{0,20}=\s{0,20}\[")
_COMPILED = re.compile(r"\"([^\"]{1,300}\.(?:cu|cpp|cc|cxx|c))\"")


@dataclass(frozen=True, slots=True)
class _Table:
    """The lines of a table, and the sources that it lists."""

    lines: range
    sources: tuple[str, ...]


def is_kernel_package(path: str) -> bool:
    return _NAME.search(path) is not None


def with_sources(source: str, carries: Sequence[Carry]) -> tuple[Carry, ...]:
    """The lists of capabilities of a file with what their tables compile; without one, for all chips that are known."""
    lines = source.splitlines()
    starts = [index for index, line in enumerate(lines) if _TABLE.match(line)]
    tables = [
        _Table(range(start + 1, stop + 1), tuple(dict.fromkeys(_of_table(lines[start:stop]))))
        for start, stop in zip(starts, (*starts[1:], len(lines)), strict=False)
    ]
    of_cuda = (table for table in tables if any(name.endswith(".cu") for name in table.sources))
    listed = {carry.at[0] for carry in carries}
    if any(listed.isdisjoint(table.lines) for table in of_cuda):
        return tuple(carries)
    sources = {line: table.sources for table in tables for line in listed.intersection(table.lines)}
    return tuple(replace(carry, sources=sources.get(carry.at[0], ())) for carry in carries)


def _of_table(table: Iterable[str]) -> Iterator[str]:
    for line in dropwhile(lambda line: not _SOURCES.match(line), table):
        code = line.partition("#")[0]
        yield from _COMPILED.findall(code)
        if "]" in code:
            return
