"""What stands behind a string that an arm chooses."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.choices import behind

CHOSEN = 1


@pytest.mark.parametrize(
    ("below", "reached"),
    [
        ("if kind == 'fast':\n    fast()\nelse:\n    slow()", ["fast()"]),
        ("if kind == 'slow':\n    slow()\nelif kind == 'fast':\n    fast()", ["fast()"]),
        ("if kind != 'fast':\n    slow()\nelse:\n    fast()", ["fast()"]),
        ("if kind != 'fast':\n    return slow()\nfast()", ["fast()"]),
        ("if kind in ('fast', 'other'):\n    fast()", ["fast()"]),
        ("assert kind == 'fast'\nfast()", ["fast()"]),
        ("with torch.no_grad():\n    if kind == 'fast':\n        fast()", ["fast()"]),
        ("kind = 'slow'\nif kind == 'fast':\n    fast()", []),
        ("if kind == 'fast' and rows:\n    fast()", []),
        ("if other == 'fast':\n    fast()", []),
        ("if rows:\n    if kind == 'fast':\n        fast()", []),
    ],
)
def test_what_is_done_for_the_string(below: str, reached: list[str]) -> None:
    body = ast.parse(f"kind = 'fast'\n{below}").body
    blocks = behind(body, "kind", "fast", CHOSEN)
    found = [ast.unparse(one) for block in blocks for one in block if isinstance(one, ast.Expr)]
    assert found == reached
