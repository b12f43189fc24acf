"""leak at a predicate: it returns true on a chip, and its callers then run code that fails there.

Such a predicate is mended once, where it stands; a helper that only names chips (`is_sm90_or_newer`) is right by
itself, and each use of it is judged where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.mentions import LATER, of_generation
from bwlint.chips.wording import sentence
from bwlint.evaluate.objects import FunctionValue
from bwlint.judging.chosen import held_by_self
from bwlint.judging.context import Context, instead
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.siblings import asking_files, other_files
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Module, Side
from bwlint.model.naming import spoken
from bwlint.rules.leak.bounds import bounded, doubted
from bwlint.rules.leak.needs import draft, is_true_of_later, leaks, said
from bwlint.sources.tree import package_root
from bwlint.world.gates import TEST_FILE, Judged, refuses
from bwlint.world.libraries import PROOF, Need

_SHOWN = 9


@dataclass(frozen=True, slots=True)
class Harm:
    """What comes of it: a use of a predicate that lets `wrong` through, as that use would be reported."""

    user: Judged
    found: Draft
    wrong: ChipSet
    need: Need


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for judged in context.beside(module):
        harm = harm_of(context, judged) if judged.module is module else None
        if harm is not None:
            yield _draft(context, judged, harm, _others(context, judged, harm))


def untold(context: Context, judged: Judged) -> list[tuple[Side, Need, ChipSet]]:
    """Code behind a gate that no predicate finding reports, neither at this gate's predicate nor at another gate's."""
    apart: frozenset[Span] = frozenset()
    while True:
        found = [one for one in leaks(context, judged, apart) if not _tells(context, judged, one)]
        beside = [one for one in found if _told_beside(context, judged, one)]
        known, apart = apart, apart | {need.use.at for _, need, _ in beside}
        if known == apart:
            found = [one for one in found if one not in beside]
            return [one for one in found if one[1].strength == PROOF] if apart else found


def tells(context: Context, judged: Judged, found: tuple[Side, Need, ChipSet]) -> bool:
    """Whether the finding behind a gate is reported at a predicate."""
    return _tells(context, judged, found) or _told_beside(context, judged, found)


def _tells(context: Context, asker: Judged, found: tuple[Side, Need, ChipSet]) -> bool:
    """Whether the finding is reported at a predicate that the gate calls."""
    _, need, wrong = found
    if need.strength != PROOF:
        return False
    asked = (one for one in _asked(context, asker) if one.gate is not asker.gate)
    return any((harm := harm_of(context, one)) is not None and wrong <= harm.wrong for one in asked)


def _told_beside(context: Context, judged: Judged, found: tuple[Side, Need, ChipSet]) -> bool:
    """Whether it is reported at a predicate that another gate calls, before this use or on the path from it."""
    _, need, wrong = found
    in_front = chain(context.in_front(judged, need.use.at), _on_the_way(context, judged, need))
    return any(wrong <= other.on(side) != other.sets.live and _tells(context, other, found) for other, side in in_front)


def _on_the_way(context: Context, judged: Judged, need: Need) -> Iterator[tuple[Judged, Side]]:
    """The gates in front of the steps from a use to what needs it; who is refused there has an error all the same."""
    gates = context.evidence.gates(judged.module, need.use) if need.hops else ()
    for other in (one for one in gates if not refuses(one.other)):
        steps = [hop.at for hop in need.hops if hop.path == other.module.path]
        yield from ((other, side) for side in (other.gate.yes, other.gate.no) if any(map(side.holds, steps)))


def harm_of(context: Context, predicate: Judged) -> Harm | None:
    """The first use of a predicate through which a chip reaches code that does not run there; tests come last."""
    if not predicate.core & context.targets or not _is_of_a_feature(predicate, context.targets):
        return None
    key = (predicate.module.path, predicate.gate.qualname)
    if key not in context.harms:
        context.harms[key] = next(_harms(context, predicate), None)
    found: Harm | None = context.harms[key]
    return found


def _is_of_a_feature(judged: Judged, targets: ChipSet) -> bool:
    """Whether it is a plain function, called after what can be used and not after the chips that it asks for."""
    name = judged.gate.name
    plain_function = judged.gate.kind == "predicate" and judged.gate.qualname == name
    guessed = judged.sets.guessed and judged.module.language == "python"  # a target of a compiler is asked by its name
    if not plain_function or guessed or TEST_FILE.search(judged.place) or is_true_of_later(name):
        return False
    return not judged.named_after_chips or _says_less(judged, targets)


def _says_less(judged: Judged, targets: ChipSet) -> bool:
    """Whether it is called after one generation, and holds on targets that are none of it: `is_hopper`."""
    words = spoken(judged.gate.name).split("_")
    named = of_generation(words)
    return bool(named) and LATER.isdisjoint(words) and bool(judged.core & targets - named)


def of_hopper(name: str) -> ChipSet:
    """The chips of Hopper, with instructions that no other has, for a name that ends in it: `is_hopper`."""
    words = spoken(name).split("_")
    return of_generation(words[-1:]) & group("hopper") if LATER.isdisjoint(words) else NONE


def _harms(context: Context, predicate: Judged) -> Iterator[Harm]:
    here = predicate.module.path
    for user in sorted(_users(context, predicate), key=lambda one: (one.in_test, one.module.path != here, one.at)):
        seen = context
        if user.module.path not in context.judged:
            own = list(_gates(context, user.module, user.place))
            seen = replace(context, judged=instead(context.judged, user.module.path, own))
        for side, need, wrong in leaks(seen, user):
            if need.strength == PROOF and wrong & predicate.core:
                yield Harm(user, draft(user, side, need, wrong), wrong & predicate.core, need)


def _users(context: Context, predicate: Judged) -> Iterator[Judged]:
    """The gates that ask a predicate, or call a helper that refuses where it says no."""
    files = {module.path: (module, place) for module, place in asking_files(context, predicate)}
    for module, place in tuple(files.values()):
        for one in _gates(context, module, place):
            if refuses(one.other) and "." not in one.gate.qualname and _asks(context, one, predicate):
                others = other_files(context, module, one.gate.qualname)
                files |= {other.path: (other, where) for other, where in others if other.path not in files}
    for module, place in files.values():
        yield from (one for one in _gates(context, module, place) if _asks(context, one, predicate))


def _gates(context: Context, module: Module, place: str) -> Sequence[Judged]:
    known = context.judged.get(module.path)
    return known if known is not None else list(context.gates(module, place=place))


def _asks(context: Context, judged: Judged, predicate: Judged) -> bool:
    return any(asked.gate is predicate.gate for asked in _asked(context, judged))


def _asked(context: Context, judged: Judged) -> Iterator[Judged]:
    """The predicates that the test of a gate calls, or a helper that it calls and that refuses by them."""
    for value in _functions(context, judged):
        home = value.module
        place = context.places.get(home.path) or home.path.removeprefix(package_root(home.path)).lstrip("/")
        own = [gate for gate in home.gates if gate.qualname == value.function.qualname]
        for one in context.gates(home, own, place):
            if one.gate.kind == "predicate":
                yield one
            elif judged.gate.kind == "helper-call" != one.gate.kind and refuses(one.other):
                yield from _asked(context, one)


def comparisons(context: Context, judged: Judged) -> Iterator[RelatedSpan]:
    """The comparisons of the helpers that a gate asks, which are mended there for all who ask."""
    for value in () if judged.owns_comparison else _functions(context, judged):
        own = (gate for gate in value.module.gates if gate.qualname == value.function.qualname)
        yield from (
            RelatedSpan(value.module, gate.at, f"the comparison in `{value.function.qualname}`") for gate in own
        )
    for node in walk(judged.gate.test):
        kept = held_by_self(context.tree, judged.module, node) if node.op == "attr" else None
        if kept is not None and kept.at is not None and context.tree.value(judged.module, kept).device:
            yield RelatedSpan(judged.module, kept.at, f"`{node.args[1]}` is set here")


def is_told_by_name(context: Context, judged: Judged) -> bool:
    """Whether a gate asks a function whose own name says what the gate's does."""
    libraries = context.evidence.libraries
    asked = _functions(context, judged)
    return any(libraries.by_name(one.module.path, (one.function.qualname,), judged.at) for one in asked)


def _functions(context: Context, judged: Judged) -> Iterator[FunctionValue]:
    """The functions that the test of a gate calls, of its own file and of others."""
    for node in _calls(judged.module, judged.gate.test):
        value = context.tree.function(judged.module, node.args[0])
        if value is not None and value.function.qualname != judged.gate.qualname:
            yield value


def _calls(module: Module, test: Expr) -> Iterator[Expr]:
    """Calls in a test, also where a name of the function stands for one."""
    for node in walk(test):
        if node.op == "call":
            yield node
        elif node.op == "var":
            yield from (inner for inner in walk(module.slots[node.args[0]]) if inner.op == "call")


def _others(context: Context, predicate: Judged, first: Harm) -> Iterator[RelatedSpan]:
    """Further uses of a predicate, which are not told by themselves."""
    for harm in islice(_harms(context, predicate), 1, _SHOWN):
        if harm.user.gate is not first.user.gate:
            yield _asked_here(harm)


def _asked_here(harm: Harm) -> RelatedSpan:
    user = harm.user
    return RelatedSpan(user.module, user.gate.leaf or user.at, harm.found.message)


def _draft(context: Context, judged: Judged, harm: Harm, others: Iterable[RelatedSpan]) -> Draft:
    found, need = harm.found, harm.need
    why = sentence(need.use.name, need.what)
    return replace(
        found,
        category=None,
        place=DraftPlace.of_gate(judged),
        message=said(f"`{judged.gate.name}`", need, harm.wrong),
        related=(_asked_here(harm), *found.related, *others),
        remedy=bounded(context, judged, judged.gate.yes, harm.wrong, why, doubt=doubted(need, need.use.name)),
        cause=None,
    )
