"""What can be tested of something behind a gate."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet, Target
from bwlint.judging.evidence import claimed
from bwlint.model.expr import Span
from bwlint.model.facts import Hop, Module, Use
from bwlint.model.kinds import How
from bwlint.world.libraries import PROOF, Need

HERE, THERE = Span(3, 0, 3, 9), Span(7, 0, 7, 9)
BOTH = ChipSet.of("12.0", "12.1")
MODULE = Module(path="/p/m.py", language="python")
HOP = Hop("/p/k.cu", THERE, "`run` issues it")


def need(name: str, how: How, legal: str, hops: tuple[Hop, ...] = (), **more: object) -> Need:
    return Need(ChipSet.of(*legal.split()), PROOF, "what it is", "somewhere", Use(name, how, HERE), hops, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "kind", "subject", "says"),
    [
        (need("kit.run", "call", "10.0"), "need", "run", "`run` does not work on 12.x"),
        (need("kit.run", "call", "10.0", (HOP,)), "need", "run", "the code behind `run` does not work on 12.x"),
        (need("kit.run", "call", "12.0 12.1"), "need", "run", "`run` works on 12.x too"),
        (
            need("run_mla", "define", "10.0"),
            "need",
            "run_mla",
            "the code that `run_mla` names does not work on 12.x",
        ),
        # a text is the instruction itself only where it is one, by its head, that none of the chips has
        (
            need("tcgen05.alloc", "text", "10.0"),
            "instruction",
            "tcgen05.alloc",
            "`tcgen05.alloc` does not assemble for",
        ),
        (need("tcgen05.alloc [r0], 32", "text", "10.0"), "need", "tcgen05.alloc [r0], 32", "does not work on 12.x"),
        (need("mma.sync", "text", "9.0"), "need", "mma.sync", "`mma.sync` does not work on 12.x"),
        (need("setmaxnreg", "text", "9.0"), "need", "setmaxnreg", "`setmaxnreg` does not work on 12.x"),
        (need("flashmla", "text", "9.0"), "need", "flashmla", "`flashmla` does not work on 12.x"),
        (need("tcgen05.alloc", "call", "10.0"), "need", "alloc", "`alloc` does not work on 12.x"),
    ],
)
def test_what_a_name_says(found: Need, kind: str, subject: str, says: str) -> None:
    claim = claimed(found, MODULE, BOTH).claim
    assert (claim.kind, claim.subject) == (kind, subject)
    assert says in claim.says


@pytest.mark.parametrize(
    ("operation", "kind", "subject", "targets"),
    [
        (
            Use("tcgen05.alloc.cta_group::1 [r0], 32;", "instruction", THERE),
            "instruction",
            "tcgen05.alloc.cta_group::1",
            "120 120f 120a 121 121f 121a",
        ),
        (
            Use("setmaxnreg.inc.sync.aligned.u32 40;", "instruction", THERE),
            "legal",
            "setmaxnreg.inc.sync.aligned.u32",
            "120f 120a 121f 121a",
        ),
        (
            Use("SM90_TMA_LOAD_MULTICAST", "atom", THERE),
            "legal",
            "SM90_TMA_LOAD_MULTICAST",
            "120 120f 120a 121 121f 121a",
        ),
        (Use("TMEM::Allocator1Sm", "atom", THERE), "instruction", "TMEM::Allocator1Sm", "120 120f 120a 121 121f 121a"),
        (Use("known_to_nobody", "atom", THERE), "instruction", "known_to_nobody", "120 120f 120a 121 121f 121a"),
    ],
)
def test_what_an_operation_at_the_end_of_the_way_says(operation: Use, kind: str, subject: str, targets: str) -> None:
    found = claimed(need("run", "call", "10.0", (HOP,), operation=operation), MODULE, BOTH)
    assert (found.claim.kind, found.claim.subject, found.at, found.module) == (kind, subject, THERE, HOP)
    assert found.claim.targets == tuple(Target.parse(name).name for name in targets.split())


def test_what_a_build_at_the_end_of_the_way_says() -> None:
    pairs = ("compute_90a,sm_90a",)
    assert claimed(need("run", "call", "9.0", (HOP,), pairs=pairs), MODULE, BOTH).claim.kind == "build"
    assert claimed(need("run", "call", "12.0", (HOP,), pairs=pairs), MODULE, BOTH).claim.kind == "need"
    assert claimed(need("run", "call", "9.0", pairs=pairs), MODULE, BOTH).claim.kind == "need"
