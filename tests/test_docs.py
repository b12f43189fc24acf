"""The pages under docs/: those that are made are what their tables say, and every link leads somewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import docs
from bwlint.chips import all_chips
from bwlint.data import table
from bwlint.settings.catalog import rules

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_no_page_is_stale() -> None:
    assert docs.stale(docs.DOCS) == [], "python tools/docs.py"


def test_every_rule_and_chip_has_a_page() -> None:
    made = docs.pages()
    assert {f"rules/{rule.name}.md" for rule in rules()} | {
        f"chips/{chip.name}.md" for chip in all_chips()
    } < made.keys()


def test_every_library_and_launcher_has_a_page() -> None:
    made = docs.pages()
    rows = [*table("libraries")["need"], *table("libraries")["works"]]
    for name in {row["library"] for row in rows if "library" in row}:
        own = made[f"libraries/{name}.md"].splitlines()
        assert len([line for line in own if line.startswith("| ")]) > sum(row.get("library") == name for row in rows)
    assert all(row["launcher"].lower().replace(" ", "-") in docs.shelves() for row in table("backends")["plan"])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"chips": ["12.0"], "strength": "proof"}, ("yes", "no")),
        ({"chips": ["12.0"], "outcome": "is refused"}, ("yes", "no")),
        ({"chips": ["12.0"]}, ("yes", "")),  # where it is known to work: nothing is said of others
        ({"needs": "multicast", "strength": "name"}, ("", "")),
    ],
)
def test_what_a_row_says_of_a_chip(row: dict[str, Any], words: tuple[str, str]) -> None:
    assert tuple(docs._on(row, chip) for chip in ("12.0", "12.1")) == words


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rules/leak.md", docs.MADE + "# leak\n"),
        ("rules/gone.md", docs.MADE + "# gone\n"),
    ],
)
def test_what_is_stale_is_named(name: str, text: str, tmp_path: Path) -> None:
    shutil.copytree(docs.DOCS, tmp_path / "docs")
    (tmp_path / "docs" / name).write_text(text, "utf-8")
    (tmp_path / "docs" / "own.md").write_text("# what somebody writes\n", "utf-8")
    assert docs.stale(tmp_path / "docs") == [name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    links = [link for link in _LINK.findall(text) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]


def test_every_page_is_linked() -> None:
    """From the README, in some steps."""
    seen, left = set[Path](), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        left += [(page.parent / link).resolve() for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert set(PAGES) <= seen
