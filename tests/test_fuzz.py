"""What fuzzing has found, again, and a few changed inputs; minutes of it are for outside."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("no limits on processes", allow_module_level=True)

import binary_fuzz
import fuzz
import text_fuzz
from binary_fuzz import SAMPLES, Input
from fuzz import Fuzzed, Outcome, summary

from bwlint.readers.binary import cubin

HERE = Path(__file__).parent
FOUND = sorted((HERE / "fuzzed").glob("*/*"))
"""By reader; each is called after what is wrong in it, and after what it is to be read as."""
CORPUS = (HERE.parent / "fixtures", HERE / "fuzz_corpus")
_FEW = 12


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_is_taken(tmp_path: Path, path: Path) -> None:
    name = path.stem.partition("--")[2]
    Fuzzed(path.parent.name).take(Input(name, path.read_bytes()), tmp_path, whole=True)


@pytest.mark.parametrize("reader", fuzz.READERS)
def test_changed_inputs_are_taken(tmp_path: Path, reader: str) -> None:
    fuzzed, source = Fuzzed(reader), random.Random(reader)
    samples = fuzzed.samples(*CORPUS)
    for one in source.sample(samples, min(len(samples), _FEW)):
        fuzzed.take(one, tmp_path, whole=False)
        fuzzed.take(fuzzed.changed(source, one, source.choice(samples)), tmp_path, whole=True)


@pytest.mark.parametrize("change", (text_fuzz.changed, binary_fuzz.mutated))
def test_the_same_seed_makes_the_same_changes(change: fuzz.Change) -> None:
    data = b"if(CUDA_ARCHS MATCHES 90a)\nendif()\n" * 5
    made = [change(random.Random(7), data, data) for _ in range(2)]
    assert made[0] == made[1] != data


def test_what_raises_is_found_told_once_and_made_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("as planted")

    monkeypatch.setattr(cubin, "of_elf", broken)
    outcome, fuzzed, one = Outcome("cubin"), Fuzzed("cubin"), Input("new.cubin", SAMPLES["new.cubin"])
    for name in ("new.cubin", "old.cubin"):
        outcome.add(fuzzed.wrong(Input(name, SAMPLES[name]), tmp_path, whole=False), tmp_path / name)
    (reason,) = outcome.wrong
    assert reason.startswith("ValueError at bwlint/readers/binary")
    assert len(fuzzed.smaller(one, reason, tmp_path).data) < len(one.data)


def test_what_is_slow_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    monkeypatch.setattr(text_fuzz, "read", endless)
    assert "more than 0.05 seconds" in summary(Fuzzed("python").wrong(Input("a.py", b""), tmp_path, whole=False))


def test_inputs_are_kept_in_files(tmp_path: Path) -> None:
    for name, data in SAMPLES.items():
        assert Input.of(Input(name, data).write(tmp_path)) == Input(name, data)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring")
def test_a_process_tries_inputs_and_another_counts_them(tmp_path: Path) -> None:
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, fuzz.__file__, "ptx", "--minutes", "0.05", "--out", str(tmp_path)]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "ptx" in ended.stdout and " 0 crashes" in ended.stdout
    assert any((tmp_path / "ptx" / "kept").iterdir())
