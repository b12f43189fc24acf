"""The kinds of file that bwlint reads. A further kind is one row of `KINDS`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A file is of this kind by its suffix, its whole name, or the interpreter on its first line."""

    name: str
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    interpreter: str = ""


KINDS: tuple[Kind, ...] = (
    Kind("python", suffixes=(".py", ".pyi"), interpreter="python"),
    Kind("ptx", suffixes=(".ptx",)),
)

_BY_SUFFIX = {suffix: kind.name for kind in KINDS for suffix in kind.suffixes}
_BY_NAME = {name: kind.name for kind in KINDS for name in kind.names}


def kind_of(name: str) -> str | None:
    """The kind of a file called `name` (without its folder), or None when no row of the table wants it."""
    return _BY_SUFFIX.get(name[name.rfind(".") :]) or _BY_NAME.get(name)


def kind_of_script(start: bytes) -> str | None:
    """The kind of a file without a known name, by the ``#!`` line in its first bytes."""
    line = start.split(b"\n", 1)[0]
    if not line.startswith(b"#!"):
        return None
    return next((k.name for k in KINDS if k.interpreter and k.interpreter.encode() in line), None)
