"""A branch of its own for a later toolkit, in front of the one whose toolkits do not all know a target."""

from __future__ import annotations

from bwlint.fix.buildfiles.spellings import Piece
from bwlint.readers.buildfiles.cmake_syntax import Command, commands


def branched(source: str, inner: Piece, low: str, first: str) -> Piece | None:
    """The branch that holds nothing but the changed set(), again for CUDA `first` and newer and with the change.

    None where the condition does not name `low` once, or the branch does more than to set one list.
    """
    found = list(commands(source))
    place = next((n for n, one in enumerate(found) if one.start <= inner.start and inner.end <= one.end), 0)
    if not 0 < place < len(found) - 1:
        return None
    opening, body, following = found[place - 1 : place + 2]
    if opening.name not in ("if", "elseif") or body.name != "set" or following.name not in ("elseif", "else", "endif"):
        return None
    condition = _condition(source, opening, low, first)
    if condition is None:
        return None
    changed = source[opening.end : inner.start] + inner.text + source[inner.end : following.start]
    joint = "else" if opening.name == "if" else ""
    return Piece(opening.start, opening.start, condition + changed + joint)


def _condition(source: str, opening: Command, low: str, first: str) -> str | None:
    versions = [one for one in opening.arguments if one.text == low]
    if len(versions) != 1:
        return None
    number = source.find(low, versions[0].start)
    return source[opening.start : number] + first + source[number + len(low) : opening.end]
