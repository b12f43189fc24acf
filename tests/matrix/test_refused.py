"""Refusals of a chip that stand further away than in the operation itself: trees of our own in, rows in words out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from bwlint.matrix import cells, matrix
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


LAST_CHECKS = """
import torch
def _plain(scale, bias):
    given = [one for one in (scale, bias) if one is not None]
    if given:
        raise NotImplementedError("the SM90 kernel has none of these")
def _on_hopper(x):
    if torch.cuda.get_device_capability(x.device) != (9, 0):
        raise RuntimeError("Hopper only")
def _on_blackwell(x):
    if torch.cuda.get_device_capability(x.device) != (10, 0):
        raise RuntimeError("Blackwell only")
def op(x, scale=None, bias=None):
{0}
"""
MOST_ASKED = 500
"""Questions about sixteen chips: two or three times what the longest of these takes."""
ENDS = {
    "    _plain(scale, bias)\n    _on_hopper(x)\n    return x.run()": "y--",
    "    _on_hopper(x)\n    return x.run()": "y--",
    "    if x.wide:\n        _on_hopper(x)\n        return x.run()\n    _on_blackwell(x)\n    return x.far()": "yy-",
    "    _plain(scale, bias)\n    if x.wide:\n        _on_hopper(x)\n        return x.run()\n    _on_blackwell(x)\n"
    "    return x.far()": "yy-",
    "    if x.wide:\n        _on_hopper(x)\n        return x.run()\n    _on_hopper(x)\n    return x.far()": "y--",
    "    _plain(scale, bias)\n    return x.run()": None,
    "    if x.wide:\n        _on_hopper(x)\n        return x.run()\n    return x.far()": None,
}


@pytest.mark.parametrize("body", ENDS)
def test_a_call_that_does_not_return_is_opened_once(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    refusal = cells._refusal

    def counting(*given: Any) -> tuple[cells.GatePlace, ...]:
        nonlocal asked
        asked += 1
        if asked > MOST_ASKED:
            raise RuntimeError("no end of questions")
        return refusal(*given)

    monkeypatch.setattr(cells, "_refusal", counting)
    files = {"__init__.py": "from .ops import op\n", "ops.py": LAST_CHECKS.format(body)}
    assert rows(tmp_path, files).get("op") == ENDS[body]
    assert asked <= MOST_ASKED
