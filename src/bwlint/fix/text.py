"""Words for people that name one member of a family where the test beside them admits the family, or that promise later
chips where it refuses them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bwlint.chips import EVERY, NONE, Chip, ChipSet, group, words
from bwlint.chips.mentions import OPEN_ENDED, SINCE, SIZE, from_generation, mentioned, of_generation, open_ends
from bwlint.chips.spelling import IN_WORDS, SUFFIX
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, between, parse
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Module
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText

_NAME = rf"(?<![A-Za-z0-9_])(?P<name>({IN_WORDS}){{major}}{{minor}}(?P<suffix>{SUFFIX}))(?![A-Za-z0-9_]){{cards}}"
_CARDS = r"(?: \((?:{})(?:(?! (?:or|and) )[\w ])*\))?"
"""Behind a name, the cards that it means: "SM120 (RTX PRO 6000)". They go where the family is named."""
_CAPABILITY = r"(?P<name>)(capabilit(?:y|ies)(?: of)? )(?P<suffix>)(?:{major}\.{minor}(?!\d)|\({major}, ?{minor}\))"
"""A release of CUDA may be called 12.0 too."""
_JOINED = rf"(?P<name>)(capabilit(?:y|ies)(?: of)? ){{major}}{{minor}}(?P<suffix>{SUFFIX})(?!\w|\.\d)"
_GENERATIONS = "|".join(dict.fromkeys(chip.generation for chip in EVERY))
_ASIDE = re.compile(rf"\s?\((?=[^()]*\b(?:{_GENERATIONS}|[ABHL]\d{{2,3}})\b)[^()]*\)", re.I)
_DEMAND = re.compile(words.said("demand"), re.I)
_Hit = tuple[int, int, str]
"""From where to where other words are to stand, and which."""
NAMED_BY_PARTS = group("consumer-blackwell")
"""Of the others, "SM100" is what everybody calls all of 10.x."""


def mend(job: Job) -> Fix | NoFix:
    module, remedy = job.module, job.remedy
    wording = {"python": reworded, "cuda": reworded_in_cpp}.get(module.language)
    if wording is None:
        return NoFix("texts of files of this kind are not rewritten")
    if remedy.how == "promise":
        edits = _closed(job)
    else:
        edits = _sized(job) if remedy.amount else wording(job.source, module.path, job.at, remedy.chips)
    if isinstance(edits, NoFix):
        return edits
    if tests(module) != tests(edited_module(module, apply(job.source, edits))):
        return NoFix("the edit would change a test")
    admitted, certain = job.draft.place.admitted.names, job.draft.place.certain.names
    what = "Give the memory of" if remedy.amount else "Name"
    title = f"{what} {plain(remedy.chips)} in the text: write `{edits[0].text}`"
    if remedy.how == "promise":
        title = "Promise no later chips in the text"
    proof = Proof(admitted, certain, admitted, certain, job.evidence)
    return Fix(job.applicability, "text", title, edits, proof)


def _sized(job: Job) -> tuple[Edit, ...] | NoFix:
    """The edit of the KiB that a text gives."""
    text = SourceText(job.source)
    start, end = text.bounds(text.region(*job.at))
    found = list(SIZE.finditer(job.source, start, end))
    size = str(job.remedy.amount // 1024)
    if len(found) != 1 or len(size) != len(found[0]["kib"]):
        return NoFix("the number does not stand where the text was read")
    return (between(text, job.module.path, *found[0].span("kib"), size),)


def _closed(job: Job) -> tuple[Edit, ...] | NoFix:
    """The edits after which a text promises no chips but those of the remedy: "SM90" for "SM90+"."""
    text = SourceText(job.source)
    start, end = text.bounds(text.region(*job.at))
    hits = closed(job.source, start, end, EVERY - job.remedy.chips, job.remedy.chips)
    return _edits(job.source, job.module.path, sorted(hits)) or NoFix("no known rewrite for these words")


def reworded(source: str, path: str, span: Span, chips: ChipSet) -> tuple[Edit, ...] | NoFix:
    """The edits after which a string literal of Python names `chips`, the family of the one that it names."""
    syntax = parse(source)
    if syntax is None:
        return NoFix("the text is not the one that was read")
    literals = ((syntax.segment(text), syntax.start(text)) for text in _literals(syntax, span))
    found = [hits for text, start in literals if (hits := _asked(text, start, chips))]
    if len(found) != 1:
        return _not_one(found, chips)
    edits = tuple(syntax.edit(path, *hit) for hit in found[0])
    changed = _changed(syntax.tree, apply(source, edits))
    if changed is None:
        return NoFix("more than the words of one text would change")
    return _fault(*changed, chips) or edits


def reworded_in_cpp(source: str, path: str, span: Span, chips: ChipSet) -> tuple[Edit, ...] | NoFix:
    """The same in C++."""
    from bwlint.readers.cuda.lexer import clean

    code = clean(source)
    literals = code.literals_in(code.offset(*span[:2]), code.offset(*span[2:]))
    sentences = [(code.content(text), text.start) for text in literals if " " in code.content(text)]
    found = [((text, start), hits) for text, start in sentences if (hits := _asked(text, start, chips))]
    if len(found) != 1:
        return _not_one(found, chips)
    (before, start), hits = found[0]
    blanked = [(begin, end, " " * len(new)) for begin, end, new in hits]
    if _replaced(code.text, blanked) != clean(_replaced(source, hits)).text:
        return NoFix("more than the words of one text would change")
    return _fault(before, _replaced(before, hits, start), chips) or _edits(source, path, hits)


def reworded_comment(source: str, path: str, start: int, end: int, chips: ChipSet) -> tuple[Edit, ...] | NoFix:
    """The same in the comment or the sentence between two indexes, which no program reads."""
    before = source[start:end]
    hits = _asked(before, start, chips)
    if not hits:
        return _not_one(hits, chips)
    return _fault(before, _replaced(before, hits, start), chips) or _edits(source, path, hits)


def closed(source: str, start: int, end: int, gone: ChipSet, kept: ChipSet) -> list[_Hit]:
    """What to write for "SM100+", "10.0 or above" or "Hopper or newer", to leave out `gone` and speak of `kept`."""
    before = source[start:end]
    hits: list[_Hit] = []
    since, ends, told = SINCE.search(before), list(open_ends(before)), NONE
    left, named = from_generation(before) - gone, of_generation([since[1].lower()] if since else [])
    if since and left <= named and not gone & named:
        hits.append((start + since.start("open"), start + since.end("open"), ""))
    elif since and left and left <= kept and not ends:
        told, numbers = left, plain(left).replace(" and ", " or ")
        hits.append((start + since.start(), start + since.end(), f"compute capability {numbers}"))
    for one in ends:
        for first, last in one.bounds:
            glued = before[first - 1 : first].isalnum() and before[last : last + 1].isalnum()
            hits.append((start + first, start + last, " " if glued else ""))
        (first, last), rest = one.number, one.chips - gone
        stop = max(last, *(stop for _, stop in one.bounds))
        names = list(generations(one.prefix, rest, dotted="." in before[first:last]))
        aside = _ASIDE.match(before, stop)
        if aside is not None and OPEN_ENDED.search(aside[0]):
            hits.append((start + aside.start(), start + aside.end(), ""))
        hits.append((start + first, start + last, f" or {one.prefix}".join(names)))
    text = _replaced(before, hits, start)
    after, right = mentioned(text), (mentioned(before).named | told) - gone
    is_open = after.open_ended or from_generation(text) & gone or not all(one.chips - gone for one in ends)
    return hits if hits and after.named == right and not is_open else []


def generations(prefix: str, chips: ChipSet, *, dotted: bool = False) -> Iterator[str]:
    """The generations of chips as a text spells them behind `SM`, or alone: `10x`, `10.x`, `110`, `11.0`."""
    for major in sorted({chip.major for chip in chips}):
        one = ChipSet.where(lambda chip: chip.major == major)  # noqa: B023 - used at once
        minor = "x" if len(one) > 1 else str(next(iter(one)).minor)
        yield f"{major}{minor}" if prefix and not dotted else f"{major}.{minor}"


def _asked(text: str, start: int, chips: ChipSet) -> list[_Hit]:
    """Where a text names the part that is asked for: behind a word that demands it, where there is one."""
    found = list(_places(text, start, chips))
    demand = max((match.end() for match in _DEMAND.finditer(text)), default=0)
    return [hit for hit in found if hit[0] >= start + demand] or found


def _edits(source: str, path: str, hits: Sequence[_Hit]) -> tuple[Edit, ...]:
    return tuple(between(SourceText(source), path, *hit) for hit in hits)


def _replaced(text: str, hits: Sequence[_Hit], start: int = 0) -> str:
    """A text that begins at `start`, with other words in some places."""
    for begin, end, new in sorted(hits, reverse=True):
        text = text[: begin - start] + new + text[end - start :]
    return text


def _not_one(found: Sequence[object], chips: ChipSet) -> NoFix:
    if not chips <= NAMED_BY_PARTS:
        return NoFix("the number of the first is read as the name of the family too")
    return NoFix("the text names the part more than once" if found else "no known rewrite for these words")


def _fault(before: str, after: str, chips: ChipSet) -> NoFix | None:
    """Why a text is not to become another; None where it may."""
    if any(product in after for chip in chips for product in chip.products):
        return NoFix("the text names a product too")
    return None if _says(before, after, chips) else NoFix("the new words would not be read as meant")


def _literals(syntax: Syntax, place: Span) -> Iterator[ast.expr]:
    """The string literals in a place; of an f-string the whole."""
    last = None
    for node in syntax.within(place):
        text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        if text and (last is None or not span(last).holds(span(node))):
            last = node
            yield node


def _places(text: str, start: int, chips: ChipSet) -> Iterator[_Hit]:
    """Where a literal that begins at `start` names a member of a family, from and to, and the family in its style."""
    for chip in chips if chips <= NAMED_BY_PARTS else ():
        for form, ending in ((_NAME, "x"), (_CAPABILITY, ".x"), (_JOINED, "")):
            pattern = form.replace("{major}", str(chip.major)).replace("{minor}", str(chip.minor))
            pattern = pattern.replace("{cards}", _CARDS.format("|".join(chip.products)))
            for match in re.finditer(pattern, text, re.I):
                yield start + match.start(), start + match.end(), _of_all(match, chip, chips, ending)


def _of_all(match: re.Match[str], chip: Chip, chips: ChipSet, ending: str) -> str:
    """The family in the style of a name: each member where it is a number alone, or pinned by its suffix."""
    if match["suffix"] or not ending:
        noun = "" if ending else match[2]
        text = match["name"] if ending else match[0].removeprefix(noun)
        each = (text.replace(str(chip.joined), str(one.joined)) for one in (chip, *(chips - ChipSet.of(chip.name))))
        return noun + "/".join(each)
    return f"{match[2]}{chip.major}{ending}"


def _changed(tree: ast.Module, edited: str) -> tuple[str, str] | None:
    """The one string of a file that an edit changed, before and after; None where anything else changed."""
    after = parse(edited)
    if after is None or _shape(tree) != _shape(after.tree):
        return None
    pairs = zip(_strings(tree), _strings(after.tree), strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    return changed[0] if len(changed) == 1 else None


def _shape(tree: ast.Module) -> list[object]:
    """What a file is made of but for the values of its sentences."""
    said = {id(node) for node in _sentences(tree)}
    found: list[object] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            inner = isinstance(value, (ast.AST, list)) or (id(node) in said and name == "value")
            found.append((type(node).__name__, name, None if inner else value))
    return found


def _strings(tree: ast.Module) -> list[str]:
    return [str(node.value) for node in _sentences(tree)]


def _sentences(tree: ast.Module) -> list[ast.Constant]:
    """The literals that are for people: with a blank in them, and no part of what an f-string computes."""
    computed = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) for inner in ast.walk(node)
    }
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in computed)
    return [node for node in texts if isinstance(node.value, str) and " " in node.value]


def _says(before: str, after: str, chips: ChipSet) -> bool:
    """Whether a text that named one of `chips` by its minor names all of them now, and the others as before."""
    old, new = mentioned(before), mentioned(after)
    return (
        len(old.exact & chips) == 1
        and chips <= new.named
        and old.named | chips == new.named
        and not (old.open_ended or new.open_ended)
    )


def tests(module: Module) -> list[tuple[str, str, object]]:
    """The tests of a file, wherever they stand."""
    return [(gate.kind, gate.qualname, _bare(gate.test)) for gate in (*module.gates, *module.guards)]


def _bare(node: object) -> object:
    if isinstance(node, Expr):
        return (node.op, *(_bare(part) for part in node.args))
    return tuple(_bare(part) for part in node) if isinstance(node, tuple) else node
