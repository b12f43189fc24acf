"""Where things are, in SARIF: paths from the root of the sources, regions, and the text of what is in no folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import quote

import sarif_om as om

from bwlint.model.findings import Region
from bwlint.report import Lines, below

ROOT = "%SRCROOT%"
# Of a file that no viewer can open: enough to know the place again.
_SNIPPET_LINES = 10
_SNIPPET_CHARS = 2000


@dataclass(frozen=True, slots=True)
class SarifPlaces:
    """The places of a run. `root` is the folder that paths are told from ("" is the current one)."""

    root: str
    lines: Lines

    def location(self, path: str, region: Region | None, text: str = "", number: int = -1) -> om.Location:
        """A place with what is to be said of it; `number` is what messages link to."""
        return self._location(path, None if region is None else span(region, self._snippet(path, region)), text, number)

    def whole_lines(self, path: str, line: int, end_line: int, text: str = "", number: int = -1) -> om.Location:
        """The same for a place of which only the lines are known."""
        snippet = self._snippet(path, Region(line, 1, end_line, 2))
        region = om.Region(start_line=line, end_line=end_line, snippet=_content(snippet))
        return self._location(path, region, text, number)

    def _location(self, path: str, region: om.Region | None, text: str, number: int) -> om.Location:
        physical = om.PhysicalLocation(artifact_location=self.artifact(path), region=region)
        return om.Location(
            id=number, physical_location=physical, message=om.Message(text=text.strip()) if text.strip() else None
        )

    def artifact(self, path: str) -> om.ArtifactLocation:
        """A path below the root relative to it; any other by its whole URI."""
        relative = below(self.root, path)
        if relative is None:
            return om.ArtifactLocation(uri=_absolute(path))
        return om.ArtifactLocation(uri=_quoted(PurePath(relative)), uri_base_id=ROOT)

    def _snippet(self, path: str, region: Region) -> str | None:
        """The lines of a region in an archive or a package, which a viewer finds nowhere."""
        is_empty = (region.line, region.column) == (region.end_line, region.end_column)
        if is_empty or os.path.isfile(path):  # noqa: PTH113 (a path of a report may be none that there can be)
            return None
        lines = (self.lines(path) or ())[region.line - 1 : min(region.end_line, region.line + _SNIPPET_LINES - 1)]
        text = "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)
        return text[:_SNIPPET_CHARS] or None


def span(region: Region, snippet: str | None = None) -> om.Region:
    """A region with the text that stands there, if that is to be told."""
    return om.Region(
        start_line=region.line,
        start_column=region.column,
        end_line=region.end_line,
        end_column=region.end_column,
        snippet=_content(snippet),
    )


def _content(text: str | None) -> om.ArtifactContent | None:
    return om.ArtifactContent(text=text) if text else None


def _absolute(path: str) -> str:
    try:
        return Path(path).resolve().as_uri()
    except (ValueError, RuntimeError):
        # A member of an archive may have a name that no file can have, and a link may lead to itself.
        return "file://" + _quoted(PurePath(os.path.normpath(Path.cwd() / path)))


def _quoted(path: PurePath) -> str:
    text = path.as_posix()
    try:
        return quote(os.fsencode(text))
    except UnicodeEncodeError:
        return quote(text.encode("utf-8", "surrogatepass"))
