"""The child process that prepares Triton, enters the sandbox, and compiles one kernel.

The job comes as JSON on stdin, the answer goes as JSON to the descriptor that `child.ANSWER` names. Triton's passes and
LLVM only compute: behind the filter no file is opened and no program started. ptxas is asked by who started this.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from bwlint.confirm.slicing import seccomp
from bwlint.confirm.slicing.inside import answer, leave_streams, limit
from bwlint.confirm.slicing.linking import Linker, Proxy, Units, compiled
from bwlint.confirm.slicing.standins import ChipNumbers, LibrariesOnChip, load_libraries
from bwlint.confirm.slicing.syntax import imported
from bwlint.confirm.slicing.unread import Choices, UnknownValue

PTX_VERSION = 88
"""The oldest ISA that has all chips of the 12.x family: its number decides nothing of what is measured."""
_MESSAGES = 2
"""Where MLIR says what is wrong: as much of it as the parent keeps."""
_LONGEST = 600
_MOST_WAYS = 4
_READY = """@triton.jit
def ready(x, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(x + i, tl.exp(tl.load(x + i)))
"""
_MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice", "triton.tools.tensor_descriptor")


def main() -> None:
    """Answer one job: what Triton makes of a kernel for one target, with each set of constants."""
    job = json.loads(sys.stdin.buffer.read())
    descriptor = int(os.environ["BWLINT_ANSWER"])
    load_libraries()
    try:
        triton = _Triton()
        units = compiled(job, triton.keep)
    except Exception as error:
        answer(descriptor, {"trouble": f"it does not get ready: {_told(error)}"})
        return
    leave_streams(0, 1)
    try:
        limit(job["seconds"])
        seccomp.install(descriptor, 1, _MESSAGES, files_fail=True)  # MLIR looks for the source that it speaks of
    except (OSError, ValueError) as error:
        answer(descriptor, {"refused": str(error)})
        return
    answer(
        descriptor, {"version": triton.version, "made": {row[0]: _all(triton, units, job, row) for row in job["chips"]}}
    )


def _all(triton: _Triton, units: Units, job: Mapping[str, Any], row: Sequence[Any]) -> list[dict[str, Any]]:
    """What is made with each set of constants, for each way that what nobody knows of the modules may be."""
    on = ChipNumbers(*row[1:])
    triton.aim(on)
    found: list[dict[str, Any]] = []
    way: list[bool] = []
    for _ in range(_MOST_WAYS):
        choices = Choices(tuple(way))
        world = _TritonWorld(on, job["rows"], frozenset(job["devices"]), choices)
        world.helpers = triton.helpers()
        linker = Linker(units, world)
        found += [_made(triton, linker, job, values) for values in job["ways"]]
        way = choices.following()
        if not way:
            return found
    return [*found, {"error": f"unknown values have more than {_MOST_WAYS} combinations"}]


def _made(triton: _Triton, linker: Linker, job: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        kernel = linker.module(job["module"])[job["kernel"]]
        triton.link(kernel)
        return triton.made(kernel, job, values)
    except BaseException as error:
        return {"error": _told(error)}


def _told(error: BaseException) -> str:
    """The type of an exception and what it says, or of that which it comes from."""
    while error.__cause__ is not None:
        error = error.__cause__
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except BaseException:
        lines = []
    # Triton shows the source first: what is wrong comes last.
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:_LONGEST].rstrip(": ")


class _TritonWorld(LibrariesOnChip):
    """Libraries as slices have them, and Triton itself."""

    def outside(self, dotted: str) -> Any:
        top, *rest = dotted.split(".")
        if top != "triton":
            return super().outside(dotted)
        if rest and (rest[0] == "backends" or "driver" in rest):
            return self.unread(dotted, "Triton asks the driver for it")
        found: Any = sys.modules[top]
        for name in rest:
            found = getattr(found, name)
        return found


class _Triton:
    """Triton's compiler. Raises ImportError or AttributeError where it is another Triton than those that are known."""

    def __init__(self) -> None:
        import importlib

        import triton
        import triton.language
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import ASTSource, make_backend
        from triton.runtime import jit

        for name in _MODULES:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
        self.version = triton.__version__
        self._triton, self._ir, self._source, self._jit = triton, ir, ASTSource, jit.JITFunction
        self._callable = getattr(jit, "JITCallable", jit.JITFunction)
        self._target_of, self._backend_of = GPUTarget, make_backend
        self._texts: dict[str, list[str]] = {}
        self._linked: set[int] = set()
        # The text of a kernel is in no file.
        self._of_file = inspect.getsourcelines
        inspect.getsourcelines = self._lines  # type: ignore[assignment]
        self.aim(ChipNumbers(12, 0, None))
        self._warm()

    def aim(self, on: ChipNumbers) -> None:
        """Compile for a chip from now on."""
        self._target = self._target_of("cuda", 10 * on.major + on.minor, 32)
        self._backend = self._backend_of(self._target)

    def _lines(self, function: Any) -> tuple[list[str], int]:
        code = getattr(function, "__code__", None)
        text = self._texts.get(getattr(code, "co_filename", ""))
        if code is None or text is None:
            return self._of_file(function)
        return inspect.getblock(text[code.co_firstlineno - 1 :]), code.co_firstlineno

    def _warm(self) -> None:
        """Compile a kernel of ours: what Triton imports late is then there."""
        space = {"triton": self._triton, "tl": self._triton.language, "__name__": "ready"}
        self._texts["<ready>"] = _READY.splitlines(keepends=True)
        exec(compile(_READY, "<ready>", "exec"), space)
        job = {"types": {"x": "*fp32", "n": "constexpr"}, "divisible": ["x"], "options": {}}
        self.made(space["ready"], job, {"n": 32})

    def keep(self, tree: ast.Module) -> str | None:
        """The name under which a statement is compiled as it is written; None where it is rewritten as in any slice."""
        node = tree.body[0]
        if isinstance(node, ast.If | ast.Try):
            tree.body = list(_where_triton_is(node))
        if isinstance(node, ast.AnnAssign) and "constexpr" in ast.unparse(node.annotation) and node.value is not None:
            tree.body[0] = ast.Assign([node.target], ast.Call(_OURS_CONSTANT, [node.value], []))
            return None
        ours = [node] if isinstance(node, ast.FunctionDef) else _either_way(node) if isinstance(node, ast.If) else []
        jitted = [one for one in ours if not _decorators(one).isdisjoint(("jit", "constexpr_function"))]
        if not jitted:
            return None
        for one in jitted:
            one.decorator_list = [_OURS_JIT if "jit" in _decorators(one) else one.decorator_list[-1]]
        text = ast.unparse(ast.fix_missing_locations(tree))
        tree.body = ast.parse(text).body  # its lines are those of the text
        name = f"<kernel {len(self._texts)}>"
        self._texts[name] = text.replace("@__bw_jit__", "@triton.jit").splitlines(keepends=True)
        return name

    def link(self, kernel: Any) -> None:
        """Bind what a kernel and those that it calls read of their modules: Triton asks a plain dictionary."""
        if not isinstance(kernel, self._callable) or id(kernel) in self._linked:
            return
        self._linked.add(id(kernel))
        space = kernel.fn.__globals__
        tree = ast.parse(kernel.src)
        for name in kernel.fn.__code__.co_names:
            try:
                value = space[name]
            except (KeyError, NameError):
                continue
            if isinstance(value, UnknownValue):
                space.pop(name, None)
            elif isinstance(value, Proxy):
                space[name] = self._module(value, name, tree)
            self.link(value)

    def _module(self, proxy: Proxy, name: str, tree: ast.Module) -> ModuleType:
        """A module of the tree with what a kernel asks of it."""
        found = ModuleType(name)
        for one in ast.walk(tree):
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == name:
                value = getattr(proxy, one.attr)
                setattr(found, one.attr, value)
                self.link(value)
        return found

    def helpers(self) -> dict[str, Any]:
        return {"__bw_jit__": self._triton.jit, "__bw_constexpr__": self._triton.language.constexpr}

    def made(self, kernel: Any, job: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """Compile down to PTX; the bytes of shared memory and the PTX."""
        names = kernel.arg_names
        options = self._backend.parse_options({"ptx_version": PTX_VERSION, **job["options"]})
        # Libraries lie in files. What is left to be linked changes no shared memory.
        object.__setattr__(options, "extern_libs", ())
        type_of = self._triton.language.str_to_ty
        constants = {
            (names.index(name),): type_of(value["dtype"], None) if isinstance(value, dict) else value
            for name, value in values.items()
        }
        attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in job["divisible"]}
        source = self._source(kernel, {name: job["types"][name] for name in names}, constants, attributes)
        stages: dict[str, Any] = {}
        self._backend.add_stages(stages, options, source.language)
        context = self._ir.context()
        self._ir.load_dialects(context)
        self._backend.load_dialects(context)
        codegen = self._backend.get_codegen_implementation(options)
        module = source.make_ir(self._target, options, codegen, self._backend.get_module_map(), context)
        metadata = {"target": self._target, **options.__dict__}
        for name in ("ttir", "ttgir", "llir", "ptx"):
            module = stages[name](module, metadata)
        return {"shared": metadata["shared"], "ptx": module}


def _where_triton_is(node: ast.If | ast.Try) -> Sequence[ast.stmt]:
    """The branch that imports Triton, which is there where a kernel runs; the statement where none does."""
    branches = (node.body, node.orelse) if isinstance(node, ast.If) else ([*node.body, *node.orelse],)
    for branch in branches:
        names = {name for one in branch for _, (name, _) in imported(one, "")}
        if any(name.partition(".")[0] == "triton" for name in names):
            return branch
    return [node]


def _either_way(node: ast.If) -> list[ast.FunctionDef]:
    """The functions that a test picks among, where it does nothing else and need not be rewritten."""
    asks = any(isinstance(one, ast.Is | ast.IsNot | ast.In | ast.NotIn) for one in ast.walk(node.test))
    body = [one for one in (*node.body, *node.orelse) if not isinstance(one, ast.Expr)]
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    return functions if not asks and len(functions) == len(body) else []


def _decorators(function: ast.FunctionDef) -> set[str]:
    return {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in function.decorator_list}


_OURS_JIT = ast.Name("__bw_jit__", ast.Load())
_OURS_CONSTANT = ast.Name("__bw_constexpr__", ast.Load())
