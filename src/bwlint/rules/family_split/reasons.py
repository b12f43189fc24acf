"""What authors say at a gate for one member of a family: why it is meant so, or for which chip they wrote it.

"SM120" and "RTX 50" are what people call the whole family: such words are no reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import group, spelling, words
from bwlint.model.expr import walk
from bwlint.world.gates import Judged

_SECOND = group("second-consumer")
_NAME = rf"(?:{spelling.IN_WORDS}|\b)12\.?{{}}[af]?(?![0-9])"
_REASON = re.compile(rf"\b{words.said('on-purpose', 'tried', 'untried')}\b", re.I)
_HINT = re.compile(rf"\b{words.said('only-on', 'tuning')}\b", re.I)
_ONE_CARD = re.compile(rf"\bonly\W+(?:\w+\W+){{0,3}}?{words.nicknames(group('consumer-blackwell'))}", re.I)
_UNTRIED = re.compile(words.said("untried"), re.I)
_TWIN = re.compile(rf"{words.numbers(_SECOND)}|{words.nicknames(_SECOND)}", re.I)
_CERTIFIED = re.compile(rf"(?:\b|_){words.said('certified')}(?:\b|_)", re.I)
_BOTH = re.compile(rf"{_NAME.format(0)}\s*(?:[/,&+|]|and|or)\s*(?:{_NAME.format(1)}|12?1\b)", re.I)
_EXACT = re.compile(rf"{words.numbers(_SECOND)}|{words.nicknames(_SECOND)}|exact", re.I)


def given(comment: str) -> bool:
    """Whether a comment says why one part is meant: it was measured, tried or chosen."""
    return _REASON.search(comment) is not None


def hinted(comment: str) -> bool:
    """Whether a comment speaks of a choice, or of the twin as of something else."""
    return _HINT.search(comment) is not None or _ONE_CARD.search(comment) is not None or speaks_of_twin(comment)


def speaks_of_twin(said: str) -> bool:
    """12.1 is named by itself, and not together with 12.0 as a target of the code."""
    return _TWIN.search(_BOTH.sub("", said)) is not None


def untried(judged: Judged) -> bool:
    """Whether a text says that who is kept out was not tried, or names it."""
    return any(_UNTRIED.search(text) or speaks_of_twin(text) for text in texts(judged))


def named(judged: Judged) -> bool:
    """Whether the name of a flag, a table or a function is that of the twin, or says exact."""
    return _EXACT.search(judged.gate.name or judged.gate.qualname.rpartition(".")[2]) is not None


def certified(judged: Judged) -> bool:
    """Whether a list is of chips for which somebody has signed, whatever they run."""
    read = (node.args[1] for node in walk(judged.gate.test) if node.op == "var")
    said = (judged.gate.name, judged.gate.comment, *judged.mentioned, *read, *texts(judged))
    return any(map(_CERTIFIED.search, said))


def texts(judged: Judged) -> Iterator[str]:
    for side in (judged.gate.yes, judged.gate.no):
        yield from (text.text for text in side.texts)
