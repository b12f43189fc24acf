"""`bwlint schema`: the JSON schemas that the package ships."""

from __future__ import annotations

from importlib.resources import files

_SUFFIX = ".schema.json"
_ROOMS = ("bwlint.report", "bwlint.settings")


def names() -> list[str]:
    """What there is a schema of."""
    return sorted(_by_name())


def text_of(name: str) -> str:
    """The schema of that name; raises LookupError, which names those there are."""
    room = _by_name().get(name)
    if room is None:
        raise LookupError(f"no schema `{name}` (known: {', '.join(names())})")
    return files(room).joinpath(f"{name}{_SUFFIX}").read_text("utf-8")


def _by_name() -> dict[str, str]:
    """The room that each schema is in."""
    entries = ((entry.name, room) for room in _ROOMS for entry in files(room).iterdir())
    return {name.removesuffix(_SUFFIX): room for name, room in entries if name.endswith(_SUFFIX)}
