"""Lists of modules that a build asks for by flags: what else one more flag would let in."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.judging.drafts import Remedy

LISTS = """from .generators import gen_plain, gen_router, gen_router_sm120


def build(specs, has_sm120, has_sm121):
    if has_sm120:
        specs += [{modules}]
    return has_sm121
"""
GENERATORS = """def gen_router():
    return spec("router", context.nvcc_flags(supported_major_versions=[12]))


def gen_router_sm120():
    return spec("router", flags_of_one_chip)


def gen_plain():
    return spec("plain", flags_of_one_chip)
"""


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ("gen_router()", [None]),
        ("gen_router(), gen_plain()", [None]),
        ("gen_router(), gen_router_sm120()", ["`gen_router_sm120` is let in too, and is made for its own chip"]),
        ("gen_router_sm120()", []),
    ],
)
def test_what_is_let_in_too(tmp_path: Path, modules: str, expected: list[str | None]) -> None:
    files = {
        "kit/__init__.py": "",
        "kit/lists.py": LISTS.format(modules=modules),
        "kit/generators.py": GENERATORS,
    }
    found = [draft.remedy for draft in drafts(tmp_path, files, "arch-target")]
    assert [remedy.unsafe for remedy in found if isinstance(remedy, Remedy)] == expected
