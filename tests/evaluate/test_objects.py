"""Objects that know the device: made once, kept in a class or a name, compared by their own methods.

Python itself is the judge: on every chip it runs what the interpreter is asked, with a device of that chip.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from bwlint.chips import all_chips
from bwlint.world.tree import Sets

Evaluate = Callable[..., "Sets | None"]

ARCH = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Arch:
    major: int
    minor: int
"""
INFO = """
class Info:
    def __init__(self, vendor, major):
        self.vendor = vendor
        self.major = major
    @property
    def is_ours(self):
        return self.vendor == "nvidia"
    @property
    def is_hopper_plus(self):
        return self.is_ours and self.major >= 9
"""
ORDERED = ARCH.replace("frozen=True", "frozen=True, order=True")
BY_METHOD = (
    ARCH + "    def __ge__(self, other):\n        return (self.major, self.minor) >= (other.major, other.minor)\n"
)
LESS = ARCH + "    def __lt__(self, other):\n        return (self.major, self.minor) < (other.major, other.minor)\n"
BY_OPPOSITE = f"from functools import total_ordering\n{LESS}".replace("@dataclass", "@total_ordering\n@dataclass")
IN_BASE = BY_METHOD + "@dataclass(frozen=True)\nclass Ours(Arch):\n    pass\n"
IN_CLASS = f"""{INFO}
class Platform:
    _instance = None
    @classmethod
    def get(cls):
        if cls._instance is None:
            cls._instance = Info("nvidia", torch.cuda.get_device_capability()[0])
        return cls._instance
    @classmethod
    def override(cls, info):
        cls._instance = info
    @classmethod
    def reset(cls):
        cls._instance = None
"""
IN_MODULE = f"""{INFO}
_current = None
def current():
    global _current
    if _current is None:
        _current = Info("nvidia", torch.cuda.get_device_capability()[0])
    return _current
"""
BY_NAME = (
    IN_CLASS.replace("cls._instance", "Platform._instance")
    .replace("@classmethod", "@staticmethod")
    .replace("(cls)", "()")
)
TYPED = "from typing import TypedDict\nclass D(TypedDict):\n    sm: int"


def by_python(setup: str, condition: str, major: int, minor: int) -> bool | None:
    """What Python gives on a chip; None where it raises."""
    device = SimpleNamespace(get_device_capability=lambda *_: (major, minor))
    names: dict[str, Any] = {"torch": SimpleNamespace(cuda=device), "cap": (major, minor), "major": major}
    names |= {"__name__": "example", "ask": lambda: False, "read_vendor": lambda: "amd", "read_numbers": lambda: (8, 0)}
    try:
        exec(compile(setup, "example", "exec", dont_inherit=True), names)
        return bool(eval(condition, names))
    except TypeError:
        return None


def agreed(sets: Sets, setup: str, condition: str) -> bool:
    """Whether no chip is certain of what Python does not give, and none is left out that Python lets in."""
    given = {chip.name: by_python(setup, condition, chip.major, chip.minor) for chip in all_chips()}
    certain, possible = (frozenset(chip.name for chip in one) for one in (sets.must, sets.may))
    return all(given[name] is True for name in certain) and all(
        held is not True or name in possible for name, held in given.items()
    )


@pytest.mark.parametrize(
    ("setup", "condition", "holds"),
    [
        pytest.param(ORDERED, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="fields in order"),
        pytest.param(ARCH, "Arch(*cap) == Arch(12, 1)", "12.1 only", id="equal fields"),
        pytest.param(ARCH, "Arch(*cap) != Arch(12, 1)", "every chip but 12.1", id="unequal fields"),
        pytest.param(ARCH, "Arch(*cap) in (Arch(12, 0), Arch(12, 1))", "12.x", id="one of several"),
        pytest.param(ARCH, "Arch(*cap) not in [Arch(12, 1)]", "every chip but 12.1", id="none of several"),
        pytest.param(BY_METHOD, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="a method of its own"),
        pytest.param(BY_METHOD, "Arch(9, 0) <= Arch(*cap)", "9.0 and newer", id="the mirrored method of the other"),
        pytest.param(IN_BASE, "Ours(*cap) >= Ours(9, 0)", "9.0 and newer", id="a method of its base"),
        pytest.param(IN_BASE, "Ours(*cap) == Ours(12, 0)", "12.0 only", id="the fields of its base"),
        pytest.param(BY_OPPOSITE, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="the opposite of a method"),
        pytest.param(BY_OPPOSITE, "Arch(*cap) <= Arch(9, 0)", "7.0 to 9.0", id="the opposite, mirrored"),
        pytest.param(IN_CLASS, "Platform.get().is_hopper_plus", "9.0 and newer", id="kept in the class"),
        pytest.param(BY_NAME, "Platform.get().is_hopper_plus", "9.0 and newer", id="kept in the class by its name"),
        pytest.param(IN_MODULE, "current().is_hopper_plus", "9.0 and newer", id="kept in the module"),
        pytest.param("", 'dict(sm=major, count=1)["sm"] >= 9', "9.0 and newer", id="a dict by keywords"),
        pytest.param(TYPED, 'D(sm=major)["sm"] >= 9', "9.0 and newer", id="a typed dict"),
    ],
)
def test_an_object_is_what_it_was_made_with(evaluate: Evaluate, setup: str, condition: str, holds: str) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None and sets.decided
    assert str(sets.must) == holds
    assert agreed(sets, setup, condition)


@pytest.mark.parametrize(
    ("setup", "condition"),
    [
        pytest.param(INFO, "Info(read_vendor(), major).is_hopper_plus", id="a maker that nobody knows"),
        pytest.param(ARCH, "Arch(*read_numbers()) == Arch(9, 0) and major >= 9", id="numbers that nobody knows"),
        pytest.param(INFO, "(Info('amd', major) if ask() else Info('nvidia', major)).is_hopper_plus", id="any of two"),
        pytest.param(ORDERED, "Arch(*cap) >= (9, 0) and major >= 9", id="an order with what is no object of the class"),
        pytest.param(ARCH, "Arch(*cap) >= Arch(9, 0) and major >= 9", id="a dataclass without an order"),
        pytest.param(BY_METHOD, "Arch(*cap) < Arch(20, 0) and major >= 9", id="an operator that the class has not"),
    ],
)
def test_what_an_object_was_made_with_may_be_unknown(evaluate: Evaluate, setup: str, condition: str) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None
    assert (str(sets.must), str(sets.may)) == ("no chip", "9.0 and newer")
    assert agreed(sets, setup, condition)
