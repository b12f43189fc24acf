"""Evidence in the tree that a chip can be treated like its sibling.

That two chips run the same instructions is no ground by itself: a path may never have been built or tried on one of
them. A ground is a place that anybody can look at: an error that was all it met, a definition that is for it too, a
name that speaks of the family, an instruction that is given as the reason and that it has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bwlint.chips import ChipSet, Target, known_targets, spelling
from bwlint.chips.instructions import find, verdict
from bwlint.chips.wording import plain
from bwlint.chips.words import said
from bwlint.evaluate.values import CHIPS
from bwlint.judging.behind import got
from bwlint.judging.context import Context
from bwlint.judging.siblings import Admission, asking, built_without
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Gate, Hop, Module, Side
from bwlint.model.kinds import ANSWERS, LISTED
from bwlint.model.naming import called_by
from bwlint.readers.exact_names import exact_names, in_literals, owners
from bwlint.sources.read import SourceText
from bwlint.sources.search import Hit
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF

_FAMILY_TARGET = re.compile(rf"(?:^|_)(?:{spelling.IN_NAMES}12x|(?:{spelling.IN_NAMES})?12[0-9]f)(?:_|$)", re.I)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_COMPILED_THERE = re.compile(said("compiled-there"), re.I)
_MNEMONIC = re.compile(r"\b[a-z][a-z0-9_]*(?:\.[a-z0-9_:]+){2,}")


@dataclass(frozen=True, slots=True)
class Parted:
    """A gate that parts a family: `held` are the members that it names, `missing` the others. `admission` is what is
    behind the gate and takes the missing ones.
    """

    judged: Judged
    held: ChipSet
    missing: ChipSet
    admission: Admission | None = None


def ground(context: Context, parted: Parted) -> str | None:
    """Why the missing members may be treated like the others, with the place that says so; None where nothing does."""
    for each in _GROUNDS:
        said = each(context, parted)
        if said is not None:
            return said
    return None


def against(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> str | None:
    """Something behind a gate that is for some of `held` and not for all of `missing`, as a sentence; None: nothing."""
    for need in context.evidence.of(judged.module, judged.working):
        if need.strength == PROOF and held & need.legal and missing - need.legal:
            return f"`{need.use.name.rpartition('.')[2]}`, which is behind the test, is for {need.legal}"
    built = built_without(context, judged, held, missing)
    return f"`{built.name}`, which is behind the test, is compiled for {built.chips}" if built is not None else None


def only_refused(judged: Judged) -> bool:
    """Whether who is left out meets an error and nothing else; of a list in a variable, its readers decide."""
    gate = judged.gate
    if gate.kind == "list":
        return gate.yes.at is not None
    return gate.is_a("assert", "skipif") or refuses(judged.other)


def _refused(context: Context, parted: Parted) -> str | None:
    judged = parted.judged
    if not only_refused(judged) or (judged.gate.kind == "table" and got(context, judged)):
        return None
    side = judged.other.at
    return f"all that {plain(parted.missing)} meets now is an error ({_here(judged, side or judged.at)})"


def _admitted(context: Context, parted: Parted) -> str | None:
    found = parted.admission
    if found is None:
        return None
    place = place_in(parted.judged, found.at)
    return f"`{found.name}`, which is behind the test, is for {found.chips} ({place})"


def _behind(context: Context, parted: Parted) -> str | None:
    """Something behind the gate names the missing members, and nothing there is for others alone."""
    judged = parted.judged
    needs = [need for need in context.evidence.of(judged.module, judged.working) if need.hops]
    if not needs or any(not parted.missing <= need.legal for need in needs):
        return None
    hop = needs[0].hops[-1]
    name = needs[0].use.name.rpartition(".")[2]
    return f"`{name}`, which is behind the test, is for {needs[0].legal} ({place_in(judged, hop)})"


def _only_for_errors(context: Context, parted: Parted) -> str | None:
    """A list in a variable that is read where an error is raised and nowhere else."""
    judged = parted.judged
    gate, search = judged.gate, context.search(judged.module)
    if gate.kind != "list" or not gate.name.isidentifier():
        return None
    hits = search.word("python", gate.name) if search.complete("python") else ()
    own = [hit for hit in hits if hit.file.real == judged.module.path]
    others = {hit.file.real for hit in hits} - {judged.module.path}
    defining = {hit.file.real for hit in hits if _defines(hit, gate.name)}
    readers = [hit for hit in own if not _defines(hit, gate.name) and not hit.text.lstrip().startswith("#")]
    if not readers or others - defining:
        return None
    places = [_error_at(judged, hit) for hit in readers]
    if None in places:
        return None
    return f"`{gate.name}` is read for an error and for nothing else ({judged.place}:{readers[0].line})"


def _defines(hit: Hit, name: str) -> bool:
    return re.match(rf"\s*(?:(?:self|cls)\.)?{re.escape(name)}\s*(?::[^=]*)?=(?!=)", hit.text) is not None


def _error_at(judged: Judged, hit: Hit) -> Gate | None:
    """The gate whose test, or whose error, holds a line."""
    for gate in judged.module.gates:
        denied = gate.yes if refuses(gate.yes) and not refuses(gate.no) else None
        if denied is None or denied.at is None or gate.kind == "list":
            continue
        if gate.at[0] <= hit.line <= denied.at[2]:
            return gate
    return None


def _named_for_family(context: Context, parted: Parted) -> str | None:
    """`is_sm120f_supported`: every member of a family runs what is built for its family target."""
    judged = parted.judged
    gate = judged.gate
    if gate.kind not in ANSWERS or not _FAMILY_TARGET.search(gate.name):
        return None
    for other in context.beside(judged.module):
        alone = other.core & (parted.held | parted.missing) == parted.missing
        if other.gate.kind == gate.kind and alone and _FAMILY_TARGET.search(other.gate.name):
            return None  # each member has one of its own
    return f"`{gate.name}` names the family, to which {plain(parted.missing)} belongs ({_here(judged, judged.at)})"


def _reason_holds(context: Context, parted: Parted) -> str | None:
    """The comment gives an instruction as the reason, and both have it."""
    judged = parted.judged
    family = parted.held | parted.missing
    for match in _MNEMONIC.finditer(judged.gate.comment):
        name = match[0].rstrip(".")
        if find(name) is not None and family <= verdict(name).legal.chips:
            reason = f"the comment gives `{name}` as the reason"
            return f"{reason}, which {plain(parted.missing)} has too ({_here(judged, judged.at)})"
    return None


def _compiled_there(context: Context, parted: Parted) -> str | None:
    """What is behind the gate is named, or decorated, for a compiler that compiles for the device at hand."""
    judged = parted.judged
    uses = (use for use in judged.working.uses if use.is_a("call", "import"))
    named = ((use, (use.name, *context.evidence.marks(judged.module, use))) for use in uses)
    found = next((use for use, names in named if any(map(_COMPILED_THERE.search, names))), None)
    if found is None:
        return None
    return f"Triton compiles `{called_by(found.name)}` for the chip it runs on ({_here(judged, found.at)})"


_GROUNDS: tuple[Callable[[Context, Parted], str | None], ...] = (
    _refused,
    _admitted,
    _behind,
    _compiled_there,
    _only_for_errors,
    _named_for_family,
    _reason_holds,
)


def old_library(judged: Judged) -> str | None:
    """Why what one member is refused, the other is too: the refusal is about old releases of a library."""
    if not refuses(judged.other):
        return None
    for node in walk(judged.gate.test):
        if node.op == "cmp" and node.args[0] in ("<", "<=") and "version" in _called(node.args[1][0]):
            return f"the refusal is about older releases of a library, on both alike ({_here(judged, judged.gate.at)})"
    return None


def exact_target(context: Context, judged: Judged, moved: ChipSet, company: ChipSet) -> Target | None:
    """The target of others that is made, or named in a text, on paths that chips take which an edit sends the way of
    `company`, at a gate or at those that ask it, and that they do not load; None where something there is for them.
    """
    asked = judged.gate.is_a(*ANSWERS, *LISTED)
    for one in (judged, *(asking(context, judged) if asked else ())):
        side = one.gate.yes if company & one.core else one.gate.no
        made, named = _made(one.module, side), list(_named(context, one.module, side, moved))
        if any(target.loads_on() & moved for target in (*made, *named)):
            continue
        if one.module.targets:
            made += (target for node in walk(one.gate.test) for target in _by_name(context, one, moved, node))
        theirs = (target for target in (*made, *named) if target.suffix and target.loads_on() & company)
        if (found := next(theirs, None)) is not None:
            return found
    return None


def _made(module: Module, side: Side) -> list[Target]:
    """The targets that flags and lists on a side make."""
    return list(known_targets(name for carry in module.carries if side.holds(carry.at) for name in carry.sass))


def _named(context: Context, module: Module, side: Side, moved: ChipSet) -> Iterator[Target]:
    """The targets with a suffix that texts name on a side's path, or in what it names of its file."""
    source = Texts().source(module.path) if side.at is not None else None
    if source is None or side.at is None or next(exact_names(source), None) is None:
        return
    text = SourceText(source)
    start, end = text.bounds(text.region(*side.at))
    words = set(_WORD.findall(source[start:end]))
    asked = [one.gate.at for one in context.beside(module)]
    for at, name in in_literals(source):
        if start <= at < end:
            line = source.count("\n", 0, at) + 1
            reached = not any(_kept_off(one, line, side, moved) for one in context.judged.get(module.path, ()))
        else:
            line = source.count("\n", 0, at) + 1 if asked else 0
            listed = any(one.line <= line <= one.end_line for one in asked)  # what a test compares with
            reached = not listed and not words.isdisjoint(owners(source, at))
        if reached:
            yield from known_targets([name])


def _kept_off(other: Judged, line: int, side: Side, moved: ChipSet) -> bool:
    """Whether a test on a side keeps all chips that are sent there from a line."""
    return any(
        way.at is not None
        and way.at[0] <= line <= way.at[2]
        and side.holds(other.gate.at)
        and not (moved & other.sets.may if way is other.gate.yes else moved - other.sets.must)
        for way in (other.gate.yes, other.gate.no)
    )


def _by_name(context: Context, judged: Judged, lost: ChipSet, node: Expr) -> Iterator[Target]:
    """The targets that the chips are called in a comparison, where those that are kept out have no suffix in it."""
    lanes = context.tree.value(judged.module, node.args[1][0]).spread() if node.op == "cmp" else ()
    found = {
        chip: list(known_targets([text])) for chip, text in zip(CHIPS, lanes, strict=False) if isinstance(text, str)
    }
    if any(one.suffix == "" for chip in lost for one in found.get(chip, ())):
        yield from (one for chip in judged.core for one in found.get(chip, ()))


def _called(node: Expr) -> str:
    """The last name of what a call calls, or of an attribute."""
    if node.op == "call":
        return _called(node.args[0])
    return str(node.args[1] if node.op in ("attr", "import") else node.args[0]).lower() if node.args else ""


def _here(judged: Judged, at: Span) -> str:
    return f"{judged.place}:{at[0]}"


def place_in(judged: Judged, hop: Hop) -> str:
    """A place as reports show it within the project of a gate."""
    folder = judged.module.path.removesuffix(judged.place.replace("/", os.sep))
    return f"{hop.path.removeprefix(folder).replace(os.sep, '/')}:{hop.at[0]}"
