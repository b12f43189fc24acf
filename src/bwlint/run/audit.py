"""A stand-in until the engine of `bwlint audit` is here."""

from __future__ import annotations

from contextlib import ExitStack

from bwlint.model.ledger import Ledger
from bwlint.model.progress import Advance, quiet
from bwlint.run.request import CheckRequest


def audit(request: CheckRequest, stack: ExitStack, advance: Advance = quiet) -> Ledger:
    """No rows. Raises UsageError and ConfigError."""
    return Ledger((), ())
