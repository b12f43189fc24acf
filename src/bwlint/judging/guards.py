"""Guards of the preprocessor, evaluated on every compile target and lifted to the chips whose own targets pass;
those in wrapper templates around kernels; and macros that a guard defines or that are defined elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bwlint.chips import EVERY_TARGET, ChipSet, TargetSet, words
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import RelatedSpan
from bwlint.model.expr import Span, walk
from bwlint.model.facts import Gate, Hop, Module, Operation, Side
from bwlint.model.kinds import REFUSING
from bwlint.sources.tree import package_root
from bwlint.world.builds import built
from bwlint.world.tree import TargetSets, Tree

_SHOWN = 8
_ON = ("", 1, True)
_WAY_ROUND = re.compile(words.said("workaround", "workaround-in-names", "tuning"), re.I)


@dataclass(frozen=True)
class Guarded:
    module: Module
    guard: Gate
    sets: TargetSets

    @cached_property
    def denies(self) -> bool:
        """Whether passing the test means an error."""
        return self.guard.yes.ends in REFUSING and self.guard.no.ends not in REFUSING

    @cached_property
    def admitted(self) -> TargetSet:
        """The targets that may compile what the guard lets through."""
        return self.sets.live - self.sets.must if self.denies else self.sets.may

    @cached_property
    def certain(self) -> TargetSet:
        return self.sets.live - self.sets.may if self.denies else self.sets.must

    @property
    def working(self) -> Side:
        return self.guard.no if self.denies else self.guard.yes

    @property
    def other(self) -> Side:
        return self.guard.yes if self.denies else self.guard.no

    @cached_property
    def chips(self) -> ChipSet:
        """Chips one of whose own targets is admitted."""
        return self.admitted.chips

    @cached_property
    def refused(self) -> ChipSet:
        """Chips that get here and none of whose own targets is admitted."""
        return self.sets.live.chips - self.chips

    def claimed(self, targets: TargetSet) -> Claimed:
        """For which of some targets the test holds."""
        asked = targets & self.sets.live
        claim = claims.guard(self.guard.text, asked, self.sets.may, self.sets.must)
        return Claimed(claim, self.guard.at, self.module)

    def operations(self) -> Iterator[Operation]:
        """What the file needs of a device inside the working side."""
        at = self.working.at
        if at is not None:
            yield from (one for one in self.module.operations if at.holds(one.at))


def guards_of(tree: Tree, module: Module) -> tuple[Guarded, ...]:
    """The guards of a file that ask for the target, in file order."""
    found = ((guard, tree.target_sets(module, guard)) for guard in module.guards)
    return tuple(Guarded(module, guard, sets) for guard, sets in found if sets is not None)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A class template that runs what it is given (`kernels` at `places`, or `unknown`) behind a guard."""

    name: str
    kernels: tuple[str, ...]
    places: tuple[RelatedSpan, ...]
    unknown: bool = False

    @property
    def unused(self) -> bool:
        """Whether the project has it and puts nothing into it."""
        return not self.places and not self.unknown


def wrapper_of(context: Context, guarded: Guarded) -> Wrapper | None:
    """The class template of which a guard is the guard, with its uses in the project."""
    name, path = name_of(guarded), guarded.module.path
    if not name:
        return None
    hits = context.search(guarded.module).word("cuda", name)
    argument = re.compile(rf"\b{re.escape(name)}\s*<\s*(?:\w+\s*::\s*)*(?P<kernel>\w+)?")
    defined = re.compile(rf"\b(?:struct|class)\s+{re.escape(name)}\b")
    copies = frozenset(hit.file.real for hit in hits if defined.search(hit.text)) - {path}
    kernels: list[str] = []
    places: list[RelatedSpan] = []
    for hit in hits:
        found = argument.search(hit.text.partition("//")[0])
        if found is not None and _sees(context, hit.file.real, guarded, copies):
            at = Span(hit.line, found.start(), hit.line, found.start() + len(name))
            kernels.append(found["kernel"] or "")
            places.append(RelatedSpan(Hop(hit.file.real, at, ""), at, "wrapped here"))
    around = f"{package_root(path)}{os.sep}"  # a tree that nothing marks as a project may be a part of one
    unknown = not hits or (not places and not all(one.startswith(around) for one in context.judged))
    return Wrapper(name, tuple(kernels), tuple(places[:_SHOWN]), unknown)


def _sees(context: Context, path: str, guarded: Guarded, copies: frozenset[str]) -> bool:
    """Whether a file may mean the wrapper around a guard, and not one of its copies, which it includes instead."""
    module = context.tree.headers.at(path) if copies else None
    if module is None:
        return True
    included = {path, *(header.path for header in context.tree.headers.included(module))}
    return guarded.module.path in included or included.isdisjoint(copies)


def name_of(guarded: Guarded) -> str:
    """The class template whose call operator calls its base's behind a guard; "" where it is none's."""
    owner, _, method = guarded.guard.qualname.rpartition(".")
    wraps = method == "operator()" and any(use.name == method for use in guarded.working.uses)
    return owner.rpartition(".")[2] if wraps else ""


def for_family(context: Context, guarded: Guarded, chips: ChipSet) -> Guarded | None:
    """The guard of a wrapper beside this one that runs what it is given on just these chips."""
    for other in context.guards[guarded.module.path]:
        if name_of(other) not in ("", name_of(guarded)) and other.chips == chips:
            return other
    return None


def asked_for(context: Context, wrapper: Wrapper, guarded: Guarded, targets: TargetSet) -> bool:
    """Whether a build compiles a file in which something is wrapped for some targets, or there is none of it."""
    paths = dict.fromkeys(place.module.path for place in wrapper.places)
    modules = [module for path in paths if (module := context.tree.headers.at(path)) is not None]
    for module in modules or (guarded.module,):
        carries = context.compiling(module)
        unread = carries or context.native.unbuilt.beside_another(module.path)
        if not unread or any(built(carry) & targets for carry in carries):
            return True
    return False


def served(context: Context, guarded: Guarded, lost: TargetSet) -> bool:
    """Whether every macro that a guard defines is defined for the targets that it refuses, elsewhere in the file."""
    names = [use.name for use in guarded.working.uses if use.how == "define"]
    if not names or not guarded.working.tuning:
        return False
    return all(lost <= context.tree.defined_for(guarded.module, name) for name in names)


def defined(guarded: Guarded) -> frozenset[str]:
    """The macros that are all that stands behind a guard; none where there is more."""
    if not guarded.working.tuning:
        return frozenset()
    return frozenset(use.name for use in guarded.working.uses if use.how == "define")


def tuned(guarded: Guarded) -> str:
    """A macro that a guard defines and that is no switch but a value, or is named as the way round a fault."""
    for name in sorted(defined(guarded)):
        macro = guarded.module.functions.get(name)
        values = [body for _, body in macro.returns if guarded.working.holds(body.at)] if macro else []
        if _WAY_ROUND.search(name) or any(body.op == "const" and body.args[0] not in _ON for body in values):
            return name
    return ""


def served_elsewhere(context: Context, guarded: Guarded, lost: TargetSet) -> str:
    """In words that all that the macro of a guard switches on is switched on for `lost` by other guards of the tree."""
    for name in sorted(defined(guarded)):
        served = [
            _served(context, module, guard, lost)
            for module in (guarded.module, *_naming(context, name, guarded.module))
            for guard in module.guards
            if re.search(rf"\b{re.escape(name)}\b", guard.text) and guard is not guarded.guard
        ]
        if served and all(served):
            return f"`{served[0]}`, which it switches on, is defined for {plain(lost.chips)} by another guard"
    return ""


def _served(context: Context, module: Module, guard: Gate, lost: TargetSet) -> str:
    """The first macro that stands alone behind a guard, where all of them are defined for `lost`, and not for all."""
    names = [use.name for use in guard.yes.uses if use.how == "define"] if guard.yes.tuning else []
    if guard.test.op != "defined" or not names:
        return ""
    targets = [context.tree.defined_for(module, name) for name in names]
    return names[0] if all(lost <= one and one != EVERY_TARGET for one in targets) else ""


def _naming(context: Context, name: str, module: Module) -> Iterator[Module]:
    """The other files of the project that name a macro."""
    return (other for other in context.native.naming(name, module.path) if other.path != module.path)


_COMPILERS = "__"
_DIRECTIVE = re.compile(r"#\s*(?:el)?if\s+|\\\r?\n|\s+")


def same_guards(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> Iterator[tuple[Guarded, bool]]:
    """The others that part the same twins, with whether they ask the same question; elsewhere only these."""
    mine = _question(guarded, held)
    for module in (guarded.module, *_elsewhere(context, guarded, mine)):
        for other in context.guards.setdefault(module.path, guards_of(context.tree, module)):
            parts = held & other.chips and lost & other.refused and _names(other, held)
            here = module is guarded.module
            same = bool(mine & _question(other, held))
            if parts and not (here and other.guard == guarded.guard) and (here or same):
                yield other, same


def _question(guarded: Guarded, held: ChipSet) -> frozenset[str]:
    """The macros that a guard defines, those of the project that it compares, and a list in its own words."""
    test = guarded.guard.test
    numbers = {chip.joined * factor for chip in held for factor in (1, 10)}
    compared = (node.args[1] for node in walk(test) if node.op == "cmp" and len(node.args[1]) == 2)
    asked = {left.args[0] for left, right in compared if left.op == "macro" and right.args[0] in numbers}
    words = {_DIRECTIVE.sub("", guarded.guard.text)} if test.op == "or" else set()
    return defined(guarded) | {name for name in asked if not name.startswith(_COMPILERS)} | words


def _names(guarded: Guarded, chips: ChipSet) -> bool:
    """Whether the parts are told apart here, and not where a macro of the test is defined."""
    return any(str(chip.joined) in guarded.guard.text for chip in chips)


def _elsewhere(context: Context, guarded: Guarded, question: frozenset[str]) -> Iterator[Module]:
    search = context.search(guarded.module)
    listed = [guarded.guard.text] if guarded.guard.test.op == "or" else []
    names = [word for word in sorted(question) if word.isidentifier()]
    paths = dict.fromkeys(hit.file.real for word in (*listed, *names) for hit in search.word("cuda", word))
    for path in paths:
        module = context.tree.headers.at(path) if path != guarded.module.path else None
        if module is not None:
            yield module
