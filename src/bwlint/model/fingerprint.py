"""The fingerprint ``bwlint/v1``: the same for a finding whose file is moved or whose lines shift."""

from __future__ import annotations

import hashlib

KEY = "bwlint/v1"


def fingerprint(rule: str, gate_text: str, qualified_name: str, ordinal: int) -> str:
    """32 hex digits of a finding.

    `gate_text` is the source of the gate, its white space left out of account; `qualified_name` the function
    or class around it; `ordinal` tells equal gates of one such place apart. No path and no line enters.
    """
    parts = (KEY, rule, "".join(gate_text.split()), qualified_name, str(ordinal))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
