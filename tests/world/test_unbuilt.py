"""Which sources no build compiles, and what becomes of findings in them and of evidence that leads there."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import analysed, drafts

from bwlint.world.unbuilt import Unbuilt

LISTED = 'set(SRCS "csrc/gemm/run.cu" "csrc/gemm/bind.cpp")\nadd_library(ops ${SRCS})\n'
RUN = {"csrc/gemm/run.cu": "", "csrc/gemm/bind.cpp": ""}


def dead(folder: Path, files: dict[str, str]) -> list[str]:
    """The sources of a project of these files that nobody compiles."""
    for name, text in {"pyproject.toml": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    unbuilt = Unbuilt({})
    return [name for name in files if unbuilt.holds(str(folder / name))]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # beside what a build lists, or a copy of what it lists elsewhere
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/gemm/old.cu": ""}, ["csrc/gemm/old.cu"]),
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/attic/csrc/gemm/run.cu": ""}, ["csrc/attic/csrc/gemm/run.cu"]),
        ({"CMakeLists.txt": LISTED, **RUN, "old/kernels/run.cu": ""}, ["old/kernels/run.cu"]),
        ({"setup.py": 'sources = ["csrc/a.cu"]\n', "csrc/a.cu": "", "csrc/b.cu": ""}, ["csrc/b.cu"]),
        ({"csrc/BUILD": 'cc_library(srcs = ["a.cc"])\n', "csrc/a.cc": "", "csrc/b.cc": ""}, ["csrc/b.cc"]),
        ({"csrc/Makefile": "SRCS := a.cu c.cpp\n", "csrc/a.cu": "", "csrc/b.cu": ""}, ["csrc/b.cu"]),
        (
            {
                "CMakeLists.txt": 'file(GLOB A "csrc/made/*.cu")\n' + LISTED,
                **RUN,
                "csrc/made/a.cu": "",
                "csrc/b.cu": "",
            },
            ["csrc/b.cu"],
        ),
        # headers are compiled with what includes them
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/gemm/old.cuh": "", "csrc/gemm/old.h": ""}, []),
        # a pattern covers it
        ({"CMakeLists.txt": LISTED + "file(GLOB MORE csrc/gemm/*.cu)\n", **RUN, "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED + "file(GLOB_RECURSE MORE *.c*)\n", **RUN, "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED + "aux_source_directory(csrc/gemm M)\n", **RUN, "csrc/gemm/old.cu": ""}, []),
        ({"csrc/Makefile": "SRCS := a.cu $(wildcard *.cu)\n", "csrc/a.cu": "", "csrc/b.cu": ""}, []),
        (
            {"CMakeLists.txt": LISTED, **RUN, "jit.py": 'sources = root.rglob("*.cu")\n', "csrc/gemm/old.cu": ""},
            [],
        ),
        (
            {
                "CMakeLists.txt": LISTED,
                **RUN,
                "jit.py": 'for f in os.listdir(d):\n    if f.endswith(".cu"):\n        sources.append(f)\n',
                "csrc/gemm/old.cu": "",
            },
            [],
        ),
        # Python names it or puts its name together
        ({"CMakeLists.txt": LISTED, **RUN, "p/j.py": 'load(sources=["old.cu"])\n', "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED, **RUN, "p/j.py": 'spec(f"old_{n}.cu")\n', "csrc/gemm/old_2.cu": ""}, []),
        ({"setup.py": 'sources = [join("csrc", "a.cu")]\n', "a.cu": "", "csrc/a.cu": ""}, []),
        ({"CMakeLists.txt": LISTED, **RUN, "p/j.py": 'spec("old")\n', "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED + "foreach(t old)\n  add(${t}.cu)\n", **RUN, "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED + "add(${HERE}/old.cu)\n", **RUN, "csrc/gemm/old.cu": ""}, []),
        # another file includes it, it is a program, or another build stands there
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/gemm/bind.cpp": '#include "old.cu"\n', "csrc/gemm/old.cu": ""}, []),
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/gemm/old.cu": "int main() { return 0; }"}, []),
        ({"CMakeLists.txt": LISTED, **RUN, "csrc/build.rs": "", "csrc/gemm/old.cu": ""}, []),
        # nothing near it is named, or there is no build
        ({"CMakeLists.txt": LISTED, **RUN, "bench/by_hand/old.cu": ""}, []),
        ({"csrc/gemm/old.cu": ""}, []),
    ],
)
def test_what_nobody_compiles(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert dead(tmp_path, files) == expected


def test_a_folder_that_is_no_project_has_no_builds(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("add_library(ops a.cu)\n")
    for name in ("a.cu", "b.cu"):
        (tmp_path / name).write_text("")
    assert not Unbuilt({}).holds(str(tmp_path / "b.cu"))


def test_a_line_of_a_megabyte(tmp_path: Path) -> None:
    line = "a" * 1_000_000 + "*" * 100_000 + "/{" * 100_000
    files = {"CMakeLists.txt": LISTED + line + ".cu\n", "j.py": f"x = '{line}.cu'\n", **RUN, "csrc/gemm/old.cu": ""}
    assert dead(tmp_path, files) in ([], ["csrc/gemm/old.cu"])


DISPATCH = """
bool sparse_gemm_supported(int64_t cuda_device_capability) { return cuda_device_capability >= 90; }
void sparse_gemm(int x) {
  int32_t version_num = get_sm_version_num();
  if (version_num == 90) { gemm_sm90(x); return; }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "no kernel for ", version_num);
}
"""


def severities(folder: Path, files: dict[str, str], only: str = "") -> list[str]:
    found = drafts(folder, files, "leak", only=only)
    return sorted(f"{Path(draft.module.path).relative_to(folder)} {draft.severity}" for draft in found)


COPIES = {
    "CMakeLists.txt": LISTED,
    "csrc/gemm/run.cu": DISPATCH,
    "csrc/gemm/bind.cpp": 'TORCH_LIBRARY(ops, m) { m.def("ok", &sparse_gemm_supported); }\n',
    "csrc/old/run.cu": DISPATCH,
}


def test_a_stray_copy_is_a_note(tmp_path: Path) -> None:
    expected = ["csrc/gemm/run.cu warning", "csrc/old/run.cu note"]
    assert severities(tmp_path, COPIES) == expected
    assert severities(tmp_path, COPIES, only="csrc/old/run.cu") == expected[1:]
    assert severities(tmp_path, COPIES, only="csrc/gemm/run.cu") == expected[:1]


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        ('TORCH_LIBRARY(ops, m) { m.def("ok", &sparse_gemm_supported); }\n', ["csrc/gemm/run.cu warning"]),
        (
            "bool sparse_gemm_supported(int64_t);\nbool f() { return sparse_gemm_supported(90); }\n",
            ["csrc/gemm/run.cu warning"],
        ),
        ('TORCH_LIBRARY(ops, m) { m.def("run", &sparse_gemm); }\n', ["csrc/gemm/run.cu note"]),
    ],
)
def test_a_predicate_that_nobody_asks_is_a_note(tmp_path: Path, binding: str, expected: list[str]) -> None:
    files = {"CMakeLists.txt": LISTED, "csrc/gemm/run.cu": DISPATCH, "csrc/gemm/bind.cpp": binding}
    assert severities(tmp_path, files) == expected


@pytest.mark.parametrize("stray", [False, True])
def test_evidence_steps_through_what_is_compiled(tmp_path: Path, stray: bool) -> None:
    user = """
void pick_kernel() {
  int32_t version_num = get_sm_version_num();
  if (version_num >= 90) { launch_hopper(); }
}
"""
    kernel = "void launch_hopper() { inner_hopper(); }\n"
    inner = '__global__ void inner_hopper() { asm volatile("wgmma.fence.sync.aligned;"); }\n'
    files = {
        "CMakeLists.txt": "add_library(ops csrc/gemm/run.cu csrc/gemm/kernel.cu csrc/gemm/inner.cu)\n",
        "csrc/gemm/run.cu": user,
        "csrc/gemm/kernel.cu": kernel,
        **({"csrc/attic/inner.cu": inner, "csrc/gemm/inner.cu": ""} if stray else {"csrc/gemm/inner.cu": inner}),
    }
    found = [one for _, each in analysed(tmp_path, files, ["leak"]).drafts for one in each if one.severity == "warning"]
    assert bool(found) is not stray
    assert not any("attic" in related.module.path for one in found for related in one.related)


INCLUDES = {
    "CMakeLists.txt": "add_library(ops csrc/run.cu)\n",
    "csrc/run.cu": "#include <kit/used.cuh>\n",
    "third_party/kit/include/kit/used.cuh": '#include "deeper.h"\n',
    "third_party/kit/include/kit/deeper.h": "",
}
STRAY = "third_party/kit/include/kit/stray.cuh"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # nothing leads there, or only what nothing leads to
        ({STRAY: ""}, [STRAY]),
        (
            {STRAY: "", "vendor/kit/a.hpp": '#include "b.hpp"\n', "vendor/kit/b.hpp": ""},
            [STRAY, "vendor/kit/a.hpp", "vendor/kit/b.hpp"],
        ),
        # the one beside it of the same name is meant
        ({"csrc/run.cu": '#include "used.cuh"\n', "csrc/used.cuh": "", "third_party/kit/used.cuh": ""}, None),
        # a source of the others may be compiled by a build of theirs
        ({STRAY: "", "third_party/kit/src/kit.cu": "#include <kit/stray.cuh>\n"}, []),
        # a program includes it at run time, by its name or by a part of it
        ({STRAY: "", "host/jit.cpp": 'auto code = "#include <kit/stray.cuh>\\n";\n'}, []),
        ({STRAY: "", "host/jit.cpp": 'auto code = format("#include <kit/{}.cuh>\\n", name);\n'}, []),
        ({STRAY: "", "kit/jit.py": 'CODE = f"#include <kit/{name}.cuh>"\n'}, []),
        ({STRAY: "", "kit/jit.py": 'HEADERS = ["kit/stray.cuh"]\n'}, []),
        # where files are copied, nothing is included
        ({STRAY: "", "setup.py": 'package_data = {"kit": ["third_party/**/*.cuh"]}\n'}, [STRAY]),
        # a build names it, or may be one that is not read
        ({STRAY: "", "tools/CMakeLists.txt": "embed(kit/stray.cuh)\n"}, []),
        ({STRAY: "", "third_party/build.rs": ""}, []),
        # a header of the project's own is what it is for
        ({"include/kit/stray.cuh": "", "csrc/stray.cuh": ""}, []),
    ],
)
def test_headers_of_others_that_nothing_includes(
    tmp_path: Path, files: dict[str, str], expected: list[str] | None
) -> None:
    unmet = (
        expected if expected is not None else [name for name in INCLUDES if "third_party" in name] + [list(files)[-1]]
    )
    assert dead(tmp_path, {**INCLUDES, **files}) == unmet


def test_a_finding_in_a_header_that_nothing_includes_is_silent(tmp_path: Path) -> None:
    needs = '__device__ void wait() {\n#if __CUDA_ARCH__ >= 1000\n  asm volatile("tcgen05.wait::ld.sync.aligned;");\n'
    needs += "#endif\n}\n"
    for name, found in ((STRAY, 0), ("third_party/kit/include/kit/used.cuh", 1), ("include/kit/own.cuh", 1)):
        folder = tmp_path / name.replace("/", "_")
        (folder / ".git").mkdir(parents=True)
        assert len(drafts(folder, {**INCLUDES, name: needs}, "tcgen05")) == found


PACKAGE = """
[torch]
src = [
    "torch-ext/bind.cpp",
]
[kernel.hopper]
cuda-capabilities = ["9.0a"]
src = ["csrc/hopper.cu", "csrc/run.h"]
[kernel.small]
cuda-capabilities = ["8.0"]
src = [
    "csrc/ampere.cu",
]
"""


def test_a_package_of_kernels_is_a_project_by_itself(tmp_path: Path) -> None:
    one = dict.fromkeys(("csrc/hopper.cu", "csrc/ampere.cu", "csrc/later.cu", "torch-ext/bind.cpp"), "")
    files = {f"{package}/{name}": text for package in ("first", "second") for name, text in one.items()}
    builds = {
        "first/build.toml": PACKAGE,
        "second/build.toml": PACKAGE.replace("    ", '    "csrc/later.cu",\n    ', 2),
    }
    (tmp_path / ".git").mkdir()
    jit = {"scripts/generate.py": 'sources = root.rglob("*.cu")\n'}
    assert dead(tmp_path, {**files, **builds, **jit}) == ["first/csrc/later.cu"]
