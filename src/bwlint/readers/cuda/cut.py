"""A C++ file in layers: its text without comments, without directives, and the places of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bwlint.readers.cuda.lexer import Code, clean
from bwlint.readers.cuda.preprocessor import Directives, directives
from bwlint.readers.cuda.scopes import Scopes, scopes, without_directives

MOST_KEPT = 48
"""Files that are cut up at a time: who asks for one mostly asks again soon, and all of them are as long as the tree."""


@dataclass(frozen=True, slots=True)
class CutText:
    """`text` is the blanked text without directives."""

    code: Code
    text: str
    found: Directives
    places: Scopes


@lru_cache(maxsize=MOST_KEPT)
def cut(source: str) -> CutText:
    """A source cut up. Never raises."""
    code = clean(source)
    found = directives(code)
    text = without_directives(code.text, found)
    return CutText(code, text, found, scopes(text, found))
