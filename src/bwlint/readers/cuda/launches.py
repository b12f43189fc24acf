"""What launches ask for: shared memory, clusters, threads, and whether anybody looks at the error code."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from bwlint.chips import EVERY
from bwlint.chips.spelling import IN_NAMES, SINCE_HOPPER
from bwlint.chips.switches import EarlyLaunch, early_launches
from bwlint.model.details import OptIn, SizesInReach
from bwlint.model.expr import Expr, unknown
from bwlint.model.facts import Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers.cuda.clusters import clusters
from bwlint.readers.cuda.constants import Constants
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.given import global_name
from bwlint.readers.cuda.layout import dimensions
from bwlint.readers.cuda.lexer import arguments, matching, places, stripped, template_end
from bwlint.readers.cuda.scopes import CodeScope, CutText
from bwlint.readers.spans import any_within

_WORDS = (
    *("FuncSetAttribute", "SHARED_MEM", "SMEM", "<<<", "dynamicSmemBytes", "sharedMemBytes", "__shared__"),
    *("__launch_bounds__", "luster", "smem", "Smem", "shmem", "hared_mem", "haredMem"),
)
# Patterns begin with plain characters where they can: that lets the engine skip to the next candidate.
_ATTRIBUTE = re.compile(r"(?:cudaFuncSetAttribute|cuFuncSetAttribute)\s*\(")
_DYNAMIC = re.compile(r"MaxDynamicSharedMemorySize|MAX_DYNAMIC_SHARED_SIZE_BYTES")
_DEFINE = re.compile(r"#[ \t]*define[ \t]+([A-Z]\w{0,80})\(")
_OPTING = re.compile(r"S(?:MEM|HARED)(?<=[A-Z_])[A-Z_0-9]{0,60}\(")
_NAMES_MACRO = re.compile(r"[A-Z][A-Z0-9_]{0,80}\Z")
_SIZE = re.compile(r"(?i)sh?mem|shared|bytes")
_OPTS_IN = re.compile(r"FuncSetAttribute|FuncAttribute|FUNC_ATTRIBUTE|(?i:opt_?in)|(?i:set\w*(?:smem|shared))")
_CONFIGURED = re.compile(r"\.\s*(?:dynamicSmemBytes|sharedMemBytes)\s*=(?!=)\s*([^;]+);")
_TRIPLE = re.compile(r"<<<")
_KERNEL = re.compile(r"([A-Za-z_][\w:]*)\s*(?:<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>\s*)?$")
_BRACKET = re.compile(r"[()\[\]{},]|(?<=\w)<(?![<=\s])")
_LONGEST_KERNEL = 300
_EXTENDED = re.compile(
    r"cu(?:daLaunchKernel(?:ExC?)?|daLaunchCooperativeKernel|LaunchKernel(?:Ex)?)\s*(?:<[^<>;]*>\s*)?\("
)
_SHARED = re.compile(
    r"__shared__\s+(?P<align>(?:alignas|__align__)\s*\([^()]*\)\s*)?"
    r"(?P<type>(?:[A-Za-z_]\w*(?:\s*::\s*|\s+|(?=\s*[*&]))){1,12}?[*\s]*)(?P<name>[A-Za-z_]\w*)\s*(?P<dims>(?:\[[^\[\]]*\]\s*)*);"
)
_BOUNDS = re.compile(r"__launch_bounds__\s*\(")
_NAMED_LIMIT = re.compile(r"MaxSharedMemoryPer|sharedMemPer|MAX_SHARED_MEMORY_PER")
_LIMIT = re.compile(
    rf"{_NAMED_LIMIT.pattern}|(?:max|limit|capacity|optin)\w{{0,40}}(?:sh?mem|shared_?mem)"
    r"|(?:sh?mem|shared_?mem)\w{0,40}(?:max|limit|capacity|optin)",
    re.IGNORECASE,
)
_OPENS = re.compile(r"\s*\(")
_IS_LIMIT = re.compile(r"\w*(?i:max)_?\w*(?i:sh?mem|shared)\w*$")
LOOKED = re.compile(
    r"GetLastError|PeekAtLastError|(?i:launch_?check|check_?cuda|cuda_?check|check_?error|check_?last|check_?kernel|"
    r"check_?launch|kernel_?check|sync_?check)"
)
_CALLED = re.compile(r"\b(\w+)\s*(?:<[^;{}()]{0,400}>\s*)?\(")
_HOPS = 3
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\s*=\s*$")
_OF_MEMORY = re.compile(r"(?i)sh?mem|shared|cta|occup")
_AMOUNT = r"(?:1[6-9]\d|2[0-2]\d)\s*\*\s*1024\b|(?:166912|232448|233472)\b"
_CAST = r"(?:\(\s*\w+\s*\)|static_cast\s*<\s*\w+\s*>)?"
_JUDGES = re.compile(rf"[<>/]\s*=?\s*{_CAST}\s*\(?\s*(?:{_AMOUNT})|(?:{_AMOUNT})\s*\)?\s*[<>/]")
_NUMBER = re.compile(_AMOUNT)
_SIZES = re.compile(r"\n(?:1024|166912|232448|233472)\n")
_OF_MULTIPROCESSORS = frozenset(chip.smem_per_sm for chip in EVERY)
_SHARED_OUT = re.compile(r"\s*\)?\s*/")
_SEVERAL = re.compile(
    r"(?i)(?:sh?mem|shared|bytes)\w*\s*\)?\s*\*\s*[2-8]\s*\)?\s*[<>]=?\s*\(?\s*\Z"
    r"|[(=&|\s][2-8]\s*\*\s*\(?\s*\w*(?:sh?mem|shared|bytes)\w*\s*\)?\s*[<>]=?\s*\(?\s*\Z"
)
"""Two blocks at once and more: `2 * smem_bytes >`."""
_LAUNCH_ATTRIBUTE = re.compile(r"cudaLaunchAttribute|CU_LAUNCH_ATTRIBUTE_")
_LEAVES = re.compile(r"\b(?:return|throw|goto|abort|exit)\b")
_SPACE = " \t\r\n\\"
_LONGEST_BODY = 4000
_CAPACITY = re.compile(
    r"(?i)(?:sh?mem|shared)\w*(?:capa|limit|max|budget|per_?block|optin)|(?:capa|limit|max|optin)\w*(?:sh?mem|shared)"
)
_GENERATION = re.compile(
    rf"(?P<word>wgmma|tcgen05)|(?P<memory>tmem(?<![a-z]tmem)(?=[A-Z_])|TMEM|Tensor_?Memory|tensor_?memory)|(?<![A-Za-z0-9]){IN_NAMES}(?P<number>{SINCE_HOPPER})(?!\d)"
    r"(?!_?(?:TMA|tma|BULK|DESC|desc|U32|STSM|EXPECT))"
)
_MULTIPROCESSOR = re.compile(r"(?i)per_?sm\b|per_?sm_|persm|multiproc|carve")


def operations(file: CutText) -> tuple[tuple[Operation, ...], dict[str, Expr]]:
    """The operations of a file, and the named values in their amounts. Never raises."""
    if not any(word in file.code.text for word in _WORDS):
        return (), {}
    reader = _LaunchReader(file)
    return tuple(reader.read()), reader.constants.names


class _LaunchReader:
    def __init__(self, file: CutText) -> None:
        self.file = file
        self.code, self.directives, self.scopes = file.code, file.found, file.places
        self.constants = Constants(file.code, file.text, file.found, file.places)

    def read(self) -> Iterator[Operation]:
        found = [
            *self._attributes(),
            *self._macros(),
            *self._opted_in(),
            *self._launches(),
            *self._static(),
            *self._bounds(),
            *self._capacities(),
        ]
        found += clusters(self.file, self.constants)
        yield from found
        if found:
            yield from self._generations()

    def _generations(self) -> Iterator[Operation]:
        """Each instruction or target that the file names: the chips that it is meant for."""
        seen: dict[str, tuple[int, int]] = {}
        for word in self.code.words_with(_GENERATION):
            at = next((at for at in places(self.code.source, (word,)) if not self._in_comment(at)), -1)
            for match in _GENERATION.finditer(word) if at >= 0 else ():
                name = match["word"] or (match["memory"] and "tcgen05") or f"sm_{match['number']}"
                span = at + match.start(), at + match.end()
                seen[name] = min(seen.get(name, span), span)
        for name, (start, end) in sorted(seen.items(), key=lambda one: one[1]):
            yield Operation("mention", name, self.code.span(start, end), path=self.directives.path(start))

    def _in_comment(self, offset: int) -> bool:
        comments = self.code.comments
        index = bisect.bisect_right(comments, (offset, len(self.code.source))) - 1
        return index >= 0 and offset < comments[index][1]

    def _matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Hits outside of directives."""
        for match in pattern.finditer(self.code.text):
            if not self.directives.holds(match.start()):
                yield match

    def _attributes(self) -> Iterator[Operation]:
        text = self.code.text
        for match in self._matches(_ATTRIBUTE):
            parts = arguments(text, match.end() - 1)
            place = next((i for i, (a, b) in enumerate(parts or ()) if _DYNAMIC.search(text, a, b)), 0)
            if not parts or not 0 < place < len(parts) - 1:
                continue
            start, end = _stripped(text, parts[place + 1][0], parts[-1][1])
            function = self.scopes.function(match.start())
            kernel = text[slice(*_stripped(text, parts[0][0], parts[place - 1][1]))]
            call_end = parts[-1][1] + 1
            looked = self._looked_at(match.start(), call_end, function)
            for one in self._asking("dynamic-shared", kernel[:80], start, end):
                yield one
                named = one.amounts[0].op == "unknown" and _IS_LIMIT.match(text, start, end) is not None
                if not (looked or named or one.checked):
                    at = self.code.span(match.start(), call_end)
                    yield replace(one, kind="launch", name="attribute", at=at)

    def _macros(self) -> Iterator[Operation]:
        """Macros that opt in to as much as a variable holds where they are used."""
        text = self.code.text
        for match in _ATTRIBUTE.finditer(text):
            parts = arguments(text, match.end() - 1) if self.directives.holds(match.start()) else []
            if not parts or len(parts) != 3 or not _DYNAMIC.search(text, *parts[1]):
                continue
            defined = list(_DEFINE.finditer(text, max(0, match.start() - _LONGEST_BODY), match.start()))
            start, end = _stripped(text, *parts[2])
            if defined and text[start:end].isidentifier():
                held = OptIn(text[start:end])
                yield self.file.operation("opts-in", defined[-1][1], start, end, checked=False, detail=held)

    def _opted_in(self) -> Iterator[Operation]:
        """Uses of macros that are called after shared memory, with the sizes of the functions around."""
        text = self.code.text
        for match in _OPTING.finditer(text):
            named = _NAMES_MACRO.search(text, max(0, match.start() - 80), match.end() - 1)
            function = self.scopes.function(match.start())
            if named is None or function is None:
                continue
            known = (one for one in self.constants.constants(_SIZE) if function.open < one.start < match.start())
            held = tuple((one.name, self.constants.value(one.value, one.end)) for one in known)
            if held:
                asks, sizes, end = self._asks_limit(function), SizesInReach(held), match.end() - 1
                yield self.file.operation("opted-in", named[0], named.start(), end, checked=asks, detail=sizes, path=())

    def _launches(self) -> Iterator[Operation]:
        text = self.code.text
        for match in self._matches(_TRIPLE):
            end = text.find(">>>", match.end(), match.end() + 2_000)
            low = max(0, match.start() - _LONGEST_KERNEL)
            kernel = _KERNEL.search(text[low : match.start()]) if end >= 0 else None
            if kernel is None:
                continue
            start = low + kernel.start()
            function = self.scopes.function(start)
            given = _split(text, match.end(), end)
            if len(given) > 2:
                place = _stripped(text, *given[2])
                for one in self._asking("dynamic-shared", kernel[1], *place):
                    yield one
                    if kernel[1] in self._never_opted_in:
                        yield replace(one, kind="default-shared", checked=False)
            if not self._looked_at(start, end, function, call=False):
                yield self.file.operation("launch", "launch", start, end + 3, checked=False)
        for match in self._matches(_EXTENDED):
            function = self.scopes.function(match.start())
            parts = arguments(text, match.end() - 1)
            if parts and function is not None and not self._looked_at(match.start(), parts[-1][1] + 1, function):
                yield self.file.operation("launch", "launch", match.start(), match.end() - 1, checked=False)
        for match in self._matches(_CONFIGURED):
            start, stop = _stripped(text, *match.span(1))
            yield from self._asking("dynamic-shared", "", start, stop)

    def _asking(self, kind: OperationKind, name: str, start: int, end: int) -> Iterator[Operation]:
        """What asks for an amount, once for each instance of the template around."""
        for amount, uses in self.constants.instances(start, end):
            checked = any(self._asks_limit(self.scopes.function(at)) for at in (start, *uses))
            found = self.file.operation(kind, name, start, end, amounts=(amount,), checked=checked)
            path = tuple(test for use in uses for test in self.directives.path(use))
            spans = tuple(self.code.span(use, use) for use in uses)
            yield replace(found, path=(*found.path, *path), uses=spans)

    @cached_property
    def _never_opted_in(self) -> frozenset[str]:
        """The kernels of a file that says nothing of an opt-in to more shared memory."""
        text = self.code.text
        if _OPTS_IN.search(text):
            return frozenset()
        kernels = (scope for scope in self.scopes.functions if "__global__" in text[scope.header : scope.open])
        return frozenset(scope.name for scope in kernels)

    @cached_property
    def _limits_asked(self) -> list[int]:
        text, words = self.code.text, self.code.words_with(_LIMIT)
        asked = ((at, at + len(word)) for word in words for at in places(text, (word,)))
        return sorted(at for at, end in asked if _NAMED_LIMIT.search(text, at, end) or _OPENS.match(text, end))

    @cached_property
    def _looks(self) -> list[int]:
        """Where somebody looks at an error code."""
        return places(self.code.text, self.code.words_with(LOOKED))

    def _asks_limit(self, function: CodeScope | None) -> bool:
        return function is not None and any_within(self._limits_asked, function.open, function.close)

    def _looked_at(self, start: int, end: int, function: CodeScope | None, call: bool = True) -> bool:
        """Whether the error code of a call is used, or the last error asked for below it."""
        if function is None or self._asked_below(end, function):
            return True
        text = self.code.text
        before = text[max(function.open, start - 200) : start].rstrip()
        before = re.sub(r"(?:::|\bstd::|\bcuda::)$", "", before).rstrip()
        if not call:
            return False
        if before.endswith(("(", ",", "==", "!=", "?", ":", "&&", "||", "return", "<<")) and not before.endswith("::"):
            return not re.search(r"\b(?:case\s+\w+|default)\s*:$", before)
        assigned = _ASSIGNED.search(before)
        return (
            assigned is not None
            and re.compile(rf"\b{re.escape(assigned[1])}\b").search(text, end, function.close) is not None
        )

    def _asked_below(self, end: int, function: CodeScope, hops: int = _HOPS) -> bool:
        """Whether the last error is asked for below a call, or below all calls of the function around it."""
        if any_within(self._looks, end, function.close):
            return True
        found = self._calls.get(function.name, ()) if hops and self._looks else ()
        users = [(at, self.scopes.function(at)) for at in found]
        inside = [(at, user) for at, user in users if user is not None and user is not function]
        return bool(inside) and all(self._asked_below(at, user, hops - 1) for at, user in inside)

    @cached_property
    def _calls(self) -> dict[str, list[int]]:
        """Where what looks like a call begins its arguments, by name."""
        found = defaultdict[str, list[int]](list)
        for match in _CALLED.finditer(self.code.text):
            found[match[1]].append(match.end())
        return found

    def _static(self) -> Iterator[Operation]:
        groups: dict[tuple[int, Path], list[tuple[int, int, Expr]]] = defaultdict(list)
        for match in self._matches(_SHARED):
            code_before = self.code.text[max(0, match.start() - 40) : match.start()].rstrip()
            function = self.scopes.function(match.start())
            if function is None or code_before.endswith("extern"):
                continue
            size = self.constants.size(match["type"].strip(), match.start())
            dims = [(match.start("dims") + a, match.start("dims") + b) for a, b in dimensions(match["dims"])]
            total = self.constants.counted(size, dims) if size is not None else unknown(match["type"].strip()[:80])
            key = (function.open, self.directives.path(match.start()))
            groups[key].append((match.start("name"), match.end("dims"), total))
        for found in groups.values():
            start, end, _ = found[0]
            amounts = tuple(total for _, _, total in found)
            yield self.file.operation("static-shared", "", start, end, amounts=amounts, checked=False)

    def _bounds(self) -> Iterator[Operation]:
        text = self.code.text
        for match in self._matches(_BOUNDS):
            parts = arguments(text, match.end() - 1)
            if parts is None or len(parts) < 2:
                continue
            amounts = tuple(self.constants.value(*_stripped(text, *part)) for part in parts[:2])
            start, end = match.start(), parts[-1][1] + 1
            yield self.file.operation("launch-bounds", "", start, end, amounts=amounts, checked=False)

    def _capacities(self) -> Iterator[Operation]:
        """Constants named like what a block may have, and sizes of a multiprocessor in other arithmetic."""
        for definition in self.constants.constants(_CAPACITY):
            if not _MULTIPROCESSOR.search(definition.name):
                amount = self.constants.value(definition.value, definition.end)
                function = self.scopes.function(definition.start)
                asked = self._asks_limit(function) if function is not None else bool(self._limits_asked)
                start, end = definition.start, definition.end
                found = self.file.operation("capacity", definition.name, start, end, amounts=(amount,), checked=asked)
                yield replace(found, qualname=self.constants.class_at(definition.start) or found.qualname)
        for match in self._matches(_NUMBER) if _SIZES.search(self.code.words) else ():
            function = self.scopes.function(match.start())
            line = self.code.text[self.code.line_start(match.start()) : match.end() + 60].split("\n")
            if function is None or self._asks_limit(function) or "static_assert" in line[0]:
                continue
            if _OF_MEMORY.search(line[0]) and _JUDGES.search(line[0]) and not self._counts_blocks(match, function):
                amount = self.constants.value(*match.span())
                yield self.file.operation("capacity", "", *match.span(), amounts=(amount,), checked=False)

    def _counts_blocks(self, size: re.Match[str], function: CodeScope) -> bool:
        """Whether the size of a multiprocessor is shared out among blocks, or picks a larger mode of a launch."""
        amount = lower(self.code, *size.span(), global_name)
        if not _is_multiprocessor(amount):
            return False
        text = self.code.text
        begin = max(text.rfind(mark, function.open, size.start()) for mark in ";{}") + 1
        ends = (text.find(mark, size.end(), function.close) for mark in ";{")
        end = min((place for place in ends if place >= 0), default=function.close)
        if _SHARED_OUT.match(text, size.end(), end) or _SEVERAL.search(text, begin, size.start()):
            return True
        return text.startswith("{", end) and self._adds_attribute(end)

    def _adds_attribute(self, brace: int) -> bool:
        """Whether what stands in braces fills in an attribute of a launch, and leaves by no way of its own."""
        body = self.code.text[brace : matching(self.code.text, brace, _LONGEST_BODY) + 1]
        return _LAUNCH_ATTRIBUTE.search(body) is not None and _LEAVES.search(body) is None


def _is_multiprocessor(amount: Expr) -> bool:
    if amount.op == "bin" and amount.args[0] == "*" and all(part.op == "const" for part in amount.args[1:]):
        return bool(amount.args[1].args[0] * amount.args[2].args[0] in _OF_MULTIPROCESSORS)
    return amount.op == "const" and amount.args[0] in _OF_MULTIPROCESSORS


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The parts between commas outside of brackets and of the arguments of templates."""
    parts: list[tuple[int, int]] = []
    depth, begin, at = 0, start, start
    while (mark := _BRACKET.search(text, at, end)) is not None:
        at = mark.end()
        if mark[0] == "<":
            at = max(at, template_end(text, mark.start()))
            continue
        depth += {"(": 1, "[": 1, "{": 1, ",": 0}.get(mark[0], -1)
        if mark[0] == "," and depth == 0:
            parts.append((begin, mark.start()))
            begin = at
    parts.append((begin, end))
    return parts


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the space around it, which in a macro goes on behind a line's last backslash."""
    return stripped(text, start, end, _SPACE)


_EARLY = re.compile(
    r"(?:cudaLaunchAttribute|CU_LAUNCH_ATTRIBUTE_)(?:ProgrammaticStreamSerialization|PROGRAMMATIC_STREAM_SERIALIZATION)\b"
)
_ALLOWED = re.compile(r"programmaticStreamSerializationAllowed\s*=(?!=)\s*(?P<value>[^;,}]{1,200})")
_LAUNCH = re.compile(r"cu(?:da)?LaunchKernelExC?\s*(?:<[^<>;]*>\s*)?\(")
_EARLY_KERNEL = re.compile(r"\s*&?\s*(?:\w+\s*::\s*)*(?P<name>[A-Za-z_]\w*)\s*(?:<.*)?\Z", re.DOTALL)
_IN_NAMES = re.compile(r"(?i)pdl|dependent")
_YES = frozenset({"1", "true"})
_NO = frozenset({"0", "false"})


def dependent(file: CutText) -> Iterator[Operation]:
    """Launches that let a kernel begin before the one in front of it has ended (programmatic dependent launch).

    `name` is the kernel, "" where the call does not say which, or the library (chips/macros.toml) whose class launches
    it. `given` says that a variable switches it on; none that is switched off comes out.
    """
    if "rogrammatic" in file.code.text or "PROGRAMMATIC" in file.code.text:
        yield from _launched(file)
    for member in early_launches():
        if member.library in file.code.text:
            yield from _by_member(member, file)


def _launched(file: CutText) -> Iterator[Operation]:
    text = file.code.text
    for match in _EARLY.finditer(text):
        scope = file.places.function(match.start())
        if scope is None or file.found.holds(match.start()):
            continue
        allowed = [one["value"].strip() for one in _ALLOWED.finditer(text, scope.open, scope.close)]
        if not allowed or _NO.issuperset(allowed):
            continue
        names = dict.fromkeys(
            _kernel(text, call.end() - 1) for call in _LAUNCH.finditer(text, match.end(), scope.close)
        )
        for name in names or ("",):
            yield file.operation("dependent-launch", name, *match.span(), given=not _YES.issuperset(allowed))


def _kernel(text: str, opening: int) -> str:
    parts = arguments(text, opening) or []
    found = _EARLY_KERNEL.match(text[slice(*parts[1])]) if len(parts) > 1 else None
    return found["name"] if found else ""


def _by_member(member: EarlyLaunch, file: CutText) -> Iterator[Operation]:
    text = file.code.text
    for match in re.finditer(rf"(?:\.|->)\s*{member.member}\s*\(", text):
        parts = [text[start:end].strip() for start, end in arguments(text, match.end() - 1) or ()]
        if len(parts) not in member.arguments or parts[-1] in _NO or file.places.function(match.start()) is None:
            continue
        if (parts[-1] in _YES and parts[-2] == "nullptr") or _IN_NAMES.search(parts[-1]):
            start, end, given = match.start(), match.end() - 1, parts[-1] not in _YES
            yield file.operation("dependent-launch", member.library, start, end, given=given)
