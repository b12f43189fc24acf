"""Source distributions: pip only locates them, because it would run their setup."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote
from urllib.request import urlopen

from bwlint.sources.pypi import SourceError, Spec, plain

_LINK = re.compile(r"(?:https|file)://[^\s#?]+/([A-Za-z0-9][^\s/#?]*\.(?:tar\.gz|zip))(?=[\s#?]|$)")
_SECONDS = 60
_LARGEST = 1024**3
_CHUNK = 1024 * 1024


def address(spec: Spec, listing: str) -> str:
    """Where pip's long output says that the sources of a package lie, of the newest version; "": nowhere."""
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name, parse_sdist_filename

    wanted = SpecifierSet(f"=={spec.version}" if spec.version else "", prereleases=bool(spec.version) or None)
    found = {}
    for match in _LINK.finditer(listing):
        try:
            name, version = parse_sdist_filename(unquote(match[1]))
        except ValueError:
            continue
        if name == canonicalize_name(spec.name) and version in wanted:
            found[version] = match[0]
    return found[max(found)] if found else ""


def fetch_source(where: str, into: Path) -> Path:
    """Download an address of `address` into a folder. Raises SourceError."""
    target = into / Path(unquote(where)).name
    try:
        with urlopen(where, timeout=_SECONDS) as answer, target.open("xb") as out:
            while chunk := answer.read(_CHUNK):
                if out.tell() > _LARGEST:
                    raise SourceError(f"{plain(where)}: more than {_LARGEST // 1024**3} GiB")
                out.write(chunk)
    except (OSError, ValueError) as error:
        target.unlink(missing_ok=True)
        raise SourceError(f"{plain(where)} cannot be fetched: {plain(str(error))}") from None
    return target
