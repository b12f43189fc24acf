"""Operations of torch that Python registers, and what is found behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

from bwlint.sources.search import Search
from bwlint.world.definitions import registered

BODY = "    return kernel(q)\n"
DECORATED = "@torch.library.custom_op({})\ndef attn(q):\n" + BODY
SEVERAL = (
    "@torch.library.custom_op(\n    'mine::fwd', mutates_args=(), device_types=['cuda']\n)  # text\n"
    "@cached\ndef attn(q):\n"
)
WITHIN = (
    "def make():\n    @register_custom_op('mine::fwd', mutates_args=())\n    def attn(q):\n        return kernel(q)\n"
    "    return attn\n"
)
LIBRARY = "@torch.library.impl(library, 'fwd', '{}')\ndef attn(q):\n" + BODY
GIVEN = "def attn(q):\n" + BODY + "\n\ndirect_register_custom_op({}'fwd', {}attn, mutates_args=[])\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (DECORATED.format("'mine::fwd'"), [("mine", "attn")]),
        (SEVERAL + BODY, [("mine", "attn")]),
        (WITHIN, [("mine", "attn")]),
        (LIBRARY.format("CUDA"), [("", "attn")]),
        (LIBRARY.format("Meta"), []),
        (LIBRARY.format("CPU"), []),
        (GIVEN.format("", ""), [("", "attn")]),
        (GIVEN.format("op_name=", "op_func="), [("", "attn")]),
        ("@torch.library.register_fake('mine::fwd')\ndef attn(q):\n" + BODY, []),
        ("@decorated('fwd')\ndef attn(q):\n" + BODY, []),
        (DECORATED.format("name"), []),
    ],
)
def test_what_is_registered(tmp_path: Path, code: str, expected: list[tuple[str, str]]) -> None:
    (tmp_path / "m.py").write_text(code, encoding="utf-8")
    found = registered(Search(str(tmp_path))).get("fwd", ())
    assert [(space, function) for space, _, function in found] == expected


KERNELS = (
    "import flash_attn_interface\nimport torch\n\n\n@torch.library.custom_op('{}::fwd', mutates_args=())\n"
    "def attn(q):\n    return flash_attn_interface.flash_attn_func(q)\n"
)
USES = (
    "import torch\n\n\ndef run(q):\n    if torch.cuda.get_device_capability()[0] >= 9:\n"
    "        return torch.ops.mine.fwd(q)\n    return q\n"
)
HOLDS = (
    "from ops import get_operator\n\n\nclass Forward:\n    OPERATOR = get_operator('mine', 'fwd')\n"
    "    CUDA_MINIMUM_COMPUTE_CAPABILITY = (9, 0)\n\n    @classmethod\n    def apply(cls, q):\n"
    "        return cls.OPERATOR(q)\n"
)


@pytest.mark.parametrize(
    ("space", "user", "expected"),
    [
        ("mine", USES, ["5 warning"]),
        ("another", USES, []),
        ("mine", USES.replace(".fwd(", ".fwd.default("), ["5 warning"]),
        ("mine", USES.replace("fwd", "bwd"), []),
        ("mine", HOLDS, ["6 warning"]),
        ("another", HOLDS, []),
    ],
)
def test_an_operation_leads_to_its_function(tmp_path: Path, space: str, user: str, expected: list[str]) -> None:
    files = {"kernels.py": KERNELS.format(space), "user.py": user}
    assert levels(drafts(tmp_path, files, "leak", only="user.py")) == expected
