"""What stands between brackets: the arguments of calls and of templates, by their offsets."""

from __future__ import annotations

import re

from bwlint.readers.cuda.lexer import matching

_BEHIND_ARGUMENTS = ("::", "(", "{", ")", ";", ",", ">>>")
LONGEST = 400
"""Characters of the arguments of a template in an expression."""
_ANGLE = re.compile(r"[<>,;(){}\[\]]")


def template_end(text: str, opening: int) -> int:
    """Behind the arguments of a template at an opening angle; -1 where it is none."""
    parts = arguments(text, opening, LONGEST)
    end = parts[-1][1] + 1 if parts else -1
    return end if text.startswith(_BEHIND_ARGUMENTS, end) else -1


def arguments(text: str, opening: int, limit: int = 2_000) -> list[tuple[int, int]] | None:
    """The offsets of each argument in the brackets at `opening`, which may be angular; None where they do not end."""
    parts: list[tuple[int, int]] = []
    angular = text[opening] == "<"
    start, depth, at = opening + 1, 0, opening + 1
    stop = min(len(text), opening + limit)
    while (mark := _ANGLE.search(text, at, stop)) is not None:
        at = mark.end()
        if mark[0] in "([{":
            close = matching(text, mark.start(), limit)
            if close < 0:
                return None
            at = close + 1
        elif mark[0] == "," and depth == 0:
            parts.append((start, mark.start()))
            start = at
        elif mark[0] == "<" and angular:
            depth += 1
        elif (mark[0] == ">" and angular and depth == 0) or (mark[0] in ")]}" and not angular):
            parts.append((start, mark.start()))
            return parts if text[parts[0][0] : parts[-1][1]].strip() else []
        elif mark[0] == ">" and angular:
            depth -= 1
        elif mark[0] == ";" or mark[0] in ")]}":
            return None
    return None
