"""The text beside a check that an edit must change too: error messages, comments, docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from bwlint.chips import ChipSet, words
from bwlint.chips.mentions import from_generation, mentioned
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.change import unsafe
from bwlint.fix.edited import apply, edited
from bwlint.fix.python.syntax import Syntax, between, parse
from bwlint.fix.text import NAMED_BY_PARTS, closed, reworded, reworded_comment, reworded_in_cpp, tests
from bwlint.model.expr import Span, is_text, walk
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.readers import ReadError
from bwlint.readers.comments import Unreadable, comments_of
from bwlint.readers.nodes import below
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, answers_no, refuses

_DEMANDS = re.compile(rf"{words.said('demand', 'only-on')}|\b(?:only|support\w*)\b", re.I)
_SENTENCE = re.compile(r"(?:(?!\.\s|\n\s*\n).)+", re.S)


@dataclass(frozen=True, slots=True)
class NearbyWords:
    """A text beside a test: from where to where it stands in the source, and its place if it is a literal."""

    start: int
    end: int
    literal: Span | None = None


def stale(module: Module, source: str, gate: Gate, refusal: Side, held: ChipSet, missing: ChipSet) -> list[NearbyWords]:
    """The words beside a gate that name some of `held` and none of `missing`. `refusal` is the side to be left."""
    if not held | missing <= NAMED_BY_PARTS:
        return []  # of the others, the number of the first is the name of all
    found = (*_literals(source, refusal), *comments(module, source, gate), *_sentences(module, source, gate))
    return [one for one in found if _names_one(source[one.start : one.end], held, missing)]


def moved(module: Module, source: str, found: NearbyWords, family: ChipSet) -> tuple[Edit, ...]:
    """The edits after which words name a family; none where nobody knows how to say it."""
    if found.literal is None and re.search(words.pinned(family), source[found.start : found.end], re.I):
        return ()  # a comment that gives the target tells what is built
    if found.literal is None:
        edits = reworded_comment(source, module.path, found.start, found.end, family)
    elif module.language == "python":
        edits = reworded(source, module.path, found.literal, family)
    else:
        edits = reworded_in_cpp(source, module.path, found.literal, family)
    return () if isinstance(edits, NoFix) else edits


def demands(text: str) -> bool:
    """Whether words say which chips something is for, rather than describe it."""
    return _DEMANDS.search(text) is not None


def _names_one(text: str, held: ChipSet, missing: ChipSet) -> bool:
    said = mentioned(text)
    return bool(said.exact & held) and not said.exact & missing and not said.open_ended


def _literals(source: str, refusal: Side) -> Iterator[NearbyWords]:
    text = SourceText(source)
    for prose in refusal.texts:
        yield NearbyWords(*text.bounds(text.region(*prose.at)), prose.at)


def comments(module: Module, source: str, gate: Gate) -> Iterator[NearbyWords]:
    """The comments on the lines of a gate, and those that stand alone right above it."""
    text = SourceText(source)
    try:
        found = list(comments_of(module.language, "").find(source))
    except Unreadable:
        return
    first = gate.at[0]
    for start, end in reversed(found):
        line, last = _line(source, start), _line(source, end - 1)
        alone = not source[:start].rpartition("\n")[2].strip()
        if gate.at[0] <= line <= gate.at[2]:
            yield NearbyWords(start, end)
        elif alone and last == first - 1 and text.line(last).strip():
            first = line
            yield NearbyWords(start, end)


def _line(source: str, index: int) -> int:
    return source.count("\n", 0, index) + 1


def _sentences(module: Module, source: str, gate: Gate) -> Iterator[NearbyWords]:
    """Sentences that demand something, of the docstring of the function in which a gate stands."""
    syntax = parse(source) if module.language == "python" else None
    name = gate.qualname.rpartition(".")[2]
    for node in below(syntax.tree) if syntax is not None else ():
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != name or syntax is None:
            continue
        first = node.body[0]
        inside = node.lineno <= gate.at[0] <= (node.end_lineno or 0) or gate.at[0] < node.lineno <= gate.at[2] + 1
        if inside and isinstance(first, ast.Expr) and ast.get_docstring(node, clean=False) is not None:
            start = syntax.start(first)
            for match in _SENTENCE.finditer(source, start, syntax.end(first)):
                if demands(match[0]):
                    yield NearbyWords(*match.span())


def touched(source: str, found: NearbyWords, edits: Iterable[Edit]) -> bool:
    """Whether an edit lies in words."""
    text = SourceText(source)
    return any(found.start <= text.bounds(edit.region)[0] < found.end for edit in edits)


def place(user: Judged) -> str:
    return f"{PurePath(user.module.path).name}:{user.gate.at[0]}"


def with_words(job: Job, fix: Fix, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Fix | NoFix:
    """A bound with the words beside it, in other files where they can move; `NoFix` where a text would be false."""
    whole = _with_own_words(job, fix, [one for one in users if one.module is job.module], origin, gone)
    if isinstance(whole, NoFix):
        return whole
    others = {one.module.path: one.module for one in users if one.module is not job.module}
    for path, module in others.items():
        here = [one for one in users if one.module is module]
        draft = replace(job.draft, place=replace(job.draft.place, module=module))
        there, bare = replace(job, draft=draft, source=Texts().source(path) or ""), replace(whole, edits=())
        more = _with_own_words(there, bare, here, here[0], gone)
        if isinstance(more, Fix) and more.proof == whole.proof:
            whole = replace(whole, edits=(*whole.edits, *more.edits))
        else:
            told = f"the words beside {place(here[0])} still name {plain(gone & job.context.targets)}"
            whole = unsafe(whole, told)
    return whole


def _with_own_words(job: Job, fix: Fix, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Fix | NoFix:
    edits: list[Edit] = []
    asked = gone & job.context.targets
    let_in = (origin.core if gone & origin.core else ~origin.core) - gone
    for start, end, is_reason in dict.fromkeys(_words(job, users, origin, gone)):
        said, is_open = mentioned(job.source[start:end]).named, _is_open(job.source[start:end], asked)
        if not is_open and not said & asked:
            continue
        line = job.source.count("\n", 0, start) + 1
        hits = closed(job.source, start, end, gone, let_in) if is_open else []
        if is_reason and not hits and not is_open:
            return NoFix(f"the text at line {line} names {plain(asked)} too: rewrite it by hand")
        if not hits:
            fix = unsafe(fix, f"the words at line {line} still name {plain(asked)}")
        edits += [between(SourceText(job.source), job.module.path, *hit) for hit in hits]
    kept = [(one, _kept_out(one, one.gate, gone)) for one in users]
    still = [user for user, side in kept if any(_is_open(prose.text, asked) for prose in side.texts)]
    if not edits and not still:
        return fix
    both = (*fix.edits, *dict.fromkeys(edits))
    try:
        alone, together = (edited(job.module, apply(job.source, each)) for each in (fix.edits, both))
    except ReadError:
        return NoFix("the words beside it stand in the way of the edit")
    if tests(alone) != tests(together):
        return NoFix("the words beside it are more than words")
    for user in still:
        side = _kept_out(user, together.gates[job.module.gates.index(user.gate)], gone)
        false = (one for one in side.texts if not side.rest and _is_open(one.text, asked))
        if (one := next(false, None)) is not None:
            return NoFix(f"the text at line {one.at[0]} would be false: rewrite it with the check")
    return replace(fix, edits=both)


def _is_open(text: str, chips: ChipSet) -> bool:
    """Whether a text means some of the chips as newer ones."""
    said, since = mentioned(text), from_generation(" ".join(text.split()))
    return bool((said.open_ended and said.named & chips) or since & chips)


def _kept_out(user: Judged, gate: Gate, gone: ChipSet) -> Side:
    """The side of a gate, as it is or edited, that is to take what is kept out."""
    return gate.no if gone & user.core else gate.yes


def _reasons(syntax: Syntax, user: Judged) -> Iterator[str]:
    """The names by which a mark gives its reason: `skipif(..., reason=OLD)`."""
    for node in below(syntax.tree) if user.gate.kind == "skipif" else ():
        if isinstance(node, ast.Call) and span(node).holds(user.gate.at):
            yield from (each.value.id for each in node.keywords if isinstance(each.value, ast.Name))


def _words(job: Job, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Iterator[tuple[int, int, bool]]:
    """Where words stand that speak of a gate, and whether they are those of a refusal."""
    text = SourceText(job.source)
    for user in users:
        side = _kept_out(user, user.gate, gone)
        nodes = walk(side.value) if side.value is not None else ()
        answers = [node.at for node in nodes if is_text(node)]
        for at in (*(prose.at for prose in side.texts), *filter(None, answers)):
            start, end = text.bounds(text.region(*at))
            is_reason = refuses(side) or answers_no(side)
            yield from [(start, end, is_reason)] if is_reason or _is_open(job.source[start:end], gone) else ()
        for near in comments(job.module, job.source, user.gate):
            yield near.start, near.end, False
    syntax, name = parse(job.source), origin.gate.qualname.rpartition(".")[2]
    if syntax is None:  # C++ is no Python
        return
    reasons = {one for user in users for one in _reasons(syntax, user)}
    for given in syntax.tree.body:
        target = given.targets[0] if isinstance(given, ast.Assign) else None
        if isinstance(given, ast.Assign) and isinstance(target, ast.Name) and target.id in reasons:
            yield syntax.start(given.value), syntax.end(given.value), True
    for node in below(syntax.tree):
        if isinstance(node, ast.FunctionDef) and node.name == name and ast.get_docstring(node):
            inside = node.lineno <= origin.gate.at[0] <= (node.end_lineno or 0)
            yield from [(syntax.start(node.body[0]), syntax.end(node.body[0]), False)] if inside else ()
