"""What a slice finds in place of libraries: the capability on one chip, and values that nobody knows.

This runs in the child. A value that nobody knows (`Unread`) gives another one for whatever is done with it; where
Python asks whether it is true, one of both is chosen, and the run is repeated with the other.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

LONGEST_KEY = 200
_ARCHITECTURE = re.compile(r"(?:sm_?|compute_)?1?\d\d[af]?|1?\d\.\d[af]?")
MAX_CHOICES = 24
"""As many values that nobody knows may be met in one run."""


class Undecided(BaseException):
    """Python needs a value that nobody knows: a slice cannot go on. No `except Exception` of a slice catches it."""


class NotReached(BaseException):
    """What is asked for is not reached with the values chosen."""


class Skipped(Exception):
    """What pytest and unittest raise to skip a test."""


@dataclass(slots=True)
class Choices:
    """What was chosen in one run, in order; `given` begins it. `guessed` are those that are called like a device."""

    given: Sequence[bool] = ()
    taken: dict[str, bool] = field(default_factory=dict)
    guessed: dict[str, None] = field(default_factory=dict)
    lost: str = ""
    """Why the run decides nothing, though the slice may have gone on."""

    def choose(self, value: Unread) -> bool:
        key = value._bw_key
        if key not in self.taken:
            if len(self.taken) >= MAX_CHOICES:
                self.lose(f"it asks for more than {MAX_CHOICES} values that nobody knows")
            self.taken[key] = self.given[len(self.taken)] if len(self.taken) < len(self.given) else True
            if value._bw_why:
                self.guessed[value._bw_why] = None
        return self.taken[key]

    def lose(self, why: str) -> NoReturn:
        self.lost = self.lost or why
        raise Undecided(why)


@dataclass(frozen=True, slots=True)
class Chip:
    """A compute capability; `smem` are the bytes of shared memory that a block may ask for, None: not known."""

    major: int
    minor: int
    smem: int | None


class World:
    """The libraries on one chip, in one run. `rows` are those of the table of sources."""

    def __init__(
        self, chip: Chip, rows: Mapping[str, Mapping[str, Any]], devices: frozenset[str], choices: Choices
    ) -> None:
        self.chip = chip
        self.devices = devices
        self.choices = choices
        self.assumed: dict[str, None] = {}
        self._rows = rows

    def unread(self, key: str, why: str = "") -> Unread:
        """A value that nobody knows. `why` says so of one that is not free: it may read the device."""
        name = key.rpartition(".")[2]
        if not why and name in self.devices:
            why = f"nothing in reach says what `{name}` is, and it is called like a device"
        return Unread(self, key[:LONGEST_KEY], why)

    def attribute(self, value: Unread, name: str) -> Any:
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
        if top in _LIBRARIES:
            return self._of_library(dotted, rest) if rest else Library(self, dotted)
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
        return Unread(self, dotted[:LONGEST_KEY], found._bw_why, outside=True)

    def _of_library(self, dotted: str, rest: str) -> Any:
        try:
            return _library(dotted, rest)
        except AttributeError:
            return self.unread(dotted)

    def called(self, value: Unread, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What a call of something nobody knows gives: a source of the table gives the device."""
        if value._bw_key.rpartition(".")[2] == "skipTest":
            raise Skipped
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
            if isinstance(operand, Unread):
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
            if not isinstance(found, Unread):
                return found
            return self.called(Unread(self, dotted, outside=True), args, keywords)

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
            return Arch.of(self)
        made = _VALUES.get(returns)
        if made is None:
            return self.unread(dotted, f"`{dotted}` is not simulated")
        return made(chip)


class DeviceCapability(NamedTuple):
    """vLLM's: a NamedTuple, which equals the plain tuple and is ordered with it, and never equals a number."""

    major: int
    minor: int

    def as_version_str(self) -> str:
        return f"{self.major}.{self.minor}"

    def to_int(self) -> int:
        return self.major * 10 + self.minor


class Arch(Enum):
    """CuTe DSL's: ordered by major and minor alone, and equal to members only. 10.1 is 11.0 in its later versions."""

    sm_80 = (8, 0, "")
    sm_86 = (8, 6, "")
    sm_87 = (8, 7, "")
    sm_89 = (8, 9, "")
    sm_90 = (9, 0, "")
    sm_90a = (9, 0, "a")
    sm_100 = (10, 0, "")
    sm_100a = (10, 0, "a")
    sm_100f = (10, 0, "f")
    sm_103 = (10, 3, "")
    sm_103a = (10, 3, "a")
    sm_103f = (10, 3, "f")
    sm_110 = (11, 0, "")
    sm_110a = (11, 0, "a")
    sm_110f = (11, 0, "f")
    sm_101 = sm_110
    sm_101a = sm_110a
    sm_101f = sm_110f
    sm_120 = (12, 0, "")
    sm_120a = (12, 0, "a")
    sm_120f = (12, 0, "f")
    sm_121 = (12, 1, "")
    sm_121a = (12, 1, "a")
    sm_121f = (12, 1, "f")

    def __init__(self, major: int, minor: int, suffix: str) -> None:
        self.major, self.minor, self.suffix = major, minor, suffix

    def is_family_of(self, arch: Arch) -> bool:
        return self.major == arch.major and self.minor >= arch.minor and self.suffix in ("a", "f")

    @classmethod
    def of(cls, world: World) -> Arch:
        """The member that the DSL takes for the resident device; where it has none it raises before any test."""
        chip = world.chip
        found = cls.__members__.get(f"sm_{chip.major}{chip.minor}{'a' if chip.major >= 9 else ''}")
        if found is None or found._pair != (chip.major, chip.minor):
            raise NotReached
        return found

    def __lt__(self, other: object) -> bool:
        return self._pair < other._pair if isinstance(other, Arch) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._pair <= other._pair if isinstance(other, Arch) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._pair > other._pair if isinstance(other, Arch) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._pair >= other._pair if isinstance(other, Arch) else NotImplemented

    @property
    def _pair(self) -> tuple[int, int]:
        return (self.major, self.minor)


class Properties:
    """PyTorch's `_CudaDeviceProperties`, as far as the chip decides it."""

    def __init__(self, world: World) -> None:
        self.major = world.chip.major
        self.minor = world.chip.minor
        if world.chip.smem is not None:
            self.shared_memory_per_block_optin = world.chip.smem
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return self._world.unread(f"get_device_properties().{name}", f"`{name}` of a device is not simulated")


class Library:
    """A module of Python's own that does nothing but compute."""

    def __init__(self, world: World, name: str) -> None:
        self._world, self._name = world, name

    def __getattr__(self, name: str) -> Any:
        return self._world.outside(f"{self._name}.{name}")


class Release:
    """A toolkit's release number, which some projects hand out as a tuple and others as packaging's `Version`."""

    def __init__(self, world: World, parts: tuple[int, ...]) -> None:
        self._world, self._parts = world, parts
        self.major, self.minor = parts

    def __getitem__(self, place: Any) -> Any:
        return self._parts[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._parts)

    def _beside(self, other: object) -> tuple[int, ...]:
        release = getattr(other, "release", other)
        if not isinstance(release, tuple | list):
            self._world.choices.lose("a release is compared with something that is none")
        return tuple(release)

    def __eq__(self, other: object) -> bool:
        return self._parts == self._beside(other)

    def __hash__(self) -> int:
        return hash(self._parts)

    def __lt__(self, other: object) -> bool:
        return self._parts < self._beside(other)

    def __le__(self, other: object) -> bool:
        return self._parts <= self._beside(other)

    def __gt__(self, other: object) -> bool:
        return self._parts > self._beside(other)

    def __ge__(self, other: object) -> bool:
        return self._parts >= self._beside(other)


_WHOLE = frozenset({"math", "operator", "itertools", "functools", "re", "enum", "typing", "dataclasses", "abc"})
_LIBRARIES = frozenset({*_WHOLE, "collections", "packaging", "contextlib", "types", "numbers", "typing_extensions"})
_HARMLESS = {
    "collections": {"namedtuple", "OrderedDict", "defaultdict", "Counter", "deque", "abc"},
    "packaging": {"version"},
    "contextlib": {"contextmanager", "suppress", "nullcontext"},
    "types": {"SimpleNamespace", "MappingProxyType"},
}


def load_libraries() -> None:
    """Import what slices may use, while this process may still read files."""
    for name in (*_LIBRARIES, "collections.abc", "packaging.version", "encodings.utf_8", "sre_compile"):
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
        return _careful(name, found) if self._module.__name__ in ("math", "re") and callable(found) else found


def _careful(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives an unknown value for an unknown one."""

    def call(*args: Any, **keywords: Any) -> Any:
        unread = next((arg for arg in args if isinstance(arg, Unread)), None)
        return real(*args, **keywords) if unread is None else related(name, unread, None)

    return call


def _library(dotted: str, rest: str) -> Any:
    top = dotted.partition(".")[0]
    module = _MODULES.get(top) or _MODULES["typing"]
    found: Any = _Public(module, _HARMLESS.get(top))
    for name in rest.split(".") if rest else ():
        found = getattr(found, name)
    return found


def _same(value: Any) -> Any:
    return value


_SAME = {"const_expr": _same, "constexpr": _same}
"""Markers of kernel languages, which give back what they are given."""


def _uncached(*args: Any, **_: object) -> Any:
    """`functools.cache` and `lru_cache`, which change nothing of a function but its time: arguments need no hash."""
    return args[0] if args and callable(args[0]) else _same


_NAMES: dict[str, Any] = {
    **{f"functools.{name}": _uncached for name in ("cache", "lru_cache")},
    "unittest.SkipTest": Skipped,
    "unittest.case.SkipTest": Skipped,
}
_RAISING = frozenset(
    {
        *("pytest.skip", "pytest.fail", "pytest.xfail", "pytest.exit", "sys.exit", "os._exit"),
        *("_pytest.outcomes.skip", "_pytest.outcomes.fail"),
    }
)


def _raising(dotted: str) -> Callable[..., NoReturn]:
    def leave(*_: object, **__: object) -> NoReturn:
        raise SystemExit if "exit" in dotted else Skipped

    return leave


_VALUES: dict[str, Callable[[Chip], Any]] = {
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


# What vLLM's `Platform` does: a tuple is compared with the NamedTuple, a number with the joined digits.
def _is_capability(chip: Chip, capability: Any) -> bool:
    current = DeviceCapability(chip.major, chip.minor)
    return current == capability if isinstance(capability, tuple) else current.to_int() == capability


def _has_capability(chip: Chip, capability: Any) -> bool:
    current = DeviceCapability(chip.major, chip.minor)
    return current >= capability if isinstance(capability, tuple) else bool(current.to_int() >= capability)


def _is_family(chip: Chip, capability: Any) -> bool:
    return bool(DeviceCapability(chip.major, chip.minor).to_int() // 10 == capability // 10)


def _at_least_parts(chip: Chip, major: Any, minor: Any = 0) -> bool:
    return bool((chip.major, chip.minor) >= (major, minor))


TESTS: dict[str, Callable[..., bool]] = {
    "equals": _is_capability,
    "at-least": _has_capability,
    "family": _is_family,
    "at-least-parts": _at_least_parts,
}


_PLAIN = frozenset({"__version__", "__file__", "__name__", "__path__", "__spec__", "__dict__"})
"""Names with underscores that are values of programs, and no questions of Python's own."""


class Unread:
    """A value that nobody knows. Its key says where it comes from: equal keys are equal values.

    Its names begin as no program's do, for all others are attributes that a slice may ask for.
    """

    __slots__ = ("_bw_key", "_bw_negated", "_bw_outside", "_bw_why", "_bw_world")
    _bw_key: str
    _bw_why: str
    _bw_world: World
    _bw_negated: bool
    _bw_outside: bool

    def __init__(self, world: World, key: str, why: str = "", negated: bool = False, outside: bool = False) -> None:
        for name, value in (("world", world), ("key", key), ("why", why), ("negated", negated), ("outside", outside)):
            object.__setattr__(self, f"_bw_{name}", value)

    def __bool__(self) -> bool:
        return self._bw_world.choices.choose(self) != self._bw_negated

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _PLAIN:
            raise AttributeError(name)
        return self._bw_world.attribute(self, name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._bw_world.called(self, args, keywords)

    def __setattr__(self, name: str, value: object) -> None:
        return

    def __setitem__(self, key: object, value: object) -> None:
        return

    def __enter__(self) -> Unread:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def __contains__(self, item: object) -> bool:
        return bool(related("in", item, self))

    def __repr__(self) -> str:
        return self._bw_key

    def _bw_lost(self, *_: object) -> NoReturn:
        why = self._bw_why or f"nothing in reach says what `{self._bw_key}` is, and more than its truth is asked"
        self._bw_world.choices.lose(why)


def related(op: str, left: Any, right: Any, negated: bool = False) -> Unread:
    """An operation of which one side is not known."""
    known = left if isinstance(left, Unread) else right
    why = next((side._bw_why for side in (left, right) if isinstance(side, Unread) and side._bw_why), "")
    if (
        not why
        and op == "=="
        and any(isinstance(side, str) and _ARCHITECTURE.fullmatch(side) for side in (left, right))
    ):
        why = f"nothing in reach says what `{known._bw_key}` is, and it is compared with the name of an architecture"
    return Unread(known._bw_world, f"({shown(left)} {op} {shown(right)})"[:LONGEST_KEY], why, negated)


def among(item: Unread, container: Any, negated: bool) -> Unread:
    """Whether a value that nobody knows is one of several: one question, and not one for each of them."""
    members = list(container) if isinstance(container, list | tuple | set | frozenset | dict) else [container]
    names = next((each for each in members if isinstance(each, str) and _ARCHITECTURE.fullmatch(each)), None)
    why = item._bw_why or ("" if names is None else related("==", item, names)._bw_why)
    listed = ", ".join(sorted(map(shown, members))) if len(members) < 20 else f"{len(members)} values"
    return Unread(item._bw_world, f"({item._bw_key} in {listed})"[:LONGEST_KEY], why, negated)


def shown(value: object) -> str:
    """A value as the key of one that is made from it."""
    if isinstance(value, Unread):
        return f"not {value._bw_key}" if value._bw_negated else value._bw_key
    if isinstance(value, list | tuple) and len(value) < 10:
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)[:60] if not isinstance(value, int) or abs(value) < 1 << 64 else "a large number"
    return f"a {type(value).__name__}"


# what Python must have as a plain value
_LOST = ("iter", "len", "hash", "index", "int", "float", "complex", "str", "format", "bytes", "await", "next")
_OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"},
    **{"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "divmod": "divmod"},
}


def _define_operators() -> None:
    for name, op in _OPERATORS.items():
        setattr(Unread, f"__{name}__", lambda self, other, op=op: related(op, self, other))
        setattr(Unread, f"__r{name}__", lambda self, other, op=op: related(op, other, self))
    # what is not less is at least, so that both spellings have one value
    for name, op, negated in (
        *(("eq", "==", False), ("ne", "==", True), ("lt", "<", False), ("ge", "<", True)),
        *(("gt", ">", False), ("le", ">", True), ("getitem", "item", False)),
    ):
        setattr(Unread, f"__{name}__", lambda self, other, op=op, negated=negated: related(op, self, other, negated))
    for name in (*_LOST, "length_hint", "reversed"):
        setattr(Unread, f"__{name}__", Unread._bw_lost)
    for name in ("neg", "pos", "abs", "invert", "ceil", "floor", "trunc"):
        setattr(Unread, f"__{name}__", lambda self, name=name: related(name, self, None))


_define_operators()
