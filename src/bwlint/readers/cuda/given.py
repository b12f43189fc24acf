"""Host code that may check the device, by the names it uses or the numbers it compares with, and the values of names.

Values are those that a file assigns to constants, fields and parameters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from bwlint.chips import EVERY, queries
from bwlint.chips.spelling import IN_NAMES, NUMBER
from bwlint.evaluate.names import DEVICE
from bwlint.model.expr import TAG, Expr, Span, const, unknown, walk
from bwlint.model.facts import Function
from bwlint.model.naming import spoken
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.lexer import Code, between_commas, matching, places
from bwlint.readers.cuda.scopes import CodeScope, Scopes

_SAID = re.compile(r"[Ss][Mm]|[Aa]rch|ARCH|[Cc]apab|CAPAB|[Cc][Cc]|[Mm]ajor|[Mm]inor|[Pp]rop|haredMem|opper|lackwell")
_IDENTIFIER = re.compile(rf"\b\w*(?:{_SAID.pattern})\w*")
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
    return (*filter(is_device, code.words_with(_SAID)), *_SAME)


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


MAX_VALUES = 8
MAX_SITES = 60
_CONSTANT = re.compile(
    r"const(?<!\wconst)(?:expr)?\b[^;={}()]{0,80}?\b(?P<name>[A-Za-z_]\w*)\s*[={]\s*(?P<value>\d{1,9})[uUlL]*\s*\}?\s*;"
)
_NUMBERS = frozenset(number for chip in EVERY for number in (chip.joined, 10 * chip.joined))
_OLDEST = min(chip.joined for chip in EVERY)
_ENUM = re.compile(
    r"enum(?<!\wenum)\s+(?:(?:class|struct)\s+)?(?:\w+\s*)?(?::\s*[\w:]+\s*)?\{(?P<body>[^{}]{1,4000})\}"
)
_ENUMERATOR = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<value>-?\d{1,9})\s*)?")
_MEMBER = re.compile(r"\b(?P<name>[A-Za-z_]\w*)[ ]?(?:=(?!=)|\{)[ ]?(?P<value>[^\s;{}=][^;{}=\n]{0,200})\}?;")
_DECLARED = re.compile(rf"\b{queries.structures()}\b(?:\s*(?:\*|&|const\b))*\s*(?P<name>[A-Za-z_]\w*)\s*(?=[;,)={{]|$)")
_GIVES = re.compile(rf"\b{queries.structures()}\b(?:\s*(?:\*|&|const\b))*\s*(?:\w+::)*(?P<name>\w+)\s*\(")
_INITIALISERS = re.compile(r"\)\s{0,40}:(?!:)")
_INITIALISED = re.compile(r"[:,]\s*(?P<name>\w+)\s*[({]")
_ELEMENT = re.compile(r"\]\s*(?:\.|->)\s*(?P<name>[A-Za-z_]\w*)\s*==\s*[A-Za-z_][\w.]*(?![\w.]*\[)")
"""`rows[i].sm == sm`: a row is looked up by a field, which is that row's and no device's."""
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?$")
_UNSHARED = re.compile(r"\bstatic\b|^\s*#")
_NAMELESS = re.compile(r"\bnamespace\s*\{")


@dataclass(slots=True)
class Sites:
    """Where the functions that were walked say what names are given."""

    fields: dict[str, list[Expr]] = field(default_factory=lambda: defaultdict(list))
    wanted: dict[str, tuple[CodeScope, tuple[str, ...]]] = field(default_factory=dict)
    """Functions whose parameters are of interest, by their last names, with the parameters."""
    calls: dict[int, tuple[Expr, ...]] = field(default_factory=dict)
    """What calls of them hand over, by offset."""


def constants(text: str, scopes: Scopes | None = None) -> dict[str, Expr]:
    """The whole numbers that a file names outside of its functions; those called after the device for includers too."""
    found = [one for one in _CONSTANT.finditer(text) if scopes is None or scopes.function(one.start()) is None]
    numbers = {one["name"]: const(int(one["value"])) for one in found}
    members = {f".{spoken(name)}": value for name, value in numbers.items() if is_device(name)}
    return {**_enumerators(text), **members, **numbers}


def defined(macros: Mapping[str, Function]) -> dict[str, Expr]:
    """The macros that stand for the number of a chip, or are called after the device."""
    found = {name: {value.args for _, value in one.returns} for name, one in macros.items() if not one.params}
    numbers = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    known = {name: value[0] for name, value in numbers.items() if isinstance(value[0], int)}
    return {name: const(value) for name, value in known.items() if value in _NUMBERS or is_device(name)}


def _enumerators(text: str) -> dict[str, Expr]:
    """The numbers behind the names of enumerations, where a name has one."""
    found: dict[str, set[int]] = defaultdict(set)
    for one in _ENUM.finditer(text):
        number, counted = -1, True
        for part in one["body"].split(","):
            named = _ENUMERATOR.fullmatch(part)
            if named is None:
                break  # what follows a value that is computed is not known
            number = int(named["value"] or number + 1)
            counted = counted and not int(named["value"] or 0)
            if counted and number >= _OLDEST:
                break  # the ninetieth of a long list is no Hopper
            found[named["name"]].add(number)
    return {name: const(min(numbers)) for name, numbers in found.items() if len(numbers) == 1}


def declared(text: str, start: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in a stretch that are declared as the properties of a device, and where."""
    if text.find("DeviceProp", start, end) >= 0:
        for one in _DECLARED.finditer(text, start, end):
            yield one["name"], one.span("name")


def gives_properties(text: str, scope: CodeScope) -> bool:
    """Whether a function is declared to return the properties of a device, wherever it keeps them."""
    return any(one["name"] == plain_name(scope) for one in _GIVES.finditer(text, scope.header, scope.open))


def properties(text: str, scopes: Scopes) -> dict[str, Expr]:
    """`.field` for each member or variable of a file that holds the properties of a device."""
    found = ((name, at) for name, (at, _) in declared(text, 0, len(text)) if scopes.function(at) is None)
    return {f".{spoken(name)}": Expr("source", ("properties",)) for name, _ in found}


def names(sites: Sites, code: Code, text: str, scopes: Scopes) -> dict[str, Expr]:
    """`.field` and `f(parameter)`, each with all that is given to it."""
    for start, end in scopes.between(len(text)):
        for one in _MEMBER.finditer(text, start, end):
            value = lower(code, *one.span("value"), global_name)
            sites.fields[spoken(one["name"])].append(value)
    for scope in scopes.functions:
        for start, end, name in initialised(text, scope):
            sites.fields[spoken(name)].append(lower(code, start, end, global_name))
    fields = {f".{name}": joined(values) for name, values in sites.fields.items()}
    found = {name: value for name, value in fields.items() if _says(value)}
    keys = {spoken(one["name"]) for one in _ELEMENT.finditer(text)}
    found |= {f".{name}": unknown(TAG) for name in keys & sites.fields.keys() if not _is_copy(name, sites.fields[name])}
    unnamed = _NAMELESS.search(text)
    nameless = unnamed.start() if unnamed is not None else -1
    handed: dict[str, list[Expr]] = {}
    for name, (scope, params) in sites.wanted.items():
        rows = list(_handed(sites, code, text, scopes, scope, name))
        own = scope.header > nameless >= 0 or _UNSHARED.search(text, scope.header, scope.open) is not None
        for position, param in enumerate(params):
            column = [row[position] for row in rows if position < len(row)]
            if column and (own or not is_tag(joined(column))):
                handed[f"{scope.qualname}({param})"] = column
    return found | {name: joined(_told(column, handed)) for name, column in handed.items()}


def _is_copy(name: str, values: Sequence[Expr]) -> bool:
    """Whether a field repeats that of the same name: a record of a device, and no key by which rows are looked up."""
    return any(node.op == "attr" and spoken(node.args[1]) == name for value in values for node in walk(value))


def _told(column: Sequence[Expr], handed: Mapping[str, object]) -> Sequence[Expr]:
    """What calls hand over, but for what a function for other files only passes on: they are to say what that is."""
    told = [one for one in column if one.op != "param" or "{}({})".format(*one.args) in handed]
    return told if any(not _is_number(one) for one in told) else column


def initialised(text: str, scope: CodeScope) -> Iterator[tuple[int, int, str]]:
    """What a constructor gives to its members in front of its body: where that stands, and the member."""
    begun = _INITIALISERS.search(text, scope.header, scope.open)
    for one in _INITIALISED.finditer(text, begun.end() - 1, scope.open) if begun is not None else ():
        end = matching(text, one.end() - 1, scope.open - one.end() + 1)
        if end >= 0:
            yield one.end(), end, one["name"]


def global_name(name: str, at: Span) -> Expr:
    return Expr("name", (name.rpartition("::")[2],), at)


def _handed(sites: Sites, code: Code, text: str, scopes: Scopes, scope: CodeScope, name: str) -> list[tuple[Expr, ...]]:
    """The arguments of each call of a function in the bodies of others."""
    rows: list[tuple[Expr, ...]] = []
    if text.count(name) < 2:  # its own definition
        return rows
    word = re.escape(name)
    for mention in re.finditer(rf"{word}(?<!\w{word})\s*(?:<[^<>;()]{{0,80}}>)?\s*\(", text):
        around = scopes.function(mention.start())
        if around is None or around == scope or mention.start() < around.open or len(rows) > MAX_SITES:
            continue
        close = matching(text, mention.end() - 1, 4000)
        if close >= 0:
            parts = between_commas(text, mention.end(), close)
            rows.append(sites.calls.get(mention.start()) or tuple(lower(code, *part, global_name) for part in parts))
    return rows


def joined(values: Sequence[Expr]) -> Expr:
    """One of several values; different numbers are a tag, and beside anything else no more than a beginning."""
    others = [value for value in values if not _is_number(value)]
    if not others:
        return values[0] if len({value.args for value in values}) == 1 else unknown(TAG)
    found = others[0]
    for value in others[1:MAX_VALUES]:
        found = Expr("if", (unknown("which"), value, found))
    return found


def _says(value: Expr) -> bool:
    """Whether what a file gives to a field is more than a beginning, or one of several: other files may set it too."""
    return value.op == "const" and isinstance(value.args[0], int) and value.args[0] > 1 if is_tag(value) else True


def is_tag(value: Expr) -> bool:
    return _is_number(value) or (value.op == "unknown" and value.args[0] == TAG)


def _is_number(value: Expr) -> bool:
    return value.op == "const" or (value.op == "neg" and value.args[0].op == "const")


def plain_name(scope: CodeScope) -> str:
    """How others call a function or a macro."""
    return scope.name.rpartition("::")[2].partition("#")[0].removesuffix("()")


def parameters(text: str, scope: CodeScope) -> list[str]:
    """The names of a function's parameters, as far as they are plain."""
    opening = text.find(plain_name(scope), scope.header, scope.open)
    opening = text.find("(", opening, scope.open) if opening >= 0 else -1
    close = matching(text, opening, scope.open - opening + 1) if opening >= 0 else -1
    if close < 0:
        return []
    names = [_PARAMETER.search(text[begin:end]) for begin, end in between_commas(text, opening + 1, close)]
    return [found[1] if found else "" for found in names] if text[opening + 1 : close].strip() else []
