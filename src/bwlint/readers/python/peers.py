"""Python that lets kernels work on another GPU's memory: options, environment variables and calls of the driver.

Each comes out as an operation of kind peer-switch. `name` is skip, declared (a variable that would leave a test out is
said not to), reads (it is asked for), open, enable, multicast, multimem (a call that uses
multicast memory), fabric, rdma, option, named (a look at NVLink that the name of the device decides) or demanded
(multicast that the caller may not want).
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from bwlint.chips.peers import PathOption, hints, on_one_device, options, proofs, skips
from bwlint.chips.spelling import IN_NAMES
from bwlint.model.details import PeerSwitch
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, children, last_name
from bwlint.readers.python.vocabulary import numbers_of_lines
from bwlint.readers.spans import span

_HINTS = tuple(hint.encode() for hint in hints())
_STEMS = (b"p2p", b"peer", b"ipcopenmem", b"multicast", b"multimem", b"fabric", b"rdma", b"nvlink")
_WORDS = re.compile(
    rb"p2p|peer_?(?:check|test|access)|ipcopenmemhandle|enablepeeraccess|cumulticastcreate|type_fabric"
    rb"|gpudirectrdmacapable|multimem_all|multimem_one|check_nvlink|nvlink_conn|enable_multicast"
)
_IN_FUNCTION = re.compile(
    "|".join((r"p2p|peer|ipcopenmem|multi(?:mem|cast)|fabric|rdma|nvl|nvml|pci-?e", *hints())).encode()
)
"""Of small letters: what stands on a line of a function in which something can be found."""
_OPEN = re.compile(r"(?:cuda|cu)IpcOpenMemHandle\w*$")
_ENABLE = re.compile(r"(?:cudaDevice|cuCtx)EnablePeerAccess$")
_CAPABILITY = re.compile(
    rf"(?i)capabilit|(?:is_|\b){IN_NAMES}\d|sm_version|\barch|_arch|\bmajor|blackwell|hopper|compute_cap"
)
_PROCESSOR = re.compile(r"(?i)machine|aarch64|arm64")
_MULTIMEM = re.compile(r"multimem_\w+$")
_PCIE = re.compile(r"(?i)pci-?e$")
_NVLINK = re.compile(r"(?i)nvlink|nvml")
_WANTED = re.compile(r"(?:enable|use|with|want)_?(?:multicast|multimem|nvls)")
_OFFERED = re.compile(r"(?i)multicast_?support|supports?_multicast|has_multicast")
_SIZE = re.compile(r"(?i)world_size|(?:tp|ep|dp|tensor_parallel|expert_parallel)_size|num_gpus|n_gpus|device_count")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+$")
_NEAR = 48
"""How many callers are within reach of a function."""
_SIGNS = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off", ""})


ANCHORS = (*_HINTS, *_STEMS)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file has a word of this. Plain words first, since most files have none."""
    lowered = data.lower()
    if any(hint in data for hint in _HINTS):
        return True
    return any(stem in lowered for stem in _STEMS) and _WORDS.search(lowered) is not None


@dataclass(frozen=True)
class _PeerFunction:
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    qualname: str
    owner: str

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_words(self.node))

    @cached_property
    def hands_out(self) -> bool:
        return any(isinstance(node, ast.Return) and node.value is not None for node in below(self.node))


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    at: ast.expr | ast.stmt
    detail: PeerSwitch = field(default_factory=PeerSwitch)


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """The switches of a parsed file, in order of place."""
    functions = [*_functions(tree.body, "", ""), _PeerFunction(tree, "<module>", "")]
    lines = sorted(numbers_of_lines(_IN_FUNCTION, source.lower().encode("utf-8", "surrogatepass")))
    result: list[Operation] = []
    for function in _with_a_line(functions, lines):
        found = list(_found(function))
        if not found:
            continue
        near = _within_reach(function, functions)
        words = frozenset(one.name for one in near).union(*(one.words for one in near))
        shown = tuple(sorted(proofs(" ".join(words))))
        for one in found:
            handed = one.name == "open" and all(near.hands_out for near in _with_callers(function, functions))
            if handed or (one.name == "open" and on_one_device(source)):
                continue
            detail = replace(one.detail, proofs=shown)
            result.append(Operation("peer-switch", one.name, span(one.at), detail=detail, qualname=function.qualname))
    return tuple(sorted(result, key=lambda operation: operation.at))


def _with_a_line(functions: Sequence[_PeerFunction], lines: Sequence[int]) -> Iterator[_PeerFunction]:
    """Those that hold one of some lines, as they are written; the module, the last, has what no other holds."""
    firsts = [one.node.lineno for one in functions if not isinstance(one.node, ast.Module)]
    holding = set[int]()
    for line in lines:
        at = bisect_right(firsts, line) - 1
        node = functions[at].node
        inside = not isinstance(node, ast.Module) and line <= (node.end_lineno or node.lineno)
        holding.add(at if inside else len(firsts))
    return (function for number, function in enumerate(functions) if number in holding)


def _functions(body: list[ast.stmt], prefix: str, owner: str) -> Iterator[_PeerFunction]:
    """Functions of the module and methods; what stands inside of a function belongs to it."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _PeerFunction(node, prefix + node.name, owner)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.", prefix + node.name)
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _functions([item for item in children(node) if isinstance(item, ast.stmt)], prefix, owner)


def _found(function: _PeerFunction) -> Iterator[_Found]:
    """The switches of one function; those under the same test are one."""
    seen: set[tuple[str, int]] = set()
    for node, tests in _statements(function.node, ()):
        for one in _of(node, tests, function):
            key = (one.name, id(one.at))
            if key not in seen:
                seen.add(key)
                yield one


def _statements(node: ast.AST, tests: tuple[ast.expr, ...]) -> Iterator[tuple[ast.AST, tuple[ast.expr, ...]]]:
    """Nodes below one, each with the tests around it; no functions, methods and signs (`+`, `<`, `and`)."""
    stack = [(child, tests) for child in _inner(node)]
    in_module = isinstance(node, ast.Module)
    while stack:
        item, around = stack.pop()
        if in_module and isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield item, around
        test = item.test if isinstance(item, (ast.If, ast.IfExp, ast.While)) else None
        inner = around if test is None else (*around, test)
        stack += [(child, around if child is test else inner) for child in _inner(item)]


def _inner(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, the last first."""
    found = [child for child in children(node) if not isinstance(child, _SIGNS)]
    found.reverse()
    return found


def _of(node: ast.AST, tests: tuple[ast.expr, ...], function: _PeerFunction) -> Iterator[_Found]:
    if isinstance(node, (ast.If, ast.IfExp)):
        yield from _read(node.test)
    if isinstance(node, ast.Call):
        yield from _called(node, function)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from _assigned(node, tests)
    elif isinstance(node, ast.Return) and node.value is not None and (tests or isinstance(node.value, ast.IfExp)):
        yield from _fabric(node.value, tests)
    elif isinstance(node, ast.If) and _asks_name(node.test) and any(map(_NVLINK.search, _words(node))):
        yield _Found("named", node.test)
    elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
        yield from _demanded(node.test, tests, function)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _ENABLE.match(last_name(node.value.func)):
        yield _Found("enable", node.value.func)


def _called(node: ast.Call, function: _PeerFunction) -> Iterator[_Found]:
    name = last_name(node.func)
    if _OPEN.match(name) and function.name != name:
        yield _Found("open", node.func)
    elif _MULTIMEM.match(name) and not _MULTIMEM.match(function.name):
        yield _Found("multimem", node.func)
    elif name == "cuMulticastCreate":
        yield _Found("multicast", node.func)
    elif node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
        given = (
            node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "default"), None)
        )
        if _VARIABLE.match(node.args[0].value) and _skipped(node.args[0].value, given):
            yield _Found("skip", node, PeerSwitch(variable=node.args[0].value, tests_with=_opposite(given)))


def _skipped(variable: str, default: ast.expr | None) -> bool:
    """Whether an environment variable leaves the test out unless somebody asks for it."""
    is_on = _is_on(default)
    return any(on is is_on for pattern, on in skips() if pattern.search(variable))


def _tested(variable: str, default: ast.expr) -> bool:
    """Whether the test is made with this value of a variable that may leave it out."""
    is_on = _is_on(default)
    return is_on is not None and any(on is not is_on for pattern, on in skips() if pattern.search(variable))


def _is_on(default: ast.expr | None) -> bool | None:
    text = str(default.value).lower() if isinstance(default, ast.Constant) else "?"
    return True if text in _ON else False if text in _OFF else None


def _opposite(default: ast.expr | None) -> str:
    return "0" if _is_on(default) else "1"


def _read(test: ast.expr) -> Iterator[_Found]:
    """A test that asks whether to leave the test of a pair out."""
    for node in below(test):
        name = last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if _VARIABLE.match(name) and any(pattern.search(name) for pattern, _ in skips()):
            yield _Found("reads", test, PeerSwitch(variable=name))


def _assigned(node: ast.Assign | ast.AnnAssign, tests: tuple[ast.expr, ...]) -> Iterator[_Found]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    name, value = last_name(target), node.value
    if value is None:
        return
    if name == "gpuDirectRDMACapable" and isinstance(value, ast.Constant) and value.value in (1, True):
        yield _Found("rdma", target, PeerSwitch(decides="" if tests else "always"))
    declares = isinstance(value, ast.Call) and "Env" in last_name(value.func) and _VARIABLE.match(name)
    if declares and isinstance(value, ast.Call) and value.args and _skipped(name, value.args[0]):
        yield _Found("skip", node, PeerSwitch(variable=name, tests_with=_opposite(value.args[0])))
    if isinstance(node, ast.AnnAssign) and _VARIABLE.match(name) and _tested(name, value):
        yield _Found("declared", node, PeerSwitch(variable=name))
    yield from _fabric(value, tests)
    for chosen, around in _choices(value, tests):
        option = _option(name, chosen)
        test = _decides(around)
        if option is not None and test is not None:
            yield _Found("option", test, PeerSwitch(path=option.path, what=option.what))


def _choices(value: ast.expr, tests: tuple[ast.expr, ...]) -> Iterator[tuple[ast.expr, tuple[ast.expr, ...]]]:
    while isinstance(value, ast.IfExp):
        tests = (*tests, value.test)
        yield value.body, tests
        value = value.orelse
    yield value, tests


def _option(name: str, value: ast.expr | None) -> PathOption | None:
    if not isinstance(value, ast.Constant):
        return None
    text = str(value.value)
    return next((o for o in options() if o.name.search(name) and o.value.fullmatch(text)), None)


def _decides(tests: tuple[ast.expr, ...]) -> ast.expr | None:
    """The innermost test, where the tests ask for the device or for a number of ranks."""
    for test in reversed(tests):
        words = " ".join(_words(test))
        if _CAPABILITY.search(words) or _SIZE.search(words):
            return test
    return None


def _fabric(value: ast.expr, tests: tuple[ast.expr, ...]) -> Iterator[_Found]:
    for chosen, around in _choices(value, tests):
        if isinstance(chosen, (ast.Attribute, ast.Name)) and last_name(chosen) == "CU_MEM_HANDLE_TYPE_FABRIC":
            by_processor = bool(around) and any(map(_PROCESSOR.search, _words(around[-1])))
            decides = "processor" if by_processor else ""
            yield _Found("fabric", around[-1] if around else chosen, PeerSwitch(decides=decides))


def _demanded(test: ast.expr, tests: tuple[ast.expr, ...], function: _PeerFunction) -> Iterator[_Found]:
    """A refusal where the device has no multicast, in a function with a parameter that says whether it is wanted."""
    if isinstance(function.node, ast.Module) or not any(map(_OFFERED.search, _words(test))):
        return
    if any(_WANTED.search(word) for one in (test, *tests) for word in _words(one)):
        return
    for argument in (*function.node.args.args, *function.node.args.kwonlyargs):
        if _WANTED.match(argument.arg):
            yield _Found("demanded", test, PeerSwitch(variable=argument.arg))


def _asks_name(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return False
    text = test.left.value if isinstance(test.left, ast.Constant) else None
    return isinstance(text, str) and _PCIE.match(text) is not None


def _may_call(caller: _PeerFunction, callee: _PeerFunction, functions: list[_PeerFunction]) -> bool:
    """By name; the method of another class only where no other has its name, or the caller names the class."""
    if callee.name not in caller.words:
        return False
    if not callee.owner or callee.owner == caller.owner or callee.owner.rpartition(".")[2] in caller.words:
        return True
    return sum(other.name == callee.name for other in functions) == 1


def _with_callers(function: _PeerFunction, functions: list[_PeerFunction]) -> list[_PeerFunction]:
    """A function and those from which it is reached in the file."""
    near = {function.qualname: function}
    queue = [function]
    while queue and len(near) < _NEAR:
        called = queue.pop()
        for other in functions:
            is_new = other.qualname not in near and other.qualname != "<module>"
            if is_new and _may_call(other, called, functions):
                near[other.qualname] = other
                queue.append(other)
    return list(near.values())


def _within_reach(function: _PeerFunction, functions: list[_PeerFunction]) -> list[_PeerFunction]:
    """A function, its callers, what these call in the file, and the other methods of its class."""
    near = {other.qualname: other for other in _with_callers(function, functions)}
    callers = list(near.values())
    for other in functions:
        in_class = function.owner and other.owner == function.owner
        if in_class or any(_may_call(caller, other, functions) for caller in callers):
            near.setdefault(other.qualname, other)
    return list(near.values())


def _words(node: ast.AST) -> Iterator[str]:
    """Identifiers and short strings below a node; functions of a module and methods are not entered."""
    for item, _ in _statements(ast.Expression(node) if isinstance(node, ast.expr) else node, ()):
        if isinstance(item, ast.Name):
            yield item.id
        elif isinstance(item, ast.Attribute):
            if not item.attr.endswith("TYPE_FABRIC"):
                yield item.attr
        elif isinstance(item, (ast.keyword, ast.arg)) and item.arg:
            yield item.arg
        elif isinstance(item, ast.Constant) and isinstance(item.value, str) and " " not in item.value:
            yield item.value
