"""Drop findings about chips that never reach the flagged place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.chips import NONE, ChipSet
from bwlint.judging.drafts import Draft
from bwlint.world.budget import Budget
from bwlint.world.native import Native
from bwlint.world.tree import Tree

if TYPE_CHECKING:
    from bwlint.world.arrivals import Arrivals
    from bwlint.world.native_arrivals import NativeArrivals


@dataclass(slots=True)
class Unreached:
    """Tells which findings are out of reach. Who uses something is looked for only where there is a finding."""

    tree: Tree
    native: Native
    targets: ChipSet
    budget: Budget
    source: Callable[[str], str | None]
    _arrivals: Arrivals | None = None
    _of_cpp: NativeArrivals | None = None

    def holds(self, root: str, draft: Draft) -> bool:
        """Whether none of the chips that a finding of a file below the package root `root` is about gets there."""
        concerned = self._concerned(draft)
        if not concerned or draft.module.language not in ("python", "cuda"):
            return False
        if draft.module.language == "python":
            found = self._asked().arriving(draft.module.path, root, draft.at)
        else:
            found = self._asked_of_cpp().arriving(draft.module.path, draft.at)
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

            self._arrivals = Arrivals(
                self.tree, self.native.refusals, self.targets, self.budget, self.source, self.native.searches
            )
        return self._arrivals

    def _asked_of_cpp(self) -> NativeArrivals:
        if self._of_cpp is None:
            from bwlint.world.native_arrivals import NativeArrivals

            self._of_cpp = NativeArrivals(self.native, self._asked(), self.targets)
        return self._of_cpp
