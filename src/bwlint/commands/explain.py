"""The output of `explain` and `rules`: a rule's page, or a condition evaluated on every chip."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Sequence

from bwlint.chips import ChipSet, all_chips, families
from bwlint.chips.wording import called
from bwlint.evaluate.names import guess
from bwlint.evaluate.sources import Sources
from bwlint.model.escape import visible
from bwlint.readers import python
from bwlint.report import rule_text
from bwlint.report.words import aligned
from bwlint.settings import catalog
from bwlint.sources.pypi import PREFIX, package_hint
from bwlint.sources.read import SourceText
from bwlint.world.tree import Tree

LONGEST_GATE = 10_000
"""In characters. A condition that people wrote is shorter."""

_FILE = "<gate>"
_UNKNOWN = "unknown on every chip: bwlint finds nothing in it that reads the device, or cannot decide it."
# How the interpreter names what has no name.
_PLACE = re.compile(rf"{_FILE}:(\d+):(\d+)-(\d+):(\d+)")
_STATEMENT = re.compile(r"(?:(?:el)?if|while|assert)\s+(.*?):?\s*", re.DOTALL)


def all_rules() -> str:
    """A line a rule."""
    rows = [("code", "name", "level", "summary")]
    rows += [(rule.code, rule.name, rule.severity, rule.summary) for rule in catalog.rules()]
    return "".join(f"{line}\n" for line in aligned(rows))


def rule(text: str, *, full: bool) -> str:
    """The rule of a code or name, `full` with all that it reports. Raises ValueError."""
    try:
        return rule_text.plain(catalog.lookup(text), full=full)
    except catalog.UnknownRule as error:
        is_close = "did you mean" in str(error) or not package_hint(text)
        hint = "" if is_close else f"; bwlint inspect {PREFIX}{text} says on which cards a package runs"
        raise ValueError(f"{error}{hint}") from None


def gate(text: str) -> str:
    """A condition on every chip, as Markdown. Raises ValueError for what is no expression of Python."""
    condition = _expression(text)
    source = _function(condition)
    try:
        module = python.read(_FILE, source, "gate", False)
    except python.ReadError as error:
        raise ValueError(str(error)) from None
    head = f"`{visible(' '.join(condition.split()))}`"
    gates = [found for found in module.gates if found.kind == "condition"]
    sets = Tree(Sources(), lambda path, name: None).sets(module, gates[-1]) if gates else None
    if sets is None:
        return f"{head}\n\n{_UNKNOWN}\n"
    rows = [("chip", "generation", "outcome")]
    for chip in all_chips():
        outcome = _outcome(chip.name in sets.raises, chip.name in sets.must, chip.name in sets.may)
        rows.append((chip.name, chip.generation, outcome))
    remarks = [
        f"may be true on: {sets.may}",
        f"must be true on: {sets.must}",
        *([f"raises on: {sets.raises}"] if sets.raises else []),
        f"depends besides the chip on: {_atoms(sets.atoms, source)}",
        *(visible(clash.reason) for clash in sets.clashes),
        *_splits(sets.may),
        *(["taken for the device by its name, so less sure"] if sets.guessed else []),
        *(["bwlint assumes that a check of the toolkit finds a modern one"] if sets.toolkit else []),
    ]
    return f"{head}\n\n{_markdown(rows)}\n" + "".join(f"- {remark}\n" for remark in dict.fromkeys(remarks))


def _function(condition: str) -> str:
    """Source with the condition in it, its unbound names as parameters, which is where names are guessed.

    What is called, or has its attributes read, keeps its name: it may be a library's.
    """
    tree = ast.parse(f"(\n{condition}\n)", mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bases = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    bases |= {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used = {node.id for node in bases if isinstance(node, ast.Name)}
    free = sorted(name for name in names if name == "self" or name not in used or guess(name))
    # The comment makes the reader look at the line whatever it says.
    return f"def gate({', '.join(free)}):\n    if (  # sm_120\n{condition}\n    ): pass\n"


def _expression(text: str) -> str:
    """The condition alone, without the statement around it. Raises ValueError."""
    if len(text) > LONGEST_GATE:
        raise ValueError(f"the condition is longer than {LONGEST_GATE:,} characters")
    statement = _STATEMENT.fullmatch(text.strip())
    condition = statement[1] if statement else text.strip()
    if not condition:
        raise ValueError("the condition is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(f"(\n{condition}\n)", mode="eval")
    except SyntaxError as error:
        raise ValueError(f"not an expression of Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("the condition is nested too deep") from None
    except ValueError as error:
        raise ValueError(f"not an expression of Python: {error}") from None
    return condition


def _atoms(keys: Iterable[str], source: str) -> str:
    """The parts that do not read the device, as they are written."""
    text = SourceText(source)
    found = []
    for key in keys:
        place = _PLACE.fullmatch(key)
        if place:
            region = text.region(*map(int, place.groups()))
            start, end = (region.line, region.column), (region.end_line, region.end_column)
            key = source[text.offset(*start) : text.offset(*end)]
        found.append(f"`{visible(' '.join(key.split()))}`")
    return ", ".join(dict.fromkeys(found)) or "nothing"


def _outcome(raises: bool, must: bool, may: bool) -> str:
    if raises:
        return "raises"
    if must:
        return "true"
    return "unknown" if may else "false"


def _splits(admitted: ChipSet) -> Iterable[str]:
    for name, members in families().items():
        inside = members & admitted
        if inside and inside != members:
            yield f"splits the {name} family: may be true on {called(inside)}, false on {called(members - inside)}"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    rule_line = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule_line, *lines[1:]]) + "\n"
