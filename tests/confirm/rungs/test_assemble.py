"""Claims put to nvcc and ptxas: what they refuse, what they take, and what was never compiled."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toolkit as wheels

from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs.assemble import attempt, pairs_of, targets_tried
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import Claim, Finding, Region, Related

ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"
FENCE = "tcgen05.fence::before_thread_sync"
WAIT = "griddepcontrol.wait"
LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
MULTICAST = f"{LOAD}.multicast::cluster"
A = ("sm_120a",)

Attempts = Callable[..., Attempt]


@pytest.fixture(scope="module")
def kit(nvcc: wheels.Toolkit) -> Toolkit:
    host = shutil.which("g++")
    assert host is not None
    programs = nvcc.programs
    return Toolkit(programs / "ptxas", programs / "nvcc", "13", "a wheel", Path(host))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with sources of ours; a line that is asked about ends in a comment with its name."""
    root = tmp_path_factory.mktemp("tree")
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(textwrap.dedent(text).lstrip("\n"))
    return root


@pytest.fixture(scope="module")
def ask(tree: Path, kit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Attempts:
    """Asks about the line of a file that carries a mark."""
    world = Workbench(tmp_path_factory.mktemp("scratch"), (kit,), compile_limit=60)

    def asked(
        kind: str,
        place: str,
        subject: str = "",
        targets: tuple[str, ...] = A,
        related: tuple[Related, ...] = (),
        **fields: Any,
    ) -> Attempt:
        name, _, mark = place.partition(" ")
        path = tree / name
        at = _marked(path, mark) if mark else None
        claim = Claim(kind, "", targets=targets, subject=subject, at=at, **fields)  # type: ignore[arg-type]
        return attempt(Subject(replace(_finding(name), related=related), claim, str(path), str(tree)), world)

    return asked


def _marked(path: Path, mark: str) -> Region:
    lines = path.read_text().splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if text.endswith(f"// {mark}")]
    return Region(line, 1, line, len(lines[line - 1]) + 1)


def _finding(name: str) -> Finding:
    place = Region(1, 1, 1, 1)
    return Finding(
        rule="BW000",
        name="test",
        category="other",
        severity="note",
        confidence="high",
        path=name,
        region=place,
        message="",
    )


SOURCES = {
    "refused.cu": r"""
        #include "lib/atom.cuh"
        template <class T> __device__ void never(T *p) {
          asm volatile("tcgen05.fence::before_thread_sync;");  // not instantiated
        }
        __device__ __forceinline__ void helper() {
          asm volatile(
              "{\n\t"
              ".reg .pred p;\n\t"
              "setp.ne.b32 p, 1, 0;\n\t"
              "@p tcgen05.fence::before_thread_sync;\n\t"  // in a helper
              "}" ::: "memory");
        }
        __global__ void kernel(int *p) {
          asm volatile("griddepcontrol.wait;");  // legal beside illegal
          helper();
          atom::Deep<int>::copy(p);
          asm volatile("tcgen05.fence::after_thread_sync;");  // another
        #ifdef __CUDA_ARCH_FEAT_SM100_ALL
          asm volatile("tcgen05.fence::before_thread_sync;");  // guarded out
        #endif
          asm volatile("add.s32 %0, %0, 1.5;" : "+r"(p[1]));  // wrong by itself
        }
        """,
    "lib/atom.cuh": r"""
        #pragma once
        namespace atom {
        struct Inner {
          static __device__ void copy(int *p) {
            asm volatile(
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(p[3]));  // in a header
          }
        };
        template <class T> struct Deep {
          static __device__ void copy(T *p) { Inner::copy(p); }
        };
        struct Unused {
          static __device__ void copy(int *p) {
            asm volatile("tcgen05.fence::before_thread_sync;");  // nobody calls it
          }
        };
        }
        """,
    "taken.cu": r"""
        namespace cute {
        struct SM90_TMA_LOAD_MULTICAST_2D {
          static __device__ void copy(void const *map, unsigned bar, unsigned to) {
            asm volatile("mov.b32 %0, %0;" : "+r"(bar));
            asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                " [%0], [%1, {%3, %4}], [%2], %5;"  // multicast
                ::"r"(to), "l"(map), "r"(bar), "r"(0), "r"(0), "h"((unsigned short)3) : "memory");
          }
        };
        struct SM100_TMEM_LOAD_32dp32b1x {
          static __device__ void copy(unsigned &to) {
        #ifdef __CUDA_ARCH_FEAT_SM100_ALL
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(to) : "r"(to));
        #else
            asm volatile("brkpt;");
        #endif
          }
        };
        template <class Atom> struct Uses { static __device__ void go(unsigned &to) { Atom::copy(to); } };
        }
        __global__ void kernel(void const *map, unsigned *p) {
          asm volatile("griddepcontrol.wait;");  // legal
          cute::SM90_TMA_LOAD_MULTICAST_2D::copy(map, p[0], p[1]);  // the atom
          cute::Uses<cute::SM100_TMEM_LOAD_32dp32b1x>::go(p[3]);  // an atom without code
          asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"  // own
                       " [%0], [%1, {%3, %3}], [%2];"
                       ::"r"(p[1]), "l"(map), "r"(p[2]), "r"(0) : "memory");
        }
        __global__ void local(void const *map, unsigned *p) {
          asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"  // alone
                       " [%0], [%1, {%3, %3}], [%2];"
                       ::"r"(p[1]), "l"(map), "r"(p[2]), "r"(0) : "memory");
        }
        __global__ void __launch_bounds__(1024, 2) many(int *p) { *p = 1; }  // too many
        __global__ void __launch_bounds__(32, 32) more(int *p) { *p = 1; }  // blocks



        __global__ void __launch_bounds__(256, 2) few(int *p) { *p = 1; }  // few
        template <int N> __global__ void __launch_bounds__(1024, 2) nobody(int *p) { *p = N; }
        __global__ void arrays(int *p) {
          __shared__ int b[15000];  // 60000 bytes
          b[threadIdx.x] = p[1];
          __syncthreads();
          p[0] = b[p[1]];
        }
        """,
    "large.cu": r"""
        __global__ void arrays(int *p) {
          __shared__ int b[60000];  // 240000 bytes
          b[threadIdx.x] = p[1];
          __syncthreads();
          p[0] = b[p[1]];
        }
        """,
    "broken.cu": r"""
        #include <no_such_header_of_anybody.h>
        __global__ void kernel(int *p) {
          asm volatile("tcgen05.fence::before_thread_sync;");  // behind an error
        }
        """,
    "alone.cuh": r"""
        #pragma once
        static __global__ void kernel(int *p) {
          asm volatile("tcgen05.fence::before_thread_sync;");  // of a header alone
        }
        template <int N> __global__ void other(int *p) {
          asm volatile("tcgen05.fence::before_thread_sync;");  // of a template
        }
        """,
    "used/used.cuh": r"""
        #pragma once
        static __global__ void kernel(int *p) {
          asm volatile("tcgen05.fence::before_thread_sync;");  // of a header that is used
        }
        """,
    "used/uses.cu": r"""
        #include "used.cuh"
        #include <no_such_header_of_anybody.h>
        """,
    "builder.cu": r"""
        template <int N> struct Builder {
          static_assert(N == 1, "this builder takes clusters of 1x1x1 alone");
          using Op = int;
        };
        using Op = Builder<2>::Op;  // a shape
        """,
    "asserts.cu": r"""
        static_assert(sizeof(int) == 8, "integers are long here");
        using Op = int;  // no shape
        """,
    "hand.ptx": r"""
        .version 8.7
        .target sm_120a
        .address_size 64
        .visible .entry one()
        {
          tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;  // tcgen05
          griddepcontrol.wait;  // beside
          ret;
        }
        """,
    "fine.ptx": r"""
        .version 8.7
        .target sm_90
        .address_size 64
        .visible .entry many(.param .u64 p)
        .maxntid 1024, 1, 1
        .minnctapersm 2  // bounds
        {
          .reg .b64 map;
          .reg .b32 r, x;
          ld.param.u64 map, [p];
          griddepcontrol.wait;  // wait
          cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [r], [map, {x, x}], [r];  // load
          ret;
        }
        """,
    "new.ptx": r"""
        .version 99.0
        .target sm_120a
        .address_size 64
        .visible .entry one() { griddepcontrol.wait; ret; }  // new
        """,
    "gate.py": "x = 1  // python\n",
}

CONFIRMED = [
    ("instruction", "refused.cu in a helper", FENCE, "Instruction 'tcgen05.fence' not supported on .target 'sm_120a'"),
    (
        "instruction",
        "lib/atom.cuh in a header",
        ALLOC,
        "Instruction 'tcgen05.alloc' not supported on .target 'sm_120a'",
    ),
    ("instruction", "refused.cu another", "tcgen05.fence::after_thread_sync", "'tcgen05.fence' not supported"),
    ("instruction", "alone.cuh of a header alone", FENCE, "'tcgen05.fence' not supported"),
    ("instruction", "hand.ptx tcgen05", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", "not supported"),
    ("legal", "taken.cu legal", WAIT, "ptxas assembles it for sm_120a"),
    ("legal", "fine.ptx wait", WAIT, "ptxas assembles it for sm_120a"),
    ("slow", "taken.cu multicast", MULTICAST, "calls __cuda_syscall_cp_async_bulk_tensor_2d_tile_multicast"),
    ("slow", "taken.cu the atom", "SM90_TMA_LOAD_MULTICAST_2D", "bulk_tensor_2d_tile_multicast"),
    ("slow", "fine.ptx load", LOAD, "bulk_tensor_2d_tile_unicast"),
    ("bounds", "taken.cu too many", "", ".minnctapersm will be ignored"),
    ("bounds", "taken.cu blocks", "", "minnctapersm will be ignored"),
    ("bounds", "fine.ptx bounds", "", ".minnctapersm will be ignored"),
    ("cluster", "builder.cu a shape", "builder", "this builder takes clusters of 1x1x1 alone"),
]
REFUTED = [
    ("instruction", "taken.cu legal", WAIT, "ptxas assembles it for sm_120a"),
    ("instruction", "fine.ptx wait", WAIT, "ptxas assembles it for sm_120a"),
    ("legal", "refused.cu in a helper", FENCE, "not supported on .target 'sm_120a'"),
    ("bounds", "taken.cu few", "", "ptxas for sm_120a takes 2 blocks of 256 threads without a warning"),
]
INCONCLUSIVE = [
    ("instruction", "refused.cu not instantiated", FENCE, "not compiled in: "),
    ("instruction", "refused.cu guarded out", FENCE, "not compiled in: "),
    ("instruction", "lib/atom.cuh nobody calls it", FENCE, "not compiled in: "),
    ("instruction", "refused.cu legal beside illegal", WAIT, "ptxas for sm_120a refuses something else: "),
    ("instruction", "refused.cu wrong by itself", "add.s32", "refuses the statement, but not for the target: "),
    ("instruction", "refused.cu another", FENCE, "not compiled in: "),
    ("instruction", "alone.cuh of a template", FENCE, "not compiled in: "),
    ("instruction", "broken.cu behind an error", FENCE, "nvcc does not compile it for sm_120a: "),
    ("instruction", "hand.ptx beside", WAIT, "ptxas for sm_120a refuses something else: "),
    ("instruction", "fine.ptx wait", "griddepcontrol.launch_dependents", "the file has changed"),
    ("instruction", "new.ptx new", WAIT, "Unsupported .version 99.0"),
    ("instruction", "taken.cu an atom without code", "SM100_TMEM_LOAD_32dp32b1x", "without an instruction: its header"),
    ("legal", "taken.cu an atom without code", "SM100_TMEM_LOAD_32dp32b1x", "without an instruction: its header"),
    ("legal", "refused.cu guarded out", FENCE, "not compiled in: "),
    ("slow", "taken.cu own", LOAD, "not compiled in: "),
    ("slow", "taken.cu an atom without code", "SM90_TMA_LOAD_IM2COL", "not compiled in: "),
    ("bounds", "broken.cu behind an error", "", "nvcc does not compile it for sm_120a: "),
    ("cluster", "asserts.cu no shape", "builder", "nvcc does not compile it for sm_120a: "),
    ("cluster", "taken.cu legal", "builder", "whether the builder was instantiated is not known"),
]
AMOUNTS = {"bounds": {"taken.cu few": (256, 2), "taken.cu blocks": (32, 32)}}


@pytest.mark.parametrize(
    ("outcome", "kind", "place", "subject", "says"),
    [
        pytest.param(outcome, *case, id=f"{outcome}: {case[0]}, {case[1]}, {case[2][:24]}")
        for outcome, cases in (("confirmed", CONFIRMED), ("refuted", REFUTED), ("inconclusive", INCONCLUSIVE))
        for case in cases
    ],
)
def test_claims_on_one_target(ask: Attempts, outcome: str, kind: str, place: str, subject: str, says: str) -> None:
    amounts = AMOUNTS.get(kind, {}).get(place, (1024, 2) if kind == "bounds" else ())
    found = ask(kind, place, subject, amounts=amounts)
    assert (found.outcome, found.executed) == (outcome, True), found.reason
    assert says in found.reason


@pytest.mark.parametrize(
    ("mark", "message", "outcome"),
    [
        ("another", "tcgen05.fence::after_thread_sync", "confirmed"),
        ("guarded out", FENCE, "inconclusive"),
        ("legal beside illegal", WAIT, "inconclusive"),
        ("another", "this guard lets it through", "inconclusive"),
    ],
)
def test_another_place_of_the_finding_may_be_the_one_that_is_compiled(
    ask: Attempts, tree: Path, mark: str, message: str, outcome: str
) -> None:
    related = Related("refused.cu", _marked(tree / "refused.cu", mark), message)
    found = ask("instruction", "refused.cu not instantiated", FENCE, related=(related,))
    assert found.outcome == outcome
    assert ("which the finding names too" in found.reason) is (outcome == "confirmed")


def test_all_targets_have_to_confirm(ask: Attempts) -> None:
    found = ask("instruction", "alone.cuh of a header alone", FENCE, ("sm_120", "sm_120f", "sm_120a", "sm_121a"))
    assert found.outcome == "confirmed"
    assert set(found.details["targets"]) == {"sm_120a", "sm_121a", "sm_120f"}
    assert found.reason.endswith("(and so for sm_121a, sm_120f)")


def test_one_target_refutes(ask: Attempts) -> None:
    found = ask("instruction", "alone.cuh of a header alone", FENCE, ("sm_100a", "sm_120a"))
    assert (found.outcome, found.reason) == ("refuted", "ptxas assembles it for sm_100a")


def test_a_target_that_nobody_knows_is_inconclusive(ask: Attempts) -> None:
    found = ask("instruction", "alone.cuh of a header alone", FENCE, ("sm_101a",))
    assert (found.outcome, found.reason) == ("inconclusive", "this nvcc does not know sm_101a")


@pytest.mark.parametrize(
    ("place", "targets", "amount", "outcome"),
    [
        ("large.cu 240000 bytes", ("sm_120a",), 240000, "confirmed"),
        ("taken.cu 60000 bytes", ("sm_120f",), 60000, "confirmed"),
        ("taken.cu 60000 bytes", ("sm_120a",), 60000, "refuted"),
        ("taken.cu 60000 bytes", ("sm_120a",), 70000, "inconclusive"),
        ("alone.cuh of a template", ("sm_120a",), 60000, "inconclusive"),
    ],
)
def test_static_shared_memory(ask: Attempts, place: str, targets: tuple[str, ...], amount: int, outcome: str) -> None:
    assert ask("shared", place, "static", targets, amounts=(amount,)).outcome == outcome


@pytest.mark.parametrize(
    ("pairs", "chips", "outcome"),
    [
        ("compute_120,sm_120;compute_120f,sm_120f", (), "confirmed"),
        ("compute_120a,sm_121a", (), "confirmed"),
        ("compute_100,sm_90", (), "confirmed"),
        ("compute_120a,sm_120a;compute_120,compute_120", (), "refuted"),
        ("compute_120a,sm_120a;compute_120,compute_120", ("12.1",), "inconclusive"),
        ("compute_100,sm_90", ("12.1",), "inconclusive"),
    ],
)
def test_pairs_of_a_build(ask: Attempts, pairs: str, chips: tuple[str, ...], outcome: str) -> None:
    assert ask("build", "gate.py", pairs, (), chips=chips).outcome == outcome


@pytest.mark.parametrize(
    ("subject", "targets", "outcome"),
    [
        ("setmaxnreg.inc.sync.aligned.u32", ("sm_120", "sm_121"), "confirmed"),
        ("setmaxnreg.inc.sync.aligned.u32", ("sm_120a",), "refuted"),
        (f"{LOAD.replace('2d.', '2d.cta_group::2.').replace('global.', 'global.tile.')}", ("sm_120a",), "confirmed"),
        ("setmaxnreg.inc.sync.aligned.u32", ("sm_101a",), "inconclusive"),
        (FENCE, ("sm_120a",), None),
        ("setmaxnreg.inc.sync.aligned.u32", (), None),
    ],
)
def test_an_instruction_that_a_build_asks_for(
    ask: Attempts, subject: str, targets: tuple[str, ...], outcome: str | None
) -> None:
    for place in ("gate.py python", "gate.py"):
        assert ask("instruction", place, subject, targets).outcome == outcome


@pytest.mark.parametrize(
    "text", ["", "evil", "compute_120", "compute_120,$(x)", "sm_90,sm_90", "compute_90,sm_90;", "compute_90,sm_90,x"]
)
def test_what_is_no_pair_is_not_built(ask: Attempts, text: str) -> None:
    assert pairs_of(text) == ()
    found = ask("build", "gate.py", text, ())
    assert (found.eligible, found.executed, found.outcome) == (False, False, None)


@pytest.mark.parametrize(
    ("kind", "place", "subject", "requested"),
    [
        ("shared", "large.cu 240000 bytes", "dynamic", False),
        ("cluster", "large.cu 240000 bytes", "", False),
        ("cluster", "large.cu 240000 bytes", "kernel", False),
        ("instruction", "gate.py python", FENCE, True),
        ("instruction", "missing.cu", FENCE, True),
        ("slow", "gate.py python", LOAD, True),
        ("guard", "gate.py python", "", True),
    ],
)
def test_what_is_not_assembled(ask: Attempts, kind: str, place: str, subject: str, requested: bool) -> None:
    found = ask(kind, place, subject)
    assert (found.requested, found.eligible, found.executed, found.outcome) == (requested, False, False, None)


@pytest.mark.parametrize("kind", ["instruction", "guard", "build"])
def test_without_a_toolkit_nothing_is_executed(tree: Path, tmp_path: Path, kit: Toolkit, kind: str) -> None:
    claim = Claim(kind, "", targets=A, subject="compute_90,sm_90", at=Region(3, 1, 3, 2))  # type: ignore[arg-type]
    subject = Subject(_finding("refused.cu"), claim, str(tree / "refused.cu"), str(tree))
    lacking = Toolkit(kit.ptxas, kit.nvcc, "13", "PATH", None)
    for toolkits, why in (((), "no nvcc: "), ((lacking,), "no C++ compiler")):
        found = attempt(subject, Workbench(tmp_path, toolkits))
        assert (found.requested, found.eligible, found.executed) == (True, False, False)
        assert found.reason.startswith(why)


def test_a_program_that_does_not_start_executed_nothing(tree: Path, tmp_path: Path, kit: Toolkit) -> None:
    claim = Claim("instruction", "", targets=A, subject=FENCE, at=Region(3, 1, 3, 2))
    gone = Toolkit(Path("/nowhere/ptxas"), Path("/nowhere/nvcc"), "13", "PATH", kit.host_compiler)
    subject = Subject(_finding("refused.cu"), claim, str(tree / "refused.cu"), str(tree))
    found = attempt(subject, Workbench(tmp_path, (gone,)))
    assert (found.executed, found.outcome) == (False, None)


def test_a_compiler_that_takes_too_long_is_inconclusive(tree: Path, tmp_path: Path, kit: Toolkit) -> None:
    claim = Claim("instruction", "", targets=A, subject=FENCE, at=Region(3, 1, 3, 2))
    subject = Subject(_finding("refused.cu"), claim, str(tree / "refused.cu"), str(tree))
    found = attempt(subject, Workbench(tmp_path, (kit,), compile_limit=0.05))
    assert (found.outcome, found.executed) == ("inconclusive", True)
    assert "not done after 0.05 s" in found.reason


@pytest.mark.parametrize(
    ("targets", "chips", "expected"),
    [
        (("sm_120", "sm_120f", "sm_120a", "sm_121", "sm_121f", "sm_121a"), (), ("sm_120a", "sm_121a", "sm_120f")),
        (("sm_120", "sm_121"), (), ("sm_120", "sm_121")),
        (("sm_121f",), (), ("sm_121f",)),
        ((), ("12.0", "12.1"), ("sm_120a", "sm_121a", "sm_120f")),
        ((), ("9.0",), ("sm_90a",)),
        (("sm_80",), ("12.0",), ("sm_80",)),
        ((), (), ()),
    ],
)
def test_the_targets_that_are_tried(
    targets: tuple[str, ...], chips: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert targets_tried(targets, chips) == expected


def test_a_header_is_compiled_alone_where_what_includes_it_is_not(ask: Attempts, tree: Path) -> None:
    found = ask("instruction", "used/used.cuh of a header that is used", FENCE)
    assert (found.outcome, found.details["unit"]) == ("confirmed", str(tree / "used/used.cuh"))
    (besides,) = found.details["tried besides"]
    assert besides.startswith(
        f"{tree / 'used/uses.cu'}: nvcc does not compile uses.cu, which includes it, for sm_120a: "
    )


def test_commands_that_cannot_be_read_are_told(tree: Path, tmp_path: Path, kit: Toolkit) -> None:
    claim = Claim("instruction", "", targets=A, subject=FENCE, at=Region(3, 1, 3, 2))
    subject = Subject(_finding("broken.cu"), claim, str(tree / "broken.cu"), str(tree))
    found = attempt(subject, Workbench(tmp_path, (kit,), commands=tmp_path / "none.json"))
    assert found.details["options from"].startswith("guessed from its includes (compile commands: no file ")


def test_a_receipt_tells_how_it_was_compiled(ask: Attempts, tree: Path) -> None:
    found = ask("instruction", "lib/atom.cuh in a header", ALLOC)
    assert found.details["unit"] == str(tree / "refused.cu")
    assert found.details["options from"] == "guessed from its includes"
    assert found.details["targets"]["sm_120a"]["statement"] == ALLOC
    assert "nvcc -ptx for sm_120a: exit status" in found.log
    assert found.seconds > 0
