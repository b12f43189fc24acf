"""Sets of chips in words."""

from __future__ import annotations

from collections.abc import Sequence

from bwlint.model.findings import Finding

# Rules of these categories may stand on a text or a launch instead of a gate; then an empty set says nothing.
_BUILT = frozenset({"arch-target"})
_GATELESS = frozenset({"message", "other"})


def words(names: Sequence[str]) -> str:
    """``("12.0", "12.1")`` in words; targets with a suffix (``sm_120a``) are listed as they are."""
    if not all(name[:1].isdigit() for name in names):
        return ", ".join(names)
    from bwlint.chips import ChipSet

    try:
        return str(ChipSet.of(*names))
    except (KeyError, ValueError):
        # A report that is read back may name chips that nobody knows here.
        return ", ".join(names)


def sets(finding: Finding) -> list[tuple[str, str]]:
    """What to call each set of a finding, and the set; `certain` only where it differs from `admitted`.

    A build or a binary admits nobody: it serves chips.
    """
    rows = []
    if finding.admitted or finding.category not in _GATELESS:
        rows.append(("served" if finding.category in _BUILT else "admitted", words(finding.admitted)))
    if finding.certain != finding.admitted:
        rows.append(("certain", words(finding.certain)))
    if finding.legal is not None:
        rows.append(("legal", words(finding.legal)))
    return rows
