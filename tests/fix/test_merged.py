"""Places of one fault that are told as one finding: what it announces is what is written."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.fix.edited import apply
from bwlint.repair.passes import repaired
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

HEAD = "import torch\nfrom kit import attend_sm90, attend_sm80, score_sm90, score_sm80\n\n\n"
ASKS = "    arch = torch.cuda.get_device_capability()[0]\n"
FIRST = "    y = attend_sm90(x) if {} else attend_sm80(x)\n"
SECOND = "    z = score_sm90(y) if {} else score_sm80(y)\n"
BOTH = f"{HEAD}def both(x):\n{ASKS}{FIRST}{SECOND}    return z\n"
APART = f"{HEAD}def one(x):\n{ASKS}{FIRST}    return y\n\n\ndef two(y):\n{ASKS}{SECOND}    return z\n"
OPEN, BOUNDED = "arch >= 9", "9 <= arch < 12"


@pytest.mark.parametrize(
    ("source", "tests", "edits"),
    [
        (BOTH, (OPEN, OPEN), [2]),
        (BOTH, (OPEN, BOUNDED), [1]),
        (BOTH, (BOUNDED, OPEN), [1]),
        (BOTH, ("arch > 8", OPEN), [1, 1]),
        (APART, (OPEN, OPEN), [1, 1]),
        (BOTH, (BOUNDED, BOUNDED), []),
    ],
)
def test_what_is_announced_is_written(tmp_path: Path, source: str, tests: tuple[str, str], edits: list[int]) -> None:
    path, text = tmp_path / "run.py", source.format(*tests)
    path.write_text(text)
    request = CheckRequest((str(path),), ("sm_120", "sm_121"), ("leak",), fixes=True)
    with ExitStack() as stack:
        fixes = [one.fix for one in check(request, stack).report.findings if one.fix is not None]
    assert sorted(len(fix.edits) for fix in fixes) == edits
    with ExitStack() as stack:
        made = repaired(request, stack, unsafe=True)
        assert len(made.done) == len(edits)
        written = [one.current for one in made.changed]
    assert written == [apply(text, [edit for fix in fixes for edit in fix.edits])] * bool(edits)
