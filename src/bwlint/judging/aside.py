"""Files that stand beside what a project ships: tests, benchmarks, examples, scripts."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bwlint.chips.backends import is_for_another_vendor
from bwlint.judging.context import Context
from bwlint.model.facts import Module
from bwlint.sources.tree import is_project, project_folder
from bwlint.world.gates import TEST_FILE

_ASIDE = re.compile(
    r"(?:^|/)(?:bench\w*|examples?|scripts?|tools?|demos?|profil\w*|tutorials?|ci|\.\w+)/|(?:^|/)bench\w*_[^/]*$|_bench\w*\.\w+$",
    re.I,
)
_VENDORED = re.compile(r"(?:^|/)(?:third[-_]?part(?:y|ies)|3rd[-_]?party|_?vendor(?:ed)?|externals|submodules?)/", re.I)
_TOOLS = re.compile(r"(?:^|/)(?:scripts?|tools?)(?=/)", re.I)


def aside(context: Context, module: Module) -> bool:
    """Whether nobody's program loads a file, by its place in the project."""
    return context.in_test(module) or _ASIDE.search(context.places.get(module.path, "")) is not None


def aside_marks(context: Context, module: Module) -> frozenset[str]:
    """How a file stands aside: "in-test" or "aside"; nothing for what the project ships."""
    if context.in_test(module):
        return frozenset({"in-test"})
    return frozenset({"aside"}) if aside(context, module) else frozenset()


def place_mark(real: str, root: str) -> tuple[str, str]:
    """A file's path within its project, and how it stands aside: "in-test", "aside" or ""."""
    place = real.removeprefix(project_folder(root)).lstrip(os.sep).replace(os.sep, "/")
    if TEST_FILE.search(place):
        return place, "in-test"
    return place, "aside" if _ASIDE.search(place) else ""


def for_developers(context: Context, module: Module) -> bool:
    """Whether it stands aside and is no tool that people run on their own machine."""
    place = _TOOLS.sub("", context.places.get(module.path, ""))
    return context.in_test(module) or _ASIDE.search(place) is not None


def vendored(context: Context, module: Module) -> bool:
    """Whether a file is a copy of another project's in a project of somebody's: it is mended where it came from."""
    if _VENDORED.search(context.places.get(module.path, "")):
        return True
    found = _VENDORED.search(module.path.replace(os.sep, "/"))  # a submodule is a project of its own
    around = module.path[: found.start()] if found is not None else ""
    return bool(around) and is_project(f"{around}{os.sep}", around)


def for_another_vendor(context: Context, module: Module) -> bool:
    """Whether a file lies in a folder of its project that is called after what another vendor makes."""
    return any(map(is_for_another_vendor, Path(context.places.get(module.path, "")).parts[:-1]))
