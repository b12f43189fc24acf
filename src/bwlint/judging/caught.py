"""Errors of what a file does that others catch, or look at."""

from __future__ import annotations

from bwlint.judging.context import Context
from bwlint.model.facts import Module, Operation
from bwlint.readers.python.memory_queries import guarded
from bwlint.sources.read import Unread, decode
from bwlint.sources.search import search_of
from bwlint.sources.tree import package_root


def caught_elsewhere(context: Context, module: Module, name: str) -> bool:
    """Whether a function that asks the driver is called somewhere, and always where a refusal is caught."""
    native = context.native
    if native is None or not name.isidentifier():
        return False
    hits = search_of(package_root(module.path), native.searches).word("python", name)
    sources = (native.read(path) for path in dict.fromkeys(hit.file.real for hit in hits))
    texts = (text for data in sources if not isinstance(data, Unread) and isinstance(text := decode(data), str))
    calls = [caught for text in texts for caught in guarded(text, name)]
    return bool(calls) and all(calls)


def looked_at_by_called(context: Context, module: Module, launch: Operation) -> bool:
    """Whether something that is called below a launch, in its function, asks for the last error."""
    from bwlint.readers.cuda.launches import LOOKED

    own = context.native.outline(module.path) if context.native is not None else None
    around = [one for one in own.definitions.values() if one.at.holds(launch.at)] if own is not None else []
    called = {use.name.rpartition(".")[2] for one in around for use in one.uses if use.at > launch.at}
    paths = (module.path, *context.tree.headers.reached(module)) if called else ()
    outlines = [context.native.outline(path) for path in paths if context.native is not None]
    defined = [one for outline in outlines if outline is not None for one in outline.definitions.values()]
    asked = (one for one in defined if one.qualname.rpartition(".")[2] in called)
    return any(LOOKED.search(use.name) is not None for one in asked for use in one.uses)
