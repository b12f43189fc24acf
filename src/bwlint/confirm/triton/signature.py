"""Parameter types and constant values that a Triton kernel is compiled with, each with its evidence.

Nothing is made up. A constant is what the launch, a configuration or a default says; an element what the launching
function makes of a tensor, or what the finding states. Sizes and strides are those that Triton specialises for:
16 divides them, and rows are contiguous.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from bwlint.confirm.triton.uses import Uses, uses
from bwlint.readers.nodes import below, defaults, parameters
from bwlint.readers.python.blocks import constants
from bwlint.readers.python.least import Function, called
from bwlint.readers.python.sides import dotted
from bwlint.readers.python.triton import Taking, positional

MAX_OPEN = 3
"""Flags that nobody knows: each is compiled both ways."""
CONSTANT = "constexpr"
_CONTIGUOUS = "contiguous rows"
ANY = 16
_DTYPES = {
    **{"float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64"},
    **{"int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32", "int": "i32", "int64": "i64", "long": "i64"},
    **{"float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "bool": "i1", "uint32": "u32"},
}
_OF_LANGUAGE = {"float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "int1": "i1", **_DTYPES}
_OF_BITS = {8: "fp8e4nv", 16: "fp16", 32: "fp32"}
_SCALAR = re.compile(r"\*?(?:i1|[iu](?:8|16|32|64)|fp(?:16|32|64)|bf16|fp8e(?:4nv|5|4b15|4b8|5b16))")
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "contiguous", "clone"})


@dataclass(slots=True)
class Signature:
    """`types` are Triton's words by parameter, `values` those of constants (None, a bool, a number, a string, or
    {"dtype": word}), `divisible` the parameters that 16 divides. `sources` says for each what it is taken from. `open`
    are flags that nobody knows."""

    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    divisible: set[str] = field(default_factory=set)
    sources: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def fix(self, name: str, value: object, source: str) -> None:
        self.types[name], self.values[name], self.sources[name] = CONSTANT, value, source

    def give(self, name: str, word: str, source: str, *, divisible: bool = False) -> None:
        self.types[name], self.sources[name] = word, source
        if divisible:
            self.divisible.add(name)

    def ways(self) -> Iterator[dict[str, Any]]:
        """The values of all constants, in each way that open flags may be."""
        for chosen in product((True, False), repeat=len(self.open)):
            yield {**self.values, **dict(zip(self.open, chosen, strict=True))}

    def told(self) -> dict[str, Any]:
        """What a receipt says of it."""
        words = {name: self.values.get(name, word) if word == CONSTANT else word for name, word in self.types.items()}
        return {**words, **dict.fromkeys(self.open, "True and False")}


def given(kernel: Function, words: Sequence[str]) -> Signature | str:
    """A signature that the user states: a word for each parameter, or the value of a constant."""
    names = parameters(kernel)
    if len(words) != len(names):
        return f"`{kernel.name}` has {len(names)} parameters, and --signature has {len(words)}"
    found = Signature()
    for name, word in zip(names, (one.strip() for one in words), strict=True):
        if _SCALAR.fullmatch(word) and name not in constants(kernel):
            found.give(name, word, "--signature", divisible=word.startswith(("*", "i")))
            continue
        try:
            found.fix(name, _value(ast.parse(word, mode="eval").body), "--signature")
        except (SyntaxError, ValueError):
            return f"--signature says `{word}` for `{name}`, which is neither a type of Triton nor a constant"
    return found


def inferred(
    tree: ast.Module,
    helpers: Mapping[str, Function],
    taking: Taking,
    bits: int | None,
    fill: Callable[[str], object] | None = None,
) -> Signature | str:
    """The signature of a kernel as it is taken; a string says what nothing in reach tells. `helpers` are the jit
    functions that it may call. Elements of `bits` bits are what the finding states. `fill` gives values to constants
    where there is no claim to be tested."""
    reader = _SignatureReader(tree, taking, uses(taking.kernel, helpers), bits, fill)
    missing = next((why for name in parameters(taking.kernel) if (why := reader.parameter(name))), "")
    if missing:
        return missing
    if fill is None and len(reader.found.open) > MAX_OPEN:
        return f"{len(reader.found.open)} flags of `{taking.kernel.name}` are not known: {', '.join(reader.found.open)}"
    return reader.found


@dataclass(slots=True)
class _SignatureReader:
    tree: ast.Module
    taking: Taking
    uses: Uses
    bits: int | None
    fill: Callable[[str], object] | None
    found: Signature = field(default_factory=Signature)

    def parameter(self, name: str) -> str:
        """Settle a parameter; why it cannot be, "" where it is."""
        handed = self._handed(name)
        if name in constants(self.taking.kernel):
            return self._constant(name, handed)
        if isinstance(handed, ast.Constant) and handed.value is None:
            self.found.fix(name, None, "the launch")
            return ""
        if name in self.uses.described:
            return f"`{name}` is a tensor descriptor, whose block only the host knows"
        return self._pointer(name, handed) if name in self.uses.pointers else self._scalar(name, handed)

    def _handed(self, name: str) -> ast.expr | None:
        if self.taking.launch is None:
            return None
        places = dict(zip(parameters(self.taking.kernel), positional(self.taking.launch), strict=False))
        return next((one.value for one in self.taking.launch.keywords if one.arg == name), places.get(name))

    def _constant(self, name: str, handed: ast.expr | None) -> str:
        if name in self.taking.constants:
            self.found.fix(name, self.taking.constants[name], "the launch and its configurations")
            return ""
        if self._is_last_stride(name, handed):
            self.found.fix(name, 1, _CONTIGUOUS)
            return ""
        node = handed if handed is not None else dict(defaults(self.taking.kernel)).get(name)
        for one in self._meant(node) if node is not None else ():
            try:
                self.found.fix(name, _value(one), "the launch" if handed is not None else "its default")
            except ValueError:
                continue
            return ""
        if self._is_flag(name, node):
            self.found.types[name], self.found.sources[name] = CONSTANT, "both ways"
            self.found.open.append(name)
            return ""
        if name not in self.uses.decide:
            self.found.fix(name, ANY, "any number: it takes part in no block, loop, test or call")
            return ""
        if self.fill is not None:
            self.found.fix(name, self.fill(name), "filled in")
            return ""
        return f"nothing in reach gives the constant `{name}` of `{self.taking.kernel.name}` a value"

    def _meant(self, node: ast.expr) -> Iterator[ast.expr]:
        """An expression, or the one that its name stands for: a default of the function, a name of the file."""
        yield node
        if not isinstance(node, ast.Name):
            return
        around = self.taking.function
        if around is not None and node.id in parameters(around):
            default = dict(defaults(around)).get(node.id)
            if default is not None:
                yield default
            return
        made = _set_to(node.id, [*(below(around) if around is not None else ()), *self.tree.body])
        if len(made) == 1:
            yield made[0]

    def _is_flag(self, name: str, node: ast.expr | None) -> bool:
        kernel = self.taking.kernel
        calls = (one for one in kernel.decorator_list if isinstance(one, ast.Call))
        decided = next((one for one in calls if dotted(one.func).rpartition(".")[2] == "heuristics"), None)
        if decided is not None and decided.args and isinstance(decided.args[0], ast.Dict):
            pairs = zip(decided.args[0].keys, decided.args[0].values, strict=True)
            own = (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name)
            if any(isinstance(value, ast.Lambda) and _truth(value.body) for value in own):
                return True
        if node is None:
            return False
        around = self.taking.function
        if isinstance(node, ast.Name) and around is not None:
            annotated = [one for one in (*around.args.args, *around.args.kwonlyargs) if one.arg == node.id]
            if any(one.annotation is not None and ast.unparse(one.annotation) == "bool" for one in annotated):
                return True
        return any(map(_truth, self._meant(node)))

    def _pointer(self, name: str, handed: ast.expr | None) -> str:
        word = self._annotated(name) or self._element(handed)
        source = "the launching function" if word else ""
        if not word and name in self.uses.indices:
            word, source = "i32", "used as an index"
        if not word and self.bits is not None:
            word, source = _OF_BITS[self.bits], f"elements of {self.bits} bits"
        if not word:
            return f"nothing in reach says of which type the elements of `{name}` are"
        self.found.give(name, word if word.startswith("*") else f"*{word}", source, divisible=True)
        return ""

    def _annotated(self, name: str) -> str:
        arguments = self.taking.kernel.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        note = next(one.annotation for one in every if one.arg == name)
        is_text = isinstance(note, ast.Constant) and isinstance(note.value, str)
        text = str(note.value) if is_text and isinstance(note, ast.Constant) else dotted(note) if note else ""
        word = _OF_LANGUAGE.get(text.rpartition(".")[2], text) if "." in text else text
        return word if _SCALAR.fullmatch(word) else ""

    def _element(self, node: ast.expr | None, depth: int = 0) -> str:
        """The element of a tensor that the launching function makes, turns into a type, or checks."""
        around = self.taking.function
        if node is None or around is None or depth > _ROUNDS:
            return ""
        if isinstance(node, ast.Call):
            return self._made(node, depth)
        if not isinstance(node, ast.Name):
            return ""
        checked = {word for one in below(around) if isinstance(one, ast.Assert) for word in _checked(one.test, node.id)}
        if len(checked) == 1:
            return checked.pop()
        words = {self._element(one, depth + 1) for one in _set_to(node.id, below(around))}
        return words.pop() if len(words) == 1 else ""

    def _made(self, node: ast.Call, depth: int) -> str:
        word = called(node)
        asked = next((one.value for one in node.keywords if one.arg == "dtype"), None)
        if word == "to" and asked is None:
            asked = next((one for one in node.args if _DTYPES.get(dotted(one).rpartition(".")[2])), None)
        if asked is not None:
            return _DTYPES.get(dotted(asked).rpartition(".")[2], "") if dotted(asked).startswith("torch.") else ""
        if word in _LIKE:
            of = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
            return self._element(of, depth + 1)
        return "fp32" if word in ("empty", "zeros", "ones") and dotted(node.func).startswith("torch.") else ""

    def _scalar(self, name: str, handed: ast.expr | None) -> str:
        word = self._annotated(name)
        number = handed.value if isinstance(handed, ast.Constant) else None
        if isinstance(number, bool | str):
            return f"`{name}` is launched with {number!r}, which is no number"
        if (number == 1 and isinstance(number, int)) or self._is_last_stride(name, handed):
            self.found.fix(name, 1, _CONTIGUOUS if number is None else "the launch")
        elif word:
            self.found.give(name, word, "its annotation", divisible=word.startswith("i"))
        elif name in self.uses.whole or isinstance(number, int):
            even = not isinstance(number, int) or number % 16 == 0
            self.found.give(name, "i32", "part of addresses or bounds", divisible=even)
        elif isinstance(number, float) or handed is not None or self.fill is not None:
            self.found.give(name, "fp32", "computed with, and no part of an address")
        else:
            return f"nothing in reach says of which type `{name}` is"
        return ""

    def _is_last_stride(self, name: str, node: ast.expr | None) -> bool:
        """`x.stride(-1)`, or that of the last dimension of `x` that the launch speaks of, where the kernel puts it
        between the elements of a block and `x` has no dimension without a stride."""
        at, launch = _stride(node), self.taking.launch
        if at is None or launch is None:
            return False
        if at[1] == -1:
            return True
        given = [*launch.args, *(key.value for key in launch.keywords)]
        others = [one[1] for arg in given if (one := _stride(arg)) is not None and one[0] == at[0]]
        named = [one for one in parameters(self.taking.kernel) if (arg := self._handed(one)) and ast.dump(arg) == at[0]]
        packed = any(one in self.uses.packed for one in named)
        return name in self.uses.spread and not packed and -1 not in others and at[1] == max(1, *others)


_ROUNDS = 3


def _set_to(name: str, nodes: Iterable[ast.AST]) -> list[ast.expr]:
    assigned = (one for one in nodes if isinstance(one, ast.Assign))
    return [one.value for one in assigned if any(dotted(to) == name for to in one.targets)]


def _stride(node: ast.expr | None) -> tuple[str, int] | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "stride":
        return None
    try:
        at = ast.literal_eval(node.args[0]) if node.args else None
    except ValueError:
        return None
    return (ast.dump(node.func.value), at) if isinstance(at, int) else None


def _value(node: ast.expr) -> object:
    """A literal, or a type of Triton's language. Raises ValueError for anything else."""
    if isinstance(node, ast.Attribute) and dotted(node).rpartition(".")[0] in ("tl", "triton.language"):
        word = _OF_LANGUAGE.get(node.attr)
        if word is not None:
            return {"dtype": word}
    found = ast.literal_eval(node)
    if not isinstance(found, bool | int | float | str | None):
        raise ValueError(node)
    return found


def _truth(node: ast.expr) -> bool:
    """Whether an expression is true or false and nothing else."""
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return True
    if isinstance(node, ast.BoolOp):
        return all(map(_truth, node.values))
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _checked(test: ast.expr, name: str) -> Iterator[str]:
    for node in below(test):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            words = [dotted(one) for one in (node.left, node.comparators[0])]
            for one, other in (words, words[::-1]):
                if one == f"{name}.dtype" and (found := _DTYPES.get(other.removeprefix("torch."))):
                    yield found
