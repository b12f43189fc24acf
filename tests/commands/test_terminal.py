"""The address of bwlint's own pages, as its distribution tells it."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from bwlint import __version__
from bwlint.commands import terminal


@pytest.mark.parametrize(
    ("urls", "home"),
    [
        ((), ""),
        (("Documentation, https://example.org/pages",), ""),
        (("Repository, https://example.org/us/bwlint",), f"https://example.org/us/bwlint/blob/v{__version__}/docs"),
        (
            ("Changelog, x", "Repository, https://example.org/us/b/"),
            f"https://example.org/us/b/blob/v{__version__}/docs",
        ),
    ],
)
def test_pages_lie_in_the_repository(monkeypatch: pytest.MonkeyPatch, urls: tuple[str, ...], home: str) -> None:
    told = Message()
    for url in urls:
        told["Project-URL"] = url
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: SimpleNamespace(metadata=told))
    assert terminal.home() == home


def test_without_a_distribution_there_is_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", absent)
    assert terminal.home() == ""
