"""Names of libraries that decide how code is read: frameworks.toml, and those of peers.toml."""

from __future__ import annotations

import re

import pytest

from bwlint.chips import frameworks, peers


@pytest.mark.parametrize(
    ("piece", "yes", "no"),
    [
        (frameworks.headers(), ("cute", "cccl"), ("std",)),
        (frameworks.headers(defining_macros=True), ("cute", "cutlass"), ("cuda", "cccl")),
        (frameworks.piece("registers"), ("TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY"), ("LIBRARY",)),
        (frameworks.piece("registers_typed"), ("TVM_FFI_DLL_EXPORT_TYPED_FUNC",), ("TYPED_FUNC",)),
        (frameworks.piece("boxes"), ("TORCH_BOX", "TORCH_FN"), ("BOX",)),
        (frameworks.piece("converts"), ("__nv_cvt_float_to_e8m0",), ("to_e8m0",)),
        ("|".join(sorted(frameworks.names("fails"))), ("failure", "notifyMatchFailure"), ("success",)),
        (frameworks.piece("operations"), ("torch",), ("tvm",)),
        (peers.remote_pointers(), ("nvshmem_ptr",), ("nvshmem_malloc",)),
    ],
)
def test_pieces(piece: str, yes: tuple[str, ...], no: tuple[str, ...]) -> None:
    for text in yes:
        assert re.fullmatch(piece, text), text
    for text in no:
        assert not re.fullmatch(piece, text), text


def test_namespaces_that_are_not_the_trees() -> None:
    assert {"std", "at", "torch", "thrust"} <= frameworks.names("namespaces")


def test_the_project_packaging_comes_before_frameworks() -> None:
    assert next(module for module, _, _ in frameworks.releases()) == "packaging.version"


@pytest.mark.parametrize(("variable", "refuses"), [("TORCH_CUDA_ARCH_LIST", True), ("CMAKE_CUDA_ARCHITECTURES", False)])
def test_who_refuses_family_targets(variable: str, refuses: bool) -> None:
    assert frameworks.refuses_family(variable) is refuses


@pytest.mark.parametrize("word", ["mnnvl", "deep_ep", "deepep", "nvshmem", "custom_allreduce", "symm_mem", "multimem"])
def test_what_a_file_with_an_option_has_in_it(word: str) -> None:
    assert word in peers.hints()
