"""The outline of a C++ file: what it defines, what each definition surely uses, what it hands on."""

from __future__ import annotations

import pytest

from bwlint.model.outline import Outline
from bwlint.readers.cuda.outline import outline


def read(source: str) -> Outline:
    return outline("/tree/a.cu", source)


def sure(body: str) -> list[str]:
    """What a function with this body surely calls."""
    function = read(f"void f(int n, bool fast) {{ {body} }}").definitions["f"]
    return [use.name for use in function.uses if use.sure and use.how == "call"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("launch(n);", ["launch"]),
        ("vllm::launch<int, 4>(n);", ["vllm.launch"]),
        ("return launch(n);", ["launch"]),
        ("for (int i = 0; i < n; ++i) launch(i);", ["launch"]),
        ("{ launch(n); }", ["launch"]),
        ('CHECK(n > 0, "empty"); launch(n);', ["CHECK", "launch"]),
        ('if (n < 0) throw std::runtime_error("negative"); launch(n);', ["launch"]),
        ("if (n == 0) return; launch(n);", ["launch"]),
        ("if (n == 0) { return; } launch(n);", ["launch"]),
        ("if (fast) launch(n, 1); else launch(n, 2);", ["launch"]),
        ("if (fast) return launch(n, 1); return launch(n, 2);", ["launch"]),
        ("if (fast) { launch(n); } else { throw 1; }", ["launch"]),
        ("DISPATCH(n, [&] { launch(n); });", ["DISPATCH", "launch"]),
        ("if (fast) launch(n);", []),
        ("if (fast) launch(n); else other(n);", []),
        ("if (fast) return other(n); launch(n);", []),
        ("if (sm_version < 90) return; launch(n);", []),
        ("switch (n) { case 1: launch(n); }", []),
        ("switch (n) { case 1: return; } launch(n);", []),
        ("switch (n) {}", []),
        ("switch (n) { case 1: return launch(1); case 2: return launch(2); }", ["launch"]),
        ("switch (n) { case 1: case 2: launch(1); break; default: CHECK(false); }", ["launch"]),
        (
            "switch (n) { case 1: return launch(1); case 2: return launch(2); default: return std::tuple(0); }",
            ["launch"],
        ),
        ("switch (n) { case 1: launch(1); break; default: other(n); }", []),
        ("switch (sm) { case 90: launch(1); break; default: CHECK(false); }", []),
        ("launch<<<1, 1>>>(n);", ["launch"]),
        ("fast ? launch(n) : other(n);", []),
        ("fast && launch(n);", []),
        ("values.launch(n);", []),
        ("values->launch(n);", []),
        ("\n#ifdef WITH_LAUNCH\nlaunch(n);\n#endif\n", []),
        ("// launch(n);\n", []),
        ('print("launch(n)");', ["print"]),
        ("f2 = launch;", []),
    ],
)
def test_what_surely_runs(body: str, expected: list[str]) -> None:
    assert sure(body) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void f() {}", {"f": "function"}),
        ("namespace a { void f() {} }", {"f": "function"}),
        ("void a::f() {}", {"f": "function"}),
        ("__global__ void f() {}", {"f": "kernel"}),
        ("template <int N> __global__ void f() {}", {"f": "kernel"}),
        ("struct A { void f() {} };", {"A": "class", "A.f": "function"}),
        ("void f(int) {} void f(float) {}", {"f": "function", "f#2": "function"}),
        ("#ifdef A\nvoid f() {}\n#else\nvoid f() {}\n#endif\n", {"f": "function", "f#2": "function"}),
        ("void f();", {}),
        ("extern template void f<4>();", {}),
        ("int a[] = {1, 2};", {}),
        ("}}}{{{", {}),
        ("", {}),
    ],
)
def test_definitions(source: str, expected: dict[str, str]) -> None:
    assert {name: one.kind for name, one in read(source).definitions.items()} == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("struct A : B {};", ("B",)),
        ("struct A : public detail::B<int, C<4>>, private D {};", ("detail.B", "D")),
        ("struct A {};", ()),
    ],
)
def test_bases(source: str, expected: tuple[str, ...]) -> None:
    assert read(source).definitions["A"].bases == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            'TORCH_LIBRARY_IMPL(_C, CUDA, ops) { ops.impl("scaled_mm", torch::kCUDA, &scaled_mm_entry); }',
            {"scaled_mm": "scaled_mm_entry", "_C.scaled_mm": "scaled_mm_entry"},
        ),
        (
            'TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor", &detail::op_entry); }',
            {"op": "detail.op_entry", "ns.op": "detail.op_entry"},
        ),
        (
            'TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("op", TORCH_BOX(&op_entry)); }',
            {"op": "op_entry", "ns.op": "op_entry"},
        ),
        ('PYBIND11_MODULE(name, m) { m.def("op", &op_entry, "text"); }', {"op": "op_entry"}),
        ("TVM_FFI_DLL_EXPORT_TYPED_FUNC(op, flashinfer::op_entry);", {"op": "flashinfer.op_entry"}),
        ('m.def("op(Tensor a) -> Tensor"); use(&other);', {}),
        ('m.def("op", [](int a) { return a; });', {}),
        ('// m.def("op", &op_entry);', {}),
    ],
)
def test_bindings(source: str, expected: dict[str, str]) -> None:
    assert read(source).imports == expected


def operations(source: str) -> list[tuple[str, bool]]:
    return [(use.how, use.sure) for use in read(source).definitions["f"].uses if use.how != "call"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('__global__ void f() { asm volatile("tcgen05.wait::ld.sync.aligned;"); }', [("instruction", True)]),
        (
            '__global__ void f() { if (x) { asm volatile("tcgen05.wait::ld.sync.aligned;"); } }',
            [("instruction", True)],
        ),
        (
            '__global__ void f() { if constexpr (x) { asm volatile("tcgen05.wait::ld.sync.aligned;"); } }',
            [("instruction", False)],
        ),
        (
            '__global__ void f() {\n#if X\nasm volatile("tcgen05.wait::ld.sync.aligned;");\n#endif\n}',
            [("instruction", False)],
        ),
        ("__global__ void f() { warpgroup_arrive(); }", [("atom", True)]),
        ("__global__ void f() { __syncthreads(); }", []),
    ],
)
def test_operations(source: str, expected: list[tuple[str, bool]]) -> None:
    assert operations(source) == expected


@pytest.mark.parametrize(
    ("source", "outside"),
    [
        ("namespace a { void f() {} void g() {} }", {"a": ("f", "g")}),
        ("namespace a::b { void f() {} }", {"b": ("f",)}),
        ("namespace a { namespace b { void f() {} } void g() {} }", {"b": ("f",), "a": ("g",)}),
        ("inline namespace v2 { void f() {} }", {"v2": ("f",)}),
        ("void A::f() {}", {"A": ("f",)}),
        ("namespace a { void A::f() {} }", {"A": ("f",)}),
        ("namespace a { void f() {} } namespace b { void f() {} }", {"a": ("f",), "b": ("f#2",)}),
        ("namespace a { struct A { void f() {} }; }", {}),
        ("namespace { void f() {} }", {}),
        ("void f() { using namespace a; }", {}),
    ],
)
def test_what_is_called_by_the_name_around_it(source: str, outside: dict[str, tuple[str, ...]]) -> None:
    assert read(source).outside == outside


@pytest.mark.parametrize(
    "source", ["f(" * 3000, "void f() {" * 3000, "if (" * 2000, '"' * 5001, "m.def(" * 4000, "a<" * 9000]
)
def test_hostile_text_ends(source: str) -> None:
    assert isinstance(read(source), Outline)
