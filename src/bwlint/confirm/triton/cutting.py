"""Cut a Triton kernel and everything it needs out of the tree."""

# Paths are plain strings here, as in `world.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass

from bwlint.confirm.slicing.closure import Cutout, Cutter
from bwlint.confirm.slicing.modules import File, Files, file_of, source_of
from bwlint.confirm.slicing.syntax import GATE
from bwlint.evaluate.names import guess
from bwlint.readers.python.least import Function
from bwlint.readers.python.triton import jitted
from bwlint.sources.errors import ReadError
from bwlint.sources.read import Unread
from bwlint.sources.tree import import_roots, module_name, package_root


@dataclass(frozen=True, slots=True)
class KernelSlice:
    """A kernel's name in its module, and the statements of all modules that it needs. `helpers` are the jit functions
    among them, by name."""

    module: str
    name: str
    modules: Mapping[str, Cutout]
    devices: frozenset[str]
    helpers: Mapping[str, Function]


def home_of(real: str) -> File | str:
    """The module in a file; a string says why there is none."""
    source = source_of(real)
    if isinstance(source, Unread):
        return f"the file is not readable any more: {source.reason}"
    folder = package_root(real)
    try:
        return file_of(module_name(real, folder), os.path.basename(real) == "__init__.py", source)
    except ReadError as error:
        return f"the file does not parse: {error}"
    except RecursionError:
        return "the file is nested too deep"


def cut_kernel(real: str, home: File, name: str) -> KernelSlice:
    folder = package_root(real)
    files = Files([folder, *import_roots(folder)])
    files.add(home)
    cutter = Cutter(files, "")
    gate = ast.parse(f"def {GATE}():\n    return {name}").body[0]
    assert isinstance(gate, ast.FunctionDef)
    cutter.gate(home, gate)
    cutter.run()
    devices = frozenset(word for word in cutter.names if guess(word) is not None)
    return KernelSlice(home.dotted, name, cutter.plans, devices, _helpers(cutter.plans))


def _helpers(plans: Mapping[str, Cutout]) -> dict[str, Function]:
    found: dict[str, Function] = {}
    for plan in plans.values():
        for text, _ in plan.statements:
            found |= jitted(ast.parse(text))
    return found
