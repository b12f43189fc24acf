"""What each form of an audit row means."""

from __future__ import annotations

from bwlint.model.ledger import RowForm

FORMS: dict[RowForm, str] = {
    "gate": "A condition at run time checks the chip",
    "guard": "A preprocessor condition checks the chip",
    "build": "A build lists the architectures that it compiles for",
    "list": "A list declares the chips that something is for",
    "table": "A table has rows by chip",
    "amount": "An operation takes an amount that some chips lack",
    "finding": "A finding of check that is no row otherwise",
    "asked": "A comparison that bwlint knows by its spelling alone",
    "name": "A name contains a generation",
    "product": "A product name of a card",
    "unit": "An instruction or a link that not all chips have",
    "text": "A text for people names chips",
    "word": "An architecture name that nothing compares",
}
