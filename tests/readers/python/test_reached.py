from __future__ import annotations

import pytest

from bwlint.readers import ReadError
from bwlint.readers.python.reached import branches

ROWS = [
    ('if name == "x":\n    a()\n    b()\n', [2]),
    ('if "x" in names:\n    a()\n', [2]),
    ('if name in ("y", "x"):\n    a()\n', [2]),
    ('if ready and name == "x":\n    a()\nelif name == "y":\n    b()\n', [2]),
    ('if name == "y":\n    a()\nelif name == "x":\n    b()\n', [4]),
    ('if name != "x":\n    a()\n', []),
    ('if name not in ("x",):\n    a()\n', []),
    ('if name == "xy":\n    a()\n', []),
    ('if x:\n    a("x")\n', []),
]


@pytest.mark.parametrize(("source", "lines"), ROWS)
def test_the_code_behind_a_name(source: str, lines: list[int]) -> None:
    assert [at.line for at in branches(source, "x")] == lines


def test_what_is_no_python() -> None:
    with pytest.raises(ReadError):
        list(branches("if (", "x"))
