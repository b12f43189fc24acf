"""Guards that class templates put around kernels, and macros that are defined elsewhere."""

from __future__ import annotations

from bwlint.chips import TargetSet
from bwlint.judging.context import Context
from bwlint.judging.guards import Guarded, guards_of, wrappers_of
from bwlint.model.facts import Module, Operation


def wrapper(context: Context, module: Module, operation: Operation) -> Guarded | None:
    """The guard of the class template that is put around a kernel here, looked up along the includes."""
    if operation.kind != "wrapper":
        return None
    found = context.wrappers.get(operation.name)
    if found is not None:
        return found
    header = context.tree.headers.calling(module, operation.name)
    if header is not None:
        context.guards.setdefault(header.path, guards_of(context.tree, header))
        context.wrappers.update(wrappers_of(context.guards[header.path]))
    return context.wrappers.get(operation.name)


def served(context: Context, guarded: Guarded, lost: TargetSet) -> bool:
    """Whether every macro that a guard defines is defined for the targets that it refuses, elsewhere in the file."""
    names = [use.name for use in guarded.working.uses if use.how == "define"]
    if not names or not guarded.working.tuning:
        return False
    return all(lost <= context.tree.defined_for(guarded.module, name) for name in names)
