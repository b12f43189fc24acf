"""What each form of an audit row means."""

from __future__ import annotations

from bwlint.model.ledger import RowForm

FORMS: dict[RowForm, str] = {
    "gate": "check at run time",
    "guard": "preprocessor check",
    "build": "architectures that a build compiles for",
    "list": "list of the chips that something is for",
    "table": "table by chip",
    "amount": "amount that chips differ in",
    "finding": "finding of check",
    "asked": "comparison that bwlint cannot evaluate",
    "name": "generation in a name",
    "product": "product name of a card",
    "unit": "instruction or link that some chips lack",
    "text": "text for people that names chips",
    "word": "architecture name that nothing compares",
}
