"""Errors that other files of a project catch, of what a file does."""

from __future__ import annotations

from bwlint.judging.context import Context
from bwlint.model.facts import Module
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
