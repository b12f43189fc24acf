"""Refusals of a chip that stand further away than in the operation itself: trees of our own in, rows in words out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.matrix import matrix
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES

CHIPS = ("9.0", "10.0", "12.0")
_LETTERS = {YES: "y", NO: "-", FALLBACK: "o", UNKNOWN: "?"}


def rows(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    for name, text in files.items():
        (folder / "lib").mkdir(exist_ok=True)
        (folder / "lib" / name).write_text(dedent(text), encoding="utf-8")
    found = matrix([str(folder / "lib")], CHIPS, jobs=1)
    return {row.name: "".join(_LETTERS[row.cells[chip].word] for chip in CHIPS) for row in found.rows}


REASON = """
import torch
def _reason():
    return "" if torch.cuda.get_device_capability() == (9, 0) else "Hopper only"
class Linear:
    {0}
"""
METHODS = {
    'def validate_device(self):\n        if _reason() != "":\n            raise NotImplementedError(_reason())': "y--",
    "def ensure_gpu_arch(self):\n        if _reason():\n            raise NotImplementedError(_reason())": "y--",
    'def support(self):\n        return _reason() == ""': "y--",
    "def supports(self, n):\n        if _reason():\n            return False\n        return n in (64, 128)": "y--",
    "def validate_device(self):\n        return _reason()": None,
    "def validate_shape(self):\n        if _reason():\n            raise NotImplementedError": None,
    "def support(self, n):\n        return n in (64, 128)": None,
    "def supporter(self):\n        return not _reason()": None,
}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_validates_or_answers(method: str, tmp_path: Path) -> None:
    files = {"__init__.py": "", "ops.py": REASON.format(method)}
    assert rows(tmp_path, files).get("Linear") == METHODS[method]


SIDES = """
import torch
class Train(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q):
        assert torch.cuda.get_device_capability()[0] in (8, 9)
        return q.train()
def infer(q):
    assert torch.cuda.get_device_capability()[0] in (9, 10)
    return q.infer()
def anywhere(q):
    return q
def op(q, train=True):
    {0}
"""
BODIES = {
    "if train:\n        x = Train.apply(q)\n    else:\n        x = infer(q)\n    return x": "yy-",
    "if not train:\n        x = Train.apply(q)\n    else:\n        assert torch.cuda.get_device_capability()[0] == 9\n"
    "        x = q.far()\n    return x": "y--",
    "if train is None:\n        infer(q)\n    else:\n        x = infer(q)\n    return q": "yy-",
    "if train:\n        x = Train.apply(q)\n    else:\n        x = anywhere(q)\n    return x": None,
    "if train:\n        x = Train.apply(q)\n    return q": None,
    "if train:\n        x = Train.apply(q)\n    elif q is None:\n        x = infer(q)\n    return x": None,
    "try:\n        x = Train.apply(q)\n    except AssertionError:\n        x = anywhere(q)\n    return x": None,
}


@pytest.mark.parametrize("body", BODIES)
def test_both_sides_of_an_if(body: str, tmp_path: Path) -> None:
    files = {"__init__.py": "from .ops import op\n", "ops.py": SIDES.format(body)}
    assert rows(tmp_path, files).get("op") == BODIES[body]


ARMS = {"hopper.py": "def run(q):\n    return q.hopper()\n", "data.py": "def run(q):\n    return q.data()\n"}
START = "import torch\nMAJOR = torch.cuda.get_device_capability()[0]\n"
MODULES = {
    "match MAJOR:\n    case 9:\n        from .hopper import run\n    case 10:\n        from .data import run\n": "yy-",
    "match MAJOR:\n    case 9:\n        from .hopper import run\n    case _:\n        from .data import run\n": None,
    "if MAJOR not in {9: 1, 10: 2}:\n    raise ImportError\nfrom .data import run\n": "yy-",
    "assert MAJOR in (9, 10)\nfrom .data import run\n": "yy-",
    "if MAJOR < 8:\n    raise ImportError\nfrom .data import run\n": None,
    "if MAJOR == 9:\n    from .hopper import run\nelif MAJOR == 10:\n    from .data import run\nelse:\n"
    "    def run(q):\n        raise RuntimeError\n": "yy-",
    "if MAJOR == 9:\n    from .hopper import run\nelif MAJOR == 10:\n    from .data import run\nelse:\n"
    "    def run(q):\n        return torch.matmul(q, q)\n": None,
    "try:\n    if MAJOR not in (9, 10):\n        raise ImportError\n    from .data import run\n"
    "except ImportError:\n    from .hopper import run\n": None,
}


@pytest.mark.parametrize("text", MODULES)
def test_what_a_module_does_as_it_is_imported(text: str, tmp_path: Path) -> None:
    found = rows(tmp_path, {"__init__.py": START + text, **ARMS}).get("run")
    assert (found if found and "-" in found else None) == MODULES[text]
