"""A target that a script picks by the CUDA version: `if [ "$CUDA" = cu129 ]; then ARCH=12.0a; else ARCH=12.0f; fi`.

Each pair of arms comes out as an operation of kind picked-target: `name` is the target of the first, the amounts are
that of the second and the releases for which the first is surely taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bwlint.chips.spelling import spelled
from bwlint.chips.toolkits import version
from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.buildfiles.versions import of_condition

_EXACT = (b"12.0a", b"120a")
_END = r"[\"']?(?:[ \t]{1,8}#[^\n]{0,200})?\s{1,40}"
"""What may follow a value up to the next word."""
_ARMS = re.compile(
    r"\bif[ \t]{1,8}(?P<condition>[^\n;]{1,300})(?:;|\n)\s{0,40}then\s{1,40}(?P<name>\w{1,60})=[\"']?"
    rf"(?P<first>[\w.]{{3,12}}){_END}else\s{{1,40}}(?P=name)=[\"']?(?P<second>[\w.]{{3,12}}){_END}fi\b"
)
_IS_LIST = re.compile(r"(?i)list|archs|arches|architectures")
"""Lists are read with all their arms."""
_MOST = 40


def may_hold(data: bytes) -> bool:
    return any(word in data for word in _EXACT) and b"then" in data


def operations(source: str) -> Iterator[Operation]:
    if not may_hold(source.encode("utf-8", "surrogatepass")):
        return
    places = Places(source)
    for match in islice(_ARMS.finditer(source), _MOST):
        first, second = spelled(match["first"]), spelled(match["second"])
        releases = of_condition(match["condition"])[1]
        if first is None or second is None or not releases or _IS_LIST.search(match["name"]):
            continue
        taken = Expr("tuple", (tuple(const(release) for release in sorted(releases, key=version)),))
        amounts = (const(second.target), taken)
        yield Operation("picked-target", first.target, places.span(*match.span("first")), amounts=amounts)
