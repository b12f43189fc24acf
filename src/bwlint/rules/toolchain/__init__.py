"""toolchain: what surrounds the code (CUDA, its libraries, the assembler of Triton) does not fit the chip."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("toolchain")
