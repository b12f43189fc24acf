"""The kinds of file that bwlint reads. A further kind is one row of `KINDS`."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind by suffix, whole name, stem (Dockerfile.cuda, Makefile-kernels) or interpreter on the first line."""

    name: str
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


_C_SUFFIXES = (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".c", ".cc", ".cpp", ".cxx", ".ipp", ".jinja")

PTX, BINARY = "ptx", "binary"
_STEM = re.compile(r"[._-]")
_VERSIONED = re.compile(r"\.so(?:\.[0-9]+)+")

KINDS: tuple[Kind, ...] = (
    Kind("python", (".py", ".pyi"), names=("SConstruct", "SConscript", "wscript"), interpreters=("python",)),
    Kind("cuda", suffixes=_C_SUFFIXES),
    Kind(
        "build",
        suffixes=(
            *(".cmake", ".mk", ".sh", ".bash", ".dockerfile", ".Dockerfile"),
            *(".yml", ".yaml", ".hcl", ".json", ".toml", ".bzl", ".bazel", ".bazelrc"),
            *(".service", ".sbatch", ".slurm", ".env"),
        ),
        names=(
            *("CMakeLists.txt", "setup.cfg", "BUILD", "BUCK", "TARGETS", "build.rs"),
            *("meson.build", "meson_options.txt", "meson.options"),
        ),
        stems=("Dockerfile", "Containerfile", "Makefile", "makefile", "GNUmakefile", "requirements", "constraints"),
        interpreters=("bash", "/sh", "env sh"),
    ),
    Kind(PTX, suffixes=(".ptx",)),
    Kind(BINARY, suffixes=(".so", ".a", ".o", ".pyd", ".dll", ".exe", ".cubin", ".fatbin")),
)

FOREIGN_FOLDERS = ("third_party", "3rdparty", "thirdparty", "third-party", "external", "vendor", "submodules")
"""Folders that hold the code of others, by custom."""

OWN_FILES = frozenset({"bwlint.toml", "bwlint-audit.toml", "bwlint-baseline.json"})
"""What is written for bwlint, and asks no chip."""

_BY_SUFFIX = {suffix: kind.name for kind in KINDS for suffix in kind.suffixes}
_BY_NAME = {name: kind.name for kind in KINDS for name in kind.names}
_BY_STEM = {stem: kind.name for kind in KINDS for stem in kind.stems}


def kind_of(name: str) -> str | None:
    """The kind of a file called `name` (without its folder), or None when no row of the table wants it."""
    suffix = name[name.rfind(".") :]
    found = _BY_SUFFIX.get(suffix) or _BY_NAME.get(name) or _BY_STEM.get(_STEM.split(name, maxsplit=1)[0])
    if not found and _BY_SUFFIX.get(suffix.lower()) == BINARY:
        return BINARY  # Windows writes KERNELS.DLL
    return found or (BINARY if ".so." in name and _VERSIONED.search(name) else None)


def kind_of_script(start: bytes) -> str | None:
    """The kind of a file without a known name, by the ``#!`` line in its first bytes."""
    line = start.split(b"\n", 1)[0]
    if not line.startswith(b"#!"):
        return None
    return next((k.name for k in KINDS if any(name.encode() in line for name in k.interpreters)), None)
