"""Some kills and some runs at once; the many are for `tools/fix_stress.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("no fork", allow_module_level=True)

import fix_stress

from bwlint.sources import held


def test_no_file_is_torn_and_no_word_untrue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_SECONDS", 60)
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    seen = fix_stress.stressed(tmp_path, 16, 6, 1)
    assert fix_stress.faults(seen) == []
    assert sum(seen.values()) >= 22
