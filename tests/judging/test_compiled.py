"""What a list compiles, where else that is compiled, and what another target would lose."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.chips import ChipSet, Target
from bwlint.evaluate.sources import Sources
from bwlint.judging.compiled import behind, elsewhere, lost
from bwlint.judging.context import Context
from bwlint.judging.evidence import Evidence
from bwlint.model.facts import Module
from bwlint.world.arrivals import Arrivals
from bwlint.world.budget import Budget
from bwlint.world.builds import Builds
from bwlint.world.collect import load
from bwlint.world.definitions import Definitions
from bwlint.world.libraries import Libraries
from bwlint.world.native import Native
from bwlint.world.outlines import Outlines
from bwlint.world.prepared import Preparations
from bwlint.world.proofs import Graph
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

BOTH = ChipSet.of("12.0", "12.1")
LISTS = """kit_archs_intersection(ONE_ARCHS "12.0a" "${CUDA_ARCHS}")
kit_archs_intersection(TWO_ARCHS "12.0f" "${CUDA_ARCHS}")
kit(SRCS "k.cu" ARCHS "${ONE_ARCHS}")
kit(SRCS "k.cu" "other.cu" ARCHS "${TWO_ARCHS}")
kit_archs_intersection(LONE_ARCHS "12.0a" "${CUDA_ARCHS}")
kit(SRCS "lone.cu" ARCHS "${LONE_ARCHS}")
"""


FILES = {
    "pyproject.toml": "",
    "CMakeLists.txt": LISTS,
    "k.cu": '#include "head.cuh"\n#include <cuda_runtime.h>\n__global__ void k() {}\n',
    "head.cuh": "#if __CUDA_ARCH__ == 1200\nint f();\n#endif\n#if __CUDA_ARCH__ >= 1200\nint g();\n#endif\n",
    "lone.cu": '#include "elsewhere/gone.cuh"\n__global__ void k() {}\n',
}


@pytest.fixture
def world(tmp_path: Path) -> tuple[Context, Module]:
    return made(tmp_path, FILES)


def made(folder: Path, files: dict[str, str]) -> tuple[Context, Module]:
    """A tree of these files, and its build file."""
    for name, text in files.items():
        (folder / name).write_text(text)
    tree = Tree(Sources({}), load)
    build = load(str(folder / "CMakeLists.txt"), "")
    assert build is not None
    tree.give_other(lambda: build)
    builds = Builds([build], lambda path: load(path, ""))
    native, outlines = Native(tree, builds, Refusals(tree)), Outlines(tree)
    libraries = Libraries()
    definitions = Definitions(tree, outlines, libraries, native)
    graph = Graph({"python": definitions, "cuda": native})
    evidence = Evidence(tree, definitions, graph, libraries, native, BOTH)
    arrivals = Arrivals(tree, native.refusals, BOTH, Budget(), lambda _: None, native.searches)
    preparations = Preparations(tree, definitions, native)
    return Context(tree, BOTH, evidence, native, preparations, arrivals, builds=builds), build


def test_sources_with_their_headers(world: tuple[Context, Module]) -> None:
    context, build = world
    one, two, lone = build.carries
    found = behind(context, build, one)
    assert [Path(module.path).name for module in found.modules] == ["k.cu", "head.cuh"]
    assert found.outside == ""
    assert behind(context, build, two).outside == "other.cu"
    assert behind(context, build, lone).outside == "elsewhere/gone.cuh"


@pytest.mark.parametrize(
    ("kept", "given", "reason"),
    [
        ("120a", "121a", "head.cuh:1 compiles code for sm_120a and not for sm_121a"),
        ("120a", "120f", None),
        ("121a", "121f", None),
        ("121a", "120f", None),
    ],
)
def test_what_another_target_loses(world: tuple[Context, Module], kept: str, given: str, reason: str | None) -> None:
    context, build = world
    code = behind(context, build, build.carries[0])
    assert lost(context, code, Target.parse(kept), Target.parse(given)) == reason


WAIT = 'asm volatile("tcgen05.wait::ld.sync.aligned;");'


@pytest.mark.parametrize(
    ("body", "kept", "given", "reason"),
    [
        (WAIT, "100a", "120f", "k.cu:3 needs sm_100a: `tcgen05.wait::ld.sync.aligned`"),
        (WAIT, "100a", "103f", None),
        (WAIT, "120a", "121a", None),
        (
            f"#if __CUDA_ARCH__ < 1200\n{WAIT}\n#endif",
            "100a",
            "120f",
            "k.cu:3 compiles code for sm_100a and not for sm_120f",
        ),
        (f"#ifdef USES_WAIT\n{WAIT}\n#endif", "100a", "120f", "k.cu:4 needs sm_100a: `tcgen05.wait::ld.sync.aligned`"),
        ("SM90_64x64x16_F32F16F16_SS();", "90a", "120f", "k.cu:3 needs sm_90a: `SM90_64x64x16_F32F16F16_SS`"),
        ("SM90_64x64x16_F32F16F16_SS();", "120a", "120f", None),
        ("__shared__ char tile[40000];", "90a", "120f", None),
        ("__shared__ char tile[60000];", "90a", "120f", "k.cu:3 needs sm_90a: its static shared memory"),
        ("__shared__ char tile[kBytes];", "90a", "120f", None),
        ("cp_async_wait_all();", "90a", "120f", None),
    ],
)
def test_what_a_kernel_needs(tmp_path: Path, body: str, kept: str, given: str, reason: str | None) -> None:
    context, build = made(
        tmp_path, {**FILES, "k.cu": f"#include <cuda_runtime.h>\n__global__ void k() {{\n{body}\n}}\n"}
    )
    code = behind(context, build, build.carries[0])
    assert lost(context, code, Target.parse(kept), Target.parse(given)) == reason


def test_the_same_elsewhere(world: tuple[Context, Module]) -> None:
    context, build = world
    one, two, lone = build.carries
    assert elsewhere(context, build, one, BOTH) == "CMakeLists.txt:2 compiles the same for sm_120f"
    assert elsewhere(context, build, two, BOTH) is None
    assert elsewhere(context, build, lone, BOTH) is None
