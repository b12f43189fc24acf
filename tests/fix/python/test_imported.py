"""Flags that an import alone sets: they ask for the chip too, where torch is at hand."""

from __future__ import annotations

import pytest

from .conftest import Project

TRY = """try:
    import {library}

    HAS_IT = True
except ImportError:
    HAS_IT = False


def run(a, b, c):
    if HAS_IT:
        return {library}.{function}(a, b, c)
    return torch.nn.functional.scaled_dot_product_attention(a, b, c)
"""
FA3 = TRY.format(library="flash_attn_interface", function="flash_attn_func")
GEMM = TRY.format(library="deep_gemm", function="fp8_gemm_nt")
NESTED = FA3.replace(
    "    HAS_IT = False",
    """    from flash_attn import flash_attn_func

    HAS_IT = False""",
).replace("torch.nn.functional.scaled_dot_product_attention", "flash_attn_func")
ASKED = "torch.cuda.is_available() and torch.cuda.get_device_capability()[0] in "


@pytest.mark.parametrize(
    ("source", "flag"),
    [
        pytest.param(f"import torch\n\n{FA3}", f"{ASKED}(8, 9)", id="8.x and 9.0"),
        pytest.param(f"import torch\n\n{GEMM}", f"{ASKED}(9, 10)", id="9.0 and 10.x"),
        pytest.param(f"{FA3}\nimport torch\n", None, id="torch comes later"),
        pytest.param(
            f"import torch\n\n{NESTED}", None, id="what is used instead is imported only where this one fails"
        ),
        pytest.param(f"import torch as th\n\n{FA3}", None, id="torch has another name"),
    ],
)
def test_the_chip_is_asked_too(project: Project, source: str, flag: str | None) -> None:
    found = [(how, _plain(text)) for how, text in project({"m.py": source}).fixes("leak")]
    fixed = source.replace("HAS_IT = True", f"HAS_IT = {flag}")
    assert found == ([("unsafe", _plain(fixed))] if flag is not None else [])


HELPER = """import torch


def is_flash3_available():
    try:
        from flash_attn_interface import flash_attn_func

        return True
    except ImportError:
        return False


def run(a, b, c):
    if is_flash3_available():
        from flash_attn_interface import flash_attn_func

        return flash_attn_func(a, b, c)
    return torch.nn.functional.scaled_dot_product_attention(a, b, c)
"""


def test_a_helper_that_answers_by_an_import(project: Project) -> None:
    fixed = HELPER.replace("return True", f"return {ASKED}(8, 9)")
    assert [_plain(text) for _, text in project({"m.py": HELPER}).fixes("leak")] == [_plain(fixed)]
    assert not project({"m.py": fixed}).findings


def _plain(text: str) -> str:
    """A text however it is laid out."""
    return "".join(text.split()).replace(",)", ")")


@pytest.mark.parametrize(
    "source",
    [
        "import torch\n\ntry:\n    import deep_gemm\nexcept ImportError:\n    deep_gemm = None\n\n\ndef run(a, b, c):\n"
        "    if deep_gemm:\n        deep_gemm.fp8_gemm_nt(a, b, c)\n    else:\n        torch._scaled_mm(a, b)\n",
        "import torch\n\ntry:\n    from flash_attn_interface import flash_attn_func\n"
        "except ImportError:\n    from flash_attn import flash_attn_func\n",
    ],
)
def test_what_is_no_flag_is_left_to_a_person(project: Project, source: str) -> None:
    checked = project({"m.py": source})
    assert checked.fixes("leak") == []
    assert [one.fix_refused for one in checked.findings] == [
        "no flag says whether it is used: put the import under a check of the compute capability"
    ]
