"""What the forms of rows mean."""

from __future__ import annotations

from bwlint.model.ledger import RowForm

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
