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
        # not a list of targets
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


@pytest.mark.parametrize(
    ("condition", "toolkit"),
    [
        ('[[ "$CUDA_VERSION" == 12.[8-9]* ]]', ("12.8", "13.0")),
        ('[[ "${CUDA_VERSION}" == 11.* ]]', ("", "12.0")),
        ('[ "$CUDA_STREAM" = "cu129" ]', ("12.9", "13.0")),
        ('[ "$CUDA_MAJOR" -ge 13 ]', ("13.0", "")),
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
    # 12.9 without X comes to the last branch; bounds cannot say that 12.8 does not.
    assert [each.toolkit for each in carries("a.sh", source)] == [("12.8", "12.9"), ("12.9", "13.0"), ("", "")]


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
