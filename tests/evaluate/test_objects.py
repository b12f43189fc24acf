"""Objects that know the device: made once, kept in a class or a name, compared by their own methods."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.world.tree import Sets

Evaluate = Callable[..., "Sets | None"]

ARCH = """
from dataclasses import dataclass
from typing import TypedDict
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
BY_METHOD = (
    ARCH + "    def __ge__(self, other):\n        return (self.major, self.minor) >= (other.major, other.minor)\n"
)
BY_COUNTERPART = (
    ARCH + "    def __lt__(self, other):\n        return (self.major, self.minor) < (other.major, other.minor)\n"
)
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


@pytest.mark.parametrize(
    ("setup", "condition", "holds"),
    [
        pytest.param(ARCH, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="fields in order"),
        pytest.param(ARCH, "Arch(*cap) == Arch(12, 1)", "12.1 only", id="equal fields"),
        pytest.param(ARCH, "Arch(*cap) != Arch(12, 1)", "every chip but 12.1", id="unequal fields"),
        pytest.param(BY_METHOD, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="a method of its own"),
        pytest.param(BY_COUNTERPART, "Arch(*cap) >= Arch(9, 0)", "9.0 and newer", id="the counterpart's method"),
        pytest.param(IN_CLASS, "Platform.get().is_hopper_plus", "9.0 and newer", id="kept in the class"),
        pytest.param(BY_NAME, "Platform.get().is_hopper_plus", "9.0 and newer", id="kept in the class by its name"),
        pytest.param(IN_MODULE, "current().is_hopper_plus", "9.0 and newer", id="kept in the module"),
        pytest.param("", 'dict(sm=major, count=1)["sm"] >= 9', "9.0 and newer", id="a dict by keywords"),
        pytest.param(
            "from typing import TypedDict\nclass D(TypedDict):\n    sm: int",
            'D(sm=major)["sm"] >= 9',
            "9.0 and newer",
            id="a typed dict",
        ),
    ],
)
def test_an_object_is_what_it_was_made_with(evaluate: Evaluate, setup: str, condition: str, holds: str) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None and sets.decided
    assert str(sets.must) == holds


@pytest.mark.parametrize(
    ("setup", "condition"),
    [
        pytest.param(INFO, "Info(read_vendor(), major).is_hopper_plus", id="a maker that nobody knows"),
        pytest.param(ARCH, "Arch(*read_numbers()) >= Arch(9, 0) and major >= 9", id="numbers that nobody knows"),
        pytest.param(INFO, "(Info('amd', major) if ask() else Info('nvidia', major)).is_hopper_plus", id="any of two"),
        pytest.param(ARCH, "Arch(*cap) >= (9, 0) and major >= 9", id="an order that the class does not have"),
    ],
)
def test_what_an_object_was_made_with_may_be_unknown(evaluate: Evaluate, setup: str, condition: str) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None
    assert (str(sets.must), str(sets.may)) == ("no chip", "9.0 and newer")
