"""What has to be edited for operations to work on a chip: trees of our own in, plans in words out."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.port import port
from bwlint.port.table import Port
from bwlint.repair.patches import port_series as series
from bwlint.repair.patches import save
from bwlint.settings.config import UsageError

CC = """
import torch
def get_compute_capability(device):
    return torch.cuda.get_device_capability(device)
"""
DECORATORS = """
import functools
import torch
def supported_compute_capability(capabilities):
    def mark(function):
        function._supported = set(capabilities)
        return function
    return mark
def backend_requirement(backend_checks, common_check=None):
    def mark(function):
        @functools.wraps(function)
        def run(*args, backend="auto", **kwargs):
            major, minor = torch.cuda.get_device_capability()
            if major * 10 + minor not in backend_checks[backend]._supported:
                raise ValueError("not on this GPU")
            return function(*args, backend=backend, **kwargs)
        return run
    return mark
"""

TREES: dict[str, tuple[Mapping[str, str], dict[str, str], list[str]]] = {
    "gates behind each other are opened from within": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            from .inner import run
            def op(x):
                if get_compute_capability(x.device)[0] != 10:
                    raise ValueError("10.x only")
                return run(x)
            """,
            "inner.py": """
            from .cc import get_compute_capability
            def run(x):
                if get_compute_capability(x.device)[0] not in (10, 11):
                    raise ValueError("10.x and 11.x only")
                return x
            """,
        },
        {"op": "unproved 1 2"},
        ["inner.py:4 , 12", "ops.py:5 not in (10, 12)"],
    ),
    "two errors in a row are two gates": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            def op(x):
                major, minor = get_compute_capability(x.device)
                if major < 9:
                    raise ValueError("too old")
                if major not in [9, 10]:
                    raise ValueError("9.x and 10.x only")
                if (major, minor) not in [(9, 0), (10, 0)]:
                    raise ValueError("data center only")
                return x
            """
        },
        {"op": "unproved 1 2"},
        ["ops.py:9 (12, 0), (12, 1)", "ops.py:7 , 12"],
    ),
    "nothing in front of an instruction that the chip lacks": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            from .kernel import run
            def op(x):
                if get_compute_capability(x.device)[0] != 10:
                    raise ValueError("10.x only")
                return run(x)
            def op_sm120(x):
                if get_compute_capability(x.device)[0] != 12:
                    raise ValueError("12.x only")
                return x
            """,
            "kernel.py": """
            import cutlass.cute as cute
            from cutlass.cute.nvgpu import tcgen05
            def run(x):
                return tcgen05.make_umma_smem_desc(x)
            """,
        },
        {"op": "impossible"},
        [],
    ),
    "a list of backends: the one without what the chip lacks": (
        {
            "ops.py": """
            from .decorators import backend_requirement, supported_compute_capability
            from .kernel import build, run_tcgen05
            @supported_compute_capability([100, 103])
            def _new(x, backend): return True
            @supported_compute_capability([100, 103])
            def _wide(x, backend): return True
            @backend_requirement({"new": _new, "wide": _wide})
            def op(x, backend="auto"):
                if backend == "new":
                    return run_tcgen05(x)
                elif backend == "wide":
                    return build(x)
            """,
            "kernel.py": """
            from cutlass.cute.nvgpu import tcgen05
            from .compile import flags
            def run_tcgen05(x):
                return tcgen05.make_umma_smem_desc(x)
            def build(x):
                return flags(supported_major_versions=[9, 10, 12])
            """,
            "compile.py": """
            import torch
            def flags(supported_major_versions):
                major, _ = torch.cuda.get_device_capability()
                if major not in supported_major_versions:
                    raise RuntimeError("no supported architecture")
                return ["-gencode"]
            """,
        },
        {"op": "unproved 1"},
        ["ops.py:6 , 120, 121"],
    ),
    "an answer of a class": (
        {
            "ops.py": """
            class Op:
                @classmethod
                def supports_compute_capability(cls, capability: tuple[int, int]) -> bool:
                    import torch
                    return torch.cuda.get_device_capability()[0] in (9, 10)
                def run(self, x):
                    return x
            """
        },
        {"Op": "unproved 1"},
        ["ops.py:6 , 12"],
    ),
    "a class in whose file a library is called that the chip lacks": (
        {
            "ops.py": """
            import torch
            from flash_mla import flash_mla_with_kvcache
            class Op:
                @staticmethod
                def get_impl(): return OpImpl
                @classmethod
                def supports_compute_capability(cls):
                    return torch.cuda.get_device_capability()[0] in (9, 10)
            class OpImpl:
                def forward(self, x):
                    if x.ready:
                        return flash_mla_with_kvcache(x)
                    return x
            """
        },
        {"Op": "impossible"},
        [],
    ),
    "an answer that another function gives": (
        {
            "ops.py": """
            from .check import is_there
            class Op:
                @classmethod
                def can_implement(cls, x):
                    return is_there(x)
            """,
            "check.py": """
            from .cc import get_compute_capability
            def is_there(x):
                if get_compute_capability(x.device)[0] not in (9, 10):
                    return False, "9.x and 10.x only"
                return True, None
            """,
        },
        {"Op": "unproved 1"},
        ["check.py:4 , 12"],
    ),
    "a gate that only one argument meets": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            def op(x, indices=None):
                major = get_compute_capability(x.device)[0]
                if indices is not None:
                    if major != 10:
                        raise NotImplementedError("indices: 10.x only")
                return x
            """
        },
        {"op": "partly 1"},
        ["ops.py:6 not in (10, 12)"],
    ),
    "the backward of a function that is applied": (
        {
            "ops.py": """
            import torch
            from .cc import get_compute_capability
            class _Function(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x
                @staticmethod
                def backward(ctx, grad):
                    return _backward(grad)
            def _backward(grad):
                assert get_compute_capability(grad.device)[0] in [9, 10], "9.x and 10.x only"
                return grad
            def op(x):
                return _Function.apply(x)
            """
        },
        {"op": "partly 1"},
        ["ops.py:12 , 12"],
    ),
    "a kernel's class that picks what the chip lacks is to treat it like an older one": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            from .kernel import Kernel
            def op(x, fused=False):
                major, minor = get_compute_capability(x.device)
                if fused:
                    return Kernel(major * 10 + minor)(x)
                return x
            """,
            "kernel.py": """
            import cutlass.cute as cute
            from cutlass.cute.nvgpu import tcgen05, warp
            class Kernel:
                def __init__(self, arch):
                    assert arch // 10 in [8, 9, 10]
                    self.arch = arch
                def __call__(self, x):
                    atom = self._atom()
                    if self.arch in [80, 90]:
                        x = x + 1
                    return self._run(atom, x)
                def _atom(self):
                    if self.arch == 80:
                        return warp.MmaF16BF16Op(16)
                    else:
                        return tcgen05.make_umma_smem_desc(16)
                def _run(self, atom, x):
                    if self.arch == 100:
                        x = x + 2
                    return x
            """,
        },
        {"op": "partly 1 2 3"},
        ["kernel.py:10 , 120, 121", "kernel.py:14 (80, 120, 121)", "kernel.py:6 , 12"],
    ),
    "a dispatch that ends in an error: an arm without what the chip lacks": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            from .kernel import run_mma, run_tcgen05
            def op(x):
                major = get_compute_capability(x.device)[0]
                if major == 8:
                    return run_mma(x)
                elif major == 10:
                    return run_tcgen05(x)
                else:
                    raise ValueError("8.x and 10.x only")
            """,
            "kernel.py": """
            from cutlass.cute.nvgpu import tcgen05
            def run_mma(x):
                return x
            def run_tcgen05(x):
                return tcgen05.make_umma_smem_desc(x)
            """,
        },
        {"op": "unproved 1"},
        ["ops.py:6 in (8, 12)"],
    ),
    "a method that is asked before its class is used": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            class Op:
                def run_verifier(self, x):
                    if get_compute_capability(x.device)[0] not in (9, 10):
                        return False, "9.x and 10.x only"
                    if x.ndim != 2:
                        return False, "two dimensions only"
                    return True, None
                def run(self, x):
                    return x
            """
        },
        {"Op": "unproved 1"},
        ["ops.py:5 , 12"],
    ),
    "what other chips come to alone has no gate for this one": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            def _run_new(x):
                if get_compute_capability(x.device)[0] != 10:
                    raise RuntimeError("10.x only")
                return x
            def op(x):
                if get_compute_capability(x.device)[0] == 10:
                    return _run_new(x)
                return x
            def op_sm100(x, y=None):
                if y is not None:
                    if get_compute_capability(x.device)[0] != 10:
                        raise RuntimeError("10.x only")
                return x
            """
        },
        {},
        [],
    ),
    "what ends in an instruction that the chip lacks in one use of several": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            from .kernel import run
            def op(x, fast=False):
                if fast:
                    if get_compute_capability(x.device)[0] != 10:
                        raise ValueError("10.x only")
                    return run(x)
                return x
            """,
            "kernel.py": """
            from cutlass.cute.nvgpu import tcgen05
            def run(x):
                return tcgen05.make_umma_smem_desc(x)
            """,
        },
        {},
        [],
    ),
    "a table of backends, one of which the library table knows": (
        {
            "ops.py": """
            from .decorators import backend_requirement, supported_compute_capability
            from .kernel import Sm100Kernel, build
            @supported_compute_capability([100, 103])
            def _new(x, backend): return True
            @supported_compute_capability([100, 103])
            def _wide(x, backend): return True
            @supported_compute_capability([100, 103])
            def _cubin(x, backend): return True
            @backend_requirement({"new": _new, "wide": _wide, "trtllm": _cubin})
            def op_gemm(x, backend="auto"):
                make = {
                    "new": lambda: _new_runner(x),
                    "wide": lambda: build(x),
                    "trtllm": lambda: build(x),
                }
                return make[backend]()
            def _new_runner(x):
                from .kernel import Sm100Kernel
                return x.pick(Sm100Kernel)
            """,
            "kernel.py": """
            from cutlass.cute.nvgpu import tcgen05
            class Sm100Kernel:
                def __call__(self, x):
                    return tcgen05.make_umma_smem_desc(x)
            def build(x):
                return x
            """,
        },
        {"op_gemm": "unproved 1"},
        ["ops.py:6 , 120, 121"],
    ),
    "a gate within the helper that an answer asks": (
        {
            "ops.py": """
            from .check import there, works_here
            class Op:
                @classmethod
                def is_supported(cls):
                    return works_here() and there()
            """,
            "check.py": """
            import importlib.util
            import torch
            def there():
                return importlib.util.find_spec("kernels") is not None
            def works_here():
                return torch.cuda.get_device_capability()[0] in (9, 10)
            """,
        },
        {"Op": "unproved 1"},
        ["check.py:7 , 12"],
    ),
    "what an author keeps the chip from knowingly, or asks for by a name that the library table knows": (
        {
            "ops.py": """
            from enum import Enum
            from .cc import get_compute_capability
            class Backend(Enum):
                FLASHINFER_TRTLLM_BF16 = "x"
            def op(x, half=False, attention_backend="", bf16=False):
                major = get_compute_capability(x.device)[0]
                if half:
                    if major == 12:
                        raise ValueError("not on 12.x")
                if attention_backend == "trtllm_mla":
                    if major != 10:
                        raise ValueError("10.x only")
                if bf16:
                    if major == 10:
                        return Backend.FLASHINFER_TRTLLM_BF16
                    raise ValueError("10.x only")
                return x
            """
        },
        {"op[trtllm_mla]": "impossible"},
        [],
    ),
    "what chooses among backends may be called after any chip": (
        {
            "ops.py": """
            from .decorators import backend_requirement, supported_compute_capability
            @supported_compute_capability([100, 103])
            def _vendor(x, backend): return True
            @supported_compute_capability([100, 103])
            def _own(x, backend): return True
            @backend_requirement({"vendor": _vendor, "own": _own})
            def op(x, backend="auto"):
                if backend == "vendor":
                    return _gemm_sm100(x, ["vendor"])
                elif backend == "own":
                    return _gemm_sm100(x, ["own"])
            def _gemm_sm100(x, names):
                if "vendor" in names:
                    return _vendor_runner(x)
                if "own" in names:
                    return _module_sm100(x)
            def _vendor_runner(x): return x
            def _module_sm100(x): return x
            """
        },
        {"op": "unproved 1"},
        ["ops.py:3 , 120, 121"],
    ),
    "a list on the constructor of a class": (
        {
            "ops.py": """
            from .decorators import supported_compute_capability
            class Op:
                @supported_compute_capability([100, 103])
                def __init__(self, x):
                    self.x = x
                @supported_compute_capability([90])
                def other(self):
                    return self.x
                def run(self, x):
                    return x
            """
        },
        {"Op": "unproved 1"},
        ["ops.py:4 , 120, 121"],
    ),
    "what works has no plan": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            def op(x):
                if get_compute_capability(x.device)[0] < 9:
                    raise ValueError("too old")
                return x
            """
        },
        {},
        [],
    ),
    "only what is asked for": (
        {
            "ops.py": """
            from .cc import get_compute_capability
            def other(x):
                if get_compute_capability(x.device)[0] != 10:
                    raise ValueError("10.x only")
                return x
            def op(x): return x
            """
        },
        {},
        [],
    ),
    "a helper that two operations need is one step": (
        {
            "ops.py": """
            from .check import need
            def op(x):
                need(x)
                return x
            def op_too(x):
                need(x)
                return x
            """,
            "check.py": """
            from .cc import get_compute_capability
            def need(x):
                if get_compute_capability(x.device)[0] not in (9, 10):
                    raise RuntimeError("9.x and 10.x only")
            """,
        },
        {"op": "unproved 1", "op_too": "unproved 1"},
        ["check.py:4 , 12"],
    ),
}


BUILT = {
    "ops.py": """
    from .jit import gen_op
    def op(x):
        return gen_op()(x)
    """,
    "jit.py": """
    import torch
    def flags(supported_major_versions):
        major, _ = torch.cuda.get_device_capability()
        if major not in supported_major_versions:
            raise RuntimeError("no supported architecture")
        return ["-gencode"]
    def gen_op():
        return flags(supported_major_versions=[9, 10])
    def gen_other():
        return flags(supported_major_versions=[9])
    """,
    "aot.py": """
    from .jit import gen_op, gen_other
    def gen_all(has_sm90, has_sm100):
        specs = []
        if has_sm90:
            specs.append(gen_other())
        if has_sm100:
            specs.append(gen_op())
        return specs
    """,
}


def made(folder: Path, files: Mapping[str, str], *select: str, to: str = "12.1") -> Port:
    """The plan for a tree; every public name of `ops.py` is handed on."""
    package = folder / "pkg"
    package.mkdir()
    for name, text in {"cc.py": CC, "decorators.py": DECORATORS, **files}.items():
        (package / name).write_text(dedent(text), encoding="utf-8")
    (package / "__init__.py").write_text("from .ops import *\n", encoding="utf-8")
    return port([str(package)], to, select, jobs=1)


def verdicts(plan: Port) -> dict[str, str]:
    """The verdict of each operation, and the steps of its way."""
    found = {}
    for row in plan.rows:
        steps = next((way.steps for way in row.ways if way.chosen), ())
        found[row.name.removeprefix("pkg.")] = " ".join((row.verdict, *map(str, sorted(steps))))
    return found


@pytest.mark.parametrize("name", TREES)
def test_a_plan(name: str, tmp_path: Path) -> None:
    files, expected, steps = TREES[name]
    plan = made(tmp_path, files, "op*", "Op*")
    assert verdicts(plan) == expected
    assert len(plan.steps) == len(steps)
    for step, said in zip(plan.steps, steps, strict=True):
        place, _, text = said.partition(" ")
        assert f"{Path(step.at.path).name}:{step.at.line}" == place
        assert step.fix is not None and text in step.fix.edits[-1].text
        assert {"12.0", "12.1"} <= set(step.wanted)


KERNELS = {
    "sm90.py": """
    from cutlass.cute.nvgpu import warpgroup
    class GemmSm90:
        def __call__(self, x):
            return warpgroup.MmaF16BF16Op(x)
    """,
    "sm100.py": """
    from cutlass.cute.nvgpu import tcgen05
    class GemmSm100:
        def __call__(self, x):
            return tcgen05.make_umma_smem_desc(x)
    """,
}
SM120 = {
    "sm120.py": """
    from cutlass.cute.nvgpu import warp
    class GemmSm120:
        def __call__(self, x):
            return warp.MmaF16BF16Op(x)
    """
}
CHOICE = """
from .cc import get_compute_capability
from .sm90 import GemmSm90
from .sm100 import GemmSm100
def op(x):
    cap = get_compute_capability(x.device)
    assert cap[0] in [9, 10, 11], "9.x to 11.x only"
    {0}
    return {1}(x)
"""
CHOICES = {
    "an expression": ("cls = GemmSm100 if cap[0] > 9 else GemmSm90", "cls()", [8, 7]),
    "two branches": (
        """if cap[0] >= 10:
        kernel = GemmSm100()
    else:
        kernel = GemmSm90()""",
        "kernel",
        [8, 7],
    ),
    "a table on each side": (
        'cls = {"a": GemmSm100, "b": GemmSm100}[x.name] if cap[0] > 9 else {"a": GemmSm90, "b": GemmSm90}[x.name]',
        "cls()",
        [8, 7],
    ),
    "a table": ("kernels = {9: GemmSm90, 10: GemmSm100, 11: GemmSm100}", "kernels[cap[0]]()", [9, 7]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_that_sends_the_chip_to_what_it_lacks_gets_an_arm(name: str, tmp_path: Path) -> None:
    choice, called, lines = CHOICES[name]
    plan = made(tmp_path, {"ops.py": CHOICE.format(choice, called), **KERNELS, **SM120}, "op")
    assert [step.at.line for step in plan.steps] == lines
    assert plan.steps[0].fix is None and "its own case with `GemmSm120`" in plan.steps[0].words


@pytest.mark.parametrize("name", CHOICES)
def test_nothing_in_front_of_a_choice_among_what_the_chip_lacks(name: str, tmp_path: Path) -> None:
    choice, called, _ = CHOICES[name]
    plan = made(tmp_path, {"ops.py": CHOICE.format(choice, called), **KERNELS}, "op")
    assert plan.steps == () and verdicts(plan) == {"op": "impossible"}


REASONS = {
    "a class that an import in a method names": ("10, 11", "self._runner()", "impossible"),
    "a kernel of a factory that a runner asks for its class": ("10, 11", "self._made()", "impossible"),
    "a gate that lets in a chip that lacks it, too, is there for something else": ("8, 9, 10", "self._runner()", "1"),
    "what runs on the chip stands there, too": ("10, 11", "self._either()", "1"),
    "a branch that the chip does not take": ("10, 11", "self._elsewhere()", "1"),
    "nothing stands there that a chip lacks": ("10, 11", "self.x", "1"),
}
REASON = """
import functools
from .decorators import supported_compute_capability
from .cc import get_compute_capability
class Op:
    def __init__(self, x):
        if get_compute_capability(x.device)[0] not in ({}):
            raise ValueError("not on this GPU")
        self.x = x
    def run(self, x):
        if x.empty():
            return x
        return {}
    def _runner(self):
        from .sm100 import GemmSm100
        return _Runner(GemmSm100, self.x)
    def _made(self):
        return _Runner(_kernel_class(), self.x)
    def _either(self):
        from .sm120 import GemmSm120
        return GemmSm120() if self.x.small() else self._runner()
    def _elsewhere(self):
        if get_compute_capability(self.x.device)[0] == 10:
            return self._runner()
        return self.x
class _Runner:
    def __init__(self, made, x):
        self.made = made
        self.x = x
    def forward(self):
        return self.made()(self.x)
@functools.cache
def _kernel_class():
    from .sm100 import GemmSm100
    return GemmSm100
"""


@pytest.mark.parametrize("name", REASONS)
def test_nothing_in_front_of_what_a_gate_is_there_for(name: str, tmp_path: Path) -> None:
    chips, run, expected = REASONS[name]
    plan = made(tmp_path, {"ops.py": REASON.format(chips, run), **KERNELS, **SM120}, "Op")
    assert verdicts(plan) == {"Op": "impossible" if expected == "impossible" else f"unproved {expected}"}
    if expected == "impossible":
        assert "tcgen05" in plan.rows[0].ways[0].lacks[0].what


ENDS: dict[str, tuple[str, dict[str, str]]] = {
    "a gate that lets in Hopper alone, or Rubin alone, is no gate to open": (
        """
        from .cc import get_compute_capability
        from .decorators import backend_requirement, supported_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] != 9:
                raise ValueError("9.x only")
            return x
        def op_old(x):
            if get_compute_capability(x.device)[0] != 8:
                raise ValueError("8.x only")
            return x
        def op_both(x):
            if get_compute_capability(x.device) not in ((9, 0), (10, 0)):
                raise ValueError("9.0 and 10.0 only")
            return x
        @supported_compute_capability([107])
        def _later(x, backend): return True
        @supported_compute_capability([90, 100, 120, 121])
        def _wide(x, backend): return True
        @backend_requirement({"later": _later, "wide": _wide})
        def op_many(x, backend="auto"):
            return x
        """,
        {"op": "unproved", "op_old": "unproved 1", "op_both": "unproved 2", "op_many[later]": "unproved"},
    ),
    "what else stands behind the gate of an operation that ends in what the chip lacks": (
        """
        from .cc import get_compute_capability
        from .check import need
        from .sm100 import GemmSm100
        from .sm120 import GemmSm120
        def _checked(x):
            if get_compute_capability(x.device)[0] != 10:
                raise ValueError("10.x only")
        def _wide(x):
            if get_compute_capability(x.device)[0] not in (8, 9, 10):
                raise ValueError("8.x to 10.x only")
        def op(x):
            _checked(x)
            return GemmSm100()(x)
        def op_size(x):
            _checked(x)
            return x.numel() * 2
        def op_run(x):
            _wide(x)
            return GemmSm100()(x)
        def op_run_size(x):
            _wide(x)
            return x.numel() * 2
        def op_shared(x):
            need(x)
            return GemmSm100()(x)
        def op_apart(x):
            need(x)
            return x
        """,
        {
            "op": "impossible",
            "op_size": "impossible",
            "op_run": "impossible",
            "op_run_size": "unproved 2",
            "op_shared": "impossible",
            "op_apart": "unproved 1",
        },
    ),
    "a class that is called after a library": (
        """
        from .cc import get_compute_capability
        class _Asked:
            @classmethod
            def is_supported(cls):
                if get_compute_capability(None)[0] != 10:
                    return False, "10.x only"
                return True, None
        class OpDeepGemmLinear:
            @classmethod
            def is_supported(cls):
                if get_compute_capability(None)[0] != 10:
                    return False, "10.x only"
                return True, None
        class _GatherTRTLLMBackend(_Asked):
            @classmethod
            def is_supported(cls):
                if get_compute_capability(None)[0] != 10:
                    return False, "10.x only"
                return True, None
        class OpHeir(_GatherTRTLLMBackend):
            pass
        class OpPlain(_Asked):
            pass
        class OpWideTRTLLMBackend:
            @classmethod
            def is_supported(cls):
                if get_compute_capability(None)[0] not in (8, 9, 10):
                    return False, "8.x to 10.x only"
                return True, None
        """,
        {
            "OpDeepGemmLinear": "impossible",
            "OpHeir": "impossible",
            "OpPlain": "unproved 1",
            "OpWideTRTLLMBackend": "impossible",
        },
    ),
    "the text of a backend that a method passes on": (
        """
        from flashinfer import mm_fp4
        from .check import asked
        class _Asked:
            @classmethod
            def is_supported(cls):
                return asked()
        class OpNew(_Asked):
            def run(self, x):
                if x.empty():
                    return x
                return mm_fp4(x, x, backend="cute-dsl")
        class OpVendor(_Asked):
            def run(self, x):
                return mm_fp4(x, x, backend="cudnn")
        class OpEither(_Asked):
            def run(self, x):
                return mm_fp4(x, x, backend="trtllm") if x.wide else mm_fp4(x, x, backend="b12x")
        """,
        {"OpNew": "impossible", "OpVendor": "unproved 1", "OpEither": "unproved 1"},
    ),
    "what a comment or a docstring says to fail": (
        """
        from .cc import get_compute_capability
        from .decorators import backend_requirement, supported_compute_capability
        # The kernel fails to build on sm_120a: the compiler rejects its code.
        _ARCHS = [100, 103]
        # It fails for odd shapes. Other chips have not been tried.
        _OTHER_ARCHS = [100, 103]
        @supported_compute_capability(_ARCHS)
        def _tried(x, backend): return True
        @supported_compute_capability(_OTHER_ARCHS)
        def _untried(x, backend): return True
        @backend_requirement({"tried": _tried, "untried": _untried})
        def op_many(x, backend="auto"):
            return x
        class OpTried:
            '''For 10.x: the kernel throws at launch on SM120.'''
            @classmethod
            def is_supported(cls):
                return get_compute_capability(None)[0] == 10
        class OpUntried:
            '''For 10.x: SM90 throws at launch.'''
            @classmethod
            def is_supported(cls):
                return get_compute_capability(None)[0] == 10
        """,
        {"op_many": "unproved 1", "OpTried": "impossible", "OpUntried": "unproved 2"},
    ),
    "an error that names the instruction": (
        """
        from .cc import get_compute_capability
        def op(x):
            if get_compute_capability(x.device)[0] != 10:
                raise ValueError("stochastic rounding needs cvt.rs, which your GPU lacks")
            return x
        def op_fast(x):
            if get_compute_capability(x.device)[0] != 10:
                raise ValueError("fast rounding is for 10.x")
            return x
        def op_older(x):
            if get_compute_capability(x.device)[0] not in (8, 10):
                raise ValueError("without cvt.rs only on 8.x")
            return x
        """,
        {"op": "unproved 1", "op_fast": "unproved 2", "op_older": "unproved 3"},  # its word is no proof
    ),
    "an answer that is about something else": (
        """
        from .cc import get_compute_capability
        class Op:
            @classmethod
            def can_implement(cls, n):
                if get_compute_capability(None)[0] == 12 and n % 32:
                    return False, "rows of 32 on 12.x"
                return True, None
        class OpFallback:
            @classmethod
            def can_implement(cls, force, n):
                if get_compute_capability(None)[0] >= 9 and not force:
                    return False, "for older chips, unless it is forced"
                return True, None
        class OpFast:
            @classmethod
            def can_implement(cls, n):
                if n % 32 and get_compute_capability(None)[0] not in (9, 10):
                    return False, "rows of 32 but on 9.x and 10.x"
                return True, None
        """,
        {"OpFast": "partly 1"},
    ),
    "a list that a test asks, with an arm for the chip beside it": (
        """
        import torch
        from .cc import get_compute_capability
        def _matches(device, versions):
            major, minor = get_compute_capability(device)
            return f"{major}{minor}" in versions
        def op(x, suitable):
            is_new = _matches(x.device, ["100", "103", "107", "110"])
            is_of_family = _matches(x.device, ["120", "121"])
            found = []
            if "cutlass" in suitable:
                if is_new:
                    found.append("cutlass_sm10x")
                elif is_of_family:
                    found.append("cutlass_sm12x")
            return found
        def op_refusing(x, fast=False):
            is_new = _matches(x.device, ["100", "103"])
            if fast:
                if not is_new:
                    raise ValueError("10.x only")
            return x
        """,
        {"op_refusing": "partly 1"},
    ),
    "what is surely run beside what the chip lacks": (
        """
        from .cc import get_compute_capability
        from .sm100 import GemmSm100
        def _quantized(x):
            if x.wide:
                if get_compute_capability(x.device)[0] not in (8, 9, 10):
                    raise ValueError("wide rows on 8.x to 10.x only")
            return x
        def _gemm(x):
            if get_compute_capability(x.device)[0] == 10:
                return GemmSm100()(x)
            raise ValueError("10.x only")
        def _experts(x):
            x = _quantized(x)
            return _gemm(x)
        def op(x, fast=False):
            if fast:
                return _experts(x)
            return x
        def op_either(x, fast=False):
            x = _quantized(x)
            if fast:
                return _gemm(x)
            return x
        """,
        {"op_either": "partly 1"},
    ),
    "a table that is asked for the chip where it has a row": (
        """
        import torch
        SIZES = {(9, 0): {2: 1, 4: 2}, (10, 0): {2: 4, 4: 8}, (10, 3): {2: 4}}
        def op(x, shared=False, size=4):
            key = torch.cuda.get_device_capability()
            if shared:
                if key in SIZES and x.world in SIZES[key]:
                    size = min(SIZES[key][x.world], size)
            return x * size
        def op_late(x, shared=False):
            key = torch.cuda.get_device_capability()
            if shared:
                return x * (x.world in SIZES[key] and key in SIZES)
            return x
        def op_strict(x):
            return SIZES[torch.cuda.get_device_capability()][x.n]
        """,
        {"op_late": "partly 1", "op_strict": "unproved 2"},
    ),
    "the arms of other chips choose nothing for this one": (
        """
        from .cc import get_compute_capability
        from .bridge import host
        from .sm90 import GemmSm90
        from .sm100 import GemmSm100
        from .compile import compiled
        def op(x, wide=False, half=False):
            major = get_compute_capability(x.device)[0]
            if half:
                if major != 10:
                    raise ValueError("half on 10.x only")
            if major == 9:
                made = GemmSm90()
            elif major in (10, 11):
                cls = GemmSm100 if wide else GemmSm100
                made = cls()
            elif host is not None:
                made = host.make()
            else:
                raise ValueError("not here")
            return compiled(made, x)
        """,
        {"op": "partly 1"},
    ),
}
COMMON = {
    "check.py": """
    from .cc import get_compute_capability
    def need(x):
        if get_compute_capability(x.device)[0] != 10:
            raise RuntimeError("10.x only")
    def asked():
        return get_compute_capability(None)[0] == 10
    """,
    "compile.py": """
    import cutlass.cute as cute
    def compiled(made, x):
        return cute.compile(made, x)
    """,
    "bridge.py": """
    from .registry import found
    host = found()
    """,
}


@pytest.mark.parametrize("name", ENDS)
def test_what_stands_behind_a_gate(name: str, tmp_path: Path) -> None:
    ops, expected = ENDS[name]
    assert verdicts(made(tmp_path, {"ops.py": ops, **COMMON, **KERNELS, **SM120}, "op*", "Op*")) == expected


ENTRY = """
#include <torch/library.h>
void run_matmul(torch::Tensor const& x) {{
  int sm = get_sm_version_num();
  if (sm >= 100 && sm < 120) {{
    {}(x);
    return;
  }}
  TORCH_CHECK(false, "no kernel for SM ", sm);
}}
TORCH_LIBRARY(_C, ops) {{ ops.def("run_matmul(Tensor a) -> ()", &run_matmul); }}
"""
CALLING = """
import torch
def op(x):
    return torch.ops._C.run_matmul(x)
def wide():
    return torch.cuda.get_device_capability()[0] >= 9
"""


@pytest.mark.parametrize(
    ("called", "lines"),
    [("blocked_matmul", [5]), ("matmul_sm80", [5]), ("matmul_sm90", [5]), ("matmul_sm120", [5]), ("matmul_sm100a", [])],
)
def test_nothing_in_front_of_a_branch_in_cpp_that_is_called_after_others(
    called: str, lines: list[int], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "entry.cu").write_text(ENTRY.format(called))
    made(tmp_path, {"ops.py": CALLING})
    assert [step.at.line for step in port([str(tmp_path)], "12.1", ("op",), jobs=1).steps] == lines


ARM = "if (sm >= {0} && sm < {0} + 10) {{ {1}(x); return; }}"
ARMS = {
    "all called after others": ([(90, "matmul_sm90"), (100, "matmul_sm100")], "impossible"),
    "one for anybody": ([(80, "matmul_tiled"), (100, "matmul_sm100")], "unproved 1 2"),
}


@pytest.mark.parametrize("name", ARMS)
def test_an_error_of_cpp_after_arms_for_others(name: str, tmp_path: Path) -> None:
    arms, verdict = ARMS[name]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    (tmp_path / "csrc").mkdir()
    body = "\n".join(ARM.format(*arm) for arm in arms)
    entry = ENTRY.replace("if (sm >= 100 && sm < 120) {{\n    {}(x);\n    return;\n  }}", "{}")
    (tmp_path / "csrc" / "entry.cu").write_text(entry.format(body))
    asking = """
    import torch
    class Op:
        @staticmethod
        def is_supported():
            return 9 <= torch.cuda.get_device_capability()[0] < 11
        def apply(self, x):
            if x.empty():
                return x
            return torch.ops._C.run_matmul(x)
    """
    made(tmp_path, {"ops.py": asking})
    assert verdicts(port([str(tmp_path)], "12.1", ("Op",), jobs=1)) == {"Op": verdict}


BUILD_LIST = """
archs_of(NEW_ARCHS "10.0a;10.3a" "${ASKED}")
set(NEW_SRCS "csrc/entry.cu")
flags(SRCS "${NEW_SRCS}" ARCHS "${NEW_ARCHS}")
archs_of(WIDE_ARCHS "9.0a;12.0f" "${ASKED}")
set(WIDE_SRCS "csrc/wide.cu")
flags(SRCS "${WIDE_SRCS}" ARCHS "${WIDE_ARCHS}")
"""
BUILT_SOURCES = {
    "a kernel for anybody": ("__global__ void kernel() {}", "unproved 1 2"),
    "tags of the family beside those of others": (
        "using A = cutlass::arch::Sm100;\nusing B = cutlass::arch::Sm120;\n__global__ void kernel() {}",
        "unproved 1 2",
    ),
    "tags of others alone": ("using A = cutlass::arch::Sm100;\n__global__ void kernel() {}", "impossible"),
    "a builder for others": (
        "using K = CollectiveBuilder<cutlass::arch::Sm100, OpClassTensorOp>;\n__global__ void kernel() {}",
        "impossible",
    ),
}


@pytest.mark.parametrize("name", BUILT_SOURCES)
def test_nothing_is_compiled_for_the_chip_that_is_made_for_others(name: str, tmp_path: Path) -> None:
    kernel, verdict = BUILT_SOURCES[name]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    (tmp_path / "CMakeLists.txt").write_text(BUILD_LIST)
    (tmp_path / "csrc").mkdir()
    launch = "void run_matmul(torch::Tensor const& x) { kernel<<<1, 1>>>(); }"
    bound = 'TORCH_LIBRARY(_C, ops) { ops.def("run_matmul(Tensor a) -> ()", &run_matmul); }'
    (tmp_path / "csrc" / "entry.cu").write_text(f"{kernel}\n{launch}\n{bound}\n")
    (tmp_path / "csrc" / "wide.cu").write_text("__global__ void other() {}\n")
    refusing = '    if torch.cuda.get_device_capability()[0] != 10:\n        raise ValueError("10.x only")\n'
    made(tmp_path, {"ops.py": CALLING.replace("def op(x):\n", f"def op(x):\n{refusing}")})
    assert set(verdicts(port([str(tmp_path)], "12.1", ("op",), jobs=1)).values()) == {verdict}


HOPPER = """
from .cc import get_compute_capability
from .build import gen_module
def op(x):
    if get_compute_capability(x.device)[0] != 9:
        raise ValueError("9.x only")
    return gen_module().scale(x)
def op_far(x):
    if get_compute_capability(x.device)[0] != 9:
        raise ValueError("9.x only")
    return x.vendor().scale(x)
class OpConfig:
    @classmethod
    def is_supported(cls):
        return get_compute_capability(None)[0] == 9
    @staticmethod
    def prepare(x):
        return gen_module().scale(x)
"""


def test_sources_show_whether_what_is_for_hopper_alone_is(tmp_path: Path) -> None:
    build = """
    from .env import CSRC_DIR, gen_jit_spec
    def gen_module():
        return gen_jit_spec("scale", [CSRC_DIR / "scale_op.cu"]).build_and_load()
    """
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "scale_op.cu").write_text("__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }\n")
    files = {"ops.py": HOPPER, "build.py": build, "env.py": "from pathlib import Path\nCSRC_DIR = Path('csrc')\n"}
    expected = {"op": "unproved 1", "op_far": "unproved", "OpConfig": "unproved"}
    assert verdicts(made(tmp_path, files, "op*", "Op*")) == expected


def test_what_a_backend_compiles_that_nobody_asks_for_by_name_is_its_reason(tmp_path: Path) -> None:
    ops = """
    from .decorators import backend_requirement, supported_compute_capability
    from .build import gen_module
    @supported_compute_capability([100, 103])
    def _cutlass(x): return True
    @backend_requirement({"cutlass": _cutlass})
    def op(x, backend="cutlass"):
        return [_runner()][0](x)
    def _runner():
        module = gen_module()
        class Runner:
            def __call__(self, x):
                return module.run(x)
        return Runner()
    """
    build = """
    from .env import CSRC_DIR, gen_jit_spec
    def gen_module():
        return gen_jit_spec("gemm", [CSRC_DIR / "gemm_op.cu"]).build_and_load()
    """
    header = "using Arch = cutlass::arch::Sm100;\nusing Kernel = CollectiveBuilder<Arch, OpClassTensorOp>;\n"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "gemm_op.cu").write_text('#include "gemm.h"\nvoid run() {}\n')
    (tmp_path / "csrc" / "gemm.h").write_text(header)
    files = {"ops.py": ops, "build.py": build, "env.py": "from pathlib import Path\nCSRC_DIR = Path('csrc')\n"}
    assert set(verdicts(made(tmp_path, files, "op")).values()) == {"impossible"}


def test_a_class_is_treated_like_no_chip_that_has_what_is_lacking(tmp_path: Path) -> None:
    files = dict(TREES["a kernel's class that picks what the chip lacks is to treat it like an older one"][0])
    files["kernel.py"] = files["kernel.py"].replace("self.arch == 80", "self.arch == 107")
    files["kernel.py"] = files["kernel.py"].replace("warp.MmaF16BF16Op", "picked")
    assert [step for step in made(tmp_path, files, "op*").steps if step.at.line == 14] == []


HELPERS = """
from .cc import get_compute_capability
def op(x):
    index = resolved(x.device)
    return x[index]
def resolved(device):
    if device is None:
        raise TypeError("no device")
    return asked(device)
def asked(device):
    if device.type != "cuda":
        raise ValueError("no GPU")
    if get_compute_capability(device)[0] != 10:
        raise ValueError("10.x only")
    return device.index
"""


def test_a_helper_of_a_helper_is_opened_where_it_asks(tmp_path: Path) -> None:
    plan = made(tmp_path, {"ops.py": HELPERS}, "op")
    assert [(step.kind, step.at.line) for step in plan.steps] == [("condition", 13)]


def test_a_choice_of_an_argument_too_is_no_end(tmp_path: Path) -> None:
    choice = """if x.wide:
        cls = GemmSm100 if cap[0] > 9 else GemmSm90
        return cls()(x)"""
    plan = made(tmp_path, {"ops.py": CHOICE.format(choice, ""), **KERNELS}, "op")
    assert [step.at.line for step in plan.steps] == [7]


def test_a_choice_without_an_error_in_front_is_a_step_where_the_tree_has_an_arm(tmp_path: Path) -> None:
    text = CHOICE.format("cls = GemmSm100 if cap[0] > 9 else GemmSm90", "cls()")
    text = text.replace('    assert cap[0] in [9, 10, 11], "9.x to 11.x only"\n', "")
    (tmp_path / "with").mkdir()
    plan = made(tmp_path / "with", {"ops.py": text, **KERNELS, **SM120}, "op")
    assert [(step.at.line, step.fix) for step in plan.steps] == [(7, None)]
    (tmp_path / "without").mkdir()
    assert made(tmp_path / "without", {"ops.py": text, **KERNELS}, "op").steps == ()


DISPATCH = """
from .cc import get_compute_capability
def build(name): return name
def module_of(backend: str):
    if backend in ({0}):
        made = build("first")
    elif backend == "90":
        made = build("wgmma")
    else:
        raise ValueError("not built")
    return made
def op(x):
    major, minor = get_compute_capability(x.device)
    if major < 9:
        raise ValueError("too old")
    return module_of(f"{{major * 10 + minor}}")
"""


@pytest.mark.parametrize(("arms", "line"), [('"100", "103"', 5), ('"100", "120"', 5), ('"80", "89"', 5)])
def test_an_error_after_the_arm_of_hopper_is_opened_by_an_arm_for_later_chips(
    arms: str, line: int, tmp_path: Path
) -> None:
    plan = made(tmp_path, {"ops.py": DISPATCH.format(arms)}, "op")
    assert [step.at.line for step in plan.steps] == [line]


def test_what_is_impossible_says_why_and_what_there_is_instead(tmp_path: Path) -> None:
    files = dict(TREES["nothing in front of an instruction that the chip lacks"][0])
    files["ops.py"] = files["ops.py"].replace("def op(", "def op_sm100(")
    plan = made(tmp_path, files, "op*")
    (row,) = plan.rows
    assert row.instead == ("`op_sm120`",)
    assert row.ways[0].lacks[0].what == "tcgen05 and tensor memory"
    assert [Path(gate.path).name for gate in row.ways[0].gates] == ["ops.py"]


def test_what_is_asked_for_by_name_needs_nobody_who_hands_it_on(tmp_path: Path) -> None:
    inner = TREES["gates behind each other are opened from within"][0]["inner.py"].replace("def run(", "def attend(")
    plan = made(tmp_path, {"ops.py": "from . import inner\n", "inner.py": inner}, "attend")
    assert [step.at.line for step in plan.steps] == [4]
    assert port([str(tmp_path)], "12.1", jobs=1).steps == ()


def test_a_step_says_who_needs_it_and_what_is_not_known(tmp_path: Path) -> None:
    plan = made(tmp_path, TREES["a helper that two operations need is one step"][0], "op*")
    (step,) = plan.steps
    assert step.needed_by == ("pkg.op", "pkg.op_too")
    assert step.admits == ("9.0", "10.0", "10.1", "10.3", "10.7")
    assert step.fix is not None and step.fix.applicability == "unsafe" and not step.proved
    assert step.fix.proof.evidence == "none (unsafe: nothing in the tree shows that the code behind it runs there)"


def test_what_is_built_beforehand_for_other_chips_is_a_step(tmp_path: Path) -> None:
    plan = made(tmp_path, BUILT, "op*")
    said = [(step.kind, Path(step.at.path).name, step.at.line, step.needed_by) for step in plan.steps]
    assert said == [("list", "jit.py", 9, ("pkg.op",)), ("build", "aot.py", 7, ("pkg.op",))]


def test_a_list_of_setup_that_lacks_the_chip_is_a_step(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(
        dedent(
            """
            import torch
            SUPPORTED_ARCHS = {"8.0", "9.0", "10.0"}
            major, minor = torch.cuda.get_device_capability()
            if f"{major}.{minor}" not in SUPPORTED_ARCHS:
                raise RuntimeError("not supported")
            """
        )
    )
    made(tmp_path, TREES["a helper that two operations need is one step"][0])
    plan = port([str(tmp_path)], "12.1", ("op",), jobs=1)
    assert [(Path(step.at.path).name, step.at.line) for step in plan.steps] == [("check.py", 4), ("setup.py", 3)]
    assert port([str(tmp_path)], "12.1", ("nothing",), jobs=1).steps == ()


SWITCHES: dict[str, tuple[Mapping[str, str], list[str]]] = {
    "an answer that sends its asker another way": (
        {
            "ops.py": """
            import torch
            def supports_fast():
                return torch.cuda.get_device_capability()[0] in (9, 10)
            def op(x):
                if supports_fast():
                    return x + 1
                return x
            """
        },
        ["ops.py:4 pkg.ops.supports_fast"],
    ),
    "a flag of a module": (
        {
            "ops.py": """
            import torch
            HAS_FAST = torch.cuda.get_device_capability()[0] == 10
            def op(x):
                return x + 1 if HAS_FAST else x
            """
        },
        ["ops.py:3 pkg.ops.HAS_FAST"],
    ),
    "a variable beside the answer": (
        {
            "ops.py": """
            import os
            import torch
            def supports_fast():
                is_right = torch.cuda.get_device_capability()[0] == 10
                return os.environ.get("FAST") == "1" and is_right
            """
        },
        ["ops.py:5 pkg.ops.supports_fast"],
    ),
    "named after the generation that the chip is of": (
        {
            "ops.py": """
            import torch
            IS_BLACKWELL = torch.cuda.get_device_capability()[0] == 10
            """
        },
        ["ops.py:3 pkg.ops.IS_BLACKWELL"],
    ),
    "behind it stands what the chip lacks": (
        {
            "ops.py": """
            import torch
            from .kernel import run
            def supports_fast():
                return torch.cuda.get_device_capability()[0] == 10
            def op(x):
                if not supports_fast():
                    return x
                return run(x)
            """,
            "kernel.py": """
            import cutlass.cute as cute
            from cutlass.cute.nvgpu import tcgen05
            def run(x):
                return tcgen05.make_umma_smem_desc(x)
            """,
        },
        [],
    ),
    "it looks for what the chip lacks": (
        {
            "ops.py": """
            import flashinfer
            import torch
            def has_fused():
                return hasattr(flashinfer.fused_moe, "trtllm_mxint4_block_scale_moe")
            def supports_fused():
                return torch.cuda.get_device_capability()[0] == 10 and has_fused()
            """
        },
        [],
    ),
    "named after other chips, for Hopper alone, of the file alone, and yes for the chip": (
        {
            "ops.py": """
            import torch
            def is_sm100():
                return torch.cuda.get_device_capability()[0] == 10
            def supports_wide():
                return torch.cuda.get_device_capability()[0] == 9
            def is_rubin():
                return torch.cuda.get_device_capability() == (10, 7)
            def _supports_fast():
                return torch.cuda.get_device_capability()[0] == 10
            def supports_all():
                return torch.cuda.get_device_capability()[0] >= 10
            """
        },
        [],
    ),
    "a comment says that the exact answer is meant": (
        {
            "ops.py": """
            import torch
            def supports_rounding():
                # the guard of the kernel has the same chips on purpose: only these have the instruction
                return torch.cuda.get_device_capability() in ((10, 0), (10, 3))
            def supports_more():
                # not on 12.1 yet
                return torch.cuda.get_device_capability() in ((10, 0), (10, 3))
            """
        },
        [],
    ),
    "the chip has an answer of its own": (
        {
            "ops.py": """
            import torch
            def supports_both(is_prefill):
                if torch.cuda.get_device_capability()[0] in (9, 12):
                    return not is_prefill
                return torch.cuda.get_device_capability()[0] == 10
            """
        },
        [],
    ),
    "called after what the chip lacks": (
        {
            "ops.py": """
            import torch
            def supports_trtllm_attention():
                return torch.cuda.get_device_capability()[0] == 10
            """
        },
        [],
    ),
    "in a file that imports what is called after the chips that it admits": (
        {
            "ops.py": """
            import torch
            def supports_sparse():
                return torch.cuda.get_device_capability()[0] == 10
            def plan(x):
                from vendor.fmha_sm100.api import make
                return make(x) if supports_sparse() else None
            """
        },
        [],
    ),
    "in files that import more than that, or for more chips": (
        {
            "ops.py": """
            import torch
            from .wide import supports_wide
            def supports_sparse():
                return torch.cuda.get_device_capability()[0] == 10
            def plan(x):
                from vendor.fmha_sm100.api import make
                from vendor.fmha_sm120.api import make_too
                return (make or make_too)(x)
            """,
            "wide.py": """
            import torch
            def supports_wide():
                return torch.cuda.get_device_capability()[0] in (8, 10)
            def plan(x):
                from vendor.fmha_sm100.api import make
                return make(x)
            """,
        },
        ["ops.py:5 pkg.ops.supports_sparse", "wide.py:4 pkg.wide.supports_wide"],
    ),
    "in the file of a library that the chip lacks": (
        {
            "ops.py": "",
            "deep_gemm.py": """
            import torch
            def wants_scales():
                return torch.cuda.get_device_capability()[0] == 10
            """,
        },
        [],
    ),
    "an error asks it, and that is opened": (
        {
            "ops.py": """
            import torch
            def supports_fast():
                return torch.cuda.get_device_capability()[0] in (9, 10)
            def op(x):
                if not supports_fast():
                    raise RuntimeError("not on this GPU")
                return x
            """
        },
        [],
    ),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch(name: str, tmp_path: Path) -> None:
    files, expected = SWITCHES[name]
    plan = made(tmp_path, files)
    rows = [row for row in plan.rows if row.verdict == "switch"]
    places = (plan.steps[row.ways[0].steps[0] - 1].at for row in rows)
    assert [f"{Path(at.path).name}:{at.line} {row.name}" for row, at in zip(rows, places, strict=True)] == expected


def test_a_switch_is_asked_for_by_those_that_ask_it(tmp_path: Path) -> None:
    files, _ = SWITCHES["an answer that sends its asker another way"]
    plan = made(tmp_path, files, "op")
    assert [row.name for row in plan.rows] == ["pkg.ops.supports_fast"]
    assert port([str(tmp_path / "pkg")], "12.1", ("nothing",), jobs=1).steps == ()


SETUP = """
import torch
from torch.utils.cpp_extension import CUDAExtension
flags = []
if torch.cuda.get_device_capability() == (12, 0):
    flags.append("-gencode")
    flags.append("arch=compute_120a,code=sm_120a")
elif torch.cuda.get_device_capability() == (12, 1):
    flags.append("-gencode")
    flags.append("arch={},code={}")
else:
    raise RuntimeError("12.x only")
ext_modules = [CUDAExtension("pkg._C", ["a.cu"], extra_compile_args={{"nvcc": flags}})]
"""


@pytest.mark.parametrize(("target", "lines"), [(("compute_120a", "sm_120a"), [10]), (("compute_121a", "sm_121a"), [])])
def test_flags_that_make_nothing_for_the_chip_are_a_step(
    target: tuple[str, str], lines: list[int], tmp_path: Path
) -> None:
    (tmp_path / "setup.py").write_text(SETUP.format(*target))
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    plan = port([str(tmp_path)], "12.1", jobs=1)
    assert [(step.kind, step.at.line, step.needed_by) for step in plan.steps] == [("build", line, ()) for line in lines]
    assert port([str(tmp_path)], "12.1", ("nothing",), jobs=1).steps == ()


def test_a_test_that_skips_the_chip_is_the_last_step(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_op.py").write_text(
        dedent(
            """
            import pytest
            import torch
            from pkg import op
            def test_op():
                if torch.cuda.get_device_capability()[0] not in (9, 10):
                    pytest.skip("9.x and 10.x only")
                assert op(1)
            def test_nothing():
                if torch.cuda.get_device_capability()[0] not in (9, 10):
                    pytest.skip("9.x and 10.x only")
            def test_nowhere():
                assert op(3) == torch.cuda.get_device_capability()[0] > 99
            """
        )
    )
    files = TREES["a helper that two operations need is one step"][0]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    made(tmp_path, files)
    plan = port([str(tmp_path)], "12.1", ("op",), jobs=1)
    assert [(step.kind, Path(step.at.path).name, step.at.line) for step in plan.steps] == [
        ("condition", "check.py", 4),
        ("test", "test_op.py", 6),
    ]


EXACT = """
import torch
SIZES = {(9, 0): 1, (12, 0): 2}
def attend_sm120(x, out=None):
    if torch.cuda.get_device_capability() != (12, 0):
        raise ValueError("12.0 only")
    return x
"""
USING = """
import pytest
import torch
import pkg.ops as ops
from pkg.ops import attend_sm120
OWN = {(9, 0): 1, (12, 0): 2}
def test_run():
    x = torch.ones(3)
    attend_sm120(x, out=None)
    with pytest.raises(ValueError, match="argument"):
        attend_sm120(None)
def test_table():
    assert attend_sm120(4) == ops.SIZES[torch.cuda.get_device_capability()]
def test_own_table():
    assert attend_sm120(4) == OWN[torch.cuda.get_device_capability()]
"""


def test_a_test_that_calls_what_is_opened_or_asks_its_table_is_no_step(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_ops.py").write_text(USING)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    made(tmp_path, {"ops.py": EXACT})
    steps = port([str(tmp_path)], "12.1", ("attend*",), jobs=1).steps
    found = [(Path(step.at.path).name, step.at.line) for step in steps]
    assert found == [("ops.py", 5), ("ops.py", 3), ("test_ops.py", 15)]


PARTLY = """
import torch
def op(x, fp8=False):
    if fp8:
        assert torch.cuda.get_device_capability()[0] == 10, "fp8 on 10.x only"
        return x + 1
    return x
"""
SKIPPING = """
import pytest
import torch
from pkg import op
{name} = torch.cuda.get_device_capability()[0] == 10
@pytest.mark.skipif(not {name}, reason="not here")
def test_op():
    assert op(1)
"""


@pytest.mark.parametrize(
    ("name", "steps"), [("IS_SM100", []), ("HAS_FP8", ["test_op.py"]), ("IS_BLACKWELL", ["test_op.py"])]
)
def test_of_what_works_a_test_for_another_chip_stays(name: str, steps: list[str], tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_op.py").write_text(SKIPPING.format(name=name))
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pkg'\n")
    made(tmp_path, {"ops.py": PARTLY})
    plan = port([str(tmp_path)], "12.1", ("op",), jobs=1)
    assert [Path(step.at.path).name for step in plan.steps] == ["ops.py", *steps]


def test_the_patches_apply_one_after_the_other(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    plan = made(tmp_path, TREES["two errors in a row are two gates"][0])
    found = series(plan.steps, plan.files)
    save(found, tmp_path / "patches")
    for name in sorted(found.patches):
        subprocess.run(["git", "apply", f"patches/{name}"], cwd=tmp_path, check=True)
    assert port([str(tmp_path / "pkg")], "12.1", jobs=1).rows == ()
    assert found.later == 0
    first = found.patches[min(found.patches)].decode()
    assert "[PATCH 1/2] pkg/ops.py:9: Let 12.x in" in first and "Needed by pkg.op." in first
    assert "The proof covers the test alone. Run the code behind it on the chip" in " ".join(first.split())


QUERY = """
import pynvml
import torch
def left(index, has_nvml):
    if has_nvml:
        return pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(index)).free
    else:
        return torch.cuda.mem_get_info(index)[0]
"""


def test_a_patch_without_a_test_speaks_of_none(tmp_path: Path) -> None:
    plan = made(tmp_path, {"ops.py": QUERY})
    (patch,) = series(plan.steps, plan.files).patches.values()
    text = " ".join(patch.decode().split())
    assert "bwlint has read the edited code and not run it. Run it on the chip before you apply it." in text
    assert " before: " not in text and "test alone" not in text


def test_a_file_that_has_changed_since_gets_no_patch(tmp_path: Path) -> None:
    plan = made(tmp_path, TREES["an answer of a class"][0])
    path = tmp_path / "pkg" / "ops.py"
    path.unlink()
    found = series(plan.steps, plan.files)
    assert (len(found.patches), found.later) == (0, 1)


@pytest.mark.parametrize("to", ["sm_999", "nothing"])
def test_what_is_no_chip(to: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        made(tmp_path, {"ops.py": ""}, to=to)
