"""Which bounds a leak may get: in C++ none that hands the chips to a later arm of which nobody knows that it works."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.drafts import Remedy
from bwlint.model.findings import NoFix
from bwlint.rules.leak.bounds import is_named_for_others

KERNEL = """void launch_hopper(int n) {
  using Loop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, cutlass::half_t>::CollectiveOp;
  Adapter<Loop> gemm;
  gemm.run();
}
"""
PICK = """void pick(int n) {{
  auto* p = at::cuda::getCurrentDeviceProperties();
  int v = p->major * 10 + p->minor;
{}}}
"""
LINE = KERNEL.count("\n") + 4
REASON = "{} would then run the branch at line {}, and nothing shows that it works there: add a branch for {}"


def remedies(tmp_path: Path, body: str) -> list[str]:
    found = drafts(tmp_path, {"gemm.cu": KERNEL + PICK.format(body)}, "leak")
    return [one.remedy.reason if isinstance(one.remedy, NoFix) else "edit" for one in found if one.remedy is not None]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("  if (v >= 90) {\n    launch_hopper(n);\n  } else if (v >= 80) {\n    ampere(n);\n  }\n", 2),
        ("  if (v >= 90) {\n    launch_hopper(n);\n    return;\n  }\n  if (v >= 80) {\n    ampere(n);\n  }\n", 4),
        ("  if (v >= 90) return launch_hopper(n);\n  if (v == 89) return ada(n);\n  if (v >= 80) ampere(n);\n", 2),
        ("  if (v >= 90) return launch_hopper(n);\n  if (v < 80) throw 1;\n  ampere(n);\n", 1),
        ("  if (v >= 90) return launch_hopper(n);\n  TORCH_CHECK(v >= 80);\n  ampere(n);\n", 1),
    ],
)
def test_chips_are_not_handed_to_a_later_arm(tmp_path: Path, body: str, line: int) -> None:
    assert remedies(tmp_path, body) == [REASON.format("12.x", LINE + line, "them")]


def test_chip_that_no_arm_names(tmp_path: Path) -> None:
    body = "  if (v >= 90) return launch_hopper(n);\n  if (v == 120) own(n);\n  else if (v >= 80) ampere(n);\n"
    assert remedies(tmp_path, body) == [REASON.format("12.1", LINE + 2, "it")]


@pytest.mark.parametrize(
    "body",
    [
        "  if (v >= 90) {\n    launch_hopper(n);\n  } else if (v == 89) {\n    ada(n);\n  } else plain(n);\n",
        "  if (v >= 90) return launch_hopper(n);\n  plain(n);\n",
        "  if (v >= 90) return launch_hopper(n);\n  if (v == 80) return ampere(n);\n  plain(n);\n",
        "  if (v >= 90) return launch_hopper(n);\n  if (v >= 80) throw 1;\n  plain(n);\n",
        "  if (v >= 90) return launch_hopper(n);\n  if (v == 120 || v == 121) return own(n);\n  plain(n);\n",
        "  if (v >= 90) return launch_hopper(n);\n  if (v >= 120) own(n);\n  TORCH_CHECK(v < 90);\n  plain(n);\n",
        "  if (v >= 80) warm_up(n);\n  if (v >= 90) return launch_hopper(n);\n  plain(n);\n",
        "  if (v < 90) throw 1;\n  launch_hopper(n);\n",
        "  if (v < 90) throw 1;\n  launch_hopper(n);\n  if (v >= 80) tail(n);\n",
    ],
)
def test_other_chains_are_bounded(tmp_path: Path, body: str) -> None:
    assert remedies(tmp_path, body) == ["edit"]


MMA = """import torch
from cutlass.cute.nvgpu import tcgen05


def gemm(x):
    return tcgen05.MmaF16BF16Op(x)


def run(x):
    major = torch.cuda.get_device_capability()[0]
    if {}:
        raise RuntimeError("not here")
    return gemm(x)
"""


@pytest.mark.parametrize(
    ("test", "kept_out"),
    [
        ("major == 9", "9.0 and 12.x"),  # whoever lists exceptions asks for the new one alone
        ("major in (8, 9)", "8.x, 9.0 and 12.x"),
        ("major < 9", "7.x, 8.x, 9.0 and 12.x"),  # a bound is moved for all that it does not work on
    ],
)
def test_who_else_is_kept_out(tmp_path: Path, test: str, kept_out: str) -> None:
    ((found,),) = [drafts(tmp_path, {"m.py": MMA.format(test)}, "leak")]
    assert isinstance(found.remedy, Remedy)
    assert plain(found.remedy.chips) == kept_out


CALLED = """import torch
from {module} import {name}


def run(x):
    if torch.cuda.get_device_capability()[0] < 10:
        raise RuntimeError("not here")
    return {name}(x)
"""


@pytest.mark.parametrize(
    ("module", "name", "doubt"),
    [
        ("flash_attn.cute.flash_fwd_sm100", "FlashAttentionForwardSm100", None),
        ("deep_gemm", "fp8_gemm_nt", "a later release of the library behind `fp8_gemm_nt` may run there"),
    ],
)
def test_later_release(tmp_path: Path, module: str, name: str, doubt: str | None) -> None:
    """What is called after its chips stays theirs."""
    (found,) = drafts(tmp_path, {"m.py": CALLED.format(module=module, name=name)}, "leak")
    assert isinstance(found.remedy, Remedy)
    assert found.remedy.unsafe == doubt


@pytest.mark.parametrize(
    ("name", "gone", "expected"),
    [
        ("GemmSm100", ChipSet.of("12.0", "12.1"), True),
        ("cutlass_scaled_mm_sm90", ChipSet.of("10.0", "12.0"), True),
        ("GemmSm100", ChipSet.of("10.0", "12.0"), False),  # a bound would take away whom it is for
        ("gemm_sm120", ChipSet.of("10.0"), False),
        ("gemm_sm89", NONE, False),
        ("gemm", NONE, False),
    ],
)
def test_a_name_that_says_other_chips(name: str, gone: ChipSet, expected: bool) -> None:
    assert is_named_for_others(name, gone) is expected
