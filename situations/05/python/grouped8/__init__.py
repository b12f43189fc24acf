"""Grouped FP8 matrix products for mixture-of-experts layers."""
from .functional import GroupedMM, loop_mm
from .layer import Experts

__all__ = ["Experts", "GroupedMM", "loop_mm"]
