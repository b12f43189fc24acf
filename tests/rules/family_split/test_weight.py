"""How loud a split is, and in which words it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

HEAD = "import torch\ncap = torch.cuda.get_device_capability()\n"
REFUSED = "    raise RuntimeError('no')\n"
TURNED_OFF = "On 12.0 this check turns `fused` off, and 12.1 (GB10) keeps it"
KEPT = "On 12.1 (GB10) this check turns `fused` off, and 12.0 (RTX 5090) keeps it"


@pytest.mark.parametrize(
    ("code", "severity", "said"),
    [
        (f"if cap != (12, 0):\n{REFUSED}", "warning", "This check turns away 12.1 (GB10) and takes 12.0"),
        (f"if cap == (12, 0):\n{REFUSED}", "warning", "This check turns away 12.0 (RTX 5090) and takes 12.1 (GB10)"),
        (f"if cap != (12, 1):\n{REFUSED}", "warning", "This check turns away 12.0 (RTX 5090) and takes 12.1 (GB10)"),
        (
            "if cap == (12, 0):\n    fused = False\n",
            "warning",
            TURNED_OFF,
        ),
        (
            "if cap == (12, 1):\n    fused = False\n",
            "note",
            KEPT,
        ),
        (
            "if cap == (12, 0):\n    if layout == 'thd':\n        log('no')\n        fused = False\n",
            "warning",
            TURNED_OFF,
        ),
        (
            "# workaround for SM120\nif cap == (12, 0):\n    fused = False\n",
            "warning",
            "On 12.0 this check turns `fused` off",
        ),
        (
            "if a and b and (c or d) and e and f and not (g and cap == (12, 0)):\n    fused = False\n",
            "warning",
            KEPT,
        ),
        ("if (a or b or c or d or e or f) and cap[0] == 12:\n    fused = False\n", None, ""),
        ("wide = cap >= (8, 0) and cap != (12, 0)\n", "warning", "`wide` is true on 12.1 (GB10) and false on 12.0"),
        ("if cap == (12, 0):\n    stages = 2\n", "note", "This check is true on 12.0 and false on 12.1 (GB10)"),
        ("def f():\n    return 'no SM120' if cap != (12, 0) else None\n", "warning", "turns away 12.1"),
        ("def f():\n    if cap != (12, 0):\n        return 'not SM120'\n    return None\n", "warning", "takes 12.0"),
        (f"# RTX 50 and SM120\nif cap != (12, 0):\n{REFUSED}", "warning", "takes 12.0"),
        (f"# SM120/SM121\nif cap != (12, 0):\n{REFUSED}", "warning", "takes 12.0"),
        (f"# 12.0 and 12.1\nif cap != (12, 0):\n{REFUSED}", "warning", "takes 12.0"),
        (f"# only for the RTX 5090\nif cap != (12, 0):\n{REFUSED}", "note", "takes 12.0"),
        (f"# GB10 takes another way\nif cap != (12, 0):\n{REFUSED}", "note", "takes 12.0"),
        ("if cap != (12, 0):\n    raise RuntimeError('only SM120 is supported')\n", "warning", "takes 12.0"),
        ("if cap != (12, 0):\n    raise RuntimeError('SM121 was not validated')\n", "note", "takes 12.0"),
        (f"# validated on 12.0 only, 12.1 pending\nif cap != (12, 0):\n{REFUSED}", None, ""),
        (f"# deliberately exact\nif cap != (12, 0):\n{REFUSED}", None, ""),
        ("sm = 10 * cap[0] + cap[1]\nif sm == 121:\n    sm = 120\n", None, ""),
        ("sm = 10 * cap[0] + cap[1]\nif 120 < sm < 130:\n    sm = 120\n", None, ""),
        ("ROWS = {(9, 0): 'a', (12, 0): 'b'}\n", "warning", "has a row for 12.0 and none for 12.1 (GB10)"),
        ("ROWS = {(9, 0): 4, (12, 0): 2}\n", "note", "has a row for 12.0 and none for 12.1 (GB10)"),
        ("ROWS = {(9, 0): [4, 4], (12, 0): {'m': 2}}\n", "note", "The rows are sizes."),
        (
            f"is_sm120 = cap == (12, 0)\nif not is_sm120:\n{REFUSED}",
            "warning",
            "`is_sm120` is true on 12.0 and false on",
        ),
        (
            "is_sm120 = cap == (12, 0)\n\n\nclass C:\n    def __init__(self):\n        self.fused = not is_sm120\n\n"
            "    def f(self):\n        if self.fused:\n            return g()\n        return h()\n",
            "warning",
            "`is_sm120` is true on 12.0 and false on",
        ),
        (
            "is_sm120 = cap == (12, 0)\n\n\nclass C:\n    def __init__(self):\n        self.wide = not is_sm120\n\n"
            "    def f(self):\n        return 4 if self.wide else 2\n",
            "note",
            "`is_sm120` is true on 12.0 and false on",
        ),
        (
            "is_sm120 = cap == (12, 0)\nn = 2 if is_sm120 else 4\n",
            "note",
            "`is_sm120` is true on 12.0 and false on 12.1",
        ),
    ],
)
def test_what_becomes_of_the_other_member_decides(tmp_path: Path, code: str, severity: str | None, said: str) -> None:
    found = drafts(tmp_path, {"m.py": HEAD + code}, "family-split")
    assert [draft.severity for draft in found] == ([severity] if severity else [])
    assert all(said in draft.message for draft in found)


LADDER = (
    "def pick():\n    if cap == (9, 0):\n        return 'sm90'\n"
    "    if cap == (12, 0):\n        return {own}\n    return {end}\n"
)


@pytest.mark.parametrize(
    ("own", "end", "severity"),
    [
        ("'sm120'", "''", "warning"),
        ("fast", "[]", "warning"),
        ("('a', 'b')", "()", "warning"),
        ("4", "2", "note"),
        ("['a']", "['b']", "note"),
        ("''", "''", None),
        ("'SM120 is not supported'", "''", "warning"),
    ],
)
def test_nothing_is_an_answer_where_the_other_member_gets_something(
    tmp_path: Path, own: str, end: str, severity: str | None
) -> None:
    code = LADDER.format(own=own, end=end)
    found = drafts(tmp_path, {"m.py": HEAD + code}, "family-split")
    assert [draft.severity for draft in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("end", "severity"),
    [
        ("{}", "warning"),
        ("std::nullopt", "warning"),
        ("nullptr", "warning"),
        ('""', "warning"),
        ("kGeneric", "note"),
        ("{kGeneric}", "note"),
    ],
)
def test_an_empty_object_of_cpp_is_nothing(tmp_path: Path, end: str, severity: str) -> None:
    code = (
        'constexpr std::string_view kPre = "pre_sm90", kSm90 = "sm90", kSm120 = "sm120";\n'
        "Name pick(int arch, bool legacy)\n{\n    if (legacy || arch < 900) {\n        return kPre;\n    }\n"
        "    if (arch == 900) {\n        return kSm90;\n    }\n"
        f"    if (arch == 1200) {{\n        return kSm120;\n    }}\n    return {end};\n}}\n"
    )
    found = drafts(tmp_path, {"m.cu": code}, "family-split")
    assert [draft.severity for draft in found] == [severity]


ASKED = {
    "p/__init__.py": "",
    "p/helper.py": "import torch\n\n\ndef is_sm120():\n    return torch.cuda.get_device_capability() == (12, 0)\n",
}
ASKS = "from p.helper import is_sm120\n\n\ndef f(x):\n"


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("    if not is_sm120():\n        raise RuntimeError('no')\n    return x\n", "warning"),
        ("    return 2 if is_sm120() else 4\n", "note"),
        ("    # slower elsewhere as measured\n    if not is_sm120():\n        return None\n    return x\n", "note"),
        ("    return x\n", "note"),
    ],
)
@pytest.mark.parametrize("alone", [False, True])
def test_who_asks_a_helper_in_another_file_decides(tmp_path: Path, body: str, severity: str, alone: bool) -> None:
    files = {**ASKED, "p/user.py": ASKS + body}
    found = (
        drafts(tmp_path, files, "family-split", only="p/helper.py")
        if alone
        else drafts(tmp_path, files, "family-split")
    )
    assert [draft.severity for draft in found] == [severity]


def test_the_arm_that_picks_an_image_is_a_split_and_the_gate_before_one_image_is_a_note(tmp_path: Path) -> None:
    flags = "flags = ['-gencode', 'arch=compute_120a,code=sm_120a']\n"
    picks = f"{HEAD}if cap == (12, 0):\n    {flags}else:\n{REFUSED}"
    before = f"{HEAD}{flags}if cap != (12, 0):\n{REFUSED}"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert [one.severity for one in drafts(tmp_path / "a", {"m.py": picks}, "family-split")] == ["warning"]
    (found,) = drafts(tmp_path / "b", {"m.py": before}, "family-split")
    assert found.severity == "note"
    assert "12.1 needs sm_121a" in found.message
    assert "same instructions" not in found.message


TUNED = "import torch\n\n\ndef capability():\n    return torch.cuda.get_device_capability()\n\n\n"
RECKONED = "def plan(q, heads):\n    most = 0\n    if capability() == (12, 0):\n        {}\n    return run(q, most)\n"
TOLD = (
    'def {}():\n    """{}"""\n    return capability() == (12, 0)\n\n\n'
    "def plan(q):\n    if {}():\n        return quick(q)\n    return slow(q)\n"
)


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("most = (processors() - 1) // (16 * heads)", ["10 note"]),
        ("most = 64", ["10 note"]),
        ("most = None", ["10 warning"]),
        ("return run_quick(q)", ["10 warning"]),
    ],
)
def test_a_number_that_is_reckoned(tmp_path: Path, arm: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"a.py": TUNED + RECKONED.format(arm)}, "family-split")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True on the part whose tuning table is picked.", ["10 note"]),
        ("True on the part that is tuned for.", ["10 note"]),
        ("True where the quick way works.", ["10 warning"]),
    ],
)
def test_a_function_that_says_that_it_tunes(tmp_path: Path, text: str, expected: list[str]) -> None:
    source = TUNED + TOLD.format("is_sm120", text, "is_sm120")
    assert levels(drafts(tmp_path, {"a.py": source}, "family-split")) == expected


ENUM = """import enum
import torch


class {name}({kind}):
    SM100 = {hundred}
    SM120 = {twelve}{more}


def current():
    major, minor = torch.cuda.get_device_capability()
    return {name}({value})


def has_block_scaling():
    return current() in ({name}.SM100, {name}.SM120)
"""
BY_NUMBER = {"kind": "enum.IntEnum", "hundred": "100", "twelve": "120", "value": "major * 10 + minor"}
BY_TEXT = {"kind": "str, enum.Enum", "hundred": "'sm_100'", "twelve": "'sm_120'", "value": "f'sm_{major}{minor}'"}
RAISES = "`has_block_scaling` raises on 12.1 (GB10) and not on 12.0"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (ENUM.format(name="Arch", more="", **BY_NUMBER), RAISES),
        (ENUM.format(name="Gpu", more="", **BY_NUMBER), RAISES),
        (ENUM.format(name="Gpu", more="", **BY_TEXT), RAISES),
        (ENUM.format(name="Gpu", more="\n    SM121 = 121", **BY_NUMBER), "is true on 12.0 and false on 12.1"),
        (ENUM.format(name="Gpu", more="", **BY_NUMBER | {"value": "major * 10"}), None),
    ],
)
def test_an_enum_without_a_member_for_the_twin(tmp_path: Path, code: str, said: str | None) -> None:
    found = drafts(tmp_path, {"m.py": code}, "family-split")
    assert [draft.severity for draft in found] == (["warning"] if said else [])
    assert all((said or "") in draft.message for draft in found)


NATIVE = """#include <cuda_runtime.h>
static int arch() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.major * 10 + p.minor; }
int pick(bool a, bool b, bool c, bool d, bool e) {
  int sm = arch();
  int found = 0;
  if ((a || b) && (c || d) && !(e && a && sm == 120)) {
    %s
  }
  return found;
}
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("found = FLASH_BACKEND;", "warning"),
        ("found = Backend::Flash;", "warning"),
        ("found = 64;", "note"),
        ("found = -1;", "note"),
        ("found = 0x40;", "note"),
        ("found = .5f;", "note"),
    ],
)
def test_a_name_that_is_picked_in_cpp_is_a_way_and_a_number_is_tuning(tmp_path: Path, body: str, severity: str) -> None:
    found = drafts(tmp_path, {"m.cpp": NATIVE % body}, "family-split")
    assert [draft.severity for draft in found] == [severity]


LISTED = """import torch

SUPPORTED_CAPABILITIES = {members}


def reason(q):
    if torch.cuda.get_device_capability() not in SUPPORTED_CAPABILITIES:
        return "this device is not supported"
    return None


def other(q):
    return torch.cuda.get_device_capability() in SUPPORTED_CAPABILITIES
"""


@pytest.mark.parametrize(("members", "lines"), [("{(12, 0)}", [3]), ("{(9, 0), (12, 0), (12, 1)}", [])])
def test_a_list_and_who_asks_it_are_one_finding(tmp_path: Path, members: str, lines: list[int]) -> None:
    found = drafts(tmp_path, {"m.py": LISTED.replace("{members}", members)}, "family-split")
    assert [draft.at[0] for draft in found] == lines
