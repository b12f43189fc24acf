"""New items in a list or a table, in the layout that it has, inline or one to a line; a comment stays with its item."""

from __future__ import annotations

from collections.abc import Sequence

from bwlint.fix.python.syntax import Syntax
from bwlint.model.findings import Edit


def behind(
    syntax: Syntax, path: str, items: Sequence[tuple[int, int]], index: int, texts: Sequence[str]
) -> tuple[Edit, ...]:
    """The edits that put `texts` behind the item at `index`. `items` begin and end at these indexes of the text."""
    source = syntax.text.source
    begin, end = items[index]
    line = source.rfind("\n", 0, begin) + 1
    indent = source[line:begin]
    follows = index + 1 < len(items) and "\n" not in source[end : items[index + 1][0]]
    stop = source.find("\n", end)
    shared = source[end : max(stop, end)].partition("#")[0].strip() not in ("", ",")
    if indent.strip() or follows or shared or stop < 0:
        gap = source[items[0][1] : items[1][0]] if len(items) > 1 else ", "
        added = "".join(f"{', ' if chr(10) in gap else gap}{text}" for text in texts)
        alone = len(items) == 1 and source[end:].startswith((",)", ", )"))  # the comma of `(120,)`
        return (syntax.edit(path, end, end + alone, added),)
    newline = "\r\n" if source[stop - 1] == "\r" else "\n"
    stop -= len(newline) - 1
    added = "".join(f"{newline}{indent}{text}," for text in texts)
    if source[end:].lstrip().startswith(","):
        return (syntax.edit(path, stop, stop, added),)
    added = added.removesuffix(",")
    if stop == end:
        return (syntax.edit(path, end, end, f",{added}"),)
    return (syntax.edit(path, end, end, ","), syntax.edit(path, stop, stop, added))
