"""The grammar of torch's own list: it has 12.0a and 12.1a, and refuses 12.0f."""

from __future__ import annotations

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
        ("build.sh", 'export TORCH_CUDA_ARCH_LIST="9.0a;12.0a"\n', "Add 12.1a."),
        ("build.sh", 'export TORCH_CUDA_ARCH_LIST="8.0;9.0"\n', "Add 12.0 (loads on 12.x), or 12.0a and 12.1a where"),
        ("build.sh", 'export KIT_CUDA_ARCHS="9.0a;12.0a"\n', "Write 12.0f (CUDA 12.9 or newer), or add 12.1a"),
        (
            "Dockerfile",
            f'{DOCKER}ARG cards_archs="8.0 12.0a"\nENV TORCH_CUDA_ARCH_LIST=${{cards_archs}}\n',
            "Add 12.1a.",
        ),
        ("Dockerfile", f'{DOCKER}ARG torch_cuda_arch_list="8.0 12.0a"\n', "Add 12.1a."),
        (".github/workflows/wheels.yml", HANDED, "Add 12.1a."),
        ("build.sh", 'KIT_ARCHS="8.0 12.0a"\ncmake -DKIT_ARCH_LIST="$KIT_ARCHS"\n', "Write 12.0f (CUDA 12.9"),
        ("setup.py", "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '9.0a;12.0a'\n", "Add 12.1a."),
        ("build.sh", 'export TORCH_CUDA_ARCH_LIST="9.0a 10.0a 12.0"\n', "Write 12.0a and 12.1a if the kernels"),
    ],
)
def test_what_torch_is_told(tmp_path: Path, name: str, text: str, advice: str) -> None:
    (found,) = drafts(tmp_path, {name: text}, "arch-target")
    assert found.advice.startswith(advice)


def test_a_list_of_another_reader(tmp_path: Path) -> None:
    """Who writes an f in the variable has a parser of his own."""
    text = 'case "$ARCH" in\n1) TORCH_CUDA_ARCH_LIST="8.0 12.0f" ;;\n2) TORCH_CUDA_ARCH_LIST="8.0 12.0a" ;;\nesac\n'
    (found,) = drafts(tmp_path, {"build.sh": text}, "arch-target")
    assert found.advice.startswith("Write 12.0f (CUDA 12.9 or newer), or add 12.1a")
