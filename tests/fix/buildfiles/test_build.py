"""Lists, flags and conditions of builds: what is written, and what is left alone with its reason."""

from __future__ import annotations

import json

import pytest

from .conftest import Mend

CUDA13 = "if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)\n  {}\nendif()\n"
CUDA128 = "if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)\n  {}\nendif()\n"
OLDER = "if(CUDA_VERSION VERSION_LESS 13.0)\n  {}\nendif()\n"
KERNEL = 'kit_archs_intersection(GEMM_ARCHS "{}" "${{CUDA_ARCHS}}")'

SAFE = [
    # names that are accepted
    ("set(KIT_SUPPORTED_ARCHS 90a 100a 120a)", "set(KIT_SUPPORTED_ARCHS 90a 100a 120a 121a)"),
    ("set(KIT_SUPPORTED_ARCHS 120a)", "set(KIT_SUPPORTED_ARCHS 120a 121a)"),
    ("set(KIT_SUPPORTED_ARCHS 121a)", "set(KIT_SUPPORTED_ARCHS 120a 121a)"),
    ("set(KIT_SUPPORTED_ARCHS 120a 120f 90a)", "set(KIT_SUPPORTED_ARCHS 120a 120f 121a 121f 90a)"),
    ('set(KIT_SUPPORTED_ARCHS "9.0a;12.0a")', 'set(KIT_SUPPORTED_ARCHS "9.0a;12.0a;12.1a")'),
    ('set(KIT_SUPPORTED_ARCHS "12.0a;9.0a")', 'set(KIT_SUPPORTED_ARCHS "12.0a;12.1a;9.0a")'),
    ("set(KIT_SUPPORTED_ARCHS\n  90a\n  120a\n)", "set(KIT_SUPPORTED_ARCHS\n  90a\n  120a\n  121a\n)"),
    ("set(KIT_SUPPORTED_ARCHS\r\n  90a\r\n  120a)", "set(KIT_SUPPORTED_ARCHS\r\n  90a\r\n  120a\r\n  121a)"),
    ("set(KIT_SUPPORTED_ARCHS 90a # Hopper\n  120a)", "set(KIT_SUPPORTED_ARCHS 90a # Hopper\n  120a 121a)"),
    ("set(KIT_SUPPORTED_ARCHS 90a 120a 120f 121a)", "set(KIT_SUPPORTED_ARCHS 90a 120a 120f 121a 121f)"),
    ("set(KIT_SUPPORTED_ARCHS 90a 120a 121a 121f)", "set(KIT_SUPPORTED_ARCHS 90a 120a 120f 121a 121f)"),
]


@pytest.mark.parametrize(("before", "after"), SAFE)
def test_accepted_names(mend: Mend, before: str, after: str) -> None:
    found = mend(before)
    assert found.text == after
    assert (found.fix.applicability, found.fix.kind) == ("safe", "family")
    assert found.fix.proof.after_must[-2:] == ("12.0", "12.1")
    assert mend(after).findings == ()


LADDER = """if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND KIT_SUPPORTED_ARCHS 100a 120 120a)
endif()
if(CUDA_VERSION VERSION_GREATER_EQUAL 12.9)
  list(APPEND KIT_SUPPORTED_ARCHS 100f 120f)
endif()
"""


def test_names_go_to_the_branch_of_their_toolkit(mend: Mend) -> None:
    found = mend(LADDER)
    assert found.fix.applicability == "safe"
    assert found.text == LADDER.replace("100f 120f", "100f 120f 121 121a 121f")
    assert mend(found.text).findings == ()


REGEX = [
    ("120a", "120a|121a"),
    ('"120a"', '"120a|121a"'),
    ("120a|120f", "120a|120f|121a|121f"),
    ("100a|120a", "100a|120a|121a"),
    ("120a|100a", "120a|121a|100a"),
    ('"(120a|120f)"', '"(120a|120f|121a|121f)"'),
    ('"^120a$"', '"^120a$|^121a$"'),
    ('"sm_120a"', None),
    ('"120"', '"120|121"'),
    ('"12\\\\.0a"', '"12\\\\.0a|12\\\\.1a"'),
    ('"12[.]0f"', '"12[.]0f|12[.]1f"'),
    ('"12\\\\.(0a|0f)"', None),
]


@pytest.mark.parametrize(("before", "after"), [(one, two) for one, two in REGEX if two])
def test_conditions_of_tests(mend: Mend, before: str, after: str) -> None:
    text = "if(KIT_ARCHS MATCHES {})\n  kit_test(gemm_sm120.cu)\nendif()\n"
    found = mend(text.format(before), "test/gemm/CMakeLists.txt")
    assert found.text == text.format(after)
    assert found.fix.applicability == "safe"
    left = mend(found.text, "test/gemm/CMakeLists.txt")
    assert all("false for 120f" in finding.message for finding in left.findings)
    assert all(fix.applicability == "unsafe" for fix in left.fixes)  # the source is not there to be read


def test_conditions_of_examples_and_of_others(mend: Mend) -> None:
    text = "if(KIT_ARCHS MATCHES 120a)\n  kit_add(gemm_sm120.cu)\nendif()\n"
    assert mend(text, "examples/gemm/CMakeLists.txt").fix.applicability == "safe"
    assert mend(text, "src/CMakeLists.txt").fix.applicability == "unsafe"


def test_a_list_of_names_that_compiles_sources(mend: Mend) -> None:
    found = mend('set(KIT_SUPPORTED_ARCHS 90a 120a)\nkit(SRCS "k.cu" ARCHS "${KIT_SUPPORTED_ARCHS}")\n')
    assert found.fix.applicability == "unsafe"
    assert "its sources work on" in found.fix.proof.evidence


def test_membership(mend: Mend) -> None:
    text = 'if("120a" IN_LIST KIT_ARCHS)\n  kit_test(gemm.cu)\nendif()\n'
    found = mend(text, "tests/CMakeLists.txt")
    assert found.text.splitlines()[0] == 'if("120a" IN_LIST KIT_ARCHS OR "121a" IN_LIST KIT_ARCHS)'
    assert found.fix.applicability == "safe"


UNSAFE = [
    # nothing shows that the sibling runs it
    (KERNEL.format("12.0a"), KERNEL.format("12.0a;12.1a"), "family"),
    (KERNEL.format("9.0a;12.0a;10.0a"), KERNEL.format("9.0a;12.0a;12.1a;10.0a"), "family"),
    (KERNEL.format("12.1a"), KERNEL.format("12.0a;12.1a"), "family"),
    (CUDA13.format(KERNEL.format("9.0a;12.0a")), CUDA13.format(KERNEL.format("9.0a;12.0f")), "family"),
    (OLDER.format(KERNEL.format("9.0a;12.0a")), OLDER.format(KERNEL.format("9.0a;12.0a;12.1a")), "family"),
    (CUDA13.format("set(GEMM_ARCHS 90a 120a)"), CUDA13.format("set(GEMM_ARCHS 90a 120f)"), "family"),
    # a list that the reader has beside plain 12.0 takes no f
    (
        'set_target_properties(k PROPERTIES CUDA_ARCHITECTURES "90a-real;120a-real")',
        'set_target_properties(k PROPERTIES CUDA_ARCHITECTURES "90a-real;120f-real")',
        "family",
    ),
    # the other way round: what a source cannot be built for
    (
        KERNEL.format("10.0f;11.0f;12.0f") + '\nkit(SRCS "mla_sm100.cu" ARCHS "${GEMM_ARCHS}")',
        KERNEL.format("10.0f;11.0f") + '\nkit(SRCS "mla_sm100.cu" ARCHS "${GEMM_ARCHS}")',
        "bound",
    ),
    (
        KERNEL.format("12.0a;12.1a;10.0a") + '\nkit(SRCS "mla_sm100.cu" ARCHS "${GEMM_ARCHS}")',
        KERNEL.format("10.0a") + '\nkit(SRCS "mla_sm100.cu" ARCHS "${GEMM_ARCHS}")',
        "bound",
    ),
]


@pytest.mark.parametrize(("before", "after", "kind"), UNSAFE)
def test_lists_of_kernels(mend: Mend, before: str, after: str, kind: str) -> None:
    found = mend(before)
    assert found.text == after
    assert (found.fix.applicability, found.fix.kind) == ("unsafe", kind)
    assert "unsafe: " in found.fix.proof.evidence
    assert mend(after).findings == ()


FLAGS = [
    (
        "build.sh",
        "nvcc -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_120a,code=sm_120a kit.cu\n",
        "nvcc -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_120f,code=sm_120f kit.cu\n",
    ),
    # no family target is older than the newest chip: a second flag
    (
        "Makefile",
        "F = -gencode arch=compute_121a,code=sm_121a -O3\n",
        "F = -gencode arch=compute_121a,code=sm_121a -gencode arch=compute_120a,code=sm_120a -O3\n",
    ),
    (
        "kit.sh",
        'F="-gencode=arch=compute_121a,code=sm_121a"\n',
        'F="-gencode=arch=compute_121a,code=sm_121a -gencode=arch=compute_120a,code=sm_120a"\n',
    ),
    (
        "setup.py",
        'flags = [\n    "-gencode",\n    "arch=compute_121a,code=sm_121a",\n]\n',
        'flags = [\n    "-gencode",\n    "arch=compute_121a,code=sm_121a",\n'
        '    "-gencode",\n    "arch=compute_120a,code=sm_120a",\n]\n',
    ),
    (
        "setup.py",
        'flags = ["-gencode=arch=compute_121a,code=sm_121a"]\n',
        """flags = [
    "-gencode=arch=compute_121a,code=sm_121a",
    "-gencode=arch=compute_120a,code=sm_120a",
]
""",
    ),
    (
        "k.json",
        '{"flags": ["-gencode=arch=compute_121a,code=sm_121a"]}\n',
        '{"flags": ["-gencode=arch=compute_121a,code=sm_121a", "-gencode=arch=compute_120a,code=sm_120a"]}\n',
    ),
    ("build.sh", 'export TORCH_CUDA_ARCH_LIST="9.0a 12.0a"\n', 'export TORCH_CUDA_ARCH_LIST="9.0a 12.0a 12.1a"\n'),
    ("build.sh", "export TORCH_CUDA_ARCH_LIST='9.0a;12.0a'\n", "export TORCH_CUDA_ARCH_LIST='9.0a;12.0a;12.1a'\n"),
    ("build.sh", 'export TORCH_CUDA_ARCH_LIST="12.0a"\n', 'export TORCH_CUDA_ARCH_LIST="12.0a;12.1a"\n'),
    ("build.sh", 'export TORCH_CUDA_ARCH_LIST="10.0f 12.0a"\n', 'export TORCH_CUDA_ARCH_LIST="10.0f 12.0f"\n'),
    ("build.sh", 'KIT_CUDA_ARCH_LIST="9.0a 12.0a"\n', 'KIT_CUDA_ARCH_LIST="9.0a 12.0f"\n'),
    (
        "Dockerfile",
        "FROM kit\nENV TORCH_CUDA_ARCH_LIST='8.0 12.0a+PTX'\n",
        "FROM kit\nENV TORCH_CUDA_ARCH_LIST='8.0 12.0a+PTX 12.1a+PTX'\n",
    ),
    ("w.yml", 'env:\n  TORCH_CUDA_ARCH_LIST: "8.0;12.0a"\n', 'env:\n  TORCH_CUDA_ARCH_LIST: "8.0;12.0a;12.1a"\n'),
    (
        "pod.yml",
        "env:\n- name: TORCH_CUDA_ARCH_LIST\n  value: 8.0 12.0a # ours\n",
        "env:\n- name: TORCH_CUDA_ARCH_LIST\n  value: 8.0 12.0a 12.1a # ours\n",
    ),
    (
        "w.yml",
        "env: {TORCH_CUDA_ARCH_LIST: 8.0 12.0a, A: 1}\n",
        "env: {TORCH_CUDA_ARCH_LIST: 8.0 12.0a 12.1a, A: 1}\n",
    ),
    (
        "w.yml",
        "env:\n  TORCH_CUDA_ARCH_LIST: >-\n    8.0\n    12.0a\n  A: 1\n",
        "env:\n  TORCH_CUDA_ARCH_LIST: >-\n    8.0\n    12.0a\n    12.1a\n  A: 1\n",
    ),
    (
        "w.yml",
        "all: &all '8.0 12.0a'\nenv:\n  TORCH_CUDA_ARCH_LIST: *all\n",
        "all: &all '8.0 12.0a 12.1a'\nenv:\n  TORCH_CUDA_ARCH_LIST: *all\n",
    ),
    ("w.yml", "torch_cuda_arch_list:\n- 9.0a\n- 12.0a\n", "torch_cuda_arch_list:\n- 9.0a\n- 12.0a\n- 12.1a\n"),
    ("w.yml", "kit_arch_list:\n  - 9.0a\n  - 12.0a\n", "kit_arch_list:\n  - 9.0a\n  - 12.0f\n"),
    ("Dockerfile", "ENV TORCH_CUDA_ARCH_LIST 8.0 12.0a\n", "ENV TORCH_CUDA_ARCH_LIST 8.0 12.0a 12.1a\n"),
    (
        "Dockerfile",
        "ENV TORCH_CUDA_ARCH_LIST=8.0\\ 12.0a A=1\n",
        "ENV TORCH_CUDA_ARCH_LIST=8.0\\ 12.0a\\ 12.1a A=1\n",
    ),
    (
        "Dockerfile",
        'ENV TORCH_CUDA_ARCH_LIST="8.0 \\\n  12.0a" \\\n# ours\n  A=1\n',
        'ENV TORCH_CUDA_ARCH_LIST="8.0 \\\n  12.0a \\\n  12.1a" \\\n# ours\n  A=1\n',
    ),
    ("k.toml", 'cuda_archs = ["9.0a", "12.0a"]\n', 'cuda_archs = ["9.0a", "12.0f"]\n'),
    (
        "run.py",
        'import dsl\n\nkernel = dsl.compile(f, options=(dsl.GPUArch("sm_120a"),))\n',
        'import dsl\n\nkernel = dsl.compile(f, options=(dsl.GPUArch("sm_120f"),))\n',
    ),
    (
        "setup.py",
        'flags = [\n    "-gencode",\n    "arch=compute_120a,code=sm_120a",\n]\n',
        'flags = [\n    "-gencode",\n    "arch=compute_120f,code=sm_120f",\n]\n',
    ),
]


@pytest.mark.parametrize(("name", "before", "after"), FLAGS)
def test_files_of_other_kinds(mend: Mend, name: str, before: str, after: str) -> None:
    found = mend(before, name)
    assert found.text == after
    assert found.fix.applicability == "unsafe"
    assert not mend(after, name).fixes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("w.yml", "torch_cuda_arch_list:\n  - 9.0a\n  # ours\n  - 12.0a\n"),
        ("w.yml", "torch_cuda_arch_list:\n  - 12.0a\n"),
        ("w.yml", "one: &one 12.0a\nkit_arch_list: [9.0a, *one]\n"),
        ("w.yml", 'torch_cuda_arch_list: "8.0 12\\\n  .0a"\n'),
        ("Dockerfile", 'ENV TORCH_CUDA_ARCH_LIST="8.0 \\\n# ours\n  12.0a"\n'),
    ],
)
def test_spellings_that_are_not_rewritten(mend: Mend, name: str, text: str) -> None:
    assert mend(text, name).refused == "bwlint has no rewrite for this spelling"


def test_json_stays_json(mend: Mend) -> None:
    found = mend('{"cuda_archs": ["9.0a", "12.0a"]}\n', "k.json")
    assert json.loads(found.text) == {"cuda_archs": ["9.0a", "12.0f"]}


def test_plain_among_suffixed(mend: Mend) -> None:
    text = 'if [ "$CUDA_MAJOR" -ge 13 ]; then\n  AOT_ARCH_LIST="8.0 9.0a 10.0f 12.0"\nfi\n'
    found = mend(text, "build.sh")
    assert found.text == text.replace("12.0", "12.0f")
    assert found.fix.applicability == "unsafe"


PAIR = """if(CUDA_VERSION VERSION_GREATER_EQUAL 13.0)
  kit_archs_intersection(GEMM_ARCHS "12.0f" "${CUDA_ARCHS}")
else()
  kit_archs_intersection(GEMM_ARCHS "12.0a" "${CUDA_ARCHS}")
endif()
set(SRCS "csrc/gemm.cu")
kit_gencode(SRCS "${SRCS}" ARCHS "${GEMM_ARCHS}")
"""
KERNELS = [
    ("__global__ void k() {}\n", "safe", ""),
    ("#if __CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300\n__global__ void k() {}\n#endif\n", "safe", ""),
    ("#if __CUDA_ARCH__ == 1200\n__global__ void k() {}\n#endif\n", "unsafe", "gemm.cu:1 compiles code for sm_120a"),
    ("#ifdef __CUDA_ARCH_FEAT_SM120_ALL\n__global__ void k() {}\n#endif\n", "unsafe", "gemm.cu:1 compiles code"),
    ('#include "only.cuh"\n__global__ void k() {}\n', "unsafe", "only.cuh:1 compiles code for sm_120a"),
    ('#include "cutlass/cutlass.h"\n__global__ void k() {}\n', "unsafe", "cutlass/cutlass.h is not in this tree"),
    ('#include "gone.cuh"\n__global__ void k() {}\n', "unsafe", "gone.cuh is not in this tree"),
]


@pytest.mark.parametrize(("kernel", "applicability", "reason"), KERNELS)
def test_what_is_behind_a_list(mend: Mend, kernel: str, applicability: str, reason: str) -> None:
    only = "#if __CUDA_ARCH__ == 1200\n__device__ int f();\n#endif\n"
    found = mend(PAIR, others={"csrc/gemm.cu": kernel, "csrc/only.cuh": only})
    assert found.text == PAIR.replace('"12.0a"', '"12.0a;12.1a"')
    assert found.fix.applicability == applicability
    assert reason in found.fix.proof.evidence
    assert "CMakeLists.txt:2 compiles the same for sm_120f" in found.fix.proof.evidence


NEWER = """if(CUDA_VERSION VERSION_GREATER_EQUAL 13.0)
  kit_archs_intersection(GEMM_ARCHS "12.0a" "${CUDA_ARCHS}")
else()
  kit_archs_intersection(GEMM_ARCHS "12.0a;12.1a" "${CUDA_ARCHS}")
endif()
set(SRCS "csrc/gemm.cu")
kit_gencode(SRCS "${SRCS}" ARCHS "${GEMM_ARCHS}")
"""
SPARSE = '__global__ void k() {{\n  asm volatile("{}" : : );\n}}\n'.format(
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X"
    ".f32.e2m1.e2m1.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, %16, 0x0, "
    "%17, {%18,%19}, %20, {%21,%22};"
)
LARGE = "__global__ void k() {\n  __shared__ char tile[60000];\n}\n"
EXACT = [
    ("__global__ void k() {}\n", "12.0f", "safe"),
    ("#ifdef __CUDA_ARCH_FEAT_SM120_ALL\n__global__ void k() {}\n#endif\n", "12.0a;12.1a", "unsafe"),
    (
        "#if defined(__CUDA_ARCH_FEAT_SM120_ALL) || defined(__CUDA_ARCH_FEAT_SM121_ALL)\nint k;\n#endif\n",
        "12.0a;12.1a",
        "safe",
    ),
    ("#if __CUDA_ARCH_SPECIFIC__ == 1200 || __CUDA_ARCH_SPECIFIC__ == 1210\nint k;\n#endif\n", "12.0a;12.1a", "safe"),
    (SPARSE, "12.0a;12.1a", "safe"),
    (LARGE, "12.0a;12.1a", "safe"),
]


@pytest.mark.parametrize(("kernel", "written", "applicability"), EXACT)
def test_family_where_nothing_needs_the_exact_target(mend: Mend, kernel: str, written: str, applicability: str) -> None:
    found = mend(NEWER, others={"csrc/gemm.cu": kernel})
    assert found.text == NEWER.replace('"12.0a"', f'"{written}"')
    assert found.fix.applicability == applicability, found.fix.proof


GROWN = [
    # a list for any toolkit, and one for toolkits that know it
    ("build.sh", 'TORCH_CUDA_ARCH_LIST="8.0 9.0 10.0"', 'TORCH_CUDA_ARCH_LIST="8.0 9.0 10.0 12.0"'),
    ("k.hcl", 'variable "TORCH_CUDA_ARCH_LIST" {\n  default = "8.0;9.0"\n}\n', None),
    ("Dockerfile", "FROM nvidia/cuda:12.8.1-devel\nENV TORCH_CUDA_ARCH_LIST='8.0 8.6 8.9 9.0'\n", None),
    ("Makefile", "F = -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90\n", None),
    ("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90-real)\n", None),
    # one whose others all have a suffix, for toolkits that know the family's
    (
        "build.sh",
        'if [ "$CUDA_MAJOR" -ge 13 ]; then\n  TORCH_CUDA_ARCH_LIST="8.0 8.6 8.9 9.0a 10.0f"\nfi\nX_ARCH_LIST="12.0f"\n',
        None,
    ),
]


@pytest.mark.parametrize(("name", "before", "after"), GROWN)
def test_a_target_for_those_who_have_none(mend: Mend, name: str, before: str, after: str | None) -> None:
    found = mend(before, name)
    assert after is None or found.text == after
    assert found.fix.applicability == "unsafe"
    assert found.fix.title.startswith("Build for 12.x: add `")
    assert "120a" not in found.text
    assert "12.0a" not in found.text
    assert all(not finding.fix for finding in mend(found.text, name).findings)


STEPS = """if(CUDA_VERSION VERSION_GREATER_EQUAL "11.1")
  list(APPEND CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real)
endif()
if(CUDA_VERSION VERSION_GREATER_EQUAL "11.8")
  list(APPEND CMAKE_CUDA_ARCHITECTURES 90-real)
endif()
"""
STEP = """if(CUDA_VERSION VERSION_GREATER_EQUAL "12.8")
  list(APPEND CMAKE_CUDA_ARCHITECTURES 120-real)
endif()
"""
FLAGGED = """from torch.utils.cpp_extension import CUDAExtension

flags = ["-gencode", "arch=compute_80,code=sm_80"]
if cuda_version >= {0}:
    flags.append("-gencode")
    flags.append("arch=compute_90,code=sm_90")
{1}CUDAExtension("kit", ["kit.cu"], extra_compile_args=flags)
"""
FLAG = """if cuda_version >= {0}:
    flags.append("-gencode")
    flags.append("arch=compute_120,code=sm_120")
"""
RELEASES = [('Version("11.8")', 'Version("12.8")'), ("(11, 8)", "(12, 8)"), ("1108", "1208"), ("11080", "12080")]


def test_a_step_more_of_a_ladder(mend: Mend) -> None:
    found = mend(STEPS)
    assert found.text == STEPS + STEP
    assert found.fix.applicability == "unsafe"
    assert found.fix.title == "Build for 12.x from CUDA 12.8 on: add `120-real`"
    assert mend(found.text).findings == ()


@pytest.mark.parametrize(("low", "first"), RELEASES)
def test_flags_of_a_later_release(mend: Mend, low: str, first: str) -> None:
    found = mend(FLAGGED.format(low, ""), "setup.py", {"kit.cu": "__global__ void k() {}\n"})
    assert found.text == FLAGGED.format(low, FLAG.format(first))
    assert mend(found.text, "setup.py", {"kit.cu": "__global__ void k() {}\n"}).findings == ()


MOVED = """if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND CMAKE_CUDA_ARCHITECTURES 100 120{})
endif()
if(CUDA_VERSION VERSION_GREATER_EQUAL 12.9)
  list(APPEND CMAKE_CUDA_ARCHITECTURES 103{})
endif()
"""


def test_a_target_goes_to_the_step_whose_toolkit_knows_it(mend: Mend) -> None:
    found = mend(MOVED.format(" 121", ""))
    assert found.text == MOVED.format("", " 121")
    assert found.fix.applicability == "safe"
    assert mend(found.text).findings == ()


def test_a_target_gets_a_branch_of_its_own(mend: Mend) -> None:
    text = 'if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)\n  set(X_ARCHS "100;120{}")\nendif()\n'
    found = mend(text.format(";121"))
    assert found.text == text.format(";121").replace("12.8", "12.9").replace("endif()\n", "else") + text.format("")
    assert found.fix.applicability == "unsafe"
    assert mend(found.text).findings == ()


WORKFLOW = """jobs:
  build:
    strategy:
      matrix:
        cuda: ["12.8", "12.9", "13.0"]
    env:
      KIT_ARCH_LIST: ${{{{ {} }}}}
"""


def test_an_expression_of_a_workflow(mend: Mend) -> None:
    before = "matrix.cuda < '13.0' && '9.0a 12.0a' || '9.0a 12.0f'"
    after = "matrix.cuda < '12.9' && '9.0a 12.0a' || matrix.cuda < '13.0' && '9.0a 12.0f' || '9.0a 12.0f'"
    found = mend(WORKFLOW.format(before), "w.yml")
    assert found.text == WORKFLOW.format(after)
    assert found.fix.applicability == "unsafe"
    assert mend(found.text, "w.yml").findings == ()


def test_the_rest_of_a_matrix_is_for_its_other_releases(mend: Mend) -> None:
    before = "matrix.cuda == '12.8' && '9.0a 12.0a' || '9.0a 10.3a 12.0a'"
    found = mend(WORKFLOW.format(before), "w.yml")
    assert found.text == WORKFLOW.format(before.replace("10.3a 12.0a", "10.3a 12.0f"))


def test_a_row_is_for_its_release(mend: Mend) -> None:
    row = "          - {arch_list: '9.0 12.0a', cuda: '%s'}\n"
    text = "jobs:\n  build:\n    strategy:\n      matrix:\n        include:\n" + row
    assert mend(text % "12.8", "w.yml").findings == ()
    assert mend(text % "13.0", "w.yml").text == (text % "13.0").replace("12.0a", "12.0f")


def test_a_condition_gets_the_names_of_its_siblings(mend: Mend) -> None:
    text = 'if(KIT_ARCHS MATCHES "{}")\n  kit_test(gemm_sm120.cu)\nendif()\n'
    found = mend(text.format("120a"), "test/a/CMakeLists.txt", {"test/b/CMakeLists.txt": text.format("120a|120f|121a")})
    assert found.text == text.format("120a|120f|121a")


REFUSED = [
    # one call for each flag
    ("setup.py", 'flags.append("-gencode=arch=compute_121a,code=sm_121a")', "bwlint has no rewrite"),
    # a toolkit that has nothing native for 12.1, in a branch that does more
    ("CMakeLists.txt", CUDA128.format("set(GEMM_ARCHS 90a 120a)\n  kit()"), "CUDA 12.8"),
    ("CMakeLists.txt", CUDA128.format("kit()\n  list(APPEND KIT_SUPPORTED_ARCHS 90a 120a)"), "plain 120 loads there"),
    # plain ones load on both
    (
        "CMakeLists.txt",
        "set(KIT_SUPPORTED_ARCHS 80 90 120)",
        "needed only by builds that ask for 12.1 by name: a plain build for 12.0 runs there too",
    ),
    # nobody knows what was meant
    ("CMakeLists.txt", 'set_target_properties(k PROPERTIES CUDA_ARCHITECTURES "120-real;120f-real")', "plain target"),
    ("CMakeLists.txt", "set(GEMM_CUDA_ARCHITECTURES 90f)", "which target was meant"),
    ("CMakeLists.txt", CUDA128.format("set(X_ARCHS 120 121)\n  kit()"), "that does not know sm_121 is your choice"),
    ("build.sh", "nvcc -gencode arch=compute_120a,code=sm_121a k.cu", "which of the two"),
    # releases that do not know what would be added, or written
    ("build.sh", '[ "$CUDA" = 12.6 ] && X=1\nTORCH_CUDA_ARCH_LIST="8.0 9.0 10.0"', "does not know sm_120:"),
    ("build.sh", 'pip install torch+cu128\nKIT_CUDA_ARCH_LIST="9.0a 12.0a"\n', "CUDA 12.8, which this is for too"),
    (
        "build.sh",
        '# 12.0 is excluded: the wheel would be too large\nTORCH_CUDA_ARCH_LIST="8.0 9.0 10.0"',
        "left out knowingly",
    ),
    (
        "run.py",
        '# natively, not as an sm_120f fallback\nT = 1\n\nk = dsl.compile(f, GPUArch("sm_120a"))\n',
        "speaks against",
    ),
    # comments that say so
    ("CMakeLists.txt", "# exactly this part\nset(KIT_SUPPORTED_ARCHS 90a 120a)", "comment"),
    ("CMakeLists.txt", "set(KIT_SUPPORTED_ARCHS 90a 120a) # not for SM121", "comment"),
    ("CMakeLists.txt", "# only sm_120a\nset(KIT_SUPPORTED_ARCHS 120a)", "comment"),
    # spellings that are left to a person
    ("build.sh", "export TORCH_CUDA_ARCH_LIST=12.0a", "bwlint has no rewrite"),
    ("tests/CMakeLists.txt", 'if(KIT_ARCHS MATCHES "12\\\\.(0a|0f)")\nkit(k.cu)\nendif()', "which suffixes"),
    ("tests/CMakeLists.txt", 'if(NOT "120a" IN_LIST KIT_ARCHS)\nreturn()\nendif()', "bwlint has no rewrite"),
    ("tests/CMakeLists.txt", "set(R 120a)\nif(KIT_ARCHS MATCHES ${R})\nkit(k.cu)\nendif()", "which suffixes"),
]


@pytest.mark.parametrize(("name", "text", "reason"), REFUSED)
def test_refused(mend: Mend, name: str, text: str, reason: str) -> None:
    assert reason in mend(text, name).refused


SILENT = [
    "set(KIT_SUPPORTED_ARCHS 90a 120a 121a)",
    "set(KIT_SUPPORTED_ARCHS 90a 120f)\nlist(APPEND KIT_SUPPORTED_ARCHS 121f)",
    "set(KIT_SUPPORTED_ARCHS 90a 100a 103a)",
    "set(KIT_SUPPORTED_ARCHS 100a 100f 103a)",
    KERNEL.format("12.0f"),
    KERNEL.format("12.0a;12.1a"),
    KERNEL.format("9.0a;10.0f"),
    "if(KIT_ARCHS MATCHES 100a)\nkit(k.cu)\nendif()",
    'if(KIT_ARCHS MATCHES "120a|120f|121a")\nkit(k.cu)\nendif()',
    "if(CUDA_VERSION VERSION_LESS 12.9)\n  set(KIT_SUPPORTED_ARCHS 90a 120a)\nendif()",
]


@pytest.mark.parametrize("text", SILENT)
def test_silent(mend: Mend, text: str) -> None:
    assert mend(text).findings == ()


LIST = "set(CMAKE_CUDA_ARCHITECTURES 120a)\nadd_library(kit SHARED csrc/gemm.cu)\n"
IMAGE = "FROM nvidia/cuda:{}-devel-ubuntu22.04\nRUN pip install .\n"
CONTAINER = "jobs:\n  build:\n    container: vendor/torch:2.8-cuda12.8\n"
STANDS_AGAINST = [
    ("docker/Dockerfile.ci", IMAGE.format("12.8.1"), "CUDA 12.8, which docker/Dockerfile.ci:1 names"),
    (".github/workflows/ci.yml", CONTAINER, "CUDA 12.8, which .github/workflows/ci.yml:3 names"),
    (".github/workflows/ci.yml", "matrix:\n  cuda: [12.8.1, 13.0.0]\n", "ci.yml:2"),
    ("README.md", "Builds with CUDA 12.8 or newer.\n", "CUDA 12.8, which README.md:1 names"),
]


@pytest.mark.parametrize(("name", "text", "reason"), STANDS_AGAINST)
def test_what_the_tree_compiles_with_stands_against_a_target(mend: Mend, name: str, text: str, reason: str) -> None:
    refused = mend('KIT_CUDA_ARCH_LIST="9.0a 12.0a"\n', "build.sh", {name: text}).refused
    assert reason in refused
    assert "does not know sm_120f: write it in a branch of its own for newer toolkits" in refused


def test_a_compiler_at_run_time_brings_its_own_toolkit(mend: Mend) -> None:
    text = 'import cutlass.cute as cute\n\nbuilt = cute.compile(kernel, options=(cute.GPUArch("sm_120a"),))\n'
    others = {"Dockerfile": IMAGE.format("12.8.1"), "README.md": "Builds with CUDA 12.8 or newer.\n"}
    assert 'GPUArch("sm_120f")' in mend(text, "attention.py", others).text


DOES_NOT_STAND_AGAINST = [
    {},
    {"Dockerfile": IMAGE.format("12.9.1")},
    {"Dockerfile": IMAGE.format("12.4.1")},  # does not know what is listed today either
    {"Dockerfile": "# FROM nvidia/cuda:12.8.1\nFROM nvidia/cuda:13.0.1\n"},
    {"README.md": "Runs on 12.8 million parameters.\n"},
    {"docs/notes.txt": "CUDA 12.8\n"},
]


@pytest.mark.parametrize("others", DOES_NOT_STAND_AGAINST)
def test_what_says_nothing_of_the_toolkit(mend: Mend, others: dict[str, str]) -> None:
    assert mend('KIT_CUDA_ARCH_LIST="9.0a 12.0a"\n', "build.sh", others).text == 'KIT_CUDA_ARCH_LIST="9.0a 12.0f"\n'


@pytest.mark.parametrize(
    ("kernel", "written"), [("__global__ void k() {}\n", "120"), (SPARSE, None), ('#include "gone.cuh"\n', None)]
)
def test_a_plain_target_for_an_older_toolkit(mend: Mend, kernel: str, written: str | None) -> None:
    found = mend(LIST, others={"csrc/gemm.cu": kernel, "Dockerfile": IMAGE.format("12.8.1")})
    if written is None:
        assert "Dockerfile:1" in found.refused
    else:
        assert found.text == LIST.replace("120a", written)
