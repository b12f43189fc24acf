"""Runs a slice in a child that can compute and answer, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from bwlint.chips import Chip
from bwlint.confirm.child import run
from bwlint.confirm.slicing.closure import Slice
from bwlint.data import table

MEMORY = 512 << 20
"""Bytes of address space."""
LONGEST = 10.0
"""Seconds of one slice, on all chips: a test that runs longer is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a slice gave on each chip, by its name. `gives` are outcomes (true, false, an exception's type); those of
    values that nobody knows, tried both ways, in `chosen` (one row a run). None of them: the chip does not get there.
    `undecided` says why they decide nothing."""

    gives: tuple[str, ...]
    chosen: tuple[Mapping[str, Any], ...]
    guessed: tuple[str, ...]
    undecided: str


@dataclass(frozen=True, slots=True)
class SandboxRun:
    """The answers by chip, what they take for granted, and how the child ended. `refused` says why it ran nothing,
    `trouble` why it did not answer."""

    answers: Mapping[str, Answer]
    assumed: tuple[str, ...] = ()
    refused: str = ""
    trouble: str = ""
    log: str = ""
    seconds: float = 0.0


def run_slice(slice_: Slice, chips: Sequence[Chip], folder: Path, limit: float) -> SandboxRun:
    """Run a slice on each of `chips`, for at most `limit` seconds in all."""
    seconds = min(limit, LONGEST)
    job = {
        "modules": {dotted: asdict(plan) for dotted, plan in slice_.modules.items()},
        "module": slice_.module,
        "form": slice_.form,
        "devices": sorted(slice_.devices),
        "rows": source_rows(),
        "chips": [(chip.name, chip.major, chip.minor, chip.smem_per_block_optin) for chip in chips],
        "seconds": math.ceil(seconds),
    }
    python, data = command("bwlint.confirm.slicing.inside"), json.dumps(job).encode()
    try:
        ended = run(python, limit=seconds, folder=folder, stdin=data, memory=MEMORY)
    except OSError as error:
        return SandboxRun({}, trouble=f"Python does not start: {error.strerror or error}")
    if ended.trouble:
        return SandboxRun({}, trouble=explained(ended.trouble), log=ended.output, seconds=ended.seconds)
    return replace(_ran(ended.answer, slice_.form), log=ended.output, seconds=ended.seconds)


def _ran(data: bytes, form: str) -> SandboxRun:
    """What an answer says; the child may have been made to write anything."""
    none = SandboxRun({}, trouble="the slice ended without an answer")
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return none
    if not isinstance(answer, dict) or not isinstance(answer.get("chips", {}), dict):
        return none
    if "chips" not in answer:
        refused, trouble = str(answer.get("refused", "")), str(answer.get("trouble", ""))
        return SandboxRun({}, refused=refused, trouble=trouble or "it gave no reason")
    try:
        answers = {name: _answer(found["runs"], form) for name, found in answer["chips"].items()}
        assumed = dict.fromkeys(str(text) for found in answer["chips"].values() for text in found["assumed"])
    except (KeyError, TypeError, AttributeError):
        return none
    return SandboxRun(answers, tuple(assumed))


def explained(trouble: str) -> str:
    """How a child that was shut in ended, in words."""
    if "SIGSYS" in trouble:
        return "it was ended after a system call that no check needs"
    if "SIGXCPU" in trouble:
        return "it used up its time"
    return trouble


def _answer(runs: Sequence[Mapping[str, Any]], form: str) -> Answer:
    """The outcomes of the runs. Exceptions give way to results: with the values chosen then, nothing is asked. A call
    completes or does not: what it raises is its outcome, where it never comes back."""
    outcomes = [str(one["outcome"]) for one in runs]
    undecided = next((text.partition(": ")[2] for text in outcomes if text.startswith("undecided")), "")
    reached = [text for text in outcomes if text != "not reached"]
    results = [text for text in reached if text in ("true", "false")]
    if form == "completes" and reached and not results:
        results = ["false"]
    gives = tuple(sorted(set(results or reached)))
    guessed = tuple(dict.fromkeys(str(why) for one in runs for why in one["guessed"]))
    if not undecided and len(gives) > 1 and guessed:
        undecided = guessed[0]
    chosen = tuple({"outcome": one["outcome"], "chosen": dict(one["chosen"])} for one in runs)
    return Answer(gives, chosen, guessed, undecided)


@cache
def command(module: str, *packages: str) -> tuple[str, ...]:
    """Python without the site's packages and the current folder, that runs `main` of a module of ours: what the child
    needs lies in our folder, and in those of `packages`."""
    folders = [str(Path(__file__).parents[3])]
    for name in ("packaging", *packages):
        found = importlib.util.find_spec(name)
        places = found.submodule_search_locations if found is not None else None
        folders += [str(Path(place).parent) for place in places or ()]
    code = f"import sys; sys.path += {list(dict.fromkeys(folders))!r}; from {module} import main; main()"
    return (sys.executable, "-I", "-S", "-c", code)


@cache
def source_rows() -> dict[str, dict[str, Any]]:
    rows = {}
    for row in table("sources")["source"]:
        for name in row["names"]:
            rows[name] = {
                "returns": row.get("returns", "chips"),
                "text": row.get("text", ""),
                "chips": row.get("chips"),
                "value": row.get("value", False),
            }
    return rows
