"""No C++ crashes the reader or takes time that grows with its square."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import grows_as_its_input

from bwlint.evaluate.sources import Sources
from bwlint.readers.cuda import read
from bwlint.world.tree import Tree

HOSTILE: dict[str, Callable[[int], str]] = {
    "spaces": lambda n: " " * n,
    "newlines": lambda n: "\n" * n,
    "letters": lambda n: "a" * n,
    "long line": lambda n: "int x = " + "a + " * (n // 4) + ";",
    "parens": lambda n: "(" * n,
    "closing": lambda n: ")" * n,
    "braces": lambda n: "{" * n,
    "namespace headers": lambda n: ("namespace " + "a" * 3900 + " ({\n") * (n // 3900 + 1),
    "closing braces": lambda n: "}" * n,
    "brackets": lambda n: "[" * n,
    "angles": lambda n: "f<" * (n // 2),
    "pairs": lambda n: "()" * (n // 2),
    "brace pairs": lambda n: "{}" * (n // 2),
    "quotes": lambda n: '"' * n,
    "escaped quotes": lambda n: '\\"' * (n // 2),
    "open string": lambda n: '"' + '\\"' * (n // 2),
    "apostrophes": lambda n: "'" * n,
    "open raw": lambda n: 'R"x(' + "a" * n,
    "raws": lambda n: 'R"(' * (n // 3),
    "raws marks": lambda n: 'R"abcdefgh(' * (n // 11),
    "open comment": lambda n: "/*" + "a" * n,
    "comments": lambda n: "/*" * (n // 2),
    "slashes": lambda n: "/" * n,
    "line comments": lambda n: "// a\n" * (n // 5),
    "comment continued": lambda n: "// a\\\n" * (n // 6),
    "backslashes": lambda n: "\\" * n,
    "continuations": lambda n: "#if 1 \\\n" * (n // 8),
    "ifs": lambda n: "#if 1\n" * (n // 6),
    "ifs nested": lambda n: "#if __CUDA_ARCH__ >= 900\n" * (n // 25) + "#endif\n" * (n // 25),
    "comparisons kept": lambda n: "void f(int sm) {" + "x = sm == 120;" * (n // 14) + "}",
    "comparisons handed on": lambda n: "void f(int sm) {" + "g(sm == 120);" * (n // 13) + "}",
    "comparisons in one call": lambda n: "void f(int sm) { g(" + "sm == 120, " * (n // 11) + "0); }",
    "calls in calls": lambda n: "void f(int sm) { " + "g(1, " * (n // 6) + "sm == 120" + ")" * (n // 6) + "; }",
    "globals": lambda n: "bool x = sm() == 120;\n" * (n // 23),
    "ifs apart": lambda n: "#if __CUDA_ARCH__ >= 900\nx();\n#else\ny();\n#endif\n" * (n // 50),
    "elifs": lambda n: "#if __CUDA_ARCH__ == 900\n" + "#elif __CUDA_ARCH__ == 1000\n" * (n // 28),
    "elses": lambda n: "#if 1\n" + "#else\n" * (n // 6),
    "endifs": lambda n: "#endif\n" * (n // 7),
    "hashes": lambda n: "#" * n,
    "defines": lambda n: "#define A __CUDA_ARCH__\n" * (n // 24),
    "defines conditional": lambda n: "#if __CUDA_ARCH__\n#define A 1\n#endif\n#if A\n#endif\n" * (n // 50),
    "undefs": lambda n: "#undef A\n#ifdef A\n#endif\n" * (n // 25),
    "doubling": lambda n: (
        "".join(f"#define A{i} (A{i + 1} + A{i + 1})\n" for i in range(20))
        + "#define A20 1\n"
        + "#if A0 == __CUDA_ARCH__\n#endif\n" * (n // 32)
    ),
    "doubling calls": lambda n: (
        "".join(f"#define F{i}(x) (F{i + 1}(x+1) + F{i + 1}(x+2))\n" for i in range(20))
        + "#define F20(x) x\n"
        + "#if F0(1) == __CUDA_ARCH__\n#endif\n" * max(1, (n // 10000))
    ),
    "cycle": lambda n: "#define A B\n#define B A\n" + "#if A == __CUDA_ARCH__\n#endif\n" * (n // 32),
    "chain": lambda n: (
        "".join(f"#define A{i} A{i + 1}\n" for i in range(n // 24)) + "#if A0 == __CUDA_ARCH__\n#endif\n"
    ),
    "many macros": lambda n: "".join(f"#define A{i} (__CUDA_ARCH__ > {i})\n#if A{i}\n#endif\n" for i in range(n // 52)),
    "self": lambda n: "#define A A A A\n" + "#if A\n#endif\n" * (n // 13),
    "ors": lambda n: "#if " + "__CUDA_ARCH__ == 900 || " * (n // 24) + "1\n#endif\n",
    "nots": lambda n: "#if " + "!" * n + "__CUDA_ARCH__\n#endif\n",
    "paren cond": lambda n: "#if " + "(" * n + "\n#endif\n",
    "nul": lambda n: "\0" * n + "#if __CUDA_ARCH__\n#endif\n",
    "umlauts": lambda n: (
        "é" * (n // 2) + " #if 1\n" + "é\n" * (n // 6) + "#if __CUDA_ARCH__ > 900\n//é\n#endif\n" * (n // 40)
    ),
    "umlaut line": lambda n: "void f(int sm) { /*" + "é" * (n // 2) + "*/ " + "if (sm == 90) x(); " * (n // 40) + "}",
    "aliases": lambda n: "using A = B<C>;\n" * (n // 16),
    "open aliases": lambda n: "using A =\n" * (n // 10),
    "builders": lambda n: (
        "void f() {\n" + "using L = gemm::collective::CollectiveBuilder<Tag, Op>::Type;\n" * (n // 62) + "}"
    ),
    "templates": lambda n: "template<" * (n // 9),
    "vectors": lambda n: "void f() { int sm = " + "vector<" * (n // 7) + "; }",
    "nested templates": lambda n: "bool f(int sm) { return " + "a<" * (n // 4) + "b" + ">" * (n // 4) + "(sm) == 90; }",
    "ternaries": lambda n: "int f(int sm) { return " + "sm == 90 ? 1 : " * (n // 15) + "2; }",
    "ternaries nested": lambda n: "int f(int sm) { return " + "(sm == 90 ? " * (n // 12) + "2; }",
    "sums": lambda n: "int f(int sm) { return " + "sm + " * (n // 5) + "2 == 90; }",
    "else ifs": lambda n: "void f(int sm) { if (sm == 1) a();" + " else if (sm == 90) { b(); }" * (n // 28) + "}",
    "ifs in sequence": lambda n: "void f(int sm) {" + " if (sm == 90) { b(); }" * (n // 23) + "}",
    "returning ifs": lambda n: "int f(int sm) {" + " if (sm == 90) return 1;" * (n // 24) + "}",
    "ifs in ifs": lambda n: "void f(int sm) {" + " if (sm == 90) {" * (n // 16) + "}",
    "ifs no braces": lambda n: "void f(int sm) {" + " if (sm == 90)" * (n // 14) + ";}",
    "elses in C": lambda n: "void f(int sm) { if (sm == 90) a();" + " else" * (n // 5) + ";}",
    "assignments": lambda n: "void f(int sm) {" + " sm = sm + 1;" * (n // 13) + "if (sm == 90) a(); }",
    "assign branch": lambda n: "void f(int sm) {" + " if (sm == 90) sm = sm + 1;" * (n // 27) + "}",
    "assign many": lambda n: (
        "void f(int sm) {"
        + "".join(f" int v{i} = sm;" for i in range(n // 60))
        + " if (sm == 90) { v0 = 2; } " * (n // 60)
        + "}"
    ),
    "switch": lambda n: "void f(int sm) { switch (sm) {" + " case 90: a(); break;" * (n // 21) + "}}",
    "cases": lambda n: "void f(int sm) { switch (sm) {" + " case 90:" * (n // 9) + "}}",
    "switches": lambda n: "void f(int sm) {" + " switch (sm) { case 90:" * (n // 23) + "}}",
    "lambdas": lambda n: "void f(int sm) {" + "g([&] { if (sm == 90) " * (n // 22) + "}",
    "lambdas flat": lambda n: "void f(int sm) { g(" + "[&] { if (sm == 90) h(); }," * (n // 27) + "); }",
    "functions": lambda n: "bool f(int sm) { return sm == 90; }\n" * (n // 36),
    "calls": lambda n: (
        "bool is_sm90(int sm) { return sm == 90; } void g(int sm) {" + "if (is_sm90(sm)) x();" * (n // 21) + "}"
    ),
    "check": lambda n: "void f(int sm) {" + ' TORCH_CHECK_GE(sm, 90, "x");' * (n // 29) + "}",
    "check open": lambda n: "void f(int sm) { " + "TORCH_CHECK(" * (n // 12) + "sm == 90",
    "getters": lambda n: (
        "void f() { cudaDeviceProp p; " + "cudaGetDeviceProperties(&p, 0); " * (n // 32) + " if (p.major == 9) x(); }"
    ),
    "header": lambda n: "int f(" + "int sm, " * (n // 8) + ") {}",
    "headers": lambda n: "a(b) " * (n // 5) + "{}",
    "colons": lambda n: "a::" * (n // 3) + "f(int sm) {}",
    "colon list": lambda n: "f(int sm) : " + "a(sm), " * (n // 7) + "b(1) {}",
    "operators": lambda n: "operator" * (n // 8) + "() {}",
    "classes": lambda n: "struct A {" * (n // 10),
    "classes flat": lambda n: (
        "struct A { void operator()() {\n#if __CUDA_ARCH__ == 900\nB::operator()();\n#endif\n} };\n" * (n // 90)
    ),
    "attributes": lambda n: "struct " + "alignas(16) " * (n // 12) + "A {};",
    "asm open": lambda n: "asm(" * (n // 4),
    "asm open text": lambda n: 'asm("tcgen05.alloc ' * (n // 19),
    "asm strings": lambda n: "void f() { asm volatile(" + '"tcgen05.fence;\\n"' * (n // 18) + "); }",
    "asm long": lambda n: 'void f() { asm volatile("' + "tcgen05.fence::before_thread_sync; " * (n // 35) + '"); }',
    "asms": lambda n: (
        "void f() {" + ' asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");' * (n // 66) + "}"
    ),
    "asm nested": lambda n: 'asm("a" ' + "(" * n,
    "asm braces": lambda n: 'asm("' + "{" * n + '");',
    "asm labels": lambda n: 'asm("' + "a:" * (n // 2) + '");',
    "asm at": lambda n: 'asm("' + "@" * n + '");',
    "asm mods": lambda n: 'asm("tcgen05' + ".x" * (n // 2) + ';");',
    "atoms": lambda n: "SM100_MMA_F16BF16_SS<a>{}; " * (n // 27),
    "wrappers": lambda n: "enable_sm90_or_later<K>; " * (n // 25),
    "words": lambda n: "SM_" * (n // 3),
    "underscores": lambda n: "_" * n + "asm",
    "sm digits": lambda n: "sm_9" * (n // 4),
    "include": lambda n: '#include "a.h"\n' * (n // 15),
    "includes": lambda n: "".join(f'#include "a{i}.h"\n' for i in range(n // 18)),
    "include open": lambda n: '#include "' + "a" * n,
    "launch": lambda n: "k<<<" * (n // 4),
    "launches": lambda n: "void f() {" + " k<<<1, 2, 65536>>>();" * (n // 23) + "}",
    "shared": lambda n: "__shared__ " * (n // 11),
    "shareds": lambda n: "__global__ void k() {" + " __shared__ float a[1024];" * (n // 26) + "}",
    "const": lambda n: "constexpr int a = a + 1;" * (n // 24),
    "using": lambda n: "using A = Shape<" * (n // 16),
    "namespaces": lambda n: "namespace a {" * (n // 13),
    "semis": lambda n: ";" * n,
    "fsemis": lambda n: "void f(int sm) {" + ";" * n + "}",
    "labels": lambda n: "void f(int sm) {" + "a: " * (n // 3) + "}",
    "macro args": lambda n: "#if F(" + "a," * (n // 2) + ")\n#endif\n",
    "has include": lambda n: "#if __has_include(" + "(" * n + ")\n#endif\n",
    "pragma": lambda n: "#if __CUDA_ARCH__\n" + "#pragma once\n" * (n // 13) + "#endif\n",
    "if spaces": lambda n: "#if __CUDA_ARCH__\n" + " \n" * (n // 2) + "x\n#endif\n",
    "comment before": lambda n: "/* a */ " * (n // 8) + "\n" + "#if __CUDA_ARCH__ > 1\n#endif\n" * 100,
    "gates near comments": lambda n: "void f(int sm) {\n" + "// x\nif (sm == 90) a();\n" * (n // 24) + "}",
    "one line": lambda n: "void f(int sm) {" + "if (sm == 90) a(); /* x */ " * (n // 26) + "}",
    "ipc": lambda n: "void f() {" + " cudaIpcOpenMemHandle(&p, h, 0); atomicAdd_system(p, 1);" * (n // 56) + "}",
    "cluster": lambda n: "void f() {" + " attrs[0].val.clusterDim.x = 4;" * (n // 31) + "}",
    "fn defaults": lambda n: "void f(int sm = g(" * (n // 18) + ") {}",
    "deep index": lambda n: "void f(int sm) { if (a" + "[a" * (n // 2) + " == sm) x(); }",
    "deep minus": lambda n: "void f(int sm) { if (" + "- " * (n // 2) + "sm == 90) x(); }",
    "deep call": lambda n: "void f(int sm) { if (" + "g(" * (n // 2) + "sm == 90) x(); }",
    "std strings": lambda n: "void f(int sm) { if (sm == 90) throw x(" + '"a" ' * (n // 4) + "); }",
}

HOSTILE |= {
    "word of CHECK": lambda n: "void f(int sm) {" + "CHECK" * (n // 5) + ";}",
    "word of get": lambda n: "void f(int sm) { " + "get" * (n // 3) + "; }",
    "word of limits": lambda n: "cudaFuncSetAttribute(k, MaxDynamicSharedMemorySize, 3);" + "maxsmem" * (n // 7),
    "word of atoms": lambda n: "SM100_MMA_" * (n // 10),
    "word of wrappers": lambda n: "sm90" * (n // 4) + "<",
    "word of checks that fail": lambda n: "void f(int sm) { if (sm == 90) " + "CHECKERROR" * (n // 10) + ";}",
    "tails": lambda n: ("a(b) const " * 200 + "{}") * (n // 2200),
    "bases": lambda n: ("struct A " + ": public B " * 200 + "{};") * (n // 2200),
    "open for": lambda n: "void f(int sm) {" + "for (" * (n // 5) + "}",
    "initialisers": lambda n: "void f(int sm) { int a[] = " + "{" * (n // 2) + "}" * (n // 2) + "; }",
    "returned lambdas": lambda n: "void f(int sm) { g(" + "[&]{ return " * (n // 12) + "1;" + "}" * (n // 12) + "); }",
    "arguments": lambda n: "void f(int sm) { TORCH_CHECK(sm == 90" + ", a" * (n // 3) + "); }",
    "asm comments": lambda n: 'asm("' + "/*" * (n // 2) + '");',
    "asm macros": lambda n: '#define S "tcgen05.fence;"\nasm(' + "S " * (n // 2) + ");",
    "pasted": lambda n: "#define A a " + "## a " * (n // 5) + "\n#if A\n#endif",
    "carriage returns": lambda n: "#if __CUDA_ARCH__ == 900\r\nx\r\n#endif\r\n" * (n // 40),
    "surrogates": lambda n: "\udc80" * (n // 2) + "\nvoid f(int sm) { if (sm == 90) x(); }",
    "line separators": lambda n: "\u2028" * (n // 2) + "\n#if __CUDA_ARCH__\n#endif",
}
LARGE: dict[str, Callable[[int], str]] = {
    kind: HOSTILE[kind]
    for kind in ("parens", "braces", "quotes", "escaped quotes", "ifs", "comments", "long line", "open raw", "asm open")
}
MEGABYTE = 1_000_000


def run(source: str) -> None:
    """Read a file and evaluate its guards and gates."""
    module = read("/tree/a.cu", source)
    tree = Tree(Sources({}), lambda path, name: None)
    tree.headers.add(module)
    for guard in module.guards:
        tree.target_sets(module, guard)
    for gate in module.gates[:100]:
        tree.sets(module, gate)


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_grows_with_the_input(kind: str) -> None:
    grows_as_its_input(run, HOSTILE[kind], 4_000)


@pytest.mark.parametrize("kind", LARGE)
def test_a_megabyte(kind: str) -> None:
    grows_as_its_input(run, LARGE[kind], MEGABYTE // 4)


def test_a_hundred_thousand_nested_conditionals() -> None:
    grows_as_its_input(run, lambda size: "#if __CUDA_ARCH__ >= 900\n" * size, 25_000)


def test_a_line_of_twenty_thousand_characters() -> None:
    condition = " || ".join(["__CUDA_ARCH__ == 1200"] * 900)
    assert len(condition) > 20_000
    run(f"#if {condition}\nint x;\n#endif\nbool f(int sm) {{ return {condition.replace('__CUDA_ARCH__', 'sm')}; }}")


@pytest.mark.parametrize("cut", range(0, 120, 3))
def test_what_ends_in_the_middle(cut: int) -> None:
    whole = (
        '#if __CUDA_ARCH__ >= 900 && \\\n defined(A)\nasm("tcgen05.fence;" : : "r"(x)); R"x(a)x" /* b */ \'c\' f<a>;'
    )
    run(whole[:cut])
    run(whole[cut:])
