"""Words that name one member of a family where the test admits the family."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.chips import group
from bwlint.fix.edited import apply
from bwlint.fix.text import reworded, reworded_in_cpp
from bwlint.model.expr import Span
from bwlint.model.findings import Fix, NoFix
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

FAMILY = group("consumer-blackwell")


def worded(statement: str) -> str:
    """A statement with its text mended; why not, where it is not."""
    source = f"def f(x, d):\n    {statement}\n"
    edit = reworded(source, "m.py", Span(2, 4, 2, 4 + len(statement.encode())), FAMILY)
    return edit.reason if isinstance(edit, NoFix) else apply(source, edit).partition("\n    ")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "raise ValueError('XQA is only supported on SM120 GPUs')",
            "raise ValueError('XQA is only supported on SM12x GPUs')",
        ),
        ("raise ValueError('needs sm_120a')", "raise ValueError('needs sm_120a/sm_121a')"),
        ("raise ValueError('needs sm120')", "raise ValueError('needs sm12x')"),
        ("raise ValueError('needs SM 120.')", "raise ValueError('needs SM 12x.')"),
        ("raise ValueError('needs SM90 or SM120')", "raise ValueError('needs SM90 or SM12x')"),
        ("pytest.skip(f'{x} needs SM120 for {d}')", "pytest.skip(f'{x} needs SM12x for {d}')"),
        ("pytest.skip('é needs SM120')", "pytest.skip('é needs SM12x')"),
        ("pytest.skip('it ' 'needs SM120')", "pytest.skip('it ' 'needs SM12x')"),
        ("pytest.skip('needs compute capability (12, 0).')", "pytest.skip('needs compute capability 12.x.')"),
        ("pytest.skip('needs compute capability 12.0')", "pytest.skip('needs compute capability 12.x')"),
        ("pytest.skip('needs compute capability of 12.0')", "pytest.skip('needs compute capability of 12.x')"),
        ("pytest.skip('the SM120 kernel needs SM120a')", "pytest.skip('the SM120 kernel needs SM120a/SM121a')"),
        ("pytest.skip('needs SM120 (RTX 5090 cards).')", "pytest.skip('needs SM12x.')"),
        ("pytest.skip('SM120 alone has SM120 tiles')", "pytest.skip('SM12x alone has SM12x tiles')"),
        ("pytest.skip('needs SM121')", None),
    ],
)
def test_words(before: str, after: str | None) -> None:
    assert worded(before) == (after or "pytest.skip('needs SM12x')")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("pytest.skip('needs SM12x')", "no known rewrite for these words"),
        ("pytest.skip('needs SM100')", "no known rewrite for these words"),
        ("pytest.skip('needs the fmha_sm120 kernel')", "no known rewrite for these words"),
        ("pytest.skip('needs CUDA 12.0')", "no known rewrite for these words"),
        ("pytest.skip('needs version (12, 0)')", "no known rewrite for these words"),
        ("pytest.skip('needs SM1200')", "no known rewrite for these words"),
        ("pytest.skip('needs SM120 or SM121')", "the new words would not be read as meant"),
        ("pytest.skip('needs SM120, an RTX PRO 6000')", "the text names a product too"),
        ("pytest.skip('needs SM120 (RTX 5090 or RTX PRO 6000)')", "the text names a product too"),
        ("pytest.skip('needs SM120+')", "the new words would not be read as meant"),
        ("pytest.skip('needs SM120 or newer')", "the new words would not be read as meant"),
        ("pytest.skip('needs SM120 or 12.1')", None),
        ("raise ValueError(table['sm_120'])", "more than the words of one text would change"),
        ("raise ValueError(f'not for {table[\"the sm_120\"]}')", "more than the words of one text would change"),
        ("raise ValueError(x == 'sm_120')", "more than the words of one text would change"),
    ],
)
def test_left_alone(statement: str, reason: str | None) -> None:
    assert worded(statement) == (reason or "pytest.skip('needs SM12x or 12.1')")


@pytest.mark.parametrize("chips", [group("datacenter-blackwell"), group("hopper")])
def test_a_number_that_is_the_name_of_its_generation(chips: object) -> None:
    found = reworded("f('needs SM100')\n", "m.py", Span(1, 0, 1, 16), chips)  # type: ignore[arg-type]
    assert found == NoFix("the number of the first is read as the name of the family too")


def findings(folder: Path, test: str, text: str) -> list[Fix | str | None]:
    head = "import torch\ndef f(arch):\n    cap = torch.cuda.get_device_capability()\n"
    source = f"{head}    if {test}:\n        raise RuntimeError('{text}')\n"
    (folder / "m.py").write_text(source)
    with ExitStack() as stack:
        found = check(CheckRequest((str(folder),), severity="note", jobs=1, fixes=True), stack).report.findings
    return [one.fix or one.fix_refused for one in found if one.name == "message"]


def test_the_text_is_wrong(tmp_path: Path) -> None:
    (fix,) = findings(tmp_path, "cap[0] != 12", "XQA is only supported on SM120 GPUs")
    assert isinstance(fix, Fix)
    assert (fix.applicability, fix.kind, fix.edits[0].text) == ("safe", "text", "SM12x")
    assert fix.proof.before_may == fix.proof.after_may == ("12.0", "12.1")


@pytest.mark.parametrize(
    ("test", "text", "after"),
    [
        ("cap[0] != 10", "needs SM100 or newer", "needs SM10x"),
        ("cap != (9, 0)", "needs compute capability >= 9.0 here", "needs compute capability 9.0 here"),
        ("cap[0] != 9", "only supported on sm90 and above", "only supported on sm90"),
        ("cap[0] != 10", "needs a Blackwell GPU (SM100+).", "needs a Blackwell GPU (SM10x)."),
        ("cap[0] != 9", "needs Hopper or newer", "needs Hopper"),
    ],
)
def test_a_text_promises_what_the_check_admits(tmp_path: Path, test: str, text: str, after: str) -> None:
    (fix,) = findings(tmp_path, test, text)
    assert isinstance(fix, Fix)
    assert f"RuntimeError('{after}')" in apply((tmp_path / "m.py").read_text(), fix.edits)
    assert (fix.applicability, fix.kind) == ("unsafe", "text")


def test_what_is_behind_the_check_shows_that_the_text_is_wrong(tmp_path: Path) -> None:
    source = "import torch\nfrom cutlass.cute.nvgpu import tcgen05\n\n\ndef f(x):\n"
    source += "    if torch.cuda.get_device_capability()[0] != 10:\n        raise RuntimeError('needs SM100+')\n"
    (tmp_path / "m.py").write_text(f"{source}    tcgen05.mma()\n")
    with ExitStack() as stack:
        (found,) = check(CheckRequest((str(tmp_path),), jobs=1, fixes=True), stack).report.findings
    assert found.fix is not None
    assert (found.name, found.fix.applicability, found.fix.title) == (
        "message",
        "safe",
        "Promise no later chips in the text",
    )


@pytest.mark.parametrize(
    ("test", "text", "reason"),
    [
        ("cap[0] < 10", "only SM90 will do", "nothing here says which is wrong, the text or the test"),
        ("cap != (12, 0)", "only SM120 will do", "the test beside it has to be mended first"),
    ],
)
def test_either_may_be_wrong(tmp_path: Path, test: str, text: str, reason: str) -> None:
    found = findings(tmp_path, test, text)
    assert not any(isinstance(one, Fix) for one in found)
    assert set(found) <= {reason}


@pytest.mark.parametrize("text", ["needs SM120+", "SM120 kernels need SM12x", "needs SM120 or SM121", "needs SM12x"])
def test_the_text_is_right(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, "cap[0] != 12", text) == []


def worded_in_cpp(statement: str) -> str:
    source = f"// SM120\nvoid f() {{\n  {statement}\n}}\n"
    edit = reworded_in_cpp(source, "m.cu", Span(3, 2, 3, 2 + len(statement.encode())), FAMILY)
    return edit.reason if isinstance(edit, NoFix) else apply(source, edit).partition("{\n  ")[2].partition("\n}")[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('CHECK(x, "needs SM120");', 'CHECK(x, "needs SM12x");'),
        ('CHECK(x, "é ", "needs SM120a");', 'CHECK(x, "é ", "needs SM120a/SM121a");'),
        ('CHECK(x, R"(needs SM120)");', 'CHECK(x, R"(needs SM12x)");'),
        ('CHECK(x, "sm_120");', "no known rewrite for these words"),
        ('CHECK(sm120, "needs it");  // SM120', "no known rewrite for these words"),
        ('CHECK(x, "needs SM120 or SM121");', "the new words would not be read as meant"),
        ('CHECK(x, "needs SM120 or newer");', "the new words would not be read as meant"),
        ('CHECK(x, "needs SM120, or RTX 5090");', "the text names a product too"),
        ('CHECK(x, "needs SM120 (RTX 5090)");', 'CHECK(x, "needs SM12x");'),
        ('CHECK(x, "needs SM120a (RTX 5090 32GB)");', 'CHECK(x, "needs SM120a/SM121a");'),
    ],
)
def test_words_in_cpp(before: str, after: str) -> None:
    assert worded_in_cpp(before) == after
