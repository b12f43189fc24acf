"""The README as an index shows it: a hook of hatchling, which turns its links into those of the repository.

An index has the README and no other page. Where [project.urls] names no repository, the README stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)(?P<words>\[[^\]]*\])\((?!https?:|#)(?P<path>[^)\s]+)\)")
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


class IndexedReadme(MetadataHookInterface):
    """Gives the metadata their `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        (version,) = _VERSION.findall((root / "src/bwlint/__init__.py").read_text(encoding="utf-8"))
        address = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        metadata["readme"] = {"content-type": "text/markdown", "text": linked(text, address, version)}


def linked(text: str, address: str, version: str) -> str:
    """A text whose relative links lead to a repository, at the tag of a version. Without an address ("") they stay."""

    def absolute(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        return f"{found['picture']}{found['words']}({address}/{kind}/v{version}/{found['path']})"

    return _LINK.sub(absolute, text) if address else text
