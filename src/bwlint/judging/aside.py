"""Files that stand beside what a project ships: tests, benchmarks, examples, scripts; and who else handles an error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from bwlint.chips.backends import is_for_another_vendor
from bwlint.chips.words import said
from bwlint.judging.context import Context
from bwlint.model.facts import Module, Operation
from bwlint.readers.python.memory_queries import guarded
from bwlint.sources.tree import is_project, project_folder
from bwlint.world.builds import ends_in
from bwlint.world.gates import TEST_FILE
from bwlint.world.headers import resolve

_ASIDE = re.compile(
    r"(?:^|/)(?:bench\w*|examples?|scripts?|tools?|demos?|profil\w*|tutorials?|ci|\.\w+)/|(?:^|/)bench\w*_[^/]*$|_bench\w*\.\w+$",
    re.I,
)
_VENDORED = re.compile(r"(?:^|/)(?:third[-_]?part(?:y|ies)|3rd[-_]?party|_?vendor(?:ed)?|externals|submodules?)/", re.I)
_OF_HIP = re.compile(said("header-of-hip"))
_OF_CUDA = re.compile(said("header-of-cuda"))
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
    """Whether a file lies in a folder of its project that is called after what another vendor makes, or always includes
    headers of HIP and none of CUDA.
    """
    of_hip = any(_OF_HIP.search(one.text) is not None and not one.tests for one in module.includes)
    if of_hip and not any(_OF_CUDA.search(one.text) for one in module.includes):
        return True
    return any(map(is_for_another_vendor, Path(context.places.get(module.path, "")).parts[:-1]))


def caught_elsewhere(context: Context, module: Module, name: str) -> bool:
    """Whether a function that asks the driver is called somewhere, and always where a refusal is caught."""
    hits = context.search(module).word("python", name) if name.isidentifier() else ()
    texts = map(context.native.text, dict.fromkeys(hit.file.real for hit in hits))
    calls = [caught for text in texts for caught in guarded(text, name)]
    return bool(calls) and all(calls)


def looked_at_by_called(context: Context, module: Module, launch: Operation) -> bool:
    """Whether something that is called below a launch, in its function, asks for the last error."""
    from bwlint.readers.cuda.launches import LOOKED

    own = context.native.outline(module.path)
    around = [one for one in own.definitions.values() if one.at.holds(launch.at)] if own is not None else []
    called = {use.name.rpartition(".")[2] for one in around for use in one.uses if use.at > launch.at}
    paths = dict.fromkeys(_compiled_with(context, module)) if called else ()
    outlines = filter(None, map(context.native.outline, paths))
    defined = [one for outline in outlines for one in outline.definitions.values()]
    asked = (one for one in defined if one.qualname.rpartition(".")[2] in called)
    return any(LOOKED.search(use.name) is not None for one in asked for use in one.uses)


def _compiled_with(context: Context, module: Module) -> Iterator[str]:
    """A file and what it includes; what no folder around has is the one file that is so called."""
    headers = context.tree.headers
    yield from (module.path, *headers.reached(module))
    found = (file.real for file in context.search(module).files("cuda"))
    files = {*found, *(one.path for one in headers.known())}
    for one in (module, *headers.included(module)):
        folder = str(PurePath(one.path).parent)
        for text in (include.text for include in one.includes if resolve(folder, include.text) is None):
            named = [path for path in files if ends_in(path, text)]
            other = headers.at(named[0]) if len(named) == 1 else None
            yield from (named[0], *headers.reached(other)) if other is not None else ()
