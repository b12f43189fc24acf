"""The record of one tested claim: an attempt for each rung, and the verdict from all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bwlint.model.findings import Claim, Outcome, Verdict

Rung = Literal["evaluate", "assemble", "load", "configure", "launch", "check", "peer", "bench"]
RUNGS: tuple[Rung, ...] = ("evaluate", "assemble", "load", "configure", "launch", "check", "peer", "bench")
"""From the bottom up: what a higher one shows outweighs a lower one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One rung, tried or not, for one claim.

    `requested` is false where nobody asked for it or the claim has no use for it. `eligible` says that device, toolkit
    and compile command are at hand, `executed` that the test itself ran: a tool that did not start, or a device that
    went away before it, executed nothing. `outcome` is None where nothing was executed. `reason` is one sentence: what
    was seen, or why it was not tried. `details` are values for machines (ptxas's message, error numbers, bytes, options
    that were dropped); `log` is the output of the child, cut to size, `seconds` the time of the child.
    """

    rung: Rung
    requested: bool
    eligible: bool
    executed: bool
    outcome: Outcome | None
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0


def not_requested(rung: Rung, reason: str) -> Attempt:
    return Attempt(rung=rung, requested=False, eligible=False, executed=False, outcome=None, reason=reason)


def not_eligible(rung: Rung, reason: str, details: Mapping[str, Any] | None = None) -> Attempt:
    """The rung was asked for, and something that it takes is missing."""
    return replace(not_requested(rung, reason), requested=True, details=details or {})


def not_executed(
    rung: Rung, reason: str, details: Mapping[str, Any] | None = None, log: str = "", seconds: float = 0.0
) -> Attempt:
    """Nothing was missing, and the test itself did not run."""
    return replace(not_eligible(rung, reason, details), eligible=True, log=log, seconds=seconds)


def executed(
    rung: Rung,
    outcome: Outcome,
    reason: str,
    details: Mapping[str, Any] | None = None,
    log: str = "",
    seconds: float = 0.0,
) -> Attempt:
    """The test ran, and came to `outcome`."""
    return replace(not_executed(rung, reason, details, log, seconds), executed=True, outcome=outcome)


@dataclass(frozen=True, slots=True)
class Tried:
    """One claim of a finding with its attempts, in the order of `RUNGS`."""

    claim: Claim
    attempts: tuple[Attempt, ...]

    @property
    def outcome(self) -> Outcome:
        """What the highest rung that decided says; inconclusive where none did."""
        return next((found.outcome for found in reversed(self._deciding) if found.outcome is not None), "inconclusive")

    @property
    def reason(self) -> str:
        """Why: of the highest rung that decided, else that was executed, else of every rung that was asked for."""
        executed = [attempt for attempt in self.attempts if attempt.executed]
        for found in (self._deciding, executed):
            if found:
                return found[-1].reason
        requested = [attempt for attempt in self.attempts if attempt.requested] or self.attempts
        rungs: dict[str, list[str]] = {}
        for attempt in requested:
            rungs.setdefault(attempt.reason, []).append(attempt.rung)
        told = "; ".join(f"{' and '.join(dict.fromkeys(names))}: {reason}" for reason, names in rungs.items())
        return told or f"no rung can test this claim: {self.claim.says}"

    @property
    def _deciding(self) -> Sequence[Attempt]:
        return [attempt for attempt in self.attempts if attempt.outcome in ("confirmed", "refuted")]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one finding, named by its fingerprint, rule, path and line."""

    fingerprint: str
    rule: str
    path: str
    line: int
    tried: tuple[Tried, ...]

    @property
    def outcome(self) -> Outcome:
        """Refuted where one claim is, confirmed where all are: half a finding is none."""
        found = {tried.outcome for tried in self.tried}
        if "refuted" in found:
            return "refuted"
        return "confirmed" if found == {"confirmed"} else "inconclusive"

    @property
    def reason(self) -> str:
        """The reasons of the claims that decide, each once; where one half is confirmed and the other open, of both."""
        if not self.tried:
            return "the finding makes no claim that bwlint can test"
        told = [tried.reason for tried in self.tried if tried.outcome == self.outcome]
        if self.outcome == "inconclusive":
            told += [f"confirmed: {tried.reason}" for tried in self.tried if tried.outcome == "confirmed"]
        return "; ".join(dict.fromkeys(told))

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.outcome, self.reason)

    @property
    def executed(self) -> bool:
        """Whether a test ran at all."""
        return any(attempt.executed for tried in self.tried for attempt in tried.attempts)
