"""p2p-atomics at a switch: a launch, an opened handle, an option, a default that leaves a test out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.peers import proved
from bwlint.chips.wording import called, capital, have
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.siblings import other_files
from bwlint.model.details import PeerArgument, PeerSwitch
from bwlint.model.expr import Span
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import NoFix
from bwlint.rules.p2p_atomics import BY_HAND

_TOPOLOGY = "Query what connects each pair: NVML for its links, or the driver for access and native atomics."
_RELATED = 6
_NO_NVLINK = group("no-nvlink")
_OPENINGS = {
    "open": "This opens another GPU's memory, and nothing nearby shows that the pair has working peer access.",
    "enable": "This switches peer access on, ignores the status, and nothing nearby queries the pair for it.",
}
_ASKED_ELSEWHERE = (
    "This starts code that changes another GPU's memory by system-scope atomics. Another file checks for native"
    " atomics, but its answer does not reach this code."
)
_SWITCH_PATH = {
    "open": "peer-store",
    "enable": "peer-store",
    "multicast": "multicast",
    "multimem": "multicast",
    "fabric": "fabric",
    "rdma": "rdma",
}
_ELSEWHERE = frozenset({"declared", "reads", "switched"})
"""What stands beside a switch, or is judged in `assumed`."""


@dataclass(frozen=True, slots=True)
class PathText:
    """What is said of a path: of a kernel started here, and what would show that it works."""

    message: str
    label: str
    advice: str
    by_links: bool = True
    """Whether what connects the GPUs decides, and no attribute of one device."""


PATHS = {
    "remote-atomic": PathText(
        "This starts code that changes another GPU's memory by system-scope atomics. Nothing nearby checks whether the"
        " pair has native atomics. Without them a count can be lost, and the kernel that waits for it hangs.",
        "enters remote atomics",
        "Query cudaDevP2PAttrNativeAtomicSupported for each pair, and add a path without remote atomics. Peer access"
        " alone does not show it.",
    ),
    "multicast": PathText(
        "This starts code that uses multicast memory (multimem), and nothing nearby checks whether the device has it."
        " Where it has none, the memory cannot be created.",
        "enters multicast",
        "Query CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED first. The instructions assemble for every target from 9.0 on,"
        " but need a multicast object when they run.",
    ),
    "peer-store": PathText(
        "This starts code that stores to or polls another GPU's memory. Nothing nearby shows that the pair has working"
        " peer access. Without it the kernel faults, or waits forever.",
        "enters a peer's memory",
        "Query cudaDeviceCanAccessPeer, or better copy between the pair and compare. Behind an IOMMU or ACS the driver"
        " reports access and no bytes arrive. This needs no atomics.",
    ),
    "fabric": PathText(
        "This requests fabric handles, and nothing nearby checks whether the device supports them. Where it does not,"
        " the allocation fails.",
        "requests fabric handles",
        "Query CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, and use file descriptors elsewhere. Neither the"
        " processor nor the generation of the GPU shows it.",
    ),
    "rdma": PathText(
        "This requests memory for GPUDirect RDMA, and nothing nearby checks whether the device supports it. Where it"
        " does not, the allocation fails.",
        "requests GPUDirect RDMA",
        "Query CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: consumer GPUs refuse the allocation.",
        by_links=False,
    ),
}
_ORDER = tuple(PATHS)

_FLAG_BY_HAND = NoFix("set the flag only where the device has the attribute")


def advice(path: str) -> str:
    """What to query instead of guessing."""
    return PATHS[path].advice if path in PATHS else _TOPOLOGY


def chosen(path: str) -> str:
    """What code does to a path without asking for it: what connects GPUs is not for it to choose."""
    return "chosen" if path in PATHS else "assumed"


def claimed(path: str, chips: ChipSet, at: Span) -> Claimed:
    return Claimed(claims.peer(path if path in PATHS else "peer-store", chips), at)


@dataclass(frozen=True, slots=True)
class _Switch:
    """A switch without a proof, and what it leads to where that was seen."""

    switch: Operation
    entered: PeerSwitch
    works: tuple[RelatedSpan, ...] = ()


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if not context.targets & _NO_NVLINK:
        return
    entries: dict[str, list[_Switch]] = defaultdict(list)
    for switch in module.operations:
        entered = switch.detail
        if not isinstance(entered, PeerSwitch) or switch.name in _ELSEWHERE:
            continue
        if switch.name == "skip":
            yield _skip(context, module, switch, entered)
        elif switch.name in ("named", "demanded"):
            yield _told(context, module, switch, entered.variable)
        elif switch.name == "multimem" and not _let_in_by_capability(context, module, switch):
            continue  # a kernel: whoever starts it may ask
        elif switch.name == "option":
            yield from _option(context, module, switch, entered)
        else:
            for path, works in _paths(context, module, switch, entered):
                entries[path].append(_Switch(switch, entered, works))
                break
    asked = frozenset(one.name for one in module.operations if one.kind == "peer-asked")
    for path, found in entries.items():
        if proved(path, asked) and not any(_sure(context, module, entry) for entry in found):
            continue  # another function of the file asks, and whoever starts both may have asked first
        yield _draft(context, module, path, found, sure=path != "rdma" or "multicast" not in entries)


def _paths(
    context: Context, module: Module, switch: Operation, entered: PeerSwitch
) -> Iterator[tuple[str, tuple[RelatedSpan, ...]]]:
    """The paths that a switch enters unproved, the most demanding first."""
    shown = frozenset(entered.proofs)
    works = _works(context, module, frozenset(entered.leads_to))
    if switch.name != "launch":
        works.setdefault(_SWITCH_PATH[switch.name], [])
    for path in _ORDER:
        if path not in works or proved(path, shown) or (path == "remote-atomic" and _told_by(context, module, switch)):
            continue
        yield path, tuple(works[path])


def _told_by(context: Context, module: Module, switch: Operation) -> bool:
    """Whether a file that calls the function of a switch hands it the answer of the driver."""
    name = _last(switch.qualname)
    callers = context.native.naming(name, module.path)
    return any((one.kind, one.name) == ("peer-proof", name) for other in callers for one in other.operations)


def _works(context: Context, module: Module, functions: frozenset[str]) -> dict[str, list[RelatedSpan]]:
    """What the functions of a file do to memory of peers, themselves or by what they hand on to headers, by path."""
    found: dict[str, list[RelatedSpan]] = defaultdict(list)
    handed: dict[str, set[int]] = defaultdict(set)
    for operation in module.operations:
        if _last(operation.qualname) not in functions:
            continue
        if operation.kind == "peer":
            found[operation.name].append(_seen(module, operation))
        elif operation.kind == "peer-passed" and isinstance(operation.detail, PeerArgument):
            handed[operation.name].add(operation.detail.position)
    if not handed:
        return found
    for header in context.tree.headers.included(module):
        for operation in header.operations:
            positions = handed.get(_last(operation.qualname))
            if positions is None:
                continue
            filled = operation.kind == "peer-parameter" and operation.detail in [*map(PeerArgument, positions)]
            if operation.kind == "peer" or filled:
                found[operation.name].append(_seen(header, operation))
    return found


def _draft(context: Context, module: Module, path: str, entries: list[_Switch], *, sure: bool) -> Draft:
    entries = sorted(entries, key=lambda entry: entry.switch.name != "launch")
    first, text = entries[0], PATHS[path]
    works = tuple({(work.module.path, work.at): work for entry in entries for work in entry.works}.values())
    others = tuple(RelatedSpan(module, entry.switch.at, "also here") for entry in entries[1:])
    asked = _asked_near(context, module) if path == "remote-atomic" else ()
    proved_wrong = path == "remote-atomic" and works and not asked
    if path == "remote-atomic" and not asked:
        asked = _asked_in(context.native.naming(_last(first.switch.qualname), module.path))
    ours = context.targets & _NO_NVLINK
    said = _ASKED_ELSEWHERE if asked else _said(first.switch, path)
    reach = f"{called(ours)} reach{'es' if len(ours) == 1 else ''}"
    sure = sure and not context.in_test(module)
    sure = sure and bool(proved_wrong or any(_sure(context, module, entry) for entry in entries))
    return Draft(
        place=DraftPlace(module=module, at=first.switch.at, admitted=context.targets, certain=NONE),
        severity="warning" if sure else "note",
        confidence="medium" if sure else "low",
        message=f"{said} {reach} peers over PCIe at best." if text.by_links else said,
        label=text.label,
        advice=text.advice,
        related=(*works[:_RELATED], *others[:_RELATED], *asked),
        remedy=BY_HAND if text.by_links else _FLAG_BY_HAND,
        claims=(_claimed(context, path, first.switch),),
    )


def _sure(context: Context, module: Module, entry: _Switch) -> bool:
    """Whether our chips surely get to a switch that they do not have: nothing decides, or what is no proof."""
    if entry.switch.name == "multimem":
        return bool(_let_in_by_capability(context, module, entry.switch))
    by_processor = entry.entered.decides == "processor"
    return entry.entered.decides == "always" or (
        by_processor and bool(context.targets & _NO_NVLINK & group("arm-hosts"))
    )


def _let_in_by_capability(context: Context, module: Module, switch: Operation) -> ChipSet:
    """Our chips, where a lower bound of the function, or of the class that it belongs to, admits them."""
    owner = switch.qualname.rpartition(".")[0] or switch.qualname
    found = NONE
    for judged in context.beside(module):
        near = judged.gate.qualname == owner or judged.gate.qualname.startswith(f"{owner}.")
        if near and not judged.sets.guessed and judged.core and not group("ampere") & judged.admitted:
            found |= judged.admitted
    return found & context.targets & _NO_NVLINK


def _told(context: Context, module: Module, switch: Operation, wanted: str) -> Draft:
    """What a look at the wrong thing decides."""
    ours = context.targets & _NO_NVLINK
    if switch.name == "named":
        path, advice = (
            "peer-store",
            "Look for NVLink on every device (NVML), or query cudaDeviceCanAccessPeer for each pair.",
        )
        said = f"This assumes NVLink unless the device is named PCIe. {called(ours)} {have(ours)} no NVLink."
    else:
        path, advice = "multicast", f"Refuse only where `{wanted}` is set."
        said = f"This refuses {called(ours)} for lack of multicast, even for callers that want none (`{wanted}`)."
    return Draft(
        place=DraftPlace(module=module, at=switch.at, admitted=context.targets, certain=NONE),
        severity="warning",
        confidence="medium",
        message=said,
        label="decides for every chip",
        advice=advice,
        remedy=BY_HAND,
        claims=(_claimed(context, path, switch),),
    )


def _claimed(context: Context, path: str, switch: Operation) -> Claimed:
    return claimed(path, context.targets & _NO_NVLINK, switch.at)


def _said(switch: Operation, path: str) -> str:
    if path == "peer-store" and switch.name in _OPENINGS:
        return _OPENINGS[switch.name]
    if switch.name == "multicast":
        return "This creates a multicast object, and nothing nearby checks whether the device has multicast."
    return PATHS[path].message


def _skip(context: Context, module: Module, switch: Operation, entered: PeerSwitch) -> Draft:
    variable, tests = entered.variable, entered.tests_with
    said = "documented here"
    declared = [RelatedSpan(module, one.at, said) for one in _of(module, "declared", variable)]
    against = f", although line {declared[0].at.line} says otherwise" if declared else ""
    return Draft(
        place=DraftPlace(module=module, at=switch.at, admitted=context.targets, certain=NONE),
        severity="note",
        confidence="medium",
        message=(
            f"`{variable}` skips the test of peer access between two GPUs by default{against}. Then the driver's answer"
            " counts: behind an IOMMU or ACS it reports access, but no bytes arrive."
        ),
        label="leaves the test out by default",
        advice=(
            f"Start with {variable}={tests} where a first collective hangs. Test by default: copy between the pair,"
            " compare, and remember the answer."
        ),
        related=(*declared, *_readers(context, module, variable)),
        remedy=BY_HAND,
        claims=(_claimed(context, "peer-store", switch),),
    )


def _readers(context: Context, module: Module, variable: str) -> tuple[RelatedSpan, ...]:
    """Where the answer of a variable decides, in this file or in others."""
    files = (module, *(other for other, _ in other_files(context, module, variable)))
    found = ((file, one) for file in files for one in _of(file, "reads", variable))
    return tuple(RelatedSpan(file, one.at, "decides here") for file, one in islice(found, _RELATED))


def _of(module: Module, name: str, variable: str) -> Iterator[Operation]:
    for one in module.operations:
        if one.name == name and isinstance(one.detail, PeerSwitch) and one.detail.variable == variable:
            yield one


def _option(context: Context, module: Module, switch: Operation, entered: PeerSwitch) -> Iterator[Draft]:
    path, what = entered.path, entered.what
    if proved(path, frozenset(entered.proofs)):
        return
    sure = _chosen_for(context, module, switch)
    yield Draft(
        place=DraftPlace(module=module, at=switch.at, admitted=context.targets, certain=NONE),
        severity="warning" if sure else "note",
        confidence="medium" if sure else "low",
        message=(
            capital(f"{what} is {chosen(path)} by the device's capability or by the number of ranks alone.")
            + " Neither shows what connects the GPUs."
        ),
        label=f"{chosen(path)} by capability or number alone",
        advice=advice(path),
        remedy=BY_HAND,
        claims=(claimed(path, context.targets & _NO_NVLINK, switch.at),),
    )


def _chosen_for(context: Context, module: Module, switch: Operation) -> bool:
    """Whether the test that chooses asks for the capability and admits our chips."""
    for judged in context.beside(module):
        if judged.gate.at == switch.at and not judged.sets.guessed and not context.in_test(module):
            return bool(judged.sets.live & judged.core & context.targets & _NO_NVLINK)
    return False


def _asked_near(context: Context, module: Module) -> tuple[RelatedSpan, ...]:
    """Where a header of this file, or a file beside it, asks for native atomics: a caller may then know."""
    folder = module.path.rpartition("/")[0]
    headers = context.tree.headers
    beside = [other for other in headers.known() if other.path.rpartition("/")[0] == folder]
    return _asked_in((*headers.included(module), *beside))


def _asked_in(files: Iterable[Module]) -> tuple[RelatedSpan, ...]:
    """Where one of some files asks for native atomics."""
    for other in files:
        for operation in other.operations:
            if (operation.kind, operation.name) == ("peer-proof", "native-atomics"):
                return (RelatedSpan(other, operation.at, "this checks for native atomics"),)
    return ()


def _seen(module: Module, operation: Operation) -> RelatedSpan:
    return RelatedSpan(module, operation.at, f"{operation.name.replace('-', ' ')} in `{_last(operation.qualname)}`")


def _last(qualname: str) -> str:
    return qualname.rpartition(".")[2].rpartition("::")[2]
