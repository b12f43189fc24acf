"""Guards of the preprocessor: what becomes of them, and which are left alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from analysed import analysed
from toolkit import Toolkit

from bwlint.fix import Job, propose
from bwlint.fix.edited import apply
from bwlint.judging.drafts import Remedy
from bwlint.model.findings import Fix
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

from .conftest import Mend

KERNEL = "__global__ void k(float* out) {{\n{guard}\n  out[0] = 1.0f;\n#endif\n}}\n"
SWITCH = "{guard}\n#define HAS_IT 1\n#endif\n"
FEATURE_90, FEATURE_100 = "defined(__CUDA_ARCH_FEAT_SM90_ALL)", "defined(__CUDA_ARCH_FEAT_SM100_ALL)"
FEATURE_120, FEATURE_121 = "defined(__CUDA_ARCH_FEAT_SM120_ALL)", "defined(__CUDA_ARCH_FEAT_SM121_ALL)"
RANGE = "__CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300"

TARGETS = ("90a", "100a", "120", "120f", "120a", "121", "121f", "121a")

SAFE: list[tuple[str, str | None]] = [
    ("#if __CUDA_ARCH__ == 1200", f"#if {RANGE}"),
    ("#if (__CUDA_ARCH__ == 1200)", f"#if ({RANGE})"),
    ("#if 1200 == __CUDA_ARCH__", f"#if {RANGE}"),
    ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200", f"#if defined(__CUDA_ARCH__) && ({RANGE})"),
    ("#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 1200)", f"#if defined __CUDA_ARCH__ && ({RANGE})"),
    ("  #  if __CUDA_ARCH__==1200", f"  #  if {RANGE}"),
    (
        "#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200",
        "#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200 || __CUDA_ARCH__ == 1210",
    ),
    (
        "#if (__CUDA_ARCH__ == 890) || (__CUDA_ARCH__ == 1200)",
        "#if (__CUDA_ARCH__ == 890) || (__CUDA_ARCH__ == 1200) || (__CUDA_ARCH__ == 1210)",
    ),
    (
        "#if __CUDA_ARCH__ == 890 || \\\n    __CUDA_ARCH__ == 1200",
        "#if __CUDA_ARCH__ == 890 || \\\n    __CUDA_ARCH__ == 1200 || \\\n    __CUDA_ARCH__ == 1210",
    ),
    ("#if __CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1210", f"#if {RANGE}"),
    ("#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ <= 1200", "#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1300"),
    ("#if __CUDA_ARCH__ / 10 == 120", "#if __CUDA_ARCH__ / 10 == 120 || __CUDA_ARCH__ / 10 == 121"),
    ("#if !(__CUDA_ARCH__ - 1200)", "#if !(__CUDA_ARCH__ - 1200) || !(__CUDA_ARCH__ - 1210)"),
    ("#if __CUDA_ARCH__ == 0x4b0", f"#if {RANGE}"),
    ("#if __CUDA_ARCH__ > 1199 && __CUDA_ARCH__ < 1205", None),
    ("#if __CUDA_ARCH__ - 1200 < 5 && __CUDA_ARCH__ >= 1200", None),
]
"""Guards around the body of a kernel; None: no rewrite is known."""


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_kernel(mend: Mend, before: str, after: str | None) -> None:
    found = mend(KERNEL.format(guard=before), ("family-split",))
    if after is None:
        assert not found.fixes
        assert found.refusals == ("bwlint has no rewrite for this spelling",)
        return
    assert [fix.applicability for fix in found.fixes] == ["safe"], found.found
    assert found.text() == KERNEL.format(guard=after)
    assert set(found.fixes[0].proof.after_may) - set(found.fixes[0].proof.before_may) == {
        "sm_121",
        "sm_121f",
        "sm_121a",
    }


TRAPPED: list[tuple[str, str | None]] = [
    (f"#if {FEATURE_120}", f"#if {FEATURE_120} || {FEATURE_121}"),
    (f"#if ({FEATURE_90} || {FEATURE_120})", f"#if ({FEATURE_90} || {FEATURE_120} || {FEATURE_121})"),
    ("#ifdef __CUDA_ARCH_FEAT_SM120_ALL", f"#if {FEATURE_120} || {FEATURE_121}"),
    (
        f"#if defined(__CUDA_ARCH__) && ({FEATURE_120})",
        f"#if defined(__CUDA_ARCH__) && ({FEATURE_120} || {FEATURE_121})",
    ),
    (f"#if defined(__CUDA_ARCH__) && {FEATURE_120}", f"#if defined(__CUDA_ARCH__) && ({FEATURE_120} || {FEATURE_121})"),
    (
        f"#if {FEATURE_90} || \\\n    (__CUDA_ARCH__ == 1200 && {FEATURE_120})",
        f"#if {FEATURE_90} || \\\n    (__CUDA_ARCH__ == 1200 && {FEATURE_120}) || \\\n"
        f"    (__CUDA_ARCH__ == 1210 && {FEATURE_121})",
    ),
    (
        f"#if __CUDA_ARCH__ == 1200 && {FEATURE_120}",
        f"#if (__CUDA_ARCH__ == 1200 && {FEATURE_120}) || (__CUDA_ARCH__ == 1210 && {FEATURE_121})",
    ),
    (
        "#if __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200",
        "#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300",
    ),
    ("#if __CUDA_ARCH_SPECIFIC__ == 1200", "#if __CUDA_ARCH_SPECIFIC__ >= 1200 && __CUDA_ARCH_SPECIFIC__ < 1300"),
]
"""Guards with an error beside them."""
TRAP = "__global__ void k(float* out) {{\n{guard}\n  out[0] = 1.0f;\n#else\n  __trap();\n#endif\n}}\n"


@pytest.mark.parametrize(("before", "after"), TRAPPED)
def test_error_beside(mend: Mend, before: str, after: str | None) -> None:
    found = mend(TRAP.format(guard=before), ("family-split",))
    assert [fix.applicability for fix in found.fixes] == ["safe"], found.found
    assert found.text() == TRAP.format(guard=after)


REFUSING = [
    ("#if __CUDA_ARCH__ != 1200", "#if __CUDA_ARCH__ < 1200 || __CUDA_ARCH__ >= 1300"),
    (f"#if !{FEATURE_120}", f"#if !{FEATURE_120} && !{FEATURE_121}"),
    ("#ifndef __CUDA_ARCH_FEAT_SM120_ALL", f"#if !{FEATURE_120} && !{FEATURE_121}"),
    (f"#if !({FEATURE_90} || {FEATURE_120})", f"#if !({FEATURE_90} || {FEATURE_120} || {FEATURE_121})"),
    (
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 1200",
        "#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 1200 || __CUDA_ARCH__ >= 1300)",
    ),
]
"""Guards that let the others run into an error."""


@pytest.mark.parametrize(("before", "after"), REFUSING)
def test_refusing(mend: Mend, before: str, after: str) -> None:
    text = "__global__ void k(float* out) {{\n{guard}\n  __trap();\n#else\n  out[0] = 1.0f;\n#endif\n}}\n"
    found = mend(text.format(guard=before), ("family-split",))
    assert [fix.applicability for fix in found.fixes] == ["safe"], found.found
    assert found.text() == text.format(guard=after)


def test_long_line(mend: Mend) -> None:
    long = f"#if ({FEATURE_90} || {FEATURE_100} || {FEATURE_120})"
    after = long.replace(FEATURE_120, f"{FEATURE_120} || \\\n     {FEATURE_121}")
    assert mend(TRAP.format(guard=long), ("family-split",)).text() == TRAP.format(guard=after)


LIBRARY = """#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200
#define KIT_SM120_ENABLED 1
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1210
#define KIT_SM121_ENABLED 1
#endif
"""
HALF = LIBRARY.partition("#endif\n")[0] + "#endif\n"


def test_macro_of_a_header(mend: Mend) -> None:
    before, after = "#if defined(KIT_SM120_ENABLED)", "#if defined(KIT_SM120_ENABLED) || defined(KIT_SM121_ENABLED)"
    include = '#include "kit.h"\n'
    for head, headers in ((include, {"kit": LIBRARY}), (LIBRARY, {})):
        found = mend(head + SWITCH.format(guard=before), ("family-split",), **headers)
        assert found.text() == head + SWITCH.format(guard=after)
        assert [fix.applicability for fix in found.fixes] == ["safe"]


def test_no_macro_for_the_sibling(mend: Mend) -> None:
    """The library has no word for 12.1, and its own switch is named after 12.0: a person has to give it one."""
    found = mend(HALF + SWITCH.format(guard="#if defined(KIT_SM120_ENABLED)"), ("family-split",))
    assert not found.fixes
    assert "is named after the part" in found.refusals[0]


def test_use_of_a_switch_is_left_alone(mend: Mend) -> None:
    source = HALF + "void f() {\n#if defined(KIT_SM120_ENABLED)\n  g();\n#endif\n}\n"
    found = mend(source, ("family-split",))
    assert not found.fixes


UNSAFE = [
    SWITCH.format(guard=f"#if {FEATURE_120}"),
    KERNEL.format(guard=f"#if {FEATURE_120}"),
    "#if __CUDA_ARCH__ == 1200\n#define BLOCK_M 64\n#endif\n",
    "#if __CUDA_ARCH__ == 1200\n#define KIT_BUG_42 1\n#endif\n",
    "#if __CUDA_ARCH__ == 1200\n#define KIT_TMA_WORKAROUND\n#endif\n",
    "void f() {\n#if __CUDA_ARCH__ == 1200\n  fast();\n#else\n  slow();\n#endif\n}\n",
]


@pytest.mark.parametrize("source", UNSAFE)
def test_unsafe(mend: Mend, source: str) -> None:
    found = mend(source, ("family-split",))
    assert [fix.applicability for fix in found.fixes] == ["unsafe"], found.found
    assert "(unsafe: " in found.fixes[0].proof.evidence


SAFE_SWITCHES = ["#define HAS_IT", "#define HAS_IT 1", "#define HAS_IT KIT_SUPPORTED", "#define HAS_IT true"]


@pytest.mark.parametrize("line", SAFE_SWITCHES)
def test_switch(mend: Mend, line: str) -> None:
    source = f"#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200\n{line}\n#endif\n"
    assert [fix.applicability for fix in mend(source, ("family-split",)).fixes] == ["safe"]


SILENT = [
    KERNEL.format(guard=f"#if {RANGE}"),
    KERNEL.format(guard="#if __CUDA_ARCH__ >= 1200"),
    KERNEL.format(guard="#if __CUDA_ARCH__ == 1200 || __CUDA_ARCH__ == 1210"),
    KERNEL.format(guard="#if __CUDA_ARCH__ == 1210"),
    KERNEL.format(guard="#if __CUDA_ARCH__ == 1000"),
    KERNEL.format(guard="#if __CUDA_ARCH__ == 900"),
    KERNEL.format(guard=f"#if {FEATURE_120} || {FEATURE_121}"),
    KERNEL.format(guard=f"#if {FEATURE_90} || {FEATURE_100}"),
    KERNEL.format(guard="#if CUDA_VERSION >= 12000"),
    KERNEL.format(guard="#if defined(FLAG_SM120)"),
]


@pytest.mark.parametrize("source", SILENT)
def test_silent(mend: Mend, source: str) -> None:
    assert not mend(source, ("family-split",)).fixes


MEANT = [
    "// only on sm_120\n#if __CUDA_ARCH__ == 1200",
    "#if __CUDA_ARCH__ == 1200  // exactly this part",
    "// deliberately not for GB10\n#if __CUDA_ARCH__ == 1200",
    "// sm_121 hangs here\n#if __CUDA_ARCH__ == 1200",
    "#if __CUDA_ARCH__ == 1200 /* sm_120 only: erratum */",
]


@pytest.mark.parametrize("guard", MEANT)
def test_meant(mend: Mend, guard: str) -> None:
    found = mend(KERNEL.format(guard=guard), ("family-split",))
    assert all(fix.applicability == "unsafe" for fix in found.fixes)


@pytest.mark.parametrize(
    "line",
    [
        "#if defined(__CUDA_ARCH__) && \\\n    __CUDA_ARCH__ == 1200",
        "#if __CUDA_ARCH__ == /* GeForce */ 1200",
        "#if __CUDA_ARCH__ == 1200 // é ünïcode",
        "#if __CUDA_ARCH__ == 1200\t",
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "// no newline"])
def test_every_other_byte_is_kept(mend: Mend, line: str, ending: str, last: str) -> None:
    source = (KERNEL.format(guard=line) + last).replace("\n", ending)
    found = mend(source, ("family-split",))
    for fix in found.fixes:
        assert isinstance(fix, Fix)
        after = found.text()
        assert after.count(ending) == source.count(ending)
        head, _, tail = source.partition("1200")
        assert after.startswith(head.rpartition("#if")[0])
        assert after.endswith(tail)


def test_crlf_is_mended(mend: Mend) -> None:
    source = KERNEL.format(guard="#if __CUDA_ARCH__ == 1200").replace("\n", "\r\n")
    assert mend(source, ("family-split",)).text() == source.replace("__CUDA_ARCH__ == 1200", RANGE)


def test_nested_guard_moves_with_it(mend: Mend) -> None:
    inner = "#if __CUDA_ARCH__ == 1200\n#if __CUDA_ARCH__ >= 900\n  out[0] = 1.0f;\n#endif"
    found = mend(KERNEL.format(guard=inner), ("family-split",))
    assert [fix.applicability for fix in found.fixes] == ["safe"]


@pytest.mark.parametrize(
    ("guard", "instruction", "fixed"),
    [
        ("__CUDA_ARCH__ == 1200", "setmaxnreg.inc.sync.aligned.u32 40;", True),
        ("__CUDA_ARCH__ >= 1000", "tcgen05.wait::ld.sync.aligned;", True),
        ("__CUDA_ARCH__ > 900", "tcgen05.wait::ld.sync.aligned;", True),
        ("__CUDA_ARCH__ == 1200", "tcgen05.wait::ld.sync.aligned;", False),
    ],
)
def test_instructions_behind(mend: Mend, guard: str, instruction: str, fixed: bool) -> None:
    source = f'__global__ void k() {{\n#if {guard}\n  asm volatile("{instruction}");\n#else\n  __trap();\n#endif\n}}\n'
    found = mend(source, ("family-split", "tcgen05"))
    text = found.text()
    if "tcgen05" in instruction and fixed:
        assert f"#if {guard} && __CUDA_ARCH__ < 1200" in text
        (fix,) = found.fixes
        assert (fix.applicability, fix.kind) == ("unsafe", "bound")
        lost = set(fix.proof.before_may) - set(fix.proof.after_may)
        assert lost == {f"sm_12{minor}{suffix}" for minor in "01" for suffix in ("", "f", "a")}
        assert {"sm_110a", "sm_103a", "sm_100f"} <= set(fix.proof.after_may)
    elif not fixed:
        assert RANGE not in text


WAIT = '  asm volatile("tcgen05.wait::ld.sync.aligned;");\n'
BOUNDED = "#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200\n"
LEAVING = [
    # in front of the guard, behind it, and whether something is left on 12.x
    ("", "#endif\n", False),
    ("  extern __shared__ char tile[];\n  int row = blockIdx.x;\n", "#endif\n", False),
    ("  using T = float;\n  static_assert(sizeof(T) == 4);\n", "#else\n#endif\n", False),
    ("  int row;\n", "#else\n  int line = 0;\n#endif\n", False),
    ("", "#else\n  (void)out;\n#endif\n", False),
    ("", "#else\n  static_cast<void>(out); ;\n#endif\n", False),
    ("", "#else\n  std::ignore = out;\n#endif\n", False),
    ("", "#else\n  return;\n#endif\n", False),
    ("", "#else\n  (void)take(out);\n#endif\n", True),
    ("  out[0] = 0;\n", "#endif\n", True),
    ("  int row = take(out);\n", "#endif\n", True),
    ("", "#else\n  __trap();\n#endif\n", True),
    ("", "#else\n  assert(false);\n#endif\n", True),
    ("", "#else\n  plain(out);\n#endif\n", True),
    ("", "#endif\n  plain(out);\n", True),
]


@pytest.mark.parametrize("kind", ["__global__", "__device__ inline", "template <class T> __device__"])
@pytest.mark.parametrize(("front", "behind", "left"), LEAVING)
def test_no_body_is_emptied(mend: Mend, kind: str, front: str, behind: str, left: bool) -> None:
    source = f"{kind} void load(float* out) {{\n{front}#if __CUDA_ARCH__ >= 1000\n{WAIT}{behind}}}\n"
    found = mend(source, ("tcgen05",))
    assert (BOUNDED in found.text()) == left
    if not left:
        (reason,) = found.refusals
        assert reason.startswith("on 12.x the edit would leave `load` without a body: it would run and write nothing")


def test_a_body_behind_a_macro_is_not_emptied_either(mend: Mend) -> None:
    macro = "#if __CUDA_ARCH__ >= 1000\n#define ENABLED\n#endif\n"
    source = f"{macro}__device__ void load() {{\n#ifdef ENABLED\n{WAIT}#endif\n}}\n"
    assert "without a body" in mend(source, ("tcgen05",)).refusals[0]
    assert BOUNDED in mend(source.replace(f"{WAIT}#endif", f"{WAIT}#else\n  plain();\n#endif"), ("tcgen05",)).text()


def test_a_function_that_is_not_there_is_not_emptied(mend: Mend) -> None:
    source = f"#if __CUDA_ARCH__ >= 1000\n__device__ void load() {{\n{WAIT}}}\n#endif\n"
    assert BOUNDED in mend(source, ("tcgen05",)).text()


CUTLASS = "#if defined(CUTLASS_ARCH_MMA_SM120A_ENABLED)\n  out[0] = 1.0f;\n#else\n  __trap();\n#endif\n"


@pytest.mark.parametrize(
    ("others", "guard", "applicability"),
    [
        ({}, CUTLASS, "unsafe"),
        ({"pyproject.toml": "[project]\nname = 'kit'\n"}, CUTLASS, "safe"),
        ({}, CUTLASS.replace("defined(CUTLASS_ARCH_MMA_SM120A_ENABLED)", "__CUDA_ARCH__ == 1200"), "safe"),
        ({}, CUTLASS.replace("CUTLASS_ARCH_MMA_SM120A_ENABLED", "__CUDA_ARCH_FEAT_SM120_ALL"), "safe"),
    ],
)
def test_macros_of_others_want_a_project(
    tmp_path: Path, others: dict[str, str], guard: str, applicability: str
) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(f"__global__ void k(float* out) {{\n{guard}}}\n")
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    with ExitStack() as stack:
        request = CheckRequest((str(path),), ("sm_120", "sm_121"), ("family-split",), severity="note", fixes=True)
        (fix,) = [one.fix for one in check(request, stack).report.findings if one.fix is not None]
    assert fix.applicability == applicability
    assert ("nothing shows who defines" in fix.proof.evidence) == (applicability == "unsafe")


STORE = '  asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" :: "r"(a), "r"(b));\n'
FAMILY_12 = "(defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && (__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200"
NAMES_ONE = [
    ("defined(__CUDA_ARCH_FEAT_SM100_ALL)", True),
    ("__CUDA_ARCH__ >= 1000 && (defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL))", True),
    ("__CUDA_ARCH_SPECIFIC__ == 1000", True),
    ("defined(KIT_HAS_STORE)", False),
]


@pytest.mark.parametrize(("test", "mended"), NAMES_ONE)
def test_targets_of_another_family_beside_exact_ones(mend: Mend, test: str, mended: bool) -> None:
    own = "#if defined(__CUDA_ARCH_FEAT_SM100_ALL)\n#define KIT_HAS_STORE\n#endif\n"
    source = f"{'' if mended else own}#if {test}\n__device__ void store(int a, int b) {{\n{STORE}}}\n#endif\n"
    found = mend(source, ("excluded",))
    if mended:
        (fix,) = found.fixes
        assert fix.applicability == "unsafe"
        assert FAMILY_12 in found.text()
        assert {*fix.proof.after_may} - {*fix.proof.before_may} == {"sm_120f", "sm_120a", "sm_121f", "sm_121a"}
    else:
        assert found.refusals == ("`KIT_HAS_STORE` decides which targets pass here: mend the guard that defines it",)


@pytest.mark.parametrize(
    ("more", "named"),
    [("consume_sm100(a)", "consume_sm100"), ("consume<Traits, 90>(a)", "consume<Traits, 90>"), ("consume(a)", "")],
)
def test_no_guard_is_opened_to_code_for_another_generation(mend: Mend, more: str, named: str) -> None:
    body = f"__device__ void store(int a, int b) {{\n{STORE}  {more};\n}}\n"
    found = mend(f"#if defined(__CUDA_ARCH_FEAT_SM100_ALL)\n{body}#endif\n", ("excluded",))
    assert bool(found.fixes) is not bool(named)
    assert found.refusals == ((f"the guarded code is `{named}`, which is not for 12.x",) if named else ())


def test_fixed_twice_is_fixed_once(mend: Mend) -> None:
    for before, _ in SAFE + TRAPPED:
        once = mend(KERNEL.format(guard=before), ("family-split",)).text()
        assert mend(once, ("family-split",)).text() == once


def test_nvcc_agrees(mend: Mend, nvcc: Toolkit, tmp_path: Path) -> None:
    """What the preprocessor of nvcc leaves is what the proof says, before and after: all guards in one file."""
    texts: list[str] = []
    proved: dict[str, tuple[str, ...]] = {}
    for number, (before, after) in enumerate(SAFE + TRAPPED):
        if after is None:
            continue
        found = mend(TRAP.format(guard=before), ("family-split",))
        (fix,) = found.fixes
        for word, text, sets in (
            ("old", found.source, fix.proof.before_may),
            ("new", found.text(), fix.proof.after_may),
        ):
            proved[f"mark_{word}_{number}_"] = sets
            texts.append(text.replace("out[0]", f"mark_{word}_{number}_[0]").replace("void k", f"void {word}{number}"))
    path = tmp_path / "kernel.cu"
    path.write_text("\n".join(texts))
    for target in TARGETS:
        printed = nvcc.run("nvcc", "-E", "-gencode", f"arch=compute_{target},code=sm_{target}", str(path))
        left = {mark for mark in proved if f"{mark}[0]" in printed}
        assert left == {mark for mark, sets in proved.items() if f"sm_{target}" in sets}, target


def test_ptxas_takes_what_is_let_through(mend: Mend, nvcc: Toolkit, tmp_path: Path) -> None:
    """An instruction that needs a suffix, behind a guard for sm_120a: nvcc compiles it for 121a after the fix."""
    body = 'asm volatile("setmaxnreg.inc.sync.aligned.u32 40;");\n  mark()'
    source = TRAP.format(guard=f"#if {FEATURE_120}").replace("out[0] = 1.0f", body).replace("mark();", "out[0] = 1.0f;")
    path = tmp_path / "kernel.cu"
    path.write_text(mend(source, ("family-split",)).text())
    for target, kept in (("120a", True), ("121a", True), ("120f", False)):
        ptx = tmp_path / f"{target}.cubin"
        nvcc.run("nvcc", "-cubin", "-gencode", f"arch=compute_{target},code=sm_{target}", "-o", str(ptx), str(path))
        text = nvcc.run(
            "nvcc", "-ptx", "-gencode", f"arch=compute_{target},code=compute_{target}", "-o", "-", str(path)
        )
        assert ("setmaxnreg" in text) == kept, target


CALLER = """__global__ void k(int* p) {
#if __CUDA_ARCH__ == 1200
  work(p);
#else
  __trap();
#endif
}
"""
CALLED = "__device__ void work(int* p) { *p = 1; }\n"
ONLY_120 = "#if __CUDA_ARCH__ == 1200\n{}#endif\n"


@pytest.mark.parametrize(
    ("above", "fits"),
    [
        ("", True),
        (CALLED, True),
        (ONLY_120.format(CALLED), False),
        (ONLY_120.format("#define work(p) *p = 1\n"), False),
        (ONLY_120.format("struct work { int* p; };\n"), False),
        (ONLY_120.format(CALLED) + "#if __CUDA_ARCH__ == 1210\n" + CALLED + "#endif\n", True),
        (ONLY_120.format("#define other 1\n"), True),
        (f"#if __CUDA_ARCH__ >= 1200\n{CALLED}#endif\n", True),
    ],
)
def test_what_is_used_has_to_be_there(mend: Mend, above: str, fits: bool) -> None:
    """Else the code for the sibling would not compile any more."""
    found = mend(above + CALLER, ("family-split",))
    mended = apply(found.source, [edit for fix in found.fixes[-1:] for edit in fix.edits])
    assert (CALLER not in mended) is fits


ROOT = "#if __CUDA_ARCH__ == 1200\n#define HAS_BLOCK_SCALES\n#endif\n"
WHOLE = ROOT.replace("== 1200", ">= 1200 && __CUDA_ARCH__ < 1300")
BOTH = ROOT + ROOT.replace("1200", "1210")


@pytest.mark.parametrize(("header", "applicability"), [(ROOT, "unsafe"), (WHOLE, "safe"), (BOTH, "safe")])
def test_a_header_that_tells_the_twins_apart(tmp_path: Path, header: str, applicability: str) -> None:
    source = '#include "root.h"\n' + KERNEL.format(guard="#if __CUDA_ARCH__ == 1200")
    analysis = analysed(tmp_path, {"root.h": header, "kernel.cu": source}, ["family-split"])
    found = [
        propose(Job(analysis.context, draft, draft.remedy, None, file.root, source))
        for file, drafts in analysis.drafts
        for draft in drafts
        if file.real.endswith("kernel.cu") and isinstance(draft.remedy, Remedy)
    ]
    assert [fix.applicability for fix in found if isinstance(fix, Fix)] == [applicability]
