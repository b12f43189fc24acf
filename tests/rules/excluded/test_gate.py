"""Chips that are kept out of what has a way for them, or is built for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

from bwlint.chips import ChipSet

HEAD = "import torch\n\n\n"
MAJOR = "torch.cuda.get_device_capability()[0]"
CHECKED = "def act(a):\n    assert {} in [9, 10, 11], 'only SM90, SM100 and SM110'\n    return gemm(a)\n"
TABLE = "\n\ndef gemm(a):\n    return {{{}}}[{}](a)\n"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [("9: f, 10: g, 12: h", ["5 warning"]), ("9: f, 10: g, 11: h", []), ("9: f, 12: h", ["5 warning"])],
)
def test_what_is_behind_has_a_row(tmp_path: Path, rows: str, expected: list[str]) -> None:
    files = {"a.py": HEAD + CHECKED.format(MAJOR) + TABLE.format(rows, MAJOR)}
    assert levels(drafts(tmp_path, files, "excluded")) == expected


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("major in (8, 12)", ["6 warning"]),
        ("major == 12", ["6 warning"]),
        ("major in (8, 11)", []),
        ("major >= 8", []),
        ("major != 10", []),
    ],
)
def test_an_arm_below_a_check(tmp_path: Path, arm: str, expected: list[str]) -> None:
    body = (
        f"def forward(q):\n    major = {MAJOR}\n    assert major in [9, 10, 11], 'supported: 9, 10, 11'\n"
        f"    tile = 64\n    if {arm}:\n        tile = 32\n    return run(q, tile)\n"
    )
    assert levels(drafts(tmp_path, {"a.py": HEAD + body}, "excluded")) == expected


API = (
    "void forward(int n) {{\n  auto p = at::cuda::getCurrentDeviceProperties();\n"
    '  TORCH_CHECK({}, "other GPUs are not supported");\n  run_kernel(n);\n}}\n'
)
KERNEL = (
    '__global__ void kernel(float* x) {\n  asm volatile("'
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},"
    ' {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};\\n");\n}\nvoid run_kernel(int n) { kernel<<<1, 32>>>(nullptr); }\n'
)
SETUP = (
    "from torch.utils.cpp_extension import CUDAExtension\n"
    "FLAGS = ['-gencode', 'arch=compute_80,code=sm_80', '-gencode', 'arch=compute_{0},code=sm_{0}']\n"
    "CUDAExtension('x', ['api.cpp', 'kernel.cu'], extra_compile_args={{'nvcc': FLAGS}})\n"
)
AMPERE = "(p->major == 8 && p->minor == 0) || (p->major == 9 && p->minor == 0)"


@pytest.mark.parametrize(
    ("test", "built", "expected"),
    [
        (AMPERE, 120, ["3 warning"]),
        (AMPERE, 90, []),
        ("p->major >= 8", 120, []),
    ],
)
def test_what_is_built_for_them(tmp_path: Path, test: str, built: int, expected: list[str]) -> None:
    files = {"api.cpp": API.format(test), "kernel.cu": KERNEL, "setup.py": SETUP.format(built)}
    assert levels(drafts(tmp_path, files, "excluded", only="api.cpp")) == expected


def test_what_follows_a_check_of_cpp(tmp_path: Path) -> None:
    wgmma = KERNEL.replace("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "wgmma.fence.sync.aligned")
    files = {"api.cu": wgmma + API.format("p->major >= 9")}
    assert levels(drafts(tmp_path, files, "leak")) == ["7 warning"]
    files = {"api.cu": wgmma + API.format("p->major == 9")}
    assert drafts(tmp_path, files, "leak") == []


LISTS = (
    "import torch\nfrom gpu import match_sm_version\n\n\ndef backends(a):\n"
    "    tens = match_sm_version(a.device, ['100', '103'])\n    twelve = match_sm_version(a.device, ['120', '121'])\n"
    "    if tens:\n        return ['cutlass_10']\n    elif twelve:\n        return ['cutlass_12']\n    return []\n"
)
MATCH = (
    "import torch\n\n\ndef match_sm_version(device, versions):\n"
    "    major, minor = torch.cuda.get_device_capability(device)\n"
    "    return f'{major}{minor}' in versions\n"
)


def test_a_list_that_picks_one_arm_of_several(tmp_path: Path) -> None:
    assert drafts(tmp_path, {"a.py": LISTS, "gpu.py": MATCH}, "excluded") == []


def test_a_check_of_one_way_through_the_function(tmp_path: Path) -> None:
    body = (
        f"def forward(q, wide):\n    major = {MAJOR}\n    if wide:\n        assert major in [9, 10], 'wide: 9 and 10'\n"
        "    tile = 64\n    if major in (8, 12):\n        tile = 32\n    return run(q, tile)\n"
    )
    assert drafts(tmp_path, {"a.py": HEAD + body}, "excluded") == []


TWICE = (
    "void forward(int n, bool half) {{\n  auto p = at::cuda::getCurrentDeviceProperties();\n"
    "  bool is_sm8x = p->major == 8;\n  bool is_sm90 = p->major == 9 && p->minor == 0;\n"
    '  TORCH_CHECK({}, "only supports Ampere GPUs or newer");\n  prepare(n);\n'
    '  if (half) {{\n    TORCH_CHECK({}, "bfloat16 needs Ampere GPUs or newer");\n  }}\n  run_kernel(n);\n}}\n'
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("is_sm90 || is_sm8x", "is_sm90 || is_sm8x", ["5 warning"]),
        ("is_sm90 || is_sm8x", "is_sm8x || is_sm90", ["5 warning", "8 warning"]),
    ],
)
def test_the_same_check_again_is_one_finding(tmp_path: Path, first: str, second: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"a.cpp": TWICE.format(first, second)}, "excluded")) == expected


PLAIN = "def {}(arch):\n    check_value_in(arch, [{}], 'arch')\n    return run(arch)\n\n\n"
HOPPER, OTHERS = "'sm_90', 'sm_90a', 'sm_100a'", "'sm_90', 'sm_100a'"


@pytest.mark.parametrize(
    ("lists", "expected"),
    [((HOPPER, HOPPER), ["2 warning", "7 warning"]), ((HOPPER, OTHERS), ["2 warning", "7 warning"])],
)
def test_each_function_has_its_own_list(tmp_path: Path, lists: tuple[str, str], expected: list[str]) -> None:
    code = "".join(PLAIN.format(name, names) for name, names in zip(("load", "store"), lists, strict=True))
    assert levels(drafts(tmp_path, {"a.py": code}, "excluded")) == expected


ASKED = "import torch\n\n\ndef is_backend_supported(backend):\n    major, _ = torch.cuda.get_device_capability()\n"
ROWS_OF_NAMES = "".join(
    f"        ({major}, {minor}): 'sm_{major}{minor}',\n" for major, minor in ((8, 0), (8, 6), (9, 0), (10, 0))
)
NAMING = "def name(major, minor):\n    arch_map = {{\n{}    }}\n    return arch_map{}\n"
ON_AMD = (
    "import torch\n\n\ndef is_rocm():\n    return torch.version.hip is not None and torch.cuda.is_available()\n\n\n"
    "def fnuz():\n    if {}:\n        return False\n    cap = torch.cuda.get_device_capability()\n"
    "    if cap not in ((8, 0), (8, 6), (9, 0), (10, 0)):\n        raise RuntimeError('not known')\n    return True\n"
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ASKED + '    if backend == "simple":\n        return major in (8, 9)\n    return True\n', ["7 warning"]),
        (ASKED + '    if backend == "fa3":\n        return major in (8, 9)\n    return True\n', []),
        (NAMING.format(ROWS_OF_NAMES, "[(major, minor)]"), ["2 warning"]),
        (NAMING.format(ROWS_OF_NAMES, '.get((major, minor), "sm_" + str(major))'), ["2 note"]),
        (NAMING.format(ROWS_OF_NAMES, '.get(\n        (major, minor), "sm_" + str(major)\n    )'), ["2 note"]),
        (ON_AMD.format("x"), ["12 warning"]),
        (ON_AMD.format("not is_rocm()"), []),
    ],
)
def test_what_stands_around_a_check_says_whom_it_is_for(tmp_path: Path, code: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"p/a.py": code}, "excluded")) == expected


ARMS = (
    "import torch\n\n\ndef run(x):\n    major = torch.cuda.get_device_capability()[0]\n"
    "    assert major in (8, 9), 'no kernel'\n    if {}:\n        return run_80(x)\n    return run_90(x)\n"
)
CASE = "The check in line 7 must then give them the case for 8.6 and 8.9."


@pytest.mark.parametrize(
    ("test", "expected"), [("major == 8", True), ("major < 9", True), ("major != 9", False), ("x.small", False)]
)
def test_a_later_check_that_parts_them_from_8x_is_named(tmp_path: Path, test: str, expected: bool) -> None:
    (found,) = [one for one in drafts(tmp_path, {"p/a.py": ARMS.format(test)}, "excluded") if one.severity == "warning"]
    assert found.message.endswith(CASE) is expected


FNUZ = """import torch


def {name}():
    return torch.version.hip is not None and torch.cuda.is_available()


def is_gfx950():
    return {name}() and "gfx950" in torch.cuda.get_device_properties(0).gcnArchName


def supports_float8_fnuz(throw=True):
    if not {name}():
        return False
    capability = torch.cuda.get_device_capability()
    if capability >= (9, 4):
        return capability == (9, 4)
    if throw:
        raise RuntimeError("unsupported GPU for FP8")
    return False
"""


@pytest.mark.parametrize("name", ["is_rocm", "is_hip", "_is_hip"])
def test_behind_a_question_for_another_vendor_numbers_are_that_vendors(tmp_path: Path, name: str) -> None:
    assert not drafts(tmp_path, {"m.py": FNUZ.format(name=name)}, "excluded")


@pytest.mark.parametrize(
    ("reads", "found"),
    [
        ("TILES[capability()]", 1),
        ("TILES['8.0']", 0),
        ("TILES.get('9.0')", 0),
        ("TILES['8.0'], TILES[capability()]", 1),
    ],
)
def test_a_table_of_which_only_named_rows_are_read_keeps_nobody_out(tmp_path: Path, reads: str, found: int) -> None:
    text = f"""import torch


def capability():
    return "{{}}.{{}}".format(*torch.cuda.get_device_capability())


TILES = {{"8.0": 16, "8.6": 16, "8.9": 16, "9.0": 8}}


def tile():
    return ({reads},)
"""
    assert len(drafts(tmp_path, {"a.py": text}, "excluded")) == found


PEAKS = """ARCH_PEAKS = {{"80": (108, 1.41), "86": (84, 1.70), "89": (128, 2.52)}}


def peak(device):
    key = device.compute_capability[:2]
    {check}
    return ARCH_PEAKS[key]
"""


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("print(key)", "This check stops 12.x with an error and takes 8.0, 8.6 and 8.9."),
        ("if key not in ARCH_PEAKS:\n        return None", "This check keeps 12.x out and takes 8.0, 8.6 and 8.9."),
    ],
)
def test_a_table_that_is_looked_into_first_raises_nothing(tmp_path: Path, check: str, said: str) -> None:
    (found, *_) = drafts(tmp_path, {"a.py": PEAKS.format(check=check)}, "excluded")
    assert found.message.startswith(said)


@pytest.mark.parametrize("asked", [("12.0",), ("12.1",), ("12.0", "12.1")])
def test_a_table_is_told_of_for_each_card_alone(tmp_path: Path, asked: tuple[str, ...]) -> None:
    text = """import torch

ROWS = {"80": 1, "89": 2, "90": 3, "100": 4}


def row():
    major, minor = torch.cuda.get_device_capability()
    arch = f"{major}{minor}"
    if arch not in ROWS:
        raise ValueError("no row")
    return ROWS[arch]
"""
    assert levels(drafts(tmp_path, {"a.py": text}, "excluded", ChipSet.of(*asked))) == ["9 warning"]
