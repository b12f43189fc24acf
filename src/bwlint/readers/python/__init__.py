"""Python files: `ast` in, `facts.Module` out. `read` never raises on bad input; it says why in words."""

from __future__ import annotations

import ast
import bisect
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

from bwlint.chips.operations import operation
from bwlint.chips.spelling import OF_TOOLS
from bwlint.evaluate.sources import asking_names
from bwlint.model.expr import Span
from bwlint.model.facts import Module, Prose, Use
from bwlint.readers import prune, release_parts, switches, variables
from bwlint.readers.buildfiles import pins
from bwlint.readers.buildfiles.inside_python import WORDS, carries_of_python
from bwlint.readers.nodes import below, children, text_of, whole
from bwlint.readers.python import (
    budgets,
    clusters,
    embedded,
    floors,
    installed,
    links,
    memory_queries,
    memory_tiers,
    mocked,
    multiprocessors,
    peers,
    pinned,
    plans,
    said,
    sonames,
    target_names,
    tiles,
    triton,
    vocabulary,
)
from bwlint.readers.python.carriers import trace
from bwlint.readers.python.flow import Flow
from bwlint.readers.python.scan import Anchored, Literally, Looked, Scan
from bwlint.readers.python.sides import statements
from bwlint.readers.python.vocabulary import device_lines, lines_with
from bwlint.readers.spans import span
from bwlint.sources.errors import ReadError

__all__ = ["ReadError", "look", "matters", "may_matter", "parse", "read"]

# Each is asked only where the scan finds a word of it; a file that only they want is read for them.
_READERS = {
    "peers": peers,
    "links": links,
    "budgets": budgets,
    "tiles": tiles,
    "triton": triton,
    "plans": plans,
    "floors": floors,
    "sonames": sonames,
    "variables": variables,
    "multiprocessors": multiprocessors,
    "memory-tiers": memory_tiers,
    "memory-queries": memory_queries,
    "pinned": pinned,
    "said": said,
}
_ALWAYS_ASKED = (target_names, clusters, mocked)
_OPERATION_WORDS = ("cgen05", "warpgroup.", "wgmma.")
_OTHERS: dict[str, Anchored] = {
    "device": vocabulary,
    "builds": Literally(tuple(word.encode() for word in WORDS)),
    "operations": Literally(tuple(word.encode() for word in _OPERATION_WORDS)),
    "pins": pins,
    "switches": switches,
    "release-parts": release_parts,
    "embedded": embedded,
    "installed": installed,
}
MOST_TOKENS = 1_000_000
"""Of a file: Python's own tree takes half a kilobyte for each."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
MAX_TARGETS = 4
_MOST_USES = 3
"""Operations of a function, or of a part of a class, that are kept."""
MAX_HELPER = 15
"""Lines of a function that may only turn one value into another."""
_EXACT_TARGET = re.compile(rf"(?:{OF_TOOLS}|\b)120a\b")
_OPERATION = re.compile(r"\b(?:tcgen05|wgmma|warpgroup)(?:\.\w+)+|\btcgen05_\w+|\bTcgen05\w+")
_CALLED = re.compile(r"\b\w+\.tcgen05_\w+\(")


def may_matter(data: bytes, own: frozenset[str] = frozenset()) -> bool:
    """The prefilter: a file may read the device, build, enter another GPU's memory, hold other code, launch servers."""
    return any(name.encode() in data for name in own) or matters(look(data))


def matters(looked: Looked) -> bool:
    """The same of a file that was looked at, whatever the configuration names."""
    return next(looked.asking(), None) is not None


def look(data: bytes) -> Looked:
    """What stands in the bytes of a file of the words of all readers, and of the names that ask for the device."""
    return scan().look(data)


@cache
def scan() -> Scan:
    """The words of all readers, and the names by which code asks for the device."""
    return Scan.of({**_OTHERS, **_READERS}, asking_names())


def read(
    path: str,
    source: str,
    name: str,
    is_package: bool,
    own: frozenset[str] = frozenset(),
    carried: frozenset[str] = frozenset(),
    handed: frozenset[tuple[str, str]] = frozenset(),
) -> Module:
    """Facts of one file. `name` is its dotted module name from the package root.

    `own` are names of architecture lists that the configuration adds, `carried` those that other files give a value
    of the device, `handed` the parameters (with their functions) to which they hand one. Raises `ReadError`.
    """
    looked = look(source.encode("utf-8", "surrogatepass"))
    asked = frozenset(looked.asking())
    readers = (*_ALWAYS_ASKED, *(reader for name, reader in _READERS.items() if name in asked))
    tree = parse(source)
    lines = source.split("\n") if "\r" not in source else re.split("\r\n|\r|\n", source)
    importable = installed.importable(tree) if "installed" in asked else installed.NOTHING
    package = name if is_package else name.rpartition(".")[0]
    flow = _flow(tree, source, lines, package, importable, own, carried, handed, looked.named())
    functions = prune.functions(flow.functions, flow.gates.reads)
    sizes = list(flow.sizes.found)
    if any(one.kind == "tile" for one in sizes) and triton.multiplies_nothing(tree, source):
        sizes = [one for one in sizes if one.kind != "tile"]
    paths = [(one.path, one.amounts) for one in (*sizes, *flow.noted)]
    instructions, modules = embedded.code_in_strings(path, tree, source, lines)
    module = Module(
        path=path,
        language="python",
        name=name,
        is_package=is_package,
        names=flow.names,
        stars=tuple(flow.stars),
        slots=prune.slots(
            flow.slots,
            flow.gates.found,
            flow.names,
            functions,
            flow.classes,
            (*paths, *flow.passed.values(), *(one.value for one in flow.handed_on)),
        ),
        functions=functions,
        classes=flow.classes,
        gates=prune.gates(flow.gates.found),
        uses=_uses(tree, source, lines),
        targets=_targets(source, tree),
        carries=carries_of_python(tree, source),
        operations=(
            *(operation for reader in readers for operation in reader.operations(tree, source)),
            *pins.of_setup(path, source),
            *switches.operations(source),
            *release_parts.operations(source, source),
            *instructions,
            *sizes,
            *flow.noted,
        ),
        embedded=modules,
        passed=flow.passed,
        handed_on=tuple(flow.handed_on),
        own=own,
        carried=carried,
    )
    flow.let_go()
    return module


def _flow(
    tree: ast.Module,
    source: str,
    lines: Sequence[str],
    package: str,
    importable: installed.Importable,
    own: frozenset[str],
    carried: frozenset[str],
    handed: frozenset[tuple[str, str]],
    asked: Sequence[str],
) -> Flow:
    hits = device_lines(source) | lines_with(own, source)
    try:
        found = trace(tree, partial(lines_with, source=source), hits, own | carried, handed, asked)
        hits |= found.lines | lines_with(found.words | set(importable.words), source)
        hits |= _helpers(tree, lines, hits)
        return Flow(tree, lines, package, frozenset(hits), found, own, importable)
    except RecursionError as error:
        raise ReadError("nested too deep to analyse") from error


def _helpers(tree: ast.Module, lines: Sequence[str], hits: set[int]) -> set[int]:
    """First lines of the short functions of a file that are named where it may read the device: `>= parsed("9.0")`."""
    short = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or node.lineno) - node.lineno <= MAX_HELPER
    ]
    if not short or not hits:
        return set()
    words = set(re.findall(r"\w+", " ".join(lines[number - 1] for number in hits if number <= len(lines))))
    return {node.lineno for node in short if node.name in words}


def parse(source: str) -> ast.Module:
    """The syntax tree of a file. Raises `ReadError`."""
    if len(source) > MOST_TOKENS and sum(1 for _ in _TOKEN.finditer(source)) > MOST_TOKENS:
        raise ReadError(f"more than {MOST_TOKENS:,} tokens")
    if "\0" in source:
        raise ReadError(f"syntax error: a NUL byte (line {_line_of(source, source.index(chr(0)))})")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        raise ReadError(f"syntax error: {error.msg}{where}") from error
    except (RecursionError, MemoryError) as error:
        raise ReadError("nested too deep for Python's own parser") from error
    except UnicodeEncodeError as error:
        before, byte = (source[part].encode("utf-8", "surrogateescape") for part in (slice(error.start), error.start))
        where = f"byte 0x{byte[0]:02x} at offset {len(before)} (line {_line_of(source, error.start)})"
        raise ReadError(f"not utf-8 and no encoding is declared: {where}") from error
    except ValueError as error:
        raise ReadError(f"not Python: {error}") from error


def _line_of(source: str, offset: int) -> int:
    return len(re.split("\r\n|\r|\n", source[:offset]))


def _uses(tree: ast.Module, source: str, lines: Sequence[str]) -> dict[str, tuple[Use, ...]]:
    """Hardware operations that each top-level function or class names, "" for the module itself."""
    if not any(word in source for word in _OPERATION_WORDS):
        return {}
    named = [
        (number, match)
        for number, line in enumerate(lines, 1)
        if any(word in line for word in _OPERATION_WORDS)
        and (match := _operation(line))
        and not line.lstrip().startswith("#")
    ]
    if not named or not any(_imports_operation(line) or _CALLED.search(line) for line in lines):
        return {}
    prose = _docstring_lines(tree) | _annotated_lines(tree)
    listed = _only_named(tree)
    places = [(number, match) for number, match in named if number not in prose and (number, match.end()) not in listed]
    if not places:
        return {}
    found: dict[str, tuple[Use, ...]] = {}
    kept = Counter[tuple[str, int]]()
    starts = [node.lineno for node in tree.body]
    for number, match in places:
        index = bisect.bisect_right(starts, number) - 1
        node = tree.body[index] if index >= 0 else None
        if node is None or number > (node.end_lineno or 0):
            continue
        name = node.name if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else ""
        part = bisect.bisect_right([one.lineno for one in node.body], number) if isinstance(node, ast.ClassDef) else 0
        kept[name, part] += 1
        if kept[name, part] <= _MOST_USES:
            use = Use(match[0], "name", Span(number, match.start(), number, match.end()))
            found[name] = (*found.get(name, ()), use)
    code = ["" if number in prose else line for number, line in enumerate(lines, 1)]
    return _inherited(tree, code, found)


def _operation(line: str) -> re.Match[str] | None:
    """The first name in a line that is an operation, and not what the host makes of one: an enumeration, a layout."""
    return next((match for match in _OPERATION.finditer(line) if operation(match[0]) is not None), None)


def _inherited(tree: ast.Module, lines: Sequence[str], found: dict[str, tuple[Use, ...]]) -> dict[str, tuple[Use, ...]]:
    """Definitions that name a definition with an operation have it too: a launcher and its kernel class."""
    for _ in range(3):
        names = [name for name in found if name]
        if not names:
            break
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
        before = len(found)
        for node in tree.body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name in found:
                continue
            match = pattern.search("\n".join(lines[node.lineno : node.end_lineno]))
            if match:
                found[node.name] = found[match[0]]
        if len(found) == before:
            break
    return found


def _docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of module, class and function docstrings, and of other strings that stand alone."""
    found: set[int] = set()
    for node in statements(tree.body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _annotated_lines(tree: ast.Module) -> set[int]:
    """Lines on which nothing but the type of a parameter, a result or a field stands, or a head with such types."""
    found: set[int] = set()
    for node in whole(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            found |= set(range(node.lineno, node.body[0].lineno))
        elif isinstance(node, ast.AnnAssign) and node.value is None:
            found |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _only_named(tree: ast.Module) -> set[tuple[int, int]]:
    """Where names end that are compared, or stand in a table: they are called by nobody there."""
    beside = (node for node in whole(tree) if isinstance(node, (ast.Compare, ast.Set, ast.Dict, ast.List, ast.Tuple)))
    parts = (part for node in beside for part in children(node))
    return {
        (one.end_lineno or 0, one.end_col_offset or 0) for one in parts if isinstance(one, (ast.Attribute, ast.Name))
    }


def _imports_operation(line: str) -> bool:
    if "import" in line:
        return "tcgen05" in line or "warpgroup" in line
    return "nvgpu.tcgen05." in line or "prims.tcgen05" in line


def _targets(source: str, tree: ast.Module) -> tuple[Prose, ...]:
    """Strings that name a target for one chip alone: sm_120a. A sentence names none, nor a list with the sibling's."""
    found: list[Prose] = []
    nodes = whole(tree) if "120a" in source else []
    together = [node for node in nodes if isinstance(node, (ast.List, ast.Tuple, ast.Set))] if "121a" in source else []
    both = {id(part) for node in together if "121a" in ast.unparse(node) for part in below(node)}
    for node in nodes:
        if id(node) in both:
            continue
        text = text_of(node)
        match = _EXACT_TARGET.search(text) if " " not in text or "=" in text else None
        if match and len(found) < MAX_TARGETS:
            found.append(Prose(match[0], span(node)))
    return tuple(found)
