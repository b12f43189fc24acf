"""Kernels of Triton of a tree, compiled for chips that are not there, beside the bytes that the reader finds.

Every kernel is cut out and compiled as `bwlint confirm` does it, in the child that is shut in, and its PTX goes through
ptxas. What nothing in reach gives a value is filled in (FILLED), for reader and compiler alike: this measures the
reader, and says nothing of the tree. Run by a Python that has Triton:

    PYTHONPATH=src python tools/triton_agreement.py OUT.json TREE... [--most N] [--products]
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bwlint.chips import chip
from bwlint.confirm.machine import find
from bwlint.confirm.slicing.modules import File, home_of
from bwlint.confirm.triton.attempt import assemble, compile_kernel, cut_kernel, missing
from bwlint.confirm.triton.signature import inferred
from bwlint.confirm.workbench import Workbench
from bwlint.readers.python.blocks import DEFAULT_STAGES, DEFAULT_WARPS
from bwlint.readers.python.least import Function
from bwlint.readers.python.triton import Taking, bits_of, jitted, least_bytes, takings

CHIPS = ("12.0", "12.1", "10.0", "9.0")
FILLED = 64
SIZE = 4096
"""A size of the problem, which is no block's."""
LIMIT = 60.0


@dataclass(slots=True)
class Row:
    """A kernel: what it was compiled for, the bytes that the reader finds at least (0: it says nothing), by chip those
    that Triton takes, and what ptxas says ("" where it takes it)."""

    path: str
    kernel: str
    signature: dict[str, object] = field(default_factory=dict)
    filled: list[str] = field(default_factory=list)
    options: dict[str, int] = field(default_factory=dict)
    reader: int = 0
    triton: dict[str, list[int]] = field(default_factory=dict)
    ptxas: dict[str, str] = field(default_factory=dict)
    failed: str = ""


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("out", type=Path)
    given.add_argument("trees", type=Path, nargs="+")
    given.add_argument("--most", type=int, default=1000)
    given.add_argument("--products", action="store_true", help="only kernels that multiply blocks")
    asked = given.parse_args()
    why = missing(tuple(map(str, asked.trees)))
    if why is not None:
        sys.exit(why)
    rows: list[Row] = []
    version = ""
    with tempfile.TemporaryDirectory() as scratch:
        world = Workbench(Path(scratch), find({}, [str(one) for one in asked.trees], Path(scratch)))
        for tree in asked.trees:
            for path, home, kernel in list(_kernels(tree, asked.products))[: asked.most]:
                for taking in _ends(home, kernel):
                    row = Row(str(path.relative_to(tree.parent)), kernel.name)
                    version = _measure(row, path, home, taking, world) or version
                    rows.append(row)
                    print(row.path, row.kernel, row.failed or row.triton, row.reader, flush=True)
                    asked.out.write_text(json.dumps(_report(rows, version, world), indent=1) + "\n")
    print(json.dumps(_summary(rows), indent=1))
    return 0


def _kernels(tree: Path, products: bool) -> Iterator[tuple[Path, File, Function]]:
    """Kernels that store something and that no other of their file calls."""
    for path in sorted(tree.rglob("*.py")):
        text = path.read_text(errors="replace")
        home = home_of(str(path)) if "triton.jit" in text and (".dot(" in text or not products) else "no kernel"
        if isinstance(home, str):
            continue
        functions = jitted(home.tree)
        called = {word.id for one in functions.values() for word in ast.walk(one) if isinstance(word, ast.Name)}
        for name, one in functions.items():
            source = ast.unparse(one)
            if name not in called and ".store(" in source and (not products or ".dot(" in source):
                yield path, home, one


def _ends(home: File, kernel: Function) -> list[Taking]:
    """The smallest and the largest that a kernel is launched with."""
    found = sorted(takings(home.tree, kernel.name), key=lambda one: one.size)
    if not found:
        return [Taking(kernel, None, None, {}, {}, DEFAULT_STAGES, DEFAULT_WARPS, 0, None)]
    return [found[0]] if found[0].size == found[-1].size else [found[0], found[-1]]


def _measure(row: Row, path: Path, home: File, taking: Taking, world: Workbench) -> str:
    kernel = taking.kernel
    slice_ = cut_kernel(str(path), home, kernel.name)
    signature = inferred(home.tree, slice_.helpers, taking, bits_of(kernel), _filled)
    if isinstance(signature, str):
        row.failed = signature
        return ""
    signature.values |= dict.fromkeys(signature.open, False)
    signature.open.clear()
    row.signature = signature.told()
    row.filled = [name for name, source in signature.sources.items() if source == "filled in"]
    row.options = {"num_warps": taking.warps or DEFAULT_WARPS, "num_stages": taking.stages}
    numbers = {name: value for name, value in signature.values.items() if isinstance(value, int)}
    if taking.launch is not None:  # of what is not launched in its file, the reader says nothing, nor do strides
        row.reader = least_bytes(home.tree, kernel.name, numbers, taking.stages)
    ran = compile_kernel(slice_, signature, row.options, [chip(name) for name in CHIPS], world.scratch, LIMIT)
    if ran.trouble or ran.refused:
        row.failed = ran.trouble or ran.refused
    for name, made in ran.made.items():
        row.failed = row.failed or next((f"{name}: {one.error}" for one in made if one.error), "")
        row.triton[name] = [one.shared for one in made]
        if world.toolkits and not row.failed:
            done, target = assemble(made[0], world, world.toolkits[0])
            row.ptxas[name] = "" if done.path is not None else f"{target}: {done.first_error or done.trouble}"
    return ran.version


def _filled(name: str) -> object:
    """A value for a constant of which nothing is known, by what its name says it is."""
    lowered = name.lower()
    if lowered.endswith("type"):
        return {"dtype": "fp16"}
    if "precision" in lowered:
        return "ieee"
    if lowered in ("m", "n", "k", "size_m", "size_n", "size_k", "n_ctx", "seqlen", "group_k", "group_n"):
        return SIZE
    return 0 if lowered.startswith(("use_", "has_", "is_", "sliding")) else FILLED


def _summary(rows: list[Row]) -> dict[str, object]:
    made = [one for one in rows if not one.failed]
    told = [one for one in made if one.reader]
    ratios = [(f"{one.path} {one.kernel}", one.reader / max(one.triton["12.0"][0], 1)) for one in told]
    return {
        "kernels": len(rows),
        "compiled for all chips": len(made),
        "kernels among them": len({(one.path, one.kernel) for one in made}),
        "ptxas takes it for all chips": sum(not any(one.ptxas.values()) for one in made),
        "failed": dict(Counter(one.failed.partition("`")[0][:100] for one in rows if one.failed).most_common()),
        "bytes told by the reader": len(told),
        "within 5 %": sum(0.95 <= ratio <= 1.0 for _, ratio in ratios),
        "lower bounds by more": sum(ratio < 0.95 for _, ratio in ratios),
        "over": [name for name, ratio in ratios if ratio > 1.0],
    }


def _report(rows: list[Row], version: str, world: Workbench) -> dict[str, object]:
    toolkit = world.toolkits[0].version if world.toolkits else ""
    return {"triton": version, "ptxas": toolkit, "summary": _summary(rows), "kernels": [asdict(one) for one in rows]}


if __name__ == "__main__":
    raise SystemExit(main())
