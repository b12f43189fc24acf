"""What stands between a gate and the code it guards: other gates, lists, builds and instructions.

A gate is opened in vain, or to an error, where the next one still tells the twins apart. So a fix asks here for every
definition that the working side may reach, and for everybody who asks a flag, a predicate or a list.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.context import Context
from bwlint.judging.evidence import handed_out
from bwlint.judging.siblings import admits
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module, Use
from bwlint.model.kinds import ANSWERS, LISTED, REFUSING
from bwlint.readers.python.occurrences import NameScope, index
from bwlint.sources.search import Hit
from bwlint.sources.texts import Texts
from bwlint.sources.tree import module_name, package_root
from bwlint.world.builds import runs_on
from bwlint.world.gates import TEST_FILE, Judged

MAX_ASKERS = 60
"""How many gates that ask one value are looked at."""
SHORTEST_REFUSAL = 16
_IS_RUN = re.compile(r"\bsys\.argv\b|\bargparse\b|\b__main__\b")
"""What tells a script, which writes code for a build, from a module that is imported."""
MAX_WORDS = 48
"""How many letters of a refusal are looked for elsewhere; fewer than the first say nothing of their own."""
MAX_CALLERS = 40
"""How many functions that lead to one gate are looked at."""


def kept_out(
    context: Context, judged: Judged, held: ChipSet, missing: ChipSet, opened: Collection[str] = ()
) -> str | None:
    """Why what is behind a gate is for some of `held` and not all of `missing`, but for `opened` functions; or None."""
    users = [judged, *askers(context, judged)] if is_asked(judged) else [judged, *callers_of(context, judged)]
    for entry in _decorated(judged):
        if (pinned := _pinned(context, judged.module, entry, held, missing)) is not None:
            return pinned
    for user in users:
        for use in handed_out(user.working):
            name = use.name.rpartition(".")[2]
            if name in opened:
                continue  # what a list is in knows it from the list
            for proof in context.evidence.shown(user.module, use):
                if held & proof.legal and missing - proof.legal:
                    return f"`{name}`, which is behind the test, is for {plain(proof.legal)}"
            if (pinned := _pinned(context, user.module, use, held, missing)) is not None:
                return pinned
            for gate in context.evidence.gates(user.module, use) if use.how == "call" else ():
                own = gate.gate.qualname.rpartition(".")[2] == name  # right behind it sizes count, too
                if gate.at != judged.at and tells_apart(gate, held, missing, tuned=own):
                    path = PurePath(gate.module.path).name
                    return f"`{name}` leads to a test that tells them apart ({path}:{gate.at[0]})"
    return None


def callers_of(context: Context, judged: Judged) -> list[Judged]:
    """The gates of the same file that are a call of the helper in which a gate refuses."""
    return [one for one in context.beside(judged.module) if one is not judged and _calls(one, judged)]


def _calls(other: Judged, judged: Judged) -> bool:
    helper = judged.gate.qualname.rpartition(".")[2]
    return other.gate.kind == "helper-call" and other.gate.name.rpartition(".")[2] == helper


def further(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[Judged]:
    """The gates behind one that refuses, or behind the calls of its helper, that part in their turn who comes through
    it, those in what it lets through, and those by which the file of a test takes what it calls.
    """
    entries = [judged, *callers_of(context, judged)] if judged.other.ends in REFUSING else []
    users = [judged, *askers(context, judged)] if is_asked(judged) else [judged]
    for other in context.beside(judged.module):
        inside = any(user.module is other.module and user.working.holds(other.at) for user in users)
        if other in (judged, *entries) or other.gate.is_a("helper-call", *LISTED) or not (entries or inside):
            continue
        above = any(one.gate.qualname == other.gate.qualname and one.gate.at < other.gate.at for one in entries)
        behind = above and not missing & other.sets.live
        taken = judged.in_test and other.gate.qualname == "<module>" and other.gate.is_a("condition")
        if (behind or taken or inside) and other.core & (held | missing) in (held, missing):
            yield other


def _decorated(judged: Judged) -> Iterator[Use]:
    """The functions of the file whose decorators are handed the one that has a list."""
    if judged.gate.kind != "list" or judged.module.language != "python":
        return
    known = index(Texts().source(judged.module.path) or "", judged.module.name)
    for scope in known.scopes.values() if known is not None else ():
        if judged.gate.name in scope.handed:
            yield Use(scope.qualname, "call", judged.at)


def _pinned(context: Context, module: Module, use: Use, held: ChipSet, missing: ChipSet) -> str | None:
    """A definition behind a use that compiles for some of `held` and nothing for `missing`, as a sentence."""
    for path, definition in context.evidence.leads_to(module, use) if use.is_a("call", "import") else ():
        file = context.tree.headers.at(path)
        flags = [one for one in file.carries if definition.at.holds(one.at)] if file is not None else []
        loads = runs_on(flags)
        if held & loads and not missing & loads:
            name = next((one.name for one in flags if one.name), " ".join(flags[0].sass))
            return f"`{definition.qualname}`, which is behind the test, compiles with `{name}`"
    return None


def kept_away(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> str | None:
    """A gate of those who lead to the function of a gate that tells the twins apart, as a sentence; None: nothing."""
    waiting, known = [(judged.module, judged.gate.qualname)], {(judged.module.path, judged.gate.qualname)}
    while waiting and len(known) < MAX_CALLERS:
        module, name = waiting.pop(0)
        for caller, function in _callers(context, module, name):
            if (caller.path, function) in known:
                continue
            known.add((caller.path, function))
            waiting.append((caller, function))
            inside = [gate for gate in caller.gates if gate.qualname == function and not gate.yes.tuning]
            for one in context.gates(caller, inside):
                if tells_apart(one, held, missing) and not _calls(one, judged):
                    place = f"{PurePath(caller.path).name}:{one.gate.at[0]}"
                    return f"`{function}`, which leads here, tells them apart ({place})"
    return None


def _callers(context: Context, module: Module, qualname: str) -> Iterator[tuple[Module, str]]:
    """The functions of the project that name a function; those of tests are left out."""
    name = qualname.rpartition(".")[2]
    for hit in hits(context, module, name):
        caller = None if TEST_FILE.search(hit.file.real) else read_hit(context, hit)
        around = [one for one in caller.functions.values() if one.at[0] < hit.line <= one.at[2]] if caller else []
        if caller is not None and around:
            yield caller, max(around, key=lambda one: one.at[:2]).qualname


def same_refusals(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[tuple[Judged, str]]:
    """Gates of other files that refuse in the words of this one and tell the twins apart, with their package roots."""
    told = max((_words(prose.text) for prose in judged.other.texts), key=len, default="")
    for kind in ("python", "cuda") if len(told) >= SHORTEST_REFUSAL else ():
        for hit in context.search(judged.module).word(kind, told):
            if hit.file.real == judged.module.path:
                continue
            found = read_hit(context, hit) if kind == "python" else context.tree.headers.at(hit.file.real)
            for other in context.gates(found) if found is not None else ():
                says = any(prose.at[0] <= hit.line <= prose.at[2] for prose in other.other.texts)
                if says and tells_apart(other, held, missing):
                    yield other, hit.file.root


def equal_refusals(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[tuple[Judged, str]]:
    """The gates of the same C++ file that refuse by the same test, with their package root: forward and backward."""
    root = package_root(judged.module.path)
    alike = judged.module.language == "cuda" and judged.other.ends == "raise"
    for other in context.beside(judged.module) if alike else ():
        if other.gate != judged.gate and _refusal(other) == _refusal(judged) and tells_apart(other, held, missing):
            yield other, root


def _refusal(judged: Judged) -> tuple[str, str | None, list[str]]:
    return judged.gate.text, judged.other.ends, [prose.text for prose in judged.other.texts]


def scripts_beside(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[tuple[Judged, str]]:
    """The gates that tell the twins apart in the Python scripts beside a C++ file, with their package roots."""
    path = PurePath(judged.module.path)
    for file in context.search(judged.module).files("python") if judged.module.language == "cuda" else ():
        beside = PurePath(file.real).parent == path.parent and not TEST_FILE.search(file.real)
        is_run = beside and _IS_RUN.search(Texts().source(file.real) or "")
        found = context.tree.headers.at(file.real) if is_run else None
        for other in context.gates(found) if found is not None else ():
            if tells_apart(other, held, missing):
                yield other, file.root


def goes_on_to(context: Context, judged: Judged, file: Module | None, asking: Hit) -> ChipSet:
    """The chips for which the function around a hit calls, further down, the one that a gate is in."""
    name = judged.gate.qualname.rpartition(".")[2]
    known = index(Texts().source(asking.file.real) or "", module_name(asking.file.real, asking.file.root))
    around = [one.at for one in known.scopes.values() if one.at[0] < asking.line <= one.at[2]] if known else []
    reached = NONE
    for hit in hits(context, judged.module, name) if around else ():
        column = hit.text.find(name) + 1
        at = Span(hit.line, column, hit.line, column + len(name))
        if hit.file == asking.file and asking.line <= hit.line and any(one.holds(at) for one in around):
            reached |= EVERY if file is None else context.native.refusals.passing(file, at)
    return reached


def told_lists(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[tuple[Judged, str]]:
    """The lists that a refusal of the same file tells, and the refusals that tell a list."""
    root = package_root(judged.module.path)
    for other in context.beside(judged.module):
        listing, refusing = (judged, other) if judged.gate.kind == "list" else (other, judged)
        told = listing.gate.kind == "list" != refusing.gate.kind and _tells(context, refusing, listing.gate.name)
        if told and tells_apart(other, held, missing):
            yield other, root


def _tells(context: Context, judged: Judged, name: str) -> bool:
    """Whether the refusal of a gate names a value that its test does not."""
    at = judged.other.at if judged.other.ends == "raise" and name not in judged.gate.text else None
    named = (hit.line for hit in hits(context, judged.module, name) if hit.file.real == judged.module.path)
    return at is not None and any(at[0] <= line <= at[2] for line in named)


def _words(text: str) -> str:
    """The longest stretch of a text that stands in one literal, as far as can be told."""
    return max((part.strip() for part in re.split(r"[{}\n\"\\]", text)), key=len)[:MAX_WORDS].rpartition(" ")[0]


def tells_apart(judged: Judged, held: ChipSet, missing: ChipSet, *, tuned: bool = False) -> bool:
    """Whether a gate does for some of `held` what it does not do for `missing`; of numbers it picks, if `tuned`."""
    gate, core = judged.gate, judged.core
    if gate.is_a(*ANSWERS) or (gate.yes.tuning and gate.no.tuning and not tuned):
        return False  # who asks it decides
    live = judged.sets.live
    held, missing = held & live, missing & live
    return bool((held & core and missing - core) or (held - core and missing & core))


def is_asked(judged: Judged) -> bool:
    """Whether a gate is a value that other places ask for."""
    return judged.gate.is_a(*ANSWERS) or (judged.gate.kind in LISTED and judged.gate.yes.at is None)


def askers(context: Context, judged: Judged) -> Iterator[Judged]:
    """The gates of the project that ask a flag, a predicate, a list or a helper, and those that ask for these."""
    waiting, known = [judged], {(judged.module.path, judged.gate.at)}
    while waiting and len(known) < MAX_ASKERS:
        asked = waiting.pop(0)
        for found in _asking(context, asked):
            if (key := (found.module.path, found.gate.at)) not in known:
                known.add(key)
                waiting += [found] if is_asked(found) else []
                yield found


def _asking(context: Context, judged: Judged) -> Iterator[Judged]:
    name = judged.gate.name or judged.gate.qualname.rpartition(".")[2]
    if not name.isidentifier():
        return
    for module, gates in naming(context, judged.module, name):
        yield from context.gates(module, [one for one in gates if one.at != judged.gate.at])


def naming(context: Context, module: Module, name: str) -> Iterator[tuple[Module, list[Gate]]]:
    """A file and those of the project that have a word, each with the gates that are called so or have it in them."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    found = (read_hit(context, hit) for hit in hits(context, module, name))
    for one in {module.path: module, **{one.path: one for one in found if one is not None}}.values():
        yield one, [gate for gate in one.gates if gate.name == name != "" or word.search(gate.text)]


def hits(context: Context, module: Module, name: str) -> tuple[Hit, ...]:
    """Where the Python files of a project have a word."""
    if module.language != "python" or not name.isidentifier() or name.startswith("__"):
        return ()
    return context.search(module).word("python", name)


def got(context: Context, judged: Judged) -> bool:
    """Whether a line of the project asks a table by `.get`: who has no row there meets no error."""
    asked = re.compile(rf"\b{re.escape(judged.gate.name)}\.get\(")
    return any(asked.search(hit.text) for hit in hits(context, judged.module, judged.gate.name))


_CALL_LINES = 3
"""Lines over which a formatter lays a short call."""


def only_got(context: Context, judged: Judged, *, with_default: bool = False) -> bool:
    """Whether every line that reads a table asks it by `.get`, which does not raise."""
    key = r"(?:[^,()]|\([^()]{0,200}\)){1,200}" if with_default else ""
    return _each_reads(context, judged, rf"\.get\({key}{',' if with_default else ''}")


def looked_into(context: Context, judged: Judged) -> bool:
    """Whether the file asks a table for a row before it reads it, `if arch not in TILES`: a miss need not raise."""
    text = Texts().source(judged.module.path) or ""
    return re.search(rf"\bin {re.escape(judged.gate.name)}\b", text) is not None


def only_of_constants(context: Context, judged: Judged) -> bool:
    """Whether every line that reads a table names the row, `TILES["8.0"]`: nobody asks it for the device."""
    return _each_reads(context, judged, r"(?:\[|\.get\()\s*[\"'0-9]")


def _each_reads(context: Context, judged: Judged, how: str) -> bool:
    """Whether every line that reads a table does it in one way: in the function whose variable it is, or in its file
    and those that import it.
    """
    name, own = judged.gate.name, judged.module.functions.get(judged.gate.qualname)
    word = re.compile(rf"\b{name}\b")
    made = re.compile(rf"\s*{name}\s*(?::[^=]*)?=(?!=)")
    lines = (Texts().source(judged.module.path) or "").split("\n")
    here = lines[own.at[0] - 1 : own.at[2]] if own is not None else lines
    asked = [at for at, line in enumerate(here) if word.search(line) and made.match(line) is None]
    others = _elsewhere(context, judged.module, name) if own is None else []
    read = re.compile(rf"\b{name}{how}")
    uses = [*("\n".join(here[at : at + _CALL_LINES]) for at in asked), *others]
    return bool(uses) and all(map(read.search, uses))


def _elsewhere(context: Context, module: Module, name: str) -> list[str]:
    """The lines of other files that use a name of a file, where they bring it from somewhere: not one of their own."""
    brings = re.compile(rf"\s*(?:from|import)\b|\s*{name},?\s*\)?\s*$")
    files: dict[str, list[str]] = {}
    for hit in hits(context, module, name):
        files.setdefault(hit.file.real, []).append(hit.text)
    files.pop(module.path, None)
    brought = (lines for lines in files.values() if any(brings.match(line) or f".{name}" in line for line in lines))
    return [line for lines in brought for line in lines if brings.match(line) is None]


def read_hit(context: Context, hit: Hit) -> Module | None:
    """The facts of the file of a hit, where its imports mean that file by its name."""
    found = context.tree.module(module_name(hit.file.real, hit.file.root))
    return found if found is not None and found.path == hit.file.real else None


def tested(context: Context, judged: Judged, missing: ChipSet) -> bool:
    """Whether something that a test calls says that it is for `missing` too."""
    users = [judged, *(user for user in askers(context, judged) if user.module.path in context.judged)]
    return any(found is not None and missing <= found.chips for found in (admits(context, u, missing) for u in users))


def entry_lists(context: Context, module: Module, name: str) -> Iterator[tuple[Judged, str]]:
    """The lists that decorate who calls a function, directly or over others, with their package roots."""
    texts, waiting, known = Texts(), [name], {name}
    while waiting and len(known) < MAX_CALLERS:
        for hit in hits(context, module, waiting.pop(0)):
            found = None if TEST_FILE.search(hit.file.real) else read_hit(context, hit)
            scope = _around(texts, hit, found.name) if found is not None else None
            if found is None or scope is None or (caller := scope.qualname.rpartition(".")[2]) in known:
                continue
            known.add(caller)
            waiting.append(caller)
            for judged in context.gates(found):
                if judged.gate.kind == "list" and judged.gate.name in (caller, *scope.handed):
                    yield judged, hit.file.root


def _around(texts: Texts, hit: Hit, package: str) -> NameScope | None:
    """The innermost function around a line."""
    known = index(texts.source(hit.file.real) or "", package)
    scopes = known.scopes.values() if known is not None else ()
    inside = (one for one in scopes if one.kind == "function" and one.at[0] < hit.line <= one.at[2])
    return max(inside, key=lambda one: one.at[:2], default=None)
