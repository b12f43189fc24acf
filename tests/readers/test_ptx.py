"""The reader of PTX: statements of fragments, facts of files, and hostile input."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import grows_as_its_input

from bwlint.model.expr import Expr
from bwlint.model.facts import Operation
from bwlint.readers.ptx import facts, may_matter, read, statements

FENCE = "wgmma.fence.sync.aligned"


def texts(fragment: str) -> list[str]:
    return [statement for statement, _, _ in statements(fragment)]


@pytest.mark.parametrize(
    ("fragment", "found"),
    [
        ("", []),
        (" ; ;; ", []),
        ("ret;", ["ret"]),
        ("tcgen05.ld.sync.aligned.32x32b.x", ["tcgen05.ld.sync.aligned.32x32b.x"]),
        ("{ .reg .pred p; setp.ne.b32 p, %4, 0; @p ret; }", ["setp.ne.b32 p, %4, 0", "@p ret"]),
        ("mma.sync {%0, %1}, {%2, %3}, {%4}; }", ["mma.sync {%0, %1}, {%2, %3}, {%4}"]),
        ("mma.sync {%0, %1}, {%2, %3}, {%4}}", ["mma.sync {%0, %1}, {%2, %3}, {%4}"]),
        ("LAB_WAIT: bra DONE; DONE:", ["bra DONE"]),
        ("LAB_%=:\n@P1 bra $L__1;\n$L__1:\nret;", ["@P1 bra $L__1", "ret"]),
        (r"ret;\n\tbra L;\n", ["ret", "bra L"]),
        (r"// ret;\n bra L; // x" + "\n exit;", ["bra L", "exit"]),
        ("/* ret; */ bra /* ; */ L;", ["bra L"]),
        ("bra L /* never closed ; ret;", ["bra L"]),
        ("tcgen05.wait::ld.sync.aligned;", ["tcgen05.wait::ld.sync.aligned"]),
        ("mov.u32 %0,\n   %%laneid ;", ["mov.u32 %0, %%laneid"]),
        (".reg .b32 a; .shared .b8 s[4]; .pragma 1;", []),
    ],
)
def test_statements(fragment: str, found: list[str]) -> None:
    assert texts(fragment) == found


def test_statements_know_their_places() -> None:
    fragment = "{\\n .reg .b32 r; // c ; \n  wgmma.fence\\n .sync; L: ret ;}"
    for _, start, end in statements(fragment):
        assert fragment[start:end] in ("wgmma.fence\\n .sync", "ret")


def module(body: str, target: str = "sm_120a", header: str = "", common: str = "") -> str:
    head = f".version 8.8\n.target {target}\n.address_size 64\n{common}\n"
    return f"{head}.visible .entry k(.param .u64 k_0)\n{header}\n{{\n{body}\nret;\n}}\n"


def operations(source: str, kind: str = "instruction") -> list[Operation]:
    return [operation for operation in facts(source)[0] if operation.kind == kind]


def amounts(source: str, kind: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(o.name, tuple(e.args[0] for e in o.amounts if isinstance(e, Expr))) for o in operations(source, kind)]


@pytest.mark.parametrize(
    "body",
    [
        f"{FENCE};",
        f"@p {FENCE};",
        f"@!%p1 {FENCE};",
        f"mov.u32 %r1, %r2;{FENCE};",
        f"$L__BB0_1:\n{FENCE};",
        f"L: {FENCE};",
        f"{{ {FENCE}; }}",
        f".loc 1 2 3\n{FENCE};",
        f".reg .b32 a;\n// begin inline asm\n{FENCE};\n// end inline asm",
        f"/* a\n; b */ {FENCE};",
        f'.pragma "nounroll; x";\n{FENCE};',
    ],
)
def test_an_instruction_is_found(body: str) -> None:
    source = module(body)
    (found,) = operations(source)
    line, column, end_line, end_column = found.at
    assert found.name == FENCE
    assert found.qualname == "k"
    assert line == end_line
    assert source.splitlines()[line - 1][column:end_column] == FENCE


@pytest.mark.parametrize(
    "body",
    [
        f"// {FENCE};",
        f"/* {FENCE}; */",
        f"/*\n{FENCE};\n*/ mov.u32 %r1, %r2;",
        f'.pragma "{FENCE};";',
        f"call {FENCE.replace('.', '_')};",
        "mov.u32 %r1, %tid.x;",
        "min.f32 %f1, %f2, %f3;",
        "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];",
        "cvt.rn.f32.s32 %f1, %r1;",
        "bra wgmma;",
    ],
)
def test_nothing_is_found(body: str) -> None:
    assert operations(module(body)) == []


def test_places_count_bytes_and_lines() -> None:
    source = module("/* ä */ wgmma.fence.sync.aligned;").replace("\n", "\r\n")
    (found,) = operations(source)
    assert found.at == (8, len("/* ä */ ".encode()), 8, len(f"/* ä */ {FENCE}".encode()))


def test_the_target_is_carried() -> None:
    _, (carry,) = facts(module("", "sm_120f, debug"))
    assert (carry.kind, carry.sass, carry.ptx, carry.text, carry.at) == ("file", (), ("120f",), "8.8", (2, 8, 2, 15))
    assert facts("// .target sm_90\n") == ((), ())
    assert facts(".target foo\n") == ((), ())


@pytest.mark.parametrize(
    ("header", "kind", "found"),
    [
        (".reqnctapercluster 2, 1, 1", "cluster", [(".reqnctapercluster", (2, 1, 1))]),
        (".explicitcluster\n.maxclusterrank 8", "cluster", [(".explicitcluster", ()), (".maxclusterrank", (8,))]),
        (".maxntid 512, 2\n.minnctapersm 2", "launch-bounds", [(".minnctapersm", (1024, 2))]),
        (".minnctapersm 4 .reqntid 256,1,1", "launch-bounds", [(".minnctapersm", (256, 4))]),
        (".maxntid 512", "launch-bounds", []),
        (".minnctapersm 2", "launch-bounds", []),
        (".maxnreg 64", "cluster", []),
    ],
)
def test_headers(header: str, kind: str, found: list[tuple[str, tuple[int, ...]]]) -> None:
    assert amounts(module("", header=header), kind) == found


@pytest.mark.parametrize(
    ("common", "body", "size"),
    [
        ("", ".shared .align 16 .b8 a[1000]; .shared .b32 c[10][4];", 1160),
        ("", ".shared .v4 .f32 a[4];", 64),
        ("", ".shared .u64 a;", 8),
        (".shared .b8 a[100];", "mov.u32 %r1, a;", 100),
        (".visible .shared .align 4 .b8 _Z1a$b[0x10];", "mov.u32 %r1, _Z1a$b;", 16),
        (".shared .b8 a[100];", "mov.u32 %r1, ab;", 0),
        (".extern .shared .align 16 .b8 a[];", "mov.u32 %r1, a;", 0),
        (".global .b8 a[100];", "mov.u32 %r1, a;", 0),
        ("", ".local .b8 a[100];", 0),
        ("", ".shared .b8 a[N];", 0),
    ],
)
def test_static_shared_memory(common: str, body: str, size: int) -> None:
    found = amounts(module(body, common=common), "static-shared")
    assert found == ([("k", (size,))] if size else [])


def test_shared_memory_is_counted_by_kernel() -> None:
    one = module(".shared .b8 a[100];")
    other = one.partition("64\n")[2].replace("k(", "m(").replace("[100]", "[50]")
    assert amounts(one + other, "static-shared") == [("k", (100,)), ("m", (50,))]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\x00",
        ".target",
        ".target sm_120a",
        ".target sm_120a\n.entry",
        ".target sm_120a\n.entry k(",
        ".target sm_120a\n.entry k() {",
        ".target sm_120a\n}}}}} ret;",
        ".target sm_120a\n.entry k() { .shared .b8 a[",
        ".target sm_120a\n.entry k() { .shared .b8 a[99999999999999999999999999]; }",
        '.target sm_120a\n.file "unterminated',
        ".target sm_120a\n/* unterminated",
        ".target sm_120a\n.section .debug { .b8 1, 2",
        ".target sm_120a\n.entry k() .maxntid 99999999999999999999999999 .minnctapersm x { ret; }",
        ".target sm_120a\n.entry k() .reqnctapercluster { ret; }",
    ],
)
def test_broken_files_are_read(source: str) -> None:
    assert read("broken.ptx", source, "", False).language == "ptx"


def test_only_ptx_matters() -> None:
    assert may_matter(b".version 8.8\n.target sm_120\n", frozenset())
    assert not may_matter(b"\x01\x00notes", frozenset())


HOSTILE: dict[str, Callable[[int], str]] = {
    "one line": lambda n: module("mov.u32 %r1, %r2; " * n),
    "braces": lambda n: module("{" * n),
    "closing braces": lambda n: module("}" * n),
    "labels": lambda n: module("L: " * n),
    "brackets": lambda n: module(".shared .b8 a" + "[" * n),
    "dots": lambda n: module("ld" + ".a" * n + ";"),
    "quotes": lambda n: module('"' * n),
    "comments": lambda n: module("/*" * n),
    "slashes": lambda n: module("/ " * n),
    "guards": lambda n: module("@" * n),
    "a wide guard": lambda n: module("@" + " " * n),
    "a long head": lambda n: module("cvt" + ".f32" * n + ";"),
    "headers": lambda n: module("") + ".entry k( " * n,
    "directives": lambda n: ".target sm_120a\n" + ".loc 1 2 3\n" * n,
    "kernels": lambda n: ".target sm_120a\n.shared .b8 s[4];\n" + ".entry k() { st.shared.u32 [s], 1; }\n" * n,
    "spaces": lambda n: module(" " * n + "\t" * n),
    "numbers": lambda n: module("", header=".reqntid " + "1, " * n),
    "no end": lambda n: ".target sm_120a\n" + "ld " * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length(name: str) -> None:
    grows_as_its_input(lambda source: (facts(source), texts(source)), HOSTILE[name], 5_000)
