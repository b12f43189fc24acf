"""Which families are asked about, and what the test of a family in a project's own tests is worth."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.chips import ChipSet
from bwlint.judging.drafts import Remedy

REFUSAL = """import torch


def run(x):
    if torch.cuda.get_device_capability() not in {chips}:
        raise RuntimeError("no")
    return x
"""


@pytest.mark.parametrize(
    ("chips", "targets", "missing"),
    [
        ("[(10, 0), (10, 3)]", "10.0", []),
        ("[(10, 0), (10, 3)]", "10.0 10.7", ["10.7"]),
        ("[(10, 0)]", "10.0 10.3", ["10.3"]),
        ("[(10, 0), (10, 3)]", "12.0 12.1", []),
        ("[(10, 0), (12, 0)]", "10.3 12.0", ["10.3"]),
        ("[(12, 0), (12, 1)]", "12.0 12.1", []),
        ("[(12, 0)]", "12.0", []),
        ("[(12, 0)]", "12.1", ["12.1"]),
        ("[(12, 1)]", "12.1", []),
    ],
)
def test_only_a_chip_that_was_asked_about_and_has_a_product_is_left_out(
    tmp_path: Path, chips: str, targets: str, missing: list[str]
) -> None:
    found = drafts(tmp_path, {"m.py": REFUSAL.format(chips=chips)}, "family-split", ChipSet.of(*targets.split()))
    assert [draft.message.partition(" turns away ")[2].partition(" ")[0] for draft in found] == missing


@pytest.mark.parametrize(
    ("yes", "no", "safe"),
    [
        ("n = 1", "n = 2", False),
        ("n = 1", "n = run()", True),
        ("n = run()", "n = 1", True),
        ("n = run()", "n = go()", True),
        ("n = run()  # GB10 is slower", "n = go()", False),
    ],
)
def test_a_test_of_values_expects_each_member_to_have_its_own(tmp_path: Path, yes: str, no: str, safe: bool) -> None:
    code = f"""import torch


def test_run():
    if torch.cuda.get_device_capability() == (12, 0):
        {yes}
    else:
        {no}
    assert n
"""
    (found,) = drafts(tmp_path, {"tests/test_m.py": code}, "family-split")
    assert isinstance(found.remedy, Remedy)
    assert (found.remedy.unsafe is None) == safe


TESTED = "def f():\n    if torch.cuda.get_device_capability() == (12, 0):\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("@supported_compute_capability([100, 120])\ndef run(x):\n    return x.fast()\n", True),
        ("@supported_compute_capability([100, 120])\ndef run(x):\n    pass\n", False),
        ("supported_archs = ['sm_100', 'sm_120']\n", True),
        ("supported_nvcc_archs = ['sm_100', 'sm_120']\n", False),
        (f"{TESTED}        pass\n    else:\n        raise OSError\n", True),
        ("is_nvcc_ready = torch.cuda.get_device_capability() == (12, 0)\n", True),
    ],
)
def test_stubs_and_lists_of_build_targets_have_nothing_behind(tmp_path: Path, code: str, found: bool) -> None:
    assert bool(drafts(tmp_path, {"m.py": f"import torch\n{code}"}, "family-split")) == found


DISPATCH = """#include <stdexcept>
{guard}
void run(float* out) {{
  int sm = get_sm_version_num();
  if (sm {test}
}}
"""
ADMITS = '== 120) { launch(out); return; }\n  throw std::runtime_error("no");'
DENIES = '!= 120) { throw std::runtime_error("no"); }\n  launch(out);'
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
CUDAExtension("n", ["m.cu"], extra_compile_args={{"nvcc": ["-gencode", "arch=compute_{arch},code=sm_{arch}"]}})
"""
GUARD = "__global__ void k(float* o) {{\n#if __CUDA_ARCH__ == {arch}\n  {body}\n#endif\n}}"
NO_BUILD = "no build of this file makes what 12.1 loads"
NO_CODE = "the guard at line 3 leaves 12.1 out of what is compiled"


@pytest.mark.parametrize("test", [ADMITS, DENIES])
@pytest.mark.parametrize(
    ("arch", "guard", "doubt"),
    [
        ("", "", None),
        ("120a", "", NO_BUILD),
        ("120f", "", None),
        ("121a", "", None),
        ("", GUARD.format(arch="1200", body="o[0] = 1.0f;"), NO_CODE),
        ("", GUARD.format(arch="1210", body="o[0] = 1.0f;"), None),
        ("", GUARD.format(arch="900", body="o[0] = 1.0f;"), None),
        ("", GUARD.format(arch="1200", body=""), None),
    ],
)
def test_what_is_compiled_for_one_part_is_not_for_its_sibling(
    tmp_path: Path, test: str, arch: str, guard: str, doubt: str | None
) -> None:
    files = {"m.cu": DISPATCH.format(test=test, guard=guard)}
    found = drafts(tmp_path, files | ({"setup.py": SETUP.format(arch=arch)} if arch else {}), "family-split")
    remedy = next(draft.remedy for draft in found if "compile" not in draft.label)
    assert isinstance(remedy, Remedy)
    assert remedy.unsafe == doubt


TOLD = (
    "import torch\n\n\ndef refusal(q):\n    if torch.cuda.get_device_capability() {}:\n"
    "        return 'device compute capability is not 12.0'\n    return None\n"
)
ASKING = "import torch\nfrom told import refusal\n\n\ndef run(q):\n    if {}:\n        {}\n    return None\n"
EXACT = "torch.cuda.get_device_capability() == (12, 0)"


@pytest.mark.parametrize(
    ("refuses", "test", "then", "expected"),
    [
        ("!= (12, 0)", EXACT, "return refusal(q)", ["told.py warning"]),
        ("!= (12, 0)", f"refusal(q) is None and {EXACT}", "return q", ["told.py warning"]),
        ("not in ((12, 0), (12, 1))", EXACT, "return refusal(q)", ["user.py warning"]),
        ("!= (12, 0)", EXACT, "raise ValueError('no')", ["told.py warning", "user.py warning"]),
        ("!= (12, 0)", EXACT, "return kernel(q), refusal(q)", ["told.py warning", "user.py warning"]),
    ],
)
def test_a_split_that_is_told_further_on(
    tmp_path: Path, refuses: str, test: str, then: str, expected: list[str]
) -> None:
    """To open the gate alone changes nothing: the function that it leads to turns the sibling away by itself."""
    files = {"told.py": TOLD.format(refuses), "user.py": ASKING.format(test, then)}
    found = [one for one in drafts(tmp_path, files, "family-split") if one.severity == "warning"]
    assert sorted(f"{Path(one.module.path).name} {one.severity}" for one in found) == expected


SAMPLES = """import pytest
import torch

from pkg import choose, make_record

CAPABILITIES = ((8, 0), (8, 6), (9, 0), (10, 0), (12, 0))


def test_record():
    record = make_record(supported_sms=["80", "86", "90", "120"], max_sm=120)
    assert choose(record)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_each(capability):
    assert choose(capability)


def test_loop():
    for capability in CAPABILITIES:
        {loop}
"""


@pytest.mark.parametrize(
    ("name", "loop", "rule", "lines"),
    [
        ("tests/test_choice.py", "assert choose(capability)", "family-split", []),
        ("pkg/choice.py", "choose(capability)", "family-split", [6, 10]),
        (
            "tests/test_choice.py",
            "if torch.cuda.get_device_capability() not in CAPABILITIES:\n            pytest.skip('fp8')",
            "test-gate",
            [6],
        ),
    ],
)
def test_what_a_test_brings_along_is_no_list_of_chips(
    tmp_path: Path, name: str, loop: str, rule: str, lines: list[int]
) -> None:
    found = drafts(tmp_path, {name: SAMPLES.format(loop=loop)}, rule)
    assert sorted(draft.place.at.line for draft in found) == lines


@pytest.mark.parametrize(("targets", "count"), [("12.0 12.1", 1), ("12.1", 1), ("12.0", 0), ("10.0", 0)])
def test_a_guard_is_reported_to_whom_it_leaves_out(tmp_path: Path, targets: str, count: int) -> None:
    kernel = '#if __CUDA_ARCH__ == 1200\n__device__ void run() { asm("mma.sync;"); }\n#else\n#error no\n#endif\n'
    found = drafts(tmp_path, {"k.cu": kernel}, "family-split", ChipSet.of(*targets.split()))
    assert len(found) == count
