"""Shell, sed, awk, grep and CMake code that assumes two-digit targets: `s/([0-9])([0-9])/\\1.\\2/`.

Each comes out as an operation of kind as-text, whose amount is an example. Tried on the names of all chips.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from bwlint.chips.digits import Change, clipped, is_about, misread
from bwlint.evaluate.patterns import compiled
from bwlint.model.details import MisreadDigits
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.cmake_syntax import Command, commands
from bwlint.readers.buildfiles.places import Places

_LETTER = r"(?:\\.|(?!(?P=sign))[^\n\\])"
_SED = re.compile(
    r"\bsed\b(?P<options>(?:[ \t]+-[a-zA-Z]+)*)[ \t]+[\"'](?:[^\"'\n]{0,80};)?[ \t]*s(?P<sign>[/|,#@!])"
    rf"(?P<old>{_LETTER}{{2,120}})(?P=sign)(?P<new>{_LETTER}{{0,60}})(?P=sign)(?P<how>g?)"
)
_GREP = re.compile(
    r"\b(?P<e>e?)grep\b(?P<options>(?:[ \t]+--?[\w-]+)+)[ \t]+(?P<quote>[\"'])(?P<old>.{2,120}?)(?P=quote)"
)
_TESTED = re.compile(
    r"=~[ \t]+[\"']?(?P<old>[^\s\"';]{2,120})[\"']?[ \t]+\]\]|(?<![!=])~[ \t]*/(?P<awk>[^/\n]{2,120})/"
)
_CASE = re.compile(r"\bcase\b[^\n]{1,80}?\bin\b(?P<arms>(?:(?!\b(?:esac|case)\b).){1,2000})\besac\b", re.S)
_NEXT = r"(?:^|;;)(?:\s|#[^\n]{0,400}\n){0,99}\(?"
_GLOB = r"(?:sm_)?(?:\[[0-9-]+\]|[?\d.*]){2,8}"
_ARM = re.compile(rf"{_NEXT}(?P<glob>{_GLOB}(?:[ \t]*\|[ \t]*{_GLOB}){{0,19}})[ \t]*\)")
_REFUSES = re.compile(_NEXT + r"\*\)(?:(?!;;).)*\b(?:exit|return)[ \t]+[1-9]", re.S)
_CUT = re.compile(r"\b(?:cut[ \t]+-c[ \t]*(?P<places>\d(?:-\d?|,\d)?)|head[ \t]+-c[ \t]*(?P<first>[12]))(?!\d)")
_PIECES = re.compile(
    r"(?:\$\{\w*(?i:cc|cap|sm|arch)\w*:\d(?::\d)?\}[._]?"
    r"|substr\(\$?\0?\w+,[ \t]*[1-9](?:,[ \t]*\d)?\)[ \t]*(?:\"[._]\"[ \t]*|,[ \t]*(?=sub))?){1,3}"
)
_PIECE = re.compile(r"\$\{\w+:(\d)(?::(\d))?\}|substr\([^,]+,[ \t]*(\d)(?:,[ \t]*(\d))?\)[ \t]*")
"""`${cc:0:1}` of shell, and `substr($1, 1, 1)` of awk, which counts from 1."""
_SUBJECTS = (b"compute_cap", b"sm_", b"gencode", b"_arch", b"-arch", b"capabilit")
_WORDS = (
    *(b"[0-9]", b"\\d", b"digit:", b":0:", b"cut -c", b"head -c", b"(.)", b"SUBSTRING", b"substr(", b"esac"),
    *(b"(REPLACE", b"s/"),
)
_PRINTS = re.compile(r"[ \t]*(?:echo|printf|log\w*)\b[^|>`\n]{0,200}?[A-Za-z]{3,}:?[ ][^|>`]*$")
"""What only tells a person."""
_IS_ONE = re.compile(r"[^\n,=]{0,20}?(?:,|==?|-eq)[ \t]*[\"']?[2-9][\"']?[ \t]*(?:\)|\]|;|$)", re.M)
"""A comparison with one digit, which is none of those that a name of three digits begins with: 12.x are not 7."""
_CLASSES = {"[:digit:]": "0-9", "[:space:]": r"\s", "[:alpha:]": "a-zA-Z", "[:alnum:]": "a-zA-Z0-9"}
_NOTHING = "\0"
"""Stands for the second dollar of make."""
_NEAR = 400
_MOST = 40

_Found = tuple[int, int, Change]


def may_hold(data: bytes) -> bool:
    lowered = data.lower()
    return any(word in data for word in _WORDS) and any(word in lowered for word in _SUBJECTS)


def operations(source: str, *, is_cmake: bool) -> Iterator[Operation]:
    if not may_hold(source.encode("utf-8", "surrogatepass")):
        return
    places = Places(source)
    found = list(_in_cmake(source) if is_cmake else _in_shell(source.replace("$$", f"${_NOTHING}")))
    for start, end, change in islice(found, _MOST):
        line = source[source.rfind("\n", 0, start) + 1 : source.find("\n", end)]
        near = source[max(0, start - _NEAR) : end + _NEAR]
        told = is_about(near, line) and not _PRINTS.match(line.partition(" #")[0]) and not _IS_ONE.match(source, end)
        wrong = misread(change) or clipped(change) if told else None
        others = (other for at, _, other in found if abs(at - start) < _NEAR and other is not change)
        if wrong is not None and not any(_takes_long(other) for other in others):
            at, detail = places.span(start, end), MisreadDigits(wrong.says, wrong.chips.names)
            yield Operation("as-text", source[start:end], at, detail=detail)


def _takes_long(change: Change) -> bool:
    """Whether another expression beside one is there for names of three digits."""
    return any(change(name) is not None and change("86") is None and change("8.6") is None for name in ("120", "12.0"))


def _in_shell(source: str) -> Iterator[_Found]:
    found = ((match, change_of(match)) for shape, change_of in _SHELL.items() for match in shape.finditer(source))
    yield from ((*match.span(_place(match)), change) for match, change in found if change is not None)
    for case in _CASE.finditer(source):
        yield from _arms(case)


def _place(match: re.Match[str]) -> str | int:
    """What of a match is shown: its expression, where that stands apart."""
    return match.lastgroup if match.lastgroup in ("old", "awk") else 0


def _sed(match: re.Match[str]) -> Change | None:
    regex = _compiled(match["old"], extended=re.search("[rE]", match["options"]) is not None)
    new = re.sub(r"(?<!\\)&", r"\\g<0>", match["new"])
    return _replacing(regex, new=new, every="g" in match["how"], quiet="n" in match["options"]) if regex else None


def _grep(match: re.Match[str]) -> Change | None:
    regex = _compiled(match["old"], extended=bool(match["e"] or re.search("[EP]|-extended|-perl", match["options"])))
    if regex is None or "v" in match["options"]:
        return None
    if re.search(r"-\w*x|--line", match["options"].replace("--ex", "")):
        return lambda text: text if regex.fullmatch(text) else None
    return _piece(regex) if "o" in match["options"] else _kept(regex)


def _tested(match: re.Match[str]) -> Change | None:
    regex = _compiled(match["old"] or match["awk"])
    return _kept(regex) if regex else None


def _arms(case: re.Match[str]) -> Iterator[_Found]:
    """What passes the arms of a `case`, taken together; a list of chips has to say that it takes no other."""
    arms = list(_ARM.finditer(case["arms"]))
    globs = [re.sub(r"\s", "", arm["glob"]) for arm in arms]
    if not any("[" in glob or "?" in glob for glob in globs):
        globs += ["83|94|8.3|9.4"] if _REFUSES.search(case["arms"]) else []  # there are no such chips
    joined = "|".join(globs).replace(".", r"\.").replace("?", ".").replace("*", ".*")
    regex = _compiled(f"^(?:{joined})$") if arms else None
    if regex is not None:
        shown = [arm for arm in arms if re.search(r"8[6.?[]|-[89]\]\.?\[|\?\?", arm["glob"])] or arms
        start, end = (case.start("arms") + place for place in shown[-1].span("glob"))
        yield start, end, _kept(regex)


def _cut(match: re.Match[str]) -> Change:
    """`cut -c1-2`, `cut -c1,3`, `head -c 1`."""
    places = match["places"] or f"1-{match['first']}"
    numbers = [int(one) for one in re.findall(r"\d", places)]
    first, last = numbers[0] - 1, numbers[-1] if places[-1].isdigit() else None
    return lambda text: text[first:last] if "," not in places else text[first : first + 1] + text[numbers[1] - 1 : last]


def _sliced(word: str) -> Change:
    """`${cc:0:1}.${cc:1:1}`."""

    def part(text: str, one: re.Match[str]) -> str:
        start, size = (int(one[1]), one[2]) if one[1] else (int(one[3]) - 1, one[4])
        return text[start : start + int(size) if size else None]

    return lambda text: re.sub(r'[",\s]', "", _PIECE.sub(partial(part, text), word.rstrip("._ ")))


_SHELL: dict[re.Pattern[str], Callable[[re.Match[str]], Change | None]] = {
    _SED: _sed,
    _GREP: _grep,
    _TESTED: _tested,
    _CUT: _cut,
    _PIECES: lambda match: _sliced(match[0]),
}


def _in_cmake(source: str) -> Iterator[_Found]:
    for command in commands(source):
        words = command.words
        if words[:1] == ("SUBSTRING",) and len(words) > 4 and words[2].isdigit() and words[3].isdigit():
            yield command.start, command.end, _sliced(f"${{x:{words[2]}:{words[3]}}}")
        if words[:1] == ("REPLACE",) and len(words) > 2:
            yield command.start, command.end, partial(_put_for, words[1], words[2])
        for at, word in enumerate(words[:-1]):
            if word == "MATCHES" or (word == "REGEX" and words[at - 1] == "INCLUDE"):
                yield from _pattern(command, at + 1, _kept)
            elif word in ("MATCH", "MATCHALL"):
                yield from _pattern(command, at + 1, _piece)
            elif word == "REPLACE" and words[0] in ("REGEX", "TRANSFORM") and at + 2 < len(words):
                yield from _pattern(command, at + 1, partial(_replacing, new=words[at + 2], every=True))


def _put_for(old: str, new: str, text: str) -> str:
    return text.replace(old, new)


def _pattern(command: Command, at: int, made: Callable[[re.Pattern[str]], Change]) -> Iterator[_Found]:
    argument = command.arguments[at]
    regex = _compiled(argument.text)
    if regex is not None:
        yield argument.start, argument.end, made(regex)


def _compiled(text: str, *, extended: bool = True) -> re.Pattern[str] | None:
    """A pattern of POSIX or CMake as one of Python; None where it is none, or may take long."""
    text = text.replace(_NOTHING, "")
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    if not extended:
        text = re.sub(r"\\([(){}+?|])|([(){}+?|])", lambda one: one[1] or f"\\{one[2]}", text)
    return compiled(text)


def _kept(regex: re.Pattern[str]) -> Change:
    return lambda text: text if regex.search(text) else None


def _piece(regex: re.Pattern[str]) -> Change:
    return lambda text: found[0] if (found := regex.search(text)) else None


def _replacing(regex: re.Pattern[str], *, new: str, every: bool, quiet: bool = False) -> Change:
    """`quiet`: what does not match is not printed."""

    def change(text: str) -> str | None:
        try:
            made, times = regex.subn(new, text, count=0 if every else 1)
        except (re.error, IndexError):
            return None
        return None if quiet and not times else made

    return change
