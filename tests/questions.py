"""Rows of a ledger, made by hand."""

from __future__ import annotations

from typing import Any

from bwlint.model.ledger import Ledger, Row, RowKind, RowPlace

TARGETS = ("12.0", "12.1")


def fingerprint(digit: str) -> str:
    return digit * 32


def make_row(digit: str = "a", kind: RowKind = "review", **changes: Any) -> Row:
    """A row of this kind for 12.1, whose fingerprint is that digit; it passes for 12.0."""
    values: dict[str, Any] = {
        "kind": kind,
        "form": "gate",
        "group": "own",
        "subject": f"pkg.ops.{digit}_gemm",
        "question": f"cap == (12, 0)  # {digit}",
        "verdicts": (("12.0", "pass"), ("12.1", kind)),
        "table": (("12.0", "yes"), ("12.1", "no"), ("9.0", "no")),
        "rough": False,
        "ways": (),
        "behind": "",
        "why": "12.1 is treated unlike 12.0",
        "score": 10,
        "parts": (),
        "places": (RowPlace(f"pkg/{digit}.py", 4, 4, "checked here"),),
        "fingerprint": fingerprint(digit),
        "questions": (fingerprint(digit),),
    }
    return Row(**{**values, **changes})


def make_ledger(*rows: Row, **changes: Any) -> Ledger:
    values: dict[str, Any] = {"targets": TARGETS, "rows": rows, "stats": {"files": 1}}
    return Ledger(**{**values, **changes})
