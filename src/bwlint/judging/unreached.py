"""Drop findings about chips that never reach the flagged place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.chips import NONE, ChipSet
from bwlint.judging.drafts import Draft
from bwlint.world.native import Native

if TYPE_CHECKING:
    from bwlint.world.arrivals import Arrivals
    from bwlint.world.native_arrivals import NativeArrivals


@dataclass(slots=True)
class Unreached:
    """Tells which findings are out of reach. Who uses something is looked for only where there is a finding."""

    native: Native
    arrivals: Arrivals
    targets: ChipSet
    _of_cpp: NativeArrivals | None = None

    def holds(self, root: str, draft: Draft) -> bool:
        """Whether none of the chips that a finding of a file below the package root `root` is about gets there."""
        concerned = self._concerned(draft)
        if not concerned or draft.module.language not in ("python", "cuda"):
            return False
        if draft.module.language == "python":
            found = self.arrivals.arriving(draft.module.path, root, draft.at)
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

    def _asked_of_cpp(self) -> NativeArrivals:
        if self._of_cpp is None:
            from bwlint.world.native_arrivals import NativeArrivals

            self._of_cpp = NativeArrivals(self.native, self.arrivals, self.targets)
        return self._of_cpp
