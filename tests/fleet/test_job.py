"""Lists of sources, line by line."""

from __future__ import annotations

import pytest

from bwlint.fleet.job import BadList, FleetSource, SourceList, identity, sources_of


def listed(*texts: str) -> tuple[FleetSource, ...]:
    return sources_of(SourceList(f"{number}.txt", text, "/lists") for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("", None),
        ("   # nothing but words", None),
        ("kit", FleetSource("kit", "path", "/lists/kit")),
        ("  ../kit/  # with a reason", FleetSource("../kit/", "path", "/kit")),
        ("/kit#1", FleetSource("/kit#1", "path", "/kit#1")),
        ("/a b", FleetSource("/a b", "path", "/a b")),
        ("/kit@v1", FleetSource("/kit@v1", "path", "/kit@v1")),
        ("-x", FleetSource("-x", "path", "/lists/-x")),
        ("k-1.0-py3-none-any.whl", FleetSource("k-1.0-py3-none-any.whl", "wheel", "/lists/k-1.0-py3-none-any.whl")),
        ("pypi:kit==1.0", FleetSource("pypi:kit==1.0", "pypi", "pypi:kit==1.0")),
        ("https://h/r@v1 # tag", FleetSource("https://h/r@v1", "git", "https://h/r@v1")),
        ("git@h:o/r", FleetSource("git@h:o/r", "git", "git@h:o/r")),
        ("\ufeffkit\r", FleetSource("kit", "path", "/lists/kit")),
    ],
)
def test_a_line(line: str, source: FleetSource | None) -> None:
    assert listed(line) == (() if source is None else (source,))


def test_the_order_is_that_of_the_lists_and_a_source_counts_once() -> None:
    assert [source.name for source in listed("b\na\n", "b\nc")] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pypi:kit>=1", "is not the name of a package"),
        ("pypi:--index-url=x", "is not the name of a package"),
        ("http://h/r", "http:// is not read"),
        ("https://h/r@-q", "is not the name of a branch"),
        ("kit\x1b[2J", "\\x1b[2J has an unusual character"),
    ],
)
def test_a_line_that_names_nothing(line: str, words: str) -> None:
    with pytest.raises(BadList) as raised:
        listed("fine\n" + line)
    assert str(raised.value).startswith("0.txt:2: ")
    assert words in str(raised.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(BadList) as raised:
        listed("http://h/r\nfine\ngit://h/r", "ftp://h/r")
    assert [line.partition(": ")[0] for line in str(raised.value).split("\n")] == ["0.txt:1", "0.txt:3", "1.txt:1"]


def test_one_name_for_two_places() -> None:
    with pytest.raises(BadList, match="kit is two places"):
        sources_of([SourceList("a", "kit", "/a"), SourceList("b", "kit", "/b")])


def test_what_a_list_is_known_by() -> None:
    file, given = SourceList("/a.txt", "kit", "/"), SourceList("-", "kit", "/")
    sources = sources_of([given])
    assert identity([file], sources) == ("/a.txt",)
    assert identity([given], sources) == ("/kit",)
    assert identity([file, given], sources) == ("/a.txt", "/kit")
