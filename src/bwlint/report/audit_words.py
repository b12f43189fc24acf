"""What the words of a ledger mean, and its rows in numbers."""

from __future__ import annotations

from collections import Counter

from bwlint.model.ledger import Ledger, RowForm, RowKind

FORMS: dict[RowForm, str] = {
    "gate": "A condition of the running program asks for the chip",
    "guard": "A condition of the preprocessor asks for the chip",
    "build": "A build names the architectures that it compiles for",
    "list": "A list declares the chips that something is for",
    "table": "A table has rows by chip",
    "amount": "An operation takes an amount that some chips lack",
    "finding": "A finding of check that no other question tells",
    "asked": "A comparison that is known by its spelling alone",
    "name": "A name speaks of a generation",
    "product": "A chip is named as it is sold",
    "unit": "An instruction or a link that not all chips have",
    "text": "A text for people names chips",
    "word": "An architecture is named and compared with nothing",
}

_COUNTED: tuple[RowKind, ...] = ("pass", "fail", "review", "open")


def counts(ledger: Ledger) -> dict[str, str]:
    """By asked chips in words, ``{"12.0, 12.1": "1,402 pass, 6 fail"}``; those with the same numbers together."""
    alike: dict[str, list[str]] = {}
    for chip in ledger.targets:
        found = Counter(kind for row in ledger.rows for asked, kind in row.verdicts if asked == chip)
        alike.setdefault(", ".join(f"{found[kind]:,} {kind}" for kind in _COUNTED if found[kind]), []).append(chip)
    return {", ".join(chips): text for text, chips in alike.items() if text}
