"""From a C++ name to what its definitions show: the kind of proof, the chips in words, and the way there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.evaluate.sources import Sources
from bwlint.world.builds import Builds
from bwlint.world.collect import load
from bwlint.world.native import Native
from bwlint.world.proofs import Graph, NeedProof
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

BUILD = """
archs_of(HOPPER_ARCHS "9.0a" "${ASKED}")
set(HOPPER_SRCS "hopper.cu" "both_one.cu")
flags(SRCS "${HOPPER_SRCS}" ARCHS "${HOPPER_ARCHS}")
archs_of(WIDE_ARCHS "9.0a;12.0f" "${ASKED}")
set(WIDE_SRCS "wide.cu" "both_two.cu")
flags(SRCS "${WIDE_SRCS}" ARCHS "${WIDE_ARCHS}")
target_sources(ops PRIVATE "bind.cpp")
"""
LAUNCH = "__global__ void {name}_kernel();\nvoid {name}() {{ {name}_kernel<<<1, 1>>>(); }}\n"


def tree(folder: Path, files: dict[str, str]) -> tuple[Native, str]:
    for name, text in {"pyproject.toml": "", "CMakeLists.txt": BUILD, **files}.items():
        (folder / name).write_text(text)
    whole = Tree(Sources({}), load)
    return Native(whole, Builds((), lambda path: load(path, "")), Refusals(whole)), str(folder / "user.cu")


def proofs_of(native: Native, name: str, near: str) -> tuple[NeedProof, ...]:
    return Graph({"cuda": native}).agreed(native.definitions(name, near))


def shown(folder: Path, files: dict[str, str], name: str = "run_matmul") -> list[tuple[str, str]]:
    native, near = tree(folder, {"user.cu": "void run_matmul();\n", **files})
    return [(proof.kind, str(proof.legal)) for proof in proofs_of(native, name, near)]


BOUND = {
    "bind.cpp": 'TORCH_LIBRARY(_C, ops) { ops.def("matmul(Tensor a) -> Tensor", &run_matmul); }',
    "hopper.cu": LAUNCH.format(name="run_matmul"),
}
REFUSED = "#ifdef ONLY_NEW\n  if (n != 10) { throw 1; return; }"
CALLED = "  { call_inner(); }\n"
INNER = {"hopper.cu": LAUNCH.format(name="call_inner")}
HERE = [("build", "9.0 only")]
REFUSING = 'void run_matmul() { int sm = get_sm_version_num(); CHECK(sm == 90, "no"); }'


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        ({"hopper.cu": LAUNCH.format(name="run_matmul")}, "run_matmul", [("build", "9.0 only")]),
        ({"hopper.cu": LAUNCH.format(name="run_matmul")}, "vllm.run_matmul", [("build", "9.0 only")]),
        ({"wide.cu": LAUNCH.format(name="run_matmul")}, "run_matmul", [("build", "9.0 and 12.x")]),
        ({"other.cu": REFUSING}, "run_matmul", [("gate", "9.0 only")]),
        ({"user.cu": REFUSING}, "run_matmul", [("gate", "9.0 only")]),
        (
            {"other.cu": "__global__ void run_matmul() { warpgroup_arrive(); }"},
            "run_matmul",
            [("operation", "9.0 only")],
        ),
        (
            {"other.cu": "void run_matmul() { call_inner(); }", "hopper.cu": LAUNCH.format(name="call_inner")},
            "run_matmul",
            [("build", "9.0 only")],
        ),
        (
            {"both_one.cu": LAUNCH.format(name="run_matmul"), "both_two.cu": LAUNCH.format(name="run_matmul")},
            "run_matmul",
            [("build", "9.0 and 12.x")],
        ),
        (BOUND, "torch.ops._C.matmul", [("build", "9.0 only")]),
        (BOUND, "ops._C.matmul", [("build", "9.0 only")]),
        (BOUND, "torch.ops._C.matmul.default", [("build", "9.0 only")]),
        # nothing is shown
        ({}, "run_matmul", []),
        ({"hopper.cu": "void run_matmul() { host_only(); }"}, "run_matmul", []),
        ({"other.cu": LAUNCH.format(name="run_matmul")}, "run_matmul", []),
        ({"hopper.cu": "void run_matmul();\n__global__ void other() {}"}, "run_matmul", []),
        (
            {"hopper.cu": LAUNCH.format(name="run_matmul"), "other.cu": LAUNCH.format(name="run_matmul")},
            "run_matmul",
            [],
        ),
        (
            {
                "other.cu": "void run_matmul(int n) { if (n) call_inner(); }",
                "hopper.cu": LAUNCH.format(name="call_inner"),
            },
            "run_matmul",
            [],
        ),
        ({"other.cu": "__global__ void run_matmul() {\n#if X\nwarpgroup_arrive();\n#endif\n}"}, "run_matmul", []),
        ({"other.cu": f"void run_matmul() {{\n{REFUSED} else\n#endif\n{CALLED}}}", **INNER}, "run_matmul", HERE),
        (
            {"other.cu": f"void run_matmul() {{\n#ifdef ONLY_NEW\n  return;\n#else\n{CALLED}#endif\n}}", **INNER},
            "run_matmul",
            HERE,
        ),
        ({"other.cu": f"void run_matmul() {{\n#ifndef NO_SM90\n{CALLED}#endif\n}}", **INNER}, "run_matmul", HERE),
        (
            {"other.cu": f"void run_matmul() {{\n#ifdef USE_ROCM\n#else\n{CALLED}#endif\n}}", **INNER},
            "run_matmul",
            HERE,
        ),
        ({"other.cu": f"void run_matmul() {{\n#ifdef WITH_SM90\n{CALLED}#endif\n}}", **INNER}, "run_matmul", []),
        ({"other.cu": f"void run_matmul() {{\n#ifndef NDEBUG\n{CALLED}#endif\n}}", **INNER}, "run_matmul", []),
        ({"other.cu": f"void run_matmul() {{\n#ifndef HAVE_MORE\n{CALLED}#endif\n}}", **INNER}, "run_matmul", []),
        ({"other.cu": f"void run_matmul() {{\n#ifndef __CHIP_8__\n{CALLED}#endif\n}}", **INNER}, "run_matmul", []),
        ({"hopper.cu": "struct A { void run_matmul() { k<<<1, 1>>>(); } };"}, "run_matmul", []),
        ({"hopper.cu": LAUNCH.format(name="run_matmul")}, "std.run_matmul", []),
        ({"hopper.cu": LAUNCH.format(name="run")}, "run", []),
        (BOUND, "torch.ops._C.other", []),
        ({"other.cu": "void run_matmul() { run_matmul(); }"}, "run_matmul", []),
        ({"user.cu": REFUSING + "\nvoid run_matmul(int) {}"}, "run_matmul", []),
        ({"user.cu": REFUSING.replace("sm ==", "small && sm ==")}, "run_matmul", [("gate", "9.0 only")]),
        ({"user.cu": REFUSING.replace("sm ==", "small || sm ==")}, "run_matmul", []),
        ({"user.cu": REFUSING.replace("CHECK", "if (small) CHECK")}, "run_matmul", []),
        ({"user.cu": REFUSING.replace("sm == 90", "false")}, "run_matmul", []),
    ],
)
def test_proofs(tmp_path: Path, files: dict[str, str], name: str, expected: list[tuple[str, str]]) -> None:
    assert shown(tmp_path, files, name) == expected


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        (BOUND, "matmul", [("build", "9.0 only")]),
        (BOUND, "module.matmul", [("build", "9.0 only")]),
        (BOUND, "run_matmul", []),
        ({"a.cu": f"{REFUSING}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(matmul, run_matmul);"}, "matmul", [("gate", "9.0 only")]),
        ({"a.cu": REFUSING}, "run_matmul", []),
    ],
)
def test_python_sees_what_is_registered(
    tmp_path: Path, files: dict[str, str], name: str, expected: list[tuple[str, str]]
) -> None:
    native, _ = tree(tmp_path, files)
    proofs = proofs_of(native, name, str(tmp_path / "user.py"))
    assert [(proof.kind, str(proof.legal)) for proof in proofs] == expected


def test_the_way_is_told(tmp_path: Path) -> None:
    files = {"other.cu": "void run_matmul() { call_inner(); }", "hopper.cu": LAUNCH.format(name="call_inner")}
    native, near = tree(tmp_path, {"user.cu": "", **files})
    (proof,) = proofs_of(native, "run_matmul", near)
    assert [(Path(hop.path).name, hop.at[0], hop.text) for hop in proof.hops] == [
        ("other.cu", 1, "`run_matmul` uses `call_inner`"),
        ("hopper.cu", 2, "`call_inner` is defined in hopper.cu"),
        ("CMakeLists.txt", 2, "hopper.cu is compiled for sm_90a"),
    ]
    assert proof.what == "`hopper.cu`, which is compiled for sm_90a only"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("__global__ void run_matmul() {}\n", "code that is compiled for sm_90a only"),
        (LAUNCH.format(name="run_matmul"), "`hopper.cu`, which is compiled for sm_90a only"),
        (
            "__global__ void other() {}\nint run_matmul() { return 1; }\n",
            "`hopper.cu`, which is compiled for sm_90a only",
        ),
    ],
)
def test_only_device_code_is_compiled_for_a_chip(tmp_path: Path, code: str, what: str) -> None:
    native, near = tree(tmp_path, {"user.cu": "", "hopper.cu": code})
    assert [proof.what for proof in proofs_of(native, "run_matmul", near)] == [what]


def test_a_name_that_stands_in_many_files_says_nothing(tmp_path: Path) -> None:
    files = {f"f{number}.cu": "void g() { run_matmul(); }" for number in range(40)}
    assert shown(tmp_path, {**files, "hopper.cu": LAUNCH.format(name="run_matmul")}) == []


def test_a_header_that_a_file_includes_says_what_a_name_means_however_many_use_it(tmp_path: Path) -> None:
    files = {f"f{number}.cu": "void g() { run_matmul(); }" for number in range(40)}
    header = "__global__ void run_matmul() { warpgroup_arrive(); }"
    files |= {"matmul.cuh": header, "far.cuh": header.replace("warpgroup_arrive()", "other()")}
    assert shown(tmp_path, {**files, "user.cu": '#include "matmul.cuh"\n'}) == [("operation", "9.0 only")]
    assert shown(tmp_path, {**files, "user.cu": '#include "far.cuh"\n'}) == []


def test_circles_end(tmp_path: Path) -> None:
    files = {"a.cu": "void run_matmul() { back_again(); }", "b.cu": "void back_again() { run_matmul(); }"}
    assert shown(tmp_path, files) == []


GENERATOR = 'def generate(kind):\n    return build("name", [CSRC / "sub" / f"{kind}_sm100.cu"], flags=FLAGS)\n'


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ('__global__ void f() { asm volatile("tcgen05.wait::ld.sync.aligned;"); }', ["operation"]),
        ('__global__ void f() {\n#if X\nasm volatile("tcgen05.wait::ld.sync.aligned;");\n#endif\n}', []),
        ("__global__ void f() { __syncthreads(); }", []),
    ],
)
def test_a_generator(tmp_path: Path, kernel: str, expected: list[str]) -> None:
    native, _ = tree(tmp_path, {"jit.py": GENERATOR})
    for folder in ("sub", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "gemm_sm100.cu").write_text(kernel)
    jit = str(tmp_path / "jit.py")
    assert [Path(path).parent.name for path in native.sources_of(jit, "generate")] == ["sub"]
    assert [proof.kind for proof in native.generated(jit, "generate")][:1] == expected
    assert native.sources_of(jit, "other") == ()
