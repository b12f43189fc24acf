"""Test a preprocessor condition with nvcc's own preprocessor, for every target.

Where the test reads nothing but what the compiler defines and what its own file does, a file of ours is enough: the
directives of the flagged one and a mark behind the flagged. Else the file itself is preprocessed, and what follows the
directive is looked for among the lines that are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from bwlint.confirm.compiling.compiler import Bench, CompilerRun, compiled, same_file
from bwlint.confirm.compiling.evidence import TargetAnswer, undecided
from bwlint.confirm.compiling.listing import text_of
from bwlint.confirm.compiling.units import units
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.readers.cuda.lexer import clean

_MARK = b"bwlint_is_compiled"
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<name>[a-z]+)\b(?P<rest>(?:[^\\\n]|\\.|\\\n)*)", re.MULTILINE)
_OPENING = frozenset({"if", "ifdef", "ifndef"})
_BRANCHES = frozenset({"elif", "elifdef", "elifndef", "else"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)(?P<parameters>\([^()]*\))?")
# Not every name with two underscores: projects have such too, and builds define them.
_COMPILERS = re.compile(
    r"defined|__CUDA_ARCH\w*|__CUDACC__|__CUDACC_VER_\w+|__NVCC__|__NVCOMPILER\w*|__HIP\w*|__cplusplus|__has_\w+"
    r"|__GNU\w+|__clang\w*|__(?:linux|unix|x86_64|aarch64|APPLE)__|CUDART_VERSION|_WIN32|_WIN64|_MSC_VER"
    r"|true|false|and|or|not|int|long|u?l{0,2}"
)
_LINE = re.compile(rb'# (\d{1,9}) "((?:[^"\\]|\\.)*)"')
_MOST_TEXT = 256 << 20
_MOST_TARGETS = 60
_MOST_DIRECTIVES = 20_000


Told = tuple[TargetAnswer, dict[str, Any]]
"""What the preprocessor showed, with details for the receipt."""


@dataclass(frozen=True, slots=True)
class _Directive:
    line: int
    end_line: int
    name: str
    rest: str

    @property
    def text(self) -> str:
        return f"#{self.name}{self.rest}\n"

    def names(self) -> set[str]:
        return set(_NAME.findall(self.rest))


def test(subject: Subject, world: Workbench, bench: Bench, note: Callable[[str, CompilerRun], None]) -> Told | str:
    """Whether a guard compiles what it holds for the targets of the claim; a string says why it cannot be tested."""
    claim = subject.claim
    if claim.at is None or not claim.targets:
        return "the claim names no place, or no targets"
    directives = _directives(text_of(subject.real))
    flagged = next((one for one in directives if one.line <= claim.at.line <= one.end_line), None)
    if flagged is None or flagged.name not in _OPENING | _BRANCHES:
        return "the flagged place has no test of the preprocessor"
    before, foreign = _skeleton(directives, flagged)
    asked = claim.targets[:_MOST_TARGETS]
    if not foreign:
        preprocess = partial(compiled, bench, "ii", before, ())
        answers = _answers(asked, preprocess, note, lambda made: _MARK in map(bytes.strip, _lines(made)), stops=False)
        return _compare(subject, asked, answers, {"test": "alone"}, False)
    found: Told | str = "no file that nvcc could preprocess for this claim"
    following = next((one.line for one in directives if one.line > flagged.end_line), flagged.end_line + 1000)
    content = range(flagged.end_line + 1, following)
    for unit in units(subject, world):
        others = {"macros of others": sorted(foreign), **unit.options.details()}
        details = {"test": "in its file", "unit": unit.path, **others}
        preprocess = partial(compiled, bench, "ii", unit.source, unit.options.taken)
        judge = partial(_survives, path=subject.real, wanted=content)
        answers = _answers(asked, preprocess, note, judge, stops=True)
        found = _compare(subject, asked, answers, details, True)
        if any(isinstance(answer, bool) for answer in answers.values()):
            return found
    return found


def _directives(text: str) -> list[_Directive]:
    """The directives of a file, comments and the insides of strings blanked."""
    code = clean(text)
    pieces, end = [], 0
    for start, stop in code.comments:  # a directive goes on behind a comment of several lines
        pieces += [code.text[end:start], code.text[start:stop].replace("\n", "\\\n")]
        end = stop
    blanked = "".join((*pieces, code.text[end:]))
    found: list[_Directive] = []
    line, seen = 1, 0
    for match in _DIRECTIVE.finditer(blanked):
        line += blanked.count("\n", seen, match.start())
        seen = match.start()
        found.append(_Directive(line, line + match[0].count("\n"), match["name"], match["rest"]))
        if len(found) >= _MOST_DIRECTIVES:
            break
    return found


def _skeleton(directives: list[_Directive], flagged: _Directive) -> tuple[str, set[str]]:
    """The directives up to the flagged one, the mark behind it, and the macros that neither they nor a compiler define.
    Of the conditionals around the flagged one, the arm that it is in counts as taken."""
    before = directives[: directives.index(flagged)]
    opened: list[list[int]] = []
    for index, one in enumerate(before):
        if one.name in _OPENING:
            opened.append([index])
        elif one.name in _BRANCHES and opened:
            opened[-1].append(index)
        elif one.name == "endif" and opened:
            opened.pop()
    own = opened.pop() if flagged.name in _BRANCHES and opened else []
    replaced: dict[int, str] = {}
    for arms in opened:
        replaced |= {index: "#if 0\n" if at == 0 else "#elif 0\n" for at, index in enumerate(arms)}
        replaced[arms[-1]] = "#if 1\n" if len(arms) == 1 else "#elif 1\n"
    kept = [
        index for index, one in enumerate(before) if one.name in _OPENING | _BRANCHES | {"endif", "define", "undef"}
    ]
    text = "".join(replaced.get(index, before[index].text) for index in kept)
    conditions = [before[index] for index in own] + [flagged]
    foreign = _foreign(before, conditions)
    # What is still open needs no closing: nvcc -E would complain, so it is closed.
    mark = _MARK.decode()
    return f"{text}{flagged.text}#undef {mark}\n{mark}\n" + "#endif\n" * (len(opened) + 1), foreign


def _foreign(before: list[_Directive], conditions: list[_Directive]) -> set[str]:
    """The macros that some conditions read, directly or through macros of the file, and that others would define."""
    defined: dict[str, set[str]] = {}
    for one in before:
        own = _DEFINED.match(one.rest) if one.name in ("define", "undef") else None
        if own:
            read = set(_NAME.findall(one.rest[own.end() :])) - set(_NAME.findall(own["parameters"] or ""))
            defined.setdefault(own["name"], set()).update(read)
    guards = {name for one in before if one.name in _OPENING | _BRANCHES for name in one.names()}
    waiting = [name for one in conditions for name in one.names()]
    # Whether the file's own definitions count may hang on conditions of their own.
    if any(name in defined for name in waiting):
        waiting += guards
    seen: set[str] = set()
    foreign: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in defined:
            waiting += defined[name]
        elif not _COMPILERS.fullmatch(name):
            foreign.add(name)
    return foreign


def _answers(
    asked: tuple[str, ...],
    preprocess: Callable[[str], CompilerRun],
    note: Callable[[str, CompilerRun], None],
    judge: Callable[[CompilerRun], bool | str],
    *,
    stops: bool,
) -> dict[str, bool | str]:
    """What is judged of the text for each target; with `stops`, none after one for which there is no text."""
    found: dict[str, bool | str] = {}
    for target in asked:
        made = preprocess(target)
        note(f"nvcc -E for {target}", made)
        if made.path is not None:
            found[target] = judge(made)
            continue
        found[target] = made.first_error if made.knows_target else f"this nvcc does not know {target}"
        if made.knows_target and stops:
            break
    return found


def _survives(made: CompilerRun, path: str, wanted: range) -> bool | str:
    """Whether one of the lines of a file is left; a string where none could be, or the file was not reached."""
    if not any(line.strip() for line in clean(text_of(path)).text.split("\n")[wanted.start - 1 : wanted.stop - 1]):
        return "no code stands between the directive and the next one"
    reached, here, number = False, False, 0
    for line in _lines(made):
        if line.startswith(b"# ") and (marker := _LINE.match(line)):
            number = int(marker[1])
            name = marker[2].decode("utf-8", "replace").replace('\\"', '"').replace("\\\\", "\\")
            here = same_file(name, path)
            reached = reached or here
            continue
        if here and number in wanted and line.strip():
            return True
        number += 1
    return False if reached else "the file is not reached by what was preprocessed"


def _lines(made: CompilerRun) -> Iterator[bytes]:
    if made.path is None or made.path.stat().st_size > _MOST_TEXT:
        return
    with made.path.open("rb") as file:
        yield from file


def _compare(
    subject: Subject, asked: tuple[str, ...], answers: dict[str, bool | str], details: dict[str, Any], open_: bool
) -> Told:
    """The answers against what was claimed. With macros of others (`open_`) one build is seen, and not any."""
    claim = subject.claim
    holds = [target for target, answer in answers.items() if answer is True]
    fails = [target for target, answer in answers.items() if answer is False]
    unknown = {target: answer for target, answer in answers.items() if isinstance(answer, str)}
    details = {**details, "holds": holds, "fails": fails, **({"not told": unknown} if unknown else {})}
    beyond = [target for target in holds if target not in claim.holds]
    short = [target for target in fails if target in claim.certain or (not open_ and target in claim.holds)]
    if beyond or short:
        wrong = [f"holds for {', '.join(beyond)}"] if beyond else []
        wrong += [f"fails for {', '.join(short)}"] if short else []
        return TargetAnswer("refuted", f"nvcc's preprocessor: the test {' and '.join(wrong)}"), details
    if unknown or len(answers) < len(asked):
        first = next(iter(unknown.values()), "not all targets were tried")
        return undecided(f"nvcc's preprocessor: {first}"), details
    missed = [target for target in fails if target in claim.holds]
    if missed:
        return undecided(f"in this build the test fails for {', '.join(missed)} too"), details
    return TargetAnswer("confirmed", f"nvcc's preprocessor agrees: {claim.says}"), details
