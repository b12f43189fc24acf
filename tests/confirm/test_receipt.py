"""What attempts add up to."""

from __future__ import annotations

import pytest

from bwlint.confirm.receipt import Attempt, Receipt, Rung, Tried, executed, not_eligible, not_requested
from bwlint.model.findings import Claim, Outcome

CLAIM = Claim("shared", "a block of 12.0 cannot have 102401 bytes of dynamic shared memory")


def ran(rung: Rung, outcome: Outcome, reason: str = "seen") -> Attempt:
    return executed(rung, outcome, reason)


NO_GPU = not_eligible("load", "there is no GPU")
NO_GPU_EITHER = not_eligible("check", "there is no GPU")
NOT_HERE = not_eligible("peer", "one is not two")
NOT_ASKED = not_requested("launch", "--yes was not given")


@pytest.mark.parametrize(
    ("attempts", "outcome", "reason"),
    [
        ((), "inconclusive", f"no rung can test this claim: {CLAIM.says}"),
        ((NO_GPU,), "inconclusive", "load: there is no GPU"),
        ((NO_GPU, NOT_ASKED), "inconclusive", "load: there is no GPU"),
        ((NOT_ASKED,), "inconclusive", "launch: --yes was not given"),
        ((NO_GPU, NO_GPU), "inconclusive", "load: there is no GPU"),
        ((NO_GPU, NO_GPU_EITHER, NOT_HERE), "inconclusive", "load and check: there is no GPU; peer: one is not two"),
        ((ran("assemble", "inconclusive", "a header is missing"), NO_GPU), "inconclusive", "a header is missing"),
        ((ran("assemble", "confirmed"), NO_GPU), "confirmed", "seen"),
        ((ran("assemble", "refuted"), NO_GPU), "refuted", "seen"),
        ((ran("assemble", "confirmed"), ran("check", "refuted", "it ran")), "refuted", "it ran"),
        ((ran("assemble", "refuted"), ran("check", "inconclusive", "it hung")), "refuted", "seen"),
    ],
)
def test_the_highest_rung_that_decided_counts(attempts: tuple[Attempt, ...], outcome: str, reason: str) -> None:
    tried = Tried(CLAIM, attempts)
    assert (tried.outcome, tried.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("outcomes", "outcome"),
    [
        ((), "inconclusive"),
        (("confirmed",), "confirmed"),
        (("confirmed", "confirmed"), "confirmed"),
        (("confirmed", "inconclusive"), "inconclusive"),
        (("confirmed", "refuted"), "refuted"),
        (("inconclusive", "refuted"), "refuted"),
        (("inconclusive",), "inconclusive"),
    ],
)
def test_a_finding_is_confirmed_where_all_its_claims_are(outcomes: tuple[Outcome, ...], outcome: str) -> None:
    tried = tuple(Tried(CLAIM, (ran("check", each, f"{each} {place}"),)) for place, each in enumerate(outcomes))
    receipt = Receipt("f", "BW501", "a.cu", 1, tried)
    assert receipt.outcome == outcome
    told = receipt.reason.split("; ") if outcomes else []
    assert all(word.startswith(outcome) for word in told if not word.startswith("confirmed: "))
    half = outcome == "inconclusive" and "confirmed" in outcomes
    assert any(word.startswith("confirmed: ") for word in told) is half


@pytest.mark.parametrize(
    ("attempts", "executed"),
    [((), False), ((NO_GPU, NOT_ASKED), False), ((NO_GPU, ran("check", "inconclusive")), True)],
)
def test_what_was_executed(attempts: tuple[Attempt, ...], executed: bool) -> None:
    assert Receipt("f", "BW501", "a.cu", 1, (Tried(CLAIM, attempts),)).executed is executed
