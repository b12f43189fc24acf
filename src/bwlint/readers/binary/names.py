"""Names of kernels for people, and for grouping: `_ZN3ops15rms_norm_kernelIfLi4EEEvPT_` is `ops::rms_norm_kernel`.

Of the Itanium C++ ABI's mangling, this reads the name that a symbol begins with, up to its parameters. Types and
expressions in template arguments are passed over, which takes knowing where each ends. What is not understood is
handed back as it is.
"""

from __future__ import annotations

import re

from bwlint.chips.spelling import IN_NAMES, ROUGHLY, SM

_DEPTH = 96
_NAMELESS = ""
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
    """The qualified name without template arguments, parameters and anonymous namespaces; else the name as given."""
    return "::".join(_components(mangled))


def operation(mangled: str) -> str:
    """As `readable`, also without what says for which SM it was built: `fa::fwd` of `fa::fwd_sm90<64>`."""
    found = [_TAG.sub("", component) for component in _components(mangled) if not _BUILD_TAG.search(component)]
    return "::".join(component for component in found if component) or readable(mangled)


def _components(mangled: str) -> tuple[str, ...]:
    start = mangled.find("_Z", len(_STATIC)) if mangled.startswith(_STATIC) else 0
    if start < 0 or not mangled.startswith("_Z", start):
        return (mangled,)
    parser = _NameParser(mangled, start + 2)
    try:
        parser.read("name")
    except (_Unknown, RecursionError):
        return (mangled,)
    if _NAMELESS in parser.found:
        return (mangled,)
    named = tuple(component for component in parser.found if not component.startswith(_UNNAMED))
    return named or (mangled,)


# A construct is the first of its rows whose expression matches here; what the row names has to follow. A name with a
# plus ends with E and stands any number of times before it, one with a question mark may be missing.
_ARGUMENTS = "arguments?"
_GRAMMAR: dict[str, tuple[tuple[str, ...], ...]] = {
    "name": (
        ("N[rVKRO]*", "level+"),
        ("Z", "name", "type+", "local"),
        ("(?=St)", "standard", "unqualified", _ARGUMENTS),
        ("(?=S)", "standard", _ARGUMENTS),
        ("", "unqualified", _ARGUMENTS),
    ),
    "local": ((r"s(?:__?\d*)?",), (r"d\d*_", "name", "discriminator?"), ("", "name", "discriminator?")),
    "discriminator": ((r"__?\d*",),),
    "level": (
        ("(?=I)", "arguments"),
        ("(?=S)", "standard"),
        ("M",),
        ("(?=T|D[tT])", "type", "nameless"),
        ("", "unqualified"),
    ),
    "standard": (("St", "std"), ("S(?:[absiod]|[0-9A-Z]*_)", "nameless")),
    "unqualified": (
        (r"L?(?=\d)", "source", "tag?"),
        ("L?(?=U)", "unnamed", "tag?"),
        (r"L?[CD]\d", "nameless", "tag?"),
        ("L?", "operator", "nameless", "tag?"),
    ),
    "tag": (("B", "skipped", "tag?"),),
    "unnamed": (("Ul", "type+", "number_", "nameless"), (r"Ut\d*_", "nameless")),
    "number_": ((r"\d*_",),),
    "operator": (("cv", "type"), ("li", "skipped"), ("[a-z][a-zA-Z]",)),
    "arguments": (("[IJ]", "argument+"),),
    "argument": (
        # Those that are complete in themselves: built-in and earlier types, and values of these.
        (r"(?:[PROKV]*(?:[vwbcahstijlmxynofde]|S[0-9A-Z]*_|T\d*_|Dn)|L(?:[wbcahstijlmxyno]|S[0-9A-Z]*_)n?\d+E)+(?!I)",),
        ("(?=L)", "literal"),
        ("X", "expression+"),
        ("(?=[IJ])", "arguments"),
        ("", "type"),
    ),
    "type": (
        ("[PROKVrCG]+", "type"),
        (r"(?=[NZ\d]|St)", "name", _ARGUMENTS),
        ("S(?:[absiod]|[0-9A-Z]*_)", _ARGUMENTS),
        ("[vwbcahstijlmxynofdegz]", _ARGUMENTS),
        ("u", "skipped", _ARGUMENTS),
        ("T[sue]", "name", _ARGUMENTS),
        (r"T\d*_", _ARGUMENTS),
        ("F[YRO]*", "type+"),
        (r"A\d*_", "type"),
        ("A", "expression", "number_", "type"),
        ("M", "type", "type"),
        ("D[tTOwB]", "expression+", _ARGUMENTS),
        ("D[pPo]", "type"),
        ("Dv_", "expression", "number_", "type"),
        (r"Dv\d*_", "type"),
        (r"DF\d*[bx]?_?",),
        ("D[dehfisuanc]", _ARGUMENTS),
        ("(?=U[lt])", "unnamed"),
        ("U", "skipped", _ARGUMENTS, "type"),
    ),
    "literal": (("L_Z", "name", "type+"), ("L", "type", "value")),
    "value": (("[0-9a-fn_]*E",),),
    "expression": (
        ("(?=L)", "literal"),
        (r"T\d*_",),
        ("(?=[IJ])", "arguments"),
        (r"(?=[\dNSZ])", "name"),
        (r"fp[rVK]*\d*_|fL\d*p[rVK]*\d*_",),
        ("st|at|ti|sc|dc|cc|rc", "type"),
        ("cl|il", "expression+"),
        ("tl", "type", "expression+"),
        ("cv", "type", "converted?"),
        ("srN", "type", "scope+", "scope"),
        ("sr", "type", "scope"),
        ("on", "operator"),
        ("[a-z][a-zA-Z]",),
    ),
    "converted": (("_", "expression+"),),
    "scope": (("", "unqualified", _ARGUMENTS),),
}
_ROWS = {rule: [(re.compile(row[0]), row[1:]) for row in rows] for rule, rows in _GRAMMAR.items()}
_SIZE = re.compile(r"0*([1-9]\d{0,8})")


class _NameParser:
    """Goes over a mangled name once, from left to right, and keeps the components of the name it begins with.

    "" stands for a component that no kernel has: an operator, a constructor, a part that was named earlier.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.depth = 0
        self.found: list[str] = []

    def read(self, rule: str) -> None:
        """Pass over a construct; what it names is kept."""
        if rule in ("source", "skipped"):
            self._source(rule)
        elif rule in ("std", "nameless"):
            self.found.append("std" if rule == "std" else _NAMELESS)
        elif not self._matches(rule):
            raise _Unknown

    def _matches(self, rule: str) -> bool:
        for pattern, items in _ROWS[rule]:
            if (match := pattern.match(self.text, self.at)) is not None:
                self.at = match.end()
                self.depth += 1
                if self.depth > _DEPTH:
                    raise _Unknown
                for item in items:
                    self._item(item)
                self.depth -= 1
                return True
        return False

    def _item(self, item: str) -> None:
        kept = len(self.found)
        if item.endswith("?"):
            self._matches(item[:-1])
        elif item.endswith("+"):
            while not self.text.startswith("E", self.at):
                self.read(item[:-1])
            self.at += 1
        else:
            self.read(item)
        if item.rstrip("?+") in _UNSAID:
            del self.found[kept:]

    def _source(self, rule: str) -> None:
        size = _SIZE.match(self.text, self.at)
        start = size.end() if size is not None else len(self.text)
        self.at = start + int(size[1]) if size is not None else start + 1
        if self.at > len(self.text):
            raise _Unknown
        self.found += [self.text[start : self.at]] if rule == "source" else []


_UNSAID = frozenset({"type", "arguments", "argument", "expression", "literal", "operator"})
"""What names nothing of the name that it stands in."""
