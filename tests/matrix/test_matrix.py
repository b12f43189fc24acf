"""What a tree offers, and the chips on which it works: trees of our own in, rows in words out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from bwlint.cli import app
from bwlint.matrix import matrix
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Matrix
from bwlint.readers import python
from bwlint.sources import faults

CHIPS = ("9.0", "10.0", "10.3", "11.0", "12.0", "12.1")
_LETTERS = {YES: "y", NO: "-", FALLBACK: "o", UNKNOWN: "?"}

CC = """
def get_compute_capability(device):
    import torch
    return torch.cuda.get_device_capability(device)
"""


def made(tmp_path: Path, files: Mapping[str, str], *select: str) -> Matrix:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return matrix([str(tmp_path)], CHIPS, select, jobs=1)


def rows(found: Matrix) -> dict[str, str]:
    """A letter for each of `CHIPS`: y, - (no), o (falls back), ?."""
    return {
        f"{row.module}.{row.name}" + (f"[{row.backend}]" if row.backend else ""): "".join(
            _LETTERS[row.cells[chip].word] for chip in CHIPS
        )
        for row in found.rows
    }


def of_body(tmp_path: Path, body: str, export: str = "op") -> dict[str, str]:
    files = {"pkg/__init__.py": f"from .ops import {export} as {export}\n", "pkg/ops.py": body, "pkg/cc.py": CC}
    return rows(made(tmp_path, files))


BODIES = {
    "a guard that raises": (
        """
        from .cc import get_compute_capability
        def op(x):
            major, minor = get_compute_capability(x.device)
            if major != 12:
                raise ValueError("12.x only")
            return x
        """,
        "----yy",
    ),
    "a guard after one of the arguments": (
        """
        from .cc import get_compute_capability
        def op(x):
            if not x.is_contiguous():
                raise ValueError("contiguous only")
            assert get_compute_capability(x.device)[0] in (10, 11)
            return x
        """,
        "-yyy--",
    ),
    "a helper in another file raises": (
        """
        from .check import need_hopper
        def op(x):
            need_hopper(x)
            return x
        """,
        "y-----",
    ),
    "a function of autograd that is applied": (
        """
        import torch
        from .cc import get_compute_capability
        class _Op(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                assert get_compute_capability(x.device)[0] in (9, 10)
                return x
        def op(x):
            return _Op.apply(x)
        """,
        "yyy---",
    ),
    "a dispatch that ends in an error": (
        """
        from .cc import get_compute_capability
        def op(x):
            cc = get_compute_capability(x.device)
            if cc[0] == 12:
                return new(x)
            elif cc[0] == 10:
                return old(x)
            raise RuntimeError("unsupported")
        def new(x): ...
        def old(x): ...
        """,
        "-yy-yy",
    ),
    "a dispatch with a general arm": (
        """
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] == 10:
                y = fast(x)
            else:
                y = slow(x)
            return y
        def fast(x): ...
        def slow(x): ...
        """,
        "oyyooo",
    ),
    "an arm that calls what refuses": (
        """
        from .cc import get_compute_capability
        def op(x):
            major = get_compute_capability(x.device)[0]
            if major == 9:
                return one(x)
            elif major >= 10:
                return two(x)
        def one(x):
            return 1
        def two(x):
            return get_module().run(x)
        def get_module():
            return Spec(supported_major_versions=[10])
        """,
        "yyy---",
    ),
    "an arm that calls what refuses, and goes on": (
        """
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] >= 10:
                two(x)
            else:
                one(x)
            return x
        def one(x): ...
        def two(x):
            assert get_compute_capability(x.device) == (12, 0)
        """,
        "o---y-",
    ),
    "a backend that the device chooses": (
        """
        from .cc import get_compute_capability
        def op(x, backend="auto"):
            if backend == "auto":
                backend = "fast" if get_compute_capability(x.device)[0] == 10 else "slow"
            if backend == "slow":
                return slow(x)
            return x
        def slow(x):
            assert get_compute_capability(x.device)[0] in (9, 10, 12)
        """,
        "oyy-oo",
    ),
    "a list that builds its kernel": (
        """
        def op(x):
            return get_module().run(x)
        def get_module():
            return gen_module().build()
        def gen_module():
            flags = context.get_flags(supported_major_versions=[10, 11])
            return Spec(flags)
        """,
        "-yyy--",
    ),
    "a decorator's list": (
        """
        @supported_compute_capability([100, 103])
        def op(x):
            return x
        """,
        "-yy---",
    ),
    "a list that a decorator is given by name": (
        """
        _SUPPORTED_CC = [100, 103]
        _OTHER_CC = [120]
        @supported_compute_capability(_SUPPORTED_CC)
        def op(x):
            return x
        """,
        "-yy---",
    ),
    "what another has refused for its argument is no answer of a function that takes one, too": (
        """
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] != 12:
                raise ValueError("12.x only")
            return _positive(x.rows)
        def _positive(value):
            if value <= 0:
                raise ValueError("too few")
            return value
        def _index(device):
            if get_compute_capability(device)[0] != 10:
                raise ValueError("10.x only")
            return device.index
        def other(x):
            return _positive(_index(x.device))
        """,
        "----yy",
    ),
    "what it hands on to may refuse a type": (
        """
        import torch
        from .cc import get_compute_capability
        def op(x):
            major, minor = get_compute_capability(x.device)
            if major == 10:
                return x
            if major == 9:
                raise ValueError("not on 9.0")
            if major == 12:
                return _other(x)
            raise ValueError("10.x and 12.x")
        def _other(x):
            major, minor = get_compute_capability(x.device)
            if x.dtype != torch.float8_e4m3fn:
                raise ValueError("FP8 only")
            return torch.empty(x.shape, tile=major)
        """,
        "-yy-yy",
    ),
    "what it hands on to refuses every type": (
        """
        import torch
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] == 12:
                return _other(x)
            return x
        def _other(x):
            major, minor = get_compute_capability(x.device)
            if x.dtype != torch.float8_e4m3fn:
                raise ValueError("FP8 only")
            raise ValueError("FP8 neither")
        """,
        "yyyy--",
    ),
    "instructions of its kernel": (
        """
        from cutlass.cute.nvgpu import tcgen05
        def op(x):
            return Kernel()(x)
        class Kernel:
            def __init__(self):
                self.arch = "sm_100a"
                self.atom = tcgen05.MmaF16BF16Op()
        """,
        "-???--",
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_an_operation(case: str, tmp_path: Path) -> None:
    body, expected = BODIES[case]
    hopper = "def need_hopper(x):\n    if get_compute_capability(x.device) != (9, 0):\n        raise OSError\n"
    files = {
        "pkg/__init__.py": "from .ops import op as op\n",
        "pkg/ops.py": body,
        "pkg/cc.py": CC,
        "pkg/check.py": "from .cc import get_compute_capability\n" + hopper,
    }
    assert rows(made(tmp_path, files)).get("pkg.op") == expected


SILENT = {
    "the apply of something else": """
        from .cc import get_compute_capability
        class _Op:
            def forward(self, x):
                assert get_compute_capability(x.device)[0] in (9, 10)
                return x
        def op(x, chosen):
            chosen.apply(x)
            return x
        """,
    "no gate": "def op(x):\n    return x\n",
    "a guard for one argument": """
        from .cc import get_compute_capability
        def op(x, fp4):
            if fp4 and get_compute_capability(x.device)[0] < 10:
                raise ValueError("FP4 takes 10.x")
            return x
        """,
    "a guard in a branch that returns first": """
        from .cc import get_compute_capability
        def op(x):
            if x.numel() == 0:
                return x
            if x.dim() == 4:
                if get_compute_capability(x.device)[0] < 10:
                    raise ValueError("4-D takes 10.x")
            return x
        """,
    "a helper behind a test": """
        from .cc import get_compute_capability
        def op(x):
            if x.dim() == 4:
                _need(x)
            return x
        def _need(x):
            assert get_compute_capability(x.device)[0] == 10
        """,
    "a helper that may not be called": """
        from .cc import get_compute_capability
        def op(x):
            for y in x:
                _need(y)
            return x.dim() == 4 and _need(x)
        def _need(x):
            assert get_compute_capability(x.device)[0] == 10
        """,
    "an exception that is caught": """
        from .cc import get_compute_capability
        def op(x):
            try:
                _need(x)
            except AssertionError:
                pass
            return x
        def _need(x):
            assert get_compute_capability(x.device)[0] == 10
        """,
    "it raises on every chip": "def op(x, arch=None):\n    raise NotImplementedError\n",
    "a number of stages": """
        from .cc import get_compute_capability
        def op(x):
            stages = 4 if get_compute_capability(x.device)[0] == 10 else 2
            return run(x, stages)
        def run(x, stages): ...
        """,
    "a faster way for some, and the same for all after it": """
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] >= 9:
                x = prefetched(x)
            return run(x)
        def prefetched(x): ...
        def run(x): ...
        """,
    "a list that a predicate is asked about": """
        def op(x):
            fast = match_sm_version(x.device, ["100", "103"])
            return x
        def match_sm_version(device, versions): ...
        """,
    "a library by a string that is compared": """
        def op(x, backend):
            known = backend in ("trtllm-gen", "trtllm_mla")
            return x
        """,
    "a layout that kernels of every chip share": """
        from cutlass.cute.nvgpu import warpgroup
        def op(x):
            return warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind.K_SW128, x)
        """,
}


@pytest.mark.parametrize("case", SILENT)
def test_what_is_open_has_no_row(case: str, tmp_path: Path) -> None:
    assert of_body(tmp_path, SILENT[case]) == {}


def test_backends_of_a_decorator(tmp_path: Path) -> None:
    body = """
        @supported_compute_capability([100, 103])
        def _tma(x): return True
        @supported_compute_capability([90, 120, 121])
        def _mma(x): return True
        @supported_compute_capability([100])
        def _common(x): return True
        @requirement({"tma": _tma, "mma": _mma}, common_check=_common)
        def op(x, backend="tma"): ...
        """
    # what a backend declares counts, and not what stands for operations without backends
    assert of_body(tmp_path, body) == {"pkg.op": "yyy-yy", "pkg.op[tma]": "-yy---", "pkg.op[mma]": "y---yy"}


def test_an_open_backend_leaves_the_operation_open(tmp_path: Path) -> None:
    body = """
        @supported_compute_capability([100, 103])
        def _tma(x): return True
        def _any(x): return True
        @requirement({"tma": _tma, "any": _any})
        def op(x, backend="tma"): ...
        """
    assert of_body(tmp_path, body) == {"pkg.op": "??????", "pkg.op[tma]": "-yy---", "pkg.op[any]": "??????"}


def test_a_check_for_all_backends(tmp_path: Path) -> None:
    body = """
        @supported_compute_capability([90, 100])
        def _check(x): return True
        @requirement({}, common_check=_check)
        def op(x): ...
        """
    assert of_body(tmp_path, body) == {"pkg.op": "yy----"}


def test_a_checked_function_that_no_package_hands_on(tmp_path: Path) -> None:
    body = """
        @supported_compute_capability([90, 100])
        def _check(x): return True
        @requirement({}, common_check=_check)
        def op(x): ...
        """
    assert rows(made(tmp_path, {"pkg/__init__.py": "", "pkg/ops.py": body})) == {"pkg.ops.op": "yy----"}


def test_backends_of_a_parameter(tmp_path: Path) -> None:
    body = """
        from typing import Literal
        from .cc import get_compute_capability
        def op(x, backend: Literal["auto", "a", "b", "c"] = "auto"):
            if backend == "a":
                return _need(x, "ten")
            if backend == "b" and get_compute_capability(x.device)[0] != 12:
                raise ValueError("b takes 12.x")
            return x
        def _need(x, which):
            if which == "ten":
                assert get_compute_capability(x.device)[0] == 10
        """
    # "c" decides nothing
    assert of_body(tmp_path, body) == {"pkg.op": "??????", "pkg.op[a]": "-yy---", "pkg.op[b]": "----yy"}


def test_a_backend_that_an_object_keeps(tmp_path: Path) -> None:
    body = """
        class Wrapper:
            def __init__(self, backend="auto"):
                self._backend = backend
            def run(self, x):
                if self._backend == "a":
                    return _ten(x)
                return x
        def _ten(x):
            return module("ten")
        def module(kind):
            if kind == "ten":
                return gen_ten()
        def gen_ten():
            return Spec(supported_major_versions=[10])
        """
    assert of_body(tmp_path, body, "Wrapper")["pkg.Wrapper[a]"] == "-yy---"


REGISTRY = {
    "pkg/__init__.py": "",
    "pkg/base.py": """
        class Base:
            @classmethod
            def supports_compute_capability(cls, capability):
                return True
        """,
    "pkg/flash.py": """
        from .base import Base
        class Flash(Base):
            @classmethod
            def supports_compute_capability(cls, capability):
                return capability.major in (9, 10)
        class Child(Flash): ...
        class Plain(Base): ...
        class Pair(Base):
            @classmethod
            def supports_compute_capability(cls, capability):
                return capability >= DeviceCapability(10, 0)
        class Rocm(Flash): ...
        from typing import NamedTuple
        class DeviceCapability(NamedTuple):
            major: int
            minor: int
        """,
    "pkg/registry.py": """
        from enum import Enum
        class Backend(Enum):
            FLASH = "pkg.flash.Flash"
            CHILD = "pkg.flash:Child"
            PLAIN = (
                "pkg.flash."
                "Plain"
            )
            PAIR = "pkg.flash.Pair"
            ROCM_FLASH = "pkg.flash.Rocm"
            MADE = "pkg.flash.Made"
            OUTSIDE = "elsewhere.flash.Flash"
        """,
}


def test_an_enumeration_of_backends(tmp_path: Path) -> None:
    found = rows(made(tmp_path, REGISTRY, "Backend"))
    assert found == {
        "pkg.registry.Backend[FLASH]": "yyy---",
        "pkg.registry.Backend[CHILD]": "yyy---",
        "pkg.registry.Backend[PLAIN]": "??????",
        "pkg.registry.Backend[PAIR]": "-yyyyy",
        "pkg.registry.Backend[MADE]": "??????",
    }


def test_what_a_table_lists_has_no_second_row(tmp_path: Path) -> None:
    assert "pkg.flash.Flash" not in rows(made(tmp_path, REGISTRY))


def test_classes_that_answer_have_rows(tmp_path: Path) -> None:
    found = rows(made(tmp_path, {name: text for name, text in REGISTRY.items() if "registry" not in name}))
    assert found["pkg.flash.Flash"] == "yyy---"
    assert "pkg.base.Base" not in found  # it tells no chips apart


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("def is_supported(cls, compute_capability=None):\n        return compute_capability >= 100, None", "-yyyyy"),
        (
            "def is_supported(cls, arch=None):\n        if arch < 100: return False, 'old'\n        return True, None",
            "-yyyyy",
        ),
        ("def get_min_capability(cls):\n        return 110", "---yyy"),
        ("def supports_device(cls, capability):\n        return capability == (12, 0)", "----y-"),
        ("def is_supported(cls, compute_capability=None):\n        return True", None),
        ("def supported_dtypes(cls, compute_capability=None):\n        return ['fp8']", None),
        (
            "def is_supported(cls, compute_capability, shape):\n        return compute_capability >= 100 or shape > 2",
            None,
        ),
        ("def _helper(cls, compute_capability):\n        return compute_capability >= 100", None),
    ],
)
def test_answers_of_a_class(method: str, expected: str | None, tmp_path: Path) -> None:
    gate = "import torch\nif torch.cuda.get_device_capability() >= (9, 0): print()\n"
    files = {"pkg/__init__.py": "", "pkg/a.py": f"{gate}class Kernel:\n    @classmethod\n    {method}\n"}
    assert rows(made(tmp_path, files)).get("pkg.a.Kernel") == expected


def test_what_decorators_register(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": """
            @register_attention_backend("ten")
            def make_ten(runner, capability):
                if capability[0] != 10:
                    raise ValueError
                return 1
            @register_attention_backend("any")
            def make_any(runner):
                return 2
            """,
    }
    assert rows(made(tmp_path, files)) == {
        "pkg.a.attention_backend[ten]": "-yy---",
        "pkg.a.attention_backend[any]": "??????",
    }


GATED = "import torch\ndef {}(x):\n    assert torch.cuda.get_device_capability() == (9, 0)\n"
PUBLIC = {
    "by the shortest name": (
        {
            "pkg/__init__.py": "from .sub import op\n",
            "pkg/sub/__init__.py": "from .impl import op\n",
            "pkg/sub/impl.py": GATED.format("op"),
        },
        {"pkg.op"},
    ),
    "under another name": (
        {"pkg/__init__.py": "from ._impl import op as best\n", "pkg/_impl.py": GATED.format("op")},
        {"pkg.best"},
    ),
    "through a star": (
        {"pkg/__init__.py": "from .impl import *\n", "pkg/impl.py": GATED.format("op") + GATED.format("_own")},
        {"pkg.op"},
    ),
    "in try, and under a test": (
        {
            "pkg/__init__.py": "try:\n    from .a import op\nexcept E:\n    pass\nif X:\n    from .b import op2\n",
            "pkg/a.py": GATED.format("op"),
            "pkg/b.py": GATED.format("op2"),
        },
        {"pkg.op", "pkg.op2"},
    ),
    "only what __all__ names": (
        {
            "pkg/__init__.py": "from .a import op, other\n__all__ = ['op']\n",
            "pkg/a.py": GATED.format("op") + GATED.format("check_other").replace("check_", ""),
        },
        {"pkg.op", "pkg.a.other"},
    ),
    "loaded when it is asked for": (
        {
            "pkg/__init__.py": "_LAZY = {'op': '.a:op'}\ndef __getattr__(name): ...\n",
            "pkg/a.py": GATED.format("op"),
        },
        {"pkg.op"},
    ),
    "no package": ({"kernels.py": GATED.format("op") + GATED.format("_own")}, {"kernels.op"}),
    "not what it imports from elsewhere": ({"pkg/__init__.py": "from torch import op\nimport os\n"}, set()),
    "not of tests": (
        {"pkg/__init__.py": "", "tests/__init__.py": "from .a import op\n", "tests/a.py": GATED.format("op")},
        set(),
    ),
    "not a private package": (
        {"pkg/__init__.py": "", "pkg/_x/__init__.py": "from .a import op\n", "pkg/_x/a.py": GATED.format("op")},
        set(),
    ),
    "imports in a circle": (
        {
            "pkg/__init__.py": "from .a import op\n",
            "pkg/a.py": "from .b import op\n",
            "pkg/b.py": "from .a import op\n",
        },
        set(),
    ),
    "a syntax error": ({"pkg/__init__.py": "from .a import op\n", "pkg/a.py": "def op(:\n"}, set()),
}


@pytest.mark.parametrize("case", PUBLIC)
def test_what_is_public(case: str, tmp_path: Path) -> None:
    files, expected = PUBLIC[case]
    assert set(rows(made(tmp_path, files))) == expected


def test_the_gate_of_a_cell(tmp_path: Path) -> None:
    body = "import torch\ndef op(x):\n    if torch.cuda.get_device_capability()[0] != 12:\n        raise OSError\n"
    found = made(tmp_path, {"pkg/__init__.py": "from .a import op\n", "pkg/a.py": body})
    (row,) = found.rows
    gate = row.cells["9.0"].gate
    assert gate is not None
    assert (gate.path, gate.line, gate.column) == (f"{tmp_path}/pkg/a.py", 3, 8)
    assert gate.text == "torch.cuda.get_device_capability()[0] != 12"
    assert (row.path, row.line) == (f"{tmp_path}/pkg/a.py", 2)
    assert row.cells["12.0"].gate == gate


def test_recursion_ends(tmp_path: Path) -> None:
    body = """
        from .cc import get_compute_capability
        def op(x):
            return _other(x)
        def _other(x):
            op(x)
            assert get_compute_capability(x.device)[0] == 12
        """
    assert of_body(tmp_path, body) == {"pkg.op": "----yy"}


def test_an_inherited_answer_reads_what_a_class_overrides(tmp_path: Path) -> None:
    body = """
        from .cc import get_compute_capability
        class Base:
            @property
            def majors(self):
                pass
            @property
            def supported(self):
                return get_compute_capability(0)[0] in self.majors
        class New(Base):
            @property
            def majors(self):
                return {10}
        class Both(Base):
            @property
            def majors(self):
                return {9, 12}
        class Same(New):
            pass
        """
    exports = "from .ops import New, Both, Same\n"
    found = rows(made(tmp_path, {"pkg/__init__.py": exports, "pkg/ops.py": body, "pkg/cc.py": CC}))
    assert {name: found[f"pkg.{name}"] for name in ("New", "Both", "Same")} == {
        "New": "-yy---",
        "Both": "y---yy",
        "Same": "-yy---",
    }


def test_the_order_is_by_module_and_name(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .b import z, a\nfrom .sub import m\n",
        "pkg/b.py": GATED.format("z") + GATED.format("a"),
        "pkg/sub/__init__.py": "from .x import m, n\n",
        "pkg/sub/x.py": GATED.format("m") + GATED.format("n"),
    }
    assert list(rows(made(tmp_path, files))) == ["pkg.a", "pkg.m", "pkg.z", "pkg.sub.n"]


def test_selection_and_counts(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import fast_attention, gemm, plain\n",
        "pkg/a.py": GATED.format("fast_attention") + GATED.format("gemm") + "def plain(x): ...\n",
    }
    everything = made(tmp_path, files)
    assert (len(everything.rows), everything.unasked, everything.scanned) == (2, ("pkg.plain",), 2)
    assert list(rows(made(tmp_path, files, "*attention*"))) == ["pkg.fast_attention"]
    assert list(rows(made(tmp_path, files, "pkg.gemm"))) == ["pkg.gemm"]


def test_stars_and_bases_in_every_direction(tmp_path: Path) -> None:
    names = [f"m{i}" for i in range(30)]
    stars = "".join(f"from .{name} import *\n" for name in names)
    bases = ", ".join(f"B{i}" for i in range(30))
    classes = "".join(f"class B{i}({bases}): ...\n" for i in range(30))
    files = {"pkg/__init__.py": stars, **{f"pkg/{name}.py": f"{stars}{classes}" for name in names}}
    files["pkg/m29.py"] += GATED.format("op")
    assert rows(made(tmp_path, files)) == {"pkg.op": "y-----"}


@pytest.mark.parametrize(
    "text",
    [
        "from . import *\nfrom .. import *\nfrom ..... import x\n",
        "import pkg\nfrom pkg import pkg\n",
        "__all__ = ['', '.', 'a.b', '\\x00', 'op2']\n",
        "class E:\n    A = '" + "a." * 20_000 + "b'\n    B = 'pkg.\\x00.b'\n",
        "@f(*a, **k)\n@g({'a': op, None: 1, **{}})\n@h.i()[0]\ndef op(*x, **y): ...\n",
        "@register()\n@register('')\n@register(1)\n@register('a', 'b')\nclass C(*a, metaclass=B): ...\n",
        "def op(backend: Literal[1, 'a', *b] = 1, /, *, c: Literal = 2): ...\n",
        "x: int\n(a, b) = c = 1\n",
    ],
)
def test_odd_sources(text: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": f"{text}from .a import op2\n", "pkg/a.py": GATED.format("op2")}
    assert rows(made(tmp_path, files))["pkg.op2"] == "y-----"


def test_what_was_read_of_files_comes_from_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "index"))
    (tmp_path / "a.py").write_text(
        "import torch\ndef f():\n    if torch.cuda.get_device_capability() < (10, 0):\n        raise E\n"
    )
    asked = ["matrix", str(tmp_path / "a.py"), "--jobs", "1", "--format", "json"]
    first = CliRunner().invoke(app, asked)
    monkeypatch.setattr(python, "read", None)  # whoever reads again fails
    second = CliRunner().invoke(app, asked)
    assert first.exit_code == second.exit_code == 0
    assert first.stdout == second.stdout
    assert "internal error in reading" in CliRunner().invoke(app, [*asked, "--no-cache"]).stderr
    faults.forget()
