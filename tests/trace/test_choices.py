"""What was asked for beside what ran."""

from __future__ import annotations

import pytest

from bwlint.trace.choices import choices, requested
from bwlint.trace.receipt import KernelLaunch, Process, TracedDevice

FLASH = "_ZN5flash16flash_fwd_kernelI1XEEv"
FLASHINFER = "_ZN10flashinfer33BatchDecodeWithPagedKVCacheKernelILi1EEEv"
MLA = "_Z28flash_fwd_splitkv_mla_kernelv"
GEMM = "nvjet_sm90_tst"


def process(*kernels: str, capability: str = "12.0") -> Process:
    shape = (1, 1, 1)
    launches = tuple(KernelLaunch(kernel, 0, shape, shape, (0, 0, 0), 0, 0, 1, False, 1, 1) for kernel in kernels)
    devices = (TracedDevice(0, "GPU", capability),)
    return Process(1, 0, "", (), 1, True, 1, 0, 0, devices, launches, (), (), (), {}, ())


@pytest.mark.parametrize(
    ("words", "variables", "found"),
    [
        (["--attention-backend=FLASHINFER"], {}, [("--attention-backend", "FLASHINFER")]),
        (["--attention-backend", "flashmla"], {}, [("--attention-backend", "flashmla")]),
        (["--moe_backend", "triton"], {}, [("--moe_backend", "triton")]),
        ([], {"VLLM_ATTENTION_BACKEND": "TRITON_ATTN"}, [("VLLM_ATTENTION_BACKEND", "TRITON_ATTN")]),
        (["--attention-backend", "auto"], {"MOE_BACKEND": ""}, []),
        (["--attention-backend", "--port", "80"], {}, []),
        (["--attention-backend"], {}, []),
        (["attention-backend=fa3", "--port", "80", "--model", "flashinfer"], {"PATH": "/x"}, []),
    ],
)
def test_what_names_a_backend(words: list[str], variables: dict[str, str], found: list[tuple[str, str]]) -> None:
    assert list(requested(["serve", *words], variables)) == found


@pytest.mark.parametrize(
    ("value", "kernels", "capability", "outcome", "eligible"),
    [
        ("FLASHINFER", [FLASHINFER, GEMM], "12.0", "executed", None),
        ("FLASHINFER", [FLASHINFER, FLASH], "12.0", "executed", None),
        ("FLASHINFER", [FLASH, GEMM], "12.0", "replaced", None),
        ("FLASHINFER", [GEMM], "12.0", "not executed", None),
        ("FLASH_ATTN", [MLA], "9.0", "replaced", None),
        ("FLASHMLA", [MLA], "9.0", "executed", True),
        ("FLASHMLA", [FLASH], "9.0", "replaced", True),
        ("FLASHMLA", [FLASH], "12.1", "replaced", False),
        ("FLASHMLA", [], "12.1", "not executed", None),
        ("TOKENSPEED_MLA", [FLASH], "12.0", "replaced", False),
        ("TOKENSPEED_MLA", [FLASH], "10.0", "not known", True),
        ("OF_OUR_OWN", [FLASH], "12.0", "not known", None),
    ],
)
def test_what_became_of_it(
    value: str, kernels: list[str], capability: str, outcome: str, eligible: bool | None
) -> None:
    (choice,) = choices([("VLLM_ATTENTION_BACKEND", value)], [process(*kernels, capability=capability)])
    assert (choice.outcome, choice.eligible) == (outcome, eligible)
    assert bool(choice.executed) == (outcome == "executed")
    assert not (choice.executed and choice.instead)
