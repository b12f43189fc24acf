"""Instructions in inline assembly and atoms of template libraries, with their places."""

from __future__ import annotations

import pytest

from bwlint.model.facts import Operation
from bwlint.readers.cuda import read


def operations(source: str, kind: str) -> list[Operation]:
    return [one for one in read("/tree/a.cu", source).operations if one.kind == kind]


def instructions(source: str) -> list[str]:
    return [one.name for one in operations(source, "instruction")]


FENCE = "wgmma.fence.sync.aligned"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f'asm("{FENCE};");', [FENCE]),
        (f'asm("{FENCE}");', [FENCE]),
        (f'asm volatile("{FENCE};\\n" ::: "memory");', [FENCE]),
        (f'__asm__ __volatile__ ("{FENCE};");', [FENCE]),
        (f'asm("{{\\n\\t{FENCE};\\n}}");', [FENCE]),
        (f'asm(".reg .pred p;\\n" "L: {FENCE};\\n");', [FENCE]),
        (f'asm("@p {FENCE};");', [f"@p {FENCE}"]),
        (f'asm("@!%p1 {FENCE};");', [f"@!%p1 {FENCE}"]),
        (f'asm(R"(\n  {FENCE};\n  mov.u32 %0, 1;)");', [FENCE]),
        ('asm("wgmma." "fence.sync.aligned;");', [FENCE]),
        (f'asm("mov.u32 %0, 1; {FENCE}; {FENCE};");', [FENCE, FENCE]),
        (
            'asm("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [%2];");',
            ["tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [%2]"],
        ),
        (f'#define WAIT "{FENCE};"\nasm(WAIT);', [FENCE]),
        ('#define TO ".sync.aligned"\nasm("wgmma.fence" TO ";");', [FENCE]),
        (f'#define RUN() asm("{FENCE};")', [FENCE]),
        (f'asm("/* {FENCE}; */ mov.u32 %0, 1;");', []),
        (f'asm("// {FENCE};\\n mov.u32 %0, 1;");', []),
        (f'asm("// mov.u32 %0, 1;\\n {FENCE};");', [FENCE]),
        (f'asm("mov.u32 %0, 1;" : "=r"(a) : "r"("{FENCE};"));', []),
        (f'// asm("{FENCE};");', []),
        (f'const char* text = "{FENCE};";', []),
        (f'my_asm("{FENCE};");', []),
        (f'printf("asm(\\"{FENCE};\\")");', []),
        ('asm("bar.sync 0;");', []),
        ("asm(;", []),
        (f'asm("{FENCE};', [FENCE]),
    ],
)
def test_instructions(source: str, expected: list[str]) -> None:
    assert instructions(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        f'void f() {{ asm("{FENCE};"); }}',
        f'void f() {{\n  asm volatile("mov.u32 %0, 1;\\n\\t"\n    "{FENCE};\\n");\n}}',
        f'/* é */ void f() {{ /* ü */ asm("{FENCE};"); }}',
        f'void f() {{ asm(R"x(\n  é; {FENCE};)x"); }}',
        f'void f() {{ asm("L: @p {FENCE};"); }}',
        f'#define S "a"\nvoid f() {{ asm("ld" S ";" "{FENCE};"); }}',
    ],
)
def test_the_place_of_an_instruction(source: str) -> None:
    (found,) = operations(source, "instruction")
    line, column, end_line, end = found.at
    data = source.splitlines()[line - 1].encode()
    assert line == end_line
    assert data[column:end].decode().removeprefix("@p ") == FENCE


def test_an_instruction_of_a_macro_stands_where_the_macro_is_named() -> None:
    (found,) = operations(f'#define WAIT "{FENCE};"\nvoid f() {{ asm(WAIT); }}', "instruction")
    assert found.at[:2] == (2, 15)


MMA = 'asm("mma.sync.aligned." SHAPE ".row.col.kind::" KIND ".f32." #A "." #A ".f32 %0;")'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            f'#define MMA(SHAPE, KIND, A) {MMA}\nvoid f() {{ MMA("m16n8k32", "f8f6f4", e2m1); }}',
            [(2, "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 %0")],
        ),
        (
            '#define TC "tcgen05"\n#define WAIT TC ".wait::ld.sync.aligned;"\nasm(WAIT);',
            [(3, "tcgen05.wait::ld.sync.aligned")],
        ),
        (
            '#define S(x) #x\n#define STR(x) S(x)\n#define K f32\nasm("redux.sync.min." STR(K) " %0;");',
            [(4, "redux.sync.min.f32 %0")],
        ),
        (
            '#define OF_u32 ".b64"\n#define R(T) asm("redux.sync" OF_##T "." #T " %0;")\nR(u32);',
            [(3, "redux.sync.b64.u32 %0")],
        ),
        (f'#define WAIT asm("{FENCE};")\nWAIT; WAIT_NOT; RE_WAIT;', [(2, FENCE)]),
        ('asm("redux.sync." UNKNOWN ".f32 %0;");', [(1, "redux.sync. .f32 %0")]),
        (
            'asm("cp.async.bulk.tensor.2d.cta_group::%2 [%0];" :: "n"(1));',
            [(1, "cp.async.bulk.tensor.2d.cta_group::1 [%0]")],
        ),
    ],
)
def test_what_is_pasted_together(source: str, expected: list[tuple[int, str]]) -> None:
    assert [(one.at[0], one.name) for one in operations(source, "instruction")] == expected


def test_a_macro_compiles_where_it_is_named() -> None:
    arms = f'#if A\n#define WAIT() asm("{FENCE};")\n#else\n#define WAIT()\n#endif\n'
    (found,) = operations(f"{arms}#if B\nvoid f() {{ WAIT(); }}\n#endif", "instruction")
    assert (found.at[0], len(found.path), found.qualname) == (7, 2, "f")


def test_macros_that_name_each_other_end() -> None:
    rows = "".join(f"#define M{n} {f'M{n + 1} ' * 300}\n" for n in range(9))
    assert instructions(f'{rows}asm(M0 "{FENCE};");') == [FENCE]


def test_an_instruction_knows_its_guard_and_its_function() -> None:
    source = f'struct A {{ void f() {{\n#if __CUDA_ARCH__ >= 900\nasm("{FENCE};");\n#endif\n}} }};'
    (found,) = operations(source, "instruction")
    assert (found.qualname, len(found.path)) == ("A.f", 1)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("auto a = SM100_MMA_F16BF16_SS<half>{};", ["SM100_MMA_F16BF16_SS"]),
        ("using A = cute::SM90_TMA_LOAD_MULTICAST;", ["SM90_TMA_LOAD_MULTICAST"]),
        ("struct SM100_MMA_F16BF16_SS {};", []),
        ("// SM100_MMA_F16BF16_SS", []),
        ('"SM100_MMA_F16BF16_SS";', []),
        ("MY_SM100_MMA_F16BF16_SS{};", []),
    ],
)
def test_atoms(source: str, expected: list[str]) -> None:
    found = [one.name for one in operations(source, "atom")]
    assert found == expected
