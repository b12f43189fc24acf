"""Loads of one block into its own shared memory."""

from __future__ import annotations

import pytest

from .cuda.conftest import Mend, mend  # noqa: F401 - a fixture

LOAD = "cp.async.bulk{kind}.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1{more}], {size}[%2];"
BULK = LOAD.format(kind="", more="", size="%3, ")
TENSOR = LOAD.format(kind=".tensor.1d", more=", {%3}", size="")
SOURCE = """#if __CUDA_ARCH__ >= 900
__global__ void sm120_load() {{
  asm volatile(
      "{first}\n"
      :: "r"(a), "l"(b), "r"(c), "r"(d) : "memory");
{rest}}}
#endif
"""
OTHER = '  asm volatile("{}" :: "r"(a), "r"(b));\n'


@pytest.mark.parametrize("load", [BULK, TENSOR])
def test_load(mend: Mend, load: str) -> None:  # noqa: F811
    found = mend(SOURCE.format(first=load, rest=""), ("tma-slow-path",))
    assert [(fix.applicability, fix.kind) for fix in found.fixes] == [("unsafe", "space")], found.found
    after = load.replace(".shared::cluster", ".shared::cta", 1)
    assert found.text() == SOURCE.format(first=after, rest="")
    assert not mend(found.text(), ("tma-slow-path",)).found


def test_all_of_a_kind(mend: Mend) -> None:  # noqa: F811
    source = SOURCE.format(first=BULK, rest=OTHER.format(BULK))
    assert mend(source, ("tma-slow-path",)).text().count(".shared::cta.global") == 2


@pytest.mark.parametrize(
    "other",
    [
        "mapa.shared::cluster.u32 %0, %1, 0;",
        "barrier.cluster.arrive.aligned;",
        LOAD.format(kind=".tensor.1d", more=", {%3}", size="")
        .replace("bytes ", "bytes.multicast::cluster ")
        .replace("[%2];", "[%2], %1;"),
    ],
)
def test_clusters(mend: Mend, other: str) -> None:  # noqa: F811
    found = mend(SOURCE.format(first=BULK, rest=OTHER.format(other)), ("tma-slow-path",))
    assert not found.fixes


@pytest.mark.parametrize("load", [BULK.replace("shared::cluster", "shared::cta"), "mov.u32 %0, %1;"])
def test_silent(mend: Mend, load: str) -> None:  # noqa: F811
    assert not mend(SOURCE.format(first=load, rest=""), ("tma-slow-path",)).found
