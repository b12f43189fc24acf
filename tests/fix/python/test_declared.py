"""Requirements that declare the oldest capability alone: the newest is declared too, where somebody takes it."""

from __future__ import annotations

import pytest

from .conftest import Project

HEAD = """from dataclasses import dataclass
from flashinfer.prefill import trtllm_batch_context_with_kv_cache


def register(name, *, needs):
    return lambda run: run


"""
OBJECT = """@dataclass(frozen=True)
class Arch:
    major: int
    minor: int


"""
RUN = "def run(q, kv):\n    return trtllm_batch_context_with_kv_cache(q, kv)\n"


def _needs(*fields: str) -> str:
    return "@dataclass(frozen=True)\nclass Needs:\n" + "".join(f"    {one}: object = None\n" for one in fields) + "\n\n"


def _both(kind: str) -> str:
    return _needs(f"min_{kind}", f"max_{kind}")


@pytest.mark.parametrize(
    ("classes", "before", "after"),
    [
        (_both("sm"), "Needs(min_sm=100)", "Needs(min_sm=100, max_sm=107)"),
        (_both("cc"), "Needs(min_cc=(10, 0))", "Needs(min_cc=(10, 0), max_cc=(10, 7))"),
        (
            OBJECT + _both("arch_version"),
            "Needs(min_arch_version=Arch(10, 0))",
            "Needs(min_arch_version=Arch(10, 0), max_arch_version=Arch(10, 7))",
        ),
        (
            OBJECT + _both("arch"),
            "Needs(\n    min_arch=Arch(major=10, minor=0),\n)",
            "Needs(\n    min_arch=Arch(major=10, minor=0),\n    max_arch=Arch(major=10, minor=7),\n)",
        ),
        (
            _both("sm"),
            "Needs(\n        min_sm=100,\n    )",
            "Needs(\n        min_sm=100,\n        max_sm=107,\n    )",
        ),
        pytest.param(_needs("min_sm"), "Needs(min_sm=100)", None, id="takes no newest one"),
        pytest.param(_both("sm"), "Needs(min_sm=100, max_sm=999)", None, id="says that there is none"),
        pytest.param(_both("sm"), "Needs(**{'min_sm': 100})", None, id="is given what nobody reads"),
    ],
)
def test_the_newest_is_declared(project: Project, classes: str, before: str, after: str | None) -> None:
    head = f"{HEAD}{classes}"
    source = f'{head}@register("x", needs={before})\n{RUN}'
    fixed = [("unsafe", f'{head}@register("x", needs={after})\n{RUN}')] if after is not None else []
    assert project({"m.py": source}).fixes("leak") == fixed
