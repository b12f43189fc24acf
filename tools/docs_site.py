"""What `mkdocs build` does with the pages beyond mkdocs.yml: links out of docs/, and the repository's address.

The pages are written for a reader of the repository. A link to something outside of docs/ goes to the repository, as of
the tag of this version. Where [project.urls] of pyproject.toml names none, its words stay and the link goes. A picture
comes along.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PLACEHOLDER = "OWNER/bwlint"
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<path>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def on_config(config: MkDocsConfig) -> None:
    from pymdownx.slugs import slugify

    config.repo_url = repository() or None
    # Headings are called as on GitHub.
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")


def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Name each page of a folder in the navigation, and take along the pictures outside of docs/."""
    from mkdocs.structure.files import File

    pages = files.documentation_pages()
    paths = sorted((page.src_uri for page in pages), key=lambda path: (not path.endswith("/README.md"), path))
    config.nav = [spread(entry, paths) for entry in config.nav or []]
    for page in pages:
        for found in _LINK.finditer(page.content_string):
            path = outside(page.src_uri, found["path"])
            if path and found["picture"]:
                files.append(File.generated(config, _picture(path), abs_src_path=str(ROOT / path)))


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    return shown(markdown, page.file.src_uri, repository())


def repository() -> str:
    """The address of the repository, "" where none is known."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["urls"].get("Repository", "")).rstrip("/")


def version() -> str:
    """The version of bwlint, as its package says."""
    (found,) = _VERSION.findall((ROOT / "src/bwlint/__init__.py").read_text("utf-8"))
    return str(found)


def spread(entry: Any, pages: list[str]) -> Any:
    """An entry of the navigation in which a folder (`rules/`) is the list of its pages."""
    if isinstance(entry, dict):
        return {name: spread(below, pages) for name, below in entry.items()}
    if isinstance(entry, list):
        return [spread(below, pages) for below in entry]
    return [page for page in pages if page.startswith(entry)] if entry.endswith("/") else entry


def shown(text: str, page: str, address: str) -> str:
    """The text of a page, by its path below docs/, as the site has it. The address may be ""."""

    def linked(found: re.Match[str]) -> str:
        path = outside(page, found["path"])
        if path is None:
            return found[0]
        if found["picture"]:
            return f"![{found['words']}]({'../' * page.count('/')}{_picture(path)})"
        if not address:
            return found["words"]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"[{found['words']}]({address}/{kind}/v{version()}/{path}{found['anchor'] or ''})"

    # A title is that of a page only where nothing stands above it.
    text = re.sub(r"\A<!--.*?-->\s*", "", text)
    text = _LINK.sub(linked, text).replace("<details>", '<details markdown="1">')
    if not address:
        return text
    name = "/".join(address.split("/")[-2:])
    return text.replace(f"https://github.com/{PLACEHOLDER}", address).replace(PLACEHOLDER, name)


def outside(page: str, path: str) -> str | None:
    """What a page links to, from the root of the repository; None for a path within docs/."""
    reached = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    return None if reached.startswith("docs/") else reached


def _picture(path: str) -> str:
    return f"pictures/{posixpath.basename(path)}"
