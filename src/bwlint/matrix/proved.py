"""What receipts prove of the cells of a matrix: each speaks for the chip that it was made on, and for no other.

A gate that was run in CPython speaks for every chip that was simulated there, ptxas for the chip of its target, a GPU
for its own capability. A receipt is about a cell where it names the place and the code of the cell's gate: one of
another state of the tree says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bwlint.chips import Target
from bwlint.matrix.table import CONFIRMED, NO, REFUTED, UNKNOWN, YES, Cell, CellGate, CellProof, Matrix
from bwlint.model.findings import Skipped

MOST_BYTES = 256 << 20
"""Of a file of receipts."""
_DECIDED = (CONFIRMED, REFUTED)
_SIMULATED = "evaluate"


@dataclass(frozen=True, slots=True)
class _RungTried:
    """A claim on one chip, as tested: where it stands, whether its gate is what was claimed, and what came of it."""

    path: str
    line: int
    code: str
    is_gate: bool
    chip: str
    proof: CellProof


def with_receipts(matrix: Matrix, path: Path) -> Matrix:
    """The matrix with what the receipts of a file, or of all JSON files of a folder, say of its cells. What is no
    receipt, or proves nothing, is added to what was skipped. Raises OSError."""
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files:
        raise OSError(f"{path}: no receipts in it")
    known: dict[tuple[str, int], list[_RungTried]] = {}
    skipped = []
    for file in files:
        try:
            for tried in _read(file):
                known.setdefault((tried.path.rpartition("/")[2], tried.line), []).append(tried)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            skipped.append(Skipped(str(file), f"receipts: {error}"))
    cells = ({chip: _proved(cell, chip, known) for chip, cell in row.cells.items()} for row in matrix.rows)
    rows = tuple(replace(row, cells=made) for row, made in zip(matrix.rows, cells, strict=True))
    return replace(matrix, rows=rows, skipped=(*matrix.skipped, *skipped))


def _read(file: Path) -> list[_RungTried]:
    if not file.is_file() or file.stat().st_size > MOST_BYTES:
        raise ValueError(f"no plain file of at most {MOST_BYTES >> 20} MiB")
    found = json.loads(file.read_text(encoding="utf-8"))
    documents = [each["document"] for each in found["documents"]] if "documents" in found else [found]
    return [tried for document in documents for tried in _tried(document, file.name)]


def _tried(document: Any, name: str) -> Iterator[_RungTried]:
    """The decided tests of a document; a self-test is about cases of bwlint's own, and has none."""
    if "cases" in document:
        return
    if "receipts" not in document:
        raise ValueError("it holds none")
    machine = document["machine"]
    if any(package["changed"] for package in machine["packages"]):
        raise ValueError("made with packages that are not as they were installed, which proves nothing")
    for row in document["receipts"]:
        for each in row["claims"]:
            claim = each["claim"]
            line = claim["at"]["line"] if claim["at"] else row["line"]
            for attempt in each["attempts"]:
                if not attempt["executed"]:
                    continue
                for chip, outcome, reason in _outcomes(attempt, claim, machine):
                    rung, told = str(attempt["rung"]), str(reason)
                    device = "" if rung == _SIMULATED else str(attempt["details"].get("device", ""))
                    proof = CellProof(outcome, rung, told, device, name)
                    path = str(claim["path"] or row["path"])
                    yield _RungTried(path, int(line), str(claim["subject"]), claim["kind"] == "gate", chip, proof)


def _outcomes(attempt: Any, claim: Any, machine: Any) -> Iterator[tuple[str, str, str]]:
    """Chips for which an attempt decides, with the outcome and the reason."""
    details = attempt["details"]
    if "outcomes" in details and attempt["outcome"] in _DECIDED:
        for chip, found in details["outcomes"].items():
            if found["claimed"] is not None and not found["undecided"]:
                yield chip, CONFIRMED if _is_claimed(found) else REFUTED, attempt["reason"]
    elif "targets" in details:
        for target, found in details["targets"].items():
            if found["outcome"] in _DECIDED:
                yield Target.parse(target).chip.name, found["outcome"], found["reason"]
    elif "outcomes" not in details and attempt["outcome"] in _DECIDED:
        devices = machine["devices"]
        own = str(details.get("capability") or (devices[0]["capability"] if devices else ""))
        if own in claim["chips"] or own in {Target.parse(target).chip.name for target in claim["targets"]}:
            yield own, attempt["outcome"], attempt["reason"]


def _is_claimed(found: Any) -> bool:
    """Whether CPython gave on one chip what was claimed of it there (`confirm/rungs/evaluate.py`)."""
    gives = set(found["cpython"])
    if found["claimed"] == "raises":
        return not gives & {"true", "false"}
    return "true" in gives if found["claimed"] == "true or false" else gives == {found["claimed"]}


def _proved(cell: Cell, chip: str, known: dict[tuple[str, int], list[_RungTried]]) -> Cell:
    gate = cell.gate
    if gate is None or cell.word == UNKNOWN:
        return cell
    near = known.get((gate.path.rpartition("/")[2], gate.line), ())
    told = (_of_cell(tried, cell) for tried in near if tried.chip == chip and _is_about(tried, gate))
    proofs = tuple(dict.fromkeys(proof for proof in told if proof is not None))
    return replace(cell, proofs=proofs) if proofs else cell


def _is_about(tried: _RungTried, gate: CellGate) -> bool:
    """Whether a claim is about a gate: a path may be told from another folder, so its code has to be the same too."""
    one, other = ("/" + path.removeprefix("./").lstrip("/") for path in (tried.path, gate.path))
    if not (one.endswith(other) or other.endswith(one)) or not tried.code:
        return False
    claimed, shown = "".join(tried.code.split()), "".join(gate.text.split())
    return claimed.startswith(shown) if tried.is_gate else claimed in shown


def _of_cell(tried: _RungTried, cell: Cell) -> CellProof | None:
    """What a test of a claim says of the cell: a claim that something fails on the chip speaks against a yes."""
    if tried.is_gate or cell.word == NO:
        return tried.proof
    if cell.word == YES and tried.proof.outcome == CONFIRMED:
        return replace(tried.proof, outcome=REFUTED)
    return None


def counts(matrix: Matrix) -> tuple[int, int]:
    """How many cells a receipt confirms and none refutes, and how many one refutes."""
    found: Sequence[str] = [cell.mark for row in matrix.rows for cell in row.cells.values()]
    return found.count(CONFIRMED), found.count(REFUTED)
