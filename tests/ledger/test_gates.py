"""Questions of guards: what a table says of targets, and what is odd about its test."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import BOTH, analysed

from bwlint.ledger.question import Question
from bwlint.ledger.verdicts import verdict


def asked(folder: Path, name: str, text: str, form: str) -> list[Question]:
    found = analysed(folder, {name: text}, targets=BOTH).questions
    return [question for _, questions in found for question in questions if question.form == form]


GUARDED = "#if {}\n__device__ int f() {{ return 1; }}\n#endif\n"


@pytest.mark.parametrize(
    ("test", "kind", "why"),
    [
        ("__CUDA_ARCH__ >= 800", "pass", "the same answer"),
        ("__CUDA_ARCH__ >= 1000", "review", "12.x goes with 10.0, and 8.9 and 9.0 go elsewhere"),
        ("defined(FAST) && __CUDA_ARCH__ >= 1000", "review", "12.x goes with 10.0, and 8.9 and 9.0 go elsewhere"),
        # An alternative that no build sets makes nobody alike: this passed once.
        ("(__CUDA_ARCH__ >= 1000) || defined(__IDE__)", "review", "12.x goes with 10.0, and 8.9 and 9.0 go elsewhere"),
        ("defined(FAST) || defined(__CUDA_ARCH__)", "pass", "the same answer"),
        # A tenth of the number that was meant: true for everybody.
        ("__CUDA_ARCH__ >= 90", "review", "`__CUDA_ARCH__` is 890 for 8.9: every target is above 90"),
        ("__CUDA_ARCH__ < 120", "review", "every target is above 120"),
        ("__CUDA_ARCH__ >= 90 * 10", "review", "12.x goes with 9.0 and 10.0, and 8.9 goes elsewhere"),
    ],
)
def test_guards(tmp_path: Path, test: str, kind: str, why: str) -> None:
    (found,) = asked(tmp_path, "k.cu", GUARDED.format(test), "guard")
    known = verdict(found, BOTH)
    assert known.kind == kind
    assert why in known.why


def test_the_refusal_behind_a_chain_is_a_place_of_it(tmp_path: Path) -> None:
    text = """int pick() {
  int major = at::cuda::getCurrentDeviceProperties()->major;
  if (major == 9) {
    return 1;
  } else if (major == 10) {
    return 2;
  }
  throw std::runtime_error("Unknown recipe");
}
"""
    places = {place.line for question in asked(tmp_path, "k.cpp", text, "gate") for place in question.places}
    assert {3, 5, 8} <= places
