"""Shell, Dockerfiles, workflows, JSON, TOML, HCL, makefiles: lists and flags in every spelling."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.model.facts import Carry

Carries = Callable[[str, str], tuple[Carry, ...]]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.sh", 'export TORCH_CUDA_ARCH_LIST="8.0 9.0a"', "80 90a"),
        ("a.sh", "export TORCH_CUDA_ARCH_LIST='8.0;9.0a'", "80 90a"),
        ("a.sh", "TORCH_CUDA_ARCH_LIST=9.0a+PTX pip install .", "90a"),
        ("a.sh", 'X_ARCH_LIST="${X_ARCH_LIST:-10.0a}" python', "100a"),
        ("a.sh", "docker build --build-arg torch_cuda_arch_list='9.0 10.0' .", "90 100"),
        ("a.sh", 'cmake -DCMAKE_CUDA_ARCHITECTURES="80;120a" ..', "80 120a"),
        ("Dockerfile", "ARG arch_list='9.0 12.0'", "90 120"),
        ("Dockerfile", "ENV TORCH_CUDA_ARCH_LIST=8.0", "80"),
        ("Makefile", "CUDA_ARCHS ?= 80 90", "80 90"),
        ("Makefile", "CUDA_ARCHS := 80 90 # all", "80 90"),
        ("a.yml", "  TORCH_CUDA_ARCH_LIST: 8.0 9.0+PTX", "80 90"),
        ("a.yml", '  cuda_arch_list: ["8.0", "12.0a"]', "80 120a"),
        ("a.json", '{"x86_64_arch_list": "7.5 12.0f", "n": 1}', "75 120f"),
        ("a.json", '{"cuda_archs": [\n "8.0",\n "9.0a"\n]}', "80 90a"),
        ("a.json", '{"TORCH_CUDA_ARCH_LIST": {\n "default": "8.0 9.0"\n}}', "80 90"),
        ("a.hcl", 'variable "TORCH_CUDA_ARCH_LIST" {\n  default = "8.0 9.0"\n}', "80 90"),
        ("a.toml", 'cuda-architectures = ["80", "90a"]', "80 90a"),
        ("a.sh", "nvcc -arch=sm_90a x.cu", "90a"),
        ("a.yml", 'run: "nvcc -gencode arch=compute_90,code=sm_90 x.cu"', "90"),
        # what is handed on to a list, whatever it is called
        ("a.sh", 'TAGS="75;80;90"\ncmake -DCMAKE_CUDA_ARCHITECTURES="${TAGS}" .', "75 80 90"),
        ("a.sh", 'tags=(80 90a 120a)\nfor t in "${tags[@]}"; do F+=" code=sm_$t"; done', "80 90a 120a"),
        ("a.sh", 'for t in 80 90a 120a; do F+=" -gencode arch=compute_${t},code=sm_${t}"; done', "80 90a 120a"),
        ("Makefile", "TAGS ?= 75 80 90\nFLAGS := $(foreach t,$(TAGS),code=sm_$(TAGS))", "75 80 90"),
        ("a.sh", 'build_capability="75;80;90"', "75 80 90"),
        ("a.sh", 'python3 - <<\'E\'\narches = ["8.0", "9.0a"]\nif new:\n  pass\nE', "80 90a"),
        # not a list of targets
        ("a.sh", 'TAGS="75;80;90"', ""),
        ("a.sh", "for t in 80 90 100; do sleep $t; done", ""),
        ("a.sh", 'capability="9.0"', ""),
        ("a.sh", 'capability="90;80;75"', ""),
        ("a.yml", "minimum_capability: 9.0", ""),
        ("a.sh", "# TORCH_CUDA_ARCH_LIST=8.0", ""),
        ("a.sh", "ARCH_LIST=$OTHER", ""),
        ("a.sh", 'ARCH_LIST="$OTHER 10.3a"', ""),
        ("a.yml", "archs: x86_64 aarch64", ""),
        ("a.yml", "archs: [80, 90]", ""),
        ("a.json", '{"searches": "80 90", "monarchs": "80 90"}', ""),
        ("a.json", '{"archs": {"a": 1}}', ""),
        ("a.sh", "tar --archive 8.0", ""),
        ("a.toml", 'architectures = ["x86", "arm"]', ""),
    ],
)
def test_lists(carries: Carries, name: str, source: str, expected: str) -> None:
    assert [" ".join(each.sass) for each in carries(name, source)] == ([expected] if expected else [])


_NAME = "TORCH_CUDA_ARCH_LIST"


@pytest.mark.parametrize(
    ("name", "source", "written"),
    [
        ("Dockerfile", f"ENV {_NAME} 8.0 12.0a\n", "8.0 12.0a"),
        ("Dockerfile", f'ENV {_NAME} "8.0 12.0a"\n', "8.0 12.0a"),
        ("a.dockerfile", f"env {_NAME} \\\n  8.0 12.0a\n", "8.0 12.0a"),
        ("Dockerfile", f'ENV A=1 {_NAME}="8.0 12.0a" B=2\n', "8.0 12.0a"),
        ("Dockerfile", f"ENV {_NAME}=8.0\\ 12.0a B=2\n", "8.0\\ 12.0a"),
        ("Dockerfile", f'ENV A=1 \\\n {_NAME}="8.0 12.0a" \\\n B=2\n', "8.0 12.0a"),
        ("Dockerfile", f'ENV {_NAME}="8.0 \\\n 12.0a"\n', "8.0 \\\n 12.0a"),
        ("Dockerfile", f'ENV {_NAME}="8.0 \\ \r\n# why\r\n\r\n 12.0a"\r\n', "8.0 \\ \r\n# why\r\n\r\n 12.0a"),
        ("Dockerfile", f'RUN export \\\n {_NAME}=\\\n"8.0 12.0a"\n', "8.0 12.0a"),
        ("Dockerfile", f'ARG A\nENV {_NAME}=${{A:-"8.0 12.0a"}}\n', "8.0 12.0a"),
        ("Dockerfile", f'RUN <<EOF\nexport {_NAME}="8.0 12.0a"\nEOF\n', "8.0 12.0a"),
        ("Dockerfile", f'RUN ["env", "{_NAME}=8.0 12.0a", "pip"]\n', "8.0 12.0a"),
        ("Dockerfile", f'RUN echo "{_NAME}=8.0 12.0a" >> /etc/environment\n', "8.0 12.0a"),
        ("a.sh", f'docker build --build-arg "{_NAME}=8.0 12.0a" .\n', "8.0 12.0a"),
        ("a.sh", f"docker build --build-arg='{_NAME}=8.0 12.0a' .\n", "8.0 12.0a"),
        ("a.sh", f'bash -c "{_NAME}=8.0 pip install ."\n', "8.0"),
        ("a.sh", f'{_NAME}="8.0 \\\n  12.0a" pip install .\n', "8.0 \\\n  12.0a"),
        ("a.sh", f'true # set it: \\\nexport {_NAME}="8.0 12.0a"\n', "8.0 12.0a"),
        ("a.sh", f'case "$M" in\n x) {_NAME}="8.0 \\\n 12.0a" ;;\nesac\n', "8.0 \\\n 12.0a"),
        ("Dockerfile", f'# escape=`\nENV A=1 `\n {_NAME}="8.0 `\n 12.0a"\n', "8.0 `\n 12.0a"),
        ("Dockerfile", f"# syntax=docker/dockerfile:1\n#Escape = `\nENV {_NAME} `\n  8.0 12.0a\n", "8.0 12.0a"),
        ("Dockerfile", f"# escape=`\nENV A C:\\\nENV {_NAME} 8.0 12.0a\n", "8.0 12.0a"),
        ("Dockerfile", f"# why\n# escape=`\nENV {_NAME} \\\n  8.0 12.0a\n", "8.0 12.0a"),  # a comment ends directives
        ("Dockerfile", f'ENV A=1 \\\n# {_NAME}="8.0 12.0a"\n B=2\n', ""),
        ("Dockerfile", f"ENV {_NAME} $A\nENV B 8.0 12.0a\n", ""),
        ("Dockerfile", f"LABEL about {_NAME} 8.0 12.0a\n", ""),
        ("a.sh", f"ENV {_NAME} 8.0 12.0a\n", ""),
        ("a.sh", f'A="\n{_NAME}=" 8.0 12.0a\n', ""),
    ],
)
def test_continued_lines_and_forms_of_dockerfiles(carries: Carries, name: str, source: str, written: str) -> None:
    found = carries(name, source)
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    ats = [one.at for one in found]
    stretches = [source[starts[at[0] - 1] + at[1] : starts[at[2] - 1] + at[3]] for at in ats]
    assert stretches == ([written] if written else [])
    assert [one.sass for one in found if "12.0a" in written] == ([("80", "120a")] if "12.0a" in written else [])


def test_a_continued_line_keeps_its_branches(carries: Carries) -> None:
    source = 'RUN if [ "$CUDA_VERSION" = 12.8 ]; then \\\n  export X_ARCH_LIST="8.0 \\\n  9.0a"; \\\n fi\n'
    assert [one.toolkit for one in carries("Dockerfile", source)] == [("12.8", "12.9")]


@pytest.mark.parametrize(
    ("condition", "toolkit"),
    [
        ('[[ "$CUDA_VERSION" == 12.[8-9]* ]]', ("12.8", "13.0")),
        ('[[ "${CUDA_VERSION}" == 11.* ]]', ("", "12.0")),
        ('[ "$CUDA_STREAM" = "cu129" ]', ("12.9", "13.0")),
        ('[ "$CUDA_MAJOR" -ge 13 ]', ("13.0", "")),
        ('[[ $nvcc_version_of_cuda == *"V13"* ]]', ("13.0", "")),
        ('[[ $cuda == *"V12.9"* ]] ||\n   [[ $cuda == *"V12.8"* ]]', ("12.8", "13.0")),
        ('[ "$cuda_version" -lt 129 ]', ("", "12.9")),
        ('[[ "$CUDA_VERSION" < "12.9" && -n "$X" ]]', ("", "12.9")),
        ('[ -n "$CUDA_HOME" ]', ("", "")),
        ('[ "$CUDA_ARCH" = "x86" ]', ("", "")),
        ('[ "$OS" = 12.8 ]', ("", "")),
    ],
)
def test_toolkits_of_shell(carries: Carries, condition: str, toolkit: tuple[str, str]) -> None:
    source = f'if {condition}; then\n  X_ARCH_LIST="9.0a"\nfi\nX_ARCH_LIST="8.0"\n'
    assert [each.toolkit for each in carries("a.sh", source)] == [toolkit, ("", "")]


def test_the_other_branches(carries: Carries) -> None:
    source = (
        'if [ "$CUDA_VERSION" = 12.8 ]; then\n A_ARCH_LIST="9.0a"\n'
        'elif [[ "$CUDA_VERSION" == 12.9* && $X ]]; then\n A_ARCH_LIST="9.0a"\nelse\n A_ARCH_LIST="9.0a"\nfi'
    )
    # 12.9 without X comes to the last branch, and 12.8 never does.
    assert [each.toolkit for each in carries("a.sh", source)] == [
        ("12.8", "12.9"),
        ("12.9", "13.0"),
        ("", "12.8"),
        ("12.9", ""),
    ]


def test_workflow_expressions(carries: Carries) -> None:
    source = (
        "A_ARCH_LIST: ${{ m.cuda < '12.9' && '9.0a' || m.cuda < '13.0' && '10.0a' || (m.x == 'y' && '8.0' || '8.9') }}"
    )
    assert [(each.sass, each.toolkit) for each in carries("a.yml", source)] == [
        (("90a",), ("", "12.9")),
        (("100a",), ("12.9", "13.0")),
        (("80",), ("13.0", "")),
        (("89",), ("13.0", "")),
    ]


def test_spans_are_bytes(carries: Carries) -> None:
    (found,) = carries("a.sh", 'é\nX="é"; A_ARCH_LIST="8.0 9.0a"\n')
    assert found.at == (2, 21, 2, 29)


def test_what_a_variable_gets_again_is_not_what_it_had(carries: Carries) -> None:
    source = 'ARCH_LIST="8.0"\n[[ "$CUDA_VERSION" == 12.8* || "$CUDA_VERSION" == 12.9* ]] && ARCH_LIST="12.0"\n'
    assert [(each.sass[0], each.toolkit) for each in carries("a.sh", source)] == [
        ("80", ("", "12.8")),
        ("80", ("13.0", "")),
        ("120", ("12.8", "13.0")),
    ]


@pytest.mark.parametrize(
    "second",
    [
        'ARCH_LIST="12.0"',
        '[[ -n "$X" ]] && ARCH_LIST="12.0"',
        '[[ "$CUDA_VERSION" == 12.8* && $X ]] && ARCH_LIST="12.0"',
        '[[ "$MY_CUDA_ARCH_LIST" != "" ]] && ARCH_LIST="12.0"',
    ],
)
def test_what_may_stay_or_was_used_stays(carries: Carries, second: str) -> None:
    assert carries("a.sh", f'ARCH_LIST="8.0"\n{second}')[0].toolkit == ("", "")


@pytest.mark.parametrize(
    ("image", "toolkit"),
    [
        ("FROM nvidia/cuda:12.8.1-devel-ubuntu24.04", ("12.8", "12.9")),
        ("ARG CUDA=12.4.1\nFROM nvidia/cuda:${CUDA}-devel", ("12.4", "12.5")),
        ("ARG CUDA=12.4.1\nARG BASE=nvidia/cuda:${CUDA}-devel\nFROM $BASE AS one\nFROM one", ("12.4", "12.5")),
        ("FROM --platform=linux/arm64 pytorch/manylinux:cuda13.0 AS base", ("13.0", "13.1")),
        ("FROM nvcr.io/nvidia/pytorch:25.04-py3", ("12.9", "13.0")),
        ("FROM kit/app:cu128-torch2.7", ("12.8", "12.9")),
        ("FROM nvcr.io/nvidia/pytorch:19.10-py3", ("", "")),
        ("FROM ubuntu:24.04", ("", "")),
        ("ARG CUDA\nFROM nvidia/cuda:${CUDA}", ("", "")),
    ],
)
def test_the_image_says_which_toolkit(carries: Carries, image: str, toolkit: tuple[str, str]) -> None:
    assert [each.toolkit for each in carries("Dockerfile", f"{image}\nENV TORCH_CUDA_ARCH_LIST=8.0")] == [toolkit]


CASE = """case "$CUDA_VERSION" in
  12.6.1) TORCH_CUDA_ARCH_LIST='9.0' ;;
  12.8.1)
    TORCH_CUDA_ARCH_LIST='9.0;10.0' ;;
  12.9.1|13.0.1) TORCH_CUDA_ARCH_LIST='9.0;10.3' ;;
  *) TORCH_CUDA_ARCH_LIST='8.0' ;;
esac
export TORCH_CUDA_ARCH_LIST='12.0'
"""


def test_the_arms_of_a_case(carries: Carries) -> None:
    found = [(each.sass[-1], each.toolkit) for each in carries("a.sh", CASE)]
    assert found[:3] == [("90", ("12.6", "12.8")), ("100", ("12.8", "12.9")), ("103", ("12.9", "13.1"))]
    assert found[-1] == ("120", ("", ""))


def test_a_case_of_something_else(carries: Carries) -> None:
    source = CASE.replace("CUDA_VERSION", "DISTRO")
    assert {each.toolkit for each in carries("a.sh", source)} == {("", "")}


KERNELS = """
[torch]
src = ["bind.cpp"]
[kernel.hopper]
cuda-capabilities = ["9.0a"]
src = ["hopper.cu", "run.h"]
[kernel.small]
cuda-capabilities = ["8.0"]
src = [
    # "later.cu",
    "ampere.cu",
]
"""


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("build.toml", KERNELS, [("90a", "hopper.cu"), ("80", "ampere.cu")]),
        ("kit/build.toml", KERNELS, [("90a", "hopper.cu"), ("80", "ampere.cu")]),
        # a table without a list is compiled for all: nobody knows what of the others' it has too
        ("build.toml", KERNELS + '[kernel.all]\nsrc = ["a.cu"]\n', [("90a", ""), ("80", "")]),
        ("build.toml", KERNELS + '[kernel.cpu]\nsrc = ["a.cpp"]\n', [("90a", "hopper.cu"), ("80", "ampere.cu")]),
        ("build.toml", KERNELS + '[kernel.open]\ncuda-capabilities = ["8.0"]\nsrc = [\n"a.cu",\n', None),
        ("other.toml", KERNELS, [("90a", "")]),
    ],
)
def test_what_a_table_of_a_kernel_package_compiles(
    carries: Carries, name: str, source: str, expected: list[tuple[str, str]] | None
) -> None:
    found = [(" ".join(one.sass), " ".join(one.sources)) for one in carries(name, source)]
    assert found == expected if expected is not None else found[-1] == ("80", "a.cu")
