"""Names of kernels for people, and for grouping: `_ZN3ops15rms_norm_kernelIfLi4EEEvPT_` is `ops::rms_norm_kernel`.

Of the Itanium C++ ABI's mangling, this reads the name that a symbol begins with, up to its parameters. Types and
expressions in template arguments are passed over, which takes knowing where each ends. What is not understood is
handed back as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bwlint.chips.spelling import IN_NAMES, ROUGHLY, SM

_DEPTH = 96
_END = "\0\0"

_STANDARD = frozenset("tabsiod")
_NAMELESS = ""
_DIGITS = frozenset("0123456789")
_BUILTIN = frozenset("vwbcahstijlmxynofdegz")
_EXTENDED = frozenset("dehfisuanc")
_PREFIXES = frozenset("PROKVrCG")
# Arguments that are complete in themselves: built-in and earlier types, and values of these.
_FLAT = re.compile(
    r"(?:[PROKV]*(?:[vwbcahstijlmxynofde]|S[0-9A-Z]*_|T\d*_|Dn)|L(?:[wbcahstijlmxyno]|S[0-9A-Z]*_)n?\d+E)+"
)
_STATIC = "__nv_static_"
_UNNAMED = ("_GLOBAL__N_", "_INTERNAL_")

# A tag is a whole word, or stands behind a small letter and begins with a large one: "_sm90", "Sm100fKernel".
_NUMBER = rf"{ROUGHLY}[af]?(?![0-9a-z])"
_TAG = re.compile(
    rf"^{IN_NAMES}{_NUMBER}_?|_{IN_NAMES}{_NUMBER}(?:_(?:or_later|plus|to(?=_{SM})))?|(?<=[a-z0-9])S[mM]_?{_NUMBER}"
)
# An inline namespace that keeps builds apart: a version, then all targets that it was compiled for.
_BUILD_TAG = re.compile(r"_\d{6}(?:_SM)?(?:_\d{3,4})+(?:_NS)?$")


class _Unknown(Exception):
    """What stands here is not understood."""


def readable(mangled: str) -> str:
    """The qualified name, without template arguments, parameters and anonymous namespaces.

    The name as given where it is none of C++ (extern "C"), or is not understood.
    """
    return "::".join(_components(mangled))


def operation(mangled: str) -> str:
    """As `readable`, also without what says for which SM it was built: `fa::fwd` of `fa::fwd_sm90<64>`."""
    found = [_TAG.sub("", component) for component in _components(mangled) if not _BUILD_TAG.search(component)]
    return "::".join(component for component in found if component) or readable(mangled)


def _components(mangled: str) -> tuple[str, ...]:
    start = mangled.find("_Z", len(_STATIC)) if mangled.startswith(_STATIC) else 0
    if start < 0 or not mangled.startswith("_Z", start):
        return (mangled,)
    try:
        found = _NameParser(mangled, start + 2).name()
    except (_Unknown, RecursionError):
        return (mangled,)
    if _NAMELESS in found:
        return (mangled,)
    named = tuple(component for component in found if not component.startswith(_UNNAMED))
    return named or (mangled,)


class _NameParser:
    """Goes over a mangled name once, from left to right; every method begins at its construct and ends behind it."""

    def __init__(self, text: str, at: int) -> None:
        # What is behind the end is no part of any construct, and saves asking where that is.
        self.text = text + _END
        self.at = at
        self.depth = 0

    def name(self) -> list[str]:
        """The components of a name, without its template arguments.

        "" stands for one that no kernel has: an operator, a constructor, a part that was named earlier.
        """
        self._enter()
        found = self._name()
        self.depth -= 1
        return found

    def _name(self) -> list[str]:
        head = self._peek()
        if head == "N":
            return self._nested()
        if head == "Z":
            return self._local()
        found = [self._standard()] if head == "S" else []
        if found != [_NAMELESS]:
            found.append(self._unqualified())
        if self._peek() == "I":
            self._arguments()
        return found

    def _nested(self) -> list[str]:
        self.at += 1
        while self._peek() in "rVKRO":
            self.at += 1
        found: list[str] = []
        while (head := self._peek()) != "E":
            if head == "I":
                self._arguments()
            elif head == "S":
                found.append(self._standard())
            elif head == "M":
                self.at += 1
            elif head == "T" or self.text.startswith(("DT", "Dt"), self.at):
                self._type()
                found.append(_NAMELESS)
            else:
                found.append(self._unqualified())
            if len(found) > _DEPTH:
                raise _Unknown
        self.at += 1
        return found

    def _local(self) -> list[str]:
        """What is declared in a function: Z, the function, E, and its own name or s for a string."""
        self.at += 1
        found = self.name()
        self._until_end(self._type)
        if self._peek() == "s":
            self.at += 1
        else:
            if self._peek() == "d":
                self.at += 1
                self._number()
                self._expect("_")
            found = found + self.name()
        if self._peek() == "_":
            self.at += 1
            if self._peek() == "_":
                self.at += 1
            self._number()
        return found

    def _standard(self) -> str:
        """St is std; Sa and so on are types of it, S_ and S0_ something that was named earlier."""
        self._expect("S")
        head = self._next()
        if head == "t":
            return "std"
        if head in _STANDARD:
            return _NAMELESS
        while head != "_":
            if not (head in _DIGITS or head.isupper()):
                raise _Unknown
            head = self._next()
        return _NAMELESS

    def _unqualified(self) -> str:
        if self._peek() == "L":
            self.at += 1
        head = self._peek()
        if head in _DIGITS:
            found = self._source()
        elif head == "U":
            found = self._unnamed()
        elif head in "CD" and self._peek(1) in _DIGITS:
            self.at += 2
            found = _NAMELESS
        else:
            self._operator()
            found = _NAMELESS
        while self._peek() == "B":
            self.at += 1
            self._source()
        return found

    def _source(self) -> str:
        size = self._number()
        start, self.at = self.at, self.at + size
        if size == 0 or self.at > len(self.text) - len(_END):
            raise _Unknown
        return self.text[start : self.at]

    def _unnamed(self) -> str:
        """A lambda (Ul, its parameters, E) or another type without a name (Ut)."""
        self.at += 1
        kind = self._next()
        if kind == "l":
            self._until_end(self._type)
        elif kind != "t":
            raise _Unknown
        self._number()
        self._expect("_")
        return _NAMELESS

    def _operator(self) -> None:
        code = self.text[self.at : self.at + 2]
        if len(code) < 2 or not code[0].islower() or not code[1].isalpha():
            raise _Unknown
        self.at += 2
        if code == "cv":
            self._type()
        elif code == "li":
            self._source()

    def _arguments(self) -> None:
        """Template arguments, I to E (packs are J to E)."""
        self.at += 1
        while self.text[self.at] != "E":
            flat = _FLAT.match(self.text, self.at)
            if flat:
                self.at = flat.end()
            else:
                self._argument()
        self.at += 1

    def _argument(self) -> None:
        head = self._peek()
        if head == "L":
            self._literal()
        elif head == "X":
            self.at += 1
            self._until_end(self._expression)
        elif head in "IJ":
            self._enter()
            self._arguments()
            self.depth -= 1
        else:
            self._type()

    def _type(self) -> None:
        self._enter()
        while self._peek() in _PREFIXES:
            self.at += 1
        head = self._peek()
        if head in "NZ" or head in _DIGITS:
            self.name()
        elif head == "S":
            self._substituted()
        elif head in _BUILTIN:
            self.at += 1
        elif head == "u":
            self.at += 1
            self._source()
        elif head == "T":
            self._parameter()
        elif head == "F":
            self.at += 1
            while self._peek() in "YRO":
                self.at += 1
            self._until_end(self._type)
        elif head == "A":
            self._array()
        elif head == "M":
            self.at += 1
            self._type()
            self._type()
        elif head == "D":
            self._extended()
        elif head == "U":
            self._qualified()
        else:
            raise _Unknown
        if self._peek() == "I":
            self._arguments()
        self.depth -= 1

    def _substituted(self) -> None:
        if self._peek(1) == "t":
            self.name()
        else:
            self._standard()

    def _parameter(self) -> None:
        """T_, T0_."""
        self._expect("T")
        if self._peek() in "sue":
            self.at += 1
            self.name()
            return
        self._number()
        self._expect("_")

    def _array(self) -> None:
        self.at += 1
        if self._peek() in _DIGITS:
            self._number()
        elif self._peek() != "_":
            self._expression()
        self._expect("_")
        self._type()

    def _extended(self) -> None:
        """Types that begin with D: decltype, packs, vectors, _Float16 and so on."""
        self.at += 1
        kind = self._next()
        if kind in "tT":
            self._until_end(self._expression)
        elif kind in "pPo":
            self._type()
        elif kind == "v":
            if self._peek() == "_":
                self.at += 1
                self._expression()
            else:
                self._number()
            self._expect("_")
            self._type()
        elif kind == "F":
            self._number()
            self.at += self._peek() in "bx"
            self.at += self._peek() == "_"
        elif kind in "OwB":
            self._until_end(self._expression)
        elif kind not in _EXTENDED:
            raise _Unknown

    def _qualified(self) -> None:
        """A qualifier of the vendor's, then the type; or a type without a name."""
        if self._peek(1) in "lt":
            self._unnamed()
            return
        self.at += 1
        self._source()
        if self._peek() == "I":
            self._arguments()
        self._type()

    def _literal(self) -> None:
        """L, a type, its value, E; or L_Z, a whole symbol, E."""
        self.at += 1
        if self.text.startswith("_Z", self.at):
            self.at += 2
            self.name()
            self._until_end(self._type)
            return
        self._type()
        while self._peek() in "0123456789abcdefn_":
            self.at += 1
        self._expect("E")

    def _expression(self) -> None:
        """One operand or operator; who reads to the end of a list of them need not know which belong together."""
        self._enter()
        head = self._peek()
        if head == "L":
            self._literal()
        elif head == "T":
            self._parameter()
        elif head in "IJ":
            self._arguments()
        elif head in _DIGITS or head in "NSZ":
            self.name()
        elif head == "f" and self._peek(1) in "pL":
            self._function_parameter()
        elif head.islower() and self._peek(1).isalpha():
            self._operation()
        else:
            raise _Unknown
        self.depth -= 1

    def _function_parameter(self) -> None:
        """fp_, fpK0_, fL1p_."""
        start, self.at = self.at, self.at + 2
        if self.text[start + 1] == "L":
            self._number()
            self._expect("p")
        while self._peek() in "rVK":
            self.at += 1
        self._number()
        self._expect("_")

    def _operation(self) -> None:
        code = self.text[self.at : self.at + 2]
        self.at += 2
        if code in ("st", "at", "ti"):
            self._type()
        elif code in ("cl", "il"):
            self._until_end(self._expression)
        elif code == "tl":
            self._type()
            self._until_end(self._expression)
        elif code == "cv":
            self._type()
            if self._peek() == "_":
                self.at += 1
                self._until_end(self._expression)
        elif code in ("sc", "dc", "cc", "rc"):
            self._type()
        elif code == "sr":
            self._resolved()
        elif code == "on":
            self._operator()

    def _resolved(self) -> None:
        """sr: a name in a type; srN: in a type and further scopes, to E."""
        if self._peek() == "N":
            self.at += 1
            self._type()
            self._until_end(self._level)
        else:
            self._type()
        self._level()

    def _level(self) -> None:
        self._unqualified()
        if self._peek() == "I":
            self._arguments()

    def _until_end(self, item: Callable[[], None]) -> None:
        """Items, then E."""
        while self._peek() != "E":
            item()
        self.at += 1

    def _number(self) -> int:
        start = self.at
        while self._peek() in _DIGITS:
            self.at += 1
        # A longer one is no length of anything here.
        return int(self.text[start : min(self.at, start + 9)] or 0)

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            raise _Unknown

    def _peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead]

    def _next(self) -> str:
        found = self.text[self.at]
        if found == "\0":
            raise _Unknown
        self.at += 1
        return found

    def _expect(self, letter: str) -> None:
        if self._next() != letter:
            raise _Unknown
