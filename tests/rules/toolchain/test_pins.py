"""Releases that are held fast, in a tree that has nothing for 12.x, and how they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

OLD = "torch==2.6.0"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "requirements.txt",
            OLD,
            ["`torch==2.6.0` has no kernels for 12.x. torch ships kernels for them from 2.7 on."],
        ),
        ("requirements.txt", "torch == 2.5.1+cu121", ["`torch== 2.5.1` for CUDA 12.1 has no kernels for 12.x."]),
        (
            "requirements.txt",
            "torch==2.7.1+cu118",
            [
                "`torch==2.7.1` for CUDA 11.8 has no kernels for 12.x. torch ships kernels for them from 2.7 on,"
                " in wheels for CUDA 12.8 or newer."
            ],
        ),
        (
            "requirements.txt",
            "triton==3.4.0",
            ["`triton==3.4.0` has no ptxas for 12.1 (GB10). triton ships ptxas for it from 3.6 on."],
        ),
        (
            "requirements.txt",
            "triton==3.2.0",
            ["no ptxas for 12.x. triton ships ptxas for 12.0 from 3.3 on and 12.1 (GB10) from 3.6 on."],
        ),
        ("requirements-cuda.txt", "torch<=2.6.0,>=2.0.0", ["`torch<=2.6.0,>=2.0.0` has no kernels for 12.x."]),
        ("pyproject.toml", f'dependencies = ["{OLD}"]', ["`torch==2.6.0` has no kernels"]),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "2.5.1"', ["`torch==2.5.1` has no kernels"]),
        ("Dockerfile", f"RUN pip install {OLD}", ["`torch==2.6.0` has no kernels"]),
        (
            "Dockerfile",
            "ARG CUDA_VERSION=12.4",
            ["The newest CUDA here is 12.4, which cannot compile for compute capability 12.x: CUDA 12.8 can."],
        ),
        (
            "Dockerfile",
            "FROM pytorch/pytorch:2.5.1-cuda12.1-cudnn9-devel as base",
            ["The newest CUDA here is 12.1, which cannot compile"],
        ),
        (
            "install.sh",
            "pip install torch --index-url https://download.pytorch.org/whl/cu124",
            ["torch wheels for CUDA 12.4"],
        ),
        (
            "requirements.txt",
            "torch==2.7.0",
            ["On PyPI `torch==2.7.0` has no kernels for 12.x: its wheels there are for"],
        ),
        ("Dockerfile", "RUN pip install torch==2.7.1", ["On PyPI `torch==2.7.1` has no kernels"]),
        (
            "Dockerfile",
            "FROM nvcr.io/nvidia/pytorch:24.08-py3",
            ["The newest CUDA here is 12.6, which cannot compile"],
        ),
        (
            "Dockerfile",
            "ARG BASE_IMAGE=nvcr.io/nvidia/pytorch:24.12-py3\nFROM $BASE_IMAGE",
            ["The newest CUDA here is 12.6"],
        ),
        ("Dockerfile", "FROM kit/app:base-cu124-torch2.6", ["The newest CUDA here is 12.4"]),
        ("environment.yml", "dependencies:\n  - pytorch-cuda=12.1\n", ["The newest CUDA here is 12.1"]),
        ("environment.yml", "dependencies:\n  - nvidia::cuda-toolkit=12.4\n", ["The newest CUDA here is 12.4"]),
        ("requirements.txt", "--extra-index-url https://download.pytorch.org/whl/cu128\ntorch==2.7.0", []),
        ("requirements.txt", "torch==2.7.0+cu128", []),
        ("requirements.txt", "torch>=2.7.0", []),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:25.01-py3", []),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.08-py3 AS old\nFROM nvcr.io/nvidia/pytorch:25.06-py3", []),
        ("Dockerfile", "FROM nvcr.io/nvidia/l4t-base:r36.2", []),
        ("Dockerfile", "FROM kit/app:base-cu128-torch2.7", []),
        ("Dockerfile", "FROM kit/app:base-cu12", []),
        ("environment.yml", "dependencies:\n  - cuda-toolkit=12.9\n", []),
        ("environment.yml", "dependencies:\n  - cuda-toolkit>=11.8\n  # pytorch-cuda=11.8\n", []),
        ("requirements.txt", "torch>=2.1", []),
        ("requirements.txt", "torchvision==0.15.0", []),
        ("requirements.txt", f'{OLD}; sys_platform == "darwin"', []),
        ("requirements.txt", f'{OLD}; python_version < "3.10"\ntorch==2.8.0', []),
        ("requirements.txt", f"{OLD}\ntorch>=2.9; platform_system != 'Windows'", []),
        ("requirements.txt", f"torch==2.8.0\n{OLD}; platform_system != 'Windows'", []),
        ("requirements.txt", f"{OLD}; platform_system == 'Windows'", []),
        ("requirements.txt", f"{OLD}; platform_system != 'Windows'", ["`torch==2.6.0` has no kernels"]),
        ("requirements.txt", f"{OLD}; sys_platform != 'linux'\ntorch==2.8.0", []),
        ("requirements.txt", f"--index-url https://download.pytorch.org/whl/cpu\n{OLD}", []),
        ("requirements.txt", f"# {OLD}", []),
        ("requirements-rocm.txt", OLD, []),
        ("pyproject.toml", f'name = "kit" # "{OLD}"', []),
        ("install.sh", f'echo "needs {OLD} or newer" # {OLD}', []),
        ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel AS old\nFROM nvidia/cuda:13.0.0-devel AS new", []),
        ("Dockerfile", "FROM nvidia/cuda:12.8.0-devel", []),
        ("notes.yaml", "image: nvidia/cuda:12.4.1-devel", []),
        (".github/workflows/test.yml", f"run: pip install {OLD}", []),
        ("tests/requirements.txt", OLD, []),
        ("archive/Dockerfile", "FROM nvidia/cuda:12.4.1-devel", []),
        ("legacy/requirements.txt", OLD, []),
        ("train.py", f'print("pip install {OLD}")', []),
    ],
)
def test_a_release_that_is_held_fast(tmp_path: Path, name: str, text: str, says: list[str]) -> None:
    found = drafts(tmp_path, {name: f"{text}\n"}, "toolchain")
    of_all = name in ("requirements.txt", "pyproject.toml") and "torch" in text
    assert {one.severity for one in found if "newest CUDA" not in one.message} <= {"warning" if of_all else "note"}
    assert len(found) == len(says)
    assert all(words in one.message for words, one in zip(says, found, strict=True))


@pytest.mark.parametrize(
    ("name", "text", "level"),
    [
        ("requirements.txt", OLD, "warning"),
        ("server/pyproject.toml", f'dependencies = ["{OLD}"]', "warning"),
        ("backends/convert/requirements.txt", OLD, "note"),
        ("examples/requirements.txt", OLD, "note"),
        ("requirements.txt", "torch<=2.6.0", "note"),
        ("requirements.txt", "triton==3.2.0", "note"),
        ("Dockerfile", f"RUN pip install {OLD}", "note"),
        ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel", "warning"),
        ("docker/Dockerfile", "ARG CUDA_VERSION=12.4\nFROM nvidia/cuda:${CUDA_VERSION}.1-devel", "warning"),
        ("Dockerfile", "FROM pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime", "warning"),
        ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime", "note"),
        ("docker/old/Dockerfile", "FROM nvidia/cuda:12.4.1-devel", "note"),
        ("training/Dockerfile", "FROM nvidia/cuda:12.4.1-devel", "note"),
        ("examples/Dockerfile", "FROM nvidia/cuda:12.4.1-devel", "note"),
        ("third_party/kit/Dockerfile", "FROM nvidia/cuda:12.4.1-devel", "note"),
    ],
)
def test_nothing_of_a_project_runs_that_holds_an_old_torch(tmp_path: Path, name: str, text: str, level: str) -> None:
    assert [one.severity for one in drafts(tmp_path, {name: f"{text}\n"}, "toolchain")] == [level]


@pytest.mark.parametrize(
    ("name", "line", "levels"),
    [
        ("tests/sh/test_index.sh", 'assert_eq "old driver" "{}" "$found"', []),
        ("tests/sh/test_index.sh", "pip install torch \\\n  --index-url {}", ["warning"]),
        ("tests/sh/test_index.sh", "export PIP_EXTRA_INDEX_URL={}", ["warning"]),
        ("install.sh", 'INDEX="{}"', ["warning"]),
    ],
)
def test_in_a_test_an_index_counts_where_it_is_installed_from(
    tmp_path: Path, name: str, line: str, levels: list[str]
) -> None:
    text = f"# RTX 5090\n{line.format('https://download.pytorch.org/whl/cu126')}\n"
    assert [one.severity for one in drafts(tmp_path, {name: text}, "toolchain")] == levels
