"""Open bounds of C++ tests that end below a generation."""

from __future__ import annotations

import pytest

from bwlint.chips import EVERY, ChipSet
from bwlint.fix.change import WantedChange
from bwlint.fix.cuda.conditions import bounded
from bwlint.fix.cuda.terms import edits
from bwlint.fix.edited import apply
from bwlint.readers.cuda import read
from bwlint.readers.cuda.lexer import clean

from .conftest import Mend

BODY = """int pick(cudaDeviceProp prop, bool ready) {{
  int major = prop.major;
  int sm = prop.major * 10 + prop.minor;
  if ({test}) {{
    return fast();
  }}
  return slow();
}}
"""
GEFORCE = ChipSet.of("12.0", "12.1")
BELOW_120 = EVERY - GEFORCE

BOUNDS = [
    ("sm >= 100", "sm >= 100 && sm < 120"),
    ("sm > 89", "sm > 89 && sm < 120"),
    ("ready && sm >= 100", "ready && sm >= 100 && sm < 120"),
    ("ready || sm >= 100", "ready || (sm >= 100 && sm < 120)"),
    ("major >= 10", "major >= 10 && major < 12"),
    ("prop.major < 10", "prop.major < 10 || prop.major >= 12"),
    ("!ready || prop.major < 10", "!ready || prop.major < 10 || prop.major >= 12"),
    (
        "prop.major * 10 + prop.minor >= 100",
        "prop.major * 10 + prop.minor >= 100 && prop.major * 10 + prop.minor < 120",
    ),
    ("sm != 100", None),
    ("ready", None),
]


@pytest.mark.parametrize(("before", "after"), BOUNDS)
def test_bound(before: str, after: str | None) -> None:
    change = WantedChange("bound", BELOW_120, GEFORCE, ChipSet.of())
    assert next(_texts(before, change), None) == after


def _texts(test: str, change: WantedChange):  # type: ignore[no-untyped-def]
    source = BODY.format(test=test)
    module, code = read("a.cu", source), clean(source)
    roots = [(gate.test, gate.leaf or gate.at) for gate in module.gates]
    for changes in bounded(code, module, roots, change) if roots else ():
        text = apply(source, edits("a.cu", code, changes))
        yield text.partition("if (")[2].partition(") {\n")[0]


LADDER = """void launch_{name}(int n) {{
  using Loop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm{arch}, cutlass::arch::OpClassTensorOp, cutlass::half_t>::CollectiveOp;
  Adapter<Loop> gemm;
  gemm.run();
}}
"""
PICK = """void pick(int n) {
  auto* p = at::cuda::getCurrentDeviceProperties();
  int v = p->major * 10 + p->minor;
  if (v >= 100) {
    launch_sm100(n);
    return;
  }
  if (v >= 90) {
    launch_sm90(n);
    return;
  }
  throw std::runtime_error("no");
}
"""


def test_a_bound_that_leads_to_the_next_arm_that_fails(mend: Mend) -> None:
    """Names that say their chips leave no doubt of a bound; whether it helps is asked all the same."""
    source = LADDER.format(name="sm100", arch=100) + LADDER.format(name="sm90", arch=90) + PICK
    found = mend(source, ("leak",))
    assert found.fixes == ()
    assert found.refusals[0].startswith("the edit alone does not help. Another finding would take its place")
