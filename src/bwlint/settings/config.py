"""The user's settings: `bwlint.toml`, or ``[tool.bwlint]`` in `pyproject.toml`. The nearest file wins, whole, with what
it says it extends.

A configuration may come with a tree that nobody trusts. So no key names a program, a file to write or a
package index, `extend` leads to no file outside of the tree, and no value is a regular expression: patterns are
gitignore globs.
"""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from bwlint.chips.devices import chip
from bwlint.data import parsed_toml
from bwlint.model.findings import FAIL_ON, SEVERITIES, FailOn, Severity
from bwlint.settings import catalog
from bwlint.settings.catalog import did_you_mean
from bwlint.sources import disk
from bwlint.sources.ignore import BadPattern, Matcher, compiled
from bwlint.sources.read import Unread, read_bytes

FORMS = (
    *("tuple", "named", "joined", "major", "minor", "version", "digits", "sm", "sm-suffixed"),
    *("arch", "properties", "smem-optin"),
)
"""What a capability function can be said to return: the kinds of `chips/sources.toml`."""

_MOST_EXTENDED = 16


@dataclass(frozen=True, slots=True)
class OwnLibrary:
    """A library of the user's: a dotted name whose parts may hold one `*` each, and the chips on which it works."""

    name: str
    chips: tuple[str, ...]
    what: str


class UsageError(Exception):
    """Something that the user has to put right; the message says what."""


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the file, the key and what was expected."""


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration as written. None means that the file does not say. `file` is the path of the configuration
    file, None for the defaults. Globs and the baseline are relative to its folder, or to that of the file that has them
    where it extends one."""

    file: str | None = None
    baseline_in: str | None = None
    exclude_in: str | None = None
    per_file_ignores_in: str | None = None
    target: tuple[str, ...] | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    severity: Severity | None = None
    fail_on: FailOn | None = None
    baseline: str | None = None
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arch_lists: tuple[str, ...] = ()
    capability_functions: tuple[tuple[str, str], ...] = ()
    library: tuple[OwnLibrary, ...] = ()

    def override(self, **given: Any) -> Config:
        """This configuration with what the command line says of fields instead; what it leaves empty stays."""
        return replace(self, **{key: value for key, value in given.items() if value})

    @property
    def levels(self) -> tuple[Severity, FailOn]:
        """The lowest severity to show and the lowest to fail on: unless told, nothing fails that is not shown."""
        shown: Severity = self.severity or "warning"
        failing: FailOn = "error" if shown == "error" else "warning"
        return shown, self.fail_on or failing

    @property
    def baseline_file(self) -> str | None:
        """The path of the baseline that the configuration names, beside it or below; None where it names none."""
        where = self.baseline_in or self.file
        if self.baseline is None or where is None:
            return None
        return os.path.join(os.path.dirname(where), *PurePosixPath(self.baseline).parts)

    def is_excluded(self, real: str) -> bool:
        """Whether the file at the real path `real`, or a folder above it, is one that `exclude` names."""
        return bool(self.exclude) and self._matches(compiled(self.exclude), real, self.exclude_in)

    def ignored_rules(self, real: str) -> frozenset[str]:
        """The rule ids, as written, that `per-file-ignores` switches off for the file at `real`."""
        return frozenset(
            rule
            for glob, rules in self.per_file_ignores
            if self._matches(compiled((glob,)), real, self.per_file_ignores_in)
            for rule in rules
        )

    def _matches(self, matcher: Matcher, real: str, told_in: str | None) -> bool:
        file = told_in or self.file
        if file is None:
            return False
        relative = os.path.relpath(real, os.path.dirname(file))
        return matcher.verdict_below(PurePath(relative).as_posix()) is True


DEFAULT = Config()


class Configs:
    """The configuration of every folder, each file read once; or the one that is given, wherever a file lies."""

    def __init__(self, only: Config | None = None) -> None:
        self._only = only
        self._by_folder: dict[str, Config] = {}

    def of(self, path: str) -> Config:
        """The configuration for the file at `path`, which need not exist. Raises ConfigError."""
        return self.of_folder(os.path.dirname(disk.real(path)))

    def of_folder(self, folder: str) -> Config:
        """The configuration for files in `folder` (a real path). Raises ConfigError."""
        if self._only is not None:
            return self._only
        passed: list[str] = []
        while folder not in self._by_folder:
            passed.append(folder)
            config = _in_folder(folder)
            parent = os.path.dirname(folder)
            if config or parent == folder:
                self._by_folder[folder] = config or DEFAULT
                break
            folder = parent
        found = self._by_folder[folder]
        self._by_folder.update((below, found) for below in passed)
        return found


def load(file: str, above: tuple[str, ...] = ()) -> Config | None:
    """The configuration in `file`: a TOML file, or a `pyproject.toml` (None without ``[tool.bwlint]``), with what it
    extends. `above` are those that extend this one (real paths). Raises ConfigError."""
    data = read_bytes(file)
    if isinstance(data, Unread):
        raise ConfigError(f"{file}: {data.reason}")
    is_pyproject = os.path.basename(file) == "pyproject.toml"
    # Trees carry broken pyproject.toml files as test data; one that does not name bwlint is not parsed.
    if is_pyproject and b"bwlint" not in data:
        return None
    document = parse(file, data)
    table = _tool_table(file, document) if is_pyproject else document
    if table is None:
        return None
    values = _read_table(file, table)
    extend = values.pop("extend", None)
    return Config(file=file, **values) if extend is None else _extended(file, extend, values, above)


def _extended(file: str, extend: str, values: dict[str, Any], above: tuple[str, ...]) -> Config:
    """What a file extends, with its own values instead. Raises ConfigError."""
    from bwlint.sources.worktree import is_in, top_of

    real, base = disk.real(file), disk.real(os.path.join(os.path.dirname(file), extend))
    folder = os.path.dirname(real)
    chain = (*above, real)
    if base in chain:
        raise ConfigError(f"{file}: `extend`: {extend} leads back to a file that extends it")
    if len(chain) > _MOST_EXTENDED:
        raise ConfigError(f"{file}: `extend`: more than {_MOST_EXTENDED} files extend one another")
    if not base.endswith(".toml") or not is_in(base, top_of(folder) or folder):
        raise ConfigError(f"{file}: `extend`: {extend} is no TOML file of the same git tree or, without one, folder")
    if not disk.is_file(base):
        raise ConfigError(f"{file}: `extend`: {extend}: no such file")
    found = load(base, chain)
    if found is None:
        raise ConfigError(f"{file}: `extend`: {extend} has no table [tool.bwlint]")
    told: dict[str, Any] = {
        f"{key}_in": None if key in values or getattr(found, key) is None else getattr(found, f"{key}_in") or found.file
        for key in ("baseline", "exclude", "per_file_ignores")
    }
    return replace(found, file=file, **told, **values)


def configs(file: str | None, *, isolated: bool) -> Configs:
    """The configurations of a run: that in `file`, none, or what lies in the folders. Raises ConfigError."""
    if file is None:
        return Configs(DEFAULT if isolated else None)
    config = load(disk.real(file))
    if config is None:
        raise ConfigError(f"{file}: no table [tool.bwlint]")
    return Configs(config)


def _in_folder(folder: str) -> Config | None:
    for name in ("bwlint.toml", "pyproject.toml"):
        file = os.path.join(folder, name)
        # A folder or a broken link of our own name is somebody's mistake.
        is_meant = disk.is_file(file) or (name == "bwlint.toml" and disk.is_there(file))
        config = load(file) if is_meant else None
        if config:
            return config
    return None


def parse(file: str, data: bytes) -> dict[str, Any]:
    """The content of a TOML file. Raises ConfigError."""
    try:
        return parsed_toml(data.removeprefix(BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: byte at offset {error.start}") from None
    except ValueError as error:  # also a number of more digits than Python reads
        raise ConfigError(f"{file}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None


def _tool_table(file: str, document: dict[str, Any]) -> dict[str, Any] | None:
    tool = document.get("tool", {})
    table = tool.get("bwlint") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise ConfigError(f"{file}: `tool.bwlint`: expected a table, found {type_of(table)}")


class _Wrong(Exception):
    """A value that is not what its key takes; `below` is the path to it from the key, "" for itself."""

    def __init__(self, expected: str, found: str, below: str = "") -> None:
        super().__init__(expected, found, below)
        self.expected, self.found, self.below = expected, found, below


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _Wrong("a list of strings", type_of(value))
    for item in value:
        if not isinstance(item, str):
            raise _Wrong("a list of strings", f"{type_of(item)} in it")
    return tuple(value)


def _names(value: object) -> tuple[str, ...]:
    for name in _strings(value):
        _check_dotted(name)
    return _strings(value)


def _toml_file(value: object) -> str:
    if not isinstance(value, str) or not value.endswith(".toml") or "\0" in value:
        raise _Wrong("the name of a TOML file", told(value))
    return value


def _file_below(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("the path of a file", type_of(value))
    if not value.strip() or "\0" in value or PureWindowsPath(value).anchor or ".." in PureWindowsPath(value).parts:
        raise _Wrong("a path below the folder of the configuration", repr(value))
    return value


def patterns(option: str, globs: Sequence[str]) -> Matcher | None:
    """What the patterns of an option match; None without any. Raises UsageError."""
    try:
        return compiled(tuple(globs)) if globs else None
    except BadPattern as error:
        raise UsageError(f"{option}: {error}") from None


def _globs(value: object) -> tuple[str, ...]:
    globs = _strings(value)
    try:
        if globs:
            compiled(globs)
    except BadPattern as error:
        raise _Wrong("gitignore patterns", str(error)) from None
    return globs


def _rules_by_glob(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows = [(glob, _at(glob, _strings, rules)) for glob, rules in _table(value).items()]
    for glob, _ in rows:
        if glob.startswith("!"):
            raise _Wrong("a pattern without `!`", repr(glob), glob)
        _at(glob, _globs, [glob])
    return tuple(rows)


def _functions(value: object) -> tuple[tuple[str, str], ...]:
    rows = [(name, _at(name, partial(_one_of, FORMS), form)) for name, form in _table(value).items()]
    for name, _ in rows:
        _at(name, _check_dotted, name)
    return tuple(rows)


_LIBRARY_KEYS = ("name", "chips", "what")
_MAX_WHAT = 200


def _libraries(value: object) -> tuple[OwnLibrary, ...]:
    if not isinstance(value, list):
        raise _Wrong("tables ([[library]])", type_of(value))
    return tuple(_at(str(number), _library, row) for number, row in enumerate(value, 1))


def _library(value: object) -> OwnLibrary:
    row = _table(value)
    for key in row:
        if key not in _LIBRARY_KEYS:
            raise _Wrong("name, chips and what", f"the key `{key}`{did_you_mean(key, _LIBRARY_KEYS)}")
    for key in _LIBRARY_KEYS:
        if key not in row:
            raise _Wrong("name, chips and what", f"no `{key}`")
    name, chips = _at("name", _dotted_glob, row["name"]), _at("chips", _chips, row["chips"])
    return OwnLibrary(name, chips, _at("what", _phrase, row["what"]))


def _dotted_glob(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("a dotted name of Python", type_of(value))
    parts = value.split(".")
    # One star a part: several could be matched in too many ways.
    one_star = all(part.count("*") <= 1 and part.replace("*", "x", 1).isidentifier() for part in parts)
    if not one_star or all(part == "*" for part in parts):
        raise _Wrong("a dotted name of Python, with at most one `*` in a part", repr(value))
    return value


def _chips(value: object) -> tuple[str, ...]:
    names = _strings(value)
    for name in names:
        try:
            chip(name)
        except ValueError as error:
            raise _Wrong('compute capabilities such as "10.0"', str(error)) from None
    if not names:
        raise _Wrong('compute capabilities such as "10.0"', "an empty list")
    return names


def _phrase(value: object) -> str:
    if not isinstance(value, str):
        raise _Wrong("a phrase for messages", type_of(value))
    if not value.isprintable() or not 0 < len(value.strip()) <= _MAX_WHAT:
        raise _Wrong(f"a phrase for messages of at most {_MAX_WHAT} printable characters", repr(value[:_MAX_WHAT]))
    return value.strip()


def _one_of(words: Sequence[str], value: object) -> str:
    if isinstance(value, str) and value in words:
        return value
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    raise _Wrong("one of " + ", ".join(f'"{word}"' for word in words), told(value) + hint)


def _check_dotted(name: object) -> None:
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise _Wrong("a dotted name of Python (quote it in a table's key)", repr(name))


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong("a table", type_of(value))
    return value


def _at(key: str, read: Callable[[Any], Any], value: object) -> Any:
    """What `read` makes of `value`, its complaint placed at `key`."""
    try:
        return read(value)
    except _Wrong as wrong:
        below = f"{key}.{wrong.below}" if wrong.below else key
        raise _Wrong(wrong.expected, wrong.found, below) from None


_Reader = Callable[[Any], Any]
_KEYS: dict[str, _Reader] = {
    "extend": _toml_file,
    "target": _strings,
    "select": _strings,
    "ignore": _strings,
    "severity": partial(_one_of, SEVERITIES),
    "fail-on": partial(_one_of, FAIL_ON),
    "baseline": _file_below,
    "exclude": _globs,
    "per-file-ignores": _rules_by_glob,
    "library": _libraries,
}
_SOURCE_KEYS: dict[str, _Reader] = {"arch-lists": _names, "capability-functions": _functions}


def _read_table(file: str, table: dict[str, Any]) -> dict[str, Any]:
    where = "tool.bwlint." if os.path.basename(file) == "pyproject.toml" else ""
    rest = {key: value for key, value in table.items() if key != "sources"}
    values = _read_keys(file, where, rest, _KEYS, [*_KEYS, "sources"])
    sources = table.get("sources", {})
    if not isinstance(sources, dict):
        raise ConfigError(f"{file}: `{where}sources`: expected a table, found {type_of(sources)}")
    return values | _read_keys(file, f"{where}sources.", sources, _SOURCE_KEYS, list(_SOURCE_KEYS))


def _read_keys(
    file: str, where: str, table: dict[str, Any], keys: dict[str, _Reader], known: Sequence[str]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            prefixed = "; this file takes the keys without the prefix tool.bwlint" if key == "tool" else ""
            hint = prefixed or did_you_mean(key, known) or f" (known: {', '.join(known)})"
            raise ConfigError(f"{file}: `{where}{key}`: unknown key{hint}")
        try:
            values[key.replace("-", "_")] = keys[key](value)
        except _Wrong as wrong:
            at = f"{where}{key}" + (f".{wrong.below}" if wrong.below else "")
            raise ConfigError(f"{file}: `{at}`: expected {wrong.expected}, found {wrong.found}") from None
    return values


def type_of(value: object) -> str:
    """What a value of TOML is, in words."""
    words = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "a list", dict: "a table"}
    return words.get(type(value), "a date or time")


def told(value: object) -> str:
    """A value of TOML as messages have it: a string itself, of all else what it is."""
    return repr(value) if isinstance(value, str) else type_of(value)


def chosen_rules(config: Config) -> frozenset[str]:
    """The names of the rules that a configuration runs. Raises ConfigError for an unknown one."""
    every = frozenset(rule.name for rule in catalog.rules())
    chosen = every if config.select is None else rule_names(config, config.select)
    if not chosen:
        raise ConfigError(f"{config.file}: `select` names no rule; leave it out to run all")
    return chosen - rule_names(config, config.ignore or ())


def rule_names(config: Config, ids: Iterable[str]) -> frozenset[str]:
    """The names of rules that a configuration speaks of by code or name. Raises ConfigError for an unknown one."""
    try:
        return frozenset(rule.name for rule in catalog.resolve(ids))
    except catalog.UnknownRule as error:
        raise ConfigError(f"{config.file}: {error}") from None
