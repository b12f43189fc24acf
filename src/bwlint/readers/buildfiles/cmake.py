"""CMake files: their lists of architectures, under which toolkits and for which sources, and what conditions let in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bwlint.chips import all_chips
from bwlint.chips.flags import PLAIN, WITHOUT_A_NAME, Flag, find_flags
from bwlint.chips.hosts import host_of, of_condition, of_denied
from bwlint.chips.toolkits import Toolkits, bounds, every_toolkit
from bwlint.model.expr import Span
from bwlint.model.facts import Carry
from bwlint.model.kinds import CarryKind
from bwlint.readers.buildfiles.asked import ARCH_NAME, NAMES, AskedTargets, on_toolkit, truth
from bwlint.readers.buildfiles.cmake_syntax import (
    Argument,
    Bound,
    CmakeFunction,
    Command,
    block_end,
    commands,
    expanded,
    in_flags,
    items,
    parsed,
    run,
)
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.targets import Listed, loose_intersection, parse_list

_OFFERED = re.compile(r"support|allow|valid|known", re.I)
_BUILT_BY_CMAKE = re.compile(r"CUDA_ARCHITECTURES")
_HANDED = re.compile(r"CUDA_ARCHITECTURES[\s\"]{1,20}\$\{(\w{1,60})\}")
_KEPT = re.compile(r"\d[a-z]?-(?:real|virtual)\b")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(r"\$\{(\w+)\}")
_MAKES = re.compile(r"(?:^|_)add_(?!custom|test|sub|def)|^target_sources$")
"""Commands that make a target of sources, or add to it."""
_LONGEST_TEXT = 80
_ABOVE = frozenset({"GREATER", "GREATER_EQUAL", "VERSION_GREATER", "VERSION_GREATER_EQUAL"})
_BELOW = frozenset({"LESS", "LESS_EQUAL", "VERSION_LESS", "VERSION_LESS_EQUAL"})
_OFF = frozenset({"OFF", ""})
_END_OF_SET = frozenset({"CACHE", "PARENT_SCOPE"})
_SOURCE = re.compile(r"\.cu$")
_BLOCKS = frozenset({"if", "foreach", "while", "function", "macro", "block"})
_BUILT_IN = _BLOCKS | frozenset({"set", "list", "message", "string", "elseif", "set_property", "option"})
_MOST = 2000
_MOST_COMMANDS = 50_000
"""Those of a file, with what its loops and calls repeat."""
_MEMBERS_OF_A_COMMAND = 64
"""How many members of a list that grows cost as much as one more command."""
_MOST_TEXT = 16_000_000
"""Characters that the variables of a file hold besides what is written there."""
_DEEPEST_CALL = 4


@dataclass(frozen=True, slots=True)
class _BuildArm:
    """A branch above a command: `chain` counts the ifs of the file, `place` the branches of one."""

    chain: int
    place: int
    toolkits: Toolkits


@dataclass(slots=True)
class _If:
    """An open if(): its branches so far, for what its next one may still be."""

    arm: _BuildArm
    open: Toolkits
    block: str
    name: str = ""
    filter: int | None = None
    admits: frozenset[str] = frozenset()
    body: int = 0
    host: str = ""
    rest: str = ""
    """The host of the next branches, where they have one."""
    lists: frozenset[str] = frozenset()
    """The lists that the condition looks into."""
    refuses: bool = False
    bounds: frozenset[str] = frozenset()
    """The variables that the condition asks whether something is above."""
    by_default: bool = False
    """Whether it is taken where nobody says what to compile for."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What a variable may hold: the carry that it makes, under the branches around."""

    carry: int
    path: tuple[_BuildArm, ...]


_NO_LIST = -1
_INHERITED = -2
_OWN_LIST = "CMAKE_CUDA_ARCHITECTURES"


@dataclass(slots=True)
class _Made:
    """A target: its sources, and the list that it is compiled for where it gets none of its own."""

    default: int | None
    at: Span
    sources: tuple[str, ...] = ()


@dataclass(slots=True)
class _CmakeFile:
    source: str
    places: Places
    handed: frozenset[str] = frozenset()
    """The variables that CMake's own list or property is given."""
    carries: list[Carry] = field(default_factory=list)
    stack: list[_If] = field(default_factory=list)
    chains: int = 0
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, list[_Value]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Lists that something unknown was added to."""
    offered: set[str] = field(default_factory=set)
    built: set[str] = field(default_factory=set)
    """Lists that every target is compiled for, whatever they are called."""
    refusing: set[str] = field(default_factory=set)
    """Lists of which a name that is not there ends in an error."""
    unaccepted: set[str] = field(default_factory=set)
    """The targets for which a condition ends in an error."""
    ceilings: dict[str, bool] = field(default_factory=dict)
    """The variables that a target may not be above, and whether nothing works for one that is."""
    numbers: dict[str, tuple[Listed, Span]] = field(default_factory=dict)
    """Lists of targets whose names do not say that they are."""
    sought: dict[str, str] = field(default_factory=dict)
    """The lists that list(FIND) looked into, by the variable that got the place."""
    kernels: set[str] = field(default_factory=set)
    asked: AskedTargets = field(default_factory=AskedTargets)
    made: dict[str, _Made] = field(default_factory=dict)
    default: int | None = _INHERITED
    """The carry of the list of targets made here, `_NO_LIST`, `_INHERITED` from the file above; None: not known."""
    everywhere: list[int] = field(default_factory=list)
    """The flags that every target gets."""
    lists: dict[str, tuple[Argument, ...]] = field(default_factory=dict)
    """What variables hold, as it is written."""
    given: dict[str, int] = field(default_factory=dict)
    """How often each is set."""
    written: dict[int, tuple[Argument, ...]] = field(default_factory=dict)
    """The members of lists, by their carries."""
    functions: dict[str, CmakeFunction] = field(default_factory=dict)
    calls: int = 0
    """Those that are open."""
    left: int = _MOST_COMMANDS
    room: int = _MOST_TEXT
    known: dict[tuple[CarryKind, str, Span], int] = field(default_factory=dict)

    def read(self) -> tuple[Carry, ...]:
        self._run(tuple(commands(self.source)), {})
        for made in self.made.values():
            if not made.sources:
                continue
            if made.default == _INHERITED:
                self.carries.append(Carry("inherited", _OWN_LIST, (), (), made.at, sources=made.sources))
            elif made.default == _NO_LIST:
                for carry in self.everywhere:
                    self._compiles(carry, made.sources)
            elif made.default is not None:
                self._compiles(made.default, made.sources)
        self._hand_on()
        return tuple(
            one for one in map(self._by_use, self.carries) if one.kind != "ceiling" or one.name in self.ceilings
        )

    def _hand_on(self) -> None:
        """Say what files below are compiled for: the list made here, or the flags that every target gets."""
        places = self.everywhere if self.default == _NO_LIST else []
        if self.default is not None and self.default >= 0:
            places = [self.default]
        told = [self.carries[place] for place in places]
        if not told or any(one.kind == "asked" for one in told):
            return
        sass = tuple(dict.fromkeys(name for one in told for name in one.sass))
        ptx = tuple(dict.fromkeys(name for one in told for name in one.ptx))
        self.carries.append(Carry("inherited", _OWN_LIST, sass, ptx, told[0].at, toolkit=told[0].toolkit))

    def _run(self, body: Sequence[Command], bound: Bound) -> None:
        """The commands of a body with what its variables stand for; a loop over members of flags, once for each."""
        place = 0
        while place < len(body) and len(self.carries) <= _MOST and self.left:
            self.left -= 1
            command = run(body[place], bound)
            if command.name == "cmake_parse_arguments":
                bound = {**bound, **parsed(command, bound)}
            end = block_end(body, place) if command.name in ("foreach", "function", "macro") else place
            inner = body[place + 1 : end]
            if command.name in ("function", "macro") and command.arguments:
                name, *parameters = command.words
                self.functions[name.lower()] = CmakeFunction(tuple(parameters), inner)
            members = items(command, inner, self.lists) if command.name == "foreach" else ()
            self._command(command)
            for member in members:
                self._run(inner, {**bound, command.words[0]: (member,)})
            place = end if members else place + 1

    def _by_use(self, carry: Carry) -> Carry:
        """A list with the kind that its uses give it: offered to a kernel, or a filter of names."""
        if carry.kind == "asked":
            return replace(carry, sass=tuple(name for name in carry.sass if name not in self.unaccepted))
        if carry.name in self.ceilings and carry.is_a("list", "ceiling") and len(carry.sass) == 1:
            return replace(carry, kind="ceiling", refuses=self.ceilings[carry.name])
        if not carry.is_a("list", "piece") or carry.name not in self.kernels | self.offered or carry.name in self.built:
            return carry
        if carry.name in self.kernels:
            return replace(carry, kind="kernel", text=carry.kind)
        return replace(carry, kind="filter", refuses=carry.name in self.refusing)

    def _command(self, command: Command) -> None:
        if command.name == "if":
            self._branch(command, every_toolkit(), 0, ())
        elif command.name in ("elseif", "else") and self.stack and self.stack[-1].block == "if":
            last = self._close(command)
            self._branch(command, last.open, last.arm.place + 1, (last,))
        elif command.name in _BLOCKS:
            self.chains += 1
            name = command.words[0] if command.arguments and command.name in ("function", "macro") else ""
            self.stack.append(_If(_BuildArm(self.chains, 0, every_toolkit()), every_toolkit(), command.name, name))
            if command.name == "foreach" and command.arguments:
                self.asked.loop(command.words)
        elif command.name.startswith("end") and self.stack:
            self._close(command)
        else:
            self._plain(command)
        self._note_offers(command)

    def _branch(self, command: Command, still_open: Toolkits, place: int, before: Sequence[_If]) -> None:
        outcomes = {release: truth(command.words, on_toolkit(release)) for release in every_toolkit()}
        if command.name == "else":
            outcomes = dict.fromkeys(every_toolkit(), True)
        may = frozenset(release for release in still_open if outcomes[release] is not False)
        left = frozenset(release for release in still_open if outcomes[release] is not True)
        if before:
            chain = before[0].arm.chain
        else:
            self.chains += 1
            chain = self.chains
        condition = " ".join(command.words) if command.name != "else" else ""
        rest = before[0].rest if before else ""
        host = of_condition(condition) or rest
        entry = _If(_BuildArm(chain, place, may), left, "if", host=host, rest=rest or of_denied(condition))
        entry.lists = self._looked_into(command.words)
        entry.bounds = _bounds(command.words)
        self.ceilings |= {name: self.ceilings.get(name, False) for name in entry.bounds}
        entry.by_default = not before and command.words[:1] == ("NOT",) and _OWN_LIST in command.words[1:3]
        self.stack.append(entry)
        admits = self.asked.admitted(command.words, self.texts)
        if admits is not None:
            entry.filter = self._match(command, admits)
            entry.admits = admits

    def _match(self, command: Command, admits: frozenset[str]) -> int:
        at = self.places.span(command.arguments[0].start, command.arguments[-1].end)
        return self._add("match", " ".join(command.words), Listed(tuple(sorted(admits)), (), True), at)

    def _close(self, command: Command) -> _If:
        """Leave a branch. One that only refuses, or leaves, lets through what its condition does not hold for."""
        entry = self.stack.pop()
        if entry.filter is not None:
            carry, end = self.carries[entry.filter], self.places.span(command.start, len(self.source))
            own = Span(*carry.at[2:], *end[:2])
            self.carries[entry.filter] = replace(carry, arm=end if entry.body < 0 else own)
        if entry.filter is not None and entry.body < 0:
            rest = frozenset(NAMES) - entry.admits
            carry = self.carries[entry.filter]
            self.carries[entry.filter] = replace(carry, sass=tuple(sorted(rest)))
            self.unaccepted |= entry.admits if entry.refuses else frozenset()
        if entry.refuses and entry.body < 0:
            self.refusing |= entry.lists
        return entry

    def _expanded(self, value: Argument) -> str:
        """A value with what variables hold, while the file has room for it: forty lines may double one forty times."""
        if self.room < 0:
            return value.text
        text = expanded(value.text, lambda name: ";".join(self.texts[name]) if name in self.texts else None)
        self.room -= len(text) - len(value.text)
        return text

    def _plain(self, command: Command) -> None:
        self._count(command)
        for name in self.stack[-1].bounds if self.stack else ():
            clamped = any(f"${{{name}}}-real" in word for word in command.words)
            self.ceilings[name] = self.ceilings[name] or clamped or self.stack[-1].refuses
        if command.name == "execute_process":
            self.asked.detected(command.words)
        live = [entry.admits for entry in self.stack if entry.filter is not None]
        kept = self.asked.run(command.name, command.words, frozenset(NAMES).intersection(*live))
        if kept is not None:
            self._match(command, kept)
        if command.name == "set" and command.arguments:
            self._set(command)
        elif command.name == "list" and command.words[:1] in (("APPEND",), ("PREPEND",)) and len(command.words) > 1:
            self._append(command)
        elif command.name in ("set_property", "set_target_properties"):
            self._property(command)
        elif command.name == "file" and command.words[:1] in (("GLOB",), ("GLOB_RECURSE",)) and command.words[1:]:
            self.texts[command.words[1]] = command.words[2:]
        elif command.name not in _BUILT_IN:
            self._call(command)
        self._flags(command)

    def _count(self, command: Command) -> None:
        """Say of the innermost branch whether it does anything but refuse: -1 so far not, 1 it does."""
        if not self.stack:
            return
        entry = self.stack[-1]
        error = command.name == "message" and command.words[:1] in (("FATAL_ERROR",), ("SEND_ERROR",))
        refusal = command.name == "return" or error
        entry.refuses = entry.refuses or error
        if entry.body == 0 or not refusal:
            entry.body = -1 if refusal else entry.body if entry.body < 0 or command.name == "message" else 1

    def _set(self, command: Command) -> None:
        name, *values = command.arguments
        ends = [place for place, argument in enumerate(values) if argument.text in _END_OF_SET]
        values = values[: ends[0]] if ends else values
        self.lists[name.text] = tuple(values)
        self.given[name.text] = self.given.get(name.text, 0) + 1
        self.texts[name.text] = tuple(map(self._expanded, values))
        known = len(self.carries)
        self._assigned(name.text, values, "list", replaces=True)
        if ends and ARCH_NAME.search(name.text) and all(value.text in _OFF for value in values):
            self._proposed(name.text, command.arguments[-1])
        if name.text == _OWN_LIST:
            self.built.update(reference for value in values for reference in _REFERENCE.findall(value.text))
            off = all(value.text in _OFF for value in values)
            held = self._built_of(values) if len(self.carries) == known or ends else [known]
            listed = held[0] if len(held) == 1 else None
            decided = all(entry.by_default for entry in self.stack)
            self.default = None if not decided else _NO_LIST if off else listed

    def _built_of(self, values: Sequence[Argument]) -> list[int]:
        """The lists that a value refers to, which CMake compiles for: a bare number in them stands for PTX too."""
        held = self._held(_REFERENCE.findall(";".join(value.text for value in values)))
        for place in held:
            listed = _listed(self.written.get(place, ()), with_ptx=True)
            if listed is not None and self.carries[place].kind != "gencode":
                self.carries[place] = replace(self.carries[place], ptx=listed.ptx)
        return held

    def _held(self, names: Sequence[str]) -> list[int]:
        """What variables hold, where nothing unknown was added to it."""
        return [] if self.open & set(names) else [value.carry for name in names for value in self.values.get(name, ())]

    def _append(self, command: Command) -> None:
        name, *values = command.arguments[1:]
        if name.text == _OWN_LIST:
            self.default = None
        self.lists[name.text] = (*self.lists.get(name.text, ()), *values)
        self.left = max(0, self.left - len(self.lists[name.text]) // _MEMBERS_OF_A_COMMAND)
        added = tuple(map(self._expanded, values))
        self.texts[name.text] = (*self.texts.get(name.text, ()), *added)
        self._assigned(name.text, values, "piece", replaces=False)

    def _assigned(self, name: str, values: Sequence[Argument], kind: CarryKind, *, replaces: bool) -> None:
        listed = _listed(values, with_ptx=_BUILT_BY_CMAKE.search(name) is not None)
        self._give_sources(values)
        if replaces:
            self.open.discard(name)
        if (word := values[0].text if len(values) == 1 else "") in WITHOUT_A_NAME and _BUILT_BY_CMAKE.search(name):
            place = self._add("asked", name, Listed(PLAIN, (), True), self._around(values), word)
            self._hold(name, place, replaces=replaces)
            return
        in_forms = any(_KEPT.search(value.text) for value in values)  # `90-real` is nothing but a target
        if listed is None or not (ARCH_NAME.search(name) or name in self.handed or in_forms):
            if listed is not None and replaces and len(values) == 1:
                self._add("ceiling", name, listed, self._around(values))
            elif listed is not None and replaces:
                self.numbers[name] = listed, self.places.span(values[0].start, values[-1].end)
            if replaces:
                self.values[name] = self._elsewhere(name)
            else:
                self._joined(name, values)
            return
        if _OFFERED.search(name):
            self.offered.add(name)
        if kind == "list" and "CMAKE_CUDA_ARCHITECTURES" in name:
            kind = "request"
        place = self._add(kind, name, listed, self._around(values))
        self.written[place] = tuple(values)
        self._hold(name, place, replaces=replaces)

    def _proposed(self, name: str, told: Argument) -> None:
        """`set(X "" CACHE STRING "such as 120")`: the plain targets that the text of an empty variable gives."""
        words = map(parse_list, re.split(r"[\s;,()\"']+", told.text.rstrip(".")))
        named = [one for listed in words if listed is not None for one in listed.sass]
        sass = tuple(one for one in named if one.isdigit() and not {f"{one}a", f"{one}f"} & set(named))
        if sass:
            at = self.places.span(told.start, told.end)
            self._hold(
                name,
                self._add("asked", name, Listed(sass, (), True), at, f"its text ({told.text[:_LONGEST_TEXT]})"),
                replaces=True,
            )

    def _joined(self, name: str, added: Sequence[Argument]) -> None:
        """A list that others are added to: it holds theirs too, or nobody knows what it holds."""
        names = [reference for argument in added for reference in _REFERENCE.findall(argument.text)]
        if not self.values.get(name):
            return
        if names and all(map(self.values.get, names)):
            self.values[name] = [*self.values[name], *(value for other in names for value in self.values[other])]
        else:
            self.open.add(name)

    def _around(self, values: Sequence[Argument]) -> Span:
        return self.places.span(values[0].start, max(values[0].end, values[-1].end))

    def _hold(self, name: str, carry: int, *, replaces: bool) -> None:
        """The variable holds a carry; what it held before stays only in the other branches."""
        kept = self._elsewhere(name) if replaces else self.values.get(name, ())
        self.values[name] = [*kept, _Value(carry, tuple(entry.arm for entry in self.stack))]

    def _elsewhere(self, name: str) -> list[_Value]:
        """What a variable holds in the other branches."""
        path = tuple(entry.arm for entry in self.stack)
        return [value for value in self.values.get(name, ()) if _exclusive(value.path, path)]

    def _property(self, command: Command) -> None:
        words = command.words
        for place, word in enumerate(words):
            if word != "CUDA_ARCHITECTURES":
                continue
            values = command.arguments[place + 1 :]
            values = values if command.name == "set_property" else values[:1]
            listed = _listed(values, with_ptx=True)
            own = [self.made[name] for name in words[:place] if name in self.made]
            for made in own if not self.stack else ():
                made.default = _NO_LIST if all(value.text in _OFF for value in values) else None
            held = self._built_of(values)
            if listed is not None:
                held = [self._add("list", word, listed, self.places.span(values[0].start, values[-1].end))]
            for carry in held:
                self._compiles(carry, [source for made in own for source in made.sources])

    def _call(self, command: Command) -> None:
        """A function of the project: one that makes a list of what is offered and asked for, or one that uses it."""
        if "arch" in command.name and self._offers(command):
            return
        if (called := self.functions.get(command.name)) is not None and self.calls < _DEEPEST_CALL:
            self.calls += 1
            self._run(called.body, called.bound(command.arguments))
            self.calls -= 1
        if "arch" in command.name and len(command.arguments) > 1:
            self._offered_by(command.arguments[0].text, command.arguments[1:])
        if _MAKES.search(command.name) and command.arguments:
            made = self.made.setdefault(
                command.words[0], _Made(self.default, self.places.span(command.start, command.end))
            )
            made.sources = (*made.sources, *self._sources(command.arguments[1:]))
        self._give_sources(command.arguments)

    def _offers(self, command: Command) -> bool:
        """Whether a command makes a list of what it is offered: `archs_of(OUT "9.0;12.0" ...)`."""
        for argument in command.arguments[1:]:
            listed, out = _listed([argument]), command.words[0]
            if listed is not None and _IDENTIFIER.fullmatch(out):
                at = self.places.span(argument.start, argument.end)
                self._hold(out, self._add("kernel", out, _built(argument.text, listed), at), replaces=True)
                return True
        return False

    def _sources(self, arguments: Sequence[Argument]) -> tuple[str, ...]:
        """The sources that a command names, or the variables in it; folders that are not known are left out."""
        words = [*(argument.text for argument in arguments)]
        words += [word for name in _REFERENCE.findall(" ".join(words)) for word in self.texts.get(name, ())]
        parts = (part for word in words for part in re.split(r"[;\s]", word))
        return tuple(dict.fromkeys(part.rpartition("}/")[2] for part in parts if _SOURCE.search(part)))

    def _compiles(self, place: int, sources: Iterable[str]) -> None:
        """The sources of a carry, besides those that it has."""
        carry = self.carries[place]
        self.carries[place] = replace(carry, sources=tuple(dict.fromkeys((*carry.sources, *sources))))

    def _offered_by(self, out: str, arguments: Sequence[Argument]) -> None:
        """`intersection(OUT "${OFFERED}" "${ASKED}")`: OUT is what OFFERED is, unless the request itself is cut."""
        names = [name for argument in arguments for name in _REFERENCE.findall(argument.text)]
        if names and self.values.get(names[0]) and out not in names:
            self.kernels.add(names[0])
            self.values[out] = self.values[names[0]]

    def _give_sources(self, arguments: Sequence[Argument]) -> None:
        """A command that names sources and a list of architectures says that these are compiled for those."""
        names = _REFERENCE.findall(" ".join(argument.text for argument in arguments))
        held = self._held(names)
        held += [entry.filter for entry in self.stack if entry.filter is not None]
        if not held:
            return
        sources = self._sources(arguments)
        for place in held if sources else ():
            self._compiles(place, sources)

    def _flags(self, command: Command) -> None:
        known = {name: self.lists[name] for name in in_flags(command) if self.given.get(name) == 1}
        command = run(command, {name: one for name, one in known.items() if len(one) == 1 and "$" not in one[0].text})
        sources = self._flagged(command)
        around = self.source[command.start : command.end]
        for argument in command.arguments:
            if "arch" not in argument.text and "gpu-name" not in argument.text:
                continue
            text = argument.text if argument.pasted else self.source[argument.start : argument.end]
            for flag in find_flags(text, around):
                ends = (0, argument.end - argument.start) if argument.pasted else (flag.start, flag.end)
                at = self.places.span(*(argument.start + end for end in ends))
                carry = self._of_list(flag, at) if argument.pasted else None
                if carry is None and flag.arch in WITHOUT_A_NAME:
                    carry = self._add("asked", "", Listed(flag.sass, (), True), at, flag.arch)
                elif carry is None:
                    carry = self._add("gencode", command.words[0], Listed(flag.sass, flag.ptx, True), at, flag.arch)
                self._compiles(carry, sources)
                for_all = command.name == "add_compile_options" or "CMAKE_CUDA_FLAGS" in command.words[:2]
                if for_all and all(entry.block == "foreach" for entry in self.stack):
                    self.everywhere.append(carry)

    def _of_list(self, flag: Flag, at: Span) -> int | None:
        """The list that a flag got its target from: it holds flags then. CMake compiles for its own one by itself."""
        place = next((place for place, one in enumerate(self.carries) if one.text == "" and one.at.holds(at)), None)
        if place is None or (carry := self.carries[place]).name == _OWN_LIST:
            return place
        begun = carry if carry.kind == "gencode" else replace(carry, kind="gencode", sass=(), ptx=())
        sass = tuple(dict.fromkeys((*begun.sass, *flag.sass)))
        self.carries[place] = replace(begun, sass=sass, ptx=tuple(dict.fromkeys((*begun.ptx, *flag.ptx))))
        return place

    def _flagged(self, command: Command) -> Sequence[str]:
        """The sources that get flags, where no list of architectures adds to these."""
        if not command.arguments:
            return ()
        bare = [made for made in self.made.values() if made.default == _NO_LIST]
        if command.name in ("target_compile_options", "set_target_properties"):
            return [source for made in bare if self.made.get(command.words[0]) is made for source in made.sources]
        if command.name != "set_source_files_properties":
            return ()
        known = {source for made in bare for source in made.sources}
        return [source for source in self._sources(command.arguments) if source in known]

    def _note_offers(self, command: Command) -> None:
        """The lists that are looked into accept names: `if(name IN_LIST list)`, `list(FIND list name)`."""
        words = command.words
        looked = [(words[at - 1], words[at + 1]) for at in range(1, len(words) - 1) if words[at] == "IN_LIST"]
        if command.name == "list" and words[:1] == ("FIND",) and len(words) > 3:
            looked.append((words[2], words[1]))
            self.sought[words[3]] = words[1]
        for name, listed in looked:
            if parse_list(name) is not None:
                continue
            self.offered.add(listed)
            if listed in self.numbers and ARCH_NAME.search(name):
                self._add("list", listed, *self.numbers.pop(listed))

    def _looked_into(self, words: Sequence[str]) -> frozenset[str]:
        """The lists that a condition looks into, also by the place that list(FIND) gave."""
        plain = [_REFERENCE.sub(r"\1", word) for word in words]
        listed = (plain[at + 1] for at in range(1, len(plain) - 1) if plain[at] == "IN_LIST")
        return frozenset((*listed, *(self.sought[word] for word in plain if word in self.sought)))

    def _add(self, kind: CarryKind, name: str, listed: Listed, at: Span, text: str = "") -> int:
        """The number of a carry; what a loop or a call comes to again is the same."""
        place = self.known.setdefault((kind, name, at), len(self.carries))
        if place < len(self.carries):
            return place
        toolkits = every_toolkit()
        for entry in self.stack:
            toolkits &= entry.arm.toolkits
        around = next((entry.name for entry in reversed(self.stack) if entry.name), "")
        self.carries.append(
            Carry(
                kind,
                name,
                listed.sass,
                listed.ptx,
                at,
                toolkit=bounds(toolkits),
                qualname=around,
                text=text,
                host=next((entry.host for entry in reversed(self.stack) if entry.host), host_of(name)),
                dotted=listed.dotted,
            )
        )
        return place


def read(source: str) -> tuple[Carry, ...]:
    """The carries of a CMake file."""
    return _CmakeFile(source, Places(source), frozenset(_HANDED.findall(source))).read()


def _bounds(words: Sequence[str]) -> frozenset[str]:
    """The variables that a condition asks whether something is above: `arch GREATER ${NEWEST}`."""
    plain = [_REFERENCE.sub(r"\1", word) for word in words]
    above = (plain[at + 1] for at, word in enumerate(plain[:-1]) if word in _ABOVE)
    below = (plain[at - 1] for at, word in enumerate(plain) if at and word in _BELOW)
    return frozenset(name for name in (*above, *below) if _IDENTIFIER.fullmatch(name))


def _listed(values: Sequence[Argument], *, with_ptx: bool = False) -> Listed | None:
    return parse_list(";".join(value.text for value in values), with_ptx=with_ptx)


def _built(text: str, listed: Listed) -> Listed:
    """What a filter builds of its list when every chip is asked for."""
    offered = [part for part in re.split(r"[;,\s]+", text) if part]
    try:
        built = loose_intersection(offered, [chip.name for chip in all_chips()])
    except ValueError:
        return listed
    return parse_list(";".join(built)) or listed


def _exclusive(one: Sequence[_BuildArm], other: Sequence[_BuildArm]) -> bool:
    """Whether two places are in different branches of one if()."""
    places = {arm.chain: arm.place for arm in one}
    return any(places.get(arm.chain, arm.place) != arm.place for arm in other)
