"""The child process that compiles operations of CuTe DSL for one chip after another.

The job comes as JSON on stdin, the answer goes as JSON to the descriptor that `child.ANSWER` names. Nothing of a
scanned tree runs here: a tree gives names, and what is compiled are operations of the package with arguments of ours.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import itertools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from bwlint.confirm.slicing.inside import answer

_LONGEST = 400
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TYPES = ("Float16", "Float32", "Float8E4M3FN", "Float4E2M1FN", "Int8", "Int32", "TFloat32", "Float8E8M0FNU")
_SHAPES = tuple((m, n, k) for m, n in ((128, 128), (64, 128), (16, 8)) for k in (16, 32, 8, 64, 128))
_OF_CHIP = "expects arch"
_MOST = 4000
"""Sets of arguments that are tried on one operation."""
_TENSOR_MEMORY = ("alloc_tmem", "dealloc_tmem", "retrieve_tmem_ptr", "relinquish_tmem_alloc_permit")
OWN_KERNELS = (
    *(f"cutlass.cute.arch.{name}" for name in _TENSOR_MEMORY),
    *(f"cutlass.cute.nvgpu.warpgroup.{name}" for name in ("fence", "commit_group", "wait_group")),
    "cutlass.cute.nvgpu.tcgen05.commit",
    "cutlass.experimental.primitives.tcgen05_alloc",
    "cutlass.utils.blackwell_helpers.make_trivial_tiled_mma",
)
"""Functions of the package that bwlint has a kernel of its own for."""
TAKEN = "taken"


def main() -> None:
    """Answer one job: each operation by its dotted name, on each target."""
    job = json.loads(sys.stdin.buffer.read())
    descriptor = int(os.environ["BWLINT_ANSWER"])
    try:
        dsl = _CuteDsl()
        told = {"version": dsl.version, "operations": {name: dsl.ask(name, job["targets"]) for name in job["names"]}}
    except Exception as error:
        told = {"trouble": f"CuTe DSL does not get ready: {_said(error)}"}
    answer(descriptor, told)


class _TakenError(Exception):
    """An operation was made: what comes after is of no interest."""


class _CuteDsl:
    """The package. Raises ImportError or AttributeError where it is another than those that are known."""

    def __init__(self) -> None:
        import cutlass
        import cutlass.cute as cute
        from cutlass.cute import atom, nvgpu

        self._cutlass, self._cute, self._operation, self._modes = cutlass, cute, atom.Op, nvgpu
        self.version = str(cutlass.__version__)
        self._kernels = _kernels(cute, cutlass, nvgpu)

    def ask(self, name: str, targets: Sequence[str]) -> dict[str, Any]:
        """`kind` says what a name is: absent, an enumeration, an operation, a function with a kernel of ours, other. Of
        operations and kernels `targets` has what becomes of them: "taken", or what is said against it."""
        found = self._find(name)
        if found is None:
            return {"kind": "absent"}
        if isinstance(found, enum.EnumMeta | enum.Enum):
            return {"kind": "enumeration"}
        host = next((host for own, host in self._kernels.items() if self._find(own) is found), None)
        if host is not None:
            return {"kind": "kernel", "targets": {one: self._compiled(host, one) for one in targets}}
        if isinstance(found, type) and issubclass(found, self._operation):
            return {"kind": "operation", "targets": self._made(found, targets)}
        return {"kind": "other"}

    def _find(self, name: str) -> Any:
        """What the package has by a dotted name; its modules are imported as they are named."""
        found, path = self._cutlass, "cutlass"
        for part in name.split(".")[1:]:
            path = f"{path}.{part}"
            if isinstance(found, ModuleType) and not hasattr(found, part):
                with contextlib.suppress(ImportError):
                    importlib.import_module(path)
            found = getattr(found, part, None)
        return found

    def _made(self, operation: type, targets: Sequence[str]) -> dict[str, str]:
        """What becomes of an operation with the first arguments that some target takes."""
        ways = list(itertools.islice(self._arguments(operation), _MOST))
        for target in targets:
            way = self._first(operation, ways, target)
            if way is not None:
                return {one: self._tried(partial(operation, **way), one) for one in targets}
        return {}

    def _first(self, operation: type, ways: Sequence[dict[str, Any]], target: str) -> dict[str, Any] | None:
        found: list[dict[str, Any]] = []

        def search() -> None:
            for way in ways:
                try:
                    operation(**way)
                except Exception as error:
                    if _OF_CHIP in str(error):  # no other arguments change that
                        return
                    continue
                found.append(way)
                return

        self._tried(search, target)
        return found[0] if found else None

    def _arguments(self, operation: type) -> Iterator[dict[str, Any]]:
        """Sets of arguments by the names and annotations of parameters; those with a default keep it. First those in
        which both operands are of one type."""
        wanted: dict[str, Sequence[Any]] = {}
        types = [getattr(self._cutlass, word) for word in _TYPES if hasattr(self._cutlass, word)]
        for name, one in inspect.signature(operation).parameters.items():
            if one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                continue
            if isinstance(one.annotation, enum.EnumMeta):
                wanted[name] = list(one.annotation)
            elif "major" in name:
                wanted[name] = [self._modes.OperandMajorMode.K]
            else:
                wanted[name] = _SHAPES if "shape" in name else types
        both = {"a_dtype", "b_dtype"} & wanted.keys()
        alike = {name: values for name, values in wanted.items() if name != "b_dtype"}
        if len(both) == 2:
            yield from ({**way, "b_dtype": way["a_dtype"]} for way in _products(alike))
        yield from _products(wanted)

    def _tried(self, make: Callable[[], object], target: str) -> str:
        """What becomes of something that is made while a function is traced for a target."""

        def host() -> None:
            make()
            raise _TakenError

        return self._compiled(self._cute.jit(host), target)

    def _compiled(self, host: Any, target: str) -> str:
        try:
            self._cute.compile(host, options=f"--gpu-arch {target}")
        except Exception as error:
            return TAKEN if _is_taken(error) else _said(error)
        return TAKEN


def _products(wanted: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(wanted, values, strict=True)) for values in itertools.product(*wanted.values()))


def _is_taken(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, _TakenError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _said(error: BaseException) -> str:
    """What an exception says, without the source that it shows and what it suggests."""
    text = _COLOURS.sub("", str(error)).partition("suggestion:")[0]
    lines = [re.sub(r"^(?:error|note):\s*", "", line.strip()) for line in text.splitlines()]
    told = [line for line in lines if line and not re.match(r"-->|\d*\s*\||\^", line)]
    return f"{type(error).__name__}: {' '.join(told)}"[:_LONGEST].rstrip(": ")


def _kernels(cute: Any, cutlass: Any, nvgpu: Any) -> dict[str, Any]:
    """Functions of ours around what is no class, by the names that they are asked for by."""
    k, one = nvgpu.OperandMajorMode.K, nvgpu.tcgen05.CtaGroup.ONE
    half, single, whole, wide = cutlass.Float16, cutlass.Float32, cutlass.Int32, cutlass.Int64

    def tensor_memory() -> None:
        place = cute.arch.get_dyn_smem(whole)
        cute.arch.alloc_tmem(512, place)
        memory = cute.arch.retrieve_tmem_ptr(single, 16, place)
        cute.arch.relinquish_tmem_alloc_permit()
        cute.arch.dealloc_tmem(memory, 512)

    def commit() -> None:
        nvgpu.tcgen05.commit(cute.arch.get_dyn_smem(wide))

    def primitive() -> None:
        cutlass.experimental.primitives.tcgen05_alloc(cute.arch.get_dyn_smem(whole), 512, group="cta_1")

    def warpgroup() -> None:
        nvgpu.warpgroup.fence()
        nvgpu.warpgroup.commit_group()
        nvgpu.warpgroup.wait_group(0)

    def mma() -> None:
        cutlass.utils.blackwell_helpers.make_trivial_tiled_mma(half, k, k, single, one, (128, 128))

    memory, group = _launched(cute, tensor_memory), _launched(cute, warpgroup)
    made = (*[memory] * 4, *[group] * 3, _launched(cute, commit), _launched(cute, primitive), cute.jit(mma))
    return dict(zip(OWN_KERNELS, made, strict=True))


def _launched(cute: Any, body: Callable[[], None]) -> Any:
    """A function of the host that launches a kernel with a body."""
    kernel = cute.kernel(body)

    def host() -> None:
        kernel().launch(grid=(1, 1, 1), block=(128, 1, 1), smem=16)

    return cute.jit(host)
