"""Which gates the reader finds, of which kind, and how their sides end."""

from __future__ import annotations

import pytest

from bwlint.model.facts import Gate
from bwlint.readers.python import ReadError, read
from bwlint.readers.python.vocabulary import may_hold

CAP = "torch.cuda.get_device_capability()"
IMPORTS = "import pytest, sys, torch\n"


def gates(source: str) -> tuple[Gate, ...]:
    return read("/example.py", IMPORTS + source, "example", False).gates


def shape(gate: Gate) -> str:
    """A gate in words: kind, how both sides end."""
    return f"{gate.kind}: {gate.yes.ends} / {gate.no.ends}"


KINDS = [
    ("raise", f"if {CAP} != (12, 0):\n    raise ValueError('no')", ["condition: raise / fall"]),
    ("exit", f"if {CAP} != (12, 0):\n    sys.exit(1)", ["condition: exit / fall"]),
    ("system exit", f"if {CAP} != (12, 0):\n    raise SystemExit('no')", ["condition: exit / fall"]),
    ("skip", f"if {CAP} != (12, 0):\n    pytest.skip('no')", ["condition: skip / fall"]),
    ("return", f"def f():\n    if {CAP} == (12, 0):\n        return 1\n    return 2", ["condition: return / return"]),
    ("rest", f"def f():\n    if {CAP}[0] == 12:\n        return\n    raise OSError", ["condition: return / raise"]),
    ("continue", f"for i in x:\n    if {CAP} == (12, 0):\n        continue", ["condition: continue / fall"]),
    ("else", f"if {CAP} == (12, 0):\n    f()\nelse:\n    raise ValueError", ["condition: fall / raise"]),
    ("assert", f"assert {CAP} == (12, 0), 'no'", ["assert: fall / raise"]),
    ("flag", f"is_sm120 = {CAP} == (12, 0)", ["flag: fall / fall"]),
    ("predicate", f"def is_sm120():\n    return {CAP} == (12, 0)", ["predicate: return / return"]),
    ("expression", f"x = 1 if {CAP} == (12, 0) else 2", ["expression: fall / fall"]),
    ("argument", f"f(1 if {CAP} == (12, 0) else 2)", ["expression: fall / fall"]),
    ("skipif", f"@pytest.mark.skipif({CAP} != (12, 0), reason='no')\ndef test(): pass", ["skipif: skip / fall"]),
    ("skipUnless", f"@unittest.skipUnless({CAP} == (12, 0), 'no')\ndef test(): pass", ["skipif: fall / skip"]),
    ("mark", f"needs_sm = pytest.mark.skipif({CAP} != (12, 0), reason='no')", ["skipif: skip / fall"]),
    ("list", "supported_archs = ['sm_90', 'sm_120']", ["list: fall / raise"]),
    ("numbers", "compute_capabilities = [90, 120]", ["list: fall / raise"]),
    ("majors", "supported_major_versions = [9, 12]", ["list: fall / raise"]),
    ("keyword", "f(supported_major_versions=[9, 12])", ["list: fall / raise"]),
    ("decorator", "@supported_compute_capability([90, 120])\ndef f(): pass", ["list: fall / raise"]),
    ("table", "SMEM = {'sm_90': 1, 'sm_120': 2}", ["table: fall / raise"]),
    ("helper call", "skip_if_not_sm100()\nf()", ["helper-call: fall / skip"]),
    ("match", f"match {CAP}[0]:\n    case 12:\n        f()", ["condition: fall / fall"]),
    ("chain", f"if {CAP}[0] == 9:\n    f()\nelif {CAP}[0] == 12:\n    g()", ["condition: fall / fall"] * 2),
    ("nested", f"if {CAP}[0] == 12:\n    if {CAP}[1] == 0:\n        f()", ["condition: fall / fall"] * 2),
    ("while", f"while {CAP}[0] == 12:\n    f()", ["expression: fall / fall"]),
    ("comment", f"# if {CAP} == (12, 0)", []),
    ("string", f"x = 'if {CAP} == (12, 0)'", []),
    ("other numbers", "widths = [90, 120]", []),
    ("other table", "COLORS = {90: 'a', 120: 'b'}", []),
    ("one row", "SMEM = {'sm_90': 1}", []),
    ("plain call", f"x = f({CAP})", []),
    ("plain return", f"def f():\n    return {CAP}", []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "shapes"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS])
def test_kinds_and_sides(source: str, shapes: list[str]) -> None:
    assert [shape(gate) for gate in gates(source)] == shapes


def test_a_chain_is_one() -> None:
    first, second, third = gates(
        f"major = {CAP}[0]\nif major == 9:\n    f()\nelif major == 10:\n    g()\nelif major == 12:\n    h()"
    )
    assert first.chain == second.chain == third.chain
    assert [gate.position for gate in (first, second, third)] == [0, 1, 2]
    assert len(third.path) == 2


def test_an_early_return_is_on_the_path_of_what_follows() -> None:
    first, second = gates(f"def f():\n    if {CAP}[0] < 9:\n        return\n    if {CAP}[0] == 12:\n        return 1")
    assert first.path == ()
    assert [test.op for test in second.path] == ["not"]


def test_the_leaf_is_the_comparison_that_reads_the_device() -> None:
    (gate,) = gates(f"if enabled and {CAP} == (12, 0):\n    f()")
    assert gate.leaf is not None
    assert gate.leaf[1] > gate.at[1]


def test_uses_and_texts_of_a_side() -> None:
    (gate,) = gates(
        f"import deep_gemm\nif {CAP}[0] >= 9:\n    deep_gemm.fp8(x, backend='trtllm')\n"
        "else:\n    raise ValueError('needs SM90')"
    )
    assert ("deep_gemm.fp8", "call") in [(use.name, use.how) for use in gate.yes.uses]
    assert [(use.name, use.role) for use in gate.yes.uses if use.how == "text"] == [("trtllm", "backend")]
    assert [text.text for text in gate.no.texts] == ["needs SM90"]


def test_comments_around_a_gate() -> None:
    (gate,) = gates(f"# exact on purpose\nif {CAP} == (12, 0):  # one card\n    f()")
    assert "exact on purpose" in gate.comment
    assert "one card" in gate.comment


@pytest.mark.parametrize(
    ("source", "words"),
    [("if x ==\n", "syntax error"), ("x = 1\0", "NUL byte"), ("(" * 5000 + ")" * 5000, "nested|many|syntax")],
)
def test_what_python_does_not_read_is_an_error(source: str, words: str) -> None:
    with pytest.raises(ReadError, match=words):
        read("/example.py", source, "example", False)


PREFILTER = [
    ("torch.cuda.get_device_capability()", True),
    ("if arch == 120:", True),
    ("supported = ['sm_120']", True),
    ("is_blackwell()", True),
    ("if major >= 10:", True),
    ("@supported_compute_capability([120])", True),
    ("x = 1", False),
    ("search(archive, march)", False),
    ("small = smaller", False),
    ("a_major = 'k'", False),
    ("row_major = True", False),
]


@pytest.mark.parametrize(("source", "passes"), PREFILTER, ids=[row[0] for row in PREFILTER])
def test_prefilter(source: str, passes: bool) -> None:
    assert may_hold(source.encode()) is passes
