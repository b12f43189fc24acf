"""Cases: what they are for a chip, and that a chip can have them."""

from __future__ import annotations

import re

import pytest

from bwlint.chips.devices import chip
from bwlint.confirm.selftest.case import (
    INPUTS,
    BuiltProgram,
    NotForChip,
    PtxText,
    SelftestCase,
    Words,
    all_cases,
    rendered,
)
from bwlint.settings import catalog

HOLE = re.compile(r"@[A-Z_]+(?:[+-]\d+)?@")
CHIPS = ("9.0", "12.0", "12.1")


def of(name: str) -> list[SelftestCase]:
    """The cases that a chip can have."""
    found = []
    for case in all_cases():
        try:
            rendered(case, chip(name))
        except NotForChip:
            continue
        found.append(case)
    return found


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_has_enough_of_them_and_no_hole_is_left(name: str) -> None:
    cases = of(name)
    assert sum(case.question != "observed" for case in cases) >= 110
    left = [case.name for case in cases if HOLE.search(rendered(case, chip(name)))]
    assert left == []


def test_rules_are_those_of_the_catalog() -> None:
    rules = {case.rule for case in all_cases() if case.question != "observed"}
    assert {catalog.lookup(rule).name for rule in rules} == rules
    assert rules >= {
        *("arch-target", "relabelled", "tcgen05", "wgmma", "suffix-lost", "illegal-instruction", "cluster", "smem"),
        *("unchecked-launch", "launch-bounds", "leak", "excluded", "capability-type", "family-split", "tma-slow-path"),
    }


def test_every_input_is_used() -> None:
    used = {case.template for case in all_cases()} | {"report.h"}
    for case in all_cases():
        if isinstance(case.make, BuiltProgram):
            used |= {*case.make.others, case.make.code} - {""}
    assert {path.name.removesuffix(".in") for path in INPUTS.iterdir()} == used


@pytest.mark.parametrize(
    ("name", "values", "text", "expected"),
    [
        ("9.0", {}, "sm_@PLAIN@ sm_@SPECIFIC@", "sm_90 sm_90a"),
        ("12.1", {}, "@SPECIFIC@ @FAMILY@ @MAJOR@.@MINOR@", "121a 121f 12.1"),
        ("9.0", {}, "@OPTIN@ @OPTIN+1@ @OPTIN-1024@", "232448 232449 231424"),
        ("12.0", {"BYTES": "OPTIN+1"}, "@BYTES@ @BYTES-1@", "101377 101376"),
        ("9.0", {"BYTES": "49153"}, "@BYTES-1@", "49152"),
        ("9.0", {"TARGET": "75"}, "@ISA@", "7.0"),
        ("9.0", {"TARGET": "121a"}, "@ISA@", "8.8"),
        ("9.0", {"TARGET": "75", "LEAST": "9.1"}, "@ISA@", "9.1"),
        ("9.0", {"TARGET": "PLAIN"}, "@TARGET@ @ISA@", "90 7.8"),
        ("9.0", {"TEST": "x == @PLAIN@"}, "if @TEST@:", "if x == 90:"),
    ],
)
def test_words(name: str, values: dict[str, str], text: str, expected: str) -> None:
    assert Words(chip(name), values).filled(text) == expected


@pytest.mark.parametrize(("name", "word"), [("9.0", "FAMILY"), ("8.0", "SPECIFIC"), ("12.0", "LARGEST")])
def test_what_a_chip_does_not_have(name: str, word: str) -> None:
    with pytest.raises(NotForChip):
        Words(chip(name)).value(word)


def test_a_value_that_no_text_names_counts_too() -> None:
    case = SelftestCase("one", "smem", "image", "plain.ptx", PtxText(), {"TARGET": "75", "OF": "FAMILY"})
    assert "sm_75" in rendered(case, chip("12.0"))
    with pytest.raises(NotForChip, match="no suffix 'f'"):
        rendered(case, chip("9.0"))
