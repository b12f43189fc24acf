"""Lists of `a` names, with the names of the family beside them."""

from __future__ import annotations

import pytest

from .conftest import Project

ENUM = """from enum import Enum


class Arch(Enum):
    sm_100a = (10, 0, "a")
    sm_120a = (12, 0, "a")
    sm_120f = (12, 0, "f")
    sm_121a = (12, 1, "a")
    sm_121f = (12, 1, "f")
"""
USE = """from .arch import Arch


class Op:
    admissible_archs = {}

    def __post_init__(self):
        if get_arch_enum() not in self.admissible_archs:
            raise ValueError(self.admissible_archs)
"""


def checked(project: Project, text: str, enum: str = ENUM) -> list[tuple[str, str]]:
    files = {"p/__init__.py": "", "p/arch.py": enum, "p/op.py": USE.format(text)}
    return project(files).fixes("family-split")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "[Arch.sm_120a, Arch.sm_121a]",
            "[Arch.sm_120a, Arch.sm_120f, Arch.sm_121a, Arch.sm_121f]",
        ),
        (
            "[\n        Arch.sm_120a,\n        Arch.sm_121a,\n    ]",
            "[\n        Arch.sm_120a,\n        Arch.sm_120f,\n        Arch.sm_121a,\n        Arch.sm_121f,\n    ]",
        ),
        (
            "[\n        Arch.sm_120a,  # RTX 5090\n        Arch.sm_121a\n    ]",
            "[\n        Arch.sm_120a,  # RTX 5090\n        Arch.sm_120f,\n"
            "        Arch.sm_121a,\n        Arch.sm_121f\n    ]",
        ),
    ],
)
def test_family_names(project: Project, before: str, after: str) -> None:
    assert checked(project, before) == [("unsafe", USE.format(after))]


@pytest.mark.parametrize(
    "text",
    [
        "[Arch.sm_120a, Arch.sm_120f, Arch.sm_121a, Arch.sm_121f]",
        "[Arch.sm_120f, Arch.sm_121f]",
        "[Arch.sm_100a]",
        "['sm_120a', 'sm_121a']",
        "[Arch.sm_120a, Arch.sm_121a]  # exactly these",
        "NAMES",
    ],
)
def test_silent(project: Project, text: str) -> None:
    assert checked(project, text) == []


def test_enum_without_them(project: Project) -> None:
    enum = "".join(line for line in ENUM.splitlines(keepends=True) if "f =" not in line)
    assert checked(project, "[Arch.sm_120a, Arch.sm_121a]", enum) == []


@pytest.mark.parametrize("test", ["arch == Arch.sm_120a", "arch in [Arch.sm_100a, Arch.sm_120a]"])
def test_member_that_is_not_there(project: Project, test: str) -> None:
    """The interpreter knows every name of a target; the program does not."""
    enum = "".join(line for line in ENUM.splitlines(keepends=True) if "sm_121" not in line)
    text = f"from .arch import Arch\narch = get_arch_enum()\nif not {test}:\n    raise ValueError('no')\n"
    files = {"p/__init__.py": "", "p/arch.py": enum, "p/op.py": text}
    found = project(files)
    assert (found.fixes("family-split"), found.refusals("family-split")) == ([], ["`Arch` has no member `sm_121a`"])


def test_target_that_the_refusal_denies(project: Project) -> None:
    text = USE.format("[Arch.sm_120a, Arch.sm_121a]").replace(
        "ValueError(self.admissible_archs)",
        'ValueError(f"needs {self.admissible_archs}, sm_120f is not supported yet")',
    )
    found = project({"p/__init__.py": "", "p/arch.py": ENUM, "p/op.py": text})
    assert found.fixes("family-split") == []
    assert found.refusals("family-split") == ["its refusal says that the family target is not supported"]


def test_a_names_of_every_family(project: Project) -> None:
    enum = ENUM.replace("    sm_120a", '    sm_100f = (10, 0, "f")\n    sm_120a')
    files = {
        "p/__init__.py": "",
        "p/arch.py": enum,
        "p/op.py": USE.format("[Arch.sm_100a, Arch.sm_120a, Arch.sm_121a]"),
    }
    found = project(files)
    assert found.fixes("family-split") == []
    assert found.refusals("family-split") == [
        "it lists the `a` targets of other families alone, too: the code behind it may exist on those only"
    ]


OTHER = """

class Other:
    admissible_archs = [Arch.sm_120a, Arch.sm_120f, Arch.sm_121a, Arch.sm_121f]

    def __post_init__(self):
        if get_arch_enum() not in self.admissible_archs:
            raise ValueError("no {}")
"""


@pytest.mark.parametrize("words", ["such chip", "sm_120f is not supported"])
def test_list_of_the_same_kind_that_has_them(project: Project, words: str) -> None:
    text = USE + OTHER.format(words)
    files = {"p/__init__.py": "", "p/arch.py": ENUM, "p/op.py": text.replace("{}", "[Arch.sm_120a, Arch.sm_121a]", 1)}
    fixes = project(files).fixes("family-split")
    assert fixes == [("safe", text.replace("{}", "[Arch.sm_120a, Arch.sm_120f, Arch.sm_121a, Arch.sm_121f]", 1))]
