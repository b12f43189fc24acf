"""Replacements for libraries inside a slice: a chip's capability, a few helpers, and unknown values.

This runs in the child.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from bwlint.confirm.slicing.unread import (
    LONGEST_KEY,
    Choices,
    NotReached,
    SkipRaised,
    Undecided,
    UnknownValue,
    related,
    shown,
)


@dataclass(frozen=True, slots=True)
class ChipNumbers:
    """A compute capability; `smem` are the bytes of shared memory that a block may ask for, None: not known."""

    major: int
    minor: int
    smem: int | None


class DeviceCapability(NamedTuple):
    """vLLM's: a NamedTuple, which equals the plain tuple and is ordered with it, and never equals a number."""

    major: int
    minor: int

    def as_version_str(self) -> str:
        return f"{self.major}.{self.minor}"

    def to_int(self) -> int:
        return self.major * 10 + self.minor


def _by_pair(holds: Callable[[Any, Any], bool]) -> Callable[[Arch, object], bool]:
    def compare(self: Arch, other: object) -> bool:
        return holds(self._pair, other._pair) if isinstance(other, Arch) else NotImplemented

    return compare


class Arch(Enum):
    """CuTe DSL's: ordered by major and minor alone, and equal to members only. 10.1 is 11.0 in its later versions."""

    sm_80, sm_86, sm_87, sm_89 = (8, 0, ""), (8, 6, ""), (8, 7, ""), (8, 9, "")
    sm_90, sm_90a = (9, 0, ""), (9, 0, "a")
    sm_100, sm_100a, sm_100f = (10, 0, ""), (10, 0, "a"), (10, 0, "f")
    sm_103, sm_103a, sm_103f = (10, 3, ""), (10, 3, "a"), (10, 3, "f")
    sm_110, sm_110a, sm_110f = (11, 0, ""), (11, 0, "a"), (11, 0, "f")
    sm_101, sm_101a, sm_101f = sm_110, sm_110a, sm_110f
    sm_120, sm_120a, sm_120f = (12, 0, ""), (12, 0, "a"), (12, 0, "f")
    sm_121, sm_121a, sm_121f = (12, 1, ""), (12, 1, "a"), (12, 1, "f")

    def __init__(self, major: int, minor: int, suffix: str) -> None:
        self.major, self.minor, self.suffix = major, minor, suffix

    def is_family_of(self, arch: Arch) -> bool:
        return self.major == arch.major and self.minor >= arch.minor and self.suffix in ("a", "f")

    @classmethod
    def of(cls, chip: ChipNumbers) -> Arch:
        """The member that the DSL takes for the resident device; where it has none it raises before any test."""
        found = cls.__members__.get(f"sm_{chip.major}{chip.minor}{'a' if chip.major >= 9 else ''}")
        if found is None or found._pair != (chip.major, chip.minor):
            raise NotReached
        return found

    __lt__, __le__, __gt__, __ge__ = map(_by_pair, (operator.lt, operator.le, operator.gt, operator.ge))

    @property
    def _pair(self) -> tuple[int, int]:
        return (self.major, self.minor)


VALUES: dict[str, Callable[[ChipNumbers], Any]] = {
    "tuple": lambda chip: (chip.major, chip.minor),
    "named": lambda chip: DeviceCapability(chip.major, chip.minor),
    "joined": lambda chip: chip.major * 10 + chip.minor,
    "major": lambda chip: chip.major,
    "minor": lambda chip: chip.minor,
    "version": lambda chip: f"{chip.major}.{chip.minor}",
    "digits": lambda chip: f"{chip.major}{chip.minor}",
    "sm": lambda chip: f"sm_{chip.major}{chip.minor}",
    "sm-suffixed": lambda chip: f"sm_{chip.major}{chip.minor}{'a' if chip.major >= 9 else ''}",
    "true": lambda _: True,
    "false": lambda _: False,
    "none": lambda _: None,
}


def _compared(holds: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    """What vLLM's `Platform` does: a tuple is compared with the NamedTuple, a number with the joined digits."""

    def test(chip: ChipNumbers, capability: Any) -> bool:
        current = DeviceCapability(chip.major, chip.minor)
        return bool(holds(current if isinstance(capability, tuple) else current.to_int(), capability))

    return test


TESTS: dict[str, Callable[..., bool]] = {
    "equals": _compared(operator.eq),
    "at-least": _compared(operator.ge),
    "family": lambda chip, capability: bool((chip.major * 10 + chip.minor) // 10 == capability // 10),
    "at-least-parts": lambda chip, major, minor=0: bool((chip.major, chip.minor) >= (major, minor)),
}


class LibrariesOnChip:
    """The libraries on one chip, in one run. `rows` are those of the table of sources."""

    def __init__(
        self, chip: ChipNumbers, rows: Mapping[str, Mapping[str, Any]], devices: frozenset[str], choices: Choices
    ) -> None:
        self.chip = chip
        self.devices = devices
        self.choices = choices
        self.assumed: dict[str, None] = {}
        self.helpers: dict[str, Any] = {}
        """What statements are rewritten to use besides what every slice does."""
        self._rows = rows

    def unread(self, key: str, why: str = "") -> UnknownValue:
        """A value that nobody knows. `why` says so of one that is not free: it may read the device."""
        name = key.rpartition(".")[2]
        if not why and name in self.devices:
            why = f"nothing in reach says what `{name}` is, and it is called like a device"
        return UnknownValue(self, key[:LONGEST_KEY], why)

    def named(self, name: str, value: Any) -> Any:
        """A value as it is under a name, which may be called like a device."""
        if isinstance(value, UnknownValue) and name in self.devices and not value._bw_why:
            return self.unread(name)
        return value

    def taken_apart(self, names: tuple[str, ...], value: Any) -> Any:
        """What an assignment to several names takes apart."""
        if not isinstance(value, UnknownValue):
            return value
        parts = [UnknownValue(self, f"{value._bw_key}[{place}]", value._bw_why) for place in range(len(names))]
        return tuple(self.named(name, part) for name, part in zip(names, parts, strict=True))

    def attribute(self, value: UnknownValue, name: str) -> Any:
        """An attribute of something nobody knows."""
        dotted = f"{value._bw_key}.{name}"
        if value._bw_outside:
            return self.outside(dotted)
        row = self._row(dotted)
        if row is not None and row["value"]:
            return self._value(row, dotted)
        return self.unread(dotted, value._bw_why)

    def outside(self, dotted: str) -> Any:
        """An object of a package that is not in the tree."""
        if dotted in _NAMES:
            return _NAMES[dotted]
        top, _, rest = dotted.partition(".")
        if top in LIBRARIES:
            if not rest:
                return PureModule(self, dotted)
            try:
                return of_library(dotted, rest)
            except AttributeError:
                return self.unread(dotted)
        if dotted in _RAISING:
            return _raising(dotted)
        name = dotted.rpartition(".")[2]
        if name in _SAME:
            return _SAME[name]
        if name == "Arch" and "cut" in dotted:
            return Arch
        row = self._row(dotted)
        if row is not None and row["value"]:
            self._assume(dotted, row)
            return self._value(row, dotted)
        found = self.unread(dotted)
        return UnknownValue(self, dotted[:LONGEST_KEY], found._bw_why, outside=True)

    def called(self, value: UnknownValue, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What a call of something nobody knows gives: a source of the table gives the device."""
        if value._bw_key.rpartition(".")[2] == "skipTest":
            raise SkipRaised
        row = self._row(value._bw_key)
        if row is None or row["value"]:
            given = ", ".join([*map(shown, args), *(f"{name}={shown(item)}" for name, item in keywords.items())])
            return self.unread(f"{value._bw_key}({given})", value._bw_why)
        self._assume(value._bw_key, row)
        test = TESTS.get(row["returns"])
        if test is None:
            found = self._value(row, value._bw_key)
            # a method of an unknown object: PyTorch's tuple, or vLLM's and SGLang's with names
            named = row["returns"] == "tuple" and not value._bw_key.startswith("torch.")
            return DeviceCapability(*found) if named else found
        # the first operands are what is compared; a device's number changes nothing on one chip
        count = 2 if row["returns"] == "at-least-parts" else 1
        operands = [*args, *keywords.values()][:count]
        for operand in operands:
            if isinstance(operand, UnknownValue):
                key = f"{value._bw_key}({shown(operand)})"
                return self.unread(key, "the capability is compared with an unknown value")
        return test(self.chip, *operands)

    def assumed_of(self, dotted: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the tree, with what the table says of it where its body comes to nothing here."""
        row = self._row(dotted)
        if row is None or row["value"]:
            return function

        def call(*args: Any, **keywords: Any) -> Any:
            lost, taken, guessed = self.choices.lost, dict(self.choices.taken), dict(self.choices.guessed)
            try:
                found = function(*args, **keywords)
            except Undecided:
                self.choices.lost = lost
                found = self.unread(dotted)
            if len(self.choices.taken) > len(taken) and row["returns"] in ("true", "false", "none"):
                self.choices.taken, self.choices.guessed = taken, guessed
                found = self.unread(dotted)
            if not isinstance(found, UnknownValue):
                return found
            return self.called(UnknownValue(self, dotted, outside=True), args, keywords)

        return functools.wraps(function)(call)

    def _row(self, dotted: str) -> Mapping[str, Any] | None:
        """The row of a dotted name: the whole name, then ever shorter tails of it."""
        found = self._rows.get(dotted)
        tail = dotted
        while found is None and "." in tail:
            tail = tail.partition(".")[2]
            found = self._rows.get("*." + tail)
        return found if found is not None else self._rows.get("*." + dotted)

    def _assume(self, dotted: str, row: Mapping[str, Any]) -> None:
        if row["returns"] in ("true", "false", "none", "text", "version"):
            shown = row["text"] or row["returns"]
            self.assumed[f"{dotted.removeprefix('?.')} is {shown}"] = None

    def _value(self, row: Mapping[str, Any], dotted: str) -> Any:
        chip, returns = self.chip, row["returns"]
        if row["chips"] is not None:
            return f"{chip.major}.{chip.minor}" in row["chips"]
        if returns == "text":
            return row["text"]
        if returns == "version" and row["text"]:
            return Release(self, tuple(int(part) for part in row["text"].split(".")))
        if returns == "properties":
            return Properties(self)
        if returns == "arch":
            return Arch.of(chip)
        made = VALUES.get(returns)
        if made is None:
            return self.unread(dotted, f"`{dotted}` is not simulated")
        return made(chip)


class Properties:
    """PyTorch's `_CudaDeviceProperties`, as far as the chip decides it."""

    def __init__(self, world: LibrariesOnChip) -> None:
        self.major = world.chip.major
        self.minor = world.chip.minor
        if world.chip.smem is not None:
            self.shared_memory_per_block_optin = world.chip.smem
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return self._world.unread(f"get_device_properties().{name}", f"`{name}` of a device is not simulated")


class PureModule:
    """A module of Python's own that does nothing but compute."""

    def __init__(self, world: LibrariesOnChip, name: str) -> None:
        self._world, self._name = world, name

    def __getattr__(self, name: str) -> Any:
        return self._world.outside(f"{self._name}.{name}")


@functools.total_ordering
class Release:
    """A toolkit's release number, which some projects hand out as a tuple and others as packaging's `Version`."""

    def __init__(self, world: LibrariesOnChip, parts: tuple[int, ...]) -> None:
        self._world, self._parts = world, parts
        self.major, self.minor = parts

    def __getitem__(self, place: Any) -> Any:
        return self._parts[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._parts)

    def _beside(self, other: object) -> tuple[int, ...]:
        release = getattr(other, "release", other)
        if not isinstance(release, tuple | list):
            self._world.choices.lose("a release is compared with something else")
        return tuple(release)

    def __eq__(self, other: object) -> bool:
        return self._parts == self._beside(other)

    def __hash__(self) -> int:
        return hash(self._parts)

    def __lt__(self, other: object) -> bool:
        return self._parts < self._beside(other)


def _same(value: Any) -> Any:
    return value


_SAME = {"const_expr": _same, "constexpr": _same}
"""Markers of kernel languages, which give back what they are given."""


def _uncached(*args: Any, **_: object) -> Any:
    """`functools.cache` and `lru_cache`, which change nothing of a function but its time: arguments need no hash."""
    return args[0] if args and callable(args[0]) else _same


_NAMES: dict[str, Any] = {
    **{f"functools.{name}": _uncached for name in ("cache", "lru_cache")},
    "unittest.SkipTest": SkipRaised,
    "unittest.case.SkipTest": SkipRaised,
}

_RAISING = frozenset(
    {
        *("pytest.skip", "pytest.fail", "pytest.xfail", "pytest.exit", "sys.exit", "os._exit"),
        *("_pytest.outcomes.skip", "_pytest.outcomes.fail"),
    }
)


def _raising(dotted: str) -> Callable[..., NoReturn]:
    def leave(*_: object, **__: object) -> NoReturn:
        raise SystemExit if "exit" in dotted else SkipRaised

    return leave


_WHOLE = frozenset({"math", "operator", "itertools", "functools", "re", "enum", "typing", "dataclasses", "abc"})
LIBRARIES = frozenset({*_WHOLE, "collections", "packaging", "contextlib", "types", "numbers", "typing_extensions"})

_HARMLESS = {
    "collections": {"namedtuple", "OrderedDict", "defaultdict", "Counter", "deque", "abc"},
    "packaging": {"version"},
    "contextlib": {"contextmanager", "suppress", "nullcontext"},
    "types": {"SimpleNamespace", "MappingProxyType"},
}


def load_libraries() -> None:
    """Import what slices may use, while this process may still read files."""
    for name in (*LIBRARIES, "collections.abc", "packaging.version", "encodings.utf_8", "sre_compile"):
        try:
            _MODULES[name] = importlib.import_module(name)
        except ImportError:
            continue


_MODULES: dict[str, ModuleType] = {}


class _Public:
    """The public names of a module of Python's own."""

    def __init__(self, module: ModuleType, allowed: set[str] | None) -> None:
        self._module, self._allowed = module, allowed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (self._allowed is not None and name not in self._allowed):
            raise AttributeError(name)
        found = getattr(self._module, name)
        inner = _MODULES.get(f"{self._module.__name__}.{name}")
        if isinstance(found, ModuleType):
            return _Public(inner or found, None if inner is not None else set())
        return _spared(name, found) if self._module.__name__ in ("math", "re") and callable(found) else found


def _spared(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives an unknown value for an unknown one."""

    def call(*args: Any, **keywords: Any) -> Any:
        unread = next((arg for arg in args if isinstance(arg, UnknownValue)), None)
        return real(*args, **keywords) if unread is None else related(name, unread, None)

    return call


def of_library(dotted: str, rest: str) -> Any:
    top = dotted.partition(".")[0]
    module = _MODULES.get(top) or _MODULES["typing"]
    found: Any = _Public(module, _HARMLESS.get(top))
    for name in rest.split(".") if rest else ():
        found = getattr(found, name)
    return found
