"""Makefiles, shell, Dockerfiles, workflows, HCL, JSON, TOML: lists of architectures and nvcc's flags, line by line.

No file is parsed as its format says: a list of targets looks the same in all of them, and text that expands (YAML's
aliases) stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bwlint.chips.toolkits import Toolkits, bounds, every_toolkit
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, CarryKind
from bwlint.readers.buildfiles.flags import find_flags
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.targets import Listed, parse_list
from bwlint.readers.buildfiles.versions import StringChoice, choices, of_condition

_NAME = re.compile(r"(?<![\w-])[\w.-]{0,60}(?:arch_?list|archs|architectures)[\w-]{0,40}", re.I)
_ASSIGNED = re.compile(r"[\"']?[ \t]*(?::=|\?=|\+=|=|:)[ \t]*")
_NESTED = re.compile(r"[\"']?[ \t]*[=:]?[ \t]*\{[^{}]{0,200}?default[\"']?[ \t]*[=:][ \t]*")
_QUOTED = re.compile(r"\\?([\"'])([^\"'\\\n]{0,400})\\?\1")
_FALLBACK = re.compile(r"[\"']?\$\{\w+:?-([^}\"'$]{0,400})\}")
_BARE = re.compile(r"[^\s\"'`$(){}\[\]#&]+")
_BRACKET = re.compile(r"\[([^\[\]{}]{0,2000})\]")
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//).*")
_LADDER = re.compile(r"(?:^|[;&|]|\bthen|\belse|\bdo)[ \t]*(?P<word>if|elif|else|fi|ifeq|ifneq|ifdef|ifndef|endif)\b")
_MAKE_ONLY = frozenset({"ifeq", "ifneq", "ifdef", "ifndef"})
_LONGEST_BARE = 400
_MOST = 2000


@dataclass(slots=True)
class _Branch:
    """An open if: what its branch may hold for, and what its next one still may."""

    may: Toolkits
    left: Toolkits


@dataclass(slots=True)
class _LineReader:
    source: str
    places: Places
    carries: list[Carry] = field(default_factory=list)
    branches: list[_Branch] = field(default_factory=list)

    def read(self) -> tuple[Carry, ...]:
        offset = 0
        for line in self.source.splitlines(keepends=True):
            if len(self.carries) > _MOST:
                break
            code = _COMMENT.sub("", line)
            self._follow(code)
            self._flags(code, offset)
            if "rch" in code or "RCH" in code:
                self._lists(code, offset)
            offset += len(line)
        return tuple(self.carries)

    def _follow(self, code: str) -> None:
        """Keep the branches of a shell's or a makefile's conditions."""
        if "if" not in code and "fi" not in code and "else" not in code:
            return
        for match in _LADDER.finditer(code):
            word = match["word"]
            if word in ("if", *_MAKE_ONLY):
                self._open(every_toolkit(), code[match.end() :] if word == "if" else "")
            elif word in ("elif", "else") and self.branches:
                last = self.branches.pop()
                self._open(last.left, code[match.end() :] if word == "elif" else "", other=word == "else")
            elif word in ("fi", "endif") and self.branches:
                self.branches.pop()

    def _open(self, still: Toolkits, condition: str, *, other: bool = False) -> None:
        if other:
            self.branches.append(_Branch(still, frozenset()))
            return
        may, must = of_condition(condition)
        self.branches.append(_Branch(still & may, still - must))

    def _flags(self, code: str, offset: int) -> None:
        if "_" not in code:
            return
        for flag in find_flags(code):
            listed = Listed(flag.sass, flag.ptx, True)
            at = self.places.span(offset + flag.start, offset + flag.end)
            self._add("gencode", "", listed, at, self._toolkits(), flag.arch)

    def _lists(self, code: str, offset: int) -> None:
        end = 0
        for match in _NAME.finditer(code):
            if match.start() < end:
                continue
            if len(self.carries) > _MOST:
                return
            assigned = _ASSIGNED.match(code, match.end())
            if assigned:
                end = self._value(match[0], code, offset, assigned.end(), adds="+=" in assigned[0])
            else:
                self._nested(match[0], offset + match.end())

    def _nested(self, name: str, place: int) -> None:
        """`variable "NAME" { default = "..." }` over several lines."""
        nested = _NESTED.match(self.source, place)
        value = _QUOTED.match(self.source, nested.end()) if nested else None
        if value:
            self._listed("request", name, value[2], value.start(2), every_toolkit())

    def _value(self, name: str, code: str, offset: int, place: int, *, adds: bool) -> int:
        """The value of a name from `place` on; gives the place where it ends."""
        kind: CarryKind = "piece" if adds else "request"
        if code.startswith("{", place) and not code.startswith("{{", place):
            self._nested(name, offset + place)
            return place
        if found := _FALLBACK.match(code, place):
            self._listed(kind, name, found[1], offset + found.start(1), self._toolkits())
            return found.end()
        if found := _QUOTED.match(code, place):
            self._listed(kind, name, found[2], offset + found.start(2), self._toolkits())
            return found.end()
        if code.startswith("[", place):
            return self._bracketed(name, offset + place) - offset
        if "${{" in code[place : place + 4]:
            for choice in choices(code, place):
                self._chosen(kind, name, choice, offset)
            return len(code)
        if found := _BARE.match(code, place):
            rest = code[place:].rstrip() if len(code) - place < _LONGEST_BARE else ""
            whole = rest if parse_list(rest) else found[0]
            self._listed(kind, name, whole, offset + place, self._toolkits())
            return place + len(whole)
        return place

    def _bracketed(self, name: str, place: int) -> int:
        found = _BRACKET.match(self.source, place)
        if not found:
            return place
        self._listed("request", name, re.sub(r"[\"']", " ", found[1]), found.start(1), self._toolkits())
        return found.end()

    def _chosen(self, kind: CarryKind, name: str, choice: StringChoice, offset: int) -> None:
        self._listed(kind, name, choice.text, offset + choice.start, choice.toolkits & self._toolkits())

    def _listed(self, kind: CarryKind, name: str, text: str, start: int, toolkits: Toolkits) -> None:
        listed = parse_list(text, with_ptx="CUDA_ARCHITECTURES" in name)
        if listed is not None and (listed.sure or "cuda" in name.lower()):
            at = self.places.span(start, start + len(text.rstrip()))
            self._add(kind, name, listed, at, toolkits)

    def _add(self, kind: CarryKind, name: str, listed: Listed, at: Span, toolkits: Toolkits, text: str = "") -> None:
        self.carries.append(Carry(kind, name, listed.sass, listed.ptx, at, toolkit=bounds(toolkits), text=text))

    def _toolkits(self) -> Toolkits:
        found = every_toolkit()
        for branch in self.branches:
            found &= branch.may
        return found


def read(source: str) -> tuple[Carry, ...]:
    """The carries of a file of any of these kinds."""
    return _LineReader(source, Places(source)).read()


def names_lists(name: str) -> bool:
    """Whether a variable is called like a list of architectures."""
    return _NAME.fullmatch(name) is not None
