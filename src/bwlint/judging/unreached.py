"""Findings about chips that never get to the function in which they were found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.drafts import Draft, RelatedSpan
from bwlint.model.findings import NoFix
from bwlint.sources.search import Search
from bwlint.world.budget import Budget
from bwlint.world.tree import Tree

if TYPE_CHECKING:
    from bwlint.world.callers import Callers

_SHOWN = 4


@dataclass(slots=True)
class Arrivals:
    """Looks who gets to what is reported at a default level. Callers are looked for only when something is."""

    tree: Tree
    targets: ChipSet
    budget: Budget
    source: Callable[[str], str | None]
    searches: dict[str, Search]
    _callers: Callers | None = None

    def weighed(self, root: str, draft: Draft) -> Draft:
        """A finding of a file below the package root `root`: a note where none of its chips gets to its function."""
        if draft.rule.concerns is None or draft.severity == "note" or draft.module.language != "python":
            return draft
        concerned = self._concerned(draft)
        found = self._asked().arriving(draft.module.path, root, draft.at)
        if not concerned or not found.stops or found.chips & concerned:
            return draft
        kept = tuple(
            RelatedSpan(stop.module, stop.at, f"keeps {plain(concerned)} away") for stop in found.stops[:_SHOWN]
        )
        message = f"{draft.message}; tests around its callers keep {plain(concerned)} away"
        related = (*draft.related, *kept)
        remedy = NoFix("none of the chips in question gets here") if draft.remedy is not None else None
        return replace(draft, severity="note", confidence="low", message=message, related=related, remedy=remedy)

    def _concerned(self, draft: Draft) -> ChipSet:
        """The chips that a finding is about: those kept out, or those let in."""
        if draft.rule.concerns == "kept-out":
            return self.targets - draft.place.admitted
        return self.targets & draft.place.admitted - (draft.legal or NONE)

    def _asked(self) -> Callers:
        if self._callers is None:
            from bwlint.world.callers import Callers

            self._callers = Callers(self.tree, self.targets, self.budget, self.source, self.searches)
        return self._callers
