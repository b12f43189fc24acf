"""What is read of a file is the same in every process: what an index keeps of one is compared with what another reads.

Sets of texts are in another order in each of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
_READS = """
import sys
from hashlib import blake2b
from bwlint.index.packed import packed
from bwlint.sources.walk import discover
from bwlint.world.collect import collect
from bwlint.readers import KINDS

for file, module in collect([one for one in discover([sys.argv[1]]).files if one.kind in KINDS], 1).modules:
    print(file.path, blake2b(packed(module)).hexdigest())
"""


def test_facts_do_not_depend_on_the_order_of_sets() -> None:
    one, another = (_read_with(seed) for seed in ("1", "2"))
    assert len(one) > 100
    assert [line for line in one if line not in another] == []


def _read_with(seed: str) -> list[str]:
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", _READS, str(FIXTURES / "leak")]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
