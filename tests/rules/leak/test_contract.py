"""What a class says of the chips that it is for, against what its methods come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

HEAD = "import torch\nfrom kernels import run\n\n\nclass Backend:\n"
KERNELS = (
    "import torch\n\n\ndef run(q):\n    if torch.cuda.get_device_capability()[0] not in (9, 10):\n"
    "        raise RuntimeError('for SM90 and SM100')\n    return q\n"
)
USED = "\n    def forward(self, q):\n        return run(q)\n"
MAJOR = "torch.cuda.get_device_capability()[0]"
SUPPORTS = "    @classmethod\n    def supports_compute_capability(cls, capability):\n        return {}\n"
LEAST = "    @classmethod\n    def get_min_capability(cls):\n        return {}\n"
IMPLEMENTS = (
    "    @classmethod\n    def can_implement(cls):\n        if {}:\n"
    "            return False, 'no'\n        return True, None\n"
)
REASONS = (
    "    @classmethod\n    def is_supported(cls, rows):\n        reasons = []\n        if {}:\n"
    "            reasons.append('needs SM90')\n        if rows % 8:\n"
    "            reasons.append('rows in eights')\n        return not reasons\n"
)


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        (SUPPORTS.format("capability.major >= 9"), ["8 warning"]),
        (SUPPORTS.format("capability.major in (9, 10)"), []),
        (SUPPORTS.format("capability.major >= 13"), []),
        (SUPPORTS.format("True"), []),
        (LEAST.format(90), ["8 warning"]),
        (LEAST.format(130), []),
        (LEAST.format("9.5"), []),
        (IMPLEMENTS.format(f"{MAJOR} < 9"), ["8 warning"]),
        (IMPLEMENTS.format(f"{MAJOR} not in (9, 10)"), []),
        (LEAST.format(90) + IMPLEMENTS.format(f"{MAJOR} != 9"), []),
        ("    CUDA_MINIMUM_COMPUTE_CAPABILITY = 90\n", ["6 warning"]),
        ("    CUDA_MINIMUM_COMPUTE_CAPABILITY = (9, 0)\n    CUDA_MAXIMUM_COMPUTE_CAPABILITY = (9, 0)\n", []),
        ("    MIN_COMPUTE_CAPABILITY = (9, 0)\n    MAX_COMPUTE_CAPABILITY = (13, 0)\n", ["6 warning"]),
        ("    rows_at_least = 90\n", []),
        (REASONS.format(f"{MAJOR} < 9"), ["9 warning"]),
        (REASONS.format(f"{MAJOR} not in (9, 10)"), []),
    ],
)
def test_what_a_class_says_it_is_for(tmp_path: Path, says: str, expected: list[str]) -> None:
    files = {"backend.py": HEAD + says + USED, "kernels.py": KERNELS}
    assert levels(drafts(tmp_path, files, "leak")) == expected


ASKS = (
    "    @classmethod\n    def can_implement(cls, rows):\n        if rows % 8:\n            return False, 'no'\n"
    "        return {}\n"
)
ELSEWHERE = "import torch\n\n\ndef fits_capability(rows):\n    if {}:\n        return {}\n    return {}\n"


@pytest.mark.parametrize(
    ("asks", "elsewhere", "expected"),
    [
        ("fits_capability(rows)", (f"8 <= {MAJOR} < 12", "rows < 64, 'too many'", "False, 'not there'"), []),
        ("fits_capability(rows)", (f"{MAJOR} > 10", "False, 'not there'", "True, None"), []),
        ("fits_capability(rows)", (f"{MAJOR} > 10", "False", "True"), []),
        ("fits_capability(rows)", (f"{MAJOR} < 8", "False, 'not there'", "True, None"), ["9 warning"]),
        ("fits_capability(rows)", ("rows > 64", "False, 'too many'", "True, None"), ["9 warning"]),
        ("fits_capability(rows), None", (f"{MAJOR} > 10", "False", "True"), []),
        ("other(rows)", (f"{MAJOR} > 10", "False", "True"), ["9 warning"]),
    ],
)
def test_an_answer_that_another_file_gives(
    tmp_path: Path, asks: str, elsewhere: tuple[str, ...], expected: list[str]
) -> None:
    """Who picks the class asks for the oldest capability and for what it can do, which a function of the tree says."""
    head = HEAD.replace("run\n", "run\nfrom fitting import fits_capability\n")
    files = {
        "backend.py": head + LEAST.format(90) + "\n" + ASKS.format(asks) + USED,
        "kernels.py": KERNELS,
        "fitting.py": ELSEWHERE.format(*elsewhere),
    }
    assert levels(drafts(tmp_path, files, "leak")) == expected


def test_a_class_whose_methods_run_everywhere(tmp_path: Path) -> None:
    files = {"backend.py": HEAD + LEAST.format(90) + USED, "kernels.py": "def run(q):\n    return q\n"}
    assert drafts(tmp_path, files, "leak") == []


def test_what_the_finding_says(tmp_path: Path) -> None:
    files = {"backend.py": HEAD + LEAST.format(90) + USED, "kernels.py": KERNELS}
    (found,) = drafts(tmp_path, files, "leak")
    said = "`Backend.get_min_capability` accepts 12.x, but `Backend` refuses all but 9.0 and 10.x."
    assert found.message == said
    assert (
        found.advice == "A minimum keeps no later chip out. Raise an error for all but 9.0 and 10.x where it is used."
    )


@pytest.mark.parametrize(
    ("says", "advice"),
    [
        (LEAST.format(90) + IMPLEMENTS.format("quick"), "at the top of `can_implement`."),
        (LEAST.format(90), "where it is used."),
        (SUPPORTS.format("capability >= 90"), "Return true for 9.0 and 10.x only."),
    ],
)
def test_where_a_minimum_is_bounded(tmp_path: Path, says: str, advice: str) -> None:
    files = {"backend.py": HEAD + says + USED, "kernels.py": KERNELS}
    (found,) = drafts(tmp_path, files, "leak")
    assert found.advice.endswith(advice)


HELD = (
    "import torch\nfrom kernels import run\n\n\nclass Base:\n{base}    limit = 3\n\n\n"
    "class Backend(Base):\n    MIN_COMPUTE_CAPABILITY = (9, 0)\n    kernel = {kernel}\n"
)
CALLED = "\n    @classmethod\n    def forward(cls, q):\n        return cls.kernel(q)\n"


@pytest.mark.parametrize(
    ("kernel", "base", "expected"),
    [
        ("run", "", ["10 warning"]),
        ("staticmethod(run)", "", ["10 warning"]),
        ("None", "", []),
        ("limit", "", []),
    ],
)
def test_a_class_comes_to_what_its_attributes_hold(tmp_path: Path, kernel: str, base: str, expected: list[str]) -> None:
    files = {"backend.py": HELD.format(kernel=kernel, base=base) + CALLED, "kernels.py": KERNELS}
    assert levels(drafts(tmp_path, files, "leak")) == expected


KERNELS_OF_CLASSES = """import cutlass.cute as cute
from cutlass.cute.nvgpu import tcgen05, warp


class Dense:
    def __init__(self, dtype):
        self.dtype = dtype

    @cute.jit
    def __call__(self, a, b):
        op = tcgen05.MmaF16BF16Op(self.dtype, self.dtype, (128, 128, 16), tcgen05.CtaGroup.ONE)
        self.kernel(op, a, b).launch(grid=(1, 1, 1), block=(128, 1, 1))


class Scaled(Dense):
    limit = 3


class Rebuilt(Dense):
    @cute.jit
    def __call__(self, a, b):
        self.kernel(warp.MmaF16BF16Op(self.dtype, self.dtype, (16, 8, 16)), a, b).launch(grid=(1, 1, 1))


class Warp:
    @cute.jit
    def __call__(self, a, b):
        self.kernel(warp.MmaF16BF16Op(self.dtype, self.dtype, (16, 8, 16)), a, b).launch(grid=(1, 1, 1))
"""
OPERATION = """import torch
import cutlass.cute as cute
from kernels import Dense, Rebuilt, Scaled, Warp


class Operation:
    def __init__(self, scale):
        self._compiled = None
{picks}

    def _runtime_error_if(self, wrong, text):
        if wrong:
            raise RuntimeError(text)

    def check_support(self):
        major, minor = torch.cuda.get_device_capability()
        capability = major * 10 + minor
{checks}
        return True

    def compile(self):
        if self._compiled is not None:
            return
{makes}
        self._compiled = cute.compile(made)


def run(scale):
    operation = Operation(scale)
    assert operation.check_support(), "unsupported"
    operation.compile()
"""
ONE = "        self._kernel = Dense"
EITHER = "        self._kernel = {} if scale is None else {}"
BELOW = "        if capability < 100:\n            raise RuntimeError('needs SM100 or newer')"
BETWEEN = "        if not 100 <= capability < 120:\n            raise RuntimeError('needs SM100')"
HANDED = "        self._runtime_error_if(capability < 100, 'needs SM100 or newer')"
MADE = "        made = self._kernel(self.dtype)"
BY_IDENTITY = (
    "        if self._kernel is Dense:\n            made = self._kernel(1)\n"
    "        elif self._kernel is Scaled:\n            made = self._kernel(2)"
)
BY_OPTION = (
    "        if self.wide:\n            made = self._kernel(1)\n        elif self.narrow:\n            made = other()"
)


@pytest.mark.parametrize(
    ("picks", "checks", "makes", "expected"),
    [
        (ONE, BELOW, MADE, ["18 warning"]),
        (ONE, HANDED, MADE, ["18 warning"]),
        (ONE, HANDED.replace("_if(", "_unless(").replace("<", ">="), MADE, ["18 warning"]),
        (ONE, BELOW, "        made = Dense(1)", ["18 warning"]),
        (EITHER.format("Dense", "Scaled"), BELOW, MADE, ["18 warning"]),
        (EITHER.format("Dense", "Scaled"), BELOW, BY_IDENTITY, ["18 warning"]),
        (ONE, BETWEEN, MADE, []),
        (ONE, HANDED.replace("capability < 100", "not 100 <= capability < 120"), MADE, []),
        (EITHER.format("Dense", "Warp"), BELOW, MADE, ["18 note"]),
        (EITHER.format("Dense", "Rebuilt"), BELOW, MADE, ["18 note"]),
        (EITHER.format("Dense", "made_of(scale)"), BELOW, MADE, ["18 note"]),
        (ONE, BELOW, BY_OPTION, ["18 note"]),
    ],
)
def test_a_class_comes_to_the_kernel_that_it_makes(
    tmp_path: Path, picks: str, checks: str, makes: str, expected: list[str]
) -> None:
    """What is told of the class is not told again of who asks it."""
    code = OPERATION.format(picks=picks, checks=checks, makes=makes)
    found = drafts(tmp_path, {"operation.py": code, "kernels.py": KERNELS_OF_CLASSES}, "leak")
    assert levels(found) == expected


KEPT = """import torch
from operation import Operation

_made = {{}}


def device_supports_wide():
    return torch.cuda.get_device_capability()[0] >= 10


def wide(scale):
{body}
    return operation.compile()


def run(scale):
    use_wide = scale > 3 and device_supports_wide()
    if use_wide:
        return wide(scale)
    return scale
"""
PLAIN = OPERATION.format(picks=ONE, checks="        pass", makes=MADE)
IN_CACHE = (
    "    if scale in _made:\n        operation = _made[scale]\n    else:\n"
    "        operation = Operation(scale)\n        _made[scale] = operation"
)
NOT_IN_CACHE = "    if scale not in _made:\n        _made[scale] = Operation(scale)\n    operation = Operation(scale)"
BY_SCALE = "    if scale > 8:\n        operation = Operation(scale)\n    else:\n        operation = other(scale)"


@pytest.mark.parametrize(("body", "expected"), [(IN_CACHE, 1), (NOT_IN_CACHE, 1), (BY_SCALE, 0)])
def test_what_fills_a_cache_is_made_the_first_time(tmp_path: Path, body: str, expected: int) -> None:
    """It is told of the predicate that a flag is made of, and not where the flag is asked."""
    files = {"use.py": KEPT.format(body=body), "operation.py": PLAIN, "kernels.py": KERNELS_OF_CLASSES}
    found = [draft for draft in drafts(tmp_path, files, "leak") if draft.severity == "warning"]
    assert [draft.at[0] for draft in found] == [8] * expected
