"""Device code that accesses another GPU's memory, and the host code that launches it.

Operations of these kinds come out, with names of paths (see chips/peers.toml):

peer            something that device code does: remote-atomic and peer-store on memory traced to a peer, multicast
peer-parameter  the same on a pointer that is a parameter and not traced yet
peer-passed     a traced pointer given to a function of another file: `name` is that function
peer-asked      what the file asks the driver, wherever that stands: `name` is the kind of `chips.peers.queries`
peer-proof      a place that asks whether a pair has native atomics: `name` is native-atomics; or a call that hands the
                answer to a function of another file: `name` is that function
peer-switch     host code that enters such a path: `name` is launch, open, enable, multicast, fabric or rdma

Memory is traced to a peer where its pointer is called so (`peer_buffer`, `remote_flag`), comes from an IPC handle or
`nvshmem_ptr`, is another rank's entry in an array of pointers, or is filled from one of these by a caller in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from bwlint.chips.peers import libraries, on_one_device, proofs, queries, remote_pointers
from bwlint.model.details import PeerArgument, PeerSwitch
from bwlint.model.facts import Operation
from bwlint.readers.cuda.assembly import ASM
from bwlint.readers.cuda.given import initialised
from bwlint.readers.cuda.lexer import matching
from bwlint.readers.cuda.pointers import (
    LONGEST_CALL,
    address_of,
    arguments,
    base_of,
    calls_in,
    declared,
    is_pointer_name,
    names_of,
    split,
    trimmed,
)
from bwlint.readers.cuda.scopes import CodeScope, CutText

# Each alternative begins with a plain character: that lets the engine skip to the next candidate.
_FAR = "|".join(rf"{word}(?<=[^A-Z]{word})_?[a-zA-Z]" for word in ("peer", "Peer", "remote", "Remote", "symm"))
_SHARED = "|".join(
    rf"{word}s?_?ptrs\b" for word in ("signal", "barrier", "flag", "buf", "buffer", "data", "rank", "comm")
)
_NAMES = (
    r"thread_scope_system|multimem|IpcOpenMemHandle|EnablePeerAccess|cuMulticast|TYPE_FABRIC|gpuDirectRDMACapable"
    rf"|{remote_pointers()}|NativeAtomic|NATIVE_ATOMIC|P2PAtomic|{_FAR}|{_SHARED}"
)
_WORD_OF_INTEREST = re.compile(rf"{_NAMES}|_system|\n(?:sys|volatile)\n|volatile\n|\nvolatile")
_INTEREST = re.compile(rf"{_NAMES}|_system\w*\s*\(|\.sys\b|volatile\.|\.volatile")
_ROUNDS = 5
_NEAR = 48
"""How many functions are within reach of one, in each direction."""
_OVERLOADS = 8
_LONGEST_ASM = 20_000

_DEVICE = re.compile(r"\b__(?:device|global)__\b|\b\w*(?:_DEVICE|DEVICE_INLINE|_HOST_DEVICE|DEVICE_FUNC)\b")
_ATOMIC = re.compile(r"\batomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)_system\s*\(")
_ATOMIC_REF = re.compile(r"\batomic(?:_ref)?\s*<[^;{}()]*\bthread_scope_system\s*>\s*(?P<name>\w+)?\s*[({]")
_ATOMIC_POINTER = re.compile(r"\batomic\s*<[^;{}()]*\bthread_scope_system\s*>\s*(?:const\s*)?[*&]\s*(?P<name>\w+)")
_INSTRUCTION = re.compile(r"(?:^|[;{\s])(?:@!?%?\w+\s+)?(multimem|atom|red|st|ld)((?:\.[\w:]+)+)\s+([^;]*)")
_OPERAND = re.compile(r'(?:\[\s*(\w+)\s*\]\s*)?"[^"]*"\s*(?=\()')
_ADDRESS = re.compile(r"\[\s*%(?:(\d+)|\[(\w+)\])")
_VOLATILE = re.compile(
    r"\*\s*(?:\(\s*(?:const\s+)?volatile\b[^()]*\)|reinterpret_cast\s*<[^;<>]*\bvolatile\b[^;<>]*>)\s*"
)
_STORE = re.compile(r"(?:^|[;{}])\s*(\*\s*)?([A-Za-z_][\w.]*(?:->\w+)*)((?:\s*\[[^\[\];]*\]|->\w+)*)\s*=(?!=)")
_LAUNCHES = re.compile(r"<<<|[lL]aunch|LAUNCH")
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)\s*([^;{}]{1,400});")
_OPENED = re.compile(r"\b(?:cudaIpcOpenMemHandle|cuIpcOpenMemHandle\w*)\s*\(")
_POINTERS = re.compile(r"\*\s*(?:const\b\s*|__restrict__\s*)*\*\s*(?:const\b\s*|__restrict__\s*)*(\w+)|\*\s*(\w+)\s*\[")
_POINTER = re.compile(r"\*\s*(?:const\b\s*|__restrict__\s*)*([A-Za-z_]\w*)\s*(?=[,;)=\[])")

_ENTRY = re.compile(r"(\w+)\s*\[([^\[\]]*)\]")
_COMPUTED = re.compile(r"[<>=?]|&&|\|\|")

_CLUSTER = re.compile(r"cluster|\bmapa\b|map_shared_rank|\bcta|Cta|CTA")
_OWN_INDEX = re.compile(r"(?:\w+(?:\.|->))*(?:rank_?|(?:my|self|own|local)_?\w*|m_rank|mype)$", re.IGNORECASE)
_OF_RANKS = re.compile(r"ptrs?_?$|sig|buf|barrier|flag", re.IGNORECASE)
_RANKS = re.compile(r"rank|peer|\bpe\b|n_?gpus?\b|world", re.IGNORECASE)

_NATIVE = re.compile(r"\b\w*(?:NativeAtomicSupported|NATIVE_ATOMIC_SUPPORTED|P2PAtomicCapabilit)\w*")
_ASKED = re.compile(r"&\s*(\w+)\s*,\s*\w*(?:NativeAtomicSupported|NATIVE_ATOMIC_SUPPORTED)")
"""Where the answer is written to."""
_NO_FUNCTION = re.compile(rf"__|\w+_cast$|volatile$|asm$|atomic|{'|'.join(libraries())}|sizeof$|printf$|assert$")

_SWITCHES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("open", _OPENED),
    ("enable", re.compile(r"\b(?:cudaDeviceEnablePeerAccess|cuCtxEnablePeerAccess)\s*\(")),
    ("multicast", re.compile(r"\bcuMulticastCreate\s*\(")),
    ("fabric", re.compile(r"=\s*CU_MEM_HANDLE_TYPE_FABRIC\b")),
    ("rdma", re.compile(r"\bgpuDirectRDMACapable\s*=\s*(?:1|true)\b")),
)
_STARTS = re.compile(
    r"\b(?:j?thread|async|pthread_create|emplace_back|submit|enqueue)\b[^;(){}]{0,40}[({]([^;]{1,160})"
)
"""What starts a function that it is handed: `std::thread(work, rank)`."""
_NAME = re.compile(r"\w+")
_HANDS_OUT = re.compile(r"\breturn\s+[^;\s]|\bvoid\s*\*\*")


@dataclass
class _PointerFunction:
    """A function of the file and the names of it that point to a peer."""

    scope: CodeScope
    text: str
    start: int
    params: tuple[str, ...]
    device: bool
    traced: set[str] = field(default_factory=set)
    followed: int = -1
    """How many were traced when it was last gone through: with no more of them it says nothing new."""

    @property
    def name(self) -> str:
        return self.scope.name.rpartition("::")[2]

    @property
    def owner(self) -> str:
        return self.scope.parent or self.scope.name.rpartition("::")[0]

    @cached_property
    def clustered(self) -> bool:
        """Whether it speaks of clusters, whose blocks are peers of another kind."""
        return _CLUSTER.search(self.text) is not None

    @cached_property
    def ranked(self) -> bool:
        return _RANKS.search(self.text) is not None

    @cached_property
    def opened(self) -> frozenset[str]:
        """The names that are filled from a handle of another process."""
        opened = (next(iter(arguments(self.text, one.end() - 1)), "") for one in _OPENED.finditer(self.text))
        return frozenset(base for base in map(base_of, opened) if base)

    @cached_property
    def assigned(self) -> list[tuple[str, str]]:
        """The names that are assigned to, each with what they are given."""
        return _ASSIGNED.findall(self.text)

    @cached_property
    def called(self) -> frozenset[str]:
        return frozenset(re.findall(r"[A-Za-z_]\w*", self.text))

    @cached_property
    def called_by_name(self) -> frozenset[str]:
        """Without those that are only registered somewhere."""
        return frozenset(name for name, _, _ in self.calls)

    @cached_property
    def calls(self) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
        """Name, offset and arguments of each call; a launch hands its arguments to the kernel."""
        return tuple(calls_in(self.text))


@dataclass(frozen=True, slots=True)
class _Access:
    path: str
    address: str
    start: int
    end: int


def operations(file: CutText) -> tuple[Operation, ...]:
    """What the module docstring says, in order of place. Never raises; linear in the length of the file."""
    if not _WORD_OF_INTEREST.search(file.code.words) or not _INTEREST.search(file.code.source):
        return ()
    return _PeerReader(file).read()


class _PeerReader:
    def __init__(self, file: CutText) -> None:
        self.file = file
        self.code = code = file.code
        self.functions = [_function(code.text, scope) for scope in file.places.functions]
        self.by_name: dict[str, list[_PointerFunction]] = {}
        self.by_owner: dict[str, list[_PointerFunction]] = {}
        for function in self.functions:
            self.by_name.setdefault(function.name, []).append(function)
            if function.owner:
                self.by_owner.setdefault(function.owner, []).append(function)
        self.pointers = frozenset(_POINTER.findall(code.text))
        self.arrays = frozenset(first or second for first, second in _POINTERS.findall(code.text))

    def read(self) -> tuple[Operation, ...]:
        self._trace()
        found: list[Operation] = []
        working: set[str] = set()
        for function in self.functions:
            made = list(self._work(function))
            if made:
                working.add(function.name)
            found += made
        found += self._switches(working)
        for kind in sorted(queries(self.code.text)):
            found.append(Operation("peer-asked", kind, self.code.span(0, 0)))
        for match in _NATIVE.finditer(self.code.text):
            found.append(Operation("peer-proof", "native-atomics", self.code.span(*match.span())))
        found += self._told()
        return tuple(sorted(found, key=lambda operation: operation.at))

    def _told(self) -> Iterator[Operation]:
        """Calls of functions of other files that are handed whether a pair has native atomics."""
        asking = [function for function in self.functions if _NATIVE.search(function.text)]
        known = self._kept({function.name for function in asking}) if asking else set()
        for function in self.functions if asking else ():
            own = known | {out for query in _ASKED.finditer(function.text) for out in query.groups()}
            for name, offset, given in function.calls:
                if name not in self.by_name and any(not own.isdisjoint(names_of(argument)) for argument in given):
                    start = function.start + offset
                    yield Operation("peer-proof", name, self.code.span(start, start + len(name)))

    def _kept(self, known: set[str]) -> set[str]:
        """Functions that answer a question, and the members that keep an answer."""
        given = [
            (name, self.code.text[start:end])
            for function in self.functions
            for start, end, name in initialised(self.code.text, function.scope)
        ]
        given += [pair for function in self.functions for pair in function.assigned]
        for _ in range(_ROUNDS):
            more = {name for name, value in given if not known.isdisjoint(names_of(value))}
            if more <= known:
                break
            known = known | more
        return known

    def _trace(self) -> None:
        """Follow pointers through assignments and calls until nothing new comes to light."""
        for function in self.functions:
            function.traced |= function.opened
        for _ in range(_ROUNDS):
            before = sum(len(function.traced) for function in self.functions)
            for function in self.functions:
                if function.followed != len(function.traced):
                    function.followed = len(function.traced)
                    self._trace_in(function)
            if before == sum(len(function.traced) for function in self.functions):
                return

    def _trace_in(self, function: _PointerFunction) -> None:
        for name, value in function.assigned:
            if self._is_remote(function, value, assigned=True):
                function.traced.add(name)
                for other in self.by_owner.get(function.owner, ()):  # a member belongs to all methods
                    other.traced.add(name)
        for name, _, given in function.calls:
            for callee in self.by_name.get(name, ()):
                if callee is function:
                    continue
                for param, argument in zip(callee.params, given, strict=False):
                    if param and self._is_remote(function, argument, assigned=True):
                        callee.traced.add(param)

    def _is_remote(self, function: _PointerFunction, address: str, assigned: bool = False) -> bool:
        """Whether an address lies in a peer's memory."""
        read = address_of(address)
        if read.asks or read.called:
            named = is_pointer_name(read.called) and not function.clustered
            return read.asks or named or read.of_a_pair
        own = self._own_entry(read.piece)
        traced = any(name in function.traced for name in read.names)
        if own is not True and (traced or (not function.clustered and any(map(is_pointer_name, read.names)))):
            return not assigned or not _COMPUTED.search(read.piece)
        return own is False and function.ranked

    def _is_array(self, function: _PointerFunction, argument: str) -> bool:
        """Whether an argument is a whole array of the ranks' pointers."""
        name = argument.strip()
        return name in self.arrays and _OF_RANKS.search(name) is not None and function.ranked

    def _own_entry(self, piece: str) -> bool | None:
        """For an entry of an array of pointers: whether it is this rank's own; None where it is no such entry."""
        found = _ENTRY.search(piece) if "[" in piece else None
        if found is None:
            return None
        if _OWN_INDEX.match(found[2].strip()):
            return True
        if found[1] not in self.arrays or not _OF_RANKS.search(found[1]):
            return None
        return False

    def _work(self, function: _PointerFunction) -> Iterator[Operation]:
        """What a function does to the memory of peers."""
        for access in self._accesses(function):
            path, start, end = access.path, access.start, access.end
            if path == "multicast" or self._is_remote(function, access.address):
                yield self.file.operation("peer", path, start, end)
            elif (base := base_of(access.address)) in function.params:
                place = PeerArgument(function.params.index(base))
                yield self.file.operation("peer-parameter", path, start, end, detail=place)
        if not function.device:
            return
        seen: set[tuple[str, int]] = set()
        for name, offset, given in function.calls:
            if name in self.by_name or _NO_FUNCTION.match(name) or function.text[:offset].endswith((".", "->")):
                continue
            for position, argument in enumerate(given[:8]):
                given_on = self._is_remote(function, argument, assigned=True) or self._is_array(function, argument)
                if (name, position) not in seen and given_on:
                    seen.add((name, position))
                    start = function.start + offset
                    yield self.file.operation(
                        "peer-passed", name, start, start + len(name), detail=PeerArgument(position)
                    )

    def _accesses(self, function: _PointerFunction) -> Iterator[_Access]:
        """Everything of a function that is made for memory which others see, with its address as written."""
        if not function.device:
            return
        text, start = function.text, function.start
        for match in _ATOMIC.finditer(text):
            address = next(iter(arguments(text, match.end() - 1)), "")
            yield _Access("remote-atomic", address, start + match.start(), start + match.end() - 1)
        yield from self._references(function)
        for match in ASM.finditer(text):
            yield from self._assembly(start + match.start(), start + match.end() - 1)
        for match in _VOLATILE.finditer(text):
            yield _Access(
                "peer-store", text[match.end() : match.end() + 120], start + match.start(), start + match.end()
            )
        for match in _STORE.finditer(text):
            base, steps = match[2] + match[3], match[3].count("[") + match[3].count("->")
            if not (match[1] or steps) or not self._points(function, match[2]):
                continue
            if self._is_remote(function, base) and (match[1] or steps >= self._depth(match)):
                yield _Access("peer-store", base, start + match.start(2), start + match.end(3))

    def _points(self, function: _PointerFunction, name: str) -> bool:
        """Whether a name is known to be a pointer, and no array or object of the function's own."""
        last = re.split(r"\.|->", name)[-1]
        return last in self.pointers or last in function.traced

    def _depth(self, match: re.Match[str]) -> int:
        """How many steps from a name lead to the memory itself: two from an array of pointers."""
        return 2 if match[2].rpartition(".")[2].rpartition(">")[2] in self.arrays else 1

    def _references(self, function: _PointerFunction) -> Iterator[_Access]:
        text, start = function.text, function.start
        for pattern in (_ATOMIC_REF, _ATOMIC_POINTER):
            for match in pattern.finditer(text):
                name = match["name"]
                if pattern is _ATOMIC_REF:
                    close = matching(text, match.end() - 1, LONGEST_CALL)
                    if close < 0:
                        continue
                    address, rest = text[match.end() : close], text[close + 1 : close + 60]
                else:
                    address, rest = name, ""
                used = text[match.end() :] if name else rest
                prefix = rf"\b{name}\s*(?:\.|->)\s*" if name else r"\A\s*\.\s*"
                method = re.search(prefix + r"(\w+)", used)
                if method is not None:
                    path = "remote-atomic" if re.match(r"fetch_|exchange|compare_exchange", method[1]) else "peer-store"
                    yield _Access(path, address, start + match.start(), start + match.end() - 1)

    def _assembly(self, begin: int, opening: int) -> Iterator[_Access]:
        close = matching(self.code.text, opening, _LONGEST_ASM)
        if close < 0:
            return
        colon = self.code.text.find(":", opening, close)
        head = close if colon < 0 else colon
        said = "".join(self.code.content(literal) for literal in self.code.literals_in(opening, head))
        said = said.replace("\\n", ";").replace("\\t", " ")
        given: list[str] = []
        named: dict[str, str] = {}
        for match in _OPERAND.finditer(self.code.text, head, close):
            end = matching(self.code.text, match.end(), LONGEST_CALL)
            address = self.code.text[match.end() + 1 : end] if end > 0 else ""
            given.append(address)
            if match[1]:
                named[match[1]] = address
        for match in _INSTRUCTION.finditer(said):
            path = _path_of(match[1], match[2])
            if path is None:
                continue
            where = _ADDRESS.search(match[3])
            address = ""
            if where is not None and where[1] and int(where[1]) < len(given):
                address = given[int(where[1])]
            elif where is not None and where[2]:
                address = named.get(where[2], "")
            yield _Access(path, address, begin, opening)

    def _switches(self, working: set[str]) -> Iterator[Operation]:
        kernels = {
            function.name: entered
            for function in self.functions
            if function.scope.kernel and (entered := self._entered(function) & working)
        }
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(kernels))) + r")\b") if kernels else None
        for function in self.functions:
            if function.device:
                continue
            found: list[tuple[str, int, int, frozenset[str]]] = []
            launched = pattern.search(function.text) if pattern and _LAUNCHES.search(function.text) else None
            if pattern and launched:
                names = frozenset(pattern.findall(function.text))
                entered = frozenset[str]().union(*(kernels[name] for name in names))
                found.append(("launch", *launched.span(), entered))
            for name, switch in _SWITCHES:
                match = switch.search(function.text)
                if match is not None and not self._speaks_for_itself(function, name, match):
                    found.append((name, match.start(), match.end(), frozenset(working)))
            if not found:
                continue
            shown = proofs(self._within_reach(function))
            for name, begin, end, entered in found:
                start, stop = function.start + begin, function.start + trimmed(function.text, begin, end)
                detail = PeerSwitch(tuple(sorted(entered)), tuple(sorted(shown)))
                yield self.file.operation("peer-switch", name, start, stop, detail=detail)

    def _speaks_for_itself(self, function: _PointerFunction, switch: str, match: re.Match[str]) -> bool:
        """A call that only hands its result on, or whose error code is the driver's own answer and is looked at."""
        if switch == "open":
            return on_one_device(self.code.source) or all(map(self._hands_out, self._with_callers(function)))
        if switch == "enable":
            return function.text[: match.start()].rstrip()[-1:] not in (";", "{", "}", ")", "")
        return False

    def _hands_out(self, function: _PointerFunction) -> bool:
        return _HANDS_OUT.search(self.code.text[function.scope.header : function.scope.close]) is not None

    def _with_callers(self, function: _PointerFunction) -> list[_PointerFunction]:
        """A host function and those from which it is reached in the file."""
        near = {id(function): function}
        queue = [function]
        while queue and len(near) < _NEAR:
            for other in self._by_callee.get(queue.pop().name, ()):
                if id(other) not in near and not other.device:
                    near[id(other)] = other
                    queue.append(other)
        return list(near.values())

    @cached_property
    def _by_callee(self) -> dict[str, list[_PointerFunction]]:
        found: dict[str, list[_PointerFunction]] = {}
        for function in self.functions:
            started = {name for given in _STARTS.findall(function.text) for name in _NAME.findall(given)}
            for name in function.called_by_name | (started & self._of_host):
                found.setdefault(name, []).append(function)
        return found

    @cached_property
    def _of_host(self) -> frozenset[str]:
        return frozenset(function.name for function in self.functions if not function.device)

    def _entered(self, kernel: _PointerFunction) -> frozenset[str]:
        """The functions of the file that a kernel may call, itself included."""
        seen = {kernel.name}
        queue = [kernel.name]
        while queue:
            for function in self.by_name[queue.pop()]:
                new = {name for name in function.called if name in self.by_name} - seen
                seen |= new
                queue += new
        return frozenset(seen)

    def _within_reach(self, function: _PointerFunction) -> str:
        """The text of a host function, of its callers, of what it and they call, and of its class."""
        near = {id(other): other for other in self._with_callers(function)}
        for other in self.by_owner.get(function.owner, ())[:_NEAR]:
            near.setdefault(id(other), other)
        for one in list(near.values()):
            for name in sorted(one.called & self.by_name.keys())[:_NEAR]:
                for other in self.by_name[name][:_OVERLOADS]:
                    if not other.device:
                        near.setdefault(id(other), other)
        texts = [self.code.text[one.scope.header : one.scope.close] for one in near.values()]
        return "\n".join(texts) + ("\ncheck_peer" if any(map(_copies_and_compares, texts)) else "")


def _copies_and_compares(text: str) -> bool:
    """A test of the pair: bytes are copied from one to the other and looked at."""
    copies = re.search(r"\bcudaMemcpyPeer|\bcuMemcpyPeer", text)
    return copies is not None and re.search(r"\bmemcmp\b|\bequal\b|[!=]=\s*\w+\s*\[", text[copies.end() :]) is not None


def _path_of(opcode: str, modifiers: str) -> str | None:
    if opcode == "multimem":
        return "multicast"
    words = modifiers.split(".")
    if "shared" in words or any(word.startswith("shared::") for word in words):
        return None
    if opcode in ("atom", "red"):
        return "remote-atomic" if "sys" in words else None
    return "peer-store" if "sys" in words or "volatile" in words else None


def _function(text: str, scope: CodeScope) -> _PointerFunction:
    header = text[scope.header : scope.open]
    opening = header.find("(", max(0, header.find(scope.name.rpartition("::")[2])))
    close = matching(header, opening) if opening >= 0 else -1
    params = tuple(map(declared, split(header[opening + 1 : close]))) if close > 0 else ()
    device = scope.kernel or _DEVICE.search(header) is not None
    return _PointerFunction(scope, text[scope.open : scope.close + 1], scope.open, params, device)
