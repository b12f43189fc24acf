"""The pages as a site: its navigation, and links that leave docs/. `mkdocs build --strict` does the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import docs_site
import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
NAV = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
AT = f"https://github.com/us/it/blob/v{docs_site.version()}"


def leaves(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [leaf for below in (entry.values() if isinstance(entry, dict) else entry) for leaf in leaves(below)]


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(leaves(docs_site.spread(NAV, PAGES))) == PAGES


def test_the_navigation_is_that_of_the_list_of_pages() -> None:
    """What it names, in the order of docs/README.md; a folder there is its README, or all of its pages."""
    listed = re.findall(r"\]\(([\w/.-]+)\)", (DOCS / "README.md").read_text("utf-8"))
    folders = {f"{path.rpartition('/')[0]}/" if "/" in path else path: None for path in listed}
    assert ["README.md", *folders] == leaves(NAV)


@pytest.mark.parametrize(
    ("text", "page", "without", "known"),
    [
        ("[a](b.md#c)", "x.md", "[a](b.md#c)", "[a](b.md#c)"),
        ("[a](../rules/b.md)", "chips/x.md", "[a](../rules/b.md)", "[a](../rules/b.md)"),
        ("[a](../fixtures/leak/a.py).", "x.md", "a.", f"[a]({AT}/fixtures/leak/a.py)."),
        ("[a](../../fixtures/leak/a.py)", "rules/x.md", "a", f"[a]({AT}/fixtures/leak/a.py)"),
        ("[`a`](../CONTRIBUTING.md#b-c)", "x.md", "`a`", f"[`a`]({AT}/CONTRIBUTING.md#b-c)"),
        ("[a](../fixtures)", "x.md", "a", f"[a]({AT.replace('blob', 'tree')}/fixtures)"),
        ("![a](../benchmarks/b.svg)", "x.md", "![a](pictures/b.svg)", "![a](pictures/b.svg)"),
        ("![a](../../benchmarks/b.svg)", "y/x.md", "![a](../pictures/b.svg)", "![a](../pictures/b.svg)"),
        ("[a](https://example.org/../b)", "x.md", "[a](https://example.org/../b)", "[a](https://example.org/../b)"),
        ("uses: OWNER/bwlint@v1", "x.md", "uses: OWNER/bwlint@v1", "uses: us/it@v1"),
        (
            "repo: https://github.com/OWNER/bwlint",
            "x.md",
            "repo: https://github.com/OWNER/bwlint",
            "repo: https://github.com/us/it",
        ),
        ("OWNER/fork", "x.md", "OWNER/fork", "OWNER/fork"),
        ("<!-- made -->\n\n# a\n<!-- b -->", "x.md", "# a\n<!-- b -->", "# a\n<!-- b -->"),
        ("<details><summary>a", "x.md", '<details markdown="1"><summary>a', '<details markdown="1"><summary>a'),
    ],
)
def test_a_page_as_the_site_has_it(text: str, page: str, without: str, known: str) -> None:
    assert docs_site.shown(text, page, "") == without
    assert docs_site.shown(text, page, "https://github.com/us/it") == known


def test_what_pages_link_to_outside_is_there() -> None:
    found = [
        (page, path)
        for page in PAGES
        for link in re.findall(r"\]\(((?:\.\./)+[^)#\s]+)", (DOCS / page).read_text("utf-8"))
        if (path := docs_site.outside(page, link))
    ]
    assert found and [(page, path) for page, path in found if not (ROOT / path).exists()] == []


def test_the_version_is_that_of_the_package() -> None:
    from bwlint import __version__

    assert docs_site.version() == __version__
    assert isinstance(docs_site.repository(), str)
