"""C++ and CUDA: guards of the preprocessor and tests of the running program, edited as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from bwlint.chips import ChipSet, TargetSet, group, siblings
from bwlint.chips.wording import plain
from bwlint.evaluate.macros import known_macro
from bwlint.fix import Job
from bwlint.fix.beside import moved, stale, with_words
from bwlint.fix.change import WantedChange
from bwlint.fix.cuda import conditions, guards
from bwlint.fix.cuda.guards import not_introduced
from bwlint.fix.cuda.proof import FileChecker, in_a_string
from bwlint.fix.cuda.terms import Change as Rewrite
from bwlint.fix.cuda.terms import edits, offsets
from bwlint.fix.edited import apply
from bwlint.fix.meant import said_exactly
from bwlint.judging.context import Context
from bwlint.judging.guards import Guarded
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.world.tree import Tree

__all__ = ["family_change", "mend"]

MAX_TRIED = 24
_LONGEST_TITLE = 70
_UNKNOWN_SPELLING = NoFix("bwlint has no rewrite for this spelling")
_CONSUMER = group("consumer-blackwell")
_LIMIT = ("SharedMemory", "sharedMem", "smem_optin", "max_shared")


def mend(job: Job) -> Fix | NoFix:
    if in_a_string(job.module):
        return NoFix("code in a string of another language is not rewritten")
    code = clean(job.source)
    checker = FileChecker(job.context.tree, job.module, job.source)
    if job.remedy.how == "guard":
        return _guard(job, code, checker)
    return _test(job, code, checker)


def _guard(job: Job, code: Code, checker: FileChecker) -> Fix | NoFix:
    guarded = _guarded(job.context, job.module, job.at)
    if guarded is None:
        return NoFix("the guard is not found again in this file")
    mine, wanted = guarded.sets.may, job.remedy.targets
    if guarded.denies:
        wanted = guarded.sets.live - wanted
    gained = (mine - wanted) | (wanted - mine)
    said = code.comment_near(*offsets(code, guarded.guard.at))
    name = not_introduced(code, guarded, job.context.guards[job.module.path], wanted - mine)
    if not guarded.denies and name is not None:
        return NoFix(f"the guarded code uses `{name}`, which is not defined for {plain((wanted - mine).chips)}")
    spelled, kind, title = _spellings(job, code, guarded, gained)
    change = family_change(guarded, job.remedy.targets)
    others = guards.of_another_generation(code, guarded.working)
    if others and change is None and (new := (job.remedy.targets - guarded.admitted).chips & _CONSUMER - guarded.chips):
        return NoFix(f"the guarded code is `{others}`, which is not for {plain(new)}")
    if change is not None and (meant := said_exactly(said, change)):
        return meant
    also = _also(job, code, guarded, wanted) if change is None else ()
    if isinstance(also, NoFix):
        return also
    refusal = guarded.guard.yes if guarded.denies else guarded.guard.no
    each = [spelled(one.test) for one in (guarded.guard, *(other for other, _ in also))]
    found = _first_proved(
        job,
        code,
        (list(chain.from_iterable(changes)) for changes in zip(*each, strict=False)),
        kind,
        title,
        checker,
        lambda text, words: checker.guard(text, guarded.guard, wanted, words, also),
        () if change is None else _beside(job, guarded.guard, refusal, change),
    )
    asked = (str(node.args[0]) for node in walk(guarded.guard.test) if node.op in ("defined", "macro"))
    own = next((one for one in asked if _defined(job.context.tree, job.module, one)), None)
    if found == _UNKNOWN_SPELLING and own is not None:
        return NoFix(f"`{own}` decides which targets pass here: mend the guard that defines it")
    return found


def _also(job: Job, code: Code, guarded: Guarded, wanted: TargetSet) -> tuple[tuple[Gate, TargetSet], ...] | NoFix:
    """The guards that are mended along, with the targets that their tests are to hold for."""
    here = tuple(one for one in job.context.guards[job.module.path] if one.module is job.module)
    lost = guarded.sets.may - wanted
    if guarded.denies:
        return ()
    return (
        guards.bounded_together(code, guarded, here, lost)
        if lost
        else tuple(guards.opened_together(guarded, here, wanted))
    )


def _spellings(
    job: Job, code: Code, guarded: Guarded, moved: TargetSet
) -> tuple[Callable[[Expr], Iterator[list[Rewrite]]], str, str]:
    """What the text of a guard may become, the kind of the fix, and its title."""
    wanted = job.remedy.targets
    lost = guarded.admitted - wanted
    if lost:
        first = next(iter(lost)).chip.major * 100
        return (
            partial(guards.bounded, code, end=first),
            "bound",
            f"Keep {lost.chips} out of the guarded code",
        )
    change = family_change(guarded, wanted)
    if change is None and moved.chips <= guarded.chips:
        chips = tuple(moved.chips)
        names = " and ".join(target.name for target in moved)
        return partial(guards.suffixed, code, chips=chips), "family", f"Let {names} through too"
    if change is None:
        start = next(iter(moved)).chip.major * 100
        title = f"Compile it for {moved.chips} too"
        if all(target.suffix for target in moved):
            return partial(guards.suffixed, code, chips=tuple(moved.chips)), "bound", title
        return partial(guards.raised, code, start=start, end=start + 100), "bound", title
    chip, twin = next(iter(change.chips)), next(iter(change.twins))
    want = guards.Widening(twin, chip, _known(job.context.tree, job.module))
    return partial(guards.widened, code, want=want), "family", change.title


def family_change(guarded: Guarded, wanted: TargetSet) -> WantedChange | None:
    """The change of a guard for whole chips, where they have a member of their family beside them."""
    gained = (wanted - guarded.admitted).chips - guarded.chips
    twins = ChipSet.joining(twin for chip in gained for twin in siblings(chip)) & guarded.chips
    return WantedChange("family", wanted.chips, gained, twins) if len(gained) == 1 and twins else None


def _known(tree: Tree, module: Module) -> Callable[[str, str], bool]:
    """Whether a macro that is to stand beside another is the compiler's, or defined where the other one is."""

    def known(new: str, old: str) -> bool:
        if new.startswith("__CUDA_ARCH_") or known_macro(f"__CUDA_ARCH_FEAT_{new}"):
            return True
        if _defined(tree, module, new):
            return True
        return known_macro(new) and not _defined(tree, module, old)

    return known


def _defined(tree: Tree, module: Module, name: str) -> bool:
    own = module.functions.get(name)
    return (own is not None and own.kind == "macro") or bool(tree.definers(module, name))


def _guarded(context: Context, module: Module, at: Span) -> Guarded | None:
    found = (one for one in context.guards.get(module.path, ()) if one.module is module and one.guard.at == at)
    return next(found, None)


def _test(job: Job, code: Code, checker: FileChecker) -> Fix | NoFix:
    judged = job.judged
    if judged is None:
        return NoFix("the check is not found again in this file")
    gate, wanted = judged.gate, job.remedy.chips
    kept_out = job.draft.place.admitted & (wanted - judged.sets.core | judged.sets.core - wanted)
    change = WantedChange.between(judged.sets, wanted, "bound" if kept_out else "admit")
    if isinstance(change, NoFix):
        return change
    span = gate.leaf or gate.at
    if refusal := said_exactly(f"{gate.comment} {code.comment_near(*offsets(code, span))}", change):
        return refusal
    if _compares_limit(code, gate):
        return NoFix("the literal is compared with a queried shared-memory limit")
    also: tuple[Gate, ...] = ()
    if change.kind in ("bound", "admit"):
        also = tuple(one for one in job.module.gates if one != gate and _asks_the_same(job, one))
        roots = [(one.test, one.leaf or one.at) for one in (gate, *also)]
        proposals = conditions.bounded(code, job.module, roots, change)
    elif len(change.chips) != 1 or not change.twins:
        return _UNKNOWN_SPELLING
    else:
        chip = next(iter(change.chips))
        twin = next(iter(siblings(chip) & change.twins), chip)
        proposals = conditions.widened(code, job.module, gate.test, span, twin, chip)
    found = _first_proved(
        job,
        code,
        proposals,
        change.kind,
        change.title,
        checker,
        lambda text, words: checker.gate(text, gate, judged.sets, change, words, also),
        _beside(job, gate, judged.other, change),
    )
    if isinstance(found, Fix) and change.kind == "bound":
        return with_words(job, found, (judged,), judged, change.chips)
    if isinstance(found, NoFix) and not change.twins:
        return NoFix(f"no single comparison keeps {plain(change.chips)} out: give them their own branch or an error")
    return found


def _asks_the_same(job: Job, gate: Gate) -> bool:
    """Whether a gate stands in the function of another one, and asks the same of the device."""
    judged = job.judged
    if judged is None or gate.qualname != judged.gate.qualname:
        return False
    sets = job.context.tree.sets(job.module, gate)
    return sets is not None and (sets.core, sets.live) == (judged.sets.core, judged.sets.live)


def _beside(job: Job, gate: Gate, refusal: Side, change: WantedChange) -> tuple[Edit, ...]:
    """The edits of the words at a test or a guard that name the one part."""
    found = stale(job.module, job.source, gate, refusal, change.twins, change.chips)
    family = change.chips | change.twins
    return tuple(edit for words in found for edit in moved(job.module, job.source, words, family))


def _compares_limit(code: Code, gate: Gate) -> bool:
    start, end = offsets(code, gate.leaf or gate.at)
    return any(word in code.text[start:end] for word in _LIMIT)


def _first_proved(
    job: Job,
    code: Code,
    proposals: Iterator[list[Rewrite]],
    kind: str,
    title: str,
    checker: FileChecker,
    prove: Callable[[str, str], Proof | NoFix],
    beside: Sequence[Edit] = (),
) -> Fix | NoFix:
    """The first proposal that holds, with its proof; else why the first one does not. `beside` are edits of words."""
    refusal, words = None, job.evidence.lstrip()
    for number, changes in enumerate(proposals):
        if number == MAX_TRIED:
            break
        if number == 0 and not checker.readable:
            return NoFix("the file reads differently now: run bwlint again")
        made = edits(job.module.path, code, changes)
        text = apply(job.source, made)
        proof = prove(text, words)
        if isinstance(proof, Proof) and text != job.source:
            told = prove(apply(job.source, (*beside, *made)), words) if beside else None
            all_of_them = (*beside, *made) if isinstance(told, Proof) else made
            return Fix(job.applicability, kind, _title(title, made), all_of_them, proof)  # type: ignore[arg-type]
        if isinstance(proof, NoFix):
            refusal = refusal or proof
    return refusal or _UNKNOWN_SPELLING


def _title(title: str, made: tuple[Edit, ...]) -> str:
    text = " ".join(made[0].text.replace("\\\n", " ").split()).strip("| &")
    if len(made) > 1 or not text or len(text) > _LONGEST_TITLE:
        return title
    region = made[0].region
    inserted = (region.line, region.column) == (region.end_line, region.end_column)
    return f"{title}: {'add' if inserted else 'write'} `{text}`"
