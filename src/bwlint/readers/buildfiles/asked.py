"""CMake conditions on the requested targets, tried for every target and spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq, ge, gt, le, lt

from bwlint.chips import ALL_TARGETS
from bwlint.chips.toolkits import version
from bwlint.readers.buildfiles.cmake_syntax import expanded
from bwlint.readers.buildfiles.patterns import compiled

Truth = bool | None
"""None: not known."""

Leaf = Callable[[Sequence[str]], Truth]
"""The truth of one test, given as its words."""

_DEEPEST = 40
_WORDS = frozenset({"AND", "OR", "NOT", "(", ")"})
_CUDA_VERSION = re.compile(r"(?:\$\{)?\w*(?:CUDA|NVCC)\w*VERSION\w*\}?", re.I)
_PART = re.compile(r"VERSION_?(MAJOR|MINOR)", re.I)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+){0,3}")
_ORDERS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]
_ORDERS = {"GREATER_EQUAL": ge, "GREATER": gt, "LESS": lt, "LESS_EQUAL": le, "EQUAL": eq}


def truth(words: Sequence[str], leaf: Leaf) -> Truth:
    """The truth of a condition whose tests `leaf` answers. Broken and absurdly deep ones are not known."""
    if words.count("(") > _DEEPEST:
        return None
    value, rest = _either(words, 0, leaf)
    return value if rest == len(words) else None


def _either(words: Sequence[str], place: int, leaf: Leaf) -> tuple[Truth, int]:
    value, place = _negated(words, place, leaf)
    values, operators = [value], []
    while place < len(words) and words[place] in ("AND", "OR"):
        operators.append(words[place])
        value, place = _negated(words, place + 1, leaf)
        values.append(value)
    return _reduced(values, operators), place


def _reduced(values: list[Truth], operators: list[str]) -> Truth:
    """CMake joins neighbours pair by pair: a AND b AND c OR d is (a AND b) AND (c OR d)."""
    while operators:
        pairs = range(0, len(values) - 1, 2)
        joined = [_joined(operators[place], values[place], values[place + 1]) for place in pairs]
        values, operators = [*joined, *values[2 * len(joined) :]], operators[1::2]
    return values[0]


def _joined(operator: str, one: Truth, other: Truth) -> Truth:
    return _both(one, other) if operator == "AND" else _not(_both(_not(one), _not(other)))


def _negated(words: Sequence[str], place: int, leaf: Leaf) -> tuple[Truth, int]:
    odd = False
    while place < len(words) and words[place] == "NOT":
        odd, place = not odd, place + 1
    if place < len(words) and words[place] == "(":
        value, place = _either(words, place + 1, leaf)
        place += 1
    else:
        start = place
        while place < len(words) and words[place] not in _WORDS:
            place += 1
        value = leaf(words[start:place])
    return (_not(value) if odd else value), place


def _both(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    return True if one and other else None


def _not(value: Truth) -> Truth:
    return None if value is None else not value


def on_toolkit(release: str) -> Leaf:
    """Tests of the CUDA version with a number, as they come out under a release."""

    def leaf(words: Sequence[str]) -> Truth:
        if len(words) == 2 and words[0] == "DEFINED":
            return True if _CUDA_VERSION.fullmatch(words[1]) else None
        if len(words) != 3 or not _CUDA_VERSION.fullmatch(words[0]) or not _NUMBER.fullmatch(words[2]):
            return None
        return compared(words[1].removeprefix("VERSION_"), _part(release, words[0]), words[2])

    return leaf


def _part(release: str, name: str) -> str:
    """What a variable of this name holds of a release: CUDAToolkit_VERSION_MAJOR is 12 of 12.8."""
    part = _PART.search(name)
    return release if part is None else release.split(".")[part[1].upper() == "MINOR"]


def compared(test: str, one: str, other: str) -> Truth:
    """Two numbers, or versions, in an order; what is no number is in none."""
    order = _ORDERS.get(test)
    if order is None or not _NUMBER.fullmatch(other):
        return None
    return _NUMBER.fullmatch(one) is not None and order(_padded(one), _padded(other))


def _padded(text: str) -> tuple[int, ...]:
    return (*version(text), 0, 0, 0)[:4]


ARCH_NAME = re.compile(r"arch", re.I)
"""A variable that is called so holds a list of architectures, where nothing else is known of it."""
_WHOLE = re.compile(r"\$\{(\w+)\}")
_FOREACH_WORDS = frozenset({"IN", "LISTS", "ITEMS"})
_CALLS = frozenset({"set", "string", "list"})
_LONGEST = 60
_FALSE = frozenset({"", "0", "OFF", "NO", "N", "FALSE", "NOTFOUND"})

Texts = Mapping[str, tuple[str, ...]]
"""What is known of the other variables of a file."""


@dataclass(slots=True)
class _World:
    """One target in one spelling; a variable that holds None is not known."""

    target: str
    spelling: str
    held: dict[str, str | None] = field(default_factory=dict)

    def of(self, word: str) -> str | None:
        """What a variable holds, by its name or a reference to it."""
        whole = _WHOLE.fullmatch(word)
        name = whole[1] if whole else word
        if name in self.held:
            return self.held[name]
        return self.spelling if ARCH_NAME.search(name) and re.fullmatch(r"\w+", name) else None


def dotted(name: str) -> str:
    number = name.rstrip("af")
    return f"{number[:-1]}.{number[-1]}{name[len(number) :]}"


NAMES = tuple(target.name.removeprefix("sm_") for target in ALL_TARGETS)


@dataclass(slots=True)
class AskedTargets:
    """The variables of a file for each target that may be asked for."""

    joined: tuple[_World, ...] = field(default_factory=lambda: tuple(_World(name, name) for name in NAMES))
    dotted: tuple[_World, ...] = field(default_factory=lambda: tuple(_World(name, dotted(name)) for name in NAMES))

    def loop(self, words: Sequence[str]) -> None:
        """`foreach(arch IN LISTS ARCHS)`: a loop over names that are written out asks for nothing."""
        name, *items = (word for word in words if word not in _FOREACH_WORDS)
        for world in (*self.joined, *self.dotted):
            world.held[name] = next((text for item in items if (text := world.of(item)) is not None), None)

    def detected(self, words: Sequence[str]) -> None:
        """`execute_process(COMMAND nvidia-smi --query-gpu=compute_cap OUTPUT_VARIABLE CAP)`: that of the chip, bare."""
        asked = "OUTPUT_VARIABLE" in words[:-1] and any("compute_cap" in word for word in words)
        for world in (*self.joined, *self.dotted) if asked else ():
            world.held[words[words.index("OUTPUT_VARIABLE") + 1]] = dotted(world.target).rstrip("af")

    def run(self, name: str, words: Sequence[str], admitted: frozenset[str]) -> frozenset[str] | None:
        """Follow a command where the targets in `admitted` get; those that a filter of a list keeps."""
        if name not in _CALLS or len(words) < 2 or not self._concerns(words):
            return None
        for world in (*self.joined, *self.dotted):
            if world.target in admitted:
                _follow(world, name, words)
        if name != "list" or words[0] != "FILTER":
            return None
        kept = (frozenset(one.target for one in worlds if one.of(words[1])) for worlds in (self.joined, self.dotted))
        return next((targets for targets in kept if 0 < len(targets) < len(NAMES)), None)

    def _concerns(self, words: Sequence[str]) -> bool:
        """Whether a command names a variable that depends on the target."""
        first = self.joined[0]
        return any(word in first.held or first.of(word) is not None for word in words)

    def admitted(self, words: Sequence[str], texts: Texts) -> frozenset[str] | None:
        """The targets for which a condition may hold; None if it does not tell them apart."""
        if not self._concerns(words):
            return None
        for worlds in (self.joined, self.dotted):
            answers = {world.target: truth(words, _leaf(world, texts)) for world in worlds}
            if len(set(answers.values())) > 1:
                return frozenset(name for name, answer in answers.items() if answer is not False)
        return None


def _leaf(world: _World, texts: Texts) -> Leaf:
    """Tests of what the target decides, as they come out for it."""

    def leaf(words: Sequence[str]) -> Truth:
        if len(words) == 1 and (held := world.held.get(words[0])) is not None:
            return held.upper() not in _FALSE
        if len(words) != 3:
            return None
        left, test, right = words
        right = expanded(right, lambda name: ";".join(texts[name]) if name in texts else None)
        if test == "IN_LIST":
            held, sought = world.of(words[2]), world.of(left) if _WHOLE.fullmatch(left) else left
            return None if held is None or sought is None or not sought[:1].isdigit() else held == sought
        held = world.of(left)
        if held is None or "${" in right:
            return None
        if test == "MATCHES":
            regex = compiled(right)
            return None if regex is None else regex.search(held)
        if test == "STREQUAL":
            return held == right
        return compared(test.removeprefix("VERSION_"), held, right)

    return leaf


def _follow(world: _World, name: str, words: Sequence[str]) -> None:
    """What a variable holds after a command that gives it something."""
    if name == "set":
        _set(world, words)
    for form, change in _CHANGES.items():
        if (name, *words)[: len(form)] == form:
            target, value = change(world, words[len(form) - 1 :])
            if target:
                world.held[target] = None if value is None else value[:_LONGEST]
            return


def _set(world: _World, words: Sequence[str]) -> None:
    """A variable stands for another one. A list that is written out is a default, and other names are asked for too."""
    name, *values = words
    other = world.of(values[0]) if len(values) == 1 and _WHOLE.fullmatch(values[0]) else None
    if other is not None:
        world.held[name] = other
    elif name in world.held:
        world.held[name] = values[0][:_LONGEST] if len(values) == 1 and "${" not in values[0] else None


_Change = Callable[[_World, Sequence[str]], tuple[str, str | None]]


def _replaced(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    old, new, out, *rest = (*words, "", "")[: max(len(words), 4)]
    text = world.of(rest[0]) if rest else None
    return out, text.replace(old, new) if text is not None and old and "${" not in old + new else None


def _regex_replaced(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    if len(words) < 4:
        return "", None
    pattern, new, out, source = words[:4]
    text, regex = world.of(source), compiled(pattern)
    known = text is not None and regex is not None and "\\" not in new and "${" not in pattern + new
    return out, regex.replaced(new, text) if known and regex and text is not None else None


def _regex_matched(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    if len(words) < 3:
        return "", None
    pattern, out, source = words[:3]
    text, regex = world.of(source), compiled(pattern)
    if text is None or regex is None or "${" in pattern:
        return out, None
    found = regex.find(text, 0)
    return out, text[found[0] : found[1]] if found else ""


def _found(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    """`string(FIND text part out)`: the place, or -1."""
    text, part, out = (*words, "", "", "")[:3]
    held = world.of(text) if "${" not in part else None
    return out, None if held is None else str(held.find(part))


def _listed_at(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    """`list(FIND LIST name out)`: of the names that are asked for, this one is the only one known."""
    listed, name, out = (*words, "", "", "")[:3]
    held = world.of(listed) if "${" not in name else None
    return out, None if held is None else "0" if held == name else "-1"


def _substring(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    if len(words) < 4:
        return "", None
    text = world.of(words[0])
    known = text is not None and words[1].isdigit() and words[2].lstrip("-").isdigit()
    if not known or text is None:
        return words[3], None
    start, length = int(words[1]), int(words[2])
    return words[3], text[start:] if length < 0 else text[start : start + length]


def _filtered(world: _World, words: Sequence[str]) -> tuple[str, str | None]:
    if len(words) < 4 or words[2] != "REGEX":
        return "", None
    held, regex = world.of(words[0]), compiled(words[3])
    if held is None or regex is None or "${" in words[3]:
        return words[0], None
    return words[0], held if regex.search(held) == (words[1] == "INCLUDE") else ""


_CHANGES: dict[tuple[str, ...], _Change] = {
    ("string", "REPLACE"): _replaced,
    ("string", "REGEX", "REPLACE"): _regex_replaced,
    ("string", "REGEX", "MATCH"): _regex_matched,
    ("string", "FIND"): _found,
    ("string", "SUBSTRING"): _substring,
    ("list", "FIND"): _listed_at,
    ("list", "FILTER"): _filtered,
    ("list", "REMOVE_ITEM"): lambda world, words: (words[0], "" if (held := world.of(words[0])) in words[1:] else held),
}
