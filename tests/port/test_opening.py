"""How a list or a comparison is written with another generation beside it: what is proposed, and what is refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.port import port
from bwlint.port.table import PortStep

ROWS = [
    ("cap[0] in (9, 10)", "cap[0] in (9, 10, 12)"),
    ("cap[0] in [10]", "cap[0] in [10, 12]"),
    ("cap[0] == 10", "cap[0] in (10, 12)"),
    ("cap in ((9, 0), (10, 0))", "cap in ((9, 0), (10, 0), (12, 0), (12, 1))"),
    ("cap[0] * 10 + cap[1] in {100, 103}", "cap[0] * 10 + cap[1] in {100, 103, 120, 121}"),
    ('f"{cap[0]}{cap[1]}" in ("100", "103")', 'f"{cap[0]}{cap[1]}" in ("100", "103", "120", "121")'),
    ('f"sm_{cap[0]}{cap[1]}" in ["sm_100"]', 'f"sm_{cap[0]}{cap[1]}" in ["sm_100", "sm_120", "sm_121"]'),
]
BY_HAND = ["cap[0] < 11 and cap[0] >= 9", "cap[0] // 10 == 1 and cap[0] < 12"]


def step(tmp_path: Path, test: str) -> tuple[PortStep, str]:
    source = dedent(
        f"""\
        import torch
        def op(x):
            cap = torch.cuda.get_device_capability()
            if not ({test}):
                raise ValueError("not here")
            return x
        """
    )
    (tmp_path / "ops.py").write_text(source)
    (found,) = port([str(tmp_path)], "12.1", jobs=1).steps
    lines = source.splitlines()
    for edit in found.fix.edits if found.fix else ():
        line, region = lines[edit.region.line - 1], edit.region
        lines[edit.region.line - 1] = line[: region.column - 1] + edit.text + line[region.end_column - 1 :]
    return found, lines[3].strip()


@pytest.mark.parametrize(("test", "after"), ROWS)
def test_another_generation_is_written_beside(test: str, after: str, tmp_path: Path) -> None:
    found, line = step(tmp_path, test)
    assert line == f"if not ({after}):"
    assert found.fix is not None and {"12.0", "12.1"} == set(found.wanted)
    assert found.fix.applicability == "unsafe"


@pytest.mark.parametrize("test", BY_HAND)
def test_what_has_no_spelling_is_left_to_people(test: str, tmp_path: Path) -> None:
    found, line = step(tmp_path, test)
    assert found.fix is None and found.words
    assert line == f"if not ({test}):"
