"""The report for people: each finding with its source, underlined, and what to write instead."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from bwlint.model.escape import visible
from bwlint.model.findings import SEVERITIES, WHOLE_FILE, Finding, Fix, Related, Report
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.patches import changed_lines, patches
from bwlint.report.snippet import Mark, Paint, columns, draw, last_line, reaches
from bwlint.report.words import evidence, sets

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "title": "1",
    "gutter": "1;34",
    "second": "1;34",
    "good": "32",
    "fair": "33",
    "bad": "31",
}


_MOST_ROWS = 12
_SIGNS = {"-": "bad", "+": "good"}
_CODE = re.compile(r"`[^`]*`")
_NO_FIX = "no automatic fix"
CAUSE = "cause"
"""Findings that say the same but for names: the first is shown whole, the others by their places."""
GROUPS: dict[str, Callable[[Finding], str]] = {
    "feature": lambda finding: finding.category,
    "rule": lambda finding: f"{finding.rule} {finding.name}",
    "folder": lambda finding: posixpath.dirname(finding.path) or ".",
}
"""By what findings are told together."""


_ChangedRows: TypeAlias = tuple[str, tuple[tuple[str, int, str], ...]]
"""A file, and its lines that an edit changes."""


def render(report: Report, setting: Setting) -> str:
    """The findings of `report`, a block each with an empty line between; a group below a line with its number."""
    paint, shown = painter(setting.color), set[_ChangedRows]()

    def blocks(findings: Iterable[Finding]) -> str:
        found = (_block(finding, setting, paint, shown) for finding in findings)
        return "\n".join("".join(f"{row}\n" for row in block) for block in found)

    if setting.group_by == CAUSE:
        found = by_cause(report.findings)
        return "\n".join(f"{blocks(one[:1])}{_others(one, setting, paint)}" for one in found)
    if setting.group_by not in GROUPS:
        return blocks(report.findings)
    groups: dict[str, list[Finding]] = {}
    for finding in report.findings:
        groups.setdefault(GROUPS[setting.group_by](finding), []).append(finding)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    heads = [paint(visible(f"== {name}: {counted(len(found), 'finding')}"), "title") for name, found in ordered]
    return "\n".join(f"{head}\n\n{blocks(found)}" for head, (_, found) in zip(heads, ordered, strict=True))


def concise(report: Report, setting: Setting) -> str:
    """The findings of `report`, one a line: ``path:line:col: warning[BW101] family-split: message``."""
    places = (f"{one.path}:{one.region.line}:{one.region.column}" for one in report.findings)
    return "".join(f"{in_a_line(one, where)}\n" for one, where in zip(report.findings, places, strict=True))


def in_a_line(finding: Finding, where: str) -> str:
    return visible(f"{where}: {finding.severity}[{finding.rule}] {finding.name}: {finding.message}")


def by_cause(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that differ only in names and in edits together: those in bundled projects last, then the gravest first,
    then the most frequent, and in each those with a safe edit."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        told = (f"{key} {value}" for key, value in _remarks(one) if key not in ("fix", _NO_FIX))
        said = (_CODE.sub("`", text) for text in (one.message, *told))
        groups.setdefault((one.bundled, one.severity, one.rule, *said), []).append(one)
    fixed_first = (sorted(group, key=_ease) for group in groups.values())
    return sorted(fixed_first, key=_place_in_report)


def _place_in_report(group: list[Finding]) -> tuple[bool, int, int]:
    return bool(group[0].bundled), -SEVERITIES.index(group[0].severity), -len(group)


def _ease(finding: Finding) -> int:
    """A safe edit before an unsafe one before none."""
    return 2 if finding.fix is None else int(finding.fix.applicability != "safe")


def _others(group: Sequence[Finding], setting: Setting, paint: Paint) -> str:
    """The places of a group but for its first, a line each with the name in which its message differs."""
    if len(group) == 1:
        return ""
    more = f"{counted(len(group) - 1, 'more place')} with this fault"
    indent = " " * _gutter(_marks(group[0]))
    lines = [f"{indent} {paint('=', 'gutter')} {paint('also:', 'title')} {more}"]
    named = _CODE.findall(group[0].message)
    for one in group[1:]:
        other = next((name for name in _CODE.findall(one.message) if name not in named), "")
        mark = Mark(one.region, "", one.severity, False)
        unlike = f"({_NO_FIX})" if group[0].fix and not one.fix else ""
        said = " ".join(filter(None, (_place(one.path, mark, setting), visible(other), unlike)))
        lines.append(f"{indent}   {said}")
    return "".join(f"{line}\n" for line in lines)


_STYLED = re.compile(r"\x1b\[[\d;]*m")
_HANG = 4


def folded(lines: Iterable[str], setting: Setting) -> Iterator[str]:
    """The lines, those that are too wide for a terminal continued below, where they are indented. No word is cut."""
    for line in lines:
        rows = [""]
        if not setting.folds or columns(_STYLED.sub("", line)) <= setting.width:
            yield line
            continue
        hang = " " * (len(line) - len(line.lstrip()) + _HANG)
        for gap, word in re.findall(r"(\s*)(\S+)", line):
            longer = f"{rows[-1]}{gap}{word}"
            if rows[-1] and columns(_STYLED.sub("", longer)) > setting.width:
                rows.append(hang + word)
            else:
                rows[-1] = longer
        yield from rows


def painter(color: bool) -> Paint:
    """What paints a text in one of `STYLES`, or leaves it as it is."""
    return _color if color else lambda text, _: text


def _color(text: str, style: str) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text else text


def _block(finding: Finding, setting: Setting, paint: Paint, shown: set[_ChangedRows]) -> Iterator[str]:
    marks = _marks(finding)
    gutter = _gutter(marks)
    bar = paint(f"{'':>{gutter}} |", "gutter")
    head = paint(visible(f"{finding.severity}[{finding.rule}]"), finding.severity)
    yield head + paint(visible(f" {finding.name}: {finding.message}"), "title")
    arrow = "-->"
    for path, group in marks:
        for place, rows in _places(path, group, gutter, setting, paint):
            yield f"{'':>{gutter}}{paint(arrow, 'gutter')} {place}"
            yield from (bar, *rows) if rows else ()
            arrow = ":::"
    yield bar
    for key, value in _remarks(finding):
        yield f"{'':>{gutter}} {paint('=', 'gutter')} {paint(f'{key}:', 'title')} {visible(value)}"
        if key == "fix" and finding.fix:
            yield from (f"{'':>{gutter}}   {row}" for row in _changes(finding, setting, paint, shown))


def _gutter(marks: Iterable[tuple[str, list[Mark]]]) -> int:
    """The width of the largest number of a line to draw."""
    return len(str(max(last_line(group) for _, group in marks)))


def _places(
    path: str, marks: list[Mark], gutter: int, setting: Setting, paint: Paint
) -> Iterator[tuple[str, list[str]]]:
    """The places to name in a file, each with the rows to draw below it; the first that is drawn has all. A mark that
    the source at hand does not reach is a place of its own, without rows."""
    lines = setting.lines(path) or ()
    drawn = [mark for mark in marks if reaches(lines, mark)]
    for mark in marks:
        if mark not in drawn:
            yield f"{_place(path, mark, setting)} {visible(mark.label)}".rstrip(), []
        elif mark is drawn[0]:
            yield _place(path, mark, setting), list(draw(lines, drawn, gutter, setting.width, paint))


def _place(path: str, mark: Mark, setting: Setting) -> str:
    at = "" if mark.region == WHOLE_FILE else f":{mark.region.line}:{mark.region.column}"
    return linked(f"{visible(path)}{at}", path, setting)


def linked(text: str, path: str, setting: Setting) -> str:
    """`text`, which can be clicked on where the terminal shows links and `path` is a file."""
    # Members of wheels are nothing that a terminal could open.
    if not setting.links or not Path(path).is_file():
        return text
    return f"\x1b]8;;{Path(path).resolve().as_uri()}\x1b\\{text}\x1b]8;;\x1b\\"


_MOST_DRAWN = 12
"""Places like that of a finding that are drawn; the lines of the rest are named."""


def _marks(finding: Finding) -> list[tuple[str, list[Mark]]]:
    """What to underline, the finding's own first, then in the order of calls: what leads to another file, or back up in
    the same one, begins a new group. What was a finding by itself stands with the first."""
    own = [Mark(finding.region, finding.label, finding.severity, True)]
    groups = [(finding.path, own)]
    before = 0
    for related, said in _shortened(finding):
        mark = Mark(related.region, said, "second", False)
        path, group = groups[-1]
        if related.rule and related.path == finding.path:
            own += [mark] if len(own) <= _MOST_DRAWN else []
            continue
        if path == related.path and before <= related.region.line:
            group.append(mark)
        else:
            groups.append((related.path, [mark]))
        before = related.region.line
    return groups


_STEP = re.compile(r"`[^`]+` uses `[^`]+`")


def _shortened(finding: Finding) -> Iterator[tuple[Related, str]]:
    """The other places with their labels: of calls that lead on the first and the last, of equal ones in a file one."""
    runs: list[list[Related]] = []
    for one in finding.related:
        before = runs[-1][0] if runs else None
        is_step = before is not None and all(_STEP.fullmatch(each.message) for each in (before, one))
        again = before is not None and (before.path, before.message) == (one.path, one.message) and not one.rule
        if runs and (is_step or again):
            runs[-1].append(one)
        else:
            runs.append([one])
    for first, *others in runs:
        said = "here too" if first.message == finding.message else first.message
        if not others or first.rule:
            yield from ((one, said) for one in (first, *others))
        elif others[0].message == first.message:
            lines = ", ".join(str(one.region.line) for one in others)
            yield first, f"{said}, also at {'lines' if len(others) > 1 else 'line'} {lines}"
        elif len(others) == 1:
            yield first, said
            yield others[0], others[0].message
        else:
            yield first, said
            yield others[-1], f"{len(others)} calls later: {others[-1].message}"


def _remarks(finding: Finding) -> Iterator[tuple[str, str]]:
    for name, chips in sets(finding):
        if re.search(rf" {re.escape(chips)}(?: \(|$)", finding.label) is None:  # which says the same
            yield name, chips
    also = [one.region.line for one in finding.related if one.rule and one.path == finding.path][_MOST_DRAWN:]
    if also:
        yield "also here", f"{'lines' if len(also) > 1 else 'line'} {', '.join(map(str, sorted(also)))}"
    if finding.advice:
        yield "instead", finding.advice
    if finding.fix:
        yield "fix", _fix(finding.fix)
    elif finding.fix_refused:
        yield _NO_FIX, finding.fix_refused
    if finding.verdict is not None:
        yield finding.verdict.outcome, finding.verdict.reason
    if finding.trace is not None:
        yield finding.trace.sighting, finding.trace.reason


def _fix(fix: Fix) -> str:
    """What an edit does, and how sure it is."""
    _, doubt = evidence(fix.proof)
    return f"{fix.title} ({fix.applicability}{f': {doubt}' if doubt else ''})"


def _changes(finding: Finding, setting: Setting, paint: Paint, shown: set[_ChangedRows]) -> Iterator[str]:
    """The lines that a fix takes away and adds, with the name of each further file; the first of many. A file whose
    lines are `shown` under another finding, to which they are added, is named alone."""
    rows: list[str] = []
    for path, hunks in patches([finding], setting.lines)[0]:
        changed = list(changed_lines(hunks))
        if changed and (path, tuple(changed)) in shown:
            rows.append(f"{visible(path)}: the same edit as above")
            continue
        shown.add((path, tuple(changed)))
        if path != finding.path or rows:
            rows.append(visible(path))
        width = len(str(max((line for _, line, _ in changed), default=0)))
        rows += [paint(f"{sign} {line:>{width}} | {visible(text)}", _SIGNS[sign]) for sign, line, text in changed]
    yield from rows[:_MOST_ROWS]
    if len(rows) > _MOST_ROWS:
        yield f"... {counted(len(rows) - _MOST_ROWS, 'more row')}: --fix --unsafe-fixes --diff shows all"
