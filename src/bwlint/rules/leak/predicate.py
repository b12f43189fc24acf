"""leak at a predicate: it says that something can be used, and who asks it comes to what does not run there.

Such a predicate is mended once, where it stands; a helper that only names chips (`is_sm90_or_newer`) is right by
itself, and each use of it is judged where it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.mentions import of_generation
from bwlint.chips.wording import plain
from bwlint.evaluate.objects import FunctionValue
from bwlint.judging.chosen import held_by_self
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.siblings import asking_files
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module, Side
from bwlint.model.naming import spoken
from bwlint.rules.leak import RULE
from bwlint.rules.leak.needs import draft, is_true_of_later, leaks
from bwlint.sources.tree import package_root
from bwlint.world.gates import TEST_FILE, Judged
from bwlint.world.libraries import PROOF, Need

_LATER = frozenset({"or", "newer", "later", "above", "plus", "at", "least", "min", "ge", "geq", "gte"})
"""Words of a name by which later chips are meant too: `is_hopper_or_newer`."""


@dataclass(frozen=True, slots=True)
class Harm:
    """What comes of it: a use of a predicate that lets `wrong` through, as that use would be reported."""

    user: Judged
    found: Draft
    wrong: ChipSet


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for judged in context.beside(module):
        harm = harm_of(context, judged) if judged.module is module else None
        if harm is not None:
            yield _draft(judged, harm)


def tells(context: Context, judged: Judged, found: tuple[Side, Need, ChipSet]) -> bool:
    """Whether what is found behind a gate is told of a predicate that the gate asks."""
    _, need, wrong = found
    if need.strength != PROOF:
        return False
    asked = (one for one in _asked(context, judged) if one.gate is not judged.gate)
    return any((harm := harm_of(context, one)) is not None and wrong <= harm.wrong for one in asked)


def harm_of(context: Context, predicate: Judged) -> Harm | None:
    """The first use of a predicate through which a chip comes to what does not run there; tests come last."""
    if not predicate.core & context.targets or not _is_of_a_feature(predicate, context.targets):
        return None
    key = (predicate.module.path, predicate.gate.qualname)
    if key not in context.harms:
        context.harms[key] = _harm(context, predicate)
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
    return bool(named) and _LATER.isdisjoint(words) and bool(judged.core & targets - named)


def of_hopper(name: str) -> ChipSet:
    """The chips of Hopper, with instructions that no other has, for a name that ends in it: `is_hopper`."""
    words = spoken(name).split("_")
    return of_generation(words[-1:]) & group("hopper") if _LATER.isdisjoint(words) else NONE


def _harm(context: Context, predicate: Judged) -> Harm | None:
    here = predicate.module.path
    for user in sorted(_users(context, predicate), key=lambda one: (one.in_test, one.module.path != here, one.at)):
        seen = context
        if user.module.path not in context.judged:
            seen = replace(
                context, judged={**context.judged, user.module.path: _gates(context, user.module, user.place)}
            )
        for side, need, wrong in leaks(seen, user):
            if need.strength == PROOF and wrong & predicate.core:
                return Harm(user, draft(user, side, need, wrong), wrong & predicate.core)
    return None


def _users(context: Context, predicate: Judged) -> Iterator[Judged]:
    for module, place in asking_files(context, predicate):
        for user in context.judged.get(module.path) or _gates(context, module, place):
            if any(asked.gate is predicate.gate for asked in _asked(context, user)):
                yield user


def _gates(context: Context, module: Module, place: str) -> list[Judged]:
    sets = ((gate, context.tree.sets(module, gate)) for gate in module.gates)
    return [Judged(module, gate, one, place) for gate, one in sets if one is not None]


def _asked(context: Context, judged: Judged) -> Iterator[Judged]:
    """The predicates that the test of a gate calls."""
    for value in _functions(context, judged):
        module = value.module
        for gate in module.gates:
            if (
                gate.kind == "predicate"
                and gate.qualname == value.function.qualname
                and (sets := context.tree.sets(module, gate))
            ):
                yield Judged(module, gate, sets, _place(context, module))


def comparisons(context: Context, judged: Judged) -> Iterator[RelatedSpan]:
    """The comparisons of the helpers that a gate asks, which are mended there for all who ask."""
    for value in () if judged.owns_comparison else _functions(context, judged):
        own = (gate for gate in value.module.gates if gate.qualname == value.function.qualname)
        yield from (RelatedSpan(value.module, gate.at, f"what `{value.function.qualname}` asks") for gate in own)
    for node in walk(judged.gate.test):
        kept = held_by_self(context.tree, judged.module, node) if node.op == "attr" else None
        if kept is not None and kept.at is not None and context.tree.value(judged.module, kept).device:
            yield RelatedSpan(judged.module, kept.at, f"what `{node.args[1]}` keeps")


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


def _place(context: Context, module: Module) -> str:
    return context.places.get(module.path) or module.path.removeprefix(package_root(module.path)).lstrip("/")


def _calls(module: Module, test: Expr) -> Iterator[Expr]:
    """Calls in a test, also where a name of the function stands for one."""
    for node in walk(test):
        if node.op == "call":
            yield node
        elif node.op == "var":
            yield from (inner for inner in walk(module.slots[node.args[0]]) if inner.op == "call")


def _draft(judged: Judged, harm: Harm) -> Draft:
    found, user = harm.found, harm.user
    asked = RelatedSpan(user.module, user.gate.leaf or user.at, f"asked here: {found.message}")
    return replace(
        found,
        rule=RULE,
        category=None,
        place=DraftPlace.of_gate(judged),
        message=f"`{judged.gate.name}` says yes on {plain(harm.wrong)}, and who asks it {found.message}",
        related=(asked, *found.related),
        remedy=None,
        cause=None,
    )
