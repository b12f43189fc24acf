"""A baseline file: the findings that were known at some time, by content.

A finding is known by its fingerprint, which has neither path nor line, and by how many there are of it. So it stays
known where its lines move or its file gets another name, and one more of the same is new. Where it is gone from its
function, the same text in another one of its file stands for it. A finding that is graver than it was is new.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from bwlint import __version__
from bwlint.model.findings import SEVERITIES, Finding, Report, Severity
from bwlint.report import beside
from bwlint.report.write import dumps
from bwlint.settings.config import UsageError

LARGEST = 64 << 20
"""Bytes of a file."""
Key = tuple[str, str, str]
"""Fingerprint, rule and path from the baseline's root."""
_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each kind are known. `root` is the folder that their paths are told from, `contents` has
    what a fingerprint is without the function, `severities` the gravest of a key, each where that is known."""

    root: str
    known: Counter[Key]
    contents: Mapping[str, str] = field(default_factory=dict)
    severities: Mapping[Key, Severity] = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Iterable[Finding], root: str) -> Baseline:
        some = list(findings)
        contents = {finding.fingerprint: finding.content for finding in some if finding.content}
        keys = [_key(finding, root) for finding in some]
        severities = _gravest((key, finding.severity) for key, finding in zip(keys, some, strict=True))
        return cls(root, Counter(keys), contents, severities)

    def split(self, findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The findings that are new, and those that are known; each in order. One that is known at its path is taken
        first, so that of a file and its copy the copy is new."""
        keys = {id(finding): _key(finding, self.root) for finding in findings}
        graver = set[int]()

        def others(
            some: Sequence[Finding], left: Counter[_Of], was: Mapping[_Of, Severity], of: Callable[[Finding], _Of]
        ) -> list[Finding]:
            """Those that nothing in `left` stands for. What is graver than `was` takes its match, and is new."""
            unmatched = []
            for finding in some:
                if not _took(left, of(finding)):
                    unmatched.append(finding)
                elif _is_graver(finding.severity, was.get(of(finding))):
                    graver.add(id(finding))
            return unmatched

        left = self.known.copy()
        rest = others(findings, left, self.severities, lambda finding: keys[id(finding)])
        were = [(key, self.severities[key]) for key in +left if key in self.severities]
        elsewhere = Counter[str]()
        for (print_, _, _), count in left.items():
            elsewhere[print_] += count
        by_print = _gravest((print_, severity) for (print_, _, _), severity in were)
        rest = others(rest, elsewhere, by_print, lambda finding: keys[id(finding)][0])
        by_content = _gravest(((self.contents.get(print_, ""), path), severity) for (print_, _, path), severity in were)
        gone = self._gone(left, elsewhere)
        rest = others(rest, gone, by_content, lambda finding: (finding.content, keys[id(finding)][2]))
        strangers = graver.union(map(id, rest))
        new = [finding for finding in findings if id(finding) in strangers]
        return new, [finding for finding in findings if id(finding) not in strangers]

    def _gone(self, left: Counter[Key], numbers: Counter[str]) -> Counter[tuple[str, str]]:
        """The content and path of what is no longer found: `left`, as far as there are `numbers` of its fingerprint."""
        gone = Counter[tuple[str, str]]()
        numbers = numbers.copy()
        for (print_, _, path), count in left.items():
            some = min(count, numbers[print_])
            numbers[print_] -= some
            if content := self.contents.get(print_):
                gone[content, path] += some
        return gone

    def pruned(self, report: Report, paths: Iterable[str]) -> Baseline:
        """This baseline without what is no longer found in `paths`, and with the paths of today. What it knows of files
        that were not read stays."""
        unread = self.unread(report)
        asked = replace(self, known=self.known - unread.known)
        return self.outside(paths).joined(unread).joined(Baseline.of(asked.split(report.findings)[1], self.root))

    def gone(self, report: Report, paths: Iterable[str]) -> int:
        """How many of its findings are no longer found in `paths`."""
        return self.known.total() - self.pruned(report, paths).known.total()

    def unread(self, report: Report) -> Baseline:
        """What it knows of files that were not read, or lie in a folder or archive that was not."""
        unread = {beside(self.root, skip.path) for skip in report.skipped}
        return self._where(lambda key: not unread.isdisjoint((key[2], *map(str, PurePosixPath(key[2]).parents))))

    def outside(self, paths: Iterable[str]) -> Baseline:
        """What it knows of files that are in none of `paths`."""
        searched = {beside(self.root, path) for path in paths}
        return self._where(lambda key: not _is_in(key[2], searched))

    def of_others(self, rules: Collection[str]) -> Baseline:
        """What it knows of other rules than these."""
        return self._where(lambda key: key[1] not in rules)

    def _where(self, is_kept: Callable[[Key], bool]) -> Baseline:
        return replace(self, known=Counter({key: count for key, count in self.known.items() if is_kept(key)}))

    def joined(self, found: Baseline) -> Baseline:
        """Both, told from the same folder. Where both know a finding, `found` says what it is."""
        contents, severities = {**self.contents, **found.contents}, {**self.severities, **found.severities}
        return Baseline(self.root, self.known | found.known, contents, severities)


def without_known(report: Report, baseline: Baseline) -> Report:
    """The report of what is new; `stats` counts the rest as `baselined`."""
    new, old = baseline.split(report.findings)
    return replace(report, findings=tuple(new), stats={**report.stats, "baselined": len(old)})


def text_of(baseline: Baseline) -> str:
    """A baseline as its file holds it: sorted, so that a change of it is read as one."""
    rows = [
        {"path": path, "rule": rule, "fingerprint": print_, "count": count}
        | ({"content": baseline.contents[print_]} if print_ in baseline.contents else {})
        | ({"severity": baseline.severities[key]} if (key := (print_, rule, path)) in baseline.severities else {})
        for (print_, rule, path), count in baseline.known.items()
    ]
    rows.sort(key=lambda row: (str(row["path"]), str(row["rule"]), str(row["fingerprint"])))
    return dumps({"version": 1, "tool": {"name": "bwlint", "version": __version__}, "findings": rows})


def load(path: Path) -> Baseline:
    """The baseline in a file, its paths told from the folder of that. Raises UsageError."""
    try:
        if not path.is_file():
            what = "no plain file" if path.exists() else "not found"
            raise UsageError(f"{path}: {what}; `bwlint baseline` writes one")
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST >> 20} MiB")
        document = json.loads(path.read_bytes())
        if not isinstance(document, dict):
            raise ValueError("it is no object of JSON")
        if document["version"] != 1:
            raise UsageError(f"{path}: a baseline of version {document['version']!r}; this bwlint reads version 1")
        known, contents, severities = Counter[Key](), dict[str, str](), list[tuple[Key, Severity]]()
        for row in document["findings"]:
            key = _text(row, "fingerprint"), _text(row, "rule"), _text(row, "path")
            known[key] += _count(row)
            if "content" in row:
                contents[row["fingerprint"]] = _text(row, "content")
            if "severity" in row:
                severities.append((key, SEVERITIES[SEVERITIES.index(row["severity"])]))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        fault = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else error
        raise UsageError(f"{path}: no baseline of bwlint: {fault}") from None
    return Baseline(str(path.resolve().parent), known, contents, _gravest(severities))


def _is_in(path: str, searched: Iterable[str]) -> bool:
    """Whether a path is one of those, or below one; all are told from the same folder."""
    return any(posixpath.relpath(path, one).split("/")[0] != ".." for one in searched)


def _took(left: Counter[Any], key: Any) -> bool:
    if left[key] < 1:
        return False
    left[key] -= 1
    return True


def _gravest(told: Iterable[tuple[_Of, Severity]]) -> dict[_Of, Severity]:
    gravest = dict[_Of, Severity]()
    for key, severity in told:
        if key not in gravest or _is_graver(severity, gravest[key]):
            gravest[key] = severity
    return gravest


def _is_graver(severity: Severity, known: Severity | None) -> bool:
    return known is not None and SEVERITIES.index(severity) > SEVERITIES.index(known)


def _key(finding: Finding, root: str) -> Key:
    return finding.fingerprint or _print(finding), finding.rule, beside(root, finding.path)


def _print(finding: Finding) -> str:
    """For a finding without a fingerprint, such as one in a binary: what it says."""
    return sha256(f"{finding.rule}\0{finding.message}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _text(row: Any, key: str) -> str:
    value = row[key]
    if not isinstance(value, str):
        raise TypeError(f"`{key}` is no text")
    return value


def _count(row: Any) -> int:
    value = row["count"]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("`count` is no number of findings")
    return value
