"""What is left alone, and the reason that is given."""

from __future__ import annotations

import libcst
import pytest

from bwlint.chips import ChipSet
from bwlint.fix.python import locate
from bwlint.model.findings import Edit, NoFix, Region

from .conftest import Make
from .test_family import ARCH, CAP, PLATFORM

UNKNOWN = "bwlint has no rewrite for this spelling"


@pytest.mark.parametrize(
    "test",
    [
        "is_sm120_exact()",
        "cap > (11, 9) and cap < (12, 1)",
        "(12, 0) <= cap <= (12, 0)",
        "major * 10 + minor == 0x78",
        "major == 12 and not minor",
        "major == 12 and minor < 1",
        "cap in {(12, 0): 1}",
        "{(12, 0): 1}.get(cap)",
        "cap in EXACT",
        "cap == EXACT[0]",
        "str(major) + str(minor) == '1' + '20'",
        "f'{major}{minor}'.startswith('120')",
        "cap in [(12, 0)] + []",
    ],
)
def test_spelling_not_known(snippet: Make, test: str) -> None:
    head = f"{CAP}EXACT = [(12, 0)]\ndef is_sm120_exact():\n    return cap[0] * 10 + cap[1] in range(120, 121)\n"
    found = snippet(f"{head}if {test}: pass\n")
    number = len(found.module.gates) - 1
    found = snippet(found.source, number)
    if test == "cap in [(12, 0)] + []":
        assert found.fixed().count("(12, 1)") == 1
        return
    assert found.refused() == UNKNOWN


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        ("cap == (12, 0)", ("12.0",)),
        ("cap in ((12, 0), (12, 1))", ("12.0", "12.1")),
        ("major == 12", ("12.0", "12.1")),
        ("major * 10 + minor in (120, 121)", ("12.0", "12.1")),
    ],
)
def test_nothing_to_do(snippet: Make, test: str, wanted: tuple[str, ...]) -> None:
    assert snippet(f"{CAP}if {test}: pass\n").refused(ChipSet.of(*wanted)).startswith("nothing to do")


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (("9.0", "12.0"), "nothing here shows that a sibling of 9.0 is wanted"),
        (("10.0", "12.0", "12.1"), "nothing here shows that a sibling of 10.0 is wanted"),
        (("12.1",), "the set wanted both gains and loses chips"),
        ((), UNKNOWN),
    ],
)
def test_more_than_the_family(snippet: Make, wanted: tuple[str, ...], reason: str) -> None:
    assert snippet(f"{CAP}if cap == (12, 0): pass\n").refused(ChipSet.of(*wanted)) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "if cap == (12, 0):  # exactly this part\n    pass\n",
            "a comment says that the exact test is meant",
        ),
        (
            "# The exact test is meant.\nif cap == (12, 0):\n    pass\n",
            "a comment says that the exact test is meant",
        ),
        (
            "# deliberately narrow\n#\nif cap == (12, 0):\n    pass\n",
            "a comment says that the exact test is meant",
        ),
        (
            "exact = cap == (12, 0)  # on purpose\n\n\n\nif exact and f(): pass\n",
            "a comment says that the exact test is meant",
        ),
        ("if cap == (12, 0):  # SM120 only\n    pass\n", "a comment says that this is for 12.0 only"),
        (
            "if cap == (12, 0):  # only tuned for the RTX 5090\n    pass\n",
            "a comment says that this is for 12.0 only",
        ),
        (
            "if cap == (12, 0):  # does not work on sm_121\n    pass\n",
            "a comment says that 12.1 is left out knowingly",
        ),
        (
            "# GB10 hangs here\nif cap == (12, 0):\n    pass\n",
            "a comment says that 12.1 is left out knowingly",
        ),
        (
            "# 12.1 isn't supported\nif cap == (12, 0):\n    pass\n",
            "a comment says that 12.1 is left out knowingly",
        ),
    ],
)
def test_comment(snippet: Make, text: str, reason: str) -> None:
    found = snippet(CAP + text)
    assert snippet(CAP + text, len(found.module.gates) - 1).refused() == reason


@pytest.mark.parametrize(
    "text",
    [
        "# version 12.1 of the toolkit is required\nif cap == (12, 0):\n    pass\n",
        "# only one block\nif cap == (12, 0):\n    pass\n",
        "if cap == (12, 0):  # RTX 5090\n    pass\n",
        "# only SM89 and SM120 support this\nif cap == (12, 0):\n    pass\n",
        "# exactly so\n\nif cap == (12, 0):\n    pass\n",
    ],
)
def test_comment_about_something_else(snippet: Make, text: str) -> None:
    assert "(12, 1)" in snippet(CAP + text).fixed()


def test_comment_would_be_lost(snippet: Make) -> None:
    text = "if (\n    major == 12\n    # the first stepping\n    and minor == 0\n):\n    pass\n"
    fixed = snippet(CAP + text).fixed()
    assert fixed == CAP + text.replace("minor == 0", "minor in (0, 1)")


@pytest.mark.parametrize(
    "text",
    [
        "SMEM_BY_ARCH = {100: 1, 120: 2}\n",
        "ROWS_BY_CAPABILITY = {(10, 0): 1, (12, 0): 2}\n",
    ],
)
def test_rows_are_not_copied_safely(snippet: Make, text: str) -> None:
    assert snippet(text).refused() == "decide the values of the row"


def test_queried_limit(snippet: Make) -> None:
    text = (
        "import torch\nprops = torch.cuda.get_device_properties(0)\n"
        "if (props.major, props.minor, props.shared_memory_per_block_optin) == (12, 0, 101376): pass\n"
    )
    assert snippet(text).refused() == "the literal is compared with a queried shared-memory limit"


def test_limit_beside_the_literal(snippet: Make) -> None:
    text = (
        "import torch\nprops = torch.cuda.get_device_properties(0)\n"
        "if props.major == 12 and props.minor == 0 and props.shared_memory_per_block_optin > 100: pass\n"
    )
    assert snippet(text).refused() == "the literal is compared with a queried shared-memory limit"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "if cap == (12, 0): a()\nelif cap == (12, 1): b()\n",
            "the edit would leave nothing to the test at line 5",
        ),
        (
            "if cap == (12, 0):\n    return_early()\n    raise SystemExit\nif major == 12: b()\n",
            "the edit would leave nothing to the test at line 7",
        ),
    ],
)
def test_other_gates(snippet: Make, text: str, reason: str) -> None:
    assert snippet(CAP + text).refused() == reason


def test_two_places_at_once(snippet: Make) -> None:
    reason = "bwlint knows no edit that is right on 12.1: edit it by hand"
    assert snippet(f"{CAP}if cap == (12, 0) and cap in [(12, 0)]: pass\n").refused() == reason


def test_family_call_would_admit_more(snippet: Make) -> None:
    found = snippet(f"{PLATFORM}if current_platform.is_device_capability(100): pass\n")
    reason = found.refused(ChipSet.of("10.0", "10.3", "10.7"))
    assert reason == "bwlint knows no edit that is right on 10.1: edit it by hand"


def test_gate_vanishes(snippet: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "_FAMILY", (_comparison_to("ready"),))
    found = snippet(f"{CAP}if cap == (12, 0): pass\n")
    assert found.refused() == "the edited file has other checks than before"


def test_form_feed(snippet: Make) -> None:
    reason = snippet(f"{CAP}\x0cif cap == (12, 0): pass\n").refused()
    assert reason == "libcst does not give the text of the statement back as it is"


def test_libcst_cannot_parse(snippet: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: str) -> libcst.Module:
        raise libcst.ParserSyntaxError("unexpected thing\nat all", lines=["x"], raw_line=1, raw_column=0)

    monkeypatch.setattr(libcst, "parse_module", fail)
    found = snippet(f"{CAP}if cap == (12, 0): pass  # not parsed before\n")
    assert found.refused() == "libcst cannot parse the statement: unexpected thing"


def _comparison_to(code: str) -> locate.Codemod:
    replacement = libcst.parse_expression(code)
    return lambda node, change: iter([replacement] if isinstance(node, libcst.Comparison) else [])


def test_wrong_rewrites_do_not_pass(snippet: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a codemod gives, only what has the wanted set gets out."""
    for code in (
        "cap > (12, 0)",
        "cap in ((12, 1), (12, 2))",
        "cap[0] in (11, 12)",
        "True",
        "ready()",
        "cap",
    ):
        monkeypatch.setattr(locate, "_FAMILY", (_comparison_to(code),))
        assert isinstance(snippet(f"{CAP}if cap == (12, 0): pass\n").propose(), NoFix), code


def test_edit_that_breaks_the_file(snippet: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    unfinished = Edit("pkg/m.py", Region(4, 4, 4, 4), "(")
    monkeypatch.setattr(locate, "edits", lambda *_: iter([unfinished]))
    reason = snippet(f"{CAP}if cap == (12, 0): pass\n").refused()
    assert reason.startswith("the edited file does not parse: syntax error")


def test_text_that_is_not_the_read_one(snippet: Make) -> None:
    found = snippet(f"{CAP}if cap == (12, 0): pass\n")
    assert found.proposed(found.wanted(), source="\n\n\n\nx = 1\n") == NoFix(UNKNOWN)


def test_gate_of_another_file(snippet: Make) -> None:
    found, other = snippet(f"{CAP}if cap == (12, 0): pass\n"), snippet(f"{CAP}if cap != (12, 0): pass\n")
    assert found.proposed(found.wanted(), gate=other.gate) == NoFix("the gate is not found again in the file")


def test_enum_against_text(snippet: Make) -> None:
    found = snippet(f"{ARCH}from cutlass.x import get_arch_enum\nif get_arch_enum() in ['sm_120a']: pass\n")
    assert isinstance(found.propose(ChipSet.of("12.0", "12.1")), NoFix)
