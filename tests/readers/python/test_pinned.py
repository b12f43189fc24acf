"""Architectures that classes pin, and constructors that set them whatever they were."""

from __future__ import annotations

import pytest

from bwlint.readers.python import read
from bwlint.readers.python.pinned import may_hold

_HEAD = "class Sub(Base):\n"
_INIT = "    def __init__(self, x, arch=None):\n        "
_SUPER = "super().__init__(x)"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    arch = 80\n", [("pinned", "Sub.arch")]),
        ("    sm_arch: int = 80\n", [("pinned", "Sub.sm_arch")]),
        (f"    arch = 80\n{_INIT}{_SUPER}\n", [("pinned", "Sub.arch")]),
        (f"{_INIT}self.arch = 80; {_SUPER}\n", [("pinned", "Sub.arch")]),
        (f"{_INIT}{_SUPER}; self.arch = 80\n", [("set-anew", "Sub.arch")]),
        (f"{_INIT}self.arch = query()\n", [("set-anew", "Sub.arch")]),
        (f"{_INIT}self.arch = arch\n", []),
        (f"{_INIT}self.arch = arch or query()\n", []),
        (f"{_INIT}\n        if x:\n            self.arch = query()\n", []),
        (f"{_INIT}self.arch = 80; super().__init__(x, arch=80)\n", []),
        (f"{_INIT}self.arch = 80; super().__init__(80)\n", []),
        (f"{_INIT}self.arch = 80; {_SUPER}; self.arch = 80\n", [("set-anew", "Sub.arch")]),
        (f"    arch = 80\n{_INIT}self.x = x\n", []),
        (f"    arch = 80\n{_INIT}super().__init__(x, arch=90)\n", []),
        ("    arch = query()\n", []),
        ("    architectures = 80\n", []),
        ("    search = 80\n", []),
    ],
)
def test_a_class(body: str, found: list[tuple[str, str]]) -> None:
    module = read("a.py", _HEAD + body, "a", False)
    assert [(one.kind, one.name) for one in module.operations if one.kind in ("pinned", "set-anew")] == found
    assert may_hold((_HEAD + body).encode()) or not found
