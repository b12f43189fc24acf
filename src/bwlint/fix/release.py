"""The release of CUDA that a test or a row asks for: the one that knows the chip, with the words that say it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import ChipSet
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.facts import Module
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers.spans import span
from bwlint.rules.toolchain import floors
from bwlint.world.tree import Tree

_SENTENCE = re.compile(r"(?:(?!\.\s|\n\s*\n).)+", re.S)
_OF_CUDA = re.compile(r"(?i)\b(?:cuda|nvcc|toolkit)")


def mend(job: Job) -> Fix | NoFix:
    """The fix after which the place asks for `job.remedy.release`; `NoFix` says why there is none."""
    old, new = job.remedy.release
    syntax = parse(job.source) if job.module.language == "python" else None
    if syntax is None:
        return NoFix("releases are rewritten in files of Python alone")
    places = list(dict.fromkeys(_written(syntax, job, old)))
    if len(places) != 1:
        return NoFix(f"{old} is not written in one place here")
    rows = [*places, *_said(syntax, places[0][0], old)]
    spelled = {old: new, f'"{old}"': f'"{new}"', f"'{old}'": f"'{new}'"} | _in_numbers(old, new)
    edits = tuple(syntax.edit(job.module.path, start, end, spelled[job.source[start:end]]) for start, end in rows)
    edited = edited_module(job.module, apply(job.source, edits))
    if (wrong := _faults(job, edited)) is not None:
        return wrong
    admitted, certain = job.draft.place.admitted.names, job.draft.place.certain.names
    title = f"Require the first CUDA that knows it: write `{edits[0].text}`"
    return Fix(job.applicability, "bound", title, edits, Proof(admitted, certain, admitted, certain, job.evidence))


def _in_numbers(old: str, new: str) -> dict[str, str]:
    (major, minor), (later, last) = old.split("."), new.split(".")
    return {f"({major}, {minor})": f"({later}, {last})", f"({major},{minor})": f"({later},{last})"} | {
        f"{major}{int(minor):02}{end}": f"{later}{int(last):02}{end}" for end in ("", "0")
    }


def _written(syntax: Syntax, job: Job, old: str) -> Iterator[tuple[int, int]]:
    """Where a release stands in what the finding points at, or in the value of the row whose key that is."""
    values = [
        value
        for node in ast.walk(syntax.tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None and span(key) == job.at
    ]
    spelled = {f'"{old}"', f"'{old}'", old, *_in_numbers(old, old)}
    for place in [job.at, *map(span, values)]:
        for node in syntax.within(place):
            if syntax.segment(node) in spelled:
                yield syntax.start(node), syntax.end(node)


def _said(syntax: Syntax, at: int, old: str) -> Iterator[tuple[int, int]]:
    """Where the documentation of the function around a place says the release, of CUDA."""
    functions = (node for node in ast.walk(syntax.tree) if isinstance(node, ast.FunctionDef))
    around = [node for node in functions if syntax.start(node) <= at < syntax.end(node)]
    node = max(around, key=syntax.start, default=None)
    first = node.body[0] if node is not None and ast.get_docstring(node, clean=False) is not None else None
    for sentence in _SENTENCE.finditer(
        syntax.text.source, *(syntax.start(first), syntax.end(first)) if first else (0, 0)
    ):
        for match in re.finditer(rf"(?<![\d.]){re.escape(old)}(?![\d]|\.\d)", sentence[0]):
            if _OF_CUDA.search(sentence[0][: match.start()]):
                yield sentence.start() + match.start(), sentence.start() + match.end()


def _faults(job: Job, edited: Module) -> NoFix | None:
    """The finding is gone, no other has come, and every gate holds for the chips that it held for."""
    tree = job.context.tree.edited(edited)
    before = {draft.message for draft in floors.check_file(job.context, job.module)}
    after = {draft.message for draft in floors.check_file(replace(job.context, tree=tree), edited)}
    if job.draft.message in after:
        return NoFix("the finding would remain: the same release is checked for other chips")
    if after - before:
        return NoFix(f"the edit alone does not help. Another finding would take its place: {min(after - before)}")
    had, has = _admitted(job.context.tree, job.module), _admitted(tree, edited)
    return None if had == has else NoFix("the edit would change a test")


def _admitted(tree: Tree, module: Module) -> list[tuple[ChipSet, ChipSet] | None]:
    found = (tree.sets(module, gate) for gate in module.gates)
    return [(sets.may, sets.must) if sets is not None else None for sets in found]
