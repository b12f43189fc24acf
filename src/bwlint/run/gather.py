"""Collect the files of a run and their facts."""

# ruff: noqa: PTH117, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from bwlint.chips import ChipSet, parse_targets
from bwlint.evaluate.sources import Sources
from bwlint.index.remembered import answers
from bwlint.model.escape import visible
from bwlint.model.findings import Finding, Skipped
from bwlint.model.progress import Advance, quiet
from bwlint.run.request import CheckRequest
from bwlint.settings import catalog
from bwlint.settings.config import Config, Configs, UsageError, chosen_rules, configs, patterns, rule_names
from bwlint.settings.decisions import NAME, root_of
from bwlint.settings.suppress import MARK
from bwlint.sources import disk, faults
from bwlint.sources.held import scratch_folder
from bwlint.sources.ignore import Matcher
from bwlint.sources.kinds import BINARY, kind_of
from bwlint.sources.pypi import PREFIX, SourceError, Unpacked, is_package, open_packages, package_hint
from bwlint.sources.read import given
from bwlint.sources.texts import Names, Texts
from bwlint.sources.tree import package_root
from bwlint.sources.walk import Mount, SourceFile, discover
from bwlint.world.collect import Collected, collect, forget, of_content, sightings_of
from bwlint.world.libraries import Libraries, own_row

DEFAULT_TARGETS = ("12.0", "12.1")


_MOST_JOBS = 8


@dataclass(frozen=True, slots=True)
class Found:
    files: tuple[SourceFile, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    mounts: tuple[str, ...] = ()
    wheels: tuple[tuple[str, str], ...] = ()
    """Paths for reports and real ones."""
    ignored: int = 0
    """Files and folders that ignore files leave out."""


def gather(request: CheckRequest, stack: ExitStack, advance: Advance = quiet) -> Gathered:
    """The facts of what a request names.

    What it unpacks lives as long as `stack`. Raises UsageError and ConfigError.
    """
    disk.forget()
    faults.forget()
    settings = Settings(request)
    targets = settings.targets()
    if request.stdin is not None:
        stack.enter_context(given({disk.real(request.paths[0]): request.stdin}))
        found, collected = _from_stdin(request, request.stdin, settings)
    else:
        found = _discovered(request, settings, stack, advance)
        own = settings.own_words()
        texts_of = tuple(file for file in found.files if file.kind != BINARY)
        collected = collect(texts_of, jobs_of(request.jobs), _counted(advance, len(texts_of)), own, answers())
    settings.mounts = found.mounts
    return Gathered(found, collected, Texts(), settings, targets, advance)


def again(gathered: Gathered, changed: Collection[str]) -> Gathered:
    """The same with those files (real paths) read once more, which are not as they were."""
    files = tuple(file for file in gathered.found.files if file.real in changed)
    new = collect(files, 1, own=gathered.settings.own_words())
    old, paths = gathered.collected, {file.path for file in files}
    modules = {file.real: (file, module) for file, module in old.modules if file.real not in changed}
    modules |= {file.real: (file, module) for file, module in new.modules}
    skipped = (*(skip for skip in old.skipped if skip.path not in paths), *new.skipped)
    marked = {*(file.real for file in old.marked if file.real not in changed), *(file.real for file in new.marked)}
    collected = Collected(
        tuple(modules[file.real] for file in gathered.found.files if file.real in modules),
        skipped,
        tuple(file for file in gathered.found.files if file.real in marked),
        (*((file, words) for file, words in old.seen if file.real not in changed), *new.seen),
    )
    return replace(gathered, collected=collected, texts=Texts())


@dataclass(slots=True)
class Settings:
    """What the nearest configuration of each file and the command line say.

    One run has one configuration for its targets, levels and sources: that of the folder which holds all
    arguments.
    """

    request: CheckRequest
    mounts: tuple[str, ...] = ()
    run: Config = field(init=False)
    _configs: Configs = field(init=False)
    _exclude: Matcher | None = field(init=False)
    _include: Matcher | None = field(init=False)
    _decisions: str | None = field(init=False)
    _known: dict[Config, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            catalog.resolve(self.request.ignore)
            if self.request.select and not catalog.resolve(self.request.select):
                raise UsageError("--select names no rule")
        except catalog.UnknownRule as error:
            raise UsageError(str(error)) from None
        self._configs = configs(self.request.config, isolated=self.request.isolated)
        self._exclude = patterns("--exclude", self.request.exclude)
        self._include = patterns("--include", self.request.include)
        self._decisions = disk.real(self.request.decisions) if self.request.decisions else None
        self.run = self._overridden(self._configs.of_folder(_common_folder(self.request.paths)))
        self._rules(self.run)

    def config(self, file: SourceFile) -> Config:
        """The configuration of one file; files of a wheel have that of the run."""
        if file.real.startswith(self.mounts):
            return self.run
        return self._configs.of_folder(os.path.dirname(file.real))

    def enabled(self, file: SourceFile) -> frozenset[str]:
        """The names of the rules that run on a file."""
        config = self.config(file)
        rules = self._rules(self._overridden(config))
        ignored = config.ignored_rules(file.real) if config.per_file_ignores else frozenset()
        return rules - rule_names(config, ignored) if ignored else rules

    def rules_of_run(self) -> frozenset[str]:
        """The names of the rules that run on what has no configuration of its own."""
        return self._rules(self.run)

    def targets(self) -> ChipSet:
        """The chips that the run is asked about. Raises UsageError."""
        try:
            return parse_targets(self.run.target or DEFAULT_TARGETS)[0]
        except ValueError as error:
            file = "" if self.request.target else f"{self.run.file}: "
            raise UsageError(f"{file}{error}") from None

    @property
    def decisions_file(self) -> str:
        """Where the decisions of people about rows of the ledger are kept, whether there is such a file or not."""
        return self.request.decisions or os.path.join(self.root, NAME)

    @property
    def root(self) -> str:
        """The folder of the project: of its configuration, else the top of the git tree, else that of the paths."""
        return root_of(self.run.file, _common_folder(self.request.paths))

    def own_words(self) -> frozenset[str]:
        """Names that the configuration adds: of architecture lists, and of functions that read the device."""
        functions = (name.rpartition(".")[2] for name, _ in self.run.capability_functions)
        return frozenset((*self.run.arch_lists, *functions))

    def libraries(self) -> Libraries:
        """The table of libraries with the rows of the configuration in front."""
        source = f"the configuration {self.run.file}"
        return Libraries(tuple(own_row(row.name, row.chips, row.what, source) for row in self.run.library))

    def all_rules(self, files: Sequence[SourceFile]) -> frozenset[str]:
        """The names of the rules that run on any of the files."""
        folders = {os.path.dirname(file.real): file for file in files}
        configs = {self._overridden(self.config(file)) for file in folders.values()}
        return frozenset(name for config in configs for name in self._rules(config))

    def is_excluded(self, file: SourceFile) -> bool:
        """Whether a configuration or an option leaves the file out; named ones stay without --force-exclude.

        Decisions tell what code asks, and ask nothing themselves.
        """
        if os.path.basename(file.real) == NAME or file.real == self._decisions:
            return True
        if file.named and not self.request.force_exclude:
            return False
        return self._is_left_out(file) or self.config(file).is_excluded(file.real)

    def _is_left_out(self, file: SourceFile) -> bool:
        if self._exclude is None and self._include is None:
            return False
        path = os.path.normpath(file.path)
        if os.path.isabs(path):
            path = os.path.relpath(path)
        path = path.replace(os.sep, "/").removeprefix("../")
        is_out = self._exclude is not None and self._exclude.verdict_below(path) is True
        return is_out or (self._include is not None and self._include.verdict_below(path) is not True)

    def _overridden(self, config: Config) -> Config:
        request = self.request
        return config.override(
            target=request.target,
            select=request.select,
            ignore=request.ignore,
            severity=request.severity,
            fail_on=request.fail_on,
        )

    def _rules(self, config: Config) -> frozenset[str]:
        if config not in self._known:
            self._known[config] = chosen_rules(config)
        return self._known[config]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a run has read: the files, their facts, and what it is to judge them by."""

    found: Found
    collected: Collected
    texts: Texts
    settings: Settings
    targets: ChipSet
    advance: Advance = quiet
    inspected: list[tuple[list[Finding], list[Skipped]]] = field(default_factory=list)
    """What the binaries have shown, once somebody has looked: text that is repaired does not change them."""

    @property
    def sources(self) -> Sources:
        return Sources(dict(self.settings.run.capability_functions))

    @property
    def names(self) -> Names:
        return Names({file.real: file for file in self.found.files})


def _common_folder(paths: Sequence[str]) -> str:
    reals = [disk.real(path) for path in paths if not is_package(path)]
    if not reals:
        return disk.real(os.curdir)
    try:
        common = os.path.commonpath(reals)
    except ValueError:
        return disk.real(os.curdir)
    return common if disk.is_folder(common) else os.path.dirname(common)


def _discovered(request: CheckRequest, settings: Settings, stack: ExitStack, advance: Advance) -> Found:
    paths: list[str | Mount] = []
    wheels: list[Unpacked] = []
    for path in request.paths:
        if not is_package(path):
            paths.append(path)
            continue
        advance("downloading" if path.startswith(PREFIX) else "unpacking", 0, 0)
        try:
            opened = tuple(open_packages(path, scratch_folder(stack)))
        except SourceError as error:
            raise UsageError(str(error)) from None
        paths += [unpacked.mount for unpacked in opened]
        wheels += opened
    found = discover(paths, use_gitignore=request.use_gitignore, force_exclude=request.force_exclude)
    if found.errors:
        hints = (_slashes(one.path) or package_hint(one.path) for one in found.errors)
        lines = (f"{visible(one.path)}: {one.reason}{hint}" for one, hint in zip(found.errors, hints, strict=True))
        raise UsageError("\n".join(lines))
    beside, damaged = _beside(found.wheels, request.paths, stack, advance)
    inside = discover([unpacked.mount for unpacked in beside])
    wheels += beside
    settings.mounts = tuple(disk.real(unpacked.mount.real) + os.sep for unpacked in wheels)
    files = tuple(file for file in (*found.files, *inside.files) if not settings.is_excluded(file))
    refused = (*(skip for unpacked in wheels for skip in unpacked.skipped), *damaged)
    archives = tuple((unpacked.mount.reported, str(unpacked.archive)) for unpacked in wheels)
    return Found(files, (*refused, *found.skipped, *inside.skipped), settings.mounts, archives, found.ignored)


def _slashes(path: str) -> str:
    """The path that somebody means who writes one of Windows elsewhere; "" where that is not there either."""
    meant = path.replace("\\", "/")
    return f"; did you mean `{visible(meant)}`?" if meant != path and disk.is_there(meant) else ""


def _beside(
    wheels: Sequence[str], named: Sequence[str], stack: ExitStack, advance: Advance
) -> tuple[list[Unpacked], list[Skipped]]:
    """The wheels of named folders, as `dist`, that were not named themselves, and those that could not be read."""
    known = {disk.real(path) for path in named}
    opened: list[Unpacked] = []
    damaged: list[Skipped] = []
    for path in wheels:
        if disk.real(path) in known:
            continue
        advance("unpacking", 0, 0)
        try:
            opened += open_packages(path, scratch_folder(stack))
        except SourceError as error:
            damaged.append(Skipped(path, str(error).removeprefix(f"{path}: ")))
    return opened, damaged


def _from_stdin(request: CheckRequest, data: bytes, settings: Settings) -> tuple[Found, Collected]:
    """Standard input as the one file of the run, standing where its name says."""
    name = request.paths[0]
    real = disk.real(name)
    file = SourceFile(name, real, kind_of(os.path.basename(name)) or "python", package_root(real), named=True)
    if settings.is_excluded(file):
        return Found(), Collected((), (), ())
    if file.kind == BINARY:
        raise UsageError(f"{visible(name)}: a binary is not read from standard input")
    found = Found((file,))
    marked = (file,) if MARK.encode() in data else ()
    forget()
    module, reason = of_content(file, data, settings.own_words())
    skipped = (Skipped(name, reason),) if reason else ()
    words = sightings_of(file, data)
    seen = ((file, words),) if words else ()
    return found, Collected(() if module is None else ((file, module),), skipped, marked, seen)


def jobs_of(asked: int | None) -> int:
    if asked is not None:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return min(_MOST_JOBS, len(os.sched_getaffinity(0)))
    return min(_MOST_JOBS, os.cpu_count() or 1)


def _counted(advance: Advance, total: int) -> Callable[[int], None]:
    done = 0

    def count(number: int) -> None:
        nonlocal done
        done += number
        advance("reading", done, total)

    count(0)
    return count
