"""What is read of CUDA versions, sonames, variables and pinned releases; what comes of it is in fixtures/toolchain."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from effort import grows_as_its_input

from bwlint.model.details import PickedTarget
from bwlint.model.facts import Module
from bwlint.readers import reader

KINDS = frozenset({"floor", "soname", "environment", "cuda-matrix", "wheel-index", "package-floor"})


def read(source: str, path: str = "a.py") -> Module:
    return reader("python" if path.endswith(".py") else "build").read(path, source, "", False, frozenset())


def found(source: str, path: str = "a.py") -> list[tuple[str, ...]]:
    known = [one for one in read(source, path).operations if one.kind in KINDS]
    return [(one.kind, one.name, *(map(str, astuple(one.detail)[:1]) if one.detail else ())) for one in known]


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ('has_cuda("compute_121", "12.9")', [("floor", "121", "12.9")]),
        ('needs_cuda("sm_120f", "12.8")', [("floor", "120f", "12.8")]),
        (
            'def has(a, b):\n    return cuda_version >= b\nx = [has("sm_120", "13.0")]',
            [("floor", "120", "13.0")],
        ),
        ('MIN_CUDA = {"12.0": "12.8", "12.1": (13, 0)}', [("floor", "120", "12.8"), ("floor", "121", "13.0")]),
        ('MIN_CUDA = {(12, 1): Version("13.0")}', [("floor", "121", "13.0")]),
        ('has("compute_121", "12.9")', []),
        ('has_cuda("12.1", "12.9")', []),
        ('MIN_TORCH = {"12.0": "12.8"}', []),
        ('MIN_CUDA = {"sm_120": "12.8", "other": "13.0"}', []),
        ('MIN_CUDA = {**old, "sm_120": "12.8"}', []),
    ],
)
def test_a_target_with_the_release_that_it_is_said_to_need(source: str, rows: list[tuple[str, ...]]) -> None:
    assert found(source) == rows


@pytest.mark.parametrize(
    ("source", "checked"),
    [
        ('CDLL("libcudart.so.12")', False),
        ('CDLL(f"{home}/lib64/libnvrtc.so.12.4")', False),
        ('if exists(path):\n    CDLL("libcublasLt.so.12")', True),
        ('x = home / "libcublas.so.12"', True),
        ('for p in home.rglob("libcudart.so.12"):\n    pass', True),
        ('try:\n    CDLL("libcudart.so.12")\nexcept OSError:\n    CDLL("libcudart.so.11.0")', True),
        ('"libcudart.so.12"', None),
        ('raise OSError("libcudart.so.12 was not found")', None),
        ('names = ["libcudart.so.12"]', None),
        ('CDLL("libcudart.so.12")\nCDLL("libcudart.so")', None),
        ('if cuda_version == 12:\n    CDLL("libcudart.so.12")', None),
        ('CDLL("libcuda.so.1")', None),
        ('CDLL("libcurand.so.10")', None),
    ],
)
def test_a_file_of_one_release(source: str, checked: bool | None) -> None:
    known = [one.checked for one in read(source).operations if one.kind == "soname"]
    assert known == ([] if checked is None else [checked])


@pytest.mark.parametrize(
    ("source", "path", "value"),
    [
        ('os.environ["TRITON_PTXAS_PATH"] = "/x"', "a.py", "/x"),
        ('os.environ.setdefault("TRITON_PTXAS_PATH", "/x")', "a.py", "/x"),
        ('env = {"TRITON_PTXAS_PATH": "/x"}', "a.py", "/x"),
        ('os.environ.get("TRITON_PTXAS_PATH", "/x")', "a.py", None),
        ('os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"]', "a.py", None),
        ("export TRITON_PTXAS_PATH=/x\n", "a.sh", "/x"),
        ('ENV A=1 TRITON_PTXAS_PATH="/x"\n', "Dockerfile", "/x"),
        ("  TRITON_PTXAS_PATH: /x\n", "a.yaml", "/x"),
        ("# export TRITON_PTXAS_PATH=/x\n", "a.sh", None),
        ("make # TRITON_PTXAS_PATH=/x\n", "a.sh", None),
        ("export MY_TRITON_PTXAS_PATH=/x\n", "a.sh", None),
        ("echo $TRITON_PTXAS_PATH\n", "a.sh", None),
    ],
)
def test_a_variable_that_is_set(source: str, path: str, value: str | None) -> None:
    rows = [] if value is None else [("environment", "TRITON_PTXAS_PATH", value)]
    assert found(source, path) == rows


@pytest.mark.parametrize(
    ("source", "path", "name"),
    [
        ('matrix:\n  cuda: ["11.8", "12.1", "12.4"]\n', "a.yml", "12.4"),
        ("matrix:\n  cuda_version: [cu118, cu121, cu124]\n", "a.yml", "12.4"),
        ('matrix:\n  cuda:\n    ["11.8.0", "12.1.1",\n     "12.4.1"]\n', "a.yml", "12.4"),
        ("matrix:\n  cuda:\n    - 11.8\n    # - '12.8'\n    - '12.1'  # old\n    - \"12.4.1\"\n", "a.yml", "12.4"),
        ("matrix:\n  - CUDA_VERSION:\n    - cu118\n    - cu121\n    - cu126\n    OS: [a]\n", "a.yml", "12.6"),
        ("all: &all\n  - 11.8\n  - 12.1\n  - 12.4\nmatrix:\n  cuda: *all\n", "a.yml", "12.4"),
        ("matrix:\n  cuda:\n    - version: 11.8\n    - version: 12.1\n    - version: 12.4\n", "a.yml", None),
        ('matrix:\n  cuda: ["11.8", "12.4"]\n', "a.yml", None),
        ('matrix:\n  cuda: ["11.8", "12.1", "${{ matrix.new }}"]\n', "a.yml", None),
        ('matrix:\n  python: ["3.10", "3.11", "3.12"]\n  os: [cuda]\n', "a.yml", None),
        ("pip install torch --index-url https://download.pytorch.org/whl/nightly/cu126\n", "a.sh", "12.6"),
        ("true\n# pip install torch --index-url https://download.pytorch.org/whl/cu126\n", "a.sh", None),
        ("pip install torch --index-url https://download.pytorch.org/whl/cpu\n", "a.sh", None),
        ('x = ["nvidia-cutlass-dsl[cu13]>=4.4.2"]\n', "pyproject.toml", "nvidia-cutlass-dsl"),
        ('x = ["nvidia-cutlass-dsl==4.4.2"]\n', "pyproject.toml", None),
    ],
)
def test_a_release_that_is_pinned(source: str, path: str, name: str | None) -> None:
    assert [one[1] for one in found(source, path)] == ([] if name is None else [name])


@pytest.mark.parametrize(
    ("condition", "first", "second", "releases"),
    [
        ('[ "$CUDA_STREAM" = "cu129" ]', "12.0a", "12.0f", ["12.9"]),
        ('[[ "${CUDA_VERSION}" == 12.9* ]]', '"sm_120a"', "'sm_120f'", ["12.9"]),
        ('[ "$KIND" = "cu129" ]', "12.0a", "12.0f", []),
        ('[ "$CUDA_STREAM" = "cu129" ] && [ -n "$X" ]', "12.0a", "12.0f", []),
        ('[ "$CUDA_STREAM" = "cu129" ]', "12.0a", "other", []),
    ],
)
def test_a_target_that_is_picked_by_the_release(condition: str, first: str, second: str, releases: list[str]) -> None:
    source = f"if {condition}; then\n  JIT={first}\nelse\n  JIT={second}\nfi\n"
    known = [one.detail for one in read(source, "a.sh").operations]
    assert [release for one in known if isinstance(one, PickedTarget) for release in one.releases] == releases


@pytest.mark.parametrize(
    ("piece", "path"),
    [
        ('has_cuda("sm_121", "12.9")\n', "a.py"),
        ('CDLL("libcudart.so.12")\n', "a.py"),
        ('x = f(x) / "libcudart.so.12"\n', "a.py"),
        ("export TRITON_PTXAS_PATH=/x\n", "a.sh"),
        ("TRITON_PTXAS_PATH=", "a.sh"),
        ("if [ $CUDA = cu129 ]; then\n X=12.0a\n", "a.sh"),
        ("matrix:\n  cuda: [1, \n", "a.yml"),
        ("cuda: [", "a.yml"),
        ("https://download.pytorch.org/whl/cu126 ", "a.sh"),
        ('"nvidia-cutlass-dsl[', "pyproject.toml"),
    ],
)
def test_work_grows_as_the_file(piece: str, path: str) -> None:
    head = "matrix:\n" if path.endswith(".yml") else ""
    grows_as_its_input(lambda text: read(text, path), lambda size: head + piece * size, 300)
