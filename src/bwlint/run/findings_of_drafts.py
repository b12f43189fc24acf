"""Turn drafts into findings: columns, reported paths, fingerprints, fixes, and the user's settings."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH119

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.claims import Claimed
from bwlint.judging.drafts import Draft, RelatedSpan, Remedy
from bwlint.model.facts import Gate
from bwlint.model.findings import (
    SEVERITIES,
    Claim,
    Finding,
    Fix,
    NoFix,
    Region,
    Related,
    Severity,
    Skipped,
    Suppressed,
    fingerprint,
)
from bwlint.model.progress import Advance, each, quiet
from bwlint.readers.comments import comments_of
from bwlint.readers.nodes import definition_at
from bwlint.run.again import Again, ToldOfFile
from bwlint.run.engine import Analysis
from bwlint.run.merging import without_copies
from bwlint.settings import catalog, suppress
from bwlint.sources.faults import contained, noted
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Names, Texts
from bwlint.sources.tree import bundle, checkout_folder
from bwlint.sources.walk import SourceFile
from bwlint.world.gates import Judged


@dataclass(slots=True)
class Proofs:
    """Which fixes are looked for: those of findings of `level` and above, none without one. `ways`: all that may be
    done is looked for; `beyond`: also what changes files that nobody gave.
    """

    level: Severity | None
    ways: bool = False
    beyond: bool = False

    def wanted(self, draft: Draft) -> bool:
        """Whether the fix of a draft is looked for."""
        return self.level is not None and SEVERITIES.index(draft.severity) >= SEVERITIES.index(self.level)


Enabled = Callable[[SourceFile], frozenset[str]]
"""The names of the rules that run on a file."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Findings in the order of reports, those that comments silence, and files that went away meanwhile."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    skipped: tuple[Skipped, ...]


def finish(
    analysis: Analysis,
    marked: Sequence[SourceFile],
    texts: Texts,
    names: Names,
    enabled: Enabled,
    advance: Advance = quiet,
    *,
    proofs: Proofs,
    again: Again | None = None,
) -> Finished:
    """The findings of a run. `marked` are the files with comments of bwlint."""
    # The run itself stays, and is made old without a look: after a file only what its proofs have made is gone through.
    gc.freeze()
    gc.unfreeze()
    drafts = {file.real: found for file, found in without_copies(analysis.drafts, enabled)}
    told = {} if again is None else again.told
    before = [file for real, file in analysis.files.items() if real in told]
    files = {file.real: file for file in (*(file for file, _ in analysis.drafts), *before, *marked)}
    order = {real: at for at, real in enumerate(analysis.files)}
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    skipped: list[Skipped] = []
    ordered = sorted(files.values(), key=lambda file: order.get(file.real, len(order)))
    for file in each(advance, "proving fixes" if proofs.level else "telling", ordered):
        as_before = told.get(file.real)
        if as_before is not None:
            findings += as_before.findings
            suppressed += as_before.suppressed
            names.reals.update(as_before.reals)
            continue
        with nullcontext() if again is None else again.about(file.real):
            text = texts.of(file.real)
        if text is None:
            skipped.append(Skipped(file.path, "not readable any more"))
            continue
        own = Names(names.files)
        own.reported(file.real, file)
        one = _ReportedFile(analysis, file, text, texts, own, enabled(file), proofs)
        kept, silenced, begun = list[Finding](), list[Suppressed](), len(noted())
        with nullcontext() if again is None else again.about(file.real), contained(file.real, "telling findings"):
            kept, silenced = one.finish(drafts.get(file.real, ()))
        names.reals.update(own.reals)
        if again is not None and file.real in analysis.found and not (analysis.found[file.real].faults or noted(begun)):
            found = analysis.found[file.real]
            again.tell(file.real, ToldOfFile(tuple(kept), tuple(silenced), *found.left, tuple(own.reals.items())))
        if proofs.level and file.real in drafts:
            gc.collect(1)
        findings += kept
        suppressed += silenced
    for real in analysis.found if again is not None else ():
        if again is not None and real not in files and not analysis.found[real].faults:
            one_found = analysis.found[real]
            again.tell(real, ToldOfFile((), (), *one_found.left, reals=()))
    return Finished(
        tuple(sorted(findings, key=_place)),
        tuple(sorted(suppressed, key=lambda entry: _place(entry.finding))),
        tuple(skipped),
    )


@dataclass(frozen=True, slots=True)
class _ReportedFile:
    """One file and what its findings need to know."""

    analysis: Analysis
    file: SourceFile
    text: SourceText
    texts: Texts
    names: Names
    enabled: frozenset[str]
    proofs: Proofs

    def finish(self, drafts: Sequence[Draft]) -> tuple[list[Finding], list[Suppressed]]:
        """What is reported of the drafts and the comments of the file, and what its comments silence."""
        wanted = [draft for draft in drafts if draft.rule.name in self.enabled]
        findings = self._fingerprinted(wanted)
        language = comments_of(self.file.kind, os.path.basename(self.file.real))
        suppressions, bad = suppress.scan(self.text.source, catalog.known_ids(), language)
        kept, silenced, unused = suppress.apply(findings, suppressions)
        faults = [self._fault(catalog.BAD, entry.region, entry.message) for entry in bad]
        faults += [
            self._fault(catalog.UNUSED, entry.region, _unused(names))
            for entry in unused
            if (names := self._checked(entry.rules))
        ]
        faults, silenced_faults, _ = suppress.apply(
            [fault for fault in faults if fault.name in self.enabled], suppressions
        )
        return kept + faults, silenced + silenced_faults

    def _checked(self, codes: Sequence[str]) -> list[str]:
        """The names of those rules that had their chance to find something here."""
        found = [catalog.lookup(code).name for code in codes]
        return [name for name in found if name in self.enabled and name not in (catalog.UNUSED, catalog.BAD)]

    def _fingerprinted(self, drafts: Sequence[Draft]) -> list[Finding]:
        seen: Counter[tuple[str, str, str]] = Counter()
        judged = self._judged(drafts)
        findings = []
        for draft in sorted(drafts, key=lambda draft: (draft.at, draft.rule.name)):
            with contained(draft.module.path, f"telling {draft.rule.name}", draft.at.line):
                rests_on = [judged[id(gate)] for gate in (draft.gate, *draft.rests_on) if id(gate) in judged]
                finding = self._finding(draft, judged.get(id(draft.gate)), rests_on)
                key = (finding.name, _between(self.text, finding.region), self._qualname(draft))
                content = fingerprint(*key[:2], "", 0)
                told, within = fingerprint(*key, seen[key]), key[2].removeprefix("<module>")
                findings.append(
                    replace(finding, fingerprint=told, content=content, bundled=self._bundle, within=within)
                )
                seen[key] += 1
        return findings

    @property
    def _bundle(self) -> str:
        """The folder of another project that the file comes with, as reports call it; "" for none."""
        real, path = self.file.real, self.file.path
        found = bundle(real.rpartition(os.sep)[0], checkout_folder(self.file.root))
        inside = real.removeprefix(found).replace(os.sep, "/") if found else ""
        return path.removesuffix(inside) if inside and path.endswith(inside) else ""

    def _qualname(self, draft: Draft) -> str:
        """The function or class around a draft. Facts hold only the functions that matter, and which do may change with
        a line far away: where no gate says it, Python's own syntax does.
        """
        if draft.gate is not None:
            return draft.gate.qualname
        if draft.module.language == "python":
            return definition_at(self.text.source, draft.at.line)
        around = [function for function in draft.module.functions.values() if function.at.holds(draft.at)]
        return max(around, key=lambda function: function.at[:2]).qualname if around else "<module>"

    def _judged(self, drafts: Sequence[Draft]) -> dict[int, Judged]:
        """The gates of the drafts with their sets."""
        modules = {draft.module.path for draft in drafts if draft.gate is not None or draft.rests_on}
        return {id(entry.gate): entry for path in modules for entry in self.analysis.context.judged.get(path, ())}

    def _finding(self, draft: Draft, judged: Judged | None, rests_on: Sequence[Judged]) -> Finding:
        rule = catalog.lookup(draft.rule.name)
        fix, ways = self._fix(draft, judged)
        return Finding(
            rule=rule.code,
            name=rule.name,
            category=draft.category or rule.category,
            severity=draft.severity,
            confidence=draft.confidence,
            path=self.file.path,
            region=self.text.region(*draft.at),
            message=draft.message,
            admitted=draft.place.admitted.names,
            certain=draft.place.certain.names,
            legal=None if draft.legal is None else draft.legal.names,
            label=draft.label,
            advice=draft.advice,
            related=self._related(draft),
            fix=fix if isinstance(fix, Fix) else None,
            fix_refused=fix.reason if isinstance(fix, NoFix) else None,
            ways=ways,
            claims=(*self._gate_claims(draft, rests_on), *(self._claim(claimed) for claimed in draft.claims)),
        )

    def _claim(self, claimed: Claimed) -> Claim:
        """A claim with its place; without one where the file went away meanwhile."""
        claim, at = claimed.claim, claimed.at
        if claimed.module is None or claimed.module.path == self.file.real:
            return claim if at is None else replace(claim, at=self.text.region(*at))
        text = self.texts.of(claimed.module.path)
        place = None if text is None or at is None else text.region(*at)
        return replace(claim, at=place, path=self.names.reported(claimed.module.path, self.file))

    def _gate_claims(self, draft: Draft, rests_on: Sequence[Judged]) -> Iterator[Claim]:
        """What a finding says of its gates, where they are of the running program and ask for the device."""
        asked = draft.compares or self.analysis.context.targets
        for judged in rests_on:
            if not judged.sets.flags:
                yield gate_claim(judged, asked, self.text.region(*judged.gate.at))

    def _related(self, draft: Draft) -> tuple[Related, ...]:
        found: dict[Related, None] = {}
        says = "in a copy of this file too"
        copies = (RelatedSpan(copy.module, copy.at, says, draft.rule.name) for copy in draft.copies)
        for entry in (*draft.related, *copies):
            text = self.texts.of(entry.module.path)
            if text is not None:
                path = self.names.reported(entry.module.path, self.file)
                rule = catalog.lookup(entry.rule).code if entry.rule else ""
                found[Related(path, text.region(*entry.at), entry.message, rule)] = None
        return tuple(found)

    def _fix(self, draft: Draft, judged: Judged | None) -> tuple[Fix | NoFix | None, tuple[Fix, ...]]:
        """The fix of a draft, or why it has none, and the ways that there are where a person has to choose."""
        remedy = draft.remedy
        if remedy is None and draft.severity != "note":
            _, found, why = catalog.lookup(draft.rule.name).fix.rpartition("none: ")
            return (NoFix(why.rstrip(".")) if found else None), ()
        if not isinstance(remedy, Remedy):
            return remedy, ()
        if not self.proofs.wanted(draft):
            return None, ()
        from bwlint.fix import Job, joined, propose, ways

        job = Job(self.analysis.context, draft, remedy, judged, self.file.root, self.text.source)
        proposed: Fix | NoFix = NoFix("an internal error: please report it")
        others: tuple[Fix, ...] = ()
        with contained(draft.module.path, f"fixing {draft.rule.name}", draft.at.line):
            proposed = propose(job)
            for one in draft.merged:
                gate = next((at for at in self.analysis.context.beside(one.module) if at.gate is one.gate), None)
                if isinstance(proposed, Fix) and isinstance(one.remedy, Remedy):
                    proposed = joined(proposed, propose(replace(job, draft=one, remedy=one.remedy, judged=gate)))
            others = ways(job, proposed) if self.proofs.ways else ()
        ways_told = (self._told(draft, one) for one in others)
        told = proposed if isinstance(proposed, NoFix) else self._told(draft, proposed)
        return told, tuple(one for one in ways_told if isinstance(one, Fix))

    def _told(self, draft: Draft, fix: Fix) -> Fix | NoFix:
        """A fix with that of the copies of the file, and with the names that reports give to files."""
        own = [edit for edit in fix.edits if edit.path == draft.module.path]
        copied = (replace(edit, path=copy.module.path) for copy in draft.copies for edit in own)
        reported = self.names.reported
        edits = tuple(replace(edit, path=reported(edit.path, self.file)) for edit in (*fix.edits, *copied))
        away = [edit.path for edit in edits if self.names.real(edit.path) not in self.names.files]
        if away and not self.proofs.beyond:
            return NoFix(f"it changes {away[0]} too, which is not among the given paths")
        return replace(fix, edits=edits)

    def _fault(self, name: str, region: Region, message: str) -> Finding:
        """A finding about a comment."""
        rule = catalog.lookup(name)
        text = _between(self.text, region)
        return Finding(
            rule=rule.code,
            name=rule.name,
            category=rule.category,
            severity=rule.severity,
            confidence="high",
            path=self.file.path,
            region=region,
            message=message,
            fingerprint=fingerprint(rule.name, text, "", 0),
        )


def _place(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.region.line, finding.region.column, finding.rule


_FEW = 2
_VERBS = {
    "lookup": ("finds a row on", "may find one on", "finds none on"),
    "list": ("names", "may name", "does not name"),
    "table": ("has a row for", "may have one for", "has none for"),
    "helper-call": ("returns on", "may return on", "does not return on"),
}
_NOUNS = {"lookup": "lookup", "list": "list", "table": "table", "helper-call": "call"}


def gate_claim(judged: Judged, asked: ChipSet, at: Region) -> Claim:
    """What the interpreter says of a gate on the chips asked for. `at` is the place of its test."""
    gate, sets = judged.gate, judged.sets
    holds, certain, raises = ((asked & chips).names for chips in (sets.may, sets.must, sets.raises))
    says = _outcomes(gate, asked.names, holds, certain, raises)
    says += ", if its checks of the CUDA version pass" if sets.toolkit else ""
    return Claim("gate", says, asked.names, (), holds, certain, raises, claimed_test(gate), at=at)


def _outcomes(
    gate: Gate, asked: Sequence[str], holds: Sequence[str], certain: Sequence[str], raises: Sequence[str]
) -> str:
    """A gate's outcomes on chips as a sentence: the test `cap == 120` holds on 12.0 and fails on 12.1."""
    always, maybe, never = _VERBS.get(gate.kind, ("is true on", "may be true on", "is false on"))
    outcomes = (
        (always, certain),
        (maybe, [name for name in holds if name not in certain]),
        ("raises on", raises),
        (never, [name for name in asked if name not in holds and name not in raises]),
    )
    parts = [f"{verb} {_named(names)}" for verb, names in outcomes if names]
    text = " ".join(gate.text.split())
    return (
        f"the {_NOUNS.get(gate.kind, 'test')} `{text}` "
        + ", ".join(parts[:-1])
        + " and " * (len(parts) > 1)
        + parts[-1]
    )


def _named(chips: Sequence[str]) -> str:
    return " and ".join(chips) if len(chips) <= _FEW else plain(ChipSet.of(*chips))


def claimed_test(gate: Gate) -> str:
    """The test of a gate as text: what stands there, and of a lookup whether the mapping has the key."""
    if gate.kind != "lookup":
        return gate.text
    from bwlint.readers.python.gates import membership

    # the text of a long one is cut
    return membership(gate.text) or f"the key of {gate.text}"


def _unused(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"There is nothing of {listed} to suppress here."


def _between(text: SourceText, region: Region) -> str:
    return text.source[slice(*text.bounds(region))]
