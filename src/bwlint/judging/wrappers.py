"""Guards in wrapper class templates around kernels, and macros that are defined elsewhere."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from bwlint.chips import ChipSet, TargetSet
from bwlint.judging.context import Context
from bwlint.judging.drafts import RelatedSpan
from bwlint.judging.guards import Guarded
from bwlint.model.expr import Span
from bwlint.model.facts import Hop
from bwlint.sources.tree import package_root
from bwlint.world.builds import built

_SHOWN = 8


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
