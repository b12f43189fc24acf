"""A few inputs of the fuzzer in the test run; ten minutes of it are for outside."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bwlint.readers.binary import cubin

if sys.platform == "win32":
    pytest.skip("no limits on processes", allow_module_level=True)

import binary_fuzz
from binary_fuzz import SAMPLES, Input, Outcome, Tracer, examined, mutated


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, binary_fuzz._alarm)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_new_and_right(tmp_path: Path, name: str) -> None:
    assert examined(Input(name, SAMPLES[name]), tmp_path, Tracer()) == (True, "")


def test_nothing_is_new_twice(tmp_path: Path) -> None:
    one, tracer = Input("new.cubin", SAMPLES["new.cubin"]), Tracer()
    assert [examined(one, tmp_path, tracer)[0] for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("seed", range(4))
def test_changed_samples_are_taken(tmp_path: Path, seed: int) -> None:
    source, tracer = random.Random(seed), Tracer()
    names = list(SAMPLES)
    for _ in range(60):
        name, other = source.choice(names), source.choice(names)
        one = Input(name, mutated(source, SAMPLES[name], SAMPLES[other]))
        _, wrong = examined(one, tmp_path, tracer)
        assert wrong == "", one.write(tmp_path)


def test_the_same_seed_makes_the_same_changes() -> None:
    data = SAMPLES["rdc.so"]
    made = [mutated(random.Random(7), data, data) for _ in range(2)]
    assert made[0] == made[1] != data


def test_what_raises_is_found_and_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("as planted")

    monkeypatch.setattr(cubin, "of_elf", broken)
    outcome = Outcome()
    for name in ("new.cubin", "old.cubin"):
        _, wrong = examined(Input(name, SAMPLES[name]), tmp_path, Tracer())
        outcome.wrong.setdefault(binary_fuzz._summary(wrong), name)
    assert len(outcome.wrong) == 1
    assert "ValueError: as planted" in next(iter(outcome.wrong))


def test_what_is_slow_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(binary_fuzz, "SECONDS", 0.05)
    monkeypatch.setattr(cubin, "of_elf", endless)
    _, wrong = examined(Input("new.cubin", SAMPLES["new.cubin"]), tmp_path, Tracer())
    assert wrong == "more than 0.05 seconds"


def test_inputs_are_kept_in_files(tmp_path: Path) -> None:
    for name, data in SAMPLES.items():
        assert Input.of(Input(name, data).write(tmp_path)) == Input(name, data)
