"""What a skip keeps out or lets in, against what the test calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

from bwlint.chips import ChipSet
from bwlint.judging.drafts import Remedy

HEAD = "import pytest\nimport torch\nfrom x import kernel\n\n"
CAP = "torch.cuda.get_device_capability()"
REFUSES = (
    "import torch\n\n\ndef kernel(n):\n    if torch.cuda.get_device_capability()[0] not in (9, 10):\n"
    "        raise NotImplementedError('no')\n    return n\n"
)
RUNS = "def kernel(n):\n    return n\n"
BY_A_HELPER = (
    f"def needs_hopper():\n    if {CAP}[0] < 9:\n        pytest.skip('needs 9.0')\n\n\n"
    "def test_it():\n    needs_hopper()\n    assert kernel(1)\n"
)
BY_A_MARK = (
    f"hopper = pytest.mark.skipif({CAP} < (9, 0), reason='needs 9.0')\n\n\n@hopper\ndef test_it():\n    kernel(1)\n"
)
OF_A_FILE = f"pytestmark = pytest.mark.skipif({CAP} < (9, 0), reason='needs 9.0')\n\n\ndef test_it():\n    kernel(1)\n"
OF_A_LIST = (
    f"pytestmark = [pytest.mark.slow, pytest.mark.skipif({CAP} < (9, 0), reason='needs 9.0')]\n\n\n"
    "def test_it():\n    kernel(1)\n"
)
MADE_HERE = (
    f"def requires(major, how='ge'):\n    held = {{{{'ge': {CAP}[0] >= major, 'eq': {CAP}[0] == major}}}}[how]\n"
    "    return pytest.mark.skipif(not held, reason='other GPU')\n\n\n@pytest.mark.slow\n@requires({})\n"
    "def test_it():\n    kernel(1)\n"
)
PARSED = (
    f"def parsed(text):\n    return tuple(int(part) for part in text.split('.'))\n\n\ndef has(wanted):\n"
    f"    return {CAP} >= parsed(wanted)\n\n\n@pytest.mark.skipif(not has('{{}}'), reason='other GPU')\n"
    "def test_it():\n    kernel(1)\n"
)
OF_OTHERS = f"{BY_A_MARK.replace('kernel(1)', 'pass')}\n\ndef test_another():\n    kernel(1)\n"
SKIPS_ONE = f"def test_it():\n    if {CAP} == (12, 0):\n        pytest.skip('not on SM120')\n    kernel(1)\n"
ONE_ALONE = f"def test_it():\n    if {CAP} != (12, 0):\n        pytest.skip('needs SM120')\n    kernel(1)\n"
TWIN = f"def test_it():\n    if {CAP} == (12, 1):\n        pytest.skip('not here')\n    kernel(1)\n"


@pytest.mark.parametrize(
    ("test", "tested", "expected"),
    [
        (BY_A_HELPER, REFUSES, ["11 warning"]),
        (BY_A_HELPER, RUNS, []),
        (BY_A_MARK, REFUSES, ["5 warning"]),
        (BY_A_MARK, RUNS, []),
        (OF_A_FILE, REFUSES, ["5 warning"]),
        (OF_OTHERS, REFUSES, []),
        (OF_A_LIST, REFUSES, ["5 warning"]),
        (OF_A_LIST, RUNS, []),
        (MADE_HERE.format("9"), REFUSES, ["11 warning"]),
        (MADE_HERE.format("13"), REFUSES, []),
        (MADE_HERE.format("9"), RUNS, []),
        (PARSED.format("9.0"), REFUSES, ["13 warning"]),
        (PARSED.format("13.0"), REFUSES, []),
        (SKIPS_ONE, RUNS, ["6 warning"]),
        (ONE_ALONE, RUNS, ["6 note"]),
        (TWIN, RUNS, ["6 note"]),
    ],
)
def test_skips(tmp_path: Path, test: str, tested: str, expected: list[str]) -> None:
    files = {"tests/test_x.py": HEAD + test, "x.py": tested}
    assert levels(drafts(tmp_path, files, "test-gate")) == expected


SKIPPED = """import pytest
import torch


def test_run():
    if torch.cuda.get_device_capability() != (10, 0):
        pytest.skip("{reason}")
    run()
"""
RUN = """import pytest
import torch


def test_run():
    if torch.cuda.get_device_capability() == (10, 0):
        run()
    else:
        pytest.skip("{reason}")
"""


@pytest.mark.parametrize("code", [SKIPPED, RUN])
@pytest.mark.parametrize(
    ("reason", "safe"), [("needs another GPU", True), ("needs SM100", False), ("tuned for B200", False)]
)
def test_the_rest_of_a_generation(tmp_path: Path, code: str, reason: str, safe: bool) -> None:
    asked = ChipSet.of("10.0", "10.3")
    (found,) = drafts(tmp_path, {"tests/test_m.py": code.format(reason=reason)}, "test-gate", asked)
    assert isinstance(found.remedy, Remedy)
    assert (found.remedy.unsafe is None) == safe


NEWER = f"@pytest.mark.skipif({CAP} < ({{}}, 0), reason='older')\n"
OLDER = f"@pytest.mark.skipif({CAP} >= (11, 0), reason='newer')\n"
TCGEN05 = "names tcgen05 and tensor memory. Only 10.x and 11.0 have them, so it fails there."
WGMMA = "names wgmma. Only 9.0 has it, so it fails there."


@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("test_x.py", f"{NEWER.format(10)}def test_tcgen05_ld():\n    kernel(1)\n", TCGEN05),
        ("test_x.py", f"{NEWER.format(10)}def test_it():\n    assert 'tcgen05mma_ss' in kernel(1)\n", TCGEN05),
        (
            "test_x.py",
            f"{NEWER.format(10)}def test_it():\n    assert 'a' in 'b' and 'tcgen05.ld' in kernel(1)\n",
            TCGEN05,
        ),
        ("test_x.py", f"{NEWER.format(10)}def test_it():\n    kernel.alloc_tmem(1)\n", TCGEN05),
        ("test_gemm_tcgen5_ts.py", f"{NEWER.format(10)}def test_it():\n    kernel(1)\n", TCGEN05),
        ("test_x.py", f"{NEWER.format(9)}def test_wgmma_f16():\n    kernel(1)\n", WGMMA),
        ("test_x.py", f"def test_wgmma():\n    if {CAP} < (9, 0):\n        pytest.skip('old')\n    kernel(1)\n", WGMMA),
        ("test_x.py", f"{NEWER.format(10)}{OLDER}def test_tcgen05_ld():\n    kernel(1)\n", None),
        ("test_x.py", f"{OLDER}{NEWER.format(10)}def test_tcgen05_ld():\n    kernel(1)\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_layout_of_tcgen05():\n    kernel(1)\n", None),  # Hopper has none
        ("test_x.py", f"{NEWER.format(12)}def test_tcgen05_ld():\n    kernel(1)\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_without_wgmma():\n    kernel(1)\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_it():\n    assert 'wgmma' not in kernel(1)\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_it():\n    kernel('wgmma')\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_mma():\n    assert 'mma.sync' in kernel(1)\n", None),
        ("test_x.py", f"{NEWER.format(9)}def test_it_with_wgmma_disabled():\n    kernel(1)\n", None),
        (
            "test_x.py",
            f"{NEWER.format(9)}def test_wgmma():\n    wanted = 'mma' if {CAP} >= (12, 0) else 'wgmma'\n"
            "    assert wanted in kernel(1)\n",
            None,
        ),
    ],
)
def test_an_instruction_that_a_test_is_about(tmp_path: Path, file: str, code: str, said: str | None) -> None:
    found = drafts(tmp_path, {f"tests/{file}": HEAD + code, "x.py": RUNS}, "test-gate")
    assert [draft.severity for draft in found] == (["warning"] if said else [])
    assert all((said or "") in draft.message for draft in found)


BUILT = (
    "import torch\nfrom flashinfer.compilation_context import CompilationContext\n\n\ndef gen_module():\n"
    "    flags = CompilationContext().get_nvcc_flags_list(supported_major_versions=[9, 12])\n"
    "    return gen_jit_spec('kernel', ['kernel.cu'], extra_cuda_cflags=flags)\n\n\ndef kernel(n, chunked=False):\n"
    "{refusal}    return gen_module().build_and_load().run(n)\n"
)
REFUSAL = (
    f"    if chunked and {CAP}[0] == 12:\n        raise NotImplementedError('not chunked')\n",
    f"    if chunked and {CAP}[0] == 9:\n        raise NotImplementedError('not chunked')\n",
)
PROMISES = f"def test_it():\n    if {CAP}[0] != 9:\n        pytest.skip('needs SM90+ GPUs')\n    kernel(1)\n"


@pytest.mark.parametrize(
    ("refusal", "severity"),
    [("", "warning"), (REFUSAL[0], "note"), (REFUSAL[1], "warning")],
    ids=["refuses nothing", "refuses some calls there", "refuses some calls elsewhere"],
)
def test_a_build_promises_less_than_what_the_function_refuses(tmp_path: Path, refusal: str, severity: str) -> None:
    files = {"tests/test_x.py": HEAD + PROMISES, "x.py": BUILT.replace("{refusal}", refusal)}
    assert [draft.severity for draft in drafts(tmp_path, files, "test-gate")] == [severity]


SCRIPT = (
    f"def {{first}}():\n    if {CAP}[0] < 9:\n        pytest.skip('needs 9.0')\n    kernel(1)\n\n\n"
    f"def test_two():\n    if {CAP}[0] != 10:\n        raise OSError('needs 10.x')\n    kernel(2)\n\n\n"
    "if __name__ == '__main__':\n    {first}()\n    test_two()\n"
)


@pytest.mark.parametrize(("first", "expected"), [("test_one", []), ("needs_nine", ["18 warning"])])
def test_a_test_that_a_script_runs_is_no_skip_helper(tmp_path: Path, first: str, expected: list[str]) -> None:
    files = {"tests/test_x.py": HEAD + SCRIPT.format(first=first), "x.py": RUNS}
    assert levels(drafts(tmp_path, files, "test-gate")) == expected


FACTORY = (
    f"def requires(major, how='ge'):\n    try:\n        have = {CAP}\n    except ValueError:\n        have = (0, 0)\n\n"
    "    def holds(have, wanted, how):\n        if how == 'ge':\n            return have >= wanted\n"
    "        return have < wanted\n\n"
    "    marks = [pytest.mark.skipif(not holds(have, (major, 0), how), reason='other GPU'), pytest.mark.gpu]\n\n"
    "    def inner(func):\n        for mark in marks:\n            func = mark(func)\n        return func\n\n"
    "    return inner\n\n\n"
)
WRAPPER = (
    f"def requires(major, how='ge'):\n    def wrap(func):\n        def run(*args):\n            if {CAP}[0] < major:\n"
    "                pytest.skip('too old')\n            return func(*args)\n\n        return run\n\n"
    "    return wrap\n\n\n"
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{FACTORY}@requires(10)\ndef test_tcgen05():\n    kernel(1)\n", ["26 warning"]),
        (f"{FACTORY}@requires(10)\n@requires(12, 'lt')\ndef test_tcgen05():\n    kernel(1)\n", []),
        (f"{FACTORY}@requires(12)\ndef test_tcgen05():\n    kernel(1)\n", []),
        (f"{WRAPPER}@requires(10)\ndef test_tcgen05():\n    kernel(1)\n", ["17 warning"]),
        (f"{WRAPPER}@requires(12)\ndef test_tcgen05():\n    kernel(1)\n", []),
    ],
)
def test_a_decorator_that_is_a_function_of_the_test(tmp_path: Path, code: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"tests/test_x.py": HEAD + code, "x.py": RUNS}, "test-gate")) == expected


def test_a_test_of_a_compiler_runs_nothing(tmp_path: Path) -> None:
    code = f"{HEAD}{NEWER.format(9)}def test_wgmma():\n    kernel(1)\n"
    by_use = code.replace("kernel(1)", "kernel.transform.Fence(1)")
    assert levels(drafts(tmp_path, {"tests/transform/test_x.py": code, "x.py": RUNS}, "test-gate")) == ["5 note"]
    assert levels(drafts(tmp_path / "b", {"tests/test_x.py": by_use, "x.py": RUNS}, "test-gate")) == ["5 note"]


def test_the_tests_of_one_instruction_in_a_file_are_one_finding(tmp_path: Path) -> None:
    tests = [f"{NEWER.format(10)}def test_tcgen05_{name}():\n    kernel(1)\n\n\n" for name in ("ld", "st", "mma")]
    found = drafts(tmp_path, {"tests/test_x.py": HEAD + "".join(tests), "x.py": RUNS}, "test-gate")
    assert levels(found) == ["5 warning"]
    assert [related.at[0] for related in found[0].related] == [10, 15]


ENV = (
    '"""Helpers.\n\nwith plain markers::\n\n    import pytest\n"""\nimport torch\n\n\n'
    "def has_cuda():\n    return asked()\n\n\n"
    "def current():\n    try:\n        return torch.cuda.get_device_capability()\n    except Exception:\n"
    "        return (0, 0)\n\n\n"
    "def has_compute(major):\n    if not has_cuda():\n        return False\n    return current() >= (major, 0)\n"
)


def test_a_docstring_that_looks_like_code_hides_no_helper(tmp_path: Path) -> None:
    test = (
        "import pytest\nfrom p import env\nfrom x import kernel\n\n\n"
        "@pytest.mark.skipif(not env.has_compute(10), reason='old')\ndef test_tcgen05():\n    kernel(1)\n"
    )
    files = {"p/__init__.py": "from . import env\n", "p/env.py": ENV, "x.py": RUNS, "tests/test_x.py": test}
    assert levels(drafts(tmp_path, files, "test-gate", only="tests/test_x.py")) == ["6 warning"]


PROBE = (
    f"import pytest\nimport torch\n\n\ndef needs():\n    if {CAP}[0] < 9:\n        pytest.skip('needs 9.0')\n"
    "    try:\n        from flash_mla import flash_mla_sparse_fwd\n    except ImportError:\n"
    "        pytest.skip('flash_mla is missing')\n{}"
)


@pytest.mark.parametrize(
    ("then", "expected"),
    [("", ["6 note"]), ("    flash_mla_sparse_fwd(1)\n", ["6 warning"])],
)
def test_a_library_that_is_only_looked_for(tmp_path: Path, then: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"tests/test_m.py": PROBE.format(then)}, "test-gate")) == expected


def test_a_library_for_all_tests_of_a_file(tmp_path: Path) -> None:
    code = (
        f"import pytest\nimport torch\n\nif {CAP}[0] < 9:\n    pytest.skip('needs 9.0', allow_module_level=True)\n\n"
        "from flash_mla import flash_mla_sparse_fwd\n\n\ndef test_it():\n    flash_mla_sparse_fwd(1)\n"
    )
    assert levels(drafts(tmp_path, {"tests/test_m.py": code}, "test-gate")) == ["4 warning"]


OF_ONE_FILE = (
    "import pytest\nimport kit\nfrom kit import env\nfrom kit.script import T\n\n\n"
    "@pytest.mark.skipif(not env.has_cuda_compute(10), reason='needs 10.0')\ndef test_memory():\n"
    "    T.ptx.tcgen05.alloc(0, 512)\n\n\n"
    "@pytest.mark.skipif(not env.has_cuda_compute(10), reason='needs 10.0')\ndef test_{}():\n    {}\n"
)
HAS = "import torch\n\n\ndef has_cuda_compute(major):\n    return torch.cuda.get_device_capability() >= (major, 0)\n"


@pytest.mark.parametrize(
    ("name", "body", "also"),
    [
        ("barrier", "T.ptx.mbarrier.try_wait(0)", False),
        ("copy", "assert 'cp.async.bulk' in kit.source('copy')", False),
        ("layout", "kit.check(kit.tmem_native_layout(8))", False),
        ("memory_twice", "T.ptx.tcgen05.alloc(0, 256)", True),
        ("tcgen05_copy", "kit.source('copy')", True),
    ],
)
def test_what_other_tests_of_a_file_use_is_theirs(tmp_path: Path, name: str, body: str, also: bool) -> None:
    files = {"kit/__init__.py": "", "kit/env.py": HAS, "tests/test_m.py": OF_ONE_FILE.format(name, body)}
    (found,) = (one for one in drafts(tmp_path, files, "test-gate") if one.severity == "warning")
    assert (found.at[0], any(one.at[0] == 12 for one in found.related)) == (7, also)


def test_the_surest_use_of_a_flag_speaks_for_all(tmp_path: Path) -> None:
    mark = "@pytest.mark.skipif(not NEW, reason='needs 9.0')\n"
    code = (
        f"{HEAD}NEW = {CAP}[0] >= 9\n\n\n{mark}def test_machete_mm():\n    assert True\n\n\n"
        f"{mark}def test_it():\n    kernel(1)\n"
    )
    files = {"tests/test_m.py": code, "x.py": REFUSES}
    (found,) = drafts(tmp_path, files, "test-gate")
    assert (found.at[0], found.confidence) == (5, "high")
    assert "`kernel`, which refuses" in found.message


REFUSING = (
    "import torch\n\n\ndef kernel(n):\n    if torch.cuda.get_device_capability() {}:\n"
    "        raise RuntimeError('no')\n"
)
ASKING = (
    "import pytest\nimport torch\nfrom x import kernel\n\n\n"
    "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] not in (8, 9), reason='another GPU')\n"
    "def test_kernel():\n    kernel(1)\n"
)


@pytest.mark.parametrize(
    ("refused", "expected"),
    [("not in ((8, 0), (9, 0), (12, 0), (12, 1))", ["warning"]), ("== (11, 0)", []), ("in ((10, 7), (11, 0))", [])],
)
def test_what_refuses_a_part_or_two_says_nothing_of_the_others(
    tmp_path: Path, refused: str, expected: list[str]
) -> None:
    files = {"tests/test_x.py": ASKING, "x.py": REFUSING.format(refused)}
    assert [one.severity for one in drafts(tmp_path, files, "test-gate")] == expected


HELPER = (
    "import torch\n\n\ndef asked():\n    return read_of_file()\n\n\ndef has_compute(major):\n    if asked() is None:\n"
    "        return False\n    return torch.cuda.get_device_capability() >= (major, 0)\n"
)


@pytest.mark.parametrize(("least", "expected"), [(10, ["warning"]), (9, [])])
def test_who_may_run_a_test_is_what_its_helper_may_say(tmp_path: Path, least: int, expected: list[str]) -> None:
    test = (
        "import pytest\nfrom helper import has_compute\nfrom x import kernel\n\n\n"
        f"@pytest.mark.skipif(not has_compute({least}), reason='older')\ndef test_tcgen05_ld():\n    kernel(1)\n"
    )
    files = {"tests/test_x.py": test, "helper.py": HELPER, "x.py": RUNS}
    assert [one.severity for one in drafts(tmp_path, files, "test-gate")] == expected
