"""A baseline file: the findings that were known at some time, by content.

A finding is known by its fingerprint, which has neither path nor line, and by how many there are of it. So it stays
known where its lines move or its file gets another name, and one more of the same is new. Where it is gone from its
function, the same text in another one of its file stands for it.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from bwlint import __version__
from bwlint.model.findings import Finding, Report
from bwlint.report.encode import dumps
from bwlint.report.paths import beside
from bwlint.settings.config import UsageError

LARGEST = 64 << 20
"""Bytes of a file."""
Key = tuple[str, str, str]
"""Fingerprint, rule and path from the baseline's root."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each kind are known. `root` is the folder that their paths are told from, `contents` has
    what a fingerprint is without the function, where that is known."""

    root: str
    known: Counter[Key]
    contents: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Iterable[Finding], root: str) -> Baseline:
        some = list(findings)
        contents = {finding.fingerprint: finding.content for finding in some if finding.content}
        return cls(root, Counter(_key(finding, root) for finding in some), contents)

    def split(self, findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The findings that are new, and those that are known; each in order. One that is known at its path is taken
        first, so that of a file and its copy the copy is new."""
        keys = {id(finding): _key(finding, self.root) for finding in findings}
        left = self.known.copy()
        others = [finding for finding in findings if not _took(left, keys[id(finding)])]
        elsewhere = Counter[str]()
        for (print_, _, _), count in left.items():
            elsewhere[print_] += count
        others = [finding for finding in others if not _took(elsewhere, keys[id(finding)][0])]
        gone = self._gone(left, elsewhere)
        strangers = {id(finding) for finding in others if not _took(gone, (finding.content, keys[id(finding)][2]))}
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

    def pruned(self, findings: Sequence[Finding], paths: Iterable[str]) -> Baseline:
        """This baseline without what is no longer found in `paths`, and with the paths of today."""
        searched = {beside(self.root, path) for path in paths}
        found = Baseline.of(self.split(findings)[1], self.root)
        unasked = {key: count for key, count in self.known.items() if not _is_in(key[2], searched)}
        return Baseline(self.root, Counter(unasked) | found.known, {**self.contents, **found.contents})


def without_known(report: Report, baseline: Baseline) -> Report:
    """The report of what is new; `stats` counts the rest as `baselined`."""
    new, old = baseline.split(report.findings)
    return replace(report, findings=tuple(new), stats={**report.stats, "baselined": len(old)})


def text_of(baseline: Baseline) -> str:
    """A baseline as its file holds it: sorted, so that a change of it is read as one."""
    rows = [
        {"path": path, "rule": rule, "fingerprint": print_, "count": count}
        | ({"content": baseline.contents[print_]} if print_ in baseline.contents else {})
        for (print_, rule, path), count in baseline.known.items()
    ]
    rows.sort(key=lambda row: (str(row["path"]), str(row["rule"]), str(row["fingerprint"])))
    return dumps({"version": 1, "tool": {"name": "bwlint", "version": __version__}, "findings": rows})


def load(path: Path) -> Baseline:
    """The baseline in a file, its paths told from the folder of that. Raises UsageError."""
    try:
        if not path.is_file():
            raise UsageError(f"{path}: no plain file; `bwlint baseline` writes one")
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST >> 20} MiB")
        document = json.loads(path.read_bytes())
        if document["version"] != 1:
            raise UsageError(f"{path}: a baseline of version {document['version']!r}; this bwlint reads version 1")
        known, contents = Counter[Key](), dict[str, str]()
        for row in document["findings"]:
            known[_text(row, "fingerprint"), _text(row, "rule"), _text(row, "path")] += _count(row)
            if "content" in row:
                contents[row["fingerprint"]] = _text(row, "content")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: no baseline of bwlint: {type(error).__name__}: {error}") from None
    return Baseline(str(path.resolve().parent), known, contents)


def _is_in(path: str, searched: Iterable[str]) -> bool:
    """Whether a path is one of those, or below one; all are told from the same folder."""
    return any(posixpath.relpath(path, one).split("/")[0] != ".." for one in searched)


def _took(left: Counter[Any], key: Any) -> bool:
    if left[key] < 1:
        return False
    left[key] -= 1
    return True


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
