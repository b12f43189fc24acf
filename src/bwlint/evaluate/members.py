"""Attributes: of modules and classes of the tree, of objects outside it, and of names that are called like a device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import TYPE_CHECKING

from bwlint.evaluate import builtins, calls, objects, sources, vectors
from bwlint.evaluate.names import guess, is_status, looks_like_version
from bwlint.evaluate.objects import (
    ClassValue,
    EvaluationFrame,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    PartialValue,
)
from bwlint.evaluate.values import Guess, Ref, Unknown, Vec, compare, lift
from bwlint.model.expr import Expr
from bwlint.model.facts import Module
from bwlint.model.naming import spoken

if TYPE_CHECKING:
    from bwlint.evaluate.interpreter import Interpreter

MAX_BASES = 8
"""From class to base so many steps are followed."""
_METHODS = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__", "==": "__eq__", "!=": "__ne__"}
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_EQUALITY = ("==", "!=")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OF_THE_TREE = (ModuleValue, Instance, ClassValue, Ref)


def attribute(run: Interpreter, node: Expr, frame: EvaluationFrame) -> Vec:
    return named(run, run.evaluate(node.args[0], frame), node.args[1], frame.module)


def named(run: Interpreter, base: Vec, name: str, module: Module) -> Vec:
    """An attribute of a value by its name, as a file means it."""
    if module.language == "cuda" and isinstance(base.lanes[0], (Unknown, Ref, Guess)):
        method = _method_of_some_class(run, module, name)
        if method is not None:
            return method
    if not base.uniform and not (base.device and all(isinstance(lane, Unknown) for lane in base.lanes)):
        if any(isinstance(lane, _OF_THE_TREE) for lane in base.lanes):
            return vectors.each(base, lambda lane: named(run, Vec((lane,), base.device, base.guessed), name, module))
        return lift(lambda value: builtins.attribute(value, name), base)
    owner = base.lanes[0]
    if isinstance(owner, ModuleValue):
        return _module_attribute(run, owner.module, name)
    if isinstance(owner, (Instance, ClassValue)):
        return _member(run, owner, name)
    if isinstance(owner, Ref):
        return _of_reference(run, owner, name)
    if isinstance(owner, Unknown):
        return _of_unknown(run, owner, name, module)
    if isinstance(owner, (FunctionValue, LambdaValue, PartialValue)):
        return vectors.UNKNOWN
    return lift(lambda value: builtins.attribute(value, name), base)


def _of_reference(run: Interpreter, owner: Ref, name: str) -> Vec:
    dotted = f"{owner.name}.{name}"
    member = builtins.arch_member(dotted)
    if member is not None:
        return Vec((member,))
    found = run.outside(dotted)
    if isinstance(found.lanes[0], Ref) and run.sources.find(dotted) is None and not looks_like_version(dotted):
        return (guess(name) if name != builtins.ARCH else None) or found
    return found


def _of_unknown(run: Interpreter, owner: Unknown, name: str, module: Module) -> Vec:
    row = run.sources.find(f"{owner.key}.{name}") if owner.key else None
    if row is not None and row.value:
        return sources.call(row, (), {})
    asks_device = run.sources.find(f"?.{name}") is not None
    if not asks_device and looks_like_version(f"{owner.key}.{name}"):
        return vectors.UNKNOWN
    field = f".{spoken(name)}"
    if field in module.names or run.world.meaning(module, field) is not None:
        value = run.global_name(module, field)
        if vectors.tells(value):
            return value
    if asks_device:
        return Vec((Ref(f"?.{name}"),))
    guessed = guess(name)
    if guessed is not None and run.world.is_literal_attribute(module, name):
        return vectors.UNKNOWN  # a class sets it to a number: a kernel's own, not the device's
    return guessed or Vec((Unknown(f"{owner.key}.{name}" if owner.key else ""),))


def _method_of_some_class(run: Interpreter, module: Module, name: str) -> Vec | None:
    """What a C++ object whose class nobody knows may be asked for: a method of the tree that gives the device."""
    definition = module.names.get(name)
    if definition is None:
        home = run.world.meaning(module, name)
        return _method_of_some_class(run, home, name) if home is not None and name in home.names else None
    return run.global_name(module, name) if definition.op == "function" else None


def _module_attribute(run: Interpreter, module: Module, name: str) -> Vec:
    found = run.global_name(module, name, outer=True)
    if isinstance(found.lanes[0], Ref):
        inner = run.world.module(f"{module.name}.{name}", module.path)
        if inner is not None:
            return Vec((ModuleValue(inner),))
    return found


def _is_number(value: Expr | None) -> bool:
    """Whether a class writes a number down, as an enum of the tree's own does; one of a kernel DSL has tuples."""
    return value is not None and value.op == "const" and isinstance(value.args[0], int)


def _member(
    run: Interpreter,
    owner: Instance | ClassValue,
    name: str,
    depth: int = 0,
    itself: Instance | ClassValue | None = None,
) -> Vec:
    """A method, property, class attribute or single `self` assignment of a class; a base's is found for `itself`."""
    if depth > MAX_BASES:
        return vectors.UNKNOWN
    member = None
    if isinstance(owner, ClassValue) and not _is_number(owner.body.names.get(name)):
        member = builtins.arch_member(f"{owner.body.qualname}.{name}")
    if member is not None:
        return Vec((member,))
    if isinstance(owner, Instance):
        for (_, given), value in owner.given:
            if given == name and name in owner.body.fields:
                return value
    found = owner.body.names.get(name)
    if found is None:
        for base in owner.body.bases:
            parent = run.evaluate(base, EvaluationFrame(owner.module)).lanes[0]
            if isinstance(parent, ClassValue) and parent.body is not owner.body:
                up = Instance(parent.module, parent.body, owner.given) if isinstance(owner, Instance) else parent
                value = _member(run, up, name, depth + 1, itself or owner)
                if not isinstance(value.lanes[0], (Unknown, Ref)):
                    return value
            elif isinstance(parent, Ref) and name.startswith(("get_device", "is_device", "has_device")):
                return Vec((Ref(f"{parent.name}.{name}"),))
        return guess(name) or Vec((Ref(f"{owner.body.qualname}.{name}"),))
    if found.op == "function":
        function = owner.module.functions[found.args[0]]
        method = FunctionValue(owner.module, function, itself or owner)
        return calls.call(run, method, [], {}) if function.kind == "property" else Vec((method,))
    result = _kept(run, owner, name, found)
    if isinstance(owner, ClassValue) and result.uniform and (kind := objects.kind_of(run, owner)):
        return Vec((objects.member(owner.body, kind, name, result.lanes[0]),))
    told = is_status(owner.module.slots[found.args[0]] if found.op == "var" else found)
    return (guess(name) or result) if isinstance(result.lanes[0], Unknown) and not told else result


def _kept(run: Interpreter, owner: Instance | ClassValue, name: str, value: Expr) -> Vec:
    """What an object or a class keeps under a name, which may be made of itself."""
    if isinstance(owner, Instance) and owner.given:
        return run.evaluate(value, EvaluationFrame(owner.module, dict(owner.given)))
    key = (id(owner.module), owner.body.qualname, name)
    return run.once(key, lambda: run.evaluate(value, EvaluationFrame(owner.module)))


def compared(run: Interpreter, op: str, left: Vec, right: Vec) -> Vec | None:
    """How an object of the tree compares, as Python does; None where no object stands on the left."""
    if not any(isinstance(lane, Instance) for lane in left.lanes):
        return None
    if op in ("in", "not in"):
        return _held(run, left, right, denied=op == "not in")
    return vectors.each(left, lambda lane: _compared(run, op, lane, right)) if op in _METHODS else None


def _compared(run: Interpreter, op: str, owner: object, right: Vec) -> Vec:
    """By a method of either class, by its opposite (`total_ordering`; `!=`), or by the fields of a dataclass."""
    other = right.only()
    if not isinstance(owner, Instance):
        return lift(partial(compare, op), Vec((owner,)), right)
    found = _by_methods(run, op, owner, right)
    if found is not None:
        return found
    ordered = owner.body.compares == "ordered"
    opposite = _by_methods(run, _OPPOSITES[op], owner, right) if ordered or op == "!=" else None
    if opposite is not None:
        return lift(lambda value: not value, opposite)
    if op in _EQUALITY and other is None:
        return Vec((op == "!=",))
    fitting = ordered or (owner.body.compares and op in _EQUALITY)
    if not fitting or not isinstance(other, Instance) or other.body is not owner.body:
        return vectors.UNKNOWN
    names = fields(run, ClassValue(owner.module, owner.body))
    mine, theirs = (vectors.zipped(tuple, [_member(run, one, name) for name in names]) for one in (owner, other))
    return lift(partial(compare, op), mine, theirs)


def _held(run: Interpreter, left: Vec, right: Vec, *, denied: bool) -> Vec:
    """Whether an object equals one of several."""
    items = vectors.items(right)
    if items is None:
        return vectors.UNKNOWN
    equal = [compared(run, "==", left, item) or vectors.UNKNOWN for item in items]
    found = reduce(vectors.either, equal, Vec((False,)))
    return lift(lambda value: not value, found) if denied else found


def _by_methods(run: Interpreter, op: str, owner: Instance, right: Vec) -> Vec | None:
    """What the method for an operator says, the object's own or the mirrored one of the other."""
    found = _by_method(run, owner, _METHODS[op], right)
    other = right.only()
    if found is None and isinstance(other, Instance):
        return _by_method(run, other, _METHODS[_MIRRORED[op]], Vec((owner,)))
    return found


def _by_method(run: Interpreter, owner: Instance, name: str, other: Vec) -> Vec | None:
    method = _member(run, owner, name).only()
    return calls.call(run, method, [other], {}) if isinstance(method, FunctionValue) else None


def constructor(run: Interpreter, owner: ClassValue, depth: int = 0) -> FunctionValue | None:
    """The `__init__` that makes objects of a class, its own or that of a base in the tree."""
    found = owner.body.names.get("__init__")
    if found is not None and found.op == "function":
        return FunctionValue(owner.module, owner.module.functions[found.args[0]], Instance(owner.module, owner.body))
    parent = next(_parents(run, owner), None) if depth < MAX_BASES else None
    return constructor(run, parent, depth + 1) if parent is not None else None


def fields(run: Interpreter, owner: ClassValue, depth: int = 0) -> tuple[str, ...]:
    """What objects of a dataclass are made of, in order: the fields of its bases in the tree come first."""
    parents = _parents(run, owner) if depth < MAX_BASES else ()
    inherited = (name for parent in parents for name in fields(run, parent, depth + 1))
    return tuple(dict.fromkeys((*inherited, *owner.body.fields)))


def _parents(run: Interpreter, owner: ClassValue) -> Iterator[ClassValue]:
    """The bases of a class that are classes of the tree."""
    for base in owner.body.bases:
        parent = run.evaluate(base, EvaluationFrame(owner.module)).lanes[0]
        if isinstance(parent, ClassValue) and parent.body is not owner.body:
            yield parent
