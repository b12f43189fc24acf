"""The lists by which the entries that lead to a function say for which chips they are."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.behind import MAX_CALLERS, hits, read_hit
from bwlint.judging.context import Context
from bwlint.model.facts import Module
from bwlint.readers.python.occurrences import NameScope, index
from bwlint.sources.search import Hit
from bwlint.sources.texts import Texts
from bwlint.world.gates import TEST_FILE, Judged


def entry_lists(context: Context, module: Module, name: str) -> Iterator[tuple[Judged, str]]:
    """The lists that decorate who calls a function, directly or over others, with their package roots."""
    texts, waiting, known = Texts(), [name], {name}
    while waiting and len(known) < MAX_CALLERS:
        for hit in hits(context, module, waiting.pop(0)):
            found = None if TEST_FILE.search(hit.file.real) else read_hit(context, hit)
            scope = _around(texts, hit, found.name) if found is not None else None
            if found is None or scope is None or (caller := scope.qualname.rpartition(".")[2]) in known:
                continue
            known.add(caller)
            waiting.append(caller)
            for judged in context.gates(found):
                if judged.gate.kind == "list" and judged.gate.name in (caller, *scope.handed):
                    yield judged, hit.file.root


def _around(texts: Texts, hit: Hit, package: str) -> NameScope | None:
    """The innermost function around a line."""
    known = index(texts.source(hit.file.real) or "", package)
    scopes = known.scopes.values() if known is not None else ()
    inside = (one for one in scopes if one.kind == "function" and one.at[0] < hit.line <= one.at[2])
    return max(inside, key=lambda one: one.at[:2], default=None)
