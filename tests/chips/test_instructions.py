"""The table of PTX instructions, asked in the ways in which readers ask. What it says is tested against ptxas."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import grows_as_its_input

from bwlint.chips import EVERY_TARGET, NO_TARGET, Target, TargetSet
from bwlint.chips.instructions import find, first_isa, forms, judge, parse, static_shared, verdict

CONSUMER = TargetSet.of("120", "120f", "120a", "121", "121f", "121a")
SUFFIXED = TargetSet.of("120f", "120a", "121f", "121a")
GATHER = "cp.async.bulk.tensor.2d.shared::{}.global.tile::gather4.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("instruction", "on_consumer"),
    [
        ("tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;", NO_TARGET),
        ("@p tcgen05.wait::ld.sync.aligned;", NO_TARGET),
        ("@!%%p tcgen05.wait::ld.sync.aligned;", NO_TARGET),
        ("{ @%p1 wgmma.fence.sync.aligned", NO_TARGET),
        ("tcgen05.ld.sync.aligned.", NO_TARGET),
        ("tcgen05 .ld .sync.aligned", NO_TARGET),
        ("setmaxnreg.inc.sync.aligned.u32 $0;", SUFFIXED),
        (GATHER.format("cta"), CONSUMER),
        (GATHER.format("cluster"), NO_TARGET),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", CONSUMER),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", SUFFIXED),
        ("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 9;", SUFFIXED),
        ("min.f32 %0, %1, %2, %3;", CONSUMER),
        ("redux.sync.min.f32 f10, f0, -1;", NO_TARGET),
        ("redux.sync.min.s32 r10, r0, -1;", CONSUMER),
        ("barrier.cluster.arrive;", CONSUMER),
        (".reqnctapercluster 2, 1, 1", CONSUMER),
        ("add.s32 %r1, %r2, %r3;", CONSUMER),
        ("tcgen05x.mma;", CONSUMER),
        ("wgmma_fence", CONSUMER),
        ("ret", CONSUMER),
        ("", CONSUMER),
        (";;;", CONSUMER),
        ("\x00", CONSUMER),
    ],
)
def test_legal_on_the_consumer_targets(instruction: str, on_consumer: TargetSet) -> None:
    assert verdict(instruction).legal & CONSUMER == on_consumer


@pytest.mark.parametrize("instruction", ["add.s32 a, b, c;", "bra L;", "ld.global.u32 r, [x];", "mov.u32 r, %tid.x;"])
def test_what_the_table_does_not_know_is_legal_everywhere(instruction: str) -> None:
    assert find(instruction) is None
    assert verdict(instruction).legal == EVERY_TARGET


def test_operands_decide_where_they_are_known() -> None:
    scaled = "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p"
    assert Target.parse("110a") in verdict(scaled).legal
    assert Target.parse("110a") in verdict(scaled.partition(" ")[0]).legal
    assert Target.parse("110a") not in verdict(f"{scaled}, 1;").legal
    assert Target.parse("110a") in verdict(scaled.replace("p", "{%4, %5, %6, %7}, p")).legal
    assert verdict("mov.u32 %0, %%cluster_ctarank;").group == "cluster"
    assert verdict("mov.u32 %0, %1;").group == ""


@pytest.mark.parametrize(
    ("instruction", "group", "words"),
    [
        ("tcgen05.st.sync.aligned", "tcgen05", "Instruction 'tcgen05.st' not supported on .target '<T>'"),
        ("wgmma.wait_group.sync.aligned 0;", "wgmma", "Instruction 'wgmma.wait_group' not supported on .target '<T>'"),
        ("setmaxnreg.dec.sync", "suffix", "Instruction 'setmaxnreg.dec' not supported on .target '<T>'"),
        ("elect.sync r|p, -1;", "elect", "Feature 'elect' requires .target sm_90 or higher"),
    ],
)
def test_words_are_those_of_ptxas(instruction: str, group: str, words: str) -> None:
    found = verdict(instruction)
    told = next((form.words(found.statement) for form in found.forms if form.error), "")
    assert (found.group, told) == (group, words)


def test_slow_paths() -> None:
    load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    assert verdict(load).slow == CONSUMER
    assert verdict(f"{load}.multicast::cluster").slow == CONSUMER
    assert verdict(load.replace("shared::cluster", "shared::cta")).slow == NO_TARGET
    assert verdict("cp.async.bulk.global.shared::cta.bulk_group [x], [s], 64;").slow == NO_TARGET


def test_versions_of_ptxas_are_told_apart() -> None:
    said = verdict("add.u8x4 r1, r2, r3;")
    assert said.legal & CONSUMER == SUFFIXED
    assert said.older == NO_TARGET
    assert "13.0.88" in said.note
    assert verdict("tcgen05.wait::ld").note == ""


def test_targets_that_ptxas_no_longer_knows() -> None:
    tensor = verdict("tcgen05.wait::ld.sync.aligned").legal
    assert TargetSet.of("101f", "101a") <= tensor
    assert Target.parse("101") not in tensor
    assert Target.parse("70") not in verdict("cp.async.ca.shared.global").legal
    assert Target.parse("72") in verdict("ldmatrix.sync.aligned.m8n8.x1.shared.b16").legal


def test_rows_have_names_and_words() -> None:
    assert len({form.name for form in forms()}) == len(forms())
    assert all(form.error for form in forms() if form.legal != EVERY_TARGET)
    assert all(form.advice for form in forms() if form.slow)


HOSTILE: dict[str, Callable[[int], str]] = {
    "modifiers": lambda n: "ld" + ".a" * n,
    "types": lambda n: "cvt" + ".f32" * n,
    "spaces between modifiers": lambda n: "ld" + " . a" * n,
    "spaces": lambda n: "ld" + " " * n + "x",
    "guard": lambda n: "@" + " " * n,
    "negated guard": lambda n: "@" + " " * n + "!" + " " * n,
    "braces": lambda n: "tcgen05.mma.kind::f16 " + "{" * n,
    "brackets": lambda n: "tcgen05.mma.kind::f16 " + "[" * n,
    "operands": lambda n: "min.f32 " + "a, " * n,
    "colons": lambda n: "ld" + ":" * n,
    "words": lambda n: "mbarrier.arrive " + "a" * n,
    "numbers": lambda n: "tensormap.replace.tile.elemtype [x], " + "1" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length(name: str) -> None:
    grows_as_its_input(lambda text: judge(parse(text)), HOSTILE[name], 10_000)


def test_ptx_as_a_whole() -> None:
    assert first_isa(Target.parse("120")) == (8, 7)
    assert first_isa(Target.parse("121")) == (8, 8)
    assert first_isa(Target.parse("101a")) is None
    assert static_shared(Target.parse("120f")) == 49152
    assert static_shared(Target.parse("120a")) == 101376
