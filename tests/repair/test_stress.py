"""Some kills and some runs at once; the many are for `tools/fix_stress.py`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from processes import begun

if sys.platform == "win32":
    pytest.skip("no fork", allow_module_level=True)

import fix_stress

STRESSED = """
import json, sys
from pathlib import Path
import fix_stress
from bwlint.sources import held
held._SECONDS = 60
print(json.dumps(fix_stress.stressed(Path(sys.argv[1]), 16, 6, 1)))
"""


def test_no_file_is_torn_and_no_word_untrue(tmp_path: Path) -> None:
    """In a process of its own: it forks at every step, and a process that ran tests before is slow to copy."""
    folders = (Path(fix_stress.__file__).parent, Path(__file__).parents[2] / "src")
    out, errors = begun(STRESSED, str(tmp_path), PYTHONPATH=os.pathsep.join(map(str, folders))).communicate(timeout=300)
    seen = json.loads(out or errors)
    assert fix_stress.faults(seen) == []
    assert sum(seen.values()) >= 22
