"""From sarif_om objects to plain JSON values.

The usual serializer drops every value that equals its class's default, so that an explicit level
"warning" goes and a viewer shows the rule's level instead; and it keeps sentinels that GitHub refuses.
"""

from __future__ import annotations

from typing import Any

import attr

# sarif_om follows a draft of the schema, in which this property had another name.
_RENAMED = {("Suppression", "state"): "status"}


def plain(value: Any) -> Any:
    """`value` without its absent properties: None, and -1 where sarif_om means "not given". Takes sarif_om objects,
    dicts with string keys, lists, tuples and scalars; all else is a TypeError."""
    if attr.has(type(value)):
        return _properties(value)
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"no JSON for {type(value).__name__}")


def _properties(value: Any) -> dict[str, Any]:
    kind = type(value).__name__
    found = ((field, getattr(value, field.name)) for field in attr.fields(type(value)))
    return {
        _RENAMED.get((kind, field.name), field.metadata["schema_property_name"]): plain(item)
        for field, item in found
        if item is not None and item != -1
    }


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"no JSON key: {key!r}")
