"""Ledgers for the tests of their renderings."""

from __future__ import annotations

from typing import Any

from bwlint.model.findings import Skipped
from bwlint.model.ledger import Decision, Ledger, Row, RowPlace, RowWay, ScorePart

CHIPS = ("12.0", "12.1", "8.9", "9.0", "10.0", "10.3", "11.0")
SPLIT = ("yes", "no", "no", "yes", "yes", "yes", "no")


def make_row(**changes: Any) -> Row:
    """A gate that cuts the family, changed as told; `answers` are those of `CHIPS`."""
    answers = changes.pop("answers", SPLIT)
    values: dict[str, Any] = {
        "kind": "review",
        "form": "gate",
        "group": "own",
        "subject": "is_supported_config",
        "question": "capability == (12, 0) or capability.major in (9, 10)",
        "verdicts": (("12.0", "pass"), ("12.1", "review")),
        "table": tuple(zip(CHIPS, answers, strict=True)),
        "rough": False,
        "ways": (RowWay(("12.0",), "calls `cutlass_moe`"), RowWay(("12.1",), 'raises "needs SM120"')),
        "behind": "`cutlass_moe` needs nothing above 12.0 (csrc/moe.cu:88)",
        "why": "It cuts 12.1 from 12.0, and nothing proves that right or wrong.",
        "score": 12,
        "parts": (
            ScorePart("family-split", 10, "12.0 and 12.1 get different answers."),
            ScorePart("raises", 4, "An asked chip gets an error."),
            ScorePart("vendored", -2, "The file is somebody else's."),
        ),
        "places": (
            RowPlace("vllm/fused_moe/cutlass_moe.py", 212, 213, "checked here"),
            RowPlace("csrc/moe.cu", 88, 88, "behind it"),
            RowPlace("tests/test_moe.py", 9, 9, "checked here"),
        ),
        "fingerprint": "3f9a12bc04de5566778899aabbccddee",
    }
    return Row(**{**values, **changes})


CHAIN = make_row(
    kind="open",
    form="guard",
    group="unbuilt",
    subject="dispatch",
    question="#if __CUDA_ARCH__ == 900 ... #elif __CUDA_ARCH__ >= 1000",
    verdicts=(("12.0", "open"), ("12.1", "open")),
    answers=("arm 2", "arm 2", "else", "arm 1", "may", "error", "?"),
    rough=True,
    ways=(RowWay(("12.0", "12.1"), "launches `moe_kernel<Sm100>`"),),
    behind="",
    why="Nothing is known of `moe_kernel`.",
    score=-1,
    parts=(ScorePart("unbuilt", -1, "No build compiles it."),),
    places=(RowPlace("csrc/dispatch.cuh", 7, 7),),
    fingerprint="00112233445566778899aabbccddeeff",
    findings=("0123456789abcdef0123456789abcdef",),
    same_subject=("3f9a12bc04de5566778899aabbccddee",),
)
DECIDED = make_row(
    kind="fail",
    verdicts=(("12.0", "fail"), ("12.1", "fail")),
    places=(RowPlace("a.py", 3, 3),),
    parts=(),
    score=0,
    fingerprint="ffeeddccbbaa99887766554433221100",
    decision=Decision(
        "ffeeddccbbaa99887766554433221100", "fine", "tried on a Spark", "Ann <ann@example.org>", "2026-11-01"
    ),
)
RICH = Ledger(
    ("12.0", "12.1"),
    (make_row(), CHAIN, DECIDED),
    (Skipped("b.py", "not UTF-8"),),
    {"files": 3},
    (Decision("0" * 32, "later", "", "", ""),),
)
EMPTY = Ledger(("12.0", "12.1"), ())
