"""Code in the strings of Python files: the same facts as in a file of its own, at its place in the Python file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from effort import at_most, grows_as_its_input

from bwlint.model.findings import Finding
from bwlint.readers import python
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

CUDA = """\
#include <cuda.h>
#define NEWER (__CUDA_ARCH__ >= 1000)

__global__ void waits(float *p) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); // é
#if NEWER
  /* é😀 */ asm volatile("wgmma.fence.sync.aligned;\\n"
                          "tcgen05.wait::st.sync.aligned;" ::: "memory");
#endif
}
__global__ void __launch_bounds__(512, 4) bounded() {}
"""
MEMORY = """\
constexpr int kStages = 6;
__global__ void needs() { extern __shared__ float tile[]; }
void launch() {
  cudaFuncSetAttribute(needs, cudaFuncAttributeMaxDynamicSharedMemorySize, kStages * 32768);
}
"""
PTX = """\
.version 8.7
.target sm_120
.address_size 64
// é😀
.visible .entry k() {
  tcgen05.wait::ld.sync.aligned;
  ret;
}
"""
PYTHON = '''"""é"""
kStages = 2

class Kernels:
    NAME = "é😀"; SOURCE = {}"""{}"""
    def waits(self):
        return 1
'''


def findings(folder: Path, name: str, source: str) -> list[Finding]:
    path = folder / name
    path.write_text(source, encoding="utf-8")
    with ExitStack() as stack:
        return list(check(CheckRequest((str(path),), jobs=1), stack).report.findings)


def told(found: list[Finding], above: int) -> list[tuple[object, ...]]:
    """What is said, and where, with so many lines above."""
    return [
        (
            one.name,
            one.severity,
            one.message,
            (one.region.line - above, one.region.column, one.region.end_line - above, one.region.end_column),
            tuple((other.region.line - above, other.region.column, other.message) for other in one.related),
        )
        for one in found
    ]


@pytest.mark.parametrize(("name", "source", "least"), [("a.cu", CUDA, 2), ("a.cu", MEMORY, 2), ("a.ptx", PTX, 1)])
@pytest.mark.parametrize("prefix", ["", "r", "R", "u"])
def test_the_same_findings_as_in_a_file(tmp_path: Path, name: str, source: str, least: int, prefix: str) -> None:
    alone = findings(tmp_path, name, source)
    assert len(alone) >= least
    text = source if "r" in prefix.lower() else source.replace("\\", "\\\\")
    inside = findings(tmp_path, "a.py", PYTHON.format(prefix, "\n" + text))
    assert told(inside, 5) == told(alone, 0)


def test_indented_text_moves_the_columns(tmp_path: Path) -> None:
    def indented(source: str) -> str:
        return "".join(f"      {line}" for line in source.splitlines(keepends=True))

    inside = findings(tmp_path, "a.py", PYTHON.format("r", "\n" + indented(CUDA)))
    assert told(inside, 5) == told(findings(tmp_path, "a.cu", indented(CUDA)), 0)


def test_columns_count_utf16_units(tmp_path: Path) -> None:
    gate = "from torch.cuda import get_device_capability as cap\nif cap()[0] >= 12:\n"
    source = f'{gate}    A = "é😀"; asm("é😀", "tcgen05.fence::before_thread_sync;")\n'
    (found,) = (one for one in findings(tmp_path, "a.py", source) if one.name == "tcgen05")
    assert (found.region.line, found.region.column, found.region.end_column) == (3, 28, 61)


def instructions(source: str) -> list[tuple[str, tuple[int, ...]]]:
    module = python.read("a.py", source, "a", False)
    return [(one.name, one.at) for one in module.operations if one.kind == "instruction"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f_asm('tcgen05.fence::before_thread_sync;')", [("tcgen05.fence::before_thread_sync", (1, 7, 1, 40))]),
        ("inline_ptx('tcgen05.fence::before_thread_sync')", [("tcgen05.fence::before_thread_sync", (1, 12, 1, 45))]),
        ("A = 'asm'; B = 'wgmma.fence.sync.aligned;'", [("wgmma.fence.sync.aligned", (1, 16, 1, 40))]),
        (
            "asm('{\\n\\t'  # 'no'\n 'wgmma.fence.sync.aligned;\\n'\n '}')",
            [("wgmma.fence.sync.aligned", (2, 2, 2, 26))],
        ),
        ("asm('// x\\nwgmma.fence.sync.aligned;')", [("wgmma.fence.sync.aligned", (1, 11, 1, 35))]),
        ("asm('''\r\n  wgmma.fence.sync.aligned;\r\n''')", [("wgmma.fence.sync.aligned", (2, 2, 2, 26))]),
        ("asm(f'{x!r:>{n}}; wgmma.fence.sync.aligned;')", [("wgmma.fence.sync.aligned", (1, 18, 1, 42))]),
        ("asm(f'wgmma.fence{x}.aligned;')", [("wgmma.fence. ..aligned", (1, 6, 1, 28))]),
        ("asm('wgmma.fence{}.aligned;'.format(x))", [("wgmma.fence...aligned", (1, 5, 1, 26))]),
        ("asm('\\x20@%p wgmma.fence.sync.aligned;')", [("@%p wgmma.fence.sync.aligned", (1, 9, 1, 37))]),
    ],
)
def test_fragments(source: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert instructions(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "'''asm: wgmma.fence.sync.aligned;'''",
        "def asm():\n    'wgmma.fence.sync.aligned;'",
        "asm('wgmma.fence is not supported')",
        "raise_asm('wgmma.fence; use mma.sync on this chip')",
        "asm('no `wgmma.fence`')",
        "asm = 'wgmma.fence'",
        "asm = 'see wgmma.fence; then wgmma.commit_group'",
        "assert 'wgmma.fence.sync.aligned;' in asm",
        "asm.count('wgmma.fence.sync.aligned;')",
        "re.search(r'wgmma\\.fence.*;', asm)",
        "re.compile('wgmma.fence.sync.aligned;|asm')",
        "asm(f'{op}.sync.aligned;')",
        "asm('=r,r,l,~{memory}')",
        "asm('mov.u32 $0, %tid.x;')",
        "asm('')",
        "asm(b'wgmma.fence.sync.aligned;')",
        "# asm('wgmma.fence.sync.aligned;')",
    ],
)
def test_what_is_no_fragment(source: str) -> None:
    assert instructions(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "E = '__global__ functions return void'",
        "P = r'__global__\\s+void\\s+(\\w+)'",
        "X = 'use asm volatile for this'",
        "L = ['#include', '<<<', '__device__']",
        "M = 'set .version 8.7 and .target sm_120'",
        '"""\n__global__ void f() { asm volatile("wgmma.fence.sync.aligned;"); }\n"""',
    ],
)
def test_what_is_no_source(source: str) -> None:
    assert python.read("a.py", source, "a", False).embedded == ()


def test_sources_of_a_file_are_read_together() -> None:
    source = (
        "A = '''\n#define NEWER (__CUDA_ARCH__ >= 1000)\n__device__ int x;\n'''\n"
        "B = f'''\n#if NEWER\n__global__ void {name}() {{ asm(\"wgmma.fence.sync.aligned;\"); }}\n#endif\n'''\n"
    )
    (module,) = python.read("a.py", source, "a", False).embedded
    (guard,) = module.guards
    (operation,) = module.operations
    assert (module.language, guard.at[0], operation.at[0], len(operation.path)) == ("cuda", 6, 7, 1)


def test_modules_are_read_by_target() -> None:
    source = "".join(f"A = '''{PTX.replace('sm_120', target)}'''\n" for target in ("sm_120", "sm_100a", "sm_120"))
    found = python.read("a.py", source, "a", False).embedded
    assert [(module.language, len(module.operations)) for module in found] == [("ptx", 2), ("ptx", 1)]


@pytest.mark.parametrize(
    ("data", "passes"),
    [
        (b"tl.inline_asm_elementwise(", True),
        (b"K = '__global__ void f() {}'", True),
        (b"P = '.target sm_90'", True),
        (b"wasm = 1; chasm(miasma)", False),
        (b"import os", False),
    ],
)
def test_prefilter(data: bytes, passes: bool) -> None:
    assert python.may_matter(data) is passes


@pytest.mark.parametrize(
    "unit",
    [
        "asm('wgmma.fence.sync.aligned;')\n",
        "asm('\\\\\\'')\n",
        "A = '''__global__ void f() { asm(\"wgmma.fence.sync.aligned;\"); /* '''\n",
        f"A = '''{PTX}'''\n",
        "A = '__global__ __global__ __device__ asm'\n",
        "A = f'{x}{{{y}}} asm;'\n",
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    grows_as_its_input(lambda source: python.read("a.py", source, "a", False), lambda times: unit * times, 200)


@pytest.mark.parametrize(
    "inside", ["__global__ " * 20_000, "<<<" * 50_000, "\\\\" * 50_000, "asm(" * 30_000, ".version 1" * 9999]
)
def test_long_strings_take_linear_time(inside: str) -> None:
    with at_most(5):
        python.read("a.py", f"asm('{inside}')", "a", False)
