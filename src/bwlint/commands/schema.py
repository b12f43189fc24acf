"""`bwlint schema`: the JSON schemas that the package ships."""

from __future__ import annotations

import json
import re
from importlib.resources import files

_SUFFIX = ".schema.json"
_ROOMS = ("bwlint.report", "bwlint.settings")
_OTHER = re.compile(r'"\$ref": "urn:bwlint:([\w-]+):1#')


def names() -> list[str]:
    """What there is a schema of."""
    return sorted(_by_name())


def text_of(name: str) -> str:
    """The schema of that name, with those that it refers to inside; raises LookupError, which names those there are."""
    names = [name]
    for one in names:  # it grows
        names += [other for other in dict.fromkeys(_OTHER.findall(_file(one))) if other not in names]
    schema, *others = (json.loads(_file(one)) for one in names)
    if not others:
        return _file(name)
    schema["$defs"] = schema.get("$defs", {}) | {other["$id"]: other for other in others}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _file(name: str) -> str:
    room = _by_name().get(name)
    if room is None:
        raise LookupError(f"no schema `{name}` (known: {', '.join(names())})")
    return files(room).joinpath(f"{name}{_SUFFIX}").read_text("utf-8")


def _by_name() -> dict[str, str]:
    """The room that each schema is in."""
    entries = ((entry.name, room) for room in _ROOMS for entry in files(room).iterdir())
    return {name.removesuffix(_SUFFIX): room for name, room in entries if name.endswith(_SUFFIX)}
