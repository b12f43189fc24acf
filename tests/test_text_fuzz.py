"""What the fuzzer of text has found, again, and a few changes of the fixtures; minutes of it are for outside."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("no alarms", allow_module_level=True)

import text_fuzz
from text_fuzz import changed, take

FUZZED = sorted((Path(__file__).parent / "fuzzed").iterdir())
"""Each is called after what is wrong in it, and after what it is to be read as."""
FIXTURES = Path(__file__).parents[1] / "fixtures"
_FEW = 12
NAMES = {
    "*.py": "a.py",
    "*.cu": "a.cu",
    "*.ptx": "a.ptx",
    "CMakeLists.txt": "CMakeLists.txt",
    "setup.py": "setup.py",
    "*.sh": "a.sh",
    "*.yml": "a.yml",
    "*.json": "a.json",
    "*.toml": "pyproject.toml",
}


@pytest.mark.parametrize("path", FUZZED, ids=lambda path: path.stem)
def test_what_was_found_is_taken(tmp_path: Path, path: Path) -> None:
    take(path.stem.partition("--")[2], path.read_bytes(), tmp_path)


@pytest.mark.parametrize("pattern", NAMES)
def test_changed_fixtures_are_taken(tmp_path: Path, pattern: str) -> None:
    files = [path for path in sorted(FIXTURES.rglob(pattern)) if path.stat().st_size < text_fuzz.LARGEST]
    source = random.Random(pattern)
    samples = [path.read_bytes() for path in source.sample(files, min(len(files), _FEW))]
    for data in samples:
        take(NAMES[pattern], changed(source, data, source.choice(samples)), tmp_path)


def test_the_same_seed_makes_the_same_changes() -> None:
    data = b"if(CUDA_ARCHS MATCHES 90a)\nendif()\n" * 5
    made = [changed(random.Random(7), data, data) for _ in range(2)]
    assert made[0] == made[1] != data


def test_what_is_slow_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(text_fuzz, "SECONDS", 1)
    monkeypatch.setattr(text_fuzz, "check", endless)
    with pytest.raises(TimeoutError, match="more than 1 seconds"):
        take("a.py", b"x = 1", tmp_path)
