"""Lay out what an edit changed as the tree's formatters would: statements, conditions of the preprocessor, texts."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.python.relaid import relaid, statements
from bwlint.fix.python.syntax import between, parse
from bwlint.model.findings import Edit, Fix
from bwlint.readers.cuda.lexer import matching
from bwlint.sources.kinds import kind_of
from bwlint.sources.read import SourceText, read_bytes, text_of
from bwlint.sources.recorder import memory
from bwlint.sources.texts import Texts

_SETTINGS = (
    ("ruff.toml", r"\A(?:[^\[].*\n|\n)*?line-length\s*=\s*(\d+)"),
    (".ruff.toml", r"\A(?:[^\[].*\n|\n)*?line-length\s*=\s*(\d+)"),
    ("pyproject.toml", r"^\[tool\.(?:ruff|black)\]\n(?:[^\[].*\n|\n)*?line[-_]length\s*=\s*(\d+)"),
    (".editorconfig", r"^\[\*(?:\.py|\.\{py[^\]]*)?\]\n(?:[^\[].*\n|\n)*?max_line_length\s*=\s*(\d+)"),
    ("setup.cfg", r"^\[flake8\]\n(?:[^\[].*\n|\n)*?max[-_]line[-_]length\s*=\s*(\d+)"),
    (".flake8", r"^\[flake8\]\n(?:[^\[].*\n|\n)*?max[-_]line[-_]length\s*=\s*(\d+)"),
    *((name, r"()") for name in ("ruff.toml", ".ruff.toml")),
    ("pyproject.toml", r"^\[tool\.(?:ruff|black)\b()"),
    (".pre-commit-config.yaml", r"\bid:\s*(?:black|ruff-format)\b()"),
)
"""Where the length of a line is set, and how; at the end those who let it be as it is without."""


_BLANKS = re.compile(r'"\s*"|[\s\\]+')
_OF_CLANG = re.compile(r"^\s*(?P<key>BasedOnStyle|ColumnLimit|AlignEscapedNewlines):\s*[\"']?(?P<value>\w+)", re.M)
_CPP_LINES = {"llvm": 80, "google": 80, "chromium": 80, "mozilla": 80, "gnu": 79, "microsoft": 120}
"""How long clang-format's own styles let a line get."""
_LINE = 88
"""How long the formatters of the field let one get where nothing sets it."""
_DIRECTIVE = re.compile(r"(?P<head>[ \t]*#[ \t]*(?:el)?if )(?P<test>.*)", re.S)
_CONTINUED = re.compile(r"^[ \t]*#[ \t]*(?:el)?if (?:[^\n\\]|\\.|\\\n)*", re.M)
_TEXT = re.compile(r'(?P<indent>[ \t]*)"(?:[^"\\]|\\.)*"[);,]*')
_GROUP = re.compile(r"!*\(")
_INDENT = 4
"""How far clang-format indents what goes on in another line."""


def laid_out(job: Job, fix: Fix) -> Fix:
    """A fix that does the same, in lines as the files around have them."""
    edits: list[Edit] = []
    for path in dict.fromkeys(edit.path for edit in fix.edits):
        own = [edit for edit in fix.edits if edit.path == path]
        kind = kind_of(os.path.basename(path))
        source = _source(job, path) if kind in ("python", "cuda") else None
        edits += own if source is None or "\r" in source else _of_file(path, source, own, is_python=kind == "python")
    return replace(fix, edits=tuple(edits))


def _source(job: Job, path: str) -> str | None:
    return job.source if path == job.module.path and job.source else Texts().source(path)


def _of_file(path: str, source: str, edits: Sequence[Edit], *, is_python: bool) -> Sequence[Edit]:
    text, left, found, folder = SourceText(source), list(edits), list[Edit](), os.path.dirname(path)
    limit = _limit(folder) or (_LINE if all(len(line) <= _LINE for line in text.lines) else 0)
    style = None if is_python else _cpp_style(folder)
    for first, last in statements(source) if is_python else _cpp_lines(text, edits) if style is not None else ():
        start, end = text.offset(first, 1), text.offset(last, 1) + len(text.line(last))
        inside = [edit for edit in left if start <= text.bounds(edit.region)[0] and text.bounds(edit.region)[1] <= end]
        if not inside or any(edit.text.endswith("\n") for edit in inside):  # whole lines are laid out by who makes them
            continue
        edited = apply(source, inside)
        now = edited[start : end + len(edited) - len(source)]
        old = source[start:end]
        laid = relaid(old, now, limit) if style is None else in_cpp(old, now, style) or broken(old, now, style)
        if laid is not None:
            left = [edit for edit in left if edit not in inside]
            found.append(_trimmed(text, path, start, old, laid))
    same = _same if is_python else _same_words
    return [*found, *left] if found and same(apply(source, edits), apply(source, (*found, *left))) else edits


def _cpp_lines(text: SourceText, edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each directive, and the lines elsewhere that edits change."""
    found = list(directives(text.source))
    yield from found
    lines = {edit.region.line for edit in edits if edit.region.line == edit.region.end_line}
    yield from ((line, line) for line in sorted(lines) if not any(first <= line <= last for first, last in found))


def _trimmed(text: SourceText, path: str, start: int, old: str, new: str) -> Edit:
    """The edit without the ends that stay as they are."""
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    return between(text, path, start + head, start + len(old) - tail, new[head : len(new) - tail])


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _same(one: str, other: str) -> bool:
    first, second = parse(one), parse(other)
    return first is not None and second is not None and ast.dump(first.tree) == ast.dump(second.tree)


def _same_words(one: str, other: str) -> bool:
    """Whether two texts differ in blanks and continued lines alone."""
    return _BLANKS.sub("", one) == _BLANKS.sub("", other)


def _cpp_style(folder: str) -> CppStyle | None:
    """How the nearest `.clang-format` above wants lines; None where there is none, or one that this does not know."""
    known, key = memory(), ("clang-format", folder)
    if key not in known:
        said, above = text_of(read_bytes(os.path.join(folder, ".clang-format"))), os.path.dirname(folder)
        known[key] = _cpp_style_of(said) if said is not None else None if above == folder else _cpp_style(above)
    found: CppStyle | None = known[key]
    return found


def _cpp_style_of(said: str) -> CppStyle | None:
    keys = {match["key"]: match["value"] for match in _OF_CLANG.finditer(said)}
    base = keys.get("BasedOnStyle", "LLVM").lower()
    limit = int(keys.get("ColumnLimit", _CPP_LINES.get(base, 0)))
    backslashes = keys.get("AlignEscapedNewlines", "Left" if base in ("google", "chromium") else "Right")
    return CppStyle(limit, backslashes == "Left") if limit and backslashes in ("Left", "Right") else None


def _limit(folder: str) -> int:
    """How long lines may get in a folder, by the nearest setting above; 0 where there is none."""
    known, key = memory(), ("line length", folder)
    if key not in known:
        above = os.path.dirname(folder)
        known[key] = next(_set(folder), None) or (0 if above == folder else _limit(above))
    return int(known[key])


def _set(folder: str) -> Iterator[int]:
    for name, pattern in _SETTINGS:
        text = text_of(read_bytes(os.path.join(folder, name)))
        said = None if text is None else re.search(pattern, text, re.M)
        if said is not None:
            yield int(said[1] or _LINE)


@dataclass(frozen=True, slots=True)
class CppStyle:
    """What a `.clang-format` says: characters in a line, and whether backslashes stand as far left as they can."""

    limit: int
    left: bool


def directives(source: str) -> Iterator[tuple[int, int]]:
    """The first and the last line (from 1) of each condition of the preprocessor."""
    for match in _CONTINUED.finditer(source):
        first = source.count("\n", 0, match.start()) + 1
        yield first, first + match[0].count("\n")


def broken(old: str, new: str, style: CppStyle) -> str | None:
    """A line that stood as `old`, with the text that it ends in broken at a blank, where an edit made it too long."""
    match = _TEXT.fullmatch(new)
    at = new.rfind(" ", 0, style.limit - 1) + 1  # with a quotation mark behind it
    if match is None or len(old) > style.limit or len(new) <= style.limit or at <= match.end("indent"):
        return None
    return f'{new[:at]}"\n{match["indent"]}"{new[at:]}'


def in_cpp(old: str, new: str, style: CppStyle) -> str | None:
    """The new text of a directive that stood as `old`; None to leave it as it is."""
    before, after = _laid(old, style), _laid(new, style)
    return after if before == old and after != new else None


def _laid(text: str, style: CppStyle) -> str | None:
    match = _DIRECTIVE.fullmatch(re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", text))
    if match is None or "//" in text or "/*" in text or "\r" in text:
        return None
    whole = match["head"] + match["test"]
    if len(whole) <= style.limit:
        return whole
    lines = _chain(match["test"], match["head"], _INDENT, "", style.limit)
    if lines is None or not _fits(lines, style.limit):
        return None
    column = max(map(len, lines[:-1])) + 1 if style.left else style.limit - 1
    return "\n".join([*(f"{line:<{column}}\\" for line in lines[:-1]), lines[-1]])


def _chain(test: str, head: str, indent: int, tail: str, limit: int) -> list[str] | None:
    """A chain of operands behind `head`, each where it has room, in front of `tail`; None where two kinds are mixed."""
    signs, operands = _parted(test)
    if len({*signs}) > 1:
        return None
    lines, line, is_broken = list[str](), "", False
    for operand, sign in zip(operands, [*(f" {one}" for one in signs), tail], strict=True):
        below = _within(" " * indent, operand, sign, limit) if line else None
        here = _within(f"{line} " if line else head, operand, sign, limit) if not is_broken else None
        ways = [way for way in (below and [line, *below], here) if way and _fits(way, limit)]
        if not ways:
            return None
        whole = min(ways, key=len)  # of two the one that breaks further out
        lines, line = [*lines, *whole[:-1]], whole[-1]
        is_broken = operand not in line  # nothing follows a bracket of several lines
    return [*lines, line]


def _within(start: str, operand: str, sign: str, limit: int) -> list[str] | None:
    """An operand behind `start`: in one line, else what is in its brackets as a chain."""
    line, group = f"{start}{operand}{sign}", _GROUP.match(operand)
    if _fits([line], limit) or group is None:
        return [line]
    head = f"{start}{group[0]}"
    return _chain(operand[group.end() : -1], head, len(head), f"){sign}", limit)


def _fits(lines: Sequence[str], limit: int) -> bool:
    """Whether lines have room for a backslash behind each."""
    return all(len(line) <= limit - 2 for line in lines)


def _parted(test: str) -> tuple[Sequence[str], Sequence[str]]:
    """The signs between the operands of a condition outside of brackets, and the operands."""
    places = list(_signs(test))
    ends = [0, *(at + 2 for at, _ in places)]
    starts = [*(at for at, _ in places), len(test)]
    return [sign for _, sign in places], [test[end:start].strip() for end, start in zip(ends, starts, strict=True)]


def _signs(test: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(test):
        if test[at] == "(":
            at = max(at, matching(test, at))
        elif test[at : at + 2] in ("&&", "||"):
            yield at, test[at : at + 2]
            at += 1
        at += 1
