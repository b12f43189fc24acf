"""arch-target for lists that leave nobody out: nobody calls what they compile, it is not there, or is for peers."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from bwlint.chips import ChipSet, group
from bwlint.judging.context import Context
from bwlint.model.facts import Carry, Module
from bwlint.readers.python.occurrences import index
from bwlint.sources.read import read_bytes
from bwlint.sources.search import Search, search_of
from bwlint.sources.texts import Texts
from bwlint.sources.tree import checkout_folder, package_root
from bwlint.world.named_sources import COMPILED, NamedSource, named

_SOURCE = re.compile(rb"\.c(?:u|pp|c|xx)(?!\w)")
_MAKES = re.compile(
    rb"custom_command|execute_process|FetchContent|ExternalProject|configure_file|write_text|\bopen\(|git clone"
    rb"|submodule|urlretrieve|download",
    re.I,
)
"""How sources come about that are not in a tree."""
_MODULE = ("", "<module>")
_COMPUTED = re.compile(r"[*$@{}<>]")


def idle(context: Context, module: Module, carry: Carry, chips: ChipSet) -> str:
    """Why nobody misses the chips that a list leaves out; "" where somebody may."""
    if context.native is None:
        return ""
    search = search_of(package_root(module.path), context.native.searches)
    if not search.complete("cuda") or not search.complete("python"):
        return ""
    if _is_unused(search, module, carry):
        return "nobody calls what compiles it"
    sources = list(_sources(module, carry))
    if not sources or any(one.is_pattern for one in sources):
        return ""
    found = [[file.real for file in search.files("cuda") if one.means(file.real)] for one in sources]
    if not any(found):
        gone = all(_is_beside(search, one) for one in sources) and not _is_made(module)
        return "none of its sources is here" if gone else ""
    files = dict.fromkeys(path for paths in found for path in paths)
    for_peers = chips <= group("no-nvlink") and all(_only_peers(context, path) for path in files)
    return "it is for the memory of peers alone" if for_peers and all(found) else ""


def _is_unused(search: Search, module: Module, carry: Carry) -> bool:
    """Whether a function of Python compiles it, and its name stands nowhere but where it is defined."""
    name = carry.qualname.rpartition(".")[2]
    if module.language != "python" or carry.qualname not in module.functions or not name.startswith("_"):
        return False  # others may call it
    known = index(Texts().source(module.path) or "", module.name)
    scope = known.scopes.get(carry.qualname) if known is not None else None
    if scope is None or scope.decorators:
        return False
    hits = search.word("python", name)
    return bool(hits) and all(hit.file.real == module.path and hit.line == scope.at[0] for hit in hits)


def _sources(module: Module, carry: Carry) -> Iterator[NamedSource]:
    """What a list names as its sources; of a program that compiles at run time, what its function names."""
    if carry.sources:
        for source in carry.sources:
            *folders, name = source.split("/")
            plain = tuple(part for part in folders if part not in (".", ".."))
            yield NamedSource(module.path, plain, "*" if _COMPUTED.search(source) else name, anywhere=".." in folders)
        return
    data = read_bytes(module.path)
    if module.language != "python" or not isinstance(data, bytes):
        return
    function = module.functions.get(carry.qualname)
    if function is None and carry.qualname not in _MODULE:
        return
    lines = data.splitlines(keepends=True)
    text = data if function is None else b"".join(lines[function.at[0] - 1 : function.at[2]])
    for match in _SOURCE.finditer(text):
        yield from named(module.path, match)


def _is_beside(search: Search, source: NamedSource) -> bool:
    """Whether the folder in which a source should be has others."""
    home, within = os.path.dirname(source.origin) + os.sep, os.sep + os.path.join(*source.folders, "")
    folders = {
        os.path.join(os.path.dirname(one.real), "") for one in search.files("cuda") if one.real.endswith(COMPILED)
    }
    if not source.anywhere:
        return os.path.join(home, *source.folders, "") in folders
    return any(one.endswith(within) if source.folders else one.startswith(home) for one in folders)


def _is_made(module: Module) -> bool:
    """Whether a build may make its sources or get them from elsewhere."""
    checkout = PurePath(checkout_folder(package_root(module.path)))
    texts: Sequence[object] = (read_bytes(module.path), read_bytes(str(checkout / ".gitmodules")))
    return any(isinstance(text, bytes) and _MAKES.search(text) is not None for text in texts)


def _only_peers(context: Context, path: str) -> bool:
    """Whether all that a source launches enters the memory of a peer; what launches nothing opens it to one."""
    module = context.tree.headers.at(path) if path.endswith(COMPILED) else None
    if module is None:
        return False
    entering = {one.at[:2] for one in module.operations if one.kind == "peer-switch"}
    launched = {one.at[:2] for one in module.operations if one.kind == "launch"}
    data = read_bytes(path)
    has_kernels = not isinstance(data, bytes) or b"__global__" in data
    return bool(entering) and launched <= entering and (bool(launched) or not has_kernels)
