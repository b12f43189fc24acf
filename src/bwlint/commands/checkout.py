"""The repository and commit of the scanned tree, for reports that are read on another machine."""

from __future__ import annotations

from pathlib import Path

from bwlint import __version__
from bwlint.report import Checkout


def checkout(root: str | None, *, with_origin: bool) -> Checkout:
    """The folder that paths are told from: `root`, or the top of the git tree around the current folder, or that
    itself. With its origin, git is asked for the address of the repository and the commit.
    """
    from bwlint.sources.worktree import commit_of, origin_of, top_of

    here = str(Path.cwd().resolve())
    top = top_of(here)
    folder = str(Path(root).resolve()) if root else top or here
    repository = origin_of(top) if top is not None and top == folder and with_origin else None
    if top is None or repository is None:
        return Checkout(folder)
    return Checkout(folder, repository, commit_of(top) or "")


def home() -> str:
    """The address of bwlint's pages (docs/) as of this version; "" where nobody has named its repository."""
    return f"{address}/blob/v{__version__}/docs" if (address := repository()) else ""


def repository() -> str:
    """The address of bwlint's repository: `Repository` in [project.urls], as its distribution has it, or ""."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        urls = distribution("bwlint").metadata.get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named: dict[str, str] = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Repository", "").rstrip("/")
