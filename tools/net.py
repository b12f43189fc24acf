"""The net under a change of the engine: what `check` and `audit` say of whole trees, before and after.

    python tools/net.py keep before.json TREE...     # with the code as it was
    python tools/net.py compare before.json          # with the code as it is: the same trees again

Findings and questions of every severity are compared whole, but for offered fixes. It ends with 1 where anything
differs, and prints the CPU seconds (one process) and the peak of memory of each tree. Keep and compare with one version
of Python: before 3.12 the parts of an f-string have no places of their own.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import resource
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

TARGETS = ("sm_120", "sm_121")
_NOT_COMPARED = ("fix", "fix_refused", "untried")
_SHOWN = 3


def lines(tree: str) -> dict[str, Any]:
    """What is said of a tree, as sorted lines of JSON, and what it cost."""
    from bwlint.run.check import check
    from bwlint.run.request import CheckRequest

    gc.disable()  # as the command does
    start = time.process_time()
    with ExitStack() as stack:
        outcome = check(CheckRequest((tree,), TARGETS, jobs=1), stack)
    took = time.process_time() - start
    said = sorted(map(_line, (*outcome.report.findings, *outcome.rows, *outcome.report.skipped)))
    return {"lines": said, "seconds": took, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def _line(thing: Any) -> str:
    told = {name: value for name, value in asdict(thing).items() if name not in _NOT_COMPARED}
    return json.dumps(told, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


def _of_trees(trees: list[str]) -> dict[str, dict[str, Any]]:
    """Each in a process of its own, so that memory is told apart."""
    context = multiprocessing.get_context("spawn")
    found = {}
    for tree in trees:
        with context.Pool(1) as pool:
            found[tree] = pool.apply(lines, (tree,))
        print(f"{tree}: {found[tree]['seconds']:.1f} s, {found[tree]['mib']} MiB", file=sys.stderr, flush=True)
    return found


def differences(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[str]:
    """What is gone and what has come, as lines for people."""
    told = []
    for tree, known in before.items():
        old, new = Counter(known["lines"]), Counter(after[tree]["lines"])
        for sign, some in (("-", old - new), ("+", new - old)):
            told += [f"{sign} {tree}: {line[:400]}" for line in list(some)[:_SHOWN]]
            told += [f"{sign} {tree}: and {len(some) - _SHOWN} more"] if len(some) > _SHOWN else []
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("keep", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("trees", nargs="*")
    options = parser.parse_args()
    if options.what == "keep":
        options.file.write_text(json.dumps(_of_trees(options.trees)))
        return 0
    before = json.loads(options.file.read_text())
    told = differences(before, _of_trees(options.trees or list(before)))
    print("\n".join(told) or "equal")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
