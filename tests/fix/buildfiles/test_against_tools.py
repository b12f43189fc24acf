"""What the proofs of fixes say, asked of nvcc and of CMake: the edited flags build just that, and the edited conditions
and lists let in just that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from processes import cmake_prints
from toolkit import Toolkit

from bwlint.chips import NONE, Target
from bwlint.chips.flags import find_flags
from bwlint.readers.buildfiles.targets import parse_list

from .conftest import Mend

SCALE = "__global__ void scale(float *p) { p[threadIdx.x] *= 2; }\n"
IMAGE = re.compile(r"\.(sm_[0-9]+[af]?)\.cubin")


Build = Callable[..., tuple[str, ...]]


@pytest.fixture(scope="module")
def built(nvcc: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The chips that load what nvcc makes with some options, as cuobjdump lists it."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "scale.cu").write_text(SCALE)

    @cache
    def run(*options: str) -> tuple[str, ...]:
        nvcc.run("nvcc", "-fatbin", *options, "scale.cu", "-o", "scale.fatbin", folder=folder)
        found = NONE
        for name in IMAGE.findall(nvcc.run("cuobjdump", "-lelf", "scale.fatbin", folder=folder)):
            found |= Target.parse(name).loads_on()
        return found.names

    return run


def flags(text: str) -> list[str]:
    """The flags of a text as options of nvcc."""
    return [
        part
        for flag in find_flags(text)
        for name in flag.sass
        for part in ("-gencode", f"arch=compute_{flag.arch},code=sm_{name}")
    ]


FLAGS = [
    ("build.sh", "nvcc -gencode arch=compute_120a,code=sm_120a kit.cu\n"),
    ("build.sh", "nvcc -gencode arch=compute_90a,code=sm_90a -gencode=arch=compute_120a,code=sm_120a kit.cu\n"),
    ("build.sh", "nvcc -gencode arch=compute_121a,code=sm_121a kit.cu\n"),
    ("setup.py", 'flags = ["-O3", "-gencode", "arch=compute_120a,code=sm_120a"]\n'),
    ("setup.py", 'flags = ["-gencode=arch=compute_121a,code=sm_121a", "-O3"]\n'),
    ("CMakeLists.txt", 'set(FLAGS "-gencode=arch=compute_120a,code=sm_120a")\n'),
    ("CMakeLists.txt", 'target_compile_options(k PRIVATE "-gencode=arch=compute_121a,code=sm_121a")\n'),
]


@pytest.mark.parametrize(("name", "text"), FLAGS)
def test_flags_build_what_the_proof_says(mend: Mend, built: Build, name: str, text: str) -> None:
    found = mend(text, name)
    assert built(*flags(text)) != built(*flags(found.text))
    assert {"12.0", "12.1"} <= set(found.fix.proof.after_must) <= set(built(*flags(found.text)))


LISTS = [
    'TORCH_CUDA_ARCH_LIST="9.0a 12.0a"',
    'KIT_CUDA_ARCH_LIST="9.0a 10.0f 12.0a"',
    'KIT_CUDA_ARCH_LIST="12.1a;9.0a"',
]


@pytest.mark.parametrize("text", LISTS)
def test_lists_build_what_the_proof_says(mend: Mend, built: Build, text: str) -> None:
    found = mend(text + "\n", "build.sh")
    listed = parse_list(found.text.partition('"')[2].partition('"')[0])
    assert listed is not None
    options = [part for name in listed.sass for part in ("-gencode", f"arch=compute_{name},code=sm_{name}")]
    assert built(*options) == found.fix.proof.after_must


def test_nvcc_refuses_the_mix_that_no_fix_makes(mend: Mend, built: Build) -> None:
    text = "nvcc -gencode arch=compute_120a,code=sm_120a -gencode arch=compute_90a,code=sm_90a k.cu\n"
    mixed = mend(text, "build.sh").text.replace("compute_90a,code=sm_90a", "compute_120,code=sm_120")
    with pytest.raises(OSError, match="family-specific"):
        built(*flags(mixed))


@pytest.mark.parametrize(
    "pattern", ["120a", '"120a"', '"120a|120f"', '"(100a|120a)"', '"^120a$"', '"12[.]0a"', '"12\\\\.0f"']
)
def test_conditions_let_in_what_the_proof_says(mend: Mend, cmake: str, tmp_path: Path, pattern: str) -> None:
    text = f"if(KIT_ARCHS MATCHES {pattern})\n  message(STATUS in)\nelse()\n  message(STATUS out)\nendif()\n"
    found = mend(text, "test/CMakeLists.txt")
    names = ["90a", "100a", "103a", "110", "120", "120a", "120f", "121", "121a", "121f"]
    names = [re.sub(r"([0-9])([af]?)$", r".\1\2", name) if "." in pattern else name for name in names]
    before, after = (
        cmake_prints(cmake, tmp_path, "".join(f"set(KIT_ARCHS {name})\n{each}" for name in names))
        for each in (text, found.text)
    )
    gained = {
        Target.parse(name).chip.name for name, one, other in zip(names, before, after, strict=True) if one != other
    }
    assert gained == {"12.1"}
    inside = {Target.parse(name).chip.name for name, word in zip(names, after, strict=True) if word == "in"}
    assert inside == set(found.fix.proof.after_must) & {Target.parse(name).chip.name for name in names}


LADDER = """set(KIT_SUPPORTED_ARCHS 90a)
if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
  list(APPEND KIT_SUPPORTED_ARCHS 100a 120a)
endif()
if(CUDA_VERSION VERSION_GREATER_EQUAL 12.9)
  list(APPEND KIT_SUPPORTED_ARCHS 100f 120f)
endif()
"""


def test_lists_hold_what_the_proof_says_under_each_toolkit(mend: Mend, cmake: str, tmp_path: Path) -> None:
    found = mend(LADDER)
    script = "".join(
        f'set(CUDA_VERSION {release})\n{found.text}message(STATUS "${{KIT_SUPPORTED_ARCHS}}")\n'
        for release in ("12.6", "12.8", "12.9", "13.0")
    )
    assert cmake_prints(cmake, tmp_path, script) == [
        "90a",
        "90a;100a;120a",
        "90a;100a;120a;100f;120f;121a;121f",
        "90a;100a;120a;100f;120f;121a;121f",
    ]
