"""The preprocessor's directives: under which tests each line compiles, guards, macros, includes."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.evaluate.names import compiles_by_default
from bwlint.model.expr import Expr, Span, const, negate
from bwlint.model.facts import Function, Gate, Include, Path, Prose, Side, Use
from bwlint.model.kinds import Ends
from bwlint.readers.cuda.expressions import Resolve, lower
from bwlint.readers.cuda.lexer import Code, tokens
from bwlint.readers.cuda.statements import NEVER, TRAPS
from bwlint.readers.spans import any_within

MAX_NESTING = 200
MAX_ARMS = 100
_DIRECTIVE = re.compile(
    r"^[ \t]*\#[ \t]*(?P<name>ifdef|ifndef|if|elifdef|elifndef|elif|else|endif|define|undef|include|error)\b"
    r"(?P<rest>(?:[^\\\n]+|\\.)*)",
    re.MULTILINE | re.DOTALL,
)
_DEFINE = re.compile(r"[ \t]*([A-Za-z_]\w*)(\([^()]*\))?")
_INCLUDE = re.compile(r'[ \t]*(?:<([^>\n]+)>|")')
_NOTHING = re.compile(r"(?:\s+|\#(?:[^\\\n]+|\\.)*)*", re.DOTALL)
_OPERATOR = re.compile(r"\w+::operator\s*\(\s*\)")
_CALL = re.compile(r"\b(?!(?:if|for|while|switch|return|sizeof|asm|__asm__|volatile|defined)\b)([A-Za-z_]\w*)\s*\(")
_STANDS_ALONE = re.compile(r"[;{}\n][ \t]{0,80}(?P<name>[A-Z][A-Z0-9_]{2,60})[ \t]?;")
"""A macro that is all of a statement."""
_DEFAULT = re.compile(r"\s*\#[ \t]*define[ \t]+(\w+)")
_LONGEST_BODY = 300
_ONLY_PRINTS = re.compile(r"\s*(?:if\s*\([^;{}]*\)\s*)?\{?\s*f?printf\s*\([^;{}]*\)\s*;\s*(?:return\s*;\s*)?\}?\s*")
"""An arm that does nothing but to tell people of it."""
_LONGEST_FAILURE = 600
_GOES_ON = re.compile(r"\b(?:else|(?:else\s+)?if(?:\s+constexpr)?\s*\([^;{}]{0,300}\))\s*$")
_LEAVES = re.compile(r"\breturn\b[^;{}]{0,300};\s*$")
_LONGEST_HEAD = 400
_LONGEST_WAY = 2000
_MOST_DEFINES = 12
_FAILS = re.compile(
    rf"\bstatic_assert\s*\(\s*false|#\s*error\b|\bCUTE_INVALID_CONTROL_PATH\b|\b__trap\s*\(|{NEVER}"
    r"|\bCUTE_RUNTIME_ASSERT\b|\bthrow\b|\b[A-Z_]{0,30}NOT_IMPLEMENTED\s*\("
)


@dataclass(slots=True)
class _DirectiveArm:
    """One branch of a conditional: its test (None: else), where its text begins, and where the test stands.

    `default` marks `#ifndef X` over `#define X`: nobody is asked to define X, so all of the branch compiles.
    """

    test: Expr | None
    start: int
    at: Span
    default: bool = False

    @property
    def guard(self) -> Expr | None:
        """What decides whether the branch compiles."""
        return const(True, self.at) if self.default else self.test


@dataclass(slots=True)
class _Conditional:
    outer: Path
    arms: list[_DirectiveArm] = field(default_factory=list)

    def path(self) -> Path:
        """The tests that hold in the arm being read."""
        return (*self.outer, *_tests([arm.guard for arm in self.arms]))

    def own_path(self) -> Path:
        """As `path`, for a macro that is defined here: a default counts where nothing was defined before."""
        return (*self.outer, *_tests([arm.test for arm in self.arms]))


@dataclass(frozen=True)
class Directives:
    """What the directives of a file say. `starts` and `paths` go together: from an offset on, these tests hold."""

    starts: tuple[int, ...]
    paths: tuple[Path, ...]
    guards: tuple[Gate, ...]
    macros: dict[str, Function]
    includes: tuple[Include, ...]
    lines: tuple[tuple[int, int], ...]
    """Offsets of the directives themselves."""
    words: tuple[str, ...]
    """What each directive is: if, el (elif, else and their kin), endif, or "" for those that decide nothing."""
    spliced: tuple[tuple[int, int], ...] = ()
    """Offsets of what a build puts in front of a statement behind an `#endif`, or in the place of one."""

    def path(self, offset: int) -> Path:
        return self.paths[bisect.bisect_right(self.starts, offset) - 1]

    def holds(self, offset: int) -> bool:
        """Whether an offset stands in a directive, such as the body of a macro."""
        index = bisect.bisect_right(self.lines, (offset, len(self.lines) and self.lines[-1][1])) - 1
        return index >= 0 and offset < self.lines[index][1]


def macro(name: str, params: tuple[str, ...], ways: tuple[tuple[Path, Expr], ...], at: Span) -> Function:
    """What the preprocessor or the compiler puts in a name's place; none of its parameters has a default."""
    return Function(name, "macro", params, (None,) * len(params), ways, at)


class _DirectiveReader:
    def __init__(self, code: Code) -> None:
        self.code = code
        self.stack: list[_Conditional] = []
        self.starts: list[int] = [0]
        self.paths: list[Path] = [()]
        self.guards: list[Gate] = []
        self.returns: dict[str, list[tuple[Path, Expr]]] = {}
        self.params: dict[str, tuple[str, ...]] = {}
        self.places: dict[str, Span] = {}
        self.includes: dict[str, Path] = {}
        self.defines: list[tuple[int, Use]] = []
        self.filled: list[int] = []
        """Where a stretch of code between two directives ends."""
        self.acts: list[int] = []
        """Where directives stand that do something: all but conditionals."""
        self.lines: list[tuple[int, int]] = []
        self.ends: list[int] = []
        self.words: list[str] = []
        self.spliced: list[tuple[int, int]] = []
        self.ignored = 0

    def read(self) -> Directives:
        for match in _found(self.code.text):
            self._passed(match.start())
            self.lines.append(match.span())
            self.ends.append(match.end())
            self.words.append(_word(match["name"]))
            self._directive(match)
        self._passed(len(self.code.text))
        while self.stack:
            self._close(self.stack.pop(), len(self.code.text), len(self.code.text))
        macros = {
            name: macro(name, self.params[name], tuple(found), self.places[name])
            for name, found in self.returns.items()
        }
        return Directives(
            tuple(self.starts),
            tuple(self.paths),
            tuple(sorted(self.guards, key=lambda gate: gate.at)),
            macros,
            tuple(Include(text, tuple(filter(_may_fail, tests))) for text, tests in self.includes.items()),
            tuple(self.lines),
            tuple(self.words),
            tuple(sorted(self.spliced)),
        )

    def _passed(self, start: int) -> None:
        """Note whether there is code between the last directive and the one at `start`."""
        if not _reaches(_NOTHING, self.code.text, self.ends[-1] if self.ends else 0, start):
            self.filled.append(start)

    def _directive(self, match: re.Match[str]) -> None:
        word = self.words[-1]
        if word == "if":
            self._open(match)
        elif word == "el":
            self._branch(match)
        elif word == "endif":
            self._end(match)
        else:
            self.acts.append(match.start())
            self._act(match)

    def _act(self, match: re.Match[str]) -> None:
        if match["name"] == "define":
            self._define(match)
        elif match["name"] == "undef":
            self._undefine(match)
        elif match["name"] == "include":
            self._include(match)

    def _end(self, match: re.Match[str]) -> None:
        if self.ignored:
            self.ignored -= 1
        elif self.stack:
            closed = self.stack.pop()
            self._splice(closed.arms, match.start())
            self._close(closed, match.start(), match.end())
            self._mark(match.end(), closed.outer)

    def _splice(self, arms: Sequence[_DirectiveArm], end: int) -> None:
        """Note an arm that builds leave out by default, if it goes on behind its end or leaves in place of others."""
        first, *others = arms
        if first.test is None or not compiles_by_default((negate(first.test),)) or any(one.test for one in others):
            return
        end = self._directive_start(others[0].start) if others else end
        shape = _LEAVES if others else _GOES_ON
        if shape.search(self.code.text, max(first.start, end - _LONGEST_HEAD), end):
            self.spliced.append((first.start, end))

    def _mark(self, offset: int, path: Path) -> None:
        self.starts.append(offset)
        self.paths.append(path)

    def _open(self, match: re.Match[str]) -> None:
        if len(self.stack) >= MAX_NESTING:
            self.ignored += 1
            return
        conditional = _Conditional(self.stack[-1].path() if self.stack else ())
        conditional.arms.append(self._arm(match))
        self.stack.append(conditional)
        self._mark(match.end(), conditional.path())

    def _branch(self, match: re.Match[str]) -> None:
        if self.ignored or not self.stack:
            return
        conditional = self.stack[-1]
        if len(conditional.arms) >= MAX_ARMS:
            conditional.arms.pop()
        conditional.arms.append(self._arm(match))
        self._mark(match.end(), conditional.path())

    def _arm(self, match: re.Match[str]) -> _DirectiveArm:
        name, start, end = match["name"], match.start("rest"), match.end("rest")
        at = self.code.span(match.start("name"), match.end("name"))
        if name == "else":
            return _DirectiveArm(None, match.end(), at)
        if name in ("if", "elif"):
            text = match["rest"]
            begin = start + len(text) - len(text.lstrip())
            test = lower(self.code, begin, start + len(text.rstrip()), bare_macro, preprocessor=True)
            return _DirectiveArm(test, match.end(), test.at or at)
        words = tokens(self.code.text, start, end, 2)
        asked = words[0].text if words else ""
        test = Expr("defined", (asked,), self.code.span(words[0].start, words[0].end) if words else at)
        defined = _DEFAULT.match(self.code.text, match.end()) if name == "ifndef" else None
        default = defined is not None and defined[1] == asked  # the guard of a header, or a value that nobody chose
        return _DirectiveArm(negate(test) if name.endswith("ndef") else test, match.end(), test.at or at, default)

    def _close(self, closed: _Conditional, stop: int, end: int) -> None:
        """Turn the arms of a finished conditional into guards; include guards and defaults are none."""
        before: list[Expr] = []
        for position, arm in enumerate(closed.arms):
            following = closed.arms[position + 1].start if position + 1 < len(closed.arms) else end
            if arm.default or arm.test is None or arm.test.op == "const":
                continue
            until = self._directive_start(following) if position + 1 < len(closed.arms) else stop
            self.guards.append(
                Gate(
                    kind="preprocessor",
                    test=arm.test,
                    at=arm.at,
                    yes=self._side(arm.start, until),
                    no=self._rest(closed, position, stop),
                    path=(*closed.outer, *map(negate, before)),
                    chain=closed.arms[0].at[0] if len(closed.arms) > 1 else 0,
                    position=position,
                    comment=self.code.comment_near(self._offset(arm), arm.start),
                    text=self.code.source[self._offset(arm) : arm.start].strip(),
                )
            )
            before.append(arm.test)

    def _offset(self, arm: _DirectiveArm) -> int:
        return self._directive_start(arm.start)

    def _directive_start(self, end: int) -> int:
        index = bisect.bisect_left(self.ends, end)
        return self.lines[index][0] if index < len(self.lines) else end

    def _rest(self, closed: _Conditional, position: int, stop: int) -> Side:
        """What compiles where the test of an arm fails: the arms below it."""
        if position + 1 >= len(closed.arms):
            return Side(ends="fall", empty=True, rest=True)
        return self._side(closed.arms[position + 1].start, stop)

    def _side(self, start: int, end: int) -> Side:
        """What stands between two offsets; `tuning` says that it only defines macros. A long side tells no calls."""
        code = self.code
        no_code = not any_within(self.filled, start + 1, end + 1)
        empty = no_code and not any_within(self.acts, start + 1, end + 1)
        first = bisect.bisect_left(self.defines, start, key=_offset_of)
        until = bisect.bisect_left(self.defines, end, key=_offset_of)
        defined = tuple(use for _, use in self.defines[first : min(until, first + _MOST_DEFINES)])
        tuning = bool(defined) and no_code
        short = end - start < _LONGEST_FAILURE
        failure = _FAILS.search(code.text, start, end) or TRAPS.search(code.source, start, end) if short else None
        fails = failure is not None or (short and _ONLY_PRINTS.fullmatch(code.text, start, end) is not None)
        texts = tuple(
            Prose(code.content(literal), code.span(literal.start, literal.end))
            for literal in code.literals_in(start, min(end, start + _LONGEST_FAILURE))
        )
        ends: Ends = "fall" if not fails else "raise" if failure and re.search("#|(?i:static_)", failure[0]) else "exit"
        call = _OPERATOR.search(code.text, start, min(end, start + _LONGEST_FAILURE))
        if call is not None:
            defined += (Use("operator()", "call", code.span(*call.span())),)
        calls = () if no_code or end - start > _LONGEST_WAY else _CALL.finditer(code.text, start, end)
        alone = _STANDS_ALONE.finditer(code.text, max(start - 1, 0), end) if short and not no_code else ()
        used = defined + tuple(Use(found[1], "call", code.span(*found.span(1))) for found in (*calls, *alone))
        return Side(ends=ends, at=code.span(start, end), uses=used, texts=texts, empty=empty, tuning=tuning)

    def _define(self, match: re.Match[str]) -> None:
        found = _DEFINE.match(self.code.text, match.start("rest"), match.end("rest"))
        if found is None:
            return
        name, listed = found[1], found[2]
        body = self.code.text[found.end() : match.end("rest")].rstrip()
        at = self.code.span(found.start(1), found.end(1))
        params = tuple(word.strip() for word in listed[1:-1].split(",") if word.strip()) if listed else ()
        if not body.strip():
            value = const("", at)
        elif len(body) > _LONGEST_BODY:
            value = Expr("unknown", (name,), at)
        else:
            value = lower(self.code, found.end(), found.end() + len(body), _resolver(name, params), preprocessor=True)
            value = value._replace(at=at)
        self.defines.append((found.start(1), Use(name, "define", at)))
        self._set(name, value, params)

    def _undefine(self, match: re.Match[str]) -> None:
        found = _DEFINE.match(self.code.text, match.start("rest"), match.end("rest"))
        if found is not None:
            self._set(found[1], const(None, self.code.span(found.start(1), found.end(1))), ())

    def _set(self, name: str, value: Expr, params: tuple[str, ...]) -> None:
        """From here on a macro has a value; None: it is not defined."""
        path = self.stack[-1].own_path() if self.stack else ()
        assert value.at is not None
        self.returns.setdefault(name, []).append((path, value))
        self.params.setdefault(name, params)
        self.places.setdefault(name, value.at)

    def _include(self, match: re.Match[str]) -> None:
        found = _INCLUDE.match(self.code.text, match.start("rest"), match.end("rest"))
        if found is None:
            return
        literal = None if found[1] else self.code.literal_at(found.end() - 1)
        name = found[1] or (self.code.content(literal) if literal else "")
        if name:
            tests = self.stack[-1].own_path() if self.stack else ()
            text = name.strip()
            self.includes[text] = tests if self.includes.get(text, tests) else ()


def _may_fail(test: Expr) -> bool:
    """Whether a test may not hold where nobody has defined anything: that of a file's own guard does."""
    return test.op != "const" and not (test.op == "not" and test.args[0].op == "defined")


def _found(text: str) -> Iterator[re.Match[str]]:
    """The directives of a text, by their signs, which are few."""
    at = text.find("#")
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        match = _DIRECTIVE.match(text, start) if not text[start:at].strip(" \t") else None
        if match is not None:
            yield match
        at = text.find("#", match.end() if match is not None else at + 1)


def _tests(arms: Sequence[Expr | None]) -> Path:
    """What holds in the last of the arms of a conditional: its test, and none of those before."""
    *earlier, last = arms
    before = tuple(negate(test) for test in earlier if test is not None)
    return (*before, last) if last is not None else before


def bare_macro(name: str, at: Span | None) -> Expr:
    return Expr("macro", (name, ()), at)


def _resolver(owner: str, params: tuple[str, ...]) -> Resolve:
    def resolve(name: str, at: Span) -> Expr:
        return Expr("param", (owner, name), at) if name in params else bare_macro(name, at)

    return resolve


def _reaches(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether a pattern that always matches gets to the end; asking it to end there could take for ever."""
    found = pattern.match(text, start, end)
    return found is not None and found.end() >= end


def _offset_of(entry: tuple[int, Use]) -> int:
    return entry[0]


def _word(name: str) -> str:
    if name == "endif":
        return name
    return name[:2] if name[:2] in ("if", "el") else ""


def directives(code: Code) -> Directives:
    """The directives of a blanked text. Never raises; what is not closed closes with the file."""
    return _DirectiveReader(code).read()
