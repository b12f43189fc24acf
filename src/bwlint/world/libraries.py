"""What libraries need, by the names that code uses (`chips/libraries.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from bwlint.chips import EVERY, ChipSet, group
from bwlint.chips.operations import on_the_host
from bwlint.chips.words import said
from bwlint.data import any_of, table
from bwlint.model.expr import Span
from bwlint.model.facts import Hop, Use
from bwlint.model.kinds import NUMBER, How
from bwlint.model.naming import spoken
from bwlint.sources.recorder import memory
from bwlint.sources.tree import package_root, project_folder

if TYPE_CHECKING:
    from bwlint.world.requirements import Pins

PROOF, NAME = "proof", "name"
_WITHOUT = re.compile(rf"(?:^|[_\W])(?:{said('without-in-names')})(?![a-z])", re.I)
_QUESTION = re.compile(
    r"_*(?:is|has|have|can|should|supports?|match(?:es)?|check|require|skip|needs|use|enable|warn|validate|log|get)_"
)
_ASKED = re.compile(r"[a-z](?:Is|Has)[A-Z]")
"""`TargetIsSm100`, `DeviceHasTmem`."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that works only on `legal`. `use` is where it is named, `hops` lead to where it is proved.

    `arriving` are the chips that the gates on that way may let come, `kind` is one of `reach.RANK`, `where`
    names the definition at the end of the way, `operation` the instruction or atom at the last hop that proves it, and
    `pairs` what a build there asks nvcc for. `ordering`: it only orders data for what works there.
    """

    legal: ChipSet
    strength: str
    what: str
    source: str
    use: Use
    hops: tuple[Hop, ...] = ()
    arriving: ChipSet = EVERY
    kind: str = "library"
    where: str = ""
    operation: Use | None = None
    pairs: tuple[str, ...] = ()
    ordering: bool = False


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One row of the table, or of the user's.

    `name` is matched whole, between word borders. For strings, `role` is searched in what the string is assigned to or
    passed as, and `call` matched with the function that it is passed to. `versions` is a range of `library`'s; a row
    that is `pinned` says nothing of a project that does not say which version it uses.
    """

    name: re.Pattern[str]
    how: frozenset[How]
    chips: ChipSet
    strength: str
    what: str
    source: str
    role: re.Pattern[str] = re.compile("")
    call: re.Pattern[str] | None = None
    library: str = ""
    versions: str = ""
    pinned: bool = False
    ordering: bool = False

    def matches(self, use: Use) -> bool:
        if use.how not in self.how:
            return False
        if not any(self.name.fullmatch(part) for part in _parts(use.how, use.name)):
            return False
        called = self.call is None or self.call.fullmatch(use.call) is not None
        return use.how != "text" or (called and self.role.search(use.role) is not None)


def _parts(how: How, name: str) -> tuple[str, ...]:
    """What of a use may be the name of a row: a string as it is; a dotted name and each of its parts."""
    if how == "text":
        return (name,)
    dotted = _borders(name)
    return (dotted, *dotted.split("."))


@cache
def _rows(kind: str) -> tuple[LibraryRow, ...]:
    return tuple(row_of(row) for row in table("libraries")[kind])


def row_of(row: dict[str, Any]) -> LibraryRow:
    """A row of the table, parsed."""
    call = row.get("call")
    return LibraryRow(
        re.compile(rf"(?<![A-Za-z0-9])(?:{row['name']})(?![A-Za-z0-9])"),
        frozenset(row.get("how", ())),
        ChipSet.of(*row["chips"]) if "chips" in row else _with_machine(row["needs"]),
        row.get("strength", PROOF),
        row["what"],
        row["source"],
        re.compile(row.get("role", "")),
        re.compile(call) if call else None,
        row.get("library", ""),
        row.get("versions", ""),
        row.get("pinned", False),
        row.get("ordering", False),
    )


def own_row(name: str, chips: Iterable[str], what: str, source: str) -> LibraryRow:
    """A row of the user's: a dotted name, at its full length or without its first parts, with `*` within a part."""
    parts = (re.escape(part).replace(r"\*", r"\w*") for part in name.split("."))
    pattern = re.compile(r"(?:[\w.]*\.)?" + r"\.".join(parts))
    return LibraryRow(pattern, frozenset({"call", "import"}), ChipSet.of(*chips), PROOF, what, source)


def _with_machine(needs: str) -> ChipSet:
    """The chips of which some product may stand in a machine that has what is needed."""
    row = next(row for row in table("libraries")["machine"] if row["needs"] == needs)
    return EVERY - group(row["lacking"]) if "lacking" in row else EVERY


@cache
def _distributions() -> frozenset[str]:
    """The canonical names of the libraries whose version matters."""
    from packaging.utils import canonicalize_name

    return frozenset(
        canonicalize_name(row.library) for kind in ("need", "works") for row in _rows(kind) if row.versions
    )


def is_question(name: str) -> bool:
    """Whether a dotted name asks whether something is there, or makes it ready: that is no use of it."""
    last = name.rpartition(".")[2]
    return _QUESTION.match(last) is not None or _ASKED.search(last) is not None


class Libraries:
    """The table as the projects of a run see it, the user's rows first; `path` says whose pinned versions count."""

    def __init__(self, own: tuple[LibraryRow, ...] = ()) -> None:
        self._own = own
        self._pins: dict[str, Pins] = memory()

    def need(self, path: str, use: Use) -> Need | None:
        if use.role == NUMBER:
            return None
        row = next((row for row in self._matching("need", use) if self._counts(row, path)), None)
        if row is None:
            return None
        need = need_of(row, use)
        return replace(need, strength=NAME) if row.versions and self.is_outgrown(path, use) else need

    def is_outgrown(self, path: str, use: Use) -> bool:
        """Whether a use needed chips with a library of which the project may use a newer version, too."""
        rows = [row for row in self._matching("need", use) if row.library]
        last = rows[0].versions.rpartition(",")[2] if len(rows) == 1 else ""
        newer = f">{last[2:]}" if last[:2] == "<=" else f">={last[1:]}"
        return last[:1] == "<" and self._pinned_at(path).admit(rows[0].library, newer)

    def of_user(self, use: Use) -> Need | None:
        return next((need_of(row, use) for row in self._own if row.matches(use)), None)

    def by_name(self, path: str, names: Iterable[str], at: Span, how: How = "define") -> Need | None:
        """What the names around a gate (function, class) or the words of a skip reason say is behind it."""
        rows = [row for row in (*self._own, *_rows("need")) if row.strength == PROOF and "define" in row.how]
        for name in names:
            for row in rows:
                found = row.name.search(_borders(name))
                if found and self._counts(row, path):
                    return need_of(row, Use(found[0], how, at))
        return None

    def by_text(self, path: str, text: str, at: Span) -> Need | None:
        """What a backend string stands for."""
        return self.need(path, Use(text, "text", at))

    def works(self, path: str, uses: Iterable[Use]) -> Need | None:
        """Something that is known to work on 12.x."""
        rows = ((row, use) for use in uses for row in self._matching("works", use))
        return next((need_of(row, use) for row, use in rows if self._counts(row, path)), None)

    def _matching(self, kind: str, use: Use) -> Iterator[LibraryRow]:
        if kind == "need":
            yield from (row for row in self._own if row.matches(use))
        if _is_named(kind, use.how, use.name):
            yield from (row for row in _rows(kind) if row.matches(use))

    def _counts(self, row: LibraryRow, path: str) -> bool:
        """Whether the project of a file may use a version for which a row is true."""
        known = self._pinned_at(path) if row.versions else None
        return known is None or (
            known.admit(row.library, row.versions) and (not row.pinned or known.knows(row.library))
        )

    def _pinned_at(self, path: str) -> Pins:
        folder = project_folder(package_root(path))
        if folder not in self._pins:
            from bwlint.world.requirements import pins

            self._pins[folder] = pins(folder, _distributions())
        return self._pins[folder]


@lru_cache(maxsize=1 << 16)
def _is_named(kind: str, how: How, name: str) -> bool:
    """Whether a name is that of any row: most are not, and none that is known to work everywhere."""
    if kind == "need" and how != "text" and any_of("libraries", "anywhere").match(name):
        return False
    names = _any_name(kind, how)
    return any(names.fullmatch(part) for part in _parts(how, name))


@cache
def _any_name(kind: str, how: How) -> re.Pattern[str]:
    """All names of the rows that count for `how` in one expression."""
    return re.compile("|".join(row.name.pattern for row in _rows(kind) if how in row.how) or "(?!)")


def need_of(row: LibraryRow, use: Use) -> Need:
    return Need(row.chips, row.strength, row.what, row.source, use, ordering=row.ordering)


def _borders(name: str) -> str:
    return name.replace("-", "_")


def called_after(name: str, at: Span) -> Need | None:
    """The instruction that a name speaks of; none where it says that it does without, or is that of a layout."""
    return None if _WITHOUT.search(name) or on_the_host(name) else instruction(name.replace("_", " "), at)


def instruction(text: str, at: Span) -> Need | None:
    """An instruction that a comment or message names."""
    for row in _rows("instruction"):
        found = row.name.search(text)
        if found:
            return need_of(row, Use(found[0], "text", at))
    return None


@cache
def _names(kind: str) -> re.Pattern[str]:
    return re.compile(table("libraries")[kind]["names"], re.IGNORECASE)


def named_for_others(text: str) -> bool:
    """Whether names speak of chips or libraries of another generation: a gate that says so means it."""
    return _names("for_others").search(text) is not None


def built_for_others(text: str) -> bool:
    """Whether the names of files and functions say that their kernels are another generation's."""
    return _names("built_for_others").search(text) is not None


def is_called_for_others(name: str) -> bool:
    """Whether a name or a path speaks of a generation or a library that 12.x are not meant by."""
    said = spoken(name)
    return built_for_others(said.replace("_", " ")) or _names("called_for_others").search(said) is not None
