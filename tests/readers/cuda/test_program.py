"""Host code: its gates, the chips that pass them, and what their branches do."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bwlint.evaluate.sources import Sources
from bwlint.model.facts import Side
from bwlint.readers.cuda import read
from bwlint.world.tree import Tree


@dataclass(frozen=True, slots=True)
class Found:
    """A gate: its kind, its text, the chips that may pass and those that reach it, in words, and its sides."""

    kind: str
    text: str
    passes: str
    live: str
    yes: Side
    no: Side
    name: str


def gates(source: str) -> list[Found]:
    module = read("/tree/a.cpp", source)
    tree = Tree(Sources({}), lambda path, name: None)
    tree.headers.add(module)
    found = []
    for gate in module.gates:
        sets = tree.sets(module, gate)
        if sets is not None:
            live = str(tree.live(module, gate))
            found.append(Found(gate.kind, gate.text, str(sets.may), live, gate.yes, gate.no, gate.name))
    return found


def passing(source: str) -> list[tuple[str, str]]:
    return [(gate.text, gate.passes) for gate in gates(source)]


def body(text: str, parameters: str = "int sm") -> str:
    return f"void f({parameters}) {{ {text} }}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (body("if (sm == 120) a();"), [("sm == 120", "12.0 only")]),
        (body("if (!(sm == 120)) a();"), [("!(sm == 120)", "every chip but 12.0")]),
        (body("if (sm == 120 && fast) a();"), [("sm == 120 && fast", "12.0 only")]),
        (body("if (sm >= 100 && sm < 120) a();"), [("sm >= 100 && sm < 120", "10.x and 11.0")]),
        (body("if (sm / 10 == 12) a();"), [("sm / 10 == 12", "12.x")]),
        (body("sm = sm / 10; if (sm == 12) a();"), [("sm == 12", "12.x")]),
        (
            body("if (major == 12 && minor == 0) a();", "int major, int minor"),
            [("major == 12 && minor == 0", "12.0 only")],
        ),
        (body('if (arch == "sm_120") a();', "std::string arch"), [('arch == "sm_120"', "12.0 only")]),
        (body("run([&] { if (sm == 120) a(); });"), [("sm == 120", "12.0 only")]),
        (body("int stages = sm == 120 ? 1 : 2;"), [("sm == 120", "12.0 only")]),
        ("struct A { int mSM; void f() { if (mSM == 120) a(); } };", [("mSM == 120", "12.0 only")]),
        ("int f(int sm) { return sm == 120 ? 1 : 2; }", [("sm == 120", "12.0 only")]),
        (
            "template <class Arch> void f() { if constexpr (std::is_same_v<Arch, arch::Sm120>) a(); }",
            [("std::is_same_v<Arch, arch::Sm120>", "12.x")],
        ),
    ],
)
def test_conditions(source: str, expected: list[tuple[str, str]]) -> None:
    assert passing(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        body("if (rows == 120) a();", "int rows"),
        body("if (sm_count == 120) a();", "int sm_count"),
        body("if (sm_scale > 1) a();", "float sm_scale"),
        body("int sm = 3;", ""),
        "__global__ void k(int sm) { if (sm == 120) a(); }",
        "void f(int sm);",
        "// if (sm == 120) a();",
        'const char* s = "if (sm == 120) a();";',
        "#if 0\nif (sm == 120) a();\n#endif",
    ],
)
def test_what_asks_for_no_device(source: str) -> None:
    assert not gates(source)


ROWS = """
Row pick() {{
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  int compute = prop.major * 10;
  Row own;
  {given};
  for (int i = 0; i < count; ++i)
    if ({looked_up}) return rows[i];
  if (prop.major == 9) return own;
  return own;
}}
bool fits(const Row& c) {{
  if (c.Compute == 100 && c.rows != 128) return false;
  if (c.major == 10) return false;
  return true;
}}
"""
OF_THE_DEVICE = ("c.Compute == 100 && c.rows != 128", "10.x")


@pytest.mark.parametrize(
    ("given", "looked_up", "is_device"),
    [
        ("own.Compute = compute", "rows[i].Compute == compute", False),
        ("own.Compute = compute", "table->rows[i] . Compute == key.Compute", False),
        ("own.Compute = compute", "rows[i].Compute == 100", True),
        ("own.Compute = compute", "rows[i].Compute == rows[0].Compute", True),
        ("own.Compute = compute", "rows[i].size == size", True),
        ("own.major = prop.major; own.Compute = compute", "rows[i].major == compute", True),
    ],
)
def test_a_field_by_which_rows_are_looked_up_is_no_device(given: str, looked_up: str, is_device: bool) -> None:
    found = passing(ROWS.format(given=given, looked_up=looked_up))
    assert (OF_THE_DEVICE in found) is is_device
    assert {("prop.major == 9", "9.0 only"), ("c.major == 10", "10.x")} <= {*found}


@pytest.mark.parametrize(
    ("enumerators", "expected"),
    [
        ("SM_89 = 89, SM_90 = 90, SM_120 = 120", ["12.0 only"]),
        (", ".join([*(f"MODEL_{i}" for i in range(120)), "SM_120"]), []),
    ],
)
def test_an_enumerator_that_is_only_counted_is_no_capability(enumerators: str, expected: list[str]) -> None:
    found = gates(f"enum Arch {{ {enumerators} }}; void f(int arch) {{ if (arch == SM_120) a(); }}")
    assert [one.passes for one in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); if (p.major == 12) a();", "12.x"),
        ("auto* p = at::cuda::getCurrentDeviceProperties(); if (p->major == 12 && p->minor == 0) a();", "12.0 only"),
        ("auto const& p = *at::cuda::getCurrentDeviceProperties(); if (p.major >= 10) a();", "10.0 and newer"),
        ("int a; cudaDeviceGetAttribute(&a, cudaDevAttrComputeCapabilityMajor, 0); if (a == 12) x();", "12.x"),
        (
            "int m; cuDeviceGetAttribute(&m, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0); if (m == 9) x();",
            "9.0 only",
        ),
        (
            "int a, b; cudaDeviceGetAttribute(&a, cudaDevAttrComputeCapabilityMajor, 0); "
            "cudaDeviceGetAttribute(&b, cudaDevAttrComputeCapabilityMinor, 0); if (a * 10 + b == 121) x();",
            "12.1 only",
        ),
        (
            "int n; cudaDeviceGetAttribute(&n, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0); if (n >= 160 * 1024) x();",
            "8.0, 8.7, 9.0, 10.x and 11.0",
        ),
        ("static int const sm = getSMVersion(); if (sm == 120) a();", "12.0 only"),
        ("int const sm = tensorrt_llm::common::getSMVersion(); if (sm >= 100) a();", "10.0 and newer"),
    ],
)
def test_where_the_capability_comes_from(text: str, expected: str) -> None:
    (gate,) = gates(body(text, ""))
    assert gate.passes == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (sm == 120) a(); else if (sm == 121) b(); else c();", ["every chip", "every chip but 12.0"]),
        ("if (sm < 90) return; if (sm == 120) a();", ["every chip", "9.0 and newer"]),
        ("if (sm < 90) { x(); } if (sm == 120) a();", ["every chip", "every chip"]),
        ("if (sm >= 90) { if (sm == 120) a(); }", ["every chip", "9.0 and newer"]),
        ("if (sm >= 90) { x(); } else { if (sm == 80) a(); }", ["every chip", "7.x and 8.x"]),
        ("if (sm >= 90) { return; } else { x(); } if (sm == 80) a();", ["every chip", "7.x and 8.x"]),
    ],
)
def test_who_gets_to_a_gate(text: str, expected: list[str]) -> None:
    assert [gate.live for gate in gates(body(text))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("case 90: a(); break; case 120: case 121: b(); break; default: throw x();", ["9.0 only", "12.x"]),
        ("case 120: a(); default: b();", ["12.0 only"]),
        ("case kFirst: a(); break; case 120: b();", ["12.0 only"]),
        ("default: a();", []),
    ],
)
def test_switch(text: str, expected: list[str]) -> None:
    found = [gate.passes for gate in gates(body(f"switch (sm) {{ {text} }}")) if gate.passes != "every chip"]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("if (sm == 120) a(); else b();", "fall", "fall"),
        ("if (sm == 120) return; b();", "return", "fall"),
        ("if (sm == 120) throw x(); b();", "raise", "fall"),
        ('if (sm == 120) { a(); } else { throw std::runtime_error("x"); }', "fall", "raise"),
        ("if (sm == 120) { a(); return; } throw x();", "return", "raise"),
        ("if (sm == 120) return Status::kErrorNotSupported; b();", "raise", "fall"),
        ('if (sm == 120) { GTEST_SKIP() << "x"; } b();', "skip", "fall"),
        ('if (sm == 120) { std::cerr << "requires Hopper"; return 0; } b();', "exit", "fall"),
        ('if (sm == 120) { std::cerr << "hello"; return 0; } b();', "return", "fall"),
        ('if (sm == 120) { TORCH_CHECK(false, "x"); } b();', "raise", "fall"),
        ("if (sm == 120) exit(1); b();", "raise", "fall"),
        ("for (;;) { if (sm == 120) continue; b(); }", "continue", "fall"),
    ],
)
def test_how_sides_end(text: str, yes: str, no: str) -> None:
    (gate,) = gates(body(text))
    assert (gate.yes.ends, gate.no.ends) == (yes, no)


@pytest.mark.parametrize(
    ("text", "empty", "tuning"),
    [
        ("if (sm == 120) { }", True, False),
        ("if (sm == 120) ;", True, False),
        ("if (sm == 120) { stages = 2; }", False, True),
        ("if (sm == 120) { stages = 2; tile = 64; }", False, True),
        ("if (sm == 120) { stages = count(); }", False, False),
        ("if (sm == 120) { launch(); }", False, False),
    ],
)
def test_sides_that_do_little(text: str, empty: bool, tuning: bool) -> None:
    (gate,) = gates(body(text))
    assert (gate.yes.empty, gate.yes.tuning) == (empty, tuning)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('TORCH_CHECK(sm >= 90, "needs 9.0");', "9.0 and newer"),
        ("TORCH_CHECK_GE(sm, 90);", "9.0 and newer"),
        ("CHECK_EQ(sm, 120);", "12.0 only"),
        ("CHECK(sm == 120);", "12.0 only"),
        ("assert(sm == 120);", "12.0 only"),
        ('TLLM_CHECK_WITH_INFO(sm != 120, "no");', "every chip but 12.0"),
    ],
)
def test_assertions(text: str, expected: str) -> None:
    (gate,) = gates(body(text))
    assert (gate.kind, gate.passes, gate.no.ends) == ("assert", expected, "raise")


@pytest.mark.parametrize(
    "text", ["CUDA_CHECK(launch(sm));", "TORCH_CHECK(rows > 0);", "CHECK_EQ(a, 120);", "check(sm);"]
)
def test_no_assertions_about_the_device(text: str) -> None:
    assert not gates(body(text))


def test_the_message_of_an_assertion() -> None:
    (gate,) = gates(body('TORCH_CHECK(sm == 120, "only ", "these");'))
    assert gate.no.texts[0].text == "only  these"


def test_flags_and_their_uses() -> None:
    flag, use = gates(body("bool const is_new = sm == 120; if (is_new) a();"))
    assert (flag.kind, flag.name, flag.passes) == ("flag", "is_new", "12.0 only")
    assert (use.kind, use.passes) == ("condition", "12.0 only")


def test_helpers_of_the_file() -> None:
    helper, use = gates("bool is_new(int sm) { return sm >= 100; }\n" + body("if (is_new(sm)) a();"))
    assert (helper.kind, helper.name) == ("predicate", "is_new")
    assert use.passes == "10.0 and newer"


def test_a_name_assigned_in_one_branch_only() -> None:
    found = passing(body("int tile = 1; if (sm == 120) tile = 2; if (tile == 2 && sm >= 90) a();"))
    assert found[-1] == ("tile == 2 && sm >= 90", "12.0 only")


def test_every_function_has_a_default_for_each_parameter_or_none() -> None:
    source = (
        "#define WIDE(cc, least) ((cc) >= (least))\n"
        "constexpr int highest(int arch) { return arch; }\n"
        "template <int A, int B> struct Pair { static constexpr bool same = A == B; };\n"
        "bool fits(int cc) { return WIDE(cc, 100) && highest(cc) >= 100; }\n"
    )
    functions = read("/tree/a.cpp", source).functions
    assert {"WIDE", "highest", "fits"} <= functions.keys()
    assert all(len(one.params) == len(one.defaults) for one in functions.values())
