"""What launches ask for: amounts folded from constants, and error codes that somebody looks at."""

from __future__ import annotations

import pytest
from effort import grows_as_its_input

from bwlint.evaluate.sources import Sources
from bwlint.model.facts import Module, Operation
from bwlint.readers.cuda import read
from bwlint.world.tree import Tree

ATTRIBUTE = "void launch() {{ {} cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, {}); }}"


def module(source: str) -> Module:
    return read("/tree/a.cu", source)


def of_kind(found: Module, kind: str) -> list[Operation]:
    return [operation for operation in found.operations if operation.kind == kind]


def value(found: Module, operation: Operation, place: int = 0) -> object:
    tree = Tree(Sources({}), lambda path, name: None)
    number = tree.numbers(found, operation.amounts[place])[-1]
    return number if isinstance(number, int) else None


@pytest.mark.parametrize(
    ("before", "local", "amount", "expected"),
    [
        ("", "", "1 << 16", 65536),
        ("", "", "0x1'0000u", 65536),
        ("#define KIB 1024\n#define SIZE (96 * KIB)\n", "", "SIZE", 98304),
        ("constexpr int a = 4, b = 2 * a;", "", "a", 4),
        ("namespace n { constexpr int a = 4; }", "", "n::a * 2", 8),
        ("struct C { static constexpr int kBytes = 512; };", "", "C::kBytes", 512),
        ("struct C { static constexpr int a = 1; }; struct D { static constexpr int a = 2; };", "", "D::a", 2),
        ("enum { kA = 3, kB = 5 };", "", "kA * kB", 15),
        ("", "int n = 7;", "static_cast<int>(n)", 7),
        ("", "int n = 7;", "size_t(n) * sizeof(float)", 28),
        ("", "int n = 7; n = 8;", "n", None),
        ("", "int n = 7; n += 8; n += 1;", "n", 16),
        ("", "int n = 7; if (x) n += 8;", "n", None),
        ("", "int n = 7; else n += 8;", "n", None),
        ("", "int n = 7; while (x) { n += 8; n += 1;", "n", None),
        ("", "int n = 7; n += 8; n -= 1;", "n", None),
        ("", "int n = 7; { n += 8; }", "n", None),
        ("", "int n = 7; auto add = [&] { n += 8; }; add();", "n", None),
        ("", "const int a = 64 << 10, b = 1 << 15;", "a + b", 98304),
        ("", "int n = 7; ++n;", "n", None),
        ("", "int n = 7; set(&n);", "n", None),
        ("", "{ int n = 7; } int n = 9;", "n", 9),
        ("", "{ int n = 7; }", "n", None),
        ("", "", "std::max(3, 4)", 4),
        ("", "", "std::max(unknown, 4)", None),
        ("", "", "round_up(3, 4)", None),
        ("", "", "props.major * 1024", None),
        ("#define GATE (16 * sizeof(float))\n#define TOTAL (36 + GATE)", "", "TOTAL", 100),
        ("#define A (1 + B)\n#define B (sizeof(float) + A)", "", "A", None),
        ("", "", "sizeof(cutlass::half_t)", 2),
        ("", "", "sizeof(unsigned long long)", 8),
        ("struct P { char c; double d; char e; };", "", "sizeof(P)", 24),
        ("struct P { alignas(16) char c; };", "", "sizeof(P)", 16),
        ("struct alignas(128) P { char c; };", "", "sizeof(P)", 128),
        ("struct Q { int a[3]; }; struct P { Q q[2]; char* c; };", "", "sizeof(P)", 32),
        ("struct P : Base { char c; };", "", "sizeof(P)", None),
        ("struct P { virtual ~P(); char c; };", "", "sizeof(P)", None),
        ("struct P { Unknown c; };", "", "sizeof(P)", None),
        ("template <class T> struct P { T c; };", "", "sizeof(P<float>)", 4),
        ("template <class T, int N = 3> struct P { T c[N]; int n; };", "", "sizeof(P<half>)", 12),
        ("template <int N> struct P { int c[N]; }; struct Q { P<3> a; P<4> b[2]; };", "", "sizeof(Q)", 44),
        ("template <class T> struct P { using E = T; struct S { E c; }; };", "", "sizeof(P<half>::S)", None),
        ("union P { int a[3]; double b; };", "", "sizeof(P)", 16),
        ("struct P { union { int a[3]; double b; }; struct { char c; } d; };", "", "sizeof(P)", 24),
        ("struct P { struct Q { int a[3]; }; Q q[2]; };", "", "sizeof(P)", 24),
        ("struct P { int a; }; struct Q : P { double c; };", "", "sizeof(Q)", 16),
        ("struct O { double d; }; struct P : O { char c; }; struct Q : P { char e; };", "", "sizeof(Q)", None),
        ("struct P : cute::aligned_struct<128, _0> { char c; };", "", "sizeof(P)", 128),
        ("struct P { unsigned long long a[2]; unsigned b; };", "", "sizeof(P)", 24),
        ("struct P { int a, b; };", "", "sizeof(P)", None),
        ("struct P { int a : 3; };", "", "sizeof(P)", None),
        ("struct P { float a[2], b[3]; };", "", "sizeof(P)", None),
        ("struct P {\n#ifdef X\nint a;\n#endif\nint b; };", "", "sizeof(P)", None),
        ("struct P { int a; int get() { return a; } };", "", "sizeof(P)", None),
        ("using E = half; struct C { using E = float; static constexpr int a = sizeof(E); };", "", "C::a", 4),
        ("struct C { using E = float; }; struct D { static constexpr int a = sizeof(E); };", "", "D::a", None),
        ("template <int M, int N> struct T { static constexpr int a = M * N; };", "", "T<128, 64>::a", 8192),
        (
            "template <int M, int N> struct T { static constexpr int a = M * N; };",
            "const int n = T<128, 64>::a;",
            "n",
            8192,
        ),
        ("", "", "std::max<int>(3, 4)", 4),
        ("#define UP(x, n) (((x) + (n) - 1) / (n) * (n))\n", "", "UP(1000, 128)", 1024),
        ("constexpr int a = b; constexpr int b = a;", "", "a", None),
        ("#ifdef X\nconstexpr int a = 1;\n#else\nconstexpr int a = 2;\n#endif\n", "", "unseen", None),
    ],
)
def test_amounts_fold(before: str, local: str, amount: str, expected: int | None) -> None:
    found = module(before + "\n" + ATTRIBUTE.format(local, amount))
    (operation,) = of_kind(found, "dynamic-shared")
    assert value(found, operation) == expected


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ("f<4>();", [4096]),
        ("f<4>(); f<4>();", [4096, 4096]),
        ("f<4>(); f<5>();", [4096, 5120]),
        ("f<>();", [3072]),
        ("f<N>(); f<5>();", [5120]),
        ("f<N>();", [None]),
        ("constexpr int M = 2; f<M * 2>();", [4096]),
        ("", [None]),
    ],
)
def test_each_instance_of_a_template(uses: str, expected: list[int | None]) -> None:
    body = ATTRIBUTE.format("", "N * 1024").replace("launch", "f")
    found = module(f"template <int N = 3>\n{body}\nvoid g() {{ {uses} }}")
    assert [value(found, operation) for operation in of_kind(found, "dynamic-shared")] == expected


@pytest.mark.parametrize(
    ("statement", "checked"),
    [
        ("{};", False),
        ("(void){};", False),
        ("if (n > 49152) {};", False),
        ("CHECK({});", True),
        ("check({}, __FILE__);", True),
        ("if ({} != cudaSuccess) return;", True),
        ("auto e = {}; if (e) throw e;", True),
        ("auto e = {};", False),
        ("return {};", True),
        ("{}; k<<<1, 1, n>>>(); cudaGetLastError();", True),
        ("{}; cudaDeviceSynchronize();", False),
    ],
)
def test_who_looks_at_the_status(statement: str, checked: bool) -> None:
    call = "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n)"
    found = module("void f(int n) { " + statement.format(call) + " }")
    assert ("attribute" not in {operation.name for operation in of_kind(found, "launch")}) == checked


def test_macros_are_no_code_of_their_own() -> None:
    found = module("#define RUN(n) \\\n  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, n)\n")
    assert not of_kind(found, "dynamic-shared")


@pytest.mark.parametrize(
    "source",
    [
        "__shared__ float a[",
        "void f() { k<<<1, 2",
        "void f() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, ",
        "__global__ void __launch_bounds__(",
        "__cluster_dims__(" * 2000,
        "struct P { struct P " * 500,
        "void f() { attrs.clusterDim.x = " + "(" * 5000,
        "void f() { constexpr int smem = " + "1 + " * 5000 + "1; k<<<1, 1, smem>>>(); }",
        "\0smem\0" * 100,
    ],
)
def test_broken_input(source: str) -> None:
    assert module(source).language == "cuda"


@pytest.mark.parametrize(
    "unit",
    [
        "void f{0}() {{ int n = {0}; k<<<1, 1, n * 1024>>>(); }}\n",
        "constexpr int smem_{0} = smem_{0} + 1; __shared__ float a{0}[smem_{0}];\n",
        "template <int N> void g{0}() {{ k<<<1, 1, N>>>(); }} void h{0}() {{ g{0}<{0}>(); }}\n",
        "a < b{0} = < , ( smem\n",
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    grows_as_its_input(module, lambda count: "".join(unit.format(number) for number in range(count)), 800)
