"""The grammar of torch's own list: it has 12.0a and 12.1a, and refuses 12.0f."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from analysed import drafts

DOCKER = "FROM nvidia/cuda:12.9.1-devel\n"
HANDED = """name: wheels
jobs:
  wheel:
    strategy:
      matrix:
        include:
          - cards_arch_list: "8.0 12.0a"
    env:
      TORCH_CUDA_ARCH_LIST: ${{ matrix.cards_arch_list }}
"""


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("build.sh", 'export TORCH_CUDA_ARCH_LIST="9.0a;12.0a"\n', "Add 12.1a (CUDA 12.9 or newer)."),
        (
            "build.sh",
            'export TORCH_CUDA_ARCH_LIST="8.0;9.0"\n',
            "Add 12.0 (loads on 12.x), or 12.0a and 12.1a (CUDA 12.9",
        ),
        ("build.sh", 'export KIT_CUDA_ARCHS="9.0a;12.0a"\n', "Write 12.0f, or add 12.1a (CUDA 12.9 or newer)."),
        (
            "Dockerfile",
            f'{DOCKER}ARG cards_archs="8.0 12.0a"\nENV TORCH_CUDA_ARCH_LIST=${{cards_archs}}\n',
            "Add 12.1a.",
        ),
        ("Dockerfile", f'{DOCKER}ARG torch_cuda_arch_list="8.0 12.0a"\n', "Add 12.1a."),
        (".github/workflows/wheels.yml", HANDED, "Add 12.1a (CUDA 12.9 or newer)."),
        (
            "build.sh",
            'KIT_ARCHS="8.0 12.0a"\ncmake -DKIT_ARCH_LIST="$KIT_ARCHS"\n',
            "Write 12.0f, or add 12.1a (CUDA 12.9",
        ),
        (
            "setup.py",
            "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '9.0a;12.0a'\n",
            "Add 12.1a (CUDA 12.9 or newer).",
        ),
        (
            "build.sh",
            'export TORCH_CUDA_ARCH_LIST="9.0a 10.0a 12.0"\n',
            "Write 12.0a and 12.1a (CUDA 12.9 or newer) if the kernels",
        ),
    ],
)
def test_what_torch_is_told(tmp_path: Path, name: str, text: str, advice: str) -> None:
    (found,) = drafts(tmp_path, {name: text}, "arch-target")
    assert found.advice.startswith(advice)


def test_a_list_of_another_reader(tmp_path: Path) -> None:
    """Who writes an f in the variable has a parser of his own."""
    text = 'case "$ARCH" in\n1) TORCH_CUDA_ARCH_LIST="8.0 12.0f" ;;\n2) TORCH_CUDA_ARCH_LIST="8.0 12.0a" ;;\nesac\n'
    (found,) = drafts(tmp_path, {"build.sh": text}, "arch-target")
    assert found.advice.startswith("Write 12.0f, or add 12.1a (CUDA 12.9 or newer).")


IMAGE = "FROM nvidia/cuda:{}-devel-ubuntu24.04\nENV TORCH_CUDA_ARCH_LIST='{}'\n"
FLAGS = "A = -gencode arch=compute_{0},code=sm_{0}\nk.o: k.cu\n\tnvcc $(A) -c k.cu\n"


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        (
            "Dockerfile",
            IMAGE.format("12.8.1", "9.0a 12.1a"),
            "Move 121a to a branch for CUDA 12.9 or newer, or build with",
        ),
        (
            "Dockerfile",
            IMAGE.format("12.6.3", "9.0 12.0"),
            "Move 120 to a branch for CUDA 12.8 or newer, or build with",
        ),
        ("Dockerfile", IMAGE.format("12.9.1", "9.0a 12.0a"), "Add 12.1a."),
        ("Dockerfile", IMAGE.format("13.0.0", "9.0a 12.1a"), "Add 12.0a."),
        ("Makefile", FLAGS.format("120a"), "Write 120f, or add 121a (CUDA 12.9 or newer)."),
        ("Makefile", FLAGS.format("121a"), "Add 120a."),
    ],
)
def test_an_advice_says_which_toolkit_knows_it(tmp_path: Path, name: str, text: str, advice: str) -> None:
    found = [one for one in drafts(tmp_path, {name: text}, "arch-target") if one.rule.name == "arch-target"]
    assert [one.advice.startswith(advice) for one in found] == [True], [one.advice for one in found]


@pytest.mark.parametrize(
    ("test", "told"), [("ifeq ($(CUDA_VERSION),12.8)", []), ("ifneq ($(CUDA_VERSION),12.8)", ["12.8"])]
)
def test_all_but_one_release_are_no_older_ones(tmp_path: Path, test: str, told: list[str]) -> None:
    lists = f"{test}\nARCHS = 90a 120\nelse\nARCHS = 90a 120f\nendif\n"
    flags = "GENCODE = $(foreach a,$(ARCHS),-gencode arch=compute_$(a),code=sm_$(a))\n"
    text = f"CUDA_VERSION ?= 13.0\n{lists}{flags}k.o: k.cu\n\tnvcc $(GENCODE) -c k.cu\n"
    messages = [one.message for one in drafts(tmp_path, {"Makefile": text}, "arch-target")]
    assert re.findall(r"also runs with CUDA ([\d.]+),", " ".join(messages)) == told
