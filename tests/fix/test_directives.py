"""Conditions of the preprocessor in the layout of clang-format."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from bwlint.fix.laid_out import CppStyle, _cpp_style_of, broken, directives, in_cpp

LLVM, GOOGLE = CppStyle(80, left=False), CppStyle(80, left=True)
NAMES = {LLVM: "LLVM", GOOGLE: "Google"}
ONE = "#if defined(CUTLASS_ARCH_MMA_SM120A_ENABLED)"
FAMILY = "(defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && (__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200 || "
FAMILY += "__CUDA_ARCH_FAMILY_SPECIFIC__ == 1210))"
CASES = [
    (
        LLVM,
        ONE,
        f"{ONE} || defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)",
        f"{ONE + ' ||':<79}\\\n    defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)",
    ),
    (
        GOOGLE,
        ONE,
        f"{ONE} || defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)",
        f"{ONE} || \\\n    defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)",
    ),
    (
        GOOGLE,
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000",
        f"#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1000 || {FAMILY})",
        "#if defined(__CUDA_ARCH__) &&                                            \\\n"
        "    (__CUDA_ARCH__ >= 1000 || (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && \\\n"
        "                               (__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200 || \\\n"
        "                                __CUDA_ARCH_FAMILY_SPECIFIC__ == 1210)))",
    ),
    (  # in a line of its own, where it has no room behind the others
        GOOGLE,
        "#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM101_ALL)",
        f"#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM101_ALL) || {FAMILY} || defined(FAST)",
        "#if defined(__CUDA_ARCH_FEAT_SM100_ALL) ||       \\\n"
        "    defined(__CUDA_ARCH_FEAT_SM101_ALL) ||       \\\n"
        "    (defined(__CUDA_ARCH_FAMILY_SPECIFIC__) &&   \\\n"
        "     (__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200 ||   \\\n"
        "      __CUDA_ARCH_FAMILY_SPECIFIC__ == 1210)) || \\\n"
        "    defined(FAST)",
    ),
]


@pytest.mark.parametrize(("style", "old", "new", "laid"), CASES)
def test_as_clang_format_does(style: CppStyle, old: str, new: str, laid: str) -> None:
    program = shutil.which("clang-format")
    if program is not None:
        command = [program, f"--style={NAMES[style]}"]
        done = subprocess.run(command, input=f"{new}\nint a;\n#endif\n", capture_output=True, check=True, text=True)
        assert done.stdout.partition("\nint a")[0] == laid
    assert in_cpp(old, new, style) == laid
    assert in_cpp(laid, laid, style) is None


SAID = '      "tl::sm120_mma_sync_blockscaled requires {} and CUDA 12.8 or "'
LONG = SAID.format("sm_120a/sm_121a")


@pytest.mark.parametrize(
    ("old", "new", "laid"),
    [
        (
            SAID.format("sm_120a"),
            SAID.format("sm_120a/sm_121a"),
            SAID.format("sm_120a/sm_121a")[:-4] + '"\n      "or "',
        ),
        (SAID.format("sm_120a") + ");", SAID.format("sm_120a") + ");", None),
        ('f("sm_120a");', 'f("sm_120a/sm_121a");', None),  # which has room
        ("    " + "a" * 90, "    " + "a" * 91, None),
    ],
)
def test_text_that_is_too_long(old: str, new: str, laid: str | None) -> None:
    assert broken(old, new, LLVM) == laid


LEFT = [
    (f"{ONE}  && A", f"{ONE}  && A || defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)"),  # laid out in another way
    (ONE, f"{ONE} || defined(CUTLASS_ARCH_MMA_SM121A_ENABLED) && A"),  # two kinds in one chain
    (ONE, f"{ONE} || A"),  # which has room
    (f"{ONE}  // only here", f"{ONE} || defined(CUTLASS_ARCH_MMA_SM121A_ENABLED)  // only here"),
    (ONE, f"#if defined({'A' * 90})"),
    ("int a;", "int a = 1;"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_what_is_left_as_it_is(old: str, new: str) -> None:
    assert in_cpp(old, new, LLVM) is None


def test_directives() -> None:
    source = "#if A && \\\n    B\nint a;\n#elif C\n#else\n#endif\n  # if D\n#ifdef E\n"
    assert list(directives(source)) == [(1, 2), (4, 4), (7, 7)]


@pytest.mark.parametrize(
    ("said", "style"),
    [
        ("BasedOnStyle: LLVM\n", LLVM),
        ("BasedOnStyle: Google\n", GOOGLE),
        ("BasedOnStyle: google\nColumnLimit: 100\nAlignEscapedNewlines: Right\n", CppStyle(100, left=False)),
        ("---\nLanguage: Cpp\n# BasedOnStyle: Google\nColumnLimit: 120\n", CppStyle(120, left=False)),
        ("BasedOnStyle: WebKit\n", None),
        ("BasedOnStyle: LLVM\nAlignEscapedNewlines: DontAlign\n", None),
        ("BasedOnStyle: LLVM\nColumnLimit: 0\n", None),
    ],
)
def test_style_that_a_tree_sets(said: str, style: CppStyle | None) -> None:
    assert _cpp_style_of(said) == style
