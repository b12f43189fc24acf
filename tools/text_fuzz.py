"""Coverage-guided fuzzing of the readers of text and of all behind them, for outside CI (needs `pip install atheris`).

    python tools/text_fuzz.py NAME FOLDER [--seconds N] [--found FOLDER] [--seed N]

NAME says by its form what the inputs are (a.py, a.cu, a.ptx, CMakeLists.txt, Makefile, setup.py, pyproject.toml,
a.json); FOLDER holds real ones. They are changed at random, and what reaches new code is kept and changed further. Each
goes through a whole check with proposed fixes; what raises, takes longer than `SECONDS` or makes a report that is no
JSON ends the run, and lies under --found.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from bwlint.report import Setting, json_report
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError

SECONDS = 60
LARGEST = 16 * 1024
_MEBIBYTES = 2048
_TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
WORDS = tuple(
    rb"""( ) [ ] { } < > , ; : = == != >= < not and or ! && || if( elseif( else() endif() #if #elif #else #endif #define
    __CUDA_ARCH__ 1000 1200 1210 120a 12.0a sm_120 sm_100a compute_120 get_device_capability() (10,0) (12,0)
    template<int\ N> <<< >>> ${X} $(X) ${X${X}} \\ ' " \""" ' ''' """.replace(rb"\ ", b"\0").split()
)
_NESTING = (b"(", b"[", b"{", b"-", b"not ", b"if(1)\n", b"#if 1\n", b"a.", b"a<", b"x=", b"f(", b"a+", b"${", b"$(")

if sys.platform != "win32":

    def _alarm(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")


def take(name: str, data: bytes, folder: Path) -> None:
    """Check one input as standard input under a name in an empty folder; raises what it must not raise."""
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(SECONDS)
    try:
        with ExitStack() as stack:
            outcome = check(CheckRequest((str(folder / name),), stdin=data, severity="note", fixes=True), stack)
        json.loads(json_report.render(outcome.report, Setting()))
    except UsageError:
        return
    finally:
        signal.alarm(0)


def changed(source: random.Random, data: bytes, other: bytes) -> bytes:
    """The same with one to five changes by tokens and lines; `other` lends pieces."""
    made = _TOKEN.findall(data)
    for _ in range(source.choice((1, 1, 2, 3, 5))):
        source.choice(CHANGES)(source, made, other)
    return b"".join(made)[:LARGEST]


def _place(source: random.Random, made: Sequence[bytes]) -> int:
    return source.randint(0, len(made))


def _delete(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    del made[at : at + source.choice((1, 1, 3, 10, 50))]


def _swap(source: random.Random, made: list[bytes], _: bytes) -> None:
    if made:
        one, two = source.randrange(len(made)), source.randrange(len(made))
        made[one], made[two] = made[two], made[one]


def _repeat(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    made[at:at] = made[at : at + source.choice((1, 2, 5, 20, 60))] * source.choice((1, 1, 2, 30, 300))


def _word(source: random.Random, made: list[bytes], _: bytes) -> None:
    at = _place(source, made)
    made[at : at + source.choice((0, 1))] = [source.choice(WORDS).replace(b"\0", b" ")]


def _nest(source: random.Random, made: list[bytes], _: bytes) -> None:
    made.insert(_place(source, made), source.choice(_NESTING) * source.choice((2, 20, 200, 2000)))


def _byte(source: random.Random, made: list[bytes], _: bytes) -> None:
    made.insert(_place(source, made), bytes([source.randrange(256)]))


def _splice(source: random.Random, made: list[bytes], other: bytes) -> None:
    lent = _TOKEN.findall(other)
    start, at = _place(source, lent), _place(source, made)
    made[at:at] = lent[start : start + source.choice((3, 10, 50, 300))]


def _cut(source: random.Random, made: list[bytes], _: bytes) -> None:
    del made[_place(source, made) :]


CHANGES: Sequence[Callable[[random.Random, list[bytes], bytes], None]] = (
    *(_delete, _swap, _repeat, _word, _word, _nest, _byte, _splice, _splice, _cut),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=120)
    parser.add_argument("--found", type=Path, help="a folder for what goes wrong")
    options = parser.parse_args()
    import atheris

    found = options.found or Path(tempfile.mkdtemp(prefix="text-fuzz-"))
    scratch = Path(tempfile.mkdtemp(prefix="text-fuzz-empty-"))
    samples = [path.read_bytes() for path in sorted(options.folder.iterdir())]

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        source = random.Random(seed)
        made = atheris.Mutate(data, most) if source.random() < 0.2 else changed(source, data, source.choice(samples))
        return bytes(made[:most])

    for one in samples:  # much is loaded when it is first asked for, and only what is loaded gets instrumented
        take(options.name, one, scratch)
    atheris.instrument_all()
    limits = [f"-max_total_time={options.seconds}", f"-max_len={LARGEST}", f"-seed={options.seed}"]
    limits += [f"-rss_limit_mb={_MEBIBYTES}", f"-timeout={2 * SECONDS}", f"-artifact_prefix={found}/"]
    kept = Path(tempfile.mkdtemp(prefix="text-fuzz-kept-"))
    arguments = [sys.argv[0], *limits, str(kept), str(options.folder)]
    atheris.Setup(arguments, lambda data: take(options.name, data, scratch), custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
