"""Guards that belong together are mended together: one bound, one wait with its trigger, one set of macros."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import analysed
from toolkit import Toolkit

from bwlint.fix import Job, propose
from bwlint.fix.edited import apply
from bwlint.judging.drafts import Remedy
from bwlint.model.findings import Fix, NoFix

from .conftest import Mend

FROM_100 = "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1000)\n"
BELOW_100 = "#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ < 1000)\n"
TO_120 = FROM_100.replace(">= 1000", ">= 1000 && __CUDA_ARCH__ < 1200")
OR_120 = BELOW_100.replace("< 1000", "< 1000 || __CUDA_ARCH__ >= 1200")
BODY = """__global__ void consume(float* out) {{
{first}  cute::TMEM::Allocator1Sm columns{{}};
#endif
  work(out);
{second}#endif
}}
"""

TOGETHER = [
    (FROM_100 + "  columns.free(out);\n", TO_120 + "  columns.free(out);\n"),
    (
        BELOW_100 + "  old(out);\n#else\n  umma(out, columns);\n",
        OR_120 + "  old(out);\n#else\n  umma(out, columns);\n",
    ),
    (FROM_100 + "  cute::TMEM::Allocator2Sm pair{};\n", TO_120 + "  cute::TMEM::Allocator2Sm pair{};\n"),
    (FROM_100 + "  work(out);\n", FROM_100 + "  work(out);\n"),
    (
        FROM_100 + "  cudaTriggerProgrammaticLaunchCompletion();\n",
        FROM_100 + "  cudaTriggerProgrammaticLaunchCompletion();\n",
    ),
    (
        "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)\n  other(out);\n",
        "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)\n  other(out);\n",
    ),
]
"""What stands behind a guard below one that is bounded: before and after."""


@pytest.mark.parametrize(("before", "after"), TOGETHER)
def test_bounded_together(mend: Mend, before: str, after: str) -> None:
    found = mend(BODY.format(first=FROM_100, second=before), ("tcgen05",))
    fix = found.fixes[0]
    assert fix.applicability == "unsafe"
    assert apply(found.source, fix.edits) == BODY.format(first=TO_120, second=after)


LATER = f"__global__ void later(float* out) {{\n{FROM_100}  work(out);\n#endif\n}}\n"


@pytest.mark.parametrize(
    "second",
    [
        "  old<Traits, Compute>(out, columns);\n#else\n  __trap();\n",
        '  old(out, columns);\n#else\n#error "not for this chip"\n',
        "  consume_sm90(out, columns);\n",
        "  warpgroup_wgmma(out, columns);\n#else\n  work(out);\n",
        "  consume<Traits, 90>(out, columns);\n",
    ],
)
def test_no_guard_is_opened_in_place_of_an_error_or_to_another_generation(mend: Mend, second: str) -> None:
    found = mend(BODY.format(first=FROM_100, second=BELOW_100 + second) + LATER, ("tcgen05",))
    assert found.text() == BODY.format(first=TO_120, second=BELOW_100 + second) + LATER


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("hopper_consume(out)", "hopper_consume"),
        ("consume<90, Traits>(out)", "consume<90, Traits>"),
        ("copy(SM90_TMA_LOAD{}, out)", ""),
        ("consume_sm80(out)", ""),
        ("consume<Traits, 8>(out)", ""),
    ],
)
def test_an_else_that_uses_a_bounded_guard_stays_with_it(mend: Mend, code: str, named: str) -> None:
    second = f"{BELOW_100}  {code};\n#else\n  umma(out, columns);\n"
    found = mend(BODY.format(first=FROM_100, second=second), ("tcgen05",))
    assert bool(found.fixes) is not bool(named)
    assert [f"is `{named}`, which is not for 12.x" in said for said in found.refusals] == [True] * bool(named)


EARLY = """__global__ void norm(float* a, float const* b) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < {end}
  cudaGridDependencySynchronize();
#endif
  a[0] = b[0];
#if {trigger}
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}}
{more}void launch(float* a, float const* b) {{
  cudaLaunchConfig_t config;
  cudaLaunchAttribute attrs[1];
  attrs[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attrs[0].val.programmaticStreamSerializationAllowed = 1;
  config.numAttrs = 1;
  config.attrs = attrs;
  cudaLaunchKernelEx(&config, norm, a, b);
}}
"""
SAME = "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < {}"
ELSEWHERE = "__global__ void other(int* p) {\n#if __CUDA_ARCH__ == 900\n  cudaGridDependencySynchronize();\n#endif\n}\n"


@pytest.mark.parametrize(
    ("trigger", "after", "more", "applicability"),
    [
        (SAME.format(1200), SAME.format(1300), "", "safe"),
        ("__CUDA_ARCH__ >= 900", "__CUDA_ARCH__ >= 900", "", "safe"),
        (SAME.format(1200), SAME.format(1300), ELSEWHERE, "unsafe"),
    ],
)
def test_wait_and_trigger(mend: Mend, trigger: str, after: str, more: str, applicability: str) -> None:
    source = EARLY.format(end=1200, trigger=trigger, more=more)
    found = mend(source, ("pdl-noop",))
    fix = found.fixes[0]
    assert fix.applicability == applicability
    assert apply(source, fix.edits) == EARLY.format(end=1300, trigger=after, more=more)


def test_a_wait_without_a_guard_of_its_own(mend: Mend) -> None:
    found = mend(EARLY.format(end=1200, trigger="0", more="").replace(" < 1200", " == 900"), ("pdl-noop",))
    assert not found.fixes
    assert found.refusals


MACROS = """#pragma once
// SM120 and SM120a
#if (__CUDACC_VER_MAJOR__ > 12)
  #define KIT_SM120_SUPPORTED 1
  #if (!defined(KIT_SM120_ENABLED) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200)
    #define KIT_SM120_ENABLED 1
    #if (!defined(KIT_SM120A_ENABLED) && defined(__CUDA_ARCH_FEAT_SM120_ALL))
      #define KIT_SM120A_ENABLED 1
    #endif
    #if (!defined(KIT_SM120F_ENABLED) && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200)
      #define KIT_SM120F_ENABLED 1
    #endif
  #endif
#endif
"""
ASKING = """#pragma once
#include "macros.h"
#if defined(KIT_SM120A_ENABLED){}
#  define KIT_CVT_ENABLED 1
#endif
"""
FAMILY = " || defined(KIT_SM120F_ENABLED)"
KERNEL = """#include "asking.h"
__global__ void k(unsigned short* out, float a) {
#if defined(KIT_CVT_ENABLED)
  asm volatile("cvt.rp.satfinite.ue8m0x2.f32 %0, 0.0, %1;" : "=h"(out[0]) : "f"(a));
#else
  __trap();
#endif
}
"""


def _fixes(folder: Path, **files: str) -> list[Fix | NoFix]:
    named = {f"{name}.{'cu' if name == 'k' else 'h'}": text for name, text in files.items()}
    analysis = analysed(folder, named, ["family-split"])
    return [
        propose(Job(analysis.context, draft, draft.remedy, None, file.root, Path(file.real).read_text()))
        for file, drafts in analysis.drafts
        for draft in drafts
        if isinstance(draft.remedy, Remedy)
    ]


def test_macros_of_the_sibling(tmp_path: Path, nvcc: Toolkit) -> None:
    found = _fixes(tmp_path, macros=MACROS, asking=ASKING.format(FAMILY), k=KERNEL)
    fixes = [one for one in found if isinstance(one, Fix)]
    assert [one.applicability for one in fixes] == ["safe"] * len(found) == ["safe"] * 2
    assert len({one.edits for one in fixes}) == 1
    for name in ("macros.h", "asking.h"):
        path = tmp_path / name
        path.write_text(apply(path.read_text(), (edit for edit in fixes[0].edits if edit.path == str(path))))
    assert "KIT_SM120F_ENABLED) || \\\n    defined(KIT_SM121F_ENABLED)" in (tmp_path / "asking.h").read_text()
    assert "// SM121 and SM121a\n" in (tmp_path / "macros.h").read_text()
    for target in ("120a", "120f", "121a", "121f"):
        options = ("-gencode", f"arch=compute_{target},code=compute_{target}", "-o", "-")
        assert "ue8m0x2" in nvcc.run("nvcc", "-ptx", *options, str(tmp_path / "k.cu")), target


@pytest.mark.parametrize(
    ("asking", "more", "applicability"),
    [
        (ASKING.format(""), "", "unsafe"),  # nothing for 12.0 that 12.1 loads
        (ASKING.format(FAMILY), "inline int level() { return KIT_SM120F_ENABLED; }\n", None),
        (ASKING.format(FAMILY), "#if defined(KIT_SM121A_ENABLED)\n#define OTHER 1\n#endif\n", None),
    ],
)
def test_macros_that_are_for_a_person(tmp_path: Path, asking: str, more: str, applicability: str | None) -> None:
    found = _fixes(tmp_path, macros=MACROS, asking=asking + more, k=KERNEL)
    assert {one.applicability if isinstance(one, Fix) else None for one in found} == {applicability}


DROPPED = """void prepare(int* p) {{
  {above}
}}
void launch(float* out, int size) {{
  {call};
  kernel_sm120<<<1, 32, size>>>(out);
}}
"""
CALL = "cudaFuncSetAttribute(kernel_sm120, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072)"


@pytest.mark.parametrize(
    ("above", "checked"),
    [
        ("KIT_CHECK(cudaMemset(p, 0, 4));", "KIT_CHECK"),
        ("check_cuda(cudaMemset(p, 0, 4)); check_cuda(cudaFree(p));", "check_cuda"),
        ("cudaMemset(p, 0, 4);", None),
        ("if (cudaMemset(p, 0, 4)) { return; }", None),
        ("return use(cudaMemset(p, 0, 4));", None),
    ],
)
def test_a_dropped_status(mend: Mend, above: str, checked: str | None) -> None:
    found = mend(DROPPED.format(above=above, call=CALL), ("unchecked-launch",))
    assert [fix.applicability for fix in found.fixes] == (["unsafe"] if checked else [])
    assert found.text() == DROPPED.format(above=above, call=f"{checked}({CALL})" if checked else CALL)


QUERY = """bool grouped_mm_supported(int64_t capability) {{
{body}
  return false;
}}
void grouped_mm(int* p, int64_t capability) {{
  if (capability {taken}) {{
    grouped_mm_arm(p);
    return;
  }}
  TORCH_CHECK_NOT_IMPLEMENTED(false, "no grouped_mm for ", capability);
}}
"""


@pytest.mark.parametrize(
    ("taken", "before", "after"),
    [
        ("== 90", "  return ready() && capability >= 90;", "  return ready() && capability == 90;"),
        (
            ">= 90 && capability < 110",
            "  if (capability >= 100) {\n    return CUDA_VERSION >= 12080;\n  }\n"
            "  if (capability >= 90) {\n    return true;\n  }",
            "  if (capability >= 100 && capability < 110) {\n    return CUDA_VERSION >= 12080;\n  }\n"
            "  if (capability >= 90 && capability < 110) {\n    return true;\n  }",
        ),
        (">= 90 && capability < 110", "  return capability != 80;", "  return capability != 80;"),
        (">= 90", "  return capability >= 90;", "  return capability >= 90;"),
    ],
)
def test_a_function_that_says_yes(mend: Mend, taken: str, before: str, after: str) -> None:
    found = mend(QUERY.format(taken=taken, body=before), ("leak",))
    assert {fix.applicability for fix in found.fixes} <= {"safe"}, found.found
    assert found.text() == QUERY.format(taken=taken, body=after)
