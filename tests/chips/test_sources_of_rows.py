"""Every row of every table names what it was read in, so that a reader can open it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bwlint.data import read_toml, tables_folder

VERSION = r"(?:\b[0-9a-f]{7,12}\b|\b\d+\.\d+)"
FILE = r"[\w*/]+\.(?:py|h|hpp|inl|cuh?|cpp|toml|txt|cmake)\b"
FORMS = {
    "a kind of evidence and what it was": r"^(?:assembled|run|read|reported|documented): \S",
    "a file of a commit or release": rf"{VERSION}.*{FILE}",
    "a file of a release, named first": rf"{FILE}.*{VERSION}",
    "the README of a commit": r"\b[0-9a-f]{7,12}\b README",
    "a version of a tool": r"\b(?:ptxas|nvcc) \d+\.\d+",
    "an issue": r"[\w.-]+#\d+",
    "a document": r"https://\S+|\bhardware\.md (?:section )?\d|\bdevices\.json [a-z]|\b(?:devices|ptx)\.toml\b",
    "what needs no reading": r"^(?:by definition|by name|assumption): \S",
    "nothing, and it says so": r"^evidence: not found again, kept from 0\.1\.0",
}
WITHOUT = {("devices", "hypothetical"), ("ptx", "form"), ("ptx", "target"), ("toolkits", "releases")}
"""Rows that judge nothing, and what was measured by the versions that the head of the table names."""


def sourced() -> Iterator[tuple[str, str]]:
    """The rows of all tables, each by its place, with what it says it was found in."""
    for path in sorted(tables_folder().glob("*.toml")):
        content = read_toml(path)
        keys = content.get("sources", {})
        for kind, rows in content.items():
            if (path.stem, kind) in WITHOUT:
                continue
            for number, row in enumerate(_rows(kind, rows)):
                for text in _texts(row["source"] if isinstance(row, dict) else row, keys):
                    yield f"{path.stem}-{kind}-{number}", text


def _rows(kind: str, value: Any) -> list[Any]:
    if kind == "sources":
        return list(value.values())
    if isinstance(value, list):
        return [row for row in value if isinstance(row, dict)]
    if isinstance(value, dict):
        return [value] if "source" in value else list(value.values())
    return []


def _texts(source: Any, keys: dict[str, str]) -> list[str]:
    """A source in words, or the words that keys stand for."""
    if isinstance(source, dict):
        return [text for each in source.values() for text in _texts(each, keys)]
    return [keys[key] for key in source.split()] if keys and source not in keys.values() else [source]


def test_a_source_is_something_that_can_be_opened() -> None:
    found = list(sourced())
    assert len(found) > 500
    assert [row for row in found if not any(re.search(form, row[1]) for form in FORMS.values())] == []


@pytest.mark.parametrize("source", ["read", "folklore", "FlashInfer utils.py", "CUDA runtime API", "vLLM", "the name"])
def test_a_bare_word_is_none(source: str) -> None:
    assert not any(re.search(form, source) for form in FORMS.values())


def test_every_form_of_instructions_was_measured() -> None:
    """tools/ptx_forms.toml says what to ask ptxas; what it answers is in ptx.toml, with the versions asked."""
    asked = read_toml(Path(__file__).parents[2] / "tools" / "ptx_forms.toml")["form"]
    measured = read_toml(tables_folder() / "ptx.toml")
    assert {form["name"] for form in measured["form"]} <= {form["name"] for form in asked}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in measured["ptxas"]["versions"])
