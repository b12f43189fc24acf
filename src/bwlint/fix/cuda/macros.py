"""Add a sibling's macros beside those of one family member, and check both wherever one is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from bwlint.chips import NO_TARGET, Chip, ChipSet, Target, TargetSet
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.cuda import family_change, guards
from bwlint.fix.cuda.proof import needs
from bwlint.fix.cuda.terms import LONGEST_LINE, Change, Term, broken, edits, twin_text
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.judging.legality import legal
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.rules.family_split.guard import macros_of_part
from bwlint.sources.search import MAX_HITS
from bwlint.sources.texts import Texts
from bwlint.world.tree import Tree

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|endif)\w*[^\n]*", re.M)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_COMMENT = re.compile(r"[ \t]*//[^\n]*\w")
_MOST_FILES = 40


@dataclass(frozen=True, slots=True)
class _MacroBlock:
    """Where `home` defines the macros of `twin`, from and to; `names` are those that `chip` is without."""

    twin: Chip
    chip: Chip
    home: Module
    start: int
    end: int
    names: frozenset[str]

    @property
    def gaining(self) -> TargetSet:
        return TargetSet.native(ChipSet.of(self.chip.name))

    def like(self, targets: TargetSet) -> TargetSet:
        """The targets of the sibling that are as some of the part's own."""
        return TargetSet.where(lambda one: one in self.gaining and Target(self.twin.joined, one.suffix) in targets)


def mend(job: Job) -> Fix | NoFix:
    guarded, texts, tree = job.guarded, Texts(), job.context.tree
    change = family_change(guarded, job.remedy.targets) if guarded is not None else None
    if guarded is None or change is None:
        return NoFix("the macros of this guard are not found again")
    twin, chip = next(iter(change.twins)), next(iter(change.chips))
    asked = macros_of_part(job.context, guarded, change.twins, change.chips)
    if not asked:
        return NoFix("the macros of this guard are not found again")
    own = NoFix(f"`{asked[0]}` is named after the part that the guard asks for: {chip} wants a macro of its own")
    homes = {
        home.path: home
        for name in asked
        for home in ((job.module,) if name in job.module.functions else tree.definers(job.module, name))
    }
    home = next(iter(homes.values()))
    block = _block(tree, home, clean(texts.source(home.path) or ""), twin, chip, asked) if len(homes) == 1 else None
    if block is None:
        return own
    search = job.context.search(job.module)
    hits = [hit for name in block.names for hit in search.word("cuda", name)]
    there = [new for name in block.names if search.word("cuda", new := twin_text(name, twin, chip))]
    paths = tuple(dict.fromkeys((home.path, *(hit.file.real for hit in hits))))
    seen = search.complete("cuda") and any(hit.file.real == home.path for hit in hits)
    if there or not seen or len(paths) > _MOST_FILES or len(hits) >= MAX_HITS:
        return NoFix(f"`{there[0]}` is in use already") if there else own
    made: list[tuple[Module, str, tuple[Edit, ...]]] = []
    for path in paths:
        module, source = tree.headers.at(path), texts.source(path)
        found = _edits(block, module, clean(source)) if module is not None and source is not None else own
        if isinstance(found, NoFix) or module is None or source is None:
            return found if isinstance(found, NoFix) else own
        made.append((module, source, found))
    proof = _proof(job, block, made)
    if isinstance(proof, NoFix):
        return proof
    title = f"Give {plain(change.chips)} the macros of {plain(change.twins)} wherever these are checked"
    every = tuple(edit for _, _, found in made for edit in found)
    return Fix("unsafe" if "(unsafe:" in proof.evidence else "safe", "family", title, every, proof)


def _block(tree: Tree, home: Module, code: Code, twin: Chip, chip: Chip, asked: Sequence[str]) -> _MacroBlock | None:
    """The largest block that defines one of some macros, and nothing that is not named after the part."""
    opened: list[int] = []
    found: tuple[int, int] | None = None
    for match in _DIRECTIVE.finditer(code.text):
        if match[1] == "if":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            inside = _DEFINE.findall(code.text, start, match.end())
            if not {*asked}.isdisjoint(inside) and all(twin_text(name, twin, chip) != name for name in inside):
                found = start, match.end()
    if found is None:
        return None
    gaining = TargetSet.native(ChipSet.of(chip.name))
    names = {name for name in _DEFINE.findall(code.text, *found) if gaining - tree.defined_for(home, name)}
    return _MacroBlock(twin, chip, home, *found, frozenset(names))


def _edits(block: _MacroBlock, module: Module, code: Code) -> tuple[Edit, ...] | NoFix:
    """The edits of a file: the block once more, and a macro beside each that is asked for."""
    own = (block.start, block.end) if module.path == block.home.path else (0, 0)
    want = guards.Widening(block.twin, block.chip, lambda _new, _old: True)
    changes: list[Change] = []
    covered, grown = [own], dict[int, int]()
    for guard in module.guards:
        for term in guards.leaves(code, guard.test):
            inside = own[0] <= term.start < own[1]
            if not inside and not block.names.isdisjoint(re.findall(r"\w+", code.text[term.start : term.end])):
                changes += _beside(code, want, term, grown)
                covered.append((term.start, term.end))
    for match in re.finditer(rf"\b(?:{'|'.join(sorted(block.names))})\b", code.text):
        if not any(start <= match.start() < end for start, end in covered):
            line = code.text.count("\n", 0, match.start()) + 1
            return NoFix(f"`{match[0]}` is more than asked for at {PurePath(module.path).name}:{line}")
    if own[1]:
        changes.append((own[1], own[1], _again(block, code)))
    return edits(module.path, code, sorted(changes))


def _beside(code: Code, want: guards.Widening, term: Term, grown: dict[int, int]) -> Iterator[Change]:
    """The macro of the sibling behind one; `grown` is by how much the lines are longer by now."""
    for start, end, new in next(guards.twins(code, term, want), []):
        line, first = code.line_start(start), (term.parent or term).start
        gap = broken(code, term, "||") or f" || \\\n{' ' * (first - code.line_start(first))}"
        width = len(code.source[line:].partition("\n")[0]) + grown.get(line, 0) + len(new)
        breaks = width > LONGEST_LINE and not {*"\r\n"} & {*new, *code.source[line:start]}
        text = new.replace(" || ", gap, 1) if breaks else new
        grown[line] = grown.get(line, 0) + (0 if "\n" in text else len(text))
        yield start, end, text


def _again(block: _MacroBlock, code: Code) -> str:
    """The block for the sibling, with the comments right above it."""
    start = block.start
    while start and _COMMENT.match(code.source, above := code.line_start(start - 1)):
        start = above
    ending = "\r\n" if "\r\n" in code.source else "\n"
    return 2 * ending + twin_text(code.source[start : block.end], block.twin, block.chip)


def _proof(job: Job, block: _MacroBlock, made: Sequence[tuple[Module, str, tuple[Edit, ...]]]) -> Proof | NoFix:
    before = after = job.context.tree
    edited = [edited_module(module, apply(source, found)) for module, source, found in made]
    for new in edited:
        after = after.edited(new)
    shown: dict[str, Target | None] = {}
    for (module, source, _), new in zip(made, edited, strict=True):
        name = PurePath(module.path).name
        for guard, again in _pairs(block, module, source, new):
            old_sets, new_sets = before.target_sets(module, guard), after.target_sets(new, again)
            if old_sets is None or new_sets is None:
                continue
            gained, asks = new_sets.may - old_sets.may, guard.text != again.text
            if (gained | (old_sets.may - new_sets.may)) - block.gaining or (
                asks and block.like(old_sets.may) - new_sets.may
            ):
                return NoFix(f"the edit would make another guard of the one at {name}:{guard.at[0]}")
            if asks:
                found = (one for one in old_sets.may if one.chip == block.twin and block.chip in one.loads_on())
                passing = next(found, None)
                defined = [use.name for use in guard.yes.uses if use.how == "define"]
                shown |= {one: shown.get(one) or passing for one in defined or [f"{name}:{guard.at[0]}"]}
        for one, moved in zip(needs(module), needs(new), strict=False):
            if after.compiled(new, moved.path) - before.compiled(module, one.path) - legal(moved):
                return NoFix(f"line {one.at[0]} of {name} does not assemble for {block.chip}")
    loaded = sorted({str(one) for one in shown.values()}) if all(shown.values()) else []
    doubt = f"nothing here shows that {block.chip} runs the code behind these macros"
    told = f"code for {loaded[0]} passes, and {block.chip} loads it as it is" if loaded else f"(unsafe: {doubt})"
    guarded = job.guarded
    may, must = (guarded.sets.may, guarded.sets.must) if guarded is not None else (NO_TARGET, NO_TARGET)
    return Proof(may.names, must.names, (may | block.like(may)).names, (must | block.like(must)).names, told)


def _pairs(block: _MacroBlock, module: Module, source: str, new: Module) -> Iterator[tuple[Gate, Gate]]:
    """The guards of a file before and after the edit; those of the block that was added are nobody's."""
    added = len(new.guards) - len(module.guards)
    last = source.count("\n", 0, block.end) + 1
    first = sum(guard.at[0] <= last for guard in module.guards) if added else 0
    return zip(module.guards, (*new.guards[:first], *new.guards[first + added :]), strict=True)
