"""Makefiles, shell, Dockerfiles, workflows, Bazel, Meson, HCL, JSON, TOML: lists of architectures and nvcc's flags.

Read line by line, values to the end of a continued line: a list of targets looks the same in all of them. What keys of
YAML get is read as YAML says, the scripts in it like others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from bwlint.chips import ALL_TARGETS, known_targets
from bwlint.chips.flags import WITHOUT_A_NAME, find_flags
from bwlint.chips.frameworks import refuses_family
from bwlint.chips.hosts import host_of, of_denied, of_job
from bwlint.chips.hosts import of_condition as of_host
from bwlint.chips.toolkits import Toolkits, every_toolkit, runs
from bwlint.model.expr import Span
from bwlint.model.facts import Carry
from bwlint.model.kinds import CarryKind
from bwlint.readers.buildfiles.compiled_sources import (
    CAPABILITIES,
    is_kernel_package,
    is_makefile,
    sources_by_line,
    with_sources,
)
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.releases import (
    StringChoice,
    choices,
    of_condition,
    of_image,
    of_matrix,
    of_patterns,
    of_row,
)
from bwlint.readers.buildfiles.shell_conditions import shell_conditions
from bwlint.readers.buildfiles.targets import Listed, bare_is_both, counts, list_names, parse_list
from bwlint.readers.buildfiles.yaml import Entry, Yaml, read_yaml

_HANDED = re.compile(
    r"(?:arch_?list|archs|architectures|capabilit(?:y|ies))[\w-]{0,40}[\"']?[ \t]*(?::|=|:=)[ \t]*"
    r"\\?[\"']{0,2}\$(?:\{\{[ \t]*(?:\w{1,60}\.)?(?=[\w-]{1,60}[ \t]*(?:\|\||\}\}))|\{)?(?P<value>\w[\w-]{0,59})",
    re.I,
)
_HANDED_ON = re.compile(
    r"(?P<receiver>arch_?list)[\"']?[ \t]*(?::|=|:=)[ \t]*\\?[\"']{0,2}\$[{(]{0,2}[ \t]*"
    r"(?:\w{1,60}\.)?(?P<value>[\w-]{1,60})",
    re.I,
)
_TO_CMAKE = re.compile(r"CMAKE_CUDA_ARCHITECTURES(?::\w{1,20})?=\\?[\"']{0,2}\$[{(]?(?P<value>\w{1,60})[})]?(?![\w-])")
_LAST_WORD = re.compile(r"[\w-]*$")
_LOOP = re.compile(
    r"for(?:[ \t]+(?P<loop>\w{1,60})[ \t]+in[ \t]+[\"']?\$\{?|each[ \t]+(?P<meson>\w{1,60})[ \t]*:[ \t]*"
    r"|each[ \t]+(?P<make>\w{1,60}),[ \t]*\$[({])(?P<list>\w{1,60})"
)
_PASTED = re.compile(r"(?:(?:compute|sm)_|-arch[= ])(?:\$[{(]?|'[ \t]*\+[ \t]*)(?P<part>\w{1,60})")
_PASTED_PTX = re.compile(
    r"(?:-arch[= ](?:sm_|compute_)?|code=[\[\"'\\]{0,3}(?:sm_\$[{(]?\w{1,60}[)}]?,)?compute_)"
    r"(?:\$[{(]?|'[ \t]*\+[ \t]*)(?P<part>\w{1,60})"
)
_SHORTHAND = re.compile(r"-arch[= ](?:sm_|compute_)?\$[{(]?(?P<part>\w{1,60})")
_CALLED = re.compile(r"\$[({]call[ \t]+\w{1,60},[ \t]*\$[({]?(?P<part>\w{1,60})")
_KEPT_PTX = re.compile(r"code=compute_[0-9]")
_LOOPED = re.compile(r"[ \t]+in[ \t]+([^;\n$]{1,400})")
_CONDITION = re.compile(r"((?:[^\n;]|\|\|[ \t]*\n|&&[ \t]*\n|\\\n){0,600}?)(?:;|\n)\s{0,40}then\b")
_GUARD = re.compile(r"\s*\[\[?[ \t](.{1,400}?)[ \t]\]\]?[ \t]*&&")
_ARGUMENT = re.compile(r"\s*(?:ARG|ENV)[ \t]+(?P<name>\w{1,60})=[\"']?(?P<value>[^\s\"']{1,400})")
_FROM = re.compile(r"FROM[ \t]+(?:--\S{1,100}[ \t]+)?(?P<image>\S{1,400})(?:[ \t]+AS[ \t]+(?P<stage>\S{1,100}))?", re.I)
_REFERENCE = re.compile(r"\$\{?(\w{1,60})\}?")
_ADDED = re.compile(r"[ \t]*\.append\([ \t]*")
_ASSIGNED = re.compile(
    r"[\"']?[ \t]*(?::=|\?=|\+=|=|:)[ \t]*|[\"'][ \t]*,[^()\n]{0,120}?\b(?:value|default)[ \t]*[:=][ \t]*"
)
""" "NAME = ", "NAME: ", and "option('NAME', type: 'array', value: " of Meson."""
_NESTED = re.compile(r"[\"']?[ \t]*[=:]?[ \t]*\{[^{}]{0,200}?(?:default|value)[\"']?[ \t]*[=:][ \t]*")
_QUOTED = re.compile(r"\\?([\"'])(?P<value>[^\"'\\\n]{0,400})\\?\1")
_FALLBACK = re.compile(r"[\"']?\$\{\w+:?-[\"']?(?P<value>[^}\"'$]{0,400})[\"']?\}")
_BARE = re.compile(r"(?:\\ |[^\s\"'`$(){}\[\]#&])+")
_UP_TO_QUOTE = re.compile(r"([^\"'\\\n]{1,400})[\"']")
_BLANK_ENV = re.compile(r"[ \t]*ENV[ \t]+(?P<name>\w{1,60})[ \t]+(?P<value>[^=\n]{1,400})$", re.I)
"""The form without "=", of one variable."""
_BRACKET = re.compile(r"[\[(]([^\[\](){}$]{0,2000})[\])]")
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//).*")
_LADDER = re.compile(
    r"(?:^(?:RUN\b)?|[;&|]|\bthen|\belse|\bdo)[ \t]*"
    r"(?P<word>if|elif|else[ \t]+ifn?(?:eq|def)|else|fi|ifn?eq|ifn?def|endif)\b"
)
_OTHER_IF = re.compile(r":[ \t]*$|^[ \t-]*(?:if|else)[ \t]*:")
"""A condition of Python, or a key of YAML."""
_MAKE_TEST = re.compile(r"[ \t]*\((?P<test>.{1,400}),[ \t]*(?P<value>[\w.]*)[ \t]*\)[ \t]*$")
_ECHO = re.compile(r"(?:&&|;)[ \t]*echo\b")
_CASE = re.compile(r"\bcase[ \t]+[\"']?\$\{?(?:\w{0,40}CUDA|CU_?VER)\w{0,40}\}?[\"']?[ \t]+in\b", re.I)
_ARM = re.compile(r"[ \t]*\(?([\"']?(?:\d{1,2}\.|cu\d{2,3}\b)[\w.*|\"' \t]{0,200}?)\)")
_HOST_ARM = re.compile(r"[ \t]*\(?([\"']?(?:x86_64|amd64|aarch64|arm64|sbsa)[\w*|\"' \t-]{0,60})\)")
_YAML = (".yml", ".yaml")
_SHELL = (".sh", ".bash")
_DOCKERFILE = re.compile(r"(?:^|/)(?:Docker|Container)file(?:[._-][^/]*)?$|\.[Dd]ockerfile$")
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?P<name>[A-Za-z]{1,20})[ \t]*=[ \t]*(?P<value>\S+)[ \t]*$")
_LONGEST_CONTINUED = 5000
"""Characters of continued lines behind a line."""
_PRINTS = re.compile(r"(?:echo|printf)\b")
_EXPORTS = ("export ", "declare -x ")
_LONGEST_SCRIPT = 100_000
"""Characters: a longer one is no script that somebody wrote."""
_CAPABILITY = re.compile(r"compute_?cap|(?:gpu|cuda|sm)_?(?:arch|version)", re.I)
_LONGEST_BARE = 400
MAX_CHOICES = 100
"""Values that one expression of a workflow may pick from."""
_MOST = 2000
_MOST_HANDED = 50
_Ptx = Literal["none", "last", "all", "shorthand"]
_LONGEST_NAME = 60
_LONGEST_COMMENT = 400


@dataclass(frozen=True, slots=True)
class _Branch:
    """An open if: what its branch may and must hold for, and what its next one still may."""

    number: int
    may: Toolkits
    must: Toolkits
    left: Toolkits
    host: str = ""
    rest: str = ""
    """The host of the next branches, where they have one."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a variable gets: the carry as it stands, the branches around, and the toolkits that do not change it."""

    carry: Carry
    branches: tuple[_Branch, ...]
    toolkits: Toolkits


@dataclass(slots=True)
class _LineReader:
    path: str
    source: str
    places: Places
    handed: frozenset[str]
    names: re.Pattern[str]
    pasted: Mapping[str, _Ptx] = field(default_factory=dict)
    """The lists whose members stand in flags, with those of which PTX is kept."""
    to_cmake: frozenset[str] = frozenset()
    """The lists that CMake's own gets: a bare number in them stands for PTX too."""
    values: list[_Setting] = field(default_factory=list)
    branches: list[_Branch] = field(default_factory=list)
    opened: int = 0
    image: Toolkits = field(default_factory=every_toolkit)
    stages: dict[str, Toolkits] = field(default_factory=dict)
    host: str = ""
    """That of the container's image, or of the file by its name."""
    lines: list[str] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict)
    in_case: bool = False
    arm: int = 0
    """The number of the open arm of a `case`."""
    receivers: dict[str, str] = field(default_factory=dict)
    """The variables of a framework that others are handed on to, by the names of these."""
    yaml: Yaml = field(default_factory=Yaml)
    entry: Entry | None = None
    """What a key of YAML gets, while that is looked at."""
    jobs: tuple[tuple[range, str], ...] = ()
    """The stretch of each job of a workflow, with its host."""
    joined: str = ""
    """The source with blanks where a line is continued."""
    asides: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The targets that lists in comments give variables."""
    said: dict[str, bool] = field(default_factory=dict)
    """Which variables are printed, and nothing else."""

    def read(self) -> tuple[Carry, ...]:
        offset = 0
        self.host = host_of(self.path.rpartition("/")[2])
        self.lines = self.source.splitlines(keepends=True)
        self.joined = _joined(self.lines, is_dockerfile=_DOCKERFILE.search(self.path) is not None)
        if self.path.endswith(_YAML):
            self.yaml = read_yaml(self.source)
            self.jobs = tuple((stretch, of_job(text)) for stretch, text in self.yaml.jobs)
            self._entries()
        for line in self.lines:
            if len(self.values) > _MOST:
                break
            code = _COMMENT.sub("", line)
            self._follow(code, offset)
            self._arms(code)
            self._image(code)
            self._flags(code, offset)
            if self.names.search(code):
                self._guarded(code, offset)
            elif not code.strip() and len(line) < _LONGEST_COMMENT:
                self._aside(line)
            if self.arm and ";;" in code:
                self._leave_arm()
            offset += len(line)
        self._tests()
        told = ((one, self.asides.get(one.carry.name, one.carry.aside)) for one in self.values)
        return tuple(
            replace(one.carry, toolkit=toolkit, aside=aside) for one, aside in told for toolkit in runs(one.toolkits)
        )

    def _entries(self) -> None:
        """What the keys of YAML get."""
        found = {one.start: one for one in self.yaml.entries if self.names.fullmatch(one.name)}  # an alias says more
        for entry in islice(found.values(), _MOST):
            self.entry, toolkits = entry, of_row(entry.beside)
            start, stretch = entry.start, self.source[entry.start : entry.end]
            if fallback := _FALLBACK.fullmatch(stretch):
                self._listed("request", entry.name, fallback[1], start + fallback.start(1), toolkits)
            elif stretch.startswith("${{"):
                toolkits &= of_matrix(self.yaml, start)
                for choice in islice(choices(stretch, 0, toolkits), MAX_CHOICES):
                    self._chosen("request", entry.name, choice, start)
            else:
                self._listed("request", entry.name, entry.value, start, toolkits, entry.end)
        self.entry = None

    def _aside(self, comment: str) -> None:
        """`# NAME="12.0"`: what a variable may get instead."""
        for match in self.names.finditer(comment):
            assigned = _ASSIGNED.match(comment, match.end())
            place = assigned.end() if assigned else len(comment)
            found = _QUOTED.match(comment, place)
            bare = None if found else _BARE.match(comment, place)
            listed = parse_list(found[2] if found else bare[0] if bare else "")
            if listed is not None:
                self.asides[match[0]] = (*self.asides.get(match[0], ()), *listed.sass, *listed.ptx)

    def _tests(self) -> None:
        """What a script does for some capabilities alone: by all their names where it refuses the others."""
        for test in shell_conditions(self.source) if _CAPABILITY.search(self.source) else ():
            targets = [target for target in ALL_TARGETS if target.number in test.chips]
            names = [target.name.removeprefix("sm_") for target in targets if test.refuses or not target.suffix]
            at = self.places.span(test.start, test.end)
            arm = self.places.span(*test.arm) if test.arm else None
            carry = Carry("match", self.source[test.start : test.end], tuple(names), (), at, arm=arm)
            self.values.append(_Setting(carry, (), every_toolkit()))

    def _follow(self, code: str, offset: int) -> None:
        """Keep the branches of a shell's or a makefile's conditions."""
        if "if" not in code and "fi" not in code and "else" not in code:
            return
        for match in () if _OTHER_IF.search(code) else _LADDER.finditer(code):
            word = match["word"]
            if word[-2:] in ("eq", "ef"):
                self._open_in_make(word, code[match.end() :])
            elif word in ("if", "elif"):
                whole = _CONDITION.match(self.source, offset + match.end())
                condition = whole[1] if whole else code[match.end() :]
                if word == "if":
                    self._open(every_toolkit(), condition)
                elif self.branches:
                    last = self.branches.pop()
                    self._open(last.left, condition, last.rest)
            elif word == "else" and self.branches:
                last = self.branches.pop()
                self.opened += 1
                self.branches.append(_Branch(self.opened, last.left, last.left, frozenset(), last.rest))
            elif word in ("fi", "endif") and self.branches:
                self.branches.pop()

    def _open_in_make(self, word: str, rest: str) -> None:
        """`ifeq ($(shell test $(CUDA_VERSION) -ge 128; echo $$?),0)`, also behind an `else`."""
        still = self.branches.pop().left if word.startswith("else") and self.branches else every_toolkit()
        asked = _MAKE_TEST.match(rest) if word.endswith("eq") else None
        if asked is None:
            self._open(still)
            return
        run = "$(shell" in asked["test"]
        test = _ECHO.split(asked["test"])[0] if run else f"{asked['test']} == {asked['value']}"
        may, must = of_condition(test)
        holds = not run or (asked["value"] == "0") == ("$$?" in asked["test"])
        if holds == word.endswith("neq"):
            may, must = every_toolkit() - must, every_toolkit() - may
        self._open_for(still, may, must)

    def _arms(self, code: str) -> None:
        """The arms of `case "$CUDA_VERSION" in 12.8.1) ... ;; 12.9.1|13.0.1) ... ;; esac`, each for its releases."""
        self.in_case = (self.in_case or _CASE.search(code) is not None) and "esac" not in code
        patterns = _HOST_ARM.match(code) or (_ARM.match(code) if self.in_case else None)
        if patterns is None:
            return
        if self.arm:
            self._leave_arm()
        host = host_of(patterns[1])
        named = every_toolkit() if host else of_patterns(patterns[1])
        if named:
            self.opened += 1
            self.arm = self.opened
            self.branches.append(_Branch(self.opened, named, named, frozenset(), host))

    def _leave_arm(self) -> None:
        self.branches = [branch for branch in self.branches if branch.number != self.arm]
        self.arm = 0

    def _open(self, still: Toolkits, condition: str = "", rest: str = "") -> None:
        host, rest = of_host(condition) or rest, rest or of_denied(condition)
        self._open_for(still, *of_condition(condition), host, rest)

    def _open_for(self, still: Toolkits, may: Toolkits, must: Toolkits, host: str = "", rest: str = "") -> None:
        self.opened += 1
        self.branches.append(_Branch(self.opened, still & may, still & must, still - must, host, rest))

    def _image(self, code: str) -> None:
        """The toolkit of a container's image: `FROM nvidia/cuda:12.8.1-devel`, by the defaults of its arguments."""
        if found := _ARGUMENT.match(code):
            self.defaults[found["name"]] = _REFERENCE.sub(self._default, found["value"])[:_LONGEST_BARE]
        elif found := _FROM.match(code):
            image = _REFERENCE.sub(self._default, found["image"])
            self.image = self.stages.get(image) or of_image(image)
            self.host = host_of(code) or self.host
            if found["stage"]:
                self.stages[found["stage"]] = self.image

    def _default(self, reference: re.Match[str]) -> str:
        return self.defaults.get(reference[1], reference[0])

    def _flags(self, code: str, offset: int) -> None:
        if "arch" not in code and "--gpu-name" not in code:
            return
        for flag in find_flags(code, self._continued(code, offset)):
            kind: CarryKind = "asked" if flag.arch in WITHOUT_A_NAME else "gencode"
            listed = Listed(flag.sass, flag.ptx, True)
            at = self.places.span(offset + flag.start, offset + flag.end)
            self._add(kind, "", listed, at, offset + flag.start, self._toolkits(), flag.arch)

    def _guarded(self, code: str, offset: int) -> None:
        """`[[ test ]] && NAME=list`: what the name had stays where the test does not hold."""
        test = _GUARD.match(code)
        if test:
            self._open(every_toolkit(), test[1])
        self._lists(code, offset)
        if test:
            self.branches.pop()

    def _lists(self, physical: str, offset: int) -> None:
        end = 0
        code = self._continued(physical, offset)
        blank = _BLANK_ENV.match(code) if _DOCKERFILE.search(self.path) else None
        for match in self.names.finditer(code, 0, len(physical)):
            if match.start() < end or offset + match.start() in self.yaml.keys:
                continue
            if len(self.values) > _MOST:
                return
            assigned = _ASSIGNED.match(code, match.end())
            if blank and match.span() == blank.span("name"):
                end = self._value(match[0], code, offset, blank.start("value"), adds=False)
                continue
            whole = _UP_TO_QUOTE.match(code, match.end() + 1) if _opens(code, match) else None
            if whole and parse_list(whole[1]):
                self._listed("request", match[0], whole[1], offset + whole.start(1), self._toolkits())
                end = whole.end()
                continue
            if loop := _LOOPED.match(code, match.end()):
                self._listed("request", match[0], loop[1], offset + loop.start(1), self._toolkits())
            elif added := _ADDED.match(code, match.end()):
                self._value(match[0], code, offset, added.end(), adds=True)
            elif assigned:
                end = self._value(match[0], code, offset, assigned.end(), adds="+=" in assigned[0])
            else:
                self._nested(match[0], offset + match.end())

    def _continued(self, code: str, offset: int) -> str:
        """A line with those that continue it."""
        if not code.endswith("\n") or self.joined[offset + len(code) - 1] == "\n":
            return code
        limit = offset + len(code) + _LONGEST_CONTINUED
        end = self.joined.find("\n", offset + len(code), limit)
        return _COMMENT.sub("", self.joined[offset : limit if end < 0 else end])

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
        if found := _FALLBACK.match(code, place) or _QUOTED.match(code, place):
            self._listed(kind, name, found["value"], offset + found.start("value"), self._toolkits())
            return found.end()
        if code.startswith(("[", "("), place):
            return self._bracketed(kind, name, offset + place) - offset
        if "${{" in code[place : place + 4]:
            for choice in islice(choices(code, place), MAX_CHOICES):
                self._chosen(kind, name, choice, offset)
            return len(code)
        if found := _BARE.match(code, place):
            rest = code[place:].rstrip() if len(code) - place < _LONGEST_BARE else ""
            whole = rest if parse_list(rest) else found[0]
            self._listed(kind, name, whole.replace("\\ ", "  "), offset + place, self._toolkits())
            return place + len(whole)
        return place

    def _bracketed(self, kind: CarryKind, name: str, place: int) -> int:
        found = _BRACKET.match(self.source, place)
        if not found:
            return place
        self._listed(kind, name, re.sub(r"[\"']", " ", found[1]), found.start(1), self._toolkits())
        return found.end()

    def _chosen(self, kind: CarryKind, name: str, choice: StringChoice, offset: int) -> None:
        self._listed(kind, name, choice.text, offset + choice.start, choice.toolkits & self._toolkits())

    def _listed(self, kind: CarryKind, name: str, text: str, start: int, toolkits: Toolkits, end: int = 0) -> None:
        """A list at `source[start:end]`; without an end as long as its text."""
        listed = parse_list(text, with_ptx=bare_is_both(name) or name in self.to_cmake)
        pasted = self.pasted.get(name)
        known = listed is not None and (pasted is not None or counts(name, listed, handed=name in self.handed))
        if listed is None or not known or self._only_said(name):
            return
        at = self.places.span(start, end or start + len(text.rstrip()))
        if kind == "request":
            self._replace(name)
        if pasted is None:
            self._add(kind, name, listed, at, start, toolkits)
        elif set(known_targets(listed.sass)):
            flags = find_flags(" ".join(f"-arch=sm_{one}" for one in listed.sass))
            short = tuple(name for flag in flags for name in flag.ptx)
            ptx = {"none": (), "last": listed.sass[-1:], "all": listed.sass, "shorthand": short}[pasted]
            apart = self.path.endswith(_SHELL) and _KEPT_PTX.search(self.source) is None
            self._add("gencode", name, replace(listed, ptx=ptx), at, start, toolkits, group=name if apart else "")

    def _only_said(self, name: str) -> bool:
        """Whether a script prints a variable, and does nothing else with it."""
        if not self.path.endswith(_SHELL) or len(self.source) > _LONGEST_SCRIPT:
            return False
        if name not in self.said:
            expanded = (f"${name}", f"${{{name}")
            lines = [line.lstrip() for line in self.lines if name in line]
            used = [line for line in lines if any(one in line for one in expanded) or line.startswith(_EXPORTS)]
            self.said[name] = bool(used) and all(map(_PRINTS.match, used))
        return self.said[name]

    def _replace(self, name: str) -> None:
        """What a variable had before is gone where the branch must be taken in which it gets another value."""
        for place, value in enumerate(self.values):
            around = len(value.branches)
            inner = self.branches[around:]
            if value.carry.name != name or value.branches != tuple(self.branches[:around]) or not inner:
                continue
            taken = frozenset.intersection(*(branch.must for branch in inner))
            self.values[place] = replace(value, toolkits=value.toolkits - taken)

    def _add(
        self,
        kind: CarryKind,
        name: str,
        listed: Listed,
        at: Span,
        start: int,
        toolkits: Toolkits,
        text: str = "",
        group: str = "",
    ) -> None:
        keys, beside = (self.entry.keys, self.entry.beside) if self.entry else ((), ())
        job = next((host for stretch, host in self.jobs if start in stretch), "")
        row = of_job("\n".join((*keys, *beside)))
        hosts = (*(branch.host for branch in reversed(self.branches)), host_of(name), row, job, self.host)
        host = next(filter(None, hosts), "")
        qualname = ".".join(keys[:-1])
        handed = self.receivers.get(name.lower(), "")
        carry = Carry(kind, name, listed.sass, listed.ptx, at, text=text, qualname=qualname, host=host, handed=handed)
        carry = replace(carry, group=group, dotted=listed.dotted)
        self.values.append(_Setting(carry, tuple(self.branches), toolkits))

    def _toolkits(self) -> Toolkits:
        found = every_toolkit()
        for branch in self.branches:
            found &= branch.may
        return found & self.image or found  # a branch for another toolkit than the image's: that one is a default


def _joined(lines: Sequence[str], *, is_dockerfile: bool) -> str:
    """Lines as long as they were, with blanks where one is continued and for a Dockerfile's comments in between."""
    found: list[str] = []
    is_open = False
    sign = _continuing(lines) if is_dockerfile else "\\"
    for line in lines:
        text = line.rstrip()
        if is_open and is_dockerfile and (not text or text.lstrip().startswith("#")):
            found.append(" " * len(line))
            continue
        code = text if is_dockerfile else line.rstrip("\r\n")
        is_open = code.endswith(sign) and len(line) > len(code) and _COMMENT.search(line) is None
        found.append(code[:-1].ljust(len(line)) if is_open else line)
    return "".join(found)


def _continuing(lines: Sequence[str]) -> str:
    """What continues a line of a Dockerfile: a backslash, or what a directive in its first lines names instead."""
    for line in lines:
        directive = _DIRECTIVE.match(line)
        if not directive:
            break
        if directive["name"].lower() == "escape":
            return directive["value"]
    return "\\"


def _opens(code: str, name: re.Match[str]) -> bool:
    """Whether a quote stands in front of "NAME=", so that the value ends with it."""
    return code[max(name.start() - 1, 0)] in "\"'" and code.startswith("=", name.end())


def read(path: str, source: str) -> tuple[Carry, ...]:
    """The carries of a file of any of these kinds."""
    pasted = _pasted(source)
    given = {match["value"] for match in islice(_HANDED.finditer(source), _MOST)}
    own = CAPABILITIES if is_kernel_package(path) else ()
    handed = frozenset((*pasted, *islice(sorted(given), _MOST_HANDED), *own))
    names, receivers = list_names(handed), _receivers(source)
    to_cmake = frozenset(islice((match["value"] for match in _TO_CMAKE.finditer(source)), _MOST_HANDED))
    reader = _LineReader(path, source, Places(source), handed, names, pasted, to_cmake, receivers=receivers)
    if is_kernel_package(path):
        return with_sources(source, reader.read())
    compiled = sources_by_line(source, is_make=is_makefile(path)) if ".cu" in source else {}
    return tuple(replace(carry, sources=tuple(compiled.get(carry.at[0], ()))) for carry in reader.read())


def _pasted(source: str) -> dict[str, _Ptx]:
    """The variables whose members stand in flags, `compute_$arch`, directly or by a loop."""
    parts = {match["part"] for match in islice(_PASTED.finditer(source), _MOST)}
    kept = {match["part"] for match in islice(_PASTED_PTX.finditer(source), _MOST)}
    if "1" in parts:  # the parameter of a function of make
        parts |= {match["part"] for match in islice(_CALLED.finditer(source), _MOST)}
    loops = list(islice(_LOOP.finditer(source), _MOST)) if parts else []
    members = {loop["loop"] or loop["meson"] or loop["make"]: loop["list"] for loop in loops}
    names = {*parts, *(listed for member, listed in members.items() if member in parts)}
    whole = {*kept, *(listed for member, listed in members.items() if member in kept)}
    other: _Ptx = "last" if kept - members.keys() else "none"
    short = {match["part"] for match in islice(_SHORTHAND.finditer(source), _MOST)}
    found: dict[str, _Ptx] = {name: "all" if name in whole else other for name in islice(sorted(names), _MOST_HANDED)}
    return {name: "shorthand" if name in short else ptx for name, ptx in found.items()}


def _receivers(source: str) -> dict[str, str]:
    """What others are handed on to, by their names in lower case, where a framework's own reader takes it."""
    found: dict[str, str] = {}
    for match in islice(_HANDED_ON.finditer(source), _MOST):
        before = _LAST_WORD.search(source[max(0, match.start() - _LONGEST_NAME) : match.start()])
        receiver = f"{before[0] if before else ''}{match['receiver']}"
        if refuses_family(receiver):
            found.setdefault(match["value"].lower(), receiver)
    return found
