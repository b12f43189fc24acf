"""The words beside a bound of C++: they end where it ends, or there is no edit."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.chips.mentions import from_generation, mentioned
from bwlint.fix.text import closed

from .conftest import Mend

KERNEL = """void launch_hopper(int n) {
  using Loop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, cutlass::half_t>::CollectiveOp;
  Adapter<Loop> gemm;
  gemm.run();
}
int main() {
  cudaDeviceProp props;
  cudaGetDeviceProperties(&props, 0);
"""
CHECK = '  if (props.major < 9) {{\n    std::cerr << "{}\\n";\n    return 0;\n  }}\n'
END = "  launch_hopper(1);\n}\n"
BEFORE, AFTER = "props.major < 9", "props.major != 9"
LINE = KERNEL.count("\n") + 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Needs SM90+", "Needs SM90"),
        ("This needs compute capability 90 or greater.", "This needs compute capability 9.0."),
        ("This needs compute capability >= 9.0.", "This needs compute capability 9.0."),
        ("This needs a Hopper GPU or newer.", "This needs a Hopper GPU."),
        ("Hopper or newer (compute capability 9.0 or above)", "Hopper (compute capability 9.0)"),
        ("This needs Hopper.", "This needs Hopper."),
        ("This needs compute capability 9.0.", "This needs compute capability 9.0."),
        ("This GPU is not supported.", "This GPU is not supported."),
        ("This needs CUDA 12.0 or newer.", "This needs CUDA 12.0 or newer."),
        ('Needs Hopper "\n      << "on this machine.', 'Needs Hopper "\n      << "on this machine.'),
    ],
)
def test_text_ends_with_the_bound(mend: Mend, before: str, after: str) -> None:
    done = mend(KERNEL + CHECK.format(before) + END, rules=("leak",))
    assert (done.refusals, done.text()) == ((), KERNEL + CHECK.format(after).replace(BEFORE, AFTER) + END)


@pytest.mark.parametrize(
    "text",
    [
        'Needs the Hopper architecture or "\n      << "later (compute capability 90 or greater).',
        "Needs Ampere or newer.",  # how to say it of 9.0 alone, nobody knows
        "Needs compute capability 9.0 or newer; SM100 and newer are best.",
    ],
)
def test_no_edit_leaves_a_false_text(mend: Mend, text: str) -> None:
    done = mend(KERNEL + CHECK.format(text) + END, rules=("leak",))
    assert (done.fixes, done.refusals) == ((), (f"the text at line {LINE} would be false: rewrite it with the check",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  // SM90 and newer\n", "  // SM90\n"),
        ("  // the kernel is for Hopper or newer\n", "  // the kernel is for Hopper\n"),
        ("  // the kernel is for Hopper\n", "  // the kernel is for Hopper\n"),
        ("  // CUDA 12.0 and newer\n", "  // CUDA 12.0 and newer\n"),
    ],
)
def test_comment_beside(mend: Mend, before: str, after: str) -> None:
    check = CHECK.format("No.")
    done = mend(KERNEL + before + check + END, rules=("leak",))
    assert done.text() == KERNEL + after + check.replace(BEFORE, AFTER) + END


def test_assertion(mend: Mend) -> None:
    source = KERNEL + '  TORCH_CHECK(props.major >= 9, "needs capability 9.0 or newer");\n' + END
    want = source.replace("props.major >= 9", "props.major == 9").replace(" or newer", "")
    assert mend(source, rules=("leak",)).text() == want


@pytest.mark.parametrize("text", ["Hopper or newer", "SM90+", "Ampere GPUs or newer", "capability 9.0"])
def test_what_is_closed_is_open_no_more(text: str) -> None:
    gone = from_generation("Blackwell or newer")
    for start, end, new in sorted(closed(text, 0, len(text), gone, ~gone), reverse=True):
        text = text[:start] + new + text[end:]
    assert not mentioned(text).named & gone
    assert text.startswith("Ampere") or not from_generation(text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Requires blackwell or newer", "Requires compute capability 10.x or 11.0"),
        ("needs Blackwell+", "needs compute capability 10.x or 11.0"),
        ("need cuda compute >= 10.0", "need cuda compute 10.x or 11.0"),
        ("Hopper or newer only", "compute capability 9.0 to 11.0 only"),
        ("Ampere or newer", ""),  # of which the check lets in a part
        ("Hopper GPUs or newer (SM90+)", ""),
        ("Requires blackwell", ""),
    ],
)
def test_a_generation_that_is_cut_is_told_by_its_numbers(text: str, want: str) -> None:
    gone = ChipSet.of("12.0", "12.1")
    hits = closed(text, 0, len(text), gone, from_generation("Hopper or newer") - gone)
    for start, end, new in sorted(hits, reverse=True):
        text = text[:start] + new + text[end:]
    assert (text if hits else "") == want
