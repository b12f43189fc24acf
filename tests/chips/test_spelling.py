"""Every spelling of every chip and target, and what is none."""

from __future__ import annotations

import re

import pytest

from bwlint.chips import ALL_TARGETS, Chip, Target, all_chips, spelling

PREFIXES = ("sm_", "SM_", "sm", "SM", "Sm", "compute_", "COMPUTE_", "lto_", "")
FORMS = ("", "-real", "-virtual", "+PTX", "+ptx")


@pytest.mark.parametrize("target", ALL_TARGETS, ids=str)
def test_every_spelling_of_every_target_is_read_and_written_back(target: Target) -> None:
    major, minor = divmod(target.number, 10)
    for suffix in {target.suffix, target.suffix.upper()}:
        for form in FORMS:
            for prefix in PREFIXES:
                text = f"{prefix}{target.number}{suffix}{form}"
                found = spelling.spelled(text)
                assert found == spelling.Spelling(prefix, target.number, suffix, form, False)
                assert found.write(target.number) == text
                assert found.target == f"{target.number}{target.suffix}"
                assert found.write(121) == f"{prefix}121{suffix}{form}"
            dotted = f"{major}.{minor}{suffix}{form}"
            found = spelling.spelled(dotted)
            assert found == spelling.Spelling("", target.number, suffix, form, True)
            assert found.write(target.number) == dotted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sm",
        "sm_",
        "sm_1200",
        "sm_12x",
        "SM100+",
        "120b",
        "12.",
        "12.01",
        "sm_12.0",
        "compute120",
        "sm 120",
        "120-",
        "1",
    ],
)
def test_what_is_more_or_less_than_a_target_is_not_read(text: str) -> None:
    assert spelling.spelled(text) is None


@pytest.mark.parametrize(
    ("name", "number"),
    [("sm_120a", 120), ("sm90", 90), ("SM_121f", 121), ("compute_120", None), ("120", None), ("12.0", None)],
)
def test_a_member_of_an_enum_is_named_sm(name: str, number: int | None) -> None:
    found = spelling.member(name)
    assert (found and found.number) == number


@pytest.mark.parametrize(
    ("name", "numbers", "without"),
    [
        ("is_sm120a_supported", (120,), "is_sm_supported"),
        ("is_sm_12x", (), "is_sm"),
        ("gemm_sm100_or_SM120", (100, 120), "gemm_sm_or_sm"),
        ("MySm100fKernel", (100,), None),
        ("gen_fmha_sm90", (90,), "gen_fmha_sm"),
        ("sm1200", (), None),
        ("num_sms", (), None),
        ("prism_90", (90,), None),
    ],
)
def test_numbers_in_identifiers(name: str, numbers: tuple[int, ...], without: str | None) -> None:
    assert spelling.numbers(name) == numbers
    assert spelling.numberless(name) == without


@pytest.mark.parametrize("chip", all_chips(), ids=str)
def test_a_chip_in_words(chip: Chip) -> None:
    number = chip.joined
    piece = re.compile(spelling.in_words(number))
    for text in (f"SM{number}", f"sm_{number}", f"sm-{number}a", f"SM {number}F", f"only SM{number}."):
        assert piece.search(text), text
    for text in (f"sm_{number}0", f"{number}", f"sm_{number}x", f"SM  {number}"):
        assert not piece.search(text), text


@pytest.mark.parametrize(
    ("piece", "yes", "no"),
    [
        (spelling.in_names(120), ("sm120", "is_sm_120a", "SM12x", "sm_12X"), ("sm_121", "sm1200", "120")),
        (spelling.of_generation(12), ("sm120", "sm_121", "SM12x"), ("sm_12", "sm100", "sm1200", "b12x")),
        (spelling.ROUGHLY, ("120", "12x", "1xx"), ("x", "1", "1x0")),
        (spelling.LISTED, ("30", "90", "120"), ("12", "200", "9")),
        (spelling.OF_TOOLS + spelling.ANY_TARGET, ("sm_120b", "lto_90"), ("sm120", "SM_120")),
    ],
)
def test_pieces(piece: str, yes: tuple[str, ...], no: tuple[str, ...]) -> None:
    for text in yes:
        assert re.search(piece, text), text
    for text in no:
        assert not re.fullmatch(rf"(?:is_)?(?:{piece})", text), text
