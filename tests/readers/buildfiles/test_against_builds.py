"""What bwlint believes of builds equals what cmake and make do: which sources are compiled for which targets.

The projects are configured by cmake with its real compiler, and dry-run by make; both print each compilation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from toolkit import Toolkit

from bwlint.chips.flags import find_flags
from bwlint.chips.toolkits import within
from bwlint.readers import reader
from bwlint.world.builds import Builds

Compiled = dict[str, tuple[frozenset[str], frozenset[str]]]
"""For each source the targets of its cubins, and of its PTX."""

_RELEASE = re.compile(r"release (\d+\.\d+)")
_CODE = re.compile(r"arch=compute_\w+,code=\[?([\w,]+)\]?")

CMAKE_PROJECTS: dict[str, dict[str, str]] = {
    "one_list": {
        "CMakeLists.txt": """
set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real 120)
set(SOURCES scale.cu)
list(APPEND SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/norm.cu)
add_library(one_list STATIC ${SOURCES})
add_library(one_plain STATIC)
target_sources(one_plain PRIVATE rope.cu)
""",
    },
    "properties": {
        "CMakeLists.txt": """
set(ARCHS "80;89-real")
set(CMAKE_CUDA_ARCHITECTURES "${ARCHS}")
add_library(p_default OBJECT scale.cu)
add_library(p_own OBJECT fp4.cu norm.cu)
set_target_properties(p_own PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_ARCHITECTURES "120f-real")
add_library(p_off OBJECT rope.cu)
set_property(TARGET p_off PROPERTY CUDA_ARCHITECTURES OFF)
target_compile_options(p_off PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-gencode=arch=compute_90a,code=sm_90a>
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-gencode arch=compute_120a,code=sm_120a>")
""",
    },
    "functions": {
        "CMakeLists.txt": """
function(add_kernels name)
  cmake_parse_arguments(K "SHARED" "ARCHS" "SOURCES" ${ARGN})
  add_library(${name} OBJECT ${K_SOURCES})
  if(K_SHARED)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${K_ARCHS}")
endfunction()
macro(plain_kernels name archs)
  add_library(${name} OBJECT ${ARGN})
  set_property(TARGET ${name} PROPERTY CUDA_ARCHITECTURES ${archs})
endmacro()
add_kernels(f_one SOURCES scale.cu norm.cu ARCHS "80-real;90")
add_kernels(f_two SHARED ARCHS 120a-real SOURCES fp4.cu)
plain_kernels(f_three "90a-real;100f-real" rope.cu gemm.cu)
""",
    },
    "loops": {
        "CMakeLists.txt": """
set(CMAKE_CUDA_ARCHITECTURES OFF)
set(MODELS 80 86 120)
foreach(sm IN LISTS MODELS)
  string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_${sm},code=sm_${sm}")
endforeach()
string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_120,code=compute_120")
add_library(l_all OBJECT scale.cu norm.cu)
""",
    },
    "releases": {
        "CMakeLists.txt": """
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
  set(WANTED 90-real 100f-real 120f-real)
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  set(WANTED 90-real 100a-real 120a-real)
else()
  set(WANTED 90-real)
endif()
add_library(r_all OBJECT scale.cu)
set_target_properties(r_all PROPERTIES CUDA_ARCHITECTURES "${WANTED}")
""",
    },
    "folders": {
        "CMakeLists.txt": """
set(CMAKE_CUDA_ARCHITECTURES 90 120-real)
add_subdirectory(csrc)
add_subdirectory(fp4)
""",
        "csrc/CMakeLists.txt": "add_library(d_csrc OBJECT scale.cu)\n",
        "fp4/CMakeLists.txt": """
add_library(d_fp4 OBJECT fp4.cu)
set_target_properties(d_fp4 PROPERTIES CUDA_ARCHITECTURES 120f-real)
""",
    },
}

MAKE_PROJECTS: dict[str, dict[str, str]] = {
    "pattern": {
        "Makefile": """
NVCC ?= nvcc
SMS ?= 80 90 120
GENCODE := $(foreach sm,$(SMS),-gencode arch=compute_$(sm),code=sm_$(sm))
SRCS := scale.cu norm.cu
OBJS := $(SRCS:.cu=.o)
all: lib.a
lib.a: $(OBJS)
\tar rcs $@ $^
%.o: %.cu
\t$(NVCC) -O3 $(GENCODE) -c $< -o $@
""",
    },
    "apart": {
        "Makefile": """
COMMON = -O3 -std=c++17
OLD := -gencode=arch=compute_80,code=sm_80
NEW  = $(COMMON) \\
       -gencode=arch=compute_120f,code=sm_120f
all: scale.o fp4.o
scale.o: scale.cu
\tnvcc $(COMMON) $(OLD) -c $< -o $@
fp4.o: fp4.cu fp4.h
\tnvcc $(NEW) -c fp4.cu -o $@
""",
    },
    "choices": {
        "Makefile": """
CUDA_VERSION := $(shell nvcc --version | sed -n 's/.*release \\([0-9]*\\)\\.\\([0-9]*\\).*/\\1\\2/p')
ARCHS := 80 90
ifeq ($(shell test $(CUDA_VERSION) -lt 120 && echo 1),1)
ARCHS := 90 100
else ifeq ($(shell test $(CUDA_VERSION) -ge 128; echo $$?),0)
ARCHS := 90 120
endif
FLAGS += $(foreach a,$(ARCHS),-gencode arch=compute_$(a),code=sm_$(a))
FLAGS += -gencode arch=compute_90,code=compute_90
all: kernels
kernels: $(wildcard *.cu)
\tnvcc $(FLAGS) -o $@ $^
""",
    },
    "one_target": {
        "Makefile": """
ARCH ?= sm_120
OUT := out
all: $(OUT)/scale.o
$(OUT)/%.o: src/%.cu
\tnvcc -arch=$(ARCH) -c $< -o $@
""",
    },
}


def sources_of(files: Mapping[str, str]) -> Iterable[str]:
    """The sources that a project names, in the folders of the files that name them."""
    for name, text in files.items():
        folder = Path(name).parent
        yield from (str(folder / found) for found in re.findall(r"(?<![\w.*%])[a-z0-9]+\.cu\b", text))


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name in sources_of(files):
        (folder / name).write_text("__global__ void kernel() {}\n", encoding="utf-8")
    return folder


def believed(folder: Path, files: Mapping[str, str], release: str) -> Compiled:
    """What the readers say of a project, under the toolkit at hand."""
    read = {
        str(folder / name): reader("build").read(str(folder / name), text, "", False, frozenset())
        for name, text in files.items()
    }
    builds = Builds(read.values(), read.get)
    found: Compiled = {}
    for path in sorted(folder.rglob("*.cu")):
        carries = [carry for _, carry in builds.placed(str(path)) if release in within(carry.toolkit)]
        sass = frozenset(name for carry in carries for name in carry.sass)
        ptx = frozenset(name for carry in carries for name in carry.ptx)
        if sass or ptx:
            found[path.relative_to(folder).as_posix()] = sass, ptx
    return found


def targets_of(command: str) -> tuple[frozenset[str], frozenset[str]]:
    """The targets that nvcc is asked for by a command."""
    codes = {code for match in _CODE.finditer(command) for code in match[1].split(",")}
    for flag in find_flags(command):
        codes |= {f"sm_{name}" for name in flag.sass} | {f"compute_{name}" for name in flag.ptx}
    sass = frozenset(code.removeprefix("sm_") for code in codes if code.startswith("sm_"))
    return sass, frozenset(code.removeprefix("compute_") for code in codes if code.startswith("compute_"))


def release_of(toolkit: Toolkit) -> str:
    found = _RELEASE.search(toolkit.run("nvcc", "--version"))
    assert found is not None
    return found[1]


def test_cmake(cmake: str, nvcc: Toolkit, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, files in CMAKE_PROJECTS.items():
        written(tmp_path / name, files)
    added = "".join(f"add_subdirectory({name})\n" for name in CMAKE_PROJECTS)
    head = "cmake_minimum_required(VERSION 3.24)\nset(CMAKE_CUDA_ARCHITECTURES 75)\nproject(kit LANGUAGES CUDA)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + added, encoding="utf-8")
    options = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CUDA_COMPILER={nvcc.programs / 'nvcc'}"]
    command = [cmake, "-S", str(tmp_path), "-B", str(tmp_path / "build"), *options]
    subprocess.run(command, capture_output=True, check=True)
    commands = json.loads((tmp_path / "build/compile_commands.json").read_text(encoding="utf-8"))
    done = {Path(one["file"]).relative_to(tmp_path).as_posix(): targets_of(one["command"]) for one in commands}
    release = release_of(nvcc)
    assert {
        f"{name}/{source}": targets
        for name, files in CMAKE_PROJECTS.items()
        for source, targets in believed(tmp_path / name, files, release).items()
    } == done


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize("name", MAKE_PROJECTS)
def test_make(toolkit: Toolkit, tmp_path: Path, name: str) -> None:
    files = MAKE_PROJECTS[name]
    folder = written(tmp_path, files)
    if "src/%" in files["Makefile"]:
        (folder / "src").mkdir()
        (folder / "src/scale.cu").write_text("", encoding="utf-8")
    (folder / "fp4.h").touch()
    if "wildcard" in files["Makefile"]:
        (folder / "rope.cu").touch()
    path = f"{toolkit.programs}{os.pathsep}{os.environ['PATH']}"  # some ask nvcc for its release
    told = subprocess.run(
        ["make", "-n", "all"], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    ).stdout
    done = {source: targets_of(line) for line in told.splitlines() for source in line.split() if source.endswith(".cu")}
    assert believed(folder, files, release_of(toolkit)) == done
