"""PTX back to the lines that it came from."""

from __future__ import annotations

import pytest

from bwlint.confirm.compiling.listing import Listing, SourceFrame

TEXT = """\
.version 9.0
.target sm_120a
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
\t.param .b64 vprintf_param_0
)
;
.func outlined()
{
\t.loc\t2 80 1
\t// begin inline asm
\ttcgen05.fence::after_thread_sync;
\t// end inline asm
\tret;
}
.visible .entry kernel(
\t.param .u64 p
)
.maxntid 256, 2, 1
.minnctapersm 3
{
\tmov.u32 %r9, 1;
\t.loc\t1 10 0
\tld.param.u64 %rd1, [p];
\t.loc\t1 12 3
\t.loc\t2 30 5, function_name $L__info_string0, inlined_at 1 12 3
\tst.u32 [%rd1], 1;
\t.loc\t2 40 7, function_name $L__info_string1, inlined_at 2 30 5
\t// begin inline asm
\t{
.reg .pred q;
.loc 9 9 9
@q tcgen05.mma.cta_group::1.kind::f16 [%r1],
 %rd1, %rd2, %r3, q; tcgen05.wait::ld.sync.aligned;
}
\t// end inline asm
\t.loc\t1 13 1
\tsetmaxnreg.inc.sync.aligned.u32 40;
\tret;
}
\t.file\t1 "/tree/a.cu"
\t.file\t2 "/tree/a.cuh"
\t.section\t.debug_str
\t{
$L__info_string0:
.b8 95
.b8 90
.b8 49
.b8 102
.b8 0
$L__info_string1:
.b8 95
.b8 90
.b8 49
.b8 103
.b8 118
.b8 0
\t}
"""
INNER = (
    SourceFrame("/tree/a.cuh", 40, "_Z1gv"),
    SourceFrame("/tree/a.cuh", 30, "_Z1f"),
    SourceFrame("/tree/a.cu", 12, ""),
)


@pytest.fixture
def listing() -> Listing:
    return Listing.of(TEXT)


def test_a_statement_has_the_lines_that_it_was_inlined_through(listing: Listing) -> None:
    (found,) = listing.statements("tcgen05.mma")
    assert (found.head, found.function) == ("tcgen05.mma.cta_group::1.kind::f16", "kernel")
    assert (found.line, found.end_line) == (34, 35)
    assert found.frames == INNER


def test_what_stands_on_one_line_is_told_apart(listing: Listing) -> None:
    (found,) = listing.statements("tcgen05.wait")
    assert (found.line, found.end_line) == (35, 35)


def test_statements_that_nobody_wrote_by_hand_count_too(listing: Listing) -> None:
    (found,) = listing.statements("setmaxnreg")
    assert found.frames == (SourceFrame("/tree/a.cu", 13, ""),)
    assert list(listing.statements("setmaxnreg", inline=True)) == []


def test_all_of_inline_assembly(listing: Listing) -> None:
    heads = [one.head for one in listing.statements(inline=True)]
    assert [head for head in heads if head.startswith("tcgen05")] == [
        "tcgen05.fence::after_thread_sync",
        "tcgen05.mma.cta_group::1.kind::f16",
        "tcgen05.wait::ld.sync.aligned",
    ]


def test_functions_and_their_bounds(listing: Listing) -> None:
    found = {one.name: one for one in listing.functions()}
    kernel = found["kernel"]
    assert (kernel.is_kernel, kernel.threads, kernel.blocks) == (True, 512, 3)
    assert kernel.frames == (SourceFrame("/tree/a.cu", 10, ""),)
    assert [name for name, one in found.items() if one.is_kernel] == ["kernel"]


def test_a_place_before_the_first_line_of_a_function_is_not_that_of_another(listing: Listing) -> None:
    assert listing.frames_at(23) == ()
    assert listing.function_at(23) == "kernel"
    assert listing.frames_at(25) == (SourceFrame("/tree/a.cu", 10, ""),)


def test_lines_of_a_file_that_was_written_by_hand(listing: Listing) -> None:
    assert [one.head for one in listing.written(39, 40)] == ["setmaxnreg.inc.sync.aligned.u32", "ret"]
    assert [one.head for one in listing.written(1000, 1001)] == []


def test_names(listing: Listing) -> None:
    assert listing.names(lambda name: name == "_Z1gv")
    assert not listing.names(lambda name: name == "_Z1h")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("\t.loc\t1 1 1\n" * 50_000, id="lines alone"),
        pytest.param(".loc 1 2 3, function_name $x, inlined_at 1 2 3\n" * 3, id="inlined into itself"),
        pytest.param(
            f'.loc {"9" * 10_000} 1 1\n.file {"9" * 10_000} "x"\n.maxntid {"9" * 10_000}\n', id="long numbers"
        ),
        pytest.param("// begin inline asm\n" * 3, id="assembly without an end"),
        pytest.param(".entry\n.func\n.entry k\n.minnctapersm\n", id="half a header"),
        pytest.param("$L__info_string0:\n.b8 999\n", id="a letter that is none"),
        pytest.param("{" * 100_000, id="braces"),
        pytest.param(".entry " + "(" * 100_000, id="brackets"),
        pytest.param(".loc 1 1 1" + " inlined_at" * 20_000, id="words"),
    ],
)
def test_hostile_text_ends(text: str) -> None:
    found = Listing.of(f".entry k()\n{text}\ntcgen05.fence;\n")
    assert [one.head for one in found.statements("nothing")] == []
    assert len(list(found.functions())) <= 4
    assert len(found.frames_at(100_000)) <= 200
