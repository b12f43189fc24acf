"""Findings about chips that never get to the place in which they were found: nobody would act on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.chips import NONE, ChipSet
from bwlint.judging.drafts import Draft
from bwlint.sources.search import Search
from bwlint.world.budget import Budget
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

if TYPE_CHECKING:
    from bwlint.world.arrivals import Arrivals


@dataclass(slots=True)
class Unreached:
    """Tells which findings are out of reach. Who uses something is looked for only where there is a finding."""

    tree: Tree
    refusals: Refusals
    targets: ChipSet
    budget: Budget
    source: Callable[[str], str | None]
    searches: dict[str, Search]
    _arrivals: Arrivals | None = None

    def holds(self, root: str, draft: Draft) -> bool:
        """Whether none of the chips that a finding of a file below the package root `root` is about gets there."""
        concerned = self._concerned(draft)
        if not concerned or draft.module.language != "python":
            return False
        found = self._asked().arriving(draft.module.path, root, draft.at)
        return bool(found.stops) and not found.chips & concerned

    def _concerned(self, draft: Draft) -> ChipSet:
        """The chips that a finding is about: those kept out, those let in, or all that are asked for."""
        if draft.rule.concerns == "kept-out":
            return self.targets - draft.place.admitted
        if draft.rule.concerns == "let-in":
            return self.targets & draft.place.admitted - (draft.legal or NONE)
        return self.targets

    def _asked(self) -> Arrivals:
        if self._arrivals is None:
            from bwlint.world.arrivals import Arrivals

            self._arrivals = Arrivals(self.tree, self.refusals, self.targets, self.budget, self.source, self.searches)
        return self._arrivals
