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
    found = _by_name().get(name)
    if found is None:
        raise LookupError(f"no schema `{name}` (known: {', '.join(names())})")
    return found.read_text("utf-8")


def _by_name():  # type: ignore[no-untyped-def]
    entries = (entry for room in _ROOMS for entry in files(room).iterdir())
    return {entry.name.removesuffix(_SUFFIX): entry for entry in entries if entry.name.endswith(_SUFFIX)}
