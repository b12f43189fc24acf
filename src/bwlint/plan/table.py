"""The result of a comparison of plans, as data for reports."""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.chips.links import Link, Wire
from bwlint.chips.products import Product
from bwlint.plan.model_config import Shape
from bwlint.plan.weights import Weights


@dataclass(frozen=True, slots=True)
class JoinedGpus:
    gpus: int
    product: Product
    link: Link
    latency_us: float


@dataclass(frozen=True, slots=True)
class Load:
    """What goes through the model in a step: a token of each sequence."""

    tokens: int
    dispatch: Wire
    combine: Wire
    activation: Wire
    copies: str
    """Of a token: one to each GPU (gpu) or expert (expert) that it is for, or one to every GPU (all)."""


@dataclass(frozen=True, slots=True)
class Split:
    """A plan: EP, TP or TP+PP (or one: a single GPU) with its numbers."""

    kind: str
    tensor: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def name(self) -> str:
        if self.kind == "one":
            return "one GPU"
        if self.kind == "EP":
            return f"EP{self.expert}"
        pipeline = f"PP{self.pipeline}" if self.pipeline > 1 else ""
        return "+".join(part for part in (f"TP{self.tensor}" if self.tensor > 1 else "", pipeline) if part)


@dataclass(frozen=True, slots=True)
class PlanCost:
    """A plan and what it costs. Bytes are those that go through ONE direction of the busiest GPU's link."""

    split: Split
    link_bytes_per_token: float
    """Those that a token waits for, one after the other, in all layers."""
    link_hops: float
    """One after the other, in all layers."""
    tokens_at_once: int
    """Of the step's tokens, those that wait for each other on a link."""
    link_seconds: float
    weight_seconds: float
    """To read the weights that a step needs from the memory of the busiest GPU."""
    weight_bytes: float
    """On the fullest GPU."""
    fits: bool

    @property
    def step_seconds(self) -> float:
        return self.link_seconds + self.weight_seconds


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """A plan that does not apply, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Numbers of tokens at a time for which one plan is the best."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A launch as it stands and as the best plan would have it."""

    launcher: str
    version: str
    line: int
    present: str
    """The plan that it is now; "" where it is none of those compared."""
    why: str
    """Of a line that costs what the present plan does though it is spelled otherwise."""
    written: tuple[str, ...]
    """Empty where it is the best plan already."""
    remark: str
    stopped: tuple[str, ...] = ()
    """Why it cannot run on these GPUs, by its options."""


@dataclass(frozen=True, slots=True)
class Comparison:
    shape: Shape
    weights: Weights
    parameters: int
    machine: JoinedGpus
    load: Load
    rows: tuple[PlanCost, ...]
    """The best first; what does not fit last."""
    refused: tuple[RefusedPlan, ...]
    stretches: tuple[TokenRange, ...]
    without_latency: str
    """What were the best if a hop took no time; "" where nothing fits."""
    remarks: tuple[str, ...]
    config: str = ""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def best(self) -> PlanCost | None:
        """The fastest that fits."""
        return self.rows[0] if self.rows and self.rows[0].fits else None
