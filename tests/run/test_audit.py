"""Whole small trees in, rows out: what is asked, of what kind, with which answers, and where."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from libraries import arm
from small_binaries import zipped

from bwlint.index import kept
from bwlint.model.ledger import Ledger, Row
from bwlint.run import engine
from bwlint.run.audit import audit
from bwlint.run.check import check, judge
from bwlint.run.gather import gather
from bwlint.run.request import CheckRequest
from bwlint.world import collect, workers

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROJECT = "[project]\nname = 'p'\n"
CHIPS = ("8.9", "9.0", "10.0", "12.0", "12.1")
DEVICE = "torch.cuda.get_device_capability()"


def put(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in {"pyproject.toml": PROJECT, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def audited(folder: Path, **how: Any) -> Ledger:
    with ExitStack() as stack:
        return audit(CheckRequest((str(folder),), **{"jobs": 1, **how}), stack)


def test_what_is_written_for_bwlint_is_no_question(tmp_path: Path) -> None:
    comments = "x = 1  # bwlint: ignore[leak] sm_120\ny = 2  # bwlint: ignore[lek] sm_120\n"
    own = {"bwlint.toml": 'target = ["sm_120"]\n', "bwlint-baseline.json": '["sm_120"]', "a.py": comments}
    assert rows(tmp_path, own) == {}


def rows(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, Row]:
    """The rows of a tree by their questions."""
    found = audited(put(folder, files)).rows
    by_question = {row.question: row for row in found}
    assert len(by_question) == len(found)
    return by_question


def told(row: Row, folder: Path) -> str:
    """ "kind form file:line file:line-line": a row with its places, each once."""
    where = [
        f"{p.path.removeprefix(f'{folder}/')}:{p.line}{f'-{p.end_line}' * (p.end_line > p.line)}" for p in row.places
    ]
    return " ".join([row.kind, row.form, *dict.fromkeys(where)])


def answers(row: Row) -> str:
    """The answers of `CHIPS`."""
    return ", ".join(answer for chip, answer in sorted(row.table, key=lambda one: float(one[0])) if chip in CHIPS)


def ways(row: Row) -> dict[str, str]:
    return {" ".join(way.chips): way.does for way in row.ways}


CHAIN = f"""\
import torch


def pick(x):
    cap = {DEVICE}
    if cap == (12, 0):
        return cutlass_moe(x)
    elif cap[0] == 10:
        return trtllm_moe(x)
    elif cap[0] == 9:
        return triton_moe(x)
    raise RuntimeError("needs SM90")
"""


def test_a_chain_is_one_row_with_its_arms(tmp_path: Path) -> None:
    row = rows(tmp_path, {"p/a.py": CHAIN})["cap == (12, 0) | cap[0] == 10 | cap[0] == 9"]
    assert told(row, tmp_path) == "fail gate p/a.py:6 p/a.py:8 p/a.py:10 p/a.py:12"
    assert [place.says for place in row.places] == ["checked here"] * 3 + ["its message"]
    assert (row.subject, row.group, row.rough) == ("pick", "own", False)
    assert answers(row) == "else, arm 3, arm 2, arm 1, else"
    assert [chip for chip, _ in row.table[:2]] == ["12.0", "12.1"]
    assert ways(row) == {"12.0": "calls `cutlass_moe` and returns", "12.1": 'raises "needs SM90"'}
    assert len(row.findings) == 1
    assert {"found-by-check", "splits-family", "form-gate"} <= {part.name for part in row.parts}
    assert row.score == sum(part.points for part in row.parts)


GUARDED = """\
#define N 1
__global__ void kern(int a) {
#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200
  f();
#else
  g();
#endif
}
"""
FLAG = f"""\
import torch

IS_SM100 = {DEVICE}[0] == 10


def f(x):
    if IS_SM100:
        return a(x)
    return b(x)


def g(x):
    return 1 if IS_SM100 else 2
"""
LISTS = """\
cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 90a 120a)
add_library(k k.cu)
"""
SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

FLAGS = {"nvcc": ["-gencode=arch=compute_90a,code=sm_90a"]}
setup(ext_modules=[CUDAExtension("k", ["k.cu"], extra_compile_args=FLAGS)])
"""
SKIP = f"""\
import pytest
import torch


@pytest.mark.skipif({DEVICE}[0] < 10, reason="needs a newer GPU")
def test_x():
    pass
"""
OLD = f"import torch\n\n\ndef old(x):\n    if {DEVICE} >= (7, 0):\n        return a(x)\n    return b(x)\n"
TEN = f"import torch\n\nif {DEVICE} == (10, 0):\n    run()\n"
TWIN = f"import torch\n\nif {DEVICE} == (12, 1):\n    raise RuntimeError('no')\n"


@pytest.mark.parametrize(
    ("name", "text", "question", "expected", "table"),
    [
        (
            "p/flag.py",
            FLAG,
            f"{DEVICE}[0] == 10",
            "review gate p/flag.py:3 p/flag.py:7 p/flag.py:13",
            "no, no, yes, no, no",
        ),
        ("p/old.py", OLD, f"{DEVICE} >= (7, 0)", "pass gate p/old.py:5", "yes, yes, yes, yes, yes"),
        ("p/ten.py", TEN, f"{DEVICE} == (10, 0)", "review gate p/ten.py:3", "no, no, yes, no, no"),
        ("p/twin.py", TWIN, f"{DEVICE} == (12, 1)", "fail gate p/twin.py:3 p/twin.py:4", "no, no, no, no, yes"),
        (
            "csrc/k.cu",
            GUARDED,
            "#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200",
            "review guard csrc/k.cu:3",
            "no, no, yes, no, no",
        ),
        (
            "CMakeLists.txt",
            LISTS,
            "CMAKE_CUDA_ARCHITECTURES 90a, 120a",
            "fail build CMakeLists.txt:3",
            "no, yes, no, yes, no",
        ),
        ("setup.py", SETUP, "90a", "review build setup.py:4", "no, yes, no, no, no"),
        (
            "tests/test_x.py",
            SKIP,
            f"{DEVICE}[0] < 10",
            "review gate tests/test_x.py:5",
            "yes, yes, no, no, no",
        ),
        (
            "p/odd.py",
            "def odd(sm):\n    return elem(sm, {80, 90})\n",
            "return elem(sm, {80, 90})",
            "review asked p/odd.py:2",
            "no, yes, no, no, no",
        ),
        (
            "k.sh",
            "x=$(nvidia-smi --query-gpu=compute_cap | tr -d .)\n",
            "x=$(nvidia-smi --query-gpu=compute_cap | tr -d .)",
            "open asked k.sh:1",
            "",
        ),
        ("p/a.py", "# only sm_120 is tried\n", "# only sm_120 is tried", "open text p/a.py:1", ""),
        ("p/a.py", "# needs sm_90\nx = 1\n# needs H100\n", "# needs sm_90", "pass text p/a.py:1 p/a.py:3", ""),
        ("p/a.py", "use(hopper)\n\nuse(sm_90)\n", "hopper, sm_90", "open name p/a.py:1 p/a.py:3", ""),
        ("p/a.py", "use('H100')\n", "use('H100')", "open product p/a.py:1", ""),
        ("p/a.py", "x = nvlink\ny = ptxas\n", "nvlink, ptxas", "open unit p/a.py:1 p/a.py:2", ""),
        ("p/a.py", "x = capability\n", "x = capability", "pass word p/a.py:1", ""),
        ("p/a.py", "f(x, capability)\n", "f(x, capability)", "open word p/a.py:1", ""),
        ("p/a.py", "y = f(capability, x)\n", "y = f(capability, x)", "open word p/a.py:1", ""),
        ("p/a.py", "def f(capability):\n    pass\n", "def f(capability):", "pass word p/a.py:1", ""),
        ("p/a.py", "async def f(x, arch):\n    pass\n", "async def f(x, arch):", "pass word p/a.py:1", ""),
        ("p/a.py", "f(capability.x)\n", "f(capability.x)", "pass word p/a.py:1", ""),
        ("p/a.py", "x = (arch, 1)\n", "x = (arch, 1)", "pass word p/a.py:1", ""),
        ("p/a.py", "x = search(90) * 12.0\n", "", "", ""),
        ("notes.md", "sm_90 Hopper\n", "", "", ""),
    ],
)
def test_rows_of_a_file(tmp_path: Path, name: str, text: str, question: str, expected: str, table: str) -> None:
    found = rows(tmp_path, {name: text})
    if not question:
        assert found == {}
        return
    row = found[question]
    assert (told(row, tmp_path), answers(row)) == (expected, table)
    assert row.rough == (row.form == "asked" and bool(table))
    assert row.verdicts == (("12.0", row.kind), ("12.1", row.kind))


@pytest.mark.parametrize(
    ("name", "group", "marks"),
    [
        ("p/a.py", "own", set()),
        ("third_party/x/a.py", "vendored", set()),
        ("p/_vendor/a.py", "vendored", set()),
        ("generated/a.py", "generated", set()),
        ("benchmarks/a.py", "own", {"aside"}),
        ("examples/a.py", "own", {"aside"}),
        ("tests/test_a.py", "own", {"in-test"}),
        ("p/third_party_tools.py", "own", set()),
        ("p/latest.py", "own", set()),
    ],
)
@pytest.mark.parametrize("text", [TEN, "use(hopper)\n"])
def test_whose_code_it_is_and_what_it_is_for(tmp_path: Path, name: str, group: str, marks: set[str], text: str) -> None:
    (row,) = rows(tmp_path, {name: text}).values()
    assert row.group == group
    assert {part.name for part in row.parts} & {"aside", "in-test"} == marks


def test_rows_of_others_come_last(tmp_path: Path) -> None:
    files = {"third_party/a.py": TWIN, "p/a.py": TEN, "p/b.py": OLD, "p/c.py": "x = capability\n"}
    found = audited(put(tmp_path, files)).rows
    assert [(row.group, row.kind) for row in found] == [
        ("own", "review"),
        ("vendored", "review"),
        ("own", "pass"),
        ("own", "pass"),
    ]


@pytest.mark.parametrize(
    ("comment", "kind", "words"),
    [
        ("", "fail", "12.1"),
        ("  # bwlint: ignore[family-split] measured on both", "pass", "a comment silences it: measured on both"),
    ],
)
def test_what_a_comment_silences_passes_with_its_reason(tmp_path: Path, comment: str, kind: str, words: str) -> None:
    text = f"import torch\n\nif {DEVICE} != (12, 0):{comment}\n    raise RuntimeError('needs SM120')\n"
    row = rows(tmp_path, {"p/a.py": text})[f"{DEVICE} != (12, 0)"]
    assert row.kind == kind and words in row.why
    assert bool(row.findings) == (kind == "fail")


def test_findings_of_check_are_told_in_rows(tmp_path: Path) -> None:
    put(tmp_path, {"p/a.py": CHAIN, "p/b.py": TWIN, "CMakeLists.txt": LISTS, "k.cu": GUARDED})
    with ExitStack() as stack:
        report = check(CheckRequest((str(tmp_path),), jobs=1), stack).report
    ledger = audited(tmp_path)
    in_rows = {fingerprint: row for row in ledger.rows for fingerprint in row.findings}
    assert set(in_rows) == {finding.fingerprint for finding in report.findings}
    for finding in report.findings:
        assert in_rows[finding.fingerprint].kind == ("review" if finding.severity == "note" else "fail")
    assert (ledger.targets, ledger.skipped, ledger.stats) == (report.targets, report.skipped, report.stats)
    assert ledger.stats["questions"] == len(ledger.rows)
    assert ledger.stats["questions_left"] == sum(row.kind in ("fail", "review") for row in ledger.rows)


EVERYTHING = {
    "p/chain.py": CHAIN,
    "p/flag.py": FLAG,
    "p/old.py": OLD,
    "benchmarks/ten.py": f"# B200\n{TEN}",
    "third_party/twin.py": TWIN,
    "tests/test_x.py": SKIP,
    "csrc/k.cu": f"// needs sm_90\n{GUARDED}",
    "CMakeLists.txt": LISTS,
    "setup.py": SETUP,
    "p/words.py": "use(hopper, H100, nvlink)\nx = capability\nif 80 <= p.cc and p.cc < 90: pass\n",
}


def test_fingerprints_outlive_moved_lines_and_renamed_files(tmp_path: Path) -> None:
    names = "def f():\n  hopper()\n"
    before = audited(put(tmp_path / "a", {"p/chain.py": CHAIN, "p/f.py": FLAG, "k.cu": GUARDED, "p/w.py": names}))
    moved = {
        "q/flag.py": f"\n# a comment\n{FLAG}".replace("def g", "# another\n\n\ndef g"),
        "q/other.py": f"# a comment\n\n\n{CHAIN}",
        "src/l.cu": f"\n\n{GUARDED}",
        "r/w.py": "\n\ndef f():\n  hopper()\n",
    }
    after = audited(put(tmp_path / "b", moved))
    assert before.rows
    assert {row.fingerprint for row in before.rows} == {row.fingerprint for row in after.rows}
    changed = {
        "p/chain.py": CHAIN.replace("(12, 0)", "(12, 1)"),
        "p/f.py": FLAG,
        "p/h.py": "from p.f import IS_SM100\n\n\ndef h(x):\n    return 3 if IS_SM100 else 4\n",
        "k.cu": GUARDED.replace("1200", "1210"),
    }
    other = audited(put(tmp_path / "c", changed))
    asked = {row.fingerprint for row in before.rows if row.table}
    assert asked and not asked & {row.fingerprint for row in other.rows}


@pytest.mark.parametrize("target", [("sm_120",), ("sm_121",), ("sm_90", "sm_120"), ("sm_80",)])
def test_fingerprints_do_not_depend_on_who_is_asked_about(tmp_path: Path, target: tuple[str, ...]) -> None:
    put(tmp_path, EVERYTHING)
    usual, other = audited(tmp_path), audited(tmp_path, target=target)
    one, two = ({row.fingerprint for row in ledger.rows if row.form != "finding"} for ledger in (usual, other))
    assert one == two
    assert all([chip for chip, _ in row.verdicts] == list(other.targets) for row in other.rows)
    assert other.targets != usual.targets


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.so": arm("sm_120f")}, []),
        ({"a.so": arm("sm_120f"), "p/a.py": "x = 1\n"}, []),
        ({"dist/x.zip": zipped({"x/a.so": arm("sm_120a")})}, []),
        ({"a.so": arm("sm_120a")}, ["fail finding a.so:1"]),
        ({"a.so": arm("sm_120a"), "p/a.py": "use(hopper)\n"}, ["fail finding a.so:1", "open name p/a.py:1"]),
        ({"lib/a.so": arm("sm_120a"), "p/ten.py": TEN}, ["fail finding lib/a.so:1", "review gate p/ten.py:3"]),
        ({"tests/data/a.so": arm("sm_120a")}, ["review finding tests/data/a.so:1"]),
        (
            {"third_party/a.so": arm("sm_120a"), "p/ten.py": TEN},
            ["review gate p/ten.py:3", "fail finding third_party/a.so:1"],
        ),
        ({"a/a.so": arm("sm_120a"), "b/a.so": arm("sm_120a")}, ["fail finding a/a.so:1 b/a.so:1"]),
        (
            {"a/a.so": arm("sm_120a"), "b/b.so": arm("sm_120a")},
            ["fail finding a/a.so:1", "fail finding b/b.so:1"],
        ),
    ],
)
def test_a_finding_in_a_binary_is_a_row(tmp_path: Path, files: dict[str, str | bytes], expected: list[str]) -> None:
    put(tmp_path, files)
    with ExitStack() as stack:
        report = check(CheckRequest((str(tmp_path),), jobs=1), stack).report
    ledger = audited(tmp_path)
    assert [told(row, tmp_path) for row in ledger.rows] == expected
    found = {finding.fingerprint for finding in report.findings if finding.path.endswith(".so")}
    assert {one for row in ledger.rows for one in row.findings} == found
    assert ledger.stats.get("questions", 0) == len(expected)


needs_fork = pytest.mark.skipif(not workers.can_copy(), reason="this system has no fork")


@needs_fork
def test_several_processes_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gates = "".join(f"\n\ndef f{i}(x):\n    if {DEVICE} >= (9, {i % 2}):\n        return g{i}(x)\n" for i in range(30))
    put(tmp_path, {**EVERYTHING, **{f"p/m{i}.py": f"import torch\n{gates}# sm_90 {i}\n" for i in range(4)}})
    begun: list[tuple[int, int]] = []

    def begin(start: int, stop: int, *rest: Any) -> Any:
        begun.append((start, stop))
        return genuine(start, stop, *rest)

    genuine = workers.begin
    monkeypatch.setattr(workers, "begin", begin)
    monkeypatch.setattr(engine, "MIN_PART", 40)
    alone = audited(tmp_path)
    assert not begun
    assert audited(tmp_path, jobs=3) == alone
    assert len(begun) == 2
    assert audited(tmp_path, jobs=3, link_budget=0).rows == audited(tmp_path, link_budget=0).rows


@contextmanager
def nothing_is_looked_for() -> Iterator[None]:
    def fails(*_: object) -> Any:
        raise AssertionError("it is in the index")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "sightings", fails)
        yield


def test_the_index_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    tree = put(tmp_path / "tree", EVERYTHING)
    without = audited(tree)
    with kept.using():
        assert audited(tree) == without
    with kept.using(), nothing_is_looked_for():
        assert audited(tree) == without
    put(tree, {"p/words.py": "use(blackwell)\n", "p/old.py": OLD.replace("7", "9")})
    with kept.using():
        changed = audited(tree)
    assert changed == audited(tree) != without


def test_the_index_and_several_processes_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(engine, "MIN_PART", 5)
    tree = put(tmp_path / "tree", EVERYTHING)
    without = audited(tree)
    for _ in range(2):
        with kept.using():
            assert audited(tree, jobs=2) == without


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("p/a.py", b"x = 'sm_90'\0\xff\n", "not utf-8"),
        ("p/a.py", f"# {DEVICE} sm_90".encode("utf-16"), "UTF-16"),
        ("p/a.py", f"def f(:\n    {DEVICE} >= (9, 0)\n".encode(), "line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    ledger = audited(put(tmp_path, {name: content, "p/ten.py": TEN}))
    (skipped,) = ledger.skipped
    assert skipped.path.endswith(name) and reason in skipped.reason
    assert "review" in {row.kind for row in ledger.rows}


def unaccounted(folder: Path) -> list[str]:
    """The lines of a tree that speak of a chip and stand in no row."""
    with ExitStack() as stack:
        gathered = gather(CheckRequest((str(folder),), jobs=1), stack)
        found = judge(gathered).rows
    at = {(place.path, line) for row in found for place in row.places for line in range(place.line, place.end_line + 1)}
    seen = [(file.path, one) for file, lines in gathered.collected.seen for one in lines]
    return [f"{path}:{one.line}: {one.text}" for path, one in seen if (path, one.line) not in at]


def test_every_line_that_speaks_of_a_chip_stands_in_a_row(tmp_path: Path) -> None:
    assert unaccounted(put(tmp_path, EVERYTHING)) == []


@pytest.mark.parametrize("folder", ["across", "native", "message"])
def test_so_does_every_line_of_the_fixtures(folder: str) -> None:
    assert unaccounted(FIXTURES / folder) == []


CONDITIONS = st.sampled_from(
    [
        *(f"{DEVICE} == (12, 0)", f"{DEVICE}[0] in (9, 10)", "IS_NEW", "is_hopper()", "cc >= 90", "x and sm == 120"),
        *("'sm_90' in archs", "x", "major >= 10 or x", f"not {DEVICE} < (9, 0)", "hasattr(x, 'sm90')"),
    ]
)
LINES = st.sampled_from(
    [
        *("return hopper(x)", "raise RuntimeError('needs SM90')", "pass", "# sm_120 only", "x = 'H100'"),
        *("y = ARCHS", "tcgen05(x)", "SUPPORTED = [(9, 0), (12, 0)]", '"""Needs\n    Hopper.\n    """', "z = x"),
    ]
)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """A module of gates, chains and words."""
    pieces = ["import torch", f"IS_NEW = {DEVICE} >= (10, 0)"]
    for number in range(draw(st.integers(0, 4))):
        pieces += ["", f"def {draw(st.sampled_from(['f', 'sm90', 'hopper_gemm']))}_{number}(x, cc, sm, major, archs):"]
        for branch in range(draw(st.integers(0, 3))):
            pieces += [
                f"    {'elif' if branch else 'if'} {draw(CONDITIONS)}:",
                f"        {draw(LINES)}",
                "        pass",
            ]
        pieces.append(f"    {draw(LINES)}")
        pieces.append("    return x")
    return "\n".join([*pieces, draw(LINES).replace("return ", ""), ""])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(modules(), min_size=1, max_size=2))
def test_so_does_every_line_of_any_module(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = {f"p/m{number}.py": text for number, text in enumerate(texts)}
        assert unaccounted(put(Path(folder), files)) == []


CPP = [
    *("#if __CUDA_ARCH__ >= 900", "#elif __CUDA_ARCH__ == 1200", "#else", "#endif", "#ifdef ENABLE_SM120", "}"),
    *("// needs sm_90", "/* Hopper", "*/", 'asm volatile("tcgen05.mma;");', "__global__ void sm90_k(int a) {"),
    *("if (cc >= 90) {", "switch (arch) {", "case 90:", "return f<Sm100>();", "if (prop.major == 9 &&", 'R"('),
    *("    prop.minor == 0) {", "k<<<1, 2, 99*1024>>>(x);", 'TORCH_CHECK(major >= 9, "needs Hopper");', ')";'),
]
CMAKE = [
    *("set(CMAKE_CUDA_ARCHITECTURES 90a", "  120a)", 'list(APPEND ARCHS "12.0a")', "endif()", "# sm_120"),
    *("if(CUDA_VERSION VERSION_GREATER_EQUAL 12.8)", "if(arch VERSION_LESS 9.0)", "foreach(x 80 90 120)"),
    *('string(APPEND F " -arch=sm_${x}")', "endforeach()", "add_definitions(-DENABLE_SM90)", "function(sm90)"),
]
SHELL = [
    *('export TORCH_CUDA_ARCH_LIST="8.0;9.0"', "nvcc -arch=sm_90 \\", "  -gencode arch=compute_120,code=sm_120 a.cu"),
    *("case $arch in", "  90) f;;", "esac", "# Hopper", "cap=$(nvidia-smi --query-gpu=compute_cap | tr -d .)"),
]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(["\n", "\r\n", "\\\n"]))
def test_so_does_every_line_of_other_languages(data: st.DataObject, end: str) -> None:
    lines = {"k.cu": CPP, "CMakeLists.txt": CMAKE, "build.sh": SHELL}
    files = {
        name: end.join(data.draw(st.lists(st.sampled_from(some), max_size=12))) + "\n" for name, some in lines.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        assert unaccounted(put(Path(folder), files)) == []


def test_a_text_that_is_handed_in_is_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(put(tmp_path, {"p/a.py": "x = 1\n"}))
    with ExitStack() as stack:
        ledger = audit(CheckRequest(("p/a.py",), jobs=1, stdin=f"{TEN}# H100\n".encode()), stack)
    assert [told(row, tmp_path) for row in ledger.rows] == ["review gate p/a.py:3", "pass text p/a.py:5"]


@pytest.mark.parametrize("files", [{}, {"p/a.py": "x = 1\n"}, {"p/a.py": ""}, {"notes.md": "sm_90\n"}])
def test_a_tree_that_asks_nothing_has_no_rows(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    ledger = audited(put(tmp_path, files))
    assert (ledger.rows, ledger.skipped, ledger.targets) == ((), (), ("12.0", "12.1"))
    assert "questions" not in ledger.stats
