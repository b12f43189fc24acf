"""`bwlint inspect`: which chips run what a wheel, a library or a cubin carries. Nothing of it is loaded or executed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from email import message_from_bytes
from pathlib import Path, PurePosixPath

from bwlint.binaries.library import Allowance, Exhausted, is_bare, joined, read_library
from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import NO_LINES, DeviceLibrary, Flaw, Inspection, OwnPlace, PackageVerdict, Shipment
from bwlint.chips import ChipSet, group, parse_targets
from bwlint.chips.hosts import ARM, X86
from bwlint.chips.wording import listed
from bwlint.inspection.answers import answer, parts, verdicts
from bwlint.inspection.origins import Origin, origins
from bwlint.inspection.run_time import RunTime, is_assembler, is_program, is_source
from bwlint.model.findings import WHOLE_FILE, FailOn, Finding, Report, Severity, Skipped, fingerprint
from bwlint.model.naming import counted
from bwlint.model.progress import Advance, quiet
from bwlint.readers.binary.elf import MAGIC
from bwlint.rules import binary_checks
from bwlint.settings import catalog
from bwlint.settings.config import Configs, UsageError, chosen_rules
from bwlint.sources import disk
from bwlint.sources.archives import ArchiveEntry, entries
from bwlint.sources.errors import ReadError
from bwlint.sources.held import scratch_folder
from bwlint.sources.pypi import PREFIX, SourceError, package_hint
from bwlint.sources.stretch import ByteSource
from bwlint.sources.wheels import requirements

DEFAULT_TARGETS = ("12.0", "12.1")
# For these chips alone, wheels of other machines are not fetched.
_HOSTS = (("arm-hosts", ARM), ("x86-hosts", X86))
# That many images of one folder are told as one library.
_MANY = 12
_STATIC = ".a"
_CODE_ALONE = (".cubin", ".fatbin", ".ptx")
_OF_TESTS = re.compile(r"/(?:tests?|testing)/")
# What is not read beyond these is counted.
_MOST_SKIPPED = 10_000


@dataclass(frozen=True, slots=True)
class InspectionRequest:
    """What is asked: `things` are files, folders and pypi:NAME; what is empty or None, the configuration decides."""

    things: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity | None = None
    fail_on: FailOn | None = None
    kernels: bool = False


@dataclass(frozen=True, slots=True)
class Inspected:
    """An inspection; `severity` is the lowest to show, `fail_on` to fail. `scanned` counts libraries and files without
    device code, `failures` say which arguments could not be had, `unjudged` name those of which nothing could be
    read."""

    inspection: Inspection
    scanned: int
    severity: Severity
    fail_on: FailOn
    failures: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()


OwnText = Callable[[Path, Shipment, ChipSet, Path], tuple[OwnPlace, ...]]
"""What the text of an archive, of which a shipment was made, does with chips; the last is a folder to unpack it in."""


def inspect(request: InspectionRequest, advance: Advance = quiet, own_text: OwnText | None = None) -> Inspected:
    """Inspect what is asked for, and packages by their own text too. Raises UsageError and ConfigError."""
    said = {name: getattr(request, name) for name in ("target", "select", "ignore", "severity", "fail_on")}
    config = Configs().of_folder(os.path.realpath(os.curdir)).override(**said)
    try:
        catalog.resolve((*request.select, *request.ignore))
        asked, _ = parse_targets(config.target or DEFAULT_TARGETS)
    except ValueError as error:
        raise UsageError(str(error)) from None
    rules = chosen_rules(config)
    shipments: list[Shipment] = []
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    failures: list[str] = []
    told: list[PackageVerdict] = []
    platforms = request.platforms or tuple(host for name, host in _HOSTS if asked <= group(name))
    allowance = Allowance()
    with ExitStack() as stack:
        scratch = scratch_folder(stack)
        for things, installed in _one_by_one(request):
            advance("downloading" if things and things[0].startswith(PREFIX) else "reading", 0, 0)
            before = len(shipments)
            try:
                for origin in _with_parts(things, installed, platforms, scratch, shipments):
                    advance("reading", len(shipments), 0)
                    shipment, unread = examine(origin, asked, scratch, deep=request.kernels, allowance=allowance)
                    if own_text is not None and origin.is_package:
                        shipment = _with_own_text(shipment, Path(origin.files[0][1]), asked, scratch, own_text, skipped)
                    shipments.append(shipment)
                    findings += judged(shipment, asked, rules)
                    skipped += unread
            except SourceError as error:
                failures.append(f"{error}{''.join(map(package_hint, things))}")
            told += verdicts(shipments[before:], asked, request.target)
    if failures and not shipments:
        raise UsageError("\n".join(failures))
    report = Report(asked.names, tuple(findings), tuple(skipped), (), _stats(shipments))
    answers = tuple(answer(shipment, asked) for shipment in shipments)
    inspection = Inspection(asked.names, tuple(shipments), answers, report, tuple(told))
    scanned = sum(len(each.libraries) + each.others + len(each.compiles) + _is_told(each) for each in shipments)
    severity, fail_on = config.levels
    unjudged = tuple(
        each.name for each in shipments if each.unread and not (each.libraries or each.others or each.compiles)
    )
    return Inspected(inspection, scanned, severity, fail_on, tuple(failures), unjudged)


def _with_parts(
    things: tuple[str, ...],
    installed: tuple[str, ...],
    platforms: tuple[str, ...],
    scratch: Path,
    shipments: list[Shipment],
) -> Iterator[Origin]:
    """What the arguments name, and the one package in which one of PyPI has its code; `shipments` grow meanwhile."""
    before = len(shipments)
    yield from origins(things, installed, platforms, scratch)
    required = tuple(dict.fromkeys(part for one in shipments[before:] for part in parts(one)))
    if len(required) == 1 and things and things[0].startswith(PREFIX):
        with suppress(SourceError):  # the answer names it
            yield from origins((f"{PREFIX}{required[0]}",), (), platforms, scratch)


def _is_told(shipment: Shipment) -> bool:
    """Whether something is said of it without a library: sources, a stub, a CPU build, a package of requirements."""
    return bool(shipment.built or shipment.instead or shipment.elsewhere or shipment.is_cpu_build or parts(shipment))


def _with_own_text(
    shipment: Shipment, archive: Path, asked: ChipSet, scratch: Path, own_text: OwnText, skipped: list[Skipped]
) -> Shipment:
    try:
        return replace(shipment, own=own_text(archive, shipment, shipment.judged(asked), scratch))
    except ReadError as error:
        skipped.append(Skipped(shipment.name, f"its own code was not checked: {error}"))
        return shipment


def _one_by_one(request: InspectionRequest) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The arguments: one that cannot be had costs nothing of what the others say."""
    yield from (((thing,), ()) for thing in request.things)
    yield from (((), (name,)) for name in request.installed)


def examine(
    origin: Origin, asked: ChipSet, scratch: Path, *, deep: bool = False, allowance: Allowance | None = None
) -> tuple[Shipment, list[Skipped]]:
    """Read all files of an origin; what could not be read is said, and is none of those without device code. Raises
    SourceError for an archive that is none. `allowance` is what all of them may take, together with what was read
    before."""
    unread = _Unread(list(origin.skipped))
    libraries: list[DeviceLibrary] = []
    others = 0
    run_time = RunTime()
    top = origin.files[0][0] if len(origin.files) == 1 else origin.name.partition("==")[0]
    metadata = Metadata(top, origin.machine)
    aside = 0
    for library in _libraries(origin, asked, scratch, unread, run_time, metadata, allowance or Allowance(), deep=deep):
        if library.units and origin.is_package and is_bare(library) and _OF_TESTS.search(library.path):
            aside += 1
        elif library.units:
            libraries.append(library)
            run_time.has_ready = run_time.has_ready or not is_bare(library)
        else:
            others += 1
    gathered = _gathered(libraries)
    machines = {library.binary.machine for library in gathered} - {""}
    machine = origin.machine or (machines.pop() if len(machines) == 1 else "")
    skipped = unread.told(origin.name)
    known = {library.path for library in libraries}
    unknown = tuple(skip for skip in skipped if skip.path not in known)
    if aside:
        skipped = [*skipped, Skipped(origin.name, f"{counted(aside, 'image')} for the package's own tests")]
    lacking = operations(gathered, asked)
    is_cpu_build = metadata.is_cpu_build and not (libraries or run_time.assemblers)
    found = Shipment(
        origin.name,
        gathered,
        origin.tag,
        machine,
        origin.missing,
        others,
        lacking,
        unknown,
        () if is_cpu_build else run_time.evidence,
        tuple(run_time.assemblers),
        built=f"{origin.built}: {metadata.build(has_cuda=run_time.cuda > 0)}" if origin.built else "",
        elsewhere=origin.elsewhere,
        instead=metadata.instead(is_all=not (libraries or others or run_time.has_any)),
        requires=metadata.requires,
        bound_to=tuple(run_time.bound_to),
        is_cpu_build=is_cpu_build,
    )
    return found, skipped


@dataclass(slots=True)
class _Unread:
    """What could not be read: the first of it in full, the rest as a number."""

    kept: list[Skipped]
    more: int = 0

    def add(self, skipped: Skipped) -> None:
        if len(self.kept) < _MOST_SKIPPED:
            self.kept.append(skipped)
        else:
            self.more += 1

    def told(self, name: str) -> list[Skipped]:
        return [*self.kept, Skipped(name, f"and {self.more:,} more were not read")] if self.more else self.kept


def _libraries(
    origin: Origin,
    asked: ChipSet,
    scratch: Path,
    unread: _Unread,
    run_time: RunTime,
    metadata: Metadata,
    allowance: Allowance,
    *,
    deep: bool,
) -> Iterator[DeviceLibrary]:
    allowance.grant(sum(_size(real) for _, real in origin.files))
    for entry in _entries(origin, scratch):
        if isinstance(entry, Skipped):
            unread.add(entry)
            continue
        try:
            metadata.take(entry.path, entry.source)
            if is_source(entry.path, built=True):
                if not _OF_TESTS.search(entry.path):
                    run_time.take(entry.path, entry.source)
                continue
            if entry.path != metadata.top and not _may_be_binary(entry):
                continue
            library = read_library(entry.path, entry.source, asked, deep=deep, allowance=allowance)
        except ReadError as error:
            unread.add(Skipped(entry.path, str(error)))
            continue
        except Exhausted as error:
            unread.add(Skipped(entry.path, f"bwlint stops reading at this file: {error}"))
            return
        reasons = [f"not read to its end: {fault}" for fault in library.binary.faults if NO_LINES not in fault]
        if not entry.source.size:
            reasons = ["an empty file"]
        elif entry.path.endswith(_CODE_ALONE) and not (library.units or reasons):
            reasons = ["it has no device code, although its name says so"]
        for reason in reasons:
            unread.add(Skipped(entry.path, reason))
        if not is_bare(library):
            run_time.take_binary(entry.path, entry.source, has_code=bool(library.units))
        if library.units or not reasons:
            yield library


def _size(real: str) -> int:
    try:
        status = Path(real).stat()
    except (OSError, ValueError):
        return 0
    disk.was_read(real, status, None)
    return status.st_size


def judged(shipment: Shipment, asked: ChipSet, rules: frozenset[str]) -> Iterator[Finding]:
    for rule, check in binary_checks():
        if rule.name in rules:
            yield from (_finding(flaw) for flaw in check(shipment, asked))


def _may_be_binary(entry: ArchiveEntry) -> bool:
    """Whether a member is no text by its name, or by what it begins with."""
    name, source = PurePosixPath(entry.path).name, entry.source
    if is_program(name) and not is_assembler(name):
        return source.read(0, min(source.size, len(MAGIC))) == MAGIC
    return name != PROJECT


def _entries(origin: Origin, scratch: Path) -> Iterator[ArchiveEntry | Skipped]:
    def wanted(name: str) -> bool:
        return origin.wanted(name) or (bool(origin.built) and (is_source(name, built=True) or name == PROJECT))

    for reported, real in origin.files:
        try:
            yield from entries(Path(real), reported, scratch, wanted)
        except SourceError as error:
            if origin.is_named:
                raise
            yield Skipped(reported, str(error).removeprefix(f"{reported}: "))


def _gathered(libraries: Sequence[DeviceLibrary]) -> tuple[DeviceLibrary, ...]:
    """The libraries, with the objects of a static library and the many images of a folder as one each."""
    groups: dict[str, list[DeviceLibrary]] = {}
    for library in libraries:
        parent = str(PurePosixPath(library.path).parent)
        together = is_bare(library) or parent.endswith(_STATIC)
        groups.setdefault(parent if together else library.path, []).append(library)
    found: list[DeviceLibrary] = []
    for path, some in groups.items():
        is_static = path.endswith(_STATIC) and path != some[0].path
        if is_static or len(some) > _MANY:
            found.append(joined(path, some))
        else:
            found += some
    return tuple(found)


def _finding(flaw: Flaw) -> Finding:
    rule = catalog.lookup(flaw.rule.name)
    return Finding(
        rule=rule.code,
        name=rule.name,
        category=rule.category,
        severity=flaw.severity,
        confidence=flaw.confidence,
        path=flaw.path,
        region=WHOLE_FILE,
        message=flaw.message,
        admitted=flaw.admitted.names,
        certain=flaw.admitted.names,
        legal=None if flaw.legal is None else flaw.legal.names,
        label=flaw.label,
        advice=flaw.advice,
        fingerprint=fingerprint(rule.name, flaw.key, PurePosixPath(flaw.path).name, 0),
        claims=flaw.claims,
    )


def _stats(shipments: Iterable[Shipment]) -> dict[str, int]:
    libraries = [library for shipment in shipments for library in shipment.libraries]
    return {
        "libraries": len(libraries),
        "containers": sum(len(library.units) for library in libraries),
        "images": sum(len(unit.container.images) for library in libraries for unit in library.units),
    }


PROJECT = "pyproject.toml"
_OF_WHEEL = re.compile(r"[^/]+\.dist-info/METADATA")
_OF_SOURCES = re.compile(rf"[^/]+/{re.escape(PROJECT)}")
# The back end of stubs whose wheels lie elsewhere; read: pyproject.toml of libcuvs-cu12 25.2.1.
_STUB = re.compile(rb"^build-backend[ \t]*=[ \t]*[\"']wheel_stub\.", re.M)
_INDEX = re.compile(rb"^index_url[ \t]*=[ \t]*[\"'](https?://[\w./:-]+)[\"']", re.M)
_SETUP = re.compile(r"[^/]+/setup\.py")
_READY_WHEEL = re.compile(rb"https://([\w.-]+/[\w.-]+/[\w.-]+)/releases/download/")
_FETCHES = re.compile(rb"\burlretrieve\b|\burlopen\b|\brequests\.get\b")
_CUDA_SOURCE = re.compile(rb"\.cu[\"']")
_VERSION_FILE = re.compile(r"[^/]+/version\.py")
_OF_CPU = re.compile(rb"^(?:cuda\b[^=\n]*=[ \t]*None\b|__version__\b[^=\n]*=[ \t]*[\"'][^\"'\n]*\+cpu\b)", re.M)
_LARGEST = 1 << 20


@dataclass(slots=True)
class Metadata:
    """`top` is the path of the package for reports, `machine` the one that it is for; `requires` are names and ranges.
    `extras` are the names under which it asks for more, `stub_of` is the index that has its wheel if it builds nothing,
    `ready_at` the place of released wheels that its setup.py fetches, `names_cuda` that this names CUDA sources,
    `is_cpu_build` that its version.py names no CUDA."""

    top: str
    machine: str
    requires: tuple[tuple[str, str], ...] = ()
    extras: tuple[str, ...] = ()
    stub_of: str = ""
    ready_at: str = ""
    names_cuda: bool = False
    is_cpu_build: bool = False

    def take(self, path: str, source: ByteSource) -> None:
        """Any file; raises `ReadError`."""
        inner = path.removeprefix(f"{self.top}/")
        if _OF_SOURCES.fullmatch(inner):
            text = source.read(0, min(source.size, _LARGEST))
            index = _INDEX.search(text)
            self.stub_of = (index[1].decode() if index else "another index") if _STUB.search(text) else ""
        elif _SETUP.fullmatch(inner):
            text = source.read(0, min(source.size, _LARGEST))
            ready = _READY_WHEEL.search(text) if _FETCHES.search(text) else None
            self.ready_at = ready[1].decode() if ready else ""
            self.names_cuda = _CUDA_SOURCE.search(text) is not None
        elif _VERSION_FILE.fullmatch(inner):
            self.is_cpu_build = _OF_CPU.search(source.read(0, min(source.size, _LARGEST))) is not None
        elif _OF_WHEEL.fullmatch(inner):
            metadata = message_from_bytes(source.read(0, min(source.size, _LARGEST)))
            self.extras = tuple(map(str, metadata.get_all("Provides-Extra", [])))
            self.requires = tuple((one.name, str(one.specifier)) for one in requirements(metadata, self.machine))

    def build(self, *, has_cuda: bool) -> str:
        """How a source distribution is installed; `has_cuda`: CUDA sources are in it."""
        if self.ready_at:
            ready = f"its setup.py fetches a ready wheel from {self.ready_at}, which was not read"
            return ready if has_cuda or not self.names_cuda else f"{ready}: the CUDA sources that it names are missing"
        return "it is built on your machine"

    def instead(self, *, is_all: bool) -> str:
        """What is to be said of a package that has nothing itself; `is_all`: there is no file but this one."""
        if self.stub_of:
            return f"a stub: its wheel is fetched from {self.stub_of} and was not read"
        if not is_all or not (self.requires or self.extras):
            return ""
        asks = listed([name for name, _ in self.requires]) if self.requires else f"in extras: {listed(self.extras)}"
        return f"it only requires other packages ({asks})"
