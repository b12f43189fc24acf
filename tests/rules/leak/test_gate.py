"""What a gate admits to something that is not there: which tests, and which texts, say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CODE = """import torch


def run(x, quick):
    if {test}:
        {refusal}
    {behind}
"""
OPEN = "torch.cuda.get_device_capability()[0] < 10"
KERNEL = "import flash_mla; return flash_mla.flash_mla_with_kvcache(x)"
RAISES = "raise RuntimeError('no')"
WRAPPER = (
    "template <typename Kernel>\nstruct {} : Kernel {{\n  __device__ void operator()() {{\n"
    "#if defined(__CUDA_ARCH__) && ({})\n    Kernel::operator()();\n#endif\n  }}\n}};\n"
)
USE = "using Wrapped = {}<flash::{}<Loop>>;\n"


@pytest.mark.parametrize(
    ("test", "refusal", "behind", "expected"),
    [
        (OPEN, RAISES, KERNEL, ["5 warning"]),
        (OPEN, "return None", KERNEL, ["5 warning"]),
        (OPEN, "raise RuntimeError('scatter4 is missing')", "return x()", ["5 warning"]),
        # a guard of one configuration says nothing of the others; the answer of one is no error
        (f"quick and {OPEN}", RAISES, KERNEL, ["5 note"]),
        (f"quick and {OPEN}", "return None", KERNEL, ["5 warning"]),
        # the first text is the reason, the second is beside it
        (OPEN, "logger.info('too old'); raise RuntimeError('scatter4 is missing')", "return x()", []),
        (OPEN, "logger.info('scatter4 is missing'); raise RuntimeError('too old')", "return x()", ["5 warning"]),
        (OPEN.replace("<", "!="), RAISES, KERNEL, []),
    ],
)
def test_what_says_so(tmp_path: Path, test: str, refusal: str, behind: str, expected: list[str]) -> None:
    code = CODE.format(test=test, refusal=refusal, behind=behind)
    assert levels(drafts(tmp_path, {"m.py": code}, "leak")) == expected


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            """def f(x):
    # scratch space of the ragged kernel (SM100 only)
    if torch.cuda.get_device_capability()[0] >= 10:
        x.space = 1
""",
            "This check lets 12.x through, but the comment `scratch space of the ragged kernel (SM100 only)` says 10.x"
            " only.",
        ),
        (
            """def f(x):
    if torch.cuda.get_device_capability()[0] >= 9:
        return gemm_sm90(x)
    return gemm_sm80(x)
""",
            "This check lets 12.x use `gemm_sm90`. Its name says 9.0."
            " If the name is right, it fails on 12.x. The other branch uses `gemm_sm80`.",
        ),
        (
            "".join(
                f"""def f{number}(x):
    if torch.cuda.get_device_capability()[0] {test} 10:
        raise ValueError("the ring kernel is not available here")
"""
                for number, test in enumerate(("!=", "!=", "<"))
            ),
            "This check lets 12.x through. 2 other checks with the message `the ring kernel is not available here`"
            " keep them out.",
        ),
        (
            """def f(x):
    if torch.cuda.get_device_capability()[0] >= 10:
        x.set_2cta(True)
""",
            "This lower bound at 10.0 lets 12.x through too, but `set_2cta` has `2cta` in its name, as code for 10.x"
            " has.",
        ),
    ],
)
def test_the_file_says_what_is_against_a_gate(tmp_path: Path, code: str, says: str) -> None:
    assert [draft.message for draft in drafts(tmp_path, {"m.py": f"import torch\n{code}"}, "leak")] == [says]


def test_who_asks_a_helper_for_the_chip_by_name_is_no_odd_one(tmp_path: Path) -> None:
    refused = "        raise ValueError('the ring kernel is not available here')\n"
    narrow = "".join(
        f"def f{at}(x):\n    if torch.cuda.get_device_capability()[0] != 10:\n{refused}" for at in range(2)
    )
    both = f"def g(x):\n    if not (is_sm100() or is_sm120()):\n{refused}"
    code = f"import torch\nfrom h import is_sm100, is_sm120\n{narrow}{both}"
    helpers = "".join(
        f"def is_sm{major}0():\n    return torch.cuda.get_device_capability()[0] == {major}\n" for major in (10, 12)
    )
    assert drafts(tmp_path, {"m.py": code, "h.py": f"import torch\n{helpers}"}, "leak") == []


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("{ }", ["3 warning"]),
        ("{ } else { run(); }", ["3 warning"]),
        ("{ run(); }", ["3 warning"]),
    ],
)
def test_an_arm_without_code_has_a_comment_at_least(tmp_path: Path, arms: str, expected: list[str]) -> None:
    test = "  // scatter4 from here on\n  if (props->major >= 10)"
    code = f"void f(cudaDeviceProp* props) {{\n{test} {arms}\n  end();\n}}\n"
    assert levels(drafts(tmp_path, {"m.cpp": code}, "leak")) == expected


TWO_WAYS = """import torch

cap = torch.cuda.get_device_capability()


def mla_backend(sparse):
    if cap[0] >= 10:
        if sparse:
            return "FLASHMLA_SPARSE"
        return "FLASHINFER_MLA"
    if {second}:
        return "FLASHMLA"
    return "TRITON_MLA"
"""


@pytest.mark.parametrize(("second", "expected"), [("cap == (9, 0)", ["7 warning"]), ("sparse", [])])
def test_the_other_way_counts_where_the_chip_may_take_it(tmp_path: Path, second: str, expected: list[str]) -> None:
    found = drafts(tmp_path, {"m.py": TWO_WAYS.format(second=second)}, "leak")
    assert [one for one in levels(found) if one.endswith("warning")] == expected


HELPERS = (
    "import torch\n\n\ndef is_sm_at_least_90():\n    return torch.cuda.get_device_capability() >= (9, 0)\n\n\n"
    "def is_hopper_kind():\n    return torch.cuda.get_device_capability() >= (9, 0)\n\n\n"
)


@pytest.mark.parametrize(
    ("test", "text", "expected"),
    [
        ("is_sm_at_least_90()", "Only supported on SM90", ["warning at 13"]),
        ("is_hopper_kind()", "Only supported on SM90", ["warning at 13"]),
        ("torch.cuda.get_device_capability() >= (9, 0)", "Only supported on SM90", ["warning at 13"]),
        ("is_sm_at_least_90()", "Only supported on SM90 and newer", []),
    ],
)
def test_words_against_a_helper(tmp_path: Path, test: str, text: str, expected: list[str]) -> None:
    """Who asks "at least" by name means it: the words beside it are then the careless ones."""
    if "at_least" in test:
        expected = [one.replace("warning", "note") for one in expected]
    code = HELPERS + f"def run(x):\n    assert {test}, '{text}'\n    return x\n"
    found = drafts(tmp_path, {"m.py": code}, "leak")
    assert [f"{one.severity} at {one.at[0]}" for one in found] == expected


LISTS = "from flags import nvcc_flags\n\n\ndef gen_{}_module():\n    return nvcc_flags(supported_major_versions={})\n"


@pytest.mark.parametrize(
    ("name", "majors", "expected"),
    [
        ("trtllm_gen_fused_moe", "[10, 12]", ["note"]),
        ("trtllm_gen_fused_moe", "[10, 11, 12]", ["note"]),
        ("fused_moe", "[10, 12]", []),
        ("trtllm_gen_fused_moe", "[10]", []),
    ],
)
def test_a_list_that_names_the_generation(tmp_path: Path, name: str, majors: str, expected: list[str]) -> None:
    """What a name speaks of is no proof against who writes the generation down."""
    found = drafts(tmp_path, {"m.py": LISTS.format(name, majors)}, "leak")
    assert [one.severity for one in found] == expected


@pytest.mark.parametrize(
    ("place", "refusal", "expected"),
    [
        ("tests/reference.py", RAISES, ["5 note"]),
        ("kit/reference.py", RAISES, ["5 warning"]),
        ("tests/reference.py", "return None", ["5 warning"]),
    ],
)
def test_an_error_in_place_of_an_error(tmp_path: Path, place: str, refusal: str, expected: list[str]) -> None:
    """A test fails on such a chip whether its helper says so or what the helper calls."""
    files = {place: CODE.format(test=OPEN, refusal=refusal, behind=KERNEL)}
    assert levels(drafts(tmp_path, files, "leak")) == expected


PICKS = (
    "int cap() {{ auto p = at::cuda::getCurrentDeviceProperties(); return 10 * p->major + p->minor; }}\n"
    "int tile(int d) {{\n  Kernel m_sm90 = d, m_sm80 = 2 * d, n_sm90 = d, n_sm80 = d;\n"
    "  Kernel m = {} ? m_sm90 : m_sm80;\n{}  Kernel n = {} ? n_sm90 : n_sm80;\n  return m * n;\n}}\n"
)


@pytest.mark.parametrize(
    ("tests", "between", "expected"),
    [
        (("cap() >= 90", "cap() >= 90"), "", ["4 warning"]),
        (("cap() >= 90", "cap() > 89"), "", ["4 warning", "5 warning"]),
        (("cap() >= 90", "cap() >= 90"), "  return m;\n}\nint other(int d) {\n", ["4 warning", "8 warning"]),
        (("cap() == 90", "cap() == 90"), "", []),
    ],
)
def test_an_arm_of_another_generation_again(
    tmp_path: Path, tests: tuple[str, str], between: str, expected: list[str]
) -> None:
    """One choice in a function, however many values it has; that of another function is another's."""
    code = PICKS.format(tests[0], between, tests[1])
    assert levels(drafts(tmp_path, {"a.cpp": code}, "leak")) == expected


def test_programs_of_one_folder_are_held_against_each_other_however_many_others_say_the_same(tmp_path: Path) -> None:
    program = """int main() {{
  cudaDeviceProp props;
  cudaGetDeviceProperties(&props, 0);
  if (props.major {test}) {{
    std::cerr << "This example requires a GPU of the ring kernel";
    return 1;
  }}
  return run();
}}
"""
    one = {
        f"ring/{name}.cu": program.format(test=test) for name, test in (("a", "!= 10"), ("b", "!= 10"), ("c", "< 10"))
    }
    others = {f"other{number}/a.cu": program.format(test="< 9") for number in range(20)}
    found = drafts(tmp_path, one | others, "leak")
    assert [(Path(one.module.path).name, one.message) for one in found] == [
        (
            "c.cu",
            "This check lets 12.x through. 2 other checks with the message"
            " `This example requires a GPU of the ring kernel` keep them out.",
        )
    ]


BRANCHES = """import torch
import flash_mla


def run(x):
    major, minor = torch.cuda.get_device_capability()
    if {}:
        return small(x)
    return flash_mla.flash_mla_with_kvcache(x)
"""


@pytest.mark.parametrize(
    ("test", "advice"),
    [
        ("(major, minor) == (12, 0)", "Let 12.1 (GB10) into the branch for 12.0 at line 8."),
        ("(major, minor) == (12, 1)", "Let 12.0 (RTX 5090) into the branch for 12.1 at line 8."),
        ("(major, minor) in ((8, 9), (12, 0))", "Add a branch or an error for 12.1 (GB10)."),
        ("major < 9", "Add a branch or an error for 12.x."),
    ],
)
def test_who_has_a_sibling_with_a_branch_goes_there(tmp_path: Path, test: str, advice: str) -> None:
    (found,) = drafts(tmp_path, {"m.py": BRANCHES.format(test)}, "leak")
    assert found.advice.startswith(advice)


@pytest.mark.parametrize(
    ("test", "subject"),
    [
        ("old()", "The check `old()` lets"),
        ("torch.cuda.get_device_capability() < (9, 0)", "This check lets"),
        ("not torch.cuda.is_available() or old()", "This check lets"),  # read as what is let through
    ],
)
def test_a_check_without_a_number_is_named(tmp_path: Path, test: str, subject: str) -> None:
    asked = "def old():\n    return torch.cuda.get_device_capability() < (9, 0)\n"
    code = CODE.format(test=test, refusal="return None", behind=KERNEL).replace("\n\n\n", f"\n\n\n{asked}\n\n", 1)
    (found,) = drafts(tmp_path, {"m.py": code}, "leak", only="m.py")
    assert found.message.startswith(subject)


@pytest.mark.parametrize(
    ("name", "guard", "kernel", "expected"),
    [
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "ForwardSm90", ["warning"]),
        ("enable_sm90_or_later", "__CUDA_ARCH__ == 900", "ForwardSm90", []),
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "Forward", []),
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "ForwardSm120", []),
        ("enable_sm90", "__CUDA_ARCH__ >= 900", "Forward", ["note"]),
        ("enable_sm120_or_later", "__CUDA_ARCH__ >= 1200", "ForwardSm120", []),
    ],
)
def test_what_is_wrapped(tmp_path: Path, name: str, guard: str, kernel: str, expected: list[str]) -> None:
    files = {"wrap.h": WRAPPER.format(name, guard), "launch.h": USE.format(name, kernel)}
    assert [draft.severity for draft in drafts(tmp_path, files, "leak", only="wrap.h")] == expected


def test_one_finding_names_all_kernels_that_are_wrapped(tmp_path: Path) -> None:
    name = "enable_sm90_or_later"
    files = {
        "wrap.h": WRAPPER.format(name, "__CUDA_ARCH__ >= 900"),
        "backward.cu": '#include "wrap.h"\n' + USE.format(name, "BackwardSm90"),
        "forward.cu": '#include "wrap.h"\n' + USE.format(name, "ForwardSm90"),
    }
    (found,) = drafts(tmp_path, files, "leak")
    assert "compiles `BackwardSm90` and `ForwardSm90` for 12.x too" in found.message
    assert [Path(one.module.path).name for one in found.related] == ["backward.cu", "forward.cu"]
