"""bwlint beside other programs, on the same trees and in turns.

    python benchmarks/speed.py vllm=TREE [flashinfer=TREE...] [--binary moe=FILE.so] [--beside 444f881=CHECKOUT]

TREE is a folder or a wheel; it is copied, nothing is written to it. On each: bwlint without an index, with one that
knows the tree, with one that knows all but one file; ruff with the tree's own configuration; semgrep with three rules
that ask what bwlint's ask (benchmarks/semgrep); ripgrep for the words by which bwlint finds the files that matter;
the checkouts given with --beside. On the first tree also: a hook on five files, and 1/8, 1/4 and 1/2 of the tree. On
each binary `bwlint inspect` and cuobjdump. Ratios are of runs in the same round; memory is the highest sum of the
proportional set sizes (PSS) of all processes. Every run is in OUT/speed.json, the plot in OUT/speed.svg. A program that
is not there is left out, and it is said so. Linux only.
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path

from timing import contestants as programs
from timing.contestants import Bwlint
from timing.figures import Group, Ratio, Results, Timing, as_json, difference, from_json, ratio, table
from timing.plot import plot
from timing.process import Failed, run
from timing.tools import Absent, Tool, checkout, found, machine
from timing.trees import Copy, copied, five, portion

HERE = Path(__file__).resolve().parents[1]
OTHERS = {"ruff": "ruff", "semgrep": "semgrep", "ripgrep": "rg"}
LEFT_OUT = ("hook", "growth", *OTHERS)
EIGHTHS = (1, 2, 4)
Named = tuple[str, Path]


@dataclass(frozen=True)
class Session:
    """What all measurements of a run share."""

    rounds: int
    beside_rounds: int
    without: frozenset[str]
    scratch: Path
    beside: tuple[Named, ...]
    tools: tuple[Tool | Absent, ...]
    cuobjdump: Tool | Absent

    def bwlint(self, of: Path = HERE) -> Bwlint:
        return Bwlint(of, self.scratch / "index")


def named(text: str) -> Named:
    """`NAME=PATH`, or a path that is called by its last part."""
    name, equals, path = text.partition("=")
    place = Path(path if equals else text).resolve()
    if not place.exists():
        raise argparse.ArgumentTypeError(f"{place} does not exist")
    return (name if equals else place.name), place


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=named, metavar="NAME=TREE")
    parser.add_argument("--binary", action="append", default=[], type=named, metavar="NAME=FILE", help="a library")
    parser.add_argument("--beside", action="append", default=[], type=named, metavar="NAME=CHECKOUT", help="of bwlint")
    parser.add_argument("--runs", type=int, default=5, help="rounds; the median counts (default: 5)")
    parser.add_argument("--beside-runs", type=int, metavar="N", help="rounds of the other checkouts (default: as many)")
    parser.add_argument("--without", action="append", default=[], choices=LEFT_OUT, help="leave out a part")
    parser.add_argument("--tools", action="append", default=[], type=Path, metavar="FOLDER", help="where programs lie")
    parser.add_argument("--out", type=Path, default=HERE / "benchmarks/results")
    parser.add_argument("--plot", action="store_true", help="draw what is in OUT again; measure nothing")
    return parser.parse_args(given)


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def of_tree(session: Session, copy: Copy, *, is_first: bool) -> Iterator[Group]:
    """What is measured on one tree."""
    edited = five(copy)
    here = session.bwlint()
    parts = portioned(session, copy) if is_first and "growth" not in session.without else []
    tell(f"{copy.name}: {len(copy.files)} files; an index is filled")
    run(programs.checking("."), copy.folder, here.environment)
    entries = [
        *(programs.cold(here, part, part.name) for part in parts),
        programs.cold(here, copy),
        *programs.warm(here, copy, edited),
        *(programs.cold(session.bwlint(folder), copy, name, session.beside_rounds) for name, folder in session.beside),
        *programs.others(session.tools, copy, session.scratch),
    ]
    timings = programs.in_turns(entries, session.rounds, tell)
    of_parts, whole = timings[: len(parts)], timings[len(parts) :]
    yield Group(copy.name, "tree", len(copy.files), copy.mebibytes, whole, compared(session, whole))
    if parts:
        grown = (*of_parts, replace(whole[0], name="1"))
        ratios = present(ratio(more, less) for less, more in pairwise(grown))
        yield Group(copy.name, "growth", len(copy.files), copy.mebibytes, grown, ratios)
    if is_first and edited and "hook" not in session.without:
        yield of_hook(session, replace(copy, files=edited))


def portioned(session: Session, copy: Copy) -> list[Copy]:
    return [portion(copy, parts, session.scratch / f"parts-{parts}" / copy.folder.name) for parts in EIGHTHS]


def of_hook(session: Session, copy: Copy) -> Group:
    """What is measured on a few files of a tree, over what Python takes to do nothing."""
    entries = list(programs.hook(session.bwlint(), copy, copy.files))
    nothing, *hooks = timings = programs.in_turns(entries, session.rounds, tell)
    over = present(difference(one, nothing) for one in hooks)
    return Group(copy.name, "hook", len(copy.files), copy.mebibytes, timings, over)


def of_binary(session: Session, name: str, file: Path) -> Group:
    """What is measured on one library."""
    tell(f"{name}: a binary")
    entries = [
        programs.inspecting(session.bwlint(), file),
        *(
            programs.inspecting(session.bwlint(folder), file, called, session.beside_rounds)
            for called, folder in session.beside
        ),
        *programs.dumping(session.cuobjdump, file),
    ]
    timings = programs.in_turns(entries, session.rounds, tell)
    return Group(name, "binary", 1, file.stat().st_size / 1024**2, timings, compared(session, timings))


def compared(session: Session, timings: Sequence[Timing]) -> tuple[Ratio, ...]:
    """The first one to each other program, and what is bwlint as well to the first one."""
    first, *rest = timings
    own = {programs.UNCHANGED, programs.CHANGED, *(name for name, _ in session.beside)}
    return present(ratio(one, first) if one.name in own else ratio(first, one) for one in rest)


def present(found: Iterable[Ratio | None]) -> tuple[Ratio, ...]:
    return tuple(one for one in found if one is not None)


def measured(session: Session, trees: Iterable[Named], binaries: Iterable[Named]) -> Iterator[Group]:
    for place, (name, tree) in enumerate(trees):
        # With the name that it had, and nothing beside it: bwlint looks at both.
        folder = session.scratch / f"tree-{place}" / tree.name.removesuffix(".whl")
        try:
            yield from of_tree(session, copied(name, tree, folder), is_first=not place)
        except Failed as reason:
            tell(f"{name}: an index is not filled: {reason}")
    for name, file in binaries:
        yield of_binary(session, name, file)


def written(results: Results, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "speed.json").write_text(as_json(results), "utf-8")
    (out / "speed.svg").write_text(plot(results), "utf-8")


def main() -> int:
    given = arguments()
    if given.plot:
        written(from_json((given.out / "speed.json").read_text("utf-8")), given.out)
        return 0
    others = [found(name, program, given.tools) for name, program in OTHERS.items() if name not in given.without]
    cuobjdump = found("cuobjdump", "cuobjdump", given.tools)
    for tool in (*others, *([cuobjdump] if given.binary else [])):
        tell(f"{tool.name}: {tool.version if isinstance(tool, Tool) else tool.reason}")
    checkouts = {"bwlint": HERE, **{f"bwlint, {name}": folder for name, folder in given.beside}}
    for folder in checkouts.values():
        compileall.compile_dir(folder / "src", quiet=2)
    versions = {name: checkout(folder) for name, folder in checkouts.items()}
    versions |= {t.name: t.version if isinstance(t, Tool) else "not installed" for t in (*others, cuobjdump)}
    results = Results(datetime.now(timezone.utc).isoformat(timespec="minutes"), machine(), versions, ())
    with tempfile.TemporaryDirectory(prefix="speed-") as scratch:
        session = Session(
            given.runs,
            given.beside_runs or given.runs,
            frozenset(given.without),
            Path(scratch).resolve(),
            tuple(given.beside),
            tuple(others),
            cuobjdump,
        )
        for group in measured(session, given.trees, given.binary):
            results = replace(results, groups=(*results.groups, group))
            written(results, given.out)
    print(table(results.groups))
    return 0 if results.groups else 1


if __name__ == "__main__":
    sys.exit(main())
