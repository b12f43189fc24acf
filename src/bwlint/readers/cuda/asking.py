"""Host code that may check the device: by the names it uses, or the numbers it compares with."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from bwlint.chips import EVERY
from bwlint.chips.spelling import IN_NAMES, NUMBER
from bwlint.evaluate.names import DEVICE
from bwlint.model.expr import Expr
from bwlint.model.naming import spoken
from bwlint.readers.cuda.lexer import Code, places

_PART = re.compile(r"[Ss][Mm]|[Aa]rch|ARCH|[Cc]apab|CAPAB|[Cc][Cc]|[Mm]ajor|[Mm]inor|[Pp]rop|haredMem|opper|lackwell")
_IDENTIFIER = re.compile(rf"\b\w*(?:{_PART.pattern})\w*")
_QUALIFIES = re.compile(r"\s*(?:::|<(?![<=\s]))")
_OF_ONE = re.compile(rf"{IN_NAMES}{NUMBER}_\w*(?!\w)(?!\s*\()")
"""SM90_TMA_LOAD, SM80_gemm_test: what is called after the chip that it is for."""
_TAG = re.compile(r"(?!Is|Has)[A-Z]\w*?(?:Sm\d|\dSm)|Sm\d")
"""`arch::Sm90`, `KernelTmaWarpSpecialized2Sm`: among the arguments of a template it picks what is instantiated."""
_BEGINS_ARGUMENT = re.compile(r"[<,]\s*(?:typename\s+)?(?:\w+\s*::\s*)*\Z")
_ENDS_ARGUMENT = re.compile(r"\s*[,>](?![=>]?=)")
_LONGEST_QUALIFIER = 80
_SAME = ("is_same", "is_same_v")
"""By these a template asks for which chip it is."""
_LAYOUTS = ("row_major", "column_major", "col_major")
NUMBERS = frozenset(chip.joined for chip in EVERY)
_PAIRS = frozenset((chip.major, chip.minor) for chip in EVERY)
MAJORS = frozenset(chip.major for chip in EVERY)
_ANY_NUMBER = "|".join(map(str, sorted(NUMBERS)))
# Each alternative begins with a plain character: that lets the engine skip to the next candidate.
COMPARED = "|".join(
    (
        *(rf"{operator}\s*(?:{_ANY_NUMBER})\b" for operator in ("==", "!=", "<=?", ">=?", r"case(?<!\wcase)")),
        *(
            rf"{word}[A-Za-z_]{{0,20}}\(\s*(?:{_ANY_NUMBER})\s*[,)]"
            for word in ("SM", "Sm", "sm", "ARCH", "Arch", "arch")
        ),
        rf"\((?:{'|'.join(f'{major}, ?{minor}' for major, minor in sorted(_PAIRS))})[,)]",
    )
)
"""A comparison with a number that a chip has, a call with its two numbers, or with one if called after chips."""
_MAJOR = rf"(?:{'|'.join(map(str, sorted(MAJORS)))})\b"
ASKED = "|".join(
    rf"{word}\w{{0,20}}(?:\(\))?\s*(?:[=!<>]=|[<>])\s*{_MAJOR}"
    for word in ("a(?i:rch)", "A(?i:rch)", r"s(?<!\ws)(?i:m)", r"S(?<!\wS)(?i:m)", "c(?i:apability)", "C(?i:apability)")
)
"""A comparison with a major of something that is called after the device."""
ANY_COMPARISON = re.compile(rf"{COMPARED}|{ASKED}|==\s*(?:{'|'.join(map(str, sorted(MAJORS)))}\s*&&|k[A-Z])")
"""Either of them, a capability that is asked for with `&&`, or a comparison with a constant."""
_NUMBER_BESIDE = re.compile(r"[=!<>]=? ?\d")


def asks_device(text: str) -> bool:
    """Whether a text compares something with a number, and names something that is called after the device."""
    return _NUMBER_BESIDE.search(text) is not None and may_ask(text, 0, len(text))


def may_ask(text: str, start: int, end: int) -> bool:
    """Whether a stretch has an identifier that may read the device; of namespaces and types it is a part."""
    return any(
        is_device(match[0]) and _reads(text, match.start(), match.end(), end)
        for match in _IDENTIFIER.finditer(text, start, end)
    )


def _reads(text: str, start: int, end: int, stop: int) -> bool:
    """Whether an identifier that may be the device stands for a value."""
    return not _QUALIFIES.match(text, end, stop) and not _OF_ONE.match(text, start, stop)


def _picks(text: str, start: int, end: int) -> bool:
    """Whether a name that a chip has stands among the arguments of a template."""
    if _TAG.match(text, start, end) is None or _ENDS_ARGUMENT.match(text, end) is None:
        return False
    return _BEGINS_ARGUMENT.search(text, max(0, start - _LONGEST_QUALIFIER), start) is not None


def device_words(code: Code) -> tuple[str, ...]:
    """The words of a file that may ask the device."""
    return (*filter(is_device, code.words_with(_PART)), *_SAME)


def asking(words: tuple[str, ...], text: str) -> list[int]:
    """Where functions of a text have the identifiers of `may_ask` that are among these words; no template arguments."""
    found = ((at, at + len(word)) for word in words for at in places(text, (word,)))
    return sorted(at for at, end in found if _reads(text, at, end, len(text)) and not _picks(text, at, end))


@cache
def is_device(word: str) -> bool:
    said = spoken(word)
    return not said.endswith(_LAYOUTS) and DEVICE.search(said) is not None


def names_a_chip(call: Expr) -> bool:
    """Whether a call is handed the number of a chip, or its major and its minor."""
    numbers = [item.args[0] if item.op == "const" else None for item in call.args[1]]
    return any(one in NUMBERS for one in numbers) or any(pair in _PAIRS for pair in pairwise(numbers))


def is_question(name: str) -> bool:
    return name[:1].islower() and is_device(name) and name.lower().startswith(("get", "is_", "is", "has", "supports"))
