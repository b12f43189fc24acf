"""How a file of a scanned tree is compiled: which options of its build are taken, which are dropped, and why.

nvcc writes its commands for a shell: `-D'X=$(touch pwned)'` runs touch, and so do paths. A compile command of a scanned
tree is therefore sifted: what is taken has a meaning that is known and letters that a shell leaves alone; `-ccbin`,
`-wrapper`, plugins and files of options start programs, and all else that is not needed to compile is dropped and
listed too. Reading headers is no execution: include folders outside of the tree are taken, and listed.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH100, PTH118, PTH120, PTH202

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bwlint.chips import Target, spelling
from bwlint.confirm.compiling.compiler import cut, is_file, is_plain, within

COMMANDS = "compile_commands.json"
_PLACES = (COMMANDS, f"build/{COMMANDS}", f"out/{COMMANDS}")
_MOST_COMMANDS = 32 << 20
_MOST_COMMAND = 256 << 10
_MOST_ARGUMENTS = 4000
_MOST_LISTED = 60
_LONGEST_LISTED = 160

_DEFINE = re.compile(r"[A-Za-z_]\w*(?:=[\w./+:@%= ~-]*)?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_STANDARD = re.compile(r"(?:c|gnu)\+\+(?:0[3x]|1[14z7]|1y|2[03ab]|2c|26)")
_GENCODE = re.compile(spelling.OF_TOOLS + spelling.TARGET)
_WORDS = re.compile(r"[\w=,.\[\] \"'-]*")

_FORMS = {
    "-I": "-I", "--include-path": "-I", "-include-path": "-I",
    "-isystem": "-isystem", "--system-include": "-isystem", "-system-include": "-isystem",
    "-D": "-D", "--define-macro": "-D", "-define-macro": "-D",
    "-U": "-U", "--undefine-macro": "-U", "-undefine-macro": "-U",
    "-std": "-std", "--std": "-std",
    "-include": "-include", "--pre-include": "-include", "-pre-include": "-include",
    "-gencode": "targets", "--generate-code": "targets", "-generate-code": "targets",
    "-arch": "targets", "--gpu-architecture": "targets", "-gpu-architecture": "targets",
    "-code": "targets", "--gpu-code": "targets", "-gpu-code": "targets",
}  # fmt: skip
_JOINED = ("-isystem", "-I", "-D", "-U")
_SWITCHES = frozenset(
    name
    for stem in ("expt-relaxed-constexpr", "expt-extended-lambda", "extended-lambda", "use_fast_math")
    for name in (f"-{stem}", f"--{stem}")
)
"""Switches of the language: they take no value, start nothing, and without the first three much does not compile."""
_GUESSED = ("--expt-relaxed-constexpr", "--extended-lambda")
_WITH_VALUE = frozenset(
    f"{dashes}{name}"
    for dashes in ("-", "--")
    for name in (
        "ccbin", "compiler-bindir", "Xcompiler", "compiler-options", "Xptxas", "ptxas-options", "Xlinker",
        "linker-options", "Xcudafe", "cudafe-options", "Xnvlink", "nvlink-options", "Xfatbin", "fatbin-options",
        "Xarchive", "archive-options", "wrapper", "optf", "options-file", "o", "output-file", "odir", "x",
        "output-directory", "L", "l", "MF", "MT", "MQ", "t", "threads", "dopt", "maxrregcount", "ldir", "idp", "ddp",
        "default-stream", "target-dir", "diag-suppress", "diag-error", "keep-dir", "objdir-as-tempdir",
    )
)  # fmt: skip
"""Options that are dropped together with the word behind them."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options for nvcc. `targets` are those that the build asks for, `outside` the include folders beyond the tree.
    `dropped` are the options that were not taken, as they stand in `origin`."""

    taken: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    origin: str = ""

    def details(self) -> dict[str, Any]:
        """For a receipt; what is empty is left out."""
        said = {
            "options": self.taken,
            "options from": self.origin,
            "dropped": self.dropped,
            "include folders outside of the tree": self.outside,
            "targets of the build": self.targets,
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items() if value}


def sift(arguments: Sequence[str], folder: str, root: str, unit: str) -> Options:
    """What is taken of the arguments of a compiler that is started in `folder` for the file `unit`."""
    sieve = _Sieve(folder, root, os.path.realpath(unit))
    words = list(arguments[:_MOST_ARGUMENTS])
    at = 0
    while at < len(words):
        at += 1 + sieve.take(words[at], words[at + 1] if at + 1 < len(words) else None)
    if len(arguments) > _MOST_ARGUMENTS:
        sieve.drop(f"{len(arguments) - _MOST_ARGUMENTS} more arguments")
    dropped = sieve.dropped[:_MOST_LISTED]
    if len(sieve.dropped) > _MOST_LISTED:
        dropped.append(f"... and {len(sieve.dropped) - _MOST_LISTED} more")
    return Options(tuple(sieve.taken), tuple(dropped), tuple(sieve.targets), tuple(sieve.outside))


@dataclass(slots=True)
class _Sieve:
    folder: str
    root: str
    unit: str
    taken: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    targets: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)

    def take(self, word: str, following: str | None) -> int:
        """Take or drop one word; how many of those behind it belong to it."""
        if word in _SWITCHES:
            self.taken.append(word)
            return 0
        form, value, used = _split(word, following)
        if form is None:
            return self._other(word, following)
        if value is None:
            self.drop(f"{word} (without a value)")
            return 0
        shown = word if not used else f"{word} {value}"
        reason = self._value(form, value)
        if reason:
            self.drop(f"{shown} ({reason})")
        return used

    def drop(self, shown: str) -> None:
        self.dropped.append(cut(shown, _LONGEST_LISTED))

    def _other(self, word: str, following: str | None) -> int:
        if word in _WITH_VALUE and following is not None:
            self.drop(f"{word} {following}")
            return 1
        if not word.startswith("-") and os.path.realpath(os.path.join(self.folder, word)) == self.unit:
            return 0
        self.drop(word)
        return 0

    def _value(self, form: str, value: str) -> str:
        """Why a value is not taken; "" where it is."""
        if form == "targets":
            return self._targets(value)
        if form == "-std":
            return self._add(f"-std={value}") if _STANDARD.fullmatch(value) else "no standard of C++"
        if form in ("-D", "-U"):
            pattern = _DEFINE if form == "-D" else _NAME
            return self._add(f"{form}{value}") if pattern.fullmatch(value) else _SHELL
        paths = value.split(",") if form != "-include" else [value]
        return next(filter(None, (self._path(form, path) for path in paths)), "")

    def _path(self, form: str, value: str) -> str:
        if not value or not is_plain(value) or not is_plain(self.folder):
            return _SHELL
        path = os.path.normpath(os.path.join(self.folder, value))
        inside = within(path, self.root)
        if form == "-include" and not (inside and is_file(path)):
            return "no file of the tree"
        if not inside:
            self.outside[path] = None
        # One word each, so that no value can be taken for an option.
        return self._add(f"{form}={path}" if form != "-I" else f"-I{path}")

    def _targets(self, value: str) -> str:
        found = _GENCODE.findall(value) if _WORDS.fullmatch(value) else []
        for name in found:
            try:
                self.targets[Target.parse(name).name] = None
            except ValueError:
                continue
        # They say for whom the build is meant; what is assembled for is the claim's to say.
        return "" if found else "no targets that bwlint knows"

    def _add(self, option: str) -> str:
        self.taken.append(option)
        return ""


_SHELL = "letters that nvcc would pass to a shell"


def _split(word: str, following: str | None) -> tuple[str | None, str | None, int]:
    """The meaning of an option that may be taken, its value, and whether that is the next word."""
    name, equals, value = word.partition("=")
    if word in _FORMS:
        return _FORMS[word], following, int(following is not None)
    if equals and name in _FORMS:
        return _FORMS[name], value, 0
    for start in _JOINED:
        if word.startswith(start) and not word.startswith("--"):
            return start, word[len(start) :], 0
    return None, None, 0


@dataclass(frozen=True, slots=True)
class Commands:
    """A compile_commands.json: arguments and folder by the real path of the file. `trouble` says why it is empty."""

    path: str = ""
    by_file: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    trouble: str = ""

    def options(self, unit: str, root: str) -> Options | None:
        """The options for a file that the build compiles; None for any other."""
        found = self.by_file.get(os.path.realpath(unit))
        if found is None:
            return None
        arguments, folder = found
        return replace(sift(arguments, folder, root, unit), origin=self.path)


def commands(root: str, given: Path | None = None) -> Commands:
    """The compile commands that the user names, else those of a tree; empty ones where there are none to be read."""
    places = [str(given)] if given is not None else [os.path.join(root, place) for place in _PLACES]
    path = next((place for place in places if is_file(place)), None)
    if path is None:
        return Commands(trouble=f"no file {given}" if given is not None else "")
    try:
        if os.path.getsize(path) > _MOST_COMMANDS:
            return Commands(path, trouble=f"more than {_MOST_COMMANDS >> 20} MiB")
        entries = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return Commands(path, trouble=f"it cannot be read: {str(error)[:200] or type(error).__name__}")
    if not isinstance(entries, list):
        return Commands(path, trouble="it is no list of commands")
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for file, arguments, folder in _entries(entries, os.path.dirname(os.path.abspath(path))):
        found.setdefault(file, (arguments, folder))
    return Commands(path, found)


def _entries(entries: Sequence[Any], base: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        file, directory = entry.get("file"), entry.get("directory", "")
        if not isinstance(file, str) or not isinstance(directory, str) or not _is_name(file + directory):
            continue
        arguments = _arguments(entry)
        if arguments:
            folder = os.path.normpath(os.path.join(base, directory))
            # The first word is the compiler: it is not taken.
            yield os.path.realpath(os.path.join(folder, file)), arguments[1:], folder


def _is_name(text: str) -> bool:
    """Whether a file could have this name: half of a surrogate pair or a zero byte is in none."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _arguments(entry: Mapping[str, Any]) -> tuple[str, ...]:
    words, command = entry.get("arguments"), entry.get("command")
    if isinstance(words, list):
        return tuple(word for word in words if isinstance(word, str) and _is_name(word))
    if not isinstance(command, str) or len(command) > _MOST_COMMAND or not _is_name(command):
        return ()
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def guessed(folders: Sequence[str]) -> Options:
    """Options for a file of which no build is known: the folders in which its includes were found."""
    spoken = [folder for folder in folders if is_plain(folder)]
    silent = tuple(f"-I{folder} ({_SHELL})" for folder in folders if not is_plain(folder))
    return Options((*_GUESSED, *(f"-I{folder}" for folder in spoken)), silent, origin="guessed from its includes")


def with_own(options: Options, own: Sequence[str]) -> Options:
    """The user's own options come first, and are taken as they are."""
    if not own:
        return options
    return replace(options, taken=(*own, *options.taken), origin=f"--nvcc-args, and {options.origin}")
