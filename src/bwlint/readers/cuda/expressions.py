"""C++ expressions, lowered into the expression form; what it has no word for is an unknown keyed by its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from bwlint.chips import queries
from bwlint.model.expr import Expr, Span, const, unknown
from bwlint.model.naming import spoken
from bwlint.readers.cuda.lexer import Code, Token, matching, tokens

MAX_DEPTH = 40
Resolve = Callable[[str, Span], Expr]
"""Gives the node of an identifier (qualified with `::` as written)."""

_LEVELS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
_BINARY = {sign: level for level, signs in enumerate(_LEVELS, 1) for sign in signs.split()}
"""Which operators bind tighter."""
_UNARY = frozenset({"!", "-", "+", "~", "*", "&"})
_ALTERNATIVE = {"and": "&&", "or": "||", "not": "!", "not_eq": "!="}
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_TYPES = frozenset(
    [
        *("int", "unsigned", "long", "short", "char", "bool", "float", "double", "auto", "const", "signed"),
        *("size_t", "int32_t", "int64_t", "uint32_t", "uint64_t"),
    ]
)
_PARTS = {"first": 0, "second": 1}
_PART = re.compile(r"(?:std::)?get<(\d)>$")
_MAKES = frozenset({"make_pair", "make_tuple", "tie", "forward_as_tuple", "pair", "tuple"})
_TEXTS = frozenset({"to_string", "string", "string_view", "StrCat"})
_NAMED = frozenset({"name", "param"})
_CLOSING = {"(": ")", "{": "}"}
_WORDS = {"true": True, "false": False, "nullptr": None}


class TooDeep(Exception):
    """Brackets nested beyond the budget."""


def lower(code: Code, start: int, end: int, resolve: Resolve, *, preprocessor: bool = False, limit: int = 400) -> Expr:
    """The expression that stands between two offsets of the blanked text."""
    found = tokens(code.text, start, end, limit + 1)
    if found and len(found) <= limit:
        parser = _ExpressionParser(code, found, resolve, preprocessor)
        try:
            node = parser.ternary()
        except TooDeep:
            pass
        else:
            if parser.at == len(found):
                return node
    return unknown(_key(found), code.span(start, end))


def number(text: str) -> int | float | None:
    """The value of a C++ number, or None."""
    digits = text.replace("'", "").rstrip("uUlLzZ")
    try:
        if digits[:2] in ("0x", "0X", "0b", "0B"):
            return int(digits, 0)
        if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
            return int(digits, 8)
        return int(digits) if digits.isdigit() and len(digits) < 40 else float(digits.rstrip("fF"))
    except ValueError:
        return None


def _key(found: Sequence[Token]) -> str:
    return " ".join(token.text for token in found)[:200]


class _ExpressionParser:
    """Precedence climbing over one list of tokens. `at` is the next token; nothing raises but `TooDeep`."""

    def __init__(self, code: Code, found: Sequence[Token], resolve: Resolve, preprocessor: bool) -> None:
        self.code = code
        self.found = found
        self.texts = [token.text for token in found]
        self.resolve = resolve
        self.preprocessor = preprocessor
        self.at = 0
        self.depth = 0

    def _peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.texts[place] if place < len(self.texts) else ""

    def _span(self, first: int) -> Span:
        last = max(first, min(self.at, len(self.found)) - 1)
        return self.code.span(self.found[first].start, self.found[last].end)

    def _unknown(self, first: int) -> Expr:
        return unknown(_key(self.found[first : self.at]), self._span(min(first, len(self.found) - 1)))

    def ternary(self) -> Expr:
        first = self.at
        test = self._binary(1)
        if self._peek() == "?":
            self.at += 1
            then = self.ternary()
            if self._peek() == ":":
                self.at += 1
                test = Expr("if", (test, then, self.ternary()), self._span(first))
        return test

    def _binary(self, least: int) -> Expr:
        first = self.at
        left = self._unary()
        while True:
            op = self._peek()
            op = _ALTERNATIVE.get(op, op)
            power = _BINARY.get(op, 0)
            if power < least:
                return left
            self.at += 1
            right = self._binary(power + 1)
            left = joined(op, left, right, self._span(first))

    def _unary(self) -> Expr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        first = self.at
        operators: list[str] = []
        while True:
            op = self._peek()
            op = _ALTERNATIVE.get(op, op)
            if op not in _UNARY:
                break
            operators.append(op)
            self.at += 1
        node = self._postfix()
        for op in reversed(operators):
            at = self._span(first)
            if op == "!":
                node = Expr("not", (node,), at)
            elif op == "-":
                node = Expr("neg", (node,), at)
            elif op == "~":
                node = Expr("bin", ("-", const(-1, at), node), at)
            elif op == "&":
                node = self._unknown(first)
        self.depth -= 1
        return node

    def _postfix(self) -> Expr:
        first = self.at
        node = self._primary()
        while True:
            op = self._peek()
            if op in (".", "->"):
                self.at += 1
                name = self._peek()
                self.at += 1
                part = _PARTS.get(name)
                at = self._span(first)
                node = Expr("attr", (node, name), at) if part is None else Expr("index", (node, const(part)), at)
            elif op == "[":
                self.at += 1
                key = self.ternary()
                if self._peek() != "]":
                    return self._unknown(first)
                self.at += 1
                node = Expr("index", (node, key), self._span(first))
            elif (op == "(" or (op == "{" and node.op in _NAMED)) and not self.preprocessor:
                arguments = self._arguments(_CLOSING[op])
                node = _called(node, arguments, self._span(first))
            elif op in ("++", "--"):
                self.at += 1
            else:
                return node

    def _arguments(self, closing: str = ")") -> tuple[Expr, ...]:
        """What stands in the brackets at the next token, which is the opening one."""
        self.at += 1
        found: list[Expr] = []
        while self.at < len(self.found) and self._peek() != closing:
            before = self.at
            found.append(self.ternary())
            if self._peek() == "," or self.at == before:
                self.at += 1
        self.at += 1
        return tuple(found)

    def _primary(self) -> Expr:
        if self.at >= len(self.found):
            return unknown("", None)
        first = self.at
        token = self.found[first]
        self.at += 1
        if token.text == "(":
            return self._bracketed(first)
        if token.text == "{" and not self.preprocessor:
            self.at = first
            return Expr("tuple", (self._arguments("}"),), self._span(first))
        if token.kind == "number":
            value = number(token.text)
            return const(value, self._span(first)) if value is not None else self._unknown(first)
        if token.kind == "string":
            return self._string(first)
        if token.kind == "id":
            return self._identifier(first)
        return self._unknown(first)

    def _bracketed(self, first: int) -> Expr:
        """A bracketed expression, or a cast in the manner of C."""
        if self._peek() in _TYPES:
            close = self.at
            while self._peek(close - self.at) in _TYPES or self._peek(close - self.at) in ("*", "&", "::", "std"):
                close += 1
            if self._peek(close - self.at) == ")":
                self.at = close + 1
                return self._unary()
        node = self.ternary()
        if self._peek() == ")":
            self.at += 1
            return node
        self.at = len(self.found)
        return self._unknown(first)

    def _string(self, first: int) -> Expr:
        parts: list[str] = []
        self.at = first
        while self.at < len(self.found) and self.found[self.at].kind == "string":
            literal = self.code.literal_at(self.found[self.at].start)
            parts.append(self.code.content(literal) if literal else "")
            self.at += 1
        return const("".join(parts), self._span(first))

    def _identifier(self, first: int) -> Expr:
        name = self.found[first].text
        if self.preprocessor:
            return self._macro(first, name)
        if name in _WORDS:
            return const(_WORDS[name], self._span(first))
        if name in _CASTS:
            self._template()
            inner = self._arguments() if self._peek() == "(" else ()
            return inner[0] if len(inner) == 1 else self._unknown(first)
        while self._peek() == "::" and self.at + 1 < len(self.found) and self.found[self.at + 1].kind == "id":
            name += "::" + self._peek(1)
            self.at += 2
            if self._peek() == "<" and (arguments := self._template()):
                name += arguments
        if self._peek() == "<" and (arguments := self._template()):
            name += arguments
            while self._peek() == "::" and self.at + 1 < len(self.found) and self.found[self.at + 1].kind == "id":
                name += "::" + self._peek(1)
                self.at += 2
        part = _PART.match(name)
        if part is not None and self._peek() == "(":
            inner = self._arguments()
            return Expr("index", (inner[0], const(int(part[1]))), self._span(first)) if inner else self._unknown(first)
        if name == "std::nullopt":
            return const(None, self._span(first))
        return self.resolve(name, self._span(first))

    def _template(self) -> str:
        """The template arguments at the next token as text; nothing is consumed where they are none."""
        depth = 0
        for place in range(self.at, min(len(self.found), self.at + 60)):
            text = self.found[place].text
            if text == "<":
                depth += 1
            elif text in (">", ">>"):
                depth -= 1 if text == ">" else 2
                if depth <= 0:
                    following = self.found[place + 1].text if place + 1 < len(self.found) else ""
                    if following not in ("(", "::", "{", "", ")", ","):
                        return ""
                    arguments = "".join(token.text for token in self.found[self.at : place + 1])
                    self.at = place + 1
                    return arguments
            elif text in ("&&", "||", ";", "==", "?", "<=", ">=", "{"):
                return ""
        return ""

    def _macro(self, first: int, name: str) -> Expr:
        if name == "defined":
            bracket = self._peek() == "("
            self.at += 1 if bracket else 0
            asked = self._peek()
            self.at += 2 if bracket else 1
            return Expr("defined", (asked,), self._span(first))
        if self._peek() == "(":
            return self._macro_call(first, name)
        if name in _WORDS:
            return const(_WORDS[name], self._span(first))
        return self.resolve(name, self._span(first))

    def _macro_call(self, first: int, name: str) -> Expr:
        """`NAME(a, b)` in a condition: arguments are expressions, or the bare words of `__has_include(<x>)`."""
        if name.startswith("__has_"):
            depth = 0
            while self.at < len(self.found):
                depth += {"(": 1, ")": -1}.get(self._peek(), 0)
                self.at += 1
                if depth == 0:
                    break
            return self._unknown(first)
        arguments = self._arguments()
        return Expr("macro", (name, arguments), self._span(first))


def _called(function: Expr, arguments: tuple[Expr, ...], at: Span) -> Expr:
    """A call; the names of functions that make a pair, a tuple or a text are known."""
    name = str(function.args[-1]) if function.op in ("name", "param", "static") else ""
    if name in _MAKES:
        return Expr("tuple", (arguments,), at)
    if name in _TEXTS and arguments:
        return Expr("fstr", (arguments,), at)
    if name == "format" and arguments and arguments[0].op == "const":
        return Expr("fstr", (tuple(_filled(str(arguments[0].args[0]), arguments[1:])),), at)
    return Expr("call", (function, arguments), at)


def _filled(form: str, arguments: tuple[Expr, ...]) -> Iterator[Expr]:
    """The parts of `format("sm_{}", sm)`; what is formatted in any special way is not known."""
    texts = re.split(r"(\{[^{}]*\})", form)
    for place, text in enumerate(texts):
        argument = arguments[place // 2] if place // 2 < len(arguments) and text == "{}" else unknown(text)
        yield argument if place % 2 else const(text)


_SUCCESS = frozenset(form for name in queries.successes() for form in (name, spoken(name)))


def joined(op: str, left: Expr, right: Expr, at: Span) -> Expr:
    if op == "&&":
        return Expr("and", ((*(left.args[0] if left.op == "and" else (left,)), right),), at)
    if op == "||":
        return Expr("or", ((*(left.args[0] if left.op == "or" else (left,)), right),), at)
    if op in ("==", "!=") and right.op in ("param", "name") and right.args[-1] in _SUCCESS:
        return const(op == "==", at)  # where the driver itself fails there is no chip to speak of
    if _BINARY[op] in (6, 7):
        return Expr("cmp", (op, (left, right)), at)
    return Expr("bin", ("//" if op == "/" else op, left, right), at)


CONDITIONS = frozenset({"cmp", "and", "or", "not"})
MAX_BRACKET = 4000
MAX_CONDITIONS = 8
_COMPARES = re.compile(r"[=!<>]=|[<>]")
_TEMPLATE_BRACKETS = r"<(?<=\w<)(?:[^<>()=;&|]|<[^<>()=;&|]{0,100}>){0,200}>"
"""The brackets of a template, as in `std::map<int, bool> x`, are no comparison."""
_PARTED = re.compile(rf"[,;(\[{{]|=(?<![=!<>]=)(?!=)|return(?<!\wreturn)\b|{_TEMPLATE_BRACKETS}")
_DECLARES = re.compile(rf"{_TEMPLATE_BRACKETS}\s*[\w&*:]")
_KEPT_AS = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\[\];]{0,80}\]\s*)?(?:[-+*/%&|^]?=|\{)\s*$")
_GIVEN = re.compile(r"=(?<![=!<>]=)(?!=)[^;{}]{1,400};")
Lower = Callable[[int, int], Expr]
Stretch = tuple[int, int]


def conditions(
    text: str, start: int, end: int, aside: tuple[Stretch, ...], lower: Lower, deep: int = MAX_CONDITIONS
) -> Iterator[Expr]:
    """The largest conditions of a stretch of blanked text, in order; what lies `aside` is read elsewhere."""
    if _COMPARES.search(text, start, end) is None:
        return
    for begin, stop in _parts(text, start, end):
        if _COMPARES.search(text, begin, stop) is None or any(first <= begin and stop <= last for first, last in aside):
            continue
        whole = _DECLARES.search(text, begin, stop) is None and not _holds(begin, stop, aside)
        node = lower(begin, stop) if whole else None
        if node is not None and node.op != "unknown":
            yield from _largest(node)
            continue
        for opening, close in _brackets(text, begin, stop) if deep else ():
            yield from conditions(text, opening + 1, close, aside, lower, deep - 1)


def outside(text: str, is_outside: Callable[[int], bool]) -> Iterator[Stretch]:
    """What members and variables are given that stand in no function, where it compares something."""
    for match in _GIVEN.finditer(text):
        start, end = match.start() + 1, match.end() - 1
        if _COMPARES.search(text, start, end) is not None and is_outside(start):
            yield start, end


def kept_as(text: str, start: int, at: int) -> str:
    """What a value that stands at an offset is assigned to, or "" where it is handed on."""
    found = _KEPT_AS.search(text, max(start, at - 200), at)
    return found["name"] if found is not None else ""


def _parts(text: str, start: int, end: int) -> Iterator[Stretch]:
    """What commas, semicolons, assignments and `return` part, brackets left whole."""
    begin = at = start
    while (mark := _PARTED.search(text, at, end)) is not None:
        if mark[0] in "([{":
            close = matching(text, mark.start(), min(MAX_BRACKET, end - mark.start()))
            if close < 0:
                break
            at = close + 1
            continue
        if mark[0][0] == "<":
            at = mark.end()
            continue
        yield begin, mark.start()
        begin = at = mark.end()
    yield begin, end


def _brackets(text: str, start: int, end: int) -> Iterator[Stretch]:
    at = start
    while at < end:
        found = min((place for mark in "([{" if (place := text.find(mark, at, end)) >= 0), default=-1)
        close = matching(text, found, min(MAX_BRACKET, end - found)) if found >= 0 else -1
        if close < 0:
            return
        yield found, close
        at = close + 1


def _holds(start: int, end: int, aside: tuple[Stretch, ...]) -> bool:
    return any(start <= first and last <= end for first, last in aside)


def _largest(node: object) -> Iterator[Expr]:
    if isinstance(node, Expr) and node.op in CONDITIONS:
        yield node
    elif isinstance(node, Expr) and node.args[:1] == ("<<",):
        return  # it is printed
    elif isinstance(node, tuple):
        for item in node.args if isinstance(node, Expr) else node:
            yield from _largest(item)
