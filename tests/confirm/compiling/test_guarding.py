"""Tests of the preprocessor, put to nvcc's own."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import toolkit as wheels

from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs.assemble import attempt
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import Claim, Finding, Region

OLD, OURS = ("sm_90a",), ("sm_120a",)
TARGETS = (*OLD, *OURS)
Ask = Callable[..., Attempt]


@pytest.fixture(scope="module")
def ask(nvcc: wheels.Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Asks about the marked directive of a text, which may include "other.h"."""
    host = shutil.which("g++")
    assert host is not None
    kit = Toolkit(nvcc.programs / "ptxas", nvcc.programs / "nvcc", "13", "a wheel", Path(host))
    world = Workbench(tmp_path_factory.mktemp("scratch"), (kit,), compile_limit=60)

    def asked(
        text: str,
        holds: tuple[str, ...],
        certain: tuple[str, ...] = (),
        targets: tuple[str, ...] = TARGETS,
        other: str = "",
    ) -> Attempt:
        root = tmp_path_factory.mktemp("tree")
        source = textwrap.dedent(text).lstrip("\n")
        (root / "a.cu").write_text(source)
        (root / "other.h").write_text(other)
        line = next(number for number, each in enumerate(source.splitlines(), 1) if "// HERE" in each)
        at = Region(line, 1, line, 9)
        claim = Claim("guard", "", targets=targets, holds=holds, certain=certain, subject="#if", at=at)
        finding = Finding(
            rule="BW000",
            name="test",
            category="other",
            severity="note",
            confidence="high",
            path="a.cu",
            region=at,
            message="",
        )
        return attempt(Subject(finding, claim, str(root / "a.cu"), str(root)), world)

    return asked


PLAIN = "#if __CUDA_ARCH__ >= 1200  // HERE\n#endif\n"
EXACT = "#ifdef __CUDA_ARCH_FEAT_SM120_ALL  // HERE\n#endif\n"
AGREEING = {
    "a number": (PLAIN, OURS),
    "a feature": (EXACT, OURS),
    "its negation": ("#ifndef __CUDA_ARCH_FEAT_SM120_ALL  // HERE\n#endif\n", OLD),
    "the family": ("#if __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200  // HERE\n#endif\n", OURS),
    "an arm": ("#if __CUDA_ARCH__ >= 1200\n#elif __CUDA_ARCH__ >= 900  // HERE\n#endif\n", OLD),
    "what is left": ("#if __CUDA_ARCH__ < 1200\n#else  // HERE\n#endif\n", OURS),
    "a macro of the file": (
        """
        #include "nobody_has_this.h"
        #ifdef __CUDA_ARCH_FEAT_SM120_ALL
        #define OURS 1
        #else
        #define OURS 0
        #endif
        #if OURS  // HERE
        #endif
        """,
        OURS,
    ),
    "a macro with arguments": (
        """
        #define AT_LEAST(n) (__CUDA_ARCH__ >= (n))
        #if AT_LEAST(1000)  // HERE
        #endif
        """,
        OURS,
    ),
    "inside of another test": (
        """
        #ifndef THIS_FILE
        #define THIS_FILE
        #ifdef SOMEBODY_ELSE
        #if __CUDA_ARCH__ >= 1200  // HERE
        #endif
        #endif
        #endif
        """,
        OURS,
    ),
    "in the arm of another test": (
        """
        #if __CUDA_ARCH__ == 1200
        #define X 1
        #elif __CUDA_ARCH__ == 1000
        #define X 2
        #else
        #define X 3
        #if __CUDA_ARCH__ >= 900 && X == 3  // HERE
        #endif
        #endif
        """,
        (*OLD, *OURS),
    ),
    "over several lines": (
        "#if defined(__CUDA_ARCH__) && \\\n  /* a\n comment */ __CUDA_ARCH__ > 900 // HERE\n#endif\n",
        OURS,
    ),
    "an error that is never met": ("#error never\n#if __CUDA_ARCH__ >= 1200  // HERE\n#endif\n", OURS),
}


@pytest.mark.parametrize(("text", "holds"), AGREEING.values(), ids=AGREEING.keys())
def test_where_the_preprocessor_agrees(ask: Ask, text: str, holds: tuple[str, ...]) -> None:
    found = ask(text, holds, holds)
    assert found.outcome == "confirmed", found.reason
    assert found.details["test"] == "alone"


@pytest.mark.parametrize(
    ("text", "holds", "says"),
    [
        pytest.param(PLAIN, TARGETS, "the test fails for sm_90a", id="fewer"),
        pytest.param(PLAIN, (), "the test holds for sm_120a", id="more"),
        pytest.param(EXACT, OLD, "the test holds for sm_120a and fails for sm_90a", id="others"),
    ],
)
def test_where_it_does_not(ask: Ask, text: str, holds: tuple[str, ...], says: str) -> None:
    found = ask(text, holds)
    assert (found.outcome, found.reason) == ("refuted", f"nvcc's preprocessor: {says}")


OPEN = """
    #include "other.h"
    #if defined(OTHERS) && __CUDA_ARCH__ >= 1200  // HERE
    __global__ void kernel(int *p) { *p = 1; }
    #endif
    """
REACHED = {
    "defined": ("#define OTHERS\n", OURS, (), "confirmed", "preprocessor agrees"),
    "not defined": ("", OURS, (), "inconclusive", "in this build the test fails for sm_120a too"),
    "certain and not defined": ("", OURS, OURS, "refuted", "the test fails for sm_120a"),
    "more than may": ("#define OTHERS\n", (), (), "refuted", "the test holds for sm_120a"),
    "with an error": ("#error never mind\n", OURS, (), "inconclusive", "error: #error never mind"),
}


@pytest.mark.parametrize(("other", "holds", "certain", "outcome", "says"), REACHED.values(), ids=REACHED.keys())
def test_macros_of_others_take_the_file_itself(
    ask: Ask, other: str, holds: tuple[str, ...], certain: tuple[str, ...], outcome: str, says: str
) -> None:
    found = ask(OPEN, holds, certain, other=other)
    assert found.outcome == outcome
    assert says in found.reason
    assert found.details["macros of others"] == ["OTHERS"]


def test_a_branch_without_code_tells_nothing(ask: Ask) -> None:
    found = ask("#ifdef OTHERS  // HERE\n#define X\n#endif\nint x;\n", TARGETS)
    assert found.outcome == "inconclusive"
    assert found.reason.endswith("no code stands between the directive and the next one")


@pytest.mark.parametrize(
    "text", ["int x;  // HERE\n", "#define X 1  // HERE\n", "#endif  // HERE\n", "#pragma once // HERE\n"]
)
def test_what_is_no_test_cannot_be_tested(ask: Ask, text: str) -> None:
    found = ask(text, TARGETS)
    assert (found.eligible, found.executed, found.outcome) == (False, False, None)


def test_a_target_that_nvcc_does_not_know_is_not_told(ask: Ask) -> None:
    found = ask(PLAIN, OURS, targets=("sm_101a", *OURS))
    assert found.outcome == "inconclusive"
    assert found.details["not told"] == {"sm_101a": "this nvcc does not know sm_101a"}


@pytest.mark.parametrize("macro", ["__MYLIB_ENABLE_SM120", "__CUDA_NO_HALF_OPERATORS__", "__CUDACC_RDC__", "OURS"])
def test_a_macro_that_a_build_may_define_refutes_nothing(ask: Ask, macro: str) -> None:
    text = f"#if defined({macro}) && __CUDA_ARCH__ >= 1200  // HERE\n__global__ void k(int *p) {{ *p = 1; }}\n#endif\n"
    found = ask(text, OURS)
    assert found.outcome == "inconclusive", found.reason
    assert found.details["macros of others"] == [macro]


def test_a_file_that_knows_our_mark(ask: Ask) -> None:
    assert ask(f"#define bwlint_is_compiled\n{PLAIN}", OURS, OURS).outcome == "confirmed"
