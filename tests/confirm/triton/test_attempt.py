"""Kernels of Triton put to its compiler, for chips that are not there, and kernels that mean harm."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs.assemble import attempt
from bwlint.confirm.slicing import seccomp
from bwlint.confirm.triton import attempt as triton
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Claim, Finding, Region

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or seccomp.unavailable() is not None,
    reason="Triton is not installed (pip install 'bwlint[triton]'), or there is no filter of system calls",
)

TREE = {
    "pkg/__init__.py": "",
    "pkg/there.py": """
        try:
            import triton
            import triton.language as tl
        except ImportError:
            triton = tl = None
    """,
    "pkg/sizes.py": """
        from pkg.there import tl
        WIDE: tl.constexpr = 128
    """,
    "pkg/picked.py": """
        import os
        from pkg.there import triton, tl

        if os.environ.get("PLAIN", "0") == "1":
            @triton.jit
            def scaled(x, by):
                return x * by
        else:
            'What most have.'

            @triton.jit
            def scaled(x, by):
                return tl.exp(x * by)
    """,
    "pkg/kernels.py": """
        import torch
        from pkg.there import triton, tl
        from pkg.sizes import WIDE

        @triton.jit
        def scaled(x, by):
            return x * by

        @triton.jit
        def product(a, b, out, n, stride_a, stride_b, BLOCK: tl.constexpr):
            at, wide = tl.arange(0, BLOCK), tl.arange(0, WIDE)
            total = tl.zeros((WIDE, WIDE), tl.float32)
            for k in range(0, n, BLOCK):
                x = tl.load(a + wide[:, None] * stride_a + (k + at)[None, :])
                y = tl.load(b + (k + at)[:, None] * stride_b + wide[None, :])
                total += tl.dot(x, y)
            tl.store(out + wide[:, None] * WIDE + wide[None, :], scaled(total, 2.0))

        def launch(a, b):
            out = torch.empty(64, 64, dtype=torch.float32)
            product[(1,)](a, b, out, a.shape[1], a.stride(0), b.stride(0), BLOCK={block})
    """,
}


def subject(root: Path, kernels: str, size: int = 131072, kind: str = "dynamic") -> Subject:
    """A claim about the launch in `pkg/kernels.py`."""
    for name, text in {**TREE, "pkg/kernels.py": kernels}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(dedent(text).lstrip("\n"))
    real = root / "pkg/kernels.py"
    lines = real.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "[(1,)]" in text)
    start = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    at = Region(line, start + 1, line, len(lines[line - 1]) + 1)
    claim = Claim("shared", "too much", chips=("12.0",), subject=kind, amounts=(size,), at=at)
    finding = Finding(
        rule="BW501",
        name="smem",
        category="smem",
        severity="note",
        confidence="high",
        path="pkg/kernels.py",
        region=at,
        message="a block of `product` takes at least so much, with elements of 16 bits; 12.0 has less",
        claims=(claim,),
    )
    return Subject(finding, claim, str(real), str(root))


def kernels(block: int | str) -> str:
    return TREE["pkg/kernels.py"].replace("{block}", str(block))


def _least(block: int) -> int:
    # WIDE is of another module, which the reader does not follow: one of its dimensions counts as one
    return 2 * 2 * 2 * block


def tried(root: Path, text: str, size: int, **how: object) -> Attempt:
    scratch = root / "scratch"
    scratch.mkdir()
    return attempt(subject(root, text, size), Workbench(scratch, may_slice=True, **how))  # type: ignore[arg-type]


@needs_triton
@pytest.mark.parametrize(("block", "outcome"), [(128, "confirmed"), (64, "refuted")])
def test_shared_memory_on_a_chip_that_is_not_there(block: int, outcome: str, tmp_path: Path) -> None:
    found = tried(tmp_path, kernels(block), _least(block))
    assert (found.outcome, found.executed) == (outcome, True), found.reason
    assert "for 12.0, which has 101376" in found.reason
    assert found.details["signature"]["a"] == "*fp16"


@needs_triton
def test_a_helper_that_a_test_picks(tmp_path: Path) -> None:
    own = "@triton.jit\n        def scaled(x, by):\n            return x * by\n"
    text = kernels(128)
    assert own in text
    found = tried(tmp_path, text.replace(own, "from pkg.picked import scaled\n"), _least(128))
    assert found.outcome == "confirmed", found.reason


@needs_triton
def test_a_signature_of_the_user(tmp_path: Path) -> None:
    words = ("*fp32", "*fp32", "*fp32", "i32", "i32", "i32", "64")
    found = tried(tmp_path, kernels(64), _least(64), signature=words)
    assert found.outcome == "confirmed"  # of 32 bits it takes twice as much
    assert set(found.details["signature from"].values()) == {"--signature"}


@needs_triton
@pytest.mark.parametrize(
    ("change", "word"),
    [
        (("scaled(total, 2.0)", "elsewhere(total)"), "elsewhere is not defined"),
        (("BLOCK=64", "BLOCK=a.shape[0]"), "nothing in reach gives the constant `BLOCK`"),
    ],
)
def test_what_does_not_compile_decides_nothing(change: tuple[str, str], word: str, tmp_path: Path) -> None:
    text = kernels(64)
    assert change[0] in text
    found = tried(tmp_path, text.replace(*change), _least(64) if "BLOCK=64" not in change else 8)
    assert found.outcome in (None, "inconclusive")
    assert word in found.reason


HARM = {
    "fork": "triton.knobs.os.fork()",
    "program": "triton.knobs.os.system('touch harmed')",
    "write": "open_('harmed', 'w')",
    "loop": "endless()",
}


@needs_triton
@pytest.mark.parametrize("harm", sorted(HARM))
def test_harm(harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton, "LONGEST", 2.0)
    text = kernels("64").replace(
        "from pkg.sizes import WIDE",
        f"""
        import os
        def endless():
            while True:
                pass
        def open_(name, how):
            return triton.knobs.pathlib.Path(name).open(how)
        WIDE: tl.constexpr = ({HARM[harm]}, 128)[1]
    """,
    )
    found = tried(tmp_path, text, _least(64))
    assert not list(tmp_path.rglob("harmed"))
    assert found.outcome in (None, "inconclusive"), found.reason


def test_consent_is_asked_for(tmp_path: Path) -> None:
    found = attempt(subject(tmp_path, kernels(64), _least(64)), Workbench(tmp_path))
    assert (found.requested, "--run-slices" in found.reason) == (False, True)


def test_a_triton_of_the_tree_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton/__init__.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert triton.missing((str(tmp_path),)) == "the installed Triton is itself the code under test"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"made": {}}',
        b'{"made": {"12.0": []}, "version": "3.9.0"}',
        b'{"made": {"12.0": [{}]}, "version": "3.9.0"}',
        b'{"made": {"9.0": [{"shared": 1, "ptx": "x"}]}, "version": "3.9.0"}',
        b'{"made": {"12.0": [{"shared": -1, "ptx": "x"}]}, "version": "3.9.0"}',
        b'{"made": {"12.0": [{"shared": "much", "ptx": "x"}]}, "version": "3.9.0"}',
        b'{"made": {"12.0": 1}, "version": "3.9.0"}',
    ],
)
def test_answers_that_are_none(answer: bytes) -> None:
    assert triton._ran(answer, "", 0.0, 1, ["12.0"]).trouble == "the kernel ended without an answer"
