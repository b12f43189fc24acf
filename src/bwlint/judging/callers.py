"""Whether anybody on the way to a Python function may ask for the chip: the function, and all that lead to it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from bwlint.chips import words
from bwlint.judging.aside import place_mark
from bwlint.judging.context import Context
from bwlint.model.facts import Module, Use
from bwlint.model.outline import Outline
from bwlint.readers.nodes import conditions_at
from bwlint.sources.texts import Texts
from bwlint.sources.tree import module_name, package_root
from bwlint.world.arrivals import User
from bwlint.world.libraries import is_called_for_others

_MOST_CALLERS = 200
_ASKS = re.compile(words.said("asks-for-chip"), re.I)


def may_ask(context: Context, module: Module, name: str) -> bool:
    """Whether a function or class of a file's top level, or one that leads to it, may ask for the chip.

    In doubt it does: where it is picked by a name, handed to others, or used in too many places.
    """
    seen, waiting = {(module.path, name)}, deque([(module.path, name)])
    while waiting:
        path, here = waiting.popleft()
        users = None if _asks(context, path, here) else context.arrivals.users(path, package_root(path), here)
        if users is None or len(seen) > _MOST_CALLERS:
            return True
        for user in users:
            after = _around(user, here)
            if after is None:
                return True
            if after and (user.real, after) not in seen:
                seen.add((user.real, after))
                waiting.append((user.real, after))
    return False


def _around(user: User, name: str) -> str | None:
    """The function or class that uses a definition; "" where nobody does or the program begins, None in doubt."""
    use = user.use
    if use.how in ("import", "export") or place_mark(user.real, package_root(user.real))[1]:
        return ""
    if use.how == "base":
        return use.into.partition(".")[0]
    line = user.source.splitlines()[use.at.line - 1]
    if not use.qualname and (use.how == "call" or re.match(rf"\s*{name}\.\w+(?:\[.*\])? *=[^=]", line)):
        return ""
    picked = use.how == "text" or any(map(is_called_for_others, conditions_at(user.source, use.at.line)))
    return None if picked or not use.qualname else use.qualname.partition(".")[0]


def _asks(context: Context, path: str, name: str) -> bool:
    """Whether a function or class of a file has a check of the chip, or words of one."""
    dotted = module_name(path, package_root(path))
    module, outline = context.tree.at(path, dotted), context.evidence.outline(path, dotted)
    gates = context.native.refusals.judged(module) if module is not None else ()
    at = outline.places.get(name) if outline is not None else None
    if at is None or any(one.gate.qualname.partition(".")[0] == name for one in gates):
        return True
    if module is not None and any(_asks_by_call(context, module, use) for use in _calls(outline, name)):
        return True
    return any(map(_ASKS.search, (Texts().source(path) or "").splitlines()[at.line - 1 : at.end_line]))


def _calls(outline: Outline | None, name: str) -> Iterator[Use]:
    """The calls within a definition of a file, those of its methods included, but of code for other chips."""
    for qualname in outline.places if outline is not None else ():
        if outline is not None and (qualname == name or qualname.startswith(f"{name}.")):
            uses = outline.definitions[qualname].uses
            yield from (use for use in uses if use.how == "call" and not is_called_for_others(use.name))


def _asks_by_call(context: Context, module: Module, use: Use) -> bool:
    """Whether what a call leads to checks the chip."""
    return next(context.evidence.gates(module, use), None) is not None
