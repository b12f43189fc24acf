"""A series of patches for `git am`: one for each rule in one folder, each of use without the others;
and one for each step of a plan to port, each on top of those before it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from bwlint import __version__
from bwlint.model.escape import visible
from bwlint.model.findings import Fix, Proof
from bwlint.port.table import PortStep
from bwlint.repair.changes import Changes, TextChange, moved
from bwlint.repair.passes import Done, Repaired
from bwlint.repair.source import EditedFile
from bwlint.report.patches import Block, near, spliced
from bwlint.report.words import reasons, words
from bwlint.settings import catalog
from bwlint.sources.read import SourceText, Unread
from bwlint.sources.texts import Texts
from bwlint.sources.walk import SourceFile
from bwlint.sources.worktree import adds_returns, base_of, identity, relative

_FIRST_LINE = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
"""How a mail begins that git takes for its own; the date is always this one."""
_NAME = re.compile(r"[0-9]{4}-[A-Za-z0-9._-]*\.patch")
_SLUG = re.compile(r"[^A-Za-z0-9.]+")
_WIDTH, _SUBJECT, _SLUG_LENGTH, _LONG_PLACE = 72, 68, 52, 40
_NOBODY = ("bwlint", "bwlint@localhost")


Hunk: TypeAlias = tuple[str, int]
"""The real path of a file, and which of its groups of lines that change together."""
_MOST_NAMES = 8
_Part: TypeAlias = tuple[EditedFile, str, list[Block]]
"""A file as a patch finds it, its name there, and what the patch does to it."""


class NotOurs(ValueError):
    """A folder that holds something else than patches of bwlint; the message says what."""


@dataclass(slots=True)
class LogicalChange:
    """One logical change: the fixes in it and the hunks that they come to."""

    done: list[Done] = field(default_factory=list)
    hunks: set[Hunk] = field(default_factory=set)

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(done.wish.finding.name for done in self.done))

    @property
    def unsafe(self) -> bool:
        return any(fix.applicability == "unsafe" for done in self.done if (fix := done.wish.finding.fix))

    @property
    def place(self) -> tuple[str, int]:
        finding = self.done[0].wish.finding
        return finding.path, finding.region.line


@dataclass(frozen=True, slots=True)
class Series:
    """Patches by file name, and how many fixes only follow from others, and so are in none."""

    patches: Mapping[str, bytes]
    later: int


def series(repaired: Repaired) -> Series:
    """The patches of a run."""
    if not repaired.changed:
        return Series({}, 0)
    sources = {source.file.real: source for source in repaired.changed}
    grouped = {real: near(source.blocks) for real, source in sources.items()}
    logical, later = _logical(repaired.done, sources, grouped)
    base = base_of(sources, os.path.realpath(os.curdir))
    made = {}
    for number, change in enumerate(logical, 1):
        subject = _subject(change, base)
        name = f"{number:04}-{slug(subject)}.patch"
        made[name] = _mail(change, sources, grouped, base, f"[PATCH {number}/{len(logical)}] {subject}")
    return Series(made, later)


def _logical(
    done: Sequence[Done], sources: Mapping[str, EditedFile], grouped: Mapping[str, list[list[Block]]]
) -> tuple[list[LogicalChange], int]:
    """The changes in the order of reports, and the number of fixes that stand in none."""
    parts: list[LogicalChange] = []
    for one in done:
        _join(parts, LogicalChange([one], _hunks(one, sources, grouped)))
    found: dict[tuple[tuple[str, ...], bool, str], LogicalChange] = {}
    later = 0
    for part in parts:
        if not any(one.seen_at_first for one in part.done):
            later += len(part.done)
            continue
        key = (tuple(sorted(part.rules)), part.unsafe, str(PurePosixPath(part.place[0]).parent))
        change = found.setdefault(key, LogicalChange())
        change.done += part.done
        change.hunks |= part.hunks
    return sorted(found.values(), key=lambda change: (change.unsafe, change.place)), later


def _join(parts: list[LogicalChange], new: LogicalChange) -> None:
    """Add a part; parts that share a hunk with it become one with it."""
    touching = [part for part in parts if part.hunks & new.hunks]
    for part in touching:
        parts.remove(part)
        new.done = [*part.done, *new.done]
        new.hunks |= part.hunks
    if new.hunks:
        parts.append(new)


def _hunks(done: Done, sources: Mapping[str, EditedFile], grouped: Mapping[str, list[list[Block]]]) -> set[Hunk]:
    """The hunks in which the changes of a fix stand."""
    found = set()
    for spot in done.spots:
        source = sources.get(spot.real)
        if source is None:
            continue  # one fix undid what another did
        first = source.text.count("\n", 0, spot.start)
        last = first + source.text.count("\n", spot.start, spot.end)
        for number, group in enumerate(grouped[spot.real]):
            if group[0].start <= last + 1 and first <= group[-1].end:
                found.add((spot.real, number))
    return found


def _subject(change: LogicalChange, base: str) -> str:
    """What a change does and where, in one line."""
    titles = dict.fromkeys(_head(fix.title) for done in change.done if (fix := done.wish.finding.fix))
    where = _where(sorted({relative(real, base) for real, _ in change.hunks}))
    if len(where) > _LONG_PLACE:
        where = where.rpartition("/")[2]
    first, *rest = titles
    what = first[:1].lower() + first[1:] + (f", and {len(rest)} more" if rest else "")
    return visible(textwrap.shorten(f"{where}: {what}", _SUBJECT + len(where) // 2, placeholder="..."))


def _head(title: str) -> str:
    """A title without the spelling: a change may hold several."""
    return title.partition(": ")[0]


def _where(paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    return os.path.commonpath([str(PurePosixPath(path).parent) for path in paths]) or "tree"


def slug(subject: str) -> str:
    """A subject as a part of a file's name."""
    return _SLUG.sub("-", subject).strip("-.")[:_SLUG_LENGTH].strip("-.") or "change"


def _mail(
    change: LogicalChange,
    sources: Mapping[str, EditedFile],
    grouped: Mapping[str, list[list[Block]]],
    base: str,
    subject: str,
) -> bytes:
    by_file: dict[str, list[Block]] = defaultdict(list)
    for real, number in sorted(change.hunks, key=lambda hunk: (relative(hunk[0], base), hunk[1])):
        by_file[real] += grouped[real][number]
    parts = [(sources[real], relative(real, base), found) for real, found in by_file.items()]
    return mail(base, subject, _message(change, sources, base), parts)


def mail(base: str, subject: str, message: str, parts: Sequence[tuple[EditedFile, str, Sequence[Block]]]) -> bytes:
    """One patch: the blocks of files with the names that they have below `base`."""
    name, address = _author(base)
    date = os.environ.get("GIT_AUTHOR_DATE", "").strip()
    head = [f"From: {_header(name)} <{_header(address)}>", *([f"Date: {_header(date)}"] if date else [])]
    head += [f"Subject: {subject}", "MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8"]
    head += ["Content-Transfer-Encoding: 8bit", "", message, "---"]
    head += [_counts(told, found) for _, told, found in parts]
    text = "\n".join([*head, "", ""]).encode("utf-8", "backslashreplace")
    diffs = [_diff(source, told, found) for source, told, found in parts]
    return b"".join([_FIRST_LINE, text, *diffs, f"-- \nbwlint {__version__}\n".encode()])


def _author(base: str) -> tuple[str, str]:
    name, address = (os.environ.get(key, "").strip() for key in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"))
    if name and address:
        return name, address
    return identity(base) or _NOBODY


def _header(text: str) -> str:
    """`text` fit for one header of a mail."""
    return visible(text).replace("<", "").replace(">", "")


def _counts(name: str, found: Sequence[Block]) -> str:
    added, removed = sum(len(block.new) for block in found), sum(block.end - block.start for block in found)
    return f" {visible(name)} | {added + removed} {'+' * min(added, 20)}{'-' * min(removed, 20)}"


def _message(change: LogicalChange, sources: Mapping[str, EditedFile], base: str) -> str:
    """What, why, and the proof."""
    rules = [catalog.lookup(name) for name in change.rules]
    parts = [wrapped(rule.summary.rstrip(".") + ".") for rule in rules]
    parts += _proofs(change, sources, base)
    if change.unsafe:
        parts.append(wrapped("bwlint could not prove every part of this. Read it before you apply it."))
    parts.append("\n".join(f"bwlint rule: {rule.name} ({rule.code})" for rule in rules))
    return "\n\n".join(parts)


def _proofs(change: LogicalChange, sources: Mapping[str, EditedFile], base: str) -> list[str]:
    """What was found and the proof of its fix; places with the same proof share it."""
    grouped: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for done in change.done:
        fix = done.wish.finding.fix
        grouped[() if fix is None else proof_of(fix)].append(_found(done, sources, base))
    return ["\n".join([*found, *(wrapped(row, "    ", "      ") for row in proof)]) for proof, found in grouped.items()]


def _found(done: Done, sources: Mapping[str, EditedFile], base: str) -> str:
    finding = done.wish.finding
    real = next((spot.real for spot in done.spots if sources[spot.real].file.path == finding.path), None)
    path = finding.path if real is None else relative(real, base)
    return wrapped(f"{path}:{finding.region.line}: {finding.message}", "  ", "  ")


def proof_of(fix: Fix) -> tuple[str, ...]:
    """What a fix does, its sets before and after where it changes them, and what speaks for it and against."""
    before, after = (_sets(fix.proof, after=after) for after in (False, True))
    sets = (f"before: {before}", f"after: {after}") if before != after else ()
    return (_head(fix.title), *sets, *reasons(fix.proof))


def _sets(proof: Proof, *, after: bool) -> str:
    may, must = (proof.after_may, proof.after_must) if after else (proof.before_may, proof.before_must)
    if may == must:
        return words(may) if may else "none"
    return f"{words(may) if may else 'none'}; whatever else is true: {words(must) if must else 'none'}"


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """A text for a message, in lines."""
    lines = textwrap.wrap(
        visible(text),
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def _diff(source: EditedFile, name: str, found: Sequence[Block]) -> bytes:
    mode = "100755" if _is_executable(source.file.real) else "100644"
    return source.diff(name, found, f"index {_blob(source.data)}..{_blob(spliced(source.lines, found))} {mode}")


def _is_executable(real: str) -> bool:
    try:
        return bool(Path(real).stat().st_mode & stat.S_IXUSR)
    except OSError:
        return False


def _blob(data: bytes) -> str:
    """The name that git has for a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def save(made: Series, folder: Path) -> None:
    """Put the patches in place of those of an earlier run. Raises NotOurs for anything else there, and OSError."""
    old = check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in old:
        path.unlink()
    for name, data in made.patches.items():
        with (folder / name).open("xb") as file:
            file.write(data)


def check_folder(folder: Path) -> list[Path]:
    """The patches of an earlier run in a folder. Raises NotOurs where it holds anything else, and OSError."""
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise NotOurs(f"{visible(str(folder))} is not a folder")
    found = sorted(folder.iterdir())
    for path in found:
        if not _is_ours(path):
            raise NotOurs(f"{visible(str(folder))} has a file that is no patch of bwlint: {visible(path.name)}")
    return found


def _is_ours(path: Path) -> bool:
    if not _NAME.fullmatch(path.name) or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_FIRST_LINE)) == _FIRST_LINE


def returns_of_git(sources: Iterable[EditedFile]) -> bool:
    """Whether git keeps a repaired file with carriage returns of its own, which `git am` drops unless told."""
    return any(b"\r\n" in source.data and not adds_returns(source.file.real) for source in sources)


@dataclass(slots=True)
class _FileOnTheWay:
    """A file on the way: what is on disk, and the changes of that so far."""

    file: EditedFile
    text: SourceText
    done: Changes


def port_series(steps: Sequence[PortStep], files: Sequence[SourceFile]) -> Series:
    """The patches of the steps that have a fix, each edit in the first; `later` are those that cannot be made."""
    fixed = [step for step in steps if step.fix is not None]
    if not fixed:
        return Series({}, 0)
    known = {file.real: file for file in files}
    reals = sorted({edit.path for step in fixed if step.fix for edit in step.fix.edits})
    base = base_of(reals, os.path.realpath(os.curdir))
    states = {real: state for real in reals if (state := _state(real, known)) is not None}
    found = [(step, _parts(step, states, base)) for step in fixed]
    parts = [(step, part) for step, part in found if part]
    made = {}
    for number, (step, part) in enumerate(parts, 1):
        where = f"{relative(step.real, base)}:{step.at.line}"
        subject = visible(f"{where}: {step.fix.title}" if step.fix else where)
        name = f"{number:04}-{slug(subject)}.patch"
        made[name] = mail(base, f"[PATCH {number}/{len(parts)}] {subject}", _step_message(step), part)
    return Series(made, sum(part is None for _, part in found))


def _state(real: str, known: dict[str, SourceFile]) -> _FileOnTheWay | None:
    text = Texts().of(real)
    file = known.get(real)
    if text is None or file is None:
        return None
    made = EditedFile.of(file, text.source)
    return None if isinstance(made, str) else _FileOnTheWay(made, text, Changes())


def _parts(step: PortStep, states: dict[str, _FileOnTheWay], base: str) -> list[_Part] | None:
    """What a step does to each file as those before it leave it; None where one stands in its way."""
    by_file = defaultdict[str, list[TextChange]](list)
    for edit in step.fix.edits if step.fix else ():
        state = states.get(edit.path)
        if state is None:
            return None
        change = TextChange.of(edit, state.text)
        if change not in state.done.kept:
            by_file[edit.path].append(change)
    if not all(states[real].done.takes(change) for real, found in by_file.items() for change in found):
        return None
    parts = []
    for real, found in by_file.items():
        state = states[real]
        before = state.done.kept
        placed = [TextChange(moved(one.start, before), moved(one.end, before), one.text) for one in sorted(found)]
        here = _as_left(state)
        if here is None:
            return None
        edited = replace(here, changes=tuple(placed))
        parts.append((edited, relative(real, base), edited.blocks))
        for one in found:
            state.done.add(one)
    return parts


def _as_left(state: _FileOnTheWay) -> EditedFile | None:
    """The file as the steps so far leave it, as if it were on disk."""
    now = replace(state.file, changes=tuple(state.done.kept))
    after = now.after
    return None if isinstance(after, Unread) else EditedFile(now.file, after, now.codec, now.current)


def _step_message(step: PortStep) -> str:
    fix = step.fix
    assert fix is not None
    more = len(step.needed_by) - _MOST_NAMES
    names = ", ".join(step.needed_by[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return "\n\n".join(
        (
            wrapped(f"Needed by {names}." if names else step.said),
            "\n".join(wrapped(row, "    ", "      ") for row in proof_of(fix)),
            wrapped(f"{_covered(step.kind, fix)} on the chip before you apply it."),
        )
    )


def _covered(kind: str, fix: Fix) -> str:
    """What the proof of a fix says nothing about."""
    proof = fix.proof
    if (proof.before_may, proof.before_must) == (proof.after_may, proof.after_must):
        return "bwlint has read the edited code and not run it. Run it"
    return f"The proof covers the {'targets' if kind == 'build' else 'test'} alone. Run the code behind it"
