"""People's decisions about audit rows, in `bwlint-audit.toml`.

People write in the file too: an edit leaves their words, their comments and their order as they are. The file may come
with a tree that nobody trusts: it names nothing that is read or written.
"""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH120

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bwlint.model.escape import HIDDEN, SHORT
from bwlint.model.ledger import SAID, Decision, Ledger, Row, RowKind, Said
from bwlint.settings.catalog import did_you_mean
from bwlint.settings.config import ConfigError, UsageError, parse, told, type_of
from bwlint.sources import disk
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.worktree import top_of

NAME = "bwlint-audit.toml"
_HEAD = "# Decisions about the rows of `bwlint audit`; --decide adds to it.\nversion = 1\n"
_LARGEST = 2 << 20
_MOST_DOTS = 100
"""In a line: a parser of TOML needs time that grows with the square of the parts of a key."""
_MOST_PLACES = 3
_MOST_TEXT = 200
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_BEGIN = re.compile(r"^[ \t]*\[\[[ \t]*decision[ \t]*\]\]", re.MULTILINE)
_ESCAPED = re.compile(rf'["\\]|{HIDDEN.pattern}')
_KEYS = ("row", "verdict", "reason", "who", "date", "question", "subject", "places")


def root_of(config: str | None, folder: str) -> str:
    """The folder of the project that decisions belong to: that of the configuration file of a run, else the top of the
    git tree around `folder` (a real path), else that."""
    return os.path.dirname(config) if config else top_of(folder) or folder


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a file, in its order; `text` is what is written in it, "" where there is none."""

    file: str
    text: str = ""
    made: tuple[Decision, ...] = ()

    def with_one(self, decision: Decision, row: Row) -> Decisions:
        """With a decision about a row, in place of the one that was made about it before. Raises UsageError."""
        text, new = self.text or _HEAD, _written(decision, row)
        (read,) = _made(self.file, f"version = 1\n{new}".encode())  # without what TOML cannot hold
        prints = [known.fingerprint for known in self.made]
        if decision.fingerprint not in prints:
            end = "" if text.endswith("\n") else "\n"
            return self._edited([text, end, "\n", new], (*self.made, read))
        at = prints.index(decision.fingerprint)
        head, *blocks = _blocks(text)
        if at < len(blocks):
            comment = _BEGIN.split(blocks[at])[0]
            blocks[at] = f"{comment}{new}" + "\n" * (at < len(blocks) - 1)
        return self._edited([head, *blocks], (*self.made[:at], read, *self.made[at + 1 :]))

    def without(self, fingerprints: Collection[str]) -> Decisions:
        """Without the decisions about these rows. Raises UsageError."""
        kept = tuple(known for known in self.made if known.fingerprint not in fingerprints)
        if kept == self.made:
            return self
        head, *blocks = _blocks(self.text)
        left = [block for block, known in zip(blocks, self.made, strict=False) if known.fingerprint not in fingerprints]
        return self._edited([head, *left], kept)

    def _edited(self, pieces: Sequence[str], made: tuple[Decision, ...]) -> Decisions:
        text = "".join(pieces)
        try:
            if len(data := text.encode()) <= _LARGEST and _made(self.file, data) == made:
                return Decisions(self.file, text, made)
        except ConfigError:
            pass
        raise UsageError(f"{self.file}: too large, or written in a form that bwlint does not edit: edit it by hand")


def load(file: str) -> Decisions:
    """The decisions in a file; none where there is no such file. Raises ConfigError."""
    if not disk.exists(file):
        return Decisions(file)
    data = read_bytes(file, _LARGEST)
    if isinstance(data, Unread):
        raise ConfigError(f"{file}: {data.reason}")
    made = _made(file, data)
    return Decisions(file, data.decode(), made)


def apply(ledger: Ledger, made: Sequence[Decision]) -> Ledger:
    """The ledger as people have decided. `stale` are the decisions about rows that it does not have. fine the row
    passes, for every chip; its reason is that somebody said so broken the row fails, for the chips for which it did not
    pass, or for all later the row stays what it is"""
    decisions = {decision.fingerprint: decision for decision in made}
    rows = tuple(
        _decided(row, decisions[row.fingerprint]) if row.fingerprint in decisions else row for row in ledger.rows
    )
    there = {row.fingerprint for row in rows}
    stale = tuple(decision for decision in made if decision.fingerprint not in there)
    return replace(ledger, rows=rows, stale=stale)


def _decided(row: Row, decision: Decision) -> Row:
    decision = replace(decision, was=row.kind)
    if decision.said == "later":
        return replace(row, decision=decision)
    kind: RowKind = "pass" if decision.said == "fine" else "fail"
    stays = kind == "fail" and row.kind != "pass"
    verdicts = tuple((chip, "pass" if stays and said == "pass" else kind) for chip, said in row.verdicts)
    return replace(row, kind=kind, verdicts=verdicts, why=f"decided: {decision.reason}", decision=decision)


def _made(file: str, data: bytes) -> tuple[Decision, ...]:
    """The decisions that a file holds. Raises ConfigError."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > _MOST_DOTS:
            raise ConfigError(f"{file}: line {number} has more than {_MOST_DOTS} dots: break it up")
    document = parse(file, data)
    for key in document:
        if key not in ("version", "decision"):
            raise ConfigError(f"{file}: `{key}`: unknown key{did_you_mean(key, ('version', 'decision'))}")
    version = document.get("version")
    if version != 1 or isinstance(version, bool):
        raise ConfigError(f"{file}: `version`: expected 1, which this bwlint reads, found {version!r}")
    tables = document.get("decision", [])
    if not isinstance(tables, list):
        raise ConfigError(f"{file}: `decision`: expected tables ([[decision]]), found {type_of(tables)}")
    made: dict[str, Decision] = {}
    for number, table in enumerate(tables, 1):
        decision = _decision(f"{file}: decision {number}", table)
        if decision.fingerprint in made:
            raise ConfigError(f"{file}: decision {number}: row {decision.fingerprint} has a decision above")
        made[decision.fingerprint] = decision
    return tuple(made.values())


def _decision(where: str, table: object) -> Decision:
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: expected a table, found {type_of(table)}")
    row = table.get("row")
    if not isinstance(row, str) or not _FINGERPRINT.fullmatch(row):
        raise ConfigError(f"{where}: `row`: expected 32 digits 0-9a-f, found {'nothing' if row is None else told(row)}")
    where = f"{where} (row {row[:8]})"
    for key in table:
        if key not in _KEYS:
            raise ConfigError(f"{where}: `{key}`: unknown key{did_you_mean(key, _KEYS)}")
    verdict, reason = _text(where, table, "verdict"), _text(where, table, "reason")
    if not reason.strip():
        raise ConfigError(f"{where}: `reason`: expected the reason for the decision")
    return Decision(row, _said(where, verdict), reason, _text(where, table, "who"), _date(where, table.get("date", "")))


def _text(where: str, table: dict[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ConfigError(f"{where}: `{key}`: expected a string, found {type_of(value)}")
    return value


def _said(where: str, word: str) -> Said:
    for said in SAID:
        if word == said:
            return said
    raise ConfigError(f"{where}: `verdict`: expected one of {', '.join(SAID)}, found {word or 'nothing'!r}")


def _date(where: str, value: object) -> str:
    if type(value) is date:  # 2026-11-28 without quotes
        return value.isoformat()
    if isinstance(value, str) and (not value or re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII)):
        return value
    raise ConfigError(f"{where}: `date`: expected a date such as 2026-11-28, found {told(value)}")


def _blocks(text: str) -> list[str]:
    """What stands in front of the decisions of a file, and each of them with the comment above it."""
    lines = text.splitlines(keepends=True)
    begins, comment = [0], None
    for number, line in enumerate(lines):
        if _BEGIN.match(line):
            begins.append(number if comment is None else comment)
        if not line.lstrip().startswith("#"):
            comment = None
        elif comment is None:
            comment = number
    return ["".join(lines[begin:end]) for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


def _written(decision: Decision, row: Row) -> str:
    """A decision as the file has it, with what people want to know of its row."""
    places = [_quoted(f"{place.path}:{place.line}") for place in row.places[:_MOST_PLACES]]
    values = {
        "row": decision.fingerprint,
        "verdict": decision.said,
        "reason": decision.reason,
        "who": decision.who,
        "date": decision.date,
        "question": row.question[:_MOST_TEXT],
        "subject": row.subject[:_MOST_TEXT],
    }
    told = "".join(f"{key} = {_quoted(value)}\n" for key, value in values.items() if value)
    return f"[[decision]]\n{told}places = [{', '.join(places)}]\n"


def _quoted(text: str) -> str:
    """A string of TOML on one line. What a terminal obeys or hides is an escape; TOML has none for a lone surrogate."""
    held = text.encode("utf-8", "replace").decode()
    return f'"{_ESCAPED.sub(_escape, held)}"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in '"\\':
        return f"\\{char}"
    code = ord(char)
    return SHORT.get(char) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
