"""Our fixes against what upstream did at the same places, both sets computed by the interpreter.

    python benchmarks/upstream.py --before DIR --after DIR CORPUS.jsonl...

A record of the corpus names a place in a tree (`repo`, `pre`, `path`, `line`) and the commit or release that mended it
(`fix`). DIR holds trees as `owner+name@<first 12 digits of the commit>` or `package-version`. For each record to which
`bwlint check` offers a fix, the file is edited in memory, the file of the mending commit is read in its own tree, and
the tests at the place (the line is followed with a diff) are run on every chip and target. A place agrees where a
test of ours has the sets of a test of theirs, and agrees on 12.x where it does as far as those chips go (upstream
often adds another part in the same commit).
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint.chips import NONE, ChipSet, Target, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.fix.edited import apply
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import Edit, Region
from bwlint.model.kinds import ACCEPTING
from bwlint.run.engine import Analysis, analyse
from bwlint.sources.read import Unread, decode, given, read_bytes
from bwlint.sources.walk import discover
from bwlint.world.collect import Collected, module_of

Record = dict[str, Any]

_ASKED = ("12.0", "12.1")
_FAMILY = ChipSet.of(*_ASKED)
_SLACK = 1
_COLUMNS = "{:22} {:15} {:34} {:34} {}"


@dataclass(frozen=True, slots=True)
class Test:
    """What tells chips apart: its kind, its first and last line, and the chips or targets that pass, in words.

    `asked` are those of them that are of the family asked about.
    """

    kind: str
    first: int
    last: int
    passing: str
    asked: str


@dataclass(frozen=True, slots=True)
class Row:
    """One record: whether our fix and theirs agree, and what passes after each."""

    name: str
    verdict: str
    ours: str = ""
    theirs: str = ""
    title: str = ""


def tests_of(real: str, source: str) -> list[Test]:
    """What a file with the text `source` asks the device, the compile target or the build."""
    (file,) = discover([real]).files
    module = module_of(file.kind, file.real, file.root, source, frozenset())
    collected = Collected(((file, module),), (), ())
    with given({file.real: source.encode("utf-8", "surrogatepass")}):
        return list(_tests(analyse(collected, Sources(), ChipSet.of(*_ASKED), ()), module))


def _tests(analysis: Analysis, module: Module) -> Iterator[Test]:
    context = analysis.context
    for judged in (entry for some in context.judged.values() for entry in some):
        at, sets = judged.gate.at, judged.sets
        asked = _between(sets.must & _FAMILY, sets.may & _FAMILY)
        yield Test("test", at[0], at[2], _between(sets.must, sets.may), asked)
    for guarded in (entry for some in context.guards.values() for entry in some):
        at = guarded.guard.at
        asked = str(guarded.admitted & TargetSet.native(_FAMILY))
        yield Test("guard", at[0], at[2], str(guarded.admitted), asked)
    for carry in module.carries:
        if carry.kind in ACCEPTING:
            asked = " ".join(name for name in carry.sass if Target.parse(name).chip in _FAMILY)
            yield Test("names", carry.at[0], carry.at[2], " ".join(carry.sass), asked)
            continue
        loads = _loads(carry)
        yield Test("carry", carry.at[0], carry.at[2], str(loads), str(loads & _FAMILY))


def _between(must: ChipSet, may: ChipSet) -> str:
    return str(must) if must == may else f"{must} to {may}"


def _loads(carry: Carry) -> ChipSet:
    chips = NONE
    for name in carry.sass:
        chips |= Target.parse(name).loads_on()
    return chips


def compare(record: Record, before: Path, after: Path) -> Row:
    """Our fix at a place and the one of the tree `after`."""
    name = f"{record['id']}"
    file = before / record["path"]
    fix = _offered(record, file)
    if fix is None:
        return Row(name, "no fix")
    title = f"{fix['applicability']}: {fix['title']}"
    old, theirs = _source(file), _source(after / record["path"])
    if old is None or theirs is None:
        return Row(name, "moved", title=title)
    new = apply(old, [_edit(edit) for edit in fix["edits"] if Path(edit["path"]) == file])
    ours = _changed(tests_of(str(file), old), tests_of(str(file), new), _lines(old, new, record))
    place = _lines(old, theirs, record)
    there = [test for test in tests_of(str(after / record["path"]), theirs) if _overlaps(test, place)]
    said = " | ".join(dict.fromkeys(test.passing for test in ours))
    same = [test for test in there if any(test.kind == one.kind for one in ours)]
    listed = " | ".join(dict.fromkeys(test.passing for test in same))
    if not same:
        return Row(name, "other", said, listed, title)
    pairs = [(one, test) for one in ours for test in same if one.kind == test.kind]
    if any(one.passing == test.passing for one, test in pairs):
        return Row(name, "agrees", said, listed, title)
    on_family = any(one.asked == test.asked for one, test in pairs)
    return Row(name, "agrees on 12.x" if on_family else "differs", said, listed, title)


def _offered(record: Record, file: Path) -> dict[str, Any] | None:
    """The fix that `bwlint check` offers at a place."""
    command = [sys.executable, "-m", "bwlint", "check", str(file), "--format", "json", "--severity", "note"]
    done = subprocess.run([*command, "--exit-zero", "--no-cache"], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    for finding in json.loads(done.stdout)["findings"]:
        near = finding["line"] <= record["end_line"] + _SLACK and finding["end_line"] >= record["line"] - _SLACK
        if near and finding["fix"] is not None:
            found: dict[str, Any] = finding["fix"]
            return found
    return None


def _edit(data: dict[str, Any]) -> Edit:
    region = Region(data["line"], data["column"], data["end_line"], data["end_column"])
    return Edit(data["path"], region, data["text"])


def _source(file: Path) -> str | None:
    data = read_bytes(str(file))
    source = data if isinstance(data, Unread) else decode(data)
    return None if isinstance(source, Unread) else source


def _changed(before: list[Test], after: list[Test], place: range) -> list[Test]:
    """The tests at a place that another set passes than before."""
    left = Counter((test.kind, test.passing) for test in before)
    left.subtract((test.kind, test.passing) for test in after)
    gained = {key for key, number in left.items() if number < 0}
    return [test for test in after if (test.kind, test.passing) in gained and _overlaps(test, place)]


def _overlaps(test: Test, place: range) -> bool:
    return test.first <= place.stop - 1 + _SLACK and test.last >= place.start - _SLACK


def _lines(old: str, new: str, record: Record) -> range:
    """The lines of a record's place, followed into a later text."""
    first, last = record["line"] - 1, record["end_line"]
    starts, ends = [], []
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if b <= first or a >= last:
            continue
        starts.append(c + (max(first - a, 0) if tag == "equal" else 0))
        ends.append(d - (max(b - last, 0) if tag == "equal" else 0))
    return range(min(starts) + 1, max(ends) + 1)


def _tree(record: Record, version: str, folder: Path) -> Path:
    if record["repo"].startswith("pypi:"):
        name = version.replace(" ", "-") if " " in version else f"{record['repo'][5:]}-{version}"
        return folder / name
    return folder / f"{record['repo'].replace('/', '+')}@{version[:12]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, nargs="+", required=True)
    parser.add_argument("--class", dest="classes", action="append", help="only places of this class")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    records = [json.loads(line) for file in args.files for line in file.read_text().splitlines()]
    work = []
    for record in records:
        if record["label"] != "hazard" or not record["fix"] or (args.classes and record["class"] not in args.classes):
            continue
        before = _tree(record, record["pre"], args.before)
        after = [tree for folder in args.after if (tree := _tree(record, record["fix"], folder)).exists()]
        if (before / record["path"]).is_file() and after:
            work.append((record, before, after[0]))
    print(_COLUMNS.format("place", "", "ours", "upstream", "fix"))
    verdicts = Counter[str]()
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda item: compare(*item), work):
            verdicts[row.verdict] += 1
            if row.verdict != "no fix":
                print(_COLUMNS.format(row.name, row.verdict, row.ours, row.theirs, row.title), flush=True)
    print(dict(verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
