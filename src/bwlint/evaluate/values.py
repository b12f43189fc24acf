"""The values that the interpreter computes with, and Python's operators on them in three-valued form.

A `Vec` holds one value a chip ("lane"), or a single one when all chips agree. A lane is a plain Python value or
one of the classes below. Operators never raise: what Python would raise becomes a `Raises` lane.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bwlint.chips import EVERY
from bwlint.chips.queries import is_product, names_model

CHIPS = tuple(EVERY)
"""The lanes of a vector, in ascending order."""


FILTERED = "filtered"
"""The key of an element of which nobody knows whether a comprehension keeps it."""


class Unknown:
    """A value that nothing in reach decides."""

    __slots__ = ("key",)

    def __init__(self, key: str = "") -> None:
        self.key = key

    def __repr__(self) -> str:
        return f"Unknown({self.key!r})"


class SomeText(Unknown):
    """One of several texts of which none is empty, and nobody knows which: a reason, whatever it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Raises:
    """Evaluation ends in an exception on this chip."""

    reason: str


class Capability(tuple[int, ...]):
    """A compute capability as a NamedTuple with `major` and `minor`: equal to tuples, never to numbers."""

    __slots__ = ()

    @classmethod
    def made(cls, major: Any, minor: Any) -> Any:
        """One of two values, unknown where one of them is none of the program's numbers."""
        return cls((major, minor)) if isinstance(major, int) and isinstance(minor, int) else Unknown()


class Record(tuple[Any, ...]):
    """A named tuple: equal to tuples, with names for its parts."""

    fields: tuple[str, ...]


class Number(int):
    """A member of an `IntEnum`."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of any other enum: equal to itself alone."""

    owner: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Guess:
    """A name that nobody assigns and that is called like a capability; `part` is "major" or "minor" if it says so."""

    major: int
    minor: int
    name: str
    part: str = ""

    @property
    def joined(self) -> int:
        return self.major * 10 + self.minor

    @property
    def number(self) -> int:
        """The value in arithmetic and in text: the part, or joined digits."""
        if self.part:
            return self.major if self.part == "major" else self.minor
        return self.joined

    def as_part(self, part: str) -> Guess:
        return Guess(self.major, self.minor, self.name, part)

    def form(self, like: object) -> object | None:
        """This chip in the form that a comparison with `like` asks for; None when `like` is no capability."""
        if isinstance(like, bool):
            return None
        if self.part == "major":
            return self.major if isinstance(like, int) and 5 <= like <= 20 else None
        if self.part == "minor":
            return self.minor if isinstance(like, int) and 0 <= like <= 9 else None
        if isinstance(like, int):
            return self._number(like)
        if isinstance(like, tuple) and len(like) == 2 and all(isinstance(n, int) for n in like):
            return (self.major, self.minor) if 5 <= like[0] <= 20 else None
        if isinstance(like, str):
            return self._text(like)
        if isinstance(like, ArchMember):
            return ArchMember(self.major, self.minor, native_suffix(self.major))
        return None

    def _number(self, like: int) -> int | None:
        if 5 <= like <= 20:
            return self.major
        if 50 <= like <= 130:
            return self.joined
        if 500 <= like <= 1300 and like % 10 == 0:
            return self.joined * 10
        return None

    def _text(self, like: str) -> str | None:
        lower = like.lower()
        for prefix in ("sm_", "compute_", "sm", ""):
            if not lower.startswith(prefix):
                continue
            rest = lower[len(prefix) :]
            digits = rest.rstrip("af")
            suffix = "a" if rest != digits and self.major >= 9 else ""
            if digits.isdigit() and 50 <= int(digits) <= 130:
                return f"{like[: len(prefix)]}{self.joined}{suffix}"
            major, dot, minor = digits.partition(".")
            if dot and not prefix and major.isdigit() and minor.isdigit() and 5 <= int(major) <= 20:
                return f"{self.major}.{self.minor}{suffix}"
            return None
        return None


def native_suffix(major: int) -> str:
    """The suffix with which a kernel DSL compiles for the resident device by default."""
    return "a" if major >= 9 else ""


@dataclass(frozen=True, slots=True)
class ArchMember:
    """A member of an ordered architecture enum such as CuTe DSL's `Arch.sm_120a`; equal to members only."""

    major: int
    minor: int
    suffix: str

    @property
    def key(self) -> tuple[int, int]:
        """What the enum is ordered by, in all its versions: a suffix tells members apart and orders none."""
        return (self.major, self.minor)

    def of_family(self, other: ArchMember) -> bool:
        """`is_family_of` of CuTe DSL: suffixed, the same major and no lower minor, whatever suffix the other has."""
        return self.suffix != "" and self.major == other.major and self.minor >= other.minor


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """What `torch.cuda.get_device_properties` returns, as far as the chip decides it."""

    major: int
    minor: int
    smem_optin: int | None
    product: ProductName | None = None


@dataclass(frozen=True, slots=True)
class DriverTarget:
    """What Triton's driver for NVIDIA says that it compiles for; its fields are those of `GPUTarget`."""

    arch: int
    backend: str = "cuda"
    warp_size: int = 32


@dataclass(frozen=True, slots=True)
class ProductName:
    """What the cards of one chip call themselves. A question holds for the chip where it does for one of them."""

    texts: tuple[str, ...]

    def has(self, part: str) -> object:
        return any(part in text for text in self.texts) if names_model(part) else Unknown()

    def method(self, name: str, args: Sequence[Any]) -> object:
        """`name.lower()`, `name.startswith("NVIDIA B200")`."""
        found = [getattr(text, name)(*args) for text in self.texts]
        if all(isinstance(one, bool) for one in found):
            return any(found) if names_model(str(args[0])) else Unknown()
        return ProductName(tuple(found)) if all(isinstance(one, str) for one in found) else Unknown()


@dataclass(frozen=True, slots=True)
class Ref:
    """An object outside what was scanned, by its dotted name."""

    name: str


class ReleaseNumber(tuple[int, ...]):
    """A release number that some projects hand out as a tuple and others as a text or an object of their own."""


@dataclass(frozen=True, slots=True)
class Method:
    """An attribute of a value, about to be called."""

    owner: object
    name: str


class Vec:
    """One value a chip (or a target, see `macros`), or one for all; `device`: a capability source was read."""

    __slots__ = ("device", "guessed", "lanes")

    def __init__(self, lanes: Sequence[Any], device: bool = False, guessed: bool = False) -> None:
        self.lanes = lanes
        self.device = device
        self.guessed = guessed

    @property
    def uniform(self) -> bool:
        return len(self.lanes) == 1

    def spread(self, width: int = len(CHIPS)) -> Sequence[Any]:
        return [self.lanes[0]] * width if len(self.lanes) == 1 else self.lanes

    def only(self) -> Any:
        """The value if all chips share it, else an `Unknown`."""
        return self.lanes[0] if len(self.lanes) == 1 else Unknown()


def lift(function: Callable[..., Any], *operands: Vec) -> Vec:
    """Apply `function` lane by lane; `Raises` and `Unknown` operands win over it."""
    device = guessed = False
    width = 1
    for operand in operands:
        device = device or operand.device
        guessed = guessed or operand.guessed
        if len(operand.lanes) > width:
            width = len(operand.lanes)
    if width == 1:
        return Vec([_apply(function, [operand.lanes[0] for operand in operands])], device, guessed)
    columns = [operand.lanes if len(operand.lanes) > 1 else [operand.lanes[0]] * width for operand in operands]
    lanes = [_apply(function, row) for row in zip(*columns, strict=True)]
    first = lanes[0]
    if not isinstance(first, (Unknown, Raises)) and all(type(x) is type(first) and x == first for x in lanes):
        lanes = [first]
    return Vec(lanes, device, guessed)


def _apply(function: Callable[..., Any], row: Sequence[Any]) -> Any:
    for value in row:
        if isinstance(value, Raises):
            return value
    for value in row:
        if isinstance(value, Unknown) and not (isinstance(value, SomeText) and _asks(function)):
            return value
    try:
        return function(*row)
    except (TypeError, AttributeError) as error:
        return Raises(f"{type(error).__name__}: {error}")
    except (ValueError, IndexError, KeyError, OverflowError, ZeroDivisionError, RecursionError, MemoryError):
        return Unknown()


def _asks(function: Callable[..., Any]) -> bool:
    """Whether a function has something to say of a text that nobody knows."""
    return function is truth or (isinstance(function, partial) and function.args[0] in _SAME)


_MADE = (list, tuple, set, frozenset)


def truth(value: object) -> object:
    if isinstance(value, SomeText):
        return True
    if value is True or value is False or isinstance(value, (Unknown, Raises)):
        return value
    if isinstance(value, (Ref, Method, Guess, DeviceProperties, ArchMember)) or callable(value):
        return Unknown()
    if isinstance(value, _MADE) and value and all(isinstance(one, Unknown) and one.key == FILTERED for one in value):
        return Unknown()
    return bool(value)


_SAME = ("is", "is not", "==", "!=")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPAQUE = (Ref, Method, DeviceProperties, DriverTarget)


def compare(op: str, left: object, right: object) -> object:
    """One comparison on one chip."""
    if op in ("in", "not in"):
        found = contains(right, left)
        return (not found) if op == "not in" and isinstance(found, bool) else found
    if op in ("is", "is not"):
        same = identical(left, right)
        return (not same) if op == "is not" and isinstance(same, bool) else same
    left, right = settle(left, right)
    if op in ("==", "!=") and _is_told(left, right):
        return op == "!="
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown()
    if op == "==":
        return _equal(left, right)
    if op == "!=":
        equal = _equal(left, right)
        return (not equal) if isinstance(equal, bool) else equal
    if isinstance(left, ArchMember) and isinstance(right, ArchMember):
        return _ORDER[op](left.key, right.key)
    return _ORDER[op](left, right)


def settle(left: object, right: object) -> tuple[object, object]:
    """Give guessed names the type of what they are compared with."""
    if (isinstance(left, ReleaseNumber) and isinstance(right, str)) or (
        isinstance(right, ReleaseNumber) and isinstance(left, str)
    ):
        return Unknown(), Unknown()
    if isinstance(left, Guess):
        form = left.form(right)
        return (Unknown(), right) if form is None else (form, right)
    if isinstance(right, Guess):
        form = right.form(left)
        return (left, Unknown()) if form is None else (left, form)
    if isinstance(left, _OPAQUE) or isinstance(right, _OPAQUE):
        return Unknown(), Unknown()
    return left, right


def _equal(left: object, right: object) -> object:
    for name, other in ((left, right), (right, left)):
        if isinstance(name, ProductName):
            return other in name.texts or (False if is_product(other) else Unknown())
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and _any_unknown(left, right):
        return Unknown()
    return left == right


def _any_unknown(*containers: Sequence[object]) -> bool:
    return any(isinstance(item, (Unknown, Ref, Guess)) for one in containers for item in one)


def _is_told(left: object, right: object) -> bool:
    """Whether a text that nobody knows is compared with None."""
    return (isinstance(left, SomeText) and right is None) or (isinstance(right, SomeText) and left is None)


def identical(left: object, right: object) -> object:
    if _is_told(left, right):
        return False
    if isinstance(left, (Unknown, Ref, Guess)) or isinstance(right, (Unknown, Ref, Guess)):
        if (isinstance(left, Guess) and right is None) or (isinstance(right, Guess) and left is None):
            return False
        return Unknown()
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right


def contains(container: object, item: object) -> object:
    if isinstance(container, (Unknown, Ref, Guess, Method)) or container is None:
        return Unknown()
    if isinstance(container, ProductName):
        return container.has(item) if isinstance(item, str) else Unknown()
    if isinstance(container, str):
        if isinstance(item, Guess):
            return Unknown()
        return item in container if isinstance(item, str) else Raises("TypeError: 'in <string>' needs a string")
    if isinstance(container, range):
        if isinstance(item, Guess):
            item = item.form(container.start or container.stop)
        return item in container if isinstance(item, int) else False
    if not isinstance(container, (list, tuple, set, frozenset, dict)):
        return Unknown()
    doubt = False
    for member in container:
        same = compare("==", item, member)
        if same is True:
            return True
        doubt = doubt or not isinstance(same, bool)
    return Unknown() if doubt else False


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
MAX_INT = 1 << 64
MAX_TEXT = 10_000


def arithmetic(op: str, left: object, right: object) -> object:
    """A binary operator on one chip; results over the budget are `Unknown`."""
    if not (op == "%" and isinstance(left, str)):
        left, right = _joined(op, left, right), _joined(op, right, left)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown()
    if isinstance(left, _OPAQUE) or isinstance(right, _OPAQUE):
        return Unknown()
    function = _ARITHMETIC.get(op)
    if function is None:
        return Unknown()
    if op == "%" and isinstance(left, str):
        return _percent(left, right)
    if op in ("*", "<<") and not _small(left, right):
        return Unknown()
    result = function(left, right)
    if isinstance(result, int) and abs(result) > MAX_INT:
        return Unknown()
    if isinstance(result, (str, tuple, list)) and len(result) > MAX_TEXT:
        return Unknown()
    return result


_SMALL_FORMAT = re.compile(r"(?:[^%]|%%|%0?\d?[dsiuxXc])*")


def _percent(form: str, values: object) -> object:
    """`"sm_%d" % value`, in forms that cannot grow."""
    if not _SMALL_FORMAT.fullmatch(form):
        return Unknown()
    row = values if isinstance(values, tuple) else (values,)
    plain = tuple(value.number if isinstance(value, Guess) else value for value in row)
    return form % plain if all(isinstance(value, (int, str)) for value in plain) else Unknown()


def _joined(op: str, value: object, other: object) -> object:
    """`x // 10` and `x % 10` make a guessed name joined digits, `x * 10` a major."""
    if not isinstance(value, Guess):
        return value
    if value.part:
        return value.number
    if op in ("//", "%", "/") and other == 10:
        return value.joined
    if op == "*" and other in (10, 100):
        return value.major
    return Unknown()


def _small(left: object, right: object) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, (str, tuple, list)) and isinstance(other, int) and len(one) * other > MAX_TEXT:
            return False
        if isinstance(one, int) and abs(one) > MAX_INT:
            return False
    return not (isinstance(right, int) and right > 64 and not isinstance(left, (int, float)))
