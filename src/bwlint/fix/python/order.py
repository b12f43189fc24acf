"""Fix an order comparison that means something else: names for a family, texts for releases.

Here the set of the test is right today, or all but right; what is wrong is how it is asked for.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePath

from bwlint.chips import NONE
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.python import first_proved
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.ranges import ranges
from bwlint.fix.python.releases import releases
from bwlint.model.findings import Fix, NoFix
from bwlint.sources.search import search_of
from bwlint.sources.tree import package_root

_LONGEST = 60
_BUILDING = frozenset({"setup.py", "conftest.py"})


def mend(job: Job) -> Fix | NoFix:
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    moved = (remedy.chips | judged.core) - (remedy.chips & judged.core)
    change = WantedChange("type", remedy.chips, moved, NONE)
    place = ConditionPlace.of(job, judged, change, job.draft.at)
    if isinstance(place, NoFix):
        return place
    proved = first_proved(place, (ranges, partial(releases, packaging=_uses_packaging(job))), job.evidence)
    if isinstance(proved, NoFix):
        return proved
    candidate, proof = proved
    return Fix(job.applicability, "type", _title(candidate), candidate, proof)


def _uses_packaging(job: Job) -> bool:
    """Whether modules of the project import `packaging`; a script that builds it says nothing of where it runs."""
    native = job.context.native
    if native is None:
        return False
    hits = search_of(package_root(job.module.path), native.searches).word("python", "packaging")
    imports = (hit for hit in hits if hit.text.lstrip().startswith(("from packaging", "import packaging")))
    return any(PurePath(hit.file.real).name not in _BUILDING for hit in imports)


def _title(candidate: Candidate) -> str:
    text = " ".join(candidate[-1].text.split())
    return f"Write `{text}`" if len(text) <= _LONGEST else "Correct the comparison"
