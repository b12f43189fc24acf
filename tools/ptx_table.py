"""Measures src/bwlint/chips/ptx.toml with ptxas: prints where they differ, rewrites the table with --write.

    python tools/ptx_table.py [PTXAS ...] [--write]

PTXAS is the path of a ptxas, or of a folder that `pip install --target` filled; none means the one on PATH. With
two, the newer decides, and where the older one differs on a target that both know, the row says so. The forms come
from tools/ptx_forms.toml.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ptxas
from ptxas import Answer, Ptxas

from bwlint.chips.instructions import modifier, parse
from bwlint.data import read_toml, tables_folder

SEEDS = Path(__file__).with_name("ptx_forms.toml")
TABLE = tables_folder() / "ptx.toml"
ABOUT_TARGET = re.compile(
    r"not supported on \.target|requires \.target|cannot be compiled for architecture|not supported for \.target"
)
_CARRIED = ("name", "group", "op", "has", "lacks", "operands", "count")


@dataclass(frozen=True)
class Measured:
    """What one ptxas says of every sample, by target."""

    ptxas: Ptxas
    answers: dict[str, dict[str, Answer]]

    def legal(self, sample: str) -> frozenset[str]:
        return frozenset(target for target, said in self.answers[sample].items() if not said.errors)

    def slow(self, sample: str) -> frozenset[str]:
        """Where a legal sample becomes a call of a routine of the driver."""
        return frozenset(target for target in self.legal(sample) if self.ptxas.calls_driver(sample, target))


def seeds() -> list[dict[str, Any]]:
    """The forms to measure, as written by hand."""
    rows: list[dict[str, Any]] = read_toml(SEEDS)["form"]
    return rows


def measure(tool: Ptxas, statements: Iterable[str], targets: Sequence[str] | None = None) -> Measured:
    """What a ptxas says of the statements, for all of its targets or for some."""
    wanted = list(dict.fromkeys(statements))
    asked = targets or tool.targets
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda target: tool.ask(wanted, target), asked))
    return Measured(tool, {s: {t: said[i][n] for i, t in enumerate(asked)} for n, s in enumerate(wanted)})


def row(seed: dict[str, Any], measured: Sequence[Measured]) -> dict[str, Any]:
    """The table's row of a seed: what it matches, and what the newest ptxas says of its samples."""
    newest = measured[0]
    legal = frozenset[str]().union(*(newest.legal(sample) for sample in seed["samples"]))
    found = {key: seed[key] for key in _CARRIED if key in seed}
    found["legal"] = words(legal, newest.ptxas.targets)
    error = deciding(newest, seed, set(newest.ptxas.targets) - legal)
    if error:
        found["error"] = error
    if "slow" in seed:
        slow = frozenset[str]().union(*(newest.slow(sample) for sample in seed["samples"]))
        found |= {"slow": words(slow, newest.ptxas.targets), "advice": seed["slow"]}
    for older in measured[1:]:
        found |= difference(seed, newest, older, legal)
    return found


def deciding(measured: Measured, seed: dict[str, Any], targets: set[str]) -> str:
    """The error that ptxas gives where it gives fewest, about the instruction sooner than about a modifier.

    Where the samples are told different things, these have a place for what differs: <2> is the first two words of the
    instruction, <K> its last two types and <L> the first word with them, <M> the modifier that makes the row, <N> the
    last number.
    """
    answers = [(s, t, measured.answers[s][t].errors) for s in seed["samples"] for t in sorted(targets)]
    fewest = min((len(set(errors)) for _, _, errors in answers if errors), default=0)
    decisive = [answer for answer in answers if len(set(answer[2])) == fewest]
    suffixed = [answer for answer in decisive if not answer[1].isdigit()]
    counted: Counter[str] = Counter()
    for sample, _, errors in suffixed or decisive:
        counted.update({said for text in errors for said in {text, template(text, sample, seed)}})
    if not counted:
        return ""
    most = max(counted.values())
    often = [text for text, count in counted.items() if count == most]
    return min(often, key=lambda text: (not ABOUT_TARGET.search(text), "Instruction" not in text, "<M>" in text, text))


def template(text: str, sample: str, seed: dict[str, Any]) -> str:
    """An error with places for what differs between samples."""
    statement = parse(sample)
    words = statement.head.split(".")
    for count in range(min(len(words), 9), 0, -1):
        text = text.replace(f"'{'.'.join(words[:count])}'", f"'<{count}>'")
    if statement.types:
        text = text.replace(f"'{'.'.join([words[0], *statement.types])}", "'<L>")
        text = text.replace(f".{'.'.join(statement.types)}", "<K>")
    numbers = re.findall(r"\d+", statement.operands)
    text = text.replace(f"value '{numbers[-1]}'", "value '<N>'") if numbers else text
    has = modifier(seed["has"][0]).search(statement.head) if seed.get("has") else None
    return re.sub(rf"{re.escape(has[0])}(?=[ '])", "<M>", text) if has else text


def difference(seed: dict[str, Any], newest: Measured, older: Measured, legal: frozenset[str]) -> dict[str, str]:
    """What an older ptxas says otherwise, of the targets that both know: as a set and in words."""
    both = set(newest.ptxas.targets) & set(older.ptxas.targets)
    other = frozenset[str]().union(*(older.legal(sample) for sample in seed["samples"]))
    if (legal ^ other) & both == set():
        return {}
    error = deciding(older, seed, (set(legal) - other) & both)
    takes = words(other, older.ptxas.targets)
    said = f"ptxas {older.ptxas.version} takes it for {takes or 'no target'}"
    return {"older": takes, "note": f"{said}: {error}" if error else said}


def _order(target: str) -> tuple[int, str]:
    return int(target.rstrip("af")), target


def words(found: Iterable[str], known: Sequence[str]) -> str:
    """A set of targets as the table writes it: "90a 100+" where every target from 100 on belongs to it."""
    members = set(found)
    numbers = sorted({int(target.rstrip("af")) for target in known})
    for number in numbers:
        later = {target for target in known if int(target.rstrip("af")) >= number}
        if later <= members:
            return " ".join([*sorted(members - later, key=_order), f"{number}+"])
    return " ".join(sorted(members, key=_order))


def build(tools: Sequence[Ptxas]) -> str:
    """The whole table as TOML."""
    samples = [sample for seed in seeds() for sample in seed["samples"]]
    measured = [measure(tool, samples) for tool in tools]
    said = ", ".join(tool.version for tool in tools)
    parts = [
        "# For which targets ptxas takes an instruction: generated by tools/ptx_table.py, not written by hand.",
        "#",
        '# legal: "90a 100+" is sm_90a and every target from sm_100 on. error: ptxas\'s own words, <T> is the target.',
        "# An instruction is legal where every row that it matches allows it. tools/ptx_forms.toml explains the keys.",
        "",
        "[ptxas]",
        f"source = {_value(f'assembled: ptxas {said}')}",
        f"versions = {_value([tool.version for tool in tools])}",
        f"first = {min(int(target.rstrip('af')) for target in tools[0].targets)}",
    ]
    parts += ["", *targets(tools)]
    for seed in seeds():
        parts += ["", "[[form]]"]
        parts += [f"{key} = {_value(value)}" for key, value in row(seed, measured).items()]
    return "\n".join(parts) + "\n"


def targets(tools: Sequence[Ptxas]) -> list[str]:
    """For each target the first PTX ISA that a ptxas takes, and the most static shared memory of a kernel in bytes."""
    lines = ["# isa: the first .version for the target. shared: static shared memory of a kernel in bytes."]
    for target in tools[0].targets:
        isa = min((tool.first_isa(target) for tool in tools if target in tool.targets), key=_version)
        shared = {tool.static_shared(target) for tool in tools if target in tool.targets}
        lines += ["", f"[target.{target}]", f"isa = {_value(isa)}", f"shared = {min(shared)}"]
        if len(shared) > 1:
            raise ValueError(f"sm_{target}: the versions differ in static shared memory: {shared}")
    return lines


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _value(value: object) -> str:
    if isinstance(value, str):
        plain = "'" not in value and "\n" not in value
        return f"'{value}'" if plain else json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxas", nargs="*", help="a ptxas, or a folder that pip install --target filled")
    parser.add_argument("--write", action="store_true", help="rewrite the table")
    options = parser.parse_args()
    found = [ptxas.find(given) for given in options.ptxas] or [ptxas.find(None)]
    tools = sorted(found, key=lambda tool: _version(tool.version), reverse=True)
    text = build(tools)
    old = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    if text == old:
        print(f"{TABLE.name}: as measured with {', '.join(tool.version for tool in tools)}")
        return 0
    if options.write:
        TABLE.write_text(text, encoding="utf-8")
        print(f"{TABLE.name}: written")
        return 0
    import difflib

    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), "table", "measured", n=3))
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
