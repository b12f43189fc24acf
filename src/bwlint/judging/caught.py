"""Whether an error at a place is handled: by a try, a caller, or a status check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from bwlint.judging.context import Context
from bwlint.model.facts import Module, Operation
from bwlint.readers.python.memory_queries import guarded
from bwlint.world.builds import ends_in
from bwlint.world.headers import resolve


def caught_elsewhere(context: Context, module: Module, name: str) -> bool:
    """Whether a function that asks the driver is called somewhere, and always where a refusal is caught."""
    hits = context.search(module).word("python", name) if name.isidentifier() else ()
    texts = map(context.native.text, dict.fromkeys(hit.file.real for hit in hits))
    calls = [caught for text in texts for caught in guarded(text, name)]
    return bool(calls) and all(calls)


def looked_at_by_called(context: Context, module: Module, launch: Operation) -> bool:
    """Whether something that is called below a launch, in its function, asks for the last error."""
    from bwlint.readers.cuda.launches import LOOKED

    own = context.native.outline(module.path)
    around = [one for one in own.definitions.values() if one.at.holds(launch.at)] if own is not None else []
    called = {use.name.rpartition(".")[2] for one in around for use in one.uses if use.at > launch.at}
    paths = dict.fromkeys(_compiled_with(context, module)) if called else ()
    outlines = filter(None, map(context.native.outline, paths))
    defined = [one for outline in outlines for one in outline.definitions.values()]
    asked = (one for one in defined if one.qualname.rpartition(".")[2] in called)
    return any(LOOKED.search(use.name) is not None for one in asked for use in one.uses)


def _compiled_with(context: Context, module: Module) -> Iterator[str]:
    """A file and what it includes; what no folder around has is the one file that is so called."""
    headers = context.tree.headers
    yield from (module.path, *headers.reached(module))
    found = (file.real for file in context.search(module).files("cuda"))
    files = {*found, *(one.path for one in headers.known())}
    for one in (module, *headers.included(module)):
        folder = str(PurePath(one.path).parent)
        for text in (include.text for include in one.includes if resolve(folder, include.text) is None):
            named = [path for path in files if ends_in(path, text)]
            other = headers.at(named[0]) if len(named) == 1 else None
            yield from (named[0], *headers.reached(other)) if other is not None else ()
