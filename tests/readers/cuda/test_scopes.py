"""Functions, classes and kernels by their braces."""

from __future__ import annotations

import pytest

from bwlint.readers.cuda.lexer import clean
from bwlint.readers.cuda.preprocessor import directives
from bwlint.readers.cuda.scopes import Scopes, scopes, without_directives


def found(source: str) -> Scopes:
    code = clean(source)
    read = directives(code)
    return scopes(without_directives(code.text, read), read)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("void f() {}", ["f"]),
        ("static inline __device__ int f(int a, int b) { if (a) { return b; } }", ["f"]),
        ("bool A::is(int sm) { return sm; }", ["A::is"]),
        ("A::~A() {}", ["A::~A"]),
        ("A::A(int x) : a(x), b(1) { }", ["A::A"]),
        ("auto f() -> std::vector<int> {}", ["f"]),
        ("bool operator==(A a, A b) { return 1; }", ["operator=="]),
        ("A operator+(A const& a) && {}", ["operator+"]),
        ("[[nodiscard]] constexpr bool f() noexcept { return 1; }", ["f"]),
        ("__attribute__((noinline)) void f(int x) {}", ["f"]),
        ("template <class T> requires (N > 1) void f() {}", ["f"]),
        ("template <> void f<float, 3>(float* p) {}", ["f"]),
        ("int f(int (*g)(int)) {}", ["f"]),
        ("struct A f() {}", ["f"]),
        ("void f(struct A* a) {}", ["f"]),
        ("namespace a { namespace b { int f() { return 1; } } }", ["f"]),
        ('extern "C" { void f() {} }', ["f"]),
        ("MACRO\nvoid f() {}", ["f"]),
        ("MACRO(x)\nvoid f() {}", ["f"]),
        ("MACRO(x);\nvoid f() {}\nMACRO(y)\nvoid g() {}", ["f", "g"]),
        ("struct A { void m() const {} };", ["A.m"]),
        ("struct A { struct B { void m() {} }; void n() {} };", ["A.B.m", "A.n"]),
        ("class API A final : public B<int> { void f() {} };", ["A.f"]),
        ("struct alignas(16) A { void f() {} };", ["A.f"]),
        ("template <class T, int N = (3 > 2)> struct A { void operator()(T t) const {} };", ["A.operator()"]),
        ("}}} void f() {}", ["f"]),
        ("int a[] = {1, 2};", []),
        ("enum class E : int { a, b };", []),
        ("struct S s = { 1 };", []),
        ("static auto g = [](int a) { return a; };", []),
        ("void f();", []),
        ("void f() {", []),
    ],
)
def test_functions(source: str, names: list[str]) -> None:
    assert [scope.qualname for scope in found(source).functions] == names


@pytest.mark.parametrize(
    ("source", "kernel"),
    [
        ("__global__ void k() {}", True),
        ("template <int N>\n__global__ void __launch_bounds__(128, 2) k(float* p) {}", True),
        ('extern "C" __global__ void k() {}', True),
        ("__device__ void k() {}", False),
        ("__global__ void k();\nvoid f() {}", False),
    ],
)
def test_kernels(source: str, kernel: bool) -> None:
    assert [scope.kernel for scope in found(source).functions] == [kernel]


@pytest.mark.parametrize(
    "source",
    [
        "#if A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\nvoid g() {}",
        "void f() {\n#if A\nif (x) {\n#else\nif (y) {\n#endif\n} }\nvoid g() {}",
        "void f() {\n#if A\n}\n#elif B\n}\n#else\n}\n#endif\nvoid g() {}",
        "void f() {\n#define BEGIN {\n}\nvoid g() {}",
    ],
)
def test_braces_in_branches_of_the_preprocessor(source: str) -> None:
    assert [scope.name for scope in found(source).functions][-2:] == ["f", "g"]


def test_the_function_around_a_place() -> None:
    source = "int a;\nstruct A { void f() { x; } };\nint b;"
    places = found(source)
    assert places.qualname(source.index("x")) == "A.f"
    assert places.qualname(source.index("a;")) == places.qualname(source.index("b;")) == "<file>"
