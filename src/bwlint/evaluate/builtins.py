"""Python's own functions, attributes and methods on the values of one chip, within a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bwlint.chips import frameworks, spelling
from bwlint.evaluate import patterns
from bwlint.evaluate.names import guess
from bwlint.evaluate.values import (
    CHIPS,
    MAX_TEXT,
    ArchMember,
    Capability,
    DeviceProperties,
    DriverTarget,
    EnumMember,
    Guess,
    Method,
    Number,
    ProductName,
    Raises,
    Record,
    Ref,
    ReleaseNumber,
    Unknown,
    Vec,
    lift,
    truth,
)
from bwlint.evaluate.vectors import part, zipped

MAX_RANGE = 2000
ARCH = "Arch"
"""What kernel DSLs call their enum of architectures."""
_BEGINNING = re.compile(rf"({spelling.PREFIX}|)1?[0-9]")


def arch_member(dotted: str) -> ArchMember | None:
    """`Arch.sm_120a` and the like: a member of a kernel DSL's architecture enum."""
    owner, _, name = dotted.rpartition(".")
    if owner.rpartition(".")[2] != ARCH:
        return None
    found = spelling.member(name)
    return ArchMember(*divmod(found.number, 10), found.suffix) if found is not None else None


def names_chip(container: Any, chip: Any) -> Any:
    """Whether a list of target names (text or enum members) holds one of a chip, whatever its suffix."""
    if not isinstance(container, (list, tuple, set, frozenset)):
        return Unknown()
    for member in container:
        if isinstance(member, ArchMember) and _serves(member.major, member.minor, member.suffix, chip):
            return True
        found = spelling.spelled(member) if isinstance(member, str) else None
        if found and not found.dotted and _serves(*divmod(found.number, 10), found.suffix, chip):
            return True
    return False


def _serves(major: int, minor: int, suffix: str, chip: Any) -> bool:
    """A name of the chip itself, or the family target of an earlier minor."""
    return major == chip.major and (minor == chip.minor or (suffix == "f" and minor <= chip.minor))


def to_text(value: object) -> str:
    if isinstance(value, Guess):
        return str(value.number)
    if isinstance(value, (Ref, Method, DeviceProperties, ArchMember, EnumMember, Unknown, Raises)):
        raise ValueError("no text")
    text = str(value)
    if len(text) > MAX_TEXT:
        raise ValueError("over the budget")
    return text


def item(base: Any, key: Any) -> Any:
    if isinstance(base, Guess):
        if base.part:
            return Unknown()
        return base.as_part("major" if key == 0 else "minor") if key in (0, 1, -1, -2) else Unknown()
    if isinstance(base, dict):
        if isinstance(key, ProductName):
            key = next((text for text in key.texts if text in base), None)
            if key is None:
                return Unknown()
        if isinstance(key, Guess):
            forms = [key.form(k) for k in base]
            for form, k in zip(forms, base, strict=True):
                if form == k:
                    return base[k]
            return Unknown()
        if key not in base:
            return Raises(f"KeyError: {key!r}")
        return base[key]
    if isinstance(base, (list, tuple, str, re.Match)):
        return base[key]
    return Unknown()


def section(base: Any, lower: Any, upper: Any, step: Any) -> Any:
    if isinstance(base, Guess) and lower in (None, 0) and upper == 2:
        return base
    return base[lower:upper:step] if isinstance(base, (list, tuple, str)) else Unknown()


def attribute(value: Any, name: str) -> Any:
    """`value.name` for a plain value."""
    if isinstance(value, Guess):
        if name in ("major", "minor") and not value.part:
            return value.as_part(name)
        return value if not value.part and guess(name) is not None else Method(value, name)
    if isinstance(value, Capability):
        if name == "major":
            return value[0]
        if name == "minor":
            return value[1]
        return Method(value, name)
    if isinstance(value, DriverTarget):
        return getattr(value, name, Unknown())
    if isinstance(value, DeviceProperties):
        return _property(value, name)
    if isinstance(value, ArchMember):
        if name in ("major", "minor", "suffix"):
            return getattr(value, name)
        return Method(value, name)
    if isinstance(value, str) and name in ("stdout", "returncode"):
        return value if name == "stdout" else 0  # of a program that was run
    if isinstance(value, Record) and name in value.fields:
        return value[value.fields.index(name)]
    if isinstance(value, (EnumMember, Number)) and name in ("name", "value"):
        return value.name if name == "name" else value.value if isinstance(value, EnumMember) else int(value)
    if isinstance(value, tuple) and len(value) == 2 and name in ("major", "minor"):
        return value[0] if name == "major" else value[1]
    if isinstance(value, Ref):
        return Ref(f"{value.name}.{name}")
    return Method(value, name)


def method(target: Any, args: Sequence[Any]) -> Any:
    """Call a bound method of a plain value."""
    if not isinstance(target, Method):
        return Unknown()
    owner, name = target.owner, target.name
    if isinstance(owner, Capability):
        if name == "to_int":
            return owner[0] * 10 + owner[1]
        if name == "as_version_str":
            return f"{owner[0]}.{owner[1]}"
    if isinstance(owner, Guess):
        return _guess_method(owner, name, args)
    if isinstance(owner, ArchMember):
        if name == "is_family_of" and args and isinstance(args[0], ArchMember):
            return owner.of_family(args[0])
        return Unknown()
    if isinstance(owner, (re.Pattern, re.Match)):
        return patterns.method(owner, name, args)
    if isinstance(owner, (str, ProductName)):
        return _text_method(owner, name, args)
    if isinstance(owner, dict):
        return _dict_method(owner, name, args)
    if isinstance(owner, (list, tuple)) and name in ("index", "count") and len(args) == 1:
        return getattr(owner, name)(args[0])
    if isinstance(owner, (frozenset, set)) and name in ("union", "intersection", "difference", "issubset"):
        return getattr(frozenset(owner), name)(*args)
    return Unknown()


def _property(value: DeviceProperties, name: str) -> Any:
    if name in ("major", "minor"):
        return getattr(value, name)
    known = {"name": value.product, "shared_memory_per_block_optin": value.smem_optin}.get(name)
    return Unknown() if known is None else known


def _text_method(owner: str | ProductName, name: str, args: Sequence[Any]) -> Any:
    if isinstance(owner, str) and name == "format":
        return _formatted(owner, args)
    if isinstance(owner, str) and name in _PRINTED:
        return owner if name != "communicate" else (owner, "")
    if name not in _TEXT_METHODS or any(isinstance(arg, (Guess, Ref)) for arg in args):
        return Unknown()
    if isinstance(owner, ProductName):
        return owner.method(name, args)
    result = getattr(owner, name)(*args)
    return Unknown() if isinstance(result, str) and len(result) > MAX_TEXT else result


_FIELD = re.compile(r"\{\{|\}\}|\{(\d?)(?:!([sra]))?(?::(0?\d?[dsx]?))?\}|[{}]")


def _formatted(form: str, args: Sequence[Any]) -> Any:
    """`"sm_{}{}".format(major, minor)`: fields by place, with a small width."""
    place = iter(range(len(args)))

    def part(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None:
            raise ValueError("a form that is not read")
        value = args[int(match[1]) if match[1] else next(place)]
        if isinstance(value, Guess):
            value = value.number
        if not isinstance(value, (int, str, tuple, float)):
            raise ValueError("no text")
        text = repr(value) if match[2] in ("r", "a") else to_text(value) if match[2] else value
        return format(text, match[3] or "")

    try:
        return _FIELD.sub(part, form)
    except (StopIteration, IndexError, ValueError):
        return Unknown()


def _guess_method(owner: Guess, name: str, args: Sequence[Any]) -> Any:
    if name == "to_int":
        return owner.major * 10 + owner.minor
    if name in ("startswith", "endswith") and len(args) == 1 and not owner.part:
        wanted = args[0] if isinstance(args[0], tuple) else (args[0],)
        if not all(isinstance(text, str) for text in wanted):
            return Unknown()
        match = _BEGINNING.match(wanted[0])
        if not match or name == "endswith":
            return Unknown()
        return any(f"{match[1]}{owner.major}{owner.minor}".startswith(text) for text in wanted)
    return Unknown()


def _dict_method(owner: dict[Any, Any], name: str, args: Sequence[Any]) -> Any:
    if name == "get" and args:
        default = args[1] if len(args) > 1 else None
        if isinstance(args[0], Guess):
            found = item(owner, args[0])
            return found if not isinstance(found, Unknown) else default
        return owner.get(args[0], default)
    if name == "keys":
        return list(owner)
    if name == "values":
        return list(owner.values())
    if name == "items":
        return list(owner.items())
    return Unknown()


_PRINTED = frozenset({"decode", "read", "communicate"})
"""How the text is taken that a program prints."""
_TEXT_METHODS = frozenset(
    [
        "startswith",
        "endswith",
        "isdigit",
        "isdecimal",
        "isnumeric",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "replace",
        "removeprefix",
        "removesuffix",
        "find",
        "rfind",
        "index",
        "count",
        "join",
        "title",
        "zfill",
    ]
)


_RELEASE = re.compile(r"\d+\.\d+(?:\.\w+)*$")


def versions_as_text(op: str, left: object, right: object) -> bool:
    """Two release numbers ordered as strings."""
    return (
        op in ("<", "<=", ">", ">=")
        and isinstance(left, str)
        and isinstance(right, str)
        and _RELEASE.match(left) is not None
        and _RELEASE.match(right) is not None
    )


def clash(op: str, mine: object, other: object, mine_is_left: bool) -> str | None:
    """Why a capability `mine` can never equal `other`; None where the types fit or nothing is certain."""
    if op in ("==", "!="):
        return _never_equal(mine, other)
    if op in ("in", "not in") and mine_is_left and isinstance(other, (list, tuple, set, frozenset)):
        reasons = [_never_equal(mine, member) for member in other]
        return reasons[0] if reasons and all(reasons) else None
    if op in ("<", "<=", ">", ">="):
        unlike = isinstance(mine, tuple) and isinstance(other, (int, float, str, list))
        if unlike or (_is_text_of_numbers(mine) and isinstance(other, (int, float))):
            return f"{_kind(mine)} cannot be ordered against {_kind(other)}: TypeError"
    return None


_MAJORS = tuple(chip.major for chip in CHIPS)
_JOINED = tuple(chip.joined for chip in CHIPS)
_TESLA = frozenset({10, 11, 12, 13})
"""The joined digits of the first chips, of 1.0 to 1.3, which old code still asks for."""


def of_another_unit(mine: Sequence[object], other: object) -> str | None:
    """Why the majors of the chips, or their joined digits, all compare alike with a number; None where they do not."""
    numbers = tuple(other) if isinstance(other, (list, tuple, set, frozenset)) else (other,)
    if not numbers or not all(type(number) is int for number in numbers):
        return None
    if tuple(mine) == _MAJORS and set(_JOINED).issuperset(numbers):
        return f"a major such as {mine[-1]} is compared with joined digits such as {numbers[0]}"
    if tuple(mine) == _JOINED and set(_MAJORS).difference(_TESLA).issuperset(numbers):
        return f"joined digits such as {mine[-1]} are compared with a major such as {numbers[0]}"
    return None


def _is_text_of_numbers(value: object) -> bool:
    """A capability as a text: "86", "8.6"."""
    return isinstance(value, str) and value.replace(".", "", 1).isdecimal()


def _never_equal(mine: object, other: object) -> str | None:
    if isinstance(mine, tuple) and len(mine) == 2:
        if isinstance(other, (int, str, list)) and not isinstance(other, bool):
            return f"{_kind(mine)} never equals {_kind(other)}"
        return None
    if _is_text_of_numbers(mine) and isinstance(other, (int, float)) and not isinstance(other, bool):
        return f"{_kind(mine)} never equals {_kind(other)}"
    if isinstance(mine, ArchMember) and isinstance(other, (str, int, tuple)):
        return f"{_kind(mine)} never equals {_kind(other)}"
    return None


def _kind(value: object) -> str:
    if isinstance(value, Capability):
        return f"a DeviceCapability such as ({value[0]}, {value[1]})"
    if isinstance(value, tuple):
        return f"a tuple such as {value}"
    if isinstance(value, ArchMember):
        return "a member of an architecture enum"
    if isinstance(value, list):
        return f"the list {value!r}"
    return f"the string {value!r}" if isinstance(value, str) else f"the number {value!r}"


Builtin = Callable[[Sequence[Vec], Mapping[str, Vec]], Vec]


def _plain(function: Callable[..., Any]) -> Builtin:
    def run(args: Sequence[Vec], keywords: Mapping[str, Vec]) -> Vec:
        if not args or keywords:
            return Vec((Unknown(),))
        return lift(function, *args)

    return run


def _any_all(stop: bool) -> Callable[[Any], Any]:
    def fold(items: Any) -> Any:
        if not isinstance(items, (list, tuple, set, frozenset, dict)):
            return Unknown()
        doubt: Any = not stop
        for member in items:
            value = truth(member)
            if value is stop:
                return stop
            if not isinstance(value, bool):
                doubt = Unknown()
        return doubt

    return fold


def _int(value: Any, base: Any = 10) -> Any:
    if isinstance(value, Guess):
        return value
    if isinstance(value, str):
        return int(value, base) if len(value) < 100 else Unknown()
    return int(value) if isinstance(value, (int, float)) else Unknown()


def _str(value: Any) -> Any:
    return value if isinstance(value, Guess) else to_text(value)


def _range(*args: Any) -> Any:
    result = range(*args)
    return result if len(result) <= MAX_RANGE else Unknown()


def _extreme(best: Callable[..., Any]) -> Callable[..., Any]:
    def pick(*args: Any) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        if any(isinstance(value, (Unknown, Guess, Ref)) for value in values):
            return Unknown()
        return best(values)

    return pick


def _sequence(build: Callable[[Any], Any]) -> Callable[..., Any]:
    def convert(value: Any) -> Any:
        if isinstance(value, (list, tuple, set, frozenset, range, dict, str)) and len(value) <= MAX_RANGE:
            return build(value)
        return value if isinstance(value, Guess) else Unknown()

    return convert


def _isinstance(value: Any, kind: Any) -> Any:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    names = [k.name.rpartition(".")[2] if isinstance(k, Ref) else None for k in kinds]
    known = {"int": int, "str": str, "tuple": tuple, "list": list, "dict": dict, "bool": bool, "float": float}
    if isinstance(value, (Guess, Ref, Unknown)) or not all(name in known for name in names):
        return Unknown()
    return any(isinstance(value, known[name]) for name in names if name)


def _getattr(args: Sequence[Vec], keywords: Mapping[str, Vec]) -> Vec:
    if len(args) < 2 or not isinstance(args[1].only(), str):
        return Vec((Unknown(),))
    name = args[1].only()
    owner = args[0].only()
    member = arch_member(f"{owner.name}.{name}") if isinstance(owner, Ref) else None
    return Vec((member,)) if member is not None else lift(lambda value, *_: attribute(value, name), args[0])


def dict_of(args: Sequence[Vec], keywords: Mapping[str, Vec]) -> Vec:
    """`dict(cc=..., count=...)`."""
    if args:
        return Vec((Unknown(),))
    return zipped(lambda row: dict(zip(keywords, map(part, row), strict=True)), list(keywords.values()))


def _divmod(left: Any, right: Any) -> Any:
    if isinstance(left, Guess):
        left = left.joined
    return divmod(left, right)


FUNCTIONS: dict[str, Builtin] = {
    "any": _plain(_any_all(True)),
    "all": _plain(_any_all(False)),
    "min": _plain(_extreme(min)),
    "max": _plain(_extreme(max)),
    "int": _plain(_int),
    "str": _plain(_str),
    "float": _plain(lambda value: float(value) if isinstance(value, (int, str)) else Unknown()),
    "bool": _plain(truth),
    "abs": _plain(abs),
    "len": _plain(lambda value: len(value) if isinstance(value, (list, tuple, str, dict, frozenset)) else Unknown()),
    "tuple": _plain(_sequence(tuple)),
    "list": _plain(_sequence(list)),
    "set": _plain(_sequence(frozenset)),
    "frozenset": _plain(_sequence(frozenset)),
    "sorted": _plain(_sequence(sorted)),
    "next": _plain(lambda items, *rest: items[0] if isinstance(items, list) and items else Unknown()),
    "range": _plain(_range),
    "dict": dict_of,
    "divmod": _plain(_divmod),
    "isinstance": _plain(_isinstance),
    "getattr": _getattr,
    **{call.rpartition(".")[2]: _plain(lambda value: _version(value)) for _, _, call in frameworks.releases()},
}


def _version(value: Any) -> Any:
    """A release number as a tuple, as `packaging.version.Version` orders it."""
    if isinstance(value, ReleaseNumber):
        return value
    if not isinstance(value, str):
        return Unknown()
    parts = re.findall(r"\d+", value)[:4]
    return tuple(int(part) for part in parts) if parts and len(value) < 60 else Unknown()
