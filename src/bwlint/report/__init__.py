"""Reports: findings in, text out. A report knows nothing of rules, chips or syntax.

`FORMATS` names the renderer of each format; its module is imported when the format is asked for, since some are slow to
load. Every one takes a `Report` and a `Setting`, and shows the findings it is given: what is below a threshold, the
caller leaves out (`summary.at_least`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bwlint.model.findings import Report
    from bwlint.settings.catalog import Rule


Lines = Callable[[str], "Sequence[str] | None"]
"""The lines of the file at a path as a finding names it, or None where it cannot be read.

Split at ``\\n``, ``\\r\\n`` and ``\\r`` and at nothing else (`str.splitlines` splits at more), best with
their line ends kept, so that ``"".join(lines)`` is the text.
"""

FORMATS = {
    "text": "bwlint.report.text.render",
    "concise": "bwlint.report.text.concise",
    "json": "bwlint.report.write.findings",
    "sarif": "bwlint.report.sarif.render",
    "github": "bwlint.report.ci.github",
    "gitlab": "bwlint.report.ci.gitlab",
    "junit": "bwlint.report.ci.junit",
    "html": "bwlint.report.html.render",
}


def no_source(path: str) -> None:
    """The `Lines` of a run whose sources are gone."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The sources of a run: the folder that paths are told from ("" is the current one), and where they come from."""

    root: str = ""
    repository: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a rendering needs beside the report; each format takes its part of it. `folds` says that lines of text have
    to fit into `width`, `home` is bwlint's address, `links` says that what is shown can be clicked on, `group_by` how
    the text groups findings, `subject` what is looked at for which cards, `has_failed` that the run ends as failed for
    what it could not read."""

    lines: Lines = no_source
    version: str = "0"
    rules: Sequence[Rule] = ()
    color: bool = False
    width: int = 120
    folds: bool = False
    checkout: Checkout = Checkout()
    home: str = ""
    links: bool = False
    group_by: str = ""
    subject: str = ""
    has_failed: bool = False


Renderer = Callable[["Report", Setting], str]


def renderer(name: str) -> Renderer:
    """The renderer of a format in `FORMATS`, its module loaded now."""
    module, _, function = FORMATS[name].rpartition(".")
    return cast(Renderer, getattr(import_module(module), function))


def below(root: str, path: str) -> str | None:
    """`path`, with slashes, from `root` ("" is the current folder); None where it is not below it."""
    found = beside(root, path)
    if root and found.startswith("../") and os.path.exists(path):  # noqa: PTH110 (a path of a report may be none that there can be)
        found = beside(root, os.path.realpath(path))  # named by way of a link, such as /tmp of macOS
    return None if found == ".." or found.startswith("../") or PurePath(found).is_absolute() else found


def beside(root: str, path: str) -> str:
    """`path`, with slashes, from `root`, also where it is outside; as it is on another drive."""
    try:
        # Only where the root is another folder do links on the way to the current one count.
        relative = os.path.relpath(Path.cwd().resolve() / path, root) if root else os.path.relpath(path)
    except ValueError:
        return path
    return PurePath(relative).as_posix()


def from_root(root: str, path: str) -> str:
    """The same, or `path` as it is where it is not below the root."""
    return below(root, path) or path
