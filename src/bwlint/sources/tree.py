"""Where packages begin, for resolving imports inside a tree."""

# Paths are plain strings here: a `Path` for each file would double the time of a walk.
# ruff: noqa: PTH118, PTH120, PTH122, PTH206

from __future__ import annotations

import os
from collections.abc import Iterable

from bwlint.sources import disk

KERNEL_PACKAGE = "build.toml"
"""What kernel-builder builds a package of kernels by; each in a folder of such packages is a project by itself."""
PROJECT_MARKS = (".git", ".github", "pyproject.toml", "setup.py", "setup.cfg", KERNEL_PACKAGE)
_CHECKOUT_MARKS = (".git",)
_SOURCE_FOLDERS = ("", "src", "python")
_MAX_CLIMB = 8


@disk.remembered
def package_root(real_path: str) -> str:
    """The folder where absolute imports of the file `real_path` begin.

    It is the one above the topmost folder with an ``__init__.py``; folders in between may lack one (namespace
    packages do), but the climb ends at a project's folder that is no package itself, and at a checkout: what lies
    beside that is another project, though the checkout's own folder may have an ``__init__.py``.
    """
    return folder_root(os.path.dirname(real_path))


@disk.remembered
def folder_root(folder: str) -> str:
    """The package root of the files in `folder`; one look for each folder and process."""
    root, current = folder, folder
    for _ in range(_MAX_CLIMB):
        parent = os.path.dirname(current)
        if parent == current:
            break
        if _is_marked(current, _CHECKOUT_MARKS):
            return current if _is_package(current) else root
        if _is_package(current):
            root = parent
        elif _is_marked(current, PROJECT_MARKS):
            break
        current = parent
    return root


@disk.remembered
def _is_package(folder: str) -> bool:
    return disk.is_file(os.path.join(folder, "__init__.py"))


@disk.remembered
def _is_marked(folder: str, marks: tuple[str, ...]) -> bool:
    return any(disk.exists(os.path.join(folder, mark)) for mark in marks)


def module_name(path: str, root: str) -> str:
    """The dotted name of the module at `path` below `root`; a package has its folder's. Raises ValueError."""
    prefix = root.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        raise ValueError(f"{path} is not below {root}")
    parts = os.path.splitext(path[len(prefix) :])[0].split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_bare_project(folder: str) -> bool:
    """Whether a project or a checkout begins in a folder that is no package, though it may be called like one."""
    return _is_marked(folder, (*PROJECT_MARKS, *_CHECKOUT_MARKS)) and not _is_package(folder)


def import_roots(root: str) -> tuple[str, ...]:
    """Where else imports of a file below `root` may begin: the project's folder, its `src` and its `python`."""
    folder = _project(root)
    return tuple(os.path.join(folder, name).rstrip(os.sep) for name in _SOURCE_FOLDERS) if folder else ()


def find_module(dotted: str, roots: Iterable[str]) -> str | None:
    """The file of a module by its dotted name, in the first of some roots that has it."""
    top, relative = dotted.partition(".")[0], dotted.replace(".", os.sep)
    for root in roots:
        if top not in entries(root):
            continue
        for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
            path = os.path.join(root, candidate)
            if disk.is_file(path):
                return path
    return None


@disk.remembered
def entries(root: str) -> frozenset[str]:
    """Names that an import can begin with in a root, so that most imports cost no look at the disk."""
    try:
        return frozenset(name.removesuffix(".py") for name in disk.names(root))
    except OSError:
        return frozenset()


def is_project(real: str, root: str) -> bool:
    """Whether a file belongs to a package or a project, so that what lies around it belongs to it too."""
    return os.path.dirname(real) != root or _project(root) is not None


def project_folder(root: str) -> str:
    """The project's folder around the package root `root`, or `root` itself where nothing marks one."""
    return _project(root) or root


def checkout_folder(root: str) -> str:
    """The checkout, or its archive, that a project or a `tests/extension` is part of; else the project's folder."""
    return _above(root, _CHECKOUT_MARKS) or _above(root, (".github",)) or project_folder(root)


@disk.remembered
def bundle(folder: str, top: str) -> str:
    """The outermost folder between one and `top` that is a project of its own, with its licence, readme and build;
    "" where none is, or `folder` is not below `top`."""
    if not folder.startswith(f"{top}{os.sep}"):
        return ""
    outer = bundle(os.path.dirname(folder), top)
    return outer or (folder if _is_whole_project(folder) else "")


def _is_whole_project(folder: str) -> bool:
    names = {entry.name.partition(".")[0].lower() for entry in disk.entries(folder)}
    files = (os.path.join(folder, name) for name in (*PROJECT_MARKS, "CMakeLists.txt"))
    return {"license", "readme"} <= names and any(map(disk.exists, files))


def _project(root: str) -> str | None:
    return _above(root, PROJECT_MARKS)


@disk.remembered
def _above(root: str, marks: tuple[str, ...]) -> str | None:
    folder = root
    for _ in range(_MAX_CLIMB):
        if _is_marked(folder, marks):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return None
