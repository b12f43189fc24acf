"""A rule in parts, for terminals and in Markdown: what `explain`, the pages under docs/ and SARIF's help say of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bwlint.settings.catalog import Rule

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Part:
    """One part under its title ("" has none): prose or code in one text, or a list."""

    title: str
    kind: Literal["prose", "code", "list"]
    lines: tuple[str, ...]


def plain(rule: Rule, *, full: bool = True) -> str:
    """All of it, or what fits a screen: what goes wrong, what to do and an example, without the lists."""
    head = f"{rule.code} {rule.name}\n{_filled(rule.summary)}"
    table = "\n".join(f"{name:9} {value}" for name, value in facts(rule))
    every = tuple(parts(rule))
    found = every if full else [part for kind in ("prose", "code") for part in every if part.kind == kind]
    rest = () if full else (f"bwlint explain --full {rule.name} lists what is reported, what is not, and the sources.",)
    return "\n\n".join([head, table, *map(_plain, found), *rest]) + "\n"


def markdown(rule: Rule, level: int) -> str:
    """The parts alone, with titles of that level."""
    return "\n\n".join(_markdown(part, level) for part in parts(rule))


def facts(rule: Rule) -> tuple[tuple[str, str], ...]:
    """What stands in the table at the head of each rule."""
    return (
        ("level", _level(rule)),
        ("category", rule.category),
        ("fix", rule.safety),
        ("evidence", ", ".join(rule.evidence) or "none"),
    )


def _level(rule: Rule) -> str:
    lower = rule.severity == "error" and any("a warning" in line for line in rule.reported)
    return f"{rule.severity}; behind a guard or a check a warning" if lower else rule.severity


def parts(rule: Rule) -> Iterator[Part]:
    """In the order in which one reads: what it means, whether it matters, what to write instead, how to be sure."""
    found = (
        Part("", "prose", (" ".join(rule.why.split()),)),
        Part("Reported", "list", tuple(rule.reported)),
        Part("A note", "list", tuple(rule.note)),
        Part("Silent", "list", tuple(rule.silent)),
        Part("Bad", "code", (rule.example.strip("\n"),)),
        Part("Good", "code", (rule.instead.strip("\n"),)),
        Part("Confirm", "prose", (" ".join(rule.confirm.split()),)),
        Part("Fix", "prose", (" ".join(rule.fix.split()),)),
        Part(
            "Suppress",
            "prose",
            (f"`# bwlint: ignore[{rule.name}] reason` (`//` in C++, `per-file-ignores` for binaries)",),
        ),
        Part("Sources", "list", tuple(rule.sources)),
    )
    return (part for part in found if any(part.lines))


def _plain(part: Part) -> str:
    if part.kind == "code":
        return f"{part.title}\n\n{textwrap.indent(part.lines[0], '    ')}"
    if part.kind == "list":
        return "\n".join([part.title, *(_filled(line, "  - ", "    ") for line in part.lines)])
    return _filled(f"{part.title}: {part.lines[0]}" if part.title else part.lines[0])


def _markdown(part: Part, level: int) -> str:
    title = f"{'#' * level} {part.title}\n\n" if part.title else ""
    if part.kind == "code":
        return title + _fenced(part.lines[0])
    if part.kind == "list":
        return title + "\n".join(f"- {line}" for line in part.lines)
    return title + part.lines[0]


def _fenced(code: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_language(code)}\n{code}\n{fence}"


def _language(code: str) -> str:
    if ".target " in code:
        return "ptx"
    if re.search(r"[;{]$", code, re.MULTILINE):
        return "cuda"
    return "sh" if code.startswith(("nvcc ", "python ")) else "python"


def _filled(text: str, first: str = "", others: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
